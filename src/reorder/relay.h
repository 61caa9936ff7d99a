/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_RELAY_H
#define TESSERA_SRC_REORDER_RELAY_H

#include <tessera/reorder.h>

#include "reorder/nest.h"
#include "reorder/reason.h"

/*
 * A row of the selection table (select.h) for blocks that do not nest: each nests with a plain axis. For images whose
 * few channels are neighbours on both sides, among padding on one, and are converted: pixels are better rows than
 * channels. And for what is converted and has but short lines in its transpose, such as the weights of a 3x3 kernel:
 * there, the elements are converted where they lie, and moved in the narrower type. And for short runs on both sides,
 * such as such weights of bytes in blocks: neighbours become one wider element, which is moved faster.
 *
 * So the elements go by way of a tensor in scratch memory, a plain one or one like a side, in two reorders, and slice
 * by slice, so that it is small. Slices are whole blocks of both sides.
 */
enum { TSR_RELAY_STAGES = 3 };

typedef struct tsr_relay {
    int stages;
    tsr_plan *stage[TSR_RELAY_STAGES]; /* of one slice: to a tensor between, and on from there */
    int loops;                /* over slices, outermost first, in bytes */
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
