/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_REORDER_SHAPE_H
#define TESSERA_SRC_REORDER_SHAPE_H

#include "reorder/box.h"

/* Runs that are converted, to so many bytes or more, are taken as the source has them beside deep sets
 * (tsr_has_deep_sets). */
enum { TSR_LONG_CONVERTED_RUN = 12 * TSR_CACHE_LINE };

/*
 * Chooses how the elements of a box move, which loops of its nest become the rows and the columns of
 * its tiles, and which stay outside: sets motion, the loops of both chains and the outer ones.
 * wanted_rows and wanted_columns are about the steps that a tile should have.
 */
void tsr_shape_box(tsr_box *box, const tsr_nest *nest, bool is_padding, const tsr_workshop *workshop,
                   int64_t *wanted_rows, int64_t *wanted_columns);

#endif
