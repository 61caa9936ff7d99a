/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "port/message.h"

#define PATH_SHOWN_MAX 120

const char *tsr_path_shown(const char *path)
{
    size_t length = strlen(path);
    return length > PATH_SHOWN_MAX ? path + length - PATH_SHOWN_MAX : path;
}

const char *tsr_quote(char *text, size_t size, const void *bytes, size_t count)
{
    const unsigned char *byte = bytes;
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count && used + sizeof "\\xNN" <= size; i++) {
        bool printable = byte[i] >= ' ' && byte[i] <= '~';
        used += (size_t)snprintf(text + used, size - used, printable ? "%c" : "\\x%02x", byte[i]);
    }
    return text;
}

/* strerror_r is two functions: GNU's returns the text, POSIX's fills the buffer and returns a status. */
static const char *text_of_gnu(const char *result, const char *buffer)
{
    (void)buffer;
    return result;
}

static const char *text_of_posix(int result, const char *buffer)
{
    return result == 0 ? buffer : "unknown error";
}

#define TEXT_OF(result) _Generic((result), int : text_of_posix, default : text_of_gnu)

tsr_status tsr_fail_system(tsr_error *error, const char *path, const char *action, int number)
{
    char buffer[96] = "";
    const char *text =
        TEXT_OF(strerror_r(number, buffer, sizeof buffer))(strerror_r(number, buffer, sizeof buffer), buffer);
    return tsr_fail(error, TSR_IO_ERROR, "%s: cannot %s: %s", tsr_path_shown(path), action, text);
}

tsr_status tsr_fail_memory(tsr_error *error, const char *path, size_t size_bytes)
{
    return tsr_fail(error, TSR_OUT_OF_MEMORY, "%s: no memory for %zu bytes", tsr_path_shown(path), size_bytes);
}

tsr_status tsr_fail_in_file(tsr_error *error, const char *path, const tsr_error *cause)
{
    return tsr_fail(error, cause->status, "%s: %s", tsr_path_shown(path), cause->message);
}
