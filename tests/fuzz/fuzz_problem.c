/* SPDX-License-Identifier: Apache-2.0 */
/* Problem strings, which hold dims, types, layouts and attributes. */
#include <tessera/text.h>

#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char printed[2 * TSR_TEXT_SIZE];
    char *text = fuzz_text(data, size);
    tsr_problem problem, again;
    if (tsr_problem_parse(&problem, text, NULL) == TSR_OK) {
        int length = tsr_problem_print(&problem, printed, sizeof printed);
        FUZZ_REQUIRE(length < (int)sizeof printed);
        if (length < TSR_TEXT_SIZE) {
            FUZZ_REQUIRE(tsr_problem_parse(&again, printed, NULL) == TSR_OK);
            FUZZ_REQUIRE(tsr_desc_equal(&again.src, &problem.src) && tsr_desc_equal(&again.dst, &problem.dst));
            FUZZ_REQUIRE(again.scale_axis == problem.scale_axis && again.scale_group == problem.scale_group);
            FUZZ_REQUIRE(again.mean_axis == problem.mean_axis && again.mean_group == problem.mean_group);
            FUZZ_REQUIRE(again.shift_axis == problem.shift_axis && again.shift_group == problem.shift_group);
            FUZZ_REQUIRE(again.has_beta == problem.has_beta && again.reverse == problem.reverse);
            FUZZ_REQUIRE(again.in_place == problem.in_place);
        }
    }
    free(text);
    return 0;
}
