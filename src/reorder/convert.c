/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/convert.h"

#include <string.h>

#include "base/int.h"
#include "reorder/map.h"

static bool is_wide_integer(tsr_dtype dtype)
{
    return dtype == TSR_S64 || dtype == TSR_U64;
}

/* Does f32 fall short of what the type can hold, even rounded to odd? */
static bool needs_f64(tsr_dtype dtype)
{
    return dtype == TSR_F64 || is_wide_integer(dtype);
}

/* Floats whose significand is shorter than that of f32. */
static bool is_narrow_float(tsr_dtype dtype)
{
    return dtype == TSR_F16 || dtype == TSR_BF16 || dtype == TSR_F8_E4M3 || dtype == TSR_F8_E5M2;
}

/* Is a value that the pivot holds rounded once more? Integers round nothing that the pivot has rounded: that is out of
 * their range. */
static bool rounds_again(tsr_dtype dtype, bool is_f64)
{
    return is_narrow_float(dtype) || (dtype == TSR_F32 && is_f64);
}

/* From a type to the pivot, odd: on the way to a type that rounds again, without arithmetic. */
static tsr_steps load_steps(const tsr_kernels *kernels, tsr_dtype dtype, bool is_f64, bool odd)
{
    const tsr_row_kernel *load = odd ? kernels->load_odd : kernels->load;
    const tsr_row_kernel *load64 = odd ? kernels->load64_odd : kernels->load64;
    if (!is_f64)
        return (tsr_steps){.first = load[dtype]};
    if (dtype == TSR_F64 || load64[dtype])
        return (tsr_steps){.first = load64[dtype]};
    return (tsr_steps){load[dtype], load64[TSR_F32]};
}

static tsr_steps store_steps(const tsr_kernels *kernels, tsr_dtype dtype, bool is_f64)
{
    if (!is_f64)
        return (tsr_steps){.first = kernels->store[dtype]};
    if (dtype == TSR_F64 || kernels->store64[dtype])
        return (tsr_steps){.first = kernels->store64[dtype]};
    if (dtype == TSR_S8 || dtype == TSR_U8)
        return (tsr_steps){kernels->store64[TSR_S32], kernels->from_S32[dtype]};
    return (tsr_steps){kernels->store64_odd[TSR_F32], kernels->store[dtype]};
}

/* Where the pivot is written or read anyway; apart, where both types are the pivot or old values come in, unless a
 * kernel adds these at once. */
static tsr_arithmetic_stage stage_of(const tsr_conversion *conversion)
{
    if (conversion->arithmetic.beta != 0)
        return TSR_BETWEEN;
    if (conversion->load.first)
        return TSR_ON_LOAD;
    return conversion->store.first ? TSR_ON_STORE : TSR_BETWEEN;
}

int tsr_packing(tsr_dtype dtype)
{
    const int bits = tsr_dtype_bits(dtype);
    return bits == 1 ? 3 : bits == 4 ? 1 : 0;
}

tsr_dtype tsr_dtype_unpacked(tsr_dtype dtype)
{
    return dtype == TSR_S4 ? TSR_S8 : dtype == TSR_U4 || dtype == TSR_U1 ? TSR_U8 : dtype;
}

/* Does each side take at most one step, which rounds to nearest and may have the arithmetic? */
static bool rounds_to_nearest(const tsr_conversion *conversion, const tsr_kernels *kernels, tsr_dtype src,
                              tsr_dtype dst)
{
    const tsr_steps load = conversion->load, store = conversion->store;
    const bool loads = !load.first || (load.first == kernels->load[src] && !load.second);
    const bool stores = !store.first || (store.first == kernels->store[dst] && !store.second);
    return loads && stores && conversion->stage != TSR_BETWEEN;
}

/* Kernels of both steps at once, if there are any; of rows, and of many short ones. */
static void find_both_steps(tsr_conversion *conversion, const tsr_kernels *kernels, tsr_dtype src, tsr_dtype dst)
{
    switch (src) {
#define CASE(type, any, what)                                                                                          \
    case TSR_##type:                                                                                                   \
        conversion->at_once = kernels->from_##type[dst];                                                               \
        conversion->runs = kernels->from_##type##_runs[dst];                                                           \
        break;
        TSR_FOR_SOURCES(CASE, any, what)
#undef CASE
    default:
        break;
    }
}

/* Kernels of all that there is to do; they have no f64, round to nearest, and know nothing of old values. */
static void find_one_step(tsr_conversion *conversion, const tsr_kernels *kernels, tsr_dtype src, tsr_dtype dst)
{
    if (!rounds_to_nearest(conversion, kernels, src, dst))
        return;
    if (conversion->load.first && conversion->store.first)
        find_both_steps(conversion, kernels, src, dst);
    else
        conversion->runs = conversion->load.first ? kernels->load_runs[src] : kernels->store_runs[dst];
}

/* Or of arithmetic alone, where both types are the pivot. */
static void find_affine_step(tsr_conversion *conversion, const tsr_kernels *kernels)
{
    if (conversion->load.first || conversion->store.first)
        return;
    conversion->only = conversion->affine;
    if (conversion->affine == kernels->affine)
        conversion->runs = (conversion->arithmetic.beta != 0 ? kernels->add_runs : kernels->load_runs)[TSR_F32];
}

/* Of types that pixels have: the kernel that adds to old values, or for factors that come again; or NULL. */
static tsr_row_kernel pixel_type_kernel(const tsr_kernels *kernels, tsr_dtype src, tsr_dtype dst, bool adds)
{
    switch (src) {
#define CASE(type)                                                                                                     \
    case TSR_##type:                                                                                                   \
        return adds ? kernels->add_##type[dst] : kernels->periodic_##type[dst];
        CASE(F32)
        CASE(F16)
        CASE(BF16)
        CASE(S8)
        CASE(U8)
#undef CASE
    default:
        return NULL;
    }
}

/* What adds old values at once, if there is a kernel. */
static void find_adding_step(tsr_conversion *conversion, const tsr_kernels *kernels, tsr_dtype src, tsr_dtype dst)
{
    conversion->at_once = pixel_type_kernel(kernels, src, dst, true);
    if (conversion->at_once)
        conversion->stage = TSR_ON_LOAD;
}

/* The one step of a way from type to type, if there are no others; or NULL. */
static tsr_row_kernel only_step(const tsr_conversion *conversion)
{
    const tsr_steps load = conversion->load, store = conversion->store;
    const bool has_two = load.second || store.second || (load.first && store.first);
    return has_two ? NULL : load.first ? load.first : store.first;
}

/* There are such kernels of what is stored or loaded in one step, and rounded to nearest; and of arithmetic alone. */
static tsr_row_kernel stream_step(const tsr_conversion *conversion, const tsr_kernels *kernels, tsr_dtype src,
                                  tsr_dtype dst)
{
    const tsr_steps load = conversion->load, store = conversion->store;
    if (conversion->pack || load.second || store.second || conversion->arithmetic.beta != 0)
        return NULL;
    if (conversion->stage == TSR_BETWEEN)
        return conversion->only == kernels->affine ? kernels->stream_affine : NULL;
    if (store.first)
        return store.first == kernels->store[dst] ? kernels->stream_store[dst] : NULL;
    return load.first == kernels->load[src] ? kernels->stream_load[src] : NULL;
}

static void find_pixels_kernels(tsr_conversion *conversion, const tsr_kernels *kernels, tsr_dtype src, tsr_dtype dst)
{
    switch (src) {
    case TSR_U8:
        conversion->pixels = kernels->pixels_U8[dst];
        conversion->padded_pixels = kernels->padded_pixels_U8[dst];
        break;
    case TSR_S8:
        conversion->pixels = kernels->pixels_S8[dst];
        conversion->padded_pixels = kernels->padded_pixels_S8[dst];
        break;
    case TSR_F32:
        conversion->pixels = kernels->pixels_F32[dst];
        conversion->joined_pixels = kernels->joined_pixels_F32[dst];
        break;
    case TSR_F16:
        conversion->joined_pixels = kernels->joined_pixels_F16[dst];
        break;
    case TSR_BF16:
        conversion->joined_pixels = kernels->joined_pixels_BF16[dst];
        break;
    default:
        break;
    }
}

tsr_dtype tsr_dtype_packed(tsr_dtype dtype)
{
    return tsr_dtype_bits(dtype) == 4 && dtype != TSR_S4 ? TSR_U4 : dtype;
}

/* A step between bytes that are right already. */
static void keep_bytes(void *dst, const void *src, int64_t n, const tsr_affine *affine)
{
    (void)affine;
    memcpy(dst, src, (size_t)n);
}

static bool is_byte(tsr_dtype dtype)
{
    return dtype == TSR_S8 || dtype == TSR_U8 || dtype == TSR_BOOL;
}

/* What limits the values is the destination; but those of bool are 0 and 1, whatever they become. */
static tsr_dtype limit_of(tsr_dtype src, tsr_dtype dst)
{
    return src == TSR_BOOL ? src : dst;
}

static bool is_signed_integer(tsr_dtype dtype)
{
    return dtype == TSR_S8 || dtype == TSR_S16 || dtype == TSR_S32 || dtype == TSR_S64;
}

static bool is_integer(tsr_dtype dtype)
{
    return is_signed_integer(dtype) || dtype == TSR_U8 || dtype == TSR_U16 || dtype == TSR_U32 || dtype == TSR_U64;
}

/* The one step between integers that have as many bits, or 32 and 64, and bool, if there is one; for what is not
 * computed. An unsigned one is the same in 64 bits of either kind. */
static tsr_row_kernel step_of_integers(const tsr_kernels *kernels, tsr_dtype src, tsr_dtype dst)
{
    const int src_bits = tsr_dtype_bits(src), dst_bits = tsr_dtype_bits(dst);
    const bool is_alike = is_signed_integer(src) == is_signed_integer(dst);
    if (is_byte(src) && is_byte(dst))
        return src == dst ? keep_bytes : kernels->limit[limit_of(src, dst)];
    if (!is_integer(src) || !is_integer(dst))
        return NULL;
    if (src_bits == dst_bits)
        return kernels->limit[dst];
    if (src_bits == 32 && dst_bits == 64)
        return is_alike || !is_signed_integer(src) ? kernels->widen[src] : NULL;
    return src_bits == 64 && dst_bits == 32 && is_alike ? kernels->narrow[dst] : NULL;
}

/* Are all its numbers within 16 bits, and none infinite? */
static bool has_small_values(tsr_dtype dtype)
{
    return is_byte(dtype) || dtype == TSR_S16 || dtype == TSR_U16 || dtype == TSR_Q78 || dtype == TSR_NF4 ||
           dtype == TSR_F8_E4M3;
}

/* Integers of 64 bits become others, and small floats, and come from others, by way of such of 32 bits: what these
 * saturate does so there as well. */
static void go_by_32_bits(tsr_conversion *conversion, const tsr_kernels *kernels, tsr_dtype src, tsr_dtype dst)
{
    const bool is_signed = src == TSR_S64 || dst == TSR_S64;
    const tsr_dtype middle = is_signed ? TSR_S32 : TSR_U32;
    if (is_wide_integer(src)) {
        const tsr_row_kernel *load = rounds_again(dst, false) ? kernels->load_odd : kernels->load;
        conversion->load = (tsr_steps){kernels->narrow[middle], load[middle]};
        conversion->store = store_steps(kernels, dst, false);
    } else {
        conversion->load = load_steps(kernels, src, false, false);
        conversion->store = (tsr_steps){kernels->store[middle], kernels->widen[middle]};
    }
}

/* Is that so, where nothing is computed? A bf16 may be larger than 32 bits are. */
static bool goes_by_32_bits(tsr_dtype src, tsr_dtype dst)
{
    if (is_wide_integer(src))
        return has_small_values(dst) || (is_narrow_float(dst) && dst != TSR_BF16);
    return is_wide_integer(dst) && has_small_values(src);
}

/* To the pivot and from it. Arithmetic starts from the nearest value there; what is only rounded is rounded once. */
static void find_steps(tsr_conversion *conversion, const tsr_kernels *kernels, tsr_dtype src, tsr_dtype dst,
                       bool computes)
{
    const bool is_f64 = needs_f64(src) || needs_f64(dst);
    if (!computes && goes_by_32_bits(src, dst)) {
        go_by_32_bits(conversion, kernels, src, dst);
    } else if (!computes && is_wide_integer(src) && dst == TSR_F32) {
        conversion->load = load_steps(kernels, src, false, false);
    } else {
        conversion->load = load_steps(kernels, src, is_f64, !computes && rounds_again(dst, is_f64));
        conversion->store = store_steps(kernels, dst, is_f64);
    }
}

void tsr_conversion_init(tsr_conversion *conversion, const tsr_kernels *kernels, tsr_dtype src, tsr_dtype dst,
                         const tsr_arithmetic *arithmetic)
{
    const bool is_f64 = needs_f64(src) || needs_f64(dst);
    *conversion = (tsr_conversion){
        .is_copy = src == dst && !arithmetic,
        .src_bytes = (int64_t)tsr_dtype_size_bytes(src),
        .dst_bytes = (int64_t)tsr_dtype_size_bytes(dst),
        .src_packing = tsr_packing(src),
        .dst_packing = tsr_packing(dst),
        .unpack = kernels->unpack[tsr_dtype_packed(src)],
        .pack = kernels->pack[tsr_dtype_packed(dst)],
        .unpack_rows = kernels->unpack_rows[tsr_dtype_packed(src)],
        .pack_rows = kernels->pack_rows[tsr_dtype_packed(dst)],
        .unpack_old = kernels->unpack[tsr_dtype_packed(dst)],
    };
    if (conversion->is_copy)
        return;
    if (!arithmetic && ((src == TSR_BOOL && dst == TSR_U1) || (src == TSR_U1 && dst == TSR_BOOL)))
        src = dst = TSR_U8; /* packed, all but 0 is 1, and so it is unpacked */
    src = tsr_dtype_unpacked(src);
    dst = tsr_dtype_unpacked(dst);
    const tsr_row_kernel step = arithmetic ? NULL : step_of_integers(kernels, src, dst);
    if (step) {
        conversion->keeps_bytes = src == dst && !(conversion->unpack && conversion->pack);
        conversion->store.first = conversion->only = step;
        if (!conversion->pack && step == kernels->limit[limit_of(src, dst)])
            conversion->stream = kernels->stream_limit[limit_of(src, dst)];
        return;
    }
    find_steps(conversion, kernels, src, dst, arithmetic != NULL);
    if (!tsr_is_packed(conversion) && (!arithmetic || arithmetic->beta == 0))
        find_pixels_kernels(conversion, kernels, src, dst);
    if (arithmetic) {
        conversion->affine = is_f64 ? kernels->affine64 : kernels->affine;
        conversion->arithmetic = *arithmetic;
        conversion->stage = stage_of(conversion);
        if (arithmetic->beta != 0)
            conversion->load_old = load_steps(kernels, dst, is_f64, false);
        else
            conversion->periodic = pixel_type_kernel(kernels, src, dst, false);
    }
    find_one_step(conversion, kernels, src, dst);
    if (arithmetic && arithmetic->beta != 0)
        find_adding_step(conversion, kernels, src, dst);
    if (conversion->at_once)
        conversion->only = conversion->at_once;
    else if (conversion->stage != TSR_BETWEEN)
        conversion->only = only_step(conversion);
    else
        find_affine_step(conversion, kernels);
    if (conversion->src_bytes == 1) {
        conversion->map_row = kernels->map[tsr_width_of_bytes(conversion->dst_bytes)];
        conversion->stream_map_row = kernels->stream_map[tsr_width_of_bytes(conversion->dst_bytes)];
        conversion->maps_row = kernels->maps[tsr_width_of_bytes(conversion->dst_bytes)];
    }
    conversion->stream = stream_step(conversion, kernels, src, dst);
}

enum { CHUNK = TSR_CONVERT_CHUNK };

/* Bytes ahead in a long row: prefetchers of the CPU stop at each page. */
enum { PREFETCHED = 4096 };

/* To the pivot. Returns where the elements are afterwards: dst, or src if they were there. */
static const void *load(tsr_steps steps, void *dst, const void *src, int64_t n, const tsr_affine *affine)
{
    float between[CHUNK];
    if (!steps.first)
        return src;
    if (steps.second) {
        steps.first(between, src, n, NULL);
        steps.second(dst, between, n, affine);
    } else {
        steps.first(dst, src, n, affine);
    }
    return dst;
}

/* From the pivot. */
static void store(tsr_steps steps, void *dst, const void *src, int64_t n, const tsr_affine *affine)
{
    float between[CHUNK];
    if (steps.second) {
        steps.first(between, src, n, affine);
        steps.second(dst, between, n, NULL);
    } else if (steps.first) {
        steps.first(dst, src, n, affine);
    }
}

/* dst may be src; old is in the type of the destination. */
static void do_arithmetic(const tsr_conversion *conversion, tsr_row_kernel step, void *dst, const void *src,
                          const void *old, int64_t n, tsr_affine *affine)
{
    double room[CHUNK];
    if (affine->beta != 0)
        affine->old = load(conversion->load_old, room, old, n, NULL);
    step(dst, src, n, affine);
}

/* Member by member, as group.h tells. */
void tsr_conversion_affine(const tsr_conversion *conversion, tsr_affine *affine, int64_t factor, int64_t step)
{
    const tsr_arithmetic *from = &conversion->arithmetic;
    affine->map = tsr_map_of_factor(conversion, factor);
    if (!tsr_computes(conversion))
        return;
    affine->mean = from->mean + factor;
    affine->scale = from->scale + factor;
    affine->shift = from->shift + factor;
    affine->step = step;
    affine->scales_only = from->scales_only;
    affine->old = NULL;
    affine->beta = from->beta;
}

/* Row kernels want two places. */
static void convert_in_place(const tsr_conversion *conversion, char *row, int64_t n, int64_t factor, int64_t step)
{
    double copy[CHUNK];
    for (int64_t done = 0; done < n; done += CHUNK) {
        int64_t m = tsr_min(CHUNK, n - done);
        memcpy(copy, row + done * conversion->src_bytes, (size_t)(m * conversion->src_bytes));
        tsr_convert_row(conversion, row + done * conversion->dst_bytes, copy, m, factor + done * step, step);
    }
}

/* To another place, through the caches or past them. */
static void convert_row(const tsr_conversion *conversion, char *to, const char *from, int64_t n, int64_t factor,
                        int64_t step, bool streams)
{
    double pivot[CHUNK]; /* f64 or f32 */
    if (step == 0 && tsr_has_row_map(conversion, n, factor)) {
        tsr_map_row(conversion, to, from, n, factor, streams);
        return;
    }
    const tsr_arithmetic_stage stage = conversion->stage;
    const bool is_one_step = conversion->only && !(conversion->at_once && streams);
    tsr_steps load_steps = conversion->load, store_steps = conversion->store;
    if (conversion->at_once && !streams) {
        load_steps = (tsr_steps){.first = conversion->at_once};
        store_steps = (tsr_steps){NULL, NULL};
    }
    tsr_row_kernel affine_step = conversion->affine;
    tsr_row_kernel *last = store_steps.first      ? &store_steps.first
                           : stage == TSR_BETWEEN ? &affine_step
                                                  : &load_steps.first;
    if (streams)
        *last = conversion->stream;
    const bool adds_between = stage == TSR_BETWEEN && conversion->arithmetic.beta != 0;
    /* where one step is all, nothing is kept between two; and unless the source is far, nothing is asked for
     * meanwhile */
    const int64_t most = is_one_step && !conversion->is_far ? n : CHUNK;
    tsr_affine affine;
    for (int64_t done = 0; done < n; done += most) {
        int64_t m = tsr_min(most, n - done);
        void *out = to + done * conversion->dst_bytes, *middle = store_steps.first ? pivot : out;
        const void *in = from + done * conversion->src_bytes;
        if (tsr_takes_affine(conversion))
            tsr_conversion_affine(conversion, &affine, factor + done * step, step);
        if (conversion->is_far && m == CHUNK)
            tsr_prefetch(in, PREFETCHED, PREFETCHED + m * conversion->src_bytes);
        /* what is at out may be wanted */
        in = load(load_steps, adds_between ? pivot : middle, in, m, stage == TSR_ON_LOAD ? &affine : NULL);
        if (stage == TSR_BETWEEN) {
            do_arithmetic(conversion, affine_step, middle, in, out, m, &affine);
            in = middle;
        }
        store(store_steps, out, in, m, stage == TSR_ON_STORE || conversion->map ? &affine : NULL);
    }
}

void tsr_convert_row(const tsr_conversion *conversion, void *dst, const void *src, int64_t n, int64_t factor,
                     int64_t step)
{
    if (dst == src)
        convert_in_place(conversion, dst, n, factor, step);
    else
        convert_row(conversion, dst, src, n, factor, step, false);
}

/* Asks for lines that are stored through the caches behind others that go past them: a store that misses holds up all
 * behind it. */
static void fetch_to_store(const char *at, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i += TSR_CACHE_LINE)
        __builtin_prefetch(at + i, 1);
}

void tsr_stream_row(const tsr_conversion *conversion, void *dst, const void *src, int64_t n, int64_t factor,
                    int64_t step)
{
    const int64_t to_line = tsr_bytes_to_next_line(dst), size = conversion->dst_bytes;
    const int64_t first = to_line % size == 0 ? tsr_min(n, to_line / size) : n;
    const int64_t end = n - (n - first) % TSR_STREAMED_ELEMENTS;
    const int64_t ends[] = {0, first, end, n};
    fetch_to_store((const char *)dst + end * size, (n - end) * size);
    for (int i = 0; i < 3; i++)
        convert_row(conversion, (char *)dst + ends[i] * size, (const char *)src + ends[i] * conversion->src_bytes,
                    ends[i + 1] - ends[i], factor + ends[i] * step, step, i == 1);
}
