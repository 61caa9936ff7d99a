/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_BLOCKED_STORAGE_H
#define TESSERA_SRC_BLOCKED_STORAGE_H

#include <tessera/storage.h>

/* As tsr_storage_create_on, with an allocator of the handle, and on the host of memory. */
tsr_status tsr_storage_create_at(tsr_storage **storage, tsr_device *device, size_t capacity_bytes,
                                 const tsr_allocator *allocator, tsr_error *error);

/* What wrapped memory is given back with, for those who wrap it before they know that nothing else fails. */
void tsr_storage_set_release(tsr_storage *storage, void (*release)(void *context, void *memory), void *context);

/*
 * How many threads, of the default executor, zero memory of the host, so that its pages are where the threads are
 * that will use it; 0: as many as there are. One by itself. For storage that nobody else has yet.
 */
void tsr_storage_set_threads(tsr_storage *storage, int threads);

/* Is its memory somebody else's? */
bool tsr_storage_is_wrapped(const tsr_storage *storage);

/* Is that memory that it allocates, and has nobody but the caller a reference? */
bool tsr_storage_is_own(const tsr_storage *storage);

/* Gives such memory back; whoever asks for it again finds it zeroed. Other memory stays. */
void tsr_storage_forget(tsr_storage *storage);

#endif
