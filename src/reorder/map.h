/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_MAP_H
#define TESSERA_SRC_REORDER_MAP_H

#include "reorder/convert.h"

/*
 * What each byte becomes, arithmetic and all, for the kernels that look it up: from types of a byte, and packed ones
 * once they are unpacked, to 8 or 16 bits, where elements would go by a pivot otherwise. A plan has one map, where
 * all have the same factors; or one for each channel, of which there are few.
 */

/* Is there a kernel for that, nothing to add to old values, and no map yet? */
static inline bool tsr_conversion_can_map(const tsr_conversion *conversion)
{
    return conversion->map_row && !conversion->map && !conversion->maps && conversion->arithmetic.beta == 0;
}

/* Fills in what bytes become that take one entry of the tables. */
void tsr_map_init(uint8_t map[TSR_MAP_BYTES], const tsr_conversion *conversion, int64_t factor);

/* Fills in the map and makes it all that there is to do, for factors that all elements share. The map has to live as
 * long as the conversion and its copies. */
void tsr_conversion_map(tsr_conversion *conversion, uint8_t map[TSR_MAP_BYTES]);

/* Are so many elements with the same factors worth a map of their own? They are more than what is converted for it. */
static inline bool tsr_is_worth_map(const tsr_conversion *conversion, int64_t n)
{
    enum { WORTH = 4 }; /* times what is converted for the map */
    return n >= WORTH * TSR_MAP_VALUES && tsr_conversion_can_map(conversion);
}

/* Fills in a map for each of the first `count` entries of the tables, TSR_MOST_MAPS at most, for what can be mapped.
 * Rows of one entry, lines that take entries in turn, and pixels look them up; what takes others, as padding may, is
 * computed. They have to live as long. */
void tsr_conversion_maps(tsr_conversion *conversion, uint8_t maps[TSR_MOST_MAPS][TSR_MAP_BYTES], int64_t count);

/* Is a row that takes one entry looked up, in a map that there is or in its own? */
static inline bool tsr_has_row_map(const tsr_conversion *conversion, int64_t n, int64_t factor)
{
    return factor < conversion->map_count || tsr_is_worth_map(conversion, n);
}

/* Looks up a row that has one; past the caches if it streams. */
void tsr_map_row(const tsr_conversion *conversion, void *dst, const void *src, int64_t n, int64_t factor, bool streams);

#endif
