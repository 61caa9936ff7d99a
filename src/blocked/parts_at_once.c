/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

#include <tessera/parallel.h>

#include "base/alloc.h"
#include "base/int.h"
#include "blocked/parts.h"
#include "reorder/plan.h"

/* ---- may they? ---- */

/* Where a part is written. */
struct extent {
    uintptr_t first, end;
};

static int by_place(const void *a, const void *b)
{
    const struct extent *left = a, *right = b;
    return (left->first > right->first) - (left->first < right->first);
}

/* Is no byte written for two parts? If there is no memory to find out, nobody knows. */
static bool are_apart(const tsr_division *d)
{
    const tsr_allocator *allocator = &d->whole.blob->allocator;
    struct extent *extents = tsr_allocate(allocator, (size_t)d->count * sizeof *extents);
    bool apart = extents != NULL;
    for (int i = 0; i < d->count && apart; i++) {
        const tsr_portion *part = &d->parts[i];
        const uintptr_t first = (uintptr_t)part->access.data + part->bytes.first;
        extents[i] = (struct extent){first, first + part->bytes.count};
        apart = part->holder == part;
    }
    if (apart)
        qsort(extents, (size_t)d->count, sizeof *extents, by_place);
    for (int i = 1; i < d->count && apart; i++)
        apart = extents[i - 1].end <= extents[i].first;
    tsr_deallocate(allocator, extents, (size_t)d->count * sizeof *extents);
    return apart;
}

static int64_t length_of(const tsr_division *d, const tsr_desc *whole, int i)
{
    return (i + 1 < d->count ? d->parts[i + 1].first : whole->dims[d->axis]) - d->parts[i].first;
}

/* Does each part that is merged have long runs of its own in the whole? Of short ones, threads would write the same
 * cache lines, and the same bytes of elements that are less than one. */
static bool has_long_runs(const tsr_division *d, const tsr_desc *whole)
{
    enum { LONG_RUN_BYTES = 4 << 10 };
    int64_t stride = 0, block = 1, cells = 1; /* of the axis' outermost level */
    for (int i = whole->levels - 1; i >= 0; i--)
        if (whole->order[i] == d->axis) {
            block = cells;
            cells *= whole->block_dims[i];
            stride = whole->strides[i];
        }
    if (whole->step[d->axis] != 0 || tsr_dtype_bits(whole->dtype) < 8)
        return false;
    for (int i = 0; i < d->count; i++) {
        const int64_t length = length_of(d, whole, i);
        const double steps = (double)tsr_ceil_div(length, block);
        if (d->parts[i].first % block != 0 ||
            (length > 0 && steps * (double)stride * tsr_dtype_bits(whole->dtype) / 8 < LONG_RUN_BYTES))
            return false;
    }
    return true;
}

/* ---- is it worth it? ---- */

/* As few as one of those who are written wants. */
static int threads_of(tsr_division *d)
{
    int threads = tsr_default_executor().threads;
    for (int i = 0; i < d->count; i++) {
        const int wanted = tsr_written_with(d, &d->parts[i])->blob->threads;
        threads = wanted > 0 && wanted < threads ? wanted : threads;
    }
    return threads;
}

static int64_t longest_of(const tsr_division *d, const tsr_desc *whole)
{
    int64_t longest = 0;
    for (int i = 0; i < d->count; i++)
        longest = tsr_max(longest, length_of(d, whole, i));
    return longest;
}

/* Threads that share each part are woken for each, which takes about so much longer. */
static const double waking = 17.0 / 16;

int tsr_division_tasks(tsr_division *d, const tsr_desc *whole)
{
    /* in units of TSR_BYTES_PER_THREAD; of a large part, several threads have touched pieces, which are near to them */
    enum { LARGE = 32 };
    const double all = (double)tsr_desc_elements(whole) * tsr_dtype_bits(whole->dtype) / 8 / TSR_BYTES_PER_THREAD;
    const double longest = all * (double)longest_of(d, whole) / (double)tsr_max(1, whole->dims[d->axis]);
    const int threads = threads_of(d);
    const int64_t tasks = tsr_min(tsr_min(threads, d->count), all < threads ? (int64_t)all : threads);
    d->sharing = longest < 2 ? 1 : longest < threads ? longest : threads;
    if (tasks < 2 || longest >= LARGE || (double)tsr_ceil_div(d->count, tasks) * longest * d->sharing > waking * all)
        return 1;
    return (d->is_split ? are_apart(d) : has_long_runs(d, whole)) ? (int)tasks : 1;
}

/* ---- who does what ---- */

/* The parts from this one to that of the next task are one task's. */
static int first_of(const tsr_division *d, int64_t task)
{
    return (int)(d->count * task / d->tasks);
}

bool tsr_division_is_even(const tsr_division *d, const tsr_desc *whole)
{
    double all = 0, most = 0;
    for (int task = 0; task < d->tasks; task++) {
        double cost = 0;
        for (int i = first_of(d, task); i < first_of(d, task + 1); i++)
            if (d->parts[i].move.plan)
                cost += tsr_plan_get_info(d->parts[i].move.plan).cost * (double)length_of(d, whole, i);
        all += cost;
        most = cost > most ? cost : most;
    }
    return most * d->sharing <= waking * all;
}

static void run_tasks(void *argument, int64_t begin, int64_t end)
{
    tsr_division *d = argument;
    for (int i = first_of(d, begin); i < first_of(d, end); i++)
        d->parts[i].is_moved = tsr_portion_run(d, &d->parts[i]);
}

void tsr_division_run_at_once(tsr_division *d)
{
    const tsr_executor executor = tsr_default_executor();
    for (int i = 0; i < d->count; i++)
        tsr_written_with(d, &d->parts[i])->holder->has_begun = true;
    tsr_parallel_for(&executor, d->tasks, d->tasks, 1, run_tasks, d);
}
