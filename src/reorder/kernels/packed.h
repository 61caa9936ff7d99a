/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packed kernels, of elements of 4 bits and of single bits, as loops that a compiler turns into vector code. A
 * compile unit of a rung that brings them includes this file once, behind row.h. One that unpacks and packs more than
 * eight bits at once defines OWN_BITS, and unpack_bits and pack_bits as they are here.
 */

/* ---- elements of 4 bits ---- */

static inline uint8_t half_S4(unsigned half)
{
    return (uint8_t)((half ^ 8) - 8);
}

static inline uint8_t half_U4(unsigned half)
{
    return (uint8_t)half;
}

static inline unsigned saturate_S4(uint8_t byte)
{
    int8_t x = (int8_t)byte;
    x = x < -8 ? -8 : x;
    x = x > 7 ? 7 : x;
    return (unsigned)x & 15U;
}

static inline unsigned saturate_U4(uint8_t byte)
{
    return byte < 15 ? byte : 15;
}

/* A half of a byte at either end is done alone. */
#define UNPACKER(type)                                                                                                 \
    void NAME(unpack_##type)(void *dst, const void *src, int64_t first, int64_t n)                                     \
    {                                                                                                                  \
        uint8_t *restrict to = dst;                                                                                    \
        const uint8_t *restrict from = (const uint8_t *)src + first / 2;                                               \
        if (n > 0 && first % 2 != 0) {                                                                                 \
            *to++ = half_##type(*from++ >> 4);                                                                         \
            n--;                                                                                                       \
        }                                                                                                              \
        for (int64_t i = 0; i < n / 2; i++) {                                                                          \
            to[2 * i] = half_##type(from[i] & 15);                                                                     \
            to[2 * i + 1] = half_##type(from[i] >> 4);                                                                 \
        }                                                                                                              \
        if (n % 2 != 0)                                                                                                \
            to[n - 1] = half_##type(from[n / 2] & 15);                                                                 \
    }

#define PACKER(type)                                                                                                   \
    void NAME(pack_##type)(void *dst, const void *src, int64_t first, int64_t n)                                       \
    {                                                                                                                  \
        uint8_t *restrict to = (uint8_t *)dst + first / 2;                                                             \
        const uint8_t *restrict from = src;                                                                            \
        if (n > 0 && first % 2 != 0) {                                                                                 \
            *to = (uint8_t)((*to & 15) | saturate_##type(*from++) << 4);                                               \
            to++;                                                                                                      \
            n--;                                                                                                       \
        }                                                                                                              \
        for (int64_t i = 0; i < n / 2; i++)                                                                            \
            to[i] = (uint8_t)(saturate_##type(from[2 * i]) | saturate_##type(from[2 * i + 1]) << 4);                   \
        if (n % 2 != 0)                                                                                                \
            to[n / 2] = (uint8_t)((to[n / 2] & 0xf0) | saturate_##type(from[n - 1]));                                  \
    }

UNPACKER(S4)
UNPACKER(U4)
PACKER(S4)
PACKER(U4)

/* ---- single bits ---- */

/* Eight of them, of which the first is the lowest, as bytes of 0 and 1, in three steps: halves move apart by half of
 * the word, their halves by a quarter, and so on. */
static inline uint64_t spread_bits(uint64_t bits)
{
    uint64_t x = bits;
    x = (x | x << 28) & 0x0000000f0000000f;
    x = (x | x << 14) & 0x0003000300030003;
    return (x | x << 7) & 0x0101010101010101;
}

/* And back, of eight bytes those that are not 0. */
static inline uint64_t gather_bits(uint64_t bytes)
{
    const uint64_t below = 0x7f7f7f7f7f7f7f7f;
    uint64_t x = (((bytes & below) + below) | bytes) >> 7 & 0x0101010101010101;
    x = (x | x >> 7) & 0x0003000300030003;
    x = (x | x >> 14) & 0x0000000f0000000f;
    return (x | x >> 28) & 0xff;
}

/* A byte of bits. */
INLINE void unpack_byte(uint8_t *to, const uint8_t *from)
{
    *(u64_any *)to = spread_bits(*from);
}

INLINE void pack_byte(uint8_t *to, const uint8_t *from)
{
    *to = (uint8_t)gather_bits(*(const u64_any *)from);
}

#ifndef OWN_BITS
enum { BITS_AT_ONCE = 8 };
#define unpack_bits unpack_byte
#define pack_bits pack_byte
#endif

/* Fewer than eight, that are a part of a byte from a bit on. */
static inline void unpack_part(uint8_t *to, uint8_t from, int64_t bit, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = from >> (bit + i) & 1;
}

static inline void pack_part(uint8_t *to, const uint8_t *from, int64_t bit, int64_t n)
{
    const unsigned mask = ((1U << n) - 1) << bit;
    unsigned bits = 0;
    for (int64_t i = 0; i < n; i++)
        bits |= (from[i] != 0 ? 1U : 0U) << (bit + i);
    *to = (uint8_t)((*to & ~mask) | bits);
}

/* Of n elements from one in a byte on, those that are in front of the next byte, if that one is not whole. */
static inline int64_t bits_in_front(int64_t bit, int64_t n)
{
    const int64_t front = -bit & 7;
    return n < front ? n : front;
}

void NAME(unpack_U1)(void *dst, const void *src, int64_t first, int64_t n)
{
    const int64_t front = bits_in_front(first % 8, n);
    const uint8_t *restrict from = (const uint8_t *)src + first / 8;
    uint8_t *restrict to = dst;
    if (front > 0)
        unpack_part(to, *from++, first % 8, front);
    to += front;
    n -= front;
    int64_t i = 0;
    for (; i + BITS_AT_ONCE <= n; i += BITS_AT_ONCE)
        unpack_bits(to + i, from + i / 8);
    for (; i + 8 <= n; i += 8)
        unpack_byte(to + i, from + i / 8);
    if (i < n)
        unpack_part(to + i, from[i / 8], 0, n - i);
}

void NAME(pack_U1)(void *dst, const void *src, int64_t first, int64_t n)
{
    const int64_t front = bits_in_front(first % 8, n);
    uint8_t *restrict to = (uint8_t *)dst + first / 8;
    const uint8_t *restrict from = src;
    if (front > 0)
        pack_part(to++, from, first % 8, front);
    from += front;
    n -= front;
    int64_t i = 0;
    for (; i + BITS_AT_ONCE <= n; i += BITS_AT_ONCE)
        pack_bits(to + i / 8, from + i);
    for (; i + 8 <= n; i += 8)
        pack_byte(to + i / 8, from + i);
    if (i < n)
        pack_part(to + i / 8, from + i, 0, n - i);
}

/* ---- parts of bytes, from columns to rows ---- */

/* As many words as a vector has. */
#if defined(__AVX512F__)
enum { VECTOR_OF_WORDS = 64 };
#elif defined(__AVX2__)
enum { VECTOR_OF_WORDS = 32 };
#else
enum { VECTOR_OF_WORDS = 16 };
#endif
typedef uint64_t words __attribute__((vector_size(VECTOR_OF_WORDS)));
typedef uint64_t words_any __attribute__((vector_size(VECTOR_OF_WORDS), aligned(1), may_alias));

/* Of two words those bits of the first that are above, and those of the second that are below, as the mask has them,
 * change places. */
#define EXCHANGE(first, second, shift, below)                                                                          \
    {                                                                                                                  \
        const __typeof__(first) changed = (((first) >> (shift)) ^ (second)) & (below);                                 \
        (first) ^= changed << (shift);                                                                                 \
        (second) ^= changed;                                                                                           \
    }

/*
 * Of two or eight rows from byte i on, in so many bytes at a time as a type has: halves of bytes change places, and if
 * each byte of all is a matrix of 8 x 8 bits, then quarters, then bits. Returns the byte where it ends.
 */
#define PART(name, word, word_any)                                                                                     \
    INLINE int64_t name(char *to, const int64_t *dst_row, const char *from, const int64_t *src_row, int rows,          \
                        int64_t i, int64_t n)                                                                          \
    {                                                                                                                  \
        word w[8];                                                                                                     \
        for (; i + (int64_t)sizeof(word_any) <= n; i += (int64_t)sizeof(word_any)) {                                   \
            for (int k = 0; k < rows; k++)                                                                             \
                w[k] = (word) * (const word_any *)(from + src_row[k] + i);                                             \
            for (int apart = rows / 2, shift = 4; apart > 0; apart /= 2, shift /= 2)                                   \
                for (int k = 0; k < rows; k++)                                                                         \
                    if ((k & apart) == 0)                                                                              \
                        EXCHANGE(w[k], w[k + apart], shift, UINT64_MAX / ((1U << shift) + 1))                          \
            for (int k = 0; k < rows; k++)                                                                             \
                *(word_any *)(to + dst_row[k] + i) = (word_any)w[k];                                                   \
        }                                                                                                              \
        return i;                                                                                                      \
    }

PART(part_vectors, words, words_any)
PART(part_words, uint64_t, u64_any)
PART(part_bytes, uint64_t, u8_any)

/* So many rows together. */
INLINE void part(char *dst, const char *src, const tsr_tile *tile, int rows)
{
    const int64_t n = tile->columns;
    for (int64_t r = 0; r < tile->rows; r += rows) {
        const int64_t *to = tile->dst_row + r, *from = tile->src_row + r;
        for (int k = 0; k < rows; k++)
            fetch(src + from[k], n);
        int64_t done = part_vectors(dst, to, src, from, rows, 0, n);
        done = part_words(dst, to, src, from, rows, done, n);
        part_bytes(dst, to, src, from, rows, done, n);
    }
}

void NAME(part_halves_8)(void *dst, const void *src, const tsr_tile *tile)
{
    part(dst, src, tile, 2);
}

void NAME(part_bits_8)(void *dst, const void *src, const tsr_tile *tile)
{
    part(dst, src, tile, 8);
}

/* ---- rows of elements, and rows of bytes that have elements of several of them ---- */

/* Bytes 0 to n, in parts that are constant where they can be: the statement does m of them from byte i on. The last ones
 * may be done twice. */
#define IN_PARTS(n, ...)                                                                                               \
    {                                                                                                                  \
        int64_t i = 0;                                                                                                 \
        for (const int64_t m = VECTOR_OF_WORDS; i + m <= (n); i += m)                                                  \
            __VA_ARGS__;                                                                                               \
        for (const int64_t m = TSR_LANE_BYTES; i + m <= (n); i += m)                                                   \
            __VA_ARGS__;                                                                                               \
        if (i < (n) && (n) > TSR_LANE_BYTES) {                                                                         \
            const int64_t m = TSR_LANE_BYTES;                                                                          \
            i = (n)-m;                                                                                                 \
            __VA_ARGS__;                                                                                               \
        } else {                                                                                                       \
            const int64_t m = (n)-i;                                                                                   \
            __VA_ARGS__;                                                                                               \
        }                                                                                                              \
    }

#define UNPACK_HALVES(type)                                                                                            \
    INLINE void unpack_bytes_##type(uint8_t *restrict lower, uint8_t *restrict upper, const uint8_t *restrict from,    \
                                    int64_t n)                                                                         \
    {                                                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            lower[i] = half_##type(from[i] & 15);                                                                      \
            upper[i] = half_##type(from[i] >> 4);                                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    void NAME(unpack_rows_##type)(void *dst, const void *src, const tsr_tile *tile)                                    \
    {                                                                                                                  \
        const int64_t n = tile->columns;                                                                               \
        for (int64_t r = 0; r < tile->rows; r++) {                                                                     \
            const uint8_t *from = (const uint8_t *)src + tile->src_row[r];                                             \
            uint8_t *lower = (uint8_t *)dst + tile->dst_row[2 * r],                                                    \
                    *upper = (uint8_t *)dst + tile->dst_row[2 * r + 1];                                                \
            IN_PARTS(n, unpack_bytes_##type(lower + i, upper + i, from + i, m))                                        \
        }                                                                                                              \
    }

#define PACK_HALVES(type)                                                                                              \
    INLINE void pack_bytes_##type(uint8_t *restrict to, const uint8_t *restrict lower, const uint8_t *restrict upper,  \
                                  int64_t n)                                                                           \
    {                                                                                                                  \
        for (int64_t i = 0; i < n; i++)                                                                                \
            to[i] = (uint8_t)(saturate_##type(lower[i]) | saturate_##type(upper[i]) << 4);                             \
    }                                                                                                                  \
    void NAME(pack_rows_##type)(void *dst, const void *src, const tsr_tile *tile)                                      \
    {                                                                                                                  \
        const int64_t n = tile->columns;                                                                               \
        for (int64_t r = 0; r < tile->rows; r++) {                                                                     \
            uint8_t *to = (uint8_t *)dst + tile->dst_row[r];                                                           \
            const uint8_t *lower = (const uint8_t *)src + tile->src_row[2 * r],                                        \
                          *upper = (const uint8_t *)src + tile->src_row[2 * r + 1];                                    \
            IN_PARTS(n, pack_bytes_##type(to + i, lower + i, upper + i, m))                                            \
        }                                                                                                              \
    }

UNPACK_HALVES(S4)
UNPACK_HALVES(U4)
PACK_HALVES(S4)
PACK_HALVES(U4)

INLINE void unpack_bytes_U1(uint8_t *restrict to, const uint8_t *restrict from, int bit, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = from[i] >> bit & 1;
}

void NAME(unpack_rows_U1)(void *dst, const void *src, const tsr_tile *tile)
{
    const int64_t n = tile->columns;
    for (int64_t r = 0; r < tile->rows; r++)
        for (int bit = 0; bit < 8; bit++) {
            const uint8_t *from = (const uint8_t *)src + tile->src_row[r];
            uint8_t *to = (uint8_t *)dst + tile->dst_row[8 * r + bit];
            IN_PARTS(n, unpack_bytes_U1(to + i, from + i, bit, m))
        }
}

typedef uint8_t vector_of_bytes __attribute__((vector_size(VECTOR_OF_WORDS)));
typedef uint8_t vector_of_bytes_any __attribute__((vector_size(VECTOR_OF_WORDS), aligned(1), may_alias));
typedef uint8_t lane_of_bytes __attribute__((vector_size(TSR_LANE_BYTES)));
typedef uint8_t lane_of_bytes_any __attribute__((vector_size(TSR_LANE_BYTES), aligned(1), may_alias));

/* Of eight rows from byte i on, as many bytes as a type has. */
#define PACK_BITS(name, vector, vector_any)                                                                            \
    INLINE void name(uint8_t *to, const uint8_t *from, const int64_t *row, int64_t i)                                  \
    {                                                                                                                  \
        vector packed = {0};                                                                                           \
        for (int bit = 0; bit < 8; bit++)                                                                              \
            packed |= (vector)((vector) * (const vector_any *)(from + row[bit] + i) != 0) & (uint8_t)(1U << bit);      \
        *(vector_any *)(to + i) = packed;                                                                              \
    }

PACK_BITS(pack_vector_of_bits, vector_of_bytes, vector_of_bytes_any)
PACK_BITS(pack_lane_of_bits, lane_of_bytes, lane_of_bytes_any)

INLINE void pack_bytes_U1(uint8_t *to, const uint8_t *from, const int64_t *row, int64_t i, int64_t n)
{
    if (n == VECTOR_OF_WORDS) {
        pack_vector_of_bits(to, from, row, i);
        return;
    }
    if (n == TSR_LANE_BYTES) {
        pack_lane_of_bits(to, from, row, i);
        return;
    }
    for (int64_t end = i + n; i < end; i++) {
        unsigned packed = 0;
        for (int bit = 0; bit < 8; bit++)
            packed |= (from[row[bit] + i] != 0 ? 1U : 0U) << bit;
        to[i] = (uint8_t)packed;
    }
}

void NAME(pack_rows_U1)(void *dst, const void *src, const tsr_tile *tile)
{
    const int64_t n = tile->columns;
    for (int64_t r = 0; r < tile->rows; r++) {
        const int64_t *row = tile->src_row + 8 * r;
        uint8_t *to = (uint8_t *)dst + tile->dst_row[r];
        IN_PARTS(n, pack_bytes_U1(to, src, row, i, m))
    }
}
