/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_DESC_JOIN_H
#define TESSERA_SRC_DESC_JOIN_H

#include "desc/digits.h"

/* Two axes from one and one from two, as digits. The axis numbers are for messages. TSR_UNSUPPORTED. */

/* Index x0 * n1 + x1 of the axis, which has n0 * n1, becomes index x0 of `digits` and x1 of `inner`. */
tsr_status tsr_digits_split(tsr_digits *digits, tsr_digits *inner, int axis, int64_t n0, int64_t n1, tsr_error *error);

/* The inverse; inner is the axis behind `axis`. */
tsr_status tsr_digits_join(tsr_digits *digits, const tsr_digits *inner, int axis, tsr_error *error);

/* Index x is at the sum of what it has in both axes, as far as the shorter one goes. */
tsr_status tsr_digits_add(tsr_digits *x, const tsr_digits *y, int axis_of_x, int axis_of_y, tsr_error *error);

#endif
