/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "blob_values.h"

/* ---- values and layouts ---- */

static void test_zero_until_written(void **state)
{
    (void)state;
    tsr_blob *blob = blob_of(nChw8c, NULL);
    assert_int_equal(tsr_blob_get_stats(blob).held_bytes, 0);
    tsr_access access = acquire_home(blob, nchw, TSR_READ);
    const float *values = map(&access);
    if (!home_device)
        assert_int_equal((uintptr_t)access.data % TSR_ALIGNMENT, 0);
    for (int i = 0; i < 2 * 20 * 3 * 5; i++)
        assert_true(values[i] == 0);
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
    tsr_access access = acquire_home(blob, nChw8c, TSR_READ_WRITE);
    expect_all(map(&access), &desc, 1);
    put_values(map(&access), &desc, 50);
    release(&access);
    desc = parsed_desc(nhwc);
    assert_false(tsr_blob_holds(blob, home_device, &desc));
    expect_read(blob, nhwc, 50);
    assert_true(tsr_blob_holds(blob, home_device, &desc));
    desc = parsed_desc(nchw);
    assert_false(tsr_blob_holds(blob, home_device, &desc));
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
    expect_read(blob, "f32:nhwc 2x1x3x5", 1); /* and once more, now that it is known */
    expect_read(blob, "f32:nhcw 2x1x3x5", 1);
    assert_int_equal(tsr_blob_get_stats(blob).conversions, 0);
    assert_int_equal(tsr_blob_get_stats(blob).representations, 1);
    const tsr_desc last = parsed_desc("f32:nhwc 2x1x3x5"), turned = parsed_desc("f32:ncwh 2x1x3x5"),
                   turned_last = parsed_desc("f32:nwhc 2x1x3x5");
    assert_true(tsr_blob_holds(blob, home_device, &last));
    assert_false(tsr_blob_holds(blob, home_device, &turned_last));
    expect_read(blob, "f32:ncwh 2x1x3x5", 1);
    assert_true(tsr_blob_holds(blob, home_device, &turned) && tsr_blob_holds(blob, home_device, &turned_last));
    assert_int_equal(tsr_blob_drop(blob, home_device, &turned_last, NULL), TSR_OK);
    assert_int_equal(tsr_blob_get_stats(blob).representations, 1);
    const tsr_desc other = parsed_desc("f32:nchw 2x3x5x1");
    assert_int_equal(tsr_blob_reshape(blob, &other, NULL, NULL), TSR_OK);
    write_values(blob, NULL, 2);
    expect_read(blob, "f32:nhcw 2x3x5x1", 2); /* which was equal to another shape's */
    assert_int_equal(tsr_blob_get_stats(blob).conversions, 2);
    tsr_blob_free(&blob);
}

static void test_no_elements(void **state)
{
    (void)state;
    tsr_blob *blob = blob_of("f32:nchw 2x0x3x5", NULL);
    tsr_access access = acquire_home(blob, NULL, TSR_WRITE);
    assert_null(access.data);
    release(&access);
    access = acquire_home(blob, "f32:nhwc 2x0x3x5", TSR_READ);
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
    assert_int_equal(tsr_blob_acquire(blob, home_device, &desc, intent, &access, &error), status);
    assert_string_equal(error.message, message);
    assert_ptr_equal(access.data, &access);
}

static void test_exclusion(void **state)
{
    (void)state;
    tsr_blob *blob = blob_of(nchw, NULL);
    tsr_access a = acquire_home(blob, nchw, TSR_READ), b = acquire_home(blob, nChw8c, TSR_READ);
    expect_refused(blob, nchw, TSR_WRITE, TSR_BUSY,
                   "expected nobody to hold what is to be written, found 2 who read it");
    release(&a);
    expect_refused(blob, nhwc, TSR_READ_WRITE, TSR_BUSY,
                   "expected nobody to hold what is to be written, found 1 who read it");
    release(&b);
    a = acquire_home(blob, nhwc, TSR_WRITE);
    expect_refused(blob, nchw, TSR_READ, TSR_BUSY, "the blob is acquired for writing");
    expect_refused(blob, nhwc, TSR_WRITE, TSR_BUSY, "the blob is acquired for writing");
    release(&a);
    b = acquire_home(blob, nchw, TSR_READ);
    release(&b);
    tsr_blob_free(&blob);
}

static void test_released_twice(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_blob *blob = blob_of(nchw, NULL);
    tsr_access access = acquire_home(blob, NULL, TSR_READ), copy = access;
    release(&access);
    assert_int_equal(tsr_blob_release(&access, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "the access was released before");
    void *host = &host;
    assert_int_equal(tsr_access_map(&access, &host, NULL), TSR_OK);
    assert_null(host);
    assert_int_equal(tsr_blob_release(&copy, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "nobody holds what the access says");
    const tsr_desc last = parsed_desc(nhwc);
    access = acquire_home(blob, nhwc, TSR_READ);
    copy = access;
    release(&access);
    assert_int_equal(tsr_blob_drop(blob, home_device, &last, NULL), TSR_OK); /* what the copy speaks of is gone */
    access = acquire_home(blob, NULL, TSR_READ);
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
    tsr_access access = acquire_home(blob, NULL, TSR_WRITE);
    tsr_blob_free(&blob);
    tsr_blob_free(&other);
    memset(map(&access), 1, 2 * 20 * 3 * 5 * 4);
    release(&access);
    tsr_blob_free(NULL);
    tsr_blob_free(&blob);
    assert_null(tsr_blob_share(NULL));
}

/* ---- what cannot be ---- */

/* A read that fails behind the transfer has brought padding along, which is nobody's later on. */
static void test_padding_after_a_failure(void **state)
{
    (void)state;
    tsr_device *remote = register_remote("remote");
    tsr_blob *blob = blob_of(nChw16c, &(tsr_blob_options){.device = remote});
    const tsr_desc layout = parsed_desc(nChw16c);
    tsr_access access;
    write_values(blob, nChw16c, 100); /* on the host, with padding that is not zero */
    remote_fails(REMOTE_MAP);
    assert_int_equal(tsr_blob_acquire(blob, remote, &layout, TSR_READ, &access, NULL), TSR_IO_ERROR);
    remote_fails(REMOTE_NOTHING);
    write_values(blob, nchw, 500); /* which has none */
    expect_read_at(remote, blob, NULL, 500);
    tsr_blob_free(&blob);
    forget_remote(&remote);
}

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
    tsr_access access = acquire_home(blob, nhwc, TSR_WRITE); /* nobody is in the way */
    release(&access);
    tsr_desc broadcast = parsed_desc(nchw);
    broadcast.strides[0] = 0;
    assert_int_equal(tsr_blob_create(&none, &broadcast, NULL, &error), TSR_INVALID_ARGUMENT);
    assert_int_equal(tsr_blob_acquire(blob, home_device, &broadcast, TSR_READ, &access, &error), TSR_INVALID_ARGUMENT);
    const tsr_desc desc = parsed_desc(nchw);
    tsr_desc other = desc;
    other.levels = TSR_MAX_LEVELS + 1; /* is looked at no further */
    assert_int_equal(tsr_blob_acquire(blob, home_device, &other, TSR_READ, &access, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected 4 to 64 block levels, found 65");
    other = desc;
    other.block_dims[0] = 0;
    assert_int_equal(tsr_blob_acquire(blob, home_device, &other, TSR_READ, &access, &error), TSR_INVALID_ARGUMENT);
    assert_int_equal(tsr_blob_create(&none, &desc, &(tsr_blob_options){.keep_bytes = -1}, &error),
                     TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected keep_bytes and threads of at least 0, found -1 and 0");
    assert_null(none);
    tsr_blob_free(&blob);
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
        cmocka_unit_test(test_padding_after_a_failure),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_failing_device),
        cmocka_unit_test(test_many_readers),
        cmocka_unit_test(test_readers_of_equal_layouts),
        at_place(test_zero_until_written),
        at_place(test_every_layout_from_every_other),
        at_place(test_converted_once),
        at_place(test_overwriting_converts_nothing),
        at_place(test_writing_in_part),
        at_place(test_padding),
        at_place(test_much_padding),
        at_place(test_equal_layouts),
        at_place(test_no_elements),
        at_place(test_exclusion),
        at_place(test_released_twice),
        at_place(test_access_keeps_blob),
        at_place(test_refusals),
        at_place(test_many_readers),
        at_place(test_readers_of_equal_layouts),
    };
    return choose_place(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
