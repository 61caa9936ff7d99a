/* SPDX-License-Identifier: Apache-2.0 */
/* Factors that are spread out: of random chains, each of its steps, and of rows of them, against where each step takes
 * its own; nothing is read beyond the tables, and no more written behind than is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>

#include "reorder/spread.h"

#include "random.h"

enum { TABLES = 3, MOST_LOOPS = 3, MOST_ROWS = 64, CASES = 20000 };

static const float untouched = -12345.5f;

/* What a spread is asked for. A run has loops, and others a table of where each step lies. */
struct sample {
    tsr_loop loop[MOST_LOOPS];
    tsr_chain chain;
    tsr_factor_side side;
    int64_t *factors;
    int64_t row_factor[MOST_ROWS], last_row; /* and the greatest of them */
    float *table[TABLES];
    tsr_conversion conversion;
    tsr_spread spread;
};

static int64_t factor_of(const struct sample *sample, int64_t step)
{
    int64_t at = 0;
    for (int j = 0; j < sample->chain.count; j++) {
        at += step % sample->loop[j].n * sample->loop[j].factor;
        step /= sample->loop[j].n;
    }
    return at;
}

static void draw_chain(struct sample *sample, tsr_random *random)
{
    tsr_chain *chain = &sample->chain;
    *chain = (tsr_chain){.count = (int)tsr_random_range(random, 1, MOST_LOOPS),
                         .loop = sample->loop,
                         .is_run = !tsr_random_chance(random, 3),
                         .n = 1};
    for (int j = 0; j < chain->count; j++) {
        const int64_t most = tsr_random_chance(random, 4) ? 40 : 16;
        tsr_loop *loop = &sample->loop[j];
        *loop = (tsr_loop){.n = tsr_random_chance(random, 2) ? (int64_t)1 << tsr_random_range(random, 0, 5)
                                                             : tsr_random_range(random, 1, most)};
        loop->factor = tsr_random_chance(random, 3) ? 0 : tsr_random_chance(random, 2) ? 1 : chain->n;
        chain->n *= loop->n;
        chain->has_factor |= loop->factor != 0;
    }
    sample->factors = calloc((size_t)chain->n, sizeof *sample->factors);
    assert_non_null(sample->factors);
    for (int64_t i = 0; i < chain->n; i++)
        sample->factors[i] = factor_of(sample, i);
}

/* Tables that end with the last factor, so that a sanitizer sees what is read behind. */
static void draw(struct sample *sample, tsr_random *random)
{
    draw_chain(sample, random);
    const int64_t first = tsr_random_range(random, 0, 5), apart = tsr_random_range(random, 0, 3);
    int64_t last = 0;
    for (int64_t r = 0; r < MOST_ROWS; r++)
        sample->row_factor[r] = r * apart;
    for (int j = 0; j < sample->chain.count; j++)
        last += (sample->loop[j].n - 1) * sample->loop[j].factor;
    sample->side = (tsr_factor_side){&sample->chain, sample->chain.is_run ? NULL : sample->factors, first, NULL};
    const int64_t length = first + last + sample->row_factor[MOST_ROWS - 1] + 1;
    for (int t = 0; t < TABLES; t++) {
        sample->table[t] = calloc((size_t)length, sizeof **sample->table);
        assert_non_null(sample->table[t]);
        for (int64_t i = 0; i < length; i++)
            sample->table[t][i] = (float)(i + 100000 * t);
    }
    sample->conversion = (tsr_conversion){.stage = TSR_ON_LOAD};
    sample->conversion.arithmetic = (tsr_arithmetic){.scale = sample->table[0],
                                                     .mean = sample->table[1],
                                                     .shift = sample->table[2],
                                                     .scales_only = tsr_random_chance(random, 2)};
    tsr_spread_init(&sample->spread, &sample->conversion);
    for (int64_t i = 0; i < TSR_SPREAD + TSR_SPREAD_BEHIND; i++)
        sample->spread.scale[i] = sample->spread.mean[i] = sample->spread.shift[i] = untouched;
}

static void release(struct sample *sample)
{
    for (int t = 0; t < TABLES; t++)
        free(sample->table[t]);
    free(sample->factors);
}

/* Element i of what was spread takes the factor of step `begin + i % columns`, and of row i / columns, of so many. */
static void check(const struct sample *sample, int64_t begin, int64_t columns, int64_t rows, int64_t n)
{
    const float *found[TABLES] = {sample->spread.scale, sample->spread.mean, sample->spread.shift};
    for (int t = 0; t < TABLES; t++) {
        const bool is_spread = t == 0 || !sample->conversion.arithmetic.scales_only;
        for (int64_t i = 0; i < n && is_spread; i++) {
            const int64_t row = i / columns % rows, step = begin + i % columns;
            const int64_t at = sample->side.first + sample->row_factor[row] + factor_of(sample, step);
            if (found[t][i] != sample->table[t][at])
                fail_msg("table %d, element %d of %d: %g, not %g", t, (int)i, (int)n, (double)found[t][i],
                         (double)sample->table[t][at]);
        }
        for (int64_t i = is_spread ? n + TSR_SPREAD_BEHIND - 1 : 0; i < TSR_SPREAD + TSR_SPREAD_BEHIND; i++)
            assert_true(found[t][i] == untouched);
    }
}

/* The steps of runs come again as often as is asked for. */
static void spread_steps(struct sample *sample, tsr_random *random)
{
    const int64_t begin = tsr_random_range(random, 0, sample->chain.n - 1), period = tsr_factor_period(&sample->chain);
    const int64_t fitting = tsr_random_range(random, 1, TSR_SPREAD), left = sample->chain.n - begin;
    const int64_t n = begin % period == 0 && sample->chain.is_run ? fitting : fitting < left ? fitting : left;
    if (n > period && begin % period != 0)
        return;
    tsr_spread_steps(&sample->spread, &sample->side, begin, n);
    check(sample, begin, n, 1, n);
}

static void spread_rows(struct sample *sample, tsr_random *random)
{
    const int64_t most = sample->chain.n < TSR_SPREAD ? sample->chain.n : TSR_SPREAD;
    const int64_t columns = tsr_random_range(random, 1, most);
    const int64_t all = tsr_random_range(random, 1, TSR_SPREAD / columns);
    const int64_t rows = tsr_random_range(random, 1, all < MOST_ROWS ? all : MOST_ROWS);
    tsr_spread_rows(&sample->spread, &sample->side, sample->row_factor, rows, columns, all);
    check(sample, 0, columns, rows, all * columns);
}

static void for_samples(void (*spread)(struct sample *sample, tsr_random *random))
{
    static struct sample sample;
    tsr_random random;
    tsr_random_seed_from_environment(&random);
    for (int i = 0, cases = tsr_random_cases(CASES); i < cases; i++) {
        draw(&sample, &random);
        spread(&sample, &random);
        release(&sample);
    }
}

static void test_steps(void **state)
{
    (void)state;
    for_samples(spread_steps);
}

static void test_rows(void **state)
{
    (void)state;
    for_samples(spread_rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps), cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
