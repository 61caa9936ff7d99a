/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pixels of an odd number of bytes (odd_pixels.h), pieces of a few pixels, and maps of bytes (maps.h, maps_in_turn.h).
 * A vector of 64 bytes is one lane for vpermb; what else AVX-512 VBMI has for bytes is no faster than what AVX-512 has.
 */
#include <immintrin.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "reorder/kernels/kernels.h"
#include "reorder/kernels/template.h"

typedef __m512i vec;

static inline void vec_put(char *to, vec v, bool streams)
{
    if (streams)
        _mm512_stream_si512((__m512i *)(void *)to, v);
    else
        _mm512_storeu_si512(to, v);
}

/* ---- an odd number of channels ---- */

#include "reorder/kernels/x86/odd_pixels.h"

/* Bytes by a kernel of rows, a stretch of which stays in the first-level cache until it is joined. */
static void convert_and_join(char *dst, const char *src, const tsr_tile *t, const tsr_affine *affine, int64_t bytes,
                             tsr_row_kernel convert)
{
    enum { STRETCH = 1024, LEAST = 64 };
    static const int64_t column[] = {0, STRETCH + LEAST, 2 * (STRETCH + LEAST)};
    alignas(TSR_CACHE_LINE) char room[3 * (STRETCH + LEAST)];
    for (int64_t r = 0, rows; r < t->rows; r += rows) {
        rows = t->rows - r < STRETCH + LEAST ? t->rows - r : STRETCH;
        const tsr_tile stretch = {.rows = rows, .src_column = column, .streams = t->streams};
        for (int c = 0; c < 3; c++)
            convert(room + column[c], src + t->src_column[c] + bytes * r, rows, affine ? &affine[c] : NULL);
        join_odd_pixels(dst + 3 * r, room, &stretch, 3, 1);
    }
}

#define JOINED_PIXELS_KERNEL(src_type, type, bytes, convert)                                                           \
    void tsr_joined_pixels_##src_type##_##type##_avx512vbmi(void *dst, const void *src, const tsr_tile *t,             \
                                                            const tsr_affine *affine)                                  \
    {                                                                                                                  \
        if (t->columns != 3 || t->rows < 64)                                                                           \
            tsr_joined_pixels_##src_type##_##type##_avx512(dst, src, t, affine);                                       \
        else                                                                                                           \
            convert_and_join(dst, src, t, affine, bytes, convert);                                                     \
    }

JOINED_PIXELS_KERNEL(F32, S8, 4, tsr_store_S8_avx512)
JOINED_PIXELS_KERNEL(F32, U8, 4, tsr_store_U8_avx512)
JOINED_PIXELS_KERNEL(F16, S8, 2, tsr_from_F16_S8_avx512)
JOINED_PIXELS_KERNEL(F16, U8, 2, tsr_from_F16_U8_avx512)
JOINED_PIXELS_KERNEL(BF16, S8, 2, tsr_from_BF16_S8_avx512)
JOINED_PIXELS_KERNEL(BF16, U8, 2, tsr_from_BF16_U8_avx512)

/* ---- blocks of 16 by 16 bytes ---- */

/* Where byte p of row groups 0 to 3 comes from, in the upper or the lower half of a block: which has 8 columns. */
#define BYTE_OF_BLOCK(side, p) (p) % 8 * (side) + (p) / 16
static const uint8_t byte_of_block[64] = PLACES(BYTE_OF_BLOCK, 16);

/* Are the columns of a tile those of blocks that lie one behind the other, too few to fill lines? */
static bool has_blocks(const tsr_tile *t)
{
    bool are_side_by_side = t->rows == 16 && t->columns % 16 == 0 && t->columns < TSR_CACHE_LINE && !t->streams;
    for (int64_t c = 1; c < t->columns && are_side_by_side; c++)
        are_side_by_side = t->src_column[c] == t->src_column[c - 1] + 16;
    return are_side_by_side;
}

/* A lane is a constant for compilers. */
#define STORE_LANE(to, v, lane) _mm_storeu_si128((__m128i *)(void *)(to), _mm512_extracti32x4_epi32(v, lane))

/* Four rows in a vector, each of which has a half of each half of the block. */
INLINE __m512i rows_of_block(const __m512i block[4], int first)
{
    const __m512i from = order_of_bytes(byte_of_block, first);
    const __m512i low = _mm512_permutex2var_epi8(block[0], from, block[1]);
    const __m512i high = _mm512_permutex2var_epi8(block[2], from, block[3]);
    return _mm512_mask_mov_epi8(low, 0xff00ff00ff00ff00U, high);
}

INLINE void turn_block(char *dst, const int64_t *row, const char *src)
{
    __m512i block[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++)
        block[j] = _mm512_loadu_si512(src + 64 * j);
#pragma GCC unroll 4
    for (int r = 0; r < 16; r += 4) {
        const __m512i rows = rows_of_block(block, r);
        STORE_LANE(dst + row[r], rows, 0);
        STORE_LANE(dst + row[r + 1], rows, 1);
        STORE_LANE(dst + row[r + 2], rows, 2);
        STORE_LANE(dst + row[r + 3], rows, 3);
    }
}

static void turn_blocks(char *dst, const char *src, const tsr_tile *t)
{
    const int64_t *row = t->dst_row, columns = t->columns;
    for (int64_t i = 0; i == 0 || i < t->tiles; i++) {
        const char *from = src + i * t->src_tile + t->src_column[0];
        char *to = dst + i * t->dst_tile;
        for (int64_t c = 0; c < columns; c += 16)
            turn_block(to + c, row, from + 16 * c);
    }
}

/* ---- pieces that a vector holds, of a few pixels ---- */

static __mmask64 first_bytes(int64_t n)
{
    return n < 64 ? (UINT64_C(1) << n) - 1 : ~UINT64_C(0);
}

/* A piece of each side: the bytes of a vector that it has, from its first one on. */
struct piece {
    __m512i order; /* for each of the destination, which one of the source it is */
    __mmask64 read, written;
};

/* The first one of n rows or columns of so many bytes, and what they span. */
static int64_t span_of(const int64_t *at, int64_t n, int64_t bytes, int64_t *first)
{
    int64_t last = *first = at[0];
    for (int64_t i = 1; i < n; i++) {
        *first = at[i] < *first ? at[i] : *first;
        last = at[i] > last ? at[i] : last;
    }
    return last - *first + bytes;
}

/* Pixels of n channels: channel c of pixel i is channel[c] + i * bytes behind `first` on one side. */
static struct piece find_piece(const int64_t *channel, int64_t first, int64_t n, int64_t pixels, int bytes, bool joins)
{
    uint8_t order[64] = {0};
    __mmask64 apart = 0;
    int together = 0;
    for (int64_t i = 0; i < pixels; i++)
        for (int64_t c = 0; c < n; c++)
            for (int b = 0; b < bytes; b++, together++) {
                const int64_t at = channel[c] - first + i * bytes + b;
                order[joins ? together : at] = (uint8_t)(joins ? at : together);
                apart |= UINT64_C(1) << at;
            }
    return (struct piece){_mm512_loadu_si512(order), joins ? apart : first_bytes(together),
                          joins ? first_bytes(together) : apart};
}

/* Some at a time, as loads wait for stores that might be to the same place. */
enum { TOGETHER = 4 };

/* Pieces from `done` on that begin where a table says, or without one follow each other in the destination, `size`
 * bytes apart. */
INLINE void permute_pieces(char *dst, const int64_t *dst_at, const char *src, const int64_t *src_at, int64_t size,
                           const struct piece *piece, int64_t done, int64_t pieces)
{
    for (int64_t i = done; i < pieces; i += TOGETHER) {
        const int64_t begin = i + TOGETHER <= pieces ? i : pieces - TOGETHER;
        __m512i v[TOGETHER];
#pragma GCC unroll 8
        for (int64_t k = begin; k < begin + TOGETHER; k++)
            v[k - begin] = _mm512_maskz_loadu_epi8(piece->read, src + src_at[k]);
#pragma GCC unroll 8
        for (int64_t k = begin; k < begin + TOGETHER; k++)
            _mm512_mask_storeu_epi8(dst + (dst_at ? dst_at[k] : k * size), piece->written,
                                    _mm512_permutexvar_epi8(piece->order, v[k - begin]));
    }
}

/*
 * Pieces that are joined, as long as there are others behind them: those write over what is too much of a vector, which
 * is stored faster than behind a mask. What the next ones are read from is fetched, as loads that cross lines wait for
 * it too long. Gives the number of those that are done.
 */
INLINE int64_t join_whole_vectors(char *dst, const char *src, const int64_t *src_at, int64_t size,
                                  const struct piece *piece, int64_t pieces)
{
    int64_t i = 0;
    for (; (i + TOGETHER - 1) * size + 64 <= pieces * size; i += TOGETHER) {
        __m512i v[TOGETHER];
#pragma GCC unroll 8
        for (int k = 0; k < TOGETHER; k++) {
            const char *from = src + src_at[i + k];
            fetch(from, 4 * TSR_CACHE_LINE);
            v[k] = _mm512_maskz_loadu_epi8(piece->read, from);
        }
#pragma GCC unroll 8
        for (int k = 0; k < TOGETHER; k++)
            _mm512_storeu_si512(dst + (i + k) * size, _mm512_permutexvar_epi8(piece->order, v[k]));
    }
    return i;
}

/*
 * Pieces of 9 pixels of 4 channels of bytes, as filters of 3x3 have for dot products, are woven where they lie side by
 * side on both sides: 16 of them are 9 lines, of which each has bytes from two or three lines of the source.
 */
enum { WOVEN_PIECES = 16, WOVEN_LINES = 9, WOVEN_CHANNELS = 4, WOVEN_BYTES = 36 };

/* Where byte i of line k comes from, and the first of its lines. */
#define WOVEN_FROM(byte) ((byte) / 36 * 36 + (byte) % 4 * 9 + (byte) % 36 / 4)
#define FIRST_LINE(k) (64 * (k) / 36 * 36 / 64)
#define WOVEN(k, i) (WOVEN_FROM(64 * (k) + (i)) - 64 * FIRST_LINE(k))
static const uint8_t woven[WOVEN_LINES][64] = {PLACES(WOVEN, 0), PLACES(WOVEN, 1), PLACES(WOVEN, 2),
                                               PLACES(WOVEN, 3), PLACES(WOVEN, 4), PLACES(WOVEN, 5),
                                               PLACES(WOVEN, 6), PLACES(WOVEN, 7), PLACES(WOVEN, 8)};

/* Of a line that is joined from v[0] on, vpermi2b looks at the lower seven bits of each order, and vpermb at six. */
INLINE __m512i weave(const __m512i *v, int k)
{
    const bool has_third = k != 0 && k != WOVEN_LINES - 1;
    const __m512i order = _mm512_loadu_si512(woven[k]);
    const __m512i line = _mm512_permutex2var_epi8(v[0], order, v[1]);
    return has_third ? _mm512_mask_permutexvar_epi8(line, _mm512_movepi8_mask(order), order, v[2]) : line;
}

/* Up to the first gap between groups of them. Gives the number of pieces that are done. */
static int64_t weave_pieces(char *dst, const char *src, const tsr_tile *t)
{
    int64_t i = 0;
    if (t->rows * t->columns != WOVEN_BYTES || t->columns != WOVEN_CHANNELS ||
        !follow_each_other(t->src_column, WOVEN_CHANNELS, t->rows))
        return 0;
    for (; i + WOVEN_PIECES <= t->pieces; i += WOVEN_PIECES) {
        const char *from = src + t->src_row[i] + t->src_column[0];
        char *to = dst + i * WOVEN_BYTES;
        __m512i v[WOVEN_LINES];
        if (!follow_each_other(t->src_row + i, WOVEN_PIECES, WOVEN_BYTES))
            break;
#pragma GCC unroll 9
        for (int k = 0; k < WOVEN_LINES; k++) {
            fetch(from, (WOVEN_LINES + k) * TSR_CACHE_LINE);
            v[k] = _mm512_loadu_si512(from + 64 * k);
        }
#pragma GCC unroll 9
        for (int k = 0; k < WOVEN_LINES; k++)
            _mm512_storeu_si512(to + 64 * k, weave(v + FIRST_LINE(k), k));
    }
    return i;
}

/* False where a piece is larger than a vector, or there are few. */
static bool join_in_vectors(char *dst, const char *src, const tsr_tile *t, int bytes)
{
    const int64_t size = t->rows * t->columns * bytes, pieces = t->pieces;
    int64_t first;
    if (pieces < TOGETHER || size > 64 || span_of(t->src_column, t->columns, t->rows * bytes, &first) > 64)
        return false;
    int64_t done = bytes == 1 ? weave_pieces(dst, src, t) : 0;
    if (done == pieces)
        return true;
    const struct piece piece = find_piece(t->src_column, first, t->columns, t->rows, bytes, true);
    done += join_whole_vectors(dst + done * size, src + first, t->src_row + done, size, &piece, pieces - done);
    permute_pieces(dst, NULL, src + first, t->src_row, size, &piece, done, pieces);
    return true;
}

static bool part_in_vectors(char *dst, const char *src, const tsr_tile *t, int bytes)
{
    const int64_t size = t->rows * t->columns * bytes;
    int64_t first;
    if (t->pieces < TOGETHER || size > 64 || span_of(t->dst_row, t->rows, t->columns * bytes, &first) > 64)
        return false;
    const struct piece piece = find_piece(t->dst_row, first, t->rows, t->columns, bytes, false);
    permute_pieces(dst + first, t->dst_column, src, t->src_piece, size, &piece, 0, t->pieces);
    return true;
}

/* ---- rows in lanes of up to 64 bytes ---- */

typedef __m512i lane_vec;

typedef struct lane_order {
    __m512i order;
    __mmask64 read;
} lane_order;

INLINE lane_order order_of(const tsr_lane *lane)
{
    return (lane_order){_mm512_loadu_si512(lane->order), ~UINT64_C(0) >> (64 - lane->window)};
}

/* vpermb looks at an order modulo 64; vpermi2b takes from its second vector what has 64 more. */
INLINE lane_vec shuffled(const char *from, const lane_order *order)
{
    return _mm512_permutexvar_epi8(order->order, _mm512_maskz_loadu_epi8(order->read, from));
}

INLINE lane_vec shuffled_into(lane_vec v, const char *from, const lane_order *order)
{
    return _mm512_permutex2var_epi8(v, order->order, _mm512_maskz_loadu_epi8(order->read, from));
}

INLINE void put_lane(char *to, lane_vec v, int64_t bytes)
{
    if (bytes == 64)
        _mm512_storeu_si512(to, v);
    else if (bytes == 32)
        _mm256_storeu_si256((__m256i *)(void *)to, _mm512_castsi512_si256(v));
    else if (bytes == 16)
        _mm_storeu_si128((__m128i *)(void *)to, _mm512_castsi512_si128(v));
    else
        _mm512_mask_storeu_epi8(to, first_bytes(bytes), v);
}

/* A whole window, of which a lane may need less: what is read behind a mask, prefetchers of the CPU do not follow (a
 * Zen 5). */
INLINE lane_vec shuffled_whole(const char *from, const lane_order *order)
{
    return _mm512_permutexvar_epi8(order->order, _mm512_loadu_si512(from));
}

/* Those with another lane behind their window; and where that comes backwards, from the last one on, if lanes do not
 * write over each other, as memory is better read forwards. */
INLINE int64_t shuffle_in_step(char *to, const char *from, const tsr_lane *lanes, int64_t n, int64_t src_step,
                               int64_t dst_step, int64_t bytes)
{
    const lane_order order = order_of(lanes);
    if (lanes->window + (src_step < 0 ? -src_step : src_step) < 64)
        return 0;
    if (src_step > 0) {
        for (int64_t i = 0; i < n - 1; i++)
            put_lane(to + i * dst_step, shuffled_whole(from + i * src_step, &order), bytes);
        return n - 1;
    }
    if (dst_step == bytes) {
        for (int64_t i = n - 1; i > 0; i--)
            put_lane(to + i * dst_step, shuffled_whole(from + i * src_step, &order), bytes);
        put_lane(to, shuffled(from, &order), bytes);
    } else {
        put_lane(to, shuffled(from, &order), bytes);
        for (int64_t i = 1; i < n; i++)
            put_lane(to + i * dst_step, shuffled_whole(from + i * src_step, &order), bytes);
    }
    return n;
}

/* ---- pixels among others ---- */

enum { MOST_PITCH = 16 };

/* How each of some vectors of the destination, which pixels repeat, comes from one of the source: where that begins,
 * which bytes are written, and from which ones. */
struct gaps {
    int64_t period; /* so many vectors, which have whole pixels together */
    int64_t src[MOST_PITCH];
    __mmask64 mask[MOST_PITCH];
    __m512i order[MOST_PITCH];
};

static void find_gaps(struct gaps *gaps, int64_t columns, int64_t dst_pitch, int64_t src_pitch)
{
    int64_t channel = 0, pixel = 0; /* of the next byte; and where that one is in the source */
    gaps->period = 0;
    do {
        uint8_t order[64] = {0};
        __mmask64 mask = 0;
        int64_t first = -1;
        for (int i = 0; i < 64; i++) {
            if (channel < columns) {
                first = first < 0 ? pixel + channel : first;
                order[i] = (uint8_t)(pixel + channel - first);
                mask |= (__mmask64)1 << i;
            }
            channel++;
            pixel += channel == dst_pitch ? src_pitch : 0;
            channel = channel == dst_pitch ? 0 : channel;
        }
        gaps->src[gaps->period] = first;
        gaps->mask[gaps->period] = mask;
        gaps->order[gaps->period++] = _mm512_loadu_si512(order);
    } while (channel != 0);
}

/* As many periods as have whole vectors of the source. What lies between the pixels is not touched. Lines are asked
 * for, as prefetchers of the CPU do not follow what is written behind masks (a Zen 5). */
INLINE int64_t scatter_periods(char *to, const char *from, const struct gaps *gaps, int64_t src_bytes, int64_t src_step)
{
    enum { AHEAD = 1 << 10 };
    const int64_t period = gaps->period, last = gaps->src[period - 1] + 64;
    int64_t n = 0;
    for (; n * src_step + last <= src_bytes; n++, to += 64 * period, from += src_step)
        for (int64_t i = 0; i < period; i++) {
            __builtin_prefetch((const void *)((uintptr_t)to + (uintptr_t)(64 * i + AHEAD)), 1);
            _mm512_mask_storeu_epi8(to + 64 * i, gaps->mask[i],
                                    _mm512_permutexvar_epi8(gaps->order[i], _mm512_loadu_si512(from + gaps->src[i])));
        }
    return n;
}

/* Do pixels repeat so often that it is worth to find out how? */
INLINE bool repeat_often(const tsr_tile *t)
{
    enum { OFTEN = 16 };
    const int64_t pitch = t->dst_pitch, period = 64 * pitch / (pitch & -pitch), tiles = t->tiles > 1 ? t->tiles : 1;
    return t->rows * tiles * pitch >= OFTEN * period;
}

void tsr_scatter_8_avx512vbmi(void *dst, const void *src, const tsr_tile *t)
{
    struct gaps gaps;
    if (!repeat_often(t)) {
        tsr_scatter_8_c(dst, src, t);
        return;
    }
    find_gaps(&gaps, t->columns, t->dst_pitch, t->src_pitch);
    const int64_t pixels = 64 * gaps.period / t->dst_pitch, src_bytes = (t->rows - 1) * t->src_pitch + t->columns;
    for (int64_t i = 0; i == 0 || i < t->tiles; i++) {
        char *to = (char *)dst + i * t->dst_tile;
        const char *from = (const char *)src + i * t->src_tile;
        const int64_t done =
            pixels * scatter_periods(to + t->dst_row[0], from + t->src_row[0], &gaps, src_bytes, pixels * t->src_pitch);
        const tsr_tile rest = {.rows = t->rows - done,
                               .columns = t->columns,
                               .dst_row = t->dst_row + done,
                               .src_row = t->src_row + done,
                               .dst_pitch = t->dst_pitch,
                               .src_pitch = t->src_pitch};
        tsr_scatter_8_c(to, from, &rest);
    }
}

#define RUNG avx512vbmi
#include "reorder/kernels/shuffle.h"

enum { PADDED_BYTES = 64 };
#define WINDOWS_ARE_VECTORS

static inline vec vec_load(const char *at)
{
    return _mm512_loadu_si512(at);
}

static inline vec vec_pad(vec v, vec order)
{
    return _mm512_maskz_permutexvar_epi8(~_mm512_movepi8_mask(order), order, v);
}

#include "reorder/kernels/pad.h"

/* ---- rows that are looked up ---- */

_Static_assert(TSR_MOST_WINDOWS == 8, "the cases below");

INLINE void look_up_row(char *to, const char *from, const tsr_lookup *lookup, int pairs)
{
    const int64_t lines = lookup->lines, last = lookup->bytes - 64;
    const uint8_t(*order)[64] = lookup->order;
    __m512i window[TSR_MOST_WINDOWS];
#pragma GCC unroll 8
    for (int i = 0; i < 2 * pairs; i++)
        window[i] = _mm512_loadu_si512(from + lookup->src[i]);
    for (int64_t line = 0; line < lines; line++, order += pairs) {
        __m512i v = _mm512_permutex2var_epi8(window[0], _mm512_loadu_si512(order[0]), window[1]);
#pragma GCC unroll 4
        for (int i = 1; i < pairs; i++) {
            const __m512i here = _mm512_loadu_si512(order[i]);
            const __m512i of_pair = _mm512_permutex2var_epi8(window[2 * i], here, window[2 * i + 1]);
            v = _mm512_mask_blend_epi8(_mm512_movepi8_mask(here), of_pair, v);
        }
        _mm512_storeu_si512(to + (line * 64 < last ? line * 64 : last), v);
    }
}

INLINE void look_up_rows(char *to, const char *from, const tsr_lookup *lookup, const struct lane_walk *walk, int pairs)
{
    const int64_t src_step = walk->src_step, dst_step = walk->dst_step, times = walk->times;
    if (walk->src_row) {
        for (int64_t r = 0; r < times; r++)
            look_up_row(to + walk->dst_row[r], from + walk->src_row[r], lookup, pairs);
        return;
    }
    for (int64_t r = 0; r < times; r++)
        look_up_row(to + r * dst_step, from + r * src_step, lookup, pairs);
    look_up_row(to + walk->last_dst, from + walk->last_src, lookup, pairs);
}

static void look_up(char *dst, const char *src, const tsr_tile *t)
{
    struct lane_walk walk = {.times = t->rows, .src_row = t->src_row, .dst_row = t->dst_row};
    if (t->lane_rows > 0) {
        walk = walk_of_even_rows(t);
        dst += t->dst_row[0];
        src += t->src_row[0];
    }
    switch (t->lookup->windows / 2) {
    case 1:
        look_up_rows(dst, src, t->lookup, &walk, 1);
        break;
    case 2:
        look_up_rows(dst, src, t->lookup, &walk, 2);
        break;
    case 3:
        look_up_rows(dst, src, t->lookup, &walk, 3);
        break;
    default:
        look_up_rows(dst, src, t->lookup, &walk, 4);
    }
}

/* Are rows as long as the look-up says, which has so many as one? */
static bool can_look_up(const tsr_tile *t, int bytes)
{
    const int64_t rows = t->lane_rows > 1 ? t->lane_rows : 1;
    return t->lookup && rows <= t->rows && rows * t->columns * bytes == t->lookup->bytes;
}

static int64_t shuffle_lanes(char *dst, const char *src, const tsr_tile *t, int bytes)
{
    if (can_look_up(t, bytes)) {
        look_up(dst, src, t);
        return t->lookup->bytes;
    }
    if (t->lane_bytes == 64)
        return shuffle_lanes_of(dst, src, t, bytes, 64);
    if (t->lane_bytes == 32)
        return shuffle_lanes_of(dst, src, t, bytes, 32);
    return shuffle_lanes_of(dst, src, t, bytes, 16);
}

#define SHUFFLE_WIDE(bits)                                                                                             \
    void NAME(shuffle_##bits)(void *dst, const void *src, const tsr_tile *t)                                           \
    {                                                                                                                  \
        if (t->lane_window == TSR_LANE_BYTES)                                                                          \
            tsr_shuffle_##bits##_avx512(dst, src, t);                                                                  \
        else                                                                                                           \
            shuffle_tiles(dst, src, t, (bits) / 8, tsr_shuffle_##bits##_c);                                            \
    }

SHUFFLE_WIDE(8)
SHUFFLE_WIDE(16)
SHUFFLE_WIDE(32)
SHUFFLE_WIDE(64)
SHUFFLE_WIDE(128)

/* ---- the kernels ---- */

#define ODD_CHANNELS(n)                                                                                                \
    static void part_by_##n(void *dst, const void *src, const tsr_tile *t)                                             \
    {                                                                                                                  \
        part_odd_pixels(dst, src, t, n, 1);                                                                            \
    }                                                                                                                  \
    static void join_by_##n(void *dst, const void *src, const tsr_tile *t)                                             \
    {                                                                                                                  \
        join_odd_pixels(dst, src, t, n, 1);                                                                            \
    }

ODD_CHANNELS(3)
ODD_CHANNELS(5)
ODD_CHANNELS(7)

void tsr_deinterleave_8_avx512vbmi(void *dst, const void *src, const tsr_tile *t)
{
    static const tsr_tile_kernel by[TSR_LONGEST_SHORT_SIDE + 1] = {[3] = part_by_3, [5] = part_by_5, [7] = part_by_7};
    const tsr_tile_kernel odd = t->columns >= ODD_VECTOR ? by[t->rows] : NULL;
    if (odd)
        odd(dst, src, t);
    else if (t->pieces == 0 || !part_in_vectors(dst, src, t, 1))
        tsr_deinterleave_8_avx512(dst, src, t);
}

void tsr_interleave_8_avx512vbmi(void *dst, const void *src, const tsr_tile *t)
{
    static const tsr_tile_kernel by[TSR_LONGEST_SHORT_SIDE + 1] = {[3] = join_by_3, [5] = join_by_5, [7] = join_by_7};
    const tsr_tile_kernel odd = t->rows >= ODD_VECTOR ? by[t->columns] : NULL;
    if (odd)
        odd(dst, src, t);
    else if (t->pieces == 0 || !join_in_vectors(dst, src, t, 1))
        tsr_interleave_8_avx512(dst, src, t);
}

void tsr_transpose_8_avx512vbmi(void *dst, const void *src, const tsr_tile *t)
{
    if (has_blocks(t))
        turn_blocks(dst, src, t);
    else if (!transpose_nine(dst, src, t, 1))
        tsr_transpose_8_avx512(dst, src, t);
}

#define PIECES(family, bits, in_vectors)                                                                               \
    void tsr_##family##_##bits##_avx512vbmi(void *dst, const void *src, const tsr_tile *t)                             \
    {                                                                                                                  \
        if (t->pieces == 0 || !in_vectors(dst, src, t, (bits) / 8))                                                    \
            tsr_##family##_##bits##_avx512(dst, src, t);                                                               \
    }

PIECES(interleave, 16, join_in_vectors)
PIECES(interleave, 32, join_in_vectors)
PIECES(deinterleave, 16, part_in_vectors)
PIECES(deinterleave, 32, part_in_vectors)

#include "reorder/kernels/x86/maps.h"
#include "reorder/kernels/x86/maps_in_turn.h"
