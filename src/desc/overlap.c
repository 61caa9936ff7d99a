/* SPDX-License-Identifier: Apache-2.0 */
#include "desc/overlap.h"

#include "base/int.h"
#include "desc/sorted.h"

enum { MAX_WORK = 20000 };

struct search {
    const tsr_sorted_levels *sorted;
    int lowest; /* levels below it have stride 0, and are not looked at */
    int work;   /* what is left of it */
};

/*
 * Two cells differ by d[j] steps of each level, |d[j]| <= steps[j]. Can the levels below j make up
 * the distance, which they reach, to a common place, not all d of the levels so far being 0 if `differs`?
 */
static tsr_overlap meet(struct search *search, int j, int64_t distance, bool differs)
{
    const tsr_sorted_levels *sorted = search->sorted;
    if (j == search->lowest)
        return differs ? TSR_CELLS_SHARE : TSR_CELLS_APART;
    if (--search->work < 0)
        return TSR_CELLS_UNKNOWN;
    int64_t stride = sorted->stride[j - 1], steps = sorted->steps[j - 1], rest = sorted->reach[j - 1];
    /* all d with |distance - d * stride| <= rest; the mirror image of a first difference is the same pair */
    int64_t most = (int64_t)(((uint64_t)distance + (uint64_t)rest) / (uint64_t)stride);
    int64_t least = distance > rest ? tsr_ceil_div(distance - rest, stride) : -((rest - distance) / stride);
    tsr_overlap worst = TSR_CELLS_APART;
    for (int64_t d = tsr_max(least, differs ? -steps : 0); d <= tsr_min(most, steps) && worst == TSR_CELLS_APART; d++) {
        int64_t left = distance - d * stride;
        worst = meet(search, j - 1, left < 0 ? -left : left, differs || d != 0);
    }
    return worst;
}

tsr_overlap tsr_levels_overlap(const tsr_desc *desc, bool ignore_zero, int *level, int64_t *reach)
{
    tsr_sorted_levels sorted;
    struct search search = {.sorted = &sorted, .work = MAX_WORK};
    tsr_sort_levels(&sorted, desc);
    while (ignore_zero && search.lowest < sorted.count && sorted.stride[search.lowest] == 0)
        search.lowest++;
    for (int j = search.lowest; j < sorted.count; j++) {
        if (sorted.stride[j] > sorted.reach[j])
            continue;
        *level = sorted.level[j];
        *reach = sorted.reach[j];
        return sorted.stride[j] == 0 ? TSR_CELLS_SHARE : meet(&search, sorted.count, 0, false);
    }
    return TSR_CELLS_APART;
}
