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

typedef struct tsr_mover {
    tsr_plan_cache *plans; /* NULL: the default */
    int threads;
    const tsr_plan *plan;                /* that tsr_plan_move has got; NULL: the cache is asked */
    bool has_converted, has_transferred; /* what it did last */
    bool has_begun;                      /* to write */
} tsr_mover;

/*
 * Gives dst the elements of src, which has the same dims, and does with the padding of dst what is asked; but
 * where the layouts are the same, padding comes from src, too.
 */
tsr_status tsr_move(tsr_mover *mover, const tsr_located *dst, const tsr_located *src, tsr_padding padding,
                    tsr_error *error);

/* Gets the plan of a move, if it is to be done on the host, so that only a device can fail then. */
tsr_status tsr_plan_move(tsr_mover *mover, const tsr_located *dst, const tsr_located *src, tsr_padding padding,
                         tsr_error *error);

/* Gives it back, if there is one. */
void tsr_forget_plan(tsr_plan_cache *plans, const tsr_plan **plan);

/* Zeroes the padding of a tensor. */
tsr_status tsr_zero_padding_at(const tsr_mover *mover, const tsr_located *at, tsr_error *error);

#endif
