/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/tile.h"

#include <stdalign.h>
#include <string.h>

#include <tessera/memory.h>

#include "base/int.h"

/*
 * A tile is moved in groups of rows. A group is filled by one kernel, or by a kernel and a
 * conversion with scratch memory in between: straight into the destination, or into scratch memory
 * from where it is streamed in whole cache lines.
 */
enum { CACHE_LINE = 64, SCRATCH_BYTES = 24 << 10, GROUP_BYTES = 8 << 10, MAX_GROUP = 1024 };

/* Runs that are shorter are not worth a call of a converter each. */
enum { SHORT_ROW = 24 };

struct group {
    const tsr_place *place;
    const char *src;
    char *dst;
    int64_t rows, columns;
    const int64_t *row_src, *row_dst, *row_factor;
    /* where it is filled in: rows at to_row[r] from `to` */
    char *to;
    const int64_t *to_row;
    bool to_is_dense;
};

typedef void (*group_filler)(const struct group *group);

/* ---- without conversion ---- */

static void move(const struct group *group)
{
    const tsr_place *place = group->place;
    const tsr_tile tile = {group->rows,    group->columns,    group->to_row,
                           group->row_src, place->column.dst, place->column.src};
    place->box->kernel(group->to, group->src, &tile);
}

static void copy(const struct group *group)
{
    const int64_t bytes = group->columns * group->place->conversion->src_bytes;
    const tsr_tile tile = {group->rows, bytes, group->to_row, group->row_src, NULL, NULL};
    group->place->box->kernel(group->to, group->src, &tile);
}

/* ---- with conversion ---- */

/* Is what the destination holds part of the result? */
static bool wants_old(const tsr_place *place)
{
    return place->conversion->arithmetic.beta != 0;
}

/* Rows or columns of scratch memory, side by side. */
static void lay_out(int64_t *row, int64_t rows, int64_t bytes)
{
    for (int64_t r = 0; r < rows; r++)
        row[r] = r * bytes;
}

/* So many values of the tables of factors, spread out as a row of elements needs them. */
enum { CHUNK = 256 };

struct spread {
    tsr_conversion conversion;
    float mean[CHUNK], scale[CHUNK], shift[CHUNK];
};

static void spread_init(struct spread *spread, const tsr_conversion *conversion)
{
    tsr_arithmetic *arithmetic = &spread->conversion.arithmetic;
    spread->conversion = *conversion;
    arithmetic->mean = spread->mean;
    arithmetic->scale = spread->scale;
    if (arithmetic->shift)
        arithmetic->shift = spread->shift;
}

static void spread_put(struct spread *spread, int64_t i, const tsr_arithmetic *from, int64_t at)
{
    spread->mean[i] = from->mean[at];
    spread->scale[i] = from->scale[at];
    if (from->shift)
        spread->shift[i] = from->shift[at];
}

/*
 * Converts n elements that lie side by side and are the first n steps of one side of the tile; all
 * take their place in the table of factors from `factor` on.
 */
static void convert_line(const tsr_conversion *conversion, void *to, const void *from, int64_t n, int64_t factor,
                         const tsr_chain *chain, const int64_t *factors)
{
    if (!conversion->affine || !chain->has_factor) {
        tsr_convert_row(conversion, to, from, n, factor, 0);
        return;
    }
    if (chain->count == 1) {
        tsr_convert_row(conversion, to, from, n, factor + factors[0], chain->loop[0].factor);
        return;
    }
    struct spread spread;
    spread_init(&spread, conversion);
    for (int64_t done = 0; done < n; done += CHUNK) {
        int64_t m = tsr_min(CHUNK, n - done);
        for (int64_t i = 0; i < m; i++)
            spread_put(&spread, i, &conversion->arithmetic, factor + factors[done + i]);
        tsr_convert_row(&spread.conversion, (char *)to + done * conversion->dst_bytes,
                        (const char *)from + done * conversion->src_bytes, m, 0, 1);
    }
}

static void convert_one_row(const struct group *group, void *to, const void *from, int64_t r)
{
    const tsr_place *place = group->place;
    convert_line(place->conversion, to, from, group->columns, place->factor + group->row_factor[r], &place->box->column,
                 place->column.factor);
}

/* A run has no table, but one loop. */
static int64_t column_factor(const tsr_place *place, int64_t c)
{
    const tsr_chain *column = &place->box->column;
    return !column->is_run ? place->column.factor[c] : column->count > 0 ? c * column->loop[0].factor : 0;
}

/* The elements of short rows, side by side, each with its own factors. */
static void convert_short_rows(const struct group *group, char *to, const char *from)
{
    const tsr_place *place = group->place;
    const tsr_conversion *conversion = place->conversion;
    int64_t rows_of_chunk = CHUNK / group->columns;
    struct spread spread;
    spread_init(&spread, conversion);
    for (int64_t first = 0; first < group->rows; first += rows_of_chunk) {
        int64_t n = 0, rows = tsr_min(rows_of_chunk, group->rows - first), at = first * group->columns;
        for (int64_t r = first; r < first + rows; r++)
            for (int64_t c = 0; c < group->columns; c++)
                spread_put(&spread, n++, &conversion->arithmetic,
                           place->factor + group->row_factor[r] + column_factor(place, c));
        tsr_convert_row(&spread.conversion, to + at * conversion->dst_bytes, from + at * conversion->src_bytes, n, 0,
                        1);
    }
}

/* From rows that lie side by side in scratch memory to where they belong. */
static void convert_rows(const struct group *group, const char *from)
{
    const tsr_place *place = group->place;
    const tsr_conversion *conversion = place->conversion;
    char *to = group->to + group->to_row[0];
    bool has_factors = conversion->affine && (place->box->row.has_factor || place->box->column.has_factor);
    if (group->to_is_dense && !has_factors) {
        tsr_convert_row(conversion, to, from, group->rows * group->columns, place->factor, 0);
        return;
    }
    if (group->to_is_dense && group->columns < SHORT_ROW) {
        convert_short_rows(group, to, from);
        return;
    }
    for (int64_t r = 0; r < group->rows; r++)
        convert_one_row(group, group->to + group->to_row[r], from + r * group->columns * conversion->src_bytes, r);
}

/* Moved in the type of the source, and then converted along the destination. */
static void move_then_convert(const struct group *group)
{
    alignas(TSR_ALIGNMENT) char middle[SCRATCH_BYTES];
    int64_t row[MAX_GROUP];
    const int64_t bytes = group->columns * group->place->conversion->src_bytes;
    struct group moving = *group;
    lay_out(row, tsr_min(group->rows, MAX_GROUP), bytes); /* to interleave more takes no table */
    moving.to = middle;
    moving.to_row = row;
    move(&moving);
    convert_rows(group, middle);
}

/* Converted along the source, and then moved in the type of the destination. */
static void convert_then_move(const struct group *group)
{
    alignas(TSR_ALIGNMENT) char middle[SCRATCH_BYTES];
    int64_t column[MAX_GROUP];
    const tsr_place *place = group->place;
    const int64_t bytes = group->rows * place->conversion->dst_bytes;
    lay_out(column, group->columns, bytes);
    for (int64_t c = 0; c < group->columns; c++)
        convert_line(place->conversion, middle + c * bytes, group->src + place->column.src[c], group->rows,
                     place->factor + place->column.factor[c], &place->box->row, group->row_factor);
    const tsr_tile tile = {group->rows, group->columns, group->to_row, NULL, NULL, column};
    place->box->kernel(group->to, middle, &tile);
}

/* Runs that are short are gathered and converted as one. */
static void convert_copies(const struct group *group)
{
    const tsr_place *place = group->place;
    if (group->columns >= SHORT_ROW || group->rows == 1) {
        for (int64_t r = 0; r < group->rows; r++)
            convert_one_row(group, group->to + group->to_row[r], group->src + group->row_src[r], r);
        return;
    }
    alignas(TSR_ALIGNMENT) char middle[SCRATCH_BYTES];
    alignas(TSR_ALIGNMENT) char converted[SCRATCH_BYTES];
    int64_t row[MAX_GROUP], converted_row[MAX_GROUP];
    struct group picked = *group;
    lay_out(row, group->rows, group->columns * place->conversion->src_bytes);
    lay_out(converted_row, group->rows, group->columns * place->conversion->dst_bytes);
    picked.to = middle;
    picked.to_row = row;
    copy(&picked);
    if (group->to_is_dense) {
        convert_rows(group, middle);
        return;
    }
    const int64_t bytes = group->columns * place->conversion->dst_bytes;
    const tsr_tile put = {group->rows, bytes, group->to_row, converted_row, NULL, NULL};
    const tsr_tile pick_old = {group->rows, bytes, converted_row, group->to_row, NULL, NULL};
    if (wants_old(place))
        place->box->kernel(converted, group->to, &pick_old);
    picked.to = converted;
    picked.to_row = converted_row;
    picked.to_is_dense = true;
    convert_rows(&picked, middle);
    place->box->kernel(group->to, converted, &put);
}

/* Elements that lie apart on both sides are picked up, converted, and put where they belong. */
static void convert_picked(const struct group *group)
{
    alignas(TSR_ALIGNMENT) char middle[SCRATCH_BYTES];
    alignas(TSR_ALIGNMENT) char converted[SCRATCH_BYTES];
    const tsr_place *place = group->place;
    const tsr_conversion *conversion = place->conversion;
    int64_t row[MAX_GROUP], column[MAX_GROUP + CACHE_LINE];
    struct group picked = *group;
    lay_out(column, group->columns, conversion->src_bytes);
    lay_out(row, group->rows, group->columns * conversion->src_bytes);
    const tsr_tile pick = {group->rows, group->columns, row, group->row_src, column, place->column.src};
    place->box->kernel(middle, group->src, &pick);
    lay_out(column, group->columns, conversion->dst_bytes);
    lay_out(row, group->rows, group->columns * conversion->dst_bytes);
    const tsr_tile put = {group->rows, group->columns, group->to_row, row, place->column.dst, column};
    const tsr_tile pick_old = {group->rows, group->columns, row, group->to_row, column, place->column.dst};
    const tsr_tile_kernel kernel = place->kernels->pick[tsr_width_of_bytes(conversion->dst_bytes)].run;
    if (wants_old(place))
        kernel(converted, group->to, &pick_old);
    picked.to = converted;
    picked.to_row = row;
    picked.to_is_dense = true;
    convert_rows(&picked, middle);
    kernel(group->to, converted, &put);
}

static void write_zeros(const struct group *group)
{
    static const uint64_t zero;
    const tsr_place *place = group->place;
    struct group zeros = *group;
    zeros.src = (const char *)&zero;
    if (!place->box->column.is_run) {
        move(&zeros);
        return;
    }
    for (int64_t r = 0; r < group->rows; r++)
        memset(group->to + group->to_row[r], 0, (size_t)(group->columns * place->conversion->dst_bytes));
}

/* ---- streaming ---- */

static int64_t bytes_to_next_line(const char *at)
{
    return (int64_t)(-(uintptr_t)at & (CACHE_LINE - 1));
}

/*
 * Part of a row of the destination, of which other tiles have the rest. A line that two tiles share
 * belongs to the first of them, which knows the elements behind its own for that.
 */
static void stream_row(const tsr_place *place, char *to, const char *from, int64_t bytes)
{
    int64_t begin = place->column.is_first ? 0 : bytes_to_next_line(to);
    int64_t end = bytes;
    if (place->column.spare > 0)
        end += tsr_min(bytes_to_next_line(to + bytes), place->column.spare * place->conversion->dst_bytes);
    if (begin < end)
        place->kernels->stream(to + begin, from + begin, end - begin);
}

static void stream_rows(const struct group *group, const char *from, const int64_t *from_row)
{
    const int64_t bytes = group->place->column.count * group->place->conversion->dst_bytes;
    for (int64_t r = 0; r < group->rows; r++)
        stream_row(group->place, group->dst + group->row_dst[r], from + from_row[r], bytes);
}

/* Rows that continue each other are one. */
static void stream_scratch(const struct group *group)
{
    const int64_t bytes = group->columns * group->place->conversion->dst_bytes;
    if (group->place->box->is_dense)
        group->place->kernels->stream(group->dst + group->row_dst[0], group->to, group->rows * bytes);
    else
        stream_rows(group, group->to, group->to_row);
}

/* ---- all together ---- */

/* The transpose belongs to the narrower type, unless the rows to convert would be too short, or meet the old values. */
static bool converts_first(const tsr_box *box, const tsr_conversion *conversion)
{
    enum { FEW = 8 };
    bool is_transpose = box->motion == TSR_MOTION_TRANSPOSE || box->motion == TSR_MOTION_INTERLEAVE;
    if (!is_transpose || conversion->arithmetic.beta != 0)
        return false;
    return box->column.n < FEW || (conversion->dst_bytes < conversion->src_bytes && box->row.n >= FEW);
}

int64_t tsr_tile_moved_bytes(const tsr_box *box, const tsr_conversion *conversion)
{
    if (box->motion == TSR_MOTION_ZERO || (!conversion->is_copy && converts_first(box, conversion)))
        return conversion->dst_bytes;
    return conversion->src_bytes;
}

static group_filler filler_of(const tsr_place *place)
{
    static const group_filler fillers[][2] = {
        [TSR_MOTION_COPY] = {convert_copies, copy},          [TSR_MOTION_TRANSPOSE] = {move_then_convert, move},
        [TSR_MOTION_INTERLEAVE] = {move_then_convert, move}, [TSR_MOTION_DEINTERLEAVE] = {move_then_convert, move},
        [TSR_MOTION_PICK] = {convert_picked, move},          [TSR_MOTION_ZERO] = {write_zeros, write_zeros},
    };
    if (!place->conversion->is_copy && converts_first(place->box, place->conversion))
        return convert_then_move;
    return fillers[place->box->motion][place->conversion->is_copy];
}

/* Bytes of a row in scratch memory, of the wider type. */
static int64_t row_capacity(const tsr_box *box, const tsr_conversion *conversion)
{
    int64_t widest = tsr_max(conversion->src_bytes, conversion->dst_bytes);
    int64_t columns = tsr_min(box->column.n, box->column.step + CACHE_LINE / conversion->dst_bytes);
    return (columns * widest + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

int64_t tsr_tile_group(const tsr_box *box, const tsr_conversion *conversion)
{
    int64_t rows = tsr_max(1, GROUP_BYTES / row_capacity(box, conversion)), line = CACHE_LINE / conversion->src_bytes;
    switch (box->motion) {
    case TSR_MOTION_TRANSPOSE:
        return tsr_min(MAX_GROUP, tsr_max(line, rows / line * line));
    case TSR_MOTION_INTERLEAVE:
    case TSR_MOTION_DEINTERLEAVE:
        return box->row.step;
    default:
        return conversion->is_copy && !box->streams ? box->row.step : tsr_min(MAX_GROUP, rows);
    }
}

/* Do all rows begin with a cache line? */
static bool is_aligned(const tsr_place *place)
{
    return (((uintptr_t)place->dst | (uintptr_t)place->box->dst_bits) & (CACHE_LINE - 1)) == 0;
}

/* Now that the buffer's address is known. */
static bool writes_whole_lines(const tsr_place *place)
{
    enum { LONG_ROW = 4 * CACHE_LINE };
    const tsr_box *box = place->box;
    return is_aligned(place) || box->is_dense || box->column.n * place->conversion->dst_bytes >= LONG_ROW;
}

/* Runs that need not be gathered in scratch memory. */
static bool has_long_runs(const tsr_place *place)
{
    enum { LONG_RUN = 2048 };
    return place->box->motion == TSR_MOTION_COPY && place->conversion->is_copy &&
           place->column.count * place->conversion->src_bytes >= LONG_RUN;
}

/* Rows [first, first + rows) of a tile. */
static struct group group_of(const tsr_place *place, int64_t first, int64_t rows, int64_t columns)
{
    const tsr_motion motion = place->box->motion;
    bool src_row_is_known = motion == TSR_MOTION_TRANSPOSE || motion == TSR_MOTION_INTERLEAVE;
    return (struct group){
        .place = place,
        .src = place->src + (src_row_is_known ? place->row.src[first] : 0),
        .dst = place->dst,
        .rows = tsr_min(rows, place->row.count - first),
        .columns = columns,
        .row_src = place->row.src + first,
        .row_dst = place->row.dst + first,
        .row_factor = place->row.factor + first,
    };
}

static void run_straight(const tsr_place *place)
{
    const group_filler fill = filler_of(place);
    const int64_t rows = place->box->group;
    for (int64_t r = 0; r < place->row.count; r += rows) {
        struct group group = group_of(place, r, rows, place->column.count);
        group.to = group.dst;
        group.to_row = group.row_dst;
        group.to_is_dense = place->box->is_dense;
        fill(&group);
    }
}

static void run_streaming(const tsr_place *place)
{
    alignas(TSR_ALIGNMENT) char scratch[SCRATCH_BYTES];
    int64_t scratch_row[MAX_GROUP];
    const group_filler fill = filler_of(place);
    const int64_t bytes = place->conversion->dst_bytes, rows = tsr_min(place->box->group, place->row.count);
    const int64_t spare = is_aligned(place) ? 0 : tsr_min(place->column.spare, CACHE_LINE / bytes);
    const int64_t columns = place->column.count + spare;
    int64_t pitch = columns * bytes;
    if (!place->box->is_dense)
        pitch = (pitch + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    lay_out(scratch_row, tsr_min(rows, MAX_GROUP), pitch); /* to interleave more takes no table */
    for (int64_t r = 0; r < place->row.count; r += rows) {
        struct group group = group_of(place, r, rows, columns);
        group.to = scratch;
        group.to_row = scratch_row;
        group.to_is_dense = pitch == columns * bytes;
        fill(&group);
        stream_scratch(&group);
    }
}

static void stream_from_source(const tsr_place *place)
{
    struct group group = group_of(place, 0, place->row.count, place->column.count);
    stream_rows(&group, group.src, group.row_src);
}

void tsr_tile_run(const tsr_place *place)
{
    if (!place->box->streams || !writes_whole_lines(place))
        run_straight(place);
    else if (has_long_runs(place))
        stream_from_source(place);
    else
        run_streaming(place);
}
