/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first few channels of pixels that have more behind them, padding or others, laid side by side: what pad.h does,
 * the other way round. Pixels are made narrow first, of 4 channels, or of as many as a lane has:
 *
 *     in the source             |abc.....|def.....|ghi.....|jkl.....|
 *     narrow, in a lane         |abc.def.ghi.jkl.|
 *     shuffled                  |abcdefghijkl....|
 *     and lanes, joined         |abcdefghijklmnopqrstuvwx........|    the next vector writes over the rest
 *
 * Dense pixels whose channels come in another order are taken likewise, a lane of as many at a time.
 *
 * A compile unit of a rung includes this file once, as a template, behind blocks.h and pad.h, in terms of these and of
 *
 *     vec_join_lanes(v, bytes)           as units.h has it, of 4, 8, 12 and 16 bytes
 *     vec_every_other(a, b, bytes)       the first of two pieces of 4, 8 or 16 bytes, again and again, all those of a
 *                                        before those of b
 */
#include <stdint.h>
#include <string.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/template.h"

/* Pixels that are made narrow at a time; and those that a vector has, if these are as small as can be. */
enum { NARROW_PIXELS = 128, MOST_OF_VECTOR = PADDED_BYTES / 4 };

/* ---- narrow pixels ---- */

/* As many as fill a vector, of so many bytes each, the distance of which is twice that, or twice that again. */
INLINE vec narrow_vector(const char *src, int narrow, int doublings)
{
    enum { MOST = 8 };
    vec v[MOST];
    for (int k = 0; k < MOST; k++)
        if (k < 1 << doublings)
            v[k] = vec_load(src + k * PADDED_BYTES);
    for (int n = MOST / 2; n > 0; n /= 2)
        for (int k = 0; k < n; k++)
            if (n < 1 << doublings)
                v[k] = vec_every_other(v[2 * k], v[2 * k + 1], narrow);
    return v[0];
}

/* Is this distance such a one, and no more than a vector? Then so many times, else -1. */
static int doublings_of(int64_t pitch, int narrow)
{
    int doublings = 0;
    while (doublings < 3 && (int64_t)narrow << doublings < pitch)
        doublings++;
    return pitch <= PADDED_BYTES && (int64_t)narrow << doublings == pitch ? doublings : -1;
}

INLINE void narrow_one_by_one(char *to, const char *src, int64_t pitch, int64_t pixels, int narrow)
{
    for (int64_t i = 0; i < pixels; i++)
        memcpy(to + i * narrow, src + i * pitch, (size_t)narrow);
}

/* ---- dense pixels ---- */

/* Of a lane of pixels at some distance: where the channels wanted of each are, side by side; and so many bytes in
 * all. */
struct joining {
    vec order;
    int64_t lane_bytes;
};

static struct joining lay_joining(const tsr_tile *t, int bytes, int narrow, int64_t distance)
{
    const int64_t first = first_of(t->src_column, t->columns), pixel = t->columns * bytes;
    uint8_t order[TSR_LANE_BYTES];
    memset(order, TSR_FROM_ELSEWHERE, sizeof order);
    for (int64_t i = 0; i < TSR_LANE_BYTES / narrow * pixel; i++)
        order[i] = (uint8_t)(i / pixel * distance + t->src_column[i % pixel / bytes] - first + i % bytes);
    return (struct joining){vec_repeat(order), TSR_LANE_BYTES / narrow * pixel};
}

INLINE void put_joined(char *dst, vec v, const struct joining *joining)
{
    vec_store(dst, vec_join_lanes(vec_shuffle(v, joining->order), joining->lane_bytes));
}

INLINE void unpad_vectors(char *dst, const char *src, int64_t pixels, const struct joining *laid, int narrow,
                          int doublings)
{
    const struct joining joining = *laid;
    for (int64_t i = 0; i < pixels * narrow; i += PADDED_BYTES, dst += LANES * joining.lane_bytes)
        put_joined(dst, narrow_vector(src + (i << doublings), narrow, doublings), &joining);
}

/* What each lane is made of lies side by side in the source, so far from what the next one is. */
INLINE void unpad_lanes(char *dst, const char *src, int64_t distance, int64_t lanes, const struct joining *laid)
{
    const struct joining joining = *laid;
    for (int64_t i = 0; i < lanes; i += LANES, src += LANES * distance, dst += LANES * joining.lane_bytes) {
        const char *at[LANES];
        for (int l = 0; l < LANES; l++)
            at[l] = src + l * distance;
        put_joined(dst, vec_gather_lanes(at), &joining);
    }
}

INLINE void unpad_one_by_one(char *dst, const char *src, int64_t pitch, int64_t pixels, const struct joining *joining,
                             int narrow)
{
    char room[NARROW_PIXELS * TSR_LANE_BYTES];
    for (int64_t i = 0; i < pixels; i += NARROW_PIXELS) {
        const int64_t n = pixels - i < NARROW_PIXELS ? pixels - i : NARROW_PIXELS;
        narrow_one_by_one(room, src + i * pitch, pitch, n, narrow);
        unpad_vectors(dst + i * joining->lane_bytes * narrow / TSR_LANE_BYTES, room, n, joining, narrow, 0);
    }
}

/* So many pixels, which fill vectors, of which the first has its first channel at src. */
INLINE void unpad_run(char *dst, const char *src, int64_t pitch, int64_t pixels, const struct joining *joining,
                      int narrow)
{
    const int in_lane = TSR_LANE_BYTES / narrow;
    switch (doublings_of(pitch, narrow)) {
    case 0:
        unpad_vectors(dst, src, pixels, joining, narrow, 0);
        break;
    case 1:
        unpad_vectors(dst, src, pixels, joining, narrow, 1);
        break;
    case 2:
        unpad_vectors(dst, src, pixels, joining, narrow, 2);
        break;
    case 3:
        unpad_vectors(dst, src, pixels, joining, narrow, 3);
        break;
    default:
        if (in_lane == 1 || pitch < narrow)
            unpad_lanes(dst, src, in_lane * pitch, pixels / in_lane, joining);
        else
            unpad_one_by_one(dst, src, pitch, pixels, joining, narrow);
    }
}

/* More than its channels is read of each pixel, and a vector may end behind the last one in the destination: so the
 * last pixels are read from a copy, and written from one. */
INLINE void unpad_tile(char *dst, const char *src, const tsr_tile *t, int bytes)
{
    enum { MOST_REST = PADDED_BYTES + MOST_OF_VECTOR };
    const int narrow = bytes <= 4 ? 4 * bytes : TSR_LANE_BYTES, of_vector = PADDED_BYTES / narrow;
    const int64_t n = t->rows, pitch = t->src_pitch, pixel = t->columns * bytes;
    const int64_t distance = pitch < narrow ? pitch : narrow, spare = (PADDED_BYTES + pixel - 1) / pixel;
    const int64_t whole = n > spare ? (n - spare) / of_vector * of_vector : 0, rest = n - whole;
    const struct joining joining = lay_joining(t, bytes, narrow, distance);
    char narrow_ones[MOST_REST * TSR_LANE_BYTES], dense_ones[MOST_REST * TSR_LANE_BYTES + PADDED_BYTES];
    src += first_of(t->src_column, t->columns);
    unpad_run(dst, src, pitch, whole, &joining, narrow);
    src += whole * pitch;
    if (pitch > narrow)
        narrow_one_by_one(narrow_ones, src, pitch, rest - 1, narrow);
    else
        memcpy(narrow_ones, src, (size_t)((rest - 1) * pitch));
    memcpy(narrow_ones + (rest - 1) * distance, src + (rest - 1) * pitch, (size_t)pixel);
    unpad_run(dense_ones, narrow_ones, distance, (rest + of_vector - 1) / of_vector * of_vector, &joining, narrow);
    memcpy(dst + whole * pixel, dense_ones, (size_t)(rest * pixel));
}

#define UNPAD(bits)                                                                                                    \
    void NAME(unpad_##bits)(void *dst, const void *src, const tsr_tile *t)                                             \
    {                                                                                                                  \
        if (t->rows > 0)                                                                                               \
            unpad_tile((char *)dst + t->dst_row[0], src, t, (bits) / 8);                                               \
    }

UNPAD(8)
UNPAD(16)
UNPAD(32)
UNPAD(64)
UNPAD(128)
