/* SPDX-License-Identifier: Apache-2.0 */
/* Every recorded answer of OpenVINO's blob_copy and compound blobs, asked again, on the host and at a place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vectors.h"

#include <tessera/compound.h>

#include "place.h"

enum { MOST_BYTES = 1 << 14, MOST_BLOBS = 16, MOST_PLANES = 3 };

static int64_t row_id;

/* ---- values ---- */

static tsr_tensor_desc tensor_of(const json_t *json, const char *dims_key, const char *layout_key)
{
    tsr_tensor_desc tensor;
    int64_t dims[TSR_MAX_RANK];
    const int rank = vectors_numbers(json_object_get(json, dims_key), dims, TSR_MAX_RANK);
    const tsr_precision precision = tsr_precision_from_name(vectors_string(json, "precision"));
    tsr_ie_layout layout = TSR_IE_ANY;
    assert_int_equal(tsr_ie_layout_from_name(&layout, vectors_string(json, layout_key), NULL), TSR_OK);
    assert_int_equal(tsr_tensor_desc_from_layout(&tensor, precision, rank, dims, layout, NULL), TSR_OK);
    if (layout == TSR_IE_SCALAR) /* describes no memory; a blob of one element has some */
        assert_int_equal(tsr_desc_plain(&tensor.desc, tsr_precision_dtype(&precision), 0, NULL, NULL), TSR_OK);
    return tensor;
}

static tsr_blob *blob_of(const json_t *json)
{
    const tsr_tensor_desc tensor = tensor_of(json, "dims", "layout");
    return blob_at_home(&tensor.desc);
}

static bool read_roi(tsr_roi *roi, const json_t *json)
{
    int64_t numbers[5];
    if (!json_is_array(json))
        return false;
    assert_int_equal(vectors_numbers(json, numbers, 5), 5);
    *roi = (tsr_roi){numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
    return true;
}

/* A descriptor of a blob, and what is recorded of it. */
static void expect_desc(const tsr_desc *found, const json_t *expected)
{
    int64_t dims[TSR_MAX_RANK], block_dims[TSR_MAX_LEVELS], strides[TSR_MAX_LEVELS], numbers[TSR_MAX_LEVELS];
    int order[TSR_MAX_LEVELS];
    tsr_desc desc;
    const tsr_precision precision = tsr_precision_from_name(vectors_string(expected, "precision"));
    const int rank = vectors_numbers(json_object_get(expected, "dims"), dims, TSR_MAX_RANK);
    const int levels = vectors_numbers(json_object_get(expected, "order"), numbers, TSR_MAX_LEVELS);
    assert_int_equal(vectors_numbers(json_object_get(expected, "block_dims"), block_dims, TSR_MAX_LEVELS), levels);
    assert_int_equal(vectors_numbers(json_object_get(expected, "strides"), strides, TSR_MAX_LEVELS), levels);
    for (int i = 0; i < levels; i++)
        order[i] = (int)numbers[i];
    const tsr_blocking blocking = {.levels = levels,
                                   .block_dims = block_dims,
                                   .order = order,
                                   .strides = strides,
                                   .offset = vectors_number(expected, "offset")};
    assert_int_equal(tsr_desc_blocked(&desc, tsr_precision_dtype(&precision), rank, dims, &blocking, NULL), TSR_OK);
    if (!tsr_desc_equal(found, &desc))
        fail_msg("row %d: another descriptor", (int)row_id);
}

/* ---- blob_copy ---- */

static void *open_home(tsr_blob *blob, tsr_intent intent, tsr_access *access)
{
    void *data;
    assert_int_equal(tsr_blob_acquire(blob, home_device, NULL, intent, access, NULL), TSR_OK);
    assert_int_equal(tsr_access_map(access, &data, NULL), TSR_OK);
    return data;
}

/* A blob of a whole buffer, whose bytes these become, or a view of a rectangle in it. */
static tsr_blob *blob_of_side(const json_t *row, const char *side, unsigned char *bytes, tsr_desc *desc)
{
    char dims_key[16], layout_key[16], roi_key[16], hex_key[16];
    tsr_roi roi;
    tsr_access access;
    tsr_blob *view = NULL;
    snprintf(dims_key, sizeof dims_key, "%s_full_dims", side);
    snprintf(layout_key, sizeof layout_key, "%s_layout", side);
    snprintf(roi_key, sizeof roi_key, "%s_roi", side);
    snprintf(hex_key, sizeof hex_key, "%s_hex", side);
    tsr_tensor_desc tensor = tensor_of(row, dims_key, layout_key);
    tsr_blob *full = blob_at_home(&tensor.desc);
    const size_t count = vectors_bytes(vectors_string(row, hex_key), bytes, MOST_BYTES);
    assert_int_equal(count, tsr_desc_size_bytes(&tensor.desc));
    memcpy(open_home(full, TSR_WRITE, &access), bytes, count);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    *desc = tensor.desc;
    if (!read_roi(&roi, json_object_get(row, roi_key)))
        return full;
    assert_int_equal(tsr_tensor_desc_roi(&tensor, &tensor, &roi, true, NULL), TSR_OK);
    assert_int_equal(tsr_blob_create_view(&view, full, &tensor.desc, NULL), TSR_OK);
    tsr_blob_free(&full); /* the view keeps it */
    *desc = tensor.desc;
    return view;
}

/* All bytes of the buffer, also those around a view. */
static void expect_bytes(tsr_blob *blob, const unsigned char *expected, const char *whose)
{
    tsr_access access;
    tsr_desc desc;
    tsr_blob *full = tsr_blob_get_parent(blob) ? tsr_blob_get_parent(blob) : blob;
    tsr_blob_get_desc(full, &desc);
    if (memcmp(open_home(full, TSR_READ, &access), expected, (size_t)tsr_desc_size_bytes(&desc)) != 0)
        fail_msg("row %d: other bytes than %s", (int)row_id, whose);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
}

/* The definition: where the original refuses, only it says what is right. */
static void copy_by_definition(const tsr_desc *dst_desc, unsigned char *dst, const tsr_desc *src_desc,
                               const unsigned char *src)
{
    const size_t bytes = tsr_dtype_size_bytes(src_desc->dtype);
    for (int64_t i = 0, from, to; i < tsr_desc_elements(src_desc); i++) {
        assert_int_equal(tsr_desc_offset_linear(src_desc, i, &from, NULL), TSR_OK);
        assert_int_equal(tsr_desc_offset_linear(dst_desc, i, &to, NULL), TSR_OK);
        memcpy(dst + (size_t)to * bytes, src + (size_t)from * bytes, bytes);
    }
}

static void check_blob_copy(const json_t *row)
{
    static unsigned char src[MOST_BYTES], dst[MOST_BYTES];
    const json_t *expect = json_object_get(row, "expect");
    tsr_desc src_desc, dst_desc;
    tsr_blob *from = blob_of_side(row, "src", src, &src_desc), *to = blob_of_side(row, "dst", dst, &dst_desc);
    copy_by_definition(&dst_desc, dst, &src_desc, src);
    assert_int_equal(tsr_blob_copy(to, from, NULL), TSR_OK);
    expect_bytes(to, dst, "by definition");
    if (!vectors_is_error(expect)) { /* it refuses ranks below 4; there is no reason to */
        vectors_bytes(vectors_string(expect, "dst_hex"), dst, MOST_BYTES);
        expect_bytes(to, dst, "recorded");
    }
    tsr_blob_free(&from);
    tsr_blob_free(&to);
}

/* ---- NV12 and I420 ---- */

/*
 * The original leaves an odd position odd in luma and halves it downwards in chroma, so that the planes no longer
 * fit, and refuses what it rounds past the border. Here the rectangle grows to the even numbers around it.
 */
static void expect_grown(const tsr_compound *region, const tsr_tensor_desc *planes, const tsr_roi *roi)
{
    const int64_t x = roi->pos_x / 2, y = roi->pos_y / 2;
    const int64_t w = (roi->pos_x + roi->size_x + 1) / 2 - x, h = (roi->pos_y + roi->size_y + 1) / 2 - y;
    for (int i = 0; i < tsr_compound_count(region); i++) {
        const int scale = i == 0 ? 2 : 1;
        const tsr_roi grown = {roi->id, scale * x, scale * y, scale * w, scale * h};
        tsr_tensor_desc expected;
        tsr_desc found;
        assert_int_equal(tsr_tensor_desc_roi(&expected, &planes[i], &grown, true, NULL), TSR_OK);
        tsr_blob_get_desc(tsr_compound_get(region, i), &found);
        assert_true(tsr_desc_equal(&found, &expected.desc));
    }
}

static void check_region(const tsr_compound *image, const json_t *row, const tsr_tensor_desc *planes)
{
    const json_t *recorded = json_object_get(json_object_get(row, "expect"), "roi");
    tsr_compound *region = NULL;
    tsr_roi roi;
    if (!read_roi(&roi, json_object_get(row, "roi")))
        return;
    const bool is_odd = roi.pos_x % 2 != 0 || roi.pos_y % 2 != 0;
    tsr_tensor_desc luma;
    const bool is_inside = tsr_tensor_desc_roi(&luma, &planes[0], &roi, true, NULL) == TSR_OK;
    assert_int_equal(tsr_compound_create_region(&region, image, &roi, NULL), is_inside ? TSR_OK : TSR_OUT_OF_RANGE);
    assert_true(is_inside || vectors_is_error(recorded));
    if (is_inside)
        expect_grown(region, planes, &roi);
    for (int i = 0; !is_odd && is_inside && i < tsr_compound_count(region); i++) {
        tsr_desc found;
        tsr_blob_get_desc(tsr_compound_get(region, i), &found);
        expect_desc(&found, json_array_get(recorded, (size_t)i));
    }
    tsr_compound_free(&region);
}

static void expect_image(const tsr_compound *image, const json_t *expect)
{
    tsr_tensor_desc desc;
    const json_t *recorded = json_object_get(expect, "desc");
    tsr_compound_get_desc(image, &desc);
    assert_int_equal(tsr_compound_count(image), vectors_number(expect, "size"));
    assert_int_equal(vectors_number(expect, "byte_size"), 0); /* it has no memory of its own */
    assert_string_equal(desc.precision.name, vectors_string(recorded, "precision"));
    assert_string_equal(tsr_ie_layout_name(desc.layout), vectors_string(recorded, "layout"));
    assert_int_equal(desc.desc.rank, json_array_size(json_object_get(recorded, "dims")));
    assert_int_equal(desc.desc.levels, json_array_size(json_object_get(recorded, "order")));
}

static void check_image(const json_t *row, const char *const *names, int count)
{
    const json_t *expect = json_object_get(row, "expect");
    tsr_tensor_desc planes[MOST_PLANES];
    tsr_blob *blobs[MOST_PLANES] = {NULL};
    tsr_compound *image = NULL;
    bool is_refused = vectors_is_error(expect);
    for (int i = 0; i < count; i++) {
        const json_t *plane = json_object_get(row, names[i]);
        planes[i] = tensor_of(plane, "dims", "layout");
        blobs[i] = blob_of(plane);
        is_refused |= planes[i].layout != TSR_IE_NHWC; /* the original does not look at the layout of v */
    }
    const tsr_status status = count == 2 ? tsr_compound_create_nv12(&image, blobs[0], blobs[1], NULL)
                                         : tsr_compound_create_i420(&image, blobs[0], blobs[1], blobs[2], NULL);
    if (status != (is_refused ? TSR_INVALID_ARGUMENT : TSR_OK))
        fail_msg("row %d: %s", (int)row_id, tsr_status_name(status));
    if (status == TSR_OK) {
        expect_image(image, expect);
        check_region(image, row, planes);
    }
    tsr_compound_free(&image);
    for (int i = 0; i < count; i++)
        tsr_blob_free(&blobs[i]);
}

static void check_nv12(const json_t *row)
{
    static const char *const names[] = {"y", "uv"};
    check_image(row, names, 2);
}

static void check_i420(const json_t *row)
{
    static const char *const names[] = {"y", "u", "v"};
    check_image(row, names, 3);
}

/* ---- batches ---- */

static void check_batched(const json_t *row)
{
    const json_t *expect = json_object_get(row, "expect"), *json = json_object_get(row, "blobs");
    const int count = (int)json_array_size(json);
    tsr_blob *blobs[MOST_BLOBS];
    tsr_compound *batch = NULL;
    tsr_ie_layout layout = TSR_IE_ANY;
    assert_true(count <= MOST_BLOBS);
    for (int i = 0; i < count; i++)
        blobs[i] = blob_of(json_array_get(json, (size_t)i));
    if (count > 0)
        layout = tensor_of(json_array_get(json, 0), "dims", "layout").layout;
    const tsr_status status = tsr_compound_create_batch(&batch, blobs, count, layout, NULL);
    if (status != (vectors_is_error(expect) ? TSR_INVALID_ARGUMENT : TSR_OK))
        fail_msg("row %d: %s", (int)row_id, tsr_status_name(status));
    if (status == TSR_OK) {
        tsr_tensor_desc desc;
        tsr_compound_get_desc(batch, &desc);
        assert_int_equal(tsr_compound_count(batch), vectors_number(expect, "size"));
        assert_string_equal(tsr_ie_layout_name(desc.layout), vectors_string(json_object_get(expect, "desc"), "layout"));
        expect_desc(&desc.desc, json_object_get(expect, "desc"));
    }
    tsr_compound_free(&batch);
    for (int i = 0; i < count; i++)
        tsr_blob_free(&blobs[i]);
}

/* ---- rows ---- */

static struct {
    const char *kind;
    void (*check)(const json_t *row);
    int least; /* rows that must have been there */
    int rows;
} kinds[] = {
    {"blob_copy", check_blob_copy, 28, 0},
    {"nv12", check_nv12, 12, 0},
    {"i420", check_i420, 10, 0},
    {"batched", check_batched, 9, 0},
};

static void replay(const json_t *row)
{
    row_id = vectors_number(row, "id");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(vectors_string(row, "kind"), kinds[i].kind) == 0) {
            kinds[i].check(row);
            kinds[i].rows++;
        }
}

static void test_rows(void **state)
{
    (void)state;
    vectors_each("ie_misc.jsonl", replay);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        print_message("# %s: %d rows\n", kinds[i].kind, kinds[i].rows);
        assert_true(kinds[i].rows >= kinds[i].least);
        kinds[i].rows = 0;
    }
}

static int print_row(void **state)
{
    (void)state;
    print_message("# the last row was %" PRId64 "\n", row_id);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), at_place(test_rows)};
    return choose_place(argc, argv) ? cmocka_run_group_tests(tests, NULL, print_row) : 0;
}
