#include "daemon/queue/queue.h"

#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_GUESS 100.0 /* cost of a job in ms, before any job has ended */
#define NEWEST_PART 0.2   /* weight of the last job in the mean of a tenant's costs */
#define HOLD_COSTS  2     /* costs of the tenant's jobs during which a worker is kept free for its next job */
#define HOLD_MOST   500   /* most ms for which a worker is kept free */
#define RETRY_LEAST 1000  /* least ms that a refused client is told to wait */
#define RETRY_MOST  (INT64_C(3600) * 1000) /* most ms that it is told */

struct hc_queue {
    int64_t workers, most;    /* jobs that run at the same time; most jobs that wait */
    int64_t waiting, running; /* numbers of jobs that wait, and that run */
    double now;    /* virtual time (ms of cost per weight): the largest start tag that was served */
    double latest; /* the largest tag that any tenant has reached */
    double cost;   /* mean cost of all jobs in ms, for tenants that have had none */
    struct hc_tenant *tenants; /* tenants with waiting jobs, in no order */
    /* The tenant whose last job has just ended, and until when it is expected to send another; NULL: none. */
    struct hc_tenant *expected;
    int64_t expected_until; /* end of this time, in ms of the caller's clock */
    bool held;              /* a worker is kept free for `expected` */
    bool shared;            /* there is more than one tenant */
};

int hc_queue_create(struct hc_queue **out, int64_t workers, int64_t most, struct hc_error *err)
{
    struct hc_queue *q = calloc(1, sizeof *q);
    if (!q)
        return hc_fail(err, ENOMEM, "queue");
    q->cost = FIRST_GUESS;
    hc_queue_resize(q, workers, most);
    *out = q;
    return 0;
}

void hc_queue_resize(struct hc_queue *q, int64_t workers, int64_t most)
{
    q->workers = workers;
    q->most = most;
}

void hc_queue_share(struct hc_queue *q, bool shared)
{
    q->shared = shared;
}

int64_t hc_queue_most_running(const struct hc_queue *q, const struct hc_tenant *t)
{
    if (t->quota.running > 0)
        return t->quota.running < q->workers ? t->quota.running : q->workers;
    return q->shared && q->workers > 1 ? q->workers - 1 : q->workers;
}

void hc_queue_destroy(struct hc_queue *q)
{
    free(q);
}

static double cost_of(const struct hc_queue *q, const struct hc_tenant *t)
{
    return t->cost > 0 ? t->cost : q->cost;
}

static void raise_tag(struct hc_queue *q, struct hc_tenant *t, double tag)
{
    t->start = tag;
    q->latest = fmax(q->latest, tag);
}

static bool set_refusal(struct hc_refusal *why, const char *quota, double retry_ms, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static bool set_refusal(struct hc_refusal *why, const char *quota, double retry_ms, const char *fmt, ...)
{
    why->quota = quota;
    why->never = retry_ms < 0;
    why->retry_ms = why->never ? -1 : (int64_t)fmin(fmax(retry_ms, RETRY_LEAST), RETRY_MOST);
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(why->text, sizeof why->text, fmt, ap);
    va_end(ap);
    return false;
}

/* The ms until the tenant's next job leaves the queue: the cost of one of its jobs, divided by its share of
 * the workers.
 */
static double turn_of(const struct hc_queue *q, const struct hc_tenant *t)
{
    double weights = t->waiting ? 0 : (double)t->quota.weight;
    for (const struct hc_tenant *w = q->tenants; w; w = w->next_waiting)
        weights += (double)w->quota.weight;
    double share = (double)q->workers * (double)t->quota.weight / weights;
    share = fmin(share, (double)hc_queue_most_running(q, t));
    return cost_of(q, t) / fmax(share, 0.01);
}

static bool may_wait(struct hc_queue *q, const struct hc_queued *job, int64_t now, struct hc_refusal *why)
{
    struct hc_tenant *t = job->tenant;
    char wanted[32], most[32];
    if (t->removed)
        return set_refusal(why, "tenants", -1, "the tenant is no longer in the configuration");
    if (t->quota.memory > 0 && job->memory > t->quota.memory)
        return set_refusal(
            why, "memory", -1,
            "limits.memory is %s, and all of the tenant's jobs together may have %s (quota memory)",
            hc_format_size(job->memory, wanted, sizeof wanted),
            hc_format_size(t->quota.memory, most, sizeof most));
    if (t->queued >= t->quota.queued)
        return set_refusal(why, "queued", t->quota.queued ? turn_of(q, t) : -1,
                           "%lld of the tenant's jobs wait, and no more than %lld may (quota queued)",
                           (long long)t->queued, (long long)t->quota.queued);
    if (q->waiting >= q->most)
        return set_refusal(why, "queue", q->cost / (double)q->workers,
                           "%lld jobs wait, and this daemon keeps no more (queue)", (long long)q->waiting);
    return hc_tenant_has_budget(t, now, why);
}

/* A tenant that comes back begins at the queue's virtual time: it has lost no turns while it was away, and
 * saved none. */
static void begin_waiting(struct hc_queue *q, struct hc_tenant *t)
{
    if (q->waiting == 0 && q->running == 0)
        q->now = fmax(q->now, q->latest); /* no tenant waited, so no tenant is behind another */
    raise_tag(q, t, fmax(t->start, q->now));
    t->waiting = true;
    t->next_waiting = q->tenants;
    q->tenants = t;
}

static void end_waiting(struct hc_queue *q, struct hc_tenant *t)
{
    struct hc_tenant **at = &q->tenants;
    while (*at != t)
        at = &(*at)->next_waiting;
    *at = t->next_waiting;
    t->next_waiting = NULL;
    t->waiting = false;
}

void hc_queue_restore(struct hc_queue *q, struct hc_queued *job, int64_t now)
{
    struct hc_tenant *t = job->tenant;
    if (!t->waiting)
        begin_waiting(q, t);
    job->at = HC_WAITING;
    job->pushed = now;
    job->next = NULL;
    job->previous = t->last;
    if (t->last)
        t->last->next = job;
    else
        t->first = job;
    t->last = job;
    t->queued++;
    q->waiting++;
}

bool hc_queue_push(struct hc_queue *q, struct hc_queued *job, int64_t now, struct hc_refusal *why)
{
    if (!may_wait(q, job, now, why))
        return false;
    hc_queue_restore(q, job, now);
    return true;
}

static void unlink_job(struct hc_queue *q, struct hc_queued *job)
{
    struct hc_tenant *t = job->tenant;
    *(job->previous ? &job->previous->next : &t->first) = job->next;
    *(job->next ? &job->next->previous : &t->last) = job->previous;
    job->next = job->previous = NULL;
    t->queued--;
    q->waiting--;
    if (!t->first)
        end_waiting(q, t);
}

/* Do the tenant's quotas, except that of usage over time, allow its first waiting job to run? If none of its
 * jobs runs, they do: a reload may have made a quota smaller than the job. */
static bool has_room(const struct hc_queue *q, const struct hc_tenant *t)
{
    if (hc_is_held(&t->hold) || t->running >= hc_queue_most_running(q, t))
        return false;
    return t->quota.memory <= 0 || t->running_memory == 0 ||
           t->running_memory + t->first->memory <= t->quota.memory;
}

static bool goes_before(const struct hc_tenant *a, const struct hc_tenant *b)
{
    if (a->start < b->start || b->start < a->start)
        return a->start < b->start;
    return a->first->pushed < b->first->pushed;
}

/* The waiting tenant whose turn it is. A tenant that its own quotas hold back saves no turns meanwhile. */
static struct hc_tenant *choose_tenant(struct hc_queue *q, int64_t now)
{
    struct hc_tenant *best = NULL;
    struct hc_refusal ignored;
    for (struct hc_tenant *t = q->tenants; t; t = t->next_waiting) {
        if (!has_room(q, t) || !hc_tenant_has_time(t, now, &ignored))
            raise_tag(q, t, fmax(t->start, q->now));
        else if (!best || goes_before(t, best))
            best = t;
    }
    return best;
}

/* Is the last free worker kept for the expected tenant? A tenant that sends one job after the other has no
 * job in the queue at the moment when a worker becomes free, and would find all workers busy with the jobs of
 * a tenant that sends many. So the last worker is kept for a moment if it would be the tenant's turn now, or
 * after one more job. */
static bool is_held(const struct hc_queue *q, const struct hc_tenant *best, int64_t now)
{
    const struct hc_tenant *t = q->expected;
    return t && t != best && best->running && q->running == q->workers - 1 && now < q->expected_until &&
           !t->waiting && !t->running &&
           fmax(t->start, q->now) <= best->start + t->cost / (double)t->quota.weight;
}

struct hc_queued *hc_queue_pop(struct hc_queue *q, int64_t now)
{
    struct hc_tenant *best = q->running < q->workers ? choose_tenant(q, now) : NULL;
    q->held = best && is_held(q, best, now);
    if (!best || q->held)
        return NULL;
    struct hc_queued *job = best->first;
    q->now = fmax(q->now, best->start);
    job->guessed = cost_of(q, best);
    raise_tag(q, best, best->start + job->guessed / (double)best->quota.weight);
    unlink_job(q, job);
    job->at = HC_RUNNING;
    best->running++;
    best->running_memory += job->memory;
    q->running++;
    return job;
}

void hc_queue_put_back(struct hc_queue *q, struct hc_queued *job)
{
    struct hc_tenant *t = job->tenant;
    t->running--;
    t->running_memory -= job->memory;
    q->running--;
    t->start -= job->guessed / (double)t->quota.weight;
    if (!t->waiting) {
        t->waiting = true;
        t->next_waiting = q->tenants;
        q->tenants = t;
    }
    job->at = HC_WAITING;
    job->previous = NULL;
    job->next = t->first;
    *(t->first ? &t->first->previous : &t->last) = job;
    t->first = job;
    t->queued++;
    q->waiting++;
}

int64_t hc_queue_held(const struct hc_queue *q, int64_t now)
{
    return q->held ? (int64_t)fmax((double)(q->expected_until - now), 0) : -1;
}

/* The tenant's last job has ended: expect another one from it. */
static void expect_tenant(struct hc_queue *q, struct hc_tenant *t, int64_t now)
{
    if (t->waiting || t->running || t->removed)
        return;
    q->expected = t;
    q->expected_until = now + 1 + (int64_t)fmin(HOLD_COSTS * t->cost, HOLD_MOST);
}

void hc_queue_done(struct hc_queue *q, struct hc_queued *job, int64_t took, const struct hc_usage *used,
                   int64_t now)
{
    struct hc_tenant *t = job->tenant;
    double cost = fmax((double)took, 0);
    t->running--;
    t->running_memory -= job->memory;
    q->running--;
    job->at = HC_NOT_QUEUED;
    raise_tag(q, t, t->start + (cost - job->guessed) / (double)t->quota.weight);
    /* A cost of 0 stands for a tenant that has had no jobs, so very short jobs cost at least 0.1 ms. */
    cost = fmax(cost, 0.1);
    t->cost = t->cost > 0 ? t->cost + NEWEST_PART * (cost - t->cost) : cost;
    q->cost += NEWEST_PART * (cost - q->cost);
    expect_tenant(q, t, now);
    if (used)
        hc_tenant_charge(t, used, now);
}

void hc_queue_cancel(struct hc_queue *q, struct hc_queued *job)
{
    if (job->at != HC_WAITING)
        return;
    unlink_job(q, job);
    job->at = HC_NOT_QUEUED;
}

int64_t hc_queue_waiting(const struct hc_queue *q)
{
    return q->waiting;
}

int64_t hc_queue_running(const struct hc_queue *q)
{
    return q->running;
}

int64_t hc_queue_position(const struct hc_queued *job)
{
    int64_t ahead = 0;
    for (const struct hc_queued *j = job->previous; j; j = j->previous)
        ahead++;
    return ahead;
}
