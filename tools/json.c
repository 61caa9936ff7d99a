/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <stdio.h>

json_t *json_numbers(const int64_t *numbers, int n)
{
    json_t *array = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(array, json_integer(numbers[i]));
    return array;
}

void json_print_line(json_t *object)
{
    json_dumpf(object, stdout, JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9));
    putchar('\n');
    json_decref(object);
}
