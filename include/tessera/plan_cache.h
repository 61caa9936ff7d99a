/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_PLAN_CACHE_H
#define TESSERA_PLAN_CACHE_H

#include <tessera/reorder.h>

TSR_BEGIN_DECLS

/*
 * Plans that are made once and used by many. A cache keeps those that were used last, at most so many,
 * and any number of threads may use it at once:
 *
 *     const tsr_plan *plan = NULL;
 *     status = tsr_plan_cache_get(cache, &src_desc, &dst_desc, NULL, &plan, &error);
 *     status = tsr_plan_run(plan, src, dst, &error);
 *     tsr_plan_cache_put(cache, &plan);
 *
 * Plans are the same if both descriptors have the same fields and the options agree in padding, streaming,
 * threads, in_place and executor. Plans of any other option are made and freed by get and put, and not kept.
 */
typedef struct tsr_plan_cache tsr_plan_cache;

/*
 * A cache of at most `most` plans, 1 to 4096. allocator may be NULL and is copied; plans come from it too.
 * TSR_INVALID_ARGUMENT, TSR_OUT_OF_MEMORY.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_plan_cache_create(tsr_plan_cache **cache, int most,
                                                        const tsr_allocator *allocator, tsr_error *error);

/* Frees it. No plan may be out. */
TSR_API void tsr_plan_cache_free(tsr_plan_cache **cache);

/* The cache that NULL stands for below, of 64 plans; it is never freed. */
TSR_API tsr_plan_cache *tsr_default_plan_cache(void);

/*
 * The plan that tsr_plan_create would make, which is the caller's until tsr_plan_cache_put. Fails as
 * tsr_plan_create does.
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_plan_cache_get(tsr_plan_cache *cache, const tsr_desc *src, const tsr_desc *dst,
                                                     const tsr_reorder_options *options, const tsr_plan **plan,
                                                     tsr_error *error);

/* Gives it back. */
TSR_API void tsr_plan_cache_put(tsr_plan_cache *cache, const tsr_plan **plan);

typedef struct tsr_plan_cache_stats {
    int64_t hits;   /* gets that found their plan */
    int64_t misses; /* gets that made it */
    int plans;      /* kept now */
} tsr_plan_cache_stats;

TSR_API tsr_plan_cache_stats tsr_plan_cache_get_stats(tsr_plan_cache *cache);

TSR_END_DECLS

#endif
