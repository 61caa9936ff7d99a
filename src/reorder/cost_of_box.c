/* SPDX-License-Identifier: Apache-2.0 */
/* What the boxes of a plan cost. */
#include <math.h>
#include <stdlib.h>

#include "base/int.h"
#include "reorder/cost.h"
#include "reorder/prices.h"
#include "reorder/sets.h"

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

/* Zeros by runs, if they have boxes, or written with the elements, where that is one store. */
static const double per_run_of_zeros = 12, per_byte_of_stored_zeros = 0.4;

/* What is converted: a run that is gathered, has its factors spread out, or goes by f32, beside maps by which long
 * lines are looked up; an element that is shuffled as well, group by group. Packed elements are packed and unpacked
 * line by line in the tiles of a transpose, or as bytes of several lines, or parted as they are; and for runs, by lines
 * where they do not lie side by side. */
static const double per_packed_element = 2, per_packed_element_of_line = 0.5, per_packed_element_of_tile = 1.9,
                    per_packed_element_of_far_tile = 0.2, per_packed_element_of_bytes = 0.5, per_line_of_bytes = 40,
                    per_parted_byte = 1.6, per_parted_line = 60, per_packed_line = 200, per_unpacked_line = 85,
                    per_gathered_run = 40, per_spread_run = 8, per_run_at_once = 14, per_run_beside_maps = 35,
                    per_shuffled_conversion = 0.9;

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

/* Of each element of lines, or of those that are gathered first. */
static double per_short_line(const tsr_box *box, const tsr_conversion *conversion)
{
    const int64_t line = tsr_converted_line(box, conversion);
    const double gathered = box->motion == TSR_MOTION_COPY || !box->is_dense ? per_gathered_run : per_spread_run;
    if (line == TSR_GATHERED_LINE)
        return gathered / (double)box->column.n;
    return tsr_per_element_of_line(line, conversion->only ? TSR_LONG_LINE : TSR_LONG_LINE_OF_STEPS,
                                   tsr_converts_many_lines(box, conversion) ? per_line_of_many : per_line);
}

/* Lines that end within others of the destination are packed one by one, and elements that lie apart are such lines. */
static double per_packed_line_of(const tsr_box *box, const tsr_conversion *conversion)
{
    const int64_t line = box->has_dense_columns ? box->column.n : 1;
    return conversion->pack && !box->is_dense ? tsr_per_element_of_line(line, TSR_LONG_LINE, per_packed_line) : 0;
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
               tsr_per_element_of_line(tsr_min(box->row.loop[0].n, box->column.n), TSR_LONG_LINE, per_line_of_bytes);
    return of_lines + (is_far_tile(box) ? per_packed_element_of_far_tile : per_packed_element_of_tile);
}

static double per_converted_element(const tsr_box *box, const tsr_conversion *conversion)
{
    if (tsr_is_straight(conversion))
        return 0;
    if (box->packed_move == TSR_KEPT_PACKED)
        return per_parted_byte * size_of_element(box, conversion) +
               tsr_per_element_of_line(box->row.n, TSR_LONG_LINE, per_parted_line);
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
 * wide alone: what becomes narrower gains nothing by their order; nor does what has to be unpacked, block by block. */
static bool streams_in_order(const tsr_box *box, const tsr_conversion *conversion)
{
    enum { LONGEST_BLOCK = 4 * TSR_CACHE_LINE };
    const int64_t block = box->row.step * conversion->src_bytes;
    bool are_side_by_side = false;
    for (int i = 0; i < box->column.count; i++)
        are_side_by_side = are_side_by_side || box->column.loop[i].src == box->row.step;
    return box->converts_first && !tsr_narrows(conversion) && !conversion->unpack && box->streams_lines &&
           box->padding_bytes == 0 && are_side_by_side && block <= LONGEST_BLOCK && block % TSR_LANE_BYTES == 0;
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
    return box->motion == TSR_MOTION_TRANSPOSE && box->joined_tiles > 1 && !tsr_has_odd_units(conversion) &&
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

double tsr_cost_of_elements(const tsr_box *box, const tsr_conversion *conversion)
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
    return tsr_cost_of_elements(box, &plan->moved) + (plan->lowering.has_tables ? cost_of_lines(box, &plan->moved) : 0);
}
