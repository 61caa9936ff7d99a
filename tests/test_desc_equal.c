/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <tessera/text.h>

#include "desc/digits.h"
#include "parsed.h"
#include "random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static tsr_random numbers;

/* --- what is equal --- */

static const struct {
    const char *a, *b;
    bool equal;
} pairs[] = {
    {"f32:nchw 2x3x4x5", "f32:abcd 2x3x4x5", true},
    {"f32:nchw 2x3x4x5", "f32:[a2,b3,c4,d5] 2x3x4x5", true},
    {"f32:nchw 2x3x4x5", "f32:nhwc 2x3x4x5", false},
    {"f32:nchw 2x3x4x5", "u32:nchw 2x3x4x5", false},
    {"f32:nchw 2x3x4x5", "f32:nchw 2x3x5x4", false},
    {"f32:abc 2x3x4", "f32:abcd 2x3x4x1", false},
    {"f32:scalar scalar", "f32:[] scalar", true},
    {"f32:scalar scalar", "f32:[]+1 scalar", false},
    /* one channel, or one pixel: the name does not count */
    {"f32:nchw 2x1x4x5", "f32:nhwc 2x1x4x5", true},
    {"f32:nchw 2x7x1x1", "f32:nhwc 2x7x1x1", true},
    /* levels of one step, and their strides */
    {"f32:ab 4x6", "f32:[a4,a1,b6,b1] 4x6", true},
    {"f32:ab 4x6", "f32:[b1:99,a4:6,a1:1000,b6:1] 4x6", true},
    {"f32:ab 1x6", "f32:[a1:7,b6:1] 1x6", true},
    {"f32:ab 1x6", "f32:[a1:0,b6:1] 1x6", true},
    /* levels that continue each other, and those that do not */
    {"f32:ab 4x6", "f32:[a4,b2,b3] 4x6", true},
    {"f32:ab 4x6", "f32:[a2,a2,b3,b2] 4x6", true},
    {"f32:[a4:14,b6:2] 4x6", "f32:[a4:14,b3:4,b2:2] 4x6", true},
    {"f32:[a4:14,b6:2] 4x6", "f32:[a4:14,b3:5,b2:2] 4x6", false},
    {"f32:ab 4x6", "f32:[b2,a4,b3] 4x6", false},
    {"f32:[a2:4,a2:8,a2:1] 8", "f32:[a2:4,a2:8,a2:1] 8", true},
    {"f32:[a2:4,a2:8,a2:1] 8", "f32:[a2:8,a2:4,a2:1] 8", false},
    {"f32:aBcd8b 1x16x2x2", "f32:[a1,b2,c2,d2,b8] 1x16x2x2", true},
    {"f32:aBcd8b 1x16x2x2", "f32:[a1,b2,c2,d2,b4,b2] 1x16x2x2", true},
    {"f32:aBcd4b2b 1x16x2x2", "f32:aBcd8b 1x16x2x2", true},
    {"f32:aBcd8b 1x16x2x2", "f32:aBcd16b 1x16x2x2", false},
    /* a start is a start, however it is written */
    {"f32:[a3:4,b4:1]+8 3x4", "f32:[a3:4/2,b4:1] 3x4", true},
    {"f32:[a3:4,b4:1]+9 3x4", "f32:[a3:4/2,b4:1/1] 3x4", true},
    {"f32:[a3:4,b4:1]+9 3x4", "f32:[a3:4/2,b4:1] 3x4", false},
    {"f32:[a1:5/3,b4:1] 1x4", "f32:[a1:9,b4:1]+15 1x4", true},
    /* padding */
    {"f32:aBcd8b 1x9x2x2", "f32:[a1,b3,c2,d2,b8] 1x9x2x2", false},
    {"f32:aBcd8b 1x9x1x1", "f32:aBcd16b 1x9x1x1", true},
    {"f32:aBcd8b 1x7x1x1", "f32:abcd 1x7x1x1", false},
    {"f32:[a8:1] 7", "f32:A8a 7", true},
    {"f32:[a7:1] 7", "f32:A8a 7", false},
    /* a broadcast */
    {"f32:[a3:0,b4:1] 3x4", "f32:[a3:4,b4:1] 3x4", false},
    {"f32:[a4:0,b4:1] 4x4", "f32:[a2:0,a2:0,b4:1] 4x4", true},
    {"f32:[a4:0] 4", "f32:[a2:0,a2:1] 4", false},
    /* windows */
    {"f32:[a2:100,a8:1]@a5 6", "f32:[a2:95,a3:1]+5 6", true},
    {"f32:[a2:100,a8:1]@a7 4", "f32:[a2:95,a3:1]+5@a2 4", true},
    {"f32:[a2:100,a8:1]@a7 4", "f32:[a2:95,a3:1]+5@a1 4", false},
    {"f32:[a2:100,a8:1]@a0 9", "f32:[a2:100,a8:1] 9", false},
    {"f32:[a3:100,a8:1]@a1/4 6", "f32:[a3:100,a2:4]+1 6", true},
    {"f32:[a3:100,a8:1]@a1/4 5", "f32:[a3:100,a2:4]+1 5", false},
    {"f32:[a3:100,a8:1]@a1/8 3", "f32:[a3:100]+1 3", true},
    {"f32:[a2:1,a5:4]@a4 2", "f32:[a2:-15]+16 2", true},
    {"f32:[a2:64,a4:20,a4:1]@a13 6", "f32:[a6:1]+61 6", true},
    {"f32:[a2:65,a4:20,a4:1]@a13 6", "f32:[a6:1]+61 6", false},
    {"f32:[a2:0,a4:1]@a1 6", "f32:[a2:0,a4:1]@a1 6", true},
    {"f32:[a5:100,a4:1]@a0 17", "f32:[a3:100,a8:1]@a0 17", false},
    {"f32:[a9:100,a4:1]@a0/3 11", "f32:[a9:100,a4:1]@a0/3 11", true},
    {"f32:[a9:100,a4:1]@a0/3 11", "f32:[a9:100,a4:1]@a1/3 11", false},
    {"f32:[a9:100,a5:1]@a0/3 3", "f32:[a9:100,a5:1]@a0/4 3", false},
    {"f32:[a2:50,a8:1] 16", "f32:[a2:80,a2:30,a4:1] 16", false},
    {"f32:[a2:50,a8:1] 16", "f32:[a4:50,a4:1] 16", false},
    {"f32:[a2:50,a8:1] 16", "f32:[a2:60,a8:1] 16", false},
    /* no elements are no memory */
    {"f32:[a0:1,b4:7]+5 0x4", "f32:ba 0x4", true},
    {"f32:ab 0x4", "f32:ab 0x5", false},
    /* strides whose products do not fit */
    {"u8:[a2:1,a2:4611686018427387904] 4", "u8:[a2:1,a2:4611686018427387904] 4", true},
    {"u8:[a2:0,a2:4611686018427387904] 4", "u8:[a2:0,a2:4611686018427387904] 4", true},
    {"u8:[a2:0,a2:4611686018427387904] 4", "u8:[a2:1,a2:4611686018427387904] 4", false},
    {"u8:[a2:4611686018427387904,a2:1] 4", "u8:[a2:1,a2:4611686018427387904] 4", false},
};

static void test_pairs(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        tsr_desc a = parsed_desc(pairs[i].a), b = parsed_desc(pairs[i].b);
        if (tsr_desc_equal(&a, &b) != pairs[i].equal || tsr_desc_equal(&b, &a) != pairs[i].equal)
            fail_msg("%s and %s: expected %s", pairs[i].a, pairs[i].b, pairs[i].equal ? "equal" : "different");
        assert_true(tsr_desc_equal(&a, &a));
        assert_true(tsr_desc_equal(&b, &b));
    }
}

/* --- an axis as digits --- */

static const struct {
    const char *text;
    int axis, count;
    int64_t extent, unit[3], stride[3];
} axes[] = {
    {"f32:nchw 2x3x4x5", 1, 1, 3, {1}, {20}},
    {"f32:nChw8c 1x25x20x20", 1, 2, 32, {1, 8}, {1, 3200}},
    {"f32:aBcd4b2b 1x16x2x2", 1, 2, 16, {1, 8}, {1, 32}},
    {"f32:OIhw4i16o4i 16x32x2x1", 1, 3, 32, {1, 4, 16}, {1, 64, 512}},
    {"f32:OIhw4i16o4i 16x32x1x1", 1, 2, 32, {1, 4}, {1, 64}},
    {"f32:OIhw4i16o4i 16x32x1x1", 0, 1, 16, {1}, {4}},
    {"f32:[a1:7,b6:1] 1x6", 0, 1, 1, {1}, {0}},
    {"f32:[a2:4,a2:8,a2:1] 8", 0, 3, 8, {1, 2, 4}, {1, 8, 4}},
    {"f32:[a4:0,a2:0] 8", 0, 1, 8, {1}, {0}},
};

static void test_digits(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(axes); i++) {
        tsr_desc desc = parsed_desc(axes[i].text);
        tsr_digits digits;
        tsr_digits_of_axis(&digits, &desc, axes[i].axis);
        assert_int_equal(digits.count, axes[i].count);
        assert_int_equal(digits.extent, axes[i].extent);
        for (int j = 0; j < digits.count; j++) {
            assert_int_equal(digits.unit[j], axes[i].unit[j]);
            assert_int_equal(digits.stride[j], axes[i].stride[j]);
        }
    }
}

/* --- properties --- */

static tsr_desc draw(bool broadcast)
{
    int64_t dims[TSR_MAX_RANK];
    int rank = (int)tsr_random_range(&numbers, 0, 5);
    tsr_random_options options = {
        .max_blocks = 3,
        .max_elements = 600,
        .strided = tsr_random_chance(&numbers, 2),
        .offset = true,
        .pad_before = true,
        .broadcast = broadcast,
        .spare = true,
    };
    tsr_random_dims(&numbers, rank, 200, dims);
    return tsr_random_desc(&numbers, TSR_U8, rank, dims, &options);
}

static void index_of(const tsr_desc *desc, int64_t linear, int64_t *index)
{
    for (int k = desc->rank - 1; k >= 0; k--) {
        index[k] = linear % desc->dims[k];
        linear /= desc->dims[k];
    }
}

/* offset(v) == start + the sum over all axes of F_k(v[k]), in the span of the descriptor */
static void check_separable(const tsr_desc *desc)
{
    tsr_digits digits[TSR_MAX_RANK];
    int64_t index[TSR_MAX_RANK], first, end;
    tsr_desc_span(desc, &first, &end);
    for (int k = 0; k < desc->rank; k++)
        tsr_digits_of_axis(&digits[k], desc, k);
    for (int64_t linear = 0; linear < tsr_desc_elements(desc); linear++) {
        int64_t offset, by_linear, sum = tsr_desc_start(desc);
        index_of(desc, linear, index);
        for (int k = 0; k < desc->rank; k++)
            sum += tsr_digits_offset(&digits[k], index[k]);
        assert_int_equal(tsr_desc_offset(desc, desc->rank, index, &offset, NULL), TSR_OK);
        assert_int_equal(tsr_desc_offset_linear(desc, linear, &by_linear, NULL), TSR_OK);
        assert_int_equal(offset, sum);
        assert_int_equal(by_linear, sum);
        assert_true(first <= offset && offset < end);
    }
}

static void test_offsets_are_separable(void **state)
{
    (void)state;
    for (int i = tsr_random_cases(2000); i > 0; i--) {
        tsr_desc desc = draw(i % 2);
        check_separable(&desc);
    }
}

static void test_elements_lie_apart(void **state)
{
    (void)state;
    for (int i = tsr_random_cases(2000); i > 0; i--) {
        tsr_desc desc = draw(false);
        int64_t size = tsr_desc_size_bytes(&desc), offset;
        unsigned char *taken = calloc((size_t)size, 1);
        assert_non_null(taken);
        for (int64_t linear = 0; linear < tsr_desc_elements(&desc); linear++) {
            assert_int_equal(tsr_desc_offset_linear(&desc, linear, &offset, NULL), TSR_OK);
            assert_int_equal(taken[offset]++, 0);
        }
        free(taken);
    }
}

/* Makes room for one more level at i, a copy of the one that was there. */
static void insert_level(tsr_desc *desc, int i)
{
    for (int j = desc->levels++; j > i; j--) {
        desc->order[j] = desc->order[j - 1];
        desc->block_dims[j] = desc->block_dims[j - 1];
        desc->strides[j] = desc->strides[j - 1];
        desc->pad_before[j] = desc->pad_before[j - 1];
    }
    desc->pad_before[i] = 0;
}

/* The same memory, written down in another way. */
static tsr_desc rewrite(tsr_desc desc)
{
    if (desc.levels == 0 || desc.levels == TSR_MAX_LEVELS)
        return desc;
    int i = (int)tsr_random_range(&numbers, 0, desc.levels - 1);
    if (tsr_random_chance(&numbers, 3)) {
        desc.offset += desc.pad_before[i] * desc.strides[i];
        desc.pad_before[i] = 0;
    }
    insert_level(&desc, i);
    desc.block_dims[i] = 1;
    for (int64_t n = 2; n <= 5; n++) {
        if (desc.block_dims[i + 1] > n && desc.block_dims[i + 1] % n == 0 && tsr_random_chance(&numbers, 2)) {
            desc.block_dims[i] = n;
            desc.block_dims[i + 1] /= n;
            desc.strides[i] = desc.strides[i + 1] * desc.block_dims[i + 1];
            return desc;
        }
    }
    desc.strides[i] = tsr_random_range(&numbers, 0, 100);
    return desc;
}

static void test_rewriting_changes_nothing(void **state)
{
    (void)state;
    for (int i = tsr_random_cases(5000); i > 0; i--) {
        tsr_desc desc = draw(i % 2), same = rewrite(rewrite(desc));
        assert_int_equal(tsr_desc_check(&same, i % 2, NULL), TSR_OK);
        assert_true(tsr_desc_equal(&desc, &same));
        assert_true(tsr_desc_equal(&same, &desc));
        check_separable(&same);
        same.offset++;
        assert_false(tsr_desc_equal(&desc, &same));
    }
}

/* Equal descriptors have equal offsets, and different ones differ somewhere, padding included. */
static bool same_offsets(tsr_desc a, tsr_desc b)
{
    for (int k = 0; k < a.rank; k++) { /* let the padding count */
        tsr_digits x, y;
        tsr_digits_of_axis(&x, &a, k);
        tsr_digits_of_axis(&y, &b, k);
        if (x.extent != y.extent)
            return false;
        a.dims[k] = b.dims[k] = x.extent;
    }
    for (int64_t linear = 0; linear < tsr_desc_elements(&a); linear++) {
        int64_t left, right;
        assert_int_equal(tsr_desc_offset_linear(&a, linear, &left, NULL), TSR_OK);
        assert_int_equal(tsr_desc_offset_linear(&b, linear, &right, NULL), TSR_OK);
        if (left != right)
            return false;
    }
    return true;
}

static void test_equal_is_same_offsets(void **state)
{
    (void)state;
    int equal = 0;
    for (int i = tsr_random_cases(20000); i > 0; i--) {
        int64_t dims[3] = {0};
        tsr_random_options options = {.max_blocks = 2, .max_elements = 64, .strided = i % 2, .broadcast = i % 3 == 0};
        int rank = (int)tsr_random_range(&numbers, 1, 3);
        tsr_random_dims(&numbers, rank, 12, dims);
        tsr_desc a = tsr_random_desc(&numbers, TSR_U8, rank, dims, &options);
        tsr_desc b = tsr_random_desc(&numbers, TSR_U8, rank, dims, &options);
        bool same = same_offsets(a, b);
        assert_int_equal(tsr_desc_equal(&a, &b), same);
        equal += same;
    }
    assert_true(equal > 100);
}

/* --- what is compatible, axes of one index aside --- */

static void test_compatible(void **state)
{
    static const struct {
        const char *a, *b;
        bool compatible;
    } rows[] = {
        {"f32:nchw 1x3x1x1", "f32:a 3", true},
        {"f32:nchw 2x3x1x4", "f32:ncw 2x3x4", true},
        {"f32:nchw 2x3x1x4", "f32:ncw 2x4x3", false},
        {"f32:nchw 2x3x1x4", "f32:nwc 2x3x4", false},
        {"f32:nchw 1x1x1x1", "f32:scalar scalar", true},
        {"f32:nchw 1x1x1x1", "u8:scalar scalar", false},
        {"f32:[a1:7/2,b3:1] 1x3", "f32:[a3]+14 3", true},
        {"f32:[a1:7/2,b3:1] 1x3", "f32:[a3]+13 3", false},
        {"f32:[b2:64,a3:8,b8:1]@b9 3x1", "f32:[a3:8]+65 3", true},
        {"f32:nChw8c 2x1x3x3", "f32:[a2:72,b3:24,c3:8] 2x3x3", true},
        {"f32:[b2:128,a1,c4:32,b8:1]@b3 1x9x4", "f32:[a2:128,b4:32,a8:1]@a3 9x4", true},
        {"f32:ab 1x0", "f32:a 0", true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_desc a = parsed_desc(rows[i].a), b = parsed_desc(rows[i].b);
        if (tsr_desc_compatible(&a, &b) != rows[i].compatible || tsr_desc_compatible(&b, &a) != rows[i].compatible)
            fail_msg("%s and %s are%s compatible", rows[i].a, rows[i].b, rows[i].compatible ? " not" : "");
    }
}

/* Hashes never change: others may have written them down. */
static void test_hashes_are_stable(void **state)
{
    static const struct {
        const char *desc;
        uint64_t hash;
    } rows[] = {
        {"f32:nChw16c 8x64x56x56", UINT64_C(0xde11e2058e182947)},
        {"u8:[b2:128,c4:32,d4:8,b8:1,a1:1]+3@b3/2 1x5x4x4", UINT64_C(0x8278a997cbbe12d5)},
        {"s4:scalar scalar", UINT64_C(0x5cb48bfbd9f8bd34)},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_desc desc = parsed_desc(rows[i].desc);
        if (tsr_desc_hash(&desc) != rows[i].hash)
            fail_msg("%s has hash %016" PRIx64, rows[i].desc, tsr_desc_hash(&desc));
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
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_digits),
        cmocka_unit_test(test_offsets_are_separable),
        cmocka_unit_test(test_elements_lie_apart),
        cmocka_unit_test(test_rewriting_changes_nothing),
        cmocka_unit_test(test_equal_is_same_offsets),
        cmocka_unit_test(test_compatible),
        cmocka_unit_test(test_hashes_are_stable),
    };
    return cmocka_run_group_tests(tests, seed, NULL);
}
