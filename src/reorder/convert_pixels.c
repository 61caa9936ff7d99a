/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pixels whose channels change their type as one kernel parts them, or joins them, or lays them among padding.
 */
#include "base/int.h"
#include "reorder/group.h"
#include "reorder/map.h"

/* Those of channels of pixels, each so many entries of the tables further on. All of them have maps, or the first one
 * has none. */
static const tsr_affine *factors_of_channels(tsr_affine affine[TSR_MOST_PADDED_CHANNELS], const tsr_place *place,
                                             const int64_t *factor, int64_t channels)
{
    bool have_maps = true;
    for (int64_t c = 0; c < channels; c++) {
        tsr_conversion_affine(place->conversion, &affine[c], place->factor + factor[c], 0);
        have_maps = have_maps && affine[c].map;
    }
    if (!have_maps)
        affine[0].map = NULL;
    return affine;
}

/* What channels become in a stretch of pixels that is worth it, if the plan has no maps. */
static void make_maps(uint8_t maps[TSR_MOST_MAPS][TSR_MAP_BYTES], tsr_affine *affine, const tsr_group *group)
{
    const tsr_place *place = group->place;
    for (int64_t r = 0; r < group->rows; r++) {
        tsr_map_init(maps[r], place->conversion, place->factor + group->row_factor[r]);
        affine[r].map = maps[r];
    }
}

/* Both at once, of a stretch of pixels, or of each of several pieces. The next ones are asked for meanwhile. */
void tsr_group_load_pixels(const tsr_group *group, const tsr_target *target)
{
    static const int64_t here[] = {0};
    const tsr_place *place = group->place;
    const tsr_box *box = place->box;
    const tsr_conversion *conversion = place->conversion;
    const int64_t *to = box->piece ? box->piece : here, *from = box->piece ? box->src_piece : here;
    const int64_t bytes = group->rows * group->columns * conversion->src_bytes;
    const tsr_tile tile = {.rows = group->rows,
                           .columns = box->piece ? box->column.loop[0].n : group->columns,
                           .dst_row = target->row,
                           .fetches_ahead = box->fetches_ahead,
                           .fetches_lines = box->fetches_lines,
                           .streams = place->streams_lines};
    uint8_t maps[TSR_MOST_MAPS][TSR_MAP_BYTES];
    tsr_affine own[TSR_MOST_PADDED_CHANNELS];
    const tsr_affine *affine =
        tsr_takes_affine(conversion) ? factors_of_channels(own, place, group->row_factor, group->rows) : NULL;
    if (affine && !affine->map && tsr_is_worth_map(conversion, tile.columns))
        make_maps(maps, own, group);
    if (conversion->is_far)
        tsr_prefetch(group->src, bytes, 2 * bytes);
    for (int64_t i = 0; i * tile.columns < group->columns; i++)
        conversion->pixels(target->at + to[i], group->src + from[i], &tile, affine);
}

/* So many that what a kernel does before the first one, as to load maps or to lay factors, is worth it. */
static int64_t least_pixels_to_load(const tsr_conversion *conversion)
{
    enum { LEAST = 64, LEAST_NARROWED_BYTES = 1024 };
    if (conversion->src_bytes == 1)
        return conversion->map || conversion->maps ? TSR_MAP_VALUES : 1;
    return tsr_narrows(conversion) ? LEAST_NARROWED_BYTES / conversion->dst_bytes : LEAST;
}

bool tsr_loads_pixels(const tsr_conversion *conversion, const tsr_loop *row, const tsr_loop *column)
{
    return conversion->pixels && (row->n == 3 || row->n == 4) && column->src == row->n && column->factor == 0 &&
           column->n >= least_pixels_to_load(conversion);
}

bool tsr_box_loads_pixels(const tsr_box *box, const tsr_conversion *conversion)
{
    return box->motion == TSR_MOTION_DEINTERLEAVE &&
           tsr_loads_pixels(conversion, &box->row.loop[0], &box->column.loop[0]);
}

/* Fewer than fill vectors would have to be laid for it. */
bool tsr_joins_pixels(const tsr_conversion *conversion, const tsr_loop *row, const tsr_loop *column)
{
    enum { LEAST = 64 };
    return conversion->joined_pixels && (column->n == 3 || column->n == 4) && row->src == 1 && row->factor == 0 &&
           row->n >= LEAST;
}

bool tsr_box_joins_pixels(const tsr_box *box, const tsr_conversion *conversion)
{
    return box->motion == TSR_MOTION_INTERLEAVE && !tsr_gathers_pixels(box) && box->is_dense &&
           box->padding_bytes == 0 && tsr_joins_pixels(conversion, &box->row.loop[0], &box->column.loop[0]);
}

/* Of columns. Where nothing is computed there may be a map, which is for short pixels. */
static const tsr_affine *factors_of_columns(tsr_affine affine[TSR_MOST_PADDED_CHANNELS], const tsr_group *group)
{
    const tsr_place *place = group->place;
    const tsr_conversion *conversion = place->conversion;
    const bool is_mapped =
        conversion->map && group->columns <= TSR_MOST_MAPS && place->box->row_bytes <= TSR_WIDEST_MAPPED;
    return tsr_computes(conversion) || is_mapped
               ? factors_of_channels(affine, place, place->column.factor, group->columns)
               : NULL;
}

void tsr_group_join_pixels(const tsr_group *group, const tsr_target *target)
{
    const tsr_place *place = group->place;
    const tsr_tile tile = {.rows = group->rows,
                           .columns = group->columns,
                           .src_column = place->column.src,
                           .streams = place->streams_lines};
    tsr_affine affine[TSR_MOST_PADDED_CHANNELS];
    place->conversion->joined_pixels(target->at + target->row[0], group->src, &tile, factors_of_columns(affine, group));
}

/* All of a tile at once. */
void tsr_group_pad_pixels(const tsr_group *group, const tsr_target *target)
{
    const tsr_place *place = group->place;
    const tsr_tile tile = {.rows = group->rows,
                           .columns = group->columns,
                           .src_column = place->column.src,
                           .streams = place->streams_lines,
                           .row_bytes = place->box->row_bytes};
    tsr_affine affine[TSR_MOST_PADDED_CHANNELS];
    place->conversion->padded_pixels(target->at + target->row[0], group->src, &tile, factors_of_columns(affine, group));
}
