/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/algebra.h>

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/int.h"
#include "desc/digits.h"
#include "desc/sorted.h"

enum { MAX_WORK = 20000 };

/* Steps of the levels that add up to an offset. */
struct search {
    const tsr_desc *desc;
    tsr_sorted_levels sorted;
    int64_t step[TSR_MAX_LEVELS]; /* by level */
    int work;
    bool given_up;
    tsr_cell cell; /* the best so far */
    int64_t index[TSR_MAX_RANK];
};

/* What the steps of all levels together stand for. */
static tsr_cell cell_of(const tsr_desc *desc, const int64_t *step, int64_t *index)
{
    tsr_cell cell = TSR_CELL_ELEMENT;
    memset(index, 0, TSR_MAX_RANK * sizeof *index);
    for (int i = 0; i < desc->levels; i++)
        index[desc->order[i]] = index[desc->order[i]] * desc->block_dims[i] + step[i];
    for (int k = 0; k < desc->rank; k++) {
        int64_t behind = index[k] - desc->first[k], by = desc->step[k];
        if (by != 0 && (behind < 0 || behind % by != 0 || behind / by >= desc->dims[k]))
            return TSR_CELL_NONE;
        if (by != 0)
            index[k] = behind / by;
        else if (index[k] >= desc->dims[k])
            cell = TSR_CELL_PADDING;
    }
    return cell;
}

static void take(struct search *search)
{
    int64_t index[TSR_MAX_RANK];
    tsr_cell cell = cell_of(search->desc, search->step, index);
    if (cell > search->cell) {
        search->cell = cell;
        memcpy(search->index, index, sizeof index);
    }
}

/* All ways in which the levels below j reach the rest, until an element is found. */
static void reach(struct search *search, int j, int64_t rest)
{
    const tsr_sorted_levels *sorted = &search->sorted;
    if (--search->work < 0) {
        search->given_up = true;
        return;
    }
    if (j == 0) {
        take(search);
        return;
    }
    int level = sorted->level[j - 1];
    int64_t stride = sorted->stride[j - 1], steps = sorted->steps[j - 1], below = sorted->reach[j - 1];
    int64_t least = stride > 0 && rest > below ? tsr_ceil_div(rest - below, stride) : 0;
    int64_t most = stride > 0 ? tsr_min(rest / stride, steps) : steps;
    for (int64_t d = least; d <= most && search->cell != TSR_CELL_ELEMENT && !search->given_up; d++) {
        search->step[level] = search->desc->strides[level] < 0 ? steps - d : d;
        reach(search, j - 1, rest - d * stride);
    }
}

tsr_status tsr_desc_index(const tsr_desc *desc, int64_t offset, tsr_cell *cell, int64_t *index, tsr_error *error)
{
    struct search search = {.desc = desc, .work = MAX_WORK, .cell = TSR_CELL_NONE};
    int64_t first, end;
    tsr_desc_span(desc, &first, &end);
    if (offset >= first && offset < end) {
        tsr_sort_levels(&search.sorted, desc);
        reach(&search, search.sorted.count, offset - first);
    }
    if (search.given_up)
        return tsr_fail(error, TSR_UNSUPPORTED, "too many levels interleave to search for offset %" PRId64, offset);
    *cell = search.cell;
    for (int k = 0; search.cell == TSR_CELL_ELEMENT && k < desc->rank; k++)
        index[k] = search.index[k];
    return TSR_OK;
}
