/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/int.h"
#include "base/writer.h"
#include "port/message.h"
#include "port/npy_header.h"

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define HOST_ORDER '>'
#else
#define HOST_ORDER '<'
#endif

#define DATA_ALIGNMENT 64
#define GROWTH_DIGITS 21 /* NumPy leaves room for the dim that a file grows along to become this long */

static const struct numpy_type {
    char code[3];
    tsr_dtype dtype;
} types[] = {
    {"f2", TSR_F16}, {"f4", TSR_F32}, {"f8", TSR_F64}, {"i1", TSR_S8},  {"i2", TSR_S16}, {"i4", TSR_S32},
    {"i8", TSR_S64}, {"u1", TSR_U8},  {"u2", TSR_U16}, {"u4", TSR_U32}, {"u8", TSR_U64}, {"b1", TSR_BOOL},
};

typedef struct cursor {
    const char *text;
    size_t at;
    size_t length;
    tsr_error *error;
} cursor;

typedef struct span {
    const char *text;
    size_t length;
} span;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* '\0' at the end; one in the text is no token, and so no end. */
static char peek(const cursor *c)
{
    return c->at < c->length ? c->text[c->at] : '\0';
}

static void skip_space(cursor *c)
{
    while (c->at < c->length && memchr(" \t\n\r\f", c->text[c->at], 5))
        c->at++;
}

static bool take(cursor *c, char wanted)
{
    skip_space(c);
    if (peek(c) != wanted || c->at == c->length)
        return false;
    c->at++;
    return true;
}

static tsr_status fail_expected(cursor *c, const char *wanted)
{
    char found[8];
    if (c->at == c->length)
        return tsr_fail(c->error, TSR_PARSE_ERROR, "header: expected %s, found its end", wanted);
    tsr_quote(found, sizeof found, c->text + c->at, 1);
    return tsr_fail(c->error, TSR_PARSE_ERROR, "header: expected %s at byte %zu, found '%s'", wanted, c->at, found);
}

static tsr_status parse_string(cursor *c, span *string, const char *wanted)
{
    char quote = '"';
    if (!take(c, quote)) {
        quote = '\'';
        if (!take(c, quote))
            return fail_expected(c, wanted);
    }
    size_t start = c->at;
    while (c->at < c->length && c->text[c->at] != quote && c->text[c->at] != '\\' && c->text[c->at] != '\n')
        c->at++;
    *string = (span){c->text + start, c->at - start};
    if (c->at == c->length || c->text[c->at] != quote)
        return fail_expected(c, "a plain string and its closing quote");
    c->at++;
    return TSR_OK;
}

static tsr_status parse_descr(cursor *c, tsr_npy_header *header)
{
    skip_space(c);
    if (peek(c) == '[' || peek(c) == '(')
        return tsr_fail(c->error, TSR_UNSUPPORTED, "header: expected one type as descr, found a structured type");
    span descr = {0};
    tsr_status status = parse_string(c, &descr, "a string as descr");
    if (status != TSR_OK)
        return status;
    for (size_t i = 0; i < sizeof types / sizeof types[0] && descr.length == 3; i++) {
        if (memcmp(descr.text + 1, types[i].code, 2) != 0)
            continue;
        bool bytes = types[i].code[1] == '1';
        char order = descr.text[0];
        if (!memchr(bytes ? "|<>=" : "<>=", order, bytes ? 4 : 3))
            break;
        header->dtype = types[i].dtype;
        header->swapped = !bytes && order != '=' && order != HOST_ORDER;
        return TSR_OK;
    }
    char found[40];
    return tsr_fail(c->error, TSR_UNSUPPORTED, "header: expected a number type such as '<f4' as descr, found '%s'",
                    tsr_quote(found, sizeof found, descr.text, descr.length));
}

static tsr_status parse_fortran_order(cursor *c, tsr_npy_header *header)
{
    skip_space(c);
    size_t start = c->at;
    while (is_letter(peek(c)) || is_digit(peek(c)))
        c->at++;
    span word = {c->text + start, c->at - start};
    header->fortran_order = word.length == 4 && memcmp(word.text, "True", 4) == 0;
    if (header->fortran_order || (word.length == 5 && memcmp(word.text, "False", 5) == 0))
        return TSR_OK;
    c->at = start;
    return fail_expected(c, "True or False as fortran_order");
}

/* Python 2 wrote an L behind long integers; a 0 before other digits made them octal. */
static tsr_status parse_dim(cursor *c, int64_t *dim)
{
    bool negative = take(c, '-');
    skip_space(c);
    if (!is_digit(peek(c)))
        return fail_expected(c, "a dim");
    bool zero = peek(c) == '0';
    size_t start = c->at;
    *dim = 0;
    for (; is_digit(peek(c)); c->at++) {
        int64_t digit = peek(c) - '0';
        if (!tsr_mul(*dim, 10, dim) || !tsr_add(*dim, digit, dim))
            return tsr_fail(c->error, TSR_OVERFLOW, "header: expected dims of 63 bits, found a larger one");
    }
    if (zero && c->at - start > 1) {
        c->at = start;
        return fail_expected(c, "a dim without leading zeros");
    }
    if (negative)
        return tsr_fail(c->error, TSR_PARSE_ERROR, "header: expected dims of 0 or more, found -%" PRId64, *dim);
    if (peek(c) == 'L')
        c->at++;
    return TSR_OK;
}

static tsr_status parse_shape(cursor *c, tsr_npy_header *header)
{
    bool comma = true;
    header->rank = 0;
    if (!take(c, '('))
        return fail_expected(c, "a tuple as shape");
    while (!take(c, ')')) {
        if (!comma)
            return fail_expected(c, "',' or ')'");
        if (header->rank == TSR_MAX_RANK)
            return tsr_fail(c->error, TSR_UNSUPPORTED, "header: expected at most %d dims, found more", TSR_MAX_RANK);
        tsr_status status = parse_dim(c, &header->shape[header->rank]);
        if (status != TSR_OK)
            return status;
        header->rank++;
        comma = take(c, ',');
        if (!comma && header->rank == 1)
            return fail_expected(c, "',' behind the first dim");
    }
    return TSR_OK;
}

static const struct field {
    const char *key;
    tsr_status (*parse)(cursor *c, tsr_npy_header *header);
} fields[] = {
    {"descr", parse_descr},
    {"fortran_order", parse_fortran_order},
    {"shape", parse_shape},
};

#define FIELD_COUNT (sizeof fields / sizeof fields[0])

static tsr_status parse_field(cursor *c, tsr_npy_header *header, bool seen[FIELD_COUNT])
{
    span key = {0};
    char found[40];
    tsr_status status = parse_string(c, &key, "a key");
    if (status != TSR_OK)
        return status;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (key.length != strlen(fields[i].key) || memcmp(key.text, fields[i].key, key.length) != 0)
            continue;
        if (seen[i])
            return tsr_fail(c->error, TSR_PARSE_ERROR, "header: expected the key '%s' once, found it again",
                            fields[i].key);
        seen[i] = true;
        return take(c, ':') ? fields[i].parse(c, header) : fail_expected(c, "':'");
    }
    return tsr_fail(c->error, TSR_PARSE_ERROR,
                    "header: expected the keys 'descr', 'fortran_order' and 'shape', found '%s'",
                    tsr_quote(found, sizeof found, key.text, key.length));
}

tsr_status tsr_npy_header_parse(tsr_npy_header *header, const char *text, size_t length, tsr_error *error)
{
    cursor c = {.text = text, .length = length, .error = error};
    tsr_npy_header parsed = {0};
    bool seen[FIELD_COUNT] = {false};
    bool comma = true;
    if (!take(&c, '{'))
        return fail_expected(&c, "'{'");
    while (!take(&c, '}')) {
        if (!comma)
            return fail_expected(&c, "',' or '}'");
        tsr_status status = parse_field(&c, &parsed, seen);
        if (status != TSR_OK)
            return status;
        comma = take(&c, ',');
    }
    skip_space(&c);
    if (c.at < c.length)
        return fail_expected(&c, "nothing behind '}'");
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (!seen[i])
            return tsr_fail(error, TSR_PARSE_ERROR, "header: expected the key '%s', found none", fields[i].key);
    *header = parsed;
    return TSR_OK;
}

static const char *code_of(tsr_dtype dtype)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].dtype == dtype)
            return types[i].code;
    return NULL;
}

bool tsr_npy_has_dtype(tsr_dtype dtype)
{
    return code_of(dtype) != NULL;
}

static void print_dict(tsr_writer *writer, const tsr_npy_header *header)
{
    const char *code = code_of(header->dtype);
    tsr_write(writer, "{'descr': '%c%s', 'fortran_order': %s, 'shape': (", code[1] == '1' ? '|' : HOST_ORDER, code,
              header->fortran_order ? "True" : "False");
    for (int k = 0; k < header->rank; k++)
        tsr_write(writer, k ? ", %" PRId64 : "%" PRId64, header->shape[k]);
    tsr_write(writer, header->rank == 1 ? ",), }" : "), }");
}

static void print_growth_room(tsr_writer *writer, const tsr_npy_header *header)
{
    if (header->rank == 0)
        return;
    int64_t dim = header->shape[header->fortran_order ? header->rank - 1 : 0];
    int digits = snprintf(NULL, 0, "%" PRId64, dim);
    tsr_write(writer, "%*s", GROWTH_DIGITS - digits, "");
}

size_t tsr_npy_header_print(const tsr_npy_header *header, char text[TSR_NPY_HEADER_BYTES_MAX])
{
    tsr_writer writer = {.text = text, .size = TSR_NPY_HEADER_BYTES_MAX, .length = TSR_NPY_PREAMBLE_BYTES};
    print_dict(&writer, header);
    print_growth_room(&writer, header);
    /* room for the newline; NumPy adds 64 bytes, not 0, to a header that needs none */
    size_t total = ((writer.length + 1) / DATA_ALIGNMENT + 1) * DATA_ALIGNMENT;
    memset(text + writer.length, ' ', total - writer.length);
    text[total - 1] = '\n';

    size_t length = total - TSR_NPY_PREAMBLE_BYTES;
    memcpy(text, TSR_NPY_MAGIC "\x01\x00", TSR_NPY_MAGIC_BYTES + 2);
    text[8] = (char)(length & 0xff);
    text[9] = (char)(length >> 8);
    return total;
}
