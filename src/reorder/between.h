/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_BETWEEN_H
#define TESSERA_SRC_REORDER_BETWEEN_H

#include <tessera/reorder.h>

#include "reorder/purpose.h"

/*
 * The tensors by which a route (route.h) goes. They are dense and of whole bytes, and of the narrower type of both
 * sides; but with beta, of that of the source, and of f32 instead of nf4, which no type of whole bytes holds.
 */

/* Are they of elements that have been converted: is the arithmetic done before these are moved? To a narrower type it
 * is, or as packed elements are unpacked; or if both types are as wide, where factors are easier to take. */
bool tsr_between_is_converted(const tsr_plan *plan);

tsr_dtype tsr_between_type(const tsr_plan *plan);

/* Is every axis one level, without padding or a window? */
bool tsr_is_plain(const tsr_desc *desc);

/* Are both laid out alike, whatever their types? */
bool tsr_is_like(const tsr_desc *side, const tsr_desc *other);

/* With the axes in an order of a side: of the source, if the destination is plain, but for TSR_PLAIN_KEPT. This and the
 * next ones are of `dims`, which may be those of a slice; TSR_OVERFLOW and the like where such a tensor cannot be. */
tsr_status tsr_between_plain(tsr_desc *plain, const tsr_plan *plan, tsr_plain order, const int64_t *dims);

/* Blocked as that side is, so that elements are converted where they lie. */
tsr_status tsr_between_like(tsr_desc *made, const tsr_plan *plan, const tsr_desc *side, const int64_t *dims);

/* Brings the neighbours of a joint side by side in one of these. */
tsr_status tsr_between_join(tsr_desc *between, const tsr_joint *joint);

#endif
