/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_DESC_SCAN_H
#define TESSERA_SRC_DESC_SCAN_H

#include <tessera/text.h>

/* Reads a decimal number of 63 bits and moves *at behind it; false, with *at unmoved, when there is none. */
bool tsr_scan_number(const char **at, int64_t *number);

/* Reads one character and moves *at behind it; false, with *at unmoved, when another stands there. */
bool tsr_scan_character(const char **at, char expected);

/* The explicit form [a1:12,b4:3]+5 of text.h. */
tsr_status tsr_levels_parse(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims, const char *text,
                            tsr_error *error);

/* The letter of an axis in the explicit form. */
char tsr_axis_letter(int axis);

#endif
