/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_LINES_INSIDE_H
#define TESSERA_SRC_REORDER_LINES_INSIDE_H

#include "reorder/tile.h"

/*
 * A box whose kernel would write lines past the caches, but that the destination begins inside of one, as memory of
 * `malloc` does. Are there lines all the same, which other rows, or other columns, begin with? They are equally far
 * behind the begin of each row.
 */
bool tsr_has_lines_inside(const tsr_place *place);

/* Moves a tile by these lines. One that two tiles share belongs to the first of them, which reads for it what the next
 * one has. What fills none goes through the caches. */
void tsr_run_lines_inside(const tsr_place *place);

#endif
