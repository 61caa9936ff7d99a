/* SPDX-License-Identifier: Apache-2.0 */
/* Every recorded answer of NeoML, asked again, on the host and at a place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vectors.h"

#include <tessera/neoml.h>

#include "place.h"

enum { MOST_PARTS = 32, MOST_ELEMENTS = 4096 };

static int64_t row_id;

static tsr_neo_dims dims_of(const json_t *array)
{
    tsr_neo_dims dims = {{0}};
    assert_int_equal(vectors_numbers(array, dims.of, TSR_NEO_AXES), TSR_NEO_AXES);
    return dims;
}

static void expect_dims(const tsr_neo_dims *found, const json_t *expected)
{
    const tsr_neo_dims dims = dims_of(expected);
    for (int k = 0; k < TSR_NEO_AXES; k++)
        if (found->of[k] != dims.of[k])
            fail_msg("row %d: axis %d: expected %d, found %d", (int)row_id, k, (int)dims.of[k], (int)found->of[k]);
}

/* Must what gave this status have failed? True if it did and had to. */
static bool has_failed(tsr_status status, const json_t *expected)
{
    if ((status != TSR_OK) != vectors_is_error(expected))
        fail_msg("row %d: %s", (int)row_id, tsr_status_name(status));
    return status != TSR_OK;
}

/* ---- blobs: of element i, first + i ---- */

static tsr_blob *blob_of(const tsr_neo_dims *dims)
{
    tsr_blob *blob = NULL;
    assert_int_equal(tsr_neo_create(&blob, TSR_S32, *dims, &(tsr_blob_options){.device = home_device}, NULL), TSR_OK);
    return blob;
}

static int64_t size_of(const tsr_neo_dims *dims)
{
    tsr_neo_sizes sizes;
    assert_int_equal(tsr_neo_get_sizes(dims, &sizes, NULL), TSR_OK);
    return sizes.data;
}

static void write_ramp(tsr_blob *blob, const tsr_neo_dims *dims, int32_t first)
{
    tsr_access access;
    assert_int_equal(tsr_blob_acquire(blob, NULL, NULL, TSR_WRITE, &access, NULL), TSR_OK);
    for (int64_t i = 0; i < size_of(dims); i++)
        ((int32_t *)access.data)[i] = first + (int32_t)i;
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
}

static void expect_content(tsr_blob *blob, const json_t *expected)
{
    int64_t numbers[MOST_ELEMENTS];
    const int count = vectors_numbers(expected, numbers, MOST_ELEMENTS);
    tsr_access access;
    tsr_desc desc;
    tsr_blob_get_desc(blob, &desc);
    assert_int_equal(tsr_desc_elements(&desc), count);
    assert_int_equal(tsr_blob_acquire(blob, NULL, NULL, TSR_READ, &access, NULL), TSR_OK);
    for (int i = 0; i < count; i++)
        if (((const int32_t *)access.data)[i] != numbers[i])
            fail_msg("row %d: element %d: expected %d, found %d", (int)row_id, i, (int)numbers[i],
                     ((const int32_t *)access.data)[i]);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
}

/* ---- shapes ---- */

static void check_create(const json_t *row)
{
    const json_t *args = json_object_get(row, "args"), *expected = json_object_get(row, "expect");
    const char *function = vectors_string(row, "fn");
    tsr_neo_dims dims = {{0}};
    tsr_status status = TSR_OK;
#define ARGUMENT(name) vectors_number(args, name)
    if (strcmp(function, "CreateDataBlob") == 0) {
        dims = tsr_neo_data(ARGUMENT("batchLength"), ARGUMENT("batchWidth"), ARGUMENT("channels"));
    } else if (strcmp(function, "CreateListBlob") == 0) {
        dims =
            tsr_neo_list(ARGUMENT("batchLength"), ARGUMENT("batchWidth"), ARGUMENT("listSize"), ARGUMENT("channels"));
    } else if (strcmp(function, "Create2DImageBlob") == 0) {
        dims = tsr_neo_image_2d(ARGUMENT("batchLength"), ARGUMENT("batchWidth"), ARGUMENT("height"), ARGUMENT("width"),
                                ARGUMENT("channels"));
    } else if (strcmp(function, "Create3DImageBlob") == 0) {
        dims = tsr_neo_image_3d(ARGUMENT("batchLength"), ARGUMENT("batchWidth"), ARGUMENT("height"), ARGUMENT("width"),
                                ARGUMENT("depth"), ARGUMENT("channels"));
    } else {
        int64_t list[16];
        int count;
        if (strcmp(function, "CreateVector") == 0) {
            list[0] = ARGUMENT("size");
            count = 1;
        } else if (strcmp(function, "CreateMatrix") == 0) {
            list[0] = ARGUMENT("height");
            list[1] = ARGUMENT("width");
            count = 2;
        } else {
            assert_string_equal(function, "CreateTensor");
            count = vectors_numbers(json_object_get(args, "dimensions"), list, 16);
        }
        status = tsr_neo_tensor(&dims, count, list, NULL);
    }
#undef ARGUMENT
    if (has_failed(status, expected))
        return;
    expect_dims(&dims, json_object_get(expected, "dims"));
    tsr_neo_dims found;
    tsr_blob *blob = blob_of(&dims);
    assert_int_equal(tsr_neo_get_dims(blob, &found, NULL), TSR_OK);
    expect_dims(&found, json_object_get(expected, "dims"));
    tsr_blob_free(&blob);
}

static void check_description(const json_t *row)
{
    int64_t list[16];
    tsr_neo_dims dims = {{0}};
    const int count = vectors_numbers(json_object_get(row, "list"), list, 16);
    const json_t *expected = json_object_get(row, "expect");
    if (!has_failed(tsr_neo_description(&dims, count, list, NULL), expected))
        expect_dims(&dims, json_object_get(expected, "dims"));
}

static void check_sizes(const json_t *row)
{
    const tsr_neo_dims dims = dims_of(json_object_get(row, "dims"));
    const json_t *expected = json_object_get(row, "expect");
    int64_t numbers[4];
    tsr_neo_sizes sizes;
    if (has_failed(tsr_neo_get_sizes(&dims, &sizes, NULL), expected))
        return;
    assert_int_equal(vectors_numbers(expected, numbers, 4), 4);
    assert_int_equal(sizes.data, numbers[0]);
    assert_int_equal(sizes.objects, numbers[1]);
    assert_int_equal(sizes.object, numbers[2]);
    assert_int_equal(sizes.geometrical, numbers[3]);
}

static void check_position(const json_t *row)
{
    const tsr_neo_dims dims = dims_of(json_object_get(row, "dims"));
    const json_t *expected = json_object_get(row, "expect");
    int64_t position[16], offset;
    const int count = vectors_numbers(json_object_get(row, "position"), position, 16);
    if (!has_failed(tsr_neo_offset(&dims, count, position, &offset, NULL), expected))
        assert_int_equal(offset, json_integer_value(expected));
}

static void check_object_offset(const json_t *row)
{
    const tsr_neo_dims dims = dims_of(json_object_get(row, "dims"));
    const json_t *expected = json_object_get(row, "expect");
    int64_t offset;
    if (!has_failed(tsr_neo_object_offset(&dims, vectors_number(row, "object"), &offset, NULL), expected))
        assert_int_equal(offset, json_integer_value(expected));
}

/* ---- merge, split, transpose ---- */

typedef tsr_status (*mover)(tsr_blob *whole, tsr_blob *const *parts, int count, int axis, tsr_error *error);

static tsr_status split(tsr_blob *whole, tsr_blob *const *parts, int count, int axis, tsr_error *error)
{
    return tsr_blob_split(parts, count, whole, axis, error);
}

static tsr_status merge_objects(tsr_blob *whole, tsr_blob *const *parts, int count, int axis, tsr_error *error)
{
    (void)axis;
    return tsr_neo_merge_objects(whole, parts, count, error);
}

static tsr_status split_objects(tsr_blob *whole, tsr_blob *const *parts, int count, int axis, tsr_error *error)
{
    (void)axis;
    return tsr_neo_split_objects(parts, count, whole, error);
}

static tsr_status merge_contents(tsr_blob *whole, tsr_blob *const *parts, int count, int axis, tsr_error *error)
{
    (void)axis;
    return tsr_neo_merge_contents(whole, parts, count, error);
}

static tsr_status split_contents(tsr_blob *whole, tsr_blob *const *parts, int count, int axis, tsr_error *error)
{
    (void)axis;
    return tsr_neo_split_contents(parts, count, whole, error);
}

static void check_parts(const json_t *row, const char *key_of_whole, mover move, bool is_merge)
{
    const json_t *parts_json = json_object_get(row, "parts"), *expected = json_object_get(row, "expect");
    const tsr_neo_dims dims = dims_of(json_object_get(row, key_of_whole));
    const int count = (int)json_array_size(parts_json);
    const json_t *axis = json_object_get(row, "dim");
    tsr_blob *whole = blob_of(&dims), *parts[MOST_PARTS];
    assert_in_range(count, 1, MOST_PARTS);
    write_ramp(whole, &dims, 0);
    for (int i = 0; i < count; i++) {
        const tsr_neo_dims part = dims_of(json_array_get(parts_json, (size_t)i));
        parts[i] = blob_of(&part);
        write_ramp(parts[i], &part, 1000 * i);
    }
    const bool failed = has_failed(move(whole, parts, count, axis ? (int)json_integer_value(axis) : 0, NULL), expected);
    if (!failed && is_merge)
        expect_content(whole, expected);
    for (int i = 0; i < count; i++) {
        if (!failed && !is_merge)
            expect_content(parts[i], json_array_get(expected, (size_t)i));
        tsr_blob_free(&parts[i]);
    }
    tsr_blob_free(&whole);
}

static void check_transpose(const json_t *row)
{
    const tsr_neo_dims dims = dims_of(json_object_get(row, "dims")), out = dims_of(json_object_get(row, "out_dims"));
    const json_t *expected = json_object_get(row, "expect");
    tsr_blob *src = blob_of(&dims), *dst = blob_of(&out);
    const int a = (int)vectors_number(row, "d1"), b = (int)vectors_number(row, "d2");
    write_ramp(src, &dims, 0);
    if (!has_failed(tsr_blob_transpose(dst, src, a, b, NULL), expected))
        expect_content(dst, expected);
    tsr_blob_free(&src);
    tsr_blob_free(&dst);
}

/* ---- windows ---- */

/* Where the first element of a blob lies in the memory of its owner. */
static int64_t offset_in_owner(tsr_blob *blob)
{
    tsr_access access;
    tsr_desc desc;
    assert_int_equal(tsr_blob_acquire(blob, home_device, NULL, TSR_READ, &access, NULL), TSR_OK);
    tsr_access_get_desc(&access, &desc);
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    return desc.offset;
}

static int64_t position_of(tsr_blob *window)
{
    int64_t position = -1;
    assert_int_equal(tsr_neo_get_position(window, &position, NULL), TSR_OK);
    return position;
}

static void check_window_step(tsr_blob *window, const json_t *step, const json_t *expected)
{
    const char *function = json_string_value(json_array_get(step, 0));
    const int64_t argument = json_integer_value(json_array_get(step, 1)), before = position_of(window);
    const bool shifts = strcmp(function, "ShiftParentPos") == 0;
    if (!shifts)
        assert_string_equal(function, "SetParentPos");
    if (has_failed(tsr_neo_set_position(window, shifts ? before + argument : argument, NULL), expected)) {
        assert_int_equal(position_of(window), before);
        return;
    }
    assert_int_equal(position_of(window), vectors_number(expected, "parent_pos"));
    assert_int_equal(offset_in_owner(window), vectors_number(expected, "offset"));
}

static void check_window(const json_t *row)
{
    const tsr_neo_dims dims = dims_of(json_object_get(row, "parent"));
    const json_t *expected = json_object_get(row, "expect"), *made = json_object_get(expected, "create");
    const json_t *steps = json_object_get(row, "steps"), *answers = json_object_get(expected, "steps");
    tsr_blob *parent = blob_of(&dims), *window = NULL;
    if (!has_failed(tsr_neo_create_window(&window, parent, vectors_number(row, "window"), NULL), made)) {
        tsr_neo_dims found;
        assert_int_equal(tsr_neo_get_dims(window, &found, NULL), TSR_OK);
        expect_dims(&found, json_object_get(made, "dims"));
        assert_int_equal(position_of(window), vectors_number(made, "parent_pos"));
        assert_int_equal(offset_in_owner(window), vectors_number(made, "offset"));
        for (size_t i = 0; i < json_array_size(steps); i++)
            check_window_step(window, json_array_get(steps, i), json_array_get(answers, i));
    }
    tsr_blob_free(&window);
    tsr_blob_free(&parent);
}

/* The inner window follows when the one in the middle moves, where the original does not. */
static void check_nested_window(const json_t *row)
{
    const tsr_neo_dims dims = dims_of(json_object_get(row, "parent"));
    const json_t *expected = json_object_get(row, "expect");
    tsr_blob *root = blob_of(&dims), *middle = NULL, *inner = NULL;
    assert_int_equal(tsr_neo_create_window(&middle, root, vectors_number(row, "window1"), NULL), TSR_OK);
    assert_int_equal(tsr_neo_set_position(middle, vectors_number(row, "pos1"), NULL), TSR_OK);
    assert_int_equal(tsr_neo_create_window(&inner, middle, vectors_number(row, "window2"), NULL), TSR_OK);
    assert_int_equal(tsr_neo_set_position(inner, vectors_number(row, "pos2"), NULL), TSR_OK);
    assert_int_equal(offset_in_owner(inner), vectors_number(expected, "inner_offset_in_owner"));
    assert_ptr_equal(tsr_neo_get_owner(inner), root);
    assert_ptr_equal(tsr_neo_get_owner(root), root);
    assert_ptr_equal(tsr_blob_get_parent(inner), middle);
    assert_int_equal(tsr_neo_set_position(middle, vectors_number(row, "then_pos1"), NULL), TSR_OK);
    assert_int_equal(offset_in_owner(inner), vectors_number(expected, "inner_offset_after_moving_window1_live"));
    tsr_blob_free(&root);
    tsr_blob_free(&middle);
    tsr_blob_free(&inner);
}

static void check_merge_row(const json_t *row)
{
    check_parts(row, "to", tsr_blob_merge, true);
}

static void check_split_row(const json_t *row)
{
    check_parts(row, "dims", split, false);
}

static void check_merge_objects(const json_t *row)
{
    check_parts(row, "to", merge_objects, true);
}

static void check_split_objects(const json_t *row)
{
    check_parts(row, "dims", split_objects, false);
}

static void check_merge_contents(const json_t *row)
{
    check_parts(row, "to", merge_contents, true);
}

static void check_split_contents(const json_t *row)
{
    check_parts(row, "dims", split_contents, false);
}

/* ---- buffers ---- */

static void check_buffer_range(const json_t *row)
{
    const tsr_neo_dims dims = dims_of(json_object_get(row, "dims"));
    const bool is_refused = json_is_true(json_object_get(json_object_get(row, "expect"), "null"));
    tsr_blob *blob = blob_of(&dims);
    tsr_neo_buffer *buffer = NULL;
    tsr_status status =
        tsr_neo_get_buffer(&buffer, blob, vectors_number(row, "pos"), vectors_number(row, "size"), true, NULL);
    assert_int_equal(status, is_refused ? TSR_OUT_OF_RANGE : TSR_OK);
    if (!is_refused)
        assert_int_equal(tsr_neo_release_buffer(&buffer, true, NULL), TSR_OK);
    tsr_blob_free(&blob);
}

/* The numbers that are known; null is anything. */
static void expect_numbers(const int32_t *found, const json_t *expected)
{
    for (size_t i = 0; i < json_array_size(expected); i++) {
        const json_t *number = json_array_get(expected, i);
        if (!json_is_null(number) && found[i] != json_integer_value(number))
            fail_msg("row %d: %d: expected %d, found %d", (int)row_id, (int)i, (int)json_integer_value(number),
                     found[i]);
    }
}

static void get_buffer(tsr_neo_buffer **buffer, tsr_blob *blob, const json_t *step, const json_t *expected)
{
    const json_t *written = json_array_get(step, 5);
    const bool exchange = json_is_true(json_array_get(step, 4));
    assert_int_equal(tsr_neo_get_buffer(buffer, blob, json_integer_value(json_array_get(step, 2)),
                                        json_integer_value(json_array_get(step, 3)), exchange, NULL),
                     TSR_OK);
    int32_t *data = tsr_neo_buffer_data(*buffer);
    expect_numbers(data, json_object_get(expected, "seen"));
    if (written)
        data[json_integer_value(json_array_get(written, 0))] = (int32_t)json_integer_value(json_array_get(written, 1));
}

static void release_buffer(tsr_neo_buffer **buffer, tsr_blob *blob, const json_t *step, const json_t *expected)
{
    tsr_access access;
    if (has_failed(tsr_neo_release_buffer(buffer, json_is_true(json_array_get(step, 2)), NULL), expected)) {
        assert_non_null(*buffer);
        return;
    }
    assert_null(*buffer);
    assert_int_equal(tsr_blob_acquire(blob, NULL, NULL, TSR_READ, &access, NULL), TSR_OK);
    expect_numbers(access.data, json_object_get(expected, "device"));
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
}

static void check_buffers(const json_t *row)
{
    enum { MOST_BUFFERS = 64 };
    const json_t *steps = json_object_get(row, "steps"), *expected = json_object_get(row, "expect");
    const tsr_neo_dims dims = tsr_neo_data(1, 1, vectors_number(row, "size"));
    tsr_blob *blob = blob_of(&dims);
    tsr_neo_buffer *buffers[MOST_BUFFERS] = {NULL};
    write_ramp(blob, &dims, 1); /* as all of these rows begin */
    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *step = json_array_get(steps, i), *answer = json_array_get(expected, i);
        const int64_t handle = json_integer_value(json_array_get(step, 1));
        assert_in_range(handle, 0, MOST_BUFFERS - 1);
        if (strcmp(json_string_value(json_array_get(step, 0)), "get") == 0)
            get_buffer(&buffers[handle], blob, step, answer);
        else
            release_buffer(&buffers[handle], blob, step, answer);
    }
    for (int held = 1; held;) { /* those that the row leaves, in whatever order they go */
        held = 0;
        for (int i = 0; i < MOST_BUFFERS; i++)
            held += buffers[i] && tsr_neo_release_buffer(&buffers[i], false, NULL) != TSR_OK;
    }
    tsr_blob_free(&blob);
}

/* ---- arithmetic ---- */

static void write_numbers(tsr_blob *blob, const json_t *numbers)
{
    tsr_access access;
    assert_int_equal(tsr_blob_acquire(blob, NULL, NULL, TSR_WRITE, &access, NULL), TSR_OK);
    for (size_t i = 0; i < json_array_size(numbers); i++)
        ((int32_t *)access.data)[i] = (int32_t)json_integer_value(json_array_get(numbers, i));
    assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
}

static void check_element_ops(const json_t *row)
{
    const tsr_neo_dims dims = dims_of(json_object_get(row, "dims"));
    const json_t *expected = json_object_get(row, "expect");
    const int64_t object = vectors_number(row, "object");
    const int32_t value = (int32_t)vectors_number(row, "value");
    tsr_blob *a = blob_of(&dims), *b = blob_of(&dims);
    write_numbers(a, json_object_get(row, "a"));
    write_numbers(b, json_object_get(row, "b"));
    assert_int_equal(tsr_blob_add(a, b, NULL), TSR_OK);
    expect_content(a, json_object_get(expected, "add"));
    write_numbers(a, json_object_get(row, "a"));
    assert_int_equal(tsr_neo_fill_object(a, object, &value, NULL), TSR_OK);
    expect_content(a, json_object_get(expected, "fill_object"));
    write_numbers(a, json_object_get(row, "a"));
    assert_int_equal(tsr_neo_clear_object(a, object, NULL), TSR_OK);
    expect_content(a, json_object_get(expected, "clear_object"));
    tsr_blob_free(&a);
    tsr_blob_free(&b);
}

/* ---- all rows ---- */

static void check_row(const json_t *row)
{
    static const struct {
        const char *kind;
        void (*check)(const json_t *row);
    } kinds[] = {
        {"create", check_create},
        {"desc_from_list", check_description},
        {"sizes", check_sizes},
        {"position", check_position},
        {"object_offset", check_object_offset},
        {"merge", check_merge_row},
        {"split", check_split_row},
        {"merge_object_count", check_merge_objects},
        {"split_object_count", check_split_objects},
        {"merge_object_content", check_merge_contents},
        {"split_object_content", check_split_contents},
        {"transpose", check_transpose},
        {"window", check_window},
        {"nested_window", check_nested_window},
        {"get_buffer_range", check_buffer_range},
        {"get_buffer_exchange", check_buffers},
        {"element_ops", check_element_ops},
    };
    const char *kind = vectors_string(row, "kind");
    row_id = vectors_number(row, "id");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].kind, kind) == 0) {
            kinds[i].check(row);
            return;
        }
    fail_msg("row %d: unknown kind %s", (int)row_id, kind);
}

static void test_rows(void **state)
{
    (void)state;
    assert_int_equal(vectors_each("neoml.jsonl", check_row), 267);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), at_place(test_rows)};
    return choose_place(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
