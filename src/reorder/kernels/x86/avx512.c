/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/kernels/x86/parts.h"

#define RUNG avx512
#define OWN_F16
#define OWN_LOADS
#define OWN_INTEGERS
#define OWN_WIDE
#include "reorder/kernels/row.h"

/* ---- single bits, a vector of them, which are its mask ---- */

#define OWN_BITS
enum { BITS_AT_ONCE = 64 };

static inline void unpack_bits(uint8_t *to, const uint8_t *from)
{
    _mm512_storeu_si512(to, _mm512_maskz_set1_epi8(*(const u64_any *)from, 1));
}

static inline void pack_bits(uint8_t *to, const uint8_t *from)
{
    const __m512i bytes = _mm512_loadu_si512(from);
    *(u64_any *)to = _mm512_test_epi8_mask(bytes, bytes);
}

#include "reorder/kernels/packed.h"

/* The first 0 to 64 of 64 bytes. */
static inline __mmask64 first_of_64(int64_t bytes)
{
    return bytes >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << bytes) - 1;
}

/* ---- blocks: four lanes ---- */

enum { LANES = 4, BLOCK_VECTORS = 16, LEAST_BLOCKS = 2 };
typedef __m512i vec;

static inline vec vec_load(const char *at)
{
    return _mm512_loadu_si512(at);
}

static inline void vec_store(char *at, vec v)
{
    _mm512_storeu_si512(at, v);
}

#define LINE_VECTORS 1

static inline void vec_put(char *at, vec v, bool streams)
{
    if (streams)
        _mm512_stream_si512((__m512i *)(void *)at, v);
    else
        vec_store(at, v);
}

/* Loads that insert take no shuffle. */
static inline vec join_lanes(__m128i a, __m128i b, __m128i c, __m128i d)
{
    vec v = _mm512_castsi128_si512(a);
    v = _mm512_inserti32x4(v, b, 1);
    v = _mm512_inserti32x4(v, c, 2);
    return _mm512_inserti32x4(v, d, 3);
}

static inline vec vec_gather_lanes(const char *const at[LANES])
{
    return join_lanes(load_128(at[0]), load_128(at[1]), load_128(at[2]), load_128(at[3]));
}

/* Nor do those behind masks, which prefetchers do not follow. */
#define HIDDEN_LANES

static inline vec vec_gather_hidden_lanes(const char *const at[LANES])
{
    vec v = _mm512_castsi128_si512(load_128(at[0]));
    v = _mm512_mask_broadcast_i32x4(v, 0x00f0, load_128(at[1]));
    v = _mm512_mask_broadcast_i32x4(v, 0x0f00, load_128(at[2]));
    return _mm512_mask_broadcast_i32x4(v, 0xf000, load_128(at[3]));
}

#define PAIRS_OF_LANES
#define PAIRS_OF_BLOCKS

static inline vec vec_gather_halves(const char *low, const char *high)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)low)),
                              _mm256_loadu_si256((const __m256i *)(const void *)high), 1);
}

static inline vec vec_gather_pairs(const char *const at[LANES], int l, int64_t offset)
{
    return vec_gather_halves(at[l] + offset, at[l + 2] + offset);
}

/* One shuffle and two blends, as these have another port, too. */
static inline void vec_exchange_lanes(vec *a, vec *b)
{
    enum { EVEN = 0x33, ODD = 0xcc };
    const vec exchanged = _mm512_permutex2var_epi64(*a, _mm512_setr_epi64(2, 3, 8, 9, 6, 7, 12, 13), *b);
    *a = _mm512_mask_blend_epi64(ODD, *a, exchanged);
    *b = _mm512_mask_blend_epi64(EVEN, *b, exchanged);
}

static inline __m128i lane_of(vec v, int lane)
{
    return lane == 0   ? _mm512_castsi512_si128(v)
           : lane == 1 ? _mm512_extracti32x4_epi32(v, 1)
           : lane == 2 ? _mm512_extracti32x4_epi32(v, 2)
                       : _mm512_extracti32x4_epi32(v, 3);
}

static inline void vec_store_lanes(char *at, vec v, int lane, int lanes)
{
    if (lanes == LANES)
        vec_store(at, v);
    else if (lanes == 2)
        _mm256_storeu_si256((__m256i *)(void *)at,
                            lane == 0 ? _mm512_castsi512_si256(v) : _mm512_extracti64x4_epi64(v, 1));
    else
        store_128(at, lane_of(v, lane));
}

static inline void vec_store_part(char *at, vec v, int64_t bytes)
{
    _mm512_mask_storeu_epi8(at, first_of_64(bytes), v);
}

/* Lanes as pairs of 64 bits: those of a are 0 to 3, those of b 4 to 7. */
#define JOIN_LANES(a, l0, l1, l2, l3, b)                                                                               \
    _mm512_permutex2var_epi64(a,                                                                                       \
                              _mm512_setr_epi64(2 * (l0), 2 * (l0) + 1, 2 * (l1), 2 * (l1) + 1, 2 * (l2),              \
                                                2 * (l2) + 1, 2 * (l3), 2 * (l3) + 1),                                 \
                              b)

static inline void store_2_in_turn(char *at, const vec *v, bool streams)
{
    vec_put(at, JOIN_LANES(v[0], 0, 4, 1, 5, v[1]), streams);
    vec_put(at + 64, JOIN_LANES(v[0], 2, 6, 3, 7, v[1]), streams);
}

/* What a third vector gives has any lane at first. */
static inline void store_3_in_turn(char *at, const vec *v, bool streams)
{
    vec_put(at, JOIN_LANES(JOIN_LANES(v[0], 0, 4, 0, 1, v[1]), 0, 1, 4, 3, v[2]), streams);
    vec_put(at + 64, JOIN_LANES(JOIN_LANES(v[0], 5, 0, 2, 6, v[1]), 0, 5, 2, 3, v[2]), streams);
    vec_put(at + 128, JOIN_LANES(JOIN_LANES(v[0], 0, 3, 7, 0, v[1]), 6, 1, 2, 7, v[2]), streams);
}

/* Lane l of four vectors goes to at + l * pitch. */
static inline void store_4_in_turn(char *at, const vec *v, int64_t pitch, bool streams)
{
    vec a = _mm512_shuffle_i32x4(v[0], v[1], 0x44), b = _mm512_shuffle_i32x4(v[2], v[3], 0x44);
    vec c = _mm512_shuffle_i32x4(v[0], v[1], 0xee), d = _mm512_shuffle_i32x4(v[2], v[3], 0xee);
    vec_put(at, _mm512_shuffle_i32x4(a, b, 0x88), streams);
    vec_put(at + pitch, _mm512_shuffle_i32x4(a, b, 0xdd), streams);
    vec_put(at + 2 * pitch, _mm512_shuffle_i32x4(c, d, 0x88), streams);
    vec_put(at + 3 * pitch, _mm512_shuffle_i32x4(c, d, 0xdd), streams);
}

/* Lanes i and i + 1 of n vectors in turn, as the first two of one. */
INLINE vec two_lanes(const vec *v, int n, int i)
{
    return JOIN_LANES(v[i % n], i / n, 4 + (i + 1) / n, 0, 0, v[(i + 1) % n]);
}

INLINE void vec_put_in_turn(char *at, const vec *v, int n, bool streams)
{
    if (n == 2) {
        store_2_in_turn(at, v, streams);
    } else if (n == 3) {
        store_3_in_turn(at, v, streams);
    } else if (n % 4 == 0) {
#pragma GCC unroll 4
        for (int j = 0; j < n; j += 4)
            store_4_in_turn(at + 16 * j, v + j, 16 * n, streams);
    } else {
#pragma GCC unroll 8
        for (int i = 0; i < 4 * n; i += 4)
            vec_put(at + 16 * i, _mm512_shuffle_i32x4(two_lanes(v, n, i), two_lanes(v, n, i + 2), 0x44), streams);
    }
}

INLINE void vec_put_pairs_in_turn(char *at, const vec *v, int n, bool streams)
{
    if (n == 1) {
        vec_put(at, _mm512_shuffle_i32x4(v[0], v[0], 0xd8), streams);
        return;
    }
#pragma GCC unroll 8
    for (int j = 0; j < n; j += 2) {
        vec_put(at + 32 * j, _mm512_shuffle_i32x4(v[j], v[j + 1], 0x88), streams);
        vec_put(at + 32 * (n + j), _mm512_shuffle_i32x4(v[j], v[j + 1], 0xdd), streams);
    }
}

static inline vec vec_zip_low(vec a, vec b, int bytes)
{
    return bytes == 1   ? _mm512_unpacklo_epi8(a, b)
           : bytes == 2 ? _mm512_unpacklo_epi16(a, b)
           : bytes == 4 ? _mm512_unpacklo_epi32(a, b)
                        : _mm512_unpacklo_epi64(a, b);
}

static inline vec vec_zip_high(vec a, vec b, int bytes)
{
    return bytes == 1   ? _mm512_unpackhi_epi8(a, b)
           : bytes == 2 ? _mm512_unpackhi_epi16(a, b)
           : bytes == 4 ? _mm512_unpackhi_epi32(a, b)
                        : _mm512_unpackhi_epi64(a, b);
}

static inline vec vec_choose(vec mask, vec a, vec b)
{
    return _mm512_ternarylogic_epi64(mask, a, b, 0xca);
}

static inline vec vec_turn_lanes(vec v)
{
    return _mm512_shuffle_i32x4(v, v, 0x1b);
}

static inline vec vec_shuffle(vec v, vec order)
{
    return _mm512_shuffle_epi8(v, order);
}

static inline vec vec_repeat(const uint8_t bytes[16])
{
    return _mm512_broadcast_i32x4(load_128((const char *)bytes));
}

static inline vec join_32(vec a, vec b, int64_t first)
{
    const vec counted = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_permutex2var_epi32(a, _mm512_add_epi32(counted, _mm512_set1_epi32((int)first)), b);
}

static inline vec join_16(vec a, vec b, int64_t first)
{
    const vec counted = _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12,
                                         11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_permutex2var_epi16(a, _mm512_add_epi16(counted, _mm512_set1_epi16((short)first)), b);
}

/* Bytes are parts of what two neighbours of 32 bits have. */
static inline vec join_8(vec a, vec b, int64_t first)
{
    const vec low = join_32(a, b, first / 4), high = join_32(a, b, first / 4 + 1);
    const __m128i bits = _mm_cvtsi64_si128(first % 4 * 8), others = _mm_cvtsi64_si128(32 - first % 4 * 8);
    return _mm512_or_si512(_mm512_srl_epi32(low, bits), _mm512_sll_epi32(high, others));
}

static inline vec vec_join(vec a, vec b, int64_t begin, int bytes)
{
    return bytes == 1 ? join_8(a, b, begin) : bytes == 2 ? join_16(a, b, begin / 2) : join_32(a, b, begin / 4);
}

#define NARROWER avx2

/* Words of lanes, as many of each. */
#define JOINED_WORD(words, i) ((i) / (words)*8 + (i) % (words)) % 32
#define JOINED_4(words, i)                                                                                             \
    JOINED_WORD(words, i), JOINED_WORD(words, i + 1), JOINED_WORD(words, i + 2), JOINED_WORD(words, i + 3)
#define JOINED_32(words)                                                                                               \
    {                                                                                                                  \
        JOINED_4(words, 0), JOINED_4(words, 4), JOINED_4(words, 8), JOINED_4(words, 12), JOINED_4(words, 16),          \
            JOINED_4(words, 20), JOINED_4(words, 24), JOINED_4(words, 28)                                              \
    }

static inline bool vec_joins(int64_t bytes)
{
    return bytes % 2 == 0;
}

static inline vec vec_join_lanes(vec v, int64_t bytes)
{
    static const uint16_t word[][32] = {JOINED_32(1), JOINED_32(2), JOINED_32(3), JOINED_32(4),
                                        JOINED_32(5), JOINED_32(6), JOINED_32(7), JOINED_32(8)};
    return _mm512_permutexvar_epi16(_mm512_loadu_si512(word[bytes / 2 - 1]), v);
}

#define OWN_ODD_PIXELS
#include "reorder/kernels/x86/odd_pixels.h"

#include "reorder/kernels/blocks.h"

static inline vec vec_first_lane(vec v, int l)
{
    return _mm512_zextsi128_si512(lane_of(v, l));
}

static inline vec vec_load_part(const char *at, int64_t bytes)
{
    if (bytes > TSR_LANE_BYTES)
        return _mm512_maskz_loadu_epi8(first_of_64(bytes), at);
    return _mm512_zextsi128_si512(_mm_maskz_loadu_epi8((__mmask16)first_of_64(bytes), at));
}

#include "reorder/kernels/padded.h"

#include "reorder/kernels/pad.h"

static inline vec vec_every_other(vec a, vec b, int bytes)
{
    const vec words = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const vec pairs = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    return bytes == 4   ? _mm512_permutex2var_epi32(a, words, b)
           : bytes == 8 ? _mm512_permutex2var_epi64(a, pairs, b)
                        : _mm512_shuffle_i32x4(a, b, 0x88);
}

#include "reorder/kernels/unpad.h"

/* ---- runs ---- */

static inline __m256i load_parts(const char *a, int64_t n, const char *b, int unit)
{
    (void)unit; /* masks have bytes */
    const __mmask32 is_first = ((__mmask32)1 << n) - 1;
    return _mm256_mask_loadu_epi8(_mm256_maskz_loadu_epi8(is_first, a), ~is_first,
                                  (const void *)((uintptr_t)b - (uintptr_t)n));
}

#define WIDE_RUN 64
#define LONGEST_RUN (8 << 10)
#define WEAKER_COPIES avx2
#define JOINED_UNIT 1
#include "reorder/kernels/x86/joined_runs.h"

#include "reorder/kernels/copies.h"
#include "reorder/kernels/x86/streams.h"

/* ---- converters ---- */

typedef __m512 pivot;
enum { WHOLE = 16 };
#define WEAKER avx2

static inline pivot pivot_load(const void *at)
{
    return _mm512_loadu_ps(at);
}

static inline void pivot_store(void *to, pivot x)
{
    _mm512_storeu_ps(to, x);
}

static inline pivot pivot_of(float f)
{
    return _mm512_set1_ps(f);
}

static inline pivot half_load(const char *at)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)at));
}

static inline __m256i half_of(pivot x)
{
    return _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
}

static inline void half_store(char *to, pivot x)
{
    _mm256_storeu_si256((__m256i *)(void *)to, half_of(x));
}

#include "reorder/kernels/pivot.h"

typedef __m512d wide;
enum { WIDE = 8 };

static inline wide wide_load(const char *at)
{
    return _mm512_loadu_pd(at);
}

static inline wide wide_of(float f)
{
    return _mm512_set1_pd(f);
}

static inline wide wide_load_factors(const float *at)
{
    return _mm512_cvtps_pd(_mm256_loadu_ps(at));
}

/* What is compared with a NaN gives the second of both; what is too small becomes INT32_MIN, and so would a NaN. */
static inline void put_S32(char *to, wide x)
{
    const __mmask8 is_number = _mm512_cmp_pd_mask(x, x, _CMP_ORD_Q);
    const wide limited = _mm512_min_pd(x, _mm512_set1_pd(INT32_MAX));
    _mm256_storeu_si256((__m256i *)(void *)to, _mm512_maskz_cvtpd_epi32(is_number, limited));
}

/* A NaN becomes 0, and what is too large UINT32_MAX. */
static inline void put_U32(char *to, wide x)
{
    const wide limited = _mm512_max_pd(x, _mm512_setzero_pd());
    _mm256_storeu_si256((__m256i *)(void *)to, _mm512_cvtpd_epu32(limited));
}

/* What does not fit becomes INT64_MIN first. */
static inline void put_S64(char *to, wide x)
{
    const __mmask8 is_number = _mm512_cmp_pd_mask(x, x, _CMP_ORD_Q);
    const __mmask8 is_above = _mm512_cmp_pd_mask(x, _mm512_set1_pd(0x1p63), _CMP_GE_OQ);
    const vec whole = _mm512_maskz_cvtpd_epi64(is_number, x);
    vec_store(to, _mm512_mask_mov_epi64(whole, is_above, _mm512_set1_epi64(INT64_MAX)));
}

/* As to u32 */
static inline void put_U64(char *to, wide x)
{
    vec_store(to, _mm512_cvtpd_epu64(_mm512_max_pd(x, _mm512_setzero_pd())));
}

/* Cut, which keeps what is odd odd. */
static inline void put_odd_F32(char *to, wide x)
{
    const __m256 cut = _mm512_cvt_roundpd_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    const __mmask8 is_other = _mm512_cmp_pd_mask(_mm512_cvtps_pd(cut), x, _CMP_NEQ_OQ);
    const __m256i bits = _mm256_castps_si256(cut);
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_mask_or_epi32(bits, is_other, bits, _mm256_set1_epi32(1)));
}

#define OWN_NF4
#define LANES_MIN _mm512_min_epi32
#define LANES_MAX _mm512_max_epi32
#include "reorder/kernels/few_bits.h"

/* A search by halves: whether x is above the middle behind the levels that are left below tells of half of them. */
static inline vec nf4_of(pivot x)
{
    const pivot middles = pivot_load(nf4_floats_below);
    vec index = _mm512_setzero_si512();
    for (int half = NF4_LEVELS / 2; half > 0; half /= 2) {
        const vec at = _mm512_add_epi32(index, _mm512_set1_epi32(half - 1));
        const __mmask16 is_above = _mm512_cmp_ps_mask(x, _mm512_permutexvar_ps(at, middles), _CMP_GT_OQ);
        index = _mm512_mask_add_epi32(index, is_above, index, _mm512_set1_epi32(half));
    }
    return _mm512_mask_mov_epi32(index, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), _mm512_set1_epi32(NF4_ZERO));
}

#include "reorder/kernels/wide.h"

static inline vec nearest_of(pivot x)
{
    return _mm512_cvtps_epi32(x);
}

static inline bool has_least(vec a, vec b)
{
    return _mm512_cmpeq_epi16_mask(_mm512_min_epi16(a, b), _mm512_set1_epi16(INT16_MIN)) != 0;
}

/* What is compared with a NaN gives the second of both. */
static inline vec at_most(pivot x, float high)
{
    return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_set1_ps(high), x));
}

static inline vec whole_of(pivot x, float high)
{
    __mmask16 is_number = _mm512_cmp_ps_mask(x, x, _CMP_ORD_Q);
    return _mm512_maskz_cvtps_epi32(is_number, _mm512_min_ps(x, _mm512_set1_ps(high)));
}

static inline vec positive_of(pivot x, float high)
{
    return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_max_ps(x, _mm512_setzero_ps()), _mm512_set1_ps(high)));
}

/* What does not fit becomes INT32_MIN first. */
static inline vec integer_of(pivot x)
{
    __mmask16 is_number = _mm512_cmp_ps_mask(x, x, _CMP_ORD_Q);
    __mmask16 is_above = _mm512_cmp_ps_mask(x, _mm512_set1_ps(0x1p31f), _CMP_GE_OQ);
    return _mm512_mask_mov_epi32(_mm512_maskz_cvtps_epi32(is_number, x), is_above, _mm512_set1_epi32(INT32_MAX));
}

/* As put_U32 does it. */
static inline vec unsigned_of(pivot x)
{
    return _mm512_cvtps_epu32(_mm512_max_ps(x, _mm512_setzero_ps()));
}

/* A NaN keeps its upper half and is made quiet; the rest is rounded. */
static inline vec bf16_of(pivot x)
{
    const vec bits = _mm512_castps_si512(x), half = _mm512_set1_epi32(0x8000), below = _mm512_set1_epi32(0x7fff);
    const __mmask16 is_odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
    const __mmask16 is_nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    const vec rounded = _mm512_add_epi32(bits, _mm512_mask_blend_epi32(is_odd, below, half));
    return _mm512_mask_or_epi32(rounded, is_nan, bits, _mm512_set1_epi32(0x400000));
}

/* Of 32 bits each, the lower halves, or the upper ones. */
static inline vec halves_from(vec a, vec b, short first)
{
    static const uint16_t lower[32] = {0,  2,  4,  6,  8,  10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
                                       32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62};
    const vec order = _mm512_add_epi16(vec_load((const char *)lower), _mm512_set1_epi16(first));
    return _mm512_permutex2var_epi16(a, order, b);
}

/* One more, where the lower half is above a tie, or at one and the upper half is odd; and no NaN rounds. */
static inline vec bf16_pack(pivot a, pivot b)
{
    if (_mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q) != 0)
        return halves_from(bf16_of(a), bf16_of(b), 1);
    const vec x = _mm512_castps_si512(a), y = _mm512_castps_si512(b), one = _mm512_set1_epi16(1);
    const vec upper = halves_from(x, y, 1);
    const vec rest = _mm512_adds_epu16(halves_from(x, y, 0), _mm512_and_si512(upper, one));
    return _mm512_mask_add_epi16(upper, _mm512_cmpgt_epu16_mask(rest, _mm512_set1_epi16(INT16_MIN)), upper, one);
}

static inline vec halves_of(pivot a, pivot b)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(half_of(a)), half_of(b), 1);
}

static inline vec in_order_8(vec v)
{
    return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), v);
}

static inline vec in_order_16(vec v)
{
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), v);
}

#define PACK_S32(a, b) _mm512_packs_epi32(a, b)
#define PACK_U32(a, b) _mm512_packus_epi32(a, b)
#define PACK_S16(a, b) _mm512_packs_epi16(a, b)
#define PACK_U16(a, b) _mm512_packus_epi16(a, b)

static inline vec limited_S8(vec v)
{
    return _mm512_min_epu8(v, _mm512_set1_epi8(INT8_MAX));
}

static inline vec limited_U8(vec v)
{
    return _mm512_max_epi8(v, _mm512_setzero_si512());
}

static inline vec limited_S16(vec v)
{
    return _mm512_min_epu16(v, _mm512_set1_epi16(INT16_MAX));
}

static inline vec limited_U16(vec v)
{
    return _mm512_max_epi16(v, _mm512_setzero_si512());
}

static inline vec limited_S32(vec v)
{
    return _mm512_min_epu32(v, _mm512_set1_epi32(INT32_MAX));
}

static inline vec limited_U32(vec v)
{
    return _mm512_max_epi32(v, _mm512_setzero_si512());
}

static inline vec limited_BOOL(vec v)
{
    return _mm512_min_epu8(v, _mm512_set1_epi8(1));
}

static inline void pivot_put(char *to, pivot x, bool streams)
{
    vec_put(to, _mm512_castps_si512(x), streams);
}

static inline pivot load_whole_BF16(const char *at)
{
    const __m256i halves = _mm256_loadu_si256((const __m256i *)(const void *)at);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

static inline pivot load_whole_S8(const char *at)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(load_128(at)));
}

static inline pivot load_whole_U8(const char *at)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(load_128(at)));
}

static inline pivot load_whole_S16(const char *at)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)at)));
}

static inline pivot load_whole_U16(const char *at)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)at)));
}

static inline pivot load_whole_S32(const char *at)
{
    return _mm512_cvtepi32_ps(vec_load(at));
}

static inline pivot load_whole_F8_E4M3(const char *at)
{
    const __m256i bits = _mm256_slli_epi16(_mm256_cvtepi8_epi16(load_128(at)), 7);
    return f8_e4m3_of_half(_mm512_cvtph_ps(_mm256_and_si256(bits, _mm256_set1_epi16((short)0xbf80))));
}

static inline pivot load_whole_F8_E5M2(const char *at)
{
    return _mm512_cvtph_ps(_mm256_slli_epi16(_mm256_cvtepu8_epi16(load_128(at)), 8));
}

static inline pivot load_whole_NF4(const char *at)
{
    return _mm512_permutexvar_ps(_mm512_cvtepu8_epi32(load_128(at)), pivot_load(nf4_levels));
}

static inline void store_packed_U16(char *to, vec v)
{
    _mm256_storeu_si256((__m256i *)(void *)to, _mm512_cvtepi32_epi16(v));
}

static inline void store_packed_BF16(char *to, vec v)
{
    store_packed_U16(to, _mm512_srli_epi32(v, 16));
}

static inline void store_packed_S16(char *to, vec v)
{
    _mm256_storeu_si256((__m256i *)(void *)to, _mm512_cvtsepi32_epi16(v));
}

static inline void store_packed_S8(char *to, vec v)
{
    store_128(to, _mm512_cvtsepi32_epi8(v));
}

static inline void store_packed_U8(char *to, vec v)
{
    store_128(to, _mm512_cvtusepi32_epi8(v));
}

#define WEAKER_RUNS avx2
#include "reorder/kernels/narrow.h"
#include "reorder/kernels/periodic.h"

#include "reorder/kernels/added.h"

static inline vec vec_pixels(const char *at, int channels)
{
    const vec order = _mm512_setr_epi32(0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9, 9, 10, 11, 12);
    return channels == 4 ? vec_load(at) : _mm512_permutexvar_epi32(order, vec_load(at));
}

static inline pivot whole_of_u8(vec v)
{
    return _mm512_cvtepi32_ps(v);
}

static inline pivot whole_of_s8(vec v)
{
    return _mm512_cvtepi32_ps(_mm512_srai_epi32(_mm512_slli_epi32(v, 24), 24));
}

#include "reorder/kernels/joined_pixels.h"
#include "reorder/kernels/parted_pixels.h"
#include "reorder/kernels/pixels.h"

static inline vec vec_spread(vec v, vec order)
{
    return _mm512_maskz_permutexvar_epi32((__mmask16)~_mm512_movepi32_mask(order), order, v);
}

#include "reorder/kernels/padded_pixels.h"
