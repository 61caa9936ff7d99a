/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_STORAGE_H
#define TESSERA_STORAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <tessera/device.h>
#include <tessera/memory.h>
#include <tessera/status.h>

TSR_BEGIN_DECLS

/*
 * Storage: a counted buffer. Memory is allocated when it is first asked for, zeroed, aligned to
 * TSR_ALIGNMENT, and freed with the last reference. The capacity belongs to the storage, so that
 * nobody who shares it can believe it to be larger.
 */
typedef struct tsr_storage tsr_storage;

/* Storage of capacity_bytes, which may be 0, with one reference. Nothing but the handle is allocated yet.
 * allocator may be NULL and is copied. TSR_OUT_OF_MEMORY. */
TSR_API TSR_MUST_CHECK tsr_status tsr_storage_create(tsr_storage **storage, size_t capacity_bytes,
                                                     const tsr_allocator *allocator, tsr_error *error);

/* Likewise on a device, of which it holds a reference. */
TSR_API TSR_MUST_CHECK tsr_status tsr_storage_create_on(tsr_storage **storage, tsr_device *device,
                                                        size_t capacity_bytes, tsr_error *error);

/*
 * Storage over memory of the host that exists. release, which may be NULL, is called once with context and
 * memory when the last reference goes; on failure it is not called. memory may be NULL only when
 * capacity_bytes is 0. The memory keeps its own content and alignment.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_storage_wrap(tsr_storage **storage, void *memory, size_t capacity_bytes,
                                                   void (*release)(void *context, void *memory), void *context,
                                                   tsr_error *error);

/* Likewise over memory of a device, as that names it; the storage holds a reference of the device. */
TSR_API TSR_MUST_CHECK tsr_status tsr_storage_wrap_on(tsr_storage **storage, tsr_device *device, void *memory,
                                                      size_t capacity_bytes,
                                                      void (*release)(void *context, void *memory), void *context,
                                                      tsr_error *error);

/* Another reference to the same storage; the argument, for convenience. NULL is passed through. */
TSR_API tsr_storage *tsr_storage_share(tsr_storage *storage);

/* Gives one reference back. */
TSR_API void tsr_storage_release(tsr_storage **storage);

TSR_API size_t tsr_storage_capacity_bytes(const tsr_storage *storage);

/* Where the memory is. The reference stays with the storage. */
TSR_API tsr_device *tsr_storage_device(const tsr_storage *storage);

/* Has the memory been allocated? Wrapped memory always has. */
TSR_API bool tsr_storage_is_allocated(const tsr_storage *storage);

/*
 * The memory as its device names it, allocated and zeroed on the first call from any thread. NULL with
 * TSR_OK for a capacity of 0. TSR_OUT_OF_MEMORY, or what the device says: a later call tries again.
 * The thread that calls first zeroes memory of the host; if a blob made the storage, as many do as the blob has.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_storage_data(tsr_storage *storage, void **data, tsr_error *error);

TSR_END_DECLS

#endif
