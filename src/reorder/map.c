/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/map.h"

/* All values are a row that is too short for a map of its own. */
void tsr_map_init(uint8_t map[TSR_MAP_BYTES], const tsr_conversion *conversion, int64_t factor)
{
    uint8_t values[TSR_MAP_VALUES], become[TSR_MAP_BYTES];
    for (int i = 0; i < TSR_MAP_VALUES; i++)
        values[i] = (uint8_t)i;
    if (conversion->dst_bytes == 1) {
        tsr_convert_row(conversion, map, values, TSR_MAP_VALUES, factor, 0);
        return;
    }
    tsr_convert_row(conversion, become, values, TSR_MAP_VALUES, factor, 0);
    for (int i = 0; i < TSR_MAP_VALUES; i++) {
        map[i] = become[2 * i];
        map[TSR_MAP_VALUES + i] = become[2 * i + 1];
    }
}

void tsr_conversion_map(tsr_conversion *conversion, uint8_t map[TSR_MAP_BYTES])
{
    tsr_map_init(map, conversion, 0);
    conversion->map = map;
    conversion->stage = tsr_computes(conversion) ? TSR_ON_STORE : TSR_NO_ARITHMETIC;
    conversion->load = (tsr_steps){NULL, NULL};
    conversion->store = (tsr_steps){.first = conversion->map_row};
    conversion->at_once = NULL;
    conversion->only = conversion->map_row;
    conversion->stream = conversion->pack ? NULL : conversion->stream_map_row;
    conversion->runs = NULL;
    conversion->periodic = NULL;
}

void tsr_conversion_maps(tsr_conversion *conversion, uint8_t maps[TSR_MOST_MAPS][TSR_MAP_BYTES], int64_t count)
{
    for (int64_t factor = 0; factor < count; factor++)
        tsr_map_init(maps[factor], conversion, factor);
    conversion->maps = (const uint8_t(*)[TSR_MAP_BYTES])maps;
    conversion->map_count = count;
}

void tsr_map_row(const tsr_conversion *conversion, void *dst, const void *src, int64_t n, int64_t factor, bool streams)
{
    uint8_t own[TSR_MAP_BYTES];
    tsr_affine affine = {.map = tsr_map_of_factor(conversion, factor)};
    if (!affine.map) {
        tsr_map_init(own, conversion, factor);
        affine.map = own;
    }
    (streams ? conversion->stream_map_row : conversion->map_row)(dst, src, n, &affine);
}
