/* SPDX-License-Identifier: Apache-2.0 */
/* Copies from blob to blob: whole, transposed, and within one memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blob_values.h"

static void test_copy(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_blob *a = blob_of(nchw, NULL), *b = blob_of(nChw16c, NULL), *c = blob_of("f32:nchw 2x20x5x3", NULL);
    write_values(a, nhwc, 4);
    write_values(b, NULL, 8);
    assert_int_equal(tsr_blob_copy(b, a, NULL), TSR_OK);
    expect_read(b, NULL, 4);
    assert_int_equal(tsr_blob_get_stats(a).representations, 1);
    assert_int_equal(tsr_blob_copy(b, b, NULL), TSR_OK);
    assert_int_equal(tsr_blob_copy(c, a, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected a blob of the same type and dims to copy from");
    tsr_blob_free(&a);
    tsr_blob_free(&b);
    tsr_blob_free(&c);
}

/* Offsets that come from padding in front of a level, and from windows that begin in a later block. */
static void test_copy_behind_padding(void **state)
{
    static const char *const texts[] = {"f32:[a20:6,b1:14/2,c3:1] 20x1x3", "f32:[a20:9/3,b1:3,c3:1/2]+7 20x1x3",
                                        "f32:[a4:48,c3:16,a8:2,b1:1]@a12 20x1x3"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tsr_blob *blob = blob_of(texts[i], NULL), *plain = blob_of("f32:abc 20x1x3", NULL);
        tsr_access access = acquire_home(blob, NULL, TSR_WRITE);
        tsr_desc desc;
        tsr_access_get_desc(&access, &desc);
        put_values(map(&access), &desc, 5);
        release(&access);
        assert_int_equal(tsr_blob_copy(plain, blob, NULL), TSR_OK);
        expect_read(plain, NULL, 5);
        write_values(plain, NULL, 9);
        assert_int_equal(tsr_blob_copy(blob, plain, NULL), TSR_OK);
        access = acquire_home(blob, NULL, TSR_READ);
        expect_values(map(&access), &desc, 9);
        release(&access);
        tsr_blob_free(&blob);
        tsr_blob_free(&plain);
    }
}

/* What is transposed is taken as it is. */
static void test_transpose(void **state)
{
    (void)state;
    tsr_blob *src = blob_of(nchw, NULL), *dst = blob_of("f32:nchw 2x5x3x20", NULL), *other = blob_of(nchw, NULL);
    tsr_error error = {0};
    int64_t at, there;
    write_values(src, nhwc, 1); /* home has no values */
    assert_int_equal(tsr_blob_transpose(dst, src, 1, 3, NULL), TSR_OK);
    assert_int_equal(tsr_blob_get_stats(src).conversions, 0);
    assert_int_equal(tsr_blob_get_stats(src).representations, 1);
    const tsr_desc from = parsed_desc(nchw), to = parsed_desc("f32:nchw 2x5x3x20");
    tsr_access access = acquire_home(dst, NULL, TSR_READ);
    const float *values = map(&access);
    for (int64_t n = 0, i = 0; n < 2; n++)
        for (int64_t c = 0; c < 20; c++)
            for (int64_t y = 0; y < 3; y++)
                for (int64_t x = 0; x < 5; x++, i++) {
                    assert_int_equal(tsr_desc_offset(&to, 4, (const int64_t[]){n, x, y, c}, &at, NULL), TSR_OK);
                    assert_int_equal(tsr_desc_offset(&from, 4, (const int64_t[]){n, c, y, x}, &there, NULL), TSR_OK);
                    assert_int_equal(there, i);
                    assert_true(values[at] == (float)(i + 1));
                }
    release(&access);
    assert_int_equal(tsr_blob_transpose(other, src, 1, 3, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected a blob of the same type and dims to copy from");
    assert_int_equal(tsr_blob_transpose(src, src, 1, 3, &error), TSR_INVALID_ARGUMENT);
    assert_int_equal(tsr_blob_transpose(dst, src, 1, 4, &error), TSR_INVALID_ARGUMENT);
    tsr_blob_free(&src);
    tsr_blob_free(&dst);
    tsr_blob_free(&other);
}

/* ---- in one memory ---- */

/* Steps of a sequence, some of which are a window. */
static tsr_blob *window_of(tsr_blob *sequence, int64_t first, int64_t steps)
{
    tsr_desc desc;
    tsr_blob_get_desc(sequence, &desc);
    return crop_of(sequence, (int64_t[]){first, 0}, (int64_t[]){steps, desc.dims[1]});
}

/* A copy from one window to another, also where they overlap: as if the source had been copied before. */
static void test_copy_within(void **state)
{
    enum { STEPS = 6, SIZE = 5, MOST = 4 };
    (void)state;
    for (int steps = 1; steps <= MOST; steps++)
        for (int from = 0; from <= STEPS - steps; from++)
            for (int to = 0; to <= STEPS - steps; to++) {
                tsr_blob *sequence = blob_of("f32:ab 6x5", NULL), *src = window_of(sequence, from, steps),
                         *dst = window_of(sequence, to, steps);
                write_values(sequence, "f32:ba 6x5", 0);
                assert_int_equal(tsr_blob_copy(dst, src, NULL), TSR_OK);
                tsr_access access = acquire_home(sequence, NULL, TSR_READ);
                const float *values = map(&access);
                for (int i = 0; i < STEPS * SIZE; i++) {
                    const bool is_copied = i >= to * SIZE && i < (to + steps) * SIZE;
                    assert_true(values[i] == (float)(is_copied ? i + (from - to) * SIZE : i));
                }
                release(&access);
                tsr_blob_free(&src);
                tsr_blob_free(&dst);
                tsr_blob_free(&sequence);
            }
}

/* Two blobs over one storage are as two windows of one: the source is copied before. */
static void test_copy_between_sharers(void **state)
{
    (void)state;
    tsr_storage *storage = storage_of(2 * 20 * 3 * 5 * sizeof(float));
    tsr_blob *a = blob_of(nchw, &(tsr_blob_options){.storage = storage}),
             *b = blob_of(nhwc, &(tsr_blob_options){.storage = storage}), *view = NULL;
    tsr_desc whole;
    tsr_blob_get_desc(b, &whole);
    assert_int_equal(tsr_blob_create_view(&view, b, &whole, NULL), TSR_OK);
    write_values(b, NULL, 1);
    assert_int_equal(tsr_blob_copy(a, b, NULL), TSR_OK);
    expect_read(a, NULL, 1);
    write_values(a, NULL, 2);
    assert_int_equal(tsr_blob_copy(view, a, NULL), TSR_OK);
    expect_read(b, NULL, 2);
    tsr_blob_free(&view);
    tsr_blob_free(&a);
    tsr_blob_free(&b);
    tsr_storage_release(&storage);
}

static void test_transpose_within(void **state)
{
    (void)state;
    tsr_blob *square = blob_of("f32:nChw8c 3x9x4x9", NULL), *before = blob_of("f32:nchw 3x9x4x9", NULL),
             *turned = blob_of("f32:nhwc 3x9x4x9", NULL);
    write_values(square, NULL, 1);
    assert_int_equal(tsr_blob_copy(before, square, NULL), TSR_OK);
    assert_int_equal(tsr_blob_transpose(turned, before, 3, 1, NULL), TSR_OK);
    assert_int_equal(tsr_blob_transpose(square, square, 1, 3, NULL), TSR_OK);
    const tsr_desc layout = parsed_desc("f32:nchw 3x9x4x9");
    tsr_access expected = acquire_home(turned, "f32:nchw 3x9x4x9", TSR_READ),
               found = acquire_home(square, "f32:nchw 3x9x4x9", TSR_READ);
    const float *values = map(&found);
    assert_memory_equal(values, map(&expected), (size_t)tsr_desc_size_bytes(&layout));
    assert_true(values[1] == 1 + 4 * 9); /* was the second channel's first */
    release(&expected);
    release(&found);
    tsr_blob_free(&square);
    tsr_blob_free(&before);
    tsr_blob_free(&turned);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_copy_behind_padding),
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_copy_within),
        cmocka_unit_test(test_copy_between_sharers),
        cmocka_unit_test(test_transpose_within),
        at_place(test_copy),
        at_place(test_copy_behind_padding),
        at_place(test_transpose),
        at_place(test_copy_within),
        at_place(test_copy_between_sharers),
        at_place(test_transpose_within),
    };
    return choose_place(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
