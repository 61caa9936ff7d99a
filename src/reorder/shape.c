/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/shape.h"

#include <stdlib.h>

#include "reorder/caches.h"
#include "reorder/shapes.h"
#include "reorder/wide_lanes.h"

int64_t tsr_shared_parts(const tsr_draft *draft)
{
    enum { SHARE = 8 };
    const int64_t threads = draft->workshop->threads;
    int64_t others = 1, parts = 1;
    for (int i = 0; i < draft->nest->count; i++)
        others *= draft->is_taken[i] ? 1 : draft->nest->loop[i].n;
    if (others / threads >= SHARE)
        return 1;
    while (SHARE * tsr_ceil_div(others * parts, threads) * threads > (SHARE + 1) * others * parts)
        parts++;
    return parts;
}

/* At most so many units, such that all tiles have as many, if these are no less than half. */
static int64_t alike_units(int64_t all, int64_t units)
{
    const int64_t divisor = tsr_divisor_below(all, units);
    return 2 * divisor > units ? divisor : units;
}

int64_t tsr_shared_steps(const tsr_draft *draft, const tsr_chain *chain, int64_t most, int64_t line)
{
    const int64_t inner = tsr_inner_steps_of(chain), all = tsr_steps_of(chain);
    const int64_t in_byte = tsr_elements_in_byte(draft->workshop->conversion->dst_packing);
    const int64_t unit = inner > 1 ? tsr_lcm(inner, in_byte) : line, fitting = tsr_max(1, most / unit) * unit;
    const int64_t parts = tsr_shared_parts(draft), tiles = tsr_ceil_div(tsr_ceil_div(all, fitting), parts) * parts;
    const int64_t units = tsr_ceil_div(all, unit * tiles);
    const bool should_be_alike = inner > 1 && all % unit == 0 && draft->workshop->threads > 1;
    return tsr_min(most, (should_be_alike ? alike_units(all / unit, units) : units) * unit);
}

/* ---- other columns: of zeros, or what comes closest to a run ---- */

static tsr_motion shape_zero(tsr_draft *draft)
{
    enum { MANY_ROWS = 64 };
    draft->column->is_run = tsr_take_loop(draft, draft->column, TSR_ANY, 1);
    if (!draft->column->is_run)
        tsr_take_loop(draft, draft->column, TSR_ANY, TSR_ANY);
    while (draft->column->is_run &&
           tsr_grow(draft, draft->column, tsr_share_of_l1(TSR_RUN_BYTES) / draft->workshop->conversion->dst_bytes))
        ;
    tsr_want_runs(draft, draft->column->is_run ? INT64_MAX : TSR_MOST_STEPS);
    while (tsr_steps_of(draft->row) < tsr_min(MANY_ROWS, draft->rows) &&
           tsr_take_loop(draft, draft->row, TSR_ANY, TSR_ANY))
        ;
    return TSR_MOTION_ZERO;
}

/* Columns of a block that are looked up in the source; and rows that continue them, as many as are worth a tile. Short
 * runs are joined to lanes if all rows are equally far apart. */
static tsr_motion shape_block(tsr_draft *draft)
{
    enum { FEW_ROWS = 32 };
    const int64_t run = tsr_steps_of(draft->column);
    tsr_want_runs(draft, TSR_MOST_STEPS);
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
        while (!fills_alike_lanes(draft) && tsr_grow(draft, draft->column, TSR_MOST_STEPS))
            ;
    tsr_take_loop(draft, draft->row, TSR_ANY, TSR_ANY);
    tsr_want_runs(draft, TSR_MOST_STEPS);
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

/* So many loops that lie side by side are columns, with those that they have. Rows go on behind them, or are all that
 * is near, if each fills a lane. */
static tsr_motion shape_blocks_in_lanes(tsr_draft *draft, int loops)
{
    enum { MANY_ROWS = 64 };
    const int64_t bytes = draft->workshop->conversion->src_bytes;
    for (int i = 0; i < loops; i++)
        tsr_take_loop(draft, draft->column, TSR_ANY, tsr_steps_of(draft->column));
    tsr_want_runs(draft, TSR_MOST_STEPS);
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
        return tsr_shape_copy(draft);
    if (tsr_take_pixels_among_padding(draft))
        return tsr_shape_padded_pixels(draft);
    if (tsr_take_pixels_from_padding(draft))
        return tsr_shape_unpadded_pixels(draft);
    if (tsr_take_loop(draft, draft->column, 1, 1)) {
        if (tsr_take_padded_pixels(draft))
            return tsr_shape_padded_pixels(draft);
        if (has_near_runs(draft))
            return shape_pick(draft);
        const tsr_loop *pixels = draft->column->loop[0].padding == 0 ? tsr_find_scattered(draft) : NULL;
        if (pixels)
            return tsr_shape_scattered(draft, pixels);
        if (has_short_runs(draft))
            return shape_block(draft);
        const int loops = draft->column->loop[0].padding == 0 ? tsr_loops_of_runs_in_wide_lanes(draft) : 0;
        return loops > 0 ? shape_blocks_in_lanes(draft, loops) : tsr_shape_copy(draft);
    }
    const int loops = tsr_loops_in_wide_lanes(draft);
    if (loops > 0)
        return shape_blocks_in_lanes(draft, loops);
    if (!tsr_find_loop(draft, TSR_ANY, 1)) {
        const tsr_loop *pixels = tsr_find_scattered(draft);
        return pixels ? tsr_shape_scattered(draft, pixels) : shape_pick(draft);
    }
    if (tsr_take_loop(draft, draft->column, TSR_ANY, 1) && !are_in_lanes(draft) &&
        (tsr_take_loop(draft, draft->row, 1, TSR_ANY) ||
         tsr_take_loop(draft, draft->row, -1, draft->column->loop[0].n)))
        return tsr_shape_transpose(draft);
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
    box->has_places = draft.has_places;
    box->leaves_gaps = box->has_places && draft.leaves_gaps;
    box->goes_by_rows = draft.goes_by_rows;
    box->scatters = draft.scatters;
    box->pads_pixels = draft.pads_pixels;
    if (draft.rest.n > 1)
        box->outer[box->outer_count++] = draft.rest;
    bool has_padding = box->column.count > 0 && box->column.loop[0].padding > 0;
    *wanted_rows = draft.rows;
    *wanted_columns = has_padding ? box->column.loop[0].n : draft.columns;
}
