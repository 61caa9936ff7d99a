/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_KERNELS_UNALIGNED_H
#define TESSERA_SRC_REORDER_KERNELS_UNALIGNED_H

#include <stdint.h>

/* Elements at any address: files and views need not align them. */
typedef uint8_t u8_any;
typedef int8_t s8_any;
typedef uint16_t __attribute__((aligned(1), may_alias)) u16_any;
typedef uint32_t __attribute__((aligned(1), may_alias)) u32_any;
typedef uint64_t __attribute__((aligned(1), may_alias)) u64_any;
typedef uint8_t __attribute__((vector_size(16), aligned(1), may_alias)) u128_any;
typedef int16_t __attribute__((aligned(1), may_alias)) s16_any;
typedef int32_t __attribute__((aligned(1), may_alias)) s32_any;
typedef int64_t __attribute__((aligned(1), may_alias)) s64_any;
typedef float __attribute__((aligned(1), may_alias)) f32_any;
typedef double __attribute__((aligned(1), may_alias)) f64_any;

#endif
