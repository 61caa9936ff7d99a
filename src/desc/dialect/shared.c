/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "base/error.h"
#include "base/int.h"
#include "desc/dialect/dialect.h"
#include "desc/levels.h"

enum { FAMILY_RANKS = 7 };

static const char *const families[TSR_ROLE_COUNT][FAMILY_RANKS] = {
    [TSR_ROLE_ANY] = {"", "c", "nc", "ncw", "nchw", "ncdhw"},
    [TSR_ROLE_ACTIVATIONS] = {"", "c", "nc", "ncw", "nchw", "ncdhw"},
    [TSR_ROLE_WEIGHTS] = {"", NULL, "oi", "oiw", "oihw", "oidhw"},
    [TSR_ROLE_GROUPED_WEIGHTS] = {"", NULL, NULL, NULL, "goiw", "goihw", "goidhw"},
    [TSR_ROLE_RECURRENT] = {"", NULL, "tn", "tnc", "ldnc", "ldigo"},
};

char tsr_role_letter(tsr_role role, int rank, int axis)
{
    const char *family = rank < FAMILY_RANKS ? families[role][rank] : NULL;
    return family ? family[axis] : tsr_axis_letter(axis);
}

/* Levels of the same axis change places until the one with the larger unit comes first. */
static void sort_by_unit(tsr_dense_level *levels, int64_t *strides, int count)
{
    for (int i = 0; i < count; i++) {
        for (int j = i + 1; j < count; j++) {
            if (levels[i].axis != levels[j].axis || levels[i].unit >= levels[j].unit)
                continue;
            tsr_dense_level level = levels[i];
            int64_t stride = strides[i];
            levels[i] = levels[j];
            strides[i] = strides[j];
            levels[j] = level;
            strides[j] = stride;
        }
    }
}

tsr_status tsr_lay_dense(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims, const tsr_dense_level *levels,
                         int count, tsr_error *error)
{
    tsr_dense_level sorted[TSR_MAX_LEVELS];
    int64_t block_dims[TSR_MAX_LEVELS], strides[TSR_MAX_LEVELS], stride = 1;
    int order[TSR_MAX_LEVELS];
    for (int i = count - 1; i >= 0; i--) {
        sorted[i] = levels[i];
        strides[i] = stride;
        if (!tsr_mul(stride, tsr_max(levels[i].extent, 1), &stride))
            return tsr_fail(error, TSR_OVERFLOW, "the product of the block dims does not fit into 63 bits");
    }
    sort_by_unit(sorted, strides, count);
    for (int i = 0; i < count; i++) {
        order[i] = sorted[i].axis;
        block_dims[i] = sorted[i].extent;
    }
    tsr_blocking blocking = {.levels = count, .block_dims = block_dims, .order = order, .strides = strides};
    return tsr_desc_blocked(desc, dtype, rank, dims, &blocking, error);
}

tsr_status tsr_check_same_dims(int text_rank, const int64_t *text_dims, int rank, const int64_t *dims, tsr_error *error)
{
    if (!dims)
        return TSR_OK;
    if (text_rank != rank)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "the shape in the text has %d axes, the dims have %d", text_rank,
                        rank);
    for (int k = 0; k < rank; k++)
        if (text_dims[k] != dims[k])
            return tsr_fail(error, TSR_INVALID_ARGUMENT,
                            "axis %d of the shape in the text has %" PRId64 " indices, the dims have %" PRId64, k,
                            text_dims[k], dims[k]);
    return TSR_OK;
}
