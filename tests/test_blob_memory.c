/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that a blob lives in: storage from elsewhere, what is kept, reshapes, and what happens without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blob_values.h"
#include "failing_allocator.h"

/* ---- whose it is ---- */

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
    const tsr_desc turned = parsed_desc("f32:ab 3x2");
    assert_int_equal(tsr_blob_reshape(blob, &large, NULL, &error), TSR_OUT_OF_RANGE); /* it is not ours to replace */
    expect_read(blob, NULL, 1);
    assert_int_equal(tsr_blob_reshape(blob, &turned, NULL, NULL), TSR_OK);
    expect_read(blob, NULL, 1);
    assert_int_equal(releases, 0);
    tsr_blob_free(&blob);
    assert_int_equal(releases, 1);

    tsr_storage *storage = NULL;
    assert_int_equal(tsr_storage_wrap(&storage, values, sizeof values, NULL, NULL, NULL), TSR_OK);
    blob = blob_of("f32:ab 2x3", NULL);
    assert_int_equal(tsr_blob_set_storage(blob, NULL, storage, NULL), TSR_OK);
    write_values(blob, NULL, 7);
    expect_values(values, &desc, 7);
    tsr_blob_free(&blob);
    tsr_storage_release(&storage);
}

static void test_shared_storage(void **state)
{
    (void)state;
    tsr_storage *storage = storage_of(2 * 20 * 3 * 5 * 4);
    tsr_blob *a = blob_of(nchw, &(tsr_blob_options){.storage = storage}),
             *b = blob_of(nchw, &(tsr_blob_options){.storage = storage});
    write_values(a, NULL, 5);
    expect_read(b, NULL, 5);
    tsr_blob_free(&a);
    expect_read(b, nhwc, 5);
    tsr_blob_free(&b);
    tsr_storage_release(&storage);
}

static void test_storage_elsewhere(void **state)
{
    (void)state;
    tsr_storage *storage = storage_of(2 * 20 * 3 * 5 * 4);
    tsr_device *remote = register_remote("remote");
    tsr_error error = {0};
    tsr_blob *blob = NULL;
    const tsr_desc desc = parsed_desc(nchw);
    assert_int_equal(tsr_blob_create(&blob, &desc, &(tsr_blob_options){.storage = storage, .device = remote}, &error),
                     TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected storage on device \"remote\", found some on \"host\"");
    tsr_storage_release(&storage);
    forget_remote(&remote);
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
    const tsr_desc desc = parsed_desc(nchw), blocked = parsed_desc(nChw8c);
    tsr_storage *storage = storage_of(2 * 20 * 3 * 5 * 4);
    tsr_blob *blob = blob_of(nchw, NULL), *beside = blob_of(nchw, &(tsr_blob_options){.storage = storage}),
             *view = NULL;
    write_values(blob, NULL, 1);
    expect_read(blob, nhwc, 1);
    write_values(beside, NULL, 9);
    expect_not_set(blob, &blocked, storage, TSR_OUT_OF_RANGE, "expected storage of 2880 bytes, found 2400");
    const tsr_desc other = parsed_desc("f32:nchw 2x20x3x4");
    expect_not_set(blob, &other, storage, TSR_INVALID_ARGUMENT, "expected a layout of the blob's type and dims");
    tsr_access access = acquire_home(blob, NULL, TSR_READ);
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
    expect_read(beside, NULL, 4);
    tsr_storage_release(&storage);
    tsr_blob_free(&beside);
    tsr_blob_free(&blob);
}

/* ---- what is kept ---- */

static void test_drop(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_blob *blob = blob_of(nchw, NULL);
    const tsr_desc home = parsed_desc(nchw), blocked = parsed_desc(nChw8c), last = parsed_desc(nhwc);
    write_values(blob, nChw8c, 3);
    expect_read(blob, nhwc, 3);
    assert_int_equal(tsr_blob_get_stats(blob).representations, 2);
    tsr_access access = acquire_home(blob, nhwc, TSR_READ);
    assert_int_equal(tsr_blob_drop(blob, home_device, &last, &error), TSR_BUSY);
    release(&access);
    assert_int_equal(tsr_blob_drop(blob, home_device, &blocked, NULL), TSR_OK);
    assert_int_equal(tsr_blob_drop(blob, home_device, &last, NULL), TSR_OK);
    assert_int_equal(tsr_blob_drop(blob, home_device, &last, NULL), TSR_OK); /* it is not there */
    assert_int_equal(tsr_blob_drop(blob, home_device, &home, NULL), TSR_OK); /* and that stays */
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
    assert_true(tsr_blob_holds(blob, home_device, &last));
    expect_read(blob, nChw8c, 1); /* larger than the bound by its padding */
    assert_false(tsr_blob_holds(blob, home_device, &n8) || tsr_blob_holds(blob, home_device, &last));
    write_values(blob, nChw8c, 2);
    assert_true(tsr_blob_holds(blob, home_device, &n8)); /* nothing else holds the values */
    expect_read(blob, NULL, 2);
    assert_false(tsr_blob_holds(blob, home_device, &n8));
    tsr_blob_free(&blob);
}

/* ---- what a reshape takes ---- */

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
    tsr_access access = acquire_home(blob, NULL, TSR_READ);
    tsr_error error = {0};
    assert_int_equal(tsr_blob_reshape(blob, &smaller, NULL, &error), TSR_BUSY);
    release(&access);
    assert_int_equal(tsr_blob_reshape(blob, &other, NULL, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected elements of type f32, found f16");
    assert_int_equal(tsr_blob_reshape(blob, &larger, &reallocated, NULL), TSR_OK);
    assert_true(reallocated);
    access = acquire_home(blob, NULL, TSR_READ);
    const float *values = map(&access);
    for (int i = 0; i < 25; i++)
        assert_true(values[i] == 0);
    release(&access);
    tsr_blob_free(&blob);
}

static tsr_desc most_axes(void)
{
    tsr_desc desc;
    int64_t dims[TSR_MAX_RANK];
    for (int k = 0; k < TSR_MAX_RANK; k++)
        dims[k] = k % 8 == 0 ? 3 : 1;
    assert_int_equal(tsr_desc_plain(&desc, TSR_F32, TSR_MAX_RANK, dims, NULL), TSR_OK);
    return desc;
}

/* Within the capacity, nothing is allocated. */
static void test_reshape_in_place(void **state)
{
    (void)state;
    failing_allocator counter = {0};
    const tsr_allocator allocator = failing_allocator_of(&counter);
    tsr_blob *blob = blob_of("f32:a 120", &(tsr_blob_options){.allocator = &allocator});
    static const char *const shapes[] = {"f32:abcd 5x4x3x2", "f32:acdb 1x2x3x4", "f32:ab 7x11",
                                         "f32:a 120",        "f32:aBc4b 2x6x5",  "f32:abcdefg 5x2x2x1x3x1x2"};
    enum { SHAPES = sizeof shapes / sizeof *shapes };
    write_values(blob, NULL, 1);
    for (size_t i = 0; i <= SHAPES; i++) {
        const int before = counter.allocations;
        const tsr_desc desc = i < SHAPES ? parsed_desc(shapes[i]) : most_axes();
        bool reallocated = true;
        assert_int_equal(tsr_blob_reshape(blob, &desc, &reallocated, NULL), TSR_OK);
        assert_false(reallocated);
        assert_int_equal(counter.allocations, before);
        tsr_desc found;
        tsr_blob_get_desc(blob, &found);
        assert_true(tsr_desc_equal(&found, &desc));
        write_values(blob, NULL, (float)i);
        expect_read(blob, NULL, (float)i);
        if (!home_device)
            assert_int_equal(counter.allocations, before); /* a device may need some to zero padding */
    }
    tsr_desc gaps = most_axes();
    const int before = counter.allocations;
    gaps.strides[gaps.levels - 1] = 2; /* so that no stride follows from others */
    assert_int_equal(tsr_blob_reshape(blob, &gaps, NULL, NULL), TSR_OK);
    assert_int_equal(counter.allocations, before);
    tsr_blob_free(&blob);
    assert_int_equal(counter.live, 0);
}

/* ---- how much there is ---- */

/* Dense, with as many levels as there can be, eight of which are too long for a byte, and as many cells. */
static tsr_desc most_levels(void)
{
    tsr_desc desc;
    int64_t dims[TSR_MAX_RANK], block_dims[TSR_MAX_LEVELS];
    int order[TSR_MAX_LEVELS];
    for (int i = 0; i < TSR_MAX_LEVELS; i++) {
        order[i] = i % TSR_MAX_RANK;
        block_dims[i] = i % 4 || i >= TSR_MAX_RANK ? 1 : 128;
        dims[order[i]] = block_dims[order[i]];
    }
    const tsr_blocking blocking = {.levels = TSR_MAX_LEVELS, .block_dims = block_dims, .order = order};
    assert_int_equal(tsr_desc_blocked(&desc, TSR_U8, TSR_MAX_RANK, dims, &blocking, NULL), TSR_OK);
    return desc;
}

/* Each of its axes has a gap behind it, and is too long for the stride to be short. */
static tsr_desc most_gaps(void)
{
    tsr_desc desc;
    int64_t dims[15], strides[15], stride = INT64_C(1) << 62;
    for (int k = 0; k < 15; k++, stride /= 8) {
        dims[k] = 2;
        strides[k] = stride;
    }
    assert_int_equal(tsr_desc_strided(&desc, TSR_U8, 15, dims, strides, 0, NULL), TSR_OK);
    return desc;
}

/* As many axes as there can be, in front of 26 of which is a gap of 2^26 elements. */
static tsr_desc many_gaps(void)
{
    tsr_desc desc;
    int64_t dims[TSR_MAX_RANK], strides[TSR_MAX_RANK], stride = 1;
    for (int k = TSR_MAX_RANK - 1; k >= 0; k--) {
        dims[k] = 2;
        strides[k] = stride;
        stride = 2 * stride + (k < 26 ? INT64_C(1) << 26 : 0);
    }
    assert_int_equal(tsr_desc_strided(&desc, TSR_U8, TSR_MAX_RANK, dims, strides, 0, NULL), TSR_OK);
    return desc;
}

/* Memory that nobody has asked for is none. */
static void test_overhead_of_the_largest(void **state)
{
    (void)state;
    const tsr_desc layouts[] = {most_axes(), most_levels(), most_gaps(), many_gaps()};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        failing_allocator counter = {0};
        const tsr_allocator allocator = failing_allocator_of(&counter);
        tsr_blob *blob = NULL;
        tsr_desc found;
        assert_int_equal(tsr_blob_create(&blob, &layouts[i], &(tsr_blob_options){.allocator = &allocator}, NULL),
                         TSR_OK);
        assert_in_range(counter.live_bytes, 1, 512);
        tsr_blob_get_desc(blob, &found);
        assert_true(tsr_desc_equal(&found, &layouts[i]));
        tsr_blob_free(&blob);
        assert_int_equal(counter.live, 0);
    }
}

static void expect_unsupported(tsr_status status, const tsr_error *error)
{
    assert_int_equal(status, TSR_UNSUPPORTED);
    assert_string_equal(error->message,
                        "expected a layout whose arrays take at most 184 bytes to write down, found one of 352");
}

/* What takes more is refused, wherever a blob is told of a layout, and it is as before. */
static void test_layouts_too_large(void **state)
{
    (void)state;
    failing_allocator counter = {0};
    const tsr_allocator allocator = failing_allocator_of(&counter);
    const tsr_blob_options options = {.allocator = &allocator, .device = home_device};
    const tsr_desc small = most_axes();
    tsr_desc large = small, found;
    tsr_blob *blob = NULL, *none = NULL;
    tsr_storage *storage = NULL;
    tsr_access access;
    tsr_error error;
    for (int i = 0; i < large.levels; i++)
        if (large.block_dims[i] == 1)
            large.strides[i] = INT64_C(1) << (60 - i % 2); /* which nobody goes along */
    assert_int_equal(tsr_desc_check(&large, false, NULL), TSR_OK);
    expect_unsupported(tsr_blob_create(&none, &large, &options, &error), &error);
    assert_null(none);
    assert_int_equal(counter.live, 0);

    assert_int_equal(tsr_blob_create(&blob, &small, &options, NULL), TSR_OK);
    assert_int_equal(tsr_storage_create_on(&storage, home_device ? home_device : tsr_device_host(),
                                           (size_t)tsr_desc_size_bytes(&large), NULL),
                     TSR_OK);
    const int before = counter.allocations;
    expect_unsupported(tsr_blob_reshape(blob, &large, NULL, &error), &error);
    expect_unsupported(tsr_blob_create_view(&none, blob, &large, &error), &error);
    expect_unsupported(tsr_blob_acquire(blob, home_device, &large, TSR_WRITE, &access, &error), &error);
    expect_unsupported(tsr_blob_set_storage(blob, &large, storage, &error), &error);
    assert_null(none);
    assert_int_equal(counter.allocations, before);
    tsr_blob_get_desc(blob, &found);
    assert_true(tsr_desc_equal(&found, &small));
    write_values(blob, NULL, 1);
    expect_read(blob, NULL, 1);
    tsr_storage_release(&storage);
    tsr_blob_free(&blob);
    assert_int_equal(counter.live, 0);
}

/* A handle is small: what it has beyond its data, with one representation. */
static void test_overhead(void **state)
{
    static const char *const layouts[] = {
        "f32:scalar scalar",          nchw, nChw16c, "f32:abcdefg 2x1x1x3x4x1x5", "f32:ABcd16b16a2b 40x40x3x3",
        "s4:abcdefgh 1x2x3x4x5x6x7x8"};
    enum { LAYOUTS = sizeof layouts / sizeof *layouts };
    (void)state;
    for (size_t i = 0; i <= LAYOUTS; i++) {
        failing_allocator counter = {0};
        const tsr_allocator allocator = failing_allocator_of(&counter);
        const tsr_desc desc = i < LAYOUTS ? parsed_desc(layouts[i]) : most_axes();
        tsr_blob *blob = NULL;
        assert_int_equal(
            tsr_blob_create(&blob, &desc, &(tsr_blob_options){.allocator = &allocator, .device = home_device}, NULL),
            TSR_OK);
        tsr_access access = acquire_home(blob, NULL, TSR_WRITE);
        release(&access);
        const int64_t data = home_device ? 0 : tsr_desc_size_bytes(&desc); /* which a device has */
        assert_in_range(counter.live_bytes, data + 1, data + 512);
        tsr_blob_free(&blob);
        assert_int_equal(counter.live, 0);
    }
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
        const tsr_blob_options options = {.allocator = &allocator, .plans = plans, .device = home_device};
        if (status == TSR_OK)
            status = tsr_blob_create(&blob, &home, &options, &error);
        tsr_access access;
        if (status == TSR_OK)
            status = tsr_blob_acquire(blob, home_device, NULL, TSR_WRITE, &access, &error);
        if (status == TSR_OK) {
            put_values(map(&access), &home, 6);
            release(&access);
            status = tsr_blob_acquire(blob, home_device, &blocked, TSR_READ, &access, &error);
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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrapped),
        cmocka_unit_test(test_shared_storage),
        cmocka_unit_test(test_storage_elsewhere),
        cmocka_unit_test(test_set_storage),
        cmocka_unit_test(test_drop),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_reshape),
        cmocka_unit_test(test_reshape_in_place),
        cmocka_unit_test(test_overhead_of_the_largest),
        cmocka_unit_test(test_layouts_too_large),
        cmocka_unit_test(test_overhead),
        cmocka_unit_test(test_out_of_memory),
        at_place(test_shared_storage),
        at_place(test_set_storage),
        at_place(test_drop),
        at_place(test_bound),
        at_place(test_reshape),
        at_place(test_reshape_in_place),
        at_place(test_layouts_too_large),
        at_place(test_overhead),
        at_place(test_out_of_memory),
    };
    return choose_place(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
