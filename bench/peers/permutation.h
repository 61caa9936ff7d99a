/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_BENCH_PERMUTATION_H
#define TESSERA_BENCH_PERMUTATION_H

#include <tessera/tessera.h>

TSR_BEGIN_DECLS

/*
 * A reorder of dense memory in the words of most libraries: an array whose axes change places. The
 * axes are those of the source, outermost first; axis i of the destination is axis perm[i] of the
 * source. Axes are as few as possible: nchw>nhwc 8x64x56x56 is {8,64,3136} with perm {0,2,1}, and
 * nchw>nChw16c of it {32,16,3136} with {0,2,1}.
 */
typedef struct permutation {
    int rank; /* 0 or 1: nothing changes its place */
    int64_t shape[TSR_MAX_LEVELS];
    int perm[TSR_MAX_LEVELS];
} permutation;

/* TSR_UNSUPPORTED where there is padding, a gap, or blocks that do not nest. */
tsr_status permutation_of(permutation *permutation, const tsr_desc *src, const tsr_desc *dst, tsr_error *error);

/*
 * Matrices of rows x cols, `count` of them one behind the other, each transposed. A copy is one
 * matrix with one row. TSR_UNSUPPORTED for any other permutation.
 */
typedef struct matrices {
    int64_t count, rows, cols;
} matrices;

tsr_status matrices_of(matrices *matrices, const permutation *permutation, tsr_error *error);

/* Is there anything to compute, apart from the conversion between types? */
bool has_arithmetic(const tsr_reorder_options *options);

TSR_END_DECLS

#endif
