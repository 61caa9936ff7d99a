/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_WRITES_H
#define TESSERA_SRC_REORDER_WRITES_H

#include "reorder/box.h"

/* So many bytes from each other, lines map onto one set of a first-level cache, which has at least so many of them. */
enum { TSR_PERIOD_OF_SETS = 4 << 10, TSR_WAYS = 8 };

enum { TSR_PAGE = 4 << 10 };

/* Do runs of a copy that are rows of a tile have all of the cache lines of the source that they have parts of? */
bool tsr_reads_whole_lines(const tsr_chain *row, int64_t run, const tsr_conversion *conversion);

/* Do rows begin so far from each other in the destination that they map onto a few sets of the caches, or nearly so? */
bool tsr_rows_share_sets(const tsr_chain *row, const tsr_conversion *conversion);

/* Elements whose transposes have more to do for each cache line. */
static inline bool tsr_is_narrow(int64_t bytes)
{
    return bytes <= 2;
}

/*
 * How a box whose tiles are known writes its destination: straight from the registers, with lines fetched ahead or
 * not, or past the caches, if the address allows it (streams_lines); or by way of scratch memory, from where whole
 * lines go through the caches (buffers) or past them (streams). And how it reads the source.
 */
void tsr_choose_writes(tsr_box *box, const tsr_workshop *workshop);

/* Do rows that begin inside of lines pass slowly from set to set, as they are a few bytes more or less than a multiple of
 * 512 apart? */
bool tsr_rows_drift(const tsr_chain *row, const tsr_conversion *conversion);

/* So many rows of a transpose have a line of the destination in the first-level cache at once. */
int64_t tsr_rows_in_sets(const tsr_chain *row, const tsr_workshop *workshop);

/*
 * Kernels that write the lines of a transpose past the caches themselves copy nothing, and no store waits for a line.
 * How many lines of each row a tile should have for that; 0 if there is no such kernel, or another way is as fast.
 */
int64_t tsr_lines_to_stream(const tsr_chain *row, const tsr_chain *column, const tsr_workshop *workshop);

/* Should a kernel find the lines of rows which begin anywhere, to write them past the caches? */
bool tsr_finds_lines(const tsr_chain *row, const tsr_chain *column, const tsr_workshop *workshop);

#endif
