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
 * The order of runs that continue each other in the source, and belong to several places of the destination, in each of
 * which the next ones continue them; or the other way round, from several places of the source.
 */
typedef struct tsr_order {
    int64_t places;         /* of the destination: so many get one run each, and then the next one; or 0 */
    int64_t runs;           /* or so many are of one place, a few lines there, and as many of the next one; or 0 */
    bool has_places_at_dst; /* these places are of the destination */
} tsr_order;

/*
 * Chooses it for runs of so many elements. A few places, all or half of them, are written side by side, so that the
 * source is read in order. Else, runs that are parts of lines of places, more than sets have lines for until the next
 * run comes, are taken by places; or as many places are written as have a line of the source, so that it is read once.
 * All is 0 for very short runs of a copy, with padding behind them, and where the order of the destination is better.
 * Sets leaves_gaps of the draft.
 */
tsr_order tsr_order_of_runs(tsr_draft *draft, int64_t run);

/* The bytes that a tile should have, of the runs of all its places: less, if lines of the source, of which each place
 * takes a part, have to stay until the last one has; and least, if tables are read beside what is streamed. */
int64_t tsr_bytes_of_places(const tsr_draft *draft, int64_t run);

#endif
