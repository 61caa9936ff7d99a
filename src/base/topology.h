/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_BASE_TOPOLOGY_H
#define TESSERA_SRC_BASE_TOPOLOGY_H

#include <tessera/placement.h>
#include <tessera/topology.h>

/*
 * Tests of plans for other machines: from now on this is what tsr_topology_machine gives, or if it is NULL, the machine
 * again. It stays the caller's. No other thread may be making plans.
 */
void tsr_topology_pretend(const tsr_topology *topology);

/* The NUMA nodes that a policy takes memory from. {0} can be closed. The first two are hwloc's. */
typedef struct tsr_numa {
    struct hwloc_topology *machine;
    const struct hwloc_bitmap_s *nodes; /* of the machine's */
    char names[64];                     /* as the system numbers them, such as "0-3", cut if that is longer */
    tsr_numa_policy policy;
} tsr_numa;

/*
 * Those of this machine, or of a synthetic one (tsr_topology_synthetic) if that is not NULL, for a policy but the
 * default. Fails as tsr_allocator_create does.
 */
tsr_status tsr_numa_open(tsr_numa *numa, const tsr_placement *placement, const char *synthetic, tsr_error *error);

void tsr_numa_close(tsr_numa *numa);

/* Places pages that nobody has touched. TSR_UNSUPPORTED: the system refuses, or the machine is not this one. */
tsr_status tsr_numa_place(const tsr_numa *numa, void *memory, size_t size_bytes, tsr_error *error);

/* As tsr_placement_find, for memory that is some. */
tsr_status tsr_numa_find(tsr_placement *placement, const void *memory, size_t size_bytes, tsr_error *error);

#endif
