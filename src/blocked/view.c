/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/int.h"
#include "base/lock.h"
#include "blocked/blob.h"

/* ---- the memory of the parent's home ---- */

static tsr_status check_place(const tsr_desc *desc, const tsr_desc *parent, tsr_error *error)
{
    int64_t first, end, parent_first, parent_end;
    tsr_desc_span(desc, &first, &end);
    tsr_desc_span(parent, &parent_first, &parent_end);
    if (first == end || (first >= parent_first && end <= parent_end))
        return TSR_OK;
    return tsr_fail(error, TSR_OUT_OF_RANGE, "expected a view of elements %lld to %lld, found one of %lld to %lld",
                    (long long)parent_first, (long long)parent_end, (long long)first, (long long)end);
}

/*
 * A view more: from here on, nothing replaces home or its storage, of which the caller gets a reference. TSR_BUSY:
 * somebody is just doing that.
 */
static tsr_status begin_view(tsr_storage **storage, tsr_blob *blob, tsr_error *error)
{
    tsr_lock *lock = tsr_lock_of(blob);
    pthread_mutex_lock(&lock->mutex);
    const bool is_free = !blob->is_being_reshaped;
    if (is_free) {
        blob->views++;
        *storage = tsr_storage_share(blob->home->storage);
    }
    pthread_mutex_unlock(&lock->mutex);
    return is_free ? TSR_OK : tsr_fail(error, TSR_BUSY, "the blob is being reshaped");
}

static void end_view(tsr_blob *blob)
{
    tsr_lock *lock = tsr_lock_of(blob);
    pthread_mutex_lock(&lock->mutex);
    blob->views--;
    pthread_mutex_unlock(&lock->mutex);
}

void tsr_view_forget_parent(tsr_blob *view)
{
    if (view->parent)
        end_view(view->parent);
    tsr_blob_free(&view->parent);
}

static tsr_status check_view(const tsr_desc *desc, const tsr_desc *parent, tsr_error *error)
{
    if (desc->dtype != parent->dtype)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a view of type %s, found %s",
                        tsr_dtype_name(parent->dtype), tsr_dtype_name(desc->dtype));
    tsr_status status = tsr_blob_can_keep(desc, error);
    return status == TSR_OK ? check_place(desc, parent, error) : status;
}

static tsr_status create_over(tsr_blob **view, tsr_blob *parent, tsr_storage *storage, const tsr_desc *desc,
                              tsr_error *error)
{
    const tsr_blob_options options = {.device = tsr_storage_device(storage),
                                      .storage = storage,
                                      .keep_bytes = parent->keep_bytes,
                                      .plans = parent->plans,
                                      .threads = parent->threads,
                                      .allocator = &parent->allocator};
    return tsr_blob_create(view, desc, &options, error);
}

tsr_status tsr_blob_create_view(tsr_blob **view, tsr_blob *parent, const tsr_desc *desc, tsr_error *error)
{
    tsr_desc home;
    tsr_blob *made = NULL;
    tsr_storage *storage = NULL;
    tsr_status status = begin_view(&storage, parent, error);
    if (status != TSR_OK)
        return status;
    tsr_blob_get_desc(parent, &home);
    status = check_view(desc, &home, error);
    if (status == TSR_OK)
        status = create_over(&made, parent, storage, desc, error);
    tsr_storage_release(&storage);
    if (status != TSR_OK) {
        end_view(parent);
        return status;
    }
    made->parent = tsr_blob_share(parent);
    made->start = desc->offset - home.offset;
    made->home->has_padding = made->home->has_unknown_padding = false; /* it is the parent's to see to */
    *view = made;
    return TSR_OK;
}

tsr_blob *tsr_blob_get_parent(const tsr_blob *blob)
{
    return blob->parent;
}

int64_t tsr_blob_get_start(tsr_blob *view)
{
    tsr_lock *lock = tsr_lock_of(view);
    pthread_mutex_lock(&lock->mutex);
    const int64_t start = view->start;
    pthread_mutex_unlock(&lock->mutex);
    return start;
}

tsr_status tsr_blob_move_view(tsr_blob *view, int64_t start, tsr_error *error)
{
    tsr_lock *lock = tsr_lock_of(view);
    tsr_desc desc, home;
    if (!view->parent)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a view to move, found a blob with memory of its own");
    tsr_blob_get_desc(view->parent, &home);
    tsr_blob_get_desc(view, &desc);
    if (!tsr_add(home.offset, start, &desc.offset) || desc.offset < 0 || tsr_desc_check(&desc, false, NULL) != TSR_OK)
        return tsr_fail(error, TSR_OUT_OF_RANGE, "expected a start inside of the parent, found %lld", (long long)start);
    tsr_status status = check_place(&desc, &home, error);
    if (status != TSR_OK)
        return status;
    pthread_mutex_lock(&lock->mutex);
    status = tsr_blob_enter(view, TSR_READ_WRITE, error);
    if (status == TSR_OK) {
        view->start = start;
        tsr_blob_leave(view, TSR_READ_WRITE);
    }
    pthread_mutex_unlock(&lock->mutex);
    return status;
}

/* ---- another shape of it ---- */

void tsr_view_rewrite(tsr_blob *view, const tsr_desc *desc)
{
    tsr_lock *lock = tsr_lock_of(view);
    const int64_t start = desc->offset - tsr_blob_offset(view->parent);
    pthread_mutex_lock(&lock->mutex);
    tsr_representation *home = view->home, *others = home->next;
    tsr_representation_rewrite(home, desc);
    home->next = NULL;
    home->is_valid = true;
    home->has_padding = home->has_unknown_padding = false; /* it is the parent's to see to */
    view->start = start;
    pthread_mutex_unlock(&lock->mutex);
    tsr_representation_free_all(others, &view->allocator);
}

/* ---- the parent's values ---- */

static tsr_intent intent_of_parent(tsr_intent intent)
{
    return intent == TSR_READ ? TSR_READ : TSR_READ_WRITE;
}

tsr_blob *tsr_blob_root(tsr_blob *blob)
{
    while (blob->parent)
        blob = blob->parent;
    return blob;
}

static int64_t version_of_root(tsr_blob *view)
{
    const tsr_blob *root = tsr_blob_root(view);
    tsr_lock *lock = tsr_lock_of(root);
    pthread_mutex_lock(&lock->mutex);
    const int64_t version = root->version;
    pthread_mutex_unlock(&lock->mutex);
    return version;
}

int64_t tsr_blob_offset(tsr_blob *blob)
{
    tsr_blob *root = blob;
    int64_t start = 0;
    for (; root->parent; root = root->parent)
        start += tsr_blob_get_start(root);
    tsr_lock *lock = tsr_lock_of(root);
    pthread_mutex_lock(&lock->mutex);
    const int64_t offset = root->home->layout->head.offset;
    pthread_mutex_unlock(&lock->mutex);
    return offset + start;
}

/* The lock is held. */
static bool is_fresh(const tsr_blob *view, int64_t version, int64_t offset)
{
    return view->seen == version && view->home->layout->head.offset == offset;
}

bool tsr_view_is_fresh(tsr_blob *view)
{
    tsr_lock *lock = tsr_lock_of(view);
    const int64_t version = version_of_root(view), offset = tsr_blob_offset(view);
    pthread_mutex_lock(&lock->mutex);
    const bool is = is_fresh(view, version, offset);
    pthread_mutex_unlock(&lock->mutex);
    return is;
}

/* Of a parent that is held: nobody writes or moves it, or those that it is in, and so no lock is needed. */
static tsr_parent_state state_of(const tsr_blob *parent)
{
    int64_t start = 0;
    for (; parent->parent; parent = parent->parent)
        start += parent->start;
    return (tsr_parent_state){parent->version, parent->home->layout->head.offset + start};
}

tsr_status tsr_view_enter_parent(tsr_blob *view, tsr_intent intent, tsr_parent_state *state, tsr_error *error)
{
    tsr_blob *parent = view->parent;
    tsr_representation *home; /* which stays, as does its storage, for as long as there are views */
    tsr_device *device = tsr_storage_device(parent->home->storage);
    tsr_status status = tsr_blob_hold(&home, parent, device, NULL, intent_of_parent(intent), error);
    if (status == TSR_OK)
        *state = state_of(parent);
    return status;
}

/* If somebody has written to the parent since, or the view has moved, only home has the values. */
void tsr_view_refresh(tsr_blob *view, tsr_intent intent, const tsr_parent_state *state)
{
    const int64_t offset = state->offset + view->start;
    const int64_t version = state->version - (intent != TSR_READ); /* a writer has just been counted, too */
    if (view->readers <= 1 && !is_fresh(view, version, offset)) {  /* those who read already have seen to it */
        view->home->layout->head.offset = offset;
        tsr_blob_make_sole(view, view->home);
    }
    view->seen = state->version;
}

tsr_status tsr_view_leave_parent(tsr_blob *view, tsr_intent intent, tsr_status status, tsr_error *error)
{
    tsr_access access = {
        .intent = intent_of_parent(intent), .blob = view->parent, .representation = view->parent->home};
    tsr_status left = tsr_blob_let_go(&access, status == TSR_OK ? error : NULL);
    return status == TSR_OK ? left : status;
}
