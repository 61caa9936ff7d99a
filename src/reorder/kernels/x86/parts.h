/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_KERNELS_X86_PARTS_H
#define TESSERA_SRC_REORDER_KERNELS_X86_PARTS_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "reorder/kernels/template.h"

/* 16 bytes of memory, and 8. */
static inline __m128i load_128(const char *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

static inline void store_128(char *at, __m128i v)
{
    _mm_storeu_si128((__m128i *)(void *)at, v);
}

static inline __m128i load_64(const char *at)
{
    return _mm_loadl_epi64((const __m128i *)(const void *)at);
}

static inline void store_64(char *at, __m128i v)
{
    _mm_storel_epi64((__m128i *)(void *)at, v);
}

typedef __m128i lane_vec;

static inline lane_vec lane_load(const char *from)
{
    return load_128(from);
}

static inline lane_vec lane_shuffle(lane_vec v, lane_vec order)
{
    return _mm_shuffle_epi8(v, order);
}

static inline void lane_store(char *to, lane_vec v)
{
    store_128(to, v);
}

/* Without touching a byte more: the first 0 to 15 bytes, as numbers of 8, 4, 2 and 1 bytes that overlap. */
static inline __m128i load_part(const char *at, int64_t bytes)
{
    uint64_t low = 0, high = 0;
    if (bytes >= 8) {
        memcpy(&low, at, 8);
        memcpy(&high, at + bytes - 8, 8);
        high = bytes == 8 ? 0 : high >> (8 * (16 - bytes));
    } else if (bytes >= 4) {
        uint32_t first, last;
        memcpy(&first, at, 4);
        memcpy(&last, at + bytes - 4, 4);
        low = first | (uint64_t)last << (8 * (bytes - 4));
    } else if (bytes >= 2) {
        uint16_t first, last;
        memcpy(&first, at, 2);
        memcpy(&last, at + bytes - 2, 2);
        low = first | (uint64_t)last << (8 * (bytes - 2));
    } else if (bytes == 1) {
        low = (uint8_t)at[0];
    }
    return _mm_set_epi64x((long long)high, (long long)low);
}

/* The same of 1 to 16 bytes, with as many in front of them as make up 16. */
static inline __m128i load_end(const char *at, int64_t bytes)
{
    static const uint8_t shift[32] = {0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,
                                      11,   12,   13,   14,   15,   0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                      0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};
    return _mm_shuffle_epi8(load_128(at + bytes - 16), load_128((const char *)shift + 16 - bytes));
}

static inline void store_part(char *at, __m128i v, int64_t bytes)
{
    uint64_t low = (uint64_t)_mm_cvtsi128_si64(v);
    if (bytes >= 8) {
        memcpy(at, &low, 8);
        at += 8;
        low = (uint64_t)_mm_extract_epi64(v, 1);
        bytes -= 8;
    }
    if (bytes & 4) {
        memcpy(at, &low, 4);
        at += 4;
        low >>= 32;
    }
    if (bytes & 2) {
        memcpy(at, &low, 2);
        at += 2;
        low >>= 16;
    }
    if (bytes & 1)
        memcpy(at, &low, 1);
}

static inline void lane_store_part(char *to, lane_vec v, int64_t bytes)
{
    store_part(to, v, bytes);
}

#endif
