/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_DTYPE_H
#define TESSERA_DTYPE_H

#include <stddef.h>

#include <tessera/status.h>

TSR_BEGIN_DECLS

/* Element types. 0 is no type, so that a zeroed descriptor is not mistaken for a valid one. */
typedef enum tsr_dtype {
    TSR_DTYPE_NONE = 0,
    TSR_F32,  /* IEEE 754 binary32 */
    TSR_F64,  /* IEEE 754 binary64 */
    TSR_F16,  /* IEEE 754 binary16 */
    TSR_BF16, /* the upper half of a binary32 */
    TSR_S8,
    TSR_U8,
    TSR_S16,
    TSR_U16,
    TSR_S32,
    TSR_U32,
    TSR_S64,
    TSR_U64,
    TSR_BOOL,    /* one byte, 0 or 1 */
    TSR_F8_E4M3, /* 8 bits: OCP's E4M3, without infinities */
    TSR_F8_E5M2, /* 8 bits: OCP's E5M2 */
    TSR_Q78,     /* 16 bits: fixed point, 8 bits before and 8 behind the point, signed */
    TSR_S4,      /* packed: two to a byte, the even element in the lower half; so are the next two */
    TSR_U4,
    TSR_NF4, /* 4-bit NormalFloat: an index into 16 quantiles of the normal distribution */
    TSR_U1,  /* packed: eight to a byte, the first in the lowest bit */
    TSR_DTYPE_COUNT
} tsr_dtype;

/* Bits of one element; 0 for a number that is no type. */
TSR_API int tsr_dtype_bits(tsr_dtype dtype);

/* Bytes of one element that stands alone: its bits rounded up. 0 for a number that is no type. */
TSR_API size_t tsr_dtype_size_bytes(tsr_dtype dtype);

/* "f32", "bf16", "f8_e4m3", "u4" and so on; "none" for a number that is no type. Never NULL. */
TSR_API const char *tsr_dtype_name(tsr_dtype dtype);

/* The inverse of tsr_dtype_name, case-sensitive. TSR_PARSE_ERROR for any other word. */
TSR_API TSR_MUST_CHECK tsr_status tsr_dtype_parse(tsr_dtype *dtype, const char *name, tsr_error *error);

TSR_END_DECLS

#endif
