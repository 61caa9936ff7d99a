/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_AXIS_H
#define TESSERA_SRC_REORDER_AXIS_H

#include <tessera/memory.h>

#include "desc/digits.h"
#include "reorder/nest.h"

/*
 * One logical axis as source and destination both see it: digits so fine that each is linear on
 * both sides.
 *
 * If the block boundaries of the two sides nest (sorted, each divides the next), all of them are
 * digits. If they do not, those that divide all larger ones stay digits, and above them comes one
 * that is looked up,
 *
 *     t in [0, period / unit):  the offsets of index t * unit on either side, from that of index 0
 *
 * where unit is the greatest common divisor of the other boundaries, and period the least common
 * multiple of all: beyond it both sides are linear again.
 *
 * That makes runs of `unit` elements. Where these are short, but one side's innermost blocks are side by side, the axis
 * is cut at the blocks of that side instead, which are linear there:
 *
 *     block b, block b + period / block, ...:  t in [0, block), whose offsets on the other side are looked up
 *
 * This needs no boundary where the axis begins, so that windows may begin anywhere in a block, elsewhere on each side.
 */
#define TSR_MAX_AXIS_DIGITS (2 * TSR_MAX_LEVELS + 2)

typedef struct tsr_axis {
    const tsr_digits *src; /* NULL: only the destination counts (padding) */
    const tsr_digits *dst;
    int64_t begin; /* the positions of the elements are [begin, end) */
    int64_t end;
    int64_t limit; /* those of the padding are [end, limit) */
    bool is_tabulated;
    int64_t block;  /* of the side that it is cut at; 0: of none */
    int64_t head;   /* positions before the first of them begins */
    int64_t period; /* of both sides */
    bool cuts_src;  /* it is the source, else the destination */
    int64_t factor; /* 1 for the axis that scales and means run along, else 0 */
    int count;
    int64_t unit[TSR_MAX_AXIS_DIGITS];
    tsr_loop digit[TSR_MAX_AXIS_DIGITS]; /* n is the full radix; 0 for the outermost, which has none */
    int64_t *table;                      /* both tables in one allocation; if it is cut, that of the other side */
    int64_t table_length;                /* entries of one of them */
} tsr_axis;

/* An axis whose blocks do not nest is not cut, if both sides have runs of `long_run` in common; else at the blocks of
 * the destination, if it has runs of its own there, or is to be cut there in any case; or else at those of the
 * source. */
typedef struct tsr_cut_rules {
    int64_t long_run;
    bool prefers_dst;
} tsr_cut_rules;

/* The common digits of an axis; or how it is cut. src may be NULL. TSR_OUT_OF_MEMORY. */
tsr_status tsr_axis_refine(tsr_axis *axis, const tsr_digits *src, const tsr_digits *dst, int64_t factor,
                           tsr_cut_rules rules, const tsr_allocator *allocator);

/* The same axis as one table over all its indices: a single piece, whatever the boundaries. */
tsr_status tsr_axis_tabulate(tsr_axis *axis, const tsr_allocator *allocator);

/* Frees the table. */
void tsr_axis_reset(tsr_axis *axis, const tsr_allocator *allocator);

/*
 * A range [from, to) of positions falls into pieces in each of which one digit runs while those above
 * it stand still and those below it run in full: the whole blocks, the tail, the padding behind it.
 */
typedef struct tsr_piece {
    int64_t src, dst, factor; /* of its first index */
    int digit;                /* that runs */
    int64_t n;                /* so many steps */
    int64_t padding;          /* behind the last of them, if the caller says so */
    int64_t blocks;           /* if the axis is cut: so many of n elements, a period from each other; */
    const int64_t *table;     /* and where these are on the side that is looked up */
} tsr_piece;

/*
 * Writes the pieces and returns how many; pieces has room for 2 * TSR_MAX_AXIS_DIGITS. On an axis
 * with a table, from is begin; and to is end, if it is cut.
 */
int tsr_axis_pieces(const tsr_axis *axis, int64_t from, int64_t to, tsr_piece *pieces);

/* Adds the loops of a piece to a nest. */
void tsr_axis_add_loops(const tsr_axis *axis, const tsr_piece *piece, tsr_nest *nest);

#endif
