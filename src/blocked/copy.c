/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/view.h>

#include "base/error.h"
#include "base/lock.h"
#include "blocked/blob.h"
#include "blocked/move.h"

tsr_status tsr_blob_acquire_as_they_are(tsr_blob *blob, tsr_device *device, tsr_access *access, tsr_error *error)
{
    tsr_lock *lock = tsr_lock_of(blob);
    tsr_desc layout;
    pthread_mutex_lock(&lock->mutex);
    const tsr_representation *source = tsr_blob_best_source(blob, device);
    const bool is_home = !source || source == blob->home;
    source = is_home ? blob->home : source;
    if (!is_home)
        tsr_expand(&layout, source->layout);
    tsr_device *from = tsr_device_share(tsr_storage_device(source->storage));
    pthread_mutex_unlock(&lock->mutex);
    /* where home is, a view may have moved since */
    tsr_status status = tsr_blob_acquire(blob, from, is_home ? NULL : &layout, TSR_READ, access, error);
    tsr_device_release(&from);
    return status;
}

/* Gives a blob, in its home, the elements of an access, as desc says where they are. */
static tsr_status write_from(tsr_blob *dst, const tsr_access *access, const tsr_desc *desc, tsr_error *error)
{
    tsr_access to;
    tsr_desc layout;
    tsr_saved *saved = NULL;
    tsr_mover mover = {.plans = dst->plans, .threads = dst->threads};
    tsr_status status = tsr_blob_acquire(dst, tsr_blob_get_device(dst), NULL, TSR_WRITE, &to, error);
    if (status != TSR_OK)
        return status;
    tsr_access_get_desc(&to, &layout);
    if (!tsr_is_same_tensor(&layout, desc))
        status = tsr_fail(error, TSR_BUSY, "the blob has just been reshaped");
    if (status == TSR_OK && !(tsr_is_host(to.device) && tsr_is_host(access->device)))
        status = tsr_blob_put_aside(&to, tsr_bytes_of(&layout), &saved, error);
    const tsr_located target = {&layout, to.device, to.data}, source = {desc, access->device, access->data};
    if (status == TSR_OK)
        status = tsr_move(&mover, &target, &source, TSR_PADDING_ZERO, error);
    return tsr_blob_end_write(&to, mover.has_begun, &saved, status, error);
}

/* ---- what lies in the same memory ---- */

static tsr_status create_dense(tsr_blob **blob, tsr_blob *like, tsr_error *error)
{
    const tsr_blob_options options = {.device = tsr_blob_get_device(like),
                                      .plans = like->plans,
                                      .threads = like->threads,
                                      .allocator = &like->allocator};
    tsr_desc desc, dense;
    tsr_blob_get_desc(like, &desc);
    tsr_status status = tsr_desc_plain(&dense, desc.dtype, desc.rank, desc.dims, error);
    return status == TSR_OK ? tsr_blob_create(blob, &dense, &options, error) : status;
}

/* Where its home lies; or that of what it is a view of. */
static const tsr_storage *storage_of(tsr_blob *blob)
{
    const tsr_blob *root = tsr_blob_root(blob);
    tsr_lock *lock = tsr_lock_of(root);
    pthread_mutex_lock(&lock->mutex);
    const tsr_storage *storage = root->home->storage;
    pthread_mutex_unlock(&lock->mutex);
    return storage;
}

tsr_status tsr_blob_get_apart(tsr_blob **apart, tsr_blob *blob, tsr_blob *other, tsr_error *error)
{
    tsr_blob *made;
    if (storage_of(blob) != storage_of(other)) {
        *apart = tsr_blob_share(blob);
        return TSR_OK;
    }
    tsr_status status = create_dense(&made, blob, error);
    if (status != TSR_OK)
        return status;
    status = tsr_blob_copy(made, blob, error);
    if (status == TSR_OK)
        *apart = made;
    else
        tsr_blob_free(&made);
    return status;
}

/* ---- copy and transpose ---- */

/* Exchanges two axes, or none if that is NULL. */
static tsr_status exchange(tsr_desc *desc, const int *axes, tsr_error *error)
{
    return axes ? tsr_view_transpose(desc, desc, axes[0], axes[1], error) : TSR_OK;
}

static tsr_status check(tsr_blob *dst, tsr_blob *src, const int *axes, tsr_error *error)
{
    tsr_desc wanted, found;
    tsr_blob_get_desc(dst, &wanted);
    tsr_blob_get_desc(src, &found);
    tsr_status status = exchange(&found, axes, error);
    if (status == TSR_OK && !tsr_is_same_tensor(&wanted, &found))
        status = tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a blob of the same type and dims to copy from");
    return status;
}

static tsr_status copy_from_elsewhere(tsr_blob *dst, tsr_blob *src, const int *axes, tsr_error *error)
{
    tsr_access access;
    tsr_desc desc;
    tsr_status status = tsr_blob_acquire_as_they_are(src, tsr_blob_get_device(dst), &access, error);
    if (status != TSR_OK)
        return status;
    tsr_access_get_desc(&access, &desc);
    status = exchange(&desc, axes, error);
    if (status == TSR_OK)
        status = write_from(dst, &access, &desc, error);
    return tsr_blob_release_after(&access, status, error);
}

static tsr_status copy(tsr_blob *dst, tsr_blob *src, const int *axes, tsr_error *error)
{
    tsr_blob *apart;
    tsr_status status = check(dst, src, axes, error);
    if (status == TSR_OK)
        status = tsr_blob_get_apart(&apart, src, dst, error);
    if (status != TSR_OK)
        return status;
    status = copy_from_elsewhere(dst, apart, axes, error);
    tsr_blob_free(&apart);
    return status;
}

tsr_status tsr_blob_copy(tsr_blob *dst, tsr_blob *src, tsr_error *error)
{
    return dst == src ? TSR_OK : copy(dst, src, NULL, error);
}

tsr_status tsr_blob_transpose(tsr_blob *dst, tsr_blob *src, int a, int b, tsr_error *error)
{
    return copy(dst, src, (const int[]){a, b}, error);
}
