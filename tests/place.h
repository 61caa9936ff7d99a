/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_PLACE_H
#define TESSERA_TESTS_PLACE_H

/*
 * A place for the same tests on both: a device of the tests' own, or in a program that is started with "opencl", the
 * first of OpenCL. Include behind <cmocka.h>.
 */
#include <string.h>

#include <tessera/blob.h>

#include "opencl.h"
#include "remote.h"

static bool is_on_opencl;

/* Does the program ask for a device that there is? If there is none, the report says that all tests are skipped. */
static inline bool has_place(int argc, char **argv)
{
    is_on_opencl = argc > 1 && strcmp(argv[1], "opencl") == 0;
    return !is_on_opencl || !lacks_opencl();
}

static inline tsr_device *find_place(void)
{
    return is_on_opencl ? find_opencl() : register_remote("remote");
}

static inline void leave_place(tsr_device **device)
{
    if (is_on_opencl)
        tsr_device_release(device);
    else
        forget_remote(device);
}

/* Where a test has its blobs: NULL, the host, or the place, if it is at_place. */
static tsr_device *home_device;

static inline tsr_blob *blob_at_home(const tsr_desc *desc)
{
    tsr_blob *blob = NULL;
    tsr_error error = {0};
    if (tsr_blob_create(&blob, desc, &(tsr_blob_options){.device = home_device}, &error) != TSR_OK)
        fail_msg("%s", error.message);
    return blob;
}

static inline int settle_at_place(void **state)
{
    (void)state;
    home_device = find_place();
    return 0;
}

static inline int return_to_host(void **state)
{
    (void)state;
    leave_place(&home_device);
    return 0;
}

/* A test whose blobs are at the place. */
#define at_place(test)                                                                                                 \
    {                                                                                                                  \
#test " at a place", test, settle_at_place, return_to_host, NULL                                               \
    }

/* As has_place; on OpenCL, all tests are left out that are not at_place. */
static inline bool choose_place(int argc, char **argv)
{
    const bool has = has_place(argc, argv);
    if (is_on_opencl)
        cmocka_set_test_filter("* at a place");
    return has;
}

#endif
