/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pixels of bytes, parted and loaded at once, for rungs whose vectors have as many elements of f32 as
 * pixels. A compile unit includes this file once, as a template, behind blocks.h and pivot.h.
 *
 *     vec_pixels(at, channels)          four pixels in the first bytes of each lane; at most 16 bytes too many are read
 *     whole_of_u8(v), whole_of_s8(v)    the lowest byte of every 4, as f32
 */
#include <string.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/orders.h"
#include "reorder/kernels/template.h"

/* A cache line of every channel; and pixels that have as many bytes as are read too many. */
enum { PIXELS = 16, SPARE_PIXELS = 6 };

/* Pixels i to i + PIXELS - 1. */
INLINE void part_pixels(char *const to[4], const char *from, int64_t i, bool fetches_lines, int channels,
                        bool is_signed, const struct own_factors own[4], int mode)
{
    vec v[PIXELS / WHOLE];
#pragma GCC unroll 2
    for (int k = 0; k < PIXELS / WHOLE; k++)
        v[k] = vec_pixels(from + k * WHOLE * channels, channels);
#pragma GCC unroll 4
    for (int r = 0; r < channels; r++) {
        const vec order = vec_repeat(tsr_pixel_order[channels - 3][r]);
#pragma GCC unroll 2
        for (int k = 0; k < PIXELS / WHOLE; k++) {
            const vec bytes = vec_shuffle(v[k], order);
            const pivot x = is_signed ? whole_of_s8(bytes) : whole_of_u8(bytes);
            if (fetches_lines)
                fetch_to_write(to[r] + 4 * (i + k * WHOLE));
            pivot_store(to[r] + 4 * (i + k * WHOLE), arithmetic(x, &own[r].affine, 0, mode));
        }
    }
}

INLINE void load_pixels(char *dst, const char *src, const tsr_tile *t, int channels, bool is_signed,
                        const tsr_affine *affine, int mode)
{
    const int64_t n = t->columns;
    const bool fetches_lines = t->fetches_lines;
    char *to[4], room[4 * PIXELS + 16] = {0};
    struct own_factors own[4];
    int64_t i = 0;
#pragma GCC unroll 4 /* or compilers load the factors again behind each store */
    for (int r = 0; r < channels; r++) {
        own_affine(&own[r], mode == PLAIN ? NULL : &affine[r], mode);
        to[r] = dst + t->dst_row[r];
    }
    for (; i + PIXELS + SPARE_PIXELS <= n; i += PIXELS)
        part_pixels(to, src + i * channels, i, fetches_lines, channels, is_signed, own, mode);
    for (; i < n; i += PIXELS) {
        const int64_t first = i + PIXELS <= n ? i : n - PIXELS;
        memcpy(room, src + first * channels, (size_t)(PIXELS * channels));
        part_pixels(to, room, first, fetches_lines, channels, is_signed, own, mode);
    }
}

/* -0.0 changes nothing. */
INLINE bool shifts(const tsr_affine *affine, int channels)
{
    bool any = false;
    for (int r = 0; r < channels; r++)
        any |= bits_of(*affine[r].shift) != 0x80000000U;
    return any;
}

INLINE void load_channels(char *dst, const char *src, const tsr_tile *t, int channels, bool is_signed,
                          const tsr_affine *affine)
{
    if (!affine)
        load_pixels(dst, src, t, channels, is_signed, NULL, PLAIN);
    else if (affine->scales_only)
        load_pixels(dst, src, t, channels, is_signed, affine, SCALE);
    else if (!shifts(affine, channels))
        load_pixels(dst, src, t, channels, is_signed, affine, CENTRE);
    else
        load_pixels(dst, src, t, channels, is_signed, affine, SAME);
}

/* Less than a cache line is made elsewhere. */
#define PIXELS_KERNEL(type, is_signed)                                                                                 \
    static void pixels_##type(void *dst, const void *src, const tsr_tile *t, const tsr_affine *affine)                 \
    {                                                                                                                  \
        if (t->rows == 3)                                                                                              \
            load_channels(dst, src, t, 3, is_signed, affine);                                                          \
        else                                                                                                           \
            load_channels(dst, src, t, 4, is_signed, affine);                                                          \
    }                                                                                                                  \
    void NAME(pixels_##type)(void *dst, const void *src, const tsr_tile *t, const tsr_affine *affine)                  \
    {                                                                                                                  \
        static const int64_t line_row[] = {0, 4 * PIXELS, 8 * PIXELS, 12 * PIXELS};                                    \
        const tsr_tile line_tile = {.rows = t->rows, .columns = PIXELS, .dst_row = line_row};                          \
        char room[4 * PIXELS] = {0}, line[16 * PIXELS];                                                                \
        if (t->columns >= PIXELS) {                                                                                    \
            pixels_##type(dst, src, t, affine);                                                                        \
            return;                                                                                                    \
        }                                                                                                              \
        memcpy(room, src, (size_t)(t->columns * t->rows));                                                             \
        pixels_##type(line, room, &line_tile, affine);                                                                 \
        for (int64_t r = 0; r < t->rows; r++)                                                                          \
            memcpy((char *)dst + t->dst_row[r], line + line_row[r], (size_t)(4 * t->columns));                         \
    }

PIXELS_KERNEL(U8, false)
PIXELS_KERNEL(S8, true)
