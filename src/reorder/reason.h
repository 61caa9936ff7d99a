/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_REASON_H
#define TESSERA_SRC_REORDER_REASON_H

#include <stdbool.h>

#include <tessera/export.h>

/* Why a row of the selection table does not apply. */
#define TSR_REASON_SIZE 160

/* Writes a reason and returns false: `return condition || tsr_decline(reason, "...")`. */
bool tsr_decline(char reason[TSR_REASON_SIZE], const char *format, ...) TSR_PRINTF(2, 3);

#endif
