/* SPDX-License-Identifier: Apache-2.0 */
/* Views of random descriptors: where their elements are, what they are equal to, and how the engine takes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <tessera/tessera.h>

#include "random.h"
#include "view_calls.h"
#include "workload.h"

enum { MAX_ELEMENTS = 300, MAX_CELLS = 1000, MAX_CALLS = 5 };

static tsr_random numbers;

/* A descriptor with the views that led to it, and the place of each element by the formulas of view.h alone. */
struct chain {
    int calls;
    tsr_desc desc[MAX_CALLS + 1]; /* [0] is not a view */
    view_call call[MAX_CALLS];
    int64_t elements;
    int64_t places[MAX_ELEMENTS];
};

static const tsr_desc *last(const struct chain *chain)
{
    return &chain->desc[chain->calls];
}

static void print_chain(const struct chain *chain)
{
    char text[TSR_TEXT_SIZE], call[VIEW_CALL_TEXT_SIZE];
    for (int i = 0; i <= chain->calls; i++) {
        tsr_desc_print(&chain->desc[i], text, sizeof text);
        print_message("# %s%s\n", i ? "  = " : "", text);
        if (i < chain->calls) {
            print_call(&chain->call[i], &chain->desc[i], call);
            print_message("# %s\n", call);
        }
    }
}

static void fail_chain(const struct chain *chain, const char *what, const char *message)
{
    print_chain(chain);
    fail_msg("%s: %s", what, message);
}

/* --- random calls --- */

static int any_axis(const tsr_desc *desc)
{
    return (int)tsr_random_range(&numbers, 0, desc->rank - 1);
}

static int64_t any_divisor(int64_t n)
{
    int64_t divisor = tsr_random_range(&numbers, 1, n);
    while (n % divisor != 0)
        divisor--;
    return divisor;
}

/* Cuts a few axes; most begin and end anywhere. */
static view_call draw_crop(const tsr_desc *desc)
{
    view_call call = {.kind = CROP};
    bool steps = tsr_random_chance(&numbers, 3);
    for (int k = 0; k < desc->rank; k++) {
        int64_t dim = desc->dims[k];
        call.step[k] = steps;
        call.size[k] = dim;
        if (!tsr_random_chance(&numbers, 2))
            continue;
        call.begin[k] = tsr_random_chance(&numbers, 3) ? 0 : tsr_random_range(&numbers, 0, dim - 1);
        if (steps)
            call.step[k] = tsr_random_range(&numbers, 1, tsr_random_chance(&numbers, 4) ? dim : 4);
        int64_t most = (dim - 1 - call.begin[k]) / (steps ? call.step[k] : 1) + 1;
        call.size[k] = tsr_random_chance(&numbers, 2) ? most : tsr_random_range(&numbers, 1, most);
    }
    return call;
}

static view_call draw_permutation(const tsr_desc *desc)
{
    view_call call = {.kind = PERMUTE};
    for (int k = 0; k < desc->rank; k++)
        call.axes[k] = k;
    tsr_random_shuffle(&numbers, call.axes, desc->rank);
    return call;
}

static view_call draw_split(const tsr_desc *desc)
{
    view_call call = {.kind = SPLIT, .axis = any_axis(desc), .other = (int)tsr_random_range(&numbers, 1, 3)};
    int64_t rest = desc->dims[call.axis];
    for (int i = 0; i < call.other; i++) {
        call.size[i] = i == call.other - 1 ? rest : any_divisor(rest);
        rest /= call.size[i];
    }
    return call;
}

static view_call draw_reshape(const tsr_desc *desc)
{
    view_call call = {.kind = RESHAPE, .other = (int)tsr_random_range(&numbers, 1, 5)};
    int64_t rest = tsr_desc_elements(desc);
    for (int i = 0; i < call.other; i++) {
        call.size[i] = i == call.other - 1 ? rest : any_divisor(rest);
        rest /= call.size[i];
    }
    return call;
}

/* An axis with one index, or -1. */
static int single_axis(const tsr_desc *desc)
{
    for (int tries = 0; tries < 4 && desc->rank > 0; tries++) {
        int axis = any_axis(desc);
        if (desc->dims[axis] == 1)
            return axis;
    }
    return -1;
}

/* A call that view.h accepts, unless the memory does not allow it; to_write: whose result is a destination. */
static view_call draw_call(const tsr_desc *desc, bool to_write)
{
    view_kind kind = (view_kind)tsr_random_range(&numbers, CROP, VIEW_KIND_COUNT - 1);
    int single = single_axis(desc);
    if (kind == UNSQUEEZE || desc->rank == 0)
        return (view_call){.kind = UNSQUEEZE, .axis = (int)tsr_random_range(&numbers, 0, desc->rank)};
    if (kind == PERMUTE)
        return draw_permutation(desc);
    if (kind == TRANSPOSE)
        return (view_call){.kind = kind, .axis = any_axis(desc), .other = any_axis(desc)};
    if (kind == REVERSE && !to_write)
        return (view_call){.kind = kind, .axis = any_axis(desc)};
    if (kind == SQUEEZE && single >= 0)
        return (view_call){.kind = kind, .axis = single};
    if (kind == BROADCAST && single >= 0 && !to_write && tsr_desc_elements(desc) <= MAX_ELEMENTS / 3)
        return (view_call){.kind = kind, .axis = single, .size = {tsr_random_range(&numbers, 1, 3)}};
    if (kind == SPLIT)
        return draw_split(desc);
    if (kind == JOIN) {
        int axis = any_axis(desc);
        return (view_call){.kind = kind, .axis = axis, .other = (int)tsr_random_range(&numbers, 1, desc->rank - axis)};
    }
    if (kind == RESHAPE)
        return draw_reshape(desc);
    if (kind == DIAGONAL && desc->rank > 1) {
        int axis = any_axis(desc);
        return (view_call){.kind = kind, .axis = axis, .other = (axis + 1) % desc->rank};
    }
    return draw_crop(desc);
}

static tsr_desc draw_desc(tsr_dtype dtype, bool read_only)
{
    int64_t dims[TSR_MAX_RANK];
    int rank = (int)tsr_random_range(&numbers, tsr_random_chance(&numbers, 20) ? 0 : 1, 4);
    tsr_random_options options = {.max_blocks = (int)tsr_random_range(&numbers, 0, 3),
                                  .max_elements = MAX_CELLS,
                                  .strided = tsr_random_chance(&numbers, 2),
                                  .offset = tsr_random_chance(&numbers, 2),
                                  .pad_before = tsr_random_chance(&numbers, 4),
                                  .spare = tsr_random_chance(&numbers, 4),
                                  .broadcast = read_only && tsr_random_chance(&numbers, 4)};
    tsr_random_dims(&numbers, rank, MAX_ELEMENTS, dims);
    return tsr_random_desc(&numbers, dtype, rank, dims, &options);
}

static void begin_chain(struct chain *chain, tsr_desc desc)
{
    chain->calls = 0;
    chain->desc[0] = desc;
    chain->elements = tsr_desc_elements(&desc);
    for (int64_t i = 0; i < chain->elements; i++)
        assert_int_equal(tsr_desc_offset_linear(&desc, i, &chain->places[i], NULL), TSR_OK);
}

/* The places of the next view, by the formula. */
static void map_places(struct chain *chain, const view_call *call, const tsr_desc *desc)
{
    int64_t dims[TSR_MAX_RANK + 1], v[TSR_MAX_RANK + 1], w[TSR_MAX_RANK + 1], places[MAX_ELEMENTS];
    int rank = dims_of_call(call, desc, dims);
    chain->elements = 1;
    for (int k = 0; k < rank; k++)
        chain->elements *= dims[k];
    for (int64_t i = 0; i < chain->elements; i++) {
        index_of_linear(rank, dims, i, v);
        map_index(call, desc, v, w);
        places[i] = chain->places[linear_of_index(desc->rank, desc->dims, w)];
    }
    memcpy(chain->places, places, sizeof places);
}

/* False, and nothing has happened, where the memory does not allow the view. */
static bool add_call(struct chain *chain, view_call call)
{
    tsr_error error = {0};
    const tsr_desc *desc = last(chain);
    tsr_desc *view = &chain->desc[chain->calls + 1];
    chain->call[chain->calls] = call;
    tsr_status status = call_view(&call, view, desc, &error);
    if (status == TSR_UNSUPPORTED &&
        (call.kind == SPLIT || call.kind == JOIN || call.kind == RESHAPE || call.kind == DIAGONAL))
        return false;
    if (status != TSR_OK) {
        char text[VIEW_CALL_TEXT_SIZE];
        print_call(&call, desc, text);
        fail_chain(chain, text, error.message);
    }
    map_places(chain, &call, desc);
    chain->calls++;
    return true;
}

static struct chain draw_chain(tsr_dtype dtype, int calls, bool to_write)
{
    struct chain chain;
    begin_chain(&chain, draw_desc(dtype, !to_write));
    for (int i = 0; i < calls; i++)
        add_call(&chain, draw_call(last(&chain), to_write));
    return chain;
}

/* --- every element is where the formulas say --- */

static void check_places(const struct chain *chain)
{
    int64_t place, first, end;
    tsr_error error = {0};
    const tsr_desc *view = last(chain);
    if (tsr_desc_check(view, true, &error) != TSR_OK)
        fail_chain(chain, "not a descriptor", error.message);
    assert_int_equal(tsr_desc_elements(view), chain->elements);
    tsr_desc_span(view, &first, &end);
    for (int64_t i = 0; i < chain->elements; i++) {
        assert_int_equal(tsr_desc_offset_linear(view, i, &place, NULL), TSR_OK);
        if (place != chain->places[i])
            fail_chain(chain, "wrong", "an element is at another place");
        if (place < first || place >= end)
            fail_chain(chain, "wrong", "an element is outside of the span");
    }
}

/* A view stays in the buffer that it is a view of. */
static void check_span(const struct chain *chain)
{
    int64_t first, end, whole_first, whole_end;
    tsr_desc_span(&chain->desc[0], &whole_first, &whole_end);
    tsr_desc_span(last(chain), &first, &end);
    if (first < whole_first || end > whole_end)
        fail_chain(chain, "wrong", "the view reaches out of its buffer");
}

static void test_places(void **state)
{
    (void)state;
    for (int i = tsr_random_cases(20000); i > 0; i--) {
        struct chain chain = draw_chain(TSR_U8, (int)tsr_random_range(&numbers, 1, MAX_CALLS), false);
        check_places(&chain);
        check_span(&chain);
    }
}

/* --- algebra --- */

static tsr_desc called(const tsr_desc *desc, view_call call)
{
    tsr_desc view;
    tsr_error error = {0};
    if (call_view(&call, &view, desc, &error) != TSR_OK)
        fail_msg("%s", error.message);
    return view;
}

static bool same_dims(const tsr_desc *a, const tsr_desc *b)
{
    return a->rank == b->rank && memcmp(a->dims, b->dims, (size_t)a->rank * sizeof a->dims[0]) == 0;
}

static void expect_equal(const tsr_desc *a, const tsr_desc *b, const tsr_desc *of, const char *what)
{
    char x[TSR_TEXT_SIZE], y[TSR_TEXT_SIZE], whole[TSR_TEXT_SIZE];
    if (tsr_desc_equal(a, b))
        return;
    tsr_desc_print(a, x, sizeof x);
    tsr_desc_print(b, y, sizeof y);
    tsr_desc_print(of, whole, sizeof whole);
    fail_msg("%s: views of %s\n%s and\n%s differ", what, whole, x, y);
}

/* Two crops as one. A whole axis with its padding stays one only where neither cuts it, as then nothing is cut. */
static void check_crops(const tsr_desc *desc)
{
    view_call x = draw_crop(desc);
    tsr_desc one = called(desc, x);
    view_call y = draw_crop(&one), both = {.kind = CROP};
    for (int k = 0; k < desc->rank; k++) {
        int64_t step = x.step[0] ? x.step[k] : 1;
        both.begin[k] = x.begin[k] + y.begin[k] * step;
        both.step[k] = step * (y.step[0] ? y.step[k] : 1);
        both.size[k] = y.size[k];
    }
    tsr_desc two = called(&one, y), at_once = called(desc, both);
    expect_equal(&two, &at_once, desc, "crop of crop");
}

static void check_permutations(const tsr_desc *desc)
{
    view_call x = draw_permutation(desc), crop = draw_crop(desc), moved = crop;
    tsr_desc one = called(desc, x), cropped = called(desc, crop);
    view_call y = draw_permutation(&one), both = y;
    for (int k = 0; k < desc->rank; k++) {
        both.axes[k] = x.axes[y.axes[k]];
        moved.begin[k] = crop.begin[x.axes[k]];
        moved.size[k] = crop.size[x.axes[k]];
        moved.step[k] = crop.step[x.axes[k]];
    }
    tsr_desc two = called(&one, y), at_once = called(desc, both);
    expect_equal(&two, &at_once, desc, "permute of permute");
    two = called(&one, moved);
    at_once = called(&cropped, x);
    expect_equal(&two, &at_once, desc, "crop of permute");
}

/* A view of a whole axis with padding has none any more. */
static bool has_padding(const tsr_desc *desc)
{
    return tsr_desc_padded_elements(desc) != tsr_desc_elements(desc);
}

static void check_reverse(const tsr_desc *desc)
{
    view_call reverse = {.kind = REVERSE, .axis = any_axis(desc)}, crop = draw_crop(desc), mirrored = crop;
    int k = reverse.axis;
    tsr_desc once = called(desc, reverse), twice = called(&once, reverse);
    if (!has_padding(desc))
        expect_equal(&twice, desc, desc, "reverse of reverse");
    int64_t last_index = crop.begin[k] + (crop.size[k] - 1) * (crop.step[0] ? crop.step[k] : 1);
    mirrored.begin[k] = desc->dims[k] - 1 - last_index;
    tsr_desc cropped = called(desc, crop), x = called(&cropped, reverse), y = called(&once, mirrored);
    if (!has_padding(desc))
        expect_equal(&x, &y, desc, "crop of reverse");
}

static int levels_of(const tsr_desc *desc, int axis, bool *repeats)
{
    int levels = 0;
    *repeats = false;
    for (int i = 0; i < desc->levels; i++)
        if (desc->order[i] == axis) {
            levels++;
            *repeats |= desc->strides[i] == 0;
        }
    return levels;
}

/* By a window. */
static bool sees_repeated_blocks(const tsr_desc *desc)
{
    tsr_desc canonical;
    bool repeats;
    tsr_desc_canonical(&canonical, desc);
    for (int k = 0; k < desc->rank; k++)
        if (canonical.step[k] > 0 && levels_of(&canonical, k, &repeats) > 1 && repeats)
            return true;
    return false;
}

/* Of windows on blocks that a stride of 0 repeats, not all of which tsr_desc_equal claims to know. */
static void expect_same_places(const tsr_desc *a, const tsr_desc *b)
{
    int64_t x, y;
    assert_true(same_dims(a, b));
    for (int64_t i = 0; i < tsr_desc_elements(a); i++) {
        assert_int_equal(tsr_desc_offset_linear(a, i, &x, NULL), TSR_OK);
        assert_int_equal(tsr_desc_offset_linear(b, i, &y, NULL), TSR_OK);
        assert_int_equal(x, y);
    }
}

static void check_there_and_back(const tsr_desc *desc)
{
    tsr_desc there, back;
    view_call split = draw_split(desc), reshape = draw_reshape(desc);
    int axis = (int)tsr_random_range(&numbers, 0, desc->rank);
    there = called(desc, (view_call){.kind = UNSQUEEZE, .axis = axis});
    back = called(&there, (view_call){.kind = SQUEEZE, .axis = axis});
    expect_equal(&back, desc, desc, "unsqueeze and squeeze");
    if (call_view(&split, &there, desc, NULL) == TSR_OK) {
        back = called(&there, (view_call){.kind = JOIN, .axis = split.axis, .other = split.other});
        expect_equal(&back, desc, desc, "split and join");
    }
    if (call_view(&reshape, &there, desc, NULL) == TSR_OK) {
        reshape.other = desc->rank;
        memcpy(reshape.size, desc->dims, sizeof reshape.size);
        back = called(&there, reshape);
        if (!has_padding(desc) && sees_repeated_blocks(desc))
            expect_same_places(&back, desc);
        else if (!has_padding(desc))
            expect_equal(&back, desc, desc, "reshape there and back");
    }
}

static void test_algebra(void **state)
{
    (void)state;
    for (int i = tsr_random_cases(10000); i > 0; i--) {
        struct chain chain = draw_chain(TSR_U8, (int)tsr_random_range(&numbers, 0, 2), false);
        const tsr_desc *desc = last(&chain);
        if (desc->rank == 0)
            continue;
        check_crops(desc);
        check_permutations(desc);
        check_reverse(desc);
        check_there_and_back(desc);
    }
}

/* --- equality, canonical form, hash, text --- */

static bool same_places(const struct chain *a, const struct chain *b)
{
    const tsr_desc *x = last(a), *y = last(b);
    return same_dims(x, y) && memcmp(a->places, b->places, (size_t)a->elements * sizeof a->places[0]) == 0;
}

static bool same_bytes(const tsr_desc *a, const tsr_desc *b)
{
    return a->dtype == b->dtype && a->rank == b->rank && a->levels == b->levels && a->offset == b->offset &&
           memcmp(a->dims, b->dims, sizeof a->dims) == 0 && memcmp(a->first, b->first, sizeof a->first) == 0 &&
           memcmp(a->step, b->step, sizeof a->step) == 0 &&
           memcmp(a->block_dims, b->block_dims, sizeof a->block_dims) == 0 &&
           memcmp(a->strides, b->strides, sizeof a->strides) == 0 &&
           memcmp(a->pad_before, b->pad_before, sizeof a->pad_before) == 0 &&
           memcmp(a->order, b->order, sizeof a->order) == 0;
}

static void check_canonical(const struct chain *chain)
{
    const tsr_desc *desc = last(chain);
    tsr_desc canonical, again;
    tsr_error error = {0};
    tsr_desc_canonical(&canonical, desc);
    tsr_desc_canonical(&again, &canonical);
    if (tsr_desc_check(&canonical, true, &error) != TSR_OK)
        fail_chain(chain, "the canonical one is no descriptor", error.message);
    if (!same_bytes(&canonical, &again))
        fail_chain(chain, "wrong", "canonical is not idempotent");
    if (!tsr_desc_equal(&canonical, desc) || tsr_desc_hash(&canonical) != tsr_desc_hash(desc))
        fail_chain(chain, "wrong", "canonical is not equal");
}

static void check_text(const struct chain *chain)
{
    char text[TSR_TEXT_SIZE];
    tsr_desc again;
    tsr_error error = {0};
    tsr_desc_print(last(chain), text, sizeof text);
    if (tsr_desc_parse(&again, text, &error) != TSR_OK)
        fail_chain(chain, text, error.message);
    if (!tsr_desc_equal(&again, last(chain)))
        fail_chain(chain, "wrong", "what is printed is not equal");
}

static void check_equal_pair(const struct chain *a, const struct chain *b)
{
    char x[TSR_TEXT_SIZE], y[TSR_TEXT_SIZE];
    tsr_desc canonical[2];
    tsr_desc_canonical(&canonical[0], last(a));
    tsr_desc_canonical(&canonical[1], last(b));
    tsr_desc_print(&canonical[0], x, sizeof x);
    tsr_desc_print(&canonical[1], y, sizeof y);
    if (!same_bytes(&canonical[0], &canonical[1]))
        fail_chain(a, x, y);
    assert_int_equal(tsr_desc_hash(last(a)), tsr_desc_hash(last(b)));
    assert_string_equal(x, y);
}

static void check_different_pair(const struct chain *a, const struct chain *b)
{
    tsr_desc canonical[2];
    tsr_desc_canonical(&canonical[0], last(a));
    tsr_desc_canonical(&canonical[1], last(b));
    assert_false(same_bytes(&canonical[0], &canonical[1]));
}

/* What digits.h says is not unified: windows that keep a step, blocks that repeat, three indices or blocks. */
static bool may_escape(const tsr_desc *desc)
{
    tsr_desc canonical;
    bool repeats;
    tsr_desc_canonical(&canonical, desc);
    for (int k = 0; k < desc->rank; k++)
        if (canonical.step[k] > 1 || (levels_of(&canonical, k, &repeats) > 1 && (repeats || canonical.dims[k] == 3)))
            return true;
    return false;
}

static void test_equal(void **state)
{
    (void)state;
    int equal = 0, escaped = 0;
    for (int i = tsr_random_cases(20000); i > 0; i--) {
        struct chain a = draw_chain(TSR_U8, (int)tsr_random_range(&numbers, 0, 2), false), b;
        begin_chain(&b, a.desc[0]);
        for (int64_t calls = tsr_random_range(&numbers, 1, 3); calls > 0; calls--)
            add_call(&b, draw_call(last(&b), false));
        check_canonical(&b);
        check_text(&b);
        bool found = tsr_desc_equal(last(&a), last(&b)), expected = same_places(&a, &b);
        assert_int_equal(tsr_desc_equal(last(&b), last(&a)), found);
        if (found && !expected)
            fail_chain(&b, "wrong", "equal views differ");
        if (found)
            check_equal_pair(&a, &b);
        else
            check_different_pair(&a, &b);
        if (!found && expected && !has_padding(last(&a)) && !has_padding(last(&b))) {
            escaped++;
            if (!may_escape(last(&a)) && !may_escape(last(&b))) {
                print_chain(&a);
                fail_chain(&b, "wrong", "views of the same elements are not equal");
            }
        }
        equal += found;
    }
    print_message("# %d pairs equal, %d same but for their steps\n", equal, escaped);
    assert_true(equal > 200);
}

/* --- the engine --- */

static void fail_reorder(const tsr_desc *src, const tsr_desc *dst, const char *what, const char *message)
{
    static char text[TSR_TEXT_SIZE];
    tsr_problem problem = {.src = *src,
                           .dst = *dst,
                           .scale_axis = TSR_ATTRIBUTE_NONE,
                           .mean_axis = TSR_ATTRIBUTE_NONE,
                           .shift_axis = TSR_ATTRIBUTE_NONE};
    tsr_problem_print(&problem, text, sizeof text);
    fail_msg("%s: %s: %s", text, what, message);
}

static unsigned char *allocate(const tsr_desc *desc)
{
    unsigned char *memory = malloc((size_t)tsr_desc_size_bytes(desc) + 1);
    assert_non_null(memory);
    return memory;
}

static tsr_desc draw_plain_side(tsr_dtype dtype, const tsr_desc *like, bool read_only)
{
    tsr_random_options options = {.max_blocks = 2,
                                  .max_elements = 4 * MAX_CELLS,
                                  .strided = tsr_random_chance(&numbers, 2),
                                  .offset = true,
                                  .spare = tsr_random_chance(&numbers, 4),
                                  .broadcast = read_only && tsr_random_chance(&numbers, 6)};
    return tsr_random_desc(&numbers, dtype, like->rank, like->dims, &options);
}

static void check_reorder(const tsr_desc *src_desc, const void *src, const tsr_desc *dst_desc)
{
    tsr_plan *plan = NULL;
    tsr_error error = {0};
    bool is_right = false;
    tsr_reorder_options options = {.padding = tsr_random_chance(&numbers, 4) ? TSR_PADDING_KEEP : TSR_PADDING_ZERO,
                                   .threads = (int)tsr_random_range(&numbers, 0, 2)};
    tsr_status status = tsr_plan_create(&plan, src_desc, dst_desc, &options, &error);
    if (status == TSR_OK)
        status = verify_plan(plan, src_desc, src, dst_desc, &options, &is_right, &error);
    tsr_plan_free(&plan);
    if (status != TSR_OK || !is_right)
        fail_reorder(src_desc, dst_desc, "differs from the definition", error.message);
}

static tsr_dtype draw_type(bool converts)
{
    static const tsr_dtype convertible[] = {TSR_F32, TSR_F16, TSR_BF16, TSR_S8, TSR_U8,
                                            TSR_S32, TSR_S4,  TSR_U4,   TSR_U1};
    return converts ? convertible[tsr_random_range(&numbers, 0, 8)]
                    : (tsr_dtype)tsr_random_range(&numbers, TSR_F32, TSR_U1);
}

static void test_engine_takes_views(void **state)
{
    static const unsigned masks[] = {TSR_CPU_ALL, TSR_CPU_ALL, TSR_CPU_AVX2, 0};
    (void)state;
    for (int i = tsr_random_cases(6000); i > 0; i--) {
        bool converts = tsr_random_chance(&numbers, 4);
        tsr_dtype type = draw_type(converts), other = converts ? draw_type(true) : type;
        struct chain chain = draw_chain(type, (int)tsr_random_range(&numbers, 1, 3), i % 2);
        tsr_desc side = draw_plain_side(other, last(&chain), i % 2);
        const tsr_desc *src_desc = i % 2 ? &side : last(&chain), *dst_desc = i % 2 ? last(&chain) : &side;
        unsigned char *src = allocate(src_desc);
        tsr_cpu_set_mask(masks[tsr_random_range(&numbers, 0, 3)]);
        fill_awkward(src, (size_t)tsr_desc_size_bytes(src_desc), (uint64_t)i);
        check_reorder(src_desc, src, dst_desc);
        free(src);
    }
    tsr_cpu_set_mask(TSR_CPU_ALL);
}

/* Views on both sides. */
static void test_engine_takes_two_views(void **state)
{
    (void)state;
    int taken = 0;
    for (int i = tsr_random_cases(6000); i > 0; i--) {
        struct chain src_chain = draw_chain(TSR_U16, 1, false), dst_chain;
        tsr_desc side = draw_plain_side(TSR_U16, &src_chain.desc[0], false);
        begin_chain(&dst_chain, side);
        if (src_chain.calls == 0 || src_chain.call[0].kind == REVERSE || src_chain.call[0].kind == BROADCAST ||
            !add_call(&dst_chain, src_chain.call[0]))
            continue;
        unsigned char *src = allocate(last(&src_chain));
        fill_awkward(src, (size_t)tsr_desc_size_bytes(last(&src_chain)), (uint64_t)i);
        check_reorder(last(&src_chain), src, last(&dst_chain));
        free(src);
        taken++;
    }
    assert_true(taken > 1000);
}

/* By the places alone: elements arrive, and of the other elements of the buffer's tensor none is touched. */
static void test_other_elements_stay(void **state)
{
    (void)state;
    for (int i = tsr_random_cases(6000); i > 0; i--) {
        struct chain chain = draw_chain(TSR_U8, (int)tsr_random_range(&numbers, 1, 3), true);
        const tsr_desc *view = last(&chain);
        tsr_desc plain;
        tsr_error error = {0};
        unsigned char values[MAX_ELEMENTS], *dst = allocate(&chain.desc[0]);
        for (int64_t j = 0; j < chain.elements; j++)
            values[j] = (unsigned char)(1 + j % 200);
        memset(dst, 0xcd, (size_t)tsr_desc_size_bytes(&chain.desc[0]));
        assert_int_equal(tsr_desc_plain(&plain, TSR_U8, view->rank, view->dims, NULL), TSR_OK);
        if (tsr_reorder(&plain, values, view, dst, &error) != TSR_OK)
            fail_chain(&chain, "not a destination", error.message);
        for (int64_t j = 0; j < chain.elements; j++) {
            if (dst[chain.places[j]] != values[j])
                fail_chain(&chain, "wrong", "an element has not arrived");
            dst[chain.places[j]] = 0xcd;
        }
        for (int64_t j = 0; j < tsr_desc_elements(&chain.desc[0]); j++) {
            int64_t place;
            assert_int_equal(tsr_desc_offset_linear(&chain.desc[0], j, &place, NULL), TSR_OK);
            if (dst[place] != 0xcd)
                fail_chain(&chain, "wrong", "an element that the view does not see was touched");
        }
        free(dst);
    }
}

static void test_view_then_reorder(void **state)
{
    (void)state;
    int compared = 0;
    for (int i = tsr_random_cases(4000); i > 0; i--) {
        struct chain a = draw_chain(TSR_U16, (int)tsr_random_range(&numbers, 1, 2), false), b;
        tsr_desc side = draw_plain_side(TSR_U16, &a.desc[0], false);
        bool same = true;
        begin_chain(&b, side);
        for (int j = 0; same && j < a.calls; j++)
            same = add_call(&b, a.call[j]);
        if (!same)
            continue;
        tsr_desc target = draw_plain_side(TSR_U16, last(&a), false);
        unsigned char *start = allocate(&a.desc[0]), *moved = allocate(&side);
        unsigned char *direct = allocate(&target), *indirect = allocate(&target);
        size_t bytes = (size_t)tsr_desc_size_bytes(&target);
        fill_awkward(start, (size_t)tsr_desc_size_bytes(&a.desc[0]), (uint64_t)i);
        memset(direct, 0xcd, bytes);
        memset(indirect, 0xcd, bytes);
        assert_int_equal(tsr_reorder(&a.desc[0], start, &side, moved, NULL), TSR_OK);
        assert_int_equal(tsr_reorder(last(&a), start, &target, direct, NULL), TSR_OK);
        assert_int_equal(tsr_reorder(last(&b), moved, &target, indirect, NULL), TSR_OK);
        if (memcmp(direct, indirect, bytes) != 0)
            fail_chain(&a, "wrong", "view then reorder is not reorder then view");
        free(start);
        free(moved);
        free(direct);
        free(indirect);
        compared++;
    }
    assert_true(compared > 1000);
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
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_algebra),
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_engine_takes_views),
        cmocka_unit_test(test_engine_takes_two_views),
        cmocka_unit_test(test_other_elements_stay),
        cmocka_unit_test(test_view_then_reorder),
    };
    return cmocka_run_group_tests(tests, seed, NULL);
}
