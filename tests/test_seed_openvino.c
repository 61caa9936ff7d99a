/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <tessera/openvino.h>
#include <tessera/text.h>

#include "parsed.h"

/*
 * The numbered examples of "Inference Engine Memory primitives" (OpenVINO 2021.1), and values that
 * OpenVINO's own tests pin down for the same things.
 */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LONGS(...) ((const int64_t[]){__VA_ARGS__})
#define INTS(...) ((const int[]){__VA_ARGS__})

static tsr_desc make(int rank, const int64_t *dims, tsr_blocking blocking)
{
    tsr_desc desc;
    tsr_error error = {0};
    if (tsr_desc_blocked(&desc, TSR_F32, rank, dims, &blocking, &error) != TSR_OK)
        fail_msg("%s", error.message);
    return desc;
}

static int64_t offset_at(const tsr_desc *desc, const int64_t *index)
{
    int64_t offset = -1;
    assert_int_equal(tsr_desc_offset(desc, desc->rank, index, &offset, NULL), TSR_OK);
    return offset;
}

static int64_t offset_linear(const tsr_desc *desc, int64_t linear)
{
    int64_t offset = -1;
    assert_int_equal(tsr_desc_offset_linear(desc, linear, &offset, NULL), TSR_OK);
    return offset;
}

static void expect_levels(const tsr_desc *desc, int levels, const int64_t *block_dims, const int *order,
                          const int64_t *strides)
{
    assert_int_equal(desc->levels, levels);
    for (int i = 0; i < levels; i++) {
        assert_int_equal(desc->block_dims[i], block_dims[i]);
        assert_int_equal(desc->order[i], order[i]);
        assert_int_equal(desc->strides[i], strides[i]);
        assert_int_equal(desc->pad_before[i], 0);
    }
}

/*
 * 1. {N: 1, C: 25, H: 20, W: 20} in the format NHWC: the blocks {1, 20, 20, 25} in the order {0, 2,
 * 3, 1}, or by name.
 */
static void test_example_1(void **state)
{
    (void)state;
    tsr_desc blocks = make(4, LONGS(1, 25, 20, 20),
                           (tsr_blocking){.levels = 4, .block_dims = LONGS(1, 20, 20, 25), .order = INTS(0, 2, 3, 1)});
    tsr_desc name = parsed_desc("f32:NHWC 1x25x20x20");
    expect_levels(&blocks, 4, LONGS(1, 20, 20, 25), INTS(0, 2, 3, 1), LONGS(10000, 500, 25, 1));
    expect_levels(&name, 4, LONGS(1, 20, 20, 25), INTS(0, 2, 3, 1), LONGS(10000, 500, 25, 1));
    assert_true(tsr_desc_equal(&blocks, &name));
}

static tsr_desc blocked_by_8(void)
{
    return make(4, LONGS(1, 25, 20, 20),
                (tsr_blocking){.levels = 5, .block_dims = LONGS(1, 4, 20, 20, 8), .order = INTS(0, 1, 2, 3, 1)});
}

/* 2. The same dims, channels blocked by 8: the blocks {1, 4, 20, 20, 8} in the order {0, 1, 2, 3, 1}. */
static void test_example_2(void **state)
{
    (void)state;
    tsr_desc desc = blocked_by_8(), name = parsed_desc("f32:nChw8c 1x25x20x20");
    expect_levels(&desc, 5, LONGS(1, 4, 20, 20, 8), INTS(0, 1, 2, 3, 1), LONGS(12800, 3200, 160, 8, 1));
    assert_true(tsr_desc_equal(&desc, &name));
    assert_int_equal(tsr_desc_elements(&desc), 25 * 20 * 20);
    assert_int_equal(tsr_desc_padded_elements(&desc), 32 * 20 * 20);
}

/* 3. Strides and offsets can be set. */
static void test_example_3(void **state)
{
    (void)state;
    tsr_desc desc = make(4, LONGS(1, 25, 20, 20),
                         (tsr_blocking){.levels = 5,
                                        .block_dims = LONGS(1, 4, 20, 20, 8),
                                        .order = INTS(0, 1, 2, 3, 1),
                                        .strides = LONGS(20000, 5000, 200, 10, 1),
                                        .pad_before = LONGS(0, 0, 1, 2, 0),
                                        .offset = 7});
    int64_t start = 7 + 1 * 200 + 2 * 10;
    assert_int_equal(offset_at(&desc, LONGS(0, 0, 0, 0)), start);
    assert_int_equal(offset_at(&desc, LONGS(0, 17, 3, 5)), start + 2 * 5000 + 3 * 200 + 5 * 10 + 1);
}

/* 4. The offset of a linear index and of a vector. */
static void test_example_4(void **state)
{
    (void)state;
    tsr_desc desc = blocked_by_8();
    assert_int_equal(offset_linear(&desc, 0), 0);
    assert_int_equal(offset_linear(&desc, 1), 8);
    assert_int_equal(offset_at(&desc, LONGS(0, 0, 0, 2)), 16);
    assert_int_equal(offset_at(&desc, LONGS(0, 1, 0, 2)), 17);
}

/* 5. The planar layout of a number of dims; where it has a name, that name is row-major. */
static void test_example_5(void **state)
{
    (void)state;
    static const struct {
        int rank;
        const char *layout;
    } rows[] = {{0, "SCALAR"},  {1, "C"},     {2, "NC"},      {4, "NCHW"},
                {3, "BLOCKED"}, {5, "NCDHW"}, {6, "BLOCKED"}, {32, "BLOCKED"}};
    static const int64_t dims[TSR_MAX_RANK] = {1, 2, 3, 4, 5, 6};
    assert_string_equal(tsr_ie_layout_name(tsr_ie_layout_by_dims(1, LONGS(0))), "BLOCKED");
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_desc named, plain;
        const char *layout = tsr_ie_layout_name(tsr_ie_layout_by_dims(rows[i].rank, dims));
        assert_string_equal(layout, rows[i].layout);
        if (strcmp(layout, "BLOCKED") == 0) {
            assert_int_equal(tsr_desc_from_layout(&named, TSR_F32, rows[i].rank, dims, layout, NULL), TSR_PARSE_ERROR);
            continue;
        }
        assert_int_equal(tsr_desc_from_layout(&named, TSR_F32, rows[i].rank, dims, layout, NULL), TSR_OK);
        assert_int_equal(tsr_desc_plain(&plain, TSR_F32, rows[i].rank, dims, NULL), TSR_OK);
        assert_true(tsr_desc_equal(&named, &plain));
    }
}

/* The last of the 25 channels is channel 1 of the fourth block. */
static void test_tail(void **state)
{
    (void)state;
    tsr_desc desc = blocked_by_8();
    assert_int_equal(offset_at(&desc, LONGS(0, 24, 0, 0)), 3 * 3200);
    assert_int_equal(offset_at(&desc, LONGS(0, 23, 19, 19)), 2 * 3200 + 19 * 160 + 19 * 8 + 7);
    assert_int_equal(offset_linear(&desc, 25 * 400 - 1), offset_at(&desc, LONGS(0, 24, 19, 19)));
    int64_t offset = -1;
    assert_int_equal(tsr_desc_offset(&desc, 4, LONGS(0, 25, 0, 0), &offset, NULL), TSR_OUT_OF_RANGE);
    assert_int_equal(tsr_desc_offset_linear(&desc, 25 * 400, &offset, NULL), TSR_OUT_OF_RANGE);
}

/* A linear index counts over the logical dims, whatever the memory. */
static void test_linear_index(void **state)
{
    (void)state;
    tsr_desc blocked =
        make(4, LONGS(1, 4, 2, 1),
             (tsr_blocking){.levels = 5, .block_dims = LONGS(1, 2, 2, 1, 2), .order = INTS(0, 1, 2, 3, 1)});
    tsr_desc planar = parsed_desc("f32:nchw 1x4x2x1");
    tsr_desc planar_5d = parsed_desc("f32:ncdhw 1x4x2x1x1");
    tsr_desc blocked_5d =
        make(5, LONGS(1, 4, 2, 1, 1),
             (tsr_blocking){.levels = 6, .block_dims = LONGS(1, 2, 2, 1, 1, 2), .order = INTS(0, 1, 2, 3, 4, 1)});
    assert_int_equal(offset_linear(&blocked, 5), 6);
    assert_int_equal(offset_linear(&planar, 5), 5);
    assert_int_equal(offset_linear(&blocked_5d, 6), 5);
    assert_int_equal(offset_linear(&planar_5d, 6), 6);
}

/* Regions of interest. Strides are those of the whole, and the start is in the offset alone, counted once. */
static void test_regions(void **state)
{
    (void)state;
    static const struct {
        const char *whole;
        int64_t start[4], dims[4], strides[4]; /* in the order of the dims */
        int64_t offset;
    } rows[] = {
        /* NCHW, {id 0, x 2, y 1, width 2, height 4} */
        {"f32:nchw 1x3x6x5", {0, 0, 1, 2}, {1, 3, 4, 2}, {90, 30, 5, 1}, 7},
        /* NHWC, {id 0, x 3, y 2, width 5, height 2}: in memory order the strides are 96, 24, 3, 1 */
        {"f32:nhwc 1x3x4x8", {0, 0, 2, 3}, {1, 3, 2, 5}, {96, 1, 24, 3}, 57},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_desc whole = parsed_desc(rows[i].whole), region;
        assert_int_equal(tsr_desc_strided(&region, TSR_F32, 4, rows[i].dims, rows[i].strides, rows[i].offset, NULL),
                         TSR_OK);
        assert_int_equal(offset_at(&region, LONGS(0, 0, 0, 0)), rows[i].offset);
        for (int64_t linear = 0; linear < tsr_desc_elements(&region); linear++) {
            int64_t inside[4], outside[4], rest = linear;
            for (int k = 3; k >= 0; k--) {
                inside[k] = rest % rows[i].dims[k];
                outside[k] = inside[k] + rows[i].start[k];
                rest /= rows[i].dims[k];
            }
            assert_int_equal(offset_at(&region, inside), offset_at(&whole, outside));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example_1),    cmocka_unit_test(test_example_2), cmocka_unit_test(test_example_3),
        cmocka_unit_test(test_example_4),    cmocka_unit_test(test_example_5), cmocka_unit_test(test_tail),
        cmocka_unit_test(test_linear_index), cmocka_unit_test(test_regions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
