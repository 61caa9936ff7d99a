/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_MACHINES_H
#define TESSERA_TESTS_MACHINES_H

/* Machines for which tests make plans, wherever they run. */

#include <stdbool.h>

#include "base/topology.h"

/* The last cache: of a few cores, or of many and far from each. */
enum cache { NEAR, FAR };

/* The machine with such caches, until tsr_topology_pretend(NULL). */
static inline void pretend(enum cache cache)
{
    static tsr_topology machine;
    const bool is_far = cache == FAR;
    machine = *tsr_topology_machine();
    machine.has_near_l3 = !is_far;
    machine.l1_bytes = 48 << 10;
    machine.l2_bytes = is_far ? 2 << 20 : 1 << 20;
    machine.l3_bytes = is_far ? 260 << 20 : 32 << 20;
    tsr_topology_pretend(&machine);
}

#endif
