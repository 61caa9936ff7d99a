/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_BLOB_VALUES_H
#define TESSERA_TESTS_BLOB_VALUES_H

/*
 * Blobs of f32 and their values: of element i in row-major order, first + i. Layouts are texts, and NULL is that of
 * home; a device is NULL for the host. What names no device is at home_device (place.h). Include behind <cmocka.h>.
 */
#include <stdlib.h>
#include <string.h>

#include "accesses.h"
#include "place.h"

/* One tensor in four layouts. */
static const char nchw[] = "f32:nchw 2x20x3x5", nhwc[] = "f32:nhwc 2x20x3x5", nChw8c[] = "f32:nChw8c 2x20x3x5",
                  nChw16c[] = "f32:nChw16c 2x20x3x5";

static inline tsr_blob *blob_of(const char *text, const tsr_blob_options *options)
{
    tsr_blob *blob = NULL;
    tsr_error error = {0};
    const tsr_desc desc = parsed_desc(text);
    tsr_blob_options settings = options ? *options : (tsr_blob_options){0};
    settings.device = settings.device ? settings.device : home_device;
    if (tsr_blob_create(&blob, &desc, &settings, &error) != TSR_OK)
        fail_msg("%s: %s", text, error.message);
    return blob;
}

static inline tsr_storage *storage_of(size_t bytes)
{
    tsr_storage *storage = NULL;
    tsr_device *device = home_device ? home_device : tsr_device_host();
    assert_int_equal(tsr_storage_create_on(&storage, device, bytes, NULL), TSR_OK);
    return storage;
}

static inline tsr_access acquire_home(tsr_blob *blob, const char *layout, tsr_intent intent)
{
    return acquire_at(home_device, blob, layout, intent);
}

/* ---- in memory that the host reaches ---- */

static inline void put_values(void *data, const tsr_desc *desc, float first)
{
    for (int64_t i = 0, at; i < tsr_desc_elements(desc); i++) {
        assert_int_equal(tsr_desc_offset_linear(desc, i, &at, NULL), TSR_OK);
        ((float *)data)[at] = first + (float)i;
    }
}

static inline void expect_values(const void *data, const tsr_desc *desc, float first)
{
    for (int64_t i = 0, at; i < tsr_desc_elements(desc); i++) {
        assert_int_equal(tsr_desc_offset_linear(desc, i, &at, NULL), TSR_OK);
        if (((const float *)data)[at] != first + (float)i)
            fail_msg("element %lld: expected %g, found %g", (long long)i, first + (float)i, ((const float *)data)[at]);
    }
}

/* All elements have their values, and what is not an element is zero. */
static inline void expect_all(const void *data, const tsr_desc *desc, float first)
{
    int64_t others = tsr_desc_size_bytes(desc) / 4 - tsr_desc_elements(desc), zeros = 0;
    expect_values(data, desc, first);
    unsigned char *is_element = calloc((size_t)tsr_desc_size_bytes(desc) / 4 + 1, 1);
    assert_non_null(is_element);
    for (int64_t i = 0, at; i < tsr_desc_elements(desc); i++) {
        assert_int_equal(tsr_desc_offset_linear(desc, i, &at, NULL), TSR_OK);
        is_element[at] = 1;
    }
    for (int64_t at = 0; at < tsr_desc_size_bytes(desc) / 4; at++)
        zeros += !is_element[at] && ((const float *)data)[at] == 0;
    assert_int_equal(zeros, others);
    free(is_element);
}

/* ---- in a blob ---- */

/* What was acquired, where the host sees it until the release. */
static inline void *map(tsr_access *access)
{
    void *host = NULL;
    tsr_error error = {0};
    if (tsr_access_map(access, &host, &error) != TSR_OK)
        fail_msg("%s", error.message);
    return host;
}

static inline void write_values_at(tsr_device *device, tsr_blob *blob, const char *layout, tsr_intent intent,
                                   float first)
{
    tsr_desc desc;
    tsr_access access = acquire_at(device, blob, layout, intent);
    void *host = map(&access);
    tsr_access_get_desc(&access, &desc);
    if (intent == TSR_WRITE)
        memset(host, 0xff, (size_t)tsr_desc_size_bytes(&desc)); /* padding, too */
    put_values(host, &desc, first);
    release(&access);
}

static inline void expect_read_at(tsr_device *device, tsr_blob *blob, const char *layout, float first)
{
    tsr_desc desc;
    tsr_access access = acquire_at(device, blob, layout, TSR_READ);
    tsr_access_get_desc(&access, &desc);
    expect_all(map(&access), &desc, first);
    release(&access);
}

static inline void write_values(tsr_blob *blob, const char *layout, float first)
{
    write_values_at(home_device, blob, layout, TSR_WRITE, first);
}

static inline void expect_read(tsr_blob *blob, const char *layout, float first)
{
    expect_read_at(home_device, blob, layout, first);
}

#endif
