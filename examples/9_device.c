/* SPDX-License-Identifier: Apache-2.0 */
/* A device of the program's own, whose functions count what they are asked for, and a blob that lives there. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/tessera.h>

/* What it was asked for. Functions of a device are called from any thread. */
struct calls {
    atomic_int allocate, release, copy_in, copy_out, copy_within, fill, map, unmap, synchronise;
};

/* ---- the device: memory of the host, as if it were far away ---- */

static tsr_status far_allocate(void *context, size_t size_bytes, void **memory, tsr_error *error)
{
    ((struct calls *)context)->allocate++;
    void *made = malloc(size_bytes);
    if (!made && error) {
        error->status = TSR_OUT_OF_MEMORY;
        snprintf(error->message, sizeof error->message, "expected %zu bytes far away, found less", size_bytes);
    }
    if (!made)
        return TSR_OUT_OF_MEMORY;
    *memory = made;
    return TSR_OK;
}

static void far_release(void *context, void *memory, size_t size_bytes)
{
    (void)size_bytes;
    ((struct calls *)context)->release++;
    free(memory);
}

static tsr_status far_copy_in(void *context, void *memory, size_t offset, const void *host, size_t size_bytes,
                              tsr_error *error)
{
    (void)error;
    ((struct calls *)context)->copy_in++;
    memcpy((char *)memory + offset, host, size_bytes);
    return TSR_OK;
}

static tsr_status far_copy_out(void *context, void *host, const void *memory, size_t offset, size_t size_bytes,
                               tsr_error *error)
{
    (void)error;
    ((struct calls *)context)->copy_out++;
    memcpy(host, (const char *)memory + offset, size_bytes);
    return TSR_OK;
}

static tsr_status far_copy_within(void *context, void *dst, size_t dst_offset, const void *src, size_t src_offset,
                                  size_t size_bytes, tsr_error *error)
{
    (void)error;
    ((struct calls *)context)->copy_within++;
    memcpy((char *)dst + dst_offset, (const char *)src + src_offset, size_bytes);
    return TSR_OK;
}

static tsr_status far_fill(void *context, void *memory, size_t offset, size_t size_bytes, unsigned char byte,
                           tsr_error *error)
{
    (void)error;
    ((struct calls *)context)->fill++;
    memset((char *)memory + offset, byte, size_bytes);
    return TSR_OK;
}

/* The host reaches this memory where it is; a device that is farther away would give it a copy. */
static tsr_status far_map(void *context, void *memory, size_t offset, size_t size_bytes, tsr_intent intent, void **host,
                          tsr_error *error)
{
    (void)size_bytes;
    (void)intent;
    (void)error;
    ((struct calls *)context)->map++;
    *host = (char *)memory + offset;
    return TSR_OK;
}

static tsr_status far_unmap(void *context, void *memory, void *host, tsr_error *error)
{
    (void)memory;
    (void)host;
    (void)error;
    ((struct calls *)context)->unmap++;
    return TSR_OK;
}

static tsr_status far_synchronise(void *context, tsr_error *error)
{
    (void)error;
    ((struct calls *)context)->synchronise++;
    return TSR_OK;
}

static const tsr_device_functions far_functions = {
    .size = sizeof far_functions,
    .allocate = far_allocate,
    .release = far_release,
    .copy_in = far_copy_in,
    .copy_out = far_copy_out,
    .copy_within = far_copy_within,
    .fill = far_fill,
    .map = far_map,
    .unmap = far_unmap,
    .synchronise = far_synchronise,
};

/* ---- a blob there ---- */

enum { CHANNELS = 2, PIXELS = 3, ELEMENTS = CHANNELS * PIXELS };

static tsr_status write_on_host(tsr_blob *blob, tsr_error *error)
{
    tsr_access access;
    tsr_status status = tsr_blob_acquire(blob, NULL, NULL, TSR_WRITE, &access, error);
    if (status != TSR_OK)
        return status;
    for (int i = 0; i < ELEMENTS; i++)
        ((float *)access.data)[i] = (float)(i + 1);
    return tsr_blob_release(&access, error);
}

/* What the device computes with is its own business. */
static tsr_status negate_far_away(tsr_blob *blob, tsr_device *device, tsr_error *error)
{
    tsr_access access;
    tsr_status status = tsr_blob_acquire(blob, device, NULL, TSR_READ_WRITE, &access, error);
    if (status != TSR_OK)
        return status;
    for (int i = 0; i < ELEMENTS; i++)
        ((float *)access.data)[i] *= -1;
    return tsr_blob_release(&access, error);
}

static tsr_status print_on_host(tsr_blob *blob, const tsr_desc *layout, tsr_error *error)
{
    tsr_access access;
    tsr_status status = tsr_blob_acquire(blob, NULL, layout, TSR_READ, &access, error);
    if (status != TSR_OK)
        return status;
    for (int i = 0; i < ELEMENTS; i++)
        printf("%g ", (double)((const float *)access.data)[i]);
    printf("\n");
    return tsr_blob_release(&access, error);
}

static int say(const tsr_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    return 1;
}

int main(void)
{
    struct calls calls = {0};
    tsr_blob_options options = {0};
    tsr_desc nchw, nhwc;
    tsr_blob *blob;
    tsr_error error;
    if (tsr_desc_parse(&nchw, "f32:nchw 1x2x1x3", &error) != TSR_OK ||
        tsr_desc_parse(&nhwc, "f32:nhwc 1x2x1x3", &error) != TSR_OK ||
        tsr_device_register("far", &far_functions, &calls, &error) != TSR_OK ||
        tsr_device_find("far", &options.device, &error) != TSR_OK ||
        tsr_blob_create(&blob, &nchw, &options, &error) != TSR_OK)
        return say(&error);

    if (write_on_host(blob, &error) != TSR_OK || negate_far_away(blob, options.device, &error) != TSR_OK ||
        print_on_host(blob, &nhwc, &error) != TSR_OK)
        return say(&error);
    const tsr_blob_stats stats = tsr_blob_get_stats(blob);
    printf("%" PRId64 " accesses, %" PRId64 " transfers, %" PRId64 " conversions\n", stats.acquires, stats.transfers,
           stats.conversions);

    tsr_blob_free(&blob);
    tsr_device_release(&options.device);
    if (tsr_device_unregister("far", &error) != TSR_OK)
        return say(&error);
    printf("far was asked to allocate %d and release %d\n", calls.allocate, calls.release);
    printf("  to copy in %d, out %d and within %d, to fill %d\n", calls.copy_in, calls.copy_out, calls.copy_within,
           calls.fill);
    printf("  to map %d and unmap %d, to synchronise %d\n", calls.map, calls.unmap, calls.synchronise);
    return 0;
}
