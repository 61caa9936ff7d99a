/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transposes of packed elements, which stay so. A byte of a column of the source has elements of two or eight rows. So
 * of as many columns side by side, the first elements of all bytes are bytes of one row of the destination, the second
 * ones of the next row, and so on: columns are parted into these, and all are transposed as bytes.
 */
#include <stdalign.h>

#include "reorder/group.h"

/* ---- which ---- */

static bool move_by_bytes(const tsr_loop *loops, int count, int packing)
{
    int64_t bits = 0;
    for (int i = 0; i < count; i++)
        bits |= tsr_loop_has_table(&loops[i]) ? 1 : loops[i].src | loops[i].dst;
    return tsr_begins_byte(bits, packing);
}

/* Are the steps of a chain neighbours by whole bytes on a side, where its first loop has this stride, and whole bytes
 * apart anywhere else? */
static bool has_bytes(const tsr_chain *chain, int64_t stride, int64_t stride_on_other_side, int packing)
{
    const tsr_loop *first = &chain->loop[0];
    return !tsr_loop_has_table(first) && stride == 1 &&
           tsr_begins_byte(stride_on_other_side | first->n | chain->step, packing) &&
           move_by_bytes(first + 1, chain->count - 1, packing);
}

bool tsr_keeps_packed(const tsr_box *box, const tsr_conversion *conversion)
{
    const int packing = conversion->src_packing;
    if (packing == 0 || !conversion->is_copy || box->motion != TSR_MOTION_TRANSPOSE || box->padding_bytes > 0)
        return false;
    const tsr_loop *row = &box->row.loop[0], *column = &box->column.loop[0];
    return tsr_begins_byte(box->src | box->dst, packing) && move_by_bytes(box->walk, box->walk_count, packing) &&
           has_bytes(&box->row, row->src, row->dst, packing) &&
           has_bytes(&box->column, column->dst, column->src, packing);
}

/* ---- how ---- */

/* A parted column is that of the first row of each byte, then that of the second one, and so on. */
void tsr_group_transpose_packed(const tsr_group *group, const tsr_target *target)
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
    part_columns(parted, place->src + ((place->src_first + group->row_src[0]) >> packing), &tile_of_parts);
    for (int64_t i = 0; i < in_byte; i++)
        for (int64_t r = 0; r < of_part; r++)
            row[i * of_part + r] = target->row[r * in_byte + i] >> packing;
    for (int64_t c = 0; c < columns >> packing; c++)
        column[c] = c * rows;
    const tsr_tile tile = {.rows = rows, .columns = columns >> packing, .dst_row = row, .src_column = column};
    place->box->kernel(target->at + (place->dst_first >> packing), parted, &tile);
}
