/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_LINES_H
#define TESSERA_SRC_REORDER_LINES_H

#include "reorder/box.h"

/*
 * Which transposes write cache lines past the caches straight from registers: of rows that begin with lines, and of
 * others. Tiles are cut for that, so it is asked before they are made.
 */

/* A piece of a row of so many bytes is worth a stream of its own. */
enum { TSR_LONG_PIECE = 1024 };

/* Elements whose transposes have more to do for each cache line. */
static inline bool tsr_is_narrow(int64_t bytes)
{
    return bytes <= 2;
}

/* Caches follow rows that go on from tile to tile, if they are so few; beyond the last one, fewer. */
bool tsr_are_few_streams(int64_t rows, const tsr_workshop *workshop);

/* Do lines of a few rows, written past the caches one after the other, lie so far from each other that memory takes
 * them one by one? A near last cache gathers them faster then. */
bool tsr_meet_in_memory(int64_t rows, const tsr_chain *row, const tsr_workshop *workshop);

/* Lines that are written in two parts are whole soon enough for a far last cache, if they are few of its own, and do
 * not share the sets of the first one. */
bool tsr_takes_parts_of_lines(const tsr_chain *row, const tsr_chain *column, const tsr_workshop *workshop);

/* So are those of wide elements, as soon as memory has whole ones: the last cache of a Granite Rapids, of 480 MB, takes
 * them so, that of an Emerald Rapids, of 260 MB, does not. They may share sets if columns do, too. */
bool tsr_takes_parts_of_wide_lines(const tsr_chain *row, const tsr_chain *column, const tsr_workshop *workshop);

/*
 * Kernels that write the lines of a transpose past the caches themselves copy nothing, and no store waits for a line.
 * How many lines of each of so many rows a tile should have for that; 0 if there is no such kernel, or another way is
 * as fast.
 */
int64_t tsr_lines_to_stream(int64_t rows, const tsr_chain *row, const tsr_chain *column, const tsr_workshop *workshop);

/*
 * Where sets are deep (tsr_has_deep_sets), memory takes several lines of a row at once far sooner than one of each. Of
 * so many rows, unless there are more for other reasons: INT64_MAX, or of bytes half of those that a line of a column
 * has, of the widest elements as many, unless rows are whole and short, and of 32 bits as have 64 lines of a tile,
 * which is not whole rows.
 */
int64_t tsr_rows_of_bursts(const tsr_chain *row, int64_t columns, bool are_whole, const tsr_workshop *workshop);

/* Does a far last cache want these lines row by row, and the columns as they come? Then two are enough, of bytes
 * one. */
bool tsr_streams_by_rows(const tsr_chain *row, const tsr_workshop *workshop);

/* Should a kernel find the lines of rows which begin anywhere, to write them past the caches? These have so many bytes
 * at least, of which most are in whole lines. */
enum { TSR_ROW_WITH_LINES = 12 * TSR_CACHE_LINE };
bool tsr_finds_lines(const tsr_chain *row, const tsr_chain *column, const tsr_workshop *workshop);

#endif
