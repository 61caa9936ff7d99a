/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The converters by the rule of reorder.h, as loops that a compiler turns into vector code. A compile unit of a rung
 * defines RUNG, as list.inc names it, and what it leaves out, as elements.h tells, and includes this file once; that is
 * why it has no include guard.
 */
#include "reorder/kernels/elements.h"
#include "reorder/kernels/kernels.h"
#include "reorder/kernels/template.h"
#include "reorder/kernels/unaligned.h"

#define AS_IT_IS(x) (x)

/* to[i] = store(arithmetic(load(from[i]))), where load or store does nothing, or both. */
#define ROW(name, to_type, from_type, real, load, store)                                                               \
    INLINE void name(to_type *restrict to, const from_type *restrict from, int64_t n, const tsr_affine *affine,        \
                     int mode)                                                                                         \
    {                                                                                                                  \
        const bool same = mode == SCALE || mode == SAME;                                                               \
        const real mean = same ? *affine->mean : 0, scale = same ? *affine->scale : 0,                                 \
                   shift = same ? *affine->shift : 0;                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            real x = (real)load(from[i]);                                                                              \
            if (mode == SCALE)                                                                                         \
                x *= scale;                                                                                            \
            if (mode == SAME)                                                                                          \
                x = (x - mean) * scale + shift;                                                                        \
            if (mode == EACH_SCALE)                                                                                    \
                x *= (real)affine->scale[i];                                                                           \
            if (mode == EACH)                                                                                          \
                x = (x - (real)affine->mean[i]) * (real)affine->scale[i] + (real)affine->shift[i];                     \
            to[i] = (to_type)store(x);                                                                                 \
        }                                                                                                              \
    }

#define CONVERTER(name, to_type, from_type, real, load, store)                                                         \
    ROW(name, to_type, from_type, real, load, store)                                                                   \
    void NAME(name)(void *dst, const void *src, int64_t n, const tsr_affine *affine) BY_MODE(name, n)

#define LOADER(type, from_type, load) CONVERTER(load_##type, f32_any, from_type, float, load, AS_IT_IS)
#define STORER(type, to_type, store) CONVERTER(store_##type, to_type, f32_any, float, AS_IT_IS, store)
#define LOADER64(type, from_type, load) CONVERTER(load64_##type, f64_any, from_type, double, load, AS_IT_IS)
#define STORER64(type, to_type, store) CONVERTER(store64_##type, to_type, f64_any, double, AS_IT_IS, store)

#ifndef OWN_F16
LOADER(F16, u16_any, from_f16)
STORER(F16, u16_any, to_f16)
#endif
#ifndef OWN_LOADS
LOADER(BF16, u16_any, from_bf16)
LOADER(S8, s8_any, AS_IT_IS)
LOADER(U8, u8_any, AS_IT_IS)
LOADER(S16, s16_any, AS_IT_IS)
LOADER(U16, u16_any, AS_IT_IS)
LOADER(F8_E4M3, u8_any, from_f8_e4m3)
LOADER(F8_E5M2, u8_any, from_f8_e5m2)
LOADER(Q78, s16_any, from_q78)
LOADER(NF4, u8_any, from_nf4)
#endif
LOADER(BOOL, u8_any, from_bool)
LOADER(S32, s32_any, AS_IT_IS)
LOADER(U32, u32_any, AS_IT_IS)
LOADER(S64, s64_any, f32_of_s64)
LOADER(U64, u64_any, f32_of_u64)
CONVERTER(load_odd_S32, f32_any, s32_any, float, from_s32_odd, AS_IT_IS)
CONVERTER(load_odd_U32, f32_any, u32_any, float, from_u32_odd, AS_IT_IS)
#ifndef OWN_INTEGERS
STORER(BF16, u16_any, to_bf16)
STORER(S8, s8_any, to_s8)
STORER(U8, u8_any, to_u8)
STORER(S16, s16_any, to_s16)
STORER(U16, u16_any, to_u16)
STORER(F8_E4M3, u8_any, to_f8_e4m3)
STORER(F8_E5M2, u8_any, to_f8_e5m2)
STORER(Q78, s16_any, to_q78)
STORER(NF4, u8_any, to_nf4)
STORER(S32, s32_any, to_s32)
STORER(U32, u32_any, to_u32)
#endif
STORER(BOOL, u8_any, is_true)

/* From type to type at once; a rung that brings any part of them brings them all. */
#if !defined(OWN_F16) && !defined(OWN_LOADS) && !defined(OWN_INTEGERS)
#define ELEMENT_F16 u16_any
#define ELEMENT_BF16 u16_any
#define ELEMENT_S8 s8_any
#define ELEMENT_U8 u8_any
#define ELEMENT_S32 s32_any
#define ELEMENT_F8_E4M3 u8_any
#define ELEMENT_F8_E5M2 u8_any
#define VALUE_OF_F16 from_f16
#define VALUE_OF_BF16 from_bf16
#define VALUE_OF_S8 AS_IT_IS
#define VALUE_OF_U8 AS_IT_IS
#define VALUE_OF_S32 AS_IT_IS
#define VALUE_OF_F8_E4M3 from_f8_e4m3
#define VALUE_OF_F8_E5M2 from_f8_e5m2
#define VALUE_TO_F16 to_f16
#define VALUE_TO_BF16 to_bf16
#define VALUE_TO_S8 to_s8
#define VALUE_TO_U8 to_u8
#define VALUE_TO_S32 to_s32
#define VALUE_TO_F8_E4M3 to_f8_e4m3
#define VALUE_TO_F8_E5M2 to_f8_e5m2
#define ROW_OF_PAIR(src, dst, what)                                                                                    \
    CONVERTER(from_##src##_##dst, ELEMENT_##dst, ELEMENT_##src, float, VALUE_OF_##src, VALUE_TO_##dst)
TSR_FOR_PAIRS(ROW_OF_PAIR, rows)
#undef ROW_OF_PAIR
#endif

LOADER64(F32, f32_any, AS_IT_IS)
LOADER64(S32, s32_any, AS_IT_IS)
LOADER64(U32, u32_any, AS_IT_IS)
LOADER64(S64, s64_any, from_s64)
LOADER64(U64, u64_any, from_u64)
CONVERTER(load64_odd_S64, f64_any, s64_any, double, from_s64_odd, AS_IT_IS)
CONVERTER(load64_odd_U64, f64_any, u64_any, double, from_u64_odd, AS_IT_IS)
STORER64(F32, f32_any, AS_IT_IS)
STORER64(NF4, u8_any, to_nf4_of_f64)
#ifndef OWN_WIDE
CONVERTER(store64_odd_F32, f32_any, f64_any, double, AS_IT_IS, to_f32_odd)
STORER64(S32, s32_any, to_s32_of_f64)
STORER64(U32, u32_any, to_u32_of_f64)
STORER64(S64, s64_any, to_s64)
STORER64(U64, u64_any, to_u64)
#endif

/*
 * dst may be src or old, so no restrict here: each element is read before it is written. What does not
 * change from one element to the next, a compiler decides in front of the loop.
 */
#define AFFINE(name, type, real)                                                                                       \
    INLINE void row_of_##name(type *to, const type *from, int64_t n, const tsr_affine *affine, int mode)               \
    {                                                                                                                  \
        const bool same = mode == SCALE || mode == SAME, scales_only = mode == SCALE || mode == EACH_SCALE;            \
        const type *old = affine->old;                                                                                 \
        const float *mean = affine->mean, *scale = affine->scale, *shift = affine->shift;                              \
        const real beta = affine->beta, first_scale = same ? *scale : 0, first_mean = mode == SAME ? *mean : 0,        \
                   first_shift = mode == SAME ? *shift : 0;                                                            \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            real x = from[i];                                                                                          \
            if (!scales_only)                                                                                          \
                x -= same ? first_mean : (real)mean[i];                                                                \
            x *= same ? first_scale : (real)scale[i];                                                                  \
            if (old)                                                                                                   \
                x += beta * old[i];                                                                                    \
            if (!scales_only)                                                                                          \
                x += same ? first_shift : (real)shift[i];                                                              \
            to[i] = x;                                                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    void NAME(name)(void *dst, const void *src, int64_t n, const tsr_affine *affine) BY_FACTORS(row_of_##name, n)

#ifndef OWN_F16
AFFINE(affine, f32_any, float)
#endif
AFFINE(affine64, f64_any, double)

/* ---- integers among each other ---- */

static inline int64_t limited_to_s32(int64_t x)
{
    x = x < INT32_MIN ? INT32_MIN : x;
    return x > INT32_MAX ? INT32_MAX : x;
}

/* In comparisons, which compilers turn into one instruction for a vector. */
#define INTEGERS(name, to_type, from_type, limited)                                                                    \
    void NAME(name)(void *dst, const void *src, int64_t n, const tsr_affine *affine)                                   \
    {                                                                                                                  \
        to_type *restrict to = dst;                                                                                    \
        const from_type *restrict from = src;                                                                          \
        (void)affine;                                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            const from_type x = from[i];                                                                               \
            to[i] = (to_type)(limited);                                                                                \
        }                                                                                                              \
    }

INTEGERS(limit_S8, s8_any, u8_any, x < INT8_MAX ? x : INT8_MAX)
INTEGERS(limit_U8, u8_any, s8_any, x > 0 ? x : 0)
INTEGERS(limit_S16, s16_any, u16_any, x < INT16_MAX ? x : INT16_MAX)
INTEGERS(limit_U16, u16_any, s16_any, x > 0 ? x : 0)
INTEGERS(limit_S32, s32_any, u32_any, x < INT32_MAX ? x : INT32_MAX)
INTEGERS(limit_U32, u32_any, s32_any, x > 0 ? x : 0)
INTEGERS(limit_S64, s64_any, u64_any, x < INT64_MAX ? x : INT64_MAX)
INTEGERS(limit_U64, u64_any, s64_any, x > 0 ? x : 0)
INTEGERS(limit_BOOL, u8_any, u8_any, x < 1 ? x : 1)
INTEGERS(narrow_S32, s32_any, s64_any, limited_to_s32(x))
INTEGERS(narrow_U32, u32_any, u64_any, x < UINT32_MAX ? x : UINT32_MAX)
INTEGERS(widen_S32, s64_any, s32_any, x)
INTEGERS(widen_U32, s64_any, u32_any, x)
