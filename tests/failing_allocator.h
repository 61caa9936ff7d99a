/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_FAILING_ALLOCATOR_H
#define TESSERA_TESTS_FAILING_ALLOCATOR_H

/*
 * An allocator that counts, and that has nothing to give when the fail_at-th allocation is asked
 * for. Not for threads.
 */
#include <stdint.h>

#include <tessera/memory.h>

typedef struct failing_allocator {
    int fail_at; /* 0: never */
    int allocations;
    int64_t live, live_bytes;
} failing_allocator;

static inline void *failing_allocate(void *context, size_t size_bytes, size_t alignment)
{
    failing_allocator *counter = context;
    if (++counter->allocations == counter->fail_at)
        return NULL;
    const tsr_allocator *system = tsr_default_allocator();
    counter->live++;
    counter->live_bytes += (int64_t)size_bytes;
    return system->allocate(system->context, size_bytes, alignment);
}

static inline void failing_release(void *context, void *memory, size_t size_bytes)
{
    failing_allocator *counter = context;
    const tsr_allocator *system = tsr_default_allocator();
    counter->live--;
    counter->live_bytes -= (int64_t)size_bytes;
    system->release(system->context, memory, size_bytes);
}

static inline tsr_allocator failing_allocator_of(failing_allocator *counter)
{
    return (tsr_allocator){failing_allocate, failing_release, counter};
}

#endif
