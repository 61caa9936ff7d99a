/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/wide_lanes.h"

#include "reorder/caches.h"
#include "reorder/sets.h"

/* A tile has so many bytes of a row of lanes at most. */
enum { MOST_BYTES = 16 * TSR_CACHE_LINE };

/* The loops whose steps lie side by side in the destination, innermost first, which the columns may have already. */
struct side_by_side {
    const tsr_loop *loop[TSR_MAX_LOOPS];
    int count;
    int64_t n;
};

static struct side_by_side find_side_by_side(const tsr_draft *draft)
{
    struct side_by_side all = {.n = 1};
    const tsr_loop *loop = draft->column->count > 0 ? draft->column->loop : tsr_find_loop(draft, TSR_ANY, 1);
    for (; loop && loop->padding == 0 && all.count < TSR_MAX_LOOPS; loop = tsr_find_loop(draft, TSR_ANY, all.n)) {
        all.loop[all.count++] = loop;
        all.n *= loop->n;
    }
    return all;
}

static int64_t src_of(const struct side_by_side *all, int64_t i)
{
    int64_t at = 0;
    for (int k = 0; k < all->count; k++) {
        at += tsr_loop_src(all->loop[k], i % all->loop[k]->n);
        i /= all->loop[k]->n;
    }
    return at;
}

/* Windows of a cache line that the first line of them is taken from. */
static int64_t windows_of_line(const struct side_by_side *all, int64_t bytes)
{
    enum { MOST = 16 };
    int64_t low[MOST], count = 0;
    for (int64_t i = 0; i < all->n && i * bytes < TSR_CACHE_LINE; i++) {
        const int64_t at = src_of(all, i) * bytes;
        int64_t k = 0;
        while (k < count && (at < low[k] || at + bytes > low[k] + TSR_CACHE_LINE))
            k++;
        if (k == MOST)
            return INT64_MAX;
        if (k == count)
            low[count++] = at;
    }
    return count;
}

/* Does a loop that goes from line to line, also that of rows, go to one of the same set of the source? */
static bool shares_sets(const struct side_by_side *all, int64_t bytes)
{
    bool shares = false;
    for (int64_t k = 0, size = bytes; k < all->count && size <= MOST_BYTES; k++) {
        const tsr_loop *loop = all->loop[k];
        size *= loop->n;
        shares = shares || (size > TSR_CACHE_LINE && !loop->src_table && loop->src * bytes % tsr_period_of_sets() == 0);
    }
    return shares;
}

static bool is_power_of_two(int64_t n)
{
    return (n & (n - 1)) == 0;
}

/* Do kernels of transposes fill their vectors with rows and columns as long as these, or nearly so with pixels? */
static bool fill_vectors(int64_t rows, int64_t columns, int64_t bytes, int64_t pixels_bytes)
{
    const int64_t shorter = tsr_min(rows, columns), longer = tsr_max(rows, columns);
    return shorter * bytes >= TSR_LANE_BYTES || (tsr_is_short_side(shorter) && longer * bytes >= pixels_bytes);
}

/* 9 pixels of 4 channels of bytes, as filters of 3x3 have for dot products, are woven by a kernel of their own. */
static bool are_woven(const tsr_loop *row, const tsr_loop *column, int64_t bytes)
{
    return bytes == 1 && row->n == 9 && column->n == 4;
}

/* Are they a piece, side by side on both sides? */
static bool are_piece(const tsr_loop *row, const tsr_loop *column)
{
    return row->dst == column->n && column->src == row->n;
}

/* And one of which no whole number fills a line? Kernels join and part these for the most part of their vectors. */
static bool are_odd_pieces(const tsr_loop *row, const tsr_loop *column, int64_t bytes)
{
    enum { MOST_OF_LANES = 48 };
    return are_piece(row, column) && TSR_CACHE_LINE % (row->n * column->n * bytes) != 0 &&
           (are_woven(row, column, bytes) || fill_vectors(row->n, column->n, bytes, MOST_OF_LANES));
}

/* Have kernels whole lanes of rows and columns, or enough pixels, of pieces of so many windows? Those of 2, 4 and 8
 * channels need less, and others, of 2 bytes, they have few ways for. */
static bool suit_kernels(const tsr_loop *row, const tsr_loop *column, int64_t bytes, int64_t windows)
{
    enum { SOME_WINDOWS = 3 };
    const int64_t shorter = tsr_min(row->n, column->n), longer = tsr_max(row->n, column->n);
    if (tsr_is_short_side(shorter) && is_power_of_two(shorter))
        return windows > SOME_WINDOWS;
    if (tsr_is_short_side(shorter))
        return bytes != 2 && longer * bytes >= TSR_CACHE_LINE;
    return row->n * bytes % TSR_LANE_BYTES == 0 && column->n * bytes % TSR_LANE_BYTES == 0;
}

/* Are pieces looked up, each as a whole, sooner than they are transposed? As measured, on a Zen 4. Past the caches,
 * kernels write pixels, and rows of whole lanes, without scratch memory. */
static bool are_looked_up(const tsr_draft *draft, const tsr_loop *row, const tsr_loop *column)
{
    enum { FEW_WINDOWS = 2 };
    const int64_t bytes = draft->workshop->conversion->src_bytes, size = row->n * column->n * bytes;
    const int64_t windows = tsr_ceil_div(size, TSR_WIDEST_LANE);
    if (!are_piece(row, column) || size < TSR_WIDEST_LANE || windows > TSR_MOST_WINDOWS)
        return false;
    if (draft->workshop->streams &&
        (tsr_is_short_side(tsr_min(row->n, column->n)) || column->n * bytes % TSR_LANE_BYTES == 0))
        return false;
    return windows <= FEW_WINDOWS || !suit_kernels(row, column, bytes, windows);
}

/* The only tile that there is costs transposes more than others, as no next one writes over what goes beyond its ends;
 * but not where columns fill two lanes. */
static bool is_small_tensor(const tsr_draft *draft, int64_t column_bytes)
{
    return draft->nest->count == 2 && column_bytes < 2 * TSR_LANE_BYTES;
}

/* Are there too few rows or columns for a transpose, and few windows for what it has of them? Those of the smallest
 * tiles, of odd ones, or of the only one, may be a few more. */
static bool are_small_tiles(const tsr_draft *draft, const tsr_loop *row, const tsr_loop *column, int64_t windows)
{
    enum { FEW_WINDOWS = 3, FEW_OF_STREAMS = 2, MORE_WINDOWS = 4, MOST_WINDOWS = 6 };
    const int64_t bytes = draft->workshop->conversion->src_bytes;
    if (fill_vectors(row->n, column->n, bytes, TSR_CACHE_LINE))
        return false;
    if (is_small_tensor(draft, row->n * bytes))
        return windows <= MOST_WINDOWS;
    if (are_odd_pieces(row, column, bytes))
        return false;
    const bool are_odd = !is_power_of_two(row->n) && !is_power_of_two(column->n);
    if (are_odd || row->n * column->n * bytes <= TSR_LANE_BYTES)
        return windows <= MORE_WINDOWS;
    return windows <= (draft->workshop->streams ? FEW_OF_STREAMS : FEW_WINDOWS) &&
           (windows == 1 || !fill_vectors(row->n, column->n, bytes, TSR_CACHE_LINE / 2));
}

/* Are there lines, of which the next ones are not of the same set of the first-level cache? Those of a deep one may be,
 * as measured. */
static bool have_lines(const tsr_draft *draft, const struct side_by_side *all)
{
    const int64_t bytes = draft->workshop->conversion->src_bytes;
    return all->n * bytes >= TSR_CACHE_LINE && (draft->workshop->has_deep_sets || !shares_sets(all, bytes));
}

static bool come_from_few_windows(const tsr_draft *draft, const struct side_by_side *all, const tsr_loop *row,
                                  const tsr_loop *column)
{
    enum { WINDOWS_OF_TABLES = 16 };
    const int64_t windows = windows_of_line(all, draft->workshop->conversion->src_bytes);
    if (all->count > 1 && (all->loop[0]->src_table || all->loop[1]->src_table))
        return windows <= WINDOWS_OF_TABLES;
    return row && are_small_tiles(draft, row, column, windows);
}

/* As many as a tile has room for. */
static int loops_of_tile(const struct side_by_side *all, int64_t bytes)
{
    int count = 0;
    for (int64_t size = bytes; count < all->count && size * all->loop[count]->n <= MOST_BYTES; count++)
        size *= all->loop[count]->n;
    return count;
}

static bool can_be_in_wide_lanes(const tsr_draft *draft)
{
    const tsr_conversion *conversion = draft->workshop->conversion;
    return draft->workshop->kernels->window_bytes == TSR_WIDEST_LANE && tsr_is_straight(conversion) &&
           conversion->src_bytes <= 4 && !tsr_has_odd_units(conversion);
}

int tsr_loops_in_wide_lanes(const tsr_draft *draft)
{
    enum { LOOPS_OF_PIECE = 2 };
    const tsr_loop *row = tsr_find_loop(draft, 1, TSR_ANY), *column = tsr_find_loop(draft, TSR_ANY, 1);
    if (!can_be_in_wide_lanes(draft))
        return 0;
    const struct side_by_side all = find_side_by_side(draft);
    if (!have_lines(draft, &all))
        return 0;
    if (row && are_looked_up(draft, row, column))
        return LOOPS_OF_PIECE;
    return come_from_few_windows(draft, &all, row, column) ? loops_of_tile(&all, draft->workshop->conversion->src_bytes)
                                                           : 0;
}

/* What is streamed, runs alone can be. */
int tsr_loops_of_runs_in_wide_lanes(const tsr_draft *draft)
{
    enum { RUNS_OF_WINDOW = 2 };
    const int64_t bytes = draft->workshop->conversion->src_bytes;
    if (!can_be_in_wide_lanes(draft) || draft->workshop->streams_copies)
        return 0;
    const struct side_by_side all = find_side_by_side(draft);
    const int64_t run = tsr_steps_of(draft->column) * bytes, runs = TSR_CACHE_LINE / run;
    if (run >= TSR_LANE_BYTES || !have_lines(draft, &all) || runs / RUNS_OF_WINDOW < windows_of_line(&all, bytes))
        return 0;
    return loops_of_tile(&all, bytes) - 1;
}

/* A lane has as many windows as its runs span, and all are made ready for each tile, if they do not go from tile to
 * tile. What is streamed, runs alone can be. */
bool tsr_are_runs_in_wide_lanes(const tsr_draft *draft, int64_t n, int64_t run_bytes, int64_t pitch_bytes)
{
    enum { PER_RUN = 2, PER_WINDOW_OF_MANY = 2, PER_LANE = 3, FEW_BYTES = 512, PER_TILE = 200, PER_SMALL_TILE = 40 };
    const int64_t runs = tsr_ceil_div(TSR_WIDEST_LANE, run_bytes), span = (runs - 1) * pitch_bytes + run_bytes;
    const int64_t windows = tsr_min(runs, tsr_ceil_div(span, TSR_WIDEST_LANE) + 1);
    const int64_t of_windows = windows * (windows > TSR_FEW_PARTS ? PER_WINDOW_OF_MANY : 1);
    const int64_t gain = runs * PER_RUN - of_windows - PER_LANE;
    return draft->workshop->kernels->window_bytes == TSR_WIDEST_LANE && !draft->workshop->streams_copies &&
           run_bytes < TSR_WIDEST_LANE && gain * n > runs * (n * run_bytes <= FEW_BYTES ? PER_SMALL_TILE : PER_TILE);
}
