/* SPDX-License-Identifier: Apache-2.0 */
#include "blocked/blob.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/lock.h"
#include "blocked/move.h"
#include "blocked/storage.h"

/* ---- one blob ---- */

static tsr_status check_capacity(tsr_storage *storage, const tsr_desc *desc, tsr_error *error)
{
    const size_t bytes = (size_t)tsr_desc_size_bytes(desc);
    if (tsr_storage_capacity_bytes(storage) < bytes)
        return tsr_fail(error, TSR_OUT_OF_RANGE, "expected storage of %zu bytes, found %zu", bytes,
                        tsr_storage_capacity_bytes(storage));
    return TSR_OK;
}

static tsr_status check_storage(tsr_storage *storage, const tsr_device *device, const tsr_desc *desc, tsr_error *error)
{
    if (tsr_storage_device(storage) != device)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected storage on device \"%s\", found some on \"%s\"",
                        tsr_device_name(device), tsr_device_name(tsr_storage_device(storage)));
    return check_capacity(storage, desc, error);
}

static tsr_status fill_in(tsr_blob *blob, const tsr_desc *desc, const tsr_blob_options *options, tsr_error *error)
{
    tsr_device *device = options->device ? options->device : tsr_device_host();
    tsr_status status = TSR_OK;
    blob->threads = options->threads;
    blob->plans = options->plans;
    blob->keep_bytes = options->keep_bytes;
    if (options->storage)
        status = check_storage(options->storage, device, desc, error);
    if (status == TSR_OK)
        status = tsr_representation_create(&blob->home, blob, device, options->storage, desc, error);
    if (status == TSR_OK && options->storage) {
        blob->home->is_valid = true;
        blob->home->has_unknown_padding = blob->home->has_padding;
    }
    return status;
}

tsr_status tsr_blob_create(tsr_blob **blob, const tsr_desc *desc, const tsr_blob_options *options, tsr_error *error)
{
    static const tsr_blob_options none = {0};
    options = options ? options : &none;
    const tsr_allocator allocator = options->allocator ? *options->allocator : *tsr_default_allocator();
    tsr_status status = tsr_blob_can_keep(desc, error);
    if (status != TSR_OK)
        return status;
    if (options->keep_bytes < 0 || options->threads < 0)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected keep_bytes and threads of at least 0, found %lld and %d",
                        (long long)options->keep_bytes, options->threads);
    tsr_blob *made = tsr_allocate_zeroed(&allocator, 1, sizeof *made);
    if (!made)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for a blob");
    tsr_ref_init(&made->ref);
    made->allocator = allocator;
    status = fill_in(made, desc, options, error);
    if (status == TSR_OK)
        *blob = made;
    else
        tsr_blob_free(&made);
    return status;
}

tsr_status tsr_blob_wrap(tsr_blob **blob, const tsr_desc *desc, void *memory, size_t size_bytes,
                         void (*release)(void *context, void *memory), void *context, tsr_error *error)
{
    tsr_storage *storage = NULL;
    tsr_status status = tsr_storage_wrap(&storage, memory, size_bytes, NULL, NULL, error);
    if (status != TSR_OK)
        return status;
    status = tsr_blob_create(blob, desc, &(tsr_blob_options){.storage = storage}, error);
    if (status == TSR_OK)
        tsr_storage_set_release(storage, release, context);
    tsr_storage_release(&storage);
    return status;
}

tsr_blob *tsr_blob_share(tsr_blob *blob)
{
    if (blob)
        tsr_ref_take(&blob->ref);
    return blob;
}

void tsr_blob_free(tsr_blob **blob)
{
    tsr_blob *old = blob ? *blob : NULL;
    if (!old)
        return;
    *blob = NULL;
    if (!tsr_ref_drop(&old->ref))
        return;
    const tsr_allocator allocator = old->allocator;
    tsr_representation_free_all(old->home, &allocator);
    tsr_view_forget_parent(old);
    tsr_deallocate(&allocator, old, sizeof *old);
}

void tsr_blob_expand(tsr_blob *blob, tsr_desc *desc)
{
    tsr_lock *lock = tsr_lock_of(blob);
    pthread_mutex_lock(&lock->mutex);
    tsr_expand(desc, blob->home->layout);
    pthread_mutex_unlock(&lock->mutex);
    if (blob->parent)
        desc->offset = tsr_blob_offset(blob);
}

void tsr_blob_get_desc(tsr_blob *blob, tsr_desc *desc)
{
    *desc = (tsr_desc){0};
    tsr_blob_expand(blob, desc);
}

tsr_device *tsr_blob_get_device(tsr_blob *blob)
{
    tsr_lock *lock = tsr_lock_of(blob);
    pthread_mutex_lock(&lock->mutex);
    tsr_device *device = tsr_storage_device(blob->home->storage);
    pthread_mutex_unlock(&lock->mutex);
    return device;
}

/* ---- its representations ---- */

/* By the same fields, which is found fast, or others that say the same. */
static bool is_same_layout(const tsr_desc *a, const tsr_desc *b)
{
    return tsr_fields_are_same(b, a) || (tsr_desc_check(b, true, NULL) == TSR_OK && tsr_desc_equal(a, b));
}

static tsr_representation *find_layout(tsr_representation *first, const tsr_device *device, const tsr_desc *layout)
{
    tsr_representation *found = tsr_representation_find(first, device, layout);
    if (found || tsr_desc_check(layout, true, NULL) != TSR_OK)
        return found;
    return tsr_representation_find_equal(first, device, layout);
}

bool tsr_blob_holds(tsr_blob *blob, const tsr_device *device, const tsr_desc *layout)
{
    tsr_lock *lock = tsr_lock_of(blob);
    tsr_desc home;
    device = device ? device : tsr_device_host();
    tsr_blob_get_desc(blob, &home);
    if (blob->parent && device == tsr_blob_get_device(blob) && is_same_layout(&home, layout)) {
        tsr_blob_get_desc(blob->parent, &home);
        return tsr_blob_holds(blob->parent, device, &home);
    }
    if (blob->parent && !tsr_view_is_fresh(blob))
        return false;
    pthread_mutex_lock(&lock->mutex);
    const tsr_representation *one = find_layout(blob->home, device, layout);
    const bool holds = one && one->is_valid;
    pthread_mutex_unlock(&lock->mutex);
    return holds;
}

tsr_status tsr_blob_bring_home(tsr_blob *blob, tsr_error *error)
{
    if (blob->home->is_valid || !tsr_blob_best_source(blob, tsr_storage_device(blob->home->storage)))
        return TSR_OK;
    return tsr_blob_prepare(blob, blob->home, TSR_READ, error);
}

tsr_status tsr_blob_drop(tsr_blob *blob, tsr_device *device, const tsr_desc *layout, tsr_error *error)
{
    tsr_lock *lock = tsr_lock_of(blob);
    device = device ? device : tsr_device_host();
    pthread_mutex_lock(&lock->mutex);
    tsr_status status = tsr_blob_enter(blob, TSR_READ_WRITE, error);
    tsr_representation *one = NULL;
    if (status == TSR_OK) {
        one = find_layout(blob->home->next, device, layout);
        if (one && one->is_valid)
            status = tsr_blob_bring_home(blob, error);
        if (one && status == TSR_OK)
            tsr_blob_unlink(blob, one);
        tsr_blob_leave(blob, TSR_READ_WRITE);
    }
    pthread_mutex_unlock(&lock->mutex);
    if (status == TSR_OK)
        tsr_representation_free(&one, &blob->allocator);
    return status;
}

/* The lock is held. */
static tsr_status check_same_tensor(const tsr_blob *blob, const tsr_desc *layout, tsr_error *error)
{
    tsr_desc home;
    tsr_expand(&home, blob->home->layout);
    if (tsr_is_same_tensor(&home, layout))
        return TSR_OK;
    return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a layout of the blob's type and dims");
}

tsr_status tsr_blob_check_layout(tsr_blob *blob, const tsr_desc *layout, tsr_error *error)
{
    tsr_lock *lock = tsr_lock_of(blob);
    pthread_mutex_lock(&lock->mutex);
    tsr_status status = check_same_tensor(blob, layout, error);
    pthread_mutex_unlock(&lock->mutex);
    return status == TSR_OK ? tsr_blob_can_keep(layout, error) : status;
}

/*
 * Lets what was made hold the values. If there is a representation of that layout at that place, it gets the storage,
 * and *made the old one. The blob has been entered, and the lock is held.
 */
static tsr_status put_in_place(tsr_blob *blob, tsr_representation **made, const tsr_desc *layout, tsr_error *error)
{
    tsr_storage *storage = (*made)->storage;
    tsr_representation *one = tsr_representation_find_equal(blob->home, tsr_storage_device(storage), layout);
    tsr_status status = check_same_tensor(blob, layout, error); /* it may have been reshaped since */
    if (status != TSR_OK)
        return status;
    if (one == blob->home && blob->views > 0)
        return tsr_fail(error, TSR_BUSY, "expected a blob without views, found %d", blob->views);
    for (const tsr_representation *other = blob->home; other; other = other->next)
        if (other != one && other->storage == storage)
            return tsr_fail(error, TSR_INVALID_ARGUMENT, "the storage is that of another layout of the blob");
    if (one) {
        (*made)->storage = one->storage;
        one->storage = storage;
    } else {
        one = *made;
        *made = NULL;
        tsr_blob_append(blob, one);
    }
    tsr_blob_make_sole(blob, one);
    one->has_unknown_padding = one->has_padding;
    blob->version++;
    return TSR_OK;
}

tsr_status tsr_blob_set_storage(tsr_blob *blob, const tsr_desc *layout, tsr_storage *storage, tsr_error *error)
{
    tsr_lock *lock = tsr_lock_of(blob);
    tsr_representation *made = NULL;
    tsr_desc home;
    if (blob->parent)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "a view keeps its memory, which is its parent's");
    if (!layout) {
        tsr_blob_get_desc(blob, &home);
        layout = &home;
    }
    tsr_status status = tsr_blob_check_layout(blob, layout, error);
    if (status == TSR_OK)
        status = check_capacity(storage, layout, error);
    if (status == TSR_OK)
        status = tsr_representation_create(&made, blob, NULL, storage, layout, error);
    if (status != TSR_OK)
        return status;
    pthread_mutex_lock(&lock->mutex);
    status = tsr_blob_enter(blob, TSR_WRITE, error);
    if (status == TSR_OK) {
        status = put_in_place(blob, &made, layout, error);
        tsr_blob_leave(blob, TSR_WRITE);
    }
    pthread_mutex_unlock(&lock->mutex);
    tsr_representation_free(&made, &blob->allocator);
    return status;
}

tsr_blob_stats tsr_blob_get_stats(tsr_blob *blob)
{
    tsr_lock *lock = tsr_lock_of(blob);
    pthread_mutex_lock(&lock->mutex);
    tsr_blob_stats stats = {.acquires = blob->acquires,
                            .hits = blob->hits,
                            .conversions = blob->conversions,
                            .transfers = blob->transfers,
                            .converted_bytes = blob->converted_bytes,
                            .transferred_bytes = blob->transferred_bytes,
                            .padding_zeroed = blob->padding_zeroed};
    for (const tsr_representation *one = blob->parent ? blob->home->next : blob->home; one; one = one->next)
        if (tsr_storage_is_allocated(one->storage)) {
            stats.representations++;
            stats.held_bytes += (int64_t)tsr_storage_capacity_bytes(one->storage);
        }
    pthread_mutex_unlock(&lock->mutex);
    return stats;
}

/* ---- another shape ---- */

static tsr_status check_shape(tsr_blob *blob, const tsr_desc *desc, tsr_error *error)
{
    tsr_desc home;
    tsr_blob_get_desc(blob, &home);
    if (desc->dtype != home.dtype)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected elements of type %s, found %s",
                        tsr_dtype_name(home.dtype), tsr_dtype_name(desc->dtype));
    return tsr_blob_can_keep(desc, error);
}

static tsr_status enter_to_reshape(tsr_blob *blob, tsr_error *error)
{
    if (blob->parent)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "a view keeps its shape, as its memory is its parent's");
    if (blob->views > 0)
        return tsr_fail(error, TSR_BUSY, "expected a blob without views, found %d", blob->views);
    tsr_status status = tsr_blob_enter(blob, TSR_READ_WRITE, error);
    blob->is_being_reshaped = status == TSR_OK;
    return status;
}

/*
 * Gives home another layout, or if it has too little memory, replaces it. What is given up is in *old. The blob has
 * been entered. The lock is held, and given up meanwhile.
 */
static tsr_status reshape_home(tsr_blob *blob, const tsr_desc *desc, tsr_representation **old, bool *is_kept,
                               tsr_error *error)
{
    tsr_lock *lock = tsr_lock_of(blob);
    tsr_representation *home = blob->home, *made = NULL;
    *is_kept = tsr_storage_capacity_bytes(home->storage) >= (size_t)tsr_desc_size_bytes(desc);
    tsr_status status = TSR_OK;
    if (*is_kept)
        status = tsr_blob_bring_home(blob, error);
    else if (tsr_storage_is_wrapped(home->storage))
        status = check_capacity(home->storage, desc, error);
    if (status != TSR_OK)
        return status;
    if (*is_kept) {
        tsr_representation_rewrite(home, desc);
        home->has_unknown_padding = home->is_valid && home->has_padding;
        *old = home->next;
        home->next = NULL;
        return TSR_OK;
    }
    pthread_mutex_unlock(&lock->mutex);
    status = tsr_representation_create(&made, blob, tsr_storage_device(home->storage), NULL, desc, error);
    pthread_mutex_lock(&lock->mutex);
    if (status == TSR_OK) {
        *old = home;
        blob->home = made;
    }
    return status;
}

tsr_status tsr_blob_reshape(tsr_blob *blob, const tsr_desc *desc, bool *reallocated, tsr_error *error)
{
    tsr_lock *lock = tsr_lock_of(blob);
    tsr_representation *old = NULL;
    bool is_kept = false;
    tsr_status status = check_shape(blob, desc, error);
    if (status != TSR_OK)
        return status;
    pthread_mutex_lock(&lock->mutex);
    status = enter_to_reshape(blob, error);
    if (status == TSR_OK) {
        status = reshape_home(blob, desc, &old, &is_kept, error);
        blob->is_being_reshaped = false;
        tsr_blob_leave(blob, TSR_READ_WRITE);
    }
    pthread_mutex_unlock(&lock->mutex);
    tsr_representation_free_all(old, &blob->allocator);
    if (status == TSR_OK && reallocated)
        *reallocated = !is_kept;
    return status;
}
