/* SPDX-License-Identifier: Apache-2.0 */
/* The dictionary at the head of a .npy file. */
#include "port/npy_header.h"
#include "target.h"

/* What was printed, without the preamble. */
static void check_round_trip(const tsr_npy_header *header)
{
    char printed[TSR_NPY_HEADER_BYTES_MAX];
    tsr_npy_header again = {0};
    size_t length = tsr_npy_header_print(header, printed);
    FUZZ_REQUIRE(length % 64 == 0 && length <= sizeof printed);
    FUZZ_REQUIRE(tsr_npy_header_parse(&again, printed + TSR_NPY_PREAMBLE_BYTES, length - TSR_NPY_PREAMBLE_BYTES,
                                      NULL) == TSR_OK);
    FUZZ_REQUIRE(again.dtype == header->dtype && again.fortran_order == header->fortran_order);
    FUZZ_REQUIRE(again.rank == header->rank);
    FUZZ_REQUIRE(memcmp(again.shape, header->shape, (size_t)header->rank * sizeof header->shape[0]) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tsr_npy_header header = {0};
    char *text = fuzz_text(data, size);
    if (tsr_npy_header_parse(&header, text, size, NULL) == TSR_OK)
        check_round_trip(&header);
    free(text);
    return 0;
}
