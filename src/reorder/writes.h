/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_WRITES_H
#define TESSERA_SRC_REORDER_WRITES_H

#include "reorder/box.h"

/* Do runs of a copy that are rows of a tile have all of the cache lines of the source that they have parts of? */
bool tsr_reads_whole_lines(const tsr_chain *row, int64_t run, const tsr_conversion *conversion);

/*
 * How a box whose tiles are known writes its destination: straight from the registers, with lines fetched ahead or
 * not, or past the caches, if the address allows it (streams_lines); or by way of scratch memory, from where whole
 * lines go through the caches (buffers) or past them (streams). And how it reads the source.
 */
void tsr_choose_writes(tsr_box *box, const tsr_workshop *workshop);

#endif
