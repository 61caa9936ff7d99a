/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/error.h"
#include "desc/dialect/dialect.h"
#include "desc/scan.h"

/* The Inference Engine's enumerators; OpenVINO 2 knows them too. */
static const char *const names[] = {"SCALAR", "C",    "HW",    "NC",    "CN",    "CHW",   "HWC",   "NCHW",
                                    "NHWC",   "OIHW", "NCDHW", "NDHWC", "OIDHW", "GOIHW", "GOIDHW"};

static bool is_name(const char *text)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(text, names[i]) == 0)
            return true;
    return false;
}

enum { LETTERS = 26 };

static tsr_status fail_at(const char *at, const char *text, tsr_error *error)
{
    if (*at == '?')
        return tsr_fail(error, TSR_UNSUPPORTED, "layout \"%.60s\" leaves an axis open: ? stands for any", text);
    if (strncmp(at, "...", 3) == 0)
        return tsr_fail(error, TSR_UNSUPPORTED, "layout \"%.60s\" leaves the rank open: ... stands for any axes", text);
    return tsr_fail(error, TSR_PARSE_ERROR, "expected letters such as [N,C,H,W], found \"%.20s\" in layout \"%.60s\"",
                    at, text);
}

/* The letters between brackets and commas, in upper case. */
static tsr_status scan_letters(char letters[LETTERS + 1], const char *text, tsr_error *error)
{
    const char *at = text + 1;
    int count = 0;
    do {
        tsr_scan_blanks(&at);
        char letter = (char)(*at & ~('a' ^ 'A'));
        if (letter < 'A' || letter > 'Z' || count == LETTERS)
            return fail_at(at, text, error);
        letters[count++] = letter;
        at++;
        tsr_scan_blanks(&at);
    } while (tsr_scan_character(&at, ','));
    letters[count] = '\0';
    return tsr_scan_character(&at, ']') && !*at ? TSR_OK : fail_at(at, text, error);
}

tsr_status tsr_parse_openvino(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims, const char *text,
                              tsr_error *error)
{
    char letters[LETTERS + 1];
    tsr_layout layout;
    if (strcmp(text, "BLOCKED") == 0 || strcmp(text, "ANY") == 0)
        return tsr_fail(error, TSR_UNSUPPORTED, "%s names no memory order", text);
    if (text[0] == '[') {
        tsr_status status = scan_letters(letters, text, error);
        if (status != TSR_OK)
            return status;
        text = letters;
    } else if (!is_name(text)) {
        return tsr_fail(error, TSR_PARSE_ERROR, "expected a name such as NCHW, or [N,C,H,W], found \"%.60s\"", text);
    }
    tsr_status status = tsr_layout_parse(&layout, text, error);
    return status == TSR_OK ? tsr_layout_apply(desc, dtype, rank, dims, &layout, error) : status;
}

enum { NAMED_RANKS = 7 };

/* The letters in logical order. Roles without a row, and ranks without letters, have those of activations. */
static const char *const families[TSR_ROLE_COUNT][NAMED_RANKS] = {
    [TSR_ROLE_ACTIVATIONS] = {"", "C", "NC", "CHW", "NCHW", "NCDHW"},
    [TSR_ROLE_WEIGHTS] = {[4] = "OIHW", [5] = "OIDHW"},
    [TSR_ROLE_GROUPED_WEIGHTS] = {[5] = "GOIHW", [6] = "GOIDHW"},
};

static const char *family_of(tsr_role role, int rank)
{
    if (rank >= NAMED_RANKS)
        return NULL;
    return families[role][rank] ? families[role][rank] : families[TSR_ROLE_ACTIVATIONS][rank];
}

static void write_letters(tsr_writer *out, const char *letters)
{
    for (int i = 0; letters[i]; i++)
        tsr_write(out, "%c%c", i ? ',' : '[', letters[i]);
    tsr_write(out, "]");
}

tsr_status tsr_print_openvino(tsr_writer *out, const tsr_desc *desc, tsr_role role, tsr_error *error)
{
    char letters[NAMED_RANKS] = "";
    tsr_layout layout;
    tsr_status status = tsr_layout_of(&layout, desc, error);
    if (status != TSR_OK)
        return status;
    if (layout.levels > layout.rank)
        return tsr_fail(error, TSR_UNSUPPORTED, "OpenVINO has no name for blocks, which a BlockingDesc says");
    const char *family = family_of(role, layout.rank);
    if (!family)
        return tsr_fail(error, TSR_UNSUPPORTED, "OpenVINO has no name for %d axes", layout.rank);
    for (int i = 0; i < layout.rank; i++)
        letters[i] = family[layout.order[i]];
    if (layout.rank == 0 || is_name(letters))
        tsr_write(out, "%s", layout.rank ? letters : "SCALAR");
    else if (layout.rank == 4 || layout.rank == 5)
        write_letters(out, letters);
    else
        return tsr_fail(error, TSR_UNSUPPORTED, "OpenVINO has no name for the order %s", letters);
    return TSR_OK;
}
