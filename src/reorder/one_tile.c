/* SPDX-License-Identifier: Apache-2.0 */
#include "base/int.h"
#include "reorder/group.h"

static void run_kernel(const tsr_box *box, const tsr_conversion *conversion, char *dst, const char *src, int64_t factor)
{
    (void)conversion;
    (void)factor;
    box->kernel(dst, src, &box->one_tile.moved);
}

/* Is it one group, for which nothing is done but what fills it? Where the source is asked for ahead is told to each
 * tile. */
static bool is_one_group(const tsr_box *box)
{
    return box->row.tiles == 1 && box->column.tiles == 1 && box->scratch.rows >= box->row.n && !box->fetches_next &&
           box->write == tsr_tile_run_straight;
}

/* Kernels of pixels are called for each tile. */
static bool is_one_call(const tsr_box *box)
{
    return !tsr_shuffles_pixels(box) && !(tsr_moves_pixels(box) && box->joined_tiles > 1);
}

/* Of a chain that is one tile. */
static tsr_side side_of(const tsr_chain *chain)
{
    return (tsr_side){.count = chain->step, .src = chain->src, .dst = chain->dst, .factor = chain->factor};
}

void tsr_one_tile_init(tsr_one_tile *one, const tsr_box *box, const tsr_workshop *workshop)
{
    const tsr_loop *innermost = tsr_innermost_of_walk(box);
    const bool are_joined = box->joined_tiles > 0;
    const tsr_place place = {.box = box,
                             .kernels = workshop->kernels,
                             .conversion = workshop->conversion,
                             .tiles = tsr_max(1, box->joined_tiles),
                             .src_tile = are_joined ? innermost->src : 0,
                             .dst_tile = are_joined ? innermost->dst : 0,
                             .row = side_of(&box->row),
                             .column = side_of(&box->column)};
    const tsr_group group = {.place = &place,
                             .scratch = &box->scratch,
                             .rows = box->row.n,
                             .columns = box->column.n,
                             .row_src = box->row.src,
                             .row_dst = box->row.dst,
                             .row_factor = box->row.factor};
    const tsr_target target = {.row = box->row.dst, .is_dense = box->is_dense, .is_destination = true};
    if (!is_one_group(box))
        return;
    if (box->fill == tsr_group_move && is_one_call(box)) {
        one->run = run_kernel;
        tsr_group_make_tile(&one->moved, &group, &target);
    } else if (!tsr_is_straight(workshop->conversion) && !workshop->exceeds_l2) {
        /* so that nothing is far, which is not known yet */
        tsr_group_lay_conversion(one, &group, &target);
    }
}
