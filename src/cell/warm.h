/* warm.h - the warm cells of one worker: interpreters with their libraries loaded, one for each policy and
 * rung of its ladder (ladder.h) that came more than once lately; and for each of these and each tenant a cell
 * that waits for the next job.
 *
 * A zygote serves the jobs of all tenants with the same policy, unless rules.apart. A cell is one tenant's.
 */
#ifndef HC_CELL_WARM_H
#define HC_CELL_WARM_H

#include "cell/warm/policy_cache.h"
#include "cell/warm/zygote.h"
#include "cell/warm_counts.h"
#include "job/job.h"

#define HC_WARM_ZYGOTES 24  /* most zygotes of a worker */
#define HC_WARM_ROWS    256 /* zygotes that a worker counts the jobs for, more than it may have */
#define HC_WARM_SLOTS   600 /* most kinds of jobs that a worker knows, each with at most one cell */

/* Most waiting cells of a worker that have copied what jobs write to, ahead of their jobs: those of the
 * tenants that asked last. Each has several times the memory of one that has not. */
#define HC_WARM_PREPARED 8

/* Bytes of warm.memory (hotcelld.conf(5)) that are counted: for a zygote that has loaded nothing, and for one
 * with libraries; for a waiting cell; and in addition for one with libraries once it is prepared. */
#define HC_WARM_PLAIN_BYTES    (INT64_C(8) << 20)
#define HC_WARM_LOADED_BYTES   (INT64_C(80) << 20)
#define HC_WARM_CELL_BYTES     (INT64_C(2) << 20)
#define HC_WARM_PREPARED_BYTES (INT64_C(8) << 20)

/* An interpreter, and whether there shall be one. */
struct hc_warm_zygote {
    char key[HC_SHA256_HEX];         /* hc_cached_policy.zygote_key; "": the row is free */
    size_t rung;                     /* rung of the policy's ladder */
    struct hc_cached_policy *cached; /* the zygote's policy, a counted reference; NULL: not started */
    struct hc_zygote *zygote;        /* the interpreter's process; owned; NULL: not started */
    int64_t asked, last; /* number of jobs that asked for it; when the last one did (hc_mono_ms) */
    int64_t started;     /* when the zygote was started (hc_mono_ms) */
    int failures;        /* failed attempts to make a zygote or cell, in a row */
    int64_t not_before;  /* after too many failures: when to try again (hc_mono_ms) */
    bool told;           /* the log says that the policy's sample fails */
    bool crowded;        /* at the last attempt there was no room for it beside those that are in use */
};

/* One kind of jobs: those of a tenant that one zygote serves. */
struct hc_warm_slot {
    char key[HC_SHA256_HEX]; /* hc_warm_key; "": the slot is free */
    char tenant[72];         /* name of the jobs' tenant; "": none */
    int64_t weight;          /* weight of the tenant, as in struct hc_share */
    size_t zygote;           /* index in hc_warm.zygotes of the zygote that makes its cells */
    struct hc_parked cell;   /* the cell that waits, pid 0: none; owned */
    int64_t last;            /* when a job last asked for this slot (hc_mono_ms) */
};

/* How many zygotes a worker has, and when each is started, replaced or ended. */
#define HC_WARM_WANTED 2 /* usual value of hc_warm_rules.wanted */
struct hc_warm_rules {
    int64_t bytes;  /* most bytes that zygotes and cells count for; too few for one: no cell is warm */
    int64_t wanted; /* jobs that ask for the same cell before a zygote is started */
    int64_t cells;  /* cells that a zygote makes before it is replaced */
    int64_t age_ms, idle_ms; /* age at which a zygote is replaced; time without a job after which it ends */
    bool apart;              /* no zygote serves two tenants */
};

struct hc_warm {
    struct hc_warm_zygote zygotes[HC_WARM_ROWS]; /* the zygotes; owned */
    struct hc_warm_rules rules;                  /* rules of this worker */
    struct hc_warm_counts counts;                /* counts of this worker */
    size_t slot_count;                           /* used entries of `slots` */
    size_t slot_most; /* most of them: fewer than HC_WARM_SLOTS where the limit of descriptors is low */
    /* The kinds of jobs, with their waiting cells; owned. What is not used is not initialized, as it would
     * take a megabyte of each worker. */
    struct hc_warm_slot slots[HC_WARM_SLOTS];
};

/* Number of cells that can wait under these rules, beside the interpreters of one policy like
 * "default": one that has loaded nothing, and HC_WARM_USUAL_LOADED with libraries. */
#define HC_WARM_USUAL_LOADED 2
int64_t hc_warm_fit(const struct hc_warm_rules *rules);

/* Begin without zygotes and cells; the rules are copied. The process's soft limit of descriptors, of which
 * cells need some, becomes the hard one. */
void hc_warm_init(struct hc_warm *w, const struct hc_warm_rules *rules);

/* The cell of one job. */
struct hc_warm_use {
    struct hc_warm_slot *slot;   /* slot of the cell that was used; NULL: none was */
    struct hc_warm_slot *wanted; /* slot of the rung that the job needs; NULL: there is none */
    struct hc_parked *cell;      /* the cell that was used, in the slot; borrowed; NULL: none was */
    bool warm;                   /* the job ran in a warm cell */
};

/* Take a waiting cell for this job and count it as used: a cell of the rung that the job needs or, if none of
 * that rung waits, of another rung; or a cell that the zygote makes now. NULL if there is none; the reason is
 * counted. `weight` is the tenant's. The caller finishes the cell (hc_parked_finish). */
struct hc_parked *hc_warm_take(struct hc_warm *w, const struct hc_job *job, struct hc_cached_policy *cached,
                               int64_t weight, struct hc_warm_use *use);

/* To be called after a job, when its answer has gone out: make the next cells wait in the slots of `use`, and
 * start a zygote first if enough jobs asked for one. `weight` is the tenant's. The zygote takes a reference
 * to `cached`. */
void hc_warm_settle(struct hc_warm *w, const struct hc_warm_use *use, struct hc_cached_policy *cached,
                    int64_t weight);

/* Run one job in a warm cell, or in a cell built for it if none waits, or if the warm cell fails (say, it
 * was killed) before the program began. Parameters and result as for hc_run; `parked` and `warm_key` of
 * `run` are set here. The used cell may still be dying afterwards: send the answer first, then call
 * hc_warm_reap_cell, which waits for it, then hc_warm_settle. */
struct hc_run;
struct hc_manifest;
int hc_warm_run(struct hc_warm *w, struct hc_warm_use *use, struct hc_cached_policy *cached,
                struct hc_run *run, struct hc_manifest *m, struct hc_error *err);
void hc_warm_reap_cell(struct hc_warm_use *use);

/* To be called where a processor is idle: tell one more waiting cell to prepare for its job
 * (hc_parked_prepare). False: all cells that are likely to be used soon have been told. */
bool hc_warm_prepare(struct hc_warm *w);

/* End zygotes that no job asked for lately, and those that are old. */
void hc_warm_refresh(struct hc_warm *w);
/* Replace one cell that has waited for too long, which takes some milliseconds. False: there is none, or it
 * cannot be replaced now. */
bool hc_warm_renew(struct hc_warm *w);

/* End the zygotes whose tree `is_bad`, with their cells. `name`: the tree as the policy names it; `ids`:
 * `count` IDs, the tree's and those of its layers. */
typedef bool hc_warm_is_bad(void *ctx, const char *name, const char *const *ids, size_t count);
void hc_warm_drop(struct hc_warm *w, hc_warm_is_bad *is_bad, void *ctx);

/* End all zygotes with their cells. */
void hc_warm_finish(struct hc_warm *w);

#endif
