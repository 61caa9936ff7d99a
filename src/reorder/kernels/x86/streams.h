/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams: copies of rows, whose whole cache lines go past the caches. A rung includes this behind blocks.h and
 * copies.h, and has a fence for them.
 */

/* What there is of a first and a last line is copied as ever: vectors behind masks took up to twice as long (Zen 4). */
static void stream_run(char *to, const char *from, int64_t bytes)
{
    const int64_t head = tsr_bytes_to_next_line(to);
    int64_t i = head < bytes ? head : bytes;
    if (i > 0)
        memcpy(to, from, (size_t)i);
    for (; i + TSR_CACHE_LINE <= bytes; i += TSR_CACHE_LINE) {
        vec v[LINE_VECTORS];
        for (int p = 0; p < LINE_VECTORS; p++)
            v[p] = vec_load(from + i + p * 16 * LANES);
        for (int p = 0; p < LINE_VECTORS; p++)
            vec_put(to + i + p * 16 * LANES, v[p], true);
    }
    if (i < bytes)
        memcpy(to + i, from + i, (size_t)(bytes - i));
}

void NAME(stream)(void *dst, const void *src, const tsr_tile *t)
{
    COPY_ROWS(stream_run, t->columns);
}

void NAME(fence)(void)
{
    _mm_sfence();
}
