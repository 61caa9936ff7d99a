/* SPDX-License-Identifier: Apache-2.0 */
#include "blocked/move.h"

#include <stdint.h>

#include "base/error.h"
#include "base/int.h"
#include "blocked/rows.h"
#include "blocked/saved.h"
#include "desc/fields.h"

tsr_bytes tsr_bytes_of(const tsr_desc *desc)
{
    const int64_t bits = tsr_dtype_bits(desc->dtype);
    int64_t first, end;
    tsr_desc_span(desc, &first, &end);
    const size_t begin = (size_t)(first * bits / 8);
    return (tsr_bytes){begin, (size_t)((end * bits + 7) / 8) - begin};
}

tsr_bytes tsr_bytes_joined(tsr_bytes a, tsr_bytes b)
{
    if (a.count == 0 || b.count == 0)
        return a.count == 0 ? b : a;
    const size_t first = a.first < b.first ? a.first : b.first;
    const size_t end_of_a = a.first + a.count, end_of_b = b.first + b.count;
    return (tsr_bytes){first, (end_of_a > end_of_b ? end_of_a : end_of_b) - first};
}

/* The memory of a device has no address, but a name. */
bool tsr_share_memory(const tsr_device *on, const void *a, tsr_bytes of_a, const tsr_device *other_on, const void *b,
                      tsr_bytes of_b)
{
    const uintptr_t first = (uintptr_t)a + of_a.first, other = (uintptr_t)b + of_b.first;
    if (on != other_on || (!tsr_is_host(on) && a != b) || of_a.count == 0 || of_b.count == 0)
        return false;
    return first < other + of_b.count && other < first + of_a.count;
}

void *tsr_buffer_around(void *mapped, tsr_bytes bytes)
{
    return (void *)((uintptr_t)mapped - bytes.first);
}

/* Is each of those bytes an element's or its padding's, and of no other element? */
static bool are_all_its_own(const tsr_desc *desc)
{
    const int64_t bits = tsr_dtype_bits(desc->dtype);
    int64_t first, end;
    return tsr_span_without_gaps(desc, &first, &end) && first * bits % 8 == 0 && end * bits % 8 == 0;
}

bool tsr_is_all_of_buffer(const tsr_desc *desc)
{
    return tsr_bytes_of(desc).first == 0 && are_all_its_own(desc);
}

static bool is_empty(const tsr_located *at)
{
    return tsr_desc_elements(at->desc) == 0;
}

static tsr_status check_apart(const tsr_located *dst, const tsr_located *src, tsr_error *error)
{
    if (!tsr_share_memory(dst->device, dst->memory, tsr_bytes_of(dst->desc), src->device, src->memory,
                          tsr_bytes_of(src->desc)))
        return TSR_OK;
    return tsr_fail(error, TSR_OVERLAP,
                    "expected source and destination apart from each other, found them in one memory");
}

/* ---- in the reach of the host ---- */

static tsr_status map(const tsr_located *at, tsr_bytes bytes, tsr_intent intent, void **host, tsr_error *error)
{
    return at->device->does.map(at->device->context, at->memory, bytes.first, bytes.count, intent, host, error);
}

/* What went wrong before counts more than what goes wrong now. */
static tsr_status unmap(const tsr_located *at, void *host, tsr_status before, tsr_error *error)
{
    tsr_status status = at->device->does.unmap(at->device->context, at->memory, host, before == TSR_OK ? error : NULL);
    return before == TSR_OK ? status : before;
}

/*
 * A tensor without as much of its offset as lies in front of all its bytes: places that differ in nothing else have one
 * plan. Gives the byte at which its buffer begins in the other's.
 */
static size_t take_offset(tsr_desc *taken, const tsr_desc *desc, tsr_bytes bytes)
{
    const int64_t bits = tsr_dtype_bits(desc->dtype), most = (int64_t)bytes.first * 8 / bits;
    const size_t origin = (size_t)(tsr_min(desc->offset, most) * bits / 8);
    tsr_fields_copy(taken, desc);
    taken->offset -= (int64_t)origin * 8 / bits;
    return origin;
}

static tsr_status get_plan(tsr_planned_move *move, const tsr_mover *mover, const tsr_desc *src_desc,
                           const tsr_desc *dst_desc, tsr_padding padding, bool in_place, tsr_error *error)
{
    const tsr_reorder_options options = {.padding = padding, .threads = mover->threads, .in_place = in_place};
    tsr_desc src, dst;
    move->src = tsr_bytes_of(src_desc);
    move->dst = tsr_bytes_of(dst_desc);
    move->src_origin = take_offset(&src, src_desc, move->src);
    move->dst_origin = take_offset(&dst, dst_desc, move->dst);
    return tsr_plan_cache_get(mover->plans, &src, &dst, &options, &move->plan, error);
}

static tsr_status plan_on_host(tsr_planned_move *move, const tsr_mover *mover, const tsr_located *dst,
                               const tsr_located *src, tsr_padding padding, tsr_error *error)
{
    move->is_all_of_dst = padding == TSR_PADDING_ZERO && are_all_its_own(dst->desc);
    return get_plan(move, mover, src->desc, dst->desc, padding, false, error);
}

/* Between what has been mapped. */
static tsr_status run_plan(const tsr_planned_move *move, void *from, void *to, tsr_error *error)
{
    return tsr_plan_run(move->plan, (char *)tsr_buffer_around(from, move->src) + move->src_origin,
                        (char *)tsr_buffer_around(to, move->dst) + move->dst_origin, error);
}

tsr_status tsr_run_move(const tsr_planned_move *move, tsr_mover *mover, const tsr_located *dst, const tsr_located *src,
                        tsr_error *error)
{
    void *from, *to;
    tsr_status status = map(src, move->src, TSR_READ, &from, error);
    if (status != TSR_OK)
        return status;
    status = map(dst, move->dst, move->is_all_of_dst ? TSR_WRITE : TSR_READ_WRITE, &to, error);
    if (status == TSR_OK) {
        mover->has_begun = true; /* what was mapped to be written may have lost its content */
        status = run_plan(move, from, to, error);
        status = unmap(dst, to, status, error);
    }
    return unmap(src, from, status, error);
}

void tsr_forget_move(const tsr_mover *mover, tsr_planned_move *move)
{
    if (move->plan)
        tsr_plan_cache_put(mover->plans, &move->plan);
    move->is_certain = false;
}

/* ---- where it is best done ---- */

static bool has_to_zero(const tsr_located *dst, tsr_padding padding)
{
    return padding == TSR_PADDING_ZERO && tsr_desc_padded_elements(dst->desc) != tsr_desc_elements(dst->desc);
}

/* The device that has both, if it is not the host. */
static const tsr_device *device_of_both(const tsr_located *dst, const tsr_located *src)
{
    return dst->device == src->device && !tsr_is_host(dst->device) ? dst->device : NULL;
}

/* TSR_UNSUPPORTED: the device cannot; error is set by other failures alone. */
static tsr_status reorder(tsr_mover *mover, const tsr_located *dst, const tsr_located *src, tsr_error *error)
{
    const tsr_device *device = device_of_both(dst, src);
    tsr_error why = {0};
    if (!device || !device->does.reorder)
        return TSR_UNSUPPORTED;
    tsr_status status = device->does.reorder(device->context, src->desc, src->memory, dst->desc, dst->memory, &why);
    if (status == TSR_UNSUPPORTED)
        return status;
    mover->has_begun = true;
    return status == TSR_OK ? TSR_OK : tsr_fail(error, status, "%s", why.message);
}

/* As rows that the device copies, or on the host. */
static tsr_status run_planned(const tsr_planned_move *move, tsr_mover *mover, const tsr_located *dst,
                              const tsr_located *src, tsr_padding padding, tsr_error *error)
{
    const tsr_device *device = device_of_both(dst, src);
    tsr_error why = {0};
    tsr_status status = TSR_UNSUPPORTED;
    if (device && device->does.copy_rows && !has_to_zero(dst, padding))
        status = tsr_move_rows(move, mover, dst, src, &why);
    if (status == TSR_UNSUPPORTED)
        return tsr_run_move(move, mover, dst, src, error);
    return status == TSR_OK ? TSR_OK : tsr_fail(error, status, "%s", why.message);
}

static tsr_status convert(tsr_mover *mover, const tsr_located *dst, const tsr_located *src, tsr_padding padding,
                          tsr_error *error)
{
    tsr_planned_move move = {0};
    tsr_status status = reorder(mover, dst, src, error);
    if (status != TSR_UNSUPPORTED)
        return status;
    if (mover->planned)
        return run_planned(mover->planned, mover, dst, src, padding, error);
    status = plan_on_host(&move, mover, dst, src, padding, error);
    if (status == TSR_OK)
        status = run_planned(&move, mover, dst, src, padding, error);
    tsr_forget_move(mover, &move);
    return status;
}

/* The bytes as they are. */
static tsr_status transfer(tsr_mover *mover, const tsr_located *dst, const tsr_located *src, tsr_error *error)
{
    const tsr_device *to = dst->device, *from = src->device;
    const size_t bytes = (size_t)tsr_desc_size_bytes(dst->desc);
    void *host;
    mover->has_begun = mover->has_begun || to == from || tsr_is_host(to);
    if (to == from)
        return to->does.copy_within(to->context, dst->memory, 0, src->memory, 0, bytes, error);
    if (tsr_is_host(to))
        return from->does.copy_out(from->context, dst->memory, src->memory, 0, bytes, error);
    tsr_status status = map(src, (tsr_bytes){0, bytes}, TSR_READ, &host, error);
    if (status != TSR_OK)
        return status;
    mover->has_begun = true;
    status = to->does.copy_in(to->context, dst->memory, 0, host, bytes, error);
    return unmap(src, host, status, error);
}

/* On the host a plan copies with as many threads as there are. */
static bool is_transfer(const tsr_located *dst, const tsr_located *src)
{
    return (dst->device != src->device || !tsr_is_host(dst->device)) && tsr_fields_are_same(dst->desc, src->desc) &&
           tsr_is_all_of_buffer(dst->desc);
}

tsr_status tsr_move(tsr_mover *mover, const tsr_located *dst, const tsr_located *src, tsr_padding padding,
                    tsr_error *error)
{
    mover->has_converted = !tsr_fields_are_same(dst->desc, src->desc);
    mover->has_transferred = dst->device != src->device;
    if (is_empty(dst))
        return TSR_OK;
    tsr_status status = check_apart(dst, src, error);
    if (status != TSR_OK)
        return status;
    return is_transfer(dst, src) ? transfer(mover, dst, src, error) : convert(mover, dst, src, padding, error);
}

tsr_status tsr_plan_move(tsr_planned_move *move, const tsr_mover *mover, const tsr_located *dst, const tsr_located *src,
                         tsr_padding padding, tsr_error *error)
{
    const tsr_device *device = device_of_both(dst, src);
    if (is_empty(dst))
        return TSR_OK;
    tsr_status status = check_apart(dst, src, error);
    if (status != TSR_OK || is_transfer(dst, src))
        return status;
    move->is_certain = !device || (!device->does.reorder && !device->does.copy_rows);
    return plan_on_host(move, mover, dst, src, padding, error);
}

static tsr_status zero_padding_on_host(const tsr_mover *mover, const tsr_located *at, tsr_error *error)
{
    tsr_planned_move move = {0};
    void *host;
    tsr_status status = get_plan(&move, mover, at->desc, at->desc, TSR_PADDING_ZERO, true, error);
    if (status == TSR_OK)
        status = map(at, move.dst, TSR_READ_WRITE, &host, error);
    if (status == TSR_OK)
        status = unmap(at, host, run_plan(&move, host, host, error), error);
    tsr_forget_move(mover, &move);
    return status;
}

/* The device writes more than the padding. */
static tsr_status zero_padding_safely(const tsr_mover *mover, const tsr_located *at, tsr_error *error)
{
    const tsr_allocator *allocator = mover->allocator ? mover->allocator : tsr_default_allocator();
    tsr_saved *saved = NULL;
    tsr_status status = tsr_save(&saved, at->device, at->memory, tsr_bytes_of(at->desc), allocator, error);
    if (status == TSR_OK) {
        status = zero_padding_on_host(mover, at, error);
        if (status != TSR_OK)
            tsr_bring_back(saved); /* if it cannot, there is nobody to tell */
    }
    tsr_saved_free(&saved, allocator);
    return status;
}

tsr_status tsr_zero_padding_at(const tsr_mover *mover, const tsr_located *at, tsr_error *error)
{
    const tsr_device *device = at->device;
    tsr_error why = {0};
    tsr_status status = TSR_UNSUPPORTED;
    if (tsr_bytes_of(at->desc).count == 0)
        return TSR_OK; /* no device is asked to map no bytes */
    if (device->does.zero_padding)
        status = device->does.zero_padding(device->context, at->desc, at->memory, &why);
    if (status == TSR_UNSUPPORTED)
        return tsr_is_host(device) ? zero_padding_on_host(mover, at, error) : zero_padding_safely(mover, at, error);
    return status == TSR_OK ? TSR_OK : tsr_fail(error, status, "%s", why.message);
}
