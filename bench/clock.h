/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_BENCH_CLOCK_H
#define TESSERA_BENCH_CLOCK_H

#include <stdlib.h>
#include <time.h>

static inline double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of an odd number of samples, which it sorts. */
static inline double median_of(double *samples, size_t count)
{
    qsort(samples, count, sizeof samples[0], ascending);
    return samples[count / 2];
}

#endif
