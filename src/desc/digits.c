/* SPDX-License-Identifier: Apache-2.0 */
#include "desc/digits.h"

/* Puts a level of n steps on top, or lengthens the one below where it continues that one. */
static void push(tsr_digits *digits, int64_t n, int64_t stride)
{
    int top = digits->count - 1;
    int64_t unit = digits->extent;
    digits->extent *= n;
    if (n == 1)
        return;
    if (top >= 0 && digits->stride[top] * (unit / digits->unit[top]) == stride)
        return;
    digits->unit[top + 1] = unit;
    digits->stride[top + 1] = stride;
    digits->count++;
}

void tsr_digits_of_axis(tsr_digits *digits, const tsr_desc *desc, int axis)
{
    digits->count = 0;
    digits->extent = 1;
    for (int i = desc->levels - 1; i >= 0; i--)
        if (desc->order[i] == axis)
            push(digits, desc->block_dims[i], desc->strides[i]);
    if (digits->count == 0) {
        digits->unit[0] = 1;
        digits->stride[0] = 0;
        digits->count = 1;
    }
}

int64_t tsr_digits_offset(const tsr_digits *digits, int64_t x)
{
    int64_t offset = 0;
    for (int j = digits->count - 1; j >= 0; j--) {
        offset += x / digits->unit[j] * digits->stride[j];
        x %= digits->unit[j];
    }
    return offset;
}

int64_t tsr_desc_start(const tsr_desc *desc)
{
    int64_t start = desc->offset;
    for (int i = 0; i < desc->levels; i++)
        start += desc->pad_before[i] * desc->strides[i];
    return start;
}
