/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/unit.h"

#include <stdlib.h>

#include "base/int.h"
#include "reorder/box.h"

enum { BYTE_BITS = 8, WIDEST_BITS = TSR_LANE_BYTES * BYTE_BITS };

int64_t tsr_common_unit(int64_t a, int64_t b)
{
    if (a == b)
        return a;
    return tsr_is_power_of_two(a) && tsr_is_power_of_two(b) ? tsr_min(a, b) : 1;
}

static int64_t elements_in_byte(int64_t bits)
{
    return tsr_max(1, BYTE_BITS / bits);
}

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

int64_t tsr_unit_of_padding(int64_t unit, const tsr_nest *nest, int64_t bits)
{
    const int64_t least = elements_in_byte(bits);
    if (!tsr_is_power_of_two(unit))
        return 1;
    while (unit > least && !divides(unit, nest, true))
        unit /= 2;
    return divides(unit, nest, true) ? unit : 1;
}

/* The innermost loop, where it is a run of whole bytes on both sides that one element can have. */
static int64_t short_run(const tsr_nest *nest, int64_t bits)
{
    const tsr_loop *run = nest->count > 1 ? &nest->loop[nest->count - 1] : NULL;
    const bool is_run = run && run->src == 1 && run->dst == 1;
    return is_run && run->n <= WIDEST_BITS / bits && run->n % elements_in_byte(bits) == 0 ? run->n : 1;
}

/* Are there so many units side by side in the source, in either order, and in the destination, as columns of a
 * transpose that fill a lane, and are rows too long for units to be scattered? */
static bool are_transposed(const tsr_nest *nest, int64_t unit, int64_t bits)
{
    const int64_t slots = TSR_LANE_BYTES >> tsr_width_of_bytes(unit * bits / BYTE_BITS);
    bool has_rows = false, has_columns = false;
    for (int i = 0; i < nest->count; i++) {
        const tsr_loop *loop = &nest->loop[i];
        has_columns = has_columns || (loop->dst == unit && loop->n >= slots);
        has_rows = has_rows || (llabs(loop->src) == unit && loop->dst != unit && loop->n >= 2 * slots &&
                                !tsr_scatters_runs(loop, unit, bits / BYTE_BITS));
    }
    return has_rows && has_columns;
}

int64_t tsr_unit_of_nest(const tsr_nest *nest, int64_t bits, bool moves_odd)
{
    const int64_t run = short_run(nest, bits), in_byte = elements_in_byte(bits);
    const bool may_be = tsr_is_power_of_two(run) || (moves_odd && in_byte == 1 && are_transposed(nest, run, bits));
    if (run > 1 && may_be && divides(run, nest, false))
        return run;
    return in_byte > 1 && divides(in_byte, nest, false) ? in_byte : 1;
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
