/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <tessera/plan_cache.h>
#include <tessera/text.h>

#include "parsed.h"

static tsr_plan_cache *cache_of(int most)
{
    tsr_plan_cache *cache = NULL;
    assert_int_equal(tsr_plan_cache_create(&cache, most, NULL, NULL), TSR_OK);
    return cache;
}

/* The plan of a square matrix of this side and its transpose. */
static const tsr_plan *get(tsr_plan_cache *cache, int side, const tsr_reorder_options *options)
{
    char src[32], dst[32];
    const tsr_plan *plan = NULL;
    tsr_error error = {0};
    snprintf(src, sizeof src, "f32:ab %dx%d", side, side);
    snprintf(dst, sizeof dst, "f32:ba %dx%d", side, side);
    const tsr_desc from = parsed_desc(src), to = parsed_desc(dst);
    if (tsr_plan_cache_get(cache, &from, &to, options, &plan, &error) != TSR_OK)
        fail_msg("%s", error.message);
    return plan;
}

static void expect_stats(tsr_plan_cache *cache, int64_t hits, int64_t misses, int plans)
{
    const tsr_plan_cache_stats stats = tsr_plan_cache_get_stats(cache);
    assert_int_equal(stats.hits, hits);
    assert_int_equal(stats.misses, misses);
    assert_int_equal(stats.plans, plans);
}

static void test_found_again(void **state)
{
    (void)state;
    tsr_plan_cache *cache = cache_of(4);
    const tsr_plan *a = get(cache, 5, NULL), *b = get(cache, 5, NULL), *first = a;
    float src[25], dst[25];
    assert_ptr_equal(a, b);
    expect_stats(cache, 1, 1, 1);
    for (int i = 0; i < 25; i++)
        src[i] = (float)i;
    assert_int_equal(tsr_plan_run(a, src, dst, NULL), TSR_OK);
    assert_true(dst[1] == 5 && dst[5] == 1);
    tsr_plan_cache_put(cache, &a);
    tsr_plan_cache_put(cache, &b);
    assert_null(a);
    tsr_plan_cache_put(cache, &a);
    b = get(cache, 5, NULL); /* it was kept */
    assert_ptr_equal(b, first);
    tsr_plan_cache_put(cache, &b);
    tsr_plan_cache_free(&cache);
    assert_null(cache);
    tsr_plan_cache_free(&cache);
}

static void test_bound(void **state)
{
    (void)state;
    tsr_plan_cache *cache = cache_of(3);
    for (int side = 2; side <= 6; side++) {
        const tsr_plan *plan = get(cache, side, NULL);
        tsr_plan_cache_put(cache, &plan);
    }
    expect_stats(cache, 0, 5, 3);
    const tsr_plan *oldest = get(cache, 4, NULL), *gone = get(cache, 2, NULL); /* 4 is used again, 5 goes */
    expect_stats(cache, 1, 6, 3);
    tsr_plan_cache_put(cache, &oldest);
    tsr_plan_cache_put(cache, &gone);
    const tsr_plan *kept = get(cache, 4, NULL), *made = get(cache, 5, NULL);
    expect_stats(cache, 2, 7, 3);
    tsr_plan_cache_put(cache, &kept);
    tsr_plan_cache_put(cache, &made);
    tsr_plan_cache_free(&cache);
}

/* A plan that is out stays, although the cache has no room for it any more. */
static void test_out_and_forgotten(void **state)
{
    (void)state;
    tsr_plan_cache *cache = cache_of(1);
    const tsr_plan *a = get(cache, 2, NULL), *b = get(cache, 3, NULL);
    float src[4] = {1, 2, 3, 4}, dst[4];
    expect_stats(cache, 0, 2, 1);
    assert_int_equal(tsr_plan_run(a, src, dst, NULL), TSR_OK);
    assert_true(dst[1] == 3);
    tsr_plan_cache_put(cache, &a);
    tsr_plan_cache_put(cache, &b);
    a = get(cache, 2, NULL);
    expect_stats(cache, 0, 3, 1);
    tsr_plan_cache_put(cache, &a);
    tsr_plan_cache_free(&cache);
}

static void test_options(void **state)
{
    (void)state;
    tsr_plan_cache *cache = cache_of(16);
    const tsr_executor executor = {.threads = 1};
    const tsr_reorder_options options[] = {
        {.beta = 0},    {.padding = TSR_PADDING_KEEP}, {.streaming = TSR_STREAMING_NEVER},
        {.threads = 1}, {.executor = &executor},       {.in_place = true},
    };
    enum { OPTIONS = sizeof options / sizeof *options };
    const tsr_plan *plans[OPTIONS];
    for (int i = 0; i < OPTIONS; i++) {
        plans[i] = get(cache, 7, &options[i]);
        for (int j = 0; j < i; j++)
            assert_ptr_not_equal(plans[i], plans[j]);
    }
    expect_stats(cache, 0, OPTIONS, OPTIONS);
    for (int i = 0; i < OPTIONS; i++) {
        const tsr_plan *again = get(cache, 7, &options[i]);
        assert_ptr_equal(again, plans[i]);
        tsr_plan_cache_put(cache, &again);
        tsr_plan_cache_put(cache, &plans[i]);
    }
    const float half = 0.5F;
    const tsr_plan *scaled = get(cache, 7, &(tsr_reorder_options){.scale = (tsr_factors){&half, 1, 0, 0}});
    float src[49] = {8}, dst[49];
    assert_int_equal(tsr_plan_run(scaled, src, dst, NULL), TSR_OK);
    assert_true(dst[0] == 4);
    tsr_plan_cache_put(cache, &scaled);
    expect_stats(cache, OPTIONS, OPTIONS + 1, OPTIONS); /* that one is not kept */
    tsr_plan_cache_free(&cache);
}

static void test_refusals(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_plan_cache *none = NULL, *cache = cache_of(2);
    const tsr_plan *plan = NULL;
    const tsr_desc a = parsed_desc("f32:ab 2x3"), b = parsed_desc("f32:ab 3x2");
    assert_int_equal(tsr_plan_cache_create(&none, 0, NULL, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected a cache of 1 to 4096 plans, found 0");
    assert_null(none);
    assert_int_equal(tsr_plan_cache_get(cache, &a, &b, NULL, &plan, &error), TSR_INVALID_ARGUMENT);
    for (int levels = -1; levels < 100000; levels = levels < 0 ? TSR_MAX_LEVELS + 1 : levels * 4) {
        tsr_desc bad = a; /* of which no field is looked at */
        bad.levels = levels;
        assert_int_equal(tsr_plan_cache_get(cache, &bad, &a, NULL, &plan, &error), TSR_INVALID_ARGUMENT);
        assert_int_equal(tsr_plan_cache_get(cache, &a, &bad, &(tsr_reorder_options){.beta = 1}, &plan, &error),
                         TSR_INVALID_ARGUMENT);
    }
    assert_null(plan);
    expect_stats(cache, 0, 0, 0);
    tsr_plan_cache_free(&cache);
}

static void test_default(void **state)
{
    (void)state;
    assert_ptr_equal(tsr_default_plan_cache(), tsr_default_plan_cache());
    const tsr_plan *a = get(NULL, 9, NULL), *b = get(tsr_default_plan_cache(), 9, NULL);
    assert_ptr_equal(a, b);
    tsr_plan_cache_put(NULL, &a);
    tsr_plan_cache_put(tsr_default_plan_cache(), &b);
}

/* ---- many threads ---- */

static void *use_plans(void *argument)
{
    for (int i = 0; i < 200; i++) {
        int side = 2 + i * 7 % 5;
        const tsr_plan *plan = get(argument, side, NULL);
        float src[36] = {0}, dst[36] = {0};
        src[1] = (float)i;
        if (tsr_plan_run(plan, src, dst, NULL) != TSR_OK || dst[side] != (float)i)
            return argument;
        tsr_plan_cache_put(argument, &plan);
    }
    return NULL;
}

static void test_threads(void **state)
{
    enum { THREADS = 8 };
    (void)state;
    pthread_t threads[THREADS];
    tsr_plan_cache *cache = cache_of(3);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_plans, cache), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    const tsr_plan_cache_stats stats = tsr_plan_cache_get_stats(cache);
    assert_int_equal(stats.hits + stats.misses, THREADS * 200);
    assert_int_equal(stats.plans, 3);
    tsr_plan_cache_free(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_again), cmocka_unit_test(test_bound),    cmocka_unit_test(test_out_and_forgotten),
        cmocka_unit_test(test_options),     cmocka_unit_test(test_refusals), cmocka_unit_test(test_default),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
