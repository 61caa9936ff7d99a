/* SPDX-License-Identifier: Apache-2.0 */
/* Plans on one buffer: every way of doing it, the bound of scratch memory, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing_allocator.h"
#include "parsed.h"
#include "random.h"
#include "runner.h"
#include "workload.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const unsigned rungs[] = {TSR_CPU_ALL, TSR_CPU_AVX2, 0};

static void *allocate(int64_t bytes)
{
    void *memory = malloc((size_t)bytes + 1);
    assert_non_null(memory);
    return memory;
}

static int64_t buffer_bytes(const tsr_problem *problem)
{
    int64_t src = tsr_desc_size_bytes(&problem->src), dst = tsr_desc_size_bytes(&problem->dst);
    return src > dst ? src : dst;
}

/* Runs a plan and the definition. */
static void check_result(const char *text, const tsr_plan *plan, const tsr_problem *problem,
                         const tsr_reorder_options *options)
{
    int64_t bytes = tsr_desc_size_bytes(&problem->src);
    void *src = allocate(bytes);
    bool is_right;
    tsr_error error = {0};
    fill_awkward(src, (size_t)bytes, 7);
    if (verify_plan(plan, &problem->src, src, &problem->dst, options, &is_right, &error) != TSR_OK || !is_right)
        fail_msg("%s in place, row %s: %s", text, tsr_plan_get_info(plan).row, error.message);
    free(src);
}

/* A plan in place for a problem text, with its factors; the workload is the caller's to reset. */
static tsr_plan *plan_in_place(workload *work, const char *text, const char *row, int threads, int64_t scratch_bytes)
{
    tsr_plan *plan = NULL;
    tsr_error error = {0};
    assert_int_equal(workload_init(work, text, NULL), TSR_OK);
    work->options.in_place = true;
    work->options.row = row;
    work->options.threads = threads;
    work->options.scratch_bytes = scratch_bytes;
    if (tsr_plan_create(&plan, &work->problem.src, &work->problem.dst, &work->options, &error) != TSR_OK)
        fail_msg("%s in place, row %s: %s", text, row ? row : "any", error.message);
    return plan;
}

static const struct {
    const char *row, *problem;
} ways[] = {
    {"alias", "f32:ab>f32:ba 1x1"},
    {"alias", "u8:nChw8c>u8:nChw8c 2x19x3x5"},
    {"alias", "q78:a>q78:a 5"},
    {"elementwise", "f32:ab>f32:ab 7x33 scale[1] mean"},
    {"elementwise", "f32:ab>s32:ab 7x1033"},
    {"elementwise", "s32:ab>f32:ab 7x1033"},
    {"elementwise", "f64:ab>s64:ab 300x33"},
    {"elementwise", "s64:ab>f64:ab 7x33 shift"},
    {"elementwise", "f16:ab>bf16:ab 200x733"},
    {"elementwise", "u8:nhwc>s8:nhwc 2x3x200x300 mean[1] shift[1]"},
    {"elementwise", "u8:nhwc>s8:nhwc 1x2x37x57 scale[1] mean[1]"},
    {"elementwise", "u8:nhwc>s8:nhwc 1x4x37x57 scale[1] beta"},
    {"elementwise", "bf16:ab>f16:ab 50x301 scale[1] beta"},
    {"elementwise", "u8:nchw>bool:nchw 2x3x4x5"},
    {"elementwise", "f32:nChw16c>s32:nChw16c 2x19x5x7 scale[1/4]"},
    {"elementwise", "f32:ab>f32:ab 50x300 scale beta"},
    {"elementwise", "s16:[a5:100,b11:3]+2>f16:[a5:100,b11:3]+2 4x9 scale[0]"},
    {"elementwise", "u16:aBC3b2c>s16:aBC3b2c 2x25x7 scale[1]"},
    {"elementwise", "f32:ab>f32:[a3:5,b5:1] 1x5"}, /* nothing moves, but there is padding */
    {"elementwise", "f32:abcdefghi>f32:abcdefghi 3x3x2x3x3x3x3x3x3 scale[8]"},
    {"square", "u8:ab>u8:ba 2x2"},
    {"square", "u8:ab>u8:ba 300x300"},
    {"square", "u8:ab>u8:ba 128x128"},
    {"square", "s16:ab>s16:ba 129x129"},
    {"square", "f32:ab>f32:ba 63x63"},
    {"square", "f32:ab>f32:ba 64x64"},
    {"square", "f32:ab>f32:ba 300x300"},
    {"square", "u64:ab>u64:ba 33x33"},
    {"square", "u64:ab>u64:ba 301x301"},
    {"square", "f32:abc>f32:acb 19x7x7"},
    {"square", "u8:abc>u8:acb 300x33x33"},
    {"square", "f32:abcd>f32:cdab 6x4x3x8"},
    {"square", "u16:abc>u16:cba 70x3x70"},
    {"square", "u8:abc>u8:bac 100x100x3"},
    {"square", "u8:abc>u8:bac 130x130x2"},
    {"square", "f32:abc>f32:bac 20x20x300"},
    {"square", "f32:abcd>f32:adcb 5x9x4x9"},
    {"square", "f64:abcde>f64:cbade 5x3x5x7x3"},
    {"square", "f32:[a40:100,b40:1]+3>f32:[b40:100,a40:1]+3 40x40"},
    {"square", "f32:[a9:200,b9:20,c9:2]>f32:[a9:200,c9:20,b9:2] 9x9x9"},
    {"square", "f32:[a40:100,b50:1]>f32:[b40:100,a50:1] 40x40"}, /* with padding */
    {"square", "f32:ab>s32:ba 65x65 scale[1] mean[1]"},
    {"square", "f16:ab>bf16:ba 200x200 shift"},
    {"slices", "f32:ab>f32:ba 30x31"},
    {"slices", "f32:nchw>f32:nhwc 4x3x20x31"},
    {"slices", "f32:nhwc>f32:nchw 20x50x20x31"},
    {"slices", "f32:nchw>f32:nChw16c 2x19x5x7"},
    {"slices", "f32:nChw16c>f32:nchw 2x19x5x7"},
    {"slices", "f32:nChw16c>f32:nChw8c 20x25x30x41"},
    {"slices", "u8:nhwc>f32:nchw 1x3x200x310 scale[1] mean[1]"},
    {"slices", "f32:nchw>u8:nhwc 2x19x5x7 scale[1]"},
    {"slices", "f32:ab>f16:ab 300x301"},
    {"slices", "bf16:ab>f64:ba 30x31 shift[1]"},
    {"slices", "f32:ab>f32:ba 30x31 beta"},
    {"slices", "f32:ab>f32:ab 700x33 scale[1]"},
    {"slices", "u32:aBc8b>u32:aBc12b 1x103x3"},
    {"slices", "u8:nhwc>u8:nhwc 2x3x8x9 reverse[1]"},
    {"slices", "f32:[a4:0,b9]+40>f32:ba 4x9"},
    {"slices", "f32:ab>f32:[a20:9,b9:1]+7 20x9"}, /* it only moves on */
    {"slices", "f32:ab>f32:[a100:40,b33:1] 100x33"},
    {"slices", "f32:[a100:40,b33:1]>f16:[a100:80,b33:1] 100x33"}, /* rows of as many bytes */
    {"slices", "f32:abc>f32:acb 2003x3x5"},
    {"slices", "f32:abc>f32:acb 2000x3x5 scale[0]"},
    {"slices", "f32:abcdefghi>s8:ABCDEFGHI2i2b2c2d2e2f2g2h2a 3x3x2x3x3x3x3x3x3"},
    {"slices", "f32:ab>f32:ba 0x5 scale"},
    {"cycles", "u8:ab>u8:ba 30x31"},
    {"cycles", "u16:ab>u16:ba 2x3"},
    {"cycles", "f32:ab>f32:ba 101x301"},
    {"cycles", "u64:abcd>u64:dcba 5x7x3x11"},
    {"cycles", "f32:abc>f32:acb 200x30x31"},
    {"cycles", "f32:nchw>f32:nhwc 4x3x20x31"},
    {"cycles", "f32:oihw>f32:OIhw16i16o 32x48x3x3"},
    {"cycles", "f32:abcd>f32:acbd 3x5x7x9"},
    {"cycles", "u8:abc>u8:bac 5x7x3000"},
    {"cycles", "u8:nhwc>u8:nhwc 2x3x8x9 reverse[1]"},
    {"cycles", "u8:ab>u8:ba 9x8 reverse[0] reverse[1]"},
    {"cycles", "s16:abc>s16:cba 9x8x5 reverse[1]"},
    {"cycles", "f32:[a30:93,b31:3]+4>f32:[b31:90,a30:3]+4 30x31"},
    {"cycles", "f32:ab>s32:ba 65x66 scale[1]"},
    {"cycles", "s8:nhwc>u8:nchw 3x19x20x30 mean[1] shift[1]"},
};

static void test_ways(void **state)
{
    (void)state;
    for (size_t rung = 0; rung < COUNT(rungs); rung++) {
        tsr_cpu_set_mask(rungs[rung]);
        for (size_t i = 0; i < COUNT(ways); i++)
            for (int threads = 1; threads <= 2; threads++) {
                workload work;
                tsr_plan *plan = plan_in_place(&work, ways[i].problem, ways[i].row, threads, 0);
                tsr_plan_free(&plan);
                work.options.padding = (rung + i) % 2 ? TSR_PADDING_KEEP : TSR_PADDING_ZERO;
                assert_int_equal(tsr_plan_create(&plan, &work.problem.src, &work.problem.dst, &work.options, NULL),
                                 TSR_OK);
                assert_string_equal(tsr_plan_get_info(plan).row, ways[i].row);
                check_result(ways[i].problem, plan, &work.problem, &work.options);
                tsr_plan_free(&plan);
                workload_reset(&work);
            }
    }
    tsr_cpu_set_mask(TSR_CPU_ALL);
}

/* What is taken where there is a choice. */
static void test_choice(void **state)
{
    static const struct {
        const char *problem;
        int64_t scratch_bytes;
        const char *line;
    } rows[] = {
        {"f32:ab>f32:ab 40x40", 0, "alias, 1 box, 0 zero boxes, copy_8_c, 1 thread"},
        {"f32:ab>f32:ab 40x40 scale", 0, "elementwise, 1 box, 0 zero boxes, rows, 1 thread"},
        {"f32:ab>f32:ba 40x40", 0, "square, 1 box, 0 zero boxes, transpose_32_c, 1 thread"},
        {"f32:[a40:80,b40:2]>f32:[b40:80,a40:2] 40x40", 1, "square, 1 box, 0 zero boxes, pick_32_c, 1 thread"},
        {"u8:abc>u8:bac 40x40x300", 0, "square, 1 box, 0 zero boxes, swap, 1 thread"},
        {"f32:ab>f32:ba 40x41", 0, "slices, 1 box, 0 zero boxes, transpose_32_c, 1 thread"},
        {"f32:ab>f32:ba 40x41", 6560, "slices, 1 box, 0 zero boxes, transpose_32_c, 1 thread"},
        {"f32:ab>f32:ba 40x41", 6559, "cycles, 1 box, 0 zero boxes, marked, 1 thread"},
        {"f32:ab>f32:ba 40x41", 208, "cycles, 1 box, 0 zero boxes, marked, 1 thread"},
        {"f32:ab>f32:ba 40x41", 207, "cycles, 1 box, 0 zero boxes, unmarked, 1 thread"},
        {"f32:abc>f32:acb 9x40x41", 6560, "slices, 1 box, 0 zero boxes, transpose_32_c, 1 thread"},
        {"f32:abc>f32:acb 9x40x41", 6559, "cycles, 1 box, 0 zero boxes, marked, 1 thread"},
    };
    (void)state;
    tsr_cpu_set_mask(0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char line[128];
        workload work;
        tsr_plan *plan = plan_in_place(&work, rows[i].problem, NULL, 1, rows[i].scratch_bytes);
        tsr_plan_describe(plan, line, sizeof line);
        assert_string_equal(line, rows[i].line);
        check_result(rows[i].problem, plan, &work.problem, &work.options);
        tsr_plan_free(&plan);
        workload_reset(&work);
    }
    tsr_cpu_set_mask(TSR_CPU_ALL);
}

/* ---- refusals ---- */

static void test_refusals_of_create(void **state)
{
    static const struct {
        const char *problem, *row;
        int64_t scratch_bytes;
        tsr_status status;
        const char *message;
    } rows[] = {
        {"f32:ab>f32:ba 2x3", NULL, -1, TSR_INVALID_ARGUMENT, "expected 0 or more bytes of scratch memory, found -1"},
        {"f32:ab>u8:ba 30x31", NULL, 3719, TSR_UNSUPPORTED,
         "no way in place: 3720 bytes of scratch memory are needed, and 3719 are allowed"},
        {"f32:nchw>f32:nChw16c 2x19x5x7", NULL, 1, TSR_UNSUPPORTED,
         "no way in place: 5320 bytes of scratch memory are needed, and 1 are allowed"},
        {"f32:nChw16c>f32:nChw8c 9x25x5x7", NULL, 4451, TSR_UNSUPPORTED,
         "no way in place: 4452 bytes of scratch memory are needed, and 4451 are allowed"},
        {"f32:ab>f32:ba 30x31", "slices", 3719, TSR_UNSUPPORTED,
         "row slices does not apply: 3720 bytes of scratch memory are needed, and 3719 are allowed"},
        {"f32:ab>f32:ba 30x30", "transpose", 0, TSR_UNSUPPORTED, "row transpose does not apply: it takes two buffers"},
        {"f32:ab>f32:ba 30x30", "alias", 0, TSR_UNSUPPORTED,
         "row alias does not apply: source and destination are different memory"},
        {"f32:ab>f32:ba 30x30", "elementwise", 0, TSR_UNSUPPORTED,
         "row elementwise does not apply: elements change their places"},
        {"f32:ab>f16:ab 30x30", "elementwise", 0, TSR_UNSUPPORTED,
         "row elementwise does not apply: the types differ in width"},
        {"f32:ab>f16:ba 30x30", "square", 0, TSR_UNSUPPORTED, "row square does not apply: the types differ in width"},
        {"f32:ab>f32:ba 30x31", "square", 0, TSR_UNSUPPORTED,
         "row square does not apply: no two axes of equal length change places"},
        {"f32:abc>f32:cab 5x5x5", "square", 0, TSR_UNSUPPORTED,
         "row square does not apply: no two axes of equal length change places"},
        {"f32:abcd>f32:badc 5x5x5x5", "square", 0, TSR_UNSUPPORTED,
         "row square does not apply: more than two loops change places"},
        {"f32:nchw>f32:nChw16c 2x19x5x7", "cycles", 0, TSR_UNSUPPORTED,
         "row cycles does not apply: the elements are not one box of linear loops"},
        {"f32:ab>f32:[b31:32,a31:1] 30x31", "cycles", 0, TSR_UNSUPPORTED,
         "row cycles does not apply: source and destination do not cover the same memory without gaps"},
        {"f32:ab>f32:[a30:31,b31:1]+1 30x31", "cycles", 0, TSR_UNSUPPORTED,
         "row cycles does not apply: source and destination do not cover the same memory without gaps"},
        {"f32:ab>f32:ab 30x31", "cycles", 0, TSR_UNSUPPORTED, "row cycles does not apply: nothing changes its place"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_plan *plan = NULL;
        tsr_error error = {0};
        tsr_problem problem = parsed_problem(rows[i].problem);
        tsr_reorder_options options = {
            .in_place = true, .row = rows[i].row, .scratch_bytes = rows[i].scratch_bytes, .threads = 1};
        assert_int_equal(tsr_plan_create(&plan, &problem.src, &problem.dst, &options, &error), rows[i].status);
        assert_row_refused(error.message, rows[i].message);
        assert_null(plan);
    }
}

/* beta reads places that a permutation has written already; and rows in place are for plans in place. */
static void test_refused_rows(void **state)
{
    static const char *const rows[] = {"elementwise", "square", "slices", "cycles"};
    tsr_problem problem = parsed_problem("f32:ab>f32:ba 5x5");
    tsr_plan *plan = NULL;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char expected[128];
        tsr_error error = {0};
        tsr_reorder_options apart = {.row = rows[i]}, blended = {.row = rows[i], .in_place = true, .beta = 1};
        snprintf(expected, sizeof expected, "row %s does not apply: it works in place", rows[i]);
        assert_int_equal(tsr_plan_create(&plan, &problem.src, &problem.dst, &apart, &error), TSR_UNSUPPORTED);
        assert_row_refused(error.message, expected);
        if (i % 2 == 0)
            continue;
        snprintf(expected, sizeof expected,
                 "row %s does not apply: the old values are wanted when others are in their place", rows[i]);
        assert_int_equal(tsr_plan_create(&plan, &problem.src, &problem.dst, &blended, &error), TSR_UNSUPPORTED);
        assert_row_refused(error.message, expected);
    }
}

static void test_refusals_of_run(void **state)
{
    static const char *const problems[] = {"u8:ab>u8:ab 5x5", "u8:ab>u8:ba 5x5", "u8:ab>u8:ba 5x4"};
    (void)state;
    for (size_t i = 0; i < COUNT(problems); i++) {
        workload work;
        unsigned char memory[64] = {1, 2, 3}, before[64] = {1, 2, 3};
        char expected[TSR_ERROR_MESSAGE_SIZE];
        tsr_error error = {0}, same = {0};
        tsr_plan *plan = plan_in_place(&work, problems[i], NULL, 1, 0);
        const tsr_desc *src = &work.problem.src, *dst = &work.problem.dst;
        for (int at = 1; at <= 30; at += 29) {
            snprintf(expected, sizeof expected,
                     "a plan in place: expected the same buffer twice, found %" PRIuPTR " and %" PRIuPTR,
                     (uintptr_t)memory, (uintptr_t)memory + (uintptr_t)at);
            assert_int_equal(tsr_plan_run(plan, memory, memory + at, &error), TSR_INVALID_ARGUMENT);
            assert_string_equal(error.message, expected);
            assert_int_equal(tsr_reorder_by_definition(src, memory, dst, memory + at, &work.options, &same),
                             TSR_INVALID_ARGUMENT);
            assert_string_equal(same.message, expected);
        }
        assert_int_equal(tsr_plan_run(plan, NULL, NULL, &error), TSR_INVALID_ARGUMENT);
        assert_memory_equal(memory, before, sizeof memory);
        tsr_plan_free(&plan);
        workload_reset(&work);
    }
}

/* ---- memory ---- */

/* Knows the most bytes that were held at once while `plan` ran. */
struct meter {
    int64_t live, most;
};

static void *metered_allocate(void *context, size_t size_bytes, size_t alignment)
{
    struct meter *meter = context;
    meter->live += (int64_t)size_bytes;
    if (meter->live > meter->most)
        meter->most = meter->live;
    return tsr_default_allocator()->allocate(NULL, size_bytes, alignment);
}

static void metered_release(void *context, void *memory, size_t size_bytes)
{
    struct meter *meter = context;
    meter->live -= (int64_t)size_bytes;
    tsr_default_allocator()->release(NULL, memory, size_bytes);
}

static void test_bound(void **state)
{
    static const struct {
        const char *problem;
        int64_t scratch_bytes, used;
    } rows[] = {
        {"f32:ab>f32:ba 300x300", 0, 0},
        {"f32:ab>s32:ab 300x301", 0, 0},
        {"f32:ab>f32:ba 300x301", 0, 361200},
        {"f32:ab>f32:ba 300x301", 361200, 361200},
        {"f32:ab>f32:ba 300x301", 361199, 11288},
        {"f32:ab>f32:ba 300x301", 11287, 0},
        {"f32:ab>f32:ba 300x301", 1, 0},
        {"f32:abc>f32:acb 4x300x301", 361200, 361200},
        {"f32:abc>f32:acb 4x300x301", 800000, 722416}, /* two slices, the second of which begins on a cache line */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        workload work;
        struct meter meter = {0};
        tsr_allocator allocator = {metered_allocate, metered_release, &meter};
        tsr_plan *plan = plan_in_place(&work, rows[i].problem, NULL, 2, rows[i].scratch_bytes);
        tsr_plan_free(&plan);
        work.options.allocator = &allocator;
        work.options.executor = &(tsr_executor){.run = tsr_default_executor().run, .threads = 2};
        if (!work.options.executor->run)
            continue;
        assert_int_equal(tsr_plan_create(&plan, &work.problem.src, &work.problem.dst, &work.options, NULL), TSR_OK);
        int64_t before = meter.live;
        meter.most = meter.live;
        check_result(rows[i].problem, plan, &work.problem, &work.options);
        assert_int_equal(meter.most - before, rows[i].used);
        assert_int_equal(meter.live, before);
        tsr_plan_free(&plan);
        assert_int_equal(meter.live, 0);
        workload_reset(&work);
    }
}

/* Creates and runs with an allocator that fails once. False when it was asked for less than that. */
static bool fails_cleanly(const char *text, const char *row, int fail_at)
{
    workload work;
    tsr_error error = {0};
    failing_allocator counter = {.fail_at = fail_at};
    tsr_allocator allocator = failing_allocator_of(&counter);
    tsr_plan *plan = plan_in_place(&work, text, row, 1, 0);
    size_t bytes = (size_t)buffer_bytes(&work.problem);
    unsigned char *found = allocate((int64_t)bytes), *before = allocate((int64_t)bytes);
    fill_awkward(found, bytes, 1);
    memcpy(before, found, bytes);
    tsr_plan_free(&plan);
    work.options.allocator = &allocator;
    tsr_status status = tsr_plan_create(&plan, &work.problem.src, &work.problem.dst, &work.options, &error);
    assert_int_equal(status, counter.allocations >= fail_at ? TSR_OUT_OF_MEMORY : TSR_OK);
    if (status == TSR_OK) {
        int64_t live = counter.live;
        status = tsr_plan_run(plan, found, found, &error);
        assert_int_equal(status, counter.allocations >= fail_at ? TSR_OUT_OF_MEMORY : TSR_OK);
        assert_int_equal(counter.live, live);
    }
    if (status != TSR_OK) {
        assert_memory_equal(found, before, bytes);
        assert_true(strstr(error.message, "memory") != NULL);
    }
    tsr_plan_free(&plan);
    assert_int_equal(counter.live, 0);
    free(found);
    free(before);
    workload_reset(&work);
    return status != TSR_OK;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ways); i++) {
        int fail_at = 1;
        if (strlen(ways[i].problem) > 60)
            continue; /* it has hundreds of boxes, and thousands of allocations */
        while (fails_cleanly(ways[i].problem, ways[i].row, fail_at))
            fail_at++;
        assert_true(fail_at > 3);
    }
}

static void test_message_of_missing_scratch(void **state)
{
    workload work;
    unsigned char buffer[4 * 30 * 31] = {0};
    tsr_error error = {0};
    failing_allocator counter = {0};
    tsr_allocator allocator = failing_allocator_of(&counter);
    tsr_plan *plan = plan_in_place(&work, "f32:ab>f32:ba 30x31", NULL, 1, 0);
    (void)state;
    tsr_plan_free(&plan);
    work.options.allocator = &allocator;
    assert_int_equal(tsr_plan_create(&plan, &work.problem.src, &work.problem.dst, &work.options, NULL), TSR_OK);
    counter.fail_at = counter.allocations + 1;
    assert_int_equal(tsr_plan_run(plan, buffer, buffer, &error), TSR_OUT_OF_MEMORY);
    assert_string_equal(error.message, "no memory for 3720 bytes of scratch memory");
    assert_int_equal(tsr_plan_run(plan, buffer, buffer, &error), TSR_OK);
    tsr_plan_free(&plan);
    workload_reset(&work);
}

/* ---- threads ---- */

struct calls {
    int most_tasks;
};

static void run_in_reverse(void *context, tsr_task task, void *argument, int tasks)
{
    struct calls *calls = context;
    calls->most_tasks = tasks > calls->most_tasks ? tasks : calls->most_tasks;
    for (int i = tasks - 1; i >= 0; i--)
        task(argument, i);
}

static void test_executor(void **state)
{
    static const char *const rows[][2] = {
        {"elementwise", "f32:ab>f32:ab 500x401 scale[1]"},
        {"square", "f32:ab>f32:ba 451x451"},
        {"square", "u8:abc>u8:acb 700x33x33"},
        {"slices", "f32:ab>f32:ba 500x401"},
        {"slices", "f32:nchw>f32:nhwc 7x64x20x31"},
        {"cycles", "f32:nchw>f32:nhwc 7x64x20x31"},
        {"cycles", "f32:nchw>s32:nhwc 7x64x20x31"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int threads = 2; threads <= 5; threads += 3) {
            workload work;
            struct calls calls = {0};
            tsr_executor executor = {run_in_reverse, &calls, threads};
            tsr_plan *plan = plan_in_place(&work, rows[i][1], rows[i][0], 0, 0);
            tsr_plan_free(&plan);
            work.options.executor = &executor;
            assert_int_equal(tsr_plan_create(&plan, &work.problem.src, &work.problem.dst, &work.options, NULL), TSR_OK);
            check_result(rows[i][1], plan, &work.problem, &work.options);
            assert_int_equal(calls.most_tasks, threads);
            assert_int_equal(tsr_plan_get_info(plan).threads, threads);
            tsr_plan_free(&plan);
            workload_reset(&work);
        }
}

/* One plan, several threads, each with a buffer of its own. */
static void test_concurrent_runs(void **state)
{
    enum { THREADS = 4 };
    (void)state;
    for (size_t i = 0; i < COUNT(ways); i++) {
        workload work;
        struct runner runners[THREADS];
        tsr_plan *plan = plan_in_place(&work, ways[i].problem, ways[i].row, 1, 0);
        size_t bytes = (size_t)buffer_bytes(&work.problem);
        for (int t = 0; t < THREADS; t++) {
            char *buffer = allocate((int64_t)bytes);
            fill_awkward(buffer, bytes, i);
            runners[t] = (struct runner){.plan = plan, .src = buffer, .dst = buffer};
            assert_int_equal(pthread_create(&runners[t].thread, NULL, run_many_times, &runners[t]), 0);
        }
        for (int t = 0; t < THREADS; t++) {
            pthread_join(runners[t].thread, NULL);
            assert_int_equal(runners[t].status, TSR_OK);
            assert_memory_equal(runners[t].dst, runners[0].dst, bytes);
        }
        for (int t = 0; t < THREADS; t++)
            free(runners[t].dst);
        tsr_plan_free(&plan);
        workload_reset(&work);
    }
}

/* ---- the definition, and random permutations ---- */

/* In place, the definition does what it does from a copy of the source. */
static void test_definition(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ways); i++) {
        workload work;
        assert_int_equal(workload_init(&work, ways[i].problem, NULL), TSR_OK);
        const tsr_desc *src = &work.problem.src, *dst = &work.problem.dst;
        size_t bytes = (size_t)buffer_bytes(&work.problem);
        unsigned char *copy = allocate((int64_t)bytes), *found = allocate((int64_t)bytes),
                      *expected = allocate((int64_t)bytes);
        fill_awkward(copy, bytes, i);
        memcpy(found, copy, bytes);
        memcpy(expected, copy, bytes);
        assert_int_equal(tsr_reorder_by_definition(src, copy, dst, expected, &work.options, NULL), TSR_OK);
        work.options.in_place = true;
        assert_int_equal(tsr_reorder_by_definition(src, found, dst, found, &work.options, NULL), TSR_OK);
        assert_memory_equal(found, expected, bytes);
        free(copy);
        free(found);
        free(expected);
        workload_reset(&work);
    }
}

static tsr_desc draw_dense(tsr_random *random, tsr_dtype type, int rank, const int64_t *dims)
{
    tsr_random_options plain = {0};
    return tsr_random_desc(random, type, rank, dims, &plain);
}

/* Axes of few different lengths, so that many permutations have squares. */
static void test_random_permutations(void **state)
{
    static const tsr_dtype types[] = {TSR_U8, TSR_BF16, TSR_S32, TSR_F64};
    static const char *const rows[] = {NULL, "square", "slices", "cycles"};
    int taken[COUNT(rows)] = {0};
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (int i = 0; i < tsr_random_cases(1500); i++) {
        int64_t dims[5], lengths[2] = {tsr_random_range(&random, 1, 9), tsr_random_range(&random, 1, 6)};
        int rank = (int)tsr_random_range(&random, 2, tsr_random_chance(&random, 2) ? 5 : 2);
        if (rank == 2)
            lengths[0] = lengths[1] = tsr_random_range(&random, 1, 140);
        for (int k = 0; k < rank; k++)
            dims[k] = lengths[tsr_random_range(&random, 0, 1)];
        tsr_dtype type = types[tsr_random_range(&random, 0, 3)];
        tsr_problem problem = {.src = draw_dense(&random, type, rank, dims),
                               .dst = draw_dense(&random, type, rank, dims)};
        tsr_reorder_options options = {.in_place = true, .threads = (int)tsr_random_range(&random, 1, 2)};
        if (tsr_random_chance(&random, 2))
            options.scratch_bytes = tsr_random_range(&random, 1, 500);
        if (tsr_random_chance(&random, 4))
            options.reverse = (uint32_t)tsr_random_range(&random, 0, (INT64_C(1) << rank) - 1);
        tsr_cpu_set_mask(rungs[tsr_random_range(&random, 0, 2)]);
        for (size_t row = 0; row < COUNT(rows); row++) {
            tsr_plan *plan = NULL;
            options.row = rows[row];
            tsr_status status = tsr_plan_create(&plan, &problem.src, &problem.dst, &options, NULL);
            if (status == TSR_UNSUPPORTED && rows[row])
                continue;
            assert_int_equal(status, TSR_OK); /* whatever the bound, there are cycles */
            check_result("a random permutation", plan, &problem, &options);
            taken[row]++;
            tsr_plan_free(&plan);
        }
    }
    tsr_cpu_set_mask(TSR_CPU_ALL);
    for (size_t row = 0; row < COUNT(rows); row++)
        assert_true(taken[row] > 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ways),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_refusals_of_create),
        cmocka_unit_test(test_refused_rows),
        cmocka_unit_test(test_refusals_of_run),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_message_of_missing_scratch),
        cmocka_unit_test(test_executor),
        cmocka_unit_test(test_concurrent_runs),
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_random_permutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
