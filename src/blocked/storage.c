/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/storage.h>

#include <stdatomic.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/ref.h"

struct tsr_storage {
    tsr_ref ref;
    size_t capacity_bytes;
    _Atomic(void *) memory; /* NULL until somebody asks */
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
    atomic_init(&made->memory, memory);
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

tsr_status tsr_storage_data(tsr_storage *storage, void **data, tsr_error *error)
{
    void *memory = atomic_load_explicit(&storage->memory, memory_order_acquire);
    if (!memory && storage->capacity_bytes > 0) {
        void *expected = NULL, *fresh = tsr_allocate_zeroed(&storage->allocator, storage->capacity_bytes, 1);
        if (!fresh)
            return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for %zu bytes of storage", storage->capacity_bytes);
        if (atomic_compare_exchange_strong(&storage->memory, &expected, fresh)) {
            memory = fresh;
        } else { /* another thread was first */
            tsr_deallocate(&storage->allocator, fresh, storage->capacity_bytes);
            memory = expected;
        }
    }
    *data = memory;
    return TSR_OK;
}
