/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/scalar.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A floating-point format: widths of exponent and significand. */
struct format {
    int exponent_bits, significand_bits;
};

/* A type: a floating-point format, or an integer of so many bits; bool has neither. */
struct kind {
    struct format format;
    int integer_bits;
    bool is_signed;
};

static const struct kind kinds[TSR_DTYPE_COUNT] = {
    [TSR_F32] = {{8, 23}, 0, true},  [TSR_F16] = {{5, 10}, 0, true}, [TSR_BF16] = {{8, 7}, 0, true},
    [TSR_F64] = {{11, 52}, 0, true}, [TSR_S8] = {{0}, 8, true},      [TSR_U8] = {{0}, 8, false},
    [TSR_S16] = {{0}, 16, true},     [TSR_U16] = {{0}, 16, false},   [TSR_S32] = {{0}, 32, true},
    [TSR_S64] = {{0}, 64, true},     [TSR_S4] = {{0}, 4, true},      [TSR_U4] = {{0}, 4, false},
};

/*
 * What an element means, exactly: significand * 2^exponent. A NaN keeps its payload, aligned to the
 * top of 64 bits.
 */
struct number {
    bool is_nan, is_infinite, is_negative, is_signalling;
    uint64_t significand;
    int exponent;
    uint64_t payload;
};

static int bit_length(uint64_t x)
{
    int length = 0;
    for (; x; x >>= 1)
        length++;
    return length;
}

/* x / 2^shift, to nearest, ties to even */
static uint64_t round_off(uint64_t x, int shift)
{
    if (shift <= 0 || shift > 64)
        return shift <= 0 ? x << -shift : 0;
    uint64_t kept = shift < 64 ? x >> shift : 0, rest = x << (64 - shift), half = UINT64_C(1) << 63;
    return kept + (rest > half || (rest == half && kept % 2 == 1));
}

static struct number decode_float(uint64_t bits, struct format format)
{
    int m = format.significand_bits, bias = (1 << (format.exponent_bits - 1)) - 1;
    uint64_t significand = bits & ((UINT64_C(1) << m) - 1);
    int field = (int)(bits >> m & ((UINT64_C(1) << format.exponent_bits) - 1));
    struct number number = {.is_negative = bits >> (m + format.exponent_bits) & 1};
    if (field == (1 << format.exponent_bits) - 1) {
        number.is_infinite = significand == 0;
        number.is_nan = significand != 0;
        number.is_signalling = number.is_nan && !(significand >> (m - 1) & 1);
        number.payload = significand << (64 - m);
    } else {
        number.significand = field ? significand | UINT64_C(1) << m : significand;
        number.exponent = (field ? field : 1) - bias - m;
    }
    return number;
}

/* Counts in units of the last place: the count, put behind the exponent, carries into it by itself. */
static uint64_t encode_float(struct number number, struct format format)
{
    int m = format.significand_bits, bias = (1 << (format.exponent_bits - 1)) - 1;
    uint64_t infinity = ((UINT64_C(1) << format.exponent_bits) - 1) << m;
    uint64_t sign = (uint64_t)number.is_negative << (m + format.exponent_bits);
    if (number.is_nan)
        return sign | infinity | UINT64_C(1) << (m - 1) | number.payload >> (64 - m);
    if (number.is_infinite)
        return sign | infinity;
    if (number.significand == 0)
        return sign;
    int field = number.exponent + bit_length(number.significand) - 1 + bias;
    if (field > 2 * bias)
        return sign | infinity;
    field = field < 1 ? 1 : field;
    uint64_t ulps = round_off(number.significand, field - bias - m - number.exponent);
    return sign | (((uint64_t)(field - 1) << m) + ulps);
}

static struct number decode_integer(uint64_t bits, const struct kind *kind)
{
    bool negative = kind->is_signed && bits >> (kind->integer_bits - 1) & 1;
    uint64_t above = kind->integer_bits < 64 ? UINT64_MAX << kind->integer_bits : 0;
    return (struct number){.is_negative = negative, .significand = negative ? 0 - (bits | above) : bits};
}

/* The magnitude first, as far as it fits, then the sign. */
static uint64_t encode_integer(struct number number, const struct kind *kind)
{
    uint64_t most = UINT64_MAX >> (64 - kind->integer_bits + kind->is_signed);
    uint64_t limit = !number.is_negative ? most : kind->is_signed ? most + 1 : 0, magnitude;
    if (number.is_nan)
        return 0;
    if (number.is_infinite || bit_length(number.significand) + number.exponent > 64)
        magnitude = limit;
    else
        magnitude = round_off(number.significand, -number.exponent);
    magnitude = magnitude < limit ? magnitude : limit;
    return (number.is_negative ? 0 - magnitude : magnitude) & UINT64_MAX >> (64 - kind->integer_bits);
}

static struct number read(const void *src, tsr_dtype type)
{
    const struct kind *kind = &kinds[type];
    uint64_t bits = 0;
    memcpy(&bits, src, tsr_dtype_size_bytes(type));
    if (kind->integer_bits)
        return decode_integer(bits, kind);
    if (kind->format.significand_bits)
        return decode_float(bits, kind->format);
    return (struct number){.significand = bits != 0};
}

static void write(void *dst, tsr_dtype type, struct number number)
{
    const struct kind *kind = &kinds[type];
    uint64_t bits;
    if (kind->integer_bits)
        bits = encode_integer(number, kind);
    else if (kind->format.significand_bits)
        bits = encode_float(number, kind->format);
    else
        bits = number.is_nan || number.is_infinite || number.significand != 0;
    memcpy(dst, &bits, tsr_dtype_size_bytes(type));
}

/* (x - mean) * scale + beta * old + shift with each step rounded to f32 */
static struct number apply_f32(struct number number, struct number old, const tsr_factors_of_element *factors)
{
    float x, y;
    write(&x, TSR_F32, number);
    write(&y, TSR_F32, old);
    volatile float value = x - factors->mean, share = factors->beta * y;
    value = value * factors->scale;
    if (factors->beta != 0)
        value = value + share;
    x = value + factors->shift;
    return read(&x, TSR_F32);
}

/* The same in f64 */
static struct number apply_f64(struct number number, struct number old, const tsr_factors_of_element *factors)
{
    double x, y;
    write(&x, TSR_F64, number);
    write(&y, TSR_F64, old);
    volatile double value = x - (double)factors->mean, share = (double)factors->beta * y;
    value = value * (double)factors->scale;
    if (factors->beta != 0)
        value = value + share;
    x = value + (double)factors->shift;
    return read(&x, TSR_F64);
}

static bool is_wide(tsr_dtype type)
{
    return type == TSR_F64 || type == TSR_S64;
}

void tsr_convert_scalar(void *dst, tsr_dtype dst_type, const void *src, tsr_dtype src_type,
                        const tsr_factors_of_element *factors)
{
    struct number number = read(src, src_type), old = {.significand = 0};
    if (factors && factors->beta != 0)
        old = read(dst, dst_type);
    if (factors)
        number = (is_wide(src_type) || is_wide(dst_type) ? apply_f64 : apply_f32)(number, old, factors);
    if (!factors && src_type == TSR_BF16 && dst_type == TSR_F32 && number.is_signalling) {
        /* a bf16 is the upper half of an f32, so that every bit is kept */
        uint32_t bits = 0;
        memcpy((char *)&bits + 2, src, 2);
        memcpy(dst, &bits, sizeof bits);
        return;
    }
    write(dst, dst_type, number);
}
