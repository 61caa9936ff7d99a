/* SPDX-License-Identifier: Apache-2.0 */
#include <stdalign.h>
#include <stdatomic.h>

#include <tessera/memory.h>

#include "base/error.h"
#include "reorder/plan.h"

struct relay_job {
    const tsr_plan *plan;
    const char *src;
    char *dst;
    atomic_int status; /* of a slice that was refused */
};

/* With factors of the whole, from an entry on, if it is the stage that has any. */
static tsr_status run_stage(const tsr_plan *plan, const tsr_plan *stage, const void *src, void *dst, int64_t factor)
{
    if (factor == 0 || !stage->factors)
        return tsr_plan_run(stage, src, dst, NULL);
    tsr_plan_run_with_factors(stage, &plan->conversion.arithmetic, factor, src, dst);
    return TSR_OK;
}

/* Where a slice begins, and its stages. */
struct slice_place {
    const char *src;
    char *dst;
    int64_t factor;
    const tsr_stages *stages;
};

static struct slice_place find_slice(const struct relay_job *job, int64_t slice)
{
    const tsr_relay *relay = job->plan->relay;
    struct slice_place found = {.src = job->src, .dst = job->dst};
    int shape = 0;
    for (int i = relay->cut.loops - 1; i >= 0; i--) {
        const tsr_loop *loop = &relay->cut.loop[i];
        const int64_t k = slice % loop->n;
        for (int j = 0; j < relay->cut.ragged; j++)
            shape |= (relay->cut.ragged_loop[j] == i && k == loop->n - 1) << j;
        found.src += k * loop->src;
        found.dst += k * loop->dst;
        found.factor += k * loop->factor;
        slice /= loop->n;
    }
    found.stages = &relay->shape[shape];
    return found;
}

/* Goes all the way with a slice, and asks for what the next one reads where that helps. */
static tsr_status run_slice(const tsr_plan *plan, const struct slice_place *slice, const struct slice_place *next,
                            char *room)
{
    const tsr_stages *stages = slice->stages;
    const char *src = slice->src;
    tsr_status status = TSR_OK;
    for (int i = 0; status == TSR_OK && i < stages->count; i++) {
        const bool is_last = i + 1 == stages->count;
        char *to = is_last ? slice->dst : room + i * TSR_NEAR_BYTES;
        if (is_last && stages->streamed > 0)
            tsr_stream_and_fetch(&plan->kernels, to, src, stages->streamed, next->src, &next->stages->read);
        else
            status = run_stage(plan, stages->stage[i], src, to, slice->factor);
        src = to;
    }
    return status == TSR_OK && stages->zeroing ? tsr_plan_run(stages->zeroing, slice->dst, slice->dst, NULL) : status;
}

static void run_slices_in(char *room, struct relay_job *job, int64_t begin, int64_t end)
{
    static const tsr_stages none = {0};
    struct slice_place slice = find_slice(job, begin), next;
    for (int64_t i = begin; i < end; i++, slice = next) {
        next = i + 1 < end ? find_slice(job, i + 1) : (struct slice_place){.stages = &none};
        const tsr_status status = run_slice(job->plan, &slice, &next, room);
        if (status != TSR_OK)
            atomic_store(&job->status, (int)status);
    }
}

#define RUN_SLICES(name, bytes)                                                                                        \
    static void name(void *argument, int64_t begin, int64_t end)                                                       \
    {                                                                                                                  \
        alignas(TSR_ALIGNMENT) char room[bytes];                                                                       \
        run_slices_in(room, argument, begin, end);                                                                     \
    }

RUN_SLICES(run_large_slices, TSR_PIECE_BYTES)
RUN_SLICES(run_slices, TSR_FAR_BYTES)
RUN_SLICES(run_near_slices, TSR_NEAR_BYTES)

static tsr_range_task runner_of(const tsr_relay *relay)
{
    return relay->room == TSR_NEAR_BYTES  ? run_near_slices
           : relay->room == TSR_FAR_BYTES ? run_slices
                                          : run_large_slices;
}

tsr_status tsr_relay_run(const tsr_plan *plan, const void *src, void *dst, tsr_error *error)
{
    struct relay_job job = {plan, src, dst, TSR_OK};
    const tsr_relay *relay = plan->relay;
    tsr_parallel_for(&plan->executor, plan->row_threads, relay->cut.slices, 1, runner_of(relay), &job);
    const tsr_status status = (tsr_status)atomic_load(&job.status);
    return status == TSR_OK ? TSR_OK : tsr_fail(error, status, "a slice was refused: %s", tsr_status_name(status));
}
