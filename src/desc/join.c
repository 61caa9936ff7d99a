/* SPDX-License-Identifier: Apache-2.0 */
#include "desc/join.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/int.h"

/* One index that is at the start. */
static tsr_digits single(int64_t start)
{
    return (tsr_digits){
        .count = 1, .indices = 1, .extent = 1, .is_whole = true, .start = start, .step = 1, .unit = {1}};
}

/* Indices of a tensor without elements: they lie nowhere. */
static tsr_digits nowhere(int64_t indices)
{
    return (tsr_digits){.count = 1,
                        .indices = indices,
                        .extent = indices,
                        .is_whole = true,
                        .step = 1,
                        .unit = {1},
                        .stride = {indices > 1 ? 1 : 0}};
}

static bool has_padding(const tsr_digits *digits)
{
    return digits->is_whole && digits->extent > digits->indices;
}

/* The reduced form again, after digits have been changed. */
static void show_again(tsr_digits *digits)
{
    int64_t indices = digits->indices;
    bool padded = has_padding(digits);
    tsr_digits_show(digits, digits->first, digits->step, padded ? digits->extent : indices);
    digits->indices = indices;
}

/* The digits below n1 go to inner, those above stay; a digit that n1 cuts goes to both. */
static void cut_digits(tsr_digits *digits, tsr_digits *inner, int64_t n1)
{
    tsr_digits outer = {.indices = digits->indices / n1,
                        .extent = tsr_ceil_div(digits->extent, n1),
                        .is_whole = digits->is_whole,
                        .start = digits->start,
                        .first = digits->first / n1,
                        .step = 1};
    *inner = (tsr_digits){.indices = n1, .extent = n1, .is_whole = true, .step = 1};
    for (int j = 0; j < digits->count; j++) {
        int64_t unit = digits->unit[j], end = j + 1 < digits->count ? digits->unit[j + 1] : INT64_MAX;
        if (unit < n1) {
            inner->unit[inner->count] = unit;
            inner->stride[inner->count++] = digits->stride[j];
        }
        if (end > n1) {
            outer.unit[outer.count] = tsr_max(unit / n1, 1);
            outer.stride[outer.count++] = digits->stride[j] * tsr_max(n1 / unit, 1);
        }
    }
    *digits = outer;
    show_again(digits);
    show_again(inner);
}

tsr_status tsr_digits_split(tsr_digits *digits, tsr_digits *inner, int axis, int64_t n0, int64_t n1, tsr_error *error)
{
    if (n0 == 0 || n1 == 0) {
        *inner = nowhere(n1);
        *digits = nowhere(n0);
        return TSR_OK;
    }
    if (n1 == 1) {
        *inner = single(0);
        return TSR_OK;
    }
    if (n0 == 1) {
        *inner = *digits;
        *digits = single(0);
        return TSR_OK;
    }
    for (int j = 0; j < digits->count; j++)
        if (digits->unit[j] % n1 != 0 && n1 % digits->unit[j] != 0)
            return tsr_fail(error, TSR_UNSUPPORTED,
                            "axis %d has blocks of %" PRId64 ", and rows of %" PRId64
                            " neither divide them nor hold them",
                            axis, digits->unit[j], n1);
    if (digits->step != 1 || digits->first % n1 != 0)
        return tsr_fail(error, TSR_UNSUPPORTED,
                        "axis %d is a window from position %" PRId64 " in steps of %" PRId64 ", and rows of %" PRId64
                        " do not begin there",
                        axis, digits->first, digits->step, n1);
    if (has_padding(digits) && digits->extent % n1 != 0)
        return tsr_fail(error, TSR_UNSUPPORTED,
                        "axis %d has room for %" PRId64 " indices, no multiple of rows of %" PRId64, axis,
                        digits->extent, n1);
    cut_digits(digits, inner, n1);
    return TSR_OK;
}

tsr_status tsr_digits_join(tsr_digits *digits, const tsr_digits *inner, int axis, tsr_error *error)
{
    int64_t n0 = digits->indices, n1 = inner->indices;
    if (n0 == 0 || n1 == 0) {
        *digits = nowhere(0);
        return TSR_OK;
    }
    if (n0 == 1 && !has_padding(digits)) {
        int64_t start = digits->start + tsr_digits_offset(digits, digits->first);
        *digits = *inner;
        digits->start += start;
        return TSR_OK;
    }
    if (n1 == 1) {
        digits->start += inner->start + tsr_digits_offset(inner, inner->first);
        return TSR_OK;
    }
    if (!inner->is_whole || has_padding(inner))
        return tsr_fail(error, TSR_UNSUPPORTED, "axis %d cannot follow axis %d in one: it %s", axis + 1, axis,
                        inner->is_whole ? "has padding behind its elements" : "is a window on its blocks");
    if (digits->step != 1)
        return tsr_fail(error, TSR_UNSUPPORTED, "axis %d is a window in steps of %" PRId64 " on its blocks", axis,
                        digits->step);
    tsr_digits joined = *inner;
    for (int j = 0; j < digits->count; j++) {
        joined.unit[joined.count] = digits->unit[j] * n1;
        joined.stride[joined.count++] = digits->stride[j];
    }
    joined.indices = n0 * n1;
    joined.extent = digits->extent * n1;
    joined.is_whole = digits->is_whole;
    joined.start += digits->start;
    joined.first = digits->first * n1;
    *digits = joined;
    show_again(digits);
    return TSR_OK;
}

/* Both in one sequence of digits, all units of which divide the larger ones. */
static bool merge(tsr_digits *sum, const tsr_digits *x, const tsr_digits *y)
{
    *sum = (tsr_digits){.indices = x->indices,
                        .extent = tsr_max(x->extent, y->extent),
                        .start = x->start + y->start,
                        .first = x->first,
                        .step = 1};
    for (int i = 0, j = 0; i < x->count || j < y->count;) {
        int64_t a = i < x->count ? x->unit[i] : INT64_MAX, b = j < y->count ? y->unit[j] : INT64_MAX;
        int64_t unit = tsr_min(a, b);
        i += a == unit;
        j += b == unit;
        if (sum->count > 0 && unit % sum->unit[sum->count - 1] != 0)
            return false;
        sum->unit[sum->count] = unit;
        sum->stride[sum->count++] = tsr_digits_offset(x, unit) + tsr_digits_offset(y, unit);
    }
    sum->extent = tsr_ceil_div(sum->extent, sum->unit[sum->count - 1]) * sum->unit[sum->count - 1];
    return true;
}

tsr_status tsr_digits_add(tsr_digits *x, const tsr_digits *y, int axis_of_x, int axis_of_y, tsr_error *error)
{
    tsr_digits other = *y, sum;
    int64_t n = tsr_min(x->indices, y->indices);
    if (n == 0) {
        *x = nowhere(0);
        return TSR_OK;
    }
    tsr_digits_show(x, x->first, x->step, n);
    tsr_digits_show(&other, other.first, other.step, n);
    if (!tsr_digits_align(x, &other) || !merge(&sum, x, &other))
        return tsr_fail(error, TSR_UNSUPPORTED, "the blocks of axes %d and %d do not nest", axis_of_x, axis_of_y);
    tsr_digits_show(&sum, sum.first, 1, n);
    *x = sum;
    return TSR_OK;
}
