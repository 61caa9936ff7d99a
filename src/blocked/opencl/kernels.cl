// SPDX-License-Identifier: Apache-2.0
// One work item moves one element. Every kernel takes a source, a destination and a nest.

// As tsr_opencl_nest.
typedef struct {
    long src, dst;
    long elements;
    long count;
    long n[LOOPS], src_stride[LOOPS], dst_stride[LOOPS];
} nest;

// Goes to step i of the loops from the first one on, the last of which runs fastest.
void seek(const nest *loops, int first, ulong i, long *from, long *to)
{
    *from = loops->src;
    *to = loops->dst;
    for (int k = (int)loops->count - 1; k >= first; k--) {
        const long step = (long)(i % (ulong)loops->n[k]);
        i /= (ulong)loops->n[k];
        *from += step * loops->src_stride[k];
        *to += step * loops->dst_stride[k];
    }
}

// Where the element of this work item is; false if there is none.
bool find(const nest *loops, long *from, long *to)
{
    const ulong i = get_global_id(0);
    if (i >= (ulong)loops->elements)
        return false;
    seek(loops, 0, i, from, to);
    return true;
}

#define COPY(bytes, type)                                                               \
    kernel void copy_##bytes(global const type *src, global type *dst, const nest loops) \
    {                                                                                   \
        long from, to;                                                                  \
        if (find(&loops, &from, &to))                                                   \
            dst[to] = src[from];                                                        \
    }                                                                                   \
    kernel void zero_##bytes(global const type *src, global type *dst, const nest loops) \
    {                                                                                   \
        long from, to;                                                                  \
        if (find(&loops, &from, &to))                                                   \
            dst[to] = 0;                                                                \
    }

COPY(1, uchar)
COPY(2, ushort)
COPY(4, uint)
COPY(8, ulong)

// Loop 0 has neighbours in the source, loop 1 in the destination. A group moves a tile of both; the third
// dimension goes through the other loops.
kernel void transpose_4(global const uint *src, global uint *dst, const nest loops)
{
    local uint tile[TILE][TILE + 1];
    const long x = get_local_id(0), y = get_local_id(1);
    const long column = get_group_id(0) * TILE, row = get_group_id(1) * TILE;
    long from, to;
    seek(&loops, 2, get_global_id(2), &from, &to);
    if (column + x < loops.n[0] && row + y < loops.n[1])
        tile[y][x] = src[from + column + x + (row + y) * loops.src_stride[1]];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (column + y < loops.n[0] && row + x < loops.n[1])
        dst[to + (column + y) * loops.dst_stride[0] + row + x] = tile[x][y];
}

// Conversions go through the bits of an f32, which has every value of the other types. A NaN stays one, made quiet.

uint load_f32(global const float *src, long i)
{
    return as_uint(src[i]);
}

uint load_f16(global const half *src, long i)
{
    const uint bits = ((global const ushort *)src)[i];
    if ((bits & 0x7fff) > 0x7c00)
        return (bits & 0x8000) << 16 | 0x7fc00000 | (bits & 0x3ff) << 13;
    return as_uint(vload_half(i, src));
}

uint load_u8(global const uchar *src, long i)
{
    return as_uint((float)src[i]);
}

uint load_s8(global const char *src, long i)
{
    return as_uint((float)src[i]);
}

bool is_nan(uint bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

void store_f32(global float *dst, long i, uint bits)
{
    ((global uint *)dst)[i] = bits;
}

void store_f16(global half *dst, long i, uint bits)
{
    if (is_nan(bits))
        ((global ushort *)dst)[i] = (ushort)((bits >> 16 & 0x8000) | 0x7e00 | (bits >> 13 & 0x3ff));
    else
        vstore_half_rte(as_float(bits), i, dst);
}

int round_between(uint bits, float least, float most)
{
    return is_nan(bits) ? 0 : (int)clamp(rint(as_float(bits)), least, most);
}

void store_u8(global uchar *dst, long i, uint bits)
{
    dst[i] = (uchar)round_between(bits, 0, 255);
}

void store_s8(global char *dst, long i, uint bits)
{
    dst[i] = (char)round_between(bits, -128, 127);
}

#define CONVERT(src_name, src_type, dst_name, dst_type)                                                     \
    kernel void src_name##_to_##dst_name(global const src_type *src, global dst_type *dst, const nest loops) \
    {                                                                                                       \
        long from, to;                                                                                      \
        if (find(&loops, &from, &to))                                                                       \
            store_##dst_name(dst, to, load_##src_name(src, from));                                          \
    }

CONVERT(f32, float, f16, half)
CONVERT(f32, float, u8, uchar)
CONVERT(f32, float, s8, char)
CONVERT(f16, half, f32, float)
CONVERT(f16, half, u8, uchar)
CONVERT(f16, half, s8, char)
CONVERT(u8, uchar, f32, float)
CONVERT(u8, uchar, f16, half)
CONVERT(u8, uchar, s8, char)
CONVERT(s8, char, f32, float)
CONVERT(s8, char, f16, half)
CONVERT(s8, char, u8, uchar)
