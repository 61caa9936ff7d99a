/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_DLPACK_H
#define TESSERA_DLPACK_H

#include <stdbool.h>

#include <tessera/desc.h>
#include <tessera/storage.h>

TSR_BEGIN_DECLS

/*
 * Tensors in exchange with other libraries of the same process, without a copy: DLPack, of which
 * DLManagedTensor is the old form and DLManagedTensorVersioned (since 1.0) the one of today. This
 * header needs no dlpack.h, and may be included before or after it.
 * https://dmlc.github.io/dlpack/latest/c_api.html
 *
 * Types: all of dtype.h but q78 and nf4. Those below 8 bits are packed, the first element in the lowest
 * bits, as DLPack 1.1 says.
 *
 * All four functions are TSR_UNSUPPORTED in a build without dlpack.h, and the versioned ones in a build
 * with one older than 1.0; tsr_build_features says which.
 */
struct DLManagedTensor;
struct DLManagedTensorVersioned;

/*
 * Takes a tensor over. *storage is a new one over its memory, whose release, with the last reference,
 * calls the tensor's deleter, once, in whatever thread that happens. On failure the tensor stays the
 * caller's, and the deleter has not been called.
 *
 * The storage begins at the lowest place of the tensor and ends with the highest. desc->offset is
 * that of index 0, which is more than 0 only where strides are negative.
 *
 * Import is lenient: strides may be NULL (row-major), 0 or negative; byte_offset is followed; data need not
 * be aligned to more than one element, and may be NULL when there are no elements. A type of several
 * lanes becomes an axis, the innermost. desc can be written through only if its strides are positive:
 * tsr_desc_check without read_only tells.
 *
 * TSR_INVALID_ARGUMENT  a shape that cannot be, elements that overlap, data or byte_offset that are no
 *                       multiple of an element
 * TSR_UNSUPPORTED       a device other than the CPU, a type that dtype.h does not have, too many axes,
 *                       vectors that are no whole bytes
 * TSR_OVERFLOW, TSR_OUT_OF_MEMORY
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_dlpack_import(tsr_desc *desc, tsr_storage **storage,
                                                    struct DLManagedTensor *managed, tsr_error *error);

/*
 * The same for the versioned form. *read_only says whether the owner forbids to write to the memory, which
 * the storage cannot enforce; with NULL such a tensor is refused. Also TSR_UNSUPPORTED: another major
 * version than the library was built with, and types below 8 bits that are padded to bytes.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_dlpack_import_versioned(tsr_desc *desc, tsr_storage **storage, bool *read_only,
                                                              struct DLManagedTensorVersioned *managed,
                                                              tsr_error *error);

/*
 * Lends a tensor out: desc, in the memory of storage, which is allocated now if it was not. *managed holds
 * a reference to the storage until its deleter is called, from any thread; the deleter frees *managed
 * too. allocator serves for *managed alone; it may be NULL and is copied.
 *
 * Export is strict: data is the address of the element at index 0, or NULL when there are none, and
 * byte_offset is 0. (DLPack asks for data that is aligned to 256 bytes and a byte_offset for the rest,
 * and says that nobody keeps to it.) Shape and strides are always there, also for a scalar; strides of axes
 * with one index are 1. Those of the others may be 0 or negative.
 *
 * TSR_UNSUPPORTED       what a stride for each axis cannot say: blocks, padding, windows; a type that DLPack
 *                       does not have, or one below 8 bits that is not row-major, dense, and on a whole byte;
 *                       elements that begin at no multiple of their size
 * TSR_INVALID_ARGUMENT  the storage is smaller than the tensor
 * TSR_OUT_OF_MEMORY     the storage, or *managed
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_dlpack_export(struct DLManagedTensor **managed, const tsr_desc *desc,
                                                    tsr_storage *storage, const tsr_allocator *allocator,
                                                    tsr_error *error);

/*
 * The same in the versioned form, of the version that the library was built with, or the later one of that
 * major version which defined the type. It is flagged as read-only when read_only is true, or when
 * elements share a place (strides of 0).
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_dlpack_export_versioned(struct DLManagedTensorVersioned **managed,
                                                              const tsr_desc *desc, tsr_storage *storage,
                                                              bool read_only, const tsr_allocator *allocator,
                                                              tsr_error *error);

TSR_END_DECLS

#endif
