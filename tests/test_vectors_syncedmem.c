/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every recorded script of Caffe's SyncedMemory, run again on blobs of one axis; the device is one of the tests' own,
 * or of OpenCL.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vectors.h"

#include <tessera/blob.h>

#include "blocked/blob.h"

#include "place.h"

enum { MOST_BYTES = 1 << 12, MOST_BUFFERS = 16 };

static tsr_device *device;
static int allocated, freed; /* by the blob, on the tests' own device */

/* One script at work. */
static int64_t row_id;
static tsr_blob *memory;
static tsr_desc bytes_desc;
static unsigned char host_buffer[MOST_BYTES];  /* the caller's, */
static tsr_blob *device_buffers[MOST_BUFFERS]; /* and those on the device: */
static int device_buffer_count;
static const void *last_buffer; /* the one that was set last */

static tsr_status count_allocate(void *context, size_t size_bytes, void **made, tsr_error *error)
{
    allocated++;
    return remote_allocate(context, size_bytes, made, error);
}

static void count_release(void *context, void *old, size_t size_bytes)
{
    freed++;
    remote_release(context, old, size_bytes);
}

static const tsr_representation *find(tsr_device *place)
{
    return tsr_representation_find(memory->home, place, &bytes_desc);
}

static bool holds(tsr_device *place)
{
    return tsr_blob_holds(memory, place, &bytes_desc);
}

static const char *head(void)
{
    const bool is_here = holds(tsr_device_host()), is_there = holds(device);
    return is_here ? (is_there ? "SYNCED" : "HEAD_AT_CPU") : (is_there ? "HEAD_AT_GPU" : "UNINITIALIZED");
}

static bool has_memory(tsr_device *place)
{
    const tsr_representation *one = find(place);
    return one && tsr_storage_is_allocated(one->storage);
}

static bool owns_memory(tsr_device *place)
{
    void *data = NULL;
    if (!has_memory(place))
        return false;
    assert_int_equal(tsr_storage_data(find(place)->storage, &data, NULL), TSR_OK);
    return data != host_buffer && data != last_buffer;
}

/* ---- operations ---- */

static void expect_number(const json_t *expected, const char *key, int64_t found)
{
    if (vectors_number(expected, key) != found)
        fail_msg("row %d: expected %s %d, found %d", (int)row_id, key, (int)vectors_number(expected, key), (int)found);
}

static void *map(tsr_access *access, tsr_blob *blob, tsr_device *place, tsr_intent intent)
{
    void *host = NULL;
    tsr_error error = {0};
    if (tsr_blob_acquire(blob, place, NULL, intent, access, &error) != TSR_OK ||
        tsr_access_map(access, &host, &error) != TSR_OK)
        fail_msg("%s", error.message);
    return host;
}

/* The first byte as it was; then all of them become fill, unless that is -1. */
static void touch(tsr_device *place, tsr_intent intent, int64_t fill, const json_t *expected)
{
    tsr_access access;
    unsigned char *host = map(&access, memory, place, intent);
    if (host && json_is_integer(json_object_get(expected, "first_byte_seen")))
        expect_number(expected, "first_byte_seen", *host);
    if (host && intent != TSR_READ && fill >= 0)
        memset(host, (int)fill, (size_t)tsr_desc_size_bytes(&bytes_desc));
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
}

static void use(tsr_device *place, void *buffer)
{
    tsr_storage *storage = NULL;
    const size_t size = (size_t)tsr_desc_size_bytes(&bytes_desc);
    assert_int_equal(tsr_storage_wrap_on(&storage, place, buffer, size, NULL, NULL, NULL), TSR_OK);
    assert_int_equal(tsr_blob_set_storage(memory, NULL, storage, NULL), TSR_OK);
    tsr_storage_release(&storage);
}

static void set_host_data(int64_t fill)
{
    memset(host_buffer, (int)fill, sizeof host_buffer);
    use(tsr_device_host(), host_buffer);
}

/* The caller's memory is another blob's. */
static void set_device_data(int64_t fill)
{
    tsr_access access;
    assert_true(device_buffer_count < MOST_BUFFERS);
    tsr_blob **buffer = &device_buffers[device_buffer_count++];
    const int before = allocated;
    assert_int_equal(tsr_blob_create(buffer, &bytes_desc, &(tsr_blob_options){.device = device}, NULL), TSR_OK);
    memset(map(&access, *buffer, device, TSR_WRITE), (int)fill, (size_t)tsr_desc_size_bytes(&bytes_desc));
    void *data = access.data;
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    allocated = before;
    last_buffer = data;
    use(device, data);
}

/* Is that an operation which the original refuses? */
static bool is_refused(const char *name)
{
    return strcmp(name, "async_gpu_push") == 0 && strcmp(head(), "HEAD_AT_CPU") != 0;
}

static void run(const json_t *op, const json_t *expected)
{
    const char *name = json_string_value(json_array_get(op, 0));
    const json_t *argument = json_array_get(op, 1);
    const int64_t fill = argument ? json_integer_value(argument) : -1;
    if (strcmp(name, "cpu_data") == 0)
        touch(NULL, TSR_READ, fill, expected);
    else if (strcmp(name, "gpu_data") == 0 || strcmp(name, "async_gpu_push") == 0)
        touch(device, TSR_READ, fill, expected);
    else if (strcmp(name, "mutable_cpu_data") == 0)
        touch(NULL, TSR_READ_WRITE, fill, expected);
    else if (strcmp(name, "mutable_gpu_data") == 0)
        touch(device, TSR_READ_WRITE, fill, expected);
    else if (strcmp(name, "set_cpu_data") == 0)
        set_host_data(fill);
    else if (strcmp(name, "set_gpu_data") == 0)
        set_device_data(fill);
    else
        fail_msg("row %d: unknown operation %s", (int)row_id, name);
}

static void expect_state(const json_t *expected)
{
    if (strcmp(head(), vectors_string(expected, "head")) != 0)
        fail_msg("row %d: expected %s, found %s", (int)row_id, vectors_string(expected, "head"), head());
    expect_number(expected, "copies", tsr_blob_get_stats(memory).transfers);
    if (tsr_desc_size_bytes(&bytes_desc) == 0)
        return; /* the original has memory of no bytes; here is none */
    assert_int_equal(has_memory(tsr_device_host()), json_is_true(json_object_get(expected, "has_cpu")));
    assert_int_equal(has_memory(device), json_is_true(json_object_get(expected, "has_gpu")));
    assert_int_equal(owns_memory(tsr_device_host()), json_is_true(json_object_get(expected, "own_cpu")));
    assert_int_equal(owns_memory(device), json_is_true(json_object_get(expected, "own_gpu")));
    if (is_on_opencl)
        return; /* nobody counts */
    expect_number(expected, "gpu_alloc", allocated);
    expect_number(expected, "gpu_free", freed);
}

static void replay(const json_t *row)
{
    const json_t *op, *results = json_object_get(row, "results");
    const int64_t size = vectors_number(row, "size");
    size_t i;
    row_id = vectors_number(row, "id");
    allocated = freed = device_buffer_count = 0;
    last_buffer = NULL;
    assert_true(size <= MOST_BYTES);
    assert_int_equal(tsr_desc_plain(&bytes_desc, TSR_U8, 1, &size, NULL), TSR_OK);
    assert_int_equal(tsr_blob_create(&memory, &bytes_desc, NULL, NULL), TSR_OK);
    json_array_foreach(json_object_get(row, "ops"), i, op)
    {
        const json_t *expected = json_array_get(results, i);
        const bool refused = is_refused(json_string_value(json_array_get(op, 0)));
        assert_int_equal(refused, vectors_is_error(expected));
        if (refused)
            continue;
        run(op, expected);
        expect_state(expected);
    }
    tsr_blob_free(&memory);
    assert_int_equal(allocated, freed);
    for (int k = 0; k < device_buffer_count; k++)
        tsr_blob_free(&device_buffers[k]);
}

static void test_scripts(void **state)
{
    (void)state;
    tsr_device_functions functions = remote_functions;
    functions.allocate = count_allocate;
    functions.release = count_release;
    device = is_on_opencl ? find_opencl() : register_functions("remote", &functions);
    assert_int_equal(vectors_each("caffe/syncedmem.jsonl", replay), 116);
    leave_place(&device);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scripts)};
    return has_place(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
