/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/in_place.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/int.h"
#include "reorder/cost.h"
#include "reorder/select.h"

/* ---- batches ---- */

int64_t tsr_batch_at(const tsr_batch *batch, int64_t i)
{
    int64_t at = 0, kept = batch->kept;
    for (int k = batch->count - 1; k >= 0; k--) {
        int64_t n = batch->loop[k].n / kept;
        at += i % n * kept * batch->loop[k].dst;
        i /= n;
        kept = 1;
    }
    return at;
}

bool tsr_batch_add(tsr_batch *batch, const tsr_loop *loop)
{
    if (batch->count == TSR_BATCH_LOOPS)
        return false;
    batch->loop[batch->count++] = *loop;
    batch->n = tsr_max(batch->n, 1) * loop->n;
    batch->kept = 1;
    return true;
}

static bool is_same_loop(const tsr_loop *a, const tsr_loop *b)
{
    return a->n == b->n && a->src == b->src && a->dst == b->dst;
}

void tsr_batch_cut(const tsr_batch *batch, const tsr_nest *nest, tsr_nest *part)
{
    *part = *nest;
    for (int k = 0; k < batch->count; k++)
        for (int i = 0; i < nest->count; i++)
            if (is_same_loop(&batch->loop[k], &nest->loop[i]))
                part->loop[i].n = k == batch->count - 1 ? batch->kept : 1;
    tsr_nest_fuse(part);
}

/* ---- nests ---- */

static void add_loops(tsr_nest *nest, const tsr_loop *loops, int count)
{
    for (int i = 0; i < count; i++)
        nest->loop[nest->count++] = loops[i];
}

void tsr_nest_of_box(tsr_nest *nest, const tsr_box *box)
{
    nest->src = box->src;
    nest->dst = box->dst;
    nest->factor = box->factor;
    nest->count = 0;
    add_loops(nest, box->outer, box->outer_count);
    add_loops(nest, box->row.loop, box->row.count);
    add_loops(nest, box->column.loop, box->column.count);
    for (int i = 0; i < nest->count; i++)
        if (!tsr_loop_has_table(&nest->loop[i]) && nest->loop[i].dst < 0)
            tsr_nest_turn(nest, i);
    tsr_nest_fuse(nest);
}

bool tsr_in_place_nest(const tsr_plan *plan, tsr_nest *nest, char reason[TSR_REASON_SIZE])
{
    if (tsr_is_packed(&plan->conversion))
        return tsr_decline(reason, "elements of less than a byte are not moved one by one");
    if (plan->conversion.src_bytes != plan->conversion.dst_bytes)
        return tsr_decline(reason, "the types differ in width");
    if (plan->conversion.arithmetic.beta != 0)
        return tsr_decline(reason, "the old values are wanted when others are in their place");
    if (plan->lowering.has_tables || plan->element_boxes != 1)
        return tsr_decline(reason, "the elements are not one box of linear loops");
    tsr_nest_of_box(nest, &plan->boxes[0]);
    for (int i = 0; i < nest->count; i++)
        nest->loop[i].factor = 0; /* what they are for comes after */
    tsr_nest_fuse(nest);
    return true;
}

/* ---- converting what has been moved ---- */

tsr_status tsr_in_place_prepare_after(tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    const tsr_arithmetic *arithmetic = &plan->conversion.arithmetic;
    tsr_desc moved = plan->dst;
    moved.dtype = plan->src.dtype;
    if (plan->conversion.is_copy)
        return TSR_OK;
    tsr_reorder_options options = {
        .scale = tsr_plan_factors(plan, arithmetic->scale),
        .mean = tsr_plan_factors(plan, arithmetic->mean),
        .shift = tsr_plan_factors(plan, arithmetic->shift),
        .padding = TSR_PADDING_KEEP,
        .row = "elementwise",
        .in_place = true,
        .threads = plan->threads,
        .executor = plan->has_own_executor ? &plan->executor : NULL,
        .allocator = &plan->allocator,
    };
    tsr_status status = tsr_plan_create(&plan->way.after, &moved, &plan->dst, &options, NULL);
    if (status == TSR_UNSUPPORTED)
        tsr_decline(reason, "elements that have been moved cannot be converted where they are");
    return status;
}

tsr_status tsr_in_place_finish(const tsr_plan *plan, void *buffer, tsr_error *error)
{
    tsr_status status = plan->way.after ? tsr_plan_run(plan->way.after, buffer, buffer, error) : TSR_OK;
    tsr_plan_zero_padding(plan, buffer);
    return status;
}

/* ---- parts that are done each by itself ---- */

static int64_t aligned(int64_t bytes)
{
    return tsr_ceil_div(bytes, TSR_ALIGNMENT) * TSR_ALIGNMENT;
}

int tsr_in_place_tasks(const tsr_plan *plan, int64_t parts, int64_t scratch_bytes)
{
    int64_t tasks = tsr_min(tsr_plan_busy_threads(plan), parts);
    if (scratch_bytes > plan->scratch_bytes / 2)
        tasks = 1;
    else if (scratch_bytes > 0)
        tasks = tsr_min(tasks, plan->scratch_bytes / aligned(scratch_bytes));
    return (int)tsr_max(tasks, 1);
}

struct parts_job {
    const tsr_plan *plan;
    tsr_part part;
    char *buffer, *scratch;
};

static void run_tasks(void *argument, int64_t begin, int64_t end)
{
    const struct parts_job *job = argument;
    const tsr_way *way = &job->plan->way;
    const int64_t parts = tsr_max(way->batch.n, 1), bytes = job->plan->conversion.dst_bytes;
    for (int64_t task = begin; task < end; task++) {
        char *scratch = job->scratch ? job->scratch + task * aligned(way->scratch_bytes) : NULL;
        int64_t first = parts / way->tasks * task + tsr_min(parts % way->tasks, task);
        int64_t behind = first + parts / way->tasks + (task < parts % way->tasks);
        for (int64_t i = first; i < behind; i++)
            job->part(job->plan, job->buffer + tsr_batch_at(&way->batch, i) * bytes, scratch,
                      way->tasks > 1 ? 1 : job->plan->threads);
    }
}

tsr_status tsr_in_place_run_parts(const tsr_plan *plan, void *buffer, tsr_part part, tsr_error *error)
{
    const tsr_way *way = &plan->way;
    const int64_t bytes = (way->tasks - 1) * aligned(way->scratch_bytes) + way->scratch_bytes;
    struct parts_job job = {plan, part, buffer, tsr_allocate(&plan->allocator, (size_t)bytes)};
    if (bytes > 0 && !job.scratch)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for %" PRId64 " bytes of scratch memory", bytes);
    tsr_parallel_for(&plan->executor, way->tasks, way->tasks, 1, run_tasks, &job);
    tsr_deallocate(&plan->allocator, job.scratch, (size_t)bytes);
    return TSR_OK;
}

/* ---- elementwise ---- */

static bool stays(const tsr_loop *loop)
{
    const int64_t steps = tsr_loop_has_table(loop) ? loop->n : 2;
    bool all = true;
    for (int64_t i = 0; all && i < steps; i++)
        all = tsr_loop_src(loop, i) == tsr_loop_dst(loop, i);
    return all;
}

static bool box_stays(const tsr_box *box)
{
    bool all = box->src == box->dst;
    for (int i = 0; all && i < box->outer_count; i++)
        all = stays(&box->outer[i]);
    for (int i = 0; all && i < box->row.count; i++)
        all = stays(&box->row.loop[i]);
    for (int i = 0; all && i < box->column.count; i++)
        all = stays(&box->column.loop[i]);
    return all;
}

bool tsr_elementwise_applies(const tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    if (tsr_dtype_bits(plan->src.dtype) != tsr_dtype_bits(plan->dst.dtype))
        return tsr_decline(reason, "the types differ in width");
    for (int i = 0; i < plan->element_boxes; i++)
        if (!box_stays(&plan->boxes[i]))
            return tsr_decline(reason, "elements change their places");
    return true;
}

double tsr_elementwise_cost(const tsr_plan *plan)
{
    return plan->conversion.is_copy ? tsr_cost_of_padding(plan) : tsr_cost_of_boxes(plan);
}

tsr_status tsr_elementwise_run(const tsr_plan *plan, const void *src, void *dst, tsr_error *error)
{
    if (!plan->conversion.is_copy)
        tsr_plan_move_elements(plan, src, dst, plan->threads);
    return tsr_in_place_finish(plan, dst, error);
}
