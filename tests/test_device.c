/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <tessera/device.h>
#include <tessera/storage.h>

#include "remote.h"

static int destroyed;

static void destroy(void *context)
{
    destroyed += context == &destroyed;
}

static void test_host(void **state)
{
    (void)state;
    tsr_device *found = NULL, *host = tsr_device_host();
    assert_int_equal(tsr_device_find("host", &found, NULL), TSR_OK);
    assert_ptr_equal(found, host);
    assert_string_equal(tsr_device_name(host), "host");
    tsr_device_release(&found);
    assert_null(found);
    assert_ptr_equal(tsr_device_share(host), host);
    assert_int_equal(tsr_device_synchronise(host, NULL), TSR_OK);
    tsr_device_release(&found);
    tsr_device_release(NULL);
    assert_null(tsr_device_share(NULL));
}

/* The device lives as long as somebody refers to it, and its name as long as it is registered. */
static void test_counted(void **state)
{
    (void)state;
    tsr_device_functions functions = remote_functions;
    tsr_device *found = NULL;
    tsr_storage *storage = NULL;
    tsr_error error = {0};
    void *memory;
    functions.destroy = destroy;
    destroyed = 0;
    assert_int_equal(tsr_device_register("far", &functions, &destroyed, NULL), TSR_OK);
    memset(&functions, 0, sizeof functions); /* they were copied */
    assert_int_equal(tsr_device_find("far", &found, NULL), TSR_OK);
    assert_int_equal(tsr_storage_create_on(&storage, found, 100, NULL), TSR_OK);
    tsr_device_release(&found);
    assert_int_equal(tsr_device_unregister("far", NULL), TSR_OK);
    assert_int_equal(tsr_device_find("far", &found, &error), TSR_UNSUPPORTED);
    assert_string_equal(error.message, "there is no device \"far\"; there are \"host\"");
    assert_int_equal(tsr_storage_data(storage, &memory, NULL), TSR_OK);
    for (int i = 0; i < 100; i++)
        assert_int_equal(((unsigned char *)remote_bytes(memory))[i], 0);
    assert_int_equal(remote_memories, 1);
    assert_int_equal(destroyed, 0);
    tsr_storage_release(&storage);
    assert_int_equal(remote_memories, 0);
    assert_int_equal(destroyed, 1);
}

static void expect_refused(const char *name, const tsr_device_functions *functions, const char *message)
{
    tsr_error error = {0};
    destroyed = 0;
    assert_int_equal(tsr_device_register(name, functions, &destroyed, &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, message);
    assert_int_equal(destroyed, 0);
}

static void test_refusals(void **state)
{
    (void)state;
    tsr_error error = {0};
    tsr_device_functions old = remote_functions, lacking = remote_functions;
    tsr_device *remote = register_remote("remote"), *found = NULL;
    old.size = offsetof(tsr_device_functions, unmap);
    lacking.fill = NULL;
    lacking.destroy = destroy;
    expect_refused("remote", &remote_functions, "there is a device \"remote\" already");
    expect_refused("host", &remote_functions, "there is a device \"host\" already");
    expect_refused("lacking", &lacking, "device \"lacking\" lacks a function that every device has");
    expect_refused("old", &old, "device \"old\" lacks a function that every device has");
    expect_refused("none", NULL, "device \"none\" lacks a function that every device has");
    expect_refused("", &remote_functions, "expected a name of 1 to 31 bytes for a device, found 0");
    expect_refused(NULL, &remote_functions, "expected a name of 1 to 31 bytes for a device, found 0");
    expect_refused("a name that is longer than names are", &remote_functions,
                   "expected a name of 1 to 31 bytes for a device, found 36");
    assert_int_equal(tsr_device_find("near", &found, &error), TSR_UNSUPPORTED);
    assert_string_equal(error.message, "there is no device \"near\"; there are \"host\", \"remote\"");
    assert_int_equal(tsr_device_find(NULL, &found, &error), TSR_UNSUPPORTED);
    assert_int_equal(tsr_device_unregister("near", &error), TSR_INVALID_ARGUMENT);
    assert_int_equal(tsr_device_unregister("host", &error), TSR_INVALID_ARGUMENT);
    assert_int_equal(tsr_device_unregister(NULL, &error), TSR_INVALID_ARGUMENT);
    assert_null(found);
    forget_remote(&remote);
}

/* A table of a header that had no reorder yet. */
static void test_older_table(void **state)
{
    (void)state;
    tsr_device_functions functions = remote_functions;
    tsr_device *found = NULL;
    functions.size = offsetof(tsr_device_functions, reorder);
    memset((char *)&functions + functions.size, 0xa5, sizeof functions - functions.size);
    assert_int_equal(tsr_device_register("older", &functions, NULL, NULL), TSR_OK);
    assert_int_equal(tsr_device_find("older", &found, NULL), TSR_OK);
    assert_int_equal(tsr_device_synchronise(found, NULL), TSR_OK);
    forget_remote(&found);
}

static tsr_status fail_to_wait(void *context, tsr_error *error)
{
    strcpy(error->message, context);
    return TSR_IO_ERROR;
}

/* A device that has something to wait for is asked; one without is done. */
static void test_synchronise(void **state)
{
    static char message[] = "the device is lost";
    (void)state;
    tsr_error error = {0};
    tsr_device_functions functions = remote_functions;
    tsr_device *done = register_remote("done"), *lost = NULL;
    assert_null(functions.synchronise);
    assert_int_equal(tsr_device_synchronise(done, &error), TSR_OK);
    functions.synchronise = fail_to_wait;
    assert_int_equal(tsr_device_register("lost", &functions, message, NULL), TSR_OK);
    assert_int_equal(tsr_device_find("lost", &lost, NULL), TSR_OK);
    assert_int_equal(tsr_device_synchronise(lost, &error), TSR_IO_ERROR);
    assert_string_equal(error.message, message);
    forget_remote(&done);
    forget_remote(&lost);
}

/* Memory that could not be had, or not be zeroed, can be asked for again. */
static void test_failing(void **state)
{
    static const enum remote_call calls[] = {REMOTE_ALLOCATE, REMOTE_FILL};
    (void)state;
    tsr_device *remote = register_remote("remote");
    for (int i = 0; i < 2; i++) {
        tsr_storage *storage = NULL;
        tsr_error error = {0};
        void *memory = NULL;
        assert_int_equal(tsr_storage_create_on(&storage, remote, 10, NULL), TSR_OK);
        assert_ptr_equal(tsr_storage_device(storage), remote);
        remote_fails(calls[i]);
        assert_int_equal(tsr_storage_data(storage, &memory, &error), TSR_IO_ERROR);
        assert_string_equal(error.message, "the remote device failed");
        assert_null(memory);
        assert_false(tsr_storage_is_allocated(storage));
        assert_int_equal(remote_memories, 0);
        remote_fails(REMOTE_NOTHING);
        assert_int_equal(tsr_storage_data(storage, &memory, NULL), TSR_OK);
        assert_non_null(memory);
        tsr_storage_release(&storage);
    }
    forget_remote(&remote);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host),        cmocka_unit_test(test_counted),     cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_older_table), cmocka_unit_test(test_synchronise), cmocka_unit_test(test_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
