/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts two tensors together along their channels, in blocks of 8: 5 channels and 7 become 12. The
 * second one begins inside a block, so that its part of the result is a window.
 */
#include <stdio.h>

#include <tessera/tessera.h>

enum { HEIGHT = 2, WIDTH = 3, PIXELS = HEIGHT * WIDTH };

/* Moves a planar part to the channels of the whole from `channel` on. */
static tsr_status put(const tsr_desc *whole, float *to, const char *part_text, const float *from, int64_t channel,
                      tsr_error *error)
{
    tsr_desc part, view;
    char text[TSR_TEXT_SIZE];
    const int64_t begin[] = {0, channel, 0, 0};
    tsr_status status = tsr_desc_parse(&part, part_text, error);
    if (status == TSR_OK)
        status = tsr_view_crop(&view, whole, begin, part.dims, NULL, error);
    if (status == TSR_OK) {
        tsr_desc_print(&view, text, sizeof text);
        printf("%s is moved to %s\n", part_text, text);
        status = tsr_reorder(&part, from, &view, to, error);
    }
    return status;
}

int main(void)
{
    float five[5 * PIXELS], seven[7 * PIXELS], whole[16 * PIXELS] = {0};
    tsr_desc desc;
    tsr_error error = {0};
    for (int i = 0; i < 5 * PIXELS; i++)
        five[i] = (float)i;
    for (int i = 0; i < 7 * PIXELS; i++)
        seven[i] = (float)(100 + i);
    if (tsr_desc_parse(&desc, "f32:nChw8c 1x12x2x3", &error) != TSR_OK ||
        put(&desc, whole, "f32:nchw 1x5x2x3", five, 0, &error) != TSR_OK ||
        put(&desc, whole, "f32:nchw 1x7x2x3", seven, 5, &error) != TSR_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    for (int channel = 0; channel < 12; channel++) {
        const int64_t index[] = {0, channel, 0, 0};
        int64_t offset;
        if (tsr_desc_offset(&desc, 4, index, &offset, &error) != TSR_OK)
            return 1;
        printf("%g ", (double)whole[offset]);
    }
    putchar('\n');
    return 0;
}
