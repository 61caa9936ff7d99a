/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering: every element in one box, every cell of padding in one box. Integers alone, no element moves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "failing_allocator.h"
#include "parsed.h"
#include "random.h"
#include "reorder/lower.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { MAX_CELLS = 1 << 16 };

/* ---- what the boxes should visit: by place in the destination ---- */

enum kind { NOTHING, PADDING, ELEMENT };

static struct cell {
    enum kind kind;
    int visits;
    int64_t src, factor; /* of an element */
} cells[MAX_CELLS];

/* The next index in row-major order; false after the last. */
static bool next(int64_t *index, const int64_t *extents, int n)
{
    for (int k = n - 1; k >= 0; k--) {
        if (++index[k] < extents[k])
            return true;
        index[k] = 0;
    }
    return false;
}

/* All places that the levels reach are padding until an element claims them. */
static void lay_padding(const tsr_desc *dst)
{
    int64_t step[TSR_MAX_LEVELS] = {0};
    memset(cells, 0, sizeof cells);
    if (tsr_desc_padded_elements(dst) == 0)
        return;
    do {
        int64_t offset = dst->offset;
        for (int i = 0; i < dst->levels; i++)
            offset += (step[i] + dst->pad_before[i]) * dst->strides[i];
        assert_in_range(offset, 0, MAX_CELLS - 1);
        cells[offset].kind = PADDING;
    } while (next(step, dst->block_dims, dst->levels));
}

static void lay_elements(const tsr_desc *src, const tsr_desc *dst, int factor_axis)
{
    int64_t index[TSR_MAX_RANK] = {0}, from, to;
    if (tsr_desc_elements(dst) == 0)
        return;
    do {
        assert_int_equal(tsr_desc_offset(src, src->rank, index, &from, NULL), TSR_OK);
        assert_int_equal(tsr_desc_offset(dst, dst->rank, index, &to, NULL), TSR_OK);
        cells[to] = (struct cell){ELEMENT, 0, from, factor_axis >= 0 ? index[factor_axis] : 0};
    } while (next(index, dst->dims, dst->rank));
}

/* ---- what they do visit ---- */

static int64_t at(const int64_t *table, int64_t stride, int64_t i)
{
    return table ? table[i] : i * stride;
}

static void visit_cell(enum kind kind, int64_t src, int64_t dst, int64_t factor)
{
    assert_in_range(dst, 0, MAX_CELLS - 1);
    assert_int_equal(cells[dst].kind, kind);
    assert_int_equal(cells[dst].visits++, 0);
    assert_int_equal(src, kind == ELEMENT ? cells[dst].src : 0);
    assert_int_equal(factor, kind == ELEMENT ? cells[dst].factor : 0);
}

/* The cells of one box. Its loops are fused and ordered already. */
static void visit_cells(const tsr_nest *nest, enum kind kind)
{
    int64_t step[TSR_MAX_LOOPS] = {0}, extents[TSR_MAX_LOOPS];
    for (int j = 0; j < nest->count; j++) {
        extents[j] = nest->loop[j].n;
        assert_true(extents[j] > 1);
    }
    do {
        int64_t src = nest->src, dst = nest->dst, factor = nest->factor;
        for (int j = 0; j < nest->count; j++) {
            src += at(nest->loop[j].src_table, nest->loop[j].src, step[j]);
            dst += at(nest->loop[j].dst_table, nest->loop[j].dst, step[j]);
            factor += step[j] * nest->loop[j].factor;
        }
        visit_cell(kind, src, dst, factor);
    } while (next(step, extents, nest->count));
}

static tsr_status visit_elements(void *context, const tsr_nest *nest)
{
    ++*(int *)context;
    visit_cells(nest, ELEMENT);
    return TSR_OK;
}

static tsr_status visit_padding(void *context, const tsr_nest *nest)
{
    ++*(int *)context;
    visit_cells(nest, PADDING);
    return TSR_OK;
}

/* Lowers a pair and checks each cell. Counts the boxes. */
static void check_pair(const tsr_desc *src, const tsr_desc *dst, int factor_axis, int boxes[2])
{
    tsr_lowering lowering;
    lay_padding(dst);
    lay_elements(src, dst, factor_axis);
    boxes[0] = boxes[1] = 0;
    assert_int_equal(tsr_lowering_init(&lowering, src, dst, factor_axis, false, tsr_default_allocator()), TSR_OK);
    assert_int_equal(tsr_lower_elements(&lowering, visit_elements, &boxes[0]), TSR_OK);
    assert_int_equal(tsr_lower_padding(&lowering, visit_padding, &boxes[1]), TSR_OK);
    tsr_lowering_reset(&lowering);
    for (size_t i = 0; i < MAX_CELLS; i++)
        assert_int_equal(cells[i].visits, cells[i].kind != NOTHING);
}

/* ---- tables ---- */

static const struct {
    const char *problem;
    int boxes, zero_boxes;
} known[] = {
    {"f32:scalar>f32:scalar scalar", 1, 0},
    {"f32:nchw>f32:nchw 2x3x4x5", 1, 0},
    {"f32:nchw>f32:nhwc 2x3x4x5", 1, 0},
    {"f32:nhwc>f32:nchw 0x3x4x5", 0, 0},
    {"f32:nchw>f32:nChw16c 2x32x4x5", 1, 0},
    {"f32:nchw>f32:nChw16c 2x19x4x5", 2, 1}, /* the whole block, the tail, the padding */
    {"f32:nchw>f32:nChw16c 2x3x4x5", 1, 1},
    {"f32:nChw16c>f32:nchw 2x19x4x5", 2, 0},
    {"f32:nChw16c>f32:nChw8c 2x25x4x5", 3, 1}, /* a block of 16, one of 8, and 1 */
    {"f32:nChw8c>f32:nChw16c 2x25x4x5", 3, 1},
    {"f32:nChw16c>f32:nChw16c 2x19x4x5", 2, 1},
    {"f32:oihw>f32:OIhw16i16o 17x33x1x2", 4,
     3}, /* blocks and tails of two axes; padding of o, of i, and of i in the tail of o */
    {"f32:oihw>f32:OIhw4i16o4i 17x6x3x3", 4, 5},
    {"f32:aBc8b>f32:aBc12b 1x103x3", 3, 1}, /* both blocks of a period, and the tail */
    {"f32:aBc8b>f32:aBc12b 1x19x3", 2, 1},
    {"f32:aBC8b5c>f32:aBC12b5c 1x103x10", 3, 1},
    {"f32:[a2:64,b4:16/1,c5:3]+7>f32:[c5:40,b4:8/2,a2:2/1]+3 2x4x5", 1, 0},
    {"f32:[a5:1,b9:0]>f32:ba 5x9", 1, 0},
    {"f32:ab>f32:[a5:100,b11:3] 4x9", 1, 2}, /* more room than the dims need, along both axes */
    {"f32:[a3,b2,a3,c5,a2]>f32:[a2,b2,a3,c5,a3] 17x2x5", 1, 1},
    {"f32:abcde>f32:ABCde2a2b2c 3x3x3x2x2", 8, 7},
};

static void test_known_problems(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(known); i++) {
        tsr_problem problem = parsed_problem(known[i].problem);
        for (int factor_axis = -1; factor_axis < problem.dst.rank; factor_axis++) {
            int boxes[2];
            check_pair(&problem.src, &problem.dst, factor_axis, boxes);
            /* a table of scales can only keep loops apart, not boxes */
            if (boxes[0] != known[i].boxes || boxes[1] != known[i].zero_boxes)
                fail_msg("%s: expected %d and %d boxes, found %d and %d", known[i].problem, known[i].boxes,
                         known[i].zero_boxes, boxes[0], boxes[1]);
        }
    }
}

static void test_random_pairs(void **state)
{
    enum { MAX_RANK = 5 };
    tsr_random_options options = {
        .max_blocks = 3, .max_elements = 1500, .strided = true, .offset = true, .pad_before = true, .spare = true};
    tsr_random random;
    (void)state;
    tsr_random_seed_from_environment(&random);
    for (int i = 0; i < tsr_random_cases(1000); i++) {
        int64_t dims[TSR_MAX_RANK];
        int boxes[2], rank = (int)tsr_random_range(&random, 1, MAX_RANK);
        tsr_random_dims(&random, rank, 500, dims);
        tsr_random_options source = options;
        source.broadcast = tsr_random_chance(&random, 4);
        tsr_desc src = tsr_random_desc(&random, TSR_F32, rank, dims, &source);
        tsr_desc dst = tsr_random_desc(&random, TSR_F32, rank, dims, &options);
        if (tsr_desc_size_bytes(&dst) / (int64_t)sizeof(float) <= MAX_CELLS)
            check_pair(&src, &dst, (int)tsr_random_range(&random, -1, rank - 1), boxes);
    }
}

static tsr_status add_cells(void *context, const tsr_nest *nest)
{
    *(int64_t *)context += tsr_nest_elements(nest);
    return TSR_OK;
}

/* One box of all cells, but for padding of one box, and where nothing may be written over. */
static void test_zero_all(void **state)
{
    static const struct {
        const char *problem;
        bool zeroes_all;
    } rows[] = {{"f32:oihw>f32:OIhw16i16o 17x33x1x2", true},
                {"f32:oihw>f32:OIhw4i16o4i 64x3x3x3", true},
                {"f32:nchw>f32:nChw16c 2x3x4x5", false},
                {"f32:nchw>f32:nchw 2x3x4x5", false}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int spares = 0; spares < 2; spares++) {
            int64_t zeroed = 0;
            tsr_lowering lowering;
            tsr_problem problem = parsed_problem(rows[i].problem);
            const int64_t all = tsr_desc_padded_elements(&problem.dst), elements = tsr_desc_elements(&problem.dst);
            assert_int_equal(
                tsr_lowering_init(&lowering, &problem.src, &problem.dst, -1, false, tsr_default_allocator()), TSR_OK);
            tsr_lowering_zero_all(&lowering);
            if (spares)
                tsr_lowering_spare_elements(&lowering);
            assert_int_equal(lowering.zeroes_all, rows[i].zeroes_all && !spares);
            assert_int_equal(tsr_lower_padding(&lowering, add_cells, &zeroed), TSR_OK);
            assert_true(rows[i].zeroes_all && spares ? zeroed >= all - elements
                                                     : zeroed == (rows[i].zeroes_all ? all : all - elements));
            tsr_lowering_reset(&lowering);
        }
}

/* ---- what a visitor and an allocator may do ---- */

static tsr_status refuse_second(void *context, const tsr_nest *nest)
{
    int *visits = context;
    (void)nest;
    return ++*visits == 2 ? TSR_OUT_OF_RANGE : TSR_OK;
}

static void test_visitor_ends_the_walk(void **state)
{
    int visits = 0;
    tsr_lowering lowering;
    tsr_problem problem = parsed_problem("f32:abcde>f32:ABCde2a2b2c 3x3x3x2x2");
    (void)state;
    assert_int_equal(tsr_lowering_init(&lowering, &problem.src, &problem.dst, -1, false, tsr_default_allocator()),
                     TSR_OK);
    assert_int_equal(tsr_lower_elements(&lowering, refuse_second, &visits), TSR_OUT_OF_RANGE);
    assert_int_equal(visits, 2);
    visits = 0;
    assert_int_equal(tsr_lower_padding(&lowering, refuse_second, &visits), TSR_OUT_OF_RANGE);
    assert_int_equal(visits, 2);
    tsr_lowering_reset(&lowering);
    tsr_lowering_reset(&lowering);
}

static tsr_status count(void *context, const tsr_nest *nest)
{
    (void)nest;
    ++*(int *)context;
    return TSR_OK;
}

static tsr_status lower_all(const tsr_problem *problem, const tsr_allocator *allocator)
{
    int boxes = 0;
    tsr_lowering lowering;
    tsr_status status = tsr_lowering_init(&lowering, &problem->src, &problem->dst, -1, false, allocator);
    if (status == TSR_OK)
        status = tsr_lower_elements(&lowering, count, &boxes);
    if (status == TSR_OK)
        status = tsr_lower_padding(&lowering, count, &boxes);
    tsr_lowering_reset(&lowering);
    return status;
}

/* Whichever allocation fails, nothing stays behind. */
static void test_out_of_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(known); i++) {
        tsr_problem problem = parsed_problem(known[i].problem);
        tsr_status status = TSR_OUT_OF_MEMORY;
        int fail_at = 0;
        while (status != TSR_OK) {
            failing_allocator counter = {.fail_at = ++fail_at};
            tsr_allocator allocator = failing_allocator_of(&counter);
            status = lower_all(&problem, &allocator);
            assert_int_equal(status, counter.allocations >= fail_at ? TSR_OUT_OF_MEMORY : TSR_OK);
            assert_int_equal(counter.live, 0);
            assert_int_equal(counter.live_bytes, 0);
        }
        /* two products for any tensor; its axes and digits for one that has some */
        assert_true(fail_at > (problem.dst.rank > 0 ? 4 : 2));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_problems), cmocka_unit_test(test_random_pairs),
        cmocka_unit_test(test_zero_all),       cmocka_unit_test(test_visitor_ends_the_walk),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
