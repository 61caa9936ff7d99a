/* SPDX-License-Identifier: Apache-2.0 */
#include "desc/digits.h"

#include <string.h>

#include "base/int.h"

int64_t tsr_digits_offset(const tsr_digits *digits, int64_t p)
{
    int64_t offset = 0;
    for (int j = digits->count - 1; j >= 0; j--) {
        offset += p / digits->unit[j] * digits->stride[j];
        p %= digits->unit[j];
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

/*
 * Reduction works on radixes, as they stay true when a digit below them goes away. The window shows
 * n positions of the digits from the first one kept in the arrays upwards; the last radix is not
 * used, since the last digit runs on.
 */
struct window {
    bool keeps_sign; /* two places are not linear if that takes a negative stride and the digits have none */
    int count;
    int64_t n, start, first, step;
    int64_t *radix, *stride;
};

static int64_t value_at(const struct window *w, int64_t p)
{
    int64_t value = 0;
    for (int j = 0; j < w->count - 1; j++) {
        value += p % w->radix[j] * w->stride[j];
        p /= w->radix[j];
    }
    return value + p * w->stride[w->count - 1];
}

/* All that is visible lies on one line. */
static void make_linear(struct window *w, int64_t start, int64_t stride)
{
    w->start = start;
    w->count = 1;
    w->stride[0] = stride;
    w->first = 0;
    w->step = 1;
}

static void drop_innermost(struct window *w)
{
    w->radix++;
    w->stride++;
    w->count--;
}

/* Two places are always on one line, but one that runs backwards is for reading only. */
static bool may_run(const struct window *w, int64_t stride)
{
    if (!w->keeps_sign || stride >= 0)
        return true;
    for (int j = 0; j < w->count; j++)
        if (w->stride[j] < 0)
            return true;
    return false;
}

/* What the step and the innermost block have in common never changes, or is a shorter block. */
static void take_out_common_divisor(struct window *w)
{
    while (w->count > 1) {
        int64_t common = tsr_gcd(w->step, w->radix[0]);
        w->start += w->first % common * w->stride[0];
        w->first /= common;
        w->step /= common;
        w->radix[0] /= common;
        w->stride[0] *= common;
        if (w->radix[0] > 1)
            return;
        drop_innermost(w);
    }
}

/* Brings the window into the form that digits.h describes. */
static void reduce(struct window *w)
{
    int64_t start = w->start + value_at(w, w->first);
    if (w->n <= 2) {
        int64_t stride = w->n < 2 ? 0 : w->start + value_at(w, w->first + w->step) - start;
        if (may_run(w, stride)) {
            make_linear(w, start, stride);
            return;
        }
    }
    take_out_common_divisor(w);
    if (w->count == 1) {
        make_linear(w, start, w->step * w->stride[0]);
        return;
    }
    int64_t radix = w->radix[0], block = w->first / radix, last = (w->first + (w->n - 1) * w->step) / radix;
    if (block == last) {
        make_linear(w, start, w->step * w->stride[0]);
        return;
    }
    struct window blocks = {.keeps_sign = w->keeps_sign,
                            .count = w->count - 1,
                            .n = last - block + 1,
                            .first = block,
                            .step = 1,
                            .radix = w->radix + 1,
                            .stride = w->stride + 1};
    reduce(&blocks);
    w->start += blocks.start;
    w->first = w->first % radix + radix * blocks.first;
    w->count = 1 + blocks.count;
    memmove(w->radix + 1, blocks.radix, (size_t)blocks.count * sizeof *w->radix);
    memmove(w->stride + 1, blocks.stride, (size_t)blocks.count * sizeof *w->stride);
    int64_t next;
    if (w->count == 2 && tsr_mul(w->stride[0], w->radix[0], &next) && next == w->stride[1])
        make_linear(w, start, w->step * w->stride[0]);
}

/* A window that runs backwards is one that runs forwards on the mirror image of the whole blocks. */
static void mirror(struct window *w, int64_t extent)
{
    w->start += value_at(w, extent - 1);
    w->first = extent - 1 - w->first;
    w->step = -w->step;
    for (int j = 0; j < w->count; j++)
        w->stride[j] = -w->stride[j];
}

/* Digits without a level of extent 1, and without two that continue each other, as radixes. */
static int gather(const tsr_digits *digits, int64_t *radix, int64_t *stride)
{
    int count = 0;
    for (int j = 0; j < digits->count; j++) {
        int64_t end = j + 1 < digits->count ? digits->unit[j + 1] : digits->extent;
        int64_t n = end / digits->unit[j], next;
        if (n == 1)
            continue;
        if (count > 0 && tsr_mul(stride[count - 1], radix[count - 1], &next) && next == digits->stride[j]) {
            radix[count - 1] *= n;
        } else {
            radix[count] = n;
            stride[count++] = digits->stride[j];
        }
    }
    if (count == 0) {
        radix[0] = 1;
        stride[count++] = 0;
    }
    return count;
}

/* The digits that a reduced window is. */
static void set(tsr_digits *digits, const struct window *w)
{
    int64_t unit = 1, last = w->first + (w->n - 1) * w->step;
    digits->count = w->count;
    digits->start = w->start;
    digits->first = w->first;
    digits->step = w->step;
    for (int j = 0; j < w->count; j++) {
        digits->unit[j] = unit;
        digits->stride[j] = w->stride[j];
        if (j < w->count - 1)
            unit *= w->radix[j];
    }
    digits->extent = (last / unit + 1) * unit;
}

static void show(tsr_digits *digits, int64_t first, int64_t step, int64_t indices, bool keeps_sign)
{
    int64_t radix[TSR_MAX_LEVELS], stride[TSR_MAX_LEVELS];
    struct window w = {.keeps_sign = keeps_sign,
                       .n = indices,
                       .start = digits->start,
                       .first = first,
                       .step = step,
                       .radix = radix,
                       .stride = stride,
                       .count = gather(digits, radix, stride)};
    if (step < 0)
        mirror(&w, digits->extent);
    reduce(&w);
    set(digits, &w);
    digits->indices = indices;
    digits->is_whole = digits->first == 0 && digits->step == 1 && digits->extent == indices;
}

void tsr_digits_show(tsr_digits *digits, int64_t first, int64_t step, int64_t indices)
{
    show(digits, first, step, indices, true);
}

void tsr_digits_fit(tsr_digits *digits)
{
    if (!digits->is_whole)
        show(digits, digits->first, digits->step, digits->indices, false);
    int top = digits->count - 1, j = top - 1;
    if (digits->is_whole || digits->extent != 2 * digits->unit[top] || (j == 0 && digits->step != 1))
        return;
    if (digits->stride[top] == 0)
        return; /* a block that is repeated has no other cells behind it */
    int64_t last = digits->first + (digits->indices - 1) * digits->step, radix = digits->unit[top] / digits->unit[j];
    int64_t in_first = radix - digits->first / digits->unit[j], in_second = last / digits->unit[j] - radix + 1;
    int64_t cut = radix - tsr_max(in_first, in_second);
    digits->start += cut * digits->stride[j];
    digits->stride[top] -= cut * digits->stride[j];
    digits->first -= cut * digits->unit[j];
    digits->unit[top] -= cut * digits->unit[j];
    digits->extent = 2 * digits->unit[top];
    digits->is_whole = digits->first == 0 && digits->step == 1 && digits->extent == digits->indices;
}

void tsr_digits_clear(tsr_digits *digits)
{
    *digits = (tsr_digits){.count = 1, .is_whole = true, .step = 1, .unit = {1}};
}

void tsr_digits_of_axis(tsr_digits *digits, const tsr_desc *desc, int axis)
{
    bool whole = desc->step[axis] == 0;
    int64_t dim = desc->dims[axis];
    digits->count = 0;
    digits->extent = 1;
    digits->start = 0;
    for (int i = desc->levels - 1; i >= 0; i--) {
        if (desc->order[i] != axis)
            continue;
        digits->unit[digits->count] = digits->extent;
        digits->stride[digits->count++] = desc->strides[i];
        digits->extent *= desc->block_dims[i];
    }
    if (dim == 0)
        tsr_digits_clear(digits);
    else if (whole)
        tsr_digits_show(digits, 0, 1, digits->extent);
    else
        tsr_digits_show(digits, desc->first[axis], desc->step[axis], dim);
    digits->indices = dim;
}

/* Counts positions of an axis from another one; false when its blocks do not begin there. */
static bool shift(tsr_digits *digits, int64_t first)
{
    int top = digits->count - 1;
    int64_t by = digits->first - first, start = digits->start;
    if (by % digits->unit[top] != 0 || !tsr_mul_add(by / digits->unit[top], digits->stride[top], &start))
        return false;
    digits->start = start;
    digits->first = first;
    return true;
}

bool tsr_digits_align(tsr_digits *a, tsr_digits *b)
{
    if (a->step != 1 || b->step != 1)
        return false;
    return b->count > 1 ? shift(a, b->first) : shift(b, a->first);
}
