/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that are converted, of the types that tensors of networks have most. A compile unit of a rung includes this
 * once, behind its converters of rows, as a template.
 *
 *     RUN                             so many elements at a time, the last of which may be converted twice; shorter
 *                                     runs are left to WEAKER_RUNS, if there is such a rung
 *     load_run_TYPE, store_run_TYPE   converters of RUN elements
 *     from_SRC_run_DST                from one type to another, likewise
 *     stream_run_TYPE                 as load_run_TYPE, and past the caches, if CAN_STREAM
 */
#include <stdbool.h>
#include <stdint.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/template.h"
#include "reorder/kernels/unaligned.h"

/* As many channels as blocks mostly have. Runs of so many have loops of their own, in which nothing is asked for each
 * of them. */
enum { BLOCK = 16, HALF_BLOCK = BLOCK / 2, TAKES_HALVES = RUN <= BLOCK / 2 };

/* What lies some lines further on is read soon; a pack may have several. */
INLINE void fetch_run(const char *from, int bytes)
{
    enum { AHEAD_BYTES = 4 * TSR_CACHE_LINE };
    for (int line = 0; line < bytes; line += TSR_CACHE_LINE)
        fetch(from + line, AHEAD_BYTES);
}

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

/* Runs from row `done` on, one by one. */
#define EACH_RUN(name, to_bytes, from_bytes, convert)                                                                  \
    INLINE void name(char *dst, const char *src, const tsr_tile *t, int64_t done, int64_t columns,                     \
                     const tsr_affine *affine, int mode)                                                               \
    {                                                                                                                  \
        const int64_t rows = t->rows, *dst_row = t->dst_row, *src_row = t->src_row, *row_factor = t->row_factor;       \
        const bool fetches_ahead = t->fetches_ahead;                                                                   \
        for (int64_t r = done; r < rows; r++) {                                                                        \
            char *to = dst + dst_row[r];                                                                               \
            const char *from = src + src_row[r];                                                                       \
            const int64_t first = row_factor ? row_factor[r] : 0;                                                      \
            if (fetches_ahead)                                                                                         \
                fetch_run(from, TSR_CACHE_LINE);                                                                       \
            for (int64_t next = 0; next < columns; next += RUN) {                                                      \
                const int64_t c = next + RUN <= columns ? next : columns - RUN;                                        \
                const tsr_affine own = affine_of_run(affine, first, c, mode);                                          \
                convert((void *)(to + c * (to_bytes)), (const void *)(from + c * (from_bytes)), RUN, &own, mode);      \
            }                                                                                                          \
        }                                                                                                              \
    }

#define RUNS_IN_MODE(name, to_bytes, from_bytes, convert)                                                              \
    EACH_RUN(each_of_##name, to_bytes, from_bytes, convert)                                                            \
    INLINE void name(char *dst, const char *src, const tsr_tile *t, const tsr_affine *affine, int mode)                \
    {                                                                                                                  \
        if (TAKES_HALVES && t->columns == HALF_BLOCK)                                                                  \
            each_of_##name(dst, src, t, 0, HALF_BLOCK, affine, mode);                                                  \
        else if (t->columns == BLOCK)                                                                                  \
            each_of_##name(dst, src, t, 0, BLOCK, affine, mode);                                                       \
        else                                                                                                           \
            each_of_##name(dst, src, t, 0, t->columns, affine, mode);                                                  \
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

#define RUNS_KERNEL(family, type)                                                                                      \
    void NAME(family##_runs_##type)(void *dst, const void *src, const tsr_tile *t, const tsr_affine *affine)           \
    {                                                                                                                  \
        LEFT_TO_WEAKER(family##_runs_##type)                                                                           \
        BY_MODE(family##_runs_##type, t)                                                                               \
    }

/* What is stored is never streamed, nor are integers of 32 bits and f32. */
#define CACHED_RUNS(family, type, to_bytes, from_bytes)                                                                \
    RUNS_IN_MODE(family##_runs_##type, to_bytes, from_bytes, family##_run_##type)                                      \
    RUNS_KERNEL(family, type)

/* Part i of a pack, 8 bytes or some lanes. */
INLINE void put_part(char *to, vec v, int i, int bytes)
{
    typedef uint64_t words __attribute__((vector_size(sizeof v)));
    if (bytes >= TSR_LANE_BYTES)
        vec_store_lanes(to, v, i * bytes / TSR_LANE_BYTES, bytes / TSR_LANE_BYTES);
    else
        *(u64_any *)to = ((words)v)[i];
}

/* A pack at a time, of several rows or of a part of one: `each` is a constant, and what a pack has of a row. Rows have
 * as many columns; or more if that is all of a pack, the last of which may be converted twice. Gives how many rows are
 * done. */
#define RUNS_IN_PACKS(name, type, to_bytes, from_bytes, source)                                                        \
    INLINE int64_t name(char *dst, const char *src, const tsr_tile *t, int each, int64_t columns,                      \
                        const tsr_affine *affine, int mode)                                                            \
    {                                                                                                                  \
        const int64_t *dst_row = t->dst_row, *src_row = t->src_row, *row_factor = t->row_factor;                       \
        const int rows = per_pack_##type / each;                                                                       \
        const bool fetches_ahead = t->fetches_ahead, are_one = t->has_dense_rows && each == columns;                   \
        int64_t r = 0;                                                                                                 \
        for (; r + rows <= t->rows; r += rows)                                                                         \
            for (int64_t next = 0; next < columns; next += each) {                                                     \
                const int64_t c = next + each <= columns ? next : columns - each;                                      \
                pivot x[vectors_##type];                                                                               \
                for (int i = 0; i < rows; i++) {                                                                       \
                    const char *from = src + src_row[r + i] + c * (from_bytes);                                        \
                    const tsr_affine own = affine_of_run(affine, row_factor ? row_factor[r + i] : 0, c, mode);         \
                    if (fetches_ahead)                                                                                 \
                        fetch_run(from, (each) * (from_bytes));                                                        \
                    values_at(x + i * each / RUN, each / RUN, from, 0, &own, mode, source);                            \
                }                                                                                                      \
                const vec v = packed_##type(x);                                                                        \
                if (are_one)                                                                                           \
                    vec_store(dst + dst_row[r], v);                                                                    \
                else                                                                                                   \
                    for (int i = 0; i < rows; i++)                                                                     \
                        put_part(dst + dst_row[r + i] + c * (to_bytes), v, i, each * (to_bytes));                      \
            }                                                                                                          \
        return r;                                                                                                      \
    }

/* What a pack has of a row of n elements. */
#define PART_OF(pack, n) ((n) < (pack) ? (n) : (pack))

/* Blocks in packs, and what is as long as one; what is left of them one by one, as other runs are. */
#define PACKED_RUNS(family, type, to_bytes, from_bytes, source)                                                        \
    EACH_RUN(family##_each_##type, to_bytes, from_bytes, family##_run_##type)                                          \
    RUNS_IN_PACKS(family##_packs_##type, type, to_bytes, from_bytes, source)                                           \
    INLINE void family##_runs_##type(char *dst, const char *src, const tsr_tile *t, const tsr_affine *affine,          \
                                     int mode)                                                                         \
    {                                                                                                                  \
        const int pack = per_pack_##type;                                                                              \
        int64_t done = 0;                                                                                              \
        if (TAKES_HALVES && t->columns == HALF_BLOCK)                                                                  \
            done = family##_packs_##type(dst, src, t, HALF_BLOCK, HALF_BLOCK, affine, mode);                           \
        else if (t->columns == BLOCK)                                                                                  \
            done = family##_packs_##type(dst, src, t, PART_OF(pack, BLOCK), BLOCK, affine, mode);                      \
        else if (t->columns == 2 * BLOCK)                                                                              \
            done = family##_packs_##type(dst, src, t, PART_OF(pack, 2 * BLOCK), 2 * BLOCK, affine, mode);              \
        else if (t->columns >= pack)                                                                                   \
            done = family##_packs_##type(dst, src, t, pack, t->columns, affine, mode);                                 \
        family##_each_##type(dst, src, t, done, t->columns, affine, mode);                                             \
    }                                                                                                                  \
    RUNS_KERNEL(family, type)

enum {
    BYTES_F32 = 4,
    BYTES_F16 = 2,
    BYTES_BF16 = 2,
    BYTES_S8 = 1,
    BYTES_U8 = 1,
    BYTES_S32 = 4,
    BYTES_F8_E4M3 = 1,
    BYTES_F8_E5M2 = 1
};

#define RUNS_OF_PAIR(src, dst, what) CACHED_RUNS(from_##src, dst, BYTES_##dst, BYTES_##src)
#define PACKS_OF_PAIR(src, dst, what) PACKED_RUNS(from_##src, dst, BYTES_##dst, BYTES_##src, OF_##src)
#define STORE_RUNS(dst) CACHED_RUNS(store, dst, BYTES_##dst, BYTES_F32)
#define STORE_PACKS(dst) PACKED_RUNS(store, dst, BYTES_##dst, BYTES_F32, OF_F32)

LOAD_RUNS(F16, 2)
LOAD_RUNS(BF16, 2)
LOAD_RUNS(S8, 1)
LOAD_RUNS(U8, 1)
LOAD_RUNS(F8_E4M3, 1)
LOAD_RUNS(F8_E5M2, 1)
CACHED_RUNS(load, F32, 4, 4)
CACHED_RUNS(load, S32, 4, 4)
STORE_RUNS(F16)
STORE_PACKS(BF16)
STORE_PACKS(S8)
STORE_PACKS(U8)
STORE_PACKS(F8_E4M3)
STORE_PACKS(F8_E5M2)
STORE_RUNS(S32)
TSR_FOR_SOURCES(RUNS_OF_PAIR, F16, runs)
TSR_FOR_SOURCES(PACKS_OF_PAIR, BF16, runs)
TSR_FOR_NUMBERS(PACKS_OF_PAIR, S8, runs)
TSR_FOR_NUMBERS(PACKS_OF_PAIR, U8, runs)
TSR_FOR_NUMBERS(RUNS_OF_PAIR, S32, runs)
TSR_FOR_HALVES(PACKS_OF_PAIR, F8_E4M3, runs)
TSR_FOR_HALVES(PACKS_OF_PAIR, F8_E5M2, runs)
#undef RUNS_OF_PAIR
#undef PACKS_OF_PAIR
