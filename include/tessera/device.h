/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_DEVICE_H
#define TESSERA_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include <tessera/desc.h>

TSR_BEGIN_DECLS

/*
 * Devices: places where the memory of tensors can be. The host is one of them, named "host", and always
 * there. Others are found by name. A device is counted: whoever has memory on it keeps it alive.
 *
 * Memory of a device is named by a pointer that means nothing to anybody else; of the host, by its address.
 */
typedef struct tsr_device tsr_device;

/* What somebody does with memory. */
typedef enum tsr_intent {
    TSR_READ = 1,      /* it is not changed */
    TSR_WRITE = 2,     /* all of it is given new values; the old ones are not wanted */
    TSR_READ_WRITE = 3 /* some of it is */
} tsr_intent;

/*
 * What a device can do, as a table that whoever registers it fills in. Functions are called from any thread, and by
 * several at once: on different memory, or where all of them read, on the same. All return a status, and on failure
 * say in error why. Sizes and offsets are in bytes, and inside of the memory. Work that a function has begun may go
 * on when it returns, if what is asked of the same memory later waits for it. Of descriptors, what belongs to axes and
 * levels that there are not may be anything. A function may be NULL where its comment says what that means.
 *
 * size is sizeof(tsr_device_functions) of the header that the caller was built with, so that functions can be added
 * at the end.
 */
typedef struct tsr_device_functions {
    size_t size;

    /* Memory of size_bytes > 0, with any content. */
    tsr_status (*allocate)(void *context, size_t size_bytes, void **memory, tsr_error *error);
    void (*release)(void *context, void *memory, size_t size_bytes);

    /* From the host into memory, from memory to the host, and between two places, which do not overlap. */
    tsr_status (*copy_in)(void *context, void *memory, size_t offset, const void *host, size_t size_bytes,
                          tsr_error *error);
    tsr_status (*copy_out)(void *context, void *host, const void *memory, size_t offset, size_t size_bytes,
                           tsr_error *error);
    tsr_status (*copy_within)(void *context, void *dst, size_t dst_offset, const void *src, size_t src_offset,
                              size_t size_bytes, tsr_error *error);

    /* Sets each byte. */
    tsr_status (*fill)(void *context, void *memory, size_t offset, size_t size_bytes, unsigned char byte,
                       tsr_error *error);

    /* Makes bytes of memory, from offset on, reachable for the host, until unmap. With TSR_WRITE the old content need
     * not be there. */
    tsr_status (*map)(void *context, void *memory, size_t offset, size_t size_bytes, tsr_intent intent, void **host,
                      tsr_error *error);
    tsr_status (*unmap)(void *context, void *memory, void *host, tsr_error *error);

    /* Waits for all work that has been begun. NULL: none goes on when a function returns. */
    tsr_status (*synchronise)(void *context, tsr_error *error);

    /* Called once, when nobody refers to the device any more. NULL: nothing to do. */
    void (*destroy)(void *context);

    /*
     * Moves a tensor from one layout or type to another, both on this device, and zeroes the padding of dst. NULL:
     * the host does it. TSR_UNSUPPORTED: the host does it this time.
     */
    tsr_status (*reorder)(void *context, const tsr_desc *src_desc, const void *src, const tsr_desc *dst_desc, void *dst,
                          tsr_error *error);

    /* Zeroes the padding of a tensor, and leaves its elements alone. NULL, TSR_UNSUPPORTED: as for reorder. */
    tsr_status (*zero_padding)(void *context, const tsr_desc *desc, void *memory, tsr_error *error);

    /*
     * Copies rows of row_bytes between two places, which do not overlap. Neighbours begin dst_pitch and src_pitch
     * bytes apart, at least row_bytes. It is asked where reorder does not help, and moves windows, merges and splits.
     * NULL: the host does it.
     */
    tsr_status (*copy_rows)(void *context, void *dst, size_t dst_offset, size_t dst_pitch, const void *src,
                            size_t src_offset, size_t src_pitch, size_t row_bytes, size_t rows, tsr_error *error);
} tsr_device_functions;

/*
 * Makes a device known under a name, until tsr_device_unregister. functions is copied.
 *
 * TSR_INVALID_ARGUMENT  a name that is empty, longer than 31 bytes or taken, or a function missing that has to be there
 * TSR_OUT_OF_MEMORY     nothing is leaked; destroy has not been called
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_device_register(const char *name, const tsr_device_functions *functions,
                                                      void *context, tsr_error *error);

/* The name is free again. Memory that is held keeps the device until it is given back. TSR_INVALID_ARGUMENT: no
 * such device. */
TSR_API TSR_MUST_CHECK tsr_status tsr_device_unregister(const char *name, tsr_error *error);

/*
 * The device of a name, with a reference that tsr_device_release gives back.
 *
 * "opencl" is the first device of OpenCL 1.2 or newer that this machine has, "opencl:1" the second, and so on. They
 * are looked for when somebody first asks for one, and opened when memory is first allocated there. They reorder all
 * types but the packed ones, and zero their padding, and convert f32, f16, u8 and s8 to each other; the rest is left
 * to the host. What they have lowered is kept by the default cache of plans.
 *
 * TSR_UNSUPPORTED  there is no such device; the message lists those that there are
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_device_find(const char *name, tsr_device **device, tsr_error *error);

/* The host. It is not counted: giving it back does nothing. */
TSR_API tsr_device *tsr_device_host(void);

/* Another reference; the argument, for convenience. NULL is passed through. */
TSR_API tsr_device *tsr_device_share(tsr_device *device);

/* Gives one reference back. */
TSR_API void tsr_device_release(tsr_device **device);

TSR_API const char *tsr_device_name(const tsr_device *device);

/* Waits for all that the device has been asked to do. What the device says on failure. */
TSR_API TSR_MUST_CHECK tsr_status tsr_device_synchronise(tsr_device *device, tsr_error *error);

/*
 * An allocator whose memory is locked while somebody looks at it, as OpenVINO's IAllocator. Functions are called from
 * any thread. A lock ends with one unlock; one that failed needs none; several may be held at once.
 */
typedef struct tsr_locking_allocator {
    void *(*allocate)(void *context, size_t size_bytes); /* a handle for size_bytes > 0, or NULL */
    bool (*release)(void *context, void *handle);
    void *(*lock)(void *context, void *handle, tsr_intent intent); /* the address of the first byte, or NULL */
    void (*unlock)(void *context, void *handle);
    void *context;
} tsr_locking_allocator;

/*
 * Makes a device known whose memory comes from such an allocator, which is copied. tsr_access_map locks. Fails as
 * tsr_device_register does.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_device_register_allocator(const char *name,
                                                                const tsr_locking_allocator *allocator,
                                                                tsr_error *error);

TSR_END_DECLS

#endif
