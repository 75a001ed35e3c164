/* policy_cache.h - a worker's cache of effective policies of earlier jobs, and of values derived from
 * them.
 *
 * A policy's files are read for each job, and a cached policy is used only as long as they are unchanged. */
#ifndef HC_CELL_WARM_POLICY_CACHE_H
#define HC_CELL_WARM_POLICY_CACHE_H

#include "base/hash.h"
#include "job/job.h"
#include "policy/policy.h"
#include "policy/tighten.h"

#define HC_POLICY_CACHE_MAX 160 /* most policies in the cache, which are apart for each tenant */

struct hc_cached_policy {
    struct hc_policy policy;         /* the job's overrides and tools applied */
    char policy_hash[HC_SHA256_HEX]; /* hc_policy_hash of `policy` */
    /* Highest limits that the job's sender may ask for; empty: no client sent the job. */
    struct hc_ceiling ceiling;
    char warm_key[HC_SHA256_HEX];           /* hc_warm_key of `policy` and the job's tenant */
    char zygote_key[HC_SHA256_HEX];         /* hc_warm_key of `policy` alone */
    struct hc_cached_policy_origin *origin; /* the files and the job that it was made from; owned */
    size_t holders;                         /* number of references, the cache's among them */
    uint64_t used;                          /* when last used: the value of hc_policy_cache.jobs then */
};

struct hc_policy_cache {
    struct hc_cached_policy *rows[HC_POLICY_CACHE_MAX]; /* counted references; NULL: the row is free */
    uint64_t jobs;                                      /* number of jobs so far */
};

/* Get the effective policy for this job, whose tools move into it. The caller holds a reference until
 * hc_policy_cache_drop. `max`: a client sent the job, and may ask for what the policy and these maxima
 * allow (tighten.h); NULL: the job is the local user's own. HC_EXIT_CONFIG, HC_EXIT_DATA as for
 * hc_policy_load, hc_ceiling_check, hc_job_apply and hc_job_put_tools. */
int hc_policy_cache_find(struct hc_policy_cache *l, struct hc_job *job, const struct hc_limits *max,
                         struct hc_cached_policy **out, struct hc_error *err);

/* Take one more reference to `k`, which is returned; give one back (NULL is fine). */
struct hc_cached_policy *hc_policy_cache_hold(struct hc_cached_policy *k);
void hc_policy_cache_drop(struct hc_cached_policy *k);

#endif
