/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of packed elements, two or eight to a byte, whose offsets are in elements from the start of the buffer, and
 * which are no bytes to transpose (packed_transpose.c). They are unpacked into bytes of scratch memory, moved and
 * converted there like all others, and packed: line by line where they lie side by side, or else one by one.
 */
#include <stdalign.h>
#include <string.h>

#include "base/int.h"
#include "reorder/group.h"

/* ---- elements side by side ---- */

/* Lines of n elements: line i begins with element first + at[i] of a packed buffer, and with byte byte[i] of others. */
struct lines {
    int64_t count, n;
    int64_t first;
    const int64_t *at, *byte;
    int packing; /* of that buffer */
};

/* So many lines from i on continue each other on both sides. */
static int64_t joined(const struct lines *lines, int64_t i)
{
    const int64_t n = lines->n;
    int64_t end = i + 1;
    while (end < lines->count && lines->byte[end] == lines->byte[end - 1] + n &&
           lines->at[end] == lines->at[end - 1] + n)
        end++;
    return end - i;
}

/* Short lines of whole bytes, as blocks are, are brought side by side while they are packed. */
enum { SHORT_LINE = 32, MOST_LINES = TSR_SCRATCH_ROWS };

struct short_lines {
    tsr_tile tile;
    int64_t apart[MOST_LINES], together[MOST_LINES];
    char packed[TSR_SCRATCH_BYTES / 2];
};

static bool find_short_lines(struct short_lines *found, const struct lines *lines)
{
    const int64_t n = lines->n;
    if (n > SHORT_LINE || lines->count > MOST_LINES)
        return false;
    int64_t bits = n;
    for (int64_t i = 0; i < lines->count; i++) {
        const int64_t at = lines->first + lines->at[i];
        if (lines->byte[i] != lines->byte[0] + i * n)
            return false;
        bits |= at;
        found->apart[i] = at >> lines->packing;
        found->together[i] = i * n >> lines->packing;
    }
    found->tile = (tsr_tile){.rows = lines->count, .columns = n >> lines->packing};
    return tsr_begins_byte(bits, lines->packing);
}

static void unpack_lines(const struct lines *lines, const tsr_place *place, tsr_packed_kernel unpack, char *bytes,
                         const char *packed)
{
    struct short_lines found;
    if (find_short_lines(&found, lines)) {
        found.tile.dst_row = found.together;
        found.tile.src_row = found.apart;
        place->kernels->copy[0].run(found.packed, packed, &found.tile);
        unpack(bytes + lines->byte[0], found.packed, 0, lines->count * lines->n);
        return;
    }
    for (int64_t i = 0, many; i < lines->count; i += many) {
        many = joined(lines, i);
        unpack(bytes + lines->byte[i], packed, lines->first + lines->at[i], many * lines->n);
    }
}

static void pack_lines(const struct lines *lines, const tsr_place *place, char *packed, const char *bytes)
{
    const tsr_packed_kernel pack = place->conversion->pack;
    struct short_lines found;
    if (find_short_lines(&found, lines)) {
        pack(found.packed, bytes + lines->byte[0], 0, lines->count * lines->n);
        found.tile.dst_row = found.apart;
        found.tile.src_row = found.together;
        place->kernels->copy[0].run(packed, found.packed, &found.tile);
        return;
    }
    for (int64_t i = 0, many; i < lines->count; i += many) {
        many = joined(lines, i);
        pack(packed, bytes + lines->byte[i], lines->first + lines->at[i], many * lines->n);
    }
}

/* ---- elements one by one: as many as one row has are brought side by side, still packed ---- */

enum { MOST_PICKED = TSR_SCRATCH_COLUMNS };

static unsigned bits_of_element(int packing)
{
    return 8U >> packing;
}

static unsigned shift_of(int64_t i, int packing)
{
    return (unsigned)(i & (tsr_elements_in_byte(packing) - 1)) * bits_of_element(packing);
}

static unsigned element_at(const char *packed, int64_t i, int packing)
{
    const unsigned mask = (1U << bits_of_element(packing)) - 1;
    return (unsigned)packed[i >> packing] >> shift_of(i, packing) & mask;
}

static void put_element(char *packed, int64_t i, int packing, unsigned element)
{
    const unsigned mask = (1U << bits_of_element(packing)) - 1, shift = shift_of(i, packing);
    packed[i >> packing] = (char)(((unsigned)packed[i >> packing] & ~(mask << shift)) | element << shift);
}

static void unpack_picked(tsr_packed_kernel unpack, int packing, char *bytes, const char *packed, int64_t first,
                          const int64_t *column, int64_t n)
{
    char row[MOST_PICKED / 2];
    for (int64_t c = 0; c < n;) {
        const int64_t end = tsr_min(n, c + tsr_elements_in_byte(packing)), byte = c >> packing;
        unsigned all = 0;
        for (; c < end; c++)
            all |= element_at(packed, first + column[c], packing) << shift_of(c, packing);
        row[byte] = (char)all;
    }
    unpack(bytes, row, 0, n);
}

static void pack_picked(tsr_packed_kernel pack, int packing, char *packed, const char *bytes, int64_t first,
                        const int64_t *column, int64_t n)
{
    char row[MOST_PICKED / 2] = {0};
    pack(row, bytes, 0, n);
    for (int64_t c = 0; c < n; c++)
        put_element(packed, first + column[c], packing, element_at(row, c, packing));
}

/* ---- from a packed source: each way to unpack a group says where its elements are then ---- */

/* From the first to the last of some elements. */
struct reach {
    int64_t low, high;
};

static struct reach reach_of(const int64_t *at, int64_t n)
{
    struct reach reach = {at[0], at[0]};
    for (int64_t i = 1; i < n; i++) {
        reach.low = tsr_min(reach.low, at[i]);
        reach.high = tsr_max(reach.high, at[i]);
    }
    return reach;
}

static bool is_transposed(const tsr_group *group)
{
    const tsr_motion motion = group->place->box->motion;
    return motion != TSR_MOTION_COPY && motion != TSR_MOTION_PICK;
}

static struct reach rows_of(const tsr_group *group)
{
    if (is_transposed(group))
        return (struct reach){group->row_src[0], group->row_src[0] + group->rows - 1};
    return reach_of(group->row_src, group->rows);
}

static struct reach columns_of(const tsr_group *group)
{
    const int64_t *at = group->place->column.src;
    if (group->place->box->column.is_run)
        return (struct reach){0, group->columns - 1};
    if (group->place->box->motion == TSR_MOTION_DEINTERLEAVE)
        return (struct reach){at[0], at[0] + (group->columns - 1) * group->rows};
    return reach_of(at, group->columns);
}

/* Where memory would begin of which these bytes are the part from `low` on. */
static const char *start_of(const char *bytes, int64_t low)
{
    return (const char *)((uintptr_t)bytes - (uintptr_t)low);
}

/* All from the first to the last as it lies: the tables hold, but kernels that know the rows begin with the first
 * of them. */
static void unpack_whole(tsr_group *group, char *bytes, int64_t low, int64_t n)
{
    const tsr_place *place = group->place;
    place->conversion->unpack(bytes, place->src, place->src_first + low, n);
    group->src = start_of(bytes, is_transposed(group) ? low - group->row_src[0] : low);
}

/* The columns of a transpose, one behind the other. */
static void unpack_columns(tsr_group *group, tsr_place *place, char *bytes)
{
    const int64_t first = place->src_first + group->row_src[0];
    const struct lines lines = {group->columns,
                                group->rows,
                                first,
                                place->column.src,
                                group->scratch->src_line,
                                place->conversion->src_packing};
    unpack_lines(&lines, place, place->conversion->unpack, bytes, place->src);
    place->column.src = group->scratch->src_line;
    group->src = bytes;
}

/* All from the first to the last of each row. */
static void unpack_each_row(tsr_group *group, char *bytes, int64_t low, int64_t n)
{
    const tsr_place *place = group->place;
    const int64_t *to = group->scratch->src_row;
    const struct lines lines = {group->rows,    n,  place->src_first + low,
                                group->row_src, to, place->conversion->src_packing};
    unpack_lines(&lines, place, place->conversion->unpack, bytes, place->src);
    group->row_src = group->scratch->src_row;
    group->src = start_of(bytes, low);
}

static void unpack_elements(tsr_group *group, tsr_place *place, char *bytes)
{
    for (int64_t r = 0; r < group->rows; r++)
        unpack_picked(place->conversion->unpack, place->conversion->src_packing, bytes + group->scratch->src_row[r],
                      place->src, place->src_first + group->row_src[r], place->column.src, group->columns);
    group->row_src = group->scratch->src_row;
    place->column.src = group->scratch->src_column;
    group->src = bytes;
}

/* What a filler looks at of a group; all other members are left unset. */
static void view_group(tsr_group *view, const tsr_group *group)
{
    view->scratch = group->scratch;
    view->rows = group->rows;
    view->columns = group->columns;
    view->row_src = group->row_src;
    view->row_factor = group->row_factor;
}

/* Are elements runs on both sides, and bytes on one of these, which are right as they are? Short ones are worth a call
 * each only if they continue each other on both sides. */
static bool are_kept(const tsr_group *group, bool is_dense)
{
    const tsr_box *box = group->place->box;
    const bool are_long = group->columns > SHORT_LINE || group->rows == 1 || (is_dense && box->is_dense_in_src);
    return group->place->conversion->keeps_bytes && box->motion == TSR_MOTION_COPY && are_long;
}

void tsr_group_unpack(const tsr_group *group, const tsr_target *target)
{
    /* times as many as there are elements are unpacked sooner than line by line, or one by one */
    enum { GAPS_OF_LINES = 4, GAPS = 32 };
    alignas(TSR_ALIGNMENT) char bytes[TSR_SCRATCH_BYTES];
    if (are_kept(group, target->is_dense)) {
        const tsr_place *place = group->place;
        const struct lines lines = {group->rows,    group->columns, place->src_first,
                                    group->row_src, target->row,    place->conversion->src_packing};
        unpack_lines(&lines, place, place->conversion->unpack, target->at, place->src);
        return;
    }
    const struct reach rows = rows_of(group), columns = columns_of(group);
    const int64_t low = rows.low + columns.low, n = rows.high + columns.high - low + 1;
    const bool are_lines = is_transposed(group) || columns.high - columns.low < group->columns;
    const int64_t gaps = are_lines ? GAPS_OF_LINES : GAPS;
    tsr_place place;
    tsr_group unpacked;
    tsr_place_view(&place, group->place);
    view_group(&unpacked, group);
    unpacked.place = &place;
    if (n <= tsr_min(gaps * group->rows * group->columns, TSR_SCRATCH_BYTES))
        unpack_whole(&unpacked, bytes, low, n);
    else if (is_transposed(group))
        unpack_columns(&unpacked, &place, bytes);
    else if (are_lines)
        unpack_each_row(&unpacked, bytes, columns.low, columns.high - columns.low + 1);
    else
        unpack_elements(&unpacked, &place, bytes);
    const tsr_group_filler fill = tsr_group_filler_of(place.box, place.conversion);
    fill(&unpacked, target);
}

/* ---- to a packed destination ---- */

/* Do the columns of a tile lie side by side? */
static bool has_runs(const tsr_chain *column)
{
    return column->is_run || (column->count > 0 && !column->loop[0].dst_table && column->loop[0].dst == 1);
}

/* The rows of a group, which are bytes side by side. Rows that continue each other are one: tables may have no more. */
static struct lines lines_of(const tsr_group *group)
{
    const tsr_box *box = group->place->box;
    const bool is_one = box->is_dense && has_runs(&box->column) && group->columns == group->scratch->columns;
    const int64_t count = is_one ? 1 : group->rows, n = is_one ? group->rows * group->columns : group->columns;
    const tsr_place *place = group->place;
    return (struct lines){
        count, n, place->dst_first, group->row_dst, group->scratch->dst_row, place->conversion->dst_packing};
}

void tsr_group_unpack_old(const tsr_group *group, char *bytes)
{
    const tsr_place *place = group->place;
    const tsr_packed_kernel unpack = place->conversion->unpack_old;
    const struct lines lines = lines_of(group);
    if (has_runs(&place->box->column))
        unpack_lines(&lines, place, unpack, bytes, group->dst);
    else
        for (int64_t r = 0; r < lines.count; r++)
            unpack_picked(unpack, lines.packing, bytes + lines.byte[r], group->dst, lines.first + lines.at[r],
                          place->column.dst, lines.n);
}

bool tsr_group_pack_kept(const tsr_group *group)
{
    const tsr_place *place = group->place;
    const struct lines lines = {group->rows,    group->columns, place->dst_first,
                                group->row_dst, group->row_src, place->conversion->dst_packing};
    if (!are_kept(group, place->box->is_dense))
        return false;
    pack_lines(&lines, place, group->dst, group->src);
    return true;
}

void tsr_group_pack(const tsr_group *group, const char *bytes)
{
    const tsr_place *place = group->place;
    const struct lines lines = lines_of(group);
    if (has_runs(&place->box->column))
        pack_lines(&lines, place, group->dst, bytes);
    else
        for (int64_t r = 0; r < lines.count; r++)
            pack_picked(place->conversion->pack, lines.packing, group->dst, bytes + lines.byte[r],
                        lines.first + lines.at[r], place->column.dst, lines.n);
}

static void zero_run(const tsr_place *place, int64_t first, int64_t n)
{
    static const char zeros[512];
    for (int64_t done = 0; done < n; done += (int64_t)sizeof zeros)
        place->conversion->pack(place->dst, zeros, first + done, tsr_min(n - done, (int64_t)sizeof zeros));
}

void tsr_zero_packed(const tsr_place *place)
{
    for (int64_t r = 0; r < place->row.count; r++) {
        const int64_t first = place->dst_first + place->row.dst[r];
        if (has_runs(&place->box->column))
            zero_run(place, first, place->column.count);
        else
            for (int64_t c = 0; c < place->column.count; c++)
                put_element(place->dst, first + place->column.dst[c], place->conversion->dst_packing, 0);
    }
}

/* ---- threads ---- */

static bool begin_bytes(const tsr_loop *loops, int count, int packing)
{
    int64_t bits = 0;
    for (int i = 0; i < count; i++)
        for (int64_t step = 0; step < (loops[i].dst_table ? loops[i].n : 2); step++)
            bits |= tsr_loop_dst(&loops[i], step);
    return tsr_begins_byte(bits, packing);
}

/*
 * If items lie apart by whole bytes, each may be looked at alone. It may be dense, and begin with a
 * whole byte. Or the innermost loop of its columns is the only one with a stride of less than that, 1: then elements
 * that share a byte are neighbours in that loop, which is not cut between them, unless it ends in a byte where the
 * next run may begin: one that leaves no more of it than elements are in front of each run. Other layouts, such as rows
 * of odd length that are not dense, would take more to share out than they are worth: one thread runs them.
 */
bool tsr_packed_items_are_apart(const tsr_box *box, int packing)
{
    const tsr_chain *column = &box->column;
    const int64_t in_byte = tsr_elements_in_byte(packing), in_front = box->dst % in_byte;
    const bool has_unit = column->count > 0 && has_runs(column);
    const int64_t run = has_unit ? column->loop[0].n : 1, left = tsr_ceil_div(run, in_byte) * in_byte - run;
    if (!begin_bytes(box->walk, box->walk_count, packing))
        return false;
    if (in_front == 0 && box->is_dense)
        return true;
    if (in_front > left)
        return false;
    if (column->count == 1 && column->tiles > 1 && !(in_front == 0 && tsr_begins_byte(column->step, packing)))
        return false;
    return begin_bytes(box->row.loop, box->row.count, packing) &&
           begin_bytes(column->loop + has_unit, column->count - has_unit, packing);
}
