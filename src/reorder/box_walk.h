/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_BOX_WALK_H
#define TESSERA_SRC_REORDER_BOX_WALK_H

#include "reorder/box.h"

/* Orders the outer loops of a box and the tiles of both chains, so that what lies close together in either memory is
 * done soon after each other. The bytes of a row are known. */
void tsr_box_make_walk(tsr_box *box, const tsr_workshop *workshop);

#endif
