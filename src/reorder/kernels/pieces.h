/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces of pixels that have less than two vectors of each channel, several at a time, in terms of the vector of
 * blocks.h, which includes this and takes longer ones one by one. A rung with a NARROWER vector, which ONE_LANE is not,
 * leaves them to that.
 */

#ifdef NARROWER
#define PIECES(bits)                                                                                                   \
    static void joined_pieces_##bits(void *dst, const void *src, const tsr_tile *t)                                    \
    {                                                                                                                  \
        EXPANDED(interleave_##bits, NARROWER)(dst, src, t);                                                            \
    }                                                                                                                  \
    static void parted_pieces_##bits(void *dst, const void *src, const tsr_tile *t)                                    \
    {                                                                                                                  \
        EXPANDED(deinterleave_##bits, NARROWER)(dst, src, t);                                                          \
    }
#else

/* ---- of so few pixels that a vector would not be filled, one in each lane ---- */

/*
 * Of n vectors, the first bytes of each lane, the lanes `pitch` bytes apart. What is written too much, less than 16
 * bytes, is where the next lane begins, which is written afterwards.
 */
INLINE void store_lanes_apart(char *to, const vec v[8], int n, int64_t pitch, int64_t bytes)
{
#pragma GCC unroll 8
    for (int j = n - 1; j >= 0; j--)
        for (int l = 0; l < LANES && 16 * j < bytes; l++)
            vec_store_lanes(to + l * pitch + 16 * j, v[j], l, 1);
}

INLINE void join_lanes(vec v[8], const char *const at[LANES], const int64_t column[8], int n, int bytes)
{
#pragma GCC unroll 8
    for (int j = 0; j < n; j++) {
        const char *here[LANES];
        for (int l = 0; l < LANES; l++)
            here[l] = at[l] + column[j];
        v[j] = vec_gather_lanes(here);
    }
    join_channels(v, n, bytes);
}

/* Are there pieces from p on, one for each lane? The last ones may be some that have been moved, if that may be done
 * twice. */
INLINE bool fill_lanes(int64_t *p, int64_t pieces, bool may_repeat)
{
    if (may_repeat && *p < pieces && pieces >= LANES && *p + LANES > pieces)
        *p = pieces - LANES;
    return *p + LANES <= pieces;
}

/*
 * A piece in each lane: 16 bytes of every column at a time, the last of them as early as they are inside; or if that
 * `fits` into 16 bytes, all that there is. Pieces with which too much might be read or written then, as it is with the
 * last one, are left. Gives the number of those that are done.
 */
INLINE int64_t join_in_lanes(char *dst, const char *src, const tsr_tile *t, int n, int bytes, bool fits)
{
    const int64_t length = t->rows * bytes, pitch = n * length, written = fits ? pitch : 16 * n, *src_row = t->src_row;
    const int64_t last = src_row[t->pieces - 1], end = (last > src_row[0] ? last : src_row[0]) + length - 16;
    const int64_t fitting = fits ? t->pieces - ((-written & 15) + pitch - 1) / pitch : t->pieces;
    int64_t p = 0, column[8];
    for (int j = 0; j < n; j++)
        column[j] = t->src_column[j];
    for (; fill_lanes(&p, fitting, !fits); p += LANES) {
        const char *at[LANES];
        char *to = dst + p * pitch;
        int64_t room = 0;
        vec v[8];
        for (int l = 0; l < LANES; l++) {
            at[l] = src + src_row[p + l];
            room |= end - src_row[p + l]; /* is negative if any is */
        }
        if (fits && room < 0)
            break;
        for (int64_t left = length; left > 0; left -= 16) {
            const int64_t back = fits || left >= 16 ? 0 : 16 - left;
            for (int l = 0; l < LANES; l++)
                at[l] -= back;
            join_lanes(v, at, column, n, bytes);
            store_lanes_apart(to - back * n, v, n, pitch, written);
            for (int l = 0; l < LANES; l++)
                at[l] += 16;
            to += 16 * n;
        }
    }
    return p;
}

/* Do the rows of a piece follow each other in the destination? A lane has to reach into the next piece at most. */
INLINE bool rows_follow(const tsr_tile *t, int n, int64_t length)
{
    bool follow = (n + 1) * length >= 16;
    for (int r = 1; r < n; r++)
        follow = follow && t->dst_row[r] == t->dst_row[r - 1] + length;
    return follow;
}

/* And do the pieces of a vector, and another one behind them? */
INLINE bool pieces_follow(const tsr_tile *t, int64_t p, int64_t pitch)
{
    bool follow = p + LANES < t->pieces;
    for (int l = 0; l < LANES && follow; l++)
        follow = t->dst_column[p + l + 1] == t->dst_column[p + l] + pitch;
    return follow;
}

/* And back. Of pieces that `fit`, too much may be read, as long as it is inside of the last one in memory, and written
 * where it is written again. */
INLINE int64_t part_in_lanes(char *dst, const char *src, const tsr_tile *t, int n, int bytes, bool fits)
{
    const int64_t length = t->columns * bytes, pitch = n * length, *src_piece = t->src_piece;
    const int64_t last = src_piece[t->pieces - 1], end = (last > src_piece[0] ? last : src_piece[0]) + pitch - 16 * n;
    const bool is_dense = fits && rows_follow(t, n, length);
    int64_t p = 0, row[8];
    for (int r = 0; r < n; r++)
        row[r] = t->dst_row[r];
    for (; fill_lanes(&p, t->pieces, !fits); p += LANES) {
        const bool is_whole = !fits || (is_dense && pieces_follow(t, p, pitch));
        const char *piece[LANES];
        char *to[LANES];
        int64_t room = 0;
        for (int l = 0; l < LANES; l++) {
            piece[l] = src + src_piece[p + l];
            to[l] = dst + t->dst_column[p + l];
            room |= end - src_piece[p + l]; /* is negative if any is */
        }
        if (fits && room < 0)
            break;
        for (int64_t left = length; left > 0; left -= 16) {
            const int64_t first = fits || left >= 16 ? length - left : length - 16;
            const char *from[LANES];
            vec v[8];
            advance_lanes(from, piece, first * n);
            gather_from(v, from, n);
            part_channels(v, n, bytes);
#pragma GCC unroll 16
            for (int i = 0; i < n * LANES; i++) {
                const int r = fits ? i % n : i / LANES, l = fits ? i / n : i % LANES;
                if (is_whole)
                    vec_store_lanes(to[l] + row[r] + first, v[r], l, 1);
                else
                    vec_store_part_of_lane(to[l] + row[r], v[r], l, length);
            }
        }
    }
    return p;
}

/* Does a vector have all channels of a pixel, as many of them in each lane as this has of one channel? */
INLINE bool fill_vector(int n, int bytes)
{
    return n * bytes == LANES * 16 && are_zipped(n);
}

/* Piece by piece: then lanes are a few channels each, and what is joined in these is whole pixels. */
INLINE int64_t join_in_pixels(char *dst, const char *src, const tsr_tile *t, int n, int bytes)
{
    const int64_t length = t->rows * bytes, pieces = t->pieces, *src_row = t->src_row;
    const int side = 16 / bytes;
    int64_t column[8];
    for (int j = 0; j < n; j++)
        column[j] = t->src_column[j];
    for (int64_t p = 0; p < pieces; p++)
        for (int64_t done = 0; done < length; done += 16) {
            vec v[16];
            get_stripe(v, src + src_row[p] + done, column, side);
            zip_rounds(v, side, log2_of(side), bytes);
#pragma GCC unroll 8
            for (int i = 0; i < side; i++, dst += LANES * 16)
                vec_store(dst, v[i]);
        }
    return pieces;
}

INLINE int64_t interleave_pieces(char *dst, const char *src, const tsr_tile *t, int n, int bytes)
{
    if (fill_vector(n, bytes) && t->rows * bytes % 16 == 0)
        return join_in_pixels(dst, src, t, n, bytes);
    return t->rows * bytes < 16 ? join_in_lanes(dst, src, t, n, bytes, true)
                                : join_in_lanes(dst, src, t, n, bytes, false);
}

INLINE int64_t deinterleave_pieces(char *dst, const char *src, const tsr_tile *t, int n, int bytes)
{
    return t->columns * bytes < 16 ? part_in_lanes(dst, src, t, n, bytes, true)
                                   : part_in_lanes(dst, src, t, n, bytes, false);
}

typedef int64_t (*piece_kernel)(void *dst, const void *src, const tsr_tile *t);

#define PIECES_OF(family, bits, n)                                                                                     \
    __attribute__((noinline)) static int64_t family##_##bits##_by_##n(void *dst, const void *src, const tsr_tile *t)   \
    {                                                                                                                  \
        return family(dst, src, t, n, (bits) / 8);                                                                     \
    }

#define PIECES(bits)                                                                                                   \
    FOR_SHORT_SIDES(PIECES_OF, interleave_pieces, bits)                                                                \
    FOR_SHORT_SIDES(PIECES_OF, deinterleave_pieces, bits)                                                              \
    static void joined_pieces_##bits(void *dst, const void *src, const tsr_tile *t)                                    \
    {                                                                                                                  \
        static const piece_kernel by[] = BY_SHORT_SIDE(interleave_pieces_##bits);                                      \
        const int64_t done = by[t->columns - 2](dst, src, t);                                                          \
        const tsr_tile rest = {.rows = t->rows,                                                                        \
                               .columns = t->columns,                                                                  \
                               .src_row = t->src_row + done,                                                           \
                               .src_column = t->src_column,                                                            \
                               .pieces = t->pieces - done};                                                            \
        if (rest.pieces > 0)                                                                                           \
            tsr_interleave_##bits##_c((char *)dst + done * t->rows * t->columns * ((bits) / 8), src, &rest);           \
    }                                                                                                                  \
    static void parted_pieces_##bits(void *dst, const void *src, const tsr_tile *t)                                    \
    {                                                                                                                  \
        static const piece_kernel by[] = BY_SHORT_SIDE(deinterleave_pieces_##bits);                                    \
        const int64_t done = by[t->rows - 2](dst, src, t);                                                             \
        const tsr_tile rest = {.rows = t->rows,                                                                        \
                               .columns = t->columns,                                                                  \
                               .dst_row = t->dst_row,                                                                  \
                               .dst_column = t->dst_column + done,                                                     \
                               .src_piece = t->src_piece + done,                                                       \
                               .pieces = t->pieces - done};                                                            \
        if (rest.pieces > 0)                                                                                           \
            tsr_deinterleave_##bits##_c(dst, src, &rest);                                                              \
    }
#endif
