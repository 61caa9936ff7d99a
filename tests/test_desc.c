/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <tessera/desc.h>

#include "same.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LONGS(...) ((const int64_t[]){__VA_ARGS__})

/* --- constructors: fields, sizes and offsets by hand --- */

struct point {
    int64_t index[4];
    int64_t offset;
};

static const struct {
    tsr_dtype dtype;
    int rank;
    int64_t dims[4];
    int levels;
    int64_t block_dims[6];
    int order[6];
    int64_t strides[6], pad_before[6];
    int64_t offset;
    bool read_only;
    int64_t elements, padded, first, end, size_bytes;
    struct point points[3];
} layouts[] = {
    /* NCHW */
    {TSR_F32,
     4,
     {2, 3, 4, 5},
     4,
     {2, 3, 4, 5},
     {0, 1, 2, 3},
     {60, 20, 5, 1},
     {0},
     0,
     false,
     120,
     120,
     0,
     120,
     480,
     {{{0, 0, 0, 1}, 1}, {{1, 2, 3, 4}, 119}, {{1, 0, 2, 3}, 73}}},
    /* NHWC */
    {TSR_U8,
     4,
     {2, 3, 4, 5},
     4,
     {2, 4, 5, 3},
     {0, 2, 3, 1},
     {60, 15, 3, 1},
     {0},
     0,
     false,
     120,
     120,
     0,
     120,
     120,
     {{{0, 1, 0, 0}, 1}, {{1, 2, 3, 4}, 119}, {{1, 1, 2, 3}, 100}}},
    /* nChw8c, with 7 channels of padding */
    {TSR_F16,
     4,
     {1, 25, 2, 2},
     5,
     {1, 4, 2, 2, 8},
     {0, 1, 2, 3, 1},
     {128, 32, 16, 8, 1},
     {0},
     0,
     false,
     100,
     128,
     0,
     128,
     256,
     {{{0, 7, 0, 0}, 7}, {{0, 8, 0, 0}, 32}, {{0, 24, 1, 1}, 120}}},
    /* OIhw4i2o, blocks of both axes, tails on both */
    {TSR_S8,
     4,
     {3, 5, 1, 2},
     6,
     {2, 2, 1, 2, 4, 2},
     {0, 1, 2, 3, 1, 0},
     {32, 16, 16, 8, 2, 1},
     {0},
     0,
     false,
     30,
     64,
     0,
     64,
     64,
     {{{1, 3, 0, 1}, 15}, {{2, 4, 0, 1}, 56}, {{2, 1, 0, 0}, 34}}},
    /* one axis in three levels whose strides do not fall: 24 = 2 x 3 x 4 */
    {TSR_F64,
     1,
     {24},
     3,
     {2, 3, 4},
     {0, 0, 0},
     {4, 8, 1},
     {0},
     0,
     false,
     24,
     24,
     0,
     24,
     192,
     {{{3}, 3}, {{4}, 8}, {{23}, 23}}},
    /* rows with a gap, a start, and a level that begins late */
    {TSR_U16,
     2,
     {3, 4},
     2,
     {3, 4},
     {0, 1},
     {10, 2},
     {1, 2},
     5,
     false,
     12,
     12,
     19,
     46,
     92,
     {{{0, 0}, 19}, {{1, 1}, 31}, {{2, 3}, 45}}},
    /* one row that stands for three */
    {TSR_F32,
     2,
     {3, 4},
     2,
     {3, 4},
     {0, 1},
     {0, 1},
     {0},
     2,
     true,
     12,
     12,
     2,
     6,
     24,
     {{{0, 0}, 2}, {{1, 3}, 5}, {{2, 0}, 2}}},
    /* the outermost level has room to spare */
    {TSR_F32, 1, {5}, 2, {4, 2}, {0, 0}, {2, 1}, {0}, 0, false, 5, 8, 0, 8, 32, {{{0}, 0}, {{3}, 3}, {{4}, 4}}},
    /* no elements */
    {TSR_F32, 2, {0, 4}, 2, {0, 4}, {0, 1}, {4, 1}, {0}, 0, false, 0, 0, 0, 0, 0, {{{0}, 0}}},
    {TSR_F32, 2, {3, 0}, 3, {3, 0, 8}, {0, 1, 1}, {8, 8, 1}, {0}, 9, false, 0, 0, 0, 0, 0, {{{0}, 0}}},
    /* a scalar */
    {TSR_F32, 0, {0}, 0, {0}, {0}, {0}, {0}, 0, false, 1, 1, 0, 1, 4, {{{0}, 0}}},
    {TSR_F32, 0, {0}, 0, {0}, {0}, {0}, {0}, 3, false, 1, 1, 3, 4, 16, {{{0}, 3}}},
};

static tsr_desc make_layout(size_t i)
{
    tsr_desc desc;
    tsr_error error = {0};
    tsr_blocking blocking = {
        .levels = layouts[i].levels,
        .block_dims = layouts[i].block_dims,
        .order = layouts[i].order,
        .strides = layouts[i].strides,
        .pad_before = layouts[i].pad_before,
        .offset = layouts[i].offset,
        .read_only = layouts[i].read_only,
    };
    if (tsr_desc_blocked(&desc, layouts[i].dtype, layouts[i].rank, layouts[i].dims, &blocking, &error) != TSR_OK)
        fail_msg("layout %zu: %s", i, error.message);
    return desc;
}

static void test_fields(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(layouts); i++) {
        tsr_desc desc = make_layout(i);
        assert_int_equal(desc.dtype, layouts[i].dtype);
        assert_int_equal(desc.rank, layouts[i].rank);
        assert_int_equal(desc.levels, layouts[i].levels);
        assert_int_equal(desc.offset, layouts[i].offset);
        assert_memory_equal(desc.dims, layouts[i].dims, sizeof layouts[i].dims);
        assert_memory_equal(desc.block_dims, layouts[i].block_dims, sizeof layouts[i].block_dims);
        assert_memory_equal(desc.strides, layouts[i].strides, sizeof layouts[i].strides);
        assert_memory_equal(desc.pad_before, layouts[i].pad_before, sizeof layouts[i].pad_before);
        for (int k = 0; k < desc.levels; k++)
            assert_int_equal(desc.order[k], layouts[i].order[k]);
    }
}

static void test_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(layouts); i++) {
        tsr_desc desc = make_layout(i);
        int64_t first = -1, end = -1;
        assert_int_equal(tsr_desc_elements(&desc), layouts[i].elements);
        assert_int_equal(tsr_desc_padded_elements(&desc), layouts[i].padded);
        tsr_desc_span(&desc, &first, &end);
        assert_int_equal(first, layouts[i].first);
        assert_int_equal(end, layouts[i].end);
        assert_int_equal(tsr_desc_size_bytes(&desc), layouts[i].size_bytes);
    }
}

static int64_t linear_of(const tsr_desc *desc, const int64_t *index)
{
    int64_t linear = 0;
    for (int k = 0; k < desc->rank; k++)
        linear = linear * desc->dims[k] + index[k];
    return linear;
}

static void test_offsets(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(layouts); i++) {
        tsr_desc desc = make_layout(i);
        for (size_t p = 0; p < 3 && layouts[i].elements > (int64_t)p; p++) {
            const struct point *point = &layouts[i].points[p];
            int64_t offset = -1;
            assert_int_equal(tsr_desc_offset(&desc, desc.rank, point->index, &offset, NULL), TSR_OK);
            assert_int_equal(offset, point->offset);
            offset = -1;
            int64_t linear = linear_of(&desc, point->index);
            assert_int_equal(tsr_desc_offset_linear(&desc, linear, &offset, NULL), TSR_OK);
            assert_int_equal(offset, point->offset);
        }
    }
}

static void test_dense_strides(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) { /* those that are dense */
        tsr_desc desc, expected = make_layout(i);
        tsr_blocking blocking = {
            layouts[i].levels, layouts[i].block_dims, layouts[i].order, NULL, NULL, 0, NULL, NULL, false};
        assert_int_equal(tsr_desc_blocked(&desc, layouts[i].dtype, layouts[i].rank, layouts[i].dims, &blocking, NULL),
                         TSR_OK);
        assert_memory_equal(desc.strides, expected.strides, sizeof desc.strides);
        assert_memory_equal(desc.pad_before, expected.pad_before, sizeof desc.pad_before);
    }
}

static void test_plain_and_strided(void **state)
{
    (void)state;
    tsr_desc plain, strided, nchw = make_layout(0), nhwc = make_layout(1);
    assert_int_equal(tsr_desc_plain(&plain, TSR_F32, 4, LONGS(2, 3, 4, 5), NULL), TSR_OK);
    assert_true(tsr_same_fields(&plain, &nchw));
    /* strides in the order of the dims, here those of NHWC */
    assert_int_equal(tsr_desc_strided(&strided, TSR_U8, 4, LONGS(2, 3, 4, 5), LONGS(60, 1, 15, 3), 0, NULL), TSR_OK);
    assert_true(tsr_desc_equal(&strided, &nhwc));
    assert_int_equal(tsr_desc_strided(&strided, TSR_U8, 4, LONGS(2, 3, 4, 5), LONGS(60, 1, 15, 3), 7, NULL), TSR_OK);
    assert_int_equal(strided.offset, 7);
    assert_false(tsr_desc_equal(&strided, &nhwc));
    /* rank 0 reads no array */
    assert_int_equal(tsr_desc_plain(&plain, TSR_F32, 0, NULL, NULL), TSR_OK);
    assert_int_equal(tsr_desc_elements(&plain), 1);
}

static void test_out_of_range(void **state)
{
    (void)state;
    tsr_desc desc = make_layout(2), empty = make_layout(8), scalar = make_layout(10);
    const struct {
        const tsr_desc *desc;
        int rank;
        const int64_t *index;
        const char *message;
    } rows[] = {
        {&desc, 4, LONGS(0, 25, 0, 0), "index[1] is 25, expected 0 to 24"},
        {&desc, 4, LONGS(1, 0, 0, 0), "index[0] is 1, expected 0 to 0"},
        {&desc, 4, LONGS(0, 0, 0, -1), "index[3] is -1, expected 0 to 1"},
        {&desc, 4, LONGS(0, 0, INT64_MIN, 0), "index[2] is -9223372036854775808, expected 0 to 1"},
        {&desc, 3, LONGS(0, 0, 0), "expected an index of 4 axes, found 3"},
        {&desc, 5, LONGS(0, 0, 0, 0, 0), "expected an index of 4 axes, found 5"},
        {&desc, 0, NULL, "expected an index of 4 axes, found 0"},
        {&empty, 2, LONGS(0, 0), "axis 0 is empty, so that no index is in it"},
        {&scalar, 1, LONGS(0), "expected an index of 0 axes, found 1"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t offset = -7;
        tsr_error error = {0};
        assert_int_equal(tsr_desc_offset(rows[i].desc, rows[i].rank, rows[i].index, &offset, &error), TSR_OUT_OF_RANGE);
        assert_string_equal(error.message, rows[i].message);
        assert_int_equal(offset, -7);
    }
}

static void test_linear_out_of_range(void **state)
{
    (void)state;
    tsr_desc desc = make_layout(2), empty = make_layout(8), scalar = make_layout(10);
    const struct {
        const tsr_desc *desc;
        int64_t linear;
        const char *message;
    } rows[] = {
        {&desc, 100, "linear index 100 of a tensor with 100 elements"},
        {&desc, -1, "linear index -1 of a tensor with 100 elements"},
        {&desc, INT64_MAX, "linear index 9223372036854775807 of a tensor with 100 elements"},
        {&empty, 0, "linear index 0 of a tensor with 0 elements"},
        {&scalar, 1, "linear index 1 of a tensor with 1 elements"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t offset = -7;
        tsr_error error = {0};
        assert_int_equal(tsr_desc_offset_linear(rows[i].desc, rows[i].linear, &offset, &error), TSR_OUT_OF_RANGE);
        assert_string_equal(error.message, rows[i].message);
        assert_int_equal(offset, -7);
    }
}

/* --- limits --- */

static void test_rank_32(void **state)
{
    (void)state;
    tsr_desc desc;
    int64_t dims[TSR_MAX_RANK], index[TSR_MAX_RANK], offset = -1;
    for (int k = 0; k < TSR_MAX_RANK; k++) {
        dims[k] = k % 2 ? 2 : 1;
        index[k] = dims[k] - 1;
    }
    assert_int_equal(tsr_desc_plain(&desc, TSR_S8, TSR_MAX_RANK, dims, NULL), TSR_OK);
    assert_int_equal(tsr_desc_elements(&desc), 1 << 16);
    assert_int_equal(desc.strides[0], 1 << 16);
    assert_int_equal(tsr_desc_offset(&desc, TSR_MAX_RANK, index, &offset, NULL), TSR_OK);
    assert_int_equal(offset, (1 << 16) - 1);
}

/* One axis of 3^39 in 39 levels, and 25 more levels of 1. */
static void test_64_levels(void **state)
{
    (void)state;
    tsr_desc desc;
    int64_t block_dims[TSR_MAX_LEVELS], dim = 1, offset = -1;
    int order[TSR_MAX_LEVELS] = {0};
    for (int i = 0; i < TSR_MAX_LEVELS; i++) {
        block_dims[i] = i < 39 ? 3 : 1;
        dim *= block_dims[i];
    }
    tsr_blocking blocking = {.levels = TSR_MAX_LEVELS, .block_dims = block_dims, .order = order};
    assert_int_equal(tsr_desc_blocked(&desc, TSR_S8, 1, &dim, &blocking, NULL), TSR_OK);
    assert_int_equal(tsr_desc_size_bytes(&desc), dim);
    for (int64_t x = dim - 1; x > 0; x /= 7) {
        assert_int_equal(tsr_desc_offset(&desc, 1, &x, &offset, NULL), TSR_OK);
        assert_int_equal(offset, x);
    }
}

/* The largest buffers: one element, or one byte, below the limit. */
static void test_largest(void **state)
{
    (void)state;
    tsr_desc desc;
    int64_t offset = -1;
    assert_int_equal(tsr_desc_plain(&desc, TSR_U8, 1, LONGS(INT64_MAX), NULL), TSR_OK);
    assert_int_equal(tsr_desc_size_bytes(&desc), INT64_MAX);
    assert_int_equal(tsr_desc_offset(&desc, 1, LONGS(INT64_MAX - 1), &offset, NULL), TSR_OK);
    assert_int_equal(offset, INT64_MAX - 1);
    assert_int_equal(tsr_desc_plain(&desc, TSR_F64, 2, LONGS(INT64_C(1) << 30, (INT64_C(1) << 30) - 1), NULL), TSR_OK);
    assert_int_equal(tsr_desc_strided(&desc, TSR_U8, 1, LONGS(2), LONGS(INT64_MAX - 1), 0, NULL), TSR_OK);
    assert_int_equal(tsr_desc_size_bytes(&desc), INT64_MAX);
    assert_int_equal(tsr_desc_strided(&desc, TSR_U8, 1, LONGS(1), LONGS(INT64_MAX), INT64_MAX - 1, NULL), TSR_OK);
    assert_int_equal(tsr_desc_size_bytes(&desc), INT64_MAX);
    assert_int_equal(tsr_desc_offset(&desc, 1, LONGS(0), &offset, NULL), TSR_OK);
    assert_int_equal(offset, INT64_MAX - 1);
}

/* Nothing to reach, whatever the strides. */
static void test_largest_empty(void **state)
{
    (void)state;
    tsr_desc desc, other;
    int64_t first = -1, end = -1;
    assert_int_equal(
        tsr_desc_strided(&desc, TSR_U8, 3, LONGS(0, 0, 0), LONGS(INT64_MAX, INT64_MAX, (INT64_C(1) << 62)), 0, NULL),
        TSR_OK);
    assert_int_equal(tsr_desc_strided(&other, TSR_U8, 3, LONGS(0, 0, 0), LONGS(0, 0, 0), 5, NULL), TSR_OK);
    tsr_desc_span(&desc, &first, &end);
    assert_int_equal(first, 0);
    assert_int_equal(end, 0);
    assert_int_equal(tsr_desc_size_bytes(&desc), 0);
    assert_true(tsr_desc_equal(&desc, &other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_dense_strides),
        cmocka_unit_test(test_plain_and_strided),
        cmocka_unit_test(test_out_of_range),
        cmocka_unit_test(test_linear_out_of_range),
        cmocka_unit_test(test_rank_32),
        cmocka_unit_test(test_64_levels),
        cmocka_unit_test(test_largest),
        cmocka_unit_test(test_largest_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
