/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/lines_inside.h"

#include "base/int.h"
#include "reorder/group.h"

/* ---- pixels ---- */

/* Those of a tile, and how far each is from the one before, in bytes. */
typedef struct pixels {
    const tsr_side *side;
    int64_t src, dst;
} pixels;

static pixels pixels_of(const tsr_place *place)
{
    const int64_t src_bytes = place->conversion->src_bytes;
    if (place->box->motion == TSR_MOTION_INTERLEAVE)
        return (pixels){&place->row, src_bytes, place->box->row_bytes};
    return (pixels){&place->column, place->row.count * src_bytes, place->conversion->dst_bytes};
}

/* The first from one on that begins with a line; or -1, of any, as those of 32 bytes begin elsewhere. */
static int64_t next_with_line(const tsr_place *place, const pixels *pixels, int64_t from)
{
    for (int64_t p = from; p < from + TSR_CACHE_LINE; p++)
        if (tsr_bytes_to_next_line(place->dst + p * pixels->dst) == 0)
            return p;
    return -1;
}

/* Do tiles have their lines all equally far behind their first pixels? */
static bool pixels_have_lines(const tsr_place *place)
{
    const tsr_box *box = place->box;
    const pixels pixels = pixels_of(place);
    const bool are_alike = box->motion == TSR_MOTION_INTERLEAVE
                               ? box->is_dense && (box->row.tiles == 1 || box->row.tile.dst % TSR_CACHE_LINE == 0)
                               : box->dst_bits % TSR_CACHE_LINE == 0;
    const bool are_at_once = tsr_is_straight(place->conversion) || tsr_has_pixels_at_once(box, place->conversion);
    return box->streams_lines && are_at_once && are_alike && next_with_line(place, &pixels, 0) >= 0;
}

static void run_pixels(const tsr_place *place, const pixels *pixels, int64_t begin, int64_t end, bool streams_lines)
{
    tsr_place part;
    if (begin >= end)
        return;
    tsr_place_view_rows(&part, place);
    part.src = place->src + begin * pixels->src;
    part.dst = place->dst + begin * pixels->dst;
    part.streams_lines = streams_lines;
    part.row.count = pixels->side == &place->row ? end - begin : place->row.count;
    part.column.count = pixels->side == &place->column ? end - begin : place->column.count;
    tsr_tile_run_straight(&part);
}

static void run_lines_of_pixels(const tsr_place *place)
{
    const pixels pixels = pixels_of(place);
    const int64_t count = pixels.side->count, all = count + pixels.side->spare;
    const int64_t begin = tsr_min(all, next_with_line(place, &pixels, 0));
    if (pixels.side->is_first)
        run_pixels(place, &pixels, 0, begin, false);
    run_pixels(place, &pixels, begin, tsr_min(all, next_with_line(place, &pixels, count)), true);
}

/* ---- rows ---- */

/*
 * Rows that go on in others: in those that the outermost loop of the tile's rows has next, or a loop of the walk. What
 * lies before the first line of a row belongs to the one before it, if there is one.
 */
typedef struct next {
    int64_t src;   /* how far behind each row, in the source, lies the one in which it goes on; */
    int64_t rows;  /* so many rows do, from the first on; the last ones have none behind them, */
    int64_t begun; /* as have so many of the first ones before them */
} next;

static bool find_next(next *next, const tsr_place *place)
{
    const tsr_box *box = place->box;
    const tsr_chain *row = &box->row;
    if (box->next_walk >= 0) {
        const tsr_loop *loop = &box->walk[box->next_walk];
        next->src = loop->src;
        next->rows = place->next_step < loop->n - 1 ? place->row.count : 0;
        next->begun = place->next_step == 0 ? place->row.count : 0;
        return true;
    }
    if (!tsr_rows_go_on(row, box->row_bytes / place->conversion->dst_bytes))
        return false;
    const int64_t inner = tsr_inner_steps_of(row);
    next->src = row->loop[row->count - 1].src * place->conversion->src_bytes;
    next->rows = place->row.count - (place->row.spare == 0 ? inner : 0);
    next->begun = place->row.is_first ? inner : 0;
    return true;
}

/* Of rows of whole lines, if a table of their columns can be made, and there is room for it. */
static bool find_next_of_columns(next *next, const tsr_place *place)
{
    const tsr_box *box = place->box;
    return box->row_bytes % TSR_CACHE_LINE == 0 && !box->column.is_table && box->column.step <= TSR_SCRATCH_COLUMNS &&
           find_next(next, place);
}

/* Rows and columns of a tile. */
typedef struct part {
    int64_t row, rows, column, columns;
} part;

/* Those of each column are from `src` on. */
static void run_part(const tsr_place *place, const part *of, const int64_t *src, bool streams_lines)
{
    tsr_place part;
    if (of->rows <= 0 || of->columns <= 0)
        return;
    tsr_place_view(&part, place);
    part.dst = place->dst + of->column * place->conversion->dst_bytes;
    part.streams_lines = streams_lines && place->box->streams_lines;
    part.row.count = of->rows;
    part.row.src = place->row.src + of->row;
    part.row.dst = place->row.dst + of->row;
    part.row.factor = place->row.factor + of->row;
    part.column.src = src;
    part.column.count = of->columns;
    tsr_tile_run_straight(&part);
}

static void run_columns(const tsr_place *place, int64_t row, int64_t begin, int64_t end, bool streams_lines)
{
    const part part = {row, place->row.count - row, begin, end - begin};
    run_part(place, &part, place->column.src + begin, streams_lines);
}

/* Rows of the last columns, from the first line on, with what the next rows have before theirs. */
static void run_rows_to_next(const tsr_place *place, const next *next, int64_t first)
{
    const tsr_chain *chain = &place->box->column;
    const int64_t count = place->column.count, to_next = next->src - (chain->tiles - 1) * chain->tile.src;
    const part part = {0, next->rows, first, count};
    int64_t column[TSR_SCRATCH_COLUMNS];
    if (next->rows == 0)
        return;
    for (int64_t c = first; c < count; c++)
        column[c - first] = place->column.src[c];
    for (int64_t c = 0; c < first; c++)
        column[count - first + c] = chain->src[c] + to_next;
    run_part(place, &part, column, true);
}

static void run_lines_of_rows(const tsr_place *place)
{
    const int64_t size = place->conversion->dst_bytes, line = TSR_CACHE_LINE / size, count = place->column.count;
    const int64_t first = tsr_bytes_to_next_line(place->dst) / size, spare = tsr_min(place->column.spare, first);
    const int64_t end = count + spare, last = first + tsr_max(0, end - first) / line * line;
    next next = {.begun = place->row.count};
    if (find_next_of_columns(&next, place) && place->column.spare > 0)
        next.rows = 0;
    if (place->column.is_first) {
        const part begin = {0, next.begun, 0, first};
        run_part(place, &begin, place->column.src, false);
    }
    run_rows_to_next(place, &next, first);
    run_columns(place, next.rows, first, last, true);
    run_columns(place, next.rows, last, end, false);
}

/* Of tiles that are moved by one call each has its own ends, unless all are alike. */
static void run_lines_of_tile(const tsr_place *place, int64_t k)
{
    const tsr_box *box = place->box;
    const int innermost = box->walk_count - 1;
    const int64_t rows = box->row_walk == innermost ? k : 0, columns = box->column_walk == innermost ? k : 0;
    tsr_place part;
    tsr_place_view_rows(&part, place);
    part.src = place->src + k * place->src_tile;
    part.dst = place->dst + k * place->dst_tile;
    part.tiles = 1;
    part.next_step = place->next_step + (box->next_walk == innermost ? k : 0);
    part.row.spare = place->row.spare - rows * box->row.step;
    part.row.is_first = place->row.is_first && rows == 0;
    part.column.count = place->column.count;
    part.column.spare = place->column.spare - columns * box->column.step;
    part.column.is_first = place->column.is_first && columns == 0;
    run_lines_of_rows(&part);
}

static void run_lines_of_tiles(const tsr_place *place)
{
    const tsr_box *box = place->box;
    const int innermost = box->walk_count - 1;
    const bool are_alike = box->row_walk != innermost && box->column_walk != innermost && box->next_walk != innermost;
    if (place->tiles == 1 || are_alike)
        run_lines_of_rows(place);
    else
        for (int64_t k = 0; k < place->tiles; k++)
            run_lines_of_tile(place, k);
}

/* Is the first line of each row equally far behind its begin? Tiles that go through the caches are moved by lines as
 * well, where vectors are so wide that most would lie across two, unless their rows are one piece. */
static bool rows_have_lines(const tsr_place *place)
{
    const tsr_box *box = place->box;
    const bool are_few_vectors = place->kernels->can_stream_lines && box->fills_lines && !box->is_dense;
    next next;
    if (!box->streams_lines && (!are_few_vectors || box->streams || box->buffers))
        return false;
    if (box->dst_bits % TSR_CACHE_LINE != 0 || tsr_has_odd_units(place->conversion) || !tsr_has_aligned_elements(place))
        return false;
    return tsr_is_long_row(box->row_bytes) || find_next_of_columns(&next, place);
}

/* ---- runs ---- */

static bool runs_have_lines(const tsr_place *place)
{
    const tsr_box *box = place->box;
    next next;
    return box->streams && place->conversion->is_copy && !place->conversion->unpack && box->column.tiles == 1 &&
           (box->dst_bits | box->row_bytes) % TSR_CACHE_LINE == 0 && find_next(&next, place) &&
           next.src >= box->row_bytes;
}

/* Of so many runs, each from one byte on to another one. */
static void run_bytes(const tsr_place *place, int64_t row, int64_t rows, int64_t begin, int64_t end,
                      tsr_tile_kernel kernel)
{
    const tsr_tile part = {
        .rows = rows, .columns = end - begin, .dst_row = place->row.dst + row, .src_row = place->row.src + row};
    kernel(place->dst + begin, place->src + begin, &part);
}

/* Here, a line belongs to the run that has its end: what the one before has of it was mostly read a few runs ago, and
 * memory is read in order. */
static void run_lines_of_runs(const tsr_place *place)
{
    const int64_t bytes = place->box->row_bytes, first = tsr_bytes_to_next_line(place->dst);
    const int64_t last = bytes - TSR_CACHE_LINE + first, count = place->row.count;
    next next;
    find_next(&next, place);
    const tsr_tile begun = {.rows = count - next.begun,
                            .columns = bytes,
                            .dst_row = place->row.dst + next.begun,
                            .src_row = place->row.src + next.begun,
                            .src_pitch = next.src};
    run_bytes(place, 0, next.begun, 0, last, place->kernels->stream);
    place->kernels->stream_behind(place->dst, place->src, &begun);
    run_bytes(place, next.rows, count - next.rows, last, bytes, place->kernels->copy[0].run);
}

/* ---- all together ---- */

bool tsr_has_lines_inside(const tsr_place *place)
{
    const tsr_box *box = place->box;
    if (tsr_bytes_to_next_line(place->dst) == 0 || box->padding_bytes > 0)
        return false;
    switch (box->motion) {
    case TSR_MOTION_COPY:
        return runs_have_lines(place);
    case TSR_MOTION_TRANSPOSE:
        return tsr_is_straight(place->conversion) && rows_have_lines(place);
    case TSR_MOTION_INTERLEAVE:
    case TSR_MOTION_DEINTERLEAVE:
        return pixels_have_lines(place);
    default:
        return false;
    }
}

void tsr_run_lines_inside(const tsr_place *place)
{
    switch (place->box->motion) {
    case TSR_MOTION_COPY:
        run_lines_of_runs(place);
        break;
    case TSR_MOTION_TRANSPOSE:
        run_lines_of_tiles(place);
        break;
    default:
        run_lines_of_pixels(place);
    }
}
