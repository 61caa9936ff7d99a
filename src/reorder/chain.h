/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_CHAIN_H
#define TESSERA_SRC_REORDER_CHAIN_H

#include <tessera/memory.h>

#include "reorder/nest.h"

/*
 * One side of a box's tiles: a few loops of its nest, innermost first, walked as one. In memory
 * they need not continue each other on both sides, nor be linear: where each step lies is looked up
 * in tables. A chain is cut into tiles of `step` steps, the last of which may be shorter, in such a
 * way that one table will do for all tiles: only the outermost loop is cut.
 *
 * Offsets are in bytes.
 */
typedef struct tsr_chain {
    int count;
    tsr_loop *loop;      /* innermost first; in elements */
    bool is_run;         /* steps lie side by side, and the tables have but the first of them */
    int64_t n;           /* steps of all tiles */
    int64_t step, tiles; /* steps of a tile, except perhaps the last; tiles */
    tsr_loop tile;       /* the loop over tiles: in bytes, but in elements where it has tables */
    bool is_table;       /* it has, as the outermost loop does, and each tile has its own part of the tables */
    bool has_factor;     /* some step has a factor that is not 0 */
    int64_t length;      /* of each table: a tile and the spare steps behind it, as far as there are any */
    int64_t *src, *dst;  /* where a step lies from the first step of its tile */
    int64_t *factor;     /* and in the table of scales and means */
} tsr_chain;

/* Does the outermost loop go on where a row of so many elements ends in the destination? */
static inline bool tsr_rows_go_on(const tsr_chain *row, int64_t elements)
{
    const tsr_loop *outermost = row->count > 0 ? &row->loop[row->count - 1] : NULL;
    return outermost && !tsr_loop_has_table(outermost) && outermost->dst == elements;
}

/* Of all loops but the outermost; 1 if there are none. */
int64_t tsr_inner_steps_of(const tsr_chain *chain);

/*
 * Fills in everything but count, loop and is_run, which are there. A tile has about `wanted` steps. The
 * tables reach `spare` steps beyond a tile where the chain goes on. TSR_OUT_OF_MEMORY.
 */
tsr_status tsr_chain_init(tsr_chain *chain, int64_t wanted, int64_t spare, int64_t src_bytes, int64_t dst_bytes,
                          const tsr_allocator *allocator);

/* Frees the tables. {0} is accepted. */
void tsr_chain_reset(tsr_chain *chain, const tsr_allocator *allocator);

#endif
