/* SPDX-License-Identifier: Apache-2.0 */
/* Blobs at two places: the host, and a device of the tests' own or one of OpenCL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blob_values.h"

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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),    cmocka_unit_test(test_every_layout_at_a_place),
        cmocka_unit_test(test_map),       cmocka_unit_test(test_memory_at_a_place),
        cmocka_unit_test(test_ten_steps),
    };
    if (!has_place(argc, argv))
        return 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
