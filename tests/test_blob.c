/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/blob.h>
#include <tessera/text.h>

#include "accesses.h"
#include "failing_allocator.h"
#include "parsed.h"
#include "place.h"

/* ---- values: of element i in row-major order, first + i ---- */

static tsr_blob *blob_of(const char *text, const tsr_blob_options *options)
{
    tsr_blob *blob = NULL;
    tsr_error error = {0};
    const tsr_desc desc = parsed_desc(text);
    if (tsr_blob_create(&blob, &desc, options, &error) != TSR_OK)
        fail_msg("%s: %s", text, error.message);
    return blob;
}

static void put_values(void *data, const tsr_desc *desc, float first)
{
    for (int64_t i = 0, at; i < tsr_desc_elements(desc); i++) {
        assert_int_equal(tsr_desc_offset_linear(desc, i, &at, NULL), TSR_OK);
        ((float *)data)[at] = first + (float)i;
    }
}

static void expect_values(const void *data, const tsr_desc *desc, float first)
{
    for (int64_t i = 0, at; i < tsr_desc_elements(desc); i++) {
        assert_int_equal(tsr_desc_offset_linear(desc, i, &at, NULL), TSR_OK);
        if (((const float *)data)[at] != first + (float)i)
            fail_msg("element %lld: expected %g, found %g", (long long)i, first + (float)i, ((const float *)data)[at]);
    }
}

/* All elements have their values, and what is not an element is zero. */
static void expect_all(const void *data, const tsr_desc *desc, float first)
{
    int64_t others = tsr_desc_size_bytes(desc) / 4 - tsr_desc_elements(desc), zeros = 0;
    expect_values(data, desc, first);
    unsigned char *is_element = calloc((size_t)tsr_desc_size_bytes(desc) / 4 + 1, 1);
    assert_non_null(is_element);
    for (int64_t i = 0, at; i < tsr_desc_elements(desc); i++) {
        assert_int_equal(tsr_desc_offset_linear(desc, i, &at, NULL), TSR_OK);
        is_element[at] = 1;
    }
    for (int64_t at = 0; at < tsr_desc_size_bytes(desc) / 4; at++)
        zeros += !is_element[at] && ((const float *)data)[at] == 0;
    assert_int_equal(zeros, others);
    free(is_element);
}

static void write_values(tsr_blob *blob, const char *layout, float first)
{
    tsr_desc desc;
    tsr_access access = acquire(blob, layout, TSR_WRITE);
    tsr_access_get_desc(&access, &desc);
    memset(access.data, 0xff, (size_t)tsr_desc_size_bytes(&desc)); /* padding, too */
    put_values(access.data, &desc, first);
    release(&access);
}

static void expect_read(tsr_blob *blob, const char *layout, float first)
{
    tsr_desc desc;
    tsr_access access = acquire(blob, layout, TSR_READ);
    tsr_access_get_desc(&access, &desc);
    expect_all(access.data, &desc, first);
    release(&access);
}

static const char nchw[] = "f32:nchw 2x20x3x5", nhwc[] = "f32:nhwc 2x20x3x5", nChw8c[] = "f32:nChw8c 2x20x3x5",
                  nChw16c[] = "f32:nChw16c 2x20x3x5";

/* ---- values and layouts ---- */

static void test_zero_until_written(void **state)
{
    (void)state;
    tsr_blob *blob = blob_of(nChw8c, NULL);
    assert_int_equal(tsr_blob_get_stats(blob).held_bytes, 0);
    tsr_access access = acquire(blob, nchw, TSR_READ);
    assert_int_equal((uintptr_t)access.data % TSR_ALIGNMENT, 0);
    for (int i = 0; i < 2 * 20 * 3 * 5; i++)
        assert_true(((float *)access.data)[i] == 0);
    release(&access);
    assert_int_equal(tsr_blob_get_stats(blob).conversions, 0);
    tsr_blob_free(&blob);
    assert_null(blob);
}

static void test_every_layout_from_every_other(void **state)
{
    static const char *const layouts[] = {nchw, nhwc, nChw8c, nChw16c};
    (void)state;
    for (int home = 0; home < 4; home++)
        for (int written = 0; written < 4; written++) {
            tsr_blob *blob = blob_of(layouts[home], NULL);
            write_values(blob, layouts[written], 7);
            for (int read = 0; read < 4; read++)
                expect_read(blob, layouts[read], 7);
            assert_int_equal(tsr_blob_get_stats(blob).conversions, 3);
            write_values(blob, layouts[home], 9); /* memory of the others is used again */
            for (int read = 0; read < 4; read++)
                expect_read(blob, layouts[read], 9);
            assert_int_equal(tsr_blob_get_stats(blob).conversions, 6);
            assert_int_equal(tsr_blob_get_stats(blob).representations, 4);
            tsr_blob_free(&blob);
        }
}

static void test_converted_once(void **state)
{
    (void)state;
    tsr_blob *blob = blob_of(nchw, NULL);
    write_values(blob, NULL, 1);
    for (int i = 0; i < 10; i++)
        expect_read(blob, nChw16c, 1);
    const tsr_blob_stats stats = tsr_blob_get_stats(blob);
    assert_int_equal(stats.acquires, 11);
    assert_int_equal(stats.hits, 10);
    assert_int_equal(stats.conversions, 1);
    assert_int_equal(stats.converted_bytes, 2 * 32 * 3 * 5 * 4);
    assert_int_equal(stats.transfers, 0);
    tsr_blob_free(&blob);
}

static void test_overwriting_converts_nothing(void **state)
{
    (void)state;
    tsr_blob *blob = blob_of(nchw, NULL);
    write_values(blob, nchw, 1);
    write_values(blob, nhwc, 2);
    write_values(blob, nChw8c, 3);
    assert_int_equal(tsr_blob_get_stats(blob).conversions, 0);
    expect_read(blob, nchw, 3);
    assert_int_equal(tsr_blob_get_stats(blob).conversions, 1);
    tsr_blob_free(&blob);
}

static void test_writing_in_part(void **state)
{
    (void)state;
    tsr_blob *blob = blob_of(nchw, NULL);
    write_values(blob, nchw, 1);
    tsr_desc desc = parsed_desc(nChw8c);
    tsr_access access = acquire(blob, nChw8c, TSR_READ_WRITE);
    expect_all(access.data, &desc, 1);
    put_values(access.data, &desc, 50);
    release(&access);
    desc = parsed_desc(nhwc);
    assert_false(tsr_blob_holds(blob, NULL, &desc));
    expect_read(blob, nhwc, 50);
    assert_true(tsr_blob_holds(blob, NULL, &desc));
    desc = parsed_desc(nchw);
    assert_false(tsr_blob_holds(blob, NULL, &desc));
    tsr_blob_free(&blob);
}

/* A writer may leave anything in the padding; it is zeroed once, for the first reader. */
static void test_padding(void **state)
{
    (void)state;
    tsr_blob *blob = blob_of(nChw16c, NULL);
    write_values(blob, NULL, 1);
    expect_read(blob, NULL, 1);
    expect_read(blob, NULL, 1);
    assert_int_equal(tsr_blob_get_stats(blob).padding_zeroed, 1);
    expect_read(blob, nchw, 1);
    write_values(blob, nchw, 2);
    expect_read(blob, NULL, 2); /* its padding is still zero */
    assert_int_equal(tsr_blob_get_stats(blob).padding_zeroed, 1);
    write_values(blob, NULL, 3);
    expect_read(blob, nchw, 3); /* padding does not matter */
    assert_int_equal(tsr_blob_get_stats(blob).padding_zeroed, 1);
    write_values(blob, nchw, 4);
    expect_read(blob, NULL, 4); /* nor has it leaked */
    tsr_blob_free(&blob);
}

/* In so many pieces that the boxes of the padding overlap. */
static void test_much_padding(void **state)
{
    (void)state;
    tsr_blob *blob = blob_of("f32:ABCDEFGHI2a2b2c2d2e2f2g2h2i 3x3x3x3x3x3x3x3x3", NULL);
    write_values(blob, NULL, 1);
    expect_read(blob, NULL, 1);
    assert_int_equal(tsr_blob_get_stats(blob).padding_zeroed, 1);
    tsr_blob_free(&blob);
}

/* Another description of the same memory is the same layout. */
static void test_equal_layouts(void **state)
{
    (void)state;
    tsr_blob *blob = blob_of("f32:nchw 2x1x3x5", NULL);
    write_values(blob, NULL, 1);
    expect_read(blob, "f32:nhwc 2x1x3x5", 1);
    assert_int_equal(tsr_blob_get_stats(blob).conversions, 0);
    assert_int_equal(tsr_blob_get_stats(blob).representations, 1);
    tsr_blob_free(&blob);
}

static void test_no_elements(void **state)
{
    (void)state;
    tsr_blob *blob = blob_of("f32:nchw 2x0x3x5", NULL);
    tsr_access access = acquire(blob, NULL, TSR_WRITE);
    assert_null(access.data);
    release(&access);
    access = acquire(blob, "f32:nhwc 2x0x3x5", TSR_READ);
    release(&access);
    tsr_blob_free(&blob);
}

/* ---- who excludes whom ---- */

static void expect_refused(tsr_blob *blob, const char *layout, tsr_intent intent, tsr_status status,
                           const char *message)
{
    tsr_access access = {.data = &access};
    tsr_error error = {0};
    const tsr_desc desc = parsed_desc(layout);
    assert_int_equal(tsr_blob_acquire(blob, NULL, &desc, intent, &access, &error), status);
    assert_string_equal(error.message, message);
    assert_ptr_equal(access.data, &access);
}

static void test_exclusion(void **state)
{
    (void)state;
    tsr_blob *blob = blob_of(nchw, NULL);
    tsr_access a = acquire(blob, nchw, TSR_READ), b = acquire(blob, nChw8c, TSR_READ);
    expect_refused(blob, nchw, TSR_WRITE, TSR_BUSY,
                   "expected nobody to hold what is to be written, found 2 who read it");
    release(&a);
    expect_refused(blob, nhwc, TSR_READ_WRITE, TSR_BUSY,
                   "expected nobody to hold what is to be written, found 1 who read it");
    release(&b);
    a = acquire(blob, nhwc, TSR_WRITE);
    expect_refused(blob, nchw, TSR_READ, TSR_BUSY, "the blob is acquired for writing");
    expect_refused(blob, nhwc, TSR_WRITE, TSR_BUSY, "the blob is acquired for writing");
    release(&a);
    b = acquire(blob, nchw, TSR_READ);
    release(&b);
    tsr_blob_free(&blob);
}

static void test_released_twice(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_blob *blob = blob_of(nchw, NULL);
    tsr_access access = acquire(blob, NULL, TSR_READ), copy = access;
    release(&access);
    assert_int_equal(tsr_blob_release(&access, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "the access was released before");
    assert_int_equal(tsr_blob_release(&copy, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "nobody holds what the access says");
    const tsr_desc last = parsed_desc(nhwc);
    access = acquire(blob, nhwc, TSR_READ);
    copy = access;
    release(&access);
    assert_int_equal(tsr_blob_drop(blob, NULL, &last, NULL), TSR_OK); /* what the copy speaks of is gone */
    access = acquire(blob, NULL, TSR_READ);
    assert_int_equal(tsr_blob_release(&copy, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "nobody holds what the access says");
    release(&access);
    tsr_blob_free(&blob);
}

static void test_access_keeps_blob(void **state)
{
    (void)state;
    tsr_blob *blob = blob_of(nchw, NULL), *other = tsr_blob_share(blob);
    assert_ptr_equal(other, blob);
    tsr_access access = acquire(blob, NULL, TSR_WRITE);
    tsr_blob_free(&blob);
    tsr_blob_free(&other);
    memset(access.data, 1, 2 * 20 * 3 * 5 * 4);
    release(&access);
    tsr_blob_free(NULL);
    tsr_blob_free(&blob);
    assert_null(tsr_blob_share(NULL));
}

/* ---- what cannot be ---- */

static void test_refusals(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_blob *blob = blob_of(nchw, NULL), *none = NULL;
    expect_refused(blob, "f32:nchw 2x20x3x6", TSR_READ, TSR_INVALID_ARGUMENT,
                   "expected a layout of the blob's type and dims");
    expect_refused(blob, "f16:nchw 2x20x3x5", TSR_READ, TSR_INVALID_ARGUMENT,
                   "expected a layout of the blob's type and dims");
    expect_refused(blob, "f32:abc 2x20x15", TSR_READ, TSR_INVALID_ARGUMENT,
                   "expected a layout of the blob's type and dims");
    expect_refused(blob, nchw, (tsr_intent)0, TSR_INVALID_ARGUMENT, "expected an intent of 1 to 3, found 0");
    tsr_access access = acquire(blob, nhwc, TSR_WRITE); /* nobody is in the way */
    release(&access);
    tsr_desc broadcast = parsed_desc(nchw);
    broadcast.strides[0] = 0;
    assert_int_equal(tsr_blob_create(&none, &broadcast, NULL, &error), TSR_INVALID_ARGUMENT);
    assert_int_equal(tsr_blob_acquire(blob, NULL, &broadcast, TSR_READ, &access, &error), TSR_INVALID_ARGUMENT);
    const tsr_desc desc = parsed_desc(nchw);
    assert_int_equal(tsr_blob_create(&none, &desc, &(tsr_blob_options){.keep_bytes = -1}, &error),
                     TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected keep_bytes and threads of at least 0, found -1 and 0");
    assert_null(none);
    tsr_blob_free(&blob);
}

/* ---- memory ---- */

static int releases;

static void count_release(void *context, void *memory)
{
    releases += context == &releases && memory != NULL;
}

static void test_wrapped(void **state)
{
    (void)state;
    float values[6] = {1, 2, 3, 4, 5, 6};
    tsr_error error = {0};
    tsr_blob *blob = NULL;
    const tsr_desc desc = parsed_desc("f32:ab 2x3"), large = parsed_desc("f32:ab 2x4");
    releases = 0;
    assert_int_equal(tsr_blob_wrap(&blob, &large, values, sizeof values, count_release, &releases, &error),
                     TSR_OUT_OF_RANGE);
    assert_string_equal(error.message, "expected storage of 32 bytes, found 24");
    assert_int_equal(releases, 0);
    assert_int_equal(tsr_blob_wrap(&blob, &desc, values, sizeof values, count_release, &releases, NULL), TSR_OK);
    expect_read(blob, "f32:ba 2x3", 1);
    tsr_access access = acquire(blob, NULL, TSR_READ_WRITE);
    assert_ptr_equal(access.data, values);
    release(&access);
    tsr_blob_free(&blob);
    assert_int_equal(releases, 1);
}

static void test_shared_storage(void **state)
{
    (void)state;
    tsr_storage *storage = NULL;
    tsr_error error = {0};
    tsr_blob *blob = NULL;
    const tsr_desc desc = parsed_desc(nchw);
    assert_int_equal(tsr_storage_create(&storage, 2 * 20 * 3 * 5 * 4, NULL, NULL), TSR_OK);
    tsr_blob *a = blob_of(nchw, &(tsr_blob_options){.storage = storage}),
             *b = blob_of(nchw, &(tsr_blob_options){.storage = storage});
    write_values(a, NULL, 5);
    expect_read(b, NULL, 5);
    tsr_blob_free(&a);
    expect_read(b, nhwc, 5);
    tsr_device *remote = register_remote("remote");
    assert_int_equal(tsr_blob_create(&blob, &desc, &(tsr_blob_options){.storage = storage, .device = remote}, &error),
                     TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected storage on device \"remote\", found some on \"host\"");
    forget_remote(&remote);
    tsr_blob_free(&b);
    tsr_storage_release(&storage);
}

static void expect_not_set(tsr_blob *blob, const tsr_desc *layout, tsr_storage *storage, tsr_status status,
                           const char *message)
{
    tsr_error error = {0};
    assert_int_equal(tsr_blob_set_storage(blob, layout, storage, &error), status);
    assert_string_equal(error.message, message);
}

/* Other memory for what a blob has; refused, the blob is as it was. */
static void test_set_storage(void **state)
{
    (void)state;
    float values[2 * 20 * 3 * 5] = {0};
    const tsr_desc desc = parsed_desc(nchw), blocked = parsed_desc(nChw8c);
    tsr_blob *blob = blob_of(nchw, NULL), *view = NULL;
    tsr_storage *storage = NULL;
    assert_int_equal(tsr_desc_size_bytes(&desc), sizeof values);
    write_values(blob, NULL, 1);
    expect_read(blob, nhwc, 1);
    put_values(values, &desc, 9);
    assert_int_equal(tsr_storage_wrap(&storage, values, sizeof values, NULL, NULL, NULL), TSR_OK);
    expect_not_set(blob, &blocked, storage, TSR_OUT_OF_RANGE, "expected storage of 2880 bytes, found 2400");
    const tsr_desc other = parsed_desc("f32:nchw 2x20x3x4");
    expect_not_set(blob, &other, storage, TSR_INVALID_ARGUMENT, "expected a layout of the blob's type and dims");
    tsr_access access = acquire(blob, NULL, TSR_READ);
    expect_not_set(blob, NULL, storage, TSR_BUSY, "expected nobody to hold what is to be written, found 1 who read it");
    release(&access);
    assert_int_equal(tsr_blob_create_view(&view, blob, &desc, NULL), TSR_OK);
    expect_not_set(blob, NULL, storage, TSR_BUSY, "expected a blob without views, found 1");
    expect_not_set(view, NULL, storage, TSR_INVALID_ARGUMENT, "a view keeps its memory, which is its parent's");
    expect_read(view, NULL, 1);
    tsr_blob_free(&view);
    expect_read(blob, NULL, 1);
    expect_read(blob, nhwc, 1);

    assert_int_equal(tsr_blob_set_storage(blob, NULL, storage, NULL), TSR_OK);
    const tsr_desc turned = parsed_desc(nhwc);
    expect_not_set(blob, &turned, storage, TSR_INVALID_ARGUMENT, "the storage is that of another layout of the blob");
    expect_read(blob, NULL, 9);
    expect_read(blob, nhwc, 9);
    write_values(blob, NULL, 4);
    expect_values(values, &desc, 4);
    tsr_storage_release(&storage);
    tsr_blob_free(&blob);
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
    tsr_access access = acquire(dst, NULL, TSR_READ);
    for (int64_t n = 0, i = 0; n < 2; n++)
        for (int64_t c = 0; c < 20; c++)
            for (int64_t y = 0; y < 3; y++)
                for (int64_t x = 0; x < 5; x++, i++) {
                    assert_int_equal(tsr_desc_offset(&to, 4, (const int64_t[]){n, x, y, c}, &at, NULL), TSR_OK);
                    assert_int_equal(tsr_desc_offset(&from, 4, (const int64_t[]){n, c, y, x}, &there, NULL), TSR_OK);
                    assert_int_equal(there, i);
                    assert_true(((const float *)access.data)[at] == (float)(i + 1));
                }
    release(&access);
    assert_int_equal(tsr_blob_transpose(other, src, 1, 3, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected a blob of the same type and dims to copy from");
    assert_int_equal(tsr_blob_transpose(src, src, 1, 3, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected two blobs to transpose one into the other");
    assert_int_equal(tsr_blob_transpose(dst, src, 1, 4, &error), TSR_INVALID_ARGUMENT);
    tsr_blob_free(&src);
    tsr_blob_free(&dst);
    tsr_blob_free(&other);
}

/* With a cache of one plan, and the nth allocation from there on failing: what is written to is as before. */
static tsr_status divide_without_memory(bool is_split, int nth)
{
    failing_allocator counter = {0};
    const tsr_allocator allocator = failing_allocator_of(&counter);
    const tsr_desc second = parsed_desc("f32:nChw8c 2x13x3x5");
    tsr_plan_cache *plans = NULL;
    assert_int_equal(tsr_plan_cache_create(&plans, 1, &allocator, NULL), TSR_OK);
    const tsr_blob_options options = {.plans = plans, .allocator = &allocator};
    tsr_blob *whole = blob_of(nchw, &options),
             *parts[] = {blob_of("f32:nhwc 2x7x3x5", &options), blob_of("f32:nChw8c 2x13x3x5", &options)};
    write_values(whole, NULL, 9);
    write_values(parts[0], NULL, 1);
    if (!is_split)
        write_values(parts[1], NULL, 1);
    counter.fail_at = counter.allocations + nth;
    tsr_status status = is_split ? tsr_blob_split(parts, 2, whole, 1, NULL) : tsr_blob_merge(whole, parts, 2, 1, NULL);
    counter.fail_at = 0;
    if (status != TSR_OK && is_split) {
        expect_read(parts[0], NULL, 1);
        assert_false(tsr_blob_holds(parts[1], NULL, &second));
    } else if (status != TSR_OK) {
        expect_read(whole, NULL, 9);
    }
    tsr_blob_free(&whole);
    tsr_blob_free(&parts[0]);
    tsr_blob_free(&parts[1]);
    tsr_plan_cache_free(&plans);
    assert_int_equal(counter.live, 0);
    return status;
}

/* A merge and a split have all of their plans before they begin, also where the cache has room for one. */
static void test_merge_and_split_out_of_memory(void **state)
{
    (void)state;
    for (int is_split = 0; is_split < 2; is_split++) {
        tsr_status status = TSR_OUT_OF_MEMORY;
        for (int nth = 1; status != TSR_OK; nth++) {
            status = divide_without_memory(is_split, nth);
            assert_true(status == TSR_OK || status == TSR_OUT_OF_MEMORY);
            assert_in_range(nth, 1, 100);
        }
    }
}

static void test_drop(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_blob *blob = blob_of(nchw, NULL);
    const tsr_desc home = parsed_desc(nchw), blocked = parsed_desc(nChw8c), last = parsed_desc(nhwc);
    write_values(blob, nChw8c, 3);
    expect_read(blob, nhwc, 3);
    assert_int_equal(tsr_blob_get_stats(blob).representations, 2);
    tsr_access access = acquire(blob, nhwc, TSR_READ);
    assert_int_equal(tsr_blob_drop(blob, NULL, &last, &error), TSR_BUSY);
    release(&access);
    assert_int_equal(tsr_blob_drop(blob, NULL, &blocked, NULL), TSR_OK);
    assert_int_equal(tsr_blob_drop(blob, NULL, &last, NULL), TSR_OK);
    assert_int_equal(tsr_blob_drop(blob, NULL, &last, NULL), TSR_OK); /* it is not there */
    assert_int_equal(tsr_blob_drop(blob, NULL, &home, NULL), TSR_OK); /* and that stays */
    assert_int_equal(tsr_blob_get_stats(blob).representations, 1);
    expect_read(blob, NULL, 3);
    tsr_blob_free(&blob);
}

static void test_bound(void **state)
{
    (void)state;
    const int64_t bytes = 2 * 20 * 3 * 5 * 4;
    tsr_blob *blob = blob_of(nchw, &(tsr_blob_options){.keep_bytes = bytes});
    const tsr_desc n8 = parsed_desc(nChw8c), last = parsed_desc(nhwc);
    write_values(blob, NULL, 1);
    expect_read(blob, nhwc, 1);
    assert_true(tsr_blob_holds(blob, NULL, &last));
    expect_read(blob, nChw8c, 1); /* larger than the bound by its padding */
    assert_false(tsr_blob_holds(blob, NULL, &n8) || tsr_blob_holds(blob, NULL, &last));
    write_values(blob, nChw8c, 2);
    assert_true(tsr_blob_holds(blob, NULL, &n8)); /* nothing else holds the values */
    expect_read(blob, NULL, 2);
    assert_false(tsr_blob_holds(blob, NULL, &n8));
    tsr_blob_free(&blob);
}

static void test_reshape(void **state)
{
    (void)state;
    tsr_blob *blob = blob_of("f32:ab 4x6", NULL);
    bool reallocated = true;
    const tsr_desc smaller = parsed_desc("f32:abc 2x3x2"), larger = parsed_desc("f32:ab 5x5"),
                   same = parsed_desc("f32:ab 6x4"), other = parsed_desc("f16:ab 2x2");
    assert_int_equal(tsr_blob_reshape(blob, &same, &reallocated, NULL), TSR_OK);
    assert_false(reallocated);
    assert_int_equal(tsr_blob_get_stats(blob).held_bytes, 0); /* nobody has asked yet */
    write_values(blob, "f32:ba 6x4", 1);                      /* the values are elsewhere */
    assert_int_equal(tsr_blob_reshape(blob, &smaller, &reallocated, NULL), TSR_OK);
    assert_false(reallocated);
    expect_read(blob, NULL, 1);
    assert_int_equal(tsr_blob_reshape(blob, &same, NULL, NULL), TSR_OK);
    expect_read(blob, NULL, 1); /* all bytes are still there */
    tsr_access access = acquire(blob, NULL, TSR_READ);
    tsr_error error = {0};
    assert_int_equal(tsr_blob_reshape(blob, &smaller, NULL, &error), TSR_BUSY);
    release(&access);
    assert_int_equal(tsr_blob_reshape(blob, &other, NULL, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected elements of type f32, found f16");
    assert_int_equal(tsr_blob_reshape(blob, &larger, &reallocated, NULL), TSR_OK);
    assert_true(reallocated);
    access = acquire(blob, NULL, TSR_READ);
    for (int i = 0; i < 25; i++)
        assert_true(((float *)access.data)[i] == 0);
    release(&access);
    tsr_blob_free(&blob);
}

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

/* A handle is small: what it has beyond its data, with one representation. */
static void test_overhead(void **state)
{
    static const char *const layouts[] = {
        "f32:scalar scalar",          nchw, nChw16c, "f32:abcdefg 2x1x1x3x4x1x5", "f32:ABcd16b16a2b 40x40x3x3",
        "s4:abcdefgh 1x2x3x4x5x6x7x8"};
    (void)state;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        failing_allocator counter = {0};
        const tsr_allocator allocator = failing_allocator_of(&counter);
        const tsr_desc desc = parsed_desc(layouts[i]);
        tsr_blob *blob = blob_of(layouts[i], &(tsr_blob_options){.allocator = &allocator});
        tsr_access access = acquire(blob, NULL, TSR_WRITE);
        release(&access);
        assert_in_range(counter.live_bytes, tsr_desc_size_bytes(&desc), tsr_desc_size_bytes(&desc) + 512);
        tsr_blob_free(&blob);
        assert_int_equal(counter.live, 0);
    }
}

/* Within the capacity, nothing is allocated, unless there are more axes to remember than there were. */
static void test_reshape_in_place(void **state)
{
    (void)state;
    failing_allocator counter = {0};
    const tsr_allocator allocator = failing_allocator_of(&counter);
    tsr_blob *blob = blob_of("f32:abcd 2x3x4x5", &(tsr_blob_options){.allocator = &allocator});
    static const char *const shapes[] = {"f32:abcd 5x4x3x2", "f32:acdb 1x2x3x4", "f32:ab 7x11",
                                         "f32:a 120",        "f32:aBc4b 2x6x5",  "f32:abcd 5x4x3x2"};
    write_values(blob, NULL, 1);
    const int before = counter.allocations;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const tsr_desc desc = parsed_desc(shapes[i]);
        bool reallocated = true;
        assert_int_equal(tsr_blob_reshape(blob, &desc, &reallocated, NULL), TSR_OK);
        assert_false(reallocated);
        tsr_desc found;
        tsr_blob_get_desc(blob, &found);
        assert_true(tsr_desc_equal(&found, &desc));
        write_values(blob, NULL, (float)i);
        expect_read(blob, NULL, (float)i);
    }
    assert_int_equal(counter.allocations, before);
    const tsr_desc more = parsed_desc("f32:abcdef 1x2x3x2x2x5");
    assert_int_equal(tsr_blob_reshape(blob, &more, NULL, NULL), TSR_OK);
    expect_read(blob, NULL, 5);
    tsr_blob_free(&blob);
    assert_int_equal(counter.live, 0);
}

/* Every allocation fails once; the blob is as before, and nothing is leaked. */
static void test_out_of_memory(void **state)
{
    (void)state;
    bool is_done = false;
    for (int nth = 1; !is_done; nth++) {
        failing_allocator counter = {.fail_at = nth};
        const tsr_allocator allocator = failing_allocator_of(&counter);
        tsr_plan_cache *plans = NULL;
        tsr_blob *blob = NULL;
        tsr_error error = {0};
        const tsr_desc home = parsed_desc(nchw), blocked = parsed_desc(nChw8c),
                       larger = parsed_desc("f32:nchw 2x20x3x50");
        tsr_status status = tsr_plan_cache_create(&plans, 4, &allocator, &error);
        const tsr_blob_options options = {.allocator = &allocator, .plans = plans};
        if (status == TSR_OK)
            status = tsr_blob_create(&blob, &home, &options, &error);
        tsr_access access;
        if (status == TSR_OK)
            status = tsr_blob_acquire(blob, NULL, NULL, TSR_WRITE, &access, &error);
        if (status == TSR_OK) {
            put_values(access.data, &home, 6);
            release(&access);
            status = tsr_blob_acquire(blob, NULL, &blocked, TSR_READ, &access, &error);
            if (status == TSR_OK)
                release(&access);
            else
                expect_read(blob, NULL, 6);
        }
        if (status == TSR_OK) {
            status = tsr_blob_reshape(blob, &larger, NULL, &error);
            if (status != TSR_OK)
                expect_read(blob, NULL, 6);
        }
        is_done = status == TSR_OK;
        assert_true(is_done || status == TSR_OUT_OF_MEMORY);
        assert_true(is_done || error.message[0]);
        tsr_blob_free(&blob);
        tsr_plan_cache_free(&plans);
        assert_int_equal(counter.live, 0);
        assert_in_range(nth, 1, 100);
    }
}

/* ---- places: each test with a device of its own, or with one of OpenCL ---- */

static tsr_access acquire_at(tsr_device *device, tsr_blob *blob, const char *layout, tsr_intent intent)
{
    tsr_access access = {0};
    tsr_error error = {0};
    const tsr_desc desc = parsed_desc(layout);
    if (tsr_blob_acquire(blob, device, &desc, intent, &access, &error) != TSR_OK)
        fail_msg("%s", error.message);
    assert_ptr_equal(access.device, device);
    return access;
}

/* What was acquired, where the host sees it until the release. */
static void *map(tsr_access *access)
{
    void *host = NULL;
    tsr_error error = {0};
    if (tsr_access_map(access, &host, &error) != TSR_OK)
        fail_msg("%s", error.message);
    return host;
}

static void expect_read_at(tsr_device *device, tsr_blob *blob, const char *layout, float first)
{
    const tsr_desc desc = parsed_desc(layout);
    tsr_access access = acquire_at(device, blob, layout, TSR_READ);
    expect_all(map(&access), &desc, first);
    release(&access);
}

static void write_values_at(tsr_device *device, tsr_blob *blob, const char *layout, tsr_intent intent, float first)
{
    const tsr_desc desc = parsed_desc(layout);
    tsr_access access = acquire_at(device, blob, layout, intent);
    void *host = map(&access);
    if (intent == TSR_WRITE)
        memset(host, 0xff, (size_t)tsr_desc_size_bytes(&desc)); /* padding, too */
    put_values(host, &desc, first);
    release(&access);
}

static void test_places(void **state)
{
    (void)state;
    tsr_device *device = find_place();
    tsr_blob *blob = blob_of(nchw, NULL);
    write_values(blob, NULL, 1);
    expect_read_at(device, blob, nchw, 1);
    assert_int_equal(tsr_blob_get_stats(blob).transfers, 1);
    assert_int_equal(tsr_blob_get_stats(blob).conversions, 0);
    expect_read_at(device, blob, nChw8c, 1);
    write_values_at(device, blob, nChw8c, TSR_READ_WRITE, 2);
    assert_int_equal(tsr_blob_get_stats(blob).transfers, 1);
    assert_int_equal(tsr_blob_get_stats(blob).conversions, 1);
    expect_read(blob, nhwc, 2); /* both at once */
    assert_int_equal(tsr_blob_get_stats(blob).transfers, 2);
    assert_int_equal(tsr_blob_get_stats(blob).conversions, 2);
    tsr_blob_free(&blob);
    leave_place(&device);
}

static void test_every_layout_at_a_place(void **state)
{
    static const char *const layouts[] = {nchw, nhwc, nChw8c, nChw16c};
    (void)state;
    tsr_device *device = find_place();
    for (int home = 0; home < 4; home++)
        for (int written = 0; written < 4; written++) {
            tsr_blob *blob = blob_of(layouts[home], &(tsr_blob_options){.device = device});
            write_values_at(device, blob, layouts[written], TSR_WRITE, 7);
            for (int read = 0; read < 4; read++)
                expect_read_at(device, blob, layouts[read], 7);
            assert_int_equal(tsr_blob_get_stats(blob).conversions, 3);
            assert_int_equal(tsr_blob_get_stats(blob).transfers, 0);
            expect_read(blob, nhwc, 7);
            assert_int_equal(tsr_blob_get_stats(blob).transfers, 1);
            tsr_blob_free(&blob);
        }
    leave_place(&device);
}

/* What is mapped can be seen, given back and mapped again; on the host it is the data itself. */
static void test_map(void **state)
{
    (void)state;
    tsr_device *device = find_place();
    tsr_blob *blob = blob_of(nchw, &(tsr_blob_options){.device = device}),
             *empty = blob_of("f32:nchw 2x0x4x5", &(tsr_blob_options){.device = device});
    const tsr_desc desc = parsed_desc(nchw);
    tsr_access access = acquire_at(device, blob, nchw, TSR_WRITE);
    assert_int_equal(tsr_access_unmap(&access, NULL), TSR_OK); /* nothing to do */
    void *host = map(&access);
    assert_ptr_equal(map(&access), host);
    put_values(host, &desc, 3);
    assert_int_equal(tsr_access_unmap(&access, NULL), TSR_OK);
    expect_values(map(&access), &desc, 3);
    release(&access);
    assert_null(access.mapped);
    expect_read(blob, nchw, 3);
    access = acquire(blob, nchw, TSR_READ);
    assert_ptr_equal(map(&access), access.data);
    release(&access);
    access = acquire_at(device, empty, "f32:nchw 2x0x4x5", TSR_READ);
    assert_null(map(&access));
    release(&access);
    tsr_blob_free(&blob);
    tsr_blob_free(&empty);
    leave_place(&device);
}

/* The caller's memory at a place: its values are the blob's, and what was elsewhere is forgotten. */
static void test_memory_at_a_place(void **state)
{
    (void)state;
    tsr_device *device = find_place();
    const tsr_desc plain = parsed_desc(nchw), blocked = parsed_desc(nChw8c);
    tsr_blob *other = blob_of(nChw8c, &(tsr_blob_options){.device = device}), *blob = blob_of(nchw, NULL);
    tsr_storage *storage = NULL;
    write_values_at(device, other, nChw8c, TSR_WRITE, 5);
    tsr_access access = acquire_at(device, other, nChw8c, TSR_READ);
    const size_t size = (size_t)tsr_desc_size_bytes(&blocked);
    assert_int_equal(tsr_storage_wrap_on(&storage, device, access.data, size, NULL, NULL, NULL), TSR_OK);
    assert_ptr_equal(tsr_storage_device(storage), device);
    write_values(blob, NULL, 1);
    for (int k = 0; k < 2; k++) { /* where there is none, and where there is one */
        assert_int_equal(tsr_blob_set_storage(blob, &blocked, storage, NULL), TSR_OK);
        assert_false(tsr_blob_holds(blob, NULL, &plain));
        assert_true(tsr_blob_holds(blob, device, &blocked));
        expect_read(blob, nchw, 5);
        expect_read(blob, nhwc, 5);
        write_values(blob, NULL, 1);
    }
    tsr_storage_release(&storage);
    tsr_blob_free(&blob);
    release(&access);
    tsr_blob_free(&other);
    leave_place(&device);
}

/* Caffe's documented example (behaviours.md, S-CAFFE-25): copies so far after each step. */
static void test_ten_steps(void **state)
{
    static const struct {
        bool is_there;
        tsr_intent intent;
        int copies;
    } steps[] = {
        {false, TSR_READ_WRITE, 0}, {true, TSR_READ, 1},        {false, TSR_READ, 1}, {true, TSR_READ_WRITE, 1},
        {true, TSR_READ_WRITE, 1},  {false, TSR_READ, 2},       {true, TSR_READ, 2},  {false, TSR_READ_WRITE, 2},
        {true, TSR_READ_WRITE, 3},  {false, TSR_READ_WRITE, 4},
    };
    (void)state;
    tsr_device *device = find_place();
    tsr_blob *blob = blob_of("f32:nchw 1x3x4x5", NULL);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        tsr_access access;
        assert_int_equal(
            tsr_blob_acquire(blob, steps[i].is_there ? device : NULL, NULL, steps[i].intent, &access, NULL), TSR_OK);
        release(&access);
        assert_int_equal(tsr_blob_get_stats(blob).transfers, steps[i].copies);
    }
    tsr_blob_free(&blob);
    leave_place(&device);
}

/* Whatever a device refuses, the blob is as before. */
static void test_failing_device(void **state)
{
    static const enum remote_call calls[] = {REMOTE_ALLOCATE, REMOTE_FILL, REMOTE_COPY_IN,
                                             REMOTE_COPY_OUT, REMOTE_MAP,  REMOTE_UNMAP};
    (void)state;
    tsr_device *remote = register_remote("remote");
    const tsr_desc blocked = parsed_desc(nChw8c);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        tsr_blob *blob = blob_of(nchw, NULL);
        tsr_access access;
        tsr_error error = {0};
        const bool is_leaving = calls[i] == REMOTE_COPY_OUT,
                   is_mapping = calls[i] == REMOTE_MAP || calls[i] == REMOTE_UNMAP;
        write_values(blob, NULL, 1);
        if (is_leaving) {
            assert_int_equal(tsr_blob_acquire(blob, remote, NULL, TSR_READ_WRITE, &access, &error), TSR_OK);
            release(&access);
        }
        remote_fails(calls[i]);
        assert_int_equal(
            tsr_blob_acquire(blob, is_leaving ? NULL : remote, is_mapping ? &blocked : NULL, TSR_READ, &access, &error),
            TSR_IO_ERROR);
        assert_string_equal(error.message, "the remote device failed");
        remote_fails(REMOTE_NOTHING);
        expect_read(blob, NULL, 1);
        write_values(blob, NULL, 2);
        tsr_blob_free(&blob);
    }
    forget_remote(&remote);
}

/* A copy that comes to nothing leaves dst its values, if a representation that was not written to has them. */
static void test_failing_copy(void **state)
{
    static const enum remote_call calls[] = {REMOTE_ALLOCATE, REMOTE_FILL, REMOTE_MAP, REMOTE_UNMAP,
                                             REMOTE_COPY_WITHIN};
    (void)state;
    tsr_device *remote = register_remote("remote");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (int is_far = 0; is_far < 2; is_far++) {
            const tsr_blob_options options = {.device = remote};
            const bool is_converted = calls[i] == REMOTE_MAP || calls[i] == REMOTE_UNMAP;
            tsr_blob *dst = blob_of(nchw, &options),
                     *src = blob_of(is_converted ? nhwc : nchw, is_far ? &options : NULL);
            tsr_error error = {0};
            write_values(src, NULL, 1);
            write_values(dst, nChw8c, 2); /* on the host; home has no memory yet */
            if (is_far)
                expect_read_at(remote, src, is_converted ? nhwc : nchw, 1);
            remote_fails(calls[i]);
            tsr_status status = tsr_blob_copy(dst, src, &error);
            remote_fails(REMOTE_NOTHING);
            if (calls[i] == REMOTE_COPY_WITHIN && !is_far) {
                assert_int_equal(status, TSR_OK); /* nothing to copy there */
            } else {
                assert_int_equal(status, TSR_IO_ERROR);
                assert_string_equal(error.message, "the remote device failed");
                expect_read(dst, nhwc, 2);
                assert_int_equal(tsr_blob_copy(dst, src, NULL), TSR_OK);
            }
            expect_read(dst, nhwc, 1);
            expect_read(src, nchw, 1);
            tsr_blob_free(&dst);
            tsr_blob_free(&src);
        }
    forget_remote(&remote);
}

/* ---- many threads ---- */

static void *read_layouts(void *argument)
{
    static const char *const layouts[] = {nchw, nhwc, nChw8c, nChw16c};
    tsr_blob *blob = argument;
    for (int i = 0; i < 200; i++)
        expect_read(blob, layouts[i % 4], 3);
    return NULL;
}

static void test_many_readers(void **state)
{
    enum { THREADS = 8 };
    (void)state;
    pthread_t threads[THREADS];
    tsr_blob *blob = blob_of(nchw, NULL);
    write_values(blob, nChw8c, 3);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_layouts, blob), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(tsr_blob_get_stats(blob).conversions, 3);
    tsr_blob_free(&blob);
}

static void *read_equal_layout(void *argument)
{
    static atomic_int turn;
    expect_read(argument, atomic_fetch_add(&turn, 1) % 2 ? "f32:[b20:30,a2:15,a5:3,a3:1] 30x20" : "f32:ba 30x20", 1);
    return NULL;
}

/* One layout in two descriptions is converted to once, also by those who come at the same time. */
static void test_readers_of_equal_layouts(void **state)
{
    enum { THREADS = 4, ROUNDS = 50 };
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];
        tsr_blob *blob = blob_of("f32:ab 30x20", NULL);
        write_values(blob, NULL, 1);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, read_equal_layout, blob), 0);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(tsr_blob_get_stats(blob).conversions, 1);
        tsr_blob_free(&blob);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest place_tests[] = {
        cmocka_unit_test(test_places),    cmocka_unit_test(test_every_layout_at_a_place),
        cmocka_unit_test(test_map),       cmocka_unit_test(test_memory_at_a_place),
        cmocka_unit_test(test_ten_steps),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zero_until_written),
        cmocka_unit_test(test_every_layout_from_every_other),
        cmocka_unit_test(test_converted_once),
        cmocka_unit_test(test_overwriting_converts_nothing),
        cmocka_unit_test(test_writing_in_part),
        cmocka_unit_test(test_padding),
        cmocka_unit_test(test_much_padding),
        cmocka_unit_test(test_equal_layouts),
        cmocka_unit_test(test_no_elements),
        cmocka_unit_test(test_exclusion),
        cmocka_unit_test(test_released_twice),
        cmocka_unit_test(test_access_keeps_blob),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_wrapped),
        cmocka_unit_test(test_shared_storage),
        cmocka_unit_test(test_set_storage),
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_merge_and_split_out_of_memory),
        cmocka_unit_test(test_drop),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_reshape),
        cmocka_unit_test(test_reshape_in_place),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_overhead),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_every_layout_at_a_place),
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_memory_at_a_place),
        cmocka_unit_test(test_ten_steps),
        cmocka_unit_test(test_failing_device),
        cmocka_unit_test(test_failing_copy),
        cmocka_unit_test(test_many_readers),
        cmocka_unit_test(test_readers_of_equal_layouts),
    };
    if (!has_place(argc, argv))
        return 0;
    return is_on_opencl ? cmocka_run_group_tests(place_tests, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
