/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_PLAN_H
#define TESSERA_SRC_REORDER_PLAN_H

#include <tessera/reorder.h>

#include "reorder/box.h"
#include "reorder/in_place.h"
#include "reorder/lower.h"
#include "reorder/map.h"
#include "reorder/onednn/onednn.h"
#include "reorder/reason.h"
#include "reorder/relay.h"
#include "reorder/request.h"

/* What the selection found out about one row. */
typedef struct tsr_row_state {
    bool applicable;
    double cost;
    char reason[TSR_REASON_SIZE];
} tsr_row_state;

typedef struct tsr_row tsr_row;

enum { TSR_ROWS = 11 };

/* A thread is worth its waking only for so many bytes that memcpy copies, or what takes as long. */
enum { TSR_BYTES_PER_THREAD = 128 << 10 };

struct tsr_plan {
    tsr_desc src, dst;
    tsr_opaque opaque; /* its memory descriptors are the caller's, and not looked at after create */
    tsr_span src_span, dst_span;
    tsr_padding padding;
    tsr_streaming streaming;
    int64_t tile_bytes;
    const tsr_wisdom *wisdom; /* the caller's, for plans within; not looked at after create */
    bool in_place;
    int64_t scratch_bytes; /* the most in a run, in place */
    bool untested;
    int threads;
    tsr_executor executor;
    bool has_own_executor; /* the caller's, not the default */
    tsr_allocator allocator;

    tsr_kernels kernels;
    tsr_conversion conversion;
    int64_t unit;         /* elements that boxes move as one */
    tsr_conversion moved; /* what boxes do: the conversion, but for units, and by maps if there are some, */
    uint8_t maps[TSR_MOST_MAPS][TSR_MAP_BYTES]; /* which are these */
    bool has_mean, has_shift;
    int factor_axis;
    int64_t factor_count, factor_room;
    float *factors; /* factor_room means, as many scales and as many shifts; NULL without arithmetic */

    tsr_lowering lowering;
    int element_boxes, zero_boxes;
    tsr_box *boxes;           /* those of elements first */
    const tsr_box *principal; /* the box with the most elements, or NULL */
    tsr_plain plain;          /* by which a relay goes, or would */
    double cost_of_stages;    /* what a relay is expected to cost by the plans of its stages; 0: not known */

    const tsr_row *row;
    bool is_tuned; /* wisdom named it */
    tsr_row_state rows[TSR_ROWS];
    tsr_onednn *onednn;     /* only when its row was taken */
    tsr_way way;            /* likewise for the rows in place */
    tsr_relay *relay;       /* only when its row was taken, or may still be */
    const char *row_kernel; /* of a row that does not run the boxes as they are; NULL: that of the boxes */
    int row_threads;        /* likewise; 0: those of the boxes */
};

/*
 * tsr_plan_create, where only oneDNN may know the layout of a side. Such a plan has no boxes, and the row
 * "onednn" is the only one that can apply.
 */
tsr_status tsr_plan_make(tsr_plan **plan, const tsr_desc *src, const tsr_desc *dst, const tsr_opaque *opaque,
                         const tsr_reorder_options *options, tsr_error *error);

/* Are both sides the same memory, so that nothing moves if they are one buffer? */
bool tsr_plan_is_same_memory(const tsr_plan *plan);

/* Values of the plan, one for each index, as factors for another plan; NULL: none. */
tsr_factors tsr_plan_factors(const tsr_plan *plan, const float *values);

/* Makes the boxes anew, without the loops over slices in plan->way. TSR_OUT_OF_MEMORY. */
tsr_status tsr_plan_make_boxes(tsr_plan *plan);

/* What memcpy would copy meanwhile: half of the bytes read and written for so many elements. In double, as nothing here
 * may overflow for a tensor that only a plan is made for. */
double tsr_plan_copied_bytes(const tsr_plan *plan, double elements);

/* As many of its threads as are worth their waking for what takes as long as memcpy of so many bytes, in so many parts:
 * at least one. And for elements as such, before it is known how they are moved. */
int tsr_plan_threads_worth(const tsr_plan *plan, double bytes, int64_t parts);
int tsr_plan_busy_threads(const tsr_plan *plan);

/* Zeroes the padding, then moves the elements. Either half alone, too. */
void tsr_plan_run_boxes(const tsr_plan *plan, const void *src, void *dst);
void tsr_plan_move_elements(const tsr_plan *plan, const void *src, void *dst, int threads);
void tsr_plan_zero_padding(const tsr_plan *plan, void *dst);

/* Runs the boxes, which have to be what the plan's row runs, on one thread, with the tables of `factors` from entry
 * `first` on. The plan has arithmetic. */
void tsr_plan_run_with_factors(const tsr_plan *plan, const tsr_arithmetic *factors, int64_t first, const void *src,
                               void *dst);

/* memcpy on at most so many threads. */
void tsr_plan_copy_bytes(const tsr_plan *plan, void *dst, const void *src, int64_t bytes, int threads);

#endif
