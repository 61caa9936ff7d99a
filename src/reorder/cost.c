/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/cost.h"

#include "base/int.h"

/* Cost of a byte that moves, and of a tile's row that is begun, the latter in bytes of memcpy. */
static double cost_of_box(const tsr_box *box, const tsr_conversion *conversion)
{
    double bytes = (double)(conversion->src_bytes + conversion->dst_bytes) / 2;
    double per_element, columns = (double)tsr_max(box->column.n, 1), rows = (double)tsr_max(box->row.n, 1);
    switch (box->motion) {
    case TSR_MOTION_COPY:
        per_element = bytes * 1.1 + 40 / columns;
        break;
    case TSR_MOTION_TRANSPOSE:
        per_element = bytes * 1.3 + 8 / (rows < columns ? rows : columns);
        break;
    case TSR_MOTION_STRIDED:
        per_element = bytes + 12;
        break;
    default:
        per_element = bytes + 16;
        break;
    }
    if (!conversion->is_copy)
        per_element += 2;
    return per_element * (double)box->elements;
}

double tsr_cost_of_boxes(const tsr_plan *plan)
{
    double cost = 0, bytes = (double)(plan->conversion.src_bytes + plan->conversion.dst_bytes) / 2;
    double elements = (double)tsr_desc_elements(&plan->dst);
    for (int i = 0; i < plan->element_boxes; i++)
        cost += cost_of_box(&plan->boxes[i], &plan->conversion);
    return elements > 0 ? cost / (bytes * elements) : 0;
}

/* What oneDNN needs, by the width of the wider type: 8-bit reorders crawl, 32-bit ones come close to memory. */
double tsr_cost_of_onednn(const tsr_plan *plan)
{
    static const double by_width[] = {14, 5, 1.6, 3};
    int64_t bytes = tsr_max(plan->conversion.src_bytes, plan->conversion.dst_bytes);
    return by_width[__builtin_ctzll((unsigned long long)bytes)];
}
