/* SPDX-License-Identifier: Apache-2.0 */
/* Wisdom: its text, its files, and what plans make of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/machine.h"
#include "parsed.h"
#include "reorder/plan.h"
#include "reorder/wisdom.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { TEXT_SIZE = 4096 };

static const char transposed[] = "f32:nchw>f32:nhwc 2x64x5x7";

/* The text of a file of this machine, with these lines; %R in them is the instruction set. The caller frees it. */
static char *text_of(const char *lines)
{
    char machine[160], *text = malloc(TEXT_SIZE);
    assert_non_null(text);
    tsr_machine_print(machine, sizeof machine);
    int length = snprintf(text, TEXT_SIZE, "tessera-wisdom 1 %s\n", machine);
    for (const char *at = lines; *at; at++) {
        bool is_rung = strncmp(at, "%R", 2) == 0;
        length += snprintf(text + length, TEXT_SIZE - (size_t)length, "%.*s", is_rung ? 99 : 1,
                           is_rung ? tsr_cpu_rung_name(tsr_cpu_flags()) : at);
        at += is_rung;
    }
    return text;
}

static tsr_wisdom *parsed_wisdom(const char *lines)
{
    tsr_wisdom *wisdom = NULL;
    tsr_error error = {0};
    char *text = text_of(lines);
    if (tsr_wisdom_parse(&wisdom, text, &error) != TSR_OK)
        fail_msg("%s: %s", text, error.message);
    free(text);
    return wisdom;
}

static void assert_prints(const tsr_wisdom *wisdom, const char *lines)
{
    char found[TEXT_SIZE], *expected = text_of(lines);
    assert_int_equal(tsr_wisdom_print(wisdom, found, sizeof found), strlen(expected));
    assert_string_equal(found, expected);
    free(expected);
}

static void learn(tsr_wisdom *wisdom, const char *problem, int threads, tsr_lesson lesson)
{
    tsr_problem parsed = parsed_problem(problem);
    assert_int_equal(tsr_wisdom_learn(wisdom, &parsed, threads, &lesson, NULL), TSR_OK);
}

/* ---- text ---- */

static void test_learning(void **state)
{
    tsr_wisdom *wisdom = NULL;
    (void)state;
    assert_int_equal(tsr_wisdom_create(&wisdom, NULL), TSR_OK);
    assert_prints(wisdom, "");
    learn(wisdom, "u8:nc>u8:cn 70x90", 2, (tsr_lesson){"onednn", TSR_STREAMING_AUTO, 0, 1.234});
    learn(wisdom, "f32:NHWC>f32:nchw 1x3x5x7  mean", 1, (tsr_lesson){"transpose", TSR_STREAMING_NEVER, 256, 0});
    learn(wisdom, "u8:nc>u8:cn 70x90", 1, (tsr_lesson){"transpose", TSR_STREAMING_ALWAYS, 64, 1});
    assert_prints(wisdom, "%R 1 f32:nhwc>f32:nchw 1x3x5x7 mean = transpose never 256 0\n"
                          "%R 1 u8:nc>u8:cn 70x90 = transpose always 64 100\n"
                          "%R 2 u8:nc>u8:cn 70x90 = onednn auto 0 123\n");
    learn(wisdom, "u8:nc>u8:cn 70x90", 1, (tsr_lesson){"copy", TSR_STREAMING_AUTO, 0, 2});
    assert_prints(wisdom, "%R 1 f32:nhwc>f32:nchw 1x3x5x7 mean = transpose never 256 0\n"
                          "%R 1 u8:nc>u8:cn 70x90 = copy auto 0 200\n"
                          "%R 2 u8:nc>u8:cn 70x90 = onednn auto 0 123\n");
    tsr_wisdom_free(&wisdom);
    assert_null(wisdom);
    tsr_wisdom_free(&wisdom);
    tsr_wisdom_free(NULL);
}

static void test_round_trip(void **state)
{
    /* other instruction sets keep their lines, and any spelling of a problem is one problem */
    static const char lines[] = "%R 1 f32:nhwc>f32:nchw 1x3x5x7 scale = convert always 0 1000000\n"
                                "xyz 12 u8:nc>u8:cn 70x90 reverse[1] in-place = slices auto 9223372036854775807 1\n";
    (void)state;
    tsr_wisdom *wisdom = parsed_wisdom(lines);
    assert_prints(wisdom, lines);
    tsr_wisdom_free(&wisdom);
    wisdom = parsed_wisdom("xyz 1 u8:NCHW>u8:NHWC 1x3x5x7 scale[0] = copy auto 0 7\n"
                           "xyz 1 u8:nchw>u8:nhwc 1x3x5x7 scale[1/3] = convert auto 0 8");
    assert_prints(wisdom, "xyz 1 u8:nchw>u8:nhwc 1x3x5x7 scale = convert auto 0 8\n");
    tsr_wisdom_free(&wisdom);
    assert_int_equal(tsr_wisdom_parse(&wisdom, "", NULL), TSR_OK);
    assert_prints(wisdom, "");
    tsr_wisdom_free(&wisdom);
}

static void test_malformed(void **state)
{
#define FORM "expected RUNG THREADS PROBLEM = ROW STREAMING TILE_BYTES PERCENT, found "
    static const struct {
        const char *lines, *message;
        tsr_status status;
    } rows[] = {
        {"\n", "line 2: " FORM "\"\"", TSR_PARSE_ERROR},
        {"nonsense\n", "line 2: " FORM "\"nonsense\"", TSR_PARSE_ERROR},
        {" = ", "line 2: " FORM "\" = \"", TSR_PARSE_ERROR},
        {"c 1 u8:a>u8:a 7 = copy auto 0 1\nc 1 u8:a>u8:a 7 = copy auto 0\n",
         "line 3: " FORM "\"c 1 u8:a>u8:a 7 = copy auto 0\"", TSR_PARSE_ERROR},
        {"c 1 u8:a>u8:a 7 = copy auto 0 1 2", "line 2: " FORM "\"c 1 u8:a>u8:a 7 = copy auto 0 1 2\"", TSR_PARSE_ERROR},
        {"c 1 u8:a>u8:a 7 = copy auto 0 1000001", "line 2: " FORM "\"c 1 u8:a>u8:a 7 = copy auto 0 1000001\"",
         TSR_PARSE_ERROR},
        {"c 1 u8:a>u8:a 7 = copy auto -1 1", "line 2: " FORM "\"c 1 u8:a>u8:a 7 = copy auto -1 1\"", TSR_PARSE_ERROR},
        {"c 1 u8:a>u8:a 7 = copy auto 9223372036854775808 1",
         "line 2: " FORM "\"c 1 u8:a>u8:a 7 = copy auto 9223372036854775808 1\"", TSR_PARSE_ERROR},
        {"c 1 u8:a>u8:a 7 = copy perhaps 0 1", "line 2: " FORM "\"c 1 u8:a>u8:a 7 = copy perhaps 0 1\"",
         TSR_PARSE_ERROR},
        {"c 1 u8:a>u8:a 7 =  copy auto 0 1", "line 2: " FORM "\"c 1 u8:a>u8:a 7 =  copy auto 0 1\"", TSR_PARSE_ERROR},
        {"c two u8:a>u8:a 7 = copy auto 0 1", "line 2: " FORM "\"c two u8:a>u8:a 7 = copy auto 0 1\"", TSR_PARSE_ERROR},
        {"c 2147483648 u8:a>u8:a 7 = copy auto 0 1", "line 2: " FORM "\"c 2147483648 u8:a>u8:a 7 = copy auto 0 1\"",
         TSR_PARSE_ERROR},
        {"c 1 u8:ab>u8:bq 7x9 = copy auto 0 1",
         "line 2: the letters of layout \"bq\" are neither a, b, c, ... nor of one family such as nchw or goihw",
         TSR_PARSE_ERROR},
        {"c 0 u8:a>u8:a 7 = copy auto 0 1", "line 2: expected 1 or more threads, found 0", TSR_INVALID_ARGUMENT},
        {"c 1 u8:a>u8:a 7 = fly auto 0 1", "line 2: expected a row of the selection table, found \"fly\"",
         TSR_INVALID_ARGUMENT},
    };
#undef FORM
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_wisdom *wisdom = NULL;
        tsr_error error = {0};
        char *text = text_of(rows[i].lines);
        assert_int_equal(tsr_wisdom_parse(&wisdom, text, &error), rows[i].status);
        assert_string_equal(error.message, rows[i].message);
        assert_null(wisdom);
        free(text);
    }
}

static void test_heads(void **state)
{
    char machine[160], message[TSR_ERROR_MESSAGE_SIZE];
    tsr_wisdom *wisdom = NULL;
    tsr_error error = {0};
    (void)state;
    assert_int_equal(tsr_wisdom_parse(&wisdom, "wisdom of old\n", &error), TSR_PARSE_ERROR);
    assert_string_equal(error.message, "line 1: expected \"tessera-wisdom 1 MACHINE\", found \"wisdom of old\"");
    assert_int_equal(tsr_wisdom_parse(&wisdom, "tessera-wisdom 1", &error), TSR_PARSE_ERROR);
    assert_string_equal(error.message, "line 1: expected \"tessera-wisdom 1 MACHINE\", found \"tessera-wisdom 1\"");
    assert_int_equal(tsr_wisdom_parse(&wisdom, "tessera-wisdom 2 \n???\n", &error), TSR_UNSUPPORTED);
    assert_string_equal(error.message, "line 1: expected version 1, found 2");
    tsr_machine_print(machine, sizeof machine);
    snprintf(message, sizeof message,
             "line 1: expected wisdom of this machine, \"%.80s\", found \"Univac I, c, caches 1 2 3\"", machine);
    assert_int_equal(tsr_wisdom_parse(&wisdom, "tessera-wisdom 1 Univac I, c, caches 1 2 3\nc 1", &error),
                     TSR_UNSUPPORTED);
    assert_string_equal(error.message, message);
    assert_null(wisdom);
}

static void test_refused_lessons(void **state)
{
    static const struct {
        int threads;
        tsr_lesson lesson;
        const char *message;
    } rows[] = {
        {0, {"copy", TSR_STREAMING_AUTO, 0, 0}, "expected 1 or more threads, found 0"},
        {1, {NULL, TSR_STREAMING_AUTO, 0, 0}, "expected a row of the selection table, found \"NULL\""},
        {1, {"Copy", TSR_STREAMING_AUTO, 0, 0}, "expected a row of the selection table, found \"Copy\""},
        {1,
         {"copy", (tsr_streaming)3, 0, 0},
         "expected a streaming of 0 to 2 and 0 or more bytes of a tile, found 3 and 0"},
        {1,
         {"copy", TSR_STREAMING_AUTO, -1, 0},
         "expected a streaming of 0 to 2 and 0 or more bytes of a tile, found 0 and -1"},
        {1, {"copy", TSR_STREAMING_AUTO, 0, -0.5}, "expected a cost of 0 to 10000, found -0.5"},
        {1, {"copy", TSR_STREAMING_AUTO, 0, INFINITY}, "expected a cost of 0 to 10000, found inf"},
        {1, {"copy", TSR_STREAMING_AUTO, 0, NAN}, "expected a cost of 0 to 10000, found nan"},
    };
    tsr_wisdom *wisdom = parsed_wisdom("");
    tsr_problem problem = parsed_problem("u8:a>u8:a 7");
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_error error = {0};
        assert_int_equal(tsr_wisdom_learn(wisdom, &problem, rows[i].threads, &rows[i].lesson, &error),
                         TSR_INVALID_ARGUMENT);
        assert_string_equal(error.message, rows[i].message);
    }
    assert_prints(wisdom, "");
    tsr_wisdom_free(&wisdom);
}

/* ---- plans ---- */

static tsr_plan *planned(const tsr_wisdom *wisdom, const char *text, tsr_reorder_options options)
{
    options.wisdom = wisdom;
    return parsed_plan(text, &options);
}

static void assert_describes(const tsr_wisdom *wisdom, const char *text, tsr_reorder_options options,
                             const char *expected)
{
    char line[256];
    tsr_plan *plan = planned(wisdom, text, options);
    tsr_plan_describe(plan, line, sizeof line);
    assert_string_equal(line, expected);
    assert_int_equal(tsr_plan_get_info(plan).tuned, strstr(expected, ", tuned") != NULL);
    tsr_plan_free(&plan);
}

/* The C kernels have the same names everywhere. */
static int use_c_kernels(void **state)
{
    (void)state;
    tsr_cpu_set_mask(0);
    return 0;
}

static int use_all_kernels(void **state)
{
    (void)state;
    tsr_cpu_set_mask(TSR_CPU_ALL);
    return 0;
}

static void test_plan_takes_it(void **state)
{
    static const char plain[] = "transpose, 1 box, 0 zero boxes, transpose_32_c, 1 thread";
    static const char tuned[] = "transpose, 1 box, 0 zero boxes, transpose_32_c, 1 thread, tuned";
    static const tsr_streaming streamings[] = {TSR_STREAMING_AUTO, TSR_STREAMING_NEVER, TSR_STREAMING_ALWAYS};
    const tsr_reorder_options one = {.threads = 1};
    tsr_wisdom *wisdom = parsed_wisdom("");
    (void)state;
    assert_describes(wisdom, transposed, one, plain);
    for (size_t i = 0; i < COUNT(streamings); i++) {
        learn(wisdom, transposed, 1, (tsr_lesson){"transpose", streamings[i], 8 * (int64_t)i, (double)i});
        assert_describes(wisdom, transposed, one, tuned);
        tsr_plan *plan = planned(wisdom, transposed, one);
        assert_int_equal(plan->streaming, streamings[i]);
        assert_int_equal(plan->principal->streams, streamings[i] == TSR_STREAMING_ALWAYS);
        assert_int_equal(plan->principal->column.step, i > 0 ? 8 * i / 4 : 64);
        if (i > 0)
            assert_true(tsr_plan_get_info(plan).cost == (double)i);
        tsr_plan_free(&plan);
    }
    assert_describes(wisdom, "f32:nchw>f32:nhwc 2x64x5x8", one, plain);
    tsr_cpu_set_mask(TSR_CPU_ALL); /* another instruction set, where there is one */
    tsr_plan *plan = planned(wisdom, transposed, one);
    assert_int_equal(tsr_plan_get_info(plan).tuned, tsr_cpu_flags() == 0);
    tsr_plan_free(&plan);
    tsr_wisdom_free(&wisdom);
}

/* Only plans that leave everything to the library are tuned. */
static void test_plan_knows_better(void **state)
{
    static const char plain[] = "transpose, 1 box, 0 zero boxes, transpose_32_c, 1 thread";
    static const tsr_reorder_options options[] = {
        {.threads = 1, .row = "transpose"},
        {.threads = 1, .streaming = TSR_STREAMING_NEVER},
        {.threads = 1, .tile_bytes = 64},
    };
    tsr_wisdom *wisdom = parsed_wisdom("c 1 f32:nchw>f32:nhwc 2x64x5x7 = transpose always 128 100\n");
    (void)state;
    for (size_t i = 0; i < COUNT(options); i++) {
        assert_describes(wisdom, transposed, options[i], plain);
        tsr_plan *plan = planned(wisdom, transposed, options[i]);
        assert_int_equal(plan->streaming, options[i].streaming);
        assert_int_equal(plan->tile_bytes, options[i].tile_bytes);
        tsr_plan_free(&plan);
    }
    tsr_wisdom_free(&wisdom);
}

/* A row that does not apply decides nothing, tiles and streaming neither. */
static void test_plan_falls_back(void **state)
{
    static const char *const rows[] = {"copy", "convert", "gather", "alias", "square"};
    const tsr_reorder_options one = {.threads = 1};
    tsr_wisdom *wisdom = parsed_wisdom("");
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        learn(wisdom, transposed, 1, (tsr_lesson){rows[i], TSR_STREAMING_ALWAYS, 64, 1});
        assert_describes(wisdom, transposed, one, "transpose, 1 box, 0 zero boxes, transpose_32_c, 1 thread");
        tsr_plan *plan = planned(wisdom, transposed, one);
        assert_int_equal(plan->streaming, TSR_STREAMING_AUTO);
        assert_int_equal(plan->tile_bytes, 0);
        tsr_plan_free(&plan);
    }
    tsr_wisdom_free(&wisdom);
}

/* One buffer may be source and destination where a plan by itself would be an alias, whatever row was as fast. */
static void test_one_buffer(void **state)
{
    static const char text[] = "u8:nchw>u8:nchw 2x3x4x5";
    unsigned char buffer[120] = {1, 2, 3};
    tsr_wisdom *wisdom = parsed_wisdom("");
    (void)state;
    learn(wisdom, text, 1, (tsr_lesson){"copy", TSR_STREAMING_NEVER, 0, 1});
    tsr_plan *plan = planned(wisdom, text, (tsr_reorder_options){.threads = 1});
    assert_string_equal(tsr_plan_get_info(plan).row, "alias");
    assert_int_equal(tsr_plan_run(plan, buffer, buffer, NULL), TSR_OK);
    tsr_plan_free(&plan);
    tsr_wisdom_free(&wisdom);
}

/* What is known of a problem is known of zeroed padding. */
static void test_kept_padding(void **state)
{
    static const char padded[] = "f32:nchw>f32:nChw16c 1x20x3x3", whole[] = "f32:nchw>f32:nChw16c 1x32x3x3";
    static const tsr_reorder_options keep = {.threads = 1, .padding = TSR_PADDING_KEEP}, zero = {.threads = 1};
    tsr_wisdom *wisdom = parsed_wisdom("");
    (void)state;
    learn(wisdom, padded, 1, (tsr_lesson){"transpose", TSR_STREAMING_AUTO, 0, 1});
    learn(wisdom, whole, 1, (tsr_lesson){"transpose", TSR_STREAMING_AUTO, 0, 1});
    assert_describes(wisdom, padded, zero, "transpose, 2 boxes, 0 zero boxes, transpose_32_c, 1 thread, tuned");
    assert_describes(wisdom, padded, keep, "transpose, 2 boxes, 0 zero boxes, transpose_32_c, 1 thread");
    assert_describes(wisdom, whole, keep, "transpose, 1 box, 0 zero boxes, transpose_32_c, 1 thread, tuned");
    tsr_wisdom_free(&wisdom);
}

/* The plans of slices ask the same wisdom as the plan that has them. */
static void test_plans_within(void **state)
{
    static const char text[] = "u32:aBc8b>u32:aBc12b 1x103x3", last[] = "u32:acb>u32:aBc12b 1x103x3";
    tsr_wisdom *wisdom = parsed_wisdom("");
    (void)state;
    for (int knows = 0; knows <= 1; knows++) {
        tsr_plan *plan = planned(wisdom, text, (tsr_reorder_options){.threads = 1, .row = "relay"});
        const tsr_stages *stages = &plan->relay->shape[0];
        assert_int_equal(stages->stage[stages->count - 1]->is_tuned, knows);
        tsr_plan_free(&plan);
        learn(wisdom, last, 1, (tsr_lesson){"copy", TSR_STREAMING_AUTO, 0, 1});
    }
    tsr_wisdom_free(&wisdom);
}

/* The options of a plan, and the text of its problem, are one key. */
static void test_keys(void **state)
{
    static const float values[] = {1, 2, 3};
    static const struct {
        const char *problem;
        tsr_reorder_options options;
    } rows[] = {
        {"u8:abc>f32:acb 1x3x40 scale[1] mean[1]", {.scale = {values, 3, 1, 0}, .mean = {values, 3, 1, 1}}},
        {"u8:abc>f32:acb 1x3x40 scale[1/2] shift", {.scale = {values, 2, 1, 2}, .shift = {values, 1, 7, 0}}},
        {"u8:abc>f32:acb 1x3x40 scale[0]", {.scale = {values, 1, 0, 0}}},
        {"u8:abc>f32:acb 1x3x40 mean[1/3]", {.mean = {values, 1, 1, 3}}},
        {"u8:abc>f32:acb 1x3x40 beta reverse[2]", {.beta = 0.25f, .reverse = 4}},
        {"u8:abc>f32:acb 1x3x40 in-place", {.in_place = true}},
        {"u8:abc>f32:acb 1x3x40", {.threads = 2}},
    };
    tsr_problem plain = parsed_problem("u8:abc>f32:acb 1x3x40");
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_wisdom *wisdom = parsed_wisdom("");
        tsr_lesson lesson;
        learn(wisdom, rows[i].problem, 2, (tsr_lesson){"convert", TSR_STREAMING_NEVER, 64, 3});
        for (size_t j = 0; j < COUNT(rows); j++) {
            tsr_reorder_options options = rows[j].options;
            options.wisdom = wisdom;
            bool is_known = tsr_wisdom_advise(&lesson, &plain.src, &plain.dst, &options, 2);
            assert_int_equal(is_known, i == j);
            assert_false(tsr_wisdom_advise(&lesson, &plain.src, &plain.dst, &options, 1));
        }
        tsr_wisdom_free(&wisdom);
    }
}

/* What was measured counts, not what the model expects. */
static void test_least_share(void **state)
{
    tsr_wisdom *wisdom = parsed_wisdom("c 1 f32:nchw>f32:nhwc 2x64x5x7 = transpose never 0 400\n");
    tsr_problem problem = parsed_problem(transposed);
    tsr_plan *plan = NULL;
    tsr_error error = {0};
    tsr_reorder_options options = {.threads = 1, .wisdom = wisdom, .least_share = 0.25f};
    (void)state;
    assert_int_equal(tsr_plan_create(&plan, &problem.src, &problem.dst, &options, &error), TSR_OK);
    tsr_plan_free(&plan);
    options.least_share = 0.26f;
    assert_int_equal(tsr_plan_create(&plan, &problem.src, &problem.dst, &options, &error), TSR_UNSUPPORTED);
    assert_string_equal(error.message, "row transpose: expected at least 0.26 of memcpy's speed, found 0.25 measured");
    assert_null(plan);
    tsr_wisdom_free(&wisdom);
}

/* ---- files ---- */

static char folder[] = "/tmp/tessera-wisdom-XXXXXX";

static const char *path_to(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void assert_unreadable(const char *path, tsr_status status, const char *message)
{
    tsr_wisdom *wisdom = NULL;
    tsr_error error = {0};
    assert_int_equal(tsr_wisdom_read(&wisdom, path, &error), status);
    assert_non_null(strstr(error.message, path));
    assert_string_equal(error.message + strlen(path), message);
    assert_null(wisdom);
}

static void test_files(void **state)
{
    static const char lines[] = "c 1 f32:nchw>f32:nhwc 2x64x5x7 = transpose always 128 100\n";
    const char *path = path_to("file");
    tsr_wisdom *wisdom = parsed_wisdom(lines), *again = NULL;
    tsr_error error = {0};
    (void)state;
    assert_unreadable(path, TSR_IO_ERROR, ": cannot open: No such file or directory");
    assert_unreadable(folder, TSR_IO_ERROR, ": cannot read: Is a directory");
    assert_int_equal(tsr_wisdom_write(wisdom, path, &error), TSR_OK);
    assert_int_equal(tsr_wisdom_read(&again, path, &error), TSR_OK);
    assert_prints(again, lines);
    assert_int_equal(tsr_wisdom_write(wisdom, "/dev/null/file", &error), TSR_IO_ERROR);
    assert_string_equal(error.message, "/dev/null/file: cannot write: Not a directory");
    put(path, "tess\0era", 8);
    assert_unreadable(path, TSR_PARSE_ERROR, ": expected a text, found a byte of zero at 4");
    put(path, "knowledge", 9);
    assert_unreadable(path, TSR_PARSE_ERROR, ": line 1: expected \"tessera-wisdom 1 MACHINE\", found \"knowledge\"");
    put(path, "", 0);
    tsr_wisdom_free(&again);
    assert_int_equal(tsr_wisdom_read(&again, path, &error), TSR_OK);
    assert_prints(again, "");
    tsr_wisdom_free(&again);
    tsr_wisdom_free(&wisdom);
    unlink(path);
}

/* main has named a file; what becomes of it later does not matter. */
static void test_default(void **state)
{
    const tsr_wisdom *wisdom = NULL;
    const tsr_reorder_options one = {.threads = 1};
    tsr_wisdom *none = NULL;
    (void)state;
    assert_int_equal(tsr_default_wisdom(&wisdom, NULL), TSR_OK);
    assert_prints(wisdom, "c 1 f32:nchw>f32:nhwc 2x64x5x7 = transpose always 128 100\n");
    assert_describes(NULL, transposed, one, "transpose, 1 box, 0 zero boxes, transpose_32_c, 1 thread, tuned");
    assert_int_equal(tsr_wisdom_create(&none, NULL), TSR_OK);
    assert_describes(none, transposed, one, "transpose, 1 box, 0 zero boxes, transpose_32_c, 1 thread");
    tsr_wisdom_free(&none);
}

static void test_path(void **state)
{
    static const struct {
        const char *named, *config, *home, *path;
    } rows[] = {
        {"wise", "/config", "/home/ada", "wise"},
        {"", "/config", "/home/ada", ""},
        {NULL, "/config", "/home/ada", "/config/tessera/wisdom"},
        {NULL, "", "/home/ada", "/home/ada/.config/tessera/wisdom"},
        {NULL, NULL, "/home/ada", "/home/ada/.config/tessera/wisdom"},
        {NULL, NULL, "", ""},
        {NULL, NULL, NULL, ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *const names[] = {"TSR_WISDOM", "XDG_CONFIG_HOME", "HOME"};
        const char *const values[] = {rows[i].named, rows[i].config, rows[i].home};
        char path[64];
        for (size_t j = 0; j < COUNT(names); j++)
            assert_int_equal(values[j] ? setenv(names[j], values[j], 1) : unsetenv(names[j]), 0);
        assert_int_equal(tsr_wisdom_path(path, sizeof path), strlen(rows[i].path));
        assert_string_equal(path, rows[i].path);
    }
}

static int make_default(void **state)
{
    (void)state;
    char *text = text_of("c 1 f32:nchw>f32:nhwc 2x64x5x7 = transpose always 128 100\n");
    if (!mkdtemp(folder) || setenv("TSR_WISDOM", path_to("default"), 1) != 0)
        return -1;
    put(path_to("default"), text, strlen(text));
    free(text);
    return 0;
}

static int remove_default(void **state)
{
    (void)state;
    return unlink(path_to("default")) || rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learning),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_refused_lessons),
        cmocka_unit_test_setup_teardown(test_plan_takes_it, use_c_kernels, use_all_kernels),
        cmocka_unit_test_setup_teardown(test_plan_knows_better, use_c_kernels, use_all_kernels),
        cmocka_unit_test_setup_teardown(test_plan_falls_back, use_c_kernels, use_all_kernels),
        cmocka_unit_test_setup_teardown(test_one_buffer, use_c_kernels, use_all_kernels),
        cmocka_unit_test_setup_teardown(test_kept_padding, use_c_kernels, use_all_kernels),
        cmocka_unit_test_setup_teardown(test_plans_within, use_c_kernels, use_all_kernels),
        cmocka_unit_test(test_keys),
        cmocka_unit_test_setup_teardown(test_least_share, use_c_kernels, use_all_kernels),
        cmocka_unit_test(test_files),
        cmocka_unit_test_setup_teardown(test_default, use_c_kernels, use_all_kernels),
        cmocka_unit_test(test_path),
    };
    return cmocka_run_group_tests(tests, make_default, remove_default);
}
