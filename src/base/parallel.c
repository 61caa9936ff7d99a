/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/parallel.h>

#include "base/int.h"

#ifdef _OPENMP
#include <omp.h>

static void openmp_run(void *context, tsr_task task, void *argument, int tasks)
{
    (void)context;
#pragma omp parallel for schedule(static, 1) num_threads(tasks)
    for (int i = 0; i < tasks; i++)
        task(argument, i);
}

tsr_executor tsr_default_executor(void)
{
    return (tsr_executor){.run = openmp_run, .threads = omp_get_max_threads()};
}
#else
static void caller_run(void *context, tsr_task task, void *argument, int tasks)
{
    (void)context;
    for (int i = 0; i < tasks; i++)
        task(argument, i);
}

tsr_executor tsr_default_executor(void)
{
    return (tsr_executor){.run = caller_run, .threads = 1};
}
#endif

struct range_job {
    tsr_range_task task;
    void *argument;
    int64_t piece; /* every task gets so many, */
    int64_t extra; /* and the first of them one more */
};

static void run_piece(void *argument, int task)
{
    const struct range_job *job = argument;
    int64_t begin = task * job->piece + tsr_min(task, job->extra);
    job->task(job->argument, begin, begin + job->piece + (task < job->extra));
}

void tsr_parallel_for(const tsr_executor *executor, int threads, int64_t count, int64_t grain, tsr_range_task task,
                      void *argument)
{
    tsr_executor chosen = executor ? *executor : tsr_default_executor();
    int64_t tasks = tsr_min(chosen.threads, count / grain);
    if (threads > 0)
        tasks = tsr_min(tasks, threads);
    if (tasks < 2) {
        task(argument, 0, count);
        return;
    }
    struct range_job job = {task, argument, count / tasks, count % tasks};
    chosen.run(chosen.context, run_piece, &job, (int)tasks);
}
