/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "blocked/opencl/opencl.h"
#include "opencl_kernels.h"

/* All others are failures of the device. */
static const struct {
    cl_int code;
    tsr_status status;
} meanings[] = {
    {CL_SUCCESS, TSR_OK},
    {CL_OUT_OF_HOST_MEMORY, TSR_OUT_OF_MEMORY},
    {CL_OUT_OF_RESOURCES, TSR_OUT_OF_MEMORY},
    {CL_MEM_OBJECT_ALLOCATION_FAILURE, TSR_OUT_OF_MEMORY},
    {CL_INVALID_BUFFER_SIZE, TSR_OUT_OF_MEMORY}, /* more than the device ever gives */
    {CL_COMPILER_NOT_AVAILABLE, TSR_UNSUPPORTED},
    {CL_INVALID_WORK_GROUP_SIZE, TSR_UNSUPPORTED},
};

tsr_status tsr_opencl_check(cl_int code, const char *call, tsr_error *error)
{
    tsr_status status = TSR_IO_ERROR;
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].code == code)
            status = meanings[i].status;
    return status == TSR_OK ? TSR_OK : tsr_fail(error, status, "%s failed with code %d", call, code);
}

/* ---- made when first asked for; the lock is held ---- */

static tsr_status make_queue(tsr_opencl *opencl, tsr_error *error)
{
    cl_int code;
    if (!opencl->context)
        opencl->context = clCreateContext(NULL, 1, &opencl->device, NULL, NULL, &code);
    if (!opencl->context)
        return tsr_opencl_check(code, "clCreateContext", error);
    opencl->queue = clCreateCommandQueue(opencl->context, opencl->device, 0, &code);
    return tsr_opencl_check(code, "clCreateCommandQueue", error);
}

static tsr_status make_program(tsr_opencl *opencl, tsr_error *error)
{
    static const char *lines[] = {TSR_OPENCL_KERNELS};
    char options[64];
    cl_int code;
    cl_program made = clCreateProgramWithSource(opencl->context, sizeof lines / sizeof *lines, lines, NULL, &code);
    if (!made)
        return tsr_opencl_check(code, "clCreateProgramWithSource", error);
    snprintf(options, sizeof options, "-cl-std=CL1.2 -DLOOPS=%d -DTILE=%d", TSR_OPENCL_LOOPS, TSR_OPENCL_TILE);
    code = clBuildProgram(made, 1, &opencl->device, options, NULL, NULL);
    if (code == CL_SUCCESS)
        opencl->program = made;
    else
        clReleaseProgram(made);
    return tsr_opencl_check(code, "clBuildProgram", error);
}

tsr_status tsr_opencl_open(tsr_opencl *opencl, tsr_error *error)
{
    pthread_mutex_lock(&opencl->lock);
    tsr_status status = opencl->queue ? TSR_OK : make_queue(opencl, error);
    pthread_mutex_unlock(&opencl->lock);
    return status;
}

tsr_status tsr_opencl_build(tsr_opencl *opencl, tsr_error *error)
{
    pthread_mutex_lock(&opencl->lock);
    tsr_status status = opencl->program ? TSR_OK : make_program(opencl, error);
    pthread_mutex_unlock(&opencl->lock);
    return status;
}

void tsr_opencl_destroy(void *context)
{
    tsr_opencl *opencl = context;
    if (opencl->program)
        clReleaseProgram(opencl->program);
    if (opencl->queue)
        clReleaseCommandQueue(opencl->queue);
    if (opencl->context)
        clReleaseContext(opencl->context);
    pthread_mutex_destroy(&opencl->lock);
    tsr_deallocate(tsr_default_allocator(), opencl, sizeof *opencl);
}
