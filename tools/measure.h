/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TOOLS_MEASURE_H
#define TESSERA_TOOLS_MEASURE_H

#include <tessera/tessera.h>

/*
 * Times of one reorder, medians of at least 21 samples. In each round, our plan, memcpy and oneDNN
 * take their turn, so that a machine that slows down slows them all.
 */
typedef struct measurement {
    int threads;
    int64_t bytes; /* read and written */
    double median_us;
    double memcpy_us; /* of bytes / 2 between two buffers of that size, on as many threads */
    double onednn_us; /* 0: oneDNN cannot do it */
    char row[16];
    char kernel[64];
} measurement;

/*
 * src may be NULL: then the source is filled with ordinary numbers. In place it is NULL, and every run
 * takes what the one before has left. options->threads is the number of threads for all three.
 */
tsr_status measure(measurement *result, const tsr_desc *src_desc, const void *src, const tsr_desc *dst_desc,
                   const tsr_reorder_options *options, tsr_error *error);

/* How often memcpy's time the reorder takes. */
double measurement_ratio(const measurement *result);

#endif
