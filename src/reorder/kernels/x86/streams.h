/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams: copies of rows, whose whole cache lines go past the caches. A rung includes this behind blocks.h and
 * copies.h, and has a fence for them.
 */

INLINE void stream_line(char *to, const char *from)
{
    vec v[LINE_VECTORS];
    for (int p = 0; p < LINE_VECTORS; p++)
        v[p] = vec_load(from + p * VECTOR_BYTES);
    for (int p = 0; p < LINE_VECTORS; p++)
        vec_put(to + p * VECTOR_BYTES, v[p], true);
}

/* What there is of a first and a last line is copied as ever: vectors behind masks took up to twice as long (Zen 4). */
static void stream_run(char *to, const char *from, int64_t bytes)
{
    const int64_t head = tsr_bytes_to_next_line(to);
    int64_t i = head < bytes ? head : bytes;
    if (i > 0)
        memcpy(to, from, (size_t)i);
    for (; i + TSR_CACHE_LINE <= bytes; i += TSR_CACHE_LINE)
        stream_line(to + i, from + i);
    if (i < bytes)
        memcpy(to + i, from + i, (size_t)(bytes - i));
}

void NAME(stream)(void *dst, const void *src, const tsr_tile *t)
{
    COPY_ROWS(stream_run, t->columns);
}

/* Part of a line whose first bytes, so many from here on, end where `end` is, and are followed by what is at `next`. */
INLINE vec joined_line(const char *end, const char *next, int64_t first)
{
    if (first >= VECTOR_BYTES)
        return vec_load(end - first);
    if (first <= 0)
        return vec_load(next - first);
    const vec a = vec_load(end - VECTOR_BYTES), b = vec_load(next);
    const int64_t begin = VECTOR_BYTES - first;
    return begin % 4 == 0 ? vec_join(a, b, begin, 4) : vec_join(a, b, begin, 1);
}

/* The lines that end in a run, the first of which begins in the one before it. */
INLINE void stream_run_behind(char *to, const char *before, const char *from, int64_t bytes)
{
    const int64_t head = tsr_bytes_to_next_line(to), first = TSR_CACHE_LINE - head;
    for (int p = 0; p < LINE_VECTORS && head > 0; p++)
        vec_put(to - first + p * VECTOR_BYTES, joined_line(before + bytes, from, first - p * VECTOR_BYTES), true);
    for (int64_t i = head; i + TSR_CACHE_LINE <= bytes; i += TSR_CACHE_LINE)
        stream_line(to + i, from + i);
}

void NAME(stream_behind)(void *dst, const void *src, const tsr_tile *t)
{
    for (int64_t r = 0; r < t->rows; r++) {
        const char *from = (const char *)src + t->src_row[r];
        stream_run_behind((char *)dst + t->dst_row[r], from - t->src_pitch, from, t->columns);
    }
}

void NAME(fence)(void)
{
    _mm_sfence();
}
