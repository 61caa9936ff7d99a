/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_SCALAR_H
#define TESSERA_SRC_REORDER_SCALAR_H

#include <tessera/dtype.h>

/*
 * The rule of conversion for one element, out of exact integers and one rounding: what the row
 * kernels are tested against. The old value for beta is the one at dst. An element of
 * 4 bits is the lower half of a byte, and one of 1 bit its lowest; the others are 0.
 */
typedef struct tsr_factors_of_element {
    float mean, scale, shift, beta; /* -0 is no shift, and 0 no beta */
} tsr_factors_of_element;

/* factors NULL: no arithmetic */
void tsr_convert_scalar(void *dst, tsr_dtype dst_type, const void *src, tsr_dtype src_type,
                        const tsr_factors_of_element *factors);

#endif
