/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that are looked up, for the rung whose permutations take bytes from two vectors; avx512vbmi.c includes this
 * behind odd_pixels.h, and first_bytes.
 */

/* ---- rows ---- */

/* What all bytes become: those below 64, 128, 192 and 256. */
struct map {
    __m512i quarter[4];
};

INLINE struct map map_at(const uint8_t *table)
{
    return (struct map){{_mm512_loadu_si512(table), _mm512_loadu_si512(table + 64), _mm512_loadu_si512(table + 128),
                         _mm512_loadu_si512(table + 192)}};
}

/* Of a byte, vpermi2b looks at the lower seven bits. */
INLINE __m512i mapped(const struct map *map, __m512i v)
{
    const __m512i lower = _mm512_permutex2var_epi8(map->quarter[0], v, map->quarter[1]);
    const __m512i upper = _mm512_permutex2var_epi8(map->quarter[2], v, map->quarter[3]);
    return _mm512_mask_mov_epi8(lower, _mm512_movepi8_mask(v), upper);
}

INLINE void map_8(char *to, const char *from, int64_t n, const uint8_t *table, bool streams)
{
    const struct map map = map_at(table);
    int64_t i = 0;
    for (; i + 64 <= n; i += 64)
        vec_put(to + i, mapped(&map, _mm512_loadu_si512(from + i)), streams);
    if (i < n) {
        const __mmask64 rest = first_bytes(n - i);
        _mm512_mask_storeu_epi8(to + i, rest, mapped(&map, _mm512_maskz_loadu_epi8(rest, from + i)));
    }
}

/* 64 elements of 16 bits as two vectors, of bytes that come eight by eight from where zipped lanes want them. */
INLINE void map_unzipped(__m512i out[2], const struct map *low, const struct map *high, __m512i v)
{
    const __m512i a = mapped(low, v), b = mapped(high, v);
    out[0] = _mm512_unpacklo_epi8(a, b);
    out[1] = _mm512_unpackhi_epi8(a, b);
}

INLINE void map_64(__m512i out[2], const struct map *low, const struct map *high, __m512i v)
{
    map_unzipped(out, low, high, _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7), v));
}

/* Of two vectors, less than all bytes. */
INLINE void put_first(char *to, const __m512i v[2], int64_t bytes)
{
    _mm512_mask_storeu_epi8(to, first_bytes(bytes), v[0]);
    if (bytes > 64)
        _mm512_mask_storeu_epi8(to + 64, first_bytes(bytes - 64), v[1]);
}

INLINE void map_16(char *to, const char *from, int64_t n, const uint8_t *table, bool streams)
{
    const struct map low = map_at(table), high = map_at(table + 256);
    __m512i out[2];
    int64_t i = 0;
    for (; i + 64 <= n; i += 64) {
        map_64(out, &low, &high, _mm512_loadu_si512(from + i));
        vec_put(to + 2 * i, out[0], streams);
        vec_put(to + 2 * i + 64, out[1], streams);
    }
    if (i < n) {
        map_64(out, &low, &high, _mm512_maskz_loadu_epi8(first_bytes(n - i), from + i));
        put_first(to + 2 * i, out, 2 * (n - i));
    }
}

#define MAP(family, bits, streams)                                                                                     \
    void tsr_##family##_##bits##_avx512vbmi(void *dst, const void *src, int64_t n, const tsr_affine *affine)           \
    {                                                                                                                  \
        map_##bits(dst, src, n, affine->map, streams);                                                                 \
    }

MAP(map, 8, false)
MAP(map, 16, false)
MAP(stream_map, 8, true)
MAP(stream_map, 16, true)

/* ---- pixels ---- */

/* Which pixel is at byte i, if zipped lanes are to be in order; and where channel 0 of it is: of three in what is in
 * turn, of four in two vectors of pixels, either of which has eight bytes of 16. */
#define UNZIPPED(i) (((i) / 8 % 2 * 4 + (i) / 16) * 8 + (i) % 8)
#define BYTE_OF_UNZIPPED(n, i) (n) * UNZIPPED(i) % 128
static const uint8_t byte_of_unzipped_3[64] = PLACES(BYTE_OF_UNZIPPED, 3),
                     byte_of_unzipped_4[64] = PLACES(BYTE_OF_UNZIPPED, 4);

/* Channel r of 64 pixels, for zipped lanes, or of as many as there are bytes of. */
INLINE __m512i unzipped_channel(const char *from, int64_t bytes, int r, int channels, const struct odd *odd)
{
    __m512i v[4];
#pragma GCC unroll 4
    for (int j = 0; j < channels; j++)
        v[j] = bytes >= 64 * channels
                   ? _mm512_loadu_si512(from + 64 * j)
                   : _mm512_maskz_loadu_epi8(first_bytes(bytes > 64 * j ? bytes - 64 * j : 0), from + 64 * j);
    if (channels == 3)
        return _mm512_permutexvar_epi8(order_of_bytes(byte_of_unzipped_3, r), in_turn(odd->of, v, 3, r, -ODD_VECTOR));
    const __m512i from_two = order_of_bytes(byte_of_unzipped_4, r);
    return _mm512_mask_mov_epi8(_mm512_permutex2var_epi8(v[0], from_two, v[1]), 0xff00ff00ff00ff00U,
                                _mm512_permutex2var_epi8(v[2], from_two, v[3]));
}

/* Of some pixels. */
INLINE void map_channel(char *to, const char *from, int64_t n, const uint8_t *table, int r, int channels,
                        const tsr_tile *t)
{
    const bool fetches_lines = t->fetches_lines, streams = t->streams;
    const struct map low = map_at(table), high = map_at(table + 256);
    struct odd odd;
    __m512i out[2];
    int64_t i = 0;
    odd_init(&odd, 3, 1, false);
    for (; i + 64 <= n; i += 64) {
        map_unzipped(out, &low, &high, unzipped_channel(from + channels * i, 64 * channels, r, channels, &odd));
        for (int j = 0; j < 2; j++) {
            if (fetches_lines)
                fetch_to_write(to + 2 * i + 64 * j);
            vec_put(to + 2 * i + 64 * j, out[j], streams);
        }
    }
    if (i < n) {
        map_unzipped(out, &low, &high, unzipped_channel(from + channels * i, channels * (n - i), r, channels, &odd));
        put_first(to + 2 * i, out, 2 * (n - i));
    }
}

/* A stretch of pixels after the other, which stays in the first-level cache from channel to channel. */
INLINE void map_pixels(char *dst, const char *src, const tsr_tile *t, const tsr_affine *affine, int channels)
{
    enum { STRETCH = 1024 };
    for (int64_t i = 0; i < t->columns; i += STRETCH) {
        const int64_t n = t->columns - i < STRETCH ? t->columns - i : STRETCH;
#pragma GCC unroll 4
        for (int r = 0; r < channels; r++)
            map_channel(dst + t->dst_row[r] + 2 * i, src + channels * i, n, affine[r].map, r, channels, t);
    }
}

#define PIXELS_KERNEL(src_type, type)                                                                                  \
    void tsr_pixels_##src_type##_##type##_avx512vbmi(void *dst, const void *src, const tsr_tile *t,                    \
                                                     const tsr_affine *affine)                                         \
    {                                                                                                                  \
        if (!affine || !affine->map)                                                                                   \
            tsr_pixels_##src_type##_##type##_avx512(dst, src, t, affine);                                              \
        else if (t->rows == 3)                                                                                         \
            map_pixels(dst, src, t, affine, 3);                                                                        \
        else                                                                                                           \
            map_pixels(dst, src, t, affine, 4);                                                                        \
    }

PIXELS_KERNEL(S8, F16)
PIXELS_KERNEL(S8, BF16)
PIXELS_KERNEL(U8, F16)
PIXELS_KERNEL(U8, BF16)
