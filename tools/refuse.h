/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TOOLS_REFUSE_H
#define TESSERA_TOOLS_REFUSE_H

#include <tessera/status.h>

TSR_BEGIN_DECLS

/* Writes a message into error, which is not NULL, and returns status. */
tsr_status refuse(tsr_error *error, tsr_status status, const char *format, ...) TSR_PRINTF(3, 4);

TSR_END_DECLS

#endif
