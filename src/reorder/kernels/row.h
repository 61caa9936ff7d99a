/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The converters by the rule of reorder.h, as loops that a compiler turns into vector code: they
 * work on bits and with plain comparisons, so that every instruction set gives the same bits. A
 * compile unit of a rung defines RUNG, as list.inc names it, and includes this file once; that is
 * why it has no include guard.
 */
#include <string.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/unaligned.h"

#define NAME_OF_RUNG(name, rung) tsr_##name##_##rung
#define EXPANDED(name, rung) NAME_OF_RUNG(name, rung)
#define NAME(name) EXPANDED(name, RUNG)

static inline uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Adding and taking away 1.5 * 2^23 rounds |x| < 2^22 to an integer, ties to even. */
static inline float round_small(float x)
{
    const float magic = 12582912.0f;
    return (x + magic) - magic;
}

/* NaN becomes 0; the comparisons are false for it */
static inline float clamp(float x, float low, float high)
{
    float limited = x < low ? low : x;
    limited = limited > high ? high : limited;
    return x == x ? limited : 0.0f;
}

/* A rung that has instructions for f16 defines OWN_F16 and brings its own. */
#ifndef OWN_F16
static inline float from_f16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000U) << 16, magnitude = half & 0x7fffU;
    uint32_t normal = (magnitude << 13) + (112U << 23);
    uint32_t small = bits_of((float)(int32_t)magnitude * 0x1p-24f);
    uint32_t special = 0x7f800000U | magnitude << 13 | (magnitude > 0x7c00U ? 0x00400000U : 0U);
    uint32_t bits = magnitude < 0x0400U ? small : magnitude < 0x7c00U ? normal : special;
    return float_of(sign | bits);
}

static inline uint16_t to_f16(float x)
{
    uint32_t bits = bits_of(x), sign = bits >> 16 & 0x8000U, magnitude = bits & 0x7fffffffU;
    /* 0.5 has the ulp of a denormal half: the sum rounds, and its low bits are the result */
    uint32_t small = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000U;
    uint32_t normal = (magnitude + 0xc8000fffU + (magnitude >> 13 & 1U)) >> 13;
    uint32_t nan = 0x7e00U | (magnitude >> 13 & 0x1ffU);
    uint32_t half = magnitude < 0x38800000U   ? small
                    : magnitude < 0x47800000U ? normal
                    : magnitude > 0x7f800000U ? nan
                                              : 0x7c00U;
    return (uint16_t)(sign | half);
}
#endif

static inline uint16_t to_bf16(float x)
{
    uint32_t bits = bits_of(x);
    uint32_t rounded = (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
    uint32_t nan = bits >> 16 | 0x40U;
    return (uint16_t)((bits & 0x7fffffffU) > 0x7f800000U ? nan : rounded);
}

static inline int32_t to_s32(float x)
{
    /* below 2^23, adding and taking away 2^23 rounds; from there on there is nothing to round */
    float magnitude = float_of(bits_of(x) & 0x7fffffffU);
    float whole = magnitude < 8388608.0f ? (magnitude + 8388608.0f) - 8388608.0f : magnitude;
    whole = x < 0 ? -whole : whole;
    return whole >= 2147483648.0f ? INT32_MAX : (int32_t)clamp(whole, -2147483648.0f, 2147483520.0f);
}

/* Cuts to 24 bits and keeps in the last of them whether anything was cut off. */
static inline float from_s32_odd(int32_t x)
{
    uint32_t sign = (uint32_t)x & 0x80000000U, magnitude = x < 0 ? 0U - (uint32_t)x : (uint32_t)x;
    uint32_t cut = (magnitude & ~0xffU) | (magnitude & 0xffU ? 0x100U : 0U);
    return float_of(sign | bits_of((float)(magnitude < 1U << 24 ? magnitude : cut)));
}

#define CONVERTER(name, to_type, from_type, expression)                                                                \
    void NAME(name)(void *dst, const void *src, int64_t n)                                                             \
    {                                                                                                                  \
        to_type *restrict to = dst;                                                                                    \
        const from_type *restrict from = src;                                                                          \
        for (int64_t i = 0; i < n; i++)                                                                                \
            to[i] = (to_type)(expression);                                                                             \
    }

#ifndef OWN_F16
CONVERTER(load_F16, f32_any, u16_any, from_f16(from[i]))
CONVERTER(store_F16, u16_any, f32_any, to_f16(from[i]))
#endif
CONVERTER(load_BF16, f32_any, u16_any, float_of((uint32_t)from[i] << 16))
CONVERTER(load_S8, f32_any, s8_any, from[i])
CONVERTER(load_U8, f32_any, u8_any, from[i])
CONVERTER(load_S32, f32_any, s32_any, from[i])
CONVERTER(load_odd_S32, f32_any, s32_any, from_s32_odd(from[i]))
CONVERTER(store_BF16, u16_any, f32_any, to_bf16(from[i]))
CONVERTER(store_S8, s8_any, f32_any, (int32_t)round_small(clamp(from[i], -128.0f, 127.0f)))
CONVERTER(store_U8, u8_any, f32_any, (int32_t)round_small(clamp(from[i], 0.0f, 255.0f)))
CONVERTER(store_S32, s32_any, f32_any, to_s32(from[i]))

/* src may be dst, so no restrict here: each element is read before it is written */
void NAME(affine)(void *dst, const void *src, int64_t n, const float *mean, const float *scale, int64_t step)
{
    f32_any *to = dst;
    const f32_any *from = src;
    const float one_mean = *mean, one_scale = *scale;
    if (step == 0)
        for (int64_t i = 0; i < n; i++)
            to[i] = (from[i] - one_mean) * one_scale;
    else
        for (int64_t i = 0; i < n; i++)
            to[i] = (from[i] - mean[i * step]) * scale[i * step];
}
