/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/unit.h"

#include "base/int.h"

enum { WIDEST_BYTES = 16 };

/* Loops of neighbours have whole units, the others move by such. */
static bool is_divided(const tsr_loop *loop, int64_t unit, bool is_padding)
{
    if (tsr_loop_has_table(loop) || loop->padding > 0 || loop->factor != 0)
        return false;
    if (loop->dst == 1 && (is_padding || loop->src == 1))
        return loop->n % unit == 0;
    return loop->dst % unit == 0 && loop->src % unit == 0;
}

static bool divides(int64_t unit, const tsr_nest *nest, bool is_padding)
{
    bool all = nest->src % unit == 0 && nest->dst % unit == 0, has_neighbours = false;
    for (int i = 0; i < nest->count && all; i++) {
        all = is_divided(&nest->loop[i], unit, is_padding);
        has_neighbours = has_neighbours || nest->loop[i].dst == 1;
    }
    return all && has_neighbours;
}

bool tsr_unit_divides(int64_t unit, const tsr_nest *nest)
{
    return unit == 1 || divides(unit, nest, true);
}

int64_t tsr_unit_of_nest(const tsr_nest *nest, int64_t element_bytes)
{
    const tsr_loop *run = nest->count > 1 ? &nest->loop[nest->count - 1] : NULL;
    if (!run || !tsr_is_power_of_two(run->n) || run->n > WIDEST_BYTES / element_bytes)
        return 1;
    return run->src == 1 && run->dst == 1 && divides(run->n, nest, false) ? run->n : 1;
}

void tsr_unit_count(tsr_nest *counted, const tsr_nest *nest, int64_t unit)
{
    *counted = (tsr_nest){.src = nest->src / unit, .dst = nest->dst / unit};
    for (int i = 0; i < nest->count; i++) {
        tsr_loop loop = nest->loop[i];
        if (loop.dst == 1) {
            loop.n /= unit;
        } else {
            loop.src /= unit;
            loop.dst /= unit;
        }
        counted->loop[counted->count++] = loop;
    }
    tsr_nest_fuse(counted);
}
