/* SPDX-License-Identifier: Apache-2.0 */
/* Merges and splits of parts that are large or many, so that threads take whole parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/blob.h>
#include <tessera/parallel.h>
#include <tessera/plan_cache.h>
#include <tessera/text.h>

#include "accesses.h"
#include "place.h"
#include "random.h"

enum { MAX_PARTS = 40, MAX_ELEMENTS = 400000 };

static tsr_random random_state;

static int64_t draw(int64_t lo, int64_t hi)
{
    return tsr_random_range(&random_state, lo, hi);
}

/* ---- a default executor of this test's own: a thread for each task, whatever the library is built with ---- */

enum { THREADS = 4 };

static int jobs; /* that it has run */

struct worker {
    pthread_t thread;
    tsr_task task;
    void *argument;
    int number;
};

static void *work(void *argument)
{
    const struct worker *worker = argument;
    worker->task(worker->argument, worker->number);
    return NULL;
}

static void run_in_threads(void *context, tsr_task task, void *argument, int tasks)
{
    (void)context;
    struct worker workers[THREADS];
    jobs++;
    for (int i = 0; i < tasks; i++) {
        workers[i] = (struct worker){.task = task, .argument = argument, .number = i};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            abort();
    }
    for (int i = 0; i < tasks; i++)
        pthread_join(workers[i].thread, NULL);
}

tsr_executor __wrap_tsr_default_executor(void);

tsr_executor __wrap_tsr_default_executor(void)
{
    return (tsr_executor){.run = run_in_threads, .threads = THREADS};
}

/* ---- divisions ---- */

/* A whole of three axes, and its parts. */
struct division {
    tsr_dtype dtype;
    int64_t dims[3];
    int axis, count;
    int64_t first[MAX_PARTS + 1]; /* of each part along the axis, and the end */
    tsr_blob *whole, *parts[MAX_PARTS];
};

static tsr_desc plain(tsr_dtype dtype, const int64_t *dims)
{
    tsr_desc desc;
    assert_int_equal(tsr_desc_plain(&desc, dtype, 3, dims, NULL), TSR_OK);
    return desc;
}

static tsr_blob *create(tsr_dtype dtype, const int64_t *dims)
{
    static const char *const layouts[] = {"abc", "acb", "bca", "aBc16b", "aBc8b", "cBa4b"};
    const tsr_blob_options options = {.threads = (int)draw(0, 3), .device = home_device};
    tsr_blob *blob = NULL;
    tsr_desc desc;
    const char *layout = layouts[draw(0, sizeof layouts / sizeof *layouts - 1)];
    assert_int_equal(tsr_desc_from_layout(&desc, dtype, 3, dims, layout, NULL), TSR_OK);
    assert_int_equal(tsr_blob_create(&blob, &desc, &options, NULL), TSR_OK);
    return blob;
}

/* Element i of plain memory, of 4 bits or whole bytes. */
static uint64_t get(const unsigned char *data, int64_t i, int bits)
{
    uint64_t value = 0;
    if (bits < 8)
        return data[i / 2] >> (i % 2 * 4) & 15;
    memcpy(&value, data + i * bits / 8, (size_t)bits / 8);
    return value;
}

static void put(unsigned char *data, int64_t i, int bits, uint64_t value)
{
    if (bits < 8)
        data[i / 2] = (unsigned char)((data[i / 2] & (i % 2 ? 0x0f : 0xf0)) | (value & 15) << (i % 2 * 4));
    else
        memcpy(data + i * bits / 8, &value, (size_t)bits / 8);
}

/* Of element i of the whole. */
static uint64_t value_of(int64_t i, int bits)
{
    const uint64_t mixed = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) >> 7;
    return bits < 64 ? mixed & ((UINT64_C(1) << bits) - 1) : mixed;
}

/* Writes or compares the elements of a blob that begins at an index of the whole. */
static void visit(const struct division *d, tsr_blob *blob, int64_t first, bool is_written)
{
    tsr_desc desc;
    tsr_blob_get_desc(blob, &desc);
    const int bits = tsr_dtype_bits(d->dtype);
    const tsr_desc asked = plain(d->dtype, desc.dims);
    tsr_access access;
    assert_int_equal(tsr_blob_acquire(blob, home_device, &asked, is_written ? TSR_WRITE : TSR_READ, &access, NULL),
                     TSR_OK);
    void *host = NULL;
    assert_int_equal(tsr_access_map(&access, &host, NULL), TSR_OK);
    int64_t at = 0, begin[3] = {0};
    begin[d->axis] = first;
    for (int64_t a = 0; a < desc.dims[0]; a++)
        for (int64_t b = 0; b < desc.dims[1]; b++)
            for (int64_t c = 0; c < desc.dims[2]; c++, at++) {
                const int64_t i = ((begin[0] + a) * d->dims[1] + begin[1] + b) * d->dims[2] + begin[2] + c;
                if (is_written)
                    put(host, at, bits, value_of(i, bits));
                else if (get(host, at, bits) != value_of(i, bits))
                    fail_msg("element %lld of a blob that begins at %lld along axis %d of %lld %lld %lld",
                             (long long)at, (long long)first, d->axis, (long long)d->dims[0], (long long)d->dims[1],
                             (long long)d->dims[2]);
            }
    release(&access);
}

/* Of equal length, but for the last one; or anywhere. */
static void cut(struct division *d)
{
    const int64_t length = d->dims[d->axis], wanted = draw(2, draw(0, 1) ? 4 : MAX_PARTS);
    const int64_t step = (length + wanted - 1) / wanted;
    const bool is_even = draw(0, 2) > 0;
    d->count = 0;
    for (int64_t at = 0; at < length && d->count < MAX_PARTS; at += is_even ? step : draw(1, 2 * step))
        d->first[d->count++] = at;
    d->first[d->count] = length;
}

static void make(struct division *d)
{
    static const tsr_dtype types[] = {TSR_F32, TSR_U8, TSR_BF16, TSR_S64, TSR_S4};
    d->dtype = types[draw(0, sizeof types / sizeof *types - 1)];
    d->dims[0] = draw(1, 60);
    d->dims[1] = draw(1, 200);
    d->dims[2] = draw(1, MAX_ELEMENTS / (d->dims[0] * d->dims[1]));
    d->axis = (int)draw(0, 2);
    d->whole = create(d->dtype, d->dims);
    cut(d);
    for (int i = 0; i < d->count; i++) {
        int64_t dims[] = {d->dims[0], d->dims[1], d->dims[2]};
        dims[d->axis] = d->first[i + 1] - d->first[i];
        d->parts[i] = create(d->dtype, dims);
    }
}

static void drop(struct division *d)
{
    tsr_blob_free(&d->whole);
    for (int i = 0; i < d->count; i++)
        tsr_blob_free(&d->parts[i]);
}

static void test_merges(void **state)
{
    (void)state;
    tsr_random_seed_from_environment(&random_state);
    for (int i = 0; i < tsr_random_cases(60); i++) {
        struct division d;
        make(&d);
        for (int k = 0; k < d.count; k++)
            visit(&d, d.parts[k], d.first[k], true);
        assert_int_equal(tsr_blob_merge(d.whole, d.parts, d.count, d.axis, NULL), TSR_OK);
        visit(&d, d.whole, 0, false);
        drop(&d);
    }
}

static void test_splits(void **state)
{
    (void)state;
    tsr_random_seed_from_environment(&random_state);
    for (int i = 0; i < tsr_random_cases(60); i++) {
        struct division d;
        make(&d);
        visit(&d, d.whole, 0, true);
        assert_int_equal(tsr_blob_split(d.parts, d.count, d.whole, d.axis, NULL), TSR_OK);
        for (int k = 0; k < d.count; k++)
            visit(&d, d.parts[k], d.first[k], false);
        drop(&d);
    }
}

/* Two blobs over one memory: what is written last stays, as if one part were split off behind the other. */
static void test_parts_in_one_memory(void **state)
{
    (void)state;
    enum { ROWS = 2, COLUMNS = 200000 };
    const tsr_desc all = parsed_desc("f32:abc 4x1x200000"), row = parsed_desc("f32:abc 2x1x200000");
    struct division d = {.dtype = TSR_F32, .dims = {2 * ROWS, 1, COLUMNS}, .count = 2, .first = {0, ROWS}};
    float *memory = calloc((size_t)ROWS * COLUMNS, sizeof *memory);
    assert_non_null(memory);
    assert_int_equal(tsr_blob_create(&d.whole, &all, NULL, NULL), TSR_OK);
    visit(&d, d.whole, 0, true);
    for (int i = 0; i < d.count; i++)
        assert_int_equal(tsr_blob_wrap(&d.parts[i], &row, memory, ROWS * COLUMNS * sizeof *memory, NULL, NULL, NULL),
                         TSR_OK);
    for (int round = 0; round < 20; round++) {
        assert_int_equal(tsr_blob_split(d.parts, d.count, d.whole, 0, NULL), TSR_OK);
        visit(&d, d.parts[0], ROWS, false);
    }
    drop(&d);
    free(memory);
}

/* A part anywhere in the whole, not only where it belongs, is refused. */
static void test_part_in_the_whole(void **state)
{
    (void)state;
    enum { ROW = 3000 };
    static float memory[2 * ROW];
    const tsr_desc all = parsed_desc("f32:ab 2x3000"), row = parsed_desc("f32:ab 1x3000");
    tsr_blob *whole = NULL, *parts[2] = {NULL, NULL};
    for (int i = 0; i < 2 * ROW; i++)
        memory[i] = (float)i;
    assert_int_equal(tsr_blob_wrap(&whole, &all, memory, sizeof memory, NULL, NULL, NULL), TSR_OK);
    for (int at = 0; at < 2; at++)
        for (int part = 0; part < 2; part++) {
            assert_int_equal(tsr_blob_create(&parts[!part], &row, NULL, NULL), TSR_OK);
            assert_int_equal(tsr_blob_wrap(&parts[part], &row, memory + at * ROW, sizeof memory / 2, NULL, NULL, NULL),
                             TSR_OK);
            assert_int_equal(tsr_blob_merge(whole, parts, 2, 0, NULL), TSR_OVERLAP);
            assert_int_equal(tsr_blob_split(parts, 2, whole, 0, NULL), TSR_OVERLAP);
            tsr_blob_free(&parts[0]);
            tsr_blob_free(&parts[1]);
        }
    for (int i = 0; i < 2 * ROW; i++)
        assert_true(memory[i] == (float)i);
    tsr_blob_free(&whole);
}

/* ---- who moves them ---- */

/* Each part is moved by one task, all in one job; or each by a job of its own, or one task if it is small. */
static void test_who_moves_them(void **state)
{
    (void)state;
    static const struct {
        const char *whole, *part, *other; /* or NULL: parts of both kinds come in turns */
        int axis, count, threads, jobs;
    } cases[] = {
        {"f32:abc 8x64x4096", "f32:abc 2x64x4096", NULL, 0, 4, 0, 1},
        {"f32:abc 8x64x4096", "f32:acb 2x64x4096", NULL, 0, 4, 0, 1},
        {"f32:abc 8x64x2048", "f32:abc 4x64x2048", NULL, 0, 2, 0, 2}, /* four threads share each */
        {"f32:abc 8x64x2048", "f32:abc 4x64x2048", NULL, 0, 2, 2, 1},
        {"f32:abc 8x64x4096", "f32:abc 8x16x4096", NULL, 1, 4, 0, 1}, /* runs of 256 KB */
        {"f32:abc 8x64x4096", "f32:abc 8x64x1024", NULL, 2, 4, 0, 1}, /* and of 4 */
        {"f32:acb 8x64x4096", "f32:abc 8x16x4096", NULL, 1, 4, 0, 4}, /* of 64 bytes */
        {"f32:aBc16b 8x64x4096", "f32:abc 8x16x4096", NULL, 1, 4, 0, 1},
        {"f32:aBc32b 8x64x4096", "f32:abc 8x16x4096", NULL, 1, 4, 0, 4}, /* inside of blocks */
        {"f32:abc 8x64x4096", "f32:abc 4x64x4096", NULL, 0, 2, 2, 2},    /* large ones */
        {"f32:abc 64x64x64", "f32:abc 1x64x64", NULL, 0, 64, 0, 1},      /* many small ones */
        {"f32:abc 64x64x64", "f32:abc 1x64x64", NULL, 0, 64, 1, 0},
        {"f32:abc 4x64x64", "f32:abc 1x64x64", NULL, 0, 4, 0, 0},                    /* too few */
        {"f32:abc 8x64x2048", "f32:abc 4x64x2048", "f32:cba 4x64x2048", 0, 2, 2, 2}, /* one takes longer */
        {"f32:abc 8x64x4096", "f32:abc 2x64x4096", "f32:cba 2x64x4096", 0, 4, 2, 1},
        {"s4:abc 8x64x32768", "s4:abc 2x64x32768", NULL, 0, 4, 0, 4}, /* two elements to a byte */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_blob *whole = NULL, *parts[64];
        const tsr_blob_options options = {.threads = cases[i].threads};
        const tsr_desc desc = parsed_desc(cases[i].whole), part = parsed_desc(cases[i].part);
        const tsr_desc other = parsed_desc(cases[i].other ? cases[i].other : cases[i].part);
        assert_int_equal(tsr_blob_create(&whole, &desc, &options, NULL), TSR_OK);
        assert_int_equal(tsr_blob_clear(whole, NULL), TSR_OK);
        for (int k = 0; k < cases[i].count; k++) {
            assert_int_equal(tsr_blob_create(&parts[k], k % 2 ? &other : &part, &options, NULL), TSR_OK);
            assert_int_equal(tsr_blob_clear(parts[k], NULL), TSR_OK);
        }
        jobs = 0;
        assert_int_equal(tsr_blob_merge(whole, parts, cases[i].count, cases[i].axis, NULL), TSR_OK);
        if (jobs != cases[i].jobs)
            fail_msg("%s from %s: expected %d jobs, found %d", cases[i].whole, cases[i].part, cases[i].jobs, jobs);
        for (int k = 0; k < cases[i].count; k++)
            tsr_blob_free(&parts[k]);
        tsr_blob_free(&whole);
    }
}

/* Places that differ in their offset have one plan: those of parts, and those of a window that moves. */
static void test_plans(void **state)
{
    (void)state;
    enum { PARTS = 20 };
    tsr_plan_cache *plans = NULL;
    tsr_blob *whole = NULL, *parts[PARTS], *window = NULL;
    const tsr_desc all = parsed_desc("f32:abc 20x30x40"), part = parsed_desc("f32:acb 1x30x40");
    assert_int_equal(tsr_plan_cache_create(&plans, 4, NULL, NULL), TSR_OK);
    const tsr_blob_options options = {.plans = plans, .threads = 1};
    assert_int_equal(tsr_blob_create(&whole, &all, &options, NULL), TSR_OK);
    for (int i = 0; i < PARTS; i++)
        assert_int_equal(tsr_blob_create(&parts[i], &part, &options, NULL), TSR_OK);
    assert_int_equal(tsr_blob_split(parts, PARTS, whole, 0, NULL), TSR_OK);
    assert_int_equal(tsr_plan_cache_get_stats(plans).misses, 1);
    assert_int_equal(tsr_blob_merge(whole, parts, PARTS, 0, NULL), TSR_OK);
    assert_int_equal(tsr_plan_cache_get_stats(plans).misses, 2);
    for (int i = 0; i < PARTS; i++) {
        window = crop_of(whole, (int64_t[]){i, 0, 0}, (int64_t[]){1, 30, 40});
        assert_int_equal(tsr_blob_copy(parts[0], window, NULL), TSR_OK);
        assert_int_equal(tsr_blob_copy(window, parts[0], NULL), TSR_OK);
        tsr_blob_free(&window);
    }
    assert_int_equal(tsr_plan_cache_get_stats(plans).misses, 2);
    for (int i = 0; i < PARTS; i++)
        tsr_blob_free(&parts[i]);
    tsr_blob_free(&whole);
    tsr_plan_cache_free(&plans);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merges),
        cmocka_unit_test(test_splits),
        cmocka_unit_test(test_parts_in_one_memory),
        cmocka_unit_test(test_part_in_the_whole),
        cmocka_unit_test(test_who_moves_them),
        cmocka_unit_test(test_plans),
        at_place(test_merges),
        at_place(test_splits),
    };
    return choose_place(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
