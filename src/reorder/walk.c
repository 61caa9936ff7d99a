/* SPDX-License-Identifier: Apache-2.0 */
#include "base/int.h"
#include "reorder/box.h"
#include "reorder/tile.h"

/* The odometer: where an item is. src and dst are in bytes. */
struct position {
    int64_t src, dst, factor;
    int64_t src_bytes, dst_bytes;
    int64_t step[TSR_MAX_LOOPS + 2];
};

/* Moves one loop from step i to step j. */
static void move(struct position *at, const tsr_loop *loop, int64_t i, int64_t j)
{
    at->src += loop->src_table ? (loop->src_table[j] - loop->src_table[i]) * at->src_bytes : (j - i) * loop->src;
    at->dst += loop->dst_table ? (loop->dst_table[j] - loop->dst_table[i]) * at->dst_bytes : (j - i) * loop->dst;
    at->factor += (j - i) * loop->factor;
}

static void seek(const tsr_box *box, const tsr_conversion *conversion, struct position *at, int64_t item)
{
    at->src_bytes = conversion->src_bytes;
    at->dst_bytes = conversion->dst_bytes;
    at->src = box->src * at->src_bytes;
    at->dst = box->dst * at->dst_bytes;
    at->factor = box->factor;
    for (int i = box->walk_count - 1; i >= 0; i--) {
        at->step[i] = item % box->walk[i].n;
        item /= box->walk[i].n;
        move(at, &box->walk[i], 0, at->step[i]);
    }
}

/* By so many steps of the innermost loop, which does not go beyond its end. */
static void advance(const tsr_box *box, struct position *at, int64_t steps)
{
    for (int i = box->walk_count - 1; i >= 0; i--, steps = 1) {
        int64_t step = at->step[i], next = step + steps < box->walk[i].n ? step + steps : 0;
        move(at, &box->walk[i], step, next);
        at->step[i] = next;
        if (next > 0)
            return;
    }
}

/* The part of a chain that a tile has. What a table says of the next tile is not from this one's first step. */
static void find_side(tsr_side *side, const tsr_chain *chain, const struct position *at, int walk)
{
    int64_t tile = walk >= 0 ? at->step[walk] : 0, first = tile * chain->step, skip = chain->is_table ? first : 0;
    side->count = tsr_min(chain->step, chain->n - first);
    side->spare = chain->is_table ? 0 : chain->n - first - side->count;
    side->is_first = tile == 0 || chain->is_table;
    side->src = chain->src + skip;
    side->dst = chain->dst + skip;
    side->factor = chain->factor + skip;
}

static void run(const tsr_box *box, const tsr_kernels *kernels, const tsr_conversion *conversion, tsr_spread *spread,
                const void *src, void *dst, int64_t begin, int64_t end)
{
    struct position at; /* its steps are many, and seek sets those that there are */
    const tsr_loop *innermost = tsr_innermost_of_walk(box);
    tsr_place place = {.box = box, .kernels = kernels, .conversion = conversion, .spread = spread, .tiles = 1};
    if (box->joined_tiles > 0) {
        place.src_tile = innermost->src;
        place.dst_tile = innermost->dst;
    }
    /* of rows, or of dense ones as a whole, which are as far from each other as tiles */
    const int64_t lines_apart = box->is_dense ? place.dst_tile : box->dst_bits;
    seek(box, conversion, &at, begin);
    for (int64_t item = begin; item < end; item += place.tiles, advance(box, &at, place.tiles)) {
        if (box->joined_tiles > 0)
            place.tiles = tsr_max(1, tsr_min(end - item, box->joined_tiles - at.step[box->walk_count - 1]));
        place.src = (const char *)src + (conversion->unpack ? 0 : at.src);
        place.dst = (char *)dst + (conversion->pack ? 0 : at.dst);
        place.src_first = at.src;
        place.dst_first = at.dst;
        place.factor = at.factor;
        place.streams_lines = box->streams_lines && (box->joins_runs || tsr_begins_lines(&place, lines_apart));
        place.next_step = box->next_walk >= 0 ? at.step[box->next_walk] : 0;
        find_side(&place.row, &box->row, &at, box->row_walk);
        find_side(&place.column, &box->column, &at, box->column_walk);
        if (box->fetches_next)
            tsr_prefetch(place.src, innermost->src, 2 * innermost->src);
        box->write(&place);
    }
    if (box->streams || box->streams_lines || box->finds_lines)
        kernels->fence();
}

/* Of a box that is one tile; those that are moved by one call, all or none. */
static void run_one_tile(const tsr_box *box, const tsr_conversion *conversion, const void *src, void *dst,
                         int64_t begin, int64_t end)
{
    const tsr_one_tile *one = &box->one_tile;
    const int64_t tiles = tsr_max(1, box->joined_tiles);
    struct position at;
    seek(box, conversion, &at, begin);
    for (int64_t item = begin; item < end; item += tiles, advance(box, &at, tiles))
        one->run(box, conversion, (char *)dst + at.dst, (const char *)src + at.src, at.factor);
}

/* With room for factors, which takes so much of the stack that others do without. */
__attribute__((noinline)) static void run_computing(const tsr_box *box, const tsr_kernels *kernels,
                                                    const tsr_conversion *conversion, const void *src, void *dst,
                                                    int64_t begin, int64_t end)
{
    tsr_spread spread;
    tsr_spread_init(&spread, conversion);
    run(box, kernels, conversion, &spread, src, dst, begin, end);
}

void tsr_box_run(const tsr_box *box, const tsr_kernels *kernels, const tsr_conversion *conversion, const void *src,
                 void *dst, int64_t begin, int64_t end)
{
    const bool has_whole_calls = box->joined_tiles == 0 || end - begin == box->items;
    if (box->one_tile.run && has_whole_calls)
        run_one_tile(box, conversion, src, dst, begin, end);
    else if (tsr_computes(conversion))
        run_computing(box, kernels, conversion, src, dst, begin, end);
    else
        run(box, kernels, conversion, NULL, src, dst, begin, end);
}
