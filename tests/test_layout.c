/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <tessera/text.h>

#include "desc/tag.h"
#include "same.h"

#define LONGS(...) ((const int64_t[]){__VA_ARGS__})
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- names and tags: the axis of every level, and the blocks behind the outer levels --- */

static const struct {
    const char *text;
    int rank, levels;
    uint8_t order[26];
    int64_t blocks[4];
} layouts[] = {
    {"nchw", 4, 4, {0, 1, 2, 3}, {0}},
    {"NCHW", 4, 4, {0, 1, 2, 3}, {0}},
    {"nhwc", 4, 4, {0, 2, 3, 1}, {0}},
    {"NHWC", 4, 4, {0, 2, 3, 1}, {0}},
    {"chwn", 4, 4, {1, 2, 3, 0}, {0}},
    {"cnhw", 4, 4, {1, 0, 2, 3}, {0}},
    {"nc", 2, 2, {0, 1}, {0}},
    {"cn", 2, 2, {1, 0}, {0}},
    {"c", 1, 1, {0}, {0}},
    {"n", 1, 1, {0}, {0}},
    {"hw", 2, 2, {0, 1}, {0}},
    {"wh", 2, 2, {1, 0}, {0}},
    {"chw", 3, 3, {0, 1, 2}, {0}},
    {"hwc", 3, 3, {1, 2, 0}, {0}},
    {"ncw", 3, 3, {0, 1, 2}, {0}},
    {"nwc", 3, 3, {0, 2, 1}, {0}},
    {"ncdhw", 5, 5, {0, 1, 2, 3, 4}, {0}},
    {"ndhwc", 5, 5, {0, 2, 3, 4, 1}, {0}},
    {"cdhw", 4, 4, {0, 1, 2, 3}, {0}},
    {"dhwc", 4, 4, {1, 2, 3, 0}, {0}},
    {"oihw", 4, 4, {0, 1, 2, 3}, {0}},
    {"OIHW", 4, 4, {0, 1, 2, 3}, {0}},
    {"hwio", 4, 4, {2, 3, 1, 0}, {0}},
    {"HWIO", 4, 4, {2, 3, 1, 0}, {0}},
    {"iohw", 4, 4, {1, 0, 2, 3}, {0}},
    {"ohwi", 4, 4, {0, 2, 3, 1}, {0}},
    {"oi", 2, 2, {0, 1}, {0}},
    {"io", 2, 2, {1, 0}, {0}},
    {"oiw", 3, 3, {0, 1, 2}, {0}},
    {"wio", 3, 3, {2, 1, 0}, {0}},
    {"owi", 3, 3, {0, 2, 1}, {0}},
    {"oidhw", 5, 5, {0, 1, 2, 3, 4}, {0}},
    {"dhwio", 5, 5, {2, 3, 4, 1, 0}, {0}},
    {"goihw", 5, 5, {0, 1, 2, 3, 4}, {0}},
    {"GOIHW", 5, 5, {0, 1, 2, 3, 4}, {0}},
    {"hwigo", 5, 5, {3, 4, 2, 0, 1}, {0}},
    {"gohwi", 5, 5, {0, 1, 3, 4, 2}, {0}},
    {"giohw", 5, 5, {0, 2, 1, 3, 4}, {0}},
    {"goidhw", 6, 6, {0, 1, 2, 3, 4, 5}, {0}},
    {"goiw", 4, 4, {0, 1, 2, 3}, {0}},
    {"tnc", 3, 3, {0, 1, 2}, {0}},
    {"ntc", 3, 3, {1, 0, 2}, {0}},
    {"tn", 2, 2, {0, 1}, {0}},
    {"nt", 2, 2, {1, 0}, {0}},
    {"ldigo", 5, 5, {0, 1, 2, 3, 4}, {0}},
    {"ldgoi", 5, 5, {0, 1, 3, 4, 2}, {0}},
    {"ldgo", 4, 4, {0, 1, 2, 3}, {0}},
    {"ldoi", 4, 4, {0, 1, 3, 2}, {0}},
    {"ldnc", 4, 4, {0, 1, 2, 3}, {0}},
    {"x", 1, 1, {0}, {0}},
    {"a", 1, 1, {0}, {0}},
    {"ab", 2, 2, {0, 1}, {0}},
    {"ba", 2, 2, {1, 0}, {0}},
    {"acdb", 4, 4, {0, 2, 3, 1}, {0}},
    {"abcdefghijkl", 12, 12, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {0}},
    {"zyxwvutsrqponmlkjihgfedcba",
     26,
     26,
     {25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
     {0}},
    {"ABCD", 4, 4, {0, 1, 2, 3}, {0}},
    {"nChw16c", 4, 5, {0, 1, 2, 3, 1}, {16}},
    {"nChw8c", 4, 5, {0, 1, 2, 3, 1}, {8}},
    {"nCw4c", 3, 4, {0, 1, 2, 1}, {4}},
    {"nCdhw16c", 5, 6, {0, 1, 2, 3, 4, 1}, {16}},
    {"NChw32n16c", 4, 6, {0, 1, 2, 3, 0, 1}, {32, 16}},
    {"NChw2c32n8c", 4, 7, {0, 1, 2, 3, 1, 0, 1}, {2, 32, 8}},
    {"aBcd8b", 4, 5, {0, 1, 2, 3, 1}, {8}},
    {"aBc2b", 3, 4, {0, 1, 2, 1}, {2}},
    {"OIhw4i16o4i", 4, 7, {0, 1, 2, 3, 1, 0, 1}, {4, 16, 4}},
    /* as oneDNN has them, whatever their letters say */
    {"OhwI32o", 4, 5, {0, 2, 3, 1, 0}, {32}},
    {"gOhwI32o", 5, 6, {0, 1, 3, 4, 2, 1}, {32}},
    {"gIOhw2i8o16i2o", 5, 9, {0, 1, 2, 3, 4, 2, 1, 2, 1}, {2, 8, 16, 2}},
    {"gIOdhw2i8o16i2o", 6, 10, {0, 1, 2, 3, 4, 5, 2, 1, 2, 1}, {2, 8, 16, 2}},
    {"IOhw16i16o", 4, 6, {1, 0, 2, 3, 1, 0}, {16, 16}},
    {"OhwI16i64o2i", 4, 7, {0, 2, 3, 1, 1, 0, 1}, {16, 64, 2}},
    {"Oihw16o", 4, 5, {0, 1, 2, 3, 0}, {16}},
    {"OI4i64o4i", 2, 5, {0, 1, 1, 0, 1}, {4, 64, 4}},
    {"gOIhw4o8i8o4i", 5, 9, {0, 1, 2, 3, 4, 1, 2, 1, 2}, {4, 8, 8, 4}},
    {"Goihw16g", 5, 6, {0, 1, 2, 3, 4, 0}, {16}},
    {"hwioG16g", 5, 6, {3, 4, 2, 1, 0, 0}, {16}},
    {"ldOI32o4i", 4, 6, {0, 1, 3, 2, 3, 2}, {32, 4}},
    {"ldgIO32i2o", 5, 7, {0, 1, 3, 2, 4, 2, 4}, {32, 2}},
    {"ABcd16b16a2b", 4, 7, {0, 1, 2, 3, 1, 0, 1}, {16, 16, 2}},
    {"BA16a64b4a", 2, 5, {1, 0, 0, 1, 0}, {16, 64, 4}},
    {"A1a", 1, 2, {0, 0}, {1}},
    {"aB3b5b7b", 2, 5, {0, 1, 1, 1, 1}, {3, 5, 7}},
    {"cBa4b", 3, 4, {2, 1, 0, 1}, {4}},
    {"nC1000000007c", 2, 3, {0, 1, 1}, {1000000007}},
};

static void test_layouts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(layouts); i++) {
        tsr_layout layout;
        tsr_error error = {0};
        if (tsr_layout_parse(&layout, layouts[i].text, &error) != TSR_OK)
            fail_msg("%s: %s", layouts[i].text, error.message);
        assert_int_equal(layout.rank, layouts[i].rank);
        assert_int_equal(layout.levels, layouts[i].levels);
        assert_memory_equal(layout.order, layouts[i].order, (size_t)layout.levels);
        for (int k = 0; k < layout.levels; k++)
            assert_int_equal(layout.block_dims[k], k < layout.rank ? 0 : layouts[i].blocks[k - layout.rank]);
    }
}

static void test_scalar(void **state)
{
    (void)state;
    static const char *const words[] = {"scalar", "SCALAR"};
    for (size_t i = 0; i < COUNT(words); i++) {
        tsr_layout layout = {.rank = 7, .levels = 7};
        assert_int_equal(tsr_layout_parse(&layout, words[i], NULL), TSR_OK);
        assert_int_equal(layout.rank, 0);
        assert_int_equal(layout.levels, 0);
    }
}

/* As many levels as there may be, and one more. */
static void test_most_levels(void **state)
{
    (void)state;
    char text[256] = "A";
    tsr_layout layout;
    tsr_error error = {0};
    for (int i = 1; i < TSR_MAX_LEVELS; i++)
        strcat(text, "1a");
    assert_int_equal(tsr_layout_parse(&layout, text, NULL), TSR_OK);
    assert_int_equal(layout.levels, TSR_MAX_LEVELS);
    strcat(text, "1a");
    assert_int_equal(tsr_layout_parse(&layout, text, &error), TSR_PARSE_ERROR);
    assert_string_equal(
        error.message,
        "layout \"A1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1\" has more than 64 levels");
}

/* --- oneDNN's tags: what oneDNN 2.6.3 says of them --- */

static const struct {
    const char *tag, *base;
    int rank;
    int64_t dims[6], strides[6]; /* per logical axis, of its outer level */
    int64_t index[6];
    int64_t offset;
} tags[] = {
    {"ntc", "bac", 3, {1, 2, 2}, {2, 2, 1}, {0, 1, 1}, 3},
    {"nwc", "acb", 3, {3, 2, 2}, {4, 1, 2}, {2, 1, 1}, 11},
    {"wio", "cba", 3, {1, 3, 5}, {1, 1, 3}, {0, 2, 4}, 14},
    {"chwn", "bcda", 4, {1, 2, 1, 2}, {1, 2, 2, 1}, {0, 1, 0, 1}, 3},
    {"nhwc", "acdb", 4, {2, 3, 1, 3}, {9, 1, 9, 3}, {1, 2, 0, 2}, 17},
    {"ihwo", "bcda", 4, {1, 3, 2, 1}, {1, 2, 1, 1}, {0, 2, 1, 0}, 5},
    {"nCw16c", "aBc16b", 3, {3, 17, 3}, {96, 48, 16}, {2, 16, 2}, 272},
    {"nChw8c", "aBcd8b", 4, {3, 9, 2, 3}, {96, 48, 24, 8}, {2, 8, 1, 2}, 280},
    {"nChw16c", "aBcd16b", 4, {3, 17, 3, 4}, {384, 192, 64, 16}, {2, 16, 2, 3}, 1136},
    {"nCdhw4c", "aBcde4b", 5, {1, 5, 1, 2, 2}, {32, 16, 16, 8, 4}, {0, 4, 0, 1, 1}, 28},
    {"giohw", "acbde", 5, {3, 3, 1, 1, 1}, {3, 1, 3, 1, 1}, {2, 2, 0, 0, 0}, 8},
    {"hwigo", "decab", 5, {3, 2, 3, 2, 2}, {2, 1, 6, 36, 18}, {2, 1, 2, 1, 1}, 71},
    {"dhwigo", "defcab", 6, {2, 2, 3, 3, 1, 5}, {2, 1, 4, 60, 60, 12}, {1, 1, 2, 2, 0, 4}, 179},
    {"gwio", "adcb", 4, {1, 5, 2, 2}, {20, 1, 5, 10}, {0, 4, 1, 1}, 19},
    {"godhwi", "abdefc", 6, {1, 1, 2, 1, 2, 2}, {8, 8, 1, 8, 4, 2}, {0, 0, 1, 0, 1, 1}, 7},
    {"ldigo", "abcde", 5, {3, 1, 3, 3, 3}, {27, 27, 9, 3, 1}, {2, 0, 2, 2, 2}, 80},
    {"ldgo", "abcd", 4, {3, 1, 5, 3}, {15, 15, 3, 1}, {2, 0, 4, 2}, 44},
    {"ldio", "abcd", 4, {2, 2, 1, 2}, {4, 2, 2, 1}, {1, 1, 0, 1}, 7},
    {"ldoi", "abdc", 4, {5, 1, 1, 3}, {3, 3, 1, 1}, {4, 0, 0, 2}, 14},
    {"ldnc", "abcd", 4, {2, 1, 2, 5}, {10, 10, 5, 1}, {1, 0, 1, 4}, 19},
    {"OIhw4i16o4i", "ABcd4b16a4b", 4, {11, 3, 3, 2}, {1536, 1536, 512, 256}, {10, 2, 2, 1}, 1322},
    {"OIhw16i16o2i", "ABcd16b16a2b", 4, {31, 1, 2, 5}, {5120, 5120, 2560, 512}, {30, 0, 1, 4}, 9756},
    {"OIhw8o16i2o", "ABcd8a16b2a", 4, {16, 1, 3, 5}, {3840, 3840, 1280, 256}, {15, 0, 2, 4}, 3809},
    {"Ohwi64o", "Acdb64a", 4, {161, 3, 1, 1}, {192, 64, 192, 192}, {160, 2, 0, 0}, 544},
    {"OhwI16i64o2i", "AcdB16b64a2b", 4, {1, 1, 1, 3}, {6144, 2048, 6144, 2048}, {0, 0, 0, 2}, 4096},
    {"IOhw8o16i2o", "BAcd8a16b2a", 4, {17, 17, 3, 5}, {3840, 7680, 1280, 256}, {16, 16, 2, 4}, 15104},
    {"gOIhw4o8i8o4i", "aBCde4b8c8b4c", 5, {3, 33, 46, 1, 2}, {8192, 4096, 2048, 2048, 1024}, {2, 32, 45, 0, 1}, 23649},
    {"gOidhw16o", "aBcdef16b", 6, {3, 15, 1, 2, 1, 2}, {64, 64, 64, 32, 32, 16}, {2, 14, 0, 1, 0, 1}, 190},
    {"Goihw4g", "Abcde4a", 5, {6, 2, 1, 3, 1}, {24, 12, 12, 4, 4}, {5, 1, 0, 2, 0}, 45},
    {"hwioG16g", "decbA16a", 5, {35, 3, 1, 3, 1}, {16, 48, 144, 144, 144}, {34, 2, 0, 2, 0}, 418},
    {"ABcd4b16a4b", "ABcd4b16a4b", 4, {16, 31, 4, 2}, {4096, 2048, 512, 256}, {15, 30, 3, 1}, 4094},
    {"NChw2c32n8c", "ABcd2b32a8b", 4, {32, 10, 2, 3}, {3072, 3072, 1536, 512}, {31, 9, 1, 2}, 3065},
    {"OI8i32o2i", "AB8b32a2b", 2, {42, 15}, {512, 512}, {41, 14}, 978},
    {"ldgOI32o4i", "abdEC32e4c", 5, {5, 3, 5, 3, 49}, {4608, 1536, 128, 512, 256}, {4, 2, 4, 2, 48}, 22976},
    {"ldIo32i", "abCd32c", 4, {4, 2, 32, 1}, {64, 32, 32, 32}, {3, 1, 31, 0}, 255},
    {"OIdhw4i32o4i", "ABcde4b32a4b", 5, {33, 15, 4, 2, 1}, {4096, 4096, 1024, 512, 512}, {32, 14, 3, 1, 0}, 8066},
    {"gIOw4i8o8i4o", "aCBd4c8b8c4b", 4, {5, 22, 63, 1}, {2048, 1024, 1024, 1024}, {4, 21, 62, 0}, 10169},
    {"acbd", "acbd", 4, {1, 3, 3, 3}, {27, 3, 9, 1}, {0, 2, 2, 2}, 26},
    {"OIw8i64o2i", "ABc8b64a2b", 3, {127, 17, 3}, {6144, 3072, 1024}, {126, 16, 2}, 11388},
    {"wIo4i", "cBa4b", 3, {3, 4, 3}, {4, 12, 12}, {2, 3, 2}, 35},
    {"gdhwIo4i", "adefCb4c", 6, {2, 3, 3, 3, 3, 4}, {432, 4, 12, 144, 48, 12}, {1, 2, 2, 2, 2, 3}, 862},
    {"BA16a64b4a", "BA16a64b4a", 2, {36, 127}, {4096, 4096}, {35, 126}, 6395},
    {"AB32a32b8a4b", "AB32a32b8a4b", 2, {1, 54}, {32768, 32768}, {0, 53}, 417},
};

static tsr_desc make_tag(size_t i)
{
    tsr_desc desc;
    tsr_error error = {0};
    if (tsr_desc_from_layout(&desc, TSR_F32, tags[i].rank, tags[i].dims, tags[i].tag, &error) != TSR_OK)
        fail_msg("%s: %s", tags[i].tag, error.message);
    return desc;
}

static void test_tags(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(tags); i++) {
        int64_t offset = -1;
        tsr_desc desc = make_tag(i);
        assert_int_equal(desc.rank, tags[i].rank);
        for (int k = 0; k < desc.rank; k++)
            assert_int_equal(desc.strides[k], tags[i].strides[desc.order[k]]);
        assert_int_equal(tsr_desc_offset(&desc, desc.rank, tags[i].index, &offset, NULL), TSR_OK);
        assert_int_equal(offset, tags[i].offset);
    }
}

static void test_base_tags(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(tags); i++) {
        char text[TSR_TAG_SIZE];
        tsr_desc desc = make_tag(i), again;
        tsr_layout layout;
        assert_int_equal(tsr_layout_of(&layout, &desc, NULL), TSR_OK);
        assert_true(tsr_tag_print(&layout, TSR_ROLE_NONE, text));
        assert_string_equal(text, tags[i].base);
        assert_int_equal(tsr_desc_from_layout(&again, TSR_F32, desc.rank, desc.dims, text, NULL), TSR_OK);
        assert_true(tsr_same_fields(&again, &desc));
    }
}

static void test_no_tag(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool has_tag;
    } rows[] = {
        {"f32:[a2:5,b3:1] 2x3", false}, {"f32:[a2,b3]+1 2x3", false},  {"f32:[a2,b3:1/1] 2x3", false},
        {"f32:[b2,a2,b2] 2x4", true},   {"f32:[b2,b2,a2] 2x4", false}, {"f32:[a4,a2] 5", true},
        {"f32:[a3,a2] 5", true},        {"f32:[a2:1,b3:2] 2x3", true}, {"f32:scalar scalar", true},
        {"f32:[b3:2,a2:1] 2x3", true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[TSR_TAG_SIZE];
        tsr_desc desc;
        assert_int_equal(tsr_desc_parse(&desc, rows[i].text, NULL), TSR_OK);
        tsr_layout layout;
        bool has_layout = tsr_layout_of(&layout, &desc, NULL) == TSR_OK;
        assert_int_equal(has_layout && tsr_tag_print(&layout, TSR_ROLE_NONE, text), rows[i].has_tag);
    }
}

/* --- layouts as values --- */

static void test_no_layouts(void **state)
{
    (void)state;
    tsr_desc desc;
    tsr_error error = {0};
    tsr_layout layout = {.rank = 1, .levels = TSR_MAX_LEVELS + 1};
    assert_int_equal(tsr_layout_apply(&desc, TSR_U8, 1, LONGS(3), &layout, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected at most 64 block levels, found 65");
    layout = (tsr_layout){.rank = 1, .levels = 2, .order = {0, 1}};
    assert_int_equal(tsr_layout_apply(&desc, TSR_U8, 1, LONGS(3), &layout, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "order[1] is 1, expected an axis below the rank 1");
    assert_int_equal(tsr_layout_apply(&desc, TSR_U8, 2, LONGS(3, 4), &layout, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "the layout has 1 axes, the dims have 2");
}

/* A layout may need a level more than there may be: the outer one of an axis that has one block. */
static void test_no_room_for_a_level(void **state)
{
    (void)state;
    enum { BITS = 33 };
    int64_t dims[TSR_MAX_RANK], block_dims[TSR_MAX_LEVELS], strides[TSR_MAX_LEVELS], stride = 16;
    int order[TSR_MAX_LEVELS];
    tsr_desc desc;
    tsr_layout layout;
    tsr_error error = {0};
    for (int i = 0; i < TSR_MAX_LEVELS; i++) {
        order[i] = i < 30 ? i : i < 30 + BITS ? 30 : 31;
        block_dims[i] = i < 30 ? 1 : i < 30 + BITS ? 2 : 16;
        strides[i] = i < 30 || i == 63 ? 1 : stride;
        stride *= i < 30 || i == 63 ? 1 : 2;
    }
    for (int k = 0; k < TSR_MAX_RANK; k++)
        dims[k] = k < 30 ? 1 : k == 30 ? INT64_C(1) << BITS : 3;
    tsr_blocking blocking = {.levels = TSR_MAX_LEVELS, .block_dims = block_dims, .order = order, .strides = strides};
    assert_int_equal(tsr_desc_blocked(&desc, TSR_U8, TSR_MAX_RANK, dims, &blocking, NULL), TSR_OK);
    assert_int_equal(tsr_layout_of(&layout, &desc, &error), TSR_UNSUPPORTED);
    assert_string_equal(error.message,
                        "an axis has more blocks than it needs, or its blocks do not lie outermost first");
}

/* --- refusals --- */

static const struct {
    const char *text, *message;
} refusals[] = {
    {"", "expected a layout such as nchw or nChw16c, found \"\""},
    {" nchw", "expected a layout such as nchw or nChw16c, found \" nchw\""},
    {"16c", "expected a layout such as nchw or nChw16c, found \"16c\""},
    {"\xc3\xa4", "expected a layout such as nchw or nChw16c, found \"\xc3\xa4\""},
    {"[a2]", "expected a layout such as nchw or nChw16c, found \"[a2]\""},
    {"nchwc", "the letter 'c' occurs twice in layout \"nchwc\""},
    {"nchC", "the letter 'c' occurs twice in layout \"nchC\""},
    {"Scalar", "the letter 'a' occurs twice in layout \"Scalar\""},
    {"nchi", "the letters of layout \"nchi\" are neither a, b, c, ... nor of one family such as nchw or goihw"},
    {"acd", "the letters of layout \"acd\" are neither a, b, c, ... nor of one family such as nchw or goihw"},
    {"b", "the letters of layout \"b\" are neither a, b, c, ... nor of one family such as nchw or goihw"},
    {"xy", "the letters of layout \"xy\" are neither a, b, c, ... nor of one family such as nchw or goihw"},
    {"tnch", "the letters of layout \"tnch\" are neither a, b, c, ... nor of one family such as nchw or goihw"},
    {"nChw16", "expected one of the letters \"nchw\" behind a block size, found \"\" in layout \"nChw16\""},
    {"nChw16d", "expected one of the letters \"nchw\" behind a block size, found \"d\" in layout \"nChw16d\""},
    {"nChw16C", "expected one of the letters \"nchw\" behind a block size, found \"C\" in layout \"nChw16C\""},
    {"nChw-16c", "expected a block such as 16c at \"-16c\" in layout \"nChw-16c\""},
    {"nChw0c", "expected a block such as 16c at \"c\" in layout \"nChw0c\""},
    {"nChw16cc", "expected a block such as 16c at \"c\" in layout \"nChw16cc\""},
    {"nChw16c ", "expected a block such as 16c at \" \" in layout \"nChw16c \""},
    {"nChw9223372036854775808c",
     "expected a block such as 16c at \"9223372036854775808c\" in layout \"nChw9223372036854775808c\""},
    {"nchw16c", "'c' is in lower case but has a block in layout \"nchw16c\""},
    {"nCHw16c", "'h' is in upper case but has no block in layout \"nCHw16c\""},
    {"nCHw", "'c' is in upper case but has no block in layout \"nCHw\""},
    {"NCHW16c", "'n' is in upper case but has no block in layout \"NCHW16c\""},
    {"OhwI16o", "'i' is in upper case but has no block in layout \"OhwI16o\""},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refusals); i++) {
        tsr_layout layout, before;
        tsr_error error = {0};
        memset(&layout, 0x5a, sizeof layout);
        before = layout;
        assert_int_equal(tsr_layout_parse(&layout, refusals[i].text, &error), TSR_PARSE_ERROR);
        assert_int_equal(error.status, TSR_PARSE_ERROR);
        assert_string_equal(error.message, refusals[i].message);
        assert_memory_equal(&layout, &before, sizeof layout);
        assert_int_equal(tsr_layout_parse(&layout, refusals[i].text, NULL), TSR_PARSE_ERROR);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),     cmocka_unit_test(test_scalar),
        cmocka_unit_test(test_most_levels), cmocka_unit_test(test_tags),
        cmocka_unit_test(test_base_tags),   cmocka_unit_test(test_no_tag),
        cmocka_unit_test(test_no_layouts),  cmocka_unit_test(test_no_room_for_a_level),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
