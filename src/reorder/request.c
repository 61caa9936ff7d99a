/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/request.h"

#include <inttypes.h>
#include <string.h>

#include <tessera/view.h>

#include "base/error.h"
#include "base/int.h"
#include "reorder/convert.h"

const tsr_reorder_options tsr_no_options;

enum { FACTORS = 3 };

static const char *const factor_names[FACTORS] = {"scale", "mean", "shift"};

static const tsr_factors *factors_of(const tsr_reorder_options *options, int i)
{
    const tsr_factors *const all[FACTORS] = {&options->scale, &options->mean, &options->shift};
    return all[i];
}

bool tsr_request_has_arithmetic(const tsr_reorder_options *options)
{
    for (int i = 0; i < FACTORS; i++)
        if (factors_of(options, i)->count > 0)
            return true;
    return options->beta != 0;
}

int tsr_request_factor_axis(const tsr_reorder_options *options)
{
    for (int i = 0; i < FACTORS; i++)
        if (factors_of(options, i)->count > 1)
            return factors_of(options, i)->axis;
    return -1;
}

static int64_t indices_of_factor(const tsr_factors *factors)
{
    return tsr_max(factors->group, 1);
}

float tsr_factor_at(const tsr_factors *factors, int64_t i, float none)
{
    if (factors->count == 0)
        return none;
    return factors->values[factors->count > 1 ? i / indices_of_factor(factors) : 0];
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
    if (factors->group < 0)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "%s has groups of %" PRId64 " indices, expected 0 or more", name,
                        factors->group);
    if (factors->count == 1)
        return TSR_OK;
    if (factors->axis < 0 || factors->axis >= desc->rank)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "%s runs along axis %d of a tensor of rank %d", name,
                        factors->axis, desc->rank);
    if (factors->group > 1 && factors->count != tsr_ceil_div(desc->dims[factors->axis], factors->group))
        return tsr_fail(error, TSR_INVALID_ARGUMENT,
                        "%s has %" PRId64 " values for groups of %" PRId64 ", axis %d has %" PRId64 " indices", name,
                        factors->count, factors->group, factors->axis, desc->dims[factors->axis]);
    if (factors->group <= 1 && factors->count != desc->dims[factors->axis])
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "%s has %" PRId64 " values, axis %d has %" PRId64 " indices", name,
                        factors->count, factors->axis, desc->dims[factors->axis]);
    return TSR_OK;
}

/* Factors along axes must share one. */
static tsr_status check_all_factors(const tsr_reorder_options *options, const tsr_desc *desc, tsr_error *error)
{
    tsr_status status = TSR_OK;
    int axis = tsr_request_factor_axis(options), first = 0;
    for (int i = 0; status == TSR_OK && i < FACTORS; i++)
        status = check_factors(factor_names[i], factors_of(options, i), desc, error);
    while (first < FACTORS - 1 && factors_of(options, first)->count <= 1)
        first++;
    for (int i = first + 1; status == TSR_OK && i < FACTORS; i++)
        if (factors_of(options, i)->count > 1 && factors_of(options, i)->axis != axis)
            status = tsr_fail(error, TSR_UNSUPPORTED, "%s runs along axis %d and %s along axis %d: expected one axis",
                              factor_names[first], axis, factor_names[i], factors_of(options, i)->axis);
    return status;
}

static tsr_status reverse(tsr_desc *seen, const tsr_desc *src, uint32_t axes, tsr_error *error)
{
    tsr_status status = TSR_OK;
    *seen = *src;
    for (int k = 0; status == TSR_OK && k < 32; k++) {
        if ((axes >> k & 1) == 0)
            continue;
        if (k >= src->rank)
            return tsr_fail(error, TSR_INVALID_ARGUMENT, "reverse names axis %d of a tensor of rank %d", k, src->rank);
        status = tsr_view_reverse(seen, seen, k, error);
    }
    return status;
}

/* Says which side a descriptor's message is about. */
static tsr_status check_desc(const char *side, const tsr_desc *desc, bool read_only, tsr_error *error)
{
    tsr_error inner = {0};
    tsr_status status = tsr_desc_check(desc, read_only, &inner);
    return status == TSR_OK ? TSR_OK : tsr_fail(error, status, "%s: %.230s", side, inner.message);
}

tsr_status tsr_request_check(tsr_desc *seen, const tsr_desc *src, const tsr_desc *dst,
                             const tsr_reorder_options *options, tsr_error *error)
{
    tsr_status status = check_desc("source", src, true, error);
    if (status == TSR_OK)
        status = check_desc("destination", dst, false, error);
    if (status == TSR_OK)
        status = check_dims(src, dst, error);
    if (status == TSR_OK && (options->threads < 0 || (unsigned)options->padding > TSR_PADDING_KEEP))
        status =
            tsr_fail(error, TSR_INVALID_ARGUMENT, "expected 0 or more threads and a padding of 0 or 1, found %d and %d",
                     options->threads, (int)options->padding);
    if (status == TSR_OK && options->scratch_bytes < 0)
        status = tsr_fail(error, TSR_INVALID_ARGUMENT, "expected 0 or more bytes of scratch memory, found %" PRId64,
                          options->scratch_bytes);
    if (status == TSR_OK && options->tile_bytes < 0)
        status = tsr_fail(error, TSR_INVALID_ARGUMENT, "expected 0 or more bytes of a tile, found %" PRId64,
                          options->tile_bytes);
    if (status == TSR_OK && !(options->least_share >= 0))
        status = tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a share of 0 or more of memcpy's speed, found %g",
                          (double)options->least_share);
    if (status == TSR_OK && (unsigned)options->streaming > TSR_STREAMING_ALWAYS)
        status =
            tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a streaming of 0 to 2, found %d", (int)options->streaming);
    if (status == TSR_OK)
        status = check_all_factors(options, src, error);
    return status == TSR_OK ? reverse(seen, src, options->reverse, error) : status;
}

tsr_span tsr_span_of(const tsr_desc *desc)
{
    int64_t bits = tsr_dtype_bits(desc->dtype), first, end;
    tsr_desc_span(desc, &first, &end);
    return (tsr_span){first / 8 * bits + first % 8 * bits / 8, tsr_desc_size_bytes(desc)};
}

tsr_status tsr_request_check_buffers(tsr_span src_span, const void *src, tsr_span dst_span, const void *dst,
                                     int buffers, tsr_error *error)
{
    if (src_span.first == src_span.end || dst_span.first == dst_span.end)
        return TSR_OK;
    if (!src || !dst)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "the %s buffer is NULL, expected %" PRId64 " bytes",
                        src ? "destination" : "source", src ? dst_span.end : src_span.end);

    uintptr_t s = (uintptr_t)src, d = (uintptr_t)dst;
    if (src == dst && (buffers & TSR_ONE_BUFFER))
        return TSR_OK;
    if (buffers == TSR_ONE_BUFFER)
        return tsr_fail(error, TSR_INVALID_ARGUMENT,
                        "a plan in place: expected the same buffer twice, found %" PRIuPTR " and %" PRIuPTR, s, d);
    uintptr_t src_low = s + (uintptr_t)src_span.first, src_high = s + (uintptr_t)src_span.end;
    uintptr_t dst_low = d + (uintptr_t)dst_span.first, dst_high = d + (uintptr_t)dst_span.end;
    if (src_low < dst_high && dst_low < src_high)
        return tsr_fail(error, TSR_OVERLAP,
                        "source and destination share memory: %" PRIuPTR " bytes at %" PRIuPTR " and %" PRIuPTR
                        " bytes at %" PRIuPTR,
                        src_high - src_low, src_low, dst_high - dst_low, dst_low);
    return TSR_OK;
}
