/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paints a photograph of hills at dusk (u8, 1 x 720 x 1280 x 3) and draws convolution weights (f32,
 * 256 x 128 x 3 x 3), and writes both as .npy files: the input of scripts/demo, and an example of
 * writing files from a program.
 *
 *     4_paint PHOTO.npy WEIGHTS.npy
 */
#include <math.h>
#include <stdio.h>

#include <tessera/tessera.h>

#define HEIGHT 720
#define WIDTH 1280

/* Noise in [0, 1): the same for the same point. */
static double noise(unsigned x, unsigned y)
{
    unsigned h = x * 374761393U + y * 668265263U;
    h = (h ^ (h >> 13)) * 1274126177U;
    return (double)((h ^ (h >> 16)) & 0xffffU) / 65536;
}

/* Height of the n-th range of hills above a column, from 0 at the bottom to 1 at the top. */
static double hill(int n, int x)
{
    double u = (double)x / WIDTH;
    return 0.62 - 0.14 * n + 0.05 * sin(u * (5 + 3 * n) + n) + 0.02 * sin(u * (23 - 2 * n) + 2 * n);
}

static void paint_pixel(int x, int y, unsigned char rgb[3])
{
    double height = 1 - (double)y / HEIGHT, sun_x = x - 0.7 * WIDTH, sun_y = y - 0.33 * HEIGHT;
    double glow = exp(-sqrt(sun_x * sun_x + sun_y * sun_y) / 160);
    double color[3] = {0.35 + 0.5 * (1 - height) + glow, 0.30 + 0.25 * (1 - height) + 0.7 * glow,
                       0.55 - 0.1 * height + 0.2 * glow};
    for (int n = 0; n < 4; n++) {
        if (height < hill(n, x)) { /* nearer hills are darker */
            color[0] = 0.34 - 0.08 * n;
            color[1] = 0.30 - 0.05 * n;
            color[2] = 0.42 - 0.09 * n;
        }
    }
    double grain = 0.04 * (noise((unsigned)x, (unsigned)y) - 0.5);
    for (int c = 0; c < 3; c++) {
        double value = 255 * (color[c] + grain);
        rgb[c] = (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
}

static tsr_status write_photo(const char *path, tsr_error *error)
{
    const int64_t shape[] = {1, HEIGHT, WIDTH, 3};
    static unsigned char row[WIDTH][3];
    tsr_npy_writer *writer = NULL;
    tsr_status status = tsr_npy_writer_open(&writer, path, TSR_U8, 4, shape, false, error);
    for (int y = 0; status == TSR_OK && y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++)
            paint_pixel(x, y, row[x]);
        status = tsr_npy_writer_append(writer, row, WIDTH * 3, error);
    }
    if (status == TSR_OK)
        return tsr_npy_writer_finish(&writer, error);
    tsr_npy_writer_abort(&writer);
    return status;
}

static tsr_status write_weights(const char *path, tsr_error *error)
{
    enum { OUT = 256, IN = 128, TAPS = 9 };
    const int64_t shape[] = {OUT, IN, 3, 3};
    static float filter[IN * TAPS];
    tsr_npy_writer *writer = NULL;
    tsr_status status = tsr_npy_writer_open(&writer, path, TSR_F32, 4, shape, false, error);
    for (unsigned o = 0; status == TSR_OK && o < OUT; o++) {
        for (unsigned i = 0; i < IN * TAPS; i++) /* the sum of four even numbers is nearly normal */
            filter[i] = (float)(noise(i, o) + noise(i, o + OUT) + noise(i + 1, o + 2 * OUT) + noise(i + 1, o) - 2) / 16;
        status = tsr_npy_writer_append(writer, filter, IN * TAPS, error);
    }
    if (status == TSR_OK)
        return tsr_npy_writer_finish(&writer, error);
    tsr_npy_writer_abort(&writer);
    return status;
}

int main(int argc, char **argv)
{
    tsr_error error = {0};
    if (argc != 3) {
        fprintf(stderr, "usage: %s PHOTO.npy WEIGHTS.npy\n", argv[0]);
        return 2;
    }
    if (write_photo(argv[1], &error) != TSR_OK || write_weights(argv[2], &error) != TSR_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    return 0;
}
