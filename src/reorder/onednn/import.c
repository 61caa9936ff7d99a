/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/onednn.h>

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/int.h"
#include "reorder/onednn/types.h"

static tsr_status check_kind(const tsr_md *md, tsr_error *error)
{
    int rank = tsr_md_rank(md);
    if (rank < 1 || rank > DNNL_MAX_NDIMS)
        return tsr_fail(error, TSR_UNSUPPORTED, "the memory descriptor has %d dims, expected 1 to %d", rank,
                        DNNL_MAX_NDIMS);
    if (tsr_md_kind(md) != dnnl_blocked)
        return tsr_fail(error, TSR_UNSUPPORTED, "the memory descriptor is opaque: its format kind is %s, not blocked",
                        tsr_md_kind_name(tsr_md_kind(md)));
    return TSR_OK;
}

static bool is_known(const dnnl_dim_t *dims, int count)
{
    for (int i = 0; i < count; i++)
        if (dims[i] == DNNL_RUNTIME_DIM_VAL)
            return false;
    return true;
}

/* The indices in one block of each axis. */
static tsr_status multiply_blocks(dnnl_dims_t unit, const tsr_md_blocking *from, tsr_error *error)
{
    if (from->blocks < 0 || from->blocks > DNNL_MAX_NDIMS)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected 0 to %d inner blocks, found %d", DNNL_MAX_NDIMS,
                        from->blocks);
    for (int k = 0; k < from->rank; k++)
        unit[k] = 1;
    for (int i = 0; i < from->blocks; i++) {
        dnnl_dim_t axis = from->block_axes[i], dim = from->block_dims[i];
        if (axis < 0 || axis >= from->rank || dim < 1)
            return tsr_fail(error, TSR_INVALID_ARGUMENT,
                            "inner block %d has %" PRId64 " indices of axis %" PRId64
                            ", expected 1 or more of an axis below %d",
                            i, dim, axis, from->rank);
        if (!tsr_mul(unit[axis], dim, &unit[axis]))
            return tsr_fail(error, TSR_OVERFLOW, "the blocks of axis %" PRId64 " do not fit into 63 bits", axis);
    }
    return TSR_OK;
}

/* Whole blocks in front of the first index become part of the start, and the blocks that remain are the axis. */
static tsr_status skip_padding(tsr_md_blocking *from, const dnnl_dims_t unit, tsr_error *error)
{
    int64_t padded = 1;
    for (int k = 0; k < from->rank; k++) {
        dnnl_dim_t skipped = from->padded_offsets[k], whole = from->padded_dims[k];
        if (whole < 0 || whole % unit[k] != 0)
            return tsr_fail(error, TSR_INVALID_ARGUMENT,
                            "padded_dims[%d] is %" PRId64 ", expected a multiple of its blocks, %" PRId64, k, whole,
                            unit[k]);
        if (skipped < 0 || skipped > whole)
            return tsr_fail(error, TSR_INVALID_ARGUMENT,
                            "padded_offsets[%d] is %" PRId64 ", expected 0 to padded_dims[%d], %" PRId64, k, skipped, k,
                            whole);
        if (skipped % unit[k] != 0)
            return tsr_fail(error, TSR_UNSUPPORTED,
                            "padded_offsets[%d] is %" PRId64 ", expected a multiple of its blocks, %" PRId64, k,
                            skipped, unit[k]);
        from->padded_dims[k] -= skipped;
        if (!tsr_mul_add(skipped / unit[k], from->strides[k], &from->start) ||
            !tsr_mul(padded, tsr_max(from->padded_dims[k], 1), &padded))
            return tsr_fail(error, TSR_OVERFLOW, "the padded dims do not fit into 63 bits");
    }
    return TSR_OK;
}

/* At equal strides, that of more steps is the outer one. */
static bool is_outside(const tsr_md_blocking *from, const dnnl_dims_t unit, int a, int b)
{
    if (from->strides[a] != from->strides[b])
        return from->strides[a] > from->strides[b];
    bool steps_a = from->padded_dims[a] / unit[a] > 1, steps_b = from->padded_dims[b] / unit[b] > 1;
    return steps_a != steps_b ? steps_a : a < b;
}

static void sort_axes(int *order, const tsr_md_blocking *from, const dnnl_dims_t unit)
{
    for (int k = 0; k < from->rank; k++) {
        int at = k;
        for (; at > 0 && is_outside(from, unit, k, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = k;
    }
}

static tsr_status make_desc(tsr_desc *desc, tsr_dtype dtype, const tsr_md_blocking *from, const dnnl_dims_t unit,
                            tsr_error *error)
{
    int order[2 * DNNL_MAX_NDIMS];
    int64_t block_dims[2 * DNNL_MAX_NDIMS], strides[2 * DNNL_MAX_NDIMS], dense = 1;
    tsr_blocking blocking = {.levels = from->rank + from->blocks,
                             .block_dims = block_dims,
                             .order = order,
                             .strides = strides,
                             .offset = from->start};
    sort_axes(order, from, unit);
    for (int i = 0; i < from->rank; i++) {
        block_dims[i] = from->padded_dims[order[i]] / unit[order[i]];
        strides[i] = from->strides[order[i]];
        blocking.read_only |= strides[i] == 0 && block_dims[i] > 1;
    }
    for (int i = blocking.levels - 1; i >= from->rank; i--) {
        order[i] = (int)from->block_axes[i - from->rank];
        block_dims[i] = from->block_dims[i - from->rank];
        strides[i] = dense;
        if (!tsr_mul(dense, block_dims[i], &dense))
            return tsr_fail(error, TSR_OVERFLOW, "the inner blocks do not fit into 63 bits");
    }
    return tsr_desc_blocked(desc, dtype, from->rank, from->dims, &blocking, error);
}

/* What oneDNN calls the size without anything extra, or more: the longest way along one axis. */
static size_t size_of_elements(const tsr_desc *desc)
{
    int64_t longest = 1, dense = 1;
    for (int i = desc->levels - 1; i >= desc->rank; i--)
        dense *= desc->block_dims[i];
    for (int i = 0; i < desc->rank; i++) {
        int64_t way;
        longest = tsr_mul(desc->block_dims[i], desc->strides[i], &way) ? tsr_max(longest, way) : INT64_MAX / 8;
    }
    longest = tsr_min(tsr_max(longest, dense), INT64_MAX / 8);
    return (size_t)longest * tsr_dtype_size_bytes(desc->dtype);
}

tsr_status tsr_desc_from_onednn(tsr_desc *desc, const void *memory_desc, tsr_error *error)
{
    const tsr_md *md = memory_desc;
    tsr_md_blocking from = {0};
    dnnl_dims_t unit;
    tsr_dtype dtype;
    tsr_desc made;
    if (!tsr_md_is_there(md))
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a memory descriptor, found NULL");
    tsr_status status = check_kind(md, error);
    if (status != TSR_OK)
        return status;
    dnnl_status_t answer = tsr_md_read(&from, md);
    if (answer != dnnl_success)
        return tsr_fail(error, TSR_UNSUPPORTED, "oneDNN does not show the memory descriptor: %s",
                        dnnl_status2str(answer));
    if (!tsr_dtype_of_onednn(&dtype, from.type))
        return tsr_fail(error, TSR_UNSUPPORTED, "oneDNN's type %s (number %d) is none of ours",
                        tsr_md_type_name(from.type), (int)from.type);
    if (!is_known(from.dims, from.rank) || !is_known(from.padded_dims, from.rank) ||
        !is_known(from.strides, from.rank) || !is_known(&from.start, 1))
        return tsr_fail(error, TSR_UNSUPPORTED, "the memory descriptor has dims or strides of run time");
    status = multiply_blocks(unit, &from, error);
    if (status == TSR_OK)
        status = skip_padding(&from, unit, error);
    if (status == TSR_OK)
        status = make_desc(&made, dtype, &from, unit, error);
    if (status != TSR_OK)
        return status;
    if (tsr_md_has_extra(md, size_of_elements(&made)))
        return tsr_fail(error, TSR_UNSUPPORTED,
                        "the memory descriptor is opaque: it carries more than its elements, such as a compensation");
    *desc = made;
    return TSR_OK;
}
