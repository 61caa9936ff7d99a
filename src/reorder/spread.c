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

static void spread_same(tsr_spread *spread, int64_t first, int64_t at, int64_t n)
{
    const tsr_arithmetic *from = spread->from;
    const float mean = from->mean[at], scale = from->scale[at], shift = from->shift[at];
    for (int64_t i = first; i < first + n; i++)
        spread->scale[i] = scale;
    for (int64_t i = first; !spread->scales_only && i < first + n; i++) {
        spread->mean[i] = mean;
        spread->shift[i] = shift;
    }
}

static void spread_side_by_side(tsr_spread *spread, int64_t first, int64_t at, int64_t n)
{
    const tsr_arithmetic *from = spread->from;
    const size_t bytes = (size_t)n * sizeof(float);
    memcpy(spread->scale + first, from->scale + at, bytes);
    if (spread->scales_only)
        return;
    memcpy(spread->mean + first, from->mean + at, bytes);
    memcpy(spread->shift + first, from->shift + at, bytes);
}

/* Of n steps that are `distance` apart. */
static void spread_loop(tsr_spread *spread, int64_t i, int64_t at, int64_t distance, int64_t n)
{
    if (distance == 0)
        spread_same(spread, i, at, n);
    else if (distance == 1)
        spread_side_by_side(spread, i, at, n);
    else
        for (int64_t k = 0; k < n; k++)
            spread_same(spread, i + k, at + k * distance, 1);
}

/* Innermost loop by innermost loop of a run, where they are not equally far from each other all along. What has a table may
 * begin inside of a loop, and is looked up step by step. */
void tsr_spread_steps(tsr_spread *spread, int64_t i, const tsr_factor_side *side, int64_t step, int64_t n)
{
    const tsr_chain *chain = side->chain;
    const int64_t distance = tsr_step_of_factors(&spread->conversion, chain);
    if (distance != TSR_LOOKED_UP) {
        spread_loop(spread, i, tsr_factor_of_step(side, distance == 0 ? 0 : step), distance, n);
        return;
    }
    const int64_t steps = chain->is_run ? chain->loop[0].n : 1;
    for (int64_t done = 0, m; done < n; done += m) {
        m = tsr_min(n - done, steps - (step + done) % steps);
        spread_loop(spread, i + done, tsr_factor_of_step(side, step + done), chain->loop[0].factor, m);
    }
}

/* The first n values again and again. */
static void repeat(float *values, int64_t n, int64_t all)
{
    for (int64_t done = n; done < all; done *= 2)
        memcpy(values + done, values, (size_t)tsr_min(done, all - done) * sizeof *values);
}

void tsr_spread_repeat(tsr_spread *spread, int64_t n, int64_t all)
{
    repeat(spread->scale, n, all);
    if (spread->scales_only)
        return;
    repeat(spread->mean, n, all);
    repeat(spread->shift, n, all);
}
