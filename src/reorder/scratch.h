/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_SCRATCH_H
#define TESSERA_SRC_REORDER_SCRATCH_H

#include <stdint.h>

#include <tessera/memory.h>
#include <tessera/status.h>

/*
 * Tiles are moved in groups of rows, by way of scratch memory where elements are converted, buffered or
 * streamed. This is how a group lies there: as rows of elements of the source type or of the
 * destination type, one behind the other, or as columns of the latter. All offsets are in bytes; the
 * tables are what kernels want to see.
 */
typedef struct tsr_scratch {
    int64_t rows, columns;            /* of a group, at most */
    int64_t *src_row, *dst_row;       /* r * columns * size of an element */
    int64_t *src_column, *dst_column; /* c * size of an element */
    int64_t *column;                  /* c * rows * size of an element: columns of the destination type, */
    int64_t *src_line;                /* c * rows: and columns of a packed source, as bytes */
    int64_t entries;                  /* of all tables */
} tsr_scratch;

/* No group takes more bytes, of either type. */
#define TSR_SCRATCH_BYTES (24 << 10)

/*
 * No table is longer: where groups have more rows or columns, kernels know where they lie, as they are
 * interleaved or side by side.
 */
#define TSR_SCRATCH_ROWS 1024
#define TSR_SCRATCH_COLUMNS (1024 + 64)

/* rows and columns are there. TSR_OUT_OF_MEMORY. */
tsr_status tsr_scratch_init(tsr_scratch *scratch, int64_t src_bytes, int64_t dst_bytes, const tsr_allocator *allocator);

/* {0} is accepted. */
void tsr_scratch_reset(tsr_scratch *scratch, const tsr_allocator *allocator);

#endif
