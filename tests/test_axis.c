/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces of lowering: loops that fuse, digits, axes. Integers alone, no element moves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/writer.h"
#include "parsed.h"
#include "random.h"
#include "reorder/axis.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- fusing ---- */

/* Loops as STEPS(SRC:DST) or STEPS(SRC:DST:PAR). */
static const char *print_loops(const tsr_loop *loops, int count)
{
    static char text[1024];
    tsr_writer out = {text, sizeof text, 0};
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        const tsr_loop *loop = &loops[i];
        tsr_write(&out, "%s%" PRId64, i ? " " : "", loop->n);
        if (tsr_loop_has_table(loop))
            tsr_write(&out, "(table)");
        else if (loop->factor)
            tsr_write(&out, "(%" PRId64 ":%" PRId64 ":%" PRId64 ")", loop->src, loop->dst, loop->factor);
        else
            tsr_write(&out, "(%" PRId64 ":%" PRId64 ")", loop->src, loop->dst);
    }
    return text;
}

static const int64_t three_steps[] = {0, 7, 20};

static void test_fuse(void **state)
{
    static const struct {
        tsr_loop loops[5];
        const char *fused;
    } rows[] = {
        {{{0}}, ""},
        {{{.n = 1, .src = 3, .dst = 9}}, ""},
        {{{.n = 4, .src = 3, .dst = 9}}, "4(3:9)"},
        /* joined, in either order; with a gap on one side they are not */
        {{{.n = 4, .src = 3, .dst = 3}, {.n = 3, .src = 1, .dst = 1}}, "12(1:1)"},
        {{{.n = 3, .src = 1, .dst = 1}, {.n = 4, .src = 3, .dst = 3}}, "12(1:1)"},
        {{{.n = 4, .src = 4, .dst = 3}, {.n = 3, .src = 1, .dst = 1}}, "4(4:3) 3(1:1)"},
        {{{.n = 4, .src = 3, .dst = 4}, {.n = 3, .src = 1, .dst = 1}}, "4(3:4) 3(1:1)"},
        /* three become one, across a loop of one step */
        {{{.n = 2, .src = 30, .dst = 60},
          {.n = 1, .src = 5, .dst = 8},
          {.n = 5, .src = 6, .dst = 12},
          {.n = 6, .src = 1, .dst = 2}},
         "60(1:2)"},
        /* largest steps in the destination first; the source decides where they are equal */
        {{{.n = 2, .src = 9, .dst = 1}, {.n = 3, .src = 1, .dst = 50}, {.n = 5, .src = 4, .dst = 7}},
         "3(1:50) 5(4:7) 2(9:1)"},
        {{{.n = 2, .src = 3, .dst = 0}, {.n = 5, .src = 11, .dst = 0}}, "5(11:0) 2(3:0)"},
        /* the source may stand still */
        {{{.n = 2, .src = 0, .dst = 3}, {.n = 3, .src = 0, .dst = 1}}, "6(0:1)"},
        {{{.n = 2, .src = 0, .dst = 3}, {.n = 3, .src = 1, .dst = 1}}, "2(0:3) 3(1:1)"},
        /* the table of scales must go on as well */
        {{{.n = 2, .src = 3, .dst = 3, .factor = 3}, {.n = 3, .src = 1, .dst = 1, .factor = 1}}, "6(1:1:1)"},
        {{{.n = 2, .src = 3, .dst = 3, .factor = 1}, {.n = 3, .src = 1, .dst = 1}}, "2(3:3:1) 3(1:1)"},
        /* tables join nothing, and are sorted by their first step */
        {{{.n = 2, .src = 1, .dst = 1},
          {.n = 3, .src_table = three_steps, .dst_table = three_steps},
          {.n = 4, .src = 2, .dst = 2}},
         "3(table) 8(1:1)"},
        {{{.n = 2, .src = 21, .dst = 21}, {.n = 3, .src_table = three_steps, .dst_table = three_steps}},
         "2(21:21) 3(table)"},
        /* a product that does not fit joins nothing */
        {{{.n = 2, .src = 1, .dst = 2}, {.n = 2, .src = INT64_MAX / 2 + 1, .dst = 1}},
         "2(1:2) 2(4611686018427387904:1)"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static tsr_nest nest;
        nest.count = 0;
        for (size_t j = 0; j < COUNT(rows[i].loops) && rows[i].loops[j].n; j++)
            nest.loop[nest.count++] = rows[i].loops[j];
        int64_t elements = tsr_nest_elements(&nest);
        tsr_nest_fuse(&nest);
        assert_string_equal(print_loops(nest.loop, nest.count), rows[i].fused);
        assert_int_equal(tsr_nest_elements(&nest), elements);
    }
}

/* ---- digits ---- */

static const char *print_digits(const tsr_digits *digits)
{
    static char text[256];
    tsr_writer out = {text, sizeof text, 0};
    for (int i = 0; i < digits->count; i++)
        tsr_write(&out, "%" PRId64 ":%" PRId64 " ", digits->unit[i], digits->stride[i]);
    tsr_write(&out, "of %" PRId64, digits->extent);
    return text;
}

/* UNIT:STRIDE of each digit, innermost first, and the extent. */
static void test_digits(void **state)
{
    static const struct {
        const char *desc;
        int axis;
        const char *digits;
    } rows[] = {
        {"f32:nchw 2x25x4x5", 0, "1:500 of 2"},
        {"f32:nchw 2x25x4x5", 3, "1:1 of 5"},
        {"f32:nhwc 2x1x4x5", 1, "1:0 of 1"},
        {"f32:nChw8c 2x25x4x5", 1, "1:1 8:160 of 32"},
        {"f32:nChw8c 2x8x4x5", 1, "1:1 of 8"},
        {"f32:aB8b 2x25", 1, "1:1 of 32"},
        {"f32:OIhw4i16o4i 17x18x3x3", 0, "1:4 16:4608 of 32"},
        {"f32:OIhw4i16o4i 17x18x3x3", 1, "1:1 4:64 16:2304 of 32"},
        {"f32:[a2:50,b3:16,a1:9,a4:4,b3:1] 7x9", 0, "1:4 4:50 of 8"},
        {"f32:[a2:16,a4:4] 7", 0, "1:4 of 8"},
        {"f32:[a3:0] 3", 0, "1:0 of 3"},
        {"f32:nChw8c 2x0x4x5", 1, "1:0 of 0"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_desc desc = parsed_desc(rows[i].desc);
        tsr_digits digits;
        tsr_digits_of_axis(&digits, &desc, rows[i].axis);
        assert_string_equal(print_digits(&digits), rows[i].digits);
    }
}

/* ---- axes ---- */

/* One axis of a problem, refined. */
struct refined {
    tsr_problem problem;
    tsr_digits src, dst;
    tsr_axis axis;
};

static void refine_by(struct refined *made, const char *text, int axis, tsr_cut_rules rules)
{
    made->problem = parsed_problem(text);
    tsr_digits_of_axis(&made->src, &made->problem.src, axis);
    tsr_digits_of_axis(&made->dst, &made->problem.dst, axis);
    assert_int_equal(tsr_axis_refine(&made->axis, &made->src, &made->dst, 1, rules, tsr_default_allocator()), TSR_OK);
}

static void refine(struct refined *made, const char *text, int axis)
{
    refine_by(made, text, axis, (tsr_cut_rules){.long_run = 16});
}

static void reset_axis(tsr_axis *axis)
{
    const tsr_allocator *system = tsr_default_allocator();
    if (axis->table)
        system->release(system->context, axis->table, 2 * (size_t)axis->table_length * sizeof *axis->table);
}

/* UNIT*STEPS(SRC:DST) of each digit, innermost first; STEPS is 0 where the digit has no end. Of an axis that is cut,
 * HEAD and BLOCK/PERIOD instead. */
static const char *print_axis(const tsr_axis *axis)
{
    static char text[512];
    tsr_writer out = {text, sizeof text, 0};
    if (axis->block > 0)
        tsr_write(&out, "%s %" PRId64 " and %" PRId64 "/%" PRId64, axis->cuts_src ? "src" : "dst", axis->head,
                  axis->block, axis->period);
    for (int i = 0; i < axis->count; i++) {
        const tsr_loop *digit = &axis->digit[i];
        tsr_write(&out, "%s%" PRId64 "*%" PRId64, i ? " " : "", axis->unit[i], digit->n);
        if (digit->dst_table)
            tsr_write(&out, "(table)");
        else
            tsr_write(&out, "(%" PRId64 ":%" PRId64 ")", digit->src, digit->dst);
    }
    return text;
}

static void test_axis_refine(void **state)
{
    static const struct {
        const char *problem;
        int axis;
        const char *digits;
    } rows[] = {
        {"f32:nchw>f32:nhwc 2x25x4x5", 1, "1*0(20:1)"},
        {"f32:nchw>f32:nChw8c 2x25x4x5", 1, "1*8(20:1) 8*0(160:160)"},
        {"f32:nChw16c>f32:nChw8c 2x25x4x5", 1, "1*8(1:1) 8*2(8:160) 16*0(320:320)"},
        /* a boundary that no index reaches is none */
        {"f32:nchw>f32:nChw16c 2x16x4x5", 1, "1*0(20:1)"},
        {"f32:nchw>f32:nChw16c 2x3x4x5", 1, "1*0(20:1)"},
        {"f32:aBc16b>f32:aBc8b 2x12x3", 1, "1*8(1:1) 8*0(8:24)"},
        {"f32:abc>f32:[b3,a2,c3,b8] 2x8x3", 1, "1*0(3:1)"},
        {"f32:abc>f32:[b3,a2,c3,b8] 2x9x3", 1, "1*8(3:1) 8*0(24:48)"},
        /*
         * not nesting: the greatest common divisor is looked up, over the period or as far as the
         * axis goes
         */
        {"f32:aBC8b5c>f32:aBC12b5c 1x100x10", 1, "1*4(5:5) 4*6(table) 24*0(240:240)"},
        {"f32:aBC8b5c>f32:aBC12b5c 1x20x10", 1, "1*4(5:5) 4*5(table)"},
        {"f32:aBc32b>f32:aBc48b 1x100x3", 1, "1*16(1:1) 16*6(table) 96*0(288:288)"},
        {"f32:aBc8b4b>f32:aBc12b4b 1x200x3", 1, "1*16(1:1) 16*6(table) 96*0(288:288)"},
        {"f32:[a7,b2,a3,c5,a2]>f32:[a6,b2,a7,c5] 41x2x5", 0, "1*41(table)"},
        /* short runs: cut at the blocks of the destination, or if these are no runs, of the source */
        {"f32:aBc8b>f32:aBc12b 1x100x3", 1, "dst 0 and 12/24"},
        {"f32:aBc8b>f32:aBc12b 1x20x3", 1, "dst 0 and 12/24"},
        {"f32:aBc8b>f32:aBC12b5c 1x20x10", 1, "src 0 and 8/24"},
        {"f32:[b9,a2,b4,c3,b2]>f32:[b6,a2,b6,c3,b2] 2x70x3", 1, "1*2(1:1) 2*2(6:6) 4*6(table) 24*0(144:144)"},
        {"f32:aBc17b>f32:aBc33b 1x1000x3", 1, "dst 0 and 33/561"},
        {"f32:aBc17b>f32:aBc33b 1x2000x3", 1, "dst 0 and 33/561"},
        {"f32:aBc33b>f32:aBc34b 1x2000x3", 1, "1*1122(table) 1122*0(3366:3366)"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct refined made;
        refine(&made, rows[i].problem, rows[i].axis);
        assert_string_equal(print_axis(&made.axis), rows[i].digits);
        reset_axis(&made.axis);
    }
}

/* Where kernels take a block of the destination from anywhere, it is cut there without runs as well, and if it is
 * short. */
static void test_axis_cut_for_dst(void **state)
{
    static const struct {
        const char *problem, *axis, *preferring_dst;
    } rows[] = {
        {"f32:aBc8b>f32:aBC12b5c 1x20x10", "src 0 and 8/24", "dst 0 and 12/24"},
        {"f32:aBc3b>f32:aBc2b 1x20x3", "1*6(table) 6*0(18:18)", "dst 0 and 2/6"},
        {"f32:aBc16b>f32:aBc8b 1x32x3", "1*8(1:1) 8*2(8:24) 16*0(48:48)", "1*8(1:1) 8*2(8:24) 16*0(48:48)"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct refined made;
        refine(&made, rows[i].problem, 1);
        assert_string_equal(print_axis(&made.axis), rows[i].axis);
        reset_axis(&made.axis);
        refine_by(&made, rows[i].problem, 1, (tsr_cut_rules){.long_run = 16, .prefers_dst = true});
        assert_string_equal(print_axis(&made.axis), rows[i].preferring_dst);
        reset_axis(&made.axis);
    }
}

/* An axis of padding alone: the source does not count. */
static void test_axis_of_padding(void **state)
{
    static struct refined made;
    tsr_axis axis;
    (void)state;
    refine(&made, "f32:aBc8b>f32:aBc12b 1x100x3", 1);
    reset_axis(&made.axis);
    assert_int_equal(
        tsr_axis_refine(&axis, NULL, &made.dst, 0, (tsr_cut_rules){.long_run = 16}, tsr_default_allocator()), TSR_OK);
    assert_string_equal(print_axis(&axis), "1*12(0:1) 12*0(0:36)");
    assert_null(axis.table);
}

static int64_t at(const int64_t *table, int64_t stride, int64_t i)
{
    return table ? table[i] : i * stride;
}

enum { MOST_INDICES = 256 };

/* Walks one piece, whose loops run innermost first, and counts how often it comes to each index. */
static void walk_piece(const struct refined *made, const tsr_piece *piece, int visits[MOST_INDICES])
{
    static tsr_nest nest;
    nest = (tsr_nest){0};
    tsr_axis_add_loops(&made->axis, piece, &nest);
    int64_t elements = tsr_nest_elements(&nest);
    for (int64_t i = 0; i < elements; i++) {
        int64_t rest = i, src = nest.src, dst = nest.dst, factor = nest.factor;
        for (int j = 0; j < nest.count; rest /= nest.loop[j].n, j++) {
            const tsr_loop *loop = &nest.loop[j];
            src += at(loop->src_table, loop->src, rest % loop->n);
            dst += at(loop->dst_table, loop->dst, rest % loop->n);
            factor += rest % loop->n * loop->factor;
        }
        assert_in_range(factor, 0, MOST_INDICES - 1);
        assert_int_equal(src, tsr_digits_offset(&made->src, made->src.first + factor));
        assert_int_equal(dst, tsr_digits_offset(&made->dst, made->dst.first + factor));
        visits[factor]++;
    }
}

/* The pieces of a range are the range. Where there is a table, ranges begin at 0; an axis that is cut is one. */
static void test_axis_pieces(void **state)
{
    static const struct {
        const char *problem;
        int axis;
    } rows[] = {
        {"f32:nchw>f32:nhwc 2x25x4x5", 1},
        {"f32:nchw>f32:nChw8c 2x25x4x5", 1},
        {"f32:nChw16c>f32:nChw8c 2x50x4x5", 1},
        {"f32:OIhw4i16o4i>f32:OIhw16i16o 7x50x2x1", 1},
        {"f32:[a3,b2,a3,c5,a2]>f32:[a2,b2,a3,c5,a3] 17x2x5", 0},
        {"f32:aBc8b>f32:aBc12b 1x100x3", 1},
        {"f32:aBc8b>f32:aBc12b 1x20x3", 1},
        {"f32:[b9,a2,b4,c3,b2]>f32:[b6,a2,b6,c3,b2] 2x71x3", 1},
        {"f32:aBC8b5c>f32:aBC12b5c 1x101x10", 1},
        {"f32:aBc8b>f32:aBC12b5c 1x101x10", 1},
        {"f32:aBc7b>f32:aBc5b 1x101x3", 1},
    };
    static tsr_piece pieces[2 * TSR_MAX_AXIS_DIGITS];
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct refined made;
        refine(&made, rows[i].problem, rows[i].axis);
        int64_t extent = made.problem.dst.dims[rows[i].axis];
        for (int64_t from = 0; from <= (made.axis.table ? 0 : extent); from++)
            for (int64_t to = made.axis.block ? extent : from; to <= extent; to++) {
                const int64_t blocks = made.axis.block ? made.axis.period / made.axis.block + 2 : 2 * made.axis.count;
                int visits[MOST_INDICES] = {0};
                int count = tsr_axis_pieces(&made.axis, from, to, pieces);
                assert_in_range(count, from < to, blocks);
                for (int j = 0; j < count; j++)
                    walk_piece(&made, &pieces[j], visits);
                for (int64_t x = 0; x < MOST_INDICES; x++)
                    assert_int_equal(visits[x], x >= from && x < to);
            }
        reset_axis(&made.axis);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fuse),
        cmocka_unit_test(test_digits),
        cmocka_unit_test(test_axis_refine),
        cmocka_unit_test(test_axis_cut_for_dst),
        cmocka_unit_test(test_axis_of_padding),
        cmocka_unit_test(test_axis_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
