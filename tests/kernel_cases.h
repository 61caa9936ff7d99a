/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_KERNEL_CASES_H
#define TESSERA_TESTS_KERNEL_CASES_H

/* The kernels of list.inc as tables, and memory to run them on. Include behind <cmocka.h>. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "reorder/kernels/kernels.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- the list, as tables: slot is where tsr_kernels holds the kernel ---- */

struct tile_case {
    const char *family, *name;
    size_t bytes, slot;
    unsigned rung;
    tsr_tile_kernel run;
};

struct stream_case {
    const char *name;
    unsigned rung;
    tsr_tile_kernel run, run_behind;
    tsr_fence_kernel fence;
};

struct row_case {
    const char *family, *name;
    tsr_dtype type;
    size_t slot;
    unsigned rung;
    tsr_row_kernel run, reference;
    bool streams; /* whole lines */
};

struct runs_case {
    const char *family, *name;
    tsr_dtype type;
    size_t slot;
    unsigned rung;
    tsr_runs_kernel run;
};

struct affine_case {
    const char *family, *name;
    size_t slot;
    unsigned rung;
    tsr_row_kernel run;
};

struct packed_case {
    const char *family, *name;
    tsr_dtype type;
    size_t slot;
    unsigned rung;
    tsr_packed_kernel run;
};

struct packed_rows_case {
    const char *family, *name;
    tsr_dtype type;
    size_t slot;
    unsigned rung;
    tsr_tile_kernel run;
};

struct pixels_case {
    const char *family, *name;
    tsr_dtype src, dst;
    size_t slot;
    unsigned rung;
    tsr_pixels_kernel run;
};

struct pair_case {
    const char *family, *name;
    tsr_dtype src, dst;
    size_t slot;
    unsigned rung;
    tsr_row_kernel run;
};

struct map_case {
    const char *family, *name;
    size_t bytes, slot; /* bytes of what a byte becomes */
    unsigned rung;
    tsr_row_kernel run;
};

#define SLOT(family, i) offsetof(tsr_kernels, family[i])
#define TSR_TILE_KERNEL(family, bits, rung)                                                                            \
    {#family,         #family "_" #bits "_" #rung,   (bits) / 8, SLOT(family, TSR_WIDTH_##bits),                       \
     TSR_RUNG_##rung, tsr_##family##_##bits##_##rung},
#define TSR_STREAM_KERNEL(rung)
#define TSR_ROW_KERNEL(family, type, rung)
#define TSR_STREAM_ROW_KERNEL(family, type, rung)
#define TSR_RUNS_KERNEL(family, type, rung)
#define TSR_AFFINE_KERNEL(family, rung)
#define TSR_PACKED_KERNEL(family, type, rung)
#define TSR_PACKED_ROWS_KERNEL(family, type, rung)
#define TSR_PIXELS_KERNEL(family, src, dst, rung)
#define TSR_PAIR_KERNEL(family, src, dst, rung)
#define TSR_MAP_KERNEL(family, bits, rung)
static const struct tile_case tiles[] = {
#include "reorder/kernels/list.inc"
};
#undef TSR_TILE_KERNEL
#undef TSR_STREAM_KERNEL
#define TSR_TILE_KERNEL(family, bits, rung)
#define TSR_STREAM_KERNEL(rung)                                                                                        \
    {"stream_" #rung, TSR_RUNG_##rung, tsr_stream_##rung, tsr_stream_behind_##rung, tsr_fence_##rung},
static const struct stream_case streams[] = {
#include "reorder/kernels/list.inc"
};
#undef TSR_STREAM_KERNEL
#define TSR_STREAM_KERNEL(rung)
#undef TSR_ROW_KERNEL
#undef TSR_STREAM_ROW_KERNEL
#define TSR_ROW_KERNEL(family, type, rung)                                                                             \
    {#family,                                                                                                          \
     #family "_" #type "_" #rung,                                                                                      \
     TSR_##type,                                                                                                       \
     SLOT(family, TSR_##type),                                                                                         \
     TSR_RUNG_##rung,                                                                                                  \
     tsr_##family##_##type##_##rung,                                                                                   \
     tsr_##family##_##type##_c,                                                                                        \
     false},
#define TSR_STREAM_ROW_KERNEL(family, type, rung)                                                                      \
    {#family,                                                                                                          \
     "stream_" #family "_" #type "_" #rung,                                                                            \
     TSR_##type,                                                                                                       \
     SLOT(stream_##family, TSR_##type),                                                                                \
     TSR_RUNG_##rung,                                                                                                  \
     tsr_stream_##family##_##type##_##rung,                                                                            \
     tsr_##family##_##type##_c,                                                                                        \
     true},
static const struct row_case rows[] = {
#include "reorder/kernels/list.inc"
};
#undef TSR_ROW_KERNEL
#undef TSR_STREAM_ROW_KERNEL
#undef TSR_RUNS_KERNEL
#define TSR_ROW_KERNEL(family, type, rung)
#define TSR_STREAM_ROW_KERNEL(family, type, rung)
#define TSR_RUNS_KERNEL(family, type, rung)                                                                            \
    {#family,         #family "_" #type "_" #rung,   TSR_##type, SLOT(family, TSR_##type),                             \
     TSR_RUNG_##rung, tsr_##family##_##type##_##rung},
static const struct runs_case runs[] = {
#include "reorder/kernels/list.inc"
};
#undef TSR_RUNS_KERNEL
#undef TSR_AFFINE_KERNEL
#define TSR_RUNS_KERNEL(family, type, rung)
#define TSR_AFFINE_KERNEL(family, rung)                                                                                \
    {#family, #family "_" #rung, offsetof(tsr_kernels, family), TSR_RUNG_##rung, tsr_##family##_##rung},
static const struct affine_case affines[] = {
#include "reorder/kernels/list.inc"
};
#undef TSR_AFFINE_KERNEL
#undef TSR_PACKED_KERNEL
#define TSR_AFFINE_KERNEL(family, rung)
#define TSR_PACKED_KERNEL(family, type, rung)                                                                          \
    {#family,         #family "_" #type "_" #rung,   TSR_##type, SLOT(family, TSR_##type),                             \
     TSR_RUNG_##rung, tsr_##family##_##type##_##rung},
static const struct packed_case packers[] = {
#include "reorder/kernels/list.inc"
};
#undef TSR_PACKED_KERNEL
#undef TSR_PACKED_ROWS_KERNEL
#define TSR_PACKED_KERNEL(family, type, rung)
#define TSR_PACKED_ROWS_KERNEL(family, type, rung)                                                                     \
    {#family,         #family "_" #type "_" #rung,   TSR_##type, SLOT(family, TSR_##type),                             \
     TSR_RUNG_##rung, tsr_##family##_##type##_##rung},
static const struct packed_rows_case row_packers[] = {
#include "reorder/kernels/list.inc"
};
#undef TSR_PACKED_ROWS_KERNEL
#undef TSR_PIXELS_KERNEL
#define TSR_PACKED_ROWS_KERNEL(family, type, rung)
#define TSR_PIXELS_KERNEL(family, src, dst, rung)                                                                      \
    {#family,         #family "_" #src "_" #dst "_" #rung,  TSR_##src, TSR_##dst, SLOT(family##_##src, TSR_##dst),     \
     TSR_RUNG_##rung, tsr_##family##_##src##_##dst##_##rung},
static const struct pixels_case pixel_converters[] = {
    {"none", "none", TSR_DTYPE_NONE, TSR_DTYPE_NONE, 0, 0, NULL}, /* there may be none */
#include "reorder/kernels/list.inc"
};

#undef TSR_PIXELS_KERNEL
#undef TSR_PAIR_KERNEL
#define TSR_PIXELS_KERNEL(family, src, dst, rung)
#define TSR_PAIR_KERNEL(family, src, dst, rung)                                                                        \
    {#family,         #family "_" #src "_" #dst "_" #rung,  TSR_##src, TSR_##dst, SLOT(family##_##src, TSR_##dst),     \
     TSR_RUNG_##rung, tsr_##family##_##src##_##dst##_##rung},
static const struct pair_case pairs[] = {
    {"none", "none", TSR_DTYPE_NONE, TSR_DTYPE_NONE, 0, 0, NULL}, /* there may be none */
#include "reorder/kernels/list.inc"
};
#undef TSR_PAIR_KERNEL
#undef TSR_MAP_KERNEL
#define TSR_PAIR_KERNEL(family, src, dst, rung)
#define TSR_MAP_KERNEL(family, bits, rung)                                                                             \
    {#family,         #family "_" #bits "_" #rung,   (bits) / 8, SLOT(family, TSR_WIDTH_##bits),                       \
     TSR_RUNG_##rung, tsr_##family##_##bits##_##rung},
static const struct map_case maps[] = {
    {NULL, NULL, 0, 0, 0, NULL}, /* there may be none */
#include "reorder/kernels/list.inc"
};

static inline bool has(unsigned flags, unsigned rung)
{
    return (flags & rung) == rung;
}

/* With TSR_TEST_RUNG in the environment, those of one rung alone. */
static inline bool can_run(unsigned rung)
{
    const char *only = getenv("TSR_TEST_RUNG");
    return has(tsr_cpu_detected(), rung) && (!only || strcmp(tsr_cpu_rung_name(rung), only) == 0);
}

/* ---- memory: two destinations between guard bands, and sources that end where memory ends ---- */

enum { GUARD = 64, ROOM = 1 << 17 };

static _Alignas(TSR_CACHE_LINE) unsigned char found[ROOM], expected[ROOM];

static inline void lay_guards(size_t bytes)
{
    assert_true(bytes + 3 * GUARD <= ROOM);
    memset(found, 0xcd, bytes + 3 * GUARD);
    memset(expected, 0xcd, bytes + 3 * GUARD);
}

static inline bool is_as_expected(size_t bytes)
{
    return memcmp(found, expected, bytes + 3 * GUARD) == 0;
}

/* The last bytes in front of a page that cannot be read. Of these there are a few, which take turns. */
static inline unsigned char *end_of_memory(size_t bytes)
{
    enum { ENDS = 4, LAST_PAGE = 64 << 10 };
    static unsigned char *end[ENDS];
    static size_t turn;
    unsigned char **at = &end[turn++ % ENDS];
    assert_true(bytes <= ROOM);
    if (!*at) {
        unsigned char *memory =
            mmap(NULL, ROOM + LAST_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(memory != MAP_FAILED);
        assert_int_equal(mprotect(memory + ROOM, LAST_PAGE, PROT_NONE), 0);
        *at = memory + ROOM;
    }
    return *at - bytes;
}

/*
 * A source of exactly so many bytes. Every other one is as aligned as asked for, and a sanitizer sees what is read on
 * either side of it; the others end with readable memory, so that no load beyond them passes, be it behind a mask or on
 * a machine without sanitizers. Two are used at a time, and *memory is freed.
 */
static inline unsigned char *source(size_t bytes, size_t offset, unsigned char **memory)
{
    static size_t turn;
    *memory = NULL;
    if (turn++ % 2 == 0)
        return end_of_memory(bytes);
    *memory = malloc(offset + bytes ? offset + bytes : 1);
    assert_non_null(*memory);
    return *memory + offset;
}

#endif
