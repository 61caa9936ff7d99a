/* SPDX-License-Identifier: Apache-2.0 */
#include "desc/sorted.h"

void tsr_sort_levels(tsr_sorted_levels *sorted, const tsr_desc *desc)
{
    int n = 0;
    for (int i = 0; i < desc->levels; i++) {
        if (desc->block_dims[i] < 2)
            continue;
        int64_t stride = desc->strides[i] < 0 ? -desc->strides[i] : desc->strides[i];
        int at = n++;
        for (; at > 0 && sorted->stride[at - 1] > stride; at--) {
            sorted->level[at] = sorted->level[at - 1];
            sorted->stride[at] = sorted->stride[at - 1];
            sorted->steps[at] = sorted->steps[at - 1];
        }
        sorted->level[at] = i;
        sorted->stride[at] = stride;
        sorted->steps[at] = desc->block_dims[i] - 1;
    }
    sorted->count = n;
    sorted->reach[0] = 0;
    for (int j = 0; j < n; j++)
        sorted->reach[j + 1] = sorted->reach[j] + sorted->steps[j] * sorted->stride[j];
}
