/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/shape.h"

#include <stdlib.h>

#include "base/int.h"
#include "reorder/group.h"
#include "reorder/writes.h"

struct shape {
    const tsr_nest *nest;
    const tsr_workshop *workshop;
    bool is_taken[TSR_MAX_LOOPS];
    tsr_loop rest; /* over the parts of the places of runs, of which rows have one; or 0 steps */
    tsr_chain *row, *column;
    int64_t rows, columns; /* that a tile should have */
};

/* A stride that may be anything, even a table. */
static const int64_t any = INT64_MIN;

static bool has_stride(const tsr_loop *loop, int64_t stride, int64_t wanted)
{
    return wanted == any || (!loop->dst_table && stride == wanted);
}

/* The innermost free loop with these strides, or NULL. */
static const tsr_loop *find(const struct shape *shape, int64_t src, int64_t dst)
{
    for (int i = shape->nest->count - 1; i >= 0; i--) {
        const tsr_loop *loop = &shape->nest->loop[i];
        if (!shape->is_taken[i] && has_stride(loop, loop->src, src) && has_stride(loop, loop->dst, dst))
            return loop;
    }
    return NULL;
}

/* Moves it into a chain, outside of what is there. */
static bool take(struct shape *shape, tsr_chain *chain, int64_t src, int64_t dst)
{
    const tsr_loop *loop = find(shape, src, dst);
    if (!loop)
        return false;
    shape->is_taken[loop - shape->nest->loop] = true;
    chain->loop[chain->count++] = *loop;
    return true;
}

static int64_t steps_of(const tsr_chain *chain)
{
    int64_t n = 1;
    for (int j = 0; j < chain->count; j++)
        n *= chain->loop[j].n;
    return n;
}

static int64_t widest_type(const tsr_conversion *conversion)
{
    return tsr_max(conversion->src_bytes, conversion->dst_bytes);
}

/* More rows or columns do not fit into the tables of scratch memory, and of longer runs each is cut. */
enum { MOST = TSR_SCRATCH_ROWS, RUN_BYTES = 16 << 10 };

/* ---- transposes: rows are what lies side by side in the source, columns in the destination ---- */

/* The loop, but that of rows, which continues so many columns in the destination; or NULL. */
static const tsr_loop *find_next_column(const struct shape *shape, int64_t columns)
{
    for (int i = 0; i < shape->nest->count; i++) {
        const tsr_loop *loop = &shape->nest->loop[i];
        if (loop->n > 1 && has_stride(loop, loop->dst, columns) && loop->src != shape->row->loop[0].src)
            return loop;
    }
    return NULL;
}

/* Do all rows begin with a cache line, if the first one does? */
static bool is_aligned(const struct shape *shape)
{
    const int64_t dst_bytes = shape->workshop->conversion->dst_bytes;
    int64_t columns = 1, bits = shape->nest->dst * dst_bytes;
    const tsr_loop *loop;
    while ((loop = find_next_column(shape, columns)) != NULL)
        columns *= loop->n + loop->padding;
    for (int i = 0; i < shape->nest->count; i++) {
        loop = &shape->nest->loop[i];
        bits |= loop->dst_table ? 1 : llabs(loop->dst) >= columns ? loop->dst * dst_bytes : 0;
    }
    return bits % TSR_CACHE_LINE == 0;
}

/* Prefetchers follow few streams, and none beyond its page: so many steps of a loop lie in so many pages of the
 * source. */
static int64_t steps_in_pages(const struct shape *shape, const tsr_loop *loop, int64_t pages)
{
    const int64_t distance = loop->src_table ? TSR_PAGE : llabs(loop->src) * shape->workshop->conversion->src_bytes;
    return pages * TSR_PAGE / tsr_max(1, tsr_min(distance, TSR_PAGE));
}

/* Are columns lines of the source? Then they are one stream. */
static bool has_lines_for_columns(const struct shape *shape)
{
    return llabs(shape->column->loop[0].src) * shape->workshop->conversion->src_bytes == TSR_CACHE_LINE;
}

/* Do columns begin so far from each other that they map onto a few sets of even the second-level cache? */
static bool columns_share_sets(const struct shape *shape)
{
    enum { PERIOD_IN_L2 = 32 << 10 };
    const tsr_loop *column = &shape->column->loop[0];
    return column->src_table || column->src * shape->workshop->conversion->src_bytes % PERIOD_IN_L2 == 0;
}

/* In cache lines, where rows share sets. They are long, for the next tile not to need their lines again; or are
 * streamed in a few where they fill the last cache, but for bytes, of which a line has many. */
static int64_t lines_of_sharing_rows(const struct shape *shape)
{
    enum { LONG = 8, FEW = 2 };
    const tsr_workshop *workshop = shape->workshop;
    const bool is_long = workshop->conversion->dst_bytes == 1 && !columns_share_sets(shape);
    return workshop->streams && tsr_fills_l3(workshop) && !is_long ? FEW : LONG;
}

/* Rows that begin inside of lines have two that are written twice, and should have a few more, from not too many
 * pages. */
static int64_t unaligned_columns(const struct shape *shape)
{
    enum { PAGES = 64, FEW = 4, FEW_OF_NARROW = 8 };
    const int64_t dst_bytes = shape->workshop->conversion->dst_bytes;
    const int64_t lines = tsr_is_narrow(dst_bytes) ? FEW_OF_NARROW : FEW;
    return tsr_min(steps_in_pages(shape, &shape->column->loop[0], PAGES), lines * TSR_CACHE_LINE / dst_bytes);
}

/*
 * Of a few columns, each is read for long, and the last cache, if it is near, holds the lines of many rows, unless
 * these share its sets; of more, if rows begin inside of lines, as long as the cache has room.
 */
static int64_t near_columns(const struct shape *shape)
{
    enum { PAGES = 4, MOST_LINES = 16 };
    const tsr_workshop *workshop = shape->workshop;
    const int64_t line = TSR_CACHE_LINE / workshop->conversion->dst_bytes;
    const bool begins_lines = is_aligned(shape);
    const int64_t streamed = begins_lines ? tsr_lines_to_stream(shape->row, shape->column, workshop) : 0;
    if (streamed > 0 && !has_lines_for_columns(shape))
        return streamed * line;
    if (streamed == 0 && tsr_rows_share_sets(shape->row, workshop->conversion))
        return (begins_lines ? lines_of_sharing_rows(shape) : MOST_LINES) * line;
    int64_t columns = tsr_min(steps_in_pages(shape, &shape->column->loop[0], PAGES), MOST_LINES * line);
    if (columns < 2 * line && !begins_lines && !workshop->is_huge)
        columns = unaligned_columns(shape);
    return tsr_max(line, columns / line * line);
}

/* Beyond the second-level cache; and beyond the first, where columns lie one cache line apart. */
static bool is_for_near_columns(const struct shape *shape)
{
    const tsr_workshop *workshop = shape->workshop;
    return workshop->is_near ||
           (workshop->exceeds_l1 && workshop->topology->has_near_l3 && has_lines_for_columns(shape));
}

/*
 * Each column is a stream of its own from the source; and where rows do not begin on cache lines, every
 * tile that is streamed reads a line's worth of columns again. What is converted first is wanted as long rows.
 */
static int64_t own_columns(const struct shape *shape)
{
    enum { CONVERTED_COLUMNS = 64, ALIGNED_BYTES = 2 * TSR_CACHE_LINE, UNALIGNED_BYTES = 4 * TSR_CACHE_LINE };
    enum { MOST_PAGES = 64 };
    const tsr_conversion *conversion = shape->workshop->conversion;
    const int64_t line = TSR_CACHE_LINE / conversion->dst_bytes;
    if (conversion->is_copy && is_for_near_columns(shape))
        return near_columns(shape);
    if (!conversion->is_copy && tsr_narrows(conversion))
        return CONVERTED_COLUMNS;
    const bool is_short = conversion->is_copy && shape->workshop->streams && is_aligned(shape);
    const int64_t columns = (is_short ? ALIGNED_BYTES : UNALIGNED_BYTES) / conversion->dst_bytes;
    if (!shape->workshop->is_huge)
        return columns;
    const int64_t most = steps_in_pages(shape, &shape->column->loop[0], MOST_PAGES) - (is_short ? 0 : line);
    return tsr_min(columns, tsr_max(1, most / line) * line);
}

/*
 * Scratch memory has room for a group of rows, at least so many that cache lines of the source are read
 * whole, and for the columns of the next tile that share its last line.
 */
static int64_t most_columns(const tsr_conversion *conversion)
{
    const int64_t rows = TSR_CACHE_LINE / conversion->src_bytes;
    return TSR_SCRATCH_BYTES / (rows * widest_type(conversion)) - TSR_CACHE_LINE / conversion->dst_bytes;
}

/*
 * About so many columns, which end with a cache line if the first one begins with one, and scratch memory has room:
 * many are worth it even where it has not. Tiles have all steps of inner loops, and one that is cut a little farther on
 * would leave a part of a line at its end. Where rows begin inside of lines, a few more of such steps share the parts.
 * What is converted first is wanted as long rows.
 */
static int64_t columns_in_lines(const struct shape *shape, int64_t columns)
{
    enum { LITTLE = 4, UNALIGNED_BYTES = 4 * TSR_CACHE_LINE };
    const int64_t dst_bytes = shape->workshop->conversion->dst_bytes;
    int64_t inner = 1, all;
    if (tsr_narrows(shape->workshop->conversion))
        return columns;
    for (const tsr_loop *loop; (loop = find_next_column(shape, inner)) != NULL; inner = all) {
        const bool has_whole_lines = inner * loop->n * dst_bytes % TSR_CACHE_LINE == 0;
        all = inner * loop->n;
        if (all >= columns && (has_whole_lines || all >= LITTLE * columns))
            break;
    }
    const int64_t unit = inner * (TSR_CACHE_LINE / tsr_gcd(TSR_CACHE_LINE, inner * dst_bytes));
    if (is_aligned(shape))
        return tsr_ceil_div(columns, unit) * unit;
    return inner == 1 ? columns : tsr_max(columns, UNALIGNED_BYTES / dst_bytes);
}

static int64_t wanted_columns(const struct shape *shape)
{
    const tsr_workshop *workshop = shape->workshop;
    const int64_t asked = workshop->tile_bytes / workshop->conversion->dst_bytes;
    const int64_t wanted = workshop->tile_bytes == 0 ? columns_in_lines(shape, own_columns(shape)) : tsr_max(1, asked);
    return tsr_min(wanted, most_columns(workshop->conversion));
}

/* Of so short columns as kernels move in one go, a tile has more. */
static int64_t columns_of_few_rows(const struct shape *shape)
{
    enum { FEW_ROWS = 4 };
    const tsr_conversion *conversion = shape->workshop->conversion;
    const int64_t src_line = TSR_CACHE_LINE / conversion->src_bytes, line = TSR_CACHE_LINE / conversion->dst_bytes;
    const int64_t rows = steps_of(shape->row);
    if (shape->workshop->tile_bytes > 0 || rows > FEW_ROWS)
        return shape->columns;
    const int64_t columns = tsr_min(shape->columns * src_line / rows, most_columns(conversion));
    return tsr_max(shape->columns, columns / line * line);
}

static bool grow(struct shape *shape, tsr_chain *chain, int64_t enough)
{
    int64_t n = steps_of(chain);
    if (chain->count > 0 && chain->loop[chain->count - 1].padding > 0)
        return false;
    return n < enough && (chain == shape->row ? take(shape, chain, n, any) : take(shape, chain, any, n));
}

/*
 * The shorter chain grows first. But where the next loop would continue either, and behind it only one could go on, that
 * one takes it though it is longer: rows, while they are short of a cache line and columns fill a lane; columns, while
 * they are short of a line and of twice the rows.
 */
static bool rows_grow_first(const struct shape *shape)
{
    const tsr_conversion *conversion = shape->workshop->conversion;
    const int64_t rows = steps_of(shape->row), columns = steps_of(shape->column);
    const int64_t row_bytes = rows * conversion->src_bytes, column_bytes = columns * conversion->dst_bytes;
    const tsr_loop *both = find(shape, rows, columns);
    const bool rows_go_on = both && find(shape, rows * both->n, any);
    const bool columns_go_on = both && find(shape, any, columns * both->n);
    if (rows < columns)
        return rows_go_on || !columns_go_on || column_bytes >= tsr_min(TSR_CACHE_LINE, 2 * row_bytes);
    return rows_go_on && !columns_go_on && row_bytes < TSR_CACHE_LINE && column_bytes >= TSR_LANE_BYTES;
}

static void grow_both(struct shape *shape)
{
    bool grew = true;
    while (grew) {
        grew = rows_grow_first(shape) && grow(shape, shape->row, shape->rows);
        grew = grew || grow(shape, shape->column, shape->columns) || grow(shape, shape->row, shape->rows);
    }
}

/* Are steps of this loop pixels of n channels? If they do not lie side by side, there should be a few of them to
 * shuffle, and a few in a lane. */
static bool has_pixels(const struct shape *shape, const tsr_loop *loop, int64_t n)
{
    const int64_t distance = llabs(loop->src);
    if (loop->src_table || loop->padding > 0)
        return false;
    if (loop->src == n)
        return true;
    return tsr_can_shuffle_pixels(n, shape->workshop->conversion) && distance > 0 &&
           distance <= TSR_LONGEST_SHORT_SIDE && distance * shape->workshop->conversion->src_bytes < TSR_LANE_BYTES &&
           (loop->n >= TSR_LANE_BYTES || find(shape, any, loop->n));
}

/* A tile of pixels and its channels stay in the first-level cache; */
enum { PIXELS_BYTES = 12 << 10 };

/* those that one kernel converts and puts where they belong need not, but for scratch memory. */
static int64_t pixels_bytes(const struct shape *shape, const tsr_loop *channels, const tsr_loop *pixels)
{
    enum { STREAMED = 18 << 10, STRAIGHT = 48 << 10 };
    if (!tsr_loads_pixels(shape->workshop->conversion, channels, pixels))
        return PIXELS_BYTES;
    return shape->workshop->streams ? STREAMED : STRAIGHT;
}

/* Are there too few pixels for a call of a kernel? */
static bool are_few(const struct shape *shape, const tsr_loop *pixels)
{
    enum { FEW_BYTES = 4 * TSR_CACHE_LINE };
    return pixels->n * shape->workshop->conversion->src_bytes < FEW_BYTES;
}

/* Pixels that do not lie side by side, or too few of them, are brought there with those that continue them. */
static tsr_motion shape_interleave(struct shape *shape, const tsr_loop *pixels, const tsr_loop *channels)
{
    const tsr_conversion *conversion = shape->workshop->conversion;
    const bool is_gathered = pixels->src != 1 || (are_few(shape, pixels) && !conversion->unpack);
    shape->rows = PIXELS_BYTES / (widest_type(conversion) * channels->n);
    shape->columns = channels->n;
    while (is_gathered && steps_of(shape->row) < shape->rows &&
           take(shape, shape->row, any, steps_of(shape->row) * channels->n))
        ;
    return TSR_MOTION_INTERLEAVE;
}

static tsr_motion shape_deinterleave(struct shape *shape, const tsr_loop *channels, const tsr_loop *pixels)
{
    const tsr_conversion *conversion = shape->workshop->conversion;
    const int64_t most = pixels->src == channels->n ? INT64_MAX : MOST / channels->n;
    const int64_t fitting =
        pixels_bytes(shape, channels, pixels) / (widest_type(shape->workshop->conversion) * channels->n);
    shape->rows = channels->n;
    shape->columns = tsr_min(fitting, most);
    while (pixels->src != channels->n && grow(shape, shape->column, shape->columns))
        ;
    const bool has_pieces =
        pixels->src == channels->n && are_few(shape, pixels) && conversion->is_copy && !conversion->unpack;
    while (has_pieces && steps_of(shape->column) < shape->columns &&
           take(shape, shape->column, steps_of(shape->column) * channels->n, any))
        ;
    return TSR_MOTION_DEINTERLEAVE;
}

static bool has_outer_loops(const struct shape *shape)
{
    for (int i = 0; i < shape->nest->count; i++)
        if (!shape->is_taken[i])
            return true;
    return false;
}

/* Where nothing else is to be shared, threads share the rows, so that each writes rows of its own, and as many. */
static void share_rows(struct shape *shape)
{
    const int64_t line = TSR_CACHE_LINE / shape->workshop->conversion->src_bytes, threads = shape->workshop->threads;
    const int64_t rows = steps_of(shape->row), tiles = tsr_ceil_div(tsr_ceil_div(rows, shape->rows), threads) * threads;
    if (!has_outer_loops(shape))
        shape->rows = tsr_min(shape->rows, tsr_ceil_div(rows, line * tiles) * line);
}

/* Are pixels so few that a kernel moves part of a vector, while rows of a transpose would go on behind them? */
static bool are_part_of_rows(const struct shape *shape, const tsr_loop *pixels, const tsr_loop *channels)
{
    const bool is_part = pixels->src == 1 && pixels->n * shape->workshop->conversion->src_bytes < TSR_LANE_BYTES;
    return is_part && find(shape, pixels->n, any) && !find(shape, any, pixels->n * channels->n);
}

static tsr_motion shape_transpose(struct shape *shape)
{
    enum { STREAM_BYTES = 4 << 10 }; /* so much of a row is read from one stream */
    const tsr_loop *row = &shape->row->loop[0], *column = &shape->column->loop[0];
    if (tsr_is_short_side(column->n) && row->dst == column->n && !are_part_of_rows(shape, row, column))
        return shape_interleave(shape, row, column);
    if (tsr_is_short_side(row->n) && has_pixels(shape, column, row->n))
        return shape_deinterleave(shape, row, column);
    shape->rows = STREAM_BYTES / shape->workshop->conversion->src_bytes;
    shape->columns = wanted_columns(shape);
    grow_both(shape);
    share_rows(shape);
    shape->columns = columns_of_few_rows(shape);
    return TSR_MOTION_TRANSPOSE;
}

/* ---- everything else: columns are a run, or what comes closest ---- */

/* So many runs of so many bytes are worth a tile: at least 4 KB, and `many` of up to 16 KB together. */
static int64_t runs_of_a_tile(int64_t bytes, int64_t many)
{
    enum { LEAST_BYTES = 4 << 10, MOST_BYTES = 16 << 10 };
    const int64_t runs = tsr_max(LEAST_BYTES / bytes, tsr_min(many, MOST_BYTES / bytes));
    return tsr_max(1, tsr_min(MOST, runs));
}

/* A long run is a tile of its own, unless threads want to share it; of short ones, a tile has many. */
static void want_runs(struct shape *shape, int64_t most_columns)
{
    enum { MANY_RUNS = 128, WORTH_A_THREAD = 64 };
    const int64_t widest = widest_type(shape->workshop->conversion), run = steps_of(shape->column);
    const int64_t share = tsr_max(tsr_ceil_div(run, shape->workshop->threads), WORTH_A_THREAD);
    shape->columns = tsr_min(most_columns, tsr_min(RUN_BYTES / widest, share));
    shape->rows = runs_of_a_tile(tsr_min(run, shape->columns) * widest, MANY_RUNS);
}

/*
 * Do runs that continue each other in the source belong to a few places of the destination, in each of which the next
 * ones continue them? Then the source is read in order, and these places are written side by side. Gives how many of
 * them a tile takes: all, half of them, or 0. Caches hold a line of each, or of a few that they map onto one set, but
 * more of those that pass them by. It pays where runs are whole lines, or are converted.
 */
static int64_t places_of_runs(const struct shape *shape, int64_t run)
{
    enum { MOST_PLACES = 64, STREAMED_IN_ONE_SET = 2 * TSR_WAYS };
    const tsr_conversion *conversion = shape->workshop->conversion;
    const tsr_loop *places = find(shape, steps_of(shape->column), any), *next = find(shape, any, run);
    const bool has_whole_lines = run * conversion->dst_bytes % TSR_CACHE_LINE == 0;
    if (!places || !next || places->n >= next->n || (conversion->is_copy && !has_whole_lines))
        return 0;
    const bool is_one_set = places->dst * conversion->dst_bytes % TSR_PERIOD_OF_SETS == 0;
    const int64_t in_one_set = shape->workshop->streams && has_whole_lines ? STREAMED_IN_ONE_SET : TSR_WAYS;
    const int64_t parts = tsr_ceil_div(places->n, is_one_set ? in_one_set : MOST_PLACES);
    return parts <= 2 && places->n % parts == 0 ? places->n / parts : 0;
}

static void take_places(struct shape *shape, int64_t places)
{
    enum { MANY_RUNS = 256 };
    const int64_t run = steps_of(shape->column);
    tsr_loop *loop = &shape->row->loop[0];
    shape->rows = runs_of_a_tile(run * widest_type(shape->workshop->conversion), MANY_RUNS);
    take(shape, shape->row, run, any);
    shape->rest = (tsr_loop){
        .n = loop->n / places, .src = loop->src * places, .dst = loop->dst * places, .factor = loop->factor * places};
    loop->n = places;
}

static void take_rows(struct shape *shape, int64_t run)
{
    while (steps_of(shape->row) < shape->rows && take(shape, shape->row, any, run * steps_of(shape->row)))
        ;
}

/* So many rows, or a few less that end with a cache line if the first one begins with one. */
static int64_t in_whole_lines(int64_t rows, int64_t row_bytes)
{
    const int64_t unit = TSR_CACHE_LINE / tsr_gcd(TSR_CACHE_LINE, row_bytes);
    return rows < unit ? rows : rows / unit * unit;
}

/* Rows that continue the run in the destination, each from a stream of its own; but of short runs, enough of them
 * for a tile. That of a near last cache is larger, unless the next one needs the same lines. */
static bool take_dense_rows(struct shape *shape, int64_t run)
{
    enum { MOST_PAGES = 32, LEAST_BYTES = 4 << 10, NEAR_BYTES = 8 << 10 };
    const int64_t run_bytes = run * widest_type(shape->workshop->conversion);
    const tsr_loop *next = find(shape, any, run);
    if (!next)
        return false;
    shape->rows = tsr_min(shape->rows, tsr_max(LEAST_BYTES / run_bytes, steps_in_pages(shape, next, MOST_PAGES)));
    shape->rows = in_whole_lines(shape->rows, run * shape->workshop->conversion->dst_bytes);
    take_rows(shape, run);
    if (shape->workshop->is_near &&
        tsr_reads_whole_lines(shape->row, steps_of(shape->column), shape->workshop->conversion)) {
        shape->rows = tsr_max(shape->rows, tsr_min(MOST, NEAR_BYTES / run_bytes));
        take_rows(shape, run);
    }
    return true;
}

/* Rows continue the run in the destination, if they can; where they cannot, or there are too few for a tile, they are what
 * there is near the run. */
static tsr_motion shape_copy(struct shape *shape)
{
    enum { FEW_BYTES = 1 << 10 };
    const int64_t widest = widest_type(shape->workshop->conversion);
    const int64_t padding = shape->column->count > 0 ? shape->column->loop[0].padding : 0;
    const int64_t run = steps_of(shape->column) + padding;
    const int64_t places = places_of_runs(shape, run);
    shape->column->is_run = true;
    want_runs(shape, INT64_MAX);
    if (places > 0)
        take_places(shape, places);
    const bool is_dense = places == 0 && take_dense_rows(shape, run);
    const int64_t least = is_dense ? tsr_min(shape->rows, FEW_BYTES / (run * widest)) : shape->rows;
    while (steps_of(shape->row) < least && take(shape, shape->row, any, any))
        ;
    return TSR_MOTION_COPY;
}

static tsr_motion shape_zero(struct shape *shape)
{
    shape->column->is_run = take(shape, shape->column, any, 1);
    if (!shape->column->is_run)
        take(shape, shape->column, any, any);
    while (shape->column->is_run && grow(shape, shape->column, RUN_BYTES / shape->workshop->conversion->dst_bytes))
        ;
    take(shape, shape->row, any, any);
    want_runs(shape, shape->column->is_run ? INT64_MAX : MOST);
    return TSR_MOTION_ZERO;
}

static tsr_motion shape_pick(struct shape *shape)
{
    if (shape->column->count == 0)
        take(shape, shape->column, any, any);
    else
        while (grow(shape, shape->column, MOST))
            ;
    take(shape, shape->row, any, any);
    want_runs(shape, MOST);
    return TSR_MOTION_PICK;
}

/* Are runs so short that a shuffle moves several of them at once? Those that continue each other on both sides
 * need none. */
static bool has_near_runs(const struct shape *shape)
{
    const tsr_conversion *conversion = shape->workshop->conversion;
    const int64_t run = steps_of(shape->column);
    const tsr_loop *next = find(shape, any, run);
    if (!next || next->src_table || next->padding > 0 || shape->column->loop[0].padding > 0 || conversion->unpack)
        return false;
    return next->src != run && llabs(next->src) <= TSR_LANE_BYTES / conversion->src_bytes - run;
}

/* Of pixels that lie side by side, with padding behind the few channels that the column has. These are parted, and
 * joined again with zeros. */
static bool take_padded_pixels(struct shape *shape)
{
    const tsr_loop *channels = &shape->column->loop[0];
    const tsr_conversion *conversion = shape->workshop->conversion;
    const bool is_short = (channels->n + channels->padding) * conversion->dst_bytes < TSR_CACHE_LINE;
    const bool is_parted_fast = channels->n < 5 || channels->n == 8 || conversion->src_bytes == 1;
    if (channels->padding == 0 || !tsr_is_short_side(channels->n) || tsr_is_packed(conversion))
        return false;
    if (!is_short || !is_parted_fast)
        return false;
    return take(shape, shape->row, channels->n, channels->n + channels->padding);
}

static tsr_motion shape_padded_pixels(struct shape *shape)
{
    const tsr_loop *channels = &shape->column->loop[0];
    shape->rows = PIXELS_BYTES / (widest_type(shape->workshop->conversion) * (channels->n + channels->padding));
    share_rows(shape);
    return TSR_MOTION_TRANSPOSE;
}

/* Are rows and columns, as far as their first loops go, together a piece of at most 16 bytes on both sides, with others
 * behind it? */
static bool are_in_lanes(const struct shape *shape)
{
    const tsr_conversion *conversion = shape->workshop->conversion;
    const tsr_loop *column = &shape->column->loop[0], *row = find(shape, 1, column->n);
    if (!row || column->src != row->n || row->padding > 0 || column->padding > 0 || conversion->unpack)
        return false;
    const int64_t piece = row->n * column->n;
    return piece * widest_type(conversion) <= TSR_LANE_BYTES && find(shape, piece, piece);
}

static tsr_motion choose(struct shape *shape, bool is_padding)
{
    if (is_padding)
        return shape_zero(shape);
    if (shape->nest->count == 0)
        return shape_copy(shape);
    if (take(shape, shape->column, 1, 1)) {
        if (take_padded_pixels(shape))
            return shape_padded_pixels(shape);
        return has_near_runs(shape) ? shape_pick(shape) : shape_copy(shape);
    }
    if (take(shape, shape->column, any, 1) && !are_in_lanes(shape) &&
        (take(shape, shape->row, 1, any) || take(shape, shape->row, -1, shape->column->loop[0].n)))
        return shape_transpose(shape);
    return shape_pick(shape);
}

void tsr_shape_box(tsr_box *box, const tsr_nest *nest, bool is_padding, const tsr_workshop *workshop,
                   int64_t *wanted_rows, int64_t *wanted_columns)
{
    struct shape shape = {.nest = nest, .workshop = workshop, .row = &box->row, .column = &box->column};
    box->motion = choose(&shape, is_padding);
    for (int i = 0; i < nest->count; i++)
        if (!shape.is_taken[i])
            box->outer[box->outer_count++] = nest->loop[i];
    box->has_places = shape.rest.n > 0;
    if (shape.rest.n > 1)
        box->outer[box->outer_count++] = shape.rest;
    bool has_padding = box->column.count > 0 && box->column.loop[0].padding > 0;
    *wanted_rows = shape.rows;
    *wanted_columns = has_padding ? box->column.loop[0].n : shape.columns;
}
