/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transposes of packed elements, as bytes that have elements of two or eight rows each, or of as many columns. They stay
 * packed from one side to the other, are unpacked once they lie along the rows of the destination, or packed while they
 * lie along the columns of the source.
 */
#include <stdalign.h>

#include "reorder/group.h"

/* ---- which ---- */

static int64_t src_of(const tsr_loop *loop)
{
    return loop->src_table ? 1 : loop->src;
}

static int64_t dst_of(const tsr_loop *loop)
{
    return loop->dst_table ? 1 : loop->dst;
}

/* Where steps of these loops lie on a side, or-ed. */
static int64_t places_of(const tsr_loop *loops, int count, int64_t (*side)(const tsr_loop *loop))
{
    int64_t bits = 0;
    for (int i = 0; i < count; i++)
        bits |= side(&loops[i]);
    return bits;
}

/* Are the elements of each byte of a side neighbours in the first loop of a chain, so that bytes have the same steps of
 * it in all tiles? */
static bool has_bytes(const tsr_box *box, const tsr_chain *chain, const tsr_chain *other, int64_t first, int packing,
                      int64_t (*side)(const tsr_loop *loop))
{
    const tsr_loop *loop = &chain->loop[0];
    const int64_t places = first | loop->n | chain->step | places_of(loop + 1, chain->count - 1, side) |
                           places_of(other->loop, other->count, side) | places_of(box->walk, box->walk_count, side);
    return packing > 0 && side(loop) == 1 && !tsr_loop_has_table(loop) && tsr_begins_byte(places, packing);
}

/* Elements that are neither unpacked nor packed on their way are only parted. Those that become others are converted
 * along the source where they are packed, if at all. */
tsr_packed_move tsr_packed_move_of(const tsr_box *box, const tsr_conversion *conversion)
{
    if (box->motion != TSR_MOTION_TRANSPOSE || box->padding_bytes > 0)
        return TSR_MOVED_UNPACKED;
    const bool has_rows = has_bytes(box, &box->row, &box->column, box->src, conversion->src_packing, src_of);
    const bool has_columns = has_bytes(box, &box->column, &box->row, box->dst, conversion->dst_packing, dst_of);
    if (conversion->is_copy)
        return has_rows && has_columns ? TSR_KEPT_PACKED : TSR_MOVED_UNPACKED;
    if (has_rows && !box->converts_first)
        return TSR_UNPACKED_LAST;
    const bool are_bytes_first = box->converts_first || (conversion->keeps_bytes && !conversion->unpack);
    return has_columns && !conversion->unpack && are_bytes_first ? TSR_PACKED_FIRST : TSR_MOVED_UNPACKED;
}

/* ---- how ---- */

/* Bytes of the source. */
static const char *first_byte(const tsr_group *group, int packing)
{
    return group->place->src + ((group->place->src_first + group->row_src[0]) >> packing);
}

/* A parted column is that of the first row of each byte, then that of the second one, and so on. */
static void transpose_parted(const tsr_group *group, const tsr_target *target)
{
    alignas(TSR_ALIGNMENT) char parted[TSR_SCRATCH_BYTES];
    int64_t column[TSR_SCRATCH_COLUMNS], part[TSR_SCRATCH_COLUMNS], row[TSR_SCRATCH_ROWS];
    const tsr_place *place = group->place;
    const tsr_kernels *kernels = place->kernels;
    const int packing = place->conversion->src_packing;
    const int64_t in_byte = tsr_elements_in_byte(packing), rows = group->rows, columns = group->columns,
                  of_part = rows >> packing;
    for (int64_t c = 0; c < columns; c++) {
        column[c] = place->column.src[c] >> packing;
        part[c] = c * of_part;
    }
    const tsr_tile tile_of_parts = {.rows = columns, .columns = of_part, .dst_row = part, .src_row = column};
    const tsr_tile_kernel part_columns = (in_byte == 2 ? kernels->part_halves : kernels->part_bits)[0].run;
    part_columns(parted, first_byte(group, packing), &tile_of_parts);
    for (int64_t i = 0; i < in_byte; i++)
        for (int64_t r = 0; r < of_part; r++)
            row[i * of_part + r] = target->row[r * in_byte + i] >> packing;
    for (int64_t c = 0; c < columns >> packing; c++)
        column[c] = c * rows;
    const tsr_tile tile = {.rows = rows, .columns = columns >> packing, .dst_row = row, .src_column = column};
    place->box->kernel(target->at + (place->dst_first >> packing), parted, &tile);
}

/* Each row of bytes becomes as many rows as a byte has elements. */
static void transpose_then_unpack(const tsr_group *group, const tsr_target *target)
{
    alignas(TSR_ALIGNMENT) char packed[TSR_SCRATCH_BYTES / 2], unpacked[TSR_SCRATCH_BYTES];
    int64_t column[TSR_SCRATCH_COLUMNS], row[TSR_SCRATCH_ROWS];
    const tsr_place *place = group->place;
    const int packing = place->conversion->src_packing;
    const int64_t rows = group->rows >> packing, columns = group->columns;
    for (int64_t c = 0; c < columns; c++)
        column[c] = place->column.src[c] >> packing;
    for (int64_t r = 0; r < rows; r++)
        row[r] = r * columns;
    const bool converts = !place->conversion->keeps_bytes;
    const int64_t *to = converts ? group->scratch->src_row : target->row;
    const tsr_tile bytes = {.rows = rows, .columns = columns, .dst_row = row, .src_column = column};
    const tsr_tile elements = {.rows = rows, .columns = columns, .dst_row = to, .src_row = row};
    place->box->kernel(packed, first_byte(group, packing), &bytes);
    place->conversion->unpack_rows(converts ? unpacked : target->at, packed, &elements);
    if (converts)
        tsr_group_convert_rows(group, target, unpacked);
}

/* As many columns as a byte has elements become one of bytes. */
static void pack_then_transpose(const tsr_group *group, const tsr_target *target)
{
    alignas(TSR_ALIGNMENT) char unpacked[TSR_SCRATCH_BYTES], packed[TSR_SCRATCH_BYTES / 2];
    int64_t column[TSR_SCRATCH_COLUMNS], row[TSR_SCRATCH_ROWS];
    const tsr_place *place = group->place;
    const bool converts = place->box->converts_first;
    const int packing = place->conversion->dst_packing;
    const int64_t rows = group->rows, columns = group->columns >> packing;
    const int64_t *from = converts ? group->scratch->column : place->column.src;
    if (converts)
        tsr_group_convert_columns(group, unpacked, group->src, place->column.src);
    for (int64_t c = 0; c < columns; c++)
        column[c] = c * rows;
    for (int64_t r = 0; r < rows; r++)
        row[r] = (place->dst_first + target->row[r]) >> packing;
    const tsr_tile elements = {.rows = columns, .columns = rows, .dst_row = column, .src_row = from};
    const tsr_tile bytes = {.rows = rows, .columns = columns, .dst_row = row, .src_column = column};
    place->conversion->pack_rows(packed, converts ? unpacked : group->src, &elements);
    place->box->kernel(target->at, packed, &bytes);
}

tsr_group_filler tsr_packed_filler_of(const tsr_box *box)
{
    switch (box->packed_move) {
    case TSR_KEPT_PACKED:
        return transpose_parted;
    case TSR_UNPACKED_LAST:
        return transpose_then_unpack;
    case TSR_PACKED_FIRST:
        return pack_then_transpose;
    default:
        return NULL;
    }
}
