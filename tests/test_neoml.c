/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <tessera/neoml.h>
#include <tessera/text.h>

static tsr_blob *blob_of(tsr_neo_dims dims)
{
    tsr_blob *blob = NULL;
    assert_int_equal(tsr_neo_create(&blob, TSR_F32, dims, NULL, NULL), TSR_OK);
    return blob;
}

static float *write_ramp(tsr_blob *blob, tsr_access *access, int elements, float first)
{
    assert_int_equal(tsr_blob_acquire(blob, NULL, NULL, TSR_READ_WRITE, access, NULL), TSR_OK);
    for (int i = 0; i < elements; i++)
        ((float *)access->data)[i] = first + (float)i;
    return access->data;
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
    tsr_neo_dims dims;
    tsr_blob *none = NULL;
    tsr_neo_sizes sizes;
    const int64_t nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, zero[] = {3, 0};
    expect_message(tsr_neo_tensor(&dims, 9, nine, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected at most 7 dims, found 9");
    expect_message(tsr_neo_description(&dims, 9, nine, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected at most 7 dims, found 9");
    expect_message(tsr_neo_tensor(&dims, 2, zero, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected dims of at least 1, found 0 at 1");
    expect_message(tsr_neo_create(&none, TSR_F16, tsr_neo_data(1, 1, 1), NULL, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected elements of type f32 or s32, found f16");
    expect_message(tsr_neo_create(&none, TSR_F32, tsr_neo_data(1, -1, 1), NULL, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected dims of at least 1, found -1 at 1");
    dims = tsr_neo_image_3d(INT64_C(1) << 40, INT64_C(1) << 40, 1, 1, 1, 1);
    expect_message(tsr_neo_get_sizes(&dims, &sizes, &error), TSR_OVERFLOW, &error,
                   "expected dims whose product fits into 63 bits");
    assert_int_equal(tsr_neo_create(&none, TSR_F32, dims, NULL, &error), TSR_OVERFLOW);
    assert_null(none);
    dims = tsr_neo_list(2, 3, 4, 5);
    assert_int_equal(tsr_neo_get_sizes(&dims, &sizes, NULL), TSR_OK);
    assert_int_equal(sizes.data, 120);
    assert_int_equal(sizes.objects, 24);
    assert_int_equal(sizes.object, 5);
    assert_int_equal(sizes.geometrical, 1);
}

static void test_windows(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_access access;
    tsr_blob *sequence = blob_of(tsr_neo_data(5, 1, 3)), *window = NULL, *matrix = NULL;
    const float *values = write_ramp(sequence, &access, 15, 0);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    assert_int_equal(tsr_neo_create_window(&window, sequence, 2, NULL), TSR_OK);
    for (int position = 0; position <= 3; position++) {
        assert_int_equal(tsr_neo_set_position(window, position, NULL), TSR_OK);
        assert_int_equal(tsr_blob_acquire(window, NULL, NULL, TSR_READ, &access, NULL), TSR_OK);
        tsr_desc desc;
        tsr_access_get_desc(&access, &desc);
        assert_ptr_equal(access.data, values); /* no memory of its own */
        assert_true(((const float *)access.data)[desc.offset] == (float)(3 * position));
        assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    }
    expect_message(tsr_neo_set_position(window, 4, &error), TSR_OUT_OF_RANGE, &error,
                   "expected a position of 0 to 3, found 4");
    expect_message(tsr_neo_set_position(window, -1, &error), TSR_OUT_OF_RANGE, &error,
                   "expected a position of 0 to 3, found -1");
    expect_message(tsr_neo_set_position(sequence, 0, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected a window, found a blob with memory of its own");
    expect_message(tsr_neo_create_window(&matrix, sequence, 0, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected a window of at least 1 step, found 0");
    expect_message(tsr_neo_create_window(&matrix, sequence, 6, &error), TSR_OUT_OF_RANGE, &error,
                   "expected a window of at most 5 steps, found 6");
    assert_null(matrix);
    tsr_blob_free(&sequence);
    assert_int_equal(tsr_neo_set_position(window, 1, NULL), TSR_OK); /* the parent is kept */
    tsr_blob_free(&window);
    const tsr_desc flat = {.dtype = TSR_F32, .rank = 1, .levels = 1, .dims = {4}, .block_dims = {4}, .strides = {1}};
    assert_int_equal(tsr_blob_create(&matrix, &flat, NULL, NULL), TSR_OK);
    expect_message(tsr_neo_create_window(&window, matrix, 1, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected a blob of 7 axes, found 1");
    tsr_blob_free(&matrix);
}

/* What does not fit is refused before anything moves. */
static void test_parts_that_do_not_fit(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_access access;
    tsr_blob *whole = blob_of(tsr_neo_data(4, 2, 3)), *two = blob_of(tsr_neo_data(2, 2, 3)),
             *wide = blob_of(tsr_neo_data(2, 2, 4)), *integers = NULL;
    tsr_blob *fitting[] = {two, two}, *other[] = {two, wide}, *few[] = {two};
    assert_int_equal(tsr_neo_create(&integers, TSR_S32, tsr_neo_data(2, 2, 3), NULL, NULL), TSR_OK);
    tsr_blob *mixed[] = {two, integers};
    write_ramp(whole, &access, 24, 0);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    expect_message(tsr_blob_merge(whole, other, 2, TSR_NEO_BATCH_LENGTH, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected part 1 to have 3 along axis 6, found 4");
    expect_message(tsr_blob_split(few, 1, whole, TSR_NEO_BATCH_LENGTH, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected parts that add up to 4 along axis 0, found 2");
    expect_message(tsr_blob_merge(whole, mixed, 2, TSR_NEO_BATCH_LENGTH, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected part 1 to have type f32 and 7 axes, found s32 and 7");
    expect_message(tsr_blob_merge(whole, fitting, 2, 7, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected parts along an axis below 7, found 2 parts along 7");
    expect_message(tsr_blob_merge(whole, fitting, 0, 0, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected parts along an axis below 7, found 0 parts along 0");
    expect_message(tsr_neo_merge_objects(whole, fitting, 0, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected at least 1 part, found 0");
    expect_message(tsr_neo_merge_objects(whole, other, 2, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected objects of 3 along axis 6 in part 1, found 4");
    assert_int_equal(tsr_neo_split_contents(fitting, 2, whole, &error), TSR_INVALID_ARGUMENT);
    assert_int_equal(tsr_blob_acquire(whole, NULL, NULL, TSR_READ, &access, NULL), TSR_OK);
    for (int i = 0; i < 24; i++)
        assert_true(((const float *)access.data)[i] == (float)i);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    assert_int_equal(tsr_blob_split(fitting, 1, two, 0, &error), TSR_BUSY); /* nothing is a part of itself */
    tsr_blob_free(&whole);
    tsr_blob_free(&two);
    tsr_blob_free(&wide);
    tsr_blob_free(&integers);
}

/* Layouts may differ: the engine merges and splits whatever they are. */
static void test_parts_in_other_layouts(void **state)
{
    static const char *const texts[] = {"f32:nchw 1x5x2x3", "f32:nhwc 1x7x2x3"};
    (void)state;
    tsr_blob *whole = NULL, *parts[2] = {NULL, NULL}, *back = NULL;
    tsr_desc desc;
    tsr_access access;
    int64_t at;
    assert_int_equal(tsr_desc_parse(&desc, "f32:nChw8c 1x12x2x3", NULL), TSR_OK);
    assert_int_equal(tsr_blob_create(&whole, &desc, NULL, NULL), TSR_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tsr_desc_parse(&desc, texts[i], NULL), TSR_OK);
        assert_int_equal(tsr_blob_create(&parts[i], &desc, NULL, NULL), TSR_OK);
        assert_int_equal(tsr_blob_acquire(parts[i], NULL, NULL, TSR_WRITE, &access, NULL), TSR_OK);
        for (int64_t j = 0; j < tsr_desc_elements(&desc); j++) {
            assert_int_equal(tsr_desc_offset_linear(&desc, j, &at, NULL), TSR_OK);
            ((float *)access.data)[at] = (float)(30 * i + j);
        }
        assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    }
    assert_int_equal(tsr_blob_merge(whole, parts, 2, 1, NULL), TSR_OK);
    assert_int_equal(tsr_desc_parse(&desc, "f32:nchw 1x12x2x3", NULL), TSR_OK);
    assert_int_equal(tsr_blob_acquire(whole, NULL, &desc, TSR_READ, &access, NULL), TSR_OK);
    for (int i = 0; i < 72; i++)
        assert_true(((const float *)access.data)[i] == (float)i);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    assert_int_equal(tsr_desc_parse(&desc, "f32:nchw 1x5x3x2", NULL), TSR_OK);
    assert_int_equal(tsr_blob_create(&back, &desc, NULL, NULL), TSR_OK);
    assert_int_equal(tsr_blob_transpose(back, parts[0], 2, 3, NULL), TSR_OK);
    assert_int_equal(tsr_blob_acquire(back, NULL, NULL, TSR_READ, &access, NULL), TSR_OK);
    assert_true(((const float *)access.data)[1] == 3 && ((const float *)access.data)[6] == 6);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    assert_int_equal(tsr_blob_transpose(back, back, 2, 3, NULL), TSR_INVALID_ARGUMENT);
    assert_int_equal(tsr_blob_transpose(back, parts[1], 2, 3, NULL), TSR_INVALID_ARGUMENT);
    tsr_blob_free(&back);
    tsr_blob_free(&parts[0]);
    tsr_blob_free(&parts[1]);
    tsr_blob_free(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_parts_that_do_not_fit),
        cmocka_unit_test(test_parts_in_other_layouts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
