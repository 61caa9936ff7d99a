/* SPDX-License-Identifier: Apache-2.0 */
/* What goes by way of tensors in scratch memory, slice by slice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/view.h>

#include "reorder/plan.h"

#include "machines.h"
#include "parsed.h"
#include "random.h"
#include "right.h"
#include "workload.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const unsigned rungs[] = {TSR_CPU_ALL, TSR_CPU_AVX2, 0};

/* Runs the parts of a loop from the last to the first, and counts those of the longest one. */
static void run_backwards(void *context, tsr_task task, void *argument, int tasks)
{
    int *most = context;
    *most = tasks > *most ? tasks : *most;
    for (int t = tasks - 1; t >= 0; t--)
        task(argument, t);
}

/* What threads have of a problem: one has all, as it is small or slices share bytes; several have some, as it is surely
 * large enough; or that is not asked. */
enum tasks { ANY, ONE, SEVERAL };

struct relayed {
    const char *problem;
    enum tasks tasks;
};

/* On every rung, and on five threads, against the definition. */
static void check(const char *text, tsr_padding padding, enum tasks tasks)
{
    int most = 1;
    workload work;
    tsr_error error = {0};
    const tsr_executor executor = {.run = run_backwards, .context = &most, .threads = 5};
    if (workload_init(&work, text, &error) != TSR_OK)
        fail_msg("%s: %s", text, error.message);
    const size_t bytes = (size_t)tsr_desc_size_bytes(&work.problem.src);
    unsigned char *src = malloc(bytes + 1);
    assert_non_null(src);
    fill_awkward(src, bytes, 1);
    work.options.row = "relay";
    work.options.padding = padding;
    for (size_t i = 0; i <= COUNT(rungs); i++) {
        tsr_plan *plan = NULL;
        bool is_right = false;
        const bool has_threads = i == COUNT(rungs);
        tsr_cpu_set_mask(has_threads ? TSR_CPU_ALL : rungs[i]);
        work.options.executor = has_threads ? &executor : NULL;
        tsr_status status = tsr_plan_create(&plan, &work.problem.src, &work.problem.dst, &work.options, &error);
        if (status == TSR_OK)
            status = verify_plan(plan, &work.problem.src, src, &work.problem.dst, &work.options, &is_right, &error);
        if (status != TSR_OK || !is_right)
            fail_msg("%s, %zu: %s", text, i, error.message);
        if (has_threads && tsr_plan_get_info(plan).threads != most)
            fail_msg("%s: %d threads, of %d", text, most, tsr_plan_get_info(plan).threads);
        tsr_plan_free(&plan);
    }
    if (tasks != ANY && (tasks == SEVERAL) != (most > 1))
        fail_msg("%s: %d tasks", text, most);
    tsr_cpu_set_mask(TSR_CPU_ALL);
    free(src);
    workload_reset(&work);
}

static void test_relay(void **state)
{
    static const struct relayed rows[] = {
        {"f32:aBc3b>f32:aBc4b 2x25x2", ONE},
        {"u8:nChw6c>u8:nChw9c 2x63x57x56", SEVERAL},
        {"f32:nChw8c>f32:nChw12c 3x70x31x29", SEVERAL},
        {"bf16:NChw3n5c>bf16:NChw2n7c 7x33x38x40", SEVERAL},
        {"f64:Abc3a>f64:Abc5a 100x7x90", SEVERAL},
        {"f32:ABcd3a5b>f32:ABcd4b2a 7x9x101x64", SEVERAL},
        {"u8:OIhw12i5o>u8:OIhw3o7i 365x181x3x3", SEVERAL}, /* by each of the three orders */
        {"u8:OIhw10i6o>u8:OIhw20o6i 256x170x3x3", SEVERAL},
        {"f64:OIhw6i3o>f64:OIhw10o5i 103x144x3x3", SEVERAL},
        {"f64:OIhw24i9o>f64:OIhw8o14i 100x200x1x3", SEVERAL}, /* of nearly 100 KB */
        {"f32:[b5:4300,a61:70,b8:1]@b3>f32:[b4:3800,a61:60,b12:2]@b5 61x30", ONE},
        {"u8:nChw8c>f32:nChw12c 2x60x41x40 scale[1] mean[1] shift", SEVERAL},
        {"f32:nChw8c>u8:nChw12c 2x60x41x40 scale[1] mean shift[1]", SEVERAL},
        {"f32:nChw8c>s8:nChw12c 5x60x41x40 scale[0]", SEVERAL},
        {"f32:nChw8c>bf16:nChw12c 5x60x41x40 beta", SEVERAL},
        {"s32:nChw6c>f64:nChw9c 2x60x41x40 reverse[1] reverse[3]", SEVERAL},
        {"s4:nChw8c>s4:nChw12c 6x60x41x40", SEVERAL},
        {"u4:nChw6c>u4:nChw9c 2x63x41x40", ONE},
        {"u8:nChw6c>u4:nChw10c 1x60x41x40 beta", ANY},
        {"nf4:nChw8c>nf4:nChw12c 1x60x41x40", SEVERAL},
        {"s4:nChw8c>f16:nChw12c 1x60x41x40 scale[1/4]", SEVERAL},
        {"u64:aBc4b>u64:aBc6b 0x12x3", ONE},
        {"u8:nhwc>f32:nChw8c 2x3x201x199 scale[1] mean[1] beta", SEVERAL},
        {"u8:abcd>s8:abdc 1x4x160x160 scale[1]", ANY}, /* a slice for each factor, of bytes that are mapped */
        {"s4:abcd>bf16:abdc 1x4x160x160 scale[1] mean[1]", SEVERAL},
        {"u8:abcd>f16:abdc 3x5x120x120 scale[1] shift[1]", SEVERAL},
        {"u8:nhwc>bf16:nChw16c 2x3x101x99 scale[1] mean[1] reverse[3]", ANY},
        {"f32:nChw8c>u8:nhwc 2x5x201x199 scale", SEVERAL},
        {"s4:nhwc>f32:nChw8c 1x5x98x101", ANY},
        {"s8:oihw>s8:OIhw4i16o4i 512x112x3x3", SEVERAL},
        {"u8:oihw>u8:OIhw8o4i 512x96x2x7", SEVERAL},
        {"s8:oihw>s8:OIhw2i8o2i 30x50x3x4", ONE},
        {"bf16:oihw>bf16:OIhw8i16o2i 32x48x1x7", ONE},
        {"f32:oihw>f32:OIhw8i16o2i 256x256x1x3", SEVERAL},
        {"f32:nhwc>f32:nchw 40x3x20x2", ONE},
        {"s8:OIhw4i16o4i>s8:oihw 512x112x3x3", SEVERAL},
        {"u8:OIhw8o4i>u8:oihw 512x96x2x7", SEVERAL},
        {"s8:OIhw4i16o4i>s8:oihw 48x48x2x2", ONE},
        {"u8:nhwc>u8:nchw 30x40x5x3", ONE},
        {"u8:Goihw48g>u8:goihw 96x1x1x3x5", ONE},
        {"u8:AB8a8b>u8:ba 1000x1001", SEVERAL},
        {"u8:AB8a8b>u8:ba 2048x47", ANY},
        {"u8:ba>u8:AB8a8b 1000x304", SEVERAL},
        {"u16:AB4a4b>u16:ba 300x101", ONE},
        {"u16:ba>u16:AB4a4b 300x104", ONE},
        {"u8:ba>u8:AB8a8b 1000x304 reverse[1]", SEVERAL},
        {"u8:AB8a8b>u8:[b126:8000,b8:1000,a1000:1]@b3 1000x1000", SEVERAL},
        {"u16:AB4a4b>u16:AB16b16a 1024x504", SEVERAL},
        {"u8:AB8a8b>u8:[b1100:1024,a1000:1]+5 1000x1001", SEVERAL},
        {"s8:OIhw8o8i>s8:hwio 64x64x3x3", ONE},
        {"bool:AB8a8b>f16:AB16b16a 2048x10", ONE},
        {"s8:AB8a8b>s16:Ab16a 1024x64", ANY},
        {"bf16:OIhw2i8o4i>s8:Ohwi16o 128x64x5x5 scale[0] mean[0]", SEVERAL},
        {"f32:OIhw16i16o>s8:OIhw8o8i 128x64x3x3 scale[0]", SEVERAL},
        {"s16:nchw>f64:nChw8c 3x20x31x29 scale shift beta", SEVERAL},
        {"s32:BA4b8a8b>f16:ab 333x70 scale[1]", ONE},
        {"f32:nChw8c>u8:nhwc 16x6x56x56 shift", SEVERAL},
        {"f64:nchw>s16:nChw8c 2x13x30x30 shift[0]", ONE},
        {"s4:oihw>s4:OIhw8i16o2i 64x70x3x3", ONE},
        {"u4:nChw8c>u4:nChw32c 4x24x28x28", SEVERAL},
        {"nf4:ab>nf4:BA16a16b 256x512", SEVERAL},
        {"s4:ab>u4:BA4b8a8b 90x300 scale[1] shift", ONE},
        {"u4:ba>f32:AB16b16a 130x100 scale[0] mean[0]", ONE},
        {"f64:ab>s4:BA16a16b 60x70 scale beta", ONE},
        {"s64:ohwi>u4:OIhw4i4o 32x30x3x3 reverse[1]", ONE},
        {"bool:chwn>u4:nChw4c 4x10x16x16", ONE},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int padding = TSR_PADDING_ZERO; padding <= TSR_PADDING_KEEP; padding++)
            check(rows[i].problem, (tsr_padding)padding, rows[i].tasks);
}

/* Small blocks with padding in the destination are turned around only where that may be written. */
static void test_padding_that_is_kept(void **state)
{
    static const char *const problems[] = {"u8:ba>u8:AB8a8b 1000x301", "u16:ba>u16:AB4a4b 2900x101"};
    (void)state;
    for (size_t i = 0; i < COUNT(problems); i++) {
        tsr_problem problem;
        tsr_plan *plan = NULL;
        tsr_error error;
        const tsr_reorder_options options = {.row = "relay", .padding = TSR_PADDING_KEEP};
        check(problems[i], TSR_PADDING_ZERO, SEVERAL);
        assert_int_equal(tsr_problem_parse(&problem, problems[i], NULL), TSR_OK);
        assert_int_equal(tsr_plan_create(&plan, &problem.src, &problem.dst, &options, &error), TSR_UNSUPPORTED);
        assert_non_null(strstr(error.message, "row relay does not apply"));
    }
}

/* In two steps, the last of which writes the padding; also from windows, backwards and from fewer elements. */
static void test_two_steps(void **state)
{
    static const struct relayed rows[] = {
        {"s8:abCd4c>s8:cDba8d 100x31x12x12", SEVERAL},
        {"s8:adbfce>s8:fabCde5c 1x200x4x5x3x10 reverse[3] reverse[5]", SEVERAL},
        {"u8:CaB12c3b>u8:bac 10x17x1000", SEVERAL}, /* parts of blocks along two axes */
        {"s8:[a100:5952,b31:192,c4:48,d12:4,c4:1]@c2>s8:cDba8d 100x31x12x12", SEVERAL},
        {"s8:[a100:144,b31:0,c12:12,d12:1]>s8:cDba8d 100x31x12x12", SEVERAL},
        {"s8:[b31:14400,d12:1200,c12:100,a100:1]+7>s8:aBdc8b 100x31x12x12", SEVERAL},
        {"bf16:aefdbc>bf16:cefdab 50x3x3x31x16x3", SEVERAL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        check(rows[i].problem, TSR_PADDING_ZERO, rows[i].tasks);
}

/* Columns of one step may be as far apart as strides go; and blocks of a window are not turned. */
static void test_blocks_that_stay(void **state)
{
    static const char *const problems[] = {"u8:[b1:4611686018427387904,a1000:1]>u8:AB8a8b 1000x1",
                                           "u8:[a125:8064,b126:64,a8:8,b8:1]@b3>u8:ba 1000x1000"};
    (void)state;
    for (size_t i = 0; i < COUNT(problems); i++) {
        tsr_problem problem;
        tsr_plan *plan = NULL;
        assert_int_equal(tsr_problem_parse(&problem, problems[i], NULL), TSR_OK);
        assert_int_equal(tsr_plan_create(&plan, &problem.src, &problem.dst, NULL, NULL), TSR_OK);
        assert_right(plan, problems[i]);
        tsr_plan_free(&plan);
    }
}

/* Elements that stay where they are among padding, which is converted with them, and zeroed. */
static void test_staying_elements(void **state)
{
    static const char *const problems[] = {
        "f32:nChw4c>s8:nChw4c 4x3x112x112 scale[1] shift[1]", "u8:nChw16c>f32:nChw16c 2x19x56x56 mean[1]",
        "f16:OIhw8i16o2i>bf16:OIhw8i16o2i 70x70x5x5", "bool:nChw32c>s32:nChw32c 4x24x33x30"};
    (void)state;
    for (size_t i = 0; i < COUNT(problems); i++)
        check(problems[i], TSR_PADDING_ZERO, SEVERAL);
}

/* Slices of short lines that are converted, or joined, leave lines on the other side, which a transpose moves. */
static void test_lines_of_slices(void **state)
{
    static const char *const problems[] = {"f32:nhwc>bf16:nchw 1x64x28x28", "f32:hwio>s8:oihw 64x512x3x3",
                                           "f32:hwio>bf16:oihw 64x512x3x3", "f32:nhwc>bf16:nchw 4x96x56x56",
                                           "s8:hwio>s8:OIhw4o4i 512x512x3x3"};
    (void)state;
    for (size_t i = 0; i < COUNT(problems); i++) {
        tsr_problem problem;
        tsr_plan *plan = NULL;
        const tsr_reorder_options options = {.row = "relay", .threads = 1};
        assert_int_equal(tsr_problem_parse(&problem, problems[i], NULL), TSR_OK);
        assert_int_equal(tsr_plan_create(&plan, &problem.src, &problem.dst, &options, NULL), TSR_OK);
        const char *kernels = tsr_plan_get_info(plan).kernel;
        if (!strstr(kernels, "transpose") || strstr(kernels, "pick"))
            fail_msg("%s: %s", problems[i], kernels);
        assert_right(plan, problems[i]);
        tsr_plan_free(&plan);
    }
}

/* And of what has a factor for each element side by side, they have about 256, and half as many at least; but a near
 * last cache may have slices that are pieces, each row of which has one factor. */
static void test_factors_of_slices(void **state)
{
    enum { LEAST = 128 };
    static const char *const problems[] = {"s8:ab>f32:ba 1000x1000 scale[1]", "s8:ab>f32:ba 1000x1000 scale[0]",
                                           "u4:ab>f16:ba 1024x4096 scale[1]", "s4:ab>f32:ba 384x4096 scale[0]",
                                           "s4:ab>f32:ba 521x4096 scale[0]"};
    (void)state;
    pretend(FAR);
    for (size_t i = 0; i < COUNT(problems); i++) {
        workload work;
        tsr_plan *plan = NULL;
        assert_int_equal(workload_init(&work, problems[i], NULL), TSR_OK);
        work.options.row = "relay";
        work.options.threads = 1;
        assert_int_equal(tsr_plan_create(&plan, &work.problem.src, &work.problem.dst, &work.options, NULL), TSR_OK);
        const tsr_cut *cut = &plan->relay->cut;
        if (cut->slices < 2 || cut->dims[work.problem.scale_axis] < LEAST)
            fail_msg("%s: %d slices of %dx%d", problems[i], (int)cut->slices, (int)cut->dims[0], (int)cut->dims[1]);
        tsr_plan_free(&plan);
        workload_reset(&work);
    }
    tsr_topology_pretend(NULL);
}

/* Padding that is converted as well is zeroed again only if the arithmetic may have made something else of it, -0 too;
 * and in f64, where what cancels in f32 need not. */
static void test_zeros_that_stay(void **state)
{
    static const float ones[] = {1, 2, 3}, up = 2, down = -2, mean = 5, tenth = 0.1f, back = -0.1f * 0.1f;
    static const float less = -0.1f;
    static const struct {
        const char *problem;
        tsr_factors scale, mean, shift;
        bool are_zeroed;
    } cases[] = {{"u8:nchw>f32:nChw4c 2x3x50x70", {&up, 1, -1, 0}, {0}, {0}, false},
                 {"u8:nchw>f32:nChw4c 2x3x50x70", {&down, 1, -1, 0}, {0}, {0}, true},
                 {"u8:nchw>f32:nChw4c 2x3x50x70", {&up, 1, -1, 0}, {&mean, 1, -1, 0}, {0}, true},
                 {"u8:nchw>f32:nChw4c 2x3x50x70", {&up, 1, -1, 0}, {ones, 3, 1, 0}, {0}, false},
                 {"u8:nchw>f32:nChw4c 2x3x50x70", {&up, 1, -1, 0}, {0}, {&mean, 1, -1, 0}, true},
                 {"u8:nchw>f32:nChw4c 2x3x50x70", {&tenth, 1, -1, 0}, {&less, 1, -1, 0}, {&back, 1, -1, 0}, false},
                 {"u8:nchw>f64:nChw4c 2x3x50x70", {&tenth, 1, -1, 0}, {&less, 1, -1, 0}, {&back, 1, -1, 0}, true},
                 {"u8:nchw>s8:nChw4c 3x3x50x70", {ones, 3, 1, 0}, {ones, 3, 1, 0}, {0}, false},
                 {"u8:nchw>f32:NChw4n4c 3x3x50x70", {&up, 1, -1, 0}, {0}, {0}, false},
                 {"u8:nchw>f32:NChw4n4c 3x3x50x70", {&up, 1, -1, 0}, {ones, 3, 1, 0}, {0}, true}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const tsr_reorder_options options = {
            .row = "relay", .scale = cases[i].scale, .mean = cases[i].mean, .shift = cases[i].shift, .threads = 1};
        tsr_problem problem;
        tsr_plan *plan = NULL;
        assert_int_equal(tsr_problem_parse(&problem, cases[i].problem, NULL), TSR_OK);
        assert_int_equal(tsr_plan_create(&plan, &problem.src, &problem.dst, &options, NULL), TSR_OK);
        if ((plan->relay->shape[0].zeroing != NULL) != cases[i].are_zeroed)
            fail_msg("%zu: %s", i, cases[i].problem);
        assert_right_between(plan, &problem.src, &problem.dst, &options, cases[i].problem);
        tsr_plan_free(&plan);
    }
}

/* A window with steps nests with no plain tensor either: a leg from there has tables, too, and goes no further. */
static void test_windows_with_steps(void **state)
{
    static const struct {
        const char *whole, *dst;
        int64_t step;
    } cases[] = {{"u8:AB3a16b 600x64", "u8:Ba4b 300x64", 2},
                 {"u8:AB3a16b 600x64", "u8:AB4a8b 200x64", 3},
                 {"u16:AB3a4b 600x64", "u16:Ab2a 300x64", 2},
                 {"u8:ba 600x64", "u8:Ba4b 300x64", 2}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const tsr_desc whole = parsed_desc(cases[i].whole), dst = parsed_desc(cases[i].dst);
        const tsr_reorder_options options = {.threads = 1};
        tsr_desc src;
        tsr_plan *plan = NULL;
        assert_int_equal(tsr_view_crop(&src, &whole, (int64_t[]){0, 0}, dst.dims, (int64_t[]){cases[i].step, 1}, NULL),
                         TSR_OK);
        assert_int_equal(tsr_plan_create(&plan, &src, &dst, &options, NULL), TSR_OK);
        assert_right_between(plan, &src, &dst, &options, cases[i].whole);
        tsr_plan_free(&plan);
    }
}

/* A window of so many rows and columns, which may have steps, of a matrix whose axes may have blocks. */
static void draw_window(tsr_desc *window, tsr_random *random, const char *type, const int64_t dims[2])
{
    static const int64_t sizes[] = {2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32};
    const bool is_turned = tsr_random_chance(random, 2), is_window = tsr_random_chance(random, 2);
    int64_t begin[2], step[2], all[2];
    char outer[3] = "", inner[40] = "", text[100];
    for (int i = 0; i < 2; i++) {
        const int axis = i ^ is_turned;
        const bool has_blocks = !tsr_random_chance(random, 3);
        outer[i] = (char)((has_blocks ? 'A' : 'a') + axis);
        if (has_blocks)
            snprintf(inner + strlen(inner), sizeof inner - strlen(inner), "%d%c",
                     (int)sizes[tsr_random_range(random, 0, COUNT(sizes) - 1)], 'a' + axis);
        begin[axis] = is_window ? tsr_random_range(random, 0, 20) : 0;
        step[axis] = is_window ? tsr_random_range(random, 1, 3) : 1;
        all[axis] = begin[axis] + (dims[axis] - 1) * step[axis] + 1;
    }
    snprintf(text, sizeof text, "%s:%s%s %dx%d", type, outer, inner, (int)all[0], (int)all[1]);
    const tsr_desc whole = parsed_desc(text);
    assert_int_equal(tsr_view_crop(window, &whole, begin, dims, step, NULL), TSR_OK);
}

static void test_random_windows(void **state)
{
    static const char *const types[] = {"u8", "u8", "u16", "f32", "f64"};
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (int i = 0; i < tsr_random_cases(1000); i++) {
        const char *type = types[tsr_random_range(&random, 0, COUNT(types) - 1)];
        const int64_t dims[] = {tsr_random_range(&random, 1, 300), tsr_random_range(&random, 1, 200)};
        const tsr_reorder_options options = {.threads = 1, .streaming = (tsr_streaming)tsr_random_range(&random, 0, 2)};
        tsr_desc src, dst;
        tsr_plan *plan = NULL;
        char name[60];
        snprintf(name, sizeof name, "draw %d: %s, %dx%d", i, type, (int)dims[0], (int)dims[1]);
        draw_window(&src, &random, type, dims);
        draw_window(&dst, &random, type, dims);
        assert_int_equal(tsr_plan_create(&plan, &src, &dst, &options, NULL), TSR_OK);
        assert_right_between(plan, &src, &dst, &options, name);
        tsr_plan_free(&plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_relay),
                                       cmocka_unit_test(test_two_steps),
                                       cmocka_unit_test(test_padding_that_is_kept),
                                       cmocka_unit_test(test_blocks_that_stay),
                                       cmocka_unit_test(test_staying_elements),
                                       cmocka_unit_test(test_zeros_that_stay),
                                       cmocka_unit_test(test_windows_with_steps),
                                       cmocka_unit_test(test_random_windows),
                                       cmocka_unit_test(test_lines_of_slices),
                                       cmocka_unit_test(test_factors_of_slices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
