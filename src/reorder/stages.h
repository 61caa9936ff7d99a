/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_STAGES_H
#define TESSERA_SRC_REORDER_STAGES_H

#include <tessera/reorder.h>

#include "reorder/ahead.h"
#include "reorder/route.h"

/* The plans that take a slice along a route, one for each leg. */
typedef struct tsr_stages {
    int count;
    tsr_plan *stage[TSR_LEGS];
    tsr_plan *zeroing; /* of the padding that was converted as well, or NULL */
    int64_t streamed;  /* bytes that the last stage copies at once and streams, instead of its plan; or 0 */
    tsr_runs read;     /* by the first one, fetched while the slice before is streamed */
} tsr_stages;

/* The stages of a slice of a plan; the caller frees them, also those that a failure leaves: TSR_OUT_OF_MEMORY,
 * TSR_UNSUPPORTED where a leg has no plan, and the like. */
tsr_status tsr_stages_make(tsr_stages *stages, const tsr_plan *plan, const tsr_slice *slice);

void tsr_stages_free(tsr_stages *stages);

#endif
