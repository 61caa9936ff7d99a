/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule of reorder.h for one element, as code that compilers turn into vectors of them: on bits and with plain
 * comparisons, so that every instruction set gives the same bits. A compile unit includes this file once, with row.h,
 * which has the loops.
 *
 * What a rung has vector code of its own for it brings itself, and leaves out here and there: OWN_F16 for f16, and for
 * affine, with pivot.h; OWN_LOADS for loads of all else that has up to 16 bits, but bool; OWN_INTEGERS for stores of
 * the same, and of integers of 32 bits; OWN_WIDE for what f64 becomes, but f32 and nf4.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "reorder/kernels/nf4.h"

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

/* ---- f32 and less ---- */

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

#ifndef OWN_LOADS
static inline float from_bf16(uint16_t x)
{
    return float_of((uint32_t)x << 16);
}

/* As from f16; the exponents of e4m3 are 120 less than those of f32, and its last number is NaN. */
static inline float from_f8_e4m3(uint8_t byte)
{
    uint32_t sign = (uint32_t)(byte & 0x80U) << 24, magnitude = byte & 0x7fU;
    uint32_t normal = (magnitude << 20) + (120U << 23);
    uint32_t small = bits_of((float)(int32_t)magnitude * 0x1p-9f);
    uint32_t bits = magnitude < 0x08U ? small : magnitude < 0x7fU ? normal : 0x7ff00000U;
    return float_of(sign | bits);
}

/* The upper half of an f16 */
static inline float from_f8_e5m2(uint8_t byte)
{
    return from_f16((uint16_t)(byte << 8));
}

static inline float from_q78(int16_t x)
{
    return (float)x * 0x1p-8f;
}

static inline float from_nf4(uint8_t index)
{
    return nf4_levels[index % NF4_LEVELS];
}
#endif

/* 1 if any bit is set: in arithmetic, which compilers turn into vector code. */
static inline int32_t from_bool(uint8_t x)
{
    return (x + 255) >> 8;
}

#ifndef OWN_INTEGERS
static inline uint16_t to_bf16(float x)
{
    uint32_t bits = bits_of(x);
    uint32_t rounded = (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
    uint32_t nan = bits >> 16 | 0x40U;
    return (uint16_t)((bits & 0x7fffffffU) > 0x7f800000U ? nan : rounded);
}

/* What rounds to more than 448 is NaN. */
static inline uint8_t to_f8_e4m3(float x)
{
    uint32_t bits = bits_of(x), sign = bits >> 24 & 0x80U, magnitude = bits & 0x7fffffffU;
    /* 2^14 has the ulp of a denormal */
    uint32_t small = bits_of(float_of(magnitude) + 0x1p14f) - 0x46800000U;
    uint32_t normal = (magnitude + 0xc407ffffU + (magnitude >> 20 & 1U)) >> 20;
    uint32_t byte = magnitude < 0x3c800000U ? small : magnitude < 0x43e80001U ? normal : 0x7fU;
    return (uint8_t)(sign | byte);
}

static inline uint8_t to_f8_e5m2(float x)
{
    uint32_t bits = bits_of(x), sign = bits >> 24 & 0x80U, magnitude = bits & 0x7fffffffU;
    uint32_t small = bits_of(float_of(magnitude) + 0x1p7f) - 0x43000000U;
    uint32_t normal = (magnitude + 0xc80fffffU + (magnitude >> 21 & 1U)) >> 21;
    uint32_t nan = 0x7eU | (magnitude >> 21 & 1U);
    uint32_t byte = magnitude < 0x38800000U   ? small
                    : magnitude < 0x47800000U ? normal
                    : magnitude > 0x7f800000U ? nan
                                              : 0x7cU;
    return (uint8_t)(sign | byte);
}

static inline int32_t to_q78(float x)
{
    return round_small(clamp(x * 0x1p8f, -32768.0f, 32767.0f));
}

/* As many as there are middles below; a NaN is 0. */
static inline uint8_t to_nf4(float x)
{
    int32_t index = 0;
    for (int i = 0; i < NF4_LEVELS - 1; i++)
        index += x > nf4_floats_below[i];
    return (uint8_t)(x == x ? index : NF4_ZERO);
}

static inline int32_t to_s8(float x)
{
    return round_small(clamp(x, -128.0f, 127.0f));
}

static inline int32_t to_u8(float x)
{
    return round_small(clamp(x, 0.0f, 255.0f));
}

static inline int32_t to_s16(float x)
{
    return round_small(clamp(x, -32768.0f, 32767.0f));
}

static inline int32_t to_u16(float x)
{
    return round_small(clamp(x, 0.0f, 65535.0f));
}

static inline int32_t to_s32(float x)
{
    /* below 2^23, adding and taking away 2^23 rounds; from there on there is nothing to round */
    float magnitude = magnitude_of(x);
    float whole = magnitude < 8388608.0f ? (magnitude + 8388608.0f) - 8388608.0f : magnitude;
    whole = x < 0 ? -whole : whole;
    return whole >= 2147483648.0f ? INT32_MAX : (int32_t)clamp(whole, -2147483648.0f, 2147483520.0f);
}

/* Where there is only a conversion to s32, the upper half of all values is moved down for it. */
static inline uint32_t to_u32(float x)
{
    float limited = clamp(x, 0.0f, 4294967040.0f);
    float whole = limited < 8388608.0f ? (limited + 8388608.0f) - 8388608.0f : limited;
    bool is_upper = whole >= 2147483648.0f;
    uint32_t lower = (uint32_t)(int32_t)(is_upper ? whole - 2147483648.0f : whole);
    uint32_t bits = is_upper ? lower ^ 0x80000000U : lower;
    return x >= 4294967296.0f ? UINT32_MAX : bits;
}
#endif

static inline bool is_true(float x)
{
    return x != 0;
}

/* ---- f64 and integers of 64 bits ---- */

#ifndef OWN_WIDE
static inline int32_t to_s32_of_f64(double x)
{
    return (int32_t)round_small64(clamp64(x, -2147483648.0, 2147483647.0));
}

static inline uint32_t to_u32_of_f64(double x)
{
    return (uint32_t)(bits64_of(clamp64(x, 0.0, 4294967295.0) + 0x1p52) & UINT32_MAX);
}
#endif

static inline uint8_t to_nf4_of_f64(double x)
{
    int64_t index = 0;
    for (int i = 0; i < NF4_LEVELS - 1; i++)
        index += x > nf4_middles[i];
    return (uint8_t)(x == x ? index : NF4_ZERO);
}

/* Where there are no instructions for vectors of 64-bit integers, the bits are moved instead. */
#if defined(__AVX512DQ__) || defined(__aarch64__)
static inline double from_s64(int64_t x)
{
    return (double)x;
}

static inline double from_u64(uint64_t x)
{
    return (double)x;
}
#else
/* The halves go behind the exponents of 2^84 and 2^52; taking these away again rounds once. */
static inline double from_s64(int64_t x)
{
    uint64_t bits = (uint64_t)x;
    double high = double_of(0x4530000000000000U | (bits >> 32 ^ 0x80000000U)); /* 2^84 + 2^63 + upper half */
    double low = double_of(0x4330000000000000U | (bits & 0xffffffffU));        /* 2^52 + lower half */
    return (high - (0x1p84 + 0x1p63 + 0x1p52)) + low;
}

static inline double from_u64(uint64_t bits)
{
    double high = double_of(0x4530000000000000U | bits >> 32);
    double low = double_of(0x4330000000000000U | (bits & 0xffffffffU));
    return (high - (0x1p84 + 0x1p52)) + low;
}
#endif

#if defined(__aarch64__)
static inline int64_t to_s64(double x)
{
    return x >= 0x1p63 ? INT64_MAX : (int64_t)clamp64(__builtin_rint(x), -0x1p63, 0x1.fffffffffffffp62);
}

static inline uint64_t to_u64(double x)
{
    return x >= 0x1p64 ? UINT64_MAX : (uint64_t)clamp64(__builtin_rint(x), 0, 0x1.fffffffffffffp63);
}
#else
/* Of a number from 0 on, and below 2^64: with a fraction, which adding 2^52 rounds, or a significand to be moved up.
 * With AVX2, this and the next ones are for what its vectors leave. */
static inline uint64_t whole_of_f64(double x)
{
    uint64_t bits = bits64_of(x), one = UINT64_C(1) << 52;
    uint64_t small = bits64_of(x + 0x1p52) - bits64_of(0x1p52);
    uint64_t large = ((bits & (one - 1)) | one) << (((bits >> 52) - 1075) & 63);
    return x < 0x1p52 ? small : large;
}

/* The magnitude first, below 2^63 */
static inline int64_t to_s64(double x)
{
    double magnitude = magnitude64_of(x);
    uint64_t limit = (uint64_t)INT64_MAX + (x < 0);
    uint64_t whole = magnitude < 0x1p63 ? whole_of_f64(magnitude) : x == x ? limit : 0;
    return (int64_t)(x < 0 ? 0 - whole : whole);
}

static inline uint64_t to_u64(double x)
{
    uint64_t whole = x < 0x1p64 ? whole_of_f64(x) : UINT64_MAX;
    return x > 0 ? whole : 0;
}
#endif

/* Cuts to 24 bits and keeps in the last of them whether anything was cut off. */
static inline float from_u32_odd(uint32_t x)
{
    uint32_t cut = (x & ~0xffU) | (x & 0xffU ? 0x100U : 0U);
    return (float)(x < 1U << 24 ? x : cut);
}

static inline float from_s32_odd(int32_t x)
{
    uint32_t sign = (uint32_t)x & 0x80000000U, magnitude = x < 0 ? 0U - (uint32_t)x : (uint32_t)x;
    return float_of(sign | bits_of(from_u32_odd(magnitude)));
}

/* Cuts off the last 11 bits; the new last one keeps whether any of them was set. For what has more than 53. */
static inline uint64_t cut_11(uint64_t bits)
{
    return (bits & ~UINT64_C(0x7ff)) | (bits & 0x7ffU ? 0x800U : 0U);
}

static inline double from_s64_odd(int64_t x)
{
    uint64_t bits = (uint64_t)x;
    bool fits = bits + (UINT64_C(1) << 53) < UINT64_C(1) << 54;
    return from_s64((int64_t)(fits ? bits : cut_11(bits)));
}

static inline double from_u64_odd(uint64_t x)
{
    return from_u64(x < UINT64_C(1) << 53 ? x : cut_11(x));
}

/* Rounded once: to odd and to nearest, where no instruction does it. */
#if defined(__AVX512DQ__) || defined(__aarch64__)
static inline float f32_of_s64(int64_t x)
{
    return (float)x;
}

static inline float f32_of_u64(uint64_t x)
{
    return (float)x;
}
#else
static inline float f32_of_s64(int64_t x)
{
    return (float)from_s64_odd(x);
}

static inline float f32_of_u64(uint64_t x)
{
    return (float)from_u64_odd(x);
}
#endif

#ifndef OWN_WIDE
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
#endif
