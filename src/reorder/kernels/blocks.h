/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transposes of every shape, in terms of a vector of LANES lanes of 16 bytes. A compile unit of a
 * rung defines RUNG, as list.inc names it, and what stands below, and includes this file once; that
 * is why it has no include guard.
 *
 *     vec, LANES                       the vector
 *     BLOCK_VECTORS                    as many are held in registers, beside a few others: 8 or 16
 *     vec_load, vec_store              all lanes, side by side
 *     vec_put(to, v, streams)          as vec_store; or past the caches, to a multiple of a vector
 *     vec_gather_lanes(at)             lane l from at[l]
 *     vec_store_lanes(to, v, l, n)     lanes l to l + n - 1, side by side
 *     vec_store_part(to, v, bytes)     the first bytes
 *     vec_store_part_of_lane(to, v, l, bytes)  less than 16 of one; only if there is no NARROWER
 *     vec_put_in_turn(to, v, n, streams)  lane 0 of n vectors, side by side, then lane 1 of all, and so on
 *     vec_put_pairs_in_turn(to, v, n, streams)  lanes 0 and 2 of all, and then lanes 1 and 3, where there are four
 *     vec_zip_low(a, b, bytes)         in each lane: elements of the lower halves of a and b in turn
 *     vec_zip_high(a, b, bytes)        likewise of the upper halves
 *     vec_shuffle(v, order)            in each lane: byte i is byte order[i] of the lane, or 0 if that is 0x80
 *     vec_repeat(bytes)                16 bytes in every lane
 *     shuffle_16(to, from, order)      16 bytes, byte i from byte order[i]
 *     LEAST_BLOCKS                     so many are transposed at a time, even if they do not fit into the registers
 *     PAIRS_OF_BLOCKS                  if there are several lanes: that there are the next three
 *     vec_gather_halves(low, high)     half of the lanes from low on, and half from high on
 *     vec_gather_pairs(at, l, offset)  two lanes from at[l] + offset on, and two from at[l + 2] + offset on, if there are
 *     vec_exchange_lanes(&a, &b)       the odd lanes of a for the even ones of b
 *     NARROWER                         a rung with half as many lanes, if there is one
 *     LINE_VECTORS                     1 or 2 that fill a cache line, if the rung writes past the caches
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/orders.h"
#include "reorder/kernels/template.h"

INLINE int log2_of(int n)
{
    return n == 16 ? 4 : n == 8 ? 3 : n == 4 ? 2 : n == 2 ? 1 : 0;
}

/*
 * The elements of n vectors, taken as one sequence in each lane, are shuffled like a pack of cards:
 * the place of each, as a binary number, is rotated left by one bit a round. A transpose rotates it
 * by as many bits as a row or a column has.
 */
INLINE void zip_rounds(vec *v, int n, int rounds, int bytes)
{
    vec w[16];
#pragma GCC unroll 4
    for (int round = 0; round < rounds; round++) {
#pragma GCC unroll 8
        for (int i = 0; i < n / 2; i++) {
            w[2 * i] = vec_zip_low(v[i], v[i + n / 2], bytes);
            w[2 * i + 1] = vec_zip_high(v[i], v[i + n / 2], bytes);
        }
#pragma GCC unroll 16
        for (int i = 0; i < n; i++)
            v[i] = w[i];
    }
}

/* ---- transposes ---- */

enum { MOST_BLOCKS = BLOCK_VECTORS / 2, LOW_ROWS = 4 };

/* A stripe of a tile: at most as many columns as fill a vector, or a line past the caches; all rows. */
struct stripe {
    char *dst; /* of its first column */
    const int64_t *dst_row;
    const char *src;
    const int64_t *src_column;
    int64_t src_end; /* behind the last column of the tile */
    int64_t rows, columns;
    int64_t stripes; /* so many like this one are side by side, if its kernel takes whole ones */
    bool streams, fetches_ahead;
};

INLINE void go_on(struct stripe *stripe, int bytes)
{
    stripe->dst += stripe->columns * bytes;
    stripe->src_column += stripe->columns;
}

/* How rows are written: each by itself, as whole vectors of rows that are dense, with the next line fetched, or as lines
 * past the caches. And if there are fewer rows than lanes have room for: each by itself, some of them twice. */
enum way { APART, DENSE, AHEAD, PAST, FEW };

/* Rows that have as many bytes as some of the lanes, and continue each other. */
INLINE void store_dense_rows(char *dst, const vec *v, int side, int lanes, bool streams)
{
    if (lanes == 1)
        vec_put_in_turn(dst, v, side, streams);
    else
        vec_put_pairs_in_turn(dst, v, side, streams);
}

/*
 * The next stripe goes on behind v, and there are too many rows for the CPU to foresee that. So the line
 * in which its vector ends is fetched now; the others in which it lies have been by then.
 */
INLINE void store_and_fetch_next(char *to, vec v)
{
    vec_store(to, v);
    __builtin_prefetch(to + 2 * LANES * 16 - 1, 1);
}

/* Writes side rows from the lanes that hold them. */
INLINE void store_rows(const struct stripe *stripe, const vec *v, int64_t first, int bytes, int lane, int lanes,
                       enum way way)
{
    const int side = 16 / bytes;
#pragma GCC unroll 16
    for (int j = 0; j < side; j++) {
        char *to = stripe->dst + stripe->dst_row[first + j];
        if (way == AHEAD)
            store_and_fetch_next(to, v[j]);
        else if (way == PAST)
            vec_put(to, v[j], true);
        else
            vec_store_lanes(to, v[j], lane, lanes);
    }
}

/* Where row group g of a block begins: of a few rows, early enough to be inside. */
INLINE int64_t row_of_group(const struct stripe *stripe, int g, int side, enum way way)
{
    return way != FEW || g * side <= stripe->rows - side ? g * side : stripe->rows - side;
}

/*
 * 16 bytes of a column in each lane: those of one column lie side by side, unless it has few rows; and for dense rows
 * of two of four lanes, so do pairs, which makes them lanes 0 and 1, and 2 and 3.
 */
INLINE vec gather_columns(const char *const at[LANES], int lanes, enum way way)
{
    if (lanes == 1 && way != FEW)
        return vec_load(at[0]);
#ifdef PAIRS_OF_BLOCKS
    if (way == DENSE && lanes == 2)
        return vec_gather_halves(at[0], at[1]);
#endif
    return vec_gather_lanes(at);
}

/*
 * Blocks: 16 bytes of each of lanes * side columns, from a column of the stripe on, which become side rows, and so for
 * `many` blocks one below the other, so that where a column lies is looked up once for all. With fewer lanes than the
 * vector has, the others hold the next rows of one block: lane l has column group l % lanes of row
 * group l / lanes, and where these rows are all that there is, and dense, they fill whole vectors.
 */
INLINE void get_blocks(vec v[][16], const struct stripe *stripe, int64_t first, int64_t column, int bytes, int lanes,
                       int many, enum way way)
{
    const int side = 16 / bytes;
    const char *src = stripe->src + first * bytes;
#pragma GCC unroll 16
    for (int i = 0; i < side; i++) {
        const char *at[LANES];
        for (int l = 0; l < LANES; l++)
            at[l] = src + stripe->src_column[column + l % lanes * side + i] +
                    row_of_group(stripe, l / lanes, side, way) * bytes;
#pragma GCC unroll 8
        for (int b = 0; b < many; b++) {
            v[b][i] = gather_columns(at, lanes, way);
            for (int l = 0; l < LANES; l++)
                at[l] += 16;
        }
    }
#pragma GCC unroll 8
    for (int b = 0; b < many; b++)
        zip_rounds(v[b], side, log2_of(side), bytes);
}

INLINE void transpose_blocks(const struct stripe *stripe, int64_t first, int bytes, int lanes, int many, enum way way)
{
    const int side = 16 / bytes, groups = LANES / lanes;
    vec v[MOST_BLOCKS][16];
    get_blocks(v, stripe, first, 0, bytes, lanes, many, way);
#pragma GCC unroll 8
    for (int b = 0; b < many; b++) {
        if (way == DENSE) {
            char *to = stripe->dst + stripe->dst_row[first];
            store_dense_rows(to, v[b], side, lanes, stripe->streams && (uintptr_t)to % TSR_CACHE_LINE == 0);
        }
#pragma GCC unroll 4
        for (int g = 0; g < groups && way != DENSE; g++)
            store_rows(stripe, v[b], first + b * groups * side + row_of_group(stripe, g, side, way), bytes, g * lanes,
                       lanes, way);
    }
}

#ifdef PAIRS_OF_BLOCKS
/*
 * Of all lanes, as many blocks, two at a time: that halves the loads, and takes one shuffle more at the end. The
 * lanes of a vector are first both blocks of a column and then, if there are four, those of the column two lanes on.
 */
INLINE void get_pairs(vec v[][16], const struct stripe *stripe, int64_t first, int64_t column, int bytes, int many)
{
    const int side = 16 / bytes;
#pragma GCC unroll 16
    for (int i = 0; i < side; i++) {
        const char *at[LANES];
        for (int l = 0; l < LANES; l++)
            at[l] = stripe->src + stripe->src_column[column + l * side + i] + first * bytes;
#pragma GCC unroll 8
        for (int b = 0; b < many; b++)
            v[b][i] = vec_gather_pairs(at, b % 2, b / 2 * 32);
    }
#pragma GCC unroll 8
    for (int b = 0; b < many; b += 2) {
        zip_rounds(v[b], side, log2_of(side), bytes);
        zip_rounds(v[b + 1], side, log2_of(side), bytes);
#pragma GCC unroll 16
        for (int j = 0; j < side; j++)
            vec_exchange_lanes(&v[b][j], &v[b + 1][j]);
    }
}

INLINE void transpose_many(const struct stripe *stripe, int64_t first, int bytes, int many, enum way way)
{
    vec v[MOST_BLOCKS][16];
    get_pairs(v, stripe, first, 0, bytes, many);
#pragma GCC unroll 8
    for (int b = 0; b < many; b++)
        store_rows(stripe, v[b], first + b * 16 / bytes, bytes, 0, LANES, way);
}
#else
/* Of all lanes, as many blocks. */
INLINE void transpose_many(const struct stripe *stripe, int64_t first, int bytes, int many, enum way way)
{
    transpose_blocks(stripe, first, bytes, LANES, many, way);
}
#endif

/* Rows [r, end), many blocks at a time. The last ones begin early enough to be whole: there are as many rows. */
INLINE void transpose_rows(const struct stripe *stripe, int64_t r, int64_t end, int bytes, int lanes, int many,
                           enum way way)
{
    const int64_t step = 16 / bytes * (LANES / lanes) * many;
    for (; r < end; r += step) {
        const int64_t first = r + step <= end ? r : end - step;
        if (many > 1)
            transpose_many(stripe, first, bytes, many, way);
        else
            transpose_blocks(stripe, first, bytes, lanes, many, way);
    }
}

/* Of lanes * side columns. As many blocks as there are registers for, or a pair, and single ones for a few rows that
 * are left. */
INLINE void transpose_whole(const struct stripe *stripe, int bytes, int lanes, enum way way)
{
    const int side = 16 / bytes, fitting = BLOCK_VECTORS / side;
    const int many = lanes < LANES ? 1 : fitting < LEAST_BLOCKS ? LEAST_BLOCKS : fitting;
    const int64_t step = side * many, left = stripe->rows % step;
    int64_t done = 0;
    if (many > 1 && stripe->rows >= step) {
        done = 2 * left > step ? stripe->rows : stripe->rows - left;
        transpose_rows(stripe, 0, done, bytes, lanes, many, way);
    }
    transpose_rows(stripe, done, stripe->rows, bytes, lanes, 1, way);
}

#ifdef LINE_VECTORS
/* Of a line of several vectors: pairs of blocks of so wide elements fit into the registers. */
enum { WIDE_BYTES = 4 };

/*
 * Of columns that fill a cache line. Its vectors are written one behind the other, through the caches, where the next
 * line of each row is fetched if that is asked for, or past them.
 */
INLINE void transpose_lines(const struct stripe *stripe, int bytes)
{
    const int side = 16 / bytes, many = bytes >= WIDE_BYTES ? 2 : 1;
    if (LINE_VECTORS == 1) {
        transpose_whole(stripe, bytes, LANES, PAST);
        return;
    }
    for (int64_t r = 0; r < stripe->rows; r += side * many) {
        const int64_t first = r + side * many <= stripe->rows ? r : stripe->rows - side * many;
        vec v[LINE_VECTORS][2][16];
#pragma GCC unroll 2
        for (int p = 0; p < LINE_VECTORS; p++)
            if (many == 2)
                get_pairs(v[p], stripe, first, p * LANES * side, bytes, many);
            else
                get_blocks(v[p], stripe, first, p * LANES * side, bytes, LANES, many, PAST);
#pragma GCC unroll 16
        for (int j = 0; j < side * many; j++) {
            char *to = stripe->dst + stripe->dst_row[first + j];
#pragma GCC unroll 2
            for (int p = 0; p < LINE_VECTORS; p++)
                vec_put(to + p * 16 * LANES, v[p][j / side][j % side], stripe->streams);
            if (stripe->fetches_ahead)
                __builtin_prefetch(to + 2 * TSR_CACHE_LINE - 1, 1);
        }
    }
}

/* Also where lines are not streamed, unless a vector is one, as the other kernels write lines then, too. */
INLINE bool takes_lines(const tsr_tile *t, int bytes)
{
    const bool is_wide = LINE_VECTORS > 1 && bytes >= WIDE_BYTES;
    return (t->streams || is_wide) && t->rows >= 16 / bytes * (is_wide ? 2 : 1);
}
#else
#define takes_lines(t, bytes) false
#endif

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

/* Of `most` rows or less: as many whole stripes as are inside. Gives the number of columns that are done. */
INLINE int64_t transpose_low(char *dst, const char *src, const tsr_tile *t, int64_t src_end, int bytes, int most)
{
    const int side = 16 / bytes, width = LANES * side;
    int64_t c = 0;
    for (; c + width <= t->columns && is_inside(t->src_column + c, width, src_end); c += width) {
        vec v[16];
#pragma GCC unroll 16
        for (int i = 0; i < side; i++) {
            const char *at[LANES];
            for (int l = 0; l < LANES; l++)
                at[l] = src + t->src_column[c + l * side + i];
            v[i] = vec_gather_lanes(at);
        }
        zip_rounds(v, side, log2_of(side), bytes);
#pragma GCC unroll 16
        for (int j = 0; j < most && j < side; j++)
            if (j < t->rows)
                vec_store(dst + t->dst_row[j] + c * bytes, v[j]);
    }
    return c;
}

/*
 * All of a tile whose rows have 9 to 15 bytes and continue each other: each is written as a lane, of which the next
 * row writes over what is too much. A vector of a column is read at once, so that a lane is a group of rows.
 */
INLINE void transpose_narrow(const struct stripe *stripe, int bytes)
{
    const int side = 16 / bytes;
    const int64_t pitch = stripe->columns * bytes, step = side * LANES;
    for (int64_t r = 0; r < stripe->rows; r += step) {
        const int64_t first = r + step <= stripe->rows ? r : stripe->rows - step;
        char *to = stripe->dst + stripe->dst_row[0] + first * pitch, last[16];
        vec v[16];
#pragma GCC unroll 16
        for (int i = 0; i < side; i++)
            v[i] = vec_load(stripe->src + stripe->src_column[i < stripe->columns ? i : 0] + first * bytes);
        zip_rounds(v, side, log2_of(side), bytes);
#pragma GCC unroll 4
        for (int l = 0; l < LANES; l++)
#pragma GCC unroll 16
            for (int j = 0; j < side; j++, to += pitch)
                vec_store_lanes(l < LANES - 1 || j < side - 1 ? to : last, v[j], l, 1);
        memcpy(to - pitch, last, (size_t)pitch);
    }
}

/* With fewer lanes than there are, the others take further rows. Are there as many? */
INLINE bool has_rows(int64_t rows, int lanes, int side)
{
    return rows >= side * (LANES / lanes);
}

/*
 * The lanes of the next stripe, when so many columns are left of all: as few as hold them and have the
 * rows, if the stripe may begin early enough to be whole; or else as many as are filled, or one that begins early;
 * or 0. At most as many as asked for.
 */
INLINE int lanes_of_stripe(int64_t left, int64_t all, int64_t rows, int side, int most)
{
    int filled = all >= side;
    for (int lanes = 1; lanes <= most; lanes *= 2) {
        if (left <= lanes * side && all >= lanes * side && has_rows(rows, lanes, side))
            return lanes;
        if (lanes * side <= left)
            filled = lanes;
    }
    return filled;
}

/* Rows of a lane or two that continue each other. Those of a vector are like others, unless they are streamed. */
static bool has_dense_rows(const tsr_tile *t, int bytes)
{
    const int64_t pitch = t->columns * bytes;
    return t->has_dense_rows && ((pitch > 8 && pitch <= 16) || pitch == 32) && (pitch < LANES * 16 || t->streams);
}

typedef void (*stripe_kernel)(const struct stripe *stripe);
typedef int64_t (*low_kernel)(char *dst, const char *src, const tsr_tile *t, int64_t src_end);

/* By lanes: of whole stripes, and of those whose rows are dense. Of one lane, with fewer rows than the others have room
 * for. Of all lanes, with lines fetched. Of lines past the caches, or NULL. And for what is not whole. */
struct stripe_kernels {
    stripe_kernel whole[5], few, dense[3], ahead, lines, narrow, part;
    low_kernel low, lowest;   /* of fewer rows than a block has, and of LOW_ROWS at most */
    tsr_tile_kernel narrower; /* of a rung with half as many lanes, or NULL */
};

static stripe_kernel kernel_of(const struct stripe_kernels *kernels, const tsr_tile *t, int side, int lanes,
                               bool is_dense)
{
    if (lanes == 0 || t->rows < side)
        return kernels->part;
    if (!has_rows(t->rows, lanes, side))
        return kernels->few; /* with more lanes there are as many, or a narrower rung does it */
    if (is_dense && t->columns == lanes * side)
        return kernels->dense[lanes];
    return lanes == LANES && t->fetches_ahead ? kernels->ahead : kernels->whole[lanes];
}

/* Do columns fill half as many lanes, and are there too few rows for the others? */
static bool fills_half_of_lanes(const tsr_tile *t, int side)
{
    const int lanes = lanes_of_stripe(t->columns, t->columns, t->rows, side, LANES);
    return lanes > 0 && lanes < LANES && !has_rows(t->rows, lanes, side);
}

/* How many stripes of that width are left. Whole ones are as wide as a number of lanes or a line: their width has one
 * bit. */
INLINE int64_t side_by_side(int64_t left, int64_t width, int64_t rows, int side)
{
    return left < 2 * width || rows < side ? 1 : left >> __builtin_ctzll((unsigned long long)width);
}

/* The columns of a tile from c on. */
INLINE void transpose_stripes(char *dst, struct stripe *stripe, const tsr_tile *t, int64_t c, int bytes, bool is_dense,
                              const struct stripe_kernels *kernels)
{
    const int side = 16 / bytes, most = t->reads_lines && has_rows(t->rows, 1, side) ? 1 : LANES;
    const int64_t line = TSR_CACHE_LINE / bytes;
    const bool has_lines = takes_lines(t, bytes);
    while (c < t->columns) {
        const int64_t left = t->columns - c;
        const bool is_line = has_lines && left >= line;
        const int lanes = lanes_of_stripe(left, t->columns, t->rows, side, most);
        const int64_t width = is_line ? line : lanes > 0 ? lanes * side : left;
        const int64_t first = left < width ? t->columns - width : c;
        stripe->dst = dst + first * bytes;
        stripe->src_column = t->src_column + first;
        stripe->columns = width;
        stripe->stripes = side_by_side(left, width, t->rows, side);
        (is_line ? kernels->lines : kernel_of(kernels, t, side, lanes, is_dense))(stripe);
        c = first + stripe->stripes * width;
    }
}

static void transpose(void *dst, const void *src, const tsr_tile *t, int bytes, const struct stripe_kernels *kernels)
{
    const int side = 16 / bytes;
    const int64_t length = t->rows * bytes, end = length < 16 ? last_of(t->src_column, t->columns) + length : 0;
    const bool is_dense = has_dense_rows(t, bytes), is_low = t->rows > 0 && t->rows < side;
    const bool is_narrow = is_dense && t->columns < side && t->rows >= side * LANES;
    const low_kernel low = t->rows <= LOW_ROWS ? kernels->lowest : kernels->low;
    struct stripe stripe = {dst,     t->dst_row, src, t->src_column, end,
                            t->rows, t->columns, 1,   t->streams,    t->fetches_ahead};
    if (kernels->narrower && !is_narrow && !is_low && fills_half_of_lanes(t, side)) {
        kernels->narrower(dst, src, t);
        return;
    }
    for (int64_t i = 0; i == 0 || i < t->tiles; i++) {
        char *to = (char *)dst + i * t->dst_tile;
        stripe.dst = to;
        stripe.src = (const char *)src + i * t->src_tile;
        if (is_narrow)
            kernels->narrow(&stripe);
        else
            transpose_stripes(to, &stripe, t, is_low ? low(to, stripe.src, t, end) : 0, bytes, is_dense, kernels);
    }
}

/* ---- a short side: n channels of 16-byte groups ---- */

/* From three vectors of pixels to three of channels: each vector has every third element of each channel. */
INLINE void part_thirds(vec v[3], int bytes)
{
    const int side = 16 / bytes;
    const vec a = v[0], b = v[1], c = v[2];
#pragma GCC unroll 3
    for (int r = 0; r < 3; r++) {
        vec in_a = vec_repeat(tsr_every_third[log2_of(bytes)][r]);
        vec in_b = vec_repeat(tsr_every_third[log2_of(bytes)][(r + 2 * side) % 3]);
        vec mixed = (a & in_a) | (((b & in_b) | (c & ~in_b)) & ~in_a);
        v[r] = vec_shuffle(mixed, vec_repeat(tsr_order_third[log2_of(bytes)][r]));
    }
}

/* And back. */
INLINE void join_thirds(vec v[3], int bytes)
{
    const int side = 16 / bytes;
    vec channel[3];
#pragma GCC unroll 3
    for (int r = 0; r < 3; r++)
        channel[r] = vec_shuffle(v[r], vec_repeat(tsr_spread_third[log2_of(bytes)][r]));
#pragma GCC unroll 3
    for (int j = 0; j < 3; j++) {
        vec of_0 = vec_repeat(tsr_every_third[log2_of(bytes)][2 * j * side % 3]);
        vec of_1 = vec_repeat(tsr_every_third[log2_of(bytes)][(1 + 2 * j * side) % 3]);
        v[j] = (channel[0] & of_0) | (((channel[1] & of_1) | (channel[2] & ~of_1)) & ~of_0);
    }
}

/* Other numbers of channels: each vector gives what it has of the result, and zeros. */
INLINE void shuffle_all(vec v[8], int n, const uint8_t order[7][7][16])
{
    vec w[8];
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) {
        w[i] = vec_shuffle(v[0], vec_repeat(order[i][0]));
#pragma GCC unroll 8
        for (int j = 1; j < n; j++)
            w[i] |= vec_shuffle(v[j], vec_repeat(order[i][j]));
    }
#pragma GCC unroll 8
    for (int i = 0; i < n; i++)
        v[i] = w[i];
}

/* From n vectors of pixels to n of channels. */
INLINE void part_channels(vec v[8], int n, int bytes)
{
    if (n == 3)
        part_thirds(v, bytes);
    else if (n < 5 || n == 8)
        zip_rounds(v, n, log2_of(16 / bytes), bytes);
    else
        shuffle_all(v, n, tsr_part_order[log2_of(bytes)][n - 5]);
}

INLINE void join_channels(vec v[8], int n, int bytes)
{
    if (n == 3)
        join_thirds(v, bytes);
    else if (n < 5 || n == 8)
        zip_rounds(v, n, log2_of(n), bytes);
    else
        shuffle_all(v, n, tsr_join_order[log2_of(bytes)][n - 5]);
}

INLINE void deinterleave(char *dst, const char *src, const tsr_tile *t, int n, int bytes)
{
    const int64_t pixels = LANES * 16 / bytes, group = 16 * n;
    for (int64_t c = 0; c < t->columns; c += pixels) {
        int64_t first = c + pixels <= t->columns ? c : t->columns - pixels;
        vec v[8];
        if (t->fetches_ahead)
            fetch_pixels(src + first * n * bytes, LANES * group);
#pragma GCC unroll 8
        for (int j = 0; j < n; j++) {
            const char *at[LANES];
            for (int l = 0; l < LANES; l++)
                at[l] = src + first * n * bytes + l * group + 16 * j;
            v[j] = vec_gather_lanes(at);
        }
        part_channels(v, n, bytes);
#pragma GCC unroll 8
        for (int j = 0; j < n; j++)
            vec_store(dst + t->dst_row[j] + first * bytes, v[j]);
    }
}

INLINE void interleave(char *dst, const char *src, const tsr_tile *t, int n, int bytes)
{
    const int64_t pixels = LANES * 16 / bytes;
    for (int64_t r = 0; r < t->rows; r += pixels) {
        int64_t first = r + pixels <= t->rows ? r : t->rows - pixels;
        vec v[8];
#pragma GCC unroll 8
        for (int j = 0; j < n; j++)
            v[j] = vec_load(src + t->src_column[j] + first * bytes);
        join_channels(v, n, bytes);
        vec_put_in_turn(dst + first * n * bytes, v, n, t->streams && first == r);
    }
}

#include "reorder/kernels/pieces.h"

/* ---- rows in lanes ---- */

/* Bytes of each row that have been written then. */
static int64_t shuffle_lanes(char *dst, const char *src, const tsr_tile *t)
{
    const int64_t columns = t->columns;
    const tsr_lane *lane = t->lanes;
    for (int64_t r = 0; r < t->rows; r++) {
        char *to = dst + t->dst_row[r];
        const char *from = src + t->src_row[r];
        for (lane = t->lanes; lane->columns <= columns; lane++)
            shuffle_16(to + lane->dst, from + lane->src, lane->order);
    }
    return lane->dst;
}

/* ---- the kernels ---- */

/* Functions of their own, as small as compilers and sanitizers want them. */
#define SHORT_SIDE(family, bits, n)                                                                                    \
    __attribute__((noinline)) static void family##_##bits##_by_##n(void *dst, const void *src, const tsr_tile *t)      \
    {                                                                                                                  \
        family(dst, src, t, n, (bits) / 8);                                                                            \
    }

#define FOR_SHORT_SIDES(f, ...)                                                                                        \
    f(__VA_ARGS__, 2) f(__VA_ARGS__, 3) f(__VA_ARGS__, 4) f(__VA_ARGS__, 5) f(__VA_ARGS__, 6) f(__VA_ARGS__, 7)        \
        f(__VA_ARGS__, 8)

#define BY_SHORT_SIDE(name)                                                                                            \
    {                                                                                                                  \
        name##_by_2, name##_by_3, name##_by_4, name##_by_5, name##_by_6, name##_by_7, name##_by_8                      \
    }

#define SHORT_SIDES(bits)                                                                                              \
    FOR_SHORT_SIDES(SHORT_SIDE, interleave, bits)                                                                      \
    FOR_SHORT_SIDES(SHORT_SIDE, deinterleave, bits)                                                                    \
    PIECES(bits)                                                                                                       \
    void NAME(interleave_##bits)(void *dst, const void *src, const tsr_tile *t)                                        \
    {                                                                                                                  \
        static const tsr_tile_kernel by[] = BY_SHORT_SIDE(interleave_##bits);                                          \
        if (t->pieces > 0 && t->rows >= LANES * 256 / (bits))                                                          \
            join_one_by_one(dst, src, t, (bits) / 8, by[t->columns - 2]);                                              \
        else if (t->pieces > 0)                                                                                        \
            joined_pieces_##bits(dst, src, t);                                                                         \
        else                                                                                                           \
            (t->rows < LANES * 128 / (bits) ? tsr_interleave_##bits##_c : by[t->columns - 2])(dst, src, t);            \
    }                                                                                                                  \
    void NAME(deinterleave_##bits)(void *dst, const void *src, const tsr_tile *t)                                      \
    {                                                                                                                  \
        static const tsr_tile_kernel by[] = BY_SHORT_SIDE(deinterleave_##bits);                                        \
        if (t->pieces > 0 && t->columns >= LANES * 256 / (bits))                                                       \
            part_one_by_one(dst, src, t, (bits) / 8, by[t->rows - 2]);                                                 \
        else if (t->pieces > 0)                                                                                        \
            parted_pieces_##bits(dst, src, t);                                                                         \
        else                                                                                                           \
            (t->columns < LANES * 128 / (bits) ? tsr_deinterleave_##bits##_c : by[t->rows - 2])(dst, src, t);          \
    }

#ifdef NARROWER
#define NARROWER_TRANSPOSE(bits) EXPANDED(transpose_##bits, NARROWER)
#else
#define NARROWER_TRANSPOSE(bits) NULL
#endif

#define STRIPE(bits, lanes, name, way)                                                                                 \
    __attribute__((noinline)) static void name##_stripe_##bits##_of_##lanes(const struct stripe *stripe)               \
    {                                                                                                                  \
        struct stripe one = *stripe;                                                                                   \
        for (int64_t i = 0; i < stripe->stripes; i++, go_on(&one, (bits) / 8))                                         \
            transpose_whole(&one, (bits) / 8, (lanes) <= LANES ? (lanes) : LANES,                                      \
                            (lanes) < LANES || (way) == AHEAD ? (way)                                                  \
                            : (way) == DENSE                  ? PAST                                                   \
                                                              : APART);                                                                 \
    }

#ifdef LINE_VECTORS
#define LINES(bits)                                                                                                    \
    __attribute__((noinline)) static void lines_##bits(const struct stripe *stripe)                                    \
    {                                                                                                                  \
        struct stripe one = *stripe;                                                                                   \
        for (int64_t i = 0; i < stripe->stripes; i++, go_on(&one, (bits) / 8))                                         \
            transpose_lines(&one, (bits) / 8);                                                                         \
    }
#define LINES_OF(bits) lines_##bits
#else
#define LINES(bits)
#define LINES_OF(bits) NULL
#endif

#define LOW(bits, name, most)                                                                                          \
    __attribute__((noinline)) static int64_t name##_##bits(char *dst, const char *src, const tsr_tile *t,              \
                                                           int64_t src_end)                                            \
    {                                                                                                                  \
        return transpose_low(dst, src, t, src_end, (bits) / 8, most);                                                  \
    }

#define TRANSPOSES(bits)                                                                                               \
    STRIPE(bits, 1, whole, APART)                                                                                      \
    STRIPE(bits, 2, whole, APART)                                                                                      \
    STRIPE(bits, 4, whole, APART)                                                                                      \
    STRIPE(bits, 1, dense, DENSE)                                                                                      \
    STRIPE(bits, 2, dense, DENSE)                                                                                      \
    STRIPE(bits, 4, ahead, AHEAD)                                                                                      \
    LINES(bits)                                                                                                        \
    __attribute__((noinline)) static void few_rows_##bits(const struct stripe *stripe)                                 \
    {                                                                                                                  \
        transpose_blocks(stripe, 0, (bits) / 8, 1, 1, FEW);                                                            \
    }                                                                                                                  \
    __attribute__((noinline)) static void part_of_stripe_##bits(const struct stripe *stripe)                           \
    {                                                                                                                  \
        transpose_part(stripe, (bits) / 8);                                                                            \
    }                                                                                                                  \
    __attribute__((noinline)) static void narrow_stripe_##bits(const struct stripe *stripe)                            \
    {                                                                                                                  \
        transpose_narrow(stripe, (bits) / 8);                                                                          \
    }                                                                                                                  \
    LOW(bits, low, 16)                                                                                                 \
    LOW(bits, lowest, LOW_ROWS)                                                                                        \
    void NAME(transpose_##bits)(void *dst, const void *src, const tsr_tile *t)                                         \
    {                                                                                                                  \
        static const struct stripe_kernels kernels = {                                                                 \
            {[1] = whole_stripe_##bits##_of_1, [2] = whole_stripe_##bits##_of_2, [4] = whole_stripe_##bits##_of_4},    \
            few_rows_##bits,                                                                                           \
            {[1] = dense_stripe_##bits##_of_1, [2] = dense_stripe_##bits##_of_2},                                      \
            ahead_stripe_##bits##_of_4,                                                                                \
            LINES_OF(bits),                                                                                            \
            narrow_stripe_##bits,                                                                                      \
            part_of_stripe_##bits,                                                                                     \
            low_##bits,                                                                                                \
            lowest_##bits,                                                                                             \
            NARROWER_TRANSPOSE(bits)};                                                                                 \
        transpose(dst, src, t, (bits) / 8, &kernels);                                                                  \
    }                                                                                                                  \
    void NAME(shuffle_##bits)(void *dst, const void *src, const tsr_tile *t)                                           \
    {                                                                                                                  \
        const int64_t done = shuffle_lanes(dst, src, t), columns = done / ((bits) / 8);                                \
        const tsr_tile rest = {.rows = t->rows,                                                                        \
                               .columns = t->columns - columns,                                                        \
                               .dst_row = t->dst_row,                                                                  \
                               .src_row = t->src_row,                                                                  \
                               .src_column = t->src_column + columns};                                                 \
        tsr_shuffle_##bits##_c((char *)dst + done, src, &rest);                                                        \
    }                                                                                                                  \
    SHORT_SIDES(bits)

TRANSPOSES(8)
TRANSPOSES(16)
TRANSPOSES(32)
TRANSPOSES(64)
