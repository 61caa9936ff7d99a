/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/kernels/orders.h"

/* Byte i of a vector belongs to element i / b, of SIDE(b). */
#define SIDE(b) (16 / (b))
#define BYTES(element, b, i) ((element) * (b) + (i) % (b))

/* All 16 bytes of an order, each by its formula. */
#define ORDER(formula, ...)                                                                                            \
    {                                                                                                                  \
        formula(__VA_ARGS__, 0), formula(__VA_ARGS__, 1), formula(__VA_ARGS__, 2), formula(__VA_ARGS__, 3),            \
            formula(__VA_ARGS__, 4), formula(__VA_ARGS__, 5), formula(__VA_ARGS__, 6), formula(__VA_ARGS__, 7),        \
            formula(__VA_ARGS__, 8), formula(__VA_ARGS__, 9), formula(__VA_ARGS__, 10), formula(__VA_ARGS__, 11),      \
            formula(__VA_ARGS__, 12), formula(__VA_ARGS__, 13), formula(__VA_ARGS__, 14), formula(__VA_ARGS__, 15)     \
    }

/* ---- thirds ---- */

#define OF_EACH_CHANNEL(formula, b)                                                                                    \
    {                                                                                                                  \
        ORDER(formula, b, 0), ORDER(formula, b, 1), ORDER(formula, b, 2)                                               \
    }
#define OF_EACH_WIDTH(formula)                                                                                         \
    {                                                                                                                  \
        OF_EACH_CHANNEL(formula, 1), OF_EACH_CHANNEL(formula, 2), OF_EACH_CHANNEL(formula, 4),                         \
            OF_EACH_CHANNEL(formula, 8)                                                                                \
    }

#define EVERY_THIRD(b, r, i) ((i) / (b) % 3 == (r) ? 255 : 0)

/* Pixel i / b has channel r as element 3 * (i / b) + r of all vectors, and so at that place of its own one. */
#define ORDER_THIRD(b, r, i) BYTES((3 * ((i) / (b)) + (r)) % SIDE(b), b, i)

/* The vector in which element i / b is of channel r: SIDE(b) % 3 is its own inverse. The 48 keeps the difference
 * positive. */
#define VECTOR_OF(b, r, i) (((r) + 48 - (i) / (b)) * SIDE(b) % 3)
#define SPREAD_THIRD(b, r, i) BYTES((VECTOR_OF(b, r, i) * SIDE(b) + (i) / (b) - (r)) / 3, b, i)

const uint8_t tsr_every_third[4][3][16] = OF_EACH_WIDTH(EVERY_THIRD);
const uint8_t tsr_order_third[4][3][16] = OF_EACH_WIDTH(ORDER_THIRD);
const uint8_t tsr_spread_third[4][3][16] = OF_EACH_WIDTH(SPREAD_THIRD);

/* ---- ninths ---- */

#define OF_EACH_NINTH(formula, b)                                                                                      \
    {                                                                                                                  \
        ORDER(formula, b, 0), ORDER(formula, b, 1), ORDER(formula, b, 2), ORDER(formula, b, 3), ORDER(formula, b, 4),  \
            ORDER(formula, b, 5), ORDER(formula, b, 6), ORDER(formula, b, 7), ORDER(formula, b, 8)                     \
    }
#define OF_NARROW_WIDTHS(formula)                                                                                      \
    {                                                                                                                  \
        OF_EACH_NINTH(formula, 1), OF_EACH_NINTH(formula, 2)                                                           \
    }

#define IS_NINTH(b, r, i, j) (((i) / (b) + (j)*SIDE(b)) % 9 == (r))
#define EVERY_NINTH(b, r, i) (IS_NINTH(b, r, i, 0) || IS_NINTH(b, r, i, 1) || IS_NINTH(b, r, i, 2) ? 255 : 0)

/* Nine is its own inverse, modulo 16 and 8. */
#define ORDER_NINTH(b, r, i) BYTES((9 * ((i) / (b)) + (r)) % SIDE(b), b, i)
#define SPREAD_NINTH(b, r, i) BYTES(9 * ((i) / (b) + 16 - (r)) % SIDE(b), b, i)

const uint8_t tsr_every_ninth[2][9][16] = OF_NARROW_WIDTHS(EVERY_NINTH);
const uint8_t tsr_order_ninth[2][9][16] = OF_NARROW_WIDTHS(ORDER_NINTH);
const uint8_t tsr_spread_ninth[2][9][16] = OF_NARROW_WIDTHS(SPREAD_NINTH);

/* ---- five, six and seven channels ---- */

enum { NOTHING = 0x80 };

/* Byte i of channel c is byte PIXEL_BYTE of all pixels; byte i of vector j of them is byte 16 * j + i. */
#define PIXEL_BYTE(b, n, c, i) BYTES((i) / (b) * (n) + (c), b, i)
#define PART(b, n, c, j, i) (PIXEL_BYTE(b, n, c, i) / 16 == (j) ? PIXEL_BYTE(b, n, c, i) % 16 : NOTHING)
#define ELEMENT(b, j, i) ((16 * (j) + (i)) / (b))
#define JOIN(b, n, j, c, i) (ELEMENT(b, j, i) % (n) == (c) ? BYTES(ELEMENT(b, j, i) / (n), b, i) : NOTHING)

#define SEVEN_ORDERS(formula, b, n, k)                                                                                 \
    {                                                                                                                  \
        ORDER(formula, b, n, k, 0), ORDER(formula, b, n, k, 1), ORDER(formula, b, n, k, 2),                            \
            ORDER(formula, b, n, k, 3), ORDER(formula, b, n, k, 4), ORDER(formula, b, n, k, 5),                        \
            ORDER(formula, b, n, k, 6)                                                                                 \
    }
#define SEVEN_BY_SEVEN(formula, b, n)                                                                                  \
    {                                                                                                                  \
        SEVEN_ORDERS(formula, b, n, 0), SEVEN_ORDERS(formula, b, n, 1), SEVEN_ORDERS(formula, b, n, 2),                \
            SEVEN_ORDERS(formula, b, n, 3), SEVEN_ORDERS(formula, b, n, 4), SEVEN_ORDERS(formula, b, n, 5),            \
            SEVEN_ORDERS(formula, b, n, 6)                                                                             \
    }
#define OF_EACH_NUMBER(formula, b)                                                                                     \
    {                                                                                                                  \
        SEVEN_BY_SEVEN(formula, b, 5), SEVEN_BY_SEVEN(formula, b, 6), SEVEN_BY_SEVEN(formula, b, 7)                    \
    }

const uint8_t tsr_part_order[4][3][7][7][16] = {
    OF_EACH_NUMBER(PART, 1),
    OF_EACH_NUMBER(PART, 2),
    OF_EACH_NUMBER(PART, 4),
    OF_EACH_NUMBER(PART, 8),
};
const uint8_t tsr_join_order[4][3][7][7][16] = {
    OF_EACH_NUMBER(JOIN, 1),
    OF_EACH_NUMBER(JOIN, 2),
    OF_EACH_NUMBER(JOIN, 4),
    OF_EACH_NUMBER(JOIN, 8),
};

/* ---- bytes that become 32 bits ---- */

#define PIXEL(n, r, i) ((i) % 4 == 0 ? (i) / 4 * (n) + (r) : NOTHING)
#define FOUR_CHANNELS(n)                                                                                               \
    {                                                                                                                  \
        ORDER(PIXEL, n, 0), ORDER(PIXEL, n, 1), ORDER(PIXEL, n, 2), ORDER(PIXEL, n, 3)                                 \
    }

const uint8_t tsr_pixel_order[2][4][16] = {FOUR_CHANNELS(3), FOUR_CHANNELS(4)};

/* ---- units ---- */

#define OF_EACH_UNIT(formula)                                                                                          \
    {                                                                                                                  \
        ORDER(formula, 3, 4), ORDER(formula, 4, 4), ORDER(formula, 5, 8), ORDER(formula, 6, 8), ORDER(formula, 7, 8)   \
    }

/* Byte i of a lane of slots, and of one that has the units side by side, with so many bytes. */
#define UNIT_BYTES(unit, slot) (16 / (slot) * (unit))
#define SPREAD(unit, slot, i) ((i) % (slot) < (unit) ? (i) / (slot) * (unit) + (i) % (slot) : NOTHING)
#define SPREAD_BEHIND(unit, slot, i)                                                                                   \
    ((i) % (slot) < (unit) ? SPREAD(unit, slot, i) + 16 - UNIT_BYTES(unit, slot) : NOTHING)
#define PACK(unit, slot, i) ((i) < UNIT_BYTES(unit, slot) ? (i) / (unit) * (slot) + (i) % (unit) : NOTHING)

const uint8_t tsr_spread_unit[5][16] = OF_EACH_UNIT(SPREAD);
const uint8_t tsr_spread_unit_behind[5][16] = OF_EACH_UNIT(SPREAD_BEHIND);
const uint8_t tsr_pack_unit[5][16] = OF_EACH_UNIT(PACK);
