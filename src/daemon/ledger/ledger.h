/* ledger.h - the ledger of jobs and usage: an SQLite database that survives a kill and a power cut.
 *
 * A promised job (accepted to be run later, or sent with an idempotency key) is on the disk before its client
 * hears of it: hc_ledger_accept, hc_ledger_start and hc_ledger_finish return when the change is on the disk.
 * A job whose client waits for the answer does not need this: hc_ledger_note keeps it in memory, and
 * hc_ledger_flush writes many notes at once.
 *
 * A crash loses the notes that are not flushed: records of answers that clients already have. Reading flushes
 * first.
 *
 * After a crash hc_ledger_recover returns the jobs that had not started, once each, and gives those that had
 * started the state HC_JOB_UNKNOWN: no job is lost, and none is run twice. One process writes; any number may
 * read. Times are milliseconds since 1970. */
#ifndef HC_DAEMON_LEDGER_LEDGER_H
#define HC_DAEMON_LEDGER_LEDGER_H

#include "daemon/process/states.h"
#include "daemon/tenants/tenant.h"

#define HC_LEDGER_FILE         "ledger.db" /* path of the ledger below the state directory */
#define HC_MAX_IDEMPOTENCY_KEY 255         /* most bytes of an idempotency key */

enum hc_job_state {
    HC_JOB_ACCEPTED, /* the job waits to be run */
    HC_JOB_RUNNING,  /* a worker has it */
    HC_JOB_DONE,     /* there is a manifest */
    HC_JOB_UNKNOWN,  /* the daemon ended while the job ran: its outcome is unknown, and it is not run again */
    HC_JOB_CANCELLED, /* it was cancelled before it ran */
};

/* A job. All pointers are borrowed: as an argument from the caller; as a result they are valid until the next
 * call or the end of the callback. A missing text is NULL, a time that has not come is 0. */
struct hc_ledger_job {
    const char *id, *tenant; /* the job's ID; name of its tenant */
    enum hc_job_state state; /* state of the job */
    const char
        *status; /* status of the manifest: "ok", "error", ..., or HC_STATUS_NAME_...; NULL before the end */
    const char *policy;                  /* name of the policy that its request named */
    const char *reason;                  /* why it has this status, one sentence */
    const char *key;                     /* idempotency key of the job */
    const char *body_sha256;             /* hash of the request that `key` stands for */
    const char *spec;                    /* request for the job, JSON; dropped when the job is done */
    size_t spec_len;                     /* bytes of `spec` */
    const char *manifest;                /* JSON; left out in lists */
    size_t manifest_len;                 /* bytes of `manifest` */
    int64_t attempts;                    /* how many times it was started */
    int64_t accepted, started, finished; /* times of these events, in ms since 1970; 0: not yet */
    struct hc_usage used;                /* the job's use of resources; 0 before its end */
};

/* The state of the job as clients see it. */
enum hc_task_state hc_ledger_shown(const struct hc_ledger_job *job);

struct hc_ledger; /* opaque */

enum hc_ledger_mode {
    HC_LEDGER_WRITE,      /* make the ledger if it does not exist, and bring its tables to the newest form */
    HC_LEDGER_READ,       /* for reports: HC_EXIT_DATA if the ledger does not exist */
    HC_LEDGER_CHECKPOINT, /* beside the process that writes: for hc_ledger_checkpoint only */
};

/* Open a ledger. Errors: it is broken, is no ledger, or is of a newer hotcelld (HC_EXIT_DATA); it is not
 * writable, the disk is full, or another daemon uses it (HC_EXIT_UNAVAILABLE). */
int hc_ledger_open(struct hc_ledger **out, const char *path, enum hc_ledger_mode mode, struct hc_error *err);
void hc_ledger_close(struct hc_ledger *l); /* flushes; NULL is fine */

enum hc_accepted {
    HC_ACCEPTED,       /* the job is in the ledger now */
    HC_ACCEPTED_SAME,  /* the tenant has sent the same key and body before: `known` is that job's id */
    HC_ACCEPTED_OTHER, /* the tenant has sent the same key with another body: `known` is that job's id */
};

/* Write an accepted job down. `job` has id, tenant, spec and accepted; and both key and body_sha256, or
 * neither. */
int hc_ledger_accept(struct hc_ledger *l, const struct hc_ledger_job *job, enum hc_accepted *what,
                     char known[65], struct hc_error *err);
/* Write down that the job starts; to be called before its cell is built. HC_EXIT_DATA if its state is not
 * accepted. */
int hc_ledger_start(struct hc_ledger *l, const char *id, int64_t now, struct hc_error *err);
/* Write down that the job did not start after all (no worker took it): its state is accepted again. */
int hc_ledger_unstart(struct hc_ledger *l, const char *id, struct hc_error *err);
/* Write down the end of a job, and count its usage. `job` has id, state (done, unknown or cancelled), status,
 * manifest, finished and used. */
int hc_ledger_finish(struct hc_ledger *l, const struct hc_ledger_job *job, struct hc_error *err);

/* Note the end of a job that was not promised; all members but `key` are set. The note has copies of the
 * texts. */
int hc_ledger_note(struct hc_ledger *l, const struct hc_ledger_job *job, struct hc_error *err);
bool hc_ledger_noted(const struct hc_ledger *l); /* are there notes to flush? */
/* Write the notes; to be called every second or so, and before reports. */
int hc_ledger_flush(struct hc_ledger *l, struct hc_error *err);

/* A callback returns 0 to go on. Any other value ends the call, which then returns that value. */
typedef int hc_ledger_each(void *ctx, const struct hc_ledger_job *job);

/* Recover from a crash; to be called once after opening. Running jobs become unknown at `now`; then
 * `accepted` is called for each job that waits to be run, oldest first, and `unknown`, if it is not NULL, for
 * each job that became unknown. */
int hc_ledger_recover(struct hc_ledger *l, int64_t now, hc_ledger_each *accepted, hc_ledger_each *unknown,
                      void *ctx, struct hc_error *err);

/* Read one job with its manifest and spec. `*found` is false if there is none, or if it is another tenant's
 * (`tenant` NULL: any tenant's job is found). */
int hc_ledger_get(struct hc_ledger *l, const char *tenant, const char *id, struct hc_ledger_job *job,
                  bool *found, struct hc_error *err);

/* List jobs without spec and manifest, in the opposite order of writing unless the filter says otherwise. The
 * callback must not call the ledger. */
struct hc_ledger_filter {
    const char *tenant;          /* name; NULL: jobs of all tenants */
    int state;                   /* enum hc_task_state; -1: jobs in all states */
    const char *status, *policy; /* names; NULL: jobs with any */
    int64_t since;               /* only jobs accepted at or after this time, in ms since 1970 */
    int64_t most;                /* most jobs in the list; 0: all */
    bool by_time; /* the jobs that were accepted last come first; all rows have to be read for this */
};
int hc_ledger_list(struct hc_ledger *l, const struct hc_ledger_filter *f, hc_ledger_each *each, void *ctx,
                   struct hc_error *err);

/* Usage by tenant, hour and status. It outlives the jobs. */
struct hc_ledger_use {
    const char *tenant;   /* name of the tenant */
    int64_t hour;         /* beginning of the hour, in ms since 1970 */
    const char *status;   /* status of the jobs that are counted, as in struct hc_ledger_job */
    int64_t jobs;         /* number of jobs that ended so in this hour */
    struct hc_usage used; /* by these jobs together */
};
/* hc_ledger_usage calls `each` for the usage of this tenant (NULL: of all tenants) in the hours that begin at
 * or after `since`, in ms since 1970. */
typedef int hc_ledger_each_use(void *ctx, const struct hc_ledger_use *use);
int hc_ledger_usage(struct hc_ledger *l, const char *tenant, int64_t since, hc_ledger_each_use *each,
                    void *ctx, struct hc_error *err);

/* The bytes of results (manifests and files) that are kept for a tenant. */
int hc_ledger_stored(struct hc_ledger *l, const char *tenant, int64_t *bytes, struct hc_error *err);

/* Copy the log (PATH-wal) into the database itself. This waits for the disk often and long, so a process of
 * its own does it. The process that writes is not delayed meanwhile, except for a moment when the log has
 * become so long that it has to begin anew. */
int hc_ledger_checkpoint(struct hc_ledger *l, struct hc_error *err);

/* Remove finished jobs that ended before `before`, and the oldest ones as long as the results have more than
 * `bytes` in all (0: no limit). `gone` is called for each job before it is removed, so that the caller can
 * remove its files; a job for which it does not return 0 stays. The callback must not call the ledger. 1:
 * HC_SWEEP_MOST jobs were looked at, and there may be more; the caller should serve its clients before it
 * calls again. */
#define HC_SWEEP_MOST 256 /* most jobs of one sweep */
int hc_ledger_sweep(struct hc_ledger *l, int64_t before, int64_t bytes, hc_ledger_each *gone, void *ctx,
                    struct hc_error *err);
/* Remove one finished job, as its tenant wishes. `*found`: the tenant has such a job. */
int hc_ledger_forget(struct hc_ledger *l, const char *tenant, const char *id, bool *found,
                     struct hc_error *err);

#endif
