/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_peers LIST: times the problems of a file as `tessera bench --json` does, beside every peer that
 * this build has. A peer whose result is not ours is an error. Each line also names the peers, and for
 * those in other languages says what is moved: `shape` and `perm` of a permutation, where it is one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "measure.h"
#include "peers.h"
#include "permutation.h"
#include "problems.h"
#include "workload.h"

static const peer *const peers[] = {
    &onednn_peer,
#if HAVE_OPENBLAS
    &openblas_peer,
#endif
#if HAVE_OPENCV
    &opencv_peer,
#endif
#if HAVE_XNNPACK
    &xnnpack_peer,
#endif
    NULL,
};

/* Bit by bit; but a float that was computed may differ by rounding. */
static bool is_same(const void *found, const void *expected, size_t bytes, bool is_computed_f32)
{
    const float *x = found, *y = expected;
    if (!is_computed_f32)
        return memcmp(found, expected, bytes) == 0;
    for (size_t i = 0; i < bytes / sizeof *x; i++)
        if (!(fabsf(x[i] - y[i]) <= 1e-4F + 1e-5F * fabsf(y[i])))
            return false;
    return true;
}

struct buffers {
    void *src, *expected, *found;
    size_t dst_bytes;
};

static tsr_status check_peer(const peer *who, const reorder_case *wanted, const struct buffers *buffers,
                             tsr_error *error)
{
    void *context = NULL;
    bool is_computed_f32 = wanted->dst->dtype == TSR_F32 && has_arithmetic(wanted->options);
    tsr_status status = who->init(&context, wanted, error);
    memset(buffers->found, 0, buffers->dst_bytes);
    if (status == TSR_OK)
        status = who->run(context, buffers->src, buffers->found, error);
    if (status == TSR_OK && !is_same(buffers->found, buffers->expected, buffers->dst_bytes, is_computed_f32))
        status = refuse(error, TSR_INVALID_ARGUMENT, "%s gives another result", who->name);
    who->free(context);
    return status == TSR_UNSUPPORTED ? TSR_OK : status;
}

/* Does every peer that has the case do what we do? */
static tsr_status check_peers(const reorder_case *wanted, tsr_error *error)
{
    size_t src_bytes = (size_t)tsr_desc_size_bytes(wanted->src), dst_bytes = (size_t)tsr_desc_size_bytes(wanted->dst);
    struct buffers buffers = {malloc(src_bytes + PEER_OVERREAD), calloc(1, dst_bytes + 1), malloc(dst_bytes + 1),
                              dst_bytes};
    tsr_plan *plan = NULL;
    tsr_status status = TSR_OK;
    if (!buffers.src || !buffers.expected || !buffers.found) {
        status = refuse(error, TSR_OUT_OF_MEMORY, "no memory for %zu bytes", src_bytes + 2 * dst_bytes);
        goto done;
    }
    fill_ordinary(buffers.src, src_bytes, wanted->src->dtype);
    status = tsr_plan_create(&plan, wanted->src, wanted->dst, wanted->options, error);
    if (status == TSR_OK)
        status = tsr_plan_run(plan, buffers.src, buffers.expected, error);
    for (int i = 0; status == TSR_OK && peers[i]; i++)
        status = check_peer(peers[i], wanted, &buffers, error);
done:
    tsr_plan_free(&plan);
    free(buffers.src);
    free(buffers.expected);
    free(buffers.found);
    return status;
}

static void print(const char *text, const tsr_problem *problem, const measurement *m)
{
    json_t *object = json_pack("{s:s, s:s}", "problem", text, "peers", PEERS_STRING);
    permutation permutation;
    tsr_error error;
    json_object_update_new(object, measurement_json(m));
    if (permutation_of(&permutation, &problem->src, &problem->dst, &error) == TSR_OK) {
        json_t *perm = json_array();
        for (int i = 0; i < permutation.rank; i++)
            json_array_append_new(perm, json_integer(permutation.perm[i]));
        json_object_set_new(object, "shape", json_numbers(permutation.shape, permutation.rank));
        json_object_set_new(object, "perm", perm);
    }
    json_print_line(object);
    fflush(stdout);
}

static int time_problem(const char *text, const struct problem_options *options)
{
    workload work;
    measurement m;
    tsr_error error = {0};
    tsr_status status = workload_init(&work, text, &error);
    work.options.threads = options->threads;
    reorder_case wanted = {&work.problem.src, &work.problem.dst, &work.options};
    if (status == TSR_OK)
        status = check_peers(&wanted, &error);
    if (status == TSR_OK)
        status = measure(&m, &wanted, NULL, peers, &error);
    if (status == TSR_OK)
        print(text, &work.problem, &m);
    workload_reset(&work);
    return status == TSR_OK ? EXIT_SUCCESS : fail(EXIT_FAILURE, "%s: %s", text, error.message);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return fail(EXIT_USAGE, "usage: bench_peers LIST");
    return visit_list(argv[1], &(struct problem_options){.threads = 1}, time_problem);
}
