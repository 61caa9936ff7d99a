/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that move elements, on every rung of this machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reorder/lanes.h"
#include "tile_sample.h"

static void run_tile(const struct tile_case *kernel, const struct sample *s, const tsr_tile *tile, size_t turn)
{
    const tile_definition define = definition_of(kernel->family);
    const bool are_lines = define == lines_by_definition;
    const bool begin_anywhere = strcmp(kernel->family, "copy") == 0 && s->columns > TSR_CACHE_LINE;
    const size_t src_offset = turn % 8, in_line = turn % TSR_CACHE_LINE / kernel->bytes * kernel->bytes;
    const size_t dst_offset = are_lines        ? in_line
                              : begin_anywhere ? turn / 8 % TSR_CACHE_LINE
                              : tile->streams  ? 0
                                               : turn / 8 % 8;
    const int64_t others = tile->tiles > 1 ? tile->tiles - 1 : 0;
    const size_t src_bytes = s->src_bytes + (size_t)(others * tile->src_tile);
    const size_t dst_bytes = s->dst_bytes + (size_t)(others * tile->dst_tile);
    unsigned char *memory, *src = source(src_bytes, src_offset, &memory);
    for (int plane = 0; plane < planes_of(kernel->bytes); plane++) {
        fill_with_indices(src, src_bytes / kernel->bytes, kernel->bytes, plane);
        lay_guards(dst_bytes);
        kernel->run(found + GUARD + dst_offset, src, tile);
        for (int64_t i = 0; i <= others; i++)
            define(expected + GUARD + dst_offset + i * tile->dst_tile, src + i * tile->src_tile, s, kernel->bytes);
        if (!is_as_expected(dst_bytes))
            fail_msg("%s: %d rows, %d columns, turn %zu, %d tiles%s%s%s%s", kernel->name, (int)s->rows, (int)s->columns,
                     turn, (int)others + 1, tile->has_dense_rows ? ", dense" : "",
                     tile->gathers       ? ", gathered"
                     : tile->reads_lines ? ", by lines"
                                         : "",
                     tile->reads_pairs ? ", by pairs" : "", tile->streams ? ", past the caches" : "");
    }
    free(memory);
}

/* Several tiles, the next of which begins where one ends, or a little later. */
static void set_tiles(tsr_tile *tile, const struct sample *s, size_t bytes, int64_t tiles)
{
    tile->tiles = tiles;
    tile->src_tile = (int64_t)s->src_bytes + tiles % 2 * (int64_t)bytes;
    tile->dst_tile = (int64_t)s->dst_bytes + tiles % 2 * 3 * (int64_t)bytes;
}

/* Where rows of one place after the other lie evenly, as they do in every sample. Nothing is fetched ahead then. */
static void set_even(tsr_tile *tile, const struct sample *s)
{
    const int64_t next = tile->places > 1 ? tile->places : 1;
    tile->are_even = true;
    tile->fetches_ahead = false;
    if (next >= s->rows)
        return;
    tile->dst_pitch = s->dst_row[next] - s->dst_row[0];
    tile->src_pitch = s->src_row[next] - s->src_row[0];
}

/* What a tile may say of dense and even rows, and how much of columns is read at once, changes nothing. */
static void check_tile(const struct tile_case *kernel, struct sample *s, size_t turn)
{
    measure(s, kernel->bytes);
    tsr_tile tile = tile_of(kernel->family, s);
    tile.unit_bytes = (int64_t)kernel->bytes;
    const bool is_transpose = strcmp(kernel->family, "transpose") == 0;
    const bool is_copy = strcmp(kernel->family, "copy") == 0;
    const bool has_tiles = is_transpose || is_copy || is_one_of(kernel->family, "shuffle transpose_units");
    const bool may_be_dense = is_transpose || is_copy;
    const bool is_dense = may_be_dense && are_dense(s->dst_row, s->rows, s->columns * (int64_t)kernel->bytes);
    if (may_be_dense && turn / 5 % 2)
        set_even(&tile, s);
    /* of a transpose 16 bytes, lines, those that are gathered first, and pairs of bytes alone */
    const int ways = !is_transpose ? 1 : kernel->bytes > 2 ? 2 : kernel->bytes > 1 ? 3 : 4;
    for (int says = 0; says <= is_dense; says++)
        for (int way = 0; way < ways; way++) {
            tile.has_dense_rows = says;
            tile.reads_lines = way == 1;
            tile.gathers = way == 2;
            tile.reads_pairs = way == 3;
            if (has_tiles)
                set_tiles(&tile, s, kernel->bytes, (int64_t)(turn + (size_t)way) % 4);
            run_tile(kernel, s, &tile, turn);
        }
}

typedef void (*tile_visitor)(const struct tile_case *kernel);

static void visit_family(const char *family, tile_visitor visit)
{
    for (size_t i = 0; i < COUNT(tiles); i++)
        if (strcmp(tiles[i].family, family) == 0 && can_run(tiles[i].rung))
            visit(&tiles[i]);
}

/* A rung that is misspelt in TSR_TEST_RUNG, or that this machine lacks, would pass everything. */
static void test_rung(void **state)
{
    int kernels = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(tiles); i++)
        kernels += can_run(tiles[i].rung);
    assert_true(kernels > 0);
}

static const int64_t gaps[] = {0, 1, 7};

static void lay_transpose(struct sample *s, int64_t rows, int64_t columns, int64_t bytes, size_t turn)
{
    const int64_t dst_gap = gaps[turn % COUNT(gaps)], src_gap = gaps[turn / 3 % COUNT(gaps)];
    s->rows = rows;
    s->columns = columns;
    lay(s->dst_row, rows, (columns + dst_gap) * bytes, turn % 2);
    lay(s->src_row, rows, bytes, false);
    lay(s->dst_column, columns, bytes, false);
    lay(s->src_column, columns, (rows + src_gap) * bytes, turn / 2 % 2);
}

static void check_transpose(const struct tile_case *kernel, int64_t rows, int64_t columns, size_t turn)
{
    static struct sample s;
    lay_transpose(&s, rows, columns, (int64_t)kernel->bytes, turn);
    check_tile(kernel, &s, turn);
}

/* Tiles of a lane of columns and fewer rows than a block has: fewer tiles than vectors have lanes, and more. */
static void transpose_tails(const struct tile_case *kernel)
{
    enum { MOST_TILES = 6, WAYS = 18 };
    static struct sample s;
    const int64_t bytes = (int64_t)kernel->bytes, side = TSR_LANE_BYTES / bytes;
    size_t turn = 0;
    for (int64_t rows = 1; rows < side; rows++)
        for (int64_t n = 2; n <= MOST_TILES; n++)
            for (int way = 0; way < WAYS; way++, turn++) {
                lay_transpose(&s, rows, side, bytes, turn);
                measure(&s, kernel->bytes);
                tsr_tile tile = tile_of(kernel->family, &s);
                set_tiles(&tile, &s, kernel->bytes, n);
                run_tile(kernel, &s, &tile, turn);
            }
}

/* Rows that begin with cache lines, or dense ones of which the first does, and which are written past the caches. */
static void check_lines(const struct tile_case *kernel, int64_t rows, int64_t columns, bool is_dense, size_t turn)
{
    static struct sample s;
    const int64_t bytes = (int64_t)kernel->bytes, lines = (columns * bytes + TSR_CACHE_LINE - 1) / TSR_CACHE_LINE;
    const int64_t pitch = is_dense ? columns * bytes : (lines + (int64_t)turn % 2) * TSR_CACHE_LINE;
    const bool are_pixels = strcmp(kernel->family, "deinterleave") == 0;
    const int64_t gap = are_pixels ? 0 : gaps[turn / 3 % COUNT(gaps)];
    s.rows = rows;
    s.columns = columns;
    lay(s.dst_row, rows, pitch, !is_dense && turn / 2 % 2);
    lay(s.src_row, rows, bytes, false);
    lay(s.dst_column, columns, bytes, false);
    lay(s.src_column, columns, (rows + gap) * bytes, !are_pixels && turn / 4 % 2);
    measure(&s, kernel->bytes);
    tsr_tile tile = tile_of(kernel->family, &s);
    if (strcmp(kernel->family, "transpose") == 0) {
        set_tiles(&tile, &s, kernel->bytes, (int64_t)turn % 4);
        tile.dst_tile = (rows * pitch + TSR_CACHE_LINE - 1) / TSR_CACHE_LINE * TSR_CACHE_LINE;
        tile.has_dense_rows = is_dense;
        tile.gathers = kernel->bytes <= 2 && turn % 4 == 0;
        tile.reads_lines = turn % 5 == 0;
        tile.reads_pairs = turn % 3 == 0;
        tile.streams_by_rows = turn % 7 < 3;
        tile.fetches_columns = turn / 3 % 2;
    }
    if (strcmp(kernel->family, "transpose") == 0 && turn / 11 % 2)
        set_even(&tile, &s);
    tile.streams = true;
    tile.fetches_ahead = false;
    run_tile(kernel, &s, &tile, turn);
}

static void transpose_lines(const struct tile_case *kernel)
{
    enum { MOST_ROWS = 72 };
    const int64_t most = 2 * TSR_CACHE_LINE / (int64_t)kernel->bytes + 1;
    size_t turn = 0;
    for (int64_t r = 0; r <= MOST_ROWS; r++)
        for (int64_t c = 0; c <= most; c++, turn++) {
            check_lines(kernel, r, c, false, turn);
            if (c * (int64_t)kernel->bytes == 16 || c * (int64_t)kernel->bytes == 32)
                check_lines(kernel, r, c, true, turn);
        }
}

/* All sizes up to two of the largest blocks and one more; rows of less than a lane, so many that these come in parts;
 * and whole lanes of rows, on whatever gaps and addresses. */
static void transpose_all_sizes(const struct tile_case *kernel)
{
    enum { WAYS = 144 };
    static const int64_t many[] = {255, 256, 257, 289, 511, 513};
    const int64_t side = 16 / (int64_t)kernel->bytes;
    const int64_t most = 2 * 64 / (int64_t)kernel->bytes + 1, most_rows = most > 17 ? most : 17;
    size_t turn = 0;
    for (int64_t r = 0; r <= most_rows; r++)
        for (int64_t c = 0; c <= most; c++)
            check_transpose(kernel, r, c, turn++);
    for (size_t i = 0; i < COUNT(many); i++)
        for (int64_t c = 1; c < 16 / (int64_t)kernel->bytes; c++)
            for (int repeat = 0; repeat < 4; repeat++)
                check_transpose(kernel, many[i], c, turn++);
    for (; turn % 4096 != 0; turn++)
        check_transpose(kernel, 17, 19, turn);
    for (int64_t c = side; c <= 4 * side; c += side)
        for (turn = 0; turn < WAYS; turn++)
            check_transpose(kernel, side, c, turn);
}

/* So many rows that columns are gathered in several stretches, the last of which begins early. */
static void gather_long_columns(const struct tile_case *kernel)
{
    static const int64_t columns[] = {8, 16, 31, 32, 48, 64, 65};
    size_t turn = 0;
    for (int64_t bytes = 509; kernel->bytes <= 2 && bytes < 600; bytes += 25)
        for (size_t i = 0; i < COUNT(columns); i++)
            check_transpose(kernel, bytes / (int64_t)kernel->bytes, columns[i], turn++);
}

/* Of all units that have room in the width and none less; up to two of the largest blocks and one more, or where a unit
 * has a lane, of the widest stripes. */
static void transpose_units_of_all_sizes(const struct tile_case *kernel)
{
    enum { WIDEST_STRIPE = 32 };
    const size_t width = kernel->bytes;
    const int64_t most = 2 * 64 / (int64_t)width + 1;
    const int64_t most_columns = width < TSR_LANE_BYTES ? most : 2 * WIDEST_STRIPE + most;
    struct tile_case of_unit = *kernel;
    size_t turn = 0;
    for (of_unit.bytes = width / 2 + 1; of_unit.bytes < width; of_unit.bytes++)
        for (int64_t r = 0; r <= most; r++)
            for (int64_t c = 0; c <= most_columns; c++)
                for (int repeat = 0; repeat < 2; repeat++)
                    check_transpose(&of_unit, r, c, turn++);
}

/* Rows that begin anywhere. */
static void lines_of_all_sizes(const struct tile_case *kernel)
{
    enum { LEAST_ROWS = 16, MOST_ROWS = 50 };
    const int64_t line = TSR_CACHE_LINE / (int64_t)kernel->bytes;
    size_t turn = 0;
    for (int64_t r = LEAST_ROWS; r <= MOST_ROWS; r++)
        for (int64_t c = 2 * line; c <= 4 * line + 1; c++, turn++)
            check_transpose(kernel, r, c, turn);
}

/* Rows of the source may also repeat. */
static void copy_rows_of(const struct tile_case *kernel, int64_t columns, int64_t most_rows)
{
    static struct sample s;
    static size_t turn = 0;
    for (s.rows = 0; s.rows <= most_rows; s.rows++)
        for (size_t d = 0; d < COUNT(gaps); d++)
            for (size_t i = 0; i <= COUNT(gaps); i++, turn++) {
                s.columns = columns;
                lay(s.dst_row, s.rows, columns + gaps[d], turn % 2);
                lay(s.src_row, s.rows, i < COUNT(gaps) ? columns + gaps[i] : 0, turn / 2 % 2);
                lay(s.dst_column, columns, 1, false);
                lay(s.src_column, columns, 1, false);
                check_tile(kernel, &s, turn);
            }
}

/* All short ones, some that are longer, and those around the longest that no library copies. */
static void copy_all_lengths(const struct tile_case *kernel)
{
    enum { LONG = 1150, LONGEST = 8 << 10 };
    for (int64_t columns = 0; columns <= LONG; columns += columns < 300 ? 1 : 13)
        copy_rows_of(kernel, columns, 5);
    for (int64_t columns = LONGEST - 2; columns <= LONGEST + 2; columns++)
        copy_rows_of(kernel, columns, 2);
}

/* Of a sample whose rows are laid, with columns side by side on both sides. */
static tsr_tile tile_of_runs(const struct tile_case *kernel, struct sample *s)
{
    lay(s->dst_column, s->columns, 1, false);
    lay(s->src_column, s->columns, 1, false);
    measure(s, kernel->bytes);
    return tile_of(kernel->family, s);
}

/* Place by place, all rows at once or some, the last of which may be more, and places that have one row more than
 * others; of several tiles, too. */
static void copy_to_places(const struct tile_case *kernel)
{
    enum { MOST_ROWS = 5 * 35 };
    static const int64_t columns[] = {1, 7, 16, 24, 32, 40, 64, 100, 128};
    static struct sample s;
    size_t turn = 0;
    for (size_t c = 0; c < COUNT(columns); c++)
        for (s.rows = 0; s.rows <= MOST_ROWS; s.rows += 1 + (int64_t)turn % 13)
            for (int64_t places = 1; places <= 5; places++, turn++) {
                s.columns = columns[c];
                lay(s.dst_row, s.rows, s.columns + gaps[turn % COUNT(gaps)], turn % 2);
                lay(s.src_row, s.rows, s.columns, turn / 2 % 2);
                tsr_tile tile = tile_of_runs(kernel, &s);
                tile.places = places;
                tile.fills_lines = turn / 4 % 2;
                if (turn / 8 % 2)
                    set_even(&tile, &s);
                set_tiles(&tile, &s, kernel->bytes, (int64_t)turn % 4);
                run_tile(kernel, &s, &tile, turn);
            }
}

/* Dense rows whose sources are in no order, the inner ones beyond the first and the last, or inside of them. */
static void copy_to_dense_rows(const struct tile_case *kernel)
{
    enum { MOST_COLUMNS = 40, ROWS = 9 };
    static const int64_t from[][ROWS] = {
        {3, 0, 8, 1, 7, 2, 6, 4, 5}, {0, 1, 8, 7, 6, 5, 4, 3, 2}, {8, 1, 2, 3, 4, 5, 6, 7, 0}};
    static struct sample s;
    size_t turn = 0;
    for (s.columns = 1; s.columns <= MOST_COLUMNS; s.columns++)
        for (s.rows = 1; s.rows <= ROWS; s.rows++)
            for (size_t i = 0; i < COUNT(from); i++, turn++) {
                lay(s.dst_row, s.rows, s.columns, false);
                for (int64_t r = 0; r < s.rows; r++)
                    s.src_row[r] = from[i][r] * (s.columns + gaps[turn % COUNT(gaps)]);
                tsr_tile tile = tile_of_runs(kernel, &s);
                tile.has_dense_rows = true;
                set_tiles(&tile, &s, kernel->bytes, (int64_t)turn % 4);
                run_tile(kernel, &s, &tile, turn);
            }
}

/* Short rows that are joined to lines, past the caches or not, in one tile or several; what fills none is copied as
 * well. */
static void copy_to_lines(const struct tile_case *kernel)
{
    enum { MOST_ROWS = 40 };
    static struct sample s;
    size_t turn = 0;
    for (int64_t c = 16; c <= 32; c += 16)
        for (s.rows = 0; s.rows <= MOST_ROWS; s.rows++)
            for (size_t i = 0; i <= COUNT(gaps); i++, turn++) {
                s.columns = c;
                lay(s.dst_row, s.rows, c, false);
                lay(s.src_row, s.rows, i < COUNT(gaps) ? c + gaps[i] : 0, turn / 2 % 2);
                tsr_tile tile = tile_of_runs(kernel, &s);
                tile.has_dense_rows = true;
                if (turn / 5 % 2)
                    set_even(&tile, &s);
                for (int streams = 0; streams <= 1; streams++) {
                    tile.streams = streams;
                    set_tiles(&tile, &s, kernel->bytes, streams ? 0 : 1 + (int64_t)turn % 3);
                    run_tile(kernel, &s, &tile, turn);
                    tile.fetches_ahead = false;
                }
            }
}

/* Dense rows beyond a line, wherever the first one begins, from which vectors are put together; past the caches or not,
 * in one tile or several. Their sources may be the same, or come backwards. What a turn says of one thing does not
 * depend on what it says of another, as a few bits of it tell that, or what a prime leaves. */
static void copy_joined_runs(const struct tile_case *kernel)
{
    enum { LEAST = TSR_CACHE_LINE + 1, LONG = 200, LONGEST = 1200, MOST_ROWS = 24, STRIDE = 37 };
    static struct sample s;
    size_t turn = 0;
    for (s.columns = LEAST; s.columns < LONGEST; s.columns += s.columns < LONG ? 1 : 37)
        for (s.rows = 0; s.rows <= MOST_ROWS; s.rows += 1 + (int64_t)turn % 3, turn += STRIDE) {
            lay(s.dst_row, s.rows, s.columns, false);
            lay(s.src_row, s.rows, s.columns + gaps[turn / 512 % COUNT(gaps)], turn % 5 < 2);
            if (s.rows > 2 && turn % 7 == 0)
                s.src_row[1] = s.src_row[0];
            tsr_tile tile = tile_of_runs(kernel, &s);
            tile.has_dense_rows = true;
            tile.fetches_ahead = turn % 11 < 5;
            for (int streams = 0; streams <= 1; streams++) {
                tile.streams = streams;
                set_tiles(&tile, &s, kernel->bytes, (int64_t)turn % 13 % 4);
                run_tile(kernel, &s, &tile, turn);
            }
        }
}

/* Rows of some bytes, and so many vectors of them and one more, which may be whole lines past the caches. */
static void check_padded(const struct tile_case *kernel, int64_t rows, int64_t columns, int64_t row_bytes, size_t turn)
{
    enum { MANY = 40 }; /* several tiles have fewer rows */
    static struct sample s;
    const bool is_copy = strcmp(kernel->family, "copy_padded") == 0, are_lines = row_bytes % TSR_CACHE_LINE == 0;
    const int64_t bytes = (int64_t)kernel->bytes, gap = gaps[turn / 3 % COUNT(gaps)];
    s.rows = rows;
    s.columns = columns;
    s.row_bytes = row_bytes;
    lay(s.dst_row, rows, row_bytes + gaps[turn % COUNT(gaps)] * TSR_CACHE_LINE, turn % 2);
    lay(s.src_row, rows, is_copy ? columns + gap : bytes, is_copy && turn / 2 % 2);
    lay(s.dst_column, columns, bytes, false);
    lay(s.src_column, columns, is_copy ? 1 : (rows + gap) * bytes, !is_copy && turn / 2 % 2);
    measure(&s, kernel->bytes);
    for (int streams = 0; streams <= are_lines; streams++) {
        tsr_tile tile = tile_of(kernel->family, &s);
        tile.streams = streams;
        set_tiles(&tile, &s, kernel->bytes, streams || rows > MANY ? 0 : (int64_t)turn % 4);
        run_tile(kernel, &s, &tile, turn);
    }
}

static void pad_all_lengths(const struct tile_case *kernel)
{
    static const int64_t row_bytes[] = {16, 32, 48, 64, 80, 128, 160};
    const bool is_copy = strcmp(kernel->family, "copy_padded") == 0;
    const int64_t bytes = (int64_t)kernel->bytes, most = 2 * 64 / bytes + 1, longest = is_copy ? 160 : TSR_LANE_BYTES;
    size_t turn = 0;
    for (int64_t c = 1; c * bytes <= longest; c++)
        for (int64_t r = 0; r <= (c * bytes <= TSR_LANE_BYTES ? most : 3); r++)
            for (size_t i = 0; i < COUNT(row_bytes); i++)
                if (c * bytes <= row_bytes[i])
                    check_padded(kernel, r, c, row_bytes[i], turn++);
}

/* Pixels so far from each other on both sides, each in one piece; their elements in order, backwards, and from some on,
 * in turn. */
enum { PIXEL_TURNS = 3 };

static void lay_pixels(struct sample *s, int64_t bytes, int64_t dst_pitch, int64_t src_pitch, size_t turn)
{
    lay(s->dst_row, s->rows, dst_pitch, false);
    lay(s->src_row, s->rows, src_pitch, false);
    lay(s->dst_column, s->columns, bytes, false);
    lay(s->src_column, s->columns, bytes, turn % PIXEL_TURNS == 1);
    for (int64_t c = 0; turn % PIXEL_TURNS == 2 && c < s->columns; c++)
        s->src_column[c] = (c + 1) % s->columns * bytes;
    measure(s, (size_t)bytes);
}

/* Pixels of every size, side by side, in rows of every power of two. */
static void pad_all_pixels(const struct tile_case *kernel)
{
    enum { LONGEST = 512, MOST_ROWS = 70 };
    static struct sample s;
    const int64_t bytes = (int64_t)kernel->bytes;
    size_t turn = 0;
    for (s.columns = 1; s.columns * bytes <= TSR_LANE_BYTES; s.columns++)
        for (s.row_bytes = 4; s.row_bytes <= LONGEST; s.row_bytes *= 2)
            for (s.rows = 0; s.rows <= MOST_ROWS && s.columns * bytes < s.row_bytes; s.rows++, turn++) {
                lay_pixels(&s, bytes, s.row_bytes, s.columns * bytes, turn);
                tsr_tile tile = tile_of(kernel->family, &s);
                tile.streams = turn / PIXEL_TURNS % 2;
                set_tiles(&tile, &s, kernel->bytes, tile.streams ? 0 : (int64_t)turn % 4);
                run_tile(kernel, &s, &tile, turn);
            }
}

/* A few channels of every pixel, which lie at pitches that vectors take at once, at others, and side by side. */
static void unpad_all_pixels(const struct tile_case *kernel)
{
    enum { MOST_CHANNELS = 4, MOST_ROWS = 300 };
    static const int64_t more[] = {0, 1, 3, 4, 8, 12, 16, 24, 28, 32, 48, 56, 60, 64, 112, 124, 128, 144};
    static struct sample s;
    const int64_t bytes = (int64_t)kernel->bytes, least = bytes > 4 ? TSR_LANE_BYTES : MOST_CHANNELS * bytes;
    size_t turn = 0;
    for (s.columns = 1; s.columns * bytes <= least; s.columns++)
        for (size_t i = 0; i <= COUNT(more); i++)
            for (s.rows = 0; s.rows <= MOST_ROWS; s.rows += s.rows < 90 ? 1 : 35, turn++) {
                const int64_t pitch = i < COUNT(more) ? least + more[i] : s.columns * bytes;
                lay_pixels(&s, bytes, s.columns * bytes, pitch, turn);
                tsr_tile tile = tile_of(kernel->family, &s);
                tile.src_pitch = pitch;
                run_tile(kernel, &s, &tile, turn);
            }
}

/* Pixels of every size among others, so many that vectors repeat, and some more. What lies between them stays. */
static void scatter_at_all_pitches(const struct tile_case *kernel)
{
    static const int64_t rows[] = {0, 1, 9, 64, 257, 333, 1024, 1025, 1199};
    static struct sample s;
    size_t turn = 0;
    for (s.columns = 1; s.columns < TSR_LANE_BYTES; s.columns++)
        for (int64_t dst_pitch = s.columns + 1; dst_pitch <= TSR_LANE_BYTES; dst_pitch++)
            for (int64_t src_pitch = s.columns; src_pitch <= dst_pitch; src_pitch++, turn++) {
                s.rows = rows[turn % COUNT(rows)];
                lay(s.dst_row, s.rows, dst_pitch, false);
                lay(s.src_row, s.rows, src_pitch, false);
                tsr_tile tile = tile_of_runs(kernel, &s);
                tile.dst_pitch = dst_pitch;
                tile.src_pitch = src_pitch;
                set_tiles(&tile, &s, kernel->bytes, (int64_t)turn % 4);
                if (turn % 3 == 0 && 2 * s.columns <= dst_pitch) { /* one tile's pixels between those of the other */
                    tile.tiles = 2;
                    tile.dst_tile = s.columns;
                }
                run_tile(kernel, &s, &tile, turn);
            }
}

/* Rows by twos or eights, each of whose bytes has halves, and bits, that differ: see fill_with_indices. */
static void part_all_lengths(const struct tile_case *kernel)
{
    const int64_t together = strcmp(kernel->family, "part_bits") == 0 ? 8 : 2;
    static struct sample s;
    size_t turn = 0;
    for (s.rows = 0; s.rows <= 3 * together; s.rows += together)
        for (s.columns = 0; s.columns <= 2 * 64 + 1; s.columns++, turn++) {
            lay(s.dst_row, s.rows, s.columns + gaps[turn % COUNT(gaps)], turn % 2);
            lay(s.src_row, s.rows, s.columns + gaps[turn / 3 % COUNT(gaps)], turn / 2 % 2);
            lay(s.dst_column, s.columns, 1, false);
            lay(s.src_column, s.columns, 1, false);
            check_tile(kernel, &s, turn);
        }
}

/* Either side may be the one with the larger steps; the source may stand still. */
static void pick_in_many_ways(const struct tile_case *kernel)
{
    static const int64_t steps[] = {0, 1, 2, 5};
    static struct sample s;
    int64_t bytes = (int64_t)kernel->bytes;
    size_t turn = 0;
    for (s.rows = 0; s.rows <= 5; s.rows++)
        for (s.columns = 0; s.columns <= 20; s.columns++)
            for (size_t d = 1; d < COUNT(steps); d++)
                for (size_t i = 0; i < COUNT(steps); i++, turn++) {
                    bool tall = turn / 4 % 2;
                    int64_t dst_row = tall ? steps[d] : s.columns * steps[d] + 1, src_row = tall ? steps[i] : 3;
                    int64_t dst_column = tall ? s.rows * steps[d] + 1 : steps[d], src_column = tall ? 7 : steps[i];
                    lay(s.dst_row, s.rows, dst_row * bytes, turn % 2);
                    lay(s.src_row, s.rows, src_row * bytes, turn / 2 % 2);
                    lay(s.dst_column, s.columns, dst_column * bytes, turn / 2 % 2);
                    lay(s.src_column, s.columns, src_column * bytes, turn % 2);
                    check_tile(kernel, &s, turn);
                }
}

/* Where element i of a row comes from: reversed, as pixels in many ways, further and further apart up to a point, all
 * over the place, and swapped with its neighbour, so that lanes of all widths are alike, or every other one is. */
static int64_t shuffled(int way, int64_t i)
{
    switch (way) {
    case 0:
        return -i;
    case 1:
        return i / 3 * 3 + 2 - i % 3;
    case 2:
        return i % 3 - i / 3 * 3;
    case 3:
        return i / 3 * 4 + i % 3;
    case 4:
        return i / 3;
    case 5:
        return 2 * i;
    case 6:
        return i < 70 ? i * i / 8 : 600 + i;
    case 7:
        return i / 2 * 2 + 1 - i % 2;
    case 8:
        return i / 16 % 2 ? i / 16 * 16 + 15 - i % 16 : i / 2 * 2 + 1 - i % 2;
    default:
        return i / 16 * 16 + i * 7 % 16;
    }
}

enum { WAYS = 10, SWAPPED = 7 };

static int64_t widest_window(const struct tile_case *kernel)
{
    return kernel->rung == TSR_RUNG_avx512vbmi ? TSR_WIDEST_LANE : TSR_LANE_BYTES;
}

static void set_lanes(struct sample *s, const tsr_lanes *lanes, int64_t lane_rows)
{
    s->lanes = lanes->lane;
    s->lane_bytes = lanes->bytes;
    s->lane_window = lanes->window;
    s->has_alike_lanes = lanes->alike > 0;
    s->lane_rows = lane_rows;
}

/* Lanes are cut once, for the longest tile. The source of shorter ones begins and ends with their first and last
 * byte. */
static void check_shuffle(const struct tile_case *kernel, struct sample *s, int64_t window, int way, int64_t longest,
                          size_t turn)
{
    static const int64_t zero[] = {0};
    const int64_t bytes = (int64_t)kernel->bytes;
    const tsr_lane_row row = {zero, s->src_column, 1, longest, bytes};
    const tsr_allocator *allocator = tsr_default_allocator();
    tsr_lanes lanes;
    int64_t low = 0, high = 0;
    for (int64_t c = 0; c < s->columns; c++) {
        low = shuffled(way, c) < low ? shuffled(way, c) : low;
        high = shuffled(way, c) > high ? shuffled(way, c) : high;
    }
    for (int64_t c = 0; c < longest; c++)
        s->src_column[c] = (shuffled(way, c) - low) * bytes;
    assert_int_equal(tsr_lanes_init(&lanes, &row, window, allocator), TSR_OK);
    assert_true(lanes.count > 1 || longest < 3 * TSR_LANE_BYTES);
    if (way == SWAPPED && bytes < TSR_LANE_BYTES && longest % 2 == 0 && longest * bytes / lanes.bytes > TSR_FEW_ALIKE)
        assert_true(lanes.alike >= longest * bytes / lanes.bytes);
    else
        assert_true(lanes.alike < lanes.count);
    lay(s->dst_row, s->rows, (s->columns + gaps[turn % COUNT(gaps)]) * bytes, turn % 2);
    lay(s->src_row, s->rows, (high - low + gaps[turn / 3 % COUNT(gaps)]) * bytes, turn / 2 % 2);
    lay(s->dst_column, s->columns, bytes, false);
    set_lanes(s, &lanes, 0);
    check_tile(kernel, s, turn);
    tsr_lanes_reset(&lanes, allocator);
}

/* Rows that are put together from planes, of so many elements of each pixel there: pixels are rows, as many of which as
 * lane_rows says are one for the lanes. All bytes of the source are elements, so that none beyond these may be read. */
static void check_planes(const struct tile_case *kernel, struct sample *s, int64_t window, int64_t plane,
                         int64_t lane_rows, size_t turn)
{
    const int64_t bytes = (int64_t)kernel->bytes, gap = lane_rows > 1 ? 0 : gaps[turn % COUNT(gaps)];
    const int64_t first[] = {0}, *pixel = lane_rows > 1 ? s->src_row : first;
    const tsr_lane_row row = {s->src_column, pixel, s->columns, lane_rows > 1 ? lane_rows : 1, bytes};
    const tsr_allocator *allocator = tsr_default_allocator();
    tsr_lanes lanes;
    for (int64_t c = 0; c < s->columns; c++)
        s->src_column[c] = (c / plane * s->rows * plane + c % plane) * bytes;
    lay(s->src_row, s->rows, plane * bytes, lane_rows <= 1 && turn % 2);
    lay(s->dst_row, s->rows, (s->columns + gap) * bytes, lane_rows <= 1 && turn / 2 % 2);
    lay(s->dst_column, s->columns, bytes, false);
    assert_int_equal(tsr_lanes_init(&lanes, &row, window, allocator), TSR_OK);
    set_lanes(s, &lanes, tsr_lanes_are_whole(&lanes, bytes) ? lane_rows : 0);
    check_tile(kernel, s, turn);
    s->lane_rows = 0;
    tsr_lanes_reset(&lanes, allocator);
}

static void shuffle_planes(const struct tile_case *kernel)
{
    static const int64_t planes[] = {1, 3, 4, 9}, many[] = {1, 4, 7, 17};
    static struct sample s;
    size_t turn = 0;
    for (size_t p = 0; p < COUNT(planes); p++)
        for (size_t i = 0; i < COUNT(many); i++)
            for (s.columns = 1; s.columns <= 26; s.columns++)
                for (int64_t lane_rows = 0; lane_rows <= many[i]; lane_rows += 1 + lane_rows / 2, turn++) {
                    s.rows = many[i];
                    for (int64_t window = TSR_LANE_BYTES; window <= widest_window(kernel); window *= 4)
                        check_planes(kernel, &s, window, planes[p], lane_rows, turn);
                }
}

static void shuffle_in_many_ways(const struct tile_case *kernel)
{
    static const int64_t longest[] = {1, 5, 16, 31, 70, 132};
    static struct sample s;
    size_t turn = 0;
    for (int way = 0; way < WAYS; way++)
        for (size_t i = 0; i < COUNT(longest); i++)
            for (s.columns = 0; s.columns <= longest[i]; s.columns++)
                for (s.rows = 0; s.rows <= 3; s.rows++, turn++)
                    for (int64_t window = TSR_LANE_BYTES; window <= widest_window(kernel); window *= 4)
                        check_shuffle(kernel, &s, window, way, longest[i], turn);
}

enum { SHORTEST = 2, LONGEST_SHORT = 8 };

static void interleave_all_lengths(const struct tile_case *kernel)
{
    static struct sample s;
    int64_t bytes = (int64_t)kernel->bytes, most = 2 * 64 / bytes + 1;
    for (int64_t side = SHORTEST; side <= LONGEST_SHORT; side++)
        for (int64_t n = 0; n <= most; n++)
            for (size_t turn = 0; turn < 8; turn++) {
                s.rows = n;
                s.columns = side;
                lay(s.dst_row, n, s.columns * bytes, false);
                lay(s.src_row, n, bytes, false);
                lay(s.dst_column, s.columns, bytes, false);
                lay(s.src_column, s.columns, (n + gaps[turn % 3]) * bytes, turn % 2);
                check_tile(kernel, &s, turn * 9 + (size_t)n);
            }
}

static void interleave_lines(const struct tile_case *kernel)
{
    const int64_t most = 4 * TSR_CACHE_LINE / (int64_t)kernel->bytes + 1;
    for (int64_t side = SHORTEST; side <= LONGEST_SHORT; side++)
        for (int64_t n = 0; n <= most; n++)
            check_lines(kernel, n, side, true, (size_t)(n + side));
}

/* Pieces follow each other forwards or backwards, with gaps between them and between their columns, or none. */
static void lay_pieces(struct sample *s, int64_t piece, int64_t pieces, int64_t bytes, size_t turn)
{
    const int64_t column = (piece + gaps[turn % 3]) * bytes, pitch = s->columns * column + gaps[turn / 3 % 3] * bytes;
    s->rows = piece * pieces;
    s->pieces = pieces;
    lay(s->dst_row, s->rows, s->columns * bytes, false);
    lay(s->dst_column, s->columns, bytes, false);
    lay(s->src_column, s->columns, column, turn % 2);
    for (int64_t r = 0; r < s->rows; r++) {
        const int64_t at = r / piece;
        s->src_row[r] = (turn / 2 % 2 ? pieces - 1 - at : at) * pitch + r % piece * bytes;
        s->piece[at] = s->src_row[r / piece * piece];
    }
}

/* Up to two lanes and one more, and then some that fill vectors, of which there are fewer; or 0. */
static int64_t next_piece(int64_t piece, int64_t bytes)
{
    static const int64_t many[] = {64, 65, 130};
    size_t i = 0;
    if (piece <= 2 * 16 / bytes)
        return piece + 1;
    while (i < COUNT(many) && many[i] <= piece)
        i++;
    return i < COUNT(many) ? many[i] : 0;
}

static int64_t most_pieces(int64_t piece)
{
    return piece < 64 ? SEVERAL_PIECES : 3;
}

static void interleave_all_pieces(const struct tile_case *kernel)
{
    static struct sample s;
    const int64_t bytes = (int64_t)kernel->bytes;
    size_t turn = 0;
    for (s.columns = SHORTEST; s.columns <= LONGEST_SHORT; s.columns++)
        for (int64_t piece = 1; piece > 0; piece = next_piece(piece, bytes))
            for (int64_t pieces = 1; pieces <= most_pieces(piece); pieces++, turn++) {
                lay_pieces(&s, piece, pieces, bytes, turn);
                check_tile(kernel, &s, turn);
            }
}

/* Pieces of 3x3 filters, side by side but for a gap behind some of them, as tiles have. */
static void interleave_filters(const struct tile_case *kernel)
{
    enum { PIXELS = 9, GAP = 5 };
    static const int64_t before_gap[] = {MOST_PIECES, 7, 16, 20, 32};
    static struct sample s;
    const int64_t bytes = (int64_t)kernel->bytes;
    for (s.columns = SHORTEST; s.columns <= 4; s.columns++)
        for (int64_t pieces = 1; pieces <= MOST_PIECES; pieces++)
            for (size_t i = 0; i < COUNT(before_gap); i++) {
                lay_pieces(&s, PIXELS, pieces, bytes, 0);
                for (int64_t r = before_gap[i] * PIXELS; r < s.rows; r++) {
                    s.src_row[r] += GAP * bytes;
                    s.piece[r / PIXELS] = s.src_row[r / PIXELS * PIXELS];
                }
                check_tile(kernel, &s, (size_t)pieces + i);
            }
}

static void deinterleave_all_lengths(const struct tile_case *kernel)
{
    static struct sample s;
    int64_t bytes = (int64_t)kernel->bytes, most = 2 * 64 / bytes + 1;
    for (int64_t side = SHORTEST; side <= LONGEST_SHORT; side++)
        for (int64_t n = 0; n <= most; n++)
            for (size_t turn = 0; turn < 8; turn++) {
                s.rows = side;
                s.columns = n;
                lay(s.dst_row, s.rows, (n + gaps[turn % 3]) * bytes, turn % 2);
                lay(s.src_row, s.rows, bytes, false);
                lay(s.dst_column, n, bytes, false);
                lay(s.src_column, n, s.rows * bytes, false);
                check_tile(kernel, &s, turn * 9 + (size_t)n);
            }
}

static void deinterleave_lines(const struct tile_case *kernel)
{
    const int64_t most = 4 * TSR_CACHE_LINE / (int64_t)kernel->bytes + 1;
    for (int64_t side = SHORTEST; side <= LONGEST_SHORT; side++)
        for (int64_t n = 0; n <= most; n++)
            check_lines(kernel, side, n, false, (size_t)(n + side));
}

/* Where pieces are in the source: one behind the other, in any of two orders, or apart. */
static void lay_src_pieces(struct sample *s, int64_t bytes, size_t turn)
{
    const int64_t columns = s->columns / s->pieces, pixel = s->rows * bytes;
    lay(s->src_piece, s->pieces, columns * pixel + (turn % 4 == 2 ? 3 * bytes : 0), turn % 4 == 1);
    for (int64_t i = 0; i < s->pieces; i++)
        for (int64_t c = 0; c < columns; c++)
            s->src_column[i * columns + c] = s->src_piece[i] + c * pixel;
}

/* The same, the other way round. */
static void deinterleave_all_pieces(const struct tile_case *kernel)
{
    static struct sample s, turned;
    const int64_t bytes = (int64_t)kernel->bytes;
    size_t turn = 0;
    for (turned.columns = SHORTEST; turned.columns <= LONGEST_SHORT; turned.columns++)
        for (int64_t piece = 1; piece > 0; piece = next_piece(piece, bytes))
            for (int64_t pieces = 1; pieces <= most_pieces(piece); pieces++, turn++) {
                lay_pieces(&turned, piece, pieces, bytes, turn);
                s.rows = turned.columns;
                s.columns = turned.rows;
                s.pieces = pieces;
                memcpy(s.dst_row, turned.src_column, sizeof s.dst_row);
                memcpy(s.src_row, turned.dst_column, sizeof s.src_row);
                memcpy(s.dst_column, turned.src_row, sizeof s.dst_column);
                memcpy(s.piece, turned.piece, sizeof s.piece);
                lay_src_pieces(&s, bytes, turn);
                check_tile(kernel, &s, turn);
            }
}

static void test_tiles(void **state)
{
    (void)state;
    visit_family("transpose", transpose_all_sizes);
    visit_family("transpose", transpose_tails);
    visit_family("transpose", transpose_lines);
    visit_family("transpose", gather_long_columns);
    visit_family("transpose_units", transpose_units_of_all_sizes);
    visit_family("lines", lines_of_all_sizes);
    visit_family("copy", copy_all_lengths);
    visit_family("copy", copy_to_dense_rows);
    visit_family("copy", copy_to_lines);
    visit_family("copy", copy_joined_runs);
    visit_family("copy", copy_to_places);
    visit_family("copy_padded", pad_all_lengths);
    visit_family("pad", pad_all_pixels);
    visit_family("unpad", unpad_all_pixels);
    visit_family("scatter", scatter_at_all_pitches);
    visit_family("transpose_padded", pad_all_lengths);
    visit_family("part_halves", part_all_lengths);
    visit_family("part_bits", part_all_lengths);
    visit_family("pick", pick_in_many_ways);
    visit_family("shuffle", shuffle_in_many_ways);
    visit_family("shuffle", shuffle_planes);
    visit_family("interleave", interleave_all_lengths);
    visit_family("interleave", interleave_lines);
    visit_family("interleave", interleave_all_pieces);
    visit_family("interleave", interleave_filters);
    visit_family("deinterleave", deinterleave_all_lengths);
    visit_family("deinterleave", deinterleave_lines);
    visit_family("deinterleave", deinterleave_all_pieces);
}

/* ---- streams ---- */

/* Two rows, the second of which begins elsewhere in its cache line. */
static void check_stream(const struct stream_case *kernel, size_t bytes, size_t src_offset, size_t dst_offset)
{
    const size_t pitch = bytes + 9, size = pitch + bytes;
    const int64_t from[] = {0, (int64_t)bytes}, to[] = {0, (int64_t)pitch};
    const tsr_tile rows = {.rows = 2, .columns = (int64_t)bytes, .dst_row = to, .src_row = from};
    unsigned char *memory, *src = source(2 * bytes, src_offset, &memory);
    for (int plane = 0; plane < planes_of(1); plane++) {
        fill_with_indices(src, 2 * bytes, 1, plane);
        lay_guards(size + 64);
        kernel->run(found + GUARD + dst_offset, src, &rows);
        kernel->fence();
        memcpy(expected + GUARD + dst_offset, src, bytes);
        memcpy(expected + GUARD + dst_offset + pitch, src + bytes, bytes);
        if (!is_as_expected(size + 64))
            fail_msg("%s: %zu bytes, src at %zu, dst at %zu", kernel->name, bytes, src_offset, dst_offset);
    }
    free(memory);
}

/* Rows of so many lines, each of which goes on where the one before it ends: written is what lies from the first whole
 * line on, the row before the first one being no part of the tile. */
static void check_stream_behind(const struct stream_case *kernel, size_t lines, size_t src_offset, size_t dst_offset)
{
    enum { ROWS = 4, APART = 24 };
    const size_t bytes = lines * TSR_CACHE_LINE, pitch = bytes + APART, size = ROWS * bytes;
    const size_t begun = dst_offset % TSR_CACHE_LINE;
    int64_t from[ROWS], to[ROWS];
    for (size_t r = 0; r < ROWS; r++) {
        from[r] = (int64_t)(r * pitch);
        to[r] = (int64_t)(r * bytes);
    }
    const tsr_tile rows = {.rows = ROWS - 1,
                           .columns = (int64_t)bytes,
                           .dst_row = to + 1,
                           .src_row = from + 1,
                           .src_pitch = (int64_t)pitch};
    unsigned char *memory, *src = source(ROWS * pitch, src_offset, &memory);
    for (int plane = 0; plane < planes_of(1); plane++) {
        unsigned char *at = expected + GUARD + dst_offset;
        fill_with_indices(src, ROWS * pitch, 1, plane);
        lay_guards(size + 64);
        kernel->run_behind(found + GUARD + dst_offset, src, &rows);
        kernel->fence();
        for (size_t r = 0; r < ROWS; r++)
            memcpy(at + r * bytes, src + r * pitch, bytes);
        memset(at, 0xcd, bytes - begun);
        memset(at + size - begun, 0xcd, begun);
        if (!is_as_expected(size + 64))
            fail_msg("%s: %zu lines, src at %zu, dst at %zu", kernel->name, lines, src_offset, dst_offset);
    }
    free(memory);
}

static void test_streams(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(streams); i++)
        for (size_t at = 0; at < 64 && can_run(streams[i].rung); at++) {
            for (size_t bytes = 0; bytes <= 300; bytes++)
                check_stream(&streams[i], bytes, (bytes + at) % 8, at);
            for (size_t lines = 1; lines <= 4; lines++)
                check_stream_behind(&streams[i], lines, (lines + at) % 8, at);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rung),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
