/* SPDX-License-Identifier: Apache-2.0 */
/* TYPE:LAYOUT DIMS, in all forms of a layout. */
#include <tessera/algebra.h>
#include <tessera/text.h>

#include "target.h"

static void check_text(const tsr_desc *desc)
{
    static char text[TSR_TEXT_SIZE];
    tsr_desc again;
    FUZZ_REQUIRE(tsr_desc_print(desc, text, sizeof text) < (int)sizeof text);
    FUZZ_REQUIRE(tsr_desc_parse(&again, text, NULL) == TSR_OK);
    FUZZ_REQUIRE(tsr_desc_equal(&again, desc));
    FUZZ_REQUIRE(tsr_desc_hash(&again) == tsr_desc_hash(desc));
}

/* The element that lies where the oracle says is an element that lies there. */
static void check_place(const tsr_desc *desc, int64_t linear)
{
    int64_t offset, back, index[TSR_MAX_RANK];
    tsr_cell cell;
    FUZZ_REQUIRE(tsr_desc_offset_linear(desc, linear, &offset, NULL) == TSR_OK);
    if (tsr_desc_index(desc, offset, &cell, index, NULL) != TSR_OK)
        return;
    FUZZ_REQUIRE(cell == TSR_CELL_ELEMENT);
    FUZZ_REQUIRE(tsr_desc_offset(desc, desc->rank, index, &back, NULL) == TSR_OK);
    FUZZ_REQUIRE(back == offset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    tsr_desc desc, canonical;
    if (tsr_desc_parse(&desc, text, NULL) == TSR_OK) {
        int64_t elements = tsr_desc_elements(&desc);
        FUZZ_REQUIRE(tsr_desc_check(&desc, true, NULL) == TSR_OK);
        tsr_desc_canonical(&canonical, &desc);
        FUZZ_REQUIRE(tsr_desc_check(&canonical, true, NULL) == TSR_OK);
        FUZZ_REQUIRE(tsr_desc_equal(&canonical, &desc));
        check_text(&desc);
        check_text(&canonical);
        if (elements > 0) {
            check_place(&desc, 0);
            check_place(&desc, elements / 2);
            check_place(&desc, elements - 1);
        }
    }
    free(text);
    return 0;
}
