/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_DESC_SCAN_H
#define TESSERA_SRC_DESC_SCAN_H

#include <tessera/text.h>

/* Reads a decimal number of 63 bits and moves *at behind it; false, with *at unmoved, when there is none. */
bool tsr_scan_number(const char **at, int64_t *number);

/* Reads one character and moves *at behind it; false, with *at unmoved, when another stands there. */
bool tsr_scan_character(const char **at, char expected);

#endif
