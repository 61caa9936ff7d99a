/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_PORT_OUTPUT_H
#define TESSERA_SRC_PORT_OUTPUT_H

#include <stddef.h>

#include <tessera/status.h>

/*
 * A file that is there when it is complete, and not before. It is written under a temporary name in
 * the folder of its target and renamed at the end, so that a reader sees the old file or the new
 * one, and a mapping of the old one stays valid. Symbolic links are followed, not replaced; the
 * mode of the old file is kept. What exists and is no regular file, and /dev/stdout, are written
 * directly.
 */
typedef struct tsr_output tsr_output;

/*
 * A file that exists must be writable, although it is its folder that changes. TSR_IO_ERROR,
 * TSR_OUT_OF_MEMORY.
 */
tsr_status tsr_output_open(tsr_output **output, const char *path, tsr_error *error);

/* The path as it was given, for messages. */
const char *tsr_output_path(const tsr_output *output);

/* TSR_IO_ERROR: the file is lost, and every later write and finish fails in the same way. */
tsr_status tsr_output_write(tsr_output *output, const void *bytes, size_t size_bytes, tsr_error *error);

/*
 * Writes what is left, gives the file its name, and frees the output, also on failure; then no file
 * is left.
 */
tsr_status tsr_output_finish(tsr_output **output, tsr_error *error);

/* Frees the output; no file is left. */
void tsr_output_abort(tsr_output **output);

#endif
