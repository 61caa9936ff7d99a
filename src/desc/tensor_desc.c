/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/int.h"
#include "desc/ie_layout.h"

/* ---- building ---- */

static bool describes_memory(tsr_ie_layout layout)
{
    return layout != TSR_IE_ANY && layout != TSR_IE_SCALAR;
}

/* Neither dims nor memory. */
static tsr_tensor_desc blank(tsr_precision precision, tsr_ie_layout layout)
{
    return (tsr_tensor_desc){
        .precision = precision, .layout = layout, .desc = {.dtype = tsr_precision_dtype(&precision)}};
}

tsr_tensor_desc tsr_tensor_desc_empty(tsr_precision precision, tsr_ie_layout layout)
{
    return blank(precision, layout);
}

tsr_tensor_desc tsr_tensor_desc_default(void)
{
    return blank(tsr_precision_from_value(TSR_PRECISION_UNSPECIFIED), TSR_IE_ANY);
}

static tsr_status check_precision(const tsr_precision *precision, tsr_error *error)
{
    if (tsr_precision_dtype(precision) != TSR_DTYPE_NONE)
        return TSR_OK;
    return tsr_fail(error, TSR_UNSUPPORTED, "memory of precision %s cannot be described", precision->name);
}

static tsr_status check_rank(tsr_ie_layout layout, int rank, tsr_error *error)
{
    int expected = tsr_ie_layout_rank(layout);
    if (!tsr_ie_layout_name(layout))
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a layout, found number %d", (int)layout);
    if (rank < 0 || rank > TSR_MAX_RANK)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a rank of 0 to %d, found %d", TSR_MAX_RANK, rank);
    if (describes_memory(layout) && rank > 0 && expected >= 0 && expected != rank)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "layout %s has %d axes, the dims have %d",
                        tsr_ie_layout_name(layout), expected, rank);
    return TSR_OK;
}

/* One dense level for each axis, in this order. */
static tsr_status lay_dense(tsr_tensor_desc *tensor, int rank, const int64_t *dims, const int *order, tsr_error *error)
{
    int64_t block_dims[TSR_MAX_RANK];
    tsr_status status = check_precision(&tensor->precision, error);
    for (int i = 0; i < rank; i++)
        block_dims[i] = dims[order[i]];
    tsr_blocking blocking = {.levels = rank, .block_dims = block_dims, .order = order};
    return status == TSR_OK ? tsr_desc_blocked(&tensor->desc, tensor->desc.dtype, rank, dims, &blocking, error)
                            : status;
}

static void name_in_order(int order[TSR_MAX_RANK], tsr_ie_layout layout)
{
    for (int k = 0; k < TSR_MAX_RANK; k++)
        order[k] = k;
    tsr_ie_layout_order(layout, order);
}

tsr_status tsr_tensor_desc_from_layout(tsr_tensor_desc *tensor, tsr_precision precision, int rank, const int64_t *dims,
                                       tsr_ie_layout layout, tsr_error *error)
{
    int order[TSR_MAX_RANK];
    tsr_tensor_desc made = blank(precision, layout);
    tsr_status status = check_rank(layout, rank, error);
    if (status == TSR_OK && describes_memory(layout) && rank > 0) {
        name_in_order(order, layout);
        status = lay_dense(&made, rank, dims, order, error);
    } else if (status == TSR_OK) {
        made.desc.rank = rank;
        for (int k = 0; k < rank; k++)
            made.desc.dims[k] = dims[k];
    }
    if (status == TSR_OK)
        *tensor = made;
    return status;
}

tsr_status tsr_tensor_desc_from_block_dims(tsr_tensor_desc *tensor, tsr_precision precision, int rank,
                                           const int64_t *block_dims, tsr_ie_layout layout, tsr_error *error)
{
    int64_t dims[TSR_MAX_RANK];
    int order[TSR_MAX_RANK];
    tsr_status status = check_rank(layout, rank, error);
    if (status != TSR_OK)
        return status;
    name_in_order(order, layout);
    for (int i = 0; i < rank; i++)
        dims[order[i]] = block_dims[i];
    return tsr_tensor_desc_from_layout(tensor, precision, rank, dims, layout, error);
}

/* A BlockingDesc has as many blocks as the dims need, and no more. */
static tsr_status check_blocks(const tsr_desc *desc, tsr_error *error)
{
    int64_t inner[TSR_MAX_RANK];
    int outermost[TSR_MAX_RANK];
    for (int k = 0; k < desc->rank; k++)
        inner[k] = 1;
    for (int i = desc->levels - 1; i >= 0; i--)
        outermost[desc->order[i]] = i;
    for (int i = desc->levels - 1; i >= 0; i--) {
        int axis = desc->order[i];
        int64_t needed = tsr_ceil_div(desc->dims[axis], inner[axis]);
        if (i == outermost[axis] && desc->block_dims[i] != needed)
            return tsr_fail(error, TSR_INVALID_ARGUMENT,
                            "block_dims[%d] is %" PRId64 ", axis %d of %" PRId64 " needs %" PRId64, i,
                            desc->block_dims[i], axis, desc->dims[axis], needed);
        inner[axis] *= desc->block_dims[i];
    }
    return TSR_OK;
}

tsr_status tsr_tensor_desc_from_blocking(tsr_tensor_desc *tensor, tsr_precision precision, int rank,
                                         const int64_t *dims, const tsr_blocking *blocking, tsr_error *error)
{
    tsr_tensor_desc made = blank(precision, TSR_IE_BLOCKED);
    tsr_status status = check_precision(&precision, error);
    if (status == TSR_OK && blocking->levels == 0)
        status = tsr_fail(error, TSR_INVALID_ARGUMENT, "expected 1 block dim or more, found none");
    if (status == TSR_OK)
        status = tsr_desc_blocked(&made.desc, made.desc.dtype, rank, dims, blocking, error);
    if (status == TSR_OK)
        status = check_blocks(&made.desc, error);
    if (status == TSR_OK) {
        made.layout = tsr_ie_layout_of(&made.desc);
        *tensor = made;
    }
    return status;
}

/* ---- other dims, layouts and shapes ---- */

tsr_status tsr_tensor_desc_set_precision(tsr_tensor_desc *tensor, const tsr_tensor_desc *from, tsr_precision precision,
                                         tsr_error *error)
{
    tsr_tensor_desc made = *from;
    tsr_status status = TSR_OK;
    made.precision = precision;
    made.desc.dtype = tsr_precision_dtype(&precision);
    if (from->desc.levels > 0)
        status = check_precision(&precision, error);
    if (status == TSR_OK && from->desc.levels > 0)
        status = tsr_desc_check(&made.desc, true, error);
    if (status == TSR_OK)
        *tensor = made;
    return status;
}

/* BLOCKED dims keep the order of the axes, if there is one already. */
static tsr_status set_blocked_dims(tsr_tensor_desc *tensor, const tsr_tensor_desc *from, int rank, const int64_t *dims,
                                   tsr_error *error)
{
    int order[TSR_MAX_RANK];
    const tsr_desc *old = &from->desc;
    tsr_tensor_desc made = blank(from->precision, TSR_IE_BLOCKED);
    if (old->levels == 0 || (old->levels == 1 && old->block_dims[0] == 0))
        return tsr_tensor_desc_from_layout(tensor, from->precision, rank, dims, TSR_IE_BLOCKED, error);
    if (rank != old->rank || old->levels != old->rank)
        return tsr_fail(error, TSR_INVALID_ARGUMENT,
                        "a blocked layout of %d axes in %d levels has no place for %d dims: reshape it", old->rank,
                        old->levels, rank);
    for (int i = 0; i < rank; i++)
        order[i] = old->order[i];
    tsr_status status = lay_dense(&made, rank, dims, order, error);
    if (status == TSR_OK)
        *tensor = made;
    return status;
}

tsr_status tsr_tensor_desc_set_dims(tsr_tensor_desc *tensor, const tsr_tensor_desc *from, int rank, const int64_t *dims,
                                    tsr_error *error)
{
    if (from->layout == TSR_IE_BLOCKED)
        return set_blocked_dims(tensor, from, rank, dims, error);
    if (from->layout != TSR_IE_SCALAR)
        return tsr_tensor_desc_from_layout(tensor, from->precision, rank, dims, from->layout, error);
    if (rank > 1 || (rank == 1 && dims[0] != 1))
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "a SCALAR has no dims, or the dims {1}");
    *tensor = *from;
    return TSR_OK;
}

/* Is memory as from_layout makes it? */
static bool is_default(const tsr_tensor_desc *tensor)
{
    tsr_tensor_desc fresh;
    return tsr_tensor_desc_from_layout(&fresh, tensor->precision, tensor->desc.rank, tensor->desc.dims, tensor->layout,
                                       NULL) == TSR_OK &&
           tsr_tensor_desc_equal(tensor, &fresh);
}

tsr_status tsr_tensor_desc_set_layout(tsr_tensor_desc *tensor, const tsr_tensor_desc *from, tsr_ie_layout layout,
                                      tsr_error *error)
{
    tsr_status status = check_rank(layout, from->desc.rank, error);
    int rank = tsr_ie_layout_rank(layout);
    if (status == TSR_OK && rank >= 0 && rank != from->desc.rank)
        status = tsr_fail(error, TSR_INVALID_ARGUMENT, "layout %s has %d axes, the dims have %d",
                          tsr_ie_layout_name(layout), rank, from->desc.rank);
    if (status != TSR_OK || layout == from->layout) {
        if (status == TSR_OK)
            *tensor = *from;
        return status;
    }
    if (!is_default(from))
        return tsr_fail(error, TSR_INVALID_ARGUMENT,
                        "memory is not dense %s, and would not be %s by being called so: reshape it",
                        tsr_ie_layout_name(from->layout), tsr_ie_layout_name(layout));
    return tsr_tensor_desc_from_layout(tensor, from->precision, from->desc.rank, from->desc.dims, layout, error);
}

tsr_status tsr_tensor_desc_reshape(tsr_tensor_desc *tensor, const tsr_tensor_desc *from, int rank, const int64_t *dims,
                                   tsr_ie_layout layout, tsr_error *error)
{
    for (int i = 0; i < from->desc.levels; i++)
        if (from->desc.pad_before[i] + from->region_start[i] != 0)
            return tsr_fail(error, TSR_INVALID_ARGUMENT, "level %d begins at %" PRId64 ": expected a tensor of its own",
                            i, from->desc.pad_before[i] + from->region_start[i]);
    return tsr_tensor_desc_from_layout(tensor, from->precision, rank, dims,
                                       layout == TSR_IE_ANY ? from->layout : layout, error);
}

tsr_status tsr_tensor_desc_reshape_blocking(tsr_tensor_desc *tensor, const tsr_tensor_desc *from, int rank,
                                            const int64_t *dims, const tsr_blocking *blocking, tsr_error *error)
{
    tsr_status status = tsr_tensor_desc_from_blocking(tensor, from->precision, rank, dims, blocking, error);
    if (status == TSR_OK)
        tensor->layout = TSR_IE_BLOCKED;
    return status;
}

/* ---- regions ---- */

static tsr_status check_range(const tsr_desc *desc, int rank, const int64_t *begin, const int64_t *end,
                              tsr_error *error)
{
    if (desc->levels != desc->rank || desc->rank == 0)
        return tsr_fail(error, TSR_INVALID_ARGUMENT,
                        "a region needs one level for each axis, found %d levels of %d axes: see tsr_view_crop",
                        desc->levels, desc->rank);
    if (rank != desc->rank)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a region of %d axes, found %d", desc->rank, rank);
    for (int k = 0; k < rank; k++)
        if (begin[k] < 0 || begin[k] > end[k] || end[k] > desc->dims[k])
            return tsr_fail(error, TSR_OUT_OF_RANGE,
                            "axis %d: expected 0 <= begin <= end <= %" PRId64 ", found %" PRId64 " and %" PRId64, k,
                            desc->dims[k], begin[k], end[k]);
    return TSR_OK;
}

/* With all strides as they are, and the start in the offset alone. */
static void narrow(tsr_tensor_desc *tensor, const int64_t *begin, const int64_t *end)
{
    tsr_desc *desc = &tensor->desc;
    for (int i = 0; i < desc->levels; i++) {
        int axis = desc->order[i];
        desc->dims[axis] = desc->block_dims[i] = end[axis] - begin[axis];
        desc->offset += begin[axis] * desc->strides[i];
        tensor->region_start[i] += begin[axis];
    }
}

tsr_status tsr_tensor_desc_range(tsr_tensor_desc *tensor, const tsr_tensor_desc *from, int rank, const int64_t *begin,
                                 const int64_t *end, bool in_original_memory, tsr_error *error)
{
    int order[TSR_MAX_RANK];
    tsr_tensor_desc made = *from;
    tsr_status status = check_range(&from->desc, rank, begin, end, error);
    if (status != TSR_OK)
        return status;
    narrow(&made, begin, end);
    if (!in_original_memory) {
        for (int i = 0; i < rank; i++)
            order[i] = from->desc.order[i];
        int64_t dims[TSR_MAX_RANK];
        memcpy(dims, made.desc.dims, sizeof dims);
        memset(made.region_start, 0, sizeof made.region_start);
        status = lay_dense(&made, rank, dims, order, error);
    }
    made.layout = tsr_ie_layout_of(&made.desc);
    if (status == TSR_OK)
        *tensor = made;
    return status;
}

tsr_status tsr_tensor_desc_roi(tsr_tensor_desc *tensor, const tsr_tensor_desc *from, const tsr_roi *roi,
                               bool in_original_memory, tsr_error *error)
{
    int64_t last, end_x, end_y;
    if (from->layout != TSR_IE_NCHW && from->layout != TSR_IE_NHWC)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "a rectangle lies in NCHW or NHWC, found %s",
                        tsr_ie_layout_name(from->layout));
    if (roi->size_x < 0 || roi->size_y < 0 || !tsr_add(roi->id, 1, &last) ||
        !tsr_add(roi->pos_x, roi->size_x, &end_x) || !tsr_add(roi->pos_y, roi->size_y, &end_y))
        return tsr_fail(error, TSR_OUT_OF_RANGE,
                        "image %" PRId64 ", x %" PRId64 " + %" PRId64 ", y %" PRId64 " + %" PRId64 " is no rectangle",
                        roi->id, roi->pos_x, roi->size_x, roi->pos_y, roi->size_y);
    const int64_t begin[] = {roi->id, 0, roi->pos_y, roi->pos_x};
    const int64_t end[] = {last, from->desc.dims[1], end_y, end_x};
    return tsr_tensor_desc_range(tensor, from, 4, begin, end, in_original_memory, error);
}

/* ---- questions ---- */

/* Where no memory is described there is one place, the offset; but ANY has not even that. */
static tsr_status offset_without_levels(const tsr_tensor_desc *tensor, int64_t *offset, tsr_error *error)
{
    if (tensor->layout == TSR_IE_ANY)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "a descriptor in layout ANY describes no memory");
    *offset = tensor->desc.offset;
    return TSR_OK;
}

tsr_status tsr_tensor_desc_offset(const tsr_tensor_desc *tensor, int rank, const int64_t *index, int64_t *offset,
                                  tsr_error *error)
{
    if (tensor->desc.levels == 0)
        return offset_without_levels(tensor, offset, error);
    return tsr_desc_offset(&tensor->desc, rank, index, offset, error);
}

tsr_status tsr_tensor_desc_offset_linear(const tsr_tensor_desc *tensor, int64_t linear, int64_t *offset,
                                         tsr_error *error)
{
    if (tensor->desc.levels == 0)
        return offset_without_levels(tensor, offset, error);
    return tsr_desc_offset_linear(&tensor->desc, linear, offset, error);
}

static bool levels_equal(const tsr_tensor_desc *a, const tsr_tensor_desc *b)
{
    for (int i = 0; i < a->desc.levels; i++)
        if (a->desc.order[i] != b->desc.order[i] || a->desc.block_dims[i] != b->desc.block_dims[i] ||
            a->desc.strides[i] != b->desc.strides[i] ||
            a->desc.pad_before[i] + a->region_start[i] != b->desc.pad_before[i] + b->region_start[i])
            return false;
    return true;
}

bool tsr_tensor_desc_equal(const tsr_tensor_desc *a, const tsr_tensor_desc *b)
{
    return tsr_precision_equal(&a->precision, &b->precision) && a->layout == b->layout &&
           a->desc.rank == b->desc.rank && a->desc.levels == b->desc.levels && a->desc.offset == b->desc.offset &&
           memcmp(a->desc.dims, b->desc.dims, (size_t)a->desc.rank * sizeof a->desc.dims[0]) == 0 && levels_equal(a, b);
}
