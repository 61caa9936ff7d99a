/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_BASE_ALLOC_H
#define TESSERA_SRC_BASE_ALLOC_H

#include <tessera/memory.h>

/* Memory from an allocator, aligned to TSR_ALIGNMENT; NULL when there is none or when size_bytes is 0. */
void *tsr_allocate(const tsr_allocator *allocator, size_t size_bytes);

/* Zeroed memory for count elements; NULL also when the product does not fit. */
void *tsr_allocate_zeroed(const tsr_allocator *allocator, size_t count, size_t element_bytes);

/* Gives memory back; NULL is ignored. */
void tsr_deallocate(const tsr_allocator *allocator, void *memory, size_t size_bytes);

#endif
