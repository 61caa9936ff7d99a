/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planes of pixels, converted and joined at once, as images are made of what networks compute. A compile unit includes
 * this file once, as a template, behind blocks.h, pivot.h, narrow.h and periodic.h.
 */
#include <string.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/template.h"

/* As many pixels as fill a vector of each channel, or more. The last ones begin early enough; lines that have been
 * streamed are not to be written again. */
INLINE void join_pixels(char *dst, const char *src, const tsr_tile *t, int channels, const tsr_affine *affine, int mode,
                        enum source source, enum target target)
{
    const int bytes = bytes_of_target(target), vectors = 4 / bytes;
    const int64_t pack = vectors * WHOLE, rows = t->rows;
    const bool streams = t->streams;
    const char *from[4];
    struct own_factors own[4];
#pragma GCC unroll 4 /* as in pixels.h */
    for (int c = 0; c < channels; c++) {
        own_affine(&own[c], mode == PLAIN ? NULL : &affine[c], mode);
        from[c] = src + t->src_column[c];
    }
    for (int64_t r = 0; r < rows; r += pack) {
        const int64_t first = r + pack <= rows ? r : rows - pack;
        vec v[8];
#pragma GCC unroll 4
        for (int c = 0; c < channels; c++) {
            pivot x[4];
            values_at(x, vectors, from[c], first, &own[c].affine, mode, source);
            v[c] = packed_values(x, target);
        }
        join_channels(v, channels, bytes);
        if (first < r && streams)
            store_last_in_turn(dst + r * channels * bytes, v, channels, (rows - r) * channels * bytes);
        else
            vec_put_in_turn(dst + first * channels * bytes, v, channels, streams);
    }
}

INLINE void join_planes(char *dst, const char *src, const tsr_tile *t, int channels, const tsr_affine *affine,
                        enum source source, enum target target)
{
    if (!affine)
        join_pixels(dst, src, t, channels, NULL, PLAIN, source, target);
    else if (affine->scales_only)
        join_pixels(dst, src, t, channels, affine, SCALE, source, target);
    else
        join_pixels(dst, src, t, channels, affine, SAME, source, target);
}

/* Of fewer pixels than that, columns are laid where there is room behind them. */
#define JOINED_PIXELS_KERNEL(src_type, type)                                                                           \
    static void joined_pixels_##src_type##_##type(void *dst, const void *src, const tsr_tile *t,                       \
                                                  const tsr_affine *affine)                                            \
    {                                                                                                                  \
        if (t->columns == 3)                                                                                           \
            join_planes(dst, src, t, 3, affine, OF_##src_type, TO_##type);                                             \
        else                                                                                                           \
            join_planes(dst, src, t, 4, affine, OF_##src_type, TO_##type);                                             \
    }                                                                                                                  \
    void NAME(joined_pixels_##src_type##_##type)(void *dst, const void *src, const tsr_tile *t,                        \
                                                 const tsr_affine *affine)                                             \
    {                                                                                                                  \
        enum { PACK = 4 * WHOLE, COLUMN = 4 * PACK };                                                                  \
        static const int64_t column[] = {0, COLUMN, 2 * COLUMN, 3 * COLUMN};                                           \
        const int64_t pack = PACK / bytes_of_target(TO_##type);                                                        \
        const tsr_tile laid = {.rows = pack, .columns = t->columns, .src_column = column};                             \
        if (t->rows >= pack) {                                                                                         \
            joined_pixels_##src_type##_##type(dst, src, t, affine);                                                    \
            return;                                                                                                    \
        }                                                                                                              \
        char room[4 * COLUMN] = {0}, pixels[4 * PACK];                                                                 \
        for (int64_t c = 0; c < t->columns; c++)                                                                       \
            memcpy(room + column[c], (const char *)src + t->src_column[c],                                             \
                   (size_t)(t->rows * bytes_of_source(OF_##src_type)));                                                \
        joined_pixels_##src_type##_##type(pixels, room, &laid, affine);                                                \
        memcpy(dst, pixels, (size_t)(t->rows * t->columns * bytes_of_target(TO_##type)));                              \
    }

JOINED_PIXELS_KERNEL(F32, F32)
JOINED_PIXELS_KERNEL(F32, F16)
JOINED_PIXELS_KERNEL(F32, BF16)
JOINED_PIXELS_KERNEL(F32, S8)
JOINED_PIXELS_KERNEL(F32, U8)
JOINED_PIXELS_KERNEL(F16, S8)
JOINED_PIXELS_KERNEL(F16, U8)
JOINED_PIXELS_KERNEL(BF16, S8)
JOINED_PIXELS_KERNEL(BF16, U8)
