/* task.h - a job as the front knows it: from its acceptance until it has ended, is in the ledger, and no
 * client is reading its answer or its events. */
#ifndef HC_DAEMON_QUEUE_TASK_H
#define HC_DAEMON_QUEUE_TASK_H

#include "base/hash.h"
#include "daemon/process/channel.h"
#include "daemon/process/problem.h"
#include "daemon/process/reactor.h"
#include "daemon/process/states.h"
#include "daemon/queue/figures.h"
#include "daemon/queue/queue.h"
#include "daemon/queue/tool_link.h"
#include "wire/events.h"

#define HC_TASK_STATUS 24
#define HC_TASK_REASON 256

struct hc_dispatch;
struct hc_front_session;

/* A part of the program that is woken when a task has news. */
struct hc_waiter {
    void (*wake)(struct hc_waiter *w);
    struct hc_waiter *next, *previous;
    struct hc_task *task; /* NULL: it waits for no task */
};

struct hc_task {
    struct hc_queued queued; /* has the task's id and tenant, too */
    int refs;                /* references to it */
    struct hc_dispatch *dispatch;
    enum hc_task_state state;
    bool detached;         /* it goes on even if no client waits for it */
    bool promised;         /* it is in the ledger from its acceptance on */
    bool listed;           /* it is in the table */
    int64_t allowed_under; /* hc_dispatch.configuration at the last check of its limits */
    bool of_session;       /* it is a request to a session (sessions.h), and has the session's id */
    struct hc_front_session *session; /* the session that it began, which ends if no client waits any more */
    int body_fd;                      /* the request, a sealed memfd, until the job has run */
    size_t body_len;
    char body_sha256[HC_SHA256_HEX];
    char *key;                   /* idempotency key; NULL: none */
    char policy[HC_TENANT_NAME]; /* the policy that it asks for; "": not known any more */
    char status[HC_TASK_STATUS]; /* after its end: of its manifest, or HC_STATUS_NAME_...; "" before */
    char reason[HC_TASK_REASON]; /* why the job ended so, one sentence; "": it ended well */
    struct hc_watch output[2];
    bool has_tools; /* its client answers calls of tools */
    struct hc_tool_link tools;
    int cancel_fd; /* one end of a socket pair, of which the worker has the other: closing it ends the job */
    struct hc_events events;
    struct hc_figures figures; /* figures that the program has made so far; none once the job has ended */
    char *manifest;            /* HC_TASK_DONE, and perhaps HC_TASK_FAILED */
    size_t manifest_len;
    struct hc_outcome outcome;
    struct hc_problem problem;           /* HC_TASK_FAILED */
    int64_t accepted, started, finished; /* ms since 1970; 0: not yet */
    int64_t started_mono;
    struct hc_waiter *waiters;     /* are woken when it has news */
    struct hc_task *next;          /* in its bucket of the table */
    struct hc_task *newer, *older; /* in the table, by age */
};

#define HC_TASK_BUCKETS 1024

struct hc_tasks {
    struct hc_task *buckets[HC_TASK_BUCKETS];
    struct hc_task *newest, *oldest;
    size_t count;
};

/* Make a task in the table `t`, with one reference, which is the table's; without a table (NULL) the
 * reference is the caller's. `id` NULL: a fresh id. NULL: out of memory. */
struct hc_task *hc_task_create(struct hc_tasks *t, struct hc_dispatch *dispatch, struct hc_tenant *tenant,
                               const char *id);

/* The task of this id, if it is this tenant's. NULL: there is none. */
struct hc_task *hc_task_find(struct hc_tasks *t, const struct hc_tenant *tenant, const char *id);
struct hc_task *hc_task_find_any(struct hc_tasks *t, const char *id); /* of any tenant */
struct hc_task *hc_task_find_key(struct hc_tasks *t, const struct hc_tenant *tenant, const char *key);

void hc_task_ref(struct hc_task *task);
void hc_task_unref(struct hc_task *task);                    /* NULL is fine */
void hc_task_drop(struct hc_tasks *t, struct hc_task *task); /* removes it from the table */

static inline bool hc_task_ended(const struct hc_task *task)
{
    return task->state == HC_TASK_DONE || task->state == HC_TASK_FAILED;
}

void hc_task_wait(struct hc_task *task, struct hc_waiter *w);
void hc_task_unwait(struct hc_waiter *w);
void hc_task_wake(struct hc_task *task);

/* Set the reason to `text`, whose end may be half a character, which is left out. */
void hc_task_set_reason(struct hc_task *task, const char *text);

/* Add an event that its tenant is held, or not held any more. */
void hc_task_tell_hold(struct hc_task *task);

/* Append a time as a further member of an object; 0 becomes null. */
void hc_task_print_time(struct hc_buf *out, const char *name, int64_t ms);

/* A fresh id. */
int hc_task_make_id(char id[HC_JOB_ID]);

/* Append {"job_id", "state", "accepted", ..., "manifest" or "problem", without the closing brace: the caller
 * may add members. */
void hc_task_print_open(const struct hc_task *task, bool with_result, struct hc_buf *out);
/* The same with the closing brace and a line break. */
void hc_task_print(const struct hc_task *task, bool with_result, struct hc_buf *out);

#endif
