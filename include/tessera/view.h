/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_VIEW_H
#define TESSERA_VIEW_H

#include <tessera/desc.h>

TSR_BEGIN_DECLS

/*
 * Views: other descriptors of the same memory. Nothing moves. Each function takes a descriptor that
 * tsr_desc_check accepts and gives one that it accepts with read_only; desc and view may be the same
 * variable, and on failure view is as before. Any layout may be viewed, blocked ones included, and a
 * view of a view equals the view made in one step.
 *
 * Below, D is desc and V the view, both as functions from an index vector to an offset.
 *
 * A view of a part of an axis does not see the rest of it, padding included. Where the part does
 * not consist of whole blocks, the axis becomes a window (desc.h) and keeps its blocks: channels 3 to
 * 11 of f32:nChw8c 1x16x4x4 are
 *
 *     f32:[b2:128,a1:256,c4:32,d4:8,b8:1]@b3 1x9x4x4
 *
 * The engine reads and writes windows like anything else, and leaves alone what they do not see.
 *
 * Views that repeat elements or run backwards are for reading: as a destination they are refused.
 *
 * TSR_INVALID_ARGUMENT  an axis, size, step or part that cannot be
 * TSR_UNSUPPORTED       the memory does not allow the view; the message says why
 * TSR_OVERFLOW          the view has more elements than fit into 63 bits of bytes
 */

/*
 * V(v) = D(begin + v * step), for v below size. steps may be NULL: all 1. An axis of size 0 makes an
 * empty tensor.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_view_crop(tsr_desc *view, const tsr_desc *desc, const int64_t *begin,
                                                const int64_t *size, const int64_t *step, tsr_error *error);

/* Axis i of the view is axis axes[i] of desc, as in numpy.transpose: V(v) = D(w) with w[axes[i]] = v[i]. */
TSR_API TSR_MUST_CHECK tsr_status tsr_view_permute(tsr_desc *view, const tsr_desc *desc, const int *axes,
                                                   tsr_error *error);

/* Two axes change places. */
TSR_API TSR_MUST_CHECK tsr_status tsr_view_transpose(tsr_desc *view, const tsr_desc *desc, int a, int b,
                                                     tsr_error *error);

/* V(v) = D(w) with w[axis] = dim - 1 - v[axis]. For reading. */
TSR_API TSR_MUST_CHECK tsr_status tsr_view_reverse(tsr_desc *view, const tsr_desc *desc, int axis, tsr_error *error);

/* Leaves out an axis that has one index. */
TSR_API TSR_MUST_CHECK tsr_status tsr_view_squeeze(tsr_desc *view, const tsr_desc *desc, int axis, tsr_error *error);

/* Puts in an axis with one index, in front of axis `axis` of desc; axis may be the rank. */
TSR_API TSR_MUST_CHECK tsr_status tsr_view_unsqueeze(tsr_desc *view, const tsr_desc *desc, int axis, tsr_error *error);

/* An axis with one index becomes one of `size`, and every index sees the same element. For reading. */
TSR_API TSR_MUST_CHECK tsr_status tsr_view_broadcast(tsr_desc *view, const tsr_desc *desc, int axis, int64_t size,
                                                     tsr_error *error);

/*
 * One axis becomes `count`, row-major: V(.., v0, v1, ..) = D(.., v0 * sizes[1] + v1, ..) for two. The
 * product of sizes is the dim. Memory allows it where each block boundary of the axis divides the
 * product of the last sizes or is a multiple of it.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_view_split(tsr_desc *view, const tsr_desc *desc, int axis, int count,
                                                 const int64_t *sizes, tsr_error *error);

/*
 * The inverse: axes axis to axis + count - 1 become one. Those with one index are left out, as by
 * tsr_view_squeeze. Of the others, memory allows it where none but the first has padding or is a
 * window, and the first has no step; strides do not matter, as levels can say them.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_view_join(tsr_desc *view, const tsr_desc *desc, int axis, int count,
                                                tsr_error *error);

/* The same elements in the same row-major order under other dims, by the functions above. */
TSR_API TSR_MUST_CHECK tsr_status tsr_view_reshape(tsr_desc *view, const tsr_desc *desc, int rank, const int64_t *dims,
                                                   tsr_error *error);

/*
 * Axis a becomes the diagonal of a and b, as long as the shorter one, and b goes away:
 * V(.., v, ..) = D(.., v, .., v, ..). Memory allows it where the blocks of the two axes nest, and no
 * cell of the blocks of the diagonal lies outside the span of desc.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_view_diagonal(tsr_desc *view, const tsr_desc *desc, int a, int b,
                                                    tsr_error *error);

TSR_END_DECLS

#endif
