/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/select.h"

#include <string.h>

#include "base/error.h"
#include "desc/fields.h"
#include "reorder/cost.h"

/* ---- alias: both sides are the same memory, so that nothing moves when they are the same buffer ---- */

static bool alias_applies(const tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    if (!tsr_plan_is_same_memory(plan))
        return tsr_decline(reason, "source and destination are different memory");
    return !plan->lowering.zeroes_all ||
           tsr_decline(reason, "the padding is in too many pieces to be zeroed apart from the elements");
}

/* Every place between the first element and the last is an element or padding that is to be zeroed, and bytes are
 * whole. memcpy streams as it likes. */
static bool is_flat(const tsr_plan *plan)
{
    int64_t first, end;
    if (plan->streaming == TSR_STREAMING_ALWAYS)
        return false;
    if (!tsr_span_without_gaps(&plan->dst, &first, &end) || !tsr_begins_byte(first | end, plan->conversion.dst_packing))
        return false;
    return plan->padding == TSR_PADDING_ZERO && end > first;
}

static double alias_cost(const tsr_plan *plan)
{
    if (plan->in_place)
        return tsr_cost_of_padding(plan);
    return is_flat(plan) ? 1 : tsr_cost_of_boxes(plan);
}

static tsr_status alias_run(const tsr_plan *plan, const void *src, void *dst, tsr_error *error)
{
    (void)error;
    if (src == dst) {
        tsr_plan_zero_padding(plan, dst);
    } else if (is_flat(plan)) {
        const tsr_span span = plan->dst_span; /* the source may have more behind its last block */
        tsr_plan_copy_bytes(plan, (char *)dst + span.first, (const char *)src + span.first, span.end - span.first,
                            plan->threads);
        tsr_plan_zero_padding(plan, dst);
    } else {
        tsr_plan_run_boxes(plan, src, dst);
    }
    return TSR_OK;
}

/* ---- copy, transpose, convert, gather: the boxes, by what most elements do ---- */

/* Also where short runs are shuffled into lanes. */
static bool is_copy(const tsr_plan *plan)
{
    const tsr_box *box = plan->principal;
    if (!box || box->motion == TSR_MOTION_COPY)
        return true;
    const tsr_loop *run = box->column.loop;
    const bool may_be_copy = box->motion == TSR_MOTION_PICK || box->motion == TSR_MOTION_UNPAD;
    return may_be_copy && box->column.count > 0 && !tsr_loop_has_table(run) && run->src == 1 && run->dst == 1;
}

static bool is_linear(const tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    return !plan->lowering.has_tables ||
           tsr_decline(reason, "the blocks of source and destination do not nest, or there are too many boxes");
}

static bool is_nested_copy(const tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    if (!plan->conversion.is_copy)
        return tsr_decline(reason, "the elements are converted");
    return is_linear(plan, reason);
}

static bool copy_applies(const tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    if (!is_nested_copy(plan, reason))
        return false;
    return is_copy(plan) ||
           tsr_decline(reason, "elements that are neighbours in the source are not in the destination");
}

static bool transpose_applies(const tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    if (!is_nested_copy(plan, reason))
        return false;
    return !is_copy(plan) || tsr_decline(reason, "neighbours stay neighbours");
}

static bool convert_applies(const tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    if (plan->conversion.is_copy)
        return tsr_decline(reason, "there is nothing to convert");
    return is_linear(plan, reason);
}

static bool gather_applies(const tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    return plan->lowering.has_tables || tsr_decline(reason, "the blocks nest, no table is needed");
}

static tsr_status boxes_run(const tsr_plan *plan, const void *src, void *dst, tsr_error *error)
{
    (void)error;
    tsr_plan_run_boxes(plan, src, dst);
    return TSR_OK;
}

/* ---- onednn ---- */

static tsr_onednn_problem onednn_problem(const tsr_plan *plan)
{
    return (tsr_onednn_problem){
        .src = &plan->src,
        .dst = &plan->dst,
        .opaque = plan->opaque,
        .scale = plan->conversion.arithmetic.scale,
        .scale_count = plan->factor_count,
        .scale_axis = plan->factor_axis,
        .has_mean = plan->has_mean,
        .has_shift = plan->has_shift,
        .has_beta = plan->conversion.arithmetic.beta != 0,
        .threads = plan->threads,
        .allocator = &plan->allocator,
    };
}

static bool onednn_applies(const tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    tsr_onednn_problem problem = onednn_problem(plan);
    bool has_padding = plan->opaque.dst_md || tsr_desc_padded_elements(&plan->dst) != tsr_desc_elements(&plan->dst);
    if (plan->padding == TSR_PADDING_KEEP && has_padding)
        return tsr_decline(reason, "oneDNN always zeroes padding");
    if (!plan->untested && tsr_plan_is_same_memory(plan))
        return tsr_decline(reason, "source and destination are the same memory");
    if (plan->has_own_executor && plan->threads > 1)
        return tsr_decline(reason, "oneDNN does not run on the caller's executor");
    return tsr_onednn_can_express(&problem, reason);
}

static tsr_status onednn_prepare(tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    tsr_onednn_problem problem = onednn_problem(plan);
    tsr_status status = tsr_onednn_create(&plan->onednn, &problem, plan->untested, reason);
    if (status == TSR_OK) {
        plan->row_kernel = "onednn";
        plan->row_threads = plan->threads;
    }
    return status;
}

static tsr_status onednn_run(const tsr_plan *plan, const void *src, void *dst, tsr_error *error)
{
    return tsr_onednn_run(plan->onednn, src, dst, error);
}

const tsr_row tsr_rows[TSR_ROWS] = {
    {"alias", TSR_ONE_BUFFER | TSR_TWO_BUFFERS, alias_applies, alias_cost, NULL, alias_run},
    {"copy", TSR_TWO_BUFFERS, copy_applies, tsr_cost_of_boxes, NULL, boxes_run},
    {"transpose", TSR_TWO_BUFFERS, transpose_applies, tsr_cost_of_boxes, NULL, boxes_run},
    {"convert", TSR_TWO_BUFFERS, convert_applies, tsr_cost_of_boxes, NULL, boxes_run},
    {"gather", TSR_TWO_BUFFERS, gather_applies, tsr_cost_of_boxes, NULL, boxes_run},
    {"relay", TSR_TWO_BUFFERS, tsr_relay_applies, tsr_relay_cost, tsr_relay_prepare, tsr_relay_run},
    {"onednn", TSR_TWO_BUFFERS, onednn_applies, tsr_cost_of_onednn, onednn_prepare, onednn_run},
    {"elementwise", TSR_ONE_BUFFER, tsr_elementwise_applies, tsr_elementwise_cost, NULL, tsr_elementwise_run},
    {"square", TSR_ONE_BUFFER, tsr_square_applies, tsr_square_cost, tsr_square_prepare, tsr_square_run},
    {"slices", TSR_ONE_BUFFER, tsr_slices_applies, tsr_slices_cost, tsr_slices_prepare, tsr_slices_run},
    {"cycles", TSR_ONE_BUFFER, tsr_cycles_applies, tsr_cycles_cost, tsr_cycles_prepare, tsr_cycles_run},
};

static bool applies(const tsr_plan *plan, const tsr_row *row, char reason[TSR_REASON_SIZE])
{
    if (tsr_is_opaque(&plan->opaque) && row->run != onednn_run)
        return tsr_decline(reason, "only oneDNN knows the layout of the %s",
                           plan->opaque.src_md ? "source" : "destination");
    if ((row->buffers & (plan->in_place ? TSR_ONE_BUFFER : TSR_TWO_BUFFERS)) == 0)
        return tsr_decline(reason, plan->in_place ? "it takes two buffers" : "it works in place");
    return row->applies(plan, reason);
}

int tsr_row_named(const char *name)
{
    for (int i = 0; i < TSR_ROWS; i++)
        if (strcmp(tsr_rows[i].name, name) == 0)
            return i;
    return -1;
}

static int cheapest_row(const tsr_plan *plan)
{
    int best = -1;
    for (int i = 0; i < TSR_ROWS; i++)
        if (plan->rows[i].applicable && (best < 0 || plan->rows[i].cost < plan->rows[best].cost))
            best = i;
    return best;
}

/* Takes a row unless it declines at the last moment. */
static tsr_status take(tsr_plan *plan, int i)
{
    tsr_row_state *state = &plan->rows[i];
    tsr_status status = tsr_rows[i].prepare ? tsr_rows[i].prepare(plan, state->reason) : TSR_OK;
    if (status == TSR_UNSUPPORTED)
        state->applicable = false;
    else if (status == TSR_OK)
        plan->row = &tsr_rows[i];
    if (status == TSR_OK && plan->row->run != tsr_relay_run) /* whose cost may have been asked of its stages */
        tsr_relay_free(&plan->relay, &plan->allocator);
    return status;
}

/* Tells of a row that does, if there is one. */
static tsr_status fail_to_apply(const tsr_plan *plan, int forced, tsr_error *error)
{
    const int other = cheapest_row(plan);
    return tsr_fail(error, TSR_UNSUPPORTED, "row %s does not apply: %s%s%s%s", tsr_rows[forced].name,
                    plan->rows[forced].reason, other >= 0 ? "; " : "", other >= 0 ? tsr_rows[other].name : "",
                    other >= 0 ? " does" : "");
}

tsr_status tsr_plan_select(tsr_plan *plan, const char *name, tsr_error *error)
{
    int forced = name ? tsr_row_named(name) : -1;
    if (name && forced < 0)
        return tsr_fail(error, TSR_INVALID_ARGUMENT,
                        "expected one of the rows alias, copy, transpose, convert, gather, relay, onednn, elementwise, "
                        "square, slices and cycles, found \"%.40s\"",
                        name);
    for (int i = 0; i < TSR_ROWS; i++) {
        plan->rows[i].applicable = applies(plan, &tsr_rows[i], plan->rows[i].reason);
        plan->rows[i].cost = plan->rows[i].applicable ? tsr_rows[i].cost(plan) : 0;
    }
    tsr_status status = TSR_UNSUPPORTED;
    for (int i; status == TSR_UNSUPPORTED && (i = name ? forced : cheapest_row(plan)) >= 0;) {
        if (plan->rows[i].applicable)
            status = take(plan, i);
        if (status == TSR_UNSUPPORTED && name)
            return fail_to_apply(plan, forced, error);
    }
    if (status == TSR_UNSUPPORTED) /* to which only a reorder in place can come */
        return tsr_fail(error, status, "no way in place: %s", plan->rows[tsr_row_named("slices")].reason);
    if (status == TSR_OUT_OF_MEMORY)
        return tsr_fail(error, status, "no memory for the plan");
    return status == TSR_OK ? TSR_OK : tsr_fail(error, status, "%s while the plan was made", tsr_status_name(status));
}
