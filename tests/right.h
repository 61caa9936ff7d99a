/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_RIGHT_H
#define TESSERA_TESTS_RIGHT_H

#include <stdlib.h>

#include "workload.h"

/* A plan of a problem, by the definition. */
static inline void assert_right(const tsr_plan *plan, const char *problem)
{
    workload work;
    bool is_right = false;
    assert_int_equal(workload_init(&work, problem, NULL), TSR_OK);
    const size_t bytes = (size_t)tsr_desc_size_bytes(&work.problem.src);
    unsigned char *src = malloc(bytes + 1);
    assert_non_null(src);
    fill_awkward(src, bytes, 1);
    assert_int_equal(verify_plan(plan, &work.problem.src, src, &work.problem.dst, &work.options, &is_right, NULL),
                     TSR_OK);
    assert_true(is_right);
    free(src);
    workload_reset(&work);
}

#endif
