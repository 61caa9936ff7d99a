/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_BASE_ERROR_H
#define TESSERA_SRC_BASE_ERROR_H

#include <tessera/status.h>

/*
 * Fills in error, which may be NULL, and returns status: `return tsr_fail(error, TSR_OVERFLOW,
 * "...", ...)`.
 */
tsr_status tsr_fail(tsr_error *error, tsr_status status, const char *format, ...) TSR_PRINTF(3, 4);

#endif
