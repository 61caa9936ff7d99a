/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pixels of f32, parted and converted at once, the way back of joined_pixels.h. A compile unit includes this file once,
 * as a template, behind blocks.h, pivot.h and narrow.h.
 */
#include <stdalign.h>
#include <string.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/template.h"

/* ---- to f32, by factors of channels ---- */

/* As many pixels as a vector has elements, or more. The last ones begin early enough; lines that have been streamed are
 * not to be written past the caches again. */
INLINE void part_by_channels(char *dst, const char *src, const tsr_tile *t, int channels, const tsr_affine *affine,
                             int mode)
{
    const int64_t columns = t->columns;
    const bool streams = t->streams, fetches_ahead = t->fetches_ahead;
    char *to[8];
    struct own_factors own[4];
    get_channels(to, dst, t, channels);
#pragma GCC unroll 4 /* as in pixels.h */
    for (int r = 0; r < channels; r++)
        own_affine(&own[r], mode == PLAIN ? NULL : &affine[r], mode);
    for (int64_t c = 0; c < columns; c += WHOLE) {
        const int64_t first = c + WHOLE <= columns ? c : columns - WHOLE;
        vec v[8];
        load_parted(v, src + 4 * channels * first, fetches_ahead, channels, 4);
#pragma GCC unroll 4
        for (int r = 0; r < channels; r++)
            vec_put(to[r] + 4 * first, (vec)arithmetic((pivot)v[r], &own[r].affine, 0, mode), streams && first == c);
    }
}

INLINE void part_to_f32(char *dst, const char *src, const tsr_tile *t, int channels, const tsr_affine *affine)
{
    if (!affine)
        part_by_channels(dst, src, t, channels, affine, PLAIN);
    else if (affine->scales_only)
        part_by_channels(dst, src, t, channels, affine, SCALE);
    else if (!shifts(affine, channels))
        part_by_channels(dst, src, t, channels, affine, CENTRE);
    else
        part_by_channels(dst, src, t, channels, affine, SAME);
}

/* ---- to what is narrower, by factors of elements, before fewer vectors are parted ---- */

/* What channels have as factors, as the elements of some pixels want them, which fill as many vectors as there are
 * channels. */
struct pixel_factors {
    alignas(TSR_CACHE_LINE) float mean[4 * WHOLE], scale[4 * WHOLE], shift[4 * WHOLE];
};

INLINE void repeat_factor(float *to, float a, float b, float c, float d, int channels)
{
    const float value[] = {a, b, c, d};
#pragma GCC unroll 64
    for (int i = 0; i < channels * WHOLE; i++)
        to[i] = value[i % channels];
}

INLINE tsr_affine lay_pixel_factors(struct pixel_factors *factors, const tsr_affine *affine, int channels)
{
    const tsr_affine *last = &affine[channels - 1];
    repeat_factor(factors->scale, *affine[0].scale, *affine[1].scale, *affine[2].scale, *last->scale, channels);
    if (!affine->scales_only) {
        repeat_factor(factors->mean, *affine[0].mean, *affine[1].mean, *affine[2].mean, *last->mean, channels);
        repeat_factor(factors->shift, *affine[0].shift, *affine[1].shift, *affine[2].shift, *last->shift, channels);
    }
    return (tsr_affine){.mean = factors->mean, .scale = factors->scale, .shift = factors->shift, .step = 1};
}

/* Of n pixels, at least as many as a vector has elements. */
INLINE void convert_pixels(char *to, const char *from, int64_t n, int channels, const tsr_affine *affine, int mode,
                           enum target target)
{
    const int bytes = bytes_of_target(target), vectors = 4 / bytes;
    const int64_t pack = vectors * WHOLE;
    for (int64_t c = 0; c < n; c += pack) {
        const int64_t first = (c + pack <= n ? c : n - pack) * channels;
#pragma GCC unroll 4
        for (int j = 0; j < channels; j++) {
            pivot x[4];
#pragma GCC unroll 4
            for (int k = 0, i = j * vectors; k < vectors; k++, i++)
                x[k] = arithmetic(pivot_load(from + 4 * (first + i * WHOLE)), affine, i % channels * WHOLE, mode);
            vec_store(to + bytes * (first + j * pack), packed_values(x, target));
        }
    }
}

/* A stretch after the other, which stays in the first-level cache until it is parted. */
INLINE void part_by_elements(char *dst, const char *src, const tsr_tile *t, int channels, const tsr_affine *affine,
                             int mode, enum target target)
{
    enum { STRETCH = 1024, LEAST = 4 * WHOLE };
    const int64_t bytes = bytes_of_target(target);
    alignas(TSR_CACHE_LINE) char room[2 * 4 * (STRETCH + LEAST)];
    char *to[8];
    tsr_tile stretch = {.streams = t->streams};
    get_channels(to, dst, t, channels);
    for (int64_t c = 0; c < t->columns; c += stretch.columns) {
        stretch.columns = t->columns - c < STRETCH + LEAST ? t->columns - c : STRETCH;
        convert_pixels(room, src + 4 * channels * c, stretch.columns, channels, affine, mode, target);
        part_all(to, room, &stretch, false, channels, (int)bytes);
#pragma GCC unroll 4
        for (int r = 0; r < channels; r++)
            to[r] += bytes * stretch.columns;
    }
}

INLINE void part_to_narrow(char *dst, const char *src, const tsr_tile *t, int channels, const tsr_affine *affine,
                           enum target target)
{
    struct pixel_factors factors;
    if (!affine) {
        part_by_elements(dst, src, t, channels, affine, PLAIN, target);
        return;
    }
    const tsr_affine laid = lay_pixel_factors(&factors, affine, channels);
    if (affine->scales_only)
        part_by_elements(dst, src, t, channels, &laid, EACH_SCALE, target);
    else
        part_by_elements(dst, src, t, channels, &laid, EACH, target);
}

/* ---- both ---- */

INLINE void part_planes(char *dst, const char *src, const tsr_tile *t, int channels, const tsr_affine *affine,
                        enum target target)
{
    if (target == TO_F32)
        part_to_f32(dst, src, t, channels, affine);
    else
        part_to_narrow(dst, src, t, channels, affine, target);
}

/* Fewer pixels than a kernel takes at least are laid where there is room behind them. */
static void part_few(void *dst, const void *src, const tsr_tile *t, const tsr_affine *affine, int64_t least,
                     int64_t src_bytes, int64_t dst_bytes, tsr_pixels_kernel kernel)
{
    enum { ROW = TSR_CACHE_LINE };
    static const int64_t row[] = {0, ROW, 2 * ROW, 3 * ROW};
    const tsr_tile laid = {.rows = t->rows, .columns = least, .dst_row = row};
    char room[4 * 4 * ROW], rows[4 * ROW];
    memset(room, 0, (size_t)(src_bytes * least * t->rows));
    memcpy(room, src, (size_t)(src_bytes * t->columns * t->rows));
    kernel(rows, room, &laid, affine);
    for (int64_t r = 0; r < t->rows; r++)
        memcpy((char *)dst + t->dst_row[r], rows + row[r], (size_t)(dst_bytes * t->columns));
}

#define PARTED_PIXELS_KERNEL(type)                                                                                     \
    static void pixels_F32_##type(void *dst, const void *src, const tsr_tile *t, const tsr_affine *affine)             \
    {                                                                                                                  \
        if (t->rows == 3)                                                                                              \
            part_planes(dst, src, t, 3, affine, TO_##type);                                                            \
        else                                                                                                           \
            part_planes(dst, src, t, 4, affine, TO_##type);                                                            \
    }                                                                                                                  \
    void NAME(pixels_F32_##type)(void *dst, const void *src, const tsr_tile *t, const tsr_affine *affine)              \
    {                                                                                                                  \
        const int64_t bytes = bytes_of_target(TO_##type), pack = 4 * WHOLE / bytes;                                    \
        if (t->columns >= pack)                                                                                        \
            pixels_F32_##type(dst, src, t, affine);                                                                    \
        else                                                                                                           \
            part_few(dst, src, t, affine, pack, 4, bytes, pixels_F32_##type);                                          \
    }

PARTED_PIXELS_KERNEL(F32)
PARTED_PIXELS_KERNEL(F16)
PARTED_PIXELS_KERNEL(BF16)
PARTED_PIXELS_KERNEL(S8)
PARTED_PIXELS_KERNEL(U8)
