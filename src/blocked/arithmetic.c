/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/arithmetic.h>

#include <math.h>
#include <string.h>

#include <tessera/parallel.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/int.h"
#include "blocked/blas/axpy.h"
#include "blocked/blob.h"

/*
 * All is done on flat arrays: the elements of a layout that has no gaps, and its padding, which is zero for a reader.
 * What becomes of the padding of a writer does not matter.
 */
typedef struct flat {
    tsr_access access;
    tsr_dtype dtype;
    int64_t count;
    void *elements;
} flat;

/* Elements that are worth a thread, and bytes. */
enum { GRAIN = 1 << 15, GRAIN_BYTES = 1 << 17 };

/* ---- flat arrays of blobs ---- */

static bool has_no_gaps(const tsr_desc *desc)
{
    int64_t first, end;
    return tsr_span_without_gaps(desc, &first, &end);
}

/* A layout of the blob without gaps: that of its home, if it has none. */
static tsr_status choose_layout(tsr_blob *blob, tsr_desc *layout, tsr_error *error)
{
    tsr_blob_get_desc(blob, layout);
    if (has_no_gaps(layout))
        return TSR_OK;
    const tsr_desc home = *layout;
    return tsr_desc_plain(layout, home.dtype, home.rank, home.dims, error);
}

static tsr_status open_flat(flat *flat, tsr_blob *blob, const tsr_desc *layout, tsr_intent intent, tsr_error *error)
{
    int64_t first, end;
    tsr_status status = tsr_blob_acquire(blob, NULL, layout, intent, &flat->access, error);
    if (status != TSR_OK)
        return status;
    tsr_desc acquired; /* a view has moved, perhaps, since it was asked for its layout */
    tsr_access_get_desc(&flat->access, &acquired);
    tsr_desc_span(&acquired, &first, &end);
    flat->dtype = acquired.dtype;
    flat->count = end - first;
    flat->elements = flat->access.data;
    if (flat->elements)
        flat->elements = (char *)flat->elements + first * tsr_dtype_bits(acquired.dtype) / 8;
    return TSR_OK;
}

static tsr_status refuse_type(tsr_dtype dtype, const char *expected, tsr_error *error)
{
    return tsr_fail(error, TSR_UNSUPPORTED, "expected elements of type %s, found %s", expected, tsr_dtype_name(dtype));
}

/* ---- element by element ---- */

typedef struct job {
    tsr_dtype dtype;
    void *to;
    const void *from; /* one value, or as many elements */
    double factor;
} job;

#define EACH(type, expression)                                                                                         \
    do {                                                                                                               \
        type *x = job->to;                                                                                             \
        const type *y = job->from;                                                                                     \
        const type factor = (type)job->factor;                                                                         \
        (void)y;                                                                                                       \
        (void)factor;                                                                                                  \
        for (int64_t i = begin; i < end; i++)                                                                          \
            x[i] = (expression);                                                                                       \
    } while (0)

/* Unsigned, so that what does not fit wraps. */
#define OF_EACH_TYPE(name, floating, integer)                                                                          \
    static void name(void *argument, int64_t begin, int64_t end)                                                       \
    {                                                                                                                  \
        const job *job = argument;                                                                                     \
        if (job->dtype == TSR_F32)                                                                                     \
            EACH(float, floating);                                                                                     \
        else if (job->dtype == TSR_F64)                                                                                \
            EACH(double, floating);                                                                                    \
        else                                                                                                           \
            EACH(uint32_t, integer);                                                                                   \
    }

OF_EACH_TYPE(fill_range, *y, *y)
OF_EACH_TYPE(scale_range, x[i] * factor, x[i])
OF_EACH_TYPE(add_in_loop, x[i] + y[i], x[i] + y[i])
OF_EACH_TYPE(subtract_in_loop, x[i] - y[i], x[i] - y[i])

static void add_range(void *argument, int64_t begin, int64_t end)
{
    const job *job = argument;
    if (!tsr_axpy(job->dtype, 1, job->from, job->to, begin, end))
        add_in_loop(argument, begin, end);
}

static void subtract_range(void *argument, int64_t begin, int64_t end)
{
    const job *job = argument;
    if (!tsr_axpy(job->dtype, -1, job->from, job->to, begin, end))
        subtract_in_loop(argument, begin, end);
}

static bool is_summed(tsr_dtype dtype)
{
    return dtype == TSR_F32 || dtype == TSR_F64;
}

static bool is_added(tsr_dtype dtype)
{
    return is_summed(dtype) || dtype == TSR_S32;
}

/* Does something to all elements of a blob, which it may read from `from`. */
static tsr_status change(tsr_blob *blob, tsr_intent intent, tsr_range_task task, const void *from, double factor,
                         tsr_error *error)
{
    tsr_desc layout;
    flat flat;
    tsr_status status = choose_layout(blob, &layout, error);
    if (status == TSR_OK)
        status = open_flat(&flat, blob, &layout, intent, error);
    if (status != TSR_OK)
        return status;
    job job = {flat.dtype, flat.elements, from, factor};
    tsr_parallel_for(NULL, blob->threads, flat.count, GRAIN, task, &job);
    return tsr_blob_release_after(&flat.access, TSR_OK, error);
}

static tsr_dtype type_of(tsr_blob *blob)
{
    tsr_desc desc;
    tsr_blob_get_desc(blob, &desc);
    return desc.dtype;
}

tsr_status tsr_blob_fill(tsr_blob *blob, const void *value, tsr_error *error)
{
    const tsr_dtype dtype = type_of(blob);
    if (!is_added(dtype))
        return refuse_type(dtype, "f32, f64 or s32", error);
    return change(blob, TSR_WRITE, fill_range, value, 0, error);
}

tsr_status tsr_blob_scale(tsr_blob *blob, double factor, tsr_error *error)
{
    const tsr_dtype dtype = type_of(blob);
    if (!is_summed(dtype))
        return refuse_type(dtype, "f32 or f64", error);
    return change(blob, TSR_READ_WRITE, scale_range, NULL, factor, error);
}

static void clear_range(void *elements, int64_t begin, int64_t end)
{
    if (begin < end)
        memset((char *)elements + begin, 0, (size_t)(end - begin));
}

/* Zeros are zeros in every type, also where two elements share a byte: then all of a buffer is cleared. */
tsr_status tsr_blob_clear(tsr_blob *blob, tsr_error *error)
{
    tsr_desc layout;
    flat flat;
    tsr_blob_get_desc(blob, &layout);
    tsr_status status = tsr_desc_plain(&layout, layout.dtype, layout.rank, layout.dims, error);
    if (status == TSR_OK)
        status = tsr_dtype_bits(layout.dtype) < 8 ? TSR_OK : choose_layout(blob, &layout, error);
    if (status == TSR_OK)
        status = open_flat(&flat, blob, &layout, TSR_WRITE, error);
    if (status != TSR_OK)
        return status;
    const int64_t bytes = tsr_ceil_div(flat.count * tsr_dtype_bits(flat.dtype), 8);
    tsr_parallel_for(NULL, blob->threads, bytes, GRAIN_BYTES, clear_range, flat.elements);
    return tsr_blob_release_after(&flat.access, TSR_OK, error);
}

/* ---- two blobs ---- */

static tsr_status combine(tsr_blob *dst, tsr_blob *src, tsr_range_task task, tsr_error *error)
{
    tsr_desc layout, other;
    flat to, from;
    int64_t first, end;
    tsr_blob *apart;
    tsr_status status = choose_layout(dst, &layout, error);
    if (status == TSR_OK && !is_added(layout.dtype))
        status = refuse_type(layout.dtype, "f32, f64 or s32", error);
    if (status != TSR_OK)
        return status;
    other = layout;
    tsr_desc_span(&layout, &first, &end);
    other.offset -= first; /* of a view, which begins elsewhere in its buffer */
    status = tsr_blob_get_apart(&apart, src, dst, error);
    if (status != TSR_OK)
        return status;
    status = open_flat(&from, apart, &other, TSR_READ, error);
    tsr_blob_free(&apart); /* the access has it */
    if (status != TSR_OK)
        return status;
    status = open_flat(&to, dst, &layout, TSR_READ_WRITE, error);
    if (status == TSR_OK) {
        job job = {to.dtype, to.elements, from.elements, 0};
        tsr_parallel_for(NULL, dst->threads, to.count, GRAIN, task, &job);
        status = tsr_blob_release_after(&to.access, status, error);
    }
    return tsr_blob_release_after(&from.access, status, error);
}

tsr_status tsr_blob_add(tsr_blob *dst, tsr_blob *src, tsr_error *error)
{
    return combine(dst, src, add_range, error);
}

tsr_status tsr_blob_subtract(tsr_blob *dst, tsr_blob *src, tsr_error *error)
{
    return combine(dst, src, subtract_range, error);
}

/* ---- sums ---- */

enum { SUMS = 8, BLOCK = 4096 };

typedef struct sums {
    const flat *flat;
    bool is_of_squares;
    double *of_block;
} sums;

#define SUM_OF_BLOCK(type, term)                                                                                       \
    do {                                                                                                               \
        const type *x = elements;                                                                                      \
        int64_t i = begin;                                                                                             \
        for (; i + SUMS <= end; i += SUMS)                                                                             \
            for (int k = 0; k < SUMS; k++) {                                                                           \
                const double v = x[i + k];                                                                             \
                sum[k] += (term);                                                                                      \
            }                                                                                                          \
        for (; i < end; i++) {                                                                                         \
            const double v = x[i];                                                                                     \
            sum[i % SUMS] += (term);                                                                                   \
        }                                                                                                              \
    } while (0)

static double sum_of_block(const sums *sums, int64_t begin, int64_t end)
{
    const void *elements = sums->flat->elements;
    double sum[SUMS] = {0}, all = 0;
    if (sums->flat->dtype == TSR_F32 && sums->is_of_squares)
        SUM_OF_BLOCK(float, v *v);
    else if (sums->flat->dtype == TSR_F32)
        SUM_OF_BLOCK(float, fabs(v));
    else if (sums->is_of_squares)
        SUM_OF_BLOCK(double, v *v);
    else
        SUM_OF_BLOCK(double, fabs(v));
    for (int k = 0; k < SUMS; k++)
        all += sum[k];
    return all;
}

static void sum_blocks(void *argument, int64_t begin, int64_t end)
{
    const sums *sums = argument;
    for (int64_t b = begin; b < end; b++)
        sums->of_block[b] = sum_of_block(sums, b * BLOCK, tsr_min(sums->flat->count, (b + 1) * BLOCK));
}

static tsr_status add_up(const flat *flat, bool is_of_squares, double *sum, tsr_error *error)
{
    const int64_t blocks = tsr_ceil_div(flat->count, BLOCK);
    const size_t bytes = (size_t)blocks * sizeof(double);
    const tsr_allocator *allocator = &flat->access.blob->allocator;
    sums sums = {flat, is_of_squares, tsr_allocate(allocator, bytes)};
    double all = 0;
    if (!sums.of_block && blocks > 0)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for %lld partial sums", (long long)blocks);
    tsr_parallel_for(NULL, flat->access.blob->threads, blocks, GRAIN / BLOCK, sum_blocks, &sums);
    for (int64_t b = 0; b < blocks; b++)
        all += sums.of_block[b];
    tsr_deallocate(allocator, sums.of_block, bytes);
    *sum = all;
    return TSR_OK;
}

static tsr_status sum_elements(tsr_blob *blob, bool is_of_squares, double *sum, tsr_error *error)
{
    tsr_desc layout;
    flat flat;
    tsr_status status = choose_layout(blob, &layout, error);
    if (status == TSR_OK && !is_summed(layout.dtype))
        status = refuse_type(layout.dtype, "f32 or f64", error);
    if (status == TSR_OK)
        status = open_flat(&flat, blob, &layout, TSR_READ, error);
    if (status != TSR_OK)
        return status;
    return tsr_blob_release_after(&flat.access, add_up(&flat, is_of_squares, sum, error), error);
}

tsr_status tsr_blob_sum_of_absolutes(tsr_blob *blob, double *sum, tsr_error *error)
{
    return sum_elements(blob, false, sum, error);
}

tsr_status tsr_blob_sum_of_squares(tsr_blob *blob, double *sum, tsr_error *error)
{
    return sum_elements(blob, true, sum, error);
}
