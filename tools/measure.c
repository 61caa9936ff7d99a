/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "workload.h"

enum { ROUNDS = 21, MAX_ROUNDS = 201 };
static const double min_sample_us = 40, min_total_us = 200e3;

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* One of the three that take turns. A sample is `repeat` runs. */
struct contestant {
    tsr_status (*run)(void *context, tsr_error *error);
    void *context;
    int64_t repeat;
    double samples[MAX_ROUNDS];
};

struct plan_run {
    const tsr_plan *plan;
    const void *src;
    void *dst;
};

static tsr_status run_plan(void *context, tsr_error *error)
{
    const struct plan_run *run = context;
    return tsr_plan_run(run->plan, run->src, run->dst, error);
}

struct memcpy_run {
    const char *src;
    char *dst;
    int64_t bytes;
    int threads;
};

static void copy_range(void *argument, int64_t begin, int64_t end)
{
    const struct memcpy_run *run = argument;
    if (begin < end)
        memcpy(run->dst + begin, run->src + begin, (size_t)(end - begin));
}

static tsr_status run_memcpy(void *context, tsr_error *error)
{
    struct memcpy_run *run = context;
    (void)error;
    tsr_parallel_for(NULL, run->threads, run->bytes, 1 << 17, copy_range, run);
    return TSR_OK;
}

static tsr_status sample(struct contestant *contestant, int round, tsr_error *error)
{
    tsr_status status = TSR_OK;
    double begin = now_us();
    for (int64_t i = 0; status == TSR_OK && i < contestant->repeat; i++)
        status = contestant->run(contestant->context, error);
    contestant->samples[round] = (now_us() - begin) / (double)contestant->repeat;
    return status;
}

/* Touches all memory, then repeats so often that the clock's own step does not matter. */
static tsr_status warm_up(struct contestant *contestant, tsr_error *error)
{
    tsr_status status = TSR_OK;
    contestant->repeat = 1;
    for (int i = 0; status == TSR_OK && i < 2; i++)
        status = sample(contestant, 0, error);
    while (status == TSR_OK && contestant->samples[0] * (double)contestant->repeat < min_sample_us) {
        contestant->repeat *= 2;
        status = sample(contestant, 0, error);
    }
    return status;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *samples, int n)
{
    qsort(samples, (size_t)n, sizeof *samples, compare);
    return n % 2 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
}

/* Rounds until there are enough samples and enough time has passed; writes the medians. */
static tsr_status compete(struct contestant *contestants, int n, double *medians, tsr_error *error)
{
    tsr_status status = TSR_OK;
    int rounds = 0;
    for (int i = 0; status == TSR_OK && i < n; i++)
        status = warm_up(&contestants[i], error);
    double begin = now_us();
    for (; status == TSR_OK && rounds < MAX_ROUNDS && (rounds < ROUNDS || now_us() - begin < min_total_us); rounds++)
        for (int i = 0; status == TSR_OK && i < n; i++)
            status = sample(&contestants[i], rounds, error);
    for (int i = 0; status == TSR_OK && i < n; i++)
        medians[i] = median(contestants[i].samples, rounds);
    return status;
}

/* Everything that a measurement needs and has to give back. */
struct arena {
    tsr_plan *plan, *onednn;
    tsr_storage *src, *dst, *peer_dst, *from, *to;
};

static void arena_reset(struct arena *arena)
{
    tsr_plan_free(&arena->plan);
    tsr_plan_free(&arena->onednn);
    tsr_storage_release(&arena->src);
    tsr_storage_release(&arena->dst);
    tsr_storage_release(&arena->peer_dst);
    tsr_storage_release(&arena->from);
    tsr_storage_release(&arena->to);
}

static tsr_status buffer(tsr_storage **storage, int64_t bytes, void **data, tsr_error *error)
{
    tsr_status status = tsr_storage_create(storage, (size_t)bytes, NULL, error);
    return status == TSR_OK ? tsr_storage_data(*storage, data, error) : status;
}

static tsr_status make_plans(struct arena *arena, const tsr_desc *src_desc, const tsr_desc *dst_desc,
                             const tsr_reorder_options *options, tsr_error *error)
{
    tsr_status status = tsr_plan_create(&arena->plan, src_desc, dst_desc, options, error);
    tsr_reorder_options peer = *options;
    peer.row = "onednn";
    peer.untested = true;
    if (status == TSR_OK && tsr_plan_create(&arena->onednn, src_desc, dst_desc, &peer, NULL) != TSR_OK)
        arena->onednn = NULL;
    return status;
}

static tsr_status measure_in(struct arena *arena, measurement *result, const tsr_desc *src_desc, const void *src,
                             const tsr_desc *dst_desc, const tsr_reorder_options *options, tsr_error *error)
{
    void *own_src = NULL, *dst = NULL, *peer_dst = NULL, *from = NULL, *to = NULL;
    int64_t src_bytes = tsr_desc_size_bytes(src_desc);
    result->bytes = tsr_desc_elements(src_desc) * (int64_t)tsr_dtype_size_bytes(src_desc->dtype) +
                    tsr_desc_padded_elements(dst_desc) * (int64_t)tsr_dtype_size_bytes(dst_desc->dtype);
    tsr_status status = make_plans(arena, src_desc, dst_desc, options, error);
    int64_t dst_bytes = tsr_desc_size_bytes(dst_desc);
    if (options->in_place)
        src_bytes = dst_bytes = src_bytes > dst_bytes ? src_bytes : dst_bytes;
    if (status == TSR_OK && !src) {
        status = buffer(&arena->src, src_bytes, &own_src, error);
        if (status == TSR_OK && src_bytes > 0)
            fill_ordinary(own_src, (size_t)src_bytes, src_desc->dtype);
    }
    if (options->in_place)
        dst = own_src;
    else if (status == TSR_OK)
        status = buffer(&arena->dst, dst_bytes, &dst, error);
    if (status == TSR_OK)
        status = buffer(&arena->peer_dst, dst_bytes, &peer_dst, error);
    if (status == TSR_OK)
        status = buffer(&arena->from, result->bytes / 2, &from, error);
    if (status == TSR_OK)
        status = buffer(&arena->to, result->bytes / 2, &to, error);
    if (status != TSR_OK)
        return status;

    struct plan_run ours = {arena->plan, src ? src : own_src, dst}, theirs = {arena->onednn, ours.src, peer_dst};
    struct memcpy_run copy = {from, to, result->bytes / 2, options->threads};
    struct contestant contestants[] = {{.run = run_plan, .context = &ours},
                                       {.run = run_memcpy, .context = &copy},
                                       {.run = run_plan, .context = &theirs}};
    double medians[3] = {0};
    status = compete(contestants, arena->onednn ? 3 : 2, medians, error);
    result->median_us = medians[0];
    result->memcpy_us = medians[1];
    result->onednn_us = medians[2];
    return status;
}

tsr_status measure(measurement *result, const tsr_desc *src_desc, const void *src, const tsr_desc *dst_desc,
                   const tsr_reorder_options *options, tsr_error *error)
{
    struct arena arena = {0};
    *result = (measurement){.threads = options->threads};
    tsr_status status = measure_in(&arena, result, src_desc, src, dst_desc, options, error);
    if (status == TSR_OK) {
        tsr_plan_info info = tsr_plan_get_info(arena.plan);
        snprintf(result->row, sizeof result->row, "%s", info.row);
        snprintf(result->kernel, sizeof result->kernel, "%s", info.kernel);
    }
    arena_reset(&arena);
    return status;
}

double measurement_ratio(const measurement *result)
{
    return result->memcpy_us > 0 ? result->median_us / result->memcpy_us : 0;
}
