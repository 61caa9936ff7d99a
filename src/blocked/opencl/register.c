/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdio.h>

#include "base/alloc.h"
#include "blocked/opencl/opencl.h"

enum { MAX_PLATFORMS = 16, MAX_DEVICES = 64 };

static cl_uint at_most(cl_uint found, cl_uint room)
{
    return found < room ? found : room;
}

/* OpenCL 1.2 or newer. */
static bool is_new_enough(cl_device_id device)
{
    char version[256] = "";
    int major = 0, minor = 0;
    if (clGetDeviceInfo(device, CL_DEVICE_VERSION, sizeof version, version, NULL) != CL_SUCCESS ||
        sscanf(version, "OpenCL %d.%d", &major, &minor) != 2)
        return false;
    return major > 1 || (major == 1 && minor >= 2);
}

/* Who is asked for it finds out whether it can be used; here it only gets its name. False: there is no memory for
 * that. */
static bool register_device(cl_device_id device, int number)
{
    char name[TSR_DEVICE_NAME_SIZE] = "opencl";
    tsr_opencl *made = tsr_allocate_zeroed(tsr_default_allocator(), 1, sizeof *made);
    if (!made)
        return false;
    made->device = device;
    pthread_mutex_init(&made->lock, NULL);
    if (number > 0)
        snprintf(name, sizeof name, "opencl:%d", number);
    tsr_status status = tsr_device_register(name, &tsr_opencl_functions, made, NULL);
    if (status != TSR_OK)
        tsr_opencl_destroy(made);
    return status != TSR_OUT_OF_MEMORY; /* or else the name is taken, as it is when this is done again */
}

/* False: not all of them. */
static bool register_all(void)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_device_id devices[MAX_DEVICES];
    cl_uint platform_count, device_count;
    bool are_all = true;
    int number = 0;
    if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &platform_count) != CL_SUCCESS)
        return true;
    for (cl_uint i = 0; i < at_most(platform_count, MAX_PLATFORMS); i++) {
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, MAX_DEVICES, devices, &device_count) != CL_SUCCESS)
            continue;
        for (cl_uint k = 0; k < at_most(device_count, MAX_DEVICES); k++)
            if (is_new_enough(devices[k]))
                are_all = register_device(devices[k], number++) && are_all;
    }
    return are_all;
}

void tsr_register_opencl(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool is_done;
    pthread_mutex_lock(&lock);
    is_done = is_done || register_all();
    pthread_mutex_unlock(&lock);
}
