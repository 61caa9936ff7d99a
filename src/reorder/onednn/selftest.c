/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <tessera/text.h>

#include "base/alloc.h"
#include "base/int.h"
#include "reorder/onednn/onednn.h"

/* ---- the tensors ---- */

/*
 * Blocks with tails, full blocks, hardly anything, and a square of 8 x 8, for which oneDNN has code of its own. The
 * more axes and blocks, the shorter the others.
 */
enum { TAILS, FULL, TINY, SQUARE, SHAPES, MAX_SCALES = 512 };

static int64_t dim_of(int shape, int axis, int axes_and_blocks, int64_t block, bool is_innermost)
{
    static const int64_t length[] = {1, 131, 37, 17, 7, 4, 3};
    bool is_short = axes_and_blocks >= (int)(sizeof length / sizeof length[0]);
    int64_t usual = is_short ? 2 + axis % 2 : length[axes_and_blocks] + axis % 3;
    switch (shape) {
    case TAILS:
        return block > 1 ? block + tsr_min(block / 2, 3) : usual;
    case FULL:
        return block > 1 ? 2 * block : usual - 1;
    case SQUARE:
        return is_innermost ? tsr_max(block, 8) : block;
    default:
        return 1 + axis % 2;
    }
}

/* Do neighbours along this axis lie side by side, on either side? */
static bool is_innermost(const tsr_onednn_case *wanted, int axis)
{
    char src = wanted->src.tag[strlen(wanted->src.tag) - 1], dst = wanted->dst.tag[strlen(wanted->dst.tag) - 1];
    return src == 'a' + axis || dst == 'a' + axis;
}

/* The indices in one block of each axis, on either side, so that both get tails. */
static tsr_status blocks_of(const tsr_onednn_side *side, int rank, int64_t *block)
{
    tsr_layout layout;
    int64_t own[TSR_MAX_RANK];
    tsr_status status = tsr_layout_parse(&layout, side->tag, NULL);
    for (int k = 0; k < rank; k++)
        own[k] = 1;
    for (int i = rank; status == TSR_OK && i < layout.levels; i++)
        own[layout.order[i]] *= layout.block_dims[i];
    for (int k = 0; k < rank; k++)
        block[k] = tsr_max(block[k], own[k]);
    return status;
}

/* A tensor cut out of a larger one: the same order, wider strides, and an offset. */
static tsr_status crop(tsr_desc *desc, const tsr_onednn_side *side, int rank, const int64_t *dims)
{
    tsr_desc whole;
    int64_t wider[TSR_MAX_RANK] = {0}, strides[TSR_MAX_RANK];
    for (int k = 0; k < rank; k++)
        wider[k] = dims[k] + 1 + k % 3;
    tsr_status status = tsr_desc_from_layout(&whole, side->dtype, rank, wider, side->tag, NULL);
    for (int i = 0; status == TSR_OK && i < rank; i++)
        strides[whole.order[i]] = whole.strides[i] * (side->has_step ? 2 : 1);
    return status == TSR_OK ? tsr_desc_strided(desc, side->dtype, rank, dims, strides, 3, NULL) : status;
}

static tsr_status make_side(tsr_desc *desc, const tsr_onednn_side *side, int rank, const int64_t *dims)
{
    return side->has_gaps ? crop(desc, side, rank, dims)
                          : tsr_desc_from_layout(desc, side->dtype, rank, dims, side->tag, NULL);
}

/*
 * Words that tend to go wrong, as f32 and as two 16-bit floats: zeros, infinities, NaNs, denormals,
 * halves, limits of integers, and next to ties of f8 what f16 takes for these.
 */
static const uint32_t awkward[] = {
    0x80000000U, 0x7f800000U, 0xff800000U, 0x7fc01234U, 0xffa00001U, 0x00000001U, 0x007fffffU, 0x3f000000U, 0x40200000U,
    0xc3008000U, 0x4f000000U, 0xcf000000U, 0x437f8000U, 0x477ff000U, 0x33000000U, 0x7c017d00U, 0x7e00fc00U, 0x7c007bffU,
    0x00018001U, 0x7f81ff90U, 0x04008400U, 0x3f880008U, 0x3f97fff8U, 0x3f900008U, 0x3faffff8U};
enum { AWKWARD = sizeof awkward / sizeof awkward[0] };

/* Every other word is awkward, in turn; the rest is random. */
static void fill(unsigned char *bytes, size_t size, size_t round)
{
    uint64_t state = 0x9e3779b97f4a7c15U + round;
    for (size_t at = 0; at < size; at += sizeof(uint32_t)) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        size_t i = at / sizeof(uint32_t) + round;
        uint32_t word = i % 2 ? awkward[i / 2 % AWKWARD] : (uint32_t)(state >> 32);
        memcpy(bytes + at, &word, size - at < sizeof word ? size - at : sizeof word);
    }
}

/* ---- the comparison ---- */

/* One reorder, to be done twice over the same bytes. */
struct trial {
    char implementation[TSR_ONEDNN_NAME_SIZE]; /* that oneDNN took for it */
    tsr_desc src, dst;
    float scales[MAX_SCALES];
    int64_t scale_count;
    int scale_axis;
};

static tsr_status run_onednn(struct trial *trial, const void *src, void *dst, char reason[TSR_REASON_SIZE])
{
    tsr_onednn *onednn = NULL;
    tsr_onednn_problem problem = {.src = &trial->src,
                                  .dst = &trial->dst,
                                  .scale = trial->scale_count ? trial->scales : NULL,
                                  .scale_count = trial->scale_count,
                                  .scale_axis = trial->scale_axis,
                                  .allocator = tsr_default_allocator()};
    tsr_status status = tsr_onednn_create(&onednn, &problem, true, reason);
    if (status == TSR_OK)
        status = tsr_onednn_run(onednn, src, dst, NULL);
    if (status == TSR_OK)
        snprintf(trial->implementation, sizeof trial->implementation, "%s", tsr_onednn_implementation(onednn));
    tsr_onednn_free(&onednn);
    return status;
}

static tsr_status run_definition(const struct trial *trial, const void *src, void *dst)
{
    tsr_reorder_options options = {.scale = {trial->scales, trial->scale_count, trial->scale_axis, 0}};
    return tsr_reorder_by_definition(&trial->src, src, &trial->dst, dst, &options, NULL);
}

/* Scales that shrink, that overflow integers and then floats, and that make zeros, -0 and NaN. */
static void set_scales(struct trial *trial, size_t round)
{
    static const float scales[] = {0.37f, 5.25f, -1.5f, 1e8f, -3e38f, 0.0f, 1e-40f};
    for (int64_t i = 0; i < trial->scale_count; i++)
        trial->scales[i] = scales[((size_t)i + round) % (sizeof scales / sizeof scales[0])];
}

/*
 * Does it once more with other data. Buffers are compared whole: elements, padding, and what must
 * not be touched.
 */
static tsr_status compare(struct trial *trial, unsigned char *src, size_t src_bytes, size_t dst_bytes, size_t round,
                          char reason[TSR_REASON_SIZE])
{
    unsigned char *theirs = src + src_bytes, *ours = theirs + dst_bytes;
    fill(src, src_bytes, round);
    set_scales(trial, round);
    memset(theirs, 0xcd, 2 * dst_bytes);
    tsr_status status = run_onednn(trial, src, theirs, reason);
    if (status == TSR_OK)
        status = run_definition(trial, src, ours);
    if (status == TSR_OK && memcmp(ours, theirs, dst_bytes) != 0) {
        char from[64], to[64];
        tsr_desc_print(&trial->src, from, sizeof from);
        tsr_desc_print(&trial->dst, to, sizeof to);
        tsr_decline(reason, "oneDNN failed its self-test: %s to %s differs", from, to);
        status = TSR_UNSUPPORTED;
    }
    return status;
}

/* As often as it takes for every awkward word to come up in many places, and every scale. */
static tsr_status compare_often(struct trial *trial, char reason[TSR_REASON_SIZE])
{
    const tsr_allocator *allocator = tsr_default_allocator();
    size_t src_bytes = ((size_t)tsr_desc_size_bytes(&trial->src) + 63) / 64 * 64;
    size_t dst_bytes = ((size_t)tsr_desc_size_bytes(&trial->dst) + 63) / 64 * 64, bytes = src_bytes + 2 * dst_bytes;
    size_t rounds = (trial->scale_count ? 7 : 1) + 16 * AWKWARD * sizeof awkward[0] / src_bytes;
    unsigned char *memory = tsr_allocate(allocator, bytes);
    tsr_status status = memory ? TSR_OK : TSR_OUT_OF_MEMORY;
    for (size_t round = 0; status == TSR_OK && round < rounds; round++)
        status = compare(trial, memory, src_bytes, dst_bytes, round, reason);
    tsr_deallocate(allocator, memory, bytes);
    return status;
}

static tsr_status test_shape(const tsr_onednn_case *wanted, int shape, char met[TSR_ONEDNN_NAME_SIZE],
                             char reason[TSR_REASON_SIZE])
{
    struct trial trial = {.scale_axis = wanted->scale_axis};
    int64_t dims[TSR_MAX_RANK], block[TSR_MAX_RANK] = {0};
    int axes_and_blocks = wanted->rank;
    tsr_status status = blocks_of(&wanted->src, wanted->rank, block);
    if (status == TSR_OK)
        status = blocks_of(&wanted->dst, wanted->rank, block);
    for (int k = 0; k < wanted->rank; k++)
        axes_and_blocks += block[k] > 1;
    for (int k = 0; k < wanted->rank; k++)
        dims[k] = dim_of(shape, k, axes_and_blocks, block[k], is_innermost(wanted, k));
    if (status == TSR_OK)
        status = make_side(&trial.src, &wanted->src, wanted->rank, dims);
    if (status == TSR_OK)
        status = make_side(&trial.dst, &wanted->dst, wanted->rank, dims);
    if (status != TSR_OK)
        return status;
    if (wanted->scaled)
        trial.scale_count = wanted->scale_axis >= 0 ? tsr_min(dims[wanted->scale_axis], MAX_SCALES) : 1;
    status = compare_often(&trial, reason);
    memcpy(met, trial.implementation, sizeof trial.implementation);
    return status;
}

/* ---- what is known, for the life of the process ---- */

struct verdict {
    struct verdict *next;
    tsr_onednn_case of;
    bool is_trusted;
    char met[SHAPES][TSR_ONEDNN_NAME_SIZE]; /* the implementations that were tested */
    char reason[TSR_REASON_SIZE];
};

static bool passes(struct verdict *made)
{
    tsr_status status = TSR_OK;
    for (int shape = 0; status == TSR_OK && shape < SHAPES; shape++)
        status = test_shape(&made->of, shape, made->met[shape], made->reason);
    return status == TSR_OK;
}

/*
 * oneDNN chooses by the dims, too: an implementation that no shape of the test has led to may be
 * wrong where the others are right.
 */
static bool has_met(const struct verdict *verdict, const char *implementation)
{
    for (int shape = 0; shape < SHAPES; shape++)
        if (strcmp(verdict->met[shape], implementation) == 0)
            return true;
    return false;
}

static bool is_same_side(const tsr_onednn_side *a, const tsr_onednn_side *b)
{
    return a->dtype == b->dtype && a->has_gaps == b->has_gaps && a->has_step == b->has_step &&
           strcmp(a->tag, b->tag) == 0;
}

static bool is_same_case(const tsr_onednn_case *a, const tsr_onednn_case *b)
{
    return a->rank == b->rank && a->scaled == b->scaled && a->scale_axis == b->scale_axis &&
           is_same_side(&a->src, &b->src) && is_same_side(&a->dst, &b->dst);
}

/* The verdict on a case, found or made; NULL when there is no memory. */
static const struct verdict *verdict_on(const tsr_onednn_case *wanted, struct verdict **known)
{
    for (const struct verdict *verdict = *known; verdict; verdict = verdict->next)
        if (is_same_case(&verdict->of, wanted))
            return verdict;
    struct verdict *made = tsr_allocate_zeroed(tsr_default_allocator(), 1, sizeof *made);
    if (!made)
        return NULL;
    made->of = *wanted;
    made->is_trusted = passes(made);
    made->next = *known;
    *known = made;
    return made;
}

bool tsr_onednn_is_trusted(const tsr_onednn_case *wanted, const char *implementation, char reason[TSR_REASON_SIZE])
{
    static struct verdict *known;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    const struct verdict *verdict = verdict_on(wanted, &known);
    bool is_trusted = verdict && verdict->is_trusted;
    if (!is_trusted)
        tsr_decline(reason, "%s", verdict && verdict->reason[0] ? verdict->reason : "no memory for oneDNN's self-test");
    else if (!has_met(verdict, implementation))
        is_trusted = tsr_decline(reason, "oneDNN's self-test did not come across its %s", implementation);
    pthread_mutex_unlock(&lock);
    return is_trusted;
}
