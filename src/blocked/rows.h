/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_BLOCKED_ROWS_H
#define TESSERA_SRC_BLOCKED_ROWS_H

#include "blocked/move.h"

/*
 * Gives dst the elements of src, both in memory of a device that has copy_rows, and leaves padding alone.
 *
 * TSR_UNSUPPORTED  other types, or no rows that are long enough; nothing has been moved
 * and what the device says
 */
tsr_status tsr_move_rows(tsr_mover *mover, const tsr_located *dst, const tsr_located *src, tsr_error *error);

#endif
