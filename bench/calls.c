/* SPDX-License-Identifier: Apache-2.0 */
/* Nanoseconds that small calls take: medians over rounds, each of many calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/tessera.h>

#include "clock.h"

enum { ROUNDS = 101, CALLS = 2000 };

static tsr_desc subject; /* f32:nChw16c 8x64x56x56 */
static volatile int64_t sink;

static void create_by_levels(int call)
{
    const int64_t dims[] = {8, 64 + call % 2, 56, 56};
    const int64_t block_dims[] = {8, 5, 56, 56, 16};
    static const int order[] = {0, 1, 2, 3, 1};
    tsr_blocking blocking = {.levels = 5, .block_dims = block_dims, .order = order};
    tsr_desc desc;
    if (tsr_desc_blocked(&desc, TSR_F32, 4, dims, &blocking, NULL) == TSR_OK)
        sink += desc.strides[0];
}

static void create_by_tag(int call)
{
    const int64_t dims[] = {8, 64 + call % 2, 56, 56};
    tsr_desc desc;
    if (tsr_desc_from_layout(&desc, TSR_F32, 4, dims, "nChw16c", NULL) == TSR_OK)
        sink += desc.strides[0];
}

static void ask_oracle(int call)
{
    const int64_t index[] = {call % 8, call % 64, call % 56, call % 55};
    int64_t offset;
    if (tsr_desc_offset(&subject, 4, index, &offset, NULL) == TSR_OK)
        sink += offset;
}

static void ask_inverse(int call)
{
    int64_t index[4];
    tsr_cell cell;
    if (tsr_desc_index(&subject, call * 17, &cell, index, NULL) == TSR_OK)
        sink += index[1];
}

static void compare(int call)
{
    tsr_desc other = subject;
    other.dims[0] -= call % 2;
    sink += tsr_desc_equal(&subject, &other);
}

static void crop(int call)
{
    const int64_t begin[] = {0, call % 5, 0, 0}, size[] = {8, 50, 56, 56};
    tsr_desc view;
    if (tsr_view_crop(&view, &subject, begin, size, NULL, NULL) == TSR_OK)
        sink += view.offset;
}

static void hash(int call)
{
    (void)call;
    sink += (int64_t)(tsr_desc_hash(&subject) & 1);
}

/* ---- blobs: f32 1x3x4x4, in nchw at home, which with one image is chwn, too; and in nChw8c ---- */

static tsr_desc planar, equal, blocked;
static tsr_blob *blob, *window; /* of all rows of pixels but the first */
static tsr_plan *plan;
static tsr_access held[CALLS]; /* readers may be many */

static void acquire_once_more(int call)
{
    sink += tsr_blob_acquire(blob, NULL, &blocked, TSR_READ, &held[call], NULL) == TSR_OK;
}

static void acquire_equal(int call)
{
    sink += tsr_blob_acquire(blob, NULL, &equal, TSR_READ, &held[call], NULL) == TSR_OK;
}

static void acquire_window(int call)
{
    sink += tsr_blob_acquire(window, NULL, NULL, TSR_READ, &held[call], NULL) == TSR_OK;
}

static void release(int call)
{
    sink += tsr_blob_release(&held[call], NULL) == TSR_OK;
}

static void acquire(const tsr_desc *layout, tsr_intent intent)
{
    tsr_access access;
    if (tsr_blob_acquire(blob, NULL, layout, intent, &access, NULL) == TSR_OK &&
        tsr_blob_release(&access, NULL) == TSR_OK)
        sink++;
}

static void write_home(int call)
{
    (void)call;
    acquire(&planar, TSR_WRITE);
}

static void write_home_and_convert(int call)
{
    write_home(call);
    acquire(&blocked, TSR_READ);
}

static void convert(int call)
{
    static float from[3 * 4 * 4], to[8 * 4 * 4];
    from[0] = (float)call;
    if (tsr_plan_run(plan, from, to, NULL) == TSR_OK)
        sink += to[0] == from[0];
}

static bool prepare(void)
{
    const int64_t dims[] = {8, 64, 56, 56}, small_dims[] = {1, 3, 4, 4};
    const int64_t begin[] = {0, 0, 1, 0}, size[] = {1, 3, 3, 4};
    const tsr_reorder_options keep = {.padding = TSR_PADDING_KEEP}; /* as a blob knows that it is zero */
    tsr_desc place;
    return tsr_desc_from_layout(&subject, TSR_F32, 4, dims, "nChw16c", NULL) == TSR_OK &&
           tsr_desc_from_layout(&planar, TSR_F32, 4, small_dims, "nchw", NULL) == TSR_OK &&
           tsr_desc_from_layout(&equal, TSR_F32, 4, small_dims, "chwn", NULL) == TSR_OK &&
           tsr_desc_from_layout(&blocked, TSR_F32, 4, small_dims, "nChw8c", NULL) == TSR_OK &&
           tsr_blob_create(&blob, &planar, NULL, NULL) == TSR_OK &&
           tsr_view_crop(&place, &planar, begin, size, NULL, NULL) == TSR_OK &&
           tsr_blob_create_view(&window, blob, &place, NULL) == TSR_OK &&
           tsr_plan_create(&plan, &planar, &blocked, &keep, NULL) == TSR_OK;
}

/* ---- plans for tensors of a few elements: to create one, and to run it, kernel and all ---- */

static const char *const tiny[] = {"f32:a>f32:a 1",      "f32:nhwc>f32:nChw4c 1x8x2x2", "f32:ab>f32:ba 2x2",
                                   "f32:ab>f32:ba 8x8",  "u8:nchw>u8:nhwc 1x3x4x4",     "f32:a>f16:a 8",
                                   "u8:a>f32:a 16 scale"};

static tsr_plan *tiny_plan;
static const char *tiny_text;

static void run_tiny(int call)
{
    static float from[64], to[64];
    from[0] = (float)call;
    sink += tsr_plan_run(tiny_plan, from, to, NULL) == TSR_OK;
}

/* Whose one factor, if the problem has one, is a half. */
static bool plan_tiny(void)
{
    static const float half = 0.5F;
    tsr_reorder_options options = {.threads = 1};
    tsr_problem problem;
    if (tsr_problem_parse(&problem, tiny_text, NULL) != TSR_OK)
        return false;
    if (problem.scale_axis == TSR_ATTRIBUTE_TENSOR)
        options.scale = (tsr_factors){.values = &half, .count = 1};
    tsr_plan_free(&tiny_plan);
    return tsr_plan_create(&tiny_plan, &problem.src, &problem.dst, &options, NULL) == TSR_OK;
}

static void create_tiny(int call)
{
    (void)call;
    sink += plan_tiny();
}

/* ---- all ---- */

static void call_all(void (*function)(int call))
{
    for (int call = 0; call < CALLS && function; call++)
        function(call);
}

struct row {
    const char *what;
    void (*function)(int call);
    void (*before)(int call), (*after)(int call); /* each for all calls, and not timed; or NULL */
};

static double median_ns(const struct row *row)
{
    static double samples[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        call_all(row->before);
        double begin = now_ns();
        call_all(row->function);
        samples[round] = (now_ns() - begin) / (double)CALLS;
        call_all(row->after);
    }
    return median_of(samples, ROUNDS);
}

int main(void)
{
    static const struct row rows[] = {
        {"create f32:nChw16c from levels", create_by_levels, NULL, NULL},
        {"create f32:nChw16c from its tag", create_by_tag, NULL, NULL},
        {"offset of an index (the oracle)", ask_oracle, NULL, NULL},
        {"index at an offset (its inverse)", ask_inverse, NULL, NULL},
        {"crop channels inside a block", crop, NULL, NULL},
        {"equal", compare, NULL, NULL},
        {"hash", hash, NULL, NULL},
        {"acquire what is there", acquire_once_more, NULL, release},
        {"release it", release, acquire_once_more, NULL},
        {"acquire it by other fields", acquire_equal, NULL, release},
        {"release it", release, acquire_equal, NULL},
        {"acquire a window", acquire_window, NULL, release},
        {"release it", release, acquire_window, NULL},
        {"acquire and release to overwrite", write_home, NULL, NULL},
        {"the same, then acquire to convert", write_home_and_convert, NULL, NULL},
        {"that conversion by itself", convert, NULL, NULL},
    };
    if (!prepare())
        return EXIT_FAILURE;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        printf("%-34s %8.1f ns\n", rows[i].what, median_ns(&rows[i]));
    for (size_t i = 0; i < sizeof tiny / sizeof tiny[0]; i++) {
        tiny_text = tiny[i];
        if (!plan_tiny())
            return EXIT_FAILURE;
        printf("run %-30s %8.1f ns\n", tiny_text, median_ns(&(struct row){tiny_text, run_tiny, NULL, NULL}));
        printf("parse, plan %-22s %8.1f ns\n", tiny_text, median_ns(&(struct row){tiny_text, create_tiny, NULL, NULL}));
    }
    tsr_plan_free(&tiny_plan);
    tsr_plan_free(&plan);
    tsr_blob_free(&window);
    tsr_blob_free(&blob);
    return EXIT_SUCCESS;
}
