/* SPDX-License-Identifier: Apache-2.0 */
#include "desc/scan.h"

#include "base/int.h"

bool tsr_scan_number(const char **at, int64_t *number)
{
    const char *digit = *at;
    int64_t value = 0;
    for (; *digit >= '0' && *digit <= '9'; digit++)
        if (!tsr_mul(value, 10, &value) || !tsr_add(value, *digit - '0', &value))
            return false;
    if (digit == *at)
        return false;
    *number = value;
    *at = digit;
    return true;
}

bool tsr_scan_character(const char **at, char expected)
{
    if (**at != expected)
        return false;
    ++*at;
    return true;
}
