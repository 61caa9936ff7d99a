/* SPDX-License-Identifier: Apache-2.0 */
/* Square transposes: tile (i, j) and tile (j, i) are exchanged, each transposed on its way. */
#include <stdalign.h>
#include <string.h>

#include "base/int.h"
#include "reorder/caches.h"
#include "reorder/cost.h"
#include "reorder/in_place.h"
#include "reorder/plan.h"
#include "reorder/sets.h"

enum { TILE_BYTES = 16 << 10, MAX_TILE = 128, COPIED_UNITS = 64 };

/* ---- finding it ---- */

static bool are_exchanged(const tsr_loop *a, const tsr_loop *b)
{
    return a->n == b->n && a->src == b->dst && a->dst == b->src && a->src != a->dst;
}

/* Units that kernels know are moved by these, as many as scratch memory holds. */
static void set_unit(tsr_square *square, int64_t bytes)
{
    const int64_t most = tsr_share_of_l1(TILE_BYTES);
    square->unit = bytes;
    square->has_kernel = bytes <= TSR_LANE_BYTES && tsr_is_power_of_two(bytes);
    square->tile = square->has_kernel ? MAX_TILE : COPIED_UNITS;
    while (square->has_kernel && square->tile * square->tile * bytes > most)
        square->tile /= 2;
}

/*
 * Do rows of a tile have so few sets that a kernel, which writes a line of each before the next one, waits for them
 * where sets are deep? AVX-512 waits half as often, and bytes have few rows to a line of it.
 */
static bool crowds_sets(const tsr_square *square, const tsr_kernels *kernels)
{
    if (!tsr_has_deep_sets() || !square->has_kernel)
        return false;
    const int64_t fitting = tsr_lines_in_l1(square->row);
    return kernels->writes_lines ? square->unit > 1 && 2 * fitting < square->tile : fitting < square->tile;
}

/* Two loops of the nest change places, and the others stand still: the innermost one may be a unit, the rest is
 * the batch. */
static bool find(const tsr_plan *plan, tsr_way *way, char reason[TSR_REASON_SIZE])
{
    tsr_nest nest;
    const tsr_loop *moving[2] = {NULL, NULL};
    const int64_t bytes = plan->conversion.dst_bytes;
    *way = (tsr_way){0};
    set_unit(&way->square, bytes);
    if (!tsr_in_place_nest(plan, &nest, reason))
        return false;
    for (int i = 0, others = 0; i < nest.count; i++) {
        const tsr_loop *loop = &nest.loop[i];
        if (loop->src != loop->dst && others < 2)
            moving[others++] = loop;
        else if (loop->src == loop->dst && loop->src == 1)
            set_unit(&way->square, loop->n * bytes);
        else if (loop->src != loop->dst || !tsr_batch_add(&way->batch, loop))
            return tsr_decline(reason, "more than two loops change places");
    }
    if (!moving[1] || !are_exchanged(moving[0], moving[1]) || nest.src != nest.dst)
        return tsr_decline(reason, "no two axes of equal length change places");
    way->square.n = moving[0]->n;
    way->square.row = moving[0]->dst * bytes; /* the larger one, as nests are sorted by it */
    way->square.column = moving[1]->dst * bytes;
    way->square.start = nest.dst * bytes;
    way->square.crowds_sets = crowds_sets(&way->square, &plan->kernels);
    return true;
}

/* ---- one pair of tiles ---- */

/* Where the units of a tile lie. */
struct steps {
    int64_t row[MAX_TILE], column[MAX_TILE];
};

/* In a square, and in scratch memory. */
struct tables {
    struct steps here, scratch;
};

static void fill_tables(struct tables *tables, const tsr_square *square)
{
    const int64_t side = tsr_min(square->tile, square->n);
    for (int64_t i = 0; i < side; i++) {
        tables->here.row[i] = i * square->row;
        tables->here.column[i] = i * square->column;
        tables->scratch.row[i] = i * side * square->unit;
        tables->scratch.column[i] = i * square->unit;
    }
}

/* What a square is done with. */
struct tools {
    const tsr_square *square;
    tsr_tile_kernel transpose, put;
    int64_t put_bytes; /* of a column for `put`: runs are bytes */
    struct tables tables;
};

static bool is_dense(const tsr_square *square)
{
    return square->column == square->unit;
}

static const tsr_tile_entry *transpose_for(const tsr_plan *plan)
{
    const tsr_square *square = &plan->way.square;
    return &(is_dense(square) ? plan->kernels.transpose : plan->kernels.pick)[tsr_width_of_bytes(square->unit)];
}

static void tools_init(struct tools *tools, const tsr_plan *plan)
{
    const tsr_square *square = &plan->way.square;
    tools->square = square;
    fill_tables(&tools->tables, square);
    if (!square->has_kernel)
        return;
    tools->transpose = transpose_for(plan)->run;
    tools->put = is_dense(square) ? plan->kernels.copy[0].run : tools->transpose;
    tools->put_bytes = is_dense(square) ? square->unit : 1;
}

/* A tile is transposed on its way to `rows` by `columns` units elsewhere. */
static void turn(const struct tools *tools, char *to, const struct steps *dst, const char *from,
                 const struct steps *src, int64_t rows, int64_t columns)
{
    const tsr_tile tile = {.rows = rows,
                           .columns = columns,
                           .dst_row = dst->row,
                           .src_row = src->column,
                           .dst_column = dst->column,
                           .src_column = src->row};
    tools->transpose(to, from, &tile);
}

/* And one of scratch memory goes as it is to where it belongs. */
static void put(const struct tools *tools, char *to, const char *scratch, int64_t rows, int64_t columns)
{
    const struct tables *t = &tools->tables;
    const tsr_tile tile = {.rows = rows,
                           .columns = columns * tools->put_bytes,
                           .dst_row = t->here.row,
                           .src_row = t->scratch.row,
                           .dst_column = t->here.column,
                           .src_column = t->scratch.column};
    tools->put(to, scratch, &tile);
}

/* Upper is `rows` by `columns` units, lower the other way round; they may be one tile. */
static void exchange_by_kernel(const struct tools *tools, char *upper, char *lower, int64_t rows, int64_t columns)
{
    alignas(TSR_ALIGNMENT) char scratch[2][TILE_BYTES];
    const struct tables *t = &tools->tables;
    turn(tools, scratch[0], &t->scratch, upper, &t->here, columns, rows);
    if (upper != lower && tools->square->crowds_sets) {
        turn(tools, scratch[1], &t->scratch, lower, &t->here, rows, columns);
        put(tools, upper, scratch[1], rows, columns);
    } else if (upper != lower) {
        turn(tools, upper, &t->here, lower, &t->here, rows, columns);
    }
    put(tools, lower, scratch[0], columns, rows);
}

static void swap_units(char *a, char *b, int64_t bytes)
{
    char scratch[256];
    for (int64_t done = 0; done < bytes; done += (int64_t)sizeof scratch) {
        size_t m = (size_t)tsr_min((int64_t)sizeof scratch, bytes - done);
        memcpy(scratch, a + done, m);
        memcpy(a + done, b + done, m);
        memcpy(b + done, scratch, m);
    }
}

static void exchange_by_unit(const struct tools *tools, char *upper, char *lower, int64_t rows, int64_t columns)
{
    const struct steps *t = &tools->tables.here;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = upper == lower ? i + 1 : 0; j < columns; j++)
            swap_units(upper + t->row[i] + t->column[j], lower + t->row[j] + t->column[i], tools->square->unit);
}

/* ---- all pairs ---- */

/* A work item is one pair of tiles i <= j of one square of the batch. */
struct item {
    int64_t part, i, j;
};

static int64_t tiles_of(const tsr_square *square)
{
    return tsr_ceil_div(square->n, square->tile);
}

static int64_t pairs_of(const tsr_square *square)
{
    int64_t tiles = tiles_of(square);
    return tiles % 2 == 0 ? tiles / 2 * (tiles + 1) : (tiles + 1) / 2 * tiles;
}

static struct item item_at(const tsr_square *square, int64_t number)
{
    struct item item = {.part = number / pairs_of(square)};
    int64_t rest = number % pairs_of(square), tiles = tiles_of(square);
    for (; rest >= tiles - item.i; item.i++)
        rest -= tiles - item.i;
    item.j = item.i + rest;
    return item;
}

static void advance(const tsr_square *square, struct item *item)
{
    if (++item->j < tiles_of(square))
        return;
    if (++item->i == tiles_of(square)) {
        item->part++;
        item->i = 0;
    }
    item->j = item->i;
}

struct square_job {
    const tsr_plan *plan;
    char *buffer;
};

static void exchange_items(void *argument, int64_t begin, int64_t end)
{
    const struct square_job *job = argument;
    const tsr_plan *plan = job->plan;
    const tsr_square *square = &plan->way.square;
    struct tools tools;
    tools_init(&tools, plan);
    struct item item = item_at(square, begin);
    for (int64_t done = begin; done < end; done++, advance(square, &item)) {
        char *start =
            job->buffer + square->start + tsr_batch_at(&plan->way.batch, item.part) * plan->conversion.dst_bytes;
        int64_t i = item.i * square->tile, j = item.j * square->tile;
        (square->has_kernel ? exchange_by_kernel : exchange_by_unit)(
            &tools, start + i * square->row + j * square->column, start + j * square->row + i * square->column,
            tsr_min(square->tile, square->n - i), tsr_min(square->tile, square->n - j));
    }
}

static int64_t items_of(const tsr_way *way)
{
    return pairs_of(&way->square) * tsr_max(way->batch.n, 1);
}

/* ---- the row ---- */

bool tsr_square_applies(const tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    tsr_way way;
    return find(plan, &way, reason);
}

double tsr_square_cost(const tsr_plan *plan)
{
    tsr_way way;
    char unused[TSR_REASON_SIZE];
    find(plan, &way, unused);
    return tsr_cost_of_square(plan, &way.square, items_of(&way));
}

tsr_status tsr_square_prepare(tsr_plan *plan, char reason[TSR_REASON_SIZE])
{
    find(plan, &plan->way, reason);
    plan->way.tasks = tsr_in_place_tasks(plan, items_of(&plan->way), 0);
    tsr_status status = tsr_in_place_prepare_after(plan, reason);
    if (status == TSR_OK) {
        plan->row_kernel = plan->way.square.has_kernel ? transpose_for(plan)->name : "swap";
        plan->row_threads = plan->way.tasks;
    }
    return status;
}

tsr_status tsr_square_run(const tsr_plan *plan, const void *src, void *dst, tsr_error *error)
{
    struct square_job job = {plan, dst};
    (void)src;
    tsr_parallel_for(&plan->executor, plan->way.tasks, items_of(&plan->way), 1, exchange_items, &job);
    return tsr_in_place_finish(plan, dst, error);
}
