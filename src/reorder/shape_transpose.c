/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/shapes.h"

#include <stdlib.h>

#include "reorder/caches.h"
#include "reorder/columns.h"
#include "reorder/group.h"
#include "reorder/sets.h"

/* Rows are what lies side by side in the source, columns in the destination. */

/* ---- pixels of a few channels ---- */

/* Are steps of this loop pixels of n channels? If they do not lie side by side, there should be a few of them to
 * shuffle, and a few in a lane. */
static bool has_pixels(const tsr_draft *draft, const tsr_loop *loop, int64_t n)
{
    const int64_t distance = llabs(loop->src);
    if (loop->src_table || loop->padding > 0)
        return false;
    if (loop->src == n)
        return true;
    return tsr_can_shuffle_pixels(n, draft->workshop->conversion) && distance > 0 &&
           distance <= TSR_LONGEST_SHORT_SIDE && distance * draft->workshop->conversion->src_bytes < TSR_LANE_BYTES &&
           (loop->n >= TSR_LANE_BYTES || tsr_find_loop(draft, TSR_ANY, loop->n));
}

/* A tile of pixels and its channels stay in the first-level cache; */
enum { PIXELS_BYTES = 12 << 10 };

/* those that one kernel puts where they belong, copied or loaded as it converts them, need not, and fewer calls are
 * better, but for scratch memory. */
static int64_t bytes_of_pixels(const tsr_draft *draft, bool are_copied, bool are_loaded)
{
    enum { LOADED_BYTES = 18 << 10, STRAIGHT_BYTES = 48 << 10 };
    if ((are_copied || are_loaded) && !draft->workshop->streams)
        return tsr_share_of_l1(STRAIGHT_BYTES);
    return tsr_share_of_l1(are_loaded ? LOADED_BYTES : PIXELS_BYTES);
}

/* Are there too few pixels for a call of a kernel? */
static bool are_few(const tsr_draft *draft, const tsr_loop *pixels)
{
    enum { FEW_BYTES = 1 << 10 };
    return pixels->n * draft->workshop->conversion->src_bytes < FEW_BYTES;
}

/* Threads share rows; but a line of each column is too little for a thread, as the prefetchers of others read it, too.
 * So they share columns of a few lines, if these are many tiles. */
static int64_t shared_rows(const tsr_draft *draft)
{
    enum { LEAST_LINES = 2, MANY_TILES = 8 };
    const int64_t line = TSR_CACHE_LINE / draft->workshop->conversion->src_bytes, rows = tsr_steps_of(draft->row);
    const int64_t parts = tsr_shared_parts(draft), least = LEAST_LINES * line;
    if (rows < parts * least && tsr_steps_of(draft->column) >= MANY_TILES * parts * draft->columns)
        return draft->rows;
    return tsr_max(least, tsr_shared_steps(draft, draft->row, draft->rows, line));
}

/* Whole lines on both sides; but of those that are one tile, one thread has all. */
static int64_t shared_pixels(const tsr_draft *draft, const tsr_chain *pixels, int64_t fitting)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t line = TSR_CACHE_LINE / tsr_min(conversion->src_bytes, conversion->dst_bytes);
    return tsr_steps_of(pixels) > fitting ? tsr_shared_steps(draft, pixels, fitting, line) : fitting;
}

/* Pixels that do not lie side by side, or too few of them, are brought there with those that continue them. */
static tsr_motion shape_interleave(tsr_draft *draft, const tsr_loop *pixels, const tsr_loop *channels)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    const bool is_gathered = pixels->src != 1 || (are_few(draft, pixels) && !conversion->unpack);
    const bool are_joined = tsr_joins_pixels(conversion, pixels, channels);
    const int64_t bytes =
        bytes_of_pixels(draft, tsr_is_straight(conversion) && !is_gathered, are_joined && !is_gathered);
    const int64_t fitting = bytes / (tsr_widest_type(conversion) * channels->n);
    draft->rows = is_gathered ? fitting : shared_pixels(draft, draft->row, fitting);
    draft->columns = channels->n;
    while (is_gathered && tsr_steps_of(draft->row) < draft->rows &&
           tsr_take_loop(draft, draft->row, TSR_ANY, tsr_steps_of(draft->row) * channels->n))
        ;
    return TSR_MOTION_INTERLEAVE;
}

/* Of pieces whose channels are parts of lines: to so many places at most, and so many bytes in a tile. */
enum { MOST_PLACES = 64, PARTS_BYTES = 48 << 10 };

/* The next pieces in the source, behind those that the columns have, with the same factors. */
static const tsr_loop *next_pieces(const tsr_draft *draft, const tsr_loop *channels)
{
    const tsr_loop *next = tsr_find_loop(draft, tsr_steps_of(draft->column) * channels->n, TSR_ANY);
    return next && next->factor == 0 ? next : NULL;
}

static bool take_next_pieces(tsr_draft *draft, const tsr_loop *channels)
{
    return next_pieces(draft, channels) &&
           tsr_take_loop(draft, draft->column, tsr_steps_of(draft->column) * channels->n, TSR_ANY);
}

/* Those that lie behind them in the destination, wherever they come from. */
static bool take_pieces_behind(tsr_draft *draft)
{
    const int64_t columns = tsr_steps_of(draft->column);
    const tsr_loop *next = tsr_find_loop(draft, TSR_ANY, columns);
    return next && next->padding == 0 && !tsr_loop_has_table(next) && next->factor == 0 &&
           tsr_take_loop(draft, draft->column, TSR_ANY, columns);
}

/* Has the first-level cache sets for the lines of fewer channels than that, or of one piece after the other? */
static bool lose_lines(const tsr_draft *draft, const tsr_loop *channels)
{
    const int64_t bytes = draft->workshop->conversion->dst_bytes;
    const tsr_loop *next = next_pieces(draft, channels);
    const bool shares_set = next && !next->dst_table && next->dst * bytes % tsr_period_of_sets() == 0;
    return shares_set || (!channels->dst_table && tsr_lines_in_l1(llabs(channels->dst) * bytes) < MOST_PLACES);
}

/* Are channels of a piece parts of long rows, which pieces from elsewhere in the source go on with, and too many for
 * one tile? */
static bool are_parts_of_channels(const tsr_draft *draft, const tsr_loop *channels, const tsr_loop *pixels)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    const tsr_loop *next = tsr_find_loop(draft, TSR_ANY, pixels->n);
    return next && next->src != pixels->n * channels->n && next->padding == 0 && next->factor == 0 &&
           pixels->n * conversion->dst_bytes < TSR_CACHE_LINE &&
           tsr_is_long_row(next->n * pixels->n * conversion->dst_bytes) &&
           tsr_nest_elements(draft->nest) * conversion->src_bytes > tsr_share_of_l1(PARTS_BYTES);
}

/*
 * Lines are to be whole before caches lose them: so a tile has the pieces that follow the first one in the source, as
 * long as these go to few places, and then, if more of them would share sets, what goes on behind them all in the
 * destination.
 */
static void take_pieces(tsr_draft *draft, const tsr_loop *channels, const tsr_loop *pixels)
{
    if (are_parts_of_channels(draft, channels, pixels)) {
        const tsr_loop *next;
        while ((next = next_pieces(draft, channels)) != NULL &&
               tsr_steps_of(draft->column) / pixels->n * channels->n * next->n <= MOST_PLACES)
            take_next_pieces(draft, channels);
        if (lose_lines(draft, channels)) {
            tsr_take_loop(draft, draft->column, TSR_ANY, pixels->n);
            draft->columns =
                tsr_share_of_l1(PARTS_BYTES) / (tsr_widest_type(draft->workshop->conversion) * channels->n);
            return;
        }
    }
    while (tsr_steps_of(draft->column) < draft->columns &&
           (take_next_pieces(draft, channels) || take_pieces_behind(draft)))
        ;
}

static tsr_motion shape_deinterleave(tsr_draft *draft, const tsr_loop *channels, const tsr_loop *pixels)
{
    enum { MOST_SHUFFLED = 4 << 10 }; /* elements: more take too long to be cut into lanes */
    const tsr_conversion *conversion = draft->workshop->conversion;
    const bool are_side_by_side = pixels->src == channels->n;
    const bool are_loaded = tsr_loads_pixels(conversion, channels, pixels);
    const bool has_pieces = are_side_by_side && are_few(draft, pixels) && (tsr_is_straight(conversion) || are_loaded);
    const bool is_stretch = are_side_by_side && !has_pieces, are_copied = tsr_is_straight(conversion) && is_stretch;
    const int64_t bytes = bytes_of_pixels(draft, are_copied, are_loaded);
    const int64_t most = are_side_by_side ? INT64_MAX : MOST_SHUFFLED / channels->n;
    const int64_t fitting = tsr_min(bytes / (tsr_widest_type(conversion) * channels->n), most);
    draft->rows = channels->n;
    draft->columns = is_stretch ? shared_pixels(draft, draft->column, fitting) : fitting;
    while (!are_side_by_side && tsr_grow(draft, draft->column, draft->columns))
        ;
    if (has_pieces)
        take_pieces(draft, channels, pixels);
    return TSR_MOTION_DEINTERLEAVE;
}

enum { MANY_PIECES = 4 * TSR_CACHE_LINE }; /* bytes */

/* Are pieces of pixels parts of lines, which go on elsewhere on the other side than behind all channels of a piece,
 * while these fill a lane? */
static bool are_parts_of_lines(int64_t piece_bytes, int64_t channels_bytes, bool goes_on_behind)
{
    return piece_bytes < TSR_CACHE_LINE && channels_bytes >= TSR_LANE_BYTES && !goes_on_behind;
}

/* Are rows of a transpose better than pixels of an interleave, as they go on behind these, unless lines that are shared
 * all go to one set? Also where pixels are part of a vector, and nothing goes on behind their channels. */
static bool are_part_of_rows(const tsr_draft *draft, const tsr_loop *pixels, const tsr_loop *channels)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t all = pixels->n * channels->n, piece_bytes = pixels->n * conversion->src_bytes;
    const tsr_loop *next = tsr_find_loop(draft, pixels->n, TSR_ANY);
    if (pixels->src != 1 || !next)
        return false;
    if (piece_bytes < TSR_LANE_BYTES && !tsr_find_loop(draft, TSR_ANY, all))
        return true;
    if (next->dst_table)
        return false;
    const bool share_set = next->dst * conversion->dst_bytes % tsr_period_of_sets() == 0;
    const bool share_lines = all * conversion->dst_bytes % TSR_CACHE_LINE != 0;
    return !(share_set && share_lines) && next->n * piece_bytes >= MANY_PIECES &&
           are_parts_of_lines(piece_bytes, channels->n * conversion->dst_bytes, next->dst == all);
}

/* And columns, than pixels of a deinterleave? From a far last cache a line comes late for each of its parts: there all
 * of them had better be written at once, if channels fill two lanes (measured on an Emerald Rapids). */
static bool are_part_of_columns(const tsr_draft *draft, const tsr_loop *pixels, const tsr_loop *channels)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t all = pixels->n * channels->n, piece_bytes = pixels->n * conversion->dst_bytes;
    const tsr_loop *next = tsr_find_loop(draft, TSR_ANY, pixels->n);
    const int64_t channels_bytes = channels->n * conversion->src_bytes;
    const bool is_line_enough = draft->workshop->is_far && channels_bytes >= 2 * TSR_LANE_BYTES;
    return next && next->n * piece_bytes >= (is_line_enough ? TSR_CACHE_LINE : MANY_PIECES) &&
           are_parts_of_lines(piece_bytes, channels_bytes, next->src == all);
}

/* ---- longer rows and columns ---- */

/*
 * The shorter chain grows first. But where the next loop would continue either, and behind it only one could go on,
 * that one takes it though it is longer: rows, while they are short of a cache line and columns fill a lane; columns,
 * while they are short of a line and of twice the rows.
 */
static bool rows_grow_first(const tsr_draft *draft)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t rows = tsr_steps_of(draft->row), columns = tsr_steps_of(draft->column);
    const int64_t row_bytes = rows * conversion->src_bytes, column_bytes = columns * conversion->dst_bytes;
    const tsr_loop *both = tsr_find_loop(draft, rows, columns);
    const bool rows_go_on = both && tsr_find_loop(draft, rows * both->n, TSR_ANY);
    const bool columns_go_on = both && tsr_find_loop(draft, TSR_ANY, columns * both->n);
    if (rows < columns)
        return rows_go_on || !columns_go_on || column_bytes >= tsr_min(TSR_CACHE_LINE, 2 * row_bytes);
    return rows_go_on && !columns_go_on && row_bytes < TSR_CACHE_LINE && column_bytes >= TSR_LANE_BYTES;
}

static void grow_both(tsr_draft *draft)
{
    bool grew = true;
    while (grew) {
        grew = rows_grow_first(draft) && tsr_grow(draft, draft->row, draft->rows);
        grew = grew || tsr_grow(draft, draft->column, draft->columns) || tsr_grow(draft, draft->row, draft->rows);
    }
}

/* Rows that have lines to themselves, with the padding that a kernel writes, and crowd sets are as many tiles as have
 * sets for these, of about as many rows, which one call takes together. */
static int64_t rows_beside_others(const tsr_draft *draft)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    const tsr_loop *column = &draft->column->loop[0];
    const int64_t bytes = column->n * conversion->dst_bytes, padding = column->padding * conversion->dst_bytes,
                  rows = tsr_min(draft->rows, tsr_steps_of(draft->row));
    if (!tsr_is_straight(conversion) || !tsr_is_lane_with_padding(bytes, padding) || bytes + padding < TSR_CACHE_LINE)
        return draft->rows;
    const int64_t fitting = tsr_max(1, tsr_rows_of_crowd(draft->row, draft->workshop));
    return rows <= fitting ? draft->rows : tsr_ceil_div(rows, tsr_ceil_div(rows, fitting));
}

/* Do a few rows read the source line by line? Parts of lines are read again with other rows, which long columns of wide
 * elements stand. */
static bool reads_lines(const tsr_draft *draft)
{
    enum { WIDE = 4, LONG_BYTES = 4 * TSR_CACHE_LINE };
    const int64_t distance = tsr_distance_of(draft->column, draft->workshop->conversion);
    return distance % TSR_CACHE_LINE == 0 || (distance >= LONG_BYTES && draft->workshop->conversion->src_bytes >= WIDE);
}

/*
 * Are a few rows better written from end to end before the next ones than a line of each row after the other? It is so
 * within the second-level cache, where rows are a power of two apart, unless columns are much farther apart in the
 * source; most of all for threads, whose prefetchers take lines from each other. Bytes want kernels that write whole
 * lines, and so do other narrow elements beside a far last cache. Measured on a Zen 4 and an Emerald Rapids.
 */
static bool should_go_by_rows(const tsr_draft *draft)
{
    enum { LEAST_BYTES = 1 << 10, WIDEST = 8 };
    const tsr_workshop *workshop = draft->workshop;
    const tsr_conversion *conversion = workshop->conversion;
    const int64_t pitch = tsr_pitch_of(draft->row, conversion), distance = tsr_distance_of(draft->column, conversion);
    const tsr_loop *column = &draft->column->loop[0];
    const int64_t least_width = workshop->kernels->writes_lines ? 1 : workshop->topology->has_near_l3 ? 2 : 4;
    if (workshop->has_deep_sets || !workshop->exceeds_l1 || workshop->exceeds_l2)
        return false;
    if (workshop->tile_bytes > 0 || !tsr_is_straight(conversion) || conversion->src_bytes < least_width ||
        conversion->src_bytes > WIDEST)
        return false;
    return draft->row->count == 1 && draft->column->count == 1 && column->padding == 0 &&
           column->n * conversion->dst_bytes >= LEAST_BYTES && tsr_is_power_of_two(pitch) && distance > 0 &&
           distance < 2 * pitch && reads_lines(draft);
}

/* Each of which reads a line of the source, in as many tiles of columns, all alike, as scratch memory wants. */
static void go_by_rows(tsr_draft *draft)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t line = TSR_CACHE_LINE / conversion->src_bytes, columns = draft->column->loop[0].n;
    const int64_t tiles = tsr_ceil_div(columns, tsr_most_columns(conversion));
    draft->goes_by_rows = true;
    draft->rows = line;
    draft->columns = tsr_ceil_div(columns, tiles * line) * line;
}

tsr_motion tsr_shape_transpose(tsr_draft *draft)
{
    enum { STREAM_BYTES = 4 << 10 }; /* so much of a row is read from one stream */
    const tsr_loop *row = &draft->row->loop[0], *column = &draft->column->loop[0];
    const bool are_odd = tsr_has_odd_units(draft->workshop->conversion);
    if (!are_odd && tsr_is_short_side(column->n) && row->dst == column->n && !are_part_of_rows(draft, row, column))
        return shape_interleave(draft, row, column);
    if (!are_odd && tsr_is_short_side(row->n) && has_pixels(draft, column, row->n) &&
        !are_part_of_columns(draft, column, row))
        return shape_deinterleave(draft, row, column);
    draft->rows = STREAM_BYTES / draft->workshop->conversion->src_bytes;
    draft->columns = tsr_wanted_columns(draft);
    grow_both(draft);
    if (should_go_by_rows(draft)) {
        go_by_rows(draft);
        return TSR_MOTION_TRANSPOSE;
    }
    draft->rows = shared_rows(draft);
    if (column->padding > 0)
        draft->rows = rows_beside_others(draft);
    draft->columns = tsr_columns_of_few_rows(draft);
    return TSR_MOTION_TRANSPOSE;
}
