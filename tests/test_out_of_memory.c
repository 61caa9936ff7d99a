/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each allocation of each function on blobs fails once, and each call of a device: that is said, what there was is as
 * before, and nothing is leaked. The linker gives all who ask for the default allocator one that fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tessera/tessera.h>

#include "failing_allocator.h"
#include "parsed.h"
#include "remote.h"

static failing_allocator counter;

const tsr_allocator *__real_tsr_default_allocator(void);
const tsr_allocator *__wrap_tsr_default_allocator(void);

/* What failing_allocator.h takes its memory from is the real one. */
static void *allocate(void *context, size_t size_bytes, size_t alignment)
{
    (void)context;
    const tsr_allocator *system = __real_tsr_default_allocator();
    if (++counter.allocations == counter.fail_at)
        return NULL;
    counter.live++;
    return system->allocate(system->context, size_bytes, alignment);
}

static void release_memory(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    const tsr_allocator *system = __real_tsr_default_allocator();
    counter.live--;
    system->release(system->context, memory, size_bytes);
}

const tsr_allocator *__wrap_tsr_default_allocator(void)
{
    static const tsr_allocator failing = {allocate, release_memory, NULL};
    return &failing;
}

/* ---- what there is ---- */

/* Element i of the blob is first + i; it is in these layouts, and in no other. */
struct expected {
    tsr_blob *blob;
    const char *home, *other;
    float first;
    bool is_home, is_other; /* which of the two hold it, on the host */
};

enum { SEQUENCE, FRONT, BACK, IMAGE, PLANES, TURNED, MATRIX, BLOBS };

struct scene {
    tsr_plan_cache *plans;
    tsr_blob_options options;
    struct expected blobs[BLOBS];
    tsr_blob *window;
    tsr_caffe_blob *caffe, *small;
    tsr_device *remote;
};

static void put_ramp(tsr_blob *blob, const char *layout, float first)
{
    const tsr_desc desc = parsed_desc(layout);
    tsr_access access;
    assert_int_equal(tsr_blob_acquire(blob, NULL, &desc, TSR_WRITE, &access, NULL), TSR_OK);
    for (int64_t i = 0, at; i < tsr_desc_elements(&desc); i++) {
        assert_int_equal(tsr_desc_offset_linear(&desc, i, &at, NULL), TSR_OK);
        ((float *)access.data)[at] = first + (float)i;
    }
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
}

static void expect_ramp(tsr_blob *blob, const char *layout, float first)
{
    const tsr_desc desc = parsed_desc(layout);
    tsr_access access;
    tsr_error error = {0};
    if (tsr_blob_acquire(blob, NULL, &desc, TSR_READ, &access, &error) != TSR_OK)
        fail_msg("%s: %s", layout, error.message);
    for (int64_t i = 0, at; i < tsr_desc_elements(&desc); i++) {
        assert_int_equal(tsr_desc_offset_linear(&desc, i, &at, NULL), TSR_OK);
        const float found = ((const float *)access.data)[at];
        if (found != first + (float)i)
            fail_msg("element %lld of %s: expected %g, found %g", (long long)i, layout, first + (float)i, found);
    }
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
}

static tsr_caffe_shape shape_of(int axes, const int64_t *dims)
{
    tsr_caffe_shape shape;
    assert_int_equal(tsr_caffe_shape_init(&shape, axes, dims, NULL), TSR_OK);
    return shape;
}

static tsr_caffe_blob *caffe_of(const struct scene *scene, int64_t rows, const char *text)
{
    tsr_caffe_blob *blob = NULL;
    const tsr_caffe_shape shape = shape_of(2, (int64_t[]){rows, 3});
    assert_int_equal(tsr_caffe_blob_create(&blob, TSR_F32, &scene->options, NULL), TSR_OK);
    assert_int_equal(tsr_caffe_blob_reshape(blob, &shape, NULL, NULL), TSR_OK);
    put_ramp(tsr_caffe_blob_tensor(blob, TSR_CAFFE_DATA), text, 1);
    put_ramp(tsr_caffe_blob_tensor(blob, TSR_CAFFE_DIFF), text, 2);
    return blob;
}

static void open_scene(struct scene *scene, bool is_far)
{
    static const struct expected blobs[BLOBS] = {
        [SEQUENCE] = {NULL, "f32:abcdefg 4x1x1x1x1x1x6", "f32:bcdefga 4x1x1x1x1x1x6", 100, true, false},
        [FRONT] = {NULL, "f32:abcdefg 2x1x1x1x1x1x6", "f32:bcdefga 2x1x1x1x1x1x6", 200, false, true},
        [BACK] = {NULL, "f32:abcdefg 2x1x1x1x1x1x6", "f32:bcdefga 2x1x1x1x1x1x6", 300, true, false},
        [IMAGE] = {NULL, "f32:nChw8c 1x12x2x3", "f32:nhwc 1x12x2x3", 400, false, true},
        [PLANES] = {NULL, "f32:nchw 1x12x2x3", "f32:nhwc 1x12x2x3", 500, true, false},
        [TURNED] = {NULL, "f32:nchw 1x12x3x2", "f32:nhwc 1x12x3x2", 600, true, false},
        [MATRIX] = {NULL, "f32:ab 8x7", "f32:ba 8x7", 700, false, true},
    };
    *scene = (struct scene){.plans = NULL};
    assert_int_equal(tsr_plan_cache_create(&scene->plans, 64, NULL, NULL), TSR_OK);
    scene->remote = register_remote("remote");
    scene->options = (tsr_blob_options){.plans = scene->plans, .device = is_far ? scene->remote : NULL};
    for (int i = 0; i < BLOBS; i++) {
        struct expected *one = &scene->blobs[i];
        *one = blobs[i];
        const tsr_desc home = parsed_desc(one->home);
        assert_int_equal(tsr_blob_create(&one->blob, &home, &scene->options, NULL), TSR_OK);
        put_ramp(one->blob, one->is_home ? one->home : one->other, one->first);
    }
    assert_int_equal(tsr_neo_create_window(&scene->window, scene->blobs[SEQUENCE].blob, 2, NULL), TSR_OK);
    assert_int_equal(tsr_neo_set_position(scene->window, 1, NULL), TSR_OK);
    scene->caffe = caffe_of(scene, 2, "f32:ab 2x3");
    scene->small = caffe_of(scene, 1, "f32:ab 1x3");
}

static void close_scene(struct scene *scene)
{
    tsr_blob_free(&scene->window);
    for (int i = 0; i < BLOBS; i++)
        tsr_blob_free(&scene->blobs[i].blob);
    tsr_caffe_blob_free(&scene->caffe);
    tsr_caffe_blob_free(&scene->small);
    forget_remote(&scene->remote);
    tsr_plan_cache_free(&scene->plans);
}

static void expect_caffe_as_before(const tsr_caffe_blob *blob, const char *text)
{
    const tsr_caffe_shape shape = tsr_caffe_blob_shape(blob);
    assert_int_equal(shape.count, tsr_caffe_blob_capacity(blob, TSR_CAFFE_DATA));
    assert_int_equal(shape.count, tsr_caffe_blob_capacity(blob, TSR_CAFFE_DIFF));
    expect_ramp(tsr_caffe_blob_tensor(blob, TSR_CAFFE_DATA), text, 1);
    expect_ramp(tsr_caffe_blob_tensor(blob, TSR_CAFFE_DIFF), text, 2);
}

static void expect_as_before(const struct scene *scene, bool is_home)
{
    for (int i = 0; i < BLOBS; i++) {
        const struct expected *one = &scene->blobs[i];
        const tsr_desc home = parsed_desc(one->home), other = parsed_desc(one->other);
        tsr_desc desc;
        tsr_blob_get_desc(one->blob, &desc);
        assert_true(tsr_desc_equal(&desc, &home));
        assert_true(is_home || tsr_blob_holds(one->blob, NULL, one->is_other ? &other : &home));
        expect_ramp(one->blob, one->home, one->first);
    }
    assert_int_equal(tsr_blob_get_start(scene->window), 6);
    expect_caffe_as_before(scene->caffe, "f32:ab 2x3");
    expect_caffe_as_before(scene->small, "f32:ab 1x3");
}

/* ---- calls; what they make is freed again ---- */

static tsr_blob *of(const struct scene *scene, int which)
{
    return scene->blobs[which].blob;
}

static tsr_status free_again(tsr_status status, tsr_blob **made)
{
    assert_true((status == TSR_OK) == (*made != NULL));
    tsr_blob_free(made);
    return status;
}

static tsr_status create(struct scene *scene, tsr_error *error)
{
    tsr_blob *made = NULL;
    const tsr_desc desc = parsed_desc("f32:nChw8c 1x12x2x3");
    return free_again(tsr_blob_create(&made, &desc, &scene->options, error), &made);
}

static int releases;

static void count_release(void *context, void *memory)
{
    (void)context;
    (void)memory;
    releases++;
}

static tsr_status wrap(struct scene *scene, tsr_error *error)
{
    float values[6] = {0};
    tsr_blob *made = NULL;
    const tsr_desc desc = parsed_desc("f32:ab 2x3");
    (void)scene;
    releases = 0;
    tsr_status status =
        free_again(tsr_blob_wrap(&made, &desc, values, sizeof values, count_release, NULL, error), &made);
    assert_int_equal(releases, status == TSR_OK);
    return status;
}

static tsr_status create_view(struct scene *scene, tsr_error *error)
{
    tsr_blob *made = NULL;
    const tsr_desc desc = parsed_desc("f32:abcdefg 2x1x1x1x1x1x6");
    return free_again(tsr_blob_create_view(&made, of(scene, SEQUENCE), &desc, error), &made);
}

static tsr_status acquire(tsr_blob *blob, tsr_device *device, const char *layout, tsr_intent intent, tsr_error *error)
{
    const tsr_desc desc = parsed_desc(layout);
    tsr_access access = {.data = &access};
    const tsr_blob_stats before = tsr_blob_get_stats(blob);
    tsr_status status = tsr_blob_acquire(blob, device, &desc, intent, &access, error);
    const tsr_blob_stats after = tsr_blob_get_stats(blob);
    if (status == TSR_OK)
        return tsr_blob_release(&access, error);
    assert_ptr_equal(access.data, &access);
    assert_int_equal(after.representations, before.representations);
    assert_int_equal(after.acquires, before.acquires);
    assert_int_equal(after.conversions, before.conversions);
    return status;
}

static tsr_status acquire_to_read(struct scene *scene, tsr_error *error)
{
    return acquire(of(scene, PLANES), NULL, "f32:nChw8c 1x12x2x3", TSR_READ, error);
}

static tsr_status acquire_to_write(struct scene *scene, tsr_error *error)
{
    return acquire(of(scene, PLANES), NULL, "f32:nChw8c 1x12x2x3", TSR_WRITE, error);
}

static tsr_status acquire_for_both(struct scene *scene, tsr_error *error)
{
    return acquire(of(scene, MATRIX), NULL, "f32:aB4b 8x7", TSR_READ_WRITE, error);
}

static tsr_status acquire_there(struct scene *scene, tsr_error *error)
{
    return acquire(of(scene, PLANES), scene->remote, "f32:nhwc 1x12x2x3", TSR_READ, error);
}

static tsr_status acquire_of_window(struct scene *scene, tsr_error *error)
{
    return acquire(scene->window, NULL, "f32:bcdefga 2x1x1x1x1x1x6", TSR_READ_WRITE, error);
}

static tsr_status set_storage(struct scene *scene, tsr_error *error)
{
    static float values[12 * 2 * 3];
    tsr_storage *storage = NULL;
    const tsr_desc layout = parsed_desc("f32:nhwc 1x12x2x3");
    tsr_status status = tsr_storage_wrap(&storage, values, sizeof values, NULL, NULL, error);
    if (status == TSR_OK)
        status = tsr_blob_set_storage(of(scene, PLANES), &layout, storage, error);
    tsr_storage_release(&storage);
    return status;
}

static tsr_status drop(struct scene *scene, tsr_error *error)
{
    const tsr_desc desc = parsed_desc("f32:nhwc 1x12x2x3");
    return tsr_blob_drop(of(scene, IMAGE), NULL, &desc, error);
}

static tsr_status reshape_within(struct scene *scene, tsr_error *error)
{
    const tsr_desc desc = parsed_desc("f32:ab 7x8");
    return tsr_blob_reshape(of(scene, MATRIX), &desc, NULL, error);
}

static tsr_status reshape_beyond(struct scene *scene, tsr_error *error)
{
    const tsr_desc desc = parsed_desc("f32:ab 8x8");
    bool reallocated = true;
    tsr_status status = tsr_blob_reshape(of(scene, MATRIX), &desc, &reallocated, error);
    assert_true(reallocated);
    return status;
}

static tsr_status copy(struct scene *scene, tsr_error *error)
{
    return tsr_blob_copy(of(scene, PLANES), of(scene, IMAGE), error);
}

static tsr_status copy_to_window(struct scene *scene, tsr_error *error)
{
    return tsr_blob_copy(scene->window, of(scene, FRONT), error);
}

static tsr_status transpose(struct scene *scene, tsr_error *error)
{
    return tsr_blob_transpose(of(scene, TURNED), of(scene, PLANES), 2, 3, error);
}

/* Parts in two layouts, so that there are two plans. */
static tsr_status merge(struct scene *scene, tsr_error *error)
{
    tsr_blob *parts[] = {of(scene, FRONT), of(scene, BACK)};
    return tsr_blob_merge(of(scene, SEQUENCE), parts, 2, 0, error);
}

static tsr_status merge_objects(struct scene *scene, tsr_error *error)
{
    tsr_blob *parts[] = {of(scene, FRONT), of(scene, BACK)};
    return tsr_neo_merge_objects(of(scene, SEQUENCE), parts, 2, error);
}

static tsr_status merge_contents(struct scene *scene, tsr_error *error)
{
    tsr_blob *parts[] = {of(scene, SEQUENCE)};
    tsr_blob *whole = NULL;
    tsr_status status = tsr_neo_create(&whole, TSR_F32, tsr_neo_list(2, 2, 1, 6), &scene->options, error);
    if (status == TSR_OK)
        status = tsr_neo_merge_contents(whole, parts, 1, error);
    tsr_blob_free(&whole);
    return status;
}

static tsr_status split(struct scene *scene, tsr_error *error)
{
    tsr_blob *parts[] = {of(scene, FRONT), of(scene, BACK)};
    return tsr_blob_split(parts, 2, of(scene, SEQUENCE), 0, error);
}

static tsr_status split_objects(struct scene *scene, tsr_error *error)
{
    tsr_blob *parts[] = {of(scene, FRONT), of(scene, BACK)};
    return tsr_neo_split_objects(parts, 2, of(scene, SEQUENCE), error);
}

static tsr_status split_contents(struct scene *scene, tsr_error *error)
{
    tsr_blob *whole = of(scene, SEQUENCE), *parts[] = {NULL};
    tsr_status status = tsr_neo_create(&parts[0], TSR_F32, tsr_neo_list(2, 2, 1, 6), &scene->options, error);
    if (status == TSR_OK)
        status = tsr_neo_split_contents(parts, 1, whole, error);
    tsr_blob_free(&parts[0]);
    return status;
}

static tsr_status create_neo(struct scene *scene, tsr_error *error)
{
    tsr_blob *made = NULL;
    return free_again(tsr_neo_create(&made, TSR_F32, tsr_neo_data(2, 3, 4), &scene->options, error), &made);
}

static tsr_status create_window(struct scene *scene, tsr_error *error)
{
    tsr_blob *made = NULL;
    return free_again(tsr_neo_create_window(&made, of(scene, SEQUENCE), 2, error), &made);
}

static tsr_status create_object_view(struct scene *scene, tsr_error *error)
{
    tsr_blob *made = NULL;
    return free_again(tsr_neo_create_object_view(&made, of(scene, SEQUENCE), 2, error), &made);
}

static tsr_status fill_object(struct scene *scene, tsr_error *error)
{
    const float one = 1;
    return tsr_neo_fill_object(of(scene, FRONT), 1, &one, error);
}

static tsr_status clear_object(struct scene *scene, tsr_error *error)
{
    return tsr_neo_clear_object(of(scene, FRONT), 1, error);
}

static tsr_status reinterpret(struct scene *scene, tsr_error *error)
{
    return tsr_neo_reinterpret(of(scene, FRONT), tsr_neo_data(1, 3, 4), error);
}

static tsr_status exchange(struct scene *scene, tsr_error *error)
{
    tsr_neo_buffer *buffer = NULL;
    tsr_status status = tsr_neo_get_buffer(&buffer, of(scene, FRONT), 3, 5, true, error);
    if (status != TSR_OK)
        return status;
    status = tsr_neo_release_buffer(&buffer, true, error);
    if (status != TSR_OK) {
        assert_non_null(buffer); /* it is still there */
        counter.fail_at = 0;
        assert_int_equal(tsr_neo_release_buffer(&buffer, false, NULL), TSR_OK);
    }
    return status;
}

static tsr_status fill(struct scene *scene, tsr_error *error)
{
    const float one = 1;
    return tsr_blob_fill(of(scene, IMAGE), &one, error);
}

static tsr_status clear(struct scene *scene, tsr_error *error)
{
    return tsr_blob_clear(of(scene, IMAGE), error);
}

static tsr_status scale(struct scene *scene, tsr_error *error)
{
    return tsr_blob_scale(of(scene, IMAGE), 2, error);
}

static tsr_status add(struct scene *scene, tsr_error *error)
{
    return tsr_blob_add(of(scene, IMAGE), of(scene, PLANES), error);
}

static tsr_status subtract(struct scene *scene, tsr_error *error)
{
    return tsr_blob_subtract(of(scene, PLANES), of(scene, IMAGE), error);
}

static tsr_status add_up(struct scene *scene, tsr_error *error)
{
    double sum = -1;
    tsr_status status = tsr_blob_sum_of_absolutes(of(scene, IMAGE), &sum, error);
    assert_true((status == TSR_OK) == (sum != -1));
    return status;
}

static tsr_status add_up_squares(struct scene *scene, tsr_error *error)
{
    double sum = -1;
    tsr_status status = tsr_blob_sum_of_squares(of(scene, IMAGE), &sum, error);
    assert_true((status == TSR_OK) == (sum != -1));
    return status;
}

static tsr_status create_caffe(struct scene *scene, tsr_error *error)
{
    tsr_caffe_blob *made = NULL;
    tsr_status status = tsr_caffe_blob_create(&made, TSR_F32, &scene->options, error);
    tsr_caffe_blob_free(&made);
    return status;
}

static tsr_status reshape_caffe_within(struct scene *scene, tsr_error *error)
{
    const tsr_caffe_shape shape = shape_of(1, (int64_t[]){2});
    return tsr_caffe_blob_reshape(scene->caffe, &shape, NULL, error);
}

static tsr_status reshape_caffe_beyond(struct scene *scene, tsr_error *error)
{
    const tsr_caffe_shape shape = shape_of(3, (int64_t[]){2, 3, 4});
    return tsr_caffe_blob_reshape(scene->caffe, &shape, NULL, error);
}

static tsr_status set_data(struct scene *scene, tsr_error *error)
{
    static float values[6];
    return tsr_caffe_blob_set_data(scene->caffe, NULL, values, error);
}

static tsr_status share(struct scene *scene, tsr_error *error)
{
    tsr_caffe_blob *made = NULL;
    const tsr_caffe_shape shape = shape_of(1, (int64_t[]){6});
    tsr_status status = tsr_caffe_blob_create(&made, TSR_F32, &scene->options, error);
    if (status == TSR_OK)
        status = tsr_caffe_blob_reshape(made, &shape, NULL, error);
    if (status == TSR_OK)
        status = tsr_caffe_blob_share(made, scene->caffe, TSR_CAFFE_DATA, error);
    tsr_caffe_blob_free(&made);
    return status;
}

static tsr_status copy_caffe(struct scene *scene, tsr_error *error)
{
    return tsr_caffe_blob_copy(scene->small, scene->caffe, TSR_CAFFE_DATA, true, error);
}

static tsr_status copy_caffe_within(struct scene *scene, tsr_error *error)
{
    return tsr_caffe_blob_copy(scene->caffe, scene->small, TSR_CAFFE_DIFF, true, error);
}

static tsr_status update(struct scene *scene, tsr_error *error)
{
    return tsr_caffe_blob_update(scene->caffe, error);
}

static tsr_status add_up_caffe(struct scene *scene, tsr_error *error)
{
    double sum;
    tsr_status status = tsr_caffe_blob_asum(scene->caffe, TSR_CAFFE_DATA, &sum, error);
    if (status == TSR_OK)
        status = tsr_caffe_blob_sumsq(scene->caffe, TSR_CAFFE_DIFF, &sum, error);
    return status;
}

static tsr_status scale_caffe(struct scene *scene, tsr_error *error)
{
    return tsr_caffe_blob_scale(scene->caffe, TSR_CAFFE_DATA, 1, error);
}

static const double three[] = {7, 8, 9};
static const float six[] = {1, 2, 3, 4, 5, 6};

static tsr_status from_proto(struct scene *scene, tsr_error *error)
{
    const tsr_caffe_blob_proto proto = {
        .rank = 2, .dims = {1, 3}, .data = {TSR_F64, 3, three}, .diff = {TSR_F64, 3, three}};
    return tsr_caffe_blob_from_proto(scene->small, &proto, false, error);
}

static tsr_status from_proto_within(struct scene *scene, tsr_error *error)
{
    const tsr_caffe_blob_proto proto = {
        .rank = 1, .dims = {3}, .data = {TSR_F64, 3, three}, .diff = {TSR_F64, 3, three}};
    return tsr_caffe_blob_from_proto(scene->caffe, &proto, true, error);
}

static tsr_status from_proto_beyond(struct scene *scene, tsr_error *error)
{
    const tsr_caffe_blob_proto proto = {.rank = 1, .dims = {6}, .data = {TSR_F32, 6, six}, .diff = {TSR_F32, 6, six}};
    return tsr_caffe_blob_from_proto(scene->small, &proto, true, error);
}

static tsr_status register_device(struct scene *scene, tsr_error *error)
{
    (void)scene;
    tsr_status status = tsr_device_register("another", &remote_functions, NULL, error);
    return status == TSR_OK ? tsr_device_unregister("another", error) : status;
}

static void *allocate_handle(void *context, size_t size_bytes)
{
    (void)context;
    return malloc(size_bytes);
}

static bool release_handle(void *context, void *handle)
{
    (void)context;
    free(handle);
    return true;
}

static void *lock_handle(void *context, void *handle, tsr_intent intent)
{
    (void)context;
    (void)intent;
    return handle;
}

static void unlock_handle(void *context, void *handle)
{
    (void)context;
    (void)handle;
}

static tsr_status register_locking_allocator(struct scene *scene, tsr_error *error)
{
    static const tsr_locking_allocator allocator = {allocate_handle, release_handle, lock_handle, unlock_handle, NULL};
    (void)scene;
    tsr_status status = tsr_device_register_allocator("another", &allocator, error);
    return status == TSR_OK ? tsr_device_unregister("another", error) : status;
}

static tsr_status make_storage(struct scene *scene, tsr_error *error)
{
    float values[3] = {0};
    tsr_storage *here = NULL, *there = NULL, *wrapped = NULL;
    void *data;
    tsr_status status = tsr_storage_create(&here, 100, NULL, error);
    if (status == TSR_OK)
        status = tsr_storage_data(here, &data, error);
    if (status == TSR_OK)
        status = tsr_storage_create_on(&there, scene->remote, 100, error);
    if (status == TSR_OK)
        status = tsr_storage_data(there, &data, error);
    if (status == TSR_OK)
        status = tsr_storage_wrap(&wrapped, values, sizeof values, NULL, NULL, error);
    tsr_storage_release(&here);
    tsr_storage_release(&there);
    tsr_storage_release(&wrapped);
    return status;
}

static tsr_status keep_plans(struct scene *scene, tsr_error *error)
{
    tsr_plan_cache *cache = NULL;
    const tsr_plan *plan = NULL;
    const tsr_desc a = parsed_desc("f32:nchw 1x12x2x3"), b = parsed_desc("f32:nChw8c 1x12x2x3");
    (void)scene;
    tsr_status status = tsr_plan_cache_create(&cache, 1, NULL, error);
    if (status == TSR_OK)
        status = tsr_plan_cache_get(cache, &a, &b, NULL, &plan, error);
    if (status == TSR_OK)
        tsr_plan_cache_put(cache, &plan);
    assert_null(plan);
    tsr_plan_cache_free(&cache);
    return status;
}

static tsr_status write_proto(struct scene *scene, tsr_error *error)
{
    char bytes[200];
    size_t size_bytes = 0;
    tsr_status status = tsr_caffe_blob_to_proto(scene->caffe, true, bytes, sizeof bytes, &size_bytes, error);
    return status == TSR_UNSUPPORTED ? TSR_OK : status; /* a build without protobuf-c */
}

static tsr_status read_proto(struct scene *scene, tsr_error *error)
{
    static const char net[] = "\xa2\x06\x0e\x0a\x02in\x3a\x08\x2a\x04\x00\x00\x80\x3f\x08\x01";
    int ends[2];
    char path[32];
    tsr_caffe_proto *proto = NULL;
    (void)scene;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], net, sizeof net - 1), sizeof net - 1);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    tsr_status status = tsr_caffe_proto_open(&proto, TSR_CAFFE_NET_PARAMETER, path, NULL, error);
    tsr_caffe_proto_free(&proto);
    close(ends[0]);
    return status == TSR_UNSUPPORTED ? TSR_OK : status;
}

/* ---- the walk ---- */

#define KEEPS(name)                                                                                                    \
    {                                                                                                                  \
#name, name, false                                                                                             \
    }
/* To write to a view, its parent's values go home first. */
#define BRINGS_HOME(name)                                                                                              \
    {                                                                                                                  \
#name, name, true                                                                                              \
    }

static const struct call {
    const char *name;
    tsr_status (*run)(struct scene *scene, tsr_error *error);
    bool brings_home;
} calls[] = {
    KEEPS(create),
    KEEPS(wrap),
    KEEPS(create_view),
    KEEPS(acquire_to_read),
    KEEPS(acquire_to_write),
    KEEPS(acquire_for_both),
    KEEPS(acquire_there),
    BRINGS_HOME(acquire_of_window),
    KEEPS(set_storage),
    KEEPS(drop),
    KEEPS(reshape_within),
    KEEPS(reshape_beyond),
    KEEPS(copy),
    BRINGS_HOME(copy_to_window),
    KEEPS(transpose),
    KEEPS(merge),
    KEEPS(merge_objects),
    KEEPS(merge_contents),
    KEEPS(split),
    KEEPS(split_objects),
    KEEPS(split_contents),
    KEEPS(create_neo),
    KEEPS(create_window),
    KEEPS(create_object_view),
    BRINGS_HOME(fill_object),
    BRINGS_HOME(clear_object),
    KEEPS(reinterpret),
    KEEPS(exchange),
    KEEPS(fill),
    KEEPS(clear),
    KEEPS(scale),
    KEEPS(add),
    KEEPS(subtract),
    KEEPS(add_up),
    KEEPS(add_up_squares),
    KEEPS(create_caffe),
    KEEPS(reshape_caffe_within),
    KEEPS(reshape_caffe_beyond),
    KEEPS(set_data),
    KEEPS(share),
    KEEPS(copy_caffe),
    KEEPS(copy_caffe_within),
    KEEPS(update),
    KEEPS(scale_caffe),
    KEEPS(add_up_caffe),
    KEEPS(from_proto),
    KEEPS(from_proto_within),
    KEEPS(from_proto_beyond),
    KEEPS(register_device),
    KEEPS(register_locking_allocator),
    KEEPS(make_storage),
    KEEPS(keep_plans),
    KEEPS(write_proto),
    KEEPS(read_proto),
};

/* What fails at its nth call, and how that is said. */
static const struct cause {
    tsr_status status;
    bool is_device; /* a call of it, or else an allocation */
    bool is_far;    /* homes are on the device */
} memory = {TSR_OUT_OF_MEMORY, false, false}, memory_beside_device = {TSR_OUT_OF_MEMORY, false, true},
  device = {TSR_IO_ERROR, true, true};

static bool fails_at(const struct call *call, const struct cause *cause, int nth)
{
    struct scene scene;
    tsr_error error = {0};
    const int64_t live = counter.live;
    open_scene(&scene, cause->is_far);
    counter.allocations = 0;
    remote_calls = 0;
    counter.fail_at = cause->is_device ? 0 : nth;
    failing_remote_call = cause->is_device ? nth : 0;
    tsr_status status = call->run(&scene, &error);
    const bool has_failed = (cause->is_device ? remote_calls : counter.allocations) >= nth;
    counter.fail_at = 0;
    failing_remote_call = 0;
    if (has_failed) {
        assert_int_equal(status, cause->status);
        assert_true(error.message[0] != '\0');
    } else {
        assert_int_equal(status, TSR_OK);
    }
    if (has_failed)
        expect_as_before(&scene, cause->is_far && call->brings_home);
    close_scene(&scene);
    assert_int_equal(counter.live, live);
    return has_failed;
}

static void fail_everywhere(const struct cause *cause)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        int nth = 1;
        print_message("# %s\n", calls[i].name);
        while (fails_at(&calls[i], cause, nth))
            nth++;
        assert_in_range(nth, 1, 200);
    }
}

static void test_each_allocation(void **state)
{
    (void)state;
    fail_everywhere(&memory);
}

static void test_each_allocation_beside_a_device(void **state)
{
    (void)state;
    fail_everywhere(&memory_beside_device);
}

static void test_each_call_of_a_device(void **state)
{
    (void)state;
    fail_everywhere(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation),
                                       cmocka_unit_test(test_each_allocation_beside_a_device),
                                       cmocka_unit_test(test_each_call_of_a_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
