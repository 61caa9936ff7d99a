/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_READS_H
#define TESSERA_SRC_REORDER_READS_H

#include "reorder/box.h"

/* How a box reads its source, and which lines of either side it asks for before it needs them. How it writes is
 * known. */
void tsr_choose_reads(tsr_box *box, const tsr_workshop *workshop);

#endif
