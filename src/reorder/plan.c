/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/plan.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/int.h"
#include "desc/fields.h"
#include "reorder/cost.h"
#include "reorder/request.h"
#include "reorder/select.h"
#include "reorder/unit.h"
#include "reorder/wisdom.h"

/* The factors, one for each index, and the conversion that takes them. Padding may be converted as well, and has some
 * that do nothing. */
static tsr_status set_conversion(tsr_plan *plan, const tsr_reorder_options *options)
{
    tsr_arithmetic arithmetic = {.beta = options->beta}, *wanted = NULL;
    plan->has_mean = options->mean.count > 0;
    plan->has_shift = options->shift.count > 0;
    arithmetic.scales_only = !plan->has_mean && !plan->has_shift;
    plan->factor_axis = tsr_request_factor_axis(options);
    if (tsr_request_has_arithmetic(options)) {
        enum { MOST_SPARE = 256, LINE = TSR_CACHE_LINE / sizeof(float) };
        const int axis = plan->factor_axis;
        const int64_t count = axis >= 0 ? plan->src.dims[axis] : 1;
        const int64_t padded =
            axis >= 0 ? tsr_max(tsr_padded_dim(&plan->src, axis), tsr_padded_dim(&plan->dst, axis)) : 1;
        const int64_t wanted_room = tsr_max(count, tsr_min(padded, 2 * count + MOST_SPARE));
        const int64_t room = tsr_ceil_div(wanted_room, LINE) * LINE; /* so that kernels read whole lines of each */
        float *factors = tsr_allocate_zeroed(&plan->allocator, (size_t)room, 3 * sizeof *factors);
        if (!factors)
            return TSR_OUT_OF_MEMORY;
        for (int64_t i = 0; i < room; i++) {
            factors[i] = i < count ? tsr_factor_at(&options->mean, i, 0.0f) : 0.0f;
            factors[room + i] = i < count ? tsr_factor_at(&options->scale, i, 1.0f) : 1.0f;
            factors[2 * room + i] = i < count ? tsr_factor_at(&options->shift, i, -0.0f) : -0.0f;
        }
        plan->factors = factors;
        plan->factor_count = count;
        plan->factor_room = room;
        arithmetic.mean = factors;
        arithmetic.scale = factors + room;
        arithmetic.shift = factors + 2 * room;
        wanted = &arithmetic;
    }
    tsr_conversion_init(&plan->conversion, &plan->kernels, plan->src.dtype, plan->dst.dtype, wanted);
    return TSR_OK;
}

tsr_factors tsr_plan_factors(const tsr_plan *plan, const float *values)
{
    return (tsr_factors){values, values ? plan->factor_count : 0, plan->factor_axis, 0};
}

/* ---- lowering, twice: to count, and to fill ---- */

static tsr_status count_box(void *context, const tsr_nest *nest)
{
    tsr_plan *plan = context;
    const int64_t unit = tsr_unit_of_nest(nest, tsr_dtype_bits(plan->dst.dtype), plan->kernels.shuffles_lanes);
    plan->unit = plan->element_boxes == 0 ? unit : tsr_common_unit(unit, plan->unit);
    plan->element_boxes++;
    return TSR_OK;
}

static tsr_status count_zero_box(void *context, const tsr_nest *nest)
{
    tsr_plan *plan = context;
    plan->unit = tsr_unit_of_padding(plan->unit, nest, tsr_dtype_bits(plan->dst.dtype));
    plan->zero_boxes++;
    return TSR_OK;
}

struct filling {
    tsr_plan *plan;
    tsr_workshop workshop;
    int boxes;
};

static tsr_status fill_box(void *context, const tsr_nest *nest)
{
    struct filling *filling = context;
    tsr_plan *plan = filling->plan;
    bool is_padding = filling->boxes >= plan->element_boxes;
    tsr_nest other;
    if (plan->unit > 1) {
        tsr_unit_count(&other, nest, plan->unit);
        nest = &other;
    } else if (!is_padding && plan->way.batch.count > 0) {
        tsr_batch_cut(&plan->way.batch, nest, &other);
        nest = &other;
    }
    return tsr_box_init(&plan->boxes[filling->boxes++], nest, is_padding, &filling->workshop);
}

static tsr_status visit(tsr_plan *plan, tsr_nest_visitor element, tsr_nest_visitor padding, void *context)
{
    tsr_status status = tsr_lower_elements(&plan->lowering, element, context);
    if (status == TSR_OK && plan->padding == TSR_PADDING_ZERO)
        status = tsr_lower_padding(&plan->lowering, padding, context);
    return status;
}

double tsr_plan_copied_bytes(const tsr_plan *plan, double elements)
{
    return elements * (double)(tsr_dtype_bits(plan->src.dtype) + tsr_dtype_bits(plan->dst.dtype)) / 16;
}

bool tsr_plan_is_same_memory(const tsr_plan *plan)
{
    return plan->conversion.is_copy && !tsr_is_opaque(&plan->opaque) && tsr_desc_equal(&plan->src, &plan->dst);
}

int tsr_plan_threads_worth(const tsr_plan *plan, double bytes, int64_t parts)
{
    const double work = bytes / TSR_BYTES_PER_THREAD;
    const int64_t most = tsr_min(plan->threads, parts);
    return (int)tsr_max(1, work < (double)most ? (int64_t)work : most);
}

int tsr_plan_busy_threads(const tsr_plan *plan)
{
    const double bytes = tsr_plan_copied_bytes(plan, (double)tsr_desc_elements(&plan->dst));
    return tsr_plan_threads_worth(plan, bytes, plan->threads);
}

/* Zeros in the caches are written by no more threads than elements, as lines that have both would go from one to the
 * other. In place, elements may have the boxes of a part alone. */
static void set_threads(tsr_plan *plan, bool is_cached)
{
    int64_t most = is_cached && !plan->in_place && plan->element_boxes > 0 ? 1 : plan->threads;
    for (int i = 0; i < plan->element_boxes + plan->zero_boxes; i++) {
        tsr_box *box = &plan->boxes[i];
        const int64_t parts = box->is_serial ? 1 : box->items;
        box->threads = tsr_plan_threads_worth(plan, tsr_cost_of_box(plan, box),
                                              i < plan->element_boxes ? parts : tsr_min(parts, most));
        most = tsr_max(most, box->threads);
    }
}

static void reset_boxes(tsr_plan *plan)
{
    for (int i = 0; plan->boxes && i < plan->element_boxes + plan->zero_boxes; i++)
        tsr_box_reset(&plan->boxes[i], &plan->allocator);
}

/* Is the source worth prefetching? What is unpacked is near, and what is converted in place goes by a copy that is. A
 * CPU whose last cache is near follows what is read in order by itself, and is slower with help. */
static bool is_far(const tsr_plan *plan, const tsr_workshop *workshop)
{
    const tsr_box *box = plan->principal;
    const bool is_in_order = box && (box->motion == TSR_MOTION_COPY || box->motion == TSR_MOTION_DEINTERLEAVE);
    return workshop->exceeds_l2 && !plan->moved.unpack && !plan->in_place &&
           !(is_in_order && workshop->topology->has_near_l3);
}

tsr_status tsr_plan_make_boxes(tsr_plan *plan)
{
    struct filling filling = {.plan = plan};
    tsr_workshop_init(&filling.workshop, plan);
    reset_boxes(plan);
    tsr_status status = visit(plan, fill_box, fill_box, &filling);
    for (int i = 0; i < plan->element_boxes; i++)
        if (!plan->principal || plan->boxes[i].elements > plan->principal->elements)
            plan->principal = &plan->boxes[i];
    plan->moved.is_far = is_far(plan, &filling.workshop);
    if (status == TSR_OK)
        set_threads(plan, !filling.workshop.exceeds_l2);
    return status;
}

/* Not where the padding is zeroed and the elements are not moved, or added to; nor among parts of bytes. */
static bool may_join_padding(const tsr_plan *plan)
{
    return plan->padding == TSR_PADDING_ZERO && !plan->in_place && !tsr_plan_is_same_memory(plan) &&
           !tsr_is_packed(&plan->conversion) && plan->conversion.arithmetic.beta == 0;
}

static bool is_mostly_padding(const tsr_plan *plan)
{
    return tsr_desc_padded_elements(&plan->dst) / 2 >= tsr_desc_elements(&plan->dst);
}

/* Units are bits that move unchanged, from one buffer to another: whole bytes. */
static void set_moved(tsr_plan *plan)
{
    plan->moved = plan->conversion;
    if (plan->in_place)
        plan->moved.runs = NULL; /* they may convert an element twice */
    if (!plan->conversion.is_copy || plan->in_place)
        plan->unit = 1;
    if (plan->unit <= 1)
        return;
    plan->moved.src_bytes = plan->moved.dst_bytes = plan->unit * tsr_dtype_bits(plan->dst.dtype) / 8;
    plan->moved.unpack = plan->moved.pack = NULL;
    plan->moved.src_packing = plan->moved.dst_packing = 0;
}

/* What bytes become, where that is the same for all elements, or for all of one of few channels. */
static void set_maps(const tsr_plan *plan, tsr_conversion *conversion, uint8_t maps[TSR_MOST_MAPS][TSR_MAP_BYTES])
{
    if (plan->factor_axis < 0 && tsr_conversion_can_map(conversion))
        tsr_conversion_map(conversion, maps[0]);
    else if (plan->factor_axis >= 0 && plan->factor_count <= TSR_MOST_MAPS &&
             tsr_is_worth_map(conversion, tsr_desc_elements(&plan->dst) / plan->factor_count))
        tsr_conversion_maps(conversion, maps, plan->factor_count);
}

/* Are the innermost blocks the same? Then these continue each other in runs as long as both sides have of the next
 * axis. */
static bool share_innermost_blocks(const tsr_desc *src, const tsr_desc *dst)
{
    const int of_src = src->levels - 1, of_dst = dst->levels - 1;
    return of_src >= 0 && of_dst >= 0 && src->order[of_src] == dst->order[of_dst] &&
           src->block_dims[of_src] == dst->block_dims[of_dst];
}

/* Do kernels take narrow elements of a block of the destination from wherever they are, several axes at once? */
static bool shuffles_blocks(const tsr_plan *plan)
{
    enum { NARROW = 2 };
    return plan->kernels.window_bytes == TSR_WIDEST_LANE && tsr_is_straight(&plan->conversion) &&
           plan->conversion.src_bytes <= NARROW && !share_innermost_blocks(&plan->src, &plan->dst);
}

static tsr_status lower(tsr_plan *plan)
{
    tsr_status status = tsr_lowering_init(&plan->lowering, &plan->src, &plan->dst, plan->factor_axis,
                                          shuffles_blocks(plan), &plan->allocator);
    if (status != TSR_OK)
        return status;
    if (may_join_padding(plan)) {
        tsr_lowering_join_padding(&plan->lowering);
        if (is_mostly_padding(plan))
            tsr_lowering_zero_all(&plan->lowering);
    }
    if (plan->conversion.arithmetic.beta != 0 || plan->in_place)
        tsr_lowering_spare_elements(&plan->lowering);
    status = visit(plan, count_box, count_zero_box, plan);
    size_t boxes = (size_t)(plan->element_boxes + plan->zero_boxes);
    if (status != TSR_OK || boxes == 0)
        return status;
    set_moved(plan);
    set_maps(plan, &plan->moved, plan->maps);
    plan->boxes = tsr_allocate_zeroed(&plan->allocator, boxes, sizeof *plan->boxes);
    return plan->boxes ? tsr_plan_make_boxes(plan) : TSR_OUT_OF_MEMORY;
}

/* ---- create and free ---- */

static tsr_status build(tsr_plan *plan, const tsr_reorder_options *options, tsr_error *error)
{
    tsr_kernels_init(&plan->kernels, tsr_cpu_flags());
    tsr_status status = set_conversion(plan, options);
    if (status == TSR_OK && !tsr_is_opaque(&plan->opaque))
        status = lower(plan);
    if (status == TSR_OK && (!options->row || strcmp(options->row, "relay") == 0))
        status = tsr_relay_choose(plan);
    if (status != TSR_OK)
        return tsr_fail(error, status, "no memory for the plan");
    return tsr_plan_select(plan, options->row, error);
}

static int threads_of(const tsr_executor *executor, const tsr_reorder_options *options)
{
    int threads = executor->threads > 1 ? executor->threads : 1;
    return options->threads > 0 && options->threads < threads ? options->threads : threads;
}

/* src is seen as options->reverse has it. */
static tsr_status assemble(tsr_plan **plan, const tsr_desc *src, const tsr_desc *dst, const tsr_opaque *opaque,
                           const tsr_reorder_options *options, tsr_error *error)
{
    const tsr_allocator *allocator = options->allocator ? options->allocator : tsr_default_allocator();
    tsr_plan *made = tsr_allocate_zeroed(allocator, 1, sizeof *made);
    if (!made)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for the plan");
    made->src = *src;
    made->src_span = opaque->src_md ? (tsr_span){0, opaque->src_bytes} : tsr_span_of(src);
    made->dst = *dst;
    made->dst_span = opaque->dst_md ? (tsr_span){0, opaque->dst_bytes} : tsr_span_of(dst);
    made->opaque = *opaque;
    made->allocator = *allocator;
    made->padding = options->padding;
    made->streaming = options->streaming;
    made->tile_bytes = options->tile_bytes;
    made->wisdom = options->wisdom;
    made->in_place = options->in_place;
    made->scratch_bytes =
        options->scratch_bytes > 0 ? options->scratch_bytes : made->src_span.end - made->src_span.first;
    made->untested = options->untested;
    made->has_own_executor = options->executor != NULL;
    made->executor = options->executor ? *options->executor : tsr_default_executor();
    made->threads = threads_of(&made->executor, options);

    tsr_status status = build(made, options, error);
    if (status != TSR_OK) {
        tsr_plan_free(&made);
        return status;
    }
    *plan = made;
    return TSR_OK;
}

/* As wisdom says, if it knows the problem and its row applies; plan stays NULL otherwise, and where one buffer may be
 * both. */
static void assemble_tuned(tsr_plan **plan, const tsr_desc *src, const tsr_desc *seen, const tsr_desc *dst,
                           const tsr_reorder_options *options)
{
    const tsr_executor executor = options->executor ? *options->executor : tsr_default_executor();
    tsr_reorder_options tuned = *options;
    tsr_lesson lesson;
    if (!tsr_wisdom_advise(&lesson, src, dst, options, threads_of(&executor, options)))
        return;
    tuned.row = lesson.row;
    tuned.streaming = lesson.streaming;
    tuned.tile_bytes = lesson.tile_bytes;
    if (assemble(plan, seen, dst, &(tsr_opaque){0}, &tuned, NULL) != TSR_OK)
        return;
    /* a row that was as fast would want two buffers */
    const int alias = tsr_row_named("alias");
    if ((*plan)->rows[alias].applicable && (*plan)->row != &tsr_rows[alias]) {
        tsr_plan_free(plan);
        return;
    }
    (*plan)->is_tuned = true;
    if (lesson.cost > 0)
        (*plan)->rows[(*plan)->row - tsr_rows].cost = lesson.cost;
}

static tsr_status check_share(const tsr_plan *plan, double least, tsr_error *error)
{
    tsr_plan_info info = tsr_plan_get_info(plan);
    if (!(info.cost * least > 1))
        return TSR_OK;
    return tsr_fail(error, TSR_UNSUPPORTED, "row %s: expected at least %.2f of memcpy's speed, found %.2f%s", info.row,
                    least, 1 / info.cost, info.tuned ? " measured" : " predicted");
}

tsr_status tsr_plan_make(tsr_plan **plan, const tsr_desc *src, const tsr_desc *dst, const tsr_opaque *opaque,
                         const tsr_reorder_options *options, tsr_error *error)
{
    tsr_desc seen;
    tsr_plan *made = NULL;
    tsr_status status = tsr_request_check(&seen, src, dst, options, error);
    if (status == TSR_OK && !tsr_is_opaque(opaque))
        assemble_tuned(&made, src, &seen, dst, options);
    if (status == TSR_OK && !made)
        status = assemble(&made, &seen, dst, opaque, options, error);
    if (status == TSR_OK)
        status = check_share(made, (double)options->least_share, error);
    if (status == TSR_OK)
        *plan = made;
    else
        tsr_plan_free(&made);
    return status;
}

tsr_status tsr_plan_create(tsr_plan **plan, const tsr_desc *src, const tsr_desc *dst,
                           const tsr_reorder_options *options, tsr_error *error)
{
    return tsr_plan_make(plan, src, dst, &(tsr_opaque){0}, options ? options : &tsr_no_options, error);
}

void tsr_plan_free(tsr_plan **plan)
{
    tsr_plan *old = plan ? *plan : NULL;
    if (!old)
        return;
    tsr_allocator allocator = old->allocator;
    size_t boxes = (size_t)(old->element_boxes + old->zero_boxes);
    tsr_onednn_free(&old->onednn);
    tsr_plan_free(&old->way.after);
    tsr_relay_free(&old->relay, &allocator);
    tsr_lowering_reset(&old->lowering);
    reset_boxes(old);
    tsr_deallocate(&allocator, old->boxes, boxes * sizeof *old->boxes);
    tsr_deallocate(&allocator, old->factors, 3 * (size_t)old->factor_room * sizeof *old->factors);
    tsr_deallocate(&allocator, old, sizeof *old);
    *plan = NULL;
}

/* ---- run ---- */

struct box_job {
    const tsr_plan *plan;
    const tsr_box *box;
    const void *src;
    void *dst;
};

static void run_items(void *argument, int64_t begin, int64_t end)
{
    const struct box_job *job = argument;
    tsr_box_run(job->box, &job->plan->kernels, &job->plan->moved, job->src, job->dst, begin, end);
}

/* Boxes [first, end). */
static void run_boxes(const tsr_plan *plan, int first, int end, const void *src, void *dst, int threads)
{
    for (int i = first; i < end; i++) {
        const tsr_box *box = &plan->boxes[i];
        struct box_job job = {plan, box, src, dst};
        tsr_parallel_for(&plan->executor, (int)tsr_min(threads, box->threads), box->items, 1, run_items, &job);
    }
}

void tsr_plan_zero_padding(const tsr_plan *plan, void *dst)
{
    /* no source is read, but a pointer that is none may not be added to */
    run_boxes(plan, plan->element_boxes, plan->element_boxes + plan->zero_boxes, dst, dst, plan->threads);
}

void tsr_plan_move_elements(const tsr_plan *plan, const void *src, void *dst, int threads)
{
    run_boxes(plan, 0, plan->element_boxes, src, dst, threads);
}

void tsr_plan_run_boxes(const tsr_plan *plan, const void *src, void *dst)
{
    tsr_plan_zero_padding(plan, dst);
    tsr_plan_move_elements(plan, src, dst, plan->threads);
}

void tsr_plan_run_with_factors(const tsr_plan *plan, const tsr_arithmetic *factors, int64_t first, const void *src,
                               void *dst)
{
    /* maps are of the plan's own factors */
    tsr_conversion conversion = plan->moved.map ? plan->conversion : plan->moved;
    uint8_t maps[TSR_MOST_MAPS][TSR_MAP_BYTES];
    conversion.is_far = plan->moved.is_far;
    conversion.maps = NULL;
    conversion.map_count = 0;
    conversion.arithmetic.mean = factors->mean + first;
    conversion.arithmetic.scale = factors->scale + first;
    conversion.arithmetic.shift = factors->shift + first;
    if (plan->moved.map || plan->moved.maps)
        set_maps(plan, &conversion, maps);
    tsr_plan_zero_padding(plan, dst);
    for (int i = 0; i < plan->element_boxes; i++)
        tsr_box_run(&plan->boxes[i], &plan->kernels, &conversion, src, dst, 0, plan->boxes[i].items);
}

/* Bytes from one buffer to another. */
struct bytes_job {
    const char *src;
    char *dst;
};

static void copy_bytes(void *argument, int64_t begin, int64_t end)
{
    const struct bytes_job *job = argument;
    if (begin < end)
        memcpy(job->dst + begin, job->src + begin, (size_t)(end - begin));
}

void tsr_plan_copy_bytes(const tsr_plan *plan, void *dst, const void *src, int64_t bytes, int threads)
{
    struct bytes_job job = {src, dst};
    tsr_parallel_for(&plan->executor, threads, bytes, TSR_BYTES_PER_THREAD, copy_bytes, &job);
}

tsr_status tsr_plan_run(const tsr_plan *plan, const void *src, void *dst, tsr_error *error)
{
    int buffers = plan->in_place ? TSR_ONE_BUFFER : plan->row->buffers;
    tsr_status status = tsr_request_check_buffers(plan->src_span, src, plan->dst_span, dst, buffers, error);
    return status == TSR_OK ? plan->row->run(plan, src, dst, error) : status;
}

tsr_status tsr_reorder(const tsr_desc *src_desc, const void *src, const tsr_desc *dst_desc, void *dst, tsr_error *error)
{
    tsr_plan *plan = NULL;
    tsr_status status = tsr_plan_create(&plan, src_desc, dst_desc, NULL, error);
    if (status == TSR_OK)
        status = tsr_plan_run(plan, src, dst, error);
    tsr_plan_free(&plan);
    return status;
}
