/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_WISDOM_H
#define TESSERA_SRC_REORDER_WISDOM_H

#include <tessera/wisdom.h>

/* The text of a file, as wisdom.h has it. TSR_PARSE_ERROR, TSR_UNSUPPORTED, TSR_OUT_OF_MEMORY. */
tsr_status tsr_wisdom_parse(tsr_wisdom **wisdom, const char *text, tsr_error *error);

/* The inverse. Returns as snprintf does. */
int tsr_wisdom_print(const tsr_wisdom *wisdom, char *text, size_t size);

/*
 * The lesson for a plan that leaves row, streaming and tile_bytes to the library. The request has been
 * checked.
 */
bool tsr_wisdom_advise(tsr_lesson *lesson, const tsr_desc *src, const tsr_desc *dst, const tsr_reorder_options *options,
                       int threads);

#endif
