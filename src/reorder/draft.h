/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_DRAFT_H
#define TESSERA_SRC_REORDER_DRAFT_H

#include "base/int.h"
#include "reorder/box.h"

/* A box while its tiles are shaped: which loops of its nest have become rows and columns, and which are free. */
typedef struct tsr_draft {
    const tsr_nest *nest;
    const tsr_workshop *workshop;
    bool is_taken[TSR_MAX_LOOPS];
    tsr_loop rest;     /* over the parts of the places of runs, or of their runs, of which rows have one; or 0 steps */
    bool has_places;   /* rows take turns among places */
    bool leaves_gaps;  /* the runs of all places do, in the source */
    bool scatters;     /* rows are pixels that lie among others, evenly and near each other */
    bool pads_pixels;  /* rows are pixels that a kernel lays among padding, as they are or converted */
    bool goes_by_rows; /* of a transpose, all columns of a few rows come before the next ones */
    tsr_chain *row, *column;
    int64_t rows, columns; /* that a tile should have */
} tsr_draft;

/* A stride that may be anything, even a table. */
#define TSR_ANY INT64_MIN

static inline bool tsr_has_stride(const int64_t *table, int64_t stride, int64_t wanted)
{
    return wanted == TSR_ANY || (!table && stride == wanted);
}

/* The innermost free loop with these strides, or NULL. */
static inline const tsr_loop *tsr_find_loop(const tsr_draft *draft, int64_t src, int64_t dst)
{
    for (int i = draft->nest->count - 1; i >= 0; i--) {
        const tsr_loop *loop = &draft->nest->loop[i];
        if (!draft->is_taken[i] && tsr_has_stride(loop->src_table, loop->src, src) &&
            tsr_has_stride(loop->dst_table, loop->dst, dst))
            return loop;
    }
    return NULL;
}

/* Moves it into a chain, outside of what is there. */
static inline bool tsr_take_loop(tsr_draft *draft, tsr_chain *chain, int64_t src, int64_t dst)
{
    const tsr_loop *loop = tsr_find_loop(draft, src, dst);
    if (!loop)
        return false;
    draft->is_taken[loop - draft->nest->loop] = true;
    chain->loop[chain->count++] = *loop;
    return true;
}

static inline int64_t tsr_steps_of(const tsr_chain *chain)
{
    int64_t n = 1;
    for (int j = 0; j < chain->count; j++)
        n *= chain->loop[j].n;
    return n;
}

/* Takes the loop that goes on where a chain ends, in the source for rows and in the destination for columns, unless it
 * has enough steps or ends with padding. */
static inline bool tsr_grow(tsr_draft *draft, tsr_chain *chain, int64_t enough)
{
    int64_t n = tsr_steps_of(chain);
    if (chain->count > 0 && chain->loop[chain->count - 1].padding > 0)
        return false;
    return n < enough &&
           (chain == draft->row ? tsr_take_loop(draft, chain, n, TSR_ANY) : tsr_take_loop(draft, chain, TSR_ANY, n));
}

static inline int64_t tsr_widest_type(const tsr_conversion *conversion)
{
    return tsr_max(conversion->src_bytes, conversion->dst_bytes);
}

#endif
