/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/convert.h"

#include "base/int.h"

bool tsr_dtype_converts(tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_F32:
    case TSR_F16:
    case TSR_BF16:
    case TSR_S8:
    case TSR_U8:
    case TSR_S32:
        return true;
    default:
        return false;
    }
}

void tsr_conversion_init(tsr_conversion *conversion, const tsr_kernels *kernels, tsr_dtype src, tsr_dtype dst,
                         const float *mean, const float *scale)
{
    *conversion = (tsr_conversion){
        .is_copy = src == dst && !scale,
        .src_bytes = (int64_t)tsr_dtype_size_bytes(src),
        .dst_bytes = (int64_t)tsr_dtype_size_bytes(dst),
    };
    if (conversion->is_copy)
        return;
    /* f32 arithmetic starts from the nearest f32, but what is only rounded is rounded once */
    conversion->load = scale || dst == TSR_F32 ? kernels->load[src] : kernels->load_odd[src];
    conversion->affine = scale ? kernels->affine : NULL;
    conversion->store = kernels->store[dst];
    conversion->mean = mean;
    conversion->scale = scale;
}

void tsr_convert_row(const tsr_conversion *conversion, void *dst, const void *src, int64_t n, int64_t factor,
                     int64_t step)
{
    enum { CHUNK = 512 };
    float pivot[CHUNK];
    char *to = dst;
    const char *from = src;
    for (int64_t done = 0; done < n; done += CHUNK) {
        int64_t m = tsr_min(CHUNK, n - done);
        void *out = to + done * conversion->dst_bytes, *middle = conversion->store ? pivot : out;
        const void *in = from + done * conversion->src_bytes;
        if (conversion->load) {
            conversion->load(middle, in, m);
            in = middle;
        }
        if (conversion->affine) {
            int64_t at = factor + done * step;
            conversion->affine(middle, in, m, conversion->mean + at, conversion->scale + at, step);
            in = middle;
        }
        if (conversion->store)
            conversion->store(out, in, m);
    }
}
