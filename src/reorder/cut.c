/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/cut.h"

#include <string.h>

#include "base/int.h"
#include "desc/fields.h"
#include "reorder/between.h"
#include "reorder/caches.h"
#include "reorder/plan.h"
#include "reorder/workshop.h"

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

/* In bytes that lie side by side, where slices have room for that. */
enum { LONGEST_LINE = 4 * TSR_CACHE_LINE };

/* What slices are to be like. */
struct wish {
    const tsr_plan *plan;
    const tsr_route *route; /* of all */
    const tsr_desc *side;   /* cut from its outermost level on */
    bool in_pieces;
    int64_t bytes; /* at most, of the tensors between */
    int64_t line;  /* as many bytes of both sides have to lie side by side */
};

/* Would parts of an axis make short what has a factor for each element: in pieces that are converted where they lie, or
 * on either side? */
static bool cuts_factors(const struct wish *wish, int axis)
{
    const tsr_plan *plan = wish->plan;
    if (axis != plan->factor_axis)
        return false;
    return wish->in_pieces ? is_innermost(wish->side, axis)
                           : is_innermost(&plan->src, axis) || is_innermost(&plan->dst, axis);
}

/* A loop over parts of an axis, which keep so many of its indices; false where there can be none. */
static bool find_loop(tsr_loop *loop, const tsr_plan *plan, int axis, int64_t kept)
{
    const tsr_desc *src = &plan->src, *dst = &plan->dst;
    *loop = (tsr_loop){.n = tsr_ceil_div(dst->dims[axis], kept), .factor = axis == plan->factor_axis ? kept : 0};
    return loop->n > 1 && are_whole(src->dtype, step_of(src, axis, kept), &loop->src) &&
           are_whole(dst->dtype, step_of(dst, axis, kept), &loop->dst);
}

/* The indices of an axis that a side has in so many bytes side by side. */
static int64_t indices_in_line(const tsr_desc *side, int axis, int64_t line)
{
    const int64_t in_line = tsr_ceil_div(8 * line, tsr_dtype_bits(side->dtype));
    int64_t elements = 1, indices = 1;
    for (int i = side->levels - 1; i >= 0 && elements < in_line; i--) {
        if (side->order[i] == axis)
            indices *= tsr_min(side->block_dims[i], tsr_ceil_div(in_line, elements));
        elements *= side->block_dims[i];
    }
    return indices;
}

/* There is padding of the destination to be zeroed behind the last index; what the source has there is not read. */
static bool is_padded(const tsr_plan *plan, int axis)
{
    return tsr_padded_dim(&plan->dst, axis) > plan->dst.dims[axis];
}

/* About as many indices of an axis as are wanted, in whole parts: a divisor, if there is one that is not much less.
 * Two axes may be ragged; 0 if two others are already, and this one would have to be. */
static int64_t kept_of(const tsr_cut *cut, const tsr_plan *plan, int axis, int64_t part, int64_t wanted)
{
    const int64_t n = plan->dst.dims[axis], most = tsr_max(1, wanted / part);
    const bool divides = n % part == 0 && !is_padded(plan, axis), may_be_ragged = cut->ragged < TSR_MOST_RAGGED;
    const int64_t divisor = divides ? tsr_divisor_below(n / part, most) : 0;
    return part * (2 * divisor >= most || !may_be_ragged ? divisor : most);
}

/* The fewest indices of an axis that a slice may have; pieces should have whole lines of the other side, if they
 * can. */
static int64_t part_of(const struct wish *wish, int axis, int64_t in_line)
{
    const int64_t part = tsr_route_part(wish->route, wish->plan, axis);
    const bool has_lines = part > 0 && in_line % part == 0 && wish->plan->dst.dims[axis] % in_line == 0;
    return has_lines && wish->in_pieces ? in_line : part;
}

/* From the outermost level on, until slices are small, but have their lines. Are they as small as is wanted? */
static bool find_cut(tsr_cut *cut, const struct wish *wish)
{
    enum { FACTORS = 256 }; /* about so many side by side, and no less than half */
    const tsr_plan *plan = wish->plan;
    const double most = (double)wish->bytes;
    double bytes = (double)tsr_route_bytes(wish->route);
    *cut = (tsr_cut){.slices = 1};
    memcpy(cut->dims, plan->dst.dims, sizeof cut->dims);
    for (int i = 0; i < wish->side->levels && bytes > most; i++) {
        const int axis = wish->side->order[i];
        const int64_t in_line =
            tsr_max(indices_in_line(&plan->src, axis, wish->line), indices_in_line(&plan->dst, axis, wish->line));
        const int64_t n = plan->dst.dims[axis], part = part_of(wish, axis, in_line);
        if (cut->dims[axis] < n || part == 0)
            continue;
        const int64_t factors = cuts_factors(wish, axis) ? FACTORS : 0;
        const int64_t least = tsr_ceil_div(in_line, part) * part; /* no less than a line */
        const int64_t wanted = tsr_max((int64_t)(most / bytes * (double)n), tsr_max(least, factors));
        const int64_t kept = kept_of(cut, plan, axis, part, wanted);
        if (kept == 0 || kept < factors / 2 || !find_loop(&cut->loop[cut->loops], plan, axis, kept))
            continue;
        if (n % kept != 0 || is_padded(plan, axis)) {
            cut->ragged_axis[cut->ragged] = axis;
            cut->ragged_loop[cut->ragged++] = cut->loops;
        }
        cut->slices *= cut->loop[cut->loops++].n;
        cut->dims[axis] = kept;
        bytes *= (double)kept / (double)n;
    }
    return bytes <= most;
}

/* ---- pieces ---- */

/*
 * May slices be made of pieces of the wider side, which are read or written in order? A last cache that is near gives
 * them fast. There are more elements than fit into one, so that a leg of a route whose slices are smaller takes no such
 * room of the stack. Nor do blocks that do not nest, one of whose legs may go by two more tensors.
 */
static bool may_have_pieces(const tsr_plan *plan, const tsr_route *route)
{
    const int64_t bytes = (int64_t)tsr_dtype_size_bytes(tsr_between_type(plan)), fitting = TSR_PIECE_BYTES / bytes;
    tsr_workshop workshop;
    if (route->purpose != TSR_APART || route->legs != 2 || plan->lowering.has_tables)
        return false;
    tsr_workshop_init(&workshop, plan);
    return workshop.is_near && tsr_desc_elements(&plan->dst) > fitting;
}

/* Several threads want a few each, to end at about the same time. */
static int64_t bytes_of_piece(const tsr_plan *plan, const tsr_route *route)
{
    enum { PIECES_OF_A_THREAD = 8 };
    const int64_t share = tsr_route_bytes(route) / (PIECES_OF_A_THREAD * plan->threads);
    const int64_t most = tsr_share_of_l2(TSR_PIECE_BYTES);
    return plan->threads == 1 ? most : tsr_max(tsr_share_of_l1(TSR_NEAR_BYTES), tsr_min(share, most));
}

/* Of a slice on a side, with its padding. */
static int64_t elements_of_slice(const tsr_cut *cut, const tsr_desc *side)
{
    int64_t elements = 1;
    for (int axis = 0; axis < side->rank; axis++)
        elements *= cut->dims[axis] < side->dims[axis] ? cut->dims[axis] : tsr_padded_dim(side, axis);
    return elements;
}

/* Each slice is one piece; or several long ones, if lines of the other side are asked to be long as well. */
static bool find_pieces(tsr_cut *cut, const tsr_plan *plan, const tsr_route *route)
{
    enum { LEAST_PIECE_BYTES = 4096 };
    if (!may_have_pieces(plan, route))
        return false;
    const tsr_desc *side = tsr_between_is_converted(plan) ? &plan->src : &plan->dst;
    struct wish wish = {.plan = plan,
                        .route = route,
                        .side = side,
                        .in_pieces = true,
                        .bytes = bytes_of_piece(plan, route),
                        .line = TSR_CACHE_LINE};
    if (find_cut(cut, &wish) && tsr_cut_line(cut, side) == elements_of_slice(cut, side)) {
        cut->pieces = TSR_ONE_PIECE;
        return true;
    }
    wish.line = LONGEST_LINE;
    if (!find_cut(cut, &wish) || tsr_cut_line(cut, side) < 8 * LEAST_PIECE_BYTES / tsr_dtype_bits(side->dtype))
        return false;
    cut->pieces = TSR_LONG_PIECES;
    return true;
}

/* ---- all together ---- */

/* Where legs are fast, the tensors between are wanted in the first-level cache, unless they are to have many lines:
 * rows that are streamed more than others, so that the source is read by more than a line at a time. */
static int64_t wanted_bytes(const tsr_route *route)
{
    if (route->purpose == TSR_BY_ROWS)
        return tsr_share_of_l2(TSR_PIECE_BYTES);
    const bool is_far = route->purpose == TSR_BY_PLAIN || route->purpose == TSR_BY_PIXELS;
    return is_far ? tsr_share_of_l2(TSR_FAR_BYTES) : tsr_share_of_l1(TSR_NEAR_BYTES);
}

/* Whole lines, so that those of neither side are read or written several times; and as long as they may be, if it is
 * for elements to be converted where they lie. Rows are streamed only if slices as small as can be have lines. */
static int64_t longest_line(const tsr_route *route)
{
    if (route->purpose == TSR_BY_ROWS)
        return 1;
    return route->purpose == TSR_APART ? LONGEST_LINE : TSR_CACHE_LINE;
}

void tsr_cut_find(tsr_cut *cut, const tsr_plan *plan, const tsr_route *route)
{
    struct wish wish = {
        .plan = plan, .route = route, .side = &plan->dst, .bytes = wanted_bytes(route), .line = longest_line(route)};
    if (find_pieces(cut, plan, route))
        return;
    while (!find_cut(cut, &wish) && wish.line > 1)
        wish.line /= 4;
}

tsr_slice tsr_cut_slice(const tsr_cut *cut, const tsr_plan *plan, int shape)
{
    tsr_slice slice = {0};
    memcpy(slice.dims, cut->dims, sizeof slice.dims);
    for (int i = 0; i < cut->ragged; i++) {
        const int axis = cut->ragged_axis[i];
        const int64_t n = plan->dst.dims[axis], kept = cut->dims[axis];
        if (!(shape >> i & 1))
            continue;
        slice.first[axis] = (n - 1) / kept * kept;
        slice.dims[axis] = n - slice.first[axis];
    }
    return slice;
}

int64_t tsr_cut_line(const tsr_cut *cut, const tsr_desc *side)
{
    int64_t elements = 1, indices[TSR_MAX_RANK];
    for (int axis = 0; axis < side->rank; axis++)
        indices[axis] = cut->dims[axis] < side->dims[axis] ? cut->dims[axis] : INT64_MAX;
    for (int i = side->levels - 1; i >= 0; i--) {
        int64_t *left = &indices[side->order[i]];
        elements *= tsr_min(side->block_dims[i], *left);
        if (*left < side->block_dims[i])
            break;
        *left /= *left < INT64_MAX ? side->block_dims[i] : 1;
    }
    return elements;
}

int64_t tsr_cut_bytes(const tsr_cut *cut, const tsr_plan *plan)
{
    int64_t most = 0;
    for (int shape = 0; shape < tsr_cut_shapes(cut); shape++) {
        const tsr_slice slice = tsr_cut_slice(cut, plan, shape);
        tsr_route route;
        if (tsr_route_make(&route, plan, &slice) != TSR_OK)
            return INT64_MAX;
        most = tsr_max(most, tsr_route_bytes(&route));
    }
    return most;
}
