/* SPDX-License-Identifier: Apache-2.0 */
/* OpenBLAS: matrices of f32 and f64, with cblas_somatcopy and cblas_domatcopy. */
#include <cblas.h>
#include <stdlib.h>

#include "peers.h"
#include "permutation.h"
#include "refuse.h"

struct transposes {
    matrices matrices;
    bool is_f64;
};

static tsr_status init(void **context, const reorder_case *wanted, tsr_error *error)
{
    tsr_dtype dtype = wanted->src->dtype;
    permutation permutation;
    matrices matrices;
    if (dtype != wanted->dst->dtype || (dtype != TSR_F32 && dtype != TSR_F64) || has_arithmetic(wanted->options))
        return refuse(error, TSR_UNSUPPORTED, "OpenBLAS moves f32 and f64");
    tsr_status status = permutation_of(&permutation, wanted->src, wanted->dst, error);
    if (status == TSR_OK)
        status = matrices_of(&matrices, &permutation, error);
    if (status != TSR_OK)
        return status;
    struct transposes *made = malloc(sizeof *made);
    if (!made)
        return refuse(error, TSR_OUT_OF_MEMORY, "no memory for OpenBLAS");
    *made = (struct transposes){matrices, dtype == TSR_F64};
    *context = made;
    return TSR_OK;
}

static tsr_status run(void *context, const void *src, void *dst, tsr_error *error)
{
    const struct transposes *made = context;
    const matrices *m = &made->matrices;
    blasint rows = (blasint)m->rows, cols = (blasint)m->cols;
    (void)error;
    for (int64_t i = 0, at = 0; i < m->count; i++, at += m->rows * m->cols) {
        if (made->is_f64)
            cblas_domatcopy(CblasRowMajor, CblasTrans, rows, cols, 1, (const double *)src + at, cols,
                            (double *)dst + at, rows);
        else
            cblas_somatcopy(CblasRowMajor, CblasTrans, rows, cols, 1, (const float *)src + at, cols, (float *)dst + at,
                            rows);
    }
    return TSR_OK;
}

const peer openblas_peer = {"openblas", init, run, free};
