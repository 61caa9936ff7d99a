/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows whose factors come again and again, as those of channels that lie side by side do: from type to type at once, by
 * three vectors of factors, which stay in registers. A compile unit includes this file once, as a template, behind
 * narrow.h.
 */
#include "reorder/kernels/kernels.h"
#include "reorder/kernels/template.h"

/* A pack of the narrowest type has so many vectors. */
enum { PERIOD = 3, MOST_OF_PACK = 4 };
_Static_assert(PERIOD *WHOLE % TSR_PERIOD == 0 && TSR_PERIODIC_ELEMENTS % (PERIOD * MOST_OF_PACK * WHOLE) == 0,
               "vectors of factors and rows of packs");

INLINE int bytes_of_source(enum source source)
{
    return source == OF_S8 || source == OF_U8 ? 1 : source == OF_F16 || source == OF_BF16 ? 2 : 4;
}

/* As many packs as vectors of factors, after which these are the same again. */
INLINE void convert_periodically(char *to, const char *from, int64_t n, const tsr_affine *affine, enum source source,
                                 enum target target)
{
    const int of_pack = 4 / bytes_of_target(target), src_bytes = bytes_of_source(source);
    pivot mean[PERIOD], scale[PERIOD], shift[PERIOD];
#pragma GCC unroll 3
    for (int i = 0; i < PERIOD; i++) {
        scale[i] = pivot_load(affine->scale + i * WHOLE);
        mean[i] = affine->scales_only ? pivot_of(0.0f) : pivot_load(affine->mean + i * WHOLE);
        shift[i] = affine->scales_only ? pivot_of(-0.0f) : pivot_load(affine->shift + i * WHOLE);
    }
    for (int64_t done = 0; done < n; done += PERIOD * of_pack * WHOLE)
#pragma GCC unroll 3
        for (int i = 0; i < PERIOD * of_pack; i += of_pack) {
            pivot x[MOST_OF_PACK];
            values_at(x, of_pack, from, 0, NULL, PLAIN, source);
#pragma GCC unroll 4
            for (int j = 0; j < of_pack; j++)
                x[j] = (x[j] - mean[(i + j) % PERIOD]) * scale[(i + j) % PERIOD] + shift[(i + j) % PERIOD];
            vec_store(to, packed_values(x, target));
            from += of_pack * WHOLE * src_bytes;
            to += sizeof(vec);
        }
}

#define PERIODIC(src_type, type)                                                                                       \
    void NAME(periodic_##src_type##_##type)(void *dst, const void *src, int64_t n, const tsr_affine *affine)           \
    {                                                                                                                  \
        convert_periodically(dst, src, n, affine, OF_##src_type, TO_##type);                                           \
    }

#define PERIODIC_FROM(src_type)                                                                                        \
    PERIODIC(src_type, F32)                                                                                            \
    PERIODIC(src_type, F16)                                                                                            \
    PERIODIC(src_type, BF16)                                                                                           \
    PERIODIC(src_type, S8)                                                                                             \
    PERIODIC(src_type, U8)

PERIODIC_FROM(F32)
PERIODIC_FROM(F16)
PERIODIC_FROM(BF16)
PERIODIC_FROM(S8)
PERIODIC_FROM(U8)
