/* SPDX-License-Identifier: Apache-2.0 */
/* Names and tags, without dims. */
#include <tessera/text.h>

#include "desc/tag.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), tag[TSR_TAG_SIZE];
    tsr_layout layout, again;
    if (tsr_layout_parse(&layout, text, NULL) == TSR_OK) {
        for (int role = TSR_ROLE_ANY; role < TSR_ROLE_COUNT; role++) {
            FUZZ_REQUIRE(tsr_tag_print(&layout, (tsr_role)role, tag));
            FUZZ_REQUIRE(tsr_layout_parse(&again, tag, NULL) == TSR_OK);
            FUZZ_REQUIRE(again.rank == layout.rank && again.levels == layout.levels);
            FUZZ_REQUIRE(memcmp(again.order, layout.order, sizeof layout.order) == 0);
            FUZZ_REQUIRE(memcmp(again.block_dims, layout.block_dims, sizeof layout.block_dims) == 0);
        }
    }
    free(text);
    return 0;
}
