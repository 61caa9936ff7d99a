/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_DEFAULT_EXECUTOR_H
#define TESSERA_TESTS_DEFAULT_EXECUTOR_H

/* A default executor of the test's own, in a program that is linked with --wrap=tsr_parallel_for. */
#include <stddef.h>

#include <tessera/parallel.h>

/* NULL: the library's. */
static const tsr_executor *default_executor;

void __real_tsr_parallel_for(const tsr_executor *executor, int threads, int64_t count, int64_t grain,
                             tsr_range_task task, void *argument);
void __wrap_tsr_parallel_for(const tsr_executor *executor, int threads, int64_t count, int64_t grain,
                             tsr_range_task task, void *argument);

void __wrap_tsr_parallel_for(const tsr_executor *executor, int threads, int64_t count, int64_t grain,
                             tsr_range_task task, void *argument)
{
    __real_tsr_parallel_for(executor ? executor : default_executor, threads, count, grain, task, argument);
}

#endif
