/* warm.h - the warm cells of one worker: for each policy and tenant that came more than once lately, an
 * interpreter with its libraries loaded, and one cell of it that waits for the next job. */
#ifndef HC_CELL_WARM_H
#define HC_CELL_WARM_H

#include "cell/warm/policy_cache.h"
#include "cell/warm/zygote.h"
#include "cell/warm_counts.h"
#include "job/job.h"

#define HC_WARM_MOST  8
#define HC_WARM_BYTES (INT64_C(128) << 20) /* what one is taken to cost, of warm.memory */

struct hc_warm_slot {
    char key[HC_SHA256_HEX]; /* hc_warm_key; "": free */
    char tenant[72];
    struct hc_cached_policy *known; /* whose policy is the zygote's, for as long as there is one; held */
    struct hc_zygote *zygote;
    struct hc_parked cell;
    int64_t asked, last; /* how often, and when last (ms) */
    int64_t started;     /* the zygote (ms) */
    int failures;        /* in a row */
    int64_t not_before;  /* after too many of them */
};

/* How many at most (0: every job is run cold), and when a zygote is replaced by another or ends. */
#define HC_WARM_WANTED 2 /* times that somebody asked, before a zygote is started; usually */
struct hc_warm_rules {
    size_t most;
    int64_t wanted;
    int64_t cells, age_ms, idle_ms;
};

struct hc_warm {
    struct hc_warm_slot slots[HC_WARM_MOST];
    struct hc_warm_rules rules;
    struct hc_warm_counts counts;
};

void hc_warm_init(struct hc_warm *w, const struct hc_warm_rules *rules);

/* The cell for this job, which counts as used, or NULL, which counts with its reason; and the slot that it
 * came from or, with NULL, would have come from (NULL: none). The caller finishes the cell
 * (hc_parked_finish). */
struct hc_parked *hc_warm_take(struct hc_warm *w, const struct hc_job *job,
                               const struct hc_cached_policy *known, struct hc_warm_slot **slot);

/* After a job, when its answer has gone out: have another cell wait, and a zygote if this was not the first
 * time that one was asked for, with the tenant's weight; it holds `known`. */
void hc_warm_settle(struct hc_warm *w, struct hc_warm_slot *slot, struct hc_cached_policy *known,
                    int64_t weight);

/* One job, in a cell that waits for it, or else in one that is built for it; in one that is built also if the
 * one that waited fails (somebody may have killed it) before the program was begun. As hc_run, of which `run`
 * is all that is asked but for `parked` and `warm_key`. What is left of a cell that was used may still die:
 * whoever waits for the answer need not wait for hc_warm_bury, which comes next, before hc_warm_settle. */
struct hc_warm_use {
    struct hc_warm_slot *slot; /* where the next job of this kind finds its cell; NULL: nowhere */
    struct hc_parked *cell;    /* the slot's; NULL: none */
    bool warm;
};
struct hc_run;
struct hc_manifest;
int hc_warm_run(struct hc_warm *w, struct hc_warm_use *use, const struct hc_cached_policy *known,
                struct hc_run *run, struct hc_manifest *m, struct hc_error *err);
void hc_warm_bury(struct hc_warm_use *use);

/* Cells that have waited for too long make way for others, interpreters that nobody asks for end. */
void hc_warm_refresh(struct hc_warm *w);

/* Those whose tree is no longer good end, with their cells. */
void hc_warm_drop(struct hc_warm *w, bool (*is_bad)(void *ctx, const char *tree_id), void *ctx);

/* All of them end, with their cells. */
void hc_warm_finish(struct hc_warm *w);

#endif
