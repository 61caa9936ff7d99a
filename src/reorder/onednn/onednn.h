/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_ONEDNN_ONEDNN_H
#define TESSERA_SRC_REORDER_ONEDNN_ONEDNN_H

#include <tessera/reorder.h>

#include "desc/tag.h"
#include "reorder/reason.h"

/*
 * A reorder by oneDNN. Without oneDNN in the build every call declines with that reason.
 *
 * oneDNN is distrusted: a reorder is admitted only when oneDNN has moved small tensors with ragged dims from the same
 * layout and type to the same layout and type, with a scale of the same kind, by the same one of its implementations,
 * and has given what tsr_reorder_by_definition gives. That test runs once in a process for each such combination,
 * when the first plan asks for it. A layout that only oneDNN knows cannot be compared with anything, and is taken on
 * trust.
 */
typedef struct tsr_onednn tsr_onednn;

/*
 * Sides whose layout only oneDNN knows: their memory descriptors, NULL for a side that its tsr_desc
 * describes, and the sizes of their buffers. The tsr_desc beside a memory descriptor gives the type
 * and the dims, in plain order.
 */
typedef struct tsr_opaque {
    const void *src_md, *dst_md;
    int64_t src_bytes, dst_bytes;
} tsr_opaque;

static inline bool tsr_is_opaque(const tsr_opaque *opaque)
{
    return opaque->src_md || opaque->dst_md;
}

typedef struct tsr_onednn_problem {
    const tsr_desc *src;
    const tsr_desc *dst;
    tsr_opaque opaque;
    const float *scale; /* NULL: none */
    int64_t scale_count;
    int scale_axis;
    bool has_mean, has_shift, has_beta;
    int threads; /* 0: as many as there are */
    const tsr_allocator *allocator;
} tsr_onednn_problem;

/* Could oneDNN be asked at all? Looks at types and layouts only. */
bool tsr_onednn_can_express(const tsr_onednn_problem *problem, char reason[TSR_REASON_SIZE]);

/*
 * TSR_UNSUPPORTED, and why, when the test failed or oneDNN has no such reorder.
 * TSR_OUT_OF_MEMORY.
 */
tsr_status tsr_onednn_create(tsr_onednn **onednn, const tsr_onednn_problem *problem, bool untested,
                             char reason[TSR_REASON_SIZE]);

/* Any thread; runs of one object follow one another. TSR_UNSUPPORTED when oneDNN fails. */
tsr_status tsr_onednn_run(tsr_onednn *onednn, const void *src, void *dst, tsr_error *error);

void tsr_onednn_free(tsr_onednn **onednn);

/* oneDNN's name for what it runs: "jit:uni". Lives as long as the object. */
#define TSR_ONEDNN_NAME_SIZE 48
const char *tsr_onednn_implementation(const tsr_onednn *onednn);

/* ---- the self-test ---- */

/* What a self-test is about: one side of a reorder without its dims. */
typedef struct tsr_onednn_side {
    tsr_dtype dtype;
    char tag[TSR_TAG_SIZE]; /* the order of the axes, and the blocks, in oneDNN's words */
    bool has_gaps;          /* described by strides that leave gaps between the rows, ... */
    bool has_step;          /* ... and between the elements */
} tsr_onednn_side;

typedef struct tsr_onednn_case {
    int rank;
    tsr_onednn_side src, dst;
    bool scaled;
    int scale_axis; /* -1: one scale for the tensor */
} tsr_onednn_case;

/* Has oneDNN passed, and by this implementation? Tests it at the first call. reason says what went wrong. */
bool tsr_onednn_is_trusted(const tsr_onednn_case *wanted, const char *implementation, char reason[TSR_REASON_SIZE]);

#endif
