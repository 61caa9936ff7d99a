/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transposes of elements of 4 bits, which stay packed. A byte of a column of the source has two rows. So of a pair of
 * columns, the lower halves are bytes of one row of the destination and the upper halves of the next one: columns are
 * parted into these, and both are transposed as bytes.
 */
#include <stdalign.h>

#include "reorder/group.h"

/* ---- which ---- */

static bool has_even_strides(const tsr_loop *loops, int count)
{
    int64_t bits = 0;
    for (int i = 0; i < count; i++)
        bits |= tsr_loop_has_table(&loops[i]) ? 1 : loops[i].src | loops[i].dst;
    return bits % 2 == 0;
}

/* Are the steps of a chain neighbours by twos on a side, where its first loop has this stride, and even steps apart
 * anywhere else? */
static bool has_pairs(const tsr_chain *chain, int64_t stride, int64_t stride_on_other_side)
{
    const tsr_loop *first = &chain->loop[0];
    return !tsr_loop_has_table(first) && stride == 1 && stride_on_other_side % 2 == 0 && first->n % 2 == 0 &&
           chain->step % 2 == 0 && has_even_strides(first + 1, chain->count - 1);
}

bool tsr_keeps_halves(const tsr_box *box, const tsr_conversion *conversion)
{
    if (!conversion->unpack || !conversion->is_copy || box->motion != TSR_MOTION_TRANSPOSE || box->padding_bytes > 0)
        return false;
    const tsr_loop *row = &box->row.loop[0], *column = &box->column.loop[0];
    return (box->src | box->dst) % 2 == 0 && has_even_strides(box->walk, box->walk_count) &&
           has_pairs(&box->row, row->src, row->dst) && has_pairs(&box->column, column->dst, column->src);
}

/* ---- how ---- */

/* A column of both halves is that of the even rows, and then that of the odd ones. */
void tsr_group_transpose_halves(const tsr_group *group, const tsr_target *target)
{
    alignas(TSR_ALIGNMENT) char parted[TSR_SCRATCH_BYTES];
    int64_t column[TSR_SCRATCH_COLUMNS], half[TSR_SCRATCH_COLUMNS], row[TSR_SCRATCH_ROWS];
    const tsr_place *place = group->place;
    const int64_t rows = group->rows, columns = group->columns, of_half = rows / 2;
    for (int64_t c = 0; c < columns; c++) {
        column[c] = place->column.src[c] / 2;
        half[c] = c * of_half;
    }
    const tsr_tile part = {.rows = columns, .columns = of_half, .dst_row = half, .src_row = column};
    place->kernels->part_halves[0].run(parted, place->src + (place->src_first + group->row_src[0]) / 2, &part);
    for (int64_t r = 0; r < of_half; r++) {
        row[r] = target->row[2 * r] / 2;
        row[of_half + r] = target->row[2 * r + 1] / 2;
    }
    for (int64_t c = 0; c < columns / 2; c++)
        column[c] = c * rows;
    const tsr_tile tile = {.rows = rows, .columns = columns / 2, .dst_row = row, .src_column = column};
    place->box->kernel(target->at + place->dst_first / 2, parted, &tile);
}
