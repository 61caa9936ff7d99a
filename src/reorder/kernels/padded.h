/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of 16 bytes at most, with zeros behind them: pixels of a few channels, in wide blocks. In terms of the vector of
 * blocks.h, which a compile unit includes before this, and of
 *
 *     vec_first_lane(v, l)      lane l, and zeros in the others
 *     vec_load_part(at, bytes)  the first bytes of lane 0, 1 to 16; and zeros in what is left
 */
#include <stdbool.h>
#include <stdint.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/template.h"

/* Lane l, and zeros behind it: a row of so many bytes, which are some lanes, and whole lines if it is streamed. */
INLINE void put_padded(char *to, vec v, int l, int64_t bytes, bool streams)
{
    enum { VECTOR = LANES * TSR_LANE_BYTES };
    const vec zeros = {0};
    int64_t done = TSR_LANE_BYTES;
    (void)streams; /* where nothing goes past the caches */
    if (bytes < VECTOR) {
        vec_store_lanes(to, v, l, 1);
    } else {
        vec_put(to, vec_first_lane(v, l), streams);
        done = VECTOR;
    }
    for (; done + VECTOR <= bytes; done += VECTOR)
        vec_put(to + done, zeros, streams);
    for (; done < bytes; done += TSR_LANE_BYTES)
        vec_store_lanes(to + done, zeros, 0, 1);
}

/* A vector of each column is as many rows as all of its lanes have. The last rows begin early enough to be as many. */
INLINE void transpose_padded(char *dst, const char *src, const tsr_tile *t, int bytes, int64_t row_bytes)
{
    const int side = TSR_LANE_BYTES / bytes;
    const int64_t rows = t->rows, columns = t->columns, step = side * LANES, *dst_row = t->dst_row,
                  *src_column = t->src_column;
    const bool streams = t->streams;
    for (int64_t r = 0; r < rows; r += step) {
        const int64_t first = r + step <= rows ? r : rows - step;
        vec v[16] = {{0}};
#pragma GCC unroll 16
        for (int i = 0; i < side; i++)
            if (i < columns)
                v[i] = vec_load(src + src_column[i] + first * bytes);
        zip_rounds(v, side, log2_of(side), bytes);
#pragma GCC unroll 4
        for (int l = 0; l < LANES; l++)
#pragma GCC unroll 16
            for (int j = 0; j < side; j++) {
                const int64_t row = first + l * side + j;
                if (row >= r)
                    put_padded(dst + dst_row[row], v[j], l, row_bytes, streams);
            }
    }
}

#ifdef NARROWER
#define LOW_PADDED(bits) NARROWER_KERNEL(transpose_padded_##bits)(dst, src, t)
#else
/* Of fewer rows than that, a lane of each column at a time; or as much of it as there is. */
INLINE void transpose_low_padded(char *dst, const char *src, const tsr_tile *t, int bytes, int64_t row_bytes)
{
    const int side = TSR_LANE_BYTES / bytes;
    const int64_t rows = t->rows, columns = t->columns, *dst_row = t->dst_row, *src_column = t->src_column;
    const int64_t length = rows < side ? rows * bytes : TSR_LANE_BYTES;
    const bool streams = t->streams;
    for (int64_t r = 0; r < rows; r += side) {
        const int64_t first = r + side <= rows || r == 0 ? r : rows - side;
        vec v[16] = {{0}};
#pragma GCC unroll 16
        for (int i = 0; i < side; i++)
            if (i < columns)
                v[i] = vec_load_part(src + src_column[i] + first * bytes, length);
        zip_rounds(v, side, log2_of(side), bytes);
#pragma GCC unroll 16
        for (int j = 0; j < side; j++)
            if (first + j >= r && first + j < rows)
                put_padded(dst + dst_row[first + j], v[j], 0, row_bytes, streams);
    }
}
#define LOW_PADDED(bits) transpose_low_padded(dst, src, t, (bits) / 8, t->row_bytes)
#endif

INLINE void copy_padded(char *dst, const char *src, const tsr_tile *t, int64_t columns, int64_t row_bytes)
{
    const int64_t rows = t->rows, *dst_row = t->dst_row, *src_row = t->src_row;
    const bool streams = t->streams;
    for (int64_t r = 0; r < rows; r++)
        put_padded(dst + dst_row[r], vec_load_part(src + src_row[r], columns), 0, row_bytes, streams);
}

/* With constants, for rows of half a line, a line, and others. */
#define BY_ROW_BYTES(padded, ...)                                                                                      \
    do {                                                                                                               \
        if (t->row_bytes == TSR_CACHE_LINE / 2)                                                                        \
            padded(dst, src, t, __VA_ARGS__, TSR_CACHE_LINE / 2);                                                      \
        else if (t->row_bytes == TSR_CACHE_LINE)                                                                       \
            padded(dst, src, t, __VA_ARGS__, TSR_CACHE_LINE);                                                          \
        else                                                                                                           \
            padded(dst, src, t, __VA_ARGS__, t->row_bytes);                                                            \
    } while (0)

#define TRANSPOSE_PADDED(bits)                                                                                         \
    void NAME(transpose_padded_##bits)(void *dst, const void *src, const tsr_tile *t)                                  \
    {                                                                                                                  \
        if (t->rows < LANES * 128 / (bits))                                                                            \
            LOW_PADDED(bits);                                                                                          \
        else                                                                                                           \
            BY_ROW_BYTES(transpose_padded, (bits) / 8);                                                                \
    }

TRANSPOSE_PADDED(8)
TRANSPOSE_PADDED(16)
TRANSPOSE_PADDED(32)
TRANSPOSE_PADDED(64)

#define CASE_OF_COLUMNS(n)                                                                                             \
    case n:                                                                                                            \
        BY_ROW_BYTES(copy_padded, n);                                                                                  \
        break;

/* With constants, for three and four elements, too. */
void NAME(copy_padded_8)(void *dst, const void *src, const tsr_tile *t)
{
    switch (t->columns) {
        CASE_OF_COLUMNS(3)
        CASE_OF_COLUMNS(4)
        CASE_OF_COLUMNS(6)
        CASE_OF_COLUMNS(8)
        CASE_OF_COLUMNS(12)
        CASE_OF_COLUMNS(16)
    default:
        BY_ROW_BYTES(copy_padded, t->columns);
    }
}
