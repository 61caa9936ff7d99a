/* SPDX-License-Identifier: Apache-2.0 */
/* The dispatch ladder: which kernel of the list a set of CPU flags gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel_cases.h"

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
    for (size_t i = 0; i < COUNT(streams); i++)
        if (has(flags, streams[i].rung)) {
            kernels->stream = streams[i].run;
            kernels->fence = streams[i].fence;
        }
    for (size_t i = 0; i < COUNT(rows); i++)
        if (has(flags, rows[i].rung))
            put(kernels, rows[i].slot, &rows[i].run, sizeof(tsr_row_kernel));
    for (size_t i = 0; i < COUNT(runs); i++)
        if (has(flags, runs[i].rung))
            put(kernels, runs[i].slot, &runs[i].run, sizeof(tsr_runs_kernel));
    for (size_t i = 0; i < COUNT(affines); i++)
        if (has(flags, affines[i].rung))
            put(kernels, affines[i].slot, &affines[i].run, sizeof(tsr_row_kernel));
    for (size_t i = 0; i < COUNT(packers); i++)
        if (has(flags, packers[i].rung))
            put(kernels, packers[i].slot, &packers[i].run, sizeof(tsr_packed_kernel));
    for (size_t i = 0; i < COUNT(row_packers); i++)
        if (has(flags, row_packers[i].rung))
            put(kernels, row_packers[i].slot, &row_packers[i].run, sizeof(tsr_tile_kernel));
    for (size_t i = 0; i < COUNT(pixel_converters); i++)
        if (pixel_converters[i].run && has(flags, pixel_converters[i].rung))
            put(kernels, pixel_converters[i].slot, &pixel_converters[i].run, sizeof(tsr_pixels_kernel));
    for (size_t i = 0; i < COUNT(pairs); i++)
        if (pairs[i].run && has(flags, pairs[i].rung))
            put(kernels, pairs[i].slot, &pairs[i].run, sizeof(tsr_row_kernel));
    for (size_t i = 0; i < COUNT(maps); i++)
        if (maps[i].run && has(flags, maps[i].rung))
            put(kernels, maps[i].slot, &maps[i].run, sizeof(tsr_row_kernel));
}

static void assert_same_tile(const tsr_tile_entry *a, const tsr_tile_entry *b)
{
    assert_string_equal(a->name, b->name);
    assert_true(a->run == b->run);
}

static void assert_same_rows(const tsr_kernels *made, const tsr_kernels *listed, tsr_dtype type)
{
    const bool is_32 = type == TSR_S32 || type == TSR_U32, is_64 = type == TSR_S64 || type == TSR_U64;
    tsr_row_kernel load_odd = is_32 ? listed->load_odd[type] : listed->load[type];
    tsr_row_kernel load64_odd = is_64 ? listed->load64_odd[type] : listed->load64[type];
    assert_true(made->load[type] == listed->load[type] && made->store[type] == listed->store[type]);
    assert_true(made->load64[type] == listed->load64[type] && made->store64[type] == listed->store64[type]);
    assert_true(made->load_odd[type] == load_odd && made->load64_odd[type] == load64_odd);
    assert_true(made->store64_odd[type] == listed->store64_odd[type]);
    assert_true(made->limit[type] == listed->limit[type] && made->stream_limit[type] == listed->stream_limit[type]);
    assert_true(made->narrow[type] == listed->narrow[type] && made->widen[type] == listed->widen[type]);
    assert_true(made->stream_load[type] == listed->stream_load[type]);
    assert_true(made->stream_store[type] == listed->stream_store[type]);
    assert_true(made->load_runs[type] == listed->load_runs[type]);
    assert_true(made->store_runs[type] == listed->store_runs[type]);
    assert_true(made->add_runs[type] == listed->add_runs[type]);
#define ASSERT_SAME_FROM(src, dst, what)                                                                               \
    assert_true(made->from_##src[type] == listed->from_##src[type]);                                                   \
    assert_true(made->from_##src##_runs[type] == listed->from_##src##_runs[type]);
    TSR_FOR_SOURCES(ASSERT_SAME_FROM, type, rows)
#undef ASSERT_SAME_FROM
    assert_true(made->periodic_F32[type] == listed->periodic_F32[type]);
    assert_true(made->add_F32[type] == listed->add_F32[type]);
    assert_true(made->periodic_F16[type] == listed->periodic_F16[type]);
    assert_true(made->add_F16[type] == listed->add_F16[type]);
    assert_true(made->periodic_BF16[type] == listed->periodic_BF16[type]);
    assert_true(made->add_BF16[type] == listed->add_BF16[type]);
    assert_true(made->periodic_S8[type] == listed->periodic_S8[type]);
    assert_true(made->add_S8[type] == listed->add_S8[type]);
    assert_true(made->periodic_U8[type] == listed->periodic_U8[type]);
    assert_true(made->add_U8[type] == listed->add_U8[type]);
    assert_true(made->pixels_F32[type] == listed->pixels_F32[type]);
    assert_true(made->pixels_S8[type] == listed->pixels_S8[type]);
    assert_true(made->pixels_U8[type] == listed->pixels_U8[type]);
    assert_true(made->padded_pixels_S8[type] == listed->padded_pixels_S8[type]);
    assert_true(made->padded_pixels_U8[type] == listed->padded_pixels_U8[type]);
    assert_true(made->joined_pixels_F32[type] == listed->joined_pixels_F32[type]);
    assert_true(made->joined_pixels_F16[type] == listed->joined_pixels_F16[type]);
    assert_true(made->joined_pixels_BF16[type] == listed->joined_pixels_BF16[type]);
    assert_true(made->unpack[type] == listed->unpack[type] && made->pack[type] == listed->pack[type]);
    assert_true(made->unpack_rows[type] == listed->unpack_rows[type]);
    assert_true(made->pack_rows[type] == listed->pack_rows[type]);
}

static void check_ladder(unsigned flags)
{
    tsr_kernels made, listed;
    tsr_kernels_init(&made, flags);
    climb(&listed, flags);
    assert_same_tile(&made.copy[0], &listed.copy[0]);
    assert_same_tile(&made.copy_padded[0], &listed.copy_padded[0]);
    assert_same_tile(&made.scatter[0], &listed.scatter[0]);
    assert_same_tile(&made.part_halves[0], &listed.part_halves[0]);
    assert_same_tile(&made.part_bits[0], &listed.part_bits[0]);
    for (int width = 0; width < TSR_WIDTHS; width++) {
        assert_same_tile(&made.pick[width], &listed.pick[width]);
        assert_same_tile(&made.shuffle[width], &listed.shuffle[width]);
        assert_same_tile(&made.transpose[width], &listed.transpose[width]);
        assert_true(made.transpose_padded[width].run == listed.transpose_padded[width].run); /* none of 16 bytes */
        assert_true(made.pad[width].run == listed.pad[width].run);                           /* likewise */
        assert_same_tile(&made.unpad[width], &listed.unpad[width]);
        assert_same_tile(&made.lines[width], &listed.lines[width]);
        assert_true(made.map[width] == listed.map[width] && made.stream_map[width] == listed.stream_map[width]);
        assert_true(made.maps[width] == listed.maps[width]);
        assert_same_tile(&made.interleave[width], &listed.interleave[width]);
        assert_same_tile(&made.deinterleave[width], &listed.deinterleave[width]);
    }
    assert_true(made.stream == listed.stream && made.fence == listed.fence);
    assert_true(made.writes_lines == ((flags & TSR_RUNG_avx512) == TSR_RUNG_avx512));
    assert_true(made.can_stream_lines == ((flags & TSR_RUNG_avx2) == TSR_RUNG_avx2));
    for (int type = 0; type < TSR_DTYPE_COUNT; type++)
        assert_same_rows(&made, &listed, (tsr_dtype)type);
    assert_true(made.affine == listed.affine && made.affine64 == listed.affine64);
    assert_true(made.stream_affine == listed.stream_affine);
}

static void test_ladder(void **state)
{
    (void)state;
    static const unsigned flags[] = {
        0, TSR_CPU_SSE41, TSR_CPU_AVX2, TSR_CPU_AVX512 | TSR_CPU_AVX2, TSR_CPU_AVX512, TSR_CPU_NEON, TSR_CPU_ALL};
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
        const char *const names[] = {kernels.copy[0].name,
                                     kernels.pick[width].name,
                                     kernels.shuffle[width].name,
                                     kernels.transpose[width].name,
                                     kernels.lines[width].name,
                                     kernels.interleave[width].name,
                                     kernels.deinterleave[width].name};
        for (size_t i = 0; i < COUNT(names); i++)
            assert_string_equal(strrchr(names[i], '_'), "_c");
    }
    assert_true(kernels.affine == tsr_affine_c && kernels.affine64 == tsr_affine64_c);
    assert_true(kernels.stream == tsr_stream_c);
    for (int type = 0; type < TSR_DTYPE_COUNT; type++) {
        const bool is_32 = type == TSR_S32 || type == TSR_U32, is_64 = type == TSR_S64 || type == TSR_U64;
        const bool is_narrow = tsr_dtype_bits((tsr_dtype)type) > 1 && tsr_dtype_bits((tsr_dtype)type) <= 16;
        const bool is_converted = (is_narrow && type != TSR_S4 && type != TSR_U4) || is_32;
        const bool is_wide = type == TSR_F32 || is_32 || is_64;
        assert_true((kernels.load[type] != NULL) == (is_converted || is_64));
        assert_true((kernels.store[type] != NULL) == is_converted);
        assert_true((kernels.load64[type] != NULL) == is_wide);
        assert_true((kernels.store64[type] != NULL) == (is_wide || type == TSR_NF4));
        assert_true((kernels.narrow[type] != NULL) == is_32 && (kernels.widen[type] != NULL) == is_32);
        assert_true((kernels.store64_odd[type] != NULL) == (type == TSR_F32));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ladder),
        cmocka_unit_test(test_c_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
