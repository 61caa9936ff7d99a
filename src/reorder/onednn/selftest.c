/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <string.h>

#include <tessera/text.h>

#include "base/alloc.h"
#include "reorder/onednn/onednn.h"

/*
 * Reorders that each class must do right, as layouts of a 4-D tensor. Dims are ragged, so that every block has a tail. A
 * strided side is a crop of a larger tensor in that order.
 */
static const char *const pairs[][2] = {
    {"abcd", "acdb"},         {"acdb", "abcd"},   {"abcd", "aBcd8b"},  {"aBcd8b", "abcd"},   {"abcd", "aBcd16b"},
    {"aBcd16b", "abcd"},      {"acdb", "aBcd16b"}, {"aBcd16b", "acdb"}, {"aBcd8b", "aBcd16b"}, {"abcd", "ABcd16b16a"},
    {"ABcd16b16a", "abcd"},   {"abcd", "cdba"},   {"cdba", "abcd"},    {"abcd", "ABcd4b16a4b"}, {"abcd", "abcd"},
    {"acdb", "acdb"},         {"abcd", "dcba"},   {"aBcd16b", "aBcd16b"}, {"abcd", "acbd"},
};
static const int64_t shapes[][4] = {{2, 19, 5, 7}, {1, 3, 16, 33}, {17, 32, 3, 3}, {3, 1, 1, 40}, {1, 64, 8, 8}};

enum { RANK = 4, PAIRS = sizeof pairs / sizeof pairs[0], SHAPES = sizeof shapes / sizeof shapes[0] };

/* A tensor cut out of a larger one: the same order, wider strides, and an offset. */
static tsr_status crop(tsr_desc *desc, tsr_dtype dtype, const int64_t *dims, const char *order)
{
    tsr_desc whole;
    int64_t wider[RANK], strides[RANK];
    for (int k = 0; k < RANK; k++)
        wider[k] = dims[k] + 1 + k;
    tsr_status status = tsr_desc_from_layout(&whole, dtype, RANK, wider, order, NULL);
    for (int i = 0; status == TSR_OK && i < RANK; i++)
        strides[whole.order[i]] = whole.strides[i];
    return status == TSR_OK ? tsr_desc_strided(desc, dtype, RANK, dims, strides, 3, NULL) : status;
}

static tsr_status make_side(tsr_desc *desc, tsr_dtype dtype, const int64_t *dims, const char *layout, bool strided)
{
    bool plain = strlen(layout) == RANK;
    return strided && plain ? crop(desc, dtype, dims, layout)
                            : tsr_desc_from_layout(desc, dtype, RANK, dims, layout, NULL);
}

/* Every bit pattern can come up, and those that tend to go wrong come up often. */
static void fill(unsigned char *bytes, size_t size)
{
    static const uint32_t awkward[] = {0x80000000U, 0x7f800000U, 0xff800000U, 0x7fc01234U, 0x00000001U, 0x007fffffU,
                                       0x3f000000U, 0x40200000U, 0xc3008000U, 0x4f000000U, 0x437f8000U, 0x477ff000U};
    uint64_t state = 0x9e3779b97f4a7c15U;
    for (size_t at = 0; at < size; at += sizeof(uint32_t)) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        uint32_t word = (uint32_t)(state >> 32);
        if (word % 5 == 0)
            word = awkward[word / 5 % (sizeof awkward / sizeof awkward[0])];
        memcpy(bytes + at, &word, size - at < sizeof word ? size - at : sizeof word);
    }
}

/* One reorder by oneDNN and by the definition, over the same bytes; buffers are compared whole. */
static tsr_status compare(const tsr_desc *src, const tsr_desc *dst, bool scaled, unsigned char *memory,
                          size_t src_bytes, size_t dst_bytes, char reason[TSR_REASON_SIZE])
{
    const float scale = 0.37f;
    unsigned char *in = memory, *theirs = in + src_bytes, *ours = theirs + dst_bytes;
    tsr_reorder_options options = {.scale = {&scale, scaled, 0}};
    tsr_onednn_problem problem = {.src = src,
                                  .dst = dst,
                                  .scale = scaled ? &scale : NULL,
                                  .scale_count = scaled,
                                  .allocator = tsr_default_allocator()};
    tsr_onednn *onednn = NULL;
    fill(in, src_bytes);
    memset(theirs, 0xcd, dst_bytes);
    memset(ours, 0xcd, dst_bytes);
    tsr_status status = tsr_onednn_create(&onednn, &problem, true, reason);
    if (status == TSR_UNSUPPORTED)
        return TSR_OK; /* what it does not do it cannot do wrong */
    if (status == TSR_OK)
        status = tsr_onednn_run(onednn, in, theirs, NULL);
    if (status == TSR_OK)
        status = tsr_reorder_by_definition(src, in, dst, ours, &options, NULL);
    tsr_onednn_free(&onednn);
    if (status == TSR_OK && memcmp(ours, theirs, dst_bytes) != 0) {
        char from[64], to[64];
        tsr_layout_print(src, from, sizeof from);
        tsr_layout_print(dst, to, sizeof to);
        tsr_decline(reason, "oneDNN failed its self-test: %s:%s>%s:%s differs", tsr_dtype_name(src->dtype), from,
                    tsr_dtype_name(dst->dtype), to);
        return TSR_UNSUPPORTED;
    }
    return status;
}

static tsr_status test_pair(const tsr_onednn_class *class, const char *const pair[2], const int64_t *dims,
                            char reason[TSR_REASON_SIZE])
{
    const tsr_allocator *allocator = tsr_default_allocator();
    for (int sides = class->strided ? 1 : 0; sides < (class->strided ? 4 : 1); sides++) {
        tsr_desc src, dst;
        tsr_status status = make_side(&src, class->src, dims, pair[0], sides & 1);
        if (status == TSR_OK)
            status = make_side(&dst, class->dst, dims, pair[1], sides & 2);
        if (status != TSR_OK)
            return status;
        size_t src_bytes = (size_t)tsr_desc_size_bytes(&src), dst_bytes = (size_t)tsr_desc_size_bytes(&dst);
        src_bytes = (src_bytes + 63) / 64 * 64;
        size_t bytes = src_bytes + 2 * dst_bytes;
        unsigned char *memory = tsr_allocate(allocator, bytes);
        if (!memory)
            return TSR_OUT_OF_MEMORY;
        status = compare(&src, &dst, class->scaled, memory, src_bytes, dst_bytes, reason);
        tsr_deallocate(allocator, memory, bytes);
        if (status != TSR_OK)
            return status;
    }
    return TSR_OK;
}

static tsr_status test_class(const tsr_onednn_class *class, char reason[TSR_REASON_SIZE])
{
    tsr_status status = TSR_OK;
    for (int s = 0; status == TSR_OK && s < SHAPES; s++)
        for (int p = 0; status == TSR_OK && p < PAIRS; p++)
            status = test_pair(class, pairs[p], shapes[s], reason);
    return status;
}

/* What is known of a class. */
struct verdict {
    bool is_known, is_trusted;
    char reason[TSR_REASON_SIZE];
};

bool tsr_onednn_is_trusted(const tsr_onednn_class *class, char reason[TSR_REASON_SIZE])
{
    static struct verdict verdicts[TSR_DTYPE_COUNT][TSR_DTYPE_COUNT][2][2];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct verdict *verdict = &verdicts[class->src][class->dst][class->scaled][class->strided];
    pthread_mutex_lock(&lock);
    if (!verdict->is_known) {
        tsr_status status = test_class(class, verdict->reason);
        verdict->is_known = status != TSR_OUT_OF_MEMORY;
        verdict->is_trusted = status == TSR_OK;
    }
    bool is_trusted = verdict->is_trusted;
    if (!is_trusted)
        memcpy(reason, verdict->reason, TSR_REASON_SIZE);
    pthread_mutex_unlock(&lock);
    return is_trusted;
}
