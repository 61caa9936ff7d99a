/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows with zeros behind them, as pixels have whose channels do not fill their blocks. In terms of the vector of
 * blocks.h, which a compile unit includes before this, and of
 *
 *     vec_first_lane(v, l)      lane l, and zeros in the others
 *     vec_load_part(at, bytes)  the first bytes of a vector, 1 or more; and zeros in what is left
 */
#include <stdbool.h>
#include <stdint.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/template.h"

enum { PADDED_BYTES = LANES * TSR_LANE_BYTES }; /* written at a time */

/* Behind what is done of a row of so many bytes, which are some lanes, and whole lines if it is streamed. */
INLINE void put_zeros(char *to, int64_t done, int64_t bytes, bool streams)
{
    const vec zeros = {0};
    (void)streams; /* where nothing goes past the caches */
    for (; done + PADDED_BYTES <= bytes; done += PADDED_BYTES) {
        __asm__ volatile(""); /* or compilers may call memset, which is a loop over bytes for so few */
        vec_put(to + done, zeros, streams);
    }
    for (; LANES > 1 && done < bytes; done += TSR_LANE_BYTES)
        vec_store_lanes(to + done, zeros, 0, 1);
}

/* Lane l, and zeros behind it. */
INLINE void put_padded(char *to, vec v, int l, int64_t bytes, bool streams)
{
    if (bytes < PADDED_BYTES) {
        vec_store_lanes(to, v, l, 1);
        put_zeros(to, TSR_LANE_BYTES, bytes, streams);
    } else {
        vec_put(to, vec_first_lane(v, l), streams);
        put_zeros(to, PADDED_BYTES, bytes, streams);
    }
}

/* A vector of each column is as many rows as all of its lanes have. The last rows begin early enough to be as many; or,
 * if they are few, less than one lane has, all are read as parts of it. */
INLINE void transpose_padded(char *dst, const char *src, const tsr_tile *t, int bytes, bool are_few, int64_t row_bytes)
{
    const int side = TSR_LANE_BYTES / bytes;
    const int64_t rows = t->rows, columns = t->columns, step = side * LANES, *dst_row = t->dst_row,
                  *src_column = t->src_column;
    const bool streams = t->streams;
    for (int64_t tile = 0; tile == 0 || tile < t->tiles; tile++) {
        char *to = dst + tile * t->dst_tile;
        const char *from = src + tile * t->src_tile;
        for (int64_t r = 0; r < rows; r += step) {
            const int64_t first = r + step <= rows || are_few ? r : rows - step;
            vec v[16] = {{0}};
#pragma GCC unroll 16
            for (int i = 0; i < side; i++)
                if (i < columns) {
                    const char *at = from + src_column[i] + first * bytes;
                    v[i] = are_few ? vec_load_part(at, rows * bytes) : vec_load(at);
                }
            zip_rounds(v, side, log2_of(side), bytes);
#pragma GCC unroll 4
            for (int l = 0; l < LANES; l++)
#pragma GCC unroll 16
                for (int j = 0; j < side; j++) {
                    const int64_t row = first + l * side + j;
                    if (row >= r && (!are_few || row < rows))
                        put_padded(to + dst_row[row], v[j], l, row_bytes, streams);
                }
        }
    }
}

#ifdef NARROWER
#define FEW_PADDED(bits) NARROWER_KERNEL(transpose_padded_##bits)(dst, src, t)
#else
#define FEW_PADDED(bits) transpose_padded(dst, src, t, (bits) / 8, true, t->row_bytes)
#endif

/* The first lanes, which have so many bytes, but not all: of four, up to three; of two, one. */
INLINE void put_lanes(char *to, vec v, int64_t bytes)
{
    enum { THIRD = LANES > 2 ? 2 : 0 };
    if (bytes < 2 * TSR_LANE_BYTES) {
        vec_store_lanes(to, v, 0, 1);
        return;
    }
    vec_store_lanes(to, v, 0, 2);
    if (bytes > 2 * TSR_LANE_BYTES)
        vec_store_lanes(to + 2 * TSR_LANE_BYTES, v, THIRD, 1);
}

/* A longer row, a vector at a time, of which the last one is a part; or its lanes, where the row has no room for it. */
INLINE void copy_long_row(char *to, const char *from, int64_t columns, int64_t row_bytes, bool streams)
{
    int64_t done = 0;
    for (; done + PADDED_BYTES <= columns; done += PADDED_BYTES)
        vec_put(to + done, vec_load(from + done), streams);
    if (done < columns) {
        const vec last = vec_load_part(from + done, columns - done);
        if (done + PADDED_BYTES <= row_bytes)
            vec_put(to + done, last, streams);
        else
            put_lanes(to + done, last, row_bytes - done);
        done += PADDED_BYTES;
    }
    put_zeros(to, done, row_bytes, streams);
}

/* Rows of up to a lane, or longer ones. */
INLINE void copy_padded(char *dst, const char *src, const tsr_tile *t, int64_t columns, bool are_long,
                        int64_t row_bytes)
{
    const int64_t rows = t->rows, *dst_row = t->dst_row, *src_row = t->src_row;
    const bool streams = t->streams;
    for (int64_t tile = 0; tile == 0 || tile < t->tiles; tile++) {
        char *to = dst + tile * t->dst_tile;
        const char *from = src + tile * t->src_tile;
        for (int64_t r = 0; r < rows; r++)
            if (are_long)
                copy_long_row(to + dst_row[r], from + src_row[r], columns, row_bytes, streams);
            else
                put_padded(to + dst_row[r], vec_load_part(from + src_row[r], columns), 0, row_bytes, streams);
    }
}

/* With constants, for rows of half a line, a line and two, and others. */
#define BY_ROW_BYTES(padded, ...)                                                                                      \
    do {                                                                                                               \
        if (t->row_bytes == TSR_CACHE_LINE / 2)                                                                        \
            padded(dst, src, t, __VA_ARGS__, TSR_CACHE_LINE / 2);                                                      \
        else if (t->row_bytes == TSR_CACHE_LINE)                                                                       \
            padded(dst, src, t, __VA_ARGS__, TSR_CACHE_LINE);                                                          \
        else if (t->row_bytes == 2 * TSR_CACHE_LINE)                                                                   \
            padded(dst, src, t, __VA_ARGS__, 2 * TSR_CACHE_LINE);                                                      \
        else                                                                                                           \
            padded(dst, src, t, __VA_ARGS__, t->row_bytes);                                                            \
    } while (0)

#define TRANSPOSE_PADDED(bits)                                                                                         \
    void NAME(transpose_padded_##bits)(void *dst, const void *src, const tsr_tile *t)                                  \
    {                                                                                                                  \
        if (t->rows < LANES * 128 / (bits))                                                                            \
            FEW_PADDED(bits);                                                                                          \
        else                                                                                                           \
            BY_ROW_BYTES(transpose_padded, (bits) / 8, false);                                                         \
    }

TRANSPOSE_PADDED(8)
TRANSPOSE_PADDED(16)
TRANSPOSE_PADDED(32)
TRANSPOSE_PADDED(64)

#define CASE_OF_COLUMNS(n)                                                                                             \
    case n:                                                                                                            \
        BY_ROW_BYTES(copy_padded, n, false);                                                                           \
        break;

/* With constants, for two to four elements, too. */
void NAME(copy_padded_8)(void *dst, const void *src, const tsr_tile *t)
{
    switch (t->columns) {
        CASE_OF_COLUMNS(2)
        CASE_OF_COLUMNS(3)
        CASE_OF_COLUMNS(4)
        CASE_OF_COLUMNS(6)
        CASE_OF_COLUMNS(8)
        CASE_OF_COLUMNS(12)
        CASE_OF_COLUMNS(16)
    default:
        if (t->columns > TSR_LANE_BYTES)
            BY_ROW_BYTES(copy_padded, t->columns, true);
        else
            BY_ROW_BYTES(copy_padded, t->columns, false);
    }
}
