/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pixels of bytes, converted and laid among zeros at once, as blocks have channels that do not fill them. They are
 * converted as narrow pixels, of 4 elements or 8, of which each vector is spread to several. A compile unit includes
 * this file once, as a template, behind pad.h and pixels.h.
 *
 *     vec_spread(v, order)      32 bits i are those at order[i] of all, or 0 if that is negative
 */
#include <string.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/template.h"

enum { SPREAD_WORDS = PADDED_BYTES / 4, MOST_SPREAD = TSR_WIDEST_PADDED / 4 };

/* What the elements of a vector are made of: a byte of the source each, or a zero, and their factors. How far the next
 * vector begins from it in the source; and to what it is spread once it is packed with others. */
struct padding {
    vec order;
    pivot mean, scale, shift;
    int64_t distance;
    int times;
    vec spread[MOST_SPREAD];
};

/* Narrow pixels begin with the channels and go on with padding, which is 0 whatever it is read as. */
static void lay_values(struct padding *padding, const tsr_tile *t, const tsr_affine *affine, int64_t narrow)
{
    const int64_t first = first_of(t->src_column, t->columns);
    uint8_t order[PADDED_BYTES];
    float mean[WHOLE] = {0}, scale[WHOLE] = {0}, shift[WHOLE] = {0};
    memset(order, TSR_FROM_ELSEWHERE, sizeof order);
    for (int64_t i = 0, pixel = 0; i < WHOLE; i += narrow, pixel++)
        for (int64_t c = 0; c < t->columns; c++) {
            order[4 * (i + c)] = (uint8_t)(pixel * t->columns + t->src_column[c] - first);
            mean[i + c] = affine ? *affine[c].mean : 0.0f;
            scale[i + c] = affine ? *affine[c].scale : 1.0f;
            shift[i + c] = affine ? *affine[c].shift : -0.0f;
        }
    padding->order = vec_load((const char *)order);
    padding->mean = pivot_load(mean);
    padding->scale = pivot_load(scale);
    padding->shift = pivot_load(shift);
    padding->distance = WHOLE / narrow * t->columns;
}

/* From pixels of so many 32 bits to those of a row each. */
static void lay_spread(struct padding *padding, int64_t pixel_words, int64_t row_words)
{
    int32_t word[MOST_SPREAD * SPREAD_WORDS];
    padding->times = (int)(row_words / pixel_words);
    memset(word, -1, (size_t)(padding->times * PADDED_BYTES));
    for (int64_t i = 0, row = 0; i < SPREAD_WORDS; i += pixel_words, row += row_words)
        for (int64_t j = 0; j < pixel_words; j++)
            word[row + j] = (int32_t)(i + j);
    for (int r = 0; r < padding->times; r++)
        padding->spread[r] = vec_load((const char *)(word + r * SPREAD_WORDS));
}

INLINE pivot padded_at(const char *from, const struct padding *padding, bool is_signed, bool shifts)
{
    const vec bytes = vec_shuffle(vec_repeat((const uint8_t *)from), padding->order);
    pivot x = is_signed ? whole_of_s8(bytes) : whole_of_u8(bytes);
    x = (x - padding->mean) * padding->scale;
    return shifts ? (pivot)(x + padding->shift) : x;
}

/* As many pixels as a vector has narrow ones, again and again. What was laid is copied, as a store might change it. */
INLINE void spread_steps(char *dst, const char *src, int64_t steps, const struct padding *laid, int times,
                         bool is_signed, bool shifts, bool streams, enum target target)
{
    enum { KEPT = 4 };
    const int packed = 4 / bytes_of_target(target);
    const int64_t distance = laid->distance;
    struct padding padding;
    padding.order = laid->order;
    padding.mean = laid->mean;
    padding.scale = laid->scale;
    padding.shift = laid->shift;
#pragma GCC unroll 4
    for (int r = 0; r < KEPT && r < times; r++)
        padding.spread[r] = laid->spread[r];
    for (int64_t i = 0; i < steps; i++, dst += times * PADDED_BYTES) {
        pivot x[4];
#pragma GCC unroll 4
        for (int k = 0; k < packed; k++, src += distance)
            x[k] = padded_at(src, &padding, is_signed, shifts);
        const vec v = packed_values(x, target);
        if (times == 1) {
            vec_put(dst, v, streams);
            continue;
        }
#pragma GCC unroll 4
        for (int r = 0; r < times; r++)
            vec_put(dst + r * PADDED_BYTES, vec_spread(v, times > KEPT ? laid->spread[r] : padding.spread[r]), streams);
    }
}

/* With constants, for usual blocks. */
INLINE void spread_by_times(char *dst, const char *src, int64_t steps, const struct padding *laid, bool is_signed,
                            bool shifts, bool streams, enum target target)
{
    switch (laid->times) {
    case 1:
        spread_steps(dst, src, steps, laid, 1, is_signed, shifts, streams, target);
        break;
    case 2:
        spread_steps(dst, src, steps, laid, 2, is_signed, shifts, streams, target);
        break;
    case 4:
        spread_steps(dst, src, steps, laid, 4, is_signed, shifts, streams, target);
        break;
    default:
        spread_steps(dst, src, steps, laid, laid->times, is_signed, shifts, streams, target);
    }
}

#define STEPS_KERNEL(name, is_signed, type, shifts)                                                                    \
    static void name(char *dst, const char *src, int64_t steps, const void *laid, bool streams)                        \
    {                                                                                                                  \
        spread_by_times(dst, src, steps, laid, is_signed, shifts, streams, TO_##type);                                 \
    }

#define PADDED_PIXELS_KERNEL(src_type, is_signed, type)                                                                \
    STEPS_KERNEL(spread_##src_type##_##type, is_signed, type, false)                                                   \
    STEPS_KERNEL(spread_shifted_##src_type##_##type, is_signed, type, true)                                            \
    void NAME(padded_pixels_##src_type##_##type)(void *dst, const void *src, const tsr_tile *t,                        \
                                                 const tsr_affine *affine)                                             \
    {                                                                                                                  \
        const int64_t narrow = t->columns <= 4 ? 4 : 8, pixel = narrow * bytes_of_target(TO_##type);                   \
        const bool are_shifted = affine && shifts(affine, (int)t->columns);                                            \
        struct padding padding;                                                                                        \
        if (t->rows == 0)                                                                                              \
            return;                                                                                                    \
        lay_values(&padding, t, affine, narrow);                                                                       \
        lay_spread(&padding, pixel / 4, t->row_bytes / 4);                                                             \
        pad_pixels(dst, (const char *)src + first_of(t->src_column, t->columns), t, t->columns, PADDED_BYTES / pixel,  \
                   are_shifted ? spread_shifted_##src_type##_##type : spread_##src_type##_##type, &padding);           \
    }

PADDED_PIXELS_KERNEL(U8, false, F32)
PADDED_PIXELS_KERNEL(U8, false, F16)
PADDED_PIXELS_KERNEL(U8, false, BF16)
PADDED_PIXELS_KERNEL(U8, false, S8)
PADDED_PIXELS_KERNEL(U8, false, U8)
PADDED_PIXELS_KERNEL(S8, true, F32)
PADDED_PIXELS_KERNEL(S8, true, F16)
PADDED_PIXELS_KERNEL(S8, true, BF16)
PADDED_PIXELS_KERNEL(S8, true, S8)
PADDED_PIXELS_KERNEL(S8, true, U8)
