/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_BLOCKED_ROWS_H
#define TESSERA_SRC_BLOCKED_ROWS_H

#include "blocked/move.h"

/*
 * Gives dst, which has no padding that is to be zeroed, the elements of src, both in memory of a device that has
 * copy_rows, as the plan of a move has lowered them.
 *
 * TSR_UNSUPPORTED  other types, no rows that are long enough, or no memory; nothing has been moved
 * and what the device says
 */
tsr_status tsr_move_rows(const tsr_planned_move *move, tsr_mover *mover, const tsr_located *dst, const tsr_located *src,
                         tsr_error *error);

#endif
