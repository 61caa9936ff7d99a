/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_TILE_H
#define TESSERA_SRC_REORDER_TILE_H

#include "reorder/box.h"

/* The steps of one chain that a tile has, in bytes from its first element. */
typedef struct tsr_side {
    int64_t count;
    int64_t spare; /* steps of the chain that continue those of the tile */
    bool is_first; /* this tile continues none */
    const int64_t *src, *dst, *factor;
} tsr_side;

/* One tile of a box. */
typedef struct tsr_place {
    const tsr_box *box;
    const tsr_kernels *kernels;
    const tsr_conversion *conversion;
    const char *src;
    char *dst;
    int64_t factor;
    tsr_side row, column;
} tsr_place;

void tsr_tile_run(const tsr_place *place);

#endif
