/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/cost.h"

#include <math.h>
#include <stdlib.h>

#include "base/int.h"
#include "reorder/between.h"
#include "reorder/caches.h"
#include "reorder/convert_lines.h"
#include "reorder/cut.h"
#include "reorder/group.h"
#include "reorder/sets.h"
#include "reorder/spread.h"

/* All in bytes that memcpy would have copied meanwhile. */
static const double per_tile = 300, per_joined_tile = 50, per_interleaved_tile = 1200, per_converted_tile = 4000,
                    per_padded_tile = 3000, per_run = 8, per_padded_run = 3, per_scattered_run = 3,
                    per_run_by_scratch = 60, per_piece = 8, per_parted_piece = 32, per_part_of_block = 40,
                    per_short_row = 15, per_part_of_lane = 3, per_lane = 3, per_part_of_wide_lane = 9,
                    per_wide_lane = 5;

/* A row whose line is surely lost before the next row goes on with it. */
static const double per_lost_row = 300;

/* Blocks that do not nest are moved one after the other, each time with the lines that these are parts of. */
static const double per_byte_read_again = 0.4;

/* Pixels are parted before they are joined with zeros. */
static const double per_byte_of_parted_pixels = 0.9;

/* And others are converted as they are parted, or joined, in long stretches. */
static const double per_byte_at_once = 1.2;

/* Or converted and joined with them at once, by the rows that they become. */
static const double per_padded_channel = 1, per_converted_channel = 2.5, per_byte_of_padded_row = 0.65;

/* And pixels that are taken from among padding, with the lines that these are parts of. */
static const double per_unpadded_pixel = 2, per_byte_among_padding = 0.3;

/* Zeros are written, not read: apart from the elements if they have boxes, or with them, where that is one store. */
static const double per_byte_of_zeros = 0.6, per_run_of_zeros = 12, per_byte_of_stored_zeros = 0.4;

/* What is converted, on top: an element; a line that is converted by itself, or along with many; a run that is
 * gathered, has its factors spread out, or goes by f32, beside maps by which long lines are looked up; an element that
 * is shuffled as well, group by group. Packed elements are packed and unpacked line by line in the tiles of a
 * transpose, or as bytes of several lines, or parted as they are; and for runs, by lines where they do not lie side by
 * side. */
static const double per_conversion = 0.8, per_packed_element = 2, per_packed_element_of_line = 0.5,
                    per_packed_element_of_tile = 1.9, per_packed_element_of_far_tile = 0.2,
                    per_packed_element_of_bytes = 0.5, per_line_of_bytes = 40, per_parted_byte = 1.6,
                    per_parted_line = 60, per_packed_line = 200, per_unpacked_line = 85, per_line = 160,
                    per_line_of_many = 20, per_gathered_run = 40, per_spread_run = 8, per_run_at_once = 14,
                    per_run_beside_maps = 35, per_shuffled_conversion = 0.9;

/* Of all this, where prefetchers foresee what is converted, and what is written passes by the caches; or if the source
 * is read in order. */
static const double of_lines_foreseen = 0.75, of_lines_in_order = 0.6;

/* Kernels move blocks of 16 bytes, */
static const double block = 16;

/* which short rows and columns of narrow elements do not fill; bytes that are no whole words take more parts. */
static double filled(const tsr_chain *chain, double bytes)
{
    static const double word = 4, of_parts = 0.9;
    const double run = (double)(chain->loop[0].n + chain->loop[0].padding) * bytes;
    const double share = run / (block * ceil(run / block));
    if (bytes >= 4 || chain->count != 1)
        return 1;
    return bytes == 1 && run < block && fmod(run, word) != 0 ? of_parts * share : share;
}

/* By rows and columns, whichever do less. */
static double filled_block(const tsr_box *box, double bytes)
{
    return fmin(filled(&box->row, bytes), filled(&box->column, bytes));
}

/* Bytes of zeros behind a row of elements, for each of them. */
static double padding_of_element(const tsr_chain *column, double bytes)
{
    const tsr_loop *loop = &column->loop[0];
    return column->count > 0 ? bytes * (double)loop->padding / (double)loop->n : 0;
}

/* The elements of a row, or of all rows of the innermost loop, if each goes on where the last one ends. */
static int64_t elements_side_by_side(const tsr_box *box)
{
    const tsr_loop *loop = box->row.loop;
    const bool are_dense =
        box->row.count > 0 && box->column.tiles == 1 && !loop->dst_table && loop->dst == box->column.n;
    return are_dense ? loop->n * box->column.n : box->column.n;
}

/* What is left of them behind the last whole block is written behind a mask, or in several pieces; rows without any
 * are made dense first. */
static double per_element_of_row(const tsr_box *box, double bytes)
{
    const double elements = (double)elements_side_by_side(box), row = elements * bytes;
    const double rest = row < block ? per_short_row : per_part_of_block;
    const bool has_rest = fmod(row, block) != 0;
    return has_rest && !box->is_dense && box->padding_bytes == 0 ? rest / elements : 0;
}

/* With the padding behind it, a run goes by way of scratch memory, unless a kernel writes both. */
static double per_copied_run(const tsr_box *box)
{
    if (box->scatters)
        return per_scattered_run;
    return box->padding_bytes == 0 ? per_run : box->writes_padding ? per_padded_run : per_run_by_scratch;
}

/* Of rows in lanes, by the loads, shuffles and stores that these take. */
static double per_shuffled_element(const tsr_lanes *lanes, double bytes)
{
    const bool is_wide = lanes->window > TSR_LANE_BYTES;
    const double part = is_wide ? per_part_of_wide_lane : per_part_of_lane, lane = is_wide ? per_wide_lane : per_lane;
    return bytes * 1.05 +
           (part * (double)tsr_lanes_parts(lanes) + lane * (double)tsr_lanes_stored(lanes)) / (double)lanes->n;
}

static double per_element(const tsr_box *box, double bytes, double narrow)
{
    const double transposed = bytes * 1.3 + 0.3,
                 shuffled = box->lanes.lane ? per_shuffled_element(&box->lanes, bytes) : 0;
    const double side_by_side = tsr_shuffles_pixels(box) ? shuffled : 0; /* before they are moved */
    switch (box->motion) {
    case TSR_MOTION_COPY:
        return bytes * 1.05 + per_copied_run(box) / (double)box->column.n +
               (box->writes_padding ? per_byte_of_stored_zeros : per_byte_of_zeros) *
                   padding_of_element(&box->column, bytes);
    case TSR_MOTION_TRANSPOSE:
        return transposed / fmin(filled_block(box, narrow), filled_block(box, bytes)) +
               (tsr_parts_pixels(box) ? per_byte_of_parted_pixels * narrow : 0) +
               per_byte_of_stored_zeros * padding_of_element(&box->column, bytes) + per_element_of_row(box, bytes);
    case TSR_MOTION_INTERLEAVE:
        return transposed + side_by_side + (box->piece ? per_piece / (double)box->row.loop[0].n : 0);
    case TSR_MOTION_DEINTERLEAVE:
        return transposed + side_by_side + (box->piece ? per_parted_piece / (double)box->column.loop[0].n : 0);
    case TSR_MOTION_UNPAD:
        return bytes * 1.05 + per_unpadded_pixel / (double)box->column.n;
    default:
        return box->lanes.lane ? shuffled : bytes + 6;
    }
}

/* Lines of fewer elements cost as much as a call each: what comes before a kernel, and where a conversion takes
 * several, what comes between them. */
enum { LONG_LINE = 128, LONG_LINE_OF_STEPS = 512 };

/* Of each element of lines, by what one of them takes; long ones make no difference. */
static double per_element_of_line(int64_t line, int64_t long_line, double cost)
{
    return line > 0 && line < long_line ? cost / (double)line : 0;
}

/* The same; or of those that are gathered first. */
static double per_short_line(const tsr_box *box, const tsr_conversion *conversion)
{
    const int64_t line = tsr_converted_line(box, conversion);
    const double gathered = box->motion == TSR_MOTION_COPY ? per_gathered_run : per_spread_run;
    if (line == TSR_GATHERED_LINE)
        return gathered / (double)box->column.n;
    return per_element_of_line(line, conversion->only ? LONG_LINE : LONG_LINE_OF_STEPS,
                               tsr_converts_many_lines(box, conversion) ? per_line_of_many : per_line);
}

/* Lines that end within others of the destination are packed one by one, and elements that lie apart are such lines. */
static double per_packed_line_of(const tsr_box *box, const tsr_conversion *conversion)
{
    const int64_t line = box->has_dense_columns ? box->column.n : 1;
    return conversion->pack && !box->is_dense ? per_element_of_line(line, LONG_LINE, per_packed_line) : 0;
}

/* Do rows and columns of a tile lie so far from each other that memory takes longer for them than to unpack what they
 * have? */
static bool is_far_tile(const tsr_box *box)
{
    enum { FAR = 2048 }; /* elements */
    return llabs(box->row.loop[0].dst) >= FAR && llabs(box->column.loop[0].src) >= FAR;
}

/* Of each element of runs that many in a call convert, unpacked one by one if they have to be. */
static double per_converted_run(const tsr_box *box, const tsr_conversion *conversion)
{
    const double steps = !conversion->at_once ? 0 : conversion->maps ? per_run_beside_maps : per_run_at_once;
    const double unpacked = conversion->unpack && !box->is_dense_in_src ? per_unpacked_line : 0;
    return (steps + unpacked) / (double)box->column.n;
}

/* Of what is counted as a byte: as many as stay packed share one. */
static double size_of_element(const tsr_box *box, const tsr_conversion *conversion)
{
    return box->packed_move == TSR_KEPT_PACKED ? 1.0 / (double)tsr_elements_in_byte(conversion->src_packing) : 1;
}

/* Of each element, on each side that is packed: those of blocks are few for kernels that move bytes of them. */
static double per_packed_element_of_box(const tsr_box *box, bool has_long_lines)
{
    const double of_lines = has_long_lines ? per_packed_element_of_line : per_packed_element;
    if (box->motion != TSR_MOTION_TRANSPOSE)
        return of_lines;
    if (box->packed_move != TSR_MOVED_UNPACKED)
        return per_packed_element_of_bytes +
               per_element_of_line(tsr_min(box->row.loop[0].n, box->column.n), LONG_LINE, per_line_of_bytes);
    return of_lines + (is_far_tile(box) ? per_packed_element_of_far_tile : per_packed_element_of_tile);
}

static double per_converted_element(const tsr_box *box, const tsr_conversion *conversion)
{
    if (tsr_is_straight(conversion))
        return 0;
    if (box->packed_move == TSR_KEPT_PACKED)
        return per_parted_byte * size_of_element(box, conversion) +
               per_element_of_line(box->row.n, LONG_LINE, per_parted_line);
    if (tsr_box_loads_pixels(box, conversion))
        return per_conversion;
    const bool has_runs = tsr_converts_runs(box, conversion);
    const double of_short_lines = has_runs ? per_converted_run(box, conversion) : per_short_line(box, conversion);
    const double packed = per_packed_element_of_box(box, of_short_lines == 0 || has_runs);
    const int packed_sides = (conversion->unpack != NULL) + (conversion->pack != NULL);
    const double shuffled = box->motion == TSR_MOTION_PICK && box->lanes.lane ? per_shuffled_conversion : 0;
    return (conversion->is_copy ? 0 : per_conversion) + shuffled + packed * packed_sides + of_short_lines +
           per_packed_line_of(box, conversion);
}

/* Of columns that share sets, what was foreseen is lost before it is read. */
static bool has_lines_foreseen(const tsr_box *box, const tsr_conversion *conversion)
{
    return box->converts_lines && box->streams_lines && !tsr_share_sets(tsr_distance_of(&box->column, conversion));
}

/* Are lines streamed of columns that are converted before, and are blocks that lie side by side? Of types that are as
 * wide alone: what becomes narrower gains nothing by their order. */
static bool streams_in_order(const tsr_box *box, const tsr_conversion *conversion)
{
    enum { LONGEST_BLOCK = 4 * TSR_CACHE_LINE };
    const int64_t block = box->row.step * conversion->src_bytes;
    bool are_side_by_side = false;
    for (int i = 0; i < box->column.count; i++)
        are_side_by_side = are_side_by_side || box->column.loop[i].src == box->row.step;
    return box->converts_first && !tsr_narrows(conversion) && box->streams_lines && box->padding_bytes == 0 &&
           are_side_by_side && block <= LONGEST_BLOCK && block % TSR_LANE_BYTES == 0;
}

/* Of an interleave: fewer pixels than fill a vector, but more elements than are moved one by one as soon as a kernel is
 * called? */
static bool has_few_pixels(const tsr_box *box, const tsr_conversion *conversion)
{
    enum { SOON = 16 };
    return box->row.n * conversion->src_bytes < TSR_LANE_BYTES && box->row.n * box->column.n > SOON;
}

/* Tiles of a transpose with fewer rows than a block of a lane has, which a call takes one after the other. */
static bool has_low_tiles(const tsr_box *box, const tsr_conversion *conversion)
{
    return box->motion == TSR_MOTION_TRANSPOSE && box->joined_tiles > 1 &&
           box->row.n * conversion->src_bytes < TSR_LANE_BYTES;
}

/* Of each tile: what comes before a kernel is called, which takes one or several at a time. */
static double per_tile_of(const tsr_box *box, const tsr_conversion *conversion)
{
    const bool is_plain = tsr_is_straight(conversion) || box->motion == TSR_MOTION_COPY ||
                          box->packed_move == TSR_KEPT_PACKED || tsr_has_pixels_at_once(box, conversion);
    if (tsr_is_padded_transpose(box) && box->converts_first)
        return per_padded_tile;
    if (!is_plain)
        return streams_in_order(box, conversion) ? per_tile : per_converted_tile;
    if ((box->writes_padding && box->joined_tiles > 1) || has_low_tiles(box, conversion))
        return per_joined_tile;
    const bool is_interleave = box->motion == TSR_MOTION_INTERLEAVE;
    return is_interleave && (box->joined_tiles <= 1 || has_few_pixels(box, conversion)) ? per_interleaved_tile
                                                                                        : per_tile;
}

/* Of each row with padding that is part of a line, and goes to more places in turn than have sets for their lines: the
 * more, the fewer lines stay. */
static double per_row_of_places(const tsr_box *box, const tsr_conversion *conversion)
{
    if (!tsr_is_padded_transpose(box) || box->row_bytes >= TSR_CACHE_LINE || box->row.count == 0 ||
        tsr_pitch_of(&box->row, conversion) < TSR_CACHE_LINE)
        return 0;
    const double places = (double)box->row.loop[0].n, fitting = (double)tsr_rows_in_sets(&box->row, conversion);
    return per_lost_row * fmin(1, fmax(0, places / fitting - 1));
}

/* Of each pixel among padding: the line that it is part of. */
static double per_pixel_among_padding(const tsr_box *box, const tsr_conversion *conversion)
{
    if (box->motion != TSR_MOTION_UNPAD)
        return 0;
    return per_byte_among_padding * fmin((double)(box->row.loop[0].src * conversion->src_bytes), TSR_CACHE_LINE);
}

static double per_moved_element(const tsr_box *box, const tsr_conversion *conversion, double bytes, double narrow)
{
    if (box->pads_pixels)
        return per_padded_channel + (tsr_is_straight(conversion) ? 0 : per_converted_channel) +
               per_byte_of_padded_row * (double)box->row_bytes / (double)box->column.n;
    if (tsr_has_pixels_at_once(box, conversion) && !box->piece)
        return per_byte_at_once * bytes;
    return per_element(box, bytes, narrow) + per_converted_element(box, conversion) +
           (per_row_of_places(box, conversion) + per_pixel_among_padding(box, conversion)) / (double)box->column.n;
}

static double cost_of_elements(const tsr_box *box, const tsr_conversion *conversion)
{
    const double size = size_of_element(box, conversion);
    const double bytes = size * (double)(conversion->src_bytes + conversion->dst_bytes) / 2;
    const double narrow =
        size * (double)tsr_min(conversion->src_bytes, conversion->dst_bytes); /* as which they are moved */
    const double element = per_moved_element(box, conversion, bytes, narrow);
    const double cost = element * (double)box->elements + per_tile_of(box, conversion) * (double)box->items;
    if (streams_in_order(box, conversion))
        return of_lines_in_order * cost;
    return has_lines_foreseen(box, conversion) ? of_lines_foreseen * cost : cost;
}

/* Elements of the padding that is zeroed, apart or with others. */
static double zeros_of(const tsr_plan *plan)
{
    const int64_t zeros = tsr_desc_padded_elements(&plan->dst) - tsr_desc_elements(&plan->dst);
    return plan->padding == TSR_PADDING_ZERO ? (double)zeros : 0;
}

/* Over what memcpy would have copied in all. */
static double share_of(const tsr_plan *plan, double bytes)
{
    double all = tsr_plan_copied_bytes(plan, (double)tsr_desc_elements(&plan->dst));
    return all > 0 ? bytes / all : 0;
}

/* What lies between the parts of blocks that a box moves, up to a line of each. */
static double cost_of_lines(const tsr_box *box, const tsr_conversion *conversion)
{
    const int64_t bytes = conversion->src_bytes, row = box->column.n * bytes;
    const int64_t pitch = box->row.count > 0 ? llabs(box->row.loop[0].src) * bytes : 0;
    const int64_t again = tsr_max(0, tsr_min(pitch, TSR_CACHE_LINE) - row);
    return per_byte_read_again * (double)again * (double)(box->elements / box->column.n);
}

static double cost_of_zeros(const tsr_box *box, const tsr_conversion *conversion)
{
    const double run = box->column.is_run ? (double)box->column.n : 1;
    return (per_byte_of_zeros * (double)conversion->dst_bytes + per_run_of_zeros / run) * (double)box->elements;
}

double tsr_cost_of_box(const tsr_plan *plan, const tsr_box *box)
{
    if (box->motion == TSR_MOTION_ZERO)
        return cost_of_zeros(box, &plan->moved);
    return cost_of_elements(box, &plan->moved) + (plan->lowering.has_tables ? cost_of_lines(box, &plan->moved) : 0);
}

/* Boxes [first, end). */
static double share_of_boxes(const tsr_plan *plan, int first, int end)
{
    double cost = 0;
    for (int i = first; i < end; i++)
        cost += tsr_cost_of_box(plan, &plan->boxes[i]);
    return share_of(plan, cost);
}

double tsr_cost_of_padding(const tsr_plan *plan)
{
    return share_of_boxes(plan, plan->element_boxes, plan->element_boxes + plan->zero_boxes);
}

double tsr_cost_of_boxes(const tsr_plan *plan)
{
    return share_of_boxes(plan, 0, plan->element_boxes + plan->zero_boxes);
}

/* Each leg of each slice is a plan that is run. In the caches memcpy has copied more meanwhile. */
static double cost_of_plans(const tsr_route *route, double bytes_between)
{
    enum { CACHED_BYTES = 256 << 10 };
    static const double per_plan = 2000, per_near_plan = 16000;
    const bool is_near = route->purpose == TSR_IN_TWO && bytes_between < (double)tsr_share_of_l2(CACHED_BYTES);
    return (is_near ? per_near_plan : per_plan) * route->legs * ceil(bytes_between / TSR_NEAR_BYTES);
}

/* What legs take in the caches, as measured. Whole blocks, of which each has lines to itself, gain nothing; and what
 * should be sure to gain counts more. */
static double weight_of_legs(tsr_purpose purpose)
{
    return purpose == TSR_IN_TWO ? 1.15 : purpose == TSR_BY_PADDED ? 1 : 0.74;
}

double tsr_cost_of_legs(const tsr_plan *plan, const tsr_route *route, double legs)
{
    const double bytes = (double)tsr_dtype_size_bytes(tsr_between_type(plan));
    return weight_of_legs(route->purpose) * legs +
           share_of(plan, cost_of_plans(route, bytes * (double)tsr_desc_elements(&plan->dst)));
}

/* Two transposes, on one of which elements may be converted. The tensor between is in the caches. */
double tsr_cost_of_relay(const tsr_plan *plan, const tsr_route *route, double bytes_between)
{
    static const double of_caches = 0.7;
    const double bytes = (double)(plan->conversion.src_bytes + plan->conversion.dst_bytes) / 2;
    const double element = 1.3 * (bytes + of_caches * bytes_between) + (plan->conversion.is_copy ? 0 : per_conversion);
    const int64_t moved = tsr_max(tsr_desc_elements(&route->leg[0].src), tsr_desc_elements(&route->leg[1].src));
    return share_of(plan, element * (double)moved + cost_of_plans(route, bytes_between * (double)moved)) +
           tsr_cost_of_padding(plan);
}

/* A copy of the elements, and a transpose of whole blocks in the caches; zeros of the destination
 * that are not in these are written apart. */
double tsr_cost_of_padded_blocks(const tsr_plan *plan, const tsr_route *route)
{
    static const double per_copied = 1, per_moved = 1.2;
    const double bytes = (double)plan->conversion.dst_bytes, elements = (double)tsr_desc_elements(&plan->dst);
    const double moved = (double)tsr_max(tsr_desc_elements(&route->leg[0].src), tsr_desc_elements(&route->leg[1].src));
    const double zeros = fmax(0, (double)tsr_desc_padded_elements(&plan->dst) - moved);
    const double between = moved * bytes;
    return share_of(plan, per_copied * bytes * elements + per_moved * between + cost_of_plans(route, between) +
                              per_byte_of_zeros * bytes * zeros);
}

/* The elements side by side that have the same factors, where they are computed; 0: all, or these come again so soon
 * that many are computed at once. */
static int64_t line_with_factors(const tsr_plan *plan)
{
    enum { SOON = TSR_SPREAD, SHORT = 8 };
    const tsr_desc *side = tsr_between_is_converted(plan) ? &plan->src : &plan->dst;
    int64_t elements = 1, line = 0;
    for (int i = side->levels - 1; i >= 0 && tsr_computes(&plan->conversion); i--) {
        const int64_t inner = elements;
        elements *= side->block_dims[i];
        if (side->order[i] == plan->factor_axis && inner > 1 && inner < SHORT && elements > SOON)
            line = line > 0 ? line : inner;
    }
    return line;
}

/* Of the legs that convert elements where they lie, with the padding that they have widened to. If both do, the lines
 * of one are the short ones. */
static double cost_of_converting_legs(const tsr_plan *plan, const tsr_route *route, int64_t line)
{
    static const double of_calls = 0.75;
    const double of_line = tsr_takes_runs_of(&plan->conversion, line) ? per_line_of_many : per_line;
    double cost = 0, most = 0;
    for (int i = 0; i < route->legs; i++) {
        const double elements = route->leg[i].converts ? (double)tsr_desc_elements(&route->leg[i].src) : 0;
        cost += per_conversion * elements;
        most = fmax(most, elements);
    }
    return cost + most * (of_calls + per_element_of_line(line_with_factors(plan), LONG_LINE, per_line) +
                          per_element_of_line(line, LONG_LINE, of_line));
}

/* Elements are converted where they lie, and moved as narrow ones, within the caches. */
double tsr_cost_of_conversion_apart(const tsr_plan *plan, const tsr_route *route, int64_t line)
{
    static const double per_byte = 1.05, of_caches = 0.3, per_zero_again = 10;
    const int64_t width = (int64_t)tsr_dtype_size_bytes(tsr_between_type(plan));
    const tsr_conversion moved = {.is_copy = true, .src_bytes = width, .dst_bytes = width};
    const double at_src = (double)tsr_desc_padded_elements(&plan->src),
                 at_dst = (double)tsr_desc_padded_elements(&plan->dst);
    double cost =
        per_byte / 2 * ((double)plan->conversion.src_bytes * at_src + (double)plan->conversion.dst_bytes * at_dst) +
        cost_of_converting_legs(plan, route, line) + cost_of_plans(route, (double)tsr_route_bytes(route));
    for (int i = 0; i < plan->element_boxes && route->legs > 1; i++)
        cost += of_caches * cost_of_elements(&plan->boxes[i], &moved);
    if (route->zeroes)
        cost += per_zero_again * (at_dst - (double)tsr_desc_elements(&plan->dst));
    return share_of(plan, cost) + tsr_cost_of_padding(plan);
}

/* A copy of the source. Scratch memory that is large comes afresh from the system with every run. */
double tsr_cost_of_scratch(const tsr_plan *plan, int64_t scratch_bytes)
{
    enum { LARGE = 1 << 20 };
    static const double of_large = 4;
    double bytes = (double)(plan->src_span.end - plan->src_span.first);
    return share_of(plan, bytes * (scratch_bytes > LARGE ? of_large : 1));
}

/* Elements that have been moved, and are converted afterwards. */
static double cost_after(const tsr_plan *plan)
{
    double elements = (double)tsr_desc_elements(&plan->dst);
    double bytes = (double)plan->conversion.dst_bytes + per_conversion;
    return tsr_cost_of_padding(plan) + (plan->conversion.is_copy ? 0 : share_of(plan, elements * bytes));
}

static double units_of(const tsr_plan *plan, int64_t unit)
{
    return (double)tsr_desc_elements(&plan->dst) * (double)plan->conversion.dst_bytes / (double)unit;
}

/* Units that there are no kernels for are swapped one by one. */
double tsr_cost_of_square(const tsr_plan *plan, const tsr_square *square, int64_t tiles)
{
    static const double per_byte = 1.2, per_swap = 50, per_pair = 500;
    double bytes = per_byte * (double)square->unit + (square->has_kernel ? 0.3 : per_swap);
    return share_of(plan, units_of(plan, square->unit) * bytes + per_pair * (double)tiles) + cost_after(plan);
}

/* Every unit is looked for all over the buffer; without marks its cycle is walked again and again, some log of its
 * length. */
double tsr_cost_of_cycles(const tsr_plan *plan, const tsr_cycles *cycles, bool is_marked)
{
    static const double per_unit = 50, per_step = 60;
    double steps = is_marked ? 1 : log2((double)cycles->units);
    double bytes = (double)cycles->unit + per_unit + per_step * steps * (double)cycles->count;
    return share_of(plan, units_of(plan, cycles->unit) * bytes) + cost_after(plan);
}

/* Bytes of padding that oneDNN writes; or, if there are none, that it reads, as between the channels of wide blocks.
 * Those that become other such blocks it takes fast. */
static double padding_of_onednn(const tsr_plan *plan)
{
    const int64_t between = tsr_desc_padded_elements(&plan->src) - tsr_desc_elements(&plan->src);
    const double zeros = zeros_of(plan);
    return zeros > 0 ? (double)plan->conversion.dst_bytes * zeros
                     : (double)plan->conversion.src_bytes * (double)between;
}

/*
 * What oneDNN needs, by the width of the type: 8-bit reorders crawl, 32-bit ones come close to
 * memory, permutations of many axes and conversions do not. A call has its price, and so has the
 * first plan of a kind, which waits for the self-test.
 */
double tsr_cost_of_onednn(const tsr_plan *plan)
{
    static const double by_width[] = {14, 5, 2.5, 3}, of_many_axes = 10, of_conversion = 6, call_bytes = 100000;
    double bytes = (double)(plan->conversion.src_bytes + plan->conversion.dst_bytes) / 2;
    double cost = by_width[tsr_width_of_bytes(plan->conversion.src_bytes)];
    bool is_plain = plan->src.levels == plan->src.rank && plan->dst.levels == plan->dst.rank;
    if (is_plain && plan->principal && plan->principal->outer_count > 1)
        cost = of_many_axes;
    if (!plan->conversion.is_copy)
        cost = plan->conversion.src_bytes == 1 && bytes <= 1 ? by_width[0] : of_conversion;
    double moved = bytes * (double)tsr_max(tsr_desc_elements(&plan->dst), 1);
    cost *= 1 + padding_of_onednn(plan) / (2 * moved);
    return cost + call_bytes / moved;
}
