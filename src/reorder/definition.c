/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "reorder/request.h"
#include "reorder/scalar.h"

/* Where the source has the element: axes of options->reverse run backwards there. */
static bool offset_in_source(const tsr_desc *desc, const int64_t *index, uint32_t reverse, int64_t *offset)
{
    int64_t seen[TSR_MAX_RANK];
    for (int k = 0; k < desc->rank; k++)
        seen[k] = reverse >> k & 1 ? desc->dims[k] - 1 - index[k] : index[k];
    return tsr_desc_offset(desc, desc->rank, seen, offset, NULL) == TSR_OK;
}

enum { WIDEST = 8 };

/* Where an element is: its bytes, and of a packed one the bits below it there, and its own. */
struct place {
    int64_t at;
    size_t bytes;
    int shift;
    unsigned mask; /* of the first byte */
};

static struct place place_of(tsr_dtype dtype, int64_t offset)
{
    int bits = tsr_dtype_bits(dtype), in_byte = bits < 8 ? 8 / bits : 1, shift = (int)(offset % in_byte) * bits;
    size_t bytes = tsr_dtype_size_bytes(dtype);
    return (struct place){offset / in_byte * (int64_t)bytes, bytes, shift,
                          bits < 8 ? ((1U << bits) - 1) << shift : 255};
}

/* One element of a buffer, as one that stands alone. */
static void take(unsigned char *element, const unsigned char *buffer, tsr_dtype dtype, int64_t offset)
{
    struct place place = place_of(dtype, offset);
    memcpy(element, buffer + place.at, place.bytes);
    element[0] = (unsigned char)((element[0] & place.mask) >> place.shift);
}

/* And back, where its neighbours in a byte stay as they are. */
static void put(unsigned char *buffer, const unsigned char *element, tsr_dtype dtype, int64_t offset)
{
    struct place place = place_of(dtype, offset);
    unsigned others = buffer[place.at] & ~place.mask;
    memcpy(buffer + place.at, element, place.bytes);
    buffer[place.at] = (unsigned char)(others | ((unsigned)element[0] << place.shift & place.mask));
}

/* Moves one element. */
static void move_element(const tsr_desc *src_desc, const void *src, const tsr_desc *dst_desc, void *dst,
                         const int64_t *index, const tsr_reorder_options *options)
{
    int64_t from, to, i = 0;
    int axis = tsr_request_factor_axis(options);
    if (!offset_in_source(src_desc, index, options->reverse, &from) ||
        tsr_desc_offset(dst_desc, dst_desc->rank, index, &to, NULL) != TSR_OK)
        return;
    unsigned char x[WIDEST] = {0}, y[WIDEST] = {0};
    take(x, src, src_desc->dtype, from);
    if (options->beta != 0)
        take(y, dst, dst_desc->dtype, to);
    if (axis >= 0)
        i = index[axis];
    tsr_factors_of_element factors = {tsr_factor_at(&options->mean, i, 0.0f), tsr_factor_at(&options->scale, i, 1.0f),
                                      tsr_factor_at(&options->shift, i, -0.0f), options->beta};
    if (tsr_request_has_arithmetic(options))
        tsr_convert_scalar(y, dst_desc->dtype, x, src_desc->dtype, &factors);
    else if (src_desc->dtype == dst_desc->dtype)
        memcpy(y, x, sizeof y);
    else
        tsr_convert_scalar(y, dst_desc->dtype, x, src_desc->dtype, NULL);
    put(dst, y, dst_desc->dtype, to);
}

/* The next index in row-major order; false after the last. */
static bool next(int64_t *index, const int64_t *extents, int n)
{
    for (int k = n - 1; k >= 0; k--) {
        if (++index[k] < extents[k])
            return true;
        index[k] = 0;
    }
    return false;
}

/* Is the cell at these block steps past the dim of some axis, and seen by all axes that are windows? */
static bool is_padding(const tsr_desc *desc, const int64_t *step)
{
    int64_t position[TSR_MAX_RANK] = {0};
    bool past = false;
    for (int i = 0; i < desc->levels; i++)
        position[desc->order[i]] = position[desc->order[i]] * desc->block_dims[i] + step[i];
    for (int k = 0; k < desc->rank; k++) {
        int64_t behind = position[k] - desc->first[k];
        if (desc->step[k] == 0)
            past |= position[k] >= desc->dims[k];
        else if (behind < 0 || behind % desc->step[k] != 0 || behind / desc->step[k] >= desc->dims[k])
            return false;
    }
    return past;
}

static void zero_padding(const tsr_desc *desc, void *dst)
{
    int64_t step[TSR_MAX_LEVELS] = {0};
    static const unsigned char zero[WIDEST];
    if (tsr_desc_padded_elements(desc) == tsr_desc_elements(desc))
        return;
    do {
        int64_t offset = desc->offset;
        for (int i = 0; i < desc->levels; i++)
            offset += (step[i] + desc->pad_before[i]) * desc->strides[i];
        if (is_padding(desc, step))
            put(dst, zero, desc->dtype, offset);
    } while (next(step, desc->block_dims, desc->levels));
}

static void move_elements(const tsr_desc *src_desc, const void *src, const tsr_desc *dst_desc, void *dst,
                          const tsr_reorder_options *options)
{
    int64_t index[TSR_MAX_RANK] = {0};
    do
        move_element(src_desc, src, dst_desc, dst, index, options);
    while (next(index, dst_desc->dims, dst_desc->rank));
}

/* From a copy of the source. */
static tsr_status move_in_place(const tsr_desc *src_desc, tsr_span span, const tsr_desc *dst_desc, void *dst,
                                const tsr_reorder_options *options, tsr_error *error)
{
    char *copy = tsr_allocate(tsr_default_allocator(), (size_t)span.end);
    if (!copy)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for a copy of the source");
    memcpy(copy + span.first, (char *)dst + span.first, (size_t)(span.end - span.first));
    move_elements(src_desc, copy, dst_desc, dst, options);
    tsr_deallocate(tsr_default_allocator(), copy, (size_t)span.end);
    return TSR_OK;
}

tsr_status tsr_reorder_by_definition(const tsr_desc *src_desc, const void *src, const tsr_desc *dst_desc, void *dst,
                                     const tsr_reorder_options *options, tsr_error *error)
{
    if (!options)
        options = &tsr_no_options;
    tsr_desc seen;
    tsr_status status = tsr_request_check(&seen, src_desc, dst_desc, options, error);
    if (status == TSR_OK)
        status = tsr_request_check_buffers(tsr_span_of(&seen), src, tsr_span_of(dst_desc), dst,
                                           options->in_place ? TSR_ONE_BUFFER : TSR_TWO_BUFFERS, error);
    if (status != TSR_OK || tsr_desc_elements(dst_desc) == 0)
        return status;
    if (options->in_place)
        status = move_in_place(src_desc, tsr_span_of(&seen), dst_desc, dst, options, error);
    else
        move_elements(src_desc, src, dst_desc, dst, options);
    if (status == TSR_OK && options->padding == TSR_PADDING_ZERO)
        zero_padding(dst_desc, dst);
    return status;
}
