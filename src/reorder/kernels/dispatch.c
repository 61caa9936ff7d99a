/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/kernels/kernels.h"

#define HAS(rung) ((cpu_flags & TSR_RUNG_##rung) == TSR_RUNG_##rung)

void tsr_kernels_init(tsr_kernels *kernels, unsigned cpu_flags)
{
    *kernels = (tsr_kernels){0};
#define TSR_TILE_KERNEL(family, width, rung)                                                                           \
    if (HAS(rung))                                                                                                     \
        kernels->family[TSR_WIDTH_##width] =                                                                           \
            (tsr_tile_entry){#family "_" #width "_" #rung, tsr_##family##_##width##_##rung};
#define TSR_STREAM_KERNEL(rung)                                                                                        \
    if (HAS(rung)) {                                                                                                   \
        kernels->stream = tsr_stream_##rung;                                                                           \
        kernels->stream_behind = tsr_stream_behind_##rung;                                                             \
        kernels->fence = tsr_fence_##rung;                                                                             \
    }
#define TSR_ROW_KERNEL(family, type, rung)                                                                             \
    if (HAS(rung))                                                                                                     \
        kernels->family[TSR_##type] = tsr_##family##_##type##_##rung;
#define TSR_AFFINE_KERNEL(family, rung)                                                                                \
    if (HAS(rung))                                                                                                     \
        kernels->family = tsr_##family##_##rung;
#define TSR_STREAM_ROW_KERNEL(family, type, rung) TSR_ROW_KERNEL(stream_##family, type, rung)
#define TSR_RUNS_KERNEL TSR_ROW_KERNEL
#define TSR_PACKED_KERNEL TSR_ROW_KERNEL
#define TSR_PACKED_ROWS_KERNEL TSR_ROW_KERNEL
#define TSR_PIXELS_KERNEL(family, src, dst, rung) TSR_ROW_KERNEL(family##_##src, dst, rung)
#define TSR_PAIR_KERNEL(family, src, dst, rung) TSR_ROW_KERNEL(family##_##src, dst, rung)
#define TSR_MAP_KERNEL(family, width, rung)                                                                            \
    if (HAS(rung))                                                                                                     \
        kernels->family[TSR_WIDTH_##width] = tsr_##family##_##width##_##rung;
#include "reorder/kernels/list.inc"
    kernels->window_bytes = HAS(avx512vbmi) ? TSR_WIDEST_LANE : TSR_LANE_BYTES;
    kernels->shuffles_lanes = HAS(sse41) || HAS(avx2) || HAS(neon);
    kernels->writes_lines = HAS(avx512);
    kernels->can_stream_lines = HAS(avx2);
    for (int type = 0; type < TSR_DTYPE_COUNT; type++) {
        if (!kernels->load_odd[type])
            kernels->load_odd[type] = kernels->load[type];
        if (!kernels->load64_odd[type])
            kernels->load64_odd[type] = kernels->load64[type];
    }
}
