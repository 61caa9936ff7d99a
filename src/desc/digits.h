/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_DESC_DIGITS_H
#define TESSERA_SRC_DESC_DIGITS_H

#include <tessera/desc.h>

/*
 * One axis of a layout as a number system. A position is written in mixed radix, and each digit has
 * a stride:
 *
 *     p = sum over j of d[j] * unit[j],  0 <= d[j] < unit[j + 1] / unit[j]  (the last digit: up to extent)
 *     F(p) = sum over j of d[j] * stride[j]
 *
 * and index x of the axis is at position first + x * step, so that the offset of an index vector v is
 *
 *     tsr_desc_start(desc) + sum over all axes of start_k + F_k(first_k + v[k] * step_k)
 *
 * This is the form that views, lowering and equality work on. It is the same for all usual ways to
 * write an axis down: no levels of extent 1 and no two that continue each other, digits that no
 * index changes are in start, a step that divides a block is taken out of it, and an axis or the
 * visible part of one that is linear is one digit. A view of a view has the digits of the view made
 * in one step.
 */
typedef struct tsr_digits {
    int count;       /* at least 1 */
    int64_t indices; /* the dim */
    int64_t extent;  /* positions that the digits have room for */
    bool is_whole;   /* positions past the last index are padding, not those of another tensor */
    int64_t start;
    int64_t first; /* of a window, else 0 */
    int64_t step;  /* 1 or more */
    int64_t unit[TSR_MAX_LEVELS];
    int64_t stride[TSR_MAX_LEVELS];
} tsr_digits;

/* The digits of one axis, innermost first. */
void tsr_digits_of_axis(tsr_digits *digits, const tsr_desc *desc, int axis);

/* Shows `indices` of the positions, from first on in steps of step (of either sign), and reduces the digits. */
void tsr_digits_show(tsr_digits *digits, int64_t first, int64_t step, int64_t indices);

/*
 * Makes blocks no longer than the longer part of a window that reaches into two of them, and two
 * places one line even if it runs backwards, so that the same window on other blocks has the same
 * digits. For comparing: a view of what is left may have other digits than one of the whole.
 *
 * Not unified are windows that keep a step, as that has no divisor in common with the innermost
 * block; blocks that a stride of 0 repeats; and coincidences: three places are blocks of two both
 * with the break behind the first and behind the second.
 */
void tsr_digits_fit(tsr_digits *digits);

/* No indices. */
void tsr_digits_clear(tsr_digits *digits);

/*
 * Makes two axes count positions from the same one, so that their blocks can be compared. An axis
 * that is one digit can begin anywhere, one with blocks only where a largest block does. False when
 * that cannot be, or when one has a step.
 */
bool tsr_digits_align(tsr_digits *a, tsr_digits *b);

/* F(p) for 0 <= p < extent. */
int64_t tsr_digits_offset(const tsr_digits *digits, int64_t p);

/* The offset of position 0 of all axes: offset and pad_before together. */
int64_t tsr_desc_start(const tsr_desc *desc);

#endif
