/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/kernels/x86/parts.h"

#define RUNG avx2
#define OWN_F16
#define OWN_LOADS
#define OWN_INTEGERS
#define OWN_WIDE
#include "reorder/kernels/row.h"

/* ---- single bits, a vector of them ---- */

#define OWN_BITS
enum { BITS_AT_ONCE = 32 };

static inline void unpack_bits(uint8_t *to, const uint8_t *from)
{
    const __m256i eight_of_each = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x((int64_t)0x8040201008040201);
    const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(*(const s32_any *)from), eight_of_each);
    const __m256i ones = _mm256_min_epu8(_mm256_and_si256(bytes, bit), _mm256_set1_epi8(1));
    _mm256_storeu_si256((__m256i *)(void *)to, ones);
}

static inline void pack_bits(uint8_t *to, const uint8_t *from)
{
    const __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)from);
    *(s32_any *)to = ~_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_setzero_si256()));
}

#include "reorder/kernels/packed.h"

/* ---- blocks: two lanes ---- */

enum { LANES = 2, BLOCK_VECTORS = 8, LEAST_BLOCKS = 1 };
typedef __m256i vec;

static inline vec vec_load(const char *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

static inline void vec_store(char *at, vec v)
{
    _mm256_storeu_si256((__m256i *)(void *)at, v);
}

#define LINE_VECTORS 2

static inline void vec_put(char *at, vec v, bool streams)
{
    if (streams)
        _mm256_stream_si256((__m256i *)(void *)at, v);
    else
        vec_store(at, v);
}

static inline vec vec_gather_lanes(const char *const at[LANES])
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_128(at[0])), load_128(at[1]), 1);
}

#define PAIRS_OF_BLOCKS

static inline vec vec_gather_pairs(const char *const at[LANES], int l, int64_t offset)
{
    return vec_load(at[l] + offset);
}

static inline void vec_exchange_lanes(vec *a, vec *b)
{
    const vec even = _mm256_permute2x128_si256(*a, *b, 0x20);
    *b = _mm256_permute2x128_si256(*a, *b, 0x31);
    *a = even;
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

static inline void vec_store_part_of_lane(char *at, vec v, int l, int64_t bytes)
{
    store_part(at, lane_of(v, l), bytes);
}

/* Lane l of a and lane m of b; m is 0 only where l is. */
INLINE vec two_lanes(vec a, int l, vec b, int m)
{
    return m == 0   ? _mm256_permute2x128_si256(a, b, 0x20)
           : l == 0 ? _mm256_permute2x128_si256(a, b, 0x30)
                    : _mm256_permute2x128_si256(a, b, 0x31);
}

INLINE void vec_put_in_turn(char *at, const vec *v, int n, bool streams)
{
#pragma GCC unroll 16
    for (int i = 0; i < 2 * n; i += 2)
        vec_put(at + 16 * i, two_lanes(v[i % n], i / n, v[(i + 1) % n], (i + 1) / n), streams);
}

#define vec_put_pairs_in_turn(at, v, n, streams) vec_put_in_turn(at, v, n, streams) /* there is one pair */

INLINE void vec_put_tiles(char *at, const vec *v, int n, int64_t pitch, bool streams)
{
    if (n == 1) {
        vec_store_lanes(at, v[0], 0, 1);
        vec_store_lanes(at + pitch, v[0], 1, 1);
        return;
    }
#pragma GCC unroll 8
    for (int i = 0; i < n; i += 2) {
        vec_put(at + 16 * i, two_lanes(v[i], 0, v[i + 1], 0), streams);
        vec_put(at + pitch + 16 * i, two_lanes(v[i], 1, v[i + 1], 1), streams);
    }
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

static inline vec vec_turn_lanes(vec v)
{
    return _mm256_permute2x128_si256(v, v, 0x01);
}

static inline vec vec_shuffle(vec v, vec order)
{
    return _mm256_shuffle_epi8(v, order);
}

static inline vec vec_choose(vec mask, vec a, vec b)
{
    return _mm256_blendv_epi8(b, a, mask);
}

static inline vec vec_repeat(const uint8_t bytes[16])
{
    return _mm256_broadcastsi128_si256(load_128((const char *)bytes));
}

static inline vec join_32(vec a, vec b, int64_t first)
{
    const vec at = _mm256_add_epi32(_mm256_set1_epi32((int)first), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    const vec is_in_b = _mm256_cmpgt_epi32(at, _mm256_set1_epi32(7));
    return _mm256_blendv_epi8(_mm256_permutevar8x32_epi32(a, at), _mm256_permutevar8x32_epi32(b, at), is_in_b);
}

/* Narrower elements are parts of what two neighbours of 32 bits have. */
static inline vec vec_join(vec a, vec b, int64_t begin, int bytes)
{
    const vec low = join_32(a, b, begin / 4);
    if (bytes >= 4)
        return low;
    const __m128i bits = _mm_cvtsi64_si128(begin % 4 * 8), others = _mm_cvtsi64_si128(32 - begin % 4 * 8);
    return _mm256_or_si256(_mm256_srl_epi32(low, bits), _mm256_sll_epi32(join_32(a, b, begin / 4 + 1), others));
}

static inline bool vec_joins(int64_t bytes)
{
    return bytes % 4 == 0;
}

static inline vec vec_join_lanes(vec v, int64_t bytes)
{
    static const int32_t word[][8] = {
        {0, 4, 1, 5, 2, 6, 3, 7}, {0, 1, 4, 5, 2, 3, 6, 7}, {0, 1, 2, 4, 5, 6, 3, 7}, {0, 1, 2, 3, 4, 5, 6, 7}};
    return _mm256_permutevar8x32_epi32(v, vec_load((const char *)word[bytes / 4 - 1]));
}

#define ONE_LANE sse41 /* which all that have AVX2 have */
#include "reorder/kernels/blocks.h"

static inline vec vec_first_lane(vec v, int l)
{
    return _mm256_zextsi128_si256(lane_of(v, l));
}

static inline vec vec_load_part(const char *at, int64_t bytes)
{
    if (bytes > TSR_LANE_BYTES)
        return _mm256_set_m128i(load_end(at + TSR_LANE_BYTES, bytes - TSR_LANE_BYTES), load_128(at));
    return _mm256_zextsi128_si256(bytes == TSR_LANE_BYTES ? load_128(at) : load_part(at, bytes));
}

#include "reorder/kernels/padded.h"

#include "reorder/kernels/pad.h"

static inline vec vec_every_other(vec a, vec b, int bytes)
{
    if (bytes == 16)
        return _mm256_permute2x128_si256(a, b, 0x20);
    const vec mixed = bytes == 4
                          ? _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88))
                          : _mm256_unpacklo_epi64(a, b);
    return _mm256_permute4x64_epi64(mixed, 0xd8);
}

#include "reorder/kernels/unpad.h"

/* ---- runs ---- */

/* No loads behind masks: QEMU reads all that these hide. */
static inline vec load_parts(const char *a, int64_t n, const char *b, int unit)
{
    return vec_join(vec_load(a + n - VECTOR_BYTES), vec_load(b), VECTOR_BYTES - n, unit);
}

#define WIDE_RUN 32
#define LONGEST_RUN (8 << 10)
#define JOINED_UNIT 4
#include "reorder/kernels/x86/joined_runs.h"

#include "reorder/kernels/copies.h"
#include "reorder/kernels/x86/streams.h"

/* ---- converters ---- */

typedef __m256 pivot;
enum { WHOLE = 8 };
#define WEAKER c

static inline pivot pivot_load(const void *at)
{
    return _mm256_loadu_ps(at);
}

static inline void pivot_store(void *to, pivot x)
{
    _mm256_storeu_ps(to, x);
}

static inline pivot pivot_of(float f)
{
    return _mm256_set1_ps(f);
}

static inline pivot half_load(const char *at)
{
    return _mm256_cvtph_ps(load_128(at));
}

static inline __m128i half_of(pivot x)
{
    return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
}

static inline void half_store(char *to, pivot x)
{
    store_128(to, half_of(x));
}

#include "reorder/kernels/pivot.h"

typedef __m256d wide;
enum { WIDE = 4 };

static inline wide wide_load(const char *at)
{
    return _mm256_loadu_pd((const double *)(const void *)at);
}

static inline wide wide_of(float f)
{
    return _mm256_set1_pd(f);
}

static inline wide wide_load_factors(const float *at)
{
    return _mm256_cvtps_pd(_mm_loadu_ps(at));
}

/* What is too small becomes INT32_MIN. */
static inline void put_S32(char *to, wide x)
{
    const wide number = _mm256_and_pd(x, _mm256_cmp_pd(x, x, _CMP_ORD_Q));
    store_128(to, _mm256_cvtpd_epi32(_mm256_min_pd(number, _mm256_set1_pd(INT32_MAX))));
}

/* Of each 64 bits the lower half. */
static inline __m128i lower_halves(__m256d x)
{
    const __m128 low = _mm_castpd_ps(_mm256_castpd256_pd128(x)), high = _mm_castpd_ps(_mm256_extractf128_pd(x, 1));
    return _mm_castps_si128(_mm_shuffle_ps(low, high, 0x88));
}

/* Behind the exponent of 2^52 they are rounded. A NaN becomes 0. */
static inline void put_U32(char *to, wide x)
{
    const wide limited = _mm256_min_pd(_mm256_max_pd(x, _mm256_setzero_pd()), _mm256_set1_pd(UINT32_MAX));
    store_128(to, lower_halves(_mm256_add_pd(limited, _mm256_set1_pd(0x1p52))));
}

/* Likewise behind that of 1.5 * 2^52, if all magnitudes are below 2^51. */
static inline bool put_small(char *to, wide x)
{
    const wide magnitude = _mm256_andnot_pd(_mm256_set1_pd(-0.0), x), middle = _mm256_set1_pd(0x1.8p52);
    const wide is_small = _mm256_cmp_pd(magnitude, _mm256_set1_pd(0x1p51), _CMP_LT_OQ);
    const wide rounded = _mm256_add_pd(x, middle);
    vec_store(to, _mm256_sub_epi64(_mm256_castpd_si256(rounded), _mm256_castpd_si256(middle)));
    return _mm256_movemask_pd(is_small) == (1 << WIDE) - 1;
}

static inline void put_S64(char *to, wide x)
{
    if (!put_small(to, x))
        for (int i = 0; i < WIDE; i++)
            ((s64_any *)(void *)to)[i] = to_s64(x[i]);
}

static inline void put_U64(char *to, wide x)
{
    const wide positive = _mm256_max_pd(x, _mm256_setzero_pd());
    if (!put_small(to, positive))
        for (int i = 0; i < WIDE; i++)
            ((u64_any *)(void *)to)[i] = to_u64(positive[i]);
}

/* One step down, if it is above x; and odd, if it is not x. */
static inline void put_odd_F32(char *to, wide x)
{
    const wide sign = _mm256_set1_pd(-0.0);
    const __m128 near = _mm256_cvtpd_ps(x);
    const wide magnitude = _mm256_andnot_pd(sign, _mm256_cvtps_pd(near)), wanted = _mm256_andnot_pd(sign, x);
    const __m128i is_above = lower_halves(_mm256_cmp_pd(magnitude, wanted, _CMP_GT_OQ));
    const __m128i is_other = lower_halves(_mm256_cmp_pd(magnitude, wanted, _CMP_NEQ_OQ));
    const __m128i cut = _mm_add_epi32(_mm_castps_si128(near), is_above);
    store_128(to, _mm_or_si128(cut, _mm_srli_epi32(is_other, 31)));
}

#define LANES_MIN _mm256_min_epi32
#define LANES_MAX _mm256_max_epi32
#define OWN_NF4
#include "reorder/kernels/few_bits.h"

/* Of every `apart`-th middle from `first` on, those at the indices. */
static inline pivot nf4_middles_at(vec index, int first, int apart)
{
    float middles[8] = {0};
#pragma GCC unroll 8
    for (int i = 0; first + i * apart < NF4_LEVELS - 1; i++)
        middles[i] = nf4_floats_below[first + i * apart];
    return _mm256_permutevar8x32_ps(pivot_load(middles), index);
}

/* A search by halves: whether x is above the middle of those that are left is the next bit of its index. That of a NaN
 * is 0 so far. */
static inline vec nf4_of(pivot x)
{
    vec index = _mm256_setzero_si256();
#pragma GCC unroll 4
    for (int half = NF4_LEVELS / 2; half > 0; half /= 2) {
        const pivot middle =
            half == NF4_LEVELS / 2 ? pivot_of(nf4_floats_below[half - 1]) : nf4_middles_at(index, half - 1, 2 * half);
        const vec is_above = _mm256_castps_si256(_mm256_cmp_ps(x, middle, _CMP_GT_OQ));
        index = _mm256_sub_epi32(_mm256_add_epi32(index, index), is_above);
    }
    const vec is_nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    return _mm256_or_si256(index, _mm256_and_si256(is_nan, _mm256_set1_epi32(NF4_ZERO)));
}
#include "reorder/kernels/wide.h"

#define MM(name) _mm256_##name
#define IS_NUMBER(x) _mm256_cmp_ps(x, x, _CMP_ORD_Q)
#define IS_AT_LEAST(a, b) _mm256_cmp_ps(a, b, _CMP_GE_OQ)
#define load_bytes(at) load_64(at)
#define load_halves(at) load_128(at)
#include "reorder/kernels/x86/rounding.h"

/* Where no NaN has to be looked for, half of it is left to do. */
static inline vec bf16_pack(pivot a, pivot b)
{
    const bool has_nan = _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q)) != 0;
    const vec x = has_nan ? bf16_of(a) : number_to_bf16(a), y = has_nan ? bf16_of(b) : number_to_bf16(b);
    const vec upper = _mm256_packus_epi32(_mm256_srli_epi32(x, 16), _mm256_srli_epi32(y, 16));
    return _mm256_permute4x64_epi64(upper, 0xd8);
}

static inline vec halves_of(pivot a, pivot b)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(half_of(a)), half_of(b), 1);
}

static inline vec in_order_8(vec v)
{
    return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

static inline vec in_order_16(vec v)
{
    return _mm256_permute4x64_epi64(v, 0xd8);
}

static inline vec limited_S8(vec v)
{
    return _mm256_min_epu8(v, _mm256_set1_epi8(INT8_MAX));
}

static inline vec limited_U8(vec v)
{
    return _mm256_max_epi8(v, _mm256_setzero_si256());
}

static inline vec limited_S16(vec v)
{
    return _mm256_min_epu16(v, _mm256_set1_epi16(INT16_MAX));
}

static inline vec limited_U16(vec v)
{
    return _mm256_max_epi16(v, _mm256_setzero_si256());
}

static inline vec limited_S32(vec v)
{
    return _mm256_min_epu32(v, _mm256_set1_epi32(INT32_MAX));
}

static inline vec limited_U32(vec v)
{
    return _mm256_max_epi32(v, _mm256_setzero_si256());
}

static inline vec limited_BOOL(vec v)
{
    return _mm256_min_epu8(v, _mm256_set1_epi8(1));
}

static inline void pivot_put(char *to, pivot x, bool streams)
{
    vec_put(to, _mm256_castps_si256(x), streams);
}

static inline pivot load_whole_F8_E4M3(const char *at)
{
    const __m128i bits = _mm_slli_epi16(_mm_cvtepi8_epi16(load_64(at)), 7);
    return f8_e4m3_of_half(_mm256_cvtph_ps(_mm_and_si128(bits, _mm_set1_epi16((short)0xbf80))));
}

static inline pivot load_whole_F8_E5M2(const char *at)
{
    return _mm256_cvtph_ps(_mm_slli_epi16(_mm_cvtepu8_epi16(load_64(at)), 8));
}

/* The highest bit of an index tells which half of the levels it is in. */
static inline pivot load_whole_NF4(const char *at)
{
    const vec index = _mm256_cvtepu8_epi32(load_64(at));
    const pivot lower = _mm256_permutevar8x32_ps(pivot_load(nf4_levels), index);
    const pivot upper = _mm256_permutevar8x32_ps(pivot_load(nf4_levels + WHOLE), index);
    return _mm256_blendv_ps(lower, upper, _mm256_castsi256_ps(_mm256_slli_epi32(index, 28)));
}

static inline void store_packed_U16(char *to, vec v)
{
    store_128(to, _mm_packus_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)));
}

static inline void store_packed_BF16(char *to, vec v)
{
    store_packed_U16(to, _mm256_srli_epi32(v, 16));
}

static inline void store_packed_S16(char *to, vec v)
{
    store_128(to, _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)));
}

static inline void store_packed_S8(char *to, vec v)
{
    const __m128i halves = _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    store_64(to, _mm_packs_epi16(halves, halves));
}

static inline void store_packed_U8(char *to, vec v)
{
    const __m128i halves = _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    store_64(to, _mm_packus_epi16(halves, halves));
}

#include "reorder/kernels/narrow.h"
#include "reorder/kernels/periodic.h"

#include "reorder/kernels/added.h"

static inline vec vec_pixels(const char *at, int channels)
{
    const char *const lane[LANES] = {at, at + 12};
    return channels == 4 ? vec_load(at) : vec_gather_lanes(lane);
}

#include "reorder/kernels/joined_pixels.h"
#include "reorder/kernels/parted_pixels.h"
#include "reorder/kernels/pixels.h"

static inline vec vec_spread(vec v, vec order)
{
    return _mm256_andnot_si256(_mm256_srai_epi32(order, 31), _mm256_permutevar8x32_epi32(v, order));
}

#include "reorder/kernels/padded_pixels.h"
