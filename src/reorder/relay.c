/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/relay.h"

#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "reorder/between.h"
#include "reorder/cost.h"
#include "reorder/plan.h"
#include "reorder/route.h"
#include "reorder/shape.h"
#include "reorder/workshop.h"

_Static_assert((TSR_LEGS - 1) * TSR_NEAR_BYTES <= TSR_FAR_BYTES, "there is room for all tensors between");
_Static_assert(TSR_FAR_BYTES <= TSR_PIECE_BYTES, "what is no leg of another route may have as much room");

/* For each tensor between. Blocks that do not nest may have no smaller slices; rows that are streamed want none. */
static int64_t room_for_one(const tsr_cut *cut, const tsr_route *route)
{
    if (cut->pieces != TSR_ANY_PIECES || route->purpose == TSR_BY_PLAIN || route->purpose == TSR_BY_ROWS)
        return TSR_PIECE_BYTES;
    return route->legs == TSR_LEGS || tsr_route_is_last(route) ? TSR_NEAR_BYTES : TSR_FAR_BYTES;
}

/* For all of them, of a slice. */
static int64_t room_for_all(const tsr_cut *cut, const tsr_plan *plan, const tsr_route *route)
{
    if (tsr_route_is_last(route))
        return TSR_NEAR_BYTES;
    return tsr_cut_bytes(cut, plan) > TSR_FAR_BYTES ? TSR_PIECE_BYTES : TSR_FAR_BYTES;
}

/* ---- choice ---- */

/* Does every byte of a packed destination belong to one slice? Only elements along a stride of 1 share one then. */
static bool slices_are_apart(const tsr_desc *dst, int packing)
{
    int64_t bits = dst->offset;
    for (int i = 0; i < dst->levels; i++)
        bits |= dst->block_dims[i] > 1 && dst->strides[i] != 1 ? dst->strides[i] : 0;
    return tsr_begins_byte(bits, packing);
}

/* Are there parts of the same bytes in several slices, so that one thread has to run them all? */
static bool share_bytes(const tsr_plan *plan)
{
    return plan->conversion.pack && !slices_are_apart(&plan->dst, plan->conversion.dst_packing);
}

bool tsr_relay_applies(const tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    tsr_route route;
    tsr_cut cut;
    const tsr_slice all = tsr_slice_of_all(plan);
    const bool has_tables = plan->lowering.has_tables;
    if (plan->dst.dtype == TSR_NF4 && !plan->conversion.is_copy)
        return tsr_decline(reason, "elements between would be wider, and zeros around them not 0 in bits as nf4");
    if (tsr_route_make(&route, plan, &all) != TSR_OK)
        return tsr_decline(reason, "a tensor between would be too large");
    if (route.purpose == TSR_FOR_NOTHING)
        return tsr_decline(reason, has_tables ? "one side is plain, and would be the tensor to go by"
                                              : "the blocks nest, and nothing is gained by more steps");
    if (route.legs == 1)
        return route.leg[0].widened || tsr_decline(reason, "the elements stay where they are");
    if (plan->threads > 1 && route.purpose == TSR_APART && !has_tables && share_bytes(plan))
        return tsr_decline(reason, "slices would have parts of the same bytes");
    tsr_cut_find(&cut, plan, &route);
    if (route.purpose == TSR_BY_ROWS && tsr_cut_line(&cut, &plan->src) * plan->conversion.src_bytes < TSR_CACHE_LINE)
        return tsr_decline(reason, "slices would have parts of the cache lines of the source");
    const int64_t bytes = tsr_cut_bytes(&cut, plan), most = room_for_one(&cut, &route);
    return bytes <= most ||
           tsr_decline(reason, "the least slice has %lld bytes, expected at most %d", (long long)bytes, (int)most);
}

/* Are runs converted where they lie read so late that pieces are better? Beside deep sets they are, from memory, unless
 * they are parts of lines, or so long that they are read in order (shape.h); and if each takes several steps, from the
 * last cache, too, in any order, or always if fewer bytes are written. */
static bool are_runs_late(const tsr_plan *plan)
{
    const int64_t run = plan->principal->column.n * plan->conversion.dst_bytes;
    tsr_workshop workshop;
    tsr_workshop_init(&workshop, plan);
    if (!workshop.has_deep_sets || TSR_CACHE_LINE % run == 0)
        return false;
    if (plan->conversion.only)
        return workshop.is_huge && run < TSR_LONG_CONVERTED_RUN;
    return workshop.exceeds_l2 && (tsr_narrows(&plan->conversion) || !tsr_takes_half_of_l3(&workshop));
}

/* Pieces that are transposed are read or written in order, which a cost of lines does not know. So are runs anyway, but
 * not always soon enough. */
static double share_of_pieces(const tsr_plan *plan)
{
    static const double of_pieces = 0.7, of_late_runs = 0.6; /* as measured */
    if (!plan->principal || plan->principal->motion != TSR_MOTION_COPY)
        return of_pieces;
    return are_runs_late(plan) ? of_late_runs : 1;
}

static double cost_apart(const tsr_plan *plan, const tsr_route *route)
{
    tsr_cut cut;
    tsr_cut_find(&cut, plan, route);
    const int64_t line = tsr_cut_line(&cut, tsr_between_is_converted(plan) ? &plan->src : &plan->dst);
    return (cut.pieces == TSR_ONE_PIECE ? share_of_pieces(plan) : 1) * tsr_cost_of_conversion_apart(plan, route, line);
}

double tsr_relay_cost(const tsr_plan *plan)
{
    static const double of_streamed_rows = 0.8; /* of what boxes cost, which knows no caches; as measured */
    const tsr_slice all = tsr_slice_of_all(plan);
    tsr_route route;
    if (plan->cost_of_stages > 0)
        return plan->cost_of_stages;
    if (tsr_route_make(&route, plan, &all) != TSR_OK)
        return 0; /* and it does not apply */
    if (route.purpose == TSR_APART)
        return cost_apart(plan, &route);
    if (route.purpose == TSR_BY_PADDED)
        return tsr_cost_of_padded_blocks(plan, &route);
    if (route.purpose == TSR_BY_ROWS)
        return of_streamed_rows * tsr_cost_of_boxes(plan);
    return tsr_cost_of_relay(plan, &route, (double)tsr_dtype_size_bytes(tsr_between_type(plan)));
}

/* ---- its stages tell what it costs ---- */

void tsr_relay_free(tsr_relay **relay, const tsr_allocator *allocator)
{
    if (!*relay)
        return;
    for (int shape = 0; shape < TSR_MOST_SHAPES; shape++)
        tsr_stages_free(&(*relay)->shape[shape]);
    tsr_deallocate(allocator, *relay, sizeof **relay);
    *relay = NULL;
}

/* With the stages of all shapes of slices; and gives the route. */
static tsr_status make_relay(tsr_relay **made, tsr_route *route, const tsr_plan *plan)
{
    const tsr_slice all = tsr_slice_of_all(plan);
    tsr_relay *relay = tsr_allocate_zeroed(&plan->allocator, 1, sizeof *relay);
    if (!relay)
        return TSR_OUT_OF_MEMORY;
    tsr_status status = tsr_route_make(route, plan, &all);
    if (status == TSR_OK) {
        tsr_cut_find(&relay->cut, plan, route);
        relay->room = room_for_all(&relay->cut, plan, route);
    }
    for (int shape = 0; status == TSR_OK && shape < tsr_cut_shapes(&relay->cut); shape++) {
        const tsr_slice slice = tsr_cut_slice(&relay->cut, plan, shape);
        status = tsr_stages_make(&relay->shape[shape], plan, &slice);
    }
    if (status == TSR_OK)
        *made = relay;
    else
        tsr_relay_free(&relay, &plan->allocator);
    return status;
}

/* The share of a plan's elements that slices of a shape have. */
static double share_of_shape(const tsr_cut *cut, const tsr_plan *plan, int shape)
{
    const tsr_slice last = tsr_cut_slice(cut, plan, tsr_cut_shapes(cut) - 1);
    double share = 1;
    for (int i = 0; i < cut->ragged; i++) {
        const int axis = cut->ragged_axis[i];
        const double of_last = (double)last.dims[axis] / (double)plan->dst.dims[axis];
        share *= shape >> i & 1 ? of_last : 1 - of_last;
    }
    return share;
}

/* Each stage of each slice by the bytes that it moves, of elements of the slice. */
static double cost_of_stages(const tsr_relay *relay, const tsr_plan *plan)
{
    const double all = tsr_plan_copied_bytes(plan, 1);
    double cost = 0;
    for (int shape = 0; shape < tsr_cut_shapes(&relay->cut); shape++) {
        const tsr_stages *stages = &relay->shape[shape];
        double of_slice = 0;
        for (int i = 0; i < stages->count; i++)
            of_slice += tsr_plan_get_info(stages->stage[i]).cost * tsr_plan_copied_bytes(stages->stage[i], 1) / all;
        cost += of_slice * share_of_shape(&relay->cut, plan, shape);
    }
    return cost;
}

/* Makes the relay, and tells its cost; INFINITY, if no stages can be. */
static tsr_status price(double *cost, tsr_relay **relay, const tsr_plan *plan)
{
    char reason[TSR_REASON_SIZE];
    tsr_route route;
    *cost = INFINITY;
    if (!tsr_relay_applies(plan, reason))
        return TSR_OK;
    const tsr_status status = make_relay(relay, &route, plan);
    if (status == TSR_OK)
        *cost = tsr_cost_of_legs(plan, &route, cost_of_stages(*relay, plan));
    return status == TSR_OUT_OF_MEMORY ? status : TSR_OK;
}

/* Tries the way by a plain tensor, or by none, and keeps its relay if that costs less than what is known. */
static tsr_status try_plain(double *least, tsr_plan *plan, tsr_plain plain)
{
    const tsr_plain best = plan->plain;
    tsr_relay *relay = NULL;
    double cost;
    plan->plain = plain;
    const tsr_status status = price(&cost, &relay, plan);
    if (cost < *least) {
        tsr_relay *other = plan->relay;
        plan->relay = relay;
        relay = other;
        plan->cost_of_stages = *least = cost;
    } else {
        plan->plain = best;
    }
    tsr_relay_free(&relay, &plan->allocator);
    return status;
}

/* Is it another tensor than either side, and than those of the orders before it? */
static bool is_new_plain(const tsr_plan *plan, tsr_plain plain)
{
    tsr_desc between, other;
    if (tsr_between_plain(&between, plan, plain, plan->dst.dims) != TSR_OK)
        return false;
    bool is_new = !tsr_is_like(&plan->src, &between) && !tsr_is_like(&plan->dst, &between);
    for (tsr_plain before = TSR_PLAIN_BY_OUTERMOST; is_new && before < plain; before++)
        is_new = tsr_between_plain(&other, plan, before, plan->dst.dims) != TSR_OK || !tsr_desc_equal(&between, &other);
    return is_new;
}

static tsr_status try_plains(double *least, tsr_plan *plan, tsr_plain end)
{
    tsr_status status = TSR_OK;
    for (tsr_plain plain = TSR_PLAIN_BY_OUTERMOST; status == TSR_OK && plain < end; plain++)
        if (is_new_plain(plan, plain))
            status = try_plain(least, plan, plain);
    return status;
}

/* Blocks of so few bytes at a source, not all of them filled, take longer than the model says. */
static bool has_short_blocks(const tsr_desc *src, int64_t bytes)
{
    enum { SHORT_BYTES = 4 };
    return src->block_dims[src->levels - 1] * bytes < SHORT_BYTES;
}

/* Is it not known yet what a route costs, or whether that is less than one step? */
static bool is_cost_open(const tsr_plan *plan, tsr_purpose purpose, double cost_of_boxes)
{
    static const double clearly_less = 0.25;
    if (purpose == TSR_BY_PADDED)
        return !tsr_has_parts_at_src(plan) || has_short_blocks(&plan->src, plan->conversion.src_bytes);
    return purpose == TSR_BY_JOINED && tsr_relay_cost(plan) > clearly_less * cost_of_boxes;
}

/* One box of so few bytes is moved before the first stage of a relay has begun: its stages are not worth pricing. */
static bool is_tiny(const tsr_plan *plan)
{
    enum { TINY_BYTES = 256 };
    return plan->element_boxes == 1 && tsr_plan_copied_bytes(plan, (double)tsr_desc_elements(&plan->dst)) <= TINY_BYTES;
}

/* Plans of stages take longer to make than that of the boxes alone, whose cost is asked first. */
tsr_status tsr_relay_choose(tsr_plan *plan)
{
    static const double least_of_any = 1.7; /* two copies in the caches; a plan that costs less goes straight */
    static const double slow = 3;
    const double cost = plan->in_place ? 0 : tsr_cost_of_boxes(plan);
    double least = INFINITY;
    char reason[TSR_REASON_SIZE];
    tsr_joint joint;
    tsr_status status = TSR_OK;
    if (cost < least_of_any || is_tiny(plan))
        return TSR_OK;
    const tsr_purpose purpose = tsr_purpose_find(plan, &joint);
    if (purpose == TSR_BY_PLAIN)
        return try_plains(&least, plan, TSR_PLAINS_OF_BLOCKS);
    const bool is_slow = cost > slow && tsr_may_go_in_two(plan);
    if (is_cost_open(plan, purpose, cost))
        status = try_plain(&least, plan, TSR_NO_PLAIN);
    else if (is_slow && tsr_relay_applies(plan, reason))
        least = tsr_relay_cost(plan);
    if (status != TSR_OK || !is_slow || least < slow)
        return status;
    return try_plains(&least, plan, TSR_PLAINS);
}

static void name_kernels(tsr_relay *relay)
{
    const tsr_stages *stages = &relay->shape[0];
    size_t at = 0;
    for (int i = 0; i < stages->count && at < sizeof relay->kernels; i++)
        at += (size_t)snprintf(relay->kernels + at, sizeof relay->kernels - at, "%s%s", i > 0 ? " + " : "",
                               tsr_plan_get_info(stages->stage[i]).kernel);
}

/* That slices are worth, or the only stage of one. */
static int threads_of(const tsr_relay *relay, const tsr_plan *plan)
{
    const double elements = (double)tsr_desc_elements(&plan->dst);
    if (relay->shape[0].count == 1)
        return tsr_plan_get_info(relay->shape[0].stage[0]).threads;
    if (share_bytes(plan))
        return 1;
    return tsr_plan_threads_worth(plan, tsr_relay_cost(plan) * tsr_plan_copied_bytes(plan, elements),
                                  relay->cut.slices);
}

tsr_status tsr_relay_prepare(tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    tsr_route route;
    const tsr_status status = plan->relay ? TSR_OK : make_relay(&plan->relay, &route, plan);
    if (status != TSR_OK) {
        tsr_relay_free(&plan->relay, &plan->allocator);
        tsr_decline(reason, "one of its steps has no plan");
        return status == TSR_OUT_OF_MEMORY ? status : TSR_UNSUPPORTED;
    }
    name_kernels(plan->relay);
    plan->row_kernel = plan->relay->kernels;
    plan->row_threads = threads_of(plan->relay, plan);
    return TSR_OK;
}
