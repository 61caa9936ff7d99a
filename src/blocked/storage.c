/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/storage.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/ref.h"

struct tsr_storage {
    tsr_ref ref;
    size_t capacity_bytes;
    _Atomic(void *) memory; /* NULL until somebody asks */
    pthread_mutex_t lock;   /* held while it is allocated */
    tsr_allocator allocator;
    bool is_wrapped;
    void (*release)(void *context, void *memory); /* of wrapped memory; may be NULL */
    void *context;
};

static tsr_storage *new_handle(size_t capacity_bytes, const tsr_allocator *allocator)
{
    tsr_storage *made = tsr_allocate_zeroed(allocator, 1, sizeof *made);
    if (!made)
        return NULL;
    tsr_ref_init(&made->ref);
    atomic_init(&made->memory, NULL);
    pthread_mutex_init(&made->lock, NULL);
    made->capacity_bytes = capacity_bytes;
    made->allocator = *allocator;
    return made;
}

tsr_status tsr_storage_create(tsr_storage **storage, size_t capacity_bytes, const tsr_allocator *allocator,
                              tsr_error *error)
{
    tsr_storage *made = new_handle(capacity_bytes, allocator ? allocator : tsr_default_allocator());
    if (!made)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for a storage handle");
    *storage = made;
    return TSR_OK;
}

tsr_status tsr_storage_wrap(tsr_storage **storage, void *memory, size_t capacity_bytes,
                            void (*release)(void *context, void *memory), void *context, tsr_error *error)
{
    if (!memory && capacity_bytes > 0)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected memory of %zu bytes, found NULL", capacity_bytes);
    tsr_storage *made = new_handle(capacity_bytes, tsr_default_allocator());
    if (!made)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for a storage handle");
    atomic_store(&made->memory, memory);
    made->is_wrapped = true;
    made->release = release;
    made->context = context;
    *storage = made;
    return TSR_OK;
}

tsr_storage *tsr_storage_share(tsr_storage *storage)
{
    if (storage)
        tsr_ref_take(&storage->ref);
    return storage;
}

void tsr_storage_release(tsr_storage **storage)
{
    tsr_storage *old = storage ? *storage : NULL;
    if (!old)
        return;
    *storage = NULL;
    if (!tsr_ref_drop(&old->ref))
        return;
    void *memory = atomic_load(&old->memory);
    if (old->is_wrapped && old->release)
        old->release(old->context, memory);
    else if (!old->is_wrapped)
        tsr_deallocate(&old->allocator, memory, old->capacity_bytes);
    pthread_mutex_destroy(&old->lock);
    tsr_allocator allocator = old->allocator;
    tsr_deallocate(&allocator, old, sizeof *old);
}

size_t tsr_storage_capacity_bytes(const tsr_storage *storage)
{
    return storage->capacity_bytes;
}

bool tsr_storage_is_allocated(const tsr_storage *storage)
{
    return storage->is_wrapped || atomic_load(&storage->memory) != NULL;
}

/* The first thread to come allocates; those that come meanwhile wait, so that one buffer at most exists. */
static void *allocate_once(tsr_storage *storage)
{
    pthread_mutex_lock(&storage->lock);
    void *memory = atomic_load_explicit(&storage->memory, memory_order_relaxed);
    if (!memory) {
        memory = tsr_allocate_zeroed(&storage->allocator, storage->capacity_bytes, 1);
        atomic_store_explicit(&storage->memory, memory, memory_order_release);
    }
    pthread_mutex_unlock(&storage->lock);
    return memory;
}

tsr_status tsr_storage_data(tsr_storage *storage, void **data, tsr_error *error)
{
    void *memory = atomic_load_explicit(&storage->memory, memory_order_acquire);
    if (!memory && storage->capacity_bytes > 0) {
        memory = allocate_once(storage);
        if (!memory)
            return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for %zu bytes of storage", storage->capacity_bytes);
    }
    *data = memory;
    return TSR_OK;
}
