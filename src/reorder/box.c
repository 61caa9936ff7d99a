/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/box.h"

#include "base/int.h"
#include "reorder/tile.h"

static bool is_run(const tsr_loop *loop)
{
    return !loop->dst_table && loop->src == 1 && loop->dst == 1;
}

static bool is_src_run(const tsr_loop *loop)
{
    return !loop->dst_table && loop->src == 1;
}

static bool is_dst_run(const tsr_loop *loop)
{
    return !loop->dst_table && loop->dst == 1;
}

static bool is_linear(const tsr_loop *loop)
{
    return !loop->dst_table;
}

static bool is_table(const tsr_loop *loop)
{
    return loop->dst_table != NULL;
}

/* The innermost loop of a kind, or -1. */
static int find(const tsr_nest *nest, bool (*is_kind)(const tsr_loop *), int except)
{
    for (int i = nest->count - 1; i >= 0; i--)
        if (i != except && is_kind(&nest->loop[i]))
            return i;
    return -1;
}

/* The motion, and which loops become row and column; -1 stands for a loop of one step. */
static tsr_motion choose(const tsr_nest *nest, bool is_padding, int *row, int *column)
{
    if (is_padding) {
        *column = find(nest, is_linear, -1);
        *row = find(nest, is_linear, *column);
        return TSR_MOTION_ZERO;
    }
    *column = find(nest, is_run, -1);
    if (*column >= 0 || nest->count == 0) {
        *row = find(nest, is_linear, *column);
        return TSR_MOTION_COPY;
    }
    *column = find(nest, is_dst_run, -1);
    *row = find(nest, is_src_run, *column);
    if (*column >= 0 && *row >= 0)
        return TSR_MOTION_TRANSPOSE;
    int table = find(nest, is_table, -1);
    *column = find(nest, is_linear, -1);
    if (*column >= 0 && (table < 0 || nest->loop[*column].n >= nest->loop[table].n)) {
        *row = find(nest, is_linear, *column);
        return TSR_MOTION_STRIDED;
    }
    *row = *column;
    *column = table;
    return TSR_MOTION_GATHER;
}

/* Sets the kernel and returns its name; side by side elements that are converted need no other than the converters. */
static const char *set_kernel(tsr_box *box, const tsr_kernels *kernels, const tsr_conversion *conversion)
{
    int width = tsr_width_of_bytes(tsr_min(conversion->src_bytes, conversion->dst_bytes));
    switch (box->motion) {
    case TSR_MOTION_COPY:
        box->kernel = kernels->copy[width].run;
        return conversion->is_copy ? kernels->copy[width].name : "rows";
    case TSR_MOTION_TRANSPOSE:
        box->kernel = kernels->transpose[width].run;
        return kernels->transpose[width].name;
    case TSR_MOTION_STRIDED:
        box->kernel = kernels->strided[width].run;
        return kernels->strided[width].name;
    case TSR_MOTION_GATHER:
        return kernels->gather[width].name;
    default:
        return "zero";
    }
}

void tsr_box_init(tsr_box *box, const tsr_nest *nest, bool is_padding, const tsr_kernels *kernels,
                  const tsr_conversion *conversion, tsr_loop *outer)
{
    static const tsr_loop once = {.n = 1, .src = 1, .dst = 1};
    int row, column;
    *box = (tsr_box){.src = nest->src, .dst = nest->dst, .factor = nest->factor, .outer = outer};
    box->motion = choose(nest, is_padding, &row, &column);
    box->kernel_name = set_kernel(box, kernels, conversion);
    box->row = row >= 0 ? nest->loop[row] : once;
    box->column = column >= 0 ? nest->loop[column] : once;
    box->elements = tsr_nest_elements(nest);
    for (int i = 0; i < nest->count; i++)
        if (i != row && i != column)
            outer[box->outer_count++] = nest->loop[i];
}

/*
 * The largest power of two whose square, in source and destination, fills at most 3/4 of the first-
 * level cache.
 */
static int64_t tile_side(int64_t element_bytes, int64_t l1_bytes)
{
    int64_t side = 16;
    while (side < 128 && 2 * (2 * side) * (2 * side) * element_bytes <= l1_bytes * 3 / 4)
        side *= 2;
    return side;
}

/*
 * A transpose is cut into tiles of one area, square or as narrow as the box; a copy only as far as
 * threads need it.
 */
void tsr_box_cut(tsr_box *box, const tsr_conversion *conversion, const tsr_topology *topology, int threads)
{
    int64_t bytes = tsr_max(conversion->src_bytes, conversion->dst_bytes);
    int64_t side = tile_side(bytes, topology->l1_bytes), area = side * side;
    int64_t rows = box->row.n, columns = box->column.n;
    if (box->motion == TSR_MOTION_TRANSPOSE && rows <= columns) {
        box->row_step = tsr_min(rows, side);
        box->column_step = tsr_min(columns, area / box->row_step / side * side);
    } else if (box->motion == TSR_MOTION_TRANSPOSE) {
        box->column_step = tsr_min(columns, side);
        box->row_step = tsr_min(rows, area / box->column_step / side * side);
    } else if (box->motion == TSR_MOTION_COPY || box->motion == TSR_MOTION_ZERO) {
        int64_t piece = tsr_max(tsr_ceil_div(columns, threads), 8 * area);
        box->column_step = tsr_min(columns, (piece + 63) / 64 * 64);
        box->row_step = tsr_max(1, tsr_min(rows, area / tsr_min(box->column_step, area)));
    } else {
        box->column_step = tsr_min(columns, area);
        box->row_step = tsr_max(1, tsr_min(rows, area / box->column_step));
    }
    box->row_tiles = tsr_ceil_div(rows, box->row_step);
    box->column_tiles = tsr_ceil_div(columns, box->column_step);
    box->items = box->row_tiles * box->column_tiles * (box->elements / (rows * columns));
}

/* The odometer: where an item is. */
struct position {
    int64_t src, dst, factor; /* without the tile */
    int64_t row_tile, column_tile;
    int64_t step[TSR_MAX_LOOPS];
};

static int64_t src_at(const tsr_loop *loop, int64_t i)
{
    return loop->src_table ? loop->src_table[i] : i * loop->src;
}

static int64_t dst_at(const tsr_loop *loop, int64_t i)
{
    return loop->dst_table ? loop->dst_table[i] : i * loop->dst;
}

/* Moves one outer loop from step i to step j. */
static void move(struct position *at, const tsr_loop *loop, int64_t i, int64_t j)
{
    at->src += src_at(loop, j) - src_at(loop, i);
    at->dst += dst_at(loop, j) - dst_at(loop, i);
    at->factor += (j - i) * loop->factor;
}

static void seek(const tsr_box *box, struct position *at, int64_t item)
{
    at->src = box->src;
    at->dst = box->dst;
    at->factor = box->factor;
    at->column_tile = item % box->column_tiles;
    item /= box->column_tiles;
    at->row_tile = item % box->row_tiles;
    item /= box->row_tiles;
    for (int i = box->outer_count - 1; i >= 0; i--) {
        at->step[i] = item % box->outer[i].n;
        item /= box->outer[i].n;
        move(at, &box->outer[i], 0, at->step[i]);
    }
}

static void advance(const tsr_box *box, struct position *at)
{
    if (++at->column_tile < box->column_tiles)
        return;
    at->column_tile = 0;
    if (++at->row_tile < box->row_tiles)
        return;
    at->row_tile = 0;
    for (int i = box->outer_count - 1; i >= 0; i--) {
        int64_t step = at->step[i], next = step + 1 < box->outer[i].n ? step + 1 : 0;
        move(at, &box->outer[i], step, next);
        at->step[i] = next;
        if (next > 0)
            return;
    }
}

void tsr_box_run(const tsr_box *box, const tsr_kernels *kernels, const tsr_conversion *conversion, const void *src,
                 void *dst, int64_t begin, int64_t end)
{
    struct position at;
    tsr_place place = {.kernels = kernels, .conversion = conversion};
    seek(box, &at, begin);
    for (int64_t item = begin; item < end; item++, advance(box, &at)) {
        int64_t row = at.row_tile * box->row_step, column = at.column_tile * box->column_step;
        place.rows = tsr_min(box->row_step, box->row.n - row);
        place.columns = tsr_min(box->column_step, box->column.n - column);
        place.first_column = column;
        int64_t column_src = box->column.src_table ? 0 : column * box->column.src;
        int64_t column_dst = box->column.dst_table ? 0 : column * box->column.dst;
        place.src = (const char *)src + (at.src + row * box->row.src + column_src) * conversion->src_bytes;
        place.dst = (char *)dst + (at.dst + row * box->row.dst + column_dst) * conversion->dst_bytes;
        place.factor = at.factor + row * box->row.factor + column * box->column.factor;
        tsr_tile_run(box, &place);
    }
}
