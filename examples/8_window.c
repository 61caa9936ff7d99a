/* SPDX-License-Identifier: Apache-2.0 */
/* A window of three steps slides over a sequence of six; nothing is copied. */
#include <inttypes.h>
#include <stdio.h>

#include <tessera/tessera.h>

static int say(const tsr_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    return 1;
}

int main(void)
{
    enum { STEPS = 6, CHANNELS = 2, SIZE = 3 };
    tsr_blob *sequence, *window;
    tsr_access access;
    tsr_error error;
    if (tsr_neo_create(&sequence, TSR_F32, tsr_neo_data(STEPS, 1, CHANNELS), NULL, &error) != TSR_OK ||
        tsr_neo_create_window(&window, sequence, SIZE, &error) != TSR_OK)
        return say(&error);

    if (tsr_blob_acquire(sequence, NULL, NULL, TSR_WRITE, &access, &error) != TSR_OK)
        return say(&error);
    for (int i = 0; i < STEPS * CHANNELS; i++)
        ((float *)access.data)[i] = (float)i;
    if (tsr_blob_release(&access, &error) != TSR_OK)
        return say(&error);

    for (int64_t position = 0; position + SIZE <= STEPS; position++) {
        double sum;
        if (tsr_neo_set_position(window, position, &error) != TSR_OK ||
            tsr_blob_sum_of_absolutes(window, &sum, &error) != TSR_OK)
            return say(&error);
        printf("steps %" PRId64 " to %" PRId64 ": %g\n", position, position + SIZE - 1, sum);
    }
    tsr_blob_free(&window);
    tsr_blob_free(&sequence);
    return 0;
}
