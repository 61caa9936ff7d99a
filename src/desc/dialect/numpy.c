/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/int.h"
#include "desc/dialect/dialect.h"
#include "desc/scan.h"

struct tuple {
    int count;
    int64_t items[TSR_MAX_RANK];
};

struct arguments {
    const char *text;
    tsr_error *error;
    tsr_dtype dtype;
    struct tuple shape;
    struct tuple strides;
    int64_t offset;
    unsigned seen; /* bit i: keyword i */
};

static tsr_status fail_at(const struct arguments *a, const char *wanted, const char *at)
{
    return tsr_fail(a->error, TSR_PARSE_ERROR, "expected %s at \"%.20s\" in \"%.60s\"", wanted, at, a->text);
}

/* (), (3,), (3, 4) */
static tsr_status scan_tuple(const struct arguments *a, const char **at, struct tuple *tuple)
{
    if (!tsr_scan_character(at, '('))
        return fail_at(a, "'('", *at);
    for (tsr_scan_blanks(at); !tsr_scan_character(at, ')'); tsr_scan_blanks(at)) {
        if (tuple->count == TSR_MAX_RANK)
            return tsr_fail(a->error, TSR_PARSE_ERROR, "expected at most %d axes in \"%.60s\"", TSR_MAX_RANK, a->text);
        if (!tsr_scan_integer(at, &tuple->items[tuple->count++]))
            return fail_at(a, "an integer or ')'", *at);
        tsr_scan_blanks(at);
        if (!tsr_scan_character(at, ',') && **at != ')')
            return fail_at(a, "',' or ')'", *at);
    }
    return TSR_OK;
}

static tsr_status scan_shape(struct arguments *a, const char **at)
{
    return scan_tuple(a, at, &a->shape);
}

static tsr_status scan_strides(struct arguments *a, const char **at)
{
    return scan_tuple(a, at, &a->strides);
}

static tsr_status scan_offset(struct arguments *a, const char **at)
{
    return tsr_scan_number(at, &a->offset) ? TSR_OK : fail_at(a, "a number of bytes", *at);
}

/* The types that NumPy has, or gets from ml_dtypes. */
static const struct {
    const char *code, *name;
    tsr_dtype dtype;
} types[] = {
    {"f2", "float16", TSR_F16},       {"f4", "float32", TSR_F32}, {"f8", "float64", TSR_F64},
    {"i1", "int8", TSR_S8},           {"i2", "int16", TSR_S16},   {"i4", "int32", TSR_S32},
    {"i8", "int64", TSR_S64},         {"u1", "uint8", TSR_U8},    {"u2", "uint16", TSR_U16},
    {"u4", "uint32", TSR_U32},        {"u8", "uint64", TSR_U64},  {"b1", "bool", TSR_BOOL},
    {"", "bool_", TSR_BOOL},          {"", "bfloat16", TSR_BF16}, {"", "float8_e4m3fn", TSR_F8_E4M3},
    {"", "float8_e5m2", TSR_F8_E5M2},
};

static bool is_word(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(word, name, length) == 0;
}

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define OTHER_ORDER '<'
#else
#define OTHER_ORDER '>'
#endif

/* A type that is not in the table is taken on trust. */
static tsr_status check_type(const struct arguments *a, const char *word, size_t length)
{
    bool is_ordered = length > 1 && strchr("<>=|", *word);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        bool is_coded = is_ordered && is_word(word + 1, length - 1, types[i].code);
        if (!is_coded && !is_word(word, length, types[i].name) &&
            !(*types[i].code && is_word(word, length, types[i].code)))
            continue;
        if (is_coded && *word == OTHER_ORDER && types[i].code[1] != '1')
            return tsr_fail(a->error, TSR_UNSUPPORTED, "the bytes of dtype '%.*s' are swapped", (int)length, word);
        if (types[i].dtype != a->dtype)
            return tsr_fail(a->error, TSR_INVALID_ARGUMENT, "the text has dtype %.*s, expected %s", (int)length, word,
                            tsr_dtype_name(a->dtype));
    }
    return TSR_OK;
}

/* '<f4', float32, np.float32 */
static tsr_status scan_type(struct arguments *a, const char **at)
{
    const char *word = *at;
    char quote = *word;
    size_t length;
    if (quote == '\'' || quote == '"') {
        const char *end = strchr(++word, quote);
        if (!end)
            return fail_at(a, "a type", *at);
        length = (size_t)(end - word);
        *at = end + 1;
    } else {
        do
            word = *at;
        while ((length = tsr_scan_word(at)) > 0 && tsr_scan_character(at, '.'));
    }
    return length ? check_type(a, word, length) : fail_at(a, "a type", word);
}

static const struct {
    const char *name;
    tsr_status (*scan)(struct arguments *a, const char **at);
} keywords[] = {{"shape", scan_shape}, {"strides", scan_strides}, {"offset", scan_offset}, {"dtype", scan_type}};

enum { SHAPE = 1 << 0, STRIDES = 1 << 1 };

static tsr_status scan_argument(struct arguments *a, const char **at)
{
    const char *word = *at;
    size_t length = tsr_scan_word(at), i = 0, count = sizeof keywords / sizeof keywords[0];
    while (i < count && !is_word(word, length, keywords[i].name))
        i++;
    if (i == count)
        return fail_at(a, "shape, strides, offset or dtype", word);
    if (a->seen >> i & 1)
        return fail_at(a, "each keyword once", word);
    a->seen |= 1U << i;
    tsr_scan_blanks(at);
    if (!tsr_scan_character(at, '='))
        return fail_at(a, "'='", *at);
    tsr_scan_blanks(at);
    return keywords[i].scan(a, at);
}

static tsr_status scan_arguments(struct arguments *a)
{
    const char *at = a->text;
    for (tsr_scan_blanks(&at); *at; tsr_scan_blanks(&at)) {
        tsr_status status = scan_argument(a, &at);
        if (status != TSR_OK)
            return status;
        tsr_scan_blanks(&at);
        if (*at && !tsr_scan_character(&at, ','))
            return fail_at(a, "','", at);
    }
    if (!(a->seen & SHAPE))
        return tsr_fail(a->error, TSR_PARSE_ERROR, "expected shape=(...), found \"%.60s\"", a->text);
    if (a->seen & STRIDES && a->strides.count != a->shape.count)
        return tsr_fail(a->error, TSR_PARSE_ERROR, "expected a stride for each of %d axes, found %d in \"%.60s\"",
                        a->shape.count, a->strides.count, a->text);
    return TSR_OK;
}

static tsr_status check_bytes(tsr_dtype dtype, tsr_error *error)
{
    if (tsr_dtype_bits(dtype) >= 8)
        return TSR_OK;
    return tsr_fail(error, TSR_UNSUPPORTED, "elements of %s are smaller than the bytes that NumPy counts in",
                    tsr_dtype_name(dtype));
}

/* Bytes become elements. */
static tsr_status divide(struct arguments *a)
{
    int64_t size = (int64_t)tsr_dtype_size_bytes(a->dtype);
    for (int k = 0; k < a->strides.count; k++) {
        if (a->strides.items[k] % size != 0)
            return tsr_fail(a->error, TSR_UNSUPPORTED,
                            "axis %d has a stride of %" PRId64 " bytes, expected a multiple of the %" PRId64 " of %s",
                            k, a->strides.items[k], size, tsr_dtype_name(a->dtype));
        a->strides.items[k] /= size;
    }
    if (a->offset % size != 0)
        return tsr_fail(a->error, TSR_UNSUPPORTED,
                        "the offset is %" PRId64 " bytes, expected a multiple of the %" PRId64 " of %s", a->offset,
                        size, tsr_dtype_name(a->dtype));
    a->offset /= size;
    return TSR_OK;
}

static tsr_status build(tsr_desc *desc, const struct arguments *a)
{
    int order[TSR_MAX_RANK];
    bool is_read_only = false;
    for (int k = 0; k < a->shape.count; k++) {
        order[k] = k;
        is_read_only |= a->seen & STRIDES && a->strides.items[k] <= 0;
    }
    tsr_blocking blocking = {.levels = a->shape.count,
                             .block_dims = a->shape.items,
                             .order = order,
                             .strides = a->seen & STRIDES ? a->strides.items : NULL,
                             .offset = a->offset,
                             .read_only = is_read_only};
    return tsr_desc_blocked(desc, a->dtype, a->shape.count, a->shape.items, &blocking, a->error);
}

tsr_status tsr_parse_numpy(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims, const char *text,
                           tsr_error *error)
{
    struct arguments a = {.text = text, .error = error, .dtype = dtype};
    tsr_status status = check_bytes(dtype, error);
    if (status == TSR_OK)
        status = scan_arguments(&a);
    if (status == TSR_OK)
        status = tsr_check_same_dims(a.shape.count, a.shape.items, rank, dims, error);
    if (status == TSR_OK)
        status = divide(&a);
    return status == TSR_OK ? build(desc, &a) : status;
}

/* --- printing --- */

/* One level for each axis, as long as its dim; strides is theirs in bytes, in logical order. */
static tsr_status find_strides(const tsr_desc *desc, int64_t *strides, tsr_error *error)
{
    int64_t size = (int64_t)tsr_dtype_size_bytes(desc->dtype);
    for (int k = 0; k < desc->rank; k++)
        if (desc->step[k] != 0)
            return tsr_fail(error, TSR_UNSUPPORTED, "axis %d is a window, a strided array has one stride for each axis",
                            k);
    if (desc->levels > desc->rank)
        return tsr_fail(error, TSR_UNSUPPORTED, "%d axes have %d levels, a strided array has one stride for each axis",
                        desc->rank, desc->levels);
    for (int i = 0; i < desc->levels; i++) {
        int k = desc->order[i];
        if (desc->block_dims[i] != desc->dims[k] || desc->pad_before[i] != 0)
            return tsr_fail(error, TSR_UNSUPPORTED, "axis %d has padding, a strided array has none", k);
        if (!tsr_mul(desc->strides[i], size, &strides[k])) /* of a single step, which never counts */
            return tsr_fail(error, TSR_OVERFLOW, "the stride of axis %d does not fit into 63 bits of bytes", k);
    }
    return TSR_OK;
}

static void write_tuple(tsr_writer *out, const char *name, int count, const int64_t *items)
{
    tsr_write(out, "%s=(", name);
    for (int k = 0; k < count; k++)
        tsr_write(out, "%s%" PRId64, k ? ", " : "", items[k]);
    tsr_write(out, count == 1 ? ",)" : ")");
}

tsr_status tsr_print_numpy(tsr_writer *out, const tsr_desc *desc, tsr_role role, tsr_error *error)
{
    int64_t strides[TSR_MAX_RANK];
    (void)role;
    tsr_status status = check_bytes(desc->dtype, error);
    if (status == TSR_OK)
        status = find_strides(desc, strides, error);
    if (status != TSR_OK)
        return status;
    write_tuple(out, "shape", desc->rank, desc->dims);
    tsr_write(out, ", ");
    write_tuple(out, "strides", desc->rank, strides);
    if (desc->offset)
        tsr_write(out, ", offset=%" PRId64, desc->offset * (int64_t)tsr_dtype_size_bytes(desc->dtype));
    return TSR_OK;
}
