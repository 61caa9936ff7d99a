/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles of fewer rows than a block has, of which not every column has 16 bytes to be read. A part of transpose.h.
 */

INLINE int64_t last_of(const int64_t *column, int64_t n)
{
    int64_t last = column[0];
    for (int64_t c = 1; c < n; c++)
        last = column[c] > last ? column[c] : last;
    return last;
}

/* Of a tile that another one follows, what lies between them can be read as well. */
INLINE int64_t end_with_next(const tsr_tile *t, int64_t src_end)
{
    return t->src_tile > 0 ? src_end + t->src_tile : src_end;
}

/* n bytes, 0 to 15; which compilers are told. */
INLINE void copy_part_of_lane(char *to, const char *from, int64_t n)
{
    const unsigned bytes = (unsigned)n % 16;
    if (bytes >= 8)
        copy_8_to_16(to, from, bytes);
    else if (bytes >= 4)
        copy_4_to_8(to, from, bytes);
    else if (bytes >= 2)
        copy_2_to_4(to, from, bytes);
    else if (bytes == 1)
        *to = *from;
}

/* Where 16 bytes of a column can be read, although it may have fewer, n. What is read too much lies between needed
 * bytes of other columns or tiles, or else the column is moved to where there is room. */
INLINE const char *readable_column(const char *src, int64_t column, int64_t src_end, int64_t n, char room[16])
{
    if (n >= 16 || column + 16 <= src_end)
        return src + column;
    memset(room, 0, 16);
    copy_part_of_lane(room, src + column, n);
    return room;
}

/* Those of a stripe, and the last of them for lanes that have none. */
INLINE void find_columns(const struct stripe *stripe, int bytes, const char *at[LANES * 16], char room[LANES * 16][16])
{
    for (int64_t c = 0; c < stripe->columns; c++)
        at[c] = readable_column(stripe->src, stripe->src_column[c], stripe->src_end, stripe->rows * bytes, room[c]);
    for (int64_t c = stripe->columns; c < LANES * 16 / bytes; c++)
        at[c] = at[stripe->columns - 1];
}

/* Of fewer rows or columns, whatever they are. */
INLINE void transpose_part(const struct stripe *stripe, int bytes)
{
    const int side = 16 / bytes;
    const char *at[LANES * 16];
    char room[LANES * 16][16];
    const bool is_full = stripe->columns == LANES * side;
    find_columns(stripe, bytes, at, room);
    for (int64_t r = 0; r < stripe->rows; r += side) {
        int64_t first = r + side <= stripe->rows || r == 0 ? r : stripe->rows - side;
        vec v[16];
#pragma GCC unroll 16
        for (int i = 0; i < side; i++) {
            const char *here[LANES];
            for (int l = 0; l < LANES; l++)
                here[l] = at[l * side + i] + first * bytes;
            v[i] = vec_gather_lanes(here);
        }
        zip_rounds(v, side, log2_of(side), bytes);
#pragma GCC unroll 16
        for (int j = 0; j < side; j++)
            if (first + j < stripe->rows && is_full)
                vec_store(stripe->dst + stripe->dst_row[first + j], v[j]);
            else if (first + j < stripe->rows)
                vec_store_part(stripe->dst + stripe->dst_row[first + j], v[j], stripe->columns * bytes);
    }
}

/* May 16 bytes of each of the columns of a whole stripe be read? */
INLINE bool is_inside(const int64_t *src_column, int width, int64_t src_end)
{
    int64_t room = 0;
    for (int c = 0; c < width; c++)
        room |= src_end - 16 - src_column[c]; /* is negative if any is */
    return room >= 0;
}

/* 16 bytes of each column of a whole stripe, lane l of vector i having those of column l * side + i. */
INLINE void get_stripe(vec v[16], const char *src, const int64_t *src_column, int side)
{
#pragma GCC unroll 16
    for (int i = 0; i < side; i++) {
        const char *at[LANES];
        for (int l = 0; l < LANES; l++)
            at[l] = src + src_column[l * side + i];
        v[i] = vec_gather_lanes(at);
    }
}

/* As many rows as a tile has, and `most` at most. */
INLINE void put_low(char *dst, const int64_t *dst_row, vec v[16], int64_t rows, int side, int most)
{
#pragma GCC unroll 16
    for (int j = 0; j < most && j < side; j++)
        if (j < rows)
            vec_store(dst + dst_row[j], v[j]);
}

/* Those of which not all are inside, n bytes of each: lane l has as many as a block has, from its own place on. */
INLINE void get_low_lanes(vec v[16], const char *const src[LANES], const int64_t *const src_column[LANES],
                          int64_t src_end, int64_t n, int side)
{
    char room[LANES * 16][16];
#pragma GCC unroll 16
    for (int i = 0; i < side; i++) {
        const char *at[LANES];
        for (int l = 0; l < LANES; l++)
            at[l] = readable_column(src[l], src_column[l][i], src_end, n, room[l * side + i]);
        v[i] = vec_gather_lanes(at);
    }
}

/* Each lane to its own place. */
INLINE void put_low_lanes(char *const dst[LANES], const int64_t *dst_row, vec v[16], int64_t rows, int side, int most)
{
#pragma GCC unroll 16
    for (int j = 0; j < most && j < side; j++)
        for (int l = 0; l < LANES && j < rows; l++)
            vec_store_lanes(dst[l] + dst_row[j], v[j], l, 1);
}

/* A whole stripe, of which not all columns are inside. */
INLINE void transpose_low_stripe(char *dst, const char *src, const tsr_tile *t, int64_t c, int64_t src_end, int bytes,
                                 int most)
{
    const int side = 16 / bytes;
    const char *from[LANES];
    const int64_t *column[LANES];
    vec v[16];
    for (int l = 0; l < LANES; l++) {
        from[l] = src;
        column[l] = t->src_column + c + l * side;
    }
    get_low_lanes(v, from, column, src_end, t->rows * bytes, side);
    zip_rounds(v, side, log2_of(side), bytes);
    put_low(dst + c * bytes, t->dst_row, v, t->rows, side, most);
}

/* Of fewer columns than two lanes hold: the second lane has the last ones, some of which the first one has as well. */
INLINE void transpose_overlapping_lanes(char *dst, const char *src, const tsr_tile *t, int64_t last, int64_t src_end,
                                        int bytes, int most)
{
    const int side = 16 / bytes;
    const char *from[LANES];
    const int64_t *column[LANES];
    char *to[LANES];
    vec v[16];
    for (int l = 0; l < LANES; l++) {
        const int64_t first = l == 0 ? 0 : last;
        from[l] = src;
        column[l] = t->src_column + first;
        to[l] = dst + first * bytes;
    }
    get_low_lanes(v, from, column, src_end, t->rows * bytes, side);
    zip_rounds(v, side, log2_of(side), bytes);
    put_low_lanes(to, t->dst_row, v, t->rows, side, most);
}

/* Tiles that are a block of a lane but for its last rows, one in each lane. The last tiles may be some that have been
 * done. */
INLINE void transpose_low_tiles(char *dst, const char *src, const tsr_tile *t, int64_t src_end, int bytes)
{
    const int side = 16 / bytes;
    for (int64_t next = 0; next < t->tiles; next += LANES) {
        const int64_t first = next + LANES <= t->tiles ? next : t->tiles - LANES;
        const int64_t end = first + LANES < t->tiles ? end_with_next(t, src_end) : src_end;
        const char *from[LANES];
        const int64_t *column[LANES];
        char *to[LANES];
        vec v[16];
        for (int l = 0; l < LANES; l++) {
            from[l] = src + (first + l) * t->src_tile;
            column[l] = t->src_column;
            to[l] = dst + (first + l) * t->dst_tile;
        }
        get_low_lanes(v, from, column, end, t->rows * bytes, side);
        zip_rounds(v, side, log2_of(side), bytes);
        put_low_lanes(to, t->dst_row, v, t->rows, side, side);
    }
}

typedef void (*low_stripe_kernel)(char *dst, const char *src, const tsr_tile *t, int64_t c, int64_t src_end);

/* Of `most` rows or less: whole stripes, as many as are inside by code without a condition. The last one begins early
 * enough to be whole. Those that are not inside have a kernel of their own, and so have overlapping lanes. Gives the
 * number of columns that are done. */
INLINE int64_t transpose_low(char *dst, const char *src, const tsr_tile *t, int64_t src_end, int bytes, int most,
                             low_stripe_kernel stripe, low_stripe_kernel overlapping)
{
    const int side = 16 / bytes, width = LANES * side;
    const int64_t rows = t->rows, columns = t->columns, *dst_row = t->dst_row, *src_column = t->src_column;
    int64_t c = 0;
    if (LANES == 2 && columns >= side && columns < width) {
        overlapping(dst, src, t, columns - side, src_end);
        return columns;
    }
    if (columns < width)
        return 0;
    for (; c + width <= columns && is_inside(src_column + c, width, src_end); c += width) {
        vec v[16];
        get_stripe(v, src, src_column + c, side);
        zip_rounds(v, side, log2_of(side), bytes);
        put_low(dst + c * bytes, dst_row, v, rows, side, most);
    }
    for (; c < columns; c += width)
        stripe(dst, src, t, c + width <= columns ? c : columns - width, src_end);
    return columns;
}
