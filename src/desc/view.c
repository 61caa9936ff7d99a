/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/view.h>

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/int.h"
#include "desc/join.h"
#include "desc/rewrite.h"

static tsr_status check_axis(const tsr_desc *desc, int axis, tsr_error *error)
{
    if (axis >= 0 && axis < desc->rank)
        return TSR_OK;
    return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected an axis of 0 to %d, found %d", desc->rank - 1, axis);
}

static tsr_status check_one_index(const tsr_desc *desc, int axis, tsr_error *error)
{
    tsr_status status = check_axis(desc, axis, error);
    if (status == TSR_OK && desc->dims[axis] != 1)
        status = tsr_fail(error, TSR_INVALID_ARGUMENT, "axis %d has %" PRId64 " indices, expected 1", axis,
                          desc->dims[axis]);
    return status;
}

/* The last step of every view: what was made is a descriptor, or nothing was. */
static tsr_status finish(tsr_desc *view, const tsr_desc *made, tsr_status status, tsr_error *error)
{
    if (status == TSR_OK)
        status = tsr_desc_check(made, true, error);
    if (status == TSR_OK)
        *view = *made;
    return status;
}

/* ---- the axes in another order, or more or less of them ---- */

/* Axis `from[i]` of desc becomes axis i; those that are not named are gone, -1 is a new axis with no level yet. */
static void renumber(tsr_desc *made, const tsr_desc *desc, int rank, const int *from)
{
    *made = *desc;
    made->rank = rank;
    for (int k = 0; k < rank; k++) {
        made->dims[k] = from[k] < 0 ? 1 : desc->dims[from[k]];
        made->first[k] = from[k] < 0 ? 0 : desc->first[from[k]];
        made->step[k] = from[k] < 0 ? 0 : desc->step[from[k]];
        for (int i = 0; i < desc->levels; i++)
            if (desc->order[i] == from[k])
                made->order[i] = (uint8_t)k;
    }
    memset(made->dims + rank, 0, (size_t)(TSR_MAX_RANK - rank) * sizeof made->dims[0]);
    memset(made->first + rank, 0, (size_t)(TSR_MAX_RANK - rank) * sizeof made->first[0]);
    memset(made->step + rank, 0, (size_t)(TSR_MAX_RANK - rank) * sizeof made->step[0]);
}

tsr_status tsr_view_permute(tsr_desc *view, const tsr_desc *desc, const int *axes, tsr_error *error)
{
    uint32_t seen = 0;
    tsr_desc made;
    for (int k = 0; k < desc->rank; k++) {
        tsr_status status = check_axis(desc, axes[k], error);
        if (status != TSR_OK)
            return status;
        if (seen >> axes[k] & 1)
            return tsr_fail(error, TSR_INVALID_ARGUMENT, "axes[%d] names axis %d a second time", k, axes[k]);
        seen |= 1U << axes[k];
    }
    renumber(&made, desc, desc->rank, axes);
    *view = made;
    return TSR_OK;
}

/* The axes 0 to rank - 1. */
static void name_all(int from[TSR_MAX_RANK + 1], int rank)
{
    for (int k = 0; k < rank; k++)
        from[k] = k;
}

tsr_status tsr_view_transpose(tsr_desc *view, const tsr_desc *desc, int a, int b, tsr_error *error)
{
    int axes[TSR_MAX_RANK + 1];
    tsr_status status = check_axis(desc, a, error);
    if (status == TSR_OK)
        status = check_axis(desc, b, error);
    if (status != TSR_OK)
        return status;
    name_all(axes, desc->rank);
    axes[a] = b;
    axes[b] = a;
    return tsr_view_permute(view, desc, axes, error);
}

/* Leaves an axis without levels out. */
static void delete_axis(tsr_desc *desc, int axis)
{
    int from[TSR_MAX_RANK + 1];
    tsr_desc before = *desc;
    name_all(from, desc->rank);
    memmove(from + axis, from + axis + 1, (size_t)(desc->rank - axis - 1) * sizeof *from);
    renumber(desc, &before, desc->rank - 1, from);
}

/* Puts an axis in that has one index and one level, in front of what was axis `axis`. */
static tsr_status insert_axis(tsr_desc *desc, int axis, tsr_error *error)
{
    int from[TSR_MAX_RANK + 1], place = 0;
    tsr_desc before = *desc;
    if (desc->rank == TSR_MAX_RANK || desc->levels == TSR_MAX_LEVELS)
        return tsr_fail(error, TSR_UNSUPPORTED, "an axis more than %d, or a level more than %d, cannot be", desc->rank,
                        desc->levels);
    name_all(from, desc->rank);
    memmove(from + axis + 1, from + axis, (size_t)(desc->rank - axis) * sizeof *from);
    from[axis] = -1;
    renumber(desc, &before, before.rank + 1, from);
    while (place < desc->levels && desc->order[place] != axis + 1)
        place++;
    tsr_insert_level(desc, place, axis, 1, 1);
    return TSR_OK;
}

/* The part of the offset that the only index of an axis adds goes into the offset. */
static void settle_axis(tsr_desc *desc, int axis)
{
    tsr_digits digits;
    tsr_digits_of_axis(&digits, desc, axis);
    tsr_digits_show(&digits, digits.first, 1, 1);
    tsr_remove_levels(desc, axis);
    desc->offset += digits.start;
}

tsr_status tsr_view_squeeze(tsr_desc *view, const tsr_desc *desc, int axis, tsr_error *error)
{
    tsr_desc made = *desc;
    tsr_status status = check_one_index(desc, axis, error);
    if (status != TSR_OK)
        return status;
    settle_axis(&made, axis);
    delete_axis(&made, axis);
    return finish(view, &made, TSR_OK, error);
}

tsr_status tsr_view_unsqueeze(tsr_desc *view, const tsr_desc *desc, int axis, tsr_error *error)
{
    tsr_desc made = *desc;
    if (axis < 0 || axis > desc->rank)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a place of 0 to %d, found %d", desc->rank, axis);
    return finish(view, &made, insert_axis(&made, axis, error), error);
}

/* ---- one axis, seen in another way ---- */

static tsr_status check_part(const tsr_desc *desc, int k, int64_t begin, int64_t size, int64_t step, tsr_error *error)
{
    int64_t dim = desc->dims[k], last = begin;
    if (begin < 0 || begin > dim || size < 0 || step < 1)
        return tsr_fail(error, TSR_INVALID_ARGUMENT,
                        "axis %d: expected a begin of 0 to %" PRId64 ", a size of 0 or more and a step of 1 or more, "
                        "found %" PRId64 ", %" PRId64 " and %" PRId64,
                        k, dim, begin, size, step);
    if (size > 0 && (!tsr_mul_add(size - 1, step, &last) || last >= dim))
        return tsr_fail(error, TSR_INVALID_ARGUMENT,
                        "axis %d: %" PRId64 " indices from %" PRId64 " in steps of %" PRId64 " leave the %" PRId64
                        " that there are",
                        k, size, begin, step, dim);
    return TSR_OK;
}

/* Index x of the axis is what index begin + x * step was. */
static tsr_status show_part(tsr_desc *desc, int k, int64_t begin, int64_t size, int64_t step, tsr_error *error)
{
    tsr_digits digits;
    tsr_digits_of_axis(&digits, desc, k);
    if (size == 0)
        tsr_digits_clear(&digits);
    else
        tsr_digits_show(&digits, digits.first + begin * digits.step, size > 1 ? digits.step * step : 1, size);
    return tsr_rewrite_axis(desc, k, &digits, error);
}

tsr_status tsr_view_crop(tsr_desc *view, const tsr_desc *desc, const int64_t *begin, const int64_t *size,
                         const int64_t *step, tsr_error *error)
{
    tsr_desc made = *desc;
    tsr_status status = TSR_OK;
    for (int k = 0; status == TSR_OK && k < desc->rank; k++) {
        int64_t by = step ? step[k] : 1;
        status = check_part(desc, k, begin[k], size[k], by, error);
        if (status == TSR_OK && (begin[k] != 0 || size[k] != desc->dims[k]))
            status = show_part(&made, k, begin[k], size[k], by, error);
    }
    return finish(view, &made, status, error);
}

tsr_status tsr_view_reverse(tsr_desc *view, const tsr_desc *desc, int axis, tsr_error *error)
{
    tsr_desc made = *desc;
    tsr_status status = check_axis(desc, axis, error);
    if (status == TSR_OK && desc->dims[axis] > 1)
        status = show_part(&made, axis, desc->dims[axis] - 1, desc->dims[axis], -1, error);
    return finish(view, &made, status, error);
}

tsr_status tsr_view_broadcast(tsr_desc *view, const tsr_desc *desc, int axis, int64_t size, tsr_error *error)
{
    tsr_desc made = *desc;
    tsr_status status = check_one_index(desc, axis, error);
    if (status == TSR_OK && size < 1)
        status = tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a size of 1 or more, found %" PRId64, size);
    if (status == TSR_OK && size > 1) {
        settle_axis(&made, axis);
        tsr_digits repeated = {.count = 1, .indices = size, .extent = size, .is_whole = true, .step = 1, .unit = {1}};
        status = tsr_rewrite_axis(&made, axis, &repeated, error);
    }
    return finish(view, &made, status, error);
}

/* ---- axes that are split and joined ---- */

/* Axis `axis` of n0 * n1 indices becomes two. */
static tsr_status split_axis(tsr_desc *desc, int axis, int64_t n0, int64_t n1, tsr_error *error)
{
    tsr_digits outer, inner;
    tsr_digits_of_axis(&outer, desc, axis);
    tsr_status status = tsr_digits_split(&outer, &inner, axis, n0, n1, error);
    if (status == TSR_OK)
        status = tsr_rewrite_axis(desc, axis, &outer, error);
    if (status == TSR_OK)
        status = insert_axis(desc, axis + 1, error);
    return status == TSR_OK ? tsr_rewrite_axis(desc, axis + 1, &inner, error) : status;
}

tsr_status tsr_view_split(tsr_desc *view, const tsr_desc *desc, int axis, int count, const int64_t *sizes,
                          tsr_error *error)
{
    tsr_desc made = *desc;
    int64_t product = 1;
    bool fits = true;
    tsr_status status = check_axis(desc, axis, error);
    if (status == TSR_OK && count < 1)
        status = tsr_fail(error, TSR_INVALID_ARGUMENT, "expected 1 size or more, found %d", count);
    for (int i = 0; status == TSR_OK && i < count; i++) {
        if (sizes[i] < 0)
            status = tsr_fail(error, TSR_INVALID_ARGUMENT, "sizes[%d] is %" PRId64 ", expected 0 or more", i, sizes[i]);
        fits = fits && tsr_mul(product, sizes[i], &product);
    }
    if (status == TSR_OK && (!fits || product != desc->dims[axis]))
        status = tsr_fail(error, TSR_INVALID_ARGUMENT,
                          "the product of the sizes is %s%" PRId64 ", axis %d has %" PRId64 " indices",
                          fits ? "" : "more than ", fits ? product : INT64_MAX, axis, desc->dims[axis]);
    for (int i = 0; status == TSR_OK && i < count - 1; i++) {
        int64_t inner = 1;
        for (int j = i + 1; j < count; j++)
            fits = fits && tsr_mul(inner, sizes[j], &inner);
        status = fits ? split_axis(&made, axis + i, sizes[i], inner, error)
                      : tsr_fail(error, TSR_OVERFLOW,
                                 "the product of the sizes behind sizes[%d] does not fit into 63 bits", i);
    }
    return finish(view, &made, status, error);
}

/* Axes `axis` and the next become one. */
static tsr_status join_axes(tsr_desc *desc, int axis, tsr_error *error)
{
    tsr_digits outer, inner;
    tsr_digits_of_axis(&outer, desc, axis);
    tsr_digits_of_axis(&inner, desc, axis + 1);
    tsr_status status = tsr_digits_join(&outer, &inner, axis, error);
    if (status != TSR_OK)
        return status;
    tsr_remove_levels(desc, axis + 1);
    delete_axis(desc, axis + 1);
    return tsr_rewrite_axis(desc, axis, &outer, error);
}

tsr_status tsr_view_join(tsr_desc *view, const tsr_desc *desc, int axis, int count, tsr_error *error)
{
    tsr_desc made = *desc;
    tsr_status status = check_axis(desc, axis, error);
    if (status == TSR_OK && (count < 1 || count > desc->rank - axis))
        status = tsr_fail(error, TSR_INVALID_ARGUMENT, "expected 1 to %d axes from axis %d on, found %d",
                          desc->rank - axis, axis, count);
    for (int i = 1; status == TSR_OK && i < count; i++)
        status = join_axes(&made, axis, error);
    return finish(view, &made, status, error);
}

/* The blocks of a diagonal have cells behind its end that lie anywhere. */
static tsr_status check_diagonal(const tsr_desc *made, const tsr_desc *desc, int a, int b, tsr_error *error)
{
    int64_t first, end, first_of_made, end_of_made;
    tsr_desc_span(desc, &first, &end);
    if (tsr_desc_check(made, true, NULL) == TSR_OK) {
        tsr_desc_span(made, &first_of_made, &end_of_made);
        if (first_of_made == end_of_made || (first_of_made >= first && end_of_made <= end))
            return TSR_OK;
    }
    return tsr_fail(error, TSR_UNSUPPORTED, "the blocks of the diagonal of axes %d and %d leave the buffer", a, b);
}

tsr_status tsr_view_diagonal(tsr_desc *view, const tsr_desc *desc, int a, int b, tsr_error *error)
{
    tsr_desc made = *desc;
    tsr_digits x, y;
    tsr_status status = check_axis(desc, a, error);
    if (status == TSR_OK)
        status = check_axis(desc, b, error);
    if (status == TSR_OK && a == b)
        status = tsr_fail(error, TSR_INVALID_ARGUMENT, "expected two axes, found %d twice", a);
    if (status != TSR_OK)
        return status;
    tsr_digits_of_axis(&x, desc, a);
    tsr_digits_of_axis(&y, desc, b);
    status = tsr_digits_add(&x, &y, a, b, error);
    if (status == TSR_OK) {
        tsr_remove_levels(&made, b);
        status = tsr_rewrite_axis(&made, a, &x, error);
        delete_axis(&made, b);
    }
    if (status == TSR_OK)
        status = check_diagonal(&made, desc, a, b, error);
    return finish(view, &made, status, error);
}
