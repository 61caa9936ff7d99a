/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_BLOCKED_SAVED_H
#define TESSERA_SRC_BLOCKED_SAVED_H

#include "blocked/move.h"

/* A list of bytes on devices, as they were before something wrote to them that may fail. */
typedef struct tsr_saved tsr_saved;

/* Adds some of memory, which stays until they are freed. TSR_OUT_OF_MEMORY, and what the device says; the list is as it
 * was. */
tsr_status tsr_save(tsr_saved **saved, const tsr_device *device, void *memory, tsr_bytes bytes,
                    const tsr_allocator *allocator, tsr_error *error);

/* Writes them to where they were. False if a device fails again. */
bool tsr_bring_back(const tsr_saved *saved);

/* Of an empty list there is nothing to free. */
void tsr_saved_free(tsr_saved **saved, const tsr_allocator *allocator);

#endif
