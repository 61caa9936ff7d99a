/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/int.h"
#include "port/caffe/caffe_blob.h"

enum { LEGACY_AXES = 4 };

tsr_status tsr_caffe_shape_init(tsr_caffe_shape *shape, int axes, const int64_t *dims, tsr_error *error)
{
    tsr_caffe_shape made = {.axes = axes, .count = 1};
    if (axes < 0 || axes > TSR_MAX_RANK)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected 0 to %d axes, found %d", TSR_MAX_RANK, axes);
    for (int k = 0; k < axes; k++) { /* as Caffe counts, so that behind a 0 all others may be anything up to INT_MAX */
        if (dims[k] < 0)
            return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected dims of at least 0, found %lld at axis %d",
                            (long long)dims[k], k);
        if (dims[k] > INT_MAX || (made.count != 0 && dims[k] > INT_MAX / made.count))
            return tsr_fail(error, TSR_OVERFLOW, "expected at most %d elements, found more with the %lld of axis %d",
                            INT_MAX, (long long)dims[k], k);
        made.dims[k] = dims[k];
        made.count *= dims[k];
    }
    *shape = made;
    return TSR_OK;
}

bool tsr_caffe_is_same_shape(const tsr_caffe_shape *a, const tsr_caffe_shape *b)
{
    return a->axes == b->axes && a->count == b->count &&
           memcmp(a->dims, b->dims, (size_t)a->axes * sizeof a->dims[0]) == 0;
}

tsr_status tsr_caffe_axis(const tsr_caffe_shape *shape, int axis, int *canonical, tsr_error *error)
{
    if (axis < -shape->axes || axis >= shape->axes)
        return tsr_fail(error, TSR_OUT_OF_RANGE, "expected an axis of %d to %d, found %d", -shape->axes,
                        shape->axes - 1, axis);
    *canonical = axis < 0 ? axis + shape->axes : axis;
    return TSR_OK;
}

/* A product of 0 is one, however large the dims around it are. */
static bool multiply(const int64_t *dims, int count, int64_t *product)
{
    bool fits = true;
    *product = 1;
    for (int k = 0; k < count; k++) {
        if (dims[k] == 0) {
            *product = 0;
            return true;
        }
        fits = fits && tsr_mul(*product, dims[k], product);
    }
    return fits;
}

tsr_status tsr_caffe_count(const tsr_caffe_shape *shape, int begin, int end, int64_t *count, tsr_error *error)
{
    int64_t product;
    if (begin < 0 || begin > end || end > shape->axes)
        return tsr_fail(error, TSR_OUT_OF_RANGE, "expected axes of 0 to %d, found %d to %d", shape->axes, begin, end);
    if (!multiply(shape->dims + begin, end - begin, &product))
        return tsr_fail(error, TSR_OVERFLOW, "expected a product of dims %d to %d that fits in 64 bits", begin,
                        end - 1);
    *count = product;
    return TSR_OK;
}

static tsr_status check_legacy(const tsr_caffe_shape *shape, tsr_error *error)
{
    if (shape->axes > LEGACY_AXES)
        return tsr_fail(error, TSR_OUT_OF_RANGE, "expected at most %d axes, found %d", LEGACY_AXES, shape->axes);
    return TSR_OK;
}

tsr_status tsr_caffe_legacy_dim(const tsr_caffe_shape *shape, int index, int64_t *dim, tsr_error *error)
{
    tsr_status status = check_legacy(shape, error);
    if (status != TSR_OK)
        return status;
    if (index < -LEGACY_AXES || index >= LEGACY_AXES)
        return tsr_fail(error, TSR_OUT_OF_RANGE, "expected an axis of %d to %d, found %d", -LEGACY_AXES,
                        LEGACY_AXES - 1, index);
    const int axis = index < 0 ? index + shape->axes : index;
    *dim = axis < 0 || axis >= shape->axes ? 1 : shape->dims[axis];
    return TSR_OK;
}

tsr_status tsr_caffe_offset(const tsr_caffe_shape *shape, int indices, const int64_t *index, int64_t *offset,
                            tsr_error *error)
{
    int64_t at = 0;
    if (indices < 0 || indices > shape->axes)
        return tsr_fail(error, TSR_OUT_OF_RANGE, "expected at most %d indices, found %d", shape->axes, indices);
    for (int k = 0; k < shape->axes; k++) {
        const int64_t i = k < indices ? index[k] : 0;
        if (k < indices && (i < 0 || i >= shape->dims[k]))
            return tsr_fail(error, TSR_OUT_OF_RANGE, "expected an index below %lld along axis %d, found %lld",
                            (long long)shape->dims[k], k, (long long)i);
        at = at * shape->dims[k] + i;
    }
    *offset = at;
    return TSR_OK;
}

tsr_status tsr_caffe_legacy_offset(const tsr_caffe_shape *shape, int64_t n, int64_t c, int64_t h, int64_t w,
                                   int64_t *offset, tsr_error *error)
{
    const int64_t index[LEGACY_AXES] = {n, c, h, w};
    tsr_caffe_shape legacy = {.axes = LEGACY_AXES};
    for (int k = 0; k < LEGACY_AXES; k++) {
        tsr_status status = tsr_caffe_legacy_dim(shape, k, &legacy.dims[k], error);
        if (status != TSR_OK)
            return status;
    }
    return tsr_caffe_offset(&legacy, LEGACY_AXES, index, offset, error);
}

int tsr_caffe_shape_print(const tsr_caffe_shape *shape, char *text, size_t size)
{
    int length = 0;
    for (int k = 0; k <= shape->axes; k++) {
        const size_t used = (size_t)length < size ? (size_t)length : size;
        const int64_t number = k < shape->axes ? shape->dims[k] : shape->count;
        const int more =
            snprintf(size ? text + used : NULL, size - used, k < shape->axes ? "%lld " : "(%lld)", (long long)number);
        if (more < 0)
            return more;
        length += more;
    }
    return length;
}
