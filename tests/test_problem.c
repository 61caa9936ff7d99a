/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <tessera/text.h>

#include "same.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { NONE = TSR_ATTRIBUTE_NONE, TENSOR = TSR_ATTRIBUTE_TENSOR };

static const struct {
    const char *text, *printed;
    int scale_axis, mean_axis;
} problems[] = {
    {"f32:nhwc>f32:nChw16c 8x64x56x56", "f32:nhwc>f32:nChw16c 8x64x56x56", NONE, NONE},
    {"u8:nhwc>f32:nchw 1x3x8x9 scale[1] mean[1]", "u8:nhwc>f32:nchw 1x3x8x9 scale[1] mean[1]", 1, 1},
    {"u8:nhwc>f32:nchw 1x3x8x9 mean[1] scale", "u8:nhwc>f32:nchw 1x3x8x9 scale mean[1]", TENSOR, 1},
    {"u8:nhwc>f32:nchw 1x3x8x9 mean", "u8:nhwc>f32:nchw 1x3x8x9 mean", NONE, TENSOR},
    {"u8:nhwc>f32:nchw 1x3x8x9 scale[3]", "u8:nhwc>f32:nchw 1x3x8x9 scale[3]", 3, NONE},
    {"\tf32:abcd>f32:acdb\n1x3x2x2\r\n  scale[0] ", "f32:nchw>f32:nhwc 1x3x2x2 scale[0]", 0, NONE},
    {"f32:scalar>s8:scalar scalar scale mean", "f32:scalar>s8:scalar scalar scale mean", TENSOR, TENSOR},
    {"f32:[a2:0,b3]>f32:[b3:2,a2]+4 2x3", "f32:[a2:0,b3:1]>f32:[b3:2,a2:1]+4 2x3", NONE, NONE},
    {"bool:ab>u64:ba 0x3", "bool:nc>u64:cn 0x3", NONE, NONE},
};

static tsr_problem parse(const char *text)
{
    tsr_problem problem;
    tsr_error error = {0};
    memset(&problem, 0, sizeof problem);
    if (tsr_problem_parse(&problem, text, &error) != TSR_OK)
        fail_msg("%s: %s", text, error.message);
    return problem;
}

static void test_problems(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(problems); i++) {
        char text[TSR_TEXT_SIZE];
        tsr_problem problem = parse(problems[i].text);
        assert_int_equal(problem.scale_axis, problems[i].scale_axis);
        assert_int_equal(problem.mean_axis, problems[i].mean_axis);
        assert_int_equal(tsr_problem_print(&problem, text, sizeof text), strlen(problems[i].printed));
        assert_string_equal(text, problems[i].printed);
        tsr_problem again = parse(text);
        assert_true(tsr_same_fields(&again.src, &problem.src));
        assert_true(tsr_same_fields(&again.dst, &problem.dst));
        assert_int_equal(again.scale_axis, problem.scale_axis);
        assert_int_equal(again.mean_axis, problem.mean_axis);
    }
}

/* What is asked for beyond scale and mean. */
static void test_attributes(void **state)
{
    static const struct {
        const char *text, *printed;
        int shift_axis;
        int64_t scale_group, mean_group, shift_group;
        bool has_beta;
        uint32_t reverse;
        bool in_place;
    } rows[] = {
        {"u8:nc>u8:nc 2x3", "u8:nc>u8:nc 2x3", NONE, 0, 0, 0, false, 0, false},
        {"u8:nc>u8:nc 2x3 beta shift", "u8:nc>u8:nc 2x3 shift beta", TENSOR, 0, 0, 0, true, 0, false},
        {"u8:nc>u8:cn 2x3 in-place reverse[1]", "u8:nc>u8:cn 2x3 reverse[1] in-place", NONE, 0, 0, 0, false, 2, true},
        {"u8:nc>u8:nc 2x3 shift[0/1] scale[0/2]", "u8:nc>u8:nc 2x3 scale[0/2] shift[0]", 0, 2, 0, 0, false, 0, false},
        {"u8:nc>u8:nc 2x3 reverse[1] shift[1/77] mean[1/3] reverse[0]",
         "u8:nc>u8:nc 2x3 mean[1/3] shift[1/77] reverse[0] reverse[1]", 1, 0, 3, 77, false, 3, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[TSR_TEXT_SIZE];
        tsr_problem problem = parse(rows[i].text);
        assert_int_equal(problem.shift_axis, rows[i].shift_axis);
        assert_int_equal(problem.scale_group, rows[i].scale_group);
        assert_int_equal(problem.mean_group, rows[i].mean_group);
        assert_int_equal(problem.shift_group, rows[i].shift_group);
        assert_int_equal(problem.has_beta, rows[i].has_beta);
        assert_int_equal(problem.reverse, rows[i].reverse);
        assert_int_equal(problem.in_place, rows[i].in_place);
        tsr_problem_print(&problem, text, sizeof text);
        assert_string_equal(text, rows[i].printed);
    }
}

static void test_sides(void **state)
{
    (void)state;
    tsr_problem problem = parse("u8:nhwc>f32:nChw16c 8x64x56x57 scale");
    tsr_desc src, dst;
    assert_int_equal(tsr_desc_parse(&src, "u8:nhwc 8x64x56x57", NULL), TSR_OK);
    assert_int_equal(tsr_desc_parse(&dst, "f32:nChw16c 8x64x56x57", NULL), TSR_OK);
    assert_true(tsr_same_fields(&problem.src, &src));
    assert_true(tsr_same_fields(&problem.dst, &dst));
}

/* --- refusals --- */

#define FORM "expected SRC_TYPE:SRC_LAYOUT>DST_TYPE:DST_LAYOUT DIMS, found "
#define ATTRIBUTES                                                                                                     \
    "expected scale, mean or shift, alone or as in scale[K] or scale[K/G], beta, reverse[K] or in-place, found "

static const struct {
    const char *text;
    tsr_status status;
    const char *message;
} refusals[] = {
    {"", TSR_PARSE_ERROR, FORM "\"\""},
    {"f32:ab>f32:ba", TSR_PARSE_ERROR, FORM "\"f32:ab>f32:ba\""},
    {"f32:ab 2x3", TSR_PARSE_ERROR, FORM "\"f32:ab 2x3\""},
    {"f32:ab > f32:ba 2x3", TSR_PARSE_ERROR, FORM "\"f32:ab > f32:ba 2x3\""},
    {"f32:ab>f32:ba> 2x3", TSR_PARSE_ERROR, "expected a block such as 16c at \">\" in layout \"ba>\""},
    {">f32:ba 2x3", TSR_PARSE_ERROR, "expected TYPE:LAYOUT, found \"\""},
    {"f32:ab> 2x3", TSR_PARSE_ERROR, "expected TYPE:LAYOUT, found \"\""},
    {"> 2x3", TSR_PARSE_ERROR, "expected TYPE:LAYOUT, found \"\""},
    {"f32:ab>f32:ba 2xx", TSR_PARSE_ERROR, "expected a number of 63 bits at \"x\" in dims \"2xx\""},
    {"f32:ab>f32:abc 2x3", TSR_INVALID_ARGUMENT, "the layout has 3 axes, the dims have 2"},
    {"f32:ab>f33:ab 2x3", TSR_PARSE_ERROR, "expected a type such as f32, bf16 or u8, found \"f33\""},
    {"f32:ab>f32:ba 2x3 scales", TSR_PARSE_ERROR, ATTRIBUTES "\"scales\""},
    {"f32:ab>f32:ba 2x3 Scale", TSR_PARSE_ERROR, ATTRIBUTES "\"Scale\""},
    {"f32:ab>f32:ba 2x3 m", TSR_PARSE_ERROR, ATTRIBUTES "\"m\""},
    {"f32:ab>f32:ba 2x3 mea", TSR_PARSE_ERROR, ATTRIBUTES "\"mea\""},
    {"f32:ab>f32:ba 2x3 mean[", TSR_PARSE_ERROR, ATTRIBUTES "\"mean[\""},
    {"f32:ab>f32:ba 2x3 mean[]", TSR_PARSE_ERROR, ATTRIBUTES "\"mean[]\""},
    {"f32:ab>f32:ba 2x3 mean[1", TSR_PARSE_ERROR, ATTRIBUTES "\"mean[1\""},
    {"f32:ab>f32:ba 2x3 mean[1]x", TSR_PARSE_ERROR, ATTRIBUTES "\"mean[1]x\""},
    {"f32:ab>f32:ba 2x3 mean[-1]", TSR_PARSE_ERROR, ATTRIBUTES "\"mean[-1]\""},
    {"f32:ab>f32:ba 2x3 mean[9223372036854775808]", TSR_PARSE_ERROR, ATTRIBUTES "\"mean[9223372036854775808]\""},
    {"f32:ab>f32:ba 2x3 mean[9223372036854775807]", TSR_INVALID_ARGUMENT,
     "\"mean[9223372036854775807]\" names an axis of a tensor of rank 2"},
    {"f32:ab>f32:ba 2x3 scale[2]", TSR_INVALID_ARGUMENT, "\"scale[2]\" names an axis of a tensor of rank 2"},
    {"f32:scalar>f32:scalar scalar scale[0]", TSR_INVALID_ARGUMENT, "\"scale[0]\" names an axis of a tensor of rank 0"},
    {"f32:ab>f32:ba 2x3 scale[1/]", TSR_PARSE_ERROR, ATTRIBUTES "\"scale[1/]\""},
    {"f32:ab>f32:ba 2x3 shift[1/0]", TSR_PARSE_ERROR, ATTRIBUTES "\"shift[1/0]\""},
    {"f32:ab>f32:ba 2x3 mean[/2]", TSR_PARSE_ERROR, ATTRIBUTES "\"mean[/2]\""},
    {"f32:ab>f32:ba 2x3 mean[1/2", TSR_PARSE_ERROR, ATTRIBUTES "\"mean[1/2\""},
    {"f32:ab>f32:ba 2x3 beta[1]", TSR_PARSE_ERROR, ATTRIBUTES "\"beta[1]\""},
    {"f32:ab>f32:ba 2x3 betas", TSR_PARSE_ERROR, ATTRIBUTES "\"betas\""},
    {"f32:ab>f32:ba 2x3 reverse", TSR_PARSE_ERROR, ATTRIBUTES "\"reverse\""},
    {"f32:ab>f32:ba 2x3 reverse[1/2]", TSR_PARSE_ERROR, ATTRIBUTES "\"reverse[1/2]\""},
    {"f32:ab>f32:ba 2x3 reverse[1]x", TSR_PARSE_ERROR, ATTRIBUTES "\"reverse[1]x\""},
    {"f32:ab>f32:ba 2x3 reverse[2]", TSR_INVALID_ARGUMENT, "\"reverse[2]\" names an axis of a tensor of rank 2"},
    {"f32:ab>f32:ba 2x3 shift[9/3]", TSR_INVALID_ARGUMENT, "\"shift[9/3]\" names an axis of a tensor of rank 2"},
    {"f32:ab>f32:ba 2x3 in-places", TSR_PARSE_ERROR, ATTRIBUTES "\"in-places\""},
    {"f32:ab>f32:ba 2x3 in-place in-place", TSR_PARSE_ERROR, "\"in-place\" is given a second time"},
    {"f32:ab>f32:ba 2x3 beta beta", TSR_PARSE_ERROR, "\"beta\" is given a second time"},
    {"f32:ab>f32:ba 2x3 shift[1] shift", TSR_PARSE_ERROR, "\"shift\" is given a second time"},
    {"f32:ab>f32:ba 2x3 reverse[1] reverse[0] reverse[1]", TSR_PARSE_ERROR, "\"reverse[1]\" is given a second time"},
    {"f32:ab>f32:ba 2x3 scale mean scale[1]", TSR_PARSE_ERROR, "\"scale[1]\" is given a second time"},
    {"f32:ab>f32:ba 2x3 mean mean", TSR_PARSE_ERROR, "\"mean\" is given a second time"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refusals); i++) {
        tsr_problem problem, before;
        tsr_error error = {0};
        memset(&problem, 0x5a, sizeof problem);
        before = problem;
        tsr_status status = tsr_problem_parse(&problem, refusals[i].text, &error);
        assert_string_equal(error.message, refusals[i].message);
        assert_int_equal(status, refusals[i].status);
        assert_int_equal(error.status, status);
        assert_memory_equal(&problem, &before, sizeof problem);
        assert_int_equal(tsr_problem_parse(&problem, refusals[i].text, NULL), status);
    }
}

/* --- cut as snprintf cuts --- */

static int print_problem(const void *thing, char *text, size_t size)
{
    return tsr_problem_print(thing, text, size);
}

static int print_desc(const void *thing, char *text, size_t size)
{
    return tsr_desc_print(thing, text, size);
}

static int print_layout(const void *thing, char *text, size_t size)
{
    return tsr_layout_print(thing, text, size);
}

static int print_dims(const void *thing, char *text, size_t size)
{
    return tsr_dims_print(((const tsr_desc *)thing)->dims, ((const tsr_desc *)thing)->rank, text, size);
}

/* Every size of the buffer from 0 to more than enough; the bytes behind it stay. */
static void check_cut(int (*print)(const void *, char *, size_t), const void *thing)
{
    char whole[512], text[520];
    int length = print(thing, whole, sizeof whole);
    assert_in_range(length, 1, sizeof whole - 1);
    assert_int_equal(strlen(whole), length);
    assert_int_equal(print(thing, NULL, 0), length);
    for (size_t size = 0; size < (size_t)length + 4; size++) {
        size_t kept = size <= (size_t)length ? size : (size_t)length + 1;
        memset(text, '#', sizeof text);
        assert_int_equal(print(thing, text, size), length);
        if (size > 0) {
            assert_memory_equal(text, whole, kept - 1);
            assert_int_equal(text[kept - 1], '\0');
        }
        assert_int_equal(text[kept], '#');
    }
}

static void test_cut(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "u8:nhwc>f32:nChw16c 1x3x8x9 scale[1] mean[1]",
        "f32:scalar>f32:[]+99 scalar scale mean",
        "f32:[a2:400,b3:100/7]+12>f32:[b3:0,a2:1/0] 2x3",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        tsr_problem problem = parse(texts[i]);
        check_cut(print_problem, &problem);
        check_cut(print_desc, &problem.src);
        check_cut(print_layout, &problem.dst);
        check_cut(print_dims, &problem.src);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_problems), cmocka_unit_test(test_attributes), cmocka_unit_test(test_sides),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
