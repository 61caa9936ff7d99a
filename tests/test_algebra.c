/* SPDX-License-Identifier: Apache-2.0 */
/* Each function of algebra.h against the formula in its comment, over all indices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <tessera/algebra.h>
#include <tessera/view.h>

#include "parsed.h"
#include "random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static tsr_random numbers;

/* ---- help ---- */

static int64_t at_linear(const tsr_desc *desc, int64_t linear)
{
    int64_t offset = -1;
    assert_int_equal(tsr_desc_offset_linear(desc, linear, &offset, NULL), TSR_OK);
    return offset;
}

static int64_t at(const tsr_desc *desc, const int64_t *index)
{
    int64_t offset = -1;
    assert_int_equal(tsr_desc_offset(desc, desc->rank, index, &offset, NULL), TSR_OK);
    return offset;
}

static void index_of(const tsr_desc *desc, int64_t linear, int64_t *index)
{
    for (int k = desc->rank - 1; k >= 0; linear /= desc->dims[k], k--)
        index[k] = linear % desc->dims[k];
}

static void expect_text(const tsr_desc *desc, const char *expected)
{
    tsr_desc other = parsed_desc(expected);
    char text[TSR_TEXT_SIZE];
    tsr_desc_print(desc, text, sizeof text);
    if (!tsr_desc_equal(desc, &other))
        fail_msg("expected %s, found %s", expected, text);
}

/* A descriptor of at most max elements, its layout anything: blocks, gaps, broadcasts, views. */
static tsr_desc draw(int64_t max, bool broadcast)
{
    int64_t dims[TSR_MAX_RANK] = {0};
    tsr_random_options options = {.max_blocks = 2,
                                  .max_elements = 4 * max,
                                  .strided = tsr_random_chance(&numbers, 2),
                                  .offset = tsr_random_chance(&numbers, 2),
                                  .pad_before = tsr_random_chance(&numbers, 4),
                                  .broadcast = broadcast,
                                  .spare = tsr_random_chance(&numbers, 4)};
    int rank = (int)tsr_random_range(&numbers, 0, 4);
    tsr_random_dims(&numbers, rank, max, dims);
    tsr_desc desc = tsr_random_desc(&numbers, TSR_U8, rank, dims, &options);
    if (rank > 0 && tsr_random_chance(&numbers, 3)) {
        int64_t begin[TSR_MAX_RANK], size[TSR_MAX_RANK], step[TSR_MAX_RANK];
        for (int k = 0; k < rank; k++) {
            begin[k] = tsr_random_range(&numbers, 0, dims[k] - 1);
            step[k] = tsr_random_range(&numbers, 1, 3);
            size[k] = tsr_random_range(&numbers, 1, (dims[k] - 1 - begin[k]) / step[k] + 1);
        }
        assert_int_equal(tsr_view_crop(&desc, &desc, begin, size, step, NULL), TSR_OK);
        if (tsr_random_chance(&numbers, 3))
            assert_int_equal(tsr_view_reverse(&desc, &desc, (int)tsr_random_range(&numbers, 0, rank - 1), NULL),
                             TSR_OK);
    }
    return desc;
}

/* The descriptor that a failure is about. */
static const char *text_of(const tsr_desc *desc)
{
    static char texts[3][TSR_TEXT_SIZE];
    static int next;
    next = (next + 1) % 3;
    tsr_desc_print(desc, texts[next], sizeof texts[next]);
    return texts[next];
}

/* ---- compose ---- */

/* R(v) = A[B(v)] */
static void check_composition(const tsr_desc *result, const tsr_desc *a, const tsr_desc *b)
{
    assert_int_equal(result->dtype, a->dtype);
    assert_int_equal(result->rank, b->rank);
    for (int64_t l = 0; l < tsr_desc_elements(b); l++)
        if (at_linear(result, l) != at_linear(a, at_linear(b, l)))
            fail_msg("%s after %s is %s, wrong at %" PRId64, text_of(a), text_of(b), text_of(result), l);
    assert_int_equal(tsr_desc_check(result, true, NULL), TSR_OK);
}

static const struct {
    const char *a, *b, *result; /* NULL: none */
} compositions[] = {
    /* examples of CuTe's documentation, in row-major order */
    {"f32:[a10:16,b2:4] 10x2", "f32:ab 5x4", "f32:[a5:32,b2:16,b2:4] 5x4"},
    {"f32:[a20:2] 20", "f32:[a5:4,b4:1] 5x4", "f32:[a5:8,b4:2] 5x4"},
    {"f32:ba 6x4", "f32:[a4:1,b6:4] 4x6", "f32:[b6:1,a4:6] 4x6"},
    /* elements 0, 5, 10, 15 of blocks of 8 */
    {"f32:[a4:100,a8:1] 32", "f32:[a4:5] 4", "f32:[a2:100,a8:1]@a0/5 4"},
    {"f32:[a4:100,a8:1] 32", "f32:[a8:1]+3 8", "f32:[a2:100,a8:1]@a3 8"},
    {"f32:nChw8c 1x16x2x2", "f32:[a2:32,b4:1] 2x4", "f32:[a2:32,b4:8] 2x4"},
    {"f32:[a2:100,a8:1]@a5 6", "f32:[a3:2] 3", "f32:[a2:100,a8:1]@a5/2 3"},
    {"f32:scalar scalar", "f32:[a3:0] 3", "f32:[a3:0] 3"},
    {"f32:ab 3x4", "f32:scalar scalar", "f32:scalar scalar"},
    {"f32:ab 3x4", "f32:ab 0x4", "f32:ab 0x4"},
    /* rows of 5 do not fit into blocks of 8 */
    {"f32:[a4:100,a8:1] 32", "f32:[a3:5,b5:1] 3x5", NULL},
    {"f32:ab 3x4", "f32:ab 3x5", NULL},
    {"f32:aB8b 2x3", "f32:a 6", NULL},
};

static void test_compositions(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(compositions); i++) {
        tsr_desc a = parsed_desc(compositions[i].a), b = parsed_desc(compositions[i].b), result;
        tsr_status status = tsr_desc_compose(&result, &a, &b, NULL);
        if (!compositions[i].result) {
            assert_int_not_equal(status, TSR_OK);
            continue;
        }
        assert_int_equal(status, TSR_OK);
        check_composition(&result, &a, &b);
        expect_text(&result, compositions[i].result);
    }
}

static void test_random_compositions(void **state)
{
    int made = 0;
    (void)state;
    for (int i = tsr_random_cases(20000); i > 0; i--) {
        tsr_desc a = draw(200, tsr_random_chance(&numbers, 8)), b = draw(30, tsr_random_chance(&numbers, 8)), result;
        if (tsr_desc_compose(&result, &a, &b, NULL) == TSR_OK) {
            check_composition(&result, &a, &b);
            made++;
        }
    }
    print_message("# %d compositions\n", made);
    assert_true(made > 100);
}

/* A after the identity on its own shape is A. */
static void test_identity(void **state)
{
    (void)state;
    for (int i = tsr_random_cases(2000); i > 0; i--) {
        tsr_desc a = draw(200, false), whole = a, identity, result;
        assert_int_equal(tsr_desc_plain(&identity, TSR_U8, a.rank, a.dims, NULL), TSR_OK);
        if (tsr_desc_compose(&result, &a, &identity, NULL) == TSR_OK)
            for (int64_t l = 0; l < tsr_desc_elements(&whole); l++)
                if (at_linear(&result, l) != at_linear(&whole, l))
                    fail_msg("%s after %s is %s", text_of(&whole), text_of(&identity), text_of(&result));
    }
}

/* ---- inverse ---- */

/* What lies at each place, by going through all elements and all cells. */
static void check_inverse(const tsr_desc *desc)
{
    int64_t first, end, index[TSR_MAX_RANK], found[TSR_MAX_RANK];
    tsr_cell cell;
    int64_t elements = 0, padding = 0;
    tsr_desc_span(desc, &first, &end);
    for (int64_t l = 0; l < tsr_desc_elements(desc); l++) {
        index_of(desc, l, index);
        assert_int_equal(tsr_desc_index(desc, at_linear(desc, l), &cell, found, NULL), TSR_OK);
        if (cell != TSR_CELL_ELEMENT || at(desc, found) != at_linear(desc, l))
            fail_msg("%s: element %" PRId64 " is not found at %" PRId64, text_of(desc), l, at_linear(desc, l));
    }
    for (int64_t offset = first - 2; offset < end + 2; offset++) {
        if (tsr_desc_index(desc, offset, &cell, found, NULL) != TSR_OK)
            fail_msg("no answer at %" PRId64, offset);
        elements += cell == TSR_CELL_ELEMENT;
        padding += cell == TSR_CELL_PADDING;
        if (cell == TSR_CELL_ELEMENT)
            assert_int_equal(at(desc, found), offset);
    }
    bool injective;
    if (tsr_desc_check(desc, false, NULL) == TSR_OK) {
        assert_int_equal(tsr_desc_is_injective(desc, &injective, NULL), TSR_OK);
        assert_true(injective);
        if (elements != tsr_desc_elements(desc) || elements + padding != tsr_desc_padded_elements(desc))
            fail_msg("%s: found %" PRId64 " elements and %" PRId64 " of padding", text_of(desc), elements, padding);
    }
}

static void test_inverse(void **state)
{
    static const struct {
        const char *desc;
        int64_t offset;
        tsr_cell cell;
        int64_t index[4];
    } rows[] = {
        {"f32:nchw 2x3x4x5", 119, TSR_CELL_ELEMENT, {1, 2, 3, 4}},
        {"f32:nchw 2x3x4x5", 120, TSR_CELL_NONE, {0}},
        {"f32:nchw 2x3x4x5", -1, TSR_CELL_NONE, {0}},
        {"f32:nChw8c 1x25x20x20", 17, TSR_CELL_ELEMENT, {0, 1, 0, 2}},
        {"f32:nChw8c 1x25x20x20", 9601, TSR_CELL_PADDING, {0}},
        {"f32:[a2:8,b3:2]+5 2x3", 6, TSR_CELL_NONE, {0}},
        {"f32:[a2:8,b3:2]+5 2x3", 15, TSR_CELL_ELEMENT, {1, 1}},
        {"f32:[a2:8,b3:-2]+5 2x3", 3, TSR_CELL_ELEMENT, {0, 1}},
        {"f32:[a4:0,b3:1] 4x3", 2, TSR_CELL_ELEMENT, {0, 2}},
        {"f32:[a2:100,a8:1]@a3/2 5", 5, TSR_CELL_ELEMENT, {1}},
        {"f32:[a2:100,a8:1]@a3/2 5", 4, TSR_CELL_NONE, {0}},
        {"f32:scalar scalar", 0, TSR_CELL_ELEMENT, {0}},
        {"f32:ab 0x3", 0, TSR_CELL_NONE, {0}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_desc desc = parsed_desc(rows[i].desc);
        int64_t index[TSR_MAX_RANK] = {0};
        tsr_cell cell;
        assert_int_equal(tsr_desc_index(&desc, rows[i].offset, &cell, index, NULL), TSR_OK);
        assert_int_equal(cell, rows[i].cell);
        assert_memory_equal(index, rows[i].index, sizeof rows[i].index);
    }
    for (int i = tsr_random_cases(1000); i > 0; i--) {
        tsr_desc desc = draw(100, i % 4 == 0);
        check_inverse(&desc);
    }
}

/* ---- coalesce and divide ---- */

static void test_coalesce(void **state)
{
    static const struct {
        const char *desc, *result;
    } rows[] = {
        {"f32:nchw 2x3x4x5", "f32:a 120"},
        {"f32:nhwc 2x3x4x5", "f32:[a2:60,b3:1,c20:3] 2x3x20"},
        {"f32:[a2:1,b1:77,c6:2] 2x1x6", "f32:[a2:1,b6:2] 2x6"},
        {"f32:nChw8c 4x16x3x3", "f32:[a8:72,b9:8,a1,b1] 8x9"},
        {"f32:[a3:0,b4:0] 3x4", "f32:[a12:0] 12"},
        {"f32:scalar scalar", "f32:scalar scalar"},
        {"f32:ab 0x4", "f32:a 0"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_desc desc = parsed_desc(rows[i].desc), result;
        assert_int_equal(tsr_desc_coalesce(&result, &desc, NULL), TSR_OK);
        if (i != 3)
            expect_text(&result, rows[i].result);
    }
    for (int i = tsr_random_cases(5000); i > 0; i--) {
        tsr_desc desc = draw(100, i % 2), result, again;
        assert_int_equal(tsr_desc_coalesce(&result, &desc, NULL), TSR_OK);
        assert_int_equal(tsr_desc_elements(&result), tsr_desc_elements(&desc));
        assert_true(result.rank <= desc.rank);
        for (int64_t l = 0; l < tsr_desc_elements(&desc); l++)
            assert_int_equal(at_linear(&result, l), at_linear(&desc, l));
        assert_int_equal(tsr_desc_coalesce(&again, &result, NULL), TSR_OK);
        assert_true(tsr_desc_equal(&again, &result));
    }
}

static void check_tiles(const tsr_desc *result, const tsr_desc *desc, const int64_t *tile)
{
    for (int64_t l = 0; l < tsr_desc_elements(desc); l++) {
        int64_t index[TSR_MAX_RANK], tiled[TSR_MAX_RANK];
        index_of(desc, l, index);
        for (int k = 0; k < desc->rank; k++) {
            tiled[k] = index[k] / tile[k];
            tiled[desc->rank + k] = index[k] % tile[k];
        }
        assert_int_equal(at(result, tiled), at(desc, index));
    }
}

static void test_divide(void **state)
{
    int made = 0;
    tsr_desc desc = parsed_desc("f32:ab 6x8"), result;
    (void)state;
    assert_int_equal(tsr_desc_divide(&result, &desc, (const int64_t[]){3, 4}, NULL), TSR_OK);
    expect_text(&result, "f32:[a2:24,b2:4,c3:8,d4:1] 2x2x3x4");
    assert_int_equal(tsr_desc_divide(&result, &desc, (const int64_t[]){4, 4}, NULL), TSR_INVALID_ARGUMENT);
    desc = parsed_desc("f32:aB8b 3x16");
    assert_int_equal(tsr_desc_divide(&result, &desc, (const int64_t[]){1, 4}, NULL), TSR_OK);
    check_tiles(&result, &desc, (const int64_t[]){1, 4});
    for (int i = tsr_random_cases(5000); i > 0; i--) {
        int64_t tile[TSR_MAX_RANK];
        desc = draw(100, i % 2);
        for (int k = 0; k < desc.rank; k++)
            do
                tile[k] = tsr_random_range(&numbers, 1, desc.dims[k]);
            while (desc.dims[k] % tile[k] != 0);
        if (tsr_desc_divide(&result, &desc, tile, NULL) == TSR_OK) {
            check_tiles(&result, &desc, tile);
            made++;
        }
    }
    assert_true(made > 1000);
}

/* ---- questions ---- */

static bool shares_a_place(const tsr_desc *desc)
{
    int64_t elements = tsr_desc_elements(desc);
    for (int64_t l = 1; l < elements; l++)
        for (int64_t m = 0; m < l; m++)
            if (at_linear(desc, l) == at_linear(desc, m))
                return true;
    return false;
}

/* Every place of the span is one cell, and there are as many places as cells. */
static bool fills_its_span(const tsr_desc *desc)
{
    int64_t first, end, index[TSR_MAX_RANK];
    tsr_cell cell;
    tsr_desc_span(desc, &first, &end);
    for (int64_t offset = first; offset < end; offset++) {
        assert_int_equal(tsr_desc_index(desc, offset, &cell, index, NULL), TSR_OK);
        if (cell == TSR_CELL_NONE)
            return false;
    }
    return end - first == tsr_desc_padded_elements(desc);
}

static void test_questions(void **state)
{
    int dense = 0, shared = 0;
    (void)state;
    for (int i = tsr_random_cases(3000); i > 0; i--) {
        tsr_desc desc = draw(60, i % 3 == 0), canonical;
        bool injective;
        assert_int_equal(tsr_desc_is_injective(&desc, &injective, NULL), TSR_OK);
        if (injective == shares_a_place(&desc))
            fail_msg("%s is%s injective", text_of(&desc), injective ? " not" : "");
        tsr_desc_canonical(&canonical, &desc);
        bool has_window = false;
        for (int k = 0; k < canonical.rank; k++)
            has_window |= canonical.step[k] != 0;
        if (tsr_desc_is_dense(&desc) != (!has_window && fills_its_span(&canonical)))
            fail_msg("%s is%s dense", text_of(&desc), tsr_desc_is_dense(&desc) ? " not" : "");
        dense += tsr_desc_is_dense(&desc);
        shared += !injective;
    }
    assert_true(dense > 100 && shared > 100);
}

/* ---- common refinement ---- */

static void check_refinement(const tsr_desc *fine_a, const tsr_desc *fine_b, const tsr_desc *a, const tsr_desc *b)
{
    uint32_t seen = 0;
    if (!tsr_desc_equal(fine_a, a) || !tsr_desc_equal(fine_b, b))
        fail_msg("%s refined with %s is %s", text_of(a), text_of(b), text_of(fine_b));
    if (tsr_desc_elements(a) == 0)
        return;
    assert_int_equal(fine_a->levels, fine_b->levels);
    for (int i = 0; i < fine_a->levels; i++) {
        int axis = fine_a->order[i];
        assert_int_equal(axis, fine_b->order[i]);
        assert_true(fine_a->block_dims[i] == fine_b->block_dims[i] || !(seen >> axis & 1));
        seen |= 1U << axis;
    }
}

static void test_refine(void **state)
{
    int made = 0;
    tsr_desc a = parsed_desc("f32:nChw16c 2x32x4x4"), b = parsed_desc("u8:nChw4c 2x32x4x4"), fine_a, fine_b;
    (void)state;
    assert_int_equal(tsr_desc_refine(&fine_a, &fine_b, &a, &b, NULL), TSR_OK);
    check_refinement(&fine_a, &fine_b, &a, &b);
    assert_int_equal(fine_a.levels, 6);
    b = parsed_desc("u8:[a2:64,b3:12,b12:1,c4:1000,d4:5000] 2x32x4x4");
    assert_int_equal(tsr_desc_refine(&fine_a, &fine_b, &a, &b, NULL), TSR_UNSUPPORTED);
    for (int i = tsr_random_cases(10000); i > 0; i--) {
        tsr_random_options options = {.max_blocks = 2, .max_elements = 400, .strided = true, .offset = true};
        a = draw(100, false);
        b = tsr_random_desc(&numbers, TSR_S16, a.rank, a.dims, &options);
        if (tsr_desc_refine(&fine_a, &fine_b, &a, &b, NULL) == TSR_OK) {
            check_refinement(&fine_a, &fine_b, &a, &b);
            made++;
        }
    }
    assert_true(made > 1000);
}

/* ---- refusals, and cases at the limits ---- */

static void expect(tsr_status found, const tsr_error *error, tsr_status wanted, const char *message)
{
    assert_int_equal(found, wanted);
    assert_string_equal(error->message, message);
}

static void test_refusals(void **state)
{
    tsr_desc desc = parsed_desc("f32:ab 6x8"), other = parsed_desc("f32:ab 6x9"), narrow = parsed_desc("f32:a 6"),
             result, fine;
    tsr_desc deep = parsed_desc("f32:abcdefghijklmnopq 1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x2");
    tsr_error error = {0};
    bool injective;
    (void)state;
    expect(tsr_desc_divide(&result, &deep, deep.dims, &error), &error, TSR_INVALID_ARGUMENT,
           "expected a rank of at most 16, found 17");
    expect(tsr_desc_divide(&result, &desc, (const int64_t[]){3, 0}, &error), &error, TSR_INVALID_ARGUMENT,
           "tile[1] is 0, expected a divisor of the 8 indices");
    expect(tsr_desc_divide(&result, &desc, (const int64_t[]){4, 4}, &error), &error, TSR_INVALID_ARGUMENT,
           "tile[0] is 4, expected a divisor of the 6 indices");
    expect(tsr_desc_refine(&result, &fine, &desc, &narrow, &error), &error, TSR_INVALID_ARGUMENT,
           "expected equal dims, found ranks 2 and 1");
    expect(tsr_desc_refine(&result, &fine, &desc, &other, &error), &error, TSR_INVALID_ARGUMENT,
           "dims[1] is 8 and 9, expected one");
    expect(tsr_desc_compose(&result, &desc, &other, &error), &error, TSR_OUT_OF_RANGE,
           "the inner layout reaches element 53 of 48");
    desc = parsed_desc("f32:nChw8c 1x24x1x2");
    expect(tsr_desc_divide(&result, &desc, (const int64_t[]){1, 12, 1, 1}, &error), &error, TSR_UNSUPPORTED,
           "axis 1 has blocks of 8, and rows of 12 neither divide them nor hold them");
    desc = parsed_desc("f32:[a4:100,a8:1] 32");
    other = parsed_desc("f32:[a2:16,a3:4] 6");
    expect(tsr_desc_compose(&result, &desc, &other, &error), &error, TSR_UNSUPPORTED,
           "3 steps of 4 along axis 0 are no whole blocks of the outer layout");
    desc = parsed_desc("u8:[a2:0,a1024:1] 1000");
    expect(tsr_desc_is_injective(&desc, &injective, &error), &error, TSR_UNSUPPORTED,
           "1000 elements in levels that interleave are too many to compare");
    desc = parsed_desc("u8:[a32422000,a7:0]@a3/2 2");
    expect(tsr_desc_index(&desc, 0, &(tsr_cell){TSR_CELL_NONE}, (int64_t[]){0}, &error), &error, TSR_UNSUPPORTED,
           "too many levels interleave to search for offset 0");
}

/* Blocks that do not nest, on either side, in front of padding, or counted from too far away. */
static void test_refined_apart(void **state)
{
    static const struct {
        const char *a, *b;
    } rows[] = {
        {"u8:[a4:10,a8:1] 25", "u8:[a28:1] 25"},
        {"u8:[a28:1] 25", "u8:[a4:10,a8:1] 25"},
        {"u8:[a3:20,a12:1] 36", "u8:[a5:20,a8:1] 36"},
        {"u8:[a3:2305843009213693952] 3", "u8:[a2:100,a8:1]@a7 3"},
        {"u8:[a2:100,a8:1]@a7 3", "u8:[a3:2305843009213693952] 3"},
        {"u8:[a28:1] 10", "u8:[a3:100,a8:1]@a7 10"},
        {"u8:[a8:1] 6", "u8:[a2:100,a8:1]@a5 6"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_desc a = parsed_desc(rows[i].a), b = parsed_desc(rows[i].b), fine_a, fine_b;
        tsr_error error = {0};
        if (tsr_desc_refine(&fine_a, &fine_b, &a, &b, &error) == TSR_OK)
            fail_msg("%s is refined with %s", rows[i].a, rows[i].b);
        assert_string_equal(error.message, "the blocks of axis 0 do not nest");
    }
}

/* Without elements, and with results in the place of the operands, even of the other one. */
static void test_refine_in_place(void **state)
{
    static const char *const pairs[][2] = {
        {"u8:[a0:1,b4:7]+5 0x4", "f32:ba 0x4"},
        {"u8:aB8b 2x16", "f32:ba 2x16"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        tsr_desc a = parsed_desc(pairs[i][0]), b = parsed_desc(pairs[i][1]), fine_a = a, fine_b = b, swapped_a = b,
                 swapped_b = a;
        assert_int_equal(tsr_desc_refine(&fine_a, &fine_b, &fine_a, &fine_b, NULL), TSR_OK);
        check_refinement(&fine_a, &fine_b, &a, &b);
        assert_int_equal(tsr_desc_refine(&swapped_a, &swapped_b, &swapped_b, &swapped_a, NULL), TSR_OK);
        check_refinement(&swapped_a, &swapped_b, &a, &b);
    }
}

/* Elements without cells that they share, cells that only padding shares, and spans that are filled twice. */
static void test_shared_cells(void **state)
{
    static const struct {
        const char *desc;
        bool injective, dense;
    } rows[] = {
        {"u8:ab 0x3", true, true},
        {"u8:[a2:0,a4:1] 3", true, false},
        {"u8:[a2:3,b2:0] 2x2", false, false},
        {"u8:[a2:0,a4:1] 5", false, false},
        {"u8:[a2:5,b3:1] 2x3", true, false},
        {"u8:nChw8c 1x3x2x2", true, true},
        {"u8:[a2:100,a8:1]@a3 9", true, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_desc desc = parsed_desc(rows[i].desc);
        bool injective;
        assert_int_equal(tsr_desc_is_injective(&desc, &injective, NULL), TSR_OK);
        assert_int_equal(injective, rows[i].injective);
        assert_int_equal(tsr_desc_is_dense(&desc), rows[i].dense);
    }
}

/* Steps in opposite order of their units, so that no two continue each other; behind 31 axes of one index. */
static tsr_desc scattered(const int *bits, int count)
{
    int64_t dims[TSR_MAX_RANK], block_dims[TSR_MAX_LEVELS], strides[TSR_MAX_LEVELS], stride = 1;
    int order[TSR_MAX_LEVELS];
    tsr_error error = {0};
    tsr_desc desc;
    tsr_blocking blocking = {
        .levels = TSR_MAX_RANK - 1 + count, .block_dims = block_dims, .order = order, .strides = strides};
    for (int k = 0; k < TSR_MAX_RANK; k++)
        dims[k] = block_dims[k] = strides[k] = 1, order[k] = k;
    for (int i = 0; i < count; i++) {
        int level = TSR_MAX_RANK - 1 + i;
        order[level] = TSR_MAX_RANK - 1;
        block_dims[level] = INT64_C(1) << bits[i];
        strides[level] = stride;
        stride *= block_dims[level];
        dims[TSR_MAX_RANK - 1] *= block_dims[level];
    }
    if (tsr_desc_blocked(&desc, TSR_U8, TSR_MAX_RANK, dims, &blocking, &error) != TSR_OK)
        fail_msg("%s", error.message);
    return desc;
}

/* Results of more than 64 levels. */
static void test_too_many_levels(void **state)
{
    static const int twos[] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    static const int shifted[] = {1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1};
    static const int ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                               1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    tsr_desc a = scattered(twos, COUNT(twos)), b = scattered(shifted, COUNT(shifted)), c, result, fine;
    tsr_error error = {0};
    (void)state;
    expect(tsr_desc_refine(&result, &fine, &a, &b, &error), &error, TSR_UNSUPPORTED,
           "the refinement needs more than 64 levels");
    /* 36 bits in 18 digits, of which each of the 33 steps of one bit takes a part */
    a = scattered(ones, COUNT(ones));
    assert_int_equal(tsr_desc_plain(&c, TSR_U8, a.rank, a.dims, NULL), TSR_OK);
    assert_int_equal(tsr_desc_compose(&result, &a, &c, &error), TSR_OK);
    c = scattered(shifted, COUNT(shifted));
    b = scattered(twos, COUNT(twos));
    tsr_status status = tsr_desc_compose(&result, &b, &c, &error);
    assert_int_equal(status, TSR_UNSUPPORTED);
    assert_string_equal(error.message, "axis 31 needs 3 more levels than the 64 that there may be");
}

/* What tsr_desc_check refuses is refused here too, not worked on. */
static void test_no_descriptors(void **state)
{
    tsr_desc squeezed = parsed_desc("u8:abc 2x1x2"), joined = parsed_desc("u8:abc 2x2x2"), result;
    tsr_error error = {0};
    (void)state;
    squeezed.strides[0] = 1;
    expect(tsr_desc_coalesce(&result, &squeezed, &error), &error, TSR_INVALID_ARGUMENT,
           "elements overlap: the stride of level 1 (axis 1) is 1, expected more than 1");
    joined.strides[0] = 2;
    joined.strides[1] = 1;
    expect(tsr_desc_coalesce(&result, &joined, &error), &error, TSR_INVALID_ARGUMENT,
           "elements overlap: the stride of level 1 (axis 0) is 1, expected more than 1");
}

static int seed(void **state)
{
    (void)state;
    tsr_random_seed_from_environment(&numbers);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compositions),
        cmocka_unit_test_setup(test_random_compositions, seed),
        cmocka_unit_test_setup(test_identity, seed),
        cmocka_unit_test_setup(test_inverse, seed),
        cmocka_unit_test_setup(test_coalesce, seed),
        cmocka_unit_test_setup(test_divide, seed),
        cmocka_unit_test_setup(test_questions, seed),
        cmocka_unit_test_setup(test_refine, seed),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_refined_apart),
        cmocka_unit_test(test_refine_in_place),
        cmocka_unit_test(test_shared_cells),
        cmocka_unit_test(test_too_many_levels),
        cmocka_unit_test(test_no_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
