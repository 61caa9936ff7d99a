/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "blocked/device.h"

/* A device over an allocator: memory is its handles, mapped by locking them. */

static tsr_status allocate(void *context, size_t size_bytes, void **memory, tsr_error *error)
{
    const tsr_locking_allocator *allocator = context;
    void *handle = allocator->allocate(allocator->context, size_bytes);
    if (!handle)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "the allocator has no memory for %zu bytes", size_bytes);
    *memory = handle;
    return TSR_OK;
}

static void release(void *context, void *memory, size_t size_bytes)
{
    const tsr_locking_allocator *allocator = context;
    (void)size_bytes;
    (void)allocator->release(allocator->context, memory); /* there is nobody to tell */
}

static tsr_status map(void *context, void *memory, size_t offset, size_t size_bytes, tsr_intent intent, void **host,
                      tsr_error *error)
{
    const tsr_locking_allocator *allocator = context;
    void *address = allocator->lock(allocator->context, memory, intent);
    if (!address)
        return tsr_fail(error, TSR_IO_ERROR, "the allocator does not lock its %zu bytes", size_bytes);
    *host = (char *)address + offset;
    return TSR_OK;
}

static tsr_status unmap(void *context, void *memory, void *host, tsr_error *error)
{
    const tsr_locking_allocator *allocator = context;
    (void)host;
    (void)error;
    allocator->unlock(allocator->context, memory);
    return TSR_OK;
}

static tsr_status copy_in(void *context, void *memory, size_t offset, const void *host, size_t size_bytes,
                          tsr_error *error)
{
    void *to = NULL;
    tsr_status status = map(context, memory, offset, size_bytes, TSR_READ_WRITE, &to, error);
    if (status != TSR_OK)
        return status;
    memcpy(to, host, size_bytes);
    return unmap(context, memory, to, error);
}

static tsr_status copy_out(void *context, void *host, const void *memory, size_t offset, size_t size_bytes,
                           tsr_error *error)
{
    void *handle = (void *)(uintptr_t)memory, *from = NULL;
    tsr_status status = map(context, handle, offset, size_bytes, TSR_READ, &from, error);
    if (status != TSR_OK)
        return status;
    memcpy(host, from, size_bytes);
    return unmap(context, handle, from, error);
}

static tsr_status copy_within(void *context, void *dst, size_t dst_offset, const void *src, size_t src_offset,
                              size_t size_bytes, tsr_error *error)
{
    void *handle = (void *)(uintptr_t)src, *from = NULL;
    tsr_status status = map(context, handle, src_offset, size_bytes, TSR_READ, &from, error);
    if (status != TSR_OK)
        return status;
    status = copy_in(context, dst, dst_offset, from, size_bytes, error);
    unmap(context, handle, from, NULL);
    return status;
}

static tsr_status fill(void *context, void *memory, size_t offset, size_t size_bytes, unsigned char byte,
                       tsr_error *error)
{
    void *to = NULL;
    tsr_status status = map(context, memory, offset, size_bytes, TSR_READ_WRITE, &to, error);
    if (status != TSR_OK)
        return status;
    memset(to, byte, size_bytes);
    return unmap(context, memory, to, error);
}

static void destroy(void *context)
{
    tsr_deallocate(tsr_default_allocator(), context, sizeof(tsr_locking_allocator));
}

static const tsr_device_functions functions = {
    .size = sizeof functions,
    .allocate = allocate,
    .release = release,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .copy_within = copy_within,
    .fill = fill,
    .map = map,
    .unmap = unmap,
    .destroy = destroy,
};

static bool is_complete(const tsr_locking_allocator *allocator)
{
    return allocator && allocator->allocate && allocator->release && allocator->lock && allocator->unlock;
}

tsr_status tsr_device_register_allocator(const char *name, const tsr_locking_allocator *allocator, tsr_error *error)
{
    if (!is_complete(allocator))
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected an allocator with all of its functions");
    tsr_locking_allocator *context = tsr_allocate(tsr_default_allocator(), sizeof *context);
    if (!context)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for an allocator");
    *context = *allocator;
    tsr_status status = tsr_device_register(name, &functions, context, error);
    if (status != TSR_OK)
        destroy(context);
    return status;
}
