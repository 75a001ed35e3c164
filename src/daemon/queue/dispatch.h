/* dispatch.h - take a job into the queue, give it to a worker, and follow it to its end. */
#ifndef HC_DAEMON_QUEUE_DISPATCH_H
#define HC_DAEMON_QUEUE_DISPATCH_H

#include "daemon/queue/upload_store.h"
#include "daemon/config/config.h"
#include "daemon/process/trees.h"
#include "daemon/queue/counters.h"
#include "daemon/queue/store.h"
#include "daemon/queue/task.h"
#include "daemon/tenants/request_memory.h"

#define HC_DISPATCH_POLICIES 32  /* most policies that are kept for comparisons */
#define HC_DISPATCH_REMOVALS 256 /* most jobs whose results wait to be removed */

/* A worker, as the front knows it. */
struct hc_dispatch_worker {
    struct hc_watch channel;      /* channel to the worker, owned; fd -1: there is no worker at the moment */
    struct hc_dispatch *dispatch; /* borrowed */
    pid_t pid;                    /* pid of the worker */
    struct hc_task *task;         /* the job that it runs; borrowed; NULL: it is idle */
    struct hc_task *removal; /* the removal of a volume that it does; a reference; NULL: none (volumes.h) */
    bool resting;            /* the worker is idle but prepares warm cells: other workers are preferred */
    struct hc_warm_counts warm; /* the last counts that it sent */
};

/* A policy, for comparisons with requests. */
struct hc_dispatch_policy {
    char name[HC_TENANT_NAME]; /* as requests name the policy */
    struct hc_policy policy;   /* values of the policy, and of its rules the layers alone; owned */
};

struct hc_dispatch {
    int epoll;                  /* epoll descriptor of the whole front; borrowed */
    struct hc_config config;    /* the configuration in force; owned */
    int64_t configuration;      /* number of `config`: 1, and one more with each reload */
    struct hc_tenants *tenants; /* all tenants; owned */
    struct hc_queue *queue;     /* jobs that wait; owned */
    struct hc_tasks tasks;      /* jobs that have not ended, or could not be written into the ledger */
    struct hc_request_memory request_memory; /* memory that the requests of all tenants use */
    struct hc_counters counters;             /* counts since the front began */
    struct hc_dispatch_worker *workers;      /* HC_MAX_WORKERS entries that never move; owned */
    size_t worker_count;                     /* used entries of `workers` */
    struct hc_dispatch_policy policies[HC_DISPATCH_POLICIES]; /* policies that requests have named so far */
    size_t policy_count;                                      /* used entries of `policies` */
    struct hc_ledger *ledger;                                 /* ledger of jobs and usage; owned */
    int64_t next_sweep; /* time of the next removal of results that are too old (CLOCK_MONOTONIC, ms) */
    int64_t restored;   /* number of jobs that an earlier daemon had accepted */
    bool ledger_fails;  /* notes cannot be written: the front tries again only once a tick */
    int results_fd;     /* directory that has a directory of results for each job; owned */
    int volumes_fd;     /* directory of all tenants' volumes; owned */
    struct hc_upload_store uploads; /* content for inputs that tenants have sent in parts; owned */
    const struct hc_trees *trees;   /* the board of changed trees; borrowed */
    char removals[HC_DISPATCH_REMOVALS][HC_JOB_ID]; /* jobs whose results no worker was told to remove yet */
    size_t removal_count;                           /* used entries of `removals` */
    bool open;           /* users other than its owner may connect to a Unix socket (struct hc_listeners) */
    bool draining;       /* the daemon ends when the running and waiting jobs have ended */
    int64_t drain_until; /* time at which a draining daemon ends in any case (CLOCK_MONOTONIC, ms) */
    int program_fd;      /* the executable of this daemon; owned */
    bool replaced;       /* an upgrade has replaced the executable: jobs that wait are for the next daemon */
    bool paused;         /* an administrator has drained the daemon: it takes no new jobs, and does not end */
    int64_t held_until;  /* time until which a worker is kept free while jobs wait (CLOCK_MONOTONIC, ms), see
                            hc_queue_held; 0: no worker is */
};

/* Accept a job whose request has been checked: it waits in the queue from now on. False: the job was not
 * accepted, and its task is not in the table any more. Then either its idempotency key stands for the job
 * with the ID `known`, or `known` is empty and `why` says why the job is refused. */
bool hc_dispatch_submit(struct hc_dispatch *d, struct hc_task *task, char known[65], struct hc_problem *why);

/* End a job (not a request to a session). `why`: a sentence for its manifest or problem; NULL: its sender
 * cancels it. */
void hc_dispatch_cancel(struct hc_dispatch *d, struct hc_task *task, const char *why);

/* Does the daemon take new jobs? False: it is about to end, or was drained; `why` says so. */
bool hc_dispatch_takes_jobs(const struct hc_dispatch *d, struct hc_problem *why);

/* Remove an ended job and its files. */
void hc_dispatch_forget(struct hc_dispatch *d, struct hc_task *task);

/* Give waiting jobs to idle workers. */
void hc_dispatch_start_jobs(struct hc_dispatch *d);

/* Add a worker that the manager has started. The dispatcher then owns the channel. */
int hc_dispatch_add_worker(struct hc_dispatch *d, int channel, pid_t pid, struct hc_error *err);

/* ---- results.c ---- */

/* Tell a worker to remove the results of a job, now or soon. -1: there is no room to note it, and the caller
 * has to try again. */
int hc_dispatch_remove_results(struct hc_dispatch *d, const char *job_id);

/* Tell a worker of the removals (`removals`) of which no worker could be told before. */
void hc_dispatch_remove_waiting(struct hc_dispatch *d);

/* Forget the policies that requests have named: they are read again. (maxima.c) */
void hc_dispatch_forget_policies(struct hc_dispatch *d);

#endif
