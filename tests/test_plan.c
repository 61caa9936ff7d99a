/* SPDX-License-Identifier: Apache-2.0 */
/* Making plans: what is refused and how, and what a plan says of itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parsed.h"
#include "reorder/plan.h"
#include "workload.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Creates a plan that must be refused so; nothing is made. The message is not asked for the second time. */
static void assert_refused(const tsr_desc *src, const tsr_desc *dst, const tsr_reorder_options *options,
                           tsr_status expected, const char *message)
{
    tsr_plan *plan = NULL;
    tsr_error error = {0};
    assert_int_equal(tsr_plan_create(&plan, src, dst, options, &error), expected);
    assert_string_equal(error.message, message);
    assert_int_equal(error.status, expected);
    assert_null(plan);
    assert_int_equal(tsr_plan_create(&plan, src, dst, options, NULL), expected);
    assert_null(plan);
}

static void test_descriptors(void **state)
{
    static const struct {
        const char *src, *dst;
        tsr_status status;
        const char *message;
    } rows[] = {
        {"f32:ab 2x3", "f32:abc 2x3x1", TSR_INVALID_ARGUMENT, "the source has rank 2, the destination 3"},
        {"f32:scalar scalar", "f32:a 1", TSR_INVALID_ARGUMENT, "the source has rank 0, the destination 1"},
        {"f32:ab 2x3", "f32:ab 2x4", TSR_INVALID_ARGUMENT, "dims[1] is 3 in the source and 4 in the destination"},
        {"f32:aB4b 2x3", "f32:aB4b 0x3", TSR_INVALID_ARGUMENT, "dims[0] is 2 in the source and 0 in the destination"},
        {"f32:ab 2x3", "f32:[a2:0,b3:1] 2x3", TSR_INVALID_ARGUMENT,
         "destination: elements overlap: the stride of level 0 (axis 0) is 0, expected more than 0"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_desc src = parsed_desc(rows[i].src), dst = parsed_desc(rows[i].dst);
        assert_refused(&src, &dst, NULL, rows[i].status, rows[i].message);
    }
    tsr_desc none = {0}, good = parsed_desc("f32:ab 2x3");
    assert_refused(&none, &good, NULL, TSR_INVALID_ARGUMENT, "source: expected a type, found number 0");
    assert_refused(&good, &none, NULL, TSR_INVALID_ARGUMENT, "destination: expected a type, found number 0");
}

static void test_factors(void **state)
{
    static const float values[] = {1, 2, 3, 4};
    static const struct {
        const char *problem;
        tsr_factors scale, mean, shift;
        tsr_status status;
        const char *message;
    } rows[] = {
        {"f32:ab>f32:ab 2x3", {values, -1, 0, 0}, {0}, {0}, TSR_INVALID_ARGUMENT, "scale has count -1 and some values"},
        {"f32:ab>f32:ab 2x3", {NULL, 2, 0, 0}, {0}, {0}, TSR_INVALID_ARGUMENT, "scale has count 2 and no values"},
        {"f32:ab>f32:ab 2x3", {0}, {NULL, 1, 0, 0}, {0}, TSR_INVALID_ARGUMENT, "mean has count 1 and no values"},
        {"f32:ab>f32:ab 2x3",
         {values, 2, -1, 0},
         {0},
         {0},
         TSR_INVALID_ARGUMENT,
         "scale runs along axis -1 of a tensor of rank 2"},
        {"f32:ab>f32:ab 2x3",
         {0},
         {values, 2, 2, 0},
         {0},
         TSR_INVALID_ARGUMENT,
         "mean runs along axis 2 of a tensor of rank 2"},
        {"f32:scalar>f32:scalar scalar",
         {values, 2, 0, 0},
         {0},
         {0},
         TSR_INVALID_ARGUMENT,
         "scale runs along axis 0 of a tensor of rank 0"},
        {"f32:ab>f32:ab 2x3",
         {0},
         {values, 2, 1, 0},
         {0},
         TSR_INVALID_ARGUMENT,
         "mean has 2 values, axis 1 has 3 indices"},
        {"f32:ab>f32:ab 2x3",
         {values, 4, 1, 0},
         {0},
         {0},
         TSR_INVALID_ARGUMENT,
         "scale has 4 values, axis 1 has 3 indices"},
        {"f32:ab>f32:ab 2x3",
         {values, 2, 0, 0},
         {values, 3, 1, 0},
         {0},
         TSR_UNSUPPORTED,
         "scale runs along axis 0 and mean along axis 1: expected one axis"},
        {"s8:ab>s8:ab 2x3",
         {values, 2, 1, -1},
         {0},
         {0},
         TSR_INVALID_ARGUMENT,
         "scale has groups of -1 indices, expected 0 or more"},
        {"s8:ab>s8:ab 2x3",
         {0},
         {0},
         {values, 3, 1, 2},
         TSR_INVALID_ARGUMENT,
         "shift has 3 values for groups of 2, axis 1 has 3 indices"},
        {"s8:ab>s8:ab 2x3",
         {0},
         {values, 3, 1, 0},
         {values, 2, 0, 0},
         TSR_UNSUPPORTED,
         "mean runs along axis 1 and shift along axis 0: expected one axis"},
        {"s8:ab>s8:ab 2x3", {values, 2, 1, 2}, {values, 3, 1, 1}, {values, 1, 7, 0}, TSR_OK, ""},
        {"s8:ab>s8:ab 2x3", {values, 1, 1, 9}, {0}, {values, 2, 1, 2}, TSR_OK, ""},
        /* one value serves any axis, and may go with values along an axis */
        {"f32:ab>f32:ab 2x3", {values, 1, 77, 0}, {values, 3, 1, 0}, {0}, TSR_OK, ""},
        {"u8:ab>u8:ab 2x3", {values, 2, 0, 0}, {values, 1, -5, 0}, {0}, TSR_OK, ""},
        {"f32:ab>f32:ab 1x3", {values, 1, 0, 0}, {values, 3, 1, 0}, {0}, TSR_OK, ""},
        {"f32:ab>f32:ab 0x3", {NULL, 0, 0, 0}, {values, 3, 1, 0}, {0}, TSR_OK, ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_problem problem = parsed_problem(rows[i].problem);
        tsr_reorder_options options = {.scale = rows[i].scale, .mean = rows[i].mean, .shift = rows[i].shift};
        if (rows[i].status == TSR_OK) {
            tsr_plan *plan = parsed_plan(rows[i].problem, &options);
            tsr_plan_free(&plan);
        } else {
            assert_refused(&problem.src, &problem.dst, &options, rows[i].status, rows[i].message);
        }
    }
}

static void test_reverse(void **state)
{
    tsr_desc desc = parsed_desc("f32:nc 2x3");
    tsr_reorder_options beyond = {.reverse = 1U << 2}, last = {.reverse = 1U << 31};
    (void)state;
    assert_refused(&desc, &desc, &beyond, TSR_INVALID_ARGUMENT, "reverse names axis 2 of a tensor of rank 2");
    assert_refused(&desc, &desc, &last, TSR_INVALID_ARGUMENT, "reverse names axis 31 of a tensor of rank 2");
}

static void test_rows(void **state)
{
    static const struct {
        const char *problem, *row;
        tsr_status status;
        const char *message;
    } rows[] = {
        {"f32:nchw>f32:nhwc 2x3x4x5", "Copy", TSR_INVALID_ARGUMENT,
         "expected one of the rows alias, copy, transpose, convert, gather, relay, onednn, elementwise, square, slices "
         "and "
         "cycles, found \"Copy\""},
        {"f32:nchw>f32:nhwc 2x3x4x5", "", TSR_INVALID_ARGUMENT,
         "expected one of the rows alias, copy, transpose, convert, gather, relay, onednn, elementwise, square, slices "
         "and "
         "cycles, found \"\""},
        {"f32:nchw>f32:nhwc 2x3x4x5", "alias", TSR_UNSUPPORTED,
         "row alias does not apply: source and destination are different memory; transpose does"},
        {"f32:nchw>f32:nhwc 2x3x4x5", "copy", TSR_UNSUPPORTED,
         "row copy does not apply: elements that are neighbours in the source are not in the destination; transpose "
         "does"},
        {"f32:nchw>f32:nhwc 2x3x4x5", "convert", TSR_UNSUPPORTED,
         "row convert does not apply: there is nothing to convert; transpose does"},
        {"f32:nchw>f32:nhwc 2x3x4x5", "gather", TSR_UNSUPPORTED,
         "row gather does not apply: the blocks nest, no table is needed; transpose does"},
        {"f32:nchw>f32:nchw 2x3x4x5", "transpose", TSR_UNSUPPORTED,
         "row transpose does not apply: neighbours stay neighbours; alias does"},
        {"f32:nchw>u8:nhwc 2x3x4x5", "transpose", TSR_UNSUPPORTED,
         "row transpose does not apply: the elements are converted; convert does"},
        {"f32:nchw>u8:nhwc 2x3x4x5", "copy", TSR_UNSUPPORTED,
         "row copy does not apply: the elements are converted; convert does"},
        {"f32:nchw>u8:nchw 2x3x4x5", "alias", TSR_UNSUPPORTED,
         "row alias does not apply: source and destination are different memory; convert does"},
        {"f32:aBc3b>f32:aBc4b 2x25x2", "copy", TSR_UNSUPPORTED,
         "row copy does not apply: the blocks of source and destination do not nest, or there are too many boxes; "
         "gather does"},
        {"f32:aBc3b>u8:aBc4b 2x25x2", "convert", TSR_UNSUPPORTED,
         "row convert does not apply: the blocks of source and destination do not nest, or there are too many boxes; "
         "relay does"},
        {"f32:nchw>f32:nhwc 2x3x4x5", "transpose", TSR_OK, ""},
        {"f32:nchw>f32:nchw 2x3x4x5", "alias", TSR_OK, ""},
        {"f32:nchw>f32:nchw 2x3x4x5", "copy", TSR_OK, ""},
        {"f32:nchw>u8:nhwc 2x3x4x5", "convert", TSR_OK, ""},
        {"f32:aBc3b>f32:aBc4b 2x25x2", "gather", TSR_OK, ""},
        {"f32:aBc3b>u8:aBc4b 2x25x2", "gather", TSR_OK, ""},
        {"f32:nchw>f32:nhwc 2x3x4x5", "relay", TSR_UNSUPPORTED,
         "row relay does not apply: the blocks nest, and nothing is gained by more steps; transpose does"},
        {"f32:[a8:16,b8:1]>u8:ab 8x8", "relay", TSR_UNSUPPORTED,
         "row relay does not apply: the elements stay where they are; convert does"},
        {"u8:abcdefghijkl>u8:ABCDEFGHIJKL2a2b2c2d2e2f2g2h2i2j2k2l 3x3x3x3x3x3x3x3x3x3x3x3", "relay", TSR_UNSUPPORTED,
         "row relay does not apply: one side is plain, and would be the tensor to go by; gather does"},
        {"f32:Ab257a>f32:Ab256a 60000x3", "relay", TSR_UNSUPPORTED,
         "row relay does not apply: the least slice has 240000 bytes, expected at most 131072; gather does"},
        {"f32:aBc3b>f32:aBc4b 2x25x2", "relay", TSR_OK, ""},
        {"f32:aBc3b>u8:aBc4b 2x25x2", "relay", TSR_OK, ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_problem problem = parsed_problem(rows[i].problem);
        tsr_reorder_options options = {.row = rows[i].row};
        if (rows[i].status != TSR_OK) {
            assert_refused(&problem.src, &problem.dst, &options, rows[i].status, rows[i].message);
            continue;
        }
        tsr_plan *plan = parsed_plan(rows[i].problem, &options);
        assert_string_equal(tsr_plan_get_info(plan).row, rows[i].row);
        tsr_plan_free(&plan);
    }
}

static void test_options_out_of_range(void **state)
{
    tsr_problem problem = parsed_problem("u8:ab>u8:ba 2x3");
    tsr_reorder_options streaming = {.streaming = (tsr_streaming)3}, padding = {.padding = (tsr_padding)2};
    tsr_reorder_options tile = {.tile_bytes = -1}, share = {.least_share = -0.5f}, no_share = {.least_share = NAN};
    (void)state;
    assert_refused(&problem.src, &problem.dst, &streaming, TSR_INVALID_ARGUMENT,
                   "expected a streaming of 0 to 2, found 3");
    assert_refused(&problem.src, &problem.dst, &padding, TSR_INVALID_ARGUMENT,
                   "expected 0 or more threads and a padding of 0 or 1, found 0 and 2");
    assert_refused(&problem.src, &problem.dst, &tile, TSR_INVALID_ARGUMENT,
                   "expected 0 or more bytes of a tile, found -1");
    assert_refused(&problem.src, &problem.dst, &share, TSR_INVALID_ARGUMENT,
                   "expected a share of 0 or more of memcpy's speed, found -0.5");
    assert_refused(&problem.src, &problem.dst, &no_share, TSR_INVALID_ARGUMENT,
                   "expected a share of 0 or more of memcpy's speed, found nan");
}

/* A plan is made with every share up to the one that is expected, and with none above. */
static void test_least_share(void **state)
{
    static const struct {
        const char *problem, *row;
    } rows[] = {
        {"f32:nchw>f32:nhwc 2x64x40x50", "transpose"}, {"f32:nchw>u8:nhwc 2x64x40x50", "convert"},
        {"f32:aBc3b>f32:aBc4b 2x25x200", "gather"},    {"f32:nchw>f32:nhwc 2x64x40x50 in-place", "slices"},
        {"f32:nchw>f32:nchw 2x64x40x50", "alias"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char message[TSR_ERROR_MESSAGE_SIZE];
        tsr_problem problem = parsed_problem(rows[i].problem);
        tsr_reorder_options options = {.in_place = problem.in_place, .row = rows[i].row};
        tsr_plan *plan = parsed_plan(rows[i].problem, &options);
        double share = 1 / tsr_plan_get_info(plan).cost;
        tsr_plan_free(&plan);
        options.least_share = (float)(share * 0.99);
        plan = parsed_plan(rows[i].problem, &options);
        tsr_plan_free(&plan);
        options.least_share = (float)(share * 1.5);
        snprintf(message, sizeof message, "row %s: expected at least %.2f of memcpy's speed, found %.2f predicted",
                 rows[i].row, (double)options.least_share, share);
        assert_refused(&problem.src, &problem.dst, &options, TSR_UNSUPPORTED, message);
    }
    /* what costs nothing is as fast as anybody wants */
    tsr_reorder_options options = {.least_share = 1000};
    tsr_plan *plan = parsed_plan("f32:nchw>f32:nhwc 0x3x4x5", &options);
    tsr_plan_free(&plan);
}

/* ---- what a plan says ---- */

static void check_text(const char *text, int length, const char *expected)
{
    assert_string_equal(text, expected);
    assert_int_equal(length, strlen(expected));
}

/* With the C kernels and one thread nothing depends on the machine. */
static void test_describe(void **state)
{
    static const struct {
        const char *problem, *row;
        const char *lines[8]; /* the plan, then its boxes */
    } rows[] = {
        {"f32:scalar>f32:scalar scalar",
         NULL,
         {"alias, 1 box, 0 zero boxes, copy_8_c, 1 thread", "0:0 | 1 x 1, copy_8_c"}},
        {"f32:nhwc>f32:nchw 0x3x4x5", NULL, {"alias, 0 boxes, 0 zero boxes, -, 1 thread"}},
        {"s16:nchw>s16:nchw 2x3x4x5",
         NULL,
         {"alias, 1 box, 0 zero boxes, copy_8_c, 1 thread", "0:0 | 1 x 120(1:1), copy_8_c"}},
        {"f32:nchw>f32:nhwc 8x64x56x56",
         "transpose",
         {"transpose, 1 box, 0 zero boxes, transpose_32_c, 1 thread",
          "0:0 8(200704:200704) | 3136(1:64) x 64(3136:1), transpose_32_c"}},
        {"u8:nhwc>f32:nchw 1x3x20x31",
         "convert",
         {"convert, 1 box, 0 zero boxes, deinterleave_8_c, 1 thread", "0:0 | 3(1:620) x 620(3:1), deinterleave_8_c"}},
        {"f32:ab>f32:ba 2x2", /* which is no time for plans within */
         NULL,
         {"transpose, 1 box, 0 zero boxes, interleave_32_c, 1 thread", "0:0 | 2(1:2) x 2(2:1), interleave_32_c"}},
        {"u8:aBc3b>u8:aBc4b 2x25x2",
         NULL,
         {"gather, 4 boxes, 1 zero box, pick_8_c, 1 thread", "0:0 | 2(54:56) 2(24:24) 2(3:4) x 4(table), pick_8_c",
          "7:8 | 2(54:56) 2(24:24) 2(3:4) x 4(table), pick_8_c",
          "14:16 | 2(54:56) 2(24:24) 2(3:4) x 4(table), pick_8_c", "48:48 | 2(54:56) x 2(3:4), pick_8_c",
          "0:49 | 2(0:56) 2(0:4) x 3(0:1), zero"}},
        {"f64:nchw>f64:nChw16c 2x19x4x5",
         NULL,
         {"transpose, 2 boxes, 0 zero boxes, transpose_64_c, 1 thread",
          "0:0 2(380:640) | 20(1:16) x 16(20:1), transpose_64_c",
          "320:320 2(380:640) | 20(1:16) x 3+13(20:1), transpose_64_c"}},
        {"f32:nChw16c>f32:nChw8c 2x25x4x5",
         "copy",
         {"copy, 3 boxes, 0 zero boxes, copy_8_c, 1 thread", "0:0 | 2(640:640) 20(16:8) 2(8:160) x 8(1:1), copy_8_c",
          "320:320 | 2(640:640) 20(16:8) x 8(1:1), copy_8_c",
          "328:480 | 2(640:640) 20(16:8) x 1+7(1:1), copy_padded_8_c"}},
        {"u16:oihw>u16:OIhw16i16o 17x33x1x2",
         "transpose",
         {"transpose, 4 boxes, 1 zero box, transpose_16_c, 1 thread", /* zeros are most of it, and come first,
                                                                         everywhere */
          "0:0 | 2(32:512) 16(2:16) 2(1:256) x 16(66:1), transpose_16_c",
          "64:1024 | 2(1:256) x 16(66:1), transpose_16_c", "1056:1536 2(32:512) | 2(1:256) x 16(2:16), pick_16_c",
          "1120:2560 | 1 x 2(1:256), pick_16_c", "0:0 | 1 x 3072(0:1), zero"}},
        {"u32:aBc8b>u32:aBc12b 1x103x3",
         "relay",
         {"relay, 3 boxes, 0 zero boxes, copy_8_c + copy_8_c, 1 thread",
          "0:0 | 4(72:72) 3(8:12) 6(table) x 4(1:1), copy_8_c", "288:288 | 3(8:12) x 4(1:1), copy_8_c",
          "292:292 | 3(8:12) x 3+5(1:1), copy_padded_8_c"}},
        {"f64:Ab3a>f64:Ab2a 13x1",
         NULL,
         {"copy, 1 box, 0 zero boxes, copy_padded_8_c, 1 thread", "0:0 | 1 x 13+1(1:1), copy_padded_8_c"}},
        {"f64:[a5:1,b9:0]+3>f64:ba 5x9",
         NULL,
         {"copy, 1 box, 0 zero boxes, copy_8_c, 1 thread", "3:0 | 9(0:5) x 5(1:1), copy_8_c"}},
        {"bf16:nchw>f32:nchw 2x3x4x5",
         "convert",
         {"convert, 1 box, 0 zero boxes, rows, 1 thread", "0:0 | 1 x 120(1:1), rows"}},
        {"s64:nchw>s64:[a2:2048,b3:512,c6:32,d7:1]+70 2x3x6x7",
         NULL,
         {"copy, 1 box, 0 zero boxes, copy_8_c, 1 thread", "0:70 | 2(126:2048) 3(42:512) 6(7:32) x 7(1:1), copy_8_c"}},
        {"bool:abcd>bool:dcba 3x4x5x6",
         NULL,
         {"transpose, 1 box, 0 zero boxes, transpose_8_c, 1 thread",
          "0:0 | 5(6:12) 6(1:60) x 4(30:3) 3(120:1), transpose_8_c"}},
        {"u8:[a2:2480,b20:124,c31:4,d3:1]>u8:abcd 2x20x31x3",
         NULL,
         {"copy, 1 box, 0 zero boxes, shuffle_8_c, 1 thread", "0:0 | 1 x 1240(4:3) 3(1:1), shuffle_8_c"}},
        {"u8:[a20:93,b31:-3,c3:1]+90>u8:cab 20x31x3",
         NULL,
         {"transpose, 1 box, 0 zero boxes, deinterleave_8_c, 1 thread",
          "90:0 | 3(1:620) x 20(93:31) 31(-3:1), deinterleave_8_c"}},
        {"u8:[a3:620,b20:31,c31:-1]+30>u8:bca 3x20x31",
         NULL,
         {"transpose, 1 box, 0 zero boxes, interleave_8_c, 1 thread",
          "30:0 | 20(31:93) 31(-1:3) x 3(620:1), interleave_8_c"}},
        {"u64:ab>u64:[a5:100,b11:3] 4x9",
         NULL,
         {"transpose, 1 box, 2 zero boxes, pick_64_c, 1 thread", "0:0 | 4(9:100) x 9(1:3), pick_64_c",
          "0:400 | 1 x 11(0:3), zero", "0:27 | 4(0:100) x 2(0:3), zero"}},
    };
    (void)state;
    tsr_cpu_set_mask(0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[256];
        tsr_reorder_options options = {.row = rows[i].row, .threads = 1};
        tsr_plan *plan = parsed_plan(rows[i].problem, &options);
        tsr_plan_info info = tsr_plan_get_info(plan);
        int length = tsr_plan_describe(plan, text, sizeof text), lines = 1;
        check_text(text, length, rows[i].lines[0]);
        for (; lines <= info.boxes + info.zero_boxes; lines++) {
            length = tsr_plan_describe_box(plan, lines - 1, text, sizeof text);
            check_text(text, length, rows[i].lines[lines]);
        }
        assert_true(lines == (int)COUNT(rows[i].lines) || !rows[i].lines[lines]);
        tsr_plan_free(&plan);
    }
    tsr_cpu_set_mask(TSR_CPU_ALL);
}

/* As snprintf: cut at the size, but the length is that of the whole. */
static void test_short_buffers(void **state)
{
    (void)state;
    tsr_plan *plan = parsed_plan("s16:nchw>s16:nchw 2x3x4x5", NULL);
    char whole[128], part[128];
    int length = tsr_plan_describe(plan, whole, sizeof whole);
    assert_int_equal(tsr_plan_describe(plan, NULL, 0), length);
    for (size_t size = 1; size <= (size_t)length + 1; size++) {
        memset(part, '#', sizeof part);
        assert_int_equal(tsr_plan_describe(plan, part, size), length);
        assert_int_equal(strlen(part), size - 1);
        assert_memory_equal(part, whole, size - 1);
        assert_int_equal(part[size], '#');
    }
    length = tsr_plan_describe_box(plan, 0, whole, sizeof whole);
    assert_int_equal(tsr_plan_describe_box(plan, 0, NULL, 0), length);
    assert_int_equal(tsr_plan_describe_box(plan, 0, part, 5), length);
    assert_int_equal(strlen(part), 4);
    tsr_plan_free(&plan);
}

/* A rung that has kernels for pixels takes no others. */
static void test_pixels(void **state)
{
    (void)state;
    tsr_plan *plan = parsed_plan("u8:nhwc>f32:nchw 1x3x20x31", NULL);
    const char *kernel = tsr_plan_get_info(plan).kernel;
    assert_int_equal(strcmp(kernel, "pixels") == 0, plan->conversion.pixels != NULL);
    assert_int_equal(strncmp(kernel, "deinterleave_8_", strlen("deinterleave_8_")) == 0, !plan->conversion.pixels);
    tsr_plan_free(&plan);
    plan = parsed_plan("f32:nchw>u8:nhwc 1x3x80x80", NULL);
    kernel = tsr_plan_get_info(plan).kernel;
    assert_int_equal(strcmp(kernel, "joined_pixels") == 0, plan->conversion.joined_pixels != NULL);
    assert_int_equal(strstr(kernel, "interleave_8_") != NULL, !plan->conversion.joined_pixels);
    tsr_plan_free(&plan);
}

static void test_verdicts(void **state)
{
    static const char *const names[] = {"alias",  "copy",        "transpose", "convert", "gather", "relay",
                                        "onednn", "elementwise", "square",    "slices",  "cycles"};
    static const struct {
        const char *problem;
        bool applicable[6];
    } rows[] = {
        {"u64:nchw>u64:nchw 2x3x4x5", {true, true}},       {"u64:nchw>u64:nhwc 2x3x4x5", {false, false, true}},
        {"u8:nchw>f32:nchw 2x3x4x5", {[3] = true}},        {"u64:aBc3b>u64:aBc4b 2x25x2", {[4] = true, true}},
        {"u8:aBc3b>f32:aBc4b 2x25x2", {[4] = true, true}}, {"u64:a>u64:a 0", {true, true}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_plan *plan = parsed_plan(rows[i].problem, NULL);
        tsr_plan_info info = tsr_plan_get_info(plan);
        tsr_verdict verdict;
        assert_false(tsr_plan_verdict(plan, -1, &verdict));
        assert_false(tsr_plan_verdict(plan, (int)COUNT(names), &verdict));
        for (int row = 0; row < (int)COUNT(names); row++) {
            assert_true(tsr_plan_verdict(plan, row, &verdict));
            assert_string_equal(verdict.row, names[row]);
            if (row < (int)COUNT(rows[i].applicable))
                assert_int_equal(verdict.applicable, rows[i].applicable[row]);
            assert_int_equal(verdict.applicable, *verdict.reason == '\0');
            if (strcmp(verdict.row, info.row) == 0)
                assert_true(verdict.applicable && verdict.cost == info.cost);
            else if (verdict.applicable)
                assert_true(verdict.cost >= info.cost);
        }
        tsr_plan_free(&plan);
    }
}

/* Nearly as many elements as there can be: plans are made or refused, whatever the row, and nothing wraps. */
static void test_huge_tensors(void **state)
{
    static const char *const problems[] = {
        "u8:ab>u8:ab 2x4611686018427387903",
        "u8:ab>u8:ba 7x1317624576693539401",
        "u8:ab>u8:ba 3037000499x3037000499",
        "u8:ab>f64:ba 7x164703072086692425",
        "f64:nchw>u8:nChw16c 2x3x4x48038396025285290 scale[1] mean",
        "s8:nhwc>f32:nchw 2x3x4x96076792050570581 scale[1]",
        "u8:aBc3b>u8:aBc4b 3x2x500000000000000000",
        "s4:ab>s4:ba 2x4611686018427387903",
        "f32:[a2:2305843009213693950]>f32:[a2:2305843009213693950] 2",
        "u8:[a2:9223372036854775806]>u8:[a2:9223372036854775806] 2",
        "f64:[a2:1152921504606846974]>f64:[a2:1152921504606846974] 2 reverse[0]",
        "s8:[a2:9223372036854775806]>s8:a 2 scale beta",
        "u8:a>u8:[a2:9223372036854775806] 2",
    };
    static const char *const rows[] = {NULL,    "alias",  "copy",        "transpose", "convert", "gather",
                                       "relay", "onednn", "elementwise", "square",    "slices",  "cycles"};
    int made = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(problems); i++)
        for (size_t r = 0; r < 2 * COUNT(rows); r++) {
            workload work;
            tsr_plan *plan = NULL;
            assert_int_equal(workload_init(&work, problems[i], NULL), TSR_OK);
            work.options.row = rows[r / 2];
            work.options.in_place = r % 2 == 1;
            const tsr_status status = tsr_plan_create(&plan, &work.problem.src, &work.problem.dst, &work.options, NULL);
            made += status == TSR_OK;
            assert_true(status == TSR_OK || status == TSR_UNSUPPORTED || status == TSR_OUT_OF_MEMORY);
            assert_true(r > 0 || status == TSR_OK);
            tsr_plan_free(&plan);
            workload_reset(&work);
        }
    assert_true(made > 2 * (int)COUNT(problems));
}

/* Twenty axes in two pieces each would make a million boxes, and as many of padding. */
static void test_boxes_are_bounded(void **state)
{
    static const char problem[] =
        "u8:abcdefghijklmnopqrst>u8:ABCDEFGHIJKLMNOPQRST2a2b2c2d2e2f2g2h2i2j2k2l2m2n2o2p2q2r2s2t "
        "3x3x3x3x3x3x3x3x3x3x3x3x3x3x3x3x3x3x3x3";
    tsr_problem parsed;
    tsr_plan *plan = NULL;
    (void)state;
    assert_int_equal(tsr_problem_parse(&parsed, problem, NULL), TSR_OK);
    assert_int_equal(tsr_plan_create(&plan, &parsed.src, &parsed.dst, NULL, NULL), TSR_OK);
    tsr_plan_info info = tsr_plan_get_info(plan);
    assert_string_equal(info.row, "gather");
    assert_in_range(info.boxes, 1, 256);
    assert_int_equal(info.zero_boxes, 1);
    tsr_plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_factors),
        cmocka_unit_test(test_reverse),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_options_out_of_range),
        cmocka_unit_test(test_least_share),
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_short_buffers),
        cmocka_unit_test(test_pixels),
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_huge_tensors),
        cmocka_unit_test(test_boxes_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
