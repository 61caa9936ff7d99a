/* SPDX-License-Identifier: Apache-2.0 */
#include "desc/tag.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/writer.h"
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
    bool is_only_name; /* besides the one in the letters a, b, c, ... */
} exceptions[] = {
    {"OhwI32o", "Acdb32a", false},
    {"gOhwI32o", "aBdec32b", false},
    {"gIOhw2i8o16i2o", "aBCde2c8b16c2b", true},
    {"gIOdhw2i8o16i2o", "aBCdef2c8b16c2b", true},
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

/*
 * The outer parts of the names that are in use, by role, and in a role by preference. With blocks
 * behind it a row is that name alone.
 */
static const char *const names_of_role[TSR_ROLE_COUNT][48] = {
    [TSR_ROLE_ANY] = {"NCw32n32c",   "NCw32n16c",   "NCw40n16c",    "NCw40n32c",   "NCw2c32n8c",  "NChw32n32c",
                      "NChw32n16c",  "NChw40n16c",  "NChw40n32c",   "NChw2c32n8c", "NCdhw32n32c", "NCdhw32n16c",
                      "NCdhw40n16c", "NCdhw40n32c", "NCdhw2c32n8c", "Goiw8g",      "Goiw32g",     "Goihw8g",
                      "Goihw32g",    "x",           "nc",           "cn",          "ncw",         "nwc",
                      "nchw",        "nhwc",        "chwn",         "ncdhw",       "ndhwc",       "nC",
                      "nCw",         "nChw",        "nCdhw"},
    [TSR_ROLE_ACTIVATIONS] = {"x", "nc", "cn", "ncw", "nwc", "nchw", "nhwc", "chwn", "ncdhw", "ndhwc", "nC", "nCw",
                              "nChw", "nCdhw", "NCw", "NChw", "NCdhw"},
    [TSR_ROLE_WEIGHTS] = {"oi",   "io",    "oiw",   "owi",   "wio",   "iwo",   "oihw", "ohwi", "hwio", "iohw",
                          "ihwo", "oidhw", "odhwi", "dhwio", "iodhw", "idhwo", "Oi",   "OI",   "Oiw",  "Owi",
                          "OIw",  "OwI",   "IOw",   "wIo",   "Oihw",  "Ohwi",  "Owhi", "OIhw", "OhwI", "IOhw",
                          "hwIo", "Oidhw", "Odhwi", "OIdhw", "OdhwI", "IOdhw", "dhwIo"},
    [TSR_ROLE_GROUPED_WEIGHTS] = {"goiw",   "gowi",   "wigo",   "goihw",  "gohwi", "giohw",  "hwigo",  "goidhw",
                                  "godhwi", "giodhw", "dhwigo", "gwio",   "ghwio", "gdhwio", "gOiw",   "gOwi",
                                  "Goiw",   "gOIw",   "gIOw",   "gOwI",   "gwIo",  "gOihw",  "gOhwi",  "gOwhi",
                                  "Goihw",  "gOIhw",  "gIOhw",  "gOhwI",  "ghwIo", "hwioG",  "gOidhw", "gOdhwi",
                                  "Goidhw", "gOIdhw", "gIOdhw", "gOdhwI", "gdhwIo"},
    [TSR_ROLE_RECURRENT] = {"tnc", "ntc", "tn", "nt", "ldnc", "ldio", "ldoi", "ldgo", "ldigo", "ldgoi", "ldOi", "ldOI",
                            "ldIo", "ldgOi", "ldgOI", "ldgIo", "ldgIO"},
};

/* Writes a layout whose outer levels come first in the letters of its axes; letters are in logical order. */
static void write_tag(const tsr_layout *layout, const char *letters, char text[TSR_TAG_SIZE])
{
    tsr_writer tag = {text, TSR_TAG_SIZE, 0};
    uint32_t blocked = 0;
    for (int i = layout->rank; i < layout->levels; i++)
        blocked |= 1U << layout->order[i];
    for (int i = 0; i < layout->levels; i++) {
        char letter = letters[layout->order[i]];
        if (i >= layout->rank)
            tsr_write(&tag, "%" PRId64, layout->block_dims[i]);
        else if (blocked >> layout->order[i] & 1)
            letter = (char)(letter & ~CASE_BIT);
        tsr_write(&tag, "%c", letter);
    }
}

/*
 * Does the name, or with the blocks of the layout behind it, stand for the layout? Then it is in text.
 * The letters may say one of the exceptions, which has other axes in the same places.
 */
static bool is_named(const tsr_layout *layout, const char *name, char text[TSR_TAG_SIZE])
{
    struct outer outer;
    char logical[27];
    tsr_layout named = {0};
    const char *at = name;
    (void)!scan_outer(&outer, &at, name, NULL);
    if (outer.count != layout->rank)
        return false;
    sort_into_family(&outer, logical);
    write_tag(layout, logical, text);
    if (strncmp(text, name, strlen(name)) != 0)
        return false;
    (void)!tsr_layout_parse(&named, text, NULL);
    return memcmp(named.order, layout->order, sizeof named.order) == 0;
}

static bool print_name(const tsr_layout *layout, tsr_role role, char text[TSR_TAG_SIZE])
{
    for (const char *const *name = names_of_role[role]; *name; name++)
        if (is_named(layout, *name, text))
            return true;
    return false;
}

/* The name that oneDNN gives to a layout in letters that say something else. */
static const char *exception_of(const char *letters)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof exceptions[0]; i++)
        if (exceptions[i].is_only_name && strcmp(exceptions[i].meaning, letters) == 0)
            return exceptions[i].tag;
    return NULL;
}

bool tsr_tag_print(const tsr_layout *layout, tsr_role role, char text[TSR_TAG_SIZE])
{
    static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz";
    if (layout->rank == 0) {
        strcpy(text, "scalar");
        return true;
    }
    if (layout->rank >= (int)sizeof alphabet)
        return false;
    for (int i = 0; i < layout->levels; i++)
        if ((layout->block_dims[i] == 0) != (i < layout->rank))
            return false;
    write_tag(layout, alphabet, text);
    const char *exception = role == TSR_ROLE_ANY || role == TSR_ROLE_GROUPED_WEIGHTS ? exception_of(text) : NULL;
    if (exception)
        strcpy(text, exception);
    if (exception || role == TSR_ROLE_NONE || print_name(layout, role, text))
        return true;
    for (int other = TSR_ROLE_WEIGHTS; role == TSR_ROLE_ANY && other < TSR_ROLE_NONE; other++)
        if (print_name(layout, (tsr_role)other, text))
            return true;
    write_tag(layout, alphabet, text);
    return true;
}

bool tsr_tag_of(const tsr_desc *desc, tsr_role role, char text[TSR_TAG_SIZE])
{
    tsr_layout layout;
    tsr_desc canonical;
    if (tsr_layout_of(&layout, desc, NULL) != TSR_OK)
        return false;
    if (tsr_tag_print(&layout, role, text))
        return true;
    tsr_desc_canonical(&canonical, desc);
    return tsr_layout_of(&layout, &canonical, NULL) == TSR_OK && tsr_tag_print(&layout, role, text);
}
