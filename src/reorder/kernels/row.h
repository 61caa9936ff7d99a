/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The converters by the rule of reorder.h, as loops that a compiler turns into vector code: they
 * work on bits and with plain comparisons, so that every instruction set gives the same bits. A
 * compile unit of a rung defines RUNG, as list.inc names it, and includes this file once; that is
 * why it has no include guard.
 */
#include <stdbool.h>
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

static inline uint64_t bits64_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float magnitude_of(float x)
{
    return float_of(bits_of(x) & 0x7fffffffU);
}

static inline double magnitude64_of(double x)
{
    return double_of(bits64_of(x) & INT64_MAX);
}

/* Adding 1.5 * 2^23 rounds |x| < 2^22 to an integer, ties to even, and leaves it in the low bits. */
static inline int32_t round_small(float x)
{
    return (int32_t)(bits_of(x + 12582912.0f) - 0x4b400000U);
}

/* Likewise 1.5 * 2^52 for |x| < 2^51 */
static inline double round_small64(double x)
{
    const double magic = 6755399441055744.0;
    return (x + magic) - magic;
}

/* NaN becomes 0. Written like this, comparison and choice are one instruction. */
static inline float clamp(float x, float low, float high)
{
    float limited = x > low ? x : low;
    limited = limited < high ? limited : high;
    return x == x ? limited : 0.0f;
}

static inline double clamp64(double x, double low, double high)
{
    double limited = x < low ? low : x;
    limited = limited > high ? high : limited;
    return x == x ? limited : 0.0;
}

/* A rung that has instructions for f16 defines OWN_F16 and brings its own; for 8 and 16-bit integers, OWN_NARROW. */
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
    float magnitude = magnitude_of(x);
    float whole = magnitude < 8388608.0f ? (magnitude + 8388608.0f) - 8388608.0f : magnitude;
    whole = x < 0 ? -whole : whole;
    return whole >= 2147483648.0f ? INT32_MAX : (int32_t)clamp(whole, -2147483648.0f, 2147483520.0f);
}

/* The magnitude first, below 2^63: with a fraction, which adding 2^52 rounds, or a significand to be moved up. */
static inline int64_t to_s64(double x)
{
    double magnitude = magnitude64_of(x);
    uint64_t bits = bits64_of(magnitude), one = UINT64_C(1) << 52;
    uint64_t small = bits64_of(magnitude + 0x1p52) - bits64_of(0x1p52);
    uint64_t large = ((bits & (one - 1)) | one) << (((bits >> 52) - 1075) & 63);
    uint64_t whole = magnitude < 0x1p52 ? small : large, limit = (uint64_t)INT64_MAX + (x < 0);
    whole = magnitude < 0x1p63 ? whole : x == x ? limit : 0;
    return (int64_t)(x < 0 ? 0 - whole : whole);
}

/* Cuts to 24 bits and keeps in the last of them whether anything was cut off. */
static inline float from_s32_odd(int32_t x)
{
    uint32_t sign = (uint32_t)x & 0x80000000U, magnitude = x < 0 ? 0U - (uint32_t)x : (uint32_t)x;
    uint32_t cut = (magnitude & ~0xffU) | (magnitude & 0xffU ? 0x100U : 0U);
    return float_of(sign | bits_of((float)(magnitude < 1U << 24 ? magnitude : cut)));
}

/*
 * The halves go behind the exponents of 2^84 and 2^52; taking these away again rounds once. AVX2 has
 * no instruction for it.
 */
static inline double from_s64(int64_t x)
{
    uint64_t bits = (uint64_t)x;
    double high = double_of(0x4530000000000000U | (bits >> 32 ^ 0x80000000U)); /* 2^84 + 2^63 + upper half */
    double low = double_of(0x4330000000000000U | (bits & 0xffffffffU));        /* 2^52 + lower half */
    return (high - (0x1p84 + 0x1p63 + 0x1p52)) + low;
}

/* Beyond 53 bits, cuts off the last 11; the new last bit keeps whether any of them was set. */
static inline double from_s64_odd(int64_t x)
{
    uint64_t bits = (uint64_t)x;
    uint64_t cut = (bits & ~UINT64_C(0x7ff)) | (bits & 0x7ffU ? 0x800U : 0U);
    bool fits = bits + (UINT64_C(1) << 53) < UINT64_C(1) << 54;
    return from_s64((int64_t)(fits ? bits : cut));
}

/* Of the two neighbours that a cut leaves, the one with an odd last bit. */
static inline float to_f32_odd(double x)
{
    float near = (float)x;
    uint32_t bits = bits_of(near);
    double rest = magnitude64_of(near) - magnitude64_of(x);
    /* it is above x: one step down; it is not x: odd. A NaN is left alone. */
    bits -= rest > 0;
    return float_of(bits | (rest > 0 || rest < 0));
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
CONVERTER(load_S16, f32_any, s16_any, from[i])
CONVERTER(load_U16, f32_any, u16_any, from[i])
CONVERTER(load_BOOL, f32_any, u8_any, from[i] != 0)
CONVERTER(load_S32, f32_any, s32_any, from[i])
CONVERTER(load_odd_S32, f32_any, s32_any, from_s32_odd(from[i]))
CONVERTER(store_BF16, u16_any, f32_any, to_bf16(from[i]))
#ifndef OWN_NARROW
CONVERTER(store_S8, s8_any, f32_any, round_small(clamp(from[i], -128.0f, 127.0f)))
CONVERTER(store_U8, u8_any, f32_any, round_small(clamp(from[i], 0.0f, 255.0f)))
CONVERTER(store_S16, s16_any, f32_any, round_small(clamp(from[i], -32768.0f, 32767.0f)))
CONVERTER(store_U16, u16_any, f32_any, round_small(clamp(from[i], 0.0f, 65535.0f)))
#endif
CONVERTER(store_BOOL, u8_any, f32_any, from[i] != 0)
CONVERTER(store_S32, s32_any, f32_any, to_s32(from[i]))

CONVERTER(load64_F32, f64_any, f32_any, from[i])
CONVERTER(load64_S32, f64_any, s32_any, from[i])
CONVERTER(load64_S64, f64_any, s64_any, from_s64(from[i]))
CONVERTER(load64_odd_S64, f64_any, s64_any, from_s64_odd(from[i]))
CONVERTER(store64_F32, f32_any, f64_any, from[i])
CONVERTER(store64_odd_F32, f32_any, f64_any, to_f32_odd(from[i]))
CONVERTER(store64_S32, s32_any, f64_any, (int32_t)round_small64(clamp64(from[i], -2147483648.0, 2147483647.0)))
CONVERTER(store64_S64, s64_any, f64_any, to_s64(from[i]))

/*
 * dst may be src or old, so no restrict here: each element is read before it is written. What does not
 * change from one element to the next, a compiler decides in front of the loop.
 */
#define AFFINE(name, type, real)                                                                                       \
    void NAME(name)(void *dst, const void *src, int64_t n, const tsr_affine *affine)                                   \
    {                                                                                                                  \
        type *to = dst;                                                                                                \
        const type *from = src, *old = affine->old;                                                                    \
        const float *mean = affine->mean, *scale = affine->scale, *shift = affine->shift;                              \
        const real first_mean = *mean, first_scale = *scale, first_shift = shift ? *shift : 0, beta = affine->beta;    \
        const int64_t step = affine->step;                                                                             \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            real x = from[i] - (step ? (real)mean[i * step] : first_mean);                                             \
            x *= step ? (real)scale[i * step] : first_scale;                                                           \
            if (old)                                                                                                   \
                x += beta * old[i];                                                                                    \
            if (shift)                                                                                                 \
                x += step ? (real)shift[i * step] : first_shift;                                                       \
            to[i] = x;                                                                                                 \
        }                                                                                                              \
    }

AFFINE(affine, f32_any, float)
AFFINE(affine64, f64_any, double)
