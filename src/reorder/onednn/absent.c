/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for this folder in a build without oneDNN. */
#include <tessera/onednn.h>

#include "base/error.h"
#include "reorder/onednn/onednn.h"

static const char absent[] = "this build has no oneDNN";

bool tsr_onednn_can_express(const tsr_onednn_problem *problem, char reason[TSR_REASON_SIZE])
{
    (void)problem;
    return tsr_decline(reason, "%s", absent);
}

tsr_status tsr_onednn_create(tsr_onednn **onednn, const tsr_onednn_problem *problem, bool untested,
                             char reason[TSR_REASON_SIZE])
{
    (void)onednn;
    (void)problem;
    (void)untested;
    tsr_decline(reason, "%s", absent);
    return TSR_UNSUPPORTED;
}

tsr_status tsr_onednn_run(tsr_onednn *onednn, const void *src, void *dst, tsr_error *error)
{
    (void)onednn;
    (void)src;
    (void)dst;
    return tsr_fail(error, TSR_UNSUPPORTED, "%s", absent);
}

void tsr_onednn_free(tsr_onednn **onednn)
{
    (void)onednn;
}

tsr_status tsr_plan_create_onednn(tsr_plan **plan, const void *src_memory_desc, const void *dst_memory_desc,
                                  const tsr_reorder_options *options, tsr_error *error)
{
    (void)plan;
    (void)src_memory_desc;
    (void)dst_memory_desc;
    (void)options;
    return tsr_fail(error, TSR_UNSUPPORTED, "%s", absent);
}

tsr_status tsr_desc_from_onednn(tsr_desc *desc, const void *memory_desc, tsr_error *error)
{
    (void)desc;
    (void)memory_desc;
    return tsr_fail(error, TSR_UNSUPPORTED, "%s", absent);
}

tsr_status tsr_desc_to_onednn(const tsr_desc *desc, void *memory_desc, tsr_error *error)
{
    (void)desc;
    (void)memory_desc;
    return tsr_fail(error, TSR_UNSUPPORTED, "%s", absent);
}
