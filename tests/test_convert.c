/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of rows on every rung against the rule for one element. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "random.h"
#include "reorder/convert.h"
#include "reorder/scalar.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const tsr_dtype types[] = {TSR_F32, TSR_F16, TSR_BF16, TSR_S8, TSR_U8, TSR_S32};

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* ---- sources ---- */

/* Elements of one type, as bits of 32. */
struct source {
    tsr_dtype type;
    size_t count, room;
    uint32_t *bits;
};

static void add(struct source *source, uint32_t bits)
{
    if (source->count == source->room) {
        source->room = 2 * source->room + 1024;
        source->bits = realloc(source->bits, source->room * sizeof *source->bits);
        assert_non_null(source->bits);
    }
    source->bits[source->count++] = bits;
}

static void add_all(struct source *source, uint32_t end)
{
    for (uint32_t i = 0; i < end; i++)
        add(source, i);
}

static void add_random(struct source *source, tsr_random *random, int n)
{
    for (int i = 0; i < n; i++)
        add(source, (uint32_t)tsr_random_next(random));
}

/* A float, its neighbours, and the same below zero. */
static void add_floats_near(struct source *source, float x)
{
    for (uint32_t around = 0; around < 3; around++) {
        uint32_t bits = bits_of(x) + around - (x != 0);
        add(source, bits);
        add(source, bits ^ 0x80000000U);
    }
}

/* Each exponent with the significands at which something is a tie, or nearly; halves; limits of integers. */
static void add_awkward_floats(struct source *source)
{
    static const float limits[] = {65504,    65519.5f,   65520,         16777215,
                                   16777216, 2147483520, 2147483648.0f, 4294967296.0f};
    for (uint32_t exponent = 0; exponent < 256; exponent++)
        for (int bit = 0; bit < 23; bit++)
            for (uint32_t near = 0; near < 3; near++) {
                uint32_t top = exponent << 23, half = 1U << bit;
                const uint32_t significands[] = {half, 3 * half, 0x7fffffU & ~(half - 1), 0x7fffffU & ~(3 * half - 1),
                                                 0x400000U | half};
                for (size_t i = 0; i < COUNT(significands); i++) {
                    uint32_t magnitude = (top | (significands[i] & 0x7fffffU)) + near - 1;
                    add(source, magnitude);
                    add(source, magnitude ^ 0x80000000U);
                }
            }
    for (int twice = 0; twice <= 1100; twice++)
        add_floats_near(source, (float)twice / 2);
    for (size_t i = 0; i < COUNT(limits); i++)
        add_floats_near(source, limits[i]);
}

/* Two bits, or three, and one more or less: all that is a tie in a significand of some width, or nearly. */
static void add_awkward_integers(struct source *source)
{
    for (int high = 0; high < 32; high++)
        for (int low = 0; low <= high; low++)
            for (uint32_t near = 0; near < 5; near++) {
                uint32_t two = (1U << high) + (1U << low) + near - 2, three = two + (2U << low);
                add(source, two);
                add(source, 0U - two);
                add(source, three);
                add(source, 0U - three);
            }
    for (uint32_t i = 0; i <= 1200; i++)
        add(source, i - 600);
}

static void fill_source(struct source *source, tsr_random *random)
{
    enum { RANDOM = 1000000 };
    switch (source->type) {
    case TSR_F32:
        add_awkward_floats(source);
        add_random(source, random, tsr_random_cases(RANDOM));
        break;
    case TSR_S32:
        add_awkward_integers(source);
        add_random(source, random, tsr_random_cases(RANDOM));
        break;
    default:
        add_all(source, 1U << 8 * tsr_dtype_size_bytes(source->type));
        break;
    }
}

/* ---- rows against single elements ---- */

/* Element i of a row takes entry factor + i * step. NULL tables: no arithmetic. */
struct factors {
    const float *mean, *scale;
    int64_t factor, step;
};

/* Room for the longest row on both sides, one byte off every alignment. */
struct rows {
    unsigned char *src, *expected, *found;
};

static struct rows rows_of(const struct source *source)
{
    size_t room = source->count * sizeof(uint32_t) + 1, size = tsr_dtype_size_bytes(source->type);
    struct rows rows = {malloc(room), malloc(room), malloc(room)};
    assert_true(rows.src && rows.expected && rows.found);
    for (size_t i = 0; i < source->count; i++)
        memcpy(rows.src + 1 + i * size, &source->bits[i], size);
    return rows;
}

static void free_rows(struct rows *rows)
{
    free(rows->src);
    free(rows->expected);
    free(rows->found);
}

/* The kernels of each rung that is here, each set once. */
static int kernel_sets(tsr_kernels sets[static 8])
{
    static const unsigned rungs[] = {0, TSR_CPU_AVX2, TSR_CPU_AVX2 | TSR_CPU_AVX512, TSR_CPU_NEON, TSR_CPU_ALL};
    int count = 0;
    for (size_t i = 0; i < COUNT(rungs); i++) {
        tsr_kernels_init(&sets[count], rungs[i] & tsr_cpu_detected());
        if (count == 0 || memcmp(&sets[count], &sets[count - 1], sizeof *sets) != 0)
            count++;
    }
    return count;
}

static bool is_nan(tsr_dtype type, const unsigned char *element)
{
    uint32_t bits = 0;
    memcpy(&bits, element, tsr_dtype_size_bytes(type));
    return (type == TSR_F32 && (bits & 0x7fffffffU) > 0x7f800000U) || (type == TSR_F16 && (bits & 0x7fffU) > 0x7c00U) ||
           (type == TSR_BF16 && (bits & 0x7fffU) > 0x7f80U);
}

/* Equal bits; arithmetic may choose its NaN. */
static void compare(const struct source *source, tsr_dtype dst_type, const struct factors *factors, size_t n,
                    const struct rows *rows, int set)
{
    size_t size = tsr_dtype_size_bytes(dst_type);
    for (size_t i = 0; i < n; i++) {
        const unsigned char *expected = rows->expected + i * size, *found = rows->found + 1 + i * size;
        if (memcmp(expected, found, size) == 0 ||
            (factors->scale && is_nan(dst_type, expected) && is_nan(dst_type, found)))
            continue;
        uint32_t want = 0, have = 0;
        memcpy(&want, expected, size);
        memcpy(&have, found, size);
        fail_msg("%s %08x to %s%s, kernel set %d, element %zu: expected %08x, found %08x", tsr_dtype_name(source->type),
                 source->bits[i], tsr_dtype_name(dst_type), factors->scale ? " with factors" : "", set, i, want, have);
    }
}

/* The first n elements of a source. */
static void check_rows(const struct source *source, tsr_dtype dst_type, const struct factors *factors, size_t n,
                       const struct rows *rows)
{
    tsr_kernels sets[8];
    int count = kernel_sets(sets);
    size_t in = tsr_dtype_size_bytes(source->type), out = tsr_dtype_size_bytes(dst_type);
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)(factors->factor + (int64_t)i * factors->step);
        float pair[2] = {factors->scale ? factors->mean[at] : 0, factors->scale ? factors->scale[at] : 1};
        tsr_convert_scalar(rows->expected + i * out, dst_type, rows->src + 1 + i * in, source->type,
                           factors->scale ? pair : NULL);
    }
    for (int set = 0; set < count; set++) {
        tsr_conversion conversion;
        tsr_conversion_init(&conversion, &sets[set], source->type, dst_type, factors->mean, factors->scale);
        assert_false(conversion.is_copy);
        memset(rows->found, 0xcd, n * out + 1);
        tsr_convert_row(&conversion, rows->found + 1, rows->src + 1, (int64_t)n, factors->factor, factors->step);
        compare(source, dst_type, factors, n, rows, set);
    }
}

/* The same mean and scale for all. Awkward values come first in a source, and are fewer than MOST. */
static void check_constant_factors(const struct source *source, tsr_dtype dst_type, const struct rows *rows)
{
    static const float pairs[][2] = {{0, 0.37f}, {127.5f, 1 / 58.0f}, {-3, 1}, {1e30f, -1e30f}, {INFINITY, 0}};
    enum { MOST = 190000 };
    for (size_t i = 0; i < COUNT(pairs); i++) {
        struct factors factors = {&pairs[i][0], &pairs[i][1], 0, 0};
        check_rows(source, dst_type, &factors, source->count < MOST ? source->count : MOST, rows);
    }
}

static float any_factor(tsr_random *random)
{
    static const float awkward[] = {0, -0.0f, 1e38f, -1e-40f, INFINITY, 0.1f};
    if (tsr_random_chance(random, 16))
        return awkward[tsr_random_range(random, 0, COUNT(awkward) - 1)];
    return (float)tsr_random_range(random, -40000, 40000) / 64;
}

static void check_source(tsr_dtype type, tsr_random *random)
{
    struct source source = {.type = type};
    fill_source(&source, random);
    struct rows rows = rows_of(&source);
    size_t entries = source.count + 3;
    float *tables = malloc(2 * entries * sizeof *tables);
    assert_non_null(tables);
    for (size_t i = 0; i < 2 * entries; i++)
        tables[i] = any_factor(random);
    struct factors none = {0}, each = {tables, tables + entries, 3, 1};
    for (size_t i = 0; i < COUNT(types); i++) {
        if (types[i] != type)
            check_rows(&source, types[i], &none, source.count, &rows);
        check_rows(&source, types[i], &each, source.count, &rows);
        check_constant_factors(&source, types[i], &rows);
    }
    free(tables);
    free_rows(&rows);
    free(source.bits);
}

static void test_every_pair(void **state)
{
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (size_t i = 0; i < COUNT(types); i++)
        check_source(types[i], &random);
}

/* Rows around the chunk in which they are converted, with every place in the tables. */
static void test_lengths_and_steps(void **state)
{
    static const size_t lengths[] = {0, 1, 7, 8, 511, 512, 513, 1023, 1024, 1025};
    enum { LONGEST = 1025 };
    static float tables[2][3 * LONGEST + 2];
    struct source source = {.type = TSR_U8};
    (void)state;
    for (uint32_t i = 0; i < LONGEST; i++)
        add(&source, i % 256);
    for (size_t i = 0; i < COUNT(tables[0]); i++) {
        tables[0][i] = (float)(i % 97);
        tables[1][i] = (float)(i % 31) / 4;
    }
    struct rows rows = rows_of(&source);
    for (size_t i = 0; i < COUNT(lengths); i++)
        for (int64_t step = 0; step <= 3; step++) {
            struct factors factors = {tables[0], tables[1], 2, step};
            check_rows(&source, TSR_F32, &factors, lengths[i], &rows);
            check_rows(&source, TSR_U8, &factors, lengths[i], &rows);
        }
    free_rows(&rows);
    free(source.bits);
}

/* Between equal types without factors nothing is converted. */
static void test_copies(void **state)
{
    tsr_kernels kernels;
    tsr_conversion conversion;
    const float one = 1;
    (void)state;
    tsr_kernels_init(&kernels, tsr_cpu_detected());
    for (int type = TSR_DTYPE_NONE + 1; type < TSR_DTYPE_COUNT; type++) {
        int64_t bytes = (int64_t)tsr_dtype_size_bytes((tsr_dtype)type);
        bool converts = false;
        for (size_t i = 0; i < COUNT(types); i++)
            converts |= types[i] == (tsr_dtype)type;
        assert_int_equal(tsr_dtype_converts((tsr_dtype)type), converts);
        tsr_conversion_init(&conversion, &kernels, (tsr_dtype)type, (tsr_dtype)type, NULL, NULL);
        assert_true(conversion.is_copy && conversion.src_bytes == bytes && conversion.dst_bytes == bytes);
    }
    tsr_conversion_init(&conversion, &kernels, TSR_S8, TSR_S8, &one, &one);
    assert_false(conversion.is_copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pair),
        cmocka_unit_test(test_lengths_and_steps),
        cmocka_unit_test(test_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
