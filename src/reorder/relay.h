/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_RELAY_H
#define TESSERA_SRC_REORDER_RELAY_H

#include <tessera/reorder.h>

#include "reorder/nest.h"
#include "reorder/reason.h"

/*
 * A row of the selection table (select.h) for blocks that do not nest: each nests with a plain axis. And for images
 * whose few channels are neighbours on both sides, among padding on one, and are converted: pixels are better
 * rows than channels. So the elements go by way of a plain tensor in scratch memory, in two reorders, and slice by
 * slice, so that the plain tensor is small. Slices are cut from axes that are plain on both sides.
 */
typedef struct tsr_relay {
    tsr_plan *first, *second; /* of one slice: to the plain tensor, and from there */
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
