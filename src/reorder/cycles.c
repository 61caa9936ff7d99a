/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Permutations by cycles: a unit is taken out, the one that belongs there is put in its place, and so
 * on until the first one finds its own. Units that have been moved are marked; without memory for
 * that, a cycle is begun only at the least of its units, after a walk round it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/int.h"
#include "reorder/cost.h"
#include "reorder/in_place.h"
#include "reorder/plan.h"

/* ---- finding it ---- */

/* Are the strides of a nest's loops 1, n, n * n', ... times the least of them, in any order? */
static bool is_dense(const tsr_nest *nest, bool of_src, int64_t least)
{
    int64_t expected = least;
    for (int found = 0; found < nest->count; found++) {
        int i = 0;
        while (i < nest->count && llabs(of_src ? nest->loop[i].src : nest->loop[i].dst) != expected)
            i++;
        if (i == nest->count)
            return false;
        if (found + 1 < nest->count) /* behind the last one, there may be no place */
            expected *= nest->loop[i].n;
    }
    return true;
}

/* The first place of the source in memory: axes may run backwards. */
static int64_t lowest_of_src(const tsr_nest *nest)
{
    int64_t lowest = nest->src;
    for (int i = 0; i < nest->count; i++)
        lowest += tsr_min(0, nest->loop[i].src * (nest->loop[i].n - 1));
    return lowest;
}

static void set_digits(tsr_cycles *cycles, const tsr_nest *nest, int64_t pitch)
{
    cycles->units = tsr_nest_elements(nest);
    cycles->count = nest->count;
    cycles->src_start = (nest->src - nest->dst) / pitch;
    for (int i = 0; i < nest->count; i++) {
        cycles->src[i] = nest->loop[i].src / pitch;
        cycles->dst[i] = nest->loop[i].dst / pitch;
    }
}

static int64_t marks_of(const tsr_cycles *cycles)
{
    return tsr_ceil_div(cycles->units, 64) * (int64_t)sizeof(uint64_t);
}

/* Outer loops that stand still are the batch, an inner one of neighbours is a unit. */
static bool find(const tsr_plan *plan, tsr_way *way, char reason[TSR_REASON_SIZE])
{
    const int64_t bytes = plan->conversion.dst_bytes;
    tsr_nest nest;
    int first = 0;
    *way = (tsr_way){.cycles = {.unit = bytes}};
    if (!tsr_in_place_nest(plan, &nest, reason))
        return false;
    if (nest.count > 0 && nest.loop[nest.count - 1].src == 1 && nest.loop[nest.count - 1].dst == 1)
        way->cycles.unit = bytes * nest.loop[--nest.count].n;
    while (first < nest.count && nest.loop[first].src == nest.loop[first].dst &&
           tsr_batch_add(&way->batch, &nest.loop[first]))
        first++;
    nest.count -= first;
    memmove(nest.loop, nest.loop + first, (size_t)nest.count * sizeof nest.loop[0]);
    if (nest.count > TSR_CYCLE_DIGITS)
        return tsr_decline(reason, "there are too many loops");
    const int64_t pitch = nest.count > 0 ? nest.loop[nest.count - 1].dst : 1;
    if (!is_dense(&nest, false, pitch) || !is_dense(&nest, true, pitch) || lowest_of_src(&nest) != nest.dst)
        return tsr_decline(reason, "source and destination do not cover the same memory without gaps");
    if (nest.count == 0)
        return tsr_decline(reason, "nothing changes its place");
    set_digits(&way->cycles, &nest, pitch);
    way->cycles.pitch = pitch * bytes;
    way->cycles.start = nest.dst * bytes;
    if (marks_of(&way->cycles) <= plan->scratch_bytes)
        way->scratch_bytes = marks_of(&way->cycles);
    way->tasks = tsr_in_place_tasks(plan, way->batch.n, way->scratch_bytes);
    return true;
}

/* ---- going round ---- */

/* Which unit belongs at p. */
static int64_t source_of(const tsr_cycles *cycles, int64_t p)
{
    int64_t at = cycles->src_start;
    for (int k = 0; k < cycles->count - 1; k++) {
        int64_t digit = p / cycles->dst[k];
        p -= digit * cycles->dst[k];
        at += digit * cycles->src[k];
    }
    return at + p * cycles->src[cycles->count - 1];
}

static void mark(uint64_t *marks, int64_t p)
{
    if (marks)
        marks[p / 64] |= UINT64_C(1) << p % 64;
}

/* Moves `bytes` of each unit on a cycle, as many as there is room for. */
static void rotate(const tsr_cycles *cycles, char *at, int64_t first, size_t bytes, uint64_t *marks)
{
    char out[1024];
    int64_t to = first;
    memcpy(out, at + first * cycles->pitch, bytes);
    mark(marks, first);
    for (int64_t from; (from = source_of(cycles, to)) != first; to = from) {
        memcpy(at + to * cycles->pitch, at + from * cycles->pitch, bytes);
        mark(marks, from);
    }
    memcpy(at + to * cycles->pitch, out, bytes);
}

/* Has a unit to be moved from here? Not where it stays, nor where its cycle has been begun or will be at a lesser
 * one. */
static bool begins_cycle(const tsr_cycles *cycles, int64_t p, const uint64_t *marks)
{
    if (marks && marks[p / 64] >> p % 64 & 1)
        return false;
    int64_t next = source_of(cycles, p);
    if (next == p)
        return false;
    while (!marks && next > p)
        next = source_of(cycles, next);
    return marks || next == p;
}

static void permute(const tsr_plan *plan, char *at, char *scratch, int threads)
{
    enum { PIECE = 1024 };
    const tsr_cycles *cycles = &plan->way.cycles;
    uint64_t *marks = (uint64_t *)(void *)scratch;
    (void)threads;
    if (marks)
        memset(marks, 0, (size_t)plan->way.scratch_bytes);
    at += cycles->start;
    for (int64_t p = 0; p < cycles->units; p++)
        for (int64_t done = 0, begins = begins_cycle(cycles, p, marks); begins && done < cycles->unit; done += PIECE)
            rotate(cycles, at + done, p, (size_t)tsr_min(PIECE, cycles->unit - done), marks);
}

/* ---- the row ---- */

bool tsr_cycles_applies(const tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    tsr_way way;
    return find(plan, &way, reason);
}

double tsr_cycles_cost(const tsr_plan *plan)
{
    tsr_way way;
    char unused[TSR_REASON_SIZE];
    find(plan, &way, unused);
    return tsr_cost_of_cycles(plan, &way.cycles, way.scratch_bytes > 0);
}

tsr_status tsr_cycles_prepare(tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    find(plan, &plan->way, reason);
    tsr_status status = tsr_in_place_prepare_after(plan, reason);
    if (status == TSR_OK) {
        plan->row_kernel = plan->way.scratch_bytes > 0 ? "marked" : "unmarked";
        plan->row_threads = plan->way.tasks;
    }
    return status;
}

tsr_status tsr_cycles_run(const tsr_plan *plan, const void *src, void *dst, tsr_error *error)
{
    (void)src;
    tsr_status status = tsr_in_place_run_parts(plan, dst, permute, error);
    return status == TSR_OK ? tsr_in_place_finish(plan, dst, error) : status;
}
