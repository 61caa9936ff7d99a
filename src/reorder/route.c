/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/route.h"

#include <string.h>

#include "base/int.h"
#include "desc/fields.h"
#include "reorder/plan.h"

/* ---- what is moved ---- */

/* So many elements side by side have one factor; or each of them has one, and these are side by side, too. The same few
 * ones again and again have to be spread out, and count less. */
static int64_t elements_of_factors(const tsr_plan *plan, const tsr_desc *side)
{
    enum { LONG = 64, MANY = 512, LESS = 4 };
    int64_t differ = 1, elements;
    int i = side->levels - 1;
    for (; i >= 0 && side->order[i] == plan->factor_axis; i--)
        differ *= side->block_dims[i];
    if (differ >= LONG)
        return MANY;
    for (elements = differ; i >= 0 && side->order[i] != plan->factor_axis; i--)
        elements *= side->block_dims[i];
    return tsr_min(elements, MANY) / (differ > 1 ? LESS : 1);
}

/* To a narrower type, or as elements of 4 bits are unpacked: what is moved is narrow, and of whole bytes. Or if both are
 * as wide, where factors are easier to take. */
bool tsr_route_converts_first(const tsr_plan *plan)
{
    const tsr_conversion *conversion = &plan->conversion;
    const bool is_unpacked = conversion->unpack && !conversion->pack;
    if (conversion->arithmetic.beta != 0)
        return false;
    if (conversion->dst_bytes == conversion->src_bytes && !tsr_is_packed(conversion) && tsr_computes(conversion))
        return elements_of_factors(plan, &plan->src) > elements_of_factors(plan, &plan->dst);
    return tsr_narrows(conversion) || (is_unpacked && conversion->dst_bytes == 1);
}

tsr_dtype tsr_route_type(const tsr_plan *plan)
{
    const tsr_dtype dtype = tsr_route_converts_first(plan) ? plan->dst.dtype : plan->src.dtype;
    return tsr_dtype_unpacked(tsr_dtype_packed(dtype));
}

/* Is there anything to convert on that side? */
static bool converts_at(const tsr_plan *plan, const tsr_desc *side)
{
    const bool computes = tsr_computes(&plan->conversion) && tsr_route_converts_first(plan) == (side == &plan->src);
    return computes || side->dtype != tsr_route_type(plan);
}

/* ---- tensors between: a plain one ---- */

static bool is_plain_axis(const tsr_desc *desc, int axis)
{
    int64_t indices = 1, stride;
    return tsr_find_blocks(desc, axis, &indices, &stride) && indices == 1;
}

static bool is_plain(const tsr_desc *desc)
{
    for (int axis = 0; axis < desc->rank; axis++)
        if (!is_plain_axis(desc, axis))
            return false;
    return true;
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
    return tsr_desc_blocked(plain, tsr_route_type(plan), blocked->rank, dims, &blocking, NULL);
}

/* ---- one with neighbours joined ---- */

/* Does a transpose move whole bytes unchanged? */
static bool is_transposed_copy(const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    return box && box->motion != TSR_MOTION_COPY && box->motion != TSR_MOTION_PICK && plan->conversion.is_copy &&
           !tsr_is_packed(&plan->conversion) && plan->unit == 1 && !plan->lowering.has_tables;
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

/*
 * All or some of a short run along the innermost axis of a side. The other one has runs, too, of so many elements:
 * shorter than a block of the kernels, and one behind the other along that axis. Runs of few elements have kernels,
 * but for shorter runs on the other side.
 */
static tsr_joint joint_of_run(const tsr_plan *plan, const tsr_desc *side, const tsr_desc *plain, int64_t elements)
{
    enum { BLOCK = 16, FEW = 6 };
    const int64_t bytes = plan->conversion.dst_bytes, run = side->block_dims[side->levels - 1];
    tsr_joint joint = {plain, side->order[side->levels - 1], neighbours_in_one(run, bytes), -1};
    int64_t indices = 1, stride = 0;
    tsr_find_blocks(plain, joint.axis, &indices, &stride);
    const bool is_short = elements * bytes < BLOCK && run * bytes < TSR_CACHE_LINE;
    const bool is_window = side->step[joint.axis] != 0;
    const bool gains = run == joint.n || (elements > FEW && elements * bytes > BLOCK / 2);
    const bool are_whole = plain->dims[joint.axis] % joint.n == 0 && plain->levels == plain->rank;
    if (stride != elements || !are_whole || is_window || !is_short || !gains)
        joint.n = 1;
    return joint;
}

static bool begins_with_padding(const tsr_desc *desc)
{
    for (int i = 0; i < desc->levels; i++)
        if (desc->pad_before[i] != 0)
            return true;
    return false;
}

/* Is it a small block of a side's two innermost levels, that a kernel turns around where it lies? */
static bool ends_with_small_block(const tsr_desc *side, int64_t bytes)
{
    const int last = side->levels - 1;
    return last > 0 && side->order[last] != side->order[last - 1] && side->strides[last] == 1 &&
           side->strides[last - 1] == side->block_dims[last] &&
           side->block_dims[last] * side->block_dims[last - 1] * bytes <= TSR_CACHE_LINE;
}

/* How far neighbours along an axis are from each other. */
static int64_t innermost_stride(const tsr_desc *side, int axis)
{
    int i = side->levels - 1;
    while (side->order[i] != axis)
        i--;
    return side->strides[i];
}

/*
 * Small blocks of one side, whose outer level is innermost on the other one, but whose inner one is far apart there: they
 * are turned around, so that their columns, which a kernel would take apart into as many short runs, are one element each.
 * Kernels join these sooner: it takes columns in different lines to be worth it.
 */
static tsr_joint joint_of_columns(const tsr_plan *plan, const tsr_desc *blocked, const tsr_desc *other)
{
    const int64_t bytes = plan->conversion.dst_bytes;
    const int last = other->levels - 1, axis = other->order[last], inner = blocked->order[blocked->levels - 1];
    tsr_joint joint = {blocked, axis, 1, inner};
    if (!ends_with_small_block(blocked, bytes) || blocked->order[blocked->levels - 2] != axis ||
        other->strides[last] != 1)
        return joint;
    const int64_t n = blocked->block_dims[blocked->levels - 2], columns = blocked->block_dims[blocked->levels - 1];
    const int64_t apart = innermost_stride(other, inner), span = (columns - 1) * apart + n;
    const bool are_far = (blocked == &plan->src ? span - 1 : apart) * bytes >= TSR_CACHE_LINE;
    const bool are_whole = other->dims[axis] % n == 0 && other->block_dims[last] % n == 0;
    const bool is_window = (blocked->step[axis] | other->step[axis] | blocked->step[inner]) != 0;
    const bool may_be_turned =
        blocked == &plan->src || plan->padding == TSR_PADDING_ZERO || blocked->dims[inner] % columns == 0;
    if (are_far && are_whole && may_be_turned && !is_window && !begins_with_padding(blocked) &&
        (n * bytes == 4 || n * bytes == 8))
        joint.n = n;
    return joint;
}

static tsr_joint find_joint(const tsr_plan *plan)
{
    const tsr_desc *src = &plan->src, *dst = &plan->dst;
    tsr_joint joint = {.n = 1, .turned = -1};
    if (!is_transposed_copy(plan))
        return joint;
    if (is_plain(src))
        joint = joint_of_run(plan, dst, src, plan->principal->row.loop[0].n);
    if (joint.n == 1 && is_plain(dst))
        joint = joint_of_run(plan, src, dst, plan->principal->column.loop[0].n);
    if (joint.n == 1)
        joint = joint_of_columns(plan, src, dst);
    if (joint.n == 1)
        joint = joint_of_columns(plan, dst, src);
    return joint;
}

/* ---- one like a side ---- */

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
            block_dims[i] = tsr_ceil_div(dims[axis], tsr_indices_of_blocks(side, axis));
        seen |= 1U << axis;
    }
    const tsr_blocking blocking = {.levels = side->levels, .block_dims = block_dims, .order = order};
    return tsr_desc_blocked(made, tsr_route_type(plan), side->rank, dims, &blocking, NULL);
}

/* And with the neighbours of a joint side by side. */
static tsr_status make_joined(tsr_desc *made, const tsr_plan *plan, const tsr_joint *joint, const int64_t *dims)
{
    int order[TSR_MAX_LEVELS + 1];
    int64_t block_dims[TSR_MAX_LEVELS + 1];
    tsr_desc like;
    tsr_status status = make_like(&like, plan, joint->other, dims);
    if (status != TSR_OK)
        return status;
    int levels = like.levels, innermost = 0;
    for (int i = 0; i < levels; i++) {
        order[i] = like.order[i];
        block_dims[i] = like.block_dims[i];
        innermost = order[i] == joint->axis ? i : innermost;
    }
    block_dims[innermost] /= joint->n;
    order[levels] = joint->axis;
    block_dims[levels++] = joint->n;
    const tsr_blocking blocking = {.levels = levels, .block_dims = block_dims, .order = order};
    return tsr_desc_blocked(made, like.dtype, like.rank, dims, &blocking, NULL);
}

/* Are both laid out alike, whatever their types? */
static bool is_like(const tsr_desc *side, const tsr_desc *other)
{
    tsr_desc typed = *other;
    typed.dtype = side->dtype;
    return tsr_desc_equal(side, &typed);
}

/* Is one side blocked as the other, and dense? */
static bool elements_stay(const tsr_plan *plan)
{
    tsr_desc like;
    return (make_like(&like, plan, &plan->dst, plan->dst.dims) == TSR_OK && is_like(&plan->src, &like)) ||
           (make_like(&like, plan, &plan->src, plan->src.dims) == TSR_OK && is_like(&plan->dst, &like));
}

/* Are there few channels among much padding, and neighbours on both sides? Pixels are better rows than these then. */
static bool has_few_among_padding(const tsr_plan *plan)
{
    enum { FEW = 8 };
    const tsr_box *box = plan->principal;
    const int64_t padded = tsr_max(tsr_desc_padded_elements(&plan->src), tsr_desc_padded_elements(&plan->dst));
    const bool is_padded = padded / 2 >= tsr_desc_elements(&plan->dst);
    tsr_desc plain;
    if (!box || box->motion != TSR_MOTION_COPY || box->column.n >= FEW || !is_padded || plan->conversion.pack)
        return false;
    return make_plain(&plain, plan, plan->dst.dims) == TSR_OK && !is_like(&plan->src, &plain) &&
           !is_like(&plan->dst, &plain);
}

/* ---- one like the plain side, with whole blocks ---- */

/* The axis of a side's innermost blocks, if it has a few of them at most and indices are left that do not fill one, so that
 * rows or columns of a transpose end with padding; or -1. */
static int axis_of_parts(const tsr_desc *side, const tsr_desc *plain)
{
    enum { FEW_BLOCKS = 6 };
    const int axis = side->order[side->levels - 1];
    const int64_t block = side->block_dims[side->levels - 1];
    const bool is_block = tsr_indices_of_blocks(side, axis) >= block && side->step[axis] == 0;
    const bool has_few = side->dims[axis] / block < FEW_BLOCKS, is_whole = side->dims[axis] % block == 0;
    return is_plain(plain) && is_block && has_few && !is_whole && !begins_with_padding(side) ? axis : -1;
}

/* In the source: what is moved of its padding may be anything, and is not copied on from there. */
static bool has_parts_at_src(const tsr_plan *plan)
{
    const tsr_conversion *conversion = &plan->conversion;
    return !(tsr_computes(conversion) && tsr_route_converts_first(plan)) && axis_of_parts(&plan->src, &plan->dst) >= 0;
}

/* In the destination: zeros are moved with the elements, and have to stay zeros on the way. Pixels that are dense are moved
 * with zeros anyway. */
static bool has_parts_at_dst(const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    const bool stay_zeros = !tsr_computes(&plan->conversion) || tsr_route_converts_first(plan);
    const bool are_pixels = tsr_is_padded_transpose(box) && box->is_dense;
    return stay_zeros && !are_pixels && plan->padding == TSR_PADDING_ZERO && axis_of_parts(&plan->dst, &plan->src) >= 0;
}

static bool has_parts(const tsr_plan *plan)
{
    if (!plan->principal || plan->principal->motion == TSR_MOTION_COPY)
        return false;
    if (tsr_is_packed(&plan->conversion) || plan->conversion.arithmetic.beta != 0)
        return false;
    return has_parts_at_src(plan) || has_parts_at_dst(plan);
}

/* ---- all together ---- */

static tsr_purpose find_purpose(const tsr_plan *plan, const tsr_joint *joint)
{
    if (plan->lowering.has_tables)
        return is_plain(&plan->src) || is_plain(&plan->dst) ? TSR_FOR_NOTHING : TSR_BY_PLAIN;
    if (joint->n > 1)
        return TSR_BY_JOINED;
    if (has_parts(plan))
        return TSR_BY_PADDED;
    if (tsr_is_straight(&plan->conversion))
        return TSR_FOR_NOTHING;
    if (has_few_among_padding(plan))
        return TSR_BY_PIXELS;
    return begins_with_padding(&plan->src) || begins_with_padding(&plan->dst) ? TSR_FOR_NOTHING : TSR_APART;
}

/* ---- legs ---- */

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

/*
 * What lies in the padding of the source may be anything. That of the destination is zero before it is converted, if it
 * comes from a tensor between, and still is if there is no arithmetic.
 */
static tsr_status add_legs_apart(tsr_route *route, const tsr_plan *plan, const tsr_desc *src, const tsr_desc *dst,
                                 const tsr_slice *slice)
{
    const bool computes = tsr_computes(&plan->conversion), first = tsr_route_converts_first(plan);
    const bool stay = elements_stay(plan), at_src = !stay && converts_at(plan, &plan->src),
               at_dst = stay || converts_at(plan, &plan->dst);
    tsr_desc from = *src, to = *dst;
    tsr_status status = at_src ? make_like(&from, plan, &plan->src, slice->dims) : TSR_OK;
    if (status == TSR_OK && at_dst && !stay)
        status = make_like(&to, plan, &plan->dst, slice->dims);
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
    route->zeroes = last->widened && (last->computes || stay);
    return TSR_OK;
}

/* So many indices of the innermost axis, and the padding that its innermost blocks have with them. */
static int64_t in_whole_blocks(const tsr_desc *blocked, int64_t n)
{
    const int64_t block = blocked->block_dims[blocked->levels - 1];
    return tsr_ceil_div(n, block) * block;
}

/* By a tensor like the plain side that has whole blocks of that axis: as if all were elements on the side of the blocks, and
 * only the elements on the other one. */
static tsr_status add_padded_legs(tsr_route *route, const tsr_plan *plan, const tsr_desc *src, const tsr_desc *dst,
                                  const tsr_slice *slice)
{
    const bool at_src = has_parts_at_src(plan), computes = tsr_computes(&plan->conversion);
    const tsr_desc *blocked = at_src ? src : dst;
    const int axis = blocked->order[blocked->levels - 1];
    tsr_desc whole = *blocked, between, elements;
    whole.dims[axis] = in_whole_blocks(blocked, slice->dims[axis]);
    tsr_status status = make_like(&between, plan, at_src ? &plan->dst : &plan->src, whole.dims);
    if (status != TSR_OK)
        return status;
    elements = between;
    elements.dims[axis] = slice->dims[axis];
    if (at_src) {
        add_leg(route, &whole, &between, false);
        add_leg(route, &elements, dst, computes);
    } else {
        add_leg(route, src, &elements, computes);
        add_leg(route, &between, &whole, false);
    }
    return TSR_OK;
}

/* Of blocks that are turned around, the padding is moved there and back, but not from or to the other side. */
static tsr_status add_joined_legs(tsr_route *route, const tsr_plan *plan, const tsr_desc *src, const tsr_desc *dst,
                                  const tsr_slice *slice)
{
    const int turned = route->joint.turned;
    const bool at_src = route->joint.other == &plan->src;
    tsr_desc whole = at_src ? *src : *dst, between, elements;
    if (turned >= 0)
        whole.dims[turned] = in_whole_blocks(&whole, whole.dims[turned]);
    tsr_status status = make_joined(&between, plan, &route->joint, whole.dims);
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
static tsr_desc part_of(const tsr_desc *side, const tsr_slice *slice)
{
    tsr_desc part = *side;
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
    const bool computes = tsr_computes(&plan->conversion), first = tsr_route_converts_first(plan);
    tsr_desc src = part_of(&plan->src, slice), between, dst = part_of(&plan->dst, slice);
    route->joint = find_joint(plan);
    route->purpose = find_purpose(plan, &route->joint);
    route->legs = 0;
    route->zeroes = false;
    if (route->purpose == TSR_FOR_NOTHING)
        return TSR_OK;
    if (route->purpose == TSR_APART)
        return add_legs_apart(route, plan, &src, &dst, slice);
    if (route->purpose == TSR_BY_PADDED)
        return add_padded_legs(route, plan, &src, &dst, slice);
    if (route->purpose == TSR_BY_JOINED)
        return add_joined_legs(route, plan, &src, &dst, slice);
    tsr_status status = make_plain(&between, plan, slice->dims);
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

int64_t tsr_route_part(const tsr_route *route, const tsr_plan *plan, int axis)
{
    int64_t src, dst;
    if (!can_cut(&plan->src, axis, &src) || !can_cut(&plan->dst, axis, &dst))
        return 0;
    const int64_t joined = axis == route->joint.axis ? route->joint.n : 1;
    return common_multiple(common_multiple(src, dst, plan->dst.dims[axis]), joined, plan->dst.dims[axis]);
}
