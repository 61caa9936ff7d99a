/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_SRC_DESC_DIALECT_DIALECT_H
#define TESSERA_SRC_DESC_DIALECT_DIALECT_H

#include <tessera/text.h>

#include "base/writer.h"

/*
 * A dialect is a pair, in a file of its own. Texts are shorter than TSR_TEXT_SIZE, and type and dims
 * are possible; dims are NULL only where the text may have a shape. What print writes is used where it
 * succeeds. It may take a descriptor as it is written: one that it refuses comes again in canonical form.
 */
typedef tsr_status tsr_dialect_parser(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims, const char *text,
                                      tsr_error *error);
typedef tsr_status tsr_dialect_printer(tsr_writer *out, const tsr_desc *desc, tsr_role role, tsr_error *error);

tsr_dialect_parser tsr_parse_openvino;
tsr_dialect_parser tsr_parse_onednn;
tsr_dialect_parser tsr_parse_tvm;
tsr_dialect_parser tsr_parse_einops;
tsr_dialect_parser tsr_parse_cute;
tsr_dialect_parser tsr_parse_xla;
tsr_dialect_parser tsr_parse_numpy;

tsr_dialect_printer tsr_print_openvino;
tsr_dialect_printer tsr_print_onednn;
tsr_dialect_printer tsr_print_tvm;
tsr_dialect_printer tsr_print_einops;
tsr_dialect_printer tsr_print_cute;
tsr_dialect_printer tsr_print_xla;
tsr_dialect_printer tsr_print_numpy;

/* The letter of an axis, in lower case: n, c, h, w where the role has letters for the rank, else a, b, c, ... */
char tsr_role_letter(tsr_role role, int rank, int axis);

/* A level of memory without gaps: `extent` steps of `unit` positions of an axis. */
typedef struct tsr_dense_level {
    int axis;
    int64_t extent;
    int64_t unit;
} tsr_dense_level;

/* The descriptor of at most TSR_MAX_LEVELS levels in memory order; those of one axis may come in any order. */
tsr_status tsr_lay_dense(tsr_desc *desc, tsr_dtype dtype, int rank, const int64_t *dims, const tsr_dense_level *levels,
                         int count, tsr_error *error);

/* Are the dims that were given, if any were, those of a shape that a text has? */
tsr_status tsr_check_same_dims(int text_rank, const int64_t *text_dims, int rank, const int64_t *dims,
                               tsr_error *error);

#endif
