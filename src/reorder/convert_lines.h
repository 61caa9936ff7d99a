/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_CONVERT_LINES_H
#define TESSERA_SRC_REORDER_CONVERT_LINES_H

#include "reorder/spread.h"

/*
 * Lines of elements that change their type: the rows of a tile, as those of a kernel for runs are. They are converted
 * by a call for each, by one for many short ones, or, where all continue each other, as one. `side` tells where factors
 * begin, and row_factor of the tile, unless NULL, how much further on each line takes its own. What lies behind them in
 * the source is asked for, if the tile fetches_ahead.
 */

/* Lines that are shorter are not worth a call of a converter each. */
enum { TSR_SHORT_LINE = 24 };

/* Is there a kernel for many short lines of n elements? Their factors have to be the same, or side by side. */
bool tsr_takes_runs_of(const tsr_conversion *conversion, int64_t n);

/* The same of lines whose steps are those of a chain. */
bool tsr_takes_runs(const tsr_conversion *conversion, const tsr_chain *chain, int64_t n);

/* Are lines that continue each other on both sides, of as many elements, better converted together? Those that are
 * shorter than a few, and such as kernels take no factors for from where they are. */
bool tsr_joins_lines(const tsr_conversion *conversion, const tsr_chain *chain, int64_t n);

/* Each from its place to its place. */
void tsr_convert_lines(const tsr_conversion *conversion, char *to, const char *from, const tsr_tile *tile,
                       const tsr_factor_side *side);

/* Lines that continue each other, so that no table is needed of where they are, but there is one of row_factor, whose
 * factors are the same again after `period` lines. */
void tsr_convert_joined_lines(const tsr_conversion *conversion, char *to, const char *from, const tsr_tile *tile,
                              const tsr_factor_side *side, int64_t period);

#endif
