/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/axis_cut.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/int.h"

/* ---- where ---- */

static const tsr_digits *cut_side(const tsr_axis *axis)
{
    return axis->cuts_src ? axis->src : axis->dst;
}

static const tsr_digits *other_side(const tsr_axis *axis)
{
    return axis->cuts_src ? axis->dst : axis->src;
}

static bool has_runs(const tsr_digits *digits)
{
    return digits->count > 1 && digits->stride[0] == 1;
}

/* The longest run that no boundary cuts, wherever the sides begin in their blocks. */
static int64_t common_run(const tsr_axis *axis)
{
    int64_t run = llabs(axis->src->first - axis->dst->first);
    for (int j = 1; j < axis->src->count; j++)
        run = tsr_gcd(run, axis->src->unit[j]);
    for (int j = 1; j < axis->dst->count; j++)
        run = tsr_gcd(run, axis->dst->unit[j]);
    return run;
}

/* The least common multiple of a period and the boundaries that so many positions reach. */
static int64_t common_period(int64_t period, const tsr_digits *digits, int64_t reach)
{
    for (int j = 0; j < digits->count && digits->unit[j] < reach; j++)
        period = tsr_lcm(period, digits->unit[j]);
    return period;
}

/* At the blocks of one side, as the rules tell. Many blocks, or very short ones, are not worth a box each, nor are runs
 * that are long without. */
bool tsr_axis_find_cut(tsr_axis *axis, tsr_cut_rules rules)
{
    enum { MOST_BLOCKS = 32, LEAST_BLOCK = 4, LEAST_PREFERRED = 2 };
    const tsr_digits *src = axis->src, *dst = axis->dst;
    const int64_t indices = axis->end - axis->begin;
    if (!src || indices == 0 || src->step != 1 || dst->step != 1)
        return false;
    const bool prefers_dst = rules.prefers_dst && dst->count > 1;
    axis->cuts_src = !has_runs(dst) && !prefers_dst;
    const tsr_digits *cut = cut_side(axis);
    if (!(has_runs(cut) || prefers_dst) || cut->count < 2 ||
        (src->first == 0 && dst->first == 0 && common_run(axis) >= rules.long_run))
        return false;
    const int64_t block = cut->unit[1], blocks = tsr_ceil_div(indices, block);
    const int64_t period = common_period(common_period(block, src, src->first + indices), dst, dst->first + indices);
    if (block < (prefers_dst ? LEAST_PREFERRED : LEAST_BLOCK) || tsr_min(period / block, blocks) > MOST_BLOCKS)
        return false;
    axis->block = block;
    axis->period = tsr_min(period, blocks * block);
    axis->head = tsr_min(indices, tsr_ceil_div(cut->first, block) * block - cut->first);
    return true;
}

/* ---- the table ---- */

/* Of position x of what the axis shows. */
static int64_t place_on(const tsr_digits *digits, int64_t x)
{
    return tsr_digits_offset(digits, digits->first + x);
}

/* Where each piece has its elements on the other side, from its first one on. */
tsr_status tsr_axis_cut(tsr_axis *axis, const tsr_allocator *allocator)
{
    const tsr_digits *other = other_side(axis);
    axis->table_length = tsr_min(axis->end - axis->begin, axis->head + axis->period);
    axis->table = tsr_allocate_zeroed(allocator, 2 * (size_t)axis->table_length, sizeof *axis->table);
    if (!axis->table)
        return TSR_OUT_OF_MEMORY;
    for (int64_t x = 0; x < axis->table_length; x++) {
        const int64_t first = x < axis->head ? 0 : x - (x - axis->head) % axis->block;
        axis->table[x] = place_on(other, x) - place_on(other, first);
    }
    return TSR_OK;
}

/* ---- pieces ---- */

/* n positions from x on, and as many in every period behind them. */
static tsr_piece piece_from(const tsr_axis *axis, int64_t x, int64_t n, int64_t blocks)
{
    const int64_t known = x < axis->head ? x : axis->head + (x - axis->head) % axis->period;
    return (tsr_piece){
        .src = place_on(axis->src, x),
        .dst = place_on(axis->dst, x),
        .factor = axis->factor * x,
        .n = n,
        .blocks = blocks,
        .table = axis->table + known,
    };
}

int tsr_axis_blocks(const tsr_axis *axis, tsr_piece *pieces)
{
    const int64_t all = axis->end - axis->begin - axis->head, whole = all / axis->block * axis->block;
    int count = 0;
    if (axis->head > 0)
        pieces[count++] = piece_from(axis, 0, axis->head, 1);
    for (int64_t at = 0; at < tsr_min(axis->period, whole); at += axis->block)
        pieces[count++] = piece_from(axis, axis->head + at, axis->block, tsr_ceil_div(whole - at, axis->period));
    if (whole < all)
        pieces[count++] = piece_from(axis, axis->head + whole, all - whole, 1);
    return count;
}

/* Are the elements of a piece equally far from each other on both sides? */
static bool is_linear(const tsr_piece *piece)
{
    for (int64_t t = 2; t < piece->n; t++)
        if (piece->table[t] != t * piece->table[1])
            return false;
    return true;
}

void tsr_axis_add_block(const tsr_axis *axis, const tsr_piece *piece, tsr_nest *nest)
{
    const int64_t *table = is_linear(piece) ? NULL : piece->table;
    const int64_t stride = table || piece->n < 2 ? 0 : piece->table[1], period = axis->period;
    tsr_loop *block = &nest->loop[nest->count++];
    const int64_t of_cut = cut_side(axis)->stride[0];
    *block = (tsr_loop){.n = piece->n, .src = stride, .dst = of_cut, .factor = axis->factor, .src_table = table};
    if (axis->cuts_src)
        *block = (tsr_loop){.n = piece->n, .src = of_cut, .dst = stride, .factor = axis->factor, .dst_table = table};
    if (piece->blocks > 1)
        nest->loop[nest->count++] = (tsr_loop){.n = piece->blocks,
                                               .src = tsr_digits_offset(axis->src, period),
                                               .dst = tsr_digits_offset(axis->dst, period),
                                               .factor = axis->factor * period};
}
