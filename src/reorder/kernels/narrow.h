/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounding to bf16 and to integers, runs from and to such types, and rows past the caches where a rung writes there:
 * WHOLE elements at a time become 32-bit integers, and those of narrower types are packed, which works in lanes of 16
 * bytes. The last pack begins early enough to be whole; a row that is shorter than one is left to the WEAKER rung. A
 * compile unit includes this file once, as a template.
 *
 *     vec, vec_store, vec_store_lanes, LINE_VECTORS
 *                                           as blocks.h has them
 *     pivot, WHOLE, pivot_at, WEAKER        as pivot.h has them, and WHOLE_CONVERTER; few_bits.h is included before
 *     nearest_of(x)                         rounded; for a NaN, and what 32 bits do not hold, INT32_MIN; or what
 *                                           whole_of gives, if has_least is never true
 *     at_most(x, high)                      as nearest_of; high, if that is less
 *     whole_of(x, high)                     rounded; at most high, a NaN is 0, what is very small is INT32_MIN
 *     positive_of(x, high)                  rounded; at most high, at least 0, as a NaN is
 *     integer_of(x), unsigned_of(x)         rounded to what 32 bits hold, a NaN is 0
 *     bf16_of(x)                            rounded: its upper half is the bf16
 *     bf16_pack(a, b)                       both as bf16, in their order
 *     halves_of(a, b)                       both as f16
 *     PACK_S32, PACK_U32(a, b)              from signed 32 bits to signed or unsigned 16, saturating
 *     PACK_S16, PACK_U16(a, b)              from signed 16 bits to signed or unsigned 8, saturating
 *     has_least(a, b)                       is any of their 16 bits INT16_MIN, as INT32_MIN is after PACK_S32?
 *     in_order_16(v), in_order_8(v)         what is packed once or twice, in the order that it had
 *     limited_TYPE(v)                       what limit makes of 8, 16 and 32 bits, if there are LINE_VECTORS
 *     pivot_put(to, x, streams)             stored; or past the caches, to a multiple of a vector
 *     load_whole_TYPE(at)                   WHOLE elements of bf16, f8, s8, u8 or s32, as the pivot; if OWN_LOADS, of
 *                                           s16, u16 and nf4, too
 *     store_packed_TYPE(to, v)              what is rounded to so many, packed with nothing else: bf16, and integers
 *                                           of 8 and 16 bits
 */

/* ---- rows ---- */

/* What a row has in memory. */
enum source { OF_F32, OF_F16, OF_BF16, OF_S8, OF_U8, OF_S32, OF_F8_E4M3, OF_F8_E5M2 };

/* Values from element i of a row on. */
INLINE pivot value_at(const char *from, int64_t i, const tsr_affine *affine, int mode, enum source source)
{
    pivot x;
    switch (source) {
    case OF_F16:
        x = half_load(from + 2 * i);
        break;
    case OF_BF16:
        x = load_whole_BF16(from + 2 * i);
        break;
    case OF_S8:
        x = load_whole_S8(from + i);
        break;
    case OF_U8:
        x = load_whole_U8(from + i);
        break;
    case OF_S32:
        x = load_whole_S32(from + 4 * i);
        break;
    case OF_F8_E4M3:
        x = load_whole_F8_E4M3(from + i);
        break;
    case OF_F8_E5M2:
        x = load_whole_F8_E5M2(from + i);
        break;
    default:
        return pivot_at(from, i, affine, mode);
    }
    return arithmetic(x, affine, i, mode);
}

/* Of n vectors, from element i of a row on. */
INLINE void values_at(pivot *x, int n, const char *from, int64_t i, const tsr_affine *affine, int mode,
                      enum source source)
{
    for (int j = 0; j < n; j++)
        x[j] = value_at(from, i + j * WHOLE, affine, mode, source);
}

/* narrow is an expression of the pivot x; so many vectors make a pack. */
#define NARROW(type, vectors, narrow)                                                                                  \
    enum { vectors_##type = (vectors), per_pack_##type = (vectors)*WHOLE };                                            \
    INLINE vec narrow_##type(pivot x)                                                                                  \
    {                                                                                                                  \
        return narrow;                                                                                                 \
    }

/* Packing saturates, so that it needs less than narrow gives: `quick`. */
#define PACK(type) INLINE vec packed_##type(const pivot *x)

#define PACK_16(type, pack, quick)                                                                                     \
    INLINE vec quick_##type(pivot x)                                                                                   \
    {                                                                                                                  \
        return quick;                                                                                                  \
    }                                                                                                                  \
    PACK(type)                                                                                                         \
    {                                                                                                                  \
        return pack(quick_##type(x[0]), quick_##type(x[1]));                                                           \
    }

/* To 8 bits, that may have been too little for an element of a pack, as is_too_little tells of it once packed. */
#define PACK_8(type, pack, quick, is_too_little)                                                                       \
    INLINE vec quick_##type(pivot x)                                                                                   \
    {                                                                                                                  \
        return quick;                                                                                                  \
    }                                                                                                                  \
    PACK(type)                                                                                                         \
    {                                                                                                                  \
        vec low = PACK_S32(quick_##type(x[0]), quick_##type(x[1]));                                                    \
        vec high = PACK_S32(quick_##type(x[2]), quick_##type(x[3]));                                                   \
        if (is_too_little(low, high)) {                                                                                \
            low = PACK_S32(narrow_##type(x[0]), narrow_##type(x[1]));                                                  \
            high = PACK_S32(narrow_##type(x[2]), narrow_##type(x[3]));                                                 \
        }                                                                                                              \
        return in_order_8(pack(low, high));                                                                            \
    }

#define NEVER(a, b) false

/* A pack, from element i of a row on. */
#define PACK_AT(type)                                                                                                  \
    INLINE vec pack_at_##type(const char *from, int64_t i, const tsr_affine *affine, int mode, enum source source)     \
    {                                                                                                                  \
        pivot x[vectors_##type];                                                                                       \
        values_at(x, vectors_##type, from, i, affine, mode, source);                                                   \
        return packed_##type(x);                                                                                       \
    }

/* A row of a pack or more; and of fewer elements, but WHOLE or more. */
#define STORE(type, bytes)                                                                                             \
    PACK_AT(type)                                                                                                      \
    INLINE void fill_##type(char *to, const char *from, int64_t n, const tsr_affine *factors, int mode,                \
                            enum source source)                                                                        \
    {                                                                                                                  \
        struct own_factors own;                                                                                        \
        const tsr_affine *affine = own_affine(&own, factors, mode);                                                    \
        for (int64_t at = 0; at < n; at += per_pack_##type) {                                                          \
            int64_t i = at + per_pack_##type <= n ? at : n - per_pack_##type;                                          \
            vec_store(to + (bytes)*i, pack_at_##type(from, i, affine, mode, source));                                  \
        }                                                                                                              \
    }

#define STORE_FEW(type, bytes)                                                                                         \
    INLINE void fill_few_##type(char *to, const char *from, int64_t n, const tsr_affine *factors, int mode,            \
                                enum source source)                                                                    \
    {                                                                                                                  \
        struct own_factors own;                                                                                        \
        const tsr_affine *affine = own_affine(&own, factors, mode);                                                    \
        for (int64_t at = 0; at < n; at += WHOLE) {                                                                    \
            int64_t i = at + WHOLE <= n ? at : n - WHOLE;                                                              \
            store_packed_##type(to + (bytes)*i, narrow_##type(value_at(from, i, affine, mode, source)));               \
        }                                                                                                              \
    }

/* A kernel, by name, that makes one type of another. */
#define CONVERT(name, type, source)                                                                                    \
    INLINE void many_of_##name(char *to, const char *from, int64_t n, const tsr_affine *affine, int mode)              \
    {                                                                                                                  \
        fill_##type(to, from, n, affine, mode, source);                                                                \
    }                                                                                                                  \
    INLINE void few_of_##name(char *to, const char *from, int64_t n, const tsr_affine *affine, int mode)               \
    {                                                                                                                  \
        fill_few_##type(to, from, n, affine, mode, source);                                                            \
    }                                                                                                                  \
    void NAME(name)(void *dst, const void *src, int64_t n, const tsr_affine *affine)                                   \
    {                                                                                                                  \
        if (n >= per_pack_##type)                                                                                      \
            BY_MODE(many_of_##name, n)                                                                                 \
        else if (n >= WHOLE)                                                                                           \
            BY_MODE(few_of_##name, n)                                                                                  \
        else                                                                                                           \
            EXPANDED(name, WEAKER)(dst, src, n, affine);                                                               \
    }

#define NARROW_STORE_8(type, pack, narrow, quick, is_too_little)                                                       \
    NARROW(type, 4, narrow)                                                                                            \
    PACK_8(type, pack, quick, is_too_little)                                                                           \
    STORE(type, 1)                                                                                                     \
    STORE_FEW(type, 1)                                                                                                 \
    CONVERT(store_##type, type, OF_F32)

#define NARROW_STORE_16(type, pack, narrow, quick)                                                                     \
    NARROW(type, 2, narrow)                                                                                            \
    PACK_16(type, pack, quick)                                                                                         \
    STORE(type, 2)                                                                                                     \
    STORE_FEW(type, 2)                                                                                                 \
    CONVERT(store_##type, type, OF_F32)

#define S16_OF(a, b) in_order_16(PACK_S32(a, b))
#define U16_OF(a, b) in_order_16(PACK_U32(a, b))

/* Packed without a sign, INT32_MIN is 0. To s8, a pack with a NaN, or with what is -32768 or less, takes 1.4 times as
 * long as if all were bounded before; others take 0.8. To s16, that is too frequent. */
NARROW_STORE_8(S8, PACK_S16, whole_of(x, 127.0f), nearest_of(x), has_least)
NARROW_STORE_8(U8, PACK_U16, positive_of(x, 255.0f), at_most(x, 255.0f), NEVER)
NARROW_STORE_16(S16, S16_OF, whole_of(x, 32767.0f), narrow_S16(x))
NARROW_STORE_16(U16, U16_OF, positive_of(x, 65535.0f), at_most(x, 65535.0f))

#define store_packed_F8_E4M3 store_packed_U8
#define store_packed_F8_E5M2 store_packed_U8
#define store_packed_NF4 store_packed_U8
#define store_packed_Q78 store_packed_S16
NARROW_STORE_8(F8_E4M3, PACK_U16, f8_e4m3_of(x), narrow_F8_E4M3(x), NEVER)
NARROW_STORE_8(F8_E5M2, PACK_U16, f8_e5m2_of(x), narrow_F8_E5M2(x), NEVER)
NARROW_STORE_8(NF4, PACK_U16, nf4_of(x), narrow_NF4(x), NEVER)
NARROW_STORE_16(Q78, S16_OF, narrow_S16(x *pivot_of(0x1p8f)), narrow_Q78(x))

NARROW(BF16, 2, bf16_of(x))
PACK(BF16)
{
    return bf16_pack(x[0], x[1]);
}
STORE(BF16, 2)
STORE_FEW(BF16, 2)
CONVERT(store_BF16, BF16, OF_F32)

#define NARROW_STORE_32(type, narrow)                                                                                  \
    NARROW(type, 1, narrow)                                                                                            \
    PACK(type)                                                                                                         \
    {                                                                                                                  \
        return narrow_##type(x[0]);                                                                                    \
    }                                                                                                                  \
    STORE(type, 4)

NARROW_STORE_32(S32, integer_of(x))
NARROW_STORE_32(U32, unsigned_of(x))

/* Types of which no rung has more than WHOLE elements in a vector, or gains by more. */
#define CONVERT_WHOLE(name, fill, source)                                                                              \
    INLINE void name(char *to, const char *from, int64_t n, const tsr_affine *affine, int mode)                        \
    {                                                                                                                  \
        fill(to, from, n, affine, mode, source);                                                                       \
    }                                                                                                                  \
    WHOLE_CONVERTER(name)

CONVERT_WHOLE(store_S32, fill_S32, OF_F32)
CONVERT_WHOLE(store_U32, fill_U32, OF_F32)

INLINE void store_packed_F16(char *to, pivot x)
{
    half_store(to, x);
}

#define narrow_F16(x) (x)
STORE_FEW(F16, 2)
CONVERT_WHOLE(store_F16, fill_few_F16, OF_F32)

enum { vectors_F16 = 2, per_pack_F16 = vectors_F16 * WHOLE };
PACK(F16)
{
    return halves_of(x[0], x[1]);
}

/* ---- packs of any type ---- */

/* What becomes of the values. */
enum target { TO_F32, TO_F16, TO_BF16, TO_S8, TO_U8 };

INLINE int bytes_of_target(enum target target)
{
    return target == TO_F32 ? 4 : target == TO_F16 || target == TO_BF16 ? 2 : 1;
}

/* As many vectors of values as fill one. */
INLINE vec packed_values(const pivot *x, enum target target)
{
    switch (target) {
    case TO_F16:
        return packed_F16(x);
    case TO_BF16:
        return packed_BF16(x);
    case TO_S8:
        return packed_S8(x);
    case TO_U8:
        return packed_U8(x);
    default:
        return (vec)x[0];
    }
}

/* ---- rows from type to type at once ---- */

#define ROW_TO_F16(src, dst, what) CONVERT_WHOLE(from_##src##_F16, fill_few_F16, OF_##src)
#define ROW_TO_S32(src, dst, what) CONVERT_WHOLE(from_##src##_S32, fill_S32, OF_##src)
#define ROW_OF_PAIR(src, dst, what) CONVERT(from_##src##_##dst, dst, OF_##src)

TSR_FOR_SOURCES(ROW_TO_F16, F16, rows)
TSR_FOR_SOURCES(ROW_OF_PAIR, BF16, rows)
TSR_FOR_NUMBERS(ROW_OF_PAIR, S8, rows)
TSR_FOR_NUMBERS(ROW_OF_PAIR, U8, rows)
TSR_FOR_NUMBERS(ROW_TO_S32, S32, rows)
TSR_FOR_HALVES(ROW_OF_PAIR, F8_E4M3, rows)
TSR_FOR_HALVES(ROW_OF_PAIR, F8_E5M2, rows)
#undef ROW_TO_F16
#undef ROW_TO_S32
#undef ROW_OF_PAIR

/* Some steps at a time, as one takes hardly longer than what a loop adds to it. */
#ifdef OWN_LOADS
#define LOAD(type, bytes)                                                                                              \
    INLINE void load_##type(char *to, const char *from, int64_t n, const tsr_affine *factors, int mode)                \
    {                                                                                                                  \
        struct own_factors own;                                                                                        \
        const tsr_affine *affine = own_affine(&own, factors, mode);                                                    \
        int64_t i = 0;                                                                                                 \
        for (; i + 4 * WHOLE <= n; i += 4 * WHOLE)                                                                     \
            for (int64_t j = i; j < i + 4 * WHOLE; j += WHOLE)                                                         \
                pivot_store(to + 4 * j, arithmetic(load_whole_##type(from + (bytes)*j), affine, j, mode));             \
        for (; i < n; i += WHOLE) {                                                                                    \
            const int64_t j = i + WHOLE <= n ? i : n - WHOLE;                                                          \
            pivot_store(to + 4 * j, arithmetic(load_whole_##type(from + (bytes)*j), affine, j, mode));                 \
        }                                                                                                              \
    }                                                                                                                  \
    WHOLE_CONVERTER(load_##type)

LOAD(BF16, 2)
LOAD(S8, 1)
LOAD(U8, 1)
LOAD(S16, 2)
LOAD(U16, 2)
LOAD(F8_E4M3, 1)
LOAD(F8_E5M2, 1)
LOAD(NF4, 1)

INLINE pivot load_whole_Q78(const char *at)
{
    return load_whole_S16(at) * pivot_of(0x1p-8f);
}

LOAD(Q78, 2)
#endif

/* ---- runs ---- */

#ifdef LINE_VECTORS
enum { RUN = WHOLE, CAN_STREAM = true };
#else
enum { RUN = WHOLE, CAN_STREAM = false };
#endif

INLINE void store_packed_S32(char *to, vec v)
{
    vec_store(to, v);
}

#define LOAD_RUN(name, type, streams)                                                                                  \
    INLINE void name##_run_##type(char *to, const char *from, int64_t n, const tsr_affine *affine, int mode)           \
    {                                                                                                                  \
        (void)n;                                                                                                       \
        pivot_put(to, value_at(from, 0, affine, mode, OF_##type), streams);                                            \
    }

#define STORE_RUN(name, type, source)                                                                                  \
    INLINE void name##_run_##type(char *to, const char *from, int64_t n, const tsr_affine *affine, int mode)           \
    {                                                                                                                  \
        (void)n;                                                                                                       \
        store_packed_##type(to, narrow_##type(value_at(from, 0, affine, mode, source)));                               \
    }

#define BOTH_RUNS(type)                                                                                                \
    LOAD_RUN(load, type, false)                                                                                        \
    LOAD_RUN(stream, type, true)                                                                                       \
    STORE_RUN(store, type, OF_F32)

LOAD_RUN(load, F32, false)
BOTH_RUNS(F16)
BOTH_RUNS(BF16)
BOTH_RUNS(S8)
BOTH_RUNS(U8)
BOTH_RUNS(F8_E4M3)
BOTH_RUNS(F8_E5M2)
LOAD_RUN(load, S32, false)
STORE_RUN(store, S32, OF_F32)

#define RUN_OF_PAIR(src, dst, what) STORE_RUN(from_##src, dst, OF_##src)

TSR_FOR_PAIRS(RUN_OF_PAIR, runs)
#undef RUN_OF_PAIR

/* ---- rows past the caches ---- */

#ifdef LINE_VECTORS
PACK_AT(F16)

#define STREAM_STORE(type, bytes)                                                                                      \
    INLINE void stream_store_##type(char *to, const char *from, int64_t n, const tsr_affine *factors, int mode)        \
    {                                                                                                                  \
        struct own_factors own;                                                                                        \
        const tsr_affine *affine = own_affine(&own, factors, mode);                                                    \
        for (int64_t i = 0; i < n; i += per_pack_##type)                                                               \
            vec_put(to + (bytes)*i, pack_at_##type(from, i, affine, mode, OF_F32), true);                              \
    }                                                                                                                  \
    void NAME(stream_store_##type)(void *dst, const void *src, int64_t n, const tsr_affine *affine)                    \
        BY_MODE(stream_store_##type, n)

STREAM_STORE(F16, 2)
STREAM_STORE(BF16, 2)
STREAM_STORE(S8, 1)
STREAM_STORE(U8, 1)
STREAM_STORE(S16, 2)
STREAM_STORE(U16, 2)
STREAM_STORE(F8_E4M3, 1)
STREAM_STORE(F8_E5M2, 1)
STREAM_STORE(Q78, 2)
STREAM_STORE(S32, 4)
STREAM_STORE(U32, 4)

#define STREAM_LOAD(type)                                                                                              \
    INLINE void stream_load_##type(char *to, const char *from, int64_t n, const tsr_affine *factors, int mode)         \
    {                                                                                                                  \
        struct own_factors own;                                                                                        \
        const tsr_affine *affine = own_affine(&own, factors, mode);                                                    \
        for (int64_t i = 0; i < n; i += WHOLE)                                                                         \
            pivot_put(to + 4 * i, value_at(from, i, affine, mode, OF_##type), true);                                   \
    }                                                                                                                  \
    void NAME(stream_load_##type)(void *dst, const void *src, int64_t n, const tsr_affine *affine)                     \
        BY_MODE(stream_load_##type, n)

STREAM_LOAD(F16)
STREAM_LOAD(BF16)
STREAM_LOAD(S8)
STREAM_LOAD(U8)
STREAM_LOAD(F8_E4M3)
STREAM_LOAD(F8_E5M2)
STREAM_LOAD(S32)

#define STREAM_LIMIT(type, bytes)                                                                                      \
    void NAME(stream_limit_##type)(void *dst, const void *src, int64_t n, const tsr_affine *affine)                    \
    {                                                                                                                  \
        (void)affine;                                                                                                  \
        for (int64_t i = 0; i < (bytes)*n; i += (int64_t)sizeof(vec))                                                  \
            vec_put((char *)dst + i, limited_##type(vec_load((const char *)src + i)), true);                           \
    }

STREAM_LIMIT(S8, 1)
STREAM_LIMIT(U8, 1)
STREAM_LIMIT(S16, 2)
STREAM_LIMIT(U16, 2)
STREAM_LIMIT(S32, 4)
STREAM_LIMIT(U32, 4)
STREAM_LIMIT(BOOL, 1)

INLINE void stream_affine(char *to, const char *from, int64_t n, const tsr_affine *factors, int mode)
{
    struct own_factors own;
    const tsr_affine *affine = own_affine(&own, factors, mode);
    for (int64_t i = 0; i < n; i += WHOLE)
        pivot_put(to + 4 * i, pivot_at(from, i, affine, mode), true);
}

void NAME(stream_affine)(void *dst, const void *src, int64_t n, const tsr_affine *affine) BY_MODE(stream_affine, n)
#endif

#include "reorder/kernels/runs.h"
