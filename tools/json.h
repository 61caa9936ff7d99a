/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TOOLS_JSON_H
#define TESSERA_TOOLS_JSON_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* An array of n numbers. */
json_t *json_numbers(const int64_t *numbers, int n);

/* A string of bytes from outside, which need not be UTF-8: what is not becomes question marks. */
json_t *json_text(const char *bytes);

/* Prints one object on one line and gives it up. */
void json_print_line_to(json_t *object, FILE *out);
void json_print_line(json_t *object); /* to standard output */

#endif
