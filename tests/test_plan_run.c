/* SPDX-License-Identifier: Apache-2.0 */
/* Running plans: the buffers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parsed.h"
#include "plan_samples.h"
#include "workload.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void *allocate(int64_t bytes)
{
    void *memory = malloc((size_t)bytes + 1);
    assert_non_null(memory);
    return memory;
}

static void test_missing_buffers(void **state)
{
    static const struct {
        const char *problem;
        bool has_src, has_dst;
        tsr_status status;
        const char *message;
    } rows[] = {
        {"f32:ab>f32:ba 2x3", false, true, TSR_INVALID_ARGUMENT, "the source buffer is NULL, expected 24 bytes"},
        {"f32:ab>f32:ba 2x3", true, false, TSR_INVALID_ARGUMENT, "the destination buffer is NULL, expected 24 bytes"},
        {"f32:ab>f32:ba 2x3", false, false, TSR_INVALID_ARGUMENT, "the source buffer is NULL, expected 24 bytes"},
        {"u8:ab>u8:[a2:10,b3:2]+5 2x3", true, false, TSR_INVALID_ARGUMENT,
         "the destination buffer is NULL, expected 20 bytes"},
        {"s4:ab>u4:[a3:1,b3:4]+1 3x3", true, false, TSR_INVALID_ARGUMENT,
         "the destination buffer is NULL, expected 6 bytes"},
        {"f32:ab>f32:ba 2x0", false, false, TSR_OK, ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char src[64] = {0}, dst[64] = {0};
        tsr_error error = {0}, unused = {0};
        tsr_problem problem = parsed_problem(rows[i].problem);
        tsr_plan *plan = parsed_plan(rows[i].problem, NULL);
        void *from = rows[i].has_src ? src : NULL, *to = rows[i].has_dst ? dst : NULL;
        assert_int_equal(tsr_plan_run(plan, from, to, &error), rows[i].status);
        assert_string_equal(error.message, rows[i].message);
        assert_int_equal(tsr_plan_run(plan, from, to, NULL), rows[i].status);
        assert_int_equal(tsr_reorder_by_definition(&problem.src, from, &problem.dst, to, NULL, &unused),
                         rows[i].status);
        assert_string_equal(unused.message, rows[i].message);
        tsr_plan_free(&plan);
    }
}

/* Both tensors in one piece of memory, at these bytes. */
static void test_overlap(void **state)
{
    static const struct {
        const char *problem;
        int src, dst;
        bool overlaps;
    } rows[] = {
        {"u8:ab>u8:ba 4x5", 0, 20, false},
        {"u8:ab>u8:ba 4x5", 20, 0, false},
        {"u8:ab>u8:ba 4x5", 0, 19, true},
        {"u8:ab>u8:ba 4x5", 19, 0, true},
        {"u8:ab>u8:ba 4x5", 8, 8, true},
        {"u8:ab>u8:ba 4x5", 8, 9, true},
        {"u8:ab>u8:ab 4x5", 8, 8, false},
        {"u8:ab>u8:ab 4x5", 8, 9, true},
        {"f32:a>s32:a 8", 16, 16, true}, /* the same place, but not the same elements */
        {"u8:aB8b>u8:ab 1x5", 0, 5, true},
        {"u8:ab>u8:aB8b 1x5", 7, 0, true}, /* padding is part of a tensor */
        {"u8:ab>u8:aB8b 1x5", 8, 0, false},
        {"f32:a>u8:a 8", 0, 31, true},
        {"f32:a>u8:a 8", 0, 32, false},
        {"u8:a>f32:a 8", 31, 0, true},
        /* what lies in front of a tensor is none of it; what lies between its elements is */
        {"u8:[a8:1]>u8:[a8:1]+8 8", 0, 0, false},
        {"u8:[a8:1]+8>u8:[a8:1] 8", 0, 0, false},
        {"u8:[a8:1]>u8:[a8:1]+7 8", 0, 0, true},
        {"u8:[a8:2]>u8:[a8:2]+1 8", 0, 0, true},
        {"u8:[a8:0]>u8:a 8", 0, 1, false},
        {"u8:[a8:0]>u8:a 8", 4, 0, true},
        {"u8:a>u8:a 0", 8, 8, false},
        /* a byte that both have a half of is shared */
        {"u4:a>u8:a 9", 0, 5, false},
        {"u4:a>u8:a 9", 0, 4, true},
        {"u8:a>u4:[a4:1]+9 4", 0, 0, false},
        {"u8:a>u4:[a4:1]+7 4", 0, 0, true},
        {"u8:a>u4:[a4:1]+7 4", 0, 1, false},
        {"u4:[a3:1]>u4:[a3:1]+3 3", 0, 0, true},
        {"u4:[a4:1]>u4:[a4:1]+4 4", 0, 0, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char memory[128] = {0};
        tsr_error error = {0};
        tsr_plan *plan = parsed_plan(rows[i].problem, NULL);
        tsr_status status = tsr_plan_run(plan, memory + rows[i].src, memory + rows[i].dst, &error);
        if (status != (rows[i].overlaps ? TSR_OVERLAP : TSR_OK))
            fail_msg("%s at %d and %d: %s", rows[i].problem, rows[i].src, rows[i].dst, tsr_status_name(status));
        tsr_plan_free(&plan);
    }
}

static void test_message_of_overlap(void **state)
{
    char memory[128], expected[TSR_ERROR_MESSAGE_SIZE];
    tsr_error error = {0};
    tsr_plan *plan = parsed_plan("f32:[a4:1]+1>u8:a 4", NULL);
    (void)state;
    assert_int_equal(tsr_plan_run(plan, memory, memory + 6, &error), TSR_OVERLAP);
    snprintf(expected, sizeof expected,
             "source and destination share memory: 16 bytes at %" PRIuPTR " and 4 bytes at %" PRIuPTR,
             (uintptr_t)memory + 4, (uintptr_t)memory + 6);
    assert_string_equal(error.message, expected);
    tsr_plan_free(&plan);
}

/* In place nothing moves; padding is zeroed, or kept. */
static void test_alias_in_place(void **state)
{
    (void)state;
    tsr_desc desc = parsed_desc("u8:nChw8c 2x19x3x5");
    unsigned char before[2 * 24 * 15], after[sizeof before];
    assert_int_equal(tsr_desc_size_bytes(&desc), sizeof before);
    for (int keep = 0; keep < 2; keep++) {
        tsr_reorder_options options = {.padding = keep ? TSR_PADDING_KEEP : TSR_PADDING_ZERO};
        tsr_plan *plan = parsed_plan("u8:nChw8c>u8:nChw8c 2x19x3x5", &options);
        memset(before, 0xab, sizeof before);
        memcpy(after, before, sizeof before);
        assert_int_equal(tsr_plan_run(plan, after, after, NULL), TSR_OK);
        for (size_t i = 0; i < sizeof before; i++) {
            size_t channel = i / 120 % 3 * 8 + i % 8;
            assert_int_equal(after[i], keep || channel < 19 ? 0xab : 0);
        }
        tsr_plan_free(&plan);
    }
}

static void test_padding_kept(void **state)
{
    (void)state;
    unsigned char src[5] = {1, 2, 3, 4, 5}, dst[8];
    tsr_reorder_options options = {.padding = TSR_PADDING_KEEP};
    tsr_plan *plan = parsed_plan("u8:ab>u8:aB8b 1x5", &options);
    memset(dst, 9, sizeof dst);
    assert_int_equal(tsr_plan_run(plan, src, dst, NULL), TSR_OK);
    assert_memory_equal(dst, ((unsigned char[]){1, 2, 3, 4, 5, 9, 9, 9}), sizeof dst);
    assert_int_equal(tsr_plan_get_info(plan).zero_boxes, 0);
    tsr_plan_free(&plan);
}

/* An axis turned round, in place of which factors count in the destination; and what was there, kept in part. */
static void test_reverse_and_beta(void **state)
{
    static const float scales[] = {1, 10, 100}, shift = 0.5f;
    const uint8_t src[] = {1, 2, 3, 4, 5, 6};
    float dst[] = {2, 4, 6, 8, 10, 12};
    static const float reversed[] = {3, 2, 1, 6, 5, 4}, blended[] = {4.5f, 22.5f, 103.5f, 10.5f, 55.5f, 406.5f};
    tsr_reorder_options options = {.reverse = 1U << 1};
    tsr_plan *plan = parsed_plan("u8:nc>f32:nc 2x3", &options);
    float turned[6];
    (void)state;
    assert_int_equal(tsr_plan_run(plan, src, turned, NULL), TSR_OK);
    assert_memory_equal(turned, reversed, sizeof turned);
    tsr_plan_free(&plan);
    options.scale = (tsr_factors){scales, 3, 1, 0};
    options.shift = (tsr_factors){&shift, 1, 0, 0};
    options.beta = 0.5f;
    plan = parsed_plan("u8:nc>f32:nc 2x3", &options);
    assert_int_equal(tsr_plan_run(plan, src, dst, NULL), TSR_OK);
    assert_memory_equal(dst, blended, sizeof dst);
    tsr_plan_free(&plan);
}

/* So many pieces of padding that they overlap: with beta they leave the elements alone, and are zeroed all the same. */
static void test_beta_and_much_padding(void **state)
{
    static const char problem[] = "u8:abcdefghi>u8:ABCDEFGHI2a2b2c2d2e2f2g2h2i 3x3x3x3x3x3x3x3x3";
    tsr_reorder_options options = {.beta = 1};
    tsr_plan *plan = parsed_plan(problem, &options);
    tsr_problem parsed = parsed_problem(problem);
    int64_t elements = tsr_desc_elements(&parsed.dst), bytes = tsr_desc_size_bytes(&parsed.dst), sums[3] = {0};
    unsigned char *src = allocate(elements), *dst = allocate(bytes);
    (void)state;
    memset(src, 2, (size_t)elements);
    memset(dst, 3, (size_t)bytes);
    assert_int_equal(tsr_plan_run(plan, src, dst, NULL), TSR_OK);
    for (int64_t i = 0; i < bytes; i++)
        sums[dst[i] == 5 ? 0 : dst[i] == 0 ? 1 : 2]++;
    assert_int_equal(sums[0], elements);
    assert_int_equal(sums[1], bytes - elements);
    free(src);
    free(dst);
    tsr_plan_free(&plan);
}

/* Any address will do. */
static void test_unaligned_buffers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(plan_samples); i++) {
        workload work;
        tsr_plan *plan = NULL;
        assert_int_equal(workload_init(&work, plan_samples[i], NULL), TSR_OK);
        const tsr_desc *src_desc = &work.problem.src, *dst_desc = &work.problem.dst;
        size_t src_bytes = (size_t)tsr_desc_size_bytes(src_desc), dst_bytes = (size_t)tsr_desc_size_bytes(dst_desc);
        char *src = allocate(tsr_desc_size_bytes(src_desc) + 8), *found = allocate(tsr_desc_size_bytes(dst_desc) + 8);
        char *expected = allocate(tsr_desc_size_bytes(dst_desc));
        assert_int_equal(tsr_plan_create(&plan, src_desc, dst_desc, &work.options, NULL), TSR_OK);
        for (size_t at = 0; at < 64; at++) {
            memset(found, 0xcd, dst_bytes + 8);
            memset(expected, 0xcd, dst_bytes);
            fill_awkward(src + at % 8, src_bytes, at);
            assert_int_equal(tsr_plan_run(plan, src + at % 8, found + at / 8, NULL), TSR_OK);
            assert_int_equal(tsr_reorder_by_definition(src_desc, src + at % 8, dst_desc, expected, &work.options, NULL),
                             TSR_OK);
            assert_memory_equal(found + at / 8, expected, dst_bytes);
        }
        free(src);
        free(found);
        free(expected);
        tsr_plan_free(&plan);
        workload_reset(&work);
    }
}

/* Rows that the library takes by itself, between two buffers. */
static void test_samples_have_all_rows(void **state)
{
    static const char *const expected[] = {"alias", "copy", "transpose", "convert", "gather", "relay"};
    (void)state;
    for (size_t r = 0; r < COUNT(expected); r++) {
        bool is_there = false;
        for (size_t i = 0; i < COUNT(plan_samples); i++) {
            workload work;
            tsr_plan *plan = NULL;
            assert_int_equal(workload_init(&work, plan_samples[i], NULL), TSR_OK);
            assert_int_equal(tsr_plan_create(&plan, &work.problem.src, &work.problem.dst, &work.options, NULL), TSR_OK);
            is_there = is_there || strcmp(tsr_plan_get_info(plan).row, expected[r]) == 0;
            tsr_plan_free(&plan);
            workload_reset(&work);
        }
        if (!is_there)
            fail_msg("no sample takes the row %s", expected[r]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_buffers),       cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_message_of_overlap),    cmocka_unit_test(test_alias_in_place),
        cmocka_unit_test(test_padding_kept),          cmocka_unit_test(test_unaligned_buffers),
        cmocka_unit_test(test_samples_have_all_rows), cmocka_unit_test(test_reverse_and_beta),
        cmocka_unit_test(test_beta_and_much_padding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
