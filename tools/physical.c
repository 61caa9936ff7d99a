/* SPDX-License-Identifier: Apache-2.0 */
#include "physical.h"

#include <string.h>

#include "refuse.h"

static tsr_status mismatch(const tsr_desc *expected, const tsr_desc *array, const char *layout, tsr_error *error)
{
    char want[TSR_TEXT_SIZE], have[TSR_TEXT_SIZE];
    tsr_dims_print(expected->block_dims, expected->levels, want, sizeof want);
    tsr_dims_print(array->dims, array->rank, have, sizeof have);
    return refuse(error, TSR_INVALID_ARGUMENT, "layout %.60s: expected an array of %.70s, found %.70s", layout, want,
                  have);
}

/* The dims that fill every block: the product of an axis' levels. */
static tsr_status full_dims(int64_t *dims, int *rank, const tsr_desc *array, const char *text, tsr_error *error)
{
    tsr_layout layout;
    if (text[0] == '[')
        return refuse(error, TSR_INVALID_ARGUMENT, "layout \"%.80s\" needs --dims", text);
    tsr_status status = tsr_layout_parse(&layout, text, error);
    if (status != TSR_OK)
        return status;
    if (layout.levels != array->rank)
        return refuse(error, TSR_INVALID_ARGUMENT, "layout %.60s has %d levels, the array has %d axes", text,
                      layout.levels, array->rank);
    *rank = layout.rank;
    for (int k = 0; k < layout.rank; k++)
        dims[k] = 1;
    for (int i = 0; i < layout.levels; i++)
        dims[layout.order[i]] *= array->dims[i];
    return TSR_OK;
}

tsr_status desc_of_array(tsr_desc *desc, const tsr_desc *array, const char *layout, const int64_t *dims, int rank,
                         tsr_error *error)
{
    int64_t found[TSR_MAX_RANK];
    int order[TSR_MAX_LEVELS];
    tsr_desc named;
    tsr_status status = TSR_OK;
    if (dims)
        memcpy(found, dims, (size_t)rank * sizeof *dims);
    else
        status = full_dims(found, &rank, array, layout, error);
    if (status == TSR_OK)
        status = tsr_desc_from_layout(&named, array->dtype, rank, found, layout, error);
    if (status != TSR_OK)
        return status;
    if (named.levels != array->rank ||
        memcmp(named.block_dims, array->dims, (size_t)named.levels * sizeof array->dims[0]) != 0)
        return mismatch(&named, array, layout, error);
    if (!is_dense(&named))
        return refuse(error, TSR_INVALID_ARGUMENT, "layout \"%.80s\" has gaps, which a file cannot keep", layout);
    for (int i = 0; i < named.levels; i++)
        order[i] = named.order[i];
    tsr_blocking blocking = {
        .levels = named.levels, .block_dims = named.block_dims, .order = order, .strides = array->strides};
    return tsr_desc_blocked(desc, array->dtype, rank, found, &blocking, error);
}

bool is_dense(const tsr_desc *desc)
{
    int64_t stride = 1;
    if (tsr_desc_elements(desc) == 0)
        return true;
    for (int i = desc->levels - 1; i >= 0; i--) {
        if ((desc->block_dims[i] > 1 && desc->strides[i] != stride) || desc->pad_before[i] != 0)
            return false;
        stride *= desc->block_dims[i] > 0 ? desc->block_dims[i] : 1;
    }
    return desc->offset == 0;
}
