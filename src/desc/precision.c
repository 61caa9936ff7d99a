/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <tessera/openvino.h>

#include "base/error.h"

enum { FLOAT = 1, UNSIGNED = 2 };

/* What the precisions are, and in which C types they may be kept: bit i is type i. */
static const struct {
    tsr_precision precision;
    tsr_dtype dtype;
    int traits;
    uint32_t storage;
} rows[] = {
    {{TSR_PRECISION_UNSPECIFIED, 0, "UNSPECIFIED"}, TSR_DTYPE_NONE, 0, 0},
    {{TSR_PRECISION_MIXED, 0, "MIXED"}, TSR_DTYPE_NONE, 0, 0},
    {{TSR_PRECISION_FP32, 32, "FP32"}, TSR_F32, FLOAT, 1U << TSR_F32},
    {{TSR_PRECISION_FP16, 16, "FP16"}, TSR_F16, FLOAT, 1U << TSR_S16 | 1U << TSR_U16},
    {{TSR_PRECISION_BF16, 16, "BF16"}, TSR_BF16, FLOAT, 1U << TSR_S16 | 1U << TSR_U16},
    {{TSR_PRECISION_FP64, 64, "FP64"}, TSR_F64, FLOAT, 1U << TSR_F64},
    {{TSR_PRECISION_NF4, 4, "NF4"}, TSR_NF4, 0, 1U << TSR_S8},
    {{TSR_PRECISION_Q78, 16, "Q78"}, TSR_Q78, 0, 1U << TSR_S16 | 1U << TSR_U16},
    {{TSR_PRECISION_I16, 16, "I16"}, TSR_S16, 0, 1U << TSR_S16},
    {{TSR_PRECISION_U4, 4, "U4"}, TSR_U4, UNSIGNED, 1U << TSR_U8},
    {{TSR_PRECISION_U8, 8, "U8"}, TSR_U8, UNSIGNED, 1U << TSR_U8},
    {{TSR_PRECISION_BOOL, 8, "BOOL"}, TSR_BOOL, UNSIGNED, 1U << TSR_U8},
    {{TSR_PRECISION_I4, 4, "I4"}, TSR_S4, 0, 1U << TSR_S8 | 1U << TSR_U8},
    {{TSR_PRECISION_I8, 8, "I8"}, TSR_S8, 0, 1U << TSR_S8},
    {{TSR_PRECISION_U16, 16, "U16"}, TSR_U16, UNSIGNED, 1U << TSR_U16},
    {{TSR_PRECISION_I32, 32, "I32"}, TSR_S32, 0, 1U << TSR_S32},
    {{TSR_PRECISION_BIN, 1, "BIN"}, TSR_U1, 0, 1U << TSR_S8 | 1U << TSR_U8},
    {{TSR_PRECISION_I64, 64, "I64"}, TSR_S64, 0, 1U << TSR_S64},
    {{TSR_PRECISION_U64, 64, "U64"}, TSR_U64, UNSIGNED, 1U << TSR_U64},
    {{TSR_PRECISION_U32, 32, "U32"}, TSR_U32, UNSIGNED, 1U << TSR_U32},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* The row of a value; that of UNSPECIFIED for any other. */
static int row_of(tsr_precision_value value)
{
    for (int i = 1; i < ROWS; i++)
        if (rows[i].precision.value == value)
            return i;
    return 0;
}

tsr_precision tsr_precision_from_value(int value)
{
    return rows[row_of((tsr_precision_value)value)].precision;
}

tsr_precision tsr_precision_from_name(const char *name)
{
    for (int i = 1; i < ROWS; i++)
        if (strcmp(rows[i].precision.name, name) == 0)
            return rows[i].precision;
    return rows[0].precision;
}

tsr_status tsr_precision_custom(tsr_precision *precision, int bits, const char *name, tsr_error *error)
{
    if (bits < 1)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "a custom precision has 1 bit or more, found %d", bits);
    *precision = (tsr_precision){TSR_PRECISION_CUSTOM, bits, name ? name : "CUSTOM"};
    return TSR_OK;
}

bool tsr_precision_equal(const tsr_precision *a, const tsr_precision *b)
{
    return a->value == b->value && a->bits == b->bits && strcmp(a->name, b->name) == 0;
}

tsr_status tsr_precision_size_bytes(const tsr_precision *precision, size_t *size_bytes, tsr_error *error)
{
    if (precision->bits < 1)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "elements of precision %s have no size", precision->name);
    *size_bytes = ((size_t)precision->bits + 7) / 8;
    return TSR_OK;
}

bool tsr_precision_is_float(const tsr_precision *precision)
{
    return rows[row_of(precision->value)].traits & FLOAT;
}

bool tsr_precision_is_signed(const tsr_precision *precision)
{
    return !(rows[row_of(precision->value)].traits & UNSIGNED);
}

bool tsr_precision_is_specified(const tsr_precision *precision)
{
    return precision->value != TSR_PRECISION_UNSPECIFIED;
}

bool tsr_precision_is_stored_as(const tsr_precision *precision, tsr_dtype storage)
{
    return (unsigned)storage < TSR_DTYPE_COUNT && rows[row_of(precision->value)].storage >> storage & 1;
}

tsr_dtype tsr_precision_dtype(const tsr_precision *precision)
{
    return rows[row_of(precision->value)].dtype;
}

tsr_precision tsr_precision_of_dtype(tsr_dtype dtype)
{
    for (int i = 1; i < ROWS; i++)
        if (dtype != TSR_DTYPE_NONE && rows[i].dtype == dtype)
            return rows[i].precision;
    return rows[0].precision;
}
