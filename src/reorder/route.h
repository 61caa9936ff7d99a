/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_ROUTE_H
#define TESSERA_SRC_REORDER_ROUTE_H

#include <tessera/reorder.h>

/*
 * By which tensors a relay (relay.h) goes, one leg after the other. Those between the source and the destination are
 * dense and of whole bytes, and of the narrower type of both; but with beta, of that of the source.
 */
typedef enum tsr_purpose {
    TSR_FOR_NOTHING, /* there is nothing to gain */
    TSR_BY_PLAIN,    /* blocks that do not nest: each nests with a plain axis */
    TSR_BY_PIXELS, /* few channels among much padding, which are converted: pixels of a plain tensor are better rows */
    TSR_BY_JOINED, /* short runs, or columns of small blocks: neighbours become one wider element, which is moved faster */
    TSR_BY_PADDED, /* channels that do not fill the innermost blocks: whole ones are moved faster */
    TSR_APART      /* elements are converted where they lie, and moved as narrow ones */
} tsr_purpose;

/* From one tensor to the next. */
typedef struct tsr_leg {
    tsr_desc src, dst;
    bool computes; /* it has the arithmetic */
    bool converts; /* to another type, or by arithmetic */
    bool widened;  /* elements stay where they are, and padding is converted as well */
} tsr_leg;

enum { TSR_LEGS = 3 };

/* Some neighbours along the innermost axis of a side, which are one wider element while that side is moved to or from the
 * tensor between. This is like the other side, but has them side by side. */
typedef struct tsr_joint {
    const tsr_desc *other;
    int axis;
    int64_t n;  /* 1: none */
    int turned; /* the axis of the columns of small blocks, which are turned around whole, with their padding; or -1 */
} tsr_joint;

typedef struct tsr_route {
    tsr_purpose purpose;
    tsr_joint joint;
    int legs; /* 0 for nothing; one where elements stay: there is no tensor between then */
    tsr_leg leg[TSR_LEGS];
    bool zeroes; /* padding of the destination, which has been converted and may not be zero any more */
} tsr_route;

/* So many indices of each axis, from some on. They begin and end with blocks of both sides, or at the end of an axis, where
 * its padding belongs to them. */
typedef struct tsr_slice {
    int64_t first[TSR_MAX_RANK], dims[TSR_MAX_RANK];
} tsr_slice;

/* All of the tensor. */
tsr_slice tsr_slice_of_all(const tsr_plan *plan);

/* The route of a slice, for buffers that begin where the slice's own would. TSR_OVERFLOW and the like where a tensor cannot
 * be. */
tsr_status tsr_route_make(tsr_route *route, const tsr_plan *plan, const tsr_slice *slice);

/* Of the largest tensor between, in bytes. */
int64_t tsr_route_bytes(const tsr_route *route);

/* The fewest indices of an axis that a slice may have, but for the last one: whole blocks of both sides, and of neighbours
 * that are joined; 0 if the axis has to stay whole. */
int64_t tsr_route_part(const tsr_route *route, const tsr_plan *plan, int axis);

/* The type of the tensors between. */
tsr_dtype tsr_route_type(const tsr_plan *plan);

/* Is the arithmetic done before the elements are moved? */
bool tsr_route_converts_first(const tsr_plan *plan);

#endif
