/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/algebra.h>

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/int.h"
#include "desc/rewrite.h"

/* The boundaries of both sides, innermost first; 0 where they do not nest. */
static int merge_units(const tsr_digits *x, const tsr_digits *y, int64_t *unit)
{
    int n = 0;
    for (int i = 0, j = 0; i < x->count || j < y->count; n++) {
        int64_t a = i < x->count ? x->unit[i] : INT64_MAX, b = j < y->count ? y->unit[j] : INT64_MAX;
        unit[n] = tsr_min(a, b);
        i += a == unit[n];
        j += b == unit[n];
        if (n > 0 && unit[n] % unit[n - 1] != 0)
            return 0;
    }
    return n;
}

/* One side with a digit for each unit. Its padding must be whole blocks, and so it is the same memory. */
static bool spread(tsr_digits *fine, const tsr_digits *digits, const int64_t *unit, int count)
{
    int64_t top = unit[count - 1], last = digits->first + digits->indices - 1;
    bool has_padding = digits->is_whole && digits->extent > digits->indices;
    *fine = *digits;
    fine->count = count;
    fine->extent = has_padding ? digits->extent : (last / top + 1) * top;
    fine->is_whole = digits->is_whole && digits->first == 0 && (has_padding || fine->extent == fine->indices);
    for (int j = 0; j < count; j++) {
        fine->unit[j] = unit[j];
        fine->stride[j] = tsr_digits_offset(digits, unit[j]);
    }
    return fine->extent % top == 0 && !(has_padding && digits->first != 0);
}

/* The levels of an axis behind all others, outer ones first. */
static tsr_status append(tsr_desc *desc, int axis, const tsr_digits *digits, tsr_error *error)
{
    int64_t end = digits->extent;
    if (digits->count > TSR_MAX_LEVELS - desc->levels)
        return tsr_fail(error, TSR_UNSUPPORTED, "the refinement needs more than %d levels", TSR_MAX_LEVELS);
    for (int j = digits->count - 1; j >= 0; j--) {
        tsr_insert_level(desc, desc->levels, axis, end / digits->unit[j], digits->stride[j]);
        end = digits->unit[j];
    }
    desc->offset += digits->start;
    desc->first[axis] = digits->is_whole ? 0 : digits->first;
    desc->step[axis] = digits->is_whole ? 0 : 1;
    return TSR_OK;
}

static tsr_status refine_axis(tsr_desc *fine_a, tsr_desc *fine_b, const tsr_desc *a, const tsr_desc *b, int axis,
                              tsr_error *error)
{
    tsr_digits x, y, fine_x, fine_y;
    int64_t unit[2 * TSR_MAX_LEVELS]; /* 63 at most nest in 63 bits */
    tsr_digits_of_axis(&x, a, axis);
    tsr_digits_of_axis(&y, b, axis);
    int count = tsr_digits_align(&x, &y) ? merge_units(&x, &y, unit) : 0;
    if (count == 0 || !spread(&fine_x, &x, unit, count) || !spread(&fine_y, &y, unit, count))
        return tsr_fail(error, TSR_UNSUPPORTED, "the blocks of axis %d do not nest", axis);
    tsr_status status = append(fine_a, axis, &fine_x, error);
    return status == TSR_OK ? append(fine_b, axis, &fine_y, error) : status;
}

tsr_status tsr_desc_refine(tsr_desc *fine_a, tsr_desc *fine_b, const tsr_desc *a, const tsr_desc *b, tsr_error *error)
{
    tsr_desc made_a = {.dtype = a->dtype, .rank = a->rank, .offset = tsr_desc_start(a)};
    tsr_desc made_b = {.dtype = b->dtype, .rank = b->rank, .offset = tsr_desc_start(b)};
    tsr_status status = TSR_OK;
    if (a->rank != b->rank)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected equal dims, found ranks %d and %d", a->rank, b->rank);
    for (int k = 0; status == TSR_OK && k < a->rank; k++) {
        if (a->dims[k] != b->dims[k])
            status = tsr_fail(error, TSR_INVALID_ARGUMENT, "dims[%d] is %" PRId64 " and %" PRId64 ", expected one", k,
                              a->dims[k], b->dims[k]);
        made_a.dims[k] = made_b.dims[k] = a->dims[k];
    }
    if (status == TSR_OK && tsr_desc_elements(a) == 0) {
        tsr_desc_canonical(&made_a, a);
        tsr_desc_canonical(&made_b, b);
        *fine_a = made_a;
        *fine_b = made_b;
        return TSR_OK;
    }
    for (int k = 0; status == TSR_OK && k < a->rank; k++)
        status = refine_axis(&made_a, &made_b, a, b, k, error);
    if (status == TSR_OK)
        status = tsr_desc_check(&made_a, true, error);
    if (status == TSR_OK)
        status = tsr_desc_check(&made_b, true, error);
    if (status == TSR_OK) {
        *fine_a = made_a;
        *fine_b = made_b;
    }
    return status;
}
