/* SPDX-License-Identifier: Apache-2.0 */
/* Copies from blob to blob: whole, transposed, merged and split. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blob_values.h"
#include "failing_allocator.h"
#include "remote.h"

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
    assert_int_equal(tsr_blob_transpose(dst, src, 1, 4, &error), TSR_INVALID_ARGUMENT);
    tsr_blob_free(&src);
    tsr_blob_free(&dst);
    tsr_blob_free(&other);
}

/* ---- in one memory ---- */

/* Steps of a sequence, some of which are a window. */
static tsr_blob *window_of(tsr_blob *sequence, int64_t first, int64_t steps)
{
    tsr_blob *window = NULL;
    tsr_desc desc;
    tsr_blob_get_desc(sequence, &desc);
    const int64_t begin[] = {first, 0}, size[] = {steps, desc.dims[1]};
    assert_int_equal(tsr_view_crop(&desc, &desc, begin, size, NULL, NULL), TSR_OK);
    assert_int_equal(tsr_blob_create_view(&window, sequence, &desc, NULL), TSR_OK);
    return window;
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
                tsr_access access = acquire(sequence, NULL, TSR_READ);
                for (int i = 0; i < STEPS * SIZE; i++) {
                    const bool is_copied = i >= to * SIZE && i < (to + steps) * SIZE;
                    assert_true(((float *)access.data)[i] == (float)(is_copied ? i + (from - to) * SIZE : i));
                }
                release(&access);
                tsr_blob_free(&src);
                tsr_blob_free(&dst);
                tsr_blob_free(&sequence);
            }
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
    tsr_access expected = acquire(turned, "f32:nchw 3x9x4x9", TSR_READ),
               found = acquire(square, "f32:nchw 3x9x4x9", TSR_READ);
    assert_memory_equal(found.data, expected.data, (size_t)tsr_desc_size_bytes(&layout));
    assert_true(((float *)found.data)[1] == 1 + 4 * 9); /* was the second channel's first */
    release(&expected);
    release(&found);
    tsr_blob_free(&square);
    tsr_blob_free(&before);
    tsr_blob_free(&turned);
}

/* ---- merge and split ---- */

static const char first[] = "f32:nhwc 2x7x3x5", second[] = "f32:nChw8c 2x13x3x5";

/* A whole, and what it is merged from or split into. */
struct division {
    tsr_blob *whole, *parts[2];
};

static tsr_status divide(const struct division *d, bool is_split, tsr_error *error)
{
    return is_split ? tsr_blob_split(d->parts, 2, d->whole, 1, error) : tsr_blob_merge(d->whole, d->parts, 2, 1, error);
}

static void free_all(struct division *d)
{
    tsr_blob_free(&d->whole);
    tsr_blob_free(&d->parts[0]);
    tsr_blob_free(&d->parts[1]);
}

static void expect_first_values(const struct division *d, float of_whole, float of_first, float of_second)
{
    expect_read(d->whole, NULL, of_whole);
    expect_read(d->parts[0], NULL, of_first);
    expect_read(d->parts[1], NULL, of_second);
}

/* Whoever of them is held by somebody else: nothing has moved. */
static void test_what_is_busy(void **state)
{
    (void)state;
    struct division d = {blob_of(nchw, NULL), {blob_of(first, NULL), blob_of(second, NULL)}};
    tsr_blob *const all[] = {d.whole, d.parts[0], d.parts[1]};
    for (int is_split = 0; is_split < 2; is_split++)
        for (int i = 0; i < 3; i++) {
            const bool is_written = is_split == (i > 0);
            tsr_error error = {0};
            write_values(d.whole, NULL, 1);
            write_values(d.parts[0], NULL, 2);
            write_values(d.parts[1], "f32:nhwc 2x13x3x5", 3); /* home has to be found again */
            tsr_access access = acquire(all[i], NULL, is_written ? TSR_READ : TSR_READ_WRITE);
            assert_int_equal(divide(&d, is_split, &error), TSR_BUSY);
            assert_string_equal(error.message,
                                is_written ? "expected nobody to hold what is to be written, found 1 who read it"
                                           : "the blob is acquired for writing");
            release(&access);
            expect_first_values(&d, 1, 2, 3);
        }
    free_all(&d);
}

/* Where a merge and a split run out of memory. */
struct place {
    tsr_device *device;
    const char *whole, *first, *second;
};

/* With a cache of one plan, and the nth allocation from there on failing: what is written to is as before. */
static tsr_status divide_without_memory(const struct place *place, bool is_split, int nth)
{
    failing_allocator counter = {0};
    const tsr_allocator allocator = failing_allocator_of(&counter);
    const tsr_desc layout = parsed_desc(place->second);
    tsr_plan_cache *plans = NULL;
    assert_int_equal(tsr_plan_cache_create(&plans, 1, &allocator, NULL), TSR_OK);
    const tsr_blob_options options = {.plans = plans, .allocator = &allocator, .device = place->device};
    struct division d = {blob_of(place->whole, &options),
                         {blob_of(place->first, &options), blob_of(place->second, &options)}};
    write_values_at(place->device, d.whole, NULL, TSR_WRITE, 9);
    write_values_at(place->device, d.parts[0], NULL, TSR_WRITE, 1);
    if (!is_split)
        write_values_at(place->device, d.parts[1], NULL, TSR_WRITE, 1);
    counter.fail_at = counter.allocations + nth;
    tsr_status status = divide(&d, is_split, NULL);
    counter.fail_at = 0;
    if (status != TSR_OK && is_split) {
        expect_read_at(place->device, d.parts[0], NULL, 1);
        assert_false(tsr_blob_holds(d.parts[1], place->device, &layout));
    } else if (status != TSR_OK) {
        expect_read_at(place->device, d.whole, NULL, 9);
    }
    free_all(&d);
    tsr_plan_cache_free(&plans);
    assert_int_equal(counter.live, 0);
    return status;
}

static tsr_status reorder_nothing(void *context, const tsr_desc *src_desc, const void *src, const tsr_desc *dst_desc,
                                  void *dst, tsr_error *error)
{
    (void)context, (void)src_desc, (void)src, (void)dst_desc, (void)dst, (void)error;
    return TSR_UNSUPPORTED;
}

/*
 * A merge and a split have all of their plans before they begin: also where the cache has room for one, where a device
 * is asked first, and where it copies rows.
 */
static void test_merge_and_split_out_of_memory(void **state)
{
    (void)state;
    tsr_device_functions with_reorder = remote_functions, with_rows = remote_functions;
    with_reorder.reorder = reorder_nothing;
    with_rows.copy_rows = remote_copy_rows;
    struct place places[] = {
        {NULL, nchw, first, second},
        {register_functions("asked", &with_reorder), nchw, first, second},
        {register_functions("rows", &with_rows), nchw, first, second},
        {NULL, "f32:nchw 2x20x16x16", "f32:nchw 2x7x16x16", "f32:nchw 2x13x16x16"},
    };
    places[3].device = places[2].device;
    remote_row_copies = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (int is_split = 0; is_split < 2; is_split++) {
            tsr_status status = TSR_OUT_OF_MEMORY;
            for (int nth = 1; status != TSR_OK; nth++) {
                status = divide_without_memory(&places[i], is_split, nth);
                assert_true(status == TSR_OK || status == TSR_OUT_OF_MEMORY);
                assert_in_range(nth, 1, 100);
            }
        }
    assert_true(remote_row_copies > 0);
    forget_remote(&places[1].device);
    forget_remote(&places[2].device);
}

/* ---- a device that fails ---- */

/* What a blob has before it is written: values at home, on the host in another layout, or none, and so zeros. */
enum before { AT_HOME, ON_HOST, NOWHERE };

static void write_before(tsr_blob *blob, enum before before, float value)
{
    if (before == AT_HOME)
        write_values_at(tsr_blob_get_device(blob), blob, NULL, TSR_WRITE, value);
    if (before == ON_HOST)
        write_values(blob, nChw8c, value);
}

static void expect_zeros(tsr_blob *blob)
{
    tsr_desc desc;
    tsr_access access = acquire_at(tsr_blob_get_device(blob), blob, NULL, TSR_READ);
    const float *values = map(&access);
    tsr_access_get_desc(&access, &desc);
    for (int64_t i = 0; i < tsr_desc_size_bytes(&desc) / 4; i++)
        assert_true(values[i] == 0);
    release(&access);
}

static void expect_before(tsr_blob *blob, enum before before, float value)
{
    tsr_desc home;
    tsr_blob_get_desc(blob, &home);
    assert_int_equal(tsr_blob_holds(blob, tsr_blob_get_device(blob), &home), before == AT_HOME);
    if (before == NOWHERE)
        expect_zeros(blob);
    else
        expect_read_at(tsr_blob_get_device(blob), blob, NULL, value);
}

/* The nth call from now on. */
static void let_remote_fail(int nth)
{
    failing_remote_call = remote_calls + nth;
}

/* Has the device failed, and said so? */
static bool has_failed(tsr_status status, const tsr_error *error)
{
    failing_remote_call = 0;
    if (status == TSR_OK)
        return false;
    assert_int_equal(status, TSR_IO_ERROR);
    assert_string_equal(error->message, "the remote device failed");
    return true;
}

/* False if there are less than nth calls. */
static bool copy_with_failure(tsr_device *to, tsr_device *from, const char *layout, enum before before, int nth)
{
    tsr_blob *dst = blob_of(nchw, &(tsr_blob_options){.device = to});
    tsr_blob *src = blob_of(layout, &(tsr_blob_options){.device = from});
    tsr_error error = {0};
    write_before(src, AT_HOME, 1);
    write_before(dst, before, 2);
    let_remote_fail(nth);
    const bool failed = has_failed(tsr_blob_copy(dst, src, &error), &error);
    if (failed) {
        expect_before(dst, before, 2);
        assert_int_equal(tsr_blob_copy(dst, src, NULL), TSR_OK);
    }
    expect_read_at(to, dst, NULL, 1);
    expect_read(src, nhwc, 1);
    tsr_blob_free(&dst);
    tsr_blob_free(&src);
    return failed;
}

/* Whichever call of a device fails, dst is as before, and can be copied to later on. */
static void test_failing_copy(void **state)
{
    (void)state;
    tsr_device *remote = register_remote("remote");
    for (int where = 1; where < 4; where++)
        for (int is_converted = 0; is_converted < 2; is_converted++)
            for (int before = AT_HOME; before <= NOWHERE; before++) {
                tsr_device *to = where & 1 ? remote : NULL, *from = where & 2 ? remote : NULL;
                int nth = 1;
                while (copy_with_failure(to, from, is_converted ? nhwc : nchw, (enum before)before, nth))
                    nth++;
                assert_in_range(nth, 2, 20);
            }
    forget_remote(&remote);
}

/* The bits of where say who is on the device. */
static bool divide_with_failure(tsr_device *remote, int where, bool is_split, enum before before, int nth)
{
    const tsr_blob_options options[] = {{.device = where & 1 ? remote : NULL},
                                        {.device = where & 2 ? remote : NULL},
                                        {.device = where & 4 ? remote : NULL}};
    struct division d = {blob_of(nchw, &options[0]), {blob_of(first, &options[1]), blob_of(second, &options[2])}};
    tsr_error error = {0};
    write_before(d.whole, is_split ? AT_HOME : before, 1);
    write_before(d.parts[0], is_split ? before : AT_HOME, 2);
    write_before(d.parts[1], is_split ? before : AT_HOME, 3);
    let_remote_fail(nth);
    const bool failed = has_failed(divide(&d, is_split, &error), &error);
    if (failed) {
        expect_before(d.whole, is_split ? AT_HOME : before, 1);
        expect_before(d.parts[0], is_split ? before : AT_HOME, 2);
        expect_before(d.parts[1], is_split ? before : AT_HOME, 3);
        assert_int_equal(divide(&d, is_split, NULL), TSR_OK);
    }
    write_values(is_split ? d.whole : d.parts[0], NULL, 5);
    assert_int_equal(divide(&d, !is_split, NULL), TSR_OK); /* back to where it came from */
    if (is_split)
        expect_read(d.whole, NULL, 1);
    else
        expect_read(d.parts[1], NULL, 3);
    free_all(&d);
    return failed;
}

/* The same of a merge, and of all parts of a split. */
static void test_failing_division(void **state)
{
    (void)state;
    tsr_device *remote = register_remote("remote");
    for (int where = 1; where < 8; where++)
        for (int is_split = 0; is_split < 2; is_split++)
            for (int is_zero = 0; is_zero < 2; is_zero++) {
                int nth = 1;
                while (divide_with_failure(remote, where, is_split, is_zero ? NOWHERE : AT_HOME, nth))
                    nth++;
                assert_in_range(nth, 2, 40);
            }
    forget_remote(&remote);
}

/* The memory that this takes is allocated once, as large as home's, and can be given up. */
static void test_spare_memory(void **state)
{
    (void)state;
    tsr_device *remote = register_remote("remote");
    const tsr_desc home = parsed_desc(nchw), small = parsed_desc("f32:nchw 2x20x3x2");
    tsr_blob *src = blob_of(nhwc, NULL), *dst = blob_of(nchw, &(tsr_blob_options){.device = remote}),
             *bounded = blob_of(nchw, &(tsr_blob_options){.device = remote, .keep_bytes = 1});
    bool reallocated = true;
    write_values(src, NULL, 1);
    write_before(dst, AT_HOME, 2);
    write_before(bounded, AT_HOME, 2);
    assert_int_equal(tsr_blob_copy(dst, src, NULL), TSR_OK);
    assert_int_equal(tsr_blob_copy(bounded, src, NULL), TSR_OK);
    assert_int_equal(tsr_blob_get_stats(dst).representations, 2);
    assert_int_equal(tsr_blob_get_stats(bounded).representations, 1);
    remote_fails(REMOTE_ALLOCATE);
    assert_int_equal(tsr_blob_copy(dst, src, NULL), TSR_OK);
    remote_fails(REMOTE_NOTHING);
    expect_read_at(remote, dst, NULL, 1);
    assert_int_equal(tsr_blob_drop(dst, remote, &home, NULL), TSR_OK);
    assert_int_equal(tsr_blob_get_stats(dst).representations, 1);
    expect_read_at(remote, dst, NULL, 1);

    tsr_blob *narrow = blob_of("f32:nchw 2x20x3x2", NULL);
    assert_int_equal(tsr_blob_reshape(dst, &small, NULL, NULL), TSR_OK);
    write_values(narrow, NULL, 7);
    assert_int_equal(tsr_blob_copy(dst, narrow, NULL), TSR_OK);
    expect_read_at(remote, dst, NULL, 7);
    assert_int_equal(tsr_blob_reshape(dst, &home, &reallocated, NULL), TSR_OK);
    assert_false(reallocated);
    tsr_access access = acquire_at(remote, dst, NULL, TSR_READ);
    const float *values = map(&access);
    for (int i = 0; i < 2 * 20 * 3 * 5; i++) /* as bytes are kept within the room */
        assert_true(values[i] == (float)(i < 2 * 20 * 3 * 2 ? 7 + i : 1 + i));
    release(&access);
    tsr_blob_free(&narrow);
    tsr_blob_free(&src);
    tsr_blob_free(&dst);
    tsr_blob_free(&bounded);
    forget_remote(&remote);
}

/* Bytes in gaps stay where they are, too. */
static void test_copy_into_gaps(void **state)
{
    (void)state;
    tsr_device *remote = register_remote("remote");
    const tsr_desc all = parsed_desc("f32:a 8"), apart = parsed_desc("f32:[a4:2]+1 4");
    tsr_blob *dst = blob_of("f32:a 8", &(tsr_blob_options){.device = remote}), *src = blob_of("f32:a 4", NULL);
    write_before(dst, AT_HOME, 1);
    write_before(src, AT_HOME, 50);
    assert_int_equal(tsr_blob_reshape(dst, &apart, NULL, NULL), TSR_OK);
    assert_int_equal(tsr_blob_copy(dst, src, NULL), TSR_OK);
    assert_int_equal(tsr_blob_reshape(dst, &all, NULL, NULL), TSR_OK);
    tsr_access access = acquire_at(remote, dst, NULL, TSR_READ);
    const float *values = map(&access);
    for (int i = 0; i < 8; i++)
        assert_true(values[i] == (float)(i % 2 == 1 ? 50 + i / 2 : 1 + i));
    release(&access);
    tsr_blob_free(&dst);
    tsr_blob_free(&src);
    forget_remote(&remote);
}

/* ---- a view that is made while a copy is on its way ---- */

static tsr_blob *viewed, *view;

static tsr_status allocate_and_view(void *context, size_t size_bytes, void **memory, tsr_error *error)
{
    tsr_desc home;
    if (viewed && !view) {
        tsr_blob_get_desc(viewed, &home);
        assert_int_equal(tsr_blob_create_view(&view, viewed, &home, NULL), TSR_OK);
    }
    return remote_allocate(context, size_bytes, memory, error);
}

static void test_view_meanwhile(void **state)
{
    (void)state;
    tsr_device_functions functions = remote_functions;
    functions.allocate = allocate_and_view;
    tsr_device *device = register_functions("views", &functions);
    tsr_blob *dst = blob_of(nchw, &(tsr_blob_options){.device = device}), *src = blob_of(nhwc, NULL);
    write_before(dst, AT_HOME, 1);
    write_before(src, AT_HOME, 2);
    viewed = dst;
    assert_int_equal(tsr_blob_copy(dst, src, NULL), TSR_OK);
    viewed = NULL;
    assert_non_null(view);
    expect_read_at(device, dst, NULL, 2);
    expect_read_at(device, view, NULL, 2);
    write_values(view, NULL, 3);
    expect_read(dst, NULL, 3);
    tsr_blob_free(&view);
    tsr_blob_free(&src);
    tsr_blob_free(&dst);
    forget_remote(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy),           cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_copy_within),    cmocka_unit_test(test_transpose_within),
        cmocka_unit_test(test_what_is_busy),   cmocka_unit_test(test_merge_and_split_out_of_memory),
        cmocka_unit_test(test_failing_copy),   cmocka_unit_test(test_failing_division),
        cmocka_unit_test(test_spare_memory),   cmocka_unit_test(test_copy_into_gaps),
        cmocka_unit_test(test_view_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
