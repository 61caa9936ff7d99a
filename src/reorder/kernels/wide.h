/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps from f64 that compilers make far more instructions of than it takes. A compile unit includes this file once,
 * as a template, behind pivot.h.
 *
 *     wide, WIDE                        a vector of so many f64, which are half of WHOLE
 *     wide_load(at), wide_of(f)         side by side, and f everywhere
 *     wide_load_factors(at)             so many f32
 *     put_TYPE(to, x), put_odd_F32      what store64 and store64_odd make of so many, of integers of 32 and 64 bits
 */

ARITHMETIC(wide_arithmetic, wide, wide_of, wide_load_factors)

#define WIDE_STORE(name, bytes, put)                                                                                   \
    INLINE void name(char *to, const char *from, int64_t n, const tsr_affine *factors, int mode)                       \
    {                                                                                                                  \
        struct own_factors own;                                                                                        \
        const tsr_affine *affine = own_affine(&own, factors, mode);                                                    \
        for (int64_t at = 0; at < n; at += WIDE) {                                                                     \
            const int64_t i = at + WIDE <= n ? at : n - WIDE;                                                          \
            put(to + (bytes)*i, wide_arithmetic(wide_load(from + 8 * i), affine, i, mode));                            \
        }                                                                                                              \
    }                                                                                                                  \
    WHOLE_CONVERTER(name)

WIDE_STORE(store64_S32, 4, put_S32)
WIDE_STORE(store64_U32, 4, put_U32)
WIDE_STORE(store64_S64, 8, put_S64)
WIDE_STORE(store64_U64, 8, put_U64)
WIDE_STORE(store64_odd_F32, 4, put_odd_F32)
