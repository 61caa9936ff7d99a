/* SPDX-License-Identifier: Apache-2.0 */
#include "desc/digits.h"

#include "base/int.h"

/* Does a level of this stride go on where the top digit ends? */
static bool continues_top(const tsr_digits *digits, int64_t stride)
{
    int top = digits->count - 1;
    int64_t next;
    return top >= 0 && tsr_mul(digits->stride[top], digits->extent / digits->unit[top], &next) && next == stride;
}

/* Puts a level of n steps on top, or lengthens the one below where it continues that one. */
static void push(tsr_digits *digits, int64_t n, int64_t stride)
{
    if (n != 1 && !continues_top(digits, stride)) {
        digits->unit[digits->count] = digits->extent;
        digits->stride[digits->count++] = stride;
    }
    digits->extent *= n;
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
