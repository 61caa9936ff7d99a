/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of runs, and COPY_ROWS, by which streams are made as well. A compile unit of a rung includes this once, as a
 * template.
 *
 *     WIDE_RUN       bytes that are copied at a time, the last of which may overlap those before: that takes no masks,
 *                    which are slow to be stored
 *     LONGEST_RUN    longer ones are left to the library
 *     WEAKER_COPIES  the rung that runs of less than two times WIDE_RUN, but for those of WIDE_RUN, are left to, as
 *                    they mostly lie in more lines than they fill; if there is one
 *     JOINS_RUNS     if it is there, x86/joined_runs.h is before it
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/template.h"

/* Rows of tile t that lie evenly, every step-th one of [begin, end). Only the first of them is looked up, as
 * transpose.h tells. */
#define COPY_EVEN(copy, to, from, begin, end, step, bytes)                                                             \
    do {                                                                                                               \
        const int64_t dst_pitch = t->dst_pitch, src_pitch = t->src_pitch, behind = end, each_bytes = bytes;            \
        char *at = (to) + t->dst_row[begin];                                                                           \
        const char *of = (from) + t->src_row[begin];                                                                   \
        for (int64_t r = begin; r < behind; r += (step), at += dst_pitch, of += src_pitch)                             \
            copy(at, of, each_bytes);                                                                                  \
    } while (0)

/* Rows of tile t, each by copy(to, from, bytes): with constant bytes, its code is made for these. Of several tiles, row
 * by row of one, or place by place; and of a single one without a second loop, which takes as long as a short run. */
#define COPY_BY_TILES(copy, bytes)                                                                                     \
    do {                                                                                                               \
        const int64_t rows = t->rows, *to_row = t->dst_row, *from_row = t->src_row, each = bytes;                      \
        const int64_t tiles = t->tiles, src_tile = t->src_tile, dst_tile = t->dst_tile;                                \
        const bool are_even = t->are_even && rows > 0;                                                                 \
        char *to = (char *)dst;                                                                                        \
        const char *from = (const char *)src;                                                                          \
        for (int64_t i = 0; i < tiles; i++, to += dst_tile, from += src_tile)                                          \
            if (are_even)                                                                                              \
                COPY_EVEN(copy, to, from, 0, rows, 1, each);                                                           \
            else                                                                                                       \
                for (int64_t r = 0; r < rows; r++)                                                                     \
                    copy(to + to_row[r], from + from_row[r], each);                                                    \
    } while (0)

/* How many rows are copied place by place before the next ones are. A store is done sooner behind the one before it
 * than at another place: so each place gets some lines. But of what the first-level cache does not hold, what has to be
 * read for that should be little, as prefetchers follow it. */
INLINE int64_t rows_at_once(const tsr_tile *t, int64_t bytes)
{
    enum { NEAR_BYTES = 2 << 10, LEAST = 16 };
    const int64_t near = NEAR_BYTES / (t->places * bytes);
    return !t->fills_lines ? t->rows : t->places * (near < LEAST ? LEAST : near);
}

#define COPY_BY_PLACES(copy, bytes)                                                                                    \
    do {                                                                                                               \
        const int64_t rows = t->rows, *to_row = t->dst_row, *from_row = t->src_row, each = bytes;                      \
        const int64_t src_tile = t->src_tile, dst_tile = t->dst_tile, tiles = t->tiles > 1 ? t->tiles : 1;             \
        const int64_t places = t->places, most = rows_at_once(t, each);                                                \
        const bool are_even = t->are_even;                                                                             \
        char *to = (char *)dst;                                                                                        \
        const char *from = (const char *)src;                                                                          \
        for (int64_t i = 0; i < tiles; i++, to += dst_tile, from += src_tile)                                          \
            for (int64_t first = 0, end; first < rows; first = end) {                                                  \
                end = first + most + most / 2 < rows ? first + most : rows;                                            \
                for (int64_t p = 0; p < places && first + p < end; p++)                                                \
                    if (are_even)                                                                                      \
                        COPY_EVEN(copy, to, from, first + p, end, places, each);                                       \
                    else                                                                                               \
                        for (int64_t r = first + p; r < end; r += places)                                              \
                            copy(to + to_row[r], from + from_row[r], each);                                            \
            }                                                                                                          \
    } while (0)

#define COPY_ROWS(copy, bytes)                                                                                         \
    do {                                                                                                               \
        const int64_t rows = t->rows, *to = t->dst_row, *from = t->src_row, each = bytes;                              \
        const bool fetches_ahead = t->fetches_ahead;                                                                   \
        for (int64_t r = 0; r < rows; r++) {                                                                           \
            if (fetches_ahead)                                                                                         \
                fetch_behind((const char *)src + from[r] + each);                                                      \
            copy((char *)dst + to[r], (const char *)src + from[r], each);                                              \
        }                                                                                                              \
    } while (0)

/* A run of any length, by the library. */
INLINE void copy_memory(char *to, const char *from, int64_t bytes)
{
    memcpy(to, from, (size_t)bytes);
}

typedef uint8_t wide_run __attribute__((vector_size(WIDE_RUN)));

#define COPY(copy, bytes)                                                                                              \
    do {                                                                                                               \
        if (t->places > 1)                                                                                             \
            COPY_BY_PLACES(copy, bytes);                                                                               \
        else if (t->are_even && t->tiles <= 1 && !t->fetches_ahead && t->rows > 0)                                     \
            COPY_EVEN(copy, (char *)dst, (const char *)src, 0, t->rows, 1, bytes);                                     \
        else if (t->tiles <= 1)                                                                                        \
            COPY_ROWS(copy, bytes);                                                                                    \
        else                                                                                                           \
            COPY_BY_TILES(copy, bytes);                                                                                \
    } while (0)

typedef uint8_t lane_run __attribute__((vector_size(TSR_LANE_BYTES)));
typedef uint8_t lanes_run __attribute__((vector_size(2 * TSR_LANE_BYTES)));

/* A run of at least one wide one, whose last bytes are of such a type. */
#define COPY_LONG(name, end)                                                                                           \
    INLINE void name(char *to, const char *from, int64_t bytes)                                                        \
    {                                                                                                                  \
        wide_run next;                                                                                                 \
        end last;                                                                                                      \
        memcpy(&last, from + bytes - sizeof last, sizeof last);                                                        \
        for (int64_t i = 0; i < bytes - (int64_t)sizeof last; i += WIDE_RUN) {                                         \
            memcpy(&next, from + i, WIDE_RUN);                                                                         \
            memcpy(to + i, &next, WIDE_RUN);                                                                           \
        }                                                                                                              \
        memcpy(to + bytes - sizeof last, &last, sizeof last);                                                          \
    }

COPY_LONG(copy_long, wide_run)
#if WIDE_RUN > 16
COPY_LONG(copy_long_and_lane, lane_run)
#endif

/* What is behind the last whole one is written as a lane if that is enough: a store that overlaps the one before it for
 * the most part takes longer. By itself, as shorter runs would save registers for it. */
__attribute__((noinline)) static void copy_long_runs(void *dst, const void *src, const tsr_tile *t)
{
#if WIDE_RUN > 16
    const int64_t rest = t->columns % WIDE_RUN;
    if (rest > 0 && rest <= TSR_LANE_BYTES)
        COPY(copy_long_and_lane, t->columns);
    else
#endif
        COPY(copy_long, t->columns);
}

COPY_ENDS(copy_16_to_32, lane_run, lane_run)
COPY_ENDS(copy_32_to_64, lanes_run, lanes_run)

/* A run of half of `whole` bytes, a power of two from 4 to 64, or more, by its ends: of half of them, all at once. */
INLINE void copy_ends(char *to, const char *from, int64_t bytes, int whole)
{
    if (whole == 4)
        copy_2_to_4(to, from, bytes);
    else if (whole == 8)
        copy_4_to_8(to, from, bytes);
    else if (whole == 16)
        copy_8_to_16(to, from, bytes);
    else if (whole == 32)
        copy_16_to_32(to, from, bytes);
    else
        copy_32_to_64(to, from, bytes);
}

/*
 * Runs of more than half of so many bytes, and less, that continue each other in the destination: each is read and
 * written as a whole, as long as that is inside of the tile on both sides, and the next one writes over what was too
 * much.
 */
INLINE void copy_dense(char *dst, const char *src, const tsr_tile *t, int whole)
{
    const int64_t bytes = t->columns, rows = t->rows, *row = t->src_row, tiles = t->tiles > 1 ? t->tiles : 1;
    const int64_t last = row[rows - 1], end = (last > row[0] ? last : row[0]) + bytes - whole;
    const int64_t src_tile = t->src_tile, dst_tile = t->dst_tile;
    const bool fetches_ahead = t->fetches_ahead;
    dst += t->dst_row[0];
    for (int64_t i = 0; i < tiles; i++, src += src_tile, dst += dst_tile) {
        char *to = dst;
        int64_t r = 0;
        for (; r < rows - 1; r++, to += bytes) { /* with the next one, each has room for a whole */
            const int64_t at = row[r];
            if (fetches_ahead)
                fetch_behind(src + at + bytes);
            if (at <= end)
                copy_ends(to, src + at, whole, 2 * whole);
            else
                copy_ends(to, src + at, bytes, whole);
        }
        copy_ends(to, src + row[r], bytes, whole);
    }
}

/* Are there such runs, which one instruction copies when they are whole? Those of up to two lanes, as longer ones lie
 * in two lines for the most part. */
INLINE bool are_dense_runs(const tsr_tile *t)
{
    enum { MOST = WIDE_RUN < 2 * TSR_LANE_BYTES ? WIDE_RUN : 2 * TSR_LANE_BYTES };
    const int64_t bytes = t->columns;
    return t->has_dense_rows && t->places <= 1 && t->rows > 0 && bytes > 2 && bytes < MOST &&
           (bytes & (bytes - 1)) != 0;
}

static void copy_dense_runs(void *dst, const void *src, const tsr_tile *t)
{
    if (t->columns < 4)
        copy_dense(dst, src, t, 4);
    else if (t->columns < 8)
        copy_dense(dst, src, t, 8);
    else if (t->columns < 16)
        copy_dense(dst, src, t, 16);
    else
        copy_dense(dst, src, t, 32);
}

#ifdef WEAKER_COPIES
#define copy_short_runs EXPANDED(copy_8, WEAKER_COPIES)
#else
COPY_ENDS(copy_16_to_24, lane_run, uint64_t)
#if WIDE_RUN == 32
COPY_ENDS(copy_32_to_40, wide_run, uint64_t)
COPY_ENDS(copy_32_to_48, wide_run, lane_run)
#endif

INLINE void copy_1(char *to, const char *from, int64_t bytes)
{
    (void)bytes;
    *to = *from;
}

static void copy_short_runs(void *dst, const void *src, const tsr_tile *t)
{
    if (t->columns == 0)
        return;
    if (t->columns == 1)
        COPY(copy_1, 1);
    else if (t->columns == 2)
        COPY(copy_2_to_4, 2);
    else if (t->columns == 3)
        COPY(copy_2_to_4, 3);
    else if (t->columns == 4)
        COPY(copy_4_to_8, 4);
    else if (t->columns < 8)
        COPY(copy_4_to_8, t->columns);
    else if (t->columns == 8)
        COPY(copy_8_to_16, 8);
    else if (t->columns < 16)
        COPY(copy_8_to_16, t->columns);
    else if (t->columns == 16)
        COPY(copy_16_to_32, 16);
    else if (t->columns <= 24)
        COPY(copy_16_to_24, t->columns);
    else if (t->columns < 32)
        COPY(copy_16_to_32, t->columns);
#if WIDE_RUN == 32
    else if (t->columns <= 40)
        COPY(copy_32_to_40, t->columns);
    else if (t->columns <= 48)
        COPY(copy_32_to_48, t->columns);
    else
        COPY(copy_32_to_64, t->columns);
#endif
}
#endif

#ifdef LINE_VECTORS
/* A vector of rows from r on, which have 16 bytes each, or 32. */
INLINE vec join_rows(const char *src, const int64_t *row, int bytes)
{
    const char *at[LANES];
    for (int l = 0; l < LANES; l++)
        at[l] = src + row[l * 16 / bytes] + l * 16 % bytes;
#ifdef PAIRS_OF_LANES
    if (bytes == 32)
        return vec_gather_halves(at[0], at[2]);
#endif
    return bytes == LANES * 16 ? vec_load(at[0]) : vec_gather_lanes(at);
}

/* Rows that continue each other, in whole lines, past the caches if it streams. Gives the number of those. */
INLINE int64_t join_lines(char *dst, const char *src, const tsr_tile *t, int bytes, bool streams)
{
    enum { VECTOR = LANES * 16 };
    const int64_t rows = t->rows, *row = t->src_row;
    char *to = dst + t->dst_row[0];
    int64_t r = 0;
    for (; r + TSR_CACHE_LINE / bytes <= rows; r += TSR_CACHE_LINE / bytes, to += TSR_CACHE_LINE)
        for (int k = 0; k < LINE_VECTORS; k++)
            vec_put(to + k * VECTOR, join_rows(src, row + r + k * VECTOR / bytes, bytes), streams);
    return r;
}

/* What fills no line goes through the caches, as do all rows, if the first one begins inside of a line. */
INLINE void copy_tile_in_lines(char *dst, const char *src, const tsr_tile *t, int bytes, bool streams)
{
    const bool begins_line = t->rows > 0 && tsr_bytes_to_next_line(dst + t->dst_row[0]) == 0;
    const int64_t done = begins_line ? join_lines(dst, src, t, bytes, streams) : 0;
    const tsr_tile rest = {
        .rows = t->rows - done, .columns = bytes, .dst_row = t->dst_row + done, .src_row = t->src_row + done};
    if (rest.rows > 0)
        copy_short_runs(dst, src, &rest);
}

INLINE void copy_in_lines_of(char *dst, const char *src, const tsr_tile *t, int bytes, bool streams)
{
    const int64_t tiles = t->tiles > 1 ? t->tiles : 1;
    for (int64_t i = 0; i < tiles; i++)
        copy_tile_in_lines(dst + i * t->dst_tile, src + i * t->src_tile, t, bytes, streams);
}

static void copy_in_lines(void *dst, const void *src, const tsr_tile *t)
{
    if (t->streams && t->columns == 16)
        copy_in_lines_of(dst, src, t, 16, true);
    else if (t->streams)
        copy_in_lines_of(dst, src, t, 32, true);
    else if (t->columns == 16)
        copy_in_lines_of(dst, src, t, 16, false);
    else
        copy_in_lines_of(dst, src, t, 32, false);
}

/* Is that sooner than row by row, as vectors hold several rows that continue each other? */
INLINE bool can_join_rows(const tsr_tile *t)
{
    const bool are_lanes = t->columns == 16 || t->columns == 32, are_narrow = t->columns < LANES * 16;
    return are_lanes && (t->streams || (are_narrow && t->has_dense_rows && !t->fetches_ahead));
}
#else
#define can_join_rows(t) false
#define copy_in_lines copy_short_runs
#endif

#ifndef JOINS_RUNS
#define can_join_runs(dst, t) false
#define copy_joined_runs copy_long_runs
#endif

void NAME(copy_8)(void *dst, const void *src, const tsr_tile *t)
{
    if (can_join_runs(dst, t))
        copy_joined_runs(dst, src, t);
    else if (can_join_rows(t))
        copy_in_lines(dst, src, t);
    else if (are_dense_runs(t))
        copy_dense_runs(dst, src, t);
    else if (t->columns == WIDE_RUN)
        COPY(copy_long, WIDE_RUN);
    else if (t->columns < 2 * WIDE_RUN)
        copy_short_runs(dst, src, t);
    else if (t->columns == 2 * WIDE_RUN)
        COPY(copy_long, 2 * WIDE_RUN);
    else if (t->columns < LONGEST_RUN)
        copy_long_runs(dst, src, t);
    else
        COPY(copy_memory, t->columns);
}
