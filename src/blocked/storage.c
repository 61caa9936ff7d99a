/* SPDX-License-Identifier: Apache-2.0 */
#include "blocked/storage.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include <tessera/parallel.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/int.h"
#include "base/lock.h"
#include "base/ref.h"
#include "blocked/device.h"

struct tsr_storage {
    tsr_ref ref;
    size_t capacity_bytes;
    _Atomic(void *) memory; /* NULL until somebody asks */
    tsr_device *device;
    union {
        tsr_allocator allocator; /* of the handle, and of memory of the host */
        struct {
            void (*release)(void *context, void *memory); /* may be NULL */
            void *context;
        } wrapped; /* memory, whose handle is the default allocator's */
    };
    bool is_wrapped;
    bool is_being_allocated; /* by a thread that will say so; guarded by tsr_lock_of(storage) */
    int threads;             /* that zero memory of the host */
};

/* ---- memory ---- */

static void give_back(const tsr_storage *storage, void *memory)
{
    const tsr_device *device = storage->device;
    if (tsr_is_host(device))
        tsr_deallocate(&storage->allocator, memory, storage->capacity_bytes);
    else
        device->does.release(device->context, memory, storage->capacity_bytes);
}

static tsr_status get_zeroed_from_device(const tsr_storage *storage, void **memory, tsr_error *error)
{
    const tsr_device *device = storage->device;
    tsr_status status = device->does.allocate(device->context, storage->capacity_bytes, memory, error);
    if (status != TSR_OK) {
        *memory = NULL;
        return status;
    }
    status = device->does.fill(device->context, *memory, 0, storage->capacity_bytes, 0, error);
    if (status != TSR_OK) {
        give_back(storage, *memory);
        *memory = NULL;
    }
    return status;
}

/* Memory is first touched, and so placed, in contiguous pieces of a huge page, as most machines have them. */
enum { PIECE_BYTES = 2 << 20 };

struct span {
    char *memory;
    size_t size_bytes;
};

static void zero_pieces(void *argument, int64_t begin, int64_t end)
{
    const struct span *span = argument;
    const size_t from = (size_t)begin * PIECE_BYTES, to = (size_t)end * PIECE_BYTES;
    memset(span->memory + from, 0, (to < span->size_bytes ? to : span->size_bytes) - from);
}

static void zero(void *memory, size_t size_bytes, int threads)
{
    struct span span = {memory, size_bytes};
    tsr_parallel_for(NULL, threads, tsr_ceil_div((int64_t)size_bytes, PIECE_BYTES), 1, zero_pieces, &span);
}

/* On failure, memory is NULL. */
static tsr_status get_zeroed(const tsr_storage *storage, void **memory, tsr_error *error)
{
    if (!tsr_is_host(storage->device))
        return get_zeroed_from_device(storage, memory, error);
    *memory = tsr_allocate(&storage->allocator, storage->capacity_bytes);
    if (!*memory)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for %zu bytes of storage", storage->capacity_bytes);
    zero(*memory, storage->capacity_bytes, storage->threads);
    return TSR_OK;
}

/* ---- handles ---- */

static tsr_storage *new_handle(size_t capacity_bytes, const tsr_allocator *allocator)
{
    tsr_storage *made = tsr_allocate_zeroed(allocator, 1, sizeof *made);
    if (!made)
        return NULL;
    tsr_ref_init(&made->ref);
    atomic_init(&made->memory, NULL);
    made->capacity_bytes = capacity_bytes;
    made->allocator = *allocator;
    made->device = tsr_device_host();
    made->threads = 1;
    return made;
}

tsr_status tsr_storage_create_at(tsr_storage **storage, tsr_device *device, size_t capacity_bytes,
                                 const tsr_allocator *allocator, tsr_error *error)
{
    tsr_storage *made = new_handle(capacity_bytes, allocator ? allocator : tsr_default_allocator());
    if (!made)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for a storage handle");
    made->device = tsr_device_share(device);
    *storage = made;
    return TSR_OK;
}

tsr_status tsr_storage_create(tsr_storage **storage, size_t capacity_bytes, const tsr_allocator *allocator,
                              tsr_error *error)
{
    return tsr_storage_create_at(storage, tsr_device_host(), capacity_bytes, allocator, error);
}

tsr_status tsr_storage_create_on(tsr_storage **storage, tsr_device *device, size_t capacity_bytes, tsr_error *error)
{
    return tsr_storage_create_at(storage, device, capacity_bytes, NULL, error);
}

tsr_status tsr_storage_wrap(tsr_storage **storage, void *memory, size_t capacity_bytes,
                            void (*release)(void *context, void *memory), void *context, tsr_error *error)
{
    return tsr_storage_wrap_on(storage, tsr_device_host(), memory, capacity_bytes, release, context, error);
}

tsr_status tsr_storage_wrap_on(tsr_storage **storage, tsr_device *device, void *memory, size_t capacity_bytes,
                               void (*release)(void *context, void *memory), void *context, tsr_error *error)
{
    if (!memory && capacity_bytes > 0)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected memory of %zu bytes, found NULL", capacity_bytes);
    tsr_storage *made = new_handle(capacity_bytes, tsr_default_allocator());
    if (!made)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for a storage handle");
    made->device = tsr_device_share(device);
    atomic_store(&made->memory, memory);
    made->is_wrapped = true;
    tsr_storage_set_release(made, release, context);
    *storage = made;
    return TSR_OK;
}

void tsr_storage_set_release(tsr_storage *storage, void (*release)(void *context, void *memory), void *context)
{
    storage->wrapped.release = release;
    storage->wrapped.context = context;
}

void tsr_storage_set_threads(tsr_storage *storage, int threads)
{
    storage->threads = threads;
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
    if (old->is_wrapped && old->wrapped.release)
        old->wrapped.release(old->wrapped.context, memory);
    else if (!old->is_wrapped && memory)
        give_back(old, memory);
    tsr_device_release(&old->device);
    const tsr_allocator allocator = old->is_wrapped ? *tsr_default_allocator() : old->allocator;
    tsr_deallocate(&allocator, old, sizeof *old);
}

size_t tsr_storage_capacity_bytes(const tsr_storage *storage)
{
    return storage->capacity_bytes;
}

tsr_device *tsr_storage_device(const tsr_storage *storage)
{
    return storage->device;
}

bool tsr_storage_is_allocated(const tsr_storage *storage)
{
    return storage->is_wrapped || atomic_load(&storage->memory) != NULL;
}

bool tsr_storage_is_wrapped(const tsr_storage *storage)
{
    return storage->is_wrapped;
}

bool tsr_storage_is_own(const tsr_storage *storage)
{
    return !storage->is_wrapped && tsr_ref_is_sole(&storage->ref);
}

void tsr_storage_forget(tsr_storage *storage)
{
    void *memory = tsr_storage_is_own(storage) ? atomic_exchange(&storage->memory, NULL) : NULL;
    if (memory)
        give_back(storage, memory);
}

/* The first thread to come allocates; those that come meanwhile wait, so that one buffer at most exists. */
static tsr_status allocate_once(tsr_storage *storage, void **memory, tsr_error *error)
{
    tsr_lock *lock = tsr_lock_of(storage);
    pthread_mutex_lock(&lock->mutex);
    while (storage->is_being_allocated)
        pthread_cond_wait(&lock->changed, &lock->mutex);
    *memory = atomic_load_explicit(&storage->memory, memory_order_relaxed);
    storage->is_being_allocated = !*memory;
    pthread_mutex_unlock(&lock->mutex);
    if (*memory)
        return TSR_OK;
    tsr_status status = get_zeroed(storage, memory, error);
    pthread_mutex_lock(&lock->mutex);
    atomic_store_explicit(&storage->memory, *memory, memory_order_release);
    storage->is_being_allocated = false;
    pthread_cond_broadcast(&lock->changed);
    pthread_mutex_unlock(&lock->mutex);
    return status;
}

tsr_status tsr_storage_data(tsr_storage *storage, void **data, tsr_error *error)
{
    void *memory = atomic_load_explicit(&storage->memory, memory_order_acquire);
    tsr_status status = TSR_OK;
    if (!memory && storage->capacity_bytes > 0)
        status = allocate_once(storage, &memory, error);
    if (status == TSR_OK)
        *data = memory;
    return status;
}
