/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_MEMORY_H
#define TESSERA_MEMORY_H

#include <stddef.h>

#include <tessera/export.h>

TSR_BEGIN_DECLS

/* Tensors are aligned to a cache line, which is also the widest vector register. */
#define TSR_ALIGNMENT 64

/*
 * Where memory comes from. The library calls both functions from any thread.
 *
 *   allocate  returns size_bytes > 0 bytes aligned to alignment (a power of two), or NULL
 *   release   takes back what allocate returned, with the same size; never NULL
 */
typedef struct tsr_allocator {
    void *(*allocate)(void *context, size_t size_bytes, size_t alignment);
    void (*release)(void *context, void *memory, size_t size_bytes);
    void *context;
} tsr_allocator;

/* The allocator that NULL stands for everywhere: the system's aligned_alloc and free. */
TSR_API const tsr_allocator *tsr_default_allocator(void);

TSR_END_DECLS

#endif
