/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_PLAN_SAMPLES_H
#define TESSERA_TESTS_PLAN_SAMPLES_H

/* One of each row, with padding, tables and factors; test_plan_run sees that none is missing. */
static const char *const plan_samples[] = {
    "f32:scalar>f32:scalar scalar",
    "f32:nhwc>f32:nchw 0x3x4x5",
    "u8:a>u8:a 1",
    "s16:nChw8c>s16:nChw8c 2x19x3x5",
    "f32:nchw>f32:nhwc 2x19x5x7",
    "f32:nchw>f32:nChw16c 2x19x5x7",
    "f32:nChw16c>f32:nChw8c 2x25x4x5",
    "f32:oihw>s8:OIhw4i16o4i 17x18x3x3 scale[0]",
    "u8:nhwc>f32:nchw 1x3x20x31 scale[1] mean[1]",
    "f32:nchw>u8:nhwc 2x19x5x7 scale[1] mean",
    "f16:aBc8b>u8:aBc12b 1x103x3",
    "u32:aBc8b>u32:aBc12b 1x103x3",
    "f32:Ab6a>f32:Ab4a 20000x3",
    "s64:nchw>bf16:nhwc 2x19x5x7",
    "bool:nChw16c>f64:nchw 2x19x5x7 mean scale[1]",
    "u8:nhwc>f32:nchw 1x3x20x31 scale[1] mean[1] reverse[1]",
    "f32:nhwc>u8:nChw8c 1x19x5x7 scale[1/4] shift[1] beta",
    "s8:nchw>s8:nhwc 2x19x5x7 mean shift beta",
    "f64:ab>f64:[a5:100,b11:3]+2 4x9",
    "s4:oi>f32:OI8i16o2i 17x31 scale[1/8]",
    "f32:nhwc>u4:[a1:800,b19:37,c5:7,d6:1]+1 1x19x5x6 scale[1] shift beta",
    "s4:nChw8c>s4:nChw12c 1x19x5x7",
    "u8:abc>u8:[a2:640,b20:32,a8:4,c4:1] 13x20x4",
    "u8:nhwc>u8:nChw4c 1x9x48x48", /* in two steps */
};

#endif
