/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/purpose.h"

#include <stdlib.h>

#include "base/int.h"
#include "desc/fields.h"
#include "reorder/between.h"
#include "reorder/caches.h"
#include "reorder/lines.h"
#include "reorder/plan.h"
#include "reorder/workshop.h"

/* ---- neighbours that are joined ---- */

/* Does a transpose move whole bytes unchanged? Units of several elements are as wide as joined ones. */
static bool is_transposed_copy(const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    const bool is_transpose =
        box && box->motion != TSR_MOTION_COPY && box->motion != TSR_MOTION_UNPAD && box->motion != TSR_MOTION_PICK;
    return is_transpose && plan->conversion.is_copy && !tsr_is_packed(&plan->conversion) && plan->unit == 1 &&
           !plan->lowering.has_tables;
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
 * All or some of a short run along the innermost axis of a side. The other one has runs, too, of so many elements,
 * shorter than a block of the kernels. Runs of few elements have kernels, but for shorter runs on the other side. Where
 * these are not one behind the other along that axis, all of a run is joined, unless slices, which are cut along the
 * outermost axis of a destination, would cut the runs of a plain source.
 */
static tsr_joint joint_of_run(const tsr_plan *plan, const tsr_desc *side, const tsr_desc *plain, int64_t elements)
{
    enum { BLOCK = 16, FEW = 6 };
    const int64_t bytes = plan->conversion.dst_bytes, run = side->block_dims[side->levels - 1];
    tsr_joint joint = {plain, side->order[side->levels - 1], neighbours_in_one(run, bytes), false};
    int64_t indices = 1, stride = 0;
    tsr_find_blocks(plain, joint.axis, &indices, &stride);
    const bool is_short = elements * bytes < BLOCK && run * bytes < TSR_CACHE_LINE;
    const bool is_window = side->step[joint.axis] != 0;
    const bool follow = stride == elements;
    if (!follow && run * bytes == 8)
        joint.n = run;
    const bool are_cut = side == &plan->dst && side->order[0] == plain->order[plain->levels - 1];
    const bool joins_all = run == joint.n && (follow || !are_cut);
    const bool gains = joins_all || (follow && elements > FEW && elements * bytes > BLOCK / 2);
    const bool are_whole = plain->dims[joint.axis] % joint.n == 0 && plain->levels == plain->rank;
    if (!are_whole || is_window || !is_short || !gains)
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

/* How far neighbours along an axis are from each other, or a page's elements, if they are farther. */
static int64_t distance_of_neighbours(const tsr_desc *side, int axis)
{
    enum { FAR = 4 << 10 };
    int i = side->levels - 1;
    while (side->order[i] != axis)
        i--;
    const int64_t stride = side->strides[i];
    return stride > -FAR && stride < FAR ? llabs(stride) : FAR;
}

/*
 * Are the columns of a small block so far apart on a side that kernels are slow? Those that part it into runs are, as
 * soon as these fill no line; those that join runs, where each of them has lines of its own.
 */
static bool are_far_apart(const tsr_plan *plan, const tsr_desc *side, int axis, int64_t columns, int64_t run)
{
    const int64_t distance = distance_of_neighbours(side, axis), bytes = plan->conversion.dst_bytes;
    const int64_t span = (columns - 1) * distance + run;
    return side == &plan->dst ? span * bytes > TSR_CACHE_LINE : distance * bytes >= TSR_CACHE_LINE;
}

/*
 * Small blocks of the other side, whose outer level is innermost on this one, but whose inner one is far apart here:
 * they are turned around, so that their columns, which a kernel would take apart into as many short runs, are one
 * element each.
 */
static tsr_joint joint_of_columns(const tsr_plan *plan, const tsr_desc *side, const tsr_desc *other)
{
    const int64_t bytes = plan->conversion.dst_bytes;
    const int last = side->levels - 1, axis = side->order[last], inner = other->order[other->levels - 1];
    tsr_joint joint = {other, axis, 1, true};
    if (!ends_with_small_block(other, bytes) || other->order[other->levels - 2] != axis || side->strides[last] != 1)
        return joint;
    const int64_t n = other->block_dims[other->levels - 2], columns = other->block_dims[other->levels - 1];
    const bool are_whole = side->dims[axis] % n == 0 && side->block_dims[last] % n == 0;
    const bool is_window = (side->step[axis] | other->step[axis] | other->step[inner]) != 0;
    const bool may_be_turned =
        other == &plan->src || plan->padding == TSR_PADDING_ZERO || other->dims[inner] % columns == 0;
    if (are_whole && may_be_turned && !is_window && !begins_with_padding(other) && (n * bytes == 4 || n * bytes == 8) &&
        are_far_apart(plan, side, inner, columns, n))
        joint.n = n;
    return joint;
}

static tsr_joint find_joint(const tsr_plan *plan)
{
    const tsr_desc *src = &plan->src, *dst = &plan->dst;
    tsr_joint joint = {.n = 1};
    if (!is_transposed_copy(plan))
        return joint;
    if (tsr_is_plain(src))
        joint = joint_of_run(plan, dst, src, plan->principal->row.loop[0].n);
    if (joint.n == 1 && tsr_is_plain(dst))
        joint = joint_of_run(plan, src, dst, plan->principal->column.loop[0].n);
    if (joint.n == 1)
        joint = joint_of_columns(plan, dst, src);
    if (joint.n == 1)
        joint = joint_of_columns(plan, src, dst);
    return joint;
}

/* Is no plain tensor of joined neighbours a side itself? To a side that is one, or from it, others have to be looked
 * up; that leg would go the same way again. */
static bool leads_elsewhere(const tsr_plan *plan, const tsr_joint *joint)
{
    bool leads = true;
    for (tsr_plain order = TSR_PLAIN_BY_OUTERMOST; leads && order < TSR_PLAINS_OF_BLOCKS; order++) {
        tsr_desc between;
        leads = tsr_between_plain(&between, plan, order, plan->dst.dims) == TSR_OK &&
                tsr_between_join(&between, joint) == TSR_OK && !tsr_desc_equal(&plan->src, &between) &&
                !tsr_desc_equal(&plan->dst, &between);
    }
    return leads;
}

/* Of blocks that do not nest, but have the same innermost axis: as many neighbours as both have whole numbers of stay
 * together on their way by the plain tensor. */
static tsr_joint joint_of_blocks(const tsr_plan *plan)
{
    enum { WIDEST = 8 };
    const tsr_desc *src = &plan->src, *dst = &plan->dst;
    const int s = src->levels - 1, d = dst->levels - 1, axis = dst->order[d];
    const int64_t common = tsr_gcd(src->block_dims[s], dst->block_dims[d]),
                  widest = WIDEST / plan->conversion.dst_bytes;
    const bool are_side_by_side = src->order[s] == axis && src->strides[s] == 1 && dst->strides[d] == 1;
    const bool is_window = (src->step[axis] | dst->step[axis]) != 0;
    tsr_joint joint = {.axis = axis, .n = 1};
    if (!tsr_is_straight(&plan->conversion) || !are_side_by_side || is_window || begins_with_padding(src) ||
        begins_with_padding(dst))
        return joint;
    while (2 * joint.n <= widest && (common | dst->dims[axis]) % (2 * joint.n) == 0)
        joint.n *= 2;
    joint.n = leads_elsewhere(plan, &joint) ? joint.n : 1;
    return joint;
}

/* ---- few channels among padding ---- */

/* Are there few channels among much padding, and neighbours on both sides? Pixels are better rows than these then, but
 * where those of the destination follow each other; and rows that are packed should be long. */
static bool has_few_among_padding(const tsr_plan *plan)
{
    enum { FEW = 8 };
    const tsr_box *box = plan->principal;
    const int64_t padded = tsr_max(tsr_desc_padded_elements(&plan->src), tsr_desc_padded_elements(&plan->dst));
    const bool is_padded = padded / 2 >= tsr_desc_elements(&plan->dst);
    tsr_desc plain;
    if (!box || box->motion != TSR_MOTION_COPY || box->column.n >= FEW || !is_padded || plan->conversion.pack)
        return false;
    if (box->is_dense && box->padding_bytes == 0)
        return false;
    return tsr_between_plain(&plain, plan, TSR_PLAIN_BY_OUTERMOST, plan->dst.dims) == TSR_OK &&
           !tsr_is_like(&plan->src, &plain) && !tsr_is_like(&plan->dst, &plain);
}

/* ---- channels that do not fill blocks ---- */

/* The axis of a side's innermost blocks, if it has a few of them at most and indices are left that do not fill one, so
 * that rows or columns of a transpose end with padding; or -1. */
static int axis_of_parts(const tsr_desc *side, const tsr_desc *plain)
{
    enum { FEW_BLOCKS = 6 };
    const int axis = side->order[side->levels - 1];
    const int64_t block = side->block_dims[side->levels - 1];
    const bool is_block = tsr_indices_of_blocks(side, axis) >= block && side->step[axis] == 0;
    const bool has_few = side->dims[axis] / block < FEW_BLOCKS, is_whole = side->dims[axis] % block == 0;
    return tsr_is_plain(plain) && is_block && has_few && !is_whole && !begins_with_padding(side) ? axis : -1;
}

bool tsr_has_parts_at_src(const tsr_plan *plan)
{
    return axis_of_parts(&plan->src, &plan->dst) >= 0;
}

/* In the destination zeros are moved with the elements. Pixels that are dense are moved with zeros anyway. */
static bool has_parts_at_dst(const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    const bool are_pixels = tsr_is_padded_transpose(box) && box->is_dense;
    return !are_pixels && plan->padding == TSR_PADDING_ZERO && axis_of_parts(&plan->dst, &plan->src) >= 0;
}

/* Are these the few channels of wider blocks, and no others? A kernel of its own moves them. */
static bool is_unpadded(const tsr_plan *plan)
{
    return plan->element_boxes == 1 && plan->principal && plan->principal->motion == TSR_MOTION_UNPAD;
}

/* What is converted as well is moved by itself, and may go this way then. */
static bool has_parts(const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    if (!box || box->motion == TSR_MOTION_COPY || is_unpadded(plan))
        return false;
    if (!plan->conversion.is_copy || tsr_is_packed(&plan->conversion))
        return false;
    return tsr_has_parts_at_src(plan) || has_parts_at_dst(plan);
}

/* ---- rows that are streamed side by side ---- */

static bool is_dense(const tsr_plan *plan, const tsr_desc *side)
{
    tsr_desc like;
    return tsr_between_like(&like, plan, side, side->dims) == TSR_OK && tsr_desc_equal(side, &like);
}

/* Rows of so many bytes at most gain: longer ones of bytes than of others, unless they are few. Beside deep sets,
 * transposes write longer ones as fast, of 16 bits; what there is to gain of bytes, and of the widest elements, was not
 * measured. */
static int64_t longest_of_broken_rows(int64_t bytes, int64_t rows, const tsr_workshop *workshop)
{
    enum { LONGEST_OF_MANY = 4 << 10, MANY = 32, LONGEST = 1 << 10, LONGEST_WIDE = 1 << 8, WIDEST = 8 };
    if (bytes > WIDEST || (bytes == WIDEST && workshop->has_deep_sets))
        return 0;
    if (workshop->has_deep_sets)
        return bytes == 1 ? LONGEST : LONGEST_WIDE;
    if (bytes == 1)
        return rows >= MANY ? LONGEST_OF_MANY : LONGEST;
    return tsr_is_narrow(bytes) ? LONGEST : LONGEST_WIDE;
}

/* Shorter ones gain nothing: transposes write them as fast. */
static int64_t shortest_of_broken_rows(int64_t bytes)
{
    enum { SHORTEST = 32, LEAST_COLUMNS = 16 };
    return tsr_max(SHORTEST, LEAST_COLUMNS * bytes);
}

/*
 * Does a transpose write rows that end inside of cache lines, and that it cannot stream for that, though the last cache
 * has no room for them? They should be so short that a slice has lines of the source, and most of its own whole.
 */
static bool has_broken_rows(const tsr_plan *plan)
{
    static const double of_l3 = 0.33;
    const tsr_box *box = plan->principal;
    const int64_t bytes = plan->conversion.dst_bytes;
    tsr_workshop workshop;
    if (!is_transposed_copy(plan) || box->motion != TSR_MOTION_TRANSPOSE || box->padding_bytes > 0)
        return false;
    if (box->row_bytes % TSR_CACHE_LINE == 0 || box->row_bytes < shortest_of_broken_rows(bytes))
        return false;
    tsr_workshop_init(&workshop, plan);
    if (box->row_bytes > longest_of_broken_rows(bytes, box->row.n, &workshop))
        return false;
    return workshop.is_near && workshop.streams && workshop.l3_share > of_l3 && !box->streams && !box->streams_lines &&
           !box->fetches_next && is_dense(plan, &plan->dst);
}

/* ---- all together ---- */

/* Is there anything to convert, and can elements be where they are, with the padding around them? Where a kernel lays
 * pixels among padding or takes them from there, there is nothing to gain. */
static bool is_converted_apart(const tsr_plan *plan)
{
    if ((plan->principal && plan->principal->pads_pixels) || is_unpadded(plan))
        return false;
    return !tsr_is_straight(&plan->conversion) && !begins_with_padding(&plan->src) && !begins_with_padding(&plan->dst);
}

/* Are pixels laid among zeros, or joined with them, many at a time? Kernels do so at once. */
static bool pads_many_pixels(const tsr_box *box)
{
    enum { MANY = 1024 };
    return box && (box->pads_pixels || box->writes_padding || (tsr_is_padded_transpose(box) && box->is_dense)) &&
           box->elements >= MANY * box->items;
}

/* The plain tensor has no padding; the last step writes that of the destination. Small tensors are moved sooner than
 * plans of more steps are made, and what is the same memory may be one buffer, where nothing moves. */
bool tsr_may_go_in_two(const tsr_plan *plan)
{
    enum { LEAST_BYTES = 16 << 10 };
    const bool is_small = tsr_desc_elements(&plan->dst) * plan->conversion.dst_bytes < tsr_share_of_l1(LEAST_BYTES);
    if (is_small || pads_many_pixels(plan->principal) || tsr_plan_is_same_memory(plan))
        return false;
    return tsr_is_straight(&plan->conversion) && !plan->lowering.has_tables && plan->padding == TSR_PADDING_ZERO &&
           !begins_with_padding(&plan->src) && !begins_with_padding(&plan->dst);
}

tsr_purpose tsr_purpose_find(const tsr_plan *plan, tsr_joint *joint)
{
    *joint = (tsr_joint){.n = 1};
    if (plan->plain != TSR_NO_PLAIN && !plan->lowering.has_tables)
        return TSR_IN_TWO;
    *joint = find_joint(plan);
    if (plan->lowering.has_tables) {
        if (tsr_is_plain(&plan->src) || tsr_is_plain(&plan->dst))
            return TSR_FOR_NOTHING;
        *joint = joint_of_blocks(plan);
        return is_converted_apart(plan) ? TSR_APART : TSR_BY_PLAIN;
    }
    if (joint->n > 1)
        return TSR_BY_JOINED;
    if (has_parts(plan))
        return TSR_BY_PADDED;
    if (has_broken_rows(plan))
        return TSR_BY_ROWS;
    if (tsr_is_straight(&plan->conversion))
        return TSR_FOR_NOTHING;
    if (has_few_among_padding(plan))
        return TSR_BY_PIXELS;
    return is_converted_apart(plan) ? TSR_APART : TSR_FOR_NOTHING;
}
