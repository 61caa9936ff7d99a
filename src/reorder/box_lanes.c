/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/box_lanes.h"

#include "base/int.h"

/* Fewer rows are not worth lanes that go from one to the next. */
enum { FEW_ROWS = 8 };

/* So many bytes may be all rows of a tile, one for the lanes: each goes from tile to tile then, and comes back to the
 * lines that it has read. The tables of many take long to make, and are for what the second-level cache does not
 * hold. */
static int64_t most_bytes_of_all(const tsr_workshop *workshop)
{
    enum { FEW_BYTES = 512, MANY_BYTES = 2 << 10 };
    return workshop->exceeds_l2 ? MANY_BYTES : FEW_BYTES;
}

/*
 * Rows that continue each other are one for lanes, so that these are whole: all of a tile, if these have no more bytes
 * than that; or if it is 0, as many as fill them, or as have some. All have to be equally far apart, and more than a
 * few; 0 if they are not.
 */
static int64_t rows_of_lanes(const tsr_box *box, const tsr_conversion *conversion, int64_t lane_bytes,
                             int64_t all_bytes)
{
    enum { MANY_LANES = 8, ENOUGH_LANES = 3 };
    const int64_t row_bytes = box->column.n * conversion->src_bytes, rows = box->row.step;
    const int64_t filling = lane_bytes / tsr_gcd(row_bytes, lane_bytes);
    const bool are_even = box->row.count == 1 && !tsr_loop_has_table(&box->row.loop[0]);
    if (box->motion != TSR_MOTION_PICK || !are_even || rows < FEW_ROWS || box->column.tiles > 1)
        return 0;
    if (!box->is_dense)
        return 1;
    if (all_bytes > 0)
        return box->row.tiles == 1 && rows * row_bytes <= all_bytes ? rows : 0;
    const bool are_filled = filling * row_bytes <= MANY_LANES * lane_bytes;
    return tsr_min(rows, are_filled ? filling : tsr_ceil_div(ENOUGH_LANES * lane_bytes, row_bytes));
}

/* The elements that are to be side by side, of what is picked and of pixels that are not as kernels want them. */
static bool find_lane_row(tsr_lane_row *found, const tsr_box *box, const tsr_conversion *conversion, int64_t lane_rows)
{
    static const int64_t zero[] = {0};
    const tsr_chain *row = &box->row, *column = &box->column;
    *found = (tsr_lane_row){zero, column->src, 1, column->length, conversion->src_bytes};
    switch (box->motion) {
    case TSR_MOTION_PICK:
        found->outer = row->src;
        found->outer_count = tsr_max(1, lane_rows);
        found->inner = column->src;
        found->inner_count = column->length;
        return !column->is_table && !conversion->unpack && conversion->src_bytes < TSR_LANE_BYTES &&
               (box->has_dense_columns || !conversion->is_copy);
    case TSR_MOTION_INTERLEAVE:
        found->outer = row->src;
        found->outer_count = row->length;
        return row->loop[0].src != 1;
    case TSR_MOTION_DEINTERLEAVE:
        found->inner = row->src;
        found->inner_count = row->n;
        return column->loop[0].src != row->n;
    default:
        return false;
    }
}

/* Of a tile, so many rows of which are one for the lanes. If these are all, lanes go over the tiles that the walk
 * joins. Pixels are one row for them, or one for each channel. */
static double cost_of_lanes(const tsr_box *box, const tsr_lanes *lanes, int64_t lane_rows)
{
    const tsr_loop *next = tsr_innermost_of_walk(box);
    const int64_t tiles = next ? next->n : 1;
    if (box->motion != TSR_MOTION_PICK)
        return tsr_lanes_cost(lanes, box->motion == TSR_MOTION_INTERLEAVE ? box->column.step : 1, true);
    if (lane_rows == box->row.step)
        return tsr_lanes_cost(lanes, tiles, false) / (double)tiles;
    return tsr_lanes_cost(lanes, tsr_ceil_div(box->row.step, tsr_max(1, lane_rows)), lane_rows <= 1);
}

/* Is a shuffle worth it, or a pick as fast? Wide parts take longer than others, and so do those of few rows, whose
 * orders are not loaded once for many. Pixels need one. */
static bool are_worth(const tsr_box *box, const tsr_lanes *lanes, int64_t bytes)
{
    const bool take_longer = lanes->window > TSR_LANE_BYTES || box->row.step < FEW_ROWS;
    return box->motion != TSR_MOTION_PICK || lanes->lookup || tsr_lanes_are_filled(lanes, bytes, take_longer ? 3 : 2);
}

/* Do these take less than those that the box has? Lane by lane of long rows, caches lose lines between the parts of
 * one and the next, which a look-up reads once. */
static bool are_better(const tsr_box *box, const tsr_lanes *lanes, int64_t lane_rows)
{
    if (!box->lanes.lane)
        return true;
    if (lanes->lookup && !box->lanes.lookup && 2 * tsr_lanes_stored(&box->lanes) <= box->lanes.count - 1)
        return true;
    return cost_of_lanes(box, lanes, lane_rows) < cost_of_lanes(box, &box->lanes, box->lane_rows);
}

/* Takes these lanes, if they are worth it, and the box has none yet, or they are better. */
static tsr_status try_lanes(tsr_box *box, const tsr_workshop *workshop, int64_t window, int64_t lane_rows)
{
    tsr_lane_row row;
    tsr_lanes lanes;
    if (!find_lane_row(&row, box, workshop->conversion, lane_rows))
        return TSR_OK;
    const tsr_status status = tsr_lanes_init(&lanes, &row, window, workshop->allocator);
    const bool is_better = status == TSR_OK && are_worth(box, &lanes, row.bytes) && are_better(box, &lanes, lane_rows);
    tsr_lanes_reset(is_better ? &box->lanes : &lanes, workshop->allocator);
    if (is_better) {
        box->lanes = lanes;
        box->lane_rows = lane_rows;
    }
    return status;
}

tsr_status tsr_box_make_lanes(tsr_box *box, const tsr_workshop *workshop)
{
    const int64_t most = most_bytes_of_all(workshop);
    tsr_status status = TSR_OK;
    for (int64_t window = TSR_LANE_BYTES; status == TSR_OK && window <= workshop->kernels->window_bytes; window *= 4) {
        const int64_t all = rows_of_lanes(box, workshop->conversion, window, most);
        status = try_lanes(box, workshop, window, rows_of_lanes(box, workshop->conversion, window, 0));
        if (status == TSR_OK && all > 1)
            status = try_lanes(box, workshop, window, all);
    }
    if (status != TSR_OK || !tsr_lanes_are_whole(&box->lanes, workshop->conversion->src_bytes))
        box->lane_rows = 0;
    return status;
}
