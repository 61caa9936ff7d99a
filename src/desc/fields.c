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

static size_t bytes_in_desc(const struct tsr_compact_head *head, const struct array *array)
{
    return array->element_bytes * (array->is_of_axes ? head->rank : head->levels);
}

static size_t bytes_of(const struct tsr_compact_head *head, const struct array *array)
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

static struct tsr_compact_head head_of(const tsr_desc *desc)
{
    struct tsr_compact_head head = {.offset = desc->offset,
                                    .dtype = (uint16_t)desc->dtype,
                                    .rank = (uint8_t)desc->rank,
                                    .levels = (uint8_t)desc->levels,
                                    .has_pads = has_any(desc->pad_before, desc->levels),
                                    .has_windows = has_any(desc->step, desc->rank)};
    for (int i = 0; i < ARRAYS; i++)
        head.array_bytes = (uint16_t)(head.array_bytes + bytes_of(&head, &arrays[i]));
    return head;
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
    const struct tsr_compact_head of_a = head_of(a), of_b = head_of(b);
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
    const struct tsr_compact_head head = head_of(desc);
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

size_t tsr_compact_size(const tsr_desc *desc)
{
    return sizeof(tsr_compact_desc) + head_of(desc).array_bytes;
}

void tsr_compact(tsr_compact_desc *compact, const tsr_desc *desc)
{
    const struct tsr_compact_head head = head_of(desc);
    unsigned char *at = compact->arrays;
    memcpy(compact, &head, sizeof head);
    for (int i = 0; i < ARRAYS; i++) {
        size_t bytes = bytes_of(&head, &arrays[i]);
        memcpy(at, array_of(desc, &arrays[i]), bytes);
        at += bytes;
    }
}

void tsr_expand(tsr_desc *desc, const tsr_compact_desc *compact)
{
    const unsigned char *at = compact->arrays;
    const struct tsr_compact_head *head = &compact->head;
    desc->dtype = head->dtype;
    desc->rank = head->rank;
    desc->levels = head->levels;
    desc->offset = head->offset;
    for (int i = 0; i < ARRAYS; i++) {
        char *array = (char *)desc + arrays[i].offset;
        size_t bytes = bytes_of(head, &arrays[i]);
        if (bytes == 0)
            memset(array, 0, bytes_in_desc(head, &arrays[i]));
        memcpy(array, at, bytes);
        at += bytes;
    }
}

bool tsr_compact_is(const tsr_compact_desc *compact, const tsr_desc *desc)
{
    const struct tsr_compact_head *head = &compact->head;
    const unsigned char *at = compact->arrays;
    if (head->offset != desc->offset || head->dtype != desc->dtype || head->rank != desc->rank ||
        head->levels != desc->levels)
        return false;
    for (int i = 0; i < ARRAYS; i++) {
        size_t bytes = bytes_of(head, &arrays[i]);
        if (memcmp(at, array_of(desc, &arrays[i]), bytes) != 0)
            return false;
        at += bytes;
    }
    return (head->has_pads || !has_any(desc->pad_before, desc->levels)) &&
           (head->has_windows || !has_any(desc->step, desc->rank));
}
