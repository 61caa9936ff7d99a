/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for this folder in a build without BLAS. */
#include "blocked/blas/axpy.h"

bool tsr_axpy(tsr_dtype dtype, double factor, const void *x, void *y, int64_t begin, int64_t end)
{
    (void)dtype;
    (void)factor;
    (void)x;
    (void)y;
    (void)begin;
    (void)end;
    return false;
}
