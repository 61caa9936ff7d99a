/* SPDX-License-Identifier: Apache-2.0 */
/* Three operations hand a blob on, and each wants another layout; none of them reorders anything. */
#include <inttypes.h>
#include <stdio.h>

#include <tessera/tessera.h>

/* Pixels come side by side, as a camera gives them. */
static void paint(float *nhwc)
{
    for (int i = 0; i < 4 * 4 * 3; i++)
        nhwc[i] = (float)i;
}

/* A SIMD kernel doubles eight channels at once. What it does to the padding behind the third is nobody's business. */
static void enhance(float *nChw8c)
{
    for (int i = 0; i < 4 * 4 * 8; i++)
        nChw8c[i] = 2 * nChw8c[i] + 1;
}

/* Planes are easy to add up. */
static float mean_of_plane(const float *nchw, int channel)
{
    float sum = 0;
    for (int i = 0; i < 4 * 4; i++)
        sum += nchw[channel * 4 * 4 + i];
    return sum / (4 * 4);
}

static int say(const tsr_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    return 1;
}

int main(void)
{
    tsr_desc nchw, nhwc, nChw8c;
    tsr_blob *blob;
    tsr_access access;
    tsr_error error;
    if (tsr_desc_parse(&nchw, "f32:nchw 1x3x4x4", &error) != TSR_OK ||
        tsr_desc_parse(&nhwc, "f32:nhwc 1x3x4x4", &error) != TSR_OK ||
        tsr_desc_parse(&nChw8c, "f32:nChw8c 1x3x4x4", &error) != TSR_OK ||
        tsr_blob_create(&blob, &nchw, NULL, &error) != TSR_OK)
        return say(&error);

    if (tsr_blob_acquire(blob, NULL, &nhwc, TSR_WRITE, &access, &error) != TSR_OK)
        return say(&error);
    paint(access.data);
    if (tsr_blob_release(&access, &error) != TSR_OK)
        return say(&error);

    if (tsr_blob_acquire(blob, NULL, &nChw8c, TSR_READ_WRITE, &access, &error) != TSR_OK)
        return say(&error);
    enhance(access.data);
    if (tsr_blob_release(&access, &error) != TSR_OK)
        return say(&error);

    for (int channel = 0; channel < 3; channel++) {
        if (tsr_blob_acquire(blob, NULL, &nchw, TSR_READ, &access, &error) != TSR_OK)
            return say(&error);
        printf("mean of channel %d: %g\n", channel, mean_of_plane(access.data, channel));
        if (tsr_blob_release(&access, &error) != TSR_OK)
            return say(&error);
    }

    const tsr_blob_stats stats = tsr_blob_get_stats(blob);
    printf("%" PRId64 " accesses, %" PRId64 " conversions of %" PRId64 " bytes, %" PRId64 " layouts in memory\n",
           stats.acquires, stats.conversions, stats.converted_bytes, stats.representations);
    tsr_blob_free(&blob);
    return 0;
}
