/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "port/message.h"
#include "port/output.h"
#include "reorder/wisdom.h"

tsr_status tsr_wisdom_write(const tsr_wisdom *wisdom, const char *path, tsr_error *error)
{
    size_t length = (size_t)tsr_wisdom_print(wisdom, NULL, 0);
    char *text = malloc(length + 1);
    tsr_output *output = NULL;
    if (!text)
        return tsr_fail_memory(error, path, length);
    tsr_wisdom_print(wisdom, text, length + 1);
    tsr_status status = tsr_output_open(&output, path, error);
    if (status == TSR_OK)
        status = tsr_output_write(output, text, length, error);
    if (status == TSR_OK)
        status = tsr_output_finish(&output, error);
    tsr_output_abort(&output);
    free(text);
    return status;
}
