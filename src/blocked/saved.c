/* SPDX-License-Identifier: Apache-2.0 */
#include "blocked/saved.h"

#include "base/alloc.h"
#include "base/error.h"

struct tsr_saved {
    tsr_saved *next;
    const tsr_device *device;
    void *memory; /* of which these bytes have a copy */
    tsr_bytes bytes;
    void *copy;
};

/* Memory of the host is the allocator's. */
static tsr_status allocate(tsr_saved *saved, const tsr_allocator *allocator, tsr_error *error)
{
    const tsr_device *device = saved->device;
    const size_t size_bytes = saved->bytes.count;
    if (!tsr_is_host(device))
        return device->does.allocate(device->context, size_bytes, &saved->copy, error);
    saved->copy = tsr_allocate(allocator, size_bytes);
    return saved->copy ? TSR_OK : tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory to save %zu bytes", size_bytes);
}

static void release(const tsr_saved *saved, const tsr_allocator *allocator)
{
    const tsr_device *device = saved->device;
    if (!tsr_is_host(device) && saved->copy)
        device->does.release(device->context, saved->copy, saved->bytes.count);
    if (tsr_is_host(device))
        tsr_deallocate(allocator, saved->copy, saved->bytes.count);
}

static void free_one(tsr_saved *saved, const tsr_allocator *allocator)
{
    release(saved, allocator);
    tsr_deallocate(allocator, saved, sizeof *saved);
}

tsr_status tsr_save(tsr_saved **saved, const tsr_device *device, void *memory, tsr_bytes bytes,
                    const tsr_allocator *allocator, tsr_error *error)
{
    if (bytes.count == 0)
        return TSR_OK;
    tsr_saved *made = tsr_allocate_zeroed(allocator, 1, sizeof *made);
    if (!made)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory to save what a device may fail to write");
    *made = (tsr_saved){.next = *saved, .device = device, .memory = memory, .bytes = bytes};
    tsr_status status = allocate(made, allocator, error);
    if (status == TSR_OK)
        status = device->does.copy_within(device->context, made->copy, 0, memory, bytes.first, bytes.count, error);
    if (status == TSR_OK)
        *saved = made;
    else
        free_one(made, allocator);
    return status;
}

bool tsr_bring_back(const tsr_saved *saved)
{
    bool is_back = true;
    for (; saved; saved = saved->next) {
        const tsr_device *device = saved->device;
        tsr_status status = device->does.copy_within(device->context, saved->memory, saved->bytes.first, saved->copy, 0,
                                                     saved->bytes.count, NULL);
        is_back = is_back && status == TSR_OK;
    }
    return is_back;
}

void tsr_saved_free(tsr_saved **saved, const tsr_allocator *allocator)
{
    for (tsr_saved *first; (first = *saved) != NULL;) {
        *saved = first->next;
        free_one(first, allocator);
    }
}
