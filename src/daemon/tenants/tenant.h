/* tenant.h - whom a job is run for: who a caller is, and what is left to him of what he may use.
 *
 * Knows no clock: times are milliseconds of any clock that only goes forward; the caller uses the same one
 * throughout. */
#ifndef HC_DAEMON_TENANTS_TENANT_H
#define HC_DAEMON_TENANTS_TENANT_H

#include "daemon/config/config.h"

#define HC_WINDOW_SLOTS 64

/* What a job has used. */
struct hc_usage {
    int64_t cpu_us; /* CPU time in microseconds */
    int64_t kib_s;  /* memory: KiB-seconds; HC_KIB_S_PER_GB of them are a GB-second */
    int64_t bytes;  /* bytes of results that are kept */
};

/* Memory times time, rounded up. */
int64_t hc_kib_seconds(int64_t bytes, int64_t ms);

/* A sum over the last `width` milliseconds, in HC_WINDOW_SLOTS steps: what is older than a window is
 * forgotten a step at a time, never too early. */
struct hc_window {
    int64_t width;
    int64_t newest; /* number of the newest slot: time / (width / slots) */
    int64_t slots[HC_WINDOW_SLOTS + 1];
};

struct hc_queued;

#define HC_ORDER_REASON 200 /* bytes of an administrator's own words */

/* An administrator holds the tenant: its jobs wait, those that run go on; hold.h. */
struct hc_hold {
    int64_t since;                    /* ms since 1970; 0: it is not held */
    char by[HC_TENANT_NAME];          /* the administrator's name */
    char reason[HC_ORDER_REASON + 1]; /* UTF-8, one line; "": none was given */
};

static inline bool hc_is_held(const struct hc_hold *h)
{
    return h->since != 0;
}

struct hc_tenant {
    char name[HC_TENANT_NAME];
    struct hc_quota quota;
    struct hc_allowed allowed;
    bool removed; /* no longer in the configuration: new jobs are refused, running ones end */
    bool admin;   /* struct hc_tenant_rule */
    struct hc_hold hold;

    /* Live counters; queue.h keeps the first three. */
    int64_t running;                /* jobs that run */
    int64_t queued;                 /* jobs that wait */
    int64_t running_memory;         /* sum of the limits of the running jobs */
    int64_t connections;            /* to its clients, which http/http.c counts */
    int64_t sessions;               /* open ones, which sessions/sessions.c counts */
    int64_t request_bytes;          /* memory that its requests take; request_memory.h */
    int64_t answer_bytes;           /* of these, answers that clients have not taken yet */
    int64_t stored_bytes;           /* of results that are kept */
    struct hc_window cpu_us, kib_s; /* what its jobs used lately, as in struct hc_usage */

    /* The queue's own; see queue.h. */
    struct hc_queued *first, *last;
    double start, cost;
    struct hc_tenant *next_waiting;
    bool waiting;
};

/* Why something is refused, and when another try makes sense. */
struct hc_refusal {
    const char *quota; /* "queued", "cpu_seconds", "memory"...: the name of the quota in hotcelld.conf */
    int64_t retry_ms;  /* wait at least this long; -1: waiting does not help */
    bool never;        /* nothing that the tenant does helps: the same request is always refused */
    char text[160];    /* one sentence for the client */
};

struct hc_tenants; /* opaque: owns every struct hc_tenant; their addresses stay */

int hc_tenants_create(struct hc_tenants **out, const struct hc_config *c, struct hc_error *err);
void hc_tenants_destroy(struct hc_tenants *t); /* NULL is fine */

/* After a reload: quotas, uids and tokens become those of `c`, counters stay. On failure nothing has changed.
 */
int hc_tenants_reload(struct hc_tenants *t, const struct hc_config *c, struct hc_error *err);

/* The tenant that a caller is. NULL: he is none (the answer is 401 or 403, and never says which part was
 * wrong), or there is no memory. The time that a token takes does not depend on its bytes. */
struct hc_tenant *hc_tenant_of_uid(struct hc_tenants *t, uid_t uid);
struct hc_tenant *hc_tenant_of_token(struct hc_tenants *t, const char *token, size_t len);

/* A tenant that the ledger names, even if no caller can be it any more. NULL without memory. */
struct hc_tenant *hc_tenant_by_name(struct hc_tenants *t, const char *name);

/* The tenants one after the other, in the order in which they came: NULL after the last. */
struct hc_tenant *hc_tenant_at(struct hc_tenants *t, size_t index);

/* Is there more than one tenant: has another been seen or configured, or (`open`: more than its owner may
 * connect to the Unix socket) may any user become one? */
bool hc_tenants_are_many(const struct hc_tenants *t, bool open);

bool hc_tenant_may_use(const struct hc_tenant *t, const char *policy);
bool hc_tenant_may_use_tree(const struct hc_tenant *t, const char *tree);
const char *
hc_tenant_policy(const struct hc_tenant *t); /* the policy's name that a request gets which names none */

/* Charge what was used at the time `now` (or earlier: for what the ledger knows of the last hours). */
void hc_tenant_charge(struct hc_tenant *t, const struct hc_usage *used, int64_t now);

/* Is something left of the quotas of CPU time and of memory times time? Else `why` says what is used up. */
bool hc_tenant_has_time(struct hc_tenant *t, int64_t now, struct hc_refusal *why);
/* The same, and of the quota of stored bytes. */
bool hc_tenant_has_budget(struct hc_tenant *t, int64_t now, struct hc_refusal *why);

/* The window's sum at `now`, and how long until it is below `most`. */
void hc_window_init(struct hc_window *w, int64_t width);
void hc_window_add(struct hc_window *w, int64_t when, int64_t amount);
int64_t hc_window_sum(struct hc_window *w, int64_t now);
int64_t hc_window_wait(struct hc_window *w, int64_t now, int64_t most);

#endif
