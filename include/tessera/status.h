/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_STATUS_H
#define TESSERA_STATUS_H

#include <tessera/export.h>

TSR_BEGIN_DECLS

/*
 * Every call that can fail returns a tsr_status. Many also take a tsr_error * that the caller owns
 * and may leave NULL; on failure it receives a sentence that says what was expected and what was
 * found. On success it is not touched. Nothing in the library aborts, exits or prints.
 */
typedef enum tsr_status {
    TSR_OK = 0,
    TSR_INVALID_ARGUMENT, /* a value that no tensor could have, or that contradicts another */
    TSR_OUT_OF_RANGE,     /* an index outside its dimension */
    TSR_OVERFLOW,         /* a product or sum that does not fit into 64 bits */
    TSR_OUT_OF_MEMORY,    /* the allocator returned NULL */
    TSR_UNSUPPORTED,      /* meaningful, but not done by this build or this version */
    TSR_PARSE_ERROR,      /* text or a file header that follows no known grammar */
    TSR_IO_ERROR,         /* the system refused to open, read, map or write a file */
    TSR_OVERLAP,          /* source and destination share memory */
    TSR_BUSY              /* others use what was asked for */
} tsr_status;

#define TSR_ERROR_MESSAGE_SIZE 256

/* {0} is an empty error. The message is always terminated, and cut if it was longer. */
typedef struct tsr_error {
    tsr_status status;
    char message[TSR_ERROR_MESSAGE_SIZE];
} tsr_error;

/* The name of a status, such as "out of range"; "unknown status" for any other number. Never NULL. */
TSR_API const char *tsr_status_name(tsr_status status);

/* The version of the library that runs, such as "0.1.0". */
TSR_API const char *tsr_version(void);

/* What the library was built with, such as "onednn 2.6.3, hwloc 2.9.0, openmp"; "none" without any. */
TSR_API const char *tsr_build_features(void);

TSR_END_DECLS

#endif
