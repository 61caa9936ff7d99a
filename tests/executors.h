/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_EXECUTORS_H
#define TESSERA_TESTS_EXECUTORS_H

/* Executors that do all tasks themselves, one after another. */
#include <stdbool.h>
#include <string.h>

#include <tessera/parallel.h>

static inline void run_in_reverse(void *context, tsr_task task, void *argument, int tasks)
{
    (void)context;
    for (int i = tasks - 1; i >= 0; i--)
        task(argument, i);
}

/* Sees which bytes each task changes. */
struct witness {
    unsigned char *dst, *before;
    int *writer; /* of each byte, or -1; whoever wants to begin anew sets them so */
    size_t bytes;
    int tasks;   /* the most in one loop */
    bool shares; /* a byte was changed by two */
};

static inline void run_and_watch(void *context, tsr_task task, void *argument, int tasks)
{
    struct witness *witness = context;
    witness->tasks = tasks > witness->tasks ? tasks : witness->tasks;
    for (int t = 0; t < tasks; t++) {
        memcpy(witness->before, witness->dst, witness->bytes);
        task(argument, t);
        for (size_t i = 0; i < witness->bytes; i++)
            if (witness->dst[i] != witness->before[i]) {
                witness->shares |= witness->writer[i] >= 0;
                witness->writer[i] = t;
            }
    }
}

#endif
