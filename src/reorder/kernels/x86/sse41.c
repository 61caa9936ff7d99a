/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/kernels/x86/parts.h"

#define RUNG sse41

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
