/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_DESC_SORTED_H
#define TESSERA_SRC_DESC_SORTED_H

#include <tessera/desc.h>

/* The levels of more than one step by ascending distance of a step; its direction does not matter. */
typedef struct tsr_sorted_levels {
    int count;
    int level[TSR_MAX_LEVELS];
    int64_t stride[TSR_MAX_LEVELS];    /* 0 or more */
    int64_t steps[TSR_MAX_LEVELS];     /* one less than the extent */
    int64_t reach[TSR_MAX_LEVELS + 1]; /* [j]: the largest offset of levels 0 to j - 1 together */
} tsr_sorted_levels;

/* The offsets of all cells must be known to fit. */
void tsr_sort_levels(tsr_sorted_levels *sorted, const tsr_desc *desc);

#endif
