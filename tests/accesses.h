/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_ACCESSES_H
#define TESSERA_TESTS_ACCESSES_H

/* Accesses to blobs on the host; one that is refused fails the test. Include behind <cmocka.h>. */
#include <tessera/blob.h>

#include "parsed.h"

/* In a layout from text; NULL is that of home. */
static inline tsr_access acquire(tsr_blob *blob, const char *layout, tsr_intent intent)
{
    tsr_access access = {0};
    tsr_error error = {0};
    tsr_desc desc;
    if (layout)
        desc = parsed_desc(layout);
    if (tsr_blob_acquire(blob, NULL, layout ? &desc : NULL, intent, &access, &error) != TSR_OK)
        fail_msg("%s", error.message);
    return access;
}

static inline void release(tsr_access *access)
{
    tsr_error error = {0};
    if (tsr_blob_release(access, &error) != TSR_OK)
        fail_msg("%s", error.message);
    assert_null(access->blob);
}

#endif
