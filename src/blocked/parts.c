/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/view.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/int.h"
#include "base/lock.h"
#include "blocked/blob.h"
#include "blocked/move.h"

static tsr_status check_part(const tsr_desc *whole, const tsr_desc *part, int number, int axis, tsr_error *error)
{
    if (part->dtype != whole->dtype || part->rank != whole->rank)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected part %d to have type %s and %d axes, found %s and %d",
                        number, tsr_dtype_name(whole->dtype), whole->rank, tsr_dtype_name(part->dtype), part->rank);
    for (int k = 0; k < whole->rank; k++)
        if (k != axis && part->dims[k] != whole->dims[k])
            return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected part %d to have %lld along axis %d, found %lld",
                            number, (long long)whole->dims[k], k, (long long)part->dims[k]);
    return TSR_OK;
}

tsr_status tsr_blob_check_parts(tsr_blob *const *parts, int count, tsr_error *error)
{
    if (count < 1 || !parts)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected at least 1 part, found %d", parts ? count : 0);
    for (int i = 0; i < count; i++)
        if (!parts[i])
            return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a blob as part %d, found NULL", i);
    return TSR_OK;
}

/* Do parts fit? As they may be reshaped before they are acquired, they are looked at again then. */
static tsr_status check_parts(tsr_blob *whole, tsr_blob *const *parts, int count, int axis, tsr_error *error)
{
    tsr_desc all, part;
    int64_t sum = 0;
    tsr_status status = TSR_OK;
    tsr_blob_get_desc(whole, &all);
    if (axis < 0 || axis >= all.rank)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected parts along an axis below %d, found %d", all.rank, axis);
    for (int i = 0; i < count && status == TSR_OK; i++) {
        tsr_blob_get_desc(parts[i], &part);
        status = check_part(&all, &part, i, axis, error);
        if (status == TSR_OK && !tsr_add(sum, part.dims[axis], &sum))
            status = tsr_fail(error, TSR_INVALID_ARGUMENT, "expected parts of %lld along axis %d, found far more",
                              (long long)all.dims[axis], axis);
    }
    if (status == TSR_OK && sum != all.dims[axis])
        status = tsr_fail(error, TSR_INVALID_ARGUMENT, "expected parts that add up to %lld along axis %d, found %lld",
                          (long long)all.dims[axis], axis, (long long)sum);
    return status;
}

/* What can be said before anything is acquired: are there parts, beside the whole? */
static tsr_status check_blobs(tsr_blob *whole, tsr_blob *const *parts, int count, tsr_error *error)
{
    tsr_status status = tsr_blob_check_parts(parts, count, error);
    for (int i = 0; i < count && status == TSR_OK; i++)
        if (tsr_blob_root(parts[i]) == tsr_blob_root(whole))
            status = tsr_fail(error, TSR_INVALID_ARGUMENT, "expected part %d beside the whole, found it in there", i);
    return status;
}

/* Where a part belongs in the whole, if it begins at `first`. */
static tsr_status find_place(tsr_desc *place, const tsr_desc *whole, const tsr_desc *part, int axis, int64_t first,
                             tsr_error *error)
{
    int64_t begin[TSR_MAX_RANK] = {0};
    begin[axis] = first;
    return tsr_view_crop(place, whole, begin, part->dims, NULL, error);
}

/* ---- merge: all is acquired and planned before anything moves ---- */

struct part {
    tsr_access access;
    const tsr_plan *plan; /* NULL if none is needed */
};

typedef tsr_status (*step)(tsr_mover *mover, struct part *part, const tsr_located *dst, const tsr_located *src,
                           tsr_error *error);

static tsr_status plan_part(tsr_mover *mover, struct part *part, const tsr_located *dst, const tsr_located *src,
                            tsr_error *error)
{
    tsr_status status = tsr_plan_move(mover, dst, src, TSR_PADDING_ZERO, error);
    part->plan = mover->plan;
    mover->plan = NULL;
    return status;
}

static tsr_status move_part(tsr_mover *mover, struct part *part, const tsr_located *dst, const tsr_located *src,
                            tsr_error *error)
{
    mover->plan = part->plan;
    return tsr_move(mover, dst, src, TSR_PADDING_ZERO, error);
}

/* Does something for each part, and its place in the whole. */
static tsr_status for_each_part(step step, tsr_mover *mover, const tsr_located *whole, struct part *parts, int count,
                                int axis, tsr_error *error)
{
    tsr_status status = TSR_OK;
    int64_t first = 0;
    for (int i = 0; i < count && status == TSR_OK; i++) {
        const tsr_access *access = &parts[i].access;
        tsr_desc place, layout;
        tsr_access_get_desc(access, &layout);
        status = find_place(&place, whole->desc, &layout, axis, first, error);
        const tsr_located dst = {&place, whole->device, whole->memory}, src = {&layout, access->device, access->data};
        if (status == TSR_OK)
            status = step(mover, &parts[i], &dst, &src, error);
        first += layout.dims[axis];
    }
    return status;
}

static tsr_status merge(tsr_blob *whole, struct part *parts, int count, int axis, tsr_error *error)
{
    tsr_mover mover = {.plans = whole->plans, .threads = whole->threads};
    tsr_access access;
    tsr_desc layout, before;
    tsr_located all = {&layout, tsr_blob_get_device(whole), NULL};
    tsr_blob_get_desc(whole, &layout);
    before = layout;
    tsr_status status = for_each_part(plan_part, &mover, &all, parts, count, axis, error);
    if (status == TSR_OK)
        status = tsr_blob_acquire(whole, tsr_blob_get_device(whole), NULL, TSR_WRITE, &access, error);
    if (status != TSR_OK)
        return status;
    tsr_access_get_desc(&access, &layout);
    all.memory = access.data;
    status = tsr_blob_expect_same(&layout, &before, error);
    if (status == TSR_OK)
        status = for_each_part(move_part, &mover, &all, parts, count, axis, error);
    return tsr_blob_end_write(&access, mover.has_begun, status, error);
}

tsr_status tsr_blob_merge(tsr_blob *whole, tsr_blob *const *blobs, int count, int axis, tsr_error *error)
{
    int acquired = 0;
    tsr_status status = check_blobs(whole, blobs, count, error);
    if (status == TSR_OK)
        status = check_parts(whole, blobs, count, axis, error);
    if (status != TSR_OK)
        return status;
    struct part *parts = tsr_allocate_zeroed(&whole->allocator, (size_t)count, sizeof *parts);
    if (!parts)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for %d parts", count);
    while (acquired < count && status == TSR_OK) {
        status =
            tsr_blob_acquire_as_they_are(blobs[acquired], tsr_blob_get_device(whole), &parts[acquired].access, error);
        acquired += status == TSR_OK;
    }
    if (status == TSR_OK)
        status = check_parts(whole, blobs, count, axis, error);
    if (status == TSR_OK)
        status = merge(whole, parts, count, axis, error);
    while (acquired > 0) {
        struct part *part = &parts[--acquired];
        tsr_forget_plan(whole->plans, &part->plan);
        status = tsr_blob_release_after(&part->access, status, error);
    }
    tsr_deallocate(&whole->allocator, parts, (size_t)count * sizeof *parts);
    return status;
}

/* ---- split: part by part, as they may be views of one blob, which exclude each other ---- */

/* Do both have elements, and the first of them at one place? */
static bool are_at_one_place(tsr_blob *a, tsr_blob *b)
{
    static const int64_t zeros[TSR_MAX_RANK];
    tsr_desc of_a, of_b;
    int64_t at_a, at_b;
    if (tsr_blob_root(a) != tsr_blob_root(b))
        return false;
    tsr_blob_get_desc(a, &of_a);
    tsr_blob_get_desc(b, &of_b);
    return tsr_desc_offset(&of_a, of_a.rank, zeros, &at_a, NULL) == TSR_OK &&
           tsr_desc_offset(&of_b, of_b.rank, zeros, &at_b, NULL) == TSR_OK && at_a == at_b;
}

static tsr_status check_that_parts_differ(tsr_blob *const *parts, int count, tsr_error *error)
{
    for (int i = 1; i < count; i++)
        for (int k = 0; k < i; k++)
            if (are_at_one_place(parts[i], parts[k]))
                return tsr_fail(error, TSR_INVALID_ARGUMENT,
                                "expected parts beside each other, found %d and %d at one place", k, i);
    return TSR_OK;
}

/* Sees to it that home has memory, and of a view, the parent's its values, so that writing to it wants no more. */
static tsr_status prepare_home(tsr_blob *blob, tsr_error *error)
{
    tsr_lock *lock = tsr_lock_of(blob);
    tsr_access access;
    void *memory;
    if (blob->parent) {
        tsr_status status = tsr_blob_acquire(blob, tsr_blob_get_device(blob), NULL, TSR_READ, &access, error);
        return status == TSR_OK ? tsr_blob_release(&access, error) : status;
    }
    pthread_mutex_lock(&lock->mutex);
    tsr_storage *storage = tsr_storage_share(blob->home->storage);
    pthread_mutex_unlock(&lock->mutex);
    tsr_status status = tsr_storage_data(storage, &memory, error);
    tsr_storage_release(&storage);
    return status;
}

/* Of a whole that has been acquired: gets the plans, or if that has been done, moves the parts. */
static tsr_status split(tsr_blob *const *parts, int count, const tsr_access *whole, int axis, const tsr_plan **plans,
                        bool is_planned, tsr_error *error)
{
    tsr_desc layout, part, place;
    int64_t first = 0;
    tsr_status status = TSR_OK;
    tsr_access_get_desc(whole, &layout);
    for (int i = 0; i < count && status == TSR_OK; i++) {
        tsr_blob_get_desc(parts[i], &part);
        status = find_place(&place, &layout, &part, axis, first, error);
        if (status == TSR_OK && is_planned)
            status = tsr_blob_write_planned(parts[i], whole, &place, plans[i], error);
        if (status == TSR_OK && !is_planned)
            status = tsr_blob_plan_write(parts[i], whole, &place, &plans[i], error);
        if (status == TSR_OK && !is_planned)
            status = prepare_home(parts[i], error);
        first += part.dims[axis];
    }
    return status;
}

static tsr_status plan_and_split(tsr_blob *const *parts, int count, const tsr_access *whole, int axis, tsr_error *error)
{
    const tsr_allocator *allocator = &whole->blob->allocator;
    const tsr_plan **plans = tsr_allocate_zeroed(allocator, (size_t)count, sizeof *plans);
    if (!plans)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for %d parts", count);
    tsr_status status = split(parts, count, whole, axis, plans, false, error);
    if (status == TSR_OK)
        status = split(parts, count, whole, axis, plans, true, error);
    for (int i = 0; i < count; i++)
        tsr_forget_plan(parts[i]->plans, &plans[i]);
    tsr_deallocate(allocator, (void *)plans, (size_t)count * sizeof *plans);
    return status;
}

tsr_status tsr_blob_split(tsr_blob *const *parts, int count, tsr_blob *whole, int axis, tsr_error *error)
{
    tsr_access access;
    tsr_status status = check_blobs(whole, parts, count, error);
    if (status == TSR_OK)
        status = check_parts(whole, parts, count, axis, error);
    if (status == TSR_OK)
        status = check_that_parts_differ(parts, count, error);
    if (status == TSR_OK)
        status = tsr_blob_acquire_as_they_are(whole, tsr_blob_get_device(parts[0]), &access, error);
    if (status != TSR_OK)
        return status;
    status = check_parts(whole, parts, count, axis, error);
    if (status == TSR_OK)
        status = plan_and_split(parts, count, &access, axis, error);
    return tsr_blob_release_after(&access, status, error);
}

tsr_status tsr_blob_transpose(tsr_blob *dst, tsr_blob *src, int a, int b, tsr_error *error)
{
    tsr_desc wanted, turned;
    tsr_access access;
    if (dst == src)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected two blobs to transpose one into the other");
    tsr_blob_get_desc(dst, &wanted);
    tsr_status status = tsr_blob_acquire_as_they_are(src, tsr_blob_get_device(dst), &access, error);
    if (status != TSR_OK)
        return status;
    tsr_access_get_desc(&access, &turned);
    status = tsr_view_transpose(&turned, &turned, a, b, error);
    if (status == TSR_OK && !tsr_is_same_tensor(&wanted, &turned))
        status = tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a blob of the same type and dims to copy from");
    if (status == TSR_OK)
        status = tsr_blob_write_from(dst, &access, &turned, error);
    return tsr_blob_release_after(&access, status, error);
}
