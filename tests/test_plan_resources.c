/* SPDX-License-Identifier: Apache-2.0 */
/* Running plans: threads and memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/topology.h"
#include "executors.h"
#include "failing_allocator.h"
#include "parsed.h"
#include "plan_samples.h"
#include "reorder/kernels/kernels.h"
#include "runner.h"
#include "workload.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void *allocate(int64_t bytes)
{
    void *memory = malloc((size_t)bytes + 1);
    assert_non_null(memory);
    return memory;
}

/* ---- threads ---- */

struct calls {
    int runs, most_tasks;
};

static void run_and_count(void *context, tsr_task task, void *argument, int tasks)
{
    struct calls *calls = context;
    calls->runs++;
    calls->most_tasks = tasks > calls->most_tasks ? tasks : calls->most_tasks;
    run_in_reverse(NULL, task, argument, tasks);
}

/*
 * Runs a problem with an executor of so many threads; checks what it was asked for, and returns the
 * result.
 */
static char *run_with_executor(const char *text, int executor_threads, int threads, bool is_large)
{
    workload work;
    tsr_plan *plan = NULL;
    struct calls calls = {0};
    tsr_executor executor = {run_and_count, &calls, executor_threads};
    assert_int_equal(workload_init(&work, text, NULL), TSR_OK);
    work.options.executor = &executor;
    work.options.threads = threads;
    assert_int_equal(tsr_plan_create(&plan, &work.problem.src, &work.problem.dst, &work.options, NULL), TSR_OK);
    executor = (tsr_executor){0}; /* it was copied */
    char *src = allocate(tsr_desc_size_bytes(&work.problem.src));
    char *dst = allocate(tsr_desc_size_bytes(&work.problem.dst));
    memset(dst, 0xcd, (size_t)tsr_desc_size_bytes(&work.problem.dst));
    fill_awkward(src, (size_t)tsr_desc_size_bytes(&work.problem.src), 1);
    assert_int_equal(tsr_plan_run(plan, src, dst, NULL), TSR_OK);
    int most = threads > 0 && threads < executor_threads ? threads : executor_threads;
    tsr_plan_info info = tsr_plan_get_info(plan);
    assert_int_equal(info.threads, calls.runs ? calls.most_tasks : 1);
    assert_true(info.threads <= (most > 1 ? most : 1));
    assert_true(calls.runs <= info.boxes + info.zero_boxes);
    assert_int_equal(calls.runs > 0, is_large && most > 1);
    free(src);
    tsr_plan_free(&plan);
    workload_reset(&work);
    return dst;
}

static void test_executor(void **state)
{
    static const char *const large[] = {
        "f32:nhwc>s8:nchw 8x64x64x33",     "f64:nchw>f64:nhwc 8x64x64x17",
        "u8:a>u8:[a3000000:2] 3000000",    "s16:nChw8c>s16:nChw12c 8x50x64x31",
        "u16:nchw>u16:nChw16c 8x51x64x31", "u8:nhwc>f32:nchw 1x3x400x801 scale[1] mean[1]",
    };
    static const int executors[] = {0, -3, 2, 3, 7};
    (void)state;
    for (size_t i = 0; i < COUNT(large); i++) {
        tsr_problem problem = parsed_problem(large[i]);
        size_t bytes = (size_t)tsr_desc_size_bytes(&problem.dst);
        char *expected = run_with_executor(large[i], 1, 0, true);
        for (size_t j = 0; j < COUNT(executors); j++)
            for (int threads = 0; threads <= 4; threads += 2) {
                char *found = run_with_executor(large[i], executors[j], threads, true);
                assert_memory_equal(found, expected, bytes);
                free(found);
            }
        free(expected);
    }
    for (size_t i = 0; i < COUNT(plan_samples); i++)
        free(run_with_executor(plan_samples[i], 7, 0, false));
}

/* So many pieces of memory have bytes that several tasks wrote. */
static int64_t shared_pieces(const struct witness *witness, size_t piece)
{
    int64_t shared = 0;
    for (size_t at = 0; at < witness->bytes; at += piece) {
        int first = -1;
        bool is_shared = false;
        for (size_t i = at; i < at + piece && i < witness->bytes; i++) {
            is_shared = is_shared || (first >= 0 && witness->writer[i] >= 0 && witness->writer[i] != first);
            first = first < 0 ? witness->writer[i] : first;
        }
        shared += is_shared;
    }
    return shared;
}

/* Threads write cache lines and pages of their own, but for a few where the work of one ends and that of the next
 * begins. */
static void test_lines_of_threads(void **state)
{
    enum { FEW = 16, MOST_LINES = FEW };
    static const struct {
        const char *problem;
        int most_pages; /* that are shared */
    } rows[] = {
        {"f32:nchw>f32:nhwc 8x64x56x56", FEW},
        {"u8:nhwc>u8:nchw 1x3x600x801", FEW},
        {"u8:nchw>u8:nhwc 1x3x600x801", FEW},
        {"u8:nhwc>f32:nchw 1x3x600x801 scale[1] mean[1]", FEW},
        {"f32:nchw>s8:nhwc 8x64x28x28 scale", FEW},
        {"f32:nchw>f32:nChw16c 4x100x33x33", FEW},
        {"f32:ab>f32:ba 1000x1000", FEW},
        {"u8:ab>u8:ba 2048x2048", FEW},
        {"f32:nChw8c>f32:nChw16c 8x128x28x28", FEW},
        {"f32:oihw>f32:OIhw16i16o 256x256x3x3", FEW},
        {"f32:nchw>bf16:nchw 8x64x56x56", FEW},
        {"f32:aBc8b>f32:aBc12b 8x103x300", FEW},
        {"f32:nhwc>f32:nchw 1x64x160x160", 3 * 64 + FEW}, /* a part of each channel, and three ends */
        {"f32:abc>f32:bac 600x300x16", 4 * 300 + FEW},    /* a part of each row */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        workload work;
        tsr_plan *plan = NULL;
        struct witness witness = {0};
        const tsr_executor executor = {run_and_watch, &witness, 4};
        assert_int_equal(workload_init(&work, rows[i].problem, NULL), TSR_OK);
        const int64_t src_bytes = tsr_desc_size_bytes(&work.problem.src),
                      bytes = tsr_desc_size_bytes(&work.problem.dst);
        witness.bytes = (size_t)bytes;
        char *src = allocate(src_bytes);
        witness.dst = aligned_alloc(4096, (witness.bytes + 4095) / 4096 * 4096);
        witness.before = (unsigned char *)allocate(bytes);
        witness.writer = (int *)(void *)allocate(bytes * (int64_t)sizeof(int));
        assert_non_null(witness.dst);
        fill_awkward(src, (size_t)src_bytes, 1);
        memset(witness.writer, -1, witness.bytes * sizeof(int));
        memset(witness.dst, 0xcd, witness.bytes);
        work.options.executor = &executor;
        assert_int_equal(tsr_plan_create(&plan, &work.problem.src, &work.problem.dst, &work.options, NULL), TSR_OK);
        assert_int_equal(tsr_plan_run(plan, src, witness.dst, NULL), TSR_OK);
        assert_true(tsr_plan_get_info(plan).threads > 1);
        const int64_t lines = shared_pieces(&witness, TSR_CACHE_LINE), pages = shared_pieces(&witness, 4096);
        if (lines > MOST_LINES || pages > rows[i].most_pages)
            fail_msg("%s: threads share %d lines and %d pages", rows[i].problem, (int)lines, (int)pages);
        tsr_plan_free(&plan);
        workload_reset(&work);
        free(src);
        free(witness.dst);
        free(witness.before);
        free(witness.writer);
    }
}

/* ---- one plan, several threads ---- */

static void test_concurrent_runs(void **state)
{
    enum { THREADS = 4 };
    (void)state;
    for (size_t i = 0; i < COUNT(plan_samples); i++) {
        workload work;
        tsr_plan *plan = NULL;
        struct runner runners[THREADS];
        assert_int_equal(workload_init(&work, plan_samples[i], NULL), TSR_OK);
        int64_t src_bytes = tsr_desc_size_bytes(&work.problem.src), dst_bytes = tsr_desc_size_bytes(&work.problem.dst);
        char *src = allocate(src_bytes);
        fill_awkward(src, (size_t)src_bytes, i);
        assert_int_equal(tsr_plan_create(&plan, &work.problem.src, &work.problem.dst, &work.options, NULL), TSR_OK);
        for (int t = 0; t < THREADS; t++) {
            runners[t] = (struct runner){.plan = plan, .src = src, .dst = allocate(dst_bytes)};
            memset(runners[t].dst, 0xcd, (size_t)dst_bytes);
            assert_int_equal(pthread_create(&runners[t].thread, NULL, run_many_times, &runners[t]), 0);
        }
        for (int t = 0; t < THREADS; t++) {
            pthread_join(runners[t].thread, NULL);
            assert_int_equal(runners[t].status, TSR_OK);
            assert_memory_equal(runners[t].dst, runners[0].dst, (size_t)dst_bytes);
        }
        for (int t = 0; t < THREADS; t++)
            free(runners[t].dst);
        free(src);
        tsr_plan_free(&plan);
        workload_reset(&work);
    }
}

/* ---- memory ---- */

/* Creates, runs and frees with an allocator that fails once. False when it was asked for less than that. */
static bool fails_cleanly(const char *text, int fail_at)
{
    workload work;
    tsr_plan *plan = NULL;
    tsr_error error = {0};
    failing_allocator counter = {.fail_at = fail_at};
    tsr_allocator allocator = failing_allocator_of(&counter);
    assert_int_equal(workload_init(&work, text, NULL), TSR_OK);
    work.options.allocator = &allocator;
    tsr_status status = tsr_plan_create(&plan, &work.problem.src, &work.problem.dst, &work.options, &error);
    allocator = (tsr_allocator){0}; /* it was copied */
    bool fails = counter.allocations >= fail_at;
    assert_int_equal(status, fails ? TSR_OUT_OF_MEMORY : TSR_OK);
    assert_string_equal(error.message, fails ? "no memory for the plan" : "");
    assert_true(!plan == fails);
    if (plan) { /* running takes no memory */
        char *src = calloc(1, (size_t)tsr_desc_size_bytes(&work.problem.src) + 1);
        char *dst = allocate(tsr_desc_size_bytes(&work.problem.dst));
        int before = counter.allocations;
        assert_true(counter.live > 0);
        assert_int_equal(tsr_plan_run(plan, src, dst, NULL), TSR_OK);
        assert_int_equal(counter.allocations, before);
        free(src);
        free(dst);
    }
    tsr_plan_free(&plan);
    assert_null(plan);
    assert_int_equal(counter.live, 0);
    assert_int_equal(counter.live_bytes, 0);
    workload_reset(&work);
    return fails;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(plan_samples); i++) {
        int fail_at = 1;
        while (fails_cleanly(plan_samples[i], fail_at))
            fail_at++;
        assert_true(fail_at > 3);
    }
}

static void test_freeing(void **state)
{
    (void)state;
    tsr_plan *plan = NULL;
    tsr_plan_free(NULL);
    tsr_plan_free(&plan);
    plan = parsed_plan("f32:ab>f32:ba 2x3", NULL);
    tsr_plan_free(&plan);
    assert_null(plan);
    tsr_plan_free(&plan);
}

/* Descriptors and factors are copied: what they were made from may go. */
static void test_copies_its_input(void **state)
{
    (void)state;
    tsr_plan *plan = NULL;
    tsr_problem problem = parsed_problem("u8:ab>f32:ba 2x3");
    float scales[] = {1, 10, 100}, mean = 1;
    tsr_reorder_options options = {.scale = {scales, 3, 1, 0}, .mean = {&mean, 1, 0, 0}};
    assert_int_equal(tsr_plan_create(&plan, &problem.src, &problem.dst, &options, NULL), TSR_OK);
    memset(&problem, 0, sizeof problem);
    memset(&options, 0, sizeof options);
    memset(scales, 0, sizeof scales);
    mean = 0;
    const uint8_t src[] = {1, 2, 3, 4, 5, 6};
    float dst[6];
    static const float expected[] = {0, 3, 10, 40, 200, 500};
    assert_int_equal(tsr_plan_run(plan, src, dst, NULL), TSR_OK);
    assert_memory_equal(dst, expected, sizeof dst);
    tsr_plan_free(&plan);
}

/* ---- the stack of a thread, of which sanitizers take more: what is built without them has this ---- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_OWN_STACK 0
#else
#define HAS_OWN_STACK 1

/* Runs a problem in a thread with so little stack, behind which nothing can be written. */
static void run_on_small_stack(const char *text)
{
    enum { STACK = (256 + 16) << 10, GUARD = 1 << 20 }; /* the thread itself takes some */
    workload work;
    pthread_attr_t attributes;
    struct runner runner = {0};
    char *memory = mmap(NULL, GUARD + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    tsr_plan *plan = NULL;
    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory, GUARD, PROT_NONE), 0);
    assert_int_equal(workload_init(&work, text, NULL), TSR_OK);
    work.options.threads = 1;
    work.options.streaming = TSR_STREAMING_ALWAYS;
    assert_int_equal(tsr_plan_create(&plan, &work.problem.src, &work.problem.dst, &work.options, NULL), TSR_OK);
    char *src = allocate(tsr_desc_size_bytes(&work.problem.src));
    fill_awkward(src, (size_t)tsr_desc_size_bytes(&work.problem.src), 1);
    runner = (struct runner){.plan = plan, .src = src, .dst = allocate(tsr_desc_size_bytes(&work.problem.dst))};
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, memory + GUARD, STACK), 0);
    assert_int_equal(pthread_create(&runner.thread, &attributes, run_many_times, &runner), 0);
    pthread_join(runner.thread, NULL);
    pthread_attr_destroy(&attributes);
    assert_int_equal(runner.status, TSR_OK);
    free(src);
    free(runner.dst);
    tsr_plan_free(&plan);
    workload_reset(&work);
    assert_int_equal(munmap(memory, GUARD + STACK), 0);
}

/* What reorder.h promises. */
static void test_stack(void **state)
{
    static const char *const deep[] = {
        "f16:OIhw4i5o>s4:OhwI8o4i 60x2x7x3 scale[1]",
        "u8:AB6a6b>f32:AB4a4b 301x299 scale[0]",
        "s4:AB6a6b>u4:AB10a4b 301x299",
        "f32:oihw>s8:OIhw4i16o4i 64x64x3x3 scale[0]",
        "f16:AB16b16a>u8:BA16a16b 500x250 scale[1]",
        "f32:nchw>s8:nchw 1x64x56x56 scale[1]",
        "s4:ab>f16:ab 40x2100 scale[0]", /* with a map of each row */
        "u8:abcd>f16:abdc 3x5x120x120 scale[1]",
        "f32:nchw>s8:nhwc 2x256x28x28", /* in pieces, if the last cache is near */
        "f64:nChw16c>u8:nhwc 1x250x28x28 scale[1]",
        "f16:OIhw8i16o2i>s8:hwio 200x500x3x3 scale[0]", /* in several of them */
        "u8:cAB12a12b>f64:cAB16b16a 17x17x1000",        /* whose legs have none */
        "f64:OIhw24i9o>f64:OIhw8o14i 100x200x1x3",      /* whose least slice is that large */
        "f32:OIhw12i32o>s8:OIhw20o64i 170x200x1x3 scale[0]",
        "s32:daCb16c>bf16:acbD8d 4x128x24x7", /* with a leg in two steps */
    };
    (void)state;
    static tsr_topology small; /* caches, the last of which is near */
    small = *tsr_topology_machine();
    small.has_near_l3 = true;
    small.l1_bytes = 16 << 10;
    small.l2_bytes = 64 << 10;
    small.l3_bytes = 1 << 20;
    for (int is_small = 0; is_small < 2; is_small++) {
        tsr_topology_pretend(is_small ? &small : NULL);
        for (size_t i = 0; i < COUNT(plan_samples); i++)
            run_on_small_stack(plan_samples[i]);
        for (size_t i = 0; i < COUNT(deep); i++)
            run_on_small_stack(deep[i]);
    }
    tsr_topology_pretend(NULL);
}
#endif

static void test_reorder(void **state)
{
    (void)state;
    tsr_desc src_desc = parsed_desc("u8:ab 2x3"), dst_desc = parsed_desc("u8:ba 2x3"), other = parsed_desc("u8:ab 2x2");
    tsr_error error = {0};
    const uint8_t src[] = {1, 2, 3, 4, 5, 6};
    uint8_t dst[6];
    assert_int_equal(tsr_reorder(&src_desc, src, &dst_desc, dst, &error), TSR_OK);
    assert_memory_equal(dst, ((uint8_t[]){1, 4, 2, 5, 3, 6}), sizeof dst);
    assert_string_equal(error.message, "");
    assert_int_equal(tsr_reorder(&src_desc, src, &other, dst, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "dims[1] is 3 in the source and 2 in the destination");
    assert_int_equal(tsr_reorder(&src_desc, src, &dst_desc, NULL, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "the destination buffer is NULL, expected 6 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_executor),
        cmocka_unit_test(test_lines_of_threads),
        cmocka_unit_test(test_concurrent_runs),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_freeing),
        cmocka_unit_test(test_copies_its_input),
#if HAS_OWN_STACK
        cmocka_unit_test(test_stack),
#endif
        cmocka_unit_test(test_reorder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
