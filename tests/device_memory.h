/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_DEVICE_MEMORY_H
#define TESSERA_TESTS_DEVICE_MEMORY_H

/* Memory of a device, and reorders there. Include behind <cmocka.h>. */
#include <tessera/device.h>

#include "blocked/device.h"

/* What a device does must be done. */
static inline void expect_ok(tsr_status status, const tsr_error *error)
{
    if (status != TSR_OK)
        fail_msg("%s: %s", tsr_status_name(status), error->message);
}

static inline void *allocate(const tsr_device *device, size_t size_bytes)
{
    void *memory = NULL;
    tsr_error error = {0};
    expect_ok(device->does.allocate(device->context, size_bytes, &memory, &error), &error);
    return memory;
}

static inline void copy_in(const tsr_device *device, void *memory, size_t offset, const void *host, size_t size_bytes)
{
    tsr_error error = {0};
    expect_ok(device->does.copy_in(device->context, memory, offset, host, size_bytes, &error), &error);
}

static inline void copy_out(const tsr_device *device, void *host, const void *memory, size_t offset, size_t size_bytes)
{
    tsr_error error = {0};
    expect_ok(device->does.copy_out(device->context, host, memory, offset, size_bytes, &error), &error);
}

static inline size_t bytes_of(const tsr_desc *desc)
{
    return (size_t)tsr_desc_size_bytes(desc);
}

typedef tsr_status (*reorder_there)(const tsr_device *device, const tsr_desc *src_desc, void *src,
                                    const tsr_desc *dst_desc, void *dst, tsr_error *error);

/* What a reorder in the memory of a device makes of a destination, which has a byte more than it needs. */
static inline tsr_status reorder_by(reorder_there reorder, const tsr_device *device, const tsr_desc *src_desc,
                                    const void *src, const tsr_desc *dst_desc, void *dst, tsr_error *error)
{
    const size_t src_bytes = bytes_of(src_desc), dst_bytes = bytes_of(dst_desc);
    void *from = allocate(device, src_bytes + 1), *to = allocate(device, dst_bytes + 1);
    copy_in(device, from, 0, src, src_bytes);
    copy_in(device, to, 0, dst, dst_bytes + 1);
    tsr_status status = reorder(device, src_desc, from, dst_desc, to, error);
    copy_out(device, dst, to, 0, dst_bytes + 1);
    device->does.release(device->context, from, src_bytes + 1);
    device->does.release(device->context, to, dst_bytes + 1);
    return status;
}

static inline tsr_status reorder_by_itself(const tsr_device *device, const tsr_desc *src_desc, void *src,
                                           const tsr_desc *dst_desc, void *dst, tsr_error *error)
{
    return device->does.reorder(device->context, src_desc, src, dst_desc, dst, error);
}

/* By the device alone. */
static inline tsr_status reorder_on(const tsr_device *device, const tsr_desc *src_desc, const void *src,
                                    const tsr_desc *dst_desc, void *dst, tsr_error *error)
{
    return reorder_by(reorder_by_itself, device, src_desc, src, dst_desc, dst, error);
}

#endif
