/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/convert_lines.h"

#include <string.h>

#include "base/int.h"
#include "reorder/lines.h"

/* ---- factors that are spread out ---- */

/* Is there a kernel for a row of which so many elements have factors of their own, and more take the same? */
static bool is_periodic(const tsr_conversion *conversion, int64_t period)
{
    return conversion->periodic && period <= TSR_PERIOD && TSR_PERIOD % period == 0;
}

/* A row whose factors are spread out, as many as are wanted there. */
static void convert_periodic_row(const tsr_conversion *conversion, char *to, const char *from, int64_t n)
{
    enum { FETCHED_ROWS = 4 };
    const int64_t whole = n / TSR_PERIODIC_ELEMENTS * TSR_PERIODIC_ELEMENTS;
    const int64_t most = conversion->is_far ? FETCHED_ROWS * TSR_PERIODIC_ELEMENTS : whole;
    const int64_t src_bytes = conversion->src_bytes, dst_bytes = conversion->dst_bytes;
    tsr_affine affine;
    tsr_conversion_affine(conversion, &affine, 0, 1);
    for (int64_t done = 0; done < whole; done += most) {
        const int64_t m = tsr_min(most, whole - done);
        if (conversion->is_far)
            tsr_prefetch(from + done * src_bytes, m * src_bytes, 2 * m * src_bytes);
        conversion->periodic(to + done * dst_bytes, from + done * src_bytes, m, &affine);
    }
    tsr_convert_row(conversion, to + whole * dst_bytes, from + whole * src_bytes, n - whole, 0, 1);
}

/* ---- channels that are looked up ---- */

/* Converts n elements that lie side by side by their maps, if there are some: `turns` of them take one each, and more
 * take the same. They are rows of so many columns, each of which takes its factors row_factor[r] further on. */
static bool look_up_in_turn(const tsr_conversion *conversion, char *to, const char *from, int64_t n, int64_t turns,
                            const tsr_factor_side *side, const int64_t *row_factor, int64_t columns)
{
    enum { LEAST = 3 }; /* what kernels take; fewer take more turns */
    const uint8_t *maps[TSR_MOST_MAPS];
    const tsr_affine affine = {.maps = maps, .turns = turns < LEAST ? TSR_MOST_MAPS : turns};
    if (!conversion->maps || turns > tsr_min(n, TSR_MOST_MAPS))
        return false;
    for (int64_t i = 0; i < affine.turns; i++) {
        const int64_t turn = i % turns;
        const int64_t factor = row_factor[turn / columns] + tsr_factor_of_step(side, turn % columns);
        if (factor >= conversion->map_count)
            return false;
        maps[i] = conversion->maps[factor];
    }
    conversion->maps_row(to, from, n, &affine);
    return true;
}

/* ---- a line ---- */

/* Factors are spread out, and serve again as soon as they are the same. */
static void convert_in_spreads(const tsr_conversion *conversion, char *to, const char *from, int64_t n,
                               const tsr_factor_side *side)
{
    static const int64_t no_row_factor[] = {0};
    const int64_t period = tsr_factor_period(side->chain);
    if (look_up_in_turn(conversion, to, from, n, period, side, no_row_factor, n))
        return;
    if (is_periodic(conversion, period)) {
        tsr_spread_steps(side->spread, side, 0, tsr_min(n, TSR_PERIODIC_ELEMENTS));
        convert_periodic_row(&side->spread->conversion, to, from, n);
        return;
    }
    const int64_t whole = tsr_lcm(period, TSR_STREAMED_ELEMENTS);
    const int64_t chunk = n <= TSR_SPREAD ? n : tsr_spread_chunk(whole <= TSR_SPREAD ? whole : period, TSR_SPREAD);
    for (int64_t done = 0; done < n; done += chunk) {
        const int64_t m = tsr_min(chunk, n - done);
        if (done == 0 || period > TSR_SPREAD)
            tsr_spread_steps(side->spread, side, done, m);
        tsr_convert_row(&side->spread->conversion, to + done * conversion->dst_bytes,
                        from + done * conversion->src_bytes, m, 0, 1);
    }
}

/* Short ones go straight to the kernel, if one is all. */
static void convert_line(const tsr_conversion *conversion, char *to, const char *from, int64_t n,
                         const tsr_factor_side *side)
{
    const bool takes_affine = tsr_takes_affine(conversion);
    const int64_t step = tsr_step_of_factors(conversion, side->chain);
    tsr_affine affine;
    if (conversion->is_copy) {
        memcpy(to, from, (size_t)(n * conversion->dst_bytes));
    } else if (step == TSR_LOOKED_UP) {
        convert_in_spreads(conversion, to, from, n, side);
    } else if (!conversion->only || n >= TSR_CONVERT_CHUNK || to == from || conversion->maps) {
        tsr_convert_row(conversion, to, from, n, tsr_factor_of_step(side, 0), step);
    } else {
        if (takes_affine) {
            tsr_conversion_affine(conversion, &affine, tsr_factor_of_step(side, 0), step);
            if (conversion->arithmetic.beta != 0)
                affine.old = to;
        }
        conversion->only(to, from, n, takes_affine ? &affine : NULL);
    }
}

/* ---- many of them ---- */

/* Long ones are streamed, if rows can be; or looked up, if there are maps. */
static bool takes_runs_to(const tsr_conversion *conversion, int64_t n, int64_t longest_beside_maps)
{
    const int64_t of_stream = TSR_LONG_PIECE / conversion->dst_bytes - 1;
    const int64_t longest = conversion->maps ? longest_beside_maps : conversion->stream ? of_stream : TSR_SPREAD;
    return conversion->runs && n >= TSR_SHORTEST_RUN && n <= longest;
}

bool tsr_takes_runs_of(const tsr_conversion *conversion, int64_t n)
{
    enum { LONGEST_BESIDE_MAPS = 64 };
    return takes_runs_to(conversion, n, LONGEST_BESIDE_MAPS);
}

bool tsr_takes_runs(const tsr_conversion *conversion, const tsr_chain *chain, int64_t n)
{
    return tsr_takes_runs_of(conversion, n) && tsr_step_of_factors(conversion, chain) != TSR_LOOKED_UP;
}

static void convert_runs(const tsr_conversion *conversion, char *to, const char *from, const tsr_tile *tile,
                         int64_t factor, int64_t step)
{
    const bool computes = tsr_computes(conversion);
    tsr_affine affine;
    if (computes)
        tsr_conversion_affine(conversion, &affine, factor, step);
    conversion->runs(to, from, tile, computes ? &affine : NULL);
}

/* What lies behind a line in the source, if that is asked for. */
static inline void fetch_behind(const tsr_conversion *conversion, const char *from, const tsr_tile *tile, int64_t r)
{
    const int64_t length = tile->columns * conversion->src_bytes;
    if (tile->fetches_ahead)
        tsr_prefetch(from + tile->src_row[r], length, 2 * length);
}

/* Where line r takes its factors. */
static inline tsr_factor_side side_of_line(const tsr_tile *tile, const tsr_factor_side *side, int64_t r)
{
    return (tsr_factor_side){side->chain, side->factors, side->first + (tile->row_factor ? tile->row_factor[r] : 0),
                             side->spread};
}

/* Of lines whose factors are looked up: these are spread out for all, which a kernel for runs takes. */
static void convert_spread_runs(char *to, const char *from, const tsr_tile *tile, const tsr_factor_side *side)
{
    tsr_spread_steps(side->spread, side, 0, tile->columns);
    convert_runs(&side->spread->conversion, to, from, tile, 0, 1);
}

static void convert_each_line(const tsr_conversion *conversion, char *to, const char *from, const tsr_tile *tile,
                              const tsr_factor_side *side)
{
    for (int64_t r = 0; r < tile->rows; r++) {
        const tsr_factor_side own = side_of_line(tile, side, r);
        fetch_behind(conversion, from, tile, r);
        convert_line(conversion, to + tile->dst_row[r], from + tile->src_row[r], tile->columns, &own);
    }
}

void tsr_convert_lines(const tsr_conversion *conversion, char *to, const char *from, const tsr_tile *tile,
                       const tsr_factor_side *side)
{
    const int64_t step = tsr_step_of_factors(conversion, side->chain);
    /* maps that take turns would be loaded for each of these lines, which takes longer than to compute */
    const bool takes_spread_runs =
        step == TSR_LOOKED_UP && !tile->row_factor && takes_runs_to(conversion, tile->columns, TSR_SPREAD);
    if (takes_spread_runs)
        convert_spread_runs(to, from, tile, side);
    else if (step != TSR_LOOKED_UP && tsr_takes_runs_of(conversion, tile->columns))
        convert_runs(conversion, to, from, tile, tsr_factor_of_step(side, 0), step);
    else
        convert_each_line(conversion, to, from, tile, side);
}

/* ---- as one ---- */

bool tsr_joins_lines(const tsr_conversion *conversion, const tsr_chain *chain, int64_t n)
{
    enum { SHORT_FOR_STEPS = 128 }; /* where several make the way, or add_TYPE adds the ends of rows once more */
    if (tsr_step_of_factors(conversion, chain) == TSR_LOOKED_UP)
        return n <= TSR_SPREAD / 2;
    const bool adds_ends = conversion->at_once && conversion->arithmetic.beta != 0;
    const bool is_one_step = conversion->only && !adds_ends;
    return !tsr_takes_runs_of(conversion, n) && n < (is_one_step ? TSR_SHORT_LINE : SHORT_FOR_STEPS);
}

/* Lines from one on whose factors are those of the first few of them again and again: how many differ, and how many they
 * are; {0, 0} if there are none. */
struct lines_alike {
    int64_t differ, count;
};

static struct lines_alike find_lines_alike(const tsr_tile *tile, int64_t first, int64_t most)
{
    const int64_t *factor = tile->row_factor + first, left = tile->rows - first;
    int64_t differ = 1, count;
    while (differ < left && differ < most && factor[differ] != factor[0])
        differ++;
    for (count = differ; count < left && factor[count] == factor[count - differ]; count++)
        ;
    return count >= 2 * differ ? (struct lines_alike){differ, count / differ * differ} : (struct lines_alike){0, 0};
}

void tsr_convert_joined_lines(const tsr_conversion *conversion, char *to, const char *from, const tsr_tile *tile,
                              const tsr_factor_side *side, int64_t period)
{
    enum { WORTH = 256 }; /* elements with the same factors that are converted by themselves, not beside others */
    const int64_t columns = tile->columns, fitting = TSR_SPREAD / columns;
    /* each begins as the one before ended: they are one, whose factors stay spread out for the next tile */
    if (period == 1 && columns % tsr_factor_period(side->chain) == 0) {
        const tsr_factor_side own = side_of_line(tile, side, 0);
        convert_in_spreads(conversion, to, from, tile->rows * columns, &own);
        return;
    }
    const int64_t turns = period * columns;
    if (look_up_in_turn(conversion, to, from, tile->rows * columns, turns, side, tile->row_factor, columns))
        return;
    if (is_periodic(conversion, turns)) {
        const int64_t rows = tsr_min(tile->rows, tsr_ceil_div(TSR_PERIODIC_ELEMENTS, columns));
        tsr_spread_rows(side->spread, side, tile->row_factor, tsr_min(period, rows), columns, rows);
        convert_periodic_row(&side->spread->conversion, to, from, tile->rows * columns);
        return;
    }
    for (int64_t first = 0, end = tile->rows; first < tile->rows; first = end) {
        int64_t differ = period, chunk = tsr_spread_chunk(period, fitting);
        if (period > fitting) {
            const struct lines_alike alike = find_lines_alike(tile, first, fitting);
            const bool are_worth = alike.count * columns >= WORTH;
            differ = are_worth ? alike.differ : fitting;
            chunk = are_worth ? tsr_min(fitting / differ, tsr_ceil_div(WORTH, differ * columns)) * differ : fitting;
            end = tsr_min(tile->rows, first + (are_worth ? alike.count : fitting));
        }
        const int64_t rows = tsr_min(chunk, end - first);
        tsr_spread_rows(side->spread, side, tile->row_factor + first, tsr_min(differ, rows), columns, rows);
        for (int64_t r = first; r < end; r += chunk)
            tsr_convert_row(&side->spread->conversion, to + r * columns * conversion->dst_bytes,
                            from + r * columns * conversion->src_bytes, tsr_min(chunk, end - r) * columns, 0, 1);
    }
}
