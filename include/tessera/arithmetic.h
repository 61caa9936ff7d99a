/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_ARITHMETIC_H
#define TESSERA_ARITHMETIC_H

#include <tessera/blob.h>

TSR_BEGIN_DECLS

/*
 * The little arithmetic that weights and gradients want: in place, on the host, in the layout of home, or if that has
 * gaps, in the plain one; padding never counts. Values that are elsewhere, or in another layout, come there. Sums are
 * of f32 and f64; the others of s32, too, whose results wrap.
 *
 * TSR_INVALID_ARGUMENT  blobs of different types or dims
 * TSR_UNSUPPORTED       another type
 * and as tsr_blob_acquire
 */

/* Every element becomes *value, which is of the blob's type. */
TSR_API TSR_MUST_CHECK tsr_status tsr_blob_fill(tsr_blob *blob, const void *value, tsr_error *error);

/* Every element becomes 0. Of any type. */
TSR_API TSR_MUST_CHECK tsr_status tsr_blob_clear(tsr_blob *blob, tsr_error *error);

/* blob[i] = blob[i] * factor; of f32, factor is rounded to that first. Not of s32. */
TSR_API TSR_MUST_CHECK tsr_status tsr_blob_scale(tsr_blob *blob, double factor, tsr_error *error);

/* dst[i] = dst[i] + src[i], and dst[i] = dst[i] - src[i], rounded once; src is copied before if it lies in the memory
 * of dst. */
TSR_API TSR_MUST_CHECK tsr_status tsr_blob_add(tsr_blob *dst, tsr_blob *src, tsr_error *error);
TSR_API TSR_MUST_CHECK tsr_status tsr_blob_subtract(tsr_blob *dst, tsr_blob *src, tsr_error *error);

/*
 * The sum of |x|, and of x * x, over all elements x, in f64. Terms are added in the order of memory, in eight sums
 * for each 4096 elements, then these, so that the relative error is below (512 + 8 + elements / 4096) * 2^-53 unless a
 * square of f64 underflows, and for a layout the result is the same for any number of threads.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_blob_sum_of_absolutes(tsr_blob *blob, double *sum, tsr_error *error);
TSR_API TSR_MUST_CHECK tsr_status tsr_blob_sum_of_squares(tsr_blob *blob, double *sum, tsr_error *error);

TSR_END_DECLS

#endif
