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

/* --- dims --- */

static const struct {
    const char *text;
    int rank;
    int64_t dims[4];
} dims_rows[] = {
    {"scalar", 0, {0}},
    {"7", 1, {7}},
    {"0", 1, {0}},
    {"1x3x224x224", 4, {1, 3, 224, 224}},
    {"9223372036854775807x0", 2, {INT64_MAX, 0}},
};

static void test_dims(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(dims_rows); i++) {
        int64_t dims[TSR_MAX_RANK] = {0};
        int rank = -1;
        char text[64];
        assert_int_equal(tsr_dims_parse(dims, &rank, dims_rows[i].text, NULL), TSR_OK);
        assert_int_equal(rank, dims_rows[i].rank);
        assert_memory_equal(dims, dims_rows[i].dims, sizeof dims_rows[i].dims);
        assert_int_equal(tsr_dims_print(dims, rank, text, sizeof text), strlen(dims_rows[i].text));
        assert_string_equal(text, dims_rows[i].text);
    }
}

#define ONES_16 "1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1"

static void test_most_dims(void **state)
{
    (void)state;
    int64_t dims[TSR_MAX_RANK];
    int rank = -1;
    assert_int_equal(tsr_dims_parse(dims, &rank, ONES_16 "x" ONES_16, NULL), TSR_OK);
    assert_int_equal(rank, TSR_MAX_RANK);
}

static const struct {
    const char *text, *message;
} dims_refusals[] = {
    {"", "expected a number of 63 bits at \"\" in dims \"\""},
    {"1x", "expected a number of 63 bits at \"\" in dims \"1x\""},
    {"x1", "expected a number of 63 bits at \"x1\" in dims \"x1\""},
    {"1xx2", "expected a number of 63 bits at \"x2\" in dims \"1xx2\""},
    {"-1x2", "expected a number of 63 bits at \"-1x2\" in dims \"-1x2\""},
    {"1x+2", "expected a number of 63 bits at \"+2\" in dims \"1x+2\""},
    {"9223372036854775808", "expected a number of 63 bits at \"9223372036854775808\" in dims \"9223372036854775808\""},
    {"1x2 ", "expected dims such as 1x3x224x224, found \"1x2 \""},
    {"1X2", "expected dims such as 1x3x224x224, found \"1X2\""},
    {"1x2.5", "expected dims such as 1x3x224x224, found \"1x2.5\""},
    {ONES_16 "x" ONES_16 "x1",
     "dims \"1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x\" have more than 32 axes"},
};

static void test_dims_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(dims_refusals); i++) {
        int64_t dims[TSR_MAX_RANK] = {-5};
        int rank = -1;
        tsr_error error = {0};
        assert_int_equal(tsr_dims_parse(dims, &rank, dims_refusals[i].text, &error), TSR_PARSE_ERROR);
        assert_string_equal(error.message, dims_refusals[i].message);
        assert_int_equal(rank, -1);
        assert_int_equal(dims[0], -5);
    }
}

/* --- descriptors: what is read, and the shortest exact form that is printed --- */

static const struct {
    const char *text, *printed;
} descs[] = {
    {"f32:nchw 2x3x4x5", "f32:nchw 2x3x4x5"},
    {"f32:NHWC 2x3x4x5", "f32:nhwc 2x3x4x5"},
    {"  u8:nchw\t\n1x3x2x2 ", "u8:nchw 1x3x2x2"},
    {"f32:abcd 2x3x4x5", "f32:nchw 2x3x4x5"},
    {"f32:oihw 2x3x4x5", "f32:nchw 2x3x4x5"},
    {"f32:hwio 2x3x4x5", "f32:hwio 2x3x4x5"},
    {"f32:[c4,d5,b3,a2] 2x3x4x5", "f32:hwio 2x3x4x5"},
    {"f32:[a2,c4,d5,b3] 2x3x4x5", "f32:nhwc 2x3x4x5"},
    {"f32:ncdhw 1x2x3x4x5", "f32:ncdhw 1x2x3x4x5"},
    {"f32:goihw 1x2x3x4x5", "f32:ncdhw 1x2x3x4x5"},
    {"f32:dhwio 1x2x3x4x5", "f32:dhwio 1x2x3x4x5"},
    {"f32:nc 2x3", "f32:nc 2x3"},
    {"f32:cn 2x3", "f32:cn 2x3"},
    {"f32:tnc 2x3x4", "f32:ncw 2x3x4"},
    {"f32:ntc 2x3x4", "f32:ntc 2x3x4"},
    {"f32:scalar scalar", "f32:scalar scalar"},
    {"f32:[] scalar", "f32:scalar scalar"},
    {"f32:[]+5 scalar", "f32:[]+5 scalar"},
    {"bf16:aBcd16b 1x3x2x2", "bf16:nChw16c 1x3x2x2"},
    {"bf16:[a1,b1,c2,d2,b16] 1x3x2x2", "bf16:nChw16c 1x3x2x2"},
    {"s8:ABcd4b16a4b 17x5x1x1", "s8:OIhw4i16o4i 17x5x1x1"},
    {"s8:OhwI16i64o2i 1x1x1x3", "s8:OhwI16i64o2i 1x1x1x3"},
    {"f32:gOIhw4o8i8o4i 3x33x46x1x2", "f32:gOIhw4o8i8o4i 3x33x46x1x2"},
    {"f32:aBC2b4c 2x3x4", "f32:aBC2b4c 2x3x4"},
    {"f32:Goihw4g 6x2x1x3x1", "f32:Oidhw4o 6x2x1x3x1"},
    {"f32:Goihw8g 6x2x1x3x1", "f32:Goihw8g 6x2x1x3x1"},
    {"f32:[a12:12,b3:4] 12x3", "f32:[a12:12,b3:4] 12x3"},
    {"f32:[a1,b3] 1x3", "f32:nc 1x3"},
    {"f32:[a1:99,b3:1] 1x3", "f32:nc 1x3"},
    {"f32:[a2,b3:2] 2x3", "f32:[a2:6,b3:2] 2x3"},
    {"f32:[a2:0,b3] 2x3", "f32:[a2:0,b3:1] 2x3"},
    {"f32:[a2,b3:0] 2x3", "f32:[a2:0,b3:0] 2x3"},
    {"f32:[a2,b3]+7 2x3", "f32:[a2:3,b3:1]+7 2x3"},
    {"f32:[a2:4/1,b3:1/2] 2x3", "f32:[a2:4/1,b3:1/2] 2x3"},
    {"f32:[a2:4/0,b3] 2x3", "f32:[a2:4,b3:1] 2x3"},
    {"f32:[a1:12800,b4:3200,c20:160,d20:8,b8:1]+7 1x25x20x20",
     "f32:[a1:12800,b4:3200,c20:160,d20:8,b8:1]+7 1x25x20x20"},
    {"f32:[a2:-3,b3:1]+3 2x3", "f32:[a2:-3,b3:1]+3 2x3"},
    {"f32:[b2:128,c4:32,d4:8,b8:1,a1]@b3 1x9x4x4", "f32:[b2:128,c4:32,d4:8,b8:1,a1:1]@b3 1x9x4x4"},
    {"f32:[a2:128,a8:1]+4@a3/3 5", "f32:[a2:128,a8:1]+4@a3/3 5"},
    {"f32:[a2:128,b8:1]+4@a0/1@b2/2 2x3", "f32:[a2:128,b8:1]+4@a0@b2/2 2x3"},
    {"f32:[a2,a8]@a0 16", "f32:A8a 16"},
    {"f32:nChw8c 0x3x2x2", "f32:nChw8c 0x3x2x2"},
    {"f32:nchw 0x0x0x0", "f32:nchw 0x0x0x0"},
    {"u8:[a2:4611686018427387904] 2", "u8:[a2:4611686018427387904] 2"},
    {"u8:[a1:9223372036854775807,b3] 1x3", "u8:nc 1x3"},
};

static void test_descs(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(descs); i++) {
        char text[TSR_TEXT_SIZE];
        tsr_desc desc, again;
        tsr_error error = {0};
        if (tsr_desc_parse(&desc, descs[i].text, &error) != TSR_OK)
            fail_msg("%s: %s", descs[i].text, error.message);
        assert_int_equal(tsr_desc_print(&desc, text, sizeof text), strlen(descs[i].printed));
        assert_string_equal(text, descs[i].printed);
        assert_int_equal(tsr_desc_parse(&again, text, NULL), TSR_OK);
        assert_true(tsr_desc_equal(&again, &desc));
    }
}

/* Of 32 axes the last have capital letters. */
static void test_many_axes(void **state)
{
    (void)state;
    char text[TSR_TEXT_SIZE];
    int64_t dims[TSR_MAX_RANK];
    tsr_desc desc, again;
    for (int k = 0; k < TSR_MAX_RANK; k++)
        dims[k] = k < 26 ? 1 : 2;
    assert_int_equal(tsr_desc_plain(&desc, TSR_U8, 26, dims, NULL), TSR_OK);
    assert_int_equal(tsr_layout_print(&desc, text, sizeof text), 26);
    assert_string_equal(text, "abcdefghijklmnopqrstuvwxyz");
    assert_int_equal(tsr_desc_plain(&desc, TSR_U8, TSR_MAX_RANK, dims, NULL), TSR_OK);
    tsr_layout_print(&desc, text, sizeof text);
    assert_non_null(strstr(text, ",z1:64,A2:32,B2:16,C2:8,D2:4,E2:2,F2:1]"));
    assert_int_equal(tsr_desc_from_layout(&again, TSR_U8, TSR_MAX_RANK, dims, text, NULL), TSR_OK);
    assert_true(tsr_same_fields(&again, &desc));
}

/* The longest text there is: 64 levels on each side, 32 windows, every number but one dim as long as it can be. */
static void test_longest_text(void **state)
{
    (void)state;
    static char text[TSR_TEXT_SIZE];
    tsr_problem problem = {.scale_axis = 31,
                           .mean_axis = 31,
                           .shift_axis = 31,
                           .scale_group = INT64_MAX,
                           .mean_group = INT64_MAX,
                           .shift_group = INT64_MAX,
                           .has_beta = true,
                           .reverse = UINT32_MAX};
    tsr_desc *desc = &problem.src;
    *desc = (tsr_desc){.dtype = TSR_BF16, .rank = TSR_MAX_RANK, .levels = TSR_MAX_LEVELS, .offset = INT64_MAX};
    for (int i = 0; i < TSR_MAX_LEVELS; i++) {
        desc->dims[i % TSR_MAX_RANK] = desc->first[i % TSR_MAX_RANK] = desc->step[i % TSR_MAX_RANK] = INT64_MAX;
        desc->order[i] = (uint8_t)(i % TSR_MAX_RANK);
        desc->block_dims[i] = desc->strides[i] = desc->pad_before[i] = INT64_MAX;
    }
    desc->dims[0] = 0; /* so that nothing is reckoned with the others */
    problem.dst = *desc;
    assert_in_range(tsr_problem_print(&problem, text, sizeof text), 8000, TSR_TEXT_SIZE - 20);
}

/* --- refusals --- */

#define LEVELS_EXPECTED "expected levels such as [a1:12,b4:3]+5, found "

static const struct {
    const char *text;
    tsr_status status;
    const char *message;
} refusals[] = {
    {"", TSR_PARSE_ERROR, "expected TYPE:LAYOUT DIMS, found \"\""},
    {"f32:nchw", TSR_PARSE_ERROR, "expected TYPE:LAYOUT DIMS, found \"f32:nchw\""},
    {"f32:ab 2x3 4", TSR_PARSE_ERROR, "expected TYPE:LAYOUT DIMS, found \"f32:ab 2x3 4\""},
    {"f32 2x3", TSR_PARSE_ERROR, "expected TYPE:LAYOUT, found \"f32\""},
    {"f23:ab 2x3", TSR_PARSE_ERROR, "expected a type such as f32, bf16 or u8, found \"f23\""},
    {":ab 2x3", TSR_PARSE_ERROR, "expected a type such as f32, bf16 or u8, found \"\""},
    {"f32: 2x3", TSR_PARSE_ERROR, "expected a layout such as nchw or nChw16c, found \"\""},
    {"f32:a:b 2x3", TSR_PARSE_ERROR, "expected a block such as 16c at \":b\" in layout \"a:b\""},
    {"f32:ab>f32:ba 2x3", TSR_PARSE_ERROR, "expected a block such as 16c at \">f32:ba\" in layout \"ab>f32:ba\""},
    {"f32:ab 2x-3", TSR_PARSE_ERROR, "expected a number of 63 bits at \"-3\" in dims \"2x-3\""},
    {"f32:ab 2x3x4", TSR_INVALID_ARGUMENT, "the layout has 2 axes, the dims have 3"},
    {"f32:nchw scalar", TSR_INVALID_ARGUMENT, "the layout has 4 axes, the dims have 0"},
    {"f32:scalar 1", TSR_INVALID_ARGUMENT, "the layout has 0 axes, the dims have 1"},
    {"f32:A4294967296a4294967296a 1", TSR_OVERFLOW, "the blocks of axis 0 do not fit into 63 bits"},
    {"f32:a 4611686018427387904", TSR_OVERFLOW, "the product of the dims does not fit into 63 bits of bytes"},
    {"f32:A9223372036854775807a 2", TSR_OVERFLOW, "the extent of the buffer does not fit into 63 bits of bytes"},
    {"f32:[ 2x3", TSR_PARSE_ERROR, LEVELS_EXPECTED "\"\" in layout \"[\""},
    {"f32:[a2,b3 2x3", TSR_PARSE_ERROR, LEVELS_EXPECTED "\"\" in layout \"[a2,b3\""},
    {"f32:[a2,] 2x3", TSR_PARSE_ERROR, LEVELS_EXPECTED "\"]\" in layout \"[a2,]\""},
    {"f32:[a2;b3] 2x3", TSR_PARSE_ERROR, LEVELS_EXPECTED "\";b3]\" in layout \"[a2;b3]\""},
    {"f32:[a,b3] 2x3", TSR_PARSE_ERROR, LEVELS_EXPECTED "\",b3]\" in layout \"[a,b3]\""},
    {"f32:[G2] 2", TSR_PARSE_ERROR, LEVELS_EXPECTED "\"G2]\" in layout \"[G2]\""},
    {"f32:[a-2] 2", TSR_PARSE_ERROR, LEVELS_EXPECTED "\"-2]\" in layout \"[a-2]\""},
    {"f32:[a2:] 2", TSR_PARSE_ERROR, LEVELS_EXPECTED "\"]\" in layout \"[a2:]\""},
    {"f32:[a2:--1] 2", TSR_PARSE_ERROR, LEVELS_EXPECTED "\"-1]\" in layout \"[a2:--1]\""},
    {"f32:[a2:-] 2", TSR_PARSE_ERROR, LEVELS_EXPECTED "\"]\" in layout \"[a2:-]\""},
    {"f32:[a2:-1] 2", TSR_INVALID_ARGUMENT,
     "negative strides reach to -1, expected 0 or more: the offset is that of index 0"},
    {"f32:[a2:-1]+1@a 2", TSR_PARSE_ERROR, LEVELS_EXPECTED "\"\" in layout \"[a2:-1]+1@a\""},
    {"f32:[a4]@a-1 2", TSR_PARSE_ERROR, LEVELS_EXPECTED "\"-1\" in layout \"[a4]@a-1\""},
    {"f32:[a4]@a1/ 2", TSR_PARSE_ERROR, LEVELS_EXPECTED "\"\" in layout \"[a4]@a1/\""},
    {"f32:[a4]@a1/0 2", TSR_PARSE_ERROR, LEVELS_EXPECTED "\"\" in layout \"[a4]@a1/0\""},
    {"f32:[a4]@a1@a1 2", TSR_PARSE_ERROR, LEVELS_EXPECTED "\"1\" in layout \"[a4]@a1@a1\""},
    {"f32:[a4]@a1+5 2", TSR_PARSE_ERROR, LEVELS_EXPECTED "\"+5\" in layout \"[a4]@a1+5\""},
    {"f32:[a4]@b1 2", TSR_INVALID_ARGUMENT, "layout \"[a4]@b1\" has a window on axis b of a tensor of rank 1"},
    {"f32:[a4]@a3 2", TSR_INVALID_ARGUMENT, "axis 0 sees 2 positions from 3 in steps of 1, its blocks cover 4"},
    {"f32:[a4]@a1/9223372036854775807 2", TSR_INVALID_ARGUMENT,
     "axis 0 sees 2 positions from 1 in steps of 9223372036854775807, its blocks cover 4"},
    {"f32:[a0]@a0 0", TSR_INVALID_ARGUMENT, "axis 0 is empty and a window, expected step 0"},
    {"f32:[a2:1/] 2", TSR_PARSE_ERROR, LEVELS_EXPECTED "\"]\" in layout \"[a2:1/]\""},
    {"f32:[a2/1] 2", TSR_PARSE_ERROR, LEVELS_EXPECTED "\"/1]\" in layout \"[a2/1]\""},
    {"f32:[a2]+ 2", TSR_PARSE_ERROR, LEVELS_EXPECTED "\"\" in layout \"[a2]+\""},
    {"f32:[a2]-1 2", TSR_PARSE_ERROR, LEVELS_EXPECTED "\"-1\" in layout \"[a2]-1\""},
    {"f32:[a2]] 2", TSR_PARSE_ERROR, LEVELS_EXPECTED "\"]\" in layout \"[a2]]\""},
    {"f32:[a9223372036854775808] 2", TSR_PARSE_ERROR,
     LEVELS_EXPECTED "\"9223372036854775808]\" in layout \"[a9223372036854775808]\""},
    {"f32:[a2,a4611686018427387904:2] 2", TSR_OVERFLOW,
     "the strides of layout \"[a2,a4611686018427387904:2]\" do not fit into 63 bits"},
    {"f32:[] 2", TSR_INVALID_ARGUMENT, "expected 1 to 64 block levels, found 0"},
    {"f32:[b2] 2", TSR_INVALID_ARGUMENT, "order[0] is 1, expected an axis below the rank 1"},
    {"f32:[a2,a3] 7", TSR_INVALID_ARGUMENT, "the blocks of axis 0 cover 6 of 7"},
    {"f32:[a3:2,b3] 3x3", TSR_INVALID_ARGUMENT,
     "elements overlap: the stride of level 0 (axis 0) is 2, expected more than 2"},
    {"f32:[a2]+9223372036854775807 2", TSR_OVERFLOW, "the extent of the buffer does not fit into 63 bits of bytes"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refusals); i++) {
        tsr_desc desc, before;
        tsr_error error = {0};
        memset(&desc, 0x5a, sizeof desc);
        before = desc;
        tsr_status status = tsr_desc_parse(&desc, refusals[i].text, &error);
        assert_string_equal(error.message, refusals[i].message);
        assert_int_equal(status, refusals[i].status);
        assert_int_equal(error.status, status);
        assert_memory_equal(&desc, &before, sizeof desc);
        assert_int_equal(tsr_desc_parse(&desc, refusals[i].text, NULL), status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dims),     cmocka_unit_test(test_most_dims), cmocka_unit_test(test_dims_refusals),
        cmocka_unit_test(test_descs),    cmocka_unit_test(test_many_axes), cmocka_unit_test(test_longest_text),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
