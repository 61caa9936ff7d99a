/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_PARALLEL_H
#define TESSERA_PARALLEL_H

#include <stdint.h>

#include <tessera/export.h>

TSR_BEGIN_DECLS

/* One part of a parallel job; task runs from 0 to tasks - 1. */
typedef void (*tsr_task)(void *argument, int task);

/*
 * Who runs the parts of a job. run() is equal to
 *
 *     for (int i = 0; i < tasks; i++)
 *         task(argument, i);
 *
 * in any order and on any threads, and returns when all are done. It is called with 2 <= tasks <=
 * threads. A program with a thread pool of its own passes it here.
 */
typedef struct tsr_executor {
    void (*run)(void *context, tsr_task task, void *argument, int tasks);
    void *context;
    int threads; /* the most tasks that are worth handing out at once */
} tsr_executor;

/* The executor that NULL stands for: OpenMP with its current number of threads, or the caller alone in a
 * build without OpenMP. */
TSR_API tsr_executor tsr_default_executor(void);

/* A piece [begin, end) of a range. */
typedef void (*tsr_range_task)(void *argument, int64_t begin, int64_t end);

/*
 * The one parallel loop. Equal to
 *
 *     task(argument, 0, count);
 *
 * with the range cut into at most min(threads, executor->threads, count / grain) contiguous pieces
 * of nearly equal size. So work below two grains runs on the calling thread. grain >= 1; executor
 * may be NULL; threads 0 means as many as the executor has.
 */
TSR_API void tsr_parallel_for(const tsr_executor *executor, int threads, int64_t count, int64_t grain,
                              tsr_range_task task, void *argument);

TSR_END_DECLS

#endif
