/* SPDX-License-Identifier: Apache-2.0 */
/* Which neighbours count as one element, and what a nest is when they do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reorder/unit.h"

/* A transpose of 5x7 runs. */
static tsr_nest nest_of_runs(int64_t run)
{
    return (tsr_nest){.src = 3 * run,
                      .dst = 2 * run,
                      .count = 3,
                      .loop = {{.n = 7, .src = run, .dst = 5 * run},
                               {.n = 5, .src = 7 * run, .dst = run},
                               {run, 1, 1, 0, 0, NULL, NULL}}};
}

static void test_runs(void **state)
{
    (void)state;
    for (int64_t run = 1; run <= 16; run++)
        for (int64_t bytes = 1; bytes <= 16; bytes *= 2) {
            const tsr_nest nest = nest_of_runs(run);
            const bool is_unit = (run == 2 || run == 4 || run == 8 || run == 16) && run * bytes <= 16;
            assert_int_equal(tsr_unit_of_nest(&nest, 8 * bytes, false), is_unit ? run : 1);
        }
    const tsr_nest none = {0}, alone = {.count = 1, .loop = {{.n = 4, .src = 1, .dst = 1}}};
    assert_int_equal(tsr_unit_of_nest(&none, 8, false), 1);
    assert_int_equal(tsr_unit_of_nest(&alone, 8, false), 1);
}

/* So many rows of odd ones, and so many columns, as kernels take: two lanes, and one. */
static void test_odd_runs(void **state)
{
    (void)state;
    for (int64_t run = 1; run <= 20; run++)
        for (int64_t bytes = 1; bytes <= 8; bytes *= 2)
            for (int64_t rows = 1; rows <= 9; rows++)
                for (int64_t columns = 1; columns <= 7; columns++) {
                    const int64_t all = run * bytes, slots = all <= 4 ? 4 : all <= 8 ? 2 : 1;
                    const bool is_power = (run & (run - 1)) == 0;
                    const bool is_unit =
                        all <= 16 && (is_power || (rows >= 2 * slots && columns >= slots && columns > 1));
                    const tsr_nest nest = {.count = 3,
                                           .loop = {{.n = rows, .src = rows % 2 ? run : -run, .dst = columns * run},
                                                    {.n = columns, .src = rows * run, .dst = run},
                                                    {.n = run, .src = 1, .dst = 1}}};
                    assert_int_equal(tsr_unit_of_nest(&nest, 8 * bytes, true), is_unit ? run : 1);
                    assert_int_equal(tsr_unit_of_nest(&nest, 8 * bytes, false), is_unit && is_power ? run : 1);
                }
    /* many of which are scattered, where rows are so short */
    for (int64_t rows = 63; rows <= 64; rows++)
        for (int64_t columns = 5; columns <= 6; columns++) {
            const tsr_nest nest = {.count = 3,
                                   .loop = {{.n = rows, .src = 3, .dst = columns * 3},
                                            {.n = columns, .src = rows * 3, .dst = 3},
                                            {.n = 3, .src = 1, .dst = 1}}};
            assert_int_equal(tsr_unit_of_nest(&nest, 8, true), rows == 64 && columns == 5 ? 1 : 3);
        }
    /* runs of a tensor whose rows stay rows, and 4 bits */
    const tsr_nest rows = {
        .count = 3,
        .loop = {{.n = 9, .src = 300, .dst = 27}, {.n = 9, .src = 30, .dst = 3}, {3, 1, 1, 0, 0, NULL, NULL}}};
    assert_int_equal(tsr_unit_of_nest(&rows, 8, true), 1);
    const tsr_nest halves = nest_of_runs(3);
    assert_int_equal(tsr_unit_of_nest(&halves, 4, true), 1);
}

/* Different units of two nests have none in common unless they are powers of two. */
static void test_common_unit(void **state)
{
    (void)state;
    assert_int_equal(tsr_common_unit(4, 2), 2);
    assert_int_equal(tsr_common_unit(2, 8), 2);
    assert_int_equal(tsr_common_unit(3, 3), 3);
    assert_int_equal(tsr_common_unit(3, 6), 1);
    assert_int_equal(tsr_common_unit(4, 6), 1);
}

/* Of 4 bits, whole bytes are units at least, of runs of any length. */
static void test_halves(void **state)
{
    (void)state;
    for (int64_t run = 1; run <= 70; run++) {
        const tsr_nest nest = nest_of_runs(run);
        const bool is_unit = run == 2 || run == 4 || run == 8 || run == 16 || run == 32;
        assert_int_equal(tsr_unit_of_nest(&nest, 4, false), is_unit ? run : run % 2 == 0 ? 2 : 1);
    }
    const tsr_nest alone = {.count = 1, .loop = {{.n = 4, .src = 1, .dst = 1}}};
    assert_int_equal(tsr_unit_of_nest(&alone, 4, false), 2);
    tsr_nest nest = nest_of_runs(40);
    nest.src++;
    assert_int_equal(tsr_unit_of_nest(&nest, 4, false), 1);
    nest = nest_of_runs(40);
    nest.loop[0].dst++;
    assert_int_equal(tsr_unit_of_nest(&nest, 4, false), 1);
    nest = nest_of_runs(40);
    nest.loop[2].src = 2;
    assert_int_equal(tsr_unit_of_nest(&nest, 4, false), 1);
}

/* Of single bits likewise, which are eight to a byte. */
static void test_bits(void **state)
{
    (void)state;
    for (int64_t run = 1; run <= 260; run++) {
        const tsr_nest nest = nest_of_runs(run);
        const bool is_unit = run == 8 || run == 16 || run == 32 || run == 64 || run == 128;
        assert_int_equal(tsr_unit_of_nest(&nest, 1, true), is_unit ? run : run % 8 == 0 ? 8 : 1);
    }
    tsr_nest nest = nest_of_runs(40);
    nest.loop[0].dst += 4;
    assert_int_equal(tsr_unit_of_nest(&nest, 1, true), 1);
}

/* One number that is no multiple, and there are no units. */
static void test_what_breaks_a_unit(void **state)
{
    static const int64_t table[] = {0, 4, 8, 12, 16};
    (void)state;
    const tsr_nest whole = nest_of_runs(4);
    int64_t *numbers[6];
    for (int i = 0; i < 6; i++) {
        tsr_nest nest = whole;
        numbers[0] = &nest.src;
        numbers[1] = &nest.dst;
        numbers[2] = &nest.loop[0].src;
        numbers[3] = &nest.loop[0].dst;
        numbers[4] = &nest.loop[1].src;
        numbers[5] = &nest.loop[1].dst;
        *numbers[i] += 2;
        assert_int_equal(tsr_unit_of_nest(&nest, 8, false), 1);
        *numbers[i] += 2;
        assert_int_equal(tsr_unit_of_nest(&nest, 8, false), 4);
    }
    tsr_nest nest = whole;
    nest.loop[1].src_table = nest.loop[1].dst_table = table;
    assert_int_equal(tsr_unit_of_nest(&nest, 8, false), 1);
    nest = whole;
    nest.loop[2].padding = 4;
    assert_int_equal(tsr_unit_of_nest(&nest, 8, false), 1);
    nest = whole;
    nest.loop[0].factor = 1;
    assert_int_equal(tsr_unit_of_nest(&nest, 8, false), 1);
    nest = whole;
    nest.loop[2].src = -1;
    assert_int_equal(tsr_unit_of_nest(&nest, 8, false), 1);
}

/* In units, the runs are gone, and everything else is shorter. */
static void test_count(void **state)
{
    (void)state;
    const tsr_nest nest = nest_of_runs(4);
    tsr_nest counted;
    tsr_unit_count(&counted, &nest, 4);
    assert_int_equal(counted.src, 3);
    assert_int_equal(counted.dst, 2);
    assert_int_equal(counted.count, 2);
    assert_int_equal(counted.loop[0].n, 7);
    assert_int_equal(counted.loop[0].src, 1);
    assert_int_equal(counted.loop[0].dst, 5);
    assert_int_equal(counted.loop[1].n, 5);
    assert_int_equal(counted.loop[1].src, 7);
    assert_int_equal(counted.loop[1].dst, 1);
    assert_int_equal(tsr_nest_elements(&counted), 35);
}

/* Padding has units where it is written in whole ones. */
static void test_padding(void **state)
{
    (void)state;
    tsr_nest padding = {.dst = 52, .count = 2, .loop = {{.n = 20, .dst = 32}, {.n = 12, .dst = 1}}}, counted;
    assert_int_equal(tsr_unit_of_padding(1, &padding, 8), 1);
    assert_int_equal(tsr_unit_of_padding(4, &padding, 8), 4);
    assert_int_equal(tsr_unit_of_padding(16, &padding, 8), 4);
    assert_int_equal(tsr_unit_of_padding(16, &padding, 4), 4);
    assert_int_equal(tsr_unit_of_padding(16, &padding, 1), 1);
    tsr_unit_count(&counted, &padding, 4);
    assert_int_equal(counted.dst, 13);
    assert_int_equal(counted.count, 2);
    assert_int_equal(counted.loop[0].dst, 8);
    assert_int_equal(counted.loop[1].n, 3);
    assert_int_equal(counted.loop[1].dst, 1);
    padding.loop[1].n = 10;
    assert_int_equal(tsr_unit_of_padding(4, &padding, 8), 2);
    padding.loop[1] = (tsr_loop){.n = 3, .dst = 4};
    assert_int_equal(tsr_unit_of_padding(4, &padding, 8), 1);
    padding.dst = 51;
    assert_int_equal(tsr_unit_of_padding(1, &padding, 8), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_odd_runs),
        cmocka_unit_test(test_common_unit),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_what_breaks_a_unit),
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_padding),
        cmocka_unit_test(test_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
