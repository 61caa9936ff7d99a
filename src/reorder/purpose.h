/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_PURPOSE_H
#define TESSERA_SRC_REORDER_PURPOSE_H

#include <tessera/reorder.h>

/* Why a relay (relay.h) goes by tensors between. */
typedef enum tsr_purpose {
    TSR_FOR_NOTHING, /* there is nothing to gain */
    TSR_BY_PLAIN,    /* blocks that do not nest: most nest with a plain axis, of elements or of joined ones */
    TSR_IN_TWO,      /* what one step does slowly, as in tiles of a few elements among zeros: two do less at a time */
    TSR_BY_PIXELS, /* few channels among much padding, which are converted: pixels of a plain tensor are better rows */
    TSR_BY_JOINED, /* short runs, or columns of small blocks: neighbours become one wider element, moved faster */
    TSR_BY_PADDED, /* channels that do not fill the innermost blocks: whole ones are moved faster */
    TSR_BY_ROWS,   /* rows that end inside of cache lines, too many for the caches: these are streamed side by side */
    TSR_APART      /* elements are converted where they lie, and moved as narrow ones */
} tsr_purpose;

/* The order of the axes of a plain tensor between: as the outermost levels of a side come, or its innermost ones, or so
 * but with the last two exchanged; or as those of the destination, but with what is innermost in the source last. */
typedef enum tsr_plain {
    TSR_NO_PLAIN, /* none is tried, and the first one taken where a purpose needs one */
    TSR_PLAIN_BY_OUTERMOST,
    TSR_PLAIN_BY_INNERMOST,
    TSR_PLAIN_TURNED,
    TSR_PLAIN_KEPT,
    TSR_PLAINS,
    TSR_PLAINS_OF_BLOCKS = TSR_PLAIN_KEPT /* the end of those that are for blocks that do not nest */
} tsr_plain;

/* Some neighbours along the innermost axis of a side, which are one wider element while that side is moved to or from
 * the tensor between. This is like the other side, or plain, but has them side by side. */
typedef struct tsr_joint {
    const tsr_desc *other; /* NULL: plain */
    int axis;
    int64_t n;      /* 1: none */
    bool is_turned; /* they are of small blocks, which are turned around whole, with their padding */
} tsr_joint;

/* What is gained for a plan whose boxes are made; and the joint, if it is that. */
tsr_purpose tsr_purpose_find(const tsr_plan *plan, tsr_joint *joint);

/* May a plan of elements that stay as they are, and of blocks that nest, gain by TSR_IN_TWO? That is its purpose as
 * soon as it has a plain tensor. */
bool tsr_may_go_in_two(const tsr_plan *plan);

/* Of TSR_BY_PADDED: are the blocks that are not filled those of the source? What is moved of their padding may be
 * anything, and is not copied on. */
bool tsr_has_parts_at_src(const tsr_plan *plan);

#endif
