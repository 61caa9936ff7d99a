/* SPDX-License-Identifier: Apache-2.0 */
/* Every recorded script of Caffe's blobs, run again; the device is one of the tests' own, or of OpenCL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "vectors.h"

#include <tessera/caffe.h>

#include "place.h"

enum { BLOBS = 6, MOST_MEMORIES = 64, MOST_BYTES = 1 << 16 };

/* One script at work. */
static int64_t row_id;
static tsr_dtype dtype;
static tsr_caffe_blob *blobs[BLOBS];
static tsr_blob
    *memories[MOST_MEMORIES]; /* in the order of first sight; each is kept, so that no other one takes its place */
static int memory_count;
static unsigned char own_memory[MOST_BYTES]; /* of set_cpu_data, which takes one piece after the other */
static size_t own_bytes;
static tsr_device *device;
static const tsr_blob_options *options; /* of blobs, which have their home at either */
static bool is_hazard;                  /* the original leaves its memory in this one, and cannot be compared */
static bool is_in_gpu_mode;
static bool is_elsewhere; /* the original has worked on the device, and ours at home: heads cannot be compared */

static const json_t *argument(const json_t *op, size_t i)
{
    return json_array_get(op, i);
}

static int64_t number(const json_t *op, size_t i)
{
    assert_true(json_is_integer(argument(op, i)));
    return json_integer_value(argument(op, i));
}

static tsr_caffe_part part_of(const json_t *op, size_t i)
{
    return strcmp(json_string_value(argument(op, i)), "data") == 0 ? TSR_CAFFE_DATA : TSR_CAFFE_DIFF;
}

static void expect_hex(const void *found, int64_t bytes, const char *hex)
{
    static unsigned char expected[MOST_BYTES];
    if ((size_t)bytes != vectors_bytes(hex, expected, MOST_BYTES) ||
        (bytes > 0 && memcmp(found, expected, (size_t)bytes) != 0))
        fail_msg("row %d: other bytes than %s", (int)row_id, hex);
}

/* ---- states ---- */

static int64_t seen(tsr_blob *memory)
{
    for (int i = 0; i < memory_count; i++)
        if (memories[i] == memory)
            return i;
    assert_true(memory_count < MOST_MEMORIES);
    memories[memory_count] = tsr_blob_share(memory);
    return memory_count++;
}

static void expect_memory_of(const tsr_caffe_blob *blob, tsr_caffe_part part, const json_t *expected,
                             const char *key_of_memory, const char *key_of_head)
{
    static const char *const heads[] = {"UNINITIALIZED", "HEAD_AT_CPU", "HEAD_AT_GPU", "SYNCED"};
    tsr_blob *memory = tsr_caffe_blob_memory(blob, part);
    if (json_is_null(json_object_get(expected, key_of_memory))) { /* there has never been an element */
        assert_int_equal(tsr_caffe_blob_capacity(blob, part), 0);
        return;
    }
    assert_int_equal(seen(memory), vectors_number(expected, key_of_memory));
    if (!is_elsewhere)
        assert_string_equal(heads[tsr_caffe_blob_head(blob, part, device)], vectors_string(expected, key_of_head));
}

static void expect_state(const tsr_caffe_blob *blob, const json_t *expected)
{
    const tsr_caffe_shape shape = tsr_caffe_blob_shape(blob);
    int64_t dims[TSR_MAX_RANK];
    char text[1024];
    const int64_t capacity = tsr_caffe_blob_capacity(blob, TSR_CAFFE_DATA);
    assert_int_equal(vectors_numbers(json_object_get(expected, "shape"), dims, TSR_MAX_RANK), shape.axes);
    for (int k = 0; k < shape.axes; k++)
        assert_int_equal(shape.dims[k], dims[k]);
    assert_int_equal(shape.count, vectors_number(expected, "count"));
    tsr_caffe_shape_print(&shape, text, sizeof text);
    assert_string_equal(text, vectors_string(expected, "shape_string"));
    assert_true(capacity >= shape.count && tsr_caffe_blob_capacity(blob, TSR_CAFFE_DIFF) >= shape.count);
    if (is_hazard)
        return;
    assert_int_equal(capacity, vectors_number(expected, "capacity"));
    expect_memory_of(blob, TSR_CAFFE_DATA, expected, "data_mem", "data_head");
    expect_memory_of(blob, TSR_CAFFE_DIFF, expected, "diff_mem", "diff_head");
    if (capacity > 0)
        assert_int_equal(capacity * (int64_t)tsr_dtype_size_bytes(dtype), vectors_number(expected, "data_bytes"));
}

/* ---- operations: each gives its status, and looks at what it answers ---- */

typedef tsr_status (*operation)(tsr_caffe_blob *blob, const json_t *op, const json_t *expected);

static tsr_status reshape_to(tsr_caffe_blob *blob, const json_t *array)
{
    int64_t dims[64];
    const int axes = vectors_numbers(array, dims, 64);
    tsr_caffe_shape shape;
    tsr_status status = tsr_caffe_shape_init(&shape, axes, dims, NULL);
    return status == TSR_OK ? tsr_caffe_blob_reshape(blob, &shape, NULL, NULL) : status;
}

static tsr_status do_reshape(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    (void)expected;
    return reshape_to(blob, argument(op, 2));
}

static tsr_status do_reshape4(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    (void)expected;
    json_t *dims = json_array();
    for (size_t i = 2; i < 6; i++)
        json_array_append_new(dims, json_integer(number(op, i)));
    tsr_status status = reshape_to(blob, dims);
    json_decref(dims);
    return status;
}

static tsr_status do_reshape_like(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    (void)expected;
    const tsr_caffe_shape shape = tsr_caffe_blob_shape(blobs[number(op, 2)]);
    return tsr_caffe_blob_reshape(blob, &shape, NULL, NULL);
}

static tsr_status do_nothing(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    (void)blob;
    (void)op;
    (void)expected;
    return TSR_OK;
}

static void expect_number(tsr_status status, int64_t found, const json_t *expected)
{
    if (status == TSR_OK && !vectors_is_error(expected))
        assert_int_equal(found, json_integer_value(expected));
}

static tsr_status do_canonical_axis(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    const tsr_caffe_shape shape = tsr_caffe_blob_shape(blob);
    int axis = 0;
    tsr_status status = tsr_caffe_axis(&shape, (int)number(op, 2), &axis, NULL);
    expect_number(status, axis, expected);
    return status;
}

static tsr_status do_shape(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    const tsr_caffe_shape shape = tsr_caffe_blob_shape(blob);
    int axis = 0;
    tsr_status status = tsr_caffe_axis(&shape, (int)number(op, 2), &axis, NULL);
    expect_number(status, shape.dims[axis], expected);
    return status;
}

static tsr_status do_legacy_shape(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    const tsr_caffe_shape shape = tsr_caffe_blob_shape(blob);
    int64_t dim = 0;
    tsr_status status = tsr_caffe_legacy_dim(&shape, (int)number(op, 2), &dim, NULL);
    expect_number(status, dim, expected);
    return status;
}

static tsr_status do_nchw(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    const tsr_caffe_shape shape = tsr_caffe_blob_shape(blob);
    (void)op;
    for (int k = 0; k < 4; k++) {
        int64_t dim;
        assert_int_equal(tsr_caffe_legacy_dim(&shape, k, &dim, NULL), TSR_OK);
        assert_int_equal(dim, json_integer_value(json_array_get(expected, (size_t)k)));
    }
    return TSR_OK;
}

static tsr_status do_count(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    const tsr_caffe_shape shape = tsr_caffe_blob_shape(blob);
    const int end = json_array_size(op) > 3 ? (int)number(op, 3) : shape.axes;
    int64_t count = 0;
    tsr_status status = tsr_caffe_count(&shape, (int)number(op, 2), end, &count, NULL);
    expect_number(status, count, expected);
    return status;
}

/* The original takes indices from anywhere up to the dim itself; those we refuse. */
static tsr_status do_offset4(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    const tsr_caffe_shape shape = tsr_caffe_blob_shape(blob);
    int64_t offset = 0;
    bool is_inside = true;
    for (int k = 0; k < 4 && shape.axes <= 4; k++) {
        int64_t dim;
        assert_int_equal(tsr_caffe_legacy_dim(&shape, k, &dim, NULL), TSR_OK);
        is_inside = is_inside && number(op, 2 + (size_t)k) >= 0 && number(op, 2 + (size_t)k) < dim;
    }
    tsr_status status =
        tsr_caffe_legacy_offset(&shape, number(op, 2), number(op, 3), number(op, 4), number(op, 5), &offset, NULL);
    expect_number(status, offset, expected);
    if (!is_inside && !vectors_is_error(expected)) {
        assert_int_equal(status, TSR_OUT_OF_RANGE);
        return TSR_OK;
    }
    return status;
}

static tsr_status do_offsetv(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    const tsr_caffe_shape shape = tsr_caffe_blob_shape(blob);
    int64_t index[64], offset = 0;
    const int indices = vectors_numbers(argument(op, 2), index, 64);
    tsr_status status = tsr_caffe_offset(&shape, indices, index, &offset, NULL);
    expect_number(status, offset, expected);
    return status;
}

static tsr_status put_bytes(tsr_caffe_blob *blob, const json_t *op, tsr_device *place)
{
    static unsigned char bytes[MOST_BYTES];
    const size_t count = vectors_bytes(json_string_value(argument(op, 3)), bytes, MOST_BYTES);
    tsr_access access;
    tsr_status status =
        tsr_blob_acquire(tsr_caffe_blob_memory(blob, part_of(op, 2)), place, NULL, TSR_READ_WRITE, &access, NULL);
    if (status != TSR_OK)
        return status;
    void *host = NULL;
    assert_int_equal(tsr_access_map(&access, &host, NULL), TSR_OK);
    if (count > 0)
        memcpy(host, bytes, count);
    return tsr_blob_release(&access, NULL);
}

static tsr_status do_put(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    (void)expected;
    return put_bytes(blob, op, NULL);
}

static tsr_status do_gpu_put(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    (void)expected;
    return put_bytes(blob, op, device);
}

static tsr_status get_bytes(tsr_caffe_blob *blob, const json_t *op, tsr_device *place, const json_t *expected)
{
    tsr_access access;
    if (!json_is_string(expected))
        return TSR_OK; /* a script that had stopped */
    tsr_blob *memory = tsr_caffe_blob_memory(blob, part_of(op, 2));
    tsr_status status = tsr_blob_acquire(memory, place, NULL, TSR_READ, &access, NULL);
    if (status != TSR_OK)
        return status;
    void *host = NULL;
    assert_int_equal(tsr_access_map(&access, &host, NULL), TSR_OK);
    expect_hex(host, tsr_caffe_blob_shape(blob).count * (int64_t)tsr_dtype_size_bytes(dtype),
               json_string_value(expected));
    return tsr_blob_release(&access, NULL);
}

static tsr_status do_get(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    return get_bytes(blob, op, NULL, expected);
}

static tsr_status do_gpu_get(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    return get_bytes(blob, op, device, expected);
}

static tsr_status do_at(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    const tsr_caffe_shape shape = tsr_caffe_blob_shape(blob);
    int64_t index[64], offset = 0;
    const int indices = vectors_numbers(argument(op, 3), index, 64);
    tsr_access access;
    tsr_status status = tsr_caffe_offset(&shape, indices, index, &offset, NULL);
    if (status != TSR_OK || vectors_is_error(expected))
        return status;
    status = tsr_blob_acquire(tsr_caffe_blob_memory(blob, part_of(op, 2)), NULL, NULL, TSR_READ, &access, NULL);
    if (status != TSR_OK)
        return status;
    const double wanted = json_number_value(expected);
    const double found = dtype == TSR_F32 ? (double)((float *)access.data)[offset] : ((double *)access.data)[offset];
    if (found != (dtype == TSR_F32 ? (double)(float)wanted : wanted))
        fail_msg("row %d: expected %.17g, found %.17g", (int)row_id, wanted, found);
    return tsr_blob_release(&access, NULL);
}

static tsr_status do_set_data(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    (void)expected;
    unsigned char *memory = own_memory + own_bytes;
    const size_t bytes = vectors_bytes(json_string_value(argument(op, 2)), memory, MOST_BYTES - own_bytes);
    own_bytes += (bytes + TSR_ALIGNMENT - 1) / TSR_ALIGNMENT * TSR_ALIGNMENT;
    return tsr_caffe_blob_set_data(blob, NULL, bytes > 0 ? memory : NULL, NULL);
}

static void expect_sum(tsr_status status, double found, const json_t *expected)
{
    const double wanted = json_number_value(expected);
    if (status == TSR_OK && fabs(found - wanted) > 1e-6 * fabs(wanted))
        fail_msg("row %d: expected a sum of %.17g, found %.17g", (int)row_id, wanted, found);
}

/* Arithmetic of the original is where the values are, and on the device if they are at both. */
static void go_to(tsr_caffe_blob *blob, tsr_caffe_part part)
{
    const tsr_caffe_head head = tsr_caffe_blob_head(blob, part, device);
    is_elsewhere = is_elsewhere || head == TSR_CAFFE_AT_DEVICE || head == TSR_CAFFE_SYNCED;
}

static tsr_status do_asum(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    double sum = -1;
    go_to(blob, part_of(op, 2));
    tsr_status status = tsr_caffe_blob_asum(blob, part_of(op, 2), &sum, NULL);
    expect_sum(status, sum, expected);
    return status;
}

static tsr_status do_sumsq(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    double sum = -1;
    go_to(blob, part_of(op, 2));
    tsr_status status = tsr_caffe_blob_sumsq(blob, part_of(op, 2), &sum, NULL);
    expect_sum(status, sum, expected);
    return status;
}

static tsr_status do_scale(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    (void)expected;
    go_to(blob, part_of(op, 2));
    return tsr_caffe_blob_scale(blob, part_of(op, 2), json_number_value(argument(op, 3)), NULL);
}

static tsr_status do_update(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    (void)op;
    (void)expected;
    go_to(blob, TSR_CAFFE_DATA);
    return tsr_caffe_blob_update(blob, NULL);
}

static tsr_status do_share_data(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    (void)expected;
    return tsr_caffe_blob_share(blob, blobs[number(op, 2)], TSR_CAFFE_DATA, NULL);
}

static tsr_status do_share_diff(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    (void)expected;
    return tsr_caffe_blob_share(blob, blobs[number(op, 2)], TSR_CAFFE_DIFF, NULL);
}

static tsr_status do_copy_from(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    (void)expected;
    is_elsewhere = is_elsewhere || is_in_gpu_mode;
    return tsr_caffe_blob_copy(blob, blobs[number(op, 2)],
                               json_is_true(argument(op, 3)) ? TSR_CAFFE_DIFF : TSR_CAFFE_DATA,
                               json_is_true(argument(op, 4)), NULL);
}

static tsr_status parse(tsr_caffe_proto **proto, tsr_caffe_blob_proto *message, const char *hex)
{
    static unsigned char bytes[MOST_BYTES];
    const size_t count = vectors_bytes(hex, bytes, MOST_BYTES);
    tsr_status status = tsr_caffe_proto_parse(proto, TSR_CAFFE_BLOB_PROTO, bytes, count, NULL, NULL);
    return status == TSR_OK ? tsr_caffe_proto_blob(message, *proto, 0, 0, NULL) : status;
}

static tsr_status do_from_proto(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    (void)expected;
    tsr_caffe_proto *proto = NULL;
    tsr_caffe_blob_proto message;
    tsr_status status = parse(&proto, &message, json_string_value(argument(op, 3)));
    if (status == TSR_OK)
        status = tsr_caffe_blob_from_proto(blob, &message, json_is_true(argument(op, 2)), NULL);
    tsr_caffe_proto_free(&proto);
    return status;
}

static tsr_status do_to_proto(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    static unsigned char bytes[MOST_BYTES];
    size_t count = 0;
    if (!json_is_string(expected))
        return TSR_OK; /* a script that had stopped */
    tsr_status status = tsr_caffe_blob_to_proto(blob, json_is_true(argument(op, 2)), bytes, sizeof bytes, &count, NULL);
    if (status == TSR_OK)
        expect_hex(bytes, (int64_t)count, json_string_value(expected));
    return status;
}

static tsr_status do_shape_equals(tsr_caffe_blob *blob, const json_t *op, const json_t *expected)
{
    tsr_caffe_proto *proto = NULL;
    tsr_caffe_blob_proto message;
    tsr_status status = parse(&proto, &message, json_string_value(argument(op, 2)));
    if (status == TSR_OK)
        assert_int_equal(tsr_caffe_blob_has_shape_of(blob, &message), json_is_true(expected));
    tsr_caffe_proto_free(&proto);
    return status;
}

static const struct {
    const char *name;
    operation run;
} operations[] = {
    {"new", do_nothing},
    {"newv", do_reshape},
    {"new4", do_reshape4},
    {"state", do_nothing},
    {"gpu_shape", do_nothing}, /* a copy of the shape on the device, for kernels of the original */
    {"reshape", do_reshape},
    {"reshape4", do_reshape4},
    {"reshape_proto", do_reshape},
    {"reshape_like", do_reshape_like},
    {"canonical_axis", do_canonical_axis},
    {"shape", do_shape},
    {"legacy_shape", do_legacy_shape},
    {"nchw", do_nchw},
    {"count1", do_count},
    {"count2", do_count},
    {"offset4", do_offset4},
    {"offsetv", do_offsetv},
    {"put", do_put},
    {"gpu_put", do_gpu_put},
    {"get", do_get},
    {"gpu_get", do_gpu_get},
    {"at", do_at},
    {"set_cpu_data", do_set_data},
    {"asum", do_asum},
    {"sumsq", do_sumsq},
    {"scale", do_scale},
    {"update", do_update},
    {"share_data", do_share_data},
    {"share_diff", do_share_diff},
    {"copy_from", do_copy_from},
    {"from_proto", do_from_proto},
    {"to_proto", do_to_proto},
    {"shape_equals", do_shape_equals},
};

static operation operation_of(const char *name)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(operations[i].name, name) == 0)
            return operations[i].run;
    fail_msg("row %d: unknown operation %s", (int)row_id, name);
    return NULL;
}

static bool is_new(const char *name)
{
    return strncmp(name, "new", 3) == 0;
}

/* One that the original answers by ending the process; ours goes on where there are no elements. */
static bool goes_on_without_elements(const tsr_caffe_blob *blob, tsr_status status, const json_t *expected)
{
    return vectors_is_error(expected) && status == TSR_OK && tsr_caffe_blob_shape(blob).count == 0;
}

/* False where the script ends. */
static bool run(const json_t *op, const json_t *expected)
{
    const char *name = json_string_value(argument(op, 0));
    if (strcmp(name, "mode") == 0) {
        is_in_gpu_mode = strcmp(json_string_value(argument(op, 1)), "gpu") == 0;
        return true;
    }
    const int64_t which = number(op, 1);
    assert_in_range(which, 0, BLOBS - 1);
    if (is_new(name)) {
        tsr_caffe_blob_free(&blobs[which]);
        assert_int_equal(tsr_caffe_blob_create(&blobs[which], dtype, options, NULL), TSR_OK);
    }
    if (json_is_null(expected))
        return false;
    tsr_status status = operation_of(name)(blobs[which], op, expected);
    if (goes_on_without_elements(blobs[which], status, expected))
        return false;
    if (status == TSR_OVERFLOW && (strcmp(name, "from_proto") == 0 || strcmp(name, "reshape_proto") == 0))
        return false; /* dims of 64 bits, which the original cuts to 32 */
    if ((status != TSR_OK) != vectors_is_error(expected))
        fail_msg("row %d: %s: %s", (int)row_id, name, tsr_status_name(status));
    if (json_object_get(expected, "shape"))
        expect_state(blobs[which], expected);
    return status == TSR_OK;
}

static void run_script(const json_t *row)
{
    const json_t *ops = json_object_get(row, "ops"), *results = json_object_get(row, "results");
    const char *note = json_string_value(json_object_get(row, "note"));
    row_id = vectors_number(row, "id");
    dtype = strcmp(vectors_string(row, "dtype"), "f32") == 0 ? TSR_F32 : TSR_F64;
    is_in_gpu_mode = false;
    is_elsewhere = options != NULL;
    own_bytes = 0;
    is_hazard = note && strncmp(note, "HAZARD", 6) == 0;
    for (size_t i = 0; i < json_array_size(ops) && run(json_array_get(ops, i), json_array_get(results, i)); i++)
        ;
    for (int i = 0; i < BLOBS; i++)
        tsr_caffe_blob_free(&blobs[i]);
    while (memory_count > 0)
        tsr_blob_free(&memories[--memory_count]);
}

static void test_scripts(void **state)
{
    (void)state;
    device = find_place();
    options = NULL;
    assert_int_equal(vectors_each("caffe/blob_scripts.jsonl", run_script), 409);
    leave_place(&device);
}

static void test_scripts_of_blobs_on_the_device(void **state)
{
    (void)state;
    device = find_place();
    options = &(tsr_blob_options){.device = device};
    assert_int_equal(vectors_each("caffe/blob_scripts.jsonl", run_script), 409);
    options = NULL;
    leave_place(&device);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scripts),
                                       cmocka_unit_test(test_scripts_of_blobs_on_the_device)};
    return has_place(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
