/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pixels of bytes, parted and converted at once, for rungs whose vectors have as many elements of f32 as
 * pixels. A compile unit includes this file once, as a template, behind narrow.h and parted_pixels.h.
 *
 *     vec_pixels(at, channels)          four pixels in the first bytes of each lane; at most 16 bytes too many are read
 *     whole_of_u8(v), whole_of_s8(v)    the lowest byte of every 4, as f32
 */
#include <string.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/orders.h"
#include "reorder/kernels/template.h"

/* Pixels that have as many bytes as are read too many, and those of the longest line of a channel. */
enum { SPARE_PIXELS = 6, MOST_PIXELS = 32 };

/* A cache line of every channel. */
INLINE int pixels_of_line(enum target target)
{
    return TSR_CACHE_LINE / bytes_of_target(target);
}

/* A line of pixels, which belong `at` bytes behind the first of each channel. */
INLINE void part_pixels(char *const to[4], const char *from, int64_t at, bool fetches_lines, bool streams, int channels,
                        bool is_signed, const struct own_factors own[4], int mode, enum target target)
{
    const int vectors = pixels_of_line(target) / WHOLE, packed = 4 / bytes_of_target(target);
    vec v[MOST_PIXELS / WHOLE];
#pragma GCC unroll 4
    for (int k = 0; k < vectors; k++)
        v[k] = vec_pixels(from + k * WHOLE * channels, channels);
#pragma GCC unroll 4
    for (int r = 0; r < channels; r++) {
        const vec order = vec_repeat(tsr_pixel_order[channels - 3][r]);
        pivot x[MOST_PIXELS / WHOLE];
#pragma GCC unroll 4
        for (int k = 0; k < vectors; k++) {
            const vec bytes = vec_shuffle(v[k], order);
            x[k] = arithmetic(is_signed ? whole_of_s8(bytes) : whole_of_u8(bytes), &own[r].affine, 0, mode);
        }
        if (fetches_lines)
            fetch_to_write(to[r] + at);
#pragma GCC unroll 4
        for (int k = 0; k < vectors; k += packed)
            vec_put(to[r] + at + k / packed * (int)sizeof(vec), packed_values(x + k, target), streams);
    }
}

INLINE void load_pixels(char *dst, const char *src, const tsr_tile *t, int channels, bool is_signed,
                        const tsr_affine *affine, int mode, enum target target)
{
    const int64_t n = t->columns, bytes = bytes_of_target(target), line = pixels_of_line(target);
    const bool fetches_lines = t->fetches_lines, streams = t->streams;
    char *to[4], room[4 * MOST_PIXELS + 16] = {0};
    struct own_factors own[4];
    int64_t i = 0;
#pragma GCC unroll 4 /* or compilers load the factors again behind each store */
    for (int r = 0; r < channels; r++) {
        own_affine(&own[r], mode == PLAIN ? NULL : &affine[r], mode);
        to[r] = dst + t->dst_row[r];
    }
    for (; i + line + SPARE_PIXELS <= n; i += line)
        part_pixels(to, src + i * channels, bytes * i, fetches_lines, streams, channels, is_signed, own, mode, target);
    for (; i < n; i += line) {
        const int64_t first = i + line <= n ? i : n - line;
        memcpy(room, src + first * channels, (size_t)(line * channels));
        part_pixels(to, room, bytes * first, fetches_lines, streams && first == i, channels, is_signed, own, mode,
                    target);
    }
}

INLINE void load_channels(char *dst, const char *src, const tsr_tile *t, int channels, bool is_signed,
                          const tsr_affine *affine, enum target target)
{
    if (!affine)
        load_pixels(dst, src, t, channels, is_signed, NULL, PLAIN, target);
    else if (affine->scales_only)
        load_pixels(dst, src, t, channels, is_signed, affine, SCALE, target);
    else if (!shifts(affine, channels))
        load_pixels(dst, src, t, channels, is_signed, affine, CENTRE, target);
    else
        load_pixels(dst, src, t, channels, is_signed, affine, SAME, target);
}

/* Fewer than a line of each channel has are made elsewhere. */
#define PIXELS_KERNEL(src_type, is_signed, type)                                                                       \
    static void pixels_##src_type##_##type(void *dst, const void *src, const tsr_tile *t, const tsr_affine *affine)    \
    {                                                                                                                  \
        if (t->rows == 3)                                                                                              \
            load_channels(dst, src, t, 3, is_signed, affine, TO_##type);                                               \
        else                                                                                                           \
            load_channels(dst, src, t, 4, is_signed, affine, TO_##type);                                               \
    }                                                                                                                  \
    void NAME(pixels_##src_type##_##type)(void *dst, const void *src, const tsr_tile *t, const tsr_affine *affine)     \
    {                                                                                                                  \
        const int64_t pixels = pixels_of_line(TO_##type);                                                              \
        if (t->columns >= pixels)                                                                                      \
            pixels_##src_type##_##type(dst, src, t, affine);                                                           \
        else                                                                                                           \
            part_few(dst, src, t, affine, pixels, 1, bytes_of_target(TO_##type), pixels_##src_type##_##type);          \
    }

PIXELS_KERNEL(U8, false, F32)
PIXELS_KERNEL(U8, false, F16)
PIXELS_KERNEL(U8, false, BF16)
PIXELS_KERNEL(S8, true, F32)
PIXELS_KERNEL(S8, true, F16)
PIXELS_KERNEL(S8, true, BF16)
