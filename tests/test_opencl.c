/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of OpenCL, and reorders on them against the definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/tessera.h>

#include "device_memory.h"
#include "opencl.h"
#include "parsed.h"
#include "random.h"
#include "remote.h"
#include "workload.h"

/* ---- names ---- */

static void test_names(void **state)
{
    (void)state;
    tsr_device *device = NULL, *again = NULL;
    tsr_error error = {0};
    static const char begin[] = "there is no device \"opencl:1000\"; there are \"host\"";
    const bool is_there = tsr_device_find("opencl", &device, NULL) == TSR_OK;
    assert_int_equal(tsr_device_find("opencl:1000", &again, &error), TSR_UNSUPPORTED);
    assert_memory_equal(error.message, begin, strlen(begin));
    assert_int_equal(strstr(error.message, ", \"opencl\"") != NULL, is_there);
    assert_int_equal(tsr_device_find("opencl:0", &again, NULL), TSR_UNSUPPORTED);
    assert_null(again);
    if (!is_there)
        return;
    assert_string_equal(tsr_device_name(device), "opencl");
    assert_int_equal(tsr_device_find("opencl", &again, NULL), TSR_OK);
    assert_ptr_equal(again, device);
    tsr_device_release(&again);
    tsr_device_release(&device);
}

/* Where there is none, a request for one is an error, and all else works. */
static void test_absent(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_device *device = NULL;
    assert_int_equal(tsr_device_find("opencl", &device, &error), TSR_UNSUPPORTED);
    assert_string_equal(error.message, "there is no device \"opencl\"; there are \"host\"");
    assert_null(device);
    expect_ok(tsr_device_find("host", &device, &error), &error);
    assert_ptr_equal(device, tsr_device_host());
    tsr_device_release(&device);

    const tsr_desc planar = parsed_desc("f32:nchw 1x3x2x2"), blocked = parsed_desc("f32:nChw8c 1x3x2x2");
    tsr_blob *blob = NULL;
    tsr_access access = {0};
    device = register_remote("remote");
    expect_ok(tsr_blob_create(&blob, &planar, NULL, &error), &error);
    expect_ok(tsr_blob_fill(blob, &(float){3}, &error), &error);
    expect_ok(tsr_blob_acquire(blob, device, &blocked, TSR_READ, &access, &error), &error);
    expect_ok(tsr_access_map(&access, &(void *){NULL}, &error), &error);
    assert_true(((const float *)access.mapped)[2] == 3 && ((const float *)access.mapped)[3] == 0);
    expect_ok(tsr_blob_release(&access, &error), &error);
    tsr_blob_free(&blob);
    forget_remote(&device);
}

/* ---- memory ---- */

static void fill(const tsr_device *device, void *memory, size_t offset, size_t size_bytes, unsigned char byte)
{
    tsr_error error = {0};
    expect_ok(device->does.fill(device->context, memory, offset, size_bytes, byte, &error), &error);
}

static unsigned char *map(const tsr_device *device, void *memory, size_t offset, size_t size_bytes, tsr_intent intent)
{
    void *host = NULL;
    tsr_error error = {0};
    expect_ok(device->does.map(device->context, memory, offset, size_bytes, intent, &host, &error), &error);
    return host;
}

static void unmap(const tsr_device *device, void *memory, void *host)
{
    tsr_error error = {0};
    expect_ok(device->does.unmap(device->context, memory, host, &error), &error);
}

static void expect_bytes(const tsr_device *device, const void *memory, const char *expected)
{
    char found[64];
    assert_in_range(strlen(expected), 1, sizeof found);
    copy_out(device, found, memory, 0, strlen(expected));
    assert_memory_equal(found, expected, strlen(expected));
}

static void test_copies(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_device *device = find_opencl();
    void *a = allocate(device, 10), *b = allocate(device, 7);
    copy_in(device, a, 0, "0123456789", 10);
    copy_in(device, a, 3, "abcd", 4);
    copy_in(device, a, 9, "", 0);
    expect_bytes(device, a, "012abcd789");
    fill(device, b, 0, 7, '.');
    fill(device, b, 5, 1, '!');
    fill(device, b, 6, 0, '?');
    expect_bytes(device, b, ".....!.");
    expect_ok(device->does.copy_within(device->context, b, 1, a, 2, 3, &error), &error);
    expect_ok(device->does.copy_within(device->context, b, 0, a, 0, 0, &error), &error);
    expect_bytes(device, b, ".2ab.!.");
    char part[] = "xxxx";
    copy_out(device, part, b, 2, 2);
    copy_out(device, part, b, 0, 0);
    assert_string_equal(part, "abxx");
    expect_ok(tsr_device_synchronise(device, &error), &error);
    device->does.release(device->context, a, 10);
    device->does.release(device->context, b, 7);
    tsr_device_release(&device);
}

static void test_maps(void **state)
{
    (void)state;
    tsr_device *device = find_opencl();
    void *memory = allocate(device, 8);
    unsigned char *host = map(device, memory, 0, 8, TSR_WRITE);
    memcpy(host, "01234567", 8);
    unmap(device, memory, host);
    expect_bytes(device, memory, "01234567");
    host = map(device, memory, 0, 8, TSR_READ_WRITE);
    assert_memory_equal(host, "01234567", 8);
    host[4] = 'x';
    unmap(device, memory, host);
    host = map(device, memory, 0, 8, TSR_READ);
    assert_memory_equal(host, "0123x567", 8);
    unsigned char *also = map(device, memory, 0, 8, TSR_READ); /* readers do not exclude each other */
    assert_memory_equal(also, "0123x567", 8);
    unmap(device, memory, host);
    unmap(device, memory, also);
    host = map(device, memory, 5, 2, TSR_READ_WRITE);
    assert_memory_equal(host, "56", 2);
    host[1] = 'y';
    unmap(device, memory, host);
    expect_bytes(device, memory, "0123x5y7");
    device->does.release(device->context, memory, 8);
    tsr_device_release(&device);
}

static void test_failures(void **state)
{
    (void)state;
    char byte = 0;
    tsr_error error = {0};
    tsr_device *device = find_opencl();
    void *memory = allocate(device, 8), *none = NULL;
    assert_int_equal(device->does.allocate(device->context, (size_t)1 << 60, &none, &error), TSR_OUT_OF_MEMORY);
    assert_string_equal(error.message, "clCreateBuffer failed with code -61");
    assert_int_equal(device->does.copy_in(device->context, memory, 8, &byte, 1, &error), TSR_IO_ERROR);
    assert_string_equal(error.message, "clEnqueueWriteBuffer failed with code -30");
    assert_int_equal(device->does.copy_out(device->context, &byte, memory, 8, 1, &error), TSR_IO_ERROR);
    assert_string_equal(error.message, "clEnqueueReadBuffer failed with code -30");
    assert_int_equal(device->does.copy_within(device->context, memory, 0, memory, 8, 1, &error), TSR_IO_ERROR);
    assert_string_equal(error.message, "clEnqueueCopyBuffer failed with code -30");
    assert_int_equal(device->does.fill(device->context, memory, 8, 1, 0, &error), TSR_IO_ERROR);
    assert_string_equal(error.message, "clEnqueueFillBuffer failed with code -30");
    assert_int_equal(device->does.map(device->context, memory, 1, 8, TSR_READ, &none, &error), TSR_IO_ERROR);
    assert_string_equal(error.message, "clEnqueueMapBuffer failed with code -30");
    assert_int_equal(device->does.unmap(device->context, memory, &byte, &error), TSR_IO_ERROR);
    assert_string_equal(error.message, "clEnqueueUnmapMemObject failed with code -30");
    device->does.release(device->context, memory, 8);
    tsr_device_release(&device);
}

/* ---- reorders ---- */

/* Memory of the host, of at least one byte, each with a value that no padding has. */
static unsigned char *new_bytes(size_t size_bytes)
{
    unsigned char *made = malloc(size_bytes + 1);
    assert_non_null(made);
    return memset(made, 0xa5, size_bytes + 1);
}

static void fail_with_problem(const tsr_desc *src, const tsr_desc *dst, const char *message)
{
    static char text[TSR_TEXT_SIZE];
    tsr_problem problem = {.src = *src,
                           .dst = *dst,
                           .scale_axis = TSR_ATTRIBUTE_NONE,
                           .mean_axis = TSR_ATTRIBUTE_NONE,
                           .shift_axis = TSR_ATTRIBUTE_NONE};
    tsr_problem_print(&problem, text, sizeof text);
    fail_msg("%s: %s", text, message);
}

/* TSR_OK if every byte is as the definition has it, TSR_UNSUPPORTED if the device does not do it; or a message. */
static tsr_status compare(const tsr_device *device, const tsr_desc *src_desc, const void *src, const tsr_desc *dst_desc,
                          tsr_error *error)
{
    const size_t size_bytes = bytes_of(dst_desc);
    unsigned char *expected = new_bytes(size_bytes), *found = new_bytes(size_bytes);
    tsr_status status = tsr_reorder_by_definition(src_desc, src, dst_desc, expected, NULL, error);
    if (status == TSR_OK)
        status = reorder_on(device, src_desc, src, dst_desc, found, error);
    for (size_t i = 0; status == TSR_OK && i <= size_bytes; i++)
        if (found[i] != expected[i]) {
            snprintf(error->message, sizeof error->message, "byte %zu: expected %d, found %d", i, expected[i],
                     found[i]);
            status = TSR_IO_ERROR;
        }
    free(expected);
    free(found);
    return status;
}

/* False if the device does not do it. */
static bool check_reorder(const tsr_device *device, const tsr_desc *src_desc, const void *src, const tsr_desc *dst_desc)
{
    tsr_error error = {0};
    tsr_status status = compare(device, src_desc, src, dst_desc, &error);
    if (status != TSR_OK && status != TSR_UNSUPPORTED)
        fail_with_problem(src_desc, dst_desc, error.message);
    return status == TSR_OK;
}

/* Whatever a tensor had in its padding, now there are zeros; everything else is as it was. False if the device
 * does not do it. */
static bool check_padding(const tsr_device *device, const tsr_desc *desc)
{
    const size_t size_bytes = bytes_of(desc);
    unsigned char *expected = new_bytes(size_bytes), *found = new_bytes(size_bytes);
    void *memory = allocate(device, size_bytes + 1);
    tsr_error error = {0};
    fill_awkward(found, size_bytes, 2);
    memcpy(expected, found, size_bytes);
    expect_ok(tsr_reorder_by_definition(desc, found, desc, expected, NULL, &error), &error);
    copy_in(device, memory, 0, found, size_bytes + 1);
    tsr_status status = device->does.zero_padding(device->context, desc, memory, &error);
    copy_out(device, found, memory, 0, size_bytes + 1);
    if (status != TSR_UNSUPPORTED)
        expect_ok(status, &error);
    if (status == TSR_OK && memcmp(found, expected, size_bytes + 1) != 0)
        fail_with_problem(desc, desc, "padding is not zero, or something else is");
    device->does.release(device->context, memory, size_bytes + 1);
    free(expected);
    free(found);
    return status == TSR_OK;
}

static void check_text(const tsr_device *device, const char *src_text, const char *dst_text)
{
    const tsr_desc src_desc = parsed_desc(src_text), dst_desc = parsed_desc(dst_text);
    unsigned char *src = new_bytes(bytes_of(&src_desc));
    fill_awkward(src, bytes_of(&src_desc), 1);
    if (!check_reorder(device, &src_desc, src, &dst_desc))
        fail_with_problem(&src_desc, &dst_desc, "the device does not do it");
    free(src);
}

static const tsr_dtype converted[] = {TSR_F32, TSR_F16, TSR_U8, TSR_S8};
enum { CONVERTED = sizeof converted / sizeof *converted };

/* All bits of 8 and 16; of 32 all upper halves, which have the sign, the exponent and what is left of the rest in
 * 16, with some lower ones. */
static void test_every_value(void **state)
{
    static const uint16_t lower[] = {0,      1,      0x0fff, 0x1000, 0x1001, 0x2fff,
                                     0x3000, 0x3001, 0x7fff, 0x8000, 0x8001, 0xffff};
    enum { VALUES = 1 << 16, LOWER = sizeof lower / sizeof *lower };
    (void)state;
    tsr_device *device = find_opencl();
    uint32_t *src = malloc(VALUES * sizeof *src);
    assert_non_null(src);
    for (int from = 0; from < CONVERTED; from++)
        for (int to = 0; to < CONVERTED; to++)
            for (int k = 0; k < (converted[from] == TSR_F32 ? LOWER : 1); k++) {
                const int64_t values[] = {VALUES};
                tsr_desc src_desc, dst_desc;
                tsr_error error = {0};
                expect_ok(tsr_desc_plain(&src_desc, converted[from], 1, values, &error), &error);
                expect_ok(tsr_desc_plain(&dst_desc, converted[to], 1, values, &error), &error);
                for (uint32_t i = 0; i < VALUES; i++)
                    if (converted[from] == TSR_F32)
                        src[i] = i << 16 | lower[k];
                    else if (converted[from] == TSR_F16)
                        ((uint16_t *)src)[i] = (uint16_t)i;
                    else
                        ((uint8_t *)src)[i] = (uint8_t)i;
                assert_true(check_reorder(device, &src_desc, src, &dst_desc));
            }
    free(src);
    tsr_device_release(&device);
}

static void test_layouts(void **state)
{
    static const char *const layouts[] = {"nchw", "nhwc", "nChw8c", "nChw16c", "chwn"};
    static const char *const dims[] = {"2x20x3x5", "1x16x16x16", "3x17x15x33", "2x1x1x1", "1x64x7x31"};
    enum { LAYOUTS = sizeof layouts / sizeof *layouts, DIMS = sizeof dims / sizeof *dims };
    (void)state;
    tsr_device *device = find_opencl();
    for (int d = 0; d < DIMS; d++)
        for (int from = 0; from < LAYOUTS; from++)
            for (int to = 0; to < LAYOUTS; to++) {
                const char *src_type = tsr_dtype_name(converted[(d + from) % CONVERTED]),
                           *dst_type = tsr_dtype_name(converted[to % CONVERTED]);
                char src[64], dst[64];
                snprintf(src, sizeof src, "f32:%s %s", layouts[from], dims[d]);
                snprintf(dst, sizeof dst, "f32:%s %s", layouts[to], dims[d]);
                check_text(device, src, dst);
                snprintf(src, sizeof src, "%s:%s %s", src_type, layouts[from], dims[d]);
                snprintf(dst, sizeof dst, "%s:%s %s", dst_type, layouts[to], dims[d]);
                check_text(device, src, dst);
            }
    tsr_device_release(&device);
}

/* Tiles of a transpose end wherever they may. */
static void test_transposes(void **state)
{
    static const int sizes[] = {8, 15, 16, 17, 31, 32, 33, 100};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    (void)state;
    tsr_device *device = find_opencl();
    for (int i = 0; i < SIZES; i++)
        for (int k = 0; k < SIZES; k++) {
            char src[64], dst[64];
            snprintf(src, sizeof src, "s32:ab %dx%d", sizes[i], sizes[k]);
            snprintf(dst, sizeof dst, "s32:ba %dx%d", sizes[i], sizes[k]);
            check_text(device, src, dst);
            snprintf(src, sizeof src, "f32:abcd 3x%dx2x%d", sizes[i], sizes[k]);
            snprintf(dst, sizeof dst, "f32:cdab 3x%dx2x%d", sizes[i], sizes[k]);
            check_text(device, src, dst);
        }
    tsr_device_release(&device);
}

static void test_padding(void **state)
{
    static const char *const texts[] = {"f32:nchw 2x20x3x5", "f32:nChw16c 2x20x3x5", "u8:nChw8c 3x17x15x33",
                                        "f64:OIhw4i16o4i 17x13x3x3", "f16:nChw16c 2x0x3x5",
                                        /* in so many pieces that they overlap */
                                        "u8:ABCDEFGHI2a2b2c2d2e2f2g2h2i 3x3x3x3x3x3x3x3x3"};
    enum { TEXTS = sizeof texts / sizeof *texts };
    (void)state;
    tsr_error error = {0};
    tsr_device *device = find_opencl();
    for (int i = 0; i < TEXTS; i++) {
        const tsr_desc desc = parsed_desc(texts[i]);
        assert_true(check_padding(device, &desc));
    }
    const tsr_desc packed = parsed_desc("u4:nChw8c 1x3x2x2");
    assert_int_equal(device->does.zero_padding(device->context, &packed, NULL, &error), TSR_UNSUPPORTED);
    assert_string_equal(error.message, "OpenCL does not zero the padding of u4");
    tsr_device_release(&device);
}

/* Any descriptors, of any type for a copy, and of the four that are converted. Most are done on the device. */
static void test_random(void **state)
{
    enum { MAX_RANK = 6, MAX_ELEMENTS = 1500 };
    (void)state;
    tsr_device *device = find_opencl();
    tsr_random random;
    tsr_random_seed_from_environment(&random);
    const int cases = tsr_random_cases(300);
    int done = 0;
    for (int i = 0; i < cases; i++) {
        int64_t dims[TSR_MAX_RANK];
        const int rank = (int)tsr_random_range(&random, tsr_random_chance(&random, 50) ? 0 : 1, MAX_RANK);
        const bool converts = tsr_random_chance(&random, 2);
        tsr_random_options options = {.max_blocks = 3,
                                      .max_elements = 4 * MAX_ELEMENTS,
                                      .strided = tsr_random_chance(&random, 2),
                                      .offset = tsr_random_chance(&random, 2),
                                      .pad_before = tsr_random_chance(&random, 4),
                                      .spare = tsr_random_chance(&random, 4)};
        tsr_dtype from = (tsr_dtype)tsr_random_range(&random, TSR_F32, TSR_NF4), to = from;
        if (converts) {
            from = converted[tsr_random_range(&random, 0, CONVERTED - 1)];
            to = converted[tsr_random_range(&random, 0, CONVERTED - 1)];
        }
        tsr_random_dims(&random, rank, MAX_ELEMENTS, dims);
        const tsr_desc dst_desc = tsr_random_desc(&random, to, rank, dims, &options);
        options.broadcast = tsr_random_chance(&random, 6);
        options.max_blocks = tsr_random_chance(&random, 3) ? 0 : 3;
        const tsr_desc src_desc = tsr_random_desc(&random, from, rank, dims, &options);
        unsigned char *src = new_bytes(bytes_of(&src_desc));
        fill_awkward(src, bytes_of(&src_desc), (uint64_t)i);
        done += check_reorder(device, &src_desc, src, &dst_desc);
        assert_true(check_padding(device, &dst_desc) || tsr_dtype_bits(to) < 8);
        free(src);
    }
    print_message("# %d of %d on the device\n", done, cases);
    assert_in_range(done, cases / 2, cases);
    tsr_device_release(&device);
}

static void expect_not_done(const tsr_device *device, const char *src_text, const char *dst_text, const char *message)
{
    const tsr_desc src_desc = parsed_desc(src_text), dst_desc = parsed_desc(dst_text);
    unsigned char *src = new_bytes(bytes_of(&src_desc)), *dst = new_bytes(bytes_of(&dst_desc));
    tsr_error error = {0};
    assert_int_equal(reorder_on(device, &src_desc, src, &dst_desc, dst, &error), TSR_UNSUPPORTED);
    assert_string_equal(error.message, message);
    free(src);
    free(dst);
}

static void test_left_to_the_host(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_device *device = find_opencl();
    const tsr_desc desc = parsed_desc("f32:ab 4x5"), turned = parsed_desc("f32:ba 4x5");
    expect_not_done(device, "f32:ab 4x5", "f64:ab 4x5", "OpenCL does not convert f32 to f64, or in place");
    expect_not_done(device, "u4:ab 4x5", "u4:ba 4x5", "OpenCL does not convert u4 to u4, or in place");
    expect_not_done(device, "f32:Ab4a 7x5", "f32:Ab3a 7x5", "expected at most 16 loops and no tables on OpenCL");
    void *memory = allocate(device, 80);
    assert_int_equal(device->does.reorder(device->context, &desc, memory, &turned, memory, &error), TSR_UNSUPPORTED);
    device->does.release(device->context, memory, 80);
    tsr_device_release(&device);
}

/* ---- what is done once, or not at all ---- */

/* A problem that was lowered is found again. */
static void test_kept_plans(void **state)
{
    (void)state;
    tsr_device *device = find_opencl();
    check_text(device, "f32:nchw 1x21x3x7", "f32:nChw8c 1x21x3x7");
    const tsr_plan_cache_stats before = tsr_plan_cache_get_stats(NULL);
    check_text(device, "f32:nchw 1x21x3x7", "f32:nChw8c 1x21x3x7");
    const tsr_plan_cache_stats after = tsr_plan_cache_get_stats(NULL);
    assert_int_equal(after.hits, before.hits + 1);
    assert_int_equal(after.misses, before.misses);
    tsr_device_release(&device);
}

static const tsr_device *counted_device;
static int maps;

static tsr_status count_map(void *context, void *memory, size_t offset, size_t size_bytes, tsr_intent intent,
                            void **host, tsr_error *error)
{
    maps++;
    return counted_device->does.map(context, memory, offset, size_bytes, intent, host, error);
}

/* The same device under another name, which counts its maps. */
static tsr_device *register_counted(const tsr_device *device)
{
    tsr_device *counted = NULL;
    tsr_device_functions functions = device->does;
    tsr_error error = {0};
    functions.map = count_map;
    functions.destroy = NULL;
    counted_device = device;
    maps = 0;
    expect_ok(tsr_device_register("counted", &functions, device->context, &error), &error);
    expect_ok(tsr_device_find("counted", &counted, &error), &error);
    return counted;
}

/* What a writer left in the padding is zeroed where it is, and so is that of a conversion. */
static void test_nothing_is_mapped(void **state)
{
    const tsr_desc blocked = parsed_desc("f32:nChw16c 2x20x3x5"), narrow = parsed_desc("f32:nChw8c 2x20x3x5");
    (void)state;
    tsr_error error = {0};
    tsr_blob *blob = NULL;
    tsr_access access;
    tsr_device *device = find_opencl(), *counted = register_counted(device);
    expect_ok(tsr_blob_create(&blob, &blocked, NULL, &error), &error);
    expect_ok(tsr_blob_acquire(blob, counted, &blocked, TSR_WRITE, &access, &error), &error);
    fill(counted, access.data, 0, bytes_of(&blocked), 0xff);
    expect_ok(tsr_blob_release(&access, &error), &error);
    expect_ok(tsr_blob_acquire(blob, counted, &blocked, TSR_READ, &access, &error), &error);
    expect_ok(tsr_blob_release(&access, &error), &error);
    expect_ok(tsr_blob_acquire(blob, counted, &narrow, TSR_READ, &access, &error), &error);
    expect_ok(tsr_blob_release(&access, &error), &error);
    assert_int_equal(tsr_blob_get_stats(blob).padding_zeroed, 1);
    assert_int_equal(tsr_blob_get_stats(blob).conversions, 1);
    assert_int_equal(tsr_blob_get_stats(blob).transfers, 0);
    assert_int_equal(maps, 0);
    tsr_blob_free(&blob);
    assert_int_equal(tsr_device_unregister("counted", NULL), TSR_OK);
    tsr_device_release(&counted);
    tsr_device_release(&device);
}

/* ---- many threads ---- */

enum { THREADS = 4 };

/* How many threads that do the same at once return something? */
static int count_successes(void *(*run)(void *argument), void *argument)
{
    pthread_t threads[THREADS];
    int right = 0;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run, argument), 0);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        right += result != NULL;
    }
    return right;
}

static void *reorder_often(void *argument)
{
    static const float src[2 * 20 * 3 * 5] = {1, -2, 3.5f, 300};
    const tsr_device *device = argument;
    const tsr_desc planar = parsed_desc("f32:nchw 2x20x3x5"), blocked = parsed_desc("f32:nChw16c 2x20x3x5"),
                   narrow = parsed_desc("u8:nhwc 2x20x3x5");
    tsr_error error;
    bool is_right = true;
    for (int i = 0; i < 20 && is_right; i++)
        is_right = compare(device, &planar, src, &blocked, &error) == TSR_OK &&
                   compare(device, &planar, src, &narrow, &error) == TSR_OK;
    return is_right ? argument : NULL;
}

/* The first of them opens the device. */
static void test_threads(void **state)
{
    (void)state;
    tsr_device *device = find_opencl();
    assert_int_equal(count_successes(reorder_often, device), THREADS);
    tsr_device_release(&device);
}

/* Memory that many threads read at once. */
struct shared_memory {
    const tsr_device *device;
    void *memory;
};

static void *map_often(void *argument)
{
    const struct shared_memory *shared = argument;
    for (int i = 0; i < 1000; i++) {
        unsigned char *host = map(shared->device, shared->memory, 0, 8, TSR_READ);
        const bool is_right = memcmp(host, "01234567", 8) == 0;
        unmap(shared->device, shared->memory, host);
        if (!is_right)
            return NULL;
    }
    return argument;
}

static void test_maps_of_many_threads(void **state)
{
    (void)state;
    tsr_device *device = find_opencl();
    struct shared_memory shared = {device, allocate(device, 8)};
    copy_in(device, shared.memory, 0, "01234567", 8);
    assert_int_equal(count_successes(map_often, &shared), THREADS);
    device->does.release(device->context, shared.memory, 8);
    tsr_device_release(&device);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest names[] = {cmocka_unit_test(test_names)};
    const struct CMUnitTest absent[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_absent)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_maps_of_many_threads),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_every_value),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_transposes),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_left_to_the_host),
        cmocka_unit_test(test_padding),
        cmocka_unit_test(test_kept_plans),
        cmocka_unit_test(test_nothing_is_mapped),
    };
    if (argc > 1 && strcmp(argv[1], "names") == 0) /* of devices that may not be there */
        return cmocka_run_group_tests(names, NULL, NULL);
    if (argc > 1 && strcmp(argv[1], "absent") == 0) /* where the loader finds none */
        return cmocka_run_group_tests(absent, NULL, NULL);
    return lacks_opencl() ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
