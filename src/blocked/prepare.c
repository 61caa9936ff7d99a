/* SPDX-License-Identifier: Apache-2.0 */
#include "base/int.h"
#include "base/lock.h"
#include "blocked/blob.h"
#include "blocked/move.h"

bool tsr_representation_is_ready(const tsr_representation *one, tsr_intent intent)
{
    const bool has_memory = tsr_storage_is_allocated(one->storage) || tsr_storage_capacity_bytes(one->storage) == 0;
    return has_memory && (intent == TSR_WRITE || (one->is_valid && !one->has_unknown_padding));
}

/* A representation as others see it while the lock is not held. */
static tsr_status locate(tsr_located *located, tsr_desc *layout, const tsr_representation *one, tsr_error *error)
{
    tsr_expand(layout, one->layout);
    *located = (tsr_located){.desc = layout, .device = tsr_storage_device(one->storage)};
    return tsr_storage_data(one->storage, &located->memory, error);
}

/* What is done while the lock is not held, by a thread that nobody disturbs. */
struct work {
    tsr_representation *one;
    const tsr_representation *source; /* of the values; NULL if one has them, or if the blob is zero */
    bool has_unknown_padding, of_source;
    bool is_window; /* of a parent, which has values around it and, until it is written, in it */
    tsr_mover mover;
};

/* A device may fail to write them. */
static tsr_status move_into_window(tsr_mover *mover, const tsr_located *to, const tsr_located *from,
                                   tsr_padding padding, tsr_error *error)
{
    tsr_saved *saved = NULL;
    tsr_status status = tsr_save(&saved, to->device, to->memory, tsr_bytes_of(to->desc), mover->allocator, error);
    if (status == TSR_OK) {
        status = tsr_move(mover, to, from, padding, error);
        if (status != TSR_OK && mover->has_begun)
            mover->has_begun = !tsr_bring_back(saved);
    }
    tsr_saved_free(&saved, mover->allocator);
    return status;
}

static tsr_status get_values(struct work *work, const tsr_located *to, tsr_error *error)
{
    tsr_desc layout;
    tsr_located from;
    const tsr_padding padding = work->has_unknown_padding ? TSR_PADDING_ZERO : TSR_PADDING_KEEP;
    tsr_status status = locate(&from, &layout, work->source, error);
    if (status != TSR_OK)
        return status;
    const bool is_certain = tsr_is_host(to->device) && tsr_is_host(from.device);
    status = (work->is_window && !is_certain ? move_into_window : tsr_move)(&work->mover, to, &from, padding, error);
    work->has_unknown_padding = !work->mover.has_converted && work->of_source;
    return status;
}

static tsr_status do_work(struct work *work, tsr_intent intent, tsr_error *error)
{
    tsr_desc layout;
    tsr_located to;
    tsr_status status = locate(&to, &layout, work->one, error);
    if (status == TSR_OK && work->source)
        status = get_values(work, &to, error);
    if (status == TSR_OK && intent != TSR_WRITE && work->has_unknown_padding)
        status = tsr_zero_padding_at(&work->mover, &to, error);
    return status;
}

static void count_work(tsr_blob *blob, const struct work *work, bool has_zeroed)
{
    tsr_desc layout;
    tsr_expand(&layout, work->one->layout);
    const int64_t bytes = tsr_ceil_div(tsr_desc_padded_elements(&layout) * tsr_dtype_bits(layout.dtype), 8);
    blob->padding_zeroed += has_zeroed;
    blob->conversions += work->mover.has_converted;
    blob->converted_bytes += work->mover.has_converted ? bytes : 0;
    blob->transfers += work->mover.has_transferred;
    blob->transferred_bytes += work->mover.has_transferred ? bytes : 0;
}

tsr_status tsr_blob_prepare(tsr_blob *blob, tsr_representation *one, tsr_intent intent, tsr_error *error)
{
    tsr_lock *lock = tsr_lock_of(blob);
    tsr_representation *source = NULL;
    if (intent != TSR_WRITE && !one->is_valid)
        source = tsr_blob_best_source(blob, tsr_storage_device(one->storage));
    struct work work = {one,
                        source,
                        one->has_unknown_padding,
                        source && source->has_unknown_padding,
                        blob->parent && one == blob->home,
                        {.plans = blob->plans, .threads = blob->threads, .allocator = &blob->allocator}};
    one->is_being_made = true;
    one->users++;
    if (source) {
        source->users++;
        source->readers++;
    }
    pthread_mutex_unlock(&lock->mutex);
    tsr_status status = do_work(&work, intent, error);
    pthread_mutex_lock(&lock->mutex);
    if (source) {
        source->users--;
        source->readers--;
    }
    one->users--;
    one->is_being_made = false;
    if (status == TSR_OK && intent != TSR_WRITE) {
        count_work(blob, &work, work.has_unknown_padding);
        one->is_valid = true;
        one->has_unknown_padding = false;
    } else if (work.mover.has_begun) { /* it has the padding of its source, perhaps */
        one->has_unknown_padding = one->has_padding;
    }
    pthread_cond_broadcast(&lock->changed);
    return status;
}
