/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_BLOCKED_DLPACK_TYPES_H
#define TESSERA_SRC_BLOCKED_DLPACK_TYPES_H

#include <dlpack/dlpack.h>

#include <tessera/desc.h>

/* Does this header have DLManagedTensorVersioned? */
#ifdef DLPACK_MAJOR_VERSION
#define TSR_DLPACK_IS_VERSIONED 1
#else
#define TSR_DLPACK_IS_VERSIONED 0
#endif

/* A type as DLPack writes it. */
typedef struct tsr_dlpack_type {
    tsr_dtype dtype;
    uint8_t code, bits;
    uint32_t minor; /* the version 1.x that defined it */
} tsr_dlpack_type;

/* NULL where the other side does not have the type. */
const tsr_dlpack_type *tsr_dlpack_type_of(tsr_dtype dtype);
const tsr_dlpack_type *tsr_dlpack_find_type(DLDataType type);

/* From the start of the buffer to index 0, which begins on a whole byte. */
int64_t tsr_dlpack_bytes_before(const tsr_desc *desc);

#endif
