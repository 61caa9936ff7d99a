/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/arithmetic.h>
#include <tessera/text.h>
#include <tessera/view.h>

#include "default_executor.h"
#include "parsed.h"
#include "place.h"
#include "random.h"

static tsr_blob *blob_of(const char *text)
{
    const tsr_desc desc = parsed_desc(text);
    return blob_at_home(&desc);
}

static void put(void *data, tsr_dtype dtype, int64_t at, double value)
{
    if (dtype == TSR_F32)
        ((float *)data)[at] = (float)value;
    else if (dtype == TSR_F64)
        ((double *)data)[at] = value;
    else
        ((int32_t *)data)[at] = (int32_t)value;
}

static double get(const void *data, tsr_dtype dtype, int64_t at)
{
    return dtype == TSR_F32   ? (double)((const float *)data)[at]
           : dtype == TSR_F64 ? ((const double *)data)[at]
                              : (double)((const int32_t *)data)[at];
}

/* Element i becomes first + i * step; padding becomes anything but zero. */
static void write_ramp(tsr_blob *blob, double first, double step)
{
    tsr_access access;
    tsr_desc desc;
    int64_t at;
    assert_int_equal(tsr_blob_acquire(blob, NULL, NULL, TSR_READ_WRITE, &access, NULL), TSR_OK);
    tsr_access_get_desc(&access, &desc);
    if (!tsr_blob_get_parent(blob))
        for (int64_t i = 0; i < tsr_desc_size_bytes(&desc) / (int64_t)tsr_dtype_size_bytes(desc.dtype); i++)
            put(access.data, desc.dtype, i, 77);
    for (int64_t i = 0; i < tsr_desc_elements(&desc); i++) {
        assert_int_equal(tsr_desc_offset_linear(&desc, i, &at, NULL), TSR_OK);
        put(access.data, desc.dtype, at, first + (double)i * step);
    }
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
}

static void expect_ramp(tsr_blob *blob, double first, double step)
{
    tsr_access access;
    tsr_desc desc;
    int64_t at;
    assert_int_equal(tsr_blob_acquire(blob, NULL, NULL, TSR_READ, &access, NULL), TSR_OK);
    tsr_access_get_desc(&access, &desc);
    for (int64_t i = 0; i < tsr_desc_elements(&desc); i++) {
        assert_int_equal(tsr_desc_offset_linear(&desc, i, &at, NULL), TSR_OK);
        const double found = get(access.data, desc.dtype, at), expected = first + (double)i * step;
        if (found != expected)
            fail_msg("element %lld: expected %g, found %g", (long long)i, expected, found);
    }
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
}

static const char *const layouts[] = {
    "f32:nchw 2x20x3x5",   "f32:nChw16c 2x20x3x5", "f64:nhwc 2x20x3x5",
    "f64:nChw8c 2x20x3x5", "f32:a 100000",         "f32:nchw 2x0x3x5",
};

enum { LAYOUTS = 6 };

/* All elements count, and padding does not, whatever the layout. */
static void test_sums(void **state)
{
    (void)state;
    for (int i = 0; i < LAYOUTS; i++) {
        tsr_blob *blob = blob_of(layouts[i]);
        tsr_desc desc = parsed_desc(layouts[i]);
        const double n = (double)tsr_desc_elements(&desc);
        double sum = -1;
        assert_int_equal(tsr_blob_sum_of_absolutes(blob, &sum, NULL), TSR_OK);
        assert_true(sum == 0); /* nobody has written it */
        write_ramp(blob, 0, -0.5);
        assert_int_equal(tsr_blob_sum_of_absolutes(blob, &sum, NULL), TSR_OK);
        assert_true(sum == n * (n - 1) / 2 * 0.5); /* all terms are multiples of a half */
        assert_int_equal(tsr_blob_sum_of_squares(blob, &sum, NULL), TSR_OK);
        const double squares = (n - 1) * n * (2 * n - 1) / 6 * 0.25;
        assert_true(fabs(sum - squares) <= 1e-13 * squares);
        tsr_blob_free(&blob);
    }
}

static void test_in_place(void **state)
{
    static const char *const texts[] = {"f32:nchw 2x20x3x5", "f32:nChw16c 2x20x3x5", "f64:nChw8c 2x20x3x5"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        tsr_blob *blob = blob_of(texts[i]);
        const float one = 1.5F;
        const double two = 1.5;
        double sum;
        write_ramp(blob, 1, 2);
        assert_int_equal(tsr_blob_scale(blob, -0.25, NULL), TSR_OK);
        expect_ramp(blob, -0.25, -0.5);
        assert_int_equal(tsr_blob_fill(blob, i < 2 ? (const void *)&one : &two, NULL), TSR_OK);
        expect_ramp(blob, 1.5, 0);
        assert_int_equal(tsr_blob_sum_of_absolutes(blob, &sum, NULL), TSR_OK);
        assert_true(sum == 1.5 * 600); /* what was filled in behind them is gone */
        assert_int_equal(tsr_blob_clear(blob, NULL), TSR_OK);
        expect_ramp(blob, 0, 0);
        tsr_blob_free(&blob);
    }
}

/* The layouts of both sides may differ. */
static void test_two_blobs(void **state)
{
    static const char *const texts[] = {"f32:nchw 2x20x3x5", "f32:nhwc 2x20x3x5", "f32:nChw8c 2x20x3x5"};
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            tsr_blob *a = blob_of(texts[i]), *b = blob_of(texts[j]);
            write_ramp(a, 10, 3);
            write_ramp(b, 1, 2);
            assert_int_equal(tsr_blob_add(a, b, NULL), TSR_OK);
            expect_ramp(a, 11, 5);
            expect_ramp(b, 1, 2);
            assert_int_equal(tsr_blob_subtract(a, b, NULL), TSR_OK);
            assert_int_equal(tsr_blob_subtract(a, b, NULL), TSR_OK);
            expect_ramp(a, 9, 1);
            tsr_blob_free(&a);
            tsr_blob_free(&b);
        }
}

static void test_integers(void **state)
{
    (void)state;
    tsr_blob *a = blob_of("s32:ab 3x4"), *b = blob_of("s32:ba 3x4");
    const int32_t large = INT32_MAX, one = 1;
    assert_int_equal(tsr_blob_fill(a, &large, NULL), TSR_OK);
    assert_int_equal(tsr_blob_fill(b, &one, NULL), TSR_OK);
    assert_int_equal(tsr_blob_add(a, b, NULL), TSR_OK);
    expect_ramp(a, INT32_MIN, 0);
    assert_int_equal(tsr_blob_subtract(a, b, NULL), TSR_OK);
    expect_ramp(a, INT32_MAX, 0);
    tsr_blob_free(&a);
    tsr_blob_free(&b);
}

static uint64_t bits_of(const void *data, tsr_dtype dtype, int64_t at)
{
    return dtype == TSR_F32 ? ((const uint32_t *)data)[at] : ((const uint64_t *)data)[at];
}

/* Any bits: often zeros, infinities, NaN and denormals of either sign, and numbers near 1, whose sums are rounded. */
static void put_random(tsr_random *random, void *data, tsr_dtype dtype, int64_t at)
{
    const double special[] = {0, INFINITY, (double)NAN, dtype == TSR_F32 ? 1e-40 : 1e-310, 1};
    const double sign = tsr_random_chance(random, 2) ? 1 : -1;
    const uint64_t next = tsr_random_next(random);
    if (tsr_random_chance(random, 3))
        put(data, dtype, at, sign * special[tsr_random_range(random, 0, 4)]);
    else if (tsr_random_chance(random, 2))
        put(data, dtype, at, sign * (1 + (double)(next >> 11) * 0x1p-53));
    else if (dtype == TSR_F32)
        memcpy((float *)data + at, &next, sizeof(float));
    else
        memcpy((double *)data + at, &next, sizeof next);
}

static void write_random(tsr_random *random, tsr_blob *blob, void *copy, tsr_dtype dtype, int64_t count)
{
    tsr_access access;
    for (int64_t i = 0; i < count; i++)
        put_random(random, copy, dtype, i);
    assert_int_equal(tsr_blob_acquire(blob, NULL, NULL, TSR_WRITE, &access, NULL), TSR_OK);
    memcpy(access.data, copy, (size_t)count * tsr_dtype_size_bytes(dtype));
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
}

/*
 * Whoever does it: bit for bit, but for which NaN it is. f64 has more than twice the digits of f32, so that a sum of
 * these may be rounded twice.
 */
static void expect_sums(tsr_blob *blob, const void *a, const void *b, tsr_dtype dtype, int64_t count, int sign)
{
    tsr_access access;
    uint64_t sum = 0; /* of either size */
    assert_int_equal(tsr_blob_acquire(blob, NULL, NULL, TSR_READ, &access, NULL), TSR_OK);
    for (int64_t i = 0; i < count; i++) {
        const double x = get(a, dtype, i), y = get(b, dtype, i);
        put(&sum, dtype, 0, sign > 0 ? x + y : x - y);
        const double found = get(access.data, dtype, i);
        if (bits_of(access.data, dtype, i) != bits_of(&sum, dtype, 0) && !(isnan(found) && isnan(get(&sum, dtype, 0))))
            fail_msg("element %lld, %a and %a: expected %a, found %a", (long long)i, x, y, get(&sum, dtype, 0), found);
    }
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
}

static void test_every_bit(void **state)
{
    enum { COUNT = 100003 }; /* for several threads, and several pieces of each */
    static const char *const texts[] = {"f32:a 100003", "f64:a 100003"};
    (void)state;
    tsr_random random;
    tsr_random_seed_from_environment(&random);
    for (int i = 0; i < 2; i++) {
        const tsr_dtype dtype = i == 0 ? TSR_F32 : TSR_F64;
        tsr_blob *a = blob_of(texts[i]), *b = blob_of(texts[i]);
        void *left = malloc(COUNT * sizeof(double)), *right = malloc(COUNT * sizeof(double));
        write_random(&random, b, right, dtype, COUNT);
        write_random(&random, a, left, dtype, COUNT);
        assert_int_equal(tsr_blob_add(a, b, NULL), TSR_OK);
        expect_sums(a, left, right, dtype, COUNT, 1);
        write_random(&random, a, left, dtype, COUNT);
        assert_int_equal(tsr_blob_subtract(a, b, NULL), TSR_OK);
        expect_sums(a, left, right, dtype, COUNT, -1);
        free(left);
        free(right);
        tsr_blob_free(&a);
        tsr_blob_free(&b);
    }
}

static double draw_digits(tsr_random *random)
{
    return 1 + (double)(tsr_random_next(random) >> 11) * 0x1p-53;
}

/* Of any size whose square is finite and not denormal, so that nothing but rounding counts. */
static double draw_wide(tsr_random *random, tsr_dtype dtype)
{
    const int most = dtype == TSR_F32 ? 120 : 500;
    const double sign = tsr_random_chance(random, 2) ? 1 : -1;
    return sign * ldexp(draw_digits(random), (int)tsr_random_range(random, -most, most));
}

/* Of wide range; or near 1, so that all terms count; or all the same, so that they are all rounded alike. */
static void fill_terms(tsr_random *random, void *data, tsr_dtype dtype, int64_t count)
{
    const int64_t kind = tsr_random_range(random, 0, 2);
    const double same = draw_digits(random);
    for (int64_t i = 0; i < count; i++)
        put(data, dtype, i, kind == 0 ? draw_wide(random, dtype) : kind == 1 ? draw_digits(random) : same);
}

/* In more digits, and in pieces, so that its own error is far below the bound. */
static long double sum_exactly(const void *data, tsr_dtype dtype, int64_t count, bool is_of_squares)
{
    long double sum = 0;
    for (int64_t begin = 0; begin < count; begin += 1000) {
        long double piece = 0;
        for (int64_t i = begin; i < begin + 1000 && i < count; i++) {
            const long double x = get(data, dtype, i);
            piece += is_of_squares ? x * x : fabsl(x);
        }
        sum += piece;
    }
    return sum;
}

static void expect_within(double found, long double exact, int64_t count)
{
    const long double bound = (512 + 8 + (long double)count / 4096) * 0x1p-53L;
    if (fabsl((long double)found - exact) > bound * exact)
        fail_msg("expected %La, found %a, beyond the bound of %Lg", exact, found, bound);
}

/* The last piece first. */
static void run_in_reverse(void *context, tsr_task task, void *argument, int tasks)
{
    int *runs = context;
    for (int i = tasks - 1; i >= 0; i--)
        task(argument, i);
    ++*runs;
}

/* The error bound that the header states, and the same bits from 1 to 5 threads. */
static void check_sums(tsr_random *random, tsr_dtype dtype, int64_t count)
{
    tsr_desc desc;
    tsr_blob *blob = NULL;
    void *data = malloc((size_t)count * tsr_dtype_size_bytes(dtype));
    static tsr_executor executor;
    double first[2] = {0}, sums[2];
    int runs = 0;
    assert_non_null(data);
    fill_terms(random, data, dtype, count);
    const long double absolutes = sum_exactly(data, dtype, count, false),
                      squares = sum_exactly(data, dtype, count, true);
    assert_int_equal(tsr_desc_plain(&desc, dtype, 1, &count, NULL), TSR_OK);
    assert_int_equal(tsr_blob_wrap(&blob, &desc, data, (size_t)count * tsr_dtype_size_bytes(dtype), NULL, NULL, NULL),
                     TSR_OK);
    for (int threads = 1; threads <= 5; threads++) {
        executor = (tsr_executor){run_in_reverse, &runs, threads};
        default_executor = &executor;
        assert_int_equal(tsr_blob_sum_of_absolutes(blob, &sums[0], NULL), TSR_OK);
        assert_int_equal(tsr_blob_sum_of_squares(blob, &sums[1], NULL), TSR_OK);
        expect_within(sums[0], absolutes, count);
        expect_within(sums[1], squares, count);
        if (threads == 1)
            memcpy(first, sums, sizeof first);
        assert_memory_equal(sums, first, sizeof first);
    }
    default_executor = NULL;
    assert_int_equal(runs, count >= 100003 ? 2 * 4 : 0); /* less is not worth two threads */
    tsr_blob_free(&blob);
    free(data);
}

static void test_accuracy(void **state)
{
    static const int64_t counts[] = {1, 7, 8, 9, 4095, 4096, 4097, 32768, 32769, 100003, 500000};
    enum { COUNTS = sizeof counts / sizeof *counts };
    (void)state;
    tsr_random random;
    tsr_random_seed_from_environment(&random);
    for (int i = 0; i < tsr_random_cases(50); i++)
        check_sums(&random, i % 2 ? TSR_F32 : TSR_F64, counts[i / 2 % COUNTS]);
}

/* What lies beside a view is left alone, and does not count. */
static void test_views(void **state)
{
    static const int64_t begins[][2] = {{1, 0}, {1, 2}}, sizes[][2] = {{2, 6}, {2, 3}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        tsr_blob *matrix = blob_of("f32:ab 4x6"), *part = NULL, *other = blob_of(i == 0 ? "f32:ab 2x6" : "f32:ab 2x3");
        tsr_desc desc = parsed_desc("f32:ab 4x6"), view;
        const float three = 3;
        double sum, all;
        assert_int_equal(tsr_view_crop(&view, &desc, begins[i], sizes[i], NULL, NULL), TSR_OK);
        assert_int_equal(tsr_blob_create_view(&part, matrix, &view, NULL), TSR_OK);
        write_ramp(matrix, 1, 0);
        assert_int_equal(tsr_blob_fill(part, &three, NULL), TSR_OK);
        const double n = (double)tsr_desc_elements(&view);
        assert_int_equal(tsr_blob_sum_of_absolutes(part, &sum, NULL), TSR_OK);
        assert_int_equal(tsr_blob_sum_of_absolutes(matrix, &all, NULL), TSR_OK);
        assert_true(sum == 3 * n && all == 24 + 2 * n);
        write_ramp(other, 0, 1);
        assert_int_equal(tsr_blob_add(part, other, NULL), TSR_OK);
        expect_ramp(part, 3, 1);
        assert_int_equal(tsr_blob_get_stats(other).conversions, 0);
        assert_int_equal(tsr_blob_add(other, part, NULL), TSR_OK);
        expect_ramp(other, 3, 2);
        assert_int_equal(tsr_blob_clear(part, NULL), TSR_OK);
        assert_int_equal(tsr_blob_sum_of_absolutes(matrix, &all, NULL), TSR_OK);
        assert_true(all == 24 - n);
        tsr_blob_free(&part);
        tsr_blob_free(&matrix);
        tsr_blob_free(&other);
    }
}

/* What is added is as it was before, also where it lies in the same memory. */
static void test_shared_memory(void **state)
{
    (void)state;
    tsr_blob *sequence = blob_of("f32:ab 4x6"), *windows[2];
    const tsr_desc desc = parsed_desc("f32:ab 4x6");
    for (int i = 0; i < 2; i++) {
        tsr_desc view;
        assert_int_equal(tsr_view_crop(&view, &desc, (int64_t[]){i, 0}, (int64_t[]){3, 6}, NULL, NULL), TSR_OK);
        assert_int_equal(tsr_blob_create_view(&windows[i], sequence, &view, NULL), TSR_OK);
    }
    write_ramp(sequence, 1, 2);
    assert_int_equal(tsr_blob_add(windows[1], windows[0], NULL), TSR_OK);
    expect_ramp(windows[1], 2 + 2 * 6, 4);
    assert_int_equal(tsr_blob_subtract(windows[0], windows[0], NULL), TSR_OK);
    expect_ramp(windows[0], 0, 0);
    write_ramp(sequence, 1, 2);
    assert_int_equal(tsr_blob_add(sequence, sequence, NULL), TSR_OK);
    expect_ramp(sequence, 2, 4);
    tsr_blob_free(&windows[0]);
    tsr_blob_free(&windows[1]);
    tsr_blob_free(&sequence);
}

static void test_packed(void **state)
{
    (void)state;
    tsr_blob *blob = blob_of("s4:ab 5x3");
    tsr_access access;
    assert_int_equal(tsr_blob_acquire(blob, NULL, NULL, TSR_WRITE, &access, NULL), TSR_OK);
    memset(access.data, 0x77, 8);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    assert_int_equal(tsr_blob_clear(blob, NULL), TSR_OK);
    assert_int_equal(tsr_blob_acquire(blob, NULL, NULL, TSR_READ, &access, NULL), TSR_OK);
    for (int i = 0; i < 7; i++)
        assert_int_equal(((const unsigned char *)access.data)[i], 0);
    assert_int_equal(((const unsigned char *)access.data)[7] & 0xf, 0);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    tsr_blob_free(&blob);
}

static void test_refusals(void **state)
{
    (void)state;
    tsr_error error = {0};
    double sum = 5;
    const float one = 1;
    tsr_blob *bytes = blob_of("u8:ab 3x4"), *integers = blob_of("s32:ab 3x4"), *floats = blob_of("f32:ab 3x4"),
             *other = blob_of("f32:ab 4x3");
    assert_int_equal(tsr_blob_fill(bytes, &one, &error), TSR_UNSUPPORTED);
    assert_string_equal(error.message, "expected elements of type f32, f64 or s32, found u8");
    assert_int_equal(tsr_blob_scale(integers, 2, &error), TSR_UNSUPPORTED);
    assert_string_equal(error.message, "expected elements of type f32 or f64, found s32");
    assert_int_equal(tsr_blob_sum_of_squares(integers, &sum, &error), TSR_UNSUPPORTED);
    assert_true(sum == 5);
    assert_int_equal(tsr_blob_add(floats, other, &error), TSR_INVALID_ARGUMENT);
    assert_int_equal(tsr_blob_add(floats, integers, &error), TSR_INVALID_ARGUMENT);
    assert_int_equal(tsr_blob_add(bytes, bytes, &error), TSR_UNSUPPORTED);
    assert_int_equal(tsr_blob_clear(bytes, NULL), TSR_OK);
    tsr_blob_free(&bytes);
    tsr_blob_free(&integers);
    tsr_blob_free(&floats);
    tsr_blob_free(&other);
}

/* Who finds others at work is refused, changes nothing and holds nothing afterwards. */
static void test_busy(void **state)
{
    (void)state;
    tsr_blob *a = blob_of("f32:nChw8c 1x12x2x2"), *b = blob_of("f32:nchw 1x12x2x2");
    const float one = 1;
    double sum = -1;
    tsr_access access;
    write_ramp(a, 0, 1);
    write_ramp(b, 5, 2);
    assert_int_equal(tsr_blob_acquire(a, NULL, NULL, TSR_READ, &access, NULL), TSR_OK);
    assert_int_equal(tsr_blob_fill(a, &one, NULL), TSR_BUSY);
    assert_int_equal(tsr_blob_clear(a, NULL), TSR_BUSY);
    assert_int_equal(tsr_blob_scale(a, 2, NULL), TSR_BUSY);
    assert_int_equal(tsr_blob_add(a, b, NULL), TSR_BUSY);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    expect_ramp(a, 0, 1);
    assert_int_equal(tsr_blob_acquire(b, NULL, NULL, TSR_READ_WRITE, &access, NULL), TSR_OK);
    assert_int_equal(tsr_blob_subtract(a, b, NULL), TSR_BUSY);
    assert_int_equal(tsr_blob_sum_of_squares(b, &sum, NULL), TSR_BUSY);
    assert_true(sum == -1);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    expect_ramp(b, 5, 2);
    assert_int_equal(tsr_blob_add(a, b, NULL), TSR_OK);
    expect_ramp(a, 5, 3);
    write_ramp(b, 0, 1);
    tsr_blob_free(&a);
    tsr_blob_free(&b);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_two_blobs),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_shared_memory),
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_every_bit),
        cmocka_unit_test(test_busy),
        cmocka_unit_test(test_accuracy),
        at_place(test_sums),
        at_place(test_in_place),
        at_place(test_two_blobs),
        at_place(test_integers),
        at_place(test_views),
        at_place(test_packed),
        at_place(test_refusals),
        at_place(test_every_bit),
        at_place(test_busy),
    };
    return choose_place(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
