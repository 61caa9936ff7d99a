/* SPDX-License-Identifier: Apache-2.0 */
/* A blob's shape and values from a message, and into one. */
#include <string.h>

#include "base/error.h"
#include "blocked/blob.h"
#include "port/caffe/caffe_blob.h"

bool tsr_caffe_blob_has_shape_of(const tsr_caffe_blob *blob, const tsr_caffe_blob_proto *proto)
{
    const tsr_caffe_shape *shape = &blob->shape;
    bool is_same = proto->is_legacy ? shape->axes <= proto->rank : shape->axes == proto->rank;
    for (int k = 1; k <= proto->rank && is_same; k++) { /* from the last axis on, behind axes of 1 */
        const int64_t dim = k <= shape->axes ? shape->dims[shape->axes - k] : 1;
        is_same = proto->dims[proto->rank - k] == dim;
    }
    return is_same;
}

/* Values on their way into a tensor. */
struct incoming {
    const tsr_caffe_values *values;
    const tsr_plan *plan;
    tsr_access access;
    bool has_begun;
};

static tsr_status expect_values(struct incoming *incoming, tsr_caffe_blob *blob, tsr_caffe_part part,
                                const tsr_caffe_values *values, tsr_error *error)
{
    tsr_desc desc, from;
    incoming->values = values;
    tsr_status status = tsr_blob_acquire(blob->parts[part].tensor, NULL, NULL, TSR_WRITE, &incoming->access, error);
    if (status != TSR_OK)
        return status;
    tsr_access_get_desc(&incoming->access, &desc);
    status = tsr_desc_plain(&from, values->dtype, desc.rank, desc.dims, error);
    if (status == TSR_OK)
        status = tsr_plan_cache_get(blob->options.plans, &from, &desc, NULL, &incoming->plan, error);
    return status;
}

static tsr_status take_values(struct incoming *incoming, tsr_error *error)
{
    incoming->has_begun = true;
    return incoming->values->count > 0
               ? tsr_plan_run(incoming->plan, incoming->values->elements, incoming->access.data, error)
               : TSR_OK;
}

/* Everything is acquired and planned before any value is taken on the host. */
static tsr_status read_on_host(tsr_caffe_blob *blob, const tsr_caffe_blob_proto *proto, tsr_error *error)
{
    struct incoming incoming[2] = {0};
    tsr_saved *saved = NULL; /* a release that fails leaves what was there */
    const int count = proto->diff.count > 0 ? 2 : 1;
    tsr_status status = expect_values(&incoming[0], blob, TSR_CAFFE_DATA, &proto->data, error);
    if (status == TSR_OK && count == 2)
        status = expect_values(&incoming[1], blob, TSR_CAFFE_DIFF, &proto->diff, error);
    for (int i = 0; i < count && status == TSR_OK; i++)
        status = take_values(&incoming[i], error);
    for (int i = 0; i < count; i++) {
        if (incoming[i].access.blob)
            status = tsr_blob_end_write(&incoming[i].access, incoming[i].has_begun, &saved, status, error);
        if (incoming[i].plan)
            tsr_plan_cache_put(blob->options.plans, &incoming[i].plan);
    }
    return status;
}

/* Then a device may fail to take diff, when it has data already. */
static tsr_status read_values(tsr_caffe_blob *blob, const tsr_caffe_blob_proto *proto, tsr_error *error)
{
    tsr_blob *data = blob->parts[TSR_CAFFE_DATA].tensor, *old = NULL;
    tsr_status status = TSR_OK;
    if (proto->diff.count > 0 && !tsr_is_host(tsr_blob_get_device(data)))
        status = tsr_blob_get_apart(&old, data, data, error);
    if (status == TSR_OK)
        status = read_on_host(blob, proto, error);
    tsr_status undone = status != TSR_OK && old ? tsr_blob_copy(data, old, NULL) : TSR_OK;
    (void)undone; /* if the device fails again, nobody can help */
    tsr_blob_free(&old);
    return status;
}

tsr_status tsr_caffe_blob_from_proto(tsr_caffe_blob *blob, const tsr_caffe_blob_proto *proto, bool reshape,
                                     tsr_error *error)
{
    tsr_caffe_shape shape;
    tsr_status status = tsr_caffe_shape_init(&shape, proto->rank, proto->dims, error);
    if (status != TSR_OK)
        return status;
    if (proto->data.count != shape.count || (proto->diff.count != 0 && proto->diff.count != shape.count))
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected %lld values, found %lld in data and %lld in diff",
                        (long long)shape.count, (long long)proto->data.count, (long long)proto->diff.count);
    if (!reshape && (!blob->parts[TSR_CAFFE_DATA].tensor || !tsr_caffe_blob_has_shape_of(blob, proto)))
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a message of the blob's shape");
    struct kept kept = tsr_caffe_keep(blob);
    if (reshape && !tsr_caffe_is_same_shape(&blob->shape, &shape))
        status = tsr_caffe_blob_reshape(blob, &shape, NULL, error);
    if (status == TSR_OK)
        status = read_values(blob, proto, error);
    return tsr_caffe_settle(blob, &kept, status);
}

/* The values of a part, which are acquired as long as they are looked at. */
static tsr_status acquire_values(const tsr_caffe_blob *blob, tsr_caffe_part part, tsr_caffe_values *values,
                                 tsr_access *access, tsr_error *error)
{
    tsr_status status = tsr_blob_acquire(blob->parts[part].tensor, NULL, NULL, TSR_READ, access, error);
    if (status == TSR_OK)
        *values = (tsr_caffe_values){blob->dtype, blob->shape.count, tsr_access_first_element(access)};
    return status;
}

tsr_status tsr_caffe_blob_to_proto(tsr_caffe_blob *blob, bool with_diff, void *bytes, size_t room_bytes,
                                   size_t *size_bytes, tsr_error *error)
{
    tsr_access data = {0}, diff = {0};
    tsr_caffe_blob_proto proto = {.rank = blob->shape.axes, .data.dtype = blob->dtype, .diff.dtype = blob->dtype};
    tsr_status status = TSR_OK;
    memcpy(proto.dims, blob->shape.dims, sizeof proto.dims);
    if (blob->parts[TSR_CAFFE_DATA].tensor)
        status = acquire_values(blob, TSR_CAFFE_DATA, &proto.data, &data, error);
    if (status == TSR_OK && with_diff && blob->parts[TSR_CAFFE_DIFF].tensor)
        status = acquire_values(blob, TSR_CAFFE_DIFF, &proto.diff, &diff, error);
    if (status == TSR_OK)
        status = tsr_caffe_blob_proto_write(&proto, bytes, room_bytes, size_bytes, error);
    if (diff.blob)
        status = tsr_blob_release_after(&diff, status, error);
    return data.blob ? tsr_blob_release_after(&data, status, error) : status;
}
