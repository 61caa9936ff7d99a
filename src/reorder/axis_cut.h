/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_AXIS_CUT_H
#define TESSERA_SRC_REORDER_AXIS_CUT_H

#include "reorder/axis.h"

/* An axis whose blocks do not nest, and that is cut at those of one side, as axis.h tells. */

/* Finds where it is better cut than looked up in steps of what both sides have in common. False if nowhere. */
bool tsr_axis_find_cut(tsr_axis *axis, tsr_cut_rules rules);

/* Makes its table. TSR_OUT_OF_MEMORY. */
tsr_status tsr_axis_cut(tsr_axis *axis, const tsr_allocator *allocator);

/* The pieces of all of it: what comes before the first block, each block of a period, what is left behind the last
 * one. */
int tsr_axis_blocks(const tsr_axis *axis, tsr_piece *pieces);

/* Adds the loops of such a piece to a nest. */
void tsr_axis_add_block(const tsr_axis *axis, const tsr_piece *piece, tsr_nest *nest);

#endif
