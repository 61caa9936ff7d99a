/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/group.h"

#include <stdalign.h>
#include <string.h>

#include <tessera/memory.h>

#include "base/int.h"
#include "reorder/lines_inside.h"

/* ---- zeros ---- */

/* All sources are at offset 0. */
static void write_zeros(const tsr_group *group, const tsr_target *target)
{
    static const alignas(TSR_ALIGNMENT) char zeros[256];
    const tsr_place *place = group->place;
    const bool is_run = place->box->column.is_run;
    const int64_t run_bytes = group->columns * place->conversion->dst_bytes;
    const tsr_tile tile = {.rows = group->rows,
                           .columns = is_run ? run_bytes : group->columns,
                           .dst_row = target->row,
                           .src_row = group->row_src,
                           .dst_column = place->column.dst,
                           .src_column = place->column.src};
    if (!is_run)
        place->box->kernel(target->at, zeros, &tile);
    else if (run_bytes <= (int64_t)sizeof zeros)
        place->kernels->copy[0].run(target->at, zeros, &tile);
    else
        for (int64_t r = 0; r < group->rows; r++)
            memset(target->at + target->row[r], 0, (size_t)run_bytes);
}

/* ---- streaming ---- */

/* Do all rows begin with a cache line? */
static bool is_aligned(const tsr_place *place)
{
    return tsr_begins_lines(place, place->box->dst_bits);
}

static void stream_run(const tsr_place *place, char *to, const char *from, int64_t bytes)
{
    static const int64_t here[] = {0};
    const tsr_tile run = {.rows = 1, .columns = bytes, .dst_row = here, .src_row = here};
    place->kernels->stream(to, from, &run);
}

/* Those of a row of the tile, and of the padding behind it. */
static int64_t bytes_of_row(const tsr_place *place)
{
    return place->column.count * place->conversion->dst_bytes + place->box->padding_bytes;
}

/*
 * Of so many rows from row r of a group on, all as far behind a line of the destination, the parts that a tile has. A
 * line that two tiles share belongs to the first of them, which knows the elements behind its own for that.
 */
static void stream_parts(const tsr_group *group, int64_t r, int64_t rows, const char *from, const int64_t *from_row)
{
    const tsr_place *place = group->place;
    const char *first = group->dst + group->row_dst[r];
    const int64_t begin = place->column.is_first ? 0 : tsr_bytes_to_next_line(first);
    int64_t end = bytes_of_row(place);
    if (place->column.spare > 0)
        end += tsr_min(tsr_bytes_to_next_line(first + end), place->column.spare * place->conversion->dst_bytes);
    const tsr_tile parts = {
        .rows = rows, .columns = end - begin, .dst_row = group->row_dst + r, .src_row = from_row + r};
    if (begin < end)
        place->kernels->stream(group->dst + begin, from + begin, &parts);
}

static void stream_rows(const tsr_group *group, const char *from, const int64_t *from_row)
{
    const bool are_alike = group->place->box->dst_bits % TSR_CACHE_LINE == 0;
    const int64_t at_once = are_alike ? group->rows : 1;
    for (int64_t r = 0; r < group->rows; r += at_once)
        stream_parts(group, r, at_once, from, from_row);
}

/* Rows that continue each other are one. */
static void stream_scratch(const tsr_group *group, const tsr_target *scratch)
{
    if (group->place->box->is_dense)
        stream_run(group->place, group->dst + group->row_dst[0], scratch->at,
                   group->rows * group->place->box->row_bytes);
    else
        stream_rows(group, scratch->at, scratch->row);
}

/* Place by place, if these share a set: a group may begin with any of them. */
static void copy_scratch(const tsr_group *group, const tsr_target *scratch)
{
    const tsr_place *place = group->place;
    tsr_tile rows = {
        .rows = group->rows, .columns = bytes_of_row(place), .dst_row = group->row_dst, .src_row = scratch->row};
    if (place->box->writes_places)
        rows.places = place->box->row.loop[0].n;
    place->kernels->copy[0].run(group->dst, scratch->at, &rows);
}

/* ---- all together ---- */

/* Now that the buffer's address is known. */
static bool writes_whole_lines(const tsr_place *place)
{
    return is_aligned(place) || place->box->is_dense || tsr_is_long_row(place->box->row_bytes);
}

/* Runs that need not be gathered in scratch memory, nor have zeros behind them there. */
static bool streams_from_source(const tsr_place *place)
{
    const int64_t bytes = place->column.count * place->conversion->src_bytes;
    if (place->box->motion != TSR_MOTION_COPY || !place->conversion->is_copy || place->conversion->unpack ||
        place->box->padding_bytes > 0)
        return false;
    return tsr_is_streamed_from_source(bytes, is_aligned(place));
}

/* Of a transpose whose columns begin all as far behind a line of the source, as the second one tells, so many that the
 * other groups read whole lines: those of columns that share sets are lost from one group to the next. */
static int64_t rows_of_first_group(const tsr_place *place, const tsr_scratch *scratch)
{
    const tsr_conversion *conversion = place->conversion;
    const int64_t size = conversion->src_bytes, line = TSR_CACHE_LINE / size, rows = scratch->rows;
    const int64_t *column = place->column.src;
    if (place->box->motion != TSR_MOTION_TRANSPOSE || tsr_is_packed(conversion) || place->column.count < 2)
        return rows;
    const int64_t head = tsr_bytes_to_next_line(place->src + place->row.src[0] + column[0]);
    const bool have_lines = (column[1] - column[0]) % TSR_CACHE_LINE == 0 && rows * size % TSR_CACHE_LINE == 0;
    if (!have_lines || rows >= place->row.count || head % size != 0 || head == 0)
        return rows;
    return rows - line + head / size;
}

/* Rows [first, first + rows) of a tile, member by member, as group.h tells. */
static void group_init(tsr_group *group, const tsr_place *place, const tsr_scratch *scratch, int64_t first,
                       int64_t columns)
{
    const tsr_motion motion = place->box->motion;
    const bool src_row_is_known =
        !place->conversion->unpack && (motion == TSR_MOTION_TRANSPOSE || motion == TSR_MOTION_INTERLEAVE);
    group->place = place;
    group->scratch = scratch;
    group->src = place->src + (src_row_is_known ? place->row.src[first] : 0);
    group->dst = place->dst;
    group->rows = tsr_min(first == 0 ? rows_of_first_group(place, scratch) : scratch->rows, place->row.count - first);
    group->columns = columns;
    group->row_src = place->row.src + first;
    group->row_dst = place->row.dst + first;
    group->row_factor = place->row.factor + first;
}

/* Without scratch memory, a few rows that are left over go along with those before. */
static int64_t rows_with_rest(const tsr_place *place, int64_t rows, int64_t left)
{
    const bool has_scratch = !tsr_is_straight(place->conversion) || place->box->padding_bytes > 0;
    return !has_scratch && left < rows + rows / 2 ? left : rows;
}

void tsr_tile_run_straight(const tsr_place *place)
{
    const tsr_group_filler fill = place->box->fill;
    const tsr_scratch *scratch = &place->box->scratch;
    tsr_target target = {.at = place->dst, .is_dense = place->box->is_dense, .is_destination = true};
    tsr_group group;
    for (int64_t r = 0; r < place->row.count; r += group.rows) {
        group_init(&group, place, scratch, r, place->column.count);
        group.rows = rows_with_rest(place, group.rows, place->row.count - r);
        target.row = group.row_dst;
        fill(&group, &target);
    }
}

/* So many columns from one on, some of which may be those of the next tile. */
static void view_columns(tsr_place *part, const tsr_place *place, int64_t begin, int64_t count)
{
    tsr_place_view_rows(part, place);
    part->dst = place->dst + begin * place->conversion->dst_bytes;
    part->streams_lines = false;
    part->column.src = place->column.src + begin;
    part->column.count = count;
}

/* Rows are whole before they are written: they are side by side in scratch memory, or `row` tells where among zeros,
 * which are laid once, as no group writes there. */
static void run_by_scratch(const tsr_place *place, const tsr_scratch *scratch, int64_t columns, const int64_t *row,
                           void (*write)(const tsr_group *group, const tsr_target *scratch))
{
    alignas(TSR_ALIGNMENT) char memory[TSR_SCRATCH_BYTES];
    const tsr_group_filler fill = place->box->fill;
    const tsr_target target = {.at = memory, .row = row ? row : scratch->dst_row, .is_dense = row == NULL};
    tsr_group group;
    if (row)
        memset(memory, 0, (size_t)(tsr_min(scratch->rows, place->row.count) * place->box->row_bytes));
    for (int64_t r = 0; r < place->row.count; r += group.rows) {
        group_init(&group, place, scratch, r, columns);
        fill(&group, &target);
        write(&group, &target);
    }
}

/* A line that is not whole is read before it is written: it is fetched some rows ahead. */
static void stream_ends(const tsr_group *group, const tsr_target *scratch)
{
    enum { ROWS_AHEAD = 16 };
    const int64_t bytes = bytes_of_row(group->place);
    for (int64_t r = 0; r < group->rows; r++) {
        if (r + ROWS_AHEAD < group->rows)
            __builtin_prefetch(group->dst + group->row_dst[r + ROWS_AHEAD] + tsr_max(bytes - 1, 0), 1);
        stream_parts(group, r, 1, scratch->at, scratch->row);
    }
}

/* Of the columns from one on, `count` and `spare` behind them, what each row has of the lines that are this tile's. */
static void run_ends(const tsr_place *place, int64_t begin, int64_t count, int64_t spare, bool is_first)
{
    tsr_place part;
    view_columns(&part, place, begin, count);
    part.column.spare = spare;
    part.column.is_first = is_first;
    run_by_scratch(&part, &place->box->wide_scratch, count + spare, NULL, stream_ends);
}

/* Do rows begin anywhere, with whole lines for the kernel to find in them? */
static bool can_find_lines(const tsr_place *place)
{
    return place->box->finds_lines && place->row.count >= TSR_ROWS_WITH_LINES && tsr_has_aligned_elements(place);
}

/* A line that two tiles share belongs to the first of them, here as well. What the kernel leaves are the rows' begins,
 * before the first line of each, and their ends, behind so many lines as all rows have. */
static void run_finding_lines(const tsr_place *place)
{
    const int64_t size = place->conversion->dst_bytes, line = TSR_CACHE_LINE / size, count = place->column.count;
    const int64_t spare = tsr_min(place->column.spare, line), lines = (count + spare) / line - 1;
    const tsr_tile tile = {
        .rows = place->row.count, .columns = count + spare, .dst_row = place->row.dst, .src_column = place->column.src};
    if (lines <= 0) {
        run_ends(place, 0, count, spare, place->column.is_first);
        return;
    }
    if (place->column.is_first)
        run_ends(place, 0, 0, line, true);
    place->kernels->lines[tsr_width_of_bytes(size)].run(place->dst, place->src + place->row.src[0], &tile);
    if (lines * line < count || spare < line)
        run_ends(place, lines * line, count - lines * line, spare, false);
}

static void run_buffering(const tsr_place *place)
{
    run_by_scratch(place, &place->box->scratch, place->column.count, NULL, copy_scratch);
}

static void run_streaming(const tsr_place *place)
{
    const tsr_box *box = place->box;
    const int64_t spare = is_aligned(place) ? 0 : place->column.spare;
    const tsr_scratch *scratch = spare > 0 ? &box->wide_scratch : &box->scratch;
    run_by_scratch(place, scratch, tsr_min(scratch->columns, place->column.count + spare), NULL, stream_scratch);
}

static void run_padded(const tsr_place *place)
{
    const bool streams = place->box->streams && writes_whole_lines(place);
    run_by_scratch(place, &place->box->scratch, place->column.count, place->box->wide_scratch.dst_row,
                   streams ? stream_scratch : copy_scratch);
}

/* By way of scratch memory, where the elements of a packed destination are bytes. */
static void run_packing(const tsr_place *place)
{
    alignas(TSR_ALIGNMENT) char memory[TSR_SCRATCH_BYTES];
    const tsr_group_filler fill = place->box->fill;
    const tsr_scratch *scratch = &place->box->scratch;
    const tsr_target target = {.at = memory, .row = scratch->dst_row, .is_dense = true};
    tsr_group group;
    tsr_place bytes;
    tsr_place_view(&bytes, place);
    bytes.column.dst = scratch->dst_column;
    for (int64_t r = 0; r < place->row.count; r += group.rows) {
        group_init(&group, place, scratch, r, place->column.count);
        if (tsr_group_pack_kept(&group))
            continue;
        if (place->conversion->arithmetic.beta != 0)
            tsr_group_unpack_old(&group, memory);
        group.place = &bytes;
        fill(&group, &target);
        group.place = place;
        tsr_group_pack(&group, memory);
    }
}

/* Source rows as they are, all at once. */
static void stream_from_source(const tsr_place *place)
{
    const tsr_scratch whole = {.rows = place->row.count};
    tsr_group group;
    group_init(&group, place, &whole, 0, place->column.count);
    stream_rows(&group, group.src, group.row_src);
}

/* Past the caches, by way of them, or straight, as the address of a tile has it. */
static void run_by_address(const tsr_place *place)
{
    const tsr_box *box = place->box;
    const bool streams = box->streams && writes_whole_lines(place);
    if (place->streams_lines)
        tsr_tile_run_straight(place);
    else if (tsr_has_lines_inside(place))
        tsr_run_lines_inside(place);
    else if (can_find_lines(place))
        run_finding_lines(place);
    else if (box->buffers)
        run_buffering(place);
    else if (streams && streams_from_source(place))
        stream_from_source(place);
    else if (!streams || box->streams_source)
        tsr_tile_run_straight(place);
    else
        run_streaming(place);
}

/* ---- before a plan runs ---- */

static tsr_tile_writer writer_of(const tsr_box *box, const tsr_conversion *conversion)
{
    const bool writes_bytes = box->packed_move == TSR_KEPT_PACKED || box->packed_move == TSR_PACKED_FIRST;
    const bool is_for_address =
        box->streams || box->streams_lines || box->finds_lines || box->fills_lines || box->buffers;
    if (conversion->pack && box->motion == TSR_MOTION_ZERO)
        return tsr_zero_packed;
    if (conversion->pack && !writes_bytes)
        return run_packing;
    if (box->padding_bytes > 0 && !tsr_moves_padding(box))
        return run_padded;
    return is_for_address && !box->streams_rows && !writes_bytes ? run_by_address : tsr_tile_run_straight;
}

static tsr_group_filler filler_of(const tsr_box *box, const tsr_conversion *conversion)
{
    if (box->motion == TSR_MOTION_ZERO)
        return write_zeros;
    const tsr_group_filler of_bytes = tsr_packed_filler_of(box);
    if (of_bytes)
        return of_bytes;
    return conversion->unpack ? tsr_group_unpack : tsr_group_filler_of(box, conversion);
}

void tsr_tile_choose(tsr_box *box, const tsr_conversion *conversion)
{
    box->write = writer_of(box, conversion);
    box->fill = filler_of(box, conversion);
}
