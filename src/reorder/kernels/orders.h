/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_KERNELS_ORDERS_H
#define TESSERA_SRC_REORDER_KERNELS_ORDERS_H

#include <stdint.h>

/*
 * Orders for shuffles of 16 bytes, by which pixels of a few channels are taken apart and joined. The
 * first index is the log2 of the bytes of an element.
 *
 * With three channels, three vectors of pixels hold every third element of each channel, at other
 * places each: what tsr_every_third picks of them is a whole vector of channel r, which
 * tsr_order_third puts in order; and tsr_spread_third is the way back.
 */
extern const uint8_t tsr_every_third[4][3][16];  /* [r]: 255 for elements r, r + 3, r + 6, ... */
extern const uint8_t tsr_order_third[4][3][16];  /* [r]: where channel r has its elements */
extern const uint8_t tsr_spread_third[4][3][16]; /* [r]: and where they belong */

/* The same of nine, [bytes - 1], for elements of 1 and 2 bytes, but that [r] of the first is of three vectors, of which
 * each place has an element of one third (nine.h). */
extern const uint8_t tsr_every_ninth[2][9][16];
extern const uint8_t tsr_order_ninth[2][9][16];
extern const uint8_t tsr_spread_ninth[2][9][16];

/* With n channels, of 5, 6 and 7. A byte that comes from elsewhere is 0x80, which shuffles to 0. */
extern const uint8_t tsr_part_order[4][3][7][7][16]; /* [n - 5][c][j]: what vector j of pixels has of channel c */
extern const uint8_t tsr_join_order[4][3][7][7][16]; /* [n - 5][j][c]: what it takes of it */

/* Bytes of 3 or 4 channels, four pixels: channel r of pixel i goes to byte 4 * i, and zeros behind it. */
extern const uint8_t tsr_pixel_order[2][4][16]; /* [n - 3][r] */

/* Units of 3 to 7 bytes, in slots of 4 or 8; those of 4 are none, but have orders as well. */
enum { TSR_LEAST_ODD_UNIT = 3 };
extern const uint8_t tsr_spread_unit[5][16];        /* [unit - 3]: of a lane that begins with a unit */
extern const uint8_t tsr_spread_unit_behind[5][16]; /* and of one that ends with one */
extern const uint8_t tsr_pack_unit[5][16];          /* and back, and zeros behind them */

#endif
