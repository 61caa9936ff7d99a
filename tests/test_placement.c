/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <tessera/blob.h>
#include <tessera/placement.h>
#include <tessera/text.h>

#include "base/topology.h"
#include "blocked/storage.h"
#include "failing_allocator.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MIB ((size_t)1 << 20)

static bool has_hwloc(void)
{
    return strstr(tsr_build_features(), "hwloc") != NULL;
}

static tsr_placement bind_to(int node)
{
    return (tsr_placement){.policy = TSR_NUMA_BIND, .node = node};
}

static const tsr_placement interleave = {.policy = TSR_NUMA_INTERLEAVE};

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t mapped_bytes(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%zu", &pages), 1);
    fclose(file);
    return pages * page_bytes();
}

/* ---- which nodes; on machines that nobody has ---- */

static const struct {
    const char *machine;
    tsr_placement placement;
    const char *nodes;
} choices[] = {
    {"node:4 core:2 pu:1", {.policy = TSR_NUMA_BIND, .node = 0}, "0"},
    {"node:4 core:2 pu:1", {.policy = TSR_NUMA_BIND, .node = 3}, "3"},
    {"node:4 core:2 pu:1", {.policy = TSR_NUMA_INTERLEAVE}, "0-3"},
    {"node:4 core:2 pu:1", {.policy = TSR_NUMA_INTERLEAVE, .node = 9}, "0-3"},
    {"node:4(indexes=3,1,0,2) core:2 pu:1", {.policy = TSR_NUMA_BIND, .node = 0}, "3"},
    {"node:4(indexes=3,1,0,2) core:2 pu:1", {.policy = TSR_NUMA_BIND, .node = 3}, "2"},
    {"node:2(indexes=0,8) core:2 pu:1", {.policy = TSR_NUMA_INTERLEAVE}, "0,8"},
    {"pack:2 numa:3 core:5 pu:6", {.policy = TSR_NUMA_BIND, .node = 5}, "5"},
    {"pack:2 numa:3 core:5 pu:6", {.policy = TSR_NUMA_INTERLEAVE}, "0-5"},
    {"pu:3", {.policy = TSR_NUMA_BIND, .node = 0}, "0"},
    {"pu:3", {.policy = TSR_NUMA_INTERLEAVE}, "0"},
};

static void test_nodes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(choices); i++) {
        tsr_numa numa = {0};
        tsr_error error = {0};
        char page[1];
        if (tsr_numa_open(&numa, &choices[i].placement, choices[i].machine, &error) != TSR_OK)
            fail_msg("%s: %s", choices[i].machine, error.message);
        assert_string_equal(numa.names, choices[i].nodes);

        char expected[128];
        snprintf(expected, sizeof expected, "the system refuses to place memory on NUMA nodes %s: %s", choices[i].nodes,
                 strerror(ENOSYS));
        assert_int_equal(tsr_numa_place(&numa, page, sizeof page, &error), TSR_UNSUPPORTED);
        assert_string_equal(error.message, expected);
        tsr_numa_close(&numa);
        assert_null(numa.machine);
        tsr_numa_close(&numa);
    }
}

static void refuse_to_open(const char *machine, tsr_placement placement, tsr_status status, const char *message)
{
    tsr_numa numa, before;
    tsr_error error = {0};
    memset(&numa, 0x5a, sizeof numa);
    before = numa;
    assert_int_equal(tsr_numa_open(&numa, &placement, machine, &error), status);
    assert_string_equal(error.message, message);
    assert_memory_equal(&numa, &before, sizeof numa);
}

static void test_no_such_node(void **state)
{
    (void)state;
    if (!has_hwloc()) {
        refuse_to_open("pu:1", bind_to(0), TSR_UNSUPPORTED, "NUMA policies need a build with hwloc");
        return;
    }
    refuse_to_open("node:4 core:2 pu:1", bind_to(4), TSR_OUT_OF_RANGE,
                   "expected one of 4 NUMA nodes, counted from 0, found 4");
    refuse_to_open("node:4 core:2 pu:1", bind_to(-1), TSR_OUT_OF_RANGE,
                   "expected one of 4 NUMA nodes, counted from 0, found -1");
    refuse_to_open("pu:3", bind_to(1), TSR_OUT_OF_RANGE, "expected one of 1 NUMA nodes, counted from 0, found 1");
    refuse_to_open("node:", interleave, TSR_PARSE_ERROR, "expected a synthetic topology of hwloc, found \"node:\"");
}

/* ---- what is refused ---- */

/* The allocator of a placement, which small counts for. */
static tsr_allocator *allocator_of(tsr_placement placement, const tsr_allocator *small)
{
    tsr_allocator *allocator = NULL;
    tsr_error error = {0};
    if (tsr_allocator_create(&allocator, &placement, small, &error) != TSR_OK)
        fail_msg("%s", error.message);
    return allocator;
}

static void refuse(tsr_placement placement, tsr_status status, const char *message)
{
    failing_allocator counter = {0};
    const tsr_allocator small = failing_allocator_of(&counter);
    tsr_allocator *allocator = NULL;
    tsr_error error = {0};
    assert_int_equal(tsr_allocator_create(&allocator, &placement, &small, &error), status);
    assert_string_equal(error.message, message);
    assert_null(allocator);
    assert_int_equal(counter.live, 0);
    assert_int_equal(tsr_allocator_create(&allocator, &placement, NULL, NULL), status);
}

static void test_refusals(void **state)
{
    (void)state;
    refuse((tsr_placement){.policy = (tsr_numa_policy)3}, TSR_INVALID_ARGUMENT, "expected a NUMA policy, found 3");
    if (!has_hwloc()) {
        refuse(bind_to(0), TSR_UNSUPPORTED, "NUMA policies need a build with hwloc");
        refuse(interleave, TSR_UNSUPPORTED, "NUMA policies need a build with hwloc");
        return;
    }
    char message[128];
    const int nodes = tsr_topology_machine()->numa_nodes;
    snprintf(message, sizeof message, "expected one of %d NUMA nodes, counted from 0, found %d", nodes, nodes);
    refuse(bind_to(nodes), TSR_OUT_OF_RANGE, message);
}

/* hwloc can be told to take a synthetic machine for this one. No memory of ours is there. */
static void test_machine_that_is_not_here(void **state)
{
    (void)state;
    char page[1], message[128];
    tsr_placement found = bind_to(7);
    tsr_error error = {0};
    setenv("HWLOC_SYNTHETIC", "node:4 core:2 pu:1", 1);
    refuse(bind_to(4), TSR_OUT_OF_RANGE, "expected one of 4 NUMA nodes, counted from 0, found 4");
    snprintf(message, sizeof message, "the system refuses to place memory on NUMA nodes 3: %s", strerror(ENOSYS));
    refuse(bind_to(3), TSR_UNSUPPORTED, message);
    snprintf(message, sizeof message, "the system does not say how memory is placed: %s", strerror(ENOSYS));
    assert_int_equal(tsr_placement_find(&found, page, sizeof page, &error), TSR_UNSUPPORTED);
    assert_string_equal(error.message, message);
    assert_int_equal(found.node, 7);
    unsetenv("HWLOC_SYNTHETIC");
}

/* Makes mbind fail in the calling thread, as it does in containers. */
static bool forbid_to_place(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mbind, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {COUNT(filter), filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

struct forbidden {
    tsr_allocator *allocator; /* made before */
    bool is_forbidden;
    void *memory;
    size_t before, after; /* bytes that are mapped */
    tsr_status status;
    tsr_error error;
};

static void *try_where_it_is_forbidden(void *argument)
{
    struct forbidden *tried = argument;
    tsr_allocator *another = NULL;
    tried->is_forbidden = forbid_to_place();
    if (!tried->is_forbidden)
        return NULL;
    tried->status = tsr_allocator_create(&another, &interleave, NULL, &tried->error);
    tried->before = mapped_bytes();
    tried->memory = tried->allocator->allocate(tried->allocator->context, 64 * MIB, TSR_ALIGNMENT);
    tried->after = mapped_bytes();
    return NULL;
}

static void test_system_that_forbids(void **state)
{
    (void)state;
    char message[192];
    pthread_t thread;
    struct forbidden tried = {.allocator = allocator_of(interleave, NULL)};
    assert_int_equal(pthread_create(&thread, NULL, try_where_it_is_forbidden, &tried), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    tsr_allocator_free(&tried.allocator);
    if (!tried.is_forbidden) {
        print_message("# nothing can be forbidden here: %s\n", strerror(errno));
        return;
    }
    tsr_numa numa = {0};
    assert_int_equal(tsr_numa_open(&numa, &interleave, NULL, NULL), TSR_OK);
    snprintf(message, sizeof message, "the system refuses to place memory on NUMA nodes %.63s: %s", numa.names,
             strerror(EPERM));
    tsr_numa_close(&numa);
    assert_int_equal(tried.status, TSR_UNSUPPORTED);
    assert_string_equal(tried.error.message, message);
    assert_null(tried.memory);
    assert_true(tried.after < tried.before + 32 * MIB);
}

/* ---- memory of this machine ---- */

static bool is_mapped(void *page)
{
    return msync(page, page_bytes(), MS_ASYNC) == 0;
}

/* Has the system been asked for huge pages here? */
static bool asks_for_huge_pages(const void *memory)
{
    char line[512];
    bool is_here = false, asks = false;
    FILE *maps = fopen("/proc/self/smaps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        uintptr_t begin, end;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2)
            is_here = begin <= (uintptr_t)memory && (uintptr_t)memory < end;
        else if (is_here && strncmp(line, "VmFlags:", 8) == 0)
            asks = strstr(line, " hg") != NULL;
    }
    fclose(maps);
    return asks;
}

static void expect_zeros(const unsigned char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (data[i])
            fail_msg("byte %zu of %zu is %d", i, size, data[i]);
}

static void expect_placement(const void *memory, size_t size, tsr_placement expected)
{
    tsr_placement found = {.policy = TSR_NUMA_DEFAULT, .node = 99, .huge_page_from_bytes = 99};
    tsr_error error = {0};
    if (!has_hwloc()) {
        assert_int_equal(tsr_placement_find(&found, memory, size, &error), TSR_UNSUPPORTED);
        assert_string_equal(error.message, "NUMA policies need a build with hwloc");
        return;
    }
    tsr_status status = tsr_placement_find(&found, memory, size, &error);
    if (status == TSR_UNSUPPORTED) /* what is allowed to place need not be allowed to ask */
        print_message("# %s\n", error.message);
    else if (status != TSR_OK)
        fail_msg("%s", error.message);
    else {
        assert_int_equal(found.policy, expected.policy);
        assert_int_equal(found.node, expected.node);
        assert_int_equal(found.huge_page_from_bytes, 0);
    }
}

/* Memory of a size from an allocator of a placement: with pages of its own, or from small. */
static void check_memory(tsr_allocator *allocator, tsr_placement placement, size_t size, failing_allocator *small)
{
    const bool is_huge = placement.huge_page_from_bytes > 0 && size >= placement.huge_page_from_bytes;
    const bool has_pages = size >= page_bytes() && (is_huge || placement.policy != TSR_NUMA_DEFAULT);
    const int64_t live = small->live;
    unsigned char *memory = allocator->allocate(allocator->context, size, TSR_ALIGNMENT);
    assert_non_null(memory);
    assert_int_equal(small->live - live, !has_pages);
    assert_int_equal((uintptr_t)memory % (has_pages ? page_bytes() : TSR_ALIGNMENT), 0);
    if (has_pages)
        expect_zeros(memory, size);
    if (has_pages && is_huge)
        assert_int_equal((uintptr_t)memory % (2 * MIB), 0);
    memset(memory, 1, size);
    if (has_pages)
        expect_placement(memory, size, placement);
    allocator->release(allocator->context, memory, size);
    assert_int_equal(small->live, live);
    if (has_pages)
        assert_false(is_mapped(memory));
}

static void test_memory(void **state)
{
    const tsr_placement *placement = *state;
    failing_allocator counter = {0};
    const tsr_allocator small = failing_allocator_of(&counter);
    tsr_allocator *allocator = allocator_of(*placement, &small);
    const size_t page = page_bytes();
    const size_t sizes[] = {1, 1000, page - 1, page, page + 1, 3 * page + 7, 3 * MIB - 1, 3 * MIB, 5 * MIB + 1};
    assert_int_equal(counter.live, 1);
    for (size_t i = 0; i < COUNT(sizes); i++)
        check_memory(allocator, *placement, sizes[i], &counter);
    tsr_allocator_free(&allocator);
    assert_null(allocator);
    assert_int_equal(counter.live, 0);
}

static void test_huge_pages(void **state)
{
    const tsr_placement *placement = *state;
    if (access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) != 0) {
        print_message("# this kernel has no huge pages, and remembers no wish for them\n");
        return;
    }
    tsr_allocator *allocator = allocator_of(*placement, NULL);
    for (size_t size = MIB; size <= 8 * MIB; size += MIB) {
        void *memory = allocator->allocate(allocator->context, size, TSR_ALIGNMENT);
        assert_non_null(memory);
        assert_int_equal(asks_for_huge_pages(memory), size >= placement->huge_page_from_bytes);
        allocator->release(allocator->context, memory, size);
    }
    tsr_allocator_free(&allocator);
}

/* What is mapped beside memory, so that it can be aligned, does not stay. */
static void test_alignment(void **state)
{
    (void)state;
    const size_t before = mapped_bytes();
    tsr_allocator *allocator = allocator_of((tsr_placement){.huge_page_from_bytes = 1}, NULL);
    for (size_t alignment = 1; alignment <= 32 * MIB; alignment *= 2)
        for (size_t size = page_bytes() + 1; size <= 4 * MIB; size *= 25) {
            unsigned char *memory = allocator->allocate(allocator->context, size, alignment);
            assert_non_null(memory);
            assert_int_equal((uintptr_t)memory % alignment, 0);
            memory[0] = memory[size - 1] = 1;
            allocator->release(allocator->context, memory, size);
        }
    assert_true(mapped_bytes() < before + 16 * MIB);
    tsr_allocator_free(&allocator);
}

static void test_no_memory(void **state)
{
    (void)state;
    failing_allocator counter = {.fail_at = 1};
    const tsr_allocator small = failing_allocator_of(&counter);
    tsr_placement placement = {.huge_page_from_bytes = MIB};
    tsr_allocator *allocator = NULL;
    tsr_error error = {0};
    assert_int_equal(tsr_allocator_create(&allocator, &placement, &small, &error), TSR_OUT_OF_MEMORY);
    assert_string_equal(error.message, "no memory for an allocator");
    assert_null(allocator);

    allocator = allocator_of(placement, &small);
    const size_t sizes[] = {SIZE_MAX / 2, SIZE_MAX - 2 * MIB, SIZE_MAX - 1, SIZE_MAX};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        tsr_storage *storage = NULL;
        void *data = &storage;
        assert_null(allocator->allocate(allocator->context, sizes[i], TSR_ALIGNMENT));
        assert_int_equal(tsr_storage_create(&storage, sizes[i], allocator, NULL), TSR_OK);
        assert_int_equal(tsr_storage_data(storage, &data, NULL), TSR_OUT_OF_MEMORY);
        assert_ptr_equal(data, &storage);
        tsr_storage_release(&storage);
    }
    counter.fail_at = counter.allocations + 1;
    assert_null(allocator->allocate(allocator->context, 100, TSR_ALIGNMENT));
    tsr_allocator_free(&allocator);
    assert_int_equal(counter.live, 0);
    tsr_allocator_free(&allocator);
    tsr_allocator_free(NULL);
}

static void test_find(void **state)
{
    (void)state;
    tsr_placement found = bind_to(7);
    tsr_error error = {0};
    char byte[1];
    assert_int_equal(tsr_placement_find(&found, NULL, 8, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected memory, found NULL");
    assert_int_equal(tsr_placement_find(&found, byte, 0, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected memory, found 0 bytes of it");
    assert_int_equal(found.node, 7);
}

static void test_two_policies(void **state)
{
    (void)state;
    const size_t half = 16 * page_bytes();
    const tsr_placement bound = bind_to(0);
    tsr_allocator *allocator = allocator_of(interleave, NULL);
    tsr_placement found = bind_to(7);
    tsr_numa numa = {0};
    tsr_error error = {0};
    char *memory = allocator->allocate(allocator->context, 2 * half, TSR_ALIGNMENT);
    assert_non_null(memory);
    assert_int_equal(tsr_numa_open(&numa, &bound, NULL, NULL), TSR_OK);
    assert_int_equal(tsr_numa_place(&numa, memory, half, NULL), TSR_OK);
    tsr_numa_close(&numa);
    expect_placement(memory, half, bound);
    expect_placement(memory + half, half, interleave);
    assert_int_equal(tsr_placement_find(&found, memory, 2 * half, &error), TSR_UNSUPPORTED);
    assert_string_not_equal(error.message, "");
    assert_int_equal(found.node, 7);
    allocator->release(allocator->context, memory, 2 * half);
    tsr_allocator_free(&allocator);
}

/* ---- blobs, and who touches first ---- */

static void test_blob(void **state)
{
    const tsr_placement *placement = *state;
    failing_allocator counter = {0};
    const tsr_allocator small = failing_allocator_of(&counter);
    tsr_allocator *allocator = allocator_of(*placement, &small);
    tsr_desc nchw, nhwc;
    tsr_access access;
    tsr_blob *blob = NULL;
    assert_int_equal(tsr_desc_parse(&nchw, "f32:nchw 1x16x200x256", NULL), TSR_OK);
    assert_int_equal(tsr_desc_parse(&nhwc, "f32:nhwc 1x16x200x256", NULL), TSR_OK);
    assert_int_equal(tsr_blob_create(&blob, &nchw, &(tsr_blob_options){.allocator = allocator, .threads = 2}, NULL),
                     TSR_OK);
    const size_t size = (size_t)tsr_desc_size_bytes(&nchw);
    const tsr_desc *layouts[] = {&nchw, &nhwc};
    for (size_t i = 0; i < COUNT(layouts); i++) {
        assert_int_equal(tsr_blob_acquire(blob, NULL, layouts[i], TSR_READ, &access, NULL), TSR_OK);
        expect_zeros(access.data, size);
        expect_placement(access.data, size, *placement);
        assert_int_equal(tsr_blob_release(&access, NULL), TSR_OK);
    }
    assert_true(counter.live_bytes < (int64_t)page_bytes());
    tsr_blob_free(&blob);
    tsr_allocator_free(&allocator);
    assert_int_equal(counter.live, 0);
}

/* Memory that has been used before, with a guard behind it. */
static void *dirty_allocate(void *context, size_t size_bytes, size_t alignment)
{
    (void)context;
    const tsr_allocator *system = tsr_default_allocator();
    unsigned char *memory = system->allocate(system->context, size_bytes + 1, alignment);
    return memory ? memset(memory, 0xa5, size_bytes + 1) : NULL;
}

static void dirty_release(void *context, void *memory, size_t size_bytes)
{
    (void)context;
    const tsr_allocator *system = tsr_default_allocator();
    system->release(system->context, memory, size_bytes + 1);
}

static void test_first_touch(void **state)
{
    (void)state;
    const tsr_allocator dirty = {dirty_allocate, dirty_release, NULL};
    const size_t sizes[] = {1, 4097, 2 * MIB - 1, 2 * MIB, 2 * MIB + 1, 4 * MIB, 11 * MIB + 5};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int threads = 0; threads < 6; threads++) {
            tsr_storage *storage = NULL;
            void *data = NULL;
            assert_int_equal(tsr_storage_create(&storage, sizes[i], &dirty, NULL), TSR_OK);
            tsr_storage_set_threads(storage, threads);
            assert_int_equal(tsr_storage_data(storage, &data, NULL), TSR_OK);
            expect_zeros(data, sizes[i]);
            assert_int_equal(((unsigned char *)data)[sizes[i]], 0xa5);
            tsr_storage_release(&storage);
        }
}

/* ---- all together ---- */

struct group {
    struct CMUnitTest tests[32];
    size_t count;
};

static void add(struct group *group, const struct CMUnitTest *tests, size_t count)
{
    assert_true(group->count + count <= COUNT(group->tests));
    memcpy(group->tests + group->count, tests, count * sizeof *tests);
    group->count += count;
}

/* Does the system let this process place memory? If not, the report says why. */
static bool can_place(void)
{
    tsr_allocator *allocator = NULL;
    tsr_error error = {0};
    const bool can = tsr_allocator_create(&allocator, &interleave, NULL, &error) == TSR_OK;
    if (!can)
        fprintf(stderr, "no policy is tested: %s\n", error.message); /* the report has not begun */
    tsr_allocator_free(&allocator);
    return can;
}

int main(void)
{
    static tsr_placement system = {.policy = TSR_NUMA_DEFAULT}, huge = {.huge_page_from_bytes = 3 * MIB},
                         all_huge = {.huge_page_from_bytes = 1}, bound = {.policy = TSR_NUMA_BIND},
                         bound_huge = {.policy = TSR_NUMA_BIND, .huge_page_from_bytes = 3 * MIB},
                         spread = {.policy = TSR_NUMA_INTERLEAVE};
    const struct CMUnitTest always[] = {
        cmocka_unit_test(test_no_such_node),
        cmocka_unit_test(test_refusals),
        {"memory of the system", test_memory, NULL, NULL, &system},
        {"memory in huge pages", test_memory, NULL, NULL, &huge},
        {"memory all in huge pages", test_memory, NULL, NULL, &all_huge},
        {"huge pages are asked for", test_huge_pages, NULL, NULL, &huge},
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_find),
        {"blob in huge pages", test_blob, NULL, NULL, &huge},
        cmocka_unit_test(test_first_touch),
    };
    const struct CMUnitTest with_hwloc[] = {
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_machine_that_is_not_here),
    };
    const struct CMUnitTest of_policies[] = {
        cmocka_unit_test(test_system_that_forbids),
        {"memory bound to a node", test_memory, NULL, NULL, &bound},
        {"memory bound to a node, in huge pages", test_memory, NULL, NULL, &bound_huge},
        {"memory on all nodes in turn", test_memory, NULL, NULL, &spread},
        {"huge pages are asked for on a node", test_huge_pages, NULL, NULL, &bound_huge},
        cmocka_unit_test(test_two_policies),
        {"blob bound to a node", test_blob, NULL, NULL, &bound},
        {"blob on all nodes in turn", test_blob, NULL, NULL, &spread},
    };
    struct group all = {.count = 0};
    add(&all, always, COUNT(always));
    if (has_hwloc())
        add(&all, with_hwloc, COUNT(with_hwloc));
    if (can_place())
        add(&all, of_policies, COUNT(of_policies));
    return _cmocka_run_group_tests("placement", all.tests, all.count, NULL, NULL);
}
