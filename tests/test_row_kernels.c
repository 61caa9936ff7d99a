/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that work on rows, on every rung of this machine: the right elements, and no others. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel_cases.h"
#include "random.h"

static float draw_float(tsr_random *random)
{
    return (float)((int64_t)tsr_random_next(random) >> 46) / 64; /* 18 bits, without a division */
}

/* ---- rows ---- */

/* Without arithmetic, with one scale alone, with the same factors for all elements, with scales alone or all factors
 * for each. */
enum arithmetic { NONE, SCALE, SAME, EACH_SCALE, EACH, ARITHMETICS };

static bool is_of_each(enum arithmetic arithmetic)
{
    return arithmetic == EACH_SCALE || arithmetic == EACH;
}

static bool scales_only(enum arithmetic arithmetic)
{
    return arithmetic == SCALE || arithmetic == EACH_SCALE;
}

/* n means, as many scales, and shifts. */
static void draw_factors(float *tables, size_t n, enum arithmetic arithmetic, tsr_random *random)
{
    for (size_t i = 0; i < n; i++) {
        tables[i] = scales_only(arithmetic) ? 0.0f : draw_float(random);
        tables[n + i] = draw_float(random);
        tables[2 * n + i] = scales_only(arithmetic) ? -0.0f : draw_float(random);
    }
}

static void move_factors(tsr_affine *affine, int64_t places)
{
    affine->mean += places;
    affine->scale += places;
    affine->shift += places;
}

/* Longer than two of the widest blocks. */
enum { LONGEST = 130 };

/* Any bits, or numbers alone: what an operation makes of a NaN is its own affair. All types keep the top of the
 * exponent there. */
static void fill(unsigned char *src, size_t n, size_t size, bool numbers, tsr_random *random)
{
    const size_t bytes = n * size;
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        const uint64_t any = tsr_random_next(random);
        memcpy(src + i, &any, bytes - i < sizeof any ? bytes - i : sizeof any);
    }
    for (size_t i = 0; i < n && numbers; i++)
        src[i * size + size - 1] &= 0xbf;
}

static bool begins_with(const char *family, const char *word)
{
    return strncmp(family, word, strlen(word)) == 0;
}

/* The type that a kernel of rows or runs goes from, if its family names one. */
static tsr_dtype source_of(const char *family)
{
    static const struct {
        const char *family;
        tsr_dtype type;
    } sources[] = {
#define SOURCE(src, dst, what) {"from_" #src, TSR_##src},
        TSR_FOR_SOURCES(SOURCE, any, rows)
#undef SOURCE
    };
    for (size_t i = 0; i < COUNT(sources); i++) {
        const size_t length = strlen(sources[i].family);
        if (begins_with(family, sources[i].family) && (family[length] == '\0' || family[length] == '_'))
            return sources[i].type;
    }
    return TSR_DTYPE_NONE;
}

/* Do they go from integers to integers, without a pivot? They know no arithmetic. */
static bool is_of_integers(const char *family)
{
    return begins_with(family, "limit") || begins_with(family, "narrow") || begins_with(family, "widen");
}

/* Of one element. What does not go from integers to integers goes from or to a pivot, unless it goes from a type to
 * another. */
static size_t src_bytes(const struct row_case *kernel)
{
    const tsr_dtype from = source_of(kernel->family);
    const size_t pivot = strstr(kernel->family, "64") ? sizeof(double) : sizeof(float);
    const size_t bytes = tsr_dtype_size_bytes(kernel->type);
    if (begins_with(kernel->family, "narrow"))
        return 2 * bytes;
    if (begins_with(kernel->family, "limit") || begins_with(kernel->family, "widen"))
        return bytes;
    if (from != TSR_DTYPE_NONE)
        return tsr_dtype_size_bytes(from);
    return begins_with(kernel->family, "store") ? pivot : bytes;
}

static size_t dst_bytes(const struct row_case *kernel)
{
    const size_t pivot = strstr(kernel->family, "64") ? sizeof(double) : sizeof(float);
    const size_t bytes = tsr_dtype_size_bytes(kernel->type);
    return begins_with(kernel->family, "load") ? pivot : begins_with(kernel->family, "widen") ? 2 * bytes : bytes;
}

/* Elements that nothing is done to are not converted: from a type to itself, a compiler may leave a NaN as it is. What
 * is loaded becomes f32. */
static bool does_nothing(const char *family, tsr_dtype type, enum arithmetic arithmetic)
{
    const bool is_affine = type == TSR_F32 && (begins_with(family, "load_runs") || begins_with(family, "add_runs"));
    return arithmetic == NONE && (source_of(family) == type || is_affine);
}

/* Against the C kernel, one element at a time. */
static void check_row(const struct row_case *kernel, tsr_random *random, size_t n, size_t src_offset, size_t dst_offset,
                      enum arithmetic arithmetic)
{
    const size_t in = src_bytes(kernel), out = dst_bytes(kernel), factors = is_of_each(arithmetic) ? n : 1;
    unsigned char *memory[2], *src = source(n * in, src_offset, &memory[0]);
    float *tables = (float *)(void *)source(3 * factors * sizeof *tables, 0, &memory[1]);
    fill(src, n, in, arithmetic != NONE, random);
    draw_factors(tables, factors, arithmetic, random);
    lay_guards(n * out);
    tsr_affine affine = {.mean = tables,
                         .scale = tables + factors,
                         .shift = tables + 2 * factors,
                         .step = is_of_each(arithmetic),
                         .scales_only = scales_only(arithmetic)};
    kernel->run(found + GUARD + dst_offset, src, (int64_t)n, arithmetic == NONE ? NULL : &affine);
    for (size_t i = 0; i < n; i++) {
        affine.scales_only = false;
        kernel->reference(expected + GUARD + dst_offset + i * out, src + i * in, 1,
                          arithmetic == NONE ? NULL : &affine);
        move_factors(&affine, affine.step);
    }
    if (!is_as_expected(n * out))
        fail_msg("%s: %zu elements, src at %zu, dst at %zu, arithmetic %d", kernel->name, n, src_offset, dst_offset,
                 (int)arithmetic);
    free(memory[0]);
    free(memory[1]);
}

/* From one of the addresses on both sides to the next that is tried; emulators try three of them. */
static size_t step_of_addresses(size_t addresses, size_t usual)
{
    return tsr_random_is_asked("TSR_TEST_SHORT") ? addresses / 3 + 1 : usual;
}

static void test_rows(void **state)
{
    const size_t step = step_of_addresses(64, 1);
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t n = 0; n <= LONGEST && can_run(rows[i].rung); n += rows[i].streams ? TSR_STREAMED_ELEMENTS : 1)
            for (size_t at = n % step; at < 64; at += step) {
                const enum arithmetic arithmetic =
                    is_of_integers(rows[i].family) ? NONE : (enum arithmetic)(at % ARITHMETICS);
                if (!does_nothing(rows[i].family, rows[i].type, arithmetic))
                    check_row(&rows[i], &random, n, at % 8, rows[i].streams ? 0 : at / 8, arithmetic);
            }
}

/* ---- runs ---- */

/* The C kernel of rows that does to one of them what a kernel of runs does to each. What loads f32 has nothing to do
 * but the arithmetic. */
static tsr_row_kernel kernel_of_row(const struct runs_case *kernel)
{
    const char *runs_at = strstr(kernel->family, "_runs");
    const size_t length = (size_t)(runs_at - kernel->family);
    assert_non_null(runs_at);
    if (kernel->type == TSR_F32)
        return tsr_affine_c;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].type == kernel->type && strlen(rows[i].family) == length &&
            strncmp(rows[i].family, kernel->family, length) == 0)
            return rows[i].reference;
    fail_msg("%s: there are no such rows", kernel->name);
    return NULL;
}

/* How many rows there are at most: one more than a vector has of 8 bytes. */
enum { MOST_RUNS = 9 };

/* Rows are in another order on each side, and apart, or dense at every other address; if they may be lines, they are,
 * and streamed. Their factors overlap, or are the same for all. They may be added to what is there. */
static void check_runs(const struct runs_case *kernel, tsr_random *random, int64_t n, size_t columns, size_t offset,
                       enum arithmetic arithmetic, bool rows_differ)
{
    enum { GAP = 5, LINE = 16, FACTORS = LONGEST + MOST_RUNS };
    const size_t size = tsr_dtype_size_bytes(kernel->type), pivot = sizeof(float), elements = (size_t)n * columns;
    const tsr_row_kernel convert_row = kernel_of_row(kernel);
    const tsr_dtype from = source_of(kernel->family);
    const bool loads = begins_with(kernel->family, "load"), streams = loads && columns % LINE == 0 && offset / 8 == 0;
    const bool adds = begins_with(kernel->family, "add");
    const size_t in = loads ? size : from == TSR_DTYPE_NONE ? pivot : tsr_dtype_size_bytes(from);
    const size_t out = loads ? pivot : size;
    const bool are_dense = offset / 8 % 2 == 1;
    const size_t pitch = columns * out + (are_dense ? 0 : streams ? TSR_CACHE_LINE : GAP);
    float tables[3 * FACTORS];
    const tsr_affine affine = {.mean = tables,
                               .scale = tables + FACTORS,
                               .shift = tables + 2 * FACTORS,
                               .step = is_of_each(arithmetic),
                               .scales_only = scales_only(arithmetic),
                               .beta = adds ? 0.75f : 0};
    int64_t src_row[MOST_RUNS], dst_row[MOST_RUNS], row_factor[MOST_RUNS];
    unsigned char *memory, *src = source(elements * in, offset % 8, &memory);
    unsigned char *to = found + GUARD + offset / 8, *wanted = expected + GUARD + offset / 8;
    fill(src, elements, in, arithmetic != NONE, random);
    draw_factors(tables, FACTORS, arithmetic, random);
    lay_guards((size_t)n * pitch);
    if (adds) {
        fill(wanted, (size_t)n * pitch / size, size, true, random);
        memcpy(to, wanted, (size_t)n * pitch);
    }
    for (int64_t r = 0; r < n; r++) {
        src_row[r] = (n - 1 - r) * (int64_t)(columns * in);
        dst_row[r] = (are_dense ? r : (r + 1) % n) * (int64_t)pitch;
        row_factor[r] = rows_differ ? (r + 3) % n : 0;
        tsr_affine own = affine;
        move_factors(&own, row_factor[r]);
        own.old = adds ? wanted + dst_row[r] : NULL;
        convert_row(wanted + dst_row[r], src + src_row[r], (int64_t)columns, arithmetic == NONE ? NULL : &own);
    }
    const tsr_tile tile = {.rows = n,
                           .columns = (int64_t)columns,
                           .dst_row = dst_row,
                           .src_row = src_row,
                           .row_factor = rows_differ ? row_factor : NULL,
                           .fetches_ahead = offset % 2 == 1,
                           .has_dense_rows = are_dense,
                           .streams = streams};
    kernel->run(to, src, &tile, arithmetic == NONE ? NULL : &affine);
    if (!is_as_expected((size_t)n * pitch))
        fail_msg("%s: %d runs of %zu, at %zu, dense: %d, arithmetic %d, rows differ: %d", kernel->name, (int)n, columns,
                 offset, are_dense, (int)arithmetic, rows_differ);
    free(memory);
}

/* With each arithmetic, and factors of each row or of all, of which emulators take turns; of the addresses, the first
 * two stream, and one of these fetches ahead. */
static void check_all_runs(const struct runs_case *kernel, tsr_random *random, int64_t n, size_t columns)
{
    const bool takes_turns = tsr_random_is_asked("TSR_TEST_SHORT");
    const size_t step = step_of_addresses(64, 7);
    for (size_t at = 0; at < 64; at += step)
        for (int arithmetic = NONE; arithmetic < ARITHMETICS; arithmetic++)
            for (int rows_differ = 0; rows_differ < 2; rows_differ++)
                if (!does_nothing(kernel->family, kernel->type, (enum arithmetic)arithmetic) &&
                    !(takes_turns && ((size_t)(n + arithmetic + rows_differ) + columns) % 2))
                    check_runs(kernel, random, n, columns, at, (enum arithmetic)arithmetic, rows_differ);
}

/* The many kernels from type to type are put together of the same parts, and do not need all longer rows. */
static void test_runs(void **state)
{
    enum { LONG = 36, FEWER = 11 };
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (size_t i = 0; i < COUNT(runs); i++) {
        const bool is_of_pair = source_of(runs[i].family) != TSR_DTYPE_NONE;
        for (int64_t n = 0; n <= MOST_RUNS && can_run(runs[i].rung); n++)
            for (size_t columns = 8; columns <= LONGEST; columns += is_of_pair && columns >= LONG ? FEWER : 1)
                check_all_runs(&runs[i], &random, n, columns);
    }
}

/* ---- from pivot to pivot ---- */

/* x, mean, scale, shift and the old value, in either pivot. */
static void apply(bool is_f64, void *element, const float x[5], float beta)
{
    float single = (x[0] - x[1]) * x[2];
    double twofold = ((double)x[0] - (double)x[1]) * (double)x[2];
    if (beta != 0) {
        single += beta * x[4];
        twofold += (double)beta * (double)x[4];
    }
    single += x[3];
    twofold += (double)x[3];
    if (is_f64)
        memcpy(element, &twofold, sizeof twofold);
    else
        memcpy(element, &single, sizeof single);
}

/* Where the kernel reads and writes. */
enum placement { APART, OVER_SOURCE, OVER_OLD, PLACEMENTS };

static void put(bool is_f64, unsigned char *elements, size_t i, float x)
{
    const float value[5] = {x, 0, 1, 0, 0};
    apply(is_f64, elements + i * (is_f64 ? sizeof(double) : sizeof(float)), value, 0);
}

/* What means and shifts hold changes nothing, if a kernel is told that there are none. */
static void check_affine(const struct affine_case *kernel, tsr_random *random, size_t n, int64_t step, bool scales_only,
                         float beta, size_t offset, enum placement placement)
{
    float tables[3][LONGEST + 1];
    bool is_f64 = strcmp(kernel->family, "affine64") == 0;
    size_t size = is_f64 ? sizeof(double) : sizeof(float), bytes = n * size;
    unsigned char *memory[2], *dst = found + GUARD + offset;
    unsigned char *src = source(bytes, 7 - offset, &memory[0]), *old = source(bytes, offset, &memory[1]);
    lay_guards(bytes);
    for (size_t i = 0; i < n || i == 0; i++) {
        size_t at = i * (size_t)step;
        for (int t = 0; t < 3 && (i == 0 || step > 0); t++)
            tables[t][at] = draw_float(random);
        const float mean = scales_only ? 0.0f : tables[0][at], shift = scales_only ? -0.0f : tables[2][at];
        const float x[5] = {draw_float(random), mean, tables[1][at], shift, draw_float(random)};
        if (i == n)
            break;
        put(is_f64, src, i, x[0]);
        put(is_f64, old, i, x[4]);
        apply(is_f64, expected + GUARD + offset + i * size, x, beta);
    }
    if (placement != APART && n > 0)
        memcpy(dst, placement == OVER_SOURCE ? src : old, bytes);
    tsr_affine affine = {.mean = tables[0],
                         .scale = tables[1],
                         .shift = tables[2],
                         .step = step,
                         .scales_only = scales_only,
                         .old = placement == OVER_OLD ? dst : old,
                         .beta = beta};
    if (beta == 0)
        affine.old = NULL;
    kernel->run(dst, placement == OVER_SOURCE ? dst : src, (int64_t)n, &affine);
    if (!is_as_expected(bytes))
        fail_msg("%s: %zu elements, step %d%s, beta %g, at %zu, placement %d", kernel->name, n, (int)step,
                 scales_only ? ", scales only" : "", (double)beta, offset, (int)placement);
    free(memory[0]);
    free(memory[1]);
}

static void test_affine(void **state)
{
    const size_t step = step_of_addresses(8, 1);
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (size_t i = 0; i < COUNT(affines); i++) {
        const bool streams = strcmp(affines[i].family, "stream_affine") == 0; /* whole lines, and nothing old */
        for (size_t n = 0; n <= LONGEST && can_run(affines[i].rung); n += streams ? TSR_STREAMED_ELEMENTS : 1)
            for (int mode = 0; mode < 4; mode++)
                for (size_t at = 0; at < (streams ? 1 : 8); at += step)
                    for (int which = 0; which < (streams ? 1 : 2 * PLACEMENTS); which++)
                        check_affine(&affines[i], &random, n, mode % 2, mode / 2, which & 1 ? -0.75f : 0, at,
                                     (enum placement)(which / 2));
    }
}

/* ---- pixels ---- */

/* A value as it is stored, by the C kernel of the type. */
static void put_value(unsigned char *to, float x, tsr_dtype type)
{
    static const struct {
        tsr_dtype type;
        tsr_row_kernel run;
    } stores[] = {
        {TSR_F16, tsr_store_F16_c}, {TSR_BF16, tsr_store_BF16_c}, {TSR_S8, tsr_store_S8_c}, {TSR_U8, tsr_store_U8_c}};
    memcpy(to, &x, type == TSR_F32 ? sizeof x : 0);
    for (size_t i = 0; i < COUNT(stores); i++)
        if (stores[i].type == type)
            stores[i].run(to, &x, 1, NULL);
}

/* The factors of some channels. EACH stands for a mean and a scale without a shift. */
struct channel_factors {
    float value[TSR_MOST_PADDED_CHANNELS][3];
    tsr_affine affine[TSR_MOST_PADDED_CHANNELS];
};

/* What bytes of each channel become instead, the lower bytes first. */
enum { VALUES = 256, PIXEL_CHANNELS = 4 };
struct channel_maps {
    unsigned char map[PIXEL_CHANNELS][2 * VALUES];
};

static void draw_channel_factors(struct channel_factors *factors, int channels, enum arithmetic arithmetic,
                                 tsr_random *random)
{
    for (int c = 0; c < channels; c++) {
        float *value = factors->value[c];
        for (int i = 0; i < 3; i++)
            value[i] = draw_float(random);
        if (arithmetic == SCALE)
            value[0] = 0.0f;
        if (arithmetic != SAME)
            value[2] = -0.0f;
        factors->affine[c] =
            (tsr_affine){.mean = &value[0], .scale = &value[1], .shift = &value[2], .scales_only = arithmetic == SCALE};
    }
}

static float computed(float x, const float factors[3], enum arithmetic arithmetic)
{
    if (arithmetic != NONE)
        x = (x - factors[0]) * factors[1];
    return arithmetic == SAME ? x + factors[2] : x;
}

static void draw_channel_maps(struct channel_maps *maps, struct channel_factors *factors, tsr_random *random)
{
    for (int c = 0; c < PIXEL_CHANNELS; c++) {
        fill(maps->map[c], sizeof maps->map[c], 1, false, random);
        factors->affine[c] = (tsr_affine){.map = maps->map[c]};
    }
}

static void put_mapped(unsigned char *to, size_t bytes, const unsigned char *map, unsigned char value)
{
    for (size_t b = 0; b < bytes; b++)
        to[b] = map[VALUES * b + value];
}

static bool takes_maps(const struct pixels_case *kernel)
{
    return kernel->rung == TSR_RUNG_avx512vbmi && tsr_dtype_size_bytes(kernel->src) == 1;
}

static float loaded(const unsigned char *from, tsr_dtype type)
{
    float x;
    memcpy(&x, from, type == TSR_F32 ? sizeof x : 0);
    if (type == TSR_F16)
        tsr_load_F16_c(&x, from, 1, NULL);
    else if (type == TSR_BF16)
        tsr_load_BF16_c(&x, from, 1, NULL);
    else if (type == TSR_S8)
        tsr_load_S8_c(&x, from, 1, NULL);
    else if (type == TSR_U8)
        tsr_load_U8_c(&x, from, 1, NULL);
    return x;
}

/* Against one pixel at a time. What lies behind the channels and between them stays. */
static void check_pixels(const struct pixels_case *kernel, tsr_random *random, int channels, size_t n,
                         size_t src_offset, size_t dst_offset, enum arithmetic arithmetic, bool is_mapped)
{
    const bool streams = dst_offset == 0; /* rows begin with lines */
    const size_t bytes = tsr_dtype_size_bytes(kernel->dst), line = streams ? TSR_CACHE_LINE : 1;
    const size_t pitch = (bytes * n + dst_offset + line - 1) / line * line;
    const size_t size = tsr_dtype_size_bytes(kernel->src);
    unsigned char *memory, *src = source(n * (size_t)channels * size, src_offset, &memory);
    int64_t dst_row[PIXEL_CHANNELS];
    struct channel_factors factors;
    struct channel_maps maps;
    fill(src, n * (size_t)channels, size, arithmetic != NONE, random);
    if (is_mapped)
        draw_channel_maps(&maps, &factors, random);
    else
        draw_channel_factors(&factors, channels, arithmetic, random);
    for (int r = 0; r < channels; r++)
        dst_row[r] = (int64_t)((r * 2 + 1) % channels * (int)pitch);
    lay_guards((size_t)channels * pitch);
    unsigned char *to = found + GUARD + dst_offset;
    const tsr_tile tile = {.rows = channels,
                           .columns = (int64_t)n,
                           .dst_row = dst_row,
                           .fetches_lines = src_offset % 2 == 1,
                           .streams = streams};
    kernel->run(to, src, &tile, arithmetic == NONE && !is_mapped ? NULL : factors.affine);
    for (size_t i = 0; i < n * (size_t)channels; i++) {
        const size_t r = i % (size_t)channels;
        unsigned char *wanted = expected + GUARD + dst_offset + dst_row[r] + bytes * (i / (size_t)channels);
        if (is_mapped)
            put_mapped(wanted, bytes, maps.map[r], src[i]);
        else
            put_value(wanted, computed(loaded(src + size * i, kernel->src), factors.value[r], arithmetic), kernel->dst);
    }
    if (!is_as_expected((size_t)channels * pitch))
        fail_msg("%s: %zu pixels of %d, src at %zu, dst at %zu, arithmetic %d%s", kernel->name, n, channels, src_offset,
                 dst_offset, (int)arithmetic, is_mapped ? ", mapped" : "");
    free(memory);
}

static bool can_run_pixels(const struct pixels_case *kernel, const char *family)
{
    return kernel->run && can_run(kernel->rung) && strcmp(kernel->family, family) == 0;
}

/* All lengths up to the longest, and some that are worth maps. */
static void test_pixels(void **state)
{
    static const size_t many[] = {1023, 1024, 1100, 2113};
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (size_t i = 0; i < COUNT(pixel_converters); i++)
        for (size_t n = 0; n <= LONGEST + COUNT(many) && can_run_pixels(&pixel_converters[i], "pixels"); n++)
            for (size_t at = 0; at < 64; at++) {
                const struct pixels_case *kernel = &pixel_converters[i];
                const size_t pixels = n <= LONGEST ? n : many[n - LONGEST - 1];
                for (int channels = 3; channels <= PIXEL_CHANNELS; channels++)
                    check_pixels(kernel, &random, channels, pixels, at % 8, at / 8, (enum arithmetic)(at % ARITHMETICS),
                                 takes_maps(kernel) && at % 3 == 0);
            }
}

/* And back. What lies behind the pixels stays. */
static void check_joined_pixels(const struct pixels_case *kernel, tsr_random *random, int channels, size_t n,
                                size_t src_offset, size_t dst_offset, enum arithmetic arithmetic)
{
    const size_t size = tsr_dtype_size_bytes(kernel->src), bytes = tsr_dtype_size_bytes(kernel->dst);
    const size_t pitch = size * n + src_offset;
    unsigned char *memory, *src = source((size_t)channels * pitch, src_offset, &memory);
    int64_t src_column[PIXEL_CHANNELS];
    struct channel_factors factors;
    fill(src, (size_t)channels * pitch / size, size, arithmetic != NONE, random);
    draw_channel_factors(&factors, channels, arithmetic, random);
    for (int c = 0; c < channels; c++)
        src_column[c] = (int64_t)((c * 2 + 1) % channels * (int)pitch);
    lay_guards((size_t)channels * bytes * n);
    const tsr_tile tile = {
        .rows = (int64_t)n, .columns = channels, .src_column = src_column, .streams = dst_offset == 0};
    kernel->run(found + GUARD + dst_offset, src, &tile, arithmetic == NONE ? NULL : factors.affine);
    for (size_t i = 0; i < n * (size_t)channels; i++) {
        const size_t c = i % (size_t)channels;
        const float x = loaded(src + src_column[c] + size * (i / (size_t)channels), kernel->src);
        put_value(expected + GUARD + dst_offset + bytes * i, computed(x, factors.value[c], arithmetic), kernel->dst);
    }
    if (!is_as_expected((size_t)channels * bytes * n))
        fail_msg("%s: %zu pixels of %d, src at %zu, dst at %zu, arithmetic %d", kernel->name, n, channels, src_offset,
                 dst_offset, (int)arithmetic);
    free(memory);
}

static void test_joined_pixels(void **state)
{
    static const size_t many[] = {255, 1024, 1090, 2113};
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (size_t i = 0; i < COUNT(pixel_converters); i++)
        for (size_t n = 0; n <= LONGEST + COUNT(many) && can_run_pixels(&pixel_converters[i], "joined_pixels"); n++)
            for (size_t at = 0; at < 16; at++)
                for (int channels = 3; channels <= PIXEL_CHANNELS; channels++)
                    check_joined_pixels(&pixel_converters[i], &random, channels,
                                        n <= LONGEST ? n : many[n - LONGEST - 1], at % 4 * 4, at / 4,
                                        (enum arithmetic)(at % ARITHMETICS));
}

/* Likewise, with channels in order, backwards, or from some channel on. */
static void check_padded_pixels(const struct pixels_case *kernel, tsr_random *random, size_t channels, size_t width,
                                size_t n, size_t src_offset, size_t dst_offset, enum arithmetic arithmetic, size_t turn,
                                bool is_mapped)
{
    const size_t bytes = tsr_dtype_size_bytes(kernel->dst), row_bytes = width * bytes;
    unsigned char *memory, *src = source(n * channels, src_offset, &memory);
    int64_t column[TSR_MOST_PADDED_CHANNELS];
    struct channel_factors factors;
    struct channel_maps maps;
    fill(src, n * channels, 1, false, random);
    if (is_mapped)
        draw_channel_maps(&maps, &factors, random);
    else
        draw_channel_factors(&factors, (int)channels, arithmetic, random);
    for (size_t c = 0; c < channels; c++)
        column[c] = turn == 1 ? -(int64_t)c : (int64_t)((c + turn / 2) % channels);
    lay_guards(n * row_bytes);
    const tsr_tile tile = {.rows = (int64_t)n,
                           .columns = (int64_t)channels,
                           .src_column = column,
                           .streams = dst_offset == 0,
                           .row_bytes = (int64_t)row_bytes};
    const unsigned char *first = src + (turn == 1 ? channels - 1 : 0);
    kernel->run(found + GUARD + dst_offset, first, &tile, arithmetic == NONE && !is_mapped ? NULL : factors.affine);
    memset(expected + GUARD + dst_offset, 0, n * row_bytes);
    for (size_t i = 0; i < n * channels; i++) {
        const size_t pixel = i / channels, c = i % channels;
        const unsigned char *from = &first[(int64_t)(pixel * channels) + column[c]];
        unsigned char *wanted = expected + GUARD + dst_offset + pixel * row_bytes + c * bytes;
        if (is_mapped)
            put_mapped(wanted, bytes, maps.map[c], *from);
        else
            put_value(wanted, computed(loaded(from, kernel->src), factors.value[c], arithmetic), kernel->dst);
    }
    if (!is_as_expected(n * row_bytes))
        fail_msg("%s: %zu pixels of %zu in %zu, src at %zu, dst at %zu, arithmetic %d, turn %zu%s", kernel->name, n,
                 channels, width, src_offset, dst_offset, (int)arithmetic, turn, is_mapped ? ", mapped" : "");
    free(memory);
}

static void test_padded_pixels(void **state)
{
    enum { TURNS = 4 };
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (size_t i = 0; i < COUNT(pixel_converters); i++)
        for (size_t n = 0; n <= 40 && can_run_pixels(&pixel_converters[i], "padded_pixels"); n++)
            for (size_t width = 4; width <= TSR_WIDEST_PADDED; width *= 2)
                for (size_t channels = 1; channels < width && channels <= TSR_MOST_PADDED_CHANNELS; channels++)
                    for (size_t at = 0; at < TURNS * ARITHMETICS; at++) {
                        const struct pixels_case *kernel = &pixel_converters[i];
                        const bool may_be_mapped = takes_maps(kernel) && channels <= TSR_MOST_MAPS &&
                                                   width * tsr_dtype_size_bytes(kernel->dst) <= TSR_WIDEST_MAPPED;
                        check_padded_pixels(kernel, &random, channels, width, n, at * 5 % 16, at % 3,
                                            (enum arithmetic)(at / TURNS), at % TURNS, false);
                        if (may_be_mapped)
                            check_padded_pixels(kernel, &random, channels, width, n, at * 5 % 16, at % 3, NONE,
                                                at % TURNS, true);
                    }
}

/* ---- factors that come again ---- */

/* The factors of a period again and again; with scales alone, means and shifts are anything. */
static void draw_periods(float tables[3][TSR_PERIODIC_ELEMENTS], bool has_scales_only, tsr_random *random)
{
    for (size_t table = 0; table < 3; table++)
        for (size_t i = 0; i < TSR_PERIODIC_ELEMENTS; i++) {
            float *to = &tables[table][i];
            *to = i < TSR_PERIOD ? draw_float(random) : tables[table][i - TSR_PERIOD];
            if (has_scales_only && table != 1)
                *to = NAN;
        }
}

static void check_periodic(const struct pair_case *kernel, tsr_random *random, size_t n, size_t src_offset,
                           size_t dst_offset, bool has_scales_only, bool is_in_place)
{
    const size_t in = tsr_dtype_size_bytes(kernel->src), out = tsr_dtype_size_bytes(kernel->dst);
    float tables[3][TSR_PERIODIC_ELEMENTS];
    const tsr_affine affine = {
        .mean = tables[0], .scale = tables[1], .shift = tables[2], .step = 1, .scales_only = has_scales_only};
    unsigned char *memory, *src = source(n * in, src_offset, &memory), *to = found + GUARD + dst_offset;
    fill(src, n, in, in > 1, random);
    draw_periods(tables, has_scales_only, random);
    lay_guards(n * out);
    if (is_in_place)
        memcpy(to, src, n * in);
    kernel->run(to, is_in_place ? to : src, (int64_t)n, &affine);
    for (size_t i = 0; i < n; i++) {
        const size_t factor = i % TSR_PERIOD;
        const float mean = has_scales_only ? 0.0f : tables[0][factor];
        const float x = (loaded(src + i * in, kernel->src) - mean) * tables[1][factor];
        put_value(expected + GUARD + dst_offset + i * out, x + (has_scales_only ? -0.0f : tables[2][factor]),
                  kernel->dst);
    }
    if (!is_as_expected(n * out))
        fail_msg("%s: %zu elements, src at %zu, dst at %zu, scales only %d, in place %d", kernel->name, n, src_offset,
                 dst_offset, has_scales_only, is_in_place);
    free(memory);
}

static bool can_run_pair(const struct pair_case *kernel, const char *family)
{
    return kernel->run && can_run(kernel->rung) && strcmp(kernel->family, family) == 0;
}

static void test_periodic(void **state)
{
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (size_t i = 0; i < COUNT(pairs); i++)
        for (size_t n = 0; n <= 5 && can_run_pair(&pairs[i], "periodic"); n++)
            for (size_t at = 0; at < 64; at++) {
                const bool has_one_width = tsr_dtype_size_bytes(pairs[i].src) == tsr_dtype_size_bytes(pairs[i].dst);
                check_periodic(&pairs[i], &random, n * TSR_PERIODIC_ELEMENTS, at % 8, at / 8, at % 3 == 0,
                               has_one_width && at % 2 == 0);
            }
}

/* ---- old values ---- */

/* Factors are the same for all, or of each element, and no more of them are read; with scales alone, means and shifts
 * are anything. */
static void check_added(const struct pair_case *kernel, tsr_random *random, size_t n, size_t src_offset,
                        size_t dst_offset, bool has_scales_only, bool is_each)
{
    const size_t in = tsr_dtype_size_bytes(kernel->src), out = tsr_dtype_size_bytes(kernel->dst);
    const size_t factors = is_each ? n : 1;
    unsigned char *memory, *src = source(n * in, src_offset, &memory), *old = expected + GUARD + dst_offset;
    unsigned char *tables[3];
    float *table[3];
    for (size_t t = 0; t < 3; t++) {
        table[t] = (void *)source(factors * sizeof(float), 0, &tables[t]);
        for (size_t i = 0; i < factors; i++)
            table[t][i] = has_scales_only && t != 1 ? NAN : draw_float(random);
    }
    const tsr_affine affine = {.mean = table[0],
                               .scale = table[1],
                               .shift = table[2],
                               .step = is_each,
                               .scales_only = has_scales_only,
                               .beta = draw_float(random)};
    fill(src, n, in, in > 1, random);
    lay_guards(n * out);
    fill(old, n, out, out > 1, random);
    memcpy(found + GUARD + dst_offset, old, n * out);
    kernel->run(found + GUARD + dst_offset, src, (int64_t)n, &affine);
    for (size_t i = 0; i < n; i++) {
        const size_t factor = is_each ? i : 0;
        const float mean = has_scales_only ? 0.0f : table[0][factor];
        float x = (loaded(src + i * in, kernel->src) - mean) * table[1][factor];
        x += affine.beta * loaded(old + i * out, kernel->dst);
        put_value(old + i * out, x + (has_scales_only ? -0.0f : table[2][factor]), kernel->dst);
    }
    if (!is_as_expected(n * out))
        fail_msg("%s: %zu elements, src at %zu, dst at %zu, scales only %d, factors of each %d", kernel->name, n,
                 src_offset, dst_offset, has_scales_only, is_each);
    free(memory);
    for (size_t t = 0; t < 3; t++)
        free(tables[t]);
}

static void test_added(void **state)
{
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (size_t i = 0; i < COUNT(pairs); i++)
        for (size_t n = 0; n <= LONGEST && can_run_pair(&pairs[i], "add"); n++)
            for (size_t at = 0; at < 16; at++)
                check_added(&pairs[i], &random, n, at / 2 % 4, at / 4, at % 4 == 0, at % 2 == 1);
}

/* ---- maps ---- */

/* The lower bytes of all values come first, and then the upper ones; of several maps, one after the other. */
static void check_map(const struct map_case *kernel, tsr_random *random, size_t n, size_t src_offset, size_t dst_offset,
                      size_t turns, bool is_in_place)
{
    unsigned char *memory[2], *src = source(n, src_offset, &memory[0]);
    const size_t size = VALUES * kernel->bytes;
    unsigned char *map = source(turns * size, 0, &memory[1]), *to = expected + GUARD + dst_offset;
    const uint8_t *taken[TSR_MOST_MAPS];
    fill(src, n, 1, false, random);
    fill(map, turns * size, 1, false, random);
    for (size_t turn = 0; turn < turns; turn++)
        taken[turn] = map + turn * size;
    const tsr_affine affine = {.map = turns == 1 ? map : NULL, .maps = taken, .turns = (int64_t)turns};
    lay_guards(n * kernel->bytes);
    if (is_in_place)
        memcpy(found + GUARD + dst_offset, src, n);
    for (size_t i = 0; i < n; i++)
        for (size_t b = 0; b < kernel->bytes; b++)
            to[i * kernel->bytes + b] = taken[i % turns][VALUES * b + src[i]];
    kernel->run(found + GUARD + dst_offset, is_in_place ? found + GUARD + dst_offset : src, (int64_t)n, &affine);
    if (!is_as_expected(n * kernel->bytes))
        fail_msg("%s: %zu bytes, src at %zu, dst at %zu, %zu maps, in place %d", kernel->name, n, src_offset,
                 dst_offset, turns, is_in_place);
    free(memory[0]);
    free(memory[1]);
}

static void test_maps(void **state)
{
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (size_t i = 0; i < COUNT(maps); i++) {
        const bool streams = maps[i].run && begins_with(maps[i].family, "stream");
        const bool has_turns = maps[i].run && strcmp(maps[i].family, "maps") == 0;
        for (size_t n = 0; n <= LONGEST && maps[i].run && can_run(maps[i].rung);
             n += streams ? TSR_STREAMED_ELEMENTS : 1)
            for (size_t at = 0; at < 64; at++)
                check_map(&maps[i], &random, n, at % 8, streams ? 0 : at / 8, has_turns ? 3 + at % 2 : 1,
                          has_turns && maps[i].bytes == 1 && at % 4 < 2);
    }
}

/* ---- packed elements ---- */

/* So many are in a byte. */
static size_t packing_of(tsr_dtype type)
{
    return 8 / (size_t)tsr_dtype_bits(type);
}

static unsigned mask_of(tsr_dtype type)
{
    return (1U << tsr_dtype_bits(type)) - 1;
}

static unsigned shift_of(tsr_dtype type, size_t at)
{
    return (unsigned)(at % packing_of(type)) * (unsigned)tsr_dtype_bits(type);
}

static void put_packed(unsigned char *bytes, tsr_dtype type, size_t at, unsigned element)
{
    unsigned char *byte = &bytes[at / packing_of(type)];
    const unsigned shift = shift_of(type, at);
    *byte = (unsigned char)((*byte & ~(mask_of(type) << shift)) | element << shift);
}

static unsigned char unpacked(tsr_dtype type, const unsigned char *bytes, size_t at)
{
    const unsigned byte = bytes[at / packing_of(type)];
    const int element = (int)(byte >> shift_of(type, at) & mask_of(type));
    return (unsigned char)(type == TSR_S4 && element > 7 ? element - 16 : element);
}

static unsigned saturated(tsr_dtype type, unsigned char byte)
{
    const int x = type == TSR_S4 ? (signed char)byte : byte, low = type == TSR_S4 ? -8 : 0,
              high = low + (int)mask_of(type);
    return (unsigned)(x < low ? low : x > high ? high : x) & mask_of(type);
}

static void check_packed(const struct packed_case *kernel, tsr_random *random, size_t first, size_t n,
                         size_t src_offset, size_t dst_offset)
{
    const bool packs = strcmp(kernel->family, "pack") == 0;
    const size_t in_byte = packing_of(kernel->type), packed = (first + n + in_byte - 1) / in_byte;
    const size_t in = packs ? n : packed, out = packs ? packed : n;
    unsigned char *memory, *src = source(in, src_offset, &memory), *dst = expected + GUARD + dst_offset;
    for (size_t i = 0; i < in; i++)
        src[i] = (unsigned char)((tsr_random_next(random) & 255) >> (packs ? tsr_random_range(random, 0, 8) : 0));
    lay_guards(out);
    kernel->run(found + GUARD + dst_offset, src, (int64_t)first, (int64_t)n);
    for (size_t i = 0; i < n && packs; i++)
        put_packed(dst, kernel->type, first + i, saturated(kernel->type, src[i]));
    for (size_t i = 0; i < n && !packs; i++)
        dst[i] = unpacked(kernel->type, src, first + i);
    if (!is_as_expected(out))
        fail_msg("%s: elements %zu to %zu, src at %zu, dst at %zu", kernel->name, first, first + n, src_offset,
                 dst_offset);
    free(memory);
}

static void test_packed(void **state)
{
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (size_t i = 0; i < COUNT(packers); i++)
        for (size_t n = 0; n <= 2 * LONGEST && can_run(packers[i].rung); n++)
            for (size_t at = 0; at < 64; at++)
                check_packed(&packers[i], &random, (at + n) % 16, n, at % 8, at / 8);
}

/* Every byte, from and to every place in a byte. */
static void test_packed_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(packers); i++)
        for (int value = 0; value < 256 && can_run(packers[i].rung); value++)
            for (size_t first = 0; first < packing_of(packers[i].type); first++) {
                const unsigned char src[2] = {(unsigned char)value, (unsigned char)value};
                const tsr_dtype type = packers[i].type;
                unsigned char dst[2] = {0, 0};
                packers[i].run(dst, src, (int64_t)first, 1);
                if (strcmp(packers[i].family, "pack") == 0)
                    assert_int_equal(dst[0], saturated(type, src[0]) << shift_of(type, first));
                else
                    assert_int_equal(dst[0], unpacked(type, src, first));
            }
}

/* Rows of bytes, n of each, that have elements of as many rows as a byte does, each one somewhere. */
static void check_packed_rows(const struct packed_rows_case *kernel, tsr_random *random, size_t count, size_t n,
                              size_t src_offset, size_t dst_offset)
{
    enum { MOST = 4, IN_BYTE = 8, GAP = 3 };
    const bool packs = strcmp(kernel->family, "pack_rows") == 0;
    const size_t in_byte = packing_of(kernel->type), pitch = n + GAP;
    const size_t in = count * (packs ? in_byte : 1), out = count * (packs ? 1 : in_byte);
    int64_t src_row[MOST * IN_BYTE] = {0}, dst_row[MOST * IN_BYTE] = {0};
    unsigned char *memory, *src = source(in * pitch, src_offset, &memory), *dst = expected + GUARD + dst_offset;
    for (size_t r = 0; r < in; r++)
        src_row[r] = (int64_t)((in - 1 - r) * pitch + GAP);
    for (size_t r = 0; r < out; r++)
        dst_row[r] = (int64_t)((r + out / 2) % out * pitch);
    for (size_t i = 0; i < in * pitch; i++)
        src[i] = (unsigned char)((tsr_random_next(random) & 255) >> (packs ? tsr_random_range(random, 0, 8) : 0));
    const tsr_tile tile = {.rows = (int64_t)count, .columns = (int64_t)n, .dst_row = dst_row, .src_row = src_row};
    lay_guards(out * pitch);
    kernel->run(found + GUARD + dst_offset, src, &tile);
    for (size_t r = 0; r < count; r++)
        for (size_t c = 0; c < n; c++)
            for (size_t i = 0; i < in_byte; i++) {
                const size_t row = r * in_byte + i;
                if (packs)
                    put_packed(&dst[dst_row[r]] + c, kernel->type, i,
                               saturated(kernel->type, *(&src[src_row[row]] + c)));
                else
                    *(&dst[dst_row[row]] + c) = unpacked(kernel->type, &src[src_row[r]] + c, i);
            }
    if (!is_as_expected(out * pitch))
        fail_msg("%s: %zu rows of %zu bytes, src at %zu, dst at %zu", kernel->name, count, n, src_offset, dst_offset);
    free(memory);
}

static void test_packed_rows(void **state)
{
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (size_t i = 0; i < COUNT(row_packers); i++)
        for (size_t n = 0; n <= LONGEST && can_run(row_packers[i].rung); n++)
            for (size_t at = 0; at < 4; at++)
                check_packed_rows(&row_packers[i], &random, (at + n) % 5, n, (at + n) % 8, (at + n) % 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),     cmocka_unit_test(test_runs),          cmocka_unit_test(test_affine),
        cmocka_unit_test(test_pixels),   cmocka_unit_test(test_joined_pixels), cmocka_unit_test(test_padded_pixels),
        cmocka_unit_test(test_periodic), cmocka_unit_test(test_added),         cmocka_unit_test(test_maps),
        cmocka_unit_test(test_packed),   cmocka_unit_test(test_packed_values), cmocka_unit_test(test_packed_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
