/* SPDX-License-Identifier: Apache-2.0 */
/* Destinations of many cache lines, written past the caches and through them: every motion, at every address, on
 * every rung. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <tessera/cpu.h>

#include "base/topology.h"
#include "reorder/ahead.h"

#include "random.h"
#include "workload.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { GUARD = 64 };

/* Tiles of several kinds: whole and cut, side by side and apart, with rows that do and do not begin on a cache line. */
static const char *const problems[] = {
    "u64:[a40:20,a16:1]@a3>u64:[a50:12,a12:1] 600",
    "s64:[a1393:8]>f16:a 1393 scale",
    "u8:ab>u8:ba 71x1100",
    "u8:ab>u8:ba 330x80",
    "u16:ab>u16:ba 128x256",
    "u16:ab>u16:ba 300x77",
    "f32:ab>f32:ba 160x64",
    "f32:ab>f32:ba 150x67",
    "f32:ab>f32:ba 65x1030",
    "f64:ab>f64:ba 100x75",
    "u8:nhwc>u8:nchw 1x3x33x150",
    "f32:nchw>f32:nhwc 2x3x17x80",
    "u16:nhwc>u16:nchw 1x4x20x131",
    "f64:nchw>f64:nhwc 1x8x20x31",
    "f32:nchw>f32:nChw16c 1x35x9x17",
    "f32:nChw16c>f32:nchw 1x35x9x17",
    "f32:nhwc>f32:nChw16c 1x40x11x13",
    "f32:nchw>f32:nChw16c 1x3x33x17",
    "f32:nhwc>f32:nChw16c 1x3x33x17",
    "bf16:nchw>bf16:nChw32c 2x5x33x17",
    "s64:nchw>s64:nChw32c 1x1x16x9",
    "u8:nhwc>u8:nChw64c 2x4x21x17",
    "f32:nChw16c>f32:nChw8c 1x40x11x13",
    "f32:oihw>f32:OIhw16i16o 40x36x3x3",
    "s8:oihw>s8:OIhw4i16o4i 40x36x3x3",
    "bf16:oihw>bf16:OIhw8i16o2i 40x36x3x3",
    "f32:hwio>f32:oihw 40x36x3x3",
    "f32:abcd>f32:acbd 3x17x5x40",
    "f32:abcd>f32:dcba 9x10x11x12",
    "u8:a>u8:a 40000",
    "u8:ab>u8:[a7:6001,b6000:1] 7x6000",
    "u8:aBc12b>u8:aBc8b 1x103x40",
    "u16:[a80:300,b99:3]>u16:ab 80x99",
    "u8:nhwc>f32:nchw 1x3x33x150 scale[1] mean[1]",
    "u8:nhwc>f32:nchw 2x3x32x64 scale[1] mean[1]",
    "u8:nhwc>bf16:nchw 2x4x32x64 scale[1] mean[1]",
    "u8:nhwc>f16:nchw 1x3x32x48",
    "f32:nhwc>f32:nchw 2x3x32x64 scale[1] mean[1]",
    "f32:nhwc>bf16:nchw 1x4x33x63 scale[1] shift[1]",
    "f32:nchw>f32:nhwc 1x3x33x47 mean[1] scale[1]",
    "f32:nchw>u8:nhwc 1x3x33x150 scale[1] mean",
    "f32:nchw>bf16:nhwc 2x4x33x47 scale[1]",
    "f16:nchw>u8:nhwc 1x3x31x45",
    "f32:nchw>s8:nhwc 1x70x17x9 scale[1]",
    "s8:nhwc>f32:nchw 1x70x17x9 scale[1] mean[1]",
    "f32:nchw>bf16:nChw16c 1x70x17x9",
    "f32:a>s8:a 20000 scale",
    "f16:aBc12b>f32:aBc8b 1x103x40 scale[1]",
    "u8:nchw>u8:nChw16c 1x3x33x50",
    "u8:nhwc>u8:nChw16c 2x5x19x31",
    "bf16:nchw>bf16:nChw8c 1x1x33x50",
    "f64:nchw>f64:nChw32c 1x9x17x13",
    "u8:nchw>f64:nChw32c 1x29x17x13 scale[1] mean[1] shift[1]",
    "u8:nhwc>f32:nChw16c 1x3x33x50 scale[1] mean[1] shift[1]",
    "u8:nChw16c>f32:nhwc 1x48x11x13 scale[1] mean[1]",
    "bf16:nhwc>f32:nChw16c 1x48x11x13 scale[1]",
    "s8:nhwc>f32:nChw16c 2x48x11x13 scale[2]",
    "f32:nchw>s8:nChw16c 1x3x33x50 scale[1] mean shift",
    "f64:nChw8c>u8:nChw16c 1x19x13x11 mean shift",
    "u16:[a80:300,b9:3]>u16:aB16b 80x9",
    "u8:abc>u8:bac 70x90x3",
    "u8:abc>u8:bac 65x531x5",
    "u8:abc>u8:[b90:220,a40:5,c5:1]+3 40x90x5",
    "f32:nChw8c>f32:nhwc 1x4x99x71",
    "u8:nChw16c>f32:nhwc 1x3x99x71",
    "u8:nChw8c>f32:nhwc 1x3x33x90 scale[1] mean[1]",
    "u8:nhwc>f32:nhwc 1x3x99x71 scale[1] mean[1] reverse[1]",
    "u16:abc>u16:bac 67x131x3",
    "f32:abcd>f32:acbd 2x67x131x3",
    "u8:abc>u8:bac 650x31x13",
    "u8:nhwc>u8:nchw 1x3x33x150 reverse[1]",
    "u8:nhwc>u8:nchw 2x3x33x150 reverse[2]",
    "u8:nhwc>f32:nchw 2x3x33x150 scale[1] mean[1] reverse[2]",
    "u8:nhwc>u8:nhwc 1x3x33x150 reverse[3]",
    "u8:nhwc>f32:nchw 1x3x33x150 scale[1] mean[1] reverse[1]",
    "f32:nchw>f32:nhwc 2x3x17x80 reverse[1] reverse[3]",
    "f16:nhwc>bf16:nChw16c 1x48x11x13", /* short rows that are converted in two steps */
    "u8:nhwc>bf16:nChw32c 1x80x5x7 scale[1]",
    "s8:nChw16c>s8:nhwc 1x48x11x13 scale[1] mean[1]",
    "s32:nhwc>bf16:nChw16c 1x48x11x13",
    "s8:oihw>bf16:ohwi 20x36x3x3 scale[0]",
    "u8:aB16b>bf16:AB16b16a 100x120 scale[1] shift[1]",
    "f16:Ab16a>s8:ab 100x33 scale[1] shift[1]",
    "u8:aB2048b>s8:ba 8x1100 scale[0]",          /* more pixels than there are tables for */
    "f32:ab>f16:ba 704x40",                      /* converted, and then written in whole lines */
    "u16:abc>u16:[a3:250,c15:16,b16:1] 3x16x15", /* dense tiles that begin inside of lines, several in a call */
    "bf16:nhwc>f32:nChw16c 1x48x11x13",          /* runs that are converted: to lines, */
    "u8:nChw16c>f32:nhwc 1x48x11x13 scale mean",
    "s8:nChw32c>f32:nhwc 1x96x5x7 scale",
    "f16:nhwc>f32:nChw8c 1x40x11x13", /* to halves of them, */
    "f32:nChw16c>u8:nhwc 1x48x11x13 scale",
    "f32:nhwc>s8:nChw16c 1x256x8x9 mean shift",
    "s8:nhwc>f32:nChw16c 1x256x8x8", /* and to as many places as share a set */
    "f32:nhwc>f16:nChw32c 1x512x8x8",
    "f32:nhwc>f32:nChw16c 1x256x8x8",
    "f32:a>bf16:a 5000", /* long rows that are streamed as they are converted */
    "f16:a>f32:a 3001",
    "s32:a>f32:a 1500",
    "s64:a>s32:a 5000",
    "u64:a>u32:a 5000",
    "s32:a>u32:a 5000",
    "u32:a>s32:a 5000",
    "u16:a>s16:a 5000",
    "s16:a>u16:a 5000",
    "u32:a>s64:a 5000",
    "f8_e4m3:a>f32:a 5000",
    "f32:a>f8_e5m2:a 5000",
    "f32:a>q78:a 5000",
    "f32:a>u32:a 5000",
    "f32:ab>s8:ab 3x2100 scale[0]",
    "u8:ab>f16:ab 2x4100 scale[1] mean[1]", /* in two steps */
    "f32:ab>f32:ab 2x3100 scale[1] shift[1]",
    "u8:DBCA8a3c7b4d4d>f16:dacb 15x6x3x2 scale[1]", /* rows of factors that end inside of their period */
    "f32:ab>u16:[a2:1501,b1450:1] 2x1450 shift[1]",
    "u8:ab>u8:ba 512x70", /* long rows, whose lines begin inside of tiles at most addresses */
    "u8:abcd>u8:dcba 16x16x8x20",
    "u16:abc>u16:acb 2x320x40",
    "f32:abc>f32:cba 24x20x33",
    "f32:ab>f32:[b150:1072,a1024:1] 1024x150",
    "f64:ab>f64:ba 72x37",
    "f32:ab>f32:[b40:272,a260:1] 260x40",           /* the last tile has no line */
    "f32:abc>f32:[a20:1920,c24:80,b64:1] 20x64x24", /* several tiles in a call */
    "f64:ab>f64:aB16b 158x8",                       /* whole lines with others of zeros behind them, */
    "f32:nhwc>f32:nChw32c 1x20x11x13",              /* and parts of lines */
    "bf16:nhwc>bf16:nChw32c 1x7x11x13",
    "f32:oihw>f32:OIhw16o16i 32x3x7x7",
    "f32:nchw>f32:nhwc 2x64x9x7", /* rows that go on in the next ones: dense, */
    "bf16:nchw>bf16:nChw32c 2x64x9x7",
    "f32:abcd>f32:dcba 16x9x7x5", /* in those of another tile, */
    "u8:abcd>u8:dcba 64x9x7x50",
    "f64:abc>f64:cba 8x33x70",
    "f32:abc>f32:bac 40x9x32", /* and runs */
    "f32:abcd>f32:badc 9x7x5x64",
    "u8:abc>u8:bac 35x130x192",
};

/* One plan at several addresses; the bytes around the destination stay as they are. */
static void check(const workload *work, const tsr_reorder_options *options, const char *problem)
{
    static const size_t offsets[] = {0, 4, 16, 32, 61}, src_offsets[] = {0, 16, 8, 0, 61};
    tsr_plan *plan = NULL;
    const tsr_desc *src_desc = &work->problem.src, *dst_desc = &work->problem.dst;
    size_t src_bytes = (size_t)tsr_desc_size_bytes(src_desc), dst_bytes = (size_t)tsr_desc_size_bytes(dst_desc);
    size_t room = (dst_bytes + 3 * GUARD) / 64 * 64 + 64;
    unsigned char *src = aligned_alloc(64, (src_bytes + 2 * GUARD) / 64 * 64), *found = aligned_alloc(64, room),
                  *expected = malloc(room);
    unsigned char *defined = malloc(dst_bytes);
    assert_true(src && found && expected && defined);
    fill_awkward(src, src_bytes, 1);
    size_t src_at = 0;
    memset(defined, 0xcd, dst_bytes);
    assert_int_equal(tsr_reorder_by_definition(src_desc, src, dst_desc, defined, options, NULL), TSR_OK);
    assert_int_equal(tsr_plan_create(&plan, src_desc, dst_desc, options, NULL), TSR_OK);
    for (size_t i = 0; i < COUNT(offsets); i++) {
        const size_t at = GUARD + offsets[i];
        memmove(src + src_offsets[i], src + src_at, src_bytes);
        src_at = src_offsets[i];
        memset(found, 0xcd, room);
        memset(expected, 0xcd, room);
        memcpy(expected + at, defined, dst_bytes);
        assert_int_equal(tsr_plan_run(plan, src + src_at, found + at, NULL), TSR_OK);
        if (memcmp(found, expected, room) != 0)
            fail_msg("%s from %zu to %zu, %d threads, streaming %d, %s", problem, src_at, offsets[i], options->threads,
                     (int)options->streaming, tsr_cpu_rung_name(tsr_cpu_flags()));
    }
    free(src);
    free(found);
    free(expected);
    free(defined);
    tsr_plan_free(&plan);
}

/* On every rung; or with TSR_TEST_RUNG on one alone, the highest of a CPU that is emulated for it. */
static void test_all(void **state)
{
    static const unsigned masks[] = {0, TSR_CPU_SSE41, TSR_CPU_AVX2, TSR_CPU_AVX2 | TSR_CPU_AVX512, TSR_CPU_ALL};
    const size_t first = getenv("TSR_TEST_RUNG") ? COUNT(masks) - 1 : 0;
    (void)state;
    for (size_t i = 0; i < COUNT(problems); i++) {
        workload work;
        assert_int_equal(workload_init(&work, problems[i], NULL), TSR_OK);
        for (size_t m = first; m < COUNT(masks); m++) {
            tsr_cpu_set_mask(masks[m]);
            if (masks[m] != TSR_CPU_ALL && (tsr_cpu_flags() != masks[m] || masks[m] == tsr_cpu_detected()))
                continue; /* there is no such rung, or it is the highest one */
            for (int threads = 0; threads <= 2; threads++) {
                tsr_reorder_options options = work.options;
                options.threads = threads > 0 ? threads : 1;
                options.streaming = threads == 0 ? TSR_STREAMING_NEVER : TSR_STREAMING_ALWAYS;
                check(&work, &options, problems[i]);
            }
        }
        workload_reset(&work);
    }
    tsr_cpu_set_mask(TSR_CPU_ALL);
}

/* Tiles of every length, asked for or as long as scratch memory allows, of all pairs of widths. */
static void test_tiles(void **state)
{
    static const char *const wide[] = {
        "u8:ab>u8:ba 1100x130",
        "u16:ab>u16:ba 700x70",
        "f32:ab>f32:ba 900x40",
        "f64:ab>f64:ba 800x20",
        "u8:ab>u16:ba 700x130",
        "u8:ab>f32:ba 700x130",
        "u8:ab>f64:ba 700x130",
        "u16:ab>u8:ba 700x70",
        "u16:ab>f32:ba 700x70",
        "u16:ab>f64:ba 700x70",
        "f32:ab>u8:ba 700x40 scale",
        "f32:ab>f16:ba 700x40",
        "f32:ab>f64:ba 700x40 mean",
        "f64:ab>u8:ba 700x20",
        "f64:ab>bf16:ba 700x20",
        "f64:ab>f32:ba 700x20",
        "s8:ab>f16:ba 700x130 mean",
        "f32:oihw>f32:OIhw16i16o 40x36x3x3",
        "u8:abc>u4:cba 2x6x1023 scale[1]",
    };
    static const int64_t bytes[] = {1, 10, 60, 64, 300, 512, 2000, INT64_MAX};
    (void)state;
    for (size_t i = 0; i < COUNT(wide); i++) {
        workload work;
        assert_int_equal(workload_init(&work, wide[i], NULL), TSR_OK);
        for (size_t b = 0; b < COUNT(bytes); b++)
            for (int streaming = TSR_STREAMING_NEVER; streaming <= TSR_STREAMING_ALWAYS; streaming++) {
                tsr_reorder_options options = work.options;
                options.tile_bytes = bytes[b];
                options.threads = 1 + (int)b % 2;
                options.streaming = (tsr_streaming)streaming;
                tsr_cpu_set_mask(i % 3 == 0 ? 0 : b % 2 ? TSR_CPU_AVX2 : TSR_CPU_ALL);
                check(&work, &options, wide[i]);
            }
        workload_reset(&work);
    }
    tsr_cpu_set_mask(TSR_CPU_ALL);
}

/* Caches so small that they do not hold a tensor, or only the last one does, which is near or is not; or near, and the
 * first one has a single set, which is deep, so that all rows crowd it. Emulators take every other one, in turns. */
static void test_machines(void **state)
{
    static const char *const large[] = {
        "u8:ab>u8:ba 2048x130",      "u8:ab>u8:ba 2049x330",        "u16:ab>u16:ba 1024x400",
        "u16:ab>u16:ba 700x400",     "f32:ab>f32:ba 512x400",       "f32:ab>f32:ba 1025x300",
        "f64:ab>f64:ba 513x200",     "f64:ab>f64:ba 256x150",       "f32:nChw16c>f32:nchw 1x32x32x16",
        "f32:ab>u8:ba 512x70",       "f32:abcd>f32:acbd 3x17x5x48", "u8:ab>f32:ba 512x70",
        "u8:nhwc>u8:nchw 3x130x7x9", "u16:nhwc>u16:nchw 5x70x5x7",  "f32:abc>f32:acb 7x15x33",
    };
    const bool is_emulated = tsr_random_is_asked("TSR_TEST_SHORT");
    (void)state;
    for (size_t i = 0; i < COUNT(problems) + COUNT(large); i++) {
        const char *problem = i < COUNT(problems) ? problems[i] : large[i - COUNT(problems)];
        workload work;
        assert_int_equal(workload_init(&work, problem, NULL), TSR_OK);
        for (int kind = is_emulated ? (int)(i / 2 % 2) : 0; kind < 6; kind += is_emulated ? 2 : 1) {
            static tsr_topology machine; /* outlives a check that fails */
            const bool is_deep = kind >= 4;
            machine = *tsr_topology_machine();
            machine.has_near_l3 = is_deep || kind % 2 == 0;
            machine.l1_bytes = is_deep ? 12 * 64 : 8 * 64;
            machine.l1_period_bytes = is_deep ? 64 : 4096;
            machine.l2_bytes = 1024;
            machine.l3_bytes = kind < 2 || kind == 4 ? 2048 : INT64_C(1) << 30;
            work.options.threads = 1 + (int)i % 2;
            tsr_cpu_set_mask(i % 4 == 3 ? TSR_CPU_AVX2 : TSR_CPU_ALL);
            tsr_topology_pretend(&machine);
            check(&work, &work.options, problem);
            tsr_topology_pretend(NULL);
        }
        workload_reset(&work);
    }
    tsr_cpu_set_mask(TSR_CPU_ALL);
}

/* A stream that asks for what is read next writes its bytes and no others, wherever these and the runs begin. */
static void test_stream_and_fetch(void **state)
{
    enum { MOST = 5000, OFFSETS = 65, RUNS = 8 << 10 };
    static const unsigned masks[] = {0, TSR_CPU_AVX2, TSR_CPU_ALL};
    static const int64_t sizes[] = {1, 63, 64, 1000, 1024, 1089, 2048, MOST};
    static const tsr_runs runs[] = {{.n = 0},
                                    {.n = 1, .bytes = RUNS},
                                    {.n = 60, .bytes = 125, .pitch = 130},
                                    {.first = 70, .n = 20, .bytes = 1, .pitch = 64}};
    static char src[MOST + OFFSETS], next[RUNS];
    static union {
        max_align_t aligned;
        char bytes[TSR_CACHE_LINE + MOST + OFFSETS + GUARD];
    } dst;
    (void)state;
    for (size_t i = 0; i < sizeof src; i++)
        src[i] = (char)(1 + i % 100);
    for (size_t mask = 0; mask < COUNT(masks); mask++) {
        tsr_kernels kernels;
        tsr_kernels_init(&kernels, masks[mask] & tsr_cpu_detected());
        for (size_t i = 0; i < COUNT(sizes) * COUNT(runs); i++)
            for (int64_t offset = 0; offset < OFFSETS; offset += 7) {
                const int64_t bytes = sizes[i / COUNT(runs)];
                char *to = dst.bytes + TSR_CACHE_LINE + offset;
                memset(dst.bytes, 0, sizeof dst.bytes);
                tsr_stream_and_fetch(&kernels, to, src + offset / 2, bytes, next, &runs[i % COUNT(runs)]);
                assert_memory_equal(to, src + offset / 2, (size_t)bytes);
                for (const char *at = dst.bytes; at < dst.bytes + sizeof dst.bytes; at++)
                    if (*at != 0 && (at < to || at >= to + bytes))
                        fail_msg("%d bytes to %d: written at %d", (int)bytes, (int)offset, (int)(at - to));
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_machines),
        cmocka_unit_test(test_stream_and_fetch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
