/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "accesses.h"
#include "place.h"

static tsr_blob *blob_of(tsr_neo_dims dims)
{
    tsr_blob *blob = NULL;
    assert_int_equal(tsr_neo_create(&blob, TSR_F32, dims, &(tsr_blob_options){.device = home_device}, NULL), TSR_OK);
    return blob;
}

static void write_ramp(tsr_blob *blob, tsr_access *access, int elements, float first)
{
    assert_int_equal(tsr_blob_acquire(blob, NULL, NULL, TSR_READ_WRITE, access, NULL), TSR_OK);
    for (int i = 0; i < elements; i++)
        ((float *)access->data)[i] = first + (float)i;
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
    expect_message(tsr_neo_description(&dims, INT_MIN, nine, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected at most 7 dims, found -2147483648");
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
    write_ramp(sequence, &access, 15, 0);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    assert_int_equal(tsr_blob_acquire(sequence, home_device, NULL, TSR_READ, &access, NULL), TSR_OK);
    const void *memory = access.data;
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    assert_int_equal(tsr_neo_create_window(&window, sequence, 2, NULL), TSR_OK);
    for (int position = 0; position <= 3; position++) {
        assert_int_equal(tsr_neo_set_position(window, position, NULL), TSR_OK);
        assert_int_equal(tsr_blob_acquire(window, home_device, NULL, TSR_READ, &access, NULL), TSR_OK);
        assert_ptr_equal(access.data, memory); /* no memory of its own */
        assert_int_equal(tsr_access_map(&access, &(void *){NULL}, NULL), TSR_OK);
        assert_true(*(const float *)tsr_access_first_element(&access) == (float)(3 * position));
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
    matrix = blob_at_home(&flat);
    expect_message(tsr_neo_create_window(&window, matrix, 1, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected a blob of 7 axes, found 1");
    tsr_blob_free(&matrix);
}

/* One step along BatchLength has to be one distance in memory: in blocks there would be two. */
static void test_windows_that_cannot_move(void **state)
{
    (void)state;
    tsr_error error = {0};
    const tsr_desc desc = parsed_desc("f32:Abcdefg4a 8x1x1x1x1x1x2");
    const int64_t begin[TSR_NEO_AXES] = {0}, size[] = {2, 1, 1, 1, 1, 1, 2}, narrow[] = {2, 1, 1, 1, 1, 1, 1};
    tsr_desc part;
    tsr_blob *sequence = blob_at_home(&desc), *window = NULL;
    int64_t position = 7;
    expect_message(tsr_neo_create_window(&window, sequence, 2, &error), TSR_UNSUPPORTED, &error,
                   "expected a parent with BatchLength in 1 level, found 2");
    assert_null(window);
    assert_int_equal(tsr_view_crop(&part, &desc, begin, size, NULL, NULL), TSR_OK);
    assert_int_equal(tsr_blob_create_view(&window, sequence, &part, NULL), TSR_OK);
    expect_message(tsr_neo_set_position(window, 1, &error), TSR_UNSUPPORTED, &error,
                   "expected a parent with BatchLength in 1 level, found 2");
    expect_message(tsr_neo_get_position(window, &position, &error), TSR_UNSUPPORTED, &error,
                   "expected a parent with BatchLength in 1 level, found 2");
    assert_int_equal(tsr_blob_get_start(window), 0);
    tsr_blob_free(&window);
    tsr_blob_free(&sequence);
    sequence = blob_of(tsr_neo_data(8, 1, 2));
    tsr_blob_get_desc(sequence, &part);
    assert_int_equal(tsr_view_crop(&part, &part, begin, narrow, NULL, NULL), TSR_OK);
    assert_int_equal(tsr_blob_create_view(&window, sequence, &part, NULL), TSR_OK);
    expect_message(tsr_neo_set_position(window, 1, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected a window along BatchLength, found another view");
    expect_message(tsr_neo_get_position(window, &position, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected a window along BatchLength, found another view");
    assert_int_equal(position, 7);
    tsr_blob_free(&window);
    tsr_blob_free(&sequence);
}

/* Each position of a window is where its parent has it, whatever lies before, behind and between the steps. */
static void check_positions(const tsr_desc *parent, int64_t size)
{
    tsr_blob *sequence = blob_at_home(parent), *window = NULL;
    assert_int_equal(tsr_neo_create_window(&window, sequence, size, NULL), TSR_OK);
    for (int64_t position = 0, found; position <= parent->dims[TSR_NEO_BATCH_LENGTH] - size; position++) {
        assert_int_equal(tsr_neo_set_position(window, position, NULL), TSR_OK);
        assert_int_equal(tsr_neo_get_position(window, &found, NULL), TSR_OK);
        assert_int_equal(found, position);
        for (int64_t i = 0, at, wanted; i < 2 * size; i++) {
            tsr_desc desc;
            tsr_blob_get_desc(window, &desc);
            assert_int_equal(tsr_desc_offset_linear(&desc, i, &at, NULL), TSR_OK);
            assert_int_equal(tsr_desc_offset_linear(parent, 2 * position + i, &wanted, NULL), TSR_OK);
            assert_int_equal(at, wanted);
        }
    }
    tsr_blob_free(&window);
    tsr_blob_free(&sequence);
}

static void test_windows_over_any_steps(void **state)
{
    static const char *const texts[] = {
        "f32:abcdefg 6x1x1x1x1x1x2",
        "f32:gabcdef 6x1x1x1x1x1x2",
        "f32:abcdefG2g 6x1x1x1x1x1x2",
        "f32:[a12:4,b1:1,c1:1,d1:1,e1:1,f1:1,g2:1]@a1/2 6x1x1x1x1x1x2",
        "f32:[a6:4/3,b1:1,c1:1,d1:1,e1:1,f1:1,g2:1/1]+5 6x1x1x1x1x1x2",
        "f32:[a1:0,b1:1,c1:1,d1:1,e1:1,f1:1,g2:1] 1x1x1x1x1x1x2",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const tsr_desc parent = parsed_desc(texts[i]);
        for (int64_t size = 1; size <= parent.dims[TSR_NEO_BATCH_LENGTH]; size++)
            check_positions(&parent, size);
    }
}

static void expect_ramp(tsr_blob *blob, int elements, float first)
{
    tsr_desc desc;
    tsr_access access;
    int64_t at;
    assert_int_equal(tsr_blob_acquire(blob, NULL, NULL, TSR_READ, &access, NULL), TSR_OK);
    tsr_access_get_desc(&access, &desc);
    assert_int_equal(tsr_desc_elements(&desc), elements);
    for (int i = 0; i < elements; i++) {
        assert_int_equal(tsr_desc_offset_linear(&desc, i, &at, NULL), TSR_OK);
        assert_true(((const float *)access.data)[at] == first + (float)i);
    }
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
}

/* Buffers are given back in reverse order, once, and only when nobody else is at the blob; what fails leaves the
 * buffer there. */
static void test_buffers(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_access access;
    tsr_blob *blob = blob_of(tsr_neo_data(2, 1, 3));
    tsr_neo_buffer *first = NULL, *second = NULL, *none = NULL;
    write_ramp(blob, &access, 6, 1);
    expect_message(tsr_neo_get_buffer(&none, blob, 0, 6, true, &error), TSR_BUSY, &error,
                   "the blob is acquired for writing");
    assert_null(none);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    expect_message(tsr_neo_get_buffer(&none, blob, 4, 3, true, &error), TSR_OUT_OF_RANGE, &error,
                   "expected a part of 6 elements, found 3 from 4 on");
    assert_int_equal(tsr_neo_get_buffer(&first, blob, 1, 2, true, NULL), TSR_OK);
    assert_int_equal(tsr_neo_get_buffer(&second, blob, 0, 6, true, NULL), TSR_OK);
    ((float *)tsr_neo_buffer_data(first))[0] = 50;
    tsr_neo_buffer *kept = first;
    expect_message(tsr_neo_release_buffer(&first, true, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected the buffer that was got last to be given back first");
    assert_ptr_equal(first, kept);
    expect_ramp(blob, 6, 1);
    assert_int_equal(tsr_neo_release_buffer(&second, false, NULL), TSR_OK);
    assert_null(second);
    expect_message(tsr_neo_release_buffer(&second, true, &error), TSR_INVALID_ARGUMENT, &error,
                   "the buffer was given back before");
    assert_int_equal(tsr_blob_acquire(blob, NULL, NULL, TSR_READ, &access, NULL), TSR_OK);
    expect_message(tsr_neo_release_buffer(&first, true, &error), TSR_BUSY, &error,
                   "expected nobody to hold what is to be written, found 1 who read it");
    assert_ptr_equal(first, kept);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    expect_ramp(blob, 6, 1);
    assert_int_equal(tsr_neo_release_buffer(&first, true, NULL), TSR_OK);
    assert_int_equal(tsr_blob_acquire(blob, NULL, NULL, TSR_READ, &access, NULL), TSR_OK);
    assert_true(((const float *)access.data)[1] == 50);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    tsr_blob_free(&blob);
}

/* A blob that has become smaller than what was got is not written behind its end, nor is one whose elements share
 * bytes. */
static void test_buffers_that_do_not_fit(void **state)
{
    (void)state;
    tsr_error error = {0};
    const tsr_desc blocked = parsed_desc("f32:nChw8c 1x20x2x2"), smaller = parsed_desc("f32:nChw8c 1x3x2x2"),
                   packed = parsed_desc("s4:ab 3x3");
    tsr_blob *blob = blob_at_home(&blocked);
    tsr_neo_buffer *buffer = NULL;
    assert_int_equal(tsr_neo_get_buffer(&buffer, blob, 60, 20, true, NULL), TSR_OK);
    assert_int_equal(tsr_blob_reshape(blob, &smaller, NULL, NULL), TSR_OK);
    expect_message(tsr_neo_release_buffer(&buffer, true, &error), TSR_OUT_OF_RANGE, &error,
                   "expected a part of 12 elements, found 20 from 60 on");
    assert_int_equal(tsr_neo_release_buffer(&buffer, false, NULL), TSR_OK);
    tsr_blob_free(&blob);
    blob = blob_at_home(&packed);
    expect_message(tsr_neo_get_buffer(&buffer, blob, 0, 9, true, &error), TSR_UNSUPPORTED, &error,
                   "expected elements of whole bytes, found s4");
    tsr_blob_free(&blob);
}

/* What is overwritten as a whole is not converted before, and a part of it is. */
static void test_buffers_in_other_layouts(void **state)
{
    (void)state;
    const tsr_desc blocked = parsed_desc("f32:nChw8c 1x20x2x2");
    tsr_blob *blob = blob_at_home(&blocked);
    tsr_neo_buffer *buffer = NULL;
    tsr_access access = acquire(blob, NULL, TSR_WRITE);
    release(&access);
    assert_int_equal(tsr_neo_get_buffer(&buffer, blob, 0, 80, false, NULL), TSR_OK);
    for (int i = 0; i < 80; i++)
        ((float *)tsr_neo_buffer_data(buffer))[i] = (float)i;
    assert_int_equal(tsr_neo_release_buffer(&buffer, true, NULL), TSR_OK);
    assert_int_equal(tsr_blob_get_stats(blob).conversions, 0);
    expect_ramp(blob, 80, 0);
    assert_int_equal(tsr_blob_get_stats(blob).conversions, 1);
    access = acquire(blob, NULL, TSR_READ_WRITE);
    release(&access);
    assert_int_equal(tsr_neo_get_buffer(&buffer, blob, 1, 79, false, NULL), TSR_OK);
    for (int i = 0; i < 79; i++)
        ((float *)tsr_neo_buffer_data(buffer))[i] = (float)(i + 1);
    assert_int_equal(tsr_neo_release_buffer(&buffer, true, NULL), TSR_OK);
    assert_int_equal(tsr_blob_get_stats(blob).conversions, 2);
    expect_ramp(blob, 80, 0);
    tsr_blob_free(&blob);
}

/* Memory that is asked for while a buffer is on its way back: somebody else gets one. */
struct interruption {
    tsr_blob *blob;
    tsr_neo_buffer *buffer;
};

static void *allocate_and_get(void *context, size_t size_bytes, size_t alignment)
{
    struct interruption *interruption = context;
    tsr_blob *blob = interruption->blob;
    interruption->blob = NULL;
    if (blob)
        assert_int_equal(tsr_neo_get_buffer(&interruption->buffer, blob, 0, 1, false, NULL), TSR_OK);
    const tsr_allocator *system = tsr_default_allocator();
    return system->allocate(system->context, size_bytes, alignment);
}

static void give_back(void *context, void *memory, size_t size_bytes)
{
    const tsr_allocator *system = tsr_default_allocator();
    (void)context;
    system->release(system->context, memory, size_bytes);
}

/* The one that is got in the meantime counts as the last, and both can be given back. */
static void test_buffers_got_meanwhile(void **state)
{
    (void)state;
    const tsr_desc turned = parsed_desc("f32:ba 2x3");
    struct interruption interruption = {0};
    const tsr_allocator allocator = {allocate_and_get, give_back, &interruption};
    tsr_blob *blob = NULL;
    tsr_neo_buffer *below = NULL, *buffer = NULL;
    assert_int_equal(
        tsr_blob_create(&blob, &turned, &(tsr_blob_options){.device = home_device, .allocator = &allocator}, NULL),
        TSR_OK);
    assert_int_equal(tsr_neo_get_buffer(&below, blob, 0, 0, false, NULL), TSR_OK);
    assert_int_equal(tsr_neo_get_buffer(&buffer, blob, 0, 6, false, NULL), TSR_OK);
    for (int i = 0; i < 6; i++)
        ((float *)tsr_neo_buffer_data(buffer))[i] = (float)i;
    interruption.blob = blob;
    assert_int_equal(tsr_neo_release_buffer(&buffer, true, NULL), TSR_OK);
    assert_non_null(interruption.buffer);
    assert_int_equal(tsr_neo_release_buffer(&below, false, NULL), TSR_INVALID_ARGUMENT);
    assert_int_equal(tsr_neo_release_buffer(&interruption.buffer, false, NULL), TSR_OK);
    assert_int_equal(tsr_neo_release_buffer(&below, false, NULL), TSR_OK);
    expect_ramp(blob, 6, 0);
    tsr_blob_free(&blob);
}

enum { OWNERS = 4, BUFFERS = 500 };

/* A thread that gets buffers of one element each, and gives back what it may. */
struct owner {
    pthread_t thread;
    tsr_blob *blob;
    int first, held;
    tsr_neo_buffer *buffers[BUFFERS];
};

static void *use_buffers(void *argument)
{
    struct owner *owner = argument;
    for (int i = 0; i < BUFFERS; i++) {
        tsr_neo_buffer **buffer = &owner->buffers[owner->held];
        if (tsr_neo_get_buffer(buffer, owner->blob, owner->first + i, 1, false, NULL) != TSR_OK)
            return argument;
        *(float *)tsr_neo_buffer_data(*buffer) = (float)(owner->first + i);
        owner->held++;
        while (owner->held > 0 && tsr_neo_release_buffer(&owner->buffers[owner->held - 1], true, NULL) == TSR_OK)
            owner->held--;
    }
    return NULL;
}

/* What threads get and give back at once is never stuck. */
static void test_buffers_of_many_threads(void **state)
{
    static struct owner owners[OWNERS];
    (void)state;
    tsr_blob *blob = blob_of(tsr_neo_data(OWNERS * BUFFERS, 1, 1));
    for (int t = 0; t < OWNERS; t++) {
        owners[t] = (struct owner){.blob = blob, .first = t * BUFFERS};
        assert_int_equal(pthread_create(&owners[t].thread, NULL, use_buffers, &owners[t]), 0);
    }
    for (int t = 0; t < OWNERS; t++) {
        void *failed = NULL;
        assert_int_equal(pthread_join(owners[t].thread, &failed), 0);
        assert_null(failed);
    }
    for (bool is_stuck = false; !is_stuck;) {
        is_stuck = true;
        for (int t = 0; t < OWNERS; t++)
            while (owners[t].held > 0 &&
                   tsr_neo_release_buffer(&owners[t].buffers[owners[t].held - 1], true, NULL) == TSR_OK) {
                owners[t].held--;
                is_stuck = false;
            }
    }
    for (int t = 0; t < OWNERS; t++)
        assert_int_equal(owners[t].held, 0);
    expect_ramp(blob, OWNERS * BUFFERS, 0);
    tsr_blob_free(&blob);
}

/* Filled or cleared, an object is; its neighbours are as before. Of any type, what is cleared. */
static void test_objects(void **state)
{
    (void)state;
    const float seven = 7;
    tsr_error error = {0};
    tsr_blob *blob = blob_of(tsr_neo_image_2d(2, 3, 2, 1, 2)), *bytes = NULL;
    for (int n = 0; n < 6; n++)
        for (int is_cleared = 0; is_cleared < 2; is_cleared++) {
            tsr_access access;
            write_ramp(blob, &access, 24, 1);
            release(&access);
            assert_int_equal(
                is_cleared ? tsr_neo_clear_object(blob, n, NULL) : tsr_neo_fill_object(blob, n, &seven, NULL), TSR_OK);
            access = acquire(blob, NULL, TSR_READ);
            for (int i = 0; i < 24; i++) {
                const float outside = (float)(i + 1), inside = is_cleared ? 0 : seven;
                assert_true(((const float *)access.data)[i] == (i / 4 == n ? inside : outside));
            }
            release(&access);
        }
    expect_message(tsr_neo_fill_object(blob, 6, &seven, &error), TSR_OUT_OF_RANGE, &error,
                   "expected an object below 6, found 6");
    expect_message(tsr_neo_clear_object(blob, -1, &error), TSR_OUT_OF_RANGE, &error,
                   "expected an object below 6, found -1");
    tsr_blob_free(&blob);
    const tsr_desc desc = parsed_desc("u8:abcdefg 2x1x1x1x1x1x3");
    bytes = blob_at_home(&desc);
    tsr_access access = acquire(bytes, NULL, TSR_WRITE);
    memset(access.data, 5, 6);
    release(&access);
    assert_int_equal(tsr_neo_clear_object(bytes, 1, NULL), TSR_OK);
    assert_int_equal(tsr_neo_fill_object(bytes, 0, "", NULL), TSR_UNSUPPORTED);
    access = acquire(bytes, NULL, TSR_READ);
    assert_memory_equal(access.data, "\5\5\5\0\0\0", 6);
    release(&access);
    tsr_blob_free(&bytes);
}

/* Other dims for the same elements in the same order, in whatever layout they are; the type stays, which it does
 * not there. */
static void test_reinterpret(void **state)
{
    static const char *const texts[] = {"s32:abcdefg 2x1x1x3x1x1x4", "s32:gfedcba 2x1x1x3x1x1x4",
                                        "s32:abcdefG2g 2x1x1x3x1x1x4"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        const tsr_desc desc = parsed_desc(texts[i]);
        tsr_desc found;
        tsr_neo_dims dims;
        const tsr_neo_dims wanted = tsr_neo_list(2, 3, 2, 2);
        tsr_blob *blob = blob_at_home(&desc);
        int64_t at;
        tsr_access access = acquire(blob, "s32:abcdefg 2x1x1x3x1x1x4", TSR_WRITE);
        for (int j = 0; j < 24; j++)
            ((int32_t *)access.data)[j] = j;
        release(&access);
        assert_int_equal(tsr_neo_reinterpret(blob, wanted, NULL), TSR_OK);
        assert_int_equal(tsr_neo_get_dims(blob, &dims, NULL), TSR_OK);
        assert_memory_equal(&dims, &wanted, sizeof dims);
        tsr_blob_get_desc(blob, &found);
        assert_int_equal(found.dtype, TSR_S32);
        access = acquire(blob, NULL, TSR_READ);
        for (int j = 0; j < 24; j++) {
            assert_int_equal(tsr_desc_offset_linear(&found, j, &at, NULL), TSR_OK);
            assert_int_equal(((const int32_t *)access.data)[at], j);
        }
        release(&access);
        tsr_blob_free(&blob);
    }
}

static void test_what_is_not_reinterpreted(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_access access;
    tsr_blob *blob = blob_of(tsr_neo_data(4, 1, 3)), *window = NULL;
    write_ramp(blob, &access, 12, 0);
    release(&access);
    expect_message(tsr_neo_reinterpret(blob, tsr_neo_data(4, 1, 4), &error), TSR_INVALID_ARGUMENT, &error,
                   "the dims have 16 elements, expected 12");
    expect_message(tsr_neo_reinterpret(blob, tsr_neo_data(12, 0, 1), &error), TSR_INVALID_ARGUMENT, &error,
                   "expected dims of at least 1, found 0 at 1");
    assert_int_equal(tsr_neo_create_window(&window, blob, 2, NULL), TSR_OK);
    expect_message(tsr_neo_reinterpret(window, tsr_neo_data(3, 1, 2), &error), TSR_INVALID_ARGUMENT, &error,
                   "a view keeps its shape, as its memory is its parent's");
    expect_message(tsr_neo_reinterpret(blob, tsr_neo_data(3, 1, 4), &error), TSR_BUSY, &error,
                   "expected a blob without views, found 1");
    expect_ramp(window, 6, 0);
    expect_ramp(blob, 12, 0);
    tsr_neo_dims dims;
    assert_int_equal(tsr_neo_get_dims(blob, &dims, NULL), TSR_OK);
    assert_int_equal(dims.of[TSR_NEO_BATCH_LENGTH], 4);
    tsr_blob_free(&window);
    tsr_blob_free(&blob);
}

/* Every axis is looked at, for each part, whichever the parts are along. */
static void test_every_axis_counts(void **state)
{
    (void)state;
    for (int axis = 0; axis < TSR_NEO_AXES; axis++)
        for (int wrong = 0; wrong < TSR_NEO_AXES; wrong++) {
            tsr_neo_dims all = {{2, 2, 2, 2, 2, 2, 2}}, one = all, other;
            char message[128];
            tsr_error error = {0};
            tsr_access access;
            one.of[axis] = 1;
            other = one;
            other.of[wrong]++;
            tsr_blob *whole = blob_of(all), *parts[] = {blob_of(one), blob_of(other)};
            write_ramp(whole, &access, 128, 0);
            assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
            if (wrong == axis)
                snprintf(message, sizeof message, "expected parts that add up to 2 along axis %d, found 3", axis);
            else
                snprintf(message, sizeof message, "expected part 1 to have 2 along axis %d, found 3", wrong);
            expect_message(tsr_blob_merge(whole, parts, 2, axis, &error), TSR_INVALID_ARGUMENT, &error, message);
            expect_message(tsr_blob_split(parts, 2, whole, axis, &error), TSR_INVALID_ARGUMENT, &error, message);
            expect_ramp(whole, 128, 0);
            assert_int_equal(tsr_blob_get_stats(parts[0]).acquires + tsr_blob_get_stats(parts[1]).acquires, 0);
            tsr_blob_free(&whole);
            tsr_blob_free(&parts[0]);
            tsr_blob_free(&parts[1]);
        }
}

/* One blob may be merged twice; what is inside of the whole is no part of it, and nothing has moved when that is
 * seen. */
static void test_parts_that_share_memory(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_access access;
    tsr_blob *whole = blob_of(tsr_neo_data(4, 1, 3)), *two = blob_of(tsr_neo_data(2, 1, 3)), *window = NULL;
    write_ramp(two, &access, 6, 10);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    assert_int_equal(tsr_blob_merge(whole, (tsr_blob *[]){two, two}, 2, 0, NULL), TSR_OK);
    assert_int_equal(tsr_neo_create_window(&window, whole, 2, NULL), TSR_OK);
    for (int position = 0; position < 3; position += 2) {
        assert_int_equal(tsr_neo_set_position(window, position, NULL), TSR_OK);
        expect_message(tsr_blob_merge(whole, (tsr_blob *[]){two, window}, 2, 0, &error), TSR_INVALID_ARGUMENT, &error,
                       "expected part 1 beside the whole, found it in there");
        expect_message(tsr_neo_split_objects((tsr_blob *[]){two, window}, 2, whole, &error), TSR_INVALID_ARGUMENT,
                       &error, "expected part 1 beside the whole, found it in there");
        expect_ramp(window, 6, 10);
    }
    expect_message(tsr_blob_split(&whole, 1, whole, 0, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected part 0 beside the whole, found it in there");
    expect_ramp(two, 6, 10);
    tsr_blob_free(&window);
    tsr_blob_free(&two);
    tsr_blob_free(&whole);
}

/* Parts may be views of one blob, which exclude each other. */
static void test_parts_of_one_blob(void **state)
{
    (void)state;
    tsr_access access;
    tsr_blob *whole = blob_of(tsr_neo_data(4, 1, 3)), *target = blob_of(tsr_neo_data(4, 1, 3)), *parts[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tsr_neo_create_window(&parts[i], target, 2, NULL), TSR_OK);
        assert_int_equal(tsr_neo_set_position(parts[i], 2 - 2 * i, NULL), TSR_OK);
    }
    write_ramp(whole, &access, 12, 0);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    assert_int_equal(tsr_blob_split(parts, 2, whole, 0, NULL), TSR_OK);
    expect_ramp(parts[0], 6, 0);
    expect_ramp(parts[1], 6, 6);
    assert_int_equal(tsr_blob_clear(whole, NULL), TSR_OK);
    assert_int_equal(tsr_blob_merge(whole, parts, 2, 0, NULL), TSR_OK);
    expect_ramp(whole, 12, 0);
    for (int i = 0; i < 2; i++)
        tsr_blob_free(&parts[i]);
    tsr_blob_free(&target);
    tsr_blob_free(&whole);
}

/* Nothing is converted for what will be overwritten, and the engine reads what is there. */
static void test_nothing_in_vain(void **state)
{
    (void)state;
    const tsr_desc desc = parsed_desc("f32:nchw 1x4x2x3"), last = parsed_desc("f32:nhwc 1x4x2x3");
    tsr_access access;
    tsr_blob *whole = blob_at_home(&desc), *part = blob_at_home(&desc);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tsr_blob_acquire(i ? whole : part, NULL, &last, TSR_WRITE, &access, NULL), TSR_OK);
        assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    }
    assert_int_equal(tsr_blob_merge(whole, &part, 1, 1, NULL), TSR_OK);
    assert_int_equal(tsr_blob_split(&part, 1, whole, 1, NULL), TSR_OK);
    assert_int_equal(tsr_blob_get_stats(whole).conversions + tsr_blob_get_stats(part).conversions, 0);
    tsr_blob_free(&whole);
    tsr_blob_free(&part);
}

/* Positions at the limits of the numbers. */
static void test_far_positions(void **state)
{
    static const int64_t far[] = {INT64_MAX, INT64_MAX / 2, INT64_MIN, -1, 16};
    const tsr_neo_dims dims = tsr_neo_data(5, 1, 3);
    (void)state;
    tsr_blob *sequence = blob_of(dims), *window = NULL, *none = NULL;
    tsr_neo_buffer *buffer = NULL;
    int64_t offset = 7;
    tsr_access access;
    write_ramp(sequence, &access, 15, 0);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    assert_int_equal(tsr_neo_create_window(&window, sequence, 2, NULL), TSR_OK);
    assert_int_equal(tsr_neo_set_position(window, 3, NULL), TSR_OK);
    for (int i = 0; i < 5; i++) {
        const tsr_status of_size = far[i] < 0 ? TSR_INVALID_ARGUMENT : TSR_OUT_OF_RANGE;
        assert_int_equal(tsr_neo_set_position(window, far[i], NULL), TSR_OUT_OF_RANGE);
        assert_int_equal(tsr_blob_move_view(window, far[i], NULL), TSR_OUT_OF_RANGE);
        assert_int_equal(tsr_neo_create_window(&none, sequence, far[i], NULL), of_size);
        assert_int_equal(tsr_neo_create_object_view(&none, sequence, far[i], NULL), TSR_OUT_OF_RANGE);
        assert_int_equal(tsr_neo_object_offset(&dims, far[i], &offset, NULL), TSR_OUT_OF_RANGE);
        assert_int_equal(tsr_neo_offset(&dims, 1, &far[i], &offset, NULL), TSR_OUT_OF_RANGE);
        assert_int_equal(tsr_neo_get_buffer(&buffer, sequence, far[i], 1, true, NULL), TSR_OUT_OF_RANGE);
        assert_int_equal(tsr_neo_get_buffer(&buffer, sequence, 1, far[i], true, NULL), TSR_OUT_OF_RANGE);
        assert_null(none);
        assert_null(buffer);
        assert_int_equal(offset, 7);
        expect_ramp(window, 6, 9); /* where it was */
    }
    expect_ramp(sequence, 15, 0);
    tsr_blob_free(&window);
    tsr_blob_free(&sequence);
}

/* What does not fit is refused before anything moves. */
static void test_parts_that_do_not_fit(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_access access;
    tsr_blob *whole = blob_of(tsr_neo_data(4, 2, 3)), *two = blob_of(tsr_neo_data(2, 2, 3)),
             *wide = blob_of(tsr_neo_data(2, 2, 4));
    tsr_blob *fitting[] = {two, two}, *other[] = {two, wide}, *few[] = {two}, *missing[] = {two, NULL};
    const tsr_desc other_type = parsed_desc("s32:abcdefg 2x2x1x1x1x1x3");
    tsr_blob *integers = blob_at_home(&other_type), *mixed[] = {two, integers};
    write_ramp(whole, &access, 24, 0);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    expect_message(tsr_blob_merge(whole, other, 2, TSR_NEO_BATCH_LENGTH, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected part 1 to have 3 along axis 6, found 4");
    expect_message(tsr_blob_split(few, 1, whole, TSR_NEO_BATCH_LENGTH, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected parts that add up to 4 along axis 0, found 2");
    expect_message(tsr_blob_merge(whole, mixed, 2, TSR_NEO_BATCH_LENGTH, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected part 1 to have type f32 and 7 axes, found s32 and 7");
    expect_message(tsr_blob_merge(whole, fitting, 2, 7, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected parts along an axis below 7, found 7");
    expect_message(tsr_blob_merge(whole, fitting, 0, 0, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected at least 1 part, found 0");
    expect_message(tsr_blob_split(NULL, 2, whole, 0, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected at least 1 part, found 0");
    expect_message(tsr_blob_merge(whole, missing, 2, 0, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected a blob as part 1, found NULL");
    expect_message(tsr_neo_split_contents(missing, 2, whole, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected a blob as part 1, found NULL");
    expect_message(tsr_neo_merge_objects(whole, fitting, 0, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected at least 1 part, found 0");
    expect_message(tsr_neo_merge_objects(whole, other, 2, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected objects of 3 along axis 6 in part 1, found 4");
    assert_int_equal(tsr_neo_split_contents(fitting, 2, whole, &error), TSR_INVALID_ARGUMENT);
    expect_message(tsr_blob_split(fitting, 2, whole, TSR_NEO_BATCH_LENGTH, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected parts beside each other, found 0 and 1 at one place");
    expect_message(tsr_neo_split_objects(fitting, 2, whole, &error), TSR_INVALID_ARGUMENT, &error,
                   "expected parts beside each other, found 0 and 1 at one place");
    assert_int_equal(tsr_blob_acquire(whole, NULL, NULL, TSR_READ, &access, NULL), TSR_OK);
    for (int i = 0; i < 24; i++)
        assert_true(((const float *)access.data)[i] == (float)i);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    tsr_blob_free(&whole);
    tsr_blob_free(&two);
    tsr_blob_free(&wide);
    tsr_blob_free(&integers);
}

/* Objects that cannot be seen as rows are refused before anything moves. */
static void test_objects_that_are_no_rows(void **state)
{
    typedef tsr_status (*merge)(tsr_blob * whole, tsr_blob *const *parts, int count, tsr_error *error);
    typedef tsr_status (*split)(tsr_blob *const *parts, int count, tsr_blob *whole, tsr_error *error);
    static const merge merges[] = {tsr_neo_merge_objects, tsr_neo_merge_contents};
    static const split splits[] = {tsr_neo_split_objects, tsr_neo_split_contents};
    (void)state;
    tsr_access access;
    const tsr_desc padded = parsed_desc("f32:abcdefG4g 2x1x1x2x1x1x3");
    tsr_blob *plain = blob_of(tsr_neo_image_2d(2, 1, 2, 1, 3)), *blocked = blob_at_home(&padded);
    write_ramp(plain, &access, 12, 1);
    release(&access);
    for (int i = 0; i < 2; i++) {
        const char *message = "axis 2 cannot follow axis 1 in one: it has padding behind its elements";
        tsr_error error = {0};
        expect_message(merges[i](plain, &blocked, 1, &error), TSR_UNSUPPORTED, &error, message);
        expect_message(splits[i](&blocked, 1, plain, &error), TSR_UNSUPPORTED, &error, message);
        expect_message(merges[i](blocked, &plain, 1, &error), TSR_UNSUPPORTED, &error, message);
        expect_message(splits[i](&plain, 1, blocked, &error), TSR_UNSUPPORTED, &error, message);
    }
    expect_ramp(plain, 12, 1);
    assert_int_equal(tsr_blob_get_stats(blocked).acquires, 0);
    tsr_blob_free(&plain);
    tsr_blob_free(&blocked);
}

/* Layouts may differ: the engine merges and splits whatever they are. */
static void test_parts_in_other_layouts(void **state)
{
    static const char *const texts[] = {"f32:nchw 1x5x2x3", "f32:nhwc 1x7x2x3"};
    (void)state;
    tsr_blob *parts[2];
    tsr_desc desc = parsed_desc("f32:nChw8c 1x12x2x3");
    tsr_blob *whole = blob_at_home(&desc);
    tsr_access access;
    int64_t at;
    for (int i = 0; i < 2; i++) {
        desc = parsed_desc(texts[i]);
        parts[i] = blob_at_home(&desc);
        assert_int_equal(tsr_blob_acquire(parts[i], NULL, NULL, TSR_WRITE, &access, NULL), TSR_OK);
        for (int64_t j = 0; j < tsr_desc_elements(&desc); j++) {
            assert_int_equal(tsr_desc_offset_linear(&desc, j, &at, NULL), TSR_OK);
            ((float *)access.data)[at] = (float)(30 * i + j);
        }
        assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    }
    assert_int_equal(tsr_blob_merge(whole, parts, 2, 1, NULL), TSR_OK);
    desc = parsed_desc("f32:nchw 1x12x2x3");
    assert_int_equal(tsr_blob_acquire(whole, NULL, &desc, TSR_READ, &access, NULL), TSR_OK);
    for (int i = 0; i < 72; i++)
        assert_true(((const float *)access.data)[i] == (float)i);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    desc = parsed_desc("f32:nchw 1x5x3x2");
    tsr_blob *back = blob_at_home(&desc);
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

/* Without elements all positions are at one place, and there is no telling them apart. */
static void test_window_of_nothing(void **state)
{
    (void)state;
    const tsr_desc desc = parsed_desc("f32:abcdefg 4x1x1x1x1x1x0");
    tsr_blob *parent = blob_at_home(&desc), *window = NULL;
    int64_t position = -1;
    assert_int_equal(tsr_neo_create_window(&window, parent, 2, NULL), TSR_OK);
    assert_int_equal(tsr_neo_set_position(window, 2, NULL), TSR_OK);
    assert_int_equal(tsr_neo_get_position(window, &position, NULL), TSR_OK);
    assert_in_range(position, 0, 2);
    tsr_blob_free(&window);
    tsr_blob_free(&parent);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window_of_nothing),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_windows_that_cannot_move),
        cmocka_unit_test(test_windows_over_any_steps),
        cmocka_unit_test(test_far_positions),
        cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_buffers_that_do_not_fit),
        cmocka_unit_test(test_buffers_in_other_layouts),
        cmocka_unit_test(test_buffers_got_meanwhile),
        cmocka_unit_test(test_buffers_of_many_threads),
        cmocka_unit_test(test_objects),
        cmocka_unit_test(test_reinterpret),
        cmocka_unit_test(test_what_is_not_reinterpreted),
        cmocka_unit_test(test_every_axis_counts),
        cmocka_unit_test(test_parts_that_do_not_fit),
        cmocka_unit_test(test_parts_that_share_memory),
        cmocka_unit_test(test_parts_of_one_blob),
        cmocka_unit_test(test_nothing_in_vain),
        cmocka_unit_test(test_objects_that_are_no_rows),
        cmocka_unit_test(test_parts_in_other_layouts),
        at_place(test_windows),
        at_place(test_far_positions),
        at_place(test_buffers),
        at_place(test_buffers_that_do_not_fit),
        at_place(test_buffers_in_other_layouts),
        at_place(test_buffers_got_meanwhile),
        at_place(test_buffers_of_many_threads),
        at_place(test_objects),
        at_place(test_reinterpret),
        at_place(test_what_is_not_reinterpreted),
        at_place(test_every_axis_counts),
        at_place(test_parts_that_do_not_fit),
        at_place(test_parts_that_share_memory),
        at_place(test_parts_of_one_blob),
        at_place(test_nothing_in_vain),
        at_place(test_objects_that_are_no_rows),
        at_place(test_parts_in_other_layouts),
    };
    return choose_place(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
