/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/view.h>

#include "base/error.h"
#include "base/int.h"
#include "blocked/blob.h"

static tsr_status check_part(const tsr_desc *whole, const tsr_desc *part, int number, int axis, tsr_error *error)
{
    if (part->dtype != whole->dtype || part->rank != whole->rank)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected part %d to have type %s and %d axes, found %s and %d",
                        number, tsr_dtype_name(whole->dtype), whole->rank, tsr_dtype_name(part->dtype), part->rank);
    for (int k = 0; k < whole->rank; k++)
        if (k != axis && part->dims[k] != whole->dims[k])
            return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected part %d to have %lld along axis %d, found %lld",
                            number, (long long)whole->dims[k], k, (long long)part->dims[k]);
    return TSR_OK;
}

/* Parts that may be moved without a further look. */
static tsr_status check_parts(tsr_blob *whole, tsr_blob *const *parts, int count, int axis, tsr_error *error)
{
    tsr_desc all, part;
    int64_t sum = 0;
    tsr_blob_get_desc(whole, &all);
    if (count < 1 || axis < 0 || axis >= all.rank)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected parts along an axis below %d, found %d parts along %d",
                        all.rank, count, axis);
    for (int i = 0; i < count; i++) {
        tsr_blob_get_desc(parts[i], &part);
        tsr_status status = check_part(&all, &part, i, axis, error);
        if (status != TSR_OK)
            return status;
        if (!tsr_add(sum, part.dims[axis], &sum))
            return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected parts of %lld along axis %d, found far more",
                            (long long)all.dims[axis], axis);
    }
    if (sum != all.dims[axis])
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected parts that add up to %lld along axis %d, found %lld",
                        (long long)all.dims[axis], axis, (long long)sum);
    return TSR_OK;
}

/* A view of whole, where a part belongs that begins at `first`. */
static tsr_status view_part(tsr_blob **view, int64_t *size, tsr_blob *whole, tsr_blob *part, int axis, int64_t first,
                            tsr_error *error)
{
    tsr_desc desc, part_desc, view_desc;
    int64_t begin[TSR_MAX_RANK] = {0};
    tsr_blob_get_desc(whole, &desc);
    tsr_blob_get_desc(part, &part_desc);
    begin[axis] = first;
    *size = part_desc.dims[axis];
    tsr_status status = tsr_view_crop(&view_desc, &desc, begin, part_desc.dims, NULL, error);
    return status == TSR_OK ? tsr_blob_create_view(view, whole, &view_desc, error) : status;
}

static tsr_status move_parts(tsr_blob *whole, tsr_blob *const *parts, int count, int axis, bool is_merge,
                             tsr_error *error)
{
    int64_t first = 0;
    tsr_status status = check_parts(whole, parts, count, axis, error);
    for (int i = 0; i < count && status == TSR_OK; i++) {
        tsr_blob *view = NULL;
        int64_t size = 0;
        status = view_part(&view, &size, whole, parts[i], axis, first, error);
        if (status == TSR_OK)
            status = is_merge ? tsr_blob_copy(view, parts[i], error) : tsr_blob_copy(parts[i], view, error);
        tsr_blob_free(&view);
        first += size;
    }
    return status;
}

tsr_status tsr_blob_merge(tsr_blob *whole, tsr_blob *const *parts, int count, int axis, tsr_error *error)
{
    return move_parts(whole, parts, count, axis, true, error);
}

tsr_status tsr_blob_split(tsr_blob *const *parts, int count, tsr_blob *whole, int axis, tsr_error *error)
{
    return move_parts(whole, parts, count, axis, false, error);
}

tsr_status tsr_blob_transpose(tsr_blob *dst, tsr_blob *src, int a, int b, tsr_error *error)
{
    tsr_desc desc, turned;
    tsr_blob *view;
    if (dst == src)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected two blobs to transpose one into the other");
    tsr_blob_get_desc(src, &desc);
    tsr_status status = tsr_view_transpose(&turned, &desc, a, b, error);
    if (status == TSR_OK)
        status = tsr_blob_create_view(&view, src, &turned, error);
    if (status != TSR_OK)
        return status;
    status = tsr_blob_copy(dst, view, error);
    tsr_blob_free(&view);
    return status;
}
