/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/box_groups.h"

#include "base/int.h"
#include "reorder/caches.h"
#include "reorder/columns.h"
#include "reorder/lines.h"
#include "reorder/sets.h"

/* ---- rows of a group ---- */

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
    const int64_t in_byte = box->packed_move == TSR_KEPT_PACKED ? tsr_elements_in_byte(conversion->src_packing) : 1;
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
        if (box->packed_move == TSR_UNPACKED_LAST)
            rows = line = tsr_rows_to_unpack(conversion);
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
static tsr_status make_scratch(tsr_box *box, const tsr_workshop *workshop)
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

/* ---- tiles of a call ---- */

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

tsr_status tsr_box_make_groups(tsr_box *box, const tsr_workshop *workshop)
{
    const tsr_status status = make_scratch(box, workshop);
    box->joined_tiles = tiles_to_join(box, workshop);
    return status;
}
