/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_BOX_LANES_H
#define TESSERA_SRC_REORDER_BOX_LANES_H

#include "reorder/box.h"

/*
 * Cuts the columns of a pick into lanes, or the pixels of an interleave or a deinterleave that are not where kernels
 * want them: with windows of 16 bytes or, where the rung has these, of 64, and of one row or several, whichever takes
 * less. There are none where they are not worth it. Tables and walk of the box are made. TSR_OUT_OF_MEMORY.
 */
tsr_status tsr_box_make_lanes(tsr_box *box, const tsr_workshop *workshop);

#endif
