/* SPDX-License-Identifier: Apache-2.0 */
#include "desc/fields.h"

#include <string.h>

/* ---- what counts ---- */

enum { DIMS = 1, STRIDES = 2, PADS = 4, WINDOWS = 8, ALWAYS = 16 };

/* Arrays of int64_t that count always, or if they do not follow from block_dims and order, or are not all 0. Strides
 * are last, as what is kept of them is found with block_dims. */
static const struct kept {
    size_t offset;
    bool is_of_axes; /* or else of levels */
    uint8_t bit;
} kept[] = {
    {offsetof(tsr_desc, dims), true, DIMS},          {offsetof(tsr_desc, pad_before), false, PADS},
    {offsetof(tsr_desc, first), true, WINDOWS},      {offsetof(tsr_desc, step), true, WINDOWS},
    {offsetof(tsr_desc, block_dims), false, ALWAYS}, {offsetof(tsr_desc, strides), false, STRIDES},
};

enum { KEPT = sizeof kept / sizeof *kept };

static int count_of_kept(const struct tsr_compact_head *head, const struct kept *array)
{
    return head->stored & array->bit ? array->is_of_axes ? head->rank : head->levels : 0;
}

static const int64_t *kept_of(const tsr_desc *desc, const struct kept *array)
{
    return (const int64_t *)(const void *)((const char *)desc + array->offset);
}

static size_t bytes_of_kept(const struct tsr_compact_head *head, const struct kept *array)
{
    return sizeof(int64_t) * (size_t)count_of_kept(head, array);
}

static bool has_any(const int64_t *values, int count)
{
    int64_t bits = 0;
    for (int i = 0; i < count; i++)
        bits |= values[i];
    return bits != 0;
}

/* Has each axis one level, which is as long? */
static bool dims_follow(const tsr_desc *desc)
{
    bool follow = desc->levels == desc->rank;
    for (int i = 0; i < desc->levels && follow; i++)
        follow = desc->order[i] < desc->rank && desc->dims[desc->order[i]] == desc->block_dims[i];
    return follow;
}

/* How far steps of level i are from each other, if all levels are dense; those of no elements are what they are. */
static int64_t dense_stride(const tsr_desc *desc, int i)
{
    if (i + 1 == desc->levels)
        return 1;
    return (int64_t)((uint64_t)desc->strides[i + 1] * (uint64_t)desc->block_dims[i + 1]);
}

static bool strides_follow(const tsr_desc *desc)
{
    bool follow = true;
    for (int i = desc->levels - 1; i >= 0 && follow; i--)
        follow = desc->strides[i] == dense_stride(desc, i);
    return follow;
}

static struct tsr_compact_head head_of(const tsr_desc *desc)
{
    return (struct tsr_compact_head){
        .offset = desc->offset,
        .dtype = (uint16_t)desc->dtype,
        .rank = (uint8_t)desc->rank,
        .levels = (uint8_t)desc->levels,
        .stored = (uint8_t)(ALWAYS | (dims_follow(desc) ? 0 : DIMS) | (strides_follow(desc) ? 0 : STRIDES) |
                            (has_any(desc->pad_before, desc->levels) ? PADS : 0) |
                            (has_any(desc->step, desc->rank) ? WINDOWS : 0)),
    };
}

/* ---- fields ---- */

bool tsr_is_same_tensor(const tsr_desc *a, const tsr_desc *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
           memcmp(a->dims, b->dims, (size_t)a->rank * sizeof a->dims[0]) == 0;
}

void tsr_fields_copy(tsr_desc *to, const tsr_desc *from)
{
    to->dtype = from->dtype;
    to->rank = from->rank;
    to->levels = from->levels;
    to->offset = from->offset;
    for (int k = 0; k < from->rank; k++) {
        to->dims[k] = from->dims[k];
        to->first[k] = from->first[k];
        to->step[k] = from->step[k];
    }
    for (int i = 0; i < from->levels; i++) {
        to->order[i] = from->order[i];
        to->block_dims[i] = from->block_dims[i];
        to->strides[i] = from->strides[i];
        to->pad_before[i] = from->pad_before[i];
    }
}

bool tsr_fields_are_same(const tsr_desc *a, const tsr_desc *b)
{
    if (a->rank != b->rank || a->levels != b->levels)
        return false;
    const struct tsr_compact_head head = head_of(a), other = head_of(b);
    bool is_same = memcmp(&head, &other, sizeof head) == 0 && memcmp(a->order, b->order, head.levels) == 0;
    for (int k = 0; k < KEPT && is_same; k++)
        is_same = memcmp(kept_of(a, &kept[k]), kept_of(b, &kept[k]), bytes_of_kept(&head, &kept[k])) == 0;
    return is_same;
}

/* FNV-1a by Fowler, Noll and Vo, over eight bytes at a time. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const uint64_t prime = 0x100000001b3;
    for (size_t i = 0; i < count; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + i, count - i < sizeof word ? count - i : sizeof word);
        hash = (hash ^ word) * prime;
        hash ^= hash >> 32;
    }
    return hash;
}

int64_t tsr_padded_dim(const tsr_desc *desc, int axis)
{
    int64_t indices = 1;
    for (int i = 0; i < desc->levels; i++)
        indices *= desc->order[i] == axis ? desc->block_dims[i] : 1;
    return indices;
}

bool tsr_find_blocks(const tsr_desc *desc, int axis, int64_t *indices, int64_t *stride)
{
    int64_t covered = 1;
    for (int i = desc->levels - 1; i >= 0; i--) {
        if (desc->order[i] != axis)
            continue;
        *indices = covered;
        *stride = desc->strides[i];
        covered *= desc->block_dims[i];
    }
    return covered == desc->dims[axis] && desc->step[axis] == 0;
}

int64_t tsr_indices_of_blocks(const tsr_desc *desc, int axis)
{
    int64_t indices = 1, stride;
    tsr_find_blocks(desc, axis, &indices, &stride);
    return indices;
}

uint64_t tsr_fields_hash(const tsr_desc *desc)
{
    const struct tsr_compact_head head = head_of(desc);
    uint64_t hash = hash_bytes(0xcbf29ce484222325, &head, sizeof head);
    for (int k = 0; k < KEPT; k++)
        hash = hash_bytes(hash, kept_of(desc, &kept[k]), bytes_of_kept(&head, &kept[k]));
    return hash_bytes(hash, desc->order, head.levels);
}

bool tsr_span_without_gaps(const tsr_desc *desc, int64_t *first, int64_t *end)
{
    tsr_desc_span(desc, first, end);
    return *end - *first == tsr_desc_padded_elements(desc);
}

/* ---- kept ---- */

/* Seven bits to a byte, lowest first, as protobuf writes its varints. */
static size_t bytes_of_number(int64_t number)
{
    size_t bytes = 1;
    for (uint64_t rest = (uint64_t)number; rest >= 0x80; rest >>= 7)
        bytes++;
    return bytes;
}

/* These two return what is behind it. */
static unsigned char *write_number(unsigned char *at, int64_t number)
{
    uint64_t rest = (uint64_t)number;
    for (; rest >= 0x80; rest >>= 7)
        *at++ = (unsigned char)(rest | 0x80);
    *at++ = (unsigned char)rest;
    return at;
}

static const unsigned char *read_number(const unsigned char *at, int64_t *number)
{
    uint64_t bits = *at & 0x7f;
    for (int shift = 7; *at++ & 0x80; shift += 7)
        bits |= (uint64_t)(*at & 0x7f) << shift;
    *number = (int64_t)bits;
    return at;
}

/* What is kept of a stride: how far it is from a dense one, which is 0 for most, with the sign in the lowest bit. */
static int64_t gap_of(const tsr_desc *desc, int level)
{
    const uint64_t gap = (uint64_t)desc->strides[level] - (uint64_t)dense_stride(desc, level);
    return (int64_t)(gap >> 63 ? ~(gap << 1) : gap << 1);
}

static int64_t stride_with_gap(const tsr_desc *desc, int level, int64_t kept_gap)
{
    const uint64_t half = (uint64_t)kept_gap >> 1, gap = kept_gap & 1 ? ~half : half;
    return (int64_t)((uint64_t)dense_stride(desc, level) + gap);
}

/* Number i of an array, as it is kept: strides from the innermost one outwards, as each is found by the one inside. */
static int64_t number_of(const tsr_desc *desc, const struct kept *array, int i)
{
    return array->bit == STRIDES ? gap_of(desc, desc->levels - 1 - i) : kept_of(desc, array)[i];
}

size_t tsr_compact_size(const tsr_desc *desc)
{
    const struct tsr_compact_head head = head_of(desc);
    size_t bytes = sizeof(tsr_compact_desc) + head.levels;
    for (int k = 0; k < KEPT; k++)
        for (int i = 0; i < count_of_kept(&head, &kept[k]); i++)
            bytes += bytes_of_number(number_of(desc, &kept[k], i));
    return bytes;
}

size_t tsr_compact_room(const tsr_desc *desc)
{
    const size_t alignment = sizeof(int64_t);
    return (tsr_compact_size(desc) + alignment - 1) / alignment * alignment;
}

void tsr_compact(tsr_compact_desc *compact, const tsr_desc *desc)
{
    const struct tsr_compact_head head = head_of(desc);
    unsigned char *at = compact->arrays;
    compact->head = head;
    memcpy(at, desc->order, head.levels);
    at += head.levels;
    for (int k = 0; k < KEPT; k++)
        for (int i = 0; i < count_of_kept(&head, &kept[k]); i++)
            at = write_number(at, number_of(desc, &kept[k], i));
}

void tsr_expand(tsr_desc *desc, const tsr_compact_desc *compact)
{
    const struct tsr_compact_head *head = &compact->head;
    const unsigned char *order = compact->arrays, *at = order + head->levels;
    int64_t gap = 0;
    desc->dtype = head->dtype;
    desc->rank = head->rank;
    desc->levels = head->levels;
    desc->offset = head->offset;
    for (int k = 0; k < KEPT && kept[k].bit != STRIDES; k++) {
        int64_t *array = (int64_t *)(void *)((char *)desc + kept[k].offset);
        const int count = kept[k].is_of_axes ? head->rank : head->levels;
        for (int i = 0; i < count; i++)
            if (head->stored & kept[k].bit)
                at = read_number(at, &array[i]);
            else
                array[i] = 0;
    }
    for (int i = head->levels - 1; i >= 0; i--) {
        if (head->stored & STRIDES)
            at = read_number(at, &gap);
        desc->strides[i] = stride_with_gap(desc, i, gap);
    }
    for (int i = 0; i < head->levels; i++) {
        desc->order[i] = order[i];
        if (!(head->stored & DIMS))
            desc->dims[order[i]] = desc->block_dims[i];
    }
}

bool tsr_compact_is(const tsr_compact_desc *compact, const tsr_desc *desc)
{
    if (compact->head.rank != desc->rank || compact->head.levels != desc->levels)
        return false;
    const struct tsr_compact_head head = head_of(desc);
    if (memcmp(&compact->head, &head, sizeof head) != 0 || memcmp(compact->arrays, desc->order, head.levels) != 0)
        return false;
    const unsigned char *at = compact->arrays + head.levels;
    for (int k = 0; k < KEPT; k++)
        for (int i = 0; i < count_of_kept(&head, &kept[k]); i++) {
            int64_t number;
            at = read_number(at, &number);
            if (number != number_of(desc, &kept[k], i))
                return false;
        }
    return true;
}
