/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/algebra.h>
#include <tessera/view.h>

#include <inttypes.h>

#include "base/error.h"
#include "base/int.h"
#include "desc/rewrite.h"

/* A as one axis: the digits of its row-major index, and where index 0 is. */
static tsr_status linearize(tsr_digits *linear, int64_t *start, const tsr_desc *a, tsr_error *error)
{
    tsr_desc joined = *a;
    tsr_status status = TSR_OK;
    if (a->rank == 0)
        status = tsr_view_unsqueeze(&joined, a, 0, error);
    else
        status = tsr_view_join(&joined, a, 0, a->rank, error);
    if (status != TSR_OK)
        return status;
    tsr_digits_of_axis(linear, &joined, 0);
    if (linear->is_whole)
        tsr_digits_show(linear, 0, 1, linear->indices);
    *start = tsr_desc_start(&joined);
    return TSR_OK;
}

/* The axes of B. */
struct operand {
    int rank;
    tsr_digits axis[TSR_MAX_RANK];
    int64_t start, last; /* the smallest and the largest B(v) */
    int loops;           /* digits of more than one step */
};

/* How many steps digit j of an axis takes, over all that it shows. */
static int64_t steps_of(const tsr_digits *axis, int j)
{
    int64_t last = axis->first + (axis->indices - 1) * axis->step;
    return j + 1 < axis->count ? axis->unit[j + 1] / axis->unit[j] : last / axis->unit[j] + 1;
}

/* The largest F(p) up to the last position that is shown, for strides of 0 or more. */
static int64_t largest_offset(const tsr_digits *axis)
{
    int64_t full[TSR_MAX_LEVELS + 1] = {0}, rest = axis->first + (axis->indices - 1) * axis->step, sum = 0, largest = 0;
    for (int j = 0; j + 1 < axis->count; j++)
        full[j + 1] = full[j] + (axis->unit[j + 1] / axis->unit[j] - 1) * axis->stride[j];
    for (int j = axis->count - 1; j >= 0; j--) {
        int64_t digit = rest / axis->unit[j];
        if (digit > 0) /* one less here, and all below in full */
            largest = tsr_max(largest, sum + (digit - 1) * axis->stride[j] + full[j]);
        sum += digit * axis->stride[j];
        rest %= axis->unit[j];
    }
    return tsr_max(largest, sum);
}

/* B counts elements of A; from here on it counts positions of A's digits, of which A may see a part. */
static void count_positions(struct operand *b, const tsr_digits *linear)
{
    b->start = linear->first + b->start * linear->step;
    for (int k = 0; k < b->rank; k++)
        for (int j = 0; j < b->axis[k].count; j++)
            b->axis[k].stride[j] *= linear->step;
}

static tsr_status read_operand(struct operand *b, const tsr_desc *desc, tsr_error *error)
{
    b->rank = desc->rank;
    b->start = tsr_desc_start(desc);
    b->loops = 0;
    for (int k = 0; k < desc->rank; k++) {
        tsr_digits_of_axis(&b->axis[k], desc, k);
        tsr_digits_show(&b->axis[k], b->axis[k].first, b->axis[k].step, desc->dims[k]); /* without padding */
        b->start += b->axis[k].start;
        for (int j = 0; j < b->axis[k].count; j++) {
            b->loops += steps_of(&b->axis[k], j) > 1;
            if (b->axis[k].stride[j] < 0)
                return tsr_fail(error, TSR_UNSUPPORTED, "axis %d of the inner layout runs backwards", k);
        }
    }
    b->last = b->start;
    for (int k = 0; k < desc->rank; k++)
        b->last += largest_offset(&b->axis[k]);
    return TSR_OK;
}

/* The largest remainder of d * stride by unit, for d below steps. */
static int64_t largest_remainder(int64_t stride, int64_t steps, int64_t unit)
{
    int64_t part = stride % unit, reach = part * (steps - 1);
    return reach < unit ? reach : unit - tsr_gcd(part, unit);
}

/*
 * A[sum of x] is the sum of all A[x] where no sum carries into the next digit of A: for each boundary,
 * the remainders stay below it together.
 */
static tsr_status check_carries(const tsr_digits *linear, const struct operand *b, tsr_error *error)
{
    for (int m = 1; m < linear->count; m++) {
        int64_t unit = linear->unit[m], sum = b->start % unit;
        for (int k = 0; k < b->rank; k++)
            for (int j = 0; j < b->axis[k].count && sum < unit; j++)
                sum += largest_remainder(b->axis[k].stride[j], steps_of(&b->axis[k], j), unit);
        if (sum >= unit)
            return tsr_fail(error, TSR_UNSUPPORTED,
                            "steps of the inner layout pass the blocks of %" PRId64 " in the outer one unevenly", unit);
    }
    return TSR_OK;
}

/* Axis k of the result: each of its digits is one or more of the outer layout, from position `origin` on. */
static tsr_status compose_axis(tsr_digits *result, const tsr_digits *linear, int64_t origin, const tsr_digits *axis,
                               int k, tsr_error *error)
{
    *result = (tsr_digits){
        .indices = axis->indices, .extent = axis->extent, .first = axis->first, .step = axis->step, .is_whole = false};
    for (int j = 0; j < axis->count; j++) {
        tsr_digits part = *linear;
        int64_t steps = steps_of(axis, j);
        tsr_digits_show(&part, steps > 1 ? origin : 0, axis->stride[j], steps);
        if (axis->count == 1) {
            *result = part;
            return TSR_OK;
        }
        if (part.step != 1 || (j + 1 < axis->count && part.extent != steps))
            return tsr_fail(error, TSR_UNSUPPORTED,
                            "%" PRId64 " steps of %" PRId64 " along axis %d are no whole blocks of the outer layout",
                            steps, axis->stride[j], k);
        for (int m = 0; m < part.count; m++) {
            result->unit[result->count] = axis->unit[j] * part.unit[m];
            result->stride[result->count++] = part.stride[m];
        }
        result->extent = axis->unit[j] * part.extent;
    }
    tsr_digits_show(result, result->first, result->step, result->indices);
    return TSR_OK;
}

tsr_status tsr_desc_compose(tsr_desc *result, const tsr_desc *a, const tsr_desc *b, tsr_error *error)
{
    tsr_desc made = {.dtype = a->dtype, .rank = b->rank};
    tsr_digits linear;
    struct operand inner;
    int64_t elements = tsr_desc_elements(a), origin = 0;
    if (tsr_desc_elements(b) == 0)
        return tsr_desc_plain(result, a->dtype, b->rank, b->dims, error);
    tsr_status status = read_operand(&inner, b, error);
    if (status == TSR_OK && inner.last >= elements)
        status = tsr_fail(error, TSR_OUT_OF_RANGE, "the inner layout reaches element %" PRId64 " of %" PRId64,
                          inner.last, elements);
    if (status == TSR_OK)
        status = linearize(&linear, &made.offset, a, error);
    if (status == TSR_OK)
        count_positions(&inner, &linear);
    if (status == TSR_OK && inner.loops != 1)
        status = check_carries(&linear, &inner, error);
    if (status != TSR_OK)
        return status;
    made.offset += linear.start;
    linear.start = 0;
    if (inner.loops == 1) /* one loop alone may begin anywhere */
        origin = inner.start;
    else
        made.offset += tsr_digits_offset(&linear, inner.start);
    for (int k = 0; status == TSR_OK && k < b->rank; k++) {
        tsr_digits axis;
        status = compose_axis(&axis, &linear, origin, &inner.axis[k], k, error);
        if (status == TSR_OK)
            status = tsr_rewrite_axis(&made, k, &axis, error);
    }
    if (status == TSR_OK)
        status = tsr_desc_check(&made, true, error);
    if (status == TSR_OK)
        *result = made;
    return status;
}
