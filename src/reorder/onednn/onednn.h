/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_ONEDNN_ONEDNN_H
#define TESSERA_SRC_REORDER_ONEDNN_ONEDNN_H

#include <tessera/reorder.h>

#include "reorder/reason.h"

/*
 * A reorder by oneDNN. Without oneDNN in the build every call declines with that reason.
 *
 * oneDNN is distrusted: a reorder is admitted only when its class (pair of types, with or without scale, tags or strides) has
 * passed a test against tsr_reorder_by_definition. The test runs once for each class in a process, when the
 * first plan of that class asks for it.
 */
typedef struct tsr_onednn tsr_onednn;

typedef struct tsr_onednn_problem {
    const tsr_desc *src;
    const tsr_desc *dst;
    const float *scale; /* NULL: none */
    int64_t scale_count;
    int scale_axis;
    bool has_mean;
    int threads; /* 0: as many as there are */
    const tsr_allocator *allocator;
} tsr_onednn_problem;

/* Could oneDNN be asked at all? Looks at types and layouts only. */
bool tsr_onednn_can_express(const tsr_onednn_problem *problem, char reason[TSR_REASON_SIZE]);

/* TSR_UNSUPPORTED, and why, when the class failed its test or oneDNN has no such reorder. TSR_OUT_OF_MEMORY. */
tsr_status tsr_onednn_create(tsr_onednn **onednn, const tsr_onednn_problem *problem, bool untested,
                             char reason[TSR_REASON_SIZE]);

/* Any thread; runs of one object follow one another. TSR_UNSUPPORTED when oneDNN fails. */
tsr_status tsr_onednn_run(tsr_onednn *onednn, const void *src, void *dst, tsr_error *error);

void tsr_onednn_free(tsr_onednn **onednn);

/* ---- for the self-test ---- */

/* Which class of the self-test a problem belongs to. */
typedef struct tsr_onednn_class {
    tsr_dtype src, dst;
    bool scaled;
    bool strided; /* some side is described by strides, not by a tag */
} tsr_onednn_class;

/* Has this class passed? Tests it at the first call. reason says what went wrong. */
bool tsr_onednn_is_trusted(const tsr_onednn_class *class, char reason[TSR_REASON_SIZE]);

#endif
