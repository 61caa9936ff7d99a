/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_PRICES_H
#define TESSERA_SRC_REORDER_PRICES_H

#include <stdint.h>

/* What boxes and ways of more steps take alike, in bytes that memcpy would have copied meanwhile, as all prices are. */

/* Zeros are written, not read. */
static const double per_byte_of_zeros = 0.6;

/* What is converted, on top: an element; a line that is converted by itself, or along with many. */
static const double per_conversion = 0.8, per_line = 160, per_line_of_many = 20;

/* Lines of fewer elements cost as much as a call each: what comes before a kernel, and where a conversion takes
 * several, what comes between them. */
enum { TSR_LONG_LINE = 128, TSR_LONG_LINE_OF_STEPS = 512 };

/* Of each element of lines, by what one of them takes; long ones make no difference. */
static inline double tsr_per_element_of_line(int64_t line, int64_t long_line, double cost)
{
    return line > 0 && line < long_line ? cost / (double)line : 0;
}

#endif
