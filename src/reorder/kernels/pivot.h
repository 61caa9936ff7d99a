/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of converters, those of f16, and arithmetic alone, for rungs that convert f16 by vectors. A compile
 * unit includes this file once, as a template. The last step of a row that is converted begins early enough to be
 * whole; a row that is shorter than one is left to the WEAKER rung.
 *
 *     pivot, WHOLE                          a vector of so many f32
 *     pivot_load(at), pivot_store(to, x)    side by side
 *     pivot_of(f)                           f everywhere
 *     half_load(at), half_store(to, x)      likewise, as f16 in memory
 */
#include "reorder/kernels/template.h"

/* Values from element i of a row on, of a vector that `everywhere` fills with a factor, and `load` with as many; in two
 * parts, as old values are added between them. */
#define ARITHMETIC(name, vector, everywhere, load)                                                                     \
    INLINE vector factors_of_##name(const float *table, int64_t i, int mode)                                           \
    {                                                                                                                  \
        return mode == EACH || mode == EACH_SCALE ? (vector)load(table + i) : (vector)everywhere(*table);              \
    }                                                                                                                  \
    INLINE vector scaled_##name(vector x, const tsr_affine *affine, int64_t i, int mode)                               \
    {                                                                                                                  \
        if (mode == PLAIN)                                                                                             \
            return x;                                                                                                  \
        if (mode != SCALE && mode != EACH_SCALE)                                                                       \
            x = x - factors_of_##name(affine->mean, i, mode);                                                          \
        return x * factors_of_##name(affine->scale, i, mode);                                                          \
    }                                                                                                                  \
    INLINE vector shifted_##name(vector x, const tsr_affine *affine, int64_t i, int mode)                              \
    {                                                                                                                  \
        if (mode != SAME && mode != EACH)                                                                              \
            return x;                                                                                                  \
        return x + factors_of_##name(affine->shift, i, mode);                                                          \
    }                                                                                                                  \
    INLINE vector name(vector x, const tsr_affine *affine, int64_t i, int mode)                                        \
    {                                                                                                                  \
        return shifted_##name(scaled_##name(x, affine, i, mode), affine, i, mode);                                     \
    }

ARITHMETIC(arithmetic, pivot, pivot_of, pivot_load)

/* An affine that is copied, with the factors that are the same for a row: a store might change those that the caller
 * has, for all that compilers know. */
struct own_factors {
    float mean, scale, shift;
    tsr_affine affine;
};

INLINE const tsr_affine *own_affine(struct own_factors *own, const tsr_affine *affine, int mode)
{
    if (mode == PLAIN)
        return affine;
    own->affine = *affine;
    if (mode == EACH || mode == EACH_SCALE)
        return &own->affine;
    own->mean = *affine->mean;
    own->scale = *affine->scale;
    own->shift = *affine->shift;
    own->affine.mean = &own->mean;
    own->affine.scale = &own->scale;
    own->affine.shift = &own->shift;
    return &own->affine;
}

/* Does any channel have a shift? -0.0 changes nothing. */
INLINE bool shifts(const tsr_affine *affine, int channels)
{
    const float nothing = -0.0f;
    bool any = false;
    for (int r = 0; r < channels; r++)
        any |= memcmp(affine[r].shift, &nothing, sizeof nothing) != 0;
    return any;
}

INLINE pivot pivot_at(const char *from, int64_t i, const tsr_affine *affine, int mode)
{
    return arithmetic(pivot_load(from + 4 * i), affine, i, mode);
}

INLINE void load_F16(char *to, const char *from, int64_t n, const tsr_affine *factors, int mode)
{
    struct own_factors own;
    const tsr_affine *affine = own_affine(&own, factors, mode);
    for (int64_t at = 0; at < n; at += WHOLE) {
        int64_t i = at + WHOLE <= n ? at : n - WHOLE;
        pivot_store(to + 4 * i, arithmetic(half_load(from + 2 * i), affine, i, mode));
    }
}

/* What takes rows of WHOLE elements and more. */
#define WHOLE_CONVERTER(name)                                                                                          \
    void NAME(name)(void *dst, const void *src, int64_t n, const tsr_affine *affine)                                   \
    {                                                                                                                  \
        if (n < WHOLE)                                                                                                 \
            EXPANDED(name, WEAKER)(dst, src, n, affine);                                                               \
        else                                                                                                           \
            BY_MODE(name, n)                                                                                           \
    }

WHOLE_CONVERTER(load_F16)

/* ---- from pivot to pivot ---- */

/* With old values, if there are any, before the shift. */
INLINE pivot affine_at(const char *from, int64_t i, const tsr_affine *affine, int mode, bool has_old)
{
    pivot x = scaled_arithmetic(pivot_load(from + 4 * i), affine, i, mode);
    if (has_old)
        x = x + pivot_of(affine->beta) * pivot_load((const char *)affine->old + 4 * i);
    return shifted_arithmetic(x, affine, i, mode);
}

/* WHOLE elements and more. dst may be src or old, so that the last ones, some of which may be computed twice, are so
 * before any is written. */
INLINE void affine_vectors(char *to, const char *from, int64_t n, const tsr_affine *affine, int mode, bool has_old)
{
    const int64_t last = n - WHOLE;
    const pivot end = affine_at(from, last, affine, mode, has_old);
    for (int64_t i = 0; i < last; i += WHOLE)
        pivot_store(to + 4 * i, affine_at(from, i, affine, mode, has_old));
    pivot_store(to + 4 * last, end);
}

INLINE void affine_row(char *to, const char *from, int64_t n, const tsr_affine *factors, int mode)
{
    struct own_factors own;
    const tsr_affine *affine = own_affine(&own, factors, mode);
    if (affine->old)
        affine_vectors(to, from, n, affine, mode, true);
    else
        affine_vectors(to, from, n, affine, mode, false);
}

void NAME(affine)(void *dst, const void *src, int64_t n, const tsr_affine *affine)
{
    if (n < WHOLE)
        EXPANDED(affine, WEAKER)(dst, src, n, affine);
    else
        BY_FACTORS(affine_row, n)
}
