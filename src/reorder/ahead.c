/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/ahead.h"

#include "base/int.h"
#include "reorder/in_place.h"
#include "reorder/plan.h"

/* ---- what plans read and write ---- */

/* All loops of its boxes, if there is one box, without tables or padding, that moves elements as they are. */
static bool find_nest(tsr_nest *nest, const tsr_plan *plan)
{
    if (plan->element_boxes != 1 || plan->zero_boxes > 0 || plan->lowering.has_tables || !plan->moved.is_copy)
        return false;
    tsr_nest_of_box(nest, &plan->boxes[0]);
    for (int i = 0; i < nest->count; i++)
        if (nest->loop[i].padding > 0)
            return false;
    return nest->count > 0;
}

tsr_runs tsr_runs_read(const tsr_plan *plan)
{
    static const tsr_loop once = {.n = 1};
    const int64_t bytes = plan->moved.src_bytes;
    tsr_nest nest;
    if (!find_nest(&nest, plan))
        return (tsr_runs){0};
    for (int i = 0; i < nest.count; i++)
        nest.loop[i].dst = nest.loop[i].src; /* the source alone: what goes on there is one loop */
    tsr_nest_fuse(&nest);
    const tsr_loop *run = &nest.loop[nest.count - 1], *over = nest.count == 2 ? &nest.loop[0] : &once;
    if (nest.count > 2 || run->src != 1)
        return (tsr_runs){0};
    return (tsr_runs){.first = nest.src * bytes, .n = over->n, .bytes = run->n * bytes, .pitch = over->src * bytes};
}

int64_t tsr_bytes_copied_at_once(const tsr_plan *plan)
{
    tsr_nest nest;
    if (!find_nest(&nest, plan) || nest.count != 1 || nest.loop[0].src != 1 || nest.loop[0].dst != 1)
        return 0;
    return nest.src == 0 && nest.dst == 0 ? nest.loop[0].n * plan->moved.dst_bytes : 0;
}

/* ---- the stream ---- */

/* The line of some runs that is asked for next. */
struct ahead {
    const char *run;
    int64_t runs, byte; /* runs that are left; where in the first of them, or before it, in its first line */
};

static void begin_run(struct ahead *ahead, const char *run)
{
    ahead->run = run;
    ahead->byte = -(int64_t)((uintptr_t)run % TSR_CACHE_LINE);
}

static void fetch_lines(struct ahead *ahead, const tsr_runs *runs, int64_t lines)
{
    for (; lines > 0 && ahead->runs > 0; lines--) {
        tsr_prefetch(ahead->run, ahead->byte, ahead->byte + 1);
        ahead->byte += TSR_CACHE_LINE;
        if (ahead->byte >= runs->bytes && --ahead->runs > 0)
            begin_run(ahead, ahead->run + runs->pitch);
    }
}

void tsr_stream_and_fetch(const tsr_kernels *kernels, char *dst, const char *src, int64_t bytes, const char *next,
                          const tsr_runs *runs)
{
    enum { AT_ONCE = 1 << 10 }; /* 4 KB gain half as much, all at once nothing (Zen 4) */
    static const int64_t here[] = {0};
    const bool have_whole_lines = (runs->bytes | runs->pitch) % TSR_CACHE_LINE == 0;
    const int64_t lines = runs->n * (tsr_ceil_div(runs->bytes, TSR_CACHE_LINE) + !have_whole_lines);
    const int64_t at_once = tsr_ceil_div(lines * AT_ONCE, bytes);
    struct ahead ahead = {.runs = runs->n};
    tsr_tile part = {.rows = 1, .dst_row = here, .src_row = here};
    if (runs->n > 0)
        begin_run(&ahead, next + runs->first);
    for (int64_t i = 0; i < bytes; i += part.columns) {
        const int64_t all = AT_ONCE + (i == 0 ? tsr_bytes_to_next_line(dst) : 0);
        part.columns = tsr_min(all, bytes - i);
        fetch_lines(&ahead, runs, at_once);
        kernels->stream(dst + i, src + i, &part);
    }
    kernels->fence();
}
