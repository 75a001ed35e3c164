/* queue.h - the order in which jobs run: a weighted fair queue over tenants.
 *
 * Start-time fair queueing (Goyal, Vin, Cheng: "Start-Time Fair Queueing", SIGCOMM 1996). The waiting tenant
 * with the smallest start tag is served; serving it moves its tag on by cost / weight. A job's cost, the
 * worker's time that it takes, is known only at its end, so it is guessed from the tenant's earlier jobs and
 * corrected when the job ends. Within a tenant jobs run in the order in which they came.
 *
 * The queue reads no clock (see tenant.h) and owns no job: struct hc_queued is a part of the caller's struct.
 */
#ifndef HC_DAEMON_QUEUE_QUEUE_H
#define HC_DAEMON_QUEUE_QUEUE_H

#include "daemon/tenants/tenant.h"

#define HC_JOB_ID 65 /* bytes of a job's ID, with its NUL */

/* A job in the queue. */
struct hc_queued {
    /* The caller fills in these three before hc_queue_push. */
    char id[HC_JOB_ID];       /* the job's ID */
    struct hc_tenant *tenant; /* tenant of the job; borrowed */
    int64_t memory;           /* the job's limits.memory in bytes */

    /* These members are the queue's. */
    struct hc_queued *next, *previous; /* neighbours in the list of the tenant's waiting jobs */
    int64_t pushed;                    /* time of hc_queue_push, in the caller's ms; the caller may read it */
    double guessed;                    /* the job's cost in ms of a worker, as guessed when it began */
    /* The queue does not have the job; it waits; it was popped, and has not ended. */
    enum { HC_NOT_QUEUED, HC_WAITING, HC_RUNNING } at;
};

struct hc_queue; /* opaque */

/* Make an empty queue. `workers`: most jobs that run at the same time; `most`: most jobs that wait, of all
 * tenants together. */
int hc_queue_create(struct hc_queue **out, int64_t workers, int64_t most, struct hc_error *err);
void hc_queue_resize(struct hc_queue *q, int64_t workers, int64_t most); /* after a reload */

/* Tell the queue whether there is more than one tenant (hc_tenants_are_many). If so, a tenant without a quota
 * of running jobs cannot have all workers: however long its jobs run, another tenant's job finds a worker. */
void hc_queue_share(struct hc_queue *q, bool shared);

/* The number of the tenant's jobs that may run at the same time. */
int64_t hc_queue_most_running(const struct hc_queue *q, const struct hc_tenant *t);

void hc_queue_destroy(struct hc_queue *q); /* NULL is fine; jobs in it are the caller's */

/* Add a job. False: a quota refuses it (`why`). */
bool hc_queue_push(struct hc_queue *q, struct hc_queued *job, int64_t now, struct hc_refusal *why);

/* Add a job that was accepted before a restart; no quota refuses it. */
void hc_queue_restore(struct hc_queue *q, struct hc_queued *job, int64_t now);

/* The next job that may run now, which from then on counts as running; NULL if there is none (then ask again
 * after the next push or hc_queue_done, at the time of hc_queue_held, and now and then, as budgets come back
 * with time). */
struct hc_queued *hc_queue_pop(struct hc_queue *q, int64_t now);

/* If hc_queue_pop returned NULL only because a worker is kept free for a tenant whose last job has just
 * ended: the milliseconds after which it will return a job, whether that tenant sends another or not; else
 * -1. */
int64_t hc_queue_held(const struct hc_queue *q, int64_t now);

/* A job that was popped could not be begun after all: it waits again, as its tenant's first. */
void hc_queue_put_back(struct hc_queue *q, struct hc_queued *job);

/* A job that was popped has ended: `took` milliseconds of a worker. Charges the tenant. */
void hc_queue_done(struct hc_queue *q, struct hc_queued *job, int64_t took, const struct hc_usage *used,
                   int64_t now);

/* Take a waiting job out of the queue. */
void hc_queue_cancel(struct hc_queue *q, struct hc_queued *job);

int64_t hc_queue_waiting(const struct hc_queue *q); /* number of jobs that wait */
int64_t hc_queue_running(const struct hc_queue *q); /* number of jobs that run */
/* The number of jobs of the same tenant ahead of the job. */
int64_t hc_queue_position(const struct hc_queued *job);

#endif
