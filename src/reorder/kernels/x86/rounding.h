/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What narrow.h and pixels.h ask of AVX2 and SSE4.1, whose instructions differ in their vectors alone. A compile unit
 * includes this file once, as a template, behind few_bits.h.
 *
 *     MM(name)                          an intrinsic of the rung's vectors, by the name behind its prefix
 *     IS_NUMBER(x)                      all bits of what is no NaN
 *     IS_AT_LEAST(a, b)                 likewise of a >= b
 *     load_bytes(at), load_halves(at)   WHOLE elements of 1 and of 2 bytes
 */

static inline vec nearest_of(pivot x)
{
    return MM(cvtps_epi32)(x);
}

static inline bool has_least(vec a, vec b)
{
    return MM(movemask_epi8)(MM(cmpeq_epi16)(MM(min_epi16)(a, b), MM(set1_epi16)(INT16_MIN))) != 0;
}

/* What is compared with a NaN gives the second of both. */
static inline vec at_most(pivot x, float high)
{
    return MM(cvtps_epi32)(MM(min_ps)(MM(set1_ps)(high), x));
}

static inline vec whole_of(pivot x, float high)
{
    return MM(cvtps_epi32)(MM(min_ps)(x, MM(set1_ps)(high))) & (vec)IS_NUMBER(x);
}

static inline vec positive_of(pivot x, float high)
{
    return MM(cvtps_epi32)(MM(min_ps)(MM(max_ps)(x, MM(setzero_ps)()), MM(set1_ps)(high)));
}

/* What does not fit becomes INT32_MIN first. */
static inline vec integer_of(pivot x)
{
    return (MM(cvtps_epi32)(x) ^ (vec)IS_AT_LEAST(x, MM(set1_ps)(0x1p31f))) & (vec)IS_NUMBER(x);
}

/* The upper half of all values is moved down first; what is still too large has all bits. A NaN becomes 0. */
static inline vec unsigned_of(pivot x)
{
    const pivot limited = MM(max_ps)(x, MM(setzero_ps)()), half = MM(set1_ps)(0x1p31f);
    const pivot is_upper = IS_AT_LEAST(limited, half);
    const vec is_above = (vec)IS_AT_LEAST(limited, MM(set1_ps)(0x1p32f));
    const vec lower = MM(cvtps_epi32)(MM(sub_ps)(limited, MM(and_ps)(is_upper, half)));
    return (lower ^ MM(slli_epi32)((vec)is_upper, 31)) | is_above;
}

/* The upper half is what is rounded. */
static inline vec number_to_bf16(pivot x)
{
    const vec bits = (vec)x, odd = MM(srli_epi32)(bits, 16) & MM(set1_epi32)(1);
    return MM(add_epi32)(MM(add_epi32)(bits, MM(set1_epi32)(0x7fff)), odd);
}

/* A NaN keeps its upper half and is made quiet; the rest is rounded. */
static inline vec bf16_of(pivot x)
{
    return MM(blendv_epi8)((vec)x | MM(set1_epi32)(0x400000), number_to_bf16(x), (vec)IS_NUMBER(x));
}

#define PACK_S32(a, b) MM(packs_epi32)(a, b)
#define PACK_U32(a, b) MM(packus_epi32)(a, b)
#define PACK_S16(a, b) MM(packs_epi16)(a, b)
#define PACK_U16(a, b) MM(packus_epi16)(a, b)

static inline pivot load_whole_BF16(const char *at)
{
    return (pivot)MM(slli_epi32)(MM(cvtepu16_epi32)(load_halves(at)), 16);
}

static inline pivot load_whole_S8(const char *at)
{
    return MM(cvtepi32_ps)(MM(cvtepi8_epi32)(load_bytes(at)));
}

static inline pivot load_whole_U8(const char *at)
{
    return MM(cvtepi32_ps)(MM(cvtepu8_epi32)(load_bytes(at)));
}

static inline pivot load_whole_S16(const char *at)
{
    return MM(cvtepi32_ps)(MM(cvtepi16_epi32)(load_halves(at)));
}

static inline pivot load_whole_U16(const char *at)
{
    return MM(cvtepi32_ps)(MM(cvtepu16_epi32)(load_halves(at)));
}

static inline pivot load_whole_S32(const char *at)
{
    return MM(cvtepi32_ps)(vec_load(at));
}

/* ---- pixels ---- */

static inline pivot whole_of_u8(vec v)
{
    return MM(cvtepi32_ps)(v);
}

static inline pivot whole_of_s8(vec v)
{
    return MM(cvtepi32_ps)(MM(srai_epi32)(MM(slli_epi32)(v, 24), 24));
}
