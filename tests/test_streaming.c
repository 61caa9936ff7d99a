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
#include "reorder/plan.h"
#include "reorder/relay.h"

#include "right.h"
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
    "f32:nchw>u8:nhwc 1x3x33x150 scale[1] mean",
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
    "u8:nhwc>u8:nchw 1x3x33x150 reverse[1]",
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
    "f32:ab>s8:ab 3x2100 scale[0]",
    "u8:ab>f16:ab 2x4100 scale[1] mean[1]", /* in two steps */
    "f32:ab>f32:ab 2x3100 scale[1] shift[1]",
    "f32:ab>u16:[a2:1501,b1450:1] 2x1450 shift[1]",
    "u8:ab>u8:ba 512x70", /* long rows, whose lines begin inside of tiles at most addresses */
    "u8:abcd>u8:dcba 16x16x8x20",
    "u16:abc>u16:acb 2x320x40",
    "f32:abc>f32:cba 24x20x33",
    "f32:ab>f32:[b150:1072,a1024:1] 1024x150",
    "f64:ab>f64:ba 72x37",
    "f32:ab>f32:[b40:272,a260:1] 260x40",           /* the last tile has no line */
    "f32:abc>f32:[a20:1920,c24:80,b64:1] 20x64x24", /* several tiles in a call */
};

/* One plan at several addresses; the bytes around the destination stay as they are. */
static void check(const workload *work, const tsr_reorder_options *options, const char *problem)
{
    static const size_t offsets[] = {0, 4, 16, 32, 61};
    tsr_plan *plan = NULL;
    const tsr_desc *src_desc = &work->problem.src, *dst_desc = &work->problem.dst;
    size_t src_bytes = (size_t)tsr_desc_size_bytes(src_desc), dst_bytes = (size_t)tsr_desc_size_bytes(dst_desc);
    size_t room = (dst_bytes + 3 * GUARD) / 64 * 64 + 64;
    unsigned char *src = malloc(src_bytes), *found = aligned_alloc(64, room), *expected = malloc(room);
    assert_true(src && found && expected);
    fill_awkward(src, src_bytes, 1);
    assert_int_equal(tsr_plan_create(&plan, src_desc, dst_desc, options, NULL), TSR_OK);
    for (size_t i = 0; i < COUNT(offsets); i++) {
        size_t at = GUARD + offsets[i];
        memset(found, 0xcd, room);
        memset(expected, 0xcd, room);
        assert_int_equal(tsr_plan_run(plan, src, found + at, NULL), TSR_OK);
        assert_int_equal(tsr_reorder_by_definition(src_desc, src, dst_desc, expected + at, options, NULL), TSR_OK);
        if (memcmp(found, expected, room) != 0)
            fail_msg("%s at %zu, %d threads, streaming %d, %s", problem, offsets[i], options->threads,
                     (int)options->streaming, tsr_cpu_rung_name(tsr_cpu_flags()));
    }
    free(src);
    free(found);
    free(expected);
    tsr_plan_free(&plan);
}

static void test_all(void **state)
{
    static const unsigned masks[] = {0, TSR_CPU_SSE41, TSR_CPU_AVX2, TSR_CPU_AVX2 | TSR_CPU_AVX512, TSR_CPU_ALL};
    (void)state;
    for (size_t i = 0; i < COUNT(problems); i++) {
        workload work;
        assert_int_equal(workload_init(&work, problems[i], NULL), TSR_OK);
        for (size_t m = 0; m < COUNT(masks); m++) {
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
        "u8:ab>u8:ba 1100x130",      "u16:ab>u16:ba 700x70",      "f32:ab>f32:ba 900x40",
        "f64:ab>f64:ba 800x20",      "u8:ab>u16:ba 700x130",      "u8:ab>f32:ba 700x130",
        "u8:ab>f64:ba 700x130",      "u16:ab>u8:ba 700x70",       "u16:ab>f32:ba 700x70",
        "u16:ab>f64:ba 700x70",      "f32:ab>u8:ba 700x40 scale", "f32:ab>f16:ba 700x40",
        "f32:ab>f64:ba 700x40 mean", "f64:ab>u8:ba 700x20",       "f64:ab>bf16:ba 700x20",
        "f64:ab>f32:ba 700x20",      "s8:ab>f16:ba 700x130 mean", "f32:oihw>f32:OIhw16i16o 40x36x3x3",
    };
    static const int64_t bytes[] = {1, 60, 64, 300, 512, 2000, INT64_MAX};
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

/* Caches so small that they do not hold a tensor, or only the last one does, which is near or is not. */
static void test_machines(void **state)
{
    static const char *const large[] = {
        "u8:ab>u8:ba 2048x130",  "u8:ab>u8:ba 2049x330",        "u16:ab>u16:ba 1024x400",
        "u16:ab>u16:ba 700x400", "f32:ab>f32:ba 512x400",       "f32:ab>f32:ba 1025x300",
        "f64:ab>f64:ba 513x200", "f64:ab>f64:ba 256x150",       "f32:nChw16c>f32:nchw 1x32x32x16",
        "f32:ab>u8:ba 512x70",   "f32:abcd>f32:acbd 3x17x5x48", "u8:ab>f32:ba 512x70",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(problems) + COUNT(large); i++) {
        const char *problem = i < COUNT(problems) ? problems[i] : large[i - COUNT(problems)];
        workload work;
        assert_int_equal(workload_init(&work, problem, NULL), TSR_OK);
        for (int kind = 0; kind < 4; kind++) {
            static tsr_topology machine; /* outlives a check that fails */
            machine = *tsr_topology_machine();
            machine.has_near_l3 = kind % 2 == 0;
            machine.l1_bytes = 512;
            machine.l2_bytes = 1024;
            machine.l3_bytes = kind < 2 ? 2048 : INT64_C(1) << 30;
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

/* ---- what is streamed ---- */

/* Of a machine whose last cache is near or not, that has a rung. */
static tsr_plan *plan_of_machine(const char *text, bool is_near, unsigned rung, const tsr_reorder_options *options)
{
    static tsr_topology machine;
    tsr_problem problem;
    tsr_plan *plan = NULL;
    machine = *tsr_topology_machine();
    machine.has_near_l3 = is_near;
    machine.l1_bytes = 48 << 10;
    machine.l2_bytes = is_near ? 1 << 20 : 2 << 20;
    machine.l3_bytes = is_near ? 32 << 20 : 260 << 20;
    assert_int_equal(tsr_problem_parse(&problem, text, NULL), TSR_OK);
    tsr_cpu_set_mask(rung);
    tsr_topology_pretend(&machine);
    assert_int_equal(tsr_plan_create(&plan, &problem.src, &problem.dst, options, NULL), TSR_OK);
    tsr_topology_pretend(NULL);
    tsr_cpu_set_mask(TSR_CPU_ALL);
    return plan;
}

static tsr_plan *plan_of_near_cache(const char *text, unsigned rung, const tsr_reorder_options *options)
{
    return plan_of_machine(text, true, rung, options);
}

/* Which transposes and conversions write past that cache in lines, and how many columns at once. */
static void test_lines(void **state)
{
    enum { AVX2 = TSR_CPU_AVX2, AVX512 = TSR_CPU_AVX2 | TSR_CPU_AVX512 };
    static const struct {
        const char *problem;
        unsigned rung;
        int threads;
        bool streams;
        int64_t columns; /* 0: any */
    } cases[] = {
        {"f32:ab>f32:ba 1008x3000", AVX512, 1, true, 16},
        {"f32:ab>f32:ba 1008x3000", AVX2, 1, true, 16},
        {"f32:ab>f32:ba 1008x3000", 0, 1, false, 0},
        {"f32:ab>f32:ba 1008x3000", AVX512, 2, true, 16},
        {"f32:ab>f32:ba 528x500", AVX512, 1, false, 0},   /* 2 MB */
        {"f32:ab>f32:ba 1200x1250", AVX512, 1, true, 16}, /* 12 MB */
        {"f32:ab>f32:ba 96x15000", AVX512, 1, true, 16},  /* rows 128 bytes apart, */
        {"f32:ab>f32:ba 64x23000", AVX512, 1, true, 16},  /* and 256, */
        {"f32:ab>f32:ba 64x23000", AVX512, 2, true, 16},  /* shared, */
        {"f32:ab>f32:ba 64x14000", AVX512, 1, true, 16},  /* 7.2 MB, and what is shared */
        {"f32:ab>f32:ba 64x14000", AVX512, 2, false, 16}, /* may have more */
        {"f32:ab>f32:ba 900x900", AVX512, 1, false, 64},  /* in the caches: four lines */
        {"u16:ab>u16:ba 1000x1000", AVX512, 1, false, 128},
        {"u8:ab>u8:ba 4096x4096", AVX512, 1, false, 320}, /* rows 4 KB apart, as long as scratch memory allows */
        {"u8:ab>u8:ba 4096x65536", AVX512, 1, true, 64},  /* columns 64 KB apart */
        {"u8:ab>u8:ba 1024x65536", AVX512, 1, true, 320}, /* as many as scratch memory would have room for */
        {"u16:ab>u16:ba 4096x4096", AVX512, 1, true, 32},
        {"f32:[a1008:3000,b3000:1]+3>f32:ba 1008x3000", AVX512, 1, true, 16},
        {"f32:ab>f32:ba 64x50000", AVX512, 1, true, 16},  /* rows 256 bytes apart */
        {"u16:ab>u16:ba 128x60000", AVX512, 1, true, 32}, /* also of narrow elements */
        {"f32:ab>f32:ba 512x6000", AVX512, 1, true, 16},  /* 2 KB */
        {"f32:ab>f32:ba 512x4000", AVX512, 1, true, 128}, /* 16 MB */
        {"f32:ab>f32:ba 512x4000", AVX2, 1, true, 64},
        {"f32:ab>f32:ba 128x25088", AVX512, 1, true, 16},     /* 512 bytes, and columns 100 KB apart */
        {"f32:ab>f32:ba 1024x3000", AVX512, 1, true, 16},     /* 4 KB */
        {"f32:ab>f32:ba 1024x1250", AVX512, 1, false, 0},     /* 10 MB */
        {"f32:abc>f32:acb 500x128x32", AVX512, 1, true, 128}, /* columns near each other, rows 512 bytes apart */
        {"f32:abc>f32:acb 500x128x32", AVX2, 1, true, 32},
        {"f64:abc>f64:acb 500x64x16", AVX2, 1, true, 32},
        {"f32:abc>f32:acb 100x1040x32", AVX512, 1, true, 64}, /* and 4160 */
        {"f32:abc>f32:acb 1000x64x32", AVX512, 1, true, 64},  /* whole rows of four lines */
        {"f32:nchw>f32:nChw16c 32x256x28x28", AVX512, 2, true, 16},
        {"f32:nChw16c>f32:nchw 32x256x28x28", AVX512, 1, true, 256}, /* columns are lines */
        {"bf16:nchw>bf16:nhwc 32x256x28x28", AVX512, 1, true, 256},
        {"bf16:nchw>bf16:nChw16c 32x256x28x28", AVX2, 1, true, 16}, /* dense rows of 32 bytes */
        {"bf16:nchw>bf16:nChw32c 32x256x28x28", AVX2, 1, true, 32},
        {"f32:oihw>f32:OIhw16i16o 512x512x3x3", AVX512, 1, true, 16}, /* in another order */
        {"f32:hwio>f32:oihw 512x512x3x3", AVX512, 1, true, 144},      /* lines end with every 16th of 9 pixels */
        {"f32:hwio>f32:oihw 256x256x3x3", AVX512, 1, false, 144},     /* and in the caches */
        {"bf16:hwio>bf16:oihw 512x512x3x3", AVX512, 1, true, 288},    /* with every 32nd */
        {"f32:hwio>f32:oihw 250x250x3x3", AVX512, 1, false, 63},      /* rows begin inside of lines */
        {"f32:hwio>f32:oihw 512x520x4x4", AVX512, 1, true, 16},       /* 16 pixels are a line */
        {"u8:nhwc>u8:nchw 64x12x224x224", AVX512, 1, false, 0},       /* so few rows that kernels fill no block */
        {"f32:nchw>f32:nhwc 1x3x1080x1920", AVX512, 1, true, 0},
        {"u8:nchw>u8:nhwc 1x3x1080x1920", AVX512, 1, false, 0}, /* 12 MB */
        {"f32:nhwc>f32:nchw 1x3x1080x1920", AVX512, 1, false, 0},
        {"f32:nchw>bf16:nhwc 32x96x56x56", AVX512, 1, true, 0}, /* converted first */
        {"f32:nchw>bf16:nhwc 32x256x28x28", AVX512, 1, true, 0},
        {"f32:nchw>bf16:nhwc 4x64x90x90", AVX512, 1, true, 0},        /* 12 MB, rows 128 bytes apart */
        {"f32:nchw>bf16:nhwc 2x128x90x90", AVX512, 1, true, 0},       /* and 256 */
        {"f32:oihw>f32:OIhw16i16o 384x400x3x3", AVX512, 1, true, 16}, /* 11 MB */
        {"f32:oihw>f32:OIhw16i16o 256x256x3x3", AVX512, 1, false, 0}, /* 5 MB */
        {"bf16:nhwc>f32:nchw 32x96x56x56", AVX512, 1, false, 0},
        {"bf16:nhwc>f32:nChw16c 32x256x28x28", AVX512, 1, true, 0}, /* runs that become lines */
        {"bf16:nhwc>f32:nChw16c 32x256x28x28", AVX2, 2, true, 0},
        {"bf16:nhwc>f32:nChw16c 32x256x28x28", 0, 1, false, 0},
        {"s8:nChw16c>f32:nhwc 4x256x56x56", AVX512, 1, true, 0},    /* 16 MB */
        {"bf16:nhwc>f32:nChw16c 1x256x56x56", AVX512, 1, false, 0}, /* 5 MB */
        {"bf16:nhwc>f32:nChw8c 32x256x28x28", AVX512, 1, false, 0}, /* half a line */
        {"f32:nhwc>bf16:nChw16c 32x256x28x28", AVX512, 1, false, 0},
    };
    const tsr_executor executor = {.run = NULL, .threads = 2}; /* of plans that are not run */
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const tsr_reorder_options options = {.threads = cases[i].threads, .executor = &executor};
        if ((tsr_cpu_detected() & cases[i].rung) != cases[i].rung)
            continue; /* what this machine cannot run, it has no plans for */
        tsr_plan *plan = plan_of_near_cache(cases[i].problem, cases[i].rung, &options);
        if (plan->principal->streams_lines != cases[i].streams ||
            (cases[i].columns && plan->principal->column.step != cases[i].columns))
            fail_msg("%s, rung %u, %d threads: expected lines to be streamed: %d, in %d columns; found %d and %d",
                     cases[i].problem, cases[i].rung, cases[i].threads, cases[i].streams, (int)cases[i].columns,
                     plan->principal->streams_lines, (int)plan->principal->column.step);
        tsr_plan_free(&plan);
    }
}

/* And those whose rows begin anywhere. */
static void test_found_lines(void **state)
{
    enum { AVX2 = TSR_CPU_AVX2, AVX512 = TSR_CPU_AVX2 | TSR_CPU_AVX512 };
    static const struct {
        const char *problem;
        unsigned rung;
        int threads;
        int64_t columns; /* 0: they are not found */
    } cases[] = {
        {"f32:ab>f32:ba 1001x3000", AVX512, 1, 368}, /* as many as scratch memory would have room for */
        {"f32:ab>f32:ba 1001x3000", AVX2, 2, 368},
        {"f32:ab>f32:ba 1001x3000", 0, 1, 0},
        {"u16:ab>u16:ba 1001x3000", AVX512, 1, 352}, /* 12 MB */
        {"f64:ab>f64:ba 1001x3000", AVX512, 1, 0},   /* of far columns */
        {"f64:ab>f64:ba 1001x3000", AVX2, 1, 376},
        {"f64:abc>f64:acb 60x1001x128", AVX512, 1, 376},                 /* of near ones */
        {"f32:ab>f32:[b3000:1008,a1008:1]+3 1008x3000", AVX512, 1, 368}, /* all as far behind a line */
        {"f32:ab>f32:ba 191x9000", AVX512, 1, 0},                        /* rows of less than 12 lines, */
        {"f32:ab>f32:ba 193x9000", AVX512, 1, 193},
        {"f32:ab>f32:ba 193x7000", AVX512, 2, 0},    /* 11 MB for two threads, */
        {"f32:ab>f32:ba 2000001x15", AVX512, 1, 0},  /* less than 16 of them */
        {"f32:ab>f32:ba 1001x1100", AVX512, 1, 0},   /* 9 MB, */
        {"f32:ab>f32:ba 1023x1100", AVX512, 1, 368}, /* where rows share sets */
        {"u8:ab>u8:ba 2501x2500", AVX512, 1, 0},     /* 12 MB */
        {"u8:ab>u8:ba 2501x3000", AVX512, 1, 320},   /* 15 MB, */
        {"u8:ab>u8:ba 2501x4097", AVX512, 1, 0},     /* where columns share sets */
        {"u16:ab>u16:ba 2501x4097", AVX512, 1, 352},
        {"u16:ab>u16:ba 2501x4097", AVX2, 1, 0},
    };
    const tsr_executor executor = {.run = NULL, .threads = 2}; /* of plans that are not run */
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const tsr_reorder_options options = {.threads = cases[i].threads, .executor = &executor};
        if ((tsr_cpu_detected() & cases[i].rung) != cases[i].rung)
            continue; /* what this machine cannot run, it has no plans for */
        tsr_plan *plan = plan_of_near_cache(cases[i].problem, cases[i].rung, &options);
        const tsr_box *box = plan->principal;
        const int64_t columns = box->finds_lines ? box->column.step : 0;
        if (columns != cases[i].columns || box->streams_lines)
            fail_msg("%s, rung %u, %d threads: expected lines to be found in %d columns, not in %d", cases[i].problem,
                     cases[i].rung, cases[i].threads, (int)cases[i].columns, (int)columns);
        tsr_plan_free(&plan);
    }
}

/* Of which columns more than a lane is read at once, where the last cache is near and where it is not. */
static void test_reads(void **state)
{
    static const struct {
        const char *problem;
        bool is_near, pairs, lines;
    } cases[] = {
        {"u8:ab>u8:ba 3000x5000", true, true, false},
        {"u8:ab>u8:ba 3000x5000", false, false, false},
        {"u8:ab>u8:ba 96x96", true, false, false},
        {"u8:ab>u8:ba 1000x1000", true, false, false}, /* which a near last cache holds */
        {"u8:ab>u8:ba 300x2048", false, true, false},  /* columns 2 KB apart */
        {"u8:ab>u8:ba 300x4096", false, true, true},   /* and 4 KB, of a destination whose rows are near each other */
        {"u8:ab>u8:ba 2049x4096", false, true, true},  /* or by way of scratch memory */
        {"u16:ab>u16:ba 300x4096", true, false, false},
    };
    const tsr_reorder_options options = {.threads = 1};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        tsr_plan *plan = plan_of_machine(cases[i].problem, cases[i].is_near, TSR_CPU_AVX2, &options);
        const tsr_box *box = plan->principal;
        if (box->reads_pairs != cases[i].pairs || box->reads_lines != cases[i].lines)
            fail_msg("%s, near %d: expected pairs %d and lines %d, found %d and %d", cases[i].problem, cases[i].is_near,
                     cases[i].pairs, cases[i].lines, box->reads_pairs, box->reads_lines);
        tsr_plan_free(&plan);
    }
}

/* Which tiles are one group of rows, and for which lines are fetched ahead. */
static void test_groups(void **state)
{
    static const struct {
        const char *problem;
        bool is_near;
        unsigned rung;
        bool is_whole, fetches;
    } cases[] = {
        {"f32:ab>f32:ba 40x40", false, TSR_CPU_AVX2, true, false}, /* in the first-level cache */
        {"f32:ab>f32:ba 500x500", false, TSR_CPU_AVX2, false, true},
        {"f32:ab>f32:ba 500x500", true, TSR_CPU_AVX2, true, false},
        {"f32:ab>f32:ba 500x500", true, TSR_CPU_AVX2 | TSR_CPU_AVX512, true, false},
        {"f64:nchw>f64:nChw16c 1x16x30x30", false, TSR_CPU_AVX2, false, true}, /* two lines of columns, or one */
        {"f64:nchw>f64:nChw8c 1x8x40x40", false, TSR_CPU_AVX2, true, false},
        {"u8:nchw>u8:nChw64c 1x64x40x40", false, TSR_CPU_AVX2 | TSR_CPU_AVX512, true, false},
    };
    const tsr_reorder_options options = {.threads = 1};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        if ((tsr_cpu_detected() & cases[i].rung) != cases[i].rung)
            continue;
        tsr_plan *plan = plan_of_machine(cases[i].problem, cases[i].is_near, cases[i].rung, &options);
        const tsr_box *box = plan->principal;
        const bool is_whole = box->scratch.rows == box->row.step;
        if (is_whole != cases[i].is_whole || box->fetches_ahead != cases[i].fetches)
            fail_msg("%s, near %d, rung %u: expected one group %d and to fetch %d, found %d and %d", cases[i].problem,
                     cases[i].is_near, cases[i].rung, cases[i].is_whole, cases[i].fetches, is_whole,
                     box->fetches_ahead);
        tsr_plan_free(&plan);
    }
}

/* Tiles of a chain are joined but for the last one, if it is shorter. Kernels of lower rungs take fewer rows at a time
 * than these have. */
static void test_joined_tiles(void **state)
{
    static const struct {
        const char *problem;
        int64_t tiles, joined;
    } cases[] = {
        {"f32:nchw>f32:nChw16c 1x16x64x64", 4, 4},
        {"f32:nchw>f32:nChw16c 1x16x60x60", 4, 3},
        {"f32:nchw>f32:nChw16c 1x16x9x9", 1, 0},
        {"f32:nchw>f32:nChw16c 5x16x9x9", 5, 5},
    };
    const tsr_reorder_options options = {.threads = 1};
    (void)state;
    for (size_t i = 0; i < COUNT(cases) && (tsr_cpu_detected() & TSR_CPU_AVX2); i++) {
        tsr_plan *plan = plan_of_near_cache(cases[i].problem, TSR_CPU_AVX2, &options);
        const tsr_box *box = plan->principal;
        if (box->items != cases[i].tiles || box->joined_tiles != cases[i].joined)
            fail_msg("%s: expected %d of %d tiles to be joined, found %d of %d", cases[i].problem, (int)cases[i].joined,
                     (int)cases[i].tiles, (int)box->joined_tiles, (int)box->items);
        tsr_plan_free(&plan);
    }
}

/* Both of these, pixels and conversions, where the last cache is far. */
static void test_far_cache(void **state)
{
    enum { AVX2 = TSR_CPU_AVX2, AVX512 = TSR_CPU_AVX2 | TSR_CPU_AVX512 };
    enum way { CACHES, LINES, FOUND, ROWS, SCRATCH, BUFFERS };
    static const char *const names[] = {"caches", "lines", "found lines", "rows", "scratch memory", "buffers"};
    static const struct {
        const char *problem;
        unsigned rung;
        enum way way;
        int64_t columns; /* 0: any */
    } cases[] = {
        {"f32:ab>f32:ba 1008x3000", AVX512, LINES, 64}, /* rows an odd number of lines apart */
        {"f32:ab>f32:ba 1008x3000", AVX2, LINES, 64},
        {"f32:ab>f32:ba 1008x3000", 0, SCRATCH, 0},
        {"u16:ab>u16:ba 992x3000", AVX512, LINES, 32},
        {"f32:ab>f32:ba 1008x200", AVX512, CACHES, 0},       /* 1.6 MB */
        {"f32:ab>f32:ba 1024x3000", AVX512, SCRATCH, 0},     /* 4 KB apart, */
        {"f32:ab>f32:ba 96x30000", AVX512, SCRATCH, 0},      /* and 128 bytes */
        {"u8:ab>u8:ba 4224x8192", AVX512, LINES, 64},        /* bytes, 69 MB */
        {"u8:ab>u8:ba 4224x1024", AVX512, SCRATCH, 0},       /* 9 MB */
        {"u16:abc>u16:acb 100x4096x12", AVX512, LINES, 128}, /* few rows */
        {"f32:ab>f32:ba 1001x3000", AVX512, FOUND, 64},
        {"f32:ab>f32:ba 1001x3000", AVX2, CACHES, 64},
        {"f32:ab>f32:ba 3001x3000", AVX2, FOUND, 64}, /* 72 MB */
        {"f32:abc>f32:acb 150x1001x49", AVX512, FOUND, 64},
        {"f32:abc>f32:acb 64x1001x49", AVX512, CACHES, 128},    /* which follow 49 rows of 26 MB */
        {"f32:oihw>f32:ohwi 512x512x3x3", AVX512, CACHES, 256}, /* 1 KB of each, as there are no more than 9; */
        {"f32:oihw>f32:OIhw4i16o4i 512x512x3x3", AVX512, CACHES, 256},
        {"f32:oihw>f32:hwio 512x512x3x3", AVX512, SCRATCH, 32}, /* 9 of many */
        {"f64:ab>f64:ba 1001x3000", AVX512, FOUND, 32},
        {"f64:ab>f64:ba 1001x3000", AVX2, FOUND, 32},
        {"u16:ab>u16:ba 1001x3000", AVX512, CACHES, 128},
        {"u16:ab>u16:ba 3001x6000", AVX512, FOUND, 128}, /* 72 MB */
        {"u16:ab>u16:ba 3001x6000", AVX2, SCRATCH, 0},
        {"u16:ab>u16:ba 2049x3000", AVX512, FOUND, 128}, /* rows that share sets */
        {"u8:ab>u8:ba 3001x3000", AVX512, CACHES, 256},
        {"u8:ab>u8:ba 2049x3000", AVX512, SCRATCH, 256},
        {"u8:ab>u8:ba 9001x9000", AVX512, FOUND, 256},
        {"f32:oihw>f32:OIhw16i16o 512x512x3x3", AVX512, CACHES, 0}, /* rows in another order */
        {"f32:ab>f32:ba 511x500", AVX512, CACHES, 256}, /* within the caches: rows 4 bytes less than 2 KB apart */
        {"f32:ab>f32:ba 513x500", AVX2, CACHES, 256},
        {"f32:ab>f32:ba 500x500", AVX512, CACHES, 64},
        {"f32:ab>f32:ba 1024x128", AVX512, CACHES, 0}, /* 1 MB, rows 4 KB apart */
        {"f32:ab>f32:ba 1024x128", AVX2, BUFFERS, 0},
        {"f32:nchw>f32:nhwc 1x3x1080x1920", AVX2, LINES, 0},
        {"f32:nhwc>f32:nchw 1x3x1080x1920", AVX2, LINES, 0},
        {"f32:nhwc>f32:nchw 1x3x1080x1920", AVX512, LINES, 0},
        {"f32:nhwc>f32:nchw 1x3x100x200", AVX512, CACHES, 0},  /* 480 KB */
        {"f32:nhwc>f32:nchw 9x3x225x225", AVX512, CACHES, 0},  /* rows begin inside of lines */
        {"u8:nhwc>f32:nchw 1x3x1080x1920", AVX512, CACHES, 0}, /* converted */
        {"f32:a>bf16:a 1000000", AVX512, ROWS, 0},
        {"u8:a>f32:a 1000000", AVX2, ROWS, 0},
        {"f32:a>bf16:a 200000", AVX512, CACHES, 0}, /* 1.2 MB */
        {"f32:a>f32:a 1000000", AVX512, CACHES, 0}, /* a copy, in order */
    };
    const tsr_reorder_options options = {.threads = 1};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        if ((tsr_cpu_detected() & cases[i].rung) != cases[i].rung)
            continue;
        tsr_plan *plan = plan_of_machine(cases[i].problem, false, cases[i].rung, &options);
        const tsr_box *box = plan->principal;
        const enum way way = box->finds_lines     ? FOUND
                             : box->streams_lines ? LINES
                             : box->streams_rows  ? ROWS
                             : box->streams       ? SCRATCH
                             : box->buffers       ? BUFFERS
                                                  : CACHES;
        if (way != cases[i].way || (cases[i].columns && box->column.step != cases[i].columns))
            fail_msg("%s, rung %u: expected %s, in %d columns; found %s, in %d", cases[i].problem, cases[i].rung,
                     names[cases[i].way], (int)cases[i].columns, names[way], (int)box->column.step);
        tsr_plan_free(&plan);
    }
}

/* A kernel, and how many of its columns it was asked to write past the caches; and one that always does. */
static tsr_tile_kernel counted, counted_finder;
static int64_t columns_past;

static void count_columns(void *dst, const void *src, const tsr_tile *tile)
{
    columns_past += tile->streams ? tile->columns : 0;
    counted(dst, src, tile);
}

static void count_found(void *dst, const void *src, const tsr_tile *tile)
{
    columns_past += tile->columns;
    counted_finder(dst, src, tile);
}

/* Of how many columns of a box that has one group of rows are there lines, at addresses that do not begin one? */
static void test_addresses(void **state)
{
    static const struct {
        const char *problem;
        size_t at; /* bytes behind a line */
        int64_t columns;
    } cases[] = {
        {"f32:ab>f32:ba 160x16", 0, 160},     {"f32:ab>f32:ba 160x16", 16, 144},
        {"f32:ab>f32:ba 160x16", 60, 144},    {"f32:ab>f32:ba 160x16", 2, 0}, /* inside of elements */
        {"f32:ab>f32:ba 48x16", 0, 48},       {"f32:ab>f32:ba 48x16", 16, 0}, /* short rows */
        {"u16:ab>u16:ba 512x16", 14, 480},    {"f64:ab>f64:ba 64x12", 8, 56},
        {"f32:ab>f32:ba 168x16", 16, 0}, /* each row begins elsewhere: */
        {"f32:ab>f32:ba 201x16", 0, 201},     {"f32:ab>f32:ba 201x16", 60, 201},
        {"f32:ab>f32:ba 201x16", 62, 0},      {"f64:ab>f64:ba 97x16", 8, 97},
        {"f32:ab>f32:ba 385x16", 4, 384},     /* a line's worth of the next tile, in which there is none */
        {"f32:ab>f32:ba 753x16", 4, 768},     /* of two tiles, */
        {"f64:abc>f64:acb 2x97x513", 8, 194}, /* and of two more, which leave one row for others */
    };
    const tsr_reorder_options options = {.threads = 1, .streaming = TSR_STREAMING_ALWAYS};
    static unsigned char src[1 << 20];
    static _Alignas(GUARD) unsigned char dst[sizeof src + GUARD];
    (void)state;
    if (!(tsr_cpu_detected() & TSR_CPU_AVX2))
        return; /* there are no such kernels */
    for (size_t i = 0; i < COUNT(cases); i++) {
        tsr_plan *plan = plan_of_near_cache(cases[i].problem, TSR_CPU_AVX2, &options);
        tsr_tile_entry *finder = &plan->kernels.lines[tsr_width_of_bytes(plan->moved.dst_bytes)];
        counted = plan->principal->kernel;
        counted_finder = finder->run;
        finder->run = count_found;
        columns_past = 0;
        assert_int_equal(plan->element_boxes, 1);
        plan->boxes[0].kernel = count_columns;
        assert_int_equal(tsr_plan_run(plan, src, dst + cases[i].at, NULL), TSR_OK);
        if (columns_past != cases[i].columns)
            fail_msg("%s at %zu: expected %d columns past the caches, found %d", cases[i].problem, cases[i].at,
                     (int)cases[i].columns, (int)columns_past);
        tsr_plan_free(&plan);
    }
}

/* Which transposes there go through scratch memory, but not past the caches, as the lines that they write share sets,
 * with each other or with those that they read. */
static void test_buffers(void **state)
{
    enum { AVX2 = TSR_CPU_AVX2, AVX512 = TSR_CPU_AVX2 | TSR_CPU_AVX512 };
    static const struct {
        const char *problem;
        unsigned rung;
        bool buffers;
    } cases[] = {
        {"f32:ab>f32:ba 1024x256", AVX512, true},
        {"f32:ab>f32:ba 1008x256", AVX512, false},
        {"f32:ab>f32:ba 512x256", AVX512, false},
        {"f32:oihw>f32:hwio 64x64x3x3", AVX512, false}, /* 9 rows to a set, which holds 12, */
        {"f32:oihw>f32:hwio 64x64x3x3", AVX2, false},
        {"f32:oihw>f32:hwio 64x64x4x4", AVX512, false}, /* 16, */
        {"f32:oihw>f32:hwio 64x64x4x4", AVX2, true},
        {"f32:oihw>f32:hwio 64x64x6x6", AVX512, true}, /* and 36 */
        {"f32:ab>f32:ba 513x513", AVX512, true}, /* rows and columns are one element more than half a page apart */
        {"f32:ab>f32:ba 513x513", AVX2, true},
        {"f32:ab>f32:ba 513x1025", AVX512, true},
        {"u16:ab>u16:ba 1025x1025", AVX512, true},
        {"u64:ab>u64:ba 257x257", AVX2, true},
        {"f32:ab>f32:ba 511x511", AVX512, false}, /* one less: */
        {"f32:ab>f32:ba 511x513", AVX512, false}, /* such lines meet where tiles are on a diagonal */
        {"f32:ab>f32:ba 514x514", AVX512, false},
        {"f32:ab>f32:ba 513x600", AVX512, false},
        {"f32:ab>f32:ba 257x257", AVX512, false},   /* a quarter of a page: more sets */
        {"f32:ab>f32:ba 1025x1025", AVX512, false}, /* so large that its lines are streamed */
        {"f64:ab>s64:ba 257x257", AVX512, false},   /* what is converted goes through scratch memory anyway */
    };
    const tsr_reorder_options options = {.threads = 1};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        if ((tsr_cpu_detected() & cases[i].rung) != cases[i].rung)
            continue; /* what this machine cannot run, it has no plans for */
        tsr_plan *plan = plan_of_near_cache(cases[i].problem, cases[i].rung, &options);
        if (plan->principal->buffers != cases[i].buffers)
            fail_msg("%s, rung %u: expected it to be buffered: %d", cases[i].problem, cases[i].rung, cases[i].buffers);
        tsr_plan_free(&plan);
    }
}

/* Which copies are streamed there, by way of scratch memory or from the source alone. */
static void test_copies(void **state)
{
    static const struct {
        const char *problem;
        bool streams, from_source;
    } cases[] = {
        {"f32:abc>f32:bac 700x700x20", true, false},   /* short runs */
        {"f32:abc>f32:bac 700x700x33", false, true},   /* 132 bytes */
        {"f32:abcd>f32:acbd 8x512x12x64", true, true}, /* whole lines */
        {"f32:abc>f32:bac 200x200x255", false, true},  /* 1020 bytes */
        {"f32:abc>f32:bac 200x200x257", true, true},   /* and 1028 */
        {"f32:abc>f32:bac 400x400x257", true, true},   /* 330 MB */
        {"f32:abc>f32:bac 50x60x257", false, true},    /* 6 MB */
    };
    const tsr_reorder_options options = {.threads = 1};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        tsr_plan *plan = plan_of_near_cache(cases[i].problem, TSR_CPU_ALL, &options);
        const tsr_box *box = plan->principal;
        if (box->streams != cases[i].streams || box->streams_source != cases[i].from_source)
            fail_msg("%s: expected it to be streamed: %d, from the source alone: %d", cases[i].problem,
                     cases[i].streams, cases[i].from_source);
        tsr_plan_free(&plan);
    }
}

/* How many places runs go to side by side there; 1 where they are taken as the destination has them. */
static void test_places(void **state)
{
    static const struct {
        const char *problem;
        int64_t places, rest;
    } cases[] = {
        {"f32:nhwc>f32:nChw16c 32x256x28x28", 16, 1},
        {"f32:nhwc>f32:nChw16c 32x1024x14x14", 64, 1},
        {"f32:nhwc>f32:nChw16c 8x2048x14x14", 64, 2},
        {"f32:nhwc>f32:nChw16c 1x4096x14x14", 1, 1},
        {"f32:nhwc>f32:nChw16c 1x256x56x56", 8, 2},  /* which share a set */
        {"f32:nhwc>f32:nChw16c 4x256x56x56", 16, 1}, /* and are streamed */
        {"f32:nhwc>f32:nChw16c 1x512x56x56", 16, 2},
        {"f32:nhwc>f32:nChw16c 1x512x32x32", 1, 1},
        {"bf16:nhwc>bf16:nChw16c 32x256x28x28", 1, 1}, /* half a line; */
        {"f32:nhwc>bf16:nChw16c 32x256x28x28", 16, 1}, /* converted */
        {"f32:nhwc>bf16:nChw16c 4x256x64x64", 8, 2},
        {"f32:nhwc>f32:nChw16c 1x256x4x4", 1, 1}, /* as many pixels as places */
    };
    const tsr_reorder_options options = {.threads = 1};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        tsr_plan *plan = plan_of_near_cache(cases[i].problem, TSR_CPU_ALL, &options);
        const tsr_box *box = plan->principal;
        const tsr_loop *first = &box->row.loop[0], *rest = &box->walk[0];
        const int64_t places = box->has_places ? first->n : 1;
        if (places != cases[i].places)
            fail_msg("%s: expected %d places, found %d", cases[i].problem, (int)cases[i].places, (int)places);
        while (cases[i].rest > 1 && rest < &box->walk[box->walk_count] && rest->src != places * first->src * 4)
            rest++;
        if (cases[i].rest > 1 && (rest >= &box->walk[box->walk_count - 1] || rest->n != cases[i].rest))
            fail_msg("%s: expected %d times that outside of the pixels", cases[i].problem, (int)cases[i].rest);
        tsr_plan_free(&plan);
    }
}

/* Of the steps of a relay, the last one alone may write what the caches have no room for. */
static void test_last_steps(void **state)
{
    static const struct {
        const char *problem;
        tsr_streaming streaming;
        bool streams;
    } cases[] = {
        {"f32:aBc12b>f32:aBc8b 16x240x12544", TSR_STREAMING_AUTO, true},
        {"f32:aBc12b>f32:aBc8b 16x240x12544", TSR_STREAMING_NEVER, false},
        {"f32:aBc12b>f32:aBc8b 1x240x784", TSR_STREAMING_AUTO, false},
        {"f32:aBc12b>f32:aBc8b 1x240x784", TSR_STREAMING_ALWAYS, true},
        {"u8:nhwc>f64:cnhw 64x256x28x28", TSR_STREAMING_AUTO, true}, /* converted where they lie */
        {"u8:nhwc>f64:cnhw 1x256x28x28", TSR_STREAMING_AUTO, false},
        {"s8:oihw>s8:OIhw4i16o4i 1024x512x3x3", TSR_STREAMING_AUTO, true}, /* four become one */
        {"s8:oihw>s8:OIhw4i16o4i 256x256x3x3", TSR_STREAMING_AUTO, false},
        {"s8:nhwc>s8:nchw 32x256x28x28", TSR_STREAMING_AUTO, true}, /* rows of 784 bytes */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const tsr_reorder_options options = {.threads = 1, .row = "relay", .streaming = cases[i].streaming};
        tsr_plan *plan = plan_of_near_cache(cases[i].problem, TSR_CPU_ALL, &options);
        const tsr_stages *stages = &plan->relay->shape[0];
        assert_true(stages->count > 1);
        for (int stage = 0; stage < stages->count; stage++) {
            const tsr_box *box = stages->stage[stage]->principal;
            const bool expected = cases[i].streams && stage == stages->count - 1;
            if ((box->streams || box->streams_lines) != expected)
                fail_msg("%s, streaming %d: expected step %d to be streamed: %d", cases[i].problem,
                         (int)cases[i].streaming, stage, expected);
        }
        tsr_plan_free(&plan);
    }
}

/* Which rows are streamed as they are converted. */
static void test_rows(void **state)
{
    static const struct {
        const char *problem;
        int threads;
        tsr_streaming streaming;
        bool streams;
    } cases[] = {
        {"f32:a>bf16:a 4000000", 1, TSR_STREAMING_AUTO, true}, /* 24 MB */
        {"f32:a>bf16:a 4000000", 1, TSR_STREAMING_NEVER, false},
        {"f32:a>bf16:a 1000000", 1, TSR_STREAMING_AUTO, false}, /* 6 MB */
        {"f32:a>bf16:a 1000000", 1, TSR_STREAMING_ALWAYS, true},
        {"s8:a>u8:a 6000000 scale", 1, TSR_STREAMING_AUTO, true},
        {"u8:a>f32:a 2000000", 1, TSR_STREAMING_AUTO, false}, /* 10 MB, most of which is written */
        {"u8:a>f32:a 4000000", 1, TSR_STREAMING_AUTO, true},
        {"u8:a>f32:a 4000000", 2, TSR_STREAMING_AUTO, false},
        {"u8:a>f32:a 9000000", 2, TSR_STREAMING_AUTO, true},
        {"f32:nchw>s8:nchw 32x256x32x32 scale[1]", 1, TSR_STREAMING_AUTO, true},  /* rows of 1 KB */
        {"f32:nchw>s8:nchw 32x256x28x28 scale[1]", 1, TSR_STREAMING_AUTO, false}, /* and less */
        {"f32:nchw>s8:nchw 32x256x28x28 scale", 1, TSR_STREAMING_AUTO, true},     /* one row */
        {"f32:nhwc>s8:nhwc 32x64x56x56 scale[3]", 1, TSR_STREAMING_AUTO, false},
        {"f32:a>f64:a 4000000", 1, TSR_STREAMING_AUTO, false}, /* there is no such kernel */
        {"f32:a>f32:a 8000000 scale mean", 1, TSR_STREAMING_AUTO, true},
        {"f32:a>f32:a 8000000 beta", 1, TSR_STREAMING_AUTO, false},
    };
    const tsr_executor executor = {.run = NULL, .threads = 2}; /* of plans that are not run */
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        workload work;
        assert_int_equal(workload_init(&work, cases[i].problem, NULL), TSR_OK);
        work.options.threads = cases[i].threads;
        work.options.executor = &executor;
        work.options.streaming = cases[i].streaming;
        tsr_plan *plan = plan_of_near_cache(cases[i].problem, TSR_CPU_ALL, &work.options);
        const bool expected = cases[i].streams && plan->kernels.can_stream_lines;
        if (plan->principal->streams_rows != expected)
            fail_msg("%s, %d threads: expected rows to be streamed: %d", cases[i].problem, cases[i].threads, expected);
        tsr_plan_free(&plan);
        workload_reset(&work);
    }
}

/* Which conversions go in pieces, one after the other on the wider side, and in how many slices. */
static void test_pieces(void **state)
{
    static const struct {
        const char *problem;
        tsr_streaming streaming;
        int64_t slices; /* 0: none are pieces */
    } cases[] = {
        {"f32:nchw>s8:nhwc 32x256x28x28", TSR_STREAMING_AUTO, 64}, /* of 128 channels */
        {"f32:nchw>s8:nhwc 32x256x28x28", TSR_STREAMING_NEVER, 64},
        {"f32:nchw>s8:nhwc 32x192x28x28", TSR_STREAMING_AUTO, 96}, /* whole lines of 64 channels */
        {"f32:nchw>bf16:nhwc 32x256x28x28", TSR_STREAMING_AUTO, 128},
        {"s8:nhwc>f32:nchw 32x256x28x28", TSR_STREAMING_AUTO, 64},
        {"f32:nchw>u8:nhwc 32x100x30x30", TSR_STREAMING_AUTO, 32},          /* images */
        {"f32:nchw>s8:nhwc 2x256x28x28", TSR_STREAMING_AUTO, 4},            /* 2 MB */
        {"f32:nchw>s8:nhwc 1x256x28x28", TSR_STREAMING_AUTO, 0},            /* in the caches */
        {"f32:nchw>s8:nhwc 32x256x28x28 scale[1]", TSR_STREAMING_AUTO, 64}, /* factors along pixels */
        {"f32:nchw>f32:nhwc 32x256x28x28 scale", TSR_STREAMING_AUTO, 224},  /* none is wider: rows of the destination */
        {"f32:nchw>s8:nhwc 32x64x112x112", TSR_STREAMING_AUTO, 0},          /* 64 channels are too many */
    };
    static const struct {
        const char *problem;
        int threads;
        int64_t slices;
    } chosen[] = {
        {"f32:nchw>s8:nhwc 32x256x28x28", 1, 64},
        {"f32:nchw>s8:nhwc 8x256x28x28", 2, 16},    /* eight for each thread, */
        {"f32:nchw>s8:nhwc 2x256x28x28", 2, 0},     /* or have too few */
        {"f32:nChw16c>s8:nhwc 32x256x28x28", 1, 0}, /* runs */
    };
    const tsr_executor executor = {.run = NULL, .threads = 2}; /* of plans that are not run */
    static const char *const runs[] = {"f32:nchw>s8:nhwc 13x192x28x28", "s8:nhwc>f32:nchw 25x100x28x28",
                                       "bf16:nchw>f32:nChw16c 3x250x50x41"};
    const tsr_reorder_options alone = {.threads = 1, .row = "relay"};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        workload work;
        assert_int_equal(workload_init(&work, cases[i].problem, NULL), TSR_OK);
        work.options.threads = 1;
        work.options.row = "relay";
        work.options.streaming = cases[i].streaming;
        tsr_plan *plan = plan_of_near_cache(cases[i].problem, TSR_CPU_ALL, &work.options);
        const tsr_cut *cut = &plan->relay->cut;
        if (cut->has_pieces != (cases[i].slices > 0) || (cut->has_pieces && cut->slices != cases[i].slices))
            fail_msg("%s: expected %d pieces, found %d, which are pieces: %d", cases[i].problem, (int)cases[i].slices,
                     (int)cut->slices, cut->has_pieces);
        tsr_plan_free(&plan);
        workload_reset(&work);
    }
    for (size_t i = 0; i < COUNT(chosen); i++) {
        const tsr_reorder_options options = {.threads = chosen[i].threads, .executor = &executor};
        tsr_plan *plan = plan_of_near_cache(chosen[i].problem, TSR_CPU_ALL, &options);
        const int64_t found = plan->relay && plan->relay->cut.has_pieces ? plan->relay->cut.slices : 0;
        if (found != chosen[i].slices)
            fail_msg("%s, %d threads: expected a choice of %d pieces, found %d", chosen[i].problem, chosen[i].threads,
                     (int)chosen[i].slices, (int)found);
        tsr_plan_free(&plan);
    }
    for (size_t i = 0; i < COUNT(runs); i++) {
        tsr_plan *plan = plan_of_near_cache(runs[i], TSR_CPU_ALL, &alone);
        assert_true(plan->relay->cut.has_pieces);
        assert_right(plan, runs[i]);
        tsr_plan_free(&plan);
    }
}

/* Rows that end inside of lines go by a relay, as long as it gains. */
static void test_broken_rows(void **state)
{
    static const struct {
        const char *problem;
        int threads;
        tsr_streaming streaming;
        bool goes;
    } cases[] = {
        {"s8:nhwc>s8:nchw 32x256x28x28", 1, TSR_STREAMING_AUTO, true}, /* rows of 784 bytes, 13 MB */
        {"s8:nhwc>s8:nchw 32x256x28x28", 1, TSR_STREAMING_NEVER, false},
        {"s8:nhwc>s8:nchw 32x256x28x28", 2, TSR_STREAMING_AUTO, false}, /* memory is no faster for two */
        {"s8:nhwc>s8:nchw 50x256x28x28", 2, TSR_STREAMING_AUTO, true},
        {"s8:nhwc>s8:nchw 16x256x28x28", 1, TSR_STREAMING_AUTO, false}, /* 6 MB */
        {"s8:nhwc>s8:nchw 32x256x32x32", 1, TSR_STREAMING_AUTO, false}, /* whole lines */
        {"s8:nhwc>s8:nchw 32x64x57x57", 1, TSR_STREAMING_AUTO, false},  /* long rows */
        {"u8:ab>u8:ba 30x400000", 1, TSR_STREAMING_AUTO, false},        /* short ones */
        {"bf16:nhwc>bf16:nchw 64x255x14x14", 1, TSR_STREAMING_AUTO, true},
        {"f32:nhwc>f32:nchw 128x256x14x14", 1, TSR_STREAMING_AUTO, false}, /* rows of 784 bytes */
        {"f64:nhwc>f64:nchw 100x500x5x5", 1, TSR_STREAMING_AUTO, false},
        {"u8:ab>u8:[b9000:1000,a900:1] 900x9000", 1, TSR_STREAMING_AUTO, false}, /* with gaps */
    };
    static const char *const run = "f32:nhwc>f32:nchw 62x512x7x7";
    const tsr_executor executor = {.run = NULL, .threads = 2}; /* of plans that are not run */
    const tsr_reorder_options alone = {.threads = 1};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const tsr_reorder_options options = {
            .threads = cases[i].threads, .executor = &executor, .streaming = cases[i].streaming};
        tsr_plan *plan = plan_of_near_cache(cases[i].problem, TSR_CPU_ALL, &options);
        if ((strcmp(tsr_plan_get_info(plan).row, "relay") == 0) != cases[i].goes)
            fail_msg("%s, %d threads: expected row relay: %d", cases[i].problem, cases[i].threads, cases[i].goes);
        tsr_plan_free(&plan);
    }
    tsr_plan *plan = plan_of_near_cache(run, TSR_CPU_ALL, &alone);
    assert_string_equal(tsr_plan_get_info(plan).row, "relay");
    assert_right(plan, run);
    tsr_plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),        cmocka_unit_test(test_tiles),        cmocka_unit_test(test_machines),
        cmocka_unit_test(test_lines),      cmocka_unit_test(test_buffers),      cmocka_unit_test(test_places),
        cmocka_unit_test(test_last_steps), cmocka_unit_test(test_broken_rows),  cmocka_unit_test(test_rows),
        cmocka_unit_test(test_pieces),     cmocka_unit_test(test_found_lines),  cmocka_unit_test(test_far_cache),
        cmocka_unit_test(test_groups),     cmocka_unit_test(test_joined_tiles), cmocka_unit_test(test_reads),
        cmocka_unit_test(test_copies),     cmocka_unit_test(test_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
