/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <tessera/text.h>
#include <tessera/view.h>

#include "desc/fields.h"

#include "parsed.h"

static const char *const texts[] = {
    "f32:ab 3x4",
    "f32:ba 3x4",
    "f16:ab 3x4",
    "f32:ab 3x5",
    "f32:abc 3x4x1",
    "f32:nchw 2x20x3x5",
    "f32:nChw16c 2x20x3x5",
    "f32:nChw8c 2x20x3x5",
    "s8:OIhw4i16o4i 32x32x3x3",
    "s4:ab 7x9",
    "u8:ab 5000000000x2",
    "u8:ab 2x5000000000",
    "f32:ab 0x3",
    "f32:ab 3x0",
    "f32:scalar scalar",
    "f32:abcdefghijkl 1x2x1x3x1x2x1x3x1x2x1x3",
    "f32:[a3:8,b4:2] 3x4",
};

enum { TEXTS = sizeof texts / sizeof *texts };

static tsr_compact_desc *compact_of(const tsr_desc *desc)
{
    tsr_compact_desc *compact = malloc(tsr_compact_size(desc)); /* a sanitizer sees it when more is written */
    assert_non_null(compact);
    tsr_compact(compact, desc);
    return compact;
}

static void expect_there_and_back(const tsr_desc *desc)
{
    tsr_desc back;
    tsr_compact_desc *compact = compact_of(desc);
    memset(&back, 0xa5, sizeof back); /* what is not written does not count */
    tsr_expand(&back, compact);
    assert_true(tsr_fields_are_same(&back, desc));
    assert_true(tsr_compact_is(compact, desc));
    assert_int_equal(tsr_fields_hash(&back), tsr_fields_hash(desc));
    assert_true(tsr_desc_equal(&back, desc));
    assert_int_equal(tsr_desc_check(&back, true, NULL), TSR_OK);
    free(compact);
}

static void test_there_and_back(void **state)
{
    (void)state;
    for (int i = 0; i < TEXTS; i++) {
        tsr_desc desc = parsed_desc(texts[i]);
        expect_there_and_back(&desc);
        desc.offset = 5;
        expect_there_and_back(&desc);
    }
}

static void test_windows_and_pads(void **state)
{
    (void)state;
    tsr_desc desc = parsed_desc("f32:nChw8c 2x20x3x5"), view, other;
    assert_int_equal(tsr_view_crop(&view, &desc, (int64_t[]){0, 3, 0, 0}, (int64_t[]){2, 9, 3, 5}, NULL, NULL), TSR_OK);
    assert_int_equal(tsr_view_crop(&other, &desc, (int64_t[]){0, 2, 0, 0}, (int64_t[]){2, 9, 3, 5}, NULL, NULL),
                     TSR_OK);
    expect_there_and_back(&view);
    assert_false(tsr_fields_are_same(&view, &other));
    const tsr_blocking blocking = {.levels = 2,
                                   .block_dims = (int64_t[]){3, 4},
                                   .order = (int[]){0, 1},
                                   .strides = (int64_t[]){10, 1},
                                   .pad_before = (int64_t[]){1, 2}};
    assert_int_equal(tsr_desc_blocked(&desc, TSR_F32, 2, (int64_t[]){3, 4}, &blocking, NULL), TSR_OK);
    expect_there_and_back(&desc);
    other = desc;
    other.pad_before[1] = 3;
    assert_false(tsr_fields_are_same(&desc, &other));
}

static void test_every_field_counts(void **state)
{
    (void)state;
    for (int i = 0; i < TEXTS; i++)
        for (int j = 0; j < TEXTS; j++) {
            tsr_desc a = parsed_desc(texts[i]), b = parsed_desc(texts[j]);
            tsr_compact_desc *compact = compact_of(&a);
            assert_int_equal(tsr_fields_are_same(&a, &b), i == j);
            assert_int_equal(tsr_compact_is(compact, &b), i == j);
            assert_int_equal(tsr_fields_hash(&a) == tsr_fields_hash(&b), i == j);
            free(compact);
        }
}

/* What nobody has does not count. */
static void test_unused_axes(void **state)
{
    (void)state;
    tsr_desc a = parsed_desc("f32:nchw 2x20x3x5"), b = a;
    b.dims[4] = 7;
    b.strides[TSR_MAX_LEVELS - 1] = 7;
    b.order[4] = 9;
    assert_true(tsr_fields_are_same(&a, &b));
    assert_int_equal(tsr_fields_hash(&a), tsr_fields_hash(&b));
}

/* Nor does what no descriptor has: it is looked at no further. */
static void test_too_many(void **state)
{
    (void)state;
    const tsr_desc desc = parsed_desc("f32:nchw 2x20x3x5");
    tsr_desc wide = desc, deep = desc, negative = desc;
    tsr_compact_desc *compact = malloc(tsr_compact_size(&desc));
    assert_non_null(compact);
    tsr_compact(compact, &desc);
    wide.rank = 256 + desc.rank;
    deep.levels = TSR_MAX_LEVELS + 1;
    negative.levels = desc.levels - 256;
    assert_true(tsr_compact_is(compact, &desc));
    assert_false(tsr_compact_is(compact, &wide) || tsr_compact_is(compact, &deep) ||
                 tsr_compact_is(compact, &negative));
    assert_false(tsr_fields_are_same(&desc, &wide) || tsr_fields_are_same(&deep, &desc));
    free(compact);
}

static void test_gaps(void **state)
{
    (void)state;
    tsr_desc desc = parsed_desc("f32:nChw8c 2x20x3x5"), view;
    int64_t first, end;
    assert_true(tsr_span_without_gaps(&desc, &first, &end)); /* padding is none */
    assert_true(first == 0 && end == 2 * 24 * 3 * 5);
    assert_int_equal(tsr_view_crop(&view, &desc, (int64_t[]){1, 0, 0, 0}, (int64_t[]){1, 20, 3, 5}, NULL, NULL),
                     TSR_OK);
    assert_true(tsr_span_without_gaps(&view, &first, &end));
    assert_true(first == 24 * 3 * 5 && end == 2 * 24 * 3 * 5);
    assert_int_equal(tsr_view_crop(&view, &desc, (int64_t[]){0, 0, 0, 1}, (int64_t[]){2, 20, 3, 4}, NULL, NULL),
                     TSR_OK);
    assert_false(tsr_span_without_gaps(&view, &first, &end));
    assert_int_equal(tsr_view_crop(&view, &desc, (int64_t[]){0, 3, 0, 0}, (int64_t[]){2, 9, 3, 5}, NULL, NULL), TSR_OK);
    assert_false(tsr_span_without_gaps(&view, &first, &end));
    desc = parsed_desc("f32:ab 0x3");
    assert_true(tsr_span_without_gaps(&desc, &first, &end));
    assert_true(first == end);
}

static void test_size(void **state)
{
    (void)state;
    int64_t dims[TSR_MAX_RANK];
    tsr_desc desc = parsed_desc("f32:nchw 2x20x3x5");
    assert_true(tsr_compact_size(&desc) <= 24);
    for (int k = 0; k < TSR_MAX_RANK; k++)
        dims[k] = 1 + k % 2;
    assert_int_equal(tsr_desc_plain(&desc, TSR_F32, TSR_MAX_RANK, dims, NULL), TSR_OK);
    expect_there_and_back(&desc);
    assert_true(tsr_compact_size(&desc) <= 16 + 2 * TSR_MAX_RANK);
}

/* Numbers at each length that they may be written in, in descriptors that need not be possible. */
static void test_numbers(void **state)
{
    (void)state;
    for (int bit = 0; bit < 64; bit++)
        for (int less = 0; less < 2; less++) {
            const int64_t number = (int64_t)((UINT64_C(1) << bit) - (uint64_t)less);
            tsr_desc desc = parsed_desc("f32:nChw8c 2x20x3x5"), back = {0};
            desc.strides[1] = number;
            desc.block_dims[3] = number;
            desc.dims[2] = ~number;
            desc.pad_before[0] = number;
            tsr_compact_desc *compact = compact_of(&desc);
            tsr_expand(&back, compact);
            assert_true(tsr_fields_are_same(&back, &desc));
            assert_true(tsr_compact_is(compact, &desc));
            assert_int_equal(back.strides[1], number);
            assert_int_equal(back.dims[2], ~number);
            desc.pad_before[0] ^= INT64_C(1) << 62;
            assert_false(tsr_compact_is(compact, &desc));
            free(compact);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_windows_and_pads),
        cmocka_unit_test(test_every_field_counts),
        cmocka_unit_test(test_unused_axes),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
