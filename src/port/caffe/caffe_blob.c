/* SPDX-License-Identifier: Apache-2.0 */
#include "port/caffe/caffe_blob.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/lock.h"
#include "blocked/blob.h"

static void reset(struct part *part)
{
    tsr_blob_free(&part->tensor);
    tsr_blob_free(&part->memory);
}

tsr_status tsr_caffe_blob_create(tsr_caffe_blob **blob, tsr_dtype dtype, const tsr_blob_options *options,
                                 tsr_error *error)
{
    const tsr_allocator *allocator = options && options->allocator ? options->allocator : tsr_default_allocator();
    if (dtype != TSR_F32 && dtype != TSR_F64)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected elements of type f32 or f64, found %s",
                        tsr_dtype_name(dtype));
    tsr_caffe_blob *made = tsr_allocate_zeroed(allocator, 1, sizeof *made);
    if (!made)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for a blob");
    made->dtype = dtype;
    made->allocator = *allocator;
    if (options)
        made->options = *options;
    made->device = tsr_device_share(made->options.device);
    made->options.allocator = &made->allocator;
    made->options.storage = NULL;
    *blob = made;
    return TSR_OK;
}

void tsr_caffe_blob_free(tsr_caffe_blob **blob)
{
    tsr_caffe_blob *old = blob ? *blob : NULL;
    if (!old)
        return;
    *blob = NULL;
    reset(&old->parts[TSR_CAFFE_DATA]);
    reset(&old->parts[TSR_CAFFE_DIFF]);
    tsr_device_release(&old->device);
    const tsr_allocator allocator = old->allocator;
    tsr_deallocate(&allocator, old, sizeof *old);
}

tsr_caffe_shape tsr_caffe_blob_shape(const tsr_caffe_blob *blob)
{
    return blob->shape;
}

tsr_blob *tsr_caffe_blob_tensor(const tsr_caffe_blob *blob, tsr_caffe_part part)
{
    return blob->parts[part].tensor;
}

tsr_blob *tsr_caffe_blob_memory(const tsr_caffe_blob *blob, tsr_caffe_part part)
{
    return blob->parts[part].memory;
}

static int64_t capacity_of(const struct part *part)
{
    tsr_desc desc;
    if (!part->memory)
        return 0;
    tsr_blob_get_desc(part->memory, &desc);
    return tsr_desc_elements(&desc);
}

int64_t tsr_caffe_blob_capacity(const tsr_caffe_blob *blob, tsr_caffe_part part)
{
    return capacity_of(&blob->parts[part]);
}

/* ---- memory ---- */

/* Memory of `count` elements. */
static tsr_status create_memory(tsr_blob **memory, const tsr_caffe_blob *blob, int64_t count, tsr_error *error)
{
    tsr_desc desc;
    tsr_status status = tsr_desc_plain(&desc, blob->dtype, 1, &count, error);
    return status == TSR_OK ? tsr_blob_create(memory, &desc, &blob->options, error) : status;
}

/* A part of this shape over memory, of which it takes the reference also on failure. */
static tsr_status make_part(struct part *made, tsr_blob *memory, const tsr_caffe_shape *shape, tsr_error *error)
{
    tsr_desc flat, desc;
    made->memory = memory;
    made->tensor = NULL;
    tsr_blob_get_desc(memory, &flat);
    tsr_status status = tsr_desc_plain(&desc, flat.dtype, shape->axes, shape->dims, error);
    if (status == TSR_OK)
        status = tsr_blob_create_view(&made->tensor, memory, &desc, error);
    if (status != TSR_OK)
        reset(made);
    return status;
}

/* The same with memory of its own. */
static tsr_status make_new_part(struct part *made, const tsr_caffe_blob *blob, const tsr_caffe_shape *shape,
                                tsr_error *error)
{
    tsr_blob *memory = NULL;
    tsr_status status = create_memory(&memory, blob, shape->count, error);
    return status == TSR_OK ? make_part(made, memory, shape, error) : status;
}

/* ---- parts that change, when nobody holds an access ---- */

static void leave(tsr_blob *memory)
{
    if (!memory)
        return;
    tsr_lock *lock = tsr_lock_of(memory);
    pthread_mutex_lock(&lock->mutex);
    tsr_blob_leave(memory, TSR_READ_WRITE);
    pthread_mutex_unlock(&lock->mutex);
}

/* Keeps all others from memory, which may be NULL, and from its tensors, until leave. TSR_BUSY. */
static tsr_status enter(tsr_blob *memory, tsr_error *error)
{
    if (!memory)
        return TSR_OK;
    tsr_lock *lock = tsr_lock_of(memory);
    pthread_mutex_lock(&lock->mutex);
    tsr_status status = tsr_blob_enter(memory, TSR_READ_WRITE, error);
    pthread_mutex_unlock(&lock->mutex);
    return status;
}

static tsr_status enter_both(tsr_blob *data, tsr_blob *diff, tsr_error *error)
{
    tsr_status status = enter(data, error);
    if (status != TSR_OK)
        return status;
    status = enter(diff, error);
    if (status != TSR_OK)
        leave(data);
    return status;
}

/* Puts in what was made for parts, all of it or nothing, and takes the references; a part that was not made stays.
 * TSR_BUSY. */
static tsr_status put_in(tsr_caffe_blob *blob, struct part made[2], tsr_error *error)
{
    tsr_blob *old[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++)
        if (made[i].memory)
            old[i] = blob->parts[i].memory;
    tsr_status status = enter_both(old[0], old[1], error);
    for (int i = 0; i < 2; i++) {
        if (status == TSR_OK && made[i].memory) {
            const struct part was = blob->parts[i];
            blob->parts[i] = made[i];
            made[i] = was;
            leave(old[i]);
        }
        reset(&made[i]);
    }
    return status;
}

static tsr_status make_and_put_in(tsr_caffe_blob *blob, const tsr_caffe_shape *shape, bool has_room, tsr_error *error)
{
    struct part made[2] = {{NULL, NULL}, {NULL, NULL}};
    tsr_status status = TSR_OK;
    for (int i = 0; i < 2 && status == TSR_OK; i++)
        status = has_room ? make_part(&made[i], tsr_blob_share(blob->parts[i].memory), shape, error)
                          : make_new_part(&made[i], blob, shape, error);
    if (status == TSR_OK)
        return put_in(blob, made, error);
    reset(&made[0]);
    return status;
}

/* Gives the tensors another shape where they are, if both can have it; *is_done says so. */
static tsr_status reshape_tensors(tsr_caffe_blob *blob, const tsr_caffe_shape *shape, bool *is_done, tsr_error *error)
{
    const struct part *data = &blob->parts[TSR_CAFFE_DATA], *diff = &blob->parts[TSR_CAFFE_DIFF];
    tsr_desc desc;
    tsr_status status = tsr_desc_plain(&desc, blob->dtype, shape->axes, shape->dims, error);
    *is_done = status == TSR_OK && tsr_ref_is_sole(&data->tensor->ref) && tsr_ref_is_sole(&diff->tensor->ref);
    if (!*is_done)
        return status;
    status = enter_both(data->memory, diff->memory, error);
    if (status != TSR_OK)
        return status;
    tsr_view_rewrite(data->tensor, &desc);
    tsr_view_rewrite(diff->tensor, &desc);
    leave(data->memory);
    leave(diff->memory);
    return TSR_OK;
}

tsr_status tsr_caffe_blob_reshape(tsr_caffe_blob *blob, const tsr_caffe_shape *shape, bool *reallocated,
                                  tsr_error *error)
{
    tsr_caffe_shape checked;
    bool has_room = true, is_done = false;
    tsr_status status = tsr_caffe_shape_init(&checked, shape->axes, shape->dims, error);
    if (status != TSR_OK)
        return status;
    for (int i = 0; i < 2; i++)
        has_room = has_room && blob->parts[i].memory && capacity_of(&blob->parts[i]) >= checked.count;
    if (has_room)
        status = reshape_tensors(blob, &checked, &is_done, error);
    if (status == TSR_OK && !is_done)
        status = make_and_put_in(blob, &checked, has_room, error);
    if (status != TSR_OK)
        return status;
    blob->shape = checked;
    if (reallocated)
        *reallocated = !has_room;
    return TSR_OK;
}

struct kept tsr_caffe_keep(const tsr_caffe_blob *blob)
{
    struct kept kept = {.shape = blob->shape};
    for (int i = 0; i < 2; i++)
        kept.parts[i] = (struct part){tsr_blob_share(blob->parts[i].memory), tsr_blob_share(blob->parts[i].tensor)};
    return kept;
}

tsr_status tsr_caffe_settle(tsr_caffe_blob *blob, struct kept *kept, tsr_status status)
{
    if (status != TSR_OK)
        blob->shape = kept->shape;
    for (int i = 0; i < 2; i++)
        if (status != TSR_OK) {
            reset(&blob->parts[i]);
            blob->parts[i] = kept->parts[i];
        } else {
            reset(&kept->parts[i]);
        }
    return status;
}

tsr_caffe_head tsr_caffe_blob_head(const tsr_caffe_blob *blob, tsr_caffe_part part, const tsr_device *device)
{
    tsr_blob *memory = blob->parts[part].memory;
    tsr_desc desc;
    if (!memory)
        return TSR_CAFFE_UNINITIALIZED;
    tsr_blob_get_desc(memory, &desc);
    const bool is_at_host = tsr_blob_holds(memory, NULL, &desc);
    const bool is_at_device = device && tsr_blob_holds(memory, device, &desc);
    return is_at_host ? (is_at_device ? TSR_CAFFE_SYNCED : TSR_CAFFE_AT_HOST)
                      : (is_at_device ? TSR_CAFFE_AT_DEVICE : TSR_CAFFE_UNINITIALIZED);
}

/* Of the blob's shape, with the values that storage holds. */
static tsr_status make_part_over(struct part *made, const tsr_caffe_blob *blob, tsr_storage *storage, tsr_error *error)
{
    tsr_blob *memory = NULL;
    tsr_status status = create_memory(&memory, blob, blob->shape.count, error);
    if (status != TSR_OK)
        return status;
    status = tsr_blob_set_storage(memory, NULL, storage, error);
    if (status == TSR_OK)
        return make_part(made, memory, &blob->shape, error);
    tsr_blob_free(&memory);
    return status;
}

static tsr_status set_storage(tsr_caffe_blob *blob, tsr_storage *storage, tsr_error *error)
{
    tsr_blob *memory = blob->parts[TSR_CAFFE_DATA].memory;
    struct part made[2] = {{NULL, NULL}, {NULL, NULL}};
    const bool is_other_size = capacity_of(&blob->parts[TSR_CAFFE_DATA]) != blob->shape.count;
    if (!is_other_size && tsr_storage_device(storage) != tsr_blob_get_device(memory))
        return tsr_blob_set_storage(memory, NULL, storage, error); /* home, of which the tensor is a view, stays */
    tsr_status status = make_part_over(&made[TSR_CAFFE_DATA], blob, storage, error);
    if (status == TSR_OK && is_other_size)
        status = make_new_part(&made[TSR_CAFFE_DIFF], blob, &blob->shape, error);
    if (status == TSR_OK)
        return put_in(blob, made, error);
    reset(&made[TSR_CAFFE_DATA]);
    return status;
}

tsr_status tsr_caffe_blob_set_data(tsr_caffe_blob *blob, tsr_device *device, void *memory, tsr_error *error)
{
    tsr_storage *storage = NULL;
    const size_t bytes = (size_t)blob->shape.count * tsr_dtype_size_bytes(blob->dtype);
    if (!memory || !blob->parts[TSR_CAFFE_DATA].memory)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected memory for a blob that has a shape");
    tsr_status status =
        tsr_storage_wrap_on(&storage, device ? device : tsr_device_host(), memory, bytes, NULL, NULL, error);
    if (status == TSR_OK)
        status = set_storage(blob, storage, error);
    tsr_storage_release(&storage);
    return status;
}

tsr_status tsr_caffe_blob_share(tsr_caffe_blob *dst, const tsr_caffe_blob *src, tsr_caffe_part part, tsr_error *error)
{
    struct part made[2] = {{NULL, NULL}, {NULL, NULL}};
    if (dst->dtype != src->dtype || dst->shape.count != src->shape.count || !src->parts[part].memory)
        return tsr_fail(error, TSR_INVALID_ARGUMENT,
                        "expected a blob of %lld elements of type %s to share with, found %lld of type %s",
                        (long long)dst->shape.count, tsr_dtype_name(dst->dtype), (long long)src->shape.count,
                        tsr_dtype_name(src->dtype));
    if (dst->parts[part].memory == src->parts[part].memory)
        return TSR_OK;
    tsr_status status = make_part(&made[part], tsr_blob_share(src->parts[part].memory), &dst->shape, error);
    return status == TSR_OK ? put_in(dst, made, error) : status;
}

tsr_status tsr_caffe_blob_copy(tsr_caffe_blob *dst, const tsr_caffe_blob *src, tsr_caffe_part part, bool reshape,
                               tsr_error *error)
{
    tsr_status status = TSR_OK;
    const bool is_same = tsr_caffe_is_same_shape(&dst->shape, &src->shape);
    if (dst == src)
        return TSR_OK;
    if (dst->dtype != src->dtype || !src->parts[part].memory)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a blob of type %s with a shape to copy from",
                        tsr_dtype_name(dst->dtype));
    if (!is_same && !reshape)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a blob of the same shape to copy from");
    struct kept kept = tsr_caffe_keep(dst);
    if (!is_same)
        status = tsr_caffe_blob_reshape(dst, &src->shape, NULL, error);
    if (status == TSR_OK && dst->parts[part].memory != src->parts[part].memory)
        status = tsr_blob_copy(dst->parts[part].tensor, src->parts[part].tensor, error);
    return tsr_caffe_settle(dst, &kept, status);
}

/* ---- arithmetic ---- */

static bool is_touched(const tsr_caffe_blob *blob, tsr_caffe_part part)
{
    tsr_blob *memory = blob->parts[part].memory;
    if (!memory)
        return false;
    tsr_lock *lock = tsr_lock_of(memory);
    pthread_mutex_lock(&lock->mutex);
    const bool is = tsr_blob_best_source(memory, tsr_device_host()) != NULL;
    pthread_mutex_unlock(&lock->mutex);
    return is;
}

tsr_status tsr_caffe_blob_update(tsr_caffe_blob *blob, tsr_error *error)
{
    if (!is_touched(blob, TSR_CAFFE_DATA))
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected data that somebody has written");
    return tsr_blob_subtract(blob->parts[TSR_CAFFE_DATA].tensor, blob->parts[TSR_CAFFE_DIFF].tensor, error);
}

tsr_status tsr_caffe_blob_scale(tsr_caffe_blob *blob, tsr_caffe_part part, double factor, tsr_error *error)
{
    return is_touched(blob, part) ? tsr_blob_scale(blob->parts[part].tensor, factor, error) : TSR_OK;
}

tsr_status tsr_caffe_blob_asum(tsr_caffe_blob *blob, tsr_caffe_part part, double *sum, tsr_error *error)
{
    *sum = 0;
    return is_touched(blob, part) ? tsr_blob_sum_of_absolutes(blob->parts[part].tensor, sum, error) : TSR_OK;
}

tsr_status tsr_caffe_blob_sumsq(tsr_caffe_blob *blob, tsr_caffe_part part, double *sum, tsr_error *error)
{
    *sum = 0;
    return is_touched(blob, part) ? tsr_blob_sum_of_squares(blob->parts[part].tensor, sum, error) : TSR_OK;
}
