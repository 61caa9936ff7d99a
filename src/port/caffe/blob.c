/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include <tessera/caffe.h>

#include "base/error.h"
#include "port/caffe/proto.h"
#include "port/message.h"

/* ---- what a blob may be, in a file and for one ---- */

static tsr_status check_values(const char *what, const tsr_caffe_values *values, int64_t count, tsr_error *error)
{
    if (values->count == 0)
        return TSR_OK;
    if (values->count != count)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "%" PRId64 " values of %s, expected %" PRId64 " for the shape",
                        values->count, what, count);
    if (values->dtype != TSR_F32 && values->dtype != TSR_F64)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "%s of type %s, expected f32 or f64", what,
                        tsr_dtype_name(values->dtype));
    if (!values->elements)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "%s has no elements", what);
    return TSR_OK;
}

static tsr_status check(const tsr_caffe_blob_proto *blob, tsr_error *error)
{
    tsr_caffe_shape shape;
    tsr_status status = tsr_caffe_shape_init(&shape, blob->rank, blob->dims, error);
    if (status == TSR_OK)
        status = check_values("data", &blob->data, shape.count, error);
    if (status == TSR_OK)
        status = check_values("diff", &blob->diff, shape.count, error);
    return status;
}

/* ---- in ---- */

/* False when there are too many axes. */
static bool read_shape(tsr_caffe_blob_proto *blob, const Tsr__BlobProto *message)
{
    blob->is_legacy = message->has_num || message->has_channels || message->has_height || message->has_width;
    if (blob->is_legacy) {
        const int32_t legacy[] = {message->num, message->channels, message->height, message->width};
        for (int k = 0; k < 4; k++)
            blob->dims[blob->rank++] = legacy[k];
        return true;
    }
    for (size_t part = 0; part < message->n_shape; part++) {
        const Tsr__BlobShape *shape = message->shape[part];
        for (size_t k = 0; k < shape->n_dim; k++) {
            if (blob->rank == TSR_MAX_RANK)
                return false;
            blob->dims[blob->rank++] = shape->dim[k];
        }
    }
    return true;
}

static tsr_caffe_values read_values(const float *floats, size_t n_floats, const double *doubles, size_t n_doubles)
{
    if (n_doubles)
        return (tsr_caffe_values){TSR_F64, (int64_t)n_doubles, doubles};
    return (tsr_caffe_values){TSR_F32, (int64_t)n_floats, floats};
}

static tsr_status read_blob(tsr_caffe_blob_proto *blob, const Tsr__BlobProto *message, tsr_error *error)
{
    *blob = (tsr_caffe_blob_proto){0};
    if (!read_shape(blob, message))
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "more than %d axes", TSR_MAX_RANK);
    blob->data = read_values(message->data, message->n_data, message->double_data, message->n_double_data);
    blob->diff = read_values(message->diff, message->n_diff, message->double_diff, message->n_double_diff);
    return check(blob, error);
}

tsr_status tsr_caffe_proto_blob(tsr_caffe_blob_proto *blob, const tsr_caffe_proto *proto, int layer, int index,
                                tsr_error *error)
{
    char name[64];
    tsr_caffe_blob_proto read;
    tsr_caffe_layer found;
    tsr_error cause = {0};
    Tsr__BlobProto *const *blobs;
    tsr_status status = tsr_caffe_layer_of(&found, &blobs, proto, layer, error);
    if (status != TSR_OK)
        return status;
    tsr_quote(name, sizeof name, found.name, strlen(found.name));
    if (index < 0 || index >= found.blobs)
        return tsr_fail(error, TSR_OUT_OF_RANGE, "blob %d of %d in layer %d \"%s\"", index, found.blobs, layer, name);
    status = read_blob(&read, blobs[index], &cause);
    if (status != TSR_OK)
        return tsr_fail(error, status, "blob %d of layer %d \"%s\": %s", index, layer, name, cause.message);
    *blob = read;
    return TSR_OK;
}

/* ---- out ---- */

/* protobuf-c only reads from these, but has no const. */
static void write_values(const tsr_caffe_values *values, float **floats, size_t *n_floats, double **doubles,
                         size_t *n_doubles)
{
    if (values->dtype == TSR_F64) {
        *doubles = (double *)values->elements;
        *n_doubles = (size_t)values->count;
    } else {
        *floats = (float *)values->elements;
        *n_floats = (size_t)values->count;
    }
}

tsr_status tsr_caffe_blob_proto_write(const tsr_caffe_blob_proto *blob, void *bytes, size_t room_bytes,
                                      size_t *size_bytes, tsr_error *error)
{
    Tsr__BlobProto message = TSR__BLOB_PROTO__INIT;
    Tsr__BlobShape shape = TSR__BLOB_SHAPE__INIT, *shapes = &shape;
    tsr_status status = check(blob, error);
    if (status != TSR_OK)
        return status;
    shape.n_dim = (size_t)blob->rank;
    shape.dim = (int64_t *)blob->dims;
    message.n_shape = blob->rank > 0; /* Caffe writes none for a scalar */
    message.shape = &shapes;
    write_values(&blob->data, &message.data, &message.n_data, &message.double_data, &message.n_double_data);
    write_values(&blob->diff, &message.diff, &message.n_diff, &message.double_diff, &message.n_double_diff);

    size_t needed = tsr__blob_proto__get_packed_size(&message);
    if (needed > INT_MAX)
        return tsr_fail(error, TSR_OVERFLOW, "a BlobProto of %zu bytes, expected at most %d", needed, INT_MAX);
    if (bytes && needed > room_bytes)
        return tsr_fail(error, TSR_OUT_OF_RANGE, "a BlobProto of %zu bytes, but room for %zu", needed, room_bytes);
    if (bytes)
        tsr__blob_proto__pack(&message, bytes);
    *size_bytes = needed;
    return TSR_OK;
}
