/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wraps memory that another library owns: the middle of a padded image, without a copy, as the
 * source of a reorder.
 */
#include <stdio.h>
#include <stdlib.h>

#include <tessera/tessera.h>

/* Told when nobody uses the frame any more. */
static void give_back(void *context, void *memory)
{
    *(int *)context += 1;
    free(memory);
}

int main(void)
{
    /* a frame of 4 x 6 in rows of 8; we want the 2 x 3 that begin at row 1, column 2 */
    enum { PITCH = 8, ROWS = 4 };
    const int64_t dims[] = {2, 3}, strides[] = {PITCH, 1};
    int released = 0, status = 1;
    unsigned char *frame = malloc(PITCH * ROWS), columns[6];
    tsr_storage *storage = NULL;
    tsr_desc window, transposed;
    tsr_error error = {0};
    void *memory;

    for (int i = 0; frame && i < PITCH * ROWS; i++)
        frame[i] = (unsigned char)i;
    if (!frame || tsr_storage_wrap(&storage, frame, PITCH * ROWS, give_back, &released, &error) != TSR_OK) {
        free(frame);
        return 1;
    }
    if (tsr_desc_strided(&window, TSR_U8, 2, dims, strides, 1 * PITCH + 2, &error) == TSR_OK &&
        tsr_desc_from_layout(&transposed, TSR_U8, 2, dims, "ba", &error) == TSR_OK &&
        tsr_storage_data(storage, &memory, &error) == TSR_OK &&
        tsr_reorder(&window, memory, &transposed, columns, &error) == TSR_OK) {
        for (int i = 0; i < 6; i++)
            printf("%d ", columns[i]);
        status = 0;
    } else {
        fprintf(stderr, "%s\n", error.message);
    }
    tsr_storage_release(&storage);
    printf("(frame given back %d time)\n", released);
    return status;
}
