/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_KERNELS_NF4_H
#define TESSERA_SRC_REORDER_KERNELS_NF4_H

#include <math.h>

/*
 * The quantiles of nf4 (QLoRA, arXiv:2305.14314, appendix E), and what lies in the middle between one and the next.
 * That may have a bit more than an f32; the float below it tells values of f32 apart all the same. None is above the
 * last.
 */
enum { NF4_LEVELS = 16, NF4_ZERO = 7 };
static const float nf4_levels[NF4_LEVELS] = {-0x1.000000p+0F, -0x1.647362p-1F, -0x1.0cd660p-1F, -0x1.946540p-2F,
                                             -0x1.23449ap-2F, -0x1.7a6a7ep-3F, -0x1.74f0e2p-4F, 0x0.000000p+0F,
                                             0x1.45f5fep-4F,  0x1.4995c6p-3F,  0x1.f809bap-3F,  0x1.5a0674p-2F,
                                             0x1.c34970p-2F,  0x1.200f56p-1F,  0x1.722766p-1F,  0x1.000000p+0F};
static const double nf4_middles[NF4_LEVELS - 1] = {-0x1.b239b1p-1, -0x1.38a4e1p-1,  -0x1.d70900p-2, -0x1.5bd4edp-2,
                                                   -0x1.e079d9p-3, -0x1.1a71778p-3, -0x1.74f0e2p-5, 0x1.45f5fep-5,
                                                   0x1.ec90c5p-4,  0x1.a0cfc0p-3,   0x1.2b05a88p-2, 0x1.8ea7f2p-2,
                                                   0x1.00da07p-1,  0x1.491b5ep-1,   0x1.b913b3p-1};
static const float nf4_floats_below[NF4_LEVELS] = {-0x1.b239b2p-1F, -0x1.38a4e2p-1F, -0x1.d70900p-2F, -0x1.5bd4eep-2F,
                                                   -0x1.e079dap-3F, -0x1.1a7178p-3F, -0x1.74f0e2p-5F, 0x1.45f5fep-5F,
                                                   0x1.ec90c4p-4F,  0x1.a0cfc0p-3F,  0x1.2b05a8p-2F,  0x1.8ea7f2p-2F,
                                                   0x1.00da06p-1F,  0x1.491b5ep-1F,  0x1.b913b2p-1F,  INFINITY};

#endif
