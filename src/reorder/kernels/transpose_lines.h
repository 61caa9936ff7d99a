/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stripes as wide as a cache line, and rows of which each has its lines somewhere else. A part of transpose.h.
 */

#ifdef LINE_VECTORS
/* Of a line of several vectors: pairs of blocks of so wide elements fit into the registers. */
enum { WIDE_BYTES = 4 };

/* Rows of a line each, whose vectors are written one behind the other; but not those before row `fresh`, which are
 * there. */
INLINE void put_lines(const struct stripe *stripe, vec v[LINE_VECTORS][2][16], int64_t first, int64_t fresh, int bytes,
                      int many, enum way way)
{
    const int side = 16 / bytes;
    char *next = row_of(stripe, first, way);
#pragma GCC unroll 16
    for (int j = 0; j < side * many; j++, next += stripe->pitch) {
        char *to = are_even(way) ? next : row_of(stripe, first + j, way);
        if (first + j < fresh)
            continue;
#pragma GCC unroll 2
        for (int p = 0; p < LINE_VECTORS; p++)
            vec_put(to + p * 16 * LANES, v[p][j / side][j % side], way == PAST);
        if (way == AHEAD)
            __builtin_prefetch(to + 2 * TSR_CACHE_LINE - 1, 1);
    }
}

INLINE void transpose_blocks_to_lines(const struct stripe *stripe, int64_t first, int64_t fresh, int bytes, int many,
                                      enum way way)
{
    const int side = 16 / bytes;
    vec v[LINE_VECTORS][2][16];
#pragma GCC unroll 2
    for (int p = 0; p < LINE_VECTORS; p++)
        if (many == 2)
            get_pairs(v[p], stripe, first, p * LANES * side, bytes, many, way);
        else
            get_blocks(v[p], stripe, first, p * LANES * side, bytes, LANES, many, way);
    put_lines(stripe, v, first, fresh, bytes, many, way);
}

/* Of columns that fill a cache line: the last rows are those before the end, some of which have been written. */
INLINE void transpose_lines(const struct stripe *stripe, int bytes, enum way way)
{
    const int many = bytes >= WIDE_BYTES ? 2 : 1, step = 16 / bytes * many;
    int64_t r = 0;
    if (LINE_VECTORS == 1) {
        transpose_whole(stripe, bytes, LANES, way);
        return;
    }
    for (; r + step <= stripe->rows; r += step)
        transpose_blocks_to_lines(stripe, r, r, bytes, many, way);
    if (r < stripe->rows)
        transpose_blocks_to_lines(stripe, stripe->rows - step, r, bytes, many, way);
}

/* As many rows at a time as a line of a column has, if they are wanted one after the other; the last ones with what is
 * left. */
INLINE void transpose_lines_by_rows(const struct stripe *stripe, int bytes, enum way way)
{
    const int64_t rows = stripe->streams_by_rows ? TSR_CACHE_LINE / bytes : stripe->rows;
    for (int64_t r = 0, end; r < stripe->rows; r = end) {
        struct stripe one = *stripe;
        end = r + 2 * rows <= stripe->rows ? r + rows : stripe->rows;
        one.dst += are_even(way) ? stripe->dst_row[r] : 0;
        one.dst_row += r;
        one.src += r * bytes;
        one.rows = end - r;
        for (int64_t i = 0; i < stripe->stripes; i++, go_on(&one, bytes))
            transpose_lines(&one, bytes, way);
    }
}

/* Past the caches, as always where a vector is a line, or through them, where the next line of each row is fetched if
 * that is asked for. Nothing is asked inside of the loops, which are short of registers: it took half as long again. */
INLINE void transpose_lines_any_way(const struct stripe *stripe, int bytes)
{
    if (LINE_VECTORS == 1 || stripe->streams)
        transpose_lines_by_rows(stripe, bytes, PAST);
    else if (stripe->fetches_ahead)
        transpose_lines_by_rows(stripe, bytes, AHEAD);
    else if (stripe->are_even)
        transpose_lines_by_rows(stripe, bytes, EVEN);
    else
        transpose_lines_by_rows(stripe, bytes, APART);
}

/* Also where lines are not streamed, if that is asked for; unless a vector is one, as the other kernels write lines
 * then, too. */
INLINE bool takes_lines(const tsr_tile *t, int bytes)
{
    const bool is_wide = LINE_VECTORS > 1 && bytes >= WIDE_BYTES;
    return (t->streams || (is_wide && t->fills_lines)) && t->rows >= 16 / bytes * (is_wide ? 2 : 1);
}

/* ---- lines of rows that begin anywhere ---- */

enum { VECTOR_BYTES = 16 * LANES };

/* Rows, as many as there are registers for, with two lines' worth of columns, and the line of each that begins in the
 * first half of them. */
struct window {
    vec row[TSR_ROWS_WITH_LINES][2 * LINE_VECTORS];
    char *line[TSR_ROWS_WITH_LINES];
    int64_t begin[TSR_ROWS_WITH_LINES]; /* how many bytes behind the first column */
};

/* A line's worth of columns into one half. */
INLINE void get_half(struct window *window, int half, const struct stripe *stripe, int64_t first, int64_t column,
                     int bytes, int many)
{
    const int side = 16 / bytes;
#pragma GCC unroll 2
    for (int p = 0; p < LINE_VECTORS; p++) {
        vec v[MOST_BLOCKS][16];
        if (many % 2 == 0)
            get_pairs(v, stripe, first, column + p * LANES * side, bytes, many, PAST);
        else
            get_blocks(v, stripe, first, column + p * LANES * side, bytes, LANES, many, PAST);
#pragma GCC unroll 16
        for (int j = 0; j < side * many; j++)
            window->row[j][half * LINE_VECTORS + p] = v[j / side][j % side];
    }
}

/* Writes the line of a row, if it is fresh, and makes the second half the first one. */
INLINE void put_line(struct window *window, int j, bool is_fresh, int bytes)
{
    const int64_t begin = window->begin[j];
    const vec *v = window->row[j] + (LINE_VECTORS > 1 ? begin / VECTOR_BYTES : 0);
#pragma GCC unroll 2
    for (int p = 0; p < LINE_VECTORS && is_fresh; p++)
        vec_put(window->line[j] + p * VECTOR_BYTES, vec_join(v[p], v[p + 1], begin % VECTOR_BYTES, bytes), true);
#pragma GCC unroll 2
    for (int p = 0; p < LINE_VECTORS; p++)
        window->row[j][p] = window->row[j][LINE_VECTORS + p];
    window->line[j] += TSR_CACHE_LINE;
}

/* The lines of all rows, a few rows at a time, of which columns have a line at most. The last ones begin early enough
 * to be as many. */
INLINE void transpose_to_lines(const struct stripe *stripe, int bytes)
{
    const int side = 16 / bytes, fitting = fitting_blocks(bytes, LANES),
              many = fitting < LINE_BLOCKS ? fitting : LINE_BLOCKS;
    const int64_t line = TSR_CACHE_LINE / bytes, rows = side * many;
    for (int64_t r = 0; r < stripe->rows; r += rows) {
        const int64_t first = r + rows <= stripe->rows ? r : stripe->rows - rows;
        struct window window;
        for (int64_t j = 0; j < rows; j++) {
            char *row = stripe->dst + stripe->dst_row[first + j];
            window.begin[j] = tsr_bytes_to_next_line(row);
            window.line[j] = row + window.begin[j];
        }
        get_half(&window, 0, stripe, first, 0, bytes, many);
        for (int64_t c = line; c + line <= stripe->columns; c += line) {
            get_half(&window, 1, stripe, first, c, bytes, many);
#pragma GCC unroll 16
            for (int j = 0; j < rows; j++)
                put_line(&window, j, first + j >= r, bytes);
        }
    }
}
#else
#define takes_lines(t, bytes) false
#endif
