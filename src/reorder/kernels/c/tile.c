/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/unaligned.h"

/* Runs of at least so many bytes are memcpy's; below, its call costs more than the bytes. */
enum { LONG_RUN_BYTES = 96 };

#define COPY(bits)                                                                                                     \
    void tsr_copy_##bits##_c(void *dst, const void *src, const tsr_tile *t)                                            \
    {                                                                                                                  \
        u##bits##_any *restrict to = dst;                                                                              \
        const u##bits##_any *restrict from = src;                                                                      \
        int64_t columns = t->columns;                                                                                  \
        for (int64_t r = 0; r < t->rows; r++, to += t->dst_row, from += t->src_row) {                                  \
            if (columns >= LONG_RUN_BYTES * 8 / bits)                                                                  \
                memcpy(to, from, (size_t)columns * sizeof *to);                                                        \
            else                                                                                                       \
                for (int64_t c = 0; c < columns; c++)                                                                  \
                    to[c] = from[c];                                                                                   \
        }                                                                                                              \
    }

#define STRIDED(bits)                                                                                                  \
    void tsr_strided_##bits##_c(void *dst, const void *src, const tsr_tile *t)                                         \
    {                                                                                                                  \
        u##bits##_any *restrict to = dst;                                                                              \
        const u##bits##_any *restrict from = src;                                                                      \
        int64_t columns = t->columns, dst_column = t->dst_column, src_column = t->src_column;                          \
        for (int64_t r = 0; r < t->rows; r++, to += t->dst_row, from += t->src_row)                                    \
            for (int64_t c = 0; c < columns; c++)                                                                      \
                to[c * dst_column] = from[c * src_column];                                                             \
    }

/* A short side that the compiler knows becomes shuffles instead of single elements. */
#define TRANSPOSE(bits)                                                                                                \
    static inline void transpose_##bits(u##bits##_any *restrict to, const u##bits##_any *restrict from, int64_t rows,  \
                                        int64_t columns, const tsr_tile *t)                                            \
    {                                                                                                                  \
        for (int64_t r = 0; r < rows; r++)                                                                             \
            for (int64_t c = 0; c < columns; c++)                                                                      \
                to[r * t->dst_row + c] = from[r + c * t->src_column];                                                  \
    }                                                                                                                  \
    static inline void interleave_##bits(u##bits##_any *restrict to, const u##bits##_any *restrict from, int64_t rows, \
                                         int64_t columns, const tsr_tile *t)                                           \
    {                                                                                                                  \
        for (int64_t r = 0; r < rows; r++)                                                                             \
            for (int64_t c = 0; c < columns; c++)                                                                      \
                to[r * columns + c] = from[r + c * t->src_column];                                                     \
    }                                                                                                                  \
    static inline void deinterleave_##bits(u##bits##_any *restrict to, const u##bits##_any *restrict from,             \
                                           int64_t rows, int64_t columns, const tsr_tile *t)                           \
    {                                                                                                                  \
        for (int64_t c = 0; c < columns; c++)                                                                          \
            for (int64_t r = 0; r < rows; r++)                                                                         \
                to[r * t->dst_row + c] = from[c * rows + r];                                                           \
    }                                                                                                                  \
    void tsr_transpose_##bits##_c(void *dst, const void *src, const tsr_tile *t)                                       \
    {                                                                                                                  \
        if (t->rows == 3 && t->src_column == 3)                                                                        \
            deinterleave_##bits(dst, src, 3, t->columns, t);                                                           \
        else if (t->rows == 4 && t->src_column == 4)                                                                   \
            deinterleave_##bits(dst, src, 4, t->columns, t);                                                           \
        else if (t->columns == 3 && t->dst_row == 3)                                                                   \
            interleave_##bits(dst, src, t->rows, 3, t);                                                                \
        else if (t->columns == 4 && t->dst_row == 4)                                                                   \
            interleave_##bits(dst, src, t->rows, 4, t);                                                                \
        else                                                                                                           \
            transpose_##bits(dst, src, t->rows, t->columns, t);                                                        \
    }

#define GATHER(bits)                                                                                                   \
    void tsr_gather_##bits##_c(void *dst, const void *src, int64_t n, const int64_t *dst_table,                        \
                               const int64_t *src_table)                                                               \
    {                                                                                                                  \
        u##bits##_any *restrict to = dst;                                                                              \
        const u##bits##_any *restrict from = src;                                                                      \
        for (int64_t i = 0; i < n; i++)                                                                                \
            to[dst_table ? dst_table[i] : i] = from[src_table ? src_table[i] : i];                                     \
    }

#define ALL(bits) COPY(bits) STRIDED(bits) TRANSPOSE(bits) GATHER(bits)

ALL(8)
ALL(16)
ALL(32)
ALL(64)
