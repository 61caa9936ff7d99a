/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_MACHINES_H
#define TESSERA_TESTS_MACHINES_H

/* Machines for which tests make plans, wherever they run. */

#include <stdbool.h>

#include "base/topology.h"

/* The last cache: of a few cores, of a few whose first-level sets are deep (tsr_has_deep_sets), or of many and far from
 * each, also one that is larger than most. */
enum cache { NEAR, DEEP, FAR, FAR_AND_LARGE };

/* The machine with such caches, until tsr_topology_pretend(NULL). */
static inline void pretend(enum cache cache)
{
    static tsr_topology machine;
    const bool is_far = cache == FAR || cache == FAR_AND_LARGE;
    machine = *tsr_topology_machine();
    machine.has_near_l3 = !is_far;
    machine.l1_bytes = cache == NEAR ? 32 << 10 : 48 << 10;
    machine.l1_period_bytes = 4 << 10;
    machine.l2_bytes = is_far ? 2 << 20 : 1 << 20;
    machine.l3_bytes = cache == FAR_AND_LARGE ? 480 << 20 : is_far ? 260 << 20 : 32 << 20;
    tsr_topology_pretend(&machine);
}

#endif
