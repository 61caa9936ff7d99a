/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_WRITES_H
#define TESSERA_SRC_REORDER_WRITES_H

#include "reorder/box.h"

/*
 * How a box whose tiles are known writes its destination: straight from the registers, with lines fetched ahead or
 * not, or past the caches, if the address allows it (streams_lines); or by way of scratch memory, from where whole
 * lines go through the caches (buffers) or past them (streams). And how it reads the source.
 */
void tsr_choose_writes(tsr_box *box, const tsr_workshop *workshop);

/* So many rows of a transpose have a line of the destination in the first-level cache at once. */
int64_t tsr_rows_in_sets(const tsr_chain *row, const tsr_conversion *conversion);

/*
 * Kernels that write the lines of a transpose past the caches themselves copy nothing, and no store waits for a line.
 * Lines that share sets are slow to reach memory, but less so if their neighbours follow soon: so many of each row
 * should. 0 if there is no such kernel, or the caches are as fast.
 */
int64_t tsr_lines_to_stream(const tsr_chain *row, const tsr_chain *column, const tsr_workshop *workshop);

#endif
