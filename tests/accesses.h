/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_ACCESSES_H
#define TESSERA_TESTS_ACCESSES_H

/* Accesses to blobs, and views of a part; what is refused fails the test. Include behind <cmocka.h>. */
#include <tessera/blob.h>
#include <tessera/view.h>

#include "parsed.h"

/* On a device, or the host (NULL); in a layout from text, or that of home (NULL). */
static inline tsr_access acquire_at(tsr_device *device, tsr_blob *blob, const char *layout, tsr_intent intent)
{
    tsr_access access = {0};
    tsr_error error = {0};
    tsr_desc desc;
    if (layout)
        desc = parsed_desc(layout);
    if (tsr_blob_acquire(blob, device, layout ? &desc : NULL, intent, &access, &error) != TSR_OK)
        fail_msg("%s", error.message);
    assert_ptr_equal(access.device, device ? device : tsr_device_host());
    return access;
}

static inline tsr_access acquire(tsr_blob *blob, const char *layout, tsr_intent intent)
{
    return acquire_at(NULL, blob, layout, intent);
}

static inline void release(tsr_access *access)
{
    tsr_error error = {0};
    if (tsr_blob_release(access, &error) != TSR_OK)
        fail_msg("%s", error.message);
    assert_null(access->blob);
}

/* The indices [begin, begin + size) of its home. */
static inline tsr_blob *crop_of(tsr_blob *parent, const int64_t *begin, const int64_t *size)
{
    tsr_desc desc, view;
    tsr_blob *blob = NULL;
    tsr_error error = {0};
    tsr_blob_get_desc(parent, &desc);
    assert_int_equal(tsr_view_crop(&view, &desc, begin, size, NULL, NULL), TSR_OK);
    if (tsr_blob_create_view(&blob, parent, &view, &error) != TSR_OK)
        fail_msg("%s", error.message);
    return blob;
}

#endif
