/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_KERNELS_WALK_H
#define TESSERA_SRC_REORDER_KERNELS_WALK_H

#include "reorder/kernels/kernels.h"

/* Transposes one square block; dst_row and src_column are in bytes. */
typedef void (*tsr_block_kernel)(char *dst, int64_t dst_row, const char *src, int64_t src_column);

/*
 * A transpose out of square blocks of side x side elements in registers. What is left over on the
 * right and below goes to the C kernel. Always inlined, so that the block kernel is too.
 */
__attribute__((always_inline)) static inline void tsr_transpose_blocks(void *dst, const void *src, const tsr_tile *tile,
                                                                       int64_t side, int64_t element_bytes,
                                                                       tsr_block_kernel block, tsr_tile_kernel edge)
{
    int64_t dst_row = tile->dst_row * element_bytes, src_column = tile->src_column * element_bytes;
    int64_t whole_rows = tile->rows / side * side, whole_columns = tile->columns / side * side;
    char *to = dst;
    const char *from = src;
    for (int64_t r = 0; r < whole_rows; r += side)
        for (int64_t c = 0; c < whole_columns; c += side)
            block(to + r * dst_row + c * element_bytes, dst_row, from + r * element_bytes + c * src_column, src_column);

    tsr_tile right = *tile, below = *tile;
    right.rows = whole_rows;
    right.columns = tile->columns - whole_columns;
    if (right.rows > 0 && right.columns > 0)
        edge(to + whole_columns * element_bytes, from + whole_columns * src_column, &right);
    below.rows = tile->rows - whole_rows;
    if (below.rows > 0)
        edge(to + whole_rows * dst_row, from + whole_rows * element_bytes, &below);
}

#endif
