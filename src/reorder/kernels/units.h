/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transposes of odd units, as the three elements of a pixel are, stripe by stripe, in terms of the vector of blocks.h,
 * which includes this. One of up to 7 bytes is spread to a slot of 4 or 8 bytes on its way, which is transposed as an
 * element of that width:
 *
 *     of a column   |aaabbbcccdddeeef|    16 bytes, as they lie in the source
 *     spread        |aaa.bbb.ccc.ddd.|    to be zipped with those of other columns
 *     of a row      |aaa.AAA.111.222.|
 *     packed        |aaaAAA111222....|    and stored, a lane at a time; the next one writes over the rest
 *
 * One of more bytes has a lane to itself, and lanes are joined.
 *
 *     vec_joins(bytes)            can the first bytes of all lanes be brought side by side, as many of each?
 *     vec_join_lanes(v, bytes)    so they are
 */
#include <stdbool.h>
#include <stdint.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/template.h"

#define FILLED(unit) (TSR_LANE_BYTES / SLOT(unit) * (unit)) /* of the bytes of a lane */
#define SKIPPED(unit) (TSR_LANE_BYTES - FILLED(unit))
#define SLOT(unit) ((unit) < 4 ? 4 : 8)

/* So many blocks below each other, of 16 bytes of each column: those that begin with the first unit of each, or some
 * that end with the last one. */
INLINE void get_units(vec v[][16], const char *from, const int64_t *src_column, int unit, int many, bool is_behind)
{
    const int side = TSR_LANE_BYTES / SLOT(unit);
    const vec spread = vec_repeat((is_behind ? tsr_spread_unit_behind : tsr_spread_unit)[unit - TSR_LEAST_ODD_UNIT]);
#pragma GCC unroll 4
    for (int i = 0; i < side; i++) {
        const char *at[LANES];
        for (int l = 0; l < LANES; l++)
            at[l] = from + src_column[l * side + i] - (is_behind ? SKIPPED(unit) : 0);
#pragma GCC unroll 4
        for (int b = 0; b < many; b++) {
            v[b][i] = vec_shuffle(vec_gather_lanes(at), spread);
            for (int l = 0; l < LANES; l++)
                at[l] += FILLED(unit);
        }
    }
#pragma GCC unroll 4
    for (int b = 0; b < many; b++)
        zip_rounds(v[b], side, log2_of(side), SLOT(unit));
}

/* All lanes of a row, of which the last one may be at the end of a tile. */
INLINE void put_units(char *to, vec v, int unit, bool is_last)
{
    const vec row = vec_shuffle(v, vec_repeat(tsr_pack_unit[unit - TSR_LEAST_ODD_UNIT]));
    if (!is_last && vec_joins(FILLED(unit))) {
        vec_store(to, vec_join_lanes(row, FILLED(unit)));
        return;
    }
#pragma GCC unroll 4
    for (int l = 0; l < LANES - 1; l++, to += FILLED(unit))
        vec_store_lanes(to, row, l, 1);
    if (is_last) {
        char lane[TSR_LANE_BYTES];
        vec_store_lanes(lane, row, LANES - 1, 1);
        copy_8_to_16(to, lane, FILLED(unit));
    } else {
        vec_store_lanes(to, row, LANES - 1, 1);
    }
}

/* All rows of as many columns as a vector has, some blocks at a time. What is read of the last rows begins before
 * these; and what is written behind the columns belongs to the next ones, unless there are not so many. */
INLINE void transpose_stripe_of_units(char *dst, const char *src, const tsr_tile *t, int64_t c, int unit, bool is_last)
{
    const int side = TSR_LANE_BYTES / SLOT(unit), many = BLOCK_VECTORS / 2 / side;
    const int64_t rows = t->rows, *dst_row = t->dst_row, *src_column = t->src_column + c;
    vec v[MOST_BLOCKS][16];
    int64_t r = 0;
    dst += c * unit;
    for (; (r + side * many) * unit + SKIPPED(unit) <= rows * unit; r += side * many) {
        get_units(v, src + r * unit, src_column, unit, many, false);
#pragma GCC unroll 16
        for (int j = 0; j < side * many; j++)
            put_units(dst + dst_row[r + j], v[j / side][j % side], unit, is_last);
    }
    for (; r < rows; r += side) {
        const int64_t first = r + side <= rows ? r : rows - side;
        if ((r + side) * unit + SKIPPED(unit) <= rows * unit)
            get_units(v, src + first * unit, src_column, unit, 1, false);
        else
            get_units(v, src + first * unit, src_column, unit, 1, true);
#pragma GCC unroll 4
        for (int j = 0; j < side; j++)
            put_units(dst + dst_row[first + j], v[0][j], unit, is_last);
    }
}

/* The last stripe begins early enough to be whole; the one before it may write beyond, too. */
INLINE void transpose_units(char *dst, const char *src, const tsr_tile *t, int unit)
{
    const int64_t width = LANES * TSR_LANE_BYTES / SLOT(unit), columns = t->columns;
    for (int64_t i = 0; i == 0 || i < t->tiles; i++, dst += t->dst_tile, src += t->src_tile) {
        int64_t c = 0;
        for (; (c + width) * unit + LANES * SKIPPED(unit) <= columns * unit; c += width)
            transpose_stripe_of_units(dst, src, t, c, unit, false);
        for (; c < columns; c += width)
            transpose_stripe_of_units(dst, src, t, c + width <= columns ? c : columns - width, unit, true);
    }
}

/* Has each column as many bytes as a lane, and more rows than a block? Then a lane of it begins with the first block,
 * and one ends with any other. */
INLINE bool has_rows_of_units(const tsr_tile *t, int unit)
{
    return t->rows * unit >= TSR_LANE_BYTES;
}

#define TRANSPOSE_UNITS(bits, unit)                                                                                    \
    __attribute__((noinline)) static void transpose_units_of_##unit(void *dst, const void *src, const tsr_tile *t)     \
    {                                                                                                                  \
        if (t->columns < LANES * 128 / (bits) || !has_rows_of_units(t, unit))                                          \
            NARROWER_KERNEL(transpose_units_##bits)(dst, src, t);                                                      \
        else                                                                                                           \
            transpose_units(dst, src, t, unit);                                                                        \
    }

TRANSPOSE_UNITS(32, 3)
TRANSPOSE_UNITS(64, 5)
TRANSPOSE_UNITS(64, 6)
TRANSPOSE_UNITS(64, 7)

void NAME(transpose_units_32)(void *dst, const void *src, const tsr_tile *t)
{
    transpose_units_of_3(dst, src, t);
}

void NAME(transpose_units_64)(void *dst, const void *src, const tsr_tile *t)
{
    static const tsr_tile_kernel of[] = {transpose_units_of_5, transpose_units_of_6, transpose_units_of_7};
    of[t->unit_bytes - 5](dst, src, t);
}

#if defined(NARROWER) || defined(ONE_LANE)
/* All rows of some vectors of columns, so that lines of rows are written whole for the most part; the last row by parts,
 * as nothing may follow it in the source. */
INLINE void transpose_stripe_of_lanes(char *dst, const char *src, const tsr_tile *t, int64_t c, int64_t unit,
                                      int vectors)
{
    const int64_t last = t->rows - 1, *dst_row = t->dst_row, *src_column = t->src_column + c;
    dst += c * unit;
    for (int64_t r = 0; r < last; r++, src += unit) {
        char *to = dst + dst_row[r];
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++, to += LANES * unit) {
            const char *at[LANES];
            for (int l = 0; l < LANES; l++)
                at[l] = src + src_column[v * LANES + l];
            vec_store(to, vec_join_lanes(vec_gather_lanes(at), unit));
        }
    }
    for (int l = 0; l < vectors * LANES; l++)
        copy_8_to_16(dst + dst_row[last] + l * unit, src + src_column[l], unit);
}

/* What is written behind a stripe belongs to the next one, or to the columns that are left, for which C has a kernel. */
INLINE void transpose_lanes_of_units(char *dst, const char *src, const tsr_tile *t, int64_t unit)
{
    enum { VECTORS = 8, FEW_VECTORS = 2, WIDTH = VECTORS * LANES, NARROW_WIDTH = FEW_VECTORS * LANES };
    const int64_t columns = t->rows > 0 ? t->columns : 0, behind = LANES * (TSR_LANE_BYTES - unit);
    for (int64_t i = 0; i == 0 || i < t->tiles; i++, dst += t->dst_tile, src += t->src_tile) {
        tsr_tile rest = *t;
        int64_t c = 0;
        for (; (c + WIDTH) * unit + behind <= columns * unit; c += WIDTH)
            transpose_stripe_of_lanes(dst, src, t, c, unit, VECTORS);
        for (; (c + NARROW_WIDTH) * unit + behind <= columns * unit; c += NARROW_WIDTH)
            transpose_stripe_of_lanes(dst, src, t, c, unit, FEW_VECTORS);
        rest.tiles = 1;
        rest.src_column += c;
        rest.columns -= c;
        tsr_transpose_units_128_c(dst + c * unit, src, &rest);
    }
}

void NAME(transpose_units_128)(void *dst, const void *src, const tsr_tile *t)
{
    if (vec_joins(t->unit_bytes))
        transpose_lanes_of_units(dst, src, t, t->unit_bytes);
    else
        tsr_transpose_units_128_c(dst, src, t);
}
#endif
