/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of Caffe that are odd or wrong, byte by byte; those that Caffe itself answered for are in
 * test_vectors_caffe_proto.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <tessera/caffe_proto.h>

#if TSR_HAVE_PROTOBUF

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "caffe_messages.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BYTES(text) text, sizeof(text) - 1

/* Pieces of messages. */
#define SHAPE_2X1 "\x3a\x04\x0a\x02\x02\x01"
#define FLOAT_1 "\x00\x00\x80\x3f"
#define FLOAT_2 "\x00\x00\x00\x40"
#define DATA_1_2 "\x2a\x08" FLOAT_1 FLOAT_2

static tsr_caffe_proto *parsed(tsr_caffe_kind kind, const char *bytes, size_t size_bytes)
{
    tsr_caffe_proto *proto = NULL;
    tsr_error error = {0};
    if (tsr_caffe_proto_parse(&proto, kind, bytes, size_bytes, NULL, &error) != TSR_OK)
        fail_msg("%s", error.message);
    return proto;
}

/* ---- what is no message ---- */

static const struct {
    tsr_caffe_kind kind;
    const char *bytes;
    size_t size_bytes;
    tsr_status status;
    const char *message;
} wrong_messages[] = {
    {TSR_CAFFE_BLOB_PROTO, BYTES("\x00\x01"), TSR_PARSE_ERROR, "byte 0: field number 0, expected 1 to 536870911"},
    {TSR_CAFFE_BLOB_PROTO, BYTES(SHAPE_2X1 "\x05"), TSR_PARSE_ERROR, "byte 6: field number 0, expected 1 to 536870911"},
    {TSR_CAFFE_BLOB_PROTO, BYTES("\x88\x80\x80\x80\x10"), TSR_PARSE_ERROR,
     "byte 0: field number 536870913, expected 1 to 536870911"},
    {TSR_CAFFE_BLOB_PROTO, BYTES("\x88\x80\x80\x80\x80\x00"), TSR_PARSE_ERROR, "byte 0: a tag of more than 5 bytes"},
    {TSR_CAFFE_BLOB_PROTO, BYTES(SHAPE_2X1 "\xa0\x80"), TSR_PARSE_ERROR, "byte 6: a tag is cut off after 2 bytes"},
    {TSR_CAFFE_BLOB_PROTO, BYTES("\x0e\x01"), TSR_PARSE_ERROR, "byte 0: field 1 has wire type 6, expected 0 to 5"},
    {TSR_CAFFE_BLOB_PROTO, BYTES("\x2c"), TSR_PARSE_ERROR, "byte 0: the end of group 5, which is not open"},
    {TSR_CAFFE_BLOB_PROTO, BYTES("\xa3\x01\x08\x05\xac\x01"), TSR_PARSE_ERROR,
     "byte 4: the end of group 21, which is not open"},
    {TSR_CAFFE_BLOB_PROTO, BYTES("\xa3\x01\x08\x05"), TSR_PARSE_ERROR, "byte 0: group 20 has no end"},
    {TSR_CAFFE_BLOB_PROTO, BYTES("\x3a\x02\xa3\x01\xa4\x01"), TSR_PARSE_ERROR, "byte 2: group 20 has no end"},
    {TSR_CAFFE_BLOB_PROTO, BYTES("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), TSR_PARSE_ERROR,
     "byte 1: a number of more than 10 bytes"},
    {TSR_CAFFE_BLOB_PROTO, BYTES("\x08"), TSR_PARSE_ERROR, "byte 1: a number is cut off after 0 bytes"},
    {TSR_CAFFE_BLOB_PROTO, BYTES("\x08\xff\xff"), TSR_PARSE_ERROR, "byte 1: a number is cut off after 2 bytes"},
    {TSR_CAFFE_BLOB_PROTO, BYTES("\x2d\x00\x00"), TSR_PARSE_ERROR, "byte 0: field 5 has 4 bytes, but 2 are left"},
    {TSR_CAFFE_BLOB_PROTO, BYTES("\x41\x00\x00"), TSR_PARSE_ERROR, "byte 0: field 8 has 8 bytes, but 2 are left"},
    {TSR_CAFFE_BLOB_PROTO, BYTES("\x2a\x08" FLOAT_1), TSR_PARSE_ERROR, "byte 0: field 5 has 8 bytes, but 4 are left"},
    {TSR_CAFFE_BLOB_PROTO, BYTES("\x2a\xff\xff\xff\xff\x07" FLOAT_1), TSR_PARSE_ERROR,
     "byte 0: field 5 has 2147483647 bytes, but 4 are left"},
    {TSR_CAFFE_BLOB_PROTO, BYTES("\x2a\xff\xff\xff\xff\x7f" FLOAT_1), TSR_PARSE_ERROR,
     "byte 0: field 5 has 34359738367 bytes, but 4 are left"},
    {TSR_CAFFE_BLOB_PROTO, BYTES("\x2a\xff\xff\xff\xff\xff\x01" FLOAT_1), TSR_PARSE_ERROR,
     "byte 1: a length of more than 5 bytes"},
    {TSR_CAFFE_BLOB_PROTO, BYTES("\xaa\x01\x05" FLOAT_1), TSR_PARSE_ERROR,
     "byte 0: field 21 has 5 bytes, but 4 are left"},
    {TSR_CAFFE_BLOB_PROTO, BYTES("\x2a\x07" FLOAT_1 "\x00\x00\x00"), TSR_PARSE_ERROR,
     "byte 0: data has 7 bytes, expected a multiple of 4"},
    {TSR_CAFFE_BLOB_PROTO, BYTES("\x4a\x04" FLOAT_1), TSR_PARSE_ERROR,
     "byte 0: double_diff has 4 bytes, expected a multiple of 8"},
    /* A dim inside a shape may not reach into what follows the shape. */
    {TSR_CAFFE_BLOB_PROTO, BYTES("\x3a\x04\x0a\x02\x02\x81\x01\x01"), TSR_PARSE_ERROR,
     "byte 5: dim is cut off after 1 bytes"},
    {TSR_CAFFE_BLOB_PROTO, BYTES("\x3a\x02\x0a\x02\x02\x01"), TSR_PARSE_ERROR,
     "byte 2: field 1 has 2 bytes, but 0 are left"},
    {TSR_CAFFE_BLOB_PROTO_VECTOR, BYTES("\x0a\x02\x2a\x04" FLOAT_1), TSR_PARSE_ERROR,
     "byte 2: field 5 has 4 bytes, but 0 are left"},
    {TSR_CAFFE_NET_PARAMETER, BYTES("\x0a\x03n\x00t"), TSR_UNSUPPORTED, "byte 0: the string name contains a 0"},
    {TSR_CAFFE_NET_PARAMETER, BYTES("\x12\x00\xa2\x06\x00\xa2\x06\x00"), TSR_PARSE_ERROR,
     "a net with 2 fields `layer` and 1 fields `layers`, expected one kind"},
    {TSR_CAFFE_NET_PARAMETER, BYTES("\x12\x00\x12\x04\x0a\x00\x0a\x00"), TSR_UNSUPPORTED,
     "layer 1 comes in 2 parts, expected one"},
    {(tsr_caffe_kind)3, BYTES(""), TSR_INVALID_ARGUMENT, "3 is no kind of message"},
    {(tsr_caffe_kind)-1, BYTES(""), TSR_INVALID_ARGUMENT, "-1 is no kind of message"},
};

static void test_wrong_messages(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(wrong_messages); i++) {
        failing_allocator counter = {0};
        tsr_error error = {0};
        tsr_status status = read_guarded(wrong_messages[i].kind, wrong_messages[i].bytes, wrong_messages[i].size_bytes,
                                         &counter, &error);
        assert_string_equal(error.message, wrong_messages[i].message);
        assert_int_equal(error.status, wrong_messages[i].status);
        assert_int_equal(status, wrong_messages[i].status);
        assert_int_equal(counter.live, 0);
    }
}

static void test_huge_message(void **state)
{
    tsr_caffe_proto *proto = NULL;
    tsr_error error = {0};
    (void)state;
    assert_int_equal(tsr_caffe_proto_parse(&proto, TSR_CAFFE_NET_PARAMETER, "", (size_t)INT_MAX + 1, NULL, &error),
                     TSR_UNSUPPORTED);
    assert_string_equal(error.message, "a NetParameter of 2147483648 bytes, expected at most 2147483647");
}

/* Groups in groups, as deep as libprotobuf follows, and one more. */
static void test_deep_groups(void **state)
{
    char bytes[204];
    tsr_error error = {0};
    failing_allocator counter = {0};
    (void)state;
    memset(bytes, 0xa3 & 0x7f, 101); /* field 4, which a BlobProto has as a number */
    memset(bytes + 101, 0xa4 & 0x7f, 101);
    assert_int_equal(read_guarded(TSR_CAFFE_BLOB_PROTO, bytes + 1, 200, &counter, NULL), TSR_OK);
    assert_int_equal(read_guarded(TSR_CAFFE_BLOB_PROTO, bytes, 202, &counter, &error), TSR_PARSE_ERROR);
    assert_string_equal(error.message, "byte 100: more than 100 groups in each other");
    assert_int_equal(counter.live, 0);
}

/* Nearly nothing, over and over: more than any net has is refused before a struct is made of each. */
static void test_many_messages(void **state)
{
    enum { MOST = 1 << 20 };
    static const struct {
        tsr_caffe_kind kind;
        char tag; /* of a field without content */
    } cases[] = {
        {TSR_CAFFE_NET_PARAMETER, '\x12'}, {TSR_CAFFE_NET_PARAMETER, '\x1a'}, {TSR_CAFFE_BLOB_PROTO_VECTOR, '\x0a'}};
    (void)state;
    char *bytes = calloc(MOST + 1, 2);
    assert_non_null(bytes);
    for (size_t i = 0; i < COUNT(cases); i++) {
        failing_allocator counter = {0};
        tsr_error error = {0};
        for (int k = 0; k <= MOST; k++)
            bytes[2 * k] = cases[i].tag;
        assert_int_equal(read_guarded(cases[i].kind, bytes, 2 * (MOST + 1), &counter, &error), TSR_UNSUPPORTED);
        assert_string_equal(error.message, "byte 2097152: more than 1048576 messages and strings");
        assert_int_equal(counter.allocations, 2); /* the handle and the copy */
        assert_int_equal(counter.live, 0);
        bytes[2 * MOST] = '\x2c'; /* one less is fine, and the reader comes to what is wrong behind it */
        assert_int_equal(read_guarded(cases[i].kind, bytes, 2 * MOST + 1, &counter, &error), TSR_PARSE_ERROR);
        assert_string_equal(error.message, "byte 2097152: the end of group 5, which is not open");
    }
    free(bytes);
}

/* ---- odd, and right ---- */

static void expect_one_two(const char *bytes, size_t size_bytes)
{
    static const int64_t dims[] = {2, 1};
    static const float values[] = {1, 2};
    tsr_caffe_blob_proto blob;
    tsr_error error = {0};
    tsr_caffe_proto *proto = parsed(TSR_CAFFE_BLOB_PROTO, bytes, size_bytes);
    if (tsr_caffe_proto_blob(&blob, proto, 0, 0, &error) != TSR_OK)
        fail_msg("%s", error.message);
    assert_int_equal(blob.rank, 2);
    assert_memory_equal(blob.dims, dims, sizeof dims);
    assert_int_equal(blob.data.count, 2);
    assert_int_equal(blob.data.dtype, TSR_F32);
    assert_memory_equal(blob.data.elements, values, sizeof values);
    assert_int_equal(blob.diff.count, 0);
    assert_false(blob.is_legacy);
    tsr_caffe_proto_free(&proto);
}

static void test_odd_messages(void **state)
{
    (void)state;
    expect_one_two(BYTES(SHAPE_2X1 DATA_1_2));
    expect_one_two(BYTES(DATA_1_2 SHAPE_2X1));
    /* packed and unpacked, and nothing packed */
    expect_one_two(BYTES("\x2d" FLOAT_1 SHAPE_2X1 "\x2a\x00\x2a\x04" FLOAT_2));
    /* a shape in parts, packed, unpacked and empty */
    expect_one_two(BYTES("\x3a\x03\x0a\x01\x02\x3a\x00" DATA_1_2 "\x3a\x02\x08\x01"));
    /* tags, lengths and numbers longer than they need be */
    expect_one_two(BYTES("\xba\x80\x80\x80\x00\x86\x80\x80\x80\x00\x0a\x83\x00\x82\x00\x01" DATA_1_2));
    /* an unknown field of each wire type, also in the shape, which shrinks */
    expect_one_two(BYTES("\xa0\x01\xff\xff\x01\xa1\x01" FLOAT_1 FLOAT_2 "\xa2\x01\x02no\xa5\x01" FLOAT_1
                         "\x3a\x0f\xa0\x01\x05\xa3\x01\x0a\x02no\xa4\x01\x0a\x02\x02\x01" DATA_1_2));
    /* known fields of another wire type are unknown ones: data as a number, num as a string, dim as a float */
    expect_one_two(BYTES("\x28\x05\x0a\x01x\x3a\x09\x0d" FLOAT_1 "\x0a\x02\x02\x01" DATA_1_2));
}

/* The last of a number counts, and a negative int32 has ten bytes. */
static void test_last_number_counts(void **state)
{
    tsr_caffe_blob_proto blob;
    tsr_error error = {0};
    (void)state;
    tsr_caffe_proto *proto = parsed(TSR_CAFFE_BLOB_PROTO, BYTES("\x08\x07\x10\x01\x18\x01\x08\x02\x20\x01" DATA_1_2));
    assert_int_equal(tsr_caffe_proto_blob(&blob, proto, 0, 0, NULL), TSR_OK);
    assert_true(blob.is_legacy && blob.rank == 4 && blob.dims[0] == 2 && blob.dims[3] == 1);
    tsr_caffe_proto_free(&proto);
    proto = parsed(TSR_CAFFE_BLOB_PROTO, BYTES("\x10\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
    assert_int_equal(tsr_caffe_proto_blob(&blob, proto, 0, 0, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "blob 0 of layer 0 \"\": expected dims of at least 0, found -2 at axis 1");
    tsr_caffe_proto_free(&proto);
}

static void test_empty_messages(void **state)
{
    tsr_caffe_net net;
    tsr_caffe_layer layer;
    tsr_caffe_blob_proto blob;
    tsr_error error = {0};
    (void)state;
    tsr_caffe_proto *proto = parsed(TSR_CAFFE_BLOB_PROTO, NULL, 0); /* a scalar without a value */
    assert_int_equal(tsr_caffe_proto_blob(&blob, proto, 0, 0, NULL), TSR_OK);
    assert_true(blob.rank == 0 && blob.data.count == 0);
    tsr_caffe_proto_free(&proto);

    proto = parsed(TSR_CAFFE_BLOB_PROTO_VECTOR, BYTES("\x0a\x00\x0a\x06" SHAPE_2X1));
    assert_int_equal(tsr_caffe_proto_layer(&layer, proto, 0, NULL), TSR_OK);
    assert_int_equal(layer.blobs, 2);
    assert_int_equal(tsr_caffe_proto_blob(&blob, proto, 0, 1, NULL), TSR_OK);
    assert_int_equal(blob.rank, 2);
    tsr_caffe_proto_free(&proto);
    assert_null(proto);
    tsr_caffe_proto_free(&proto);
    tsr_caffe_proto_free(NULL);

    proto = parsed(TSR_CAFFE_NET_PARAMETER, BYTES(""));
    tsr_caffe_proto_net(&net, proto);
    assert_string_equal(net.name, "");
    assert_true(net.layers == 0 && net.inputs == 0 && net.input_dims == 0 && net.input_shapes == 0);
    assert_int_equal(tsr_caffe_proto_find(proto, ""), -1);
    assert_int_equal(tsr_caffe_proto_layer(&layer, proto, 0, &error), TSR_OUT_OF_RANGE);
    assert_string_equal(error.message, "layer 0 of 0");
    tsr_caffe_proto_free(&proto);
}

/* ---- nets ---- */

/* Packed, not packed, and without any. */
static void test_input_shapes(void **state)
{
    static const int64_t dims[] = {1, 3, 300};
    tsr_caffe_net net;
    tsr_caffe_input_shape shape = {.axes = 7};
    tsr_error error = {0};
    (void)state;
    tsr_caffe_proto *proto = parsed(TSR_CAFFE_NET_PARAMETER, BYTES("\x1a\x01"
                                                                   "a\x42\x06\x0a\x04\x01\x03\xac\x02\x1a\x01"
                                                                   "b\x42\x04\x08\x01\x08\x03\x42\x00"));
    tsr_caffe_proto_net(&net, proto);
    assert_true(net.inputs == 2 && net.input_dims == 0 && net.input_shapes == 3);
    assert_int_equal(tsr_caffe_proto_input_shape(&shape, proto, 3, &error), TSR_OUT_OF_RANGE);
    assert_string_equal(error.message, "input shape 3 of 3");
    assert_int_equal(tsr_caffe_proto_input_shape(&shape, proto, -1, NULL), TSR_OUT_OF_RANGE);
    assert_int_equal(shape.axes, 7);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tsr_caffe_proto_input_shape(&shape, proto, i, NULL), TSR_OK);
        assert_int_equal(shape.axes, 3 - i - (i == 2));
        if (shape.axes > 0)
            assert_memory_equal(shape.dims, dims, (size_t)shape.axes * sizeof *dims);
    }
    tsr_caffe_proto_free(&proto);
    proto = parsed(TSR_CAFFE_BLOB_PROTO, NULL, 0);
    assert_int_equal(tsr_caffe_proto_input_shape(&shape, proto, 0, &error), TSR_OUT_OF_RANGE);
    assert_string_equal(error.message, "input shape 0 of 0");
    tsr_caffe_proto_free(&proto);
}

/* V0: name, type and blobs are in a layer inside. */
static void test_v0_net(void **state)
{
    static const char *const types[] = {"Convolution", "padding", "InnerProduct", ""};
    tsr_caffe_layer layer;
    tsr_caffe_blob_proto blob;
    tsr_error error = {0};
    (void)state;
    tsr_caffe_proto *proto = parsed(TSR_CAFFE_NET_PARAMETER,
                                    BYTES("\x12\x28\x0a\x20\x0a\x01"
                                          "c\x12\x04"
                                          "conv\x92\x03\x12\x08\x01\x10\x01\x18\x01\x20\x02" DATA_1_2 "\x50\x01\x12\x01"
                                          "a\x1a\x01"
                                          "b"
                                          "\x12\x0b\x0a\x09\x12\x07padding"
                                          "\x12\x10\x0a\x0e\x12\x0cinnerproduct"
                                          "\x12\x03\x28\xe7\x07")); /* V1, of type 999 */
    for (int i = 0; i < 4; i++) {
        assert_int_equal(tsr_caffe_proto_layer(&layer, proto, i, NULL), TSR_OK);
        assert_string_equal(layer.type, types[i]);
    }
    assert_int_equal(tsr_caffe_proto_layer(&layer, proto, 0, NULL), TSR_OK);
    assert_string_equal(layer.name, "c");
    assert_true(layer.bottoms == 1 && layer.tops == 1 && layer.blobs == 1);
    assert_string_equal(layer.bottom[0], "a");
    assert_string_equal(layer.top[0], "b");
    assert_int_equal(tsr_caffe_proto_blob(&blob, proto, 0, 0, NULL), TSR_OK);
    assert_true(blob.is_legacy && blob.dims[3] == 2 && blob.data.count == 2);
    assert_int_equal(tsr_caffe_proto_blob(&blob, proto, 0, 1, &error), TSR_OUT_OF_RANGE);
    assert_string_equal(error.message, "blob 1 of 1 in layer 0 \"c\"");
    assert_int_equal(tsr_caffe_proto_blob(&blob, proto, -1, 0, &error), TSR_OUT_OF_RANGE);
    assert_string_equal(error.message, "layer -1 of 4");
    tsr_caffe_proto_free(&proto);
}

/* A blob that cannot be is an error of its own; the rest of the net can be read. */
static void test_wrong_blob_in_net(void **state)
{
    tsr_caffe_blob_proto blob = {.rank = 7};
    tsr_error error = {0};
    (void)state;
    tsr_caffe_proto *proto = parsed(TSR_CAFFE_NET_PARAMETER, BYTES("\xa2\x06\x16\x0a\x02i\x1b\x3a\x08\x2a\x04" FLOAT_1
                                                                   "\x08\x02\x3a\x06" SHAPE_2X1));
    assert_int_equal(tsr_caffe_proto_blob(&blob, proto, 0, 0, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "blob 0 of layer 0 \"i\\x1b\": 1 values of data, expected 0 for the shape");
    assert_int_equal(blob.rank, 7);
    assert_int_equal(tsr_caffe_proto_blob(&blob, proto, 0, 1, NULL), TSR_OK);
    assert_int_equal(blob.rank, 2);
    tsr_caffe_proto_free(&proto);
}

/* ---- blobs that cannot be ---- */

static const struct {
    const char *bytes;
    size_t size_bytes;
    tsr_status status;
    const char *message;
} wrong_blobs[] = {
    {BYTES("\x3a\x07\x0a\x05\x80\x80\x80\x80\x08"), TSR_OVERFLOW,
     "expected at most 2147483647 elements, found more with the 2147483648 of axis 0"},
    {BYTES("\x3a\x07\x0a\x05\x81\x80\x80\x80\x10"), TSR_OVERFLOW,
     "expected at most 2147483647 elements, found more with the 4294967297 of axis 0"},
    {BYTES("\x3a\x08\x0a\x06\x00\x80\x80\x80\x80\x10"), TSR_OVERFLOW,
     "expected at most 2147483647 elements, found more with the 4294967296 of axis 1"},
    {BYTES("\x3a\x0c\x0a\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), TSR_INVALID_ARGUMENT,
     "expected dims of at least 0, found -1 at axis 0"},
    {BYTES("\x3a\x08\x0a\x06\x85\xea\x02\x85\xea\x02"), TSR_OVERFLOW,
     "expected at most 2147483647 elements, found more with the 46341 of axis 1"},
    {BYTES("\x3a\x0c\x0a\x0a\xff\xff\xff\xff\x07\xff\xff\xff\xff\x07\x3a\x02\x08\x00"), TSR_OVERFLOW,
     "expected at most 2147483647 elements, found more with the 2147483647 of axis 1"},
    {BYTES("\x3a\x23\x0a\x21\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"
           "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"),
     TSR_INVALID_ARGUMENT, "more than 32 axes"},
    {BYTES(DATA_1_2), TSR_INVALID_ARGUMENT, "2 values of data, expected 1 for the shape"},
    {BYTES(DATA_1_2 SHAPE_2X1 "\x32\x04" FLOAT_1), TSR_INVALID_ARGUMENT, "1 values of diff, expected 2 for the shape"},
    {BYTES(DATA_1_2 SHAPE_2X1 "\x42\x08" FLOAT_1 FLOAT_1), TSR_INVALID_ARGUMENT,
     "1 values of data, expected 2 for the shape"},
    {BYTES(DATA_1_2 "\x20\x02"), TSR_INVALID_ARGUMENT, "2 values of data, expected 0 for the shape"},
};

static void test_wrong_blobs(void **state)
{
    char expected[TSR_ERROR_MESSAGE_SIZE];
    (void)state;
    for (size_t i = 0; i < COUNT(wrong_blobs); i++) {
        tsr_caffe_blob_proto blob = {.rank = 7};
        tsr_error error = {0};
        tsr_caffe_proto *proto = parsed(TSR_CAFFE_BLOB_PROTO, wrong_blobs[i].bytes, wrong_blobs[i].size_bytes);
        assert_int_equal(tsr_caffe_proto_blob(&blob, proto, 0, 0, &error), wrong_blobs[i].status);
        snprintf(expected, sizeof expected, "blob 0 of layer 0 \"\": %s", wrong_blobs[i].message);
        assert_string_equal(error.message, expected);
        assert_int_equal(blob.rank, 7);
        tsr_caffe_proto_free(&proto);
    }
}

/* As in Caffe, dims behind a 0 are free up to INT_MAX. */
static void test_zero_first(void **state)
{
    tsr_caffe_blob_proto blob;
    (void)state;
    tsr_caffe_proto *proto =
        parsed(TSR_CAFFE_BLOB_PROTO, BYTES("\x3a\x0d\x0a\x0b\x00\xff\xff\xff\xff\x07\xff\xff\xff\xff\x07"));
    assert_int_equal(tsr_caffe_proto_blob(&blob, proto, 0, 0, NULL), TSR_OK);
    assert_true(blob.rank == 3 && blob.dims[2] == INT_MAX);
    tsr_caffe_proto_free(&proto);
}

/* ---- writing ---- */

static const float one_two[] = {1, 2};
static const double three_four[] = {3, 4};

static tsr_caffe_blob_proto blob_of_two(void)
{
    return (tsr_caffe_blob_proto){.rank = 2, .dims = {2, 1}, .data = {TSR_F32, 2, one_two}};
}

static void test_write(void **state)
{
    char bytes[64];
    size_t size_bytes = 0;
    tsr_error error = {0};
    tsr_caffe_blob_proto blob = blob_of_two(), again;
    (void)state;
    assert_int_equal(tsr_caffe_blob_proto_write(&blob, NULL, 0, &size_bytes, NULL), TSR_OK);
    assert_int_equal(size_bytes, sizeof(DATA_1_2 SHAPE_2X1) - 1);
    memset(bytes, 'x', sizeof bytes);
    assert_int_equal(tsr_caffe_blob_proto_write(&blob, bytes, size_bytes - 1, &size_bytes, &error), TSR_OUT_OF_RANGE);
    assert_string_equal(error.message, "a BlobProto of 16 bytes, but room for 15");
    assert_int_equal(bytes[0], 'x');
    assert_int_equal(tsr_caffe_blob_proto_write(&blob, bytes, size_bytes, &size_bytes, NULL), TSR_OK);
    assert_memory_equal(bytes, DATA_1_2 SHAPE_2X1 "x", size_bytes + 1);

    /* each array in the field of its type */
    blob.diff = (tsr_caffe_values){TSR_F64, 2, three_four};
    assert_int_equal(tsr_caffe_blob_proto_write(&blob, bytes, sizeof bytes, &size_bytes, NULL), TSR_OK);
    tsr_caffe_proto *proto = parsed(TSR_CAFFE_BLOB_PROTO, bytes, size_bytes);
    assert_int_equal(tsr_caffe_proto_blob(&again, proto, 0, 0, NULL), TSR_OK);
    assert_true(again.data.dtype == TSR_F32 && again.diff.dtype == TSR_F64);
    assert_memory_equal(again.data.elements, one_two, sizeof one_two);
    assert_memory_equal(again.diff.elements, three_four, sizeof three_four);
    tsr_caffe_proto_free(&proto);

    blob = (tsr_caffe_blob_proto){0}; /* a scalar without a value */
    assert_int_equal(tsr_caffe_blob_proto_write(&blob, bytes, 0, &size_bytes, NULL), TSR_OK);
    assert_int_equal(size_bytes, 0);
}

static void refuse(const tsr_caffe_blob_proto *blob, tsr_status status, const char *message)
{
    size_t size_bytes = 7;
    tsr_error error = {0};
    assert_int_equal(tsr_caffe_blob_proto_write(blob, NULL, 0, &size_bytes, &error), status);
    assert_string_equal(error.message, message);
    assert_int_equal(size_bytes, 7);
}

static void test_write_refusals(void **state)
{
    tsr_caffe_blob_proto blob = blob_of_two();
    (void)state;
    blob.rank = 33;
    refuse(&blob, TSR_INVALID_ARGUMENT, "expected 0 to 32 axes, found 33");
    blob = blob_of_two();
    blob.dims[1] = 2;
    refuse(&blob, TSR_INVALID_ARGUMENT, "2 values of data, expected 4 for the shape");
    blob = blob_of_two();
    blob.data.dtype = TSR_S32;
    refuse(&blob, TSR_INVALID_ARGUMENT, "data of type s32, expected f32 or f64");
    blob = blob_of_two();
    blob.diff = (tsr_caffe_values){TSR_F64, 2, NULL};
    refuse(&blob, TSR_INVALID_ARGUMENT, "diff has no elements");
    blob = blob_of_two();
    blob.diff = (tsr_caffe_values){TSR_F64, -1, three_four};
    refuse(&blob, TSR_INVALID_ARGUMENT, "-1 values of diff, expected 2 for the shape");
    /* too large, which is seen without a look at the values */
    blob = (tsr_caffe_blob_proto){.rank = 1, .dims = {1 << 28}, .data = {TSR_F64, 1 << 28, three_four}};
    refuse(&blob, TSR_OVERFLOW, "a BlobProto of 2147483663 bytes, expected at most 2147483647");
}

/* ---- files ---- */

static void test_files(void **state)
{
    int ends[2];
    char path[32], expected[128];
    tsr_caffe_proto *proto = NULL;
    tsr_error error = {0};
    (void)state;
    assert_int_equal(tsr_caffe_proto_open(&proto, TSR_CAFFE_BLOB_PROTO, "/nowhere", NULL, &error), TSR_IO_ERROR);
    assert_string_equal(error.message, "/nowhere: cannot open: No such file or directory");
    assert_int_equal(tsr_caffe_proto_open(&proto, TSR_CAFFE_BLOB_PROTO, "/dev/null", NULL, NULL), TSR_OK);
    tsr_caffe_proto_free(&proto);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], DATA_1_2 "\x2c", sizeof DATA_1_2), sizeof DATA_1_2);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    snprintf(expected, sizeof expected, "%s: byte 10: the end of group 5, which is not open", path);
    assert_int_equal(tsr_caffe_proto_open(&proto, TSR_CAFFE_BLOB_PROTO, path, NULL, &error), TSR_PARSE_ERROR);
    assert_string_equal(error.message, expected);
    assert_null(proto);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_messages),    cmocka_unit_test(test_huge_message),
        cmocka_unit_test(test_deep_groups),       cmocka_unit_test(test_many_messages),
        cmocka_unit_test(test_odd_messages),      cmocka_unit_test(test_last_number_counts),
        cmocka_unit_test(test_empty_messages),    cmocka_unit_test(test_v0_net),
        cmocka_unit_test(test_wrong_blob_in_net), cmocka_unit_test(test_wrong_blobs),
        cmocka_unit_test(test_zero_first),        cmocka_unit_test(test_write),
        cmocka_unit_test(test_write_refusals),    cmocka_unit_test(test_files),
        cmocka_unit_test(test_input_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void expect_absent(tsr_status status, tsr_error *error)
{
    assert_int_equal(status, TSR_UNSUPPORTED);
    assert_int_equal(error->status, TSR_UNSUPPORTED);
    assert_string_equal(error->message, "this build has no protobuf-c");
    *error = (tsr_error){0};
}

static void test_absent(void **state)
{
    size_t size_bytes;
    tsr_error error = {0};
    tsr_caffe_net net;
    tsr_caffe_layer layer;
    tsr_caffe_input_shape shape;
    tsr_caffe_blob_proto blob = {0};
    tsr_caffe_proto *proto = NULL;
    (void)state;
    expect_absent(tsr_caffe_proto_parse(&proto, TSR_CAFFE_BLOB_PROTO, "", 0, NULL, &error), &error);
    expect_absent(tsr_caffe_proto_open(&proto, TSR_CAFFE_BLOB_PROTO, "/dev/null", NULL, &error), &error);
    expect_absent(tsr_caffe_proto_layer(&layer, proto, 0, &error), &error);
    expect_absent(tsr_caffe_proto_input_shape(&shape, proto, 0, &error), &error);
    expect_absent(tsr_caffe_proto_blob(&blob, proto, 0, 0, &error), &error);
    expect_absent(tsr_caffe_blob_proto_write(&blob, NULL, 0, &size_bytes, &error), &error);
    tsr_caffe_proto_net(&net, proto);
    assert_int_equal(net.layers, 0);
    assert_int_equal(tsr_caffe_proto_find(proto, ""), -1);
    tsr_caffe_proto_free(&proto);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_absent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
