/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/nest.h"

#include "base/int.h"

/* How far one step moves in the destination, and in the source: the keys of the order. */
static int64_t dst_key(const tsr_loop *loop)
{
    return loop->dst_table ? loop->dst_table[1] : loop->dst;
}

static int64_t src_key(const tsr_loop *loop)
{
    return loop->src_table ? loop->src_table[1] : loop->src;
}

static bool is_outside(const tsr_loop *a, const tsr_loop *b)
{
    return dst_key(a) != dst_key(b) ? dst_key(a) > dst_key(b) : src_key(a) > src_key(b);
}

static void drop_single_steps(tsr_nest *nest)
{
    int kept = 0;
    for (int i = 0; i < nest->count; i++)
        if (nest->loop[i].n != 1 || nest->loop[i].padding > 0)
            nest->loop[kept++] = nest->loop[i];
    nest->count = kept;
}

static void sort(tsr_nest *nest)
{
    for (int i = 1; i < nest->count; i++) {
        tsr_loop moving = nest->loop[i];
        int at = i;
        for (; at > 0 && is_outside(&moving, &nest->loop[at - 1]); at--)
            nest->loop[at] = nest->loop[at - 1];
        nest->loop[at] = moving;
    }
}

/* Does the stride of the outer loop go on where n steps of the inner one end? */
static bool continues_stride(int64_t outer, int64_t inner, int64_t n)
{
    int64_t next;
    return tsr_mul(inner, n, &next) && next == outer;
}

static bool continues(const tsr_loop *outer, const tsr_loop *inner)
{
    return !tsr_loop_has_table(outer) && !tsr_loop_has_table(inner) && outer->padding == 0 && inner->padding == 0 &&
           continues_stride(outer->src, inner->src, inner->n) && continues_stride(outer->dst, inner->dst, inner->n) &&
           continues_stride(outer->factor, inner->factor, inner->n);
}

static void join_neighbours(tsr_nest *nest)
{
    int last = 0;
    for (int i = 1; i < nest->count; i++) {
        tsr_loop *outer = &nest->loop[last];
        const tsr_loop *inner = &nest->loop[i];
        if (continues(outer, inner)) {
            int64_t n = outer->n * inner->n;
            *outer = *inner;
            outer->n = n;
        } else {
            nest->loop[++last] = *inner;
        }
    }
    if (nest->count > 0)
        nest->count = last + 1;
}

void tsr_nest_fuse(tsr_nest *nest)
{
    drop_single_steps(nest);
    sort(nest);
    join_neighbours(nest);
}

void tsr_nest_turn(tsr_nest *nest, int i)
{
    tsr_loop *loop = &nest->loop[i];
    nest->src += (loop->n - 1) * loop->src;
    nest->dst += (loop->n - 1) * loop->dst;
    nest->factor += (loop->n - 1) * loop->factor;
    loop->src = -loop->src;
    loop->dst = -loop->dst;
    loop->factor = -loop->factor;
}

int64_t tsr_nest_elements(const tsr_nest *nest)
{
    int64_t elements = 1;
    for (int i = 0; i < nest->count; i++)
        elements *= nest->loop[i].n;
    return elements;
}
