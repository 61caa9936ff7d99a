/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pixels of nine elements, as filters of 3x3 are, parted and joined by thirds, in vectors or lanes that have so many
 * places for elements, a power of two. Element e of nine vectors side by side is of channel e % 9, and no two of a
 * channel have the same place. Nothing leaves its place here. A compile unit defines
 *
 *     vec, where             a vector, and some of its places
 *     chosen(where, a, b)    a in these places, and b in others
 *
 * and includes this file once; that is why it has no include guard.
 */
#include "reorder/kernels/template.h"

enum { THIRDS = 3, NINE = 9 };

/* Which places have which remainder by three; and by nine, of the elements of three vectors of which each place has one
 * of a third. */
struct nine {
    where third[THIRDS], of[NINE];
};

INLINE int remainder_of(int a, int n)
{
    return (a % n + n) % n;
}

/* Of n vectors, in each place the one that is in turn there: v[j] where the remainder is that of first + j * step. */
INLINE vec in_turn(const where *of, const vec *v, int n, int first, int step)
{
    vec all = v[0];
#pragma GCC unroll 7
    for (int j = 1; j < n; j++)
        all = chosen(of[remainder_of(first + j * step, n)], v[j], all);
    return all;
}

/* Of nine vectors of pixels, what three side by side have of a third of the channels, in one; and of three such ones
 * what each channel has. */
INLINE void part_nine(vec *v, const struct nine *nine, int places)
{
    vec channel[NINE];
#pragma GCC unroll 3
    for (int r = 0; r < THIRDS; r++) {
        vec third[THIRDS];
#pragma GCC unroll 3
        for (int g = 0; g < THIRDS; g++)
            third[g] = in_turn(nine->third, v + THIRDS * g, THIRDS, r, -places);
#pragma GCC unroll 3
        for (int c = r; c < NINE; c += THIRDS)
            channel[c] = chosen(nine->of[remainder_of(c - 6 * places, NINE)], third[2],
                                chosen(nine->of[remainder_of(c - 3 * places, NINE)], third[1], third[0]));
    }
#pragma GCC unroll 9
    for (int c = 0; c < NINE; c++)
        v[c] = channel[c];
}

INLINE void join_nine(vec *v, const struct nine *nine, int places)
{
    vec pixels[NINE];
#pragma GCC unroll 3
    for (int g = 0; g < THIRDS; g++) {
        vec third[THIRDS];
#pragma GCC unroll 3
        for (int r = 0; r < THIRDS; r++)
            third[r] = chosen(nine->of[remainder_of(r + 6 - 3 * g * places, NINE)], v[r + 6],
                              chosen(nine->of[remainder_of(r + 3 - 3 * g * places, NINE)], v[r + 3], v[r]));
#pragma GCC unroll 3
        for (int k = 0; k < THIRDS; k++)
            pixels[THIRDS * g + k] = in_turn(nine->third, third, THIRDS, -k * places, 1);
    }
#pragma GCC unroll 9
    for (int k = 0; k < NINE; k++)
        v[k] = pixels[k];
}

/* ---- tiles of a transpose that are such pixels on one side ---- */

/* Nine rows from pixels that lie side by side. */
INLINE bool parts_nine(const tsr_tile *t, int64_t least, int bytes)
{
    return t->rows == NINE && t->columns >= least && follow_each_other(t->src_column, t->columns, NINE * bytes);
}

/* Or nine columns to such pixels. */
INLINE bool joins_nine(const tsr_tile *t, int64_t least)
{
    return t->columns == NINE && t->rows >= least && t->has_dense_rows && !t->streams;
}
