/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_DESC_DIGITS_H
#define TESSERA_SRC_DESC_DIGITS_H

#include <tessera/desc.h>

/*
 * One axis of a layout as a number system. An index is written in mixed radix, and each digit has a
 * stride:
 *
 *     x = sum over j of d[j] * unit[j],  0 <= d[j] < unit[j + 1] / unit[j]  (the last digit: up to extent)
 *     F(x) = sum over j of d[j] * stride[j]
 *
 * The offset of an index vector is tsr_desc_start(desc) + the sum over all axes of F_k(v[k]). This
 * is the form that lowering and equality work on: it has no levels of extent 1 and no two levels
 * that continue each other.
 */
typedef struct tsr_digits {
    int count;      /* at least 1 */
    int64_t extent; /* indices that the axis has room for, padding included */
    int64_t unit[TSR_MAX_LEVELS];
    int64_t stride[TSR_MAX_LEVELS];
} tsr_digits;

/* The digits of one axis, innermost first. */
void tsr_digits_of_axis(tsr_digits *digits, const tsr_desc *desc, int axis);

/* F(x) for 0 <= x < extent. */
int64_t tsr_digits_offset(const tsr_digits *digits, int64_t x);

/* The offset of index 0: offset and pad_before together. */
int64_t tsr_desc_start(const tsr_desc *desc);

#endif
