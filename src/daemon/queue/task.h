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

#define HC_TASK_STATUS 24  /* bytes of a status, with its NUL */
#define HC_TASK_REASON 256 /* bytes of a reason, with its NUL */

struct hc_dispatch;
struct hc_front_session;

/* A part of the program that is woken when a task has news. */
struct hc_waiter {
    void (*wake)(struct hc_waiter *w); /* is called when the task has news */
    struct hc_waiter *next, *previous; /* neighbours in the task's list of waiters */
    struct hc_task *task;              /* the task that it waits for; borrowed; NULL: it waits for none */
};

struct hc_task {
    struct hc_queued queued;      /* the job in the queue; has the job's ID and tenant, too */
    int refs;                     /* number of references to the task */
    struct hc_dispatch *dispatch; /* borrowed */
    enum hc_task_state state;     /* state of the job */
    bool detached;                /* the job goes on even if no client waits for it */
    bool promised;                /* the ledger has the job from its acceptance on */
    bool listed;                  /* the task is in the table */
    int64_t allowed_under;        /* hc_dispatch.configuration at the last check of its limits */
    bool of_command; /* the task stands for a command of a session, whose events are kept and have IDs */
    bool of_session; /* the task is a request to a session (sessions.h), and has the session's ID */
    struct hc_front_session *session; /* the session that it began, which ends if no client waits; borrowed */
    int body_fd;     /* the request, a sealed memfd, until the job has run; owned; -1: not here */
    size_t body_len; /* bytes of the request */
    char body_sha256[HC_SHA256_HEX]; /* hash of the request, to compare with a later one of the same `key` */
    char *key;                       /* idempotency key; owned; NULL: none */
    char policy[HC_TENANT_NAME]; /* name of the policy that the request asks for; "": not known any more */
    char status[HC_TASK_STATUS]; /* after the end: status of the manifest, or HC_STATUS_NAME_...; "" before */
    char reason[HC_TASK_REASON]; /* why the job ended so, one sentence; "": it ended well */
    struct hc_watch output[2];   /* pipes of the output, by enum hc_event_stream; owned; fd -1: at its end */
    bool has_tools;              /* the job's client answers calls of tools */
    struct hc_tool_link tools;   /* link for calls of tools to the process that runs the job */
    int cancel_fd; /* end of a socket pair, owned: closing it ends the job, whose worker has the other end;
                      -1: none */
    struct hc_events events;   /* events of the job so far */
    struct hc_figures figures; /* figures that the program has made so far; none once the job has ended */
    char *manifest;            /* HC_TASK_DONE, and perhaps HC_TASK_FAILED: JSON; owned; NULL: none */
    size_t manifest_len;       /* bytes of `manifest` */
    struct hc_outcome outcome; /* the job's outcome as its worker sent it with the manifest */
    struct hc_problem problem; /* HC_TASK_FAILED: why the job failed */
    int64_t accepted, started, finished; /* times of day, in ms since 1970; 0: not yet */
    int64_t started_mono;                /* the same time as `started` (CLOCK_MONOTONIC, ms), for durations */
    struct hc_waiter *waiters;           /* parts that are woken when the task has news; borrowed */
    struct hc_task *next;                /* next task in its bucket of the table */
    struct hc_task *newer, *older;       /* neighbours in the table's list by age */
};

#define HC_TASK_BUCKETS 1024 /* lists of the table, by a hash of the ID */

/* A table of tasks, which holds a reference to each. */
struct hc_tasks {
    struct hc_task *buckets[HC_TASK_BUCKETS]; /* lists of tasks with the same hash, by hc_task.next */
    struct hc_task *newest, *oldest;          /* ends of the list by age */
    size_t count;                             /* number of tasks */
};

/* Make a task in the table `t`, with one reference, which is the table's; without a table (NULL) the
 * reference is the caller's. `id` NULL: a fresh id. NULL: out of memory. */
struct hc_task *hc_task_create(struct hc_tasks *t, struct hc_dispatch *dispatch, struct hc_tenant *tenant,
                               const char *id);

/* The task of this id, if it is this tenant's. NULL: there is none. */
struct hc_task *hc_task_find(struct hc_tasks *t, const struct hc_tenant *tenant, const char *id);
struct hc_task *hc_task_find_any(struct hc_tasks *t, const char *id); /* of any tenant */
/* The tenant's task with this idempotency key. NULL: there is none. */
struct hc_task *hc_task_find_key(struct hc_tasks *t, const struct hc_tenant *tenant, const char *key);

void hc_task_ref(struct hc_task *task);                      /* takes one more reference */
void hc_task_unref(struct hc_task *task);                    /* gives a reference back; NULL is fine */
void hc_task_drop(struct hc_tasks *t, struct hc_task *task); /* removes it from the table */

static inline bool hc_task_ended(const struct hc_task *task)
{
    return task->state == HC_TASK_DONE || task->state == HC_TASK_FAILED;
}

/* Have `w` (borrowed) woken when the task has news; have it woken no longer; wake all waiters of the task. */
void hc_task_wait(struct hc_task *task, struct hc_waiter *w);
void hc_task_unwait(struct hc_waiter *w);
void hc_task_wake(struct hc_task *task);

/* Set the reason to a copy of `text`. Half a character at the end of `text` is left out. */
void hc_task_set_reason(struct hc_task *task, const char *text);

/* Add an event that its tenant is held, or not held any more. */
void hc_task_tell_hold(struct hc_task *task);

/* Append ,"NAME": and the time `ms` (ms since 1970) as text, as a further member of a JSON object; 0 becomes
 * null. */
void hc_task_print_time(struct hc_buf *out, const char *name, int64_t ms);

/* Make a fresh ID. 0 or -1. */
int hc_task_make_id(char id[HC_JOB_ID]);

/* Append {"job_id", "state", "accepted", ..., "manifest" or "problem", without the closing brace: the caller
 * may add members. */
void hc_task_print_open(const struct hc_task *task, bool with_result, struct hc_buf *out);
/* Append the whole object, with the closing brace and a line break. */
void hc_task_print(const struct hc_task *task, bool with_result, struct hc_buf *out);

#endif
