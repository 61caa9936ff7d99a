/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_RELAY_H
#define TESSERA_SRC_REORDER_RELAY_H

#include <tessera/reorder.h>

#include "reorder/nest.h"
#include "reorder/reason.h"
#include "reorder/route.h"

/*
 * A row of the selection table (select.h) that takes two or three steps, as its route (route.h) has them:
 *
 *     blocks that do not nest     to a plain tensor, with which each side nests, and from there
 *     few channels in padding     to a plain tensor likewise, as its pixels are better rows, if they are converted
 *     short runs on both sides    neighbours become one wider element, as in 3x3 weights of bytes in blocks
 *     conversions                 elements are converted where they lie, in long lines, padding and all, and moved as
 *                                 narrow ones; those of 4 bits are unpacked before that, and packed afterwards
 *
 * Each step is a plan, of one slice: the tensors between are small, and in scratch memory. Slices are whole blocks of
 * both sides.
 */
typedef struct tsr_relay {
    int stages;
    tsr_plan *stage[TSR_LEGS]; /* of one slice: to a tensor between, and on from there */
    tsr_plan *zeroing;         /* of the padding that was converted as well, or NULL */
    int loops;                 /* over slices, outermost first, in bytes */
    tsr_loop loop[TSR_MAX_RANK];
    int64_t slices;
    int64_t grain; /* slices that are worth a thread */
    char kernels[96];
} tsr_relay;

bool tsr_relay_applies(const tsr_plan *plan, char reason[TSR_REASON_SIZE]);
double tsr_relay_cost(const tsr_plan *plan);
tsr_status tsr_relay_prepare(tsr_plan *plan, char reason[TSR_REASON_SIZE]);
tsr_status tsr_relay_run(const tsr_plan *plan, const void *src, void *dst, tsr_error *error);

void tsr_relay_free(tsr_relay **relay, const tsr_allocator *allocator);

#endif
