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

static inline vec vec_shuffle(vec v, vec order)
{
    return vqtbl1q_u8(v, order);
}

static inline void shuffle_16(char *to, const char *from, const uint8_t order[16])
{
    vec_store(to, vec_shuffle(vec_load(from), vld1q_u8(order)));
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

enum { RUN = 8, CAN_STREAM = false };
#define HALVES_ALONE
#define load_run_F16 load_F16
#define stream_run_F16 load_F16
#define store_run_F16 store_F16
#include "reorder/kernels/runs.h"
