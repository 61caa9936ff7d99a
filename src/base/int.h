/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_BASE_INT_H
#define TESSERA_SRC_BASE_INT_H

#include <stdbool.h>
#include <stdint.h>

/* Checked arithmetic: true, and the result in *out, when it fits; false otherwise. */

static inline bool tsr_mul(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

static inline bool tsr_add(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

/* *sum += a * b */
static inline bool tsr_mul_add(int64_t a, int64_t b, int64_t *sum)
{
    int64_t product;
    return tsr_mul(a, b, &product) && tsr_add(*sum, product, sum);
}

/* a / b rounded up, for a >= 0 and b > 0 */
static inline int64_t tsr_ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* The greatest common divisor of a >= 0 and b > 0. */
static inline int64_t tsr_gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The least common multiple of a > 0 and b > 0; INT64_MAX if it does not fit. */
static inline int64_t tsr_lcm(int64_t a, int64_t b)
{
    int64_t multiple;
    return tsr_mul(a, b / tsr_gcd(a, b), &multiple) ? multiple : INT64_MAX;
}

static inline int64_t tsr_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t tsr_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline bool tsr_is_power_of_two(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

/* The largest divisor of n > 0 that is not above the bound, or 1. */
static inline int64_t tsr_divisor_below(int64_t n, int64_t bound)
{
    int64_t divisor = tsr_max(1, tsr_min(n, bound));
    while (n % divisor != 0)
        divisor--;
    return divisor;
}

#endif
