/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/route.h"

#include <math.h>
#include <string.h>

#include "base/int.h"
#include "desc/fields.h"
#include "reorder/between.h"
#include "reorder/plan.h"

/* ---- legs ---- */

/* Is there anything to convert on that side? */
static bool converts_at(const tsr_plan *plan, const tsr_desc *side)
{
    const bool computes = tsr_computes(&plan->conversion) && tsr_between_is_converted(plan) == (side == &plan->src);
    return computes || side->dtype != tsr_between_type(plan);
}

/* Is one side blocked as the other, and dense? */
static bool elements_stay(const tsr_plan *plan)
{
    tsr_desc like;
    return (tsr_between_like(&like, plan, &plan->dst, plan->dst.dims) == TSR_OK && tsr_is_like(&plan->src, &like)) ||
           (tsr_between_like(&like, plan, &plan->src, plan->src.dims) == TSR_OK && tsr_is_like(&plan->dst, &like));
}

static tsr_leg *add_leg(tsr_route *route, const tsr_desc *src, const tsr_desc *dst, bool computes)
{
    tsr_leg *leg = &route->leg[route->legs++];
    leg->src = *src;
    leg->dst = *dst;
    leg->computes = computes;
    leg->converts = computes || src->dtype != dst->dtype;
    leg->widened = false;
    return leg;
}

/* Lets axes have all indices of their blocks, unless there is a window. */
static bool widen(tsr_desc *desc)
{
    for (int axis = 0; axis < desc->rank; axis++) {
        if (desc->step[axis] != 0)
            return false;
        desc->dims[axis] = tsr_padded_dim(desc, axis);
    }
    return true;
}

static bool have_same_dims(const tsr_desc *a, const tsr_desc *b)
{
    return memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0;
}

/* Where elements stay, padding does too, and is converted with them, so that lines are longer. */
static void widen_leg(tsr_leg *leg, const tsr_plan *plan, const tsr_slice *slice)
{
    tsr_desc src = leg->src, dst = leg->dst;
    const int axis = plan->factor_axis;
    if (!widen(&src) || !widen(&dst) || !have_same_dims(&src, &dst))
        return;
    if (leg->computes && axis >= 0 && slice->first[axis] + dst.dims[axis] > plan->factor_room)
        return;
    leg->widened = !have_same_dims(&src, &leg->src);
    leg->src = src;
    leg->dst = dst;
}

/* Is all padding behind the axis that has factors, where these do nothing? */
static bool is_padded_by_factors_alone(const tsr_plan *plan)
{
    for (int axis = 0; axis < plan->dst.rank; axis++)
        if (axis != plan->factor_axis && tsr_padded_dim(&plan->dst, axis) > plan->dst.dims[axis])
            return false;
    return true;
}

/* Does a zero in the padding stay one, also in its sign, whatever is computed? That is asked in f32 alone. */
static bool keeps_zeros(const tsr_plan *plan)
{
    const tsr_conversion *conversion = &plan->conversion;
    const tsr_arithmetic *arithmetic = &conversion->arithmetic;
    bool keeps = true;
    if (!tsr_computes(conversion))
        return true;
    if (arithmetic->beta != 0 || conversion->affine != plan->kernels.affine)
        return false;
    if (is_padded_by_factors_alone(plan))
        return true;
    for (int64_t i = 0; keeps && i < plan->factor_count; i++) {
        const float x = (0.0f - arithmetic->mean[i]) * arithmetic->scale[i] + arithmetic->shift[i];
        keeps = x == 0 && !signbit(x);
    }
    return keeps;
}

/*
 * What lies in the padding of the source may be anything. That of the destination is zero before it is converted, if it
 * comes from a tensor between, and may not be afterwards, if there is arithmetic.
 */
static tsr_status add_legs_apart(tsr_route *route, const tsr_plan *plan, const tsr_desc *src, const tsr_desc *dst,
                                 const tsr_slice *slice)
{
    const bool computes = tsr_computes(&plan->conversion), first = tsr_between_is_converted(plan);
    const bool stay = elements_stay(plan), at_src = !stay && converts_at(plan, &plan->src),
               at_dst = stay || converts_at(plan, &plan->dst);
    tsr_desc from = *src, to = *dst;
    tsr_status status = at_src ? tsr_between_like(&from, plan, &plan->src, slice->dims) : TSR_OK;
    if (status == TSR_OK && at_dst && !stay)
        status = tsr_between_like(&to, plan, &plan->dst, slice->dims);
    if (status != TSR_OK)
        return status;
    if (at_src)
        widen_leg(add_leg(route, src, &from, computes && first), plan, slice);
    if (!stay)
        add_leg(route, &from, &to, false);
    if (!at_dst)
        return TSR_OK;
    tsr_leg *last = add_leg(route, stay ? src : &to, dst, computes && (stay || !first));
    if (plan->padding == TSR_PADDING_ZERO)
        widen_leg(last, plan, slice);
    route->zeroes = last->widened && (stay || !keeps_zeros(plan));
    return TSR_OK;
}

/* So many indices of the innermost axis, and the padding that its innermost blocks have with them. */
static int64_t in_whole_blocks(const tsr_desc *blocked, int64_t n)
{
    const int64_t block = blocked->block_dims[blocked->levels - 1];
    return tsr_ceil_div(n, block) * block;
}

/* The side whose innermost blocks are moved as a whole. */
static const tsr_desc *blocks_of(const tsr_route *route, const tsr_plan *plan)
{
    if (route->purpose == TSR_BY_JOINED)
        return route->joint.other;
    return tsr_has_parts_at_src(plan) ? &plan->src : &plan->dst;
}

/* By a tensor between that has the whole innermost blocks of a side: from or to that one, these are moved with their
 * padding; from or to the other one, elements alone are. Runs that are joined have no padding. */
static tsr_status add_legs_of_blocks(tsr_route *route, const tsr_plan *plan, const tsr_desc *src, const tsr_desc *dst,
                                     const tsr_slice *slice)
{
    const bool is_joined = route->purpose == TSR_BY_JOINED, at_src = blocks_of(route, plan) == &plan->src;
    tsr_desc whole = at_src ? *src : *dst, between, elements;
    const int axis = whole.order[whole.levels - 1];
    if (!is_joined || route->joint.is_turned)
        whole.dims[axis] = in_whole_blocks(&whole, whole.dims[axis]);
    const tsr_desc *like = is_joined ? route->joint.other : at_src ? &plan->dst : &plan->src;
    tsr_status status = tsr_between_like(&between, plan, like, whole.dims);
    if (status == TSR_OK)
        status = tsr_between_join(&between, &route->joint);
    if (status != TSR_OK)
        return status;
    elements = between;
    memcpy(elements.dims, slice->dims, sizeof elements.dims);
    add_leg(route, at_src ? &whole : src, at_src ? &between : &elements, false);
    add_leg(route, at_src ? &elements : &between, at_src ? dst : &whole, false);
    return TSR_OK;
}

tsr_slice tsr_slice_of_all(const tsr_plan *plan)
{
    tsr_slice all = {0};
    memcpy(all.dims, plan->dst.dims, sizeof all.dims);
    return all;
}

/* A side, as far as it belongs to a slice. */
static tsr_desc part_of(const tsr_plan *plan, const tsr_desc *side, const tsr_slice *slice)
{
    tsr_desc part = *side;
    if (plan->conversion.is_copy)
        part.dtype = tsr_dtype_packed(side->dtype);
    for (int axis = 0; axis < side->rank; axis++) {
        const int64_t first = slice->first[axis], n = slice->dims[axis], indices = tsr_indices_of_blocks(side, axis);
        int outermost = 0;
        if (n == side->dims[axis])
            continue;
        while (side->order[outermost] != axis)
            outermost++;
        part.dims[axis] = n;
        part.block_dims[outermost] =
            first + n == side->dims[axis] ? side->block_dims[outermost] - first / indices : n / indices;
    }
    return part;
}

tsr_status tsr_route_make(tsr_route *route, const tsr_plan *plan, const tsr_slice *slice)
{
    const bool computes = tsr_computes(&plan->conversion), first = tsr_between_is_converted(plan);
    tsr_desc src = part_of(plan, &plan->src, slice), between, dst = part_of(plan, &plan->dst, slice);
    route->purpose = tsr_purpose_find(plan, &route->joint);
    route->legs = 0;
    route->zeroes = false;
    if (route->purpose == TSR_FOR_NOTHING)
        return TSR_OK;
    if (route->purpose == TSR_APART)
        return add_legs_apart(route, plan, &src, &dst, slice);
    if (route->purpose == TSR_BY_PADDED || route->purpose == TSR_BY_JOINED)
        return add_legs_of_blocks(route, plan, &src, &dst, slice);
    tsr_status status = route->purpose == TSR_BY_ROWS ? tsr_between_like(&between, plan, &plan->dst, slice->dims)
                                                      : tsr_between_plain(&between, plan, plan->plain, slice->dims);
    if (status == TSR_OK)
        status = tsr_between_join(&between, &route->joint);
    if (status == TSR_OK) {
        add_leg(route, &src, &between, computes && first);
        add_leg(route, &between, &dst, computes && !first);
    }
    return status;
}

int64_t tsr_route_bytes(const tsr_route *route)
{
    int64_t most = 0;
    for (int i = 1; i < route->legs; i++)
        most = tsr_max(most, tsr_desc_size_bytes(&route->leg[i].src));
    for (int i = 0; i + 1 < route->legs; i++)
        most = tsr_max(most, tsr_desc_size_bytes(&route->leg[i].dst));
    return most;
}

/* Can an axis of a side be cut between its blocks? Tells how many indices they have. */
static bool can_cut(const tsr_desc *side, int axis, int64_t *indices)
{
    *indices = tsr_indices_of_blocks(side, axis);
    for (int i = 0; i < side->levels; i++)
        if (side->order[i] == axis && side->pad_before[i] != 0)
            return false;
    return side->step[axis] == 0;
}

/* The least common multiple of a and b > 0, unless it is above `most`, or a is 0: then 0. */
static int64_t common_multiple(int64_t a, int64_t b, int64_t most)
{
    const int64_t times = a / tsr_gcd(tsr_max(a, 1), b);
    return times <= most / b ? times * b : 0;
}

/* Is it the axis whose blocks are filled? A part of it would be whole blocks, or what is left alone, and gain nothing.
 * But of long blocks, pixels would leave slices no room for lines. */
static bool is_filled(const tsr_route *route, const tsr_plan *plan, int axis)
{
    if (route->purpose != TSR_BY_PADDED)
        return false;
    const tsr_desc *side = blocks_of(route, plan);
    const int innermost = side->levels - 1;
    return axis == side->order[innermost] && side->block_dims[innermost] * plan->conversion.dst_bytes <= TSR_CACHE_LINE;
}

int64_t tsr_route_part(const tsr_route *route, const tsr_plan *plan, int axis)
{
    int64_t src, dst;
    if (is_filled(route, plan, axis))
        return 0;
    if (!can_cut(&plan->src, axis, &src) || !can_cut(&plan->dst, axis, &dst))
        return 0;
    const int64_t joined = axis == route->joint.axis ? route->joint.n : 1;
    return common_multiple(common_multiple(src, dst, plan->dst.dims[axis]), joined, plan->dst.dims[axis]);
}
