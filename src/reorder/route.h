/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_ROUTE_H
#define TESSERA_SRC_REORDER_ROUTE_H

#include <tessera/reorder.h>

#include "reorder/purpose.h"

/* From one tensor to the next. */
typedef struct tsr_leg {
    tsr_desc src, dst;
    bool computes; /* it has the arithmetic */
    bool converts; /* to another type, or by arithmetic */
    bool widened;  /* elements stay where they are, and padding is converted as well */
} tsr_leg;

enum { TSR_LEGS = 3 };

/* By which tensors (between.h) a relay (relay.h) goes, one leg after the other. */
typedef struct tsr_route {
    tsr_purpose purpose;
    tsr_joint joint;
    int legs; /* 0 for nothing; one where elements stay: there is no tensor between then */
    tsr_leg leg[TSR_LEGS];
    bool zeroes; /* padding of the destination, which has been converted and may not be zero any more */
} tsr_route;

/* Legs of other routes may go this way, but its own go no further, and it takes less of the stack. */
static inline bool tsr_route_is_last(const tsr_route *route)
{
    return route->purpose == TSR_BY_JOINED || route->purpose == TSR_BY_PADDED || route->purpose == TSR_IN_TWO;
}

/* So many indices of each axis, from some on. They begin and end with blocks of both sides, or at the end of an axis,
 * where its padding belongs to them. */
typedef struct tsr_slice {
    int64_t first[TSR_MAX_RANK], dims[TSR_MAX_RANK];
} tsr_slice;

/* All of the tensor. */
tsr_slice tsr_slice_of_all(const tsr_plan *plan);

/* The route of a slice, for buffers that begin where the slice's own would. TSR_OVERFLOW and the like where a tensor
 * cannot be. */
tsr_status tsr_route_make(tsr_route *route, const tsr_plan *plan, const tsr_slice *slice);

/* Of the largest tensor between, in bytes. */
int64_t tsr_route_bytes(const tsr_route *route);

/* The fewest indices of an axis that a slice may have, but for the last one: whole blocks of both sides, and of
 * neighbours that are joined; 0 if the axis has to stay whole. */
int64_t tsr_route_part(const tsr_route *route, const tsr_plan *plan, int axis);

#endif
