/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups whose elements change their type. Rows are converted side by side, as lines, and a kernel moves them before or
 * after that, whichever way the narrower type is moved.
 */
#include <stdalign.h>
#include <string.h>

#include "base/int.h"
#include "reorder/convert_lines.h"
#include "reorder/group.h"
#include "reorder/lines.h"
#include "reorder/streams.h"

/* Do elements of a tile differ in them? */
static bool has_factors(const tsr_box *box, const tsr_conversion *conversion)
{
    return tsr_computes(conversion) && (box->row.has_factor || box->column.has_factor);
}

/* Are rows of scratch memory one row, with one factor, where they belong? */
static bool are_one_line(const tsr_group *group, const tsr_target *target)
{
    return tsr_is_dense(group, target) && !has_factors(group->place->box, group->place->conversion);
}

/* Do they continue each other as lines that are converted together? There are more rows than scratch memory has tables
 * of only among pixels, which are dense. */
static bool are_joined_lines(const tsr_group *group, const tsr_target *target)
{
    const bool has_table = group->rows <= TSR_SCRATCH_ROWS;
    return tsr_is_dense(group, target) &&
           (!has_table || tsr_joins_lines(group->place->conversion, &group->place->box->column, group->columns));
}

static tsr_tile lines_of_rows(const tsr_group *group, const tsr_target *target, const int64_t *src_row,
                              bool have_factors)
{
    return (tsr_tile){.rows = group->rows,
                      .columns = group->columns,
                      .dst_row = target->row,
                      .src_row = src_row,
                      .row_factor = have_factors ? group->row_factor : NULL,
                      .has_dense_rows = tsr_is_dense(group, target)};
}

static void convert_rows(const tsr_group *group, const tsr_target *target, const char *from)
{
    const tsr_place *place = group->place;
    const tsr_box *box = place->box;
    const tsr_conversion *conversion = place->conversion;
    char *to = target->at + target->row[0];
    if (are_one_line(group, target)) {
        tsr_convert_row(conversion, to, from, group->rows * group->columns, place->factor, 0);
        return;
    }
    const bool are_joined = are_joined_lines(group, target);
    const tsr_factor_side side = {&box->column, place->column.factor, place->factor, place->spread};
    const tsr_tile lines = lines_of_rows(group, target, group->scratch->src_row, box->row.has_factor || are_joined);
    if (are_joined)
        tsr_convert_joined_lines(conversion, to, from, &lines, &side, tsr_factor_period(&box->row));
    else
        tsr_convert_lines(conversion, target->at, from, &lines, &side);
}

/* Elements of scratch memory, as `put` tells where they belong and `pick_old` where the old ones are. */
static void convert_and_put(const tsr_group *group, const tsr_target *target, const char *from, tsr_tile_kernel kernel,
                            const tsr_tile *put, const tsr_tile *pick_old)
{
    alignas(TSR_ALIGNMENT) char converted[TSR_SCRATCH_BYTES];
    const tsr_target between = {.at = converted, .row = group->scratch->dst_row, .is_dense = true};
    if (group->place->conversion->arithmetic.beta != 0)
        kernel(converted, target->at, pick_old);
    convert_rows(group, &between, from);
    kernel(target->at, converted, put);
}

/* Are lines that lie apart better converted side by side, and copied to where they belong? Those that no kernel
 * converts many of in a call. (Larger groups than scratch memory has room for are of pixels, whose lines are dense.) */
static bool are_apart(const tsr_group *group, const tsr_target *target)
{
    const int64_t bytes = group->columns * group->place->conversion->dst_bytes;
    return !target->is_dense && group->rows > 1 && group->rows <= TSR_SCRATCH_ROWS &&
           group->rows * bytes <= TSR_SCRATCH_BYTES && group->columns < TSR_SHORT_LINE &&
           !tsr_takes_runs(group->place->conversion, &group->place->box->column, group->columns);
}

__attribute__((noinline)) static void convert_apart(const tsr_group *group, const tsr_target *target, const char *from)
{
    const int64_t bytes = group->columns * group->place->conversion->dst_bytes, *between = group->scratch->dst_row;
    const tsr_tile put = {.rows = group->rows, .columns = bytes, .dst_row = target->row, .src_row = between};
    const tsr_tile pick_old = {.rows = group->rows, .columns = bytes, .dst_row = between, .src_row = target->row};
    convert_and_put(group, target, from, group->place->kernels->copy[0].run, &put, &pick_old);
}

void tsr_group_convert_rows(const tsr_group *group, const tsr_target *target, const char *from)
{
    if (are_apart(group, target))
        convert_apart(group, target, from);
    else
        convert_rows(group, target, from);
}

/* Moved in the type of the source, and then converted along the destination. */
static void move_then_convert(const tsr_group *group, const tsr_target *target)
{
    alignas(TSR_ALIGNMENT) char middle[TSR_SCRATCH_BYTES];
    const tsr_target between = {.at = middle, .row = group->scratch->src_row, .is_dense = true};
    tsr_group_move(group, &between);
    tsr_group_convert_rows(group, target, middle);
}

/* Meanwhile those behind them are asked for. */
static tsr_tile lines_of_columns(const tsr_group *group, const int64_t *src_column)
{
    const tsr_place *place = group->place;
    return (tsr_tile){.rows = group->columns,
                      .columns = group->rows,
                      .dst_row = group->scratch->column,
                      .src_row = src_column,
                      .row_factor = place->box->column.has_factor ? place->column.factor : NULL,
                      .fetches_ahead = place->conversion->is_far};
}

void tsr_group_convert_columns(const tsr_group *group, char *middle, const char *src, const int64_t *src_column)
{
    const tsr_place *place = group->place;
    const tsr_factor_side side = {&place->box->row, group->row_factor, place->factor, place->spread};
    const tsr_tile lines = lines_of_columns(group, src_column);
    tsr_convert_lines(place->conversion, middle, src, &lines, &side);
}

static tsr_tile tile_of_converted(const tsr_group *group, const tsr_target *target)
{
    return (tsr_tile){.rows = group->rows,
                      .columns = group->columns,
                      .dst_row = target->row,
                      .src_column = group->scratch->column,
                      .streams = group->place->streams_lines,
                      .has_dense_rows = tsr_is_dense(group, target)};
}

/* And then moved in the type of the destination. */
static void convert_then_move(const tsr_group *group, const tsr_target *target)
{
    alignas(TSR_ALIGNMENT) char middle[TSR_SCRATCH_BYTES];
    const tsr_tile tile = tile_of_converted(group, target);
    tsr_group_convert_columns(group, middle, group->src, group->place->column.src);
    group->place->box->kernel(target->at, middle, &tile);
}

/* The channels of pixels become columns of scratch memory. */
static void part_pixels(const tsr_group *group, char *middle)
{
    alignas(TSR_ALIGNMENT) char parted[TSR_SCRATCH_BYTES];
    int64_t channel[TSR_LONGEST_SHORT_SIDE];
    const tsr_place *place = group->place;
    const bool is_copy = place->conversion->is_copy;
    const int64_t src_bytes = place->conversion->src_bytes;
    for (int64_t c = 0; c < group->columns; c++)
        channel[c] = is_copy ? group->scratch->column[c] : c * group->rows * src_bytes;
    const tsr_tile tile = {.rows = group->columns, .columns = group->rows, .dst_row = channel};
    place->kernels->deinterleave[tsr_width_of_bytes(src_bytes)].run(is_copy ? middle : parted, group->src, &tile);
    if (!is_copy)
        tsr_group_convert_columns(group, middle, parted, channel);
}

/* Of a box that has padding behind its rows, as columns of the destination type. */
static void lay_columns(const tsr_group *group, char *middle)
{
    if (tsr_parts_pixels(group->place->box))
        part_pixels(group, middle);
    else
        tsr_group_convert_columns(group, middle, group->src, group->place->column.src);
}

/* Which are moved by a kernel that writes the zeros of the padding, too. */
static void move_to_padded_rows(const tsr_group *group, const tsr_target *target)
{
    alignas(TSR_ALIGNMENT) char middle[TSR_SCRATCH_BYTES];
    const tsr_tile tile = {.rows = group->rows,
                           .columns = group->columns,
                           .dst_row = target->row,
                           .src_column = group->scratch->column,
                           .streams = group->place->streams_lines,
                           .row_bytes = group->place->box->row_bytes};
    lay_columns(group, middle);
    group->place->box->kernel(target->at, middle, &tile);
}

/* Can a kernel read the columns where they are, with another one elsewhere in memory? Of columns shorter than a lane,
 * it asks which one ends last, so as not to read behind that. */
static bool can_stay(const tsr_group *group)
{
    const tsr_conversion *conversion = group->place->conversion;
    return conversion->is_copy && !tsr_parts_pixels(group->place->box) &&
           group->rows * conversion->src_bytes >= TSR_LANE_BYTES;
}

/* How far memory is from other memory: kernels that add it to their source read there. */
static int64_t distance_to(const char *at, const char *src)
{
    return (int64_t)((uintptr_t)at - (uintptr_t)src);
}

/* Or with a column of zeros for all the padding behind a row; the others stay where they are, unless they have to be
 * laid. */
static void move_with_zeros(const tsr_group *group, const tsr_target *target)
{
    alignas(TSR_ALIGNMENT) char middle[TSR_SCRATCH_BYTES];
    int64_t column[TSR_MOST_JOINED];
    const tsr_place *place = group->place;
    const int64_t dst_bytes = place->conversion->dst_bytes, columns = place->box->row_bytes / dst_bytes;
    const bool stay = can_stay(group);
    const char *src = stay ? group->src : middle;
    char *zeros = middle + group->scratch->column[group->columns];
    if (!stay)
        lay_columns(group, middle);
    memset(zeros, 0, (size_t)(group->rows * dst_bytes));
    for (int64_t c = 0; c < columns; c++)
        column[c] = c >= group->columns ? distance_to(zeros, src)
                    : stay              ? place->column.src[c]
                                        : group->scratch->column[c];
    const tsr_tile tile = {.rows = group->rows,
                           .columns = columns,
                           .dst_row = target->row,
                           .src_column = column,
                           .has_dense_rows = target->is_dense};
    if (target->is_dense && tsr_is_short_side(columns))
        place->kernels->interleave[tsr_width_of_bytes(dst_bytes)].run(target->at + target->row[0], src, &tile);
    else
        place->box->kernel(target->at, src, &tile);
}

bool tsr_converts_runs(const tsr_box *box, const tsr_conversion *conversion)
{
    const tsr_chain *column = &box->column;
    const bool is_one_piece = box->is_dense && box->is_dense_in_src;
    const bool is_worth = column->n % TSR_SHORTEST_RUN == 0 || !is_one_piece || box->row.has_factor;
    return box->motion == TSR_MOTION_COPY && tsr_takes_runs(conversion, column, column->n) &&
           column->n == column->step && is_worth;
}

static tsr_tile lines_of_runs(const tsr_group *group, const tsr_target *target)
{
    const tsr_place *place = group->place;
    tsr_tile lines = lines_of_rows(group, target, group->row_src, place->box->row.has_factor);
    lines.fetches_ahead = place->box->fetches_ahead;
    lines.streams = place->streams_lines;
    return lines;
}

/* From the source to the destination. */
static void convert_straight(const tsr_group *group, const tsr_target *target)
{
    const tsr_place *place = group->place;
    const tsr_factor_side side = {&place->box->column, place->column.factor, place->factor, place->spread};
    const tsr_tile lines = lines_of_runs(group, target);
    tsr_convert_lines(place->conversion, target->at, group->src, &lines, &side);
}

bool tsr_can_stream_rows(const tsr_box *box, const tsr_conversion *conversion)
{
    return box->motion == TSR_MOTION_COPY && conversion->stream && !tsr_converts_runs(box, conversion) &&
           tsr_step_of_factors(conversion, &box->column) != TSR_LOOKED_UP;
}

/* Row by row, as the last step of a conversion writes past the caches. */
static void convert_streaming(const tsr_group *group, const tsr_target *target)
{
    const tsr_place *place = group->place;
    const tsr_chain *chain = &place->box->column;
    const int64_t step = tsr_step_of_factors(place->conversion, chain);
    for (int64_t r = 0; r < group->rows; r++) {
        const tsr_factor_side side = {chain, place->column.factor, place->factor + group->row_factor[r], place->spread};
        tsr_stream_row(place->conversion, target->at + target->row[r], group->src + group->row_src[r], group->columns,
                       tsr_factor_of_step(&side, 0), step);
    }
}

/* Do runs neither lie side by side on both sides, to be converted together, nor have to be gathered for that? */
static bool are_long_runs(const tsr_group *group, const tsr_target *target)
{
    const tsr_box *box = group->place->box;
    const tsr_conversion *conversion = group->place->conversion;
    const bool are_joined =
        box->is_dense_in_src && target->is_dense &&
        (!has_factors(box, conversion) || tsr_joins_lines(conversion, &box->column, group->columns));
    return (group->columns >= TSR_SHORT_LINE && !are_joined) || group->rows == 1;
}

/* Runs that are short are gathered and converted as one, and those that continue each other on both sides are one. */
static void convert_copies(const tsr_group *group, const tsr_target *target)
{
    alignas(TSR_ALIGNMENT) char gathered[TSR_SCRATCH_BYTES];
    const char *middle = gathered;
    const tsr_place *place = group->place;
    const tsr_box *box = place->box;
    const tsr_scratch *scratch = group->scratch;
    if (are_long_runs(group, target)) {
        convert_straight(group, target);
        return;
    }
    const tsr_target between = {.at = gathered, .row = scratch->src_row, .is_dense = true};
    if (box->is_dense_in_src)
        middle = group->src + group->row_src[0];
    else
        tsr_group_move(group, &between);
    tsr_group_convert_rows(group, target, middle);
}

/* Elements that lie apart on both sides are picked up, converted, and put where they belong. */
static void convert_picked(const tsr_group *group, const tsr_target *target)
{
    alignas(TSR_ALIGNMENT) char middle[TSR_SCRATCH_BYTES];
    const tsr_place *place = group->place;
    const tsr_scratch *scratch = group->scratch;
    const int64_t rows = group->rows, columns = group->columns, *to_column = place->column.dst;
    const tsr_target between = {.at = middle, .row = scratch->src_row, .is_dense = true};
    tsr_tile pick = {.rows = rows,
                     .columns = columns,
                     .dst_row = scratch->src_row,
                     .src_row = group->row_src,
                     .dst_column = scratch->src_column,
                     .src_column = place->column.src,
                     .lane_rows = tsr_lane_rows(group, &between)};
    const tsr_tile put = {.rows = rows,
                          .columns = columns,
                          .dst_row = target->row,
                          .src_row = scratch->dst_row,
                          .dst_column = to_column,
                          .src_column = scratch->dst_column};
    const tsr_tile pick_old = {.rows = rows,
                               .columns = columns,
                               .dst_row = scratch->dst_row,
                               .src_row = target->row,
                               .dst_column = scratch->dst_column,
                               .src_column = to_column};
    tsr_lanes_set(&pick, &place->box->lanes);
    place->box->kernel(middle, group->src, &pick);
    if (place->box->has_dense_columns)
        tsr_group_convert_rows(group, target, middle);
    else
        convert_and_put(group, target, middle,
                        place->kernels->pick[tsr_width_of_bytes(place->conversion->dst_bytes)].run, &put, &pick_old);
}

/*
 * Of types that are as wide, a transpose had better come last beyond the second-level cache, as its kernels write whole
 * lines, and past the caches; but rows that continue each other are one to convert. Nor do those of narrow elements
 * that are streamed past a far last cache, if they begin inside of lines, as they are in scratch memory then, or if no
 * kernel converts many lines of a column at once. Measured on an Emerald Rapids.
 */
static bool moves_better_last(const tsr_box *box, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    const bool are_streamed = workshop->is_far && workshop->streams && tsr_can_stream(box);
    const bool are_better_as_rows =
        tsr_is_narrow(conversion->dst_bytes) && (box->dst_bits % TSR_CACHE_LINE != 0 || !conversion->runs);
    return workshop->exceeds_l2 && !box->is_dense && !(are_streamed && are_better_as_rows);
}

/* The transpose belongs to the narrower type, unless the rows to convert would be too short, or meet the old values. */
bool tsr_converts_first(const tsr_box *box, const tsr_workshop *workshop)
{
    enum { FEW = 8 };
    const tsr_conversion *conversion = workshop->conversion;
    bool is_transpose = box->motion == TSR_MOTION_TRANSPOSE || box->motion == TSR_MOTION_INTERLEAVE;
    if (tsr_is_padded_transpose(box))
        return !box->writes_padding || !tsr_is_straight(conversion);
    if (conversion->is_copy || !is_transpose || conversion->arithmetic.beta != 0 || tsr_gathers_pixels(box))
        return false;
    const bool is_as_wide = conversion->src_bytes == conversion->dst_bytes && !tsr_is_packed(conversion);
    const bool gains = tsr_narrows(conversion) || (is_as_wide && moves_better_last(box, workshop));
    return box->column.n < FEW || (gains && box->row.n >= FEW);
}

int64_t tsr_converted_line(const tsr_box *box, const tsr_conversion *conversion)
{
    const bool is_copy = box->motion == TSR_MOTION_COPY;
    if (tsr_is_padded_transpose(box) || box->motion == TSR_MOTION_PICK || tsr_has_pixels_at_once(box, conversion))
        return TSR_ONE_LINE;
    if (box->converts_first)
        return box->row.n;
    const bool is_one_piece = box->is_dense && box->padding_bytes == 0 && (!is_copy || box->is_dense_in_src);
    /* what is unpacked behind a transpose, and not streamed, goes tile by tile; to bytes, nothing is converted */
    const bool goes_by_tiles = box->packed_move == TSR_UNPACKED_LAST && !box->streams;
    if ((is_one_piece && !has_factors(box, conversion)) || (goes_by_tiles && conversion->keeps_bytes))
        return TSR_ONE_LINE;
    const bool takes_runs = tsr_takes_runs(conversion, &box->column, box->column.n);
    if (box->column.n < TSR_SHORT_LINE && (is_copy || box->is_dense || !takes_runs))
        return TSR_GATHERED_LINE;
    return goes_by_tiles ? box->column.step : box->column.n;
}

bool tsr_converts_many_lines(const tsr_box *box, const tsr_conversion *conversion)
{
    const tsr_chain *line = box->converts_first ? &box->row : &box->column;
    return tsr_takes_runs(conversion, line, line->n);
}

tsr_group_filler tsr_group_filler_of(const tsr_box *box, const tsr_conversion *conversion)
{
    if (!conversion->is_copy && box->pads_pixels)
        return tsr_group_pad_pixels;
    if (tsr_is_padded_transpose(box) && box->converts_first)
        return box->writes_padding ? move_to_padded_rows : move_with_zeros;
    if (conversion->is_copy)
        return tsr_group_move;
    switch (box->motion) {
    case TSR_MOTION_COPY:
        if (box->streams_rows)
            return convert_streaming;
        return tsr_converts_runs(box, conversion) ? convert_straight : convert_copies;
    case TSR_MOTION_PICK:
        return convert_picked;
    default:
        if (tsr_box_loads_pixels(box, conversion))
            return tsr_group_load_pixels;
        if (tsr_box_joins_pixels(box, conversion))
            return tsr_group_join_pixels;
        return box->converts_first ? convert_then_move : move_then_convert;
    }
}

/* ---- a group that is all of its box ---- */

static void convert_tile(const tsr_one_tile *one, const tsr_conversion *conversion, char *to, const char *from,
                         int64_t factor)
{
    const tsr_chain *line = one->line;
    const tsr_factor_side side = {line, line ? line->factor : NULL, factor, NULL};
    if (line)
        tsr_convert_lines(conversion, to, from, &one->converted, &side);
    else
        tsr_convert_row(conversion, to, from, one->converted.columns, factor, 0);
}

static void run_converting(const tsr_box *box, const tsr_conversion *conversion, char *dst, const char *src,
                           int64_t factor)
{
    convert_tile(&box->one_tile, conversion, dst, src, factor);
}

static void run_moving_first(const tsr_box *box, const tsr_conversion *conversion, char *dst, const char *src,
                             int64_t factor)
{
    alignas(TSR_ALIGNMENT) char middle[TSR_SCRATCH_BYTES];
    box->kernel(middle, src, &box->one_tile.moved);
    convert_tile(&box->one_tile, conversion, dst, middle, factor);
}

static void run_moving_last(const tsr_box *box, const tsr_conversion *conversion, char *dst, const char *src,
                            int64_t factor)
{
    alignas(TSR_ALIGNMENT) char middle[TSR_SCRATCH_BYTES];
    convert_tile(&box->one_tile, conversion, middle, src, factor);
    box->kernel(dst, middle, &box->one_tile.moved);
}

static void lay_one_line(tsr_one_tile *one, const tsr_group *group, tsr_tile_runner run)
{
    one->run = run;
    one->converted = (tsr_tile){.rows = 1, .columns = group->rows * group->columns};
    one->line = NULL;
}

static void lay_lines(tsr_one_tile *one, const tsr_conversion *conversion, const tsr_tile *lines, const tsr_chain *line,
                      tsr_tile_runner run)
{
    if (tsr_step_of_factors(conversion, line) == TSR_LOOKED_UP)
        return;
    one->run = run;
    one->converted = *lines;
    one->line = line;
}

void tsr_group_lay_conversion(tsr_one_tile *one, const tsr_group *group, const tsr_target *target)
{
    const tsr_place *place = group->place;
    const tsr_box *box = place->box;
    const tsr_conversion *conversion = place->conversion;
    const tsr_target between = {.row = group->scratch->src_row, .is_dense = true};
    if (box->fill == convert_straight || (box->fill == convert_copies && are_long_runs(group, target))) {
        const tsr_tile lines = lines_of_runs(group, target);
        lay_lines(one, conversion, &lines, &box->column, run_converting);
    } else if (box->fill == convert_then_move) {
        const tsr_tile lines = lines_of_columns(group, place->column.src);
        lay_lines(one, conversion, &lines, &box->row, run_moving_last);
        one->moved = tile_of_converted(group, target);
    } else if (box->fill == move_then_convert && !tsr_shuffles_pixels(box)) {
        const tsr_tile lines = lines_of_rows(group, target, group->scratch->src_row, box->row.has_factor);
        tsr_group_make_tile(&one->moved, group, &between);
        if (are_one_line(group, target))
            lay_one_line(one, group, run_moving_first);
        else if (!are_joined_lines(group, target) && !are_apart(group, target))
            lay_lines(one, conversion, &lines, &box->column, run_moving_first);
    }
}
