/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_WRITES_H
#define TESSERA_SRC_REORDER_WRITES_H

#include "reorder/box.h"

/*
 * How a box whose tiles are known writes its destination: straight from the registers, with lines fetched ahead or
 * not, or past the caches, if the address allows it (streams_lines); or by way of scratch memory, from where whole
 * lines go through the caches (buffers) or past them (streams.h). And how it reads the source (reads.h).
 */
void tsr_choose_writes(tsr_box *box, const tsr_workshop *workshop);

#endif
