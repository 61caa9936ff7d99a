/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "base/int.h"
#include "base/writer.h"
#include "reorder/select.h"

static int threads_of(const tsr_plan *plan)
{
    int threads = 1;
    for (int i = 0; i < plan->element_boxes + plan->zero_boxes; i++) {
        int wanted = plan->boxes[i].threads;
        threads = wanted > threads ? wanted : threads;
    }
    return plan->row_threads > 0 ? plan->row_threads : threads;
}

tsr_plan_info tsr_plan_get_info(const tsr_plan *plan)
{
    const char *kernel = plan->principal ? plan->principal->kernel_name : "-";
    return (tsr_plan_info){
        .row = plan->row->name,
        .kernel = plan->row_kernel ? plan->row_kernel : kernel,
        .boxes = plan->element_boxes,
        .zero_boxes = plan->zero_boxes,
        .threads = threads_of(plan),
        .cost = plan->rows[plan->row - tsr_rows].cost,
        .tuned = plan->is_tuned,
    };
}

static void write_count(tsr_writer *out, int n, const char *one, const char *many)
{
    tsr_write(out, "%d %s", n, n == 1 ? one : many);
}

int tsr_plan_describe(const tsr_plan *plan, char *text, size_t size)
{
    tsr_writer out = {text, size, 0};
    tsr_plan_info info = tsr_plan_get_info(plan);
    tsr_write(&out, "%s, ", info.row);
    write_count(&out, info.boxes, "box", "boxes");
    tsr_write(&out, ", ");
    write_count(&out, info.zero_boxes, "zero box", "zero boxes");
    tsr_write(&out, ", %s, ", info.kernel);
    write_count(&out, info.threads, "thread", "threads");
    if (info.tuned)
        tsr_write(&out, ", tuned");
    return (int)out.length;
}

static void write_loop(tsr_writer *out, const char *name, const tsr_loop *loop)
{
    if (tsr_loop_has_table(loop))
        tsr_write(out, "%s%" PRId64 "(table)", name, loop->n);
    else if (loop->padding > 0)
        tsr_write(out, "%s%" PRId64 "+%" PRId64 "(%" PRId64 ":%" PRId64 ")", name, loop->n, loop->padding, loop->src,
                  loop->dst);
    else
        tsr_write(out, "%s%" PRId64 "(%" PRId64 ":%" PRId64 ")", name, loop->n, loop->src, loop->dst);
}

/* Outermost first, as they are read. */
static void write_chain(tsr_writer *out, const char *name, const tsr_chain *chain)
{
    tsr_write(out, "%s", name);
    for (int j = chain->count - 1; j >= 0; j--)
        write_loop(out, " ", &chain->loop[j]);
    if (chain->count == 0)
        tsr_write(out, " 1");
}

int tsr_plan_describe_box(const tsr_plan *plan, int i, char *text, size_t size)
{
    tsr_writer out = {text, size, 0};
    if (i < 0 || i >= plan->element_boxes + plan->zero_boxes) {
        tsr_write(&out, "%s", "");
        return 0;
    }
    const tsr_box *box = &plan->boxes[i];
    tsr_write(&out, "%" PRId64 ":%" PRId64 " ", box->src, box->dst);
    for (int j = 0; j < box->outer_count; j++)
        write_loop(&out, j ? " " : "", &box->outer[j]);
    write_chain(&out, box->outer_count ? " |" : "|", &box->row);
    write_chain(&out, " x", &box->column);
    tsr_write(&out, ", %s", box->kernel_name);
    if (plan->unit > 1)
        tsr_write(&out, " of %" PRId64 " elements as one", plan->unit);
    return (int)out.length;
}

bool tsr_plan_verdict(const tsr_plan *plan, int i, tsr_verdict *verdict)
{
    if (i < 0 || i >= TSR_ROWS)
        return false;
    const tsr_row_state *state = &plan->rows[i];
    *verdict = (tsr_verdict){
        .row = tsr_rows[i].name,
        .applicable = state->applicable,
        .is_tentative = state->applicable && tsr_rows[i].prepare && plan->row != &tsr_rows[i],
        .cost = state->cost,
        .reason = state->applicable ? "" : state->reason,
    };
    return true;
}
