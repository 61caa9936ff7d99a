/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/neoml.h>

#include <tessera/view.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/int.h"
#include "blocked/blob.h"

/* ---- shapes ---- */

tsr_neo_dims tsr_neo_image_3d(int64_t batch_length, int64_t batch_width, int64_t height, int64_t width, int64_t depth,
                              int64_t channels)
{
    return (tsr_neo_dims){{batch_length, batch_width, 1, height, width, depth, channels}};
}

tsr_neo_dims tsr_neo_image_2d(int64_t batch_length, int64_t batch_width, int64_t height, int64_t width,
                              int64_t channels)
{
    return tsr_neo_image_3d(batch_length, batch_width, height, width, 1, channels);
}

tsr_neo_dims tsr_neo_list(int64_t batch_length, int64_t batch_width, int64_t list_size, int64_t channels)
{
    return (tsr_neo_dims){{batch_length, batch_width, list_size, 1, 1, 1, channels}};
}

tsr_neo_dims tsr_neo_data(int64_t batch_length, int64_t batch_width, int64_t channels)
{
    return tsr_neo_list(batch_length, batch_width, 1, channels);
}

/* The first axes, or the last ones. */
static tsr_status from_list(tsr_neo_dims *dims, bool is_first, int count, const int64_t *list, tsr_error *error)
{
    tsr_neo_dims made = {{1, 1, 1, 1, 1, 1, 1}};
    if (count < 0 || count > TSR_NEO_AXES)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected at most %d dims, found %d", TSR_NEO_AXES, count);
    for (int i = 0; i < count; i++) {
        if (list[i] < 1)
            return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected dims of at least 1, found %lld at %d",
                            (long long)list[i], i);
        made.of[is_first ? i : TSR_NEO_AXES - count + i] = list[i];
    }
    *dims = made;
    return TSR_OK;
}

tsr_status tsr_neo_tensor(tsr_neo_dims *dims, int count, const int64_t *list, tsr_error *error)
{
    return from_list(dims, true, count, list, error);
}

tsr_status tsr_neo_description(tsr_neo_dims *dims, int count, const int64_t *list, tsr_error *error)
{
    return from_list(dims, false, count, list, error);
}

static bool multiply(const tsr_neo_dims *dims, int first, int end, int64_t *product)
{
    *product = 1;
    bool fits = true;
    for (int k = first; k < end; k++)
        fits = fits && tsr_mul(*product, dims->of[k], product);
    return fits;
}

tsr_status tsr_neo_get_sizes(const tsr_neo_dims *dims, tsr_neo_sizes *sizes, tsr_error *error)
{
    tsr_neo_sizes made;
    if (!multiply(dims, 0, TSR_NEO_AXES, &made.data) || !multiply(dims, 0, TSR_NEO_HEIGHT, &made.objects) ||
        !multiply(dims, TSR_NEO_HEIGHT, TSR_NEO_AXES, &made.object) ||
        !multiply(dims, TSR_NEO_HEIGHT, TSR_NEO_CHANNELS, &made.geometrical))
        return tsr_fail(error, TSR_OVERFLOW, "expected dims whose product fits into 63 bits");
    *sizes = made;
    return TSR_OK;
}

tsr_status tsr_neo_offset(const tsr_neo_dims *dims, int count, const int64_t *position, int64_t *offset,
                          tsr_error *error)
{
    tsr_neo_sizes sizes;
    int64_t at = 0;
    tsr_status status = tsr_neo_get_sizes(dims, &sizes, error);
    if (status != TSR_OK)
        return status;
    if (count < 0 || count > TSR_NEO_AXES)
        return tsr_fail(error, TSR_OUT_OF_RANGE, "expected a position of at most %d indices, found %d", TSR_NEO_AXES,
                        count);
    for (int k = 0; k < TSR_NEO_AXES; k++) {
        const int64_t index = k < count ? position[k] : 0;
        if (index < 0 || index >= dims->of[k])
            return tsr_fail(error, TSR_OUT_OF_RANGE, "expected an index below %lld along axis %d, found %lld",
                            (long long)dims->of[k], k, (long long)index);
        at = at * dims->of[k] + index;
    }
    *offset = at;
    return TSR_OK;
}

tsr_status tsr_neo_object_offset(const tsr_neo_dims *dims, int64_t n, int64_t *offset, tsr_error *error)
{
    tsr_neo_sizes sizes;
    tsr_status status = tsr_neo_get_sizes(dims, &sizes, error);
    if (status != TSR_OK)
        return status;
    if (n < 0 || n >= sizes.objects)
        return tsr_fail(error, TSR_OUT_OF_RANGE, "expected an object below %lld, found %lld", (long long)sizes.objects,
                        (long long)n);
    *offset = n * sizes.object;
    return TSR_OK;
}

/* ---- blobs ---- */

tsr_status tsr_neo_create(tsr_blob **blob, tsr_dtype dtype, tsr_neo_dims dims, const tsr_blob_options *options,
                          tsr_error *error)
{
    tsr_desc desc;
    tsr_neo_dims checked;
    if (dtype != TSR_F32 && dtype != TSR_S32)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected elements of type f32 or s32, found %s",
                        tsr_dtype_name(dtype));
    tsr_status status = tsr_neo_tensor(&checked, TSR_NEO_AXES, dims.of, error);
    if (status == TSR_OK)
        status = tsr_desc_plain(&desc, dtype, TSR_NEO_AXES, checked.of, error);
    return status == TSR_OK ? tsr_blob_create(blob, &desc, options, error) : status;
}

tsr_status tsr_neo_get_dims(tsr_blob *blob, tsr_neo_dims *dims, tsr_error *error)
{
    tsr_desc desc;
    tsr_blob_get_desc(blob, &desc);
    if (desc.rank != TSR_NEO_AXES)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a blob of %d axes, found %d", TSR_NEO_AXES, desc.rank);
    for (int k = 0; k < TSR_NEO_AXES; k++)
        dims->of[k] = desc.dims[k];
    return TSR_OK;
}

/* ---- windows ---- */

/* A few steps of a parent. They are everywhere at the same distance, so that a window can be moved. */
static tsr_status see_steps(tsr_desc *view, const tsr_desc *parent, int64_t first, int64_t count, tsr_error *error)
{
    const int64_t begin[TSR_NEO_AXES] = {first};
    int64_t dims[TSR_NEO_AXES];
    int levels = 0;
    for (int i = 0; i < parent->levels; i++)
        levels += parent->order[i] == TSR_NEO_BATCH_LENGTH;
    if (levels != 1)
        return tsr_fail(error, TSR_UNSUPPORTED, "expected a parent with BatchLength in 1 level, found %d", levels);
    for (int k = 0; k < TSR_NEO_AXES; k++)
        dims[k] = k == TSR_NEO_BATCH_LENGTH ? count : parent->dims[k];
    return tsr_view_crop(view, parent, begin, dims, NULL, error);
}

tsr_status tsr_neo_create_window(tsr_blob **window, tsr_blob *parent, int64_t size, tsr_error *error)
{
    tsr_neo_dims dims;
    tsr_desc desc, view;
    tsr_status status = tsr_neo_get_dims(parent, &dims, error);
    if (status != TSR_OK)
        return status;
    if (size < 1)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a window of at least 1 step, found %lld",
                        (long long)size);
    if (size > dims.of[TSR_NEO_BATCH_LENGTH])
        return tsr_fail(error, TSR_OUT_OF_RANGE, "expected a window of at most %lld steps, found %lld",
                        (long long)dims.of[TSR_NEO_BATCH_LENGTH], (long long)size);
    tsr_blob_get_desc(parent, &desc);
    status = see_steps(&view, &desc, 0, size, error);
    return status == TSR_OK ? tsr_blob_create_view(window, parent, &view, error) : status;
}

/* Does a view have all of its parent, but for steps along BatchLength? */
static bool is_window(const tsr_desc *view, const tsr_desc *parent)
{
    bool is = view->rank == TSR_NEO_AXES && parent->rank == TSR_NEO_AXES;
    for (int k = TSR_NEO_BATCH_WIDTH; k < TSR_NEO_AXES; k++)
        is = is && view->dims[k] == parent->dims[k];
    return is;
}

/* Where a window starts at a position. */
static tsr_status find_start(tsr_blob *window, int64_t position, int64_t *start, tsr_error *error)
{
    tsr_desc desc, parent;
    if (!tsr_blob_get_parent(window))
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a window, found a blob with memory of its own");
    tsr_blob_get_desc(window, &desc);
    tsr_blob_get_desc(tsr_blob_get_parent(window), &parent);
    if (!is_window(&desc, &parent))
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a window along BatchLength, found another view");
    const int64_t size = desc.dims[TSR_NEO_BATCH_LENGTH], last = parent.dims[TSR_NEO_BATCH_LENGTH] - size;
    if (position < 0 || position > last)
        return tsr_fail(error, TSR_OUT_OF_RANGE, "expected a position of 0 to %lld, found %lld", (long long)last,
                        (long long)position);
    tsr_status status = see_steps(&desc, &parent, position, size, error);
    if (status == TSR_OK)
        *start = desc.offset - parent.offset;
    return status;
}

tsr_status tsr_neo_set_position(tsr_blob *window, int64_t position, tsr_error *error)
{
    int64_t start;
    tsr_status status = find_start(window, position, &start, error);
    return status == TSR_OK ? tsr_blob_move_view(window, start, error) : status;
}

tsr_status tsr_neo_get_position(tsr_blob *window, int64_t *position, tsr_error *error)
{
    int64_t first, second;
    tsr_status status = find_start(window, 0, &first, error);
    if (status != TSR_OK)
        return status;
    if (find_start(window, 1, &second, NULL) != TSR_OK)
        second = first; /* it is as long as its parent */
    *position = second == first ? 0 : (tsr_blob_get_start(window) - first) / (second - first);
    return TSR_OK;
}

tsr_blob *tsr_neo_get_owner(tsr_blob *blob)
{
    return tsr_blob_root(blob);
}

/* ---- objects ---- */

/* The same memory as rows of objects, each with all that it contains. */
static tsr_status view_as_rows(tsr_blob **view, tsr_blob *blob, tsr_error *error)
{
    tsr_neo_dims dims;
    tsr_neo_sizes sizes;
    tsr_desc desc, rows;
    tsr_status status = tsr_neo_get_dims(blob, &dims, error);
    if (status == TSR_OK)
        status = tsr_neo_get_sizes(&dims, &sizes, error);
    if (status != TSR_OK)
        return status;
    tsr_blob_get_desc(blob, &desc);
    status = tsr_view_reshape(&rows, &desc, 2, (int64_t[]){sizes.objects, sizes.object}, error);
    return status == TSR_OK ? tsr_blob_create_view(view, blob, &rows, error) : status;
}

tsr_status tsr_neo_create_object_view(tsr_blob **object, tsr_blob *blob, int64_t n, tsr_error *error)
{
    tsr_blob *rows;
    tsr_desc desc, row;
    tsr_status status = view_as_rows(&rows, blob, error);
    if (status != TSR_OK)
        return status;
    tsr_blob_get_desc(rows, &desc);
    tsr_blob_free(&rows);
    if (n < 0 || n >= desc.dims[0])
        return tsr_fail(error, TSR_OUT_OF_RANGE, "expected an object below %lld, found %lld", (long long)desc.dims[0],
                        (long long)n);
    status = tsr_view_crop(&row, &desc, (int64_t[]){n, 0}, (int64_t[]){1, desc.dims[1]}, NULL, error);
    return status == TSR_OK ? tsr_blob_create_view(object, blob, &row, error) : status;
}

/* Every element of an object becomes *value, or 0 if that is NULL. */
static tsr_status set_object(tsr_blob *blob, int64_t n, const void *value, tsr_error *error)
{
    tsr_blob *object;
    tsr_status status = tsr_neo_create_object_view(&object, blob, n, error);
    if (status != TSR_OK)
        return status;
    status = value ? tsr_blob_fill(object, value, error) : tsr_blob_clear(object, error);
    tsr_blob_free(&object);
    return status;
}

tsr_status tsr_neo_fill_object(tsr_blob *blob, int64_t n, const void *value, tsr_error *error)
{
    return set_object(blob, n, value, error);
}

tsr_status tsr_neo_clear_object(tsr_blob *blob, int64_t n, tsr_error *error)
{
    return set_object(blob, n, NULL, error);
}

tsr_status tsr_neo_reinterpret(tsr_blob *blob, tsr_neo_dims dims, tsr_error *error)
{
    tsr_desc desc, other;
    tsr_neo_dims checked;
    tsr_blob_get_desc(blob, &desc);
    tsr_status status = tsr_neo_tensor(&checked, TSR_NEO_AXES, dims.of, error);
    if (status == TSR_OK)
        status = tsr_view_reshape(&other, &desc, TSR_NEO_AXES, checked.of, error);
    return status == TSR_OK ? tsr_blob_reshape(blob, &other, NULL, error) : status;
}

/* Do all have objects of the same dims? */
static tsr_status check_objects(tsr_blob *whole, tsr_blob *const *parts, int count, tsr_error *error)
{
    tsr_neo_dims dims, part;
    tsr_status status = tsr_neo_get_dims(whole, &dims, error);
    for (int i = 0; i < count && status == TSR_OK; i++) {
        status = tsr_neo_get_dims(parts[i], &part, error);
        for (int k = TSR_NEO_HEIGHT; k < TSR_NEO_AXES && status == TSR_OK; k++)
            if (part.of[k] != dims.of[k])
                status = tsr_fail(error, TSR_INVALID_ARGUMENT,
                                  "expected objects of %lld along axis %d in part %d, found %lld",
                                  (long long)dims.of[k], k, i, (long long)part.of[k]);
    }
    return status;
}

/* The axes of rows. */
enum { OBJECTS, CONTENTS };

static tsr_status move_rows(tsr_blob *whole, tsr_blob *const *parts, int count, int axis, bool is_merge,
                            tsr_error *error)
{
    tsr_status status = tsr_blob_check_parts(parts, count, error);
    if (status != TSR_OK)
        return status;
    const size_t bytes = (size_t)count * sizeof(tsr_blob *);
    tsr_blob *all = NULL, **rows = tsr_allocate_zeroed(&whole->allocator, bytes, 1);
    if (!rows)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for %d parts", count);
    if (axis == OBJECTS)
        status = check_objects(whole, parts, count, error);
    if (status == TSR_OK)
        status = view_as_rows(&all, whole, error);
    for (int i = 0; i < count && status == TSR_OK; i++)
        status = view_as_rows(&rows[i], parts[i], error);
    if (status == TSR_OK)
        status =
            is_merge ? tsr_blob_merge(all, rows, count, axis, error) : tsr_blob_split(rows, count, all, axis, error);
    for (int i = 0; i < count; i++)
        tsr_blob_free(&rows[i]);
    tsr_blob_free(&all);
    tsr_deallocate(&whole->allocator, rows, bytes);
    return status;
}

tsr_status tsr_neo_merge_objects(tsr_blob *whole, tsr_blob *const *parts, int count, tsr_error *error)
{
    return move_rows(whole, parts, count, OBJECTS, true, error);
}

tsr_status tsr_neo_split_objects(tsr_blob *const *parts, int count, tsr_blob *whole, tsr_error *error)
{
    return move_rows(whole, parts, count, OBJECTS, false, error);
}

tsr_status tsr_neo_merge_contents(tsr_blob *whole, tsr_blob *const *parts, int count, tsr_error *error)
{
    return move_rows(whole, parts, count, CONTENTS, true, error);
}

tsr_status tsr_neo_split_contents(tsr_blob *const *parts, int count, tsr_blob *whole, tsr_error *error)
{
    return move_rows(whole, parts, count, CONTENTS, false, error);
}
