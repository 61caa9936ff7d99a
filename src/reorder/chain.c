/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/chain.h"

#include "base/alloc.h"
#include "base/int.h"

int64_t tsr_inner_steps_of(const tsr_chain *chain)
{
    int64_t inner = 1;
    for (int j = 0; j < chain->count - 1; j++)
        inner *= chain->loop[j].n;
    return inner;
}

static void cut(tsr_chain *chain, int64_t wanted)
{
    static const tsr_loop once = {.n = 1};
    int64_t inner = tsr_inner_steps_of(chain);
    const tsr_loop *outermost = chain->count > 0 ? &chain->loop[chain->count - 1] : &once;
    int64_t whole = tsr_min(outermost->n, tsr_max(1, wanted / inner));
    chain->n = inner * outermost->n;
    chain->step = inner * whole;
    chain->tiles = tsr_ceil_div(outermost->n, whole);
    chain->is_table = tsr_loop_has_table(outermost) && chain->tiles > 1;
    for (int j = 0; j < chain->count; j++)
        chain->has_factor |= chain->loop[j].factor != 0;
    chain->tile = (tsr_loop){.n = chain->tiles};
    if (chain->tiles == 1)
        return; /* there is no next one, and where it would begin need not be a number */
    /* in elements yet */
    chain->tile.src = whole * outermost->src;
    chain->tile.dst = whole * outermost->dst;
    chain->tile.factor = whole * outermost->factor;
}

/* Where tiles begin in a table is in tables behind all others. */
static void fill_tiles(tsr_chain *chain, int64_t *src, int64_t *dst)
{
    const tsr_loop *outermost = &chain->loop[chain->count - 1];
    int64_t whole = chain->step / tsr_inner_steps_of(chain);
    for (int64_t t = 0; t < chain->tiles; t++) {
        src[t] = tsr_loop_src(outermost, t * whole);
        dst[t] = tsr_loop_dst(outermost, t * whole);
    }
    chain->tile.src_table = src;
    chain->tile.dst_table = dst;
}

/* In tables of zeros, loop by loop: at each of its steps, all that are inside of it come again. The first of them, from
 * which the others are made, comes last. Tables tell of each step from the first one of its tile. */
static void fill_steps(tsr_chain *chain, int64_t src_bytes, int64_t dst_bytes)
{
    int64_t inner = 1;
    for (int j = 0; j < chain->count; inner *= chain->loop[j++].n) {
        const tsr_loop *loop = &chain->loop[j];
        const bool is_cut = chain->is_table && j == chain->count - 1;
        const int64_t whole = chain->step / inner, end = tsr_min(chain->length, inner * loop->n);
        for (int64_t step = tsr_ceil_div(end, inner) - 1; step >= 0; step--) {
            const int64_t tile = is_cut ? step / whole : 0, first = step * inner, n = tsr_min(inner, end - first);
            const int64_t from_src = is_cut ? chain->tile.src_table[tile] : 0;
            const int64_t from_dst = is_cut ? chain->tile.dst_table[tile] : 0;
            const int64_t src = (tsr_loop_src(loop, step) - from_src) * src_bytes;
            const int64_t dst = (tsr_loop_dst(loop, step) - from_dst) * dst_bytes;
            const int64_t factor = (step - tile * whole) * loop->factor;
            for (int64_t i = 0; i < n; i++) {
                chain->src[first + i] = chain->src[i] + src;
                chain->dst[first + i] = chain->dst[i] + dst;
                chain->factor[first + i] = chain->factor[i] + factor;
            }
        }
    }
}

static size_t table_entries(const tsr_chain *chain)
{
    return 3 * (size_t)chain->length + (chain->is_table ? 2 * (size_t)chain->tiles : 0);
}

tsr_status tsr_chain_init(tsr_chain *chain, int64_t wanted, int64_t spare, int64_t src_bytes, int64_t dst_bytes,
                          const tsr_allocator *allocator)
{
    cut(chain, wanted);
    chain->length = tsr_min(chain->n, chain->step + spare);
    if (chain->is_run || chain->is_table)
        chain->length = chain->is_run ? 1 : chain->n;
    chain->src = tsr_allocate_zeroed(allocator, table_entries(chain), sizeof *chain->src);
    if (!chain->src)
        return TSR_OUT_OF_MEMORY;
    chain->dst = chain->src + chain->length;
    chain->factor = chain->dst + chain->length;
    if (chain->is_table)
        fill_tiles(chain, chain->factor + chain->length, chain->factor + chain->length + chain->tiles);
    fill_steps(chain, src_bytes, dst_bytes);
    chain->tile.src *= src_bytes;
    chain->tile.dst *= dst_bytes;
    return TSR_OK;
}

void tsr_chain_reset(tsr_chain *chain, const tsr_allocator *allocator)
{
    tsr_deallocate(allocator, chain->src, table_entries(chain) * sizeof *chain->src);
    *chain = (tsr_chain){0};
}
