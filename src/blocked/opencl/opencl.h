/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_BLOCKED_OPENCL_OPENCL_H
#define TESSERA_SRC_BLOCKED_OPENCL_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <pthread.h>

#include "blocked/device.h"

/* A device of OpenCL. Its memory is named by cl_mem. */
typedef struct tsr_opencl {
    cl_device_id device;
    pthread_mutex_t lock;   /* held while the following are made, and where memory is mapped */
    cl_context context;     /* NULL until memory is asked for */
    cl_command_queue queue; /* in order, so that what is asked of memory waits for what was asked before */
    cl_program program;     /* NULL until the first reorder */
} tsr_opencl;

/* What opencl.device does; the context is a tsr_opencl. */
extern const tsr_device_functions tsr_opencl_functions;

/* TSR_OK for CL_SUCCESS; or else a message that names the call and its code. */
tsr_status tsr_opencl_check(cl_int code, const char *call, tsr_error *error);

/* Sees to it that there is a queue. */
tsr_status tsr_opencl_open(tsr_opencl *opencl, tsr_error *error);

/* Sees to it that there is a program; of a device that has been opened. */
tsr_status tsr_opencl_build(tsr_opencl *opencl, tsr_error *error);

/* Gives back all that there is, and the device itself. */
void tsr_opencl_destroy(void *context);

/* As tsr_device_functions has it. */
tsr_status tsr_opencl_reorder(void *context, const tsr_desc *src_desc, const void *src, const tsr_desc *dst_desc,
                              void *dst, tsr_error *error);
tsr_status tsr_opencl_zero_padding(void *context, const tsr_desc *desc, void *memory, tsr_error *error);

/* ---- what the kernels share with whoever starts them ---- */

enum {
    TSR_OPENCL_LOOPS = 16, /* of a nest, at most */
    TSR_OPENCL_TILE = 16,  /* rows and columns that a group of a transpose moves */
    TSR_OPENCL_GROUP = 64  /* elements that a group moves otherwise */
};

/* A nest (reorder/nest.h) without tables, as kernels.cl has it. */
typedef struct tsr_opencl_nest {
    cl_long src, dst;
    cl_long elements;
    cl_long count;
    cl_long n[TSR_OPENCL_LOOPS], src_stride[TSR_OPENCL_LOOPS], dst_stride[TSR_OPENCL_LOOPS];
} tsr_opencl_nest;

#endif
