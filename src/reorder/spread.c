/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/spread.h"

#include <string.h>

#include "base/int.h"

void tsr_spread_init(tsr_spread *spread, const tsr_conversion *conversion)
{
    tsr_arithmetic *arithmetic = &spread->conversion.arithmetic;
    spread->conversion = *conversion;
    spread->from = &conversion->arithmetic;
    spread->n = 0;
    arithmetic->mean = spread->mean;
    arithmetic->scale = spread->scale;
    arithmetic->shift = spread->shift;
}

int64_t tsr_factor_period(const tsr_chain *chain)
{
    int64_t period = 1, steps = 1;
    for (int j = 0; j < chain->count; j++) {
        steps *= chain->loop[j].n;
        period = chain->loop[j].factor != 0 ? steps : period;
    }
    return period;
}

/* ---- one table ---- */

enum { VECTOR = 4 };
typedef float vector __attribute__((vector_size(4 * VECTOR), aligned(4), may_alias));

/* The same value n times, and some behind these. */
static inline void fill(float *to, float value, int64_t n)
{
    for (int64_t i = 0; i < n; i += VECTOR)
        *(vector *)(to + i) = (vector){value, value, value, value};
}

/* So many values are mostly so few that a call takes longer than to copy them. */
static inline void copy(float *to, const float *from, int64_t n)
{
    enum { FEW = 64 };
    int64_t i = 0;
    if (n > FEW) {
        memcpy(to, from, (size_t)n * sizeof *to);
        return;
    }
    for (; i + VECTOR <= n; i += VECTOR)
        *(vector *)(to + i) = *(const vector *)(from + i);
    for (; i < n; i++)
        to[i] = from[i];
}

/* Of n steps that are `distance` apart. */
static inline void spread_loop(float *to, const float *from, int64_t distance, int64_t n)
{
    if (distance == 0)
        fill(to, *from, n);
    else if (distance == 1)
        copy(to, from, n);
    else
        for (int64_t k = 0; k < n; k++)
            to[k] = from[k * distance];
}

/* The first n values again and again, until there are `all`. */
static inline void repeat(float *values, int64_t n, int64_t all)
{
    for (int64_t done = n; done < all; done *= 2)
        copy(values + done, values, tsr_min(done, all - done));
}

/* Those of another table, of 4, 8 or 16 values; some more are written behind. A constant n keeps them in registers. */
static inline void repeat_few(float *to, const float *from, int64_t n, int64_t all)
{
    enum { VECTORS = TSR_SPREAD_BEHIND / VECTOR };
    vector few[VECTORS];
#pragma GCC unroll 4
    for (int k = 0; k < VECTORS; k++)
        few[k] = *(const vector *)(from + k * VECTOR % n);
    for (int64_t i = 0; i < all; i += TSR_SPREAD_BEHIND)
#pragma GCC unroll 4
        for (int k = 0; k < VECTORS; k++)
            *(vector *)(to + i + k * VECTOR) = few[k];
}

/* n values that are side by side again and again. */
static inline void copy_and_repeat(float *to, const float *from, int64_t n, int64_t all)
{
    if (n == 4) {
        repeat_few(to, from, 4, all);
    } else if (n == 8) {
        repeat_few(to, from, 8, all);
    } else if (n == 16) {
        repeat_few(to, from, 16, all);
    } else {
        copy(to, from, n);
        repeat(to, n, all);
    }
}

/* ---- steps that are looked up ---- */

/* Steps until they are the same again, innermost loop by innermost loop of a run; what has a table may begin inside of
 * a loop, and is looked up step by step. The first loop may have begun before. */
struct pieces {
    int64_t differ, first, each; /* so many steps in all, in the first piece, and in each other */
    int64_t distance;            /* of those of a piece */
    int64_t at[TSR_SPREAD];
};

/* Where a run has its first loop end, the others count on: to divide for each piece takes longer than to spread it. */
static void find_pieces_of_run(struct pieces *pieces, const tsr_factor_side *side, int64_t step)
{
    const tsr_loop *loop = side->chain->loop;
    const int count = side->chain->count;
    int64_t digit[TSR_MAX_LOOPS], at = side->first;
    for (int j = 0; j < count; j++) {
        digit[j] = step % loop[j].n;
        at += digit[j] * loop[j].factor;
        step /= loop[j].n;
    }
    pieces->at[0] = at;
    at -= digit[0] * loop[0].factor;
    for (int64_t done = pieces->first, k = 1; done < pieces->differ; done += pieces->each, k++) {
        for (int j = 1; j < count; j++) {
            at += loop[j].factor;
            if (++digit[j] < loop[j].n)
                break;
            at -= loop[j].n * loop[j].factor;
            digit[j] = 0;
        }
        pieces->at[k] = at;
    }
}

static void find_pieces(struct pieces *pieces, const tsr_factor_side *side, int64_t step, int64_t n)
{
    const tsr_chain *chain = side->chain;
    pieces->differ = tsr_min(n, tsr_factor_period(chain));
    pieces->each = chain->is_run ? chain->loop[0].n : 1;
    pieces->first = pieces->each - step % pieces->each;
    pieces->distance = chain->loop[0].factor;
    if (chain->is_run)
        find_pieces_of_run(pieces, side, step);
    else
        for (int64_t k = 0; k < pieces->differ; k++)
            pieces->at[k] = tsr_factor_of_step(side, step + k);
}

static void spread_pieces(float *to, const float *from, const struct pieces *pieces)
{
    const int64_t differ = pieces->differ, each = pieces->each;
    if (each == 1) { /* a short loop takes half as long again where it lies across two cache lines */
#pragma GCC unroll 4
        for (int64_t k = 0; k < differ; k++)
            to[k] = from[pieces->at[k]];
        return;
    }
    int64_t m = tsr_min(pieces->first, differ);
    for (int64_t done = 0, k = 0; done < differ; done += m, m = tsr_min(each, differ - done), k++)
        spread_loop(to + done, from + pieces->at[k], pieces->distance, m);
}

/* Are all that differ side by side? */
static bool has_one_piece(const struct pieces *pieces)
{
    return pieces->differ <= pieces->first && pieces->distance == 1;
}

static void spread_all(float *to, const float *from, const struct pieces *pieces, int64_t n)
{
    if (has_one_piece(pieces)) {
        copy_and_repeat(to, from + pieces->at[0], pieces->differ, n);
    } else {
        spread_pieces(to, from, pieces);
        repeat(to, pieces->differ, n);
    }
}

/* ---- rows ---- */

/* Rows of a few columns, each of which have the same factor. Constants make a row two instructions. */
static inline void fill_rows(float *to, const float *from, const int64_t *row_factor, int64_t rows, int64_t columns)
{
    if (columns <= VECTOR)
        for (int64_t r = 0; r < rows; r++)
            fill(to + r * columns, from[row_factor[r]], VECTOR);
    else if (columns <= 2 * VECTOR)
        for (int64_t r = 0; r < rows; r++)
            fill(to + r * columns, from[row_factor[r]], 2 * VECTOR);
    else
        for (int64_t r = 0; r < rows; r++)
            fill(to + r * columns, from[row_factor[r]], columns);
}

/* Steps are so far from each other in the table; or pieces are where they lie, and not NULL. */
static void spread_rows(float *to, const float *from, const tsr_factor_side *side, int64_t distance,
                        const struct pieces *pieces, const int64_t *row_factor, int64_t rows, int64_t columns)
{
    const float *first = from + tsr_factor_of_step(side, 0);
    if (pieces)
        for (int64_t r = 0; r < rows; r++)
            spread_all(to + r * columns, from + row_factor[r], pieces, columns);
    else if (distance == 1)
        for (int64_t r = 0; r < rows; r++)
            copy(to + r * columns, first + row_factor[r], columns);
    else
        fill_rows(to, first, row_factor, rows, columns);
}

/* ---- those that kernels look at ---- */

enum { MOST_TABLES = 3 };

/* The tables that are spread out, and where to; how many they are. */
static int tables_of(tsr_spread *spread, const float *from[MOST_TABLES], float *to[MOST_TABLES])
{
    const tsr_arithmetic *tables = spread->from;
    from[0] = tables->scale, to[0] = spread->scale;
    from[1] = tables->mean, to[1] = spread->mean;
    from[2] = tables->shift, to[2] = spread->shift;
    return tables->scales_only ? 1 : MOST_TABLES;
}

void tsr_spread_steps(tsr_spread *spread, const tsr_factor_side *side, int64_t step, int64_t n)
{
    struct pieces pieces;
    const float *from[MOST_TABLES];
    float *to[MOST_TABLES];
    if (spread->n >= n && spread->chain == side->chain && spread->factors == side->factors &&
        spread->first == side->first && spread->step == step)
        return;
    spread->chain = side->chain;
    spread->factors = side->factors;
    spread->first = side->first;
    spread->step = step;
    spread->n = n;
    find_pieces(&pieces, side, step, n);
    for (int i = 0, tables = tables_of(spread, from, to); i < tables; i++)
        spread_all(to[i], from[i], &pieces, n);
}

void tsr_spread_rows(tsr_spread *spread, const tsr_factor_side *side, const int64_t *row_factor, int64_t rows,
                     int64_t columns, int64_t all)
{
    const int64_t distance = tsr_step_of_factors(&spread->conversion, side->chain);
    const bool is_looked_up = distance == TSR_LOOKED_UP;
    struct pieces pieces;
    const float *from[MOST_TABLES];
    float *to[MOST_TABLES];
    spread->n = 0;
    if (is_looked_up)
        find_pieces(&pieces, side, 0, columns);
    for (int i = 0, tables = tables_of(spread, from, to); i < tables; i++) {
        spread_rows(to[i], from[i], side, distance, is_looked_up ? &pieces : NULL, row_factor, rows, columns);
        repeat(to[i], rows * columns, all * columns);
    }
}
