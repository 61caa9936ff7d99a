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
 * less. Of the columns, as many as a block has, each lane of v[j] has row j of its group afterwards. */
INLINE void get_groups(vec v[16], const struct stripe *stripe, const int64_t column[16], int64_t first, int64_t behind,
                       int bytes)
{
    const int side = 16 / bytes;
    const char *src = stripe->src + first * bytes;
#pragma GCC unroll 16
    for (int i = 0; i < side; i++) {
        const char *at[LANES];
        for (int l = 0; l < LANES; l++)
            at[l] = src + column[i] + l * behind * bytes;
        v[i] = behind == side ? vec_load(at[0]) : vec_gather_lanes(at);
    }
    zip_rounds(v, side, log2_of(side), bytes);
}

/* Each row is written as a lane, of which the next row writes over what is too much. */
INLINE void transpose_narrow_groups(const struct stripe *stripe, int64_t first, int64_t behind, int bytes)
{
    const int side = 16 / bytes;
    const int64_t pitch = stripe->columns * bytes;
    char *group = stripe->dst + stripe->dst_row[0] + first * pitch, *to = group, last[16];
    int64_t column[16];
    vec v[16];
#pragma GCC unroll 16
    for (int i = 0; i < side; i++)
        column[i] = stripe->src_column[i < stripe->columns ? i : 0];
    get_groups(v, stripe, column, first, behind, bytes);
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

/* Rows of 2, 3, 4 or 8 bytes, which lie side by side, to where they belong, and no other byte. */
static void put_rows(char *dst, const int64_t *dst_row, const char *rows, int64_t n, int64_t pitch)
{
    if (pitch == 8)
        for (int64_t r = 0; r < n; r++)
            *(u64_any *)(dst + dst_row[r]) = *(const u64_any *)(rows + r * 8);
    else if (pitch == 4)
        for (int64_t r = 0; r < n; r++)
            *(u32_any *)(dst + dst_row[r]) = *(const u32_any *)(rows + r * 4);
    else
        for (int64_t r = 0; r < n; r++)
            copy_2_to_4(dst + dst_row[r], rows + r * pitch, pitch);
}

/* A row of which two parts have all, side by side at the begin of lane l. */
INLINE void store_ends(char *to, vec v, int l, int part, int64_t last)
{
    typedef uint32_t words __attribute__((vector_size(sizeof(vec))));
    typedef uint64_t double_words __attribute__((vector_size(sizeof(vec))));
    if (part == 8) {
        *(u64_any *)to = ((double_words)v)[2 * l];
        *(u64_any *)(to + last) = ((double_words)v)[2 * l + 1];
    } else {
        *(u32_any *)to = ((words)v)[4 * l];
        *(u32_any *)(to + last) = ((words)v)[4 * l + 1];
    }
}

/* Of the groups, those of some lanes. The first columns of a block are those of one part, and the next ones those of
 * the other. */
INLINE void transpose_group_ends(const struct stripe *stripe, int64_t first, int lanes, int64_t behind, int part,
                                 int bytes)
{
    const int side = 16 / bytes, n = part / bytes;
    const int64_t last = stripe->columns - n;
    int64_t column[16];
    vec v[16];
#pragma GCC unroll 16
    for (int i = 0; i < side; i++)
        column[i] = stripe->src_column[i < n ? i : i < 2 * n ? last + i - n : 0];
    get_groups(v, stripe, column, first, behind, bytes);
#pragma GCC unroll 4
    for (int l = 0; l < lanes; l++)
#pragma GCC unroll 16
        for (int j = 0; j < side; j++)
            store_ends(stripe->dst + stripe->dst_row[first + l * behind + j], v[j], l, part, last * bytes);
}

/* Rows of which two parts of 4 or 8 bytes have all, some of it both, wherever they belong: no other byte is written,
 * and nothing is read again. There are as many as a vector has; or as a lane, of two. */
INLINE void transpose_ends(const struct stripe *stripe, int part, int bytes)
{
    const int side = 16 / bytes;
    const int64_t rows = stripe->rows, step = side * LANES;
    if (LANES == 2 && rows == side)
        transpose_group_ends(stripe, 0, 1, 0, part, bytes);
    else if (LANES == 2 && rows < step)
        transpose_group_ends(stripe, 0, LANES, rows - side, part, bytes);
    else
        for (int64_t r = 0; r < rows; r += step)
            transpose_group_ends(stripe, r + step <= rows ? r : rows - step, LANES, side, part, bytes);
}

/* Of so few columns that they fill no lane: many rows at a time are dense ones first, as pixels are. There are as many
 * as a vector has, and in each of several parts, too. */
INLINE void transpose_pixels(const struct stripe *stripe, int bytes, tsr_tile_kernel interleave)
{
    enum { MANY = 256 };
    char pixels[MANY * 8];
    const int64_t rows = stripe->rows, parts = (rows + MANY - 1) / MANY, many = (rows + parts - 1) / parts;
    for (int64_t r = 0; r < rows; r += many) {
        const int64_t first = r + many <= rows ? r : rows - many;
        const char *src = stripe->src + first * bytes;
        const tsr_tile tile = {.rows = many, .columns = stripe->columns, .src_column = stripe->src_column};
        interleave(pixels, src, &tile);
        put_rows(stripe->dst, stripe->dst_row + first, pixels, many, stripe->columns * bytes);
    }
}
