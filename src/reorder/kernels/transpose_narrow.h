/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles of fewer columns than fill a lane. A part of transpose.h.
 */

/* So many rows of less than a lane that continue each other are needed: two lanes may have some of them both, but what
 * the first lane writes too much has to be in rows of the second one. */
INLINE int64_t least_narrow_rows(int side)
{
    return LANES == 2 ? side + 1 : side * LANES;
}

/* A group of rows in each lane, from row `first` on, each so many rows behind the one before: as many as a lane has, or
 * less. Each row is written as a lane, of which the next row writes over what is too much. */
INLINE void transpose_narrow_groups(const struct stripe *stripe, int64_t first, int64_t behind, int bytes)
{
    const int side = 16 / bytes;
    const int64_t pitch = stripe->columns * bytes;
    const char *src = stripe->src + first * bytes;
    char *group = stripe->dst + stripe->dst_row[0] + first * pitch, *to = group, last[16];
    vec v[16];
#pragma GCC unroll 16
    for (int i = 0; i < side; i++) {
        const char *at[LANES];
        for (int l = 0; l < LANES; l++)
            at[l] = src + stripe->src_column[i < stripe->columns ? i : 0] + l * behind * bytes;
        v[i] = behind == side ? vec_load(at[0]) : vec_gather_lanes(at);
    }
    zip_rounds(v, side, log2_of(side), bytes);
#pragma GCC unroll 4
    for (int l = 0; l < LANES; l++, group += behind * pitch) {
        to = group;
#pragma GCC unroll 16
        for (int j = 0; j < side; j++, to += pitch)
            vec_store_lanes(l < LANES - 1 || j < side - 1 ? to : last, v[j], l, 1);
    }
    memcpy(to - pitch, last, (size_t)pitch);
}

/* All of a tile whose rows have 9 to 15 bytes and continue each other: many at a time, the last of them as early as
 * they are inside; or if there are too few, the second half of them so. */
INLINE void transpose_narrow(const struct stripe *stripe, int bytes)
{
    const int side = 16 / bytes;
    const int64_t rows = stripe->rows, step = side * LANES;
    if (LANES == 2 && rows < step)
        transpose_narrow_groups(stripe, 0, rows - side, bytes);
    else
        for (int64_t r = 0; r < rows; r += step)
            transpose_narrow_groups(stripe, r + step <= rows ? r : rows - step, side, bytes);
}

/* Rows of 2 to 15 bytes, which lie side by side, to where they belong, and no other byte. */
INLINE void put_rows_of(char *dst, const int64_t *dst_row, const char *rows, int64_t n, int64_t pitch)
{
    for (int64_t r = 0; r < n; r++)
        if (pitch >= 8)
            copy_8_to_16(dst + dst_row[r], rows + r * pitch, pitch);
        else if (pitch >= 4)
            copy_4_to_8(dst + dst_row[r], rows + r * pitch, pitch);
        else if (pitch >= 2)
            copy_2_to_4(dst + dst_row[r], rows + r * pitch, pitch);
}

/* With constants, for the usual ones. */
static void put_rows(char *dst, const int64_t *dst_row, const char *rows, int64_t n, int64_t pitch)
{
    if (pitch == 8)
        put_rows_of(dst, dst_row, rows, n, 8);
    else if (pitch == 4)
        put_rows_of(dst, dst_row, rows, n, 4);
    else
        put_rows_of(dst, dst_row, rows, n, pitch);
}

/* Of so few columns that they fill no lane: many rows at a time are dense ones first, as pixels are. There are as many
 * as a vector has, and in each of several parts, too. */
INLINE void transpose_pixels(const struct stripe *stripe, int bytes, tsr_tile_kernel interleave,
                             void (*narrow)(const struct stripe *stripe))
{
    enum { MANY = 256 };
    static const int64_t here[] = {0};
    char pixels[MANY * 16];
    const int64_t rows = stripe->rows, parts = (rows + MANY - 1) / MANY, many = (rows + parts - 1) / parts;
    for (int64_t r = 0; r < rows; r += many) {
        const int64_t first = r + many <= rows ? r : rows - many;
        const char *src = stripe->src + first * bytes;
        const tsr_tile tile = {.rows = many, .columns = stripe->columns, .src_column = stripe->src_column};
        struct stripe dense = *stripe;
        dense.dst = pixels;
        dense.dst_row = here;
        dense.src = src;
        dense.rows = many;
        if (stripe->columns > TSR_LONGEST_SHORT_SIDE)
            narrow(&dense);
        else
            interleave(pixels, src, &tile);
        put_rows(stripe->dst, stripe->dst_row + first, pixels, many, stripe->columns * bytes);
    }
}
