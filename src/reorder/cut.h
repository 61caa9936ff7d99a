/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_CUT_H
#define TESSERA_SRC_REORDER_CUT_H

#include "reorder/nest.h"
#include "reorder/route.h"

/* So many axes of a cut may be ragged, and slices have so many shapes then. */
enum { TSR_MOST_RAGGED = 2, TSR_MOST_SHAPES = 1 << TSR_MOST_RAGGED };

/* What a slice is on the wider side of a conversion: long pieces are a few KB each. */
typedef enum tsr_pieces { TSR_ANY_PIECES, TSR_LONG_PIECES, TSR_ONE_PIECE } tsr_pieces;

/*
 * How a tensor that goes by a route is cut into slices, each of which goes all the way before the next one, so that the
 * tensors between stay in the caches. Slices are whole blocks of both sides, and alike; but the last ones along one
 * or two axes, the ragged ones, may have fewer indices, or the axis's padding. No other axis is cut then that would be
 * ragged as well.
 */
typedef struct tsr_cut {
    int64_t dims[TSR_MAX_RANK]; /* of the first slice */
    int64_t slices;
    int loops; /* over slices, outermost first, in bytes */
    tsr_loop loop[TSR_MAX_RANK];
    int ragged; /* so many axes, */
    int ragged_loop[TSR_MOST_RAGGED], ragged_axis[TSR_MOST_RAGGED];
    tsr_pieces pieces;
} tsr_cut;

/* The tensors between, of a slice, have so much room on the stack of a thread: pieces, rows that are streamed, and
 * blocks that do not nest and have no smaller slices; those of routes by which other relays may go; and as much as the
 * first-level cache holds of two. */
enum { TSR_PIECE_BYTES = 128 << 10, TSR_FAR_BYTES = 64 << 10, TSR_NEAR_BYTES = 32 << 10 };

/* `route` is that of all. The slices are as small as they are wanted, or as can be. */
void tsr_cut_find(tsr_cut *cut, const tsr_plan *plan, const tsr_route *route);

/* So many shapes slices have: bit i of a shape tells those that are the last along ragged axis i. */
static inline int tsr_cut_shapes(const tsr_cut *cut)
{
    return 1 << cut->ragged;
}

/* The first slice of a shape. */
tsr_slice tsr_cut_slice(const tsr_cut *cut, const tsr_plan *plan, int shape);

/* The elements of a side that a slice has side by side, with the padding of axes that are not cut. */
int64_t tsr_cut_line(const tsr_cut *cut, const tsr_desc *side);

/* The bytes of the largest tensor between, of any slice; INT64_MAX if one cannot be. */
int64_t tsr_cut_bytes(const tsr_cut *cut, const tsr_plan *plan);

#endif
