/* SPDX-License-Identifier: Apache-2.0 */
/* Who touches which piece of a tensor first, and whose piece it is when the tensor is converted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <tessera/reorder.h>
#include <tessera/text.h>

#include "blocked/storage.h"

#include "default_executor.h"
#include "parsed.h"

enum { MAX_THREADS = 8, PIECE_BYTES = 2 << 20, UNTOUCHED = 0xa5 };

/* Memory that a test watches, and which bytes of it each thread has written. */
static struct {
    const unsigned char *memory;
    size_t size_bytes;
    struct {
        size_t begin, end;
    } pieces[MAX_THREADS];
    int threads;
} watched;

/* Thread after thread, so that what has changed is the work of one. Nobody writes UNTOUCHED. */
static void run_and_watch(void *context, tsr_task task, void *argument, int tasks)
{
    unsigned char *before = malloc(watched.size_bytes);
    (void)context;
    assert_non_null(before);
    assert_in_range(tasks, 2, MAX_THREADS);
    watched.threads = tasks;
    for (int i = 0; i < tasks; i++) {
        size_t begin = 0, end = watched.size_bytes;
        memcpy(before, watched.memory, watched.size_bytes);
        task(argument, i);
        while (begin < end && watched.memory[begin] == before[begin])
            begin++;
        while (end > begin && watched.memory[end - 1] == before[end - 1])
            end--;
        watched.pieces[i].begin = begin;
        watched.pieces[i].end = end;
        size_t touched = 0;
        for (size_t at = begin; at < end; at++)
            touched += before[at] == UNTOUCHED && watched.memory[at] != UNTOUCHED;
        assert_int_equal(touched, end - begin); /* all of the piece, and nobody was there before */
    }
    free(before);
}

static void watch(const void *memory, size_t size_bytes)
{
    watched.memory = memory;
    watched.size_bytes = size_bytes;
    watched.threads = 0;
}

static void *allocate_untouched(void *context, size_t size_bytes, size_t alignment)
{
    const tsr_allocator *system = tsr_default_allocator();
    void *memory = system->allocate(system->context, size_bytes, alignment);
    (void)context;
    assert_non_null(memory);
    memset(memory, UNTOUCHED, size_bytes);
    if (size_bytes >= PIECE_BYTES)
        watch(memory, size_bytes);
    return memory;
}

static void release(void *context, void *memory, size_t size_bytes)
{
    const tsr_allocator *system = tsr_default_allocator();
    (void)context;
    system->release(system->context, memory, size_bytes);
}

/*
 * Each thread touches one piece first, of whole huge pages, and that is what it writes later. The tensors are so
 * large that every thread gets as many pages. A row may also share out what is contiguous in src: then it is that
 * tensor's pages that are near.
 */
static void check_pieces(const tsr_desc *src_desc, const tsr_desc *dst_desc, const char *row, int threads)
{
    const tsr_executor executor = {.run = run_and_watch, .threads = threads};
    const tsr_allocator allocator = {allocate_untouched, release, NULL};
    const tsr_reorder_options options = {.executor = &executor, .row = row};
    const size_t size_bytes = (size_t)tsr_desc_size_bytes(dst_desc);
    size_t begins[MAX_THREADS], ends[MAX_THREADS], at = 0;
    tsr_storage *storage = NULL;
    tsr_plan *plan = NULL;
    void *data = NULL, *src = calloc((size_t)tsr_desc_size_bytes(src_desc), 1);
    assert_non_null(src);
    default_executor = &executor;
    assert_int_equal(tsr_storage_create(&storage, size_bytes, &allocator, NULL), TSR_OK);
    tsr_storage_set_threads(storage, threads);
    assert_int_equal(tsr_storage_data(storage, &data, NULL), TSR_OK);
    default_executor = NULL;
    assert_int_equal(watched.threads, threads);
    for (int i = 0; i < threads; i++) {
        begins[i] = watched.pieces[i].begin;
        ends[i] = watched.pieces[i].end;
        assert_int_equal(begins[i], at);
        assert_int_equal(ends[i] - begins[i], size_bytes / (size_t)threads);
        assert_int_equal(ends[i] % PIECE_BYTES, 0);
        at = ends[i];
    }
    assert_int_equal(at, size_bytes);

    memset(data, UNTOUCHED, size_bytes);
    watch(data, size_bytes);
    assert_int_equal(tsr_plan_create(&plan, src_desc, dst_desc, &options, NULL), TSR_OK);
    assert_int_equal(tsr_plan_run(plan, src, data, NULL), TSR_OK);
    assert_int_equal(watched.threads, threads);
    for (int i = 0; i < threads; i++) {
        assert_int_equal(watched.pieces[i].begin, begins[i]);
        assert_int_equal(watched.pieces[i].end, ends[i]);
    }
    tsr_plan_free(&plan);
    tsr_storage_release(&storage);
    free(src);
}

static void test_pieces(void **state)
{
    static const char *const cases[][3] = {
        {"f32:nchw 1x12x256x1024", "f32:nchw 1x12x256x1024", "alias"},
        {"f32:nchw 1x16x192x1024", "f32:nhwc 1x16x192x1024", "transpose"},
        {"f32:nchw 1x96x128x256", "f32:nChw16c 1x96x128x256", "transpose"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int threads = 2; threads <= 3; threads++) {
            const tsr_desc src = parsed_desc(cases[i][0]), dst = parsed_desc(cases[i][1]);
            check_pieces(&src, &dst, cases[i][2], threads);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pieces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
