/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_LOOKUP_H
#define TESSERA_SRC_REORDER_LOOKUP_H

#include <tessera/memory.h>

#include "reorder/kernels/kernels.h"

/* Makes the look-up of a row whose n elements, of so many bytes, lie at src[i]. It is NULL where there is none, as the
 * row is shorter than a line, or too long, or comes from too many windows. TSR_OUT_OF_MEMORY. */
tsr_status tsr_lookup_make(tsr_lookup **lookup, const int64_t *src, int64_t n, int64_t bytes,
                           const tsr_allocator *allocator);

/* What a row takes, as tsr_lanes_cost counts. */
double tsr_lookup_cost(const tsr_lookup *lookup);

/* NULL is accepted. */
void tsr_lookup_free(tsr_lookup **lookup, const tsr_allocator *allocator);

#endif
