/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/placement.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/topology.h"

struct placed_allocator {
    tsr_allocator functions; /* what others see; its context is all of this */
    tsr_allocator small;
    tsr_numa numa; /* {0}: the system's policy */
    size_t page_bytes, huge_page_bytes;
    size_t huge_page_from_bytes;
};

/* ---- pages ---- */

static size_t read_huge_page_bytes(void)
{
    size_t bytes;
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "r");
    if (!file || fscanf(file, "%zu", &bytes) != 1)
        bytes = 2 << 20;
    if (file)
        fclose(file);
    return bytes;
}

/* Whole pages at a multiple of alignment, which is one of a page; NULL if there are none. */
static void *map_pages(size_t size_bytes, size_t alignment, size_t page_bytes)
{
    const size_t spare = alignment - page_bytes;
    size_t all;
    if (__builtin_add_overflow(size_bytes, spare, &all))
        return NULL;
    char *memory = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    const size_t before = -(uintptr_t)memory % alignment;
    if (before > 0)
        munmap(memory, before);
    if (before < spare)
        munmap(memory + before + size_bytes, spare - before);
    return memory + before;
}

/* ---- the allocator ---- */

static bool wants_huge_pages(const struct placed_allocator *placed, size_t size_bytes)
{
    return placed->huge_page_from_bytes > 0 && size_bytes >= placed->huge_page_from_bytes;
}

static bool has_pages(const struct placed_allocator *placed, size_t size_bytes)
{
    return size_bytes >= placed->page_bytes &&
           (placed->numa.policy != TSR_NUMA_DEFAULT || wants_huge_pages(placed, size_bytes));
}

/* Rounded up to whole pages; less than size_bytes if that does not fit. */
static size_t in_pages(const struct placed_allocator *placed, size_t size_bytes)
{
    return (size_bytes + placed->page_bytes - 1) / placed->page_bytes * placed->page_bytes;
}

static tsr_status get_pages(const struct placed_allocator *placed, size_t size_bytes, size_t alignment, void **memory,
                            tsr_error *error)
{
    const bool is_huge = wants_huge_pages(placed, size_bytes);
    const size_t least_alignment = is_huge ? placed->huge_page_bytes : placed->page_bytes;
    const size_t bytes = in_pages(placed, size_bytes);
    alignment = alignment > least_alignment ? alignment : least_alignment;
    void *pages = bytes < size_bytes ? NULL : map_pages(bytes, alignment, placed->page_bytes);
    if (!pages)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for %zu bytes of pages", size_bytes);
    if (is_huge)
        madvise(pages, bytes, MADV_HUGEPAGE); /* a wish */
    tsr_status status = TSR_OK;
    if (placed->numa.policy != TSR_NUMA_DEFAULT)
        status = tsr_numa_place(&placed->numa, pages, bytes, error);
    if (status == TSR_OK)
        *memory = pages;
    else
        munmap(pages, bytes);
    return status;
}

static void *placed_allocate(void *context, size_t size_bytes, size_t alignment)
{
    const struct placed_allocator *placed = context;
    void *memory = NULL;
    if (!has_pages(placed, size_bytes))
        return placed->small.allocate(placed->small.context, size_bytes, alignment);
    return get_pages(placed, size_bytes, alignment, &memory, NULL) == TSR_OK ? memory : NULL;
}

static void placed_release(void *context, void *memory, size_t size_bytes)
{
    const struct placed_allocator *placed = context;
    if (has_pages(placed, size_bytes))
        munmap(memory, in_pages(placed, size_bytes));
    else
        placed->small.release(placed->small.context, memory, size_bytes);
}

/* Opens the nodes of a policy, and tries it on one page. */
static tsr_status open_numa(struct placed_allocator *placed, const tsr_placement *placement, tsr_error *error)
{
    void *page = NULL;
    tsr_status status = tsr_numa_open(&placed->numa, placement, NULL, error);
    if (status == TSR_OK)
        status = get_pages(placed, placed->page_bytes, placed->page_bytes, &page, error);
    if (status == TSR_OK)
        placed_release(placed, page, placed->page_bytes);
    return status;
}

static tsr_status fill_in(struct placed_allocator *placed, const tsr_placement *placement, tsr_error *error)
{
    placed->functions = (tsr_allocator){placed_allocate, placed_release, placed};
    placed->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    placed->huge_page_bytes = read_huge_page_bytes();
    placed->huge_page_from_bytes = placement->huge_page_from_bytes;
    return placement->policy == TSR_NUMA_DEFAULT ? TSR_OK : open_numa(placed, placement, error);
}

static bool is_policy(tsr_numa_policy policy)
{
    return policy == TSR_NUMA_DEFAULT || policy == TSR_NUMA_BIND || policy == TSR_NUMA_INTERLEAVE;
}

tsr_status tsr_allocator_create(tsr_allocator **allocator, const tsr_placement *placement, const tsr_allocator *small,
                                tsr_error *error)
{
    small = small ? small : tsr_default_allocator();
    if (!is_policy(placement->policy))
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a NUMA policy, found %d", (int)placement->policy);
    struct placed_allocator *made = tsr_allocate_zeroed(small, 1, sizeof *made);
    if (!made)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for an allocator");
    made->small = *small;
    tsr_allocator *functions = &made->functions;
    tsr_status status = fill_in(made, placement, error);
    if (status == TSR_OK)
        *allocator = functions;
    else
        tsr_allocator_free(&functions);
    return status;
}

void tsr_allocator_free(tsr_allocator **allocator)
{
    if (!allocator || !*allocator)
        return;
    struct placed_allocator *old = (*allocator)->context;
    const tsr_allocator small = old->small;
    *allocator = NULL;
    tsr_numa_close(&old->numa);
    tsr_deallocate(&small, old, sizeof *old);
}

/* ---- what the system says ---- */

tsr_status tsr_placement_find(tsr_placement *placement, const void *memory, size_t size_bytes, tsr_error *error)
{
    if (!memory || size_bytes == 0)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected memory, found %s", memory ? "0 bytes of it" : "NULL");
    return tsr_numa_find(placement, memory, size_bytes, error);
}
