/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_STREAMS_H
#define TESSERA_SRC_REORDER_STREAMS_H

#include "reorder/box.h"

/* Which boxes write cache lines past the caches: by their kernels (streams_lines, finds_lines), from scratch memory or
 * from where the source has them (streams). The tiles are known. */
void tsr_choose_streams(tsr_box *box, const tsr_workshop *workshop);

/* Do runs of a copy that are rows of a tile have all of the cache lines of the source that they have parts of? */
bool tsr_reads_whole_lines(const tsr_chain *row, int64_t run, const tsr_conversion *conversion);

/* Streaming pays where cache lines are mostly written whole: in long rows, or in rows that are whole lines. Pixels that
 * are parted piece by piece are no more than those of the tile, which shares its last line with the next one. */
bool tsr_can_stream(const tsr_box *box);

/* Are copied runs of so many bytes, n of which continue each other, put together to lines that are streamed, unless
 * they are whole lines? A far last cache takes them later than memory does, and those of 1 KB or more, which could be
 * streamed one by one, are so sooner. Measured on an Emerald Rapids. */
bool tsr_joins_runs_of(int64_t bytes, int64_t n, const tsr_workshop *workshop);

/*
 * Stores wait for cache lines. CPUs foresee them where rows of one line follow each other, and well enough
 * where they are whole lines of narrow elements, whose transposes have more to do for each.
 */
bool tsr_gains_from_fetching(const tsr_box *box, int64_t dst_bytes);

/* Are lines completed by halves, as rows begin with them, and a near last cache takes them as they come? */
bool tsr_completes_lines(const tsr_box *box, const tsr_workshop *workshop);

/* Are rows that share sets streamed, where the last cache is near? What is completed in halves, beyond a third of it
 * alone. */
bool tsr_streams_sets(const tsr_box *box, const tsr_workshop *workshop);

#endif
