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
#include "desc/fields.h"
#include "reorder/cost.h"
#include "reorder/plan.h"
#include "reorder/route.h"

/* The tensors between, of a slice, are on the stack, where two of them share the room; and where legs are fast, each is
 * wanted in the first-level cache. */
enum { ROOM_BYTES = 64 << 10, NEAR_BYTES = 32 << 10 };
_Static_assert((TSR_LEGS - 1) * NEAR_BYTES <= ROOM_BYTES, "there is room for all tensors between");

static int64_t room_for_one(const tsr_route *route)
{
    return route->legs == TSR_LEGS ? NEAR_BYTES : ROOM_BYTES;
}

/* ---- slices ---- */

/* Do so many elements end with a whole byte? Tells the bytes. */
static bool are_whole(tsr_dtype dtype, int64_t elements, int64_t *bytes)
{
    const int64_t bits = tsr_dtype_bits(dtype);
    *bytes = elements / 8 * bits + elements % 8 * bits / 8;
    return elements % 8 * bits % 8 == 0;
}

/* How far so many indices of an axis, whole blocks, are from the next ones. */
static int64_t step_of(const tsr_desc *desc, int axis, int64_t kept)
{
    int64_t indices = 1, stride = 0;
    tsr_find_blocks(desc, axis, &indices, &stride);
    return kept / indices * stride;
}

/* Do all neighbours along an axis lie side by side? */
static bool is_innermost(const tsr_desc *desc, int axis)
{
    return desc->order[desc->levels - 1] == axis && tsr_indices_of_blocks(desc, axis) == 1;
}

/* A loop over parts of an axis, which keep so many of its indices; false where there can be none, or where they would
 * make short what has a factor for each. */
static bool find_loop(tsr_loop *loop, const tsr_plan *plan, int axis, int64_t kept)
{
    const tsr_desc *src = &plan->src, *dst = &plan->dst;
    *loop = (tsr_loop){.n = dst->dims[axis] / kept, .factor = axis == plan->factor_axis ? kept : 0};
    if (loop->factor > 0 && (is_innermost(src, axis) || is_innermost(dst, axis)))
        return false;
    return loop->n > 1 && are_whole(src->dtype, step_of(src, axis, kept), &loop->src) &&
           are_whole(dst->dtype, step_of(dst, axis, kept), &loop->dst);
}

static int64_t wanted_bytes(const tsr_route *route)
{
    return route->purpose == TSR_BY_PLAIN || route->purpose == TSR_BY_PIXELS ? ROOM_BYTES : NEAR_BYTES;
}

/* The indices of an axis that a side has in so many bytes side by side. */
static int64_t indices_in_line(const tsr_desc *side, int axis, int64_t line)
{
    int64_t bytes = (int64_t)tsr_dtype_size_bytes(side->dtype), indices = 1;
    for (int i = side->levels - 1; i >= 0 && bytes < line; i--) {
        if (side->order[i] == axis)
            indices *= tsr_min(side->block_dims[i], tsr_ceil_div(line, bytes));
        bytes *= side->block_dims[i];
    }
    return indices;
}

/* From the outermost level of the destination on, until a slice is small, but has lines of both sides. Returns the bytes
 * of the largest tensor between. */
static int64_t cut(tsr_relay *relay, const tsr_plan *plan, const tsr_route *route, int64_t line,
                   int64_t dims[TSR_MAX_RANK])
{
    const tsr_desc *src = &plan->src, *dst = &plan->dst;
    const int64_t most = wanted_bytes(route);
    int64_t bytes = tsr_route_bytes(route);
    memcpy(dims, dst->dims, sizeof dst->dims);
    relay->loops = 0;
    relay->slices = 1;
    for (int i = 0; i < dst->levels && bytes > most; i++) {
        const int axis = dst->order[i];
        const int64_t n = dst->dims[axis], part = tsr_route_part(route, plan, axis);
        if (dims[axis] < n || part == 0)
            continue;
        const int64_t wanted = tsr_max((int64_t)((double)most / (double)bytes * (double)n),
                                       tsr_max(indices_in_line(src, axis, line), indices_in_line(dst, axis, line)));
        const int64_t kept = part * tsr_divisor_below(n / part, wanted / part);
        tsr_loop *loop = &relay->loop[relay->loops];
        if (!find_loop(loop, plan, axis, kept))
            continue;
        relay->loops++;
        relay->slices *= loop->n;
        dims[axis] = kept;
        bytes /= loop->n;
    }
    return bytes;
}

/* The dims of a slice, and the bytes of a tensor between, where `route` is that of all; with lines as long as it may
 * have, if it is for elements to be converted where they lie. */
static int64_t find_slices(tsr_relay *relay, const tsr_plan *plan, const tsr_route *route, int64_t dims[TSR_MAX_RANK])
{
    int64_t line = route->purpose == TSR_APART ? 4 * TSR_CACHE_LINE : 1, bytes;
    do {
        bytes = cut(relay, plan, route, line, dims);
        line /= 4;
    } while (bytes > wanted_bytes(route) && line > 0);
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
    double bytes = tsr_plan_copied_bytes(plan, (double)tsr_desc_elements(&plan->dst)), slices = (double)relay->slices;
    if (plan->conversion.pack && !slices_are_apart(&plan->dst))
        return relay->slices;
    return tsr_max(1, (int64_t)(slices * (double)TSR_BYTES_PER_THREAD / bytes));
}

bool tsr_relay_applies(const tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    tsr_relay relay;
    tsr_route route;
    int64_t dims[TSR_MAX_RANK];
    const bool has_tables = plan->lowering.has_tables;
    if (tsr_route_make(&route, plan, plan->dst.dims) != TSR_OK)
        return tsr_decline(reason, "a tensor between would be too large");
    if (route.purpose == TSR_FOR_NOTHING)
        return tsr_decline(reason, has_tables ? "one side is plain, and would be the tensor to go by"
                                              : "the blocks nest, and nothing is gained by more steps");
    if (route.legs == 1 && !route.leg[0].widened)
        return tsr_decline(reason, "the elements stay where they are");
    if (plan->conversion.pack && plan->threads > 1 && route.purpose == TSR_APART && !slices_are_apart(&plan->dst))
        return tsr_decline(reason, "slices would have halves of the same bytes");
    const int64_t bytes = find_slices(&relay, plan, &route, dims);
    const int64_t most = room_for_one(&route);
    return bytes <= most ||
           tsr_decline(reason, "the least slice has %lld bytes, expected at most %d", (long long)bytes, (int)most);
}

double tsr_relay_cost(const tsr_plan *plan)
{
    tsr_route route;
    if (tsr_route_make(&route, plan, plan->dst.dims) != TSR_OK)
        return 0; /* and it does not apply */
    if (route.purpose == TSR_APART)
        return tsr_cost_of_conversion_apart(plan, &route);
    const double of_first_cache = route.purpose == TSR_BY_JOINED ? 0.7 : 1;
    return tsr_cost_of_relay(plan, of_first_cache * (double)tsr_dtype_size_bytes(tsr_route_type(plan)));
}

/* ---- the stages ---- */

/* Factors of the first slice, which has so many indices along their axis; the others take theirs when they run. */
static tsr_factors first_factors(const tsr_plan *plan, const float *values, const int64_t *dims)
{
    tsr_factors factors = tsr_plan_factors(plan, values);
    if (values && plan->factor_axis >= 0)
        factors.count = dims[plan->factor_axis];
    return factors;
}

/* Slices share the threads, or a stage has them for itself. */
static const tsr_executor *executor_of_stage(const tsr_plan *plan, const tsr_route *route)
{
    return route->legs == 1 ? &plan->executor : NULL;
}

static int threads_of_stage(const tsr_plan *plan, const tsr_route *route)
{
    return route->legs == 1 ? plan->threads : 1;
}

static tsr_reorder_options stage_options(const tsr_plan *plan, const tsr_route *route, int i, const int64_t *dims)
{
    const tsr_leg *leg = &route->leg[i];
    const tsr_arithmetic none = {0}, *arithmetic = leg->computes ? &plan->conversion.arithmetic : &none;
    const bool has_factor_slices =
        plan->factor_axis >= 0 && dims[plan->factor_axis] < plan->dst.dims[plan->factor_axis];
    /* the row that is run with other factors has to be known; and what goes this way for its conversion goes no further */
    const bool is_row_known = leg->converts && (has_factor_slices || route->purpose != TSR_BY_PLAIN);
    return (tsr_reorder_options){
        .row = is_row_known ? "convert" : NULL,
        .scale = first_factors(plan, arithmetic->scale, leg->dst.dims),
        .mean = first_factors(plan, plan->has_mean ? arithmetic->mean : NULL, leg->dst.dims),
        .shift = first_factors(plan, plan->has_shift ? arithmetic->shift : NULL, leg->dst.dims),
        .beta = arithmetic->beta,
        .padding = i + 1 == route->legs ? plan->padding : TSR_PADDING_ZERO,
        .executor = executor_of_stage(plan, route),
        .threads = threads_of_stage(plan, route),
        .allocator = &plan->allocator,
    };
}

/* What goes this way to be joined goes no further. */
static tsr_status create_stage(tsr_plan **stage, const tsr_route *route, const tsr_leg *leg,
                               const tsr_reorder_options *options)
{
    static const char *const rows[] = {"transpose", "copy"};
    tsr_reorder_options own = *options;
    tsr_status status = TSR_UNSUPPORTED;
    if (route->purpose != TSR_BY_JOINED)
        return tsr_plan_create(stage, &leg->src, &leg->dst, options, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows && status == TSR_UNSUPPORTED; i++) {
        own.row = rows[i];
        status = tsr_plan_create(stage, &leg->src, &leg->dst, &own, NULL);
    }
    return status;
}

/* Zeroes the padding of the destination, being run from there to there. */
static tsr_status create_zeroing(tsr_plan **zeroing, const tsr_plan *plan, const tsr_route *route, const int64_t *dims)
{
    const int64_t from_first[TSR_MAX_RANK] = {0};
    const tsr_reorder_options options = {.row = "alias",
                                         .executor = executor_of_stage(plan, route),
                                         .threads = threads_of_stage(plan, route),
                                         .allocator = &plan->allocator};
    tsr_desc dst;
    tsr_status status = tsr_view_crop(&dst, &plan->dst, from_first, dims, NULL, NULL);
    return status == TSR_OK ? tsr_plan_create(zeroing, &dst, &dst, &options, NULL) : status;
}

static tsr_status make_stages(tsr_relay *relay, const tsr_plan *plan)
{
    int64_t dims[TSR_MAX_RANK];
    tsr_route route;
    tsr_status status = tsr_route_make(&route, plan, plan->dst.dims);
    if (status != TSR_OK)
        return status;
    find_slices(relay, plan, &route, dims);
    status = tsr_route_make(&route, plan, dims);
    for (int i = 0; status == TSR_OK && i < route.legs; i++) {
        const tsr_reorder_options options = stage_options(plan, &route, i, dims);
        status = create_stage(&relay->stage[i], &route, &route.leg[i], &options);
        relay->stages = i + 1;
    }
    if (status == TSR_OK && route.zeroes)
        status = create_zeroing(&relay->zeroing, plan, &route, dims);
    return status;
}

static void name_kernels(tsr_relay *relay)
{
    size_t at = 0;
    for (int i = 0; i < relay->stages && at < sizeof relay->kernels; i++)
        at += (size_t)snprintf(relay->kernels + at, sizeof relay->kernels - at, "%s%s", i > 0 ? " + " : "",
                               tsr_plan_get_info(relay->stage[i]).kernel);
}

/* Likewise, as the plan says of itself. */
static int threads_of(const tsr_relay *relay, int threads)
{
    if (relay->stages == 1)
        return tsr_plan_get_info(relay->stage[0]).threads;
    return (int)tsr_max(1, tsr_min(threads, relay->slices / relay->grain));
}

tsr_status tsr_relay_prepare(tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    plan->relay = tsr_allocate_zeroed(&plan->allocator, 1, sizeof *plan->relay);
    tsr_status status = plan->relay ? make_stages(plan->relay, plan) : TSR_OUT_OF_MEMORY;
    if (status != TSR_OK) {
        tsr_relay_free(&plan->relay, &plan->allocator);
        tsr_decline(reason, "one of its steps has no plan");
        return status == TSR_OUT_OF_MEMORY ? status : TSR_UNSUPPORTED;
    }
    name_kernels(plan->relay);
    plan->relay->grain = grain_of(plan->relay, plan);
    plan->row_kernel = plan->relay->kernels;
    plan->row_threads = threads_of(plan->relay, plan->threads);
    return TSR_OK;
}

void tsr_relay_free(tsr_relay **relay, const tsr_allocator *allocator)
{
    if (!*relay)
        return;
    for (int i = 0; i < TSR_LEGS; i++)
        tsr_plan_free(&(*relay)->stage[i]);
    tsr_plan_free(&(*relay)->zeroing);
    tsr_deallocate(allocator, *relay, sizeof **relay);
    *relay = NULL;
}

/* ---- run ---- */

struct relay_job {
    const tsr_plan *plan;
    const char *src;
    char *dst;
    atomic_int status; /* of a slice that was refused */
};

/* With factors of the whole, from an entry on, if it is the stage that has any. */
static tsr_status run_stage(const tsr_plan *plan, const tsr_plan *stage, const void *src, void *dst, int64_t factor)
{
    if (factor == 0 || !stage->factors)
        return tsr_plan_run(stage, src, dst, NULL);
    tsr_plan_run_with_factors(stage, &plan->conversion.arithmetic, factor, src, dst);
    return TSR_OK;
}

static tsr_status run_slice(const struct relay_job *job, int64_t slice, char *room)
{
    const tsr_relay *relay = job->plan->relay;
    const char *src = job->src;
    char *dst = job->dst;
    int64_t factor = 0;
    for (int i = relay->loops - 1; i >= 0; i--) {
        const int64_t k = slice % relay->loop[i].n;
        src += k * relay->loop[i].src;
        dst += k * relay->loop[i].dst;
        factor += k * relay->loop[i].factor;
        slice /= relay->loop[i].n;
    }
    tsr_status status = TSR_OK;
    for (int i = 0; status == TSR_OK && i < relay->stages; i++) {
        char *to = i + 1 == relay->stages ? dst : room + i * NEAR_BYTES;
        status = run_stage(job->plan, relay->stage[i], src, to, factor);
        src = to;
    }
    return status == TSR_OK && relay->zeroing ? tsr_plan_run(relay->zeroing, dst, dst, NULL) : status;
}

static void run_slices(void *argument, int64_t begin, int64_t end)
{
    alignas(TSR_ALIGNMENT) char room[ROOM_BYTES];
    struct relay_job *job = argument;
    for (int64_t slice = begin; slice < end; slice++) {
        tsr_status status = run_slice(job, slice, room);
        if (status != TSR_OK)
            atomic_store(&job->status, (int)status);
    }
}

tsr_status tsr_relay_run(const tsr_plan *plan, const void *src, void *dst, tsr_error *error)
{
    struct relay_job job = {plan, src, dst, TSR_OK};
    tsr_parallel_for(&plan->executor, plan->threads, plan->relay->slices, plan->relay->grain, run_slices, &job);
    const tsr_status status = (tsr_status)atomic_load(&job.status);
    return status == TSR_OK ? TSR_OK : tsr_fail(error, status, "a slice was refused: %s", tsr_status_name(status));
}
