/* SPDX-License-Identifier: Apache-2.0 */
#include <arm_neon.h>

#include "reorder/kernels/walk.h"

/* Vectors go through bytes, which need no alignment. */
static inline uint32x4_t load_32(const char *at)
{
    return vreinterpretq_u32_u8(vld1q_u8((const uint8_t *)at));
}

static inline void store_64_pair(char *at, uint64x2_t v)
{
    vst1q_u8((uint8_t *)at, vreinterpretq_u8_u64(v));
}

/* 4 x 4 elements of 32 bits. */
static inline void block_32(char *dst, int64_t dst_row, const char *src, int64_t src_column)
{
    uint32x4_t a[4];
    for (int i = 0; i < 4; i++)
        a[i] = load_32(src + i * src_column);
    uint64x2_t even01 = vreinterpretq_u64_u32(vtrn1q_u32(a[0], a[1]));
    uint64x2_t even23 = vreinterpretq_u64_u32(vtrn1q_u32(a[2], a[3]));
    uint64x2_t odd01 = vreinterpretq_u64_u32(vtrn2q_u32(a[0], a[1]));
    uint64x2_t odd23 = vreinterpretq_u64_u32(vtrn2q_u32(a[2], a[3]));
    store_64_pair(dst, vtrn1q_u64(even01, even23));
    store_64_pair(dst + dst_row, vtrn1q_u64(odd01, odd23));
    store_64_pair(dst + 2 * dst_row, vtrn2q_u64(even01, even23));
    store_64_pair(dst + 3 * dst_row, vtrn2q_u64(odd01, odd23));
}

void tsr_transpose_32_neon(void *dst, const void *src, const tsr_tile *tile)
{
    tsr_transpose_blocks(dst, src, tile, 4, 4, block_32, tsr_transpose_32_c);
}

void tsr_load_F16_neon(void *dst, const void *src, int64_t n)
{
    uint8_t *to = dst;
    const uint8_t *from = src;
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        float32x4_t v = vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(from + 2 * i)));
        vst1q_u8(to + 4 * i, vreinterpretq_u8_f32(v));
    }
    tsr_load_F16_c(to + 4 * i, from + 2 * i, n - i);
}

void tsr_store_F16_neon(void *dst, const void *src, int64_t n)
{
    uint8_t *to = dst;
    const uint8_t *from = src;
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        float16x4_t v = vcvt_f16_f32(vreinterpretq_f32_u8(vld1q_u8(from + 4 * i)));
        vst1_u8(to + 2 * i, vreinterpret_u8_f16(v));
    }
    tsr_store_F16_c(to + 2 * i, from + 4 * i, n - i);
}
