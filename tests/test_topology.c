/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include <tessera/topology.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool has_hwloc(void)
{
    return strstr(tsr_build_features(), "hwloc") != NULL;
}

static void test_machine(void **state)
{
    (void)state;
    const tsr_topology *machine = tsr_topology_machine();
    assert_non_null(machine);
    assert_true(machine->cores >= 1);
    assert_true(machine->threads >= machine->cores);
    assert_true(machine->numa_nodes >= 1);
    assert_true(machine->l1_bytes >= 1);
    assert_true(machine->l1_period_bytes >= 1 && (machine->l1_period_bytes & (machine->l1_period_bytes - 1)) == 0);
    assert_true(machine->l2_bytes >= 1);
    assert_true(machine->l3_bytes >= 1);
    assert_true(machine->cacheline_bytes >= 1);
    tsr_topology before = *machine;
    assert_ptr_equal(tsr_topology_machine(), machine);
    assert_memory_equal(machine, &before, sizeof before);
}

#define KIB (INT64_C(1) << 10)
#define MIB (INT64_C(1) << 20)

/* A level that the text leaves out has the figure of a modest machine. */
static const struct {
    const char *text;
    int cores, threads, numa_nodes;
    int64_t l1_bytes, l2_bytes, l3_bytes;
} machines[] = {
    {"pack:2 numa:1 l3:1(size=33554432) core:4 l2:1(size=1048576) l1:1(size=32768) pu:2", 8, 16, 2, 32 * KIB, MIB,
     32 * MIB},
    {"pack:2 numa:1 l3:1(size=33554432) core:4 pu:2", 8, 16, 2, 32 * KIB, 512 * KIB, 32 * MIB},
    {"pack:1 numa:1 core:4 l2:1(size=2097152) l1:1(size=49152) pu:1", 4, 4, 1, 48 * KIB, 2 * MIB, 2 * MIB},
    {"pack:2 numa:3 core:5 pu:6", 30, 180, 6, 32 * KIB, 512 * KIB, 512 * KIB},
    {"pu:1", 1, 1, 1, 32 * KIB, 512 * KIB, 512 * KIB},
    {"pu:3", 3, 3, 1, 32 * KIB, 512 * KIB, 512 * KIB},
};

static void test_synthetic(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(machines) && has_hwloc(); i++) {
        tsr_topology found;
        tsr_error error = {0};
        if (tsr_topology_synthetic(&found, machines[i].text, &error) != TSR_OK)
            fail_msg("%s: %s", machines[i].text, error.message);
        assert_int_equal(found.cores, machines[i].cores);
        assert_int_equal(found.threads, machines[i].threads);
        assert_int_equal(found.numa_nodes, machines[i].numa_nodes);
        assert_int_equal(found.l1_bytes, machines[i].l1_bytes);
        assert_int_equal(found.l2_bytes, machines[i].l2_bytes);
        assert_int_equal(found.l3_bytes, machines[i].l3_bytes);
        assert_int_equal(found.cacheline_bytes, 64);
        assert_false(found.has_near_l3);
        assert_int_equal(error.status, TSR_OK);
        assert_string_equal(error.message, "");
    }
}

static void refuse(const char *text, tsr_status status, const char *message)
{
    tsr_topology found, before;
    tsr_error error = {0};
    memset(&found, 0x5a, sizeof found);
    before = found;
    assert_int_equal(tsr_topology_synthetic(&found, text, &error), status);
    assert_int_equal(error.status, status);
    assert_string_equal(error.message, message);
    assert_memory_equal(&found, &before, sizeof found);
    assert_int_equal(tsr_topology_synthetic(&found, text, NULL), status);
}

static void test_refusals(void **state)
{
    (void)state;
    if (has_hwloc()) {
        refuse("", TSR_PARSE_ERROR, "expected a synthetic topology of hwloc, found \"\"");
        refuse("two packages", TSR_PARSE_ERROR, "expected a synthetic topology of hwloc, found \"two packages\"");
        refuse("pack:2 core:", TSR_PARSE_ERROR, "expected a synthetic topology of hwloc, found \"pack:2 core:\"");
    } else {
        refuse("pu:1", TSR_UNSUPPORTED, "synthetic topologies need a build with hwloc");
        refuse("", TSR_UNSUPPORTED, "synthetic topologies need a build with hwloc");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machine),
        cmocka_unit_test(test_synthetic),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
