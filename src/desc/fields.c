/* SPDX-License-Identifier: Apache-2.0 */
#include "desc/fields.h"

#include <string.h>

/* The arrays, as their order is in memory. */
static const struct array {
    size_t offset, element_bytes;
    bool is_of_axes; /* or else of levels */
    enum { ALWAYS, WITH_PADS, WITH_WINDOWS } when;
} arrays[] = {
    {offsetof(tsr_desc, dims), sizeof(int64_t), true, ALWAYS},
    {offsetof(tsr_desc, block_dims), sizeof(int64_t), false, ALWAYS},
    {offsetof(tsr_desc, strides), sizeof(int64_t), false, ALWAYS},
    {offsetof(tsr_desc, pad_before), sizeof(int64_t), false, WITH_PADS},
    {offsetof(tsr_desc, first), sizeof(int64_t), true, WITH_WINDOWS},
    {offsetof(tsr_desc, step), sizeof(int64_t), true, WITH_WINDOWS},
    {offsetof(tsr_desc, order), sizeof(uint8_t), false, ALWAYS},
};

enum { ARRAYS = sizeof arrays / sizeof *arrays };

/* What is there besides them, and which of them are. */
struct head {
    int64_t offset;
    uint16_t dtype;
    uint8_t rank, levels;
    bool has_pads, has_windows;
    uint16_t unused;
};

static size_t bytes_in_desc(const struct head *head, const struct array *array)
{
    return array->element_bytes * (array->is_of_axes ? head->rank : head->levels);
}

static size_t bytes_of(const struct head *head, const struct array *array)
{
    if ((array->when == WITH_PADS && !head->has_pads) || (array->when == WITH_WINDOWS && !head->has_windows))
        return 0;
    return bytes_in_desc(head, array);
}

static bool has_any(const int64_t *values, int count)
{
    int64_t bits = 0;
    for (int i = 0; i < count; i++)
        bits |= values[i];
    return bits != 0;
}

static struct head head_of(const tsr_desc *desc)
{
    return (struct head){.offset = desc->offset,
                         .dtype = (uint16_t)desc->dtype,
                         .rank = (uint8_t)desc->rank,
                         .levels = (uint8_t)desc->levels,
                         .has_pads = has_any(desc->pad_before, desc->levels),
                         .has_windows = has_any(desc->step, desc->rank)};
}

static const unsigned char *array_of(const tsr_desc *desc, const struct array *array)
{
    return (const unsigned char *)desc + array->offset;
}

bool tsr_is_same_tensor(const tsr_desc *a, const tsr_desc *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
           memcmp(a->dims, b->dims, (size_t)a->rank * sizeof a->dims[0]) == 0;
}

bool tsr_fields_are_same(const tsr_desc *a, const tsr_desc *b)
{
    const struct head of_a = head_of(a), of_b = head_of(b);
    bool is_same = memcmp(&of_a, &of_b, sizeof of_a) == 0;
    for (int i = 0; i < ARRAYS && is_same; i++)
        is_same = memcmp(array_of(a, &arrays[i]), array_of(b, &arrays[i]), bytes_of(&of_a, &arrays[i])) == 0;
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

uint64_t tsr_fields_hash(const tsr_desc *desc)
{
    const struct head head = head_of(desc);
    uint64_t hash = hash_bytes(0xcbf29ce484222325, &head, sizeof head);
    for (int i = 0; i < ARRAYS; i++)
        hash = hash_bytes(hash, array_of(desc, &arrays[i]), bytes_of(&head, &arrays[i]));
    return hash;
}

bool tsr_span_without_gaps(const tsr_desc *desc, int64_t *first, int64_t *end)
{
    tsr_desc_span(desc, first, end);
    return *end - *first == tsr_desc_padded_elements(desc);
}

/* ---- kept ---- */

enum { DIMS = 1, STRIDES = 2, PADS = 4, WINDOWS = 8 };

/* Arrays of int64_t that are stored if they do not follow from block_dims and order, or are not all 0. */
static const struct kept {
    size_t offset;
    bool is_of_axes; /* or else of levels */
    uint8_t bit;
} kept[] = {
    {offsetof(tsr_desc, dims), true, DIMS},        {offsetof(tsr_desc, strides), false, STRIDES},
    {offsetof(tsr_desc, pad_before), false, PADS}, {offsetof(tsr_desc, first), true, WINDOWS},
    {offsetof(tsr_desc, step), true, WINDOWS},
};

enum { KEPT = sizeof kept / sizeof *kept };

static size_t bytes_of_kept(const struct tsr_compact_head *head, const struct kept *array)
{
    return head->stored & array->bit ? sizeof(int64_t) * (array->is_of_axes ? head->rank : head->levels) : 0;
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

static struct tsr_compact_head compact_head(const tsr_desc *desc)
{
    int64_t bits = 0;
    for (int i = 0; i < desc->levels; i++)
        bits |= desc->block_dims[i];
    return (struct tsr_compact_head){
        .offset = desc->offset,
        .dtype = (uint16_t)desc->dtype,
        .rank = (uint8_t)desc->rank,
        .levels = (uint8_t)desc->levels,
        .stored = (uint8_t)((dims_follow(desc) ? 0 : DIMS) | (strides_follow(desc) ? 0 : STRIDES) |
                            (has_any(desc->pad_before, desc->levels) ? PADS : 0) |
                            (has_any(desc->step, desc->rank) ? WINDOWS : 0)),
        .width = bits >> 32 == 0 ? sizeof(uint32_t) : sizeof(int64_t),
    };
}

static size_t bytes_of_arrays(const struct tsr_compact_head *head)
{
    size_t bytes = (size_t)head->levels * (head->width + sizeof(uint8_t));
    for (int k = 0; k < KEPT; k++)
        bytes += bytes_of_kept(head, &kept[k]);
    return bytes;
}

size_t tsr_compact_size(const tsr_desc *desc)
{
    const struct tsr_compact_head head = compact_head(desc);
    return sizeof(tsr_compact_desc) + bytes_of_arrays(&head);
}

/* Gives the bytes that the head tells of. */
static void write_arrays(unsigned char *at, const struct tsr_compact_head *head, const tsr_desc *desc)
{
    for (int k = 0; k < KEPT; k++) {
        const size_t bytes = bytes_of_kept(head, &kept[k]);
        memcpy(at, (const char *)desc + kept[k].offset, bytes);
        at += bytes;
    }
    for (int i = 0; i < head->levels; i++, at += head->width) {
        const uint32_t narrow = (uint32_t)desc->block_dims[i];
        memcpy(at, head->width == sizeof narrow ? (const void *)&narrow : &desc->block_dims[i], head->width);
    }
    memcpy(at, desc->order, head->levels);
}

void tsr_compact(tsr_compact_desc *compact, const tsr_desc *desc)
{
    compact->head = compact_head(desc);
    write_arrays(compact->arrays, &compact->head, desc);
}

void tsr_expand(tsr_desc *desc, const tsr_compact_desc *compact)
{
    const unsigned char *at = compact->arrays;
    const struct tsr_compact_head *head = &compact->head;
    desc->dtype = head->dtype;
    desc->rank = head->rank;
    desc->levels = head->levels;
    desc->offset = head->offset;
    for (int k = 0; k < KEPT; k++) {
        char *array = (char *)desc + kept[k].offset;
        const size_t bytes = bytes_of_kept(head, &kept[k]);
        if (bytes == 0)
            memset(array, 0, sizeof(int64_t) * (kept[k].is_of_axes ? head->rank : head->levels));
        memcpy(array, at, bytes);
        at += bytes;
    }
    memcpy(desc->order, at + head->levels * head->width, head->levels);
    for (int i = 0; i < head->levels; i++, at += head->width) {
        uint32_t narrow;
        memcpy(head->width == sizeof narrow ? (void *)&narrow : &desc->block_dims[i], at, head->width);
        if (head->width == sizeof narrow)
            desc->block_dims[i] = narrow;
        if (!(head->stored & DIMS))
            desc->dims[desc->order[i]] = desc->block_dims[i];
    }
    for (int i = head->levels - 1; i >= 0 && !(head->stored & STRIDES); i--)
        desc->strides[i] = dense_stride(desc, i);
}

bool tsr_compact_is(const tsr_compact_desc *compact, const tsr_desc *desc)
{
    unsigned char arrays[sizeof(tsr_desc)];
    const struct tsr_compact_head *head = &compact->head;
    if (head->offset != desc->offset || head->dtype != desc->dtype || head->rank != desc->rank ||
        head->levels != desc->levels)
        return false;
    const struct tsr_compact_head other = compact_head(desc);
    if (head->stored != other.stored || head->width != other.width)
        return false;
    write_arrays(arrays, head, desc);
    return memcmp(compact->arrays, arrays, bytes_of_arrays(head)) == 0;
}
