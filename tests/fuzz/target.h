/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_FUZZ_TARGET_H
#define TESSERA_TESTS_FUZZ_TARGET_H

/*
 * A fuzz target reads what it is given as the text of one parser. Whatever that is, the parser returns;
 * and what it accepts prints to a text that it reads as the same. Anything else aborts.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy as a string, which memory checkers guard at its end. The caller frees it. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        abort();
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* Aborts with a message where a promise is broken. */
#define FUZZ_REQUIRE(condition)                                                                                        \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                  \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
