/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_LANES_H
#define TESSERA_SRC_REORDER_LANES_H

#include <tessera/memory.h>

#include "reorder/lookup.h"

/* So many lanes that are alike are no long stretch. */
enum { TSR_FEW_ALIKE = 4 };

/* How a row of elements is shuffled. {0} where none is needed, or none pays. */
typedef struct tsr_lanes {
    tsr_lane *lane;
    int64_t count;  /* lanes, and the sentinel behind them */
    int64_t alike;  /* so many are in long stretches of one order, and equally far from each other; or 0, if few are */
    int64_t bytes;  /* which each has, */
    int64_t window; /* and from which its parts are read */
    int64_t n;
    int64_t *src;       /* of each element */
    tsr_lookup *lookup; /* of the whole row, if that takes less; or NULL */
} tsr_lanes;

/* Elements of a row that lie at inner[i % inner_count] + outer[i / inner_count] in the source. */
typedef struct tsr_lane_row {
    const int64_t *inner, *outer;
    int64_t inner_count, outer_count;
    int64_t bytes; /* of an element */
} tsr_lane_row;

/* Cuts a row into lanes with as many elements as they may hold, with windows of 16 bytes, or of 64.
 * TSR_OUT_OF_MEMORY. */
tsr_status tsr_lanes_init(tsr_lanes *lanes, const tsr_lane_row *row, int64_t window, const tsr_allocator *allocator);

/* Do parts hold so many elements and more? Those of the last lane, which begins early, make no difference to many that
 * are alike. */
bool tsr_lanes_are_filled(const tsr_lanes *lanes, int64_t bytes, int64_t least);

/* A tile that is shuffled by them. */
static inline void tsr_lanes_set(tsr_tile *tile, const tsr_lanes *lanes)
{
    tile->lanes = lanes->lane;
    tile->lookup = lanes->lookup;
    tile->lane_bytes = lanes->bytes;
    tile->lane_window = lanes->window;
    tile->has_alike_lanes = lanes->alike > 0;
}

/* Do they have all elements of a row? */
static inline bool tsr_lanes_are_whole(const tsr_lanes *lanes, int64_t bytes)
{
    return lanes->lane && lanes->lane[lanes->count - 1].dst == lanes->n * bytes;
}

/* What each of them takes for so many rows, all together: lane by lane, or of those that are alike, along the rows. */
double tsr_lanes_cost(const tsr_lanes *lanes, int64_t times, bool go_along_rows);

/* How many parts are loaded and shuffled: those of lanes that have more than a few count twice, as their orders are
 * loaded each time; of a look-up, pairs of windows, for each line. */
int64_t tsr_lanes_parts(const tsr_lanes *lanes);

/* How many there are, whatever their parts; or lines of a look-up. */
int64_t tsr_lanes_stored(const tsr_lanes *lanes);

/* {0} is accepted. */
void tsr_lanes_reset(tsr_lanes *lanes, const tsr_allocator *allocator);

#endif
