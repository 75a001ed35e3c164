/* tighten.h - which limits the sender of a job may ask for: the policy's own, or tighter ones. A row of the
 * option table says which of two values is tighter.
 *
 * Maxima are a struct hc_limits in which HC_NO_MAXIMUM marks a limit without a maximum. The maxima of a
 * policy
 * ("limits.max") allow a request more than the policy's limits; the maxima of a tenant bound both. */
#ifndef HC_POLICY_TIGHTEN_H
#define HC_POLICY_TIGHTEN_H

#include "policy/options.h"

#define HC_NO_MAXIMUM (-1) /* value of a limit in maxima that has no maximum */

void hc_maxima_init(struct hc_limits *max); /* sets every limit to HC_NO_MAXIMUM */

/* Sets the maxima that `object` has as members; the others keep their values. Messages call the object
 * `path`. -1: HC_EXIT_CONFIG. */
int hc_maxima_read(struct hc_limits *max, const char *path, const struct hc_json *j, const cJSON *object,
                   struct hc_error *err);

/* An object with the maxima that are set; the caller owns it. NULL: no memory. */
cJSON *hc_maxima_to_json(const struct hc_limits *max);

/* Refuses a policy with a limit beyond its own maximum: HC_EXIT_CONFIG; the message begins with `file`. */
int hc_maxima_check(const struct hc_policy *p, const char *file, struct hc_error *err);

/* Lowers each limit of the policy, and each of its maxima, that is beyond `max` to the value there. */
void hc_policy_lower(struct hc_policy *p, const struct hc_limits *max);

/* The limits that a job of one tenant under one policy may ask for. */
struct hc_ceiling {
    struct hc_limits most; /* the highest value of each limit; HC_NO_MAXIMUM: no bound */
    uint64_t of_tenant; /* a bit for each row of hc_options whose maximum is the tenant's, not the policy's */
    int64_t enforcement;         /* the policy's enum hc_enforcement */
    char policy[64], tenant[72]; /* names of the policy and of the tenant */
};

/* Fill `c` for the policy `p` and the tenant of this name, whose maxima are `max`. */
void hc_ceiling_make(struct hc_ceiling *c, const struct hc_policy *p, const struct hc_limits *max,
                     const char *tenant);

/* One limit that a job asks for and may not have. */
struct hc_excess {
    const char *limit;           /* path of the limit, such as "limits.timeout"; static */
    char asked[40], maximum[40]; /* value that the job asks for; its maximum; as people write them */
    const char *of;              /* what sets the maximum: "policy" or "tenant" */
    const char *name;            /* name of that policy or tenant; points into the ceiling */
};

/* Writes the overrides beyond the ceiling to `out`, which has room for `count` of them. Returns their number.
 */
size_t hc_ceiling_compare(const struct hc_ceiling *c, const struct hc_override *overrides, size_t count,
                          struct hc_excess *out);

/* Write one line about all excesses of the list into `out`, `size` bytes. */
void hc_excess_text(const struct hc_excess *list, size_t count, char *out, size_t size);

/* Check overrides. -1, with the line of hc_excess_text as the error (HC_EXIT_CONFIG), if one is beyond the
 * ceiling. */
int hc_ceiling_check(const struct hc_ceiling *c, const struct hc_override *overrides, size_t count,
                     struct hc_error *err);

#endif
