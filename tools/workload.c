/* SPDX-License-Identifier: Apache-2.0 */
#include "workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "refuse.h"

static int64_t count_of(const tsr_problem *problem, int axis, int64_t group)
{
    if (axis < 0)
        return axis == TSR_ATTRIBUTE_TENSOR ? 1 : 0;
    int64_t dim = problem->src.dims[axis];
    return group > 1 ? dim / group + (dim % group != 0) : dim;
}

tsr_status workload_init(workload *work, const char *text, tsr_error *error)
{
    *work = (workload){0};
    tsr_status status = tsr_problem_parse(&work->problem, text, error);
    if (status != TSR_OK)
        return status;
    const tsr_problem *problem = &work->problem;
    int64_t means = count_of(problem, problem->mean_axis, problem->mean_group);
    int64_t scales = count_of(problem, problem->scale_axis, problem->scale_group);
    int64_t shifts = count_of(problem, problem->shift_axis, problem->shift_group);
    if (means < INT32_MAX && scales < INT32_MAX && shifts < INT32_MAX)
        work->factors = calloc((size_t)(means + scales + shifts + 1), sizeof *work->factors);
    if (!work->factors)
        return refuse(error, TSR_OUT_OF_MEMORY, "no memory for the factors");
    float *mean = work->factors, *scale = mean + means, *shift = scale + scales;
    for (int64_t i = 0; i < means; i++)
        mean[i] = (float)(i % 7 * 8 + 3);
    for (int64_t i = 0; i < scales; i++)
        scale[i] = 1.0f / (float)(i % 5 + 2);
    for (int64_t i = 0; i < shifts; i++)
        shift[i] = (float)(i % 3 * 10 - 5);
    work->options.mean = (tsr_factors){mean, means, problem->mean_axis, problem->mean_group};
    work->options.scale = (tsr_factors){scale, scales, problem->scale_axis, problem->scale_group};
    work->options.shift = (tsr_factors){shift, shifts, problem->shift_axis, problem->shift_group};
    work->options.beta = problem->has_beta ? 0.5f : 0.0f;
    work->options.reverse = problem->reverse;
    work->options.in_place = problem->in_place;
    return TSR_OK;
}

void workload_reset(workload *work)
{
    free(work->factors);
    *work = (workload){0};
}

/* Knuth's 64-bit linear congruential generator; the upper half of the state is the better one. */
static uint32_t next_word(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(*state >> 32);
}

static void put_word(unsigned char *bytes, size_t at, size_t size_bytes, uint32_t word)
{
    memcpy(bytes + at, &word, size_bytes - at < sizeof word ? size_bytes - at : sizeof word);
}

/* An f32 from 128 to 512, of either sign. */
static uint32_t ordinary_f32(uint32_t word)
{
    return (word & 0x80ffffffU) | 0x43000000U;
}

void fill_awkward(void *memory, size_t size_bytes, uint64_t seed)
{
    /*
     * zeros, infinities, NaNs, denormals, halves, limits of integers: as f32, and as pairs of
     * 16-bit floats
     */
    static const uint32_t awkward[] = {0x80000000U, 0x7f800000U, 0xff800000U, 0x7fc01234U, 0xffa00001U, 0x00000001U,
                                       0x007fffffU, 0x3f000000U, 0x3fc00000U, 0x40200000U, 0xc3008000U, 0x4f000000U,
                                       0xcf000000U, 0x437f8000U, 0x477ff000U, 0x33000000U, 0x7c007e00U, 0x7fffffffU};
    uint64_t state = seed * 2 + 0x9e3779b97f4a7c15U;
    for (size_t at = 0; at < size_bytes; at += sizeof(uint32_t)) {
        uint32_t word = next_word(&state);
        if (word % 5 == 0)
            word = awkward[word / 5 % (sizeof awkward / sizeof awkward[0])];
        else if (word % 5 == 1)
            word = ordinary_f32(word);
        put_word(memory, at, size_bytes, word);
    }
}

void fill_ordinary(void *memory, size_t size_bytes, tsr_dtype dtype)
{
    uint64_t state = 1;
    for (size_t at = 0; at < size_bytes; at += sizeof(uint32_t)) {
        uint32_t word = next_word(&state);
        if (dtype == TSR_F32)
            word = ordinary_f32(word);
        else if (dtype == TSR_F16) /* two of 64 to 128 */
            word = (word & 0x83ff83ffU) | 0x54005400U;
        else if (dtype == TSR_BF16) /* two of 128 to 512 */
            word = (word & 0x80ff80ffU) | 0x43004300U;
        else if (dtype == TSR_F8_E4M3) /* four of 16 to 30 */
            word = (word & 0x87878787U) | 0x58585858U;
        else if (dtype == TSR_F8_E5M2) /* four of 32 to 56 */
            word = (word & 0x83838383U) | 0x50505050U;
        else if (dtype == TSR_F64) /* half of one of 256 to 1024 */
            word = (word & 0x801fffffU) | 0x40700000U;
        put_word(memory, at, size_bytes, word);
    }
}

enum { GUARD = 128 };

/* Says which logical element lies at a byte of the destination, or that none does. */
static void explain_difference(const tsr_desc *desc, const unsigned char *expected, const unsigned char *found,
                               int64_t byte, tsr_error *error)
{
    int64_t bit = byte * 8 + __builtin_ctz((unsigned)(expected[byte] ^ found[byte]));
    int64_t offset = bit / tsr_dtype_bits(desc->dtype), at;
    for (int64_t linear = 0; linear < tsr_desc_elements(desc); linear++) {
        if (tsr_desc_offset_linear(desc, linear, &at, NULL) == TSR_OK && at == offset) {
            snprintf(error->message, sizeof error->message,
                     "element %" PRId64 " at offset %" PRId64 ": expected byte %02x, found %02x", linear, offset,
                     expected[byte], found[byte]);
            return;
        }
    }
    snprintf(error->message, sizeof error->message,
             "offset %" PRId64 ", which is no element: expected byte %02x, found %02x", offset, expected[byte],
             found[byte]);
}

tsr_status verify_plan(const tsr_plan *plan, const tsr_desc *src_desc, const void *src, const tsr_desc *dst_desc,
                       const tsr_reorder_options *options, bool *is_right, tsr_error *error)
{
    size_t bytes = (size_t)tsr_desc_size_bytes(dst_desc), src_bytes = (size_t)tsr_desc_size_bytes(src_desc);
    const bool in_place = options && options->in_place;
    if (in_place && src_bytes > bytes)
        bytes = src_bytes;
    size_t guarded = bytes + 2 * GUARD;
    unsigned char *found = malloc(guarded), *expected = malloc(guarded);
    tsr_status status;
    *is_right = false;
    if (!found || !expected) {
        status = refuse(error, TSR_OUT_OF_MEMORY, "no memory for %zu bytes", 2 * guarded);
        goto done;
    }
    memset(found, 0xcd, guarded);
    if (options && options->beta != 0) /* what is there counts */
        fill_ordinary(found + GUARD, bytes, dst_desc->dtype);
    else if (in_place && src_bytes > 0)
        memcpy(found + GUARD, src, src_bytes);
    memcpy(expected, found, guarded);
    status = tsr_plan_run(plan, in_place ? found + GUARD : src, found + GUARD, error);
    if (status == TSR_OK)
        status = tsr_reorder_by_definition(src_desc, in_place ? expected + GUARD : src, dst_desc, expected + GUARD,
                                           options, error);
    if (status != TSR_OK)
        goto done;
    size_t at = 0;
    while (at < guarded && found[at] == expected[at])
        at++;
    *is_right = at == guarded;
    if (!*is_right)
        explain_difference(dst_desc, expected + GUARD, found + GUARD, (int64_t)at - GUARD, error);
done:
    free(found);
    free(expected);
    return status;
}
