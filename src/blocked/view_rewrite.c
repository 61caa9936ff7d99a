/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lock.h"
#include "blocked/blob.h"

bool tsr_view_can_rewrite(tsr_blob *view, const tsr_desc *desc)
{
    tsr_lock *lock = tsr_lock_of(view);
    const size_t size = tsr_compact_size(desc);
    pthread_mutex_lock(&lock->mutex);
    const bool has_room = size <= view->home->layout_room;
    pthread_mutex_unlock(&lock->mutex);
    return has_room && tsr_ref_is_sole(&view->ref);
}

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
