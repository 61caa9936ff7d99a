/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_BLOCKED_DEVICE_H
#define TESSERA_SRC_BLOCKED_DEVICE_H

#include <stdbool.h>

#include <tessera/device.h>

#include "base/ref.h"

enum { TSR_DEVICE_NAME_SIZE = 32 };

struct tsr_device {
    tsr_ref ref;
    tsr_device_functions does; /* those that an older table lacks are NULL */
    void *context;
    tsr_device *next; /* in the list of those that are known by name */
    char name[TSR_DEVICE_NAME_SIZE];
};

/* The table of the host, whose memory comes from the default allocator. */
extern const tsr_device_functions tsr_host_functions;

/* Makes the devices of OpenCL known, the first time that it is called. */
void tsr_register_opencl(void);

static inline bool tsr_is_host(const tsr_device *device)
{
    return device == tsr_device_host();
}

#endif
