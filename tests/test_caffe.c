/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <string.h>

#include <tessera/caffe.h>
#include <tessera/text.h>

#include "failing_allocator.h"

static tsr_caffe_shape shape_of(int axes, const int64_t *dims)
{
    tsr_caffe_shape shape;
    assert_int_equal(tsr_caffe_shape_init(&shape, axes, dims, NULL), TSR_OK);
    return shape;
}

static tsr_caffe_blob *blob_of(int axes, const int64_t *dims)
{
    tsr_caffe_blob *blob = NULL;
    const tsr_caffe_shape shape = shape_of(axes, dims);
    assert_int_equal(tsr_caffe_blob_create(&blob, TSR_F32, NULL, NULL), TSR_OK);
    assert_int_equal(tsr_caffe_blob_reshape(blob, &shape, NULL, NULL), TSR_OK);
    return blob;
}

static void write_ramp(tsr_blob *tensor, int elements)
{
    tsr_access access;
    assert_int_equal(tsr_blob_acquire(tensor, NULL, NULL, TSR_WRITE, &access, NULL), TSR_OK);
    for (int i = 0; i < elements; i++)
        ((float *)access.data)[i] = (float)i;
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
}

static void expect_message(tsr_status found, tsr_status status, const tsr_error *error, const char *message)
{
    assert_int_equal(found, status);
    assert_string_equal(error->message, message);
}

static void test_shapes(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_caffe_shape shape = {0};
    int64_t many[33], number;
    int axis;
    char text[64];
    for (int k = 0; k < 33; k++)
        many[k] = 1;
    expect_message(tsr_caffe_shape_init(&shape, 33, many, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected 0 to 32 axes, found 33");
    expect_message(tsr_caffe_shape_init(&shape, 2, (int64_t[]){2, -3}, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected dims of at least 0, found -3 at axis 1");
    expect_message(tsr_caffe_shape_init(&shape, 2, (int64_t[]){46341, 46341}, &error), TSR_OVERFLOW, &error,
                   "expected at most 2147483647 elements, found more with the 46341 of axis 1");
    expect_message(tsr_caffe_shape_init(&shape, 1, (int64_t[]){INT64_C(4294967297)}, &error), TSR_OVERFLOW, &error,
                   "expected at most 2147483647 elements, found more with the 4294967297 of axis 0");
    assert_int_equal(tsr_caffe_shape_print(&shape, text, sizeof text), 3);
    assert_string_equal(text, "(0)"); /* it has not been changed */
    shape = shape_of(4, (int64_t[]){100, 1, 28, 28});
    assert_int_equal(tsr_caffe_shape_print(&shape, text, sizeof text), 19);
    assert_string_equal(text, "100 1 28 28 (78400)");
    assert_int_equal(tsr_caffe_shape_print(&shape, text, 6), 19);
    assert_string_equal(text, "100 1");
    assert_int_equal(tsr_caffe_shape_print(&shape, NULL, 0), 19);
    expect_message(tsr_caffe_axis(&shape, 4, &axis, &error), TSR_OUT_OF_RANGE, &error,
                   "expected an axis of -4 to 3, found 4");
    expect_message(tsr_caffe_count(&shape, 3, 2, &number, &error), TSR_OUT_OF_RANGE, &error,
                   "expected axes of 0 to 4, found 3 to 2");
    expect_message(tsr_caffe_legacy_dim(&shape, -5, &number, &error), TSR_OUT_OF_RANGE, &error,
                   "expected an axis of -4 to 3, found -5");
    expect_message(tsr_caffe_legacy_offset(&shape, 0, -1, 0, 0, &number, &error), TSR_OUT_OF_RANGE, &error,
                   "expected an index below 1 along axis 1, found -1");
    expect_message(tsr_caffe_offset(&shape, 5, many, &number, &error), TSR_OUT_OF_RANGE, &error,
                   "expected at most 4 indices, found 5");
    shape = shape_of(5, many);
    expect_message(tsr_caffe_legacy_dim(&shape, 0, &number, &error), TSR_OUT_OF_RANGE, &error,
                   "expected at most 4 axes, found 5");
}

/* Data are a tensor like any other: an operation takes them in the layout that it wants. */
static void test_other_layouts(void **state)
{
    (void)state;
    tsr_caffe_blob *blob = blob_of(4, (int64_t[]){1, 3, 2, 2});
    tsr_blob *data = tsr_caffe_blob_tensor(blob, TSR_CAFFE_DATA);
    tsr_desc nhwc;
    tsr_access access;
    write_ramp(data, 12);
    assert_int_equal(tsr_desc_parse(&nhwc, "f32:nhwc 1x3x2x2", NULL), TSR_OK);
    assert_int_equal(tsr_blob_acquire(data, NULL, &nhwc, TSR_READ_WRITE, &access, NULL), TSR_OK);
    assert_true(((float *)access.data)[1] == 4);
    ((float *)access.data)[1] = 100;
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    assert_int_equal(tsr_blob_acquire(tsr_caffe_blob_memory(blob, TSR_CAFFE_DATA), NULL, NULL, TSR_READ, &access, NULL),
                     TSR_OK);
    assert_true(((float *)access.data)[4] == 100 && ((float *)access.data)[5] == 5);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    tsr_caffe_blob_free(&blob);
    tsr_caffe_blob_free(&blob);
}

/* Sharing follows the memory, not the blob: what was shared stays, and capacity is the memory's. */
static void test_capacity_of_shared_memory(void **state)
{
    (void)state;
    tsr_caffe_blob *small = blob_of(1, (int64_t[]){4}), *large = blob_of(1, (int64_t[]){8});
    const tsr_caffe_shape four = shape_of(2, (int64_t[]){2, 2}), eight = shape_of(1, (int64_t[]){8});
    bool reallocated = true;
    double sum;
    assert_int_equal(tsr_caffe_blob_reshape(large, &four, &reallocated, NULL), TSR_OK);
    assert_false(reallocated);
    assert_int_equal(tsr_caffe_blob_capacity(large, TSR_CAFFE_DATA), 8);
    write_ramp(tsr_caffe_blob_tensor(small, TSR_CAFFE_DATA), 4);
    assert_int_equal(tsr_caffe_blob_share(large, small, TSR_CAFFE_DATA, NULL), TSR_OK);
    assert_int_equal(tsr_caffe_blob_capacity(large, TSR_CAFFE_DATA), 4);
    assert_int_equal(tsr_caffe_blob_asum(large, TSR_CAFFE_DATA, &sum, NULL), TSR_OK);
    assert_true(sum == 6);
    assert_int_equal(tsr_caffe_blob_reshape(large, &eight, &reallocated, NULL), TSR_OK); /* the original runs over */
    assert_true(reallocated);
    assert_int_equal(tsr_caffe_blob_asum(small, TSR_CAFFE_DATA, &sum, NULL), TSR_OK);
    assert_true(sum == 6);
    tsr_caffe_blob_free(&small);
    tsr_caffe_blob_free(&large);
}

static void test_refusals(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_caffe_blob *none = NULL, *a = blob_of(1, (int64_t[]){4}), *b = blob_of(1, (int64_t[]){5}), *empty = NULL;
    assert_int_equal(tsr_caffe_blob_create(&empty, TSR_F32, NULL, NULL), TSR_OK);
    expect_message(tsr_caffe_blob_create(&none, TSR_S32, NULL, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected elements of type f32 or f64, found s32");
    assert_null(none);
    expect_message(tsr_caffe_blob_share(a, b, TSR_CAFFE_DIFF, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected a blob of 4 elements of type f32 to share with, found 5 of type f32");
    expect_message(tsr_caffe_blob_copy(a, b, TSR_CAFFE_DATA, false, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected a blob of the same shape to copy from");
    expect_message(tsr_caffe_blob_copy(a, empty, TSR_CAFFE_DATA, true, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected a blob of type f32 with a shape to copy from");
    expect_message(tsr_caffe_blob_set_data(a, NULL, NULL, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected memory for a blob that has a shape");
    expect_message(tsr_caffe_blob_update(a, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected data that somebody has written");
    const float one = 1;
    const tsr_caffe_blob_proto scalar = {.data = {TSR_F32, 1, &one}};
    expect_message(tsr_caffe_blob_from_proto(empty, &scalar, false, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected a message of the blob's shape");
    assert_null(tsr_caffe_blob_tensor(empty, TSR_CAFFE_DATA));
    assert_int_equal(tsr_caffe_blob_capacity(empty, TSR_CAFFE_DIFF), 0);
    tsr_caffe_blob_free(&a);
    tsr_caffe_blob_free(&b);
    tsr_caffe_blob_free(&empty);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    bool is_done = false;
    for (int nth = 1; !is_done; nth++) {
        failing_allocator counter = {.fail_at = nth};
        const tsr_allocator allocator = failing_allocator_of(&counter);
        const tsr_caffe_shape four = shape_of(1, (int64_t[]){4}), nine = shape_of(2, (int64_t[]){3, 3});
        tsr_caffe_blob *blob = NULL;
        tsr_error error = {0};
        tsr_status status = tsr_caffe_blob_create(&blob, TSR_F32, &(tsr_blob_options){.allocator = &allocator}, &error);
        if (status == TSR_OK)
            status = tsr_caffe_blob_reshape(blob, &four, NULL, &error);
        if (status == TSR_OK) {
            status = tsr_caffe_blob_reshape(blob, &nine, NULL, &error);
            if (status != TSR_OK)
                assert_int_equal(tsr_caffe_blob_shape(blob).count, 4); /* as it was */
        }
        is_done = status == TSR_OK;
        assert_true(is_done || status == TSR_OUT_OF_MEMORY);
        tsr_caffe_blob_free(&blob);
        assert_int_equal(counter.live, 0);
        assert_in_range(nth, 1, 60);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_other_layouts),
        cmocka_unit_test(test_capacity_of_shared_memory),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
