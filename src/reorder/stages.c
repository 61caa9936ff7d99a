/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/stages.h"

#include <string.h>

#include "reorder/plan.h"
#include "reorder/workshop.h"

/* As many factors as a slice has indices along their axis. Slices other than the first take theirs when they run. */
static tsr_factors first_factors(const tsr_plan *plan, const float *values, const int64_t *dims)
{
    tsr_factors factors = tsr_plan_factors(plan, values);
    if (values && plan->factor_axis >= 0)
        factors.count = dims[plan->factor_axis];
    return factors;
}

/* Slices share the threads, or a stage has them for itself. */
static const tsr_executor *executor_of_stage(const tsr_plan *plan, const tsr_route *route)
{
    return route->legs == 1 ? &plan->executor : NULL;
}

static int threads_of_stage(const tsr_plan *plan, const tsr_route *route)
{
    return route->legs == 1 ? plan->threads : 1;
}

/* A slice is small, but the destination of all of them may not be. That is known of near last caches alone. */
static tsr_streaming streaming_of_last(const tsr_plan *plan, const tsr_route *route)
{
    tsr_workshop workshop;
    tsr_workshop_init(&workshop, plan);
    return route->legs > 1 && workshop.is_near && workshop.streams ? TSR_STREAMING_ALWAYS : plan->streaming;
}

static tsr_reorder_options stage_options(const tsr_plan *plan, const tsr_route *route, int i, const tsr_slice *slice)
{
    const tsr_leg *leg = &route->leg[i];
    const tsr_arithmetic none = {0}, *arithmetic = leg->computes ? &plan->conversion.arithmetic : &none;
    const bool has_factor_slices =
        plan->factor_axis >= 0 && slice->dims[plan->factor_axis] < plan->dst.dims[plan->factor_axis];
    /* the row that is run with other factors has to be known; what goes this way for its conversion goes no further */
    const bool is_row_known = leg->converts && (has_factor_slices || route->purpose != TSR_BY_PLAIN);
    return (tsr_reorder_options){
        .row = is_row_known ? "convert" : NULL,
        .scale = first_factors(plan, arithmetic->scale, leg->dst.dims),
        .mean = first_factors(plan, plan->has_mean ? arithmetic->mean : NULL, leg->dst.dims),
        .shift = first_factors(plan, plan->has_shift ? arithmetic->shift : NULL, leg->dst.dims),
        .beta = arithmetic->beta,
        .padding = i + 1 == route->legs ? plan->padding : TSR_PADDING_ZERO,
        .streaming = i + 1 == route->legs ? streaming_of_last(plan, route) : TSR_STREAMING_NEVER,
        .executor = executor_of_stage(plan, route),
        .threads = threads_of_stage(plan, route),
        .wisdom = plan->wisdom,
        .allocator = &plan->allocator,
    };
}

static tsr_status create_stage(tsr_plan **stage, const tsr_route *route, const tsr_leg *leg,
                               const tsr_reorder_options *options)
{
    static const char *const rows[] = {"transpose", "copy"};
    tsr_reorder_options own = *options;
    tsr_status status = TSR_UNSUPPORTED;
    if (!tsr_route_is_last(route))
        return tsr_plan_create(stage, &leg->src, &leg->dst, options, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows && status == TSR_UNSUPPORTED; i++) {
        own.row = rows[i];
        status = tsr_plan_create(stage, &leg->src, &leg->dst, &own, NULL);
    }
    return status;
}

/* Zeroes the padding of the destination, being run from there to there. */
static tsr_status create_zeroing(tsr_plan **zeroing, const tsr_plan *plan, const tsr_route *route,
                                 const tsr_slice *slice)
{
    const tsr_reorder_options options = {.row = "alias",
                                         .executor = executor_of_stage(plan, route),
                                         .threads = threads_of_stage(plan, route),
                                         .allocator = &plan->allocator};
    tsr_desc dst = route->leg[route->legs - 1].dst;
    memcpy(dst.dims, slice->dims, sizeof dst.dims);
    return tsr_plan_create(zeroing, &dst, &dst, &options, NULL);
}

tsr_status tsr_stages_make(tsr_stages *stages, const tsr_plan *plan, const tsr_slice *slice)
{
    tsr_route route;
    tsr_status status = tsr_route_make(&route, plan, slice);
    for (int i = 0; status == TSR_OK && i < route.legs; i++) {
        const tsr_reorder_options options = stage_options(plan, &route, i, slice);
        status = create_stage(&stages->stage[i], &route, &route.leg[i], &options);
        stages->count = i + 1;
    }
    if (status == TSR_OK && route.purpose == TSR_BY_ROWS) {
        stages->streamed = tsr_bytes_copied_at_once(stages->stage[route.legs - 1]);
        stages->read = tsr_runs_read(stages->stage[0]);
    }
    return status == TSR_OK && route.zeroes ? create_zeroing(&stages->zeroing, plan, &route, slice) : status;
}

void tsr_stages_free(tsr_stages *stages)
{
    for (int i = 0; i < TSR_LEGS; i++)
        tsr_plan_free(&stages->stage[i]);
    tsr_plan_free(&stages->zeroing);
}
