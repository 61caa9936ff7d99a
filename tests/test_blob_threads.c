/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight threads do with a few blobs all that can be done. A call may be refused, as others are at work; but nothing
 * else goes wrong, and whoever reads finds what somebody wrote as a whole: every write fills whole rows, each with
 * one number that no other write has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include <tessera/blob.h>
#include <tessera/text.h>
#include <tessera/view.h>

#include "parsed.h"
#include "place.h"
#include "random.h"

/* Wholes have ROWS rows and at times 2 * ROWS, parts half as many, and all have COLUMNS columns. */
enum { THREADS = 8, WHOLES = 3, PARTS = 3, BLOBS = WHOLES + PARTS, ROWS = 4, COLUMNS = 12 };

static struct {
    pthread_mutex_t lock; /* of the following */
    tsr_blob *blobs[BLOBS];
} slots = {.lock = PTHREAD_MUTEX_INITIALIZER};

static tsr_device *device;
static atomic_int last_number;

struct worker {
    pthread_t thread;
    tsr_random random;
    int calls, done;
    const char *wrong; /* NULL: nothing */
};

static int draw(struct worker *worker, int lo, int hi)
{
    return (int)tsr_random_range(&worker->random, lo, hi);
}

/* ---- blobs that come and go ---- */

static tsr_desc layout_of(struct worker *worker, int64_t rows, int kinds)
{
    static const char *const tags[] = {"ab", "aB8b", "ba",
                                       "Ba4b"}; /* of the first two, a row stays one when rows are added */
    tsr_desc desc = {0};
    const int64_t dims[] = {rows, COLUMNS};
    if (tsr_desc_from_layout(&desc, TSR_F32, 2, dims, tags[draw(worker, 0, kinds - 1)], NULL) != TSR_OK)
        worker->wrong = "no layout";
    return desc;
}

static tsr_desc any_home(struct worker *worker, int64_t rows)
{
    return layout_of(worker, rows, 2);
}

static tsr_desc any_layout(struct worker *worker, int64_t rows)
{
    return layout_of(worker, rows, 4);
}

/* A reference to what is in a slot now. */
static tsr_blob *take(int slot)
{
    pthread_mutex_lock(&slots.lock);
    tsr_blob *blob = tsr_blob_share(slots.blobs[slot]);
    pthread_mutex_unlock(&slots.lock);
    return blob;
}

static void replace(struct worker *worker, int slot)
{
    tsr_blob *made = NULL;
    const tsr_desc home = any_home(worker, slot < WHOLES ? ROWS : ROWS / 2);
    const tsr_blob_options options = {.device = draw(worker, 0, 2) ? NULL : device,
                                      .keep_bytes = draw(worker, 0, 1) * 400};
    if (tsr_blob_create(&made, &home, &options, NULL) != TSR_OK)
        worker->wrong = "no blob";
    pthread_mutex_lock(&slots.lock);
    tsr_blob *old = slots.blobs[slot];
    slots.blobs[slot] = made;
    pthread_mutex_unlock(&slots.lock);
    tsr_blob_free(&old);
}

static int64_t rows_of(tsr_blob *blob)
{
    tsr_desc desc;
    tsr_blob_get_desc(blob, &desc);
    return desc.dims[0];
}

/* Was it done? If not, somebody was at work, or has given a blob another shape since it was asked for that. */
static bool is_done(struct worker *worker, tsr_status status, const char *what)
{
    if (status != TSR_OK && status != TSR_BUSY && status != TSR_INVALID_ARGUMENT && status != TSR_OUT_OF_RANGE)
        worker->wrong = what;
    worker->calls++;
    worker->done += status == TSR_OK;
    return status == TSR_OK;
}

/* ---- accesses ---- */

static float *element(float *data, const tsr_desc *desc, int64_t row, int64_t column)
{
    int64_t at = 0;
    if (tsr_desc_offset(desc, 2, (int64_t[]){row, column}, &at, NULL) != TSR_OK)
        abort();
    return data + at;
}

static bool is_whole(float *data, const tsr_desc *desc, int64_t row)
{
    const float number = *element(data, desc, row, 0);
    bool is_same = number >= 0 && number <= (float)atomic_load(&last_number);
    for (int64_t column = 1; column < COLUMNS; column++)
        is_same = is_same && *element(data, desc, row, column) == number;
    return is_same;
}

static bool has_zero_padding(const float *data, const tsr_desc *desc)
{
    int64_t others = 0;
    for (int64_t at = 0; at < tsr_desc_size_bytes(desc) / (int64_t)sizeof *data; at++) {
        tsr_cell cell;
        int64_t index[2];
        others += tsr_desc_index(desc, at, &cell, index, NULL) == TSR_OK && cell != TSR_CELL_ELEMENT && data[at] != 0;
    }
    return others == 0;
}

/* Reads whatever is there to be read, and writes what is to be written, and its padding. */
static void use(struct worker *worker, tsr_access *access, bool is_view)
{
    tsr_desc desc;
    void *data = NULL;
    tsr_access_get_desc(access, &desc);
    if (tsr_access_map(access, &data, NULL) != TSR_OK) {
        worker->wrong = "no map";
        return;
    }
    for (int64_t row = 0; row < desc.dims[0] && access->intent != TSR_WRITE; row++)
        if (!is_whole(data, &desc, row))
            worker->wrong = "a row of several writers";
    if (!is_view && access->intent != TSR_WRITE && !has_zero_padding(data, &desc))
        worker->wrong = "padding that is not zero";
    if (!is_view && access->intent == TSR_WRITE)
        for (int64_t at = 0; at < tsr_desc_size_bytes(&desc) / (int64_t)sizeof(float); at++)
            ((float *)data)[at] = -1;
    const float number = access->intent == TSR_READ ? 0 : (float)(atomic_fetch_add(&last_number, 1) + 1);
    for (int64_t row = 0; row < desc.dims[0]; row++)
        if (access->intent == TSR_WRITE || (access->intent == TSR_READ_WRITE && draw(worker, 0, 1)))
            for (int64_t column = 0; column < COLUMNS; column++)
                *element(data, &desc, row, column) = number;
}

static void access_blob(struct worker *worker, tsr_blob *blob, bool is_view)
{
    const tsr_intent intent = (tsr_intent)draw(worker, TSR_READ, TSR_READ_WRITE);
    const tsr_desc layout = any_layout(worker, rows_of(blob));
    tsr_device *there = draw(worker, 0, 2) ? NULL : device;
    tsr_access access;
    tsr_status status = tsr_blob_acquire(blob, there, draw(worker, 0, 2) ? &layout : NULL, intent, &access, NULL);
    if (!is_done(worker, status, "an access failed"))
        return;
    use(worker, &access, is_view);
    if (tsr_blob_release(&access, NULL) != TSR_OK)
        worker->wrong = "a release failed";
}

/* ---- steps ---- */

static void step_access(struct worker *worker)
{
    tsr_blob *blob = take(draw(worker, 0, BLOBS - 1));
    access_blob(worker, blob, false);
    tsr_blob_free(&blob);
}

/* A window of rows, which slides. */
static void step_view(struct worker *worker)
{
    tsr_blob *blob = take(draw(worker, 0, BLOBS - 1)), *view = NULL;
    tsr_desc home, part;
    tsr_blob_get_desc(blob, &home);
    const int64_t last = home.dims[0] - 1, rows[] = {draw(worker, 1, (int)last), COLUMNS};
    tsr_status status =
        tsr_view_crop(&part, &home, (int64_t[]){draw(worker, 0, (int)(last + 1 - rows[0])), 0}, rows, NULL, NULL);
    if (status == TSR_OK)
        status = tsr_blob_create_view(&view, blob, &part, NULL);
    if (is_done(worker, status, "a view failed")) {
        access_blob(worker, view, true);
        is_done(worker, tsr_blob_move_view(view, 0, NULL), "a move failed");
        access_blob(worker, view, true);
    }
    tsr_blob_free(&blob);
    tsr_blob_free(&view);
}

static void step_copy(struct worker *worker)
{
    tsr_blob *dst = take(draw(worker, 0, WHOLES - 1)), *src = take(draw(worker, 0, WHOLES - 1));
    is_done(worker, tsr_blob_copy(dst, src, NULL), "a copy failed");
    tsr_blob_free(&dst);
    tsr_blob_free(&src);
}

static void step_merge_or_split(struct worker *worker)
{
    const int first = draw(worker, 0, PARTS - 1), second = (first + 1) % PARTS;
    tsr_blob *whole = take(draw(worker, 0, WHOLES - 1)), *parts[] = {take(WHOLES + first), take(WHOLES + second)};
    if (draw(worker, 0, 1))
        is_done(worker, tsr_blob_merge(whole, parts, 2, 0, NULL), "a merge failed");
    else
        is_done(worker, tsr_blob_split(parts, 2, whole, 0, NULL), "a split failed");
    tsr_blob_free(&whole);
    tsr_blob_free(&parts[0]);
    tsr_blob_free(&parts[1]);
}

/* The home keeps its layout, so that its rows stay rows. */
static void step_reshape(struct worker *worker)
{
    tsr_blob *blob = take(draw(worker, 0, WHOLES - 1));
    tsr_desc home, grown;
    tsr_blob_get_desc(blob, &home);
    const int64_t dims[] = {home.dims[0] == ROWS ? 2 * ROWS : ROWS, COLUMNS};
    const char *tag = home.levels == 2 ? "ab" : "aB8b";
    tsr_status status = tsr_desc_from_layout(&grown, TSR_F32, 2, dims, tag, NULL);
    if (status == TSR_OK)
        status = tsr_blob_reshape(blob, &grown, NULL, NULL);
    is_done(worker, status, "a reshape failed");
    tsr_blob_free(&blob);
}

static void step_drop(struct worker *worker)
{
    tsr_blob *blob = take(draw(worker, 0, BLOBS - 1));
    const tsr_desc layout = any_layout(worker, rows_of(blob));
    is_done(worker, tsr_blob_drop(blob, draw(worker, 0, 1) ? NULL : device, &layout, NULL), "a drop failed");
    tsr_blob_free(&blob);
}

static void step_replace(struct worker *worker)
{
    replace(worker, draw(worker, 0, BLOBS - 1));
}

static void *work(void *argument)
{
    static void (*const steps[])(struct worker *) = {step_access, step_access, step_access,         step_view,
                                                     step_view,   step_copy,   step_merge_or_split, step_reshape,
                                                     step_drop,   step_replace};
    struct worker *worker = argument;
    for (int i = 0; i < tsr_random_cases(1000) && !worker->wrong; i++)
        steps[draw(worker, 0, sizeof steps / sizeof *steps - 1)](worker);
    return NULL;
}

static void test_all_at_once(void **state)
{
    (void)state;
    struct worker workers[THREADS] = {0};
    tsr_random random;
    tsr_random_seed_from_environment(&random);
    device = find_place();
    for (int i = 0; i < THREADS; i++)
        workers[i].random.state = tsr_random_next(&random);
    for (int i = 0; i < BLOBS; i++)
        replace(&workers[0], i);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        if (workers[i].wrong)
            fail_msg("%s", workers[i].wrong);
        assert_in_range(workers[i].done, workers[i].calls / 4, workers[i].calls);
    }
    for (int i = 0; i < BLOBS; i++)
        tsr_blob_free(&slots.blobs[i]);
    leave_place(&device);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_at_once)};
    return has_place(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
