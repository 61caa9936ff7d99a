/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "refuse.h"
#include "workload.h"

enum { ROUNDS = 21, MAX_ROUNDS = 201 };
static const double min_sample_us = 40, min_total_us = 200e3;

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static tsr_status plan_init(void **context, const reorder_case *wanted, tsr_error *error)
{
    tsr_plan *plan = NULL;
    tsr_status status = tsr_plan_create(&plan, wanted->src, wanted->dst, wanted->options, error);
    *context = plan;
    return status;
}

static tsr_status onednn_init(void **context, const reorder_case *wanted, tsr_error *error)
{
    tsr_reorder_options options = *wanted->options;
    options.row = "onednn";
    options.untested = true;
    return plan_init(context, &(reorder_case){wanted->src, wanted->dst, &options}, error);
}

static tsr_status plan_run(void *context, const void *src, void *dst, tsr_error *error)
{
    return tsr_plan_run(context, src, dst, error);
}

static void plan_free(void *context)
{
    tsr_plan *plan = context;
    tsr_plan_free(&plan);
}

struct copy {
    const char *src;
    char *dst;
    int64_t bytes;
    int threads;
};

static int64_t bytes_moved(const reorder_case *wanted)
{
    return (tsr_desc_elements(wanted->src) * tsr_dtype_bits(wanted->src->dtype) +
            tsr_desc_padded_elements(wanted->dst) * tsr_dtype_bits(wanted->dst->dtype)) /
           8;
}

static tsr_status copy_init(void **context, const reorder_case *wanted, tsr_error *error)
{
    struct copy *copy = calloc(1, sizeof *copy);
    *context = copy;
    if (!copy)
        return refuse(error, TSR_OUT_OF_MEMORY, "no memory for memcpy");
    copy->bytes = bytes_moved(wanted) / 2;
    copy->threads = wanted->options->threads;
    return TSR_OK;
}

static void copy_range(void *argument, int64_t begin, int64_t end)
{
    const struct copy *copy = argument;
    if (begin < end)
        memcpy(copy->dst + begin, copy->src + begin, (size_t)(end - begin));
}

static tsr_status copy_run(void *context, const void *src, void *dst, tsr_error *error)
{
    struct copy *copy = context;
    (void)error;
    copy->src = src;
    copy->dst = dst;
    tsr_parallel_for(NULL, copy->threads, copy->bytes, 1 << 17, copy_range, copy);
    return TSR_OK;
}

static const peer ourselves = {"tessera", plan_init, plan_run, plan_free};
static const peer memory = {"memcpy", copy_init, copy_run, free};
const peer onednn_peer = {"onednn", onednn_init, plan_run, plan_free};
const peer *const onednn_alone[] = {&onednn_peer, NULL};

/* One of those that take turns. A sample is `repeat` runs, after one that brings back to the caches what the
 * others drove out. */
struct contestant {
    const peer *who;
    void *context; /* of who; NULL: it does not take part */
    tsr_storage *storage;
    const void *src;
    void *dst;
    int64_t repeat;
    int every; /* how many rounds it takes part once in */
    int count; /* of its samples */
    double samples[MAX_ROUNDS];
};

static tsr_status sample(struct contestant *contestant, tsr_error *error)
{
    tsr_status status = contestant->who->run(contestant->context, contestant->src, contestant->dst, error);
    double begin = now_us();
    for (int64_t i = 0; status == TSR_OK && i < contestant->repeat; i++)
        status = contestant->who->run(contestant->context, contestant->src, contestant->dst, error);
    contestant->samples[contestant->count++] = (now_us() - begin) / (double)contestant->repeat;
    return status;
}

/* Which is kept as the only one. */
static tsr_status first_sample(struct contestant *contestant, tsr_error *error)
{
    contestant->count = 0;
    return sample(contestant, error);
}

/* Touches all memory, then repeats so often that the clock's own step does not matter. */
static tsr_status warm_up(struct contestant *contestant, tsr_error *error)
{
    tsr_status status = TSR_OK;
    contestant->repeat = 1;
    for (int i = 0; status == TSR_OK && i < 2; i++)
        status = first_sample(contestant, error);
    while (status == TSR_OK && contestant->samples[0] * (double)contestant->repeat < min_sample_us) {
        contestant->repeat *= 2;
        status = first_sample(contestant, error);
    }
    return status;
}

/* One that is far behind the first need not be timed as closely; it would take most of the time. */
static void set_pace(struct contestant *contestant, double first_us)
{
    enum { SELDOM = 7 };
    static const double far_behind = 20;
    contestant->every = contestant->samples[0] > far_behind * first_us ? SELDOM : 1;
    contestant->count = 0;
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

/*
 * Rounds until there are enough samples and enough time has passed; writes the medians. Each round begins with
 * another one, so that what disturbs us regularly disturbs them all.
 */
static tsr_status compete(struct contestant *contestants, int n, double *medians, tsr_error *error)
{
    tsr_status status = TSR_OK;
    int rounds = 0;
    for (int i = 0; status == TSR_OK && i < n; i++)
        if (contestants[i].context)
            status = warm_up(&contestants[i], error);
    const double first_us = contestants[0].samples[0];
    for (int i = 0; i < n; i++)
        set_pace(&contestants[i], first_us);
    double begin = now_us();
    for (; status == TSR_OK && rounds < MAX_ROUNDS && (rounds < ROUNDS || now_us() - begin < min_total_us); rounds++)
        for (int i = 0; status == TSR_OK && i < n; i++) {
            struct contestant *next = &contestants[(i + rounds) % n];
            if (next->context && rounds % next->every == 0)
                status = sample(next, error);
        }
    for (int i = 0; status == TSR_OK && i < n; i++)
        medians[i] = contestants[i].context ? median(contestants[i].samples, contestants[i].count) : 0;
    return status;
}

/* Everything that a measurement needs and has to give back. */
struct arena {
    tsr_storage *src, *from; /* of the reorders and of memcpy */
    struct contestant contestants[2 + MAX_PEERS];
    int n;
};

static void arena_reset(struct arena *arena)
{
    for (int i = 0; i < arena->n; i++) {
        struct contestant *contestant = &arena->contestants[i];
        contestant->who->free(contestant->context);
        tsr_storage_release(&contestant->storage);
    }
    tsr_storage_release(&arena->src);
    tsr_storage_release(&arena->from);
}

static tsr_status buffer(tsr_storage **storage, int64_t bytes, void **data, tsr_error *error)
{
    tsr_status status = tsr_storage_create(storage, (size_t)bytes, NULL, error);
    return status == TSR_OK ? tsr_storage_data(*storage, data, error) : status;
}

/* The caller's source, or a buffer that stands for it. */
static tsr_status find_source(struct arena *arena, const reorder_case *wanted, const void **src, tsr_error *error)
{
    int64_t bytes = tsr_desc_size_bytes(wanted->src);
    void *own = NULL;
    if (*src)
        return TSR_OK;
    tsr_status status = buffer(&arena->src, bytes + PEER_OVERREAD, &own, error);
    if (status == TSR_OK && bytes > 0)
        fill_ordinary(own, (size_t)bytes, wanted->src->dtype);
    *src = own;
    return status;
}

/* The next one in the row, with a destination of its own. */
static tsr_status enter(struct arena *arena, const peer *who, const reorder_case *wanted, const void *src,
                        int64_t dst_bytes, tsr_error *error)
{
    struct contestant *contestant = &arena->contestants[arena->n++];
    contestant->who = who;
    contestant->src = src;
    tsr_status status = who->init(&contestant->context, wanted, error);
    return status == TSR_OK ? buffer(&contestant->storage, dst_bytes, &contestant->dst, error) : status;
}

/* In place, our destination begins as the source, and every run takes what the one before has left. */
static tsr_status enter_plan(struct arena *arena, const reorder_case *wanted, const void *src, tsr_error *error)
{
    int64_t src_bytes = tsr_desc_size_bytes(wanted->src), dst_bytes = tsr_desc_size_bytes(wanted->dst);
    struct contestant *ours = &arena->contestants[arena->n];
    if (!wanted->options->in_place)
        return enter(arena, &ourselves, wanted, src, dst_bytes, error);
    tsr_status status = enter(arena, &ourselves, wanted, src, src_bytes > dst_bytes ? src_bytes : dst_bytes, error);
    if (status == TSR_OK) {
        memcpy(ours->dst, src, (size_t)src_bytes);
        ours->src = ours->dst;
    }
    return status;
}

static tsr_status enter_memory(struct arena *arena, const reorder_case *wanted, tsr_error *error)
{
    int64_t copied = bytes_moved(wanted) / 2;
    void *from = NULL;
    tsr_status status =
        arena->from ? tsr_storage_data(arena->from, &from, error) : buffer(&arena->from, copied, &from, error);
    return status == TSR_OK ? enter(arena, &memory, wanted, from, copied, error) : status;
}

/* Ours first, memcpy second, then the peers; those that do not have the case keep their place. */
static tsr_status enter_all(struct arena *arena, const reorder_case *wanted, const void *src, const peer *const *peers,
                            tsr_error *error)
{
    tsr_status status = enter_plan(arena, wanted, src, error);
    if (status == TSR_OK)
        status = enter_memory(arena, wanted, error);
    for (int i = 0; status == TSR_OK && i < MAX_PEERS && peers[i]; i++) {
        status = enter(arena, peers[i], wanted, src, tsr_desc_size_bytes(wanted->dst), error);
        if (status == TSR_UNSUPPORTED)
            status = TSR_OK;
    }
    return status;
}

tsr_status measure(measurement *result, const reorder_case *wanted, const void *src, const peer *const *peers,
                   tsr_error *error)
{
    struct arena arena = {0};
    double medians[2 + MAX_PEERS] = {0};
    *result = (measurement){.threads = wanted->options->threads, .bytes = bytes_moved(wanted), .peers = peers};
    tsr_status status = find_source(&arena, wanted, &src, error);
    if (status == TSR_OK)
        status = enter_all(&arena, wanted, src, peers, error);
    if (status == TSR_OK)
        status = compete(arena.contestants, arena.n, medians, error);
    if (status == TSR_OK) {
        tsr_plan_info info = tsr_plan_get_info(arena.contestants[0].context);
        snprintf(result->row, sizeof result->row, "%s", info.row);
        snprintf(result->kernel, sizeof result->kernel, "%s", info.kernel);
        result->tuned = info.tuned;
        result->median_us = medians[0];
        result->memcpy_us = medians[1];
        memcpy(result->peer_us, medians + 2, sizeof result->peer_us);
    }
    arena_reset(&arena);
    return status;
}

tsr_status measure_two(double *median_us, double *other_us, double *memcpy_us, const reorder_case *wanted,
                       const tsr_reorder_options *other, tsr_error *error)
{
    struct arena arena = {0};
    double medians[3] = {0};
    const void *src = NULL;
    tsr_status status = find_source(&arena, wanted, &src, error);
    if (status == TSR_OK)
        status = enter_plan(&arena, wanted, src, error);
    if (status == TSR_OK)
        status = enter_memory(&arena, wanted, error);
    if (status == TSR_OK)
        status = enter_plan(&arena, &(reorder_case){wanted->src, wanted->dst, other}, src, error);
    if (status == TSR_OK)
        status = compete(arena.contestants, arena.n, medians, error);
    *median_us = medians[0];
    *memcpy_us = medians[1];
    *other_us = medians[2];
    arena_reset(&arena);
    return status;
}

/* The case on one thread as well, with the same memory: more would drive what both have out of the caches. */
static tsr_status enter_twice(struct arena *arena, const reorder_case *wanted, const void *src, bool is_plan,
                              tsr_error *error)
{
    tsr_reorder_options single = *wanted->options;
    const reorder_case cases[] = {*wanted, {wanted->src, wanted->dst, &single}};
    struct contestant *pair = &arena->contestants[arena->n];
    tsr_status status = TSR_OK;
    single.threads = 1;
    for (int i = 0; status == TSR_OK && i < 2; i++)
        status = is_plan ? enter_plan(arena, &cases[i], src, error) : enter_memory(arena, &cases[i], error);
    if (status != TSR_OK)
        return status;
    tsr_storage_release(&pair[1].storage);
    pair[1].src = pair[0].src;
    pair[1].dst = pair[0].dst;
    return TSR_OK;
}

tsr_status measure_gains(measurement *result, const reorder_case *wanted, tsr_error *error)
{
    struct arena arena = {0};
    double of_plan[2] = {0}, of_memory[2] = {0};
    const void *src = NULL;
    tsr_status status = find_source(&arena, wanted, &src, error);
    if (status == TSR_OK)
        status = enter_twice(&arena, wanted, src, true, error);
    if (status == TSR_OK)
        status = enter_twice(&arena, wanted, src, false, error);
    if (status == TSR_OK)
        status = compete(&arena.contestants[0], 2, of_plan, error);
    if (status == TSR_OK)
        status = compete(&arena.contestants[2], 2, of_memory, error);
    if (status == TSR_OK) {
        result->gain = of_plan[1] / of_plan[0];
        result->memcpy_gain = of_memory[1] / of_memory[0];
    }
    arena_reset(&arena);
    return status;
}

double measurement_ratio(const measurement *result)
{
    return result->memcpy_us > 0 ? result->median_us / result->memcpy_us : 0;
}

json_t *measurement_json(const measurement *result)
{
    json_t *object =
        json_pack("{s:s, s:i, s:I, s:f, s:f, s:f, s:s, s:s, s:b}", "cpu", tsr_cpu_rung_name(tsr_cpu_flags()), "threads",
                  result->threads, "bytes", (json_int_t)result->bytes, "median_us", result->median_us, "memcpy_us",
                  result->memcpy_us, "ratio", measurement_ratio(result), "row", result->row, "kernel", result->kernel,
                  "tuned", result->tuned);
    if (result->gain > 0)
        json_object_update_new(object,
                               json_pack("{s:f, s:f}", "gain", result->gain, "memcpy_gain", result->memcpy_gain));
    for (int i = 0; i < MAX_PEERS && result->peers[i]; i++) {
        char key[32];
        snprintf(key, sizeof key, "%s_us", result->peers[i]->name);
        if (result->peer_us[i] > 0)
            json_object_set_new(object, key, json_real(result->peer_us[i]));
    }
    return object;
}
