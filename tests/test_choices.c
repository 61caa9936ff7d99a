/* SPDX-License-Identifier: Apache-2.0 */
/* Which way transposes and pixels go past the caches or through them, and in how many columns, rows or elements. */
#include "choices.h"

#include <inttypes.h>

static void describe_lines(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    snprintf(text, TEXT_SIZE, "%s, %" PRId64, box->streams_lines ? "lines" : "no lines", box->column.step);
}

/* Which transposes, conversions and copies write past a near cache in lines, and how many columns at once. */
static void test_lines(void **state)
{
    static const struct choice choices[] = {
        {"bf16:ab>bf16:BA16a16b 2048x2048", AVX512, .expected = "lines, 16"}, /* runs that are joined */
        {"bf16:ab>bf16:BA16a16b 2048x2048", AVX2, .expected = "lines, 16"},
        {"bf16:ab>bf16:BA16a16b 2048x2048", PLAIN_C, .expected = "no lines"},
        {"bf16:ab>bf16:BA16a16b 512x768", AVX512, .expected = "no lines"},    /* in the caches */
        {"f32:nChw8c>f32:nhwc 32x256x28x28", AVX512, .expected = "no lines"}, /* from many places */
        {"f32:nChw8c>f32:nhwc 32x64x56x56", AVX512, .expected = "lines"},     /* and from eight, */
        {"f32:nChw8c>f32:nChw16c 32x256x28x28", AVX512, .expected = "lines"}, /* or two, in order */
        {"bf16:ab>bf16:BA16a16b 2048x2048", AVX512, FAR, .expected = "no lines"},
        {"f32:ab>f32:ba 1008x3000", AVX512, .expected = "lines, 16"},
        {"f32:ab>f32:ba 1008x3000", AVX2, .expected = "lines, 16"},
        {"f32:ab>f32:ba 1008x3000", PLAIN_C, .expected = "no lines"},
        {"f32:ab>f32:ba 1008x3000", AVX512, .expected = "lines, 16", .threads = 2},
        {"f32:ab>f32:ba 528x500", AVX512, .expected = "no lines"},                    /* 2 MB */
        {"f32:ab>f32:ba 1200x1250", AVX512, .expected = "lines, 16"},                 /* 12 MB */
        {"f32:ab>f32:ba 96x15000", AVX512, .expected = "lines, 16"},                  /* rows 128 bytes apart, */
        {"f32:ab>f32:ba 64x23000", AVX512, .expected = "lines, 16"},                  /* and 256, */
        {"f32:ab>f32:ba 64x23000", AVX512, .expected = "lines, 16", .threads = 2},    /* shared, */
        {"f32:ab>f32:ba 64x14000", AVX512, .expected = "lines, 16"},                  /* 7.2 MB, and what is shared */
        {"f32:ab>f32:ba 64x14000", AVX512, .expected = "no lines, 16", .threads = 2}, /* may have more */
        {"f32:ab>f32:ba 900x900", AVX512, .expected = "no lines, 64"},                /* in the caches: four lines */
        {"u16:ab>u16:ba 1000x1000", AVX512, .expected = "no lines, 128"},
        /* rows 4 KB apart, as long as scratch memory allows */
        {"u8:ab>u8:ba 4096x4096", AVX512, .expected = "no lines, 320"},
        {"u8:ab>u8:ba 4096x65536", AVX512, .expected = "lines, 64"}, /* columns 64 KB apart */
        /* as many as scratch memory would have room for */
        {"u8:ab>u8:ba 1024x65536", AVX512, .expected = "lines, 320"},
        {"u16:ab>u16:ba 4096x4096", AVX512, .expected = "lines, 32"},
        {"f32:[a1008:3000,b3000:1]+3>f32:ba 1008x3000", AVX512, .expected = "lines, 16"},
        {"f32:ab>f32:ba 64x50000", AVX512, .expected = "lines, 16"},  /* rows 256 bytes apart */
        {"u16:ab>u16:ba 128x60000", AVX512, .expected = "lines, 32"}, /* also of narrow elements */
        {"f32:ab>f32:ba 512x6000", AVX512, .expected = "lines, 16"},  /* 2 KB */
        {"f32:ab>f32:ba 512x4000", AVX512, .expected = "lines, 128"}, /* 16 MB */
        {"f32:ab>f32:ba 512x4000", AVX2, .expected = "lines, 16"},
        {"f64:ab>f64:ba 504x3000", AVX2, .expected = "lines, 8"},
        {"f64:ab>f64:ba 512x3000", AVX2, .expected = "lines, 16"},
        {"f32:ab>f32:ba 512x2000", AVX2, .expected = "no lines, 16"}, /* 8 MB, rows that share sets */
        {"f32:ab>f32:ba 528x2000", AVX2, .expected = "lines, 16"},
        {"f32:ab>f32:ba 128x25088", AVX512, .expected = "lines, 16"}, /* 512 bytes, and columns 100 KB apart */
        {"f32:ab>f32:ba 1024x3000", AVX512, .expected = "lines, 16"}, /* 4 KB */
        {"f32:ab>f32:ba 1024x1250", AVX512, .expected = "no lines"},  /* 10 MB */
        /* columns near each other, rows 512 bytes apart */
        {"f32:abc>f32:acb 500x128x32", AVX512, .expected = "lines, 128"},
        {"f32:abc>f32:acb 500x128x32", AVX2, .expected = "lines, 32"},
        {"f64:abc>f64:acb 500x64x16", AVX2, .expected = "lines, 32"},
        {"u8:nchw>u8:nhwc 70x256x28x28", AVX2, .expected = "lines, 256"},
        {"u8:nhwc>u8:nchw 61x256x28x32", AVX2, .expected = "lines, 128"}, /* and 896 */
        {"u16:abc>u16:acb 100x256x192", AVX2, .expected = "lines, 32"},
        {"u16:abc>u16:acb 400x192x48", AVX2, .expected = "lines, 64"},        /* from a few lines */
        {"f32:abc>f32:acb 100x1040x32", AVX512, .expected = "lines, 64"},     /* and 4160 */
        {"f32:abc>f32:acb 1000x64x32", AVX512, .expected = "lines, 64"},      /* whole rows of four lines */
        {"f32:nhwc>f32:nchw 32x256x28x28", AVX512, .expected = "lines, 128"}, /* of 49 lines, 51 MB, */
        {"f32:nhwc>f32:nchw 256x32x36x36", AVX512, .expected = "lines, 64"},  /* columns two lines apart, */
        {"f32:nhwc>f32:nchw 32x64x28x28", AVX512, .expected = "lines, 64"},   /* or 13 MB */
        {"f32:nchw>f32:nChw16c 32x256x28x28", AVX512, .expected = "lines, 16", .threads = 2},
        {"f32:nChw16c>f32:nchw 32x256x28x28", AVX512, .expected = "lines, 256"}, /* columns are lines */
        {"f32:nChw16c>f32:nchw 32x256x28x28", AVX2, .expected = "lines, 256"},
        {"f32:nChw16c>f32:nchw 16x64x48x56", AVX2, .expected = "lines, 256"},    /* 16 rows 512 bytes apart, */
        {"f32:nChw16c>f32:nchw 16x64x48x48", AVX2, .expected = "no lines, 256"}, /* and 1 KB, */
        {"f32:nChw16c>f32:nchw 16x64x64x64", AVX2, .expected = "no lines, 256"}, /* and 16 */
        {"bf16:nchw>bf16:nhwc 32x256x28x28", AVX512, .expected = "lines, 256"},
        {"bf16:nchw>bf16:nChw16c 32x256x28x28", AVX2, .expected = "lines, 16"}, /* dense rows of 32 bytes */
        {"bf16:nchw>bf16:nChw32c 32x256x28x28", AVX2, .expected = "lines, 32"},
        {"f32:oihw>f32:OIhw16i16o 512x512x3x3", AVX512, .expected = "lines, 16"}, /* in another order */
        {"f32:hwio>f32:oihw 512x512x3x3", AVX512, .expected = "lines, 144"}, /* lines end with every 16th of 9 pixels */
        {"f32:hwio>f32:oihw 256x256x3x3", AVX512, .expected = "no lines, 144"}, /* and in the caches */
        {"bf16:hwio>bf16:oihw 512x512x3x3", AVX512, .expected = "lines, 288"},  /* with every 32nd */
        {"f32:hwio>f32:oihw 250x250x3x3", AVX512, .expected = "no lines, 63"},  /* rows begin inside of lines */
        {"f32:hwio>f32:oihw 512x520x4x4", AVX512, .expected = "lines, 16"},     /* 16 pixels are a line */
        {"u8:nhwc>u8:nchw 64x12x224x224", AVX512, .expected = "no lines"}, /* so few rows that kernels fill no block */
        {"f32:nchw>f32:nhwc 1x3x1080x1920", AVX512, .expected = "lines"},
        {"u8:nchw>u8:nhwc 1x3x1080x1920", AVX512, .expected = "lines"}, /* 12 MB */
        {"u8:nhwc>u8:nchw 1x3x1080x1920", AVX512, .expected = "lines"},
        {"u8:nhwc>u8:nchw 1x3x1080x1920", AVX512, .expected = "no lines", .threads = 2},
        {"f32:nhwc>f32:nchw 1x3x640x640", AVX512, .expected = "no lines"}, /* 10 MB */
        {"f32:nhwc>f32:nchw 1x3x1080x1920", AVX2, .expected = "lines"},
        {"f32:nchw>bf16:nhwc 32x96x56x56", AVX512, .expected = "lines"}, /* converted first */
        {"f32:nchw>bf16:nhwc 32x256x28x28", AVX512, .expected = "lines"},
        {"f32:nchw>bf16:nhwc 4x64x90x90", AVX512, .expected = "lines"},           /* 12 MB, rows 128 bytes apart */
        {"f32:nchw>bf16:nhwc 2x128x90x90", AVX512, .expected = "lines"},          /* and 256 */
        {"f32:oihw>f32:OIhw16i16o 384x400x3x3", AVX512, .expected = "lines, 16"}, /* 11 MB */
        {"f32:oihw>f32:OIhw16i16o 256x256x3x3", AVX512, .expected = "no lines"},  /* 5 MB */
        {"bf16:nhwc>f32:nchw 32x96x56x56", AVX512, .expected = "no lines"},
        {"bf16:nhwc>f32:nChw16c 32x256x28x28", AVX512, .expected = "lines"}, /* runs that become lines */
        {"bf16:nhwc>f32:nChw16c 32x256x28x28", AVX2, .expected = "lines", .threads = 2},
        {"bf16:nhwc>f32:nChw16c 32x256x28x28", PLAIN_C, .expected = "no lines"},
        {"s8:nChw16c>f32:nhwc 4x256x56x56", AVX512, .expected = "lines"},      /* 16 MB */
        {"bf16:nhwc>f32:nChw16c 1x256x56x56", AVX512, .expected = "no lines"}, /* 5 MB */
        {"bf16:nhwc>f32:nChw8c 32x256x28x28", AVX512, .expected = "no lines"}, /* half a line */
        {"f32:nhwc>bf16:nChw16c 32x256x28x28", AVX512, .expected = "no lines"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_lines);
}

static void describe_found_lines(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    const char *lines = box->streams_lines ? "lines" : box->finds_lines ? "found" : "not found";
    snprintf(text, TEXT_SIZE, "%s, %" PRId64, lines, box->column.step);
}

/* And those whose rows begin anywhere. */
static void test_found_lines(void **state)
{
    static const struct choice choices[] = {
        /* as many as scratch memory would have room for */
        {"f32:ab>f32:ba 1001x3000", AVX512, .expected = "found, 368"},
        {"f32:ab>f32:ba 1001x3000", AVX2, .expected = "found, 368", .threads = 2},
        {"f32:ab>f32:ba 1001x3000", PLAIN_C, .expected = "not found"},
        {"u16:ab>u16:ba 1001x3000", AVX512, .expected = "found, 352"}, /* 12 MB */
        {"f64:ab>f64:ba 1001x3000", AVX512, .expected = "not found"},  /* of far columns */
        {"f64:ab>f64:ba 1001x3000", AVX2, .expected = "found, 376"},
        {"f64:abc>f64:acb 60x1001x128", AVX512, .expected = "found, 376"}, /* of near ones */
        /* all as far behind a line, so that it is those of other columns that begin with one */
        {"f32:ab>f32:[b3000:1008,a1008:1]+3 1008x3000", AVX512, .expected = "lines, 16"},
        {"f32:ab>f32:ba 191x9000", AVX512, .expected = "not found"}, /* rows of less than 12 lines, */
        {"f32:ab>f32:ba 193x9000", AVX512, .expected = "found, 193"},
        {"f32:ab>f32:ba 193x7000", AVX512, .expected = "not found", .threads = 2}, /* 11 MB for two threads, */
        {"f32:ab>f32:ba 2000001x15", AVX512, .expected = "not found"},             /* less than 16 of them */
        {"f32:ab>f32:ba 1001x1100", AVX512, .expected = "not found"},              /* 9 MB, */
        {"f32:ab>f32:ba 1023x1100", AVX512, .expected = "found, 368"},             /* where rows share sets */
        {"u8:ab>u8:ba 2501x2500", AVX512, .expected = "not found"},                /* 12 MB */
        {"u8:ab>u8:ba 2501x3000", AVX512, .expected = "found, 320"},               /* 15 MB, */
        {"u8:ab>u8:ba 2501x4097", AVX512, .expected = "not found"},                /* where columns share sets */
        {"u16:ab>u16:ba 2501x4097", AVX512, .expected = "found, 352"},
        {"u16:ab>u16:ba 2501x4097", AVX2, .expected = "not found"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_found_lines);
}

static void describe_elements(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const char *kernel = plan->principal->kernel_name;
    snprintf(text, TEXT_SIZE, "%.*s of %" PRId64, (int)(strrchr(kernel, '_') - kernel), kernel, plan->unit);
}

/* Small blocks of lanes that are parts of long rows of the source: a tile has more than one, but for those that share
 * lines with others in the same sets. */
static void test_small_blocks(void **state)
{
    static const struct choice choices[] = {
        {"f32:ba>f32:AB8a8b 1000x1000", .rung = PLAIN_C, .expected = "transpose_32 of 1"},
        {"f32:ba>f32:AB8a8b 512x1024", .rung = PLAIN_C, .expected = "transpose_32 of 1"}, /* in the same sets, */
        {"bf16:ba>bf16:AB8a8b 1024x1024", .rung = PLAIN_C, .expected = "transpose_16 of 1"},
        {"f32:hwio>f32:OIhw4o4i 512x256x3x3", .rung = PLAIN_C, .expected = "transpose_32 of 1"}, /* lines there */
        {"bf16:ba>bf16:AB2a8b 1024x1024", .rung = PLAIN_C, .expected = "interleave_16 of 1"},    /* halves of lines */
        {"f32:OIhw8o8i>f32:OIhw16i16o 256x256x3x3", PLAIN_C, FAR, .expected = "transpose_32 of 1"},
        {"f32:OIhw8o8i>f32:OIhw16i16o 256x256x3x3", PLAIN_C, .expected = "deinterleave_32 of 1"},
        {"f32:OIhw8o8i>f32:OIhw16i16o 64x64x3x3", PLAIN_C, FAR, .expected = "deinterleave_32 of 1"},    /* cached */
        {"f16:OIhw8o8i>f16:OIhw8i16o2i 512x512x3x3", PLAIN_C, FAR, .expected = "deinterleave_32 of 2"}, /* one lane */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_elements);
    check_results(choices, COUNT(choices));
}

/* Neighbours that stay together are elements of up to 16 bytes. */
static void test_units(void **state)
{
    static const struct choice choices[] = {
        {"u8:abc>u8:bac 300x200x4", PLAIN_C, .expected = "transpose_32 of 4"},
        {"u8:abc>u8:bac 300x200x16", PLAIN_C, .expected = "transpose_128 of 16"},
        {"f32:nhwc>f32:nChw4c 1x64x56x56", PLAIN_C, .expected = "transpose_128 of 4"},
        {"f32:nChw8c>f32:nChw4c 1x64x56x56", PLAIN_C, .expected = "deinterleave_128 of 4"},
        {"bf16:nChw8c>bf16:nhwc 1x64x56x56", PLAIN_C, .expected = "interleave_128 of 8"},
        {"f32:nhwc>f32:nChw8c 1x64x56x56", PLAIN_C, .expected = "copy_8 of 1"},
        {"u8:abc>u8:bac 300x200x6", PLAIN_C, .expected = "copy_8 of 1"},
        {"u8:abc>u8:bac 300x200x6", AVX2, .expected = "transpose_units_64 of 6"},
        {"u8:abc>u8:bac 300x200x3", AVX2, .expected = "transpose_units_32 of 3"},
        {"f32:abc>f32:bac 300x200x3", AVX2, .expected = "transpose_units_128 of 3"},
        {"u8:abc>u8:bac 3x200x3", AVX2, .expected = "scatter_8 of 1"}, /* fewer columns than a lane has */
        {"u8:abc>u8:bac 5x200x3", AVX2, .expected = "scatter_8 of 1"}, /* or rows that are no longer than one */
        {"u8:abc>u8:bac 6x200x3", AVX2, .expected = "transpose_units_32 of 3"},
        {"u8:abc>u8:abc 1000x5x3 reverse[1]", AVX2, .expected = "shuffle_8 of 1"},
        {"f32:nhwc>bf16:nChw4c 1x64x56x56", PLAIN_C, .expected = "rows of 1"},
        {"u8:ab>u8:[a100:300,b100:3] 100x100", AVX2, .expected = "scatter_8 of 1"},
        {"u8:abc>u8:[a100:400,b100:4,c3:1] 100x100x3", PLAIN_C, .expected = "scatter_8 of 1"},
        {"u8:ab>u8:[a100:6000,b50:40] 100x50", AVX2, .expected = "pick_8 of 1"}, /* far from each other */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_elements);
}

static void describe_reads(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    snprintf(text, TEXT_SIZE, "%s%s%s", box->gathers ? "gathered " : "", box->reads_pairs ? "pairs" : "lanes",
             box->reads_lines ? " of lines" : "");
}

/* Of which columns more than a lane is read at once, where the last cache is near and where it is not. */
static void test_reads(void **state)
{
    static const struct choice choices[] = {
        {"u8:ab>u8:ba 3000x5000", UP_TO_AVX2, .expected = "pairs"},
        {"u8:ab>u8:ba 3000x5000", UP_TO_AVX2, FAR, .expected = "lanes"},
        {"u8:ab>u8:ba 3000x5000", UP_TO_AVX2, DEEP, .expected = "lanes"},
        {"u8:ab>u8:ba 96x96", UP_TO_AVX2, .expected = "lanes"},
        {"u8:ab>u8:ba 1000x1000", UP_TO_AVX2, .expected = "lanes"}, /* which a near last cache holds */
        /* columns 2 KB apart, and 4 KB, of a destination whose rows are near each other */
        {"u8:ab>u8:ba 300x6144", UP_TO_AVX2, FAR, .expected = "pairs"},
        {"u8:ab>u8:ba 900x4096", UP_TO_AVX2, FAR, .expected = "pairs of lines"},
        {"u8:ab>u8:ba 2049x4096", UP_TO_AVX2, FAR, .expected = "pairs of lines"}, /* or by way of scratch memory */
        {"u8:ab>u8:ba 4097x4097", UP_TO_AVX2, .expected = "pairs of lines"},      /* nearly so, */
        {"u8:ab>u8:ba 4097x4097", UP_TO_AVX2, FAR, .expected = "pairs"},          /* but not from afar */
        {"u8:ab>u8:ba 4100x4100", UP_TO_AVX2, .expected = "pairs"},
        /* what the second-level cache has, or a near one; not much more, but of columns that are all in one set */
        {"u8:ab>u8:ba 300x2048", AVX2, .expected = "gathered lanes"},
        {"u8:ab>u8:ba 300x2048", AVX2, FAR, .expected = "pairs"},
        {"u16:ab>u16:ba 300x4096", AVX2, .expected = "gathered lanes"},
        {"u16:ab>u16:ba 300x4096", AVX512, .expected = "gathered lanes"},
        {"u16:ab>u16:ba 300x4096", AVX512, FAR, .expected = "lanes"},
        {"u16:ab>u16:ba 300x3072", AVX512, .expected = "gathered lanes"},
        {"u16:ab>u16:ba 300x3072", AVX512, .expected = "lanes", .streaming = TSR_STREAMING_NEVER}, /* as a relay asks */
        {"u16:ab>u16:ba 1000x3072", AVX512, .expected = "lanes"},
        {"u16:ab>u16:ba 896x4096", AVX512, .expected = "gathered lanes"},
        {"u16:ab>u16:ba 1000x4096", AVX512, .expected = "lanes"},
        {"u16:ab>u16:ba 300x3000", AVX512, .expected = "lanes"},
        {"f32:ab>f32:ba 300x2048", AVX512, .expected = "lanes"}, /* which are read by lines */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_reads);
}

static void describe_tiles(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    const tsr_chain *pixels = box->motion == TSR_MOTION_INTERLEAVE ? &box->row : &box->column;
    snprintf(text, TEXT_SIZE, "%" PRId64 " of %" PRId64, pixels->tiles, pixels->step);
}

/* Tiles of an image: threads have as many each, which end with lines of both sides. */
static void test_pixels(void **state)
{
    static const struct choice choices[] = {
        {"f32:nhwc>f32:nchw 1x3x224x224", .expected = "13 of 3872"},
        {"f32:nhwc>f32:nchw 1x3x224x224", .expected = "14 of 3584", .threads = 2},
        {"f32:nchw>f32:nhwc 1x3x224x224", .expected = "14 of 3584", .threads = 2},
        {"f32:nchw>f32:nhwc 2x3x224x224", .expected = "13 of 3872", .threads = 2}, /* which share images */
        {"f32:nchw>f32:nhwc 1x3x60x60", .expected = "1 of 3600", .threads = 2},
        {"f32:nchw>f32:nhwc 1x3x1080x1920", .expected = "2025 of 1024"},     /* streamed */
        {"f32:nchw>u8:nhwc 1x3x100x100", PLAIN_C, .expected = "10 of 1024"}, /* by way of scratch memory, 64 bytes */
        {"f32:nchw>u8:nhwc 1x3x100x100", AVX2, .expected = "3 of 3392"},     /* at once */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_tiles);
}

/* Few columns of a conversion that would be left over make all tiles shorter; and tiles of packed elements have those
 * that many rows leave room for. */
static void test_rest_of_columns(void **state)
{
    static const struct choice choices[] = {
        {"u8:ab>f16:ba 260x300", .expected = "3 of 87"},
        {"u8:ab>f16:ba 264x300", .expected = "3 of 128"}, /* not so few, */
        {"u8:ab>f16:ba 288x300", .expected = "3 of 128"}, /* whole lines, */
        {"f16:ab>s8:ba 260x300", .expected = "5 of 64"},  /* or what is converted before */
        {"s4:ab>f16:ba 256x300", .expected = "4 of 64", .row = "convert"},
        {"s4:ab>f32:ba 256x300", .expected = "4 of 64", .row = "convert"},
        {"s4:ab>f16:ba 260x300", .expected = "5 of 52", .row = "convert"},
        {"f16:ab>s4:ba 256x300", .expected = "2 of 128", .row = "convert"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_tiles);
}

/* Of what is narrowed, long tiles where rows begin inside of lines and are streamed past a far cache. */
static void test_narrowed_columns(void **state)
{
    static const struct choice choices[] = {
        {"f32:ab>s8:ba 1001x3001", AVX2, FAR, .expected = "4 of 251"},
        {"f32:ab>f16:ba 1001x3001", AVX2, FAR, .expected = "6 of 167"},
        {"f32:abc>bf16:cba 200x15x1000", AVX2, FAR, .expected = "2 of 100"},
        {"f32:abc>bf16:cba 50x60x1000", AVX2, FAR, .expected = "20 of 150"}, /* columns of two loops */
        {"f32:ab>s8:ba 1024x3000", AVX2, FAR, .expected = "16 of 64"},       /* whole lines */
        {"f32:ab>s8:ba 3001x64", AVX2, FAR, .expected = "47 of 64"},         /* few rows */
        {"f32:ab>s8:ba 101x3001", AVX2, FAR, .expected = "2 of 64"},         /* within the second-level cache */
        {"f64:ab>f16:ba 1001x3001", AVX2, FAR, .expected = "16 of 64"},      /* in two steps */
        {"f32:ab>s8:ba 1001x3001", AVX2, .expected = "16 of 64", .row = "convert"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_tiles);
}

static void describe_alike_tiles(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_chain *row = &plan->principal->row, *column = &plan->principal->column;
    snprintf(text, TEXT_SIZE, "%" PRId64 " of %" PRId64 " rows, %" PRId64 " of %" PRId64 " columns", row->tiles,
             row->step, column->tiles, column->step);
}

/* Tiles that threads share are about alike, and runs are whole where there are enough of them. */
static void test_alike_tiles(void **state)
{
    static const struct choice choices[] = {
        {"u16:abc>u16:cba 64x64x3000", .expected = "2 of 1504 rows", .threads = 2},
        {"f32:abcdef>f32:fedcba 16x12x14x10x18x15", .expected = "4 of 810 rows", .threads = 1},
        {"f32:abcdef>f32:fedcba 16x12x14x10x18x15", .expected = "5 of 540 rows", .threads = 2},
        {"bf16:abcdef>bf16:fedcba 16x12x14x10x18x15", .expected = "2 of 1350 rows", .threads = 2},
        {"bf16:abcdef>bf16:fedcba 16x12x14x11x18x15", .expected = "2 of 1620 rows", .threads = 2}, /* 11, a prime */
        {"f64:ab>f64:ba 16001x80", AVX512, .expected = "5 of 16 rows", .threads = 64},   /* two lines at least */
        {"f64:nChw16c>f64:nchw 1x16x112x112", .expected = "1 of 16 rows", .threads = 2}, /* two lines of each column, */
        {"f32:nChw64c>f32:nchw 1x64x112x112", .expected = "2 of 32 rows", .threads = 2}, /* and four */
        {"f32:abcd>f32:abdc 2x12x197x128", .expected = "2 of 64 rows", .threads = 16},   /* of 24 images */
        {"u16:abcd>u16:acbd 8x12x384x80", .expected = "96 of 48 rows, 1 of 80 columns", .threads = 2},
        {"u8:abc>f32:bac 3x6x100000 scale", .expected = "1 of 1 rows, 1 of 100000 columns", .threads = 2},
        {"u8:abc>f32:bac 3x5x100000 scale", .expected = "1 of 1 rows, 1 of 100000 columns", .threads = 2},
        {"u8:abc>f32:bac 3x5x100000 scale", .expected = "1 of 1 rows, 2 of 50000 columns", .threads = 6}, /* too few */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_alike_tiles);
}

static void describe_threads(char text[TEXT_SIZE], const tsr_plan *plan)
{
    snprintf(text, TEXT_SIZE, "%d of %d", tsr_plan_get_info(plan).threads, plan->threads);
}

/* Threads are worth their waking by how long they are expected to take, and have zeros of a few elements with these. */
static void test_threads(void **state)
{
    static const struct choice choices[] = {
        {"f32:ab>f32:ba 512x512", .expected = "2 of 2", .threads = 2},
        {"f32:ab>f32:ba 128x128", .expected = "1 of 2", .threads = 2},
        {"f16:abcd>f16:acbd 2x60x8x96", .expected = "1 of 2", .threads = 2},               /* 184 KB, moved fast, */
        {"u8:nhwc>bf16:nhwc 1x3x224x224", .expected = "1 of 2", .threads = 2},             /* 226 KB, read in order, */
        {"u8:nhwc>bf16:nChw32c 1x3x224x224 scale", .expected = "2 of 2", .threads = 2},    /* as many among zeros, */
        {"f16:oihw>bf16:OIhw16i16o 128x32x5x5 scale", .expected = "2 of 2", .threads = 2}, /* or moved slowly */
        {"u16:nhwc>u16:nChw64c 1x1x64x64", .expected = "1 of 2", .threads = 2},            /* 516 KB of zeros */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_threads);
}

static void describe_rows(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    snprintf(text, TEXT_SIZE, "%s, %" PRId64 " of %" PRId64, box->goes_by_rows ? "by rows" : "by columns",
             box->row.step, box->column.step);
}

/* Which rows of a transpose, a power of two apart, are written from end to end, in tiles of how many, and columns. */
static void test_few_rows(void **state)
{
    static const struct choice choices[] = {
        {"f32:ab>f32:ba 512x128", .expected = "by rows, 16 of 256"},
        {"f32:ab>f32:ba 512x128", .expected = "by rows, 16 of 256", .threads = 2},
        {"f32:ab>f32:ba 512x128", .cache = DEEP, .expected = "by columns"},
        {"f32:ab>f32:ba 512x128", .cache = FAR, .expected = "by rows, 16 of 256"},
        {"f32:ab>f32:ba 500x128", .expected = "by columns"},   /* 2000 bytes apart, */
        {"f32:ab>f32:ba 128x128", .expected = "by columns"},   /* 512, */
        {"f32:ab>f32:ba 128x512", .expected = "by columns"},   /* less than columns, */
        {"f32:ab>f32:ba 1024x1024", .expected = "by columns"}, /* beyond the second-level cache */
        {"f32:nhwc>f32:nchw 4x48x16x16", .expected = "by rows, 16 of 256"},
        {"f32:ab>f32:ba 256x100", .expected = "by rows, 16 of 256"}, /* columns that are no lines, but long ones, */
        {"f32:ab>f32:ba 512x37", .expected = "by columns"},          /* and short ones */
        {"f32:abc>f32:cba 256x8x64", .expected = "by columns"},      /* rows that continue others */
        {"u16:ab>u16:ba 512x256", .expected = "by rows, 32 of 256"},
        {"u16:ab>u16:ba 512x256", AVX512, FAR, .expected = "by rows, 32 of 256"},
        {"u16:ab>u16:ba 512x256", AVX2, FAR, .expected = "by columns"},
        {"u16:ab>u16:ba 512x200", .expected = "by columns"},
        {"f64:ab>f64:ba 256x64", .expected = "by rows, 8 of 256"},
        {"u8:ab>u8:ba 1024x256", AVX512, .expected = "by rows, 64 of 256"},
        {"u8:ab>u8:ba 1024x256", AVX2, .expected = "by columns"},
        {"f32:ab>f32:AB16b64a4b 512x256", .expected = "by columns"}, /* units of 16 bytes */
        {"f32:oihw>f32:OIhw16o16i 64x64x3x3", .expected = "by columns"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_rows);
}

static void describe_fetches(char text[TEXT_SIZE], const tsr_plan *plan)
{
    snprintf(text, TEXT_SIZE, "%s", plan->principal->fetches_lines ? "fetched" : "not fetched");
}

static void describe_columns(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    snprintf(text, TEXT_SIZE, "%s", box->fetches_columns ? "fetched" : box->streams_lines ? "streamed" : "neither");
}

/* Are the columns of a transpose that streams fetched? */
static void test_columns(void **state)
{
    static const struct choice choices[] = {
        /* those of a line each are 64 KB apart: the second-level cache has 32 lines for these */
        {"u16:abcd>u16:acdb 1x32x512x64", AVX512, FAR, .expected = "streamed"},
        {"u16:abcd>u16:acdb 1x32x512x64", AVX2, FAR, .expected = "streamed"},
        {"u16:abcd>u16:acdb 1x32x512x60", AVX2, FAR, .expected = "fetched"},
        {"f32:abcd>f32:acdb 1x16x512x64", AVX2, FAR, .expected = "fetched"}, /* of wide elements */
        {"u8:ab>u8:ba 4097x4097", AVX2, FAR, .expected = "neither"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_columns);
}

/* Are the lines fetched to which pixels are parted? */
static void test_fetches(void **state)
{
    static const struct choice choices[] = {
        {"f32:nhwc>f32:nchw 8x3x101x101", .cache = FAR, .expected = "fetched"},
        {"f32:nhwc>f32:nchw 8x3x101x101", .expected = "not fetched"},
        {"f32:nChw8c>f32:nchw 1x64x35x35", .cache = FAR, .expected = "fetched"},
        {"f32:nhwc>f32:nchw 1x3x40x40", .cache = FAR, .expected = "not fetched"},  /* 19 KB */
        {"f32:nhwc>f32:nchw 1x3x1080x1920", AVX2, FAR, .expected = "not fetched"}, /* but streamed */
        {"f32:nhwc>f32:nchw 1x3x1080x1921", .cache = FAR, .expected = "fetched"},
        {"u8:nhwc>f32:nchw 1x3x225x225 scale", .cache = FAR, .expected = "fetched"},
        {"f32:nchw>f32:nhwc 8x3x101x101", .cache = FAR, .expected = "not fetched"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_fetches);
}

static void describe_groups(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    snprintf(text, TEXT_SIZE, "%s%s", box->scratch.rows == box->row.step ? "one group" : "several groups",
             box->fetches_ahead ? " fetched ahead" : "");
}

/* Which tiles are one group of rows, and for which lines are fetched ahead. */
static void test_groups(void **state)
{
    static const struct choice choices[] = {
        {"f32:ab>f32:ba 40x40", AVX2, FAR, .expected = "one group"}, /* in the first-level cache */
        {"f32:ab>f32:ba 500x500", AVX2, FAR, .expected = "several groups fetched ahead"},
        {"f32:ab>f32:ba 500x500", AVX2, .expected = "one group"},
        {"f32:ab>f32:ba 500x500", AVX512, .expected = "one group"},
        /* two lines of columns, or one */
        {"f64:nchw>f64:nChw16c 1x16x30x30", AVX2, FAR, .expected = "several groups fetched ahead"},
        {"f64:nchw>f64:nChw8c 1x8x40x40", AVX2, FAR, .expected = "one group"},
        {"u8:nchw>u8:nChw64c 1x64x40x40", AVX512, FAR, .expected = "one group"},
    };
    /* rows of two loops, inside of the first of which a group begins, with factors that do not go on where it ends */
    static const struct choice checked[] = {{.problem = "f32:[a230:1,a7:230,b300:1610]>u8:ab 1610x300 scale[0]"}};
    (void)state;
    check_choices(choices, COUNT(choices), describe_groups);
    check_results(checked, COUNT(checked));
}

static void describe_joined_tiles(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    snprintf(text, TEXT_SIZE, "%" PRId64 " of %" PRId64, box->joined_tiles, box->items);
}

/* Tiles of a chain are joined but for the last one, if it is shorter. Kernels of lower rungs take fewer rows at a time
 * than these have. */
static void test_joined_tiles(void **state)
{
    static const struct choice choices[] = {
        {"f32:nchw>f32:nChw16c 1x16x64x64", AVX2, .expected = "4 of 4"},
        {"f32:nchw>f32:nChw16c 1x16x60x60", AVX2, .expected = "3 of 4"},
        {"f32:nchw>f32:nChw16c 1x16x9x9", AVX2, .expected = "0 of 1"},
        {"f32:nchw>f32:nChw16c 5x16x9x9", AVX2, .expected = "5 of 5"},
        {"f32:nChw8c>f32:nhwc 2x24x28x28", .expected = "18 of 38"},
        {"f32:nChw16c>f32:nhwc 1x64x28x28", .expected = "49 of 49"},
        /* small ones: those of the loop that has more */
        {"s8:OIhw16o16i>s8:Ohwi16o 2048x32x3x3", .expected = "9 of 2304"},
        {"s8:OIhw16o16i>s8:Ohwi16o 2048x128x3x3", .expected = "8 of 9216"}, /* about as many */
        {"s8:OIhw16o16i>s8:Ohwi16o 2048x32x3x3", .expected = "9 of 2304", .threads = 2},
        {"s8:OIhw16o16i>s8:Ohwi16o 16x32x40x40", .expected = "1600 of 3200"},
        {"s8:OIhw16o16i>s8:Ohwi16o 16x32x40x40", .expected = "2 of 3200",
         .threads = 2},                                                  /* each thread has neighbours */
        {"f64:OIhw16o16i>f64:Ohwi16o 16x32x3x3", .expected = "2 of 18"}, /* larger ones */
    };
    static const struct choice checked[] = {
        {.problem = "s8:OIhw16o16i>s8:Ohwi16o 64x24x3x3", .row = "transpose"},
        {.problem = "f32:nhwc>f32:nChw8c 2x64x112x112"},
        {.problem = "f32:nChw8c>f32:nhwc 3x64x112x111"},
        {.problem = "bf16:ab>bf16:BA16a16b 520x776"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_joined_tiles);
    check_results(checked, COUNT(checked));
}

static void describe_one_tile(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_one_tile *one = &plan->principal->one_tile;
    const bool is_moved = one->moved.columns > 0, is_converted = one->converted.columns > 0;
    if (!one->run)
        snprintf(text, TEXT_SIZE, "many ways");
    else if (is_converted)
        snprintf(text, TEXT_SIZE, "%s%" PRId64 " %s", is_moved ? "moved, " : "", one->converted.rows,
                 one->line ? "lines" : "in one");
    else
        snprintf(text, TEXT_SIZE, "%" PRId64 " in a call", one->moved.tiles);
}

/* Boxes that are one tile, over and over, which goes straight to its place whatever addresses they have. */
static void test_one_tile(void **state)
{
    static const struct choice choices[] = {
        {"f32:ab>f32:ba 64x64", AVX2, .expected = "1 in a call"},
        {"f32:ab>f32:ba 500x500", AVX2, .expected = "many ways"}, /* beyond the first-level cache */
        {"u8:nchw>u8:nhwc 4x3x8x8", AVX2, .expected = "1 in a call"},
        {"u8:nhwc>u8:nchw 4x3x8x8", AVX2, .expected = "1 in a call"},
        {"f32:nchw>f32:nChw16c 1x64x7x7", AVX2, .expected = "4 in a call"},
        {"f32:nchw>f32:nChw16c 1x13x9x9", PLAIN_C, .expected = "many ways"}, /* rows with zeros behind them */
        {"f32:ab>f16:ab 8x8", AVX2, .expected = "1 lines"},
        {"f32:ab>f16:ab 16x48 scale[0]", AVX2, .expected = "16 lines"},
        {"f32:ab>f16:ab 16x48 scale[1]", AVX2, .expected = "16 lines"},
        {"f32:ab>f16:ab 16x3 scale[1]", AVX2, .expected = "many ways"}, /* joined lines, whose scales are spread out */
        {"f32:ab>f16:ba 8x8", AVX2, .expected = "moved, 8 lines"},
        {"f16:ab>f32:ba 8x8", AVX2, .expected = "moved, 1 in one"},
        {"f16:ab>f32:ba 16x48 scale[0]", AVX2, .expected = "moved, 48 lines"},
        {"f32:ab>f16:ba 1000x1000", AVX2, .expected = "many ways"},
        {"u4:ab>u4:ba 8x8", AVX2, .expected = "many ways"},
        {"u4:ab>f32:ab 8x8", AVX2, .expected = "many ways"},
    };
    static const struct choice checked[] = {
        {.problem = "u8:nchw>u8:nhwc 4x3x8x8"},
        {.problem = "u8:nhwc>u8:nchw 4x3x8x8"},
        {.problem = "f32:nchw>f32:nChw16c 1x64x7x7"},
        {.problem = "f32:nchw>f32:nChw16c 3x40x9x9"},
        {.problem = "f32:ab>f16:ab 8x8"},
        {.problem = "f32:ab>f16:ab 16x48 scale[0]"},
        {.problem = "f32:ab>f16:ab 16x48 scale[1] beta"},
        {.problem = "f32:ab>f16:ba 8x8 scale"},
        {.problem = "f16:ab>f32:ba 8x8 beta"},
        {.problem = "f16:ab>f32:ba 16x48 scale[0] mean[0]"},
        {.problem = "s8:nchw>f32:nChw16c 3x64x7x7 scale[0]"},
        {.problem = "f32:nchw>s8:nhwc 3x4x7x7 scale[0] shift"},
        {.problem = "bf16:nchw>f32:nChw8c 1x3x5x7 beta"}, /* short lines that lie apart */
        {.problem = "f32:nChw4c>f32:nChw16c 2x3x12x8 beta"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_one_tile);
    check_results(checked, COUNT(checked));
}

/* Threads may have any part of the items, also of those that one call would move. */
static void check_parts(const char *problem)
{
    enum { ELEMENTS = 3 * 64 * 7 * 7 };
    static float src[ELEMENTS], whole[ELEMENTS], parts[ELEMENTS];
    tsr_plan *plan = plan_of(&(struct choice){.problem = problem});
    const tsr_box *box = plan->principal;
    for (int i = 0; i < ELEMENTS; i++)
        src[i] = (float)(i + 1);
    assert_true(box->elements <= ELEMENTS);
    assert_true(box->items > 1);
    assert_non_null(box->one_tile.run);
    memset(whole, 0, sizeof whole);
    assert_int_equal(tsr_plan_run(plan, src, whole, NULL), TSR_OK);
    for (int64_t end = 0; end <= box->items; end++) {
        memset(parts, 0, sizeof parts);
        tsr_box_run(box, &plan->kernels, &plan->moved, src, parts, 0, end);
        tsr_box_run(box, &plan->kernels, &plan->moved, src, parts, end, box->items);
        assert_memory_equal(parts, whole, sizeof whole);
    }
    tsr_plan_free(&plan);
}

static void test_parts_of_one_tile(void **state)
{
    (void)state;
    check_parts("f32:nchw>f32:nChw16c 1x64x7x7");
    check_parts("s8:nchw>f32:nChw16c 3x32x5x5 scale[0]"); /* with a factor for each of three tiles */
}

static void describe_way(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    const char *lines = box->streams_by_rows ? "lines by rows" : "lines";
    const char *way = box->finds_lines     ? "found lines"
                      : box->streams_lines ? lines
                      : box->streams_rows  ? "rows"
                      : box->streams       ? "scratch memory"
                      : box->buffers       ? "buffers"
                                           : "caches";
    snprintf(text, TEXT_SIZE, "%s, %" PRId64, way, box->column.step);
}

/* Both of these, pixels and conversions, where the last cache is far. */
static void test_far_cache(void **state)
{
    static const struct choice choices[] = {
        {"f32:ab>f32:ba 1008x3000", AVX512, FAR, .expected = "lines, 64"}, /* rows an odd number of lines apart */
        {"f32:ab>f32:ba 1008x3000", AVX2, FAR, .expected = "lines, 64"},
        {"f32:ab>f32:ba 1008x3000", PLAIN_C, FAR, .expected = "scratch memory"},
        {"u16:ab>u16:ba 992x3000", AVX512, FAR, .expected = "lines, 32"},
        {"f32:ab>f32:ba 1008x200", AVX512, FAR, .expected = "caches"},             /* 1.6 MB */
        {"f32:ab>f32:ba 1024x3000", AVX512, FAR, .expected = "scratch memory"},    /* 4 KB apart, */
        {"f32:ab>f32:ba 96x30000", AVX512, FAR, .expected = "scratch memory"},     /* and 128 bytes */
        {"f32:ab>f32:ba 8192x8192", AVX512, FAR, .expected = "lines by rows, 32"}, /* 512 MB */
        {"f32:ab>f32:ba 8192x8192", AVX2, FAR, .expected = "scratch memory"},
        {"u16:ab>u16:ba 8192x16384", AVX512, FAR, .expected = "lines by rows, 64"},
        {"u8:ab>u8:ba 16384x16384", AVX512, FAR, .expected = "lines by rows, 64"}, /* a line of each */
        {"f64:ab>f64:ba 1024x3000", AVX512, FAR, .expected = "lines by rows, 16"},
        {"f64:ab>f64:ba 1024x3000", AVX2, FAR, .expected = "scratch memory"},
        {"f64:ab>f64:ba 20000x32", AVX512, FAR, .expected = "caches"},          /* few rows */
        {"f64:ab>f64:ba 1016x3000", AVX512, FAR, .expected = "lines, 32"},      /* rows an odd number of lines apart */
        {"u8:ab>u8:ba 4224x8192", AVX512, FAR, .expected = "lines, 64"},        /* bytes, 69 MB */
        {"u8:ab>u8:ba 4224x1024", AVX512, FAR, .expected = "scratch memory"},   /* 9 MB */
        {"u16:abc>u16:acb 100x4096x12", AVX512, FAR, .expected = "lines, 128"}, /* few rows */
        {"f32:ab>f32:ba 1001x3000", AVX512, FAR, .expected = "found lines, 64"},
        {"f32:ab>f32:ba 1001x3000", AVX2, FAR, .expected = "caches, 64"},
        {"f32:ab>f32:ba 3001x3000", AVX2, FAR, .expected = "found lines, 64"}, /* 72 MB */
        {"f32:abc>f32:acb 150x1001x49", AVX512, FAR, .expected = "found lines, 64"},
        {"f32:abc>f32:acb 64x1001x49", AVX512, FAR, .expected = "caches, 128"}, /* which follow 49 rows of 26 MB */
        /* 1 KB of each, as there are no more than 9; */
        {"f32:oihw>f32:ohwi 512x512x3x3", AVX512, FAR, .expected = "caches, 256"},
        {"f32:oihw>f32:OIhw4i16o4i 512x512x3x3", AVX512, FAR, .expected = "caches, 256"},
        {"f32:oihw>f32:hwio 512x512x3x3", AVX512, FAR, .expected = "scratch memory, 32"}, /* 9 of many */
        {"f64:ab>f64:ba 1001x3000", AVX512, FAR, .expected = "found lines, 32"},
        {"f64:ab>f64:ba 1001x3000", AVX2, FAR, .expected = "found lines, 32"},
        {"f64:ab>f64:ba 1001x1600", AVX2, FAR_AND_LARGE, .expected = "caches, 32"}, /* 26 MB */
        {"f64:ab>f64:ba 1001x2000", AVX2, FAR_AND_LARGE, .expected = "found lines, 32"},
        {"f32:ab>f32:ba 1001x3000", AVX512, FAR_AND_LARGE, .expected = "caches, 64"},
        {"f32:ab>f32:ba 1001x4000", AVX512, FAR_AND_LARGE, .expected = "found lines, 64"},
        {"f32:ab>f32:ba 1025x1025", AVX512, FAR_AND_LARGE, .expected = "caches, 16"},      /* both sides share sets, */
        {"f32:ab>f32:ba 1025x1500", AVX512, FAR_AND_LARGE, .expected = "found lines, 64"}, /* or rows alone */
        {"u16:ab>u16:ba 1001x3000", AVX512, FAR, .expected = "caches, 128"},
        {"u16:ab>u16:ba 3001x6000", AVX512, FAR, .expected = "found lines, 128"}, /* 72 MB */
        {"u16:ab>u16:ba 3001x6000", AVX2, FAR, .expected = "scratch memory"},
        {"u16:ab>u16:ba 2049x3000", AVX512, FAR, .expected = "found lines, 128"}, /* rows that share sets */
        {"u8:ab>u8:ba 3001x3000", AVX512, FAR, .expected = "caches, 256"},
        {"u8:ab>u8:ba 2049x3000", AVX512, FAR, .expected = "scratch memory, 256"},
        {"u8:ab>u8:ba 9001x9000", AVX512, FAR, .expected = "found lines, 256"},
        {"f32:oihw>f32:OIhw16i16o 512x512x3x3", AVX512, FAR, .expected = "caches"}, /* rows in another order */
        /* within the caches: rows 4 bytes less than 2 KB apart */
        {"f32:ab>f32:ba 511x500", AVX512, FAR, .expected = "caches, 256"},
        {"f32:ab>f32:ba 513x500", AVX2, FAR, .expected = "caches, 272"},
        {"f32:ab>f32:ba 65x65", AVX2, FAR, .expected = "caches, 65"},
        {"f32:ab>f32:ba 193x100", AVX2, FAR, .expected = "caches, 80"},
        {"f32:ab>f32:ba 321x100", AVX2, FAR, .expected = "caches, 65"}, /* one more than four times 80 */
        {"f32:ab>f32:ba 196x100", AVX2, FAR, .expected = "caches, 64"},
        {"f32:ab>f32:ba 100x100", AVX2, FAR, .expected = "caches, 64"},
        {"f32:ab>f32:ba 500x500", AVX512, FAR, .expected = "caches, 64"},
        {"f32:ab>f32:ba 1024x128", AVX512, FAR, .expected = "caches"}, /* 1 MB, rows 4 KB apart */
        {"f32:ab>f32:ba 1024x128", AVX2, FAR, .expected = "buffers"},
        {"f32:nchw>f32:nhwc 1x3x1080x1920", AVX2, FAR, .expected = "lines"},
        {"f32:nhwc>f32:nchw 1x3x1080x1920", AVX2, FAR, .expected = "lines"},
        {"f32:nhwc>f32:nchw 1x3x1080x1920", AVX512, FAR, .expected = "lines"},
        {"f32:nhwc>f32:nchw 1x3x100x200", AVX512, FAR, .expected = "caches"},  /* 480 KB */
        {"f32:nhwc>f32:nchw 9x3x225x225", AVX512, FAR, .expected = "caches"},  /* rows begin inside of lines */
        {"u8:nhwc>f32:nchw 1x3x1080x1920", AVX512, FAR, .expected = "caches"}, /* converted */
        /* rows inside of lines: to bytes in two steps; to f16, of which half as much is converted again; or in one */
        {"u16:ab>u8:ba 2001x3000", AVX512, FAR, .expected = "caches, 64"},
        {"f64:ab>f16:ba 2001x3000", AVX512, FAR, .expected = "scratch memory, 64"},
        {"f32:ab>u8:ba 2001x3000", AVX512, FAR, .expected = "scratch memory, 286"},
        {"u16:ab>u8:ba 2048x3000", AVX512, FAR, .expected = "lines, 64"}, /* whole lines */
        {"f32:a>bf16:a 1000000", AVX512, FAR, .expected = "rows"},
        {"u8:a>f32:a 1000000", AVX2, FAR, .expected = "rows"},
        {"f32:a>bf16:a 200000", AVX512, FAR, .expected = "caches"},         /* 1.2 MB */
        {"f32:a>f32:a 1000000", AVX512, FAR, .expected = "scratch memory"}, /* a copy, though in order */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_way);
}

/* Pixels of bytes that are converted go past the last cache if they exceed it, and those that are looked up sooner. */
static void test_loaded_pixels(void **state)
{
    static const struct choice choices[] = {
        {"u8:nhwc>f32:nchw 32x3x224x224 scale[1]", AVX2, .expected = "caches"}, /* 24 MB */
        {"u8:nhwc>f32:nchw 64x3x224x224 scale[1]", AVX2, .expected = "lines"},
        {"u8:nhwc>f32:nchw 256x3x224x224 scale[1]", AVX2, FAR, .expected = "lines"},
        {"u8:nhwc>f32:nchw 64x3x225x225 scale[1]", AVX2, .expected = "caches"}, /* rows begin inside of lines */
        {"u8:nhwc>f16:nchw 48x3x224x224 scale[1]", AVX2, .expected = "caches"}, /* 22 MB */
        {"u8:nhwc>f16:nchw 48x3x224x224 scale[1]", AVX512_VBMI, .expected = "lines"},
        {"u8:nhwc>f16:nchw 48x3x224x224", AVX512_VBMI, .expected = "lines"},
        {"u8:nhwc>f16:nchw 16x3x224x224", AVX512_VBMI, .expected = "caches"},
        {"f32:nhwc>f32:nchw 16x3x224x224 scale[1]", AVX2, .expected = "lines"}, /* as pixels that are copied: 19 MB */
        {"f32:nhwc>f32:nchw 8x3x224x224 scale[1]", AVX2, .expected = "caches"},
        {"f32:nhwc>f32:nchw 4x3x224x224 scale[1]", AVX2, FAR, .expected = "lines"},
        {"f32:nchw>f16:nhwc 11x3x224x224", AVX2, .expected = "lines"}, /* 10 MB: joined ones sooner */
        {"f32:nchw>f16:nhwc 4x3x224x224", AVX2, .expected = "caches"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_way);
}

/* Are images converted and parted, or joined, at once? */
static void describe_kernel(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const char *name = plan->principal->kernel_name;
    const bool is_at_once = strcmp(name, "pixels") == 0 || strcmp(name, "joined_pixels") == 0;
    snprintf(text, TEXT_SIZE, "%s", is_at_once ? "at once" : "not at once");
}

static void test_pixels_at_once(void **state)
{
    static const struct choice choices[] = {
        {"u8:nhwc>f16:nchw 1x3x16x16", AVX512_VBMI, .expected = "at once"},
        {"u8:nhwc>f16:nchw 1x3x15x17", AVX512_VBMI, .expected = "not at once"}, /* fewer pixels than a map has values */
        {"u8:nhwc>f16:nchw 1x3x15x17 scale[1]", AVX512_VBMI, .expected = "at once"}, /* no map for all */
        {"u8:nhwc>f16:nchw 1x3x15x17", AVX512, .expected = "at once"},
        {"f32:nchw>u8:nhwc 1x3x8x9 scale[1]", AVX2, .expected = "at once"},
        {"f32:nchw>u8:nhwc 1x3x7x9 scale[1]", AVX2, .expected = "not at once"}, /* fewer than fill vectors */
        {"f32:nchw>u8:nhwc 1x5x8x9 scale[1]", AVX2, .expected = "not at once"},
        {"f32:nhwc>f32:nchw 1x4x40x40 scale[1]", AVX2, .expected = "at once"},
        {"f32:nhwc>f32:nchw 1x4x7x9 scale[1]", AVX2, .expected = "not at once"},
        {"f32:nhwc>u8:nchw 1x4x32x32 scale[1]", AVX2, .expected = "at once"},
        {"f32:nhwc>u8:nchw 1x4x31x33 scale[1]", AVX2, .expected = "not at once"}, /* less than 1 KB of each channel, */
        {"f32:nhwc>f16:nchw 1x4x31x33 scale[1]", AVX2, .expected = "at once"},    /* and more */
        {"f32:nhwc>f32:nchw 1x4x40x40 scale[1] beta", AVX2, .expected = "not at once"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_kernel);
}

/* A kernel, and how many elements it was asked to write past the caches; and one that always does. */
static tsr_tile_kernel counted, counted_finder;
static int64_t elements_past;

static void count_columns(void *dst, const void *src, const tsr_tile *tile)
{
    elements_past += tile->streams ? tile->rows * tile->columns : 0;
    counted(dst, src, tile);
}

static void count_found(void *dst, const void *src, const tsr_tile *tile)
{
    elements_past += tile->rows * tile->columns;
    counted_finder(dst, src, tile);
}

/* Of how many elements are there lines, at addresses that do not begin one? */
static void test_addresses(void **state)
{
    static const struct {
        const char *problem;
        size_t at; /* bytes behind a line */
        int64_t elements;
    } cases[] = {
        {"f32:ab>f32:ba 160x16", 0, 160 * 16},
        {"f32:ab>f32:ba 160x16", 16, 160 * 16 - 16}, /* all but the parts of a first and a last one */
        {"f32:ab>f32:ba 160x16", 60, 160 * 16 - 16},
        {"f32:ab>f32:ba 160x16", 2, 0}, /* inside of elements */
        {"f32:ab>f32:ba 48x16", 0, 48 * 16},
        {"f32:ab>f32:ba 48x16", 16, 48 * 16 - 16},
        {"u16:ab>u16:ba 512x16", 14, 512 * 16 - 32},
        {"f64:ab>f64:ba 64x12", 8, 64 * 12 - 8},
        {"f32:ab>f32:[b16:176,a160:1] 160x16", 16, 144 * 16}, /* rows that do not go on in the next ones */
        {"f32:ab>f32:[b16:64,a48:1] 48x16", 16, 0},           /* and are short */
        {"f32:ab>f32:ba 168x16", 16, 0},                      /* each row begins elsewhere: */
        {"f32:ab>f32:ba 201x16", 0, 201 * 16},
        {"f32:ab>f32:ba 201x16", 60, 201 * 16},
        {"f32:ab>f32:ba 201x16", 62, 0},
        {"f64:ab>f64:ba 97x16", 8, 97 * 16},
        {"f32:ab>f32:ba 385x16", 4, 384 * 16},      /* a line's worth of the next tile, in which there is none */
        {"f32:ab>f32:ba 753x16", 4, 768 * 16},      /* of two tiles, */
        {"f64:abc>f64:acb 2x97x513", 8, 194 * 513}, /* and of two more of rows */
    };
    static unsigned char src[1 << 20];
    static _Alignas(64) unsigned char dst[sizeof src + 64];
    (void)state;
    if (!has_rung(AVX2))
        return; /* there are no such kernels */
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct choice choice = {cases[i].problem, AVX2, .streaming = TSR_STREAMING_ALWAYS};
        tsr_plan *plan = plan_of(&choice);
        tsr_tile_entry *finder = &plan->kernels.lines[tsr_width_of_bytes(plan->moved.dst_bytes)];
        counted = plan->principal->kernel;
        counted_finder = finder->run;
        finder->run = count_found;
        elements_past = 0;
        assert_int_equal(plan->element_boxes, 1);
        plan->boxes[0].kernel = count_columns;
        assert_int_equal(tsr_plan_run(plan, src, dst + cases[i].at, NULL), TSR_OK);
        if (elements_past != cases[i].elements)
            fail_msg("%s at %zu: expected %d elements past the caches, found %d", cases[i].problem, cases[i].at,
                     (int)cases[i].elements, (int)elements_past);
        tsr_plan_free(&plan);
    }
}

static void describe_buffers(char text[TEXT_SIZE], const tsr_plan *plan)
{
    snprintf(text, TEXT_SIZE, "%s", plan->principal->buffers ? "buffers" : "no buffers");
}

/* Which transposes there go through scratch memory, but not past the caches, as the lines that they write share sets,
 * with each other or with those that they read. */
static void test_buffers(void **state)
{
    static const struct choice choices[] = {
        {"f32:ab>f32:ba 1024x256", AVX512, .expected = "buffers"},
        {"f32:ab>f32:ba 1008x256", AVX512, .expected = "no buffers"},
        {"f32:ab>f32:ba 512x256", AVX512, .expected = "no buffers"},
        {"f32:oihw>f32:hwio 64x64x2x4", AVX512, .expected = "no buffers"}, /* 8 rows to a set, which holds 8, */
        {"f32:oihw>f32:hwio 64x64x3x3", AVX512, .expected = "buffers"},    /* 9, */
        {"f32:oihw>f32:hwio 64x64x3x3", AVX2, .expected = "no buffers"},
        {"f32:oihw>f32:hwio 64x64x4x4", AVX512, .expected = "buffers"}, /* 16, with those of other filters near them, */
        {"f32:oihw>f32:hwio 64x64x4x4", AVX2, .expected = "no buffers"},    /* but not in halves, */
        {"f32:oihw>f32:hwio 256x64x4x4", AVX512, .expected = "no buffers"}, /* or 1 KB apart, */
        {"f32:oihw>f32:hwio 256x64x4x4", AVX2, .expected = "no buffers"},   /* completed in halves */
        {"f32:oihw>f32:hwio 128x64x4x4", AVX512, .expected = "buffers"},    /* 512 bytes apart */
        {"u8:oihw>u8:hwio 64x64x4x4", AVX512, .expected = "no buffers"},    /* bytes */
        {"f32:oihw>f32:hwio 8x512x4x4", AVX512, .expected = "no buffers"},  /* half a line of each */
        {"u16:oihw>u16:hwio 64x64x4x4", AVX2, .expected = "buffers"},
        {"u16:nChw16c>u16:nchw 4x64x64x64", AVX2, .expected = "buffers"},
        {"u16:nChw16c>u16:nchw 16x64x64x64", AVX2, .expected = "no buffers"}, /* 16 rows 8 KB apart */
        {"u16:nChw16c>u16:nchw 16x64x64x64", PLAIN_C, .expected = "buffers"},
        {"f32:oihw>f32:hwio 64x64x6x6", AVX512, .expected = "buffers"}, /* and 36 */
        /* rows and columns are one element more than half a page apart */
        {"f32:ab>f32:ba 513x513", AVX512, .expected = "buffers"},
        {"f32:ab>f32:ba 513x513", AVX2, .expected = "buffers"},
        {"f32:ab>f32:ba 513x1025", AVX512, .expected = "buffers"},
        {"u16:ab>u16:ba 1025x1025", AVX512, .expected = "buffers"},
        {"u64:ab>u64:ba 257x257", AVX2, .expected = "buffers"},
        {"f32:ab>f32:ba 511x511", AVX512, .expected = "no buffers"}, /* one less: */
        {"f32:ab>f32:ba 511x513", AVX512, .expected = "no buffers"}, /* such lines meet where tiles are on a diagonal */
        {"f32:ab>f32:ba 514x514", AVX512, .expected = "no buffers"},
        {"f32:ab>f32:ba 513x600", AVX512, .expected = "no buffers"},
        {"f32:ab>f32:ba 257x257", AVX512, .expected = "no buffers"},   /* a quarter of a page: more sets */
        {"f32:ab>f32:ba 1025x1025", AVX512, .expected = "no buffers"}, /* so large that its lines are streamed */
        /* what is converted goes through scratch memory anyway */
        {"f64:ab>s64:ba 257x257", AVX512, .expected = "no buffers"},
    };
    static const struct choice places[] = {
        {"f32:oihw>f32:hwio 48x64x4x4", AVX512, .expected = "buffers"},
        {"u16:oihw>u16:hwio 64x64x6x6", AVX512, .expected = "buffers"},
        {"f64:abc>f64:cba 32x64x16", AVX512, .expected = "buffers"},
        {"f32:oihw>f32:hwio 64x80x6x6", AVX512, .expected = "buffers"},
        {"f32:abc>f32:cba 64x80x32", AVX512, .expected = "buffers"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_buffers);
    check_choices(places, COUNT(places), describe_buffers);
    check_results(places, COUNT(places));
}

static void describe_last_loop(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_chain *column = &plan->principal->column;
    const tsr_loop *last = &column->loop[column->count - 1];
    snprintf(text, TEXT_SIZE, "%s", last->dst == column->loop[0].n ? "lines" : "pieces");
}

/* Channels whose pieces are parts of lines that caches would lose: some are put side by side first. */
static void test_parts_of_channels(void **state)
{
    static const struct choice choices[] = {
        {"s8:OIhw4i16o4i>s8:hwio 512x512x3x3", .expected = "lines"},    /* 9 places of a set */
        {"u16:BA16a16b2a>u16:ab 1024x1024", .expected = "lines"},       /* channels 2 KB apart, */
        {"u16:BA16a16b2a>u16:ab 1000x1000", .expected = "pieces"},      /* and 2000 bytes */
        {"s8:OIhw4i16o4i>s8:hwio 128x512x3x3", .expected = "pieces"},   /* short rows */
        {"f32:OIhw4i16o4i>f32:hwio 512x512x3x3", .expected = "pieces"}, /* whole lines */
    };
    static const struct choice checked[] = {
        {.problem = "s8:OIhw4i16o4i>s8:hwio 1025x41x3x3", .rung = HIGHEST},
        {.problem = "s8:OIhw4i16o4i>s8:hwio 1024x48x3x2", .rung = UP_TO_AVX2},
        {.problem = "u16:BA16a16b2a>u16:ab 1000x1024", .rung = HIGHEST},
        {.problem = "u16:BA16a16b2a>u16:ab 1000x1024", .rung = UP_TO_AVX2},
        {.problem = "bf16:OIhw8i16o2i>bf16:hwio 520x40x3x3", .rung = PLAIN_C},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_last_loop);
    check_results(checked, COUNT(checked));
}

static void describe_conversion(char text[TEXT_SIZE], const tsr_plan *plan)
{
    snprintf(text, TEXT_SIZE, "%s", plan->principal->converts_first ? "before" : "after");
}

/* When transposes convert: before they move what becomes narrower, or is as wide and goes to lines; after others. */
static void test_conversions(void **state)
{
    static const struct choice choices[] = {
        {"f32:ab>bf16:ba 200x200", .expected = "before"},
        {"bf16:ab>f32:ba 2000x2000", .expected = "after"},
        {"f32:ab>s32:ba 200x200", AVX2, .expected = "after"}, /* within the second-level cache, */
        {"f32:ab>s32:ba 2000x1000", AVX2, .expected = "before"},
        {"f16:ab>bf16:ba 1500x1000", AVX2, .expected = "before"},      /* and beyond it, through the caches */
        {"u16:ab>bf16:ba 1500x1000", AVX2, .expected = "before"},      /* whatever it takes; */
        {"f16:ab>bf16:ba 4000x1000", AVX2, FAR, .expected = "before"}, /* or past them, to lines, */
        {"f16:ab>bf16:ba 3000x1000", AVX2, FAR, .expected = "after"},  /* or not; */
        {"u16:ab>bf16:ba 4000x1000", AVX2, FAR, .expected = "after"},  /* of which no kernel takes many, */
        {"s8:ab>u8:ba 4096x1000", AVX2, FAR, .expected = "after"},
        {"f16:ab>bf16:ba 9000x3000", AVX2, .expected = "before"}, /* past a near cache, */
        {"f16:ab>bf16:ba 3000x1000", AVX512, FAR, .expected = "after"},
        {"f16:ab>bf16:[b100000:24,a20:1] 20x100000", AVX2, FAR, .expected = "before"}, /* rows too short for it */
        {"f32:ab>s32:ba 2001x1000", AVX2, FAR, .expected = "before"}, /* wide elements, for which there are lines */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_conversion);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),           cmocka_unit_test(test_found_lines),
        cmocka_unit_test(test_small_blocks),    cmocka_unit_test(test_units),
        cmocka_unit_test(test_reads),           cmocka_unit_test(test_pixels),
        cmocka_unit_test(test_threads),         cmocka_unit_test(test_few_rows),
        cmocka_unit_test(test_columns),         cmocka_unit_test(test_fetches),
        cmocka_unit_test(test_groups),          cmocka_unit_test(test_joined_tiles),
        cmocka_unit_test(test_one_tile),        cmocka_unit_test(test_parts_of_one_tile),
        cmocka_unit_test(test_far_cache),       cmocka_unit_test(test_loaded_pixels),
        cmocka_unit_test(test_pixels_at_once),  cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_buffers),         cmocka_unit_test(test_parts_of_channels),
        cmocka_unit_test(test_alike_tiles),     cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_rest_of_columns), cmocka_unit_test(test_narrowed_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
