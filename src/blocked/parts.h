/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_BLOCKED_PARTS_H
#define TESSERA_SRC_BLOCKED_PARTS_H

#include "blocked/blob.h"
#include "blocked/move.h"

/* A whole that is merged or split, or a part of it. */
typedef struct tsr_portion {
    tsr_blob *blob, *root;
    tsr_access access;          /* if it is its own holder: of the blob, or if that is written, of its root */
    struct tsr_portion *holder; /* itself, or of several that are written in one root, the first */
    int64_t place;              /* in the root's buffer; of a part that is written */
    bool is_written;            /* or else read */
    bool has_begun;             /* of a holder: its memory may have been written to, */
    tsr_bytes written;          /* where these bytes are, */
    tsr_saved *saved;           /* of which others see these */
    tsr_bytes bytes;            /* from its first element to its last one */
    int64_t first;              /* of a part: where it begins in the whole, along the axis, */
    tsr_planned_move move;      /* what the host will do, if no device does, */
    bool is_moved;              /* and whether it has done so */
} tsr_portion;

/* All of it is acquired and planned before anything moves. */
typedef struct tsr_division {
    tsr_portion whole, *parts;
    int count, axis;
    bool is_split;  /* or else a merge */
    int tasks;      /* that move whole parts at once; 1: all threads share each part, one after the other, */
    double sharing; /* about so many threads would share the longest part */
} tsr_division;

/* Whoever is written when a part is moved. */
static inline tsr_portion *tsr_written_with(tsr_division *d, tsr_portion *part)
{
    return d->is_split ? part : &d->whole;
}

/* Moves a part that has been planned, if it is certain that the host does. Any thread may. */
bool tsr_portion_run(tsr_division *d, tsr_portion *part);

/* ---- parts at once; of a whole and parts that have been acquired on the host ---- */

/* So many tasks move whole parts about as soon as all threads do that share each of them; or 1. Sets sharing, too. */
int tsr_division_tasks(tsr_division *d, const tsr_desc *whole);

/* Is that still so, now that it is planned what each part costs? */
bool tsr_division_is_even(const tsr_division *d, const tsr_desc *whole);

/* Has that many tasks move what has been planned for them. */
void tsr_division_run_at_once(tsr_division *d);

#endif
