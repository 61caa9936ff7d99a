/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/kernels/x86/parts.h"

#define RUNG avx2
#define OWN_F16
#define OWN_NARROW
#include "reorder/kernels/row.h"

/* ---- blocks: two lanes ---- */

enum { LANES = 2 };
typedef __m256i vec;

static inline vec vec_load(const char *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

static inline void vec_store(char *at, vec v)
{
    _mm256_storeu_si256((__m256i *)(void *)at, v);
}

static inline vec vec_gather_lanes(const char *const at[LANES])
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_128(at[0])), load_128(at[1]), 1);
}

static inline __m128i load_at_most(const char *at, int64_t bytes)
{
    return bytes >= 16 ? load_128(at) : load_part(at, bytes);
}

static inline vec vec_gather_parts(const char *const at[LANES], int64_t bytes)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_at_most(at[0], bytes)), load_at_most(at[1], bytes), 1);
}

static inline __m128i lane_of(vec v, int lane)
{
    return lane == 0 ? _mm256_castsi256_si128(v) : _mm256_extracti128_si256(v, 1);
}

static inline void vec_store_lanes(char *at, vec v, int lane, int lanes)
{
    if (lanes == LANES)
        vec_store(at, v);
    else
        store_128(at, lane_of(v, lane));
}

static inline void vec_store_part(char *at, vec v, int64_t bytes)
{
    if (bytes >= 16) {
        store_128(at, lane_of(v, 0));
        at += 16;
        bytes -= 16;
        v = _mm256_permute2x128_si256(v, v, 0x11);
    }
    if (bytes >= 16)
        store_128(at, lane_of(v, 0));
    else
        store_part(at, lane_of(v, 0), bytes);
}

static inline vec vec_zip_low(vec a, vec b, int bytes)
{
    return bytes == 1   ? _mm256_unpacklo_epi8(a, b)
           : bytes == 2 ? _mm256_unpacklo_epi16(a, b)
           : bytes == 4 ? _mm256_unpacklo_epi32(a, b)
                        : _mm256_unpacklo_epi64(a, b);
}

static inline vec vec_zip_high(vec a, vec b, int bytes)
{
    return bytes == 1   ? _mm256_unpackhi_epi8(a, b)
           : bytes == 2 ? _mm256_unpackhi_epi16(a, b)
           : bytes == 4 ? _mm256_unpackhi_epi32(a, b)
                        : _mm256_unpackhi_epi64(a, b);
}

static inline vec vec_shuffle(vec v, vec order)
{
    return _mm256_shuffle_epi8(v, order);
}

static inline vec vec_repeat(const uint8_t bytes[16])
{
    return _mm256_broadcastsi128_si256(load_128((const char *)bytes));
}

#include "reorder/kernels/blocks.h"

/* ---- runs ---- */

/* A run of 1 to 7, 8 to 16, 16 to 32, 32 to 64 bytes: its ends, which overlap in the middle. */
static inline void copy_part(char *to, const char *from, int64_t bytes)
{
    store_part(to, load_part(from, bytes), bytes);
}

static inline void copy_8_to_16(char *to, const char *from, int64_t bytes)
{
    uint64_t first, last;
    memcpy(&first, from, 8);
    memcpy(&last, from + bytes - 8, 8);
    memcpy(to, &first, 8);
    memcpy(to + bytes - 8, &last, 8);
}

static inline void copy_16_to_32(char *to, const char *from, int64_t bytes)
{
    __m128i first = load_128(from), last = load_128(from + bytes - 16);
    store_128(to, first);
    store_128(to + bytes - 16, last);
}

/* 32 bytes at a time, the last of which may overlap those before. */
static inline void copy_long(char *to, const char *from, int64_t bytes)
{
    vec last = vec_load(from + bytes - 32);
    for (int64_t i = 0; i < bytes - 32; i += 32)
        vec_store(to + i, vec_load(from + i));
    vec_store(to + bytes - 32, last);
}

static inline void copy_memory(char *to, const char *from, int64_t bytes)
{
    memcpy(to, from, (size_t)bytes);
}

#define COPY_ROWS(copy, bytes)                                                                                         \
    for (int64_t r = 0; r < t->rows; r++)                                                                              \
    copy((char *)dst + t->dst_row[r], (const char *)src + t->src_row[r], bytes)

void tsr_copy_8_avx2(void *dst, const void *src, const tsr_tile *t)
{
    enum { LONG_RUN_BYTES = 512 };
    if (t->columns < 8)
        COPY_ROWS(copy_part, t->columns);
    else if (t->columns == 8)
        COPY_ROWS(copy_8_to_16, 8);
    else if (t->columns < 16)
        COPY_ROWS(copy_8_to_16, t->columns);
    else if (t->columns == 16)
        COPY_ROWS(copy_16_to_32, 16);
    else if (t->columns < 32)
        COPY_ROWS(copy_16_to_32, t->columns);
    else if (t->columns == 32)
        COPY_ROWS(copy_long, 32);
    else if (t->columns == 64)
        COPY_ROWS(copy_long, 64);
    else if (t->columns < LONG_RUN_BYTES)
        COPY_ROWS(copy_long, t->columns);
    else
        COPY_ROWS(copy_memory, t->columns);
}

void tsr_stream_avx2(void *dst, const void *src, int64_t bytes)
{
    char *to = dst;
    const char *from = src;
    int64_t head = (int64_t)(-(uintptr_t)to & 63), i;
    if (bytes < 64 + head) {
        if (bytes > 0)
            memcpy(to, from, (size_t)bytes);
        return;
    }
    memcpy(to, from, (size_t)head);
    for (i = head; i + 64 <= bytes; i += 64) {
        vec low = vec_load(from + i), high = vec_load(from + i + 32);
        _mm256_stream_si256((__m256i *)(void *)(to + i), low);
        _mm256_stream_si256((__m256i *)(void *)(to + i + 32), high);
    }
    memcpy(to + i, from + i, (size_t)(bytes - i));
}

void tsr_fence_avx2(void)
{
    _mm_sfence();
}

/* ---- f16 ---- */

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

/* ---- narrow integers ---- */

/* 8 elements. What is too small, or a NaN, gives the smallest integer: packing saturates it, a NaN is masked out. */
static inline __m256i whole_of(const char *at, float high)
{
    __m256 x = _mm256_loadu_ps((const float *)(const void *)at);
    __m256i is_number = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_ORD_Q));
    return _mm256_and_si256(_mm256_cvtps_epi32(_mm256_min_ps(x, _mm256_set1_ps(high))), is_number);
}

/* Packing works lane by lane; this puts 4-byte pieces of two rounds, or 8-byte ones of one, back into order. */
static inline vec in_order_8(vec v)
{
    return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

static inline vec in_order_16(vec v)
{
    return _mm256_permute4x64_epi64(v, 0xd8);
}

#define STORE_8(type, pack, high)                                                                                      \
    void tsr_store_##type##_avx2(void *dst, const void *src, int64_t n)                                                \
    {                                                                                                                  \
        char *to = dst;                                                                                                \
        const char *from = src;                                                                                        \
        int64_t i = 0;                                                                                                 \
        for (; i + 32 <= n; i += 32, from += 128) {                                                                    \
            vec low = _mm256_packs_epi32(whole_of(from, high), whole_of(from + 32, high));                             \
            vec top = _mm256_packs_epi32(whole_of(from + 64, high), whole_of(from + 96, high));                        \
            vec_store(to + i, in_order_8(pack(low, top)));                                                             \
        }                                                                                                              \
        tsr_store_##type##_c(to + i, from, n - i);                                                                     \
    }

#define STORE_16(type, pack, high)                                                                                     \
    void tsr_store_##type##_avx2(void *dst, const void *src, int64_t n)                                                \
    {                                                                                                                  \
        char *to = dst;                                                                                                \
        const char *from = src;                                                                                        \
        int64_t i = 0;                                                                                                 \
        for (; i + 16 <= n; i += 16, from += 64)                                                                       \
            vec_store(to + 2 * i, in_order_16(pack(whole_of(from, high), whole_of(from + 32, high))));                 \
        tsr_store_##type##_c(to + 2 * i, from, n - i);                                                                 \
    }

STORE_8(S8, _mm256_packs_epi16, 127.0f)
STORE_8(U8, _mm256_packus_epi16, 255.0f)
STORE_16(S16, _mm256_packs_epi32, 32767.0f)
STORE_16(U16, _mm256_packus_epi32, 65535.0f)
