/* dispatch.h - jobs on their way: into the queue, to a worker, and to their end, whichever it is. */
#ifndef HC_DAEMON_QUEUE_DISPATCH_H
#define HC_DAEMON_QUEUE_DISPATCH_H

#include "daemon/config/config.h"
#include "daemon/process/trees.h"
#include "daemon/queue/counters.h"
#include "daemon/queue/store.h"
#include "daemon/queue/task.h"
#include "daemon/tenants/request_memory.h"

#define HC_DISPATCH_POLICIES 32
#define HC_DISPATCH_REMOVALS 256

/* What a worker looks like from the front. */
struct hc_dispatch_worker {
    struct hc_watch channel; /* fd -1: there is none at the moment */
    struct hc_dispatch *dispatch;
    pid_t pid;
    struct hc_task *task; /* that it runs; NULL: it is idle */
    bool resting;         /* idle, but busy with preparations: others are preferred */
    struct hc_warm_counts warm;
};

/* A policy, as far as requests are held against it. */
struct hc_dispatch_policy {
    char name[HC_TENANT_NAME];
    struct hc_policy policy; /* its values alone: finished, and owns nothing */
};

struct hc_dispatch {
    int epoll; /* of the whole front, which lends it */
    struct hc_config config;
    int64_t configuration; /* its number: 1, and one more with each reload */
    struct hc_tenants *tenants;
    struct hc_queue *queue;
    struct hc_tasks tasks; /* the table of those that have not ended, or cannot be written down */
    struct hc_request_memory request_memory;
    struct hc_counters counters;
    struct hc_dispatch_worker *workers;
    size_t worker_count;
    struct hc_dispatch_policy policies[HC_DISPATCH_POLICIES]; /* that requests have asked for so far */
    size_t policy_count;
    struct hc_ledger *ledger;
    int64_t next_sweep; /* CLOCK_MONOTONIC, ms: when results that are too old are removed the next time */
    int64_t restored;   /* jobs that an earlier daemon had accepted */
    bool ledger_fails;  /* its notes cannot be written: tried again with each tick only */
    int results_fd;     /* the directory that has a directory of results for each job */
    const struct hc_trees *trees;                   /* lent */
    char removals[HC_DISPATCH_REMOVALS][HC_JOB_ID]; /* jobs of whose results no worker could be told yet */
    size_t removal_count;
    bool open;           /* struct hc_listeners */
    bool draining;       /* the daemon ends when what runs and waits has ended */
    int64_t drain_until; /* CLOCK_MONOTONIC, ms: it ends then in any case */
    bool paused;         /* drained by an administrator: takes no new jobs, and does not end */
    int64_t held_until;  /* CLOCK_MONOTONIC, ms: until then a worker is kept free while jobs wait, see
                            hc_queue_held; 0: none is */
};

/* Take a job up whose request has been checked: it waits in the queue from here on. False: the task is not in
 * the table any more; its key stands for the job `known`, or that is empty and `why` says what refuses it. */
bool hc_dispatch_submit(struct hc_dispatch *d, struct hc_task *task, char known[65], struct hc_problem *why);

/* End a job (no request to a session). `why`: a sentence, which its manifest or problem gives; NULL: its
 * sender wishes so. */
void hc_dispatch_cancel(struct hc_dispatch *d, struct hc_task *task, const char *why);

/* False: the daemon is about to end, or was drained; `why` says so. */
bool hc_dispatch_takes_jobs(const struct hc_dispatch *d, struct hc_problem *why);

/* Take an ended job and its files out. */
void hc_dispatch_forget(struct hc_dispatch *d, struct hc_task *task);

/* Give waiting jobs to idle workers. */
void hc_dispatch_start_jobs(struct hc_dispatch *d);

/* The manager has started a worker. Takes the channel over. */
int hc_dispatch_add_worker(struct hc_dispatch *d, int channel, pid_t pid, struct hc_error *err);

/* ---- results.c ---- */

/* Have a worker remove what a job has left, now or soon; -1: later, by whoever asks again. */
int hc_dispatch_remove_results(struct hc_dispatch *d, const char *job_id);

/* Tell a worker of those removals that none could be told of yet. */
void hc_dispatch_remove_waiting(struct hc_dispatch *d);

#endif
