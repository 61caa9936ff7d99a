/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_BLOCKED_COMPOUND_H
#define TESSERA_SRC_BLOCKED_COMPOUND_H

#include <tessera/compound.h>

#include "base/ref.h"
#include "blocked/blob.h"

/* One of the two; the other is NULL. */
typedef struct tsr_compound_part {
    tsr_blob *blob;
    tsr_compound *yuv; /* of a batch */
} tsr_compound_part;

struct tsr_compound {
    tsr_ref ref;
    tsr_compound_kind kind;
    tsr_tensor_desc desc;
    tsr_allocator allocator;
    int count;
    tsr_compound_part parts[];
};

/* One whose parts are still to come. TSR_OUT_OF_MEMORY. */
tsr_status tsr_compound_make(tsr_compound **made, tsr_compound_kind kind, int count, const tsr_allocator *allocator,
                             tsr_error *error);

/* One with references to blobs, of which none but NULL is refused. TSR_INVALID_ARGUMENT, TSR_OUT_OF_MEMORY. */
tsr_status tsr_compound_make_of_blobs(tsr_compound **made, tsr_compound_kind kind, tsr_blob *const *blobs, int count,
                                      tsr_error *error);

/* The end of all that make one: gives it away, or frees it. Returns the status. */
tsr_status tsr_compound_finish(tsr_compound **compound, tsr_compound *made, tsr_status status);

/* Is it NV12 or I420? */
bool tsr_compound_is_yuv(const tsr_compound *compound);

/* The rectangle of a plane, where that of the image lies inside of luma, which is the first plane. */
tsr_roi tsr_yuv_region_of_plane(const tsr_roi *roi, int plane);

/* The tensor that a batch, whose parts are there, stands for in a layout. TSR_OVERFLOW. */
tsr_status tsr_batch_describe(tsr_compound *batch, tsr_ie_layout layout, tsr_error *error);

#endif
