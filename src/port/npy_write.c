/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include <tessera/npy.h>

#include "base/alloc.h"
#include "base/error.h"
#include "port/message.h"
#include "port/npy_header.h"
#include "port/output.h"

struct tsr_npy_writer {
    tsr_output *output;
    size_t element_bytes;
    int64_t elements;
    int64_t written;
};

/* Do row-major and Fortran order differ? NumPy writes arrays that are in both as row-major. */
static bool orders_differ(const tsr_desc *desc)
{
    int long_dims = 0;
    for (int k = 0; k < desc->rank; k++)
        long_dims += desc->dims[k] > 1;
    return long_dims > 1 && tsr_desc_elements(desc) > 0;
}

static tsr_status write_header(tsr_npy_writer *writer, const tsr_desc *desc, bool fortran_order, tsr_error *error)
{
    char text[TSR_NPY_HEADER_BYTES_MAX];
    tsr_npy_header header = {
        .dtype = desc->dtype, .fortran_order = fortran_order && orders_differ(desc), .rank = desc->rank};
    memcpy(header.shape, desc->dims, sizeof header.shape);
    size_t size_bytes = tsr_npy_header_print(&header, text);
    return tsr_output_write(writer->output, text, size_bytes, error);
}

static tsr_status check(tsr_desc *desc, const char *path, tsr_dtype dtype, int rank, const int64_t *shape,
                        tsr_error *error)
{
    tsr_error cause = {0};
    if (tsr_desc_plain(desc, dtype, rank, shape, &cause) != TSR_OK)
        return tsr_fail_in_file(error, path, &cause);
    if (!tsr_npy_has_dtype(dtype))
        return tsr_fail(error, TSR_UNSUPPORTED, "%s: the .npy format has no %s", tsr_path_shown(path),
                        tsr_dtype_name(dtype));
    return TSR_OK;
}

tsr_status tsr_npy_writer_open(tsr_npy_writer **writer, const char *path, tsr_dtype dtype, int rank,
                               const int64_t *shape, bool fortran_order, tsr_error *error)
{
    tsr_desc desc;
    tsr_status status = check(&desc, path, dtype, rank, shape, error);
    if (status != TSR_OK)
        return status;
    tsr_npy_writer *opened = tsr_allocate_zeroed(tsr_default_allocator(), 1, sizeof *opened);
    if (!opened)
        return tsr_fail_memory(error, path, sizeof *opened);
    opened->element_bytes = tsr_dtype_size_bytes(dtype);
    opened->elements = tsr_desc_elements(&desc);
    status = tsr_output_open(&opened->output, path, error);
    if (status != TSR_OK)
        goto fail;
    status = write_header(opened, &desc, fortran_order, error);
    if (status != TSR_OK)
        goto fail;
    *writer = opened;
    return TSR_OK;

fail:
    tsr_npy_writer_abort(&opened);
    return status;
}

tsr_status tsr_npy_writer_append(tsr_npy_writer *writer, const void *elements, int64_t count, tsr_error *error)
{
    const char *path = tsr_path_shown(tsr_output_path(writer->output));
    int64_t room = writer->elements - writer->written;
    if (count < 0 || count > room)
        return tsr_fail(error, TSR_OUT_OF_RANGE, "%s: expected 0 to %" PRId64 " more elements, found %" PRId64, path,
                        room, count);
    writer->written += count;
    return tsr_output_write(writer->output, elements, (size_t)count * writer->element_bytes, error);
}

tsr_status tsr_npy_writer_finish(tsr_npy_writer **writer, tsr_error *error)
{
    tsr_npy_writer *finished = *writer;
    /* of no bytes: has an earlier write failed? */
    tsr_status status = tsr_output_write(finished->output, NULL, 0, error);
    if (status == TSR_OK && finished->written < finished->elements)
        status = tsr_fail(error, TSR_OUT_OF_RANGE, "%s: expected %" PRId64 " elements, found %" PRId64,
                          tsr_path_shown(tsr_output_path(finished->output)), finished->elements, finished->written);
    if (status == TSR_OK)
        status = tsr_output_finish(&finished->output, error);
    tsr_npy_writer_abort(writer);
    return status;
}

void tsr_npy_writer_abort(tsr_npy_writer **writer)
{
    tsr_npy_writer *aborted = writer ? *writer : NULL;
    if (!aborted)
        return;
    tsr_output_abort(&aborted->output);
    tsr_deallocate(tsr_default_allocator(), aborted, sizeof *aborted);
    *writer = NULL;
}
