/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <tessera/dialect.h>

#include "base/error.h"
#include "desc/check.h"
#include "desc/dialect/dialect.h"

static tsr_status print_tessera(tsr_writer *out, const tsr_desc *desc, tsr_role role, tsr_error *error)
{
    tsr_desc canonical;
    (void)role;
    (void)error;
    tsr_desc_canonical(&canonical, desc);
    out->length = (size_t)tsr_layout_print(&canonical, out->text, out->size);
    return TSR_OK;
}

static const struct row {
    const char *name;
    tsr_dialect_parser *parse;
    tsr_dialect_printer *print;
    bool has_shape; /* the text may have one, or always has */
} rows[TSR_DIALECT_COUNT] = {
    [TSR_DIALECT_TESSERA] = {"tessera", tsr_desc_from_layout, print_tessera, false},
    [TSR_DIALECT_OPENVINO] = {"openvino", tsr_parse_openvino, tsr_print_openvino, false},
    [TSR_DIALECT_ONEDNN] = {"onednn", tsr_parse_onednn, tsr_print_onednn, false},
    [TSR_DIALECT_TVM] = {"tvm", tsr_parse_tvm, tsr_print_tvm, false},
    [TSR_DIALECT_EINOPS] = {"einops", tsr_parse_einops, tsr_print_einops, false},
    [TSR_DIALECT_CUTE] = {"cute", tsr_parse_cute, tsr_print_cute, true},
    [TSR_DIALECT_XLA] = {"xla", tsr_parse_xla, tsr_print_xla, true},
    [TSR_DIALECT_NUMPY] = {"numpy", tsr_parse_numpy, tsr_print_numpy, true},
};

static const struct row *row_of(tsr_dialect dialect)
{
    return (size_t)dialect < TSR_DIALECT_COUNT ? &rows[dialect] : NULL;
}

const char *tsr_dialect_name(tsr_dialect dialect)
{
    const struct row *row = row_of(dialect);
    return row ? row->name : NULL;
}

tsr_status tsr_dialect_from_name(tsr_dialect *dialect, const char *name, tsr_error *error)
{
    for (int i = 0; i < TSR_DIALECT_COUNT; i++) {
        if (strcmp(name, rows[i].name) == 0) {
            *dialect = (tsr_dialect)i;
            return TSR_OK;
        }
    }
    return tsr_fail(error, TSR_PARSE_ERROR, "expected a dialect such as onednn, tvm or numpy, found \"%.60s\"", name);
}

/* As the descriptor is written, or else in its canonical form. */
static tsr_status print_either(const struct row *row, tsr_writer *out, const tsr_desc *desc, tsr_role role,
                               tsr_error *error)
{
    tsr_writer again = *out;
    tsr_desc canonical;
    if (row->print(out, desc, role, NULL) == TSR_OK)
        return TSR_OK;
    tsr_desc_canonical(&canonical, desc);
    *out = again;
    return row->print(out, &canonical, role, error);
}

tsr_status tsr_dialect_print(const tsr_desc *desc, tsr_dialect dialect, tsr_role role, char *text, size_t size,
                             tsr_error *error)
{
    const struct row *row = row_of(dialect);
    tsr_writer out = {text, size, 0};
    if (!row)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a dialect, found number %d", (int)dialect);
    if ((size_t)role >= TSR_ROLE_COUNT)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a role, found number %d", (int)role);
    tsr_status status = print_either(row, &out, desc, role, error);
    if (status == TSR_OK && out.length >= size)
        return tsr_fail(error, TSR_OUT_OF_RANGE, "the text needs %zu bytes, expected at most %zu", out.length + 1,
                        size);
    return status;
}

tsr_status tsr_dialect_parse(tsr_desc *desc, tsr_dialect dialect, tsr_dtype dtype, int rank, const int64_t *dims,
                             const char *text, tsr_error *error)
{
    const struct row *row = row_of(dialect);
    if (!row)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a dialect, found number %d", (int)dialect);
    if (strnlen(text, TSR_TEXT_SIZE) == TSR_TEXT_SIZE)
        return tsr_fail(error, TSR_PARSE_ERROR, "expected a text below %d bytes", TSR_TEXT_SIZE);
    if (!dims && rank != 0 && !row->has_shape)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected dims, as \"%.60s\" has no shape", text);
    tsr_status status = tsr_check_shape(dtype, dims ? rank : 0, dims, error);
    return status == TSR_OK ? row->parse(desc, dtype, rank, dims, text, error) : status;
}
