/* SPDX-License-Identifier: Apache-2.0 */
#include <immintrin.h>

#define RUNG avx2
#define OWN_F16
#include "reorder/kernels/row.h"
#include "reorder/kernels/walk.h"

/* One 16-byte row of source or destination. */
static inline __m128i load_128(const char *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

static inline void store_128(char *at, __m128i v)
{
    _mm_storeu_si128((__m128i *)(void *)at, v);
}

/*
 * 16 x 16 bytes. Each round interleaves row i with row i + 8; after four rounds byte c of row r has
 * become byte r of row c.
 */
static inline void block_8(char *dst, int64_t dst_row, const char *src, int64_t src_column)
{
    __m128i a[16], b[16];
    for (int i = 0; i < 16; i++)
        a[i] = load_128(src + i * src_column);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 8; i++) {
            b[2 * i] = _mm_unpacklo_epi8(a[i], a[i + 8]);
            b[2 * i + 1] = _mm_unpackhi_epi8(a[i], a[i + 8]);
        }
        for (int i = 0; i < 8; i++) {
            a[2 * i] = _mm_unpacklo_epi8(b[i], b[i + 8]);
            a[2 * i + 1] = _mm_unpackhi_epi8(b[i], b[i + 8]);
        }
    }
    for (int i = 0; i < 16; i++)
        store_128(dst + i * dst_row, a[i]);
}

/* 8 x 8 elements of 16 bits, likewise in three rounds. */
static inline void interleave_16(__m128i out[8], const __m128i in[8])
{
    for (int i = 0; i < 4; i++) {
        out[2 * i] = _mm_unpacklo_epi16(in[i], in[i + 4]);
        out[2 * i + 1] = _mm_unpackhi_epi16(in[i], in[i + 4]);
    }
}

static inline void block_16(char *dst, int64_t dst_row, const char *src, int64_t src_column)
{
    __m128i a[8], b[8];
    for (int i = 0; i < 8; i++)
        a[i] = load_128(src + i * src_column);
    interleave_16(b, a);
    interleave_16(a, b);
    interleave_16(b, a);
    for (int i = 0; i < 8; i++)
        store_128(dst + i * dst_row, b[i]);
}

/* 8 x 8 elements of 32 bits: rows i and i + 4 share a register, then 4 x 4 in each lane. */
static inline void block_32(char *dst, int64_t dst_row, const char *src, int64_t src_column)
{
    __m256 a[8], b[8];
    for (int i = 0; i < 4; i++) {
        const char *low = src + i * src_column, *high = low + 4 * src_column;
        a[i] = _mm256_castsi256_ps(_mm256_inserti128_si256(_mm256_castsi128_si256(load_128(low)), load_128(high), 1));
        a[i + 4] = _mm256_castsi256_ps(
            _mm256_inserti128_si256(_mm256_castsi128_si256(load_128(low + 16)), load_128(high + 16), 1));
    }
    for (int i = 0; i < 8; i += 4) {
        b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
        b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
        b[i + 2] = _mm256_unpacklo_ps(a[i + 2], a[i + 3]);
        b[i + 3] = _mm256_unpackhi_ps(a[i + 2], a[i + 3]);
        a[i] = _mm256_shuffle_ps(b[i], b[i + 2], 0x44);
        a[i + 1] = _mm256_shuffle_ps(b[i], b[i + 2], 0xee);
        a[i + 2] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0x44);
        a[i + 3] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0xee);
    }
    for (int i = 0; i < 8; i++)
        _mm256_storeu_ps((float *)(void *)(dst + i * dst_row), a[i]);
}

/* 4 x 4 elements of 64 bits. */
static inline void block_64(char *dst, int64_t dst_row, const char *src, int64_t src_column)
{
    __m256i a[4];
    for (int i = 0; i < 2; i++) {
        const char *low = src + i * src_column, *high = low + 2 * src_column;
        a[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(load_128(low)), load_128(high), 1);
        a[i + 2] = _mm256_inserti128_si256(_mm256_castsi128_si256(load_128(low + 16)), load_128(high + 16), 1);
    }
    for (int i = 0; i < 4; i += 2) {
        char *to = dst + i * dst_row;
        _mm256_storeu_si256((__m256i *)(void *)to, _mm256_unpacklo_epi64(a[i], a[i + 1]));
        _mm256_storeu_si256((__m256i *)(void *)(to + dst_row), _mm256_unpackhi_epi64(a[i], a[i + 1]));
    }
}

void tsr_transpose_8_avx2(void *dst, const void *src, const tsr_tile *tile)
{
    tsr_transpose_blocks(dst, src, tile, 16, 1, block_8, tsr_transpose_8_c);
}

void tsr_transpose_16_avx2(void *dst, const void *src, const tsr_tile *tile)
{
    tsr_transpose_blocks(dst, src, tile, 8, 2, block_16, tsr_transpose_16_c);
}

void tsr_transpose_32_avx2(void *dst, const void *src, const tsr_tile *tile)
{
    tsr_transpose_blocks(dst, src, tile, 8, 4, block_32, tsr_transpose_32_c);
}

void tsr_transpose_64_avx2(void *dst, const void *src, const tsr_tile *tile)
{
    tsr_transpose_blocks(dst, src, tile, 4, 8, block_64, tsr_transpose_64_c);
}

void tsr_load_F16_avx2(void *dst, const void *src, int64_t n)
{
    char *to = dst;
    const char *from = src;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps((float *)(void *)(to + 4 * i), _mm256_cvtph_ps(load_128(from + 2 * i)));
    tsr_load_F16_c(to + 4 * i, from + 2 * i, n - i);
}

void tsr_store_F16_avx2(void *dst, const void *src, int64_t n)
{
    char *to = dst;
    const char *from = src;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256 v = _mm256_loadu_ps((const float *)(const void *)(from + 4 * i));
        store_128(to + 2 * i, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
    }
    tsr_store_F16_c(to + 2 * i, from + 4 * i, n - i);
}
