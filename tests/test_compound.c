/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <tessera/compound.h>
#include <tessera/text.h>

#include "accesses.h"
#include "failing_allocator.h"
#include "parsed.h"
#include "place.h"

enum { ROOM = 8 };

/* ---- blobs: of u8, element i in row-major order is first + i ---- */

static tsr_blob *blob_of(const char *text)
{
    const tsr_desc desc = parsed_desc(text);
    return blob_at_home(&desc);
}

static tsr_blob *ramp_of(const char *text, int first)
{
    tsr_desc desc;
    tsr_blob *blob = blob_of(text);
    tsr_access access = acquire(blob, NULL, TSR_WRITE);
    tsr_access_get_desc(&access, &desc);
    for (int64_t i = 0, at; i < tsr_desc_elements(&desc); i++) {
        assert_int_equal(tsr_desc_offset_linear(&desc, i, &at, NULL), TSR_OK);
        ((uint8_t *)access.data)[at] = (uint8_t)(first + i);
    }
    release(&access);
    return blob;
}

static int value_at(tsr_blob *blob, int64_t linear)
{
    tsr_desc desc;
    int64_t at = 0;
    tsr_access access = acquire(blob, NULL, TSR_READ);
    tsr_access_get_desc(&access, &desc);
    assert_int_equal(tsr_desc_offset_linear(&desc, linear, &at, NULL), TSR_OK);
    const int value = ((const uint8_t *)access.data)[at];
    release(&access);
    return value;
}

static void set_value(tsr_blob *blob, int value)
{
    tsr_access access = acquire(blob, NULL, TSR_READ_WRITE);
    *(uint8_t *)tsr_access_first_element(&access) = (uint8_t)value;
    release(&access);
}

static void expect_dims(tsr_blob *blob, int64_t n, int64_t c, int64_t h, int64_t w)
{
    const int64_t dims[] = {n, c, h, w};
    tsr_desc desc;
    tsr_blob_get_desc(blob, &desc);
    assert_int_equal(desc.rank, 4);
    for (int k = 0; k < 4; k++)
        assert_int_equal(desc.dims[k], dims[k]);
}

static void free_all(tsr_blob **blobs, int count)
{
    for (int i = 0; i < count; i++)
        tsr_blob_free(&blobs[i]);
}

/* NV12 of planes that nobody else keeps; luma counts from 0, chroma from 100. */
static tsr_compound *nv12_of(const char *y_text, const char *uv_text)
{
    tsr_compound *made = NULL;
    tsr_error error = {0};
    tsr_blob *y = ramp_of(y_text, 0), *uv = ramp_of(uv_text, 100);
    if (tsr_compound_create_nv12(&made, y, uv, &error) != TSR_OK)
        fail_msg("%s", error.message);
    tsr_blob_free(&y);
    tsr_blob_free(&uv);
    return made;
}

/* ---- plain ---- */

static void test_plain(void **state)
{
    (void)state;
    tsr_compound *compound = NULL;
    tsr_tensor_desc desc;
    tsr_blob *blobs[] = {ramp_of("u8:nchw 1x3x4x5", 7), blob_of("f32:ab 2x3")};
    assert_int_equal(tsr_compound_create(&compound, blobs, 2, NULL), TSR_OK);
    assert_int_equal(tsr_compound_get_kind(compound), TSR_COMPOUND_PLAIN);
    assert_int_equal(tsr_compound_count(compound), 2);
    assert_ptr_equal(tsr_compound_get(compound, 1), blobs[1]);
    assert_null(tsr_compound_get(compound, 2));
    assert_null(tsr_compound_get(compound, -1));
    assert_null(tsr_compound_get_yuv(compound, 0));
    tsr_compound_get_desc(compound, &desc);
    const tsr_tensor_desc nothing = tsr_tensor_desc_default();
    assert_true(tsr_tensor_desc_equal(&desc, &nothing));
    set_value(blobs[0], 99); /* seen through the compound, which keeps the blob */
    free_all(blobs, 2);
    tsr_compound *other = tsr_compound_share(compound);
    tsr_compound_free(&compound);
    assert_null(compound);
    assert_int_equal(value_at(tsr_compound_get(other, 0), 0), 99);
    assert_int_equal(value_at(tsr_compound_get(other, 0), 1), 8);
    tsr_compound_free(&other);
    tsr_compound_free(&other);
    tsr_compound_free(NULL);
    assert_null(tsr_compound_share(NULL));
}

static void test_empty(void **state)
{
    (void)state;
    tsr_compound *compound = NULL, *region = NULL;
    assert_int_equal(tsr_compound_create(&compound, NULL, 0, NULL), TSR_OK);
    assert_int_equal(tsr_compound_count(compound), 0);
    assert_null(tsr_compound_get(compound, 0));
    assert_int_equal(tsr_compound_create_region(&region, compound, &(tsr_roi){0, 1, 1, 1, 1}, NULL), TSR_OK);
    assert_int_equal(tsr_compound_count(region), 0);
    tsr_compound_free(&region);
    tsr_compound_free(&compound);
}

static void test_refused_parts(void **state)
{
    (void)state;
    tsr_compound *compound = NULL;
    tsr_error error = {0};
    tsr_blob *blobs[] = {blob_of("u8:nchw 1x3x4x5"), NULL};
    assert_int_equal(tsr_compound_create(&compound, blobs, 2, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected a blob for part 1, found none");
    assert_int_equal(tsr_compound_create(&compound, blobs, -1, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected 0 parts or more, found -1");
    assert_int_equal(tsr_compound_create(&compound, NULL, 2, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected 2 parts, found none");
    assert_int_equal(tsr_compound_create_batch(&compound, NULL, 2, TSR_IE_NC, &error), TSR_INVALID_ARGUMENT);
    assert_int_equal(tsr_compound_create_yuv_batch(&compound, NULL, 2, &error), TSR_INVALID_ARGUMENT);
    assert_null(compound);
    free_all(blobs, 2);
}

/* ---- NV12 and I420 ---- */

static void test_nv12(void **state)
{
    static const char *const planes[][2] = {
        {"u8:nhwc 1x1x6x8", "u8:nhwc 1x2x3x4"},
        {"u8:nhwc 3x1x2x2", "u8:nhwc 3x2x1x1"},
        {"u8:nhwc 1x1x0x0", "u8:nhwc 1x2x0x0"},
        {"u8:[a1:256,c6:64,d8:1,b1:1] 1x1x6x8", "u8:[a1:256,c3:64,d4:2,b2:1] 1x2x3x4"}, /* rows of 64 bytes */
    };
    (void)state;
    for (size_t i = 0; i < sizeof planes / sizeof *planes; i++) {
        tsr_tensor_desc desc;
        tsr_compound *image = nv12_of(planes[i][0], planes[i][1]);
        assert_int_equal(tsr_compound_get_kind(image), TSR_COMPOUND_NV12);
        assert_int_equal(tsr_compound_count(image), 2);
        tsr_compound_get_desc(image, &desc);
        const tsr_tensor_desc odd =
            tsr_tensor_desc_empty(tsr_precision_from_value(TSR_PRECISION_U8), TSR_IE_NCHW); /* as the original */
        assert_true(tsr_tensor_desc_equal(&desc, &odd));
        tsr_compound_free(&image);
    }
}

static void test_i420(void **state)
{
    (void)state;
    tsr_compound *image = NULL;
    tsr_blob *planes[] = {blob_of("u8:nhwc 2x1x6x8"), blob_of("u8:nhwc 2x1x3x4"), blob_of("u8:nhwc 2x1x3x4")};
    assert_int_equal(tsr_compound_create_i420(&image, planes[0], planes[1], planes[2], NULL), TSR_OK);
    assert_int_equal(tsr_compound_get_kind(image), TSR_COMPOUND_I420);
    for (int i = 0; i < 3; i++)
        assert_ptr_equal(tsr_compound_get(image, i), planes[i]);
    tsr_compound_free(&image);
    free_all(planes, 3);
}

static void test_refused_planes(void **state)
{
    static const struct {
        const char *planes[3]; /* two: NV12; "": NULL */
        const char *message;
    } rows[] = {
        {{"", "u8:nhwc 1x2x3x4"}, "expected a blob for plane y, found none"},
        {{"u8:nhwc 1x1x6x8", ""}, "expected a blob for plane uv, found none"},
        {{"s8:nhwc 1x1x6x8", "u8:nhwc 1x2x3x4"}, "expected plane y to be u8 in NHWC, found s8 in NHWC"},
        {{"u8:nchw 1x1x6x8", "u8:nhwc 1x2x3x4"}, "expected plane y to be u8 in NHWC, found u8 in NCHW"},
        {{"u8:nhwc 1x1x6x8", "u8:nchw 1x2x3x4"}, "expected plane uv to be u8 in NHWC, found u8 in NCHW"},
        {{"u8:nhwc 1x1x6x8", "u8:hwc 2x3x4"}, "expected plane uv to be u8 in NHWC, found u8 in HWC"},
        {{"u8:nChw8c 1x1x6x8", "u8:nhwc 1x2x3x4"}, "expected plane y to be u8 in NHWC, found u8 in BLOCKED"},
        {{"u8:abcdef 1x1x6x8x1x1", "u8:nhwc 1x2x3x4"}, "expected plane y to be u8 in NHWC, found u8 in BLOCKED"},
        {{"u8:nhwc 1x2x6x8", "u8:nhwc 1x2x3x4"}, "expected plane y to have 1 along axis 1, found 2"},
        {{"u8:nhwc 1x1x6x8", "u8:nhwc 1x1x3x4"}, "expected plane uv to have 2 along axis 1, found 1"},
        {{"u8:nhwc 2x1x6x8", "u8:nhwc 1x2x3x4"}, "expected plane uv to have 2 along axis 0, found 1"},
        {{"u8:nhwc 1x1x6x8", "u8:nhwc 1x2x6x4"}, "expected plane uv to have 3 along axis 2, found 6"},
        {{"u8:nhwc 1x1x6x8", "u8:nhwc 1x2x3x8"}, "expected plane uv to have 4 along axis 3, found 8"},
        {{"u8:nhwc 1x1x5x8", "u8:nhwc 1x2x2x4"}, "expected plane y to have an even height and width, found 5 and 8"},
        {{"u8:nhwc 1x1x6x9", "u8:nhwc 1x2x3x4"}, "expected plane y to have an even height and width, found 6 and 9"},
        {{"u8:nhwc 1x1x6x8", "", "u8:nhwc 1x1x3x4"}, "expected a blob for plane u, found none"},
        {{"u8:nhwc 1x1x6x8", "u8:nhwc 1x1x3x4", ""}, "expected a blob for plane v, found none"},
        {{"u8:nhwc 1x1x6x8", "u8:nhwc 1x2x3x4", "u8:nhwc 1x1x3x4"}, "expected plane u to have 1 along axis 1, found 2"},
        {{"u8:nhwc 1x1x6x8", "u8:nhwc 1x1x3x4", "u8:nchw 1x1x3x4"}, /* which the original takes: it looks at u twice */
         "expected plane v to be u8 in NHWC, found u8 in NCHW"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tsr_error error = {0};
        tsr_compound *image = NULL;
        tsr_blob *planes[3] = {NULL};
        for (int k = 0; k < 3; k++)
            if (rows[i].planes[k] && *rows[i].planes[k])
                planes[k] = blob_of(rows[i].planes[k]);
        const tsr_status status = rows[i].planes[2]
                                      ? tsr_compound_create_i420(&image, planes[0], planes[1], planes[2], &error)
                                      : tsr_compound_create_nv12(&image, planes[0], planes[1], &error);
        assert_int_equal(status, TSR_INVALID_ARGUMENT);
        assert_string_equal(error.message, rows[i].message);
        assert_null(image);
        free_all(planes, 3);
    }
}

/* ---- regions ---- */

static void test_region_of_plain(void **state)
{
    (void)state;
    tsr_compound *compound = NULL, *region = NULL;
    tsr_blob *blobs[] = {ramp_of("u8:nhwc 2x3x4x5", 0), ramp_of("u8:nChw8c 2x1x4x5", 50)};
    assert_int_equal(tsr_compound_create(&compound, blobs, 2, NULL), TSR_OK);
    assert_int_equal(tsr_compound_create_region(&region, compound, &(tsr_roi){1, 3, 1, 2, 3}, NULL), TSR_OK);
    tsr_compound_free(&compound);
    assert_int_equal(tsr_compound_get_kind(region), TSR_COMPOUND_PLAIN);
    expect_dims(tsr_compound_get(region, 0), 1, 3, 3, 2);
    expect_dims(tsr_compound_get(region, 1), 1, 1, 3, 2);
    assert_int_equal(value_at(tsr_compound_get(region, 0), 0), 60 + 5 + 3);
    assert_int_equal(value_at(tsr_compound_get(region, 0), 17), 60 + 59);
    assert_int_equal(value_at(tsr_compound_get(region, 1), 0), 50 + 20 + 5 + 3);
    set_value(tsr_compound_get(region, 1), 9); /* memory is that of the parent */
    assert_int_equal(value_at(blobs[1], 20 + 5 + 3), 9);
    tsr_compound_free(&region);
    free_all(blobs, 2);
}

/* Of luma of 6x8: what is asked for in x, and what it becomes. It is the same in y. */
static void test_region_grows(void **state)
{
    static const struct {
        int64_t pos, size, begin, grown;
    } rows[] = {
        {0, 6, 0, 6}, {2, 2, 2, 2}, {3, 3, 2, 4}, {2, 3, 2, 4}, {3, 1, 2, 2},
        {5, 1, 4, 2}, {1, 4, 0, 6}, {3, 0, 2, 0}, {4, 0, 4, 0}, {6, 0, 6, 0},
    };
    (void)state;
    tsr_compound *image = nv12_of("u8:nhwc 2x1x6x8", "u8:nhwc 2x2x3x4");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int is_y = 0; is_y < 2; is_y++) {
            const int64_t begin = rows[i].begin, grown = rows[i].grown;
            const tsr_roi roi =
                is_y ? (tsr_roi){1, 4, rows[i].pos, 4, rows[i].size} : (tsr_roi){1, rows[i].pos, 2, rows[i].size, 4};
            const int64_t x = is_y ? 4 : begin, y = is_y ? begin : 2, w = is_y ? 4 : grown, h = is_y ? grown : 4;
            tsr_compound *region = NULL;
            assert_int_equal(tsr_compound_create_region(&region, image, &roi, NULL), TSR_OK);
            assert_int_equal(tsr_compound_get_kind(region), TSR_COMPOUND_NV12);
            expect_dims(tsr_compound_get(region, 0), 1, 1, h, w);
            expect_dims(tsr_compound_get(region, 1), 1, 2, h / 2, w / 2);
            if (grown > 0) {
                assert_int_equal(value_at(tsr_compound_get(region, 0), 0), 48 + 8 * y + x);
                assert_int_equal(value_at(tsr_compound_get(region, 1), 0), 100 + 24 + 4 * y / 2 + x / 2);
            }
            tsr_compound_free(&region);
        }
    tsr_compound_free(&image);
}

static void test_refused_regions(void **state)
{
    static const struct {
        tsr_roi roi;
        const char *message;
    } rows[] = {
        {{1, 0, 0, 2, 2}, "expected a rectangle in one of 1 images of 6x8, found y 0 + 2, x 0 + 2 of image 1"},
        {{-1, 0, 0, 2, 2}, "expected a rectangle in one of 1 images of 6x8, found y 0 + 2, x 0 + 2 of image -1"},
        {{0, 7, 5, 2, 1}, "expected a rectangle in one of 1 images of 6x8, found y 5 + 1, x 7 + 2 of image 0"},
        {{0, 0, -1, 2, 2}, "expected a rectangle in one of 1 images of 6x8, found y -1 + 2, x 0 + 2 of image 0"},
        {{0, 0, 2, 2, 5}, "expected a rectangle in one of 1 images of 6x8, found y 2 + 5, x 0 + 2 of image 0"},
        {{0, INT64_MAX, 0, 1, 1},
         "expected a rectangle in one of 1 images of 6x8, found y 0 + 1, x 9223372036854775807 + 1 of image 0"},
        {{0, 1, 0, INT64_MAX, 1},
         "expected a rectangle in one of 1 images of 6x8, found y 0 + 1, x 1 + 9223372036854775807 of image 0"},
        {{0, 1, 1, -1, 1}, "expected a rectangle in one of 1 images of 6x8, found y 1 + 1, x 1 + -1 of image 0"},
    };
    (void)state;
    tsr_error error = {0};
    tsr_compound *image = nv12_of("u8:nhwc 1x1x6x8", "u8:nhwc 1x2x3x4"), *region = NULL, *flat = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(tsr_compound_create_region(&region, image, &rows[i].roi, &error), TSR_OUT_OF_RANGE);
        assert_string_equal(error.message, rows[i].message);
        assert_null(region);
    }
    tsr_blob *matrix = blob_of("u8:ab 6x8");
    assert_int_equal(tsr_compound_create(&flat, &matrix, 1, NULL), TSR_OK);
    assert_int_equal(tsr_compound_create_region(&region, flat, &rows[0].roi, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected images of 4 axes, found 2");
    tsr_compound_free(&flat);
    tsr_compound_free(&image);
    tsr_blob_free(&matrix);
}

static void test_region_of_region(void **state)
{
    (void)state;
    tsr_compound *image = nv12_of("u8:nhwc 1x1x8x12", "u8:nhwc 1x2x4x6"), *outer = NULL, *inner = NULL;
    assert_int_equal(tsr_compound_create_region(&outer, image, &(tsr_roi){0, 2, 2, 8, 6}, NULL), TSR_OK);
    tsr_compound_free(&image);
    assert_int_equal(tsr_compound_create_region(&inner, outer, &(tsr_roi){0, 5, 2, 2, 2}, NULL), TSR_OK);
    tsr_compound_free(&outer);
    expect_dims(tsr_compound_get(inner, 0), 1, 1, 2, 4);
    assert_int_equal(value_at(tsr_compound_get(inner, 0), 0), 12 * 4 + 6);
    assert_int_equal(value_at(tsr_compound_get(inner, 1), 3), 100 + 24 + 6 * 2 + 3 + 1);
    image = NULL; /* what views became of planes is a plane */
    assert_int_equal(tsr_compound_create_nv12(&image, tsr_compound_get(inner, 0), tsr_compound_get(inner, 1), NULL),
                     TSR_OK);
    tsr_compound_free(&image);
    tsr_compound_free(&inner);
}

/* ---- batches ---- */

/* One type, dims and layout, and the tensor that three of these are. */
static const struct kind {
    const char *part;
    tsr_ie_layout layout;
    const char *whole;
    tsr_ie_layout whole_layout;
} kinds[] = {
    {"u8:nchw 1x3x4x5", TSR_IE_NCHW, "u8:nchw 3x3x4x5", TSR_IE_NCHW},
    {"u8:nhwc 1x3x4x5", TSR_IE_NHWC, "u8:nhwc 3x3x4x5", TSR_IE_NHWC},
    {"u8:abcde 1x2x3x4x2", TSR_IE_NCDHW, "u8:abcde 3x2x3x4x2", TSR_IE_NCDHW},
    {"u8:acdeb 1x2x3x4x2", TSR_IE_NDHWC, "u8:acdeb 3x2x3x4x2", TSR_IE_NDHWC},
    {"u8:ab 1x7", TSR_IE_NC, "u8:ab 3x7", TSR_IE_NC},
    {"u8:ba 1x7", TSR_IE_CN, "u8:ba 3x7", TSR_IE_CN},
    {"u8:a 7", TSR_IE_C, "u8:ab 3x7", TSR_IE_NC},
    {"u8:abc 3x4x5", TSR_IE_CHW, "u8:nchw 3x3x4x5", TSR_IE_NCHW},
    {"u8:bca 3x4x5", TSR_IE_HWC, "u8:nhwc 3x3x4x5", TSR_IE_NHWC},
    {"u8:[a1:60,b3:1,c4:20,d5:4] 1x3x4x5", TSR_IE_NCHW, "u8:nChw8c 3x3x4x5", TSR_IE_NCHW}, /* any strides, any whole */
};

static void test_batch(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        tsr_compound *batch = NULL;
        tsr_tensor_desc desc;
        tsr_error error = {0};
        tsr_blob *parts[] = {ramp_of(kinds[i].part, 1), ramp_of(kinds[i].part, 70), ramp_of(kinds[i].part, 140)};
        tsr_blob *whole = ramp_of(kinds[i].whole, 200);
        const tsr_desc whole_desc = parsed_desc(kinds[i].whole);
        if (tsr_compound_create_batch(&batch, parts, 3, kinds[i].layout, &error) != TSR_OK)
            fail_msg("%s: %s", kinds[i].part, error.message);
        assert_int_equal(tsr_compound_get_kind(batch), TSR_COMPOUND_BATCH);
        assert_int_equal(tsr_compound_count(batch), 3);
        assert_ptr_equal(tsr_compound_get(batch, 2), parts[2]);
        tsr_compound_get_desc(batch, &desc);
        assert_int_equal(desc.layout, kinds[i].whole_layout);
        assert_string_equal(desc.precision.name, "U8");
        assert_int_equal(desc.desc.rank, whole_desc.rank);
        assert_memory_equal(desc.desc.dims, whole_desc.dims, sizeof desc.desc.dims);
        assert_int_equal(tsr_compound_merge(whole, batch, &error), TSR_OK);
        const int64_t each = tsr_desc_elements(&whole_desc) / 3;
        for (int part = 0; part < 3; part++)
            for (int64_t k = 0; k < each; k++)
                assert_int_equal(value_at(whole, part * each + k), value_at(parts[part], k));
        tsr_compound_free(&batch);
        tsr_blob_free(&whole);
        free_all(parts, 3);
    }
}

static void test_refused_batches(void **state)
{
    static const struct {
        const char *parts[3]; /* up to the first NULL */
        tsr_ie_layout layout;
        const char *message;
    } rows[] = {
        {{NULL}, TSR_IE_NCHW, "expected a batch of 1 part or more, found 0"},
        {{"u8:ab 4x5"}, TSR_IE_HW, "a batch is of C, NC, CN, or images, found layout HW"},
        {{"u8:abc 1x2x3"}, TSR_IE_BLOCKED, "a batch is of C, NC, CN, or images, found layout BLOCKED"},
        {{"u8:abcd 1x2x3x4"}, TSR_IE_OIHW, "a batch is of C, NC, CN, or images, found layout OIHW"},
        {{"u8:abcd 1x2x3x4"}, (tsr_ie_layout)7, "a batch is of C, NC, CN, or images, found layout of no name"},
        {{"u8:nhwc 1x2x3x4"}, TSR_IE_NCHW, "expected part 0 to be u8 in NCHW, found u8 in NHWC"},
        {{"u8:nChw8c 1x16x3x4"}, TSR_IE_NCHW, "expected part 0 to be u8 in NCHW, found u8 in BLOCKED"},
        {{"u8:nchw 2x3x4x5"}, TSR_IE_NCHW, "expected part 0 to have 1 along axis 0, found 2"},
        {{"u8:ba 7x1"}, TSR_IE_CN, "expected part 0 to have 1 along axis 0, found 7"},
        {{"u8:nchw 1x3x4x5", "u8:nchw 1x3x4x6"}, TSR_IE_NCHW, "expected part 1 to have 5 along axis 3, found 6"},
        {{"u8:abc 3x4x5", "u8:abc 3x4x5", "s8:abc 3x4x5"},
         TSR_IE_CHW,
         "expected part 2 to be u8 in CHW, found s8 in CHW"},
    };
    (void)state;
    tsr_compound *batch = NULL;
    tsr_error error = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tsr_blob *parts[3] = {NULL};
        int count = 0;
        for (; count < 3 && rows[i].parts[count]; count++)
            parts[count] = blob_of(rows[i].parts[count]);
        assert_int_equal(tsr_compound_create_batch(&batch, parts, count, rows[i].layout, &error), TSR_INVALID_ARGUMENT);
        assert_string_equal(error.message, rows[i].message);
        assert_null(batch);
        free_all(parts, 3);
    }
    tsr_blob *large[] = {blob_of("u8:a 4611686018427387904"), NULL};
    large[1] = tsr_blob_share(large[0]);
    assert_int_equal(tsr_compound_create_batch(&batch, large, 2, TSR_IE_C, &error), TSR_OVERFLOW);
    assert_null(batch);
    free_all(large, 2);
}

static void test_refused_merges(void **state)
{
    (void)state;
    tsr_compound *batch = NULL, *plain = NULL;
    tsr_error error = {0};
    tsr_blob *parts[] = {ramp_of("u8:abc 3x4x5", 0), ramp_of("u8:abc 3x4x5", 0)};
    tsr_blob *whole = ramp_of("u8:nchw 3x3x4x5", 9);
    assert_int_equal(tsr_compound_create(&plain, parts, 2, NULL), TSR_OK);
    assert_int_equal(tsr_compound_merge(whole, plain, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected a batch of tensors, found a compound of 2 parts");
    assert_int_equal(tsr_compound_create_batch(&batch, parts, 2, TSR_IE_CHW, NULL), TSR_OK);
    assert_int_equal(tsr_compound_merge(whole, batch, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected parts that add up to 3 along axis 0, found 2");
    assert_int_equal(value_at(whole, 0), 9);
    tsr_compound_free(&batch);
    tsr_compound_free(&plain);
    tsr_blob_free(&whole);
    free_all(parts, 2);
}

/* Two regions of a photo at different places are a batch. */
static void test_batch_of_regions(void **state)
{
    (void)state;
    tsr_compound *photo = NULL, *regions[2] = {NULL}, *batch = NULL, *smaller = NULL;
    tsr_tensor_desc desc;
    tsr_blob *blob = ramp_of("u8:nhwc 1x3x6x8", 0), *whole = blob_of("u8:nchw 2x3x1x2");
    assert_int_equal(tsr_compound_create(&photo, &blob, 1, NULL), TSR_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(tsr_compound_create_region(&regions[i], photo, &(tsr_roi){0, i, 2 + i, 4, 2}, NULL), TSR_OK);
    tsr_blob *parts[] = {tsr_compound_get(regions[0], 0), tsr_compound_get(regions[1], 0)};
    tsr_error error = {0};
    assert_int_equal(tsr_compound_create_batch(&batch, parts, 2, TSR_IE_NCHW, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected part 0 to be u8 in NCHW, found u8 in BLOCKED");
    assert_int_equal(tsr_compound_create_batch(&batch, parts, 2, TSR_IE_NHWC, NULL), TSR_OK);
    assert_int_equal(tsr_compound_create_region(&smaller, batch, &(tsr_roi){0, 2, 1, 2, 1}, NULL), TSR_OK);
    tsr_compound_get_desc(smaller, &desc);
    assert_int_equal(desc.layout, TSR_IE_NHWC);
    assert_int_equal(desc.desc.dims[0], 2);
    assert_int_equal(desc.desc.dims[2], 1);
    assert_int_equal(tsr_compound_merge(whole, smaller, NULL), TSR_OK);
    assert_int_equal(value_at(whole, 0), 8 * 3 + 2);
    assert_int_equal(value_at(whole, 6), 8 * 4 + 3);
    assert_int_equal(value_at(whole, 11), 48 * 2 + 8 * 4 + 4);
    tsr_compound_free(&smaller);
    tsr_compound_free(&batch);
    for (int i = 0; i < 2; i++)
        tsr_compound_free(&regions[i]);
    tsr_compound_free(&photo);
    tsr_blob_free(&blob);
    tsr_blob_free(&whole);
}

static void test_batch_of_yuv(void **state)
{
    (void)state;
    tsr_compound *batch = NULL, *region = NULL;
    tsr_compound *images[] = {nv12_of("u8:nhwc 1x1x6x8", "u8:nhwc 1x2x3x4"), NULL};
    tsr_tensor_desc desc;
    tsr_error error = {0};
    tsr_blob *whole = blob_of("u8:nhwc 2x3x6x8");
    assert_int_equal(tsr_compound_create_yuv_batch(&batch, images, 2, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected part 1 to be NV12 or I420, found none");
    assert_int_equal(tsr_compound_create_yuv_batch(&batch, images, 0, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected a batch of 1 part or more, found 0");
    images[1] = nv12_of("u8:nhwc 1x1x6x10", "u8:nhwc 1x2x3x5");
    assert_int_equal(tsr_compound_create_yuv_batch(&batch, images, 2, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected part 1 to have 8 along axis 3, found 10");
    tsr_compound_free(&images[1]);
    images[1] = nv12_of("u8:nhwc 1x1x6x8", "u8:nhwc 1x2x3x4");
    assert_int_equal(tsr_compound_create_yuv_batch(&batch, images, 2, NULL), TSR_OK);
    assert_ptr_equal(tsr_compound_get_yuv(batch, 1), images[1]);
    assert_null(tsr_compound_get_yuv(batch, 2));
    assert_null(tsr_compound_get(batch, 0));
    tsr_compound_get_desc(batch, &desc);
    const tsr_desc expected = parsed_desc("u8:nhwc 2x3x6x8");
    assert_true(desc.layout == TSR_IE_NHWC && tsr_desc_equal(&desc.desc, &expected));
    assert_int_equal(tsr_compound_merge(whole, batch, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected a batch of tensors, found a compound of 2 images in YUV");
    for (int i = 0; i < 2; i++)
        tsr_compound_free(&images[i]);
    assert_int_equal(tsr_compound_create_region(&region, batch, &(tsr_roi){0, 3, 2, 2, 3}, NULL), TSR_OK);
    assert_int_equal(tsr_compound_create_yuv_batch(&images[0], &batch, 1, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected part 0 to be NV12 or I420, found another compound");
    tsr_compound_free(&batch);
    expect_dims(tsr_compound_get(tsr_compound_get_yuv(region, 1), 1), 1, 2, 2, 2);
    tsr_compound_get_desc(region, &desc);
    const tsr_desc smaller = parsed_desc("u8:nhwc 2x3x4x4");
    assert_true(tsr_desc_equal(&desc.desc, &smaller));
    tsr_compound_free(&region);
    tsr_blob_free(&whole);
}

/* ---- memory ---- */

/* All that allocates, with one allocation that fails; what was made is in compounds. */
static tsr_status make_all(tsr_blob *const *planes, tsr_blob *const *tensors, tsr_blob *whole,
                           tsr_compound *compounds[ROOM], tsr_error *error)
{
    const tsr_roi roi = {0, 1, 1, 3, 3};
    tsr_status status = tsr_compound_create(&compounds[0], planes, 2, error);
    if (status == TSR_OK)
        status = tsr_compound_create_region(&compounds[1], compounds[0], &(tsr_roi){0, 1, 1, 2, 2}, error);
    if (status == TSR_OK)
        status = tsr_compound_create_nv12(&compounds[2], planes[0], planes[1], error);
    if (status == TSR_OK)
        status = tsr_compound_create_region(&compounds[3], compounds[2], &roi, error);
    if (status == TSR_OK)
        status = tsr_compound_create_yuv_batch(&compounds[4], &compounds[3], 1, error);
    if (status == TSR_OK)
        status = tsr_compound_create_region(&compounds[5], compounds[4], &roi, error);
    if (status == TSR_OK)
        status = tsr_compound_create_batch(&compounds[6], tensors, 2, TSR_IE_CHW, error);
    return status == TSR_OK ? tsr_compound_merge(whole, compounds[6], error) : status;
}

static void test_out_of_memory(void **state)
{
    static const char *const texts[] = {"u8:nhwc 1x1x6x8", "u8:nhwc 1x2x3x4", "u8:abc 3x4x5", "u8:bac 3x4x5",
                                        "u8:nchw 2x3x4x5"};
    (void)state;
    bool is_done = false;
    for (int nth = 1; !is_done; nth++) {
        failing_allocator counter = {0};
        const tsr_allocator allocator = failing_allocator_of(&counter);
        tsr_plan_cache *plans = NULL;
        tsr_blob *blobs[5];
        tsr_compound *compounds[ROOM] = {NULL};
        tsr_error error = {0};
        assert_int_equal(tsr_plan_cache_create(&plans, 4, &allocator, NULL), TSR_OK);
        for (int i = 0; i < 5; i++) {
            const tsr_desc desc = parsed_desc(texts[i == 3 ? 2 : i]);
            const tsr_blob_options options = {.allocator = &allocator, .plans = plans};
            assert_int_equal(tsr_blob_create(&blobs[i], &desc, &options, NULL), TSR_OK);
            set_value(blobs[i], i + 1);
        }
        counter.allocations = 0;
        counter.fail_at = nth;
        const tsr_status status = make_all(blobs, blobs + 2, blobs[4], compounds, &error);
        counter.fail_at = 0;
        is_done = status == TSR_OK;
        if (!is_done && status != TSR_OUT_OF_MEMORY)
            fail_msg("allocation %d: %s", nth, error.message);
        for (int i = 0; i < 4; i++)
            assert_int_equal(value_at(blobs[i], 0), i + 1);
        assert_true(!is_done || (value_at(blobs[4], 0) == 3 && value_at(blobs[4], 60) == 4));
        for (int i = ROOM - 1; i >= 0; i--)
            tsr_compound_free(&compounds[i]);
        free_all(blobs, 5);
        tsr_plan_cache_free(&plans);
        assert_int_equal(counter.live, 0);
        assert_in_range(nth, 1, 200);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_refused_parts),
        cmocka_unit_test(test_nv12),
        cmocka_unit_test(test_i420),
        cmocka_unit_test(test_refused_planes),
        cmocka_unit_test(test_region_of_plain),
        cmocka_unit_test(test_region_grows),
        cmocka_unit_test(test_refused_regions),
        cmocka_unit_test(test_region_of_region),
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_refused_batches),
        cmocka_unit_test(test_refused_merges),
        cmocka_unit_test(test_batch_of_regions),
        cmocka_unit_test(test_batch_of_yuv),
        cmocka_unit_test(test_out_of_memory),
        at_place(test_plain),
        at_place(test_nv12),
        at_place(test_i420),
        at_place(test_refused_planes),
        at_place(test_batch_of_yuv),
        at_place(test_region_of_plain),
        at_place(test_region_grows),
        at_place(test_region_of_region),
        at_place(test_batch),
        at_place(test_refused_merges),
        at_place(test_batch_of_regions),
    };
    return choose_place(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
