/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_CAFFE_H
#define TESSERA_CAFFE_H

#include <tessera/arithmetic.h>
#include <tessera/blob.h>
#include <tessera/caffe_proto.h>

TSR_BEGIN_DECLS

/*
 * Caffe's blob: two tensors of one shape, data and diff, row-major, f32 or f64. Both are blobs like any other, so that
 * they are acquired in any layout and at any place; what is here is Caffe's way to speak of shapes and memory.
 *
 * One thread at a time works on a tsr_caffe_blob; its tensors may be shared by many.
 */

/* ---- shapes ---- */

/* {0} is the shape of a blob that has never had one: no axes, and no element either. */
typedef struct tsr_caffe_shape {
    int axes; /* 0 to TSR_MAX_RANK */
    int64_t dims[TSR_MAX_RANK];
    int64_t count; /* the product of the dims, at most INT_MAX; 1 for no axes */
} tsr_caffe_shape;

/*
 * TSR_INVALID_ARGUMENT  more than 32 axes, a negative dim
 * TSR_OVERFLOW          a dim or, from the first on, a product that is past INT_MAX
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_shape_init(tsr_caffe_shape *shape, int axes, const int64_t *dims,
                                                       tsr_error *error);

/* An axis of -axes to axes - 1 as one of 0 to axes - 1 (CanonicalAxisIndex). TSR_OUT_OF_RANGE. */
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_axis(const tsr_caffe_shape *shape, int axis, int *canonical,
                                                 tsr_error *error);

/*
 * The product of dims[begin] to dims[end - 1], where 0 <= begin <= end <= axes. TSR_OUT_OF_RANGE; TSR_OVERFLOW: it
 * does not fit, as may be where a dim before begin is 0.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_count(const tsr_caffe_shape *shape, int begin, int end, int64_t *count,
                                                  tsr_error *error);

/*
 * Dim `index` of num, channels, height and width, -4 to 3, of a shape of at most four axes; 1 for an axis that there
 * is not (LegacyShape). TSR_OUT_OF_RANGE.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_legacy_dim(const tsr_caffe_shape *shape, int index, int64_t *dim,
                                                       tsr_error *error);

/*
 * Where the element at an index lies; indices that are missing at the end are 0. Each is below its dim, which the
 * original does not ask of n, c, h and w. TSR_OUT_OF_RANGE.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_offset(const tsr_caffe_shape *shape, int indices, const int64_t *index,
                                                   int64_t *offset, tsr_error *error);

/* The same for n, c, h and w of at most four axes. TSR_OUT_OF_RANGE. */
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_legacy_offset(const tsr_caffe_shape *shape, int64_t n, int64_t c, int64_t h,
                                                          int64_t w, int64_t *offset, tsr_error *error);

/* "100 1 28 28 (78400)". Returns as snprintf does. */
TSR_API int tsr_caffe_shape_print(const tsr_caffe_shape *shape, char *text, size_t size);

/* ---- blobs ---- */

typedef struct tsr_caffe_blob tsr_caffe_blob;

typedef enum tsr_caffe_part { TSR_CAFFE_DATA, TSR_CAFFE_DIFF } tsr_caffe_part;

/*
 * A blob without a shape. Its memory is made with options, of which the storage is not looked at; a device is where
 * its home is. TSR_INVALID_ARGUMENT: neither f32 nor f64; TSR_OUT_OF_MEMORY.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_blob_create(tsr_caffe_blob **blob, tsr_dtype dtype,
                                                        const tsr_blob_options *options, tsr_error *error);

TSR_API void tsr_caffe_blob_free(tsr_caffe_blob **blob);

TSR_API tsr_caffe_shape tsr_caffe_blob_shape(const tsr_caffe_blob *blob);

/*
 * Another shape, by its dims; its count is not looked at. Within the capacity of its memory, a part keeps its bytes
 * as they are; if either has too little, both get new memory, are zero, and *reallocated, which may be NULL, is true.
 * Memory is allocated when somebody acquires it. Within capacity, nothing at all is allocated but for tensors to which
 * somebody has a reference of his own, who keeps the old ones.
 * On failure the blob is as it was.
 *
 * TSR_INVALID_ARGUMENT  as tsr_caffe_shape_init
 * TSR_OVERFLOW          so, too; also dims behind one of 0 whose product does not fit, as tensors have none such
 * TSR_BUSY              somebody holds an access to a part: its tensor, or its memory, also through another blob that
 *                       shares it
 * TSR_OUT_OF_MEMORY
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_blob_reshape(tsr_caffe_blob *blob, const tsr_caffe_shape *shape,
                                                         bool *reallocated, tsr_error *error);

/* Elements that a part's memory has room for; it belongs to the memory, so what shares it sees no more. */
TSR_API int64_t tsr_caffe_blob_capacity(const tsr_caffe_blob *blob, tsr_caffe_part part);

/* The tensor of a part, in the blob's shape; NULL without one. The reference stays with the blob, and ends when
 * that gets another shape. */
TSR_API tsr_blob *tsr_caffe_blob_tensor(const tsr_caffe_blob *blob, tsr_caffe_part part);

/*
 * The memory of a part: a blob of one axis, of which the tensor is a view. Its representations on the host and on a
 * device are Caffe's SyncedMemory: TSR_READ is cpu_data or gpu_data, TSR_READ_WRITE mutable_cpu_data or
 * mutable_gpu_data.
 */
TSR_API tsr_blob *tsr_caffe_blob_memory(const tsr_caffe_blob *blob, tsr_caffe_part part);

/* Where the values of memory are (SyncedMemory::head), as far as the host and one device go. */
typedef enum tsr_caffe_head {
    TSR_CAFFE_UNINITIALIZED,
    TSR_CAFFE_AT_HOST,
    TSR_CAFFE_AT_DEVICE,
    TSR_CAFFE_SYNCED
} tsr_caffe_head;

TSR_API tsr_caffe_head tsr_caffe_blob_head(const tsr_caffe_blob *blob, tsr_caffe_part part, const tsr_device *device);

/*
 * Uses the caller's memory on a device (NULL: the host) for data, of as many elements as the blob has, until it gets
 * other memory there; its values are those of data (set_cpu_data, set_gpu_data). If the old memory had another size,
 * diff gets new memory, too. Where data has its home, this ends sharing; elsewhere, those that share data see the new
 * memory, too. TSR_INVALID_ARGUMENT: NULL; TSR_BUSY: somebody holds an access to what gets other memory;
 * TSR_OUT_OF_MEMORY: the blob is as it was.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_blob_set_data(tsr_caffe_blob *blob, tsr_device *device, void *memory,
                                                          tsr_error *error);

/*
 * dst uses the memory of src for a part, which has as many elements (ShareData, ShareDiff). TSR_INVALID_ARGUMENT;
 * TSR_BUSY: somebody holds an access to what dst has had for it; TSR_OUT_OF_MEMORY.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_blob_share(tsr_caffe_blob *dst, const tsr_caffe_blob *src,
                                                       tsr_caffe_part part, tsr_error *error);

/*
 * Copies a part (CopyFrom); nothing, where both use the same memory. TSR_INVALID_ARGUMENT: another type, or another
 * shape without reshape; and as tsr_caffe_blob_reshape and tsr_blob_copy.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_blob_copy(tsr_caffe_blob *dst, const tsr_caffe_blob *src,
                                                      tsr_caffe_part part, bool reshape, tsr_error *error);

/* ---- arithmetic; memory that nobody has touched is zero, and stays untouched ---- */

/* data -= diff (Update). TSR_INVALID_ARGUMENT: nobody has written data. */
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_blob_update(tsr_caffe_blob *blob, tsr_error *error);

TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_blob_scale(tsr_caffe_blob *blob, tsr_caffe_part part, double factor,
                                                       tsr_error *error);

/* asum and sumsq, as tsr_blob_sum_of_absolutes and tsr_blob_sum_of_squares have them. */
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_blob_asum(tsr_caffe_blob *blob, tsr_caffe_part part, double *sum,
                                                      tsr_error *error);
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_blob_sumsq(tsr_caffe_blob *blob, tsr_caffe_part part, double *sum,
                                                       tsr_error *error);

/* ---- messages ---- */

/* Is that the blob's shape, also in the form of four axes (ShapeEquals)? */
TSR_API bool tsr_caffe_blob_has_shape_of(const tsr_caffe_blob *blob, const tsr_caffe_blob_proto *proto);

/*
 * Takes the values of a message, converted to the blob's type, and with reshape its shape. A diff that the message
 * does not have stays as it is. TSR_INVALID_ARGUMENT: no data for elements that there are, or another shape without
 * reshape; and as tsr_caffe_blob_reshape.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_blob_from_proto(tsr_caffe_blob *blob, const tsr_caffe_blob_proto *proto,
                                                            bool reshape, tsr_error *error);

/*
 * Writes data, and diff if that is wanted, as tsr_caffe_blob_proto_write does: with bytes NULL, *size_bytes is all
 * that it gives.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_caffe_blob_to_proto(tsr_caffe_blob *blob, bool with_diff, void *bytes,
                                                          size_t room_bytes, size_t *size_bytes, tsr_error *error);

TSR_END_DECLS

#endif
