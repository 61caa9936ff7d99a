/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <tessera/plan_cache.h>

#include "base/error.h"
#include "blocked/opencl/opencl.h"
#include "reorder/plan.h"

/* What is started for each box. */
struct launch {
    tsr_opencl *opencl;
    cl_mem src, dst;
    const char *kernel;
    bool may_transpose;
    tsr_error *error;
};

static bool is_converted(tsr_dtype dtype)
{
    return dtype == TSR_F32 || dtype == TSR_F16 || dtype == TSR_U8 || dtype == TSR_S8;
}

/* The name of the kernel that moves elements; false if there is none. */
static bool name_kernel(char *name, size_t size, tsr_dtype src, tsr_dtype dst)
{
    const bool is_copy = src == dst && tsr_dtype_bits(dst) >= 8, is_conversion = is_converted(src) && is_converted(dst);
    if (is_copy)
        snprintf(name, size, "copy_%zu", tsr_dtype_size_bytes(dst));
    else if (is_conversion)
        snprintf(name, size, "%s_to_%s", tsr_dtype_name(src), tsr_dtype_name(dst));
    return is_copy || is_conversion;
}

/* ---- nests as the kernels take them ---- */

static bool add_loop(tsr_opencl_nest *loops, const tsr_loop *loop)
{
    if (loops->count == TSR_OPENCL_LOOPS || tsr_loop_has_table(loop))
        return false;
    loops->n[loops->count] = loop->n;
    loops->src_stride[loops->count] = loop->src;
    loops->dst_stride[loops->count] = loop->dst;
    loops->count++;
    return true;
}

/* Loops first and second, if they are not -1, then all others in their order. */
static tsr_status translate(tsr_opencl_nest *loops, const tsr_nest *nest, int first, int second, tsr_error *error)
{
    bool fits = true;
    *loops = (tsr_opencl_nest){.src = nest->src, .dst = nest->dst, .elements = tsr_nest_elements(nest)};
    if (first >= 0)
        fits = add_loop(loops, &nest->loop[first]) && add_loop(loops, &nest->loop[second]);
    for (int i = 0; i < nest->count && fits; i++)
        if (i != first && i != second)
            fits = add_loop(loops, &nest->loop[i]);
    if (fits)
        return TSR_OK;
    return tsr_fail(error, TSR_UNSUPPORTED, "expected at most %d loops and no tables on OpenCL", TSR_OPENCL_LOOPS);
}

/* ---- kernels ---- */

static tsr_status start(const struct launch *launch, const char *name, const tsr_opencl_nest *loops, cl_uint dimensions,
                        const size_t *items, const size_t *group)
{
    cl_int code;
    cl_kernel kernel = clCreateKernel(launch->opencl->program, name, &code); /* its arguments are this thread's */
    if (!kernel)
        return tsr_opencl_check(code, "clCreateKernel", launch->error);
    code = clSetKernelArg(kernel, 0, sizeof launch->src, &launch->src);
    if (code == CL_SUCCESS)
        code = clSetKernelArg(kernel, 1, sizeof launch->dst, &launch->dst);
    if (code == CL_SUCCESS)
        code = clSetKernelArg(kernel, 2, sizeof *loops, loops);
    tsr_status status = tsr_opencl_check(code, "clSetKernelArg", launch->error);
    if (status == TSR_OK) {
        code = clEnqueueNDRangeKernel(launch->opencl->queue, kernel, dimensions, NULL, items, group, 0, NULL, NULL);
        status = tsr_opencl_check(code, "clEnqueueNDRangeKernel", launch->error);
    }
    clReleaseKernel(kernel);
    return status;
}

static size_t round_up(int64_t n, int64_t unit)
{
    return (size_t)((n + unit - 1) / unit * unit);
}

/* Element by element, as neighbours lie in the destination. */
static tsr_status run_box(void *context, const tsr_nest *nest)
{
    const struct launch *launch = context;
    const size_t items = round_up(tsr_nest_elements(nest), TSR_OPENCL_GROUP), group = TSR_OPENCL_GROUP;
    tsr_opencl_nest loops;
    tsr_status status = translate(&loops, nest, -1, -1, launch->error);
    return status == TSR_OK ? start(launch, launch->kernel, &loops, 1, &items, &group) : status;
}

/* The loops of at least half a tile that have neighbours in the source and in the destination. */
static bool find_transpose(const tsr_nest *nest, int *in_src, int *in_dst)
{
    *in_src = *in_dst = -1;
    for (int i = 0; i < nest->count; i++) {
        const tsr_loop *loop = &nest->loop[i];
        if (loop->n < TSR_OPENCL_TILE / 2 || tsr_loop_has_table(loop))
            continue;
        if (loop->src == 1)
            *in_src = i;
        if (loop->dst == 1)
            *in_dst = i;
    }
    return *in_src >= 0 && *in_dst >= 0 && *in_src != *in_dst;
}

static tsr_status run_transpose(const struct launch *launch, const tsr_nest *nest, int in_src, int in_dst)
{
    const int64_t columns = nest->loop[in_src].n, rows = nest->loop[in_dst].n;
    const size_t items[] = {round_up(columns, TSR_OPENCL_TILE), round_up(rows, TSR_OPENCL_TILE),
                            (size_t)(tsr_nest_elements(nest) / columns / rows)};
    const size_t group[] = {TSR_OPENCL_TILE, TSR_OPENCL_TILE, 1};
    tsr_opencl_nest loops;
    tsr_status status = translate(&loops, nest, in_src, in_dst, launch->error);
    return status == TSR_OK ? start(launch, "transpose_4", &loops, 3, items, group) : status;
}

static tsr_status run_elements(void *context, const tsr_nest *nest)
{
    const struct launch *launch = context;
    int in_src, in_dst;
    if (launch->may_transpose && find_transpose(nest, &in_src, &in_dst))
        return run_transpose(launch, nest, in_src, in_dst);
    return run_box(context, nest);
}

/* ---- the whole ---- */

/*
 * A plan has lowered the problem, and a cache keeps it. One that keeps the padding has boxes for that alone, and one in
 * place has none that cover elements.
 */
static tsr_status get_plan(tsr_opencl *opencl, const tsr_plan **plan, const tsr_desc *src, const tsr_desc *dst,
                           bool in_place, tsr_error *error)
{
    const tsr_reorder_options options = {.padding = TSR_PADDING_KEEP, .in_place = in_place};
    tsr_status status = tsr_opencl_build(opencl, error);
    if (status == TSR_OK)
        status = tsr_plan_cache_get(NULL, src, dst, &options, plan, error);
    return status == TSR_OUT_OF_MEMORY ? TSR_UNSUPPORTED : status; /* the host may have a plan */
}

static tsr_status run_padding(const tsr_lowering *lowering, const struct launch *launch, tsr_dtype dtype)
{
    char zero[16];
    snprintf(zero, sizeof zero, "zero_%zu", tsr_dtype_size_bytes(dtype));
    struct launch zeros = *launch;
    zeros.kernel = zero;
    zeros.src = launch->dst; /* is not read */
    return tsr_lower_padding(lowering, run_box, &zeros);
}

/* Padding first, as its box may be that of everything. */
tsr_status tsr_opencl_reorder(void *context, const tsr_desc *src_desc, const void *src, const tsr_desc *dst_desc,
                              void *dst, tsr_error *error)
{
    char kernel[32];
    struct launch launch = {.opencl = context, .src = (cl_mem)src, .dst = dst, .kernel = kernel, .error = error};
    const tsr_plan *plan;
    if (src == dst || !name_kernel(kernel, sizeof kernel, src_desc->dtype, dst_desc->dtype))
        return tsr_fail(error, TSR_UNSUPPORTED, "OpenCL does not convert %s to %s, or in place",
                        tsr_dtype_name(src_desc->dtype), tsr_dtype_name(dst_desc->dtype));
    launch.may_transpose = src_desc->dtype == dst_desc->dtype && tsr_dtype_size_bytes(dst_desc->dtype) == 4;
    tsr_status status = get_plan(context, &plan, src_desc, dst_desc, false, error);
    if (status != TSR_OK)
        return status;
    status = run_padding(&plan->lowering, &launch, dst_desc->dtype);
    if (status == TSR_OK)
        status = tsr_lower_elements(&plan->lowering, run_elements, &launch);
    tsr_plan_cache_put(NULL, &plan);
    return status;
}

tsr_status tsr_opencl_zero_padding(void *context, const tsr_desc *desc, void *memory, tsr_error *error)
{
    const struct launch launch = {.opencl = context, .dst = memory, .error = error};
    const tsr_plan *plan;
    if (tsr_dtype_bits(desc->dtype) < 8)
        return tsr_fail(error, TSR_UNSUPPORTED, "OpenCL does not zero the padding of %s", tsr_dtype_name(desc->dtype));
    tsr_status status = get_plan(context, &plan, desc, desc, true, error);
    if (status != TSR_OK)
        return status;
    status = run_padding(&plan->lowering, &launch, desc->dtype);
    tsr_plan_cache_put(NULL, &plan);
    return status;
}
