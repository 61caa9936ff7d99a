/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static void *system_allocate(void *context, size_t size_bytes, size_t alignment)
{
    (void)context;
    /* aligned_alloc wants a multiple of the alignment */
    size_t rounded = (size_bytes + alignment - 1) / alignment * alignment;
    return rounded < size_bytes ? NULL : aligned_alloc(alignment, rounded);
}

static void system_release(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    (void)size_bytes;
    free(memory);
}

const tsr_allocator *tsr_default_allocator(void)
{
    static const tsr_allocator system = {system_allocate, system_release, NULL};
    return &system;
}

void *tsr_allocate(const tsr_allocator *allocator, size_t size_bytes)
{
    return size_bytes ? allocator->allocate(allocator->context, size_bytes, TSR_ALIGNMENT) : NULL;
}

void *tsr_allocate_zeroed(const tsr_allocator *allocator, size_t count, size_t element_bytes)
{
    size_t size_bytes;
    if (__builtin_mul_overflow(count, element_bytes, &size_bytes))
        return NULL;
    void *memory = tsr_allocate(allocator, size_bytes);
    return memory ? memset(memory, 0, size_bytes) : NULL;
}

void tsr_deallocate(const tsr_allocator *allocator, void *memory, size_t size_bytes)
{
    if (memory)
        allocator->release(allocator->context, memory, size_bytes);
}
