/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/scratch.h"

#include "base/alloc.h"
#include "base/int.h"

static int64_t *lay_out(int64_t **next, int64_t n, int64_t step)
{
    int64_t *table = *next;
    for (int64_t i = 0; i < n; i++)
        table[i] = i * step;
    *next += n;
    return table;
}

tsr_status tsr_scratch_init(tsr_scratch *scratch, int64_t src_bytes, int64_t dst_bytes, const tsr_allocator *allocator)
{
    int64_t rows = tsr_min(scratch->rows, TSR_SCRATCH_ROWS), columns = tsr_min(scratch->columns, TSR_SCRATCH_COLUMNS);
    scratch->entries = 2 * rows + 4 * columns;
    int64_t *next = tsr_allocate_zeroed(allocator, (size_t)scratch->entries, sizeof *next);
    if (!next)
        return TSR_OUT_OF_MEMORY;
    scratch->src_row = lay_out(&next, rows, scratch->columns * src_bytes);
    scratch->dst_row = lay_out(&next, rows, scratch->columns * dst_bytes);
    scratch->src_column = lay_out(&next, columns, src_bytes);
    scratch->dst_column = lay_out(&next, columns, dst_bytes);
    scratch->column = lay_out(&next, columns, scratch->rows * dst_bytes);
    scratch->src_line = lay_out(&next, columns, scratch->rows);
    return TSR_OK;
}

void tsr_scratch_reset(tsr_scratch *scratch, const tsr_allocator *allocator)
{
    tsr_deallocate(allocator, scratch->src_row, (size_t)scratch->entries * sizeof *scratch->src_row);
    *scratch = (tsr_scratch){0};
}
