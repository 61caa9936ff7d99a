/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_PORT_INPUT_H
#define TESSERA_SRC_PORT_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include <tessera/status.h>

/*
 * The bytes of a file, from its start. A regular file is mapped, and all of it is there at once;
 * anything else, such as a pipe, is read into memory as far as tsr_input_fill is asked to.
 */
typedef struct tsr_input {
    unsigned char *bytes; /* NULL when there are none; read-only when mapped */
    size_t size_bytes;
    size_t capacity_bytes; /* of the memory behind bytes; 0 when mapped */
    int file;
    bool reading; /* file is open */
} tsr_input;

tsr_status tsr_input_open(tsr_input *input, const char *path, tsr_error *error);

/*
 * Reads on until there are at least size_bytes, or no more. Moves bytes. Memory grows with what
 * arrives, not with what is asked for, so that a header may promise anything.
 */
tsr_status tsr_input_fill(tsr_input *input, size_t size_bytes, const char *path, tsr_error *error);

/* Closes the file and keeps the bytes. */
void tsr_input_stop(tsr_input *input);

/* Gives all back and leaves {0}, which is a valid input without bytes. */
void tsr_input_close(tsr_input *input);

#endif
