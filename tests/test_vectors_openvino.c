/* SPDX-License-Identifier: Apache-2.0 */
/* Every recorded answer of OpenVINO's TensorDesc, BlockingDesc, Precision and Layout, asked again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vectors.h"

#include <tessera/openvino.h>

enum { ROOM = TSR_MAX_LEVELS };

/* What happened to the operations so far. */
static struct {
    int answered;  /* as the original does */
    int corrected; /* where the original is wrong, as a correct one does */
    int refused;   /* where the original goes on with what makes no sense */
} counts;

/* ---- values ---- */

static tsr_precision precision_named(const json_t *object)
{
    return tsr_precision_from_name(vectors_string(object, "precision"));
}

static tsr_ie_layout layout_named(const json_t *object)
{
    tsr_ie_layout layout = TSR_IE_ANY;
    assert_int_equal(tsr_ie_layout_from_name(&layout, vectors_string(object, "layout"), NULL), TSR_OK);
    return layout;
}

/* A BlockingDesc with as many fields as were given. */
struct blocking {
    tsr_blocking value;
    int64_t block_dims[ROOM], strides[ROOM], pad_before[ROOM];
    int order[ROOM];
    bool lengths_agree;
};

static void read_blocking(struct blocking *made, const json_t *json)
{
    int64_t order[ROOM];
    int fields = (int)vectors_number(json, "ctor");
    int levels = vectors_numbers(json_object_get(json, "block_dims"), made->block_dims, ROOM);
    made->lengths_agree = vectors_numbers(json_object_get(json, "order"), order, ROOM) == levels;
    made->value = (tsr_blocking){.levels = levels, .block_dims = made->block_dims, .order = made->order};
    for (int i = 0; i < ROOM; i++)
        made->order[i] = i < (int)json_array_size(json_object_get(json, "order")) ? (int)order[i] : -1;
    if (fields >= 3)
        made->value.offset = vectors_number(json, "offset");
    if (fields >= 4) {
        made->lengths_agree &= vectors_numbers(json_object_get(json, "dim_offsets"), made->pad_before, ROOM) == levels;
        made->value.pad_before = made->pad_before;
    }
    if (fields >= 5) {
        made->lengths_agree &= vectors_numbers(json_object_get(json, "strides"), made->strides, ROOM) == levels;
        made->value.strides = made->strides;
    }
}

static tsr_status make_blocked(tsr_tensor_desc *tensor, tsr_precision precision, int rank, const int64_t *dims,
                               const json_t *json)
{
    struct blocking blocking;
    read_blocking(&blocking, json);
    if (!blocking.lengths_agree) /* a caller in C has one length for all */
        return TSR_INVALID_ARGUMENT;
    return tsr_tensor_desc_from_blocking(tensor, precision, rank, dims, &blocking.value, NULL);
}

static tsr_status make(tsr_tensor_desc *tensor, const json_t *json)
{
    const char *how = vectors_string(json, "how");
    int64_t dims[TSR_MAX_RANK];
    int rank = 0;
    if (strcmp(how, "default") == 0) {
        *tensor = tsr_tensor_desc_default();
        return TSR_OK;
    }
    if (strcmp(how, "empty") == 0) {
        *tensor = tsr_tensor_desc_empty(precision_named(json), layout_named(json));
        return TSR_OK;
    }
    rank = vectors_numbers(json_object_get(json, "dims"), dims, TSR_MAX_RANK);
    if (strcmp(how, "layout") == 0)
        return tsr_tensor_desc_from_layout(tensor, precision_named(json), rank, dims, layout_named(json), NULL);
    assert_string_equal(how, "blocking");
    return make_blocked(tensor, precision_named(json), rank, dims, json_object_get(json, "blocking"));
}

/* ---- states ---- */

static void compare_numbers(const json_t *expected, const char *key, const int64_t *found, int count)
{
    int64_t numbers[ROOM];
    assert_int_equal(vectors_numbers(json_object_get(expected, key), numbers, ROOM), count);
    for (int i = 0; i < count; i++)
        assert_int_equal(found[i], numbers[i]);
}

static void compare_state(const tsr_tensor_desc *found, const json_t *expected)
{
    const tsr_desc *desc = &found->desc;
    int64_t order[ROOM], starts[ROOM];
    for (int i = 0; i < desc->levels; i++) {
        order[i] = desc->order[i];
        starts[i] = desc->pad_before[i] + found->region_start[i];
    }
    assert_string_equal(found->precision.name, vectors_string(expected, "precision"));
    assert_string_equal(tsr_ie_layout_name(found->layout), vectors_string(expected, "layout"));
    compare_numbers(expected, "dims", desc->dims, desc->rank);
    compare_numbers(expected, "block_dims", desc->block_dims, desc->levels);
    compare_numbers(expected, "order", order, desc->levels);
    compare_numbers(expected, "strides", desc->strides, desc->levels);
    compare_numbers(expected, "dim_offsets", starts, desc->levels);
    assert_int_equal(desc->offset, vectors_number(expected, "offset"));
}

/* ---- operations ---- */

static tsr_status reshape_blocked(tsr_tensor_desc *tensor, int rank, const int64_t *dims, const json_t *json)
{
    struct blocking blocking;
    read_blocking(&blocking, json);
    if (!blocking.lengths_agree)
        return TSR_INVALID_ARGUMENT;
    return tsr_tensor_desc_reshape_blocking(tensor, tensor, rank, dims, &blocking.value, NULL);
}

static tsr_status cut_rectangle(tsr_tensor_desc *tensor, const json_t *op)
{
    const json_t *json = json_object_get(op, "roi");
    tsr_roi roi = {.id = vectors_number(json, "id"),
                   .pos_x = vectors_number(json, "posX"),
                   .pos_y = vectors_number(json, "posY"),
                   .size_x = vectors_number(json, "sizeX"),
                   .size_y = vectors_number(json, "sizeY")};
    return tsr_tensor_desc_roi(tensor, tensor, &roi, json_is_true(json_object_get(op, "use_orig_mem")), NULL);
}

static tsr_status cut_range(tsr_tensor_desc *tensor, const json_t *op)
{
    int64_t begin[TSR_MAX_RANK], end[TSR_MAX_RANK];
    int rank = vectors_numbers(json_object_get(op, "begin"), begin, TSR_MAX_RANK);
    if (vectors_numbers(json_object_get(op, "end"), end, TSR_MAX_RANK) != rank)
        return TSR_INVALID_ARGUMENT;
    return tsr_tensor_desc_range(tensor, tensor, rank, begin, end, json_is_true(json_object_get(op, "use_orig_mem")),
                                 NULL);
}

/* One operation that makes another descriptor. */
static tsr_status change(tsr_tensor_desc *tensor, const char *name, const json_t *op)
{
    int64_t dims[TSR_MAX_RANK];
    int rank = json_object_get(op, "dims") ? vectors_numbers(json_object_get(op, "dims"), dims, TSR_MAX_RANK) : 0;
    if (strcmp(name, "setDims") == 0)
        return tsr_tensor_desc_set_dims(tensor, tensor, rank, dims, NULL);
    if (strcmp(name, "setLayout") == 0)
        return tsr_tensor_desc_set_layout(tensor, tensor, layout_named(op), NULL);
    if (strcmp(name, "setPrecision") == 0)
        return tsr_tensor_desc_set_precision(tensor, tensor, precision_named(op), NULL);
    if (strcmp(name, "reshapeLayout") == 0)
        return tsr_tensor_desc_reshape(tensor, tensor, rank, dims, layout_named(op), NULL);
    if (strcmp(name, "reshapeBlocking") == 0)
        return reshape_blocked(tensor, rank, dims, json_object_get(op, "blocking"));
    if (strcmp(name, "roi") == 0)
        return cut_rectangle(tensor, op);
    assert_string_equal(name, "roiRange");
    return cut_range(tensor, op);
}

/* Is the place that an offset is asked for one of the tensor's? The original answers for others, too. */
static bool is_inside(const tsr_tensor_desc *tensor, const json_t *op)
{
    int64_t index[TSR_MAX_RANK], elements = 1;
    if (tensor->desc.levels == 0)
        return true;
    for (int k = 0; k < tensor->desc.rank; k++)
        elements *= tensor->desc.dims[k];
    if (json_object_get(op, "l"))
        return vectors_number(op, "l") >= 0 && vectors_number(op, "l") < elements;
    if (vectors_numbers(json_object_get(op, "v"), index, TSR_MAX_RANK) != tensor->desc.rank)
        return false;
    for (int k = 0; k < tensor->desc.rank; k++)
        if (index[k] < 0 || index[k] >= tensor->desc.dims[k])
            return false;
    return true;
}

static tsr_status ask_offset(const tsr_tensor_desc *tensor, const json_t *op, int64_t *offset)
{
    int64_t index[TSR_MAX_RANK];
    if (json_object_get(op, "l"))
        return tsr_tensor_desc_offset_linear(tensor, vectors_number(op, "l"), offset, NULL);
    int rank = vectors_numbers(json_object_get(op, "v"), index, TSR_MAX_RANK);
    return tsr_tensor_desc_offset(tensor, rank, index, offset, NULL);
}

/* ---- rows ---- */

/*
 * The original renames a layout without describing its memory anew, and takes any blocking in
 * reshape. Such a step is refused here.
 */
static bool is_unsound(const char *name, const json_t *op, const tsr_tensor_desc *before, const json_t *after)
{
    tsr_tensor_desc made;
    int64_t dims[TSR_MAX_RANK];
    if (strcmp(name, "setLayout") == 0) {
        bool same_layout = strcmp(vectors_string(after, "layout"), tsr_ie_layout_name(before->layout)) == 0;
        compare_numbers(after, "strides", before->desc.strides, before->desc.levels);
        compare_numbers(after, "block_dims", before->desc.block_dims, before->desc.levels);
        return !same_layout;
    }
    if (strcmp(name, "reshapeBlocking") != 0)
        return false;
    int rank = vectors_numbers(json_object_get(op, "dims"), dims, TSR_MAX_RANK);
    return make_blocked(&made, before->precision, rank, dims, json_object_get(op, "blocking")) != TSR_OK;
}

/*
 * The original takes new dims of a permuted BLOCKED for block dims, so that they do not cover the axes.
 * Here every axis has its dim.
 */
static bool is_mixed_up(const char *name, const tsr_tensor_desc *found, const json_t *expected)
{
    int64_t block_dims[ROOM];
    bool differs = false;
    if (strcmp(name, "setDims") != 0)
        return false;
    vectors_numbers(json_object_get(expected, "block_dims"), block_dims, ROOM);
    for (int i = 0; i < found->desc.levels; i++) {
        assert_int_equal(found->desc.block_dims[i], found->desc.dims[found->desc.order[i]]);
        differs |= block_dims[i] != found->desc.block_dims[i];
    }
    return differs;
}

/* Answers one operation; false when those behind it have lost their meaning. */
static bool answer(tsr_tensor_desc *tensor, const json_t *op, const json_t *expected, bool is_sane)
{
    const char *name = vectors_string(op, "op");
    tsr_tensor_desc before = *tensor;
    int64_t offset = 0;
    if (strcmp(name, "equals") == 0) {
        tsr_tensor_desc other;
        assert_int_equal(make(&other, json_object_get(op, "other")), TSR_OK);
        assert_int_equal(tsr_tensor_desc_equal(tensor, &other), json_is_true(expected));
        assert_int_equal(tsr_tensor_desc_equal(&other, tensor), json_is_true(expected));
    } else if (strncmp(name, "offset", 6) == 0) {
        tsr_status status = ask_offset(tensor, op, &offset);
        if (vectors_is_error(expected)) {
            assert_int_not_equal(status, TSR_OK);
        } else if (!is_inside(tensor, op)) {
            assert_int_equal(status, TSR_OUT_OF_RANGE);
            counts.refused++;
            return true;
        } else {
            assert_int_equal(status, TSR_OK);
            assert_int_equal(offset, json_integer_value(expected));
        }
    } else {
        tsr_status status = change(tensor, name, op);
        if (vectors_is_error(expected)) {
            assert_int_not_equal(status, TSR_OK);
        } else if (status != TSR_OK) {
            assert_true(is_unsound(name, op, &before, expected));
            counts.refused++;
            return false;
        } else if (is_mixed_up(name, tensor, expected)) {
            counts.corrected++;
            return false;
        } else {
            compare_state(tensor, expected);
        }
        if (status != TSR_OK)
            assert_true(tsr_tensor_desc_equal(tensor, &before));
    }
    counts.answered += !is_sane;
    counts.corrected += is_sane;
    return !(is_sane && vectors_is_error(expected));
}

static bool must_be_refused(const json_t *row, const json_t *expected)
{
    return vectors_is_error(expected) || json_is_false(json_object_get(row, "wellformed")) ||
           strcmp(vectors_string(row, "group"), "overflow") == 0;
}

static int64_t row_id;

static void replay(const json_t *row)
{
    tsr_tensor_desc tensor;
    const json_t *expect = json_object_get(row, "expect"), *sane = json_object_get(row, "sane");
    const json_t *created = json_object_get(expect, "create"), *ops = json_object_get(row, "ops");
    row_id = vectors_number(row, "id");
    tsr_status status = make(&tensor, json_object_get(row, "make"));
    if (must_be_refused(row, created)) {
        assert_int_not_equal(status, TSR_OK);
        counts.answered += vectors_is_error(created);
        counts.refused += !vectors_is_error(created);
        return;
    }
    assert_int_equal(status, TSR_OK);
    compare_state(&tensor, created);
    for (size_t i = 0; i < json_array_size(ops); i++) {
        char key[24];
        snprintf(key, sizeof key, "%zu", i);
        const json_t *corrected = json_object_get(sane, key);
        const json_t *expected = corrected ? corrected : json_array_get(json_object_get(expect, "ops"), i);
        if (!answer(&tensor, json_array_get(ops, i), expected, corrected != NULL))
            return;
    }
}

static void test_descriptors(void **state)
{
    (void)state;
    memset(&counts, 0, sizeof counts);
    int rows = vectors_each("ie_desc.jsonl", replay);
    print_message("# %d descriptors: %d answers as the original's, %d corrected, %d refused\n", rows, counts.answered,
                  counts.corrected, counts.refused);
    assert_true(rows > 0 && counts.answered > 0 && counts.corrected > 0 && counts.refused > 0);
}

/* ---- precisions and layouts ---- */

static void compare_storage(const tsr_precision *precision, const json_t *expected)
{
    static const struct {
        const char *c_type;
        tsr_dtype dtype;
    } types[] = {{"float", TSR_F32}, {"double", TSR_F64}, {"i8", TSR_S8},   {"u8", TSR_U8},   {"i16", TSR_S16},
                 {"u16", TSR_U16},   {"i32", TSR_S32},    {"u32", TSR_U32}, {"i64", TSR_S64}, {"u64", TSR_U64}};
    assert_int_equal(json_object_size(expected), sizeof types / sizeof types[0]);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        assert_int_equal(tsr_precision_is_stored_as(precision, types[i].dtype),
                         json_is_true(json_object_get(expected, types[i].c_type)));
}

static void compare_precision(const tsr_precision *found, const json_t *expected)
{
    size_t size = 0;
    const json_t *storage = json_object_get(expected, "storage"), *truthy = json_object_get(expected, "truthy");
    tsr_status status = tsr_precision_size_bytes(found, &size, NULL);
    assert_int_equal(found->value, vectors_number(expected, "value"));
    assert_string_equal(found->name, vectors_string(expected, "name"));
    assert_int_equal(status == TSR_OK, json_is_integer(json_object_get(expected, "size")));
    if (status == TSR_OK)
        assert_int_equal(size, vectors_number(expected, "size"));
    assert_int_equal(tsr_precision_is_float(found), json_is_true(json_object_get(expected, "is_float")));
    assert_int_equal(tsr_precision_is_signed(found), json_is_true(json_object_get(expected, "is_signed")));
    if (truthy)
        assert_int_equal(tsr_precision_is_specified(found), json_is_true(truthy));
    if (storage)
        compare_storage(found, storage);
}

static void replay_kind(const json_t *row)
{
    const char *kind = vectors_string(row, "kind");
    const json_t *expected = json_object_get(row, "expect");
    row_id = vectors_number(row, "id");
    if (strcmp(kind, "layout_by_dims") == 0) {
        int64_t dims[TSR_MAX_RANK];
        int rank = vectors_numbers(json_object_get(row, "dims"), dims, TSR_MAX_RANK);
        tsr_ie_layout layout = tsr_ie_layout_by_rank(rank, dims);
        assert_string_equal(tsr_ie_layout_name(layout), vectors_string(expected, "layout"));
    } else if (strcmp(kind, "precision") == 0) {
        tsr_precision precision = tsr_precision_from_value((int)vectors_number(row, "enum"));
        compare_precision(&precision, expected);
    } else if (strcmp(kind, "precision_from_str") == 0) {
        tsr_precision precision = tsr_precision_from_name(vectors_string(row, "str"));
        assert_int_equal(precision.value, vectors_number(expected, "value"));
    } else if (strcmp(kind, "precision_custom") == 0) {
        tsr_precision precision;
        tsr_status status = tsr_precision_custom(&precision, (int)vectors_number(row, "bits"), NULL, NULL);
        assert_int_equal(status != TSR_OK, vectors_is_error(expected));
        if (status == TSR_OK)
            compare_precision(&precision, expected);
    } else {
        return; /* of blobs */
    }
    counts.answered++;
}

static void test_precisions_and_layouts(void **state)
{
    (void)state;
    memset(&counts, 0, sizeof counts);
    int rows = vectors_each("ie_misc.jsonl", replay_kind);
    print_message("# %d of %d rows are of precisions and layouts\n", counts.answered, rows);
    assert_true(counts.answered > 0);
}

static int print_row(void **state)
{
    (void)state;
    print_message("# the last row was %" PRId64 "\n", row_id);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_descriptors, print_row),
        cmocka_unit_test_teardown(test_precisions_and_layouts, print_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
