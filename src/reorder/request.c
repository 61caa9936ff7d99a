/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/request.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "reorder/convert.h"

const tsr_reorder_options tsr_no_options;

bool tsr_request_has_factors(const tsr_reorder_options *options)
{
    return options->scale.count > 0 || options->mean.count > 0;
}

int tsr_request_factor_axis(const tsr_reorder_options *options)
{
    if (options->scale.count > 1)
        return options->scale.axis;
    return options->mean.count > 1 ? options->mean.axis : -1;
}

float tsr_factor_at(const tsr_factors *factors, int64_t i, float none)
{
    if (factors->count == 0)
        return none;
    return factors->values[factors->count > 1 ? i : 0];
}

static tsr_status check_dims(const tsr_desc *src, const tsr_desc *dst, tsr_error *error)
{
    if (src->rank != dst->rank)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "the source has rank %d, the destination %d", src->rank,
                        dst->rank);
    for (int k = 0; k < src->rank; k++)
        if (src->dims[k] != dst->dims[k])
            return tsr_fail(error, TSR_INVALID_ARGUMENT,
                            "dims[%d] is %" PRId64 " in the source and %" PRId64 " in the destination", k, src->dims[k],
                            dst->dims[k]);
    return TSR_OK;
}

static tsr_status check_factors(const char *name, const tsr_factors *factors, const tsr_desc *desc, tsr_error *error)
{
    if (factors->count == 0)
        return TSR_OK;
    if (factors->count < 0 || !factors->values)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "%s has count %" PRId64 " and %s values", name, factors->count,
                        factors->values ? "some" : "no");
    if (factors->count == 1)
        return TSR_OK;
    if (factors->axis < 0 || factors->axis >= desc->rank)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "%s runs along axis %d of a tensor of rank %d", name,
                        factors->axis, desc->rank);
    if (factors->count != desc->dims[factors->axis])
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "%s has %" PRId64 " values, axis %d has %" PRId64 " indices", name,
                        factors->count, factors->axis, desc->dims[factors->axis]);
    return TSR_OK;
}

static tsr_status check_types(const tsr_desc *src, const tsr_desc *dst, bool has_factors, tsr_error *error)
{
    bool both = tsr_dtype_converts(src->dtype) && tsr_dtype_converts(dst->dtype);
    const tsr_desc *packed = tsr_dtype_bits(src->dtype) < 8 ? src : dst;
    if (tsr_dtype_bits(packed->dtype) < 8)
        return tsr_fail(error, TSR_UNSUPPORTED, "%s is packed below a byte: expected a type of 8 bits or more",
                        tsr_dtype_name(packed->dtype));
    if (both || (src->dtype == dst->dtype && !has_factors))
        return TSR_OK;
    return tsr_fail(
        error, TSR_UNSUPPORTED,
        "%s to %s%s: expected equal types or two of f32, f64, f16, bf16, s8, u8, s16, u16, s32, s64 and bool",
        tsr_dtype_name(src->dtype), tsr_dtype_name(dst->dtype), has_factors ? " with scale or mean" : "");
}

/* Says which side a descriptor's message is about. */
static tsr_status check_desc(const char *side, const tsr_desc *desc, bool read_only, tsr_error *error)
{
    tsr_error inner = {0};
    tsr_status status = tsr_desc_check(desc, read_only, &inner);
    return status == TSR_OK ? TSR_OK : tsr_fail(error, status, "%s: %.230s", side, inner.message);
}

tsr_status tsr_request_check(const tsr_desc *src, const tsr_desc *dst, const tsr_reorder_options *options,
                             tsr_error *error)
{
    bool has_factors = tsr_request_has_factors(options);
    tsr_status status = check_desc("source", src, true, error);
    if (status == TSR_OK)
        status = check_desc("destination", dst, false, error);
    if (status == TSR_OK)
        status = check_dims(src, dst, error);
    if (status == TSR_OK && (options->threads < 0 || (unsigned)options->padding > TSR_PADDING_KEEP))
        status =
            tsr_fail(error, TSR_INVALID_ARGUMENT, "expected 0 or more threads and a padding of 0 or 1, found %d and %d",
                     options->threads, (int)options->padding);
    if (status == TSR_OK)
        status = check_factors("scale", &options->scale, src, error);
    if (status == TSR_OK)
        status = check_factors("mean", &options->mean, src, error);
    if (status == TSR_OK)
        status = check_types(src, dst, has_factors, error);
    if (status == TSR_OK && options->scale.count > 1 && options->mean.count > 1 &&
        options->scale.axis != options->mean.axis)
        status = tsr_fail(error, TSR_UNSUPPORTED, "scale runs along axis %d and mean along axis %d: expected one axis",
                          options->scale.axis, options->mean.axis);
    return status;
}

tsr_status tsr_request_check_buffers(const tsr_desc *src_desc, const void *src, const tsr_desc *dst_desc,
                                     const void *dst, bool may_be_same, tsr_error *error)
{
    int64_t src_first, src_end, dst_first, dst_end;
    int64_t src_bytes = (int64_t)tsr_dtype_size_bytes(src_desc->dtype);
    int64_t dst_bytes = (int64_t)tsr_dtype_size_bytes(dst_desc->dtype);
    tsr_desc_span(src_desc, &src_first, &src_end);
    tsr_desc_span(dst_desc, &dst_first, &dst_end);
    if (src_first == src_end || dst_first == dst_end)
        return TSR_OK;
    if (!src || !dst)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "the %s buffer is NULL, expected %" PRId64 " bytes",
                        src ? "destination" : "source", src ? dst_end * dst_bytes : src_end * src_bytes);

    uintptr_t s = (uintptr_t)src, d = (uintptr_t)dst;
    uintptr_t src_low = s + (uintptr_t)(src_first * src_bytes), src_high = s + (uintptr_t)(src_end * src_bytes);
    uintptr_t dst_low = d + (uintptr_t)(dst_first * dst_bytes), dst_high = d + (uintptr_t)(dst_end * dst_bytes);
    if (src_low < dst_high && dst_low < src_high && !(may_be_same && src == dst))
        return tsr_fail(error, TSR_OVERLAP,
                        "source and destination share memory: %" PRIuPTR " bytes at %" PRIuPTR " and %" PRIuPTR
                        " bytes at %" PRIuPTR,
                        src_high - src_low, src_low, dst_high - dst_low, dst_low);
    return TSR_OK;
}
