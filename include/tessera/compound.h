/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_COMPOUND_H
#define TESSERA_COMPOUND_H

#include <tessera/blob.h>
#include <tessera/openvino.h>

TSR_BEGIN_DECLS

/*
 * OpenVINO's compound blobs: several blobs that are handed on as one. A compound has no memory, only references to
 * its parts, which stay what they are: what is written to a part is seen through the compound, too. It is counted,
 * and never changes after it was made, so that any thread may use it. Nobody keeps a part from being reshaped: the
 * caller leaves its shape as it is for as long as it is in one.
 *
 * Four kinds:
 *
 *   plain   any blobs, or none
 *   NV12    an image in two planes: luma, and both chromas next to each other for every 2x2 of luma
 *   I420    an image in three planes: luma, and each chroma
 *   batch   tensors, or images of the two kinds, of the same type and dims: one that is cut along its first axis
 *
 * Of N images of HxW, planes are u8 in NHWC, with any strides: y of the dims Nx1xHxW, uv of Nx2x(H/2)x(W/2), u and v of
 * Nx1x(H/2)x(W/2). H and W are even. One that was described as NCHW is refused, as in the original, even where a single
 * channel makes it the same memory.
 */
typedef struct tsr_compound tsr_compound;

typedef enum tsr_compound_kind {
    TSR_COMPOUND_PLAIN,
    TSR_COMPOUND_NV12,
    TSR_COMPOUND_I420,
    TSR_COMPOUND_BATCH
} tsr_compound_kind;

/*
 * Each of these makes a compound with one reference, and takes one to each part. Handles are from the allocator of the
 * first part.
 *
 * TSR_INVALID_ARGUMENT  a part that is NULL, or that is not as the kind wants it: the message says which one
 * TSR_OUT_OF_MEMORY     nothing is leaked
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_compound_create(tsr_compound **compound, tsr_blob *const *blobs, int count,
                                                      tsr_error *error);
TSR_API TSR_MUST_CHECK tsr_status tsr_compound_create_nv12(tsr_compound **compound, tsr_blob *y, tsr_blob *uv,
                                                           tsr_error *error);
TSR_API TSR_MUST_CHECK tsr_status tsr_compound_create_i420(tsr_compound **compound, tsr_blob *y, tsr_blob *u,
                                                           tsr_blob *v, tsr_error *error);

/*
 * A batch of at least one tensor. All have the type and dims of the first, and their axes lie in memory as layout says,
 * with any strides. NCHW, NHWC, NCDHW, NDHWC, NC and CN have a first axis of 1, which becomes count; C, CHW and HWC
 * get an axis in front, and become NC, NCHW and NHWC. Other layouts have no place for a batch, and are refused.
 *
 * TSR_OVERFLOW     the batch has more bytes than 63 bits count
 * TSR_UNSUPPORTED  the original has no precision for the type
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_compound_create_batch(tsr_compound **batch, tsr_blob *const *tensors, int count,
                                                            tsr_ie_layout layout, tsr_error *error);

/* The same of NV12 and I420, of one image each. The batch counts as one in NHWC with three channels. */
TSR_API TSR_MUST_CHECK tsr_status tsr_compound_create_yuv_batch(tsr_compound **batch, tsr_compound *const *images,
                                                                int count, tsr_error *error);

/* Another reference to the same compound; the argument, for convenience. NULL is passed through. */
TSR_API tsr_compound *tsr_compound_share(tsr_compound *compound);

/* Gives one reference back. */
TSR_API void tsr_compound_free(tsr_compound **compound);

/* ---- what it consists of ---- */

TSR_API tsr_compound_kind tsr_compound_get_kind(const tsr_compound *compound);

/* The number of its parts: planes, tensors or images. */
TSR_API int tsr_compound_count(const tsr_compound *compound);

/*
 * A part, in the order in which they were given; NULL if there is none of that index. Parts are blobs, but for those of
 * a batch of NV12 or I420. The reference stays with the compound.
 */
TSR_API tsr_blob *tsr_compound_get(const tsr_compound *compound, int index);
TSR_API tsr_compound *tsr_compound_get_yuv(const tsr_compound *compound, int index);

/*
 * What the original says that the compound is: of a batch, the dense tensor that it stands for; of NV12 and I420, the
 * layout NCHW and the precision U8 with no dims; of a plain one, nothing (tsr_tensor_desc_default).
 */
TSR_API void tsr_compound_get_desc(const tsr_compound *compound, tsr_tensor_desc *desc);

/* ---- regions ---- */

/*
 * A compound of the same kind, whose parts are views of a rectangle of each part. Parts have four axes, N, C, H and W,
 * in any layout; in a batch, each has one image, of id 0.
 *
 * Of NV12 and I420, the rectangle is given in pixels of luma. Chroma has one value for 2x2 of these, and so the
 * rectangle grows to the even numbers around it: x from 3 to 6 becomes 2 to 6, and so does 2 to 5. It never grows
 * past the border. One that is empty stays so.
 *
 * TSR_OUT_OF_RANGE      the rectangle leaves a part
 * TSR_INVALID_ARGUMENT  a part of other than four axes
 * TSR_OUT_OF_MEMORY     nothing is leaked
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_compound_create_region(tsr_compound **region, const tsr_compound *compound,
                                                             const tsr_roi *roi, tsr_error *error);

/* ---- values ---- */

/*
 * Gives whole the values of a batch of tensors, one behind the other, as tsr_blob_merge does. whole has the type and
 * dims that tsr_compound_get_desc gives, in any layout.
 *
 * TSR_INVALID_ARGUMENT  no batch of tensors (images in YUV would have to change their colours), or another type or dims
 * and as tsr_blob_merge
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_compound_merge(tsr_blob *whole, const tsr_compound *batch, tsr_error *error);

TSR_END_DECLS

#endif
