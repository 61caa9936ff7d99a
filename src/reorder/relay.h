/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_RELAY_H
#define TESSERA_SRC_REORDER_RELAY_H

#include <tessera/reorder.h>

#include "reorder/cut.h"
#include "reorder/reason.h"
#include "reorder/stages.h"

/*
 * The row of the selection table (select.h) that runs a route (route.h): each leg is a plan. Where there are several,
 * these are plans of one slice (cut.h), and the tensors between are in scratch memory. Where elements stay, there is
 * one leg, and no slices.
 */
typedef struct tsr_relay {
    tsr_cut cut;
    int64_t room;                      /* for the tensors between, of the stack: one of those of cut.h */
    tsr_stages shape[TSR_MOST_SHAPES]; /* of slices, the first of those that are alike */
    char kernels[96];
} tsr_relay;

/* What a relay costs where that is not clear, and which plain tensor a plan goes by, if it is to: plans of the legs of
 * each shape of slices are made, for each of these, and say what they cost. The cheapest relay is kept.
 * TSR_OUT_OF_MEMORY. */
tsr_status tsr_relay_choose(tsr_plan *plan);

bool tsr_relay_applies(const tsr_plan *plan, char reason[TSR_REASON_SIZE]);
double tsr_relay_cost(const tsr_plan *plan);
tsr_status tsr_relay_prepare(tsr_plan *plan, char reason[TSR_REASON_SIZE]);
tsr_status tsr_relay_run(const tsr_plan *plan, const void *src, void *dst, tsr_error *error);

void tsr_relay_free(tsr_relay **relay, const tsr_allocator *allocator);

#endif
