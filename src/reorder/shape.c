/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/shape.h"

#include <stdlib.h>

#include "base/int.h"
#include "reorder/caches.h"
#include "reorder/columns.h"
#include "reorder/convert_lines.h"
#include "reorder/group.h"
#include "reorder/lines.h"
#include "reorder/places.h"
#include "reorder/sets.h"
#include "reorder/spread.h"
#include "reorder/wide_lanes.h"
#include "reorder/writes.h"

/* More rows or columns do not fit into the tables of scratch memory, nor would longer runs fit into that; these are cut
 * unless they are converted straight to where they belong. */
enum { MOST = TSR_SCRATCH_ROWS, RUN_BYTES = 16 << 10 };

/* ---- transposes: rows are what lies side by side in the source, columns in the destination ---- */

static bool grow(tsr_draft *draft, tsr_chain *chain, int64_t enough)
{
    int64_t n = tsr_steps_of(chain);
    if (chain->count > 0 && chain->loop[chain->count - 1].padding > 0)
        return false;
    return n < enough &&
           (chain == draft->row ? tsr_take_loop(draft, chain, n, TSR_ANY) : tsr_take_loop(draft, chain, TSR_ANY, n));
}

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
        grew = rows_grow_first(draft) && grow(draft, draft->row, draft->rows);
        grew = grew || grow(draft, draft->column, draft->columns) || grow(draft, draft->row, draft->rows);
    }
}

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

static bool has_outer_loops(const tsr_draft *draft)
{
    for (int i = 0; i < draft->nest->count; i++)
        if (!draft->is_taken[i])
            return true;
    return false;
}

/* So many steps of a chain in a tile, at most: where nothing else is to be shared, threads share these, so that each
 * has as many tiles, of whole lines. */
static int64_t shared(const tsr_draft *draft, const tsr_chain *chain, int64_t most, int64_t line)
{
    const int64_t all = tsr_steps_of(chain), threads = draft->workshop->threads;
    const int64_t tiles = tsr_ceil_div(tsr_ceil_div(all, most), threads) * threads;
    return has_outer_loops(draft) ? most : tsr_min(most, tsr_ceil_div(all, line * tiles) * line);
}

static int64_t shared_rows(const tsr_draft *draft)
{
    return shared(draft, draft->row, draft->rows, TSR_CACHE_LINE / draft->workshop->conversion->src_bytes);
}

/* Whole lines on both sides; but of those that are one tile, one thread has all. */
static int64_t shared_pixels(const tsr_draft *draft, const tsr_chain *pixels, int64_t fitting)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t line = TSR_CACHE_LINE / tsr_min(conversion->src_bytes, conversion->dst_bytes);
    return tsr_steps_of(pixels) > fitting ? shared(draft, pixels, fitting, line) : fitting;
}

/* Pixels that do not lie side by side, or too few of them, are brought there with those that continue them. */
static tsr_motion shape_interleave(tsr_draft *draft, const tsr_loop *pixels, const tsr_loop *channels)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    const bool is_gathered = pixels->src != 1 || (are_few(draft, pixels) && !conversion->unpack);
    const int64_t bytes = bytes_of_pixels(draft, tsr_is_straight(conversion) && !is_gathered, false);
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
    while (!are_side_by_side && grow(draft, draft->column, draft->columns))
        ;
    if (has_pieces)
        take_pieces(draft, channels, pixels);
    return TSR_MOTION_DEINTERLEAVE;
}

/* Are pieces of pixels parts of lines, which go on for long by the next loop, and elsewhere on the other side than
 * behind all channels of a piece, while these fill a lane? */
static bool are_parts_of_lines(int64_t piece_bytes, int64_t channels_bytes, int64_t steps, bool goes_on_behind)
{
    enum { LONG_BYTES = 4 * TSR_CACHE_LINE };
    return piece_bytes < TSR_CACHE_LINE && channels_bytes >= TSR_LANE_BYTES && steps * piece_bytes >= LONG_BYTES &&
           !goes_on_behind;
}

/* Are rows of a transpose better than pixels of an interleave, as they go on behind these, and not in the same sets?
 * Also where pixels are part of a vector, and nothing goes on behind their channels. */
static bool are_part_of_rows(const tsr_draft *draft, const tsr_loop *pixels, const tsr_loop *channels)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t all = pixels->n * channels->n, piece_bytes = pixels->n * conversion->src_bytes;
    const tsr_loop *next = tsr_find_loop(draft, pixels->n, TSR_ANY);
    if (pixels->src != 1 || !next)
        return false;
    if (piece_bytes < TSR_LANE_BYTES && !tsr_find_loop(draft, TSR_ANY, all))
        return true;
    return next->dst * conversion->dst_bytes % tsr_period_of_sets() != 0 &&
           are_parts_of_lines(piece_bytes, channels->n * conversion->dst_bytes, next->n, next->dst == all);
}

/* And columns, than pixels of a deinterleave? */
static bool are_part_of_columns(const tsr_draft *draft, const tsr_loop *pixels, const tsr_loop *channels)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t all = pixels->n * channels->n, piece_bytes = pixels->n * conversion->dst_bytes;
    const tsr_loop *next = tsr_find_loop(draft, TSR_ANY, pixels->n);
    return next && are_parts_of_lines(piece_bytes, channels->n * conversion->src_bytes, next->n, next->src == all);
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

static tsr_motion shape_transpose(tsr_draft *draft)
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
    draft->rows = shared_rows(draft);
    if (column->padding > 0)
        draft->rows = rows_beside_others(draft);
    draft->columns = tsr_columns_of_few_rows(draft);
    return TSR_MOTION_TRANSPOSE;
}

/* ---- everything else: columns are a run, or what comes closest ---- */

/* Pixels that lie among others, a few bytes each, as one channel or three of four do: the loop over them, or NULL. */
static const tsr_loop *find_scattered(const tsr_draft *draft)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t run = tsr_steps_of(draft->column);
    const tsr_loop *found = NULL;
    if (!tsr_is_straight(conversion) || tsr_is_packed(conversion))
        return NULL;
    for (int i = 0; i < draft->nest->count; i++) {
        const tsr_loop *loop = &draft->nest->loop[i];
        if (!draft->is_taken[i] && tsr_scatters_runs(loop, run, conversion->dst_bytes))
            found = loop;
    }
    return found;
}

static tsr_motion shape_scattered(tsr_draft *draft, const tsr_loop *pixels)
{
    const int64_t bytes = draft->workshop->conversion->dst_bytes;
    draft->column->is_run = true;
    tsr_take_loop(draft, draft->row, pixels->src, pixels->dst);
    draft->columns = tsr_steps_of(draft->column);
    draft->rows = shared(draft, draft->row, tsr_share_of_l1(RUN_BYTES) / (pixels->dst * bytes), TSR_CACHE_LINE);
    draft->scatters = true;
    return TSR_MOTION_COPY;
}

/* So many runs of so many bytes are worth a tile: at least 4 KB, and `many` of up to `most_bytes` together. */
static int64_t runs_of_a_tile(int64_t bytes, int64_t many, int64_t most_bytes)
{
    enum { LEAST_BYTES = 4 << 10 };
    const int64_t runs = tsr_max(LEAST_BYTES / bytes, tsr_min(many, tsr_share_of_l1(most_bytes) / bytes));
    return tsr_max(1, tsr_min(MOST, runs));
}

/* Are runs converted straight to the destination, however long they are? If they are streamed, as they are converted,
 * they need one factor for all, or factors that are neighbours. Copies gain nothing by it: and of long ones, the C
 * library might stream what is not to be streamed. */
static bool are_converted_straight(const tsr_draft *draft)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    const tsr_loop *run = draft->column->count > 0 ? &draft->column->loop[0] : &(tsr_loop){0};
    if (conversion->is_copy || tsr_is_packed(conversion) || run->padding > 0 || !draft->column->is_run)
        return false;
    return !draft->workshop->streams || (conversion->stream && draft->column->count <= 1 &&
                                         (!tsr_computes(conversion) || run->factor == 0 || run->factor == 1));
}

/* A long run is a tile of its own, unless threads want to share it; of short ones, a tile has many. */
static void want_runs(tsr_draft *draft, int64_t most_columns)
{
    enum { MANY_RUNS = 128, TILE_BYTES = 16 << 10, WORTH_A_THREAD = 64 };
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t widest = tsr_widest_type(conversion), line = TSR_CACHE_LINE / conversion->dst_bytes;
    const int64_t run = tsr_steps_of(draft->column),
                  share = tsr_max(tsr_ceil_div(run, draft->workshop->threads), WORTH_A_THREAD);
    const int64_t inner = tsr_inner_steps_of(draft->column), unit = tsr_lcm(line, inner);
    const int64_t whole = tsr_ceil_div(share, unit) * unit;
    const int64_t fitting = are_converted_straight(draft) ? whole : tsr_share_of_l1(RUN_BYTES) / widest;
    draft->columns = tsr_min(most_columns, tsr_min(fitting, whole));
    draft->rows = runs_of_a_tile(tsr_min(run, draft->columns) * widest, MANY_RUNS, TILE_BYTES);
}

/* So many of the places are the first loop of rows; another one, outside of the tile, goes over the others. */
static void take_places(tsr_draft *draft, int64_t places)
{
    const int64_t run = tsr_steps_of(draft->column);
    tsr_loop *loop = &draft->row->loop[0];
    const int64_t most = tsr_bytes_of_places(draft, run);
    draft->rows = runs_of_a_tile(run * tsr_widest_type(draft->workshop->conversion), most / TSR_CACHE_LINE, most);
    tsr_take_loop(draft, draft->row, run, TSR_ANY);
    draft->rest = (tsr_loop){
        .n = loop->n / places, .src = loop->src * places, .dst = loop->dst * places, .factor = loop->factor * places};
    loop->n = places;
}

static void take_rows(tsr_draft *draft, int64_t run)
{
    while (tsr_steps_of(draft->row) < draft->rows &&
           tsr_take_loop(draft, draft->row, TSR_ANY, run * tsr_steps_of(draft->row)))
        ;
}

/* So many rows, or a few less that end with a cache line if the first one begins with one. */
static int64_t in_whole_lines(int64_t rows, int64_t row_bytes)
{
    const int64_t unit = TSR_CACHE_LINE / tsr_gcd(TSR_CACHE_LINE, row_bytes);
    return rows < unit ? rows : rows / unit * unit;
}

/* Rows that continue the run in the destination, each from a stream of its own; but of short runs, enough of them for a
 * tile, and more if they are converted. That of a near last cache is larger, unless the next one needs the same
 * lines. */
static bool take_dense_rows(tsr_draft *draft, int64_t run)
{
    enum { MOST_PAGES = 32, LEAST_BYTES = 4 << 10, CONVERTED_BYTES = 8 << 10, NEAR_BYTES = 8 << 10 };
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t run_bytes = run * tsr_widest_type(conversion);
    const int64_t least = (conversion->is_copy ? LEAST_BYTES : CONVERTED_BYTES) / run_bytes;
    const tsr_loop *next = tsr_find_loop(draft, TSR_ANY, run);
    if (!next)
        return false;
    draft->rows = tsr_min(draft->rows, tsr_max(least, tsr_steps_in_pages(draft, next, MOST_PAGES)));
    draft->rows = in_whole_lines(draft->rows, run * conversion->dst_bytes);
    take_rows(draft, run);
    if (draft->workshop->is_near && tsr_reads_whole_lines(draft->row, tsr_steps_of(draft->column), conversion)) {
        draft->rows = tsr_max(draft->rows, tsr_min(MOST, tsr_share_of_l1(NEAR_BYTES) / run_bytes));
        take_rows(draft, run);
    }
    return true;
}

/* The loop that goes on where a run ends, on both sides; or NULL. */
static const tsr_loop *next_of_run(const tsr_draft *draft, int64_t run)
{
    const tsr_loop *next = tsr_find_loop(draft, run, run);
    return next && next->padding == 0 ? next : NULL;
}

/* Are so many runs with the same factors too few to spread these out for, as kernels take short runs one by one? Of
 * those that fill the widest vector, up to twice as many are. */
static bool are_few_runs(const tsr_conversion *conversion, int64_t run, int64_t n)
{
    enum { FEW_ELEMENTS = 2048, WIDEST_RUN = 16 };
    return tsr_takes_runs_of(conversion, run) && run * n < (run == WIDEST_RUN ? 2 : 1) * FEW_ELEMENTS;
}

/*
 * Short runs that would be one but for their factors are one all the same, if these are the same for each; very short
 * ones, whose elements have one, as the input channels of blocks for dot products do, also if it is each that has
 * another one.
 */
static void join_runs(tsr_draft *draft)
{
    enum { VERY_SHORT = 16 };
    const tsr_conversion *conversion = draft->workshop->conversion;
    const tsr_loop *column = draft->column->loop;
    int64_t run = tsr_steps_of(draft->column);
    if (!tsr_computes(conversion) || tsr_is_packed(conversion) || draft->column->count != 1 || column->padding > 0)
        return;
    const tsr_loop *next = next_of_run(draft, run);
    if (next && run < VERY_SHORT && column->factor == 0 && next->factor != 0 && run * next->n <= TSR_SPREAD) {
        tsr_take_loop(draft, draft->column, run, run);
        run = tsr_steps_of(draft->column);
        next = next_of_run(draft, run);
    }
    if (next && next->factor == 0 && run <= TSR_SPREAD && run * conversion->dst_bytes < TSR_LONG_PIECE &&
        !(draft->column->count == 1 && are_few_runs(conversion, run, next->n)))
        tsr_take_loop(draft, draft->column, run, run);
}

/* Rows that continue the run in the source: beside deep sets, memory is read the sooner for it, wherever the run goes,
 * unless all go to one set. But short runs are written next to each other, and what is converted takes its time
 * meanwhile. */
static bool take_rows_of_source(tsr_draft *draft, int64_t run)
{
    enum { LEAST_BYTES = 4 * TSR_CACHE_LINE };
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t least = conversion->is_copy ? LEAST_BYTES : TSR_LONG_CONVERTED_RUN;
    const tsr_loop *next = tsr_find_loop(draft, run, TSR_ANY);
    if (!draft->workshop->has_deep_sets || run * conversion->dst_bytes < least || !next || next->dst_table)
        return false;
    if (next->dst * conversion->dst_bytes % tsr_period_of_sets() == 0)
        return false;
    while (tsr_steps_of(draft->row) < draft->rows &&
           tsr_take_loop(draft, draft->row, run * tsr_steps_of(draft->row), TSR_ANY))
        ;
    return true;
}

/* Rows continue the run in the destination, if they can, and should; where they cannot, or there are too few for a
 * tile, they are what there is near the run. */
static tsr_motion shape_copy(tsr_draft *draft)
{
    enum { FEW_BYTES = 1 << 10 };
    const int64_t widest = tsr_widest_type(draft->workshop->conversion);
    const int64_t padding = draft->column->count > 0 ? draft->column->loop[0].padding : 0;
    join_runs(draft);
    const int64_t run = tsr_steps_of(draft->column) + padding;
    const int64_t places = tsr_places_of_runs(draft, run);
    draft->column->is_run = true;
    want_runs(draft, INT64_MAX);
    if (places > 0)
        take_places(draft, places);
    const bool is_dense = places == 0 && !take_rows_of_source(draft, run) && take_dense_rows(draft, run);
    const int64_t least = is_dense ? tsr_min(draft->rows, FEW_BYTES / (run * widest)) : draft->rows;
    while (tsr_steps_of(draft->row) < least && tsr_take_loop(draft, draft->row, TSR_ANY, TSR_ANY))
        ;
    return TSR_MOTION_COPY;
}

static tsr_motion shape_zero(tsr_draft *draft)
{
    draft->column->is_run = tsr_take_loop(draft, draft->column, TSR_ANY, 1);
    if (!draft->column->is_run)
        tsr_take_loop(draft, draft->column, TSR_ANY, TSR_ANY);
    while (draft->column->is_run &&
           grow(draft, draft->column, tsr_share_of_l1(RUN_BYTES) / draft->workshop->conversion->dst_bytes))
        ;
    tsr_take_loop(draft, draft->row, TSR_ANY, TSR_ANY);
    want_runs(draft, draft->column->is_run ? INT64_MAX : MOST);
    return TSR_MOTION_ZERO;
}

/* Columns of a block that are looked up in the source; and rows that continue them, as many as are worth a tile. Short
 * runs are joined to lanes if all rows are equally far apart. */
static tsr_motion shape_block(tsr_draft *draft)
{
    enum { FEW_ROWS = 32 };
    const int64_t run = tsr_steps_of(draft->column);
    want_runs(draft, MOST);
    if (!tsr_take_loop(draft, draft->row, TSR_ANY, run))
        tsr_take_loop(draft, draft->row, TSR_ANY, TSR_ANY);
    const bool looks_up = draft->column->loop[0].src_table != NULL;
    while (looks_up && tsr_steps_of(draft->row) < FEW_ROWS && tsr_take_loop(draft, draft->row, TSR_ANY, TSR_ANY))
        ;
    return TSR_MOTION_PICK;
}

/* Do columns fill many lanes of one order, which the next loop would break off? */
static bool fills_alike_lanes(const tsr_draft *draft)
{
    enum { MANY_LANES = 8 };
    const tsr_chain *column = draft->column;
    const int64_t row = tsr_steps_of(column) * draft->workshop->conversion->src_bytes;
    return row >= MANY_LANES * TSR_LANE_BYTES && row <= column->loop[column->count - 1].n * TSR_LANE_BYTES;
}

static tsr_motion shape_pick(tsr_draft *draft)
{
    if (draft->column->count > 0 && draft->column->loop[0].src_table)
        return shape_block(draft);
    if (draft->column->count == 0)
        tsr_take_loop(draft, draft->column, TSR_ANY, TSR_ANY);
    else
        while (!fills_alike_lanes(draft) && grow(draft, draft->column, MOST))
            ;
    tsr_take_loop(draft, draft->row, TSR_ANY, TSR_ANY);
    want_runs(draft, MOST);
    return TSR_MOTION_PICK;
}

/* Are runs so short that a shuffle moves several of them at once, or one that comes behind the next one, which come
 * from one window and nearly fill a lane, or are converted, and need not be gathered then? Those that continue each
 * other on both sides need none. */
static bool has_near_runs(const tsr_draft *draft)
{
    enum { NEARLY_A_LANE = 12 };
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t run = tsr_steps_of(draft->column), window = TSR_LANE_BYTES / conversion->src_bytes;
    const tsr_loop *next = tsr_find_loop(draft, TSR_ANY, run);
    if (!next || next->src_table || next->padding > 0 || draft->column->loop[0].padding > 0 || conversion->unpack)
        return false;
    const int64_t distance = tsr_max(1, llabs(next->src)), runs = window < run ? 0 : (window - run) / distance + 1;
    const bool are_many = runs >= 2 || (runs == 1 && next->src == -run);
    return next->src != run && are_many &&
           (!tsr_is_straight(conversion) || runs * run * conversion->src_bytes >= NEARLY_A_LANE);
}

/* Are runs so short, and side by side in the destination, that lanes of several are faster than a store for each? */
static bool has_short_runs(const tsr_draft *draft)
{
    enum { SHORT_BYTES = 7, MANY = 16 };
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t run = tsr_steps_of(draft->column), run_bytes = run * conversion->src_bytes;
    const tsr_loop *next = tsr_find_loop(draft, TSR_ANY, run);
    if (!draft->workshop->kernels->shuffles_lanes || !next || next->src_table || next->n < MANY ||
        draft->column->loop[0].padding > 0 || !tsr_is_straight(conversion))
        return false;
    return run_bytes <= SHORT_BYTES ||
           tsr_are_runs_in_wide_lanes(draft, next->n, run_bytes, llabs(next->src) * conversion->src_bytes);
}

/* Does a kernel copy pixels with their padding sooner than they are parted: a lane of each, or few of them? */
static bool copies_padded_pixels(const tsr_draft *draft, const tsr_loop *channels)
{
    enum { FEW = 64 };
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t bytes = channels->n * conversion->dst_bytes, padding = channels->padding * conversion->dst_bytes;
    const tsr_loop *pixels = tsr_find_loop(draft, channels->n, channels->n + channels->padding);
    if (!tsr_is_straight(conversion) || (bytes + padding) % TSR_LANE_BYTES != 0)
        return false;
    return tsr_is_lane_with_padding(bytes, padding) || !pixels || pixels->n < FEW;
}

/* Of pixels that lie side by side, with padding behind the few channels that the column has. These are parted, and
 * joined again with zeros. */
static bool take_padded_pixels(tsr_draft *draft)
{
    const tsr_loop *channels = &draft->column->loop[0];
    const tsr_conversion *conversion = draft->workshop->conversion;
    const bool is_short = (channels->n + channels->padding) * conversion->dst_bytes < TSR_CACHE_LINE;
    const bool is_parted_fast = channels->n < 5 || channels->n == 8 || conversion->src_bytes != 2;
    if (channels->padding == 0 || !tsr_is_short_side(channels->n) || tsr_is_packed(conversion))
        return false;
    if (copies_padded_pixels(draft, channels) || !is_short || !is_parted_fast)
        return false;
    return tsr_take_loop(draft, draft->row, channels->n, channels->n + channels->padding);
}

static tsr_motion shape_padded_pixels(tsr_draft *draft)
{
    const tsr_loop *channels = &draft->column->loop[0];
    draft->rows = tsr_share_of_l1(PIXELS_BYTES) /
                  (tsr_widest_type(draft->workshop->conversion) * (channels->n + channels->padding));
    draft->rows = shared_rows(draft);
    return TSR_MOTION_TRANSPOSE;
}

/* Are rows and columns, as far as their first loops go, together a piece on both sides, of which some fill a lane, with
 * others behind it? */
static bool are_in_lanes(const tsr_draft *draft)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    const tsr_loop *column = &draft->column->loop[0], *row = tsr_find_loop(draft, 1, column->n);
    if (!row || column->src != row->n || row->padding > 0 || column->padding > 0 || conversion->unpack)
        return false;
    const int64_t piece = row->n * column->n;
    return TSR_LANE_BYTES % (piece * tsr_widest_type(conversion)) == 0 && tsr_find_loop(draft, piece, piece);
}

/* So many loops that lie side by side are columns. Rows go on behind them, or are all that is near, if each fills a
 * lane. */
static tsr_motion shape_blocks_in_lanes(tsr_draft *draft, int loops)
{
    enum { MANY_ROWS = 64 };
    const int64_t bytes = draft->workshop->conversion->src_bytes;
    for (int i = 0; i < loops; i++)
        tsr_take_loop(draft, draft->column, TSR_ANY, tsr_steps_of(draft->column));
    want_runs(draft, MOST);
    const bool fills_lane = tsr_steps_of(draft->column) * bytes >= TSR_CACHE_LINE;
    if (!tsr_take_loop(draft, draft->row, TSR_ANY, tsr_steps_of(draft->column)))
        tsr_take_loop(draft, draft->row, TSR_ANY, TSR_ANY);
    while (fills_lane && tsr_steps_of(draft->row) < MANY_ROWS && tsr_take_loop(draft, draft->row, TSR_ANY, TSR_ANY))
        ;
    return TSR_MOTION_PICK;
}

static tsr_motion choose(tsr_draft *draft, bool is_padding)
{
    if (is_padding)
        return shape_zero(draft);
    if (draft->nest->count == 0)
        return shape_copy(draft);
    if (tsr_take_loop(draft, draft->column, 1, 1)) {
        if (take_padded_pixels(draft))
            return shape_padded_pixels(draft);
        if (has_near_runs(draft))
            return shape_pick(draft);
        const tsr_loop *pixels = draft->column->loop[0].padding == 0 ? find_scattered(draft) : NULL;
        if (pixels)
            return shape_scattered(draft, pixels);
        return has_short_runs(draft) ? shape_block(draft) : shape_copy(draft);
    }
    const int loops = tsr_loops_in_wide_lanes(draft);
    if (loops > 0)
        return shape_blocks_in_lanes(draft, loops);
    if (!tsr_find_loop(draft, TSR_ANY, 1)) {
        const tsr_loop *pixels = find_scattered(draft);
        return pixels ? shape_scattered(draft, pixels) : shape_pick(draft);
    }
    if (tsr_take_loop(draft, draft->column, TSR_ANY, 1) && !are_in_lanes(draft) &&
        (tsr_take_loop(draft, draft->row, 1, TSR_ANY) ||
         tsr_take_loop(draft, draft->row, -1, draft->column->loop[0].n)))
        return shape_transpose(draft);
    return shape_pick(draft);
}

void tsr_shape_box(tsr_box *box, const tsr_nest *nest, bool is_padding, const tsr_workshop *workshop,
                   int64_t *wanted_rows, int64_t *wanted_columns)
{
    tsr_draft draft = {.nest = nest, .workshop = workshop, .row = &box->row, .column = &box->column};
    box->motion = choose(&draft, is_padding);
    for (int i = 0; i < nest->count; i++)
        if (!draft.is_taken[i])
            box->outer[box->outer_count++] = nest->loop[i];
    box->has_places = draft.rest.n > 0;
    box->leaves_gaps = box->has_places && draft.leaves_gaps;
    box->scatters = draft.scatters;
    if (draft.rest.n > 1)
        box->outer[box->outer_count++] = draft.rest;
    bool has_padding = box->column.count > 0 && box->column.loop[0].padding > 0;
    *wanted_rows = draft.rows;
    *wanted_columns = has_padding ? box->column.loop[0].n : draft.columns;
}
