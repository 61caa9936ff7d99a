/* SPDX-License-Identifier: Apache-2.0 */
#include "base/writer.h"

#include <stdarg.h>
#include <stdio.h>

void tsr_write(tsr_writer *writer, const char *format, ...)
{
    size_t room = writer->length < writer->size ? writer->size - writer->length : 0;
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(room ? writer->text + writer->length : NULL, room, format, arguments);
    va_end(arguments);
    if (written > 0)
        writer->length += (size_t)written;
}
