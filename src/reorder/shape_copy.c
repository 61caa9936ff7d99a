/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/shapes.h"

#include "reorder/caches.h"
#include "reorder/columns.h"
#include "reorder/convert_lines.h"
#include "reorder/lines.h"
#include "reorder/places.h"
#include "reorder/shape.h"
#include "reorder/spread.h"
#include "reorder/streams.h"

/* Columns are a run. */

const tsr_loop *tsr_find_scattered(const tsr_draft *draft)
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

tsr_motion tsr_shape_scattered(tsr_draft *draft, const tsr_loop *pixels)
{
    const int64_t bytes = draft->workshop->conversion->dst_bytes;
    draft->column->is_run = true;
    tsr_take_loop(draft, draft->row, pixels->src, pixels->dst);
    draft->columns = tsr_steps_of(draft->column);
    draft->rows =
        tsr_shared_steps(draft, draft->row, tsr_share_of_l1(TSR_RUN_BYTES) / (pixels->dst * bytes), TSR_CACHE_LINE);
    draft->scatters = true;
    return TSR_MOTION_COPY;
}

/* So many runs of so many bytes are worth a tile: at least 4 KB, and `many` of up to `most_bytes` together. */
static int64_t runs_of_a_tile(int64_t bytes, int64_t many, int64_t most_bytes)
{
    enum { LEAST_BYTES = 4 << 10 };
    const int64_t runs = tsr_max(LEAST_BYTES / bytes, tsr_min(many, tsr_share_of_l1(most_bytes) / bytes));
    return tsr_max(1, tsr_min(TSR_MOST_STEPS, runs));
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

void tsr_want_runs(tsr_draft *draft, int64_t most_columns)
{
    enum { MANY_RUNS = 128, TILE_BYTES = 16 << 10, WORTH_A_THREAD = 64 };
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t widest = tsr_widest_type(conversion), line = TSR_CACHE_LINE / conversion->dst_bytes;
    const int64_t run = tsr_steps_of(draft->column),
                  share = tsr_max(tsr_ceil_div(run, tsr_shared_parts(draft)), WORTH_A_THREAD);
    const int64_t inner = tsr_inner_steps_of(draft->column), unit = tsr_lcm(line, inner);
    const int64_t whole = tsr_ceil_div(share, unit) * unit;
    const int64_t fitting = are_converted_straight(draft) ? whole : tsr_share_of_l1(TSR_RUN_BYTES) / widest;
    draft->columns = tsr_min(most_columns, tsr_min(fitting, whole));
    draft->rows = runs_of_a_tile(tsr_min(run, draft->columns) * widest, MANY_RUNS, TILE_BYTES);
}

/* So many steps of the first loop of rows stay in a tile; another loop, outside of it, goes over the others. */
static void cut_first_loop(tsr_draft *draft, int64_t steps)
{
    tsr_loop *loop = &draft->row->loop[0];
    draft->rest = (tsr_loop){
        .n = loop->n / steps, .src = loop->src * steps, .dst = loop->dst * steps, .factor = loop->factor * steps};
    loop->n = steps;
}

/* So many of the places are the first loop of rows. */
static void take_places(tsr_draft *draft, int64_t places)
{
    const int64_t run = tsr_steps_of(draft->column);
    const int64_t most = tsr_bytes_of_places(draft, run);
    draft->rows = runs_of_a_tile(run * tsr_widest_type(draft->workshop->conversion), most / TSR_CACHE_LINE, most);
    tsr_take_loop(draft, draft->row, run, TSR_ANY);
    cut_first_loop(draft, places);
    draft->has_places = true;
}

/* Or so many runs of a place are, and all places the next one. */
static void take_runs_by_places(tsr_draft *draft, int64_t run, const tsr_order *order)
{
    const int64_t in_src = order->has_places_at_dst ? TSR_ANY : run, in_dst = order->has_places_at_dst ? run : TSR_ANY;
    tsr_take_loop(draft, draft->row, in_src, in_dst);
    tsr_take_loop(draft, draft->row, in_dst, in_src);
    cut_first_loop(draft, order->runs);
    draft->rows = tsr_steps_of(draft->row);
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

/* So many short runs are enough for a tile; where the last cache is far, more of them that are converted from a few
 * places (measured on an Emerald Rapids). */
static int64_t least_bytes_of_runs(const tsr_draft *draft, const tsr_loop *sources)
{
    enum { COPIED_BYTES = 4 << 10, CONVERTED_BYTES = 8 << 10, FAR_BYTES = 16 << 10, FEW_PLACES = 64 };
    const tsr_conversion *conversion = draft->workshop->conversion;
    if (conversion->is_copy)
        return COPIED_BYTES;
    return draft->workshop->topology->has_near_l3 || tsr_is_packed(conversion) || sources->n > FEW_PLACES
               ? CONVERTED_BYTES
               : FAR_BYTES;
}

/* Rows that continue the run in the destination, each from a stream of its own; but of short runs, enough of them for a
 * tile. That of a near last cache is larger, unless the next one needs the same lines. */
static bool take_dense_rows(tsr_draft *draft, int64_t run)
{
    enum { MOST_PAGES = 32, NEAR_BYTES = 8 << 10 };
    const tsr_conversion *conversion = draft->workshop->conversion;
    const int64_t run_bytes = run * tsr_widest_type(conversion);
    const tsr_loop *next = tsr_find_loop(draft, TSR_ANY, run);
    if (!next)
        return false;
    const bool are_far = tsr_are_far_lines(draft->workshop, next, run);
    const int64_t least = least_bytes_of_runs(draft, next) / run_bytes;
    const int64_t few = are_far ? TSR_FEW_PAGES : tsr_max(least, tsr_steps_in_pages(draft, next, MOST_PAGES));
    draft->rows = tsr_min(draft->rows, few);
    draft->rows = in_whole_lines(draft->rows, run * conversion->dst_bytes);
    take_rows(draft, run);
    if (draft->workshop->is_near && !are_far &&
        tsr_reads_whole_lines(draft->row, tsr_steps_of(draft->column), conversion)) {
        draft->rows = tsr_max(draft->rows, tsr_min(TSR_MOST_STEPS, tsr_share_of_l1(NEAR_BYTES) / run_bytes));
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

/* Is memory read the sooner for it if the rows of a tile continue each other there, wherever they go? Beside deep sets
 * it is. But short runs are written next to each other, and what is converted takes its time meanwhile. */
static bool reads_memory_in_order(const tsr_workshop *workshop, int64_t run)
{
    enum { LEAST_BYTES = 4 * TSR_CACHE_LINE };
    const tsr_conversion *conversion = workshop->conversion;
    return workshop->has_deep_sets &&
           run * conversion->dst_bytes >= (conversion->is_copy ? LEAST_BYTES : TSR_LONG_CONVERTED_RUN);
}

/* Or the last cache, for runs of some lines that are converted and not streamed? Prefetchers follow longer ones, many
 * at a time. Measured on a Zen 4. */
static bool reads_cache_in_order(const tsr_workshop *workshop, int64_t run)
{
    enum { LEAST_BYTES = 4 * TSR_CACHE_LINE, LONG_BYTES = 8 * TSR_CACHE_LINE };
    const tsr_conversion *conversion = workshop->conversion;
    const int64_t bytes = run * conversion->src_bytes;
    return workshop->is_near && workshop->exceeds_l2 && !workshop->streams && !conversion->is_copy &&
           bytes >= LEAST_BYTES && bytes < LONG_BYTES;
}

/* Rows that continue the run in the source, unless all go to one set. */
static bool take_rows_of_source(tsr_draft *draft, int64_t run)
{
    const tsr_workshop *workshop = draft->workshop;
    const tsr_loop *next = tsr_find_loop(draft, run, TSR_ANY);
    if (!next || next->dst_table || !(reads_memory_in_order(workshop, run) || reads_cache_in_order(workshop, run)))
        return false;
    if (next->dst * workshop->conversion->dst_bytes % tsr_period_of_sets() == 0)
        return false;
    while (tsr_steps_of(draft->row) < draft->rows &&
           tsr_take_loop(draft, draft->row, run * tsr_steps_of(draft->row), TSR_ANY))
        ;
    return true;
}

tsr_motion tsr_shape_copy(tsr_draft *draft)
{
    enum { FEW_BYTES = 1 << 10 };
    const int64_t widest = tsr_widest_type(draft->workshop->conversion);
    const int64_t padding = draft->column->count > 0 ? draft->column->loop[0].padding : 0;
    join_runs(draft);
    const int64_t run = tsr_steps_of(draft->column) + padding;
    const tsr_order order = tsr_order_of_runs(draft, run);
    draft->column->is_run = true;
    tsr_want_runs(draft, INT64_MAX);
    if (order.runs > 0) {
        take_runs_by_places(draft, run, &order);
        return TSR_MOTION_COPY;
    }
    if (order.places > 0)
        take_places(draft, order.places);
    const bool is_dense = order.places == 0 && !take_rows_of_source(draft, run) && take_dense_rows(draft, run);
    const int64_t least = is_dense ? tsr_min(draft->rows, FEW_BYTES / (run * widest)) : draft->rows;
    while (tsr_steps_of(draft->row) < least && tsr_take_loop(draft, draft->row, TSR_ANY, TSR_ANY))
        ;
    return TSR_MOTION_COPY;
}
