/* tenant.h - tenants: which tenant a caller is, what the tenant may use, and what it has used.
 *
 * The functions read no clock: times are milliseconds of any clock that only goes forward; the caller always
 * passes the time of the same clock. */
#ifndef HC_DAEMON_TENANTS_TENANT_H
#define HC_DAEMON_TENANTS_TENANT_H

#include "daemon/config/config.h"

#define HC_WINDOW_SLOTS 64 /* number of slots that a window's width is divided into */

/* What a job, or a tenant's jobs together, have used. */
struct hc_usage {
    int64_t cpu_us; /* CPU time in microseconds */
    int64_t kib_s;  /* memory: KiB-seconds; HC_KIB_S_PER_GB of them are a GB-second */
    int64_t bytes;  /* bytes of results that are kept */
};

/* The KiB-seconds of `bytes` bytes held for `ms` milliseconds, rounded up. */
int64_t hc_kib_seconds(int64_t bytes, int64_t ms);

/* A sum over the last `width` milliseconds, kept in HC_WINDOW_SLOTS slots: amounts that are older than the
 * window are forgotten one slot at a time, never too early. */
struct hc_window {
    int64_t width;                      /* length of the window, in ms */
    int64_t newest;                     /* number of the newest slot: time / (width / HC_WINDOW_SLOTS) */
    int64_t slots[HC_WINDOW_SLOTS + 1]; /* sums of amounts; the slot of number n is n modulo this length */
};

struct hc_queued;

#define HC_ORDER_REASON 200 /* most bytes of the reason that an administrator gives for an order */

/* An administrator's order that holds a tenant: its waiting jobs wait on, its running jobs go on
 * (queue/hold.h). */
struct hc_hold {
    int64_t since;                    /* when the hold began, in ms since 1970; 0: the tenant is not held */
    char by[HC_TENANT_NAME];          /* the administrator's name */
    char reason[HC_ORDER_REASON + 1]; /* UTF-8, one line; "": none was given */
};

static inline bool hc_is_held(const struct hc_hold *h)
{
    return h->since != 0;
}

struct hc_tenant {
    char name[HC_TENANT_NAME]; /* name of the tenant */
    struct hc_quota quota;     /* quota of the tenant, from the configuration in force */
    struct hc_allowed allowed; /* policies of the tenant, from the same configuration; owned */
    bool removed; /* the tenant is no longer in the configuration: new jobs are refused, running ones end */
    bool admin;   /* the tenant is an administrator (struct hc_tenant_rule) */
    struct hc_hold hold; /* order by which an administrator holds the tenant */

    /* Live counters; queue.h keeps the first three. */
    int64_t running;        /* number of jobs that run */
    int64_t queued;         /* number of jobs that wait */
    int64_t running_memory; /* sum of the memory limits of its running jobs and open sessions, in bytes */
    int64_t connections;    /* number of open connections of its clients; http/http.c counts them */
    int64_t sessions;       /* number of open sessions; sessions/sessions.c counts them */
    int64_t mcp_sessions;   /* number of its sessions of MCP; mcp/peers.c counts them */
    int64_t request_bytes;  /* bytes of request memory that it holds; request_memory.h */
    int64_t answer_bytes;   /* part of request_bytes: bytes of answers that clients have not received yet */
    int64_t stored_bytes;   /* bytes of results that are kept */
    struct hc_window cpu_us, kib_s; /* recent usage of its jobs, in the units of struct hc_usage */

    /* For queue.c alone; see queue.h. */
    struct hc_queued *first, *last; /* its waiting jobs, in the order of their coming; NULL: none */
    double start, cost; /* its start tag, in virtual time; mean cost of its jobs, in ms of a worker, 0: none
                           has ended */
    struct hc_tenant *next_waiting; /* next tenant in the list hc_queue.tenants */
    bool waiting;                   /* the tenant is in that list */
};

/* Why a quota refuses a request, and when another attempt makes sense. */
struct hc_refusal {
    const char *quota; /* "queued", "cpu_seconds", "memory"...: the name of the quota in hotcelld.conf */
    int64_t retry_ms;  /* wait at least this long; -1: waiting does not help */
    bool never;        /* the same request is always refused, whatever the tenant does */
    char text[160];    /* one sentence for the client */
};

struct hc_tenants; /* opaque: owns every struct hc_tenant; their addresses stay */

/* Make the tenants of a configuration, which is borrowed for this call. */
int hc_tenants_create(struct hc_tenants **out, const struct hc_config *c, struct hc_error *err);
void hc_tenants_destroy(struct hc_tenants *t); /* NULL is fine */

/* After a reload: quotas, uids and tokens become those of `c`, counters stay. On failure nothing has changed.
 */
int hc_tenants_reload(struct hc_tenants *t, const struct hc_config *c, struct hc_error *err);

/* The tenant of a caller. NULL: the caller has no tenant (the answer, 401 or 403, never tells which part was
 * wrong), or there is no memory. The time to check a token does not depend on its bytes. */
struct hc_tenant *hc_tenant_of_uid(struct hc_tenants *t, uid_t uid);
struct hc_tenant *hc_tenant_of_token(struct hc_tenants *t, const char *token, size_t len);

/* The tenant of this name, as the ledger has it; one that is no longer configured is made. NULL: out of
 * memory. */
struct hc_tenant *hc_tenant_by_name(struct hc_tenants *t, const char *name);

/* The tenants by index, in the order in which they became known; NULL after the last. */
struct hc_tenant *hc_tenant_at(struct hc_tenants *t, size_t index);

/* Is there, or can there be, more than one tenant: is another one configured, or has another user come; or
 * may any user become a tenant, as the Unix socket is not for its owner alone (`open`)? */
bool hc_tenants_are_many(const struct hc_tenants *t, bool open);

/* May the tenant use the policy, or the tree, of this name? */
bool hc_tenant_may_use(const struct hc_tenant *t, const char *policy);
bool hc_tenant_may_use_tree(const struct hc_tenant *t, const char *tree);
const char *hc_tenant_policy(const struct hc_tenant *t); /* the policy for requests that name none */

/* Charge the tenant for what its jobs used, at the time `now`, which may be in the past, as for usage from
 * the ledger. */
void hc_tenant_charge(struct hc_tenant *t, const struct hc_usage *used, int64_t now);

/* Has the tenant something left of both its quota of CPU time and its quota of GB-seconds? If not, `why`
 * names the quota that is used up. */
bool hc_tenant_has_time(struct hc_tenant *t, int64_t now, struct hc_refusal *why);
/* Has the tenant also something left of its quota of stored bytes? If not, `why` names the quota that is used
 * up. */
bool hc_tenant_has_budget(struct hc_tenant *t, int64_t now, struct hc_refusal *why);

/* A window: make an empty one; add an amount at the time `when`; return the sum at `now`; return the ms from
 * `now` until the sum is below `most`. */
void hc_window_init(struct hc_window *w, int64_t width);
void hc_window_add(struct hc_window *w, int64_t when, int64_t amount);
int64_t hc_window_sum(struct hc_window *w, int64_t now);
int64_t hc_window_wait(struct hc_window *w, int64_t now, int64_t most);

#endif
