/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_CPU_H
#define TESSERA_CPU_H

#include <tessera/export.h>

TSR_BEGIN_DECLS

/*
 * The rungs of the dispatch ladder. A rung stands for all the instructions that its kernels may
 * use, and includes the rungs before it on the same architecture.
 */
typedef enum tsr_cpu_flag {
    TSR_CPU_AVX2 = 1 << 0,        /* AVX2, F16C and FMA */
    TSR_CPU_AVX512 = 1 << 1,      /* AVX-512 F, BW, DQ and VL */
    TSR_CPU_AVX512_VBMI = 1 << 2, /* AVX-512 VBMI */
    TSR_CPU_SSE41 = 1 << 3,       /* SSE4.1 and SSSE3 */
    TSR_CPU_NEON = 1 << 8         /* Advanced SIMD of 64-bit Arm */
} tsr_cpu_flag;

#define TSR_CPU_ALL (~0U)

/* What the processor and the operating system can do. */
TSR_API unsigned tsr_cpu_detected(void);

/*
 * What new plans may use: the detected flags, less those that the mask hides.
 *
 * The mask comes from the environment variable TSR_CPU, read once, which names the highest rung
 * that may be used: "c" (no SIMD kernel), "sse41", "avx2", "avx512", "avx512vbmi" or "neon". Case does
 * not matter, and any other word hides nothing.
 */
TSR_API unsigned tsr_cpu_flags(void);

/* Replaces the mask; TSR_CPU_ALL hides nothing, 0 leaves the C kernels. Existing plans keep their kernels. */
TSR_API void tsr_cpu_set_mask(unsigned mask);

/* The name of the highest rung in flags, in the words of TSR_CPU. */
TSR_API const char *tsr_cpu_rung_name(unsigned flags);

TSR_END_DECLS

#endif
