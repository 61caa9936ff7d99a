/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/kernels/x86/parts.h"

#define RUNG sse41
#define OWN_F16
#define OWN_LOADS
#define OWN_INTEGERS
#include "reorder/kernels/row.h"

/* ---- blocks: one lane ---- */

enum { BLOCK_VECTORS = 8, LEAST_BLOCKS = 1 };
typedef __m128i vec;

static inline vec vec_load(const char *at)
{
    return load_128(at);
}

static inline void vec_store(char *at, vec v)
{
    store_128(at, v);
}

static inline void vec_store_part(char *at, vec v, int64_t bytes)
{
    if (bytes == sizeof v)
        store_128(at, v);
    else
        store_part(at, v, bytes);
}

static inline vec vec_zip_low(vec a, vec b, int bytes)
{
    return bytes == 1   ? _mm_unpacklo_epi8(a, b)
           : bytes == 2 ? _mm_unpacklo_epi16(a, b)
           : bytes == 4 ? _mm_unpacklo_epi32(a, b)
                        : _mm_unpacklo_epi64(a, b);
}

static inline vec vec_zip_high(vec a, vec b, int bytes)
{
    return bytes == 1   ? _mm_unpackhi_epi8(a, b)
           : bytes == 2 ? _mm_unpackhi_epi16(a, b)
           : bytes == 4 ? _mm_unpackhi_epi32(a, b)
                        : _mm_unpackhi_epi64(a, b);
}

static inline vec vec_choose(vec mask, vec a, vec b)
{
    return _mm_blendv_epi8(b, a, mask);
}

static inline vec vec_shuffle(vec v, vec order)
{
    return _mm_shuffle_epi8(v, order);
}

static inline vec vec_load_part(const char *at, int64_t bytes)
{
    return bytes == sizeof(vec) ? load_128(at) : load_part(at, bytes);
}

#include "reorder/kernels/one_lane.h"

#include "reorder/kernels/blocks.h"
#include "reorder/kernels/padded.h"

#include "reorder/kernels/pad.h"

static inline vec vec_every_other(vec a, vec b, int bytes)
{
    return bytes == 4   ? _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), 0x88))
           : bytes == 8 ? _mm_unpacklo_epi64(a, b)
                        : a;
}

#include "reorder/kernels/unpad.h"

/* ---- converters ---- */

typedef __m128 pivot;
enum { WHOLE = 4 };
#define WEAKER c

static inline pivot pivot_load(const void *at)
{
    return _mm_loadu_ps(at);
}

static inline void pivot_store(void *to, pivot x)
{
    _mm_storeu_ps(to, x);
}

static inline pivot pivot_of(float f)
{
    return _mm_set1_ps(f);
}

/* As elements.h has it: what is infinite or NaN has the highest exponent of either type. */
static inline pivot floats_of(vec halves)
{
    const vec exponents = _mm_set1_epi32(112 << 23);
    const vec magnitude = _mm_and_si128(halves, _mm_set1_epi32(0x7fff));
    const vec sign = _mm_slli_epi32(_mm_xor_si128(halves, magnitude), 16);
    const vec is_special = _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7bff));
    const vec is_nan = _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7c00));
    const vec normal = _mm_add_epi32(_mm_slli_epi32(magnitude, 13), exponents);
    const vec special = _mm_add_epi32(normal, _mm_and_si128(is_special, exponents));
    const vec large = _mm_or_si128(special, _mm_and_si128(is_nan, _mm_set1_epi32(0x400000)));
    const vec small = _mm_castps_si128(_mm_mul_ps(_mm_cvtepi32_ps(magnitude), _mm_set1_ps(0x1p-24f)));
    const vec is_small = _mm_cmpgt_epi32(_mm_set1_epi32(0x0400), magnitude);
    return _mm_castsi128_ps(_mm_or_si128(_mm_blendv_epi8(large, small, is_small), sign));
}

static inline pivot half_load(const char *at)
{
    return floats_of(_mm_cvtepu16_epi32(load_64(at)));
}

/* Likewise; of what has too large an exponent, the bits are more than those of infinity. */
static inline vec half_of(pivot x)
{
    const vec bits = _mm_castps_si128(x), magnitude = _mm_and_si128(bits, _mm_set1_epi32(INT32_MAX));
    const vec odd = _mm_and_si128(_mm_srli_epi32(magnitude, 13), _mm_set1_epi32(1));
    const vec rounded = _mm_add_epi32(_mm_add_epi32(magnitude, _mm_set1_epi32(0xfff - (112 << 23))), odd);
    const vec normal = _mm_min_epi32(_mm_srli_epi32(rounded, 13), _mm_set1_epi32(0x7c00));
    const vec sum = _mm_castps_si128(_mm_add_ps(_mm_castsi128_ps(magnitude), _mm_set1_ps(0.5f)));
    const vec small = _mm_sub_epi32(sum, _mm_castps_si128(_mm_set1_ps(0.5f)));
    const vec is_small = _mm_cmpgt_epi32(_mm_set1_epi32(113 << 23), magnitude);
    const vec payload = _mm_and_si128(_mm_srli_epi32(magnitude, 13), _mm_set1_epi32(0x1ff));
    const vec nan = _mm_or_si128(payload, _mm_set1_epi32(0x7e00));
    const vec number = _mm_blendv_epi8(normal, small, is_small);
    const vec half = _mm_blendv_epi8(number, nan, _mm_castps_si128(_mm_cmpunord_ps(x, x)));
    return _mm_or_si128(half, _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(0x8000)));
}

static inline vec halves_of(pivot a, pivot b)
{
    return _mm_packus_epi32(half_of(a), half_of(b));
}

static inline void half_store(char *to, pivot x)
{
    store_64(to, halves_of(x, x));
}

#include "reorder/kernels/pivot.h"

#define LANES_MIN _mm_min_epi32
#define LANES_MAX _mm_max_epi32
#include "reorder/kernels/few_bits.h"

static inline vec load_4(const char *at)
{
    return _mm_cvtsi32_si128(*(const s32_any *)(const void *)at);
}

static inline void store_4(char *to, vec v)
{
    *(s32_any *)(void *)to = _mm_cvtsi128_si32(v);
}

#define MM(name) _mm_##name
#define IS_NUMBER(x) _mm_cmpord_ps(x, x)
#define IS_AT_LEAST(a, b) _mm_cmpge_ps(a, b)
#define load_bytes(at) load_4(at)
#define load_halves(at) load_64(at)
#include "reorder/kernels/x86/rounding.h"

static inline vec bf16_pack(pivot a, pivot b)
{
    return _mm_packus_epi32(_mm_srli_epi32(bf16_of(a), 16), _mm_srli_epi32(bf16_of(b), 16));
}

static inline pivot load_whole_F8_E4M3(const char *at)
{
    const vec bits = _mm_slli_epi32(_mm_cvtepi8_epi32(load_4(at)), 7);
    return f8_e4m3_of_half(floats_of(_mm_and_si128(bits, _mm_set1_epi32(0xbf80))));
}

static inline pivot load_whole_F8_E5M2(const char *at)
{
    return floats_of(_mm_slli_epi32(_mm_cvtepu8_epi32(load_4(at)), 8));
}

static inline pivot load_whole_NF4(const char *at)
{
    float x[WHOLE];
    for (int i = 0; i < WHOLE; i++)
        x[i] = nf4_levels[(uint8_t)at[i] % NF4_LEVELS];
    return pivot_load(x);
}

static inline void store_packed_S16(char *to, vec v)
{
    store_64(to, PACK_S32(v, v));
}

static inline void store_packed_U16(char *to, vec v)
{
    store_64(to, PACK_U32(v, v));
}

static inline void store_packed_BF16(char *to, vec v)
{
    store_packed_U16(to, _mm_srli_epi32(v, 16));
}

static inline void store_packed_S8(char *to, vec v)
{
    store_4(to, PACK_S16(PACK_S32(v, v), PACK_S32(v, v)));
}

static inline void store_packed_U8(char *to, vec v)
{
    store_4(to, PACK_U16(PACK_S32(v, v), PACK_S32(v, v)));
}

#include "reorder/kernels/narrow.h"
#include "reorder/kernels/periodic.h"

#include "reorder/kernels/added.h"

#include "reorder/kernels/joined_pixels.h"
#include "reorder/kernels/parted_pixels.h"
#include "reorder/kernels/pixels.h"
