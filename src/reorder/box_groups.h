/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_BOX_GROUPS_H
#define TESSERA_SRC_REORDER_BOX_GROUPS_H

#include "reorder/box.h"

/*
 * How much of a box is moved at a time: rows of a tile, in groups (group.h) that may have scratch memory; or several
 * tiles, by one call of a kernel. How it reads and writes is known. TSR_OUT_OF_MEMORY.
 */
tsr_status tsr_box_make_groups(tsr_box *box, const tsr_workshop *workshop);

#endif
