/* SPDX-License-Identifier: Apache-2.0 */
/* Machines with other caches than this one: what tiles take of them, and that everything is right there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/topology.h"
#include "reorder/caches.h"
#include "reorder/plan.h"
#include "reorder/relay.h"

#include "plan_samples.h"
#include "right.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { KIB = 1 << 10 };

/* As if the process ran there, until it is told otherwise. */
static void pretend(int64_t l1_bytes, int64_t l1_period_bytes, int64_t l2_bytes)
{
    static tsr_topology machine;
    tsr_topology_pretend(NULL);
    machine = *tsr_topology_machine();
    machine.l1_bytes = l1_bytes;
    machine.l1_period_bytes = l1_period_bytes;
    machine.l2_bytes = l2_bytes;
    machine.l3_bytes = 32 * l2_bytes;
    tsr_topology_pretend(&machine);
}

static int stop_pretending(void **state)
{
    (void)state;
    tsr_topology_pretend(NULL);
    return 0;
}

static void test_shares(void **state)
{
    static const struct {
        int64_t l1, l2, of_l1, of_l2; /* in KB, and 8 KB of each as measured */
    } machines[] = {
        {32, 512, 8, 8}, {48, 2048, 8, 8}, {64, 1024, 8, 8}, {16, 256, 4, 4}, {24, 384, 6, 6}, {1, 1, 1, 1},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(machines); i++) {
        pretend(machines[i].l1 * KIB, 4 * KIB, machines[i].l2 * KIB);
        assert_int_equal(tsr_share_of_l1(8 * KIB), machines[i].of_l1 * KIB);
        assert_int_equal(tsr_share_of_l2(8 * KIB), machines[i].of_l2 * KIB);
    }
}

static void test_sets(void **state)
{
    (void)state;
    pretend(48 * KIB, 4 * KIB, 512 * KIB);
    assert_int_equal(tsr_period_of_sets(), 4 * KIB);
    assert_int_equal(tsr_lines_of_set(), 12);
    pretend(64 * KIB, 16 * KIB, 512 * KIB);
    assert_int_equal(tsr_period_of_sets(), 16 * KIB);
    assert_int_equal(tsr_lines_of_set(), 4);
    pretend(512, 4 * KIB, 512 * KIB);
    assert_int_equal(tsr_lines_of_set(), 1);
}

static tsr_plan *planned(const char *text, int threads)
{
    workload work;
    tsr_plan *plan = NULL;
    assert_int_equal(workload_init(&work, text, NULL), TSR_OK);
    work.options.threads = threads;
    assert_int_equal(tsr_plan_create(&plan, &work.problem.src, &work.problem.dst, &work.options, NULL), TSR_OK);
    workload_reset(&work);
    return plan;
}

/* The rows of a group, and of a tile of pixels, in caches of 32 KB and of 16. */
static void test_tiles(void **state)
{
    (void)state;
    int64_t rows[2], pixels[2];
    for (int is_small = 0; is_small < 2; is_small++) {
        pretend(is_small ? 16 * KIB : 32 * KIB, 4 * KIB, 512 * KIB);
        tsr_plan *plan = planned("f32:nchw>u8:nhwc 1x64x56x56", 1);
        tsr_plan *image = planned("u8:nhwc>u8:nchw 2x3x128x256", 1);
        rows[is_small] = plan->boxes[0].scratch.rows;
        pixels[is_small] = image->boxes[0].column.step;
        tsr_plan_free(&plan);
        tsr_plan_free(&image);
    }
    assert_int_equal(rows[0], 16 * KIB / 64);
    assert_int_equal(rows[1], rows[0] / 2);
    assert_int_equal(pixels[0], 48 * KIB / 3);
    assert_int_equal(pixels[1], pixels[0] / 2);
}

/* The tensors between are wanted in a share of the second-level cache. */
static void test_slices(void **state)
{
    (void)state;
    int64_t slices[2];
    for (int is_small = 0; is_small < 2; is_small++) {
        pretend(32 * KIB, 4 * KIB, is_small ? 128 * KIB : 512 * KIB);
        tsr_plan *plan = planned("u8:nChw16c>u8:nChw3c 1x48x512x512", 1);
        assert_non_null(plan->relay);
        slices[is_small] = plan->relay->cut.slices;
        tsr_plan_free(&plan);
    }
    assert_true(slices[0] > 48 * 512 * 512 / (64 * KIB));
    assert_true(slices[1] >= 4 * slices[0]);
}

/* Rows and columns whose distances are periods of some of the machines, and everything else that plans do. */
static void test_right(void **state)
{
    static const char *const problems[] = {
        "u8:ab>u8:ba 4096x66",
        "u8:ab>u8:ba 1024x1024",
        "f32:ab>f32:ba 1024x130",
        "f32:nchw>f32:nhwc 2x64x32x32",
        "bf16:nhwc>bf16:nchw 1x64x64x64",
        "f32:nhwc>f32:nChw16c 2x256x16x16",
        "u8:nhwc>f32:nchw 1x3x224x224 scale[1] mean[1]",
        "f32:nchw>f32:nChw16c 1x3x112x112",
        "u8:nChw12c>u8:nChw8c 1x24x112x112",
        "f32:nchw>s8:nhwc 1x64x56x56 scale[1]",
        "f64:ab>f64:ba 513x513",
    };
    static const struct {
        int64_t l1, period, l2;
    } machines[] = {{16, 4, 128}, {64, 16, 256}, {48, 4, 2048}, {128, 8, 512}, {1, 1, 8}};
    (void)state;
    for (size_t i = 0; i < COUNT(machines); i++)
        for (size_t j = 0; j < COUNT(problems) + COUNT(plan_samples); j++) {
            const char *problem = j < COUNT(problems) ? problems[j] : plan_samples[j - COUNT(problems)];
            pretend(machines[i].l1 * KIB, machines[i].period * KIB, machines[i].l2 * KIB);
            tsr_plan *plan = planned(problem, 1 + (int)j % 2);
            assert_right(plan, problem);
            tsr_plan_free(&plan);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_shares, stop_pretending),
        cmocka_unit_test_teardown(test_sets, stop_pretending),
        cmocka_unit_test_teardown(test_tiles, stop_pretending),
        cmocka_unit_test_teardown(test_slices, stop_pretending),
        cmocka_unit_test_teardown(test_right, stop_pretending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
