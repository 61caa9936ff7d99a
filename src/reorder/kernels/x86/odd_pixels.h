/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pixels of 3, 5, 7 and 9 elements, in vectors of a power of two. Element e of n vectors side by side is of channel
 * e % n, and no two of a channel have the same place in their vectors, as n is odd. So all that these have of a channel
 * is brought into one by choosing, and then into order by one permutation; or back. Nine are chosen by thirds. Elements
 * have 1 byte, where there is VBMI, 2 or 4. A compile unit of AVX-512 defines
 *
 *     vec                       __m512i
 *     vec_put(to, v, streams)   stores it; or past the caches, to a multiple of a line
 *
 * and includes this file once; that is why it has no include guard.
 */
#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/template.h"

enum { MOST_ODD = 9, ODD_VECTOR = 64 };

/* ---- tables of what depends on n alone: each serves elements of all widths, as these have fewer places ---- */

#define FOUR(f, n, i) f(n, i), f(n, (i) + 1), f(n, (i) + 2), f(n, (i) + 3)
#define SIXTEEN(f, n, i) FOUR(f, n, i), FOUR(f, n, (i) + 4), FOUR(f, n, (i) + 8), FOUR(f, n, (i) + 12)
#define PLACES(f, n)                                                                                                   \
    {                                                                                                                  \
        SIXTEEN(f, n, 0), SIXTEEN(f, n, 16), SIXTEEN(f, n, 32), SIXTEEN(f, n, 48)                                      \
    }
#define REMAINDER(n, i) (i) % (n)
#define TIMES(n, i) (n) * (i) % ODD_VECTOR

/* Where pixel i has its first channel; and, by an inverse of n, which pixel has it in place i. */
struct odd_tables {
    uint8_t remainder[ODD_VECTOR], place[ODD_VECTOR], pixel[ODD_VECTOR];
    int inverse;
};
#define ODD_TABLES(n, inverse)                                                                                         \
    {                                                                                                                  \
        PLACES(REMAINDER, n), PLACES(TIMES, n), PLACES(TIMES, inverse), inverse                                        \
    }
static const struct odd_tables odd_tables[] = {ODD_TABLES(3, 43), ODD_TABLES(5, 13), ODD_TABLES(7, 55),
                                               ODD_TABLES(9, 57)};

INLINE const struct odd_tables *tables_of(int n)
{
    return &odd_tables[(n - 3) / 2];
}

/* ---- vectors ---- */

INLINE vec elements_of(const uint8_t table[ODD_VECTOR], int bytes)
{
    const vec v = _mm512_loadu_si512(table);
    return bytes == 1   ? v
           : bytes == 2 ? _mm512_cvtepu8_epi16(_mm512_castsi512_si256(v))
                        : _mm512_cvtepu8_epi32(_mm512_castsi512_si128(v));
}

INLINE vec more_by(vec a, int b, int bytes)
{
    return bytes == 1   ? _mm512_add_epi8(a, _mm512_set1_epi8((char)b))
           : bytes == 2 ? _mm512_add_epi16(a, _mm512_set1_epi16((short)b))
                        : _mm512_add_epi32(a, _mm512_set1_epi32(b));
}

/* Of bytes, from some place on. */
INLINE vec order_of_bytes(const uint8_t table[ODD_VECTOR], int more)
{
    return more_by(elements_of(table, 1), more, 1);
}

/* All bytes of the elements. */
INLINE __mmask64 where_equal(vec a, int b, int bytes)
{
    return bytes == 1 ? _mm512_cmpeq_epi8_mask(a, _mm512_set1_epi8((char)b))
           : bytes == 2
               ? _mm512_movepi8_mask(_mm512_movm_epi16(_mm512_cmpeq_epi16_mask(a, _mm512_set1_epi16((short)b))))
               : _mm512_movepi8_mask(_mm512_movm_epi32(_mm512_cmpeq_epi32_mask(a, _mm512_set1_epi32(b))));
}

/* An order is looked at modulo the places of a vector. */
INLINE vec permuted(vec v, vec order, int bytes)
{
#ifdef __AVX512VBMI__
    if (bytes == 1)
        return _mm512_permutexvar_epi8(order, v);
#endif
    return bytes == 2 ? _mm512_permutexvar_epi16(order, v) : _mm512_permutexvar_epi32(order, v);
}

typedef __mmask64 where;

INLINE vec chosen(where places, vec a, vec b)
{
    return _mm512_mask_mov_epi8(b, places, a);
}

#include "reorder/kernels/nine.h"

/* ---- choosing ---- */

/* Which places have which remainder by n, or what nine channels want. */
struct odd {
    __mmask64 of[MOST_ODD];
    struct nine nine;
    vec order; /* of the first channel */
};

INLINE void odd_init(struct odd *odd, int n, int bytes, bool joins)
{
    const int places = ODD_VECTOR / bytes;
    const struct odd_tables *tables = tables_of(n);
    const vec remainder = elements_of(tables->remainder, bytes);
    odd->order = elements_of(joins ? tables->pixel : tables->place, bytes);
#pragma GCC unroll 9
    for (int j = 0; j < n; j++)
        odd->of[j] = where_equal(remainder, j, bytes);
#pragma GCC unroll 9
    for (int j = 0; j < NINE && n == NINE; j++)
        odd->nine.of[j] =
            odd->of[j] | odd->of[remainder_of(j - places, NINE)] | odd->of[remainder_of(j - 2 * places, NINE)];
#pragma GCC unroll 3
    for (int j = 0; j < THIRDS && n == NINE; j++)
        odd->nine.third[j] = odd->of[j] | odd->of[j + 3] | odd->of[j + 6];
}

/* n vectors of pixels, to n of channels. */
INLINE void part_odd(vec *v, const struct odd *odd, int n, int bytes)
{
    const int places = ODD_VECTOR / bytes;
    vec channel[MOST_ODD];
    if (n == NINE)
        part_nine(v, &odd->nine, places);
#pragma GCC unroll 9
    for (int r = 0; r < n; r++)
        channel[r] =
            permuted(n == NINE ? v[r] : in_turn(odd->of, v, n, r, -places), more_by(odd->order, r, bytes), bytes);
#pragma GCC unroll 9
    for (int r = 0; r < n; r++)
        v[r] = channel[r];
}

INLINE void join_odd(vec *v, const struct odd *odd, int n, int bytes)
{
    const int places = ODD_VECTOR / bytes, inverse = tables_of(n)->inverse;
    vec pixels[MOST_ODD];
#pragma GCC unroll 9
    for (int r = 0; r < n; r++)
        v[r] = permuted(v[r], more_by(odd->order, -r * inverse, bytes), bytes);
    if (n == NINE) {
        join_nine(v, &odd->nine, places);
        return;
    }
#pragma GCC unroll 9
    for (int k = 0; k < n; k++)
        pixels[k] = in_turn(odd->of, v, n, -k * places, 1);
#pragma GCC unroll 9
    for (int k = 0; k < n; k++)
        v[k] = pixels[k];
}

/* ---- tiles, or several pieces, of at least a vector's pixels ---- */

/* What is behind the first bytes of a vector; lines that have been streamed are not to be written again. */
INLINE void put_behind(char *to, vec v, int64_t done)
{
    _mm512_mask_storeu_epi8(to, done >= ODD_VECTOR ? 0 : ~(__mmask64)0 << done, v);
}

/* Those of the rungs that take lanes elsewhere. */
INLINE bool are_own_odd_pixels(int n, int bytes)
{
    return (n == 5 && (bytes == 2 || bytes == 4)) || (n == 7 && bytes == 2);
}

/* Of a deinterleave, of n rows; plain ones are asked neither to stream nor to fetch. */
INLINE void part_odd_rows(char *dst, const char *src, const tsr_tile *t, const struct odd *odd, int n, int bytes,
                          bool is_plain)
{
    const int places = ODD_VECTOR / bytes;
    const int64_t columns = t->columns;
    const bool streams = !is_plain && t->streams, fetches_ahead = !is_plain && t->fetches_ahead,
               fetches_lines = !is_plain && t->fetches_lines;
    char *to[MOST_ODD];
#pragma GCC unroll 9
    for (int r = 0; r < n; r++)
        to[r] = dst + t->dst_row[r];
    for (int64_t c = 0; c < columns; c += places) {
        const int64_t first = c + places <= columns ? c : columns - places;
        const char *from = src + first * n * bytes;
        vec v[MOST_ODD];
        if (fetches_ahead)
            fetch_pixels(from, n * ODD_VECTOR);
#pragma GCC unroll 9
        for (int k = 0; k < n; k++)
            v[k] = _mm512_loadu_si512(from + k * ODD_VECTOR);
        part_odd(v, odd, n, bytes);
#pragma GCC unroll 9
        for (int r = 0; r < n; r++) {
            if (fetches_lines)
                fetch_to_write(to[r] + first * bytes);
            if (streams && first < c)
                put_behind(to[r] + first * bytes, v[r], (c - first) * bytes);
            else
                vec_put(to[r] + first * bytes, v[r], streams);
        }
    }
}

INLINE void part_odd_pixels(char *dst, const char *src, const tsr_tile *t, int n, int bytes)
{
    const bool is_plain = !t->streams && !t->fetches_ahead && !t->fetches_lines;
    struct odd odd;
    odd_init(&odd, n, bytes, false);
    for (int64_t i = 0; i == 0 || i < t->pieces; i++) {
        char *to = dst + offset_of_piece(t->dst_column, t->pieces, i);
        const char *from = src + offset_of_piece(t->src_piece, t->pieces, i);
        if (is_plain)
            part_odd_rows(to, from, t, &odd, n, bytes, true);
        else
            part_odd_rows(to, from, t, &odd, n, bytes, false);
    }
}

/* Of an interleave, of n columns. */
INLINE void join_odd_columns(char *dst, const char *src, const tsr_tile *t, const struct odd *odd, int n, int bytes,
                             bool streams)
{
    const int places = ODD_VECTOR / bytes;
    const int64_t rows = t->rows;
    const char *from[MOST_ODD];
#pragma GCC unroll 9
    for (int c = 0; c < n; c++)
        from[c] = src + t->src_column[c];
    for (int64_t r = 0; r < rows; r += places) {
        const int64_t first = r + places <= rows ? r : rows - places, done = (r - first) * n * bytes;
        char *to = dst + first * n * bytes;
        vec v[MOST_ODD];
#pragma GCC unroll 9
        for (int c = 0; c < n; c++)
            v[c] = _mm512_loadu_si512(from[c] + first * bytes);
        join_odd(v, odd, n, bytes);
#pragma GCC unroll 9
        for (int k = 0; k < n; k++)
            if (streams && first < r)
                put_behind(to + k * ODD_VECTOR, v[k], done < k * ODD_VECTOR ? 0 : done - k * ODD_VECTOR);
            else
                vec_put(to + k * ODD_VECTOR, v[k], streams);
    }
}

INLINE void join_odd_pixels(char *dst, const char *src, const tsr_tile *t, int n, int bytes)
{
    struct odd odd;
    odd_init(&odd, n, bytes, true);
    for (int64_t i = 0; i == 0 || i < t->pieces; i++) {
        char *to = dst + i * t->rows * n * bytes;
        const char *from = src + offset_of_piece(t->src_row, t->pieces, i);
        if (t->streams)
            join_odd_columns(to, from, t, &odd, n, bytes, true);
        else
            join_odd_columns(to, from, t, &odd, n, bytes, false);
    }
}

/* ---- transposes of nine rows or columns that are pixels on the other side, as filters of 3x3 have them ---- */

/* False if it is not such a tile, or one of bytes without VBMI. */
INLINE bool transpose_nine(char *dst, const char *src, const tsr_tile *t, int bytes)
{
    const int64_t places = ODD_VECTOR / bytes;
    struct odd odd;
#ifndef __AVX512VBMI__
    if (bytes == 1)
        return false;
#endif
    const bool parts = parts_nine(t, places, bytes), joins = !parts && joins_nine(t, places);
    if (!parts && !joins)
        return false;
    odd_init(&odd, NINE, bytes, joins);
    for (int64_t i = 0; i == 0 || i < t->tiles; i++) {
        char *to = dst + i * t->dst_tile;
        const char *from = src + i * t->src_tile;
        if (joins)
            join_odd_columns(to + t->dst_row[0], from, t, &odd, NINE, bytes, false);
        else if (t->streams)
            part_odd_rows(to, from + t->src_column[0], t, &odd, NINE, bytes, false);
        else
            part_odd_rows(to, from + t->src_column[0], t, &odd, NINE, bytes, true);
    }
    return true;
}
