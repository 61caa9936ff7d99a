/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a small u8 image with interleaved channels into normalised planar f32. */
#include <stdio.h>

#include <tessera/tessera.h>

int main(void)
{
    /* a row of two pixels: red, then grey; height 1, width 2, three channels */
    const unsigned char pixels[] = {255, 0, 0, 128, 128, 128};
    const float mean[] = {124, 116, 104}, scale[] = {1 / 58.f, 1 / 57.f, 1 / 57.f};
    const tsr_reorder_options options = {.mean = {mean, 3, 1, 0}, .scale = {scale, 3, 1, 0}};
    float planes[6];
    tsr_desc src, dst;
    tsr_plan *plan = NULL;
    tsr_error error;
    char text[256];

    if (tsr_desc_parse(&src, "u8:nhwc 1x3x1x2", &error) != TSR_OK ||
        tsr_desc_parse(&dst, "f32:nchw 1x3x1x2", &error) != TSR_OK ||
        tsr_plan_create(&plan, &src, &dst, &options, &error) != TSR_OK ||
        tsr_plan_run(plan, pixels, planes, &error) != TSR_OK) {
        fprintf(stderr, "%s\n", error.message);
        tsr_plan_free(&plan);
        return 1;
    }
    tsr_plan_describe(plan, text, sizeof text);
    printf("%s\n", text);
    for (int c = 0; c < 3; c++)
        printf("channel %d: %6.3f %6.3f\n", c, (double)planes[2 * c], (double)planes[2 * c + 1]);
    tsr_plan_free(&plan);
    return 0;
}
