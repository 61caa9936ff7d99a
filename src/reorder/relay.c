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

/* What is between, of a slice, is on the stack; and where its reorders are fast, each tensor in the first-level cache. */
enum { PLAIN_BYTES = 64 << 10, NEAR_BYTES = 32 << 10 };

/* ---- what is plain ---- */

/*
 * How far apart the outermost blocks of an axis are, and the indices of each, 1 where it has no blocks; false where
 * blocks hold more indices than there are, or a window shows others than all.
 */
static bool find_blocks(const tsr_desc *desc, int axis, int64_t *indices, int64_t *stride)
{
    int64_t covered = 1;
    for (int i = desc->levels - 1; i >= 0; i--) {
        if (desc->order[i] != axis)
            continue;
        *indices = covered;
        *stride = desc->strides[i];
        covered *= desc->block_dims[i];
    }
    return covered == desc->dims[axis] && desc->step[axis] == 0;
}

/* The indices of each of its outermost blocks, padding included. */
static int64_t indices_of_blocks(const tsr_desc *desc, int axis)
{
    int64_t indices = 1, stride;
    find_blocks(desc, axis, &indices, &stride);
    return indices;
}

static bool is_plain_axis(const tsr_desc *desc, int axis)
{
    int64_t indices = 1, stride;
    return find_blocks(desc, axis, &indices, &stride) && indices == 1;
}

static bool is_plain(const tsr_desc *desc)
{
    for (int axis = 0; axis < desc->rank; axis++)
        if (!is_plain_axis(desc, axis))
            return false;
    return true;
}

/* ---- what is moved ---- */

/* Elements of 4 bits are bytes between. Of those that are not converted nothing is known, but that they are 4 bits. */
static tsr_dtype unpacked(tsr_dtype dtype)
{
    if (tsr_dtype_bits(dtype) != 4)
        return dtype;
    return dtype == TSR_S4 ? TSR_S8 : TSR_U8;
}

/* Such a type as converters have it. */
static tsr_dtype seen_as(tsr_dtype dtype)
{
    return tsr_dtype_bits(dtype) == 4 && dtype != TSR_S4 ? TSR_U4 : dtype;
}

/* The narrower type is the one that is stored between. */
static bool converts_first(const tsr_plan *plan)
{
    const tsr_conversion *conversion = &plan->conversion;
    const bool is_unpacked = conversion->unpack && !conversion->pack;
    return conversion->arithmetic.beta == 0 &&
           (conversion->dst_bytes < conversion->src_bytes || (is_unpacked && conversion->dst_bytes == 1));
}

static tsr_dtype type_between(const tsr_plan *plan)
{
    return unpacked(converts_first(plan) ? plan->dst.dtype : plan->src.dtype);
}

static bool has_arithmetic(const tsr_plan *plan)
{
    return plan->conversion.stage != TSR_NO_ARITHMETIC;
}

/* Is there anything to convert on that side? */
static bool converts_at(const tsr_plan *plan, const tsr_desc *side)
{
    const bool computes = has_arithmetic(plan) && converts_first(plan) == (side == &plan->src);
    return computes || side->dtype != type_between(plan);
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

/* Dense, and blocked as that side is, so that elements are converted where they lie. */
static tsr_status make_like(tsr_desc *made, const tsr_plan *plan, const tsr_desc *side, const int64_t *dims)
{
    int order[TSR_MAX_LEVELS];
    int64_t block_dims[TSR_MAX_LEVELS];
    uint32_t seen = 0;
    for (int i = 0; i < side->levels; i++) {
        const int axis = order[i] = side->order[i];
        block_dims[i] = side->block_dims[i];
        if (!(seen >> axis & 1))
            block_dims[i] = tsr_ceil_div(dims[axis], indices_of_blocks(side, axis));
        seen |= 1U << axis;
    }
    const tsr_blocking blocking = {.levels = side->levels, .block_dims = block_dims, .order = order};
    return tsr_desc_blocked(made, type_between(plan), side->rank, dims, &blocking, NULL);
}

/* Does a transpose move whole bytes unchanged? */
static bool is_transposed_copy(const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    return box && box->motion != TSR_MOTION_COPY && box->motion != TSR_MOTION_PICK && plan->conversion.is_copy &&
           !plan->conversion.unpack && !plan->conversion.pack && plan->unit == 1 && !plan->lowering.has_tables;
}

/* As many of n neighbours as are an element of 4 bytes, or if these are too few, of 8; 1 if there are none. */
static int64_t neighbours_in_one(int64_t n, int64_t bytes)
{
    const int64_t widest = bytes < 4 ? 4 : 8;
    int64_t joined = tsr_max(1, widest / bytes);
    while (joined > 1 && n % joined != 0)
        joined /= 2;
    return joined;
}

/* Some neighbours along an axis of one side, which become one wider element while the other side, a plain one, is moved
 * to or from the tensor between. */
struct joint {
    const tsr_desc *plain;
    int axis;
    int64_t n; /* 1: none */
};

/*
 * All or some of a short run along the innermost axis of a side. The other one has runs, too, of so many elements:
 * shorter than a block of the kernels, and one behind the other along that axis. Runs of few elements have kernels,
 * but for shorter runs on the other side.
 */
static struct joint joint_of(const tsr_plan *plan, const tsr_desc *side, const tsr_desc *plain, int64_t elements)
{
    enum { BLOCK = 16, FEW = 6 };
    const int64_t bytes = plan->conversion.dst_bytes, run = side->block_dims[side->levels - 1];
    struct joint joint = {plain, side->order[side->levels - 1], neighbours_in_one(run, bytes)};
    int64_t indices = 1, stride = 0;
    find_blocks(plain, joint.axis, &indices, &stride);
    const bool is_short = elements * bytes < BLOCK && run * bytes < TSR_CACHE_LINE;
    const bool is_window = side->step[joint.axis] != 0;
    const bool gains = run == joint.n || (elements > FEW && elements * bytes > BLOCK / 2);
    const bool are_whole = plain->dims[joint.axis] % joint.n == 0 && plain->levels == plain->rank;
    if (stride != elements || !are_whole || is_window || !is_short || !gains)
        joint.n = 1;
    return joint;
}

static struct joint find_joint(const tsr_plan *plan)
{
    const tsr_desc *src = &plan->src, *dst = &plan->dst;
    struct joint joint = {.n = 1};
    if (!is_transposed_copy(plan))
        return joint;
    if (is_plain(src))
        joint = joint_of(plan, dst, src, plan->principal->row.loop[0].n);
    if (joint.n == 1 && is_plain(dst))
        joint = joint_of(plan, src, dst, plan->principal->column.loop[0].n);
    return joint;
}

static bool has_joint(const tsr_plan *plan)
{
    return find_joint(plan).n > 1;
}

/* Dense, in the order of the plain side, but with those neighbours side by side. */
static tsr_status make_joined(tsr_desc *made, const tsr_plan *plan, const int64_t *dims)
{
    const struct joint joint = find_joint(plan);
    const tsr_desc *plain = joint.plain;
    int order[TSR_MAX_LEVELS + 1];
    int64_t block_dims[TSR_MAX_LEVELS + 1];
    for (int i = 0; i < plain->levels; i++) {
        order[i] = plain->order[i];
        block_dims[i] = order[i] == joint.axis ? dims[joint.axis] / joint.n : dims[order[i]];
    }
    order[plain->levels] = joint.axis;
    block_dims[plain->levels] = joint.n;
    const tsr_blocking blocking = {.levels = plain->levels + 1, .block_dims = block_dims, .order = order};
    return tsr_desc_blocked(made, plain->dtype, plain->rank, dims, &blocking, NULL);
}

/* Is a side as the plain tensor would be, whatever their types? */
static bool is_like(const tsr_desc *side, const tsr_desc *plain)
{
    tsr_desc typed = *plain;
    typed.dtype = side->dtype;
    return tsr_desc_equal(side, &typed);
}

/* What a relay gains by. */
typedef enum purpose { NOTHING, BY_PLAIN, BY_JOINED, APART } purpose;

/* Is moving and converting two things, to be done one after the other? Only where elements do not stay where they are. */
static bool may_convert_apart(const tsr_plan *plan)
{
    tsr_desc like;
    if (plan->lowering.has_tables || tsr_is_straight(&plan->conversion))
        return false;
    return make_like(&like, plan, &plan->dst, plan->dst.dims) == TSR_OK && !is_like(&plan->src, &like) &&
           make_like(&like, plan, &plan->src, plan->src.dims) == TSR_OK && !is_like(&plan->dst, &like);
}

static purpose purpose_of(const tsr_plan *plan)
{
    if (plan->lowering.has_tables)
        return is_plain(&plan->src) || is_plain(&plan->dst) ? NOTHING : BY_PLAIN;
    if (has_joint(plan))
        return BY_JOINED;
    return may_convert_apart(plan) ? APART : NOTHING;
}

/* ---- legs ---- */

/* From one tensor to the next. */
struct leg {
    tsr_desc src, dst;
    bool computes;   /* it has the arithmetic */
    bool stays;      /* elements stay where they are, and are converted */
};

enum { MOST_LEGS = 3 };

struct route {
    int legs;
    struct leg leg[MOST_LEGS];
};

static void add_leg(struct route *route, const tsr_desc *src, const tsr_desc *dst, bool computes, bool stays)
{
    route->leg[route->legs++] = (struct leg){*src, *dst, computes, stays};
}

/* Lets an axis have all indices of its blocks. */
static bool widen(tsr_desc *desc)
{
    bool is_widened = true;
    for (int axis = 0; axis < desc->rank; axis++) {
        int64_t covered = 1;
        for (int i = 0; i < desc->levels; i++)
            covered *= desc->order[i] == axis ? desc->block_dims[i] : 1;
        for (int i = 0; i < desc->levels; i++)
            is_widened = is_widened && desc->pad_before[i] == 0;
        is_widened = is_widened && desc->step[axis] == 0;
        desc->dims[axis] = covered;
    }
    return is_widened;
}

/*
 * Where elements stay, and padding with them, it is converted, too, so that lines are longer. Of the source it may be anything; in the
 * destination it has to be zero again.
 */
static void widen_leg(struct leg *leg, const tsr_plan *plan, bool is_last)
{
    tsr_desc src = leg->src, dst = leg->dst;
    if (is_last && (plan->padding == TSR_PADDING_KEEP || leg->computes))
        return;
    if (!widen(&src) || !widen(&dst) || memcmp(src.dims, dst.dims, sizeof src.dims) != 0)
        return;
    if (leg->computes && plan->factor_axis >= 0 && src.dims[plan->factor_axis] != leg->src.dims[plan->factor_axis])
        return;
    leg->src = src;
    leg->dst = dst;
}

static tsr_status add_legs_apart(struct route *route, const tsr_plan *plan, const tsr_desc *src, const tsr_desc *dst, const int64_t *dims)
{
    const bool computes = has_arithmetic(plan), first = converts_first(plan);
    tsr_desc from = *src, to = *dst;
    tsr_status status = TSR_OK;
    if (converts_at(plan, &plan->src)) {
        status = make_like(&from, plan, &plan->src, dims);
        if (status == TSR_OK)
            add_leg(route, src, &from, computes && first, true);
        widen_leg(&route->leg[0], plan, false);
    }
    if (status == TSR_OK && converts_at(plan, &plan->dst))
        status = make_like(&to, plan, &plan->dst, dims);
    if (status != TSR_OK)
        return status;
    add_leg(route, &from, &to, false, false);
    if (converts_at(plan, &plan->dst)) {
        add_leg(route, &to, dst, computes && !first, true);
        widen_leg(&route->leg[route->legs - 1], plan, true);
    }
    return TSR_OK;
}

static tsr_status make_route(struct route *route, const tsr_plan *plan, const int64_t *dims)
{
    const int64_t from_first[TSR_MAX_RANK] = {0};
    const bool computes = has_arithmetic(plan), first = converts_first(plan);
    const purpose purpose = purpose_of(plan);
    tsr_desc src, between, dst;
    *route = (struct route){0};
    tsr_status status = tsr_view_crop(&src, &plan->src, from_first, dims, NULL, NULL);
    if (status == TSR_OK)
        status = tsr_view_crop(&dst, &plan->dst, from_first, dims, NULL, NULL);
    if (status != TSR_OK)
        return status;
    src.dtype = seen_as(src.dtype);
    dst.dtype = seen_as(dst.dtype);
    if (purpose == APART)
        return add_legs_apart(route, plan, &src, &dst, dims);
    status = purpose == BY_JOINED ? make_joined(&between, plan, dims) : make_plain(&between, plan, dims);
    if (status == TSR_OK) {
        add_leg(route, &src, &between, computes && first, false);
        add_leg(route, &between, &dst, computes && !first, false);
    }
    return status;
}

/* Of the largest tensor between. */
static int64_t bytes_between(const struct route *route)
{
    int64_t most = 0;
    for (int i = 1; i < route->legs; i++)
        most = tsr_max(most, tsr_desc_size_bytes(&route->leg[i].src));
    for (int i = 0; i + 1 < route->legs; i++)
        most = tsr_max(most, tsr_desc_size_bytes(&route->leg[i].dst));
    return most;
}

/* ---- slices ---- */

/* Do so many elements end with a whole byte? Tells the bytes. */
static bool are_whole(tsr_dtype dtype, int64_t elements, int64_t *bytes)
{
    const int64_t bits = tsr_dtype_bits(dtype);
    *bytes = elements / 8 * bits + elements % 8 * bits / 8;
    return elements % 8 * bits % 8 == 0;
}

/* The fewest indices of an axis that are whole blocks of both sides, and of neighbours that are joined; 0 if there are
 * none. */
static int64_t least_part(const tsr_plan *plan, int axis)
{
    const struct joint joint = find_joint(plan);
    int64_t src = 1, dst = 1, stride;
    if (!find_blocks(&plan->src, axis, &src, &stride) || !find_blocks(&plan->dst, axis, &dst, &stride))
        return 0;
    const int64_t least = tsr_min(src, dst), most = tsr_max(src, dst), n = axis == joint.axis ? joint.n : 1;
    const int64_t part = tsr_max(most, n);
    return most % least == 0 && part % most == 0 && part % n == 0 ? part : 0;
}

/* How far so many indices of an axis, whole blocks, are from the next ones. */
static int64_t step_of(const tsr_desc *desc, int axis, int64_t kept)
{
    int64_t indices = 1, stride = 0;
    find_blocks(desc, axis, &indices, &stride);
    return kept / indices * stride;
}

/* Do all neighbours along an axis lie side by side? */
static bool is_innermost(const tsr_desc *desc, int axis)
{
    return desc->order[desc->levels - 1] == axis && indices_of_blocks(desc, axis) == 1;
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

static int64_t most_bytes(const tsr_plan *plan)
{
    return purpose_of(plan) == BY_PLAIN ? PLAIN_BYTES : NEAR_BYTES;
}

/* From the outermost level of a side on, until a slice is small. Returns the bytes of what is between, of `bytes`. */
static int64_t cut_along(const tsr_desc *side, tsr_relay *relay, const tsr_plan *plan, int64_t bytes, int64_t dims[TSR_MAX_RANK])
{
    const int64_t most = most_bytes(plan);
    memcpy(dims, side->dims, sizeof side->dims);
    relay->loops = 0;
    relay->slices = 1;
    for (int i = 0; i < side->levels && bytes > most; i++) {
        const int axis = side->order[i];
        const int64_t n = side->dims[axis], part = least_part(plan, axis);
        if (dims[axis] < n || part == 0)
            continue;
        const int64_t kept =
            part * tsr_divisor_below(n / part, (int64_t)((double)most / (double)bytes * (double)n) / part);
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

/* The bytes of a side that slices have side by side. */
static int64_t line_of_slices(const tsr_desc *side, const int64_t dims[TSR_MAX_RANK])
{
    int64_t bytes = (int64_t)tsr_dtype_size_bytes(side->dtype);
    for (int i = side->levels - 1; i >= 0; i--) {
        const int axis = side->order[i];
        bytes *= dims[axis] < side->dims[axis] ? tsr_min(dims[axis], side->block_dims[i]) : side->block_dims[i];
        if (dims[axis] < side->dims[axis])
            break;
    }
    return bytes;
}

/* The dims of a slice, and what a tensor between takes for it, of `bytes`: whichever way leaves longer lines on both sides. */
static int64_t find_slices(tsr_relay *relay, const tsr_plan *plan, int64_t bytes, int64_t dims[TSR_MAX_RANK])
{
    const int64_t of_slice = cut_along(&plan->src, relay, plan, bytes, dims);
    const int64_t line = tsr_min(line_of_slices(&plan->src, dims), line_of_slices(&plan->dst, dims));
    tsr_relay other;
    int64_t other_dims[TSR_MAX_RANK];
    const int64_t of_other = cut_along(&plan->dst, &other, plan, bytes, other_dims);
    if (purpose_of(plan) == APART && tsr_min(line_of_slices(&plan->src, other_dims), line_of_slices(&plan->dst, other_dims)) <= line)
        return of_slice;
    memcpy(relay->loop, other.loop, sizeof relay->loop);
    relay->loops = other.loops;
    relay->slices = other.slices;
    memcpy(dims, other_dims, sizeof other_dims);
    return of_other;
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

bool tsr_relay_applies(const tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    tsr_relay relay;
    struct route route;
    int64_t dims[TSR_MAX_RANK];
    if (purpose_of(plan) == NOTHING && plan->lowering.has_tables)
        return tsr_decline(reason, "one side is plain, and would be the tensor to go by");
    if (purpose_of(plan) == NOTHING)
        return tsr_decline(reason, "the blocks nest, and nothing is gained by two steps");
    if (make_route(&route, plan, plan->dst.dims) != TSR_OK)
        return tsr_decline(reason, "a tensor between would be too large");
    const int64_t bytes = find_slices(&relay, plan, bytes_between(&route), dims), most = most_bytes(plan);
    return bytes <= most ||
           tsr_decline(reason, "the least slice has %lld bytes, expected at most %d", (long long)bytes, (int)most);
}

double tsr_relay_cost(const tsr_plan *plan)
{
    const double of_first_cache = has_joint(plan) ? 0.7 : 1;
    return tsr_cost_of_relay(plan, of_first_cache * tsr_dtype_bits(type_between(plan)) / 8.0);
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

static tsr_reorder_options stage_options(const tsr_plan *plan, const struct leg *leg, const int64_t *dims, bool is_last)
{
    const tsr_arithmetic none = {0}, *arithmetic = leg->computes ? &plan->conversion.arithmetic : &none;
    const bool has_factor_slices =
        plan->factor_axis >= 0 && dims[plan->factor_axis] < plan->dst.dims[plan->factor_axis];
    /* what stays goes no further; and a row that is run with other factors has to be known */
    const bool converts = leg->stays || (leg->computes && has_factor_slices);
    return (tsr_reorder_options){
        .row = converts ? "convert" : NULL,
        .scale = first_factors(plan, arithmetic->scale, dims),
        .mean = first_factors(plan, plan->has_mean ? arithmetic->mean : NULL, dims),
        .shift = first_factors(plan, plan->has_shift ? arithmetic->shift : NULL, dims),
        .beta = arithmetic->beta,
        .padding = is_last ? plan->padding : TSR_PADDING_ZERO,
        .threads = 1,
        .allocator = &plan->allocator,
    };
}

/* What goes this way to be joined goes no further. */
static tsr_status create_stage(tsr_plan **stage, const tsr_plan *plan, const struct leg *leg, const tsr_reorder_options *options)
{
    static const char *const rows[] = {"transpose", "copy"};
    tsr_reorder_options own = *options;
    tsr_status status = TSR_UNSUPPORTED;
    if (purpose_of(plan) != BY_JOINED)
        return tsr_plan_create(stage, &leg->src, &leg->dst, options, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows && status == TSR_UNSUPPORTED; i++) {
        own.row = rows[i];
        status = tsr_plan_create(stage, &leg->src, &leg->dst, &own, NULL);
    }
    return status;
}

static tsr_status make_stages(tsr_relay *relay, const tsr_plan *plan)
{
    int64_t dims[TSR_MAX_RANK];
    struct route route;
    tsr_status status = make_route(&route, plan, plan->dst.dims);
    if (status != TSR_OK)
        return status;
    find_slices(relay, plan, bytes_between(&route), dims);
    status = make_route(&route, plan, dims);
    for (int i = 0; status == TSR_OK && i < route.legs; i++) {
        const tsr_reorder_options options = stage_options(plan, &route.leg[i], dims, i + 1 == route.legs);
        status = create_stage(&relay->stage[i], plan, &route.leg[i], &options);
        relay->stages = i + 1;
    }
    return status;
}

static void name_kernels(tsr_relay *relay)
{
    size_t at = 0;
    for (int i = 0; i < relay->stages && at < sizeof relay->kernels; i++)
        at += (size_t)snprintf(relay->kernels + at, sizeof relay->kernels - at, "%s%s", i > 0 ? " + " : "",
                 tsr_plan_get_info(relay->stage[i]).kernel);
}

tsr_status tsr_relay_prepare(tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    plan->relay = tsr_allocate_zeroed(&plan->allocator, 1, sizeof *plan->relay);
    tsr_status status = plan->relay ? make_stages(plan->relay, plan) : TSR_OUT_OF_MEMORY;
    if (status != TSR_OK) {
        tsr_relay_free(&plan->relay, &plan->allocator);
        tsr_decline(reason, "there is no plan by way of a plain tensor");
        return status == TSR_OUT_OF_MEMORY ? status : TSR_UNSUPPORTED;
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
    for (int i = 0; i < TSR_RELAY_STAGES; i++)
        tsr_plan_free(&(*relay)->stage[i]);
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
    return status;
}

static void run_slices(void *argument, int64_t begin, int64_t end)
{
    alignas(TSR_ALIGNMENT) char room[PLAIN_BYTES];
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
