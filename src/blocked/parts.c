/* SPDX-License-Identifier: Apache-2.0 */
#include "blocked/parts.h"

#include <tessera/view.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/int.h"

/* ---- what is acquired ---- */

/* What is read may be in any layout, if possible on a device. */
static tsr_status acquire(tsr_portion *portion, tsr_device *device, tsr_error *error)
{
    if (!portion->is_written)
        return tsr_blob_acquire_as_they_are(portion->blob, device, &portion->access, error);
    if (portion->holder != portion)
        return TSR_OK;
    const tsr_intent intent = portion->blob == portion->root ? TSR_WRITE : TSR_READ_WRITE;
    return tsr_blob_acquire(portion->root, tsr_blob_get_device(portion->root), NULL, intent, &portion->access, error);
}

/* status is what has happened so far. */
static tsr_status release(tsr_portion *portion, tsr_status status, tsr_error *error)
{
    if (!portion->access.blob)
        return status; /* another one holds it, or nobody */
    if (portion->is_written)
        return tsr_blob_end_write(&portion->access, portion->has_begun, &portion->saved, status, error);
    return tsr_blob_release_after(&portion->access, status, error);
}

/* In the memory that has been acquired; or before that, of home. */
static void get_layout(tsr_desc *layout, const tsr_portion *portion)
{
    if (portion->access.blob && !portion->is_written)
        tsr_expand(layout, portion->access.representation->layout);
    else
        tsr_blob_expand(portion->blob, layout);
}

/* ---- do they fit? ---- */

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

/* And finds where parts begin. What was not acquired when it was looked at may have been reshaped since. */
static tsr_status check_parts(tsr_division *d, tsr_error *error)
{
    const int axis = d->axis;
    int64_t sum = 0;
    tsr_desc whole, part;
    tsr_status status = TSR_OK;
    get_layout(&whole, &d->whole);
    d->whole.bytes = tsr_bytes_of(&whole);
    if (axis < 0 || axis >= whole.rank)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected parts along an axis below %d, found %d", whole.rank,
                        axis);
    for (int i = 0; i < d->count && status == TSR_OK; i++) {
        get_layout(&part, &d->parts[i]);
        d->parts[i].first = sum;
        d->parts[i].bytes = tsr_bytes_of(&part);
        status = check_part(&whole, &part, i, axis, error);
        if (status == TSR_OK && !tsr_add(sum, part.dims[axis], &sum))
            status = tsr_fail(error, TSR_INVALID_ARGUMENT, "expected parts of %lld along axis %d, found far more",
                              (long long)whole.dims[axis], axis);
    }
    if (status == TSR_OK && sum != whole.dims[axis])
        status = tsr_fail(error, TSR_INVALID_ARGUMENT, "expected parts that add up to %lld along axis %d, found %lld",
                          (long long)whole.dims[axis], axis, (long long)sum);
    return status;
}

/* What has been acquired: whoever is written may not be where somebody else is read. */
static tsr_status check_apart(const tsr_division *d, tsr_error *error)
{
    for (int i = 0; i < d->count; i++) {
        const tsr_portion *part = &d->parts[i], *whole = &d->whole;
        const tsr_access *of_part = &part->holder->access;
        if (tsr_share_memory(of_part->device, of_part->data, part->bytes, whole->access.device, whole->access.data,
                             whole->bytes))
            return tsr_fail(error, TSR_OVERLAP, "expected part %d in other memory than the whole", i);
    }
    return TSR_OK;
}

/* ---- what moves them ---- */

/* From where to where. The descriptors are those of a part and its place in the whole, unless the move is certain. */
struct ends {
    tsr_desc part, place;
    int64_t begin[TSR_MAX_RANK]; /* of the place: 0 but for the axis */
    tsr_located dst, src;
};

static void locate_ends(struct ends *ends, const tsr_division *d, const tsr_portion *part)
{
    const tsr_access *of_part = &part->holder->access, *of_whole = &d->whole.access;
    const tsr_located beside = {&ends->part, of_part->device, of_part->data};
    const tsr_located inside = {&ends->place, of_whole->device, of_whole->data};
    ends->dst = d->is_split ? beside : inside;
    ends->src = d->is_split ? inside : beside;
}

static tsr_status find_ends(struct ends *ends, const tsr_division *d, const tsr_portion *part, const tsr_desc *whole,
                            tsr_error *error)
{
    locate_ends(ends, d, part);
    if (part->move.is_certain)
        return TSR_OK;
    ends->begin[d->axis] = part->first;
    get_layout(&ends->part, part);
    return tsr_view_crop(&ends->place, whole, ends->begin, ends->part.dims, NULL, error);
}

static tsr_mover mover_of(tsr_division *d, tsr_portion *part)
{
    const tsr_blob *blob = tsr_written_with(d, part)->blob;
    return (tsr_mover){.plans = blob->plans, .threads = d->tasks > 1 ? 1 : blob->threads};
}

static tsr_status plan_part(tsr_division *d, tsr_portion *part, const struct ends *ends, tsr_error *error)
{
    const tsr_mover mover = mover_of(d, part);
    return tsr_plan_move(&part->move, &mover, &ends->dst, &ends->src, TSR_PADDING_ZERO, error);
}

static tsr_status move_part(tsr_division *d, tsr_portion *part, const struct ends *ends, tsr_error *error)
{
    tsr_portion *holder = tsr_written_with(d, part)->holder;
    tsr_mover mover = mover_of(d, part);
    if (part->is_moved)
        return TSR_OK;
    mover.planned = &part->move;
    tsr_status status = part->move.is_certain ? tsr_run_move(&part->move, &mover, &ends->dst, &ends->src, error)
                                              : tsr_move(&mover, &ends->dst, &ends->src, TSR_PADDING_ZERO, error);
    holder->has_begun = holder->has_begun || mover.has_begun;
    return status;
}

bool tsr_portion_run(tsr_division *d, tsr_portion *part)
{
    tsr_mover mover = mover_of(d, part);
    struct ends ends;
    locate_ends(&ends, d, part);
    return part->move.is_certain && tsr_run_move(&part->move, &mover, &ends.dst, &ends.src, NULL) == TSR_OK;
}

typedef tsr_status (*step)(tsr_division *d, tsr_portion *part, const struct ends *ends, tsr_error *error);

static tsr_status for_each_part(step step, tsr_division *d, const tsr_desc *whole, tsr_error *error)
{
    struct ends ends;
    tsr_status status = TSR_OK;
    for (int k = 0; k < whole->rank; k++)
        ends.begin[k] = 0;
    for (int i = 0; i < d->count && status == TSR_OK; i++) {
        status = find_ends(&ends, d, &d->parts[i], whole, error);
        if (status == TSR_OK)
            status = step(d, &d->parts[i], &ends, error);
    }
    return status;
}

/* Nothing fails on the host. */
static bool may_fail(const tsr_division *d)
{
    bool may = !tsr_is_host(d->whole.access.device);
    for (int i = 0; i < d->count && !may; i++)
        may = !tsr_is_host(d->parts[i].holder->access.device);
    return may;
}

static tsr_status put_aside(tsr_division *d, tsr_error *error)
{
    tsr_portion *written = d->is_split ? d->parts : &d->whole;
    const int count = d->is_split ? d->count : 1;
    tsr_status status = TSR_OK;
    for (int i = 0; i < count; i++)
        written[i].holder->written = tsr_bytes_joined(written[i].holder->written, written[i].bytes);
    for (int i = 0; i < count && status == TSR_OK; i++)
        if (written[i].access.blob)
            status = tsr_blob_put_aside(&written[i].access, written[i].written, &written[i].saved, error);
    return status;
}

static void forget_plans(tsr_division *d)
{
    for (int i = 0; i < d->count; i++) {
        const tsr_mover mover = mover_of(d, &d->parts[i]);
        tsr_forget_move(&mover, &d->parts[i].move);
    }
}

/* Of a whole and parts that have been acquired. */
static tsr_status move_all(tsr_division *d, tsr_error *error)
{
    tsr_desc whole;
    get_layout(&whole, &d->whole);
    tsr_status status = check_parts(d, error);
    if (status == TSR_OK)
        status = check_apart(d, error);
    if (status != TSR_OK)
        return status;
    d->tasks = may_fail(d) ? 1 : tsr_division_tasks(d, &whole);
    status = for_each_part(plan_part, d, &whole, error);
    if (status == TSR_OK && d->tasks > 1 && !tsr_division_is_even(d, &whole)) {
        forget_plans(d);
        d->tasks = 1;
        status = for_each_part(plan_part, d, &whole, error);
    }
    if (status == TSR_OK && may_fail(d))
        status = put_aside(d, error);
    if (status == TSR_OK && d->tasks > 1)
        tsr_division_run_at_once(d); /* a part that fails there is left to those who can say why */
    return status == TSR_OK ? for_each_part(move_part, d, &whole, error) : status;
}

/* ---- merge and split ---- */

tsr_status tsr_blob_check_parts(tsr_blob *const *parts, int count, tsr_error *error)
{
    if (count < 1 || !parts)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected at least 1 part, found %d", parts ? count : 0);
    for (int i = 0; i < count; i++)
        if (!parts[i])
            return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a blob as part %d, found NULL", i);
    return TSR_OK;
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

/* Where the first element of a blob lies in its buffer; -1 if it has none. */
static int64_t place_of(tsr_blob *blob)
{
    static const int64_t zeros[TSR_MAX_RANK];
    tsr_desc desc;
    int64_t at;
    tsr_blob_expand(blob, &desc);
    return tsr_desc_offset(&desc, desc.rank, zeros, &at, NULL) == TSR_OK ? at : -1;
}

/* Of parts that are written: finds those that are views of one blob. */
static tsr_status find_holders(tsr_division *d, tsr_error *error)
{
    for (int i = 0; i < d->count; i++) {
        tsr_portion *part = &d->parts[i];
        part->place = place_of(part->blob);
        for (int k = i - 1; k >= 0; k--) {
            const tsr_portion *before = &d->parts[k];
            if (before->root != part->root)
                continue;
            if (before->place == part->place && part->place >= 0)
                return tsr_fail(error, TSR_INVALID_ARGUMENT,
                                "expected parts beside each other, found %d and %d at one place", k, i);
            part->holder = before->holder;
        }
    }
    return TSR_OK;
}

static void set_portion(tsr_portion *portion, tsr_blob *blob, bool is_written)
{
    *portion = (tsr_portion){.blob = blob, .root = tsr_blob_root(blob), .holder = portion, .is_written = is_written};
}

static tsr_status set_portions(tsr_division *d, tsr_blob *whole, tsr_blob *const *parts, tsr_error *error)
{
    set_portion(&d->whole, whole, !d->is_split);
    d->parts = tsr_allocate_zeroed(&whole->allocator, (size_t)d->count, sizeof *d->parts);
    if (!d->parts)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for %d parts", d->count);
    for (int i = 0; i < d->count; i++)
        set_portion(&d->parts[i], parts[i], d->is_split);
    return d->is_split ? find_holders(d, error) : TSR_OK;
}

static tsr_status acquire_all(tsr_division *d, tsr_error *error)
{
    tsr_device *of_whole = tsr_blob_get_device(d->whole.blob), *of_parts = tsr_blob_get_device(d->parts[0].blob);
    tsr_status status = acquire(&d->whole, of_parts, error);
    for (int i = 0; i < d->count && status == TSR_OK; i++)
        status = acquire(&d->parts[i], of_whole, error);
    return status;
}

static tsr_status release_all(tsr_division *d, tsr_status status, tsr_error *error)
{
    forget_plans(d);
    for (int i = 0; i < d->count; i++)
        status = release(&d->parts[i], status, error);
    return release(&d->whole, status, error);
}

static tsr_status divide(tsr_blob *whole, tsr_blob *const *parts, tsr_division *d, tsr_error *error)
{
    tsr_status status = check_blobs(whole, parts, d->count, error);
    if (status != TSR_OK)
        return status;
    status = set_portions(d, whole, parts, error);
    if (status == TSR_OK)
        status = check_parts(d, error);
    if (status == TSR_OK)
        status = acquire_all(d, error);
    if (status == TSR_OK)
        status = move_all(d, error);
    if (d->parts)
        status = release_all(d, status, error);
    tsr_deallocate(&whole->allocator, d->parts, (size_t)d->count * sizeof *d->parts);
    return status;
}

tsr_status tsr_blob_merge(tsr_blob *whole, tsr_blob *const *parts, int count, int axis, tsr_error *error)
{
    tsr_division division = {.count = count, .axis = axis};
    return divide(whole, parts, &division, error);
}

tsr_status tsr_blob_split(tsr_blob *const *parts, int count, tsr_blob *whole, int axis, tsr_error *error)
{
    tsr_division division = {.count = count, .axis = axis, .is_split = true};
    return divide(whole, parts, &division, error);
}
