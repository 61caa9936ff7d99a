/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/tile.h"

#include <stdalign.h>
#include <string.h>

#include <tessera/memory.h>

#include "base/int.h"

static tsr_tile tile_of(const tsr_box *box, const tsr_place *place)
{
    return (tsr_tile){
        .rows = place->rows,
        .columns = place->columns,
        .dst_row = box->row.dst,
        .dst_column = box->column.dst,
        .src_row = box->row.src,
        .src_column = box->column.src,
    };
}

static void move_tile(const tsr_box *box, const tsr_place *place)
{
    tsr_tile tile = tile_of(box, place);
    box->kernel(place->dst, place->src, &tile);
}

static void gather_tile(const tsr_box *box, const tsr_place *place)
{
    int64_t bytes = place->conversion->dst_bytes;
    tsr_gather_kernel gather = place->kernels->gather[tsr_width_of_bytes(bytes)].run;
    for (int64_t r = 0; r < place->rows; r++)
        gather(place->dst + r * box->row.dst * bytes, place->src + r * box->row.src * bytes, place->columns,
               box->column.dst_table + place->first_column, box->column.src_table + place->first_column);
}

static void zero_tile(const tsr_box *box, const tsr_place *place)
{
    static const uint64_t zero;
    int64_t bytes = place->conversion->dst_bytes;
    tsr_tile tile = tile_of(box, place);
    tile.src_row = tile.src_column = 0;
    if (box->column.dst != 1) {
        place->kernels->strided[tsr_width_of_bytes(bytes)].run(place->dst, &zero, &tile);
        return;
    }
    for (int64_t r = 0; r < place->rows; r++)
        memset(place->dst + r * box->row.dst * bytes, 0, (size_t)(place->columns * bytes));
}

/* Elements that lie apart are picked, so many at a time, converted side by side, and put where they belong. */
enum { PICKED = 512 };

/* The factors of whole rows, one behind the other; row r is the first of them. */
static void spread_factors(const tsr_box *box, const tsr_place *place, int64_t first, int64_t rows, float *mean,
                           float *scale, float *shift)
{
    for (int64_t r = first; r < first + rows; r++) {
        for (int64_t c = 0; c < place->columns; c++) {
            int64_t at = place->factor + r * box->row.factor + c * box->column.factor;
            *mean++ = place->conversion->arithmetic.mean[at];
            *scale++ = place->conversion->arithmetic.scale[at];
            if (shift)
                *shift++ = place->conversion->arithmetic.shift[at];
        }
    }
}

/* Rows that are too short for a call each: as many as fit are converted as one. */
static void convert_short_rows(const tsr_box *box, const tsr_place *place)
{
    tsr_conversion spread = *place->conversion;
    tsr_tile_kernel pick = place->kernels->copy[tsr_width_of_bytes(spread.src_bytes)].run;
    tsr_tile_kernel put = place->kernels->copy[tsr_width_of_bytes(spread.dst_bytes)].run;
    tsr_tile from = tile_of(box, place), to = from, back = from;
    uint64_t picked[PICKED], converted[PICKED];
    float mean[PICKED], scale[PICKED], shift[PICKED];
    spread.arithmetic.mean = mean;
    spread.arithmetic.scale = scale;
    spread.arithmetic.shift = spread.arithmetic.shift ? shift : NULL;
    from.dst_row = to.src_row = back.dst_row = place->columns;
    back.src_row = to.dst_row;
    from.rows = PICKED / place->columns;
    for (int64_t r = 0; r < place->rows; r += from.rows) {
        from.rows = to.rows = back.rows = tsr_min(from.rows, place->rows - r);
        if (spread.affine && (r == 0 || box->row.factor != 0))
            spread_factors(box, place, r, from.rows, mean, scale, spread.arithmetic.shift ? shift : NULL);
        pick(picked, place->src + r * box->row.src * spread.src_bytes, &from);
        if (spread.arithmetic.beta != 0)
            put(converted, place->dst + r * box->row.dst * spread.dst_bytes, &back);
        tsr_convert_row(&spread, converted, picked, from.rows * place->columns, 0, 1);
        put(place->dst + r * box->row.dst * spread.dst_bytes, converted, &to);
    }
}

static void convert_copy(const tsr_box *box, const tsr_place *place)
{
    enum { SHORT = 24 };
    const tsr_conversion *conversion = place->conversion;
    if (place->columns < SHORT && place->rows > 1) {
        convert_short_rows(box, place);
        return;
    }
    for (int64_t r = 0; r < place->rows; r++)
        tsr_convert_row(conversion, place->dst + r * box->row.dst * conversion->dst_bytes,
                        place->src + r * box->row.src * conversion->src_bytes, place->columns,
                        place->factor + r * box->row.factor, box->column.factor);
}

/* Transposes in the type of the source, then converts along the destination. */
static void transpose_then_convert(const tsr_box *box, const tsr_place *place, char *scratch)
{
    const tsr_conversion *conversion = place->conversion;
    tsr_tile tile = tile_of(box, place);
    tile.dst_row = place->columns;
    place->kernels->transpose[tsr_width_of_bytes(conversion->src_bytes)].run(scratch, place->src, &tile);
    for (int64_t r = 0; r < place->rows; r++)
        tsr_convert_row(conversion, place->dst + r * box->row.dst * conversion->dst_bytes,
                        scratch + r * place->columns * conversion->src_bytes, place->columns,
                        place->factor + r * box->row.factor, box->column.factor);
}

/* Converts along the source, then transposes in the type of the destination. */
static void convert_then_transpose(const tsr_box *box, const tsr_place *place, char *scratch)
{
    const tsr_conversion *conversion = place->conversion;
    tsr_tile tile = tile_of(box, place);
    tile.src_column = place->rows;
    for (int64_t c = 0; c < place->columns; c++)
        tsr_convert_row(conversion, scratch + c * place->rows * conversion->dst_bytes,
                        place->src + c * box->column.src * conversion->src_bytes, place->rows,
                        place->factor + c * box->column.factor, box->row.factor);
    place->kernels->transpose[tsr_width_of_bytes(conversion->dst_bytes)].run(place->dst, scratch, &tile);
}

/*
 * The transpose belongs to the narrower type, unless the rows to convert would be too short to be
 * worth a call, or old values are wanted, which lie along the destination.
 */
static void convert_transpose(const tsr_box *box, const tsr_place *place)
{
    enum { SHORT = 8 };
    alignas(TSR_ALIGNMENT) char scratch[TSR_MAX_TILE_AREA * sizeof(double)];
    bool src_is_wider = place->conversion->src_bytes > place->conversion->dst_bytes;
    bool blends = place->conversion->arithmetic.beta != 0;
    bool convert_first = !blends && (place->columns < SHORT || (src_is_wider && place->rows >= SHORT));
    (convert_first ? convert_then_transpose : transpose_then_convert)(box, place, scratch);
}

static void convert_strided(const tsr_box *box, const tsr_place *place)
{
    const tsr_conversion *conversion = place->conversion;
    tsr_tile_entry pick = place->kernels->strided[tsr_width_of_bytes(conversion->src_bytes)];
    tsr_tile_entry put = place->kernels->strided[tsr_width_of_bytes(conversion->dst_bytes)];
    uint64_t picked[PICKED], converted[PICKED];
    for (int64_t r = 0; r < place->rows; r++) {
        for (int64_t c = 0; c < place->columns; c += PICKED) {
            int64_t n = tsr_min(PICKED, place->columns - c);
            int64_t src = r * box->row.src + c * box->column.src, dst = r * box->row.dst + c * box->column.dst;
            int64_t factor = place->factor + r * box->row.factor + c * box->column.factor;
            pick.run(picked, place->src + src * conversion->src_bytes,
                     &(tsr_tile){.rows = 1, .columns = n, .dst_column = 1, .src_column = box->column.src});
            if (conversion->arithmetic.beta != 0)
                put.run(converted, place->dst + dst * conversion->dst_bytes,
                        &(tsr_tile){.rows = 1, .columns = n, .dst_column = 1, .src_column = box->column.dst});
            tsr_convert_row(conversion, converted, picked, n, factor, box->column.factor);
            put.run(place->dst + dst * conversion->dst_bytes, converted,
                    &(tsr_tile){.rows = 1, .columns = n, .dst_column = box->column.dst, .src_column = 1});
        }
    }
}

static void convert_gather(const tsr_box *box, const tsr_place *place)
{
    const tsr_conversion *conversion = place->conversion;
    tsr_gather_kernel pick = place->kernels->gather[tsr_width_of_bytes(conversion->src_bytes)].run;
    tsr_gather_kernel put = place->kernels->gather[tsr_width_of_bytes(conversion->dst_bytes)].run;
    uint64_t picked[PICKED], converted[PICKED];
    for (int64_t r = 0; r < place->rows; r++) {
        const char *src = place->src + r * box->row.src * conversion->src_bytes;
        char *dst = place->dst + r * box->row.dst * conversion->dst_bytes;
        for (int64_t c = 0; c < place->columns; c += PICKED) {
            int64_t n = tsr_min(PICKED, place->columns - c), at = place->first_column + c;
            int64_t factor = place->factor + r * box->row.factor + c * box->column.factor;
            pick(picked, src, n, NULL, box->column.src_table + at);
            if (conversion->arithmetic.beta != 0)
                put(converted, dst, n, NULL, box->column.dst_table + at);
            tsr_convert_row(conversion, converted, picked, n, factor, box->column.factor);
            put(dst, converted, n, box->column.dst_table + at, NULL);
        }
    }
}

void tsr_tile_run(const tsr_box *box, const tsr_place *place)
{
    static void (*const run[][2])(const tsr_box *, const tsr_place *) = {
        [TSR_MOTION_COPY] = {convert_copy, move_tile},       [TSR_MOTION_TRANSPOSE] = {convert_transpose, move_tile},
        [TSR_MOTION_STRIDED] = {convert_strided, move_tile}, [TSR_MOTION_GATHER] = {convert_gather, gather_tile},
        [TSR_MOTION_ZERO] = {zero_tile, zero_tile},
    };
    run[box->motion][place->conversion->is_copy](box, place);
}
