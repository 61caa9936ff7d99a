/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_CACHES_H
#define TESSERA_SRC_REORDER_CACHES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What tiles, groups and slices take of the caches of this machine. Figures shrink with caches smaller than those that
 * they were measured in. They do not grow with larger ones: they were chosen on several machines.
 */

/* As much of the first-level cache as so many bytes are of one of 32 KB. */
int64_t tsr_share_of_l1(int64_t bytes);

/* As much of the second-level cache as so many bytes are of one of 512 KB. */
int64_t tsr_share_of_l2(int64_t bytes);

/* So many bytes from each other, a power of two, lines map onto one set of the first-level cache, which has so many of
 * them. */
int64_t tsr_period_of_sets(void);
int64_t tsr_lines_of_set(void);

/*
 * More than eight, beside a last cache that is near: as a Zen 5 has, which behaves as if it had so many stores under
 * way that rows which share sets lose their lines before these are written; and whose memory takes several lines of a
 * row at once far sooner than one from each of as many.
 */
bool tsr_has_deep_sets(void);

#endif
