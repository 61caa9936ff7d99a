/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "blocked/device.h"

static tsr_status allocate(void *context, size_t size_bytes, void **memory, tsr_error *error)
{
    (void)context;
    *memory = tsr_allocate(tsr_default_allocator(), size_bytes);
    return *memory ? TSR_OK : tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for %zu bytes on the host", size_bytes);
}

static void release(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    tsr_deallocate(tsr_default_allocator(), memory, size_bytes);
}

static tsr_status copy_in(void *context, void *memory, size_t offset, const void *host, size_t size_bytes,
                          tsr_error *error)
{
    (void)context;
    (void)error;
    memcpy((char *)memory + offset, host, size_bytes);
    return TSR_OK;
}

static tsr_status copy_out(void *context, void *host, const void *memory, size_t offset, size_t size_bytes,
                           tsr_error *error)
{
    (void)context;
    (void)error;
    memcpy(host, (const char *)memory + offset, size_bytes);
    return TSR_OK;
}

static tsr_status copy_within(void *context, void *dst, size_t dst_offset, const void *src, size_t src_offset,
                              size_t size_bytes, tsr_error *error)
{
    return copy_in(context, dst, dst_offset, (const char *)src + src_offset, size_bytes, error);
}

static tsr_status fill(void *context, void *memory, size_t offset, size_t size_bytes, unsigned char byte,
                       tsr_error *error)
{
    (void)context;
    (void)error;
    memset((char *)memory + offset, byte, size_bytes);
    return TSR_OK;
}

static tsr_status map(void *context, void *memory, size_t offset, size_t size_bytes, tsr_intent intent, void **host,
                      tsr_error *error)
{
    (void)context;
    (void)size_bytes;
    (void)intent;
    (void)error;
    *host = (char *)memory + offset;
    return TSR_OK;
}

static tsr_status unmap(void *context, void *memory, void *host, tsr_error *error)
{
    (void)context;
    (void)memory;
    (void)host;
    (void)error;
    return TSR_OK;
}

const tsr_device_functions tsr_host_functions = {
    .size = sizeof(tsr_device_functions),
    .allocate = allocate,
    .release = release,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .copy_within = copy_within,
    .fill = fill,
    .map = map,
    .unmap = unmap,
};
