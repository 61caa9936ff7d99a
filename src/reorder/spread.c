/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/spread.h"

#include <string.h>

#include "base/int.h"

void tsr_spread_init(tsr_spread *spread, const tsr_conversion *conversion)
{
    tsr_arithmetic *arithmetic = &spread->conversion.arithmetic;
    spread->conversion = *conversion;
    spread->from = &conversion->arithmetic;
    spread->scales_only = conversion->arithmetic.scales_only && conversion->stage != TSR_BETWEEN;
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

/* The same value n times, and some behind these. */
static inline void fill_values(float *to, float value, int64_t n)
{
    const float same[TSR_SAME_VALUES] = {value, value, value, value};
    for (int64_t i = 0; i < n; i += TSR_SAME_VALUES)
        memcpy(to + i, same, sizeof same);
}

/* So many values are mostly so few that a call takes longer than to copy them. */
static inline void copy_values(float *to, const float *from, int64_t n)
{
    enum { FEW = 64, STEP = 4 };
    int64_t i = 0;
    if (n > FEW) {
        memcpy(to, from, (size_t)n * sizeof *to);
        return;
    }
    for (; i + STEP <= n; i += STEP)
        memcpy(to + i, from + i, STEP * sizeof *to);
    for (; i < n; i++)
        to[i] = from[i];
}

static inline void spread_same(tsr_spread *spread, int64_t i, int64_t at, int64_t n)
{
    const tsr_arithmetic *from = spread->from;
    fill_values(spread->scale + i, from->scale[at], n);
    if (spread->scales_only)
        return;
    fill_values(spread->mean + i, from->mean[at], n);
    fill_values(spread->shift + i, from->shift[at], n);
}

static inline void spread_side_by_side(tsr_spread *spread, int64_t i, int64_t at, int64_t n)
{
    const tsr_arithmetic *from = spread->from;
    copy_values(spread->scale + i, from->scale + at, n);
    if (spread->scales_only)
        return;
    copy_values(spread->mean + i, from->mean + at, n);
    copy_values(spread->shift + i, from->shift + at, n);
}

/* Of n steps that are `distance` apart. */
static inline void spread_loop(tsr_spread *spread, int64_t i, int64_t at, int64_t distance, int64_t n)
{
    if (distance == 0)
        spread_same(spread, i, at, n);
    else if (distance == 1)
        spread_side_by_side(spread, i, at, n);
    else
        for (int64_t k = 0; k < n; k++)
            spread_same(spread, i + k, at + k * distance, 1);
}

/* The first n values from element i on again and again, until there are `all`. */
static inline void repeat(float *values, int64_t n, int64_t all)
{
    for (int64_t done = n; done < all; done *= 2)
        copy_values(values + done, values, tsr_min(done, all - done));
}

static inline void spread_repeat(tsr_spread *spread, int64_t i, int64_t n, int64_t all)
{
    repeat(spread->scale + i, n, all);
    if (spread->scales_only)
        return;
    repeat(spread->mean + i, n, all);
    repeat(spread->shift + i, n, all);
}

/* Where they are not equally far from each other all along: innermost loop by innermost loop of a run, until they are the
 * same again. What has a table may begin inside of a loop, and is looked up step by step. */
void tsr_spread_steps(tsr_spread *spread, int64_t i, const tsr_factor_side *side, int64_t step, int64_t n)
{
    const tsr_chain *chain = side->chain;
    const int64_t steps = chain->is_run ? chain->loop[0].n : 1, differ = tsr_min(n, tsr_factor_period(chain));
    for (int64_t done = 0, m; done < differ; done += m) {
        m = tsr_min(differ - done, steps - (step + done) % steps);
        spread_loop(spread, i + done, tsr_factor_of_step(side, step + done), chain->loop[0].factor, m);
    }
    spread_repeat(spread, i, differ, n);
}

void tsr_spread_rows(tsr_spread *spread, const tsr_factor_side *side, const int64_t *row_factor, int64_t rows,
                     int64_t columns, int64_t all)
{
    const int64_t distance = tsr_step_of_factors(&spread->conversion, side->chain);
    const int64_t first = tsr_factor_of_step(side, 0);
    if (distance == TSR_LOOKED_UP)
        for (int64_t r = 0; r < rows; r++) {
            const tsr_factor_side row = {side->chain, side->factors, side->first + row_factor[r]};
            tsr_spread_steps(spread, r * columns, &row, 0, columns);
        }
    else
        for (int64_t r = 0; r < rows; r++)
            spread_loop(spread, r * columns, first + row_factor[r], distance, columns);
    spread_repeat(spread, 0, rows * columns, all * columns);
}
