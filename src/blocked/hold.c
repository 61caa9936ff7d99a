/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/lock.h"
#include "blocked/blob.h"

/* ---- who may enter; the lock is held ---- */

tsr_status tsr_blob_enter(tsr_blob *blob, tsr_intent intent, tsr_error *error)
{
    if (blob->has_writer)
        return tsr_fail(error, TSR_BUSY, "the blob is acquired for writing");
    if (intent != TSR_READ && blob->readers > 0)
        return tsr_fail(error, TSR_BUSY, "expected nobody to hold what is to be written, found %d who read it",
                        blob->readers);
    blob->readers += intent == TSR_READ;
    blob->has_writer = intent != TSR_READ;
    return TSR_OK;
}

void tsr_blob_leave(tsr_blob *blob, tsr_intent intent)
{
    blob->readers -= intent == TSR_READ;
    blob->has_writer = false;
}

/* ---- what is held ---- */

static bool is_like_home(const tsr_blob *blob, const tsr_device *device, const tsr_desc *layout)
{
    tsr_desc home;
    tsr_expand(&home, blob->home->layout);
    return tsr_storage_device(blob->home->storage) == device && tsr_desc_equal(&home, layout);
}

/* When a view has moved, its home may be equal to what was made before, and is stale now. */
static tsr_representation *find(const tsr_blob *blob, const tsr_device *device, const tsr_desc *layout)
{
    if (!layout)
        return blob->home; /* whoever has no layout means that one, and is on its device */
    tsr_representation *found = tsr_representation_find(blob->home, device, layout);
    if (found && !found->is_valid && blob->parent && is_like_home(blob, device, layout))
        return blob->home;
    return found ? found : tsr_blob_find_alias(blob, device, layout);
}

static tsr_representation *find_equal(const tsr_blob *blob, const tsr_device *device, const tsr_desc *layout)
{
    return tsr_representation_find_equal(blob->home, device, layout);
}

typedef tsr_representation *(*finder)(const tsr_blob *blob, const tsr_device *device, const tsr_desc *layout);

/* What is found when nobody is making it any more; or NULL. */
static tsr_representation *wait_for(finder find, const tsr_blob *blob, const tsr_device *device, const tsr_desc *layout)
{
    tsr_lock *lock = tsr_lock_of(blob);
    tsr_representation *found = find(blob, device, layout);
    while (found && found->is_being_made) {
        pthread_cond_wait(&lock->changed, &lock->mutex);
        found = find(blob, device, layout);
    }
    return found;
}

/* Representations that are to be freed when the lock is not held any more. */
static void discard(tsr_representation **unused, tsr_representation *one)
{
    one->next = *unused;
    *unused = one;
}

/*
 * The representation of a layout at a place; *made is it, too, if it had to be made. The blob has been entered. The
 * lock is held, and given up meanwhile.
 */
static tsr_status find_or_make(tsr_representation **found, tsr_representation **made, tsr_representation **unused,
                               tsr_blob *blob, tsr_device *device, const tsr_desc *layout, tsr_error *error)
{
    tsr_lock *lock = tsr_lock_of(blob);
    tsr_representation *new = NULL;
    *found = wait_for(find, blob, device, layout);
    if (*found)
        return TSR_OK;
    pthread_mutex_unlock(&lock->mutex);
    tsr_status status = tsr_blob_check_layout(blob, layout, error);
    pthread_mutex_lock(&lock->mutex);
    if (status != TSR_OK)
        return status;
    *found = wait_for(find_equal, blob, device, layout);
    if (*found) {
        if (!blob->parent) /* the offsets of a view's layouts change when it moves */
            tsr_representation_set_alias(*found, layout);
        return TSR_OK;
    }
    pthread_mutex_unlock(&lock->mutex);
    status = tsr_representation_create(&new, blob, device, NULL, layout, error);
    pthread_mutex_lock(&lock->mutex);
    if (status != TSR_OK)
        return status;
    *found = wait_for(find_equal, blob, device, layout); /* another reader may have been faster */
    if (*found) {
        discard(unused, new);
    } else {
        tsr_blob_append(blob, new);
        *found = *made = new;
    }
    return TSR_OK;
}

/*
 * Is another reader at work on what one that is not ready needs? Then there is nothing to do but to look again: it
 * zeroes the padding of where the values are to come from, or moves that of where it is to be zeroed.
 */
static bool is_in_use(const tsr_blob *blob, const tsr_representation *one, tsr_intent intent)
{
    if (intent == TSR_WRITE)
        return false;
    if (one->is_valid)
        return one->readers > 0;
    const tsr_representation *source = tsr_blob_best_source(blob, tsr_storage_device(one->storage));
    return source && source->is_being_made;
}

/* From now on, what is written is the only representation that holds the values. */
static void grant(tsr_blob *blob, tsr_representation *one, tsr_intent intent)
{
    blob->acquires++;
    one->users++;
    one->last_use = ++blob->clock;
    if (intent == TSR_READ)
        return;
    blob->version++; /* views look at it without the lock while they hold the blob for reading */
    tsr_blob_make_sole(blob, one);
    one->has_unknown_padding = one->has_padding;
}

/* The blob has been entered, and the lock is held. What was made for nothing is out of the list and in *unused. */
static tsr_status get(tsr_representation **got, tsr_representation **unused, tsr_blob *blob, tsr_device *device,
                      const tsr_desc *layout, tsr_intent intent, tsr_error *error)
{
    tsr_lock *lock = tsr_lock_of(blob);
    tsr_representation *made = NULL;
    bool is_ready = false;
    tsr_status status = find_or_make(got, &made, unused, blob, device, layout, error);
    while (status == TSR_OK && !(is_ready = tsr_representation_is_ready(*got, intent)) &&
           is_in_use(blob, *got, intent)) {
        pthread_cond_wait(&lock->changed, &lock->mutex);
        status = find_or_make(got, &made, unused, blob, device, layout, error);
    }
    if (status != TSR_OK)
        return status;
    if (!is_ready)
        status = tsr_blob_prepare(blob, *got, intent, error);
    if (status == TSR_OK) {
        blob->hits += is_ready || intent == TSR_WRITE;
        grant(blob, *got, intent);
    } else if (*got == made && made->users == 0) {
        tsr_blob_unlink(blob, made);
        discard(unused, made);
    }
    return status;
}

/* The layout that NULL stands for on another device than home's: of a view, what lies around it in its parent is
 * left out. */
static tsr_status get_layout_elsewhere(tsr_desc *layout, const tsr_blob *blob, tsr_error *error)
{
    tsr_desc home = {0};
    int order[TSR_MAX_LEVELS];
    bool has_windows = false;
    tsr_expand(&home, blob->home->layout);
    *layout = home;
    if (!blob->parent)
        return TSR_OK;
    for (int i = 0; i < home.levels; i++)
        order[i] = home.order[i];
    for (int k = 0; k < home.rank; k++)
        has_windows = has_windows || home.step[k] != 0;
    if (has_windows)
        return tsr_desc_plain(layout, home.dtype, home.rank, home.dims, error);
    const tsr_blocking dense = {.levels = home.levels, .block_dims = home.block_dims, .order = order};
    return tsr_desc_blocked(layout, home.dtype, home.rank, home.dims, &dense, error);
}

/* Its parent, of a view, has been acquired. The lock is held, and given up meanwhile. */
static tsr_status enter_and_get(tsr_representation **got, tsr_representation **unused, tsr_blob *blob,
                                const tsr_parent_state *parent, tsr_device *device, const tsr_desc *layout,
                                tsr_intent intent, tsr_error *error)
{
    tsr_desc elsewhere;
    tsr_status status = tsr_blob_enter(blob, intent, error);
    if (status != TSR_OK)
        return status;
    if (blob->parent)
        tsr_view_refresh(blob, intent, parent);
    if (!layout && tsr_storage_device(blob->home->storage) != device) {
        status = get_layout_elsewhere(&elsewhere, blob, error);
        layout = &elsewhere;
    }
    if (status == TSR_OK)
        status = get(got, unused, blob, device, layout, intent, error);
    if (status != TSR_OK)
        tsr_blob_leave(blob, intent);
    return status;
}

tsr_status tsr_blob_hold(tsr_representation **held, tsr_blob *blob, tsr_device *device, const tsr_desc *layout,
                         tsr_intent intent, tsr_error *error)
{
    tsr_lock *lock = tsr_lock_of(blob);
    tsr_representation *unused = NULL;
    tsr_parent_state parent;
    tsr_status status = TSR_OK;
    if (blob->parent && layout && intent != TSR_READ) /* before the parent loses its other representations */
        status = tsr_blob_check_layout(blob, layout, error);
    if (status == TSR_OK && blob->parent)
        status = tsr_view_enter_parent(blob, intent, &parent, error);
    if (status != TSR_OK)
        return status;
    pthread_mutex_lock(&lock->mutex);
    status = enter_and_get(held, &unused, blob, &parent, device, layout, intent, error);
    pthread_mutex_unlock(&lock->mutex);
    tsr_representation_free_all(unused, &blob->allocator);
    if (status != TSR_OK && blob->parent)
        return tsr_view_leave_parent(blob, intent, status, error);
    return status;
}

/* Gives up what keep_bytes does not allow. The lock is held, and given up meanwhile. */
static void keep_bound(tsr_blob *blob)
{
    tsr_lock *lock = tsr_lock_of(blob);
    for (tsr_representation *excess; (excess = tsr_blob_unlink_excess(blob)) != NULL;) {
        pthread_mutex_unlock(&lock->mutex);
        tsr_representation_free(&excess, &blob->allocator);
        pthread_mutex_lock(&lock->mutex);
    }
}

/* The lock is held, and given up meanwhile. */
static tsr_status end_mapping(tsr_access *access, tsr_lock *lock, tsr_error *error)
{
    if (!access->mapped)
        return TSR_OK;
    pthread_mutex_unlock(&lock->mutex);
    tsr_status status = tsr_access_unmap(access, error);
    pthread_mutex_lock(&lock->mutex);
    return status;
}

/* A copy of an access that has been released may speak of what is not there any more. */
static bool is_one_of(const tsr_blob *blob, const tsr_representation *representation)
{
    const tsr_representation *one = blob->home;
    while (one && one != representation)
        one = one->next;
    return one != NULL;
}

tsr_status tsr_blob_let_go(tsr_access *access, tsr_error *error)
{
    tsr_blob *blob = access->blob;
    tsr_representation *one = access->representation;
    tsr_lock *lock = tsr_lock_of(blob);
    tsr_status status = TSR_OK;
    pthread_mutex_lock(&lock->mutex);
    const bool is_written_view = blob->parent && access->intent != TSR_READ;
    const bool is_held =
        is_one_of(blob, one) && one->users > 0 && (access->intent == TSR_READ ? blob->readers > 0 : blob->has_writer);
    if (is_held) {
        status = end_mapping(access, lock, error);
        one->users--;
        if (status == TSR_OK && is_written_view)
            status = tsr_blob_bring_home(blob, error);
        if (status != TSR_OK && is_written_view)
            tsr_blob_make_sole(blob, blob->home); /* the parent's values are what there is */
        tsr_blob_leave(blob, access->intent);
        keep_bound(blob);
    }
    pthread_mutex_unlock(&lock->mutex);
    if (!is_held)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "nobody holds what the access says");
    access->representation = NULL;
    return blob->parent ? tsr_view_leave_parent(blob, access->intent, status, error) : status;
}
