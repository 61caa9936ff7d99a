/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are shuffled: which lanes they are cut into, with windows of 64 bytes where a rung has these, and that they
 * are right on every rung. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <tessera/cpu.h>

#include "reorder/plan.h"

#include "right.h"
#include "workload.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const unsigned rungs[] = {TSR_CPU_ALL, TSR_CPU_AVX512 | TSR_CPU_AVX2 | TSR_CPU_SSE41, TSR_CPU_AVX2,
                                 TSR_CPU_SSE41, 0};

/* The box with most of the elements has windows of so many bytes with VBMI, or no lanes (0), for which so many of its
 * rows are one (0: these may lie anywhere). */
struct row {
    const char *problem;
    int window, rows;
};

enum { NARROW = TSR_LANE_BYTES, WIDE = TSR_WIDEST_LANE };

static tsr_plan *planned(const char *problem)
{
    tsr_plan *plan = NULL;
    workload work;
    assert_int_equal(workload_init(&work, problem, NULL), TSR_OK);
    work.options.threads = 1;
    if (tsr_plan_create(&plan, &work.problem.src, &work.problem.dst, &work.options, NULL) != TSR_OK)
        fail_msg("%s: no plan", problem);
    workload_reset(&work);
    return plan;
}

static void check(const struct row *row)
{
    for (size_t i = 0; i < COUNT(rungs); i++) {
        tsr_cpu_set_mask(rungs[i]);
        tsr_plan *plan = planned(row->problem);
        const tsr_box *box = plan->principal;
        const bool is_wide = plan->kernels.window_bytes == TSR_WIDEST_LANE;
        if (is_wide && (box->lanes.window != row->window || (row->window > 0 && box->lane_rows != row->rows)))
            fail_msg("%s: expected windows of %d bytes and %d rows, found %d and %d", row->problem, row->window,
                     row->rows, (int)box->lanes.window, (int)box->lane_rows);
        if (!is_wide && box->lanes.window > TSR_LANE_BYTES)
            fail_msg("%s: windows of %d bytes, which rung %zu has not", row->problem, (int)box->lanes.window, i);
        assert_right(plan, row->problem);
        tsr_plan_free(&plan);
    }
    tsr_cpu_set_mask(TSR_CPU_ALL);
}

static void check_all(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check(&rows[i]);
}

/* Side by side in the destination; where lanes of 16 bytes take less, these are taken. */
static void test_short_runs(void **state)
{
    static const struct row rows[] = {
        {"f32:[a4096:7,b5:1]>f32:ab 4096x5", WIDE, 16},
        {"u8:[a4096:24,b20:1]>u8:ab 4096x20", WIDE, 16},
        {"u8:[a4099:24,b13:1]>u8:[a4099:13,b13:1]+5 4099x13", WIDE, 15},
        {"u8:[a4096:60,b36:1]>u8:ab 4096x36", 0, 0},                    /* of which two are more than a lane */
        {"u8:[a4096:600,b20:1]>u8:ab 4096x20", NARROW, 4},              /* each in a window of its own */
        {"u8:[a20:24,b20:1]>u8:ab 20x20", 0, 0},                        /* too few */
        {"u8:[a4096:64,b5:1]>u8:ab 4096x5", NARROW, 16},                /* as many windows as runs */
        {"u16:[a64:2048,b512:-4,c3:1]+2044>u16:abc 64x512x3", WIDE, 0}, /* pixels turned round */
        {"u8:[a64:4096,b512:8,c5:1]>u8:abc 64x512x5", WIDE, 64},        /* of which a window has two, and few bytes */
        {"f32:[a24:803,b100:8,c2:3]+1>f32:Cba2c 24x100x2", NARROW, 1},  /* two elements at a time */
        {"u8:[a224:672,b224:-3,c3:1]+669>u8:abc 224x224x3", WIDE, 1},   /* mirrored images, a row of theirs each */
        {"u8:[a224:224,b224:-1]+223>u8:ab 224x224", WIDE, 2},
        {"u8:OIhw5i9o>u8:OIhw20i3o 128x94x5x5", WIDE, 4},                /* side by side by several loops */
        {"u8:OIhw16o48i>u8:OIhw48o16i 96x625x5x5", 0, 0},                /* of a lane each */
        {"f32:[a224:672,b224:3,c3:-1]+2>f32:abc 224x224x3", WIDE, 0},    /* channels turned round */
        {"u8:[a197:24577,b8192:3,c3:1]>u8:bac 197x8192x3", NARROW, 197}, /* 591 bytes, 5 MB, */
        {"u8:[a197:301,b100:3,c3:1]>u8:bac 197x100x3", NARROW, 16},      /* and 59 KB */
        {"u8:abc>u8:bac 197x100x3", 0, 0},                               /* a transpose of units of three bytes */
    };
    (void)state;
    check_all(rows, COUNT(rows));
}

/* Blocks, whose lines come from few blocks of the other side. */
static void test_blocks(void **state)
{
    static const struct row rows[] = {
        {"u8:AB16b16a>u8:AB8a8b 256x512", WIDE, 1},
        {"u8:AB8a8b>u8:AB16b16a 256x504", WIDE, 0},
        {"s8:OIhw8i8o>s8:OIhw8i16o2i 64x128x3x3", WIDE, 0},
        {"bf16:OIhw4i4o>bf16:OIhw8i16o2i 64x64x3x3", NARROW, 0},
        {"u8:OIhw8o8i>u8:OIhw8i8o 40x24x5x5", WIDE, 1}, /* one window each */
        {"u8:chwn>u8:nChw4c 4x64x14x14", WIDE, 0},
        {"u8:OIhw16i16o>u8:OIhw16o16i 64x64x3x3", 0, 0}, /* blocks that transposes fill */
        {"u8:nchw>u8:nhwc 2x3x50x50", 0, 0},             /* pixels */
        {"u8:AB8a8b>u8:BA16a4b 256x512", 0, 0},          /* lines that share a set */
        {"f64:OIhw4i4o>f64:OIhw16i16o 64x64x3x3", 0, 0}, /* wide elements */
        /* that do not nest */
        {"u8:OIhw10i6o>u8:OIhw20o6i 136x110x3x3", WIDE, 0},
        {"u16:OIhw5i5o>u16:OIhw12o24i 100x75x3x3", WIDE, 0},
        {"u8:OIhw12i5o>u8:OIhw3o7i 50x40x3x3", WIDE, 0},
    };
    (void)state;
    check_all(rows, COUNT(rows));
}

/* Rows of several places, as many of which are one as fill lanes. */
static void test_places(void **state)
{
    static const struct row rows[] = {
        {"u8:nChw5c>u8:nChw7c 1x140x56x56", WIDE, 64},   {"u8:nChw5c>u8:nChw7c 16x140x7x7", WIDE, 1},
        {"u8:nChw10c>u8:nChw6c 1x120x56x56", NARROW, 0}, {"u8:nChw5c>u8:nChw64c 1x152x28x28", NARROW, 1},
        {"f64:nChw5c>f64:nChw32c 2x148x7x7", WIDE, 1},   {"f64:nChw4c>f64:nChw3c 2x15x7x7", 0, 0}, /* elements alone */
        {"u8:nChw9c>u8:nChw24c 3x96x31x5", WIDE, 8},
    };
    (void)state;
    check_all(rows, COUNT(rows));
}

/* Pieces that fill no line, which lie side by side. */
static void test_odd_pieces(void **state)
{
    static const struct row rows[] = {
        {"u8:abc>u8:acb 200x15x15", WIDE, 1},  {"u8:abc>u8:acb 200x16x3", WIDE, 4},
        {"u8:abc>u8:acb 200x4x9", 0, 0},  /* woven */
        {"u8:abc>u8:acb 200x70x3", 0, 0}, /* pixels, of which many fill a vector */
        {"u8:abc>u8:acb 200x3x70", 0, 0},      {"u16:abc>u16:acb 200x50x4", 0, 0},
        {"u16:abc>u16:acb 200x10x7", WIDE, 2},
    };
    (void)state;
    check_all(rows, COUNT(rows));
}

/* The only tile that there is, too small for transposes. */
static void test_small_tensors(void **state)
{
    static const struct row rows[] = {
        {"u8:ab>u8:ba 15x15", WIDE, 0}, {"u8:ab>u8:ba 9x31", WIDE, 0},
        {"u8:ab>u8:ba 27x11", WIDE, 0}, {"u16:nchw>u16:nhwc 1x6x3x3", WIDE, 0},
        {"u8:ab>u8:ba 16x16", 0, 0},    {"u8:ab>u8:ba 16x33", 0, 0}, /* nine windows */
    };
    (void)state;
    check_all(rows, COUNT(rows));
}

/* Rows that are looked up as a whole with VBMI, from so many windows, or not (0). */
static void test_look_ups(void **state)
{
    static const struct look_up {
        const char *problem;
        int windows;
    } look_ups[] = {
        {"u8:abc>u8:acb 200x17x17", 6},      {"u8:abc>u8:acb 200x16x25", 8},
        {"u8:abc>u8:acb 200x21x25", 0},                                       /* nine windows */
        {"u8:abc>u8:acb 200x16x16", 0},                                       /* which transposes have whole lanes of */
        {"u8:abc>u8:acb 200x9x7", 0},                                         /* less than a line */
        {"u8:abc>u8:acb 200x8x24", 0},                                        /* lanes from three windows each */
        {"u16:abc>u16:acb 200x10x12", 4},    {"u16:abc>u16:acb 200x8x32", 0}, /* pixels */
        {"u16:abc>u16:acb 200x5x40", 8},     {"u32:abc>u32:acb 200x9x9", 6},
        {"u32:abc>u32:acb 200x5x20", 0},     {"u16:AB12a10b>u16:BA5b20a 500x300", 8},
        {"u32:abcd>u32:badc 2x500x14x9", 8}, /* a piece, not the two that a tile would have room for */
        {"u8:abcd>u8:badc 3x500x17x17", 6},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(look_ups); i++)
        for (size_t k = 0; k < COUNT(rungs); k++) {
            tsr_cpu_set_mask(rungs[k]);
            tsr_plan *plan = planned(look_ups[i].problem);
            const tsr_lookup *lookup = plan->principal->lanes.lookup;
            const bool is_wide = plan->kernels.window_bytes == TSR_WIDEST_LANE;
            const int64_t windows = lookup ? lookup->windows : 0;
            if (windows != (is_wide ? look_ups[i].windows : 0))
                fail_msg("%s: %d windows on rung %zu", look_ups[i].problem, (int)windows, k);
            assert_right(plan, look_ups[i].problem);
            tsr_plan_free(&plan);
        }
    tsr_cpu_set_mask(TSR_CPU_ALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_runs), cmocka_unit_test(test_blocks),        cmocka_unit_test(test_places),
        cmocka_unit_test(test_odd_pieces), cmocka_unit_test(test_small_tensors), cmocka_unit_test(test_look_ups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
