/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_PORT_MESSAGE_H
#define TESSERA_SRC_PORT_MESSAGE_H

#include <stddef.h>

#include <tessera/status.h>

/* What all messages about files begin with: path, or the end of one that would fill the message. */
const char *tsr_path_shown(const char *path);

/*
 * Writes count bytes as text that is safe to show, others as \xNN, and cuts what does not fit.
 * Returns text.
 */
const char *tsr_quote(char *text, size_t size, const void *bytes, size_t count);

/* TSR_IO_ERROR, "photo.npy: cannot open: No such file or directory"; number is an errno. */
tsr_status tsr_fail_system(tsr_error *error, const char *path, const char *action, int number);

/* TSR_OUT_OF_MEMORY, "photo.npy: no memory for 64 bytes" */
tsr_status tsr_fail_memory(tsr_error *error, const char *path, size_t size_bytes);

/* The status of cause and its message behind the path. */
tsr_status tsr_fail_in_file(tsr_error *error, const char *path, const tsr_error *cause);

#endif
