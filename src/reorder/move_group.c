/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/group.h"

#include <stdalign.h>

#include <tessera/memory.h>

/* Pixels are brought side by side in scratch memory: as channels, or all in one row. */
static void move_pixels(const tsr_group *group, const tsr_target *target)
{
    alignas(TSR_ALIGNMENT) char pixels[TSR_SCRATCH_BYTES];
    const tsr_place *place = group->place;
    const tsr_lanes *lanes = &place->box->lanes;
    const int64_t rows = group->rows, columns = group->columns, bytes = place->conversion->src_bytes;
    int64_t channel[TSR_LONGEST_SHORT_SIDE];
    for (int64_t c = 0; c < TSR_LONGEST_SHORT_SIDE; c++)
        channel[c] = c * rows * bytes;
    const bool are_channels = place->box->motion == TSR_MOTION_INTERLEAVE;
    tsr_tile shuffle = {.rows = are_channels ? columns : 1,
                        .columns = are_channels ? rows : rows * columns,
                        .dst_row = channel,
                        .src_row = are_channels ? place->column.src : channel,
                        .src_column = lanes->src};
    tsr_lanes_set(&shuffle, lanes);
    const tsr_tile tile = {.rows = rows, .columns = columns, .dst_row = target->row, .src_column = channel};
    place->kernels->shuffle[tsr_width_of_bytes(bytes)].run(pixels, group->src, &shuffle);
    place->box->kernel(target->at, pixels, &tile);
}

/* Pixels that lie side by side in pieces only are interleaved and parted from where they are to where they belong, as
 * tables tell each kernel. */
static void make_tile_of_pieces(tsr_tile *tile, const tsr_group *group, const tsr_target *target)
{
    const tsr_box *box = group->place->box;
    const bool joins = box->motion == TSR_MOTION_INTERLEAVE;
    const int64_t length = joins ? box->row.loop[0].n : box->column.loop[0].n;
    *tile = (tsr_tile){.rows = joins ? length : group->rows,
                       .columns = joins ? group->columns : length,
                       .dst_row = target->row,
                       .src_row = box->piece,
                       .dst_column = box->piece,
                       .src_column = group->place->column.src,
                       .pieces = (joins ? group->rows : group->columns) / length,
                       .src_piece = box->src_piece,
                       .fetches_ahead = box->fetches_ahead,
                       .fetches_lines = box->fetches_lines,
                       .tiles = 1};
}

/* Are runs written place by place? Those of a whole tile, which begins with a first place; and kernels that take turns
 * fetch nothing. Whole lines of many tiles are copied as the source has them. */
static bool goes_to_places(const tsr_group *group, const tsr_tile *tile)
{
    const tsr_place *place = group->place;
    const bool can_take_turns = place->box->has_places && !tsr_moves_padding(place->box) &&
                                group->rows == place->row.count && !tile->fetches_ahead && !tile->streams;
    return can_take_turns && !tile->has_dense_rows && (tile->tiles == 1 || tile->columns % TSR_CACHE_LINE != 0);
}

/* Those of a single loop do, or of two, if one is over places, unless they are looked up, or come from scratch memory
 * or go there. Pixels among padding may go there, and have one loop. */
static void find_even_rows(tsr_tile *tile, const tsr_group *group, const tsr_target *target)
{
    const tsr_chain *row = &group->place->box->row;
    const int inner = tile->places > 1 ? 1 : 0;
    const tsr_loop *loop = row->loop + inner;
    const bool may_be_even = target->is_destination && !group->place->conversion->unpack && row->count == inner + 1 &&
                             !tsr_loop_has_table(loop);
    if (group->place->box->motion == TSR_MOTION_UNPAD)
        tile->src_pitch = loop->src * group->place->conversion->src_bytes;
    if (!may_be_even && !group->place->box->scatters) /* those are, and have no scratch memory */
        return;
    tile->are_even = true;
    tile->src_pitch = loop->src * group->place->conversion->src_bytes;
    tile->dst_pitch = loop->dst * group->place->conversion->dst_bytes;
}

/* Kernels of pixels take one tile at a time, and where those in pieces begin. */
static void move_tiles_of_pixels(const tsr_group *group, const tsr_target *target, const tsr_tile *tile)
{
    const tsr_box *box = group->place->box;
    char *to = target->at + (box->piece && box->motion == TSR_MOTION_INTERLEAVE ? target->row[0] : 0);
    for (int64_t i = 0; i < tile->tiles; i++)
        box->kernel(to + i * tile->dst_tile, group->src + i * tile->src_tile, tile);
}

void tsr_group_make_tile(tsr_tile *tile, const tsr_group *group, const tsr_target *target)
{
    const tsr_place *place = group->place;
    const bool is_copy = place->box->motion == TSR_MOTION_COPY;
    if (place->box->piece) {
        make_tile_of_pieces(tile, group, target);
        return;
    }
    const int64_t columns = group->columns * (is_copy ? place->conversion->src_bytes : 1);
    *tile = (tsr_tile){.rows = group->rows,
                       .columns = columns,
                       .dst_row = target->row,
                       .src_row = group->row_src,
                       .dst_column = place->column.dst,
                       .src_column = place->column.src,
                       .lane_rows = tsr_lane_rows(group, target),
                       .fetches_ahead = place->box->fetches_ahead && !place->streams_lines,
                       .fetches_lines = place->box->fetches_lines,
                       .fetches_columns = place->box->fetches_columns,
                       .fills_lines = place->box->fills_lines,
                       .gathers = place->box->gathers,
                       .reads_lines = place->box->reads_lines,
                       .reads_pairs = place->box->reads_pairs,
                       .streams = place->streams_lines,
                       .streams_by_rows = place->box->streams_by_rows,
                       .has_dense_rows = tsr_is_dense(group, target),
                       .unit_bytes = place->conversion->src_bytes,
                       .row_bytes = place->box->row_bytes,
                       .tiles = place->tiles,
                       .src_tile = place->src_tile,
                       .dst_tile = place->dst_tile};
    tsr_lanes_set(tile, &place->box->lanes);
    if (goes_to_places(group, tile))
        tile->places = place->box->row.loop[0].n;
    find_even_rows(tile, group, target);
}

void tsr_group_move(const tsr_group *group, const tsr_target *target)
{
    const tsr_place *place = group->place;
    tsr_tile tile;
    if (tsr_shuffles_pixels(place->box)) {
        move_pixels(group, target);
        return;
    }
    tsr_group_make_tile(&tile, group, target);
    if (tsr_moves_pixels(place->box))
        move_tiles_of_pixels(group, target, &tile);
    else
        place->box->kernel(target->at, group->src, &tile);
}
