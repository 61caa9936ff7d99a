/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_TILE_H
#define TESSERA_SRC_REORDER_TILE_H

#include "reorder/box.h"

/* One tile of a box: where it starts on both sides and how large it is. */
typedef struct tsr_place {
    const tsr_kernels *kernels;
    const tsr_conversion *conversion;
    const char *src;
    char *dst;
    int64_t factor;
    int64_t rows, columns;
    int64_t first_column; /* where the tile enters the tables of its column loop */
} tsr_place;

/* The most elements that a tile with conversion may have along its columns times rows. */
#define TSR_MAX_TILE_AREA (128 * 128)

void tsr_tile_run(const tsr_box *box, const tsr_place *place);

#endif
