/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_BLOCKED_BLAS_AXPY_H
#define TESSERA_SRC_BLOCKED_BLAS_AXPY_H

#include <stdbool.h>
#include <stdint.h>

#include <tessera/dtype.h>

/*
 * y[i] = factor * x[i] + y[i] for i in [begin, end), on this thread alone. With a factor of 1 or -1 that is rounded
 * once, however it is done. False, and nothing is done, for other types than f32 and f64, and in a build without
 * BLAS.
 */
bool tsr_axpy(tsr_dtype dtype, double factor, const void *x, void *y, int64_t begin, int64_t end);

#endif
