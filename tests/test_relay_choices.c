/* SPDX-License-Identifier: Apache-2.0 */
/* What goes by a relay, in which slices, and what its steps write past the caches. */
#include "choices.h"

#include <inttypes.h>

#include "reorder/relay.h"

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

static void describe_pieces(char text[TEXT_SIZE], const tsr_plan *plan)
{
    if (plan->relay && plan->relay->cut.pieces != TSR_ANY_PIECES)
        snprintf(text, TEXT_SIZE, "%spieces, %" PRId64, plan->relay->cut.pieces == TSR_ONE_PIECE ? "" : "long ",
                 plan->relay->cut.slices);
    else
        snprintf(text, TEXT_SIZE, "no pieces");
}

/* Which conversions go in pieces, one after the other on the wider side, or long ones, and in how many slices. */
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
        {"f32:nchw>s8:nhwc 32x64x112x112", .expected = "long pieces, 224",
         .row = "relay"}, /* 64 channels are too many for one */
        {"f16:OIhw8i16o2i>s8:hwio 256x1024x3x3", .expected = "long pieces, 32",
         .row = "relay"},                                                    /* lines of 256 bytes */
        {"f32:ab>s8:ba 3072x3072", .expected = "no pieces", .row = "relay"}, /* lines or long pieces, but not both */
        {"f32:OIhw8i8o>bf16:ohwi 64x1024x3x3", .expected = "pieces, 16", .row = "relay"}, /* of a block of filters */
        {"f32:nchw>s8:nhwc 32x256x28x28", .expected = "pieces, 64"},
        {"f32:nchw>s8:nhwc 8x256x28x28", .expected = "pieces, 16", .threads = 2}, /* eight for each thread, */
        {"f32:nchw>s8:nhwc 2x256x28x28", .expected = "no pieces", .threads = 2},  /* or have too few */
        {"f32:nChw16c>s8:nhwc 32x256x28x28", AVX2, .expected = "no pieces"},      /* runs, */
        {"f32:nChw16c>s8:nhwc 32x256x28x28", SSE41, .expected = "no pieces"},
        {"f32:nChw16c>s8:nhwc 32x256x28x28", PLAIN_C, .expected = "pieces"}, /* for which C has no kernel */
    };
    static const struct choice runs[] = {
        {"f32:nchw>s8:nhwc 13x192x28x28", .expected = "pieces", .row = "relay"},
        {"s8:nhwc>f32:nchw 25x100x28x28", .expected = "pieces", .row = "relay"},
        {"bf16:nchw>f32:nChw16c 3x250x50x41", .expected = "pieces", .row = "relay"},
        {"f16:OIhw8i16o2i>s8:hwio 200x500x3x3 scale[0]", .expected = "long pieces", .row = "relay"},
        {"f32:nchw>bf16:nChw4c 1x3x500x301 scale[1] mean[1]", .expected = "long pieces", .row = "relay"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_pieces);
    check_choices(runs, COUNT(runs), describe_pieces);
    check_results(runs, COUNT(runs));
}

static void describe_relay(char text[TEXT_SIZE], const tsr_plan *plan)
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
        {"s8:nhwc>s8:nchw 64x32x60x60", .expected = "relay"},        /* of 3600 */
        {"s8:nhwc>s8:nchw 256x16x50x50", .expected = "another row"}, /* few of 2500 */
        {"s8:nhwc>s8:nchw 64x32x60x60", .cache = DEEP, .expected = "another row"},
        {"s8:nhwc>s8:nchw 32x64x57x57", .expected = "another row"}, /* too long for a slice */
        {"u8:ab>u8:ba 30x400000", .expected = "another row"},       /* short ones */
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
    check_choices(choices, COUNT(choices), describe_relay);
    check_choices(checked, COUNT(checked), describe_relay);
    check_results(checked, COUNT(checked));
}

/* Packed elements are transposed as bytes in one step, but for small blocks. */
static void test_packed_transposes(void **state)
{
    static const struct choice choices[] = {
        {"s4:ab>f16:ba 2048x4096 scale[1/128]", .expected = "another row"},
        {"s4:ab>s8:ba 512x512", .expected = "another row"},
        {"s4:ab>s8:ba 512x513", .expected = "relay"}, /* in no whole bytes */
        {"f16:ab>u4:ba 512x512 scale[0]", .expected = "another row"},
        {"f16:ab>u4:ba 513x512 scale[0]", AVX2, .expected = "relay"},
        {"u8:ab>u1:ba 512x512", .expected = "another row"},
        {"u4:ab>u8:AB16b16a 4096x2048", .expected = "relay"},
        {"s8:ab>s4:AB16b16a 768x2048", .expected = "relay"},
        {"u4:nChw16c>f32:nhcw 8x512x32x5 scale", AVX512, FAR, .expected = "relay"}, /* tiles of 5 pixels, streamed */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_relay);
}

static void describe_slices(char text[TEXT_SIZE], const tsr_plan *plan)
{
    if (!plan->relay)
        snprintf(text, TEXT_SIZE, "no slices");
    else
        snprintf(text, TEXT_SIZE, "%" PRId64 " channels", plan->relay->cut.dims[1]);
}

/* Channels that do not fill blocks go all at once, as a kernel adds the zeros. */
static void test_filled_blocks(void **state)
{
    static const struct choice choices[] = {
        {"u8:nhwc>u8:nChw4c 1x6x80x80", AVX2, .expected = "6 channels"},
        {"u8:nhwc>u8:nChw4c 1x13x80x80", AVX2, .expected = "13 channels"},
        {"u16:nhwc>u16:nChw4c 1x7x80x80", AVX2, .expected = "7 channels"},
        {"f32:nhwc>bf16:nChw4c 1x6x128x128", AVX2, .expected = "6 channels"}, /* and are converted so */
        {"u8:nhwc>f32:nChw4c 1x6x56x56 scale", AVX2, .expected = "6 channels"},
        {"u8:nChw4c>u8:nhwc 1x3x80x80", AVX2, .expected = "no slices"}, /* there are none to fill */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_slices);
    check_results(choices, COUNT(choices));
}

static void describe_streamed(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_stages *stages = &plan->relay->shape[0];
    snprintf(text, TEXT_SIZE, "%" PRId64 " bytes, %" PRId64 " runs of %" PRId64 " at %" PRId64, stages->streamed,
             stages->read.n, stages->read.bytes, stages->read.pitch);
}

/* What slices stream at once, and what they read, which is fetched while the one before is streamed. */
static void test_streamed_slices(void **state)
{
    static const struct choice choices[] = {
        {"s8:nhwc>s8:nchw 32x256x28x28", .cache = NEAR, .expected = "100352 bytes, 784 runs of 128 at 256",
         .row = "relay"},
        {"s8:nhwc>s8:nchw 512x24x28x28", .cache = NEAR, .expected = "75264 bytes, 1 runs of 75264 at 0",
         .row = "relay"},
        {"u16:abc>u16:acb 100x150x300", .cache = NEAR, .expected = "90000 bytes, 1 runs of 90000 at 0", .row = "relay"},
        {"f32:nchw>s8:nhwc 32x256x28x28", .cache = NEAR, .expected = "0 bytes",
         .row = "relay"}, /* by the plan of its step */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_streamed);
}

/* Neighbours are joined by a relay if its stages cost less than rows and columns that do not fill kernels. */
static void test_joined_neighbours(void **state)
{
    static const struct choice choices[] = {
        {"s8:oihw>s8:OIhw4i16o4i 512x512x3x3", AVX512, .expected = "relay"},
        {"u8:oihw>u8:OIhw4i16o4i 192x32x3x3", AVX2, .expected = "relay"}, /* rows of 9 bytes, */
        {"u8:oihw>u8:OIhw4i16o4i 192x32x3x3", AVX512_VBMI, .expected = "relay"},
        {"u8:oihw>u8:OIhw4i16o4i 192x32x4x4", AVX2, .expected = "another row"}, /* and of 16 */
        {"u8:AB8a8b>u8:ba 2048x512", AVX2, .expected = "relay"},
        {"u8:abcde>u8:aecdb 129x4x256x18x10", AVX512_VBMI, .expected = "relay"},
        {"u8:abcd>u8:acdb 8x12x77x32", AVX512_VBMI, .expected = "another row"}, /* 12 columns fill most of a lane */
        {"u8:abcdef>u8:ecdfba 13x2x32x297x41x2", AVX512, .expected = "another row"}, /* from two far apart */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_relay);
}

/* Fewer pixels than kernels join, from among padding: whole blocks are moved, unless there are few elements. */
static void test_few_pixels(void **state)
{
    static const struct choice choices[] = {
        {"f32:OIhw8o8i>f32:OIhw8i8o 128x3x5x5", AVX2, .expected = "relay"},
        {"f32:OIhw8o8i>f32:OIhw8i8o 128x3x5x5", AVX512, .expected = "relay"},
        {"f32:OIhw8o8i>f32:OIhw8i8o 128x4x5x5", AVX2, .expected = "another row"},
        {"f32:OIhw4i16o4i>f32:OIhw4i4o 1024x3x1x1", AVX2, .expected = "another row"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_relay);
    check_results(choices, COUNT(choices));
}

/* Few channels of wide blocks, converted: not by way of pixels, where those of the destination follow each other. */
static void test_converted_pixels(void **state)
{
    static const struct choice choices[] = {
        {"f32:nChw32c>s8:nhwc 32x7x17x17 scale", AVX2, .expected = "another row"},
        {"f32:nChw32c>s8:nhwc 32x7x17x17 scale", AVX512, .expected = "another row"},
        {"s32:nChw16c>bool:nChw5c 32x5x17x17", AVX2, .expected = "another row"},
        {"f64:nChw16c>u8:nhwc 32x4x7x7 scale[1]", AVX512_VBMI, .expected = "another row"},
        {"f32:nChw32c>s8:nChw16c 32x7x17x17 scale", AVX2, .expected = "relay"}, /* there is padding on both sides */
        {"bf16:nhwc>u8:nChw16c 8x5x56x56", AVX512, .expected = "relay"},        /* behind those of the destination */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_relay);
    check_results(choices, COUNT(choices));
}

/* Lanes that are shuffled are converted by a relay, all of a slice at once. */
static void test_shuffled_lanes(void **state)
{
    static const struct choice choices[] = {
        {"s8:OIhw8o8i>f16:OIhw4i16o4i 512x1024x1x1", AVX2, .expected = "relay"},
        {"s8:OIhw8o8i>f16:OIhw4i16o4i 512x1024x1x1", AVX512_VBMI, .expected = "relay"},
        {"bf16:OIhw2i8o4i>f16:OIhw8i16o2i 64x128x5x5 scale[0]", AVX2, .expected = "relay"},
        {"s8:OIhw8o8i>s8:OIhw4i16o4i 512x1024x1x1", AVX2, .expected = "another row"}, /* not converted */
    };
    static const struct choice checked[] = {{"s8:OIhw8o8i>f16:OIhw4i16o4i 64x32x3x3 scale[0]", .expected = "relay"}};
    (void)state;
    check_choices(choices, COUNT(choices), describe_relay);
    check_results(checked, COUNT(checked));
}

/* Blocks that do not nest, by way of a plain tensor where lanes of a block come from too many places. */
static void test_blocks_apart(void **state)
{
    static const struct choice choices[] = {
        {"u8:AB4a10b>u8:BA12b24a 256x5859", AVX512_VBMI, .expected = "relay"},        /* 12 windows */
        {"u16:AB12a10b>u16:BA5b20a 500x300", AVX512_VBMI, .expected = "another row"}, /* 8, which are looked up */
        {"u8:OIhw10i6o>u8:OIhw20o6i 120x60x3x3", AVX512_VBMI, .expected = "another row"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_relay);
}

static void describe_plain(char text[TEXT_SIZE], const tsr_plan *plan)
{
    static const char *const plains[TSR_PLAINS] = {[TSR_NO_PLAIN] = "other steps",
                                                   [TSR_PLAIN_BY_OUTERMOST] = "two steps, by outermost levels",
                                                   [TSR_PLAIN_BY_INNERMOST] = "two steps, by innermost levels",
                                                   [TSR_PLAIN_TURNED] = "two steps, turned",
                                                   [TSR_PLAIN_KEPT] = "two steps, kept"};
    snprintf(text, TEXT_SIZE, "%s", plan->relay ? plains[plan->plain] : "one step");
}

/* What one step would do slowly goes by a plain tensor, in the order that costs least. */
static void test_two_steps(void **state)
{
    static const struct choice choices[] = {
        {"s8:abCd4c>s8:cDba8d 100x31x12x12", AVX2, .expected = "two steps"}, /* tiles of 4 x 4, among zeros */
        {"s8:adbfce>s8:fabCde5c 1x200x4x5x3x10", AVX2, .expected = "two steps"},
        {"s8:adbfce>s8:fabCde5c 1x90x4x5x3x3", AVX2, .expected = "one step"}, /* 16 KB are too few for more plans */
        {"bf16:aefdbc>bf16:cefdab 50x3x3x31x64x3", AVX2, .expected = "two steps, kept"}, /* parted last, in stretches */
        {"u8:nhwc>u8:nChw4c 1x9x80x80", AVX2, .expected = "two steps"},
        {"u8:nhwc>u8:nChw4c 1x3x80x80", AVX2, .expected = "one step"},   /* pixels are laid among zeros, */
        {"u8:nchw>u8:nChw4c 1x3x224x224", AVX2, .expected = "one step"}, /* or joined with them */
        {"u8:[a200:4100,b1000:4,c1:4,c4:1]>u8:[a200:4100,b1000:4,c1:4,c4:1] 200x1000x3", AVX2,
         .expected = "one step"},                                                 /* which may be one buffer */
        {"f64:acdb>f64:Dbca8d 100x3x16x12", AVX512, .expected = "other steps"},   /* whole blocks cost less */
        {"bf16:OIhw16o16i>bf16:oihw 64x512x3x3", AVX512, .expected = "one step"}, /* rows of 9 go on in each other */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_plain);
    check_results(choices, COUNT(choices));
}

/* Conversions that a relay has apart, as long as slices have long lines to convert. */
static void test_apart(void **state)
{
    static const struct choice choices[] = {
        {"u8:nhwc>s8:nChw32c 4x24x512x128", AVX512, .expected = "relay"},    /* padding is converted with its block */
        {"f64:abc>u8:cba 512x200x48", AVX512, .expected = "another row"},    /* 24 pixels of each */
        {"u8:nhwc>f32:nchw 128x3x3x5", AVX512, .expected = "relay"},         /* a few pixels, piece by piece; */
        {"u8:nhwc>f32:nchw 128x3x32x32", AVX512, .expected = "another row"}, /* and images, at once */
        /* only padding of the side where they are converted counts */
        {"f32:nhwc>s8:nChw16c 1x3x224x224", AVX2, .expected = "relay"},
        {"s8:nhwc>f32:nChw16c 1x3x224x224", AVX2, .expected = "another row"},
        /* runs that come from memory, in order */
        {"f32:abc>u8:bac 709x270x37", AVX512, DEEP, .expected = "relay"},
        {"f32:abc>u8:bac 709x270x37", AVX512, NEAR, .expected = "another row"},
        {"f32:abc>u8:bac 100x270x37", AVX512, DEEP, .expected = "another row"}, /* 2 MB */
        /* blocks that are converted before they are streamed, if they are as wide as before */
        {"f32:OIhw16o16i>s8:OIhw16i16o 512x512x3x3 scale", AVX512, .expected = "relay"},
        {"f32:OIhw16i16o>f32:oihw 512x512x3x3 scale", AVX512, .expected = "another row"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_relay);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_last_steps),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_broken_rows),
        cmocka_unit_test(test_packed_transposes),
        cmocka_unit_test(test_joined_neighbours),
        cmocka_unit_test(test_blocks_apart),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_streamed_slices),
        cmocka_unit_test(test_filled_blocks),
        cmocka_unit_test(test_two_steps),
        cmocka_unit_test(test_few_pixels),
        cmocka_unit_test(test_converted_pixels),
        cmocka_unit_test(test_shuffled_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
