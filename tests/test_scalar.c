/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule of conversion for one element, which the row kernels are tested against, against facts
 * worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <math.h>

#include "reorder/scalar.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Bits of an element, and of what becomes of it. */
struct fact {
    tsr_dtype src_type;
    uint64_t src;
    tsr_dtype dst_type;
    uint64_t dst;
};

static const struct fact facts[] = {
    /*
     * f32 to f16: the largest, overflow, denormals with ties, ties at 1, NaNs keep sign and leading
     * payload
     */
    {TSR_F32, 0x477fef00, TSR_F16, 0x7bff}, /* 65519 */
    {TSR_F32, 0x477fefff, TSR_F16, 0x7bff},
    {TSR_F32, 0x477ff000, TSR_F16, 0x7c00}, /* 65520 */
    {TSR_F32, 0xc77ff000, TSR_F16, 0xfc00},
    {TSR_F32, 0x33800000, TSR_F16, 0x0001}, /* 2^-24 */
    {TSR_F32, 0x33000000, TSR_F16, 0x0000}, /* 2^-25: a tie */
    {TSR_F32, 0x33000001, TSR_F16, 0x0001},
    {TSR_F32, 0xb3000000, TSR_F16, 0x8000},
    {TSR_F32, 0x387fffff, TSR_F16, 0x0400}, /* rounds up to the smallest normal number */
    {TSR_F32, 0x3f801000, TSR_F16, 0x3c00},
    {TSR_F32, 0x3f803000, TSR_F16, 0x3c02},
    {TSR_F32, 0x80000000, TSR_F16, 0x8000},
    {TSR_F32, 0x00000001, TSR_F16, 0x0000},
    {TSR_F32, 0x7f800000, TSR_F16, 0x7c00},
    {TSR_F32, 0x7fc01234, TSR_F16, 0x7e00},
    {TSR_F32, 0x7f802000, TSR_F16, 0x7e01},
    {TSR_F32, 0xff800001, TSR_F16, 0xfe00},
    /* f32 to bf16 */
    {TSR_F32, 0x00010000, TSR_BF16, 0x0001}, /* denormals stay */
    {TSR_F32, 0x00008000, TSR_BF16, 0x0000},
    {TSR_F32, 0x00008001, TSR_BF16, 0x0001},
    {TSR_F32, 0x00018000, TSR_BF16, 0x0002},
    {TSR_F32, 0x3f808000, TSR_BF16, 0x3f80},
    {TSR_F32, 0x3f818000, TSR_BF16, 0x3f82},
    {TSR_F32, 0x7f7fffff, TSR_BF16, 0x7f80},
    {TSR_F32, 0x80000000, TSR_BF16, 0x8000},
    {TSR_F32, 0x7f800001, TSR_BF16, 0x7fc0},
    {TSR_F32, 0xffa10000, TSR_BF16, 0xffe1},
    /* f32 to integers: ties to even, limits, NaN */
    {TSR_F32, 0x3f000000, TSR_S32, 0},          /* 0.5 */
    {TSR_F32, 0x3fc00000, TSR_S32, 2},          /* 1.5 */
    {TSR_F32, 0x40200000, TSR_S32, 2},          /* 2.5 */
    {TSR_F32, 0xbfc00000, TSR_S32, 0xfffffffe}, /* -1.5 */
    {TSR_F32, 0x80000000, TSR_S32, 0},
    {TSR_F32, 0x4a800001, TSR_S32, 4194304}, /* 4194304.5 */
    {TSR_F32, 0x4a800003, TSR_S32, 4194306}, /* 4194305.5 */
    {TSR_F32, 0x4b000001, TSR_S32, 8388609},
    {TSR_F32, 0x4effffff, TSR_S32, 2147483520},
    {TSR_F32, 0x4f000000, TSR_S32, 0x7fffffff}, /* 2147483648 */
    {TSR_F32, 0xcf000000, TSR_S32, 0x80000000},
    {TSR_F32, 0xcf000001, TSR_S32, 0x80000000},
    {TSR_F32, 0x7f800000, TSR_S32, 0x7fffffff},
    {TSR_F32, 0xff800000, TSR_S32, 0x80000000},
    {TSR_F32, 0x7fc00000, TSR_S32, 0},
    {TSR_F32, 0xff800001, TSR_U8, 0},
    {TSR_F32, 0x3f000000, TSR_U8, 0},
    {TSR_F32, 0xbf800000, TSR_U8, 0},
    {TSR_F32, 0x437e8000, TSR_U8, 254},  /* 254.5 */
    {TSR_F32, 0x437f8000, TSR_U8, 255},  /* 255.5 */
    {TSR_F32, 0x42ff0000, TSR_S8, 127},  /* 127.5 */
    {TSR_F32, 0xc3008000, TSR_S8, 0x80}, /* -128.5 */
    {TSR_F32, 0xc2ff0000, TSR_S8, 0x80}, /* -127.5 */
    {TSR_F32, 0xc2fd0000, TSR_S8, 0x82}, /* -126.5 */
    /* halves of a byte */
    {TSR_F32, 0x40f00000, TSR_S4, 7}, /* 7.5 */
    {TSR_F32, 0x40d00000, TSR_S4, 6}, /* 6.5 */
    {TSR_F32, 0xbf800000, TSR_S4, 15},
    {TSR_F32, 0xc1080000, TSR_S4, 8}, /* -8.5 */
    {TSR_F32, 0xff800000, TSR_S4, 8},
    {TSR_F32, 0x7fc00000, TSR_S4, 0},
    {TSR_F32, 0x41680000, TSR_U4, 14}, /* 14.5 */
    {TSR_F32, 0x41780000, TSR_U4, 15}, /* 15.5 */
    {TSR_F32, 0xbf800000, TSR_U4, 0},
    {TSR_F32, 0x7f800000, TSR_U4, 15},
    {TSR_U8, 200, TSR_S4, 7},
    {TSR_S8, 0x80, TSR_U4, 0},
    {TSR_S64, UINT64_C(0x8000000000000000), TSR_S4, 8},
    {TSR_S4, 15, TSR_S8, 0xff},
    {TSR_S4, 8, TSR_F32, 0xc1000000},
    {TSR_S4, 9, TSR_S64, UINT64_C(0xfffffffffffffff9)},
    {TSR_S4, 15, TSR_U4, 0},
    {TSR_S4, 15, TSR_BOOL, 1},
    {TSR_U4, 15, TSR_F16, 0x4b80},
    {TSR_U4, 15, TSR_S4, 7},
    {TSR_BOOL, 255, TSR_U4, 1},
    /* single bits, which are integers, not truth */
    {TSR_F32, 0x3f000000, TSR_U1, 0}, /* 0.5 */
    {TSR_F32, 0x3f000001, TSR_U1, 1},
    {TSR_F32, 0x7f800000, TSR_U1, 1},
    {TSR_F32, 0xbf800000, TSR_U1, 0},
    {TSR_F32, 0x7fc00000, TSR_U1, 0},
    {TSR_S8, 0xff, TSR_U1, 0},
    {TSR_U8, 200, TSR_U1, 1},
    {TSR_BOOL, 2, TSR_U1, 1},
    {TSR_U1, 1, TSR_F32, 0x3f800000},
    {TSR_U1, 1, TSR_S8, 1},
    {TSR_U1, 1, TSR_NF4, 15},
    /* s32: rounded once */
    {TSR_S32, 0x40400001, TSR_BF16, 0x4e81},
    {TSR_S32, 0x40400000, TSR_BF16, 0x4e80},
    {TSR_S32, 65519, TSR_F16, 0x7bff},
    {TSR_S32, 65520, TSR_F16, 0x7c00},
    {TSR_S32, 2049, TSR_F16, 0x6800},
    {TSR_S32, 2051, TSR_F16, 0x6802},
    {TSR_S32, 0x80000000, TSR_F16, 0xfc00},
    {TSR_S32, 16777217, TSR_F32, 0x4b800000},
    {TSR_S32, 16777219, TSR_F32, 0x4b800002},
    {TSR_S32, 0x7fffffff, TSR_F32, 0x4f000000},
    {TSR_S32, 0x80000000, TSR_F32, 0xcf000000},
    {TSR_S32, 300, TSR_S8, 127},
    {TSR_S32, 0xffffff7f, TSR_S8, 0x80}, /* -129 */
    {TSR_S32, 0xffffffff, TSR_U8, 0},
    {TSR_S32, 256, TSR_U8, 255},
    /* from 8 and 16 bits */
    {TSR_F16, 0x0001, TSR_F32, 0x33800000},
    {TSR_F16, 0x83ff, TSR_F32, 0xb87fc000},
    {TSR_F16, 0x7bff, TSR_F32, 0x477fe000},
    {TSR_F16, 0x8000, TSR_F32, 0x80000000},
    {TSR_F16, 0x7c01, TSR_F32, 0x7fc02000}, /* made quiet */
    {TSR_F16, 0x3c01, TSR_BF16, 0x3f80},
    {TSR_F16, 0x7c00, TSR_S32, 0x7fffffff},
    {TSR_BF16, 0x7f81, TSR_F32, 0x7f810000}, /* every bit kept */
    {TSR_BF16, 0x7f81, TSR_F16, 0x7e08},
    {TSR_BF16, 0x0001, TSR_F32, 0x00010000},
    {TSR_BF16, 0x0001, TSR_F16, 0x0000},
    {TSR_BF16, 0x4f00, TSR_S32, 0x7fffffff},
    {TSR_U8, 255, TSR_F16, 0x5bf8},
    {TSR_U8, 128, TSR_S8, 127},
    {TSR_S8, 0xff, TSR_BF16, 0xbf80},
    {TSR_S8, 0x80, TSR_U8, 0},
    {TSR_S8, 0x80, TSR_S32, 0xffffff80},
    /* 16 bits */
    {TSR_F32, 0x46fffe00, TSR_S16, 0x7fff}, /* 32767 */
    {TSR_F32, 0x46ffff00, TSR_S16, 0x7fff}, /* 32767.5 */
    {TSR_F32, 0xc7000080, TSR_S16, 0x8000}, /* -32768.5 */
    {TSR_F32, 0xc6ffff00, TSR_S16, 0x8000}, /* -32767.5 */
    {TSR_F32, 0x477fff80, TSR_U16, 0xffff}, /* 65535.5 */
    {TSR_F32, 0x477ffe80, TSR_U16, 0xfffe}, /* 65534.5 */
    {TSR_F32, 0xff800000, TSR_U16, 0},
    {TSR_F32, 0x7fc00000, TSR_S16, 0},
    {TSR_S32, 40000, TSR_S16, 0x7fff},
    {TSR_S16, 0xffff, TSR_U16, 0},
    {TSR_S16, 0x8000, TSR_S64, 0xffffffffffff8000},
    {TSR_U16, 0xffff, TSR_F16, 0x7c00}, /* infinity */
    {TSR_U16, 0xffff, TSR_F32, 0x477fff00},
    /* f32 and f64 */
    {TSR_F32, 0x00000001, TSR_F64, 0x36a0000000000000}, /* 2^-149 */
    {TSR_F32, 0x80000000, TSR_F64, 0x8000000000000000},
    {TSR_F32, 0xff800001, TSR_F64, 0xfff8000020000000}, /* made quiet */
    {TSR_BF16, 0x7f81, TSR_F64, 0x7ff8200000000000},
    {TSR_F64, 0x3ff0000010000000, TSR_F32, 0x3f800000}, /* a tie */
    {TSR_F64, 0x3ff0000010000001, TSR_F32, 0x3f800001},
    {TSR_F64, 0x47efffffefffffff, TSR_F32, 0x7f7fffff},
    {TSR_F64, 0x47effffff0000000, TSR_F32, 0x7f800000},
    {TSR_F64, 0x3690000000000000, TSR_F32, 0}, /* 2^-150, a tie */
    {TSR_F64, 0x3690000000000001, TSR_F32, 1},
    {TSR_F64, 0x8000000000000001, TSR_F32, 0x80000000},
    {TSR_F64, 0x7ff0000000000001, TSR_F32, 0x7fc00000},
    {TSR_F64, 0xfff8000120000000, TSR_F32, 0xffc00009},
    /* f64: rounded once, where f32 on the way would make a tie */
    {TSR_F64, 0x3ff0020000000001, TSR_F16, 0x3c01},
    {TSR_F64, 0x3ff0020000000000, TSR_F16, 0x3c00},
    {TSR_F64, 0x3ff0100000000001, TSR_BF16, 0x3f81},
    {TSR_F64, 0x40effdffffffffff, TSR_F16, 0x7bff}, /* below 65520 */
    {TSR_F64, 0x40effe0000000000, TSR_F16, 0x7c00},
    {TSR_F64, 0x7fefffffffffffff, TSR_BF16, 0x7f80},
    {TSR_F64, 0x3fe0000000000001, TSR_U8, 1}, /* above 0.5 */
    {TSR_F64, 0x3fe0000000000000, TSR_U8, 0},
    {TSR_F64, 0xbfe0000000000001, TSR_S16, 0xffff},
    {TSR_F64, 0x41dfffffffe00000, TSR_S32, 0x7fffffff}, /* 2147483647.5 */
    {TSR_F64, 0x41dfffffffdfffff, TSR_S32, 0x7fffffff},
    {TSR_F64, 0x41dfffffffa00000, TSR_S32, 0x7ffffffe}, /* 2147483646.5 */
    {TSR_F64, 0xc1e0000000100000, TSR_S32, 0x80000000}, /* -2147483648.5 */
    {TSR_F64, 0x7ff8000000000000, TSR_S32, 0},
    /* f64 to s64 */
    {TSR_F64, 0x3fe0000000000000, TSR_S64, 0},
    {TSR_F64, 0x3ff8000000000000, TSR_S64, 2},
    {TSR_F64, 0xc004000000000000, TSR_S64, 0xfffffffffffffffe}, /* -2.5 */
    {TSR_F64, 0x432fffffffffffff, TSR_S64, 0x10000000000000},   /* 2^52 - 0.5 */
    {TSR_F64, 0x4330000000000001, TSR_S64, 0x10000000000001},
    {TSR_F64, 0x43dfffffffffffff, TSR_S64, 0x7ffffffffffffc00},
    {TSR_F64, 0x43e0000000000000, TSR_S64, 0x7fffffffffffffff},
    {TSR_F64, 0xc3e0000000000000, TSR_S64, 0x8000000000000000},
    {TSR_F64, 0xc3e0000000000001, TSR_S64, 0x8000000000000000},
    {TSR_F64, 0xfff0000000000000, TSR_S64, 0x8000000000000000},
    {TSR_F64, 0xfff8000000000000, TSR_S64, 0},
    {TSR_F32, 0x5f000000, TSR_S64, 0x7fffffffffffffff},
    {TSR_F32, 0x5effffff, TSR_S64, 0x7fffff8000000000},
    /* s64: rounded once */
    {TSR_S64, 0x20000000000001, TSR_F64, 0x4340000000000000}, /* 2^53 + 1 */
    {TSR_S64, 0x20000000000003, TSR_F64, 0x4340000000000002},
    {TSR_S64, 0x7fffffffffffffff, TSR_F64, 0x43e0000000000000},
    {TSR_S64, 0x8000000000000000, TSR_F64, 0xc3e0000000000000},
    {TSR_S64, 0x4000004000000000, TSR_F32, 0x5e800000}, /* a tie */
    {TSR_S64, 0x4000004000000001, TSR_F32, 0x5e800001},
    {TSR_S64, 0xbfffffbfffffffff, TSR_F32, 0xde800001},
    {TSR_S64, 0x4040000000000001, TSR_BF16, 0x5e81},
    {TSR_S64, 65520, TSR_F16, 0x7c00},
    {TSR_S64, 0x80000000, TSR_S32, 0x7fffffff},
    {TSR_S64, 0xffffffff7fffffff, TSR_S32, 0x80000000},
    {TSR_S64, 0xffffffff80000000, TSR_S32, 0x80000000},
    {TSR_S64, 0x7fffffffffffffff, TSR_U16, 0xffff},
    {TSR_S64, 0xffffffffffffffff, TSR_U16, 0},
    {TSR_S32, 0xffffffff, TSR_S64, 0xffffffffffffffff},
    {TSR_S32, 0x7fffffff, TSR_F64, 0x41dfffffffc00000},
    /* u32 and u64 */
    {TSR_F32, 0x4f7fffff, TSR_U32, 4294967040},
    {TSR_F32, 0x4f800000, TSR_U32, 0xffffffff},
    {TSR_F32, 0x4f000001, TSR_U32, 2147483904},
    {TSR_F32, 0xbf800000, TSR_U32, 0},
    {TSR_F32, 0x4b000001, TSR_U32, 8388609},
    {TSR_F32, 0x40200000, TSR_U32, 2}, /* 2.5 */
    {TSR_F32, 0x7fc00000, TSR_U32, 0},
    {TSR_F64, 0x41efffffffd00000, TSR_U32, 0xfffffffe}, /* 4294967294.5 */
    {TSR_F64, 0x41effffffff00000, TSR_U32, 0xffffffff}, /* 4294967295.5 */
    {TSR_F64, 0x43efffffffffffff, TSR_U64, 0xfffffffffffff800},
    {TSR_F64, 0x43f0000000000000, TSR_U64, 0xffffffffffffffff},
    {TSR_F64, 0xbfe0000000000001, TSR_U64, 0},
    {TSR_U32, 0xffffffff, TSR_F32, 0x4f800000},
    {TSR_U32, 0x80000080, TSR_F32, 0x4f000000}, /* a tie */
    {TSR_U32, 0x80000081, TSR_F32, 0x4f000001},
    {TSR_U32, 0x80800001, TSR_BF16, 0x4f01}, /* above a tie */
    {TSR_U32, 0x80000000, TSR_S32, 0x7fffffff},
    {TSR_S32, 0xffffffff, TSR_U32, 0},
    {TSR_U32, 0xffffffff, TSR_S64, 0xffffffff},
    {TSR_S32, 0xffffffff, TSR_U64, 0},
    {TSR_S64, 0xffffffffffffffff, TSR_U64, 0},
    {TSR_U64, 0xffffffffffffffff, TSR_S64, 0x7fffffffffffffff},
    {TSR_U64, 0xffffffffffffffff, TSR_U32, 0xffffffff},
    {TSR_U64, 0xffffffffffffffff, TSR_S32, 0x7fffffff},
    {TSR_U64, 0x8000000000000000, TSR_F64, 0x43e0000000000000},
    {TSR_U64, 0xffffffffffffffff, TSR_F32, 0x5f800000},
    {TSR_U64, 0x8000000000000400, TSR_F64, 0x43e0000000000000}, /* a tie */
    {TSR_U64, 0x8000008000000001, TSR_F32, 0x5f000001},         /* above one */
    {TSR_U64, 0xffffffffffffffff, TSR_F16, 0x7c00},
    {TSR_U64, 0xffffffffffffffff, TSR_F8_E4M3, 0x7f},
    {TSR_S64, 0x100000000, TSR_U32, 0xffffffff},
    /* f8: the largest, ties beyond it, denormals, NaN */
    {TSR_F32, 0x43e00000, TSR_F8_E4M3, 0x7e}, /* 448 */
    {TSR_F32, 0x43e80000, TSR_F8_E4M3, 0x7e}, /* 464: a tie */
    {TSR_F32, 0x43e80001, TSR_F8_E4M3, 0x7f},
    {TSR_F32, 0xc4000000, TSR_F8_E4M3, 0xff},
    {TSR_F32, 0x7f800000, TSR_F8_E4M3, 0x7f},
    {TSR_F32, 0xffc00000, TSR_F8_E4M3, 0xff},
    {TSR_F32, 0x3b000000, TSR_F8_E4M3, 0x01}, /* 2^-9 */
    {TSR_F32, 0x3a800000, TSR_F8_E4M3, 0x00}, /* 2^-10: a tie */
    {TSR_F32, 0xba800001, TSR_F8_E4M3, 0x81},
    {TSR_F32, 0x3c7fffff, TSR_F8_E4M3, 0x08}, /* rounds up to the smallest normal number */
    {TSR_F32, 0x3f880000, TSR_F8_E4M3, 0x38}, /* 1.0625: a tie */
    {TSR_F32, 0x3f980000, TSR_F8_E4M3, 0x3a},
    {TSR_F8_E4M3, 0x01, TSR_F32, 0x3b000000},
    {TSR_F8_E4M3, 0x87, TSR_F32, 0xbc600000},
    {TSR_F8_E4M3, 0x08, TSR_F32, 0x3c800000},
    {TSR_F8_E4M3, 0x7e, TSR_F32, 0x43e00000},
    {TSR_F8_E4M3, 0x80, TSR_F32, 0x80000000},
    {TSR_F8_E4M3, 0xff, TSR_F32, 0xfff00000},
    {TSR_F8_E4M3, 0x7f, TSR_U8, 0},
    {TSR_F8_E4M3, 0x7e, TSR_F8_E5M2, 0x5f},
    {TSR_F32, 0x47600000, TSR_F8_E5M2, 0x7b}, /* 57344 */
    {TSR_F32, 0x476fffff, TSR_F8_E5M2, 0x7b},
    {TSR_F32, 0x47700000, TSR_F8_E5M2, 0x7c}, /* 61440: a tie */
    {TSR_F32, 0xff800000, TSR_F8_E5M2, 0xfc},
    {TSR_F32, 0x7f800001, TSR_F8_E5M2, 0x7e},
    {TSR_F32, 0xffa00000, TSR_F8_E5M2, 0xff},
    {TSR_F32, 0x37800000, TSR_F8_E5M2, 0x01}, /* 2^-16 */
    {TSR_F32, 0x37000000, TSR_F8_E5M2, 0x00}, /* 2^-17: a tie */
    {TSR_F8_E5M2, 0x03, TSR_F32, 0x38400000},
    {TSR_F8_E5M2, 0x7c, TSR_F32, 0x7f800000},
    {TSR_F8_E5M2, 0x7d, TSR_F32, 0x7fe00000}, /* made quiet */
    {TSR_F8_E5M2, 0xfb, TSR_F16, 0xfb00},
    {TSR_F8_E5M2, 0x7c, TSR_S64, 0x7fffffffffffffff},
    {TSR_F64, 0x3ff1000000000001, TSR_F8_E4M3, 0x39}, /* above 1.0625 */
    {TSR_F16, 0x3c40, TSR_F8_E4M3, 0x38},
    {TSR_S32, 1073741824, TSR_F8_E5M2, 0x7c},
    {TSR_S64, 61440, TSR_F8_E5M2, 0x7c},
    /* fixed point */
    {TSR_F32, 0x3f800000, TSR_Q78, 0x0100},
    {TSR_F32, 0x3b000000, TSR_Q78, 0x0000}, /* half of the last bit */
    {TSR_F32, 0x3b000001, TSR_Q78, 0x0001},
    {TSR_F32, 0xbbc00000, TSR_Q78, 0xfffe}, /* -1.5 of it */
    {TSR_F32, 0x43000000, TSR_Q78, 0x7fff}, /* 128 */
    {TSR_F32, 0xff800000, TSR_Q78, 0x8000},
    {TSR_F32, 0x7fc00000, TSR_Q78, 0},
    {TSR_Q78, 0x8000, TSR_F32, 0xc3000000},
    {TSR_Q78, 0x0180, TSR_S8, 2}, /* 1.5 */
    {TSR_Q78, 0x0001, TSR_BOOL, 1},
    {TSR_Q78, 0x7fff, TSR_S64, 128},
    {TSR_S32, 0xffffffff, TSR_Q78, 0xff00},
    {TSR_U64, 0xffffffffffffffff, TSR_Q78, 0x7fff},
    {TSR_Q78, 0xffff, TSR_F16, 0x9c00},
    /* quantiles: the nearest, in the middle the lower one */
    {TSR_NF4, 0, TSR_F32, 0xbf800000},
    {TSR_NF4, 7, TSR_F32, 0},
    {TSR_NF4, 8, TSR_F32, 0x3da2faff},
    {TSR_NF4, 15, TSR_F64, 0x3ff0000000000000},
    {TSR_NF4, 9, TSR_NF4, 9},
    {TSR_F32, 0x3d22faff, TSR_NF4, 7}, /* half of the one at 8 */
    {TSR_F32, 0x3d22fb00, TSR_NF4, 8},
    {TSR_F64, 0x3fa45f5fe0000001, TSR_NF4, 8},
    {TSR_F32, 0x80000000, TSR_NF4, 7},
    {TSR_F32, 0xff800000, TSR_NF4, 0},
    {TSR_F32, 0x7fc00000, TSR_NF4, 7},
    {TSR_S8, 0xff, TSR_NF4, 0},
    {TSR_U64, 0xffffffffffffffff, TSR_NF4, 15},
    {TSR_NF4, 1, TSR_U8, 0},
    /* bool */
    {TSR_F32, 0x80000000, TSR_BOOL, 0},
    {TSR_F32, 0x00000001, TSR_BOOL, 1},
    {TSR_F32, 0x7fc00000, TSR_BOOL, 1},
    {TSR_F32, 0xff800000, TSR_BOOL, 1},
    {TSR_F16, 0x8001, TSR_BOOL, 1},
    {TSR_F64, 0x0000000000000001, TSR_BOOL, 1},
    {TSR_F64, 0x7ff0000000000001, TSR_BOOL, 1},
    {TSR_S64, 0x8000000000000000, TSR_BOOL, 1},
    {TSR_S64, 0x0000000100000000, TSR_BOOL, 1},
    {TSR_S8, 0x80, TSR_BOOL, 1},
    {TSR_U8, 0, TSR_BOOL, 0},
    {TSR_BOOL, 2, TSR_U8, 1},
    {TSR_BOOL, 255, TSR_F32, 0x3f800000},
    {TSR_BOOL, 128, TSR_F64, 0x3ff0000000000000},
    {TSR_BOOL, 0, TSR_S64, 0},
};

static void test_facts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++) {
        const struct fact *fact = &facts[i];
        uint64_t dst = 0;
        tsr_convert_scalar(&dst, fact->dst_type, &fact->src, fact->src_type, NULL);
        if (dst != fact->dst)
            fail_msg("%s %" PRIx64 " to %s: expected %" PRIx64 ", found %" PRIx64, tsr_dtype_name(fact->src_type),
                     fact->src, tsr_dtype_name(fact->dst_type), fact->dst, dst);
    }
}

static void test_facts_of_arithmetic(void **state)
{
    static const struct {
        struct fact fact;
        struct {
            float mean, scale;
        } with;
    } arithmetic[] = {
        {{TSR_F32, 0x40400000, TSR_F32, 0x3f800000}, {1, 0.5f}},  /* (3 - 1) / 2 */
        {{TSR_F32, 0x3f800000, TSR_F32, 0x80000000}, {1, -1}},    /* 0 * -1 */
        {{TSR_F32, 0x4b800000, TSR_F32, 0x4b800000}, {-1, 1}},    /* 2^24 + 1 is a tie */
        {{TSR_S32, 16777217, TSR_S32, 16777216}, {0, 1}},         /* rounded to f32 first */
        {{TSR_F32, 0x7f7fffff, TSR_F32, 0x7f800000}, {0, 2}},     /* overflow */
        {{TSR_F32, 0x3f801000, TSR_F16, 0x3c00}, {-0x1p-30f, 1}}, /* to f32 first: a tie */
        {{TSR_F32, 0x7f800000, TSR_S32, 0}, {0, 0}},              /* inf * 0 is NaN */
        {{TSR_U8, 255, TSR_U8, 255}, {-1, 1}},
        {{TSR_U8, 128, TSR_S8, 0}, {128, 1}},
        {{TSR_U8, 3, TSR_S8, 2}, {0, 0.5f}}, /* 1.5 */
        /* in f64 where either type is f64 or s64 */
        {{TSR_S64, 16777217, TSR_S32, 16777217}, {0, 1}},
        {{TSR_F32, 0x4b800000, TSR_S64, 16777217}, {-1, 1}},
        {{TSR_S64, 0x20000000000001, TSR_S64, 0x20000000000000}, {0, 1}},
        {{TSR_F64, 0x3ff0000000000000, TSR_F16, 0x3c01}, {-0x1.000002p-11f, 1}}, /* above a tie of f16 */
        {{TSR_F64, 0x3ff0000000000000, TSR_F64, 0x3fb99999a0000000}, {0, 0.1f}}, /* a factor is an f32 */
        {{TSR_F64, 0x7fefffffffffffff, TSR_F64, 0x7ff0000000000000}, {0, 2}},
        {{TSR_U64, 0x20000000000001, TSR_U32, 0xffffffff}, {0, 1}},
        {{TSR_U32, 16777217, TSR_U64, 16777217}, {0, 1}},
        {{TSR_U32, 16777217, TSR_U32, 16777216}, {0, 1}},
        {{TSR_NF4, 15, TSR_F8_E4M3, 0x7e}, {0, 448}},
        {{TSR_NF4, 15, TSR_NF4, 12}, {0, 0.5f}}, /* nearer to 0.4407 than to 0.5626 */
        {{TSR_BOOL, 7, TSR_BOOL, 0}, {1, 1}},
        {{TSR_BOOL, 7, TSR_U16, 30}, {0, 30}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(arithmetic); i++) {
        const struct fact *fact = &arithmetic[i].fact;
        uint64_t dst = 0;
        tsr_factors_of_element factors = {arithmetic[i].with.mean, arithmetic[i].with.scale, -0.0f, 0};
        tsr_convert_scalar(&dst, fact->dst_type, &fact->src, fact->src_type, &factors);
        assert_int_equal(dst, fact->dst);
    }
}

/* With the old value, and with a shift. */
static void test_facts_of_blending(void **state)
{
    static const struct {
        struct fact fact;
        uint64_t old;
        tsr_factors_of_element with;
    } blending[] = {
        {{TSR_U8, 10, TSR_U8, 25}, 99, {0, 2, 5, 0}},
        {{TSR_U8, 10, TSR_U8, 74}, 99, {0, 2, 5, 0.5f}},   /* 20 + 49.5 is 69.5, and 5: a tie */
        {{TSR_U8, 200, TSR_S8, 0xce}, 0, {150, -1, 0, 0}}, /* -50 */
        {{TSR_U8, 250, TSR_S8, 122}, 0, {128, 1, 0, 0}},
        {{TSR_S8, 0x80, TSR_U8, 0}, 0, {0, 1, 128, 0}}, /* zero points of either side */
        {{TSR_S8, 0x7f, TSR_U8, 255}, 0, {0, 1, 128, 0}},
        {{TSR_F32, 0x80000000, TSR_F32, 0x80000000}, 0, {0, 1, -0.0f, 0}},
        {{TSR_F32, 0x80000000, TSR_F32, 0}, 0, {0, 1, 0, 0}},                       /* -0 + 0 */
        {{TSR_F32, 0x3f800000, TSR_F32, 0x3f800000}, 0x7fc00000, {0, 1, -0.0f, 0}}, /* not read */
        {{TSR_F32, 0x3f800000, TSR_S32, 0}, 5, {0, INFINITY, 0, -INFINITY}},        /* NaN */
        {{TSR_F32, 0x4b800000, TSR_F32, 0x4b800000}, 0x3f800000, {0, 1, 1, 1}},     /* 2^24, and twice a tie */
        {{TSR_S32, 3, TSR_S32, 8}, 5, {0, 1, 0, 1}},
        {{TSR_F64, 0x3ff0000000000000, TSR_S64, 0x20000000000000},
         0x20000000000001,
         {0, 1, 1, 1}}, /* rounded, and then twice a tie */
        {{TSR_BOOL, 1, TSR_BOOL, 0}, 1, {0, 1, 0, -1}},
        {{TSR_BF16, 0x3f80, TSR_F16, 0x4000}, 0x3c00, {0, 1, 0, 1}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(blending); i++) {
        const struct fact *fact = &blending[i].fact;
        uint64_t dst = blending[i].old;
        tsr_convert_scalar(&dst, fact->dst_type, &fact->src, fact->src_type, &blending[i].with);
        if (dst != fact->dst)
            fail_msg("fact %zu: expected %" PRIx64 ", found %" PRIx64, i, fact->dst, dst);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_facts_of_arithmetic),
        cmocka_unit_test(test_facts_of_blending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
