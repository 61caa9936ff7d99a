/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_DESC_REWRITE_H
#define TESSERA_SRC_DESC_REWRITE_H

#include "desc/digits.h"

/*
 * Writes an axis of a descriptor anew: the inverse of tsr_digits_of_axis. Its dim, its levels and
 * its window become those of the digits, and what its old levels padded moves into the offset. A
 * new level stands where its stride belongs among the others; one of a single step, where the axis
 * was. TSR_UNSUPPORTED when there is no room for the levels.
 */
tsr_status tsr_rewrite_axis(tsr_desc *desc, int axis, const tsr_digits *digits, tsr_error *error);

/* Takes the levels of an axis out; what they padded moves into the offset. Returns where the outermost was. */
int tsr_remove_levels(tsr_desc *desc, int axis);

/* Puts a level in at place i; there must be room. */
void tsr_insert_level(tsr_desc *desc, int i, int axis, int64_t block_dim, int64_t stride);

#endif
