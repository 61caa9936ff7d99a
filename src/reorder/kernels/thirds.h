/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_KERNELS_THIRDS_H
#define TESSERA_SRC_REORDER_KERNELS_THIRDS_H

#include <stdint.h>

/*
 * Three channels in lanes of 16 bytes. A lane has N elements of one width, N = 16, 8, 4 or 2, and
 * pixels fill three lanes: element i of lane j is element s = j * N + i of the sequence, which is
 * channel s % 3 of pixel s / 3. No N is a multiple of 3, so the elements of one channel stand at
 * different places i of the three lanes, and together fill a lane. All tables are by width, as log2
 * of its bytes.
 *
 *     every_third[w][r]   all bits of the elements i with i % 3 == r
 *     order_third[w][r]   for element p: the place (3 * p + r) % N of pixel p's channel r
 *     spread_third[w][r]  the inverse: for place i, the p with (3 * p + r) % N == i
 */
extern const uint8_t tsr_every_third[4][3][16];
extern const uint8_t tsr_order_third[4][3][16];
extern const uint8_t tsr_spread_third[4][3][16];

#endif
