/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_UNIT_H
#define TESSERA_SRC_REORDER_UNIT_H

#include "reorder/nest.h"

/*
 * Units: neighbours that stay together wherever they go, as the two floats of a complex number or the channels of an
 * image that is turned round. Moved as one wider element, they are what the kernels are good at: transposed, not
 * copied run by run.
 */

/* The elements of so many bits that a nest moves as a unit of at most 16 bytes, a power of two; of long runs of packed
 * ones, a byte's. 1 if there are none. Powers below that are units, too, down to a byte. If the kernels move odd units,
 * as the three bytes of a pixel are, those that are transposed may have any number of bytes. */
int64_t tsr_unit_of_nest(const tsr_nest *nest, int64_t bits, bool moves_odd);

/* What is a unit for two nests. */
int64_t tsr_common_unit(int64_t a, int64_t b);

/* As many of them as are a unit of the cells that a nest of padding writes; none that is odd, or less than a byte. */
int64_t tsr_unit_of_padding(int64_t unit, const tsr_nest *nest, int64_t bits);

/* The same nest, counted in units. */
void tsr_unit_count(tsr_nest *counted, const tsr_nest *nest, int64_t unit);

#endif
