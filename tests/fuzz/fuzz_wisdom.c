/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of wisdom, behind a first line of this machine. */
#include "reorder/wisdom.h"

#include "target.h"

static char *print(const tsr_wisdom *wisdom)
{
    int length = tsr_wisdom_print(wisdom, NULL, 0);
    char *text = malloc((size_t)length + 1);
    FUZZ_REQUIRE(text != NULL);
    FUZZ_REQUIRE(tsr_wisdom_print(wisdom, text, (size_t)length + 1) == length);
    return text;
}

/* Text behind text; both are given up. */
static char *join(char *first, char *second)
{
    size_t length = strlen(first);
    char *text = realloc(first, length + strlen(second) + 1);
    FUZZ_REQUIRE(text != NULL);
    memcpy(text + length, second, strlen(second) + 1);
    free(second);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tsr_wisdom *wisdom = NULL, *again = NULL;
    FUZZ_REQUIRE(tsr_wisdom_create(&wisdom, NULL) == TSR_OK);
    char *text = join(print(wisdom), fuzz_text(data, size));
    tsr_wisdom_free(&wisdom);
    if (tsr_wisdom_parse(&wisdom, text, NULL) == TSR_OK) {
        char *printed = print(wisdom);
        FUZZ_REQUIRE(tsr_wisdom_parse(&again, printed, NULL) == TSR_OK);
        char *printed_again = print(again);
        FUZZ_REQUIRE(strcmp(printed, printed_again) == 0);
        free(printed);
        free(printed_again);
    }
    tsr_wisdom_free(&wisdom);
    tsr_wisdom_free(&again);
    free(text);
    return 0;
}
