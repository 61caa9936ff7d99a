/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transposes of nine rows or columns that are pixels on the other side, of elements of 1 or 2 bytes, lane by lane, in
 * terms of the vector of blocks.h, which includes this where the rung has no way of its own.
 */
typedef vec where;
#define chosen(where, a, b) vec_choose(where, a, b)
#include "reorder/kernels/nine.h"

INLINE void load_nine(struct nine *nine, int bytes)
{
#pragma GCC unroll 3
    for (int j = 0; j < THIRDS; j++)
        nine->third[j] = vec_repeat(tsr_every_third[log2_of(bytes)][j]);
#pragma GCC unroll 9
    for (int j = 0; j < NINE; j++)
        nine->of[j] = vec_repeat(tsr_every_ninth[bytes - 1][j]);
}

INLINE void part_nine_lanes(char *dst, const char *src, const tsr_tile *t, const struct nine *nine, int bytes)
{
    const int64_t pixels = LANES * 16 / bytes, columns = t->columns;
    char *to[NINE];
    for (int r = 0; r < NINE; r++)
        to[r] = dst + t->dst_row[r];
    for (int64_t c = 0; c < columns; c += pixels) {
        const int64_t first = c + pixels <= columns ? c : columns - pixels;
        vec v[NINE];
        gather_groups(v, src + first * NINE * bytes, NINE, 16 * NINE);
        part_nine(v, nine, 16 / bytes);
#pragma GCC unroll 9
        for (int r = 0; r < NINE; r++)
            vec_store(to[r] + first * bytes, vec_shuffle(v[r], vec_repeat(tsr_order_ninth[bytes - 1][r])));
    }
}

INLINE void join_nine_lanes(char *dst, const char *src, const tsr_tile *t, const struct nine *nine, int bytes)
{
    const int64_t pixels = LANES * 16 / bytes, rows = t->rows;
    const char *from[NINE];
    for (int c = 0; c < NINE; c++)
        from[c] = src + t->src_column[c];
    for (int64_t r = 0; r < rows; r += pixels) {
        const int64_t first = r + pixels <= rows ? r : rows - pixels;
        vec v[NINE];
#pragma GCC unroll 9
        for (int c = 0; c < NINE; c++)
            v[c] = vec_shuffle(vec_load(from[c] + first * bytes), vec_repeat(tsr_spread_ninth[bytes - 1][c]));
        join_nine(v, nine, 16 / bytes);
        vec_put_in_turn(dst + first * NINE * bytes, v, NINE, false);
    }
}

/* False if it is not such a tile; or where one lane has few registers, as it takes longer then. */
INLINE bool transpose_nine(char *dst, const char *src, const tsr_tile *t, int bytes)
{
    const int64_t pixels = LANES * 16 / bytes;
    const bool has_registers = LANES > 1 || BLOCK_VECTORS > 8;
    struct nine nine;
    if (!has_registers || bytes > 2)
        return false;
    const bool parts = !t->streams && parts_nine(t, pixels, bytes), joins = !parts && joins_nine(t, pixels);
    if (!parts && !joins)
        return false;
    load_nine(&nine, bytes);
    for (int64_t i = 0; i == 0 || i < t->tiles; i++) {
        char *to = dst + i * t->dst_tile;
        const char *from = src + i * t->src_tile;
        if (parts)
            part_nine_lanes(to, from + t->src_column[0], t, &nine, bytes);
        else
            join_nine_lanes(to + t->dst_row[0], from, t, &nine, bytes);
    }
    return true;
}
