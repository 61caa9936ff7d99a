/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_VECTORS_H
#define TESSERA_TESTS_VECTORS_H

/*
 * Reads the rows of tests/vectors, which say what the original systems answer. Include behind
 * <cmocka.h>. The folder is in the environment as TSR_TEST_VECTORS.
 *
 * The originals count in 64 bits without sign. A number past 2^63 - 1 is read as the negative one with
 * the same bits: a C caller who passed a size_t on would hand over the same.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <tessera/desc.h>

/* A copy of a line in which all numbers fit. The caller frees it. */
static inline char *vectors_narrow(const char *line)
{
    size_t length = 0;
    bool in_string = false;
    char *copy = malloc(2 * strlen(line) + 1);
    assert_non_null(copy);
    while (*line) {
        char *end = NULL;
        in_string ^= *line == '"';
        uint64_t number = !in_string && isdigit((unsigned char)*line) ? strtoull(line, &end, 10) : 0;
        if (number > INT64_MAX) {
            length += (size_t)sprintf(copy + length, "%" PRId64, (int64_t)number);
            line = end;
        } else {
            copy[length++] = *line++;
        }
    }
    copy[length] = '\0';
    return copy;
}

/* Calls visit for each row of a file; returns how many there were. */
static inline int vectors_each(const char *name, void (*visit)(const json_t *row))
{
    const char *folder = getenv("TSR_TEST_VECTORS");
    char path[4096], *line = NULL;
    size_t size = 0;
    int rows = 0;
    assert_non_null(folder);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (getline(&line, &size, file) > 0) {
        char *narrow = vectors_narrow(line);
        json_t *row = json_loads(narrow, 0, NULL);
        assert_non_null(row);
        visit(row);
        rows++;
        json_decref(row);
        free(narrow);
    }
    free(line);
    fclose(file);
    return rows;
}

static inline const char *vectors_string(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    assert_non_null(text);
    return text;
}

static inline int64_t vectors_number(const json_t *object, const char *key)
{
    const json_t *number = json_object_get(object, key);
    assert_true(json_is_integer(number));
    return json_integer_value(number);
}

/* The numbers of an array; returns how many, at most `room`. */
static inline int vectors_numbers(const json_t *array, int64_t *numbers, int room)
{
    int count = (int)json_array_size(array);
    assert_true(json_is_array(array) && count <= room);
    for (int i = 0; i < count; i++)
        numbers[i] = json_integer_value(json_array_get(array, (size_t)i));
    return count;
}

/* The bytes of a hex string; returns how many, at most `room`. */
static inline size_t vectors_bytes(const char *hex, unsigned char *bytes, size_t room)
{
    const size_t count = strlen(hex) / 2;
    assert_true(count <= room);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(sscanf(hex + 2 * i, "%2hhx", &bytes[i]), 1);
    return count;
}

static inline bool vectors_is_error(const json_t *value)
{
    return json_is_object(value) && json_object_get(value, "error");
}

#endif
