/* SPDX-License-Identifier: Apache-2.0 */
#include "refuse.h"

#include <stdarg.h>
#include <stdio.h>

tsr_status refuse(tsr_error *error, tsr_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error->status = status;
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}
