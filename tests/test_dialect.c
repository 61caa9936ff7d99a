/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tessera/dialect.h>

#include "parsed.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Short words for the tables. */
enum {
    TESSERA = TSR_DIALECT_TESSERA,
    OPENVINO = TSR_DIALECT_OPENVINO,
    ONEDNN = TSR_DIALECT_ONEDNN,
    TVM = TSR_DIALECT_TVM,
    EINOPS = TSR_DIALECT_EINOPS,
    CUTE = TSR_DIALECT_CUTE,
    XLA = TSR_DIALECT_XLA,
    NUMPY = TSR_DIALECT_NUMPY,
    ANY = TSR_ROLE_ANY,
    WEIGHTS = TSR_ROLE_WEIGHTS,
    GROUPED = TSR_ROLE_GROUPED_WEIGHTS,
    RECURRENT = TSR_ROLE_RECURRENT,
    NONE = TSR_ROLE_NONE,
};

/* --- names --- */

static void test_names(void **state)
{
    (void)state;
    static const char *const names[] = {"tessera", "openvino", "onednn", "tvm", "einops", "cute", "xla", "numpy"};
    for (int i = 0; i < TSR_DIALECT_COUNT; i++) {
        tsr_dialect dialect = TSR_DIALECT_COUNT;
        assert_string_equal(tsr_dialect_name((tsr_dialect)i), names[i]);
        assert_int_equal(tsr_dialect_from_name(&dialect, names[i], NULL), TSR_OK);
        assert_int_equal(dialect, i);
    }
    tsr_dialect dialect = TSR_DIALECT_XLA;
    tsr_error error = {0};
    assert_null(tsr_dialect_name(TSR_DIALECT_COUNT));
    assert_int_equal(tsr_dialect_from_name(&dialect, "XLA", &error), TSR_PARSE_ERROR);
    assert_string_equal(error.message, "expected a dialect such as onednn, tvm or numpy, found \"XLA\"");
    assert_int_equal(dialect, TSR_DIALECT_XLA);
}

/* --- what is read with the dims of the descriptor, and what is written of it; NULL: the same --- */

static const struct {
    int dialect, role;
    const char *text, *desc, *printed;
} rows[] = {
    {TESSERA, ANY, "nChw16c", "f32:nChw16c 8x64x56x56", NULL},
    {TESSERA, ANY, "nchw", "f32:nchw 1x3x2x2", NULL},
    {TESSERA, ANY, "[a1,b3,c2,d2]", "f32:nchw 1x3x2x2", "nchw"},
    {TESSERA, ANY, "nChw16c", "f32:nChw16c 1x16x2x2", "nhwc"},
    {TESSERA, ANY, "[a2:3,b3:1]+7", "f32:[a2:3,b3:1]+7 2x3", NULL},
    {TESSERA, ANY, "[a1:1,b2:125,c4:32,d4:8,b5:1]+3@b0", "f32:[a1:1,b2:125,c4:32,d4:8,b5:1]+3@b0 1x9x4x4", NULL},

    {OPENVINO, ANY, "SCALAR", "f32:scalar scalar", NULL},
    {OPENVINO, ANY, "C", "f32:x 7", NULL},
    {OPENVINO, ANY, "NC", "f32:nc 2x3", NULL},
    {OPENVINO, ANY, "CN", "f32:cn 2x3", NULL},
    {OPENVINO, ANY, "HW", "f32:nc 2x3", "NC"},
    {OPENVINO, ANY, "CHW", "f32:ncw 2x3x4", NULL},
    {OPENVINO, ANY, "HWC", "f32:bca 2x3x4", NULL},
    {OPENVINO, ANY, "NCHW", "f32:nchw 2x3x4x5", NULL},
    {OPENVINO, ANY, "NHWC", "f32:nhwc 2x3x4x5", NULL},
    {OPENVINO, ANY, "NCDHW", "f32:ncdhw 1x2x3x4x5", NULL},
    {OPENVINO, ANY, "NDHWC", "f32:ndhwc 1x2x3x4x5", NULL},
    {OPENVINO, WEIGHTS, "OIHW", "f32:nchw 2x3x4x5", NULL},
    {OPENVINO, WEIGHTS, "OIDHW", "f32:ncdhw 1x2x3x4x5", NULL},
    {OPENVINO, GROUPED, "GOIHW", "f32:ncdhw 1x2x3x4x5", NULL},
    {OPENVINO, GROUPED, "GOIDHW", "f32:goidhw 1x2x3x4x5x6", NULL},
    {OPENVINO, RECURRENT, "NC", "f32:nc 2x3", NULL},
    {OPENVINO, ANY, "[N,C,H,W]", "f32:nchw 2x3x4x5", "NCHW"},
    {OPENVINO, ANY, "[ n , h,\tw, c ]", "f32:nhwc 2x3x4x5", "NHWC"},
    {OPENVINO, ANY, "[H,W,C,N]", "f32:hwio 4x5x2x3", NULL},
    {OPENVINO, WEIGHTS, "[H,W,I,O]", "f32:hwio 4x5x2x3", NULL},
    {OPENVINO, ANY, "[W,H,D,C,N]", "f32:edcba 1x2x3x4x5", NULL},
    {OPENVINO, ANY, "NHWC", "f32:nhwc 0x3x4x5", NULL},

    {ONEDNN, ANY, "nChw16c", "f32:nChw16c 8x64x56x56", NULL},
    {ONEDNN, ANY, "dnnl_nhwc", "f32:nhwc 2x3x4x5", "nhwc"},
    {ONEDNN, NONE, "aBcd16b", "f32:nChw16c 8x64x56x56", NULL},
    {ONEDNN, WEIGHTS, "OIhw4i16o4i", "s8:OIhw4i16o4i 17x5x3x3", NULL},
    {ONEDNN, GROUPED, "gOIhw4o8i8o4i", "f32:gOIhw4o8i8o4i 3x33x46x1x2", NULL},
    {ONEDNN, ANY, "abcdefghijkl", "u8:abcdefghijkl 1x1x1x1x1x1x1x1x1x1x1x2", NULL},

    {TVM, ANY, "NCHW16c", "f32:nChw16c 8x64x56x56", NULL},
    {TVM, ANY, "C", "f32:x 7", NULL},
    {TVM, ANY, "NC", "f32:nc 2x3", NULL},
    {TVM, ANY, "NCW", "f32:ncw 2x3x4", NULL},
    {TVM, ANY, "NDHWC", "f32:ndhwc 1x2x3x4x5", NULL},
    {TVM, ANY, "NC8cHW", "f32:[a1:128,b4:32,b8:4,c2:2,d2:1] 1x32x2x2", NULL},
    {TVM, WEIGHTS, "OIHW16i16o", "f32:OIhw16i16o 32x64x3x3", NULL},
    {TVM, WEIGHTS, "HWIO", "f32:hwio 4x5x2x3", NULL},
    {TVM, GROUPED, "GOIHW8g", "f32:Goihw8g 16x2x3x1x1", NULL},
    {TVM, RECURRENT, "TNC", "f32:ncw 2x3x4", NULL},
    {TVM, NONE, "ABCD16b", "f32:nChw16c 8x64x56x56", NULL},
    {TVM, ANY, "BACDEFG", "f32:bacdefg 1x2x3x4x5x6x7", NULL},
    {TVM, ANY, "NCHW4c", "f32:nChw4c 1x3x2x2", NULL},

    {EINOPS, ANY, "n c h w -> n h w c", "f32:nhwc 2x3x4x5", NULL},
    {EINOPS, ANY, "n (c 16) h w -> n c h w 16", "f32:nChw16c 8x64x56x56", NULL},
    {EINOPS, ANY, "->", "f32:scalar scalar", NULL},
    {EINOPS, ANY, "c -> c", "f32:x 7", NULL},
    {EINOPS, WEIGHTS, "(o x1) (i x2) h w -> o i h w x2 x1, x1=16, x2=16", "f32:OIhw16i16o 32x64x3x3", NULL},
    {EINOPS, WEIGHTS, "(o 16) (i x1 x2) h w -> o i h w x1 16 x2, x1=4, x2=4", "f32:OIhw4i16o4i 32x32x3x3", NULL},
    {EINOPS, ANY, "batch\t( channel_0  16 )->batch channel_0 16 ", "f32:nC16c 2x32", "n (c 16) -> n c 16"},
    {EINOPS, ANY, "n (c b) -> n c b , c = 2", "f32:nC16c 2x32", "n (c 16) -> n c 16"},
    {EINOPS, ANY, "n (2 c) -> n 2 c, c=16", "f32:nC16c 2x32", "n (c 16) -> n c 16"},
    {EINOPS, ANY, "1 n -> n 1", "f32:nc 1x5", "n c -> c n"},
    {EINOPS, ANY, "n (c 8) h -> n c 8 h", "f32:[a2:96,b4:24,b8:3,c3:1] 2x32x3", "n (c 8) w -> n c 8 w"},
    {EINOPS, NONE, "a b -> b a", "f32:cn 2x3", NULL},
    {EINOPS, RECURRENT, "t n c -> n t c", "f32:ntc 2x3x4", NULL},
    {EINOPS, ANY, "a b c d e f g -> b a c d e f g", "f32:bacdefg 1x2x3x4x5x6x7", NULL},

    {CUTE, ANY, "(8,(16,4),56,56):(200704,(1,50176),896,16)", "f32:nChw16c 8x64x56x56", NULL},
    {CUTE, ANY, "():()", "f32:scalar scalar", NULL},
    {CUTE, ANY, "8:1", "f32:x 8", "(8):(1)"},
    {CUTE, ANY, " ( _4 , ( _2 , 3 ) ) : ( _1 , ( _4 , _8 ) ) ", "f32:[b6:4,a4:1] 4x6", "(4,(2,3)):(1,(4,8))"},
    {CUTE, ANY, "((4,2)):((1,8))", "f32:[a2:8,a4:1] 8", NULL},
    {CUTE, ANY, "((((2),((3)))),4):((((1),((2)))),6)", "f32:cn 6x4", "((2,3),4):((1,2),6)"},
    {CUTE, ANY, "(2,3):(0,2)", "f32:[a2:0,b3:2] 2x3", NULL},
    {CUTE, ANY, "(2,3):(100,2)", "f32:[a2:100,b3:2] 2x3", NULL},
    {CUTE, ANY, "(0,3):(3,1)", "f32:nc 0x3", NULL},
    {CUTE, ANY, "(1,3):(_0,1)", "f32:nc 1x3", "(1,3):(0,1)"},

    {XLA, ANY, "{3,2,1,0}", "f32:nchw 2x3x4x5", NULL},
    {XLA, ANY, "{1,3,2,0}", "f32:nhwc 2x3x4x5", NULL},
    {XLA, ANY, "{}", "f32:scalar scalar", NULL},
    {XLA, ANY, "f32[]", "f32:scalar scalar", "{}"},
    {XLA, ANY, "f32[]{}", "f32:scalar scalar", "{}"},
    {XLA, ANY, "f32[8,64]", "f32:nc 8x64", "{1,0}"},
    {XLA, ANY, "pred[8,64]{0,1}", "bool:cn 8x64", "{0,1}"},
    {XLA, ANY, "f8e4m3fn[3]{0}", "f8_e4m3:x 3", "{0}"},
    {XLA, ANY, "{3,2,1,0:T(16,1,1)}", "f32:nChw16c 8x64x56x56", NULL},
    {XLA, ANY, "{3,2,1,0:T(16,1,1)}", "f32:nChw16c 8x3x56x56", NULL},
    {XLA, ANY, "f32[3,5]{1,0:T(2,2)}", "f32:OI2o2i 3x5", "{1,0:T(2,2)}"},
    {XLA, ANY, "{1,0:T(8,128)}", "f32:OI8o128i 16x200", NULL},
    {XLA, ANY, "bf16[4,8]{1,0:T(2,4)(2,1)}", "bf16:OI4i2o 4x8", "{1,0:T(2,4)(2,1)}"},
    {XLA, ANY, "{3,2,1,0:T(16,16,1,1)(16,1,1,1)}", "f32:OIhw16i16o 32x64x3x3", NULL},
    {XLA, ANY, "{3,2,1,0:T(16,1,1)(16,1,1,1,1,1,1)}", "f32:OIhw16i16o 32x64x3x3", "{3,2,1,0:T(16,16,1,1)(16,1,1,1)}"},
    {XLA, ANY, "{3,2,1,0:T(16,16,1,1)(16,4,1,1)}", "f32:OIhw4i16o4i 33x64x3x3", NULL},
    {XLA, ANY, "{3,2,1,0:T(8,5,6)}", "f32:[a2:960,b4:240,b8:30,c5:6,d6:1] 2x32x5x6", NULL},
    {XLA, ANY, "{0:T(4)}", "f32:A4a 5", NULL},
    {XLA, ANY, "{1,0:T(1,1)}", "f32:nc 2x3", "{1,0}"},

    {NUMPY, ANY, "shape=(1, 3, 2, 2), strides=(48, 4, 24, 12)", "f32:nhwc 1x3x2x2", NULL},
    {NUMPY, ANY, "shape=(), strides=()", "f32:scalar scalar", NULL},
    {NUMPY, ANY, "shape=(3,), strides=(4,)", "f32:x 3", NULL},
    {NUMPY, ANY, "shape=(3)", "f32:x 3", "shape=(3,), strides=(4,)"},
    {NUMPY, ANY, "shape=(2, 3), strides=(12, 4), offset=28", "f32:[a2:3,b3:1]+7 2x3", NULL},
    {NUMPY, ANY, "shape=(3,), strides=(-4,), offset=8", "f32:[a3:-1]+2 3", NULL},
    {NUMPY, ANY, "shape=(2, 3), strides=(0, 8)", "f64:[a2:0,b3:1] 2x3", NULL},
    {NUMPY, ANY, "\tstrides = ( 4 , 8 , ) ,offset=0, shape= (2,3,) , dtype='<f4',", "f32:cn 2x3",
     "shape=(2, 3), strides=(4, 8)"},
    {NUMPY, ANY, "shape=(3,), dtype=np.float32", "f32:x 3", "shape=(3,), strides=(4,)"},
    {NUMPY, ANY, "shape=(3,), dtype=\"|u1\"", "u8:x 3", "shape=(3,), strides=(1,)"},
    {NUMPY, ANY, "shape=(3,), dtype=my.own", "bf16:x 3", "shape=(3,), strides=(2,)"},
    {NUMPY, ANY, "shape=(0, 3), strides=(24, 8)", "f64:nc 0x3", NULL},
};

static bool has_shape(size_t i)
{
    int dialect = rows[i].dialect;
    return dialect == CUTE || dialect == NUMPY || (dialect == XLA && rows[i].text[0] != '{');
}

static tsr_desc read_row(size_t i, const tsr_desc *expected, const int64_t *dims)
{
    tsr_desc desc = {0};
    tsr_error error = {0};
    tsr_status status = tsr_dialect_parse(&desc, (tsr_dialect)rows[i].dialect, expected->dtype,
                                          dims ? expected->rank : 77, dims, rows[i].text, &error);
    if (status != TSR_OK || !tsr_desc_equal(&desc, expected)) {
        char text[TSR_TEXT_SIZE] = "";
        tsr_desc_print(&desc, text, sizeof text);
        fail_msg("%s is %s, expected %s: %s", rows[i].text, text, rows[i].desc, error.message);
    }
    return desc;
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[TSR_TEXT_SIZE] = "";
        tsr_error error = {0};
        tsr_desc expected = parsed_desc(rows[i].desc), desc = read_row(i, &expected, expected.dims);
        if (has_shape(i))
            (void)read_row(i, &expected, NULL);
        tsr_status status =
            tsr_dialect_print(&desc, (tsr_dialect)rows[i].dialect, (tsr_role)rows[i].role, text, sizeof text, &error);
        assert_string_equal(error.message, "");
        assert_int_equal(status, TSR_OK);
        assert_string_equal(text, rows[i].printed ? rows[i].printed : rows[i].text);
    }
}

/* Where XLA's own documents say that elements lie: https://openxla.org/xla/tiled_layout. */
static void test_xla_examples(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t index[2], offset;
    } examples[] = {
        {"f32[3,5]{1,0:T(2,2)}", {2, 3}, 17},
        {"f32[4,8]{1,0:T(2,4)(2,1)}", {1, 1}, 3},
        {"f32[8,8]{1,0:T(2,4)(2,1,1,1)}", {6, 5}, 51},
    };
    for (size_t i = 0; i < COUNT(examples); i++) {
        tsr_desc desc;
        int64_t offset = -1;
        assert_int_equal(tsr_dialect_parse(&desc, TSR_DIALECT_XLA, TSR_F32, 0, NULL, examples[i].text, NULL), TSR_OK);
        assert_int_equal(tsr_desc_offset(&desc, 2, examples[i].index, &offset, NULL), TSR_OK);
        assert_int_equal(offset, examples[i].offset);
    }
}

/* A text that ends early, or begins late, in a buffer of its own: it is read or refused, and not read past its end. */
static void test_truncations(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tsr_desc expected = parsed_desc(rows[i].desc);
        size_t length = strlen(rows[i].text);
        for (size_t cut = 0; cut <= 2 * length; cut++) {
            size_t from = cut > length ? cut - length : 0, to = cut > length ? length : cut;
            char *text = malloc(to - from + 1);
            assert_non_null(text);
            memcpy(text, rows[i].text + from, to - from);
            text[to - from] = '\0';
            for (int dialect = 0; dialect < TSR_DIALECT_COUNT; dialect++) {
                tsr_desc desc;
                tsr_error error = {0};
                tsr_status status = tsr_dialect_parse(&desc, (tsr_dialect)dialect, expected.dtype, expected.rank,
                                                      expected.dims, text, &error);
                assert_int_equal(error.status, status);
                assert_int_equal(error.message[0] == '\0', status == TSR_OK);
            }
            free(text);
        }
    }
}

/* --- texts that are refused --- */

static const struct {
    int dialect;
    const char *dims; /* "": NULL */
    const char *text;
    tsr_status status;
    const char *message;
} refusals[] = {
    {TESSERA, "2x3", "nope", TSR_PARSE_ERROR,
     "the letters of layout \"nope\" are neither a, b, c, ... nor of one family such as nchw or goihw"},
    {TESSERA, "2x3", "abc", TSR_INVALID_ARGUMENT, "the layout has 3 axes, the dims have 2"},
    {TESSERA, "", "ab", TSR_INVALID_ARGUMENT, "expected dims, as \"ab\" has no shape"},
    {OPENVINO, "2x3x4x5", "BLOCKED", TSR_UNSUPPORTED, "BLOCKED names no memory order"},
    {OPENVINO, "2x3x4x5", "ANY", TSR_UNSUPPORTED, "ANY names no memory order"},
    {OPENVINO, "2x3x4x5", "nchw", TSR_PARSE_ERROR, "expected a name such as NCHW, or [N,C,H,W], found \"nchw\""},
    {OPENVINO, "2x3x4x5", "NCWH", TSR_PARSE_ERROR, "expected a name such as NCHW, or [N,C,H,W], found \"NCWH\""},
    {OPENVINO, "2x3x4x5", "[N,?,H,W]", TSR_UNSUPPORTED, "layout \"[N,?,H,W]\" leaves an axis open: ? stands for any"},
    {OPENVINO, "2x3x4x5", "[N,...]", TSR_UNSUPPORTED,
     "layout \"[N,...]\" leaves the rank open: ... stands for any axes"},
    {OPENVINO, "2x3x4x5", "[N,C,H,N]", TSR_PARSE_ERROR, "the letter 'n' occurs twice in layout \"NCHN\""},
    {OPENVINO, "2x3", "[N,,C]", TSR_PARSE_ERROR,
     "expected letters such as [N,C,H,W], found \",C]\" in layout \"[N,,C]\""},
    {OPENVINO, "2x3", "[N,C", TSR_PARSE_ERROR, "expected letters such as [N,C,H,W], found \"\" in layout \"[N,C\""},
    {OPENVINO, "2x3", "[N,C]x", TSR_PARSE_ERROR,
     "expected letters such as [N,C,H,W], found \"x\" in layout \"[N,C]x\""},
    {OPENVINO, "2x3", "[]", TSR_PARSE_ERROR, "expected letters such as [N,C,H,W], found \"]\" in layout \"[]\""},
    {OPENVINO, "2x3", "[NC]", TSR_PARSE_ERROR, "expected letters such as [N,C,H,W], found \"C]\" in layout \"[NC]\""},
    {OPENVINO, "2x3", "[N,Q]", TSR_PARSE_ERROR,
     "the letters of layout \"NQ\" are neither a, b, c, ... nor of one family such as nchw or goihw"},
    {OPENVINO, "2x3", "NCHW", TSR_INVALID_ARGUMENT, "the layout has 4 axes, the dims have 2"},
    {OPENVINO, "2x3", "", TSR_PARSE_ERROR, "expected a name such as NCHW, or [N,C,H,W], found \"\""},
    {OPENVINO, "", "NC", TSR_INVALID_ARGUMENT, "expected dims, as \"NC\" has no shape"},
    {XLA, "2x3", "{1,0:S", TSR_PARSE_ERROR, "expected tiles such as T(8,128), or '}', at \"S\" in \"{1,0:S\""},
    {XLA, "", "f32[<=8]{0}", TSR_UNSUPPORTED, "axis 0 of \"f32[<=8]{0}\" has a dynamic size"},
    {XLA, "", "f32[2,?]{1,0}", TSR_UNSUPPORTED, "axis 1 of \"f32[2,?]{1,0}\" has a dynamic size"},
    {XLA, "2x3", "{1,0:T(1099511627776,1099511627776)}", TSR_OVERFLOW,
     "the product of the block dims does not fit into 63 bits"},
    {ONEDNN, "scalar", "scalar", TSR_UNSUPPORTED, "oneDNN has tags for 1 to 12 axes, found 0"},
    {ONEDNN, "2x3x4x5", "any", TSR_PARSE_ERROR,
     "the letters of layout \"any\" are neither a, b, c, ... nor of one family such as nchw or goihw"},
    {ONEDNN, "2x3x4x5", "dnnl_dnnl_nchw", TSR_PARSE_ERROR, "the letter 'n' occurs twice in layout \"dnnl_nchw\""},
    {ONEDNN, "2x3", "nchw", TSR_INVALID_ARGUMENT, "the layout has 4 axes, the dims have 2"},
    {ONEDNN, "1x1x1x1x1x1x1x1x1x1x1x1x1", "abcdefghijklm", TSR_UNSUPPORTED,
     "oneDNN has tags for 1 to 12 axes, found 13"},
    {ONEDNN, "2x3", "nC16", TSR_PARSE_ERROR,
     "expected one of the letters \"nc\" behind a block size, found \"\" in layout \"nC16\""},
    {TVM, "2x3", "NN", TSR_PARSE_ERROR, "axis 'N' occurs twice in layout \"NN\""},
    {TVM, "2x3", "N16cC", TSR_PARSE_ERROR, "expected axis 'C' in front of its block in layout \"N16cC\""},
    {TVM, "2x3", "NC8c4c", TSR_UNSUPPORTED, "TVM has one block for each axis, layout \"NC8c4c\" two for 'C'"},
    {TVM, "2x3", "NCc", TSR_PARSE_ERROR,
     "expected an axis such as C or a block such as 16c at \"c\" in layout \"NCc\""},
    {TVM, "2x3", "NC16", TSR_PARSE_ERROR,
     "expected an axis such as C or a block such as 16c at \"16\" in layout \"NC16\""},
    {TVM, "2x3", "NC0c", TSR_PARSE_ERROR,
     "expected an axis such as C or a block such as 16c at \"0c\" in layout \"NC0c\""},
    {TVM, "2x3", "NC16C", TSR_PARSE_ERROR,
     "expected an axis such as C or a block such as 16c at \"16C\" in layout \"NC16C\""},
    {TVM, "2x3", "N,C", TSR_PARSE_ERROR,
     "expected an axis such as C or a block such as 16c at \",C\" in layout \"N,C\""},
    {TVM, "2x3", "NQ", TSR_PARSE_ERROR,
     "the letters of layout \"nq\" are neither a, b, c, ... nor of one family such as nchw or goihw"},
    {TVM, "scalar", "", TSR_PARSE_ERROR, "expected a layout such as nchw or nChw16c, found \"\""},
    {TVM, "2x3", "NCHW", TSR_INVALID_ARGUMENT, "the layout has 4 axes, the dims have 2"},
    {TVM, "2x3", "NC99999999999999999999c", TSR_PARSE_ERROR,
     "expected an axis such as C or a block such as 16c at \"99999999999999999999\" in layout "
     "\"NC99999999999999999999c\""},
    {EINOPS, "2x3", "n c -> n", TSR_PARSE_ERROR,
     "expected each part of the left side once at \"\" in pattern \"n c -> n\""},
    {EINOPS, "2x3", "n c -> n c n", TSR_PARSE_ERROR,
     "expected each part of the left side once at \"n\" in pattern \"n c -> n c n\""},
    {EINOPS, "2x3", "n c -> n d", TSR_PARSE_ERROR,
     "expected a name or a size of the left side at \"d\" in pattern \"n c -> n d\""},
    {EINOPS, "2x3", "n c", TSR_PARSE_ERROR, "expected a name, a size or -> at \"\" in pattern \"n c\""},
    {EINOPS, "2x3", "n n -> n", TSR_PARSE_ERROR,
     "expected each name once on the left side at \"n -> n\" in pattern \"n n -> n\""},
    {EINOPS, "2x3", "n (c -> n c", TSR_PARSE_ERROR, "expected ')' at \"-> n c\" in pattern \"n (c -> n c\""},
    {EINOPS, "2x3", "n c) -> n c", TSR_PARSE_ERROR,
     "expected a name, a size or -> at \") -> n c\" in pattern \"n c) -> n c\""},
    {EINOPS, "2x3", "n () -> n", TSR_PARSE_ERROR, "expected a name or a size at \") -> n\" in pattern \"n () -> n\""},
    {EINOPS, "2x3", "n ((c)) -> n c", TSR_PARSE_ERROR,
     "expected a name, a size or -> at \"(c)) -> n c\" in pattern \"n ((c)) -> n c\""},
    {EINOPS, "2x3", "n (c 2x) -> n c 2x", TSR_PARSE_ERROR,
     "expected a name, a size or -> at \"2x) -> n c 2x\" in pattern \"n (c 2x) -> n c 2x\""},
    {EINOPS, "2x3", "n (c 0) -> n c 0", TSR_PARSE_ERROR,
     "expected a name, a size or -> at \"0) -> n c 0\" in pattern \"n (c 0) -> n c 0\""},
    {EINOPS, "2x33", "n (c 16) -> n c 16", TSR_INVALID_ARGUMENT,
     "axis 1 has 33 indices, expected a multiple of its block 16: einops has no padding"},
    {EINOPS, "2x33", "n 16 -> n 16", TSR_INVALID_ARGUMENT, "axis 1 has 33 indices, expected 16: einops has no padding"},
    {EINOPS, "4x4", "(n 2) (c 2) -> n c 2 2", TSR_PARSE_ERROR,
     "expected a name, as this size occurs more than once, at \"2 2\" in pattern \"(n 2) (c 2) -> n c 2 2\""},
    {EINOPS, "2x3", "n (c d) -> n c d", TSR_PARSE_ERROR,
     "expected the sizes of all parts of axis 1 but one in pattern \"n (c d) -> n c d\""},
    {EINOPS, "2x3", "n c -> n c, d=3", TSR_PARSE_ERROR,
     "expected a name of the left side whose size is not said yet at \"d=3\" in pattern \"n c -> n c, d=3\""},
    {EINOPS, "2x3", "n c -> n c, c", TSR_PARSE_ERROR, "expected '=' at \"\" in pattern \"n c -> n c, c\""},
    {EINOPS, "2x3", "n c -> n c, c=0", TSR_PARSE_ERROR,
     "expected a size of 1 or more at \"0\" in pattern \"n c -> n c, c=0\""},
    {EINOPS, "2x3", "n c -> n c, c=3, c=3", TSR_PARSE_ERROR,
     "expected a name of the left side whose size is not said yet at \"c=3\" in pattern \"n c -> n c, c=3, c=3\""},
    {EINOPS, "2x3", "n c -> n c, 2=2", TSR_PARSE_ERROR,
     "expected a name of the left side whose size is not said yet at \"2=2\" in pattern \"n c -> n c, 2=2\""},
    {EINOPS, "2x3", "n c -> n c, c=3;", TSR_PARSE_ERROR,
     "expected a name, a size or a comma at \";\" in pattern \"n c -> n c, c=3;\""},
    {EINOPS, "2x3", "n c -> n (c)", TSR_PARSE_ERROR,
     "expected a name or a size of the left side at \"(c)\" in pattern \"n c -> n (c)\""},
    {EINOPS, "2x3", "n ... -> n ...", TSR_UNSUPPORTED,
     "pattern \"n ... -> n ...\" leaves the rank open: ... stands for any axes"},
    {EINOPS, "2x3", "n c h -> n c h", TSR_INVALID_ARGUMENT, "pattern \"n c h -> n c h\" has 3 axes, the dims have 2"},
    {EINOPS, "2x3", "(n 4611686018427387904 4) c -> n c 4611686018427387904 4", TSR_OVERFLOW,
     "the blocks of axis 0 do not fit into 63 bits"},
    {CUTE, "", "2,3", TSR_PARSE_ERROR, "expected shape:stride at \"2,3\" in layout \"2,3\""},
    {CUTE, "", "(2,3:(3,1)", TSR_PARSE_ERROR,
     "expected ',' or ')' in shape and stride alike at \":(3,1)\" in layout \"(2,3:(3,1)\""},
    {CUTE, "", "(2,3):(3,1", TSR_PARSE_ERROR,
     "expected ',' or ')' in shape and stride alike at \"):(3,1\" in layout \"(2,3):(3,1\""},
    {CUTE, "", "(2,3):(3,1,1)", TSR_PARSE_ERROR,
     "expected ',' or ')' in shape and stride alike at \"):(3,1,1)\" in layout \"(2,3):(3,1,1)\""},
    {CUTE, "", "(2,(3,4)):(3,1)", TSR_PARSE_ERROR,
     "expected an extent or '(' at \"(3,4)):(3,1)\" in layout \"(2,(3,4)):(3,1)\""},
    {CUTE, "", "(2,3):(3,1))", TSR_PARSE_ERROR, "expected the end at \")\" in layout \"(2,3):(3,1))\""},
    {CUTE, "", "(2,):(1,)", TSR_PARSE_ERROR, "expected an extent or '(' at \"):(1,)\" in layout \"(2,):(1,)\""},
    {CUTE, "", ":", TSR_PARSE_ERROR, "expected an extent or '(' at \":\" in layout \":\""},
    {CUTE, "", "((),2):((),1)", TSR_PARSE_ERROR,
     "expected an extent or '(' at \"),2):((),1)\" in layout \"((),2):((),1)\""},
    {CUTE, "", "(-2,3):(3,1)", TSR_PARSE_ERROR,
     "expected an extent or '(' at \"-2,3):(3,1)\" in layout \"(-2,3):(3,1)\""},
    {CUTE, "", "(2,3):(-1,2)", TSR_INVALID_ARGUMENT,
     "negative strides reach to -1, expected 0 or more: the offset is that of index 0"},
    {CUTE, "", "(2,3):(1,1)", TSR_INVALID_ARGUMENT,
     "elements overlap: the stride of level 1 (axis 1) is 1, expected more than 1"},
    {CUTE, "2x4", "(2,3):(3,1)", TSR_INVALID_ARGUMENT,
     "axis 1 of the shape in the text has 3 indices, the dims have 4"},
    {CUTE, "2", "(2,3):(3,1)", TSR_INVALID_ARGUMENT, "the shape in the text has 2 axes, the dims have 1"},
    {CUTE, "", "(2,3) 4:(3,1)", TSR_PARSE_ERROR, "expected ':' at \"4:(3,1)\" in layout \"(2,3) 4:(3,1)\""},
    {CUTE, "", "(9223372036854775807,2):(1,1)", TSR_OVERFLOW,
     "the product of the dims does not fit into 63 bits of bytes"},
    {CUTE, "", "(9223372036854775808,2):(1,1)", TSR_PARSE_ERROR,
     "expected an extent or '(' at \"9223372036854775808,\" in layout \"(9223372036854775808,2):(1,1)\""},
    {CUTE, "", "((4611686018427387904,4),2):((1,1),1)", TSR_OVERFLOW,
     "mode 0 of layout \"((4611686018427387904,4),2):((1,1),1)\" does not fit into 63 bits"},
    {XLA, "2x3", "{0}", TSR_INVALID_ARGUMENT, "layout \"{0}\" has 1 axes, the dims have 2"},
    {XLA, "2x3", "{1,0", TSR_PARSE_ERROR, "expected ',', ':' or '}' at \"\" in \"{1,0\""},
    {XLA, "2x3", "{1,1}", TSR_PARSE_ERROR, "expected each axis once at \"1}\" in \"{1,1}\""},
    {XLA, "2x3", "{1,2}", TSR_PARSE_ERROR, "expected axes below the rank at \"{1,2}\" in \"{1,2}\""},
    {XLA, "2x3", "{1;0}", TSR_PARSE_ERROR, "expected ',', ':' or '}' at \";0}\" in \"{1;0}\""},
    {XLA, "2x3", "{1,}", TSR_PARSE_ERROR, "expected an axis at \"}\" in \"{1,}\""},
    {XLA, "2x3", "{1,0}x", TSR_PARSE_ERROR, "expected the end at \"x\" in \"{1,0}x\""},
    {XLA, "2x3", "{1,0:}", TSR_PARSE_ERROR, "expected tiles such as T(8,128), or '}', at \"}\" in \"{1,0:}\""},
    {XLA, "2x3", "{1,0:T}", TSR_PARSE_ERROR, "expected tiles such as T(8,128), or '}', at \"T}\" in \"{1,0:T}\""},
    {XLA, "2x3", "{1,0:T()}", TSR_PARSE_ERROR, "expected a size of 1 or more at \")}\" in \"{1,0:T()}\""},
    {XLA, "2x3", "{1,0:T(0)}", TSR_PARSE_ERROR, "expected a size of 1 or more at \"0)}\" in \"{1,0:T(0)}\""},
    {XLA, "2x3", "{1,0:T(2}", TSR_PARSE_ERROR, "expected ',' or ')' at \"}\" in \"{1,0:T(2}\""},
    {XLA, "2x3", "{1,0:T(1,2,2)}", TSR_PARSE_ERROR,
     "a tile of \"{1,0:T(1,2,2)}\" has more sizes than the 2 places it tiles"},
    {XLA, "16x128", "{1,0:T(8,128)(3,1)}", TSR_UNSUPPORTED,
     "a tile of 3 pads the tile of 8 that axis 0 has already, in \"{1,0:T(8,128)(3,1)}\""},
    {XLA, "16x128", "{1,0:T(*,128)}", TSR_UNSUPPORTED, "a tile of \"{1,0:T(*,128)}\" combines axes with *"},
    {XLA, "2x3", "{1,0:L(8)}", TSR_UNSUPPORTED, "\"{1,0:L(8)}\" has an alignment of the padding behind it: L("},
    {XLA, "2x3", "{1,0:#(u32)}", TSR_UNSUPPORTED, "\"{1,0:#(u32)}\" has a type of indices: #("},
    {XLA, "2x3", "{1,0:*(u32)}", TSR_UNSUPPORTED, "\"{1,0:*(u32)}\" has a type of pointers: *("},
    {XLA, "2x3", "{1,0:T(2,2)E(4)}", TSR_UNSUPPORTED, "\"{1,0:T(2,2)E(4)}\" has a size of its elements: E("},
    {XLA, "2x3", "{1,0:T(2,2)S(1)}", TSR_UNSUPPORTED, "\"{1,0:T(2,2)S(1)}\" has a memory space: S("},
    {XLA, "2x3", "{1,0:SC(0:1)}", TSR_UNSUPPORTED, "\"{1,0:SC(0:1)}\" has split points: SC("},
    {XLA, "2x3", "{1,0:D(D,C)}", TSR_UNSUPPORTED, "\"{1,0:D(D,C)}\" has kinds of sparse axes: D("},
    {XLA, "2x3", "{1,0:P(s32[2])}", TSR_UNSUPPORTED, "\"{1,0:P(s32[2])}\" has a physical shape: P("},
    {XLA, "2x3", "{1,0:M(8)}", TSR_UNSUPPORTED, "\"{1,0:M(8)}\" has a prefix with its dynamic shape: M("},
    {XLA, "", "{1,0}", TSR_INVALID_ARGUMENT, "expected dims, or a shape such as f32[8,64] before \"{1,0}\""},
    {XLA, "2x3", "f32[2,4]{1,0}", TSR_INVALID_ARGUMENT,
     "axis 1 of the shape in the text has 4 indices, the dims have 3"},
    {XLA, "2x3", "f32[2]{0}", TSR_INVALID_ARGUMENT, "the shape in the text has 1 axes, the dims have 2"},
    {XLA, "2x3", "bf16[2,3]{1,0}", TSR_INVALID_ARGUMENT, "the text has type bf16, expected f32"},
    {XLA, "2x3", "c64[2,3]{1,0}", TSR_PARSE_ERROR,
     "expected a type such as f32 or pred, or '{', at \"c64[2,3]{1,0}\" in \"c64[2,3]{1,0}\""},
    {XLA, "2x3", "f32[<=2,3]{1,0}", TSR_UNSUPPORTED, "axis 0 of \"f32[<=2,3]{1,0}\" has a dynamic size"},
    {XLA, "2x3", "f32{1,0}", TSR_PARSE_ERROR, "expected '[' at \"{1,0}\" in \"f32{1,0}\""},
    {XLA, "2x3", "f32[2,3", TSR_PARSE_ERROR, "expected ',' or ']' at \"\" in \"f32[2,3\""},
    {XLA, "2x3", "f32[2,]", TSR_PARSE_ERROR, "expected a size at \"]\" in \"f32[2,]\""},
    {XLA, "2x3", "", TSR_PARSE_ERROR, "expected a type such as f32 or pred, or '{', at \"\" in \"\""},
    {XLA, "2x3", "f32[2,3](1,0)", TSR_PARSE_ERROR, "expected '{' at \"(1,0)\" in \"f32[2,3](1,0)\""},
    {XLA, "8", "{0:T(4611686018427387904)(4,1)}", TSR_OVERFLOW, "the tiles of axis 0 do not fit into 63 bits"},
    {NUMPY, "", "strides=(4,4)", TSR_PARSE_ERROR, "expected shape=(...), found \"strides=(4,4)\""},
    {NUMPY, "", "", TSR_PARSE_ERROR, "expected shape=(...), found \"\""},
    {NUMPY, "", "shape=(3,), size=3", TSR_PARSE_ERROR,
     "expected shape, strides, offset or dtype at \"size=3\" in \"shape=(3,), size=3\""},
    {NUMPY, "", "shape 3", TSR_PARSE_ERROR, "expected '=' at \"3\" in \"shape 3\""},
    {NUMPY, "", "shape=3", TSR_PARSE_ERROR, "expected '(' at \"3\" in \"shape=3\""},
    {NUMPY, "", "shape=(3", TSR_PARSE_ERROR, "expected ',' or ')' at \"\" in \"shape=(3\""},
    {NUMPY, "", "shape=(3 4)", TSR_PARSE_ERROR, "expected ',' or ')' at \"4)\" in \"shape=(3 4)\""},
    {NUMPY, "", "shape=(,)", TSR_PARSE_ERROR, "expected an integer or ')' at \",)\" in \"shape=(,)\""},
    {NUMPY, "", "shape=(3,4) strides=(4,4)", TSR_PARSE_ERROR,
     "expected ',' at \"strides=(4,4)\" in \"shape=(3,4) strides=(4,4)\""},
    {NUMPY, "", "shape=(3,), shape=(3,)", TSR_PARSE_ERROR,
     "expected each keyword once at \"shape=(3,)\" in \"shape=(3,), shape=(3,)\""},
    {NUMPY, "", "shape=(3,), strides=(4,4)", TSR_PARSE_ERROR,
     "expected a stride for each of 1 axes, found 2 in \"shape=(3,), strides=(4,4)\""},
    {NUMPY, "", "shape=(3,), strides=(6,)", TSR_UNSUPPORTED,
     "axis 0 has a stride of 6 bytes, expected a multiple of the 4 of f32"},
    {NUMPY, "", "shape=(3,), strides=(4,), offset=2", TSR_UNSUPPORTED,
     "the offset is 2 bytes, expected a multiple of the 4 of f32"},
    {NUMPY, "", "shape=(3,), offset=-4", TSR_PARSE_ERROR,
     "expected a number of bytes at \"-4\" in \"shape=(3,), offset=-4\""},
    {NUMPY, "", "shape=(-3,)", TSR_INVALID_ARGUMENT, "dims[0] is -3, expected 0 or more"},
    {NUMPY, "", "shape=(3,), strides=(-4,)", TSR_INVALID_ARGUMENT,
     "negative strides reach to -2, expected 0 or more: the offset is that of index 0"},
    {NUMPY, "", "shape=(3,), dtype=float64", TSR_INVALID_ARGUMENT, "the text has dtype float64, expected f32"},
    {NUMPY, "", "shape=(3,), dtype='>f4'", TSR_UNSUPPORTED, "the bytes of dtype '>f4' are swapped"},
    {NUMPY, "", "shape=(3,), dtype='f4", TSR_PARSE_ERROR, "expected a type at \"'f4\" in \"shape=(3,), dtype='f4\""},
    {NUMPY, "", "shape=(3,), dtype=", TSR_PARSE_ERROR, "expected a type at \"\" in \"shape=(3,), dtype=\""},
    {NUMPY, "2x4", "shape=(2, 3)", TSR_INVALID_ARGUMENT,
     "axis 1 of the shape in the text has 3 indices, the dims have 4"},
    {NUMPY, "2", "shape=(2, 3)", TSR_INVALID_ARGUMENT, "the shape in the text has 2 axes, the dims have 1"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refusals); i++) {
        tsr_desc desc, before;
        tsr_error error = {0};
        int64_t dims[TSR_MAX_RANK];
        int rank = 2;
        bool given = refusals[i].dims[0] != '\0';
        if (given)
            assert_int_equal(tsr_dims_parse(dims, &rank, refusals[i].dims, NULL), TSR_OK);
        memset(&desc, 0x5a, sizeof desc);
        before = desc;
        tsr_status status = tsr_dialect_parse(&desc, (tsr_dialect)refusals[i].dialect, TSR_F32, rank,
                                              given ? dims : NULL, refusals[i].text, &error);
        assert_string_equal(error.message, refusals[i].message);
        assert_int_equal(status, refusals[i].status);
        assert_int_equal(error.status, status);
        assert_memory_equal(&desc, &before, sizeof desc);
    }
}

/* Types of which NumPy and XLA say less. */
static void test_refused_types(void **state)
{
    (void)state;
    tsr_desc desc;
    tsr_error error = {0};
    tsr_status status = tsr_dialect_parse(&desc, TSR_DIALECT_NUMPY, TSR_U4, 0, NULL, "shape=(8,)", &error);
    assert_int_equal(status, TSR_UNSUPPORTED);
    assert_string_equal(error.message, "elements of u4 are smaller than the bytes that NumPy counts in");
    status = tsr_dialect_parse(&desc, TSR_DIALECT_NUMPY, TSR_DTYPE_NONE, 0, NULL, "shape=(8,)", &error);
    assert_int_equal(status, TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected a type, found number 0");
    status = tsr_dialect_parse(&desc, TSR_DIALECT_XLA, TSR_BF16, 0, NULL, "f16[8]", &error);
    assert_int_equal(status, TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "the text has type f16, expected bf16");
}

/* --- descriptors that a dialect cannot say --- */

#define NOT_DENSE "there are gaps between the elements"
#define WINDOW "f32:[b2:128,c4:32,d4:8,b8:1,a1:1]@b3 1x9x4x4"

static const struct {
    int dialect;
    const char *desc, *message;
} unsayable[] = {
    {OPENVINO, "f32:nChw16c 8x64x2x2", "OpenVINO has no name for blocks, which a BlockingDesc says"},
    {OPENVINO, "f32:cba 2x3x4", "OpenVINO has no name for the order WHC"},
    {OPENVINO, "f32:abcdef 1x2x3x4x5x6", "OpenVINO has no name for 6 axes"},
    {OPENVINO, "f32:abcdefgh 1x2x3x4x5x6x7x8", "OpenVINO has no name for 8 axes"},
    {OPENVINO, "f32:[a2:4,b3:1] 2x3", NOT_DENSE},
    {ONEDNN, "f32:scalar scalar", "oneDNN has tags for 1 to 12 axes, found 0"},
    {ONEDNN, "f32:abcdefghijklm 1x1x1x1x1x1x1x1x1x1x1x1x1", "oneDNN has tags for 1 to 12 axes, found 13"},
    {ONEDNN, "f32:[a2,b4,b8,c5] 2x31x5", "oneDNN's tags have all blocks behind all axes"},
    {ONEDNN, "f32:[a2:3,b3:1]+7 2x3", "the tensor begins at offset 7, expected 0"},
    {TVM, "f32:scalar scalar", "TVM has letters for 1 to 26 axes, found 0"},
    {TVM,
     "f32:[a1,b1,c1,d1,e1,f1,g1,h1,i1,j1,k1,l1,m1,n1,o1,p1,q1,r1,s1,t1,u1,v1,w1,x1,y1,z1,A1] "
     "1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1",
     "TVM has letters for 1 to 26 axes, found 27"},
    {TVM, "f32:OIhw4i16o4i 32x32x3x3", "TVM has one block for each axis, axis 1 has more"},
    {TVM, "f32:[a2:0,b3:1] 2x3", "axis 0 has stride 0, expected more than 0"},
    {EINOPS, "f32:nChw16c 1x3x2x2", "axis 1 has 3 indices, no multiple of its block 16: einops has no padding"},
    {EINOPS, WINDOW, "axis 1 is a window that begins inside a block or steps over it"},
    {CUTE, "f32:nChw16c 1x3x2x2", "axis 1 has 3 indices in blocks that hold 16: CuTe has no padding"},
    {CUTE, "f32:[a2:3,b3:1]+7 2x3", "the tensor begins at offset 7, a layout of CuTe at 0"},
    {CUTE, "f32:[a2:4/1,b3:1/2] 2x3", "the tensor begins at offset 6, a layout of CuTe at 0"},
    {CUTE, WINDOW, "axis 1 is a window into its blocks, a mode begins with a block"},
    {XLA, "f32:[a2:4,b3:1] 2x3", NOT_DENSE},
    {XLA, WINDOW, "axis 1 is a window that begins inside a block or steps over it"},
    {NUMPY, "f32:nChw16c 8x64x2x2", "4 axes have 5 levels, a strided array has one stride for each axis"},
    {NUMPY, "f32:nChw16c 1x3x2x2", "axis 1 has padding, a strided array has none"},
    {NUMPY, WINDOW, "axis 1 is a window, a strided array has one stride for each axis"},
    {NUMPY, "u4:nc 2x4", "elements of u4 are smaller than the bytes that NumPy counts in"},
};

static void test_unsayable(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(unsayable); i++) {
        char text[TSR_TEXT_SIZE];
        tsr_desc desc = parsed_desc(unsayable[i].desc);
        tsr_error error = {0};
        tsr_status status =
            tsr_dialect_print(&desc, (tsr_dialect)unsayable[i].dialect, TSR_ROLE_ANY, text, sizeof text, &error);
        assert_string_equal(error.message, unsayable[i].message);
        assert_int_equal(status, TSR_UNSUPPORTED);
    }
}

/* A descriptor that is written with blocks, pads or windows that its memory does not need is said without them. */
static void test_canonical(void **state)
{
    (void)state;
    static const struct {
        int dialect;
        const char *desc, *printed;
    } plain[] = {
        {OPENVINO, "f32:nChw16c 1x16x2x2", "NHWC"},
        {TVM, "f32:nChw4c4c 1x32x2x2", "NCHW16c"},
        {NUMPY, "f32:[a2,b4,b8,c5] 2x32x5", "shape=(2, 32, 5), strides=(640, 20, 4)"},
        {NUMPY, "f32:[a2:4/1,b3:1/2] 2x3", "shape=(2, 3), strides=(16, 4), offset=24"},
        {NUMPY, "f32:[a1:9223372036854775807,b3:1] 1x3", "shape=(1, 3), strides=(4, 4)"},
        {CUTE, "f32:[a8:1]@a0/2 3", "(3):(2)"},
    };
    for (size_t i = 0; i < COUNT(plain); i++) {
        char text[TSR_TEXT_SIZE];
        tsr_desc desc = parsed_desc(plain[i].desc);
        assert_int_equal(tsr_dialect_print(&desc, (tsr_dialect)plain[i].dialect, TSR_ROLE_ANY, text, sizeof text, NULL),
                         TSR_OK);
        assert_string_equal(text, plain[i].printed);
    }
}

/* --- buffers and numbers --- */

static void test_sizes(void **state)
{
    (void)state;
    for (int dialect = 0; dialect < TSR_DIALECT_COUNT; dialect++) {
        char whole[TSR_TEXT_SIZE], text[TSR_TEXT_SIZE];
        tsr_desc desc = parsed_desc("f32:nhwc 2x3x4x5");
        tsr_error error = {0};
        assert_int_equal(tsr_dialect_print(&desc, (tsr_dialect)dialect, TSR_ROLE_ANY, whole, sizeof whole, NULL),
                         TSR_OK);
        size_t length = strlen(whole);
        for (size_t size = 0; size <= length; size++) {
            memset(text, 'x', sizeof text);
            tsr_status status = tsr_dialect_print(&desc, (tsr_dialect)dialect, TSR_ROLE_ANY, text, size, &error);
            assert_int_equal(status, TSR_OUT_OF_RANGE);
            assert_int_equal(text[size], 'x');
        }
        assert_int_equal(tsr_dialect_print(&desc, (tsr_dialect)dialect, TSR_ROLE_ANY, text, length + 1, NULL), TSR_OK);
        assert_string_equal(text, whole);
    }
    tsr_desc desc = parsed_desc("f32:nhwc 2x3x4x5");
    tsr_error error = {0};
    char text[4];
    (void)!tsr_dialect_print(&desc, TSR_DIALECT_TVM, TSR_ROLE_ANY, text, sizeof text, &error);
    assert_string_equal(error.message, "the text needs 5 bytes, expected at most 4");
}

static void test_numbers(void **state)
{
    (void)state;
    char text[64];
    tsr_desc desc = parsed_desc("f32:nhwc 2x3x4x5");
    tsr_error error = {0};
    const tsr_dialect no_dialect = TSR_DIALECT_COUNT;
    assert_int_equal(tsr_dialect_print(&desc, no_dialect, TSR_ROLE_ANY, text, sizeof text, &error),
                     TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected a dialect, found number 8");
    assert_int_equal(tsr_dialect_print(&desc, TSR_DIALECT_TVM, TSR_ROLE_COUNT, text, sizeof text, &error),
                     TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected a role, found number 6");
    assert_int_equal(tsr_dialect_parse(&desc, no_dialect, TSR_F32, 4, desc.dims, "nhwc", &error), TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected a dialect, found number 8");
    assert_int_equal(tsr_dialect_parse(&desc, TSR_DIALECT_TVM, TSR_F32, 33, desc.dims, "NHWC", &error),
                     TSR_INVALID_ARGUMENT);
    assert_string_equal(error.message, "expected a rank of 0 to 32, found 33");
}

/* 32 axes with two levels each, the most that a descriptor has. */
static void test_most_levels(void **state)
{
    (void)state;
    static const char axes[] = "abcdefghijklmnopqrstuvwxyzABCDEF";
    char layout[TSR_TEXT_SIZE] = "[", text[TSR_TEXT_SIZE];
    int64_t dims[TSR_MAX_RANK];
    for (int i = 0; i < TSR_MAX_LEVELS; i++)
        sprintf(layout + strlen(layout), "%s%c%d", i ? "," : "", i < TSR_MAX_RANK ? axes[i] : axes[63 - i],
                i % TSR_MAX_RANK < 2 ? 2 : 1);
    strcat(layout, "]");
    for (int k = 0; k < TSR_MAX_RANK; k++)
        dims[k] = k < 2 || k > 29 ? 2 : 1;
    tsr_desc desc, again;
    tsr_error error = {0};
    if (tsr_desc_from_layout(&desc, TSR_U8, TSR_MAX_RANK, dims, layout, &error) != TSR_OK)
        fail_msg("%s: %s", layout, error.message);
    static const int able[] = {TESSERA, EINOPS, CUTE, XLA};
    for (size_t i = 0; i < COUNT(able); i++) {
        tsr_dialect dialect = (tsr_dialect)able[i];
        if (tsr_dialect_print(&desc, dialect, TSR_ROLE_ANY, text, sizeof text, &error) != TSR_OK ||
            tsr_dialect_parse(&again, dialect, TSR_U8, TSR_MAX_RANK, dims, text, &error) != TSR_OK)
            fail_msg("%s: %s", tsr_dialect_name(dialect), error.message);
        assert_true(tsr_desc_equal(&again, &desc));
    }
}

/* A type of one byte has no order of bytes; others have that of the machine. */
static void test_byte_orders(void **state)
{
    (void)state;
    tsr_desc desc;
    tsr_error error = {0};
    assert_int_equal(
        tsr_dialect_parse(&desc, TSR_DIALECT_NUMPY, TSR_S8, 0, NULL, "shape=(3,), strides=(1,), dtype='>i1'", &error),
        TSR_OK);
    assert_int_equal(
        tsr_dialect_parse(&desc, TSR_DIALECT_NUMPY, TSR_S16, 0, NULL, "shape=(3,), strides=(2,), dtype='>i2'", &error),
        TSR_UNSUPPORTED);
    assert_string_equal(error.message, "the bytes of dtype '>i2' are swapped");
    /* no axes need no dims */
    assert_int_equal(tsr_dialect_parse(&desc, TSR_DIALECT_XLA, TSR_F32, 0, NULL, "{}", &error), TSR_OK);
    assert_int_equal(desc.rank, 0);
}

/* One axis or one level more than there may be. */
static void test_too_many_levels(void **state)
{
    (void)state;
    char text[TSR_TEXT_SIZE];
    tsr_desc desc;
    tsr_error error = {0};
    const int64_t dims[] = {1, 1};
    strcpy(text, "(");
    for (int n = 0; n < 65; n++)
        strcat(text, n ? ",1" : "1");
    strcat(text, "):(");
    for (int n = 0; n < 65; n++)
        strcat(text, n ? ",0" : "0");
    strcat(text, ")");
    assert_int_equal(tsr_dialect_parse(&desc, TSR_DIALECT_CUTE, TSR_F32, 0, NULL, text, &error), TSR_PARSE_ERROR);
    assert_non_null(strstr(error.message, "has more than 32 modes or 64 integers"));
    strcpy(text, "((");
    for (int n = 0; n < 65; n++)
        strcat(text, n ? ",1" : "1");
    strcat(text, ")):((");
    for (int n = 0; n < 65; n++)
        strcat(text, n ? ",0" : "0");
    strcat(text, "))");
    assert_int_equal(tsr_dialect_parse(&desc, TSR_DIALECT_CUTE, TSR_F32, 0, NULL, text, &error), TSR_PARSE_ERROR);
    assert_non_null(strstr(error.message, "has more than 32 modes or 64 integers"));
    strcpy(text, "(c");
    for (int n = 0; n < 64; n++)
        strcat(text, " 1");
    strcat(text, ") -> c");
    assert_int_equal(tsr_dialect_parse(&desc, TSR_DIALECT_EINOPS, TSR_F32, 1, dims, text, &error), TSR_PARSE_ERROR);
    assert_non_null(strstr(error.message, "has more than 32 axes or 64 parts"));
    *text = '\0';
    for (int n = 0; n < 33; n++)
        sprintf(text + strlen(text), "a%d ", n);
    strcat(text, "-> a0");
    assert_int_equal(tsr_dialect_parse(&desc, TSR_DIALECT_EINOPS, TSR_F32, 1, dims, text, &error), TSR_PARSE_ERROR);
    assert_non_null(strstr(error.message, "has more than 32 axes or 64 parts"));
    strcpy(text, "{1,0:T");
    for (int64_t size = INT64_C(1) << 33; size > 0; size /= 2)
        sprintf(text + strlen(text), "(%" PRId64 ",%" PRId64 ")", size, size);
    strcat(text, "}");
    assert_int_equal(tsr_dialect_parse(&desc, TSR_DIALECT_XLA, TSR_F32, 2, dims, text, &error), TSR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "levels, expected at most 64"));
}

/* An axis that begins inside of the first tile is a place of one step besides, and the text one level more. */
static void test_most_tiles(void **state)
{
    (void)state;
    static const char axes[] = "abcdefghijklmnopqrstuvwxyzABCDEF";
    static const struct {
        const char *tail;
        int64_t a;
        const char *message;
    } ends[] = {
        {",b2]", 4, ""},
        {",a2,b2]", 8,
         "\"{31,30,29,28,27,26,25,24,23,22,21,20,19,18,17,16,15,14,13,12\" has 65 levels, expected at most 64"},
    };
    for (size_t i = 0; i < COUNT(ends); i++) {
        char layout[TSR_TEXT_SIZE] = "[a2,b2,a2", text[TSR_TEXT_SIZE];
        int64_t dims[TSR_MAX_RANK] = {ends[i].a, 4};
        for (int k = 2; k < TSR_MAX_RANK; k++) {
            sprintf(layout + strlen(layout), ",%c2", axes[k]);
            dims[k] = 2;
        }
        strcat(layout, ends[i].tail);
        tsr_desc desc, again;
        tsr_error error = {0};
        assert_int_equal(tsr_desc_from_layout(&desc, TSR_U8, TSR_MAX_RANK, dims, layout, NULL), TSR_OK);
        tsr_status status = tsr_dialect_print(&desc, TSR_DIALECT_XLA, TSR_ROLE_ANY, text, sizeof text, &error);
        assert_string_equal(error.message, ends[i].message);
        assert_int_equal(status, ends[i].message[0] ? TSR_UNSUPPORTED : TSR_OK);
        if (status != TSR_OK)
            continue;
        assert_int_equal(tsr_dialect_parse(&again, TSR_DIALECT_XLA, TSR_U8, TSR_MAX_RANK, dims, text, NULL), TSR_OK);
        assert_true(tsr_desc_equal(&again, &desc));
    }
}

/* --- hostile text --- */

enum { MEGABYTE = 1 << 20 };

/* Every dialect refuses the text, with and without dims. */
static void expect_refusal(const char *text)
{
    static const int64_t dims[] = {2, 3};
    for (int dialect = 0; dialect < TSR_DIALECT_COUNT; dialect++) {
        for (int given = 0; given < 2; given++) {
            tsr_desc desc;
            tsr_error error = {0};
            tsr_status status =
                tsr_dialect_parse(&desc, (tsr_dialect)dialect, TSR_F32, 2, given ? dims : NULL, text, &error);
            if (status == TSR_OK)
                fail_msg("%s took %.60s...", tsr_dialect_name((tsr_dialect)dialect), text);
            assert_int_equal(error.status, status);
            assert_true(strlen(error.message) > 0 && strlen(error.message) < TSR_ERROR_MESSAGE_SIZE);
        }
    }
}

static void test_one_character(void **state)
{
    (void)state;
    char *text = malloc(MEGABYTE + 1);
    assert_non_null(text);
    clock_t start = clock();
    for (int character = 1; character < 256; character++) {
        memset(text, character, MEGABYTE);
        text[MEGABYTE] = '\0';
        expect_refusal(text);
        text[TSR_TEXT_SIZE - 1] = '\0';
        expect_refusal(text);
        text[1000] = '\0';
        expect_refusal(text);
    }
    free(text);
    assert_true(clock() - start < 20 * CLOCKS_PER_SEC);
}

/* A head, and a piece again and again up to the longest text that is read. */
static const struct {
    const char *head, *piece;
} repeats[] = {
    {"[", "N,"},
    {"[N", ","},
    {"[", "N , "},
    {"dnnl_", "dnnl_"},
    {"NC", "16c"},
    {"", "N1n"},
    {"NC", "9"},
    {"", "a "},
    {"", "aa "},
    {"(", "a "},
    {"(a", " 2"},
    {"", "()"},
    {"", "(a)"},
    {"a -> ", "a "},
    {"a -> a", ", a=1"},
    {"(a 2) -> ", "2 "},
    {"-> ", ","},
    {"a->a,a=", "9"},
    {"", "->"},
    {"", "(("},
    {"((", ":(("},
    {"", ":"},
    {"(", "1,"},
    {"1:", "("},
    {"_", "_"},
    {"{", "0,"},
    {"{1,0:T", "(1,1)"},
    {"{1,0:T", "(2)"},
    {"{1,0:T(", "1,"},
    {"{1,0:T", "("},
    {"{1,0:", "S(1)"},
    {"{", "9"},
    {"f32[", "1,"},
    {"f32[", "9"},
    {"shape=(", "1,"},
    {"shape=(", "9"},
    {"", "shape=()"},
    {"shape=(),", ","},
    {"shape=(", "-"},
    {"shape=(), dtype=", "a."},
    {"shape=(), dtype='", "a"},
    {"%s%n", "%s%n"},
    {"\xff", "\xff\x80"},
};

static void test_repeats(void **state)
{
    (void)state;
    char text[TSR_TEXT_SIZE];
    clock_t start = clock();
    for (size_t i = 0; i < COUNT(repeats); i++) {
        size_t length = strlen(repeats[i].head), piece = strlen(repeats[i].piece);
        strcpy(text, repeats[i].head);
        for (; length + piece < sizeof text; length += piece)
            strcpy(text + length, repeats[i].piece);
        expect_refusal(text);
    }
    assert_true(clock() - start < 10 * CLOCKS_PER_SEC);
}

/* Parentheses that close again: as many as CuTe's parser counts, and one more. */
static void test_parentheses(void **state)
{
    (void)state;
    for (int depth = 63; depth < 1000; depth += 7) {
        char text[4096] = "";
        for (int side = 0; side < 2; side++) {
            size_t at = strlen(text);
            memset(text + at, '(', (size_t)depth + 1);
            text[at + (size_t)depth + 1] = '1';
            memset(text + at + (size_t)depth + 2, ')', (size_t)depth + 1);
            strcpy(text + at + 2 * (size_t)depth + 3, side ? "" : ":");
        }
        tsr_desc desc;
        tsr_error error = {0};
        tsr_status status = tsr_dialect_parse(&desc, TSR_DIALECT_CUTE, TSR_F32, 0, NULL, text, &error);
        assert_int_equal(status, depth == 63 ? TSR_OK : TSR_PARSE_ERROR);
    }
}

static void test_long_text(void **state)
{
    (void)state;
    static char text[TSR_TEXT_SIZE + 1];
    tsr_desc desc;
    tsr_error error = {0};
    const int64_t dims[] = {2, 3};
    memset(text, ' ', TSR_TEXT_SIZE);
    memcpy(text, "n c -> c n", 10);
    assert_int_equal(tsr_dialect_parse(&desc, TSR_DIALECT_EINOPS, TSR_F32, 2, dims, text, &error), TSR_PARSE_ERROR);
    assert_string_equal(error.message, "expected a text below 16384 bytes");
    text[TSR_TEXT_SIZE - 1] = '\0';
    assert_int_equal(tsr_dialect_parse(&desc, TSR_DIALECT_EINOPS, TSR_F32, 2, dims, text, NULL), TSR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),           cmocka_unit_test(test_rows),
        cmocka_unit_test(test_xla_examples),    cmocka_unit_test(test_truncations),
        cmocka_unit_test(test_refusals),        cmocka_unit_test(test_refused_types),
        cmocka_unit_test(test_unsayable),       cmocka_unit_test(test_canonical),
        cmocka_unit_test(test_sizes),           cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_most_levels),     cmocka_unit_test(test_most_tiles),
        cmocka_unit_test(test_too_many_levels), cmocka_unit_test(test_byte_orders),
        cmocka_unit_test(test_one_character),   cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_parentheses),     cmocka_unit_test(test_long_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
