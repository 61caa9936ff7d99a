/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include <tessera/desc.h>

#include "base/error.h"

/* The oracle. tsr_desc_check has shown that nothing here can overflow. */
static int64_t offset_of(const tsr_desc *desc, int64_t v[TSR_MAX_RANK])
{
    int outermost[TSR_MAX_RANK];
    int64_t offset = desc->offset;
    for (int k = 0; k < desc->rank; k++)
        if (desc->step[k] != 0)
            v[k] = desc->first[k] + v[k] * desc->step[k];
    for (int i = desc->levels - 1; i >= 0; i--)
        outermost[desc->order[i]] = i;
    for (int i = desc->levels - 1; i >= 0; i--) {
        int axis = desc->order[i];
        int64_t s = v[axis];
        if (i != outermost[axis]) {
            s %= desc->block_dims[i];
            v[axis] /= desc->block_dims[i];
        }
        offset += (s + desc->pad_before[i]) * desc->strides[i];
    }
    return offset;
}

tsr_status tsr_desc_offset(const tsr_desc *desc, int rank, const int64_t *index, int64_t *offset, tsr_error *error)
{
    int64_t v[TSR_MAX_RANK];
    if (rank != desc->rank)
        return tsr_fail(error, TSR_OUT_OF_RANGE, "expected an index of %d axes, found %d", desc->rank, rank);
    for (int k = 0; k < rank; k++) {
        if (desc->dims[k] == 0)
            return tsr_fail(error, TSR_OUT_OF_RANGE, "axis %d is empty, so that no index is in it", k);
        if (index[k] < 0 || index[k] >= desc->dims[k])
            return tsr_fail(error, TSR_OUT_OF_RANGE, "index[%d] is %" PRId64 ", expected 0 to %" PRId64, k, index[k],
                            desc->dims[k] - 1);
        v[k] = index[k];
    }
    *offset = offset_of(desc, v);
    return TSR_OK;
}

tsr_status tsr_desc_offset_linear(const tsr_desc *desc, int64_t linear, int64_t *offset, tsr_error *error)
{
    int64_t v[TSR_MAX_RANK], rest = linear, elements = tsr_desc_elements(desc);
    if (linear < 0 || linear >= elements)
        return tsr_fail(error, TSR_OUT_OF_RANGE, "linear index %" PRId64 " of a tensor with %" PRId64 " elements",
                        linear, elements);
    for (int k = desc->rank - 1; k >= 0; k--) {
        v[k] = rest % desc->dims[k];
        rest /= desc->dims[k];
    }
    *offset = offset_of(desc, v);
    return TSR_OK;
}
