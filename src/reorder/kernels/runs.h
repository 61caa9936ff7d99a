/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that are converted, of the types that tensors of networks have most. A compile unit of a rung includes this
 * once, behind its converters of rows, as a template.
 *
 *     RUN                             so many elements at a time, the last of which may be converted twice; shorter runs
 *                                     are left to WEAKER_RUNS, if there is such a rung
 *     load_run_TYPE, store_run_TYPE   converters of RUN elements
 *     from_SRC_run_DST                from one type to another, likewise
 *     stream_run_TYPE                 as load_run_TYPE, and past the caches, if CAN_STREAM
 */
#include <stdbool.h>
#include <stdint.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/template.h"

/* As many channels as blocks mostly have. Runs of so many, and those of RUN, have loops of their own, in which nothing
 * is asked for each of them. */
enum { BLOCK = 16, RUN_IS_SHORTER = RUN < BLOCK };

/* The arithmetic from element c of a run on, whose first one takes its factors at `first`. */
INLINE tsr_affine affine_of_run(const tsr_affine *affine, int64_t first, int64_t c, int mode)
{
    tsr_affine own = {0};
    if (mode == PLAIN)
        return own;
    const int64_t at = first + (mode == EACH || mode == EACH_SCALE ? c : 0);
    own.mean = affine->mean + at;
    own.scale = affine->scale + at;
    own.shift = affine->shift + at;
    return own;
}

#define RUNS_IN_MODE(name, to_bytes, from_bytes, convert)                                                              \
    INLINE void name##_of(char *dst, const char *src, const tsr_tile *t, int64_t columns, const tsr_affine *affine,    \
                          int mode)                                                                                    \
    {                                                                                                                  \
        const int64_t rows = t->rows, *dst_row = t->dst_row, *src_row = t->src_row, *row_factor = t->row_factor;       \
        const bool fetches_ahead = t->fetches_ahead;                                                                   \
        for (int64_t r = 0; r < rows; r++) {                                                                           \
            char *to = dst + dst_row[r];                                                                               \
            const char *from = src + src_row[r];                                                                       \
            const int64_t first = row_factor ? row_factor[r] : 0;                                                      \
            if (fetches_ahead)                                                                                         \
                fetch(from, 4 * TSR_CACHE_LINE);                                                                       \
            for (int64_t next = 0; next < columns; next += RUN) {                                                      \
                const int64_t c = next + RUN <= columns ? next : columns - RUN;                                        \
                const tsr_affine own = affine_of_run(affine, first, c, mode);                                          \
                convert((void *)(to + c * (to_bytes)), (const void *)(from + c * (from_bytes)), RUN, &own, mode);      \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    INLINE void name(char *dst, const char *src, const tsr_tile *t, const tsr_affine *affine, int mode)                \
    {                                                                                                                  \
        if (t->columns == RUN)                                                                                         \
            name##_of(dst, src, t, RUN, affine, mode);                                                                 \
        else if (RUN_IS_SHORTER && t->columns == BLOCK)                                                                \
            name##_of(dst, src, t, BLOCK, affine, mode);                                                               \
        else                                                                                                           \
            name##_of(dst, src, t, t->columns, affine, mode);                                                          \
    }

#ifdef WEAKER_RUNS
#define LEFT_TO_WEAKER(name)                                                                                           \
    if (t->columns < RUN) {                                                                                            \
        EXPANDED(name, WEAKER_RUNS)(dst, src, t, affine);                                                              \
        return;                                                                                                        \
    }
#else
#define LEFT_TO_WEAKER(name)
#endif

/* Without streams, both are the same. */
#define LOAD_RUNS(type, bytes)                                                                                         \
    RUNS_IN_MODE(load_runs_##type, 4, bytes, load_run_##type)                                                          \
    RUNS_IN_MODE(stream_runs_##type, 4, bytes, stream_run_##type)                                                      \
    void NAME(load_runs_##type)(void *dst, const void *src, const tsr_tile *t, const tsr_affine *affine)               \
    {                                                                                                                  \
        LEFT_TO_WEAKER(load_runs_##type)                                                                               \
        if (CAN_STREAM && t->streams)                                                                                  \
            BY_MODE(stream_runs_##type, t)                                                                             \
        else                                                                                                           \
            BY_MODE(load_runs_##type, t)                                                                               \
    }

/* What is stored is never streamed, nor are integers. */
#define CACHED_RUNS(family, type, to_bytes, from_bytes)                                                                \
    RUNS_IN_MODE(family##_runs_##type, to_bytes, from_bytes, family##_run_##type)                                      \
    void NAME(family##_runs_##type)(void *dst, const void *src, const tsr_tile *t, const tsr_affine *affine)           \
    {                                                                                                                  \
        LEFT_TO_WEAKER(family##_runs_##type)                                                                           \
        BY_MODE(family##_runs_##type, t)                                                                               \
    }

#define STORE_RUNS(type, bytes) CACHED_RUNS(store, type, bytes, 4)

enum { BYTES_F16 = 2, BYTES_BF16 = 2, BYTES_S8 = 1, BYTES_U8 = 1, BYTES_S32 = 4 };

#define RUNS_OF_PAIR(src, dst, what) CACHED_RUNS(from_##src, dst, BYTES_##dst, BYTES_##src)

LOAD_RUNS(F16, 2)
STORE_RUNS(F16, 2)
LOAD_RUNS(BF16, 2)
LOAD_RUNS(S8, 1)
LOAD_RUNS(U8, 1)
CACHED_RUNS(load, S32, 4, 4)
STORE_RUNS(BF16, 2)
STORE_RUNS(S8, 1)
STORE_RUNS(U8, 1)
STORE_RUNS(S32, 4)
TSR_FOR_PAIRS(RUNS_OF_PAIR, runs)
#undef RUNS_OF_PAIR
