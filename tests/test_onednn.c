/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The row "onednn": right wherever it is admitted, refused with a reason elsewhere, absent from a
 * build without oneDNN.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "failing_allocator.h"
#include "parsed.h"
#include "runner.h"
#include "workload.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool has_onednn(void)
{
    return strstr(tsr_build_features(), "onednn") != NULL;
}

/* Creates a plan with the row forced. */
static tsr_status create(tsr_plan **plan, const workload *work, bool untested, tsr_error *error)
{
    tsr_reorder_options options = work->options;
    options.row = "onednn";
    options.untested = untested;
    return tsr_plan_create(plan, &work->problem.src, &work->problem.dst, &options, error);
}

static workload parsed_workload(const char *text)
{
    workload work;
    tsr_error error = {0};
    if (workload_init(&work, text, &error) != TSR_OK)
        fail_msg("%s: %s", text, error.message);
    return work;
}

static char *filled_source(const workload *work)
{
    size_t bytes = (size_t)tsr_desc_size_bytes(&work->problem.src);
    char *src = malloc(bytes + 1);
    assert_non_null(src);
    fill_awkward(src, bytes, 7);
    return src;
}

/* ---- wherever it is admitted it is right ---- */

static const char *const problems[] = {
    "f32:a>bf16:a 100",
    "f32:nchw>f32:nhwc 2x19x5x7",
    "f32:nhwc>f32:nchw 2x19x5x7",
    "f32:nchw>f32:nChw8c 2x19x5x7",
    "f32:nchw>f32:nChw16c 2x19x5x7",
    "f32:nChw16c>f32:nchw 2x19x5x7",
    "f32:nChw16c>f32:nChw8c 2x19x5x7",
    "f32:oihw>f32:OIhw16i16o 17x18x3x3",
    "f32:oihw>f32:OIhw4i16o4i 17x18x3x3",
    "f32:goihw>f32:gOIhw8i8o 2x9x10x2x2",
    "f32:ncdhw>f32:nCdhw16c 1x17x2x3x5",
    "f32:[a2:2048,b3:512,c6:32,d7:1]+70>f32:nchw 2x3x6x7",
    "f32:nchw>f32:[a2:2048,b3:512,c6:32,d7:1]+70 2x3x6x7",
    "f32:[a5:2,b9:11]+3>f32:ab 5x9",
    "s8:nchw>s8:nhwc 2x19x5x7",
    "u8:nhwc>u8:nchw 1x3x20x31",
    "s32:nchw>s32:nhwc 2x19x5x7",
    "bf16:nchw>bf16:nChw16c 2x19x5x7",
    "f16:nchw>f16:nhwc 2x19x5x7",
    "u8:nhwc>f32:nchw 1x3x20x31",
    "s8:nchw>f32:nhwc 2x19x5x7",
    "bf16:nchw>f32:nhwc 2x19x5x7",
    "f32:nchw>bf16:nhwc 2x19x5x7",
    "s32:nchw>f32:nhwc 2x19x5x7",
    "f32:nchw>s32:nhwc 2x19x5x7",
    "u8:nchw>s8:nhwc 2x19x5x7",
    /* scale for the tensor and along each axis */
    "f32:nchw>f32:nhwc 2x19x5x7 scale",
    "f32:nchw>f32:nhwc 2x19x5x7 scale[0]",
    "f32:nchw>f32:nhwc 2x19x5x7 scale[1]",
    "f32:nchw>f32:nhwc 2x19x5x7 scale[2]",
    "f32:nchw>f32:nhwc 2x19x5x7 scale[3]",
    "f32:nchw>f32:nChw16c 2x19x5x7 scale[1]",
    "f32:oihw>f32:OIhw16i16o 17x18x3x3 scale[0]",
    "f32:oihw>s8:OIhw4i16o4i 17x18x3x3 scale[0]",
    "s8:nchw>f32:nhwc 2x19x5x7 scale[1]",
    "u8:nhwc>f32:nchw 1x3x20x31 scale[1]",
    "f32:[a2:2048,b3:512,c6:32,d7:1]+70>f32:nchw 2x3x6x7 scale[1]",
    /* squares, which 2.6 and 3.7 move as floats */
    "s32:ab>s32:ba 8x8",
    "s32:nChw4c>s32:hwio 8x8x1x1",
    "bf16:ba>bf16:ab 8x8",
    "bf16:nChw8c>bf16:nchw 4x24x1x8",
    /* infinity, which 3.7 makes 0 */
    "f16:ab>u8:ba 16x16",
    /* an implementation for large tensors, which forgets a stride in 3.7 */
    "f32:ba>f32:[a31:4096,b2048:2] 31x2048",
    "f32:cbda>f32:[a17:11088,c33:336,b7:48,d16:3] 17x7x33x16",
    /* another one for what is one run, which makes -0 into 0 in 2.6 */
    "f32:bca>f32:abc 1x16x1 scale",
};

/* Equal strides that leave gaps, on both sides: oneDNN 3.7 writes over what lies in the gaps. */
static const char *const strided_copies[] = {
    "f32:[a5:12,b9:1]+3>f32:[a5:12,b9:1] 5x9",
    "f32:[a5:12,b9:1]>f32:[a5:12,b9:1]+7 5x9",
    "f32:[b9:12,a5:1]+3>f32:[b9:12,a5:1] 5x9",
    "f32:[a33:2]+9>f32:[a33:2]+7 33",
    "f32:[a2:180,b3:60,c6:10,d7:1]+60>f32:[a2:180,b3:60,c6:10,d7:1] 2x3x6x7",
    "s8:[a5:21,b9:2]+1>s8:[a5:21,b9:2] 5x9",
    "u8:[a5:12,b9:1]+3>u8:[a5:12,b9:1] 5x9",
    "u8:[a5:12,b9:1]+3>s8:[a5:12,b9:1] 5x9",
    "u8:[a5:12,b9:1]+3>f32:[a5:12,b9:1] 5x9",
    "bf16:[a5:12,b9:1]+3>bf16:[a5:12,b9:1] 5x9",
};

/* Says no for one of the reasons that only oneDNN itself can give. */
static bool is_own_refusal(const char *message)
{
    return strstr(message, "row onednn does not apply: oneDNN failed its self-test: ") == message ||
           strstr(message, "row onednn does not apply: oneDNN's self-test did not come across its ") == message ||
           strstr(message, "row onednn does not apply: oneDNN has no such reorder: ") == message;
}

static bool is_admitted_and_right(const char *text)
{
    tsr_plan *plan = NULL;
    tsr_error error = {0};
    workload work = parsed_workload(text);
    tsr_status status = create(&plan, &work, false, &error);
    if (status == TSR_OK) {
        bool is_right = false;
        char *src = filled_source(&work);
        assert_string_equal(tsr_plan_get_info(plan).row, "onednn");
        assert_string_equal(tsr_plan_get_info(plan).kernel, "onednn");
        status = verify_plan(plan, &work.problem.src, src, &work.problem.dst, &work.options, &is_right, &error);
        if (status != TSR_OK || !is_right)
            fail_msg("%s: %s", text, error.message);
        free(src);
    } else if (status != TSR_UNSUPPORTED || !is_own_refusal(error.message)) {
        fail_msg("%s: %s: %s", text, tsr_status_name(status), error.message);
    }
    tsr_plan_free(&plan);
    workload_reset(&work);
    return status == TSR_OK;
}

static void test_equals_the_definition(void **state)
{
    int admitted = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(problems); i++)
        admitted += is_admitted_and_right(problems[i]);
    print_message("# %s: %d of %d problems admitted\n", tsr_build_features(), admitted, (int)COUNT(problems));
    assert_true(admitted > 0);
}

/* Is it right without a self-test? */
static bool is_right_untested(const char *text)
{
    tsr_plan *plan = NULL;
    tsr_error error = {0};
    bool is_right = false;
    workload work = parsed_workload(text);
    char *src = filled_source(&work);
    assert_int_equal(create(&plan, &work, true, NULL), TSR_OK);
    assert_int_equal(verify_plan(plan, &work.problem.src, src, &work.problem.dst, &work.options, &is_right, &error),
                     TSR_OK);
    free(src);
    tsr_plan_free(&plan);
    workload_reset(&work);
    return is_right;
}

static void test_strided_copies(void **state)
{
    int wrong = 0, admitted = 0, copies = (int)COUNT(strided_copies);
    (void)state;
    for (int i = 0; i < copies; i++) {
        wrong += !is_right_untested(strided_copies[i]);
        admitted += is_admitted_and_right(strided_copies[i]);
    }
    print_message("# oneDNN gets %d of %d strided copies wrong, %d are admitted\n", wrong, copies, admitted);
    if (strstr(tsr_build_features(), "onednn 3.7.")) {
        assert_int_equal(wrong, copies);
        assert_int_equal(admitted, 0);
    } else {
        assert_true(admitted <= copies - wrong);
    }
}

/* ---- refusals ---- */

static void test_what_it_cannot_express(void **state)
{
    static const struct {
        const char *problem;
        tsr_padding padding;
        const char *reason;
    } rows[] = {
        {"f32:scalar>f32:scalar scalar", 0, "oneDNN has 1 to 12 axes, not 0"},
        {"f32:abcdefghijklm>f32:mlkjihgfedcba 1x2x1x2x1x2x1x2x1x2x1x2x1", 0, "oneDNN has 1 to 12 axes, not 13"},
        {"f64:ab>f64:ba 2x3", 0, "oneDNN does not reorder f64"},
        {"bool:ab>bool:ba 2x3", 0, "oneDNN does not reorder bool"},
        {"f32:[a2:0,b3:1]>f32:ab 2x3", 0, "oneDNN takes no stride of 0 or below"},
        {"f32:aB5b>f32:ab 2x7", 0, "oneDNN has no tag for the source"},
        {"f32:ab>f32:[a2,b3,b3] 2x7", 0, "oneDNN has no tag for the destination"},
        {"f32:ab>f32:[a2:100,b8:3] 2x7", 0, "oneDNN has no tag for the destination"},
        {"f32:ab>f32:ba 2x0", 0, "there are no elements"},
        {"f32:ab>f32:ba 2x3 mean", 0, "oneDNN's reorder has a scale, and no mean"},
        {"f32:nchw>f32:nChw16c 2x3x4x5", TSR_PADDING_KEEP, "oneDNN always zeroes padding"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        workload work = parsed_workload(rows[i].problem);
        tsr_plan *plan = NULL;
        tsr_error error = {0};
        char expected[TSR_ERROR_MESSAGE_SIZE] = "row onednn does not apply: ";
        strcat(expected, has_onednn() ? rows[i].reason : "this build has no oneDNN");
        work.options.padding = rows[i].padding;
        if (has_onednn() || !rows[i].padding) {
            assert_int_equal(create(&plan, &work, true, &error), TSR_UNSUPPORTED);
            assert_row_refused(error.message, expected);
            assert_null(plan);
        }
        workload_reset(&work);
    }
}

/* A build without oneDNN has the row, and says why it never applies. */
static void test_without_onednn(void **state)
{
    (void)state;
    workload work = parsed_workload("f32:nchw>f32:nhwc 2x19x5x7");
    tsr_plan *plan = NULL;
    tsr_error error = {0};
    tsr_verdict verdict;
    assert_int_equal(create(&plan, &work, true, &error), TSR_UNSUPPORTED);
    assert_row_refused(error.message, "row onednn does not apply: this build has no oneDNN");
    plan = parsed_plan("f32:nchw>f32:nhwc 2x19x5x7", NULL);
    assert_true(tsr_plan_verdict(plan, 6, &verdict));
    assert_false(verdict.applicable);
    assert_string_equal(verdict.row, "onednn");
    assert_string_equal(verdict.reason, "this build has no oneDNN");
    tsr_plan_free(&plan);
    workload_reset(&work);
}

/*
 * NaN becomes 0 with us and something else with oneDNN, so that its self-test fails; `untested`
 * admits it for all that.
 */
static void test_distrust(void **state)
{
    (void)state;
    workload work = parsed_workload("f32:nchw>s8:nhwc 2x19x5x7");
    tsr_plan *plan = NULL;
    for (int turn = 0; turn < 2; turn++) {
        tsr_error error = {0};
        assert_int_equal(create(&plan, &work, false, &error), TSR_UNSUPPORTED);
        assert_true(strstr(error.message, "row onednn does not apply: oneDNN failed its self-test: f32:nchw ") ==
                    error.message);
        assert_null(plan);
    }
    assert_int_equal(create(&plan, &work, true, NULL), TSR_OK);
    float *src = malloc((size_t)tsr_desc_size_bytes(&work.problem.src));
    int8_t *dst = malloc((size_t)tsr_desc_size_bytes(&work.problem.dst));
    assert_true(src && dst);
    for (int i = 0; i < 2 * 19 * 35; i++)
        src[i] = (float)(i % 100);
    assert_int_equal(tsr_plan_run(plan, src, dst, NULL), TSR_OK);
    for (int i = 0; i < 2 * 19 * 35; i++)
        assert_int_equal(dst[(i / 665 * 35 + i % 35) * 19 + i / 35 % 19], i % 100);
    free(src);
    free(dst);
    tsr_plan_free(&plan);
    workload_reset(&work);
}

/* ---- one plan, several threads; and no memory ---- */

static void test_concurrent_runs(void **state)
{
    enum { THREADS = 4 };
    (void)state;
    workload work = parsed_workload("f32:nchw>f32:nChw16c 2x19x25x27 scale[1]");
    size_t bytes = (size_t)tsr_desc_size_bytes(&work.problem.dst);
    tsr_plan *plan = NULL;
    struct runner runners[THREADS];
    assert_int_equal(create(&plan, &work, true, NULL), TSR_OK);
    char *src = filled_source(&work), *expected = malloc(bytes);
    assert_non_null(expected);
    assert_int_equal(tsr_plan_run(plan, src, expected, NULL), TSR_OK);
    for (int i = 0; i < THREADS; i++) {
        runners[i] = (struct runner){.plan = plan, .src = src, .dst = calloc(1, bytes)};
        assert_non_null(runners[i].dst);
        assert_int_equal(pthread_create(&runners[i].thread, NULL, run_many_times, &runners[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(runners[i].thread, NULL);
        assert_int_equal(runners[i].status, TSR_OK);
        assert_memory_equal(runners[i].dst, expected, bytes);
        free(runners[i].dst);
    }
    free(expected);
    free(src);
    tsr_plan_free(&plan);
    workload_reset(&work);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    workload work = parsed_workload("f32:nchw>f32:nhwc 2x19x5x7 scale[1]");
    tsr_status status = TSR_OUT_OF_MEMORY;
    for (int fail_at = 1; status != TSR_OK; fail_at++) {
        tsr_plan *plan = NULL;
        tsr_error error = {0};
        failing_allocator counter = {.fail_at = fail_at};
        tsr_allocator allocator = failing_allocator_of(&counter);
        work.options.allocator = &allocator;
        status = create(&plan, &work, true, &error);
        assert_int_equal(status, counter.allocations >= fail_at ? TSR_OUT_OF_MEMORY : TSR_OK);
        assert_true(status == TSR_OK || strncmp(error.message, "no memory", 9) == 0 ||
                    strcmp(error.message, "no memory for the plan") == 0);
        tsr_plan_free(&plan);
        assert_int_equal(counter.live, 0);
        assert_int_equal(counter.live_bytes, 0);
    }
    workload_reset(&work);
}

int main(void)
{
    const struct CMUnitTest with[] = {
        cmocka_unit_test(test_equals_the_definition),  cmocka_unit_test(test_strided_copies),
        cmocka_unit_test(test_what_it_cannot_express), cmocka_unit_test(test_distrust),
        cmocka_unit_test(test_concurrent_runs),        cmocka_unit_test(test_out_of_memory),
    };
    const struct CMUnitTest without[] = {cmocka_unit_test(test_what_it_cannot_express),
                                         cmocka_unit_test(test_without_onednn)};
    return has_onednn() ? cmocka_run_group_tests_name("with oneDNN", with, NULL, NULL)
                        : cmocka_run_group_tests_name("without oneDNN", without, NULL, NULL);
}
