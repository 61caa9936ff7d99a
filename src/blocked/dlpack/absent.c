/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for this folder in a build without dlpack.h, and for the versioned half of it with an old one. */
#include <tessera/dlpack.h>

#include "base/error.h"

#if TSR_HAVE_DLPACK
#include "blocked/dlpack/types.h"
#endif

#if !TSR_HAVE_DLPACK

static const char absent[] = "this build has no DLPack";

tsr_status tsr_dlpack_import(tsr_desc *desc, tsr_storage **storage, struct DLManagedTensor *managed, tsr_error *error)
{
    (void)desc;
    (void)storage;
    (void)managed;
    return tsr_fail(error, TSR_UNSUPPORTED, "%s", absent);
}

tsr_status tsr_dlpack_export(struct DLManagedTensor **managed, const tsr_desc *desc, tsr_storage *storage,
                             const tsr_allocator *allocator, tsr_error *error)
{
    (void)managed;
    (void)desc;
    (void)storage;
    (void)allocator;
    return tsr_fail(error, TSR_UNSUPPORTED, "%s", absent);
}

#elif !TSR_DLPACK_IS_VERSIONED

static const char absent[] = "this build's DLPack is older than 1.0 and has no DLManagedTensorVersioned";

#endif

#if !TSR_HAVE_DLPACK || !TSR_DLPACK_IS_VERSIONED

tsr_status tsr_dlpack_import_versioned(tsr_desc *desc, tsr_storage **storage, bool *read_only,
                                       struct DLManagedTensorVersioned *managed, tsr_error *error)
{
    (void)desc;
    (void)storage;
    (void)read_only;
    (void)managed;
    return tsr_fail(error, TSR_UNSUPPORTED, "%s", absent);
}

tsr_status tsr_dlpack_export_versioned(struct DLManagedTensorVersioned **managed, const tsr_desc *desc,
                                       tsr_storage *storage, bool read_only, const tsr_allocator *allocator,
                                       tsr_error *error)
{
    (void)managed;
    (void)desc;
    (void)storage;
    (void)read_only;
    (void)allocator;
    return tsr_fail(error, TSR_UNSUPPORTED, "%s", absent);
}

#endif
