/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/lower.h"

#include "base/alloc.h"
#include "base/int.h"

enum { MAX_PIECES = 2 * TSR_MAX_AXIS_DIGITS };

static int64_t indices(const tsr_lowering *lowering, int axis)
{
    return lowering->axes[axis].dst->indices;
}

/*
 * How many boxes the elements make, or a number above the bound; and the shortest axis that is in
 * pieces, or -1.
 */
static int64_t count_boxes(const tsr_lowering *lowering, int *shortest)
{
    tsr_piece pieces[MAX_PIECES];
    int64_t boxes = 1;
    *shortest = -1;
    for (int k = 0; k < lowering->rank; k++) {
        int count = tsr_axis_pieces(&lowering->axes[k], lowering->axes[k].begin, lowering->axes[k].end, pieces);
        if (count > 1 && (*shortest < 0 || indices(lowering, k) < indices(lowering, *shortest)))
            *shortest = k;
        boxes = tsr_min(boxes, TSR_MAX_BOXES) * count;
    }
    return boxes;
}

/* The axis of the destination alone, as long as its blocks. */
static tsr_axis *padded_axis(const tsr_lowering *lowering, int k)
{
    return &lowering->axes[lowering->rank + k];
}

/* The same for the padding: axis k past its dim, those before it in pieces, those behind it whole. */
static int64_t count_zero_boxes(const tsr_lowering *lowering)
{
    tsr_piece pieces[MAX_PIECES];
    int64_t boxes = 0, before = 1;
    for (int k = 0; k < lowering->rank; k++) {
        const tsr_axis *axis = padded_axis(lowering, k);
        boxes += before * tsr_axis_pieces(axis, axis->end, axis->limit, pieces);
        before = tsr_min(before * tsr_axis_pieces(axis, axis->begin, axis->end, pieces), TSR_MAX_BOXES + 1);
    }
    return boxes;
}

static tsr_status bound_boxes(tsr_lowering *lowering)
{
    tsr_status status = TSR_OK;
    int shortest;
    while (status == TSR_OK && count_boxes(lowering, &shortest) > TSR_MAX_BOXES) {
        status = tsr_axis_tabulate(&lowering->axes[shortest], lowering->allocator);
        lowering->has_tables = true;
    }
    lowering->zeroes_all = count_zero_boxes(lowering) > TSR_MAX_BOXES;
    return status;
}

/* Runs of 16 bytes are moved as fast as shuffled lanes, of which they are at least one. */
static int64_t long_run(const tsr_desc *src, const tsr_desc *dst)
{
    enum { LONG_BYTES = 16 };
    return 8 * LONG_BYTES / tsr_min(tsr_dtype_bits(src->dtype), tsr_dtype_bits(dst->dtype));
}

tsr_status tsr_lowering_init(tsr_lowering *lowering, const tsr_desc *src, const tsr_desc *dst, int factor_axis,
                             bool shuffles_blocks, const tsr_allocator *allocator)
{
    size_t rank = (size_t)dst->rank;
    tsr_status status = TSR_OK;
    const tsr_cut_rules rules = {long_run(src, dst), shuffles_blocks};
    *lowering = (tsr_lowering){.allocator = allocator,
                               .rank = dst->rank,
                               .src_start = tsr_desc_start(src),
                               .dst_start = tsr_desc_start(dst),
                               .joined_axis = -1};
    if (rank == 0)
        return TSR_OK;
    lowering->axes = tsr_allocate_zeroed(allocator, 2 * rank, sizeof *lowering->axes);
    lowering->digits = tsr_allocate_zeroed(allocator, 2 * rank, sizeof *lowering->digits);
    if (!lowering->axes || !lowering->digits)
        status = TSR_OUT_OF_MEMORY;
    for (int k = 0; status == TSR_OK && k < dst->rank; k++) {
        tsr_digits *of_src = &lowering->digits[2 * k], *of_dst = of_src + 1;
        tsr_digits_of_axis(of_src, src, k);
        tsr_digits_of_axis(of_dst, dst, k);
        tsr_digits_align(of_src, of_dst); /* or the axis becomes a table */
        lowering->src_start += of_src->start;
        lowering->dst_start += of_dst->start;
        status = tsr_axis_refine(&lowering->axes[k], of_src, of_dst, k == factor_axis, rules, allocator);
        if (status == TSR_OK)
            status = tsr_axis_refine(padded_axis(lowering, k), NULL, of_dst, 0, rules, allocator);
        lowering->has_tables |= lowering->axes[k].table != NULL;
    }
    if (status == TSR_OK)
        status = bound_boxes(lowering);
    if (status != TSR_OK)
        tsr_lowering_reset(lowering);
    return status;
}

void tsr_lowering_spare_elements(tsr_lowering *lowering)
{
    lowering->overlaps = lowering->zeroes_all;
    lowering->zeroes_all = false;
}

/* The steps of padding that go on where the last piece of an axis ends, as its run of neighbours would; 0 if they
 * do not. */
static int64_t padding_behind(const tsr_lowering *lowering, int k)
{
    tsr_piece of_elements[MAX_PIECES], of_padding[MAX_PIECES];
    const tsr_axis *axis = &lowering->axes[k], *padded = padded_axis(lowering, k);
    int elements = tsr_axis_pieces(axis, axis->begin, axis->end, of_elements);
    int padding = tsr_axis_pieces(padded, padded->end, padded->limit, of_padding);
    if (elements == 0 || padding != 1 || axis->block > 0 || axis->digit[0].dst_table || padded->digit[0].dst_table)
        return 0;
    const tsr_piece *last = &of_elements[elements - 1], *next = &of_padding[0];
    bool are_runs = last->digit == 0 && next->digit == 0 && axis->digit[0].dst == 1 && padded->digit[0].dst == 1;
    return are_runs && last->n + next->n <= TSR_MOST_JOINED && last->dst + last->n == next->dst ? next->n : 0;
}

void tsr_lowering_join_padding(tsr_lowering *lowering)
{
    int axes = 0, found = -1;
    for (int k = 0; k < lowering->rank; k++)
        if (padded_axis(lowering, k)->end < padded_axis(lowering, k)->limit) {
            axes++;
            found = k;
        }
    if (axes == 1)
        lowering->joined = padding_behind(lowering, found);
    if (lowering->joined > 0)
        lowering->joined_axis = found;
}

void tsr_lowering_zero_all(tsr_lowering *lowering)
{
    lowering->zeroes_all |= lowering->joined_axis < 0 && count_zero_boxes(lowering) > 1;
}

void tsr_lowering_reset(tsr_lowering *lowering)
{
    size_t rank = (size_t)lowering->rank;
    for (int k = 0; lowering->axes && k < 2 * lowering->rank; k++)
        tsr_axis_reset(&lowering->axes[k], lowering->allocator);
    if (lowering->allocator) {
        tsr_deallocate(lowering->allocator, lowering->axes, 2 * rank * sizeof *lowering->axes);
        tsr_deallocate(lowering->allocator, lowering->digits, 2 * rank * sizeof *lowering->digits);
    }
    *lowering = (tsr_lowering){0};
}

/* One axis of a product of ranges. */
struct side {
    const tsr_axis *axis;
    int count;
    tsr_piece pieces[MAX_PIECES];
};

/* Visits every choice of one piece for each side. */
static tsr_status visit_product(const struct side *sides, int rank, int64_t src, int64_t dst, tsr_nest_visitor visit,
                                void *context)
{
    int chosen[TSR_MAX_RANK] = {0};
    for (int k = 0; k < rank; k++)
        if (sides[k].count == 0)
            return TSR_OK;
    for (int k = 0; k >= 0;) {
        tsr_nest nest = {.src = src, .dst = dst};
        for (k = 0; k < rank; k++)
            tsr_axis_add_loops(sides[k].axis, &sides[k].pieces[chosen[k]], &nest);
        tsr_nest_fuse(&nest);
        tsr_status status = visit(context, &nest);
        if (status != TSR_OK)
            return status;
        for (k = rank - 1; k >= 0 && ++chosen[k] == sides[k].count; k--)
            chosen[k] = 0;
    }
    return TSR_OK;
}

static void set_side(struct side *side, const tsr_axis *axis, int64_t from, int64_t to)
{
    side->axis = axis;
    side->count = tsr_axis_pieces(axis, from, to, side->pieces);
}

/* The sides of a product are too large for the stack. */
static struct side *allocate_sides(const tsr_lowering *lowering)
{
    return tsr_allocate(lowering->allocator, ((size_t)lowering->rank + 1) * sizeof(struct side));
}

static void free_sides(const tsr_lowering *lowering, struct side *sides)
{
    tsr_deallocate(lowering->allocator, sides, ((size_t)lowering->rank + 1) * sizeof *sides);
}

tsr_status tsr_lower_elements(const tsr_lowering *lowering, tsr_nest_visitor visit, void *context)
{
    struct side *sides = allocate_sides(lowering);
    if (!sides)
        return TSR_OUT_OF_MEMORY;
    for (int k = 0; k < lowering->rank; k++)
        set_side(&sides[k], &lowering->axes[k], lowering->axes[k].begin, lowering->axes[k].end);
    if (lowering->joined_axis >= 0) {
        struct side *joined = &sides[lowering->joined_axis];
        joined->pieces[joined->count - 1].padding = lowering->joined;
    }
    tsr_status status = visit_product(sides, lowering->rank, lowering->src_start, lowering->dst_start, visit, context);
    free_sides(lowering, sides);
    return status;
}

/*
 * Axis by axis: the cells whose index along k is past its dim, while those before k are within
 * theirs, or anywhere too if boxes may overlap, and those behind k are anywhere.
 */
tsr_status tsr_lower_padding(const tsr_lowering *lowering, tsr_nest_visitor visit, void *context)
{
    tsr_status status = TSR_OK;
    int rank = lowering->rank;
    int64_t start = lowering->dst_start;
    if (lowering->joined_axis >= 0)
        return TSR_OK;
    struct side *sides = allocate_sides(lowering);
    if (!sides)
        return TSR_OUT_OF_MEMORY;
    for (int k = 0; k < rank; k++)
        set_side(&sides[k], padded_axis(lowering, k), padded_axis(lowering, k)->begin, padded_axis(lowering, k)->limit);
    if (lowering->zeroes_all)
        status = visit_product(sides, rank, 0, start, visit, context);
    for (int k = 0; !lowering->zeroes_all && status == TSR_OK && k < rank; k++) {
        const tsr_axis *axis = padded_axis(lowering, k);
        set_side(&sides[k], axis, axis->end, axis->limit);
        status = visit_product(sides, rank, 0, start, visit, context);
        set_side(&sides[k], axis, axis->begin, lowering->overlaps ? axis->limit : axis->end);
    }
    free_sides(lowering, sides);
    return status;
}
