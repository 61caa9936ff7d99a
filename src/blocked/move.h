/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_BLOCKED_MOVE_H
#define TESSERA_SRC_BLOCKED_MOVE_H

#include <tessera/plan_cache.h>

#include "blocked/device.h"

/* A tensor in the memory of a device. */
typedef struct tsr_located {
    const tsr_desc *desc;
    const tsr_device *device;
    void *memory;
} tsr_located;

/* Some bytes of a buffer, one behind the other. */
typedef struct tsr_bytes {
    size_t first, count;
} tsr_bytes;

/* What the host will do, if no device does it: a plan of the mover's cache, and all that need be known beside it. */
typedef struct tsr_planned_move {
    const tsr_plan *plan;          /* NULL: nothing is planned */
    size_t src_origin, dst_origin; /* where its buffers begin in those of the tensors */
    tsr_bytes src, dst;
    bool is_all_of_dst; /* written, so that those may lose what they hold */
    bool is_certain;    /* no device is asked whether it can do it */
} tsr_planned_move;

typedef struct tsr_mover {
    tsr_plan_cache *plans; /* NULL: the default */
    int threads;
    const tsr_allocator *allocator;      /* of what is saved; NULL: the default */
    const tsr_planned_move *planned;     /* by tsr_plan_move; NULL: it is planned when it comes to that */
    bool has_converted, has_transferred; /* what it did last */
    bool has_begun;                      /* to write */
} tsr_mover;

/*
 * Gives dst the elements of src, which has the same dims, and does with the padding of dst what is asked; but
 * where the layouts are the same, padding comes from src, too. TSR_OVERLAP: they share memory; nothing has been done.
 */
tsr_status tsr_move(tsr_mover *mover, const tsr_located *dst, const tsr_located *src, tsr_padding padding,
                    tsr_error *error);

/* Plans what tsr_move may have to do on the host, so that only a device can fail then. */
tsr_status tsr_plan_move(tsr_planned_move *move, const tsr_mover *mover, const tsr_located *dst, const tsr_located *src,
                         tsr_padding padding, tsr_error *error);

/* Does what is certain, between those places; their descriptors do not matter any more. */
tsr_status tsr_run_move(const tsr_planned_move *move, tsr_mover *mover, const tsr_located *dst, const tsr_located *src,
                        tsr_error *error);

/* Gives the plan back, if there is one. */
void tsr_forget_move(const tsr_mover *mover, tsr_planned_move *move);

/* From the first byte that a tensor reaches to the last one. */
tsr_bytes tsr_bytes_of(const tsr_desc *desc);

/* All bytes of two, and what lies between them. */
tsr_bytes tsr_bytes_joined(tsr_bytes a, tsr_bytes b);

/* Have some bytes of one buffer and some of another, which lie on devices, a byte in common? */
bool tsr_share_memory(const tsr_device *on, const void *a, tsr_bytes of_a, const tsr_device *other_on, const void *b,
                      tsr_bytes of_b);

/* Where the buffer would begin of which some bytes are mapped. */
void *tsr_buffer_around(void *mapped, tsr_bytes bytes);

/* Is every byte of the buffer an element's or its padding's, and of no other element, so that all may be
 * overwritten? */
bool tsr_is_all_of_buffer(const tsr_desc *desc);

/* Zeroes the padding of a tensor, whose elements stay as they are, also if the device fails. */
tsr_status tsr_zero_padding_at(const tsr_mover *mover, const tsr_located *at, tsr_error *error);

#endif
