/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_MAP_H
#define TESSERA_SRC_REORDER_MAP_H

#include "reorder/convert.h"

/*
 * What each byte becomes, arithmetic and all, for the kernels that look it up: from types of a byte, and packed ones
 * once they are unpacked, to 8 or 16 bits, where elements would go by a pivot otherwise and have the same factors. The
 * lower bytes of what 0 to 255 become come first, and then the upper ones.
 */
enum { TSR_MAP_VALUES = 256, TSR_MAP_BYTES = 2 * TSR_MAP_VALUES };

/* Is there a kernel for that, nothing to add to old values, and no map yet? */
static inline bool tsr_conversion_can_map(const tsr_conversion *conversion)
{
    return conversion->map_row && !conversion->map && conversion->arithmetic.beta == 0;
}

/* Fills in the map and makes it all that there is to do, for factors that all elements share. The map has to live as
 * long as the conversion and its copies. */
void tsr_conversion_map(tsr_conversion *conversion, uint8_t map[TSR_MAP_BYTES]);

/* Is a row of so many elements with the same factors worth a map of its own? It is longer than what is converted for
 * that map. */
static inline bool tsr_is_worth_map(const tsr_conversion *conversion, int64_t n)
{
    enum { WORTH = 4 }; /* times what is converted for the map */
    return n >= WORTH * TSR_MAP_VALUES && tsr_conversion_can_map(conversion);
}

/* Makes that, for entry `factor` of the tables, and converts the row by it; past the caches if it streams. */
void tsr_map_row(const tsr_conversion *conversion, void *dst, const void *src, int64_t n, int64_t factor, bool streams);

#endif
