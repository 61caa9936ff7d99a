/* SPDX-License-Identifier: Apache-2.0 */
#include "blocked/compound.h"

#include <inttypes.h>

#include <tessera/view.h>

#include "base/alloc.h"
#include "base/error.h"

/* ---- handles ---- */

static size_t size_of_handle(int count)
{
    return sizeof(tsr_compound) + (size_t)count * sizeof(tsr_compound_part);
}

tsr_status tsr_compound_make(tsr_compound **made, tsr_compound_kind kind, int count, const tsr_allocator *allocator,
                             tsr_error *error)
{
    tsr_compound *compound = tsr_allocate_zeroed(allocator, 1, size_of_handle(count));
    if (!compound)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for a compound of %d parts", count);
    tsr_ref_init(&compound->ref);
    compound->kind = kind;
    compound->desc = tsr_tensor_desc_default();
    compound->allocator = *allocator;
    compound->count = count;
    *made = compound;
    return TSR_OK;
}

tsr_status tsr_compound_finish(tsr_compound **compound, tsr_compound *made, tsr_status status)
{
    if (status == TSR_OK)
        *compound = made;
    else
        tsr_compound_free(&made);
    return status;
}

tsr_compound *tsr_compound_share(tsr_compound *compound)
{
    if (compound)
        tsr_ref_take(&compound->ref);
    return compound;
}

void tsr_compound_free(tsr_compound **compound)
{
    tsr_compound *old = compound ? *compound : NULL;
    if (!old)
        return;
    *compound = NULL;
    if (!tsr_ref_drop(&old->ref))
        return;
    for (int i = 0; i < old->count; i++) {
        tsr_blob_free(&old->parts[i].blob);
        tsr_compound_free(&old->parts[i].yuv);
    }
    const tsr_allocator allocator = old->allocator;
    tsr_deallocate(&allocator, old, size_of_handle(old->count));
}

/* ---- what it consists of ---- */

tsr_compound_kind tsr_compound_get_kind(const tsr_compound *compound)
{
    return compound->kind;
}

int tsr_compound_count(const tsr_compound *compound)
{
    return compound->count;
}

static bool has_part(const tsr_compound *compound, int index)
{
    return index >= 0 && index < compound->count;
}

tsr_blob *tsr_compound_get(const tsr_compound *compound, int index)
{
    return has_part(compound, index) ? compound->parts[index].blob : NULL;
}

tsr_compound *tsr_compound_get_yuv(const tsr_compound *compound, int index)
{
    return has_part(compound, index) ? compound->parts[index].yuv : NULL;
}

void tsr_compound_get_desc(const tsr_compound *compound, tsr_tensor_desc *desc)
{
    *desc = compound->desc;
}

/* ---- of any blobs ---- */

tsr_status tsr_compound_make_of_blobs(tsr_compound **made, tsr_compound_kind kind, tsr_blob *const *blobs, int count,
                                      tsr_error *error)
{
    if (count < 0)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected 0 parts or more, found %d", count);
    if (count > 0 && !blobs)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected %d parts, found none", count);
    for (int i = 0; i < count; i++)
        if (!blobs[i])
            return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a blob for part %d, found none", i);
    tsr_status status =
        tsr_compound_make(made, kind, count, count ? &blobs[0]->allocator : tsr_default_allocator(), error);
    for (int i = 0; i < count && status == TSR_OK; i++)
        (*made)->parts[i].blob = tsr_blob_share(blobs[i]);
    return status;
}

tsr_status tsr_compound_create(tsr_compound **compound, tsr_blob *const *blobs, int count, tsr_error *error)
{
    return tsr_compound_make_of_blobs(compound, TSR_COMPOUND_PLAIN, blobs, count, error);
}

/* ---- regions ---- */

static bool leaves(int64_t begin, int64_t size, int64_t dim)
{
    return begin < 0 || size < 0 || begin > dim || size > dim - begin;
}

static tsr_status check_rectangle(const tsr_desc *desc, const tsr_roi *roi, tsr_error *error)
{
    if (desc->rank != 4)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected images of 4 axes, found %d", desc->rank);
    if (!leaves(roi->id, 1, desc->dims[0]) && !leaves(roi->pos_x, roi->size_x, desc->dims[3]) &&
        !leaves(roi->pos_y, roi->size_y, desc->dims[2]))
        return TSR_OK;
    return tsr_fail(error, TSR_OUT_OF_RANGE,
                    "expected a rectangle in one of %" PRId64 " images of %" PRId64 "x%" PRId64 ", found y %" PRId64
                    " + %" PRId64 ", x %" PRId64 " + %" PRId64 " of image %" PRId64,
                    desc->dims[0], desc->dims[2], desc->dims[3], roi->pos_y, roi->size_y, roi->pos_x, roi->size_x,
                    roi->id);
}

static tsr_status view_rectangle(tsr_blob **view, tsr_blob *blob, const tsr_roi *roi, tsr_error *error)
{
    tsr_desc desc;
    tsr_blob_get_desc(blob, &desc);
    const int64_t begin[] = {roi->id, 0, roi->pos_y, roi->pos_x}, size[] = {1, desc.dims[1], roi->size_y, roi->size_x};
    tsr_status status = check_rectangle(&desc, roi, error);
    if (status == TSR_OK)
        status = tsr_view_crop(&desc, &desc, begin, size, NULL, error);
    return status == TSR_OK ? tsr_blob_create_view(view, blob, &desc, error) : status;
}

static tsr_status view_plane(tsr_blob **view, const tsr_compound *yuv, int plane, const tsr_roi *roi, tsr_error *error)
{
    tsr_desc luma;
    tsr_blob_get_desc(yuv->parts[0].blob, &luma);
    tsr_status status = check_rectangle(&luma, roi, error);
    if (status != TSR_OK)
        return status;
    const tsr_roi of_plane = tsr_yuv_region_of_plane(roi, plane);
    return view_rectangle(view, yuv->parts[plane].blob, &of_plane, error);
}

static tsr_status region_of_part(tsr_compound_part *region, const tsr_compound *compound, int number,
                                 const tsr_roi *roi, tsr_error *error)
{
    const tsr_compound_part *part = &compound->parts[number];
    if (part->yuv)
        return tsr_compound_create_region(&region->yuv, part->yuv, roi, error);
    if (tsr_compound_is_yuv(compound))
        return view_plane(&region->blob, compound, number, roi, error);
    return view_rectangle(&region->blob, part->blob, roi, error);
}

tsr_status tsr_compound_create_region(tsr_compound **region, const tsr_compound *compound, const tsr_roi *roi,
                                      tsr_error *error)
{
    tsr_compound *made = NULL;
    tsr_status status = tsr_compound_make(&made, compound->kind, compound->count, &compound->allocator, error);
    if (status != TSR_OK)
        return status;
    made->desc = compound->desc;
    for (int i = 0; i < compound->count && status == TSR_OK; i++)
        status = region_of_part(&made->parts[i], compound, i, roi, error);
    if (status == TSR_OK && compound->kind == TSR_COMPOUND_BATCH)
        status = tsr_batch_describe(made, compound->desc.layout, error);
    return tsr_compound_finish(region, made, status);
}
