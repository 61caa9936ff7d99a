/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_PLACES_H
#define TESSERA_SRC_REORDER_PLACES_H

#include "reorder/draft.h"

/* So many runs that lie far apart are read side by side. */
enum { TSR_FEW_PAGES = 16 };

/* Are copied runs of so many elements whole lines, of which `next` takes one after the other, more than that and half
 * a page or more from each other? Nothing else in these lines is waited for, and prefetchers follow few of them best.
 * Past a far last cache, a call for so few lines would take too long. */
bool tsr_are_far_lines(const tsr_workshop *workshop, const tsr_loop *next, int64_t run);

/*
 * Do runs of so many elements that continue each other in the source belong to a few places of the destination, in each
 * of which the next ones continue them? Then the source is read in order, and these places are written side by side.
 * Gives how many of them a tile takes: all, half of them, as many as have a line of the source, which is read once
 * then, or 0. Very short runs are not worth it, nor are those with padding behind them, nor those that are better taken
 * in the order of the destination, as those that end inside of lines may be. Sets leaves_gaps of the draft.
 */
int64_t tsr_places_of_runs(tsr_draft *draft, int64_t run);

/*
 * Are runs of so many elements, parts of lines, converted between some places of one side, in each of which they
 * continue each other, and the other side, where those of all places do? And are these places so many that sets lose
 * their lines before the next run comes to them, or from them? Then a tile has some runs of one place, which are a few
 * lines there, and as many of the next one. Gives how many, or 0; and whether it is the destination that has places.
 */
int64_t tsr_runs_by_places(const tsr_draft *draft, int64_t run, bool *are_of_dst);

/* The bytes that a tile should have, of the runs of all its places: less, if lines of the source, of which each place
 * takes a part, have to stay until the last one has; and least, if tables are read beside what is streamed. */
int64_t tsr_bytes_of_places(const tsr_draft *draft, int64_t run);

#endif
