/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include <tessera/npy.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/int.h"
#include "port/input.h"
#include "port/message.h"
#include "port/npy_header.h"

struct tsr_npy {
    tsr_desc desc;
    const void *data; /* in input, or swapped */
    void *swapped;
    size_t data_bytes;
    tsr_input input;
};

/* Where the header's text lies in the file. */
typedef struct extent {
    size_t start;
    size_t length;
} extent;

static tsr_status fail_magic(const tsr_input *input, const char *path, tsr_error *error)
{
    char found[4 * TSR_NPY_MAGIC_BYTES + 1];
    if (input->size_bytes == 0)
        return tsr_fail(error, TSR_PARSE_ERROR, "%s: expected a .npy file, found an empty one", tsr_path_shown(path));
    size_t count = input->size_bytes < TSR_NPY_MAGIC_BYTES ? input->size_bytes : TSR_NPY_MAGIC_BYTES;
    return tsr_fail(error, TSR_PARSE_ERROR, "%s: expected \\x93NUMPY at the start, found %s", tsr_path_shown(path),
                    tsr_quote(found, sizeof found, input->bytes, count));
}

static tsr_status read_preamble(tsr_input *input, extent *header, const char *path, tsr_error *error)
{
    tsr_status status = tsr_input_fill(input, TSR_NPY_PREAMBLE_BYTES, path, error);
    if (status != TSR_OK)
        return status;
    if (input->size_bytes < TSR_NPY_MAGIC_BYTES || memcmp(input->bytes, TSR_NPY_MAGIC, TSR_NPY_MAGIC_BYTES) != 0)
        return fail_magic(input, path, error);
    size_t wanted = TSR_NPY_PREAMBLE_BYTES;
    if (input->size_bytes >= wanted) {
        unsigned major = input->bytes[6];
        unsigned minor = input->bytes[7];
        if (major < 1 || major > 3 || minor != 0)
            return tsr_fail(error, TSR_UNSUPPORTED, "%s: expected .npy version 1.0, 2.0 or 3.0, found %u.%u",
                            tsr_path_shown(path), major, minor);
        wanted += major > 1 ? 2 : 0;
        status = tsr_input_fill(input, wanted, path, error);
        if (status != TSR_OK)
            return status;
    }
    if (input->size_bytes < wanted)
        return tsr_fail(error, TSR_PARSE_ERROR, "%s: expected %zu bytes before the header, found %zu",
                        tsr_path_shown(path), wanted, input->size_bytes);
    header->start = wanted;
    header->length = 0;
    for (size_t i = wanted; i > 8; i--)
        header->length = header->length << 8 | input->bytes[i - 1];
    return TSR_OK;
}

/* Fills until size_bytes of `what` are there behind start, or fails. */
static tsr_status fill_behind(tsr_input *input, size_t start, size_t size_bytes, const char *what, const char *path,
                              tsr_error *error)
{
    size_t end;
    if (__builtin_add_overflow(start, size_bytes, &end))
        end = SIZE_MAX;
    tsr_status status = tsr_input_fill(input, end, path, error);
    if (status == TSR_OK && input->size_bytes - start < size_bytes)
        return tsr_fail(error, TSR_PARSE_ERROR, "%s: expected %zu bytes of %s, found %zu", tsr_path_shown(path),
                        size_bytes, what, input->size_bytes - start);
    return status;
}

static tsr_status describe(tsr_desc *desc, const tsr_npy_header *header, tsr_error *error)
{
    if (!header->fortran_order)
        return tsr_desc_plain(desc, header->dtype, header->rank, header->shape, error);
    int64_t strides[TSR_MAX_RANK];
    int64_t stride = 1;
    for (int k = 0; k < header->rank; k++) {
        strides[k] = stride;
        if (!tsr_mul(stride, tsr_max(header->shape[k], 1), &stride))
            return tsr_fail(error, TSR_OVERFLOW, "the product of the dims does not fit into 63 bits");
    }
    return tsr_desc_strided(desc, header->dtype, header->rank, header->shape, strides, 0, error);
}

/* Bytes, because both may be misaligned. With a constant width this becomes byte swaps. */
static inline void reverse_each(unsigned char *restrict to, const unsigned char *restrict from, size_t size_bytes,
                                size_t width)
{
    for (size_t i = 0; i < size_bytes; i += width)
        for (size_t k = 0; k < width; k++)
            to[i + k] = from[i + width - 1 - k];
}

static void swap_elements(unsigned char *to, const unsigned char *from, size_t size_bytes, size_t element_bytes)
{
    if (element_bytes == 2)
        reverse_each(to, from, size_bytes, 2);
    else if (element_bytes == 4)
        reverse_each(to, from, size_bytes, 4);
    else
        reverse_each(to, from, size_bytes, 8);
}

/* From here on the elements are in memory of our own, in the host's order, and the file is not needed. */
static tsr_status swap_data(tsr_npy *npy, const unsigned char *data, const char *path, tsr_error *error)
{
    npy->swapped = tsr_allocate(tsr_default_allocator(), npy->data_bytes);
    if (!npy->swapped)
        return tsr_fail_memory(error, path, npy->data_bytes);
    swap_elements(npy->swapped, data, npy->data_bytes, tsr_dtype_size_bytes(npy->desc.dtype));
    npy->data = npy->swapped;
    tsr_input_close(&npy->input);
    return TSR_OK;
}

static tsr_status read_file(tsr_npy *npy, const char *path, tsr_error *error)
{
    tsr_error cause = {0};
    extent text = {0};
    tsr_npy_header header = {0};
    tsr_status status = tsr_input_open(&npy->input, path, error);
    if (status == TSR_OK)
        status = read_preamble(&npy->input, &text, path, error);
    if (status == TSR_OK)
        status = fill_behind(&npy->input, text.start, text.length, "header", path, error);
    if (status != TSR_OK)
        return status;

    status = tsr_npy_header_parse(&header, (const char *)npy->input.bytes + text.start, text.length, &cause);
    if (status == TSR_OK)
        status = describe(&npy->desc, &header, &cause);
    if (status != TSR_OK)
        return tsr_fail_in_file(error, path, &cause);

    size_t start = text.start + text.length;
    npy->data_bytes = (size_t)tsr_desc_size_bytes(&npy->desc);
    status = fill_behind(&npy->input, start, npy->data_bytes, "data", path, error);
    if (status != TSR_OK)
        return status;
    tsr_input_stop(&npy->input);
    if (npy->data_bytes == 0)
        return TSR_OK;
    if (header.swapped)
        return swap_data(npy, npy->input.bytes + start, path, error);
    npy->data = npy->input.bytes + start;
    return TSR_OK;
}

tsr_status tsr_npy_open(tsr_npy **npy, const char *path, tsr_error *error)
{
    tsr_npy *opened = tsr_allocate_zeroed(tsr_default_allocator(), 1, sizeof *opened);
    if (!opened)
        return tsr_fail_memory(error, path, sizeof *opened);
    tsr_status status = read_file(opened, path, error);
    if (status != TSR_OK)
        goto fail;
    *npy = opened;
    return TSR_OK;

fail:
    tsr_npy_close(&opened);
    return status;
}

const tsr_desc *tsr_npy_desc(const tsr_npy *npy)
{
    return &npy->desc;
}

const void *tsr_npy_data(const tsr_npy *npy)
{
    return npy->data;
}

void tsr_npy_close(tsr_npy **npy)
{
    tsr_npy *closed = npy ? *npy : NULL;
    if (!closed)
        return;
    tsr_input_close(&closed->input);
    tsr_deallocate(tsr_default_allocator(), closed->swapped, closed->data_bytes);
    tsr_deallocate(tsr_default_allocator(), closed, sizeof *closed);
    *npy = NULL;
}
