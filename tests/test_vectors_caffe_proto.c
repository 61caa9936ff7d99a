/* SPDX-License-Identifier: Apache-2.0 */
/* Every recorded answer of Caffe about its messages, and the same messages cut, damaged, and without memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vectors.h"

#include <tessera/caffe_proto.h>

#include "caffe_messages.h"
#include "port/caffe/layer_type.h"

enum { ELEMENTS_MAX = 1024 };

static const char *path_of(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/caffe/%s", getenv("TSR_TEST_VECTORS"), name);
    return path;
}

static tsr_caffe_proto *opened(tsr_caffe_kind kind, const char *name)
{
    tsr_caffe_proto *proto = NULL;
    tsr_error error = {0};
    if (tsr_caffe_proto_open(&proto, kind, path_of(name), NULL, &error) != TSR_OK)
        fail_msg("%s", error.message);
    return proto;
}

static void expect_hex(const void *bytes, size_t size_bytes, const char *hex)
{
    const unsigned char *byte = bytes;
    char shown[3];
    assert_int_equal(2 * size_bytes, strlen(hex));
    for (size_t i = 0; i < size_bytes; i++) {
        snprintf(shown, sizeof shown, "%02x", byte[i]);
        assert_memory_equal(shown, hex + 2 * i, 2);
    }
}

/* ---- blobs ---- */

static void expect_shape(const tsr_caffe_blob_proto *blob, const json_t *shape)
{
    int64_t dims[TSR_MAX_RANK];
    assert_int_equal(vectors_numbers(shape, dims, TSR_MAX_RANK), blob->rank);
    for (int k = 0; k < blob->rank; k++)
        assert_int_equal(blob->dims[k], dims[k]);
}

static int64_t product(const tsr_caffe_blob_proto *blob)
{
    int64_t count = 1;
    for (int k = 0; k < blob->rank; k++)
        count *= blob->dims[k];
    return count;
}

/* What a blob of Caffe has after it was loaded: values of its own type, and a diff of zeros when there was none. */
static size_t convert(void *to, tsr_dtype dtype, const tsr_caffe_values *values, int64_t count)
{
    float *floats = to;
    double *doubles = to;
    assert_true(count <= ELEMENTS_MAX && (values->count == 0 || values->count == count));
    for (int64_t i = 0; i < count; i++) {
        const bool is_double = values->dtype == TSR_F64;
        if (dtype == TSR_F32)
            floats[i] = !values->count ? 0
                        : is_double    ? (float)((const double *)values->elements)[i]
                                       : ((const float *)values->elements)[i];
        else
            doubles[i] = !values->count ? 0
                         : is_double    ? ((const double *)values->elements)[i]
                                        : (double)((const float *)values->elements)[i];
    }
    return (size_t)count * tsr_dtype_size_bytes(dtype);
}

static void expect_written(const tsr_caffe_blob_proto *blob, const char *hex)
{
    unsigned char bytes[32 * ELEMENTS_MAX];
    size_t size_bytes = 0, again = 0;
    assert_int_equal(tsr_caffe_blob_proto_write(blob, NULL, 0, &size_bytes, NULL), TSR_OK);
    assert_int_equal(tsr_caffe_blob_proto_write(blob, bytes, size_bytes, &again, NULL), TSR_OK);
    assert_int_equal(again, size_bytes);
    expect_hex(bytes, size_bytes, hex);
}

static void expect_loaded(const tsr_caffe_proto *proto, tsr_dtype dtype, const json_t *expect)
{
    double data[ELEMENTS_MAX], diff[ELEMENTS_MAX];
    tsr_caffe_blob_proto blob;
    tsr_error error = {0};
    if (tsr_caffe_proto_blob(&blob, proto, 0, 0, &error) != TSR_OK)
        fail_msg("%s", error.message);
    int64_t count = vectors_number(expect, "count");
    assert_int_equal(product(&blob), count);
    assert_int_equal(blob.data.count, count);
    expect_shape(&blob, json_object_get(expect, "shape"));
    expect_hex(data, convert(data, dtype, &blob.data, count), vectors_string(expect, "data_hex"));
    expect_hex(diff, convert(diff, dtype, &blob.diff, count), vectors_string(expect, "diff_hex"));

    tsr_caffe_blob_proto out = blob;
    out.data = (tsr_caffe_values){dtype, count, data};
    out.diff = (tsr_caffe_values){0};
    expect_written(&out, vectors_string(expect, "to_proto_hex"));
    out.diff = (tsr_caffe_values){dtype, count, diff};
    expect_written(&out, vectors_string(expect, "to_proto_diff_hex"));
}

static int loaded, refused, unreadable;

static void replay_blob(const json_t *row)
{
    static const char *const names[] = {"f32", "f64"};
    const char *file = vectors_string(row, "file");
    for (int i = 0; i < 2; i++) {
        const json_t *expect = json_object_get(row, names[i]);
        const char *why = json_string_value(json_object_get(expect, "error"));
        tsr_caffe_proto *proto = NULL;
        tsr_caffe_blob_proto blob;
        tsr_error error = {0};
        if (why && strcmp(why, "parse") == 0) {
            assert_int_equal(tsr_caffe_proto_open(&proto, TSR_CAFFE_BLOB_PROTO, path_of(file), NULL, &error),
                             TSR_PARSE_ERROR);
            assert_null(proto);
            unreadable++;
            continue;
        }
        proto = opened(TSR_CAFFE_BLOB_PROTO, file);
        if (strcmp(file, "zero_dim.blobproto") == 0) { /* Caffe fails because a blob without elements has no memory */
            assert_int_equal(tsr_caffe_proto_blob(&blob, proto, 0, 0, NULL), TSR_OK);
            assert_int_equal(product(&blob), 0);
            assert_int_equal(blob.data.count, 0);
        } else if (why) {
            assert_int_not_equal(tsr_caffe_proto_blob(&blob, proto, 0, 0, &error), TSR_OK);
            assert_string_not_equal(error.message, "");
            refused++;
        } else {
            expect_loaded(proto, i ? TSR_F64 : TSR_F32, expect);
            loaded++;
        }
        tsr_caffe_proto_free(&proto);
    }
}

static void test_blobs(void **state)
{
    (void)state;
    loaded = refused = unreadable = 0;
    int rows = vectors_each("caffe/blobproto_index.jsonl", replay_blob);
    print_message("# %d messages for 2 types: %d loaded, %d refused, %d unreadable\n", rows, loaded, refused,
                  unreadable);
    assert_true(loaded > 0 && refused > 0 && unreadable > 0);
}

/* ---- nets ---- */

static json_t *read_json(const char *name)
{
    json_t *json = json_load_file(path_of(name), 0, NULL);
    assert_non_null(json);
    return json;
}

static void expect_strings(const char *const *found, int count, const json_t *expected)
{
    assert_int_equal(count, json_array_size(expected));
    for (int i = 0; i < count; i++)
        assert_string_equal(found[i], json_string_value(json_array_get(expected, (size_t)i)));
}

static void expect_values(const tsr_caffe_values *values, const json_t *expected, const char *key)
{
    const char *hex = vectors_string(expected, key);
    assert_int_equal(values->count == 0, *hex == '\0');
    if (values->count == 0)
        return;
    assert_string_equal(tsr_dtype_name(values->dtype), vectors_string(expected, "dtype"));
    expect_hex(values->elements, (size_t)values->count * tsr_dtype_size_bytes(values->dtype), hex);
}

static void expect_blob(const tsr_caffe_proto *proto, int layer, int index, const json_t *expected)
{
    tsr_caffe_blob_proto blob;
    assert_int_equal(tsr_caffe_proto_blob(&blob, proto, layer, index, NULL), TSR_OK);
    expect_shape(&blob, json_object_get(expected, "shape"));
    assert_int_equal(blob.is_legacy, json_is_true(json_object_get(expected, "legacy")));
    expect_values(&blob.data, expected, "data_hex");
    expect_values(&blob.diff, expected, "diff_hex");
}

static void expect_layer(const tsr_caffe_proto *proto, int index, const json_t *expected)
{
    tsr_caffe_layer layer;
    const json_t *number = json_object_get(expected, "type_enum"), *blobs = json_object_get(expected, "blobs");
    assert_int_equal(tsr_caffe_proto_layer(&layer, proto, index, NULL), TSR_OK);
    assert_string_equal(layer.name, vectors_string(expected, "name"));
    assert_int_equal(tsr_caffe_proto_find(proto, layer.name), index);
    assert_string_equal(layer.type, number ? tsr_caffe_type_of_v1((int32_t)json_integer_value(number))
                                           : vectors_string(expected, "type"));
    expect_strings(layer.bottom, layer.bottoms, json_object_get(expected, "bottom"));
    expect_strings(layer.top, layer.tops, json_object_get(expected, "top"));
    assert_int_equal(layer.blobs, json_array_size(blobs));
    for (int i = 0; i < layer.blobs; i++)
        expect_blob(proto, index, i, json_array_get(blobs, (size_t)i));
}

static void expect_net(const char *file, const char *json_name, const char *layers_key)
{
    int64_t dims[16];
    tsr_caffe_net net;
    json_t *json = read_json(json_name);
    const json_t *layers = json_object_get(json, layers_key);
    tsr_caffe_proto *proto = opened(TSR_CAFFE_NET_PARAMETER, file);
    tsr_caffe_proto_net(&net, proto);
    assert_string_equal(net.name, vectors_string(json, "name"));
    expect_strings(net.input, net.inputs, json_object_get(json, "input"));
    assert_int_equal(net.input_dims, vectors_numbers(json_object_get(json, "input_dim"), dims, 16));
    for (int i = 0; i < net.input_dims; i++)
        assert_int_equal(net.input_dim[i], dims[i]);
    assert_int_equal(net.layers, json_array_size(layers));
    assert_true(net.layers > 0);
    for (int i = 0; i < net.layers; i++)
        expect_layer(proto, i, json_array_get(layers, (size_t)i));
    tsr_caffe_proto_free(&proto);
    json_decref(json);
}

static void test_nets(void **state)
{
    (void)state;
    expect_net("tinynet_v2.caffemodel", "tinynet_v2.json", "layer");
    expect_net("tinynet_v1.caffemodel", "tinynet_v1.json", "layers");
}

static void test_layer_types(void **state)
{
    (void)state;
    json_t *types = read_json("v1_layer_types.json"), *type;
    size_t i;
    assert_int_equal(json_array_size(types), 40);
    json_array_foreach(types, i, type) assert_string_equal(tsr_caffe_type_of_v1((int32_t)vectors_number(type, "enum")),
                                                           vectors_string(type, "v2_type"));
    assert_string_equal(tsr_caffe_type_of_v1(40), "");
    assert_string_equal(tsr_caffe_type_of_v1(-1), "");
    json_decref(types);
}

/* ---- damage ---- */

struct file {
    unsigned char bytes[4096];
    size_t size_bytes;
};

static struct file read_file(const char *name)
{
    struct file file;
    FILE *stream = fopen(path_of(name), "rb");
    assert_non_null(stream);
    file.size_bytes = fread(file.bytes, 1, sizeof file.bytes, stream);
    assert_true(file.size_bytes > 0 && file.size_bytes < sizeof file.bytes);
    fclose(stream);
    return file;
}

static const char *const net_files[] = {"tinynet_v1.caffemodel", "tinynet_v2.caffemodel"};

/* Between two fields of the net a cut cannot be seen; everywhere else it is an error. */
static void test_cut_nets_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct file file = read_file(net_files[i]);
        int whole = 0;
        for (size_t size = 0; size < file.size_bytes; size++) {
            failing_allocator counter = {0};
            tsr_error error = {0};
            tsr_status status = read_guarded(TSR_CAFFE_NET_PARAMETER, file.bytes, size, &counter, &error);
            assert_int_equal(counter.live, 0);
            whole += status == TSR_OK;
            if (status != TSR_OK)
                assert_int_equal(status, TSR_PARSE_ERROR);
        }
        assert_in_range(whole, 2, 16);
    }
}

static void test_damaged_nets_harm_nobody(void **state)
{
    static const unsigned char damages[] = {0x00, 0x04, 0x7f, 0x80, 0xff};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct file file = read_file(net_files[i]);
        int read = 0, wrong = 0;
        for (size_t k = 0; k < file.size_bytes; k++) {
            unsigned char right = file.bytes[k];
            for (size_t d = 0; d < sizeof damages; d++) {
                failing_allocator counter = {0};
                file.bytes[k] = damages[d];
                tsr_status status = read_guarded(TSR_CAFFE_NET_PARAMETER, file.bytes, file.size_bytes, &counter, NULL);
                assert_int_equal(counter.live, 0);
                read += status == TSR_OK;
                wrong += status != TSR_OK;
            }
            file.bytes[k] = right;
        }
        assert_true(read > 0 && wrong > 0);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct file file = read_file(net_files[i]);
        failing_allocator all = {0};
        assert_int_equal(read_guarded(TSR_CAFFE_NET_PARAMETER, file.bytes, file.size_bytes, &all, NULL), TSR_OK);
        assert_true(all.allocations > 20 && all.live == 0 && all.live_bytes == 0);
        for (int at = 1; at <= all.allocations; at++) {
            failing_allocator counter = {.fail_at = at};
            tsr_error error = {0};
            assert_int_equal(read_guarded(TSR_CAFFE_NET_PARAMETER, file.bytes, file.size_bytes, &counter, &error),
                             TSR_OUT_OF_MEMORY);
            assert_non_null(strstr(error.message, "no memory for"));
            assert_int_equal(counter.live, 0);
            assert_int_equal(counter.live_bytes, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blobs),
        cmocka_unit_test(test_nets),
        cmocka_unit_test(test_layer_types),
        cmocka_unit_test(test_cut_nets_are_refused),
        cmocka_unit_test(test_damaged_nets_harm_nobody),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
