/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_DESC_LEVELS_H
#define TESSERA_SRC_DESC_LEVELS_H

#include <tessera/text.h>

/* The explicit form [a1:12,b4:3]+5 of text.h. */
tsr_status tsr_levels_parse(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims, const char *text,
                            tsr_error *error);

/* The letter of an axis in it. */
char tsr_axis_letter(int axis);

#endif
