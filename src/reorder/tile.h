/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_TILE_H
#define TESSERA_SRC_REORDER_TILE_H

#include "reorder/box.h"
#include "reorder/spread.h"

/* The steps of one chain that a tile has, in bytes from its first element. */
typedef struct tsr_side {
    int64_t count;
    int64_t spare; /* steps of the chain that continue those of the tile */
    bool is_first; /* this tile continues none */
    const int64_t *src, *dst, *factor;
} tsr_side;

/* One tile of a box. */
typedef struct tsr_place {
    const tsr_box *box;
    const tsr_kernels *kernels;
    const tsr_conversion *conversion;
    const char *src; /* of the first element; of packed elements, of the buffer, ... */
    char *dst;
    int64_t src_first, dst_first; /* ... in which it is this one */
    int64_t factor;
    tsr_spread *spread;         /* one for all tiles, where the conversion computes; or NULL */
    bool streams_lines;         /* the kernel writes what the box says past the caches: the address allows it */
    int64_t tiles;              /* like this one, */
    int64_t src_tile, dst_tile; /* so many bytes behind each other; or 1 */
    int64_t next_step;          /* of the loop that has the rows in which others go on */
    tsr_side row, column;
} tsr_place;

/* The same with the columns elsewhere, for what fills groups: of the rows, it looks at how many there are, and neither
 * at `spare` nor at dst. */
static inline void tsr_place_view(tsr_place *view, const tsr_place *place)
{
    view->box = place->box;
    view->kernels = place->kernels;
    view->conversion = place->conversion;
    view->src = place->src;
    view->src_first = place->src_first;
    view->factor = place->factor;
    view->spread = place->spread;
    view->streams_lines = place->streams_lines;
    view->tiles = place->tiles;
    view->next_step = place->next_step;
    view->src_tile = place->src_tile;
    view->dst_tile = place->dst_tile;
    view->row.count = place->row.count;
    view->column.src = place->column.src;
    view->column.dst = place->column.dst;
    view->column.factor = place->column.factor;
}

/* The same for what runs a part of a tile: where its rows are, too. */
static inline void tsr_place_view_rows(tsr_place *view, const tsr_place *place)
{
    tsr_place_view(view, place);
    view->row.src = place->row.src;
    view->row.dst = place->row.dst;
    view->row.factor = place->row.factor;
}

/* Does all that lies a multiple of `apart` from the first element begin with a cache line of the destination? */
static inline bool tsr_begins_lines(const tsr_place *place, int64_t apart)
{
    return ((uintptr_t)place->dst | (uintptr_t)apart) % TSR_CACHE_LINE == 0;
}

/* Do no elements lie across the border of two lines of the destination? */
static inline bool tsr_has_aligned_elements(const tsr_place *place)
{
    return (uintptr_t)place->dst % (uintptr_t)place->conversion->dst_bytes == 0;
}

/* Chooses how the tiles of a box are written, and what fills their groups. */
void tsr_tile_choose(tsr_box *box, const tsr_conversion *conversion);

/* Straight from the source to the destination, group by group, whatever else the box says. */
void tsr_tile_run_straight(const tsr_place *place);

/* Lays out the tile of a box that is one, whose tiles have been chosen. */
void tsr_one_tile_init(tsr_one_tile *one, const tsr_box *box, const tsr_workshop *workshop);

#endif
