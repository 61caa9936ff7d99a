/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/box_walk.h"

#include <stdlib.h>

#include "base/int.h"
#include "reorder/caches.h"
#include "reorder/sets.h"

/* How far a step moves where it moves less, but for sides that stand still. */
static int64_t distance(const tsr_loop *loop)
{
    int64_t src = llabs(loop->src_table ? loop->src_table[1] : loop->src);
    int64_t dst = llabs(loop->dst_table ? loop->dst_table[1] : loop->dst);
    return src == 0 ? dst : dst == 0 ? src : tsr_min(src, dst);
}

/* Does a loop move less than another one, or as much, but less in the source? Beside deep sets, what is large enough
 * for prefetchers is better read in order, as measured. */
static bool moves_less(const tsr_loop *loop, const tsr_loop *other, const tsr_workshop *workshop)
{
    enum { LARGE = 2 << 10 };
    const int64_t own = distance(loop), others = distance(other);
    const bool reads_in_order = workshop->has_deep_sets && own >= LARGE;
    return own < others || (own == others && reads_in_order && llabs(loop->src) < llabs(other->src));
}

/* Does a loop go outside of one of the walk? So it does if that one moves less. But threads share what is outermost:
 * where they copy what a second-level cache would hold, that is what moves more in the destination, as prefetchers of
 * one take lines from another that writes near it. */
static bool goes_outside(const tsr_box *box, const tsr_loop *loop, int at, const tsr_workshop *workshop)
{
    const tsr_loop *other = &box->walk[at];
    const bool is_shared = at == 0 && workshop->threads > 1 && !workshop->exceeds_l2 && box->motion == TSR_MOTION_COPY;
    if (is_shared && !loop->dst_table && !other->dst_table)
        return llabs(other->dst) < llabs(loop->dst);
    return moves_less(other, loop, workshop);
}

/* Inside of what moves farther, or of everything. */
static void add_to_walk(tsr_box *box, const tsr_loop *loop, bool is_innermost, const tsr_workshop *workshop, int *where)
{
    int at = box->walk_count;
    *where = -1;
    if (loop->n == 1)
        return;
    for (; at > 0 && !is_innermost && goes_outside(box, loop, at - 1, workshop); at--) {
        box->walk[at] = box->walk[at - 1];
        box->row_walk += box->row_walk == at - 1;
        box->column_walk += box->column_walk == at - 1;
    }
    box->walk[at] = *loop;
    box->walk_count++;
    *where = at;
}

/*
 * Runs that go to several places are taken before those of other places. Else, a near last cache likes runs to be
 * written one after the other, wherever they come from. But the next tile needs most lines of the short ones, long ones
 * of whole lines are streamed, and rows of the source may share the sets of a cache.
 */
static bool should_copy_in_order(const tsr_box *box, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    const int64_t run = box->column.n * conversion->dst_bytes;
    if (box->has_places)
        return true;
    if (!workshop->is_near || box->motion != TSR_MOTION_COPY || box->row.count == 0 || run < 2 * TSR_CACHE_LINE)
        return false;
    return (!tsr_is_long_row(run) || run % TSR_CACHE_LINE != 0) &&
           box->row.loop[0].src * conversion->src_bytes % tsr_period_of_sets() != 0;
}

/* Of loops over whole rows, the one that goes on where each row ends; or -1, as rows of the tile itself do. */
static int find_next_rows(const tsr_box *box, const tsr_conversion *conversion)
{
    if (tsr_rows_go_on(&box->row, box->row_bytes / conversion->dst_bytes))
        return -1;
    for (int i = 0; i < box->walk_count; i++)
        if (i != box->row_walk && i != box->column_walk && !tsr_loop_has_table(&box->walk[i]) &&
            box->walk[i].dst == box->row_bytes)
            return i;
    return -1;
}

/* Has this loop far more steps than the innermost one, and are they small enough for it to be that? */
static bool is_better_inside(const tsr_loop *loop, const tsr_loop *innermost)
{
    enum { TIMES = 2 };
    return !tsr_loop_has_table(loop) && !tsr_loop_has_table(innermost) && loop->n >= TIMES * innermost->n &&
           llabs(loop->src) < TSR_PAGE && llabs(loop->dst) < TSR_PAGE;
}

/* Tiles of a block are moved many in a call, if they are those of the innermost loop. */
static void bring_many_inside(tsr_box *box, const tsr_workshop *workshop)
{
    enum { SMALL_BYTES = 1 << 10 };
    const tsr_conversion *conversion = workshop->conversion;
    const int inner = box->walk_count - 1, outer = inner - 1, least = workshop->threads > 1 ? 1 : 0;
    const int64_t bytes = box->row.n * box->column.n * conversion->dst_bytes;
    const bool are_tiles = box->motion == TSR_MOTION_TRANSPOSE && tsr_is_straight(conversion) && bytes <= SMALL_BYTES;
    if (!are_tiles || outer < least || box->row_walk >= 0 || box->column_walk >= 0 ||
        !is_better_inside(&box->walk[outer], &box->walk[inner]))
        return;
    const tsr_loop loop = box->walk[inner];
    box->walk[inner] = box->walk[outer];
    box->walk[outer] = loop;
}

void tsr_box_make_walk(tsr_box *box, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    int where;
    box->row_walk = box->column_walk = -1;
    for (int i = 0; i < box->outer_count; i++) {
        tsr_loop loop = box->outer[i];
        loop.src *= conversion->src_bytes;
        loop.dst *= conversion->dst_bytes;
        add_to_walk(box, &loop, false, workshop, &where);
    }
    add_to_walk(box, &box->row.tile, should_copy_in_order(box, workshop), workshop, &where);
    box->row_walk = where;
    add_to_walk(box, &box->column.tile, box->goes_by_rows, workshop, &where);
    box->column_walk = where;
    bring_many_inside(box, workshop);
    box->items = 1;
    for (int i = 0; i < box->walk_count; i++)
        box->items *= box->walk[i].n;
    box->next_walk = find_next_rows(box, conversion);
}
