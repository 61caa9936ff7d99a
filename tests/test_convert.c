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
#include "reorder/map.h"
#include "reorder/scalar.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* All that stand alone in a row; and nf4, as indices. */
static const tsr_dtype types[] = {TSR_F32,  TSR_F64,     TSR_F16,     TSR_BF16, TSR_S8,  TSR_U8,
                                  TSR_S16,  TSR_U16,     TSR_S32,     TSR_U32,  TSR_S64, TSR_U64,
                                  TSR_BOOL, TSR_F8_E4M3, TSR_F8_E5M2, TSR_Q78,  TSR_NF4};

static uint64_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t bits64_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* ---- sources ---- */

/* Elements of one type, as bits of 64. */
struct source {
    tsr_dtype type;
    size_t count, room;
    uint64_t *bits;
};

static void add(struct source *source, uint64_t bits)
{
    if (source->count == source->room) {
        source->room = 2 * source->room + 1024;
        source->bits = realloc(source->bits, source->room * sizeof *source->bits);
        assert_non_null(source->bits);
    }
    source->bits[source->count++] = bits;
}

static void add_all(struct source *source, uint64_t end)
{
    for (uint64_t i = 0; i < end; i++)
        add(source, i);
}

static void add_random(struct source *source, tsr_random *random, int n)
{
    for (int i = 0; i < n; i++)
        add(source, tsr_random_next(random));
}

/* A float, its neighbours, and the same below zero. */
static void add_floats_near(struct source *source, double x)
{
    bool is_f64 = source->type == TSR_F64;
    for (uint64_t around = 0; around < 3; around++) {
        uint64_t bits = (is_f64 ? bits64_of(x) : bits_of((float)x)) + around - (x != 0);
        add(source, bits);
        add(source, bits ^ (is_f64 ? UINT64_C(1) << 63 : 0x80000000U));
    }
}

/* Significands at which something is a tie, or nearly, behind one exponent. */
static void add_significands(struct source *source, uint64_t exponent, int width, int total)
{
    uint64_t top = exponent << width, all = (UINT64_C(1) << width) - 1, quiet = UINT64_C(1) << (width - 1);
    for (int bit = 0; bit < width; bit++)
        for (uint64_t near = 0; near < 3; near++) {
            uint64_t half = UINT64_C(1) << bit;
            const uint64_t significands[] = {half, 3 * half, all & ~(half - 1), all & ~(3 * half - 1), quiet | half};
            for (size_t i = 0; i < COUNT(significands); i++) {
                uint64_t magnitude = (top | (significands[i] & all)) + near - 1;
                add(source, magnitude);
                add(source, magnitude ^ UINT64_C(1) << (total - 1));
            }
        }
}

/* Halves, and limits of integers and of narrower floats. */
static void add_limits(struct source *source)
{
    static const double limits[] = {
        32767.5,    32768.5,        57344,        61440,           65504,        65519.5,        65520,
        65535.5,    16777215,       16777216,     2147483520,      2147483646.5, 0x1p31 - 0.5,   2147483648.0,
        0x1p31 + 1, 4294967040.0,   4294967294.5, 4294967295.5,    4294967296.0, 0x1p51,         0x1p52,
        0x1p53,     0x1p63 - 0x1p9, 0x1p63,       0x1p64 - 0x1p10, 0x1p64,       0x1.fffffefp127};
    for (int twice = 0; twice <= 1100; twice++) {
        add_floats_near(source, (double)twice / 2);
        add_floats_near(source, (double)twice / 512); /* of fixed point, and of nf4 */
    }
    for (uint8_t level = 0; level + 1 < 16; level++) {
        const uint8_t next = (uint8_t)(level + 1);
        double below, above;
        tsr_convert_scalar(&below, TSR_F64, &level, TSR_NF4, NULL);
        tsr_convert_scalar(&above, TSR_F64, &next, TSR_NF4, NULL);
        add_floats_near(source, (below + above) / 2);
    }
    for (size_t i = 0; i < COUNT(limits); i++)
        add_floats_near(source, limits[i]);
}

/* All exponents, but of f64 only those that mean something to the narrower types, and the ends. */
static void add_awkward_floats(struct source *source)
{
    for (uint64_t exponent = 0; exponent < 256; exponent++)
        add_significands(source, exponent, 23, 32);
    add_limits(source);
}

static void add_awkward_doubles(struct source *source)
{
    static const uint64_t ends[] = {0, 1, 2, 2045, 2046, 2047};
    for (uint64_t exponent = 1023 - 152; exponent < 1023 + 130; exponent++)
        if (exponent < 1023 - 123 || (exponent > 1023 - 28 && exponent < 1023 + 67) || exponent > 1023 + 125)
            add_significands(source, exponent, 52, 64);
    for (size_t i = 0; i < COUNT(ends); i++)
        add_significands(source, ends[i], 52, 64);
    add_limits(source);
}

/* Two bits, or three, and one more or less: all that is a tie in a significand of some width, or nearly. */
static void add_awkward_integers(struct source *source, int bits)
{
    for (int high = 0; high < bits; high++)
        for (int low = 0; low <= high; low++)
            for (uint64_t near = 0; near < 5; near++) {
                uint64_t two = (UINT64_C(1) << high) + (UINT64_C(1) << low) + near - 2;
                uint64_t three = two + (UINT64_C(2) << low);
                add(source, two);
                add(source, 0U - two);
                add(source, three);
                add(source, 0U - three);
            }
    for (uint64_t i = 0; i <= 1200; i++)
        add(source, i - 600);
}

/* Any beginning becomes a sample. */
static void shuffle(struct source *source, tsr_random *random)
{
    for (size_t i = source->count; i > 1; i--) {
        const size_t at = (size_t)tsr_random_range(random, 0, (int64_t)i - 1);
        const uint64_t bits = source->bits[at];
        source->bits[at] = source->bits[i - 1];
        source->bits[i - 1] = bits;
    }
}

static void fill_source(struct source *source, tsr_random *random)
{
    int often = tsr_random_cases(500000);
    switch (source->type) {
    case TSR_F32:
        add_awkward_floats(source);
        add_random(source, random, often);
        break;
    case TSR_F64:
        add_awkward_doubles(source);
        add_random(source, random, often / 2);
        for (int i = 0; i < often / 2; i++) /* where narrower types see more than 0 and infinity */
            add(source, (tsr_random_next(random) & ~(UINT64_C(0x7ff) << 52)) |
                            (uint64_t)tsr_random_range(random, 1023 - 160, 1023 + 96) << 52);
        break;
    case TSR_S32:
    case TSR_U32:
    case TSR_S64:
    case TSR_U64:
        add_awkward_integers(source, 8 * (int)tsr_dtype_size_bytes(source->type));
        add_random(source, random, often);
        break;
    case TSR_NF4:
        add_all(source, 16);
        break;
    default:
        add_all(source, UINT64_C(1) << 8 * tsr_dtype_size_bytes(source->type));
        break;
    }
    shuffle(source, random);
}

/* ---- rows against single elements ---- */

/* Element i of a row takes entry factor + i * step, step 0 or 1. NULL tables: no arithmetic. */
struct factors {
    tsr_arithmetic with;
    int64_t factor, step;
};

/* Room for the longest row on both sides, one byte off every alignment; and where it is streamed, for an element more,
 * from a line on. */
struct rows {
    unsigned char *src, *expected, *found;
};

static struct rows rows_of(const struct source *source)
{
    size_t room = (source->count + 1) * sizeof(uint64_t) + TSR_CACHE_LINE, size = tsr_dtype_size_bytes(source->type);
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
    static const unsigned rungs[] = {
        0, TSR_CPU_SSE41, TSR_CPU_AVX2, TSR_CPU_AVX2 | TSR_CPU_AVX512, TSR_CPU_NEON, TSR_CPU_ALL};
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
    uint64_t bits = 0;
    memcpy(&bits, element, tsr_dtype_size_bytes(type));
    return (type == TSR_F64 && bits << 1 > UINT64_C(0x7ff) << 53) ||
           (type == TSR_F32 && (bits & 0x7fffffffU) > 0x7f800000U) || (type == TSR_F16 && (bits & 0x7fffU) > 0x7c00U) ||
           (type == TSR_BF16 && (bits & 0x7fffU) > 0x7f80U) || (type == TSR_F8_E4M3 && (bits & 0x7fU) == 0x7fU) ||
           (type == TSR_F8_E5M2 && (bits & 0x7fU) > 0x7cU);
}

/* Equal bits; arithmetic may choose its NaN. */
static void compare(const struct source *source, tsr_dtype dst_type, const struct factors *factors, size_t n,
                    const struct rows *rows, const unsigned char *row, int set)
{
    size_t size = tsr_dtype_size_bytes(dst_type);
    if (memcmp(rows->expected, row, n * size) == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        const unsigned char *expected = rows->expected + i * size, *found = row + i * size;
        if (memcmp(expected, found, size) == 0 ||
            (factors->with.scale && is_nan(dst_type, expected) && is_nan(dst_type, found)))
            continue;
        uint64_t want = 0, have = 0;
        memcpy(&want, expected, size);
        memcpy(&have, found, size);
        fail_msg("%s %" PRIx64 " to %s%s, kernel set %d, element %zu: expected %" PRIx64 ", found %" PRIx64,
                 tsr_dtype_name(source->type), source->bits[i], tsr_dtype_name(dst_type),
                 factors->with.scale ? " with factors" : "", set, i, want, have);
    }
}

/* What the destination holds: numbers, so that a NaN comes from one side only. */
static void lay_old_values(tsr_dtype type, unsigned char *dst, size_t n)
{
    size_t size = tsr_dtype_size_bytes(type);
    for (size_t i = 0; i < n; i++) {
        float old = (float)((int)(i % 1009) - 500) / 4;
        tsr_convert_scalar(dst + i * size, type, &old, TSR_F32, NULL);
        if (type == TSR_F32)
            memcpy(dst + i * size, &old, size);
    }
}

static void check_conversion(const tsr_conversion *conversion, const struct source *source, tsr_dtype dst_type,
                             const struct factors *factors, size_t n, const struct rows *rows, int set)
{
    const bool has_beta = factors->with.scale && factors->with.beta != 0;
    memset(rows->found, 0xcd, n * tsr_dtype_size_bytes(dst_type) + 1);
    if (has_beta)
        lay_old_values(dst_type, rows->found + 1, n);
    tsr_convert_row(conversion, rows->found + 1, rows->src + 1, (int64_t)n, factors->factor, factors->step);
    compare(source, dst_type, factors, n, rows, rows->found + 1, set);
}

/* Past the caches, from one element behind a line on. */
static void check_stream(const tsr_conversion *conversion, const struct source *source, tsr_dtype dst_type,
                         const struct factors *factors, size_t n, const struct rows *rows, int set)
{
    const size_t size = tsr_dtype_size_bytes(dst_type);
    unsigned char *found = rows->found + tsr_bytes_to_next_line(rows->found) + size;
    memset(found, 0xcd, n * size);
    tsr_stream_row(conversion, found, rows->src + 1, (int64_t)n, factors->factor, factors->step);
    compare(source, dst_type, factors, n, rows, found, set);
}

/* Through the caches and past them. */
static void check_ways(const tsr_conversion *conversion, const struct source *source, tsr_dtype dst_type,
                       const struct factors *factors, size_t n, const struct rows *rows, int set)
{
    check_conversion(conversion, source, dst_type, factors, n, rows, set);
    if (conversion->stream)
        check_stream(conversion, source, dst_type, factors, n, rows, set);
}

/* By one map, and by one for each of the first entries of the tables. */
static void check_maps(const tsr_conversion *conversion, const struct source *source, tsr_dtype dst_type,
                       const struct factors *factors, size_t n, const struct rows *rows, int set)
{
    uint8_t maps[TSR_MOST_MAPS][TSR_MAP_BYTES];
    tsr_conversion mapped = *conversion;
    if (factors->factor == 0) {
        tsr_conversion_map(&mapped, maps[0]);
        check_ways(&mapped, source, dst_type, factors, n, rows, set);
    }
    if (factors->with.scale && factors->factor < TSR_MOST_MAPS) {
        mapped = *conversion;
        tsr_conversion_maps(&mapped, maps, factors->factor + 1);
        check_ways(&mapped, source, dst_type, factors, n, rows, set);
    }
}

/* The first n elements of a source. */
static void check_rows(const struct source *source, tsr_dtype dst_type, const struct factors *factors, size_t n,
                       const struct rows *rows)
{
    tsr_kernels sets[8];
    int count = kernel_sets(sets);
    size_t in = tsr_dtype_size_bytes(source->type), out = tsr_dtype_size_bytes(dst_type);
    const tsr_arithmetic *with = factors->with.scale ? &factors->with : NULL;
    if (with && with->beta != 0)
        lay_old_values(dst_type, rows->expected, n);
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)(factors->factor + (int64_t)i * factors->step);
        tsr_factors_of_element of_element = {0};
        if (with)
            of_element = (tsr_factors_of_element){with->mean[at], with->scale[at], with->shift[at], with->beta};
        tsr_convert_scalar(rows->expected + i * out, dst_type, rows->src + 1 + i * in, source->type,
                           with ? &of_element : NULL);
    }
    for (int set = 0; set < count; set++) {
        tsr_conversion conversion;
        tsr_conversion_init(&conversion, &sets[set], source->type, dst_type, with);
        assert_false(conversion.is_copy);
        check_ways(&conversion, source, dst_type, factors, n, rows, set);
        if (factors->step == 0 && tsr_conversion_can_map(&conversion))
            check_maps(&conversion, source, dst_type, factors, n, rows, set);
    }
}

/* The same factors for all, of a sample, which emulators have fewer of. */
static void check_constant_factors(const struct source *source, tsr_dtype dst_type, const struct rows *rows)
{
    static const float sets[][4] = {{0, 0.37f, -0.0f, 0},   {127.5f, 1 / 58.0f, 10, 0}, {-3, 1, -0.0f, 0.5f},
                                    {1e30f, -1e30f, -5, 1}, {INFINITY, 0, 1, 0},        {0, 1, -128, -0.25f}};
    enum { MOST = 70000 };
    const size_t asked = (size_t)tsr_random_cases(MOST), most = asked < MOST ? asked : MOST;
    for (size_t i = 0; i < COUNT(sets); i++) {
        struct factors factors = {{&sets[i][0], &sets[i][1], &sets[i][2], sets[i][3], i == 0}, 0, 0};
        check_rows(source, dst_type, &factors, source->count < most ? source->count : most, rows);
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
    float *tables = malloc(3 * entries * sizeof *tables);
    assert_non_null(tables);
    for (size_t i = 0; i < 3 * entries; i++)
        tables[i] = any_factor(random);
    struct factors none = {{0}, 0, 0}, each = {{tables, tables + entries, tables + 2 * entries, 0, false}, 3, 1};
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
    static float tables[3][LONGEST + 2];
    struct source source = {.type = TSR_U8};
    (void)state;
    for (uint32_t i = 0; i < LONGEST; i++)
        add(&source, i % 256);
    for (size_t i = 0; i < COUNT(tables[0]); i++) {
        tables[0][i] = (float)(i % 97);
        tables[1][i] = (float)(i % 31) / 4;
        tables[2][i] = (float)(i % 11);
    }
    struct rows rows = rows_of(&source);
    for (size_t i = 0; i < COUNT(lengths); i++)
        for (int64_t step = 0; step <= 1; step++) {
            struct factors factors = {{tables[0], tables[1], tables[2], 0, false}, 2, step};
            check_rows(&source, TSR_F32, &factors, lengths[i], &rows);
            check_rows(&source, TSR_U8, &factors, lengths[i], &rows);
            check_rows(&source, TSR_F16, &factors, lengths[i], &rows);
            factors.with.beta = 0.5f;
            check_rows(&source, TSR_BOOL, &factors, lengths[i], &rows);
            check_rows(&source, TSR_F64, &factors, lengths[i], &rows);
            check_rows(&source, TSR_BF16, &factors, lengths[i], &rows);
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
    const tsr_arithmetic with = {&one, &one, &one, 0, false};
    (void)state;
    tsr_kernels_init(&kernels, tsr_cpu_detected());
    for (int type = TSR_DTYPE_NONE + 1; type < TSR_DTYPE_COUNT; type++) {
        int64_t bytes = (int64_t)tsr_dtype_size_bytes((tsr_dtype)type);
        tsr_conversion_init(&conversion, &kernels, (tsr_dtype)type, (tsr_dtype)type, NULL);
        assert_true(conversion.is_copy && conversion.src_bytes == bytes && conversion.dst_bytes == bytes);
    }
    tsr_conversion_init(&conversion, &kernels, TSR_S8, TSR_S8, &with);
    assert_false(conversion.is_copy);
}

/* Many short rows, half of them blocks of 8 to 32 channels, apart or one behind the other, are what each of them is by
 * itself; nothing else is written. */
static void check_runs(tsr_random *random, const tsr_conversion *conversion, tsr_dtype src_type, tsr_dtype dst_type)
{
    enum {
        MOST_ROWS = 150,
        MOST_COLUMNS = 1024,
        USUAL_COLUMNS = 256,
        GAP = 3,
        ROOM = MOST_ROWS * (MOST_COLUMNS + GAP) * 8
    };
    static unsigned char src[ROOM], expected[ROOM], found[ROOM];
    const int64_t rows = tsr_random_range(random, 1, MOST_ROWS);
    const bool are_blocks = tsr_random_chance(random, 2);
    const int64_t most = tsr_random_chance(random, 8) ? MOST_COLUMNS : USUAL_COLUMNS;
    const int64_t columns =
        are_blocks ? 8 << tsr_random_range(random, 0, 2) : tsr_random_range(random, TSR_SHORTEST_RUN, most);
    const bool is_dense = tsr_random_chance(random, 2);
    const int64_t step = tsr_random_chance(random, 2), first = tsr_random_range(random, 0, 5);
    const int64_t pitch = columns + (is_dense ? 0 : tsr_random_range(random, 1, GAP));
    int64_t src_row[MOST_ROWS], dst_row[MOST_ROWS], row_factor[MOST_ROWS] = {0};
    lay_old_values(src_type, src, (size_t)(rows * pitch));
    memset(expected, 0xcd, sizeof expected);
    memset(found, 0xcd, sizeof found);
    for (int64_t r = 0; r < rows; r++) {
        src_row[r] = (rows - 1 - r) * pitch * conversion->src_bytes;
        dst_row[r] = r * pitch * conversion->dst_bytes;
        row_factor[r] = tsr_computes(conversion) ? tsr_random_range(random, 0, 60) : 0;
        tsr_convert_row(conversion, expected + dst_row[r], src + src_row[r], columns, first + row_factor[r], step);
    }
    const tsr_tile tile = {.rows = rows,
                           .columns = columns,
                           .dst_row = dst_row,
                           .src_row = src_row,
                           .row_factor = tsr_computes(conversion) ? row_factor : NULL};
    tsr_affine affine;
    tsr_conversion_affine(conversion, &affine, first, step);
    conversion->runs(found, src, &tile, tsr_computes(conversion) ? &affine : NULL);
    if (memcmp(found, expected, sizeof found) != 0)
        fail_msg("%s to %s, %d rows of %d, dense %d, step %d", tsr_dtype_name(src_type), tsr_dtype_name(dst_type),
                 (int)rows, (int)columns, is_dense, (int)step);
}

static void test_runs(void **state)
{
    enum { FACTORS = 1100, DRAWS = 20, LEAST_PAIRS = 50 };
    tsr_random random;
    float factors[3][FACTORS];
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (size_t i = 0; i < FACTORS; i++)
        for (int j = 0; j < 3; j++)
            factors[j][i] = (float)tsr_random_range(&random, -400, 400) / 64;
    const tsr_arithmetic arithmetic = {factors[0], factors[1], factors[2], 0, false};
    tsr_kernels sets[8];
    const int count = kernel_sets(sets);
    for (int set = 0; set < count; set++) {
        int with_runs = 0;
        for (size_t pair = 0; pair < COUNT(types) * COUNT(types); pair++)
            for (int computes = 0; computes < 2; computes++) {
                const tsr_dtype from = types[pair / COUNT(types)], to = types[pair % COUNT(types)];
                tsr_conversion conversion;
                tsr_conversion_init(&conversion, &sets[set], from, to, computes ? &arithmetic : NULL);
                with_runs += conversion.runs != NULL;
                for (int draw = 0; draw < DRAWS && conversion.runs; draw++)
                    check_runs(&random, &conversion, from, to);
            }
        const bool has_kernels = sets[set].store_runs[TSR_S8] != NULL;
        assert_int_equal(with_runs >= LEAST_PAIRS, has_kernels);
        assert_int_equal(with_runs > 0, has_kernels);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pair),
        cmocka_unit_test(test_lengths_and_steps),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
