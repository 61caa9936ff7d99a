/* SPDX-License-Identifier: Apache-2.0 */
/* Writing what a device may fail to write. */
#include "base/lock.h"
#include "blocked/blob.h"
#include "blocked/move.h"
#include "blocked/saved.h"
#include "blocked/storage.h"

/* ---- memory that is the blob's alone is put aside ---- */

/* Is home, which is acquired for writing, all that held the values, in memory of its own? The lock is held. */
static bool is_all_there_is(const tsr_blob *blob)
{
    for (const tsr_representation *one = blob->home->next; one; one = one->next)
        if (one->was_valid)
            return false;
    return blob->home->was_valid && tsr_storage_is_own(blob->home->storage);
}

/* Other memory in home's layout at its place, if there is some. The lock is held. */
static tsr_representation *find_spare(const tsr_blob *blob)
{
    tsr_desc layout;
    tsr_expand(&layout, blob->home->layout);
    return tsr_representation_find(blob->home->next, tsr_storage_device(blob->home->storage), &layout);
}

static bool is_as_large(const tsr_representation *a, const tsr_representation *b)
{
    return tsr_storage_capacity_bytes(a->storage) == tsr_storage_capacity_bytes(b->storage);
}

/* The lock is held. */
static void exchange_storages(tsr_representation *a, tsr_representation *b)
{
    const tsr_representation old = *a;
    a->storage = b->storage;
    a->was_valid = b->was_valid;
    b->storage = old.storage;
    b->was_valid = old.was_valid;
    a->has_unknown_padding = b->has_unknown_padding = a->has_padding;
}

/* A spare with memory, and what of home's layout is no good as one. Nobody else takes representations away. */
static tsr_status get_spare(tsr_representation **spare, tsr_representation **unused, tsr_blob *blob, tsr_error *error)
{
    tsr_lock *lock = tsr_lock_of(blob);
    tsr_representation *made = NULL;
    void *data;
    pthread_mutex_lock(&lock->mutex);
    *spare = find_spare(blob);
    if (*spare && !is_as_large(*spare, blob->home)) {
        tsr_blob_unlink(blob, *spare);
        *unused = *spare;
        *spare = NULL;
    }
    pthread_mutex_unlock(&lock->mutex);
    if (*spare)
        return tsr_storage_data((*spare)->storage, &data, error);
    tsr_status status = tsr_representation_create_like(&made, blob, blob->home, error);
    if (status == TSR_OK)
        status = tsr_storage_data(made->storage, &data, error);
    if (status != TSR_OK) {
        tsr_representation_free(&made, &blob->allocator);
        return status;
    }
    pthread_mutex_lock(&lock->mutex);
    tsr_blob_append(blob, made);
    pthread_mutex_unlock(&lock->mutex);
    *spare = made;
    return TSR_OK;
}

/* What lies behind home's layout, as it may have been reshaped, goes along; so does all, if there are gaps. */
static tsr_status copy_rest(const tsr_access *access, const tsr_representation *spare, tsr_error *error)
{
    const tsr_device *device = access->device;
    tsr_desc layout;
    void *memory;
    tsr_access_get_desc(access, &layout);
    const size_t first = tsr_is_all_of_buffer(&layout) ? (size_t)tsr_desc_size_bytes(&layout) : 0;
    const size_t end = tsr_storage_capacity_bytes(spare->storage);
    tsr_status status = tsr_storage_data(spare->storage, &memory, error); /* it is allocated */
    if (status == TSR_OK && first < end)
        status = device->does.copy_within(device->context, memory, first, access->data, first, end - first, error);
    return status;
}

/* *is_aside: unless a view has been made meanwhile. */
static tsr_status put_aside(tsr_access *access, bool *is_aside, tsr_error *error)
{
    tsr_blob *blob = access->blob;
    tsr_lock *lock = tsr_lock_of(blob);
    tsr_representation *spare, *unused = NULL;
    tsr_status status = get_spare(&spare, &unused, blob, error);
    tsr_representation_free(&unused, &blob->allocator);
    if (status == TSR_OK)
        status = copy_rest(access, spare, error);
    if (status != TSR_OK)
        return status;
    pthread_mutex_lock(&lock->mutex);
    *is_aside = is_all_there_is(blob);
    if (*is_aside)
        exchange_storages(blob->home, spare);
    pthread_mutex_unlock(&lock->mutex);
    return tsr_storage_data(blob->home->storage, &access->data, error);
}

/* ---- before and after ---- */

tsr_status tsr_blob_put_aside(tsr_access *access, tsr_bytes bytes, tsr_saved **saved, tsr_error *error)
{
    const tsr_blob *blob = access->blob;
    tsr_lock *lock = tsr_lock_of(blob);
    tsr_status status = TSR_OK;
    if (!access->data)
        return TSR_OK;
    pthread_mutex_lock(&lock->mutex);
    bool is_safe = tsr_storage_is_own(blob->home->storage);
    const bool is_all = is_safe && is_all_there_is(blob);
    pthread_mutex_unlock(&lock->mutex);
    if (is_all)
        status = put_aside(access, &is_safe, error);
    if (status != TSR_OK || is_safe)
        return status;
    return tsr_save(saved, access->device, access->data, bytes, &blob->allocator, error); /* others see them */
}

/* The lock is held. */
static bool was_zero(const tsr_blob *blob)
{
    for (const tsr_representation *one = blob->home; one; one = one->next)
        if (one->was_valid)
            return false;
    return true;
}

/* What was put aside comes home, unless a view has been made of what is there now. The lock is held. */
static void take_back(const tsr_blob *blob)
{
    tsr_representation *spare = find_spare(blob);
    if (spare && spare->was_valid && tsr_storage_is_own(blob->home->storage))
        exchange_storages(blob->home, spare);
}

/*
 * Those hold the values that did before they were to be written; but not memory that was written to, unless there is
 * no other. The lock is held.
 */
static void hold_again(tsr_blob *blob, const tsr_access *access, bool has_begun)
{
    tsr_representation *written = access->representation;
    const tsr_storage *storage = written->storage;
    bool is_held = false;
    if (written == blob->home)
        take_back(blob);
    for (tsr_representation *one = blob->home; one; one = one->next) {
        one->is_valid = one->was_valid && !(has_begun && one->storage == storage);
        is_held = is_held || one->is_valid;
    }
    if (has_begun && !is_held)
        written->is_valid = tsr_storage_is_allocated(storage);
}

/* After a failure. */
static void undo(tsr_access *access, bool has_begun)
{
    tsr_blob *blob = access->blob;
    tsr_lock *lock = tsr_lock_of(blob);
    pthread_mutex_lock(&lock->mutex);
    const bool shall_be_zero = has_begun && was_zero(blob);
    pthread_mutex_unlock(&lock->mutex);
    if (shall_be_zero)
        tsr_storage_forget(access->representation->storage);
    pthread_mutex_lock(&lock->mutex);
    hold_again(blob, access, has_begun);
    pthread_mutex_unlock(&lock->mutex);
}

tsr_status tsr_blob_end_write(tsr_access *access, bool has_begun, tsr_saved **saved, tsr_status before,
                              tsr_error *error)
{
    if (before != TSR_OK)
        undo(access, has_begun && !(*saved && tsr_bring_back(*saved)));
    tsr_saved_free(saved, &access->blob->allocator);
    return tsr_blob_release_after(access, before, error);
}
