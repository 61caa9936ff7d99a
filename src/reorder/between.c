/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/between.h"

#include <stdlib.h>

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

bool tsr_between_is_converted(const tsr_plan *plan)
{
    const tsr_conversion *conversion = &plan->conversion;
    const bool is_unpacked = conversion->unpack && !conversion->pack;
    if (conversion->arithmetic.beta != 0)
        return false;
    if (conversion->dst_bytes == conversion->src_bytes && !tsr_is_packed(conversion) && tsr_computes(conversion))
        return elements_of_factors(plan, &plan->src) > elements_of_factors(plan, &plan->dst);
    return tsr_narrows(conversion) || (is_unpacked && conversion->dst_bytes == 1);
}

tsr_dtype tsr_between_type(const tsr_plan *plan)
{
    const tsr_dtype dtype = tsr_between_is_converted(plan) ? plan->dst.dtype : plan->src.dtype;
    if (plan->conversion.is_copy)
        return tsr_dtype_unpacked(tsr_dtype_packed(dtype));
    return dtype == TSR_NF4 ? TSR_F32 : tsr_dtype_unpacked(dtype);
}

/* ---- a plain one ---- */

static bool is_plain_axis(const tsr_desc *desc, int axis)
{
    int64_t indices = 1, stride;
    return tsr_find_blocks(desc, axis, &indices, &stride) && indices == 1;
}

bool tsr_is_plain(const tsr_desc *desc)
{
    for (int axis = 0; axis < desc->rank; axis++)
        if (!is_plain_axis(desc, axis))
            return false;
    return true;
}

/* Is no other level of its axis farther out, or farther in? */
static bool is_last_of_axis(const tsr_desc *desc, int level, bool inwards)
{
    for (int i = inwards ? level + 1 : level - 1; i >= 0 && i < desc->levels; i += inwards ? 1 : -1)
        if (desc->order[i] == desc->order[level])
            return false;
    return true;
}

/* The axis whose neighbours lie closest to each other. */
static int innermost_axis(const tsr_desc *desc)
{
    int innermost = desc->levels - 1;
    int64_t least = INT64_MAX;
    for (int i = 0; i < desc->levels; i++) {
        const int64_t distance = llabs(desc->strides[i]);
        if (desc->block_dims[i] > 1 && distance > 0 && distance < least) {
            least = distance;
            innermost = i;
        }
    }
    return desc->order[innermost];
}

/* Moves an axis behind the others. */
static void move_last(int *axis, int axes, int moved)
{
    int n = 0;
    for (int i = 0; i < axes; i++)
        if (axis[i] != moved)
            axis[n++] = axis[i];
    axis[n] = moved;
}

tsr_status tsr_between_plain(tsr_desc *plain, const tsr_plan *plan, tsr_plain order, const int64_t *dims)
{
    const tsr_desc *blocked = tsr_is_plain(&plan->dst) && order != TSR_PLAIN_KEPT ? &plan->src : &plan->dst;
    const bool inwards = order != TSR_NO_PLAIN && order != TSR_PLAIN_BY_OUTERMOST;
    int axis[TSR_MAX_RANK], axes = 0;
    int64_t block_dims[TSR_MAX_RANK];
    for (int i = 0; i < blocked->levels; i++)
        if (is_last_of_axis(blocked, i, inwards))
            axis[axes++] = blocked->order[i];
    if (order == TSR_PLAIN_TURNED && axes > 1)
        move_last(axis, axes, axis[axes - 2]);
    if (order == TSR_PLAIN_KEPT && axes > 1)
        move_last(axis, axes, innermost_axis(&plan->src));
    for (int i = 0; i < axes; i++)
        block_dims[i] = dims[axis[i]];
    const tsr_blocking blocking = {.levels = axes, .block_dims = block_dims, .order = axis};
    return tsr_desc_blocked(plain, tsr_between_type(plan), blocked->rank, dims, &blocking, NULL);
}

/* ---- one like a side ---- */

bool tsr_is_like(const tsr_desc *side, const tsr_desc *other)
{
    tsr_desc typed = *other;
    typed.dtype = side->dtype;
    return tsr_desc_equal(side, &typed);
}

tsr_status tsr_between_like(tsr_desc *made, const tsr_plan *plan, const tsr_desc *side, const int64_t *dims)
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
    return tsr_desc_blocked(made, tsr_between_type(plan), side->rank, dims, &blocking, NULL);
}

tsr_status tsr_between_join(tsr_desc *between, const tsr_joint *joint)
{
    const tsr_desc apart = *between;
    int order[TSR_MAX_LEVELS + 1], levels = apart.levels, innermost = 0;
    int64_t block_dims[TSR_MAX_LEVELS + 1];
    if (joint->n == 1)
        return TSR_OK;
    for (int i = 0; i < levels; i++) {
        order[i] = apart.order[i];
        block_dims[i] = apart.block_dims[i];
        innermost = order[i] == joint->axis ? i : innermost;
    }
    block_dims[innermost] /= joint->n;
    order[levels] = joint->axis;
    block_dims[levels++] = joint->n;
    const tsr_blocking blocking = {.levels = levels, .block_dims = block_dims, .order = order};
    return tsr_desc_blocked(between, apart.dtype, apart.rank, apart.dims, &blocking, NULL);
}
