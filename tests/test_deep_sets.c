/* SPDX-License-Identifier: Apache-2.0 */
/* What differs where the last cache is near and sets of the first one are deep (tsr_has_deep_sets). */
#include "choices.h"

#include <inttypes.h>

static void describe_transpose(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    const bool is_whole = box->scratch.rows == box->row.step;
    if (box->streams_lines || box->finds_lines)
        snprintf(text, TEXT_SIZE, "%s, %" PRId64 ", rows %" PRId64, box->streams_lines ? "lines" : "found",
                 box->column.step, box->scratch.rows);
    else if (box->buffers || is_whole)
        snprintf(text, TEXT_SIZE, "%s", box->buffers ? "buffers" : "one group");
    else
        snprintf(text, TEXT_SIZE, "groups of %" PRId64, box->scratch.rows);
}

/* Several lines of each row at once, as many as the second-level cache keeps columns for or less, though the last one
 * would hold them; and a line of the source, or 64 lines, in a group. */
static void test_bursts(void **state)
{
    static const struct choice choices[] = {
        {"f32:ab>f32:ba 1008x3000", AVX512, DEEP, .expected = "lines, 64, rows 16"}, /* four lines */
        {"f32:ab>f32:ba 1008x3000", AVX2, DEEP, .expected = "lines, 64, rows 32"},   /* by halves */
        {"f32:ab>f32:ba 1008x3000", AVX512, NEAR, .expected = "lines, 16"},
        {"f32:ab>f32:ba 2048x2048", AVX512, DEEP, .expected = "lines, 64, rows 16"}, /* columns 8 KB apart: four, */
        {"f32:ab>f32:ba 4096x4096", AVX512, DEEP, .expected = "lines, 32, rows 32"}, /* and 16: two */
        {"f32:ab>f32:ba 8192x240", AVX512, DEEP, .expected = "lines, 128, rows 16"}, /* fewer rows: eight */
        {"f64:ab>f64:ba 4096x4096", AVX512, DEEP, .expected = "lines, 64, rows 8"},
        {"f64:ab>f64:ba 4096x8192", AVX512, DEEP, .expected = "lines, 32, rows 8"},
        {"f64:ab>f64:ba 4096x4096", AVX2, DEEP, .expected = "lines, 16, rows 64"},
        {"f64:ab>f64:ba 1024x700", AVX512, DEEP, .expected = "lines, 64, rows 16"}, /* 6 MB: in the last cache */
        {"f64:ab>f64:ba 8192x128", AVX512, DEEP, .expected = "lines, 64, rows 16"},
        {"f32:ab>f32:ba 512x1000", AVX512, DEEP, .expected = "lines, 128"}, /* 4 MB, rows 2 KB apart */
        {"f32:ab>f32:ba 512x1000", AVX512, NEAR, .expected = "one group"},
        {"f32:ab>f32:ba 512x1000", PLAIN_C, DEEP, .expected = "groups of 16"},
        {"f32:ab>f32:ba 512x1000", AVX512, DEEP, .expected = "groups of 16", .streaming = TSR_STREAMING_NEVER},
        {"f32:ab>f32:ba 640x1000", AVX512, DEEP, .expected = "one group"},    /* 512 bytes: sets enough */
        {"u16:ab>u16:ba 1024x1024", AVX2, DEEP, .expected = "lines, 256"},    /* of 16 bits, too, */
        {"u16:ab>u16:ba 512x2048", AVX512, DEEP, .expected = "groups of 32"}, /* but not 1 KB apart, */
        {"u8:ab>u8:ba 1024x1024", AVX512, DEEP, .expected = "groups of 64"},  /* nor bytes, */
        {"u8:ab>u8:ba 8192x4160", AVX512, DEEP, .expected = "lines, 256"},    /* but past the last cache four, */
        {"u8:ab>u8:ba 8192x4160", AVX2, DEEP, .expected = "lines, 256"},
        {"u8:ab>u8:ba 8192x4160", AVX512, NEAR, .expected = "lines, 64"},
        {"u8:ab>u8:ba 4160x4352", AVX512, DEEP, .expected = "lines, 64"}, /* if rows are no odd number of lines apart */
        {"f32:oihw>f32:hwio 256x256x3x3", AVX512, DEEP, .expected = "lines, 128"}, /* nine places, rows 1 KB apart */
        {"f32:oihw>f32:OIhw16i16o 256x256x3x3", AVX512, DEEP, .expected = "one group"}, /* rows side by side between */
        {"f64:nchw>f64:nChw16c 1x256x112x112", AVX512, DEEP, .expected = "lines, 16, rows 504"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_transpose);
}

/* What stays in the caches: rows that keep their lines in a set, or that are buffered as there are too few. */
static void test_groups(void **state)
{
    static const struct choice choices[] = {
        {"f32:ab>f32:ba 256x256", AVX512, DEEP, .expected = "groups of 32"},
        {"f32:ab>f32:ba 256x256", AVX2, DEEP, .expected = "groups of 32"},
        {"f32:ab>f32:ba 256x256", AVX512, NEAR, .expected = "one group"},
        {"f32:ab>f32:ba 512x256", AVX512, DEEP, .expected = "groups of 16"},
        {"f32:ab>f32:ba 128x512", AVX512, DEEP, .expected = "one group"}, /* 512 bytes */
        {"f64:ab>f64:ba 255x255", AVX512, DEEP, .expected = "one group"}, /* rows begin inside of lines */
        {"u8:ab>u8:ba 2048x1024", AVX512, DEEP, .expected = "buffers"},   /* 24 rows to the sets, and 64 to a line */
        {"u8:ab>u8:ba 2048x1024", AVX512, NEAR, .expected = "one group"},
        {"f32:ab>f32:ba 1024x100", AVX2, DEEP, .expected = "buffers"}, /* halves of lines are lost, too */
        {"f32:ab>f32:ba 1024x100", AVX2, NEAR, .expected = "one group"},
        {"f32:oihw>f32:hwio 64x64x3x3", AVX512, DEEP, .expected = "one group"}, /* 9 rows to a set of 12 lines */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_transpose);
}

/* Rows that begin anywhere: a vector ends in the next line, so that sets are full sooner. */
static void test_found_lines(void **state)
{
    static const struct choice choices[] = {
        {"f64:ab>f64:ba 511x511", AVX512, DEEP, .expected = "found, 64"}, /* 4 MB */
        {"f64:ab>f64:ba 511x511", AVX512, NEAR, .expected = "one group"},
        {"f64:ab>f64:ba 511x511", PLAIN_C, DEEP, .expected = "groups of 8"},
        {"u16:ab>u16:ba 1023x1023", AVX512, DEEP, .expected = "groups of 16"}, /* not of narrow elements */
        {"f32:ab>f32:ba 3001x3001", AVX512, DEEP, .expected = "found, 128"},
        {"f32:ab>f32:ba 3001x3001", AVX512, NEAR, .expected = "found, 368"},
        {"f32:ab>f32:ba 3001x3001", AVX2, DEEP, .expected = "found, 368"},
        {"f64:ab>f64:ba 2001x2001", AVX512, DEEP, .expected = "found, 64"},
        {"f32:abc>f32:cba 200x200x200", AVX512, DEEP, .expected = "found, 200"}, /* tiles of 800 bytes, */
        {"f32:abc>f32:cba 180x222x180", AVX512, DEEP, .expected = "one group"},  /* and 720 */
        {"f64:ab>f64:ba 2001x2001", AVX512, NEAR, .expected = "one group"},
    };
    /* several tiles, which share lines */
    static const struct choice checked[] = {
        {.problem = "f64:ab>f64:ba 511x513", .rung = HIGHEST, .cache = DEEP},
        {.problem = "f64:ab>f64:ba 513x511", .rung = UP_TO_AVX2, .cache = DEEP},
        /* lines inside of tiles, as memory does not begin with one */
        {.problem = "f32:ab>f32:ba 512x768", .rung = HIGHEST, .cache = DEEP},
        {.problem = "f32:ab>f32:ba 512x768", .rung = UP_TO_AVX2, .cache = DEEP},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_transpose);
    check_results(checked, COUNT(checked));
}

/* The last cache keeps up longer than others do, and with several threads twice as long. */
static void test_shares(void **state)
{
    static const struct choice choices[] = {
        {"f32:nchw>f32:nChw16c 1x1120x28x28", AVX512, DEEP, .expected = "one group"}, /* a fifth of it */
        {"f32:nchw>f32:nChw16c 1x1120x28x28", AVX512, NEAR, .expected = "lines, 16"},
        {"f32:nchw>f32:nChw16c 1x1872x28x28", AVX512, DEEP, .expected = "lines, 16"}, /* a third */
        {"f32:nchw>f32:nChw16c 1x1872x28x28", AVX512, DEEP, .expected = "one group", .threads = 2},
        {"f32:nchw>f32:nChw16c 2x1872x28x28", AVX512, DEEP, .expected = "lines, 16", .threads = 2},
        {"s8:nchw>s8:nhwc 3x1920x28x28", AVX512, DEEP, .expected = "one group"},
        {"s8:nchw>s8:nhwc 4x1920x28x28", AVX512, DEEP, .expected = "lines, 256, rows 32"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_transpose);
}

static void describe_reads(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    if (plan->relay)
        snprintf(text, TEXT_SIZE, "relay");
    else
        snprintf(text, TEXT_SIZE, "%s, %" PRId64, box->converts_lines ? "lines" : "columns", box->scratch.rows);
}

/* Past the caches, one line of each column after the other, or half of one where bytes are written. */
static void test_reads(void **state)
{
    static const struct choice choices[] = {
        {"f32:ab>bf16:ba 4000x3008", AVX512, DEEP, .expected = "lines, 16"},
        {"f32:ab>bf16:ba 4000x3008", AVX2, DEEP, .expected = "lines, 16"},
        {"f32:ab>bf16:ba 4000x3008", AVX512, NEAR, .expected = "columns"},
        {"f32:ab>bf16:ba 1000x1000", AVX512, DEEP, .expected = "columns", .row = "convert"}, /* in the caches */
        {"f32:ab>bf16:ba 4001x3001", AVX512, DEEP, .expected = "lines, 16"},
        {"f32:nchw>bf16:nhwc 32x256x28x28", AVX512, DEEP, .expected = "lines, 16"},
        {"f32:nchw>bf16:nhwc 32x256x28x28", AVX512, NEAR, .expected = "relay"},
        {"f32:nchw>bf16:nhwc 32x256x32x32", AVX512, DEEP, .expected = "relay"}, /* columns 4 KB apart */
        {"f32:nchw>bf16:nhwc 32x256x32x32", AVX512, DEEP, .expected = "lines, 16", .row = "convert"},
        {"f32:nchw>bf16:nhwc 1x1100x39x39", AVX512, DEEP, .expected = "lines, 16", .row = "convert"},
        {"f32:ab>f16:ba 1301x1251 scale[1]", AVX2, DEEP, .expected = "lines, 16", .row = "convert"},
        {"f32:abcd>bf16:dcba 64x64x64x64", AVX512, DEEP, .expected = "columns"}, /* 1 MB apart */
        {"f32:nchw>bf16:nChw16c 32x256x28x28", AVX512, DEEP, .expected = "columns", .row = "convert"},
        {"f32:nchw>s8:nhwc 32x256x28x28", AVX512, DEEP, .expected = "columns", .row = "convert"},
        {"f64:nchw>f32:nhwc 32x256x28x28", AVX512, DEEP, .expected = "columns", .row = "convert"},
        {"s32:nchw>s16:nhwc 32x256x28x28", AVX512, DEEP, .expected = "columns", .row = "convert"}, /* steps */
        {"u8:ab>u8:ba 8192x4160", AVX512, DEEP, .expected = "columns, 32"},
        {"u8:ab>u8:ba 8192x4160", AVX512, NEAR, .expected = "columns, 128"},
    };
    /* rows and columns that are left over */
    static const struct choice checked[] = {
        {"f32:nchw>bf16:nhwc 1x1100x39x39", HIGHEST, DEEP, .row = "convert"},
        {"f32:ab>f16:ba 1301x1251 scale[1]", UP_TO_AVX2, DEEP, .row = "convert"},
        {"u8:ab>u8:ba 640x333", HIGHEST, DEEP, .streaming = TSR_STREAMING_ALWAYS},
        {"u8:ab>u8:ba 768x95", UP_TO_AVX2, DEEP, .streaming = TSR_STREAMING_ALWAYS},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_reads);
    check_results(checked, COUNT(checked));
}

/* Runs that are converted are read too late where they lie, from memory; and if that takes several steps, anywhere. */
static void test_late_runs(void **state)
{
    static const struct choice choices[] = {
        {"u16:abc>u8:bac 384x21x197", AVX512, DEEP, .expected = "relay"}, /* 2 MB */
        {"u16:abc>u8:bac 384x21x197", AVX512, NEAR, .expected = "convert"},
        {"u16:abc>u8:bac 512x25x800", AVX512, DEEP, .expected = "relay"}, /* 15 MB, long runs */
        {"f32:abc>u8:bac 384x21x197", AVX512, DEEP, .expected = "convert"},
        {"f32:abc>u8:bac 3840x21x197", AVX512, DEEP, .expected = "relay"}, /* 40 MB */
        {"f32:abc>u8:bac 3840x21x900", AVX512, DEEP, .expected = "convert"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_row);
}

static void describe_help(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    snprintf(text, TEXT_SIZE, "%s%s", box->fetches_ahead ? "fetched ahead" : "not fetched",
             box->streams ? ", streamed" : "");
}

/* Nothing is fetched ahead for transposes, and reads that prefetchers do not foresee do not wait for streams. */
static void test_help(void **state)
{
    static const struct choice choices[] = {
        {"f32:ab>f32:ba 1000x1000", AVX512, DEEP, .expected = "not fetched"},
        {"f32:ab>f32:ba 1000x1000", AVX512, NEAR, .expected = "fetched ahead"},
        {"bf16:abcde>bf16:cadbe 8x512x3x12x96", AVX512, DEEP, .expected = "not fetched"},
        {"bf16:abcde>bf16:cadbe 8x512x3x12x96", AVX512, NEAR, .expected = "not fetched, streamed"},
        {"f32:abcde>f32:cadbe 8x512x3x12x48", AVX2, DEEP, .expected = "not fetched"},
        {"f32:abcde>f32:cadbe 8x512x3x12x48", AVX2, NEAR, .expected = "not fetched, streamed"},
        {"f32:abcde>f32:cadbe 8x512x3x12x128", AVX2, DEEP, .expected = "not fetched, streamed"},    /* 512 bytes */
        {"bf16:abcde>bf16:cadbe 3x512x3x12x64", AVX512, DEEP, .expected = "not fetched, streamed"}, /* 7 MB */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_help);
}

static void describe_next(char text[TEXT_SIZE], const tsr_plan *plan)
{
    snprintf(text, TEXT_SIZE, "%s", plan->principal->fetches_next ? "next" : "none");
}

/* Images that are transposed, each where it lies: the next one is fetched. */
static void test_next(void **state)
{
    static const struct choice choices[] = {
        {"f32:abc>f32:acb 3000x9x100", AVX512, DEEP, .expected = "next"},
        {"f32:abc>f32:acb 3000x9x100", AVX2, DEEP, .expected = "next"},
        {"f32:abc>f32:acb 3000x9x100", AVX512, NEAR, .expected = "none"},
        {"f32:abc>f32:acb 300x9x100", AVX512, DEEP, .expected = "none"},                        /* 1 MB */
        {"u8:abc>u8:acb 10000x30x100", AVX512, DEEP, .expected = "none"},                       /* 3000 bytes each */
        {"f32:abc>f32:acb 3000x45x100", AVX512, DEEP, .expected = "none"},                      /* 18 KB */
        {"f32:abc>f32:[a3000:900,c100:9,b9:1] 3000x9x100", AVX512, DEEP, .expected = "next"},   /* the same */
        {"f32:[a3000:901,b9:100,c100:1]>f32:acb 3000x9x100", AVX512, DEEP, .expected = "none"}, /* with gaps */
    };
    static const struct choice checked = {.problem = "u16:abc>u16:acb 2100x50x60", .rung = HIGHEST, .cache = DEEP};
    (void)state;
    check_choices(choices, COUNT(choices), describe_next);
    check_results(&checked, 1);
}

/* Long runs are taken in the order of the source. */
static void test_order(void **state)
{
    static const struct choice choices[] = {
        {"f32:abc>f32:bac 100x120x64", AVX512, DEEP, .expected = "as read"},
        {"f32:abc>f32:bac 100x120x64", AVX512, NEAR, .expected = "as written"},
        {"f32:abc>f32:bac 100x1200x60", AVX512, DEEP, .expected = "as written"}, /* 240 bytes */
        {"f32:nChw64c>f32:nhwc 8x256x30x30", AVX2, DEEP, .expected = "as read"},
        {"f32:abc>u8:bac 100x120x800", AVX512, DEEP, .expected = "as read"},
        {"f32:abc>u8:bac 100x120x700", AVX512, DEEP, .expected = "as written"}, /* what is converted takes longer */
    };
    /* rows and places that are left over */
    static const struct choice checked[] = {
        {.problem = "u16:abcd>u16:cabd 7x5x9x301", .rung = HIGHEST, .cache = DEEP},
        {.problem = "f32:abcd>bf16:dbac 3x3x5x900", .rung = HIGHEST, .cache = DEEP},
        {.problem = "f32:abc>u8:bac 13x11x801", .rung = UP_TO_AVX2, .cache = DEEP},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_order);
    check_results(checked, COUNT(checked));
}

static void describe_lanes(char text[TEXT_SIZE], const tsr_plan *plan)
{
    snprintf(text, TEXT_SIZE, "%s", plan->principal->lanes.window == TSR_WIDEST_LANE ? "shuffled" : "not shuffled");
}

/* Lines that come from few windows, though the next ones share a set. */
static void test_lanes(void **state)
{
    static const struct choice choices[] = {
        {"bf16:OIhw4i4o>bf16:OIhw8o8i 96x1024x3x3", AVX512_VBMI, DEEP, .expected = "shuffled"},
        {"bf16:OIhw4i4o>bf16:OIhw8o8i 96x1024x3x3", AVX512_VBMI, NEAR, .expected = "not shuffled"},
        {"bf16:OIhw4i4o>bf16:OIhw8o8i 96x1023x3x3", AVX512, DEEP, .expected = "not shuffled"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_lanes);
}

static void describe_walk(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    const tsr_loop *innermost = tsr_innermost_of_walk(box);
    snprintf(text, TEXT_SIZE, "%s", innermost->src < innermost->dst ? "as read" : "as written");
}

/* And so are tiles, where both orders are as near. */
static void test_walk(void **state)
{
    static const struct choice choices[] = {
        {"f32:abcd>f32:badc 100x50x30x30", AVX512, DEEP, .expected = "as read"},
        {"f32:abcd>f32:badc 50x100x30x30", AVX2, DEEP, .expected = "as read"},
        {"f32:abcd>f32:badc 100x50x30x30", AVX512, NEAR, .expected = "as written"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_walk);
}

static void describe_joined(char text[TEXT_SIZE], const tsr_plan *plan)
{
    snprintf(text, TEXT_SIZE, "%s", plan->principal->joined_tiles > 0 ? "joined" : "one by one");
}

/* Tiles of whole lines that go to places, from beyond the second-level cache. */
static void test_places(void **state)
{
    static const struct choice choices[] = {
        {"f32:nhwc>f32:nChw16c 1x64x56x56", AVX512, DEEP, .expected = "one by one"},
        {"f32:nhwc>f32:nChw16c 1x64x56x56", AVX2, DEEP, .expected = "one by one"},
        {"f32:nhwc>f32:nChw16c 1x64x56x56", AVX512, NEAR, .expected = "joined"},
        {"f32:nhwc>f32:nChw16c 1x64x28x28", AVX512, DEEP, .expected = "joined"}, /* within that cache */
        {"f32:nhwc>f32:nChw8c 1x64x56x56", AVX512, DEEP, .expected = "joined"},  /* halves of lines */
        {"f32:nChw16c>f32:nhwc 1x64x56x56", AVX512, DEEP, .expected = "joined"}, /* to one place */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_joined);
}

static void describe_square(char text[TEXT_SIZE], const tsr_plan *plan)
{
    snprintf(text, TEXT_SIZE, "%s", plan->way.square.crowds_sets ? "both by scratch memory" : "one by scratch memory");
}

/* Tiles that are exchanged in place, of 64 rows, or of 128 of narrow elements. */
static void test_squares(void **state)
{
    static const struct choice choices[] = {
        {"f32:ab>f32:ba 512x512 in-place", AVX512, DEEP, .expected = "both by scratch memory"},
        {"f32:ab>f32:ba 512x512 in-place", AVX512, NEAR, .expected = "one by scratch memory"},
        {"f32:ab>f32:ba 512x512 in-place", AVX512, FAR, .expected = "one by scratch memory"},
        {"f32:ab>f32:ba 256x256 in-place", AVX512, DEEP, .expected = "one by scratch memory"}, /* 1 KB apart */
        {"f32:ab>f32:ba 256x256 in-place", AVX2, DEEP, .expected = "both by scratch memory"},
        {"f32:ab>f32:ba 500x500 in-place", AVX2, DEEP, .expected = "one by scratch memory"},
        {"u8:ab>u8:ba 2048x2048 in-place", AVX512, DEEP, .expected = "one by scratch memory"},
    };
    /* the last tiles are smaller; units that are a column apart; and a batch */
    static const struct choice checked[] = {
        {.problem = "f32:[a520:1024,b520:1]>f32:[a520:1,b520:1024] 520x520 in-place", .rung = HIGHEST, .cache = DEEP},
        {.problem = "u16:[a300:1024,b300:1]>u16:[a300:1,b300:1024] 300x300 in-place", .rung = HIGHEST, .cache = DEEP},
        {.problem = "f64:[a130:512,b130:2]>f64:[a130:2,b130:512] 130x130 in-place", .rung = HIGHEST, .cache = DEEP},
        {.problem = "f32:abc>f32:acb 3x256x256 in-place", .rung = UP_TO_AVX2, .cache = DEEP},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_square);
    check_results(checked, COUNT(checked));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bursts),    cmocka_unit_test(test_groups),  cmocka_unit_test(test_found_lines),
        cmocka_unit_test(test_shares),    cmocka_unit_test(test_reads),   cmocka_unit_test(test_help),
        cmocka_unit_test(test_order),     cmocka_unit_test(test_next),    cmocka_unit_test(test_walk),
        cmocka_unit_test(test_places),    cmocka_unit_test(test_squares), cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_late_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
