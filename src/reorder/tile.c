/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/group.h"

#include <stdalign.h>
#include <string.h>

#include <tessera/memory.h>

#include "base/int.h"

/* ---- filling a group ---- */

void tsr_group_move(const tsr_group *group)
{
    const tsr_place *place = group->place;
    const bool is_copy = place->box->motion == TSR_MOTION_COPY;
    const int64_t columns = group->columns * (is_copy ? place->conversion->src_bytes : 1);
    const tsr_tile tile = {group->rows, columns, group->to_row, group->row_src, place->column.dst, place->column.src};
    place->box->kernel(group->to, group->src, &tile);
}

static void write_zeros(const tsr_group *group)
{
    static const uint64_t zero;
    const tsr_place *place = group->place;
    tsr_group zeros = *group;
    zeros.src = (const char *)&zero;
    if (!place->box->column.is_run) {
        tsr_group_move(&zeros);
        return;
    }
    for (int64_t r = 0; r < group->rows; r++)
        memset(group->to + group->to_row[r], 0, (size_t)(group->columns * place->conversion->dst_bytes));
}

/* ---- streaming ---- */

static int64_t bytes_to_next_line(const char *at)
{
    return (int64_t)(-(uintptr_t)at & (TSR_CACHE_LINE - 1));
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

static void stream_rows(const tsr_group *group, const char *from, const int64_t *from_row)
{
    const tsr_place *place = group->place;
    const int64_t bytes = place->column.count * place->conversion->dst_bytes + place->box->padding_bytes;
    for (int64_t r = 0; r < group->rows; r++)
        stream_row(place, group->dst + group->row_dst[r], from + from_row[r], bytes);
}

/* Rows that continue each other are one. */
static void stream_scratch(const tsr_group *group)
{
    if (group->place->box->is_dense)
        group->place->kernels->stream(group->dst + group->row_dst[0], group->to,
                                      group->rows * group->place->box->row_bytes);
    else
        stream_rows(group, group->to, group->to_row);
}

/* ---- all together ---- */

static tsr_group_filler filler_of(const tsr_place *place)
{
    return place->box->motion == TSR_MOTION_ZERO ? write_zeros : tsr_group_filler_of(place);
}

/* Do all rows begin with a cache line? */
static bool is_aligned(const tsr_place *place)
{
    return (((uintptr_t)place->dst | (uintptr_t)place->box->dst_bits) & (TSR_CACHE_LINE - 1)) == 0;
}

/* Now that the buffer's address is known. */
static bool writes_whole_lines(const tsr_place *place)
{
    return is_aligned(place) || place->box->is_dense || tsr_is_long_row(place->box->row_bytes);
}

/* Runs that need not be gathered in scratch memory. */
static bool has_long_runs(const tsr_place *place)
{
    enum { LONG_RUN = 2048 };
    return place->box->motion == TSR_MOTION_COPY && place->conversion->is_copy &&
           place->column.count * place->conversion->src_bytes >= LONG_RUN;
}

/* Rows [first, first + rows) of a tile. */
static tsr_group group_of(const tsr_place *place, const tsr_scratch *scratch, int64_t first, int64_t columns)
{
    const tsr_motion motion = place->box->motion;
    bool src_row_is_known = motion == TSR_MOTION_TRANSPOSE || motion == TSR_MOTION_INTERLEAVE;
    return (tsr_group){
        .place = place,
        .scratch = scratch,
        .src = place->src + (src_row_is_known ? place->row.src[first] : 0),
        .dst = place->dst,
        .rows = tsr_min(scratch->rows, place->row.count - first),
        .columns = columns,
        .row_src = place->row.src + first,
        .row_dst = place->row.dst + first,
        .row_factor = place->row.factor + first,
    };
}

static void run_straight(const tsr_place *place)
{
    const tsr_group_filler fill = filler_of(place);
    const tsr_scratch *scratch = &place->box->scratch;
    for (int64_t r = 0; r < place->row.count; r += scratch->rows) {
        tsr_group group = group_of(place, scratch, r, place->column.count);
        group.to = group.dst;
        group.to_row = group.row_dst;
        group.to_is_dense = place->box->is_dense;
        fill(&group);
    }
}

static void run_streaming(const tsr_place *place)
{
    alignas(TSR_ALIGNMENT) char memory[TSR_SCRATCH_BYTES];
    const tsr_box *box = place->box;
    const tsr_group_filler fill = filler_of(place);
    const int64_t spare = is_aligned(place) ? 0 : place->column.spare;
    const tsr_scratch *scratch = spare > 0 ? &box->wide_scratch : &box->scratch;
    const int64_t columns = tsr_min(scratch->columns, place->column.count + spare);
    for (int64_t r = 0; r < place->row.count; r += scratch->rows) {
        tsr_group group = group_of(place, scratch, r, columns);
        group.to = memory;
        group.to_row = scratch->dst_row;
        group.to_is_dense = true;
        fill(&group);
        stream_scratch(&group);
    }
}

static void copy_scratch(const tsr_group *group)
{
    const tsr_tile rows = {group->rows, group->place->box->row_bytes, group->row_dst, group->to_row, NULL, NULL};
    group->place->kernels->copy[0].run(group->dst, group->to, &rows);
}

/* Elements between zeros, which are laid once: no group writes there. */
static void run_padded(const tsr_place *place, bool streams)
{
    alignas(TSR_ALIGNMENT) char memory[TSR_SCRATCH_BYTES];
    const tsr_box *box = place->box;
    const tsr_group_filler fill = filler_of(place);
    const tsr_scratch *scratch = &box->scratch;
    memset(memory, 0, (size_t)(tsr_min(scratch->rows, place->row.count) * box->row_bytes));
    for (int64_t r = 0; r < place->row.count; r += scratch->rows) {
        tsr_group group = group_of(place, scratch, r, place->column.count);
        group.to = memory;
        group.to_row = box->wide_scratch.dst_row;
        fill(&group);
        (streams ? stream_scratch : copy_scratch)(&group);
    }
}

/* Source rows as they are, all at once. */
static void stream_from_source(const tsr_place *place)
{
    tsr_scratch whole = {.rows = place->row.count};
    tsr_group group = group_of(place, &whole, 0, place->column.count);
    stream_rows(&group, group.src, group.row_src);
}

void tsr_tile_run(const tsr_place *place)
{
    const bool streams = place->box->streams && writes_whole_lines(place);
    if (place->box->padding_bytes > 0 && !tsr_is_padded_transpose(place->box))
        run_padded(place, streams);
    else if (!streams)
        run_straight(place);
    else if (has_long_runs(place))
        stream_from_source(place);
    else
        run_streaming(place);
}
