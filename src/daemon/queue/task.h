/* task.h - a job as the front knows it, from its acceptance until it has ended and is in the ledger, or for
 * as long as somebody is being told of it. */
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

/* Somebody who is told when something new is known of a task. */
struct hc_waiter {
    void (*wake)(struct hc_waiter *w);
    struct hc_waiter *next, *previous;
    struct hc_task *task; /* NULL: waits for none */
};

struct hc_task {
    struct hc_queued queued; /* id and tenant too */
    int refs;                /* references to it */
    struct hc_dispatch *dispatch;
    enum hc_task_state state;
    bool detached;                    /* goes on even if nobody waits for it */
    bool promised;                    /* it is in the ledger from its acceptance on */
    bool listed;                      /* it is in the table */
    int64_t allowed_under;            /* hc_dispatch.configuration when it was held against that last */
    bool of_session;                  /* a request to one (sessions.h), whose id it has */
    struct hc_front_session *session; /* the one that it began, if that ends with who waits for it */
    int body_fd;                      /* the request, a sealed memfd, until it has run */
    size_t body_len;
    char body_sha256[HC_SHA256_HEX];
    char *key;                   /* idempotency key; NULL: none */
    char policy[HC_TENANT_NAME]; /* that it asks for; "": not known any more */
    char status[HC_TASK_STATUS]; /* once it has ended: of its manifest, or HC_STATUS_NAME_...; "" before */
    char reason[HC_TASK_REASON]; /* why the job ended so, one sentence; "": it ended well */
    struct hc_watch output[2];
    bool has_tools; /* its client answers calls of tools */
    struct hc_tool_link tools;
    int cancel_fd; /* our end of a pair, the worker has the other: closing it ends the job */
    struct hc_events events;
    struct hc_figures figures; /* that the program has made so far; none when it has ended */
    char *manifest;            /* HC_TASK_DONE, and perhaps HC_TASK_FAILED */
    size_t manifest_len;
    struct hc_outcome outcome;
    struct hc_problem problem;           /* HC_TASK_FAILED */
    int64_t accepted, started, finished; /* ms since 1970; 0: not yet */
    int64_t started_mono;
    struct hc_waiter *waiters;     /* who is told of its news */
    struct hc_task *next;          /* in its bucket of the table */
    struct hc_task *newer, *older; /* in the table, by age */
};

#define HC_TASK_BUCKETS 1024

struct hc_tasks {
    struct hc_task *buckets[HC_TASK_BUCKETS];
    struct hc_task *newest, *oldest;
    size_t count;
};

/* In the table, with one reference, which is the table's; without a table the reference is the caller's. `id`
 * NULL: a fresh one. NULL without memory. */
struct hc_task *hc_task_create(struct hc_tasks *t, struct hc_dispatch *dispatch, struct hc_tenant *tenant,
                               const char *id);

/* The task of this id, if it is this tenant's. NULL: there is none. */
struct hc_task *hc_task_find(struct hc_tasks *t, const struct hc_tenant *tenant, const char *id);
struct hc_task *hc_task_find_any(struct hc_tasks *t, const char *id); /* whosever it is */
struct hc_task *hc_task_find_key(struct hc_tasks *t, const struct hc_tenant *tenant, const char *key);

void hc_task_ref(struct hc_task *task);
void hc_task_unref(struct hc_task *task);                    /* NULL is fine */
void hc_task_drop(struct hc_tasks *t, struct hc_task *task); /* out of the table */

static inline bool hc_task_ended(const struct hc_task *task)
{
    return task->state == HC_TASK_DONE || task->state == HC_TASK_FAILED;
}

void hc_task_wait(struct hc_task *task, struct hc_waiter *w);
void hc_task_unwait(struct hc_waiter *w);
void hc_task_wake(struct hc_task *task);

/* Text that may be cut, in the middle of a character too: what is whole of it. */
void hc_task_set_reason(struct hc_task *task, const char *text);

/* Among its events: that its tenant is held, or not any more. */
void hc_task_tell_hold(struct hc_task *task);

/* As a member of an object, after others; 0 is null. */
void hc_task_print_time(struct hc_buf *out, const char *name, int64_t ms);

/* A fresh id. */
int hc_task_make_id(char id[HC_JOB_ID]);

/* {"job_id", "state", "accepted", ..., "manifest" or "problem"} Without what ends the object: the caller may
 * add members. */
void hc_task_print_open(const struct hc_task *task, bool with_result, struct hc_buf *out);
/* The whole of it, and a line end. */
void hc_task_print(const struct hc_task *task, bool with_result, struct hc_buf *out);

#endif
