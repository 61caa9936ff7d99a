/* SPDX-License-Identifier: Apache-2.0 */
/* Through scratch memory: the source, or a slice of it at a time, is copied there and reordered back. */
#include <inttypes.h>

#include "base/int.h"
#include "reorder/cost.h"
#include "reorder/in_place.h"
#include "reorder/plan.h"

/* ---- where a slice is ---- */

/* Makes a span reach over all that one side of a nest visits. */
static void stretch(tsr_span *span, const tsr_nest *nest, bool is_src, int64_t bytes)
{
    int64_t low = is_src ? nest->src : nest->dst, high = low;
    for (int i = 0; i < nest->count; i++) {
        int64_t reach = (nest->loop[i].n - 1) * (is_src ? nest->loop[i].src : nest->loop[i].dst);
        low += tsr_min(reach, 0);
        high += tsr_max(reach, 0);
    }
    span->first = tsr_min(span->first, low * bytes);
    span->end = tsr_max(span->end, (high + 1) * bytes);
}

/* The first slice, in the source and on both sides. */
static void find_spans(const tsr_plan *plan, const tsr_batch *batch, tsr_span *src, tsr_span *both)
{
    *src = (tsr_span){INT64_MAX, INT64_MIN};
    *both = *src;
    for (int i = 0; i < plan->element_boxes; i++) {
        tsr_nest nest, slice;
        tsr_nest_of_box(&nest, &plan->boxes[i]);
        tsr_batch_cut(batch, &nest, &slice);
        stretch(src, &slice, true, plan->conversion.src_bytes);
        stretch(both, &slice, true, plan->conversion.src_bytes);
        stretch(both, &slice, false, plan->conversion.dst_bytes);
    }
}

/* ---- what is cut into slices ---- */

static bool box_has(const tsr_box *box, const tsr_loop *wanted)
{
    tsr_nest nest;
    tsr_nest_of_box(&nest, box);
    for (int i = 0; i < nest.count; i++) {
        const tsr_loop *loop = &nest.loop[i];
        if (loop->n == wanted->n && loop->src == wanted->src && loop->dst == wanted->dst && loop->factor == 0)
            return true;
    }
    return false;
}

/* Do all boxes have this loop, and does it move by the same bytes on both sides? */
static bool is_shared(const tsr_plan *plan, const tsr_loop *loop)
{
    if (loop->src * plan->conversion.src_bytes != loop->dst * plan->conversion.dst_bytes)
        return false;
    for (int i = 0; i < plan->element_boxes; i++)
        if (!box_has(&plan->boxes[i], loop))
            return false;
    return true;
}

/* The most that a slice should have: with its scratch memory it stays in half of the second-level cache. */
static int64_t wanted_bytes(const tsr_plan *plan)
{
    return tsr_min(plan->scratch_bytes, tsr_topology_machine()->l2_bytes / 4);
}

/* Slices that are small are taken together, but not so that threads run out of them. */
static void join_slices(const tsr_plan *plan, tsr_batch *batch, int64_t bytes)
{
    const tsr_loop *innermost = &batch->loop[batch->count - 1];
    int64_t others = batch->n / innermost->n, stride = innermost->dst * plan->conversion.dst_bytes;
    int64_t fitting = 1 + (wanted_bytes(plan) - bytes) / stride, threads = plan->threads;
    batch->kept = tsr_divisor_below(innermost->n, tsr_min(fitting, others * innermost->n / threads));
    batch->n = others * (innermost->n / batch->kept);
}

/* Loops are tried from the outermost one inwards, until slices are small. */
static void find_batch(const tsr_plan *plan, tsr_batch *batch)
{
    tsr_nest nest;
    tsr_span src = plan->src_span, both;
    *batch = (tsr_batch){0};
    if (plan->lowering.has_tables || plan->element_boxes == 0)
        return;
    if (tsr_is_packed(&plan->conversion))
        return; /* slices need not begin with whole bytes */
    tsr_nest_of_box(&nest, &plan->boxes[0]);
    for (int i = 0; i < nest.count && src.end - src.first > wanted_bytes(plan); i++) {
        tsr_batch more = *batch;
        if (!is_shared(plan, &nest.loop[i]) || !tsr_batch_add(&more, &nest.loop[i]))
            continue;
        find_spans(plan, &more, &src, &both);
        if (both.end - both.first > nest.loop[i].dst * plan->conversion.dst_bytes)
            return;
        *batch = more;
    }
    if (batch->count > 0 && src.end - src.first < wanted_bytes(plan))
        join_slices(plan, batch, src.end - src.first);
}

/* Slices that cannot be joined are not worth a run each, if there is memory for all at once. */
static bool are_tiny(const tsr_plan *plan, tsr_span slice)
{
    enum { TINY = 4096 };
    return slice.end - slice.first < TINY && plan->src_span.end - plan->src_span.first <= plan->scratch_bytes;
}

static void find(const tsr_plan *plan, tsr_way *way)
{
    tsr_span both;
    *way = (tsr_way){.slice = plan->src_span};
    find_batch(plan, &way->batch);
    if (way->batch.count > 0)
        find_spans(plan, &way->batch, &way->slice, &both);
    if (way->batch.count > 0 && are_tiny(plan, way->slice))
        *way = (tsr_way){.slice = plan->src_span};
    way->scratch_bytes = way->slice.end - way->slice.first;
    way->tasks = tsr_in_place_tasks(plan, way->batch.n, way->scratch_bytes);
}

/* ---- the row ---- */

bool tsr_slices_applies(const tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    tsr_way way;
    find(plan, &way);
    return way.scratch_bytes <= plan->scratch_bytes ||
           tsr_decline(reason, "%" PRId64 " bytes of scratch memory are needed, and %" PRId64 " are allowed",
                       way.scratch_bytes, plan->scratch_bytes);
}

double tsr_slices_cost(const tsr_plan *plan)
{
    tsr_way way;
    find(plan, &way);
    return tsr_cost_of_boxes(plan) + tsr_cost_of_scratch(plan, way.scratch_bytes);
}

tsr_status tsr_slices_prepare(tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    (void)reason;
    find(plan, &plan->way);
    if (plan->way.tasks > 1)
        plan->row_threads = plan->way.tasks;
    return tsr_plan_make_boxes(plan);
}

/* Where a buffer would begin that has the slice in scratch memory: perhaps in front of all memory that there is. */
static const void *start_of(const char *scratch, tsr_span slice)
{
    return (const void *)((uintptr_t)scratch - (uintptr_t)slice.first);
}

static void run_slice(const tsr_plan *plan, char *at, char *scratch, int threads)
{
    const tsr_span slice = plan->way.slice;
    tsr_plan_copy_bytes(plan, scratch, at + slice.first, slice.end - slice.first, threads);
    tsr_plan_move_elements(plan, start_of(scratch, slice), at, threads);
}

tsr_status tsr_slices_run(const tsr_plan *plan, const void *src, void *dst, tsr_error *error)
{
    (void)src;
    tsr_status status = tsr_in_place_run_parts(plan, dst, run_slice, error);
    return status == TSR_OK ? tsr_in_place_finish(plan, dst, error) : status;
}
