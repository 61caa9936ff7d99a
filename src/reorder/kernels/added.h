/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that are added to what they come to, from type to type at once, with nothing in memory between them. A compile
 * unit includes this file once, as a template, behind periodic.h and runs.h.
 */
#include <string.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/template.h"

/* The pack from element i on; old values are read as `old_source`. */
INLINE vec sum_at(const char *to, const char *from, int64_t i, const tsr_affine *affine, int mode, enum source source,
                  enum source old_source, enum target target)
{
    const int of_pack = 4 / bytes_of_target(target);
    const pivot beta = pivot_of(affine->beta);
    pivot x[MOST_OF_PACK], old[MOST_OF_PACK];
    values_at(x, of_pack, from, i, NULL, PLAIN, source);
    values_at(old, of_pack, to, i, NULL, PLAIN, old_source);
    for (int j = 0; j < of_pack; j++) {
        x[j] = scaled_arithmetic(x[j], affine, i + j * WHOLE, mode) + beta * old[j];
        x[j] = shifted_arithmetic(x[j], affine, i + j * WHOLE, mode);
    }
    return packed_values(x, target);
}

/* A pack and more. The last one, of which some elements may be added twice, is made before any is written. */
INLINE void add_packs(char *to, const char *from, int64_t n, const tsr_affine *factors, int mode, enum source source,
                      enum source old_source, enum target target)
{
    const int bytes = bytes_of_target(target), pack = 4 / bytes * WHOLE;
    const int64_t last = n - pack;
    struct own_factors own;
    const tsr_affine *affine = own_affine(&own, factors, mode);
    const vec end = sum_at(to, from, last, affine, mode, source, old_source, target);
    for (int64_t i = 0; i < last; i += pack)
        vec_store(to + bytes * i, sum_at(to, from, i, affine, mode, source, old_source, target));
    vec_store(to + bytes * last, end);
}

/* What is less than a pack, as one. */
INLINE void add_few(char *to, const char *from, int64_t n, const tsr_affine *affine, int src_bytes, int dst_bytes,
                    tsr_row_kernel add_packs)
{
    enum { MOST = MOST_OF_PACK * WHOLE };
    const int64_t pack = 4 / dst_bytes * WHOLE, factors = affine->step == 0 ? 1 : n;
    float table[3][MOST];
    char in[4 * MOST], out[sizeof(vec)];
    const tsr_affine own = {.mean = table[0],
                            .scale = table[1],
                            .shift = table[2],
                            .step = affine->step,
                            .scales_only = affine->scales_only,
                            .beta = affine->beta};
    if (affine->step != 0)
        memset(table, 0, sizeof table);
    memset(in, 0, (size_t)(pack * src_bytes));
    memset(out, 0, sizeof out);
    memcpy(table[0], affine->mean, (size_t)factors * sizeof *affine->mean);
    memcpy(table[1], affine->scale, (size_t)factors * sizeof *affine->scale);
    memcpy(table[2], affine->shift, (size_t)factors * sizeof *affine->shift);
    memcpy(in, from, (size_t)(n * src_bytes));
    memcpy(out, to, (size_t)(n * dst_bytes));
    add_packs(out, in, pack, &own);
    memcpy(to, out, (size_t)(n * dst_bytes));
}

#define ADDED(src_type, type)                                                                                          \
    INLINE void add_##src_type##_##type(char *to, const char *from, int64_t n, const tsr_affine *affine, int mode)     \
    {                                                                                                                  \
        add_packs(to, from, n, affine, mode, OF_##src_type, OF_##type, TO_##type);                                     \
    }                                                                                                                  \
    static void add_packs_of_##src_type##_##type(void *dst, const void *src, int64_t n, const tsr_affine *affine)      \
    {                                                                                                                  \
        BY_FACTORS(add_##src_type##_##type, n)                                                                         \
    }                                                                                                                  \
    void NAME(add_##src_type##_##type)(void *dst, const void *src, int64_t n, const tsr_affine *affine)                \
    {                                                                                                                  \
        const int src_bytes = bytes_of_source(OF_##src_type), dst_bytes = bytes_of_target(TO_##type);                  \
        if (n >= 4 / dst_bytes * WHOLE)                                                                                \
            add_packs_of_##src_type##_##type(dst, src, n, affine);                                                     \
        else                                                                                                           \
            add_few(dst, src, n, affine, src_bytes, dst_bytes, add_packs_of_##src_type##_##type);                      \
    }

#define ADDED_FROM(src_type)                                                                                           \
    ADDED(src_type, F16)                                                                                               \
    ADDED(src_type, BF16)                                                                                              \
    ADDED(src_type, S8)                                                                                                \
    ADDED(src_type, U8)

ADDED_FROM(F32)
ADDED_FROM(F16)
ADDED_FROM(BF16)
ADDED_FROM(S8)
ADDED_FROM(U8)
ADDED(F16, F32)
ADDED(BF16, F32)
ADDED(S8, F32)
ADDED(U8, F32)

/* Of many rows, each of which is added to what it comes to. */
INLINE void add_rows(char *dst, const char *src, const tsr_tile *t, const tsr_affine *affine, int mode)
{
    const int64_t *dst_row = t->dst_row, *src_row = t->src_row, *row_factor = t->row_factor, rows = t->rows,
                  n = t->columns;
    for (int64_t r = 0; r < rows; r++) {
        const int64_t first = row_factor ? row_factor[r] : 0;
        const tsr_affine own = {.mean = affine->mean + first,
                                .scale = affine->scale + first,
                                .shift = affine->shift + first,
                                .old = dst + dst_row[r],
                                .beta = affine->beta};
        affine_vectors(dst + dst_row[r], src + src_row[r], n, &own, mode, true);
    }
}

void NAME(add_runs_F32)(void *dst, const void *src, const tsr_tile *t, const tsr_affine *affine)
{
    LEFT_TO_WEAKER(add_runs_F32)
    BY_FACTORS(add_rows, t)
}
