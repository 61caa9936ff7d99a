/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_WORKSHOP_H
#define TESSERA_SRC_REORDER_WORKSHOP_H

#include <tessera/reorder.h>
#include <tessera/topology.h>

#include "reorder/convert.h"

/* What the boxes of a plan are made for. */
typedef struct tsr_workshop {
    const tsr_kernels *kernels;
    const tsr_conversion *conversion;
    const tsr_topology *topology;
    int threads;
    int64_t tile_bytes; /* as in the options of a plan */
    const tsr_allocator *allocator;
    bool exceeds_l1, exceeds_l2; /* what a run reads and writes */
    bool is_soon_read;           /* what it writes (TSR_STREAMING_NEVER): so does a leg of a relay, whose source may be
                                    larger than its own share of it */
    bool is_near;                /* it exceeds the second-level cache, and the last one is near, */
    bool is_far;                 /* or it is not */
    bool has_deep_sets;          /* the last one is near, and sets of the first are deep (tsr_has_deep_sets) */
    /* all of these are false where nothing may be streamed */
    bool must_stream;      /* past the caches, wherever it can, whatever its size */
    bool streams;          /* it must, or exceeds the second-level cache and is huge if the last one is near */
    bool streams_copies;   /* or is as large as is worth it for copies, of which a near last cache takes more */
    bool may_stream_lines; /* it streams, and kernels can write lines past the caches; or it exceeds the second-level
                              cache, and several lines of a row may be written at once where rows crowd deep sets */
    bool is_huge;          /* it takes more of the last cache than is left by others */
    double l3_share;       /* how much of the last cache it takes, less with several threads */
} tsr_workshop;

/* Does the kernel of a transpose complete a line by two halves, where a near last cache takes it as it comes? */
static inline bool tsr_writes_near_halves(const tsr_workshop *workshop)
{
    return workshop->topology->has_near_l3 && !workshop->has_deep_sets &&
           tsr_writes_halves(workshop->kernels, workshop->conversion->dst_bytes);
}

/* Do source and destination take more than half of the last cache, as measured beside deep sets? What takes less is
 * found there for the most part, though others use it as well. */
static inline bool tsr_takes_half_of_l3(const tsr_workshop *workshop)
{
    static const double half = 0.55;
    return workshop->l3_share > half;
}

void tsr_workshop_init(tsr_workshop *workshop, const tsr_plan *plan);

#endif
