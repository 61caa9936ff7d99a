/* SPDX-License-Identifier: Apache-2.0 */
/* DIMS, a newline, and a layout in the dialect that the build names; without dims in front, the text has its own. */
#include <tessera/dialect.h>

#include "target.h"

static void check_round_trip(const tsr_desc *desc)
{
    static char text[TSR_TEXT_SIZE];
    tsr_desc again;
    if (tsr_dialect_print(desc, FUZZ_DIALECT, TSR_ROLE_ANY, text, sizeof text, NULL) != TSR_OK)
        return;
    FUZZ_REQUIRE(tsr_dialect_parse(&again, FUZZ_DIALECT, desc->dtype, desc->rank, desc->dims, text, NULL) == TSR_OK);
    FUZZ_REQUIRE(tsr_desc_equal(&again, desc));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *newline = strchr(text, '\n');
    int64_t dims[TSR_MAX_RANK];
    int rank = 0;
    bool has_dims = false;
    tsr_desc desc;
    if (newline) {
        *newline = '\0';
        has_dims = tsr_dims_parse(dims, &rank, text, NULL) == TSR_OK;
    }
    if (tsr_dialect_parse(&desc, FUZZ_DIALECT, TSR_F32, rank, has_dims ? dims : NULL, newline ? newline + 1 : text,
                          NULL) == TSR_OK) {
        FUZZ_REQUIRE(tsr_desc_check(&desc, true, NULL) == TSR_OK);
        check_round_trip(&desc);
    }
    free(text);
    return 0;
}
