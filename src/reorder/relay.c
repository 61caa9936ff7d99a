/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/relay.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <tessera/memory.h>
#include <tessera/view.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/int.h"
#include "reorder/cost.h"
#include "reorder/plan.h"

/* The plain tensor of a slice is on the stack. */
enum { PLAIN_BYTES = 64 << 10 };

/* ---- what is plain ---- */

/* The stride of an axis of one level and no padding, all of which is seen; false for any other. */
static bool is_plain_axis(const tsr_desc *desc, int axis, int64_t *stride)
{
    int levels = 0;
    int64_t extent = 0;
    for (int i = 0; i < desc->levels; i++) {
        if (desc->order[i] != axis)
            continue;
        levels++;
        extent = desc->block_dims[i];
        *stride = desc->strides[i];
    }
    return levels == 1 && extent == desc->dims[axis] && desc->step[axis] == 0;
}

static bool is_plain(const tsr_desc *desc)
{
    int64_t stride;
    for (int axis = 0; axis < desc->rank; axis++)
        if (!is_plain_axis(desc, axis, &stride))
            return false;
    return true;
}

/* The narrower type is the one that is stored between. */
static bool converts_first(const tsr_plan *plan)
{
    return plan->conversion.dst_bytes < plan->conversion.src_bytes && !plan->conversion.pack &&
           plan->conversion.arithmetic.beta == 0;
}

/* Elements of 4 bits are stored as bytes, unless nothing is known of their values. */
static tsr_dtype type_between(const tsr_plan *plan)
{
    if (converts_first(plan))
        return plan->dst.dtype;
    if (plan->src.dtype == TSR_S4)
        return TSR_S8;
    return plan->src.dtype == TSR_U4 ? TSR_U8 : plan->src.dtype;
}

/* Dense, with the axes in the order of the outermost levels of a side that has blocks. */
static tsr_status make_plain(tsr_desc *plain, const tsr_plan *plan, const int64_t *dims)
{
    const tsr_desc *blocked = is_plain(&plan->dst) ? &plan->src : &plan->dst;
    int order[TSR_MAX_RANK], axes = 0;
    int64_t block_dims[TSR_MAX_RANK];
    uint32_t seen = 0;
    for (int i = 0; i < blocked->levels; i++) {
        const int axis = blocked->order[i];
        if (seen >> axis & 1)
            continue;
        seen |= 1U << axis;
        block_dims[axes] = dims[axis];
        order[axes++] = axis;
    }
    const tsr_blocking blocking = {.levels = axes, .block_dims = block_dims, .order = order};
    return tsr_desc_blocked(plain, type_between(plan), blocked->rank, dims, &blocking, NULL);
}

/* ---- slices ---- */

/* Do so many elements end with a whole byte? Tells the bytes. */
static bool are_whole(tsr_dtype dtype, int64_t elements, int64_t *bytes)
{
    const int64_t bits = tsr_dtype_bits(dtype);
    *bytes = elements / 8 * bits + elements % 8 * bits / 8;
    return elements % 8 * bits % 8 == 0;
}

/* A loop over parts of an axis, which keep so many of its indices; false where there can be none. */
static bool find_loop(tsr_loop *loop, const tsr_plan *plan, int axis, int64_t kept)
{
    const tsr_desc *src = &plan->src, *dst = &plan->dst;
    int64_t src_stride = 0, dst_stride = 0;
    *loop = (tsr_loop){.n = dst->dims[axis] / kept};
    return axis != plan->factor_axis && loop->n > 1 && is_plain_axis(src, axis, &src_stride) &&
           is_plain_axis(dst, axis, &dst_stride) && are_whole(src->dtype, kept * src_stride, &loop->src) &&
           are_whole(dst->dtype, kept * dst_stride, &loop->dst);
}

/* The dims of a slice, and what the plain tensor takes, in double, as there may be too many to count. */
static double find_slices(tsr_relay *relay, const tsr_plan *plan, int64_t dims[TSR_MAX_RANK])
{
    const tsr_desc *dst = &plan->dst;
    const double element = tsr_dtype_bits(type_between(plan)) / 8.0;
    double bytes = element * (double)tsr_desc_elements(dst);
    memcpy(dims, dst->dims, sizeof dst->dims);
    relay->slices = 1;
    /* from the outermost level of the destination on, until a slice is small */
    for (int i = 0; i < dst->levels && bytes > PLAIN_BYTES; i++) {
        const int axis = dst->order[i];
        const int64_t n = dst->dims[axis], kept = tsr_divisor_below(n, (int64_t)(PLAIN_BYTES / bytes * (double)n));
        tsr_loop *loop = &relay->loop[relay->loops];
        if (dims[axis] < n || !find_loop(loop, plan, axis, kept))
            continue;
        relay->loops++;
        relay->slices *= loop->n;
        dims[axis] = kept;
        bytes /= (double)loop->n;
    }
    return bytes;
}

/* Does every byte of a packed destination belong to one slice? Only elements along a stride of 1 share one then. */
static bool slices_are_apart(const tsr_desc *dst)
{
    int64_t bits = dst->offset;
    for (int i = 0; i < dst->levels; i++)
        bits |= dst->block_dims[i] > 1 && dst->strides[i] != 1 ? dst->strides[i] : 0;
    return bits % 2 == 0;
}

/* Slices that make up the work of one thread. */
static int64_t grain_of(const tsr_relay *relay, const tsr_plan *plan)
{
    double bytes = tsr_plan_traffic(plan, (double)tsr_desc_elements(&plan->dst)) / 2, slices = (double)relay->slices;
    if (plan->conversion.pack && !slices_are_apart(&plan->dst))
        return relay->slices;
    return tsr_max(1, (int64_t)(slices * (double)TSR_BYTES_PER_THREAD / bytes));
}

/* Is a side as the plain tensor would be, whatever their types? */
static bool is_like(const tsr_desc *side, const tsr_desc *plain)
{
    tsr_desc typed = *plain;
    typed.dtype = side->dtype;
    return tsr_desc_equal(side, &typed);
}

bool tsr_relay_applies(const tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    tsr_relay relay = {0};
    tsr_desc plain;
    int64_t dims[TSR_MAX_RANK];
    const bool has_short_rows = !plan->conversion.is_copy && plan->principal && tsr_has_short_runs(plan->principal);
    if (!plan->lowering.has_tables && !has_short_rows)
        return tsr_decline(reason, "the blocks nest, and no short runs are converted");
    if (make_plain(&plain, plan, plan->dst.dims) != TSR_OK)
        return tsr_decline(reason, "a plain tensor would be too large");
    if (plan->lowering.has_tables ? is_plain(&plan->src) || is_plain(&plan->dst)
                                  : is_like(&plan->src, &plain) || is_like(&plan->dst, &plain))
        return tsr_decline(reason, "one side is plain, and would be the tensor to go by");
    const double bytes = find_slices(&relay, plan, dims);
    return bytes <= PLAIN_BYTES ||
           tsr_decline(reason, "the least slice has %.0f bytes, expected at most %d", bytes, PLAIN_BYTES);
}

double tsr_relay_cost(const tsr_plan *plan)
{
    return tsr_cost_of_relay(plan, tsr_dtype_bits(type_between(plan)) / 8.0);
}

/* ---- the two reorders ---- */

static tsr_reorder_options stage_options(const tsr_plan *plan, bool converts)
{
    const tsr_arithmetic none = {0}, *arithmetic = converts ? &plan->conversion.arithmetic : &none;
    return (tsr_reorder_options){
        .scale = tsr_plan_factors(plan, arithmetic->scale),
        .mean = tsr_plan_factors(plan, arithmetic->mean),
        .shift = tsr_plan_factors(plan, arithmetic->shift),
        .beta = arithmetic->beta,
        .padding = plan->padding,
        .threads = 1,
        .allocator = &plan->allocator,
    };
}

static tsr_status make_stages(tsr_relay *relay, const tsr_plan *plan)
{
    const int64_t from_first[TSR_MAX_RANK] = {0};
    const bool first = converts_first(plan);
    const tsr_reorder_options to = stage_options(plan, first), from = stage_options(plan, !first);
    int64_t dims[TSR_MAX_RANK];
    tsr_desc src, plain, dst;
    find_slices(relay, plan, dims);
    tsr_status status = tsr_view_crop(&src, &plan->src, from_first, dims, NULL, NULL);
    if (status == TSR_OK)
        status = tsr_view_crop(&dst, &plan->dst, from_first, dims, NULL, NULL);
    if (status == TSR_OK)
        status = make_plain(&plain, plan, dims);
    if (status == TSR_OK)
        status = tsr_plan_create(&relay->first, &src, &plain, &to, NULL);
    if (status == TSR_OK)
        status = tsr_plan_create(&relay->second, &plain, &dst, &from, NULL);
    return status;
}

static void name_kernels(tsr_relay *relay)
{
    const tsr_plan_info first = tsr_plan_get_info(relay->first), second = tsr_plan_get_info(relay->second);
    snprintf(relay->kernels, sizeof relay->kernels, "%s + %s", first.kernel, second.kernel);
}

tsr_status tsr_relay_prepare(tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    plan->relay = tsr_allocate_zeroed(&plan->allocator, 1, sizeof *plan->relay);
    tsr_status status = plan->relay ? make_stages(plan->relay, plan) : TSR_OUT_OF_MEMORY;
    if (status != TSR_OK) {
        tsr_relay_free(&plan->relay, &plan->allocator);
        tsr_decline(reason, "there is no plan by way of a plain tensor");
        return status;
    }
    name_kernels(plan->relay);
    plan->relay->grain = grain_of(plan->relay, plan);
    plan->row_kernel = plan->relay->kernels;
    plan->row_threads = (int)tsr_max(1, tsr_min(plan->threads, plan->relay->slices / plan->relay->grain));
    return TSR_OK;
}

void tsr_relay_free(tsr_relay **relay, const tsr_allocator *allocator)
{
    if (!*relay)
        return;
    tsr_plan_free(&(*relay)->first);
    tsr_plan_free(&(*relay)->second);
    tsr_deallocate(allocator, *relay, sizeof **relay);
    *relay = NULL;
}

/* ---- run ---- */

struct relay_job {
    const tsr_relay *relay;
    const char *src;
    char *dst;
    atomic_int status; /* of a slice that was refused */
};

static tsr_status run_slice(const struct relay_job *job, int64_t slice, char *plain)
{
    const tsr_relay *relay = job->relay;
    const char *src = job->src;
    char *dst = job->dst;
    for (int i = relay->loops - 1; i >= 0; i--) {
        src += slice % relay->loop[i].n * relay->loop[i].src;
        dst += slice % relay->loop[i].n * relay->loop[i].dst;
        slice /= relay->loop[i].n;
    }
    tsr_status status = tsr_plan_run(relay->first, src, plain, NULL);
    return status == TSR_OK ? tsr_plan_run(relay->second, plain, dst, NULL) : status;
}

static void run_slices(void *argument, int64_t begin, int64_t end)
{
    alignas(TSR_ALIGNMENT) char plain[PLAIN_BYTES];
    struct relay_job *job = argument;
    for (int64_t slice = begin; slice < end; slice++) {
        tsr_status status = run_slice(job, slice, plain);
        if (status != TSR_OK)
            atomic_store(&job->status, (int)status);
    }
}

tsr_status tsr_relay_run(const tsr_plan *plan, const void *src, void *dst, tsr_error *error)
{
    struct relay_job job = {plan->relay, src, dst, TSR_OK};
    tsr_parallel_for(&plan->executor, plan->threads, plan->relay->slices, plan->relay->grain, run_slices, &job);
    const tsr_status status = (tsr_status)atomic_load(&job.status);
    return status == TSR_OK ? TSR_OK : tsr_fail(error, status, "a slice was refused: %s", tsr_status_name(status));
}
