/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TOPOLOGY_H
#define TESSERA_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include <tessera/status.h>

TSR_BEGIN_DECLS

/* What the engine wants to know of a machine. Every figure is at least 1. */
typedef struct tsr_topology {
    int cores;               /* physical cores that this process may use, at most `threads` */
    int threads;             /* hardware threads that this process may use */
    int numa_nodes;          /* nodes with memory */
    bool has_near_l3;        /* a few cores have the third level, and it keeps up with them: AMD's; no synthetic one */
    int64_t l1_bytes;        /* first-level data cache of one core */
    int64_t l1_period_bytes; /* lines so far apart, a power of two, map onto one set of it */
    int64_t l2_bytes;        /* second-level cache that one core sees */
    int64_t l3_bytes;        /* last-level cache that one core sees; l2_bytes where there is no third level */
    int64_t cacheline_bytes;
} tsr_topology;

/* The machine that this process runs on, read once. Never NULL, never changes. */
TSR_API const tsr_topology *tsr_topology_machine(void);

/*
 * A machine described in hwloc's synthetic form, such as "pack:2 numa:1 l3:1(size=33554432) core:4
 * l2:1(size=1048576) l1:1(size=32768) pu:2", for tests.
 *
 * TSR_INVALID_ARGUMENT  description is NULL
 * TSR_PARSE_ERROR       hwloc does not understand the text
 * TSR_UNSUPPORTED       the library was built without hwloc
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_topology_synthetic(tsr_topology *topology, const char *description,
                                                         tsr_error *error);

TSR_END_DECLS

#endif
