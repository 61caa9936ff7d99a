/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_DESC_SCAN_H
#define TESSERA_SRC_DESC_SCAN_H

#include <tessera/text.h>

/* Reads a decimal number of 63 bits and moves *at behind it; false, with *at unmoved, when there is none. */
bool tsr_scan_number(const char **at, int64_t *number);

/* Reads one character and moves *at behind it; false, with *at unmoved, when another stands there. */
bool tsr_scan_character(const char **at, char expected);

/* Reads a number with an optional minus, likewise. */
bool tsr_scan_integer(const char **at, int64_t *number);

/* Reads a letter or underscore and the letters, digits and underscores behind it, all of ASCII; its length, or 0. */
size_t tsr_scan_word(const char **at);

/* Moves *at behind spaces, tabs and ends of lines. */
void tsr_scan_blanks(const char **at);

#endif
