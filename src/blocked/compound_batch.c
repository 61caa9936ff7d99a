/* SPDX-License-Identifier: Apache-2.0 */
#include "blocked/compound.h"

#include <inttypes.h>

#include <tessera/view.h>

#include "base/alloc.h"
#include "base/error.h"
#include "desc/ie_layout.h"

/* An image in YUV counts as its luma with two channels more. */
static void describe_part(tsr_desc *desc, const tsr_compound_part *part)
{
    tsr_blob_get_desc(part->yuv ? part->yuv->parts[0].blob : part->blob, desc);
    desc->dims[1] += part->yuv ? 2 : 0;
}

tsr_status tsr_batch_describe(tsr_compound *batch, tsr_ie_layout layout, tsr_error *error)
{
    tsr_desc part;
    int64_t dims[TSR_MAX_RANK] = {batch->count};
    const int rank = tsr_ie_layout_rank(layout);
    describe_part(&part, &batch->parts[0]);
    for (int k = 1; k < rank; k++)
        dims[k] = part.dims[part.rank - rank + k];
    return tsr_tensor_desc_from_layout(&batch->desc, tsr_precision_of_dtype(part.dtype), rank, dims, layout, error);
}

static tsr_status check_part(const tsr_desc *part, int number, const tsr_desc *first, tsr_ie_layout layout,
                             bool has_batch_axis, tsr_error *error)
{
    if (part->dtype != first->dtype || !tsr_ie_layout_fits(part, layout))
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected part %d to be %s in %s, found %s in %s", number,
                        tsr_dtype_name(first->dtype), tsr_ie_layout_name(layout), tsr_dtype_name(part->dtype),
                        tsr_ie_layout_name(tsr_ie_layout_of(part)));
    for (int k = 0; k < part->rank; k++) {
        const int64_t expected = k == 0 && has_batch_axis ? 1 : first->dims[k];
        if (part->dims[k] != expected)
            return tsr_fail(error, TSR_INVALID_ARGUMENT,
                            "expected part %d to have %" PRId64 " along axis %d, found %" PRId64, number, expected, k,
                            part->dims[k]);
    }
    return TSR_OK;
}

/* Of a batch whose parts are there: checks these, and describes it. */
static tsr_status complete_batch(tsr_compound *batch, tsr_ie_layout layout, tsr_error *error)
{
    static const struct {
        tsr_ie_layout part, batch;
    } layouts[] = {
        {TSR_IE_NCHW, TSR_IE_NCHW},   {TSR_IE_NHWC, TSR_IE_NHWC}, {TSR_IE_NCDHW, TSR_IE_NCDHW},
        {TSR_IE_NDHWC, TSR_IE_NDHWC}, {TSR_IE_NC, TSR_IE_NC},     {TSR_IE_CN, TSR_IE_CN},
        {TSR_IE_C, TSR_IE_NC},        {TSR_IE_CHW, TSR_IE_NCHW},  {TSR_IE_HWC, TSR_IE_NHWC},
    };
    const size_t rows = sizeof layouts / sizeof layouts[0];
    size_t row = 0;
    while (row < rows && layouts[row].part != layout)
        row++;
    if (row == rows)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "a batch is of C, NC, CN, or images, found layout %s",
                        tsr_ie_layout_name(layout) ? tsr_ie_layout_name(layout) : "of no name");
    tsr_desc first, part;
    describe_part(&first, &batch->parts[0]);
    for (int i = 0; i < batch->count; i++) {
        describe_part(&part, &batch->parts[i]);
        tsr_status status = check_part(&part, i, &first, layout, layouts[row].batch == layout, error);
        if (status != TSR_OK)
            return status;
    }
    return tsr_batch_describe(batch, layouts[row].batch, error);
}

static tsr_status check_count(int count, tsr_error *error)
{
    if (count >= 1)
        return TSR_OK;
    return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a batch of 1 part or more, found %d", count);
}

tsr_status tsr_compound_create_batch(tsr_compound **batch, tsr_blob *const *tensors, int count, tsr_ie_layout layout,
                                     tsr_error *error)
{
    tsr_compound *made = NULL;
    tsr_status status = check_count(count, error);
    if (status == TSR_OK)
        status = tsr_compound_make_of_blobs(&made, TSR_COMPOUND_BATCH, tensors, count, error);
    return status == TSR_OK ? tsr_compound_finish(batch, made, complete_batch(made, layout, error)) : status;
}

tsr_status tsr_compound_create_yuv_batch(tsr_compound **batch, tsr_compound *const *images, int count, tsr_error *error)
{
    tsr_compound *made = NULL;
    tsr_status status = check_count(count, error);
    if (status == TSR_OK && !images)
        status = tsr_fail(error, TSR_INVALID_ARGUMENT, "expected %d parts, found none", count);
    for (int i = 0; i < count && status == TSR_OK; i++)
        if (!images[i] || !tsr_compound_is_yuv(images[i]))
            status = tsr_fail(error, TSR_INVALID_ARGUMENT, "expected part %d to be NV12 or I420, found %s", i,
                              images[i] ? "another compound" : "none");
    if (status == TSR_OK)
        status = tsr_compound_make(&made, TSR_COMPOUND_BATCH, count, &images[0]->allocator, error);
    if (status != TSR_OK)
        return status;
    for (int i = 0; i < count; i++)
        made->parts[i].yuv = tsr_compound_share(images[i]);
    return tsr_compound_finish(batch, made, complete_batch(made, TSR_IE_NHWC, error));
}

/* ---- values ---- */

/* A part with the axis along which the batch is cut. */
static tsr_status row_of(tsr_blob **row, const tsr_compound *batch, int number, tsr_error *error)
{
    tsr_desc desc;
    tsr_blob *part = batch->parts[number].blob;
    tsr_blob_get_desc(part, &desc);
    if (desc.rank == batch->desc.desc.rank) {
        *row = tsr_blob_share(part);
        return TSR_OK;
    }
    tsr_status status = tsr_view_unsqueeze(&desc, &desc, 0, error);
    return status == TSR_OK ? tsr_blob_create_view(row, part, &desc, error) : status;
}

tsr_status tsr_compound_merge(tsr_blob *whole, const tsr_compound *batch, tsr_error *error)
{
    tsr_status status = TSR_OK;
    if (batch->kind != TSR_COMPOUND_BATCH || batch->parts[0].yuv)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a batch of tensors, found a compound of %d %s",
                        batch->count, batch->kind == TSR_COMPOUND_BATCH ? "images in YUV" : "parts");
    tsr_blob **rows = tsr_allocate_zeroed(&batch->allocator, (size_t)batch->count, sizeof *rows);
    if (!rows)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for %d views", batch->count);
    for (int i = 0; i < batch->count && status == TSR_OK; i++)
        status = row_of(&rows[i], batch, i, error);
    if (status == TSR_OK)
        status = tsr_blob_merge(whole, rows, batch->count, 0, error);
    for (int i = 0; i < batch->count; i++)
        tsr_blob_free(&rows[i]);
    tsr_deallocate(&batch->allocator, rows, (size_t)batch->count * sizeof *rows);
    return status;
}
