/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transposes of a tile, stripe by stripe, in terms of the vector of blocks.h, which includes this.
 */

/* ---- how rows are written ---- */

/* So many blocks are a cache line of each column. */
enum { MOST_BLOCKS = BLOCK_VECTORS / 2, LINE_BLOCKS = TSR_CACHE_LINE / 16, LOW_ROWS = 4 };

/* A stripe of a tile: at most as many columns as fill a vector, or a cache line; all rows. */
struct stripe {
    char *dst; /* of its first column, to which dst_row is added; of the first row, where rows lie evenly */
    const int64_t *dst_row;
    int64_t pitch; /* of such rows */
    const char *src;
    const int64_t *src_column;
    int64_t src_end; /* behind the last column of the tile, or of the next one */
    int64_t rows, columns;
    int64_t stripes;            /* so many like this one are side by side, if its kernel takes whole ones */
    int64_t src_tile, dst_tile; /* where lanes have tiles of their own, each so many bytes behind the one before */
    bool are_even, streams, streams_by_rows, fetches_ahead, fetches_columns, reads_pairs;
};

INLINE void go_on(struct stripe *stripe, int bytes)
{
    stripe->dst += stripe->columns * bytes;
    stripe->src_column += stripe->columns;
}

/*
 * How rows are written: each by itself, wherever it lies or where rows lie evenly, as whole vectors of rows that are
 * dense, with the next line fetched, or as vectors past the caches. And if there are fewer rows than lanes have room
 * for: each by itself, some of them twice; or in each lane those of another tile.
 */
enum way { APART, EVEN, DENSE, AHEAD, PAST, FEW, TILES };

/*
 * Rows that lie evenly are not looked up. A look-up waits for all stores before it that go to the same offset within
 * some page, as if they changed the table, and the stores behind it wait for the look-up: a tile of the first-level
 * cache takes up to three times as long where it has bad luck with addresses.
 */
INLINE bool are_even(enum way way)
{
    return way == EVEN || way == DENSE;
}

INLINE char *row_of(const struct stripe *stripe, int64_t r, enum way way)
{
    return stripe->dst + (are_even(way) ? r * stripe->pitch : stripe->dst_row[r]);
}

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

/* Writes side rows from the lanes that hold them. Those before row `fresh` have been written, and no line goes past the
 * caches twice. */
INLINE void store_rows(const struct stripe *stripe, const vec *v, int64_t first, int64_t fresh, int bytes, int lane,
                       int lanes, enum way way)
{
    const int side = 16 / bytes;
    char *next = row_of(stripe, first, way);
#pragma GCC unroll 16
    for (int j = 0; j < side; j++, next += stripe->pitch) {
        char *to = are_even(way) ? next : row_of(stripe, first + j, way) + (way == TILES ? lane * stripe->dst_tile : 0);
        if (way == AHEAD)
            store_and_fetch_next(to, v[j]);
        else if (way != PAST)
            vec_store_lanes(to, v[j], lane, lanes);
        else if (first + j >= fresh)
            vec_put(to, v[j], true);
    }
}

/* ---- blocks ---- */

/* Where row group g of a block begins: of a few rows, early enough to be inside. */
INLINE int64_t row_of_group(const struct stripe *stripe, int g, int side, enum way way)
{
    if (way == TILES)
        return 0;
    return way != FEW || g * side <= stripe->rows - side ? g * side : stripe->rows - side;
}

/*
 * 16 bytes of a column in each lane: those of one column lie side by side, unless it has few rows; and for dense rows
 * of two of four lanes, so do pairs, which makes them lanes 0 and 1, and 2 and 3.
 */
INLINE vec gather_columns(const char *const at[LANES], int lanes, enum way way)
{
    if (lanes == 1 && way != FEW && way != TILES)
        return vec_load(at[0]);
#ifdef PAIRS_OF_LANES
    if (way == DENSE && lanes == 2)
        return vec_gather_halves(at[0], at[1]);
#endif
#ifdef HIDDEN_LANES
    if (way == PAST) /* what comes next is asked for, and prefetchers would ask for more */
        return vec_gather_hidden_lanes(at);
#endif
    return vec_gather_lanes(at);
}

/* What is written past the caches comes from far: the line after the next of each column, which no prefetcher foresees
 * where there are many of them, or where they end with the tile. */
INLINE void fetch_columns(const struct stripe *stripe, const char *const at[LANES])
{
    if (!stripe->fetches_columns)
        return;
    for (int l = 0; l < LANES; l++)
        fetch(at[l], 2 * TSR_CACHE_LINE);
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
                    row_of_group(stripe, l / lanes, side, way) * bytes + (way == TILES ? l * stripe->src_tile : 0);
        if (way == PAST)
            fetch_columns(stripe, at);
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

INLINE void transpose_blocks(const struct stripe *stripe, int64_t first, int64_t fresh, int bytes, int lanes, int many,
                             enum way way)
{
    const int side = 16 / bytes, groups = LANES / lanes;
    vec v[MOST_BLOCKS][16];
    get_blocks(v, stripe, first, 0, bytes, lanes, many, way);
#pragma GCC unroll 8
    for (int b = 0; b < many; b++) {
        if (way == DENSE) {
            char *to = row_of(stripe, first, way);
            store_dense_rows(to, v[b], side, lanes, stripe->streams && (uintptr_t)to % TSR_CACHE_LINE == 0);
        }
#pragma GCC unroll 4
        for (int g = 0; g < groups && way != DENSE; g++)
            store_rows(stripe, v[b], first + b * groups * side + row_of_group(stripe, g, side, way), fresh, bytes,
                       g * lanes, lanes, way);
    }
}

#ifdef LANES_HAVE_TILES
/* One block in each lane, those of as many tiles, whose rows continue each other. */
INLINE void transpose_dense_tiles(const struct stripe *stripe, int bytes)
{
    const int side = 16 / bytes;
    char *to = row_of(stripe, 0, TILES);
    vec v[1][16];
    get_blocks(v, stripe, 0, 0, bytes, 1, 1, TILES);
    vec_put_tiles(to, v[0], side, stripe->dst_tile,
                  stripe->streams && ((uintptr_t)to | (uintptr_t)stripe->dst_tile) % TSR_CACHE_LINE == 0);
}
#endif

#ifdef PAIRS_OF_BLOCKS
/*
 * Of all lanes, as many blocks, two at a time: that halves the loads, and takes one shuffle more at the end. The
 * lanes of a vector are first both blocks of a column and then, if there are four, those of the column two lanes on.
 */
INLINE void get_pairs(vec v[][16], const struct stripe *stripe, int64_t first, int64_t column, int bytes, int many,
                      enum way way)
{
    const int side = 16 / bytes;
#pragma GCC unroll 16
    for (int i = 0; i < side; i++) {
        const char *at[LANES];
        for (int l = 0; l < LANES; l++)
            at[l] = stripe->src + stripe->src_column[column + l * side + i] + first * bytes;
        if (way == PAST)
            fetch_columns(stripe, at);
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

INLINE void transpose_many(const struct stripe *stripe, int64_t first, int64_t fresh, int bytes, int many, enum way way)
{
    vec v[MOST_BLOCKS][16];
    get_pairs(v, stripe, first, 0, bytes, many, way);
#pragma GCC unroll 8
    for (int b = 0; b < many; b++)
        store_rows(stripe, v[b], first + b * 16 / bytes, fresh, bytes, 0, LANES, way);
}
#else
/* Of all lanes, as many blocks. */
INLINE void transpose_many(const struct stripe *stripe, int64_t first, int64_t fresh, int bytes, int many, enum way way)
{
    transpose_blocks(stripe, first, fresh, bytes, LANES, many, way);
}
#endif

/* ---- stripes ---- */

/* Rows [r, end), many blocks at a time. The last ones begin early enough to be whole: there are as many rows. */
INLINE void transpose_rows(const struct stripe *stripe, int64_t r, int64_t end, int bytes, int lanes, int many,
                           enum way way)
{
    const int64_t step = 16 / bytes * (LANES / lanes) * many;
    for (; r < end; r += step) {
        const int64_t first = r + step <= end ? r : end - step;
        if (many > 1)
            transpose_many(stripe, first, r, bytes, many, way);
        else
            transpose_blocks(stripe, first, r, bytes, lanes, many, way);
    }
}

/* Of lanes * side columns: many blocks, if there are so many rows at least, and single ones for a few that are left. */
INLINE void transpose_by(const struct stripe *stripe, int bytes, int lanes, int many, int64_t least, enum way way)
{
    const int64_t step = 16 / bytes * many, left = stripe->rows % step;
    int64_t done = 0;
    if (many > 1 && stripe->rows >= least) {
        done = 2 * left > step ? stripe->rows : stripe->rows - left;
        transpose_rows(stripe, 0, done, bytes, lanes, many, way);
    }
    transpose_rows(stripe, done, stripe->rows, bytes, lanes, 1, way);
}

/* How many blocks the registers hold, or one, if not even that of all lanes. */
INLINE int fitting_blocks(int bytes, int lanes)
{
    const int fitting = BLOCK_VECTORS * bytes / 16;
    return lanes < LANES || fitting < 1 ? 1 : fitting < MOST_BLOCKS ? fitting : MOST_BLOCKS;
}

/* As many blocks as there are registers for, or a pair where that is asked for. What is streamed is read at most a line
 * of each column at once: by rows a line, and else a pair, as memory likes short bursts; but of few rows single
 * blocks. */
INLINE void transpose_whole(const struct stripe *stripe, int bytes, int lanes, enum way way)
{
    enum { PAIR = 2 };
    const int side = 16 / bytes, fitting = fitting_blocks(bytes, lanes);
    const int many = way == PAST && fitting > LINE_BLOCKS ? PAIR : fitting;
    if (way == PAST && fitting > LINE_BLOCKS && stripe->streams_by_rows)
        transpose_by(stripe, bytes, lanes, LINE_BLOCKS, side * LINE_BLOCKS, way);
    else if (lanes == LANES && fitting < LEAST_BLOCKS && stripe->reads_pairs)
        transpose_by(stripe, bytes, lanes, LEAST_BLOCKS, side * LEAST_BLOCKS, way);
    else
        transpose_by(stripe, bytes, lanes, many, side * fitting, way);
}

/* Stripes side by side; those that are no higher than the blocks which fit, as those of blocked channels are, have no
 * loop over rows. */
INLINE void transpose_side_by_side(const struct stripe *stripe, int bytes, int lanes, enum way way)
{
    const int fitting = fitting_blocks(bytes, lanes);
    struct stripe one = *stripe;
    one.dst += are_even(way) ? stripe->dst_row[0] : 0;
    if (lanes == LANES && fitting > 1 && stripe->rows == 16 / bytes * fitting)
        for (int64_t i = 0; i < stripe->stripes; i++, go_on(&one, bytes))
            transpose_many(&one, 0, 0, bytes, fitting, way);
    else if (lanes == LANES && fitting == 1 && stripe->rows == 16 / bytes)
        for (int64_t i = 0; i < stripe->stripes; i++, go_on(&one, bytes))
            transpose_blocks(&one, 0, 0, bytes, lanes, 1, way);
    else
        for (int64_t i = 0; i < stripe->stripes; i++, go_on(&one, bytes))
            transpose_whole(&one, bytes, lanes, way);
}

#include "reorder/kernels/transpose_lines.h"
#include "reorder/kernels/transpose_low.h"
#include "reorder/kernels/transpose_narrow.h"

/* ---- tiles ---- */

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
typedef void (*low_tiles_kernel)(char *dst, const char *src, const tsr_tile *t, int64_t src_end);
typedef bool (*nine_kernel)(char *dst, const char *src, const tsr_tile *t);

/* By lanes: of whole stripes, of those whose rows are dense, and of those whose rows lie evenly. Of one lane, with fewer
 * rows than the others have room for; and with a tile in each of the others, of dense rows or of others, or NULL. Of all
 * lanes, with lines fetched. Of lines, or NULL. Of rows of less than a lane: dense ones, others of 2, 3, 4 or 8
 * bytes, and those that two parts of 4 bytes have, or of 8; NULL where elements are too wide. And for what is not
 * whole. */
struct stripe_kernels {
    stripe_kernel whole[5], few, tiles, dense_tiles, dense[3], even[5], ahead, lines, narrow, pixels, ends[2], part;
    low_kernel low, lowest;     /* of fewer rows than a block has, and of LOW_ROWS at most; */
    low_tiles_kernel low_tiles; /* and of such tiles, as wide as a lane, as many as there are lanes or more */
    nine_kernel nine;           /* of tiles that are pixels of nine on a side, or NULL; false for others */
    tsr_tile_kernel narrower;   /* of a rung with half as many lanes, or NULL */
};

/* Of fewer columns than a lane has, and as many rows or more. */
static stripe_kernel kernel_of_narrow(const struct stripe_kernels *kernels, const tsr_tile *t, int side)
{
    const int64_t bytes = t->columns * 16 / side;
    const bool are_few = !has_rows(t->rows, 1, side), is_one_part = bytes <= 4 || bytes == 8;
    if (t->columns == 1 || (are_few && (LANES != 2 || bytes < 4)))
        return kernels->part;
    return is_one_part && !are_few ? kernels->pixels : kernels->ends[bytes >= 8];
}

static stripe_kernel kernel_of(const struct stripe_kernels *kernels, const tsr_tile *t, int side, int lanes,
                               bool is_dense)
{
    if (t->rows < side)
        return kernels->part;
    if (lanes == 0)
        return kernel_of_narrow(kernels, t, side);
    if (!has_rows(t->rows, lanes, side))
        return kernels->few; /* with more lanes there are as many, or a narrower rung does it */
    if (is_dense && t->columns == lanes * side)
        return kernels->dense[lanes];
    if (lanes == LANES && t->fetches_ahead)
        return kernels->ahead;
    return (t->are_even ? kernels->even : kernels->whole)[lanes];
}

/* Are there too few rows or columns for all lanes, so that half of them may do better? Up to twice as many columns are
 * two stripes of these. Where they are too few for half as well, the narrower rung hands them on. */
static bool fills_half_of_lanes(const tsr_tile *t, int side)
{
    if (t->rows < side)
        return t->columns >= side && t->columns <= LANES * side;
    if (t->columns < side)
        return !has_rows(t->rows, 1, side);
    const int lanes = lanes_of_stripe(t->columns, t->columns, t->rows, side, LANES);
    return lanes < LANES && !has_rows(t->rows, lanes, side);
}

/* How many stripes of that width are left. Whole ones are as wide as a number of lanes or a line: their width has one
 * bit. */
INLINE int64_t side_by_side(int64_t left, int64_t width, int64_t rows, int side)
{
    return left < 2 * width || rows < side ? 1 : left >> __builtin_ctzll((unsigned long long)width);
}

/*
 * Columns that share the sets of a cache: some lines of each, which half of it holds, are copied side by side before
 * they are read in parts, as by then they would be gone. The last of these stretches begins early enough to be whole.
 */
enum { MOST_GATHERED = 4 * TSR_CACHE_LINE, GATHERED_COLUMNS = 64 };

/* Of so many bytes of a column; alike ones, so that little is read twice. */
INLINE int64_t gathered_stretch(int64_t all)
{
    const int64_t stretches = (all + MOST_GATHERED - 1) / MOST_GATHERED, each = (all + stretches - 1) / stretches;
    return (all < MOST_GATHERED ? all : each + TSR_CACHE_LINE - 1) / TSR_CACHE_LINE * TSR_CACHE_LINE;
}

__attribute__((noinline)) static void transpose_gathered(const struct stripe *stripe, int bytes, stripe_kernel kernel)
{
    alignas(TSR_CACHE_LINE) char columns[GATHERED_COLUMNS * (MOST_GATHERED + TSR_CACHE_LINE)];
    int64_t at[GATHERED_COLUMNS];
    const int64_t all = stripe->rows * bytes, stretch = gathered_stretch(all);
    struct stripe one = *stripe;
    one.src = columns;
    one.src_column = at;
    one.rows = stretch / bytes;
    one.stripes = 1;
    for (int64_t c = 0; c < stripe->columns; c++)
        at[c] = c * (stretch + TSR_CACHE_LINE);
    for (int64_t i = 0; i < stripe->stripes; i++, one.dst += stripe->columns * bytes)
        for (int64_t byte = 0; byte < all; byte += stretch) {
            const int64_t first = byte + stretch <= all ? byte : all - stretch;
            for (int64_t c = 0; c < stripe->columns; c++) {
                const char *from = stripe->src + stripe->src_column[i * stripe->columns + c] + first;
                for (int64_t b = 0; b < stretch; b += LANES * 16)
                    vec_store(columns + at[c] + b, vec_load(from + b));
            }
            one.dst_row = stripe->dst_row + first / bytes;
            kernel(&one);
        }
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
        const stripe_kernel kernel = is_line ? kernels->lines : kernel_of(kernels, t, side, lanes, is_dense);
        if (t->gathers && t->rows * bytes >= TSR_CACHE_LINE)
            transpose_gathered(stripe, bytes, kernel);
        else
            kernel(stripe);
        c = first + stripe->stripes * width;
    }
}

/* Is a tile one block of a lane, and has the vector room for more of them? Lines of dense rows are whole then. */
static bool fills_lanes_with_tiles(const tsr_tile *t, int side, bool is_dense)
{
    return t->rows == side && t->columns == side && t->tiles >= LANES && (is_dense || !t->streams);
}

/* The last tiles may be some that have been done. */
static void transpose_tiles(char *dst, const char *src, const tsr_tile *t, struct stripe *stripe, stripe_kernel kernel)
{
    stripe->src_tile = t->src_tile;
    stripe->dst_tile = t->dst_tile;
    for (int64_t next = 0; next < t->tiles; next += LANES) {
        const int64_t i = next + LANES <= t->tiles ? next : t->tiles - LANES;
        stripe->src = src + i * t->src_tile;
        stripe->dst = dst + i * t->dst_tile;
        kernel(stripe);
    }
}

static void transpose(void *dst, const void *src, const tsr_tile *t, int bytes, const struct stripe_kernels *kernels)
{
    const int side = 16 / bytes;
    const int64_t length = t->rows * bytes, end = length < 16 ? last_of(t->src_column, t->columns) + length : 0;
    const bool is_dense = has_dense_rows(t, bytes), is_low = t->rows > 0 && t->rows < side;
    const bool is_narrow = is_dense && t->columns < side && t->rows >= least_narrow_rows(side);
    const low_kernel low = t->rows <= LOW_ROWS ? kernels->lowest : kernels->low;
    struct stripe stripe = {.dst_row = t->dst_row,
                            .pitch = is_dense ? t->columns * bytes : t->dst_pitch,
                            .src_column = t->src_column,
                            .rows = t->rows,
                            .columns = t->columns,
                            .are_even = t->are_even,
                            .streams = t->streams,
                            .streams_by_rows = t->streams_by_rows,
                            .fetches_ahead = t->fetches_ahead,
                            .fetches_columns = t->fetches_columns,
                            .reads_pairs = t->reads_pairs};
    if ((t->rows == NINE || t->columns == NINE) && kernels->nine && kernels->nine(dst, src, t))
        return;
    if (is_low && t->columns == side && t->tiles > 1 && t->tiles >= LANES) {
        kernels->low_tiles(dst, src, t, end);
        return;
    }
    if (kernels->narrower && fills_half_of_lanes(t, side)) {
        kernels->narrower(dst, src, t);
        return;
    }
    if (kernels->tiles && fills_lanes_with_tiles(t, side, is_dense)) {
        transpose_tiles(dst, src, t, &stripe, is_dense ? kernels->dense_tiles : kernels->tiles);
        return;
    }
    for (int64_t i = 0; i == 0 || i < t->tiles; i++) {
        char *to = (char *)dst + i * t->dst_tile;
        stripe.dst = to;
        stripe.src = (const char *)src + i * t->src_tile;
        stripe.src_end = i + 1 < t->tiles ? end_with_next(t, end) : end;
        if (is_narrow)
            kernels->narrow(&stripe);
        else
            transpose_stripes(to, &stripe, t, is_low ? low(to, stripe.src, t, stripe.src_end) : 0, bytes, is_dense,
                              kernels);
    }
}
