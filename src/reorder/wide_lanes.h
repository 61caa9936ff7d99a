/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_WIDE_LANES_H
#define TESSERA_SRC_REORDER_WIDE_LANES_H

#include "reorder/draft.h"

/* What lanes are for that have 64 bytes, and windows of as many. False on rungs that have none. */

/* Are n short runs, side by side in the destination and `pitch_bytes` apart in the source, better taken so than one by
 * one? */
bool tsr_are_runs_in_wide_lanes(const tsr_draft *draft, int64_t n, int64_t run_bytes, int64_t pitch_bytes);

/* So many loops that lie side by side in the destination, from the innermost one on, are columns of a tile, as lines of
 * it come from few windows where a transpose would have small tiles, or tables; 0 where they do not. */
int tsr_loops_in_wide_lanes(const tsr_draft *draft);

/* So many loops, behind the run that the columns have, are columns as well, as lines have several runs from each window
 * that they come from; 0 where they do not. */
int tsr_loops_of_runs_in_wide_lanes(const tsr_draft *draft);

#endif
