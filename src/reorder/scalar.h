/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_SCALAR_H
#define TESSERA_SRC_REORDER_SCALAR_H

#include <tessera/dtype.h>

/*
 * The rule of conversion for one element, out of exact integers and one rounding: what the row
 * kernels are tested against. Both types convert; factors points to mean and scale, or is NULL.
 */
void tsr_convert_scalar(void *dst, tsr_dtype dst_type, const void *src, tsr_dtype src_type, const float factors[2]);

#endif
