/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/onednn/onednn.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/alloc.h"
#include "base/error.h"
#include "desc/digits.h"
#include "desc/tag.h"
#include "reorder/onednn/types.h"

struct tsr_onednn {
    tsr_allocator allocator;
    pthread_mutex_t lock; /* oneDNN's scratch memory belongs to the primitive */
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_t primitive;
    char implementation[TSR_ONEDNN_NAME_SIZE];
    tsr_md src_md, dst_md;
    int64_t src_start_bytes, dst_start_bytes;
    int threads;
    float *scales; /* the values, where they are an argument */
    int64_t scale_count;
    tsr_md scale_md;
};

/* Of the types that every version reorders; undef for the others, which the row leaves to our own. */
static dnnl_data_type_t type_of(tsr_dtype dtype)
{
    static const bool reorders[TSR_DTYPE_COUNT] = {
        [TSR_F32] = true, [TSR_F16] = true, [TSR_BF16] = true, [TSR_S8] = true, [TSR_U8] = true, [TSR_S32] = true};
    dnnl_data_type_t type = dnnl_data_type_undef;
    if (reorders[dtype])
        tsr_onednn_type(&type, dtype);
    return type;
}

/* oneDNN's tag for a layout; undef when it has none. */
static dnnl_format_tag_t tag_of(const tsr_desc *desc)
{
    char text[TSR_TAG_SIZE];
    if (!tsr_tag_of(desc, TSR_ROLE_NONE, text))
        return dnnl_format_tag_undef;
    for (int tag = dnnl_format_tag_any + 1; tag < (int)dnnl_format_tag_last; tag++)
        if (strcmp(dnnl_fmt_tag2str((dnnl_format_tag_t)tag), text) == 0)
            return (dnnl_format_tag_t)tag;
    return dnnl_format_tag_undef;
}

/* The layout without its start, which becomes part of the pointer. */
static tsr_desc at_zero(const tsr_desc *desc)
{
    tsr_desc moved = *desc;
    moved.offset = 0;
    memset(moved.pad_before, 0, sizeof moved.pad_before);
    return moved;
}

/* Dims and strides say it all: one level for each axis, as long as its dim. */
static bool has_strides_alone(const tsr_desc *desc)
{
    for (int i = 0; i < desc->levels; i++)
        if (desc->block_dims[i] != desc->dims[desc->order[i]])
            return false;
    return desc->levels == desc->rank;
}

/* And there is no tag for them. */
static bool is_strided(const tsr_desc *desc)
{
    return has_strides_alone(desc) && tag_of(desc) == dnnl_format_tag_undef;
}

static bool can_describe(const char *side, const tsr_desc *desc, char reason[TSR_REASON_SIZE])
{
    tsr_desc moved = at_zero(desc);
    if (desc->rank < 1 || desc->rank > DNNL_MAX_NDIMS)
        return tsr_decline(reason, "oneDNN has 1 to %d axes, not %d", DNNL_MAX_NDIMS, desc->rank);
    if (type_of(desc->dtype) == dnnl_data_type_undef)
        return tsr_decline(reason, "oneDNN does not reorder %s", tsr_dtype_name(desc->dtype));
    for (int i = 0; i < desc->levels; i++)
        if (desc->strides[i] <= 0 && desc->block_dims[i] > 1)
            return tsr_decline(reason, "oneDNN takes no stride of 0 or below");
    for (int k = 0; k < desc->rank; k++)
        if (desc->step[k] != 0)
            return tsr_decline(reason, "oneDNN has no windows");
    return has_strides_alone(desc) || tag_of(&moved) != dnnl_format_tag_undef ||
           tsr_decline(reason, "oneDNN has no tag for the %s", side);
}

bool tsr_onednn_can_express(const tsr_onednn_problem *problem, char reason[TSR_REASON_SIZE])
{
    if (tsr_desc_elements(problem->src) == 0)
        return tsr_decline(reason, "there are no elements");
    if (problem->has_mean)
        return tsr_decline(reason, "oneDNN's reorder has a scale, and no mean");
    if (problem->has_shift || problem->has_beta)
        return tsr_decline(reason, "oneDNN is asked for a scale at most, and for no %s",
                           problem->has_shift ? "shift" : "beta");
    for (int64_t i = 0; problem->scale && i < problem->scale_count; i++)
        if (!isfinite(problem->scale[i]))
            return tsr_decline(reason, "a scale is not finite");
    return (problem->opaque.src_md || can_describe("source", problem->src, reason)) &&
           (problem->opaque.dst_md || can_describe("destination", problem->dst, reason));
}

/* *start_bytes is 0 before, and stays so where the memory descriptor is oneDNN's own. */
static dnnl_status_t describe(tsr_md *md, int64_t *start_bytes, const tsr_desc *desc, const void *opaque)
{
    if (opaque)
        return tsr_md_clone(md, opaque);
    tsr_desc moved = at_zero(desc);
    dnnl_format_tag_t tag = tag_of(&moved);
    *start_bytes = tsr_desc_start(desc) * (int64_t)tsr_dtype_size_bytes(desc->dtype);
    if (tag != dnnl_format_tag_undef)
        return tsr_md_by_tag(md, desc->rank, desc->dims, type_of(desc->dtype), tag);
    dnnl_dims_t strides;
    for (int i = 0; i < desc->levels; i++)
        strides[desc->order[i]] = desc->strides[i];
    return tsr_md_by_strides(md, desc->rank, desc->dims, type_of(desc->dtype), strides);
}

/* Sets oneDNN's threads for the calling thread; returns what they were. */
static int set_threads(int threads)
{
#ifdef _OPENMP
    int before = omp_get_max_threads();
    if (threads > 0)
        omp_set_num_threads(threads);
    return before;
#else
    return threads;
#endif
}

static dnnl_status_t keep_implementation(tsr_onednn *made, const_dnnl_primitive_desc_t pd)
{
    const char *name = "";
    dnnl_status_t status = dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name);
    snprintf(made->implementation, sizeof made->implementation, "%s", name);
    return status;
}

const char *tsr_onednn_implementation(const tsr_onednn *onednn)
{
    return onednn->implementation;
}

static dnnl_status_t create_primitive(tsr_onednn *made, const tsr_onednn_problem *problem)
{
    dnnl_primitive_attr_t attr = NULL;
    dnnl_primitive_desc_t pd = NULL;
    int mask = problem->scale_count > 1 ? 1 << problem->scale_axis : 0;
    dnnl_status_t status = dnnl_primitive_attr_create(&attr);
    if (status == dnnl_success && problem->scale)
        status = tsr_attr_scale(attr, problem->scale_count, mask, problem->scale);
    if (status == dnnl_success)
        status = tsr_reorder_pd(&pd, &made->src_md, &made->dst_md, made->engine, attr);
    if (status == dnnl_success)
        status = dnnl_primitive_create(&made->primitive, pd);
    if (status == dnnl_success)
        status = keep_implementation(made, pd);
    if (pd)
        dnnl_primitive_desc_destroy(pd);
    if (attr)
        dnnl_primitive_attr_destroy(attr);
    return status;
}

static dnnl_status_t keep_scales(tsr_onednn *made, const tsr_onednn_problem *problem)
{
    size_t bytes = (size_t)problem->scale_count * sizeof *problem->scale;
    const dnnl_dims_t dims = {problem->scale_count};
    if (!TSR_SCALES_ARE_ARGUMENTS || !problem->scale)
        return dnnl_success;
    made->scales = tsr_allocate(&made->allocator, bytes);
    if (!made->scales)
        return dnnl_out_of_memory;
    memcpy(made->scales, problem->scale, bytes);
    made->scale_count = problem->scale_count;
    return tsr_md_by_tag(&made->scale_md, 1, dims, dnnl_f32, dnnl_a);
}

static dnnl_status_t build(tsr_onednn *made, const tsr_onednn_problem *problem)
{
    dnnl_status_t status = dnnl_engine_create(&made->engine, dnnl_cpu, 0);
    if (status == dnnl_success)
        status = dnnl_stream_create(&made->stream, made->engine, dnnl_stream_default_flags);
    if (status == dnnl_success)
        status = describe(&made->src_md, &made->src_start_bytes, problem->src, problem->opaque.src_md);
    if (status == dnnl_success)
        status = describe(&made->dst_md, &made->dst_start_bytes, problem->dst, problem->opaque.dst_md);
    if (status == dnnl_success)
        status = keep_scales(made, problem);
    if (status == dnnl_success)
        status = create_primitive(made, problem);
    return status;
}

/* The axes of a strided layout by falling stride, as a tag. */
static void tag_of_order(const tsr_desc *desc, char tag[TSR_TAG_SIZE])
{
    for (int i = 0; i < desc->rank; i++) {
        int at = i;
        for (; at > 0 && desc->strides[tag[at - 1] - 'a'] < desc->strides[i]; at--)
            tag[at] = tag[at - 1];
        tag[at] = (char)('a' + i);
    }
    tag[desc->rank] = '\0';
}

static tsr_onednn_side side_of(const tsr_desc *desc)
{
    tsr_desc moved = at_zero(desc);
    tsr_onednn_side side = {.dtype = desc->dtype, .has_gaps = is_strided(&moved)};
    if (!side.has_gaps) {
        tsr_tag_of(&moved, TSR_ROLE_NONE, side.tag); /* can_describe has seen that it has one */
        return side;
    }
    /* one level for each axis, by axis */
    tsr_desc by_axis = moved;
    for (int i = 0; i < desc->levels; i++)
        by_axis.strides[desc->order[i]] = desc->strides[i];
    tag_of_order(&by_axis, side.tag);
    side.has_step = by_axis.strides[side.tag[desc->rank - 1] - 'a'] > 1;
    return side;
}

static bool is_trusted(const tsr_onednn *made, const tsr_onednn_problem *problem, char reason[TSR_REASON_SIZE])
{
    if (tsr_is_opaque(&problem->opaque))
        return true;
    tsr_onednn_case wanted = {.rank = problem->src->rank,
                              .src = side_of(problem->src),
                              .dst = side_of(problem->dst),
                              .scaled = problem->scale != NULL,
                              .scale_axis = problem->scale_count > 1 ? problem->scale_axis : -1};
    return tsr_onednn_is_trusted(&wanted, made->implementation, reason);
}

tsr_status tsr_onednn_create(tsr_onednn **onednn, const tsr_onednn_problem *problem, bool untested,
                             char reason[TSR_REASON_SIZE])
{
    tsr_onednn *made = tsr_allocate_zeroed(problem->allocator, 1, sizeof *made);
    if (!made)
        return TSR_OUT_OF_MEMORY;
    made->allocator = *problem->allocator;
    made->threads = problem->threads;
    pthread_mutex_init(&made->lock, NULL);
    int before = set_threads(made->threads);
    dnnl_status_t status = build(made, problem);
    set_threads(before);
    if (status != dnnl_success) {
        tsr_onednn_free(&made);
        tsr_decline(reason, "oneDNN has no such reorder: %s", dnnl_status2str(status));
        return status == dnnl_out_of_memory ? TSR_OUT_OF_MEMORY : TSR_UNSUPPORTED;
    }
    if (!untested && !is_trusted(made, problem, reason)) {
        tsr_onednn_free(&made);
        return TSR_UNSUPPORTED;
    }
    *onednn = made;
    return TSR_OK;
}

static dnnl_status_t execute(tsr_onednn *onednn, const char *src, char *dst)
{
    dnnl_memory_t memory[3] = {NULL};
    /* oneDNN takes the source through the same type as the destination, and does not write to it */
    void *from = (void *)(uintptr_t)(src + onednn->src_start_bytes);
    dnnl_status_t status = tsr_memory(&memory[0], &onednn->src_md, onednn->engine, from);
    if (status == dnnl_success)
        status = tsr_memory(&memory[1], &onednn->dst_md, onednn->engine, dst + onednn->dst_start_bytes);
    if (status == dnnl_success && onednn->scales)
        status = tsr_memory(&memory[2], &onednn->scale_md, onednn->engine, onednn->scales);
    if (status == dnnl_success) {
        dnnl_exec_arg_t arguments[3] = {{DNNL_ARG_FROM, memory[0]}, {DNNL_ARG_TO, memory[1]}};
#if TSR_SCALES_ARE_ARGUMENTS
        arguments[2] = (dnnl_exec_arg_t){DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, memory[2]};
#endif
        status = dnnl_primitive_execute(onednn->primitive, onednn->stream, onednn->scales ? 3 : 2, arguments);
    }
    if (status == dnnl_success)
        status = dnnl_stream_wait(onednn->stream);
    for (int i = 0; i < 3; i++)
        if (memory[i])
            dnnl_memory_destroy(memory[i]);
    return status;
}

tsr_status tsr_onednn_run(tsr_onednn *onednn, const void *src, void *dst, tsr_error *error)
{
    pthread_mutex_lock(&onednn->lock);
    int before = set_threads(onednn->threads);
    dnnl_status_t status = execute(onednn, src, dst);
    set_threads(before);
    pthread_mutex_unlock(&onednn->lock);
    return status == dnnl_success
               ? TSR_OK
               : tsr_fail(error, TSR_UNSUPPORTED, "oneDNN's reorder failed: %s", dnnl_status2str(status));
}

void tsr_onednn_free(tsr_onednn **onednn)
{
    tsr_onednn *old = onednn ? *onednn : NULL;
    if (!old)
        return;
    if (old->primitive)
        dnnl_primitive_destroy(old->primitive);
    tsr_md_free(&old->src_md);
    tsr_md_free(&old->dst_md);
    tsr_md_free(&old->scale_md);
    if (old->stream)
        dnnl_stream_destroy(old->stream);
    if (old->engine)
        dnnl_engine_destroy(old->engine);
    pthread_mutex_destroy(&old->lock);
    tsr_allocator allocator = old->allocator;
    tsr_deallocate(&allocator, old->scales, (size_t)old->scale_count * sizeof *old->scales);
    tsr_deallocate(&allocator, old, sizeof *old);
    *onednn = NULL;
}
