/* warm.h - the warm cells of one worker: for each policy and tenant that came more than once lately, an
 * interpreter with its libraries loaded, and one cell of it that waits for the next job. */
#ifndef HC_CELL_WARM_H
#define HC_CELL_WARM_H

#include "cell/warm/policy_cache.h"
#include "cell/warm/zygote.h"
#include "cell/warm_counts.h"
#include "job/job.h"

#define HC_WARM_MOST 8 /* most zygotes of a worker */
/* Bytes of warm.memory (hotcelld.conf(5)) that a zygote with its cell counts for. */
#define HC_WARM_BYTES (INT64_C(128) << 20)

struct hc_warm_slot {
    char key[HC_SHA256_HEX];         /* hc_warm_key; "": the slot is free */
    char tenant[72];                 /* name of the jobs' tenant; "": none */
    struct hc_cached_policy *cached; /* the zygote's policy, a counted reference */
    struct hc_zygote *zygote;        /* owned; NULL: not started */
    struct hc_parked cell;           /* owned; the cell that waits, if any */
    int64_t asked, last; /* number of jobs that asked for this slot, and when the last did (hc_mono_ms) */
    int64_t started;     /* when the zygote was started (hc_mono_ms) */
    int failures;        /* failed attempts to make a zygote or cell, in a row */
    int64_t not_before;  /* after too many failures: when to try again (hc_mono_ms) */
};

/* How many zygotes a worker has, and when each is started, replaced or ended. */
#define HC_WARM_WANTED 2 /* usual value of hc_warm_rules.wanted */
struct hc_warm_rules {
    size_t most;             /* most zygotes; 0: every job is run cold */
    int64_t wanted;          /* jobs that ask for the same cell before a zygote is started */
    int64_t cells;           /* cells that a zygote makes before it is replaced */
    int64_t age_ms, idle_ms; /* age at which a zygote is replaced; time without a job after which it ends */
};

struct hc_warm {
    struct hc_warm_slot slots[HC_WARM_MOST]; /* the first rules.most are used */
    struct hc_warm_rules rules;              /* rules of this worker */
    struct hc_warm_counts counts;            /* counts of this worker */
};

void hc_warm_init(struct hc_warm *w, const struct hc_warm_rules *rules);

/* Take the waiting cell for this job and count it as used. NULL if there is none; the reason is counted.
 * `*slot` gets the slot of such cells (NULL: none). The caller finishes the cell (hc_parked_finish). */
struct hc_parked *hc_warm_take(struct hc_warm *w, const struct hc_job *job,
                               const struct hc_cached_policy *cached, struct hc_warm_slot **slot);

/* To be called after a job, when its answer has gone out: make the next cell wait in `slot`, and start a
 * zygote first if enough jobs asked for one. `weight` is the tenant's. The zygote takes a reference to
 * `cached`. */
void hc_warm_settle(struct hc_warm *w, struct hc_warm_slot *slot, struct hc_cached_policy *cached,
                    int64_t weight);

/* Run one job in a warm cell, or in a cell built for it if none waits, or if the warm cell fails (say, it
 * was killed) before the program began. Parameters and result as for hc_run; `parked` and `warm_key` of
 * `run` are set here. The used cell may still be dying afterwards: send the answer first, then call
 * hc_warm_reap_cell, which waits for it, then hc_warm_settle. */
struct hc_warm_use {
    struct hc_warm_slot *slot; /* holds the cells of such jobs; NULL: there is no slot */
    struct hc_parked *cell;    /* the slot's; NULL: none */
    bool warm;                 /* the job ran in a warm cell */
};
struct hc_run;
struct hc_manifest;
int hc_warm_run(struct hc_warm *w, struct hc_warm_use *use, const struct hc_cached_policy *cached,
                struct hc_run *run, struct hc_manifest *m, struct hc_error *err);
void hc_warm_reap_cell(struct hc_warm_use *use);

/* Replace cells that have waited for too long, and end zygotes that no job asked for lately. */
void hc_warm_refresh(struct hc_warm *w);

/* End the zygotes whose tree `is_bad`, with their cells. `name`: the tree as the policy names it; `ids`:
 * `count` IDs, the tree's and those of its layers. */
typedef bool hc_warm_is_bad(void *ctx, const char *name, const char *const *ids, size_t count);
void hc_warm_drop(struct hc_warm *w, hc_warm_is_bad *is_bad, void *ctx);

/* End all zygotes with their cells. */
void hc_warm_finish(struct hc_warm *w);

#endif
