/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_COST_H
#define TESSERA_SRC_REORDER_COST_H

#include "reorder/plan.h"
#include "reorder/route.h"

/*
 * The built-in cost model: expected time over that of memcpy for the same bytes, for one thread and
 * tensors beyond the second-level cache; within it, both are faster. The constants were fitted to
 * medians of `tessera bench` and have no other source.
 */
double tsr_cost_of_boxes(const tsr_plan *plan);
double tsr_cost_of_onednn(const tsr_plan *plan);

/* In bytes that memcpy would copy meanwhile: a box; and its elements alone, if they were converted so. */
double tsr_cost_of_box(const tsr_plan *plan, const tsr_box *box);
double tsr_cost_of_elements(const tsr_box *box, const tsr_conversion *conversion);

/* Parts of that, and what is done in place. */
double tsr_cost_of_padding(const tsr_plan *plan);
double tsr_cost_of_relay(const tsr_plan *plan, const tsr_route *route, double bytes_between); /* of an element */
double tsr_cost_of_legs(const tsr_plan *plan, const tsr_route *route, double legs); /* by what they cost alone */
double tsr_cost_of_padded_blocks(const tsr_plan *plan, const tsr_route *route);
double tsr_cost_of_conversion_apart(const tsr_plan *plan, const tsr_route *route,
                                    int64_t line); /* of so many elements */
double tsr_cost_of_scratch(const tsr_plan *plan, int64_t scratch_bytes);
double tsr_cost_of_square(const tsr_plan *plan, const tsr_square *square, int64_t tiles);
double tsr_cost_of_cycles(const tsr_plan *plan, const tsr_cycles *cycles, bool is_marked);

#endif
