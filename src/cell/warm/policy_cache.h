/* policy_cache.h - effective policies that a worker has worked out for earlier jobs, with what follows from
 * them alone.
 *
 * The files are read each time, and a policy is known only as long as they say what they said. */
#ifndef HC_CELL_WARM_POLICY_CACHE_H
#define HC_CELL_WARM_POLICY_CACHE_H

#include "base/hash.h"
#include "job/job.h"
#include "policy/policy.h"
#include "policy/tighten.h"

#define HC_POLICY_CACHE_MAX 16

struct hc_cached_policy {
    struct hc_policy policy;         /* the job's overrides and tools applied */
    char policy_hash[HC_SHA256_HEX]; /* hc_policy_hash */
    struct hc_ceiling ceiling;       /* of what its sender may ask for; of a job that nobody sent, empty */
    char warm_key[HC_SHA256_HEX];    /* hc_warm_key */
    struct hc_cached_policy_origin *origin; /* what it was worked out from; owned */
    size_t holders;
    uint64_t used; /* when last, as a number of jobs */
};

struct hc_policy_cache {
    struct hc_cached_policy *rows[HC_POLICY_CACHE_MAX];
    uint64_t jobs;
};

/* The policy for this job, which loses its tools to it; held, until hc_policy_cache_drop. `max`: somebody has
 * sent the job, and may ask for what the policy and these maxima of his allow (tighten.h); NULL: it is
 * whoever runs it. HC_EXIT_CONFIG, HC_EXIT_DATA as for hc_policy_load, hc_ceiling_check, hc_job_apply and
 * hc_job_put_tools. */
int hc_policy_cache_find(struct hc_policy_cache *l, struct hc_job *job, const struct hc_limits *max,
                         struct hc_cached_policy **out, struct hc_error *err);

struct hc_cached_policy *hc_policy_cache_hold(struct hc_cached_policy *k);
void hc_policy_cache_drop(struct hc_cached_policy *k); /* NULL is fine */

#endif
