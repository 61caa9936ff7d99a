/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/error.h"
#include "blocked/blob.h"
#include "blocked/storage.h"

/*
 * Bytes of a representation, so that it takes 512 with a handle and a storage, and what an allocator rounds them up by;
 * and the part of them for layouts. There is room for every dense layout: order takes a byte for each level; their
 * lengths take one each in pieces of 7 bits, and 8 more as there are less than 2^63 cells; and so do dims. And for any
 * gaps between 15 axes.
 */
enum { SIZE = 256, ROOM = SIZE - sizeof(tsr_representation) };

/* All of it is the blob's allocator's, but memory of devices; pages are first touched by as many threads as will
 * convert. */
static tsr_status create_storage(tsr_storage **storage, const tsr_blob *blob, tsr_device *device, size_t bytes,
                                 tsr_error *error)
{
    tsr_status status = tsr_storage_create_at(storage, device, bytes, &blob->allocator, error);
    if (status == TSR_OK)
        tsr_storage_set_threads(*storage, blob->threads);
    return status;
}

tsr_status tsr_blob_can_keep(const tsr_desc *layout, tsr_error *error)
{
    tsr_status status = tsr_desc_check(layout, false, error);
    if (status != TSR_OK)
        return status;
    const size_t bytes = tsr_compact_size(layout);
    if (bytes > ROOM)
        return tsr_fail(error, TSR_UNSUPPORTED,
                        "expected a layout whose arrays take at most %zu bytes to write down, found one of %zu",
                        ROOM - sizeof(tsr_compact_desc), bytes - sizeof(tsr_compact_desc));
    return TSR_OK;
}

void tsr_representation_rewrite(tsr_representation *representation, const tsr_desc *layout)
{
    representation->alias = NULL;
    tsr_compact(representation->layout, layout);
    representation->has_padding = tsr_desc_padded_elements(layout) != tsr_desc_elements(layout);
}

tsr_status tsr_representation_create(tsr_representation **made, const tsr_blob *blob, tsr_device *device,
                                     tsr_storage *storage, const tsr_desc *layout, tsr_error *error)
{
    tsr_status status = TSR_OK;
    tsr_representation *new = tsr_allocate_zeroed(&blob->allocator, 1, SIZE);
    if (!new)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for a representation of a blob");
    new->layout = (tsr_compact_desc *)(void *)(new + 1);
    tsr_representation_rewrite(new, layout);
    new->storage = tsr_storage_share(storage);
    if (!storage)
        status = create_storage(&new->storage, blob, device, (size_t)tsr_desc_size_bytes(layout), error);
    if (status == TSR_OK)
        *made = new;
    else
        tsr_deallocate(&blob->allocator, new, SIZE);
    return status;
}

tsr_status tsr_representation_create_like(tsr_representation **made, const tsr_blob *blob,
                                          const tsr_representation *like, tsr_error *error)
{
    tsr_storage *storage = NULL;
    tsr_desc layout;
    tsr_expand(&layout, like->layout);
    tsr_status status = create_storage(&storage, blob, tsr_storage_device(like->storage),
                                       tsr_storage_capacity_bytes(like->storage), error);
    if (status == TSR_OK)
        status = tsr_representation_create(made, blob, NULL, storage, &layout, error);
    tsr_storage_release(&storage);
    return status;
}

void tsr_representation_set_alias(tsr_representation *representation, const tsr_desc *layout)
{
    tsr_desc own;
    tsr_expand(&own, representation->layout);
    const size_t behind = tsr_compact_room(&own);
    representation->alias = NULL;
    if (behind + tsr_compact_size(layout) > ROOM)
        return;
    representation->alias = (tsr_compact_desc *)(void *)((char *)representation->layout + behind);
    tsr_compact(representation->alias, layout);
}

void tsr_representation_free(tsr_representation **representation, const tsr_allocator *allocator)
{
    tsr_representation *old = *representation;
    if (!old)
        return;
    *representation = NULL;
    tsr_storage_release(&old->storage);
    tsr_deallocate(allocator, old, SIZE);
}

void tsr_representation_free_all(tsr_representation *first, const tsr_allocator *allocator)
{
    while (first) {
        tsr_representation *next = first->next;
        tsr_representation_free(&first, allocator);
        first = next;
    }
}

tsr_representation *tsr_representation_find(tsr_representation *first, const tsr_device *device, const tsr_desc *layout)
{
    for (tsr_representation *one = first; one; one = one->next)
        if (tsr_storage_device(one->storage) == device && tsr_compact_is(one->layout, layout))
            return one;
    return NULL;
}

tsr_representation *tsr_blob_find_alias(const tsr_blob *blob, const tsr_device *device, const tsr_desc *layout)
{
    for (tsr_representation *one = blob->home; one; one = one->next)
        if (one->alias && tsr_storage_device(one->storage) == device && tsr_compact_is(one->alias, layout))
            return one;
    return NULL;
}

tsr_representation *tsr_representation_find_equal(tsr_representation *first, const tsr_device *device,
                                                  const tsr_desc *layout)
{
    for (tsr_representation *one = first; one; one = one->next) {
        tsr_desc desc;
        tsr_expand(&desc, one->layout);
        if (tsr_storage_device(one->storage) == device && tsr_desc_equal(&desc, layout))
            return one;
    }
    return NULL;
}

void tsr_blob_append(tsr_blob *blob, tsr_representation *made)
{
    tsr_representation *last = blob->home;
    while (last->next)
        last = last->next;
    last->next = made;
}

void tsr_blob_make_sole(tsr_blob *blob, tsr_representation *one)
{
    for (tsr_representation *other = blob->home; other; other = other->next) {
        other->was_valid = other->is_valid;
        other->is_valid = other == one;
    }
}

/* Converting is cheaper than a transfer, and a transfer to or from the host than one between devices. */
static int distance(const tsr_representation *from, const tsr_device *to)
{
    const tsr_device *device = tsr_storage_device(from->storage);
    return device == to ? 0 : tsr_is_host(device) ? 1 : 2;
}

tsr_representation *tsr_blob_best_source(const tsr_blob *blob, const tsr_device *device)
{
    tsr_representation *best = NULL;
    for (tsr_representation *one = blob->home; one; one = one->next)
        if (one->is_valid && (!best || distance(one, device) < distance(best, device)))
            best = one;
    return best;
}

void tsr_blob_unlink(tsr_blob *blob, tsr_representation *representation)
{
    tsr_representation *before = blob->home;
    while (before->next != representation)
        before = before->next;
    before->next = representation->next;
    representation->next = NULL;
}

/* ---- the bound ---- */

static int64_t held_bytes(const tsr_representation *one)
{
    return tsr_storage_is_allocated(one->storage) ? (int64_t)tsr_storage_capacity_bytes(one->storage) : 0;
}

static int count_valid(const tsr_blob *blob)
{
    int count = 0;
    for (const tsr_representation *one = blob->home; one; one = one->next)
        count += one->is_valid;
    return count;
}

/* What does not hold the values goes first, then what has not been used for longest. */
static bool goes_before(const tsr_representation *a, const tsr_representation *b)
{
    return a->is_valid != b->is_valid ? !a->is_valid : a->last_use < b->last_use;
}

tsr_representation *tsr_blob_unlink_excess(tsr_blob *blob)
{
    tsr_representation *first = NULL;
    const bool is_safe = count_valid(blob) > 1; /* the values are held by another one, too */
    int64_t bytes = 0;
    if (blob->keep_bytes == 0)
        return NULL;
    for (tsr_representation *one = blob->home->next; one; one = one->next) {
        if (one->users > 0 || one->is_being_made)
            continue;
        bytes += held_bytes(one);
        if ((is_safe || !one->is_valid) && (!first || goes_before(one, first)))
            first = one;
    }
    if (bytes <= blob->keep_bytes || !first)
        return NULL;
    tsr_blob_unlink(blob, first);
    return first;
}
