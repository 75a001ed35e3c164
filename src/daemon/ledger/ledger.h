/* ledger.h - what the daemon promised and what was used: an SQLite database that survives a kill and a power
 * cut.
 *
 * A job that was promised (accepted to be run later, or sent with an idempotency key) is on the disk before
 * anybody hears of it: hc_ledger_accept, hc_ledger_start and hc_ledger_finish return when it is. A job whose
 * client waits for the answer needs none of this: hc_ledger_note keeps it in memory, and hc_ledger_flush
 * writes many at once.
 *
 * What is not flushed is lost in a crash: bookkeeping about answers that were given. Reading flushes first.
 *
 * After a crash hc_ledger_recover gives back the jobs that had not started, once each, and turns those that
 * had into HC_JOB_UNKNOWN: nothing is lost, and nothing is run twice. One process writes; any number may
 * read. Times are milliseconds since 1970. */
#ifndef HC_DAEMON_LEDGER_LEDGER_H
#define HC_DAEMON_LEDGER_LEDGER_H

#include "daemon/process/states.h"
#include "daemon/tenants/tenant.h"

#define HC_LEDGER_FILE         "ledger.db" /* below the state directory */
#define HC_MAX_IDEMPOTENCY_KEY 255

enum hc_job_state {
    HC_JOB_ACCEPTED, /* will be run */
    HC_JOB_RUNNING,
    HC_JOB_DONE,      /* there is a manifest */
    HC_JOB_UNKNOWN,   /* the daemon ended while it ran: outcome unknown, and not tried again */
    HC_JOB_CANCELLED, /* taken back before it ran */
};

/* All pointers are borrowed: the caller's on the way in, valid until the next call or the end of the callback
 * on the way out. Texts that are not there are NULL, times that have not come are 0. */
struct hc_ledger_job {
    const char *id, *tenant;
    enum hc_job_state state;
    const char *status; /* of the manifest: "ok", "error", ..., or HC_STATUS_NAME_...; NULL before the end */
    const char *policy; /* that was asked for */
    const char *reason; /* of the status, a sentence */
    const char *key;    /* idempotency key */
    const char *body_sha256; /* of the request that `key` stands for */
    const char *spec;        /* JSON; dropped when the job is done */
    size_t spec_len;
    const char *manifest; /* JSON; left out in lists */
    size_t manifest_len;
    int64_t attempts; /* times that it was started */
    int64_t accepted, started, finished;
    struct hc_usage used;
};

/* What a job is said to be. */
enum hc_task_state hc_ledger_shown(const struct hc_ledger_job *job);

struct hc_ledger; /* opaque */

enum hc_ledger_mode {
    HC_LEDGER_WRITE,      /* make it if it is not there, bring it to the newest form */
    HC_LEDGER_READ,       /* for reports: HC_EXIT_DATA if it is not there */
    HC_LEDGER_CHECKPOINT, /* beside the one that writes: for hc_ledger_checkpoint only */
};

/* Every failure is one clear line: broken and not a ledger (HC_EXIT_DATA), of a newer hotcelld
 * (HC_EXIT_DATA), not writable, full, in use by another daemon (HC_EXIT_UNAVAILABLE). */
int hc_ledger_open(struct hc_ledger **out, const char *path, enum hc_ledger_mode mode, struct hc_error *err);
void hc_ledger_close(struct hc_ledger *l); /* flushes; NULL is fine */

enum hc_accepted {
    HC_ACCEPTED,       /* it is in the ledger now */
    HC_ACCEPTED_SAME,  /* this tenant has sent the same key and body before: `known` is that job's id */
    HC_ACCEPTED_OTHER, /* the same key with another body: a conflict; `known` as above */
};

/* `job` has id, tenant, spec and accepted; key and body_sha256 or neither. */
int hc_ledger_accept(struct hc_ledger *l, const struct hc_ledger_job *job, enum hc_accepted *what,
                     char known[65], struct hc_error *err);
/* To be called before a cell is built for it. HC_EXIT_DATA if the job is not in state accepted. */
int hc_ledger_start(struct hc_ledger *l, const char *id, int64_t now, struct hc_error *err);
/* It never started after all (no worker could take it): back to accepted. */
int hc_ledger_unstart(struct hc_ledger *l, const char *id, struct hc_error *err);
/* The end: `job` has id, state (done, unknown or cancelled), status, manifest, finished and used. Also counts
 * the usage. */
int hc_ledger_finish(struct hc_ledger *l, const struct hc_ledger_job *job, struct hc_error *err);

/* A job that nobody promised anything about, at its end: all of the job but key. Copies what it needs. */
int hc_ledger_note(struct hc_ledger *l, const struct hc_ledger_job *job, struct hc_error *err);
bool hc_ledger_noted(const struct hc_ledger *l);                /* is there anything to flush? */
int hc_ledger_flush(struct hc_ledger *l, struct hc_error *err); /* every second or so, and before reports */

/* A callback returns 0 to go on. Anything else ends the call, which then returns it. */
typedef int hc_ledger_each(void *ctx, const struct hc_ledger_job *job);

/* Once after opening: running jobs become unknown at `now`; then `accepted` is called for each job that is to
 * be run, oldest first, and `unknown`, if it is not NULL, for each that became so. */
int hc_ledger_recover(struct hc_ledger *l, int64_t now, hc_ledger_each *accepted, hc_ledger_each *unknown,
                      void *ctx, struct hc_error *err);

/* One job with its manifest and spec. `found` false if there is none, or it is another tenant's (NULL: of
 * any). */
int hc_ledger_get(struct hc_ledger *l, const char *tenant, const char *id, struct hc_ledger_job *job,
                  bool *found, struct hc_error *err);

/* Jobs, those first that were written down last unless the filter says otherwise, without spec and manifest.
 * The callback must not call the ledger. */
struct hc_ledger_filter {
    const char *tenant;          /* NULL: all */
    int state;                   /* enum hc_task_state; -1: all */
    const char *status, *policy; /* NULL: all */
    int64_t since;               /* accepted at or after */
    int64_t most;                /* 0: all */
    bool by_time;                /* those first that were accepted last: all rows are read for that */
};
int hc_ledger_list(struct hc_ledger *l, const struct hc_ledger_filter *f, hc_ledger_each *each, void *ctx,
                   struct hc_error *err);

/* Usage by tenant, hour and status. It outlives the jobs. */
struct hc_ledger_use {
    const char *tenant;
    int64_t hour; /* its beginning, ms since 1970 */
    const char *status;
    int64_t jobs;
    struct hc_usage used;
};
typedef int hc_ledger_each_use(void *ctx, const struct hc_ledger_use *use);
int hc_ledger_usage(struct hc_ledger *l, const char *tenant, int64_t since, hc_ledger_each_use *each,
                    void *ctx, struct hc_error *err);

/* Bytes of results that are kept for a tenant (manifests and files). */
int hc_ledger_stored(struct hc_ledger *l, const char *tenant, int64_t *bytes, struct hc_error *err);

/* Bring what the log (PATH-wal) has into the database itself. That waits for the disk often and long, so it
 * is for a process that nobody waits for: who writes meanwhile is not held up, but for a moment when the log
 * has become so long that it has to begin anew. */
int hc_ledger_checkpoint(struct hc_ledger *l, struct hc_error *err);

/* Retention: finished jobs that ended before `before`, and the oldest beyond `bytes` in all (0: no limit).
 * `gone` is called for each job before it is taken out, so that its files go too; what it refuses stays. The
 * callback must not call the ledger. 1 if HC_SWEEP_MOST jobs were looked at, and there may be more: then call
 * it again soon, but let others have their turn. */
#define HC_SWEEP_MOST 256
int hc_ledger_sweep(struct hc_ledger *l, int64_t before, int64_t bytes, hc_ledger_each *gone, void *ctx,
                    struct hc_error *err);
/* Take one finished job out at its tenant's wish. */
int hc_ledger_forget(struct hc_ledger *l, const char *tenant, const char *id, bool *found,
                     struct hc_error *err);

#endif
