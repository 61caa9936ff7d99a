/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/scalar.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A floating-point format: widths of exponent and significand. One without infinities has numbers in their place, and
 * its only NaNs have all bits set but the sign. */
struct format {
    int exponent_bits, significand_bits;
    bool has_no_infinity;
};

/* A type: a floating-point format, or an integer of so many bits, of which some lie behind the point. Bool and nf4 have
 * neither. */
struct kind {
    struct format format;
    int integer_bits;
    bool is_signed;
    int fraction_bits;
};

static const struct kind kinds[TSR_DTYPE_COUNT] = {
    [TSR_F32] = {.format = {8, 23, false}},
    [TSR_F64] = {.format = {11, 52, false}},
    [TSR_F16] = {.format = {5, 10, false}},
    [TSR_BF16] = {.format = {8, 7, false}},
    [TSR_F8_E4M3] = {.format = {4, 3, true}},
    [TSR_F8_E5M2] = {.format = {5, 2, false}},
    [TSR_S8] = {.integer_bits = 8, .is_signed = true},
    [TSR_U8] = {.integer_bits = 8},
    [TSR_S16] = {.integer_bits = 16, .is_signed = true},
    [TSR_U16] = {.integer_bits = 16},
    [TSR_S32] = {.integer_bits = 32, .is_signed = true},
    [TSR_U32] = {.integer_bits = 32},
    [TSR_S64] = {.integer_bits = 64, .is_signed = true},
    [TSR_U64] = {.integer_bits = 64},
    [TSR_S4] = {.integer_bits = 4, .is_signed = true},
    [TSR_U4] = {.integer_bits = 4},
    [TSR_U1] = {.integer_bits = 1},
    [TSR_Q78] = {.integer_bits = 16, .is_signed = true, .fraction_bits = 8},
};

/* The quantiles of nf4, from an element of 0 on. */
static const float levels[] = {
    -1.0f,
    -0.6961928009986877f,
    -0.5250730514526367f,
    -0.39491748809814453f,
    -0.28444138169288635f,
    -0.18477343022823334f,
    -0.09105003625154495f,
    0.0f,
    0.07958029955625534f,
    0.16093020141124725f,
    0.24611230194568634f,
    0.33791524171829224f,
    0.44070982933044434f,
    0.5626170039176941f,
    0.7229568362236023f,
    1.0f,
};
enum { LEVELS = sizeof levels / sizeof levels[0] };

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
    const bool is_last = field == (1 << format.exponent_bits) - 1;
    if (is_last && (!format.has_no_infinity || significand == (UINT64_C(1) << m) - 1)) {
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

/* Counts in units of the last place: the count, put behind the exponent, carries into it by itself. What takes the
 * place of a missing infinity is NaN. */
static uint64_t encode_float(struct number number, struct format format)
{
    int m = format.significand_bits, bias = (1 << (format.exponent_bits - 1)) - 1;
    uint64_t all = (UINT64_C(1) << (m + format.exponent_bits)) - 1, last = all >> m << m;
    uint64_t infinity = format.has_no_infinity ? all : last;
    uint64_t sign = (uint64_t)number.is_negative << (m + format.exponent_bits);
    if (number.is_nan)
        return sign | infinity | UINT64_C(1) << (m - 1) | number.payload >> (64 - m);
    if (number.is_infinite)
        return sign | infinity;
    if (number.significand == 0)
        return sign;
    int field = number.exponent + bit_length(number.significand) - 1 + bias;
    if (field > 2 * bias + format.has_no_infinity)
        return sign | infinity;
    field = field < 1 ? 1 : field;
    uint64_t ulps = round_off(number.significand, field - bias - m - number.exponent);
    uint64_t magnitude = ((uint64_t)(field - 1) << m) + ulps;
    return sign | (magnitude < infinity ? magnitude : infinity);
}

static struct number decode_integer(uint64_t bits, const struct kind *kind)
{
    bool negative = kind->is_signed && bits >> (kind->integer_bits - 1) & 1;
    uint64_t above = kind->integer_bits < 64 ? UINT64_MAX << kind->integer_bits : 0;
    return (struct number){
        .is_negative = negative, .significand = negative ? 0 - (bits | above) : bits, .exponent = -kind->fraction_bits};
}

/* The magnitude first, as far as it fits, then the sign. */
static uint64_t encode_integer(struct number number, const struct kind *kind)
{
    uint64_t most = UINT64_MAX >> (64 - kind->integer_bits + kind->is_signed);
    uint64_t limit = !number.is_negative ? most : kind->is_signed ? most + 1 : 0, magnitude;
    int exponent = number.exponent + kind->fraction_bits;
    if (number.is_nan)
        return 0;
    if (number.is_infinite || bit_length(number.significand) + exponent > 64)
        magnitude = limit;
    else
        magnitude = round_off(number.significand, -exponent);
    magnitude = magnitude < limit ? magnitude : limit;
    return (number.is_negative ? 0 - magnitude : magnitude) & UINT64_MAX >> (64 - kind->integer_bits);
}

static struct number decode_level(uint64_t index)
{
    uint32_t bits;
    memcpy(&bits, &levels[index], sizeof bits);
    return decode_float(bits, kinds[TSR_F32].format);
}

/* The nearest one; in the middle between two, which f64 holds, the lower. Rounding to f64 changes nothing between -1
 * and 1, as only integers are longer. */
static uint64_t encode_level(struct number number)
{
    const struct number zero = {.significand = 0};
    uint64_t index = 0, bits = encode_float(number.is_nan ? zero : number, kinds[TSR_F64].format);
    double x;
    memcpy(&x, &bits, sizeof x);
    while (index + 1 < LEVELS && x > ((double)levels[index] + (double)levels[index + 1]) / 2)
        index++;
    return index;
}

static struct number read(const void *src, tsr_dtype type)
{
    const struct kind *kind = &kinds[type];
    uint64_t bits = 0;
    memcpy(&bits, src, tsr_dtype_size_bytes(type));
    if (type == TSR_NF4)
        return decode_level(bits);
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
    if (type == TSR_NF4)
        bits = encode_level(number);
    else if (kind->integer_bits)
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
    return type == TSR_F64 || type == TSR_S64 || type == TSR_U64;
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
