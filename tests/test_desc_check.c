/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <tessera/desc.h>

#include "random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LONGS(...) ((const int64_t[]){__VA_ARGS__})
#define INTS(...) ((const int[]){__VA_ARGS__})

#define HALF (INT64_C(1) << 62) /* half of what 63 bits hold, and one more */
#define ROOT (INT64_C(1) << 32) /* its square does not fit */

static void expect_failure(tsr_status found, const tsr_desc *desc, const tsr_error *error, tsr_status status,
                           const char *message)
{
    tsr_desc untouched;
    memset(&untouched, 0x5a, sizeof untouched);
    assert_string_equal(error->message, message);
    assert_int_equal(error->status, status);
    assert_int_equal(found, status);
    assert_memory_equal(desc, &untouched, sizeof untouched);
}

/* --- what tsr_desc_plain and tsr_desc_strided refuse --- */

static const struct {
    tsr_dtype dtype;
    int rank;
    const int64_t *dims, *strides; /* no strides: plain */
    int64_t offset;
    tsr_status status;
    const char *message;
} simple[] = {
    {TSR_DTYPE_NONE, 1, LONGS(3), NULL, 0, TSR_INVALID_ARGUMENT, "expected a type, found number 0"},
    {TSR_DTYPE_COUNT, 1, LONGS(3), NULL, 0, TSR_INVALID_ARGUMENT, "expected a type, found number 21"},
    {TSR_F32, -1, LONGS(3), NULL, 0, TSR_INVALID_ARGUMENT, "expected a rank of 0 to 32, found -1"},
    {TSR_F32, 33, LONGS(3), NULL, 0, TSR_INVALID_ARGUMENT, "expected a rank of 0 to 32, found 33"},
    {TSR_F32, 2, LONGS(3, -1), NULL, 0, TSR_INVALID_ARGUMENT, "dims[1] is -1, expected 0 or more"},
    {TSR_F32, 2, LONGS(INT64_MIN, 0), NULL, 0, TSR_INVALID_ARGUMENT,
     "dims[0] is -9223372036854775808, expected 0 or more"},
    {TSR_U8, 2, LONGS(ROOT, ROOT), NULL, 0, TSR_OVERFLOW, "the product of the dims does not fit into 63 bits of bytes"},
    {TSR_U8, 3, LONGS(ROOT, 0, ROOT), NULL, 0, TSR_OVERFLOW,
     "the product of the dims does not fit into 63 bits of bytes"},
    {TSR_U16, 1, LONGS(HALF), NULL, 0, TSR_OVERFLOW, "the product of the dims does not fit into 63 bits of bytes"},
    {TSR_F64, 2, LONGS(INT64_C(1) << 30, INT64_C(1) << 30), NULL, 0, TSR_OVERFLOW,
     "the product of the dims does not fit into 63 bits of bytes"},
    {TSR_U8, 2, LONGS(3, 4), LONGS(-4, 1), 0, TSR_INVALID_ARGUMENT,
     "negative strides reach to -8, expected 0 or more: the offset is that of index 0"},
    {TSR_U8, 2, LONGS(3, 4), LONGS(-4, 1), 8, TSR_INVALID_ARGUMENT,
     "level 0 has stride -4, expected 1 or more unless it is only read from"},
    {TSR_U8, 2, LONGS(1, 4), LONGS(-4, 1), 0, TSR_OK, ""},
    {TSR_U8, 1, LONGS(2), LONGS(INT64_MIN), INT64_MAX - 1, TSR_INVALID_ARGUMENT,
     "negative strides reach to -2, expected 0 or more: the offset is that of index 0"},
    {TSR_U8, 2, LONGS(3, 4), LONGS(4, 1), -1, TSR_INVALID_ARGUMENT, "the offset is -1, expected 0 or more"},
    {TSR_U8, 1, LONGS(2), LONGS(INT64_MAX), 0, TSR_OVERFLOW,
     "the extent of the buffer does not fit into 63 bits of bytes"},
    {TSR_U8, 1, LONGS(3), LONGS(HALF), 0, TSR_OVERFLOW, "the extent of the buffer does not fit into 63 bits of bytes"},
    {TSR_U8, 2, LONGS(2, 2), LONGS(HALF, HALF + 1), 0, TSR_OVERFLOW,
     "the extent of the buffer does not fit into 63 bits of bytes"},
    {TSR_U8, 1, LONGS(1), LONGS(1), INT64_MAX, TSR_OVERFLOW,
     "the extent of the buffer does not fit into 63 bits of bytes"},
    {TSR_U8, 0, NULL, LONGS(1), INT64_MAX, TSR_OVERFLOW, "the extent of the buffer does not fit into 63 bits of bytes"},
    {TSR_U16, 1, LONGS(2), LONGS(HALF - 1), 0, TSR_OVERFLOW,
     "the extent of the buffer does not fit into 63 bits of bytes"},
    {TSR_F64, 1, LONGS(1), LONGS(1), INT64_MAX / 8, TSR_OVERFLOW,
     "the extent of the buffer does not fit into 63 bits of bytes"},
    {TSR_U8, 2, LONGS(3, 4), LONGS(3, 1), 0, TSR_INVALID_ARGUMENT,
     "elements overlap: the stride of level 0 (axis 0) is 3, expected more than 3"},
    {TSR_U8, 2, LONGS(3, 4), LONGS(4, 0), 0, TSR_INVALID_ARGUMENT,
     "elements overlap: the stride of level 1 (axis 1) is 0, expected more than 0"},
    {TSR_U8, 3, LONGS(3, 4, 5), LONGS(1, 3, 14), 0, TSR_OK, ""},
    {TSR_U8, 3, LONGS(3, 4, 5), LONGS(1, 3, 11), 0, TSR_INVALID_ARGUMENT,
     "elements overlap: the stride of level 2 (axis 2) is 11, expected more than 11"},
    {TSR_U8, 2, LONGS(2, 2), LONGS(7, 7), 0, TSR_INVALID_ARGUMENT,
     "elements overlap: the stride of level 1 (axis 1) is 7, expected more than 7"},
};

static void test_simple(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(simple); i++) {
        tsr_desc desc;
        tsr_error error = {0};
        memset(&desc, 0x5a, sizeof desc);
        tsr_status status = simple[i].strides
                                ? tsr_desc_strided(&desc, simple[i].dtype, simple[i].rank, simple[i].dims,
                                                   simple[i].strides, simple[i].offset, &error)
                                : tsr_desc_plain(&desc, simple[i].dtype, simple[i].rank, simple[i].dims, &error);
        if (simple[i].status == TSR_OK)
            assert_int_equal(status, TSR_OK);
        else
            expect_failure(status, &desc, &error, simple[i].status, simple[i].message);
    }
}

/* --- what tsr_desc_blocked refuses besides --- */

static const struct {
    int rank;
    const int64_t *dims;
    tsr_blocking blocking;
    tsr_status status;
    const char *message;
} blocked[] = {
    {1, LONGS(4), {.levels = -1}, TSR_INVALID_ARGUMENT, "expected 0 to 64 block levels, found -1"},
    {1, LONGS(4), {.levels = 65}, TSR_INVALID_ARGUMENT, "expected 0 to 64 block levels, found 65"},
    {1, LONGS(4), {.levels = 0}, TSR_INVALID_ARGUMENT, "expected 1 to 64 block levels, found 0"},
    {2,
     LONGS(4, 3),
     {.levels = 1, .block_dims = LONGS(4), .order = INTS(0)},
     TSR_INVALID_ARGUMENT,
     "expected 2 to 64 block levels, found 1"},
    {1,
     LONGS(4),
     {.levels = 1, .block_dims = LONGS(4), .order = INTS(1)},
     TSR_INVALID_ARGUMENT,
     "order[0] is 1, expected an axis below the rank 1"},
    {1,
     LONGS(4),
     {.levels = 2, .block_dims = LONGS(2, 2), .order = INTS(0, -1)},
     TSR_INVALID_ARGUMENT,
     "order[1] is -1, expected an axis below the rank 1"},
    {0,
     NULL,
     {.levels = 1, .block_dims = LONGS(1), .order = INTS(0)},
     TSR_INVALID_ARGUMENT,
     "order[0] is 0, expected an axis below the rank 0"},
    {3,
     LONGS(2, 2, 2),
     {.levels = 3, .block_dims = LONGS(2, 2, 2), .order = INTS(0, 2, 2)},
     TSR_INVALID_ARGUMENT,
     "axis 1 has no block level"},
    {2,
     LONGS(4, 25),
     {.levels = 3, .block_dims = LONGS(4, 3, 8), .order = INTS(0, 1, 1)},
     TSR_INVALID_ARGUMENT,
     "the blocks of axis 1 cover 24 of 25"},
    {1,
     LONGS(4),
     {.levels = 1, .block_dims = LONGS(0), .order = INTS(0)},
     TSR_INVALID_ARGUMENT,
     "the blocks of axis 0 cover 0 of 4"},
    {1,
     LONGS(0),
     {.levels = 2, .block_dims = LONGS(2, 8), .order = INTS(0, 0)},
     TSR_INVALID_ARGUMENT,
     "the blocks of axis 0 hold 16, expected 0"},
    {1,
     LONGS(4),
     {.levels = 1, .block_dims = LONGS(-4), .order = INTS(0)},
     TSR_INVALID_ARGUMENT,
     "block_dims[0] is -4, expected 0 or more"},
    {1,
     LONGS(0),
     {.levels = 2, .block_dims = LONGS(4, 0), .order = INTS(0, 0)},
     TSR_INVALID_ARGUMENT,
     "block_dims[1] is 0, expected 1 or more"},
    {1,
     LONGS(4),
     {.levels = 1, .block_dims = LONGS(4), .order = INTS(0), .pad_before = LONGS(-1)},
     TSR_INVALID_ARGUMENT,
     "level 0 has padding -1, expected 0 or more"},
    {1,
     LONGS(4),
     {.levels = 2, .block_dims = LONGS(ROOT, ROOT), .order = INTS(0, 0), .strides = LONGS(1, 1)},
     TSR_OVERFLOW,
     "the block dims of axis 0 do not fit into 63 bits"},
    {1,
     LONGS(4),
     {.levels = 2, .block_dims = LONGS(ROOT, ROOT), .order = INTS(0, 0)},
     TSR_OVERFLOW,
     "the product of the block dims does not fit into 63 bits"},
    {2, /* every axis by itself fits */
     LONGS(4, 4),
     {.levels = 2, .block_dims = LONGS(ROOT, ROOT), .order = INTS(0, 1), .strides = LONGS(0, 0), .read_only = true},
     TSR_OVERFLOW,
     "the extent of the buffer does not fit into 63 bits of bytes"},
    {1,
     LONGS(4),
     {.levels = 1, .block_dims = LONGS(4), .order = INTS(0), .pad_before = LONGS(INT64_MAX)},
     TSR_OVERFLOW,
     "the extent of the buffer does not fit into 63 bits of bytes"},
    {1,
     LONGS(4),
     {.levels = 1, .block_dims = LONGS(4), .order = INTS(0), .strides = LONGS(ROOT), .pad_before = LONGS(ROOT)},
     TSR_OVERFLOW,
     "the extent of the buffer does not fit into 63 bits of bytes"},
    {1, /* padding overlaps, elements do not */
     LONGS(4),
     {.levels = 2, .block_dims = LONGS(2, 4), .order = INTS(0, 0), .strides = LONGS(3, 1)},
     TSR_INVALID_ARGUMENT,
     "elements overlap: the stride of level 0 (axis 0) is 3, expected more than 3"},
    {2,
     LONGS(4, 2),
     {.levels = 2, .block_dims = LONGS(4, 2), .order = INTS(0, 1), .strides = LONGS(0, 1)},
     TSR_INVALID_ARGUMENT,
     "elements overlap: the stride of level 0 (axis 0) is 0, expected more than 0"},
    {2, /* a broadcast does not excuse other overlaps */
     LONGS(4, 2),
     {.levels = 3, .block_dims = LONGS(4, 2, 2), .order = INTS(0, 1, 1), .strides = LONGS(0, 1, 1), .read_only = true},
     TSR_INVALID_ARGUMENT,
     "elements overlap: the stride of level 2 (axis 1) is 1, expected more than 1"},
};

static void test_blocked(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(blocked); i++) {
        tsr_desc desc;
        tsr_error error = {0};
        memset(&desc, 0x5a, sizeof desc);
        tsr_status status =
            tsr_desc_blocked(&desc, TSR_U8, blocked[i].rank, blocked[i].dims, &blocked[i].blocking, &error);
        expect_failure(status, &desc, &error, blocked[i].status, blocked[i].message);
        status = tsr_desc_blocked(&desc, TSR_U8, blocked[i].rank, blocked[i].dims, &blocked[i].blocking, NULL);
        assert_int_equal(status, blocked[i].status);
    }
}

/* --- tsr_desc_check on fields that somebody wrote --- */

static tsr_desc make_plain(void)
{
    tsr_desc desc;
    assert_int_equal(tsr_desc_plain(&desc, TSR_F32, 2, LONGS(3, 4), NULL), TSR_OK);
    return desc;
}

static void check_says(const tsr_desc *desc, tsr_status status, const char *message)
{
    tsr_error error = {0};
    assert_int_equal(tsr_desc_check(desc, false, &error), status);
    assert_string_equal(error.message, message);
}

static void test_written_fields(void **state)
{
    (void)state;
    tsr_desc desc = {0};
    check_says(&desc, TSR_INVALID_ARGUMENT, "expected a type, found number 0");
    desc = make_plain();
    check_says(&desc, TSR_OK, "");
    desc.levels = -1;
    check_says(&desc, TSR_INVALID_ARGUMENT, "expected 2 to 64 block levels, found -1");
    desc.levels = 65;
    check_says(&desc, TSR_INVALID_ARGUMENT, "expected 2 to 64 block levels, found 65");
    desc = make_plain();
    desc.order[1] = 255;
    check_says(&desc, TSR_INVALID_ARGUMENT, "order[1] is 255, expected an axis below the rank 2");
    desc = make_plain();
    desc.dims[0] = 4;
    check_says(&desc, TSR_INVALID_ARGUMENT, "the blocks of axis 0 cover 3 of 4");
    desc = make_plain();
    desc.dims[1] = 3; /* a block that is not full */
    check_says(&desc, TSR_OK, "");
    desc = make_plain();
    desc.block_dims[0] = INT64_MIN;
    check_says(&desc, TSR_INVALID_ARGUMENT, "block_dims[0] is -9223372036854775808, expected 0 or more");
    desc = make_plain();
    desc.step[0] = -1;
    check_says(&desc, TSR_INVALID_ARGUMENT, "axis 0 has first 0 and step -1, expected a step of 1 or more, or both 0");
    desc = make_plain();
    desc.first[1] = -2;
    desc.step[1] = 1;
    check_says(&desc, TSR_INVALID_ARGUMENT, "axis 1 has first -2 and step 1, expected a step of 1 or more, or both 0");
    desc = make_plain();
    desc.first[1] = 2;
    check_says(&desc, TSR_INVALID_ARGUMENT, "axis 1 has first 2 and step 0, expected a step of 1 or more, or both 0");
    desc = make_plain();
    desc.rank = 1;
    check_says(&desc, TSR_INVALID_ARGUMENT, "order[1] is 1, expected an axis below the rank 1");
}

static void test_broadcast(void **state)
{
    (void)state;
    tsr_desc desc = make_plain();
    desc.strides[0] = 0;
    check_says(&desc, TSR_INVALID_ARGUMENT,
               "elements overlap: the stride of level 0 (axis 0) is 0, expected more than 0");
    assert_int_equal(tsr_desc_check(&desc, true, NULL), TSR_OK);
    desc.strides[1] = 0;
    assert_int_equal(tsr_desc_check(&desc, true, NULL), TSR_OK);
    assert_int_equal(tsr_desc_size_bytes(&desc), 4);
}

/* A stride that nothing steps over may be anything. */
static void test_idle_strides(void **state)
{
    (void)state;
    tsr_desc desc;
    assert_int_equal(tsr_desc_strided(&desc, TSR_F32, 3, LONGS(1, 4, 1), LONGS(0, 1, 2), 0, NULL), TSR_OK);
    assert_int_equal(tsr_desc_strided(&desc, TSR_F32, 2, LONGS(0, 4), LONGS(0, 0), 0, NULL), TSR_OK);
    assert_int_equal(tsr_desc_strided(&desc, TSR_F32, 2, LONGS(4, 4), LONGS(1, 4), 0, NULL), TSR_OK);
}

/* --- which cells share a place --- */

static void test_interleaved_levels(void **state)
{
    (void)state;
    tsr_desc desc;
    tsr_error error = {0};
    assert_int_equal(tsr_desc_strided(&desc, TSR_F32, 2, LONGS(2, 3), LONGS(3, 2), 0, NULL), TSR_OK);
    assert_int_equal(tsr_desc_strided(&desc, TSR_F32, 2, LONGS(3, 4), LONGS(3, 2), 0, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "elements overlap: the stride of level 0 (axis 0) is 3, expected more than 6");
}

static int64_t place_of(const tsr_desc *desc, int64_t cell)
{
    int64_t place = desc->offset;
    for (int i = desc->levels - 1; i >= 0; i--) {
        place += cell % desc->block_dims[i] * desc->strides[i];
        cell /= desc->block_dims[i];
    }
    return place;
}

/* By trying all cells; levels that repeat elements count once. */
static bool cells_share(tsr_desc desc)
{
    bool taken[4096] = {false};
    int64_t cells = 1;
    for (int i = 0; i < desc.levels; i++) {
        if (desc.strides[i] == 0)
            desc.block_dims[i] = 1;
        cells *= desc.block_dims[i];
    }
    for (int64_t cell = 0; cell < cells; cell++) {
        int64_t place = place_of(&desc, cell);
        assert_in_range(place, 0, COUNT(taken) - 1);
        if (taken[place])
            return true;
        taken[place] = true;
    }
    return false;
}

/* One axis in a few levels, with the strides that a random number of them would have, and others. */
static tsr_desc draw_levels(tsr_random *random)
{
    tsr_desc desc = {.dtype = TSR_U8, .rank = 1, .dims = {1}, .offset = 2000};
    int64_t most = tsr_random_range(random, 2, 40);
    desc.levels = (int)tsr_random_range(random, 1, 5);
    for (int i = 0; i < desc.levels; i++) {
        desc.block_dims[i] = tsr_random_range(random, 1, 5);
        desc.strides[i] = tsr_random_range(random, tsr_random_chance(random, 3) ? -most : 1, most);
    }
    return desc;
}

static void test_overlap_rule_is_exact(void **state)
{
    (void)state;
    tsr_random random;
    int apart = 0, shared = 0;
    tsr_random_seed_from_environment(&random);
    for (int n = tsr_random_cases(20000); n > 0; n--) {
        tsr_desc desc = draw_levels(&random);
        bool writable = true, share = cells_share(desc);
        for (int i = 0; i < desc.levels; i++)
            writable = writable && (desc.block_dims[i] == 1 || desc.strides[i] > 0);
        assert_int_equal(tsr_desc_check(&desc, true, NULL) == TSR_OK, !share);
        assert_int_equal(tsr_desc_check(&desc, false, NULL) == TSR_OK, writable && !share);
        apart += !share;
        shared += share;
    }
    assert_true(apart > 1000 && shared > 1000);
}

/* Every sum and product of the extent of the buffer is checked, whichever comes first. */
static void test_sums_that_do_not_fit(void **state)
{
    static const char message[] = "the extent of the buffer does not fit into 63 bits of bytes";
    tsr_desc cells = make_plain(), low = make_plain(), high = make_plain();
    (void)state;
    for (int i = 0; i < 2; i++) { /* room for more cells than can be counted */
        cells.block_dims[i] = INT64_C(1) << 40;
        cells.strides[i] = 0;
    }
    tsr_error error = {0};
    assert_int_equal(tsr_desc_check(&cells, true, &error), TSR_OVERFLOW);
    assert_string_equal(error.message, message);
    low.pad_before[0] = INT64_C(1) << 40;
    low.strides[0] = INT64_C(1) << 40;
    check_says(&low, TSR_OVERFLOW, message);
    /* below the sum fits, thanks to a level that runs backwards */
    high.offset = INT64_C(1) << 62;
    high.block_dims[0] = high.dims[0] = 2;
    high.strides[0] = -(INT64_C(1) << 62);
    high.pad_before[1] = 1;
    high.strides[1] = (INT64_C(1) << 62) + 1;
    check_says(&high, TSR_OVERFLOW, message);
}

/* Levels that would take too long to search are refused: strides of which no two sums are equal, and all are near. */
static void test_search_is_bounded(void **state)
{
    (void)state;
    tsr_desc desc = {.dtype = TSR_U8, .rank = 1, .levels = 24, .dims = {1}};
    for (int64_t i = 0, power = 1; i < desc.levels; i++, power *= 3) {
        desc.block_dims[i] = 2;
        desc.strides[i] = (INT64_C(1) << 50) + power;
    }
    clock_t start = clock();
    assert_int_equal(tsr_desc_check(&desc, false, NULL), TSR_INVALID_ARGUMENT);
    assert_true(clock() - start < CLOCKS_PER_SEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simple),
        cmocka_unit_test(test_blocked),
        cmocka_unit_test(test_written_fields),
        cmocka_unit_test(test_broadcast),
        cmocka_unit_test(test_idle_strides),
        cmocka_unit_test(test_interleaved_levels),
        cmocka_unit_test(test_overlap_rule_is_exact),
        cmocka_unit_test(test_sums_that_do_not_fit),
        cmocka_unit_test(test_search_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
