/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_COLUMNS_H
#define TESSERA_SRC_REORDER_COLUMNS_H

#include "reorder/draft.h"

/*
 * How many columns a tile of a transpose should have, by the caches and by where rows and columns lie. Rows are what
 * lies side by side in the source, columns in the destination; both have their first loop. What the caller of a plan
 * asked for (tile_bytes) is taken as far as scratch memory has room.
 */
int64_t tsr_wanted_columns(const tsr_draft *draft);

/* The same once all rows are known: of columns that fill no line of the source, or are as short as kernels move in one
 * go, a tile has more. */
int64_t tsr_columns_of_few_rows(const tsr_draft *draft);

/* Packed elements that are unpacked behind a transpose are so many rows of scratch memory: of 4 bits those of a cache
 * line of the source, or of half of it, which leaves room for more columns of what becomes wide. */
static inline int64_t tsr_rows_to_unpack(const tsr_conversion *conversion)
{
    return conversion->dst_bytes <= 2 ? 2 * TSR_CACHE_LINE : TSR_CACHE_LINE;
}

/* So many have room in scratch memory. */
int64_t tsr_most_columns(const tsr_conversion *conversion);

/* Prefetchers follow few streams, and none beyond its page: so many steps of a loop lie in so many pages of the
 * source. */
int64_t tsr_steps_in_pages(const tsr_draft *draft, const tsr_loop *loop, int64_t pages);

#endif
