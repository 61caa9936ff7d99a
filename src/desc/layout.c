/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <tessera/text.h>

#include "base/error.h"
#include "desc/scan.h"

/* The letters of the field, in the logical order of the axes that they name. */
static const char *const families[] = {"ncdhw", "goidhw", "tnc", "ldigo", "ldnc", "x", "abcdefghijklmnopqrstuvwxyz"};

/* The outer part of a tag: distinct letters, in memory order. */
struct outer {
    int count;
    char letters[26]; /* lower case */
    unsigned upper;   /* bit i: letter i was written in upper case */
};

/* Letters of ASCII alone: what is a layout must not depend on the locale. */
enum { CASE_BIT = 'a' ^ 'A' };

static bool is_letter(char character)
{
    char lower = (char)(character | CASE_BIT);
    return lower >= 'a' && lower <= 'z';
}

static tsr_status scan_outer(struct outer *outer, const char **at, const char *text, tsr_error *error)
{
    outer->count = 0;
    outer->upper = 0;
    for (; is_letter(**at); ++*at) {
        char letter = (char)(**at | CASE_BIT);
        if (memchr(outer->letters, letter, (size_t)outer->count))
            return tsr_fail(error, TSR_PARSE_ERROR, "the letter '%c' occurs twice in layout \"%.60s\"", letter, text);
        if (**at != letter)
            outer->upper |= 1U << outer->count;
        outer->letters[outer->count++] = letter;
    }
    return outer->count > 0
               ? TSR_OK
               : tsr_fail(error, TSR_PARSE_ERROR, "expected a layout such as nchw or nChw16c, found \"%.60s\"", text);
}

/* The letters that are there, sorted into the order of the first family that has them all. */
static bool sort_into_family(const struct outer *outer, char logical[27])
{
    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++) {
        int found = 0;
        for (const char *letter = families[f]; *letter; letter++)
            if (memchr(outer->letters, *letter, (size_t)outer->count))
                logical[found++] = *letter;
        logical[found] = '\0';
        bool alphabet = families[f][0] == 'a';
        if (found == outer->count && (!alphabet || strncmp(logical, families[f], (size_t)found) == 0))
            return true;
    }
    return false;
}

static tsr_status scan_blocks(tsr_layout *layout, const char *at, const char *logical, const char *text,
                              tsr_error *error)
{
    while (*at) {
        int64_t size;
        if (!tsr_scan_number(&at, &size) || size < 1)
            return tsr_fail(error, TSR_PARSE_ERROR, "expected a block such as 16c at \"%.20s\" in layout \"%.60s\"", at,
                            text);
        const char *axis = *at ? strchr(logical, *at) : NULL;
        if (!axis)
            return tsr_fail(
                error, TSR_PARSE_ERROR,
                "expected one of the letters \"%s\" behind a block size, found \"%.20s\" in layout \"%.60s\"", logical,
                at, text);
        if (layout->levels == TSR_MAX_LEVELS)
            return tsr_fail(error, TSR_PARSE_ERROR, "layout \"%.60s\" has more than %d levels", text, TSR_MAX_LEVELS);
        layout->block_dims[layout->levels] = size;
        layout->order[layout->levels++] = (uint8_t)(axis - logical);
        at++;
    }
    return TSR_OK;
}

/* Upper case means blocked; a layout without blocks is in one case throughout. */
static tsr_status check_case(const tsr_layout *layout, const struct outer *outer, const char *text, tsr_error *error)
{
    unsigned all = (1U << outer->count) - 1;
    if (layout->levels == layout->rank && (outer->upper == 0 || outer->upper == all))
        return TSR_OK;
    for (int i = 0; i < layout->rank; i++) {
        bool blocked = memchr(layout->order + layout->rank, layout->order[i], (size_t)(layout->levels - layout->rank));
        if (blocked != (outer->upper >> i & 1))
            return tsr_fail(error, TSR_PARSE_ERROR, "'%c' is in %s case but has %s in layout \"%.60s\"",
                            outer->letters[i], blocked ? "lower" : "upper", blocked ? "a block" : "no block", text);
    }
    return TSR_OK;
}

/* The tags of oneDNN that do not mean what their letters say, and what they mean there. */
static const struct {
    const char *tag;
    const char *meaning;
} exceptions[] = {
    {"OhwI32o", "Acdb32a"},
    {"gOhwI32o", "aBdec32b"},
    {"gIOhw2i8o16i2o", "aBCde2c8b16c2b"},
    {"gIOdhw2i8o16i2o", "aBCdef2c8b16c2b"},
};

static const char *meaning_of(const char *text)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof exceptions[0]; i++)
        if (strcmp(text, exceptions[i].tag) == 0)
            return exceptions[i].meaning;
    return text;
}

tsr_status tsr_layout_parse(tsr_layout *layout, const char *text, tsr_error *error)
{
    tsr_layout made = {0};
    struct outer outer;
    char logical[27];
    const char *at = text = meaning_of(text);

    if (strcmp(text, "scalar") == 0 || strcmp(text, "SCALAR") == 0) {
        *layout = made;
        return TSR_OK;
    }
    tsr_status status = scan_outer(&outer, &at, text, error);
    if (status != TSR_OK)
        return status;
    if (!sort_into_family(&outer, logical))
        return tsr_fail(
            error, TSR_PARSE_ERROR,
            "the letters of layout \"%.60s\" are neither a, b, c, ... nor of one family such as nchw or goihw", text);
    made.rank = made.levels = outer.count;
    for (int i = 0; i < outer.count; i++)
        made.order[i] = (uint8_t)(strchr(logical, outer.letters[i]) - logical);
    status = scan_blocks(&made, at, logical, text, error);
    if (status == TSR_OK)
        status = check_case(&made, &outer, text, error);
    if (status == TSR_OK)
        *layout = made;
    return status;
}

const char *tsr_layout_by_dims(int rank, const int64_t *dims)
{
    static const char *const names[] = {"SCALAR", "C", "NC", "BLOCKED", "NCHW", "NCDHW"};
    if (rank == 1 && dims[0] == 0)
        return "BLOCKED";
    return rank >= 0 && rank < (int)(sizeof names / sizeof names[0]) ? names[rank] : "BLOCKED";
}
