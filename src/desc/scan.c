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

bool tsr_scan_integer(const char **at, int64_t *number)
{
    const char *digits = *at;
    bool negative = tsr_scan_character(&digits, '-');
    if (!tsr_scan_number(&digits, number))
        return false;
    if (negative)
        *number = -*number;
    *at = digits;
    return true;
}

static bool is_letter(char character)
{
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || character == '_';
}

size_t tsr_scan_word(const char **at)
{
    const char *word = *at;
    if (is_letter(**at))
        while (is_letter(**at) || (**at >= '0' && **at <= '9'))
            ++*at;
    return (size_t)(*at - word);
}

void tsr_scan_blanks(const char **at)
{
    while (**at == ' ' || **at == '\t' || **at == '\r' || **at == '\n')
        ++*at;
}
