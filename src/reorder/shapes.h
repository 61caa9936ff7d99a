/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_SHAPES_H
#define TESSERA_SRC_REORDER_SHAPES_H

#include "reorder/draft.h"
#include "reorder/scratch.h"

/*
 * What tiles look like whose elements are transposed or lie in runs. Each shape takes loops of a draft, says how many
 * rows and columns a tile should have, and how they move; shape.c chooses among these and some more.
 */

/* More rows or columns do not fit into the tables of scratch memory, nor would longer runs fit into that; these are cut
 * unless they are converted straight to where they belong. */
enum { TSR_MOST_STEPS = TSR_SCRATCH_ROWS, TSR_RUN_BYTES = 16 << 10 };

/* In how many parts is what a tile has so far to be cut for threads? In so few that with the steps of the loops that no
 * chain has taken yet, no thread has an eighth more to do than others: 1, if these are many, or as many for each. */
int64_t tsr_shared_parts(const tsr_draft *draft);

/* So many steps of a chain in a tile, at most. Tiles are about alike, and end with lines, or with whole inner loops if
 * there are any. */
int64_t tsr_shared_steps(const tsr_draft *draft, const tsr_chain *chain, int64_t most, int64_t line);

/* A long run is a tile of its own, unless threads want to share it; of short ones, a tile has many. */
void tsr_want_runs(tsr_draft *draft, int64_t most_columns);

/* ---- shape_transpose.c: rows and columns have a loop each ---- */

tsr_motion tsr_shape_transpose(tsr_draft *draft);

/* ---- shape_padded.c: pixels with padding, or other channels, behind a few ---- */

/* Of pixels that lie side by side, with padding behind the few channels that the column has. These are parted, and
 * joined again with zeros. */
bool tsr_take_padded_pixels(tsr_draft *draft);

/* Or which a kernel of their own moves, or converts. */
bool tsr_take_pixels_among_padding(tsr_draft *draft);

tsr_motion tsr_shape_padded_pixels(tsr_draft *draft);

/* And those that are dense only in the destination. */
bool tsr_take_pixels_from_padding(tsr_draft *draft);
tsr_motion tsr_shape_unpadded_pixels(tsr_draft *draft);

/* ---- shape_copy.c: columns have a loop, which is a run ---- */

/* Rows continue the run in the destination, if they can, and should; where they cannot, or there are too few for a
 * tile, they are what there is near the run. */
tsr_motion tsr_shape_copy(tsr_draft *draft);

/* Pixels that lie among others, a few bytes each, as one channel or three of four do: the loop over them, or NULL. */
const tsr_loop *tsr_find_scattered(const tsr_draft *draft);
tsr_motion tsr_shape_scattered(tsr_draft *draft, const tsr_loop *pixels);

#endif
