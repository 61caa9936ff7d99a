/* SPDX-License-Identifier: Apache-2.0 */
/* In which order runs are copied and converted, and whether past the caches or through them. */
#include "choices.h"

#include <inttypes.h>

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

/* What is converted has larger tiles if the last cache is far, and few places are read. */
static void test_converted_tiles(void **state)
{
    static const struct choice choices[] = {
        {"s8:abcd>f32:acbd 2x16x196x64", .expected = "32"},
        {"s8:abcd>f32:acbd 2x16x196x64", .cache = FAR, .expected = "64"},
        {"s8:abcd>f32:acbd 2x80x196x64", .cache = FAR, .expected = "32"},  /* 80 of them */
        {"f32:abcd>f32:acbd 2x16x196x64", .cache = FAR, .expected = "32"}, /* copied */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_rows_of_tile);
}

static void describe_outermost(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    snprintf(text, TEXT_SIZE, "%" PRId64 " bytes, %" PRId64 " in the source", box->walk[0].dst, box->walk[0].src);
}

/* How far from each other in the destination is what threads begin with? */
static void test_threads(void **state)
{
    static const struct choice choices[] = {
        {"s8:abcd>s8:acbd 1x32x197x64", .cache = FAR, .expected = "1024 bytes"}, /* halves of rows, for one, */
        {"s8:abcd>s8:acbd 1x32x197x64", .cache = FAR, .expected = "2048 bytes", .threads = 2},
        {"s8:abcd>s8:acbd 2x32x197x64", .cache = FAR, .expected = "403456 bytes", .threads = 2}, /* an image each */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_outermost);
}

static void describe_copy(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    snprintf(text, TEXT_SIZE, "%s%s",
             box->joins_runs ? "joined"
             : box->streams  ? "streamed"
                             : "not streamed",
             box->streams_source ? " from the source" : "");
}

/* Which copies are streamed, by way of scratch memory or from the source alone, or in lines that runs are joined to. */
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
        {"f32:abcd>f32:acbd 4x12x512x64", .cache = FAR, .expected = "streamed"},       /* in order, whole lines, */
        {"f32:abc>f32:bac 100x100x300", PLAIN_C, FAR, .expected = "streamed"},         /* 1200 bytes, */
        {"f32:abc>f32:bac 100x100x300", AVX2, FAR, .expected = "joined"},
        {"f32:abc>f32:bac 100x400x75", AVX2, FAR, .expected = "joined"}, /* 300, */
        {"f32:abc>f32:bac 100x400x75", AVX512, FAR, .expected = "joined"},
        {"f32:abc>f32:bac 100x400x17", AVX2, FAR, .expected = "joined"},          /* 68, */
        {"f32:abc>f32:bac 100x400x15", AVX2, FAR, .expected = "not streamed"},    /* and 60 */
        {"u8:abc>u8:bac 100x400x301", AVX2, FAR, .expected = "joined"},           /* no multiple of elements of 4 */
        {"f32:abc>f32:bac 100x400x75", PLAIN_C, FAR, .expected = "not streamed"}, /* for which there is no kernel */
        {"f32:abc>f32:bac 100x400x75", AVX2, FAR, .expected = "not streamed", .streaming = TSR_STREAMING_NEVER},
        {"f32:abc>f32:bac 31x20x75", AVX2, FAR, .expected = "streamed", .streaming = TSR_STREAMING_ALWAYS},
        {"f32:abc>f32:[b20000:310,a3:75,c75:1] 3x20000x75", AVX2, FAR, .expected = "streamed"}, /* three that go on */
        {"f32:abc>f32:bac 30x100x75", AVX2, FAR, .expected = "not streamed"},                   /* 0.9 MB */
        {"bf16:cab>bf16:aBc48b 300x4x512", AVX2, FAR, .expected = "not streamed"},   /* with padding behind the runs */
        {"f32:abcd>f32:acbd 1x12x256x64", .cache = FAR, .expected = "not streamed"}, /* 1.6 MB */
    };
    /* joined, of any bytes, and backwards */
    static const struct choice checked[] = {
        {"f32:abc>f32:bac 150x60x75", .rung = AVX2, .cache = FAR},
        {"f32:abc>f32:bac 150x60x75", .rung = AVX512, .cache = FAR},
        {"u8:abc>u8:bac 150x60x301", .rung = AVX2, .cache = FAR},
        {"u8:abc>u8:bac 150x60x301", .rung = AVX512, .cache = FAR},
        {"bf16:abc>bf16:bac 300x60x75 reverse[0]", .rung = AVX2, .cache = FAR},
        {"bf16:abc>bf16:bac 300x60x75 reverse[1]", .rung = AVX512, .cache = FAR},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_copy);
    check_results(checked, COUNT(checked));
}

/* Which side tells the order of runs that are converted. */
static void test_order_of_runs(void **state)
{
    static const struct choice choices[] = {
        {"f32:acbd>bf16:abcd 1x512x12x64", .expected = "as read"},
        {"f32:acbd>bf16:abcd 1x512x12x64", .cache = FAR, .expected = "as written"},
        {"f32:acbd>bf16:abcd 1x64x12x64", .expected = "as read"},      /* in the second-level cache */
        {"f32:acbd>bf16:abcd 8x512x12x64", .expected = "as written"},  /* streamed */
        {"f32:acbd>bf16:abcd 2x512x12x32", .expected = "as written"},  /* runs of two lines, */
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
        {"f32:abcd>bf16:acbd 1x12x129x64", AVX2, .expected = "129"}, /* converted within the second-level cache, */
        {"f32:abcd>bf16:acbd 1x12x129x64", AVX2, FAR, .expected = "1"},
        {"f32:abcd>bf16:acbd 1x12x129x64", AVX2, DEEP, .expected = "1"},
        {"f32:abcd>bf16:acbd 1x12x129x31", AVX2, .expected = "1"}, /* in less than lines, */
        {"f32:abcd>bf16:acbd 1x12x300x64", AVX2, .expected = "1"}, /* beyond it, */
        {"f32:abcd>f32:acbd 1x12x129x64", AVX2, .expected = "1"},  /* copied */
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
        {"f32:ohwi>f32:OIhw8o8i 128x512x3x3", .expected = "2"},   /* a line of the source, */
        {"f32:nChw8c>f32:nhwc 1x64x14x14", .expected = "1"},      /* which stay */
        {"bf16:ab>bf16:BA16a16b 4096x4096", .expected = "1"},     /* unless they are streamed */
        {"f32:nhwc>bf16:nChw16c 32x256x28x28", .expected = "16"}, /* converted */
        {"f32:nhwc>bf16:nChw16c 4x256x64x64", .expected = "16"},  /* more than the caches hold */
        {"f32:nhwc>bf16:nChw16c 1x256x27x32", .expected = "16"},
        {"bf16:nhwc>f32:nChw8c 1x256x80x80", .expected = "4"},    /* a line of the source */
        {"bf16:nChw16c>f32:nChw8c 8x256x56x56", .expected = "2"}, /* which two places take, */
        {"bf16:nChw16c>f32:nChw8c 8x256x56x56", .expected = "1", .cache = FAR},
        {"bf16:nChw16c>f32:nChw8c 1x64x56x56", .expected = "2", .cache = FAR},  /* 1.2 MB */
        {"f32:nChw16c>bf16:nChw8c 8x256x56x56", .expected = "2", .cache = FAR}, /* narrower */
        {"f32:nhwc>bf16:nChw32c 1x512x32x32", .expected = "16"},                /* whole lines */
        {"f32:nhwc>bf16:nChw16c 1x512x56x56", .expected = "32"},                /* two sets */
        {"bf16:abc>f32:bac 2238x48x38", .expected = "1"}, /* parts of more than a line, of many places, */
        {"bf16:abc>f32:bac 2238x48x38", .expected = "48", .cache = DEEP},
        {"bf16:abc>f32:bac 2238x31x38", .expected = "31"},
        {"bf16:abc>f32:bac 2238x32x38", .expected = "1"},
        {"bf16:abc>f32:bac 500x48x257", .expected = "48"},            /* of 1028 bytes */
        {"bf16:abc>f32:bac 4000x20x20", .expected = "20"},            /* and of few; */
        {"f32:abc>bf16:bac 2238x48x38", .expected = "48"},            /* or that become narrower */
        {"f32:abcde>f32:cadbe 8x512x3x14x32", AVX2, .expected = "7"}, /* which share a set, and leave gaps */
        {"f32:abcde>f32:cadbe 8x512x3x14x32", AVX512, .expected = "7, 2 times"},
        {"f32:nhwc>f32:nChw16c 1x256x4x4", .expected = "1"},            /* as many pixels as places */
        {"f32:nchw>f32:nhcw 16x24x17x33", AVX2, FAR, .expected = "1"},  /* 132 bytes, which are joined to lines, */
        {"f32:nchw>f32:nhcw 32x24x17x31", AVX2, FAR, .expected = "17"}, /* 124, */
        {"f32:nchw>f32:nhcw 16x24x17x257", AVX2, FAR, .expected = "1"}, /* 1028 */
        {"f32:nchw>f32:nhcw 32x24x17x33", PLAIN_C, FAR, .expected = "17"},
        {"bf16:cab>bf16:aBc16b 32x4x512", .expected = "1"}, /* with padding behind the runs */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_places);
}

/* How many runs of one place come before those of the next one, and which side has the places. */
static void describe_runs_by_places(char text[TEXT_SIZE], const tsr_plan *plan)
{
    const tsr_chain *row = &plan->principal->row;
    const int64_t run = plan->principal->column.n;
    if (plan->principal->has_places || row->count != 2 || row->tiles > 1)
        snprintf(text, TEXT_SIZE, "in turns");
    else
        snprintf(text, TEXT_SIZE, "%" PRId64 " %s %" PRId64, row->loop[0].n, row->loop[0].dst == run ? "to" : "from",
                 row->loop[1].n);
}

static void test_runs_by_places(void **state)
{
    static const struct choice choices[] = {
        {"f32:nhwc>bf16:nChw16c 1x256x32x32", AVX2, .expected = "8 to 16"}, /* parts of lines to places of one set, */
        {"f32:nhwc>bf16:nChw16c 1x256x32x32", AVX2, .cache = FAR, .expected = "8 to 16"},
        {"f32:nhwc>bf16:nChw16c 1x256x32x32", AVX2, .cache = DEEP, .expected = "8 to 16"},
        {"f32:nhwc>s8:nChw16c 1x512x16x16", AVX2, .expected = "16 to 32"},
        {"f32:nhwc>bf16:nChw8c 1x256x80x80", AVX2, .expected = "16 to 32"},
        {"f32:abcd>bf16:acbd 1x1024x64x16", AVX2, .expected = "8 to 64"},
        {"f32:abcd>bf16:acbd 1x1024x256x16", AVX2, .expected = "4 to 256"}, /* as many as tables have room for, */
        {"f32:abcd>bf16:acbd 1x1024x1024x16", AVX2, .expected = "in turns"},
        {"f32:abcd>bf16:acbd 1x1020x64x16", AVX2, .expected = "in turns"},   /* but not of more sets, */
        {"f32:nhwc>bf16:nChw16c 1x128x32x32", AVX2, .expected = "in turns"}, /* to as many places as lines, */
        {"f32:nhwc>bf16:nChw32c 1x512x32x32", AVX2, .expected = "in turns"}, /* of whole lines, */
        {"f32:nhwc>f32:nChw8c 1x256x32x32", AVX2, .expected = "in turns"},   /* copied, */
        {"f32:nhwc>bf16:nChw8c 16x256x32x32", AVX2, .expected = "in turns"}, /* of lines that the second level keeps, */
        {"bf16:nhwc>f32:nChw8c 1x256x80x80", AVX2, .expected = "in turns"},  /* or that become wider */
        {"f32:nChw8c>bf16:nhwc 1x256x80x80", AVX2, .expected = "8 from 32"}, /* from such places, */
        {"f32:nChw8c>bf16:nhwc 8x256x80x80", AVX2, .expected = "in turns"},  /* unless the last cache is too small, */
        {"f32:nChw8c>bf16:nhwc 1x128x32x32", AVX2, .expected = "8 from 16"},
        {"f32:nChw8c>s8:nhwc 1x128x32x32", AVX2, .expected = "in turns"}, /* or they become less than a lane */
        {"f32:nChw8c>s8:nhwc 1x256x32x32", AVX2, .expected = "8 from 32"},
        {"bf16:nChw16c>f32:nhwc 1x512x16x16", AVX2,
         .expected = "8 from 32"},                                          /* or lines that the second level keeps, */
        {"f32:nChw8c>f32:nhwc 1x512x16x16", AVX2, .expected = "8 from 64"}, /* or copied, */
        {"f32:nChw12c>f32:nhwc 1x384x16x16", AVX2, .expected = "4 from 32"},
        {"f32:abc>u4:bac 4096x64x32", AVX2, .expected = "in turns"},       /* but not packed, */
        {"f32:nChw8c>f32:nhwc 8x512x32x32", AVX2, .expected = "in turns"}, /* past the caches, */
        {"f32:abcd>f32:acbd 1x128x16x8", AVX2, .expected = "in turns"},    /* or to a few places */
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_runs_by_places);
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
        {"u4:ab>f16:ab 33x4000 scale[1/64] mean[1/64]", .streaming = TSR_STREAMING_ALWAYS},
        {"u1:a>s8:a 80001", .streaming = TSR_STREAMING_ALWAYS},
        /* lines whose factors come again after a few, from some on or not at all */
        {.problem = "s8:OIhw4i16o4i>u8:OIhw4i16o4i 40x128x3x3 scale[1] mean[1]"},
        {.problem = "bf16:OIhw4i16o4i>u8:OIhw4i16o4i 40x45x5x5 scale[1] mean[1]"},
        {.problem = "f32:oihw>s8:oihw 20x300x3x3 scale[1] shift[1]"},
        {.problem = "f32:OIhw2i8o4i>f32:OIhw2i8o4i 50x70x3x2 scale[1/2] mean[1/2]"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_run);
    check_results(checked, COUNT(checked));
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
        {"f32:a>f64:a 4000000", .expected = "not streamed"},                 /* there is no such kernel, */
        {"nf4:a>f32:a 9000000", .expected = "not streamed"},                 /* nor this one */
        {"s4:a>f32:a 9000000 scale", .expected = "streamed"},                /* unpacked before, */
        {"u1:a>f16:a 16000000", AVX2, .expected = "streamed"},
        {"u4:a>s8:a 30000000", .expected = "streamed"},
        {"f32:a>s4:a 9000000", .expected = "not streamed"}, /* and packed behind */
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

/* A few channels of wide blocks, whose padding lies between what oneDNN reads, too. */
static void test_pixels_from_padding(void **state)
{
    static const struct choice choices[] = {
        {"f32:nChw16c>f32:nhwc 32x3x160x160", AVX2, .expected = "copy"},
        {"f32:nChw8c>f32:nhwc 1x1x150x150", AVX2, .expected = "transpose"},
    };
    (void)state;
    check_choices(choices, COUNT(choices), describe_row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_ahead),
        cmocka_unit_test(test_far_lines),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_order_of_runs),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_runs_by_places),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_converted_tiles),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_pixels_from_padding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
