/* SPDX-License-Identifier: Apache-2.0 */
#include "desc/rewrite.h"

#include "base/error.h"

static void move_level(tsr_desc *desc, int to, int from)
{
    desc->order[to] = desc->order[from];
    desc->block_dims[to] = desc->block_dims[from];
    desc->strides[to] = desc->strides[from];
    desc->pad_before[to] = desc->pad_before[from];
}

int tsr_remove_levels(tsr_desc *desc, int axis)
{
    int kept = 0, place = 0;
    for (int i = desc->levels - 1; i >= 0; i--)
        if (desc->order[i] == axis)
            place = i;
    for (int i = 0; i < desc->levels; i++) {
        if (desc->order[i] == axis)
            desc->offset += desc->pad_before[i] * desc->strides[i];
        else
            move_level(desc, kept++, i);
    }
    desc->levels = kept;
    return place;
}

void tsr_insert_level(tsr_desc *desc, int i, int axis, int64_t block_dim, int64_t stride)
{
    for (int j = desc->levels++; j > i; j--)
        move_level(desc, j, j - 1);
    desc->order[i] = (uint8_t)axis;
    desc->block_dims[i] = block_dim;
    desc->strides[i] = stride;
    desc->pad_before[i] = 0;
}

static int64_t distance(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* Behind all levels of larger strides, from place `from` on. */
static int place_of_stride(const tsr_desc *desc, int from, int64_t stride)
{
    int place = desc->levels;
    while (place > from && (desc->block_dims[place - 1] == 1 || distance(desc->strides[place - 1]) < distance(stride)))
        place--;
    return place;
}

tsr_status tsr_rewrite_axis(tsr_desc *desc, int axis, const tsr_digits *digits, tsr_error *error)
{
    int place = tsr_remove_levels(desc, axis), from = 0;
    if (digits->count > TSR_MAX_LEVELS - desc->levels)
        return tsr_fail(error, TSR_UNSUPPORTED, "axis %d needs %d more levels than the %d that there may be", axis,
                        digits->count - (TSR_MAX_LEVELS - desc->levels), TSR_MAX_LEVELS);
    int64_t end = digits->extent;
    for (int j = digits->count - 1; j >= 0; j--) {
        int64_t n = end / digits->unit[j];
        if (n > 1)
            place = place_of_stride(desc, from, digits->stride[j]);
        tsr_insert_level(desc, place, axis, n, n > 1 ? digits->stride[j] : 1);
        from = place + 1;
        end = digits->unit[j];
    }
    desc->offset += digits->start;
    desc->dims[axis] = digits->indices;
    desc->first[axis] = digits->is_whole ? 0 : digits->first;
    desc->step[axis] = digits->is_whole ? 0 : digits->step;
    return TSR_OK;
}
