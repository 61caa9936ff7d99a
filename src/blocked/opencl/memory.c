/* SPDX-License-Identifier: Apache-2.0 */
#include "blocked/opencl/opencl.h"

/* Whoever has memory has opened the device. OpenCL takes no sizes of 0. */

static tsr_status allocate(void *context, size_t size_bytes, void **memory, tsr_error *error)
{
    tsr_opencl *opencl = context;
    cl_int code;
    tsr_status status = tsr_opencl_open(opencl, error);
    if (status != TSR_OK)
        return status;
    *memory = clCreateBuffer(opencl->context, CL_MEM_READ_WRITE, size_bytes, NULL, &code);
    return tsr_opencl_check(code, "clCreateBuffer", error);
}

static void release(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    (void)size_bytes;
    clReleaseMemObject(memory);
}

static tsr_status copy_in(void *context, void *memory, size_t offset, const void *host, size_t size_bytes,
                          tsr_error *error)
{
    const tsr_opencl *opencl = context;
    if (size_bytes == 0)
        return TSR_OK;
    cl_int code = clEnqueueWriteBuffer(opencl->queue, memory, CL_TRUE, offset, size_bytes, host, 0, NULL, NULL);
    return tsr_opencl_check(code, "clEnqueueWriteBuffer", error);
}

static tsr_status copy_out(void *context, void *host, const void *memory, size_t offset, size_t size_bytes,
                           tsr_error *error)
{
    const tsr_opencl *opencl = context;
    if (size_bytes == 0)
        return TSR_OK;
    cl_int code = clEnqueueReadBuffer(opencl->queue, (cl_mem)memory, CL_TRUE, offset, size_bytes, host, 0, NULL, NULL);
    return tsr_opencl_check(code, "clEnqueueReadBuffer", error);
}

static tsr_status copy_within(void *context, void *dst, size_t dst_offset, const void *src, size_t src_offset,
                              size_t size_bytes, tsr_error *error)
{
    const tsr_opencl *opencl = context;
    if (size_bytes == 0)
        return TSR_OK;
    cl_int code =
        clEnqueueCopyBuffer(opencl->queue, (cl_mem)src, dst, src_offset, dst_offset, size_bytes, 0, NULL, NULL);
    return tsr_opencl_check(code, "clEnqueueCopyBuffer", error);
}

static tsr_status fill(void *context, void *memory, size_t offset, size_t size_bytes, unsigned char byte,
                       tsr_error *error)
{
    const tsr_opencl *opencl = context;
    if (size_bytes == 0)
        return TSR_OK;
    cl_int code = clEnqueueFillBuffer(opencl->queue, memory, &byte, sizeof byte, offset, size_bytes, 0, NULL, NULL);
    return tsr_opencl_check(code, "clEnqueueFillBuffer", error);
}

/* One thread after the other: PoCL 3.1 crashes where two of them map the same memory. */
static tsr_status map(void *context, void *memory, size_t offset, size_t size_bytes, tsr_intent intent, void **host,
                      tsr_error *error)
{
    static const cl_map_flags flags[] = {[TSR_READ] = CL_MAP_READ,
                                         [TSR_WRITE] = CL_MAP_WRITE_INVALIDATE_REGION,
                                         [TSR_READ_WRITE] = CL_MAP_READ | CL_MAP_WRITE};
    tsr_opencl *opencl = context;
    cl_int code;
    pthread_mutex_lock(&opencl->lock);
    *host = clEnqueueMapBuffer(opencl->queue, memory, CL_TRUE, flags[intent], offset, size_bytes, 0, NULL, NULL, &code);
    pthread_mutex_unlock(&opencl->lock);
    return tsr_opencl_check(code, "clEnqueueMapBuffer", error);
}

static tsr_status unmap(void *context, void *memory, void *host, tsr_error *error)
{
    tsr_opencl *opencl = context;
    pthread_mutex_lock(&opencl->lock);
    cl_int code = clEnqueueUnmapMemObject(opencl->queue, memory, host, 0, NULL, NULL);
    pthread_mutex_unlock(&opencl->lock);
    return tsr_opencl_check(code, "clEnqueueUnmapMemObject", error);
}

static tsr_status synchronise(void *context, tsr_error *error)
{
    tsr_opencl *opencl = context;
    tsr_status status = tsr_opencl_open(opencl, error);
    return status == TSR_OK ? tsr_opencl_check(clFinish(opencl->queue), "clFinish", error) : status;
}

const tsr_device_functions tsr_opencl_functions = {
    .size = sizeof(tsr_device_functions),
    .allocate = allocate,
    .release = release,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .copy_within = copy_within,
    .fill = fill,
    .map = map,
    .unmap = unmap,
    .synchronise = synchronise,
    .destroy = tsr_opencl_destroy,
    .reorder = tsr_opencl_reorder,
    .zero_padding = tsr_opencl_zero_padding,
};
