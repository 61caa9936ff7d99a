/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_SPREAD_H
#define TESSERA_SRC_REORDER_SPREAD_H

#include <stdalign.h>

#include "reorder/chain.h"
#include "reorder/convert.h"

/* So many values are spread out at most. They are written several at a time, the last of them behind what is wanted. */
enum { TSR_SPREAD = 1024, TSR_SPREAD_BEHIND = 16 };

/*
 * Values of the tables of factors, spread out as a row of elements needs them: a conversion that takes those of its
 * element i from i on, in steps of 1. Means and shifts are left unset where there are none. They stay for the next row,
 * or tile, that needs the same.
 */
typedef struct tsr_spread {
    tsr_conversion conversion;
    const tsr_arithmetic *from; /* the tables */
    const tsr_chain *chain;     /* of whose steps they are, if they are those of a side; */
    const int64_t *factors;     /* which has this table, */
    int64_t first, step, n;     /* and first factor: from this step on, so many; or 0 */
    alignas(TSR_CACHE_LINE) float mean[TSR_SPREAD + TSR_SPREAD_BEHIND], scale[TSR_SPREAD + TSR_SPREAD_BEHIND],
        shift[TSR_SPREAD + TSR_SPREAD_BEHIND];
} tsr_spread;

void tsr_spread_init(tsr_spread *spread, const tsr_conversion *conversion);

/* One side of a tile, as it takes its factors: from `first` on, in the tables of the conversion. */
typedef struct tsr_factor_side {
    const tsr_chain *chain;
    const int64_t *factors; /* its table, of the tile */
    int64_t first;
    tsr_spread *spread; /* of all tiles of the box, for those that are looked up */
} tsr_factor_side;

/* No distance: the factors of each step are looked up. */
enum { TSR_LOOKED_UP = -1 };

/* How far the factors of a step and the next one are from each other, 0 or 1; or TSR_LOOKED_UP. */
static inline int64_t tsr_step_of_factors(const tsr_conversion *conversion, const tsr_chain *chain)
{
    if (!tsr_computes(conversion) || !chain->has_factor)
        return 0;
    return chain->count == 1 && chain->loop[0].factor == 1 ? 1 : TSR_LOOKED_UP;
}

/* Where step i takes its factors. A run has no table, but loops. */
static inline int64_t tsr_factor_of_step(const tsr_factor_side *side, int64_t i)
{
    const tsr_chain *chain = side->chain;
    int64_t at = side->first;
    if (!chain->is_run)
        return at + side->factors[i];
    for (int j = 0; j < chain->count; j++) {
        at += i % chain->loop[j].n * chain->loop[j].factor;
        i /= chain->loop[j].n;
    }
    return at;
}

/* After so many steps they are the same again. */
int64_t tsr_factor_period(const tsr_chain *chain);

/* So many steps are spread out at a time, if there is room for `fitting`: they need not be again, if all have their
 * period. */
static inline int64_t tsr_spread_chunk(int64_t period, int64_t fitting)
{
    return period <= fitting ? fitting / period * period : fitting;
}

/* The factors of steps [step, step + n), unless they are there. */
void tsr_spread_steps(tsr_spread *spread, const tsr_factor_side *side, int64_t step, int64_t n);

/* Those of the first `columns` steps, for one row behind the other: row r takes its factors row_factor[r] further on.
 * There are `all` rows, whose factors are those of the first `rows` again and again. */
void tsr_spread_rows(tsr_spread *spread, const tsr_factor_side *side, const int64_t *row_factor, int64_t rows,
                     int64_t columns, int64_t all);

#endif
