/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_SETS_H
#define TESSERA_SRC_REORDER_SETS_H

#include "reorder/box.h"

/*
 * How far the rows and columns of a transpose lie from each other, and which of them map onto the same sets of a cache.
 */

enum { TSR_PAGE = 4 << 10 };

/* How far rows begin from each other in the destination; 1 if that differs. */
int64_t tsr_pitch_of(const tsr_chain *row, const tsr_conversion *conversion);

/* How far columns begin from each other in the source; 0 if that differs. */
int64_t tsr_distance_of(const tsr_chain *column, const tsr_conversion *conversion);

/* Do lines so far apart map onto a few sets, or even onto one, or nearly so? */
bool tsr_share_sets(int64_t bytes);
bool tsr_share_one_set(int64_t bytes);

/* Do rows begin so far from each other in the destination that they map onto a few sets of the caches, or nearly so? */
bool tsr_rows_share_sets(const tsr_chain *row, const tsr_conversion *conversion);

/* Do rows that begin inside of lines pass slowly from set to set, as they are a few bytes more or less than a multiple
 * of an eighth of a period apart? */
bool tsr_rows_drift(const tsr_chain *row, const tsr_conversion *conversion);

/* The largest power of two that divides the distance of rows in the destination, at least a line: the more, the fewer
 * sets they have. */
int64_t tsr_period_of(const tsr_chain *row, const tsr_conversion *conversion);

/* So many lines at this distance from each other, or at several that are or-ed here, have room in the first-level cache
 * at once. */
int64_t tsr_lines_in_l1(int64_t distance);

/* The same of the second-level cache, at one distance. */
int64_t tsr_lines_in_l2(int64_t distance);

/* Are there so many columns, as far as they are equally far from each other, that a set which they share loses the
 * lines of some before they are read again? */
bool tsr_exceed_set(const tsr_chain *column);

/* Of so many lines, up to 255, that begin at these bytes, the most that share a set of the first-level cache. */
int64_t tsr_most_of_set(const int64_t *at, int64_t n);

/* So many rows of a transpose have a line of the destination in the first-level cache at once. */
int64_t tsr_rows_in_sets(const tsr_chain *row, const tsr_conversion *conversion);

/* Do the lines that a core with deep sets has under way, one of each of the next rows, crowd a set? Then so many rows
 * keep theirs, and leave some to the source; INT64_MAX if they do not. */
int64_t tsr_rows_of_crowd(const tsr_chain *row, const tsr_workshop *workshop);
static inline bool tsr_rows_crowd_sets(const tsr_chain *row, const tsr_workshop *workshop)
{
    return tsr_rows_of_crowd(row, workshop) < INT64_MAX;
}

/* How many rows of a tile, at least, are a multiple of such a period apart. */
int64_t tsr_rows_of_period(const tsr_box *box, const tsr_conversion *conversion);

/*
 * Do rows of a transpose take turns among some places that share a set, as the pixels of filters do, of which each lies
 * among those of other filters? And are they better brought side by side in scratch memory, a line of each, and written
 * place by place? There have to be whole lines for all, of columns that are equally far from each other.
 */
bool tsr_buffers_places(const tsr_chain *row, const tsr_chain *column, const tsr_workshop *workshop);

/* Of that many, or a multiple, all lines of the source are whole, and all places have as many. */
int64_t tsr_rows_of_places(const tsr_chain *row, const tsr_conversion *conversion);

/* Does a block write the sets that it reads? It does if rows there and columns here are one element more than some
 * halves of a period apart. */
bool tsr_meets_its_source(const tsr_box *box, const tsr_conversion *conversion);

#endif
