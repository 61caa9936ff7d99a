/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <tessera/text.h>

#include "base/error.h"
#include "desc/levels.h"
#include "desc/scan.h"

tsr_status tsr_desc_from_layout(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims, const char *text,
                                tsr_error *error)
{
    tsr_layout layout;
    if (text[0] == '[')
        return tsr_levels_parse(desc, dtype, rank, dims, text, error);
    tsr_status status = tsr_layout_parse(&layout, text, error);
    return status == TSR_OK ? tsr_layout_apply(desc, dtype, rank, dims, &layout, error) : status;
}

tsr_status tsr_dims_parse(int64_t *dims, int *rank, const char *text, tsr_error *error)
{
    int64_t made[TSR_MAX_RANK];
    int n = 0;
    const char *at = text;
    if (strcmp(text, "scalar") != 0) {
        do {
            if (n == TSR_MAX_RANK)
                return tsr_fail(error, TSR_PARSE_ERROR, "dims \"%.60s\" have more than %d axes", text, TSR_MAX_RANK);
            if (!tsr_scan_number(&at, &made[n++]))
                return tsr_fail(error, TSR_PARSE_ERROR, "expected a number of 63 bits at \"%.20s\" in dims \"%.60s\"",
                                at, text);
        } while (tsr_scan_character(&at, 'x'));
        if (*at)
            return tsr_fail(error, TSR_PARSE_ERROR, "expected dims such as 1x3x224x224, found \"%.60s\"", text);
    }
    for (int k = 0; k < n; k++)
        dims[k] = made[k];
    *rank = n;
    return TSR_OK;
}

static const char blanks[] = " \t\r\n";

/* TYPE:LAYOUT; cuts the text at the colon. */
static tsr_status parse_side(tsr_desc *desc, char *side, int rank, const int64_t *dims, tsr_error *error)
{
    tsr_dtype dtype;
    char *colon = strchr(side, ':');
    if (!colon)
        return tsr_fail(error, TSR_PARSE_ERROR, "expected TYPE:LAYOUT, found \"%.60s\"", side);
    *colon = '\0';
    tsr_status status = tsr_dtype_parse(&dtype, side, error);
    return status == TSR_OK ? tsr_desc_from_layout(desc, dtype, rank, dims, colon + 1, error) : status;
}

/* A copy that the parsers may cut up. */
static tsr_status copy_text(char copy[TSR_TEXT_SIZE], const char *text, tsr_error *error)
{
    size_t length = strnlen(text, TSR_TEXT_SIZE);
    if (length == TSR_TEXT_SIZE)
        return tsr_fail(error, TSR_PARSE_ERROR, "expected a text below %d bytes", TSR_TEXT_SIZE);
    memcpy(copy, text, length + 1);
    return TSR_OK;
}

tsr_status tsr_desc_parse(tsr_desc *desc, const char *text, tsr_error *error)
{
    char copy[TSR_TEXT_SIZE], *rest;
    int64_t dims[TSR_MAX_RANK];
    int rank;
    tsr_status status = copy_text(copy, text, error);
    if (status != TSR_OK)
        return status;
    char *side = strtok_r(copy, blanks, &rest), *shape = strtok_r(NULL, blanks, &rest);
    if (!shape || strtok_r(NULL, blanks, &rest))
        return tsr_fail(error, TSR_PARSE_ERROR, "expected TYPE:LAYOUT DIMS, found \"%.80s\"", text);
    status = tsr_dims_parse(dims, &rank, shape, error);
    return status == TSR_OK ? parse_side(desc, side, rank, dims, error) : status;
}

/* Moves behind a word that the text begins with; false when it does not. */
static bool skip_word(const char **at, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0)
        return false;
    *at += length;
    return true;
}

static tsr_status refuse_attribute(const char *word, tsr_error *error)
{
    return tsr_fail(error, TSR_PARSE_ERROR,
                    "expected scale, mean or shift, alone or as in scale[K] or scale[K/G], beta, reverse[K] or "
                    "in-place, found \"%.60s\"",
                    word);
}

static tsr_status refuse_repetition(const char *word, tsr_error *error)
{
    return tsr_fail(error, TSR_PARSE_ERROR, "\"%.60s\" is given a second time", word);
}

/* "[K]" or "[K/G]" */
static bool scan_axis(const char **at, int64_t *axis, int64_t *group)
{
    if (!tsr_scan_character(at, '[') || !tsr_scan_number(at, axis))
        return false;
    if (tsr_scan_character(at, '/') && !(tsr_scan_number(at, group) && *group > 0))
        return false;
    return tsr_scan_character(at, ']') && **at == '\0';
}

static tsr_status check_axis(const tsr_problem *problem, int64_t axis, const char *word, tsr_error *error)
{
    if (axis >= problem->src.rank)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "\"%.60s\" names an axis of a tensor of rank %d", word,
                        problem->src.rank);
    return TSR_OK;
}

static tsr_status parse_reverse(tsr_problem *problem, const char *word, const char *at, tsr_error *error)
{
    int64_t axis, group = 0;
    if (!scan_axis(&at, &axis, &group) || group > 0)
        return refuse_attribute(word, error);
    tsr_status status = check_axis(problem, axis, word, error);
    if (status == TSR_OK && problem->reverse >> axis & 1)
        return refuse_repetition(word, error);
    if (status == TSR_OK)
        problem->reverse |= UINT32_C(1) << axis;
    return status;
}

/* A word that is there or not. */
static tsr_status set_flag(bool *flag, const char *word, tsr_error *error)
{
    if (*flag)
        return refuse_repetition(word, error);
    *flag = true;
    return TSR_OK;
}

static tsr_status parse_attribute(tsr_problem *problem, const char *word, tsr_error *error)
{
    const struct {
        const char *name;
        int *axis;
        int64_t *group;
    } factors[] = {{"scale", &problem->scale_axis, &problem->scale_group},
                   {"mean", &problem->mean_axis, &problem->mean_group},
                   {"shift", &problem->shift_axis, &problem->shift_group}};
    const char *at = word;
    int64_t axis = TSR_ATTRIBUTE_TENSOR, group = 0;
    size_t i = 0;
    if (skip_word(&at, "reverse"))
        return parse_reverse(problem, word, at, error);
    if (strcmp(word, "beta") == 0)
        return set_flag(&problem->has_beta, word, error);
    if (strcmp(word, "in-place") == 0)
        return set_flag(&problem->in_place, word, error);
    while (i < sizeof factors / sizeof factors[0] && !skip_word(&at, factors[i].name))
        i++;
    if (i == sizeof factors / sizeof factors[0] || (*at && !scan_axis(&at, &axis, &group)))
        return refuse_attribute(word, error);
    if (*factors[i].axis != TSR_ATTRIBUTE_NONE)
        return refuse_repetition(word, error);
    tsr_status status = check_axis(problem, axis, word, error);
    if (status == TSR_OK) {
        *factors[i].axis = (int)axis;
        *factors[i].group = group > 1 ? group : 0;
    }
    return status;
}

tsr_status tsr_problem_parse(tsr_problem *problem, const char *text, tsr_error *error)
{
    char copy[TSR_TEXT_SIZE], *rest;
    int64_t dims[TSR_MAX_RANK];
    int rank;
    tsr_problem made = {
        .scale_axis = TSR_ATTRIBUTE_NONE, .mean_axis = TSR_ATTRIBUTE_NONE, .shift_axis = TSR_ATTRIBUTE_NONE};
    tsr_status status = copy_text(copy, text, error);
    if (status != TSR_OK)
        return status;
    char *sides = strtok_r(copy, blanks, &rest), *shape = strtok_r(NULL, blanks, &rest);
    char *dst = sides ? strchr(sides, '>') : NULL;
    if (!shape || !dst)
        return tsr_fail(error, TSR_PARSE_ERROR,
                        "expected SRC_TYPE:SRC_LAYOUT>DST_TYPE:DST_LAYOUT DIMS, found \"%.80s\"", text);
    *dst++ = '\0';
    status = tsr_dims_parse(dims, &rank, shape, error);
    if (status == TSR_OK)
        status = parse_side(&made.src, sides, rank, dims, error);
    if (status == TSR_OK)
        status = parse_side(&made.dst, dst, rank, dims, error);
    for (char *word; status == TSR_OK && (word = strtok_r(NULL, blanks, &rest));)
        status = parse_attribute(&made, word, error);
    if (status == TSR_OK)
        *problem = made;
    return status;
}
