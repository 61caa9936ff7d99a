/* SPDX-License-Identifier: Apache-2.0 */
/* Reorders of s4 and u4, two to a byte, and of u1, eight to a byte: all values, parts of bytes, threads, one buffer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executors.h"
#include "parsed.h"
#include "reorder/plan.h"
#include "workload.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const unsigned rungs[] = {TSR_CPU_ALL, TSR_CPU_AVX2, 0};

static void *allocate(int64_t bytes)
{
    void *memory = malloc((size_t)bytes + 1);
    assert_non_null(memory);
    return memory;
}

static void *allocate_awkward(const tsr_desc *desc, uint64_t seed)
{
    const int64_t bytes = tsr_desc_size_bytes(desc);
    void *memory = allocate(bytes);
    fill_awkward(memory, (size_t)bytes, seed);
    return memory;
}

/* On every rung, against the definition. */
static void check_plans(const char *text, const tsr_problem *problem, const void *src,
                        const tsr_reorder_options *options)
{
    for (size_t i = 0; i < COUNT(rungs); i++) {
        tsr_plan *plan = NULL;
        tsr_error error = {0};
        bool is_right = false;
        tsr_cpu_set_mask(rungs[i]);
        tsr_status status = tsr_plan_create(&plan, &problem->src, &problem->dst, options, &error);
        if (status == TSR_OK)
            status = verify_plan(plan, &problem->src, src, &problem->dst, options, &is_right, &error);
        if (status != TSR_OK || !is_right)
            fail_msg("%s, rung %zu: %s", text, i, error.message);
        tsr_plan_free(&plan);
    }
    tsr_cpu_set_mask(TSR_CPU_ALL);
}

/* ---- all values ---- */

/* So many have all bits of 16 among them, or of 8. */
static int values_of(const char *type)
{
    tsr_dtype dtype = TSR_DTYPE_NONE;
    assert_int_equal(tsr_dtype_parse(&dtype, type, NULL), TSR_OK);
    return tsr_dtype_bits(dtype) == 16 ? 1 << 16 : 1 << 11;
}

/* Every value of 16 bits or less; of wider types quarters around all limits, and anything else. */
static void fill_values(unsigned char *src, const tsr_desc *desc)
{
    size_t size = tsr_dtype_size_bytes(desc->dtype);
    fill_awkward(src, (size_t)tsr_desc_size_bytes(desc), 3);
    for (int64_t i = 0; i < tsr_desc_size_bytes(desc) / (int64_t)size && size <= 2; i++)
        memcpy(src + (size_t)i * size, &i, size);
    for (int64_t i = 0; i < 256 && size > 2; i++) {
        const float single = (float)(i - 128) / 4;
        const double twofold = (double)single;
        const int64_t whole = i - 128;
        const void *value = desc->dtype == TSR_F32   ? (const void *)&single
                            : desc->dtype == TSR_F64 ? (const void *)&twofold
                                                     : (const void *)&whole;
        memcpy(src + (size_t)(desc->offset + i) * size, value, size);
    }
}

static void test_every_value(void **state)
{
    static const char *const types[] = {"f32", "f64", "f16", "bf16", "s8", "u8", "s16",
                                        "u16", "s32", "s64", "bool", "s4", "u4", "u1"};
    static const float mean = 3, scale = 0.75f, shift = -2.5f;
    const tsr_reorder_options options[] = {
        {.beta = 0},
        {.mean = {&mean, 1, 0, 0}, .scale = {&scale, 1, 0, 0}, .shift = {&shift, 1, 0, 0}},
        {.beta = 0.5f}};
    (void)state;
    for (size_t i = 0; i < COUNT(types) * COUNT(types); i++) {
        char text[64];
        const char *from = types[i / COUNT(types)], *to = types[i % COUNT(types)];
        const int n = values_of(from);
        snprintf(text, sizeof text, "%s:[a%d:1]+1>%s:[a%d:1]+3 %d", from, n, to, n, n);
        tsr_problem problem = parsed_problem(text);
        if (tsr_dtype_bits(problem.src.dtype) >= 8 && tsr_dtype_bits(problem.dst.dtype) >= 8)
            continue;
        unsigned char *src = allocate(tsr_desc_size_bytes(&problem.src));
        fill_values(src, &problem.src);
        for (size_t k = 0; k < COUNT(options); k++)
            check_plans(text, &problem, src, &options[k]);
        free(src);
    }
}

/* ---- parts of bytes, by hand ---- */

static void test_parts_of_bytes(void **state)
{
    static const struct {
        const char *problem;
        unsigned char src[4], dst[4];
    } rows[] = {
        {"u8:a>u4:a 3", {1, 2, 20}, {0x21, 0xcf, 0xcd, 0xcd}},
        {"u8:a>u4:[a3:1]+1 3", {1, 2, 20}, {0x1d, 0xf2, 0xcd, 0xcd}},
        {"s8:a>s4:a 4", {0xff, 0x80, 7, 8}, {0x8f, 0x77, 0xcd, 0xcd}},
        {"s4:a>s8:a 4", {0x8f, 0x70}, {0xff, 0xf8, 0, 7}},
        {"u4:[a3:1]+1>u8:a 3", {0x1f, 0xf2}, {1, 2, 15, 0xcd}},
        {"u4:[a3:-1]+2>u8:a 3", {0x21, 0xf3}, {3, 2, 1, 0xcd}},
        {"s4:a>u4:a 4", {0x8f, 0x73}, {0x00, 0x73, 0xcd, 0xcd}},
        {"u4:a>s4:a 4", {0x8f, 0x73}, {0x77, 0x73, 0xcd, 0xcd}},
        {"nf4:ab>nf4:ba 2x3", {0x21, 0x43, 0x65}, {0x41, 0x52, 0x63, 0xcd}},
        {"u4:a>u4:[a3:2] 3", {0x21, 0xf3}, {0xc1, 0xc2, 0xc3, 0xcd}},
        {"u4:a>u4:A4a 3", {0x21, 0xf3}, {0x21, 0x03, 0xcd, 0xcd}},
        {"u4:a>u4:A2a 3", {0x21, 0xf3}, {0x21, 0x03, 0xcd, 0xcd}},
        {"u8:a>u1:a 4", {0, 1, 2, 255}, {0xce, 0xcd, 0xcd, 0xcd}},
        {"u8:a>u1:[a4:1]+6 4", {1, 1, 0, 2}, {0xcd, 0xce, 0xcd, 0xcd}},
        {"s8:a>u1:[a3:3] 3", {1, 0xff, 7}, {0xc5, 0xcd, 0xcd, 0xcd}},
        {"u1:[a4:1]+6>u8:a 4", {0x7f, 0xf2}, {1, 0, 0, 1}},
        {"u1:[a4:-1]+3>u8:a 4", {0xf6}, {0, 1, 1, 0}},
        {"u1:ab>u1:ba 3x4", {0x21, 0x04}, {0x11, 0xc1, 0xcd, 0xcd}},
        {"u1:a>u4:a 5", {0xf5}, {0x01, 0x01, 0xc1, 0xcd}},
        {"u4:a>u1:a 5", {0xf0, 0x01, 0xc1}, {0xd6, 0xcd, 0xcd, 0xcd}},
        {"u1:a>u1:A8a 3", {0xfd}, {0x05, 0xcd, 0xcd, 0xcd}},
        {"u1:a>u1:A2a 3", {0xff}, {0xc7, 0xcd, 0xcd, 0xcd}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        unsigned char dst[4] = {0xcd, 0xcd, 0xcd, 0xcd}, defined[4] = {0xcd, 0xcd, 0xcd, 0xcd};
        tsr_problem problem = parsed_problem(rows[i].problem);
        assert_int_equal(tsr_reorder(&problem.src, rows[i].src, &problem.dst, dst, NULL), TSR_OK);
        assert_int_equal(tsr_reorder_by_definition(&problem.src, rows[i].src, &problem.dst, defined, NULL, NULL),
                         TSR_OK);
        if (memcmp(defined, rows[i].dst, sizeof dst) != 0)
            fail_msg("%s by the definition: %02x %02x %02x %02x", rows[i].problem, defined[0], defined[1], defined[2],
                     defined[3]);
        assert_memory_equal(dst, rows[i].dst, sizeof dst);
    }
}

/* ---- threads ---- */

/* Each loop by itself. */
static void run_loop_and_watch(void *context, tsr_task task, void *argument, int tasks)
{
    struct witness *witness = context;
    memset(witness->writer, -1, witness->bytes * sizeof *witness->writer);
    run_and_watch(witness, task, argument, tasks);
}

/* No two tasks write one byte. Elements are 1 to 7 and are written over 0, padding over 0xff. */
static void watch(const char *text, bool expects_tasks)
{
    tsr_problem problem = parsed_problem(text);
    tsr_error error = {0};
    size_t bytes = (size_t)tsr_desc_size_bytes(&problem.dst);
    unsigned char *src = allocate(tsr_desc_size_bytes(&problem.src)), *dst = allocate((int64_t)bytes);
    struct witness witness = {.dst = dst, .before = allocate((int64_t)bytes), .bytes = bytes};
    const tsr_executor executor = {.run = run_loop_and_watch, .context = &witness, .threads = 7};
    tsr_plan *plan = parsed_plan(text, &(tsr_reorder_options){.executor = &executor});
    witness.writer = allocate((int64_t)(bytes * sizeof *witness.writer));
    bool is_packed = tsr_dtype_bits(problem.src.dtype) < 8;
    for (int64_t i = 0; i < tsr_desc_size_bytes(&problem.src); i++)
        src[i] = (unsigned char)(is_packed ? (i % 7 + 1) | (i % 5 + 1) << 4 : i % 7 + 1);
    for (int fill = 0; fill < 256; fill += 255) {
        memset(dst, fill, bytes);
        if (tsr_plan_run(plan, src, dst, &error) != TSR_OK || witness.shares)
            fail_msg("%s: tasks share a byte %s", text, error.message);
    }
    if ((witness.tasks > 1) != expects_tasks)
        fail_msg("%s: %d tasks", text, witness.tasks);
    tsr_plan_free(&plan);
    free(src);
    free(dst);
    free(witness.before);
    free(witness.writer);
}

static void test_threads(void **state)
{
    static const struct {
        const char *problem;
        bool has_tasks;
    } rows[] = {
        {"u8:a>u4:a 1000001", true},
        {"u8:a>u4:[a1000001:1]+6 1000001", true},
        {"u8:a>u4:[a1000001:1]+7 1000001", false}, /* every tile would begin with half a byte */
        {"u8:ab>u4:ba 1000x1000", true},
        {"u8:ab>u4:ba 1001x1000", false},
        {"u8:ab>s4:[b1000:1002,a1001:1]+1 1001x1000", false},
        {"u8:ab>s4:[b1000:1002,a1001:1] 1001x1000", true},
        {"u4:ab>u4:ba 1000x1500", true},
        {"u8:nhwc>u4:nchw 1x3x600x601", true},
        {"u8:nchw>u4:nhwc 1x3x600x601", true},
        {"u8:oi>u4:OI16i16o 1000x1001", true},
        {"u8:ab>u4:aB5b 999x1001", false},
        {"u8:ab>u4:[a1000:2000,b1000:2] 1000x1000", true},
        {"u8:aBc8b>s4:aBc12b 64x300x50", true},
        {"s4:ab>u8:ab 1001x1001", true},
        {"u8:a>u1:a 1000001", true},
        {"u8:a>u1:[a1000001:1]+16 1000001", true},
        {"u8:a>u1:[a1000001:1]+4 1000001", false},
        {"u8:ab>u1:ba 1000x1000", true},
        {"u8:ab>u1:ba 1004x1000", false},
        {"u8:ab>u1:[b100000:16,a9:1]+7 9x100000", true},
        {"u8:ab>u1:[b100000:16,a15:1]+1 15x100000", true},
        {"u8:ab>u1:[b100000:16,a15:1]+2 15x100000", false}, /* a row ends in the byte where the next one begins */
        {"u8:ab>u1:[b1000:1008,a1001:1] 1001x1000", true},
        {"u1:ab>u1:ba 4004x1504", false},
        {"u1:ab>u1:ba 4000x1504", true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        watch(rows[i].problem, rows[i].has_tasks);
}

/* And the right elements. */
static void test_many(void **state)
{
    static const char *const problems[] = {
        "u8:ab>u4:ba 301x400",          "s4:oi>f32:OI16i16o 300x401",     "f32:oi>s4:OI8i16o2i 257x399",
        "s4:ab>s4:ba 401x399",          "u4:nhwc>u4:nchw 2x3x201x203",    "s4:nchw>s4:nhwc 2x3x201x203",
        "bf16:nchw>u4:nhwc 1x4x101x99", "u4:nhwc>u4:nChw16c 2x70x33x31",  "u1:ab>u1:ba 301x403",
        "u1:ab>u1:ba 320x400",          "u8:oihw>u1:OIhw8i16o 33x40x3x3", "u1:nhwc>f32:nchw 2x13x33x31",
        "f32:nchw>u1:nhwc 1x3x101x99",  "u1:nChw32c>u1:nhwc 1x70x33x31",  "s4:ab>f32:ab 301x400",
        "u4:ab>s8:ab 301x400",          "nf4:abc>f16:bac 30x41x67",       "u1:ab>bf16:ab 301x403",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(problems); i++) {
        tsr_problem problem = parsed_problem(problems[i]);
        void *src = allocate_awkward(&problem.src, i);
        for (int streaming = 0; streaming <= TSR_STREAMING_ALWAYS; streaming++)
            check_plans(problems[i], &problem, src, &(tsr_reorder_options){.streaming = (tsr_streaming)streaming});
        free(src);
    }
}

/* Transposes that move bytes of packed elements, from one side to the other, until they are unpacked or since they were
 * packed, and what keeps others from it: an odd distance or begin, an odd number of neighbours, few columns,
 * old values. */
static void test_moved_bytes(void **state)
{
    static const struct {
        const char *problem;
        tsr_packed_move move;
    } rows[] = {
        {"s4:ab>s4:ba 2x40", TSR_MOVED_UNPACKED},
        {"u4:ab>u4:ba 258x1030", TSR_KEPT_PACKED},
        {"nf4:ab>nf4:ba 1030x18", TSR_KEPT_PACKED},
        {"u4:nchw>u4:nhwc 2x34x6x7", TSR_KEPT_PACKED},
        {"u4:nhwc>u4:nchw 2x66x13x14", TSR_KEPT_PACKED},
        {"s4:abcd>s4:dcba 18x6x3x34", TSR_KEPT_PACKED},
        {"s4:oihw>s4:OIhw16i16o 64x70x4x6", TSR_KEPT_PACKED},
        {"s4:bca>s4:BcA16a16b 32x48x3", TSR_KEPT_PACKED},
        {"s4:[a20:33,b32:1]>s4:ba 20x32", TSR_MOVED_UNPACKED},
        {"s4:[a20:34,b32:1]+6>s4:[b32:60,a20:1]+8 20x32", TSR_KEPT_PACKED},
        {"s4:[a20:34,b32:1]+7>s4:[b32:60,a20:1]+8 20x32", TSR_MOVED_UNPACKED},
        {"s4:[a20:34,b32:1]+6>s4:[b32:60,a20:1]+9 20x32", TSR_MOVED_UNPACKED},
        {"s4:[a20:34,b32:1]+6>s4:[b32:61,a20:1]+8 20x32", TSR_MOVED_UNPACKED},
        {"s4:ab>s4:ba 20x33", TSR_MOVED_UNPACKED},
        {"s4:ab>s4:ba 21x32", TSR_MOVED_UNPACKED},
        {"u1:ab>u1:ba 64x128", TSR_KEPT_PACKED},
        {"u1:ab>u1:ba 1032x264", TSR_KEPT_PACKED},
        {"u1:ab>u1:ba 60x128", TSR_MOVED_UNPACKED},
        {"u1:[a64:136,b128:1]+24>u1:[b128:72,a64:1]+8 64x128", TSR_KEPT_PACKED},
        {"u1:[a64:136,b128:1]+24>u1:[b128:72,a64:1]+12 64x128", TSR_MOVED_UNPACKED},
        {"u1:oihw>u1:OIhw16i16o 64x70x4x4", TSR_KEPT_PACKED},
        {"u1:abcd>u1:dcba 16x6x5x40", TSR_KEPT_PACKED},
        {"s4:ab>s4:bA8a 20x32", TSR_KEPT_PACKED},
        {"s4:ab>u4:ba 20x32", TSR_UNPACKED_LAST},
        {"s4:ab>s8:ba 260x1030", TSR_UNPACKED_LAST},
        {"s4:ab>s8:ba 300x1030", TSR_UNPACKED_LAST}, /* which fill scratch memory */
        {"u4:ab>f16:ba 300x514", TSR_UNPACKED_LAST},
        {"u4:ab>f32:ba 301x514", TSR_UNPACKED_LAST},
        {"u4:ab>f16:ba 133x514 scale[0/32] mean[0/32]", TSR_UNPACKED_LAST},
        {"nf4:ab>bf16:ba 133x514 scale[1]", TSR_UNPACKED_LAST},
        {"s4:ab>f32:ba 133x514 beta", TSR_UNPACKED_LAST},
        {"u1:ab>f32:ba 133x520", TSR_UNPACKED_LAST},
        {"u1:ab>s4:ba 132x520", TSR_UNPACKED_LAST},
        {"s4:abcd>f16:dcba 9x6x3x34", TSR_UNPACKED_LAST},
        {"s4:oihw>f16:OIhw16i16o 64x70x4x6", TSR_UNPACKED_LAST},
        {"u4:[a20:34,b32:1]+6>f32:[b32:60,a20:1]+7 20x32", TSR_UNPACKED_LAST},
        {"u4:[a20:34,b32:1]+7>f32:[b32:60,a20:1]+7 20x32", TSR_MOVED_UNPACKED},
        {"u4:[a20:33,b32:1]+6>f32:[b32:60,a20:1]+7 20x32", TSR_MOVED_UNPACKED},
        {"u4:ab>f32:ba 20x33", TSR_MOVED_UNPACKED},
        {"u1:ab>f32:ba 20x60", TSR_MOVED_UNPACKED},
        {"u4:ab>f32:ba 7x32", TSR_MOVED_UNPACKED},
        {"f16:ab>s4:ba 132x517 scale[1/32]", TSR_PACKED_FIRST},
        {"f32:ab>nf4:ba 132x517", TSR_PACKED_FIRST},
        {"s8:ab>s4:ba 132x517", TSR_PACKED_FIRST},
        {"u8:ab>u1:ba 264x131", TSR_PACKED_FIRST},
        {"f16:ab>u1:ba 264x131", TSR_PACKED_FIRST},
        {"f32:oihw>s4:OIhw16i16o 64x70x4x6", TSR_PACKED_FIRST},
        {"f16:[a20:33,b32:1]+7>u4:[b32:60,a20:1]+8 20x32", TSR_PACKED_FIRST},
        {"f16:[a20:33,b32:1]+7>u4:[b32:60,a20:1]+9 20x32", TSR_MOVED_UNPACKED},
        {"f16:[a20:33,b32:1]+7>u4:[b32:61,a20:1]+8 20x32", TSR_MOVED_UNPACKED},
        {"f16:ab>u4:ba 21x32", TSR_MOVED_UNPACKED},
        {"u8:ab>u1:ba 60x128", TSR_MOVED_UNPACKED},
        {"u8:ab>s4:ba 20x32", TSR_MOVED_UNPACKED}, /* converted along the destination */
        {"f16:ab>u4:ba 20x32 beta", TSR_MOVED_UNPACKED},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        workload work;
        tsr_plan *plan = NULL;
        tsr_error error = {0};
        assert_int_equal(workload_init(&work, rows[i].problem, NULL), TSR_OK);
        const tsr_desc *from = &work.problem.src, *to = &work.problem.dst;
        if (rows[i].move != TSR_MOVED_UNPACKED)
            work.options.row = from->dtype == to->dtype ? "transpose" : "convert";
        if (tsr_plan_create(&plan, from, to, &work.options, &error) != TSR_OK)
            fail_msg("%s: %s", rows[i].problem, error.message);
        if (plan->principal->packed_move != rows[i].move)
            fail_msg("%s: %d", rows[i].problem, (int)plan->principal->packed_move);
        void *src = allocate_awkward(from, i);
        for (int always = 0; always <= 1; always++) {
            work.options.streaming = always ? TSR_STREAMING_ALWAYS : TSR_STREAMING_NEVER;
            check_plans(rows[i].problem, &work.problem, src, &work.options);
        }
        tsr_plan_free(&plan);
        free(src);
        workload_reset(&work);
    }
}

/* ---- one buffer ---- */

static void test_in_place(void **state)
{
    static const struct {
        const char *problem, *row;
    } rows[] = {
        {"s4:nChw8c>s4:nChw8c 2x19x3x5 in-place", "alias"},
        {"u4:[a7:5,b5:1]+1>u4:[a7:5,b5:1]+1 7x5 in-place", "alias"},
        {"s4:ab>s4:ab 33x65 scale[1/4] mean[1/4] in-place", "elementwise"},
        {"s4:ab>u4:ab 33x65 in-place", "elementwise"},
        {"u4:nChw8c>s4:nChw8c 2x19x3x5 shift in-place", "elementwise"},
        {"s4:ab>s4:ba 65x65 in-place", "slices"},
        {"u4:abc>u4:bac 5x7x3 in-place", "slices"},
        {"s4:ab>f32:ab 33x65 scale[1/4] in-place", "slices"},
        {"s4:ab>s8:ab 33x65 in-place", "slices"},
        {"s8:ab>s4:ab 33x65 in-place", "slices"},
        {"f16:ab>u4:ba 33x65 scale[0] shift[0] in-place", "slices"},
        {"s4:ab>s4:[a33:67,b65:1]+1 33x65 in-place", "slices"},
        {"u1:ab>u1:ba 65x65 in-place", "slices"},
        {"u1:[a7:5,b5:1]+3>u1:[a7:5,b5:1]+3 7x5 in-place", "alias"},
        {"u1:ab>f16:ab 33x65 scale[1] in-place", "slices"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        workload work;
        tsr_plan *plan = NULL;
        tsr_error error = {0};
        assert_int_equal(workload_init(&work, rows[i].problem, NULL), TSR_OK);
        if (tsr_plan_create(&plan, &work.problem.src, &work.problem.dst, &work.options, &error) != TSR_OK)
            fail_msg("%s: %s", rows[i].problem, error.message);
        assert_string_equal(tsr_plan_get_info(plan).row, rows[i].row);
        void *src = allocate_awkward(&work.problem.src, i);
        check_plans(rows[i].problem, &work.problem, src, &work.options);
        tsr_plan_free(&plan);
        free(src);
        workload_reset(&work);
    }
}

/* What no way is left for. */
static void test_in_place_refused(void **state)
{
    static const char *const reasons[] = {"square", "cycles"};
    tsr_problem problem = parsed_problem("s4:ab>s4:ba 64x64");
    (void)state;
    for (size_t i = 0; i < COUNT(reasons); i++) {
        char expected[TSR_ERROR_MESSAGE_SIZE];
        tsr_plan *plan = NULL;
        tsr_error error = {0};
        tsr_reorder_options options = {.in_place = true, .row = reasons[i]};
        assert_int_equal(tsr_plan_create(&plan, &problem.src, &problem.dst, &options, &error), TSR_UNSUPPORTED);
        snprintf(expected, sizeof expected,
                 "row %s does not apply: elements of less than a byte are not moved one by one", reasons[i]);
        assert_row_refused(error.message, expected);
    }
    tsr_plan *plan = NULL;
    tsr_error error = {0};
    tsr_reorder_options options = {.in_place = true, .scratch_bytes = 100};
    assert_int_equal(tsr_plan_create(&plan, &problem.src, &problem.dst, &options, &error), TSR_UNSUPPORTED);
    assert_string_equal(error.message, "no way in place: 2048 bytes of scratch memory are needed, and 100 are allowed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_value),      cmocka_unit_test(test_parts_of_bytes),
        cmocka_unit_test(test_threads),          cmocka_unit_test(test_many),
        cmocka_unit_test(test_moved_bytes),      cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_in_place_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
