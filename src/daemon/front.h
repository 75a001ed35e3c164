/* front.h - the process that clients talk to: HTTP, tenants, queue. It has no rights over cells, and parses
 * what comes from outside; workers build cells, and see no HTTP. One thread, one epoll loop. */
#ifndef HC_DAEMON_FRONT_H
#define HC_DAEMON_FRONT_H

#include "daemon/http/http.h"
#include "daemon/http/metrics.h"
#include "daemon/queue/store.h"
#include "daemon/queue/task.h"
#include "daemon/sessions/sessions.h"
#include "daemon/tenants/request_memory.h"
#include "daemon/trees.h"

#define HC_FRONT_POLICIES 32
#define HC_FRONT_REMOVALS 256
#define HC_MAX_WORKERS    1024

/* What a worker looks like from here. */
struct hc_front_worker {
    struct hc_watch channel; /* fd -1: there is none at the moment */
    struct hc_front *front;
    pid_t pid;
    struct hc_task *task; /* NULL: idle */
    bool resting;         /* and yet busy with preparations: others are preferred */
    struct hc_warm_counts warm;
};

/* A policy, as far as requests are held against it. */
struct hc_front_policy {
    char name[HC_TENANT_NAME];
    struct hc_policy policy; /* its values alone: finished, and owns nothing */
};

struct hc_front {
    int epoll;
    const char *config_path;
    struct hc_config config;
    int64_t configuration; /* its number: 1, and one more with each reload */
    struct hc_tenants *tenants;
    struct hc_queue *queue;
    int64_t most_waiting; /* jobs for which there are descriptors */
    struct hc_tasks tasks;
    struct hc_request_memory bodies;
    struct hc_front_sessions sessions;
    struct hc_http http;
    struct hc_metrics metrics;
    struct hc_watch manager;
    struct hc_front_worker *workers;
    size_t worker_count;
    struct hc_front_policy policies[HC_FRONT_POLICIES];
    size_t policy_count;
    struct hc_ledger *ledger;
    int64_t next_sweep, restored;
    bool ledger_fails; /* what is noted cannot be written: tried again with each tick only */
    int results_fd;    /* HC_RESULTS_DIR */
    const struct hc_trees *trees;
    char removals[HC_FRONT_REMOVALS][HC_JOB_ID]; /* of whose results no worker could be told yet */
    size_t removal_count;
    uid_t owner;                     /* who started the daemon */
    bool open;                       /* struct hc_listeners */
    int64_t next_alive, alive_every; /* ms; alive_every 0: nobody asks */
    bool draining;
    bool paused; /* drained by an administrator: takes no new jobs, and does not end */
    int64_t drain_until;
    int64_t held_until; /* a worker is kept free, and jobs wait: see hc_queue_held; 0: none is */
};

/* What the manager gives its child. The front owns it all. */
struct hc_front_setup {
    int manager;  /* channel */
    int *workers; /* channels */
    const pid_t *worker_pids;
    size_t worker_count;
    const char *config_path; /* NULL: none was given */
    struct hc_config *config;
    struct hc_listeners *listeners;
    const struct hc_trees *trees; /* lent */
    int64_t alive_every;
};

/* Serve until drained, or until the manager has gone. Never returns. */
_Noreturn void hc_front_main(const struct hc_front_setup *setup);

/* ---- jobs (dispatch.c) ---- */

/* Take a job up whose request has been checked: it waits in the queue from here on. False: the task is not in
 * the table any more; its key stands for the job `known`, or that is empty and `why` says what refuses it. */
bool hc_front_submit(struct hc_front *f, struct hc_task *task, char known[65], struct hc_problem *why);
void hc_front_cancel(struct hc_front *f, struct hc_task *task);

/* The same for another reason than its sender's wish: a sentence, which its manifest or problem gives. */
void hc_front_end(struct hc_front *f, struct hc_task *task, const char *why);

/* False: it is about to end, or was drained; `why` says so. */
bool hc_front_takes_jobs(const struct hc_front *f, struct hc_problem *why);

/* Take an ended job and its files out. */
void hc_front_forget(struct hc_front *f, struct hc_task *task);

/* Have a worker remove what a job has left, now or soon (results.c); -1: later, by whoever asks again. */
int hc_front_remove_results(struct hc_front *f, const char *job_id);
void hc_front_tidy(struct hc_front *f);

/* Give waiting jobs to idle workers. */
void hc_front_dispatch(struct hc_front *f);

int hc_front_add_worker(struct hc_front *f, int channel, pid_t pid, struct hc_error *err);

#endif
