/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <strings.h>

#include <tessera/cpu.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Each rung with all the flags below it, highest first. */
static const struct {
    const char *name;
    unsigned top;
    unsigned flags;
} rungs[] = {
    {"avx512vbmi", TSR_CPU_AVX512_VBMI, TSR_CPU_AVX512_VBMI | TSR_CPU_AVX512 | TSR_CPU_AVX2 | TSR_CPU_SSE41},
    {"avx512", TSR_CPU_AVX512, TSR_CPU_AVX512 | TSR_CPU_AVX2 | TSR_CPU_SSE41},
    {"avx2", TSR_CPU_AVX2, TSR_CPU_AVX2 | TSR_CPU_SSE41},
    {"sse41", TSR_CPU_SSE41, TSR_CPU_SSE41},
    {"neon", TSR_CPU_NEON, TSR_CPU_NEON},
    {"c", 0, 0},
};
enum { RUNGS = sizeof rungs / sizeof rungs[0] };

#if defined(__x86_64__)
static unsigned detect(void)
{
    unsigned flags = 0, eax, ebx, ecx, edx;
    __builtin_cpu_init();
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
        return 0;
    if (__builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("ssse3"))
        flags |= TSR_CPU_SSE41;
    if (flags && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && (ecx & bit_F16C))
        flags |= TSR_CPU_AVX2;
    if ((flags & TSR_CPU_AVX2) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        flags |= TSR_CPU_AVX512;
    if ((flags & TSR_CPU_AVX512) && __builtin_cpu_supports("avx512vbmi"))
        flags |= TSR_CPU_AVX512_VBMI;
    return flags;
}
#elif defined(__aarch64__)
static unsigned detect(void)
{
    return TSR_CPU_NEON; /* part of the base architecture */
}
#else
static unsigned detect(void)
{
    return 0;
}
#endif

/* The mask that TSR_CPU names. */
static unsigned mask_of_environment(void)
{
    const char *word = getenv("TSR_CPU");
    for (size_t i = 0; word && i < RUNGS; i++)
        if (strcasecmp(word, rungs[i].name) == 0)
            return rungs[i].flags;
    return TSR_CPU_ALL;
}

/* UNSET is never a set of flags that anybody has or asks for: it names no rung. */
#define UNSET (1U << 31)
static atomic_uint detected_flags = UNSET, current_mask = UNSET;

/* Asked once: the instruction is slow where a machine is virtual. */
unsigned tsr_cpu_detected(void)
{
    unsigned flags = atomic_load_explicit(&detected_flags, memory_order_relaxed);
    if (flags == UNSET) {
        flags = detect();
        atomic_store_explicit(&detected_flags, flags, memory_order_relaxed);
    }
    return flags;
}

unsigned tsr_cpu_flags(void)
{
    unsigned mask = atomic_load_explicit(&current_mask, memory_order_relaxed);
    if (mask == UNSET) {
        mask = mask_of_environment();
        atomic_compare_exchange_strong(&current_mask, &(unsigned){UNSET}, mask);
        mask = atomic_load_explicit(&current_mask, memory_order_relaxed);
    }
    return tsr_cpu_detected() & mask;
}

void tsr_cpu_set_mask(unsigned mask)
{
    atomic_store_explicit(&current_mask, mask & ~(mask == UNSET ? UNSET : 0U), memory_order_relaxed);
}

const char *tsr_cpu_rung_name(unsigned flags)
{
    size_t i = 0;
    while (i < RUNGS - 1 && !(flags & rungs[i].top))
        i++;
    return rungs[i].name;
}
