/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_RIGHT_H
#define TESSERA_TESTS_RIGHT_H

#include <stdlib.h>

#include "workload.h"

/* A plan between two descriptors, by the definition; a failure names it. */
static inline void assert_right_between(const tsr_plan *plan, const tsr_desc *src_desc, const tsr_desc *dst_desc,
                                        const tsr_reorder_options *options, const char *name)
{
    bool is_right = false;
    tsr_error error = {0};
    const size_t bytes = (size_t)tsr_desc_size_bytes(src_desc);
    unsigned char *src = malloc(bytes + 1);
    assert_non_null(src);
    fill_awkward(src, bytes, 1);
    assert_int_equal(verify_plan(plan, src_desc, src, dst_desc, options, &is_right, &error), TSR_OK);
    if (!is_right)
        fail_msg("%s, row %s: %s", name, tsr_plan_get_info(plan).row, error.message);
    free(src);
}

/* A plan of a problem. */
static inline void assert_right(const tsr_plan *plan, const char *problem)
{
    workload work;
    assert_int_equal(workload_init(&work, problem, NULL), TSR_OK);
    assert_right_between(plan, &work.problem.src, &work.problem.dst, &work.options, problem);
    workload_reset(&work);
}

#endif
