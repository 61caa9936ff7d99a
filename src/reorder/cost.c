/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/cost.h"

#include <math.h>

#include "base/int.h"

/* All in bytes that memcpy would have copied meanwhile. */
static const double per_tile = 300, per_run = 8, per_piece = 8, per_parted_piece = 32, per_conversion = 2,
                    per_short_conversion = 8, per_conversion_of_run = 0.5;

/* Kernels move blocks of 16 bytes, which short rows and columns of narrow elements do not fill. */
static double filled(const tsr_chain *chain, double bytes)
{
    static const double block = 16;
    const double run = (double)chain->loop[0].n * bytes;
    return bytes < 4 && chain->count == 1 ? run / (block * ceil(run / block)) : 1;
}

static double per_element(const tsr_box *box, double bytes)
{
    const double transposed = bytes * 1.3 + 0.3;
    switch (box->motion) {
    case TSR_MOTION_COPY:
        return bytes * 1.05 + per_run / (double)box->column.n;
    case TSR_MOTION_TRANSPOSE:
        return transposed / fmin(filled(&box->row, bytes), filled(&box->column, bytes));
    case TSR_MOTION_INTERLEAVE:
        return transposed + (box->piece ? per_piece / (double)box->row.loop[0].n : 0);
    case TSR_MOTION_DEINTERLEAVE:
        return transposed + (box->piece ? per_parted_piece / (double)box->column.loop[0].n : 0);
    default:
        return box->lanes.lane ? bytes * 1.4 + 0.5 : bytes + 6;
    }
}

static double per_converted_element(const tsr_box *box, const tsr_conversion *conversion)
{
    if (conversion->is_copy)
        return 0;
    if (tsr_converts_runs(box, conversion))
        return per_conversion_of_run;
    const bool is_short = tsr_has_short_runs(box) || tsr_converts_short_lines(box, conversion);
    return is_short ? per_short_conversion : per_conversion;
}

static double cost_of_box(const tsr_box *box, const tsr_conversion *conversion)
{
    double bytes = (double)(conversion->src_bytes + conversion->dst_bytes) / 2;
    double element = per_element(box, bytes) + per_converted_element(box, conversion);
    return element * (double)box->elements + per_tile * (double)box->items;
}

/* Elements of the padding that is zeroed. */
static double zeros_of(const tsr_plan *plan)
{
    double zeros = 0;
    for (int i = plan->element_boxes; i < plan->element_boxes + plan->zero_boxes; i++)
        zeros += (double)plan->boxes[i].elements;
    return zeros;
}

/* Over what memcpy would have copied in all. */
static double share_of(const tsr_plan *plan, double bytes)
{
    double all = tsr_plan_traffic(plan, (double)tsr_desc_elements(&plan->dst)) / 2;
    return all > 0 ? bytes / all : 0;
}

/* Padding is written apart from the elements, often into the same cache lines. */
double tsr_cost_of_padding(const tsr_plan *plan)
{
    static const double of_zero = 1.5;
    return share_of(plan, of_zero * (double)plan->moved.dst_bytes * zeros_of(plan));
}

double tsr_cost_of_boxes(const tsr_plan *plan)
{
    double cost = 0;
    for (int i = 0; i < plan->element_boxes; i++)
        cost += cost_of_box(&plan->boxes[i], &plan->moved);
    return share_of(plan, cost) + tsr_cost_of_padding(plan);
}

/* Two transposes, on one of which elements may be converted. The tensor between is in the caches. */
double tsr_cost_of_relay(const tsr_plan *plan, double plain_bytes)
{
    static const double of_caches = 0.7;
    double bytes = (double)(plan->conversion.src_bytes + plan->conversion.dst_bytes) / 2 + of_caches * plain_bytes;
    double element = 1.3 * bytes + (plan->conversion.is_copy ? 0 : per_conversion);
    return share_of(plan, element * (double)tsr_desc_elements(&plan->dst)) + tsr_cost_of_padding(plan);
}

/* A copy of the source. Scratch memory that is large comes afresh from the system with every run. */
double tsr_cost_of_scratch(const tsr_plan *plan, int64_t scratch_bytes)
{
    enum { LARGE = 1 << 20 };
    static const double of_large = 4;
    double bytes = (double)(plan->src_span.end - plan->src_span.first);
    return share_of(plan, bytes * (scratch_bytes > LARGE ? of_large : 1));
}

/* Elements that have been moved, and are converted afterwards. */
static double cost_after(const tsr_plan *plan)
{
    double elements = (double)tsr_desc_elements(&plan->dst);
    double bytes = (double)plan->conversion.dst_bytes + per_conversion;
    return tsr_cost_of_padding(plan) + (plan->conversion.is_copy ? 0 : share_of(plan, elements * bytes));
}

static double units_of(const tsr_plan *plan, int64_t unit)
{
    return (double)tsr_desc_elements(&plan->dst) * (double)plan->conversion.dst_bytes / (double)unit;
}

/* Units that are as wide as no type are swapped one by one. */
double tsr_cost_of_square(const tsr_plan *plan, const tsr_square *square, int64_t tiles)
{
    static const double per_byte = 1.2, per_swap = 50, per_pair = 500;
    double bytes = per_byte * (double)square->unit + (square->has_kernel ? 0.3 : per_swap);
    return share_of(plan, units_of(plan, square->unit) * bytes + per_pair * (double)tiles) + cost_after(plan);
}

/* Every unit is looked for all over the buffer; without marks its cycle is walked again and again, some log of its
 * length. */
double tsr_cost_of_cycles(const tsr_plan *plan, const tsr_cycles *cycles, bool is_marked)
{
    static const double per_unit = 50, per_step = 60;
    double steps = is_marked ? 1 : log2((double)cycles->units);
    double bytes = (double)cycles->unit + per_unit + per_step * steps * (double)cycles->count;
    return share_of(plan, units_of(plan, cycles->unit) * bytes) + cost_after(plan);
}

/*
 * What oneDNN needs, by the width of the type: 8-bit reorders crawl, 32-bit ones come close to
 * memory, permutations of many axes and conversions do not. A call has its price, and so has the
 * first plan of a kind, which waits for the self-test.
 */
double tsr_cost_of_onednn(const tsr_plan *plan)
{
    static const double by_width[] = {14, 5, 1.9, 3}, of_many_axes = 10, of_conversion = 6, call_bytes = 100000;
    double bytes = (double)(plan->conversion.src_bytes + plan->conversion.dst_bytes) / 2;
    double cost = by_width[tsr_width_of_bytes(plan->conversion.src_bytes)];
    bool is_plain = plan->src.levels == plan->src.rank && plan->dst.levels == plan->dst.rank;
    if (is_plain && plan->principal && plan->principal->outer_count > 1)
        cost = of_many_axes;
    if (!plan->conversion.is_copy)
        cost = of_conversion;
    double moved = bytes * (double)tsr_max(tsr_desc_elements(&plan->dst), 1);
    cost *= 1 + (double)plan->moved.dst_bytes * zeros_of(plan) / (2 * moved);
    return cost + call_bytes / moved;
}
