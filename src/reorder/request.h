/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_REQUEST_H
#define TESSERA_SRC_REORDER_REQUEST_H

#include <tessera/reorder.h>

/* Defaults for all options. */
extern const tsr_reorder_options tsr_no_options;

/*
 * Everything that create refuses before it looks for a way: descriptors, dims, types, factors. *seen
 * is the source with the axes of options->reverse running backwards.
 */
tsr_status tsr_request_check(tsr_desc *seen, const tsr_desc *src, const tsr_desc *dst,
                             const tsr_reorder_options *options, tsr_error *error);

/* Is a scale, a mean, a shift or a beta given? */
bool tsr_request_has_arithmetic(const tsr_reorder_options *options);

/* The axis that the factors run along; -1 when there is one value for the tensor, or none. */
int tsr_request_factor_axis(const tsr_reorder_options *options);

/* The factor of index i, or the only one, or what stands for none. */
float tsr_factor_at(const tsr_factors *factors, int64_t i, float none);

/* The bytes of a buffer that a descriptor's elements are among. Of packed ones, the first and the last may hold
 * others, too. */
typedef struct tsr_span {
    int64_t first, end;
} tsr_span;

tsr_span tsr_span_of(const tsr_desc *desc);

/* What run may be given for source and destination; both bits: either. */
enum { TSR_TWO_BUFFERS = 1, TSR_ONE_BUFFER = 2 };

/* The checks that run makes of its buffers: that they are there, and one or two as they may be, which then share
 * no memory. */
tsr_status tsr_request_check_buffers(tsr_span src_span, const void *src, tsr_span dst_span, const void *dst,
                                     int buffers, tsr_error *error);

#endif
