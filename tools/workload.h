/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TOOLS_WORKLOAD_H
#define TESSERA_TOOLS_WORKLOAD_H

#include <tessera/tessera.h>

/*
 * The factors that a problem string leaves open. Value i is for mean (i % 7) * 8 + 3, for scale 1 / (i
 * % 5 + 2), and for shift i % 3 * 10 - 5, so that neighbours differ and results of every type stay in
 * range; beta is 1/2.
 */
typedef struct workload {
    tsr_problem problem;
    tsr_reorder_options options; /* points into factors */
    float *factors;
} workload;

/* The workload of a problem text; free it with workload_reset. */
tsr_status workload_init(workload *work, const char *text, tsr_error *error);
void workload_reset(workload *work);

/*
 * Fills memory with bits of all kinds, among them often those that conversions get wrong. The same
 * seed gives the same bits.
 */
void fill_awkward(void *memory, size_t size_bytes, uint64_t seed);

/* Fills memory with elements of everyday size, as timing wants them: no denormal, no NaN. */
void fill_ordinary(void *memory, size_t size_bytes, tsr_dtype dtype);

/*
 * Runs a plan and the definition over the same source, between guard bands, and compares every byte
 * of the destination: elements, padding, and what lies between them. In place, both work on copies of
 * the source, or with beta on ordinary numbers, as two NaNs would leave it open which one is passed on.
 * TSR_OK and *is_right; false with a message of what differs.
 */
tsr_status verify_plan(const tsr_plan *plan, const tsr_desc *src_desc, const void *src, const tsr_desc *dst_desc,
                       const tsr_reorder_options *options, bool *is_right, tsr_error *error);

#endif
