/* SPDX-License-Identifier: Apache-2.0 */
#include "base/topology.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/int.h"

#if TSR_HAVE_HWLOC
#include <hwloc.h>
#endif

/* A modest machine, for figures that nobody can tell us. */
static const tsr_topology fallback = {
    .cores = 1,
    .threads = 1,
    .numa_nodes = 1,
    .l1_bytes = 32 << 10,
    .l1_period_bytes = 4 << 10,
    .l2_bytes = 512 << 10,
    .l3_bytes = 512 << 10,
    .cacheline_bytes = 64,
};

static void keep_positive(int64_t *figure, int64_t found)
{
    if (found > 0)
        *figure = found;
}

static void keep_positive_int(int *figure, int found)
{
    if (found > 0)
        *figure = found;
}

#if TSR_HAVE_HWLOC

/* The cache of a type above the first core, its size and line. */
static hwloc_obj_t cache_of_first_core(hwloc_topology_t hw, hwloc_obj_type_t type)
{
    hwloc_obj_t pu = hwloc_get_obj_by_type(hw, HWLOC_OBJ_PU, 0);
    return pu ? hwloc_get_ancestor_obj_by_type(hw, type, pu) : NULL;
}

static void keep_cache(int64_t *figure, hwloc_obj_t cache)
{
    if (cache && cache->attr)
        keep_positive(figure, (int64_t)cache->attr->cache.size);
}

/* A page, where a set's lines are not known, or no power of two of lines apart: indices of sets are mostly what an
 * address has within one. */
static int64_t period_of(int64_t cache_bytes, int64_t ways)
{
    enum { PAGE = 4 << 10, LINE = 64 };
    const int64_t period = ways > 0 ? cache_bytes / ways : 0;
    return period >= LINE && tsr_is_power_of_two(period) ? period : PAGE;
}

static void read_hwloc(tsr_topology *topology, hwloc_topology_t hw)
{
    keep_positive_int(&topology->threads, hwloc_get_nbobjs_by_type(hw, HWLOC_OBJ_PU));
    topology->cores = topology->threads;
    keep_positive_int(&topology->cores, hwloc_get_nbobjs_by_type(hw, HWLOC_OBJ_CORE));
    keep_positive_int(&topology->numa_nodes, hwloc_get_nbobjs_by_type(hw, HWLOC_OBJ_NUMANODE));

    hwloc_obj_t l1 = cache_of_first_core(hw, HWLOC_OBJ_L1CACHE);
    keep_cache(&topology->l1_bytes, l1);
    if (l1 && l1->attr)
        keep_positive(&topology->cacheline_bytes, (int64_t)l1->attr->cache.linesize);
    topology->l1_period_bytes = period_of(topology->l1_bytes, l1 && l1->attr ? l1->attr->cache.associativity : 0);
    keep_cache(&topology->l2_bytes, cache_of_first_core(hw, HWLOC_OBJ_L2CACHE));
    topology->l3_bytes = topology->l2_bytes;
    keep_cache(&topology->l3_bytes, cache_of_first_core(hw, HWLOC_OBJ_L3CACHE));
}

/* This machine, or the synthetic one. */
static tsr_status open_hwloc(hwloc_topology_t *hw, const char *synthetic, tsr_error *error)
{
    tsr_status status = TSR_OK;
    if (hwloc_topology_init(hw) != 0)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "hwloc cannot make a topology");
    if (synthetic && hwloc_topology_set_synthetic(*hw, synthetic) != 0)
        status = tsr_fail(error, TSR_PARSE_ERROR, "expected a synthetic topology of hwloc, found \"%.80s\"", synthetic);
    else if (hwloc_topology_load(*hw) != 0)
        status = tsr_fail(error, TSR_UNSUPPORTED, "hwloc cannot read the topology");
    if (status != TSR_OK)
        hwloc_topology_destroy(*hw);
    return status;
}

static tsr_status load(tsr_topology *topology, const char *synthetic, tsr_error *error)
{
    hwloc_topology_t hw;
    tsr_status status = open_hwloc(&hw, synthetic, error);
    if (status != TSR_OK)
        return status;
    *topology = fallback;
    read_hwloc(topology, hw);
    hwloc_topology_destroy(hw);
    return TSR_OK;
}

static void read_machine(tsr_topology *topology)
{
    if (load(topology, NULL, NULL) != TSR_OK)
        *topology = fallback;
}

tsr_status tsr_topology_synthetic(tsr_topology *topology, const char *description, tsr_error *error)
{
    if (!description)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a synthetic topology of hwloc, found NULL");
    return load(topology, description, error);
}

/* ---- NUMA nodes ---- */

static tsr_status choose_nodes(tsr_numa *numa, const tsr_placement *placement, tsr_error *error)
{
    const int count = hwloc_get_nbobjs_by_type(numa->machine, HWLOC_OBJ_NUMANODE);
    numa->nodes = hwloc_topology_get_topology_nodeset(numa->machine);
    if (placement->policy == TSR_NUMA_INTERLEAVE)
        return TSR_OK;
    if (placement->node < 0 || placement->node >= count)
        return tsr_fail(error, TSR_OUT_OF_RANGE, "expected one of %d NUMA nodes, counted from 0, found %d", count,
                        placement->node);
    numa->nodes = hwloc_get_obj_by_type(numa->machine, HWLOC_OBJ_NUMANODE, (unsigned)placement->node)->nodeset;
    return TSR_OK;
}

tsr_status tsr_numa_open(tsr_numa *numa, const tsr_placement *placement, const char *synthetic, tsr_error *error)
{
    tsr_numa made = {.policy = placement->policy};
    tsr_status status = open_hwloc(&made.machine, synthetic, error);
    if (status != TSR_OK)
        return status;
    status = choose_nodes(&made, placement, error);
    if (status != TSR_OK) {
        tsr_numa_close(&made);
        return status;
    }
    hwloc_bitmap_list_snprintf(made.names, sizeof made.names, made.nodes);
    *numa = made;
    return TSR_OK;
}

void tsr_numa_close(tsr_numa *numa)
{
    if (numa->machine)
        hwloc_topology_destroy(numa->machine);
    *numa = (tsr_numa){0};
}

/* Or errno says why not: hwloc believes that whatever it does to another machine succeeds. */
static int is_this_machine(hwloc_topology_t hw)
{
    errno = ENOSYS;
    return hwloc_topology_is_thissystem(hw);
}

tsr_status tsr_numa_place(const tsr_numa *numa, void *memory, size_t size_bytes, tsr_error *error)
{
    const hwloc_membind_policy_t policy = numa->policy == TSR_NUMA_BIND ? HWLOC_MEMBIND_BIND : HWLOC_MEMBIND_INTERLEAVE;
    if (is_this_machine(numa->machine) &&
        hwloc_set_area_membind(numa->machine, memory, size_bytes, numa->nodes, policy, HWLOC_MEMBIND_BYNODESET) == 0)
        return TSR_OK;
    return tsr_fail(error, TSR_UNSUPPORTED, "the system refuses to place memory on NUMA nodes %s: %s", numa->names,
                    strerror(errno));
}

/* In our words. */
static tsr_status read_policy(tsr_placement *placement, hwloc_topology_t hw, hwloc_const_nodeset_t nodes,
                              hwloc_membind_policy_t policy, tsr_error *error)
{
    tsr_placement found = {0};
    if (policy == HWLOC_MEMBIND_BIND) {
        hwloc_obj_t node = hwloc_get_numanode_obj_by_os_index(hw, (unsigned)hwloc_bitmap_first(nodes));
        found = (tsr_placement){.policy = TSR_NUMA_BIND, .node = node ? (int)node->logical_index : 0};
    } else if (policy == HWLOC_MEMBIND_INTERLEAVE) {
        found.policy = TSR_NUMA_INTERLEAVE;
    } else if (policy != HWLOC_MEMBIND_DEFAULT && policy != HWLOC_MEMBIND_FIRSTTOUCH) {
        return tsr_fail(error, TSR_UNSUPPORTED, "the memory has hwloc's policy %d, which is none of ours", (int)policy);
    }
    *placement = found;
    return TSR_OK;
}

tsr_status tsr_numa_find(tsr_placement *placement, const void *memory, size_t size_bytes, tsr_error *error)
{
    hwloc_topology_t hw;
    hwloc_membind_policy_t policy;
    tsr_status status = open_hwloc(&hw, NULL, error);
    if (status != TSR_OK)
        return status;
    hwloc_nodeset_t nodes = hwloc_bitmap_alloc();
    if (nodes && is_this_machine(hw) &&
        hwloc_get_area_membind(hw, memory, size_bytes, nodes, &policy,
                               HWLOC_MEMBIND_BYNODESET | HWLOC_MEMBIND_STRICT) == 0)
        status = read_policy(placement, hw, nodes, policy, error);
    else
        status = tsr_fail(error, TSR_UNSUPPORTED, "the system does not say how memory is placed: %s", strerror(errno));
    hwloc_bitmap_free(nodes);
    hwloc_topology_destroy(hw);
    return status;
}

#else

/* The system's own figures: it names the caches, but no cores beside hardware threads. */
static void read_machine(tsr_topology *topology)
{
    *topology = fallback;
    keep_positive_int(&topology->threads, (int)sysconf(_SC_NPROCESSORS_ONLN));
    topology->cores = topology->threads;
#ifdef _SC_LEVEL1_DCACHE_SIZE
    keep_positive(&topology->l1_bytes, sysconf(_SC_LEVEL1_DCACHE_SIZE));
    keep_positive(&topology->cacheline_bytes, sysconf(_SC_LEVEL1_DCACHE_LINESIZE));
    keep_positive(&topology->l2_bytes, sysconf(_SC_LEVEL2_CACHE_SIZE));
    topology->l3_bytes = topology->l2_bytes;
    keep_positive(&topology->l3_bytes, sysconf(_SC_LEVEL3_CACHE_SIZE));
#endif
    char node[64];
    do
        snprintf(node, sizeof node, "/sys/devices/system/node/node%d", topology->numa_nodes);
    while (access(node, F_OK) == 0 && ++topology->numa_nodes);
}

tsr_status tsr_topology_synthetic(tsr_topology *topology, const char *description, tsr_error *error)
{
    (void)topology;
    (void)description;
    return tsr_fail(error, TSR_UNSUPPORTED, "synthetic topologies need a build with hwloc");
}

/* ---- NUMA nodes: none can be opened ---- */

static tsr_status refuse_numa(tsr_error *error)
{
    return tsr_fail(error, TSR_UNSUPPORTED, "NUMA policies need a build with hwloc");
}

tsr_status tsr_numa_open(tsr_numa *numa, const tsr_placement *placement, const char *synthetic, tsr_error *error)
{
    (void)numa;
    (void)placement;
    (void)synthetic;
    return refuse_numa(error);
}

void tsr_numa_close(tsr_numa *numa)
{
    (void)numa;
}

tsr_status tsr_numa_place(const tsr_numa *numa, void *memory, size_t size_bytes, tsr_error *error)
{
    (void)numa;
    (void)memory;
    (void)size_bytes;
    return refuse_numa(error);
}

tsr_status tsr_numa_find(tsr_placement *placement, const void *memory, size_t size_bytes, tsr_error *error)
{
    (void)placement;
    (void)memory;
    (void)size_bytes;
    return refuse_numa(error);
}

#endif

/* A process may be bound to fewer processors than the machine has. */
static void keep_to_affinity(tsr_topology *topology)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) == 0)
        return;
    topology->threads = CPU_COUNT(&allowed) < topology->threads ? CPU_COUNT(&allowed) : topology->threads;
    topology->cores = topology->threads < topology->cores ? topology->threads : topology->cores;
}

/* Nothing tells how fast a cache is, but who made it. */
static bool has_near_l3(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_is("amd");
#else
    return false;
#endif
}

static tsr_topology machine;
static const tsr_topology *pretended;

static void read_machine_once(void)
{
    read_machine(&machine);
    keep_to_affinity(&machine);
    machine.has_near_l3 = machine.l3_bytes > machine.l2_bytes && has_near_l3();
}

const tsr_topology *tsr_topology_machine(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_machine_once);
    return pretended ? pretended : &machine;
}

void tsr_topology_pretend(const tsr_topology *topology)
{
    pretended = topology;
}
