/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

static const char *const names[] = {
    [TSR_OK] = "ok",
    [TSR_INVALID_ARGUMENT] = "invalid argument",
    [TSR_OUT_OF_RANGE] = "out of range",
    [TSR_OVERFLOW] = "overflow",
    [TSR_OUT_OF_MEMORY] = "out of memory",
    [TSR_UNSUPPORTED] = "unsupported",
    [TSR_PARSE_ERROR] = "parse error",
    [TSR_IO_ERROR] = "input/output error",
    [TSR_OVERLAP] = "overlap",
    [TSR_BUSY] = "busy",
};

const char *tsr_status_name(tsr_status status)
{
    size_t i = (size_t)status;
    return i < sizeof names / sizeof names[0] ? names[i] : "unknown status";
}

tsr_status tsr_fail(tsr_error *error, tsr_status status, const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        error->status = status;
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

const char *tsr_version(void)
{
    return TSR_VERSION_STRING;
}

const char *tsr_build_features(void)
{
    return TSR_FEATURES_STRING;
}
