/* SPDX-License-Identifier: Apache-2.0 */
#include "blocked/blas/axpy.h"

#include <cblas.h>

#include "base/int.h"

/*
 * Whoever calls is one of our threads already. OpenBLAS takes threads of its own for more than 10000 elements, and
 * can be told not to only from 0.3.27 on.
 */
enum { PIECE = 8192 };

bool tsr_axpy(tsr_dtype dtype, double factor, const void *x, void *y, int64_t begin, int64_t end)
{
    if (dtype != TSR_F32 && dtype != TSR_F64)
        return false;
    for (int64_t i = begin; i < end; i += PIECE) {
        const int n = (int)tsr_min(PIECE, end - i);
        if (dtype == TSR_F32)
            cblas_saxpy(n, (float)factor, (const float *)x + i, 1, (float *)y + i, 1);
        else
            cblas_daxpy(n, factor, (const double *)x + i, 1, (double *)y + i, 1);
    }
    return true;
}
