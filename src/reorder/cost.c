/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/cost.h"

#include <math.h>

#include "base/int.h"
#include "reorder/between.h"
#include "reorder/caches.h"
#include "reorder/convert_lines.h"
#include "reorder/cut.h"
#include "reorder/prices.h"
#include "reorder/spread.h"

/* Elements of the padding that is zeroed, apart or with others. */
static double zeros_of(const tsr_plan *plan)
{
    const int64_t zeros = tsr_desc_padded_elements(&plan->dst) - tsr_desc_elements(&plan->dst);
    return plan->padding == TSR_PADDING_ZERO ? (double)zeros : 0;
}

/* Over what memcpy would have copied in all. */
static double share_of(const tsr_plan *plan, double bytes)
{
    double all = tsr_plan_copied_bytes(plan, (double)tsr_desc_elements(&plan->dst));
    return all > 0 ? bytes / all : 0;
}

/* Boxes [first, end). */
static double share_of_boxes(const tsr_plan *plan, int first, int end)
{
    double cost = 0;
    for (int i = first; i < end; i++)
        cost += tsr_cost_of_box(plan, &plan->boxes[i]);
    return share_of(plan, cost);
}

double tsr_cost_of_padding(const tsr_plan *plan)
{
    return share_of_boxes(plan, plan->element_boxes, plan->element_boxes + plan->zero_boxes);
}

double tsr_cost_of_boxes(const tsr_plan *plan)
{
    return share_of_boxes(plan, 0, plan->element_boxes + plan->zero_boxes);
}

/* Each leg of each slice is a plan that is run. In the caches memcpy has copied more meanwhile. */
static double cost_of_plans(const tsr_route *route, double bytes_between)
{
    enum { CACHED_BYTES = 256 << 10 };
    static const double per_plan = 2000, per_near_plan = 16000;
    const bool is_near = route->purpose == TSR_IN_TWO && bytes_between < (double)tsr_share_of_l2(CACHED_BYTES);
    return (is_near ? per_near_plan : per_plan) * route->legs * ceil(bytes_between / TSR_NEAR_BYTES);
}

/* What legs take in the caches, as measured. Whole blocks, of which each has lines to itself, gain nothing; and what
 * should be sure to gain counts more. */
static double weight_of_legs(tsr_purpose purpose)
{
    return purpose == TSR_IN_TWO ? 1.15 : purpose == TSR_BY_PADDED ? 1 : 0.74;
}

double tsr_cost_of_legs(const tsr_plan *plan, const tsr_route *route, double legs)
{
    const double bytes = (double)tsr_dtype_size_bytes(tsr_between_type(plan));
    return weight_of_legs(route->purpose) * legs +
           share_of(plan, cost_of_plans(route, bytes * (double)tsr_desc_elements(&plan->dst)));
}

/* Two transposes, on one of which elements may be converted. The tensor between is in the caches. */
double tsr_cost_of_relay(const tsr_plan *plan, const tsr_route *route, double bytes_between)
{
    static const double of_caches = 0.7;
    const double bytes = (double)(plan->conversion.src_bytes + plan->conversion.dst_bytes) / 2;
    const double element = 1.3 * (bytes + of_caches * bytes_between) + (plan->conversion.is_copy ? 0 : per_conversion);
    const int64_t moved = tsr_max(tsr_desc_elements(&route->leg[0].src), tsr_desc_elements(&route->leg[1].src));
    return share_of(plan, element * (double)moved + cost_of_plans(route, bytes_between * (double)moved)) +
           tsr_cost_of_padding(plan);
}

/* A copy of the elements, and a transpose of whole blocks in the caches; zeros of the destination
 * that are not in these are written apart. */
double tsr_cost_of_padded_blocks(const tsr_plan *plan, const tsr_route *route)
{
    static const double per_copied = 1, per_moved = 1.2;
    const double bytes = (double)plan->conversion.dst_bytes, elements = (double)tsr_desc_elements(&plan->dst);
    const double moved = (double)tsr_max(tsr_desc_elements(&route->leg[0].src), tsr_desc_elements(&route->leg[1].src));
    const double zeros = fmax(0, (double)tsr_desc_padded_elements(&plan->dst) - moved);
    const double between = moved * bytes;
    return share_of(plan, per_copied * bytes * elements + per_moved * between + cost_of_plans(route, between) +
                              per_byte_of_zeros * bytes * zeros);
}

/* The elements side by side that have the same factors, where they are computed; 0: all, or these come again so soon
 * that many are computed at once. */
static int64_t line_with_factors(const tsr_plan *plan)
{
    enum { SOON = TSR_SPREAD, SHORT = 8 };
    const tsr_desc *side = tsr_between_is_converted(plan) ? &plan->src : &plan->dst;
    int64_t elements = 1, line = 0;
    for (int i = side->levels - 1; i >= 0 && tsr_computes(&plan->conversion); i--) {
        const int64_t inner = elements;
        elements *= side->block_dims[i];
        if (side->order[i] == plan->factor_axis && inner > 1 && inner < SHORT && elements > SOON)
            line = line > 0 ? line : inner;
    }
    return line;
}

/* Of the legs that convert elements where they lie, with the padding that they have widened to. If both do, the lines
 * of one are the short ones. */
static double cost_of_converting_legs(const tsr_plan *plan, const tsr_route *route, int64_t line)
{
    static const double of_calls = 0.75;
    const double of_line = tsr_takes_runs_of(&plan->conversion, line) ? per_line_of_many : per_line;
    double cost = 0, most = 0;
    for (int i = 0; i < route->legs; i++) {
        const double elements = route->leg[i].converts ? (double)tsr_desc_elements(&route->leg[i].src) : 0;
        cost += per_conversion * elements;
        most = fmax(most, elements);
    }
    return cost + most * (of_calls + tsr_per_element_of_line(line_with_factors(plan), TSR_LONG_LINE, per_line) +
                          tsr_per_element_of_line(line, TSR_LONG_LINE, of_line));
}

/* Elements are converted where they lie, and moved as narrow ones, within the caches. */
double tsr_cost_of_conversion_apart(const tsr_plan *plan, const tsr_route *route, int64_t line)
{
    static const double per_byte = 1.05, of_caches = 0.3, per_zero_again = 10;
    const int64_t width = (int64_t)tsr_dtype_size_bytes(tsr_between_type(plan));
    const tsr_conversion moved = {.is_copy = true, .src_bytes = width, .dst_bytes = width};
    const double at_src = (double)tsr_desc_padded_elements(&plan->src),
                 at_dst = (double)tsr_desc_padded_elements(&plan->dst);
    double cost =
        per_byte / 2 * ((double)plan->conversion.src_bytes * at_src + (double)plan->conversion.dst_bytes * at_dst) +
        cost_of_converting_legs(plan, route, line) + cost_of_plans(route, (double)tsr_route_bytes(route));
    for (int i = 0; i < plan->element_boxes && route->legs > 1; i++)
        cost += of_caches * tsr_cost_of_elements(&plan->boxes[i], &moved);
    if (route->zeroes)
        cost += per_zero_again * (at_dst - (double)tsr_desc_elements(&plan->dst));
    return share_of(plan, cost) + tsr_cost_of_padding(plan);
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

/* Units that there are no kernels for are swapped one by one. */
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

/* Bytes of padding that oneDNN writes; or, if there are none, that it reads, as between the channels of wide blocks.
 * Those that become other such blocks it takes fast. */
static double padding_of_onednn(const tsr_plan *plan)
{
    const int64_t between = tsr_desc_padded_elements(&plan->src) - tsr_desc_elements(&plan->src);
    const double zeros = zeros_of(plan);
    return zeros > 0 ? (double)plan->conversion.dst_bytes * zeros
                     : (double)plan->conversion.src_bytes * (double)between;
}

/*
 * What oneDNN needs, by the width of the type: 8-bit reorders crawl, 32-bit ones come close to
 * memory, permutations of many axes and conversions do not. A call has its price, and so has the
 * first plan of a kind, which waits for the self-test.
 */
double tsr_cost_of_onednn(const tsr_plan *plan)
{
    static const double by_width[] = {14, 5, 2.5, 3}, of_many_axes = 10, of_conversion = 6, call_bytes = 100000;
    double bytes = (double)(plan->conversion.src_bytes + plan->conversion.dst_bytes) / 2;
    double cost = by_width[tsr_width_of_bytes(plan->conversion.src_bytes)];
    bool is_plain = plan->src.levels == plan->src.rank && plan->dst.levels == plan->dst.rank;
    if (is_plain && plan->principal && plan->principal->outer_count > 1)
        cost = of_many_axes;
    if (!plan->conversion.is_copy)
        cost = plan->conversion.src_bytes == 1 && bytes <= 1 ? by_width[0] : of_conversion;
    double moved = bytes * (double)tsr_max(tsr_desc_elements(&plan->dst), 1);
    cost *= 1 + padding_of_onednn(plan) / (2 * moved);
    return cost + call_bytes / moved;
}
