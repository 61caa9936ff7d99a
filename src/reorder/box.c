/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/box.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/int.h"
#include "reorder/group.h"

enum { CACHE_LINE = 64 };

/* ---- which loops become rows and columns ---- */

/* Loops of a nest, and those that have found their place. */
struct choice {
    const tsr_nest *nest;
    bool is_taken[TSR_MAX_LOOPS];
    tsr_chain *row, *column;
};

typedef bool (*loop_test)(const tsr_loop *loop, int64_t n);

static bool is_run(const tsr_loop *loop, int64_t n)
{
    return !loop->dst_table && loop->src == n && loop->dst == n;
}

/* Would n elements that lie side by side in the source go on with this loop? */
static bool continues_src(const tsr_loop *loop, int64_t n)
{
    return !loop->dst_table && loop->src == n;
}

static bool continues_dst(const tsr_loop *loop, int64_t n)
{
    return !loop->dst_table && loop->dst == n;
}

static bool is_any(const tsr_loop *loop, int64_t n)
{
    (void)loop, (void)n;
    return true;
}

/* Moves the innermost free loop that passes the test into a chain, outside of what is there. */
static bool take(struct choice *choice, tsr_chain *chain, loop_test test, int64_t n)
{
    for (int i = choice->nest->count - 1; i >= 0; i--) {
        if (choice->is_taken[i] || !test(&choice->nest->loop[i], n))
            continue;
        choice->is_taken[i] = true;
        chain->loop[chain->count++] = choice->nest->loop[i];
        return true;
    }
    return false;
}

static int64_t steps_of(const tsr_chain *chain)
{
    int64_t n = 1;
    for (int j = 0; j < chain->count; j++)
        n *= chain->loop[j].n;
    return n;
}

/* About so many bytes side by side in the source make a tile, or in the destination where runs are cut and gathered. */
enum {
    SRC_TILE_BYTES = 4096,
    CHANNELS_BYTES = 12 << 10,
    RUN_BYTES = 16 << 10,
    PIECES_BYTES = 4 << 10,
    MAX_ROWS = 1024
};

/*
 * Columns of a tile that is transposed. Each is a stream of its own from the source, and there should
 * be no more streams than prefetchers follow; but where rows do not begin on cache lines, every tile
 * that is streamed reads a line's worth of columns again. What is converted first is wanted as long rows.
 */
static int64_t wanted_columns(const tsr_nest *nest, const tsr_loop *column, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    enum { CONVERTED = CACHE_LINE, ALIGNED = 2 * CACHE_LINE, UNALIGNED = 4 * CACHE_LINE };
    int64_t bits = 0;
    for (int i = 0; i < nest->count; i++)
        if (nest->loop[i].dst != column->dst)
            bits |= nest->loop[i].dst_table ? 1 : nest->loop[i].dst * conversion->dst_bytes;
    if (!conversion->is_copy)
        return (conversion->dst_bytes < conversion->src_bytes ? CONVERTED : UNALIGNED) / conversion->dst_bytes;
    return (workshop->streams && bits % CACHE_LINE == 0 ? ALIGNED : UNALIGNED) / conversion->dst_bytes;
}

static bool grow_rows(struct choice *choice, int64_t enough)
{
    int64_t n = steps_of(choice->row);
    return n < enough && take(choice, choice->row, continues_src, n);
}

static bool grow_columns(struct choice *choice, int64_t enough)
{
    int64_t n = steps_of(choice->column);
    return n < enough && take(choice, choice->column, continues_dst, n);
}

static bool is_short_side(int64_t n)
{
    return n == 2 || n == 3 || n == 4 || n == 8;
}

/* Rows are what lies side by side in the source, columns in the destination; the shorter side grows first. */
static tsr_motion choose_transpose(struct choice *choice, const tsr_workshop *workshop)
{
    const tsr_loop *row = &choice->row->loop[0], *column = &choice->column->loop[0];
    int64_t rows = SRC_TILE_BYTES / workshop->conversion->src_bytes,
            columns = wanted_columns(choice->nest, column, workshop);
    if (is_short_side(column->n) && row->dst == column->n)
        return TSR_MOTION_INTERLEAVE;
    if (is_short_side(row->n) && column->src == row->n)
        return TSR_MOTION_DEINTERLEAVE;
    bool grew = true;
    while (grew) {
        grew = steps_of(choice->row) < steps_of(choice->column) && grow_rows(choice, rows);
        grew = grew || grow_columns(choice, columns) || grow_rows(choice, rows);
    }
    return TSR_MOTION_TRANSPOSE;
}

/* Columns are a run, and rows those that continue it in the destination. */
static tsr_motion choose_copy(struct choice *choice)
{
    int64_t run = steps_of(choice->column), rows = 1;
    while (rows < MAX_ROWS && take(choice, choice->row, continues_dst, run * rows))
        rows = steps_of(choice->row);
    if (choice->row->count == 0)
        take(choice, choice->row, is_any, 0);
    choice->column->is_run = true;
    return TSR_MOTION_COPY;
}

static tsr_motion choose(struct choice *choice, bool is_padding, const tsr_workshop *workshop)
{
    if (!is_padding && (take(choice, choice->column, is_run, 1) || choice->nest->count == 0))
        return choose_copy(choice);
    bool has_columns = take(choice, choice->column, continues_dst, 1);
    if (!is_padding && has_columns && take(choice, choice->row, continues_src, 1))
        return choose_transpose(choice, workshop);
    if (!has_columns)
        take(choice, choice->column, is_any, 0);
    else
        while (grow_columns(choice, is_padding ? RUN_BYTES / workshop->conversion->dst_bytes : MAX_ROWS))
            ;
    choice->column->is_run = is_padding && has_columns;
    take(choice, choice->row, is_any, 0);
    return is_padding ? TSR_MOTION_ZERO : TSR_MOTION_PICK;
}

/* ---- kernels ---- */

/* The width that the kernel of a box sees: that of the narrower type, where there is a choice. */
static int64_t moved_bytes(const tsr_box *box, const tsr_conversion *conversion)
{
    if (box->motion == TSR_MOTION_ZERO || tsr_converts_first(box, conversion))
        return conversion->dst_bytes;
    return conversion->src_bytes;
}

static void set_kernel(tsr_box *box, const tsr_kernels *kernels, const tsr_conversion *conversion)
{
    int width = tsr_width_of_bytes(moved_bytes(box, conversion));
    const tsr_tile_entry *entry = NULL;
    switch (box->motion) {
    case TSR_MOTION_COPY:
        entry = &kernels->copy[0];
        break;
    case TSR_MOTION_TRANSPOSE:
        entry = &kernels->transpose[width];
        break;
    case TSR_MOTION_INTERLEAVE:
        entry = &kernels->interleave[width];
        break;
    case TSR_MOTION_DEINTERLEAVE:
        entry = &kernels->deinterleave[width];
        break;
    default:
        entry = &kernels->pick[width];
    }
    box->kernel = entry->run;
    box->kernel_name = box->motion == TSR_MOTION_ZERO ? "zero" : entry->name;
    if (box->motion == TSR_MOTION_COPY && !conversion->is_copy)
        box->kernel_name = "rows";
}

/* ---- tiles ---- */

/* Steps of a tile of rows and of columns. */
static void wanted_steps(const tsr_box *box, const tsr_nest *nest, const tsr_workshop *workshop, int64_t *rows,
                         int64_t *columns)
{
    const tsr_conversion *conversion = workshop->conversion;
    int64_t widest = tsr_max(conversion->src_bytes, conversion->dst_bytes);
    int64_t run = steps_of(&box->column);
    switch (box->motion) {
    case TSR_MOTION_TRANSPOSE:
        *rows = SRC_TILE_BYTES / conversion->src_bytes;
        *columns = wanted_columns(nest, &box->column.loop[0], workshop);
        break;
    case TSR_MOTION_INTERLEAVE:
        *rows = CHANNELS_BYTES / (widest * run);
        *columns = run;
        break;
    case TSR_MOTION_DEINTERLEAVE:
        *rows = box->row.loop[0].n;
        *columns = CHANNELS_BYTES / (widest * *rows);
        break;
    default:
        *columns = tsr_min(RUN_BYTES / widest, tsr_max(tsr_ceil_div(run, workshop->threads), CACHE_LINE));
        if (!box->column.is_run)
            *columns = tsr_min(*columns, MAX_ROWS);
        *rows = tsr_max(1, tsr_min(MAX_ROWS, PIECES_BYTES / (tsr_min(run, *columns) * widest)));
    }
}

static tsr_status make_tiles(tsr_box *box, const tsr_nest *nest, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    int64_t rows, columns, line = CACHE_LINE / conversion->dst_bytes;
    wanted_steps(box, nest, workshop, &rows, &columns);
    tsr_status status =
        tsr_chain_init(&box->row, rows, 0, conversion->src_bytes, conversion->dst_bytes, workshop->allocator);
    if (status == TSR_OK)
        status = tsr_chain_init(&box->column, columns, workshop->streams ? line : 0, conversion->src_bytes,
                                conversion->dst_bytes, workshop->allocator);
    return status;
}

/* ---- how a destination is written ---- */

static bool has_dense_columns(const tsr_box *box, int64_t dst_bytes)
{
    const int64_t tile = box->column.is_table ? box->column.step : INT64_MAX;
    for (int64_t c = 1; !box->column.is_run && c < box->column.length; c++)
        if (box->column.dst[c] != c % tile * dst_bytes)
            return false;
    return true;
}

static bool rows_are_dense(const tsr_box *box, int64_t dst_bytes)
{
    if (box->column.tiles > 1 || box->row.is_table || !has_dense_columns(box, dst_bytes))
        return false;
    for (int64_t r = 1; r < box->row.step; r++)
        if (box->row.dst[r] != r * box->column.n * dst_bytes)
            return false;
    return true;
}

/* Tables of the walk count as odd. */
static int64_t bits_of_destination(const tsr_box *box, int64_t dst_bytes)
{
    int64_t bits = box->dst * dst_bytes;
    for (int i = 0; i < box->walk_count; i++)
        bits |= box->walk[i].dst_table ? 1 : box->walk[i].dst;
    for (int64_t r = 0; r < box->row.length; r++)
        bits |= box->row.dst[r];
    return bits;
}

/* Streaming pays where cache lines are mostly written whole: in long rows, or in rows that are whole lines. */
static bool can_stream(const tsr_box *box, int64_t dst_bytes)
{
    enum { LONG_ROW = 4 * CACHE_LINE };
    int64_t row_bytes = box->column.n * dst_bytes;
    if (box->motion == TSR_MOTION_ZERO || !has_dense_columns(box, dst_bytes))
        return false;
    if (box->is_dense)
        return row_bytes * box->row.step >= LONG_ROW;
    return row_bytes >= LONG_ROW || (row_bytes % CACHE_LINE == 0 && box->dst_bits % CACHE_LINE == 0);
}

/* ---- groups ---- */

/* Rows that the first-level cache holds twice, and of a transpose at least so many that cache lines of the source are read whole. */
static int64_t rows_of_group(const tsr_box *box, const tsr_conversion *conversion, int64_t columns)
{
    enum { GROUP_BYTES = 8 << 10, CONVERTED_ROWS = 128 };
    int64_t widest = tsr_max(conversion->src_bytes, conversion->dst_bytes), line = CACHE_LINE / conversion->src_bytes;
    int64_t rows = tsr_max(1, GROUP_BYTES / (columns * widest));
    switch (box->motion) {
    case TSR_MOTION_TRANSPOSE:
        if (!conversion->is_copy && tsr_converts_first(box, conversion))
            line = CONVERTED_ROWS;
        return tsr_min(TSR_SCRATCH_ROWS, tsr_max(line, rows / line * line));
    case TSR_MOTION_INTERLEAVE:
    case TSR_MOTION_DEINTERLEAVE:
        return box->row.step;
    default:
        return conversion->is_copy && !box->streams ? box->row.step : tsr_min(TSR_SCRATCH_ROWS, rows);
    }
}

/* Scratch memory is needed on the way to another type, and to whole cache lines. */
static tsr_status make_groups(tsr_box *box, const tsr_conversion *conversion, const tsr_allocator *allocator)
{
    const int64_t src_bytes = conversion->src_bytes, dst_bytes = conversion->dst_bytes;
    int64_t wide = tsr_min(box->column.n, box->column.step + CACHE_LINE / dst_bytes);
    box->scratch.columns = box->column.step;
    box->scratch.rows = tsr_min(box->row.step, rows_of_group(box, conversion, box->streams ? wide : box->column.step));
    box->wide_scratch = (tsr_scratch){.rows = box->scratch.rows, .columns = wide};
    if (box->motion == TSR_MOTION_ZERO || (conversion->is_copy && !box->streams))
        return TSR_OK;
    tsr_status status = tsr_scratch_init(&box->scratch, src_bytes, dst_bytes, allocator);
    if (status == TSR_OK && box->streams && wide > box->column.step)
        status = tsr_scratch_init(&box->wide_scratch, src_bytes, dst_bytes, allocator);
    return status;
}

/* ---- the walk ---- */

/* How far a step moves where it moves less, but for sides that stand still. */
static int64_t distance(const tsr_loop *loop)
{
    int64_t src = llabs(loop->src_table ? loop->src_table[1] : loop->src);
    int64_t dst = llabs(loop->dst_table ? loop->dst_table[1] : loop->dst);
    return src == 0 ? dst : dst == 0 ? src : tsr_min(src, dst);
}

static void add_to_walk(tsr_box *box, const tsr_loop *loop, int *where)
{
    int at = box->walk_count;
    *where = -1;
    if (loop->n == 1)
        return;
    for (; at > 0 && distance(&box->walk[at - 1]) < distance(loop); at--) {
        box->walk[at] = box->walk[at - 1];
        box->row_walk += box->row_walk == at - 1;
        box->column_walk += box->column_walk == at - 1;
    }
    box->walk[at] = *loop;
    box->walk_count++;
    *where = at;
}

static void make_walk(tsr_box *box, const tsr_conversion *conversion)
{
    int where;
    box->row_walk = box->column_walk = -1;
    for (int i = 0; i < box->outer_count; i++) {
        tsr_loop loop = box->outer[i];
        loop.src *= conversion->src_bytes;
        loop.dst *= conversion->dst_bytes;
        add_to_walk(box, &loop, &where);
    }
    add_to_walk(box, &box->row.tile, &where);
    box->row_walk = where;
    add_to_walk(box, &box->column.tile, &where);
    box->column_walk = where;
    box->items = 1;
    for (int i = 0; i < box->walk_count; i++)
        box->items *= box->walk[i].n;
}

/* ---- all together ---- */

/* Loops of both chains, the outer ones, and the walk with its two tiles. */
static tsr_status allocate_loops(tsr_box *box, int count, const tsr_allocator *allocator)
{
    size_t loops = 4 * (size_t)count + 2;
    box->row.loop = tsr_allocate_zeroed(allocator, loops, sizeof *box->row.loop);
    if (!box->row.loop)
        return TSR_OUT_OF_MEMORY;
    box->loop_bytes = (int64_t)(loops * sizeof *box->row.loop);
    box->column.loop = box->row.loop + count;
    box->outer = box->column.loop + count;
    box->walk = box->outer + count;
    return TSR_OK;
}

tsr_status tsr_box_init(tsr_box *box, const tsr_nest *nest, bool is_padding, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    struct choice choice = {.nest = nest, .row = &box->row, .column = &box->column};
    *box = (tsr_box){.src = nest->src, .dst = nest->dst, .factor = nest->factor};
    tsr_status status = allocate_loops(box, nest->count, workshop->allocator);
    if (status != TSR_OK)
        return status;
    box->elements = tsr_nest_elements(nest);
    box->motion = choose(&choice, is_padding, workshop);
    for (int i = 0; i < nest->count; i++)
        if (!choice.is_taken[i])
            box->outer[box->outer_count++] = nest->loop[i];
    status = make_tiles(box, nest, workshop);
    if (status != TSR_OK) {
        tsr_box_reset(box, workshop->allocator);
        return status;
    }
    set_kernel(box, workshop->kernels, conversion);
    make_walk(box, conversion);
    box->is_dense = rows_are_dense(box, conversion->dst_bytes);
    box->dst_bits = bits_of_destination(box, conversion->dst_bytes);
    box->streams = workshop->streams && can_stream(box, conversion->dst_bytes);
    status = make_groups(box, conversion, workshop->allocator);
    if (status != TSR_OK)
        tsr_box_reset(box, workshop->allocator);
    return status;
}

void tsr_box_reset(tsr_box *box, const tsr_allocator *allocator)
{
    tsr_loop *loops = box->row.loop;
    tsr_chain_reset(&box->row, allocator);
    tsr_chain_reset(&box->column, allocator);
    tsr_scratch_reset(&box->scratch, allocator);
    tsr_scratch_reset(&box->wide_scratch, allocator);
    tsr_deallocate(allocator, loops, (size_t)box->loop_bytes);
    *box = (tsr_box){0};
}
