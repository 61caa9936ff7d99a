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
 *     HIDDEN_LANES                     if there is a way that prefetchers do not follow:
 *     vec_gather_hidden_lanes(at)      likewise
 *     vec_store_lanes(to, v, l, n)     lanes l to l + n - 1, side by side
 *     vec_store_part(to, v, bytes)     the first bytes
 *     vec_store_part_of_lane(to, v, l, bytes)  less than 16 of one; only if there is no NARROWER
 *     vec_put_in_turn(to, v, n, streams)  lane 0 of n vectors, side by side, then lane 1 of all, and so on
 *     vec_put_pairs_in_turn(to, v, n, streams)  lanes 0 and 2 of all, and then lanes 1 and 3, where there are four
 *     vec_put_tiles(to, v, n, pitch, streams)  lane l of all, side by side from l * pitch on; if LANES_HAVE_TILES
 *     vec_zip_low(a, b, bytes)         in each lane: elements of the lower halves of a and b in turn
 *     vec_zip_high(a, b, bytes)        likewise of the upper halves
 *     vec_shuffle(v, order)            in each lane: byte i is byte order[i] of the lane, or 0 if that is 0x80
 *     vec_turn_lanes(v)                the last lane first
 *     vec_choose(mask, a, b)           bytes of a where those of the mask are 255, and of b where they are 0
 *     vec_repeat(bytes)                16 bytes in every lane
 *     lane_load(from), lane_store(to, v), lane_store_part(to, v, bytes)  one lane, or its first bytes
 *     lane_shuffle(v, order)           byte i is byte order[i], or 0 if that is 0x80
 *     LEAST_BLOCKS                     so many are transposed at a time, even if they do not fit into the registers,
 *                                      where pairs are to be read
 *     PAIRS_OF_LANES                   if there are four lanes: that there is
 *     vec_gather_halves(low, high)     two lanes from low on, and two from high on
 *     PAIRS_OF_BLOCKS                  if there are several lanes: that there are
 *     vec_gather_pairs(at, l, offset)  two lanes from at[l] + offset on, and of four, two from at[l + 2] + offset on
 *     vec_exchange_lanes(&a, &b)       the odd lanes of a for the even ones of b
 *     NARROWER                         a rung with half as many lanes, if there is one that all of its families have
 *     ONE_LANE                         or else, if this one has more, one of one lane for pixels and odd units alone
 *     OWN_ODD_PIXELS                   if the rung has a way of its own for pixels of some odd numbers of elements, as
 *                                      x86/odd_pixels.h: are_own_odd_pixels, part_odd_pixels, join_odd_pixels, and
 *                                      transpose_nine
 *     LINE_VECTORS                     1 or 2 that fill a cache line, if the rung writes past the caches
 *     vec_join(a, b, begin, bytes)     then: from byte `begin` of a on, as much as a vector has, b being behind a;
 *                                      0 to a vector less 1, a multiple of `bytes`
 */
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/orders.h"
#include "reorder/kernels/template.h"
#include "reorder/kernels/unaligned.h"

/* Several lanes may have a tile each. A narrower rung, if there is one, has those that fill its lanes so. */
#if defined(PAIRS_OF_BLOCKS) && !defined(NARROWER)
#define LANES_HAVE_TILES
#endif

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
        vec mixed = vec_choose(in_a, a, vec_choose(in_b, b, c));
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
        v[j] = vec_choose(of_0, channel[0], vec_choose(of_1, channel[1], channel[2]));
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

/* So many channels are parted and joined by zipping. */
INLINE bool are_zipped(int n)
{
    return n == 2 || n == 4 || n == 8;
}

/* From n vectors of pixels to n of channels, if a lane has more than one of these. */
INLINE void part_channels(vec v[8], int n, int bytes)
{
    if (bytes == 16)
        return;
    if (n == 3)
        part_thirds(v, bytes);
    else if (are_zipped(n))
        zip_rounds(v, n, log2_of(16 / bytes), bytes);
    else
        shuffle_all(v, n, tsr_part_order[log2_of(bytes)][n - 5]);
}

INLINE void join_channels(vec v[8], int n, int bytes)
{
    if (bytes == 16)
        return;
    if (n == 3)
        join_thirds(v, bytes);
    else if (are_zipped(n))
        zip_rounds(v, n, log2_of(n), bytes);
    else
        shuffle_all(v, n, tsr_join_order[log2_of(bytes)][n - 5]);
}

/* Where lanes come from that are so many bytes from each other. */
INLINE void lay_lanes(const char *at[LANES], const char *src, int64_t distance)
{
    for (int l = 0; l < LANES; l++)
        at[l] = src + l * distance;
}

/* Where they come from that begin so many bytes further on. */
INLINE void advance_lanes(const char *at[LANES], const char *const from[LANES], int64_t bytes)
{
    for (int l = 0; l < LANES; l++)
        at[l] = from[l] + bytes;
}

/* Lane l of vector j: 16 bytes from byte 16 * j of from[l] on. */
INLINE void gather_from(vec *v, const char *const from[LANES], int n)
{
    const char *at[LANES];
    int j = 0;
#ifdef PAIRS_OF_BLOCKS
#pragma GCC unroll 4
    for (; j + 2 <= n; j += 2) {
        advance_lanes(at, from, 16 * j);
        v[j] = vec_gather_pairs(at, 0, 0);
        v[j + 1] = vec_gather_pairs(at, 1, 0);
        vec_exchange_lanes(&v[j], &v[j + 1]);
    }
#endif
#pragma GCC unroll 8
    for (; j < n; j++) {
        advance_lanes(at, from, 16 * j);
        v[j] = vec_gather_lanes(at);
    }
}

/* The same of groups that are so many bytes from each other. */
INLINE void gather_groups(vec *v, const char *src, int n, int64_t group)
{
    const char *from[LANES];
    lay_lanes(from, src, group);
    gather_from(v, from, n);
}

#ifndef OWN_ODD_PIXELS
#include "reorder/kernels/nine_lanes.h"
#endif

#include "reorder/kernels/transpose.h"

/* 5 to 7 channels of more than a lane are parted and joined as many at a time as it has. */
INLINE bool are_by_lanes(int n, int bytes)
{
    const int side = 16 / bytes;
    return side > 1 && n > side && n > 4 && !are_zipped(n);
}

/* The first of those from channel c on, or fewer at the end. */
INLINE int first_of_lane(int c, int n, int side)
{
    return c + side <= n ? c : n - side;
}

INLINE void part_by_lanes(vec v[8], const char *src, int n, int bytes)
{
    const int side = 16 / bytes;
#pragma GCC unroll 4
    for (int c = 0; c < n; c += side) {
        const int first = first_of_lane(c, n, side);
        vec w[16];
#pragma GCC unroll 4
        for (int i = 0; i < side; i++) {
            const char *at[LANES];
            lay_lanes(at, src + (i * n + first) * bytes, 16 * n);
            w[i] = vec_gather_lanes(at);
        }
        zip_rounds(w, side, log2_of(side), bytes);
#pragma GCC unroll 4
        for (int i = 0; i < side; i++)
            v[first + i] = w[i];
    }
}

INLINE void join_by_lanes(char *dst, const vec v[8], int n, int bytes)
{
    const int side = 16 / bytes;
#pragma GCC unroll 4
    for (int c = 0; c < n; c += side) {
        const int first = first_of_lane(c, n, side);
        vec w[16];
#pragma GCC unroll 4
        for (int i = 0; i < side; i++)
            w[i] = v[first + i];
        zip_rounds(w, side, log2_of(side), bytes);
#pragma GCC unroll 4
        for (int l = 0; l < LANES; l++)
#pragma GCC unroll 4
            for (int i = 0; i < side; i++)
                vec_store_lanes(dst + ((l * side + i) * n + first) * bytes, w[i], l, 1);
    }
}

/* So many pixels as a vector has of each channel. */
INLINE void load_parted(vec v[8], const char *src, bool fetches_ahead, int n, int bytes)
{
    if (fetches_ahead)
        fetch_pixels(src, LANES * 16 * n);
    if (are_by_lanes(n, bytes)) {
        part_by_lanes(v, src, n, bytes);
    } else {
        gather_groups(v, src, n, 16 * n);
        part_channels(v, n, bytes);
    }
}

/* Where each channel goes: what is stored might be the tile itself, as far as compilers know. */
INLINE void get_channels(char *channel[8], char *dst, const tsr_tile *t, int n)
{
#pragma GCC unroll 8
    for (int j = 0; j < n; j++)
        channel[j] = dst + t->dst_row[j];
}

#ifdef LINE_VECTORS
/* Whole lines of each channel, at once, and past the caches if that is asked for. Gives the first pixel after them. */
INLINE int64_t part_lines(char *const channel[8], const char *src, const tsr_tile *t, bool fetches_lines, int n,
                          int bytes)
{
    enum { VECTOR = LANES * 16 };
    const int64_t pixels = VECTOR / bytes, line = LINE_VECTORS * pixels, columns = t->columns;
    const bool streams = t->streams, fetches_ahead = t->fetches_ahead;
    int64_t c = 0;
    for (; c + line <= columns; c += line) {
        vec v[LINE_VECTORS][8];
        for (int k = 0; k < LINE_VECTORS; k++)
            load_parted(v[k], src + (c + k * pixels) * n * bytes, fetches_ahead, n, bytes);
#pragma GCC unroll 8
        for (int j = 0; j < n; j++) {
            if (fetches_lines)
                fetch_to_write(channel[j] + c * bytes);
            for (int k = 0; k < LINE_VECTORS; k++)
                vec_put(channel[j] + c * bytes + k * VECTOR, v[k][j], streams);
        }
    }
    return c;
}
#else
#define part_lines(channel, src, t, fetches_lines, n, bytes) 0
#endif

INLINE void part_all(char *const channel[8], const char *src, const tsr_tile *t, bool fetches_lines, int n, int bytes)
{
    const int64_t pixels = LANES * 16 / bytes, columns = t->columns;
    const bool fetches_ahead = t->fetches_ahead;
    for (int64_t c = part_lines(channel, src, t, fetches_lines, n, bytes); c < columns; c += pixels) {
        const int64_t first = c + pixels <= columns ? c : columns - pixels;
        vec v[8];
        load_parted(v, src + first * n * bytes, fetches_ahead, n, bytes);
#pragma GCC unroll 8
        for (int j = 0; j < n; j++) {
            if (fetches_lines)
                fetch_to_write(channel[j] + first * bytes);
            vec_store(channel[j] + first * bytes, v[j]);
        }
    }
}

INLINE void deinterleave(char *dst, const char *src, const tsr_tile *t, int n, int bytes)
{
    char *channel[8];
#ifdef OWN_ODD_PIXELS
    if (are_own_odd_pixels(n, bytes)) {
        part_odd_pixels(dst, src, t, n, bytes);
        return;
    }
#endif
    for (int64_t i = 0; i == 0 || i < t->pieces; i++) {
        const char *from = src + offset_of_piece(t->src_piece, t->pieces, i);
        get_channels(channel, dst + offset_of_piece(t->dst_column, t->pieces, i), t, n);
        if (t->fetches_lines)
            part_all(channel, from, t, true, n, bytes);
        else
            part_all(channel, from, t, false, n, bytes);
    }
}

/* The last bytes of what vec_put_in_turn writes. */
INLINE void store_last_in_turn(char *to, const vec *v, int n, int64_t bytes)
{
    char all[8 * LANES * 16];
    vec_put_in_turn(all, v, n, false);
    memcpy(to, all + n * LANES * 16 - bytes, (size_t)bytes);
}

/* Lines that have been streamed are not to be written again; and what is written by lanes cannot be streamed. */
INLINE void interleave_vectors(char *dst, const char *src, const tsr_tile *t, bool streams, int n, int bytes)
{
    const bool by_lanes = are_by_lanes(n, bytes) && !streams;
    const int64_t pixels = LANES * 16 / bytes, rows = t->rows;
    const char *channel[8];
#pragma GCC unroll 8
    for (int j = 0; j < n; j++)
        channel[j] = src + t->src_column[j];
    for (int64_t r = 0; r < rows; r += pixels) {
        int64_t first = r + pixels <= rows ? r : rows - pixels;
        char *to = dst + first * n * bytes;
        vec v[8];
#pragma GCC unroll 8
        for (int j = 0; j < n; j++)
            v[j] = vec_load(channel[j] + first * bytes);
        if (!by_lanes)
            join_channels(v, n, bytes);
        if (by_lanes)
            join_by_lanes(to, v, n, bytes);
        else if (first < r && streams)
            store_last_in_turn(dst + r * n * bytes, v, n, (rows - r) * n * bytes);
        else
            vec_put_in_turn(to, v, n, streams);
    }
}

/* Asked once whether it streams, as constants make each loop as fast as it can be. */
INLINE void interleave(char *dst, const char *src, const tsr_tile *t, int n, int bytes)
{
#ifdef OWN_ODD_PIXELS
    if (are_own_odd_pixels(n, bytes)) {
        join_odd_pixels(dst, src, t, n, bytes);
        return;
    }
#endif
    for (int64_t i = 0; i == 0 || i < t->pieces; i++) {
        char *to = dst + i * t->rows * n * bytes;
        const char *from = src + offset_of_piece(t->src_row, t->pieces, i);
        if (t->streams)
            interleave_vectors(to, from, t, true, n, bytes);
        else
            interleave_vectors(to, from, t, false, n, bytes);
    }
}

#include "reorder/kernels/pieces.h"

/* ---- rows in lanes ---- */

typedef lane_vec lane_order;

INLINE lane_order order_of(const tsr_lane *lane)
{
    return lane_load((const char *)lane->order);
}

INLINE lane_vec shuffled(const char *from, const lane_order *order)
{
    return lane_shuffle(lane_load(from), *order);
}

INLINE lane_vec shuffled_into(lane_vec v, const char *from, const lane_order *order)
{
    return v | shuffled(from, order);
}

INLINE void put_lane(char *to, lane_vec v, int64_t bytes)
{
    if (bytes == TSR_LANE_BYTES)
        lane_store(to, v);
    else
        lane_store_part(to, v, bytes);
}

/* By vectors where they follow each other; and where they come backwards, from the last one on, as memory is better
 * read forwards. */
INLINE int64_t shuffle_in_step(char *to, const char *from, const tsr_lane *lanes, int64_t n, int64_t src_step,
                               int64_t dst_step, int64_t bytes)
{
    const int64_t whole = n / LANES * LANES;
    const vec order = vec_repeat(lanes->order);
    if (bytes != TSR_LANE_BYTES || dst_step != TSR_LANE_BYTES || llabs(src_step) != TSR_LANE_BYTES)
        return 0;
    if (src_step > 0)
        for (int64_t i = 0; i < whole; i += LANES)
            vec_store(to + i * TSR_LANE_BYTES, vec_shuffle(vec_load(from + i * TSR_LANE_BYTES), order));
    else
        for (int64_t i = whole - LANES; i >= 0; i -= LANES)
            vec_store(to + i * TSR_LANE_BYTES,
                      vec_turn_lanes(vec_shuffle(vec_load(from - (i + LANES - 1) * TSR_LANE_BYTES), order)));
    return whole;
}

#include "reorder/kernels/shuffle.h"

static int64_t shuffle_lanes(char *dst, const char *src, const tsr_tile *t, int bytes)
{
    return shuffle_lanes_of(dst, src, t, bytes, TSR_LANE_BYTES);
}

/* ---- the kernels ---- */

/* A kernel for what does not fill the vectors of this rung. */
#if defined(NARROWER)
#define NARROWER_KERNEL(name) EXPANDED(name, NARROWER)
#define NARROWER_TRANSPOSE(bits) NARROWER_KERNEL(transpose_##bits)
#elif defined(ONE_LANE)
#define NARROWER_KERNEL(name) EXPANDED(name, ONE_LANE)
#define NARROWER_TRANSPOSE(bits) NULL
#else
#define NARROWER_KERNEL(name) EXPANDED(name, c)
#define NARROWER_TRANSPOSE(bits) NULL
#endif

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
        if (t->pieces > 0 && t->rows < LANES * 256 / (bits))                                                           \
            joined_pieces_##bits(dst, src, t);                                                                         \
        else                                                                                                           \
            (t->rows < LANES * 128 / (bits) ? NARROWER_KERNEL(interleave_##bits) : by[t->columns - 2])(dst, src, t);   \
    }                                                                                                                  \
    void NAME(deinterleave_##bits)(void *dst, const void *src, const tsr_tile *t)                                      \
    {                                                                                                                  \
        static const tsr_tile_kernel by[] = BY_SHORT_SIDE(deinterleave_##bits);                                        \
        if (t->pieces > 0 && t->columns < LANES * 256 / (bits))                                                        \
            parted_pieces_##bits(dst, src, t);                                                                         \
        else                                                                                                           \
            (t->columns < LANES * 128 / (bits) ? NARROWER_KERNEL(deinterleave_##bits) : by[t->rows - 2])(dst, src, t); \
    }

/* With all lanes, dense rows are as any others, unless they are streamed. */
INLINE enum way way_of(int lanes, enum way way)
{
    return lanes < LANES || way == EVEN ? way : way == DENSE ? PAST : APART;
}

/* There is nothing to do for more lanes than there are. */
#define STRIPE(bits, lanes, name, way)                                                                                 \
    __attribute__((noinline)) static void name##_stripe_##bits##_of_##lanes(const struct stripe *stripe)               \
    {                                                                                                                  \
        if ((lanes) <= LANES)                                                                                          \
            transpose_side_by_side(stripe, (bits) / 8, lanes, way_of(lanes, way));                                     \
    }

#ifdef LINE_VECTORS
#define LINES(bits)                                                                                                    \
    __attribute__((noinline)) static void lines_##bits(const struct stripe *stripe)                                    \
    {                                                                                                                  \
        transpose_lines_any_way(stripe, (bits) / 8);                                                                   \
    }
#define LINES_OF(bits) lines_##bits
#define FOUND_LINES(bits)                                                                                              \
    void NAME(lines_##bits)(void *dst, const void *src, const tsr_tile *t)                                             \
    {                                                                                                                  \
        const struct stripe stripe = {.dst = dst,                                                                      \
                                      .dst_row = t->dst_row,                                                           \
                                      .src = src,                                                                      \
                                      .src_column = t->src_column,                                                     \
                                      .rows = t->rows,                                                                 \
                                      .columns = t->columns,                                                           \
                                      .fetches_columns = true};                                                        \
        transpose_to_lines(&stripe, (bits) / 8);                                                                       \
    }
#else
#define LINES(bits)
#define LINES_OF(bits) NULL
#define FOUND_LINES(bits)
#endif

#ifndef LANES_HAVE_TILES
#define TILES_IN_LANES(bits)
#define TILES_OF(bits) NULL
#define DENSE_TILES_OF(bits) NULL
#else
#define TILES_IN_LANES(bits)                                                                                           \
    __attribute__((noinline)) static void tiles_##bits(const struct stripe *stripe)                                    \
    {                                                                                                                  \
        transpose_blocks(stripe, 0, 0, (bits) / 8, 1, 1, TILES);                                                       \
    }                                                                                                                  \
    __attribute__((noinline)) static void dense_tiles_##bits(const struct stripe *stripe)                              \
    {                                                                                                                  \
        transpose_dense_tiles(stripe, (bits) / 8);                                                                     \
    }
#define TILES_OF(bits) tiles_##bits
#define DENSE_TILES_OF(bits) dense_tiles_##bits
#endif

#define LOW(bits, name, most)                                                                                          \
    __attribute__((noinline)) static void stripe_##name##_##bits(char *dst, const char *src, const tsr_tile *t,        \
                                                                 int64_t c, int64_t src_end)                           \
    {                                                                                                                  \
        transpose_low_stripe(dst, src, t, c, src_end, (bits) / 8, most);                                               \
    }                                                                                                                  \
    __attribute__((noinline)) static void overlapping_##name##_##bits(char *dst, const char *src, const tsr_tile *t,   \
                                                                      int64_t c, int64_t src_end)                      \
    {                                                                                                                  \
        transpose_overlapping_lanes(dst, src, t, c, src_end, (bits) / 8, most);                                        \
    }                                                                                                                  \
    __attribute__((noinline)) static int64_t name##_##bits(char *dst, const char *src, const tsr_tile *t,              \
                                                           int64_t src_end)                                            \
    {                                                                                                                  \
        return transpose_low(dst, src, t, src_end, (bits) / 8, most, stripe_##name##_##bits,                           \
                             overlapping_##name##_##bits);                                                             \
    }

#define TRANSPOSES(bits)                                                                                               \
    STRIPE(bits, 1, whole, APART)                                                                                      \
    STRIPE(bits, 2, whole, APART)                                                                                      \
    STRIPE(bits, 4, whole, APART)                                                                                      \
    STRIPE(bits, 1, dense, DENSE)                                                                                      \
    STRIPE(bits, 2, dense, DENSE)                                                                                      \
    STRIPE(bits, 1, even, EVEN)                                                                                        \
    STRIPE(bits, 2, even, EVEN)                                                                                        \
    STRIPE(bits, 4, even, EVEN)                                                                                        \
    __attribute__((noinline)) static void ahead_stripe_##bits(const struct stripe *stripe)                             \
    {                                                                                                                  \
        transpose_side_by_side(stripe, (bits) / 8, LANES, AHEAD);                                                      \
    }                                                                                                                  \
    LINES(bits)                                                                                                        \
    __attribute__((noinline)) static void few_rows_##bits(const struct stripe *stripe)                                 \
    {                                                                                                                  \
        transpose_blocks(stripe, 0, 0, (bits) / 8, 1, 1, FEW);                                                         \
    }                                                                                                                  \
    TILES_IN_LANES(bits)                                                                                               \
    __attribute__((noinline)) static void part_of_stripe_##bits(const struct stripe *stripe)                           \
    {                                                                                                                  \
        transpose_part(stripe, (bits) / 8);                                                                            \
    }                                                                                                                  \
    __attribute__((noinline)) static void narrow_stripe_##bits(const struct stripe *stripe)                            \
    {                                                                                                                  \
        transpose_narrow(stripe, (bits) / 8);                                                                          \
    }                                                                                                                  \
    __attribute__((noinline)) static void pixels_of_stripe_##bits(const struct stripe *stripe)                         \
    {                                                                                                                  \
        transpose_pixels(stripe, (bits) / 8, NAME(interleave_##bits));                                                 \
    }                                                                                                                  \
    __attribute__((noinline)) static void ends_of_4_bytes_##bits(const struct stripe *stripe)                          \
    {                                                                                                                  \
        transpose_ends(stripe, 4, (bits) / 8);                                                                         \
    }                                                                                                                  \
    __attribute__((noinline)) static void ends_of_8_bytes_##bits(const struct stripe *stripe)                          \
    {                                                                                                                  \
        transpose_ends(stripe, 8, (bits) / 8);                                                                         \
    }                                                                                                                  \
    FOUND_LINES(bits)                                                                                                  \
    __attribute__((noinline)) static bool nine_##bits(char *dst, const char *src, const tsr_tile *t)                   \
    {                                                                                                                  \
        return transpose_nine(dst, src, t, (bits) / 8);                                                                \
    }                                                                                                                  \
    __attribute__((noinline)) static void low_tiles_##bits(char *dst, const char *src, const tsr_tile *t,              \
                                                           int64_t src_end)                                            \
    {                                                                                                                  \
        transpose_low_tiles(dst, src, t, src_end, (bits) / 8);                                                         \
    }                                                                                                                  \
    LOW(bits, low, 16)                                                                                                 \
    LOW(bits, lowest, LOW_ROWS)                                                                                        \
    void NAME(transpose_##bits)(void *dst, const void *src, const tsr_tile *t)                                         \
    {                                                                                                                  \
        static const struct stripe_kernels kernels = {                                                                 \
            {[1] = whole_stripe_##bits##_of_1, [2] = whole_stripe_##bits##_of_2, [4] = whole_stripe_##bits##_of_4},    \
            few_rows_##bits,                                                                                           \
            TILES_OF(bits),                                                                                            \
            DENSE_TILES_OF(bits),                                                                                      \
            {[1] = dense_stripe_##bits##_of_1, [2] = dense_stripe_##bits##_of_2},                                      \
            {[1] = even_stripe_##bits##_of_1, [2] = even_stripe_##bits##_of_2, [4] = even_stripe_##bits##_of_4},       \
            ahead_stripe_##bits,                                                                                       \
            LINES_OF(bits),                                                                                            \
            narrow_stripe_##bits,                                                                                      \
            pixels_of_stripe_##bits,                                                                                   \
            {(bits) > 16 ? NULL : ends_of_4_bytes_##bits, (bits) > 32 ? NULL : ends_of_8_bytes_##bits},                \
            part_of_stripe_##bits,                                                                                     \
            low_##bits,                                                                                                \
            lowest_##bits,                                                                                             \
            low_tiles_##bits,                                                                                          \
            (bits) > 32 ? NULL : nine_##bits,                                                                          \
            NARROWER_TRANSPOSE(bits)};                                                                                 \
        transpose(dst, src, t, (bits) / 8, &kernels);                                                                  \
    }                                                                                                                  \
    SHUFFLE(bits)                                                                                                      \
    SHORT_SIDES(bits)

TRANSPOSES(8)
TRANSPOSES(16)
TRANSPOSES(32)
TRANSPOSES(64)
TRANSPOSES(128)

#include "reorder/kernels/units.h"
