/* SPDX-License-Identifier: Apache-2.0 */
#define RUNG c
#include "reorder/kernels/row.h"

ROW(load_run_F32, f32_any, f32_any, float, AS_IT_IS, AS_IT_IS)

enum { RUN = 8, CAN_STREAM = false };
#define load_run_F16 load_F16
#define load_run_BF16 load_BF16
#define load_run_S8 load_S8
#define load_run_U8 load_U8
#define load_run_S32 load_S32
#define stream_run_F16 load_F16
#define stream_run_BF16 load_BF16
#define stream_run_S8 load_S8
#define stream_run_U8 load_U8
#define store_run_F16 store_F16
#define store_run_BF16 store_BF16
#define store_run_S8 store_S8
#define store_run_U8 store_U8
#define store_run_S32 store_S32

#define RUN_OF_PAIR(src, dst, what)                                                                                    \
    INLINE void from_##src##_run_##dst(ELEMENT_##dst *to, const ELEMENT_##src *from, int64_t n,                        \
                                       const tsr_affine *affine, int mode)                                             \
    {                                                                                                                  \
        from_##src##_##dst(to, from, n, affine, mode);                                                                 \
    }

TSR_FOR_PAIRS(RUN_OF_PAIR, runs)
#include "reorder/kernels/runs.h"
