/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TOOLS_PEER_H
#define TESSERA_TOOLS_PEER_H

#include <tessera/tessera.h>

TSR_BEGIN_DECLS

/* Bytes behind its source that a peer may read, as XNNPACK does. */
#define PEER_OVERREAD 16

/* What is timed. */
typedef struct reorder_case {
    const tsr_desc *src, *dst;
    const tsr_reorder_options *options; /* threads is for all who take part */
} reorder_case;

/*
 * A library that reorders, beside ours. init makes what run then needs for one case; TSR_UNSUPPORTED
 * says that the library does not have it. run reads and writes buffers of the descriptors' sizes.
 * free takes back what init made, or NULL.
 */
typedef struct peer {
    const char *name;
    tsr_status (*init)(void **context, const reorder_case *wanted, tsr_error *error);
    tsr_status (*run)(void *context, const void *src, void *dst, tsr_error *error);
    void (*free)(void *context);
} peer;

extern const peer onednn_peer; /* our own row, so that it takes every option that the row takes */

TSR_END_DECLS

#endif
