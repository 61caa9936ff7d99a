/* SPDX-License-Identifier: Apache-2.0 */
#include "blocked/compound.h"

#include <inttypes.h>

#include "base/error.h"
#include "desc/ie_layout.h"

struct plane {
    const char *name;
    int64_t channels;
};

static tsr_status check_plane(const tsr_desc *desc, const struct plane *plane, const int64_t dims[4], tsr_error *error)
{
    if (desc->dtype != TSR_U8 || !tsr_ie_layout_fits(desc, TSR_IE_NHWC))
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected plane %s to be u8 in NHWC, found %s in %s", plane->name,
                        tsr_dtype_name(desc->dtype), tsr_ie_layout_name(tsr_ie_layout_of(desc)));
    for (int k = 0; k < 4; k++)
        if (desc->dims[k] != dims[k])
            return tsr_fail(error, TSR_INVALID_ARGUMENT,
                            "expected plane %s to have %" PRId64 " along axis %d, found %" PRId64, plane->name, dims[k],
                            k, desc->dims[k]);
    return TSR_OK;
}

static tsr_status check_planes(const tsr_compound *yuv, const struct plane *planes, tsr_error *error)
{
    tsr_desc y, desc;
    tsr_blob_get_desc(yuv->parts[0].blob, &y);
    const int64_t luma[] = {y.dims[0], planes[0].channels, y.dims[2], y.dims[3]};
    tsr_status status = check_plane(&y, &planes[0], luma, error);
    if (status == TSR_OK && (luma[2] % 2 != 0 || luma[3] % 2 != 0))
        status = tsr_fail(error, TSR_INVALID_ARGUMENT,
                          "expected plane y to have an even height and width, found %" PRId64 " and %" PRId64, luma[2],
                          luma[3]);
    for (int i = 1; i < yuv->count && status == TSR_OK; i++) {
        const int64_t chroma[] = {luma[0], planes[i].channels, luma[2] / 2, luma[3] / 2};
        tsr_blob_get_desc(yuv->parts[i].blob, &desc);
        status = check_plane(&desc, &planes[i], chroma, error);
    }
    return status;
}

static tsr_status create_yuv(tsr_compound **yuv, tsr_compound_kind kind, tsr_blob *const *blobs,
                             const struct plane *planes, int count, tsr_error *error)
{
    tsr_compound *made = NULL;
    for (int i = 0; i < count; i++)
        if (!blobs[i])
            return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a blob for plane %s, found none", planes[i].name);
    tsr_status status = tsr_compound_make_of_blobs(&made, kind, blobs, count, error);
    if (status != TSR_OK)
        return status;
    made->desc = tsr_tensor_desc_empty(tsr_precision_from_value(TSR_PRECISION_U8), TSR_IE_NCHW);
    return tsr_compound_finish(yuv, made, check_planes(made, planes, error));
}

tsr_status tsr_compound_create_nv12(tsr_compound **compound, tsr_blob *y, tsr_blob *uv, tsr_error *error)
{
    static const struct plane planes[] = {{"y", 1}, {"uv", 2}};
    return create_yuv(compound, TSR_COMPOUND_NV12, (tsr_blob *const[]){y, uv}, planes, 2, error);
}

tsr_status tsr_compound_create_i420(tsr_compound **compound, tsr_blob *y, tsr_blob *u, tsr_blob *v, tsr_error *error)
{
    static const struct plane planes[] = {{"y", 1}, {"u", 1}, {"v", 1}};
    return create_yuv(compound, TSR_COMPOUND_I420, (tsr_blob *const[]){y, u, v}, planes, 3, error);
}

bool tsr_compound_is_yuv(const tsr_compound *compound)
{
    return compound->kind == TSR_COMPOUND_NV12 || compound->kind == TSR_COMPOUND_I420;
}

/* ---- regions ---- */

/* Grows to even numbers, unless it is empty. As it lies in an even dim, nothing overflows. */
static void grow(int64_t *begin, int64_t *size)
{
    const int64_t odd = *begin % 2;
    *begin -= odd;
    if (*size > 0)
        *size += odd + (*size + odd) % 2;
}

tsr_roi tsr_yuv_region_of_plane(const tsr_roi *roi, int plane)
{
    const int scale = plane == 0 ? 1 : 2;
    tsr_roi luma = *roi;
    grow(&luma.pos_x, &luma.size_x);
    grow(&luma.pos_y, &luma.size_y);
    return (tsr_roi){luma.id, luma.pos_x / scale, luma.pos_y / scale, luma.size_x / scale, luma.size_y / scale};
}
