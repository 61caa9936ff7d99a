/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_PORT_NPY_HEADER_H
#define TESSERA_SRC_PORT_NPY_HEADER_H

#include <tessera/desc.h>

/*
 * A .npy file begins with a preamble, the magic, the version and the length of the header, and then
 * the header:
 *
 *     \x93NUMPY 1 0 118 0        version 1.0: two bytes of length, the low one first; four from version 2.0 on
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }
 *
 * Spaces and a newline fill the header up, so that the data behind it is aligned.
 */
#define TSR_NPY_MAGIC "\x93NUMPY"
#define TSR_NPY_MAGIC_BYTES 6
#define TSR_NPY_PREAMBLE_BYTES 10 /* of version 1.0; two more from version 2.0 on */
#define TSR_NPY_HEADER_BYTES_MAX 1024

typedef struct tsr_npy_header {
    tsr_dtype dtype;
    bool swapped; /* the elements are in the byte order that is not the host's */
    bool fortran_order;
    int rank;
    int64_t shape[TSR_MAX_RANK];
} tsr_npy_header;

/*
 * Reads a header, a dictionary in the syntax of Python, without the preamble. TSR_PARSE_ERROR;
 * TSR_UNSUPPORTED for another type or more axes; TSR_OVERFLOW for a dim above 63 bits.
 */
tsr_status tsr_npy_header_parse(tsr_npy_header *header, const char *text, size_t length, tsr_error *error);

/*
 * Writes preamble and header as NumPy does, and returns the number of bytes, a multiple of 64. Even
 * the largest header fits version 1.0. The host's byte order is written, whatever swapped says; the
 * type must be one that NumPy has.
 */
size_t tsr_npy_header_print(const tsr_npy_header *header, char text[TSR_NPY_HEADER_BYTES_MAX]);

/* Does NumPy have the type? */
bool tsr_npy_has_dtype(tsr_dtype dtype);

#endif
