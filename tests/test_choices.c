/* SPDX-License-Identifier: Apache-2.0 */
/* Which way elements go past the caches or through them, and in how many columns, places or slices. */
#include "choices.h"

#include <inttypes.h>

#include "reorder/relay.h"

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
    snprintf(text, TEXT_SIZE, "%s%s", box->reads_pairs ? "pairs" : "lanes", box->reads_lines ? " of lines" : "");
}

/* Of which columns more than a lane is read at once, where the last cache is near and where it is not. */
static void test_reads(void **state)
{
    static const struct choice choices[] = {
        {"u8:ab>u8:ba 3000x5000", UP_TO_AVX2, .expected = "pairs"},
        {"u8:ab>u8:ba 3000x5000", UP_TO_AVX2, FAR, .expected = "lanes"},
        {"u8:ab>u8:ba 3000x5000", UP_TO_AVX2, DEEP, .expected = "lanes"},
        {"u8:ab>u8:ba 96x96", UP_TO_AVX2, .expected = "lanes"},
        {"u8:ab>u8:ba 1000x1000", UP_TO_AVX2, .expected = "lanes"},     /* which a near last cache holds */
        {"u8:ab>u8:ba 300x2048", UP_TO_AVX2, FAR, .expected = "pairs"}, /* columns 2 KB apart */
        /* and 4 KB, of a destination whose rows are near each other */
        {"u8:ab>u8:ba 300x4096", UP_TO_AVX2, FAR, .expected = "pairs of lines"},
        {"u8:ab>u8:ba 2049x4096", UP_TO_AVX2, FAR, .expected = "pairs of lines"}, /* or by way of scratch memory */
        {"u8:ab>u8:ba 4097x4097", UP_TO_AVX2, .expected = "pairs of lines"},      /* nearly so */
        {"u8:ab>u8:ba 4100x4100", UP_TO_AVX2, .expected = "pairs"},
        {"u16:ab>u16:ba 300x4096", UP_TO_AVX2, .expected = "lanes"},
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
        {"f32:nchw>f32:nhwc 2x3x224x224", .expected = "13 of 4096", .threads = 2}, /* which share images */
        {"f32:nchw>f32:nhwc 1x3x60x60", .expected = "1 of 3600", .threads = 2},
        {"f32:nchw>f32:nhwc 1x3x1080x1920", .expected = "2025 of 1024"}, /* streamed */
        {"f32:nchw>u8:nhwc 1x3x100x100", .expected = "10 of 1024"},      /* by way of scratch memory, 64 bytes */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_tiles);
}

static void describe_fetches(char text[TEXT_SIZE], const tsr_plan *plan)
{
    snprintf(text, TEXT_SIZE, "%s", plan->principal->fetches_lines ? "fetched" : "not fetched");
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

static void describe_streams(char text[TEXT_SIZE], const tsr_plan *plan)
{
    snprintf(text, TEXT_SIZE, "%s", plan->principal->fetches_ahead ? "fetched" : "not fetched");
}

/* Runs of which the next tile has those that lie behind them. */
static void test_runs_ahead(void **state)
{
    static const struct choice choices[] = {
        {"f32:abc>f32:bac 300x3000x5", .expected = "fetched"},     /* one of each place, */
        {"f64:abc>f64:bac 31x19586x5", .expected = "fetched"},     /* or some side by side, */
        {"f64:abc>f64:bac 31x19586x4", .expected = "not fetched"}, /* but not if they are parts of one line, */
        {"f64:abc>f64:bac 31x19586x9", .expected = "not fetched"}, /* or more than one */
        {"f64:abc>f64:bac 31x19586x5", .cache = FAR, .expected = "not fetched"},
        {"f64:abc>f64:bac 31x586x3", .expected = "not fetched"}, /* 0.4 MB */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_streams);
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

static void describe_rows_of_tile(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    snprintf(text, TEXT_SIZE, "%" PRId64 "%s", box->row.step, box->fetches_ahead ? " fetched ahead" : "");
}

/* Of whole lines that lie far apart in the source, a tile has as many as are read side by side. */
static void test_far_lines(void **state)
{
    static const struct choice choices[] = {
        {"f32:ab>f32:BA16a16b 1024x1024", .expected = "16"},
        {"f32:ab>f32:BA16a32b 1024x1024", AVX2, .expected = "16"},
        {"f32:ab>f32:BA16a16b 1024x512", .expected = "16"}, /* 2 KB apart */
        {"f32:abcd>f32:acbd 1x1000x64x16", .expected = "16"},
        {"f32:nChw16c>f32:nhwc 1x64x28x28", .expected = "64"},           /* from four places */
        {"f32:abc>f32:bac 1000x117x17", .expected = "48 fetched ahead"}, /* no whole ones */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_rows_of_tile);
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
    };
    static const struct choice checked[] = {
        {.problem = "f32:nhwc>f32:nChw8c 2x64x112x112"},
        {.problem = "f32:nChw8c>f32:nhwc 3x64x112x111"},
        {.problem = "bf16:ab>bf16:BA16a16b 520x776"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_joined_tiles);
    check_results(checked, COUNT(checked));
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
        {"f32:ab>f32:ba 513x500", AVX2, FAR, .expected = "caches, 257"},
        {"f32:ab>f32:ba 65x65", AVX2, FAR, .expected = "caches, 65"},
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
        {"f32:a>bf16:a 1000000", AVX512, FAR, .expected = "rows"},
        {"u8:a>f32:a 1000000", AVX2, FAR, .expected = "rows"},
        {"f32:a>bf16:a 200000", AVX512, FAR, .expected = "caches"}, /* 1.2 MB */
        {"f32:a>f32:a 1000000", AVX512, FAR, .expected = "caches"}, /* a copy, in order */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_way);
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
        {"f64:abc>f64:acb 2x97x513", 8, 194 * 512}, /* and of two more, which leave one row for others */
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

static void describe_copy(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    snprintf(text, TEXT_SIZE, "%s%s", box->streams ? "streamed" : "not streamed",
             box->streams_source ? " from the source" : "");
}

/* Which copies are streamed there, by way of scratch memory or from the source alone. */
static void test_copies(void **state)
{
    static const struct choice choices[] = {
        {"f32:abc>f32:bac 700x700x20", .expected = "streamed"},                                  /* short runs */
        {"f32:abc>f32:bac 700x700x33", .expected = "not streamed from the source"},              /* 132 bytes */
        {"f32:abcd>f32:acbd 8x512x12x64", .expected = "streamed from the source"},               /* whole lines */
        {"f32:abcde>f32:cadbe 8x512x3x12x32", AVX2, .expected = "not streamed from the source"}, /* with gaps */
        {"f32:abcde>f32:cadbe 8x512x3x12x32", AVX512, .expected = "not streamed from the source"},
        {"f32:abcde>f32:cadbe 8x512x3x12x64", .expected = "streamed from the source"}, /* farther apart */
        {"f32:abc>f32:bac 200x200x255", .expected = "not streamed from the source"},   /* 1020 bytes */
        {"f32:abc>f32:bac 200x200x257", .expected = "streamed from the source"},       /* and 1028 */
        {"f32:abc>f32:bac 400x400x257", .expected = "streamed from the source"},       /* 330 MB */
        {"f32:abc>f32:bac 70x60x257", .expected = "not streamed from the source"},     /* 8.6 MB */
        {"f32:abc>f32:bac 80x60x257", .expected = "streamed from the source"},         /* 9.9 MB */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_copy);
}

static void describe_order(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_loop *next = &plan->principal->row.loop[0];
    const int64_t run = plan->principal->column.n;
    snprintf(text, TEXT_SIZE, "%s", next->src == run ? "as read" : next->dst == run ? "as written" : "neither");
}

/* On which side the next run of a tile continues one that is converted. */
static void test_order_of_runs(void **state)
{
    static const struct choice choices[] = {
        {"f32:acbd>bf16:abcd 1x512x12x64", .expected = "as read"},
        {"f32:acbd>bf16:abcd 1x512x12x64", .cache = FAR, .expected = "as written"},
        {"f32:acbd>bf16:abcd 1x64x12x64", .expected = "as written"},   /* in the second-level cache */
        {"f32:acbd>bf16:abcd 8x512x12x64", .expected = "as written"},  /* streamed */
        {"f32:acbd>bf16:abcd 1x512x12x32", .expected = "as written"},  /* runs of two lines, */
        {"f32:acbd>bf16:abcd 1x512x12x128", .expected = "as written"}, /* and of eight */
        {"f32:acbd>f32:abcd 1x256x12x64", .expected = "as written"},   /* copied */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_order);
}

/* And how many times there are so many, if a loop outside of the pixels says so; elements of the source are f32. */
static void describe_places(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    const tsr_loop *first = &box->row.loop[0];
    const int64_t places = box->has_places ? first->n : 1;
    int length = snprintf(text, TEXT_SIZE, "%" PRId64, places), at = 0;
    while (at < box->walk_count - 1 && box->walk[at].src != places * first->src * 4)
        at++;
    if (at < box->walk_count - 1)
        snprintf(text + length, TEXT_SIZE - (size_t)length, ", %" PRId64 " times", box->walk[at].n);
}

/* How many places runs go to side by side there; 1 where they are taken as the destination has them. */
static void test_places(void **state)
{
    static const struct choice choices[] = {
        {"f32:nhwc>f32:nChw16c 32x256x28x28", .expected = "16"},
        {"f32:nhwc>f32:nChw16c 32x1024x14x14", .expected = "64"},
        {"f32:nhwc>f32:nChw16c 8x2048x14x14", .expected = "128"},
        {"f32:nhwc>f32:nChw16c 1x4096x14x14", .expected = "1"},
        {"f32:nhwc>f32:nChw16c 16x4096x14x14", .expected = "1"}, /* as many places as pixels */
        {"f32:abcd>f32:acbd 4x2048x64x16", .expected = "64"},
        {"f32:abcd>f32:acbd 1x2048x256x16", .expected = "256"},
        {"f32:abcd>f32:acbd 1x2048x257x16", .expected = "1"},
        {"f32:abcd>f32:acbd 1x1000x32x16", .expected = "32"}, /* through the caches */
        {"f32:abcd>f32:acbd 1x1000x64x16", .expected = "1"},
        {"f32:nhwc>f32:nChw16c 1x256x56x56", .expected = "8, 2 times"}, /* which share a set */
        {"f32:nhwc>f32:nChw16c 4x256x56x56", .expected = "16"},         /* and are streamed */
        {"f32:nhwc>f32:nChw16c 1x512x56x56", .expected = "32"},
        {"f32:nhwc>f32:nChw16c 1x512x32x32", .expected = "1"},
        {"bf16:nhwc>bf16:nChw16c 32x256x28x28", .expected = "16"}, /* half a line, */
        {"bf16:nhwc>bf16:nChw16c 32x512x28x28", .expected = "1"},  /* streamed to many, */
        {"bf16:nhwc>bf16:nChw16c 36x512x28x28", .expected = "1", .cache = FAR},
        {"bf16:nhwc>bf16:nChw16c 16x512x28x28", .expected = "32", .cache = FAR}, /* for which that cache has room, */
        {"f32:nhwc>f32:nChw8c 1x256x50x50", .expected = "32"},                   /* or not streamed */
        {"f32:nhwc>f32:nChw8c 1x256x32x32", .expected = "32"},                   /* though they share a set */
        {"f32:nhwc>f32:nChw8c 1x1024x20x20", .expected = "64, 2 times"},
        {"f32:nhwc>f32:nChw8c 1x2048x14x14", .expected = "64, 4 times"}, /* as few pixels as places */
        {"f32:nhwc>f32:nChw5c 8x40x28x28", .expected = "1"},             /* 20 bytes */
        {"f32:nhwc>f32:nChw6c 8x48x28x28", .expected = "8"}, /* 24, some of which lie in two lines: 1.2 MB, */
        {"f32:nhwc>f32:nChw6c 2x48x28x28", .expected = "1"}, /* and 300 KB */
        {"bf16:ab>bf16:BA16a16b 512x768", .expected = "48"},
        {"f32:ohwi>f32:OIhw8o8i 128x512x3x3", .expected = "2"}, /* a line of the source, */
        {"f32:nChw8c>f32:nhwc 1x512x16x16", .expected = "2"},
        {"f32:nChw8c>f32:nhwc 1x64x14x14", .expected = "1"},      /* which stay */
        {"bf16:ab>bf16:BA16a16b 4096x4096", .expected = "1"},     /* unless they are streamed */
        {"f32:nhwc>bf16:nChw16c 32x256x28x28", .expected = "16"}, /* converted */
        {"f32:nhwc>bf16:nChw16c 4x256x64x64", .expected = "16"},  /* more than the caches hold */
        {"f32:nhwc>bf16:nChw16c 1x256x32x32", .expected = "8, 2 times"},
        {"f32:nhwc>bf16:nChw32c 1x512x32x32", .expected = "16"}, /* whole lines */
        {"f32:nhwc>bf16:nChw16c 1x512x56x56", .expected = "32"}, /* two sets */
        {"bf16:abc>f32:bac 2238x48x38", .expected = "1"},        /* parts of more than a line, of many places, */
        {"bf16:abc>f32:bac 2238x48x38", .expected = "48", .cache = DEEP},
        {"bf16:abc>f32:bac 2238x31x38", .expected = "31"},
        {"bf16:abc>f32:bac 2238x32x38", .expected = "1"},
        {"bf16:abc>f32:bac 500x48x257", .expected = "48"},            /* of 1028 bytes */
        {"bf16:abc>f32:bac 4000x20x20", .expected = "20"},            /* and of few; */
        {"f32:abc>bf16:bac 2238x48x38", .expected = "48"},            /* or that become narrower */
        {"f32:abcde>f32:cadbe 8x512x3x14x32", AVX2, .expected = "7"}, /* which share a set, and leave gaps */
        {"f32:abcde>f32:cadbe 8x512x3x14x32", AVX512, .expected = "7, 2 times"},
        {"f32:nhwc>f32:nChw16c 1x256x4x4", .expected = "1"}, /* as many pixels as places */
        {"bf16:cab>bf16:aBc16b 32x4x512", .expected = "1"},  /* with padding behind the runs */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_places);
}

static void describe_steps(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_stages *stages = &plan->relay->shape[0];
    bool is_streamed = false, has_others = false;
    assert_true(stages->count > 1);
    for (int stage = 0; stage < stages->count; stage++) {
        const tsr_box *box = stages->stage[stage]->principal;
        has_others |= is_streamed;
        is_streamed = box->streams || box->streams_lines;
    }
    snprintf(text, TEXT_SIZE, "%s%s", is_streamed ? "last step" : "no last step", has_others ? " and others" : "");
}

/* Of the steps of a relay, the last one alone may write what the caches have no room for. */
static void test_last_steps(void **state)
{
    static const struct choice choices[] = {
        {"u16:aBc12b>u16:aBc8b 16x240x12544", .expected = "last step", .row = "relay"},
        {"u16:aBc12b>u16:aBc8b 16x240x12544", .expected = "no last step", .streaming = TSR_STREAMING_NEVER,
         .row = "relay"},
        {"u16:aBc12b>u16:aBc8b 1x240x784", .expected = "no last step", .row = "relay"},
        {"u16:aBc12b>u16:aBc8b 1x240x784", .expected = "last step", .streaming = TSR_STREAMING_ALWAYS, .row = "relay"},
        {"u8:nhwc>f64:cnhw 64x256x28x28", .expected = "last step", .row = "relay"}, /* converted where they lie */
        {"u8:nhwc>f64:cnhw 1x256x28x28", .expected = "no last step", .row = "relay"},
        {"s8:oihw>s8:OIhw4i16o4i 1024x512x3x3", .expected = "last step", .row = "relay"}, /* four become one */
        {"s8:oihw>s8:OIhw4i16o4i 256x256x3x3", .expected = "no last step", .row = "relay"},
        {"s8:nhwc>s8:nchw 32x256x28x28", .expected = "last step", .row = "relay"}, /* rows of 784 bytes */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_steps);
}

static void describe_rows(char text[TEXT_SIZE], const tsr_plan *plan)
{
    snprintf(text, TEXT_SIZE, "%s", plan->principal->streams_rows ? "streamed" : "not streamed");
}

/* Which rows are streamed as they are converted. */
static void test_rows(void **state)
{
    static const struct choice choices[] = {
        {"f32:a>bf16:a 4000000", .expected = "streamed"}, /* 24 MB */
        {"f32:a>bf16:a 4000000", .expected = "not streamed", .streaming = TSR_STREAMING_NEVER},
        {"f32:a>bf16:a 1000000", .expected = "not streamed"}, /* 6 MB */
        {"f32:a>bf16:a 1000000", .expected = "streamed", .streaming = TSR_STREAMING_ALWAYS},
        {"s8:a>u8:a 6000000 scale", .expected = "streamed"},
        {"u8:a>f32:a 2000000", .expected = "not streamed"}, /* 10 MB, most of which is written */
        {"u8:a>f32:a 4000000", .expected = "streamed"},
        {"u8:a>f32:a 4000000", .expected = "not streamed", .threads = 2},
        {"u8:a>f32:a 9000000", .expected = "streamed", .threads = 2},
        {"f32:nchw>s8:nchw 32x256x32x32 scale[1]", .expected = "streamed"},     /* rows of 1 KB */
        {"f32:nchw>s8:nchw 32x256x28x28 scale[1]", .expected = "not streamed"}, /* and less */
        {"f32:nchw>s8:nchw 32x256x28x28 scale", .expected = "streamed"},        /* one row */
        {"f32:nhwc>s8:nhwc 32x64x56x56 scale[3]", .expected = "not streamed"},
        {"f32:nhwc>f32:nhwc 64x256x56x56 scale[1]", .expected = "streamed"}, /* which runs of 256 are not */
        {"f32:a>f64:a 4000000", .expected = "not streamed"},                 /* there is no such kernel */
        {"f32:a>f32:a 8000000 scale mean", .expected = "streamed"},
        {"f32:a>f32:a 8000000 beta", .expected = "not streamed"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(choices); i++) {
        struct choice choice = choices[i];
        choice.expected = has_rung(AVX2) ? choice.expected : "not streamed"; /* lower ones have no such kernels */
        check_choices(&choice, 1, describe_rows);
    }
}

static void describe_run(char text[TEXT_SIZE], const tsr_plan *plan)
{
    snprintf(text, TEXT_SIZE, "%" PRId64, plan->principal->column.step);
}

/* How much of a long run is moved as one. */
static void test_runs(void **state)
{
    static const struct choice choices[] = {
        {"f32:a>s8:a 1000000", .expected = "1000000"},
        {"f32:a>s8:a 1000000", .expected = "500032", .threads = 2}, /* whole lines of the destination */
        {"s8:a>bf16:a 1000000 scale", .expected = "1000000"},       /* in two steps */
        {"f32:[a30:5000,b5000:1]>f32:ab 30x4000", .expected = "4000"},
        {"f32:nchw>s8:nchw 1x64x56x56 scale[1]", .expected = "3136"},
        {"f32:a>bf16:a 4000000", AVX2, .expected = "4000000"},           /* streamed as it is converted, */
        {"f32:a>f64:a 4000000", .expected = "2048"},                     /* by way of scratch memory, */
        {"f32:ab>bf16:ab 2000x6000 scale[1]", AVX2, .expected = "6000"}, /* with a factor of each */
        {"f32:[a500000:1,a16:500000]>bf16:[a500000:1,a16:500000] 8000000 scale[0]", .expected = "4096"}, /* looked up */
        {"u4:a>f32:a 1000000", .expected = "4096"},                      /* elements of 4 bits */
        {"u8:nhwc>f32:nhwc 1x3x224x224 scale[1]", .expected = "150528"}, /* short runs with the same factors each */
        {"u8:nhwc>f32:nhwc 1x3x224x224 scale[1]", .expected = "75264", .threads = 2}, /* whole pixels and lines */
        {"f32:nhwc>f32:nhwc 1x256x28x28 scale[1]", .expected = "256"},                /* long ones */
        {"f32:OIhw4i16o4i>s8:OIhw4i16o4i 512x16x1x1 scale[0]", .expected = "256"},    /* and of each but a few inputs */
        {"f32:nChw16c>s8:nChw16c 1x64x28x28 scale[1]", .expected = "12544"},          /* blocks of each channel, */
        {"f32:nChw16c>s8:nChw16c 1x64x7x7 scale[1]", AVX2, .expected = "16"},         /* of few pixels, */
        {"f32:nChw16c>s8:nChw16c 1x64x7x7 scale[1]", PLAIN_C, .expected = "784"},     /* if a kernel takes runs */
        {"s16:nChw16c>s32:nChw16c 1x64x7x7 scale[1]", .expected = "784"},             /* which no kernel takes */
    };
    static const struct choice checked[] = {
        {"f32:[a5000:1,a16:5000]>bf16:[a5000:1,a16:5000] 80000 scale[0]", .streaming = TSR_STREAMING_ALWAYS},
        {"f32:a>f64:a 80000", .streaming = TSR_STREAMING_ALWAYS},
        {"s8:a>bf16:a 80000 scale", .streaming = TSR_STREAMING_ALWAYS},
        {"s8:a>u8:a 80001 scale", .streaming = TSR_STREAMING_ALWAYS},
        {"u8:a>s8:a 80001", .streaming = TSR_STREAMING_ALWAYS},
        {"s8:a>bool:a 80001", .streaming = TSR_STREAMING_ALWAYS},
        {"bool:a>u8:a 80001", .streaming = TSR_STREAMING_ALWAYS},
        {"u8:ab>s8:ab 3x21001 scale[0]", .streaming = TSR_STREAMING_ALWAYS},
        {"s8:ab>f16:ab 3x21001 scale[0] mean[0]", .streaming = TSR_STREAMING_ALWAYS},
        {"u8:nhwc>f32:nhwc 2x3x70x70 scale[1] mean[1]", .streaming = TSR_STREAMING_ALWAYS},
        {"f32:nhwc>s8:nhwc 3x1023x7x11 scale[1] shift[1] beta", .streaming = TSR_STREAMING_NEVER},
        {"f32:nChw8c>f32:nChw8c 2x40x5x7 scale[1] shift[1]", .streaming = TSR_STREAMING_ALWAYS},
        {"u4:abcd>u4:acbd 5x7x9x11", .row = "copy"},
        {"u8:nhwc>f32:nhwc 2x3x70x70 scale[1] mean[1] beta", .streaming = TSR_STREAMING_NEVER},
        {"u4:a>u4:a 80000 scale[0]", .streaming = TSR_STREAMING_ALWAYS},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_run);
    check_results(checked, COUNT(checked));
}

static void describe_pieces(char text[TEXT_SIZE], const tsr_plan *plan)
{
    if (plan->relay && plan->relay->cut.has_pieces)
        snprintf(text, TEXT_SIZE, "pieces, %" PRId64, plan->relay->cut.slices);
    else
        snprintf(text, TEXT_SIZE, "no pieces");
}

/* Which conversions go in pieces, one after the other on the wider side, and in how many slices. */
static void test_pieces(void **state)
{
    static const struct choice choices[] = {
        {"f32:nchw>s8:nhwc 32x256x28x28", .expected = "pieces, 64", .row = "relay"}, /* of 128 channels */
        {"f32:nchw>s8:nhwc 32x256x28x28", .expected = "pieces, 64", .streaming = TSR_STREAMING_NEVER, .row = "relay"},
        {"f32:nchw>s8:nhwc 32x192x28x28", .expected = "pieces, 96", .row = "relay"}, /* whole lines of 64 channels */
        {"f32:nchw>bf16:nhwc 32x256x28x28", .expected = "pieces, 128", .row = "relay"},
        {"s8:nhwc>f32:nchw 32x256x28x28", .expected = "pieces, 64", .row = "relay"},
        {"f32:nchw>u8:nhwc 32x100x30x30", .expected = "pieces, 32", .row = "relay"},          /* images */
        {"f32:nchw>s8:nhwc 2x256x28x28", .expected = "pieces, 4", .row = "relay"},            /* 2 MB */
        {"f32:nchw>s8:nhwc 1x256x28x28", .expected = "no pieces", .row = "relay"},            /* in the caches */
        {"f32:nchw>s8:nhwc 32x256x28x28 scale[1]", .expected = "pieces, 64", .row = "relay"}, /* factors along pixels */
        /* none is wider: rows of the destination */
        {"f32:nchw>f32:nhwc 32x256x28x28 scale", .expected = "pieces, 224", .row = "relay"},
        {"f32:nchw>s8:nhwc 32x64x112x112", .expected = "no pieces", .row = "relay"}, /* 64 channels are too many */
        {"f32:nchw>s8:nhwc 32x256x28x28", .expected = "pieces, 64"},
        {"f32:nchw>s8:nhwc 8x256x28x28", .expected = "pieces, 16", .threads = 2}, /* eight for each thread, */
        {"f32:nchw>s8:nhwc 2x256x28x28", .expected = "no pieces", .threads = 2},  /* or have too few */
        {"f32:nChw16c>s8:nhwc 32x256x28x28", AVX2, .expected = "no pieces"},      /* runs, */
        {"f32:nChw16c>s8:nhwc 32x256x28x28", PLAIN_C, .expected = "pieces"},      /* for which C has no kernel */
    };
    static const struct choice runs[] = {
        {"f32:nchw>s8:nhwc 13x192x28x28", .expected = "pieces", .row = "relay"},
        {"s8:nhwc>f32:nchw 25x100x28x28", .expected = "pieces", .row = "relay"},
        {"bf16:nchw>f32:nChw16c 3x250x50x41", .expected = "pieces", .row = "relay"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_pieces);
    check_choices(runs, COUNT(runs), describe_pieces);
    check_results(runs, COUNT(runs));
}

static void describe_row(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const char *row = tsr_plan_get_info(plan).row;
    snprintf(text, TEXT_SIZE, "%s", strcmp(row, "relay") == 0 ? row : "another row");
}

/* Rows that end inside of lines go by a relay, as long as it gains. */
static void test_broken_rows(void **state)
{
    static const struct choice choices[] = {
        {"s8:nhwc>s8:nchw 32x256x28x28", .expected = "relay"}, /* rows of 784 bytes, 13 MB */
        {"s8:nhwc>s8:nchw 32x256x28x28", .expected = "another row", .streaming = TSR_STREAMING_NEVER},
        {"s8:nhwc>s8:nchw 32x256x28x28", .expected = "another row", .threads = 2}, /* memory is no faster for two */
        {"s8:nhwc>s8:nchw 50x256x28x28", .expected = "relay", .threads = 2},
        {"s8:nhwc>s8:nchw 16x256x28x28", .expected = "another row"}, /* 6 MB */
        {"s8:nhwc>s8:nchw 32x256x32x32", .expected = "another row"}, /* whole lines */
        {"s8:nhwc>s8:nchw 32x64x57x57", .expected = "another row"},  /* long rows */
        {"u8:ab>u8:ba 30x400000", .expected = "another row"},        /* short ones */
        {"bf16:nhwc>bf16:nchw 64x255x14x14", .expected = "relay"},
        {"bf16:nhwc>bf16:nchw 64x255x14x14", .cache = DEEP, .expected = "another row"},
        {"bf16:nhwc>bf16:nchw 400x255x7x7", .cache = DEEP, .expected = "relay"},
        {"f32:nhwc>f32:nchw 128x256x14x14", .expected = "another row"}, /* rows of 784 bytes */
        {"f32:ohwi>f32:oihw 512x512x3x3", .expected = "another row"},   /* of 36, and not of 80 */
        {"f32:ohwi>f32:oihw 512x512x4x5", .expected = "relay"},
        {"f64:nhwc>f64:nchw 100x500x5x5", .expected = "relay"},
        {"f64:nhwc>f64:nchw 100x500x5x5", .cache = DEEP, .expected = "another row"},
        {"f64:ohwi>f64:oihw 512x256x3x5", .expected = "another row"},         /* 120 bytes */
        {"u8:ab>u8:[b9000:1000,a900:1] 900x9000", .expected = "another row"}, /* with gaps */
        {"u8:abc>u8:bca 300x300x222", .expected = "relay"},
        {"u8:abc>u8:cba 300x222x300", .expected = "another row"}, /* a line of the source is parted among far rows */
        {"u16:hwio>u16:OIhw16o16i 2048x300x3x3", .expected = "another row"}, /* blocks have half of one */
    };
    static const struct choice checked[] = {{"f32:nhwc>f32:nchw 62x512x7x7", .expected = "relay"},
                                            {"f64:nhwc>f64:nchw 61x513x5x5", .expected = "relay"}};
    (void)state;
    check_choices(choices, COUNT(choices), describe_row);
    check_choices(checked, COUNT(checked), describe_row);
    check_results(checked, COUNT(checked));
}

/* Neighbours are joined by a relay if its stages cost less than rows and columns that do not fill kernels. */
static void test_joined_neighbours(void **state)
{
    static const struct choice choices[] = {
        {"s8:oihw>s8:OIhw4i16o4i 512x512x3x3", AVX512, .expected = "relay"},
        {"u8:AB8a8b>u8:ba 2048x512", AVX2, .expected = "relay"},
        {"u8:abcde>u8:aecdb 129x4x256x18x10", AVX512_VBMI, .expected = "relay"},
        {"u8:abcdef>u8:ecdfba 13x2x32x297x41x2", AVX512, .expected = "another row"}, /* from two far apart */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_row);
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

/* Conversions that a relay has apart, as long as slices have long lines to convert. */
static void test_apart(void **state)
{
    static const struct choice choices[] = {
        {"u8:nhwc>s8:nChw32c 4x24x512x128", AVX512, .expected = "relay"}, /* padding is converted with its block */
        {"f64:abc>u8:cba 512x200x48", AVX512, .expected = "another row"}, /* 24 pixels of each */
        /* runs that come from memory, in order */
        {"f32:abc>u8:bac 709x270x37", AVX512, DEEP, .expected = "relay"},
        {"f32:abc>u8:bac 709x270x37", AVX512, NEAR, .expected = "another row"},
        {"f32:abc>u8:bac 100x270x37", AVX512, DEEP, .expected = "another row"}, /* 2 MB */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_order_of_runs),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_last_steps),
        cmocka_unit_test(test_joined_neighbours),
        cmocka_unit_test(test_broken_rows),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_parts_of_channels),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_found_lines),
        cmocka_unit_test(test_far_cache),
        cmocka_unit_test(test_fetches),
        cmocka_unit_test(test_runs_ahead),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_far_lines),
        cmocka_unit_test(test_joined_tiles),
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_pixels),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_small_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
