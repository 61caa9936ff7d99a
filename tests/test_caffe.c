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

#include "accesses.h"
#include "device_memory.h"
#include "failing_allocator.h"
#include "place.h"

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
    assert_int_equal(tsr_caffe_blob_create(&blob, TSR_F32, &(tsr_blob_options){.device = home_device}, NULL), TSR_OK);
    assert_int_equal(tsr_caffe_blob_reshape(blob, &shape, NULL, NULL), TSR_OK);
    return blob;
}

static void write_ramp(tsr_blob *tensor, int elements)
{
    tsr_access access = acquire(tensor, NULL, TSR_WRITE);
    for (int i = 0; i < elements; i++)
        ((float *)access.data)[i] = (float)i;
    release(&access);
}

static void expect_values(tsr_blob *blob, const float *values, int count)
{
    tsr_access access = acquire(blob, NULL, TSR_READ);
    assert_memory_equal(access.data, values, (size_t)count * sizeof *values);
    release(&access);
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

/* Behind a 0 there may be anything, of which only tensors have none. */
static void test_large_dims(void **state)
{
    (void)state;
    enum { M = INT_MAX };
    tsr_error error = {0};
    tsr_caffe_blob *blob = blob_of(1, (int64_t[]){4});
    const tsr_caffe_shape shape = shape_of(5, (int64_t[]){0, M, M, M, 0});
    int64_t count = 7;
    expect_message(tsr_caffe_count(&shape, 1, 4, &count, &error), TSR_OVERFLOW, &error,
                   "expected a product of dims 1 to 3 that fits in 64 bits");
    assert_int_equal(count, 7);
    assert_int_equal(tsr_caffe_count(&shape, 1, 3, &count, NULL), TSR_OK);
    assert_int_equal(count, (int64_t)M * M);
    assert_int_equal(tsr_caffe_count(&shape, 1, 5, &count, NULL), TSR_OK);
    assert_int_equal(count, 0);
    assert_int_equal(tsr_caffe_count(&shape, 0, 4, &count, NULL), TSR_OK);
    assert_int_equal(count, 0);
    assert_int_equal(tsr_caffe_count(&shape, 5, 5, &count, NULL), TSR_OK);
    assert_int_equal(count, 1);
    assert_int_equal(tsr_caffe_blob_reshape(blob, &shape, NULL, NULL), TSR_OVERFLOW);
    assert_int_equal(tsr_caffe_blob_shape(blob).count, 4);
    /* a count that is not that of the dims is not believed; a blob without a shape is like a scalar then */
    const tsr_caffe_shape liar = {.axes = 1, .dims = {M}, .count = 1}, none = {0};
    bool reallocated = false;
    assert_int_equal(tsr_caffe_blob_reshape(blob, &none, NULL, NULL), TSR_OK);
    assert_int_equal(tsr_caffe_blob_shape(blob).count, 1);
    assert_int_equal(tsr_caffe_blob_reshape(blob, &liar, &reallocated, NULL), TSR_OK);
    assert_true(reallocated);
    assert_int_equal(tsr_caffe_blob_capacity(blob, TSR_CAFFE_DATA), M);
    tsr_caffe_blob_free(&blob);
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

/* ---- memory of the caller's ---- */

/* Nobody has acquired them, and yet they have values. */
static void expect_arithmetic(tsr_caffe_blob *blob)
{
    static const float results[] = {2, -4, 6, -8};
    double sum = 0;
    assert_int_equal(tsr_caffe_blob_asum(blob, TSR_CAFFE_DATA, &sum, NULL), TSR_OK);
    assert_true(sum == 10);
    assert_int_equal(tsr_caffe_blob_sumsq(blob, TSR_CAFFE_DATA, &sum, NULL), TSR_OK);
    assert_true(sum == 30);
    assert_int_equal(tsr_caffe_blob_scale(blob, TSR_CAFFE_DATA, 2, NULL), TSR_OK);
    assert_int_equal(tsr_caffe_blob_update(blob, NULL), TSR_OK); /* by nothing */
    expect_values(tsr_caffe_blob_tensor(blob, TSR_CAFFE_DATA), results, 4);
}

/* Where home is and where the caller's memory is, in all four ways; and once more with memory of another size. */
static void test_set_data(void **state)
{
    (void)state;
    static const float values[] = {1, -2, 3, -4};
    for (int i = 0; i < 8; i++) {
        tsr_device *home = i & 1 ? home_device : NULL, *place = i & 2 ? home_device : NULL;
        const tsr_caffe_shape four = shape_of(2, (int64_t[]){2, 2}), five = shape_of(1, (int64_t[]){5});
        float memory[4];
        void *handle = memory;
        tsr_caffe_blob *blob = NULL;
        memcpy(memory, values, sizeof values);
        if (place) {
            handle = allocate(place, sizeof values);
            copy_in(place, handle, 0, values, sizeof values);
        }
        assert_int_equal(tsr_caffe_blob_create(&blob, TSR_F32, &(tsr_blob_options){.device = home}, NULL), TSR_OK);
        if (i & 4)
            assert_int_equal(tsr_caffe_blob_reshape(blob, &five, NULL, NULL), TSR_OK);
        assert_int_equal(tsr_caffe_blob_reshape(blob, &four, NULL, NULL), TSR_OK);
        assert_int_equal(tsr_caffe_blob_set_data(blob, place, handle, NULL), TSR_OK);
        assert_int_equal(tsr_caffe_blob_head(blob, TSR_CAFFE_DATA, place),
                         place ? TSR_CAFFE_AT_DEVICE : TSR_CAFFE_AT_HOST);
        assert_int_equal(tsr_caffe_blob_capacity(blob, TSR_CAFFE_DATA), 4);
        expect_arithmetic(blob);
        assert_int_equal(tsr_caffe_blob_head(blob, TSR_CAFFE_DATA, home),
                         home ? TSR_CAFFE_AT_DEVICE : TSR_CAFFE_AT_HOST);
        tsr_caffe_blob_free(&blob);
        if (place)
            place->does.release(place->context, handle, sizeof values);
    }
}

/* ---- sharing and copying ---- */

static void test_shared_diff(void **state)
{
    (void)state;
    static const float ramp[] = {0, 1, 2, 3}, zeros[4], twice[] = {0, 2, 4, 6};
    tsr_caffe_blob *a = blob_of(1, (int64_t[]){4}), *b = blob_of(2, (int64_t[]){2, 2});
    write_ramp(tsr_caffe_blob_tensor(a, TSR_CAFFE_DIFF), 4);
    assert_int_equal(tsr_caffe_blob_share(b, a, TSR_CAFFE_DIFF, NULL), TSR_OK);
    assert_ptr_equal(tsr_caffe_blob_memory(b, TSR_CAFFE_DIFF), tsr_caffe_blob_memory(a, TSR_CAFFE_DIFF));
    assert_ptr_not_equal(tsr_caffe_blob_memory(b, TSR_CAFFE_DATA), tsr_caffe_blob_memory(a, TSR_CAFFE_DATA));
    expect_values(tsr_caffe_blob_tensor(b, TSR_CAFFE_DIFF), ramp, 4);
    assert_int_equal(tsr_caffe_blob_scale(b, TSR_CAFFE_DIFF, 2, NULL), TSR_OK);
    expect_values(tsr_caffe_blob_tensor(a, TSR_CAFFE_DIFF), twice, 4);
    expect_values(tsr_caffe_blob_tensor(b, TSR_CAFFE_DATA), zeros, 4);
    tsr_caffe_blob_free(&a);
    tsr_caffe_blob_free(&b);
}

/* What both have already is not copied, also when the shape changes, and somebody reads it meanwhile. */
static void test_copy_of_shared_memory(void **state)
{
    (void)state;
    static const float ramp[] = {0, 1, 2, 3};
    tsr_error error = {0};
    tsr_caffe_blob *a = blob_of(1, (int64_t[]){4}), *b = blob_of(1, (int64_t[]){4}), *c = blob_of(2, (int64_t[]){2, 2});
    write_ramp(tsr_caffe_blob_tensor(a, TSR_CAFFE_DATA), 4);
    assert_int_equal(tsr_caffe_blob_share(b, a, TSR_CAFFE_DATA, NULL), TSR_OK);
    assert_int_equal(tsr_caffe_blob_share(c, a, TSR_CAFFE_DATA, NULL), TSR_OK);
    tsr_access access = acquire(tsr_caffe_blob_tensor(a, TSR_CAFFE_DATA), NULL, TSR_READ);
    assert_int_equal(tsr_caffe_blob_copy(b, a, TSR_CAFFE_DATA, false, NULL), TSR_OK);
    assert_int_equal(tsr_caffe_blob_share(b, a, TSR_CAFFE_DATA, NULL), TSR_OK);
    expect_message(tsr_caffe_blob_copy(c, a, TSR_CAFFE_DATA, true, &error), TSR_BUSY, &error,
                   "expected nobody to hold what is to be written, found 1 who read it");
    release(&access);
    assert_int_equal(tsr_caffe_blob_shape(c).axes, 2);
    assert_int_equal(tsr_caffe_blob_copy(c, a, TSR_CAFFE_DATA, true, NULL), TSR_OK);
    assert_int_equal(tsr_caffe_blob_shape(c).axes, 1);
    expect_values(tsr_caffe_blob_tensor(c, TSR_CAFFE_DATA), ramp, 4);
    assert_ptr_equal(tsr_caffe_blob_memory(c, TSR_CAFFE_DATA), tsr_caffe_blob_memory(a, TSR_CAFFE_DATA));
    tsr_caffe_blob_free(&a);
    tsr_caffe_blob_free(&b);
    tsr_caffe_blob_free(&c);
}

/* In whatever layouts the two have been written and read before. */
static void test_copy_between_layouts(void **state)
{
    (void)state;
    static const float ramp[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    tsr_caffe_blob *a = blob_of(4, (int64_t[]){1, 3, 2, 2}), *b = blob_of(4, (int64_t[]){1, 3, 2, 2});
    tsr_blob *from = tsr_caffe_blob_tensor(a, TSR_CAFFE_DIFF), *to = tsr_caffe_blob_tensor(b, TSR_CAFFE_DIFF);
    tsr_access access = acquire(from, "f32:nhwc 1x3x2x2", TSR_WRITE);
    for (int i = 0; i < 12; i++)
        ((float *)access.data)[i] = (float)(i % 3 * 4 + i / 3);
    release(&access);
    access = acquire(to, "f32:nChw8c 1x3x2x2", TSR_WRITE);
    memset(access.data, 0x5a, 32 * sizeof(float));
    release(&access);
    assert_int_equal(tsr_caffe_blob_copy(b, a, TSR_CAFFE_DIFF, false, NULL), TSR_OK);
    expect_values(tsr_caffe_blob_memory(b, TSR_CAFFE_DIFF), ramp, 12);
    access = acquire(to, "f32:nChw8c 1x3x2x2", TSR_READ);
    for (int i = 0; i < 32; i++) /* with zeros behind three channels */
        assert_true(((const float *)access.data)[i] == (float)(i % 8 < 3 ? i % 8 * 4 + i / 8 : 0));
    release(&access);
    tsr_caffe_blob_free(&a);
    tsr_caffe_blob_free(&b);
}

/* ---- another shape ---- */

enum { ON_TENSOR, ON_MEMORY, ON_DIFF, ON_SHARED, HOLDERS };

/* Somebody holds an access in one way: nothing is taken away from him, and all is as it was. */
static void expect_busy(int holder, tsr_intent intent)
{
    static float values[] = {1, 2, 3, 4};
    tsr_caffe_blob *blob = blob_of(1, (int64_t[]){4}), *other = blob_of(1, (int64_t[]){4});
    const tsr_caffe_shape shapes[] = {shape_of(1, (int64_t[]){3}), shape_of(3, (int64_t[]){1, 2, 2}),
                                      shape_of(1, (int64_t[]){9})};
    write_ramp(tsr_caffe_blob_tensor(blob, TSR_CAFFE_DATA), 4);
    assert_int_equal(tsr_caffe_blob_share(other, blob, TSR_CAFFE_DATA, NULL), TSR_OK);
    tsr_blob *const held[HOLDERS] = {
        [ON_TENSOR] = tsr_caffe_blob_tensor(blob, TSR_CAFFE_DATA),
        [ON_MEMORY] = tsr_caffe_blob_memory(blob, TSR_CAFFE_DATA),
        [ON_DIFF] = tsr_caffe_blob_tensor(blob, TSR_CAFFE_DIFF),
        [ON_SHARED] = tsr_caffe_blob_tensor(other, TSR_CAFFE_DATA),
    };
    tsr_access access = acquire(held[holder], NULL, intent);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        tsr_error error = {0};
        bool reallocated = false;
        expect_message(tsr_caffe_blob_reshape(blob, &shapes[i], &reallocated, &error), TSR_BUSY, &error,
                       intent == TSR_READ ? "expected nobody to hold what is to be written, found 1 who read it"
                                          : "the blob is acquired for writing");
        assert_false(reallocated);
        assert_int_equal(tsr_caffe_blob_shape(blob).axes, 1);
        assert_int_equal(tsr_caffe_blob_shape(blob).count, 4);
    }
    const tsr_status expected = holder == ON_DIFF ? TSR_OK : TSR_BUSY;
    if (holder != ON_DIFF)
        assert_ptr_equal(held[ON_TENSOR], tsr_caffe_blob_tensor(blob, TSR_CAFFE_DATA));
    assert_int_equal(tsr_caffe_blob_set_data(blob, NULL, values, NULL), expected);
    release(&access);
    assert_int_equal(tsr_caffe_blob_reshape(blob, &shapes[0], NULL, NULL), TSR_OK);
    assert_int_equal(tsr_caffe_blob_set_data(blob, NULL, values, NULL), TSR_OK);
    tsr_caffe_blob_free(&blob);
    tsr_caffe_blob_free(&other);
}

static void test_busy(void **state)
{
    (void)state;
    for (int holder = 0; holder < HOLDERS; holder++)
        for (tsr_intent intent = TSR_READ; intent <= TSR_READ_WRITE; intent++)
            expect_busy(holder, intent);
}

/* A diff that would get new memory as well; and a part that would be shared. */
static void test_busy_neighbours(void **state)
{
    (void)state;
    static float values[] = {1, 2, 3};
    tsr_caffe_blob *blob = blob_of(1, (int64_t[]){4}), *other = blob_of(1, (int64_t[]){3});
    const tsr_caffe_shape three = shape_of(1, (int64_t[]){3});
    assert_int_equal(tsr_caffe_blob_reshape(blob, &three, NULL, NULL), TSR_OK);
    tsr_blob *memory = tsr_caffe_blob_memory(blob, TSR_CAFFE_DATA);
    tsr_access access = acquire(tsr_caffe_blob_tensor(blob, TSR_CAFFE_DIFF), NULL, TSR_READ);
    assert_int_equal(tsr_caffe_blob_set_data(blob, NULL, values, NULL), TSR_BUSY);
    assert_int_equal(tsr_caffe_blob_share(blob, other, TSR_CAFFE_DIFF, NULL), TSR_BUSY);
    assert_ptr_equal(tsr_caffe_blob_memory(blob, TSR_CAFFE_DATA), memory);
    assert_int_equal(tsr_caffe_blob_share(blob, other, TSR_CAFFE_DATA, NULL), TSR_OK);
    release(&access);
    assert_int_equal(tsr_caffe_blob_share(blob, other, TSR_CAFFE_DIFF, NULL), TSR_OK);
    tsr_caffe_blob_free(&blob);
    tsr_caffe_blob_free(&other);
}

/* Within capacity, once there is room for as many axes. What tensors had in other layouts is of another shape, and
 * gone. */
static void test_reshape_allocates_nothing(void **state)
{
    (void)state;
    static const float ramp[] = {0, 1, 2, 3, 4, 5, 6, 7};
    failing_allocator counter = {0};
    const tsr_allocator allocator = failing_allocator_of(&counter);
    const tsr_caffe_shape shapes[] = {shape_of(2, (int64_t[]){4, 2}), shape_of(0, NULL), shape_of(1, (int64_t[]){0}),
                                      shape_of(3, (int64_t[]){2, 2, 2}), shape_of(4, (int64_t[]){1, 2, 2, 2})};
    enum { SHAPES = sizeof shapes / sizeof *shapes };
    tsr_caffe_blob *blob = NULL;
    assert_int_equal(tsr_caffe_blob_create(&blob, TSR_F32, &(tsr_blob_options){.allocator = &allocator}, NULL), TSR_OK);
    assert_int_equal(tsr_caffe_blob_reshape(blob, &shapes[SHAPES - 1], NULL, NULL), TSR_OK);
    tsr_blob *tensor = tsr_caffe_blob_tensor(blob, TSR_CAFFE_DATA);
    write_ramp(tensor, 8);
    tsr_access access = acquire(tensor, "f32:nhwc 1x2x2x2", TSR_READ);
    release(&access);
    const int allocations = counter.allocations;
    for (int i = 0; i < SHAPES; i++) {
        bool reallocated = true;
        tsr_desc desc;
        assert_int_equal(tsr_caffe_blob_reshape(blob, &shapes[i], &reallocated, NULL), TSR_OK);
        assert_false(reallocated);
        assert_int_equal(tsr_caffe_blob_shape(blob).count, shapes[i].count);
        assert_ptr_equal(tsr_caffe_blob_tensor(blob, TSR_CAFFE_DATA), tensor);
        tsr_blob_get_desc(tensor, &desc);
        assert_int_equal(desc.rank, shapes[i].axes);
        assert_memory_equal(desc.dims, shapes[i].dims, (size_t)desc.rank * sizeof desc.dims[0]);
        assert_int_equal(tsr_blob_get_stats(tensor).representations, 0); /* but home, which is the memory's */
        expect_values(tensor, ramp, (int)shapes[i].count);
        assert_int_equal(counter.allocations, allocations);
    }
    access = acquire(tensor, "f32:nhwc 1x2x2x2", TSR_READ);
    assert_true(((const float *)access.data)[1] == 4);
    release(&access);
    tsr_caffe_blob_free(&blob);
    assert_int_equal(counter.live, 0);
    assert_int_equal(counter.live_bytes, 0);
}

/* Whoever has a reference of his own, or a view, keeps the tensor that he knows. */
static void test_reshape_beside_others(void **state)
{
    (void)state;
    static const float ramp[] = {0, 1, 2, 3, 4, 5};
    tsr_caffe_blob *blob = blob_of(2, (int64_t[]){2, 3});
    const tsr_caffe_shape flat = shape_of(1, (int64_t[]){6}), five = shape_of(5, (int64_t[]){1, 1, 1, 2, 3});
    const tsr_desc last = parsed_desc("f32:[a1:1]+5 1");
    tsr_blob *tensor = tsr_blob_share(tsr_caffe_blob_tensor(blob, TSR_CAFFE_DATA)), *view = NULL;
    tsr_desc desc;
    write_ramp(tensor, 6);
    assert_int_equal(tsr_caffe_blob_reshape(blob, &flat, NULL, NULL), TSR_OK);
    tsr_blob_get_desc(tensor, &desc);
    assert_true(desc.rank == 2 && tsr_caffe_blob_tensor(blob, TSR_CAFFE_DATA) != tensor);
    expect_values(tensor, ramp, 6);
    expect_values(tsr_caffe_blob_tensor(blob, TSR_CAFFE_DATA), ramp, 6);
    tsr_blob_free(&tensor);
    assert_int_equal(tsr_blob_create_view(&view, tsr_caffe_blob_tensor(blob, TSR_CAFFE_DATA), &last, NULL), TSR_OK);
    assert_int_equal(tsr_caffe_blob_reshape(blob, &five, NULL, NULL), TSR_OK);
    tsr_access access = acquire(view, NULL, TSR_READ_WRITE);
    assert_true(*(float *)tsr_access_first_element(&access) == 5);
    release(&access);
    tsr_blob_free(&view);
    expect_values(tsr_caffe_blob_tensor(blob, TSR_CAFFE_DATA), ramp, 6);
    /* a tensor that was moved in its memory is at its beginning again */
    const tsr_caffe_shape two = shape_of(1, (int64_t[]){2});
    assert_int_equal(tsr_caffe_blob_reshape(blob, &two, NULL, NULL), TSR_OK);
    assert_int_equal(tsr_blob_move_view(tsr_caffe_blob_tensor(blob, TSR_CAFFE_DATA), 3, NULL), TSR_OK);
    assert_int_equal(tsr_caffe_blob_reshape(blob, &flat, NULL, NULL), TSR_OK);
    assert_int_equal(tsr_blob_get_start(tsr_caffe_blob_tensor(blob, TSR_CAFFE_DATA)), 0);
    expect_values(tsr_caffe_blob_tensor(blob, TSR_CAFFE_DATA), ramp, 6);
    tsr_caffe_blob_free(&blob);
}

static size_t write_message(tsr_caffe_blob *blob, unsigned char *bytes, size_t room_bytes)
{
    size_t size_bytes = 0;
    tsr_status status = tsr_caffe_blob_to_proto(blob, false, bytes, room_bytes, &size_bytes, NULL);
    assert_true(status == TSR_OK || (status == TSR_UNSUPPORTED && !strstr(tsr_build_features(), "protobuf-c")));
    return size_bytes;
}

/* Values come to where it is, and from there, and nowhere else. */
static void test_messages_of_a_moved_tensor(void **state)
{
    (void)state;
    enum { ALL = 8, START = 3, ROOM_BYTES = 64 };
    static const float values[] = {50, 51}, expected[] = {0, 1, 2, 50, 51, 5, 6, 7};
    const tsr_caffe_shape two = shape_of(1, (int64_t[]){2});
    const tsr_caffe_blob_proto message = {.rank = 1, .dims = {2}, .data = {TSR_F32, 2, values}};
    unsigned char bytes[ROOM_BYTES], others[ROOM_BYTES];
    tsr_caffe_blob *blob = blob_of(1, (int64_t[]){ALL}), *other = blob_of(1, (int64_t[]){2});
    write_ramp(tsr_caffe_blob_tensor(blob, TSR_CAFFE_DATA), ALL);
    assert_int_equal(tsr_caffe_blob_reshape(blob, &two, NULL, NULL), TSR_OK);
    assert_int_equal(tsr_blob_move_view(tsr_caffe_blob_tensor(blob, TSR_CAFFE_DATA), START, NULL), TSR_OK);
    assert_int_equal(tsr_caffe_blob_from_proto(blob, &message, false, NULL), TSR_OK);
    expect_values(tsr_caffe_blob_memory(blob, TSR_CAFFE_DATA), expected, ALL);

    assert_int_equal(tsr_caffe_blob_from_proto(other, &message, false, NULL), TSR_OK);
    const size_t size_bytes = write_message(blob, bytes, sizeof bytes);
    assert_int_equal(write_message(other, others, sizeof others), size_bytes);
    assert_memory_equal(bytes, others, size_bytes);
    tsr_caffe_blob_free(&other);
    tsr_caffe_blob_free(&blob);
}

/* There is nothing to map, though there is memory. */
static void test_mapping_of_no_elements(void **state)
{
    (void)state;
    const tsr_caffe_shape none = shape_of(1, (int64_t[]){0});
    void *host = &host;
    tsr_caffe_blob *blob = blob_of(1, (int64_t[]){4});
    write_ramp(tsr_caffe_blob_tensor(blob, TSR_CAFFE_DATA), 4);
    assert_int_equal(tsr_caffe_blob_reshape(blob, &none, NULL, NULL), TSR_OK);
    tsr_access access = acquire_at(home_device, tsr_caffe_blob_tensor(blob, TSR_CAFFE_DATA), NULL, TSR_READ_WRITE);
    assert_int_equal(tsr_access_map(&access, &host, NULL), TSR_OK);
    assert_null(host);
    assert_null(tsr_access_first_element(&access));
    assert_int_equal(tsr_access_unmap(&access, NULL), TSR_OK);
    release(&access);
    tsr_caffe_blob_free(&blob);
}

/* The caller's memory ends it where home is; elsewhere it is shared, too. */
static void test_set_data_of_shared_memory(void **state)
{
    (void)state;
    static const float ramp[] = {0, 1, 2, 3};
    float mine[] = {9, 8, 7, 6};
    tsr_caffe_blob *a = blob_of(1, (int64_t[]){4}), *b = blob_of(1, (int64_t[]){4});
    write_ramp(tsr_caffe_blob_tensor(a, TSR_CAFFE_DATA), 4);
    assert_int_equal(tsr_caffe_blob_share(b, a, TSR_CAFFE_DATA, NULL), TSR_OK);
    assert_int_equal(tsr_caffe_blob_set_data(b, NULL, mine, NULL), TSR_OK);
    expect_values(tsr_caffe_blob_tensor(b, TSR_CAFFE_DATA), mine, 4);
    expect_values(tsr_caffe_blob_tensor(a, TSR_CAFFE_DATA), home_device ? mine : ramp, 4);
    tsr_caffe_blob_free(&b);
    tsr_caffe_blob_free(&a);
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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_large_dims),
        cmocka_unit_test(test_other_layouts),
        cmocka_unit_test(test_shared_diff),
        cmocka_unit_test(test_copy_of_shared_memory),
        cmocka_unit_test(test_copy_between_layouts),
        cmocka_unit_test(test_busy),
        cmocka_unit_test(test_busy_neighbours),
        cmocka_unit_test(test_reshape_allocates_nothing),
        cmocka_unit_test(test_reshape_beside_others),
        cmocka_unit_test(test_messages_of_a_moved_tensor),
        cmocka_unit_test(test_mapping_of_no_elements),
        cmocka_unit_test(test_set_data_of_shared_memory),
        cmocka_unit_test(test_capacity_of_shared_memory),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_out_of_memory),
        at_place(test_other_layouts),
        at_place(test_set_data),
        at_place(test_shared_diff),
        at_place(test_copy_of_shared_memory),
        at_place(test_copy_between_layouts),
        at_place(test_busy),
        at_place(test_busy_neighbours),
        at_place(test_reshape_beside_others),
        at_place(test_messages_of_a_moved_tensor),
        at_place(test_mapping_of_no_elements),
        at_place(test_set_data_of_shared_memory),
        at_place(test_capacity_of_shared_memory),
    };
    return choose_place(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
