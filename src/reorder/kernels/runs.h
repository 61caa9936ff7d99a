/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that are converted, of the types that tensors of networks have most. A compile unit of a rung includes this
 * once, behind its converters of rows, as a template.
 *
 *     RUN                             so many elements at a time; runs of no multiple of it are left to WEAKER_RUNS, if
 *                                     there is such a rung
 *     load_F16, store_F16             converters of rows
 *     load_run_TYPE, store_run_TYPE   likewise, of RUN elements
 *     HALVES_ALONE                    that there are none of these, as those of C do as well
 */
#include <stdint.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/template.h"

#define RUNS_IN_MODE(name, to_bytes, from_bytes, convert)                                                              \
    INLINE void name(char *dst, const char *src, const tsr_tile *t, const tsr_affine *affine, int mode)                \
    {                                                                                                                  \
        for (int64_t r = 0; r < t->rows; r++) {                                                                        \
            char *to = dst + t->dst_row[r];                                                                            \
            const char *from = src + t->src_row[r];                                                                    \
            if (t->fetches_ahead)                                                                                      \
                fetch(from, 4 * TSR_CACHE_LINE);                                                                       \
            for (int64_t c = 0; c < t->columns; c += RUN)                                                              \
                convert((void *)(to + c * (to_bytes)), (const void *)(from + c * (from_bytes)), RUN, affine, mode);    \
        }                                                                                                              \
    }

#ifdef WEAKER_RUNS
#define LEFT_TO_WEAKER(name)                                                                                           \
    if (t->columns % RUN != 0) {                                                                                       \
        EXPANDED(name, WEAKER_RUNS)(dst, src, t, affine);                                                              \
        return;                                                                                                        \
    }
#else
#define LEFT_TO_WEAKER(name)
#endif

#define RUNS(name, to_bytes, from_bytes, convert)                                                                      \
    RUNS_IN_MODE(name, to_bytes, from_bytes, convert)                                                                  \
    void NAME(name)(void *dst, const void *src, const tsr_tile *t, const tsr_affine *affine)                           \
    {                                                                                                                  \
        LEFT_TO_WEAKER(name)                                                                                           \
        if (!affine)                                                                                                   \
            name(dst, src, t, affine, PLAIN);                                                                          \
        else if (affine->scales_only)                                                                                  \
            name(dst, src, t, affine, SCALE);                                                                          \
        else                                                                                                           \
            name(dst, src, t, affine, SAME);                                                                           \
    }

RUNS(load_runs_F16, 4, 2, load_F16)
RUNS(store_runs_F16, 2, 4, store_F16)
#ifndef HALVES_ALONE
RUNS(load_runs_BF16, 4, 2, load_run_BF16)
RUNS(load_runs_S8, 4, 1, load_run_S8)
RUNS(load_runs_U8, 4, 1, load_run_U8)
RUNS(store_runs_BF16, 2, 4, store_run_BF16)
RUNS(store_runs_S8, 1, 4, store_run_S8)
RUNS(store_runs_U8, 1, 4, store_run_U8)
#endif
