/* SPDX-License-Identifier: Apache-2.0 */
#include "desc/check.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/int.h"
#include "desc/overlap.h"

tsr_status tsr_check_shape(tsr_dtype dtype, int rank, const int64_t *dims, tsr_error *error)
{
    int64_t product = (int64_t)tsr_dtype_size_bytes(dtype);
    if (product == 0)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a type, found number %d", (int)dtype);
    if (rank < 0 || rank > TSR_MAX_RANK)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a rank of 0 to %d, found %d", TSR_MAX_RANK, rank);
    for (int k = 0; k < rank; k++)
        if (dims[k] < 0)
            return tsr_fail(error, TSR_INVALID_ARGUMENT, "dims[%d] is %" PRId64 ", expected 0 or more", k, dims[k]);
    /* A dim of 0 must not hide an overflow that depends on the order of the dims. */
    for (int k = 0; k < rank; k++)
        if (!tsr_mul(product, tsr_max(dims[k], 1), &product))
            return tsr_fail(error, TSR_OVERFLOW, "the product of the dims does not fit into 63 bits of bytes");
    return TSR_OK;
}

/* What window k sees lies among the positions of its levels, of which there are `covered`. */
static tsr_status check_window(const tsr_desc *desc, int k, int64_t covered, tsr_error *error)
{
    int64_t last = desc->first[k];
    if (desc->step[k] < 0 || desc->first[k] < 0 || (desc->step[k] == 0 && desc->first[k] != 0))
        return tsr_fail(error, TSR_INVALID_ARGUMENT,
                        "axis %d has first %" PRId64 " and step %" PRId64 ", expected a step of 1 or more, or both 0",
                        k, desc->first[k], desc->step[k]);
    if (desc->step[k] != 0 && desc->dims[k] == 0)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "axis %d is empty and a window, expected step 0", k);
    if (desc->step[k] != 0 && (!tsr_mul_add(desc->dims[k] - 1, desc->step[k], &last) || last >= covered))
        return tsr_fail(error, TSR_INVALID_ARGUMENT,
                        "axis %d sees %" PRId64 " positions from %" PRId64 " in steps of %" PRId64
                        ", its blocks cover %" PRId64,
                        k, desc->dims[k], desc->first[k], desc->step[k], covered);
    return TSR_OK;
}

/* Do the levels of axis k cover its dim, and is there one at all? */
static tsr_status check_axis(const tsr_desc *desc, int k, tsr_error *error)
{
    int64_t covered = 1;
    int levels = 0;
    for (int i = desc->levels - 1; i >= 0; i--) {
        if (desc->order[i] != k)
            continue;
        levels++;
        if (!tsr_mul(covered, desc->block_dims[i], &covered))
            return tsr_fail(error, TSR_OVERFLOW, "the block dims of axis %d do not fit into 63 bits", k);
    }
    if (levels == 0)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "axis %d has no block level", k);
    if (covered < desc->dims[k])
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "the blocks of axis %d cover %" PRId64 " of %" PRId64, k, covered,
                        desc->dims[k]);
    if (covered > 0 && desc->dims[k] == 0)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "the blocks of axis %d hold %" PRId64 ", expected 0", k, covered);
    return check_window(desc, k, covered, error);
}

static tsr_status check_levels(const tsr_desc *desc, tsr_error *error)
{
    unsigned long long seen = 0;
    if (desc->levels < desc->rank || desc->levels > TSR_MAX_LEVELS)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected %d to %d block levels, found %d", desc->rank,
                        TSR_MAX_LEVELS, desc->levels);
    for (int i = 0; i < desc->levels; i++) {
        int axis = desc->order[i];
        if (axis >= desc->rank)
            return tsr_fail(error, TSR_INVALID_ARGUMENT, "order[%d] is %d, expected an axis below the rank %d", i, axis,
                            desc->rank);
        bool outermost = !(seen >> axis & 1);
        seen |= 1ULL << axis;
        if (desc->block_dims[i] < (outermost ? 0 : 1))
            return tsr_fail(error, TSR_INVALID_ARGUMENT, "block_dims[%d] is %" PRId64 ", expected %d or more", i,
                            desc->block_dims[i], outermost ? 0 : 1);
    }
    for (int k = 0; k < desc->rank; k++) {
        tsr_status status = check_axis(desc, k, error);
        if (status != TSR_OK)
            return status;
    }
    return TSR_OK;
}

/*
 * The whole buffer, from its start to the last element, in bytes. Also bounds every sum that the
 * oracle forms.
 */
static tsr_status check_span(const tsr_desc *desc, tsr_error *error)
{
    int64_t low = desc->offset, high = desc->offset, bytes, count = (int64_t)tsr_dtype_size_bytes(desc->dtype);
    bool fits = true;
    if (desc->offset < 0)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "the offset is %" PRId64 ", expected 0 or more", desc->offset);
    for (int i = 0; i < desc->levels; i++) {
        int64_t extent = tsr_max(desc->block_dims[i], 1), stride = desc->strides[i];
        if (desc->pad_before[i] < 0)
            return tsr_fail(error, TSR_INVALID_ARGUMENT, "level %d has padding %" PRId64 ", expected 0 or more", i,
                            desc->pad_before[i]);
        fits = fits && tsr_mul(count, extent, &count) && tsr_mul_add(desc->pad_before[i], stride, &low) &&
               tsr_mul_add(desc->pad_before[i], stride, &high) &&
               tsr_mul_add(extent - 1, stride, stride < 0 ? &low : &high);
    }
    if (!fits || !tsr_add(high, 1, &bytes) || !tsr_mul(bytes, (int64_t)tsr_dtype_size_bytes(desc->dtype), &bytes))
        return tsr_fail(error, TSR_OVERFLOW, "the extent of the buffer does not fit into 63 bits of bytes");
    if (low < 0)
        return tsr_fail(error, TSR_INVALID_ARGUMENT,
                        "negative strides reach to %" PRId64 ", expected 0 or more: the offset is that of index 0",
                        low);
    return TSR_OK;
}

static tsr_status check_overlap(const tsr_desc *desc, bool read_only, tsr_error *error)
{
    int level;
    int64_t reach;
    for (int i = 0; i < desc->levels; i++)
        if (!read_only && desc->block_dims[i] > 1 && desc->strides[i] < 0)
            return tsr_fail(error, TSR_INVALID_ARGUMENT,
                            "level %d has stride %" PRId64 ", expected 1 or more unless it is only read from", i,
                            desc->strides[i]);
    if (tsr_levels_overlap(desc, read_only, &level, &reach) == TSR_CELLS_APART)
        return TSR_OK;
    return tsr_fail(error, TSR_INVALID_ARGUMENT,
                    "elements overlap: the stride of level %d (axis %d) is %" PRId64 ", expected more than %" PRId64,
                    level, desc->order[level], desc->strides[level], reach);
}

tsr_status tsr_desc_check(const tsr_desc *desc, bool read_only, tsr_error *error)
{
    tsr_status status = tsr_check_shape(desc->dtype, desc->rank, desc->dims, error);
    if (status == TSR_OK)
        status = check_levels(desc, error);
    if (status == TSR_OK)
        status = check_span(desc, error);
    if (status == TSR_OK && tsr_desc_padded_elements(desc) > 0)
        status = check_overlap(desc, read_only, error);
    return status;
}
