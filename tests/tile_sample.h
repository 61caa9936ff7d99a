/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_TILE_SAMPLE_H
#define TESSERA_TESTS_TILE_SAMPLE_H

/* Tiles as kernels.h has them, and what each family makes of them by its definition. */
#include "kernel_cases.h"

/* Loops over elements, which sanitizers would make most of a test; guards show what they do wrong. */
#define UNSANITIZED __attribute__((no_sanitize("address", "undefined")))

/* Calls DO(bytes) with a constant where units are elements, so that loops over them have no calls; units may be odd. */
#define FOR_UNITS(bytes, DO)                                                                                           \
    switch (bytes) {                                                                                                   \
    case 1:                                                                                                            \
        DO(1);                                                                                                         \
        break;                                                                                                         \
    case 2:                                                                                                            \
        DO(2);                                                                                                         \
        break;                                                                                                         \
    case 4:                                                                                                            \
        DO(4);                                                                                                         \
        break;                                                                                                         \
    case 8:                                                                                                            \
        DO(8);                                                                                                         \
        break;                                                                                                         \
    case 16:                                                                                                           \
        DO(16);                                                                                                        \
        break;                                                                                                         \
    default:                                                                                                           \
        DO(bytes);                                                                                                     \
    }

/* Element i is i, and its upper half ~i if it has 16 bytes; where i does not fit into a byte, plane 1 holds what plane
 * 0 left out. */
UNSANITIZED static void fill_with_indices(unsigned char *memory, size_t elements, size_t bytes, int plane)
{
#define FILL(size)                                                                                                     \
    for (size_t i = 0; i < elements; i++) {                                                                            \
        const uint64_t value[] = {(uint64_t)i >> 8 * plane, ~(uint64_t)i};                                             \
        memcpy(memory + i * (size), value, size);                                                                      \
    }
    FOR_UNITS(bytes, FILL)
#undef FILL
}

static int planes_of(size_t bytes)
{
    return bytes == 1 ? 2 : 1;
}

enum { MOST = 8300, MOST_PIECES = 35, SEVERAL_PIECES = 13 };

/* A tile with all its tables, also those that its family knows by heart, and the bytes that it spans on both sides. */
struct sample {
    int64_t rows, columns;
    int64_t dst_row[MOST], src_row[MOST], dst_column[MOST], src_column[MOST];
    const tsr_lane *lanes;
    int64_t lane_bytes, lane_window, lane_rows;
    bool has_alike_lanes;
    int64_t row_bytes;                  /* of padded ones; or 0 */
    int64_t pieces, piece[MOST_PIECES]; /* of an interleave or a deinterleave: where they begin, */
    int64_t src_piece[MOST_PIECES];     /* and of the latter in the source */
    size_t src_bytes, dst_bytes;
};

/* n steps of so many bytes, forwards or backwards. */
static void lay(int64_t *table, int64_t n, int64_t step, bool backwards)
{
    for (int64_t i = 0; i < n; i++)
        table[i] = step * (backwards ? n - 1 - i : i);
}

static size_t span_of(const int64_t *row, int64_t rows, const int64_t *column, int64_t columns, size_t bytes)
{
    int64_t last_row = 0, last_column = 0;
    for (int64_t r = 0; r < rows; r++)
        last_row = row[r] > last_row ? row[r] : last_row;
    for (int64_t c = 0; c < columns; c++)
        last_column = column[c] > last_column ? column[c] : last_column;
    return rows && columns ? (size_t)(last_row + last_column) + bytes : 0;
}

static void measure(struct sample *s, size_t bytes)
{
    s->src_bytes = span_of(s->src_row, s->rows, s->src_column, s->columns, bytes);
    s->dst_bytes = span_of(s->dst_row, s->rows, s->dst_column, s->columns, bytes);
    if (s->row_bytes > 0 && s->rows > 0)
        s->dst_bytes += (size_t)s->row_bytes - (size_t)s->columns * bytes;
}

/* Some columns of a row. */
UNSANITIZED static void move_columns(unsigned char *to, const unsigned char *from, const struct sample *s,
                                     int64_t first, int64_t end, size_t bytes)
{
#define MOVE(size)                                                                                                     \
    for (int64_t c = first; c < end; c++)                                                                              \
        memcpy(to + s->dst_column[c], from + s->src_column[c], size);
    FOR_UNITS(bytes, MOVE)
#undef MOVE
}

/* The formula of kernels.h. */
static void tile_by_definition(unsigned char *dst, const unsigned char *src, const struct sample *s, size_t bytes)
{
    for (int64_t r = 0; r < s->rows; r++)
        move_columns(dst + s->dst_row[r], src + s->src_row[r], s, 0, s->columns, bytes);
    for (int64_t r = 0, moved = s->columns * (int64_t)bytes; r < s->rows && s->row_bytes > 0; r++)
        memset(dst + s->dst_row[r] + moved, 0, (size_t)(s->row_bytes - moved));
}

/* And that of lines. */
static void lines_by_definition(unsigned char *dst, const unsigned char *src, const struct sample *s, size_t bytes)
{
    const int64_t lines = s->columns * (int64_t)bytes / TSR_CACHE_LINE - 1;
    for (int64_t r = 0; r < s->rows; r++) {
        unsigned char *row = dst + s->dst_row[r];
        const int64_t first = tsr_bytes_to_next_line(row) / (int64_t)bytes;
        move_columns(row, src + s->src_row[r], s, first, first + lines * TSR_CACHE_LINE / (int64_t)bytes, bytes);
    }
}

/* And that of halves. */
static void halves_by_definition(unsigned char *dst, const unsigned char *src, const struct sample *s, size_t bytes)
{
    (void)bytes;
    for (int64_t r = 0; r < s->rows; r++)
        for (int64_t c = 0; c < s->columns; c++) {
            const unsigned first = src[s->src_row[r / 2 * 2] + c], second = src[s->src_row[r / 2 * 2 + 1] + c];
            const unsigned shift = r % 2 ? 4 : 0;
            dst[s->dst_row[r] + c] = (unsigned char)((first >> shift & 15) | (second >> shift & 15) << 4);
        }
}

/* And of bits. */
static void bits_by_definition(unsigned char *dst, const unsigned char *src, const struct sample *s, size_t bytes)
{
    (void)bytes;
    for (int64_t r = 0; r < s->rows; r++)
        for (int64_t c = 0; c < s->columns; c++) {
            unsigned byte = 0;
            for (int64_t k = 0; k < 8; k++) {
                const unsigned of_row = src[s->src_row[r / 8 * 8 + k] + c];
                byte |= (of_row >> r % 8 & 1) << k;
            }
            dst[s->dst_row[r] + c] = (unsigned char)byte;
        }
}

typedef void (*tile_definition)(unsigned char *dst, const unsigned char *src, const struct sample *s, size_t bytes);

static tile_definition definition_of(const char *family)
{
    if (strcmp(family, "lines") == 0)
        return lines_by_definition;
    if (strcmp(family, "part_bits") == 0)
        return bits_by_definition;
    return strcmp(family, "part_halves") == 0 ? halves_by_definition : tile_by_definition;
}

static bool are_dense(const int64_t *row, int64_t rows, int64_t pitch)
{
    bool are = true;
    for (int64_t r = 1; r < rows; r++)
        are = are && row[r] == row[r - 1] + pitch;
    return are;
}

/* Is it one of these words? */
static bool is_one_of(const char *family, const char *words)
{
    const size_t length = strlen(family);
    const char *at = strstr(words, family);
    while (at && ((at > words && at[-1] != ' ') || (at[length] != ' ' && at[length] != '\0')))
        at = strstr(at + 1, family);
    return at != NULL;
}

/* Tables that a family does not read may be NULL. */
static tsr_tile tile_of(const char *family, const struct sample *s)
{
    tsr_tile tile = {.rows = s->rows,
                     .columns = s->columns,
                     .dst_row = s->dst_row,
                     .src_row = s->src_row,
                     .dst_column = s->dst_column,
                     .src_column = s->src_column,
                     .lanes = s->lanes,
                     .lane_bytes = s->lane_bytes,
                     .lane_window = s->lane_window,
                     .has_alike_lanes = s->has_alike_lanes,
                     .lane_rows = s->lane_rows,
                     .fetches_ahead = (s->rows + s->columns / 2) % 2 == 0,
                     .fetches_lines = s->columns % 2 == 0,
                     .fills_lines = s->rows / 2 % 2 == 0,
                     .row_bytes = s->row_bytes};
    if (strcmp(family, "pick") != 0)
        tile.dst_column = NULL;
    if (is_one_of(family, "copy copy_padded scatter part_halves part_bits deinterleave"))
        tile.src_column = NULL;
    if (is_one_of(family, "transpose transpose_padded transpose_units lines interleave deinterleave pad unpad"))
        tile.src_row = NULL;
    if (strcmp(family, "interleave") == 0)
        tile.dst_row = NULL;
    tile.pieces = s->pieces;
    if (s->pieces > 0 && tile.dst_row) {
        tile.columns = s->columns / s->pieces;
        tile.dst_column = s->piece;
        tile.src_piece = s->src_piece;
    } else if (s->pieces > 0) {
        tile.rows = s->rows / s->pieces;
        tile.src_row = s->piece;
    }
    return tile;
}

#endif
