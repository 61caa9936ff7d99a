/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What moves blobs beside the engine that moves them: the median time of a merge, split, transpose or copy over that
 * of the same plans run on the same memory, in turns of two, of which the second counts.
 */
#include <stdio.h>
#include <stdlib.h>

#include <tessera/tessera.h>

#include "clock.h"

enum { ROUNDS = 2001, PARTS = 4 };

/* One operation: between whole, and parts that are its channels, pixels of a window, or all of it in another order. */
struct subject {
    const char *what;
    tsr_status (*run)(struct subject *subject, tsr_error *error);
    bool goes_out; /* from whole to parts */
    int count;
    tsr_blob *whole, *window, *parts[PARTS];
    const tsr_plan *plans[PARTS]; /* of the engine, each with where it reads and writes */
    const void *from[PARTS];
    void *to[PARTS];
};

static tsr_status merge(struct subject *s, tsr_error *error)
{
    return tsr_blob_merge(s->whole, s->parts, s->count, 1, error);
}

static tsr_status split(struct subject *s, tsr_error *error)
{
    return tsr_blob_split(s->parts, s->count, s->whole, 1, error);
}

static tsr_status transpose(struct subject *s, tsr_error *error)
{
    return tsr_blob_transpose(s->parts[0], s->whole, 1, 3, error);
}

static tsr_status copy_out(struct subject *s, tsr_error *error)
{
    return tsr_blob_copy(s->parts[0], s->window, error);
}

static tsr_status copy_in(struct subject *s, tsr_error *error)
{
    return tsr_blob_copy(s->window, s->parts[0], error);
}

/* ---- subjects ---- */

static const int64_t dims[] = {8, 64, 56, 56};

static bool create(tsr_blob **blob, const int64_t *size, const char *layout)
{
    tsr_desc desc;
    return tsr_desc_from_layout(&desc, TSR_F32, 4, size, layout, NULL) == TSR_OK &&
           tsr_blob_create(blob, &desc, NULL, NULL) == TSR_OK && tsr_blob_fill(*blob, &(float){1}, NULL) == TSR_OK;
}

static void *memory_of(tsr_blob *blob)
{
    tsr_access access;
    if (tsr_blob_acquire(blob, NULL, NULL, TSR_READ, &access, NULL) != TSR_OK)
        return NULL;
    void *data = access.data; /* of home, which stays where it is */
    return tsr_blob_release(&access, NULL) == TSR_OK ? data : NULL;
}

/* What the engine does for part i, which lies in whole where `place` says. */
static bool prepare_plan(struct subject *s, int i, const tsr_desc *place)
{
    tsr_desc part;
    tsr_plan *plan = NULL;
    tsr_blob_get_desc(s->parts[i], &part);
    void *of_whole = memory_of(s->whole), *of_part = memory_of(s->parts[i]);
    s->from[i] = s->goes_out ? of_whole : of_part;
    s->to[i] = s->goes_out ? of_part : of_whole;
    const tsr_desc *src = s->goes_out ? place : &part, *dst = s->goes_out ? &part : place;
    const tsr_reorder_options options = {.padding = s->goes_out ? TSR_PADDING_ZERO : TSR_PADDING_KEEP};
    const bool done = tsr_plan_create(&plan, src, dst, &options, NULL) == TSR_OK;
    s->plans[i] = plan;
    return done && of_whole && of_part;
}

/* Parts of the channels, in turn in the layouts of a list. */
static bool prepare_parts(struct subject *s, const char *whole, const char *const *layouts)
{
    const int64_t size[] = {dims[0], dims[1] / PARTS, dims[2], dims[3]};
    tsr_desc desc, place;
    s->count = PARTS;
    bool done = create(&s->whole, dims, whole);
    for (int i = 0; i < PARTS && done; i++) {
        const int64_t begin[] = {0, i * size[1], 0, 0};
        tsr_blob_get_desc(s->whole, &desc);
        done = create(&s->parts[i], size, layouts[i % 2]) &&
               tsr_view_crop(&place, &desc, begin, size, NULL, NULL) == TSR_OK && prepare_plan(s, i, &place);
    }
    return done;
}

static bool prepare_transpose(struct subject *s)
{
    const int64_t turned[] = {dims[0], dims[3], dims[2], dims[1]};
    tsr_desc desc, place;
    s->count = 1;
    s->goes_out = true;
    if (!create(&s->whole, dims, "nchw") || !create(&s->parts[0], turned, "nchw"))
        return false;
    tsr_blob_get_desc(s->whole, &desc);
    return tsr_view_transpose(&place, &desc, 1, 3, NULL) == TSR_OK && prepare_plan(s, 0, &place);
}

/* The inner pixels of each image. */
static bool prepare_window(struct subject *s, const char *whole, const char *part)
{
    const int64_t begin[] = {0, 0, 4, 4}, size[] = {dims[0], dims[1], dims[2] - 8, dims[3] - 8};
    tsr_desc desc, place;
    s->count = 1;
    if (!create(&s->whole, dims, whole) || !create(&s->parts[0], size, part))
        return false;
    tsr_blob_get_desc(s->whole, &desc);
    return tsr_view_crop(&place, &desc, begin, size, NULL, NULL) == TSR_OK &&
           tsr_blob_create_view(&s->window, s->whole, &place, NULL) == TSR_OK && prepare_plan(s, 0, &place);
}

static void drop(struct subject *s)
{
    tsr_blob_free(&s->window);
    tsr_blob_free(&s->whole);
    for (int i = 0; i < s->count; i++) {
        tsr_plan *plan = (tsr_plan *)s->plans[i];
        tsr_plan_free(&plan);
        tsr_blob_free(&s->parts[i]);
    }
}

/* ---- time ---- */

static tsr_status run_engine(struct subject *s, tsr_error *error)
{
    tsr_status status = TSR_OK;
    for (int i = 0; i < s->count && status == TSR_OK; i++)
        status = tsr_plan_run(s->plans[i], s->from[i], s->to[i], error);
    return status;
}

static double time_of(tsr_status (*run)(struct subject *subject, tsr_error *error), struct subject *s)
{
    tsr_error error = {0};
    const double begin = now_ns();
    if (run(s, &error) != TSR_OK) {
        fprintf(stderr, "%s: %s\n", s->what, error.message);
        exit(EXIT_FAILURE);
    }
    return now_ns() - begin;
}

/* Behind one of its own kind: threads that share the work in another way find it in each other's caches. */
static double time_of_second(tsr_status (*run)(struct subject *subject, tsr_error *error), struct subject *s)
{
    time_of(run, s);
    return time_of(run, s);
}

static void compare(struct subject *s)
{
    static double blobs[ROUNDS], engine[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) { /* who goes first, too, takes turns */
        if (round % 2)
            blobs[round] = time_of_second(s->run, s);
        engine[round] = time_of_second(run_engine, s);
        if (round % 2 == 0)
            blobs[round] = time_of_second(s->run, s);
    }
    printf("%-48s %8.3f\n", s->what, median_of(blobs, ROUNDS) / median_of(engine, ROUNDS));
}

int main(void)
{
    static const char *const planar[] = {"nchw", "nchw"}, *const mixed[] = {"nhwc", "nChw8c"};
    struct subject subjects[] = {
        {.what = "merge four nchw into nchw", .run = merge},
        {.what = "merge nhwc and nChw8c into nChw16c", .run = merge},
        {.what = "split nchw into four nchw", .run = split, .goes_out = true},
        {.what = "split nChw16c into nhwc and nChw8c", .run = split, .goes_out = true},
        {.what = "transpose channels and width of nchw", .run = transpose},
        {.what = "window of nchw into nchw", .run = copy_out, .goes_out = true},
        {.what = "window of nChw16c into nhwc", .run = copy_out, .goes_out = true},
        {.what = "nhwc into a window of nChw16c", .run = copy_in},
    };
    const bool is_ready =
        prepare_parts(&subjects[0], "nchw", planar) && prepare_parts(&subjects[1], "nChw16c", mixed) &&
        prepare_parts(&subjects[2], "nchw", planar) && prepare_parts(&subjects[3], "nChw16c", mixed) &&
        prepare_transpose(&subjects[4]) && prepare_window(&subjects[5], "nchw", "nchw") &&
        prepare_window(&subjects[6], "nChw16c", "nhwc") && prepare_window(&subjects[7], "nChw16c", "nhwc");
    if (!is_ready)
        return EXIT_FAILURE;
    printf("%-48s %8s\n", "f32 8x64x56x56", "times");
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        compare(&subjects[i]);
        drop(&subjects[i]);
    }
    return EXIT_SUCCESS;
}
