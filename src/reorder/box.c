/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/box.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/int.h"
#include "reorder/box_lanes.h"
#include "reorder/caches.h"
#include "reorder/group.h"
#include "reorder/lines.h"
#include "reorder/sets.h"
#include "reorder/shape.h"
#include "reorder/writes.h"

/* ---- kernels ---- */

/* The width that the kernel of a box sees: that of the narrower type, where there is a choice. */
static int64_t moved_bytes(const tsr_box *box, const tsr_conversion *conversion)
{
    if (box->motion == TSR_MOTION_ZERO || box->converts_first)
        return conversion->dst_bytes;
    return conversion->src_bytes;
}

static void set_kernel(tsr_box *box, const tsr_kernels *kernels, const tsr_conversion *conversion)
{
    int width = tsr_width_of_bytes(moved_bytes(box, conversion));
    const tsr_tile_entry *entry = NULL;
    switch (box->motion) {
    case TSR_MOTION_COPY:
        entry = box->scatters         ? &kernels->scatter[0]
                : box->writes_padding ? &kernels->copy_padded[0]
                                      : &kernels->copy[0];
        break;
    case TSR_MOTION_TRANSPOSE:
        entry = tsr_has_odd_units(conversion) ? &kernels->transpose_units[width]
                : box->pads_pixels            ? &kernels->pad[width]
                : box->writes_padding         ? &kernels->transpose_padded[width]
                                              : &kernels->transpose[width];
        break;
    case TSR_MOTION_INTERLEAVE:
        entry = &kernels->interleave[width];
        break;
    case TSR_MOTION_DEINTERLEAVE:
        entry = &kernels->deinterleave[width];
        break;
    case TSR_MOTION_UNPAD:
        entry = &kernels->unpad[width];
        break;
    case TSR_MOTION_PICK:
        entry = box->lanes.lane ? &kernels->shuffle[width] : &kernels->pick[width];
        break;
    default:
        entry = &kernels->pick[width];
    }
    box->kernel = entry->run;
    box->kernel_name = box->motion == TSR_MOTION_ZERO ? "zero" : entry->name;
    if (box->motion == TSR_MOTION_COPY && !tsr_is_straight(conversion))
        box->kernel_name = "rows";
    if (tsr_box_loads_pixels(box, conversion))
        box->kernel_name = "pixels";
    if (tsr_box_joins_pixels(box, conversion))
        box->kernel_name = "joined_pixels";
    if (!tsr_is_straight(conversion) && box->pads_pixels)
        box->kernel_name = "padded_pixels";
    if (box->finds_lines)
        box->kernel_name = kernels->lines[width].name;
}

/* ---- how a destination is written ---- */

static bool columns_are_dense(const tsr_box *box, int64_t dst_bytes)
{
    const int64_t tile = box->column.is_table ? box->column.step : INT64_MAX;
    for (int64_t c = 1; !box->column.is_run && c < box->column.length; c++)
        if (box->column.dst[c] != c % tile * dst_bytes)
            return false;
    return true;
}

/* Do the rows of a tile continue each other? */
static bool has_dense_rows(const tsr_box *box)
{
    if (box->column.tiles > 1 || box->row.is_table || !box->has_dense_columns)
        return false;
    for (int64_t r = 1; r < box->row.step; r++)
        if (box->row.dst[r] != r * box->row_bytes)
            return false;
    return true;
}

static bool has_dense_runs(const tsr_box *box, int64_t src_bytes)
{
    if (box->motion != TSR_MOTION_COPY || box->column.tiles > 1 || box->row.is_table)
        return false;
    for (int64_t r = 1; r < box->row.step; r++)
        if (box->row.src[r] != r * box->column.n * src_bytes)
            return false;
    return true;
}

/* Tables of the walk count as odd. Where the destination itself begins is not known before it is run. */
static int64_t bits_of_destination(const tsr_box *box)
{
    int64_t bits = 0;
    for (int i = 0; i < box->walk_count; i++)
        bits |= box->walk[i].dst_table ? 1 : box->walk[i].dst;
    for (int64_t r = 0; r < box->row.length; r++)
        bits |= box->row.dst[r];
    return bits;
}

/* ---- groups ---- */

/* Is there a kernel for rows with zeros behind them? For a copy of whole lanes there is, if nothing is converted. */
static bool can_write_padding(const tsr_box *box, const tsr_conversion *conversion)
{
    if (box->motion == TSR_MOTION_COPY)
        return box->padding_bytes > 0 && box->row_bytes % TSR_LANE_BYTES == 0 && tsr_is_straight(conversion);
    return box->pads_pixels || (box->motion == TSR_MOTION_TRANSPOSE &&
                                tsr_is_lane_with_padding(box->row_bytes - box->padding_bytes, box->padding_bytes));
}

/* Are the columns of a tile side by side on both sides, with those behind it, in the source with all channels of
 * each? */
static bool are_one_piece(const tsr_box *box, int64_t src_bytes)
{
    const int64_t pitch = box->row.n * src_bytes;
    bool are = box->has_dense_columns;
    for (int64_t c = 0; are && c < box->column.length; c += box->column.loop[0].n)
        are = box->column.src[c] == c * pitch;
    return are;
}

/* Of pixels that lie side by side in pieces only: in the source to be interleaved, or on either side, parted. */
static tsr_status make_pieces(tsr_box *box, int64_t src_bytes, const tsr_allocator *allocator)
{
    const bool joins = box->motion == TSR_MOTION_INTERLEAVE && box->row.count > 1;
    const bool parts = box->motion == TSR_MOTION_DEINTERLEAVE && !are_one_piece(box, src_bytes);
    const tsr_chain *pixels = joins ? &box->row : &box->column;
    if ((!joins && !parts) || box->lanes.lane)
        return TSR_OK;
    const int64_t length = pixels->loop[0].n, *at = joins ? pixels->src : pixels->dst;
    box->pieces = pixels->step / length;
    box->piece = tsr_allocate(allocator, 2 * (size_t)box->pieces * sizeof *box->piece);
    if (!box->piece)
        return TSR_OUT_OF_MEMORY;
    box->src_piece = box->piece + box->pieces;
    for (int64_t i = 0; i < box->pieces; i++) {
        box->piece[i] = at[i * length];
        box->src_piece[i] = pixels->src[i * length];
    }
    return TSR_OK;
}

/* Do the columns of a tile begin on cache lines of the source, or all as far behind one? */
static bool has_aligned_columns(const tsr_box *box)
{
    int64_t bits = 0;
    for (int64_t c = 0; c < box->column.length; c++)
        bits |= box->column.src[c];
    return bits % TSR_CACHE_LINE == 0;
}

/* Do rows go through scratch memory to be written whole? */
static bool needs_whole_rows(const tsr_box *box)
{
    return box->streams || box->buffers || (box->padding_bytes > 0 && !box->writes_padding);
}

/* Does a kernel take all columns at once, so that it reads each line of the source but once? */
static bool is_one_stripe(const tsr_workshop *workshop, int64_t columns)
{
    const int64_t dst_bytes = workshop->conversion->dst_bytes;
    const bool takes_lines = workshop->kernels->writes_lines || tsr_writes_halves(workshop->kernels, dst_bytes);
    return takes_lines && columns * dst_bytes <= TSR_CACHE_LINE;
}

/* Rows that go straight to where they belong, so few that a far last cache is told of all at once. */
static bool are_few_for_far_cache(const tsr_box *box, const tsr_workshop *workshop)
{
    enum { FEW_ROWS = 64 };
    return workshop->is_far && box->row.n <= FEW_ROWS;
}

/* Are lines read or written in parts, which have to stay in the first-level cache, as those of odd units are? What is
 * completed by halves, a near last one takes, and gives again what is read. */
static bool are_in_parts(const tsr_box *box, const tsr_workshop *workshop, int64_t columns)
{
    const bool are_whole =
        workshop->kernels->writes_lines || is_one_stripe(workshop, columns) || tsr_writes_near_halves(workshop);
    return !are_whole || tsr_has_odd_units(workshop->conversion) || are_few_for_far_cache(box, workshop);
}

/* Are those that go straight better left together, since the caches have what they read and write? A near last one has,
 * until it takes too much of it, but not what is written past it; nor need rows that go on where others end be cut, to
 * have several lines written at once, nor those of odd units, whose kernels read columns stripe by stripe. */
static bool are_one_group(const tsr_box *box, const tsr_workshop *workshop, int64_t columns)
{
    const bool is_cached =
        !workshop->exceeds_l1 || (workshop->topology->has_near_l3 && !workshop->is_huge && !box->streams_lines);
    const bool is_burst = workshop->has_deep_sets && box->streams_lines && box->is_dense;
    return is_cached || is_burst || tsr_has_odd_units(workshop->conversion) || is_one_stripe(workshop, columns) ||
           are_few_for_far_cache(box, workshop);
}

/* As many of all places as scratch memory has room for. */
static int64_t rows_of_places(const tsr_box *box, const tsr_conversion *conversion)
{
    const int64_t whole = tsr_rows_of_places(&box->row, conversion);
    const int64_t most = tsr_min(TSR_SCRATCH_ROWS, TSR_SCRATCH_BYTES / (box->column.step * conversion->dst_bytes));
    return tsr_min(box->row.step, most / whole * whole);
}

/* Of a transpose that writes several lines of each row at once. */
static int64_t rows_of_bursts(const tsr_box *box, const tsr_workshop *workshop, int64_t columns)
{
    const bool takes_bursts = box->streams_lines && tsr_is_straight(workshop->conversion);
    return takes_bursts ? tsr_rows_of_bursts(&box->row, columns, box->column.tiles == 1, workshop) : INT64_MAX;
}

/*
 * Rows that the first-level cache holds twice, and of a transpose at least so many that cache lines of the source are
 * read whole; or half, where parts of two have to be read anyway. Where lines are read or written in parts, so many
 * that these have sets enough.
 */
static int64_t rows_of_group(const tsr_box *box, const tsr_workshop *workshop, int64_t columns)
{
    const tsr_conversion *conversion = workshop->conversion;
    enum { GROUP_BYTES = 8 << 10, CONVERTED_BYTES = 16 << 10 };
    const bool goes_straight = (tsr_is_straight(conversion) || tsr_converts_runs(box, conversion)) &&
                               !tsr_is_packed(conversion) && !needs_whole_rows(box);
    int64_t widest = tsr_max(conversion->src_bytes, conversion->dst_bytes);
    const int64_t in_byte = box->keeps_packed ? tsr_elements_in_byte(conversion->src_packing) : 1;
    int64_t line = in_byte * TSR_CACHE_LINE / conversion->src_bytes,
            rows = tsr_max(1, in_byte * tsr_share_of_l1(GROUP_BYTES) / (columns * widest));
    if (tsr_moves_pixels(box) || box->motion == TSR_MOTION_UNPAD || box->pads_pixels)
        return box->row.step;
    if (box->buffers && box->writes_places)
        return rows_of_places(box, conversion);
    if (box->motion == TSR_MOTION_TRANSPOSE) {
        if (goes_straight && are_one_group(box, workshop, columns))
            rows = box->row.step;
        if (box->converts_first)
            rows =
                tsr_share_of_l1(CONVERTED_BYTES) / (columns * (tsr_parts_pixels(box) ? widest : conversion->dst_bytes));
        if (box->converts_lines)
            rows = line;
        if (goes_straight && !has_aligned_columns(box))
            line /= 2;
        const int64_t in_bursts = rows_of_bursts(box, workshop, columns);
        line = tsr_min(line, in_bursts);
        rows = tsr_min(rows, in_bursts);
        if (goes_straight && are_in_parts(box, workshop, columns))
            rows = tsr_min(rows, tsr_rows_in_sets(&box->row, conversion));
        if (goes_straight && !box->streams_lines)
            rows = tsr_min(rows, tsr_rows_of_crowd(&box->row, workshop));
        if (rows < box->row.step)
            rows = tsr_max(line, rows / line * line);
    } else if (goes_straight) {
        return box->row.step;
    }
    return tsr_min(box->row.step, goes_straight ? rows : tsr_min(TSR_SCRATCH_ROWS, rows));
}

/* For less than two lines of each row, and for many rows, so that what is written has time until it is read. */
static tsr_status make_ends(tsr_box *box, int64_t dst_bytes, const tsr_allocator *allocator)
{
    enum { END_BYTES = 2 * TSR_CACHE_LINE };
    const int64_t rows = tsr_min(box->row.step, TSR_SCRATCH_BYTES / END_BYTES);
    box->wide_scratch = (tsr_scratch){.rows = rows, .columns = END_BYTES / dst_bytes};
    return tsr_scratch_init(&box->wide_scratch, dst_bytes, dst_bytes, allocator);
}

/* Scratch memory is needed on the way to another type, and to whole cache lines. */
static tsr_status make_groups(tsr_box *box, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    const tsr_allocator *allocator = workshop->allocator;
    const int64_t src_bytes = conversion->src_bytes, dst_bytes = conversion->dst_bytes, columns = box->column.step;
    const bool has_padding = box->padding_bytes > 0, is_wide = needs_whole_rows(box);
    const int64_t spare = box->streams ? tsr_ceil_div(TSR_CACHE_LINE, dst_bytes) : 0;
    const int64_t next_line = tsr_min(box->column.n, columns + spare);
    const int64_t wide = has_padding ? box->row_bytes / dst_bytes : next_line;
    tsr_status status = TSR_OK;
    box->scratch.columns = tsr_moves_padding(box) ? wide : columns;
    box->scratch.rows = rows_of_group(box, workshop, has_padding ? wide : columns);
    if (box->finds_lines)
        return make_ends(box, dst_bytes, allocator);
    if (box->motion == TSR_MOTION_ZERO || box->pads_pixels || (tsr_is_straight(conversion) && !is_wide))
        return TSR_OK;
    status = tsr_scratch_init(&box->scratch, src_bytes, dst_bytes, allocator);
    if (status != TSR_OK || !is_wide || wide == box->scratch.columns)
        return status;
    box->wide_scratch = (tsr_scratch){.rows = rows_of_group(box, workshop, wide), .columns = wide};
    return tsr_scratch_init(&box->wide_scratch, src_bytes, dst_bytes, allocator);
}

/* ---- the walk ---- */

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

static void make_walk(tsr_box *box, const tsr_workshop *workshop)
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
    box->items = 1;
    for (int i = 0; i < box->walk_count; i++)
        box->items *= box->walk[i].n;
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

/* Kernels that fetch ahead, or join runs to lines, have one tile. */
static bool can_join_copies(const tsr_box *box)
{
    return box->motion == TSR_MOTION_COPY && !box->fetches_ahead && !box->streams_lines;
}

/* Whole lines that go to places are copied place by place in a tile that is moved by itself, which is faster from a
 * last cache, as measured beside deep sets. */
static bool writes_lines_by_places(const tsr_box *box, const tsr_workshop *workshop)
{
    return box->has_places && workshop->is_near && workshop->has_deep_sets &&
           box->column.n * workshop->conversion->dst_bytes % TSR_CACHE_LINE == 0;
}

/*
 * Of small tiles, what comes before a kernel is called takes as long as the kernel; of others, memory waits meanwhile.
 * Rows of several groups have it called for each: that would go over all of the tiles once for every group. The last
 * tile of a chain may be shorter. Lines inside of columns are not those of each tile, nor those of pixels.
 */
static int64_t tiles_to_join(const tsr_box *box, const tsr_workshop *workshop)
{
    const bool is_shuffle = box->motion == TSR_MOTION_PICK && box->lanes.lane;
    const bool are_pixels = tsr_moves_pixels(box) && !box->piece && !box->lanes.lane && !box->streams_lines;
    if (box->walk_count == 0 || !tsr_is_straight(workshop->conversion))
        return 0;
    if (box->motion != TSR_MOTION_TRANSPOSE && !is_shuffle && !are_pixels && !can_join_copies(box))
        return 0;
    if (writes_lines_by_places(box, workshop) || box->fetches_next)
        return 0;
    const int innermost = box->walk_count - 1;
    const tsr_chain *chain = innermost == box->row_walk      ? &box->row
                             : innermost == box->column_walk ? &box->column
                                                             : NULL;
    if (box->padding_bytes > 0 && !box->writes_padding)
        return 0;
    if (needs_whole_rows(box) || box->finds_lines || box->scratch.rows != box->row.step)
        return 0;
    if (tsr_loop_has_table(&box->walk[innermost]) || (box->column.tiles > 1 && box->streams_lines))
        return 0;
    return box->walk[innermost].n - (chain && chain->n % chain->step != 0);
}

/* ---- all together ---- */

/* Loops of both chains, the outer ones, and the walk with its two tiles. */
static tsr_status allocate_loops(tsr_box *box, int count, const tsr_allocator *allocator)
{
    size_t loops = 4 * (size_t)count + 2;
    box->row.loop = tsr_allocate_zeroed(allocator, loops, sizeof *box->row.loop);
    if (!box->row.loop)
        return TSR_OUT_OF_MEMORY;
    box->loop_bytes = (int64_t)(loops * sizeof *box->row.loop);
    box->column.loop = box->row.loop + count;
    box->outer = box->column.loop + count;
    box->walk = box->outer + count;
    return TSR_OK;
}

/* Tables of both chains. What is written in whole lines reads ahead into the next tile, and whether a box is so is not
 * known yet. */
static tsr_status make_tiles(tsr_box *box, int64_t rows, int64_t columns, const tsr_workshop *workshop)
{
    const int64_t src_bytes = workshop->conversion->src_bytes, dst_bytes = workshop->conversion->dst_bytes;
    const bool may_read_ahead = workshop->streams || workshop->may_stream_lines || workshop->exceeds_l1;
    const int64_t spare = may_read_ahead ? tsr_ceil_div(TSR_CACHE_LINE, dst_bytes) : 0;
    tsr_status status = tsr_chain_init(&box->row, rows, 0, src_bytes, dst_bytes, workshop->allocator);
    if (status == TSR_OK)
        status = tsr_chain_init(&box->column, columns, spare, src_bytes, dst_bytes, workshop->allocator);
    return status;
}

/* Do n channels lie side by side in the destination? */
static bool has_channels(const tsr_nest *nest, int64_t n)
{
    for (int i = 0; i < nest->count; i++)
        if (nest->loop[i].dst == 1 && !nest->loop[i].dst_table && nest->loop[i].n == n)
            return true;
    return false;
}

/*
 * Neighbours in the source that come backwards, as reversed channels do, are taken forwards, unless the
 * destination has them as neighbours, or they are pixels there, which are shuffled.
 */
static void turn_round(tsr_nest *nest, const tsr_conversion *conversion)
{
    for (int i = 0; i < nest->count; i++) {
        const tsr_loop *loop = &nest->loop[i];
        const bool is_backward = !tsr_loop_has_table(loop) && loop->src == -1 && loop->dst != 1;
        if (is_backward && !(tsr_can_shuffle_pixels(loop->dst, conversion) && has_channels(nest, loop->dst)))
            tsr_nest_turn(nest, i);
    }
}

static tsr_status fill(tsr_box *box, const tsr_nest *nest, bool is_padding, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    int64_t rows, columns;
    tsr_shape_box(box, nest, is_padding, workshop, &rows, &columns);
    /* so that tiles begin with whole bytes where they can */
    const int64_t in_byte = tsr_elements_in_byte(conversion->dst_packing);
    rows = tsr_ceil_div(rows, in_byte) * in_byte;
    columns = tsr_ceil_div(columns, in_byte) * in_byte;
    tsr_status status = make_tiles(box, rows, columns, workshop);
    if (status != TSR_OK)
        return status;
    make_walk(box, workshop);
    box->padding_bytes = box->column.count > 0 ? box->column.loop[0].padding * conversion->dst_bytes : 0;
    box->row_bytes = box->column.n * conversion->dst_bytes + box->padding_bytes;
    box->next_walk = find_next_rows(box, conversion);
    box->writes_padding = can_write_padding(box, conversion);
    box->has_dense_columns = columns_are_dense(box, conversion->dst_bytes);
    box->is_dense = has_dense_rows(box);
    status = tsr_box_make_lanes(box, workshop);
    if (status == TSR_OK)
        status = make_pieces(box, conversion->src_bytes, workshop->allocator);
    if (status != TSR_OK)
        return status;
    box->is_dense_in_src = has_dense_runs(box, conversion->src_bytes);
    box->converts_first = tsr_converts_first(box, workshop);
    box->is_serial = conversion->pack && !tsr_packed_items_are_apart(box, conversion->dst_packing);
    box->dst_bits = bits_of_destination(box);
    tsr_choose_writes(box, workshop);
    set_kernel(box, workshop->kernels, conversion);
    box->keeps_packed = tsr_keeps_packed(box, conversion);
    status = make_groups(box, workshop);
    box->joined_tiles = tiles_to_join(box, workshop);
    return status;
}

tsr_status tsr_box_init(tsr_box *box, const tsr_nest *nest, bool is_padding, const tsr_workshop *workshop)
{
    tsr_nest turned = *nest;
    turn_round(&turned, workshop->conversion);
    *box = (tsr_box){.src = turned.src, .dst = turned.dst, .factor = turned.factor};
    box->elements = tsr_nest_elements(&turned);
    tsr_status status = allocate_loops(box, turned.count, workshop->allocator);
    if (status == TSR_OK)
        status = fill(box, &turned, is_padding, workshop);
    if (status != TSR_OK)
        tsr_box_reset(box, workshop->allocator);
    return status;
}

void tsr_box_reset(tsr_box *box, const tsr_allocator *allocator)
{
    tsr_loop *loops = box->row.loop;
    tsr_chain_reset(&box->row, allocator);
    tsr_chain_reset(&box->column, allocator);
    tsr_lanes_reset(&box->lanes, allocator);
    tsr_deallocate(allocator, box->piece, 2 * (size_t)box->pieces * sizeof *box->piece);
    tsr_scratch_reset(&box->scratch, allocator);
    tsr_scratch_reset(&box->wide_scratch, allocator);
    tsr_deallocate(allocator, loops, (size_t)box->loop_bytes);
    *box = (tsr_box){0};
}
