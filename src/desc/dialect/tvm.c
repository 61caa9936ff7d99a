/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "desc/dialect/dialect.h"
#include "desc/scan.h"

enum { LETTERS = 26, CASE_BIT = 'a' ^ 'A' };

/* A layout whose order holds letters in lower case instead of axes; primal lists them as they come. */
struct lettered {
    tsr_layout layout;
    char primal[LETTERS + 1];
};

/* A in the text */
static tsr_status add_primal(struct lettered *made, char letter, const char *text, tsr_error *error)
{
    tsr_layout *layout = &made->layout;
    if (strchr(made->primal, letter))
        return tsr_fail(error, TSR_PARSE_ERROR, "axis '%c' occurs twice in layout \"%.60s\"", letter & ~CASE_BIT, text);
    made->primal[layout->rank++] = letter;
    layout->order[layout->levels++] = (uint8_t)letter;
    return TSR_OK;
}

/* 16a in the text */
static tsr_status add_block(struct lettered *made, int64_t size, char letter, const char *text, tsr_error *error)
{
    tsr_layout *layout = &made->layout;
    char axis = (char)(letter & ~CASE_BIT);
    if (!strchr(made->primal, letter))
        return tsr_fail(error, TSR_PARSE_ERROR, "expected axis '%c' in front of its block in layout \"%.60s\"", axis,
                        text);
    for (int i = 0; i < layout->levels; i++)
        if (layout->order[i] == (uint8_t)letter && layout->block_dims[i])
            return tsr_fail(error, TSR_UNSUPPORTED, "TVM has one block for each axis, layout \"%.60s\" two for '%c'",
                            text, axis);
    layout->block_dims[layout->levels] = size;
    layout->order[layout->levels++] = (uint8_t)letter;
    return TSR_OK;
}

static tsr_status scan_letters(struct lettered *made, const char *text, tsr_error *error)
{
    tsr_status status = TSR_OK;
    for (const char *at = text; status == TSR_OK && *at; at++) {
        const char *start = at;
        int64_t size = 0;
        bool sized = tsr_scan_number(&at, &size);
        if (!sized && *at >= 'A' && *at <= 'Z')
            status = add_primal(made, (char)(*at | CASE_BIT), text, error);
        else if (size > 0 && *at >= 'a' && *at <= 'z')
            status = add_block(made, size, *at, text, error);
        else
            return tsr_fail(error, TSR_PARSE_ERROR,
                            "expected an axis such as C or a block such as 16c at \"%.20s\" in layout \"%.60s\"", start,
                            text);
    }
    return status;
}

tsr_status tsr_parse_tvm(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims, const char *text,
                         tsr_error *error)
{
    struct lettered made = {0};
    tsr_layout primal;
    tsr_status status = scan_letters(&made, text, error);
    if (status == TSR_OK)
        status = tsr_layout_parse(&primal, made.primal, error);
    if (status != TSR_OK)
        return status;
    for (int i = 0; i < made.layout.levels; i++)
        made.layout.order[i] = primal.order[strchr(made.primal, made.layout.order[i]) - made.primal];
    return tsr_layout_apply(desc, dtype, rank, dims, &made.layout, error);
}

tsr_status tsr_print_tvm(tsr_writer *out, const tsr_desc *desc, tsr_role role, tsr_error *error)
{
    tsr_layout layout;
    int levels[TSR_MAX_RANK] = {0};
    if (desc->rank < 1 || desc->rank > LETTERS)
        return tsr_fail(error, TSR_UNSUPPORTED, "TVM has letters for 1 to %d axes, found %d", LETTERS, desc->rank);
    tsr_status status = tsr_layout_of(&layout, desc, error);
    if (status != TSR_OK)
        return status;
    for (int i = 0; i < layout.levels; i++)
        if (++levels[layout.order[i]] > 2)
            return tsr_fail(error, TSR_UNSUPPORTED, "TVM has one block for each axis, axis %d has more",
                            layout.order[i]);
    for (int i = 0; i < layout.levels; i++) {
        char letter = tsr_role_letter(role, layout.rank, layout.order[i]);
        if (layout.block_dims[i])
            tsr_write(out, "%" PRId64 "%c", layout.block_dims[i], letter);
        else
            tsr_write(out, "%c", letter & ~CASE_BIT);
    }
    return TSR_OK;
}
