/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A descriptor, a newline, and operations on it: one byte says which, those behind it the axes and
 * sizes, small or huge. Every view is a descriptor.
 */
#include <tessera/algebra.h>
#include <tessera/text.h>
#include <tessera/view.h>

#include "target.h"

/* The bytes that are left. */
struct bytes {
    const uint8_t *at, *end;
};

static uint8_t take(struct bytes *bytes)
{
    return bytes->at < bytes->end ? *bytes->at++ : 0;
}

/* 0 to 63; a few numbers at the limits; or below zero. */
static int64_t take_number(struct bytes *bytes)
{
    static const int64_t limits[] = {INT64_MAX, INT64_MIN, INT64_MAX / 2, 1LL << 32, INT64_MAX - 1, -1, 1 << 16, 4096};
    uint8_t byte = take(bytes);
    return byte < 200 ? byte % 64 : limits[byte % 8];
}

static int take_axis(struct bytes *bytes)
{
    return (int)(take(bytes) % 8) - 1;
}

static tsr_status view_once(tsr_desc *desc, struct bytes *bytes)
{
    int64_t numbers[3][TSR_MAX_RANK];
    int axes[TSR_MAX_RANK], axis;
    uint8_t op = take(bytes);
    for (int k = 0; k < TSR_MAX_RANK; k++)
        axes[k] = k < 8 && op % 12 == 1 ? take_axis(bytes) : 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < TSR_MAX_RANK; k++)
            numbers[i][k] = k < 4 && (op % 12 == 0 || i == 0) ? take_number(bytes) : 1;
    axis = take_axis(bytes);
    switch (op % 12) {
    case 0:
        return tsr_view_crop(desc, desc, numbers[0], numbers[1], op > 128 ? numbers[2] : NULL, NULL);
    case 1:
        return tsr_view_permute(desc, desc, axes, NULL);
    case 2:
        return tsr_view_transpose(desc, desc, axis, take_axis(bytes), NULL);
    case 3:
        return tsr_view_reverse(desc, desc, axis, NULL);
    case 4:
        return tsr_view_squeeze(desc, desc, axis, NULL);
    case 5:
        return tsr_view_unsqueeze(desc, desc, axis, NULL);
    case 6:
        return tsr_view_broadcast(desc, desc, axis, numbers[0][0], NULL);
    case 7:
        return tsr_view_split(desc, desc, axis, 2 + op % 2, numbers[0], NULL);
    case 8:
        return tsr_view_join(desc, desc, axis, take_axis(bytes), NULL);
    case 9:
        return tsr_view_diagonal(desc, desc, axis, take_axis(bytes), NULL);
    case 10:
        return tsr_desc_coalesce(desc, desc, NULL);
    default:
        return tsr_view_reshape(desc, desc, 1 + op % 4, numbers[0], NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
    tsr_desc desc, other;
    if (!newline)
        return 0;
    char *text = fuzz_text(data, (size_t)(newline - data));
    if (tsr_desc_parse(&desc, text, NULL) == TSR_OK) {
        other = desc;
        for (struct bytes bytes = {newline + 1, data + size}; bytes.at < bytes.end;) {
            if (view_once(&desc, &bytes) != TSR_OK)
                continue;
            FUZZ_REQUIRE(tsr_desc_check(&desc, true, NULL) == TSR_OK);
            FUZZ_REQUIRE(tsr_desc_hash(&desc) != 0);
        }
        tsr_desc composed, fine_a, fine_b;
        if (tsr_desc_compose(&composed, &other, &desc, NULL) == TSR_OK)
            FUZZ_REQUIRE(tsr_desc_check(&composed, true, NULL) == TSR_OK);
        if (tsr_desc_refine(&fine_a, &fine_b, &other, &desc, NULL) == TSR_OK)
            FUZZ_REQUIRE(tsr_desc_equal(&fine_a, &other) && tsr_desc_equal(&fine_b, &desc));
    }
    free(text);
    return 0;
}
