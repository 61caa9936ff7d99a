/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/desc.h>

#include "base/error.h"
#include "base/int.h"
#include "desc/check.h"

static tsr_status set_dense_strides(tsr_desc *desc, tsr_error *error)
{
    int64_t stride = 1;
    for (int i = desc->levels - 1; i >= 0; i--) {
        desc->strides[i] = stride;
        if (!tsr_mul(stride, desc->block_dims[i], &stride))
            return tsr_fail(error, TSR_OVERFLOW, "the product of the block dims does not fit into 63 bits");
    }
    return TSR_OK;
}

/* Copies the memory half in; only what indexes arrays is checked here. */
static tsr_status set_blocking(tsr_desc *desc, const tsr_blocking *blocking, tsr_error *error)
{
    if (blocking->levels < 0 || blocking->levels > TSR_MAX_LEVELS)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected 0 to %d block levels, found %d", TSR_MAX_LEVELS,
                        blocking->levels);
    desc->levels = blocking->levels;
    desc->offset = blocking->offset;
    for (int i = 0; i < blocking->levels; i++) {
        if (blocking->order[i] < 0 || blocking->order[i] >= desc->rank)
            return tsr_fail(error, TSR_INVALID_ARGUMENT, "order[%d] is %d, expected an axis below the rank %d", i,
                            blocking->order[i], desc->rank);
        desc->order[i] = (uint8_t)blocking->order[i];
        desc->block_dims[i] = blocking->block_dims[i];
        desc->strides[i] = blocking->strides ? blocking->strides[i] : 0;
        desc->pad_before[i] = blocking->pad_before ? blocking->pad_before[i] : 0;
    }
    for (int k = 0; k < desc->rank; k++) {
        desc->first[k] = blocking->first ? blocking->first[k] : 0;
        desc->step[k] = blocking->step ? blocking->step[k] : 0;
    }
    return blocking->strides ? TSR_OK : set_dense_strides(desc, error);
}

tsr_status tsr_desc_blocked(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims,
                            const tsr_blocking *blocking, tsr_error *error)
{
    tsr_desc made = {.dtype = dtype, .rank = rank};
    tsr_status status = tsr_check_shape(dtype, rank, dims, error);
    if (status != TSR_OK)
        return status;
    for (int k = 0; k < rank; k++)
        made.dims[k] = dims[k];
    status = set_blocking(&made, blocking, error);
    if (status == TSR_OK)
        status = tsr_desc_check(&made, blocking->read_only, error);
    if (status == TSR_OK)
        *desc = made;
    return status;
}

tsr_status tsr_desc_strided(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims, const int64_t *strides,
                            int64_t offset, tsr_error *error)
{
    static const int order[TSR_MAX_RANK] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                            16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    tsr_blocking blocking = {.levels = rank, .block_dims = dims, .order = order, .strides = strides, .offset = offset};
    return tsr_desc_blocked(desc, dtype, rank, dims, &blocking, error);
}

tsr_status tsr_desc_plain(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims, tsr_error *error)
{
    return tsr_desc_strided(desc, dtype, rank, dims, NULL, 0, error);
}

int64_t tsr_desc_elements(const tsr_desc *desc)
{
    int64_t elements = 1;
    for (int k = 0; k < desc->rank; k++)
        elements *= desc->dims[k];
    return elements;
}

int64_t tsr_desc_padded_elements(const tsr_desc *desc)
{
    int64_t cells = 1;
    for (int k = 0; k < desc->rank; k++)
        if (desc->step[k] != 0)
            cells *= desc->dims[k];
    for (int i = 0; i < desc->levels; i++)
        if (desc->step[desc->order[i]] == 0)
            cells *= desc->block_dims[i];
    return cells;
}

void tsr_desc_span(const tsr_desc *desc, int64_t *first, int64_t *end)
{
    int64_t low = desc->offset, high = desc->offset;
    bool empty = false;
    for (int i = 0; i < desc->levels; i++) {
        int64_t before = desc->pad_before[i] * desc->strides[i];
        int64_t reach = (tsr_max(desc->block_dims[i], 1) - 1) * desc->strides[i];
        low += before + tsr_min(reach, 0);
        high += before + tsr_max(reach, 0);
        empty |= desc->block_dims[i] == 0;
    }
    *first = empty ? 0 : low;
    *end = empty ? 0 : high + 1;
}

int64_t tsr_desc_size_bytes(const tsr_desc *desc)
{
    int64_t first, end;
    tsr_desc_span(desc, &first, &end);
    int64_t bits = tsr_dtype_bits(desc->dtype);
    return bits < 8 ? end / 8 * bits + (end % 8 * bits + 7) / 8 : end * (bits / 8);
}
