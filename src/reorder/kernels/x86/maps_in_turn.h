/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that are looked up in a map of their channel each, as those of pixels are: rows of pixels, and pixels among
 * zeros. avx512vbmi.c includes this behind maps.h and pad.h.
 */

enum { MOST_MAPS = TSR_MOST_MAPS };

/* The bytes of vector `phase` that are at `turn` in a period of 3 or 4, if vector 0 begins with one. */
INLINE __mmask64 in_turn_of(int turn, int period, int phase)
{
    const uint64_t first = period == 3 ? 0x9249249249249249U : 0x1111111111111111U;
    return first << (turn + period - 64 * phase % period) % period;
}

/* vpermi2b writes over what it looks up, and behind a mask leaves the other bytes: so a vector is looked up in all maps
 * in turn. Bytes that have no map stay. */
INLINE __m512i mapped_in_turn(const struct map *maps, int n, int period, int phase, __m512i v)
{
    __m512i lower = v, upper = v;
#pragma GCC unroll 4
    for (int c = 0; c < n; c++) {
        const struct map *map = &maps[c];
        const __mmask64 here = in_turn_of(c, period, phase);
        lower = _mm512_mask2_permutex2var_epi8(map->quarter[0], lower, here, map->quarter[1]);
        upper = _mm512_mask2_permutex2var_epi8(map->quarter[2], upper, here, map->quarter[3]);
    }
    return _mm512_mask_mov_epi8(lower, _mm512_movepi8_mask(v), upper);
}

/* Those of all channels: lower bytes, and upper ones where there are two. */
struct maps {
    struct map low[MOST_MAPS], high[MOST_MAPS];
};

INLINE void maps_init(struct maps *maps, const uint8_t *const *table, int n, int bytes)
{
#pragma GCC unroll 4
    for (int c = 0; c < n; c++) {
        maps->low[c] = map_at(table[c]);
        if (bytes == 2)
            maps->high[c] = map_at(table[c] + TSR_MAP_VALUES);
    }
}

/* Lower and upper bytes, one of each in turn, from byte 0 or 32 on. */
#define ZIPPED(side, i) (i) / 2 + (i) % 2 * (side)
static const uint8_t zipped[64] = PLACES(ZIPPED, 64);

/* A vector of bytes becomes one, or two of elements of 2 bytes. */
INLINE void map_vector(__m512i out[2], const struct maps *maps, int n, int period, int phase, int bytes, __m512i v)
{
    out[0] = mapped_in_turn(maps->low, n, period, phase, v);
    if (bytes == 2) {
        const __m512i low = out[0], high = mapped_in_turn(maps->high, n, period, phase, v);
        out[0] = _mm512_permutex2var_epi8(low, order_of_bytes(zipped, 0), high);
        out[1] = _mm512_permutex2var_epi8(low, order_of_bytes(zipped, 32), high);
    }
}

/* ---- rows ---- */

INLINE void map_in_turn(char *to, const char *from, int64_t n, const uint8_t *const *table, int period, int bytes)
{
    const int phases = period == 3 ? 3 : 1;
    struct maps maps;
    __m512i out[2];
    int64_t i = 0;
    maps_init(&maps, table, period, bytes);
    for (; i + 64 * phases <= n; i += 64 * phases)
#pragma GCC unroll 3
        for (int phase = 0; phase < phases; phase++) {
            const int64_t at = i + 64 * phase;
            map_vector(out, &maps, period, period, phase, bytes, _mm512_loadu_si512(from + at));
#pragma GCC unroll 2
            for (int j = 0; j < bytes; j++)
                _mm512_storeu_si512(to + bytes * at + 64 * j, out[j]);
        }
    for (int phase = 0; i < n; i += 64, phase++) {
        map_vector(out, &maps, period, period, phase, bytes, _mm512_maskz_loadu_epi8(first_bytes(n - i), from + i));
        put_first(to + bytes * i, out, bytes * (n - i < 64 ? n - i : 64));
    }
}

#define MAPS(bits)                                                                                                     \
    void tsr_maps_##bits##_avx512vbmi(void *dst, const void *src, int64_t n, const tsr_affine *affine)                 \
    {                                                                                                                  \
        if (affine->turns == 3)                                                                                        \
            map_in_turn(dst, src, n, affine->maps, 3, (bits) / 8);                                                     \
        else                                                                                                           \
            map_in_turn(dst, src, n, affine->maps, 4, (bits) / 8);                                                     \
    }

MAPS(8)
MAPS(16)

/* ---- pixels among zeros ---- */

enum { PIXELS_OF_VECTOR = 64 / MOST_MAPS, MOST_TIMES = TSR_WIDEST_MAPPED / MOST_MAPS };

/* What four bytes of each pixel come from, of which the last ones may be zeros; their maps, of zeros where there are
 * none; and of each vector of the destination, which 32 bits of a vector of these pixels it has. */
struct padded_maps {
    __m512i order;
    int64_t distance; /* in the source, from one vector of pixels to the next */
    const uint8_t *table[MOST_MAPS];
    int times;
    __m512i word[MOST_TIMES];
    __mmask16 has_word[MOST_TIMES];
};

/* 0, 1, 2 and so on, as 32 bits each. */
static const int32_t in_order[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static void lay_pixels(struct padded_maps *laid, const tsr_tile *t, const tsr_affine *affine)
{
    static const uint8_t zeros[TSR_MAP_BYTES];
    const int64_t first = first_of(t->src_column, t->columns);
    uint8_t pixel[MOST_MAPS];
    int32_t channels;
    for (int64_t c = 0; c < MOST_MAPS; c++) {
        pixel[c] = (uint8_t)(c < t->columns ? t->src_column[c] - first : TSR_FROM_ELSEWHERE);
        laid->table[c] = c < t->columns ? affine[c].map : zeros;
    }
    memcpy(&channels, pixel, sizeof channels);
    const __m512i begin = _mm512_mullo_epi32(_mm512_loadu_si512(in_order), _mm512_set1_epi8((char)t->columns));
    laid->order = _mm512_add_epi8(begin, _mm512_set1_epi32(channels));
    laid->distance = PIXELS_OF_VECTOR * t->columns;
}

/* Rows have a power of two of words. */
static void lay_words(struct padded_maps *laid, int pixel_words, int row_words)
{
    const __m512i last = _mm512_set1_epi32(row_words - 1), all_of_pixel = _mm512_set1_epi32(pixel_words);
    const __m128i row_bits = _mm_cvtsi32_si128(__builtin_ctz((unsigned)row_words));
    laid->times = row_words / pixel_words;
    for (int r = 0; r < laid->times; r++) {
        const __m512i word = _mm512_add_epi32(_mm512_loadu_si512(in_order), _mm512_set1_epi32(16 * r));
        const __m512i row = _mm512_srl_epi32(word, row_bits), in_row = _mm512_and_si512(word, last);
        laid->has_word[r] = _mm512_cmplt_epi32_mask(in_row, all_of_pixel);
        laid->word[r] = _mm512_add_epi32(_mm512_mullo_epi32(row, all_of_pixel), in_row);
    }
}

/* Each to so many. */
INLINE void pad_mapped(char *dst, const char *src, int64_t steps, const struct padded_maps *laid, int channels,
                       int bytes, int times, bool streams)
{
    const __m512i order = laid->order;
    const int64_t distance = laid->distance;
    struct maps maps;
    maps_init(&maps, laid->table, channels, bytes);
    for (int64_t i = 0; i < steps; i++, src += distance) {
        __m512i out[2];
        map_vector(out, &maps, channels, MOST_MAPS, 0, bytes, vec_pad(_mm512_loadu_si512(src), order));
#pragma GCC unroll 2
        for (int j = 0; j < bytes; j++)
#pragma GCC unroll 4
            for (int r = 0; r < times; r++, dst += 64) {
                const __m512i among_zeros = _mm512_maskz_permutexvar_epi32(laid->has_word[r], laid->word[r], out[j]);
                vec_put(dst, times == 1 ? out[j] : among_zeros, streams);
            }
    }
}

/* With constants. */
INLINE void pad_mapped_by_times(char *dst, const char *src, int64_t steps, const struct padded_maps *laid, int channels,
                                int bytes, bool streams)
{
    switch (laid->times) {
    case 1:
        pad_mapped(dst, src, steps, laid, channels, bytes, 1, streams);
        break;
    case 2:
        pad_mapped(dst, src, steps, laid, channels, bytes, 2, streams);
        break;
    default:
        pad_mapped(dst, src, steps, laid, channels, bytes, 4, streams);
    }
}

#define PAD_MAPPED(channels, bits)                                                                                     \
    static void pad_##channels##_mapped_##bits(char *dst, const char *src, int64_t steps, const void *how,             \
                                               bool streams)                                                           \
    {                                                                                                                  \
        pad_mapped_by_times(dst, src, steps, how, channels, (bits) / 8, streams);                                      \
    }

PAD_MAPPED(3, 8)
PAD_MAPPED(4, 8)
PAD_MAPPED(3, 16)
PAD_MAPPED(4, 16)

static void pad_by_maps(char *dst, const char *src, const tsr_tile *t, const tsr_affine *affine, int bytes)
{
    static const pad_steps_kernel pad[2][2] = {{pad_3_mapped_8, pad_4_mapped_8}, {pad_3_mapped_16, pad_4_mapped_16}};
    struct padded_maps laid;
    if (t->rows == 0)
        return;
    lay_pixels(&laid, t, affine);
    lay_words(&laid, bytes, (int)(t->row_bytes / 4));
    pad_pixels(dst, src + first_of(t->src_column, t->columns), t, t->columns, PIXELS_OF_VECTOR,
               pad[bytes - 1][t->columns == MOST_MAPS], &laid);
}

#define PADDED_PIXELS_KERNEL(src_type, type, bytes)                                                                    \
    void tsr_padded_pixels_##src_type##_##type##_avx512vbmi(void *dst, const void *src, const tsr_tile *t,             \
                                                            const tsr_affine *affine)                                  \
    {                                                                                                                  \
        if (affine && affine->map && t->columns <= MOST_MAPS && t->row_bytes <= TSR_WIDEST_MAPPED)                     \
            pad_by_maps(dst, src, t, affine, bytes);                                                                   \
        else                                                                                                           \
            tsr_padded_pixels_##src_type##_##type##_avx512(dst, src, t, affine);                                       \
    }

PADDED_PIXELS_KERNEL(U8, U8, 1)
PADDED_PIXELS_KERNEL(U8, S8, 1)
PADDED_PIXELS_KERNEL(U8, F16, 2)
PADDED_PIXELS_KERNEL(U8, BF16, 2)
PADDED_PIXELS_KERNEL(S8, U8, 1)
PADDED_PIXELS_KERNEL(S8, S8, 1)
PADDED_PIXELS_KERNEL(S8, F16, 2)
PADDED_PIXELS_KERNEL(S8, BF16, 2)
