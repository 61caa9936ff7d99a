/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_NEOML_H
#define TESSERA_NEOML_H

#include <tessera/arithmetic.h>
#include <tessera/blob.h>

TSR_BEGIN_DECLS

/*
 * NeoML's vocabulary: blobs of seven named axes, f32 or s32, row-major with channels next to each other. They are
 * blobs like any other; these functions name shapes, objects and windows as NeoML does. An object is one of
 * BatchLength x BatchWidth x ListSize, and has Height x Width x Depth x Channels elements.
 */
enum {
    TSR_NEO_BATCH_LENGTH,
    TSR_NEO_BATCH_WIDTH,
    TSR_NEO_LIST_SIZE,
    TSR_NEO_HEIGHT,
    TSR_NEO_WIDTH,
    TSR_NEO_DEPTH,
    TSR_NEO_CHANNELS,
    TSR_NEO_AXES
};

typedef struct tsr_neo_dims {
    int64_t of[TSR_NEO_AXES];
} tsr_neo_dims;

/* ---- shapes; what is not named is 1 ---- */

TSR_API tsr_neo_dims tsr_neo_data(int64_t batch_length, int64_t batch_width, int64_t channels);
TSR_API tsr_neo_dims tsr_neo_list(int64_t batch_length, int64_t batch_width, int64_t list_size, int64_t channels);
TSR_API tsr_neo_dims tsr_neo_image_2d(int64_t batch_length, int64_t batch_width, int64_t height, int64_t width,
                                      int64_t channels);
TSR_API tsr_neo_dims tsr_neo_image_3d(int64_t batch_length, int64_t batch_width, int64_t height, int64_t width,
                                      int64_t depth, int64_t channels);

/*
 * From a list of at most seven dims: of a tensor (CreateTensor, CreateVector, CreateMatrix), the first is
 * BatchLength; of a description (CBlobDesc), the last is Channels. TSR_INVALID_ARGUMENT: more than seven, or a dim
 * below 1.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_neo_tensor(tsr_neo_dims *dims, int count, const int64_t *list, tsr_error *error);
TSR_API TSR_MUST_CHECK tsr_status tsr_neo_description(tsr_neo_dims *dims, int count, const int64_t *list,
                                                      tsr_error *error);

/* ---- blobs ---- */

/* As tsr_blob_create, for f32 or s32. Dims are at least 1. */
TSR_API TSR_MUST_CHECK tsr_status tsr_neo_create(tsr_blob **blob, tsr_dtype dtype, tsr_neo_dims dims,
                                                 const tsr_blob_options *options, tsr_error *error);

/* The dims of a blob. TSR_INVALID_ARGUMENT: it is none of seven axes. */
TSR_API TSR_MUST_CHECK tsr_status tsr_neo_get_dims(tsr_blob *blob, tsr_neo_dims *dims, tsr_error *error);

/* Products of dims; TSR_OVERFLOW where they do not fit into 63 bits. */
typedef struct tsr_neo_sizes {
    int64_t data;        /* all seven */
    int64_t objects;     /* BatchLength x BatchWidth x ListSize */
    int64_t object;      /* Height x Width x Depth x Channels */
    int64_t geometrical; /* Height x Width x Depth */
} tsr_neo_sizes;

TSR_API TSR_MUST_CHECK tsr_status tsr_neo_get_sizes(const tsr_neo_dims *dims, tsr_neo_sizes *sizes, tsr_error *error);

/* Where the element at a position lies in row-major order; indices that are missing at the end are 0.
 * TSR_OUT_OF_RANGE. */
TSR_API TSR_MUST_CHECK tsr_status tsr_neo_offset(const tsr_neo_dims *dims, int count, const int64_t *position,
                                                 int64_t *offset, tsr_error *error);

/* Where the first element of object n lies. TSR_OUT_OF_RANGE. */
TSR_API TSR_MUST_CHECK tsr_status tsr_neo_object_offset(const tsr_neo_dims *dims, int64_t n, int64_t *offset,
                                                        tsr_error *error);

/* ---- windows: views of a few steps along BatchLength ---- */

/*
 * A window of `size` steps at position 0.
 *
 * TSR_INVALID_ARGUMENT  a size below 1, or a parent that is none of seven axes
 * TSR_OUT_OF_RANGE      the window is longer than its parent
 * TSR_UNSUPPORTED       the parent has BatchLength in blocks, between which a step is not as far as inside of one
 * and as tsr_blob_create_view
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_neo_create_window(tsr_blob **window, tsr_blob *parent, int64_t size,
                                                        tsr_error *error);

/*
 * Moves a window to a position of its parent, and says at which it is. TSR_INVALID_ARGUMENT: it is none;
 * TSR_UNSUPPORTED: as above; TSR_OUT_OF_RANGE, and as tsr_blob_move_view: it is where it was.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_neo_set_position(tsr_blob *window, int64_t position, tsr_error *error);
TSR_API TSR_MUST_CHECK tsr_status tsr_neo_get_position(tsr_blob *window, int64_t *position, tsr_error *error);

/* The blob that has the memory: the root of windows of windows, or the blob itself. The reference stays with that. */
TSR_API tsr_blob *tsr_neo_get_owner(tsr_blob *blob);

/*
 * ---- merge and split along anything but an axis, for which there are tsr_blob_merge and tsr_blob_split ----
 *
 * These fail as those two do, and with TSR_UNSUPPORTED where the memory of a blob cannot be seen as rows of objects by
 * tsr_view_reshape, as where blocks of channels have padding between pixels. Nothing has been moved then.
 */

/*
 * Whole objects, one behind the other, as the documentation of MergeByObject and SplitByObject has it: all have
 * objects of the same dims, and their numbers add up.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_neo_merge_objects(tsr_blob *whole, tsr_blob *const *parts, int count,
                                                        tsr_error *error);
TSR_API TSR_MUST_CHECK tsr_status tsr_neo_split_objects(tsr_blob *const *parts, int count, tsr_blob *whole,
                                                        tsr_error *error);

/*
 * The contents of each object, as the code of MergeByObject and SplitByObject does: all have as many objects, and the
 * sizes of these add up, whatever their dims.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_neo_merge_contents(tsr_blob *whole, tsr_blob *const *parts, int count,
                                                         tsr_error *error);
TSR_API TSR_MUST_CHECK tsr_status tsr_neo_split_contents(tsr_blob *const *parts, int count, tsr_blob *whole,
                                                         tsr_error *error);

/* ---- single objects; for all of a blob there are tsr_blob_fill and tsr_blob_clear ---- */

/* A view of object n, as one row of all that it contains. TSR_OUT_OF_RANGE, and as tsr_blob_create_view. */
TSR_API TSR_MUST_CHECK tsr_status tsr_neo_create_object_view(tsr_blob **object, tsr_blob *blob, int64_t n,
                                                             tsr_error *error);

/* All of its elements become *value, which is of the blob's type, or 0. As that view, and as the function for all
 * of a blob. */
TSR_API TSR_MUST_CHECK tsr_status tsr_neo_fill_object(tsr_blob *blob, int64_t n, const void *value, tsr_error *error);
TSR_API TSR_MUST_CHECK tsr_status tsr_neo_clear_object(tsr_blob *blob, int64_t n, tsr_error *error);

/*
 * Other dims for the same elements in the same order; the type stays. TSR_INVALID_ARGUMENT: another number
 * of elements, or a window; TSR_UNSUPPORTED: as tsr_view_reshape; and as tsr_blob_reshape.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_neo_reinterpret(tsr_blob *blob, tsr_neo_dims dims, tsr_error *error);

/* ---- buffers ---- */

/*
 * A copy of some elements of a blob, in row-major order, for the host to work on. Buffers of a blob are given back in
 * the order that reverses the one in which they were got, whichever threads do that. One that is got while another is
 * on its way back was got later than that, and does not hold it up.
 */
typedef struct tsr_neo_buffer tsr_neo_buffer;

/*
 * A buffer of `size` elements from `position` on. With exchange it has their values, or else anything. The blob is
 * accessed for as long as the call lasts, and its reference is kept until the buffer is given back.
 *
 * TSR_OUT_OF_RANGE   position and size that reach beyond the blob; a size of 0 is fine
 * TSR_UNSUPPORTED    a type of less than a byte
 * TSR_OUT_OF_MEMORY  and as tsr_blob_acquire
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_neo_get_buffer(tsr_neo_buffer **buffer, tsr_blob *blob, int64_t position,
                                                     int64_t size, bool exchange, tsr_error *error);

/* Its elements, aligned to TSR_ALIGNMENT; NULL if it has none. */
TSR_API void *tsr_neo_buffer_data(tsr_neo_buffer *buffer);

/*
 * Gives a buffer back, and sets *buffer to NULL; with exchange, the blob gets what it holds. If that is all of the
 * blob, no older values are converted.
 *
 * TSR_INVALID_ARGUMENT  it is NULL; or a buffer of the blob was got later, and has not been given back; nothing has
 *                       happened
 * TSR_OUT_OF_RANGE      the blob has become too small for what is exchanged
 * and as tsr_blob_acquire; the buffer is still there
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_neo_release_buffer(tsr_neo_buffer **buffer, bool exchange, tsr_error *error);

TSR_END_DECLS

#endif
