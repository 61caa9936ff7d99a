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

/* Step i of the chain, from the first step of its tile. */
static tsr_loop place_of(const tsr_chain *chain, int64_t i)
{
    int64_t rest = i;
    tsr_loop at = {0};
    for (int j = 0; j < chain->count; j++) {
        const tsr_loop *loop = &chain->loop[j];
        int64_t step = j < chain->count - 1 ? rest % loop->n : rest;
        rest /= loop->n;
        at.src += tsr_loop_src(loop, step);
        at.dst += tsr_loop_dst(loop, step);
        at.factor += step * loop->factor;
    }
    if (chain->is_table) {
        int64_t tile = i / chain->step;
        at.src -= chain->tile.src_table[tile];
        at.dst -= chain->tile.dst_table[tile];
        at.factor -= tile * chain->tile.factor;
    }
    return at;
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
    for (int64_t i = 0; i < chain->length; i++) {
        tsr_loop at = place_of(chain, i);
        chain->src[i] = at.src * src_bytes;
        chain->dst[i] = at.dst * dst_bytes;
        chain->factor[i] = at.factor;
    }
    chain->tile.src *= src_bytes;
    chain->tile.dst *= dst_bytes;
    return TSR_OK;
}

void tsr_chain_reset(tsr_chain *chain, const tsr_allocator *allocator)
{
    tsr_deallocate(allocator, chain->src, table_entries(chain) * sizeof *chain->src);
    *chain = (tsr_chain){0};
}
