/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_AHEAD_H
#define TESSERA_SRC_REORDER_AHEAD_H

#include <tessera/reorder.h>

#include "reorder/kernels/kernels.h"

/* Where a plan reads, in bytes: so many runs, as long as each other and as far apart. None, if it reads otherwise. */
typedef struct tsr_runs {
    int64_t first; /* where the first of them begins */
    int64_t n, bytes, pitch;
} tsr_runs;

tsr_runs tsr_runs_read(const tsr_plan *plan);

/* The bytes that a plan copies as they are, from one place to another; 0 if it does anything else. */
int64_t tsr_bytes_copied_at_once(const tsr_plan *plan);

/*
 * Streams bytes, and asks for runs that are read next, from `next` on, some lines at a time: both wait for memory, and
 * take longer one after the other. Without runs, `next` is not looked at.
 */
void tsr_stream_and_fetch(const tsr_kernels *kernels, char *dst, const char *src, int64_t bytes, const char *next,
                          const tsr_runs *runs);

#endif
