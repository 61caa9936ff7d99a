/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To and from floats of 8 bits and nf4, as elements.h has it, WHOLE elements at a time. A compile unit includes this
 * file once, as a template, behind pivot.h, whose vectors and operators these are. One that has a better nf4_of defines
 * OWN_NF4.
 *
 *     LANES_MIN, LANES_MAX(a, b)   of vectors of integers of 32 bits
 */
#include "reorder/kernels/nf4.h"

typedef int32_t lanes __attribute__((vector_size(sizeof(pivot))));

INLINE lanes lanes_of(int32_t x)
{
    return x - (lanes){0};
}

INLINE lanes lanes_min(lanes a, lanes b)
{
    return (lanes)LANES_MIN((vec)a, (vec)b);
}

INLINE lanes lanes_max(lanes a, lanes b)
{
    return (lanes)LANES_MAX((vec)a, (vec)b);
}

/* mask has all bits of a lane, or none, as comparisons give it. */
INLINE lanes choose(lanes mask, lanes a, lanes b)
{
    return (a & mask) | (b & ~mask);
}

/*
 * Rounds to a float with so many bits less in its significand, whose exponents are `exponents` less, and which is at
 * most `most`. Denormals have the ulp that the least normal numbers have: they are counted in such ulps, as a sum with
 * `large` has them. Of the least normal number there are as many as its bits say; what is less has more of them than
 * the bits that a normal number would have, and what is more has no more of them.
 */
INLINE lanes f8_of(pivot x, int dropped, int32_t exponents, float large, int32_t most)
{
    const lanes bits = (lanes)x, magnitude = bits & INT32_MAX, least_normal = lanes_of((1 << 23) >> dropped);
    const lanes ulps = (lanes)((pivot)magnitude + pivot_of(large)) - (lanes)pivot_of(large);
    const int32_t half = (1 << (dropped - 1)) - 1;
    const lanes normal = (magnitude + (half - (exponents << 23)) + (magnitude >> dropped & 1)) >> dropped;
    const lanes rounded = lanes_max(normal, lanes_min(ulps, least_normal));
    return lanes_min(rounded, lanes_of(most)) | (bits >> 24 & 0x80);
}

/* What is too large, or NaN, is NaN. */
INLINE vec f8_e4m3_of(pivot x)
{
    return (vec)f8_of(x, 20, 120, 0x1p14f, 0x7f);
}

INLINE vec f8_e5m2_of(pivot x)
{
    const lanes nan = ((lanes)x >> 24 & 0x80) | ((lanes)x >> 21 & 1) | 0x7e;
    return (vec)choose((lanes)(x != x), nan, f8_of(x, 21, 112, 0x1p7f, 0x7c));
}

/* As many as there are middles below, of a NaN none; which is the 0 among the levels. */
#ifndef OWN_NF4
INLINE vec nf4_of(pivot x)
{
    lanes index = {0};
    for (int i = 0; i < NF4_LEVELS - 1; i++)
        index -= (lanes)(x > pivot_of(nf4_floats_below[i]));
    return (vec)(index | ((lanes)(x != x) & NF4_ZERO));
}
#endif

/* Of an e4m3 whose bits have been taken for those of an f16, but for its sign. What was NaN there has become 480. */
INLINE pivot f8_e4m3_of_half(pivot half)
{
    const pivot x = half * pivot_of(0x1p8f);
    const lanes is_nan = (lanes)((pivot)((lanes)x & INT32_MAX) == pivot_of(480.0f));
    return (pivot)((lanes)x | (is_nan & 0x7ff00000));
}
