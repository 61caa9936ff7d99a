/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_RUNNER_H
#define TESSERA_TESTS_RUNNER_H

#include <pthread.h>

#include <tessera/reorder.h>

/* A thread that runs a plan over and over, until it fails or has done so often enough. */
struct runner {
    pthread_t thread;
    const tsr_plan *plan;
    const char *src;
    char *dst;
    tsr_status status;
};

static inline void *run_many_times(void *argument)
{
    struct runner *runner = argument;
    for (int i = 0; runner->status == TSR_OK && i < 20; i++)
        runner->status = tsr_plan_run(runner->plan, runner->src, runner->dst, NULL);
    return NULL;
}

#endif
