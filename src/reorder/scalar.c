/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/scalar.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A floating-point format: widths of exponent and significand. */
struct format {
    int exponent_bits, significand_bits;
};

static const struct format f32 = {8, 23}, f16 = {5, 10}, bf16 = {8, 7};

/* What an element means. A NaN keeps its payload, aligned to the top of 32 bits. */
struct number {
    double value;
    bool is_nan, is_negative, is_signalling;
    uint32_t payload;
};

static struct number number_of(double value)
{
    return (struct number){.value = value, .is_negative = signbit(value) != 0};
}

static struct number decode(uint32_t bits, struct format format)
{
    int m = format.significand_bits, bias = (1 << (format.exponent_bits - 1)) - 1;
    uint32_t significand = bits & ((1U << m) - 1);
    int exponent = (int)(bits >> m & ((1U << format.exponent_bits) - 1));
    bool negative = bits >> (m + format.exponent_bits) & 1;
    struct number number = {.is_negative = negative};
    if (exponent == (1 << format.exponent_bits) - 1) {
        number.is_nan = significand != 0;
        number.is_signalling = number.is_nan && !(significand >> (m - 1) & 1);
        number.payload = significand << (32 - m);
        number.value = INFINITY;
    } else if (exponent == 0) {
        number.value = ldexp(significand, 1 - bias - m);
    } else {
        number.value = ldexp(significand + (1U << m), exponent - bias - m);
    }
    number.value = negative ? -number.value : number.value;
    return number;
}

/* Counts in units of the last place: the count, put behind the exponent, carries into it by itself. */
static uint32_t encode(struct number number, struct format format)
{
    int m = format.significand_bits, bias = (1 << (format.exponent_bits - 1)) - 1, exponent;
    uint32_t infinity = ((1U << format.exponent_bits) - 1) << m;
    uint32_t sign = (uint32_t)number.is_negative << (m + format.exponent_bits);
    double magnitude = fabs(number.value);
    if (number.is_nan)
        return sign | infinity | 1U << (m - 1) | number.payload >> (32 - m);
    if (isinf(magnitude))
        return sign | infinity;
    if (magnitude == 0)
        return sign;
    frexp(magnitude, &exponent);
    int field = exponent - 1 + bias < 1 ? 1 : exponent - 1 + bias;
    if (field > 2 * bias)
        return sign | infinity;
    double ulps = nearbyint(ldexp(magnitude, m + bias - field));
    return sign | (((uint32_t)(field - 1) << m) + (uint32_t)ulps);
}

static double to_integer(struct number number, double low, double high)
{
    double whole = number.is_nan ? 0 : nearbyint(number.value);
    return whole < low ? low : whole > high ? high : whole;
}

static struct number read(const void *src, tsr_dtype type)
{
    uint32_t bits = 0;
    int32_t whole;
    memcpy(&bits, src, tsr_dtype_size_bytes(type));
    switch (type) {
    case TSR_F32:
        return decode(bits, f32);
    case TSR_F16:
        return decode(bits, f16);
    case TSR_BF16:
        return decode(bits, bf16);
    case TSR_S8:
        return number_of(bits < 128 ? (double)bits : (double)bits - 256);
    case TSR_U8:
        return number_of((double)bits);
    default:
        memcpy(&whole, src, sizeof whole);
        return number_of(whole);
    }
}

static void write(void *dst, tsr_dtype type, struct number number)
{
    uint32_t bits;
    switch (type) {
    case TSR_F32:
        bits = encode(number, f32);
        break;
    case TSR_F16:
        bits = encode(number, f16);
        break;
    case TSR_BF16:
        bits = encode(number, bf16);
        break;
    case TSR_S8:
        bits = (uint32_t)(int32_t)to_integer(number, -128, 127);
        break;
    case TSR_U8:
        bits = (uint32_t)to_integer(number, 0, 255);
        break;
    default:
        bits = (uint32_t)(int32_t)to_integer(number, -2147483648.0, 2147483647.0);
        break;
    }
    memcpy(dst, &bits, tsr_dtype_size_bytes(type));
}

/* (x - mean) * scale with each step rounded to f32 */
static struct number apply(struct number number, const float factors[2])
{
    uint32_t bits = encode(number, f32);
    float x;
    memcpy(&x, &bits, sizeof x);
    volatile float difference = x - factors[0];
    volatile float product = difference * factors[1];
    x = product;
    memcpy(&bits, &x, sizeof bits);
    return decode(bits, f32);
}

void tsr_convert_scalar(void *dst, tsr_dtype dst_type, const void *src, tsr_dtype src_type, const float factors[2])
{
    struct number number = read(src, src_type);
    if (factors)
        number = apply(number, factors);
    if (!factors && src_type == TSR_BF16 && dst_type == TSR_F32 && number.is_signalling) {
        /* a bf16 is the upper half of an f32, so that every bit is kept */
        uint32_t bits = 0;
        memcpy((char *)&bits + 2, src, 2);
        memcpy(dst, &bits, sizeof bits);
        return;
    }
    write(dst, dst_type, number);
}
