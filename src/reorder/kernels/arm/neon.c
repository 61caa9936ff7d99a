/* SPDX-License-Identifier: Apache-2.0 */
#include <arm_neon.h>
#include <stdbool.h>
#include <string.h>

#define RUNG neon

/* ---- blocks: one lane ---- */

enum { BLOCK_VECTORS = 16, LEAST_BLOCKS = 1 };
typedef uint8x16_t vec;

static inline vec vec_load(const char *at)
{
    return vld1q_u8((const uint8_t *)at);
}

static inline void vec_store(char *at, vec v)
{
    vst1q_u8((uint8_t *)at, v);
}

static inline void vec_store_part(char *at, vec v, int64_t bytes)
{
    uint8_t part[16];
    vst1q_u8(part, v);
    memcpy(at, part, (size_t)bytes);
}

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

static inline vec vec_choose(vec mask, vec a, vec b)
{
    return vbslq_u8(mask, a, b);
}

static inline vec vec_shuffle(vec v, vec order)
{
    return vqtbl1q_u8(v, order);
}

typedef uint8x16_t lane_vec;

static inline lane_vec lane_load(const char *from)
{
    return vec_load(from);
}

static inline lane_vec lane_shuffle(lane_vec v, lane_vec order)
{
    return vec_shuffle(v, order);
}

static inline void lane_store(char *to, lane_vec v)
{
    vec_store(to, v);
}

static inline void lane_store_part(char *to, lane_vec v, int64_t bytes)
{
    vec_store_part(to, v, bytes);
}

static inline vec vec_load_part(const char *at, int64_t bytes)
{
    uint8_t part[16] = {0};
    memcpy(part, at, (size_t)bytes);
    return vld1q_u8(part);
}

#include "reorder/kernels/one_lane.h"

#include "reorder/kernels/blocks.h"
#include "reorder/kernels/padded.h"

#include "reorder/kernels/pad.h"

static inline vec vec_every_other(vec a, vec b, int bytes)
{
    return bytes == 4   ? vreinterpretq_u8_u32(vuzp1q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)))
           : bytes == 8 ? vreinterpretq_u8_u64(vuzp1q_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b)))
                        : a;
}

#include "reorder/kernels/unpad.h"

/* ---- f16 ---- */

typedef float32x4_t pivot;
enum { WHOLE = 4 };
#define WEAKER c

static inline pivot pivot_load(const void *at)
{
    return vreinterpretq_f32_u8(vld1q_u8(at));
}

static inline void pivot_store(void *to, pivot x)
{
    vst1q_u8(to, vreinterpretq_u8_f32(x));
}

static inline pivot pivot_of(float f)
{
    return vdupq_n_f32(f);
}

static inline pivot half_load(const char *at)
{
    return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8((const uint8_t *)at)));
}

static inline void half_store(char *to, pivot x)
{
    vst1_u8((uint8_t *)to, vreinterpret_u8_f16(vcvt_f16_f32(x)));
}

#include "reorder/kernels/pivot.h"

#define LANES_MIN(a, b) vminq_s32((int32x4_t)(a), (int32x4_t)(b))
#define LANES_MAX(a, b) vmaxq_s32((int32x4_t)(a), (int32x4_t)(b))
#include "reorder/kernels/few_bits.h"

/* Both saturate, and a NaN becomes 0, so that what is packed from them needs no bounds. */
static inline vec whole_of(pivot x, float high)
{
    (void)high;
    return vreinterpretq_u8_s32(vcvtnq_s32_f32(x));
}

#define nearest_of(x) whole_of(x, 0x1p31f)
#define at_most(x, high) whole_of(x, high)
#define has_least(a, b) false
#define positive_of(x, high) whole_of(x, high)
#define integer_of(x) whole_of(x, 0x1p31f)
#define unsigned_of(x) vreinterpretq_u8_u32(vcvtnq_u32_f32(x))

/* A NaN keeps its upper half and is made quiet; the rest is rounded. */
static inline vec bf16_of(pivot x)
{
    const uint32x4_t bits = vreinterpretq_u32_f32(x), odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    const uint32x4_t rounded = vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), odd);
    const uint32x4_t quiet = vorrq_u32(bits, vdupq_n_u32(0x400000));
    return vreinterpretq_u8_u32(vbslq_u32(vceqq_f32(x, x), rounded, quiet));
}

static inline vec bf16_pack(pivot a, pivot b)
{
    return vreinterpretq_u8_u16(vuzp2q_u16(vreinterpretq_u16_u8(bf16_of(a)), vreinterpretq_u16_u8(bf16_of(b))));
}

static inline int32x4_t words(vec v)
{
    return vreinterpretq_s32_u8(v);
}

static inline int16x8_t halfwords(vec v)
{
    return vreinterpretq_s16_u8(v);
}

#define PACK_S32(a, b) vreinterpretq_u8_s16(vcombine_s16(vqmovn_s32(words(a)), vqmovn_s32(words(b))))
#define PACK_U32(a, b) vreinterpretq_u8_u16(vcombine_u16(vqmovun_s32(words(a)), vqmovun_s32(words(b))))
#define PACK_S16(a, b) vreinterpretq_u8_s8(vcombine_s8(vqmovn_s16(halfwords(a)), vqmovn_s16(halfwords(b))))
#define PACK_U16(a, b) vcombine_u8(vqmovun_s16(halfwords(a)), vqmovun_s16(halfwords(b)))

/* Four bytes, and others that do not matter. */
static inline uint8x8_t load_4(const char *at)
{
    uint32_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    return vcreate_u8(bytes);
}

static inline void store_4(char *to, uint8x8_t v)
{
    const uint32_t bytes = vget_lane_u32(vreinterpret_u32_u8(v), 0);
    memcpy(to, &bytes, sizeof bytes);
}

static inline pivot load_whole_BF16(const char *at)
{
    return vreinterpretq_f32_u32(vshlq_n_u32(vmovl_u16(vreinterpret_u16_u8(vld1_u8((const uint8_t *)at))), 16));
}

static inline pivot load_whole_S8(const char *at)
{
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u8(load_4(at))))));
}

static inline pivot load_whole_U8(const char *at)
{
    return vcvtq_f32_u32(vmovl_u16(vget_low_u16(vmovl_u8(load_4(at)))));
}

static inline pivot load_whole_F8_E4M3(const char *at)
{
    const int16x4_t bits = vget_low_s16(vshll_n_s8(vreinterpret_s8_u8(load_4(at)), 7));
    const int16x4_t half = vand_s16(bits, vdup_n_s16((int16_t)0xbf80));
    return f8_e4m3_of_half(vcvt_f32_f16(vreinterpret_f16_s16(half)));
}

/* Compilers leave an f16 alone that becomes f32 and f16 again, so that a NaN is made quiet before. */
static inline pivot load_whole_F8_E5M2(const char *at)
{
    const uint16x4_t half = vshl_n_u16(vget_low_u16(vmovl_u8(load_4(at))), 8);
    const uint16x4_t is_nan = vcgt_u16(vand_u16(half, vdup_n_u16(0x7fff)), vdup_n_u16(0x7c00));
    return vcvt_f32_f16(vreinterpret_f16_u16(vorr_u16(half, vand_u16(is_nan, vdup_n_u16(0x0200)))));
}

static inline pivot load_whole_S32(const char *at)
{
    return vcvtq_f32_s32(words(vec_load(at)));
}

static inline void store_packed_S16(char *to, vec v)
{
    vst1_u8((uint8_t *)to, vreinterpret_u8_s16(vqmovn_s32(words(v))));
}

static inline void store_packed_U16(char *to, vec v)
{
    vst1_u8((uint8_t *)to, vreinterpret_u8_u16(vqmovun_s32(words(v))));
}

static inline void store_packed_BF16(char *to, vec v)
{
    vst1_u8((uint8_t *)to, vreinterpret_u8_u16(vshrn_n_u32(vreinterpretq_u32_u8(v), 16)));
}

static inline void store_packed_S8(char *to, vec v)
{
    store_4(to, vget_low_u8(PACK_S16(PACK_S32(v, v), PACK_S32(v, v))));
}

static inline void store_packed_U8(char *to, vec v)
{
    store_4(to, vget_low_u8(PACK_U16(PACK_S32(v, v), PACK_S32(v, v))));
}

static inline vec halves_of(pivot a, pivot b)
{
    return vreinterpretq_u8_f16(vcombine_f16(vcvt_f16_f32(a), vcvt_f16_f32(b)));
}

#include "reorder/kernels/narrow.h"
#include "reorder/kernels/periodic.h"

#include "reorder/kernels/added.h"

static inline pivot whole_of_u8(vec v)
{
    return vcvtq_f32_u32(vreinterpretq_u32_u8(v));
}

static inline pivot whole_of_s8(vec v)
{
    return vcvtq_f32_s32(vshrq_n_s32(vshlq_n_s32(words(v), 24), 24));
}

#include "reorder/kernels/joined_pixels.h"
#include "reorder/kernels/parted_pixels.h"
#include "reorder/kernels/pixels.h"
