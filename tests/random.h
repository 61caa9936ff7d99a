/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_RANDOM_H
#define TESSERA_TESTS_RANDOM_H

/*
 * Random numbers, dims and descriptors for property tests. Include behind <cmocka.h>.
 *
 *     TSR_TEST_SEED=N   repeats a run; without it the seed comes from the clock. It is printed.
 *     TSR_TEST_LONG=1   twenty times as many cases
 *     TSR_TEST_SHORT=1  a tenth of them, for emulators
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tessera/desc.h>

typedef struct tsr_random {
    uint64_t state;
} tsr_random;

static inline void tsr_random_seed(tsr_random *random, uint64_t seed)
{
    random->state = seed;
}

static inline void tsr_random_seed_from_environment(tsr_random *random)
{
    const char *text = getenv("TSR_TEST_SEED");
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)now.tv_sec * 1000000007U + (uint64_t)now.tv_nsec;
    print_message("# TSR_TEST_SEED=%" PRIu64 "\n", seed);
    tsr_random_seed(random, seed);
}

static inline bool tsr_random_is_asked(const char *variable)
{
    const char *text = getenv(variable);
    return text && strcmp(text, "1") == 0;
}

/* The number of cases of a property test. */
static inline int tsr_random_cases(int usual)
{
    if (tsr_random_is_asked("TSR_TEST_SHORT"))
        return usual / 10;
    return tsr_random_is_asked("TSR_TEST_LONG") ? 20 * usual : usual;
}

/* 64 random bits: SplitMix64 of Steele, Lea and Flood, 2014. */
static inline uint64_t tsr_random_next(tsr_random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* A number from lo to hi, both included; hi - lo is below 2^63. */
static inline int64_t tsr_random_range(tsr_random *random, int64_t lo, int64_t hi)
{
    return lo + (int64_t)(tsr_random_next(random) % ((uint64_t)(hi - lo) + 1));
}

/* True in one of n cases. */
static inline bool tsr_random_chance(tsr_random *random, int64_t n)
{
    return tsr_random_range(random, 1, n) == 1;
}

/* Dims of 1 or more whose product is at most max_elements: many ones, few large ones, on any axis. */
static inline void tsr_random_dims(tsr_random *random, int rank, int64_t max_elements, int64_t *dims)
{
    int64_t room = max_elements;
    int first = rank ? (int)tsr_random_range(random, 0, rank - 1) : 0;
    for (int i = 0; i < rank; i++) {
        int64_t most = tsr_random_chance(random, 8) ? room : 20;
        int64_t dim = tsr_random_chance(random, 5) ? 1 : tsr_random_range(random, 1, most < room ? most : room);
        dims[(first + i) % rank] = dim;
        room /= dim;
    }
}

/* What a random descriptor may have. {0}: the axes in any order, in one level each, dense from offset 0. */
typedef struct tsr_random_options {
    int max_blocks;       /* inner blocks per axis */
    int64_t max_elements; /* bound of the padded elements without the spare, where the dims alone keep it; 0: 4096 */
    bool row_major;       /* the axes in logical order, then the blocks in any order */
    bool strided;         /* gaps between levels, and strides that do not fall from level to level */
    bool offset;          /* a start behind the start of the buffer */
    bool pad_before;      /* likewise, for single levels */
    bool broadcast;       /* strides of 0 */
    bool backwards;       /* strides below 0, and the offset so far up that memory begins where it did */
    bool spare;           /* outermost levels with more blocks than the dim needs */
} tsr_random_options;

/* The levels of a descriptor in the making. */
typedef struct tsr_random_levels {
    int count;
    int order[TSR_MAX_LEVELS];
    int64_t block_dims[TSR_MAX_LEVELS];
    int64_t strides[TSR_MAX_LEVELS];
    int64_t pad_before[TSR_MAX_LEVELS];
} tsr_random_levels;

static inline void tsr_random_shuffle(tsr_random *random, int *items, int count)
{
    for (int i = count - 1; i > 0; i--) {
        int j = (int)tsr_random_range(random, 0, i), item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
}

/* Chooses the blocks of each axis and the order of all levels. */
static inline void tsr_random_blocks(tsr_random *random, int rank, const int64_t *dims,
                                     const tsr_random_options *options, tsr_random_levels *levels)
{
    static const int64_t liked[] = {1, 2, 2, 3, 4, 4, 5, 7, 8, 8, 16, 32};
    int64_t blocks[TSR_MAX_RANK][TSR_MAX_LEVELS], covered[TSR_MAX_RANK], padded = 1;
    int count[TSR_MAX_RANK], next[TSR_MAX_RANK];
    for (int k = 0; k < rank; k++)
        padded *= dims[k] ? dims[k] : 1;
    levels->count = rank;
    for (int k = 0; k < rank; k++) {
        int wanted = (int)tsr_random_range(random, 0, options->max_blocks);
        int64_t dim = dims[k] ? dims[k] : 1;
        levels->order[k] = k;
        count[k] = next[k] = 0;
        covered[k] = 1;
        for (int i = 0; i < wanted && levels->count < TSR_MAX_LEVELS; i++) {
            int64_t block = liked[tsr_random_range(random, 0, sizeof liked / sizeof liked[0] - 1)];
            int64_t unit = covered[k] * block, grown = (dim + unit - 1) / unit * unit;
            if (padded / dim * grown > (options->max_elements ? options->max_elements : 4096))
                continue;
            covered[k] = unit;
            blocks[k][count[k]++] = block;
            levels->order[levels->count++] = k;
        }
        padded = padded / dim * ((dim + covered[k] - 1) / covered[k] * covered[k]);
    }
    int fixed = options->row_major ? rank : 0;
    tsr_random_shuffle(random, levels->order + fixed, levels->count - fixed);
    for (int i = 0; i < levels->count; i++) { /* the first level of an axis is its outermost */
        int k = levels->order[i], j = next[k]++;
        levels->block_dims[i] = j ? blocks[k][j - 1] : (dims[k] + covered[k] - 1) / covered[k];
        if (options->spare && j == 0 && dims[k] && tsr_random_chance(random, 8))
            levels->block_dims[i]++;
    }
}

/* Gives the levels strides, from the innermost in memory outwards: each clears what those before it reach. */
static inline void tsr_random_strides(tsr_random *random, const tsr_random_options *options, tsr_random_levels *levels)
{
    int inwards[TSR_MAX_LEVELS];
    int64_t reach = 0;
    for (int i = 0; i < levels->count; i++)
        inwards[i] = levels->count - 1 - i;
    if (options->strided && tsr_random_chance(random, 3))
        tsr_random_shuffle(random, inwards, levels->count);
    for (int j = 0; j < levels->count; j++) {
        int i = inwards[j];
        levels->strides[i] = reach + 1;
        if (options->strided && tsr_random_chance(random, 4))
            levels->strides[i] += tsr_random_range(random, 1, 5);
        if (options->strided && levels->block_dims[i] == 1 && tsr_random_chance(random, 4))
            levels->strides[i] = tsr_random_range(random, 0, 50);
        if (options->broadcast && tsr_random_chance(random, 4))
            levels->strides[i] = 0;
        if (levels->block_dims[i] > 1)
            reach += (levels->block_dims[i] - 1) * levels->strides[i];
    }
}

/* A few levels begin late; the elements in front of them are at most max_elements. */
static inline void tsr_random_pads(tsr_random *random, const tsr_random_options *options, tsr_random_levels *levels)
{
    int64_t room = options->max_elements ? options->max_elements : 4096;
    for (int i = 0; i < levels->count; i++) {
        int64_t pad = options->pad_before && tsr_random_chance(random, 6) ? tsr_random_range(random, 1, 3) : 0;
        levels->pad_before[i] = pad * levels->strides[i] <= room ? pad : 0;
        room -= levels->pad_before[i] * levels->strides[i];
    }
}

/* Turns a few levels round, and returns by how much the offset grows so that they stay where they are. */
static inline int64_t tsr_random_turns(tsr_random *random, const tsr_random_options *options, tsr_random_levels *levels)
{
    int64_t growth = 0;
    for (int i = 0; i < levels->count; i++) {
        if (!options->backwards || levels->block_dims[i] == 0 || !tsr_random_chance(random, 3))
            continue;
        growth += (levels->block_dims[i] - 1 + 2 * levels->pad_before[i]) * levels->strides[i];
        levels->strides[i] = -levels->strides[i];
    }
    return growth;
}

/* A valid descriptor of these dims. */
static inline tsr_desc tsr_random_desc(tsr_random *random, tsr_dtype dtype, int rank, const int64_t *dims,
                                       const tsr_random_options *options)
{
    tsr_random_levels levels;
    tsr_desc desc;
    tsr_error error = {0};
    tsr_random_blocks(random, rank, dims, options, &levels);
    tsr_random_strides(random, options, &levels);
    tsr_random_pads(random, options, &levels);
    int64_t growth = tsr_random_turns(random, options, &levels);
    tsr_blocking blocking = {
        .levels = levels.count,
        .block_dims = levels.block_dims,
        .order = levels.order,
        .strides = levels.strides,
        .pad_before = levels.pad_before,
        .offset = growth + (options->offset && tsr_random_chance(random, 2) ? tsr_random_range(random, 1, 40) : 0),
        .read_only = options->broadcast || options->backwards,
    };
    if (tsr_desc_blocked(&desc, dtype, rank, dims, &blocking, &error) != TSR_OK)
        fail_msg("random descriptor: %s", error.message);
    return desc;
}

#endif
