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
 * A compile unit of a rung includes this file once, as a template, behind blocks.h and pad.h, in terms of these and of
 *
 *     vec_join_lanes(v, bytes)           as units.h has it, of 4, 8, 12 and 16 bytes
 *     vec_every_other(a, b, bytes)       the first of two pieces of 4, 8 or 16 bytes, again and again, all those of a
 *                                        before those of b
 */
#include <stdint.h>
#include <string.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/orders.h"
#include "reorder/kernels/template.h"

/* Pixels that are narrow at a time; and those that a vector has, if these are as small as can be. */
enum { NARROW_PIXELS = 128, MOST_OF_VECTOR = PADDED_BYTES / 4 };

/* ---- narrow pixels ---- */

/* As many as fill a vector, of so many bytes each, the distance of which is twice that, or twice that again. */
INLINE vec narrow_vector(const char *src, int narrow, int doublings)
{
    vec v[8];
#pragma GCC unroll 8
    for (int k = 0; k < 1 << doublings; k++)
        v[k] = vec_load(src + k * PADDED_BYTES);
#pragma GCC unroll 3
    for (int n = 1 << doublings >> 1; n > 0; n /= 2)
#pragma GCC unroll 4
        for (int k = 0; k < n; k++)
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

INLINE void narrow_by_vectors(char *to, const char *src, int64_t pixels, int narrow, int doublings)
{
    for (int64_t i = 0; i < pixels * narrow; i += PADDED_BYTES)
        vec_store(to + i, narrow_vector(src + (i << doublings), narrow, doublings));
}

INLINE void narrow_one_by_one(char *to, const char *src, int64_t pitch, int64_t pixels, int narrow)
{
#pragma GCC unroll 4
    for (int64_t i = 0; i < pixels; i++)
        memcpy(to + i * narrow, src + i * pitch, (size_t)narrow);
}

INLINE void narrow_pixels(char *to, const char *src, int64_t pitch, int64_t pixels, int narrow)
{
    switch (doublings_of(pitch, narrow)) {
    case 1:
        narrow_by_vectors(to, src, pixels, narrow, 1);
        break;
    case 2:
        narrow_by_vectors(to, src, pixels, narrow, 2);
        break;
    case 3:
        narrow_by_vectors(to, src, pixels, narrow, 3);
        break;
    default:
        narrow_one_by_one(to, src, pitch, pixels, narrow);
    }
}

/* ---- dense pixels ---- */

/* Of a lane of narrow pixels: where the channels wanted of each are, side by side; and so many bytes in all. */
struct joining {
    vec order;
    int64_t lane_bytes;
};

static struct joining lay_joining(const tsr_tile *t, int src_bytes, int dst_bytes, int narrow)
{
    const int64_t first = first_of(t->src_column, t->columns), pixel = t->columns * dst_bytes;
    const int64_t bytes = TSR_LANE_BYTES / narrow * pixel;
    uint8_t order[TSR_LANE_BYTES];
    memset(order, TSR_FROM_ELSEWHERE, sizeof order);
    for (int64_t i = 0; i < bytes; i++) {
        const int64_t channel = (t->src_column[i % pixel / dst_bytes] - first) / src_bytes;
        order[i] = (uint8_t)(i / pixel * narrow + channel * dst_bytes + i % dst_bytes);
    }
    return (struct joining){vec_repeat(order), bytes};
}

INLINE void put_joined(char *dst, vec v, const struct joining *joining)
{
    vec_store(dst, vec_join_lanes(vec_shuffle(v, joining->order), joining->lane_bytes));
}

/* So many pixels, which fill vectors, of which the first has its first channel at src. */
typedef void (*unpad_kernel)(char *dst, const char *src, int64_t pitch, int64_t pixels, const void *how);

/* More than its channels is read of each pixel, and a vector may end behind the last one in the destination: so the
 * last pixels are read from a copy, and written from one. */
static void unpad_pixels(char *dst, const char *src, const tsr_tile *t, int src_bytes, int dst_bytes, int narrow,
                         int64_t of_vector, unpad_kernel unpad, const void *how)
{
    enum { MOST_REST = PADDED_BYTES + MOST_OF_VECTOR };
    const int64_t n = t->rows, pitch = t->src_pitch, pixel = t->columns * dst_bytes;
    const int64_t spare = (PADDED_BYTES + pixel - 1) / pixel;
    const int64_t whole = n > spare ? (n - spare) / of_vector * of_vector : 0, rest = n - whole;
    char narrow_ones[MOST_REST * TSR_LANE_BYTES], dense_ones[MOST_REST * TSR_LANE_BYTES + PADDED_BYTES];
    if (n == 0)
        return;
    src += first_of(t->src_column, t->columns);
    if (whole > 0)
        unpad(dst, src, pitch, whole, how);
    src += whole * pitch;
    narrow_one_by_one(narrow_ones, src, pitch, rest - 1, narrow);
    memset(narrow_ones + (rest - 1) * narrow, 0, (size_t)(of_vector * narrow));
    memcpy(narrow_ones + (rest - 1) * narrow, src + (rest - 1) * pitch, (size_t)(t->columns * src_bytes));
    unpad(dense_ones, narrow_ones, narrow, (rest + of_vector - 1) / of_vector * of_vector, how);
    memcpy(dst + whole * pixel, dense_ones, (size_t)(rest * pixel));
}

INLINE void join_vectors(char *dst, const char *src, int64_t pixels, const struct joining *laid, int narrow,
                         int doublings)
{
    const struct joining joining = *laid;
    for (int64_t i = 0; i < pixels * narrow; i += PADDED_BYTES, dst += LANES * joining.lane_bytes)
        put_joined(dst, narrow_vector(src + (i << doublings), narrow, doublings), &joining);
}

/* Those that have a lane each, at any distance. */
INLINE void join_far_pixels(char *dst, const char *src, int64_t pitch, int64_t pixels, const struct joining *laid)
{
    const struct joining joining = *laid;
    for (int64_t i = 0; i < pixels; i += LANES, src += LANES * pitch, dst += LANES * joining.lane_bytes) {
        const char *at[LANES];
        for (int l = 0; l < LANES; l++)
            at[l] = src + l * pitch;
        put_joined(dst, vec_gather_lanes(at), &joining);
    }
}

INLINE void join_pixels(char *dst, const char *src, int64_t pitch, int64_t pixels, const struct joining *joining,
                        int narrow)
{
    char room[NARROW_PIXELS * TSR_LANE_BYTES];
    switch (doublings_of(pitch, narrow)) {
    case 0:
        join_vectors(dst, src, pixels, joining, narrow, 0);
        break;
    case 1:
        join_vectors(dst, src, pixels, joining, narrow, 1);
        break;
    case 2:
        join_vectors(dst, src, pixels, joining, narrow, 2);
        break;
    case 3:
        join_vectors(dst, src, pixels, joining, narrow, 3);
        break;
    default:
        if (narrow == TSR_LANE_BYTES)
            join_far_pixels(dst, src, pitch, pixels, joining);
        for (int64_t i = 0; narrow < TSR_LANE_BYTES && i < pixels; i += NARROW_PIXELS) {
            const int64_t n = pixels - i < NARROW_PIXELS ? pixels - i : NARROW_PIXELS;
            narrow_one_by_one(room, src + i * pitch, pitch, n, narrow);
            join_vectors(dst + i * joining->lane_bytes * narrow / TSR_LANE_BYTES, room, n, joining, narrow, 0);
        }
    }
}

#define UNPAD(bits)                                                                                                    \
    enum { narrow_##bits = (bits) <= 32 ? (bits) / 2 : TSR_LANE_BYTES };                                               \
    static void join_pixels_##bits(char *dst, const char *src, int64_t pitch, int64_t pixels, const void *joining)     \
    {                                                                                                                  \
        join_pixels(dst, src, pitch, pixels, joining, narrow_##bits);                                                  \
    }                                                                                                                  \
    void NAME(unpad_##bits)(void *dst, const void *src, const tsr_tile *t)                                             \
    {                                                                                                                  \
        enum { BYTES = (bits) / 8 };                                                                                   \
        const struct joining joining = lay_joining(t, BYTES, BYTES, narrow_##bits);                                    \
        unpad_pixels((char *)dst + t->dst_row[0], src, t, BYTES, BYTES, narrow_##bits, PADDED_BYTES / narrow_##bits,   \
                     join_pixels_##bits, &joining);                                                                    \
    }

UNPAD(8)
UNPAD(16)
UNPAD(32)
UNPAD(64)
UNPAD(128)
