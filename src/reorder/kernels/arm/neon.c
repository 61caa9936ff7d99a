/* SPDX-License-Identifier: Apache-2.0 */
#include <arm_neon.h>
#include <string.h>

#define RUNG neon

/* ---- blocks: one lane ---- */

enum { LANES = 1, BLOCK_VECTORS = 16 };
typedef uint8x16_t vec;

static inline vec vec_load(const char *at)
{
    return vld1q_u8((const uint8_t *)at);
}

static inline void vec_store(char *at, vec v)
{
    vst1q_u8((uint8_t *)at, v);
}

static inline vec vec_gather_lanes(const char *const at[LANES])
{
    return vec_load(at[0]);
}

static inline void vec_store_lanes(char *at, vec v, int lane, int lanes)
{
    (void)lane, (void)lanes;
    vec_store(at, v);
}

static inline void vec_store_part(char *at, vec v, int64_t bytes)
{
    uint8_t part[16];
    vst1q_u8(part, v);
    memcpy(at, part, (size_t)bytes);
}

static inline void vec_store_in_turn(char *at, const vec *v, int n)
{
    for (int j = 0; j < n; j++)
        vec_store(at + 16 * j, v[j]);
}

#define vec_store_pairs_in_turn(at, v, n) vec_store_in_turn(at, v, n) /* there are no pairs */

#define ZIP(half, a, b, bytes)                                                                                         \
    ((bytes) == 1   ? vzip##half##q_u8(a, b)                                                                           \
     : (bytes) == 2 ? vreinterpretq_u8_u16(vzip##half##q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)))        \
     : (bytes) == 4 ? vreinterpretq_u8_u32(vzip##half##q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)))        \
                    : vreinterpretq_u8_u64(vzip##half##q_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b))))

static inline vec vec_zip_low(vec a, vec b, int bytes)
{
    return ZIP(1, a, b, bytes);
}

static inline vec vec_zip_high(vec a, vec b, int bytes)
{
    return ZIP(2, a, b, bytes);
}

static inline vec vec_shuffle(vec v, vec order)
{
    return vqtbl1q_u8(v, order);
}

static inline vec vec_repeat(const uint8_t bytes[16])
{
    return vld1q_u8(bytes);
}

#include "reorder/kernels/blocks.h"

/* ---- f16 ---- */

static inline float32x4_t load_4(const void *at)
{
    return vreinterpretq_f32_u8(vld1q_u8(at));
}

/* 4 values of the pivot, from element i of a row on. */
INLINE float32x4_t arithmetic(float32x4_t x, const tsr_affine *affine, int64_t i, int mode)
{
    if (mode == PLAIN)
        return x;
    if (mode == SCALE)
        return vmulq_f32(x, vdupq_n_f32(*affine->scale));
    float32x4_t mean = mode == SAME ? vdupq_n_f32(*affine->mean) : load_4(affine->mean + i);
    float32x4_t scale = mode == SAME ? vdupq_n_f32(*affine->scale) : load_4(affine->scale + i);
    float32x4_t shift = mode == SAME ? vdupq_n_f32(*affine->shift) : load_4(affine->shift + i);
    return vaddq_f32(vmulq_f32(vsubq_f32(x, mean), scale), shift);
}

/* Of 4 elements and more: the last four may overlap those before. */
INLINE void load_F16(uint8_t *to, const uint8_t *from, int64_t n, const tsr_affine *affine, int mode)
{
    for (int64_t at = 0; at < n; at += 4) {
        int64_t i = at + 4 <= n ? at : n - 4;
        float32x4_t x = vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(from + 2 * i)));
        vst1q_u8(to + 4 * i, vreinterpretq_u8_f32(arithmetic(x, affine, i, mode)));
    }
}

void tsr_load_F16_neon(void *dst, const void *src, int64_t n, const tsr_affine *affine)
{
    if (n < 4)
        tsr_load_F16_c(dst, src, n, affine);
    else
        BY_MODE(load_F16)
}

INLINE void store_F16(uint8_t *to, const uint8_t *from, int64_t n, const tsr_affine *affine, int mode)
{
    for (int64_t at = 0; at < n; at += 4) {
        int64_t i = at + 4 <= n ? at : n - 4;
        float16x4_t half = vcvt_f16_f32(arithmetic(load_4(from + 4 * i), affine, i, mode));
        vst1_u8(to + 2 * i, vreinterpret_u8_f16(half));
    }
}

void tsr_store_F16_neon(void *dst, const void *src, int64_t n, const tsr_affine *affine)
{
    if (n < 4)
        tsr_store_F16_c(dst, src, n, affine);
    else
        BY_MODE(store_F16)
}
