/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_ALGEBRA_H
#define TESSERA_ALGEBRA_H

#include <tessera/desc.h>

TSR_BEGIN_DECLS

/*
 * Layouts as functions: what CuTe computes with the types of C++ at compile time, here on values.
 *
 * D(v) is the offset of index vector v in descriptor D (tsr_desc_offset), D[l] that of the l-th element
 * in row-major order (tsr_desc_offset_linear). All descriptors must have passed tsr_desc_check with
 * read_only; results have, too. A result may be the same variable as an operand, and is as before on
 * failure.
 *
 * TSR_UNSUPPORTED  the result exists, but no descriptor can say it; the message says why
 */

/*
 * A after B: R(v) = A[B(v)]. R has the dims of B and the type of A, and the padding of neither. Every
 * B(v) must be below the elements of A: TSR_OUT_OF_RANGE. No descriptor can say R where a step of B
 * moves an index of A by different amounts, depending on where it is.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_compose(tsr_desc *result, const tsr_desc *a, const tsr_desc *b,
                                                   tsr_error *error);

/* What lies at an offset. */
typedef enum tsr_cell {
    TSR_CELL_NONE,    /* nothing of this tensor: outside, in a gap, or not seen by a window */
    TSR_CELL_PADDING, /* of this tensor, but no element */
    TSR_CELL_ELEMENT
} tsr_cell;

/*
 * The inverse of the oracle: D(index) = offset if *cell is TSR_CELL_ELEMENT; otherwise index, which has
 * room for the rank, is not written. Of the elements that a broadcast puts at one place, it is the
 * first. TSR_UNSUPPORTED where so many levels interleave that the search is given up; never in a
 * descriptor whose strides are each larger than what all smaller ones reach.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_index(const tsr_desc *desc, int64_t offset, tsr_cell *cell, int64_t *index,
                                                 tsr_error *error);

/*
 * The same elements in the same order with as few axes as possible: R[l] = D[l]. Axes with one index are
 * left out, and neighbours are joined where the outer one goes on where the inner one ends. Padding
 * stays, except along axes that are left out.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_coalesce(tsr_desc *result, const tsr_desc *desc, tsr_error *error);

/*
 * Tiles: R(t0, t1, .., i0, i1, ..) = D(t0 * tile[0] + i0, t1 * tile[1] + i1, ..). The first axes of R
 * count tiles, the others the indices in one. tile[k] divides the dim, and the rank is at most half of
 * TSR_MAX_RANK: TSR_INVALID_ARGUMENT. tsr_view_split says where memory allows it.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_divide(tsr_desc *result, const tsr_desc *desc, const int64_t *tile,
                                                  tsr_error *error);

/*
 * Do no two elements share a place? For all v != w: D(v) != D(w). TSR_UNSUPPORTED where neither a look at
 * the strides nor a bounded search decides.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_is_injective(const tsr_desc *desc, bool *is_injective, tsr_error *error);

/*
 * Do elements and padding fill the span without a gap and without sharing a place? The cells are as
 * many as the places in tsr_desc_span, and all different. What is left of a window in the canonical
 * descriptor is not called dense. Empty tensors are.
 */
TSR_API bool tsr_desc_is_dense(const tsr_desc *desc);

/*
 * The common refinement of two layouts with equal dims: fine_a equals a, fine_b equals b, and both
 * have the same levels, so that a level is a loop over both:
 *
 *     fine_a->order[i] == fine_b->order[i], and fine_a->block_dims[i] == fine_b->block_dims[i]
 *     but for the outermost level of an axis, where the larger of the two holds the padding
 *
 * Levels stand axis by axis, outer ones first. TSR_UNSUPPORTED where the blocks do not nest.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_refine(tsr_desc *fine_a, tsr_desc *fine_b, const tsr_desc *a,
                                                  const tsr_desc *b, tsr_error *error);

TSR_END_DECLS

#endif
