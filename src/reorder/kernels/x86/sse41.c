/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "reorder/kernels/x86/parts.h"

#define RUNG sse41

/* ---- blocks: one lane ---- */

enum { LANES = 1, BLOCK_VECTORS = 8, LEAST_BLOCKS = 1 };
typedef __m128i vec;

static inline vec vec_load(const char *at)
{
    return load_128(at);
}

static inline void vec_store(char *at, vec v)
{
    store_128(at, v);
}

#define vec_put(at, v, streams) vec_store(at, v) /* nothing goes past the caches */

static inline vec vec_gather_lanes(const char *const at[LANES])
{
    return load_128(at[0]);
}

static inline void vec_store_lanes(char *at, vec v, int lane, int lanes)
{
    (void)lane, (void)lanes;
    store_128(at, v);
}

static inline void vec_store_part(char *at, vec v, int64_t bytes)
{
    if (bytes == sizeof v)
        store_128(at, v);
    else
        store_part(at, v, bytes);
}

static inline void vec_store_part_of_lane(char *at, vec v, int l, int64_t bytes)
{
    (void)l;
    store_part(at, v, bytes);
}

static inline void vec_put_in_turn(char *at, const vec *v, int n, bool streams)
{
    (void)streams;
    for (int j = 0; j < n; j++)
        store_128(at + 16 * j, v[j]);
}

#define vec_put_pairs_in_turn(at, v, n, streams) vec_put_in_turn(at, v, n, streams) /* there are no pairs */

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

static inline vec vec_shuffle(vec v, vec order)
{
    return _mm_shuffle_epi8(v, order);
}

static inline vec vec_repeat(const uint8_t bytes[16])
{
    return load_128((const char *)bytes);
}

#include "reorder/kernels/blocks.h"
