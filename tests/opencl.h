/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_OPENCL_H
#define TESSERA_TESTS_OPENCL_H

/* Include behind <cmocka.h>. */
#include <stdio.h>

#include <tessera/device.h>

/* Is there no device of OpenCL? Then all tests are skipped, and the report says why. */
static inline bool lacks_opencl(void)
{
    tsr_device *device = NULL;
    tsr_error error = {0};
    const bool is_there = tsr_device_find("opencl", &device, &error) == TSR_OK;
    if (!is_there)
        printf("1..0 # SKIP %s\n", error.message);
    tsr_device_release(&device);
    return !is_there;
}

/* The first device of OpenCL. */
static inline tsr_device *find_opencl(void)
{
    tsr_device *device = NULL;
    tsr_error error = {0};
    if (tsr_device_find("opencl", &device, &error) != TSR_OK)
        fail_msg("%s", error.message);
    return device;
}

#endif
