/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_IN_PLACE_H
#define TESSERA_SRC_REORDER_IN_PLACE_H

#include <tessera/reorder.h>

#include "reorder/box.h"
#include "reorder/reason.h"
#include "reorder/request.h"

/*
 * Ways to reorder a tensor in its own buffer, as rows of the selection table (select.h):
 *
 *     elementwise  every element stays where it is, and is at most converted
 *     square       two loops of equal length change places: tiles are exchanged
 *     slices       the source, or a slice of it that is reordered by itself, goes through scratch memory
 *     cycles       the elements of a permutation go round
 */

/* So many loops of each kind are looked for; fused nests have few. */
enum { TSR_BATCH_LOOPS = 8, TSR_CYCLE_DIGITS = 12 };

/*
 * Loops over parts of a buffer that are reordered each by itself, outermost first, in elements; both
 * sides move by the same bytes. Of the innermost one, a part has `kept` steps, which divide its n.
 */
typedef struct tsr_batch {
    int count;
    int64_t n; /* parts */
    int64_t kept;
    tsr_loop loop[TSR_BATCH_LOOPS];
} tsr_batch;

/* Where part i begins, in elements of the destination. */
int64_t tsr_batch_at(const tsr_batch *batch, int64_t i);

/* Adds a loop, of which parts keep one step; false when there is no room. */
bool tsr_batch_add(tsr_batch *batch, const tsr_loop *loop);

/* The nest of the first part. Each loop of the batch is a loop of the nest. */
void tsr_batch_cut(const tsr_batch *batch, const tsr_nest *nest, tsr_nest *part);

/*
 * n x n units: unit (i, j) is at i * row + j * column, and what it holds goes to j * row + i * column. In
 * bytes.
 */
typedef struct tsr_square {
    int64_t n, row, column;
    int64_t unit;
    bool has_kernel;  /* there are kernels for its width */
    bool crowds_sets; /* rows of a tile do, so that both tiles go by scratch memory */
    int64_t start;
    int64_t tile; /* units of one side of a tile */
} tsr_square;

/*
 * A permutation of units, counted as they lie in memory: what belongs at unit p, the sum of its digits
 * i[k] * dst[k], is at the sum of i[k] * src[k], from src_start. In units.
 */
typedef struct tsr_cycles {
    int64_t units;
    int64_t unit;  /* bytes of one, */
    int64_t pitch; /* and from one to the next */
    int64_t start; /* of the first, in bytes */
    int count;
    int64_t src_start;
    int64_t src[TSR_CYCLE_DIGITS], dst[TSR_CYCLE_DIGITS];
} tsr_cycles;

/* What a row in place has found, and runs by. */
typedef struct tsr_way {
    tsr_batch batch;
    int tasks;             /* that share the parts */
    int64_t scratch_bytes; /* of each task */
    tsr_span slice;        /* of the source: what is copied for the first part */
    tsr_square square;
    tsr_cycles cycles;
    tsr_plan *after; /* converts elements that have been moved in the type of the source; or NULL */
} tsr_way;

/* ---- for the rows ---- */

/* All loops of a box, forwards in the destination and fused. */
void tsr_nest_of_box(tsr_nest *nest, const tsr_box *box);

/* The nest of a tensor that is one box without tables, moved bit by bit before anything is converted. */
bool tsr_in_place_nest(const tsr_plan *plan, tsr_nest *nest, char reason[TSR_REASON_SIZE]);

/* Makes way->after. TSR_UNSUPPORTED, TSR_OUT_OF_MEMORY. */
tsr_status tsr_in_place_prepare_after(tsr_plan *plan, char reason[TSR_REASON_SIZE]);

/* Converts what has been moved, and zeroes padding. */
tsr_status tsr_in_place_finish(const tsr_plan *plan, void *buffer, tsr_error *error);

/* Tasks that are worth sharing the parts, if each takes so much scratch memory. */
int tsr_in_place_tasks(const tsr_plan *plan, int64_t parts, int64_t scratch_bytes);

/* Does one part, which begins at `at`, on so many threads. */
typedef void (*tsr_part)(const tsr_plan *plan, char *at, char *scratch, int threads);

/* Does all parts, with scratch memory for each task. TSR_OUT_OF_MEMORY, before anything is done. */
tsr_status tsr_in_place_run_parts(const tsr_plan *plan, void *buffer, tsr_part part, tsr_error *error);

/* ---- the rows ---- */

bool tsr_elementwise_applies(const tsr_plan *plan, char reason[TSR_REASON_SIZE]);
double tsr_elementwise_cost(const tsr_plan *plan);
tsr_status tsr_elementwise_run(const tsr_plan *plan, const void *src, void *dst, tsr_error *error);

bool tsr_square_applies(const tsr_plan *plan, char reason[TSR_REASON_SIZE]);
double tsr_square_cost(const tsr_plan *plan);
tsr_status tsr_square_prepare(tsr_plan *plan, char reason[TSR_REASON_SIZE]);
tsr_status tsr_square_run(const tsr_plan *plan, const void *src, void *dst, tsr_error *error);

bool tsr_slices_applies(const tsr_plan *plan, char reason[TSR_REASON_SIZE]);
double tsr_slices_cost(const tsr_plan *plan);
tsr_status tsr_slices_prepare(tsr_plan *plan, char reason[TSR_REASON_SIZE]);
tsr_status tsr_slices_run(const tsr_plan *plan, const void *src, void *dst, tsr_error *error);

bool tsr_cycles_applies(const tsr_plan *plan, char reason[TSR_REASON_SIZE]);
double tsr_cycles_cost(const tsr_plan *plan);
tsr_status tsr_cycles_prepare(tsr_plan *plan, char reason[TSR_REASON_SIZE]);
tsr_status tsr_cycles_run(const tsr_plan *plan, const void *src, void *dst, tsr_error *error);

#endif
