/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_BOX_H
#define TESSERA_SRC_REORDER_BOX_H

#include <tessera/topology.h>

#include "reorder/convert.h"
#include "reorder/nest.h"

/* How the elements of a box move. */
typedef enum tsr_motion {
    TSR_MOTION_COPY,      /* side by side on both sides */
    TSR_MOTION_TRANSPOSE, /* side by side along one loop in the source, along another in the destination */
    TSR_MOTION_STRIDED,   /* neither */
    TSR_MOTION_GATHER,    /* by table */
    TSR_MOTION_ZERO       /* nothing moves, zeros are written */
} tsr_motion;

/*
 * A loop nest ready to run: two loops belong to the kernel (the tile), the others are an odometer
 * over tiles. The two kernel loops are cut into steps that the first-level cache holds. One work
 * item is one tile; items are numbered with the columns running fastest, then the rows, then the
 * outer loops.
 */
typedef struct tsr_box {
    tsr_motion motion;
    tsr_tile_kernel kernel; /* NULL for gather and zero */
    const char *kernel_name;
    int64_t src, dst, factor; /* first element */
    int64_t elements;
    tsr_loop row, column;
    int64_t row_step, column_step;
    int64_t row_tiles, column_tiles;
    int64_t items;
    int64_t grain; /* items that are worth a thread */
    int outer_count;
    tsr_loop *outer; /* outermost first; the caller's memory */
} tsr_box;

/*
 * Chooses motion, kernel and tile loops for a fused nest. The kernel is for the width of the
 * elements or, where types differ, of the narrower one. outer has room for nest->count loops.
 */
void tsr_box_init(tsr_box *box, const tsr_nest *nest, bool is_padding, const tsr_kernels *kernels,
                  const tsr_conversion *conversion, tsr_loop *outer);

/* Cuts the tile loops for a machine and a number of threads. */
void tsr_box_cut(tsr_box *box, const tsr_conversion *conversion, const tsr_topology *topology, int threads);

/* Runs the items [begin, end) of a box over buffers that start at src and dst. */
void tsr_box_run(const tsr_box *box, const tsr_kernels *kernels, const tsr_conversion *conversion, const void *src,
                 void *dst, int64_t begin, int64_t end);

#endif
