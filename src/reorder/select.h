/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_SELECT_H
#define TESSERA_SRC_REORDER_SELECT_H

#include "reorder/plan.h"

/*
 * The selection table. A plan that has been lowered is shown to each row that does with its buffers.
 *
 *     buffers    TSR_TWO_BUFFERS, TSR_ONE_BUFFER or both
 *     applies    false, and why, when the row cannot do this reorder
 *     cost       expected time over that of memcpy for the same bytes
 *     prepare    last step before the row is taken; may still decline. NULL: nothing to prepare
 *     run        does it
 */
struct tsr_row {
    const char *name;
    int buffers;
    bool (*applies)(const tsr_plan *plan, char reason[TSR_REASON_SIZE]);
    double (*cost)(const tsr_plan *plan);
    tsr_status (*prepare)(tsr_plan *plan, char reason[TSR_REASON_SIZE]);
    tsr_status (*run)(const tsr_plan *plan, const void *src, void *dst, tsr_error *error);
};

extern const tsr_row tsr_rows[TSR_ROWS];

/* Which row has that name; -1: none. */
int tsr_row_named(const char *name);

/* Fills in plan->rows and takes the cheapest row, or the one with that name. TSR_INVALID_ARGUMENT, TSR_UNSUPPORTED,
 * TSR_OUT_OF_MEMORY. */
tsr_status tsr_plan_select(tsr_plan *plan, const char *name, tsr_error *error);

#endif
