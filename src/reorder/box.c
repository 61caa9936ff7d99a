/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/box.h"

#include "base/alloc.h"
#include "base/int.h"
#include "reorder/box_groups.h"
#include "reorder/box_lanes.h"
#include "reorder/box_walk.h"
#include "reorder/group.h"
#include "reorder/shape.h"
#include "reorder/writes.h"

/* ---- kernels ---- */

/* The width that the kernel of a box sees: that of the narrower type, where there is a choice. */
static int64_t moved_bytes(const tsr_box *box, const tsr_conversion *conversion)
{
    if (box->motion == TSR_MOTION_ZERO || box->converts_first)
        return conversion->dst_bytes;
    return conversion->src_bytes;
}

static void set_kernel(tsr_box *box, const tsr_kernels *kernels, const tsr_conversion *conversion)
{
    int width = tsr_width_of_bytes(moved_bytes(box, conversion));
    const tsr_tile_entry *entry = NULL;
    switch (box->motion) {
    case TSR_MOTION_COPY:
        entry = box->scatters         ? &kernels->scatter[0]
                : box->writes_padding ? &kernels->copy_padded[0]
                                      : &kernels->copy[0];
        break;
    case TSR_MOTION_TRANSPOSE:
        entry = tsr_has_odd_units(conversion) ? &kernels->transpose_units[width]
                : box->pads_pixels            ? &kernels->pad[width]
                : box->writes_padding         ? &kernels->transpose_padded[width]
                                              : &kernels->transpose[width];
        break;
    case TSR_MOTION_INTERLEAVE:
        entry = &kernels->interleave[width];
        break;
    case TSR_MOTION_DEINTERLEAVE:
        entry = &kernels->deinterleave[width];
        break;
    case TSR_MOTION_UNPAD:
        entry = &kernels->unpad[width];
        break;
    case TSR_MOTION_PICK:
        entry = box->lanes.lane ? &kernels->shuffle[width] : &kernels->pick[width];
        break;
    default:
        entry = &kernels->pick[width];
    }
    box->kernel = entry->run;
    box->kernel_name = box->motion == TSR_MOTION_ZERO ? "zero" : entry->name;
    if (box->motion == TSR_MOTION_COPY && !tsr_is_straight(conversion))
        box->kernel_name = "rows";
    if (tsr_box_loads_pixels(box, conversion))
        box->kernel_name = "pixels";
    if (tsr_box_joins_pixels(box, conversion))
        box->kernel_name = "joined_pixels";
    if (!tsr_is_straight(conversion) && box->pads_pixels)
        box->kernel_name = "padded_pixels";
    if (box->finds_lines)
        box->kernel_name = kernels->lines[width].name;
}

/* ---- how a destination is written ---- */

static bool columns_are_dense(const tsr_box *box, int64_t dst_bytes)
{
    const tsr_chain *column = &box->column;
    const int64_t tile = column->is_table ? column->step : column->length;
    for (int64_t first = 0; !column->is_run && first < column->length; first += tile)
        for (int64_t c = first; c < tsr_min(first + tile, column->length); c++)
            if (column->dst[c] != (c - first) * dst_bytes)
                return false;
    return true;
}

/* Do the rows of a tile continue each other? */
static bool has_dense_rows(const tsr_box *box)
{
    if (box->column.tiles > 1 || box->row.is_table || !box->has_dense_columns)
        return false;
    for (int64_t r = 1; r < box->row.step; r++)
        if (box->row.dst[r] != r * box->row_bytes)
            return false;
    return true;
}

static bool has_dense_runs(const tsr_box *box, int64_t src_bytes)
{
    if (box->motion != TSR_MOTION_COPY || box->column.tiles > 1 || box->row.is_table)
        return false;
    for (int64_t r = 1; r < box->row.step; r++)
        if (box->row.src[r] != r * box->column.n * src_bytes)
            return false;
    return true;
}

/* Tables of the walk count as odd. Where the destination itself begins is not known before it is run. */
static int64_t bits_of_destination(const tsr_box *box)
{
    int64_t bits = 0;
    for (int i = 0; i < box->walk_count; i++)
        bits |= box->walk[i].dst_table ? 1 : box->walk[i].dst;
    for (int64_t r = 0; r < box->row.length; r++)
        bits |= box->row.dst[r];
    return bits;
}

/* ---- rows with zeros, and pixels in pieces ---- */

/* Is there a kernel for rows with zeros behind them? For a copy of whole lanes there is, if nothing is converted. */
static bool can_write_padding(const tsr_box *box, const tsr_conversion *conversion)
{
    if (box->motion == TSR_MOTION_COPY)
        return box->padding_bytes > 0 && box->row_bytes % TSR_LANE_BYTES == 0 && tsr_is_straight(conversion);
    return box->pads_pixels || (box->motion == TSR_MOTION_TRANSPOSE &&
                                tsr_is_lane_with_padding(box->row_bytes - box->padding_bytes, box->padding_bytes));
}

/* Are the columns of a tile side by side on both sides, with those behind it, in the source with all channels of
 * each? */
static bool are_one_piece(const tsr_box *box, int64_t src_bytes)
{
    const int64_t pitch = box->row.n * src_bytes;
    bool are = box->has_dense_columns;
    for (int64_t c = 0; are && c < box->column.length; c += box->column.loop[0].n)
        are = box->column.src[c] == c * pitch;
    return are;
}

/* Of pixels that lie side by side in pieces only: in the source to be interleaved, or on either side, parted. */
static tsr_status make_pieces(tsr_box *box, int64_t src_bytes, const tsr_allocator *allocator)
{
    const bool joins = box->motion == TSR_MOTION_INTERLEAVE && box->row.count > 1;
    const bool parts = box->motion == TSR_MOTION_DEINTERLEAVE && !are_one_piece(box, src_bytes);
    const tsr_chain *pixels = joins ? &box->row : &box->column;
    if ((!joins && !parts) || box->lanes.lane)
        return TSR_OK;
    const int64_t length = pixels->loop[0].n, *at = joins ? pixels->src : pixels->dst;
    box->pieces = pixels->step / length;
    box->piece = tsr_allocate(allocator, 2 * (size_t)box->pieces * sizeof *box->piece);
    if (!box->piece)
        return TSR_OUT_OF_MEMORY;
    box->src_piece = box->piece + box->pieces;
    for (int64_t i = 0; i < box->pieces; i++) {
        box->piece[i] = at[i * length];
        box->src_piece[i] = pixels->src[i * length];
    }
    return TSR_OK;
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

/* Tables of both chains. What is written in whole lines reads ahead into the next tile, and whether a box is so is not
 * known yet. */
static tsr_status make_tiles(tsr_box *box, int64_t rows, int64_t columns, const tsr_workshop *workshop)
{
    const int64_t src_bytes = workshop->conversion->src_bytes, dst_bytes = workshop->conversion->dst_bytes;
    const bool may_read_ahead = workshop->streams || workshop->may_stream_lines || workshop->exceeds_l1;
    const int64_t spare = may_read_ahead ? tsr_ceil_div(TSR_CACHE_LINE, dst_bytes) : 0;
    tsr_status status = tsr_chain_init(&box->row, rows, 0, src_bytes, dst_bytes, workshop->allocator);
    if (status == TSR_OK)
        status = tsr_chain_init(&box->column, columns, spare, src_bytes, dst_bytes, workshop->allocator);
    return status;
}

/* Do n channels lie side by side in the destination? */
static bool has_channels(const tsr_nest *nest, int64_t n)
{
    for (int i = 0; i < nest->count; i++)
        if (nest->loop[i].dst == 1 && !nest->loop[i].dst_table && nest->loop[i].n == n)
            return true;
    return false;
}

/*
 * Neighbours in the source that come backwards, as reversed channels do, are taken forwards, unless the
 * destination has them as neighbours, or they are pixels there, which are shuffled.
 */
static void turn_round(tsr_nest *nest, const tsr_conversion *conversion)
{
    for (int i = 0; i < nest->count; i++) {
        const tsr_loop *loop = &nest->loop[i];
        const bool is_backward = !tsr_loop_has_table(loop) && loop->src == -1 && loop->dst != 1;
        if (is_backward && !(tsr_can_shuffle_pixels(loop->dst, conversion) && has_channels(nest, loop->dst)))
            tsr_nest_turn(nest, i);
    }
}

static tsr_status fill(tsr_box *box, const tsr_nest *nest, bool is_padding, const tsr_workshop *workshop)
{
    const tsr_conversion *conversion = workshop->conversion;
    int64_t rows, columns;
    tsr_shape_box(box, nest, is_padding, workshop, &rows, &columns);
    /* so that tiles begin with whole bytes where they can */
    const int64_t in_byte = tsr_elements_in_byte(conversion->dst_packing);
    rows = tsr_ceil_div(rows, in_byte) * in_byte;
    columns = tsr_ceil_div(columns, in_byte) * in_byte;
    tsr_status status = make_tiles(box, rows, columns, workshop);
    if (status != TSR_OK)
        return status;
    box->padding_bytes = box->column.count > 0 ? box->column.loop[0].padding * conversion->dst_bytes : 0;
    box->row_bytes = box->column.n * conversion->dst_bytes + box->padding_bytes;
    tsr_box_make_walk(box, workshop);
    box->writes_padding = can_write_padding(box, conversion);
    box->has_dense_columns = columns_are_dense(box, conversion->dst_bytes);
    box->is_dense = has_dense_rows(box);
    status = tsr_box_make_lanes(box, workshop);
    if (status == TSR_OK)
        status = make_pieces(box, conversion->src_bytes, workshop->allocator);
    if (status != TSR_OK)
        return status;
    box->is_dense_in_src = has_dense_runs(box, conversion->src_bytes);
    box->dst_bits = bits_of_destination(box);
    box->converts_first = tsr_converts_first(box, workshop);
    box->is_serial = conversion->pack && !tsr_packed_items_are_apart(box, conversion->dst_packing);
    tsr_choose_writes(box, workshop);
    set_kernel(box, workshop->kernels, conversion);
    box->packed_move = tsr_packed_move_of(box, conversion);
    status = tsr_box_make_groups(box, workshop);
    tsr_tile_choose(box, conversion);
    if (status == TSR_OK)
        tsr_one_tile_init(&box->one_tile, box, workshop);
    return status;
}

tsr_status tsr_box_init(tsr_box *box, const tsr_nest *nest, bool is_padding, const tsr_workshop *workshop)
{
    tsr_nest turned = *nest;
    turn_round(&turned, workshop->conversion);
    *box = (tsr_box){.src = turned.src, .dst = turned.dst, .factor = turned.factor};
    box->elements = tsr_nest_elements(&turned);
    tsr_status status = allocate_loops(box, turned.count, workshop->allocator);
    if (status == TSR_OK)
        status = fill(box, &turned, is_padding, workshop);
    if (status != TSR_OK)
        tsr_box_reset(box, workshop->allocator);
    return status;
}

void tsr_box_reset(tsr_box *box, const tsr_allocator *allocator)
{
    tsr_loop *loops = box->row.loop;
    tsr_chain_reset(&box->row, allocator);
    tsr_chain_reset(&box->column, allocator);
    tsr_lanes_reset(&box->lanes, allocator);
    tsr_deallocate(allocator, box->piece, 2 * (size_t)box->pieces * sizeof *box->piece);
    tsr_scratch_reset(&box->scratch, allocator);
    tsr_scratch_reset(&box->wide_scratch, allocator);
    tsr_deallocate(allocator, loops, (size_t)box->loop_bytes);
    *box = (tsr_box){0};
}
