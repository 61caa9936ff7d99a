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

/*
 * Where 16 bytes of each column can be read, although it may have fewer. What is read too much lies
 * between needed bytes of other columns, or else the column is moved to where there is room.
 */
INLINE void find_columns(const struct stripe *stripe, int bytes, const char *at[LANES * 16], char room[LANES * 16][16])
{
    const int64_t length = stripe->rows * bytes;
    for (int64_t c = 0; c < stripe->columns; c++)
        at[c] = stripe->src + stripe->src_column[c];
    if (length < 16 && last_of(stripe->src_column, stripe->columns) + 16 > stripe->src_end)
        for (int64_t c = 0; c < stripe->columns; c++)
            if (stripe->src_column[c] + 16 > stripe->src_end) {
                memset(room[c], 0, 16);
                at[c] = memcpy(room[c], at[c], (size_t)length);
            }
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

/* 16 bytes of each column of a whole stripe, lane l of vector i having those of column l * side + i: from the rows on,
 * or, if there is an `order`, some that end with them, of which it drops the first ones. */
INLINE void get_stripe(vec v[16], const char *src, const int64_t *src_column, const uint8_t *order, int side)
{
#pragma GCC unroll 16
    for (int i = 0; i < side; i++) {
        const char *at[LANES];
        for (int l = 0; l < LANES; l++)
            at[l] = src + src_column[l * side + i];
        v[i] = vec_gather_lanes(at);
        if (order)
            v[i] = vec_shuffle(v[i], vec_repeat(order));
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

/* Where each byte of a lane comes from if it begins so many bytes before the rows: they come first, zeros last. */
INLINE void order_behind(uint8_t order[16], int64_t skipped)
{
    for (int64_t i = 0; i < 16; i++)
        order[i] = (uint8_t)(i + skipped < 16 ? i + skipped : TSR_FROM_ELSEWHERE);
}

INLINE void transpose_last_low_stripe(char *dst, const char *src, const tsr_tile *t, int64_t c, int bytes, int most)
{
    const int side = 16 / bytes;
    const int64_t skipped = 16 - t->rows * bytes;
    uint8_t order[16];
    vec v[16];
    order_behind(order, skipped);
    get_stripe(v, src - skipped, t->src_column + c, order, side);
    zip_rounds(v, side, log2_of(side), bytes);
    put_low(dst + c * bytes, t->dst_row, v, t->rows, side, most);
}

/* Of fewer columns than two lanes hold: the second lane has the last ones, some of which the first one has as well, and
 * reads what ends with the rows of each, as a last stripe does. */
INLINE void transpose_overlapping_lanes(char *dst, const char *src, const tsr_tile *t, int64_t last, int bytes,
                                        int most)
{
    const int side = 16 / bytes;
    const int64_t skipped = 16 - t->rows * bytes;
    uint8_t order[LANES * 16];
    vec v[16];
    for (int l = 0; l < LANES; l++)
        order_behind(order + 16 * l, l == 0 ? 0 : skipped);
#pragma GCC unroll 16
    for (int i = 0; i < side; i++) {
        const char *at[LANES];
        for (int l = 0; l < LANES; l++)
            at[l] = src + (l == 0 ? t->src_column[i] : t->src_column[last + i] - skipped);
        v[i] = vec_shuffle(vec_gather_lanes(at), vec_load((const char *)order));
    }
    zip_rounds(v, side, log2_of(side), bytes);
#pragma GCC unroll 16
    for (int j = 0; j < most && j < side; j++)
        for (int l = 0; l < LANES && j < t->rows; l++)
            vec_store_lanes(dst + t->dst_row[j] + (l == 0 ? 0 : last * bytes), v[j], l, 1);
}

typedef void (*low_stripe_kernel)(char *dst, const char *src, const tsr_tile *t, int64_t c);

/* May a stripe that is full end with the last column, if it reads what ends with the rows? */
INLINE bool is_last_inside(const int64_t *src_column, int64_t columns, int width, int64_t skipped)
{
    return columns >= width && first_of(src_column + columns - width, width) - skipped >= first_of(src_column, columns);
}

/* Of `most` rows or less: as many whole stripes as are inside. The last one begins early enough to be whole, and has a
 * kernel of its own, also where it is the only one, of overlapping lanes. Gives the number of columns that are done. */
INLINE int64_t transpose_low(char *dst, const char *src, const tsr_tile *t, int64_t src_end, int bytes, int most,
                             low_stripe_kernel last_stripe, low_stripe_kernel overlapping)
{
    const int side = 16 / bytes, width = LANES * side;
    const int64_t rows = t->rows, columns = t->columns, *dst_row = t->dst_row, *src_column = t->src_column;
    const int64_t skipped = 16 - rows * bytes;
    int64_t c = 0;
    if (LANES == 2 && columns < width && is_last_inside(src_column, columns, side, skipped) &&
        is_inside(src_column, side, src_end)) {
        overlapping(dst, src, t, columns - side);
        return columns;
    }
    for (; c + width <= columns && is_inside(src_column + c, width, src_end); c += width) {
        vec v[16];
        get_stripe(v, src, src_column + c, NULL, side);
        zip_rounds(v, side, log2_of(side), bytes);
        put_low(dst + c * bytes, dst_row, v, rows, side, most);
    }
    if (c == columns || c < columns - width || !is_last_inside(src_column, columns, width, skipped))
        return c;
    last_stripe(dst, src, t, columns - width);
    return columns;
}
