/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include <tessera/text.h>

#include "random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static tsr_random numbers;

/* --- there and back --- */

static tsr_desc draw(tsr_dtype dtype, int rank, const int64_t *dims)
{
    tsr_random_options options = {
        .max_blocks = 3,
        .row_major = tsr_random_chance(&numbers, 3),
        .strided = tsr_random_chance(&numbers, 3),
        .offset = tsr_random_chance(&numbers, 3),
        .pad_before = tsr_random_chance(&numbers, 4),
        .broadcast = tsr_random_chance(&numbers, 4),
        .spare = tsr_random_chance(&numbers, 4),
    };
    return tsr_random_desc(&numbers, dtype, rank, dims, &options);
}

static tsr_dtype draw_type(void)
{
    return (tsr_dtype)tsr_random_range(&numbers, 1, TSR_DTYPE_COUNT - 1);
}

static int draw_dims(int64_t *dims)
{
    int rank = (int)tsr_random_range(&numbers, 1, 6);
    tsr_random_dims(&numbers, rank, 3000, dims);
    if (tsr_random_chance(&numbers, 50))
        dims[tsr_random_range(&numbers, 0, rank - 1)] = 0;
    return rank;
}

static void expect_same(const tsr_desc *found, const tsr_desc *desc, const char *text)
{
    if (!tsr_desc_equal(found, desc))
        fail_msg("%s is not what was printed", text);
}

static void test_descs(void **state)
{
    (void)state;
    int named = 0;
    for (int i = tsr_random_cases(100000); i > 0; i--) {
        char text[TSR_TEXT_SIZE];
        int64_t dims[TSR_MAX_RANK];
        int rank = draw_dims(dims);
        tsr_desc desc = draw(draw_type(), rank, dims), again;
        tsr_error error = {0};
        tsr_desc_print(&desc, text, sizeof text);
        if (tsr_desc_parse(&again, text, &error) != TSR_OK)
            fail_msg("%s: %s", text, error.message);
        expect_same(&again, &desc, text);
        named += strchr(text, '[') == NULL;
    }
    assert_true(named > 1000);
}

static int draw_attribute(int rank)
{
    return (int)tsr_random_range(&numbers, TSR_ATTRIBUTE_NONE, rank - 1);
}

static int64_t draw_group(int axis)
{
    return axis >= 0 && tsr_random_chance(&numbers, 2) ? tsr_random_range(&numbers, 2, 40) : 0;
}

static tsr_problem draw_problem(int rank, const int64_t *dims)
{
    tsr_problem problem = {.src = draw(draw_type(), rank, dims), .dst = draw(draw_type(), rank, dims)};
    problem.scale_axis = draw_attribute(rank);
    problem.mean_axis = draw_attribute(rank);
    problem.shift_axis = draw_attribute(rank);
    problem.scale_group = draw_group(problem.scale_axis);
    problem.mean_group = draw_group(problem.mean_axis);
    problem.shift_group = draw_group(problem.shift_axis);
    problem.has_beta = tsr_random_chance(&numbers, 2);
    problem.reverse = (uint32_t)tsr_random_range(&numbers, 0, (INT64_C(1) << rank) - 1);
    problem.in_place = tsr_random_chance(&numbers, 2);
    return problem;
}

static void test_problems(void **state)
{
    (void)state;
    for (int i = tsr_random_cases(5000); i > 0; i--) {
        char text[TSR_TEXT_SIZE];
        int64_t dims[TSR_MAX_RANK];
        int rank = draw_dims(dims);
        tsr_problem problem = draw_problem(rank, dims);
        tsr_problem again;
        tsr_error error = {0};
        tsr_problem_print(&problem, text, sizeof text);
        if (tsr_problem_parse(&again, text, &error) != TSR_OK)
            fail_msg("%s: %s", text, error.message);
        expect_same(&again.src, &problem.src, text);
        expect_same(&again.dst, &problem.dst, text);
        assert_int_equal(again.scale_axis, problem.scale_axis);
        assert_int_equal(again.mean_axis, problem.mean_axis);
        assert_int_equal(again.shift_axis, problem.shift_axis);
        assert_int_equal(again.scale_group, problem.scale_group);
        assert_int_equal(again.mean_group, problem.mean_group);
        assert_int_equal(again.shift_group, problem.shift_group);
        assert_int_equal(again.has_beta, problem.has_beta);
        assert_int_equal(again.reverse, problem.reverse);
        assert_int_equal(again.in_place, problem.in_place);
    }
}

/* --- hostile text: every parser refuses it, or agrees with itself, in time that the length bounds --- */

/* What a text may not do is the same for all parsers; returns how many took it. */
static int try_all(const char *text)
{
    tsr_desc desc;
    tsr_problem problem;
    tsr_layout layout;
    tsr_dtype dtype;
    int64_t dims[TSR_MAX_RANK] = {2, 3};
    int rank;
    tsr_error errors[6] = {{0}};
    const tsr_status statuses[] = {
        tsr_desc_parse(&desc, text, &errors[0]),
        tsr_problem_parse(&problem, text, &errors[1]),
        tsr_layout_parse(&layout, text, &errors[2]),
        tsr_dtype_parse(&dtype, text, &errors[3]),
        tsr_desc_from_layout(&desc, TSR_F32, 2, dims, text, &errors[4]),
        tsr_dims_parse(dims, &rank, text, &errors[5]),
    };
    int taken = 0;
    for (size_t i = 0; i < COUNT(statuses); i++) {
        assert_int_equal(errors[i].status, statuses[i]);
        assert_int_equal(errors[i].message[0] == '\0', statuses[i] == TSR_OK);
        assert_true(strlen(errors[i].message) < TSR_ERROR_MESSAGE_SIZE);
        taken += statuses[i] == TSR_OK;
    }
    return taken;
}

enum { MEGABYTE = 1 << 20 };

static void test_one_character(void **state)
{
    (void)state;
    char *text = malloc(MEGABYTE + 1);
    assert_non_null(text);
    text[MEGABYTE] = '\0';
    clock_t start = clock();
    for (int character = 1; character < 256; character++) {
        memset(text, character, MEGABYTE);
        int taken = try_all(text);
        if (taken != (character == '0')) /* as dims, a million zeros are one zero */
            fail_msg("%d parsers took a megabyte of character %d", taken, character);
    }
    free(text);
    assert_true(clock() - start < 20 * CLOCKS_PER_SEC);
}

/* A piece, repeated, between a head and a tail. */
static const struct {
    const char *head, *piece, *tail;
} repeats[] = {
    {"f32:", "[", " 2x3"},
    {"f32:", "]", " 2x3"},
    {"f32:[", "[a1", "] 2x3"},
    {"f32:[a2", ",a2", "] 2x3"},
    {"f32:[a2:", "9", "] 2"},
    {"f32:[a2:1/", "1", "] 2"},
    {"f32:[a2]+", "1", " 2"},
    {"f32:A", "1", "a 2"},
    {"f32:A2a", "2a", " 2"},
    {"f32:ab ", "2x", "3"},
    {"f32:ab ", "9", ""},
    {"", "f32:", "ab 2x3"},
    {"f32:ab", ">", "f32:ab 2x3"},
    {"f32:ab", ">f32:ab", " 2x3"},
    {"f32:ab>f32:ab 2x3", " scale", ""},
    {"f32:ab>f32:ab 2x3 mean[", "1", "]"},
    {"f32:ab>f32:ab 2x3 ", "mean[", ""},
    {"f32:ab>f32:ab 2x3 ", "\x01", ""},
    {"f32:ab>f32:ab 2x3 ", "%s%n", ""},
    {"f32:", "\xff\x80", " 2x3"},
};

static char *repeat(size_t i, size_t times)
{
    size_t head = strlen(repeats[i].head), piece = strlen(repeats[i].piece), tail = strlen(repeats[i].tail);
    char *text = malloc(head + times * piece + tail + 1);
    assert_non_null(text);
    memcpy(text, repeats[i].head, head);
    for (size_t k = 0; k < times; k++)
        memcpy(text + head + k * piece, repeats[i].piece, piece);
    memcpy(text + head + times * piece, repeats[i].tail, tail + 1);
    return text;
}

static void test_repeats(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(repeats); i++) {
        for (size_t times = 1000; times < 500000; times *= 7) {
            char *text = repeat(i, times);
            if (try_all(text) != 0)
                fail_msg("%s%s... was taken %zu times over", repeats[i].head, repeats[i].piece, times);
            free(text);
        }
    }
}

/* A text just below the limit is read, and one at the limit is not. */
static void test_limit(void **state)
{
    (void)state;
    static char text[TSR_TEXT_SIZE + 1];
    tsr_desc desc;
    tsr_problem problem;
    tsr_error error = {0};
    memset(text, ' ', TSR_TEXT_SIZE - 1);
    memcpy(text, "f32:ab 2x3", 10);
    assert_int_equal(tsr_desc_parse(&desc, text, NULL), TSR_OK);
    memcpy(text, "f32:ab>f32:ba 2x3", 17);
    assert_int_equal(tsr_problem_parse(&problem, text, NULL), TSR_OK);
    text[TSR_TEXT_SIZE - 1] = ' ';
    assert_int_equal(tsr_problem_parse(&problem, text, &error), TSR_PARSE_ERROR);
    assert_string_equal(error.message, "expected a text below 16384 bytes");
    assert_int_equal(tsr_desc_parse(&desc, text, &error), TSR_PARSE_ERROR);
    assert_string_equal(error.message, "expected a text below 16384 bytes");
}

/* A few bytes of a good text changed, removed or moved: whatever is read prints and reads again. */
static void mutate(char *text)
{
    static const char liked[] = "[]:,/+x>0129aAbcCs \t-\x01\xff";
    for (int64_t edits = tsr_random_range(&numbers, 1, 4); edits > 0 && text[0]; edits--) {
        size_t length = strlen(text);
        size_t at = (size_t)tsr_random_range(&numbers, 0, (int64_t)length - 1);
        size_t from = (size_t)tsr_random_range(&numbers, 0, (int64_t)length - 1);
        size_t longest = length - (at > from ? at : from);
        if (tsr_random_chance(&numbers, 2))
            text[at] = liked[tsr_random_range(&numbers, 0, sizeof liked - 2)];
        else if (tsr_random_chance(&numbers, 2))
            memmove(text + at, text + at + 1, length - at);
        else
            memmove(text + at, text + from, longest < 9 ? longest : 9);
    }
}

static void check_mutant(const char *text)
{
    char printed[TSR_TEXT_SIZE];
    tsr_problem problem, again;
    try_all(text);
    if (tsr_problem_parse(&problem, text, NULL) != TSR_OK)
        return;
    tsr_problem_print(&problem, printed, sizeof printed);
    if (tsr_problem_parse(&again, printed, NULL) != TSR_OK)
        fail_msg("%s was read, but not %s", text, printed);
    expect_same(&again.src, &problem.src, printed);
    expect_same(&again.dst, &problem.dst, printed);
}

static void test_mutations(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "u8:nhwc>f32:nChw16c 1x3x8x9 scale[1] mean[1]",
        "f32:[a2:400,b3:100/7]+12>f32:[b3:0,a2:1/1] 2x3 scale",
        "bf16:OIhw4i16o4i>s8:oihw 17x5x1x1",
        "f32:scalar>f32:[]+99 scalar",
    };
    for (int i = tsr_random_cases(20000); i > 0; i--) {
        char text[128];
        snprintf(text, sizeof text, "%s", texts[i % (int)COUNT(texts)]);
        mutate(text);
        check_mutant(text);
    }
}

static int seed(void **state)
{
    (void)state;
    tsr_random_seed_from_environment(&numbers);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descs),   cmocka_unit_test(test_problems), cmocka_unit_test(test_one_character),
        cmocka_unit_test(test_repeats), cmocka_unit_test(test_limit),    cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, seed, NULL);
}
