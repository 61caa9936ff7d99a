/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include <tessera/algebra.h>
#include <tessera/text.h>

#include "base/error.h"
#include "base/int.h"
#include "desc/rewrite.h"

tsr_status tsr_layout_apply(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims, const tsr_layout *layout,
                            tsr_error *error)
{
    int64_t block[TSR_MAX_RANK], block_dims[TSR_MAX_LEVELS];
    int order[TSR_MAX_LEVELS];
    if (layout->rank != rank)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "the layout has %d axes, the dims have %d", layout->rank, rank);
    if (layout->levels > TSR_MAX_LEVELS)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected at most %d block levels, found %d", TSR_MAX_LEVELS,
                        layout->levels);
    for (int i = 0; i < layout->levels; i++)
        if (layout->order[i] >= rank)
            return tsr_fail(error, TSR_INVALID_ARGUMENT, "order[%d] is %d, expected an axis below the rank %d", i,
                            layout->order[i], rank);
    for (int k = 0; k < rank; k++)
        block[k] = 1;
    for (int i = layout->levels - 1; i >= 0; i--) {
        int axis = order[i] = layout->order[i];
        block_dims[i] = layout->block_dims[i] ? layout->block_dims[i] : tsr_ceil_div(dims[axis], block[axis]);
        if (!tsr_mul(block[axis], tsr_max(layout->block_dims[i], 1), &block[axis]))
            return tsr_fail(error, TSR_OVERFLOW, "the blocks of axis %d do not fit into 63 bits", axis);
    }
    tsr_blocking blocking = {.levels = layout->levels, .block_dims = block_dims, .order = order};
    return tsr_desc_blocked(desc, dtype, rank, dims, &blocking, error);
}

/* The levels of a descriptor as a layout, if that says all: dense, with the blocks that the dims need. */
static bool is_laid_by(const tsr_desc *desc, const tsr_desc *levels, tsr_layout *layout)
{
    uint32_t seen = 0;
    tsr_desc laid;
    *layout = (tsr_layout){.rank = levels->rank, .levels = levels->levels};
    for (int i = 0; i < levels->levels; i++) {
        int axis = levels->order[i];
        layout->order[i] = (uint8_t)axis;
        layout->block_dims[i] = seen >> axis & 1 ? levels->block_dims[i] : 0;
        seen |= 1U << axis;
    }
    return tsr_layout_apply(&laid, desc->dtype, desc->rank, desc->dims, layout, NULL) == TSR_OK &&
           tsr_desc_equal(&laid, desc);
}

/* Where the outermost level of an axis is. */
static int outermost_level(const tsr_desc *desc, int axis)
{
    int i = 0;
    while (desc->order[i] != axis)
        i++;
    return i;
}

/*
 * A canonical axis with less indices than its innermost blocks has lost the outer level of one step
 * that its layout counts blocks with. Puts it back, behind the axis before it.
 */
static void restore_outer_levels(tsr_desc *canonical)
{
    for (int k = 0; k < canonical->rank; k++) {
        tsr_digits digits;
        int place = k ? outermost_level(canonical, k - 1) + 1 : 0;
        tsr_digits_of_axis(&digits, canonical, k);
        int64_t unit = digits.unit[digits.count - 1];
        if (digits.extent / unit != tsr_ceil_div(digits.indices, unit) && canonical->levels < TSR_MAX_LEVELS)
            tsr_insert_level(canonical, place, k, 1, 1);
    }
}

static tsr_status say_why_not(const tsr_desc *canonical, tsr_error *error)
{
    for (int k = 0; k < canonical->rank; k++)
        if (canonical->step[k] != 0)
            return tsr_fail(error, TSR_UNSUPPORTED, "axis %d is a window that begins inside a block or steps over it",
                            k);
    for (int i = 0; i < canonical->levels; i++)
        if (canonical->strides[i] <= 0)
            return tsr_fail(error, TSR_UNSUPPORTED, "axis %d has stride %" PRId64 ", expected more than 0",
                            canonical->order[i], canonical->strides[i]);
    if (canonical->offset != 0)
        return tsr_fail(error, TSR_UNSUPPORTED, "the tensor begins at offset %" PRId64 ", expected 0",
                        canonical->offset);
    if (!tsr_desc_is_dense(canonical))
        return tsr_fail(error, TSR_UNSUPPORTED, "there are gaps between the elements");
    return tsr_fail(error, TSR_UNSUPPORTED,
                    "an axis has more blocks than it needs, or its blocks do not lie outermost first");
}

tsr_status tsr_layout_of(tsr_layout *layout, const tsr_desc *desc, tsr_error *error)
{
    tsr_desc canonical;
    if (is_laid_by(desc, desc, layout))
        return TSR_OK;
    tsr_desc_canonical(&canonical, desc);
    tsr_desc restored = canonical;
    restore_outer_levels(&restored);
    return is_laid_by(desc, &restored, layout) ? TSR_OK : say_why_not(&canonical, error);
}
