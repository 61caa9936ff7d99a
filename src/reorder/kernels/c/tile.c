/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/kernels/kernels.h"
#include "reorder/kernels/template.h"
#include "reorder/kernels/unaligned.h"

#define RUNG c
#define WIDE_RUN 16
#define LONGEST_RUN 256
#include "reorder/kernels/copies.h"

void tsr_stream_c(void *dst, const void *src, const tsr_tile *t)
{
    tsr_copy_8_c(dst, src, t);
}

void tsr_stream_behind_c(void *dst, const void *src, const tsr_tile *t)
{
    for (int64_t r = 0; r < t->rows; r++) {
        char *to = (char *)dst + t->dst_row[r];
        const char *from = (const char *)src + t->src_row[r];
        const int64_t begun = (TSR_CACHE_LINE - tsr_bytes_to_next_line(to)) % TSR_CACHE_LINE;
        memcpy(to - begun, from - t->src_pitch + t->columns - begun, (size_t)begun);
        memcpy(to, from, (size_t)(t->columns - begun));
    }
}

void tsr_fence_c(void)
{
}

/* Lanes that end with zeros are zeroed as a whole first. */
void tsr_copy_padded_8_c(void *dst, const void *src, const tsr_tile *t)
{
    const tsr_tile runs = {.rows = t->rows, .columns = t->columns, .dst_row = t->dst_row, .src_row = t->src_row};
    for (int64_t i = 0; i == 0 || i < t->tiles; i++) {
        char *to = (char *)dst + i * t->dst_tile;
        for (int64_t r = 0; r < t->rows; r++)
            for (int64_t c = t->columns / TSR_LANE_BYTES * TSR_LANE_BYTES; c < t->row_bytes; c += TSR_LANE_BYTES)
                memset(to + t->dst_row[r] + c, 0, TSR_LANE_BYTES);
        tsr_copy_8_c(to, (const char *)src + i * t->src_tile, &runs);
    }
}

/* With a constant for the width of an element. */
static inline void pad(char *to, const char *from, const tsr_tile *t, size_t bytes)
{
    const int64_t pixel_bytes = t->columns * (int64_t)bytes;
    for (int64_t r = 0; r < t->rows; r++, to += t->row_bytes, from += pixel_bytes) {
        memset(to + pixel_bytes, 0, (size_t)(t->row_bytes - pixel_bytes));
        for (int64_t c = 0; c < t->columns; c++)
            memcpy(to + c * (int64_t)bytes, from + t->src_column[c], bytes);
    }
}

#define PAD(bits)                                                                                                      \
    void tsr_pad_##bits##_c(void *dst, const void *src, const tsr_tile *t)                                             \
    {                                                                                                                  \
        for (int64_t i = 0; (i == 0 || i < t->tiles) && t->rows > 0; i++)                                              \
            pad((char *)dst + i * t->dst_tile + t->dst_row[0], (const char *)src + i * t->src_tile, t, (bits) / 8);    \
    }

PAD(8)
PAD(16)
PAD(32)
PAD(64)

static inline void unpad(char *to, const char *from, const tsr_tile *t, size_t bytes)
{
    for (int64_t r = 0; r < t->rows; r++, from += t->src_pitch)
        for (int64_t c = 0; c < t->columns; c++, to += bytes)
            memcpy(to, from + t->src_column[c], bytes);
}

#define UNPAD(bits)                                                                                                    \
    void tsr_unpad_##bits##_c(void *dst, const void *src, const tsr_tile *t)                                           \
    {                                                                                                                  \
        if (t->rows > 0)                                                                                               \
            unpad((char *)dst + t->dst_row[0], src, t, (bits) / 8);                                                    \
    }

UNPAD(8)
UNPAD(16)
UNPAD(32)
UNPAD(64)
UNPAD(128)

/* Single bytes that lie side by side in the source, eight of which are read at once. */
static int64_t scatter_bytes(char *to, const char *from, int64_t rows, int64_t dst_pitch)
{
    int64_t r = 0;
    for (; r + 8 <= rows; r += 8, to += 8 * dst_pitch, from += 8) {
        char eight[8];
        memcpy(eight, from, sizeof eight);
        for (int i = 0; i < 8; i++)
            to[i * dst_pitch] = eight[i];
    }
    return r;
}

/* With a constant for the columns. */
static inline void scatter_runs(char *to, const char *from, const tsr_tile *t, size_t columns)
{
    const int64_t rows = t->rows, dst_pitch = t->dst_pitch, src_pitch = t->src_pitch;
    int64_t r = columns == 1 && src_pitch == 1 ? scatter_bytes(to, from, rows, dst_pitch) : 0;
    to += r * dst_pitch;
    from += r * src_pitch;
#pragma GCC unroll 4
    for (; r < rows; r++, to += dst_pitch, from += src_pitch)
        memcpy(to, from, columns);
}

#define SCATTER_CASE(n)                                                                                                \
    case n:                                                                                                            \
        scatter_runs(to, from, t, n);                                                                                  \
        break;

void tsr_scatter_8_c(void *dst, const void *src, const tsr_tile *t)
{
    for (int64_t i = 0; (i == 0 || i < t->tiles) && t->rows > 0; i++) {
        char *to = (char *)dst + i * t->dst_tile + t->dst_row[0];
        const char *from = (const char *)src + i * t->src_tile + t->src_row[0];
        switch (t->columns) {
            SCATTER_CASE(1)
            SCATTER_CASE(2)
            SCATTER_CASE(3)
            SCATTER_CASE(4)
            SCATTER_CASE(5)
            SCATTER_CASE(6)
            SCATTER_CASE(7)
            SCATTER_CASE(8)
            SCATTER_CASE(12)
        default:
            scatter_runs(to, from, t, (size_t)t->columns);
        }
    }
}

void tsr_transpose_units_32_c(void *dst, const void *src, const tsr_tile *t)
{
    const int64_t unit = t->unit_bytes;
    for (int64_t i = 0; i == 0 || i < t->tiles; i++)
        for (int64_t r = 0; r < t->rows; r++) {
            char *to = (char *)dst + i * t->dst_tile + t->dst_row[r];
            const char *from = (const char *)src + i * t->src_tile + r * unit;
            for (int64_t c = 0; c < t->columns; c++)
                memcpy(to + c * unit, from + t->src_column[c], (size_t)unit);
        }
}

/* Slots are for vectors: here a unit is as many bytes as it has. */
void tsr_transpose_units_64_c(void *dst, const void *src, const tsr_tile *t)
{
    tsr_transpose_units_32_c(dst, src, t);
}

/* Of units of 9 to 15 bytes 16 are copied, which the next unit writes over again, but for the last ones on either
 * side. */
void tsr_transpose_units_128_c(void *dst, const void *src, const tsr_tile *t)
{
    enum { SLOT = 16 };
    const int64_t unit = t->unit_bytes, rows = t->rows, last = t->columns - 1, *restrict src_column = t->src_column;
    for (int64_t i = 0; i == 0 || i < t->tiles; i++)
        for (int64_t r = 0; r < rows && last >= 0; r++) {
            char *restrict to = (char *)dst + i * t->dst_tile + t->dst_row[r];
            const char *from = (const char *)src + i * t->src_tile + r * unit;
            for (int64_t c = 0; c < last && r < rows - 1; c++)
                memcpy(to + c * unit, from + src_column[c], SLOT);
            for (int64_t c = r < rows - 1 ? last : 0; c <= last; c++)
                copy_8_to_16(to + c * unit, from + src_column[c], unit);
        }
}

#define AT(bits, base, offset) ((u##bits##_any *)(void *)((char *)(base) + (offset)))
#define AT_CONST(bits, base, offset) ((const u##bits##_any *)(const void *)((const char *)(base) + (offset)))

/* With rows for columns, as the inner loop should be the longer one. */
static tsr_tile turned(const tsr_tile *t)
{
    return (tsr_tile){.rows = t->columns,
                      .columns = t->rows,
                      .dst_row = t->dst_column,
                      .src_row = t->src_column,
                      .dst_column = t->dst_row,
                      .src_column = t->src_row};
}

/*
 * What the loops look up is taken out of the tile, which a store might change for all that compilers
 * know. A short side that they know becomes shuffles instead of single elements.
 */
#define TILES(bits)                                                                                                    \
    void tsr_pick_##bits##_c(void *dst, const void *src, const tsr_tile *t)                                            \
    {                                                                                                                  \
        const tsr_tile tile = t->rows <= t->columns ? *t : turned(t);                                                  \
        const int64_t *restrict dst_column = tile.dst_column, *restrict src_column = tile.src_column;                  \
        for (int64_t r = 0; r < tile.rows; r++) {                                                                      \
            char *to = (char *)dst + tile.dst_row[r];                                                                  \
            const char *from = (const char *)src + tile.src_row[r];                                                    \
            for (int64_t c = 0; c < tile.columns; c++)                                                                 \
                *AT(bits, to, dst_column[c]) = *AT_CONST(bits, from, src_column[c]);                                   \
        }                                                                                                              \
    }                                                                                                                  \
    void tsr_shuffle_##bits##_c(void *dst, const void *src, const tsr_tile *t)                                         \
    {                                                                                                                  \
        const int64_t columns = t->columns, *restrict src_column = t->src_column;                                      \
        for (int64_t i = 0; i == 0 || i < t->tiles; i++)                                                               \
            for (int64_t r = 0; r < t->rows; r++) {                                                                    \
                u##bits##_any *restrict to = AT(bits, dst, i * t->dst_tile + t->dst_row[r]);                           \
                const char *from = (const char *)src + i * t->src_tile + t->src_row[r];                                \
                for (int64_t c = 0; c < columns; c++)                                                                  \
                    to[c] = *AT_CONST(bits, from, src_column[c]);                                                      \
            }                                                                                                          \
    }                                                                                                                  \
    void tsr_transpose_##bits##_c(void *dst, const void *src, const tsr_tile *t)                                       \
    {                                                                                                                  \
        for (int64_t i = 0; i == 0 || i < t->tiles; i++)                                                               \
            for (int64_t r = 0; r < t->rows; r++) {                                                                    \
                u##bits##_any *restrict to = AT(bits, dst, i * t->dst_tile + t->dst_row[r]);                           \
                for (int64_t c = 0; c < t->columns; c++)                                                               \
                    to[c] = AT_CONST(bits, src, i * t->src_tile + t->src_column[c])[r];                                \
            }                                                                                                          \
    }                                                                                                                  \
    void tsr_transpose_padded_##bits##_c(void *dst, const void *src, const tsr_tile *t)                                \
    {                                                                                                                  \
        const int64_t bytes = t->columns * (bits) / 8;                                                                 \
        for (int64_t i = 0; i == 0 || i < t->tiles; i++)                                                               \
            for (int64_t r = 0; r < t->rows; r++) {                                                                    \
                u##bits##_any *to = AT(bits, dst, i * t->dst_tile + t->dst_row[r]);                                    \
                for (int64_t c = 0; c < t->columns; c++)                                                               \
                    to[c] = AT_CONST(bits, src, i * t->src_tile + t->src_column[c])[r];                                \
                memset((char *)to + bytes, 0, (size_t)(t->row_bytes - bytes));                                         \
            }                                                                                                          \
    }                                                                                                                  \
    void tsr_lines_##bits##_c(void *dst, const void *src, const tsr_tile *t)                                           \
    {                                                                                                                  \
        const int64_t line = TSR_CACHE_LINE * 8 / (bits), columns = (t->columns / line - 1) * line;                    \
        for (int64_t r = 0; r < t->rows; r++) {                                                                        \
            u##bits##_any *restrict to = AT(bits, dst, t->dst_row[r]);                                                 \
            const int64_t first = tsr_bytes_to_next_line(to) * 8 / (bits);                                             \
            for (int64_t c = first; c < first + columns; c++)                                                          \
                to[c] = AT_CONST(bits, src, t->src_column[c])[r];                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    static inline void interleave_##bits(u##bits##_any *restrict to, const void *src, const tsr_tile *t, int n)        \
    {                                                                                                                  \
        for (int64_t r = 0; r < t->rows; r++)                                                                          \
            for (int c = 0; c < n; c++)                                                                                \
                to[r * n + c] = AT_CONST(bits, src, t->src_column[c])[r];                                              \
    }                                                                                                                  \
    static inline void deinterleave_##bits(void *dst, const u##bits##_any *restrict from, const tsr_tile *t, int n)    \
    {                                                                                                                  \
        for (int r = 0; r < n; r++) {                                                                                  \
            u##bits##_any *restrict to = AT(bits, dst, t->dst_row[r]);                                                 \
            for (int64_t c = 0; c < t->columns; c++)                                                                   \
                to[c] = from[c * n + r];                                                                               \
        }                                                                                                              \
    }                                                                                                                  \
    static void interleave_pieces_##bits(u##bits##_any *restrict to, const void *src, const tsr_tile *t)               \
    {                                                                                                                  \
        const int64_t rows = t->rows, columns = t->columns, *restrict src_column = t->src_column;                      \
        for (int64_t i = 0; i < t->pieces; i++)                                                                        \
            for (int64_t r = 0; r < rows; r++)                                                                         \
                for (int64_t c = 0; c < columns; c++)                                                                  \
                    *to++ = AT_CONST(bits, src, t->src_row[i] + src_column[c])[r];                                     \
    }                                                                                                                  \
    static void deinterleave_pieces_##bits(void *dst, const void *src, const tsr_tile *t)                              \
    {                                                                                                                  \
        const int64_t rows = t->rows, columns = t->columns, *restrict dst_row = t->dst_row;                            \
        for (int64_t i = 0; i < t->pieces; i++) {                                                                      \
            const u##bits##_any *restrict from = AT_CONST(bits, src, t->src_piece[i]);                                 \
            for (int64_t c = 0; c < columns; c++)                                                                      \
                for (int64_t r = 0; r < rows; r++)                                                                     \
                    AT(bits, dst, t->dst_column[i] + dst_row[r])[c] = *from++;                                         \
        }                                                                                                              \
    }                                                                                                                  \
    void tsr_interleave_##bits##_c(void *dst, const void *src, const tsr_tile *t)                                      \
    {                                                                                                                  \
        if (t->pieces > 0)                                                                                             \
            interleave_pieces_##bits(dst, src, t);                                                                     \
        else if (t->columns == 3)                                                                                      \
            interleave_##bits(dst, src, t, 3);                                                                         \
        else if (t->columns == 4)                                                                                      \
            interleave_##bits(dst, src, t, 4);                                                                         \
        else                                                                                                           \
            interleave_##bits(dst, src, t, (int)t->columns);                                                           \
    }                                                                                                                  \
    void tsr_deinterleave_##bits##_c(void *dst, const void *src, const tsr_tile *t)                                    \
    {                                                                                                                  \
        if (t->pieces > 0)                                                                                             \
            deinterleave_pieces_##bits(dst, src, t);                                                                   \
        else if (t->rows == 3)                                                                                         \
            deinterleave_##bits(dst, src, t, 3);                                                                       \
        else if (t->rows == 4)                                                                                         \
            deinterleave_##bits(dst, src, t, 4);                                                                       \
        else                                                                                                           \
            deinterleave_##bits(dst, src, t, (int)t->rows);                                                            \
    }

TILES(8)
TILES(16)
TILES(32)
TILES(64)
TILES(128)
