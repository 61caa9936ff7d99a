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

/* Bytes, or words of them: the lower halves of both, and the upper ones. */
static inline uint64_t halves_below(uint64_t first, uint64_t second)
{
    const uint64_t lower = UINT64_MAX / 255 * 15;
    return (first & lower) | (second & lower) << 4;
}

static inline uint64_t halves_above(uint64_t first, uint64_t second)
{
    return halves_below(first >> 4, second >> 4);
}

static inline void part_halves(char *restrict lower, char *restrict upper, const char *restrict first,
                               const char *restrict second, int64_t n)
{
    enum { WORD = sizeof(uint64_t) };
    int64_t i = 0;
    for (; i + WORD <= n; i += WORD) {
        const uint64_t a = *(const u64_any *)(first + i), b = *(const u64_any *)(second + i);
        *(u64_any *)(lower + i) = halves_below(a, b);
        *(u64_any *)(upper + i) = halves_above(a, b);
    }
    for (; i < n; i++) {
        lower[i] = (char)halves_below((uint8_t)first[i], (uint8_t)second[i]);
        upper[i] = (char)halves_above((uint8_t)first[i], (uint8_t)second[i]);
    }
}

void NAME(part_halves_8)(void *dst, const void *src, const tsr_tile *tile)
{
    char *to = dst;
    const char *from = src;
    for (int64_t r = 0; r < tile->rows; r += 2) {
        fetch(from + tile->src_row[r], tile->columns);
        fetch(from + tile->src_row[r + 1], tile->columns);
        part_halves(to + tile->dst_row[r], to + tile->dst_row[r + 1], from + tile->src_row[r],
                    from + tile->src_row[r + 1], tile->columns);
    }
}

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

#ifndef OWN_BITS
enum { BITS_AT_ONCE = 8 };

INLINE void unpack_bits(uint8_t *to, const uint8_t *from)
{
    *(u64_any *)to = spread_bits(*from);
}

INLINE void pack_bits(uint8_t *to, const uint8_t *from)
{
    *to = (uint8_t)gather_bits(*(const u64_any *)from);
}
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
        *(u64_any *)(to + i) = spread_bits(from[i / 8]);
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
        to[i / 8] = (uint8_t)gather_bits(*(const u64_any *)(from + i));
    if (i < n)
        pack_part(to + i / 8, from + i, 0, n - i);
}

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
 * Of eight rows from byte i on, in so many bytes at a time as a type has. Each byte of all is a matrix of 8 x 8 bits:
 * halves of these change places, then quarters, then bits. Returns the byte where it ends.
 */
#define PART_BITS(name, word, word_any)                                                                                \
    INLINE int64_t name(char *to, const int64_t *dst_row, const char *from, const int64_t *src_row, int64_t i,         \
                        int64_t n)                                                                                     \
    {                                                                                                                  \
        const uint64_t all = UINT64_MAX / 255;                                                                         \
        word w[8];                                                                                                     \
        for (; i + (int64_t)sizeof(word_any) <= n; i += (int64_t)sizeof(word_any)) {                                   \
            for (int k = 0; k < 8; k++)                                                                                \
                w[k] = (word) * (const word_any *)(from + src_row[k] + i);                                             \
            for (int k = 0; k < 4; k++)                                                                                \
                EXCHANGE(w[k], w[k + 4], 4, all * 0x0f)                                                                \
            for (int k = 0; k < 4; k++)                                                                                \
                EXCHANGE(w[k + k / 2 * 2], w[k + k / 2 * 2 + 2], 2, all * 0x33)                                        \
            for (int k = 0; k < 8; k += 2)                                                                             \
                EXCHANGE(w[k], w[k + 1], 1, all * 0x55)                                                                \
            for (int k = 0; k < 8; k++)                                                                                \
                *(word_any *)(to + dst_row[k] + i) = (word_any)w[k];                                                   \
        }                                                                                                              \
        return i;                                                                                                      \
    }

PART_BITS(part_vectors, words, words_any)
PART_BITS(part_words, uint64_t, u64_any)
PART_BITS(part_bytes, uint64_t, u8_any)

void NAME(part_bits_8)(void *dst, const void *src, const tsr_tile *tile)
{
    const int64_t n = tile->columns;
    for (int64_t r = 0; r < tile->rows; r += 8) {
        const int64_t *to = tile->dst_row + r, *from = tile->src_row + r;
        for (int k = 0; k < 8; k++)
            fetch((const char *)src + from[k], n);
        int64_t done = part_vectors(dst, to, src, from, 0, n);
        done = part_words(dst, to, src, from, done, n);
        part_bytes(dst, to, src, from, done, n);
    }
}
