/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows in lanes, in terms of one lane. A compile unit of a rung defines RUNG, as list.inc names it, and what stands
 * below, and includes this file once; that is why it has no include guard.
 *
 *     lane_vec                          what is loaded, shuffled and stored
 *     lane_order, order_of(lane)        how a part of a lane is loaded and shuffled, in registers
 *     shuffled(from, &order)            the bytes of one part, and anything where others have theirs
 *     shuffled_into(v, from, &order)    v with those of one more
 *     put_lane(to, v, bytes)            the first bytes, as many as a lane has, or less
 *     shuffle_in_step(to, from, lanes, n, src_step, dst_step, bytes)  the first of n lanes of one order, of so many
 *                                       bytes and so far from each other, as many as it likes to; gives their number
 *     shuffle_lanes(dst, src, t, bytes)  shuffle_lanes_of lanes as long as the tile says, by a constant; of elements
 *                                       of so many bytes. Declared; defined behind this file
 */
#include <stdint.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/template.h"

static int64_t shuffle_lanes(char *dst, const char *src, const tsr_tile *t, int bytes);

/* How many lanes from this one on are alike, and for tiles of so many columns. */
INLINE int64_t fitting_alike(const tsr_lane *lane, int64_t columns)
{
    int64_t n = lane->alike;
    while (n > 1 && lane[n - 1].columns > columns)
        n--;
    return n;
}

/* n lanes that are alike. */
INLINE void shuffle_alike(char *to, const char *from, const tsr_lane *lanes, int64_t n, int64_t bytes)
{
    const int64_t src_step = lanes[1].src - lanes[0].src, dst_step = lanes[1].dst - lanes[0].dst;
    const lane_order order = order_of(lanes);
    to += lanes->dst;
    from += lanes->src;
    for (int64_t i = shuffle_in_step(to, from, lanes, n, src_step, dst_step, bytes); i < n; i++)
        put_lane(to + i * dst_step, shuffled(from + i * src_step, &order), bytes);
}

INLINE lane_vec joined_parts(const char *from, const tsr_lane *lane)
{
    lane_order order = order_of(lane);
    lane_vec v = shuffled(from + lane->src, &order);
    for (int64_t i = 1; i < lane->parts; i++) {
        order = order_of(lane + i);
        v = shuffled_into(v, from + lane[i].src, &order);
    }
    return v;
}

/* Row by row, all lanes of each. Tells where the next one lies, which is for longer rows. */
INLINE int64_t shuffle_rows(char *dst, const char *src, const tsr_tile *t, int64_t bytes)
{
    const tsr_lane *lane = t->lanes;
    for (int64_t r = 0; r < t->rows; r++) {
        char *to = dst + t->dst_row[r];
        const char *from = src + t->src_row[r];
        for (lane = t->lanes; lane->columns <= t->columns;) {
            const int64_t n = fitting_alike(lane, t->columns);
            if (n > 1) {
                shuffle_alike(to, from, lane, n, bytes);
                lane += n;
            } else {
                put_lane(to + lane->dst, joined_parts(from, lane), bytes);
                lane += lane->parts;
            }
        }
    }
    return lane->dst;
}

/* Which rows a lane is taken of, from the first one on: so many, where the tables say or equally far from each other;
 * and then the last one, if several rows are one, which begins early enough to have as many. */
struct lane_walk {
    int64_t times, src_step, dst_step, last_src, last_dst;
    const int64_t *src_row, *dst_row; /* or NULL */
};

/* The parts of a lane, if they are few. */
struct lane_parts {
    const char *from[TSR_FEW_PARTS];
    lane_order order[TSR_FEW_PARTS];
};

INLINE void put_parts(char *to, const struct lane_parts *parts, int n, int64_t offset, int64_t bytes)
{
    lane_vec v = shuffled(parts->from[0] + offset, &parts->order[0]);
    for (int i = 1; i < n; i++)
        v = shuffled_into(v, parts->from[i] + offset, &parts->order[i]);
    put_lane(to, v, bytes);
}

INLINE void shuffle_column(char *to, const char *from, const tsr_lane *lane, int n, const struct lane_walk *walk,
                           int64_t bytes)
{
    const int64_t src_step = walk->src_step, dst_step = walk->dst_step, times = walk->times;
    const int64_t *src_row = walk->src_row, *dst_row = walk->dst_row;
    struct lane_parts parts;
    to += lane->dst;
    for (int i = 0; i < n; i++) {
        parts.from[i] = from + lane[i].src;
        parts.order[i] = order_of(lane + i);
    }
    if (src_row) {
        for (int64_t r = 0; r < times; r++)
            put_parts(to + dst_row[r], &parts, n, src_row[r], bytes);
        return;
    }
    for (int64_t r = 0; r < times; r++)
        put_parts(to + r * dst_step, &parts, n, r * src_step, bytes);
    put_parts(to + walk->last_dst, &parts, n, walk->last_src, bytes);
}

INLINE void shuffle_column_of_many(char *to, const char *from, const tsr_lane *lane, const struct lane_walk *walk,
                                   int64_t bytes)
{
    for (int64_t r = 0; r < walk->times; r++) {
        const int64_t src_row = walk->src_row ? walk->src_row[r] : r * walk->src_step;
        const int64_t dst_row = walk->src_row ? walk->dst_row[r] : r * walk->dst_step;
        put_lane(to + lane->dst + dst_row, joined_parts(from + src_row, lane), bytes);
    }
    if (!walk->src_row)
        put_lane(to + lane->dst + walk->last_dst, joined_parts(from + walk->last_src, lane), bytes);
}

_Static_assert(TSR_FEW_PARTS == 4, "the cases below");

/* Lane by lane, each of all rows. What a lane overwrites of others, these write again. */
INLINE int64_t shuffle_columns(char *to, const char *from, const tsr_lane *lane, int64_t columns,
                               const struct lane_walk *walk, int64_t bytes)
{
    for (; lane->columns <= columns; lane += lane->parts)
        switch (lane->parts) {
        case 1:
            shuffle_column(to, from, lane, 1, walk, bytes);
            break;
        case 2:
            shuffle_column(to, from, lane, 2, walk, bytes);
            break;
        case 3:
            shuffle_column(to, from, lane, 3, walk, bytes);
            break;
        case 4:
            shuffle_column(to, from, lane, 4, walk, bytes);
            break;
        default:
            shuffle_column_of_many(to, from, lane, walk, bytes);
        }
    return lane->dst;
}

/* The same; short rows are less than a lane. */
INLINE int64_t shuffle_by_columns(char *to, const char *from, const tsr_tile *t, int64_t columns,
                                  const struct lane_walk *walk, int bytes, int64_t lane_bytes)
{
    const int64_t row = columns * bytes;
    if (row >= lane_bytes)
        return shuffle_columns(to, from, t->lanes, columns, walk, lane_bytes);
    if (t->lanes->columns > columns)
        return 0;
    shuffle_columns(to, from, t->lanes, columns, walk, row);
    return row;
}

/* Rows that are equally far from each other, as many of which as `lane_rows` says are one; or those of all tiles, where
 * each has no more. */
static struct lane_walk walk_of_even_rows(const tsr_tile *t)
{
    const int64_t last = t->rows - t->lane_rows, next = last < t->lane_rows ? last : t->lane_rows;
    const int64_t others = t->tiles > 1 ? t->tiles - 1 : 0;
    if (last == 0)
        return (struct lane_walk){.times = others,
                                  .src_step = t->src_tile,
                                  .dst_step = t->dst_tile,
                                  .last_src = others * t->src_tile,
                                  .last_dst = others * t->dst_tile};
    return (struct lane_walk){.times = (last + t->lane_rows - 1) / t->lane_rows,
                              .src_step = t->src_row[next] - t->src_row[0],
                              .dst_step = t->dst_row[next] - t->dst_row[0],
                              .last_src = t->src_row[last] - t->src_row[0],
                              .last_dst = t->dst_row[last] - t->dst_row[0]};
}

INLINE int64_t shuffle_even_rows(char *dst, const char *src, const tsr_tile *t, int bytes, int64_t lane_bytes)
{
    const struct lane_walk walk = walk_of_even_rows(t);
    return shuffle_by_columns(dst + t->dst_row[0], src + t->src_row[0], t, t->columns * t->lane_rows, &walk, bytes,
                              lane_bytes);
}

/* Rows anywhere, some at a time, as the first-level cache need not hold what all of them are made of. */
INLINE int64_t shuffle_some_rows(char *dst, const char *src, const tsr_tile *t, int bytes, int64_t lane_bytes)
{
    enum { SOME = 16 };
    int64_t done = 0;
    for (int64_t r = 0; r < t->rows; r += SOME) {
        const struct lane_walk walk = {
            .times = r + SOME < t->rows ? SOME : t->rows - r, .src_row = t->src_row + r, .dst_row = t->dst_row + r};
        done = shuffle_by_columns(dst, src, t, t->columns, &walk, bytes, lane_bytes);
    }
    return done;
}

/* Are stretches of lanes that are alike taken one after the other, of each row, rather than each lane of all? Not those
 * of several rows that are one. */
INLINE bool goes_along_rows(const tsr_tile *t)
{
    return t->has_alike_lanes && t->lane_rows <= 1;
}

/* Long rows are shuffled one after the other, many of them lane by lane. Tells how many bytes of each have been
 * written; or of all `lane_rows`, which are whole. */
INLINE int64_t shuffle_lanes_of(char *dst, const char *src, const tsr_tile *t, int bytes, int64_t lane_bytes)
{
    enum { MANY_ROWS = 8 };
    if (t->lane_rows > 0 && t->lane_rows <= t->rows && !goes_along_rows(t))
        return shuffle_even_rows(dst, src, t, bytes, lane_bytes);
    if ((!goes_along_rows(t) && t->rows >= MANY_ROWS) || t->columns * bytes < lane_bytes)
        return shuffle_some_rows(dst, src, t, bytes, lane_bytes);
    return shuffle_rows(dst, src, t, lane_bytes);
}

/* What is left of rows behind their lanes goes element by element. */
static void shuffle_tile(char *dst, const char *src, const tsr_tile *t, int bytes, tsr_tile_kernel by_elements)
{
    const int64_t done = shuffle_lanes(dst, src, t, bytes), columns = done / bytes;
    const tsr_tile rest = {.rows = t->rows,
                           .columns = t->columns - columns,
                           .dst_row = t->dst_row,
                           .src_row = t->src_row,
                           .src_column = t->src_column + columns};
    if (columns < t->columns)
        by_elements(dst + done, src, &rest);
}

/* Of tiles that are one row for the lanes, each lane goes over all. */
static void shuffle_tiles(char *dst, const char *src, const tsr_tile *t, int bytes, tsr_tile_kernel by_elements)
{
    const int64_t times = t->lane_rows == t->rows && !goes_along_rows(t) ? 1 : t->tiles;
    for (int64_t i = 0; i == 0 || i < times; i++)
        shuffle_tile(dst + i * t->dst_tile, src + i * t->src_tile, t, bytes, by_elements);
}

#define SHUFFLE(bits)                                                                                                  \
    void NAME(shuffle_##bits)(void *dst, const void *src, const tsr_tile *t)                                           \
    {                                                                                                                  \
        shuffle_tiles(dst, src, t, (bits) / 8, tsr_shuffle_##bits##_c);                                                \
    }
