/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/reason.h"

#include <stdarg.h>
#include <stdio.h>

bool tsr_decline(char reason[TSR_REASON_SIZE], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, TSR_REASON_SIZE, format, arguments);
    va_end(arguments);
    return false;
}
