/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_LOWER_H
#define TESSERA_SRC_REORDER_LOWER_H

#include "reorder/axis.h"

/*
 * Lowering: two descriptors become loop nests.
 *
 * The logical index space is the product of its axes, each axis a few pieces (axis.h), so every
 * choice of one piece for each axis is a box, and its loops are those of the pieces. The padding of
 * the destination, the cells with at least one index past its dim, is cut into boxes in the same
 * way.
 *
 * The number of boxes is a product over the axes, so it is bounded: while there are more than
 * TSR_MAX_BOXES, the shortest axis that is in pieces becomes one table; and if the padding is in
 * more, its one box is the whole destination, to be zeroed before elements are written.
 *
 * Where one axis alone has padding, and that goes on where the last run of elements ends, as with the
 * channels of an image in blocks of 16, it has no boxes: the loop of that run tells of it.
 */
#define TSR_MAX_BOXES 256

typedef struct tsr_lowering {
    const tsr_allocator *allocator;
    int rank;
    int64_t src_start, dst_start; /* of the positions that the axes count from */
    tsr_axis *axes;               /* 2 * rank: those of the elements, then those of the destination with its padding */
    tsr_digits *digits;           /* 2 * rank: source and destination */
    bool has_tables;
    bool zeroes_all; /* the padding's box covers the elements too: zero it first */
    bool overlaps;   /* the boxes of the padding share cells, but cover no element */
    int joined_axis; /* the one whose padding is part of the boxes of elements; -1: none */
    int64_t joined;  /* and its steps */
} tsr_lowering;

/*
 * factor_axis: the axis that scales or means run along, or -1. shuffles_blocks: blocks of the destination are shuffled
 * from wherever their elements are, of several axes at once. On failure nothing is held. TSR_OUT_OF_MEMORY.
 */
tsr_status tsr_lowering_init(tsr_lowering *lowering, const tsr_desc *src, const tsr_desc *dst, int factor_axis,
                             bool shuffles_blocks, const tsr_allocator *allocator);

/*
 * For who reads the elements before they are written: boxes of padding that overlap instead of the one
 * that covers all. There are few of these.
 */
void tsr_lowering_spare_elements(tsr_lowering *lowering);

/* Looks for padding that can be told of by the loops of elements; if it is not called, there is none. */
void tsr_lowering_join_padding(tsr_lowering *lowering);

/* For who has as much padding as elements or more, and no use for what these were: if it would take several boxes, all
 * cells are zeroed at once, before elements are written. Not where padding is told of by the loops of these. */
void tsr_lowering_zero_all(tsr_lowering *lowering);

/* Frees everything; the tables that nests point to go with it. {0} is accepted. */
void tsr_lowering_reset(tsr_lowering *lowering);

/* Called for each box, fused, with outer loops first. A status other than TSR_OK ends the walk. */
typedef tsr_status (*tsr_nest_visitor)(void *context, const tsr_nest *nest);

/* Visits the boxes of all elements, each element once. */
tsr_status tsr_lower_elements(const tsr_lowering *lowering, tsr_nest_visitor visit, void *context);

/*
 * Visits the boxes of the padding of dst, each cell once, or more often if they overlap; or, if
 * zeroes_all, one box of all cells. src is 0.
 */
tsr_status tsr_lower_padding(const tsr_lowering *lowering, tsr_nest_visitor visit, void *context);

#endif
