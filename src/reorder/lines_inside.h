/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_LINES_INSIDE_H
#define TESSERA_SRC_REORDER_LINES_INSIDE_H

#include "reorder/tile.h"

/*
 * A destination that begins inside of a cache line, as memory of `malloc` does. Are there lines all the same, equally
 * far behind the begin of each row, that are worth to be written whole: past the caches, or by wide vectors through
 * them?
 */
bool tsr_has_lines_inside(const tsr_place *place);

/* Moves a tile by these lines. One that two tiles share belongs to the first of them, but of runs to the second, which
 * reads for it what the other one has. What fills none goes through the caches. */
void tsr_run_lines_inside(const tsr_place *place);

#endif
