/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_BASE_WRITER_H
#define TESSERA_SRC_BASE_WRITER_H

#include <stddef.h>

#include <tessera/export.h>

/* Text that grows in a buffer of the caller's: cut at size, but length counts on, as snprintf does. */
typedef struct tsr_writer {
    char *text;
    size_t size;
    size_t length;
} tsr_writer;

void tsr_write(tsr_writer *writer, const char *format, ...) TSR_PRINTF(2, 3);

#endif
