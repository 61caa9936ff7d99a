/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_DESC_OVERLAP_H
#define TESSERA_SRC_DESC_OVERLAP_H

#include <tessera/desc.h>

/* What is known of the cells of a list of levels. */
typedef enum tsr_overlap {
    TSR_CELLS_APART,   /* no two share a place */
    TSR_CELLS_SHARE,   /* two do */
    TSR_CELLS_UNKNOWN, /* the search was given up */
} tsr_overlap;

/*
 * Do two cells of the levels of a descriptor share a place? Levels of stride 0 are passed over with
 * ignore_zero. Where the cells are not known to be apart, *level is the first whose stride is not
 * larger than *reach, the largest offset of all levels with smaller strides. The offsets of all
 * cells must be known to fit.
 */
tsr_overlap tsr_levels_overlap(const tsr_desc *desc, bool ignore_zero, int *level, int64_t *reach);

#endif
