/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/columns.h"

#include <stdlib.h>

#include "reorder/caches.h"
#include "reorder/lines.h"
#include "reorder/sets.h"

/* The loop, but that of rows, which continues so many columns in the destination; or NULL. */
static const tsr_loop *find_next_column(const tsr_draft *draft, int64_t columns)
{
    for (int i = 0; i < draft->nest->count; i++) {
        const tsr_loop *loop = &draft->nest->loop[i];
        if (loop->n > 1 && tsr_has_stride(loop->dst_table, loop->dst, columns) && loop->src != draft->row->loop[0].src)
            return loop;
    }
    return NULL;
}

/* Do all rows begin with a cache line, if the first one does? */
static bool is_aligned(const tsr_draft *draft)
{
    const int64_t dst_bytes = draft->workshop->conversion->dst_bytes;
    int64_t columns = 1, bits = 0;
    const tsr_loop *loop;
    while ((loop = find_next_column(draft, columns)) != NULL)
        columns *= loop->n + loop->padding;
    for (int i = 0; i < draft->nest->count; i++) {
        loop = &draft->nest->loop[i];
        bits |= loop->dst_table ? 1 : llabs(loop->dst) >= columns ? loop->dst * dst_bytes : 0;
    }
    return bits % TSR_CACHE_LINE == 0;
}

int64_t tsr_steps_in_pages(const tsr_draft *draft, const tsr_loop *loop, int64_t pages)
{
    const int64_t distance = loop->src_table ? TSR_PAGE : llabs(loop->src) * draft->workshop->conversion->src_bytes;
    return pages * TSR_PAGE / tsr_max(1, tsr_min(distance, TSR_PAGE));
}

/* Do rows take turns among places that are buffered, with the loop that goes on behind these in the source? */
static bool buffers_places(const tsr_draft *draft)
{
    const tsr_loop *next = tsr_find_loop(draft, tsr_steps_of(draft->row), TSR_ANY);
    if (draft->row->count != 1 || !next)
        return false;
    tsr_loop loops[] = {draft->row->loop[0], *next};
    const tsr_chain row = {.count = 2, .loop = loops};
    return tsr_buffers_places(&row, draft->column, draft->workshop);
}

/* The rows so far, and those of the loops that go on behind them in the source. */
static int64_t rows_of_source(const tsr_draft *draft)
{
    int64_t rows = tsr_steps_of(draft->row);
    const tsr_loop *next;
    while ((next = tsr_find_loop(draft, rows, TSR_ANY)) != NULL && next->n > 1)
        rows *= next->n;
    return rows;
}

/* Are columns lines of the source? Then they are one stream. */
static bool has_lines_for_columns(const tsr_draft *draft)
{
    return llabs(draft->column->loop[0].src) * draft->workshop->conversion->src_bytes == TSR_CACHE_LINE;
}

/* Rows that begin inside of lines have two that are written twice, and should have a few more, from not too many
 * pages. */
static int64_t unaligned_columns(const tsr_draft *draft)
{
    enum { PAGES = 64, FEW = 4, FEW_OF_NARROW = 8 };
    const int64_t dst_bytes = draft->workshop->conversion->dst_bytes;
    const int64_t lines = tsr_is_narrow(dst_bytes) ? FEW_OF_NARROW : FEW;
    return tsr_min(tsr_steps_in_pages(draft, &draft->column->loop[0], PAGES), lines * TSR_CACHE_LINE / dst_bytes);
}

/*
 * Of a few columns, each is read for long, and the last cache, if it is near, holds the lines of many rows, unless
 * these share its sets; of more, if rows begin inside of lines, as long as the cache has room.
 */
static int64_t near_columns(const tsr_draft *draft, bool begins_lines, bool streams_lines)
{
    enum { PAGES = 4, MOST_LINES = 16, LINES_OF_SHARED_SETS = 8 };
    const tsr_workshop *workshop = draft->workshop;
    const int64_t line = TSR_CACHE_LINE / workshop->conversion->dst_bytes;
    if (!streams_lines && tsr_rows_share_sets(draft->row, workshop->conversion) &&
        !(begins_lines && workshop->is_huge && tsr_writes_near_halves(workshop)))
        return (begins_lines ? LINES_OF_SHARED_SETS : MOST_LINES) * line;
    int64_t columns = tsr_min(tsr_steps_in_pages(draft, &draft->column->loop[0], PAGES), MOST_LINES * line);
    if (columns < 2 * line && !begins_lines && !workshop->is_huge)
        columns = unaligned_columns(draft);
    return tsr_max(line, columns / line * line);
}

/* Beyond the second-level cache; and beyond the first, where columns lie one cache line apart. */
static bool is_for_near_columns(const tsr_draft *draft)
{
    const tsr_workshop *workshop = draft->workshop;
    return workshop->is_near ||
           (workshop->exceeds_l1 && workshop->topology->has_near_l3 && has_lines_for_columns(draft));
}

/*
 * Scratch memory has room for a group of rows, at least so many that cache lines of the source are read
 * whole, and for the columns of the next tile that share its last line.
 */
int64_t tsr_most_columns(const tsr_conversion *conversion)
{
    const bool is_unpacked = conversion->unpack && !conversion->is_copy;
    const int64_t rows = is_unpacked ? tsr_rows_to_unpack(conversion) : TSR_CACHE_LINE / conversion->src_bytes;
    return TSR_SCRATCH_BYTES / (rows * tsr_widest_type(conversion)) -
           tsr_ceil_div(TSR_CACHE_LINE, conversion->dst_bytes);
}

/* Beyond the caches, if the last one is far: of a few rows, which are all, up to 1 KB of each; as many as a first-level
 * cache holds. */
static int64_t far_columns(const tsr_draft *draft, int64_t least)
{
    enum { MOST_BYTES = 1 << 10, TILE_BYTES = 36 << 10 };
    const int64_t most = tsr_share_of_l1(TILE_BYTES), rows = tsr_steps_of(draft->row),
                  dst_bytes = draft->workshop->conversion->dst_bytes;
    int64_t columns = MOST_BYTES / dst_bytes;
    if (tsr_find_loop(draft, rows, TSR_ANY))
        return least;
    while (columns > least && rows * columns * dst_bytes > most)
        columns /= 2;
    return columns;
}

/* Within the caches of such a machine: long pieces of rows that have few sets for the lines which two tiles share. */
static bool has_drifting_rows(const tsr_draft *draft)
{
    const tsr_workshop *workshop = draft->workshop;
    return workshop->exceeds_l1 && !workshop->exceeds_l2 && !workshop->topology->has_near_l3 &&
           tsr_rows_drift(draft->row, workshop->conversion);
}

/* Of rows whose lines are found, past a near last cache as many as scratch memory has room for, or as many as memory
 * takes at once. */
static int64_t columns_of_found_lines(const tsr_workshop *workshop)
{
    enum { FAR_BYTES = 4 * TSR_CACHE_LINE, BURST = 8 * TSR_CACHE_LINE };
    const int64_t dst_bytes = workshop->conversion->dst_bytes, line = TSR_CACHE_LINE / dst_bytes;
    if (workshop->is_far)
        return FAR_BYTES / dst_bytes;
    if (workshop->has_deep_sets && workshop->kernels->writes_lines)
        return BURST / dst_bytes;
    return tsr_most_columns(workshop->conversion) / line * line;
}

/* So many at most, and in all tiles about as many; but what is shorter grows, if a loop goes on behind it. */
static int64_t even_columns(const tsr_draft *draft, int64_t columns)
{
    const int64_t all = tsr_steps_of(draft->column);
    const int64_t most = tsr_min(columns, tsr_most_columns(draft->workshop->conversion));
    return all < most && find_next_column(draft, all) ? most : tsr_ceil_div(all, tsr_ceil_div(all, most));
}

/*
 * What is converted first is wanted as long rows; but columns that are read again for rows which begin inside of lines
 * are converted again as well, and should be few of all, unless that takes several steps (measured on an Emerald
 * Rapids).
 */
static int64_t narrowed_columns(const tsr_draft *draft, bool begins_lines)
{
    enum { COLUMNS = 64, UNALIGNED_BYTES = 6 * TSR_CACHE_LINE };
    const tsr_workshop *workshop = draft->workshop;
    const tsr_conversion *conversion = workshop->conversion;
    const bool streams = workshop->is_far && workshop->streams && !tsr_are_few_streams(rows_of_source(draft), workshop);
    if (streams && !begins_lines && conversion->only)
        return even_columns(draft, UNALIGNED_BYTES / conversion->dst_bytes);
    return COLUMNS << tsr_min(conversion->dst_packing, 1); /* two are one of bytes */
}

/* Through a last cache that takes parts of lines: rows that share sets, as columns do then, too, so that both would be
 * lost from theirs, if tiles had more than a line of each row (0.8 of the time, a Granite Rapids). */
static bool has_crowded_parts(const tsr_draft *draft)
{
    const tsr_workshop *workshop = draft->workshop;
    return tsr_takes_parts_of_wide_lines(draft->row, draft->column, workshop) &&
           tsr_rows_share_sets(draft->row, workshop->conversion);
}

/*
 * Each column is a stream of its own from the source; and where rows do not begin on cache lines, every tile that is
 * streamed reads a line's worth of columns again. The kernels of odd units read a few columns at a time anyway, and
 * write parts of lines, which the next ones of the tile go on with.
 */
static int64_t own_columns(const tsr_draft *draft)
{
    enum { ALIGNED_BYTES = 2 * TSR_CACHE_LINE, UNALIGNED_BYTES = 4 * TSR_CACHE_LINE };
    enum { LONG_BYTES = 16 * TSR_CACHE_LINE, MOST_PAGES = 64, ODD_COLUMNS = 512 };
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t line = TSR_CACHE_LINE / conversion->dst_bytes;
    if (conversion->unpack && conversion->is_copy) /* counted as bytes; more would leave few rows */
        return line << tsr_min(conversion->src_packing, 2);
    if (tsr_has_odd_units(conversion))
        return ODD_COLUMNS;
    const bool begins_lines = is_aligned(draft), may_stream_lines = conversion->is_copy && begins_lines;
    const int64_t streamed =
        may_stream_lines ? tsr_lines_to_stream(rows_of_source(draft), draft->row, draft->column, draft->workshop) : 0;
    if (streamed > 0 && !has_lines_for_columns(draft)) /* of these, more are as near */
        return streamed * line;
    if (!begins_lines && tsr_finds_lines(draft->row, draft->column, draft->workshop))
        return columns_of_found_lines(draft->workshop);
    if (buffers_places(draft) || (!begins_lines && has_crowded_parts(draft)))
        return line;
    if (conversion->is_copy && is_for_near_columns(draft))
        return near_columns(draft, begins_lines, streamed > 0);
    if (!conversion->is_copy && tsr_narrows(conversion))
        return narrowed_columns(draft, begins_lines);
    if (conversion->is_copy && !begins_lines && has_drifting_rows(draft))
        return LONG_BYTES / conversion->dst_bytes;
    const bool is_short = conversion->is_copy && draft->workshop->streams && begins_lines;
    const int64_t least = (is_short ? ALIGNED_BYTES : UNALIGNED_BYTES) / conversion->dst_bytes;
    const int64_t columns = conversion->is_copy && draft->workshop->is_far ? far_columns(draft, least) : least;
    if (!draft->workshop->is_huge || (conversion->is_copy && !begins_lines))
        return columns;
    const int64_t most = tsr_steps_in_pages(draft, &draft->column->loop[0], MOST_PAGES) - (is_short ? 0 : line);
    return tsr_min(columns, tsr_max(1, most / line) * line);
}

/*
 * About so many columns, which end with a cache line if the first one begins with one, and scratch memory has room:
 * many are worth it even where it has not. Tiles have all steps of inner loops, and one that is cut a little farther on
 * would leave a part of a line at its end. Where rows begin inside of lines, a few more of such steps share the parts.
 * What is converted first is wanted as long rows.
 */
static int64_t columns_in_lines(const tsr_draft *draft, int64_t columns)
{
    enum { LITTLE = 4, UNALIGNED_BYTES = 4 * TSR_CACHE_LINE };
    const int64_t dst_bytes = draft->workshop->conversion->dst_bytes;
    int64_t inner = 1, all;
    if (tsr_narrows(draft->workshop->conversion))
        return columns;
    for (const tsr_loop *loop; (loop = find_next_column(draft, inner)) != NULL; inner = all) {
        const bool has_whole_lines = inner * loop->n * dst_bytes % TSR_CACHE_LINE == 0;
        all = inner * loop->n;
        if (all >= columns && (has_whole_lines || all >= LITTLE * columns))
            break;
    }
    const int64_t unit = inner * (TSR_CACHE_LINE / tsr_gcd(TSR_CACHE_LINE, inner * dst_bytes));
    if (is_aligned(draft))
        return tsr_ceil_div(columns, unit) * unit;
    return inner == 1 ? columns : tsr_max(columns, UNALIGNED_BYTES / dst_bytes);
}

/* Are columns left over behind tiles of so many, but fewer than a block of a kernel has? */
static bool leave_little(int64_t all, int64_t columns, int64_t dst_bytes)
{
    const int64_t rest = all % columns * dst_bytes;
    return rest > 0 && rest < TSR_LANE_BYTES;
}

/*
 * These go along with the others, if rows begin inside of lines, which tiles share anyway. Of what is copied within the
 * caches, all tiles but the last have whole vectors all the same, unless that would leave a few once more; what is
 * converted has as many tiles, since scratch memory has no room for more columns.
 */
static int64_t columns_with_rest(const tsr_draft *draft, int64_t columns)
{
    const tsr_workshop *workshop = draft->workshop;
    const int64_t all = tsr_steps_of(draft->column), dst_bytes = workshop->conversion->dst_bytes;
    const bool is_copy = workshop->conversion->is_copy;
    const bool takes_rest = is_copy ? !workshop->exceeds_l2 : !tsr_narrows(workshop->conversion);
    if (!takes_rest || is_aligned(draft) || draft->column->count != 1 || all < columns ||
        !leave_little(all, columns, dst_bytes))
        return columns;
    if (!is_copy)
        return tsr_ceil_div(all, tsr_ceil_div(all, columns));
    const int64_t line = TSR_CACHE_LINE / dst_bytes, each = tsr_ceil_div(all, all / columns);
    const int64_t whole = tsr_ceil_div(each, line) * line;
    return leave_little(all, whole, dst_bytes) ? each : whole;
}

int64_t tsr_wanted_columns(const tsr_draft *draft)
{
    const tsr_workshop *workshop = draft->workshop;
    const int64_t asked = workshop->tile_bytes / workshop->conversion->dst_bytes;
    const int64_t most = tsr_most_columns(workshop->conversion);
    const int64_t wanted = workshop->tile_bytes > 0
                               ? tsr_max(1, asked)
                               : columns_with_rest(draft, tsr_min(most, columns_in_lines(draft, own_columns(draft))));
    return tsr_min(wanted, most);
}

int64_t tsr_columns_of_few_rows(const tsr_draft *draft)
{
    enum { FEW_ROWS = 4, LEAST_ROWS = 16 };
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t wanted = tsr_max(TSR_CACHE_LINE / conversion->src_bytes, LEAST_ROWS);
    const int64_t rows = tsr_steps_of(draft->row), line = TSR_CACHE_LINE / conversion->dst_bytes;
    const int64_t few = draft->workshop->is_far ? FEW_ROWS : wanted - 1; /* what more gain there was not measured */
    if (draft->workshop->tile_bytes > 0 || rows > few || buffers_places(draft))
        return draft->columns;
    const int64_t most = tsr_most_columns(conversion), times = tsr_min(wanted / rows, most / draft->columns);
    if (draft->column->count > 1 && is_aligned(draft)) /* so many that they end with lines, not anywhere */
        return tsr_max(draft->columns, draft->columns * times);
    return tsr_max(draft->columns, tsr_min(draft->columns * wanted / rows, most) / line * line);
}
