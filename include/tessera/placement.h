/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_PLACEMENT_H
#define TESSERA_PLACEMENT_H

#include <stddef.h>

#include <tessera/memory.h>
#include <tessera/status.h>

TSR_BEGIN_DECLS

/*
 * Where memory lies in a machine with several NUMA nodes, and in pages of which size. A placement is made into an
 * allocator, which blobs and storages take as any other:
 *
 *     tsr_placement placement = {.policy = TSR_NUMA_BIND, .node = 1, .huge_page_from_bytes = 4 << 20};
 *     status = tsr_allocator_create(&allocator, &placement, NULL, &error);
 *     status = tsr_blob_create(&blob, &desc, &(tsr_blob_options){.allocator = allocator}, &error);
 */
typedef enum tsr_numa_policy {
    TSR_NUMA_DEFAULT = 0, /* the system's: on Linux, each page on the node of the thread that first touches it */
    TSR_NUMA_BIND,        /* all pages on one node, for as long as that has free memory; then on others */
    TSR_NUMA_INTERLEAVE   /* page by page on all nodes in turn */
} tsr_numa_policy;

/* {0} is memory as the system gives it. */
typedef struct tsr_placement {
    tsr_numa_policy policy;
    int node; /* of TSR_NUMA_BIND, which alone looks at it: from 0, below numa_nodes of tsr_topology_machine, in hwloc's
               * logical order */
    /* Memory of so many bytes or more begins at a huge page, and the system is asked for such pages as far as whole
     * ones fit. It may have none to give; then they are ordinary. 0: never. */
    size_t huge_page_from_bytes;
} tsr_placement;

/*
 * An allocator for a placement. Memory that the placement has a wish for, by a policy or by huge pages, and that is not
 * smaller than a page has whole pages of its own, which nobody has touched yet. The rest, such as handles, comes from
 * small, wherever that takes it, and so does the allocator itself; small may be NULL, and is copied. The allocator
 * serves any thread, and is freed after all that came from it.
 *
 * Whether the system lets this process place memory is tried here, on one page. So whoever can do without the policy
 * takes another allocator after TSR_UNSUPPORTED; and no memory is silently somewhere else: allocate returns NULL if
 * the system refuses later on.
 *
 * TSR_INVALID_ARGUMENT  no such policy
 * TSR_OUT_OF_RANGE      no such node; the message says how many there are
 * TSR_UNSUPPORTED       a policy but the default in a build without hwloc, or where the system refuses, as it does in
 *                       some containers; the message says why
 * TSR_OUT_OF_MEMORY     nothing is leaked
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_allocator_create(tsr_allocator **allocator, const tsr_placement *placement,
                                                       const tsr_allocator *small, tsr_error *error);

/* Frees what tsr_allocator_create made. NULL is ignored. */
TSR_API void tsr_allocator_free(tsr_allocator **allocator);

/*
 * How the system says that the pages of memory are placed, whoever allocated it: the policy, and for TSR_NUMA_BIND
 * the first of its nodes, else 0; huge_page_from_bytes is 0. For checks: it takes milliseconds to read the machine's
 * topology and more to ask for each page.
 *
 * TSR_INVALID_ARGUMENT  memory is NULL, or size_bytes 0
 * TSR_UNSUPPORTED       a build without hwloc; a system that does not say; pages of several policies
 * The placement is not changed on failure.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_placement_find(tsr_placement *placement, const void *memory, size_t size_bytes,
                                                     tsr_error *error);

TSR_END_DECLS

#endif
