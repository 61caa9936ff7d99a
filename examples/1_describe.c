/* SPDX-License-Identifier: Apache-2.0 */
/* Describes 25 channels blocked by 8, and asks where an element lies. */
#include <inttypes.h>
#include <stdio.h>

#include <tessera/tessera.h>

int main(void)
{
    const int64_t dims[] = {1, 25, 20, 20}, index[] = {0, 1, 0, 2};
    tsr_desc desc;
    tsr_error error;
    int64_t offset;
    if (tsr_desc_from_layout(&desc, TSR_F32, 4, dims, "nChw8c", &error) != TSR_OK ||
        tsr_desc_offset(&desc, 4, index, &offset, &error) != TSR_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("level  axis  extent  stride\n");
    for (int i = 0; i < desc.levels; i++)
        printf("%5d  %4d  %6" PRId64 "  %6" PRId64 "\n", i, desc.order[i], desc.block_dims[i], desc.strides[i]);
    printf("element (0,1,0,2) is at offset %" PRId64 " of %" PRId64 "\n", offset, tsr_desc_padded_elements(&desc));
    return 0;
}
