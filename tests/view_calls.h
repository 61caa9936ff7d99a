/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_VIEW_CALLS_H
#define TESSERA_TESTS_VIEW_CALLS_H

/*
 * A call of view.h as a value: to make it, to say where each of its indices comes from, and to print
 * it. Include behind <cmocka.h>.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <tessera/view.h>

typedef enum view_kind {
    CROP,
    PERMUTE,
    TRANSPOSE,
    REVERSE,
    SQUEEZE,
    UNSQUEEZE,
    BROADCAST,
    SPLIT,
    JOIN,
    RESHAPE,
    DIAGONAL,
    VIEW_KIND_COUNT
} view_kind;

typedef struct view_call {
    view_kind kind;
    int axis;                   /* of those that take one; transpose and diagonal: the first */
    int other;                  /* transpose, diagonal: the second; split, join: the count; reshape: the rank */
    int64_t size[TSR_MAX_RANK]; /* crop; split: the sizes; reshape: the dims; broadcast: [0] */
    int64_t begin[TSR_MAX_RANK];
    int64_t step[TSR_MAX_RANK]; /* crop; all 0: NULL */
    int axes[TSR_MAX_RANK];
} view_call;

static inline tsr_status call_view(const view_call *call, tsr_desc *view, const tsr_desc *desc, tsr_error *error)
{
    switch (call->kind) {
    case CROP:
        return tsr_view_crop(view, desc, call->begin, call->size, call->step[0] ? call->step : NULL, error);
    case PERMUTE:
        return tsr_view_permute(view, desc, call->axes, error);
    case TRANSPOSE:
        return tsr_view_transpose(view, desc, call->axis, call->other, error);
    case REVERSE:
        return tsr_view_reverse(view, desc, call->axis, error);
    case SQUEEZE:
        return tsr_view_squeeze(view, desc, call->axis, error);
    case UNSQUEEZE:
        return tsr_view_unsqueeze(view, desc, call->axis, error);
    case BROADCAST:
        return tsr_view_broadcast(view, desc, call->axis, call->size[0], error);
    case SPLIT:
        return tsr_view_split(view, desc, call->axis, call->other, call->size, error);
    case JOIN:
        return tsr_view_join(view, desc, call->axis, call->other, error);
    case RESHAPE:
        return tsr_view_reshape(view, desc, call->other, call->size, error);
    default:
        return tsr_view_diagonal(view, desc, call->axis, call->other, error);
    }
}

/* The dims that the view has; returns the rank. */
static inline int dims_of_call(const view_call *call, const tsr_desc *desc, int64_t *dims)
{
    int rank = desc->rank, a = call->axis, b = call->other;
    memcpy(dims, desc->dims, (size_t)rank * sizeof *dims);
    switch (call->kind) {
    case CROP:
        memcpy(dims, call->size, (size_t)rank * sizeof *dims);
        return rank;
    case PERMUTE:
        for (int k = 0; k < rank; k++)
            dims[k] = desc->dims[call->axes[k]];
        return rank;
    case TRANSPOSE:
        dims[a] = desc->dims[b];
        dims[b] = desc->dims[a];
        return rank;
    case REVERSE:
        return rank;
    case SQUEEZE:
        memmove(dims + a, desc->dims + a + 1, (size_t)(rank - a - 1) * sizeof *dims);
        return rank - 1;
    case UNSQUEEZE:
        memmove(dims + a + 1, desc->dims + a, (size_t)(rank - a) * sizeof *dims);
        dims[a] = 1;
        return rank + 1;
    case BROADCAST:
        dims[a] = call->size[0];
        return rank;
    case SPLIT:
        memmove(dims + a + b, desc->dims + a + 1, (size_t)(rank - a - 1) * sizeof *dims);
        memcpy(dims + a, call->size, (size_t)b * sizeof *dims);
        return rank + b - 1;
    case JOIN:
        for (int k = a + 1; k < a + b; k++)
            dims[a] *= desc->dims[k];
        memmove(dims + a + 1, desc->dims + a + b, (size_t)(rank - a - b) * sizeof *dims);
        return rank - b + 1;
    case RESHAPE:
        memcpy(dims, call->size, (size_t)b * sizeof *dims);
        return b;
    default:
        dims[a] = desc->dims[a] < desc->dims[b] ? desc->dims[a] : desc->dims[b];
        memmove(dims + b, dims + b + 1, (size_t)(rank - b - 1) * sizeof *dims);
        return rank - 1;
    }
}

static inline int64_t linear_of_index(int rank, const int64_t *dims, const int64_t *v)
{
    int64_t linear = 0;
    for (int k = 0; k < rank; k++)
        linear = linear * dims[k] + v[k];
    return linear;
}

static inline void index_of_linear(int rank, const int64_t *dims, int64_t linear, int64_t *v)
{
    for (int k = rank - 1; k >= 0; k--) {
        v[k] = linear % dims[k];
        linear /= dims[k];
    }
}

/* Index v of the view is index w of desc: the formulas of view.h. */
static inline void map_index(const view_call *call, const tsr_desc *desc, const int64_t *v, int64_t *w)
{
    int rank = desc->rank, a = call->axis, b = call->other;
    memcpy(w, v, (size_t)rank * sizeof *w);
    switch (call->kind) {
    case CROP:
        for (int k = 0; k < rank; k++)
            w[k] = call->begin[k] + v[k] * (call->step[0] ? call->step[k] : 1);
        break;
    case PERMUTE:
        for (int k = 0; k < rank; k++)
            w[call->axes[k]] = v[k];
        break;
    case TRANSPOSE:
        w[a] = v[b];
        w[b] = v[a];
        break;
    case REVERSE:
        w[a] = desc->dims[a] - 1 - v[a];
        break;
    case SQUEEZE:
        memcpy(w + a + 1, v + a, (size_t)(rank - a - 1) * sizeof *w);
        w[a] = 0;
        break;
    case UNSQUEEZE:
        memcpy(w + a, v + a + 1, (size_t)(rank - a) * sizeof *w);
        break;
    case BROADCAST:
        w[a] = 0;
        break;
    case SPLIT:
        w[a] = linear_of_index(b, call->size, v + a);
        memcpy(w + a + 1, v + a + b, (size_t)(rank - a - 1) * sizeof *w);
        break;
    case JOIN:
        index_of_linear(b, desc->dims + a, v[a], w + a);
        memcpy(w + a + b, v + a + 1, (size_t)(rank - a - b) * sizeof *w);
        break;
    case RESHAPE:
        index_of_linear(rank, desc->dims, linear_of_index(b, call->size, v), w);
        break;
    default:
        memcpy(w + b + 1, v + b, (size_t)(rank - b - 1) * sizeof *w);
        w[b] = v[a < b ? a : a - 1];
        if (a > b)
            w[a] = w[b];
        break;
    }
}

static inline int print_numbers(char *text, size_t size, const int64_t *numbers, int count)
{
    int length = snprintf(text, size, " {");
    for (int k = 0; k < count; k++)
        length += snprintf(text + length, size - (size_t)length, "%s%" PRId64, k ? "," : "", numbers[k]);
    return length + snprintf(text + length, size - (size_t)length, "}");
}

enum { VIEW_CALL_TEXT_SIZE = 3 * 21 * TSR_MAX_RANK + 100 };

/* "crop {0,3} {2,9} {1,2}"; desc is what the call is made on. */
static inline void print_call(const view_call *call, const tsr_desc *desc, char text[VIEW_CALL_TEXT_SIZE])
{
    static const char *const names[VIEW_KIND_COUNT] = {"crop",    "permute",   "transpose", "reverse",
                                                       "squeeze", "unsqueeze", "broadcast", "split",
                                                       "join",    "reshape",   "diagonal"};
    size_t size = VIEW_CALL_TEXT_SIZE;
    int length = snprintf(text, size, "%s", names[call->kind]);
    int64_t axes[TSR_MAX_RANK];
    for (int k = 0; k < TSR_MAX_RANK; k++)
        axes[k] = call->axes[k];
    if (call->kind == CROP) {
        length += print_numbers(text + length, size - (size_t)length, call->begin, desc->rank);
        length += print_numbers(text + length, size - (size_t)length, call->size, desc->rank);
        print_numbers(text + length, size - (size_t)length, call->step, call->step[0] ? desc->rank : 0);
        return;
    }
    if (call->kind == PERMUTE) {
        print_numbers(text + length, size - (size_t)length, axes, desc->rank);
        return;
    }
    if (call->kind != RESHAPE)
        length += snprintf(text + length, size - (size_t)length, " %d", call->axis);
    if (call->kind == TRANSPOSE || call->kind == DIAGONAL || call->kind == JOIN)
        length += snprintf(text + length, size - (size_t)length, " %d", call->other);
    if (call->kind == BROADCAST)
        print_numbers(text + length, size - (size_t)length, call->size, 1);
    if (call->kind == SPLIT || call->kind == RESHAPE)
        print_numbers(text + length, size - (size_t)length, call->size, call->other);
}

#endif
