/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_LOOKUP_H
#define TESSERA_SRC_REORDER_LOOKUP_H

#include <tessera/memory.h>

#include "reorder/kernels/kernels.h"

/* So many windows of 64 bytes have all n elements, which lie at src[i]: where each begins, the last ones so early that
 * they end where the elements do. INT64_MAX if there are too many for a look-up, or all elements have less than one. */
int64_t tsr_find_windows(int64_t begin[TSR_MOST_WINDOWS], const int64_t *src, int64_t n, int64_t bytes);

/* Makes the look-up of a row whose n elements, of so many bytes, lie at src[i]. It is NULL where there is none, as the
 * row is shorter than a line, or too long, or comes from too many windows. TSR_OUT_OF_MEMORY. */
tsr_status tsr_lookup_make(tsr_lookup **lookup, const int64_t *src, int64_t n, int64_t bytes,
                           const tsr_allocator *allocator);

/* What a row takes, as tsr_lanes_cost counts. */
double tsr_lookup_cost(const tsr_lookup *lookup);

/* NULL is accepted. */
void tsr_lookup_free(tsr_lookup **lookup, const tsr_allocator *allocator);

#endif
