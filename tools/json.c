/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *json_numbers(const int64_t *numbers, int n)
{
    json_t *array = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(array, json_integer(numbers[i]));
    return array;
}

json_t *json_text(const char *bytes)
{
    json_t *text = json_string(bytes);
    char *ascii = text ? NULL : strdup(bytes);
    for (char *at = ascii; at && *at; at++)
        if ((unsigned char)*at >= 0x80)
            *at = '?';
    if (ascii)
        text = json_string(ascii);
    free(ascii);
    return text;
}

void json_print_line_to(json_t *object, FILE *out)
{
    json_dumpf(object, out, JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9));
    fputc('\n', out);
    json_decref(object);
}

void json_print_line(json_t *object)
{
    json_print_line_to(object, stdout);
}
