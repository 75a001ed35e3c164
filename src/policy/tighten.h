/* tighten.h - what the sender of a job may ask for, who is not the one whose host it is: each limit as it is,
 * or tighter. A row of the option table says which of two values is tighter.
 *
 * Maxima are a struct hc_limits in which a member that nobody has said is HC_NO_MAXIMUM. A policy's
 * ("limits.max") allow requests more than its limits; a tenant's bound both. */
#ifndef HC_POLICY_TIGHTEN_H
#define HC_POLICY_TIGHTEN_H

#include "policy/options.h"

#define HC_NO_MAXIMUM (-1)

void hc_maxima_init(struct hc_limits *max);

/* The members of `object`, called `path` in messages, over what is there. HC_EXIT_CONFIG. */
int hc_maxima_read(struct hc_limits *max, const char *path, const struct hc_json *j, const cJSON *object,
                   struct hc_error *err);

/* Owned by the caller; empty if none is said; NULL without memory. */
cJSON *hc_maxima_to_json(const struct hc_limits *max);

/* A policy whose limits are beyond its own maxima is a mistake. HC_EXIT_CONFIG, with `file` in front. */
int hc_maxima_check(const struct hc_policy *p, const char *file, struct hc_error *err);

/* No limit of the policy, and none that it allows requests, is beyond these maxima from here on. */
void hc_policy_lower(struct hc_policy *p, const struct hc_limits *max);

/* What may be asked for under one policy for one tenant. */
struct hc_ceiling {
    struct hc_limits most;
    uint64_t of_tenant; /* a bit for each row of hc_options whose maximum is the tenant's, not the policy's */
    int64_t enforcement; /* the policy's */
    char policy[64], tenant[72];
};

/* `max`: the tenant's maxima. */
void hc_ceiling_make(struct hc_ceiling *c, const struct hc_policy *p, const struct hc_limits *max,
                     const char *tenant);

/* One limit that a job asks for and may not have. */
struct hc_excess {
    const char *limit;           /* "limits.timeout" */
    char asked[40], maximum[40]; /* as people write them */
    const char *of;              /* whose the maximum is: "policy" or "tenant" */
    const char *name;            /* the policy's or tenant's; points into the ceiling */
};

/* Those of `count` overrides that are beyond the ceiling, into `out`, which has room for as many. Returns how
 * many. */
size_t hc_ceiling_compare(const struct hc_ceiling *c, const struct hc_override *overrides, size_t count,
                          struct hc_excess *out);

/* One line about all of them. */
void hc_excess_text(const struct hc_excess *list, size_t count, char *out, size_t size);

/* The two together. HC_EXIT_CONFIG. */
int hc_ceiling_check(const struct hc_ceiling *c, const struct hc_override *overrides, size_t count,
                     struct hc_error *err);

#endif
