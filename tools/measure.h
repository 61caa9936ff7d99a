/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TOOLS_MEASURE_H
#define TESSERA_TOOLS_MEASURE_H

#include <jansson.h>

#include "peer.h"

enum { MAX_PEERS = 6 };

/*
 * Times of one reorder, medians of at least 21 samples. In each round, our plan, memcpy and the peers
 * take their turn, each with a destination of its own, so that a machine that slows down slows them all.
 */
typedef struct measurement {
    int threads;
    int64_t bytes; /* read and written */
    double median_us;
    double memcpy_us;          /* of bytes / 2 between two buffers of that size, on as many threads */
    const peer *const *peers;  /* those that were asked, up to a NULL */
    double peer_us[MAX_PEERS]; /* 0: it cannot do it */
    double gain, memcpy_gain;  /* 0: measure_gains was not asked */
    char row[16];
    char kernel[64];
    bool tuned; /* wisdom decided */
} measurement;

/* oneDNN and nobody else: what the command asks. */
extern const peer *const onednn_alone[];

/* src may be NULL: then the source is filled with ordinary numbers. peers ends with NULL, and outlives the result. */
tsr_status measure(measurement *result, const reorder_case *wanted, const void *src, const peer *const *peers,
                   tsr_error *error);

/* The same for two of our plans, the second with other options. TSR_UNSUPPORTED: one of them cannot be made. */
tsr_status measure_two(double *median_us, double *other_us, double *memcpy_us, const reorder_case *wanted,
                       const tsr_reorder_options *other, tsr_error *error);

/* Adds what the threads of a case gain, of our plan and then of memcpy: the time on one over that on all, which take
 * turns on the same memory. */
tsr_status measure_gains(measurement *result, const reorder_case *wanted, tsr_error *error);

/* How often memcpy's time the reorder takes. */
double measurement_ratio(const measurement *result);

/*
 * All of it as an object: cpu, threads, bytes, median_us, memcpy_us, ratio, row, kernel, tuned, gain and memcpy_gain if
 * they were asked, and NAME_us for each peer that can do it. The caller owns it.
 */
json_t *measurement_json(const measurement *result);

#endif
