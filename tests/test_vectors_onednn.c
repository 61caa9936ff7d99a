/* SPDX-License-Identifier: Apache-2.0 */
/* Every recorded answer of oneDNN about its memory descriptors, asked again; and all names of its layouts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vectors.h"

#include <tessera/text.h>
#include <tessera/view.h>

#include "desc/tag.h"

static int64_t row_id;

static tsr_dtype dtype_named(const json_t *object)
{
    tsr_dtype dtype = TSR_DTYPE_NONE;
    assert_int_equal(tsr_dtype_parse(&dtype, vectors_string(object, "data_type"), NULL), TSR_OK);
    return dtype;
}

/* ---- a memory descriptor of oneDNN's, by its documented formula ---- */

struct memory_desc {
    int rank, inner;
    int64_t dims[TSR_MAX_RANK], padded_dims[TSR_MAX_RANK], strides[TSR_MAX_RANK];
    int64_t blocks[TSR_MAX_LEVELS], axes[TSR_MAX_LEVELS];
    int64_t offset0, size;
};

static struct memory_desc read_memory_desc(const json_t *json)
{
    int64_t ignored[TSR_MAX_RANK];
    struct memory_desc md = {.rank = (int)vectors_number(json, "ndims"),
                             .offset0 = vectors_number(json, "offset0"),
                             .size = vectors_number(json, "size")};
    vectors_numbers(json_object_get(json, "dims"), md.dims, TSR_MAX_RANK);
    vectors_numbers(json_object_get(json, "padded_dims"), md.padded_dims, TSR_MAX_RANK);
    vectors_numbers(json_object_get(json, "strides"), md.strides, TSR_MAX_RANK);
    md.inner = vectors_numbers(json_object_get(json, "inner_blks"), md.blocks, TSR_MAX_LEVELS);
    vectors_numbers(json_object_get(json, "inner_idxs"), md.axes, TSR_MAX_LEVELS);
    assert_int_equal(vectors_numbers(json_object_get(json, "padded_offsets"), ignored, TSR_MAX_RANK), md.rank);
    for (int k = 0; k < md.rank; k++)
        assert_int_equal(ignored[k], 0);
    return md;
}

/* Walk the inner blocks from the innermost, then add the outer strides. */
static int64_t offset_of(const struct memory_desc *md, const int64_t *index)
{
    int64_t rest[TSR_MAX_RANK], offset = md->offset0, stride = 1;
    memcpy(rest, index, (size_t)md->rank * sizeof *rest);
    for (int i = md->inner - 1; i >= 0; i--) {
        offset += rest[md->axes[i]] % md->blocks[i] * stride;
        rest[md->axes[i]] /= md->blocks[i];
        stride *= md->blocks[i];
    }
    for (int k = 0; k < md->rank; k++)
        offset += rest[k] * md->strides[k];
    return offset;
}

/* The same dims, every element at the same place, and as much room for padding. */
static void compare(const tsr_desc *found, const struct memory_desc *expected)
{
    int64_t cells = 1, elements = tsr_desc_elements(found);
    assert_int_equal(found->rank, expected->rank);
    for (int k = 0; k < found->rank; k++) {
        assert_int_equal(found->dims[k], expected->dims[k]);
        cells *= expected->padded_dims[k];
    }
    assert_int_equal(tsr_desc_padded_elements(found), cells);
    for (int64_t linear = 0; linear < elements; linear++) {
        int64_t index[TSR_MAX_RANK], offset = -1, rest = linear;
        for (int k = found->rank - 1; k >= 0; rest /= found->dims[k], k--)
            index[k] = rest % found->dims[k];
        assert_int_equal(tsr_desc_offset(found, found->rank, index, &offset, NULL), TSR_OK);
        assert_int_equal(offset, offset_of(expected, index));
    }
}

/* ---- tags ---- */

static int refused;

static void replay_tag(const json_t *row)
{
    int64_t dims[TSR_MAX_RANK], index[TSR_MAX_RANK], offset;
    tsr_desc desc;
    const json_t *expect = json_object_get(row, "expect"), *points = json_object_get(row, "points");
    const char *note = json_string_value(json_object_get(row, "note"));
    row_id = vectors_number(row, "id");
    int rank = vectors_numbers(json_object_get(row, "dims"), dims, TSR_MAX_RANK);
    tsr_status status = tsr_desc_from_layout(&desc, dtype_named(row), rank, dims, vectors_string(row, "tag"), NULL);
    if (strcmp(vectors_string(expect, "status"), "success") != 0 || (note && strcmp(note, "overflow") == 0)) {
        assert_int_not_equal(status, TSR_OK);
        refused++;
        return;
    }
    assert_int_equal(status, TSR_OK);
    struct memory_desc md = read_memory_desc(json_object_get(expect, "desc"));
    compare(&desc, &md);
    assert_int_equal(tsr_desc_size_bytes(&desc), md.size);
    for (size_t i = 0; i < json_array_size(points); i++) {
        vectors_numbers(json_array_get(points, i), index, TSR_MAX_RANK);
        assert_int_equal(tsr_desc_offset(&desc, rank, index, &offset, NULL), TSR_OK);
        assert_int_equal(offset, json_integer_value(json_array_get(json_object_get(expect, "offsets"), i)));
    }
    /* the same cells of 4 bits are half as many bytes as of 8 */
    if (tsr_desc_from_layout(&desc, TSR_S4, rank, dims, vectors_string(row, "base_tag"), NULL) == TSR_OK)
        assert_int_equal(tsr_desc_size_bytes(&desc), (tsr_desc_padded_elements(&desc) + 1) / 2);
}

static void test_tags(void **state)
{
    (void)state;
    refused = 0;
    int rows = vectors_each("dnnl_tags.jsonl", replay_tag);
    print_message("# %d tags with dims, %d of them refused\n", rows, refused);
    assert_true(rows > refused && refused > 0);
}

/* ---- all names ---- */

static json_t *read_names(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/dnnl_tag_names.json", getenv("TSR_TEST_VECTORS"));
    json_t *names = json_load_file(path, 0, NULL);
    assert_int_equal(json_array_size(names), 987);
    return names;
}

static tsr_layout parsed(const char *tag)
{
    tsr_layout layout;
    assert_int_equal(tsr_layout_parse(&layout, tag, NULL), TSR_OK);
    return layout;
}

static void test_names_mean_their_bases(void **state)
{
    json_t *names = read_names(), *name;
    size_t i, distinct = 0;
    (void)state;
    json_array_foreach(names, i, name)
    {
        char text[TSR_TAG_SIZE];
        tsr_layout layout = parsed(vectors_string(name, "tag")), base = parsed(vectors_string(name, "base"));
        assert_int_equal(layout.rank, vectors_number(name, "ndims"));
        assert_int_equal(layout.levels, base.levels);
        assert_memory_equal(layout.order, base.order, sizeof layout.order);
        assert_memory_equal(layout.block_dims, base.block_dims, sizeof layout.block_dims);
        assert_true(tsr_tag_print(&layout, TSR_ROLE_NONE, text));
        assert_string_equal(text, vectors_string(name, "base"));
        distinct += json_is_false(json_object_get(name, "is_alias"));
    }
    assert_int_equal(distinct, 512);
    json_decref(names);
}

/* Is text one of oneDNN's names for this base, other than the base; and has it any? */
static bool is_alias(const json_t *names, const char *base, const char *text, bool *has_any)
{
    bool found = false;
    json_t *name;
    size_t i;
    *has_any = false;
    json_array_foreach(names, i, name)
    {
        const char *tag = vectors_string(name, "tag");
        if (strcmp(vectors_string(name, "base"), base) != 0 || strcmp(tag, base) == 0)
            continue;
        *has_any = true;
        found |= strcmp(tag, text) == 0;
    }
    return found;
}

/* Does another name of the same role come first? */
static bool yields(const char *tag)
{
    static const char *const names[] = {"OhwI32o", "gOhwI32o", "ldio", "ldgo"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(tag, names[i]) == 0)
            return true;
    return false;
}

/* Each distinct layout prints as one of its usual names, which are all as long, and in each role as that role's. */
static void test_names_are_printed(void **state)
{
    json_t *names = read_names(), *name;
    size_t i;
    (void)state;
    json_array_foreach(names, i, name)
    {
        char text[TSR_TAG_SIZE];
        bool has_any, is_printed = false;
        const char *tag = vectors_string(name, "tag"), *base = vectors_string(name, "base");
        tsr_layout layout = parsed(tag);
        assert_true(tsr_tag_print(&layout, TSR_ROLE_ANY, text));
        if (!is_alias(names, base, text, &has_any) && has_any)
            fail_msg("%s is printed as %s, which is none of its names", base, text);
        assert_int_equal(strlen(text), strlen(base));
        for (int role = TSR_ROLE_ANY; role < TSR_ROLE_COUNT; role++) {
            assert_true(tsr_tag_print(&layout, (tsr_role)role, text));
            is_printed |= strcmp(text, tag) == 0;
        }
        if (!is_printed && !yields(tag))
            fail_msg("%s is printed in no role", tag);
    }
    json_decref(names);
}

/* ---- operations ---- */

static tsr_desc base_of(const json_t *row)
{
    int64_t dims[TSR_MAX_RANK];
    tsr_desc desc;
    int rank = vectors_numbers(json_object_get(row, "dims"), dims, TSR_MAX_RANK);
    assert_int_equal(tsr_desc_from_layout(&desc, dtype_named(row), rank, dims, vectors_string(row, "tag"), NULL),
                     TSR_OK);
    return desc;
}

static tsr_status by_strides(tsr_desc *desc, const json_t *row)
{
    static const int order[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    int64_t dims[TSR_MAX_RANK], strides[TSR_MAX_RANK];
    int rank = vectors_numbers(json_object_get(row, "dims"), dims, TSR_MAX_RANK);
    const json_t *given = json_object_get(row, "strides");
    tsr_blocking blocking = {.levels = rank, .block_dims = dims, .order = order, .read_only = true};
    if (json_is_array(given)) {
        vectors_numbers(given, strides, TSR_MAX_RANK);
        for (int k = 0; k < rank; k++) /* not in oneDNN, where they could not mean anything */
            if (strides[k] < 0)
                return TSR_INVALID_ARGUMENT;
        blocking.strides = strides;
    }
    return tsr_desc_blocked(desc, dtype_named(row), rank, dims, &blocking, NULL);
}

static tsr_status crop(tsr_desc *desc, const json_t *row)
{
    int64_t begin[TSR_MAX_RANK], size[TSR_MAX_RANK];
    tsr_desc base = base_of(row);
    vectors_numbers(json_object_get(row, "sub_offsets"), begin, TSR_MAX_RANK);
    vectors_numbers(json_object_get(row, "sub_dims"), size, TSR_MAX_RANK);
    return tsr_view_crop(desc, &base, begin, size, NULL, NULL);
}

static tsr_status reshape(tsr_desc *desc, const json_t *row)
{
    int64_t dims[TSR_MAX_RANK];
    tsr_desc base = base_of(row);
    int rank = vectors_numbers(json_object_get(row, "new_dims"), dims, TSR_MAX_RANK);
    return tsr_view_reshape(desc, &base, rank, dims, NULL);
}

/* oneDNN says where each axis goes, Tessera where each comes from. */
static tsr_status permute(tsr_desc *desc, const json_t *row)
{
    int64_t to[TSR_MAX_RANK];
    int from[TSR_MAX_RANK] = {0};
    tsr_desc base = base_of(row);
    vectors_numbers(json_object_get(row, "perm"), to, TSR_MAX_RANK);
    for (int k = 0; k < base.rank; k++)
        from[k] = -1;
    for (int k = 0; k < base.rank; k++)
        if (to[k] >= 0 && to[k] < base.rank)
            from[to[k]] = k;
    return tsr_view_permute(desc, &base, from, NULL);
}

static const struct {
    const char *op;
    tsr_status (*run)(tsr_desc *desc, const json_t *row);
    bool is_view; /* of the row's tag and dims */
} ops[] = {
    {"init_by_strides", by_strides, false},
    {"submemory", crop, true},
    {"reshape", reshape, true},
    {"permute_axes", permute, true},
};

static int beyond; /* answered where oneDNN gives up */

/*
 * A view that oneDNN refuses: refused here too, or right. A reshaped tensor has the elements of its
 * base in the same order, a part has those of its place.
 */
static void check_beyond(const json_t *row, const tsr_desc *view, const char *op)
{
    tsr_desc base = base_of(row);
    int64_t begin[TSR_MAX_RANK] = {0};
    bool is_crop = strcmp(op, "submemory") == 0;
    assert_true(is_crop || strcmp(op, "reshape") == 0);
    if (is_crop)
        vectors_numbers(json_object_get(row, "sub_offsets"), begin, TSR_MAX_RANK);
    for (int64_t linear = 0; linear < tsr_desc_elements(view); linear++) {
        int64_t index[TSR_MAX_RANK], rest = linear, found = -1, expected = -2;
        assert_int_equal(tsr_desc_offset_linear(view, linear, &found, NULL), TSR_OK);
        for (int k = view->rank - 1; k >= 0; rest /= view->dims[k], k--)
            index[k] = begin[k] + rest % view->dims[k];
        if (is_crop)
            assert_int_equal(tsr_desc_offset(&base, base.rank, index, &expected, NULL), TSR_OK);
        else
            assert_int_equal(tsr_desc_offset_linear(&base, linear, &expected, NULL), TSR_OK);
        assert_int_equal(found, expected);
    }
    beyond++;
}

static void replay_equal(const json_t *row)
{
    tsr_desc a = base_of(json_object_get(row, "a")), b = base_of(json_object_get(row, "b"));
    bool expected = json_is_true(json_object_get(json_object_get(row, "expect"), "equal"));
    assert_int_equal(tsr_desc_equal(&a, &b), expected);
    assert_int_equal(tsr_desc_equal(&b, &a), expected);
}

static void replay_op(const json_t *row)
{
    tsr_desc desc;
    const char *op = vectors_string(row, "op");
    const json_t *expect = json_object_get(row, "expect");
    row_id = vectors_number(row, "id");
    if (strcmp(op, "equal") == 0) {
        replay_equal(row);
        return;
    }
    size_t i = 0;
    while (strcmp(ops[i].op, op) != 0)
        assert_true(++i < sizeof ops / sizeof ops[0]);
    tsr_status status = ops[i].run(&desc, row);
    if (strcmp(vectors_string(expect, "status"), "success") != 0) {
        assert_int_equal(status == TSR_OK && !ops[i].is_view, 0);
        if (status == TSR_OK)
            check_beyond(row, &desc, op);
        return;
    }
    assert_int_equal(status, TSR_OK);
    struct memory_desc md = read_memory_desc(json_object_get(expect, "desc"));
    int64_t base_dims[TSR_MAX_RANK];
    if (strcmp(op, "submemory") == 0) { /* the rest of an axis that is cut is not this tensor's padding */
        vectors_numbers(json_object_get(row, "dims"), base_dims, TSR_MAX_RANK);
        for (int k = 0; k < md.rank; k++)
            if (md.dims[k] != base_dims[k])
                md.padded_dims[k] = md.dims[k];
    }
    compare(&desc, &md);
}

static void test_operations(void **state)
{
    (void)state;
    int rows = vectors_each("dnnl_ops.jsonl", replay_op);
    print_message("# %d operations; %d that oneDNN refuses are right\n", rows, beyond);
    assert_true(rows > 0 && beyond > 0);
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
        cmocka_unit_test_teardown(test_tags, print_row),
        cmocka_unit_test(test_names_mean_their_bases),
        cmocka_unit_test(test_names_are_printed),
        cmocka_unit_test_teardown(test_operations, print_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
