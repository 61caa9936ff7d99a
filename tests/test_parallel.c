/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include <tessera/parallel.h>

#include "base/int.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { MAX_COUNT = 1024, MAX_TASKS = 64 };

/* --- executors --- */

/* What an executor was asked for. */
struct calls {
    int runs;
    int tasks;
};

static void run_in_order(void *context, tsr_task task, void *argument, int tasks)
{
    struct calls *calls = context;
    calls->runs++;
    calls->tasks = tasks;
    for (int i = 0; i < tasks; i++)
        task(argument, i);
}

static void run_in_reverse(void *context, tsr_task task, void *argument, int tasks)
{
    struct calls *calls = context;
    calls->runs++;
    calls->tasks = tasks;
    for (int i = tasks - 1; i >= 0; i--)
        task(argument, i);
}

struct one_task {
    tsr_task task;
    void *argument;
    int number;
};

static void *run_one(void *argument)
{
    struct one_task *one = argument;
    one->task(one->argument, one->number);
    return NULL;
}

/* A thread for every task. */
static void run_in_threads(void *context, tsr_task task, void *argument, int tasks)
{
    struct calls *calls = context;
    struct one_task ones[MAX_TASKS];
    pthread_t threads[MAX_TASKS];
    calls->runs++;
    calls->tasks = tasks;
    for (int i = 0; i < tasks && i < MAX_TASKS; i++) {
        ones[i] = (struct one_task){task, argument, i};
        if (pthread_create(&threads[i], NULL, run_one, &ones[i]) != 0)
            abort();
    }
    for (int i = 0; i < tasks && i < MAX_TASKS; i++)
        pthread_join(threads[i], NULL);
}

static void (*const runs[])(void *, tsr_task, void *, int) = {run_in_order, run_in_reverse, run_in_threads};

/* --- a loop that counts its indices --- */

struct tally {
    atomic_int seen[MAX_COUNT];
    atomic_int pieces;
    atomic_llong shortest, longest;
    bool stray; /* an index outside the range */
    int64_t count;
};

static void keep_extremes(struct tally *tally, long long length)
{
    long long old = atomic_load(&tally->shortest);
    while (length < old && !atomic_compare_exchange_weak(&tally->shortest, &old, length))
        ;
    old = atomic_load(&tally->longest);
    while (length > old && !atomic_compare_exchange_weak(&tally->longest, &old, length))
        ;
}

static void tally_range(void *argument, int64_t begin, int64_t end)
{
    struct tally *tally = argument;
    atomic_fetch_add(&tally->pieces, 1);
    keep_extremes(tally, end - begin);
    if (begin < 0 || end < begin || end > tally->count) {
        tally->stray = true;
        return;
    }
    for (int64_t i = begin; i < end; i++)
        atomic_fetch_add(&tally->seen[i], 1);
}

/*
 * Runs the loop, and checks that each index came once, and that the pieces are nearly equal and
 * large enough.
 */
static int count_pieces(const tsr_executor *executor, int threads, int64_t count, int64_t grain)
{
    static struct tally tally;
    for (int i = 0; i < MAX_COUNT; i++)
        atomic_store(&tally.seen[i], 0);
    atomic_store(&tally.pieces, 0);
    atomic_store(&tally.shortest, LLONG_MAX);
    atomic_store(&tally.longest, 0);
    tally.stray = false;
    tally.count = count;
    tsr_parallel_for(executor, threads, count, grain, tally_range, &tally);
    assert_false(tally.stray);
    for (int i = 0; i < MAX_COUNT; i++)
        assert_int_equal(atomic_load(&tally.seen[i]), i < count);
    int pieces = atomic_load(&tally.pieces);
    assert_true(atomic_load(&tally.longest) - atomic_load(&tally.shortest) <= 1);
    if (pieces > 1)
        assert_true(atomic_load(&tally.shortest) >= grain);
    return pieces;
}

static const int64_t counts[] = {0, 1, 2, 3, 7, 8, 63, 100, 1000, MAX_COUNT};
static const int64_t grains[] = {1, 2, 3, 7, 64, 5000};
static const int thread_counts[] = {0, 1, 2, 3, 8, 1000};
static const int executor_threads[] = {1, 2, 3, 16, MAX_TASKS};

/* The executor is asked at most once, and for as many tasks as there are pieces. */
static void check_executor(const tsr_executor *executor, struct calls *calls, int threads, int64_t count, int64_t grain)
{
    *calls = (struct calls){0};
    int pieces = count_pieces(executor, threads, count, grain);
    int64_t most = tsr_min(executor->threads, count / grain);
    if (threads > 0)
        most = tsr_min(most, threads);
    assert_int_equal(pieces, tsr_max(most, 1));
    assert_int_equal(calls->runs, pieces > 1);
    if (calls->runs) {
        assert_int_equal(calls->tasks, pieces);
        assert_in_range(calls->tasks, 2, executor->threads);
    }
}

static void test_every_index_once(void **state)
{
    (void)state;
    struct calls calls;
    for (size_t r = 0; r < COUNT(runs); r++) {
        for (size_t e = 0; e < COUNT(executor_threads); e++) {
            tsr_executor executor = {runs[r], &calls, executor_threads[e]};
            for (size_t t = 0; t < COUNT(thread_counts); t++)
                for (size_t c = 0; c < COUNT(counts); c++)
                    for (size_t g = 0; g < COUNT(grains); g++)
                        check_executor(&executor, &calls, thread_counts[t], counts[c], grains[g]);
        }
    }
}

static void test_default_executor(void **state)
{
    (void)state;
    tsr_executor executor = tsr_default_executor();
    assert_non_null(executor.run);
    assert_true(executor.threads >= 1);
    for (size_t t = 0; t < COUNT(thread_counts); t++) {
        for (size_t c = 0; c < COUNT(counts); c++) {
            for (size_t g = 0; g < COUNT(grains); g++) {
                int pieces = count_pieces(NULL, thread_counts[t], counts[c], grains[g]);
                assert_true(pieces == 1 || pieces <= executor.threads);
                count_pieces(&executor, thread_counts[t], counts[c], grains[g]);
            }
        }
    }
}

/* --- small work stays where it is --- */

static void note_thread(void *argument, int64_t begin, int64_t end)
{
    (void)begin;
    (void)end;
    *(pthread_t *)argument = pthread_self();
}

static void test_small_work_stays(void **state)
{
    (void)state;
    struct calls calls = {0};
    tsr_executor executor = {run_in_threads, &calls, 4};
    static const struct {
        int threads;
        int64_t count, grain;
    } rows[] = {{0, 0, 1}, {0, 1, 1}, {0, 199, 100}, {1, 1000, 1}, {0, INT64_MAX, INT64_MAX}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        pthread_t runner;
        tsr_parallel_for(&executor, rows[i].threads, rows[i].count, rows[i].grain, note_thread, &runner);
        assert_true(pthread_equal(runner, pthread_self()));
    }
    assert_int_equal(calls.runs, 0);
}

/* --- ranges near the end of the integers --- */

struct chain {
    int64_t next;
    bool broken;
};

static void follow(void *argument, int64_t begin, int64_t end)
{
    struct chain *chain = argument;
    chain->broken |= begin != chain->next || end < begin;
    chain->next = end;
}

static void test_large_ranges(void **state)
{
    (void)state;
    static const int64_t large[] = {INT64_MAX, INT64_MAX - 1, INT64_C(1) << 62, (INT64_C(1) << 32) + 1};
    for (size_t i = 0; i < COUNT(large); i++) {
        for (int threads = 1; threads <= MAX_TASKS; threads++) {
            struct calls calls = {0};
            struct chain chain = {0};
            tsr_executor executor = {run_in_order, &calls, threads};
            tsr_parallel_for(&executor, 0, large[i], 1, follow, &chain);
            assert_false(chain.broken);
            assert_int_equal(chain.next, large[i]);
        }
    }
}

/* --- the order of the tasks does not matter --- */

static void square(void *argument, int64_t begin, int64_t end)
{
    int64_t *squares = argument;
    for (int64_t i = begin; i < end; i++)
        squares[i] = i * i;
}

static void test_order_does_not_matter(void **state)
{
    (void)state;
    int64_t expected[MAX_COUNT], found[MAX_COUNT];
    square(expected, 0, MAX_COUNT);
    for (size_t r = 0; r < COUNT(runs); r++) {
        struct calls calls = {0};
        tsr_executor executor = {runs[r], &calls, 7};
        for (int i = 0; i < MAX_COUNT; i++)
            found[i] = -1;
        tsr_parallel_for(&executor, 0, MAX_COUNT, 10, square, found);
        assert_memory_equal(found, expected, sizeof expected);
        assert_int_equal(calls.tasks, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_index_once),      cmocka_unit_test(test_default_executor),
        cmocka_unit_test(test_small_work_stays),      cmocka_unit_test(test_large_ranges),
        cmocka_unit_test(test_order_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
