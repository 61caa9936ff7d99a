/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pixels that lie side by side, with zeros behind each, as blocks have channels that do not fill them. A compile unit
 * of a rung includes this file once, as a template, in terms of
 *
 *     vec, PADDED_BYTES         a vector, and its bytes
 *     vec_load, vec_put         as blocks.h has them
 *     WINDOWS_ARE_VECTORS       if there is a shuffle over all lanes:
 *     vec_pad(v, order)         byte i is byte order[i] of v, or 0 if that is 0x80; or else
 *     LANES, vec_gather_lanes, vec_repeat, vec_shuffle
 *                               as blocks.h has them
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/orders.h"
#include "reorder/kernels/template.h"

/* What a vector is made of is read from its pixels on: so many bytes, all at once or for each lane. */
#ifdef WINDOWS_ARE_VECTORS
enum { PAD_WINDOW = PADDED_BYTES, HAS_ONE_WINDOW = true };
#else
enum { PAD_WINDOW = TSR_LANE_BYTES, HAS_ONE_WINDOW = false };
#endif

enum { PADDED_LANES = PADDED_BYTES / TSR_LANE_BYTES, MOST_PADDED_BYTES = 1024 };

/* Steps of so many pixels each, the first of which has its first byte at src. */
typedef void (*pad_steps_kernel)(char *dst, const char *src, int64_t steps, const void *how, bool streams);

/* Windows may end behind the last pixel: the last ones are padded from a copy, with room for a step and a window more,
 * and what is no step, to one. A step writes no more than MOST_PADDED_BYTES. */
static void pad_pixels(char *dst, const char *src, const tsr_tile *t, int64_t pixel_bytes, int64_t step,
                       pad_steps_kernel pad, const void *how)
{
    enum { ROOM = 2 * (PADDED_BYTES + PAD_WINDOW) + TSR_LANE_BYTES };
    const int64_t n = t->rows, row_bytes = t->row_bytes, spare = (PAD_WINDOW + pixel_bytes - 1) / pixel_bytes;
    const int64_t steps = n > spare ? (n - spare) / step : 0, done = steps * step, last = (n - done) / step;
    const int64_t rest = n - done - last * step;
    char room[ROOM], rows[MOST_PADDED_BYTES];
    if (steps > 0)
        pad(dst, src, steps, how, t->streams && (uintptr_t)dst % TSR_CACHE_LINE == 0);
    memcpy(room, src + done * pixel_bytes, (size_t)((n - done) * pixel_bytes));
    if (last > 0)
        pad(dst + done * row_bytes, room, last, how, false);
    if (rest > 0) {
        pad(rows, room + last * step * pixel_bytes, 1, how, false);
        memcpy(dst + (n - rest) * row_bytes, rows, (size_t)(rest * row_bytes));
    }
}

/* Where the lanes of a vector begin in the source, and what each has of it; its pixels, and how far behind the next one
 * begins. */
struct padded_lanes {
    vec order;
    int64_t at[PADDED_LANES], distance, pixels;
    int64_t zeros; /* so many vectors behind it have nothing else */
};

/* Of a lane that begins with a pixel: where its bytes are behind the first one. */
INLINE void order_pixels(uint8_t order[TSR_LANE_BYTES], const tsr_tile *t, int bytes, int row_bits)
{
    const int64_t pixel_bytes = t->columns * bytes, first = first_of(t->src_column, t->columns);
    for (int64_t i = 0; i < TSR_LANE_BYTES; i++) {
        const int64_t in_row = i & (t->row_bytes - 1), c = in_row / bytes;
        const int64_t from = (i >> row_bits) * pixel_bytes + in_row % bytes - first;
        order[i] = (uint8_t)(c < t->columns ? from + t->src_column[c] : TSR_FROM_ELSEWHERE);
    }
}

INLINE void lay_lanes_of_pixels(struct padded_lanes *lanes, const tsr_tile *t, int bytes)
{
    const int64_t row_bytes = t->row_bytes, pixel_bytes = t->columns * bytes;
    const int row_bits = __builtin_ctzll((unsigned long long)row_bytes);
    uint8_t lane[TSR_LANE_BYTES], order[PADDED_BYTES];
    order_pixels(lane, t, bytes, row_bits);
    memset(order, TSR_FROM_ELSEWHERE, sizeof order);
    for (int64_t l = 0; l < PADDED_LANES; l++) {
        const int64_t begin = l * TSR_LANE_BYTES, behind = begin >> row_bits << row_bits;
        lanes->at[l] = (begin >> row_bits) * pixel_bytes;
        for (int64_t i = 0; i < TSR_LANE_BYTES && begin == behind; i++)
            if (lane[i] != TSR_FROM_ELSEWHERE)
                order[begin + i] = (uint8_t)(lane[i] + (HAS_ONE_WINDOW ? lanes->at[l] : 0));
    }
    lanes->order = vec_load((const char *)order);
    lanes->pixels = row_bytes < PADDED_BYTES ? PADDED_BYTES >> row_bits : 1;
    lanes->distance = lanes->pixels * pixel_bytes;
    lanes->zeros = row_bytes < PADDED_BYTES ? 0 : row_bytes / PADDED_BYTES - 1;
}

/* Of a pixel that has the vector for itself, it has the first lane, and the others are zeros. */
INLINE vec padded_vector(const char *src, const int64_t from[PADDED_LANES], vec order, bool is_one)
{
#ifdef WINDOWS_ARE_VECTORS
    (void)from, (void)is_one;
    return vec_pad(vec_load(src), order);
#else
    const char *at[LANES];
    for (int l = 0; l < LANES; l++)
        at[l] = src + from[l];
    return vec_shuffle(is_one ? vec_repeat((const uint8_t *)src) : vec_gather_lanes(at), order);
#endif
}

INLINE void pad_vectors(char *dst, const char *src, int64_t steps, const struct padded_lanes *lanes, bool is_one,
                        int64_t behind, bool streams)
{
    const vec order = lanes->order, zeros = {0};
    const int64_t distance = lanes->distance;
    int64_t from[PADDED_LANES];
    (void)streams; /* where nothing goes past the caches */
    memcpy(from, lanes->at, sizeof from);
    for (int64_t i = 0; i < steps; i++, src += distance) {
        vec_put(dst, padded_vector(src, from, order, is_one), streams);
        dst += PADDED_BYTES;
        for (int64_t z = 0; z < behind; z++, dst += PADDED_BYTES) {
            __asm__ volatile(""); /* or compilers may call memset, as padded.h tells */
            vec_put(dst, zeros, streams);
        }
    }
}

/* With constants, where there are few zeros behind a pixel. */
INLINE void pad_by_zeros(char *dst, const char *src, int64_t steps, const struct padded_lanes *lanes, bool streams)
{
    if (lanes->pixels > 1)
        pad_vectors(dst, src, steps, lanes, false, 0, streams);
    else if (lanes->zeros == 0)
        pad_vectors(dst, src, steps, lanes, true, 0, streams);
    else if (lanes->zeros == 1)
        pad_vectors(dst, src, steps, lanes, true, 1, streams);
    else
        pad_vectors(dst, src, steps, lanes, true, lanes->zeros, streams);
}

static __attribute__((noinline)) void pad_lanes(char *dst, const char *src, int64_t steps, const void *how,
                                                bool streams)
{
    if (streams)
        pad_by_zeros(dst, src, steps, how, true);
    else
        pad_by_zeros(dst, src, steps, how, false);
}

INLINE void pad_tiles(char *dst, const char *src, const tsr_tile *t, int bytes)
{
    const int64_t first = first_of(t->src_column, t->columns);
    struct padded_lanes lanes;
    lay_lanes_of_pixels(&lanes, t, bytes);
    for (int64_t i = 0; (i == 0 || i < t->tiles) && t->rows > 0; i++)
        pad_pixels(dst + i * t->dst_tile + t->dst_row[0], src + i * t->src_tile + first, t, t->columns * bytes,
                   lanes.pixels, pad_lanes, &lanes);
}

#define PAD(bits)                                                                                                      \
    void NAME(pad_##bits)(void *dst, const void *src, const tsr_tile *t)                                               \
    {                                                                                                                  \
        pad_tiles(dst, src, t, (bits) / 8);                                                                            \
    }

PAD(8)
PAD(16)
PAD(32)
PAD(64)
