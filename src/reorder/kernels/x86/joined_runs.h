/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of runs that continue each other in the destination, by stores that never lie in two cache lines, as those
 * take longer than loads that do. What a store has of two runs is read in two parts. A rung with vectors of 32 bytes
 * includes this once, as a template, before copies.h, whose LONGEST_RUN it has, too:
 *
 *     JOINED_UNIT                parts that are multiples of so many bytes are read sooner
 *     load_parts(a, n, b, unit)  32 bytes: n of a, less than 32, and behind them those of b. n is a multiple of `unit`,
 *                                which is JOINED_UNIT or 1; 32 bytes that end with those of a may be read
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/template.h"

#define JOINS_RUNS

enum { JOINED_BYTES = 32 };

/* What is read next: so many bytes that are left of a run, and then the runs of the next rows. */
struct runs_to_join {
    const char *src, *at;
    const int64_t *row;
    int64_t left, bytes;
    bool fetches_ahead;
};

INLINE void find_next_run(struct runs_to_join *runs)
{
    runs->at = runs->src + *runs->row++;
    runs->left = runs->bytes;
    if (runs->fetches_ahead)
        fetch_behind(runs->at + runs->bytes);
}

INLINE void store_joined(char *to, __m256i v, bool streams)
{
    if (streams)
        _mm256_stream_si256((__m256i *)(void *)to, v);
    else
        _mm256_store_si256((__m256i *)(void *)to, v);
}

/* One store. What it has of two runs are multiples of `unit` bytes. */
INLINE void join_vector(char *to, struct runs_to_join *runs, int unit, bool streams)
{
    const char *at = runs->at;
    const int64_t n = runs->left;
    if (n >= JOINED_BYTES) {
        store_joined(to, _mm256_loadu_si256((const __m256i *)(const void *)at), streams);
        runs->at += JOINED_BYTES;
    } else {
        find_next_run(runs);
        store_joined(to, load_parts(at, n, runs->at, unit), streams);
        runs->at += JOINED_BYTES - n;
        runs->left += n;
    }
    runs->left -= JOINED_BYTES;
}

/* Less than a line. */
INLINE void copy_part(char *to, int64_t bytes, struct runs_to_join *runs)
{
    while (bytes > 0) {
        if (runs->left == 0)
            find_next_run(runs);
        const int64_t n = bytes < runs->left ? bytes : runs->left;
        memcpy(to, runs->at, (size_t)n);
        to += n;
        runs->at += n;
        runs->left -= n;
        bytes -= n;
    }
}

INLINE void join_tile(char *to, const char *src, const tsr_tile *t, int unit, bool streams)
{
    const int64_t whole = streams ? TSR_CACHE_LINE : JOINED_BYTES, all = t->rows * t->columns;
    const int64_t rest = (int64_t)(-(uintptr_t)to & (uintptr_t)(whole - 1)), head = rest < all ? rest : all;
    struct runs_to_join runs = {.src = src, .row = t->src_row, .bytes = t->columns, .fetches_ahead = t->fetches_ahead};
    find_next_run(&runs);
    copy_part(to, head, &runs);
    int64_t done = head;
    for (; done + whole <= all; done += whole)
        for (int64_t k = done; k < done + whole; k += JOINED_BYTES)
            join_vector(to + k, &runs, unit, streams);
    copy_part(to + done, all - done, &runs);
}

INLINE void join_tiles(char *to, const char *src, const tsr_tile *t, int unit, bool streams)
{
    const int64_t tiles = t->tiles > 1 ? t->tiles : 1;
    for (int64_t i = 0; i < tiles; i++)
        join_tile(to + i * t->dst_tile, src + i * t->src_tile, t, unit, streams);
}

/* What all stores, and so the parts of those that have two, begin with multiples of shows at its low end. */
static uintptr_t bits_of_joined(const void *dst, const tsr_tile *t)
{
    const int64_t tile = t->tiles > 1 ? t->dst_tile : 0;
    return ((uintptr_t)dst + (uintptr_t)t->dst_row[0]) | (uintptr_t)t->columns | (uintptr_t)tile;
}

/* By themselves, too (copies.h). */
__attribute__((noinline)) static void copy_joined_runs(void *dst, const void *src, const tsr_tile *t)
{
    char *to = (char *)dst + t->dst_row[0];
    if (!t->streams)
        join_tiles(to, src, t, JOINED_UNIT, false);
    else if (bits_of_joined(dst, t) % JOINED_UNIT == 0)
        join_tiles(to, src, t, JOINED_UNIT, true);
    else
        join_tiles(to, src, t, 1, true);
}

/* Are they streamed? Else there have to be enough, short ones, which would lie in two lines; parts of other bytes take
 * longer than what that saves. */
static bool can_join_runs(const void *dst, const tsr_tile *t)
{
    enum { LEAST_BYTES = 1 << 10 };
    if (!t->has_dense_rows || t->places > 1 || t->rows == 0 || t->columns <= TSR_CACHE_LINE)
        return false;
    const uintptr_t bits = bits_of_joined(dst, t);
    const bool are_enough = t->rows > 1 && t->rows * t->columns >= LEAST_BYTES && t->columns < LONGEST_RUN;
    return t->streams || (are_enough && bits % JOINED_UNIT == 0 && bits % JOINED_BYTES != 0);
}
