/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <tessera/tessera.h>

#include "parsed.h"
#include "view_calls.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *text_of(const tsr_desc *desc)
{
    static char text[TSR_TEXT_SIZE];
    tsr_desc_print(desc, text, sizeof text);
    return text;
}

/* --- each function is its formula --- */

static void fail_call(const view_call *call, const tsr_desc *desc, const char *what)
{
    char text[VIEW_CALL_TEXT_SIZE];
    print_call(call, desc, text);
    fail_msg("%s, %s: %s", text_of(desc), text, what);
}

/* V(v) = D(w) for all v. */
static void check_formula(const view_call *call, const tsr_desc *desc, const tsr_desc *view)
{
    int64_t dims[TSR_MAX_RANK + 1], v[TSR_MAX_RANK + 1], w[TSR_MAX_RANK + 1], found, expected;
    int rank = dims_of_call(call, desc, dims);
    if (view->rank != rank || memcmp(view->dims, dims, (size_t)rank * sizeof *dims) != 0)
        fail_call(call, desc, "the dims are wrong");
    for (int64_t linear = 0; linear < tsr_desc_elements(view); linear++) {
        index_of_linear(rank, dims, linear, v);
        map_index(call, desc, v, w);
        assert_int_equal(tsr_desc_offset(desc, desc->rank, w, &expected, NULL), TSR_OK);
        assert_int_equal(tsr_desc_offset(view, rank, v, &found, NULL), TSR_OK);
        if (found != expected)
            fail_call(call, desc, "an element is at another place");
    }
}

/* The view is what the header says, is a descriptor, and is the same where it replaces desc. */
static bool check_call(const view_call *call, const tsr_desc *desc)
{
    tsr_desc view, in_place = *desc, untouched;
    tsr_error error = {0};
    memset(&view, 0x5a, sizeof view);
    untouched = view;
    tsr_status status = call_view(call, &view, desc, &error);
    assert_int_equal(call_view(call, &in_place, &in_place, NULL), status);
    if (status != TSR_OK) {
        if (status != TSR_UNSUPPORTED)
            fail_call(call, desc, error.message);
        assert_int_equal(error.status, status);
        assert_memory_equal(&view, &untouched, sizeof view);
        assert_memory_equal(&in_place, desc, sizeof in_place);
        return false;
    }
    if (tsr_desc_check(&view, true, &error) != TSR_OK)
        fail_call(call, desc, error.message);
    assert_memory_equal(&view, &in_place, sizeof view);
    check_formula(call, desc, &view);
    return true;
}

static const char *const layouts[] = {
    "f32:nchw 2x6x3x4",
    "f32:nhwc 2x6x3x4",
    "f32:nChw4c 2x6x3x4",
    "f32:nChw8c 2x12x1x4",
    "f32:OIhw2i4o2i 6x8x1x3",
    "f32:OIhw4o4i 5x5x2x2",
    "f32:[a2:100,b3:20/1,c2:9,b2:4,d4:1/2]+7 2x6x2x4",
    "f32:[b2:128,c3:32,d4:8,b8:1,a1]@b3 1x9x3x4",
    "f32:[b3:128,c3:32,d4:8,b8:1,a1]+2@b2/3 1x7x3x4",
    "f32:[a2:-24,b6:4,d4:0,c3:-1]+30 2x6x3x4",
    "f32:[c3:100,a2:48,b2:20,a2:8,b3:2,d1:5,c2:1] 4x6x6x1",
    "f32:[d2:90,a1,b1:7,d3:6,c1,d4:1] 1x1x1x24",
};

static void check_crops(const tsr_desc *desc, int axis)
{
    view_call call = {.kind = CROP};
    int64_t dim = desc->dims[axis];
    for (int k = 0; k < desc->rank; k++) {
        call.size[k] = desc->dims[k];
        call.step[k] = 1;
    }
    for (call.begin[axis] = 0; call.begin[axis] < dim; call.begin[axis]++) {
        for (call.step[axis] = 1; call.step[axis] <= dim; call.step[axis]++) {
            for (int64_t size = 0; size == 0 || call.begin[axis] + (size - 1) * call.step[axis] < dim; size++) {
                call.size[axis] = size;
                if (!check_call(&call, desc))
                    fail_call(&call, desc, "refused");
            }
        }
    }
}

static void test_crops(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(layouts); i++) {
        tsr_desc desc = parsed_desc(layouts[i]);
        for (int k = 0; k < desc.rank; k++)
            check_crops(&desc, k);
    }
}

/* All axes at once, and without steps. */
static void test_crops_of_all_axes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(layouts); i++) {
        tsr_desc desc = parsed_desc(layouts[i]);
        view_call call = {.kind = CROP};
        for (int k = 0; k < desc.rank; k++) {
            call.begin[k] = desc.dims[k] / 3;
            call.size[k] = desc.dims[k] - call.begin[k];
        }
        assert_true(check_call(&call, &desc));
    }
}

static void test_permutations(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(layouts); i++) {
        tsr_desc desc = parsed_desc(layouts[i]);
        for (int code = 0; code < 256; code++) {
            view_call call = {PERMUTE, .axes = {code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6}};
            int seen = 1 << call.axes[0] | 1 << call.axes[1] | 1 << call.axes[2] | 1 << call.axes[3];
            if (seen == 15)
                assert_true(check_call(&call, &desc));
        }
        for (int a = 0; a < 16; a++)
            assert_true(check_call(&(view_call){TRANSPOSE, .axis = a & 3, .other = a >> 2}, &desc));
    }
}

static void test_single_axes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(layouts); i++) {
        tsr_desc desc = parsed_desc(layouts[i]);
        for (int k = 0; k < desc.rank; k++) {
            assert_true(check_call(&(view_call){REVERSE, .axis = k}, &desc));
            assert_true(check_call(&(view_call){UNSQUEEZE, .axis = k}, &desc));
            for (int64_t size = 1; desc.dims[k] == 1 && size < 4; size++)
                assert_true(check_call(&(view_call){BROADCAST, .axis = k, .size = {size}}, &desc));
            if (desc.dims[k] == 1)
                assert_true(check_call(&(view_call){SQUEEZE, .axis = k}, &desc));
        }
        assert_true(check_call(&(view_call){UNSQUEEZE, .axis = desc.rank}, &desc));
    }
}

/* Some are refused; those of planar axes without steps never are. */
static void check_splits(const tsr_desc *desc, int axis, bool planar, int *made)
{
    int64_t dim = desc->dims[axis];
    for (int64_t x = 1; x <= dim; x++) {
        for (int64_t y = 1; dim % x == 0 && y <= dim / x; y++) {
            if (dim / x % y != 0)
                continue;
            bool is_made = check_call(&(view_call){SPLIT, .axis = axis, .other = 3, .size = {x, y, dim / x / y}}, desc);
            assert_true(is_made || !planar);
            *made += is_made;
        }
    }
}

static void test_splits_and_joins(void **state)
{
    (void)state;
    int splits = 0, joins = 0;
    for (size_t i = 0; i < COUNT(layouts); i++) {
        tsr_desc desc = parsed_desc(layouts[i]);
        for (int k = 0; k < desc.rank; k++) {
            check_splits(&desc, k, i < 2, &splits);
            for (int count = 1; count <= desc.rank - k; count++) {
                bool is_made = check_call(&(view_call){JOIN, .axis = k, .other = count}, &desc);
                assert_true(is_made || i >= 2);
                joins += is_made;
            }
        }
    }
    assert_true(splits > 200 && joins > 70);
}

static void test_reshapes(void **state)
{
    (void)state;
    int made = 0;
    for (size_t i = 0; i < COUNT(layouts); i++) {
        tsr_desc desc = parsed_desc(layouts[i]);
        int64_t n = tsr_desc_elements(&desc);
        for (int64_t x = 1; x <= n; x++) {
            for (int64_t y = 1; n % x == 0 && y <= n / x; y++) {
                if (n / x % y != 0)
                    continue;
                bool is_made =
                    check_call(&(view_call){RESHAPE, .axis = 0, .other = 4, .size = {x, y, 1, n / x / y}}, &desc);
                assert_true(is_made || i > 0);
                made += is_made;
            }
        }
    }
    assert_true(made > 200);
}

static void test_diagonals(void **state)
{
    (void)state;
    int made = 0;
    for (size_t i = 0; i < COUNT(layouts); i++) {
        tsr_desc desc = parsed_desc(layouts[i]);
        for (int a = 0; a < desc.rank; a++)
            for (int b = 0; b < desc.rank; b++)
                made += a != b && check_call(&(view_call){DIAGONAL, .axis = a, .other = b}, &desc);
    }
    assert_true(made > 100);
}

/* --- examples --- */

static const struct {
    const char *before;
    view_call call;
    const char *after; /* the canonical text */
} examples[] = {
    /* planar: offset and strides say it all */
    {"f32:nchw 2x6x3x4", {CROP, .begin = {1, 2, 0, 1}, .size = {1, 3, 3, 2}}, "f32:[a1:1,b3:12,c3:4,d2:1]+97 1x3x3x2"},
    {"f32:nchw 2x6x3x4",
     {CROP, .begin = {0, 1, 0, 0}, .size = {2, 3, 3, 4}, .step = {1, 2, 1, 1}},
     "f32:[a2:72,b3:24,c3:4,d4:1]+12 2x3x3x4"},
    {"f32:nchw 2x6x3x4", {PERMUTE, .axes = {0, 2, 3, 1}}, "f32:adbc 2x3x4x6"},
    {"f32:nhwc 2x6x3x4", {PERMUTE, .axes = {0, 2, 3, 1}}, "f32:nchw 2x3x4x6"},
    {"f32:nc 2x3", {TRANSPOSE, .axis = 0, .other = 1}, "f32:cn 3x2"},
    {"f32:nc 2x3", {REVERSE, .axis = 1}, "f32:[a2:3,b3:-1]+2 2x3"},
    {"f32:[a2:3,b3:-1]+2 2x3", {REVERSE, .axis = 1}, "f32:nc 2x3"},
    {"f32:nc 1x3", {BROADCAST, .axis = 0, .size = {5}}, "f32:[b3:1,a5:0] 5x3"},
    {"f32:nc 1x3", {BROADCAST, .axis = 0, .size = {1}}, "f32:nc 1x3"},
    {"f32:x 24", {SPLIT, .axis = 0, .other = 3, .size = {2, 3, 4}}, "f32:ncw 2x3x4"},
    {"f32:ncw 2x3x4", {JOIN, .axis = 0, .other = 3}, "f32:x 24"},
    {"f32:cn 2x3", {JOIN, .axis = 0, .other = 2}, "f32:[a2:1,a3:2] 6"},
    {"f32:[a2:6,b6:1] 1x6", {JOIN, .axis = 0, .other = 2}, "f32:A12a 6"},
    {"f32:ncw 4x6x5", {RESHAPE, .axis = 0, .other = 3, .size = {2, 2, 30}}, "f32:ncw 2x2x30"},
    {"f32:nc 5x7", {DIAGONAL, .axis = 0, .other = 1}, "f32:[a5:8] 5"},
    /* whole blocks: planar on blocks */
    {"f32:nChw8c 1x32x2x2",
     {CROP, .begin = {0, 8, 0, 0}, .size = {1, 16, 2, 2}},
     "f32:[a1:1,b2:32,c2:16,d2:8,b8:1]+32 1x16x2x2"},
    {"f32:nChw8c 1x32x2x2",
     {CROP, .begin = {0, 9, 0, 0}, .size = {1, 4, 2, 2}},
     "f32:[a1:1,c2:16,d2:8,b4:1]+33 1x4x2x2"},
    {"f32:nChw8c 1x32x2x2",
     {CROP, .begin = {0, 1, 0, 0}, .size = {1, 4, 2, 2}, .step = {1, 8, 1, 1}},
     "f32:[a1:1,b4:32,c2:16,d2:8]+1 1x4x2x2"},
    /* windows */
    {"f32:nChw8c 1x16x4x4",
     {CROP, .begin = {0, 3, 0, 0}, .size = {1, 9, 4, 4}},
     "f32:[a1:1,b2:125,c4:32,d4:8,b5:1]+3@b0 1x9x4x4"},
    {"f32:nChw8c 1x24x4x4",
     {CROP, .begin = {0, 7, 0, 0}, .size = {1, 5, 4, 4}, .step = {1, 3, 1, 1}},
     "f32:[a1:1,b3:128,c4:32,d4:8,b8:1]@b7/3 1x5x4x4"},
    {"f32:nChw8c 1x16x1x2", {REVERSE, .axis = 1}, "f32:[a1:1,b2:-16,c1:1,d2:8,b8:-1]+23 1x16x1x2"},
    /* blocks in two and out of two */
    {"f32:nChw8c 1x16x2x2", {SPLIT, .axis = 1, .other = 2, .size = {2, 8}}, "f32:gohwi 1x2x8x2x2"},
    {"f32:nChw8c 1x16x2x2",
     {SPLIT, .axis = 1, .other = 2, .size = {4, 4}},
     "f32:[a1:1,b2:32,d2:16,e2:8,b2:4,c4:1] 1x4x4x2x2"},
    {"f32:OIhw4o4i 8x8x1x1", {DIAGONAL, .axis = 0, .other = 1}, "f32:[a2:48,b1:1,c1:1,a4:5] 8x1x1"},
    /* without elements all are alike */
    {"f32:nChw8c 0x3x2x2", {REVERSE, .axis = 1}, "f32:nchw 0x3x2x2"},
    {"f32:nChw8c 1x3x2x2", {CROP, .begin = {0, 3, 0, 0}, .size = {1, 0, 2, 2}}, "f32:nchw 1x0x2x2"},
    {"f32:ncw 2x0x3", {RESHAPE, .axis = 0, .other = 4, .size = {7, 0, 9, 1}}, "f32:nchw 7x0x9x1"},
    {"f32:ncw 2x0x3", {JOIN, .axis = 0, .other = 3}, "f32:x 0"},
    {"f32:x 0", {SPLIT, .axis = 0, .other = 3, .size = {2, 0, 3}}, "f32:ncw 2x0x3"},
    {"f32:nc 0x3", {DIAGONAL, .axis = 0, .other = 1}, "f32:x 0"},
    {"f32:nc 0x1", {BROADCAST, .axis = 1, .size = {9}}, "f32:nc 0x9"},
    /* a scalar */
    {"f32:scalar scalar", {.kind = CROP}, "f32:scalar scalar"},
    {"f32:scalar scalar", {.kind = PERMUTE}, "f32:scalar scalar"},
    {"f32:scalar scalar", {.kind = UNSQUEEZE}, "f32:x 1"},
    {"f32:x 1", {.kind = SQUEEZE}, "f32:scalar scalar"},
    {"f32:[a1:7/3]+5 1", {.kind = SQUEEZE}, "f32:[]+26 scalar"},
    {"f32:scalar scalar", {RESHAPE, .axis = 0, .other = 3, .size = {1, 1, 1}}, "f32:ncw 1x1x1"},
    {"f32:nchw 1x1x1x1", {RESHAPE, .axis = 0, .other = 0}, "f32:scalar scalar"},
};

static void test_examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(examples); i++) {
        tsr_desc desc = parsed_desc(examples[i].before), view, canonical, expected = parsed_desc(examples[i].after);
        tsr_error error = {0};
        assert_true(check_call(&examples[i].call, &desc));
        assert_int_equal(call_view(&examples[i].call, &view, &desc, &error), TSR_OK);
        tsr_desc_canonical(&canonical, &view);
        assert_string_equal(text_of(&canonical), examples[i].after);
        assert_true(tsr_desc_equal(&view, &expected));
    }
}

/* --- refusals --- */

#define BIG "4611686018427387904"

static const struct {
    const char *before;
    view_call call;
    tsr_status status;
    const char *message;
} refusals[] = {
    {"f32:nc 2x3",
     {CROP, .begin = {0, -1}, .size = {2, 3}},
     TSR_INVALID_ARGUMENT,
     "axis 1: expected a begin of 0 to 3, a size of 0 or more and a step of 1 or more, found -1, 3 and 1"},
    {"f32:nc 2x3",
     {CROP, .begin = {3, 0}, .size = {0, 3}},
     TSR_INVALID_ARGUMENT,
     "axis 0: expected a begin of 0 to 2, a size of 0 or more and a step of 1 or more, found 3, 0 and 1"},
    {"f32:nc 2x3",
     {CROP, .begin = {0, 0}, .size = {2, -3}},
     TSR_INVALID_ARGUMENT,
     "axis 1: expected a begin of 0 to 3, a size of 0 or more and a step of 1 or more, found 0, -3 and 1"},
    {"f32:nc 2x3",
     {CROP, .begin = {0, 0}, .size = {2, 3}, .step = {1, 0}},
     TSR_INVALID_ARGUMENT,
     "axis 1: expected a begin of 0 to 3, a size of 0 or more and a step of 1 or more, found 0, 3 and 0"},
    {"f32:nc 2x3",
     {CROP, .begin = {0, 2}, .size = {2, 1}, .step = {1, -1}},
     TSR_INVALID_ARGUMENT,
     "axis 1: expected a begin of 0 to 3, a size of 0 or more and a step of 1 or more, found 2, 1 and -1"},
    {"f32:nc 2x3",
     {CROP, .begin = {0, 1}, .size = {2, 3}},
     TSR_INVALID_ARGUMENT,
     "axis 1: 3 indices from 1 in steps of 1 leave the 3 that there are"},
    {"f32:nc 2x3",
     {CROP, .begin = {0, 1}, .size = {2, 2}, .step = {1, 2}},
     TSR_INVALID_ARGUMENT,
     "axis 1: 2 indices from 1 in steps of 2 leave the 3 that there are"},
    {"f32:nChw8c 1x9x1x1", /* padding is not there */
     {CROP, .begin = {0, 0, 0, 0}, .size = {1, 10, 1, 1}},
     TSR_INVALID_ARGUMENT,
     "axis 1: 10 indices from 0 in steps of 1 leave the 9 that there are"},
    {"f32:nc 2x3",
     {CROP, .begin = {0, 3}, .size = {2, INT64_MAX}},
     TSR_INVALID_ARGUMENT,
     "axis 1: 9223372036854775807 indices from 3 in steps of 1 leave the 3 that there are"},
    {"f32:nc 2x3",
     {CROP, .begin = {0, 1}, .size = {2, 3}, .step = {1, INT64_MAX}},
     TSR_INVALID_ARGUMENT,
     "axis 1: 3 indices from 1 in steps of 9223372036854775807 leave the 3 that there are"},
    {"f32:nc 2x3",
     {CROP, .begin = {0, INT64_MAX}, .size = {2, 1}},
     TSR_INVALID_ARGUMENT,
     "axis 1: expected a begin of 0 to 3, a size of 0 or more and a step of 1 or more, found 9223372036854775807, 1 "
     "and 1"},
    {"u8:x " BIG,
     {CROP, .begin = {1}, .size = {INT64_MAX}},
     TSR_INVALID_ARGUMENT,
     "axis 0: 9223372036854775807 indices from 1 in steps of 1 leave the " BIG " that there are"},
    {"f32:nc 2x3", {PERMUTE, .axes = {1, 2}}, TSR_INVALID_ARGUMENT, "expected an axis of 0 to 1, found 2"},
    {"f32:nc 2x3", {PERMUTE, .axes = {-1, 0}}, TSR_INVALID_ARGUMENT, "expected an axis of 0 to 1, found -1"},
    {"f32:nc 2x3", {PERMUTE, .axes = {1, 1}}, TSR_INVALID_ARGUMENT, "axes[1] names axis 1 a second time"},
    {"f32:nc 2x3", {TRANSPOSE, .axis = 0, .other = 2}, TSR_INVALID_ARGUMENT, "expected an axis of 0 to 1, found 2"},
    {"f32:nc 2x3", {TRANSPOSE, .axis = -1, .other = 1}, TSR_INVALID_ARGUMENT, "expected an axis of 0 to 1, found -1"},
    {"f32:nc 2x3", {REVERSE, .axis = 2}, TSR_INVALID_ARGUMENT, "expected an axis of 0 to 1, found 2"},
    {"f32:nc 2x1", {SQUEEZE, .axis = 2}, TSR_INVALID_ARGUMENT, "expected an axis of 0 to 1, found 2"},
    {"f32:nc 2x1", {SQUEEZE, .axis = 0}, TSR_INVALID_ARGUMENT, "axis 0 has 2 indices, expected 1"},
    {"f32:nc 2x0", {SQUEEZE, .axis = 1}, TSR_INVALID_ARGUMENT, "axis 1 has 0 indices, expected 1"},
    {"f32:nc 2x3", {UNSQUEEZE, .axis = -1}, TSR_INVALID_ARGUMENT, "expected a place of 0 to 2, found -1"},
    {"f32:nc 2x3", {UNSQUEEZE, .axis = 3}, TSR_INVALID_ARGUMENT, "expected a place of 0 to 2, found 3"},
    {"f32:nc 2x3", {BROADCAST, .axis = 1, .size = {6}}, TSR_INVALID_ARGUMENT, "axis 1 has 3 indices, expected 1"},
    {"f32:nc 2x1", {BROADCAST, .axis = 1, .size = {0}}, TSR_INVALID_ARGUMENT, "expected a size of 1 or more, found 0"},
    {"f32:nc 2x1",
     {BROADCAST, .axis = 1, .size = {-4}},
     TSR_INVALID_ARGUMENT,
     "expected a size of 1 or more, found -4"},
    {"f32:nc 2x1",
     {BROADCAST, .axis = 1, .size = {INT64_MAX}},
     TSR_OVERFLOW,
     "the product of the dims does not fit into 63 bits of bytes"},
    {"u8:nc 2x1",
     {BROADCAST, .axis = 1, .size = {INT64_C(1) << 62}},
     TSR_OVERFLOW,
     "the product of the dims does not fit into 63 bits of bytes"},
    {"f32:nc 2x6",
     {SPLIT, .axis = 2, .other = 2, .size = {2, 3}},
     TSR_INVALID_ARGUMENT,
     "expected an axis of 0 to 1, found 2"},
    {"f32:nc 2x6", {SPLIT, .axis = 1, .other = 0}, TSR_INVALID_ARGUMENT, "expected 1 size or more, found 0"},
    {"f32:nc 2x6",
     {SPLIT, .axis = 1, .other = 2, .size = {-2, -3}},
     TSR_INVALID_ARGUMENT,
     "sizes[0] is -2, expected 0 or more"},
    {"f32:nc 2x6",
     {SPLIT, .axis = 1, .other = 2, .size = {2, 4}},
     TSR_INVALID_ARGUMENT,
     "the product of the sizes is 8, axis 1 has 6 indices"},
    {"f32:nc 2x0",
     {SPLIT, .axis = 1, .other = 2, .size = {2, 4}},
     TSR_INVALID_ARGUMENT,
     "the product of the sizes is 8, axis 1 has 0 indices"},
    {"f32:nc 2x0",
     {SPLIT, .axis = 1, .other = 3, .size = {0, INT64_MAX, 4}},
     TSR_OVERFLOW,
     "the product of the sizes behind sizes[0] does not fit into 63 bits"},
    {"f32:nc 2x0",
     {SPLIT, .axis = 1, .other = 2, .size = {0, INT64_MAX}},
     TSR_OVERFLOW,
     "the product of the dims does not fit into 63 bits of bytes"},
    {"f32:nc 2x6",
     {SPLIT, .axis = 1, .other = 2, .size = {INT64_MAX, 4}},
     TSR_INVALID_ARGUMENT,
     "the product of the sizes is more than 9223372036854775807, axis 1 has 6 indices"},
    {"f32:nChw8c 1x24x1x2",
     {SPLIT, .axis = 1, .other = 2, .size = {2, 12}},
     TSR_UNSUPPORTED,
     "axis 1 has blocks of 8, and rows of 12 neither divide them nor hold them"},
    {"f32:nChw8c 1x12x1x2",
     {SPLIT, .axis = 1, .other = 2, .size = {4, 3}},
     TSR_UNSUPPORTED,
     "axis 1 has blocks of 8, and rows of 3 neither divide them nor hold them"},
    {"f32:[a16:1] 12",
     {SPLIT, .axis = 0, .other = 2, .size = {2, 6}},
     TSR_UNSUPPORTED,
     "axis 0 has room for 16 indices, no multiple of rows of 6"},
    {"f32:[b3:128,c4:32,d4:8,b8:1,a1]@b2 1x16x4x4",
     {SPLIT, .axis = 1, .other = 2, .size = {4, 4}},
     TSR_UNSUPPORTED,
     "axis 1 is a window from position 2 in steps of 1, and rows of 4 do not begin there"},
    {"f32:[b6:128,c4:32,d4:8,b8:1,a1]@b0/3 1x16x4x4",
     {SPLIT, .axis = 1, .other = 2, .size = {2, 8}},
     TSR_UNSUPPORTED,
     "axis 1 is a window from position 0 in steps of 3, and rows of 8 do not begin there"},
    {"f32:nc 2x6", {JOIN, .axis = -1, .other = 2}, TSR_INVALID_ARGUMENT, "expected an axis of 0 to 1, found -1"},
    {"f32:nc 2x6", {JOIN, .axis = 1, .other = 2}, TSR_INVALID_ARGUMENT, "expected 1 to 1 axes from axis 1 on, found 2"},
    {"f32:nc 2x6", {JOIN, .axis = 0, .other = 0}, TSR_INVALID_ARGUMENT, "expected 1 to 2 axes from axis 0 on, found 0"},
    {"f32:nChw8c 2x12x1x2",
     {JOIN, .axis = 0, .other = 2},
     TSR_UNSUPPORTED,
     "axis 1 cannot follow axis 0 in one: it has padding behind its elements"},
    {"f32:[a2:512,b3:128,c4:32,d4:8,b8:1]@b2 2x18x4x4",
     {JOIN, .axis = 0, .other = 2},
     TSR_UNSUPPORTED,
     "axis 1 cannot follow axis 0 in one: it is a window on its blocks"},
    {"f32:[b3:128,c4:32,d4:8,b8:1,a1]@b2/3 1x7x4x4",
     {JOIN, .axis = 1, .other = 2},
     TSR_UNSUPPORTED,
     "axis 1 is a window in steps of 3 on its blocks"},
    {"f32:nc 2x6",
     {RESHAPE, .axis = 0, .other = 2, .size = {3, 5}},
     TSR_INVALID_ARGUMENT,
     "the dims have 15 elements, expected 12"},
    {"f32:nc 2x0",
     {RESHAPE, .axis = 0, .other = 2, .size = {3, 5}},
     TSR_INVALID_ARGUMENT,
     "the dims have 15 elements, expected 0"},
    {"f32:nc 2x6",
     {RESHAPE, .axis = 0, .other = 2, .size = {-3, -4}},
     TSR_INVALID_ARGUMENT,
     "dims[0] is -3, expected 0 or more"},
    {"f32:nc 2x6", {RESHAPE, .axis = 0, .other = 33}, TSR_INVALID_ARGUMENT, "expected a rank of 0 to 32, found 33"},
    {"f32:nc 2x6", {RESHAPE, .axis = 0, .other = -1}, TSR_INVALID_ARGUMENT, "expected a rank of 0 to 32, found -1"},
    {"f32:nc 2x6",
     {RESHAPE, .axis = 0, .other = 2, .size = {INT64_MAX, 12}},
     TSR_OVERFLOW,
     "the product of the dims does not fit into 63 bits of bytes"},
    {"f32:nc 2x6", {DIAGONAL, .axis = 0, .other = 2}, TSR_INVALID_ARGUMENT, "expected an axis of 0 to 1, found 2"},
    {"f32:nc 2x6", {DIAGONAL, .axis = -1, .other = 1}, TSR_INVALID_ARGUMENT, "expected an axis of 0 to 1, found -1"},
    {"f32:nc 2x6", {DIAGONAL, .axis = 1, .other = 1}, TSR_INVALID_ARGUMENT, "expected two axes, found 1 twice"},
    {"f32:OIhw4o6i 24x24x1x2",
     {DIAGONAL, .axis = 0, .other = 1},
     TSR_UNSUPPORTED,
     "the blocks of axes 0 and 1 do not nest"},
};

static void check_refusal(const view_call *call, const tsr_desc *desc, tsr_status status, const char *message)
{
    tsr_desc view, untouched, in_place = *desc;
    tsr_error error = {0};
    memset(&view, 0x5a, sizeof view);
    untouched = view;
    tsr_status found = call_view(call, &view, desc, &error);
    assert_string_equal(error.message, message);
    assert_int_equal(found, status);
    assert_int_equal(error.status, status);
    assert_memory_equal(&view, &untouched, sizeof view);
    assert_int_equal(call_view(call, &in_place, &in_place, NULL), status);
    assert_memory_equal(&in_place, desc, sizeof in_place);
}

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refusals); i++) {
        tsr_desc desc = parsed_desc(refusals[i].before);
        check_refusal(&refusals[i].call, &desc, refusals[i].status, refusals[i].message);
    }
}

/* --- limits --- */

static tsr_desc make_rank(int rank)
{
    int64_t dims[TSR_MAX_RANK];
    tsr_desc desc;
    for (int k = 0; k < rank; k++)
        dims[k] = k == rank - 1 ? 6 : 1;
    assert_int_equal(tsr_desc_plain(&desc, TSR_U8, rank, dims, NULL), TSR_OK);
    return desc;
}

static void test_most_axes(void **state)
{
    (void)state;
    tsr_desc desc = make_rank(TSR_MAX_RANK - 1);
    assert_true(check_call(&(view_call){UNSQUEEZE, .axis = 31}, &desc));
    assert_true(check_call(&(view_call){SPLIT, .axis = 30, .other = 2, .size = {2, 3}}, &desc));
    desc = make_rank(TSR_MAX_RANK);
    check_refusal(&(view_call){UNSQUEEZE, .axis = 0}, &desc, TSR_UNSUPPORTED,
                  "an axis more than 32, or a level more than 32, cannot be");
    check_refusal(&(view_call){SPLIT, .axis = 31, .other = 2, .size = {2, 3}}, &desc, TSR_UNSUPPORTED,
                  "an axis more than 32, or a level more than 32, cannot be");
    assert_true(check_call(&(view_call){SPLIT, .axis = 31, .other = 1, .size = {6}}, &desc));
    assert_true(check_call(&(view_call){JOIN, .axis = 0, .other = 32}, &desc));
    view_call call = {RESHAPE, .axis = 0, .other = TSR_MAX_RANK};
    for (int k = 0; k < TSR_MAX_RANK; k++)
        call.size[k] = k == 0 ? 6 : 1;
    assert_true(check_call(&call, &desc));
    assert_int_equal(call_view(&call, &desc, &desc, NULL), TSR_OK);
    call.size[0] = 2;
    call.size[1] = 3;
    assert_true(check_call(&call, &desc));
    call.size[0] = call.size[1] = 1;
    call.size[31] = 6;
    assert_true(check_call(&call, &desc));
}

/* One axis of 31 levels of two, no two of which continue each other, and then levels of one. */
static tsr_desc make_levels(int levels)
{
    tsr_desc desc = {.dtype = TSR_U8, .rank = 1, .levels = levels, .dims = {INT64_C(1) << 31}};
    for (int i = 0; i < levels; i++) {
        desc.block_dims[i] = i < 31 ? 2 : 1;
        desc.strides[i] = INT64_C(1) << (i < 31 ? i : 0);
    }
    assert_int_equal(tsr_desc_check(&desc, false, NULL), TSR_OK);
    return desc;
}

static void test_most_levels(void **state)
{
    (void)state;
    tsr_desc desc = make_levels(TSR_MAX_LEVELS), view;
    check_refusal(&(view_call){UNSQUEEZE, .axis = 0}, &desc, TSR_UNSUPPORTED,
                  "an axis more than 1, or a level more than 64, cannot be");
    assert_int_equal(tsr_view_reverse(&view, &desc, 0, NULL), TSR_OK);
    assert_int_equal(view.levels, 31);
    assert_int_equal(tsr_view_unsqueeze(&view, &view, 0, NULL), TSR_OK);
}

/* Products of sizes that do not fit, at any place. */
static void test_huge_sizes(void **state)
{
    (void)state;
    tsr_desc desc = parsed_desc("u8:x 8"), empty = parsed_desc("u8:x 0");
    check_refusal(&(view_call){SPLIT, .axis = 0, .other = 3, .size = {INT64_C(1) << 62, 4, 2}}, &desc,
                  TSR_INVALID_ARGUMENT,
                  "the product of the sizes is more than 9223372036854775807, axis 0 has 8 indices");
    check_refusal(&(view_call){SPLIT, .axis = 0, .other = 4, .size = {0, INT64_C(1) << 62, 4, 2}}, &empty, TSR_OVERFLOW,
                  "the product of the sizes behind sizes[0] does not fit into 63 bits");
}

/* What tsr_desc_check refuses is refused here too, in the middle of a reshape. */
static void test_no_descriptor(void **state)
{
    (void)state;
    int64_t dims[TSR_MAX_RANK], wanted[TSR_MAX_RANK];
    tsr_desc desc;
    tsr_error error = {0};
    for (int k = 0; k < TSR_MAX_RANK; k++) {
        dims[k] = k == 0 || k == 31 ? 2 : 1;
        wanted[k] = k == 1 || k == 31 ? 2 : 1;
    }
    assert_int_equal(tsr_desc_plain(&desc, TSR_U8, TSR_MAX_RANK, dims, NULL), TSR_OK);
    desc.strides[0] = desc.strides[31] = 1;
    assert_int_equal(tsr_view_reshape(&desc, &desc, TSR_MAX_RANK, wanted, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "elements overlap: the stride of level 30 (axis 30) is 1, expected more than 1");
    assert_int_equal(desc.rank, TSR_MAX_RANK);
}

static void test_huge(void **state)
{
    (void)state;
    tsr_desc desc = parsed_desc("u8:x 9223372036854775807"), view;
    int64_t offset;
    view_call call = {CROP, .begin = {INT64_MAX - 3}, .size = {3}};
    assert_true(check_call(&call, &desc));
    call = (view_call){CROP, .begin = {INT64_MAX}, .size = {0}};
    assert_true(check_call(&call, &desc));
    call = (view_call){CROP, .begin = {0}, .size = {2}, .step = {INT64_MAX - 1}};
    assert_true(check_call(&call, &desc));
    call = (view_call){CROP, .begin = {1}, .size = {2}, .step = {INT64_MAX - 1}};
    check_refusal(
        &call, &desc, TSR_INVALID_ARGUMENT,
        "axis 0: 2 indices from 1 in steps of 9223372036854775806 leave the 9223372036854775807 that there are");
    call = (view_call){CROP, .begin = {INT64_MAX}, .size = {1}};
    check_refusal(
        &call, &desc, TSR_INVALID_ARGUMENT,
        "axis 0: 1 indices from 9223372036854775807 in steps of 1 leave the 9223372036854775807 that there are");
    call = (view_call){CROP, .begin = {3}, .size = {INT64_MAX - 2}};
    check_refusal(
        &call, &desc, TSR_INVALID_ARGUMENT,
        "axis 0: 9223372036854775805 indices from 3 in steps of 1 leave the 9223372036854775807 that there are");
    assert_int_equal(tsr_view_reverse(&view, &desc, 0, NULL), TSR_OK);
    assert_int_equal(tsr_desc_offset(&view, 1, &(int64_t){INT64_MAX - 1}, &offset, NULL), TSR_OK);
    assert_int_equal(offset, 0);
    desc = parsed_desc("u8:x 1");
    assert_int_equal(tsr_view_broadcast(&view, &desc, 0, INT64_MAX, NULL), TSR_OK);
    assert_int_equal(tsr_desc_elements(&view), INT64_MAX);
    assert_int_equal(tsr_desc_size_bytes(&view), 1);
    assert_int_equal(tsr_view_reverse(&view, &view, 0, NULL), TSR_OK);
    assert_int_equal(tsr_view_split(&view, &view, 0, 2, (int64_t[]){7, INT64_MAX / 7}, NULL), TSR_OK);
    assert_int_equal(tsr_view_join(&view, &view, 0, 2, NULL), TSR_OK);
    assert_int_equal(tsr_view_crop(&view, &view, (int64_t[]){5}, (int64_t[]){4}, (int64_t[]){INT64_MAX / 4}, NULL),
                     TSR_OK);
    assert_string_equal(text_of(&view), "u8:[a4:0] 4");
}

/* --- reading only --- */

/* A view that repeats elements or runs backwards is no destination. */
static void test_destinations(void **state)
{
    (void)state;
    tsr_desc desc = parsed_desc("f32:nChw8c 1x16x2x2"), view, plain;
    tsr_error error = {0};
    tsr_plan *plan = NULL;
    assert_int_equal(tsr_view_reverse(&view, &desc, 1, NULL), TSR_OK);
    assert_int_equal(tsr_desc_plain(&plain, TSR_F32, 4, view.dims, NULL), TSR_OK);
    assert_int_equal(tsr_plan_create(&plan, &plain, &view, NULL, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message,
                        "destination: level 0 has stride -32, expected 1 or more unless it is only read from");
    assert_int_equal(tsr_plan_create(&plan, &view, &plain, NULL, NULL), TSR_OK);
    tsr_plan_free(&plan);
    assert_int_equal(tsr_view_broadcast(&view, &desc, 0, 3, NULL), TSR_OK);
    assert_int_equal(tsr_desc_plain(&plain, TSR_F32, 4, view.dims, NULL), TSR_OK);
    assert_int_equal(tsr_plan_create(&plan, &plain, &view, NULL, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "destination: elements overlap: the stride of level 4 (axis 0) is 0, expected "
                                       "more than 0");
    assert_int_equal(tsr_plan_create(&plan, &view, &plain, NULL, NULL), TSR_OK);
    tsr_plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crops),
        cmocka_unit_test(test_crops_of_all_axes),
        cmocka_unit_test(test_permutations),
        cmocka_unit_test(test_single_axes),
        cmocka_unit_test(test_splits_and_joins),
        cmocka_unit_test(test_reshapes),
        cmocka_unit_test(test_diagonals),
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_most_axes),
        cmocka_unit_test(test_most_levels),
        cmocka_unit_test(test_huge_sizes),
        cmocka_unit_test(test_no_descriptor),
        cmocka_unit_test(test_huge),
        cmocka_unit_test(test_destinations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
