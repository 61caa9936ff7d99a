/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/caches.h"

#include <tessera/topology.h>

#include "base/int.h"

/* A cache below an eighth of what was measured is taken for one of that: tiles have to have some rows. */
static int64_t share_of(int64_t cache, int64_t measured, int64_t bytes)
{
    return cache >= measured ? bytes : bytes * tsr_max(cache, measured / 8) / measured;
}

int64_t tsr_share_of_l1(int64_t bytes)
{
    enum { MEASURED = 32 << 10 };
    return share_of(tsr_topology_machine()->l1_bytes, MEASURED, bytes);
}

int64_t tsr_share_of_l2(int64_t bytes)
{
    enum { MEASURED = 512 << 10 };
    return share_of(tsr_topology_machine()->l2_bytes, MEASURED, bytes);
}

int64_t tsr_period_of_sets(void)
{
    return tsr_topology_machine()->l1_period_bytes;
}

int64_t tsr_lines_of_set(void)
{
    const tsr_topology *topology = tsr_topology_machine();
    return tsr_max(1, topology->l1_bytes / topology->l1_period_bytes);
}

bool tsr_has_deep_sets(void)
{
    enum { MOST_OF_OTHERS = 8 };
    return tsr_topology_machine()->has_near_l3 && tsr_lines_of_set() > MOST_OF_OTHERS;
}
