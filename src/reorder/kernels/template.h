/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_KERNELS_TEMPLATE_H
#define TESSERA_SRC_REORDER_KERNELS_TEMPLATE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* For files that each rung includes as templates: a kernel's name is that of list.inc, with the rung that RUNG says. */
#define NAME_OF_RUNG(name, rung) tsr_##name##_##rung
#define EXPANDED(name, rung) NAME_OF_RUNG(name, rung)
#define NAME(name) EXPANDED(name, RUNG)

/* Parts of a template whose arguments are constants. */
#define INLINE __attribute__((always_inline)) static inline

/* What lies so many bytes further, be it memory or not. */
INLINE void fetch(const char *at, int64_t bytes)
{
    __builtin_prefetch((const void *)((uintptr_t)at + (uintptr_t)bytes));
}

/* What is copied soon, when other rows have been. */
INLINE void fetch_behind(const char *at)
{
    enum { AHEAD_BYTES = 128 };
    fetch(at, AHEAD_BYTES);
}

/* A line that is written soon, as stores wait for lines one after the other, and those that lie in two wait longest. */
INLINE void fetch_to_write(char *at)
{
    enum { AHEAD_BYTES = 128 };
    __builtin_prefetch((const void *)((uintptr_t)at + AHEAD_BYTES), 1);
}

/* Pixels that are parted much later, as prefetchers of the CPU do not ask for them where lines are written as well. */
INLINE void fetch_pixels(const char *at, int64_t bytes)
{
    enum { AHEAD_BYTES = 4096, LINE = 64 };
    for (int64_t i = 0; i < bytes; i += LINE)
        fetch(at, AHEAD_BYTES + i);
}

/* Of so many offsets, the one that comes first. */
INLINE int64_t first_of(const int64_t *offset, int64_t n)
{
    int64_t first = offset[0];
    for (int64_t i = 1; i < n; i++)
        first = offset[i] < first ? offset[i] : first;
    return first;
}

/* Where piece i begins; what has no pieces is one, which begins at once. */
INLINE int64_t offset_of_piece(const int64_t *offset, int64_t pieces, int64_t i)
{
    return pieces > 0 ? offset[i] : 0;
}

/* Are n offsets so many bytes from each other? */
INLINE bool follow_each_other(const int64_t *offset, int64_t n, int64_t bytes)
{
    int64_t differ = 0;
    for (int64_t i = 0; i < n; i++)
        differ |= (offset[i] - offset[0]) ^ (i * bytes);
    return differ == 0;
}

/* A run of 2 to 4, 4 to 8 or 8 to 16 bytes: its ends, which may overlap. The less they do, the fewer of them lie in two
 * lines. */
#define COPY_ENDS(name, first_type, last_type)                                                                         \
    INLINE void name(char *to, const char *from, int64_t bytes)                                                        \
    {                                                                                                                  \
        first_type first;                                                                                              \
        last_type last;                                                                                                \
        memcpy(&first, from, sizeof first);                                                                            \
        memcpy(&last, from + bytes - (int64_t)sizeof last, sizeof last);                                               \
        memcpy(to, &first, sizeof first);                                                                              \
        memcpy(to + bytes - (int64_t)sizeof last, &last, sizeof last);                                                 \
    }

COPY_ENDS(copy_2_to_4, uint16_t, uint16_t)
COPY_ENDS(copy_4_to_8, uint32_t, uint32_t)
COPY_ENDS(copy_8_to_16, uint64_t, uint64_t)

/*
 * The arithmetic of a converter, as a constant: none, one scale and nothing else, all but a shift, the same factors
 * for the whole row, a scale of each element and nothing else, or all factors of each. BY_MODE is what such a kernel
 * does, convert(dst, src, what, affine, mode): of a row what is its length, of runs their tile; BY_FACTORS, if there is
 * always something to compute.
 */
enum { PLAIN, SCALE, CENTRE, SAME, EACH_SCALE, EACH };

#define BY_MODE(convert, what)                                                                                         \
    {                                                                                                                  \
        if (!affine)                                                                                                   \
            convert(dst, src, what, affine, PLAIN);                                                                    \
        else                                                                                                           \
            BY_FACTORS(convert, what)                                                                                  \
    }

#define BY_FACTORS(convert, what)                                                                                      \
    {                                                                                                                  \
        if (affine->step != 0 && affine->scales_only)                                                                  \
            convert(dst, src, what, affine, EACH_SCALE);                                                               \
        else if (affine->step != 0)                                                                                    \
            convert(dst, src, what, affine, EACH);                                                                     \
        else if (affine->scales_only)                                                                                  \
            convert(dst, src, what, affine, SCALE);                                                                    \
        else                                                                                                           \
            convert(dst, src, what, affine, SAME);                                                                     \
    }

#endif
