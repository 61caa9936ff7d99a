/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_NEST_H
#define TESSERA_SRC_REORDER_NEST_H

#include <stdbool.h>
#include <stdint.h>

#include <tessera/desc.h>

/*
 * One loop of a reorder. Step i is at src_at(i) in the source, dst_at(i) in the destination and i *
 * factor in the table of scales and means:
 *
 *     src_at(i) = src_table ? src_table[i] : i * src,   and the same for dst
 *
 * Tables occur only where the blocks of the two sides do not nest; a side that is linear all the same has none.
 *
 * Behind its last step, where the next ones would lie in the destination, there may be padding, to be
 * zeroed along with it.
 */
typedef struct tsr_loop {
    int64_t n;
    int64_t src;
    int64_t dst;
    int64_t factor;
    int64_t padding; /* steps behind the last that are zeros; dst is 1 then */
    const int64_t *src_table;
    const int64_t *dst_table;
} tsr_loop;

/* Where step i is, in elements. */
static inline int64_t tsr_loop_src(const tsr_loop *loop, int64_t i)
{
    return loop->src_table ? loop->src_table[i] : i * loop->src;
}

static inline int64_t tsr_loop_dst(const tsr_loop *loop, int64_t i)
{
    return loop->dst_table ? loop->dst_table[i] : i * loop->dst;
}

static inline bool tsr_loop_has_table(const tsr_loop *loop)
{
    return loop->src_table || loop->dst_table;
}

/* Steps of a loop with its padding, at most: both are made as one in scratch memory, of which they take a small
 * part. */
enum { TSR_MOST_JOINED = 32 };

#define TSR_MAX_LOOPS (2 * TSR_MAX_LEVELS + TSR_MAX_RANK)

/*
 * A box of the index space as nested loops, and where its first element is. Outermost first after
 * tsr_nest_fuse.
 */
typedef struct tsr_nest {
    int64_t src;
    int64_t dst;
    int64_t factor;
    int count;
    tsr_loop loop[TSR_MAX_LOOPS];
} tsr_nest;

/*
 * Drops loops of one step without padding, sorts the rest by the distance they move in the destination, largest
 * first, and joins neighbours where the outer one continues the inner one in source, destination
 * and table. The nest visits the same elements as before.
 */
void tsr_nest_fuse(tsr_nest *nest);

/* Lets loop i, which is no table, run from its last step to the first. The nest visits the same elements as before. */
void tsr_nest_turn(tsr_nest *nest, int i);

/* The product of all n. */
int64_t tsr_nest_elements(const tsr_nest *nest);

#endif
