/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that move elements, on every rung of this machine, and the dispatch ladder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel_cases.h"
#include "random.h"

/* Element i is i; where that does not fit into a byte, plane 1 holds what plane 0 left out. */
static void fill_with_indices(unsigned char *memory, size_t elements, size_t bytes, int plane)
{
    for (size_t i = 0; i < elements; i++) {
        uint64_t value = (uint64_t)i >> 8 * plane;
        memcpy(memory + i * bytes, &value, bytes);
    }
}

static int planes_of(size_t bytes)
{
    return bytes == 1 ? 2 : 1;
}

/* ---- tiles ---- */

/* Elements from the first to the last of a tile. */
static size_t span_of(const tsr_tile *t, int64_t row, int64_t column)
{
    return t->rows && t->columns ? (size_t)((t->rows - 1) * row + (t->columns - 1) * column + 1) : 0;
}

/* The formula of kernels.h. */
static void tile_by_definition(unsigned char *dst, const unsigned char *src, const tsr_tile *t, size_t bytes)
{
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->columns; c++)
            memcpy(dst + (size_t)(r * t->dst_row + c * t->dst_column) * bytes,
                   src + (size_t)(r * t->src_row + c * t->src_column) * bytes, bytes);
}

static void check_tile(const struct tile_case *kernel, const tsr_tile *t, size_t src_offset, size_t dst_offset)
{
    size_t elements = span_of(t, t->src_row, t->src_column);
    size_t bytes = span_of(t, t->dst_row, t->dst_column) * kernel->bytes;
    unsigned char *memory, *src = source(elements * kernel->bytes, src_offset, &memory);
    for (int plane = 0; plane < planes_of(kernel->bytes); plane++) {
        fill_with_indices(src, elements, kernel->bytes, plane);
        lay_guards(bytes);
        kernel->run(found + GUARD + dst_offset, src, t);
        tile_by_definition(expected + GUARD + dst_offset, src, t, kernel->bytes);
        if (!is_as_expected(bytes))
            fail_msg("%s: %d rows, %d columns, dst %d:%d at %zu, src %d:%d at %zu", kernel->name, (int)t->rows,
                     (int)t->columns, (int)t->dst_row, (int)t->dst_column, dst_offset, (int)t->src_row,
                     (int)t->src_column, src_offset);
    }
    free(memory);
}

typedef void (*tile_visitor)(const struct tile_case *kernel);

static void visit_family(const char *family, tile_visitor visit)
{
    for (size_t i = 0; i < COUNT(tiles); i++)
        if (strcmp(tiles[i].family, family) == 0 && can_run(tiles[i].rung))
            visit(&tiles[i]);
}

static const int64_t gaps[] = {0, 1, 7};

/* All sizes up to two of the largest blocks and one more. */
static void transpose_all_sizes(const struct tile_case *kernel)
{
    size_t turn = 0;
    for (int64_t r = 0; r <= 33; r++)
        for (int64_t c = 0; c <= 33; c++)
            for (size_t d = 0; d < COUNT(gaps); d++)
                for (size_t s = 0; s < COUNT(gaps); s++, turn++) {
                    tsr_tile t = {r, c, .dst_row = c + gaps[d], 1, 1, .src_column = r + gaps[s]};
                    check_tile(kernel, &t, turn % 8, turn / 8 % 8);
                }
}

/* A few sizes, the long and narrow ones that have loops of their own among them, at every address. */
static void transpose_all_addresses(const struct tile_case *kernel)
{
    static const int64_t sizes[][2] = {{17, 19}, {3, 200}, {200, 3}, {4, 131}, {131, 4}, {2, 90}, {90, 2}};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t at = 0; at < 64; at++)
            for (size_t g = 0; g < 2; g++) {
                int64_t r = sizes[i][0], c = sizes[i][1];
                tsr_tile t = {r, c, .dst_row = c + gaps[g], 1, 1, .src_column = r + gaps[g]};
                check_tile(kernel, &t, at % 8, at / 8);
            }
}

/* Rows of the source may also repeat. */
static void copy_all_lengths(const struct tile_case *kernel)
{
    size_t turn = 0;
    for (int64_t c = 0; c <= 130; c++)
        for (int64_t r = 0; r <= 5; r++)
            for (size_t d = 0; d < COUNT(gaps); d++)
                for (size_t s = 0; s <= COUNT(gaps); s++, turn++) {
                    tsr_tile t = {r, c, c + gaps[d], 1, s < COUNT(gaps) ? c + gaps[s] : 0, 1};
                    check_tile(kernel, &t, turn % 8, turn / 8 % 8);
                }
}

/* Either loop may be the one with the larger steps; the source may stand still. */
static void strided_in_many_ways(const struct tile_case *kernel)
{
    static const int64_t steps[] = {0, 1, 2, 5};
    size_t turn = 0;
    for (int64_t r = 0; r <= 5; r++)
        for (int64_t c = 0; c <= 20; c++)
            for (size_t d = 1; d < COUNT(steps); d++)
                for (size_t s = 0; s < COUNT(steps); s++, turn++) {
                    tsr_tile wide = {r, c, c * steps[d] + 1, steps[d], c * steps[s], steps[s]};
                    tsr_tile tall = {r, c, steps[d], r * steps[d] + 1, steps[s], r * steps[s] + 2};
                    check_tile(kernel, &wide, turn % 8, turn / 8 % 8);
                    check_tile(kernel, &tall, turn % 8, turn / 8 % 8);
                }
}

static void test_tiles(void **state)
{
    (void)state;
    visit_family("transpose", transpose_all_sizes);
    visit_family("transpose", transpose_all_addresses);
    visit_family("copy", copy_all_lengths);
    visit_family("strided", strided_in_many_ways);
}

/* ---- gather ---- */

/* n different places below 3 * n, in any order. */
static void draw_table(tsr_random *random, int64_t *table, int n)
{
    for (int i = 0; i < n; i++)
        table[i] = 3 * i + tsr_random_range(random, 0, 2);
    for (int i = n - 1; i > 0; i--) {
        int j = (int)tsr_random_range(random, 0, i);
        int64_t place = table[i];
        table[i] = table[j];
        table[j] = place;
    }
}

static void check_gather(const struct gather_case *kernel, tsr_random *random, int n, bool with_dst, bool with_src)
{
    int64_t dst_table[70], src_table[70];
    size_t elements = 3 * (size_t)n, bytes = elements * kernel->bytes, at = (size_t)tsr_random_range(random, 0, 7);
    unsigned char *memory, *src = source(bytes, 7 - at, &memory);
    draw_table(random, dst_table, n);
    draw_table(random, src_table, n);
    fill_with_indices(src, elements, kernel->bytes, 0);
    lay_guards(bytes);
    kernel->run(found + GUARD + at, src, n, with_dst ? dst_table : NULL, with_src ? src_table : NULL);
    for (int i = 0; i < n; i++)
        memcpy(expected + GUARD + at + (size_t)(with_dst ? dst_table[i] : i) * kernel->bytes,
               src + (size_t)(with_src ? src_table[i] : i) * kernel->bytes, kernel->bytes);
    if (!is_as_expected(bytes))
        fail_msg("%s: %d elements, tables %d %d", kernel->name, n, with_dst, with_src);
    free(memory);
}

static void test_gather(void **state)
{
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (size_t i = 0; i < COUNT(gathers); i++)
        for (int n = 0; n <= 70 && can_run(gathers[i].rung); n++)
            for (int tables = 0; tables < 4; tables++)
                check_gather(&gathers[i], &random, n, tables & 1, tables & 2);
}

/* ---- the dispatch ladder ---- */

static void put(tsr_kernels *kernels, size_t slot, const void *entry, size_t bytes)
{
    memcpy((char *)kernels + slot, entry, bytes);
}

/* What the list says: what comes later overwrites what came before. */
static void climb(tsr_kernels *kernels, unsigned flags)
{
    memset(kernels, 0, sizeof *kernels);
    for (size_t i = 0; i < COUNT(tiles); i++)
        if (has(flags, tiles[i].rung))
            put(kernels, tiles[i].slot, &(tsr_tile_entry){tiles[i].name, tiles[i].run}, sizeof(tsr_tile_entry));
    for (size_t i = 0; i < COUNT(gathers); i++)
        if (has(flags, gathers[i].rung))
            put(kernels, gathers[i].slot, &(tsr_gather_entry){gathers[i].name, gathers[i].run},
                sizeof(tsr_gather_entry));
    for (size_t i = 0; i < COUNT(rows); i++)
        if (has(flags, rows[i].rung))
            put(kernels, rows[i].slot, &rows[i].run, sizeof(tsr_row_kernel));
    for (size_t i = 0; i < COUNT(affines); i++)
        if (has(flags, affines[i].rung))
            put(kernels, affines[i].slot, &affines[i].run, sizeof(tsr_affine_kernel));
}

static void assert_same_tile(const tsr_tile_entry *a, const tsr_tile_entry *b)
{
    assert_string_equal(a->name, b->name);
    assert_true(a->run == b->run);
}

static void check_ladder(unsigned flags)
{
    tsr_kernels made, listed;
    tsr_kernels_init(&made, flags);
    climb(&listed, flags);
    for (int width = 0; width < TSR_WIDTHS; width++) {
        assert_same_tile(&made.copy[width], &listed.copy[width]);
        assert_same_tile(&made.transpose[width], &listed.transpose[width]);
        assert_same_tile(&made.strided[width], &listed.strided[width]);
        assert_string_equal(made.gather[width].name, listed.gather[width].name);
        assert_true(made.gather[width].run == listed.gather[width].run);
    }
    for (int type = 0; type < TSR_DTYPE_COUNT; type++) {
        tsr_row_kernel load_odd = type == TSR_S32 ? listed.load_odd[type] : listed.load[type];
        tsr_row_kernel load64_odd = type == TSR_S64 ? listed.load64_odd[type] : listed.load64[type];
        assert_true(made.load[type] == listed.load[type] && made.store[type] == listed.store[type]);
        assert_true(made.load64[type] == listed.load64[type] && made.store64[type] == listed.store64[type]);
        assert_true(made.load_odd[type] == load_odd && made.load64_odd[type] == load64_odd);
        assert_true(made.store64_odd[type] == listed.store64_odd[type]);
    }
    assert_true(made.affine == listed.affine && made.affine64 == listed.affine64);
}

static void test_ladder(void **state)
{
    (void)state;
    static const unsigned flags[] = {
        0, TSR_CPU_AVX2, TSR_CPU_AVX512 | TSR_CPU_AVX2, TSR_CPU_AVX512, TSR_CPU_NEON, TSR_CPU_ALL};
    for (size_t i = 0; i < COUNT(flags); i++)
        check_ladder(flags[i]);
    check_ladder(tsr_cpu_detected());
}

/* Without flags everything is there, and everything is C. */
static void test_c_alone(void **state)
{
    tsr_kernels kernels;
    (void)state;
    tsr_kernels_init(&kernels, 0);
    for (int width = 0; width < TSR_WIDTHS; width++) {
        const char *const names[] = {kernels.copy[width].name, kernels.transpose[width].name,
                                     kernels.strided[width].name, kernels.gather[width].name};
        for (size_t i = 0; i < COUNT(names); i++)
            assert_string_equal(strrchr(names[i], '_'), "_c");
    }
    assert_true(kernels.affine == tsr_affine_c && kernels.affine64 == tsr_affine64_c);
    for (int type = 0; type < TSR_DTYPE_COUNT; type++) {
        bool narrow = type == TSR_F16 || type == TSR_BF16 || type == TSR_S8 || type == TSR_U8 || type == TSR_S16 ||
                      type == TSR_U16 || type == TSR_S32 || type == TSR_BOOL;
        bool wide = type == TSR_F32 || type == TSR_S32 || type == TSR_S64;
        assert_true((kernels.load[type] != NULL) == narrow && (kernels.store[type] != NULL) == narrow);
        assert_true((kernels.load64[type] != NULL) == wide && (kernels.store64[type] != NULL) == wide);
        assert_true((kernels.store64_odd[type] != NULL) == (type == TSR_F32));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_gather),
        cmocka_unit_test(test_ladder),
        cmocka_unit_test(test_c_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
