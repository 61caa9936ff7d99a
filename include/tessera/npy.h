/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_NPY_H
#define TESSERA_NPY_H

#include <tessera/desc.h>

TSR_BEGIN_DECLS

/*
 * NumPy's .npy files, versions 1 to 3. The format has all types of dtype.h but bf16.
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
typedef struct tsr_npy tsr_npy;

/*
 * Opens a file for reading. It is mapped, not read, so that large files cost nothing until they are
 * used; a file in the other byte order is read and swapped.
 *
 * TSR_IO_ERROR       the file cannot be opened or read
 * TSR_PARSE_ERROR    it is no .npy file, its header lies, or it is shorter than its header promises
 * TSR_UNSUPPORTED    a type that dtype.h does not have, more than TSR_MAX_RANK axes, a later version of the format
 * TSR_OVERFLOW       a shape whose elements do not fit into 63 bits of bytes
 * TSR_OUT_OF_MEMORY  a file that must be read or swapped
 *
 * What cannot be mapped, such as a pipe, is read. Bytes behind the array are ignored, as NumPy
 * ignores them. While a file is mapped nobody may shorten it in place; replacing it by another of
 * its name, as the writer does, is safe.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_npy_open(tsr_npy **npy, const char *path, tsr_error *error);

/* The array: axes as NumPy shows them, row-major or (in Fortran order) column-major. Valid until close. */
TSR_API const tsr_desc *tsr_npy_desc(const tsr_npy *npy);

/*
 * Its elements, laid out as tsr_npy_desc says. Valid until close; NULL when there are none. They
 * begin where the file has them, which need not be a multiple of their size.
 */
TSR_API const void *tsr_npy_data(const tsr_npy *npy);

TSR_API void tsr_npy_close(tsr_npy **npy);

/*
 * A file being written. It appears under its name only when it is finished: until then it is a
 * temporary file in the same folder. What is not a regular file (a pipe, a device) is written
 * directly.
 */
typedef struct tsr_npy_writer tsr_npy_writer;

/*
 * Starts a file of the given type and shape, in row-major or Fortran order, and writes its header
 * as np.save does: for a shape in which the two orders agree, it says row-major. A file that exists
 * keeps its mode, and a symbolic link stays one. TSR_UNSUPPORTED for a type that the format does
 * not have; TSR_IO_ERROR; what tsr_desc_plain says of the shape.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_npy_writer_open(tsr_npy_writer **writer, const char *path, tsr_dtype dtype,
                                                      int rank, const int64_t *shape, bool fortran_order,
                                                      tsr_error *error);

/*
 * Appends elements. TSR_OUT_OF_RANGE for more than the shape has room for, and nothing is appended;
 * TSR_IO_ERROR, and the file cannot be finished any more.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_npy_writer_append(tsr_npy_writer *writer, const void *elements, int64_t count,
                                                        tsr_error *error);

/*
 * Finishes the file and frees the writer, also on failure; then no file is left. TSR_OUT_OF_RANGE
 * when elements are missing; TSR_IO_ERROR.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_npy_writer_finish(tsr_npy_writer **writer, tsr_error *error);

/* Frees a writer without finishing: no file is left. */
TSR_API void tsr_npy_writer_abort(tsr_npy_writer **writer);

TSR_END_DECLS

#endif
