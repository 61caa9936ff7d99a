/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenCV: channels with split and merge, where there are 2 to 4 of them, other matrices with transpose,
 * and conversions with convertTo. Both at once are two passes, the one over the narrower type first or last.
 */
#include <opencv2/core.hpp>

#include <climits>
#include <exception>
#include <memory>
#include <vector>

#include "peers.h"
#include "permutation.h"
#include "refuse.h"

namespace
{

struct reordering {
    matrices all;
    int src_depth, dst_depth; /* OpenCV's element types */
    bool converts;
    std::vector<double> scale, add; /* y = x * scale + add: one for all, or one for each row of the destination */
    cv::Mat between;                /* in the narrower type, where there are two passes */
};

int depth_of(tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_U8:
        return CV_8U;
    case TSR_S8:
        return CV_8S;
    case TSR_U16:
        return CV_16U;
    case TSR_S16:
        return CV_16S;
    case TSR_F16:
        return CV_16F;
    case TSR_S32:
        return CV_32S;
    case TSR_F32:
        return CV_32F;
    case TSR_F64:
        return CV_64F;
    default:
        return -1;
    }
}

/* Where nothing is converted, the width is all that counts. */
int depth_of_width(int width_bytes)
{
    return width_bytes == 1   ? CV_8U
           : width_bytes == 2 ? CV_16U
           : width_bytes == 4 ? CV_32S
           : width_bytes == 8 ? CV_64F
                              : -1;
}

/* Pixels of 2 to 4 channels to planes, planes to pixels, or one matrix to its transpose. */
void move(const cv::Mat &from, cv::Mat &to)
{
    auto is_pixel = [](int n) { return n >= 2 && n <= 4; };
    if (is_pixel(from.cols)) {
        cv::Mat pixels(1, from.rows, CV_MAKETYPE(from.depth(), from.cols), from.data), planes[4];
        for (int i = 0; i < from.cols; i++)
            planes[i] = to.row(i);
        cv::split(pixels, planes);
    } else if (is_pixel(from.rows)) {
        cv::Mat pixels(1, from.cols, CV_MAKETYPE(from.depth(), from.rows), to.data), planes[4];
        for (int i = 0; i < from.rows; i++)
            planes[i] = from.row(i);
        cv::merge(planes, static_cast<size_t>(from.rows), pixels);
    } else {
        cv::transpose(from, to);
    }
}

void convert(const reordering &wanted, const cv::Mat &from, cv::Mat &to)
{
    if (wanted.scale.size() == 1) {
        from.convertTo(to, wanted.dst_depth, wanted.scale[0], wanted.add[0]);
        return;
    }
    for (int i = 0; i < from.rows; i++) {
        cv::Mat row = to.row(i);
        from.row(i).convertTo(row, wanted.dst_depth, wanted.scale[i], wanted.add[i]);
    }
}

/* One matrix, or what is not moved, as one row. */
void reorder(reordering &wanted, const cv::Mat &from, cv::Mat &to)
{
    if (from.rows == 1) {
        convert(wanted, from, to);
    } else if (!wanted.converts) {
        move(from, to);
    } else if (wanted.between.rows == to.rows) {
        move(from, wanted.between);
        convert(wanted, wanted.between, to);
    } else {
        convert(wanted, from, wanted.between);
        move(wanted.between, to);
    }
}

tsr_status run(void *context, const void *src, void *dst, tsr_error *error)
try {
    auto &wanted = *static_cast<reordering *>(context);
    int rows = static_cast<int>(wanted.all.rows), cols = static_cast<int>(wanted.all.cols);
    auto *src_at = static_cast<unsigned char *>(const_cast<void *>(src)), *dst_at = static_cast<unsigned char *>(dst);
    for (int64_t i = 0; i < wanted.all.count; i++) {
        cv::Mat from(rows, cols, wanted.src_depth, src_at);
        cv::Mat to(rows > 1 ? cols : 1, rows > 1 ? rows : cols, wanted.dst_depth, dst_at);
        reorder(wanted, from, to);
        src_at += from.total() * from.elemSize();
        dst_at += to.total() * to.elemSize();
    }
    return TSR_OK;
} catch (const std::exception &problem) {
    return refuse(error, TSR_INVALID_ARGUMENT, "OpenCV: %s", problem.what());
}

double value(const tsr_factors &factors, size_t i, double otherwise)
{
    return factors.count == 0 ? otherwise : factors.values[factors.count == 1 ? 0 : i];
}

/* Do the factors fit rows of the destination, as many as there are? One for the tensor always does. */
bool fits(const tsr_factors &factors, int64_t rows)
{
    return factors.count <= 1 || (factors.count == rows && factors.group <= 1);
}

tsr_status prepare(reordering &made, const reorder_case &wanted, tsr_error *error)
{
    const tsr_reorder_options &options = *wanted.options;
    int src_width = tsr_dtype_size_bytes(wanted.src->dtype), dst_width = tsr_dtype_size_bytes(wanted.dst->dtype);
    permutation permutation;
    tsr_status status = permutation_of(&permutation, wanted.src, wanted.dst, error);
    if (status == TSR_OK)
        status = matrices_of(&made.all, &permutation, error);
    if (status != TSR_OK)
        return status;
    made.converts = wanted.src->dtype != wanted.dst->dtype || has_arithmetic(&options);
    made.src_depth = made.converts ? depth_of(wanted.src->dtype) : depth_of_width(src_width);
    made.dst_depth = made.converts ? depth_of(wanted.dst->dtype) : made.src_depth;
    if (made.src_depth < 0 || made.dst_depth < 0)
        return refuse(error, TSR_UNSUPPORTED, "OpenCV does not have these types");
    if (made.all.rows > INT_MAX || made.all.cols > INT_MAX || options.beta != 0 || options.reverse != 0)
        return refuse(error, TSR_UNSUPPORTED, "OpenCV does not do this");

    bool moves_first = made.all.rows > 1 && dst_width >= src_width;
    int rows = static_cast<int>(made.all.rows), cols = static_cast<int>(made.all.cols);
    int64_t planes = moves_first ? cols : 1;
    if (!fits(options.scale, planes) || !fits(options.mean, planes) || !fits(options.shift, planes))
        return refuse(error, TSR_UNSUPPORTED,
                      "OpenCV has factors for the tensor, or for each plane of the destination");
    bool is_alike = options.scale.count <= 1 && options.mean.count <= 1 && options.shift.count <= 1;
    for (size_t i = 0; i < (is_alike ? 1 : static_cast<size_t>(planes)); i++) {
        double scale = value(options.scale, i, 1);
        made.scale.push_back(scale);
        made.add.push_back(value(options.shift, i, 0) - value(options.mean, i, 0) * scale);
    }
    if (made.converts && rows > 1)
        made.between = moves_first ? cv::Mat(cols, rows, made.src_depth) : cv::Mat(rows, cols, made.dst_depth);
    return TSR_OK;
}

tsr_status init(void **context, const reorder_case *wanted, tsr_error *error)
try {
    auto made = std::make_unique<reordering>();
    tsr_status status = prepare(*made, *wanted, error);
    if (status == TSR_OK) {
        cv::setNumThreads(wanted->options->threads);
        *context = made.release();
    }
    return status;
} catch (const std::exception &problem) {
    return refuse(error, TSR_OUT_OF_MEMORY, "OpenCV: %s", problem.what());
}

void release(void *context)
{
    delete static_cast<reordering *>(context);
}

} // namespace

const peer opencv_peer = {"opencv", init, run, release};
