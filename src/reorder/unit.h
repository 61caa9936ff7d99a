/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_UNIT_H
#define TESSERA_SRC_REORDER_UNIT_H

#include "reorder/nest.h"

/*
 * Units: neighbours that stay together wherever they go, as the two floats of a complex number or the channels of an
 * image that is turned round. Moved as one wider element, they are what the kernels are good at: transposed, not
 * copied run by run.
 */

/* The elements that a nest moves as a unit of at most 16 bytes: 2, 4, 8 or 16; or 1 if there are none. */
int64_t tsr_unit_of_nest(const tsr_nest *nest, int64_t element_bytes);

/* Are the cells that a nest of padding writes whole units? */
bool tsr_unit_divides(int64_t unit, const tsr_nest *nest);

/* The same nest, counted in units. */
void tsr_unit_count(tsr_nest *counted, const tsr_nest *nest, int64_t unit);

#endif
