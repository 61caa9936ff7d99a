/* SPDX-License-Identifier: Apache-2.0 */
#include <tessera/plan_cache.h>

#include <pthread.h>

#include "base/alloc.h"
#include "base/error.h"
#include "desc/fields.h"
#include "reorder/plan.h"

/* What a plan is found by, beside its descriptors. */
struct key {
    uint64_t hash;
    tsr_padding padding;
    tsr_streaming streaming;
    int threads;
    bool in_place;
    tsr_executor executor;
};

struct entry {
    struct entry *next; /* used before this one */
    struct key key;
    tsr_compact_desc *src, *dst; /* behind this, close together: an entry that is looked at is seldom in a cache */
    size_t size_bytes;
    tsr_plan *plan;
    int users;
    bool is_kept; /* or else freed with its last user */
};

struct tsr_plan_cache {
    pthread_mutex_t lock;
    struct entry *newest;
    int most, kept;
    int64_t hits, misses;
    tsr_allocator allocator;
};

/* ---- keys ---- */

static bool has_factors(const tsr_factors *factors)
{
    return factors->count > 0 || factors->values;
}

/* Is there nothing in the options that a key does not say? */
static bool may_keep(const tsr_reorder_options *options)
{
    return !has_factors(&options->scale) && !has_factors(&options->mean) && !has_factors(&options->shift) &&
           options->beta == 0 && options->reverse == 0 && options->tile_bytes == 0 && options->scratch_bytes == 0 &&
           !options->row && options->least_share == 0 && !options->wisdom && !options->untested && !options->allocator;
}

/* Can its fields be looked at? What has more axes or levels is no descriptor. */
static bool is_bounded(const tsr_desc *desc)
{
    return desc->rank >= 0 && desc->rank <= TSR_MAX_RANK && desc->levels >= 0 && desc->levels <= TSR_MAX_LEVELS;
}

static struct key key_of(const tsr_desc *src, const tsr_desc *dst, const tsr_reorder_options *options)
{
    return (struct key){.hash = tsr_fields_hash(src) * 31 + tsr_fields_hash(dst),
                        .padding = options->padding,
                        .streaming = options->streaming,
                        .threads = options->threads,
                        .in_place = options->in_place,
                        .executor = options->executor ? *options->executor : tsr_default_executor()};
}

static bool is_executor(const tsr_executor *a, const tsr_executor *b)
{
    return a->run == b->run && a->context == b->context && a->threads == b->threads;
}

static bool is_plan_of(const struct entry *entry, const struct key *key, const tsr_desc *src, const tsr_desc *dst)
{
    return entry->is_kept && entry->key.hash == key->hash && entry->key.padding == key->padding &&
           entry->key.streaming == key->streaming && entry->key.threads == key->threads &&
           entry->key.in_place == key->in_place && is_executor(&entry->key.executor, &key->executor) &&
           tsr_compact_is(entry->src, src) && tsr_compact_is(entry->dst, dst);
}

/* ---- entries; the lock is held ---- */

/* One that is in no list any more, or yet: then the lock does not matter. */
static void free_entry(tsr_plan_cache *cache, struct entry *entry)
{
    tsr_plan_free(&entry->plan);
    tsr_deallocate(&cache->allocator, entry, entry->size_bytes);
}

/* The plan of a key, now the newest; NULL if there is none. */
static struct entry *look_up(tsr_plan_cache *cache, const struct key *key, const tsr_desc *src, const tsr_desc *dst)
{
    struct entry **at = &cache->newest, *found;
    while (*at && !is_plan_of(*at, key, src, dst))
        at = &(*at)->next;
    found = *at;
    if (!found)
        return NULL;
    *at = found->next;
    found->next = cache->newest;
    cache->newest = found;
    return found;
}

/* Beyond the bound, the oldest is kept no longer; it goes at once if nobody uses it. */
static void keep_bound(tsr_plan_cache *cache)
{
    struct entry **oldest = NULL;
    if (cache->kept <= cache->most)
        return;
    for (struct entry **at = &cache->newest; *at; at = &(*at)->next)
        if ((*at)->is_kept)
            oldest = at;
    struct entry *old = *oldest;
    old->is_kept = false;
    cache->kept--;
    if (old->users > 0)
        return;
    *oldest = old->next;
    free_entry(cache, old);
}

static const tsr_plan *use(struct entry *entry)
{
    entry->users++;
    return entry->plan;
}

/* ---- the cache ---- */

tsr_status tsr_plan_cache_create(tsr_plan_cache **cache, int most, const tsr_allocator *allocator, tsr_error *error)
{
    enum { MOST = 4096 };
    const tsr_allocator *from = allocator ? allocator : tsr_default_allocator();
    if (most < 1 || most > MOST)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a cache of 1 to %d plans, found %d", MOST, most);
    tsr_plan_cache *made = tsr_allocate_zeroed(from, 1, sizeof *made);
    if (!made)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for a cache of plans");
    pthread_mutex_init(&made->lock, NULL);
    made->most = most;
    made->allocator = *from;
    *cache = made;
    return TSR_OK;
}

void tsr_plan_cache_free(tsr_plan_cache **cache)
{
    tsr_plan_cache *old = cache ? *cache : NULL;
    if (!old)
        return;
    *cache = NULL;
    while (old->newest) {
        struct entry *entry = old->newest;
        old->newest = entry->next;
        free_entry(old, entry);
    }
    pthread_mutex_destroy(&old->lock);
    tsr_allocator allocator = old->allocator;
    tsr_deallocate(&allocator, old, sizeof *old);
}

enum { DEFAULT_PLANS = 64 };

static tsr_plan_cache default_cache = {.lock = PTHREAD_MUTEX_INITIALIZER, .most = DEFAULT_PLANS};

static void complete_default_cache(void)
{
    default_cache.allocator = *tsr_default_allocator();
}

tsr_plan_cache *tsr_default_plan_cache(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, complete_default_cache);
    return &default_cache;
}

static struct entry *new_entry(const tsr_plan_cache *cache, const tsr_desc *src, const tsr_desc *dst)
{
    const size_t dst_at = sizeof(struct entry) + tsr_compact_room(src);
    const size_t size_bytes = dst_at + tsr_compact_size(dst);
    struct entry *made = tsr_allocate_zeroed(&cache->allocator, 1, size_bytes);
    if (!made)
        return NULL;
    made->size_bytes = size_bytes;
    made->src = (tsr_compact_desc *)(void *)(made + 1);
    made->dst = (tsr_compact_desc *)(void *)((char *)made + dst_at);
    tsr_compact(made->src, src);
    tsr_compact(made->dst, dst);
    return made;
}

static tsr_status make_entry(struct entry **entry, tsr_plan_cache *cache, const tsr_desc *src, const tsr_desc *dst,
                             const tsr_reorder_options *options, tsr_error *error)
{
    tsr_reorder_options own = *options;
    struct entry *made = new_entry(cache, src, dst);
    if (!made)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for a plan in a cache");
    own.allocator = options->allocator ? options->allocator : &cache->allocator;
    tsr_status status = tsr_plan_create(&made->plan, src, dst, &own, error);
    if (status == TSR_OK)
        *entry = made;
    else
        free_entry(cache, made);
    return status;
}

/* The plan of a key, for another user; NULL if there is none. */
static const tsr_plan *find_plan(tsr_plan_cache *cache, const struct key *key, const tsr_desc *src, const tsr_desc *dst)
{
    pthread_mutex_lock(&cache->lock);
    struct entry *found = look_up(cache, key, src, dst);
    const tsr_plan *plan = found ? use(found) : NULL;
    cache->hits += found != NULL;
    pthread_mutex_unlock(&cache->lock);
    return plan;
}

/* Two threads may have made the same plan meanwhile: the second one's goes with its last user. */
static const tsr_plan *add_plan(tsr_plan_cache *cache, struct entry *made, const struct key *key)
{
    pthread_mutex_lock(&cache->lock);
    const bool is_first = key && !look_up(cache, key, &made->plan->src, &made->plan->dst);
    if (key)
        made->key = *key;
    made->is_kept = is_first;
    made->next = cache->newest;
    cache->newest = made;
    cache->kept += is_first;
    cache->misses++;
    const tsr_plan *plan = use(made);
    keep_bound(cache);
    pthread_mutex_unlock(&cache->lock);
    return plan;
}

tsr_status tsr_plan_cache_get(tsr_plan_cache *cache, const tsr_desc *src, const tsr_desc *dst,
                              const tsr_reorder_options *options, const tsr_plan **plan, tsr_error *error)
{
    struct entry *made = NULL;
    struct key key;
    tsr_plan *refused;
    cache = cache ? cache : tsr_default_plan_cache();
    options = options ? options : &tsr_no_options;
    if (!is_bounded(src) || !is_bounded(dst))
        return tsr_plan_create(&refused, src, dst, options, error);
    const bool has_key = may_keep(options);
    if (has_key) {
        key = key_of(src, dst, options);
        const tsr_plan *found = find_plan(cache, &key, src, dst);
        if (found) {
            *plan = found;
            return TSR_OK;
        }
    }
    tsr_status status = make_entry(&made, cache, src, dst, options, error);
    if (status == TSR_OK)
        *plan = add_plan(cache, made, has_key ? &key : NULL);
    return status;
}

void tsr_plan_cache_put(tsr_plan_cache *cache, const tsr_plan **plan)
{
    const tsr_plan *given = plan ? *plan : NULL;
    if (!given)
        return;
    *plan = NULL;
    cache = cache ? cache : tsr_default_plan_cache();
    pthread_mutex_lock(&cache->lock);
    struct entry **at = &cache->newest;
    while (*at && (*at)->plan != given)
        at = &(*at)->next;
    struct entry *entry = *at;
    if (entry && --entry->users == 0 && !entry->is_kept) {
        *at = entry->next;
        free_entry(cache, entry);
    }
    pthread_mutex_unlock(&cache->lock);
}

tsr_plan_cache_stats tsr_plan_cache_get_stats(tsr_plan_cache *cache)
{
    tsr_plan_cache_stats stats = {0};
    cache = cache ? cache : tsr_default_plan_cache();
    pthread_mutex_lock(&cache->lock);
    stats = (tsr_plan_cache_stats){cache->hits, cache->misses, cache->kept};
    pthread_mutex_unlock(&cache->lock);
    return stats;
}
