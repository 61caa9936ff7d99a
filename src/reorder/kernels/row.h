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
#include "reorder/kernels/template.h"
#include "reorder/kernels/unaligned.h"

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

/* A rung that has instructions for f16 defines OWN_F16 and brings its own, and its own affine, with pivot.h; for loads
 * of bf16 and of integers of 8 and 16 bits, OWN_LOADS; for stores of bf16 and of integers up to 32 bits, OWN_INTEGERS;
 * for those of f64 to f32 and s32, OWN_WIDE, and for vectors of s64, OWN_S64. */
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

static inline bool is_true(float x)
{
    return x != 0;
}

/* 1 if any bit is set: in arithmetic, which compilers turn into vector code. */
static inline int32_t from_bool(uint8_t x)
{
    return (x + 255) >> 8;
}

#ifndef OWN_LOADS
static inline float from_bf16(uint16_t x)
{
    return float_of((uint32_t)x << 16);
}
#endif

#ifndef OWN_INTEGERS
static inline uint16_t to_bf16(float x)
{
    uint32_t bits = bits_of(x);
    uint32_t rounded = (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
    uint32_t nan = bits >> 16 | 0x40U;
    return (uint16_t)((bits & 0x7fffffffU) > 0x7f800000U ? nan : rounded);
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
#endif

#ifndef OWN_WIDE
static inline int32_t to_s32_of_f64(double x)
{
    return (int32_t)round_small64(clamp64(x, -2147483648.0, 2147483647.0));
}
#endif

/* Where there are no instructions for vectors of s64, the bits are moved instead. */
#if defined(OWN_S64) || defined(__aarch64__)
static inline double from_s64(int64_t x)
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
#endif

#if defined(__aarch64__)
static inline int64_t to_s64(double x)
{
    return x >= 0x1p63 ? INT64_MAX : (int64_t)clamp64(__builtin_rint(x), -0x1p63, 0x1.fffffffffffffp62);
}
#elif !defined(OWN_S64)
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
#endif

/* Cuts to 24 bits and keeps in the last of them whether anything was cut off. */
static inline float from_s32_odd(int32_t x)
{
    uint32_t sign = (uint32_t)x & 0x80000000U, magnitude = x < 0 ? 0U - (uint32_t)x : (uint32_t)x;
    uint32_t cut = (magnitude & ~0xffU) | (magnitude & 0xffU ? 0x100U : 0U);
    return float_of(sign | bits_of((float)(magnitude < 1U << 24 ? magnitude : cut)));
}

/* Beyond 53 bits, cuts off the last 11; the new last bit keeps whether any of them was set. */
static inline double from_s64_odd(int64_t x)
{
    uint64_t bits = (uint64_t)x;
    uint64_t cut = (bits & ~UINT64_C(0x7ff)) | (bits & 0x7ffU ? 0x800U : 0U);
    bool fits = bits + (UINT64_C(1) << 53) < UINT64_C(1) << 54;
    return from_s64((int64_t)(fits ? bits : cut));
}

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
#endif
LOADER(BOOL, u8_any, from_bool)
LOADER(S32, s32_any, AS_IT_IS)
CONVERTER(load_odd_S32, f32_any, s32_any, float, from_s32_odd, AS_IT_IS)
#ifndef OWN_INTEGERS
STORER(BF16, u16_any, to_bf16)
STORER(S8, s8_any, to_s8)
STORER(U8, u8_any, to_u8)
STORER(S16, s16_any, to_s16)
STORER(U16, u16_any, to_u16)
STORER(S32, s32_any, to_s32)
#endif
STORER(BOOL, u8_any, is_true)

/* From type to type at once; a rung that brings any part of them brings them all. */
#if !defined(OWN_F16) && !defined(OWN_LOADS) && !defined(OWN_INTEGERS)
#define ELEMENT_F16 u16_any
#define ELEMENT_BF16 u16_any
#define ELEMENT_S8 s8_any
#define ELEMENT_U8 u8_any
#define ELEMENT_S32 s32_any
#define VALUE_OF_F16 from_f16
#define VALUE_OF_BF16 from_bf16
#define VALUE_OF_S8 AS_IT_IS
#define VALUE_OF_U8 AS_IT_IS
#define VALUE_OF_S32 AS_IT_IS
#define VALUE_TO_F16 to_f16
#define VALUE_TO_BF16 to_bf16
#define VALUE_TO_S8 to_s8
#define VALUE_TO_U8 to_u8
#define VALUE_TO_S32 to_s32
#define ROW_OF_PAIR(src, dst, what)                                                                                    \
    CONVERTER(from_##src##_##dst, ELEMENT_##dst, ELEMENT_##src, float, VALUE_OF_##src, VALUE_TO_##dst)
TSR_FOR_PAIRS(ROW_OF_PAIR, rows)
#undef ROW_OF_PAIR
#endif

LOADER64(F32, f32_any, AS_IT_IS)
LOADER64(S32, s32_any, AS_IT_IS)
LOADER64(S64, s64_any, from_s64)
CONVERTER(load64_odd_S64, f64_any, s64_any, double, from_s64_odd, AS_IT_IS)
STORER64(F32, f32_any, AS_IT_IS)
#ifndef OWN_WIDE
CONVERTER(store64_odd_F32, f32_any, f64_any, double, AS_IT_IS, to_f32_odd)
STORER64(S32, s32_any, to_s32_of_f64)
#endif
#ifndef OWN_S64
STORER64(S64, s64_any, to_s64)
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
#define LIMIT(type, to_type, from_type, limited)                                                                       \
    void NAME(limit_##type)(void *dst, const void *src, int64_t n, const tsr_affine *affine)                           \
    {                                                                                                                  \
        to_type *restrict to = dst;                                                                                    \
        const from_type *restrict from = src;                                                                          \
        (void)affine;                                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            const from_type x = from[i];                                                                               \
            to[i] = (to_type)(limited);                                                                                \
        }                                                                                                              \
    }

LIMIT(S8, s8_any, u8_any, x < INT8_MAX ? x : INT8_MAX)
LIMIT(U8, u8_any, s8_any, x > 0 ? x : 0)
LIMIT(BOOL, u8_any, u8_any, x < 1 ? x : 1)
LIMIT(S32, s32_any, s64_any, limited_to_s32(x))
LIMIT(S64, s64_any, s32_any, x)

/* ---- elements of 4 bits ---- */

static inline uint8_t half_S4(unsigned half)
{
    return (uint8_t)((half ^ 8) - 8);
}

static inline uint8_t half_U4(unsigned half)
{
    return (uint8_t)half;
}

static inline unsigned saturate_S4(uint8_t byte)
{
    int8_t x = (int8_t)byte;
    x = x < -8 ? -8 : x;
    x = x > 7 ? 7 : x;
    return (unsigned)x & 15U;
}

static inline unsigned saturate_U4(uint8_t byte)
{
    return byte < 15 ? byte : 15;
}

/* A half of a byte at either end is done alone. */
#define UNPACKER(type)                                                                                                 \
    void NAME(unpack_##type)(void *dst, const void *src, int64_t first, int64_t n)                                     \
    {                                                                                                                  \
        uint8_t *restrict to = dst;                                                                                    \
        const uint8_t *restrict from = (const uint8_t *)src + first / 2;                                               \
        if (n > 0 && first % 2 != 0) {                                                                                 \
            *to++ = half_##type(*from++ >> 4);                                                                         \
            n--;                                                                                                       \
        }                                                                                                              \
        for (int64_t i = 0; i < n / 2; i++) {                                                                          \
            to[2 * i] = half_##type(from[i] & 15);                                                                     \
            to[2 * i + 1] = half_##type(from[i] >> 4);                                                                 \
        }                                                                                                              \
        if (n % 2 != 0)                                                                                                \
            to[n - 1] = half_##type(from[n / 2] & 15);                                                                 \
    }

#define PACKER(type)                                                                                                   \
    void NAME(pack_##type)(void *dst, const void *src, int64_t first, int64_t n)                                       \
    {                                                                                                                  \
        uint8_t *restrict to = (uint8_t *)dst + first / 2;                                                             \
        const uint8_t *restrict from = src;                                                                            \
        if (n > 0 && first % 2 != 0) {                                                                                 \
            *to = (uint8_t)((*to & 15) | saturate_##type(*from++) << 4);                                               \
            to++;                                                                                                      \
            n--;                                                                                                       \
        }                                                                                                              \
        for (int64_t i = 0; i < n / 2; i++)                                                                            \
            to[i] = (uint8_t)(saturate_##type(from[2 * i]) | saturate_##type(from[2 * i + 1]) << 4);                   \
        if (n % 2 != 0)                                                                                                \
            to[n / 2] = (uint8_t)((to[n / 2] & 0xf0) | saturate_##type(from[n - 1]));                                  \
    }

UNPACKER(S4)
UNPACKER(U4)
PACKER(S4)
PACKER(U4)

/* Bytes, or words of them: the lower halves of both, and the upper ones. */
static inline uint64_t halves_below(uint64_t first, uint64_t second)
{
    const uint64_t lower = UINT64_MAX / 255 * 15;
    return (first & lower) | (second & lower) << 4;
}

static inline uint64_t halves_above(uint64_t first, uint64_t second)
{
    return halves_below(first >> 4, second >> 4);
}

static inline void part_halves(char *restrict lower, char *restrict upper, const char *restrict first,
                               const char *restrict second, int64_t n)
{
    enum { WORD = sizeof(uint64_t) };
    int64_t i = 0;
    for (; i + WORD <= n; i += WORD) {
        const uint64_t a = *(const u64_any *)(first + i), b = *(const u64_any *)(second + i);
        *(u64_any *)(lower + i) = halves_below(a, b);
        *(u64_any *)(upper + i) = halves_above(a, b);
    }
    for (; i < n; i++) {
        lower[i] = (char)halves_below((uint8_t)first[i], (uint8_t)second[i]);
        upper[i] = (char)halves_above((uint8_t)first[i], (uint8_t)second[i]);
    }
}

void NAME(part_halves_8)(void *dst, const void *src, const tsr_tile *tile)
{
    char *to = dst;
    const char *from = src;
    for (int64_t r = 0; r < tile->rows; r += 2) {
        fetch(from + tile->src_row[r], tile->columns);
        fetch(from + tile->src_row[r + 1], tile->columns);
        part_halves(to + tile->dst_row[r], to + tile->dst_row[r + 1], from + tile->src_row[r],
                    from + tile->src_row[r + 1], tile->columns);
    }
}
