/* SPDX-License-Identifier: Apache-2.0 */
/* What openvino.h promises beyond the recorded answers: all values, and the message of each refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <tessera/openvino.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LONGS(...) ((const int64_t[]){__VA_ARGS__})

static tsr_error error;

static void expect(tsr_status found, tsr_status wanted, const char *message)
{
    assert_int_equal(found, wanted);
    assert_string_equal(error.message, message);
}

static tsr_precision precision_of(tsr_precision_value value)
{
    return tsr_precision_from_value((int)value);
}

/* ---- precisions ---- */

static void test_precisions(void **state)
{
    static const int values[] = {0, 10, 11, 12, 13, 14, 20, 30, 39, 40, 41, 49, 50, 60, 70, 71, 72, 73, 74};
    (void)state;
    for (size_t i = 0; i < COUNT(values); i++) {
        tsr_precision precision = tsr_precision_from_value(values[i]);
        tsr_precision named = tsr_precision_from_name(precision.name);
        assert_int_equal(precision.value, values[i]);
        assert_true(tsr_precision_equal(&precision, &named));
        tsr_dtype dtype = tsr_precision_dtype(&precision);
        tsr_precision again = tsr_precision_of_dtype(dtype);
        assert_int_equal(precision.bits, tsr_dtype_bits(dtype));
        assert_int_equal(tsr_precision_equal(&again, &precision), dtype != TSR_DTYPE_NONE);
        assert_false(tsr_precision_is_stored_as(&precision, TSR_DTYPE_COUNT));
    }
    assert_int_equal(tsr_precision_from_value(80).value, TSR_PRECISION_UNSPECIFIED);
    assert_int_equal(tsr_precision_from_value(-1).value, TSR_PRECISION_UNSPECIFIED);
    assert_int_equal(tsr_precision_from_name("CUSTOM").value, TSR_PRECISION_UNSPECIFIED);
    assert_int_equal(tsr_precision_of_dtype(TSR_F8_E4M3).value, TSR_PRECISION_UNSPECIFIED);
}

static void test_custom_precisions(void **state)
{
    tsr_precision a, b, c, d;
    char name[] = "XXX";
    size_t size = 0;
    (void)state;
    assert_int_equal(tsr_precision_custom(&a, 12, "XXX", NULL), TSR_OK);
    assert_int_equal(tsr_precision_custom(&b, 12, name, NULL), TSR_OK);
    assert_int_equal(tsr_precision_custom(&c, 13, "XXX", NULL), TSR_OK);
    assert_int_equal(tsr_precision_custom(&d, 12, NULL, NULL), TSR_OK);
    assert_true(tsr_precision_equal(&a, &b));
    assert_false(tsr_precision_equal(&a, &c));
    assert_false(tsr_precision_equal(&a, &d));
    assert_int_equal(tsr_precision_custom(&c, 257 * 8, NULL, NULL), TSR_OK);
    assert_int_equal(tsr_precision_size_bytes(&c, &size, NULL), TSR_OK);
    assert_int_equal(size, 257);
    expect(tsr_precision_custom(&a, 0, "none", &error), TSR_INVALID_ARGUMENT,
           "a custom precision has 1 bit or more, found 0");
    assert_int_equal(a.bits, 12);
}

/* ---- layouts ---- */

static void test_layouts(void **state)
{
    static const struct {
        tsr_ie_layout layout;
        const char *name;
        int rank, order[6];
    } rows[] = {
        {TSR_IE_ANY, "ANY", -1, {0, 1, 2, 3, 4, 5}},
        {TSR_IE_SCALAR, "SCALAR", 0, {0, 1, 2, 3, 4, 5}},
        {TSR_IE_C, "C", 1, {0, 1, 2, 3, 4, 5}},
        {TSR_IE_HW, "HW", 2, {0, 1, 2, 3, 4, 5}},
        {TSR_IE_NC, "NC", 2, {0, 1, 2, 3, 4, 5}},
        {TSR_IE_CN, "CN", 2, {1, 0, 2, 3, 4, 5}},
        {TSR_IE_CHW, "CHW", 3, {0, 1, 2, 3, 4, 5}},
        {TSR_IE_HWC, "HWC", 3, {1, 2, 0, 3, 4, 5}},
        {TSR_IE_NCHW, "NCHW", 4, {0, 1, 2, 3, 4, 5}},
        {TSR_IE_NHWC, "NHWC", 4, {0, 2, 3, 1, 4, 5}},
        {TSR_IE_OIHW, "OIHW", 4, {0, 1, 2, 3, 4, 5}},
        {TSR_IE_NCDHW, "NCDHW", 5, {0, 1, 2, 3, 4, 5}},
        {TSR_IE_NDHWC, "NDHWC", 5, {0, 2, 3, 4, 1, 5}},
        {TSR_IE_OIDHW, "OIDHW", 5, {0, 1, 2, 3, 4, 5}},
        {TSR_IE_GOIHW, "GOIHW", 5, {0, 1, 2, 3, 4, 5}},
        {TSR_IE_GOIDHW, "GOIDHW", 6, {0, 1, 2, 3, 4, 5}},
        {TSR_IE_BLOCKED, "BLOCKED", -1, {0, 1, 2, 3, 4, 5}},
    };
    tsr_ie_layout found = TSR_IE_ANY;
    int order[6];
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_string_equal(tsr_ie_layout_name(rows[i].layout), rows[i].name);
        assert_int_equal(tsr_ie_layout_from_name(&found, rows[i].name, NULL), TSR_OK);
        assert_int_equal(found, rows[i].layout);
        assert_int_equal(tsr_ie_layout_rank(rows[i].layout), rows[i].rank);
        tsr_ie_layout_order(rows[i].layout, order);
        assert_memory_equal(order, rows[i].order, sizeof order);
    }
    assert_null(tsr_ie_layout_name((tsr_ie_layout)5));
    assert_int_equal(tsr_ie_layout_rank((tsr_ie_layout)5), -1);
    tsr_ie_layout_order((tsr_ie_layout)5, order);
    assert_int_equal(order[1], 1);
    expect(tsr_ie_layout_from_name(&found, "nchw", &error), TSR_PARSE_ERROR,
           "expected a layout such as NCHW or BLOCKED, found \"nchw\"");
}

static void test_usual_layouts(void **state)
{
    static const tsr_ie_layout by_rank[] = {TSR_IE_SCALAR, TSR_IE_C,     TSR_IE_NC,     TSR_IE_CHW,
                                            TSR_IE_NCHW,   TSR_IE_NCDHW, TSR_IE_BLOCKED};
    (void)state;
    for (int rank = 0; rank < (int)COUNT(by_rank); rank++) {
        assert_int_equal(tsr_ie_layout_by_rank(rank, NULL), by_rank[rank]);
        assert_int_equal(tsr_ie_layout_by_dims(rank, LONGS(1, 2, 3, 4, 5, 6)),
                         rank == 3 ? TSR_IE_BLOCKED : by_rank[rank]);
    }
    assert_int_equal(tsr_ie_layout_by_rank(1, LONGS(0)), TSR_IE_BLOCKED);
    assert_int_equal(tsr_ie_layout_by_rank(1, LONGS(2)), TSR_IE_C);
    assert_int_equal(tsr_ie_layout_by_rank(-1, NULL), TSR_IE_BLOCKED);
}

/* ---- tensor descriptors ---- */

static tsr_tensor_desc made(tsr_precision_value precision, int rank, const int64_t *dims, tsr_ie_layout layout)
{
    tsr_tensor_desc tensor;
    assert_int_equal(tsr_tensor_desc_from_layout(&tensor, precision_of(precision), rank, dims, layout, NULL), TSR_OK);
    return tensor;
}

static void test_refused_building(void **state)
{
    tsr_precision fp32 = precision_of(TSR_PRECISION_FP32), mixed = precision_of(TSR_PRECISION_MIXED);
    tsr_tensor_desc tensor;
    const int64_t dims[TSR_MAX_RANK + 1] = {1, 2};
    tsr_blocking nothing = {0};
    (void)state;
    expect(tsr_tensor_desc_from_layout(&tensor, mixed, 2, dims, TSR_IE_NC, &error), TSR_UNSUPPORTED,
           "memory of precision MIXED cannot be described");
    expect(tsr_tensor_desc_from_layout(&tensor, fp32, 2, dims, (tsr_ie_layout)5, &error), TSR_INVALID_ARGUMENT,
           "expected a layout, found number 5");
    expect(tsr_tensor_desc_from_layout(&tensor, fp32, -1, dims, TSR_IE_ANY, &error), TSR_INVALID_ARGUMENT,
           "expected a rank of 0 to 32, found -1");
    expect(tsr_tensor_desc_from_layout(&tensor, fp32, 33, dims, TSR_IE_ANY, &error), TSR_INVALID_ARGUMENT,
           "expected a rank of 0 to 32, found 33");
    expect(tsr_tensor_desc_from_layout(&tensor, fp32, 2, dims, TSR_IE_NCHW, &error), TSR_INVALID_ARGUMENT,
           "layout NCHW has 4 axes, the dims have 2");
    expect(tsr_tensor_desc_from_blocking(&tensor, mixed, 2, dims, &nothing, &error), TSR_UNSUPPORTED,
           "memory of precision MIXED cannot be described");
    expect(tsr_tensor_desc_from_blocking(&tensor, fp32, 2, dims, &nothing, &error), TSR_INVALID_ARGUMENT,
           "expected 1 block dim or more, found none");
    tsr_blocking spare = {.levels = 2, .block_dims = LONGS(1, 5), .order = (const int[]){0, 1}};
    expect(tsr_tensor_desc_from_blocking(&tensor, fp32, 2, dims, &spare, &error), TSR_INVALID_ARGUMENT,
           "block_dims[1] is 5, axis 1 of 2 needs 2");
    tensor = made(TSR_PRECISION_FP32, 2, dims, TSR_IE_NC);
    tsr_tensor_desc before = tensor;
    assert_int_equal(tsr_tensor_desc_reshape_blocking(&tensor, &tensor, 2, dims, &spare, NULL), TSR_INVALID_ARGUMENT);
    assert_true(tsr_tensor_desc_equal(&tensor, &before));
}

static void test_refused_changes(void **state)
{
    tsr_tensor_desc bytes = made(TSR_PRECISION_U8, 1, LONGS(INT64_MAX / 4), TSR_IE_C), tensor;
    tsr_tensor_desc blocked = made(TSR_PRECISION_U8, 2, LONGS(2, 3), TSR_IE_BLOCKED);
    tsr_tensor_desc scalar = made(TSR_PRECISION_U8, 0, NULL, TSR_IE_SCALAR);
    (void)state;
    expect(tsr_tensor_desc_set_precision(&tensor, &bytes, precision_of(TSR_PRECISION_MIXED), &error), TSR_UNSUPPORTED,
           "memory of precision MIXED cannot be described");
    expect(tsr_tensor_desc_set_precision(&tensor, &bytes, precision_of(TSR_PRECISION_FP64), &error), TSR_OVERFLOW,
           "the product of the dims does not fit into 63 bits of bytes");
    expect(tsr_tensor_desc_set_dims(&tensor, &blocked, 3, LONGS(1, 2, 3), &error), TSR_INVALID_ARGUMENT,
           "a blocked layout of 2 axes in 2 levels has no place for 3 dims: reshape it");
    expect(tsr_tensor_desc_set_dims(&tensor, &blocked, 2, LONGS(1, -2), &error), TSR_INVALID_ARGUMENT,
           "dims[1] is -2, expected 0 or more");
    for (int i = 0; i < 2; i++)
        expect(tsr_tensor_desc_set_dims(&tensor, &scalar, 1 + i, LONGS(2, 1), &error), TSR_INVALID_ARGUMENT,
               "a SCALAR has no dims, or the dims {1}");
    assert_int_equal(tsr_tensor_desc_set_dims(&tensor, &scalar, 1, LONGS(1), NULL), TSR_OK);
    assert_int_equal(tensor.desc.rank, 0);
    expect(tsr_tensor_desc_set_layout(&tensor, &blocked, TSR_IE_NCHW, &error), TSR_INVALID_ARGUMENT,
           "layout NCHW has 4 axes, the dims have 2");
    blocked.layout = TSR_IE_NCHW; /* no function makes such a one */
    expect(tsr_tensor_desc_set_layout(&tensor, &blocked, TSR_IE_NC, &error), TSR_INVALID_ARGUMENT,
           "memory is not dense NCHW, and would not be NC by being called so: reshape it");
}

/* A BLOCKED without a block yet takes any dims, one with a block keeps their number. */
static void test_blocked_dims(void **state)
{
    tsr_tensor_desc none = made(TSR_PRECISION_U8, 1, LONGS(0), TSR_IE_BLOCKED), tensor;
    tsr_tensor_desc one = made(TSR_PRECISION_U8, 1, LONGS(4), TSR_IE_BLOCKED);
    (void)state;
    assert_int_equal(tsr_tensor_desc_set_dims(&tensor, &none, 3, LONGS(1, 2, 3), NULL), TSR_OK);
    assert_int_equal(tensor.desc.levels, 3);
    assert_int_equal(tsr_tensor_desc_set_dims(&tensor, &one, 1, LONGS(7), NULL), TSR_OK);
    assert_int_equal(tensor.desc.block_dims[0], 7);
    assert_int_equal(tsr_tensor_desc_set_dims(&tensor, &one, 2, LONGS(7, 7), NULL), TSR_INVALID_ARGUMENT);
}

/* Seed 004, example 1: both forms of NHWC with 25 channels are one. */
static void test_block_dims(void **state)
{
    tsr_precision fp32 = precision_of(TSR_PRECISION_FP32);
    tsr_blocking blocking = {.levels = 4, .block_dims = LONGS(1, 20, 20, 25), .order = (const int[]){0, 2, 3, 1}};
    tsr_tensor_desc by_layout, by_order;
    (void)state;
    assert_int_equal(tsr_tensor_desc_from_block_dims(&by_layout, fp32, 4, LONGS(1, 20, 20, 25), TSR_IE_NHWC, NULL),
                     TSR_OK);
    assert_int_equal(tsr_tensor_desc_from_blocking(&by_order, fp32, 4, LONGS(1, 25, 20, 20), &blocking, NULL), TSR_OK);
    assert_true(tsr_tensor_desc_equal(&by_layout, &by_order));
    expect(tsr_tensor_desc_from_block_dims(&by_layout, fp32, 3, LONGS(1, 20, 20), TSR_IE_NHWC, &error),
           TSR_INVALID_ARGUMENT, "layout NHWC has 4 axes, the dims have 3");
}

/* ---- regions ---- */

static void test_refused_regions(void **state)
{
    tsr_tensor_desc image = made(TSR_PRECISION_U8, 4, LONGS(2, 3, 4, 5), TSR_IE_NHWC), tensor;
    tsr_tensor_desc scalar = made(TSR_PRECISION_U8, 0, NULL, TSR_IE_SCALAR);
    static const struct {
        tsr_roi roi;
        const char *message;
    } rois[] = {
        {{0, 0, 0, -1, 1}, "image 0, x 0 + -1, y 0 + 1 is no rectangle"},
        {{0, 0, 0, 1, -1}, "image 0, x 0 + 1, y 0 + -1 is no rectangle"},
        {{INT64_MAX, 0, 0, 1, 1}, "image 9223372036854775807, x 0 + 1, y 0 + 1 is no rectangle"},
        {{0, INT64_MAX, 0, 1, 1}, "image 0, x 9223372036854775807 + 1, y 0 + 1 is no rectangle"},
        {{0, 0, INT64_MAX, 1, 1}, "image 0, x 0 + 1, y 9223372036854775807 + 1 is no rectangle"},
        {{2, 0, 0, 1, 1}, "axis 0: expected 0 <= begin <= end <= 2, found 2 and 3"},
        {{0, -1, 0, 1, 1}, "axis 3: expected 0 <= begin <= end <= 5, found -1 and 0"},
        {{0, 0, 4, 1, 1}, "axis 2: expected 0 <= begin <= end <= 4, found 4 and 5"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rois); i++)
        expect(tsr_tensor_desc_roi(&tensor, &image, &rois[i].roi, true, &error), TSR_OUT_OF_RANGE, rois[i].message);
    expect(tsr_tensor_desc_range(&tensor, &image, 4, LONGS(0, 2, 0, 0), LONGS(1, 1, 1, 1), true, &error),
           TSR_OUT_OF_RANGE, "axis 1: expected 0 <= begin <= end <= 3, found 2 and 1");
    expect(tsr_tensor_desc_range(&tensor, &image, 3, LONGS(0, 0, 0), LONGS(1, 1, 1), true, &error),
           TSR_INVALID_ARGUMENT, "expected a region of 4 axes, found 3");
    expect(tsr_tensor_desc_range(&tensor, &scalar, 0, NULL, NULL, true, &error), TSR_INVALID_ARGUMENT,
           "a region needs one level for each axis, found 0 levels of 0 axes: see tsr_view_crop");
    image.precision = precision_of(TSR_PRECISION_MIXED); /* no function makes such a one */
    expect(tsr_tensor_desc_range(&tensor, &image, 4, LONGS(0, 0, 0, 0), LONGS(1, 1, 1, 1), false, &error),
           TSR_UNSUPPORTED, "memory of precision MIXED cannot be described");
}

/* An empty region is a tensor without elements. */
static void test_empty_region(void **state)
{
    tsr_tensor_desc image = made(TSR_PRECISION_U8, 4, LONGS(2, 3, 4, 5), TSR_IE_NCHW), tensor;
    tsr_roi roi = {.id = 1, .pos_x = 5, .pos_y = 2};
    (void)state;
    assert_int_equal(tsr_tensor_desc_roi(&tensor, &image, &roi, true, NULL), TSR_OK);
    assert_int_equal(tsr_desc_elements(&tensor.desc), 0);
    assert_int_equal(tsr_desc_check(&tensor.desc, false, NULL), TSR_OK);
}

/* ---- equality ---- */

/* Each change of one field alone makes two of them different. */
static void test_equality(void **state)
{
    tsr_tensor_desc a = made(TSR_PRECISION_U8, 2, LONGS(2, 3), TSR_IE_NC), b = a;
    (void)state;
    assert_true(tsr_tensor_desc_equal(&a, &b));
    b.precision = precision_of(TSR_PRECISION_I8);
    assert_false(tsr_tensor_desc_equal(&a, &b));
    b = a, b.layout = TSR_IE_HW;
    assert_false(tsr_tensor_desc_equal(&a, &b));
    b = a, b.desc.rank = 1;
    assert_false(tsr_tensor_desc_equal(&a, &b));
    b = a, b.desc.levels = 1;
    assert_false(tsr_tensor_desc_equal(&a, &b));
    b = a, b.desc.offset = 1;
    assert_false(tsr_tensor_desc_equal(&a, &b));
    b = a, b.desc.dims[1] = 2;
    assert_false(tsr_tensor_desc_equal(&a, &b));
    b = a, b.desc.order[0] = 1;
    assert_false(tsr_tensor_desc_equal(&a, &b));
    b = a, b.desc.block_dims[0] = 3;
    assert_false(tsr_tensor_desc_equal(&a, &b));
    b = a, b.desc.strides[0] = 4;
    assert_false(tsr_tensor_desc_equal(&a, &b));
    b = a, b.region_start[0] = 1;
    assert_false(tsr_tensor_desc_equal(&a, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_precisions),       cmocka_unit_test(test_custom_precisions),
        cmocka_unit_test(test_layouts),          cmocka_unit_test(test_usual_layouts),
        cmocka_unit_test(test_refused_building), cmocka_unit_test(test_refused_changes),
        cmocka_unit_test(test_blocked_dims),     cmocka_unit_test(test_block_dims),
        cmocka_unit_test(test_refused_regions),  cmocka_unit_test(test_empty_region),
        cmocka_unit_test(test_equality),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
