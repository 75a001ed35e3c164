#include "daemon/queue/volumes.h"

#include <errno.h>
#include <stdio.h>

#define BUSY_RETRY 1 /* seconds after which a client may try again while no worker is free */

static bool tell_worker(struct hc_dispatch_worker *w, struct hc_task *task, const char *name)
{
    static struct hc_message m;
    struct hc_error err;
    m = (struct hc_message){.kind = HC_SAY_REMOVE_VOLUME};
    (void)snprintf(m.job_id, sizeof m.job_id, "%s", task->queued.id);
    (void)snprintf(m.tenant, sizeof m.tenant, "%s", task->queued.tenant->name);
    (void)snprintf(m.volume, sizeof m.volume, "%s", name);
    if (hc_channel_send(w->channel.fd, &m, NULL, 0, &err) < 0)
        return false;
    w->removal = task;
    return true;
}

/* Whether the tenant has a volume removed already: one at a time, as a worker with a removal gets no job. */
static bool is_removing(const struct hc_dispatch *d, const struct hc_tenant *t)
{
    for (size_t i = 0; i < d->worker_count; i++)
        if (d->workers[i].removal && d->workers[i].removal->queued.tenant == t)
            return true;
    return false;
}

/* A worker without a job, as one with a job would answer only at that job's end; one that does not rest, if
 * there is one. NULL: none, or it is the last that could take a job, and others do removals. */
static struct hc_dispatch_worker *free_worker(struct hc_dispatch *d)
{
    struct hc_dispatch_worker *found = NULL;
    size_t idle = 0, removing = 0;
    for (size_t i = 0; i < d->worker_count; i++) {
        struct hc_dispatch_worker *w = &d->workers[i];
        removing += w->removal != NULL;
        if (w->channel.fd < 0 || w->task || w->removal)
            continue;
        idle++;
        if (!found || (found->resting && !w->resting))
            found = w;
    }
    return idle == 1 && removing ? NULL : found;
}

struct hc_task *hc_volume_remove_later(struct hc_dispatch *d, struct hc_tenant *t, const char *name,
                                       struct hc_problem *why)
{
    if (is_removing(d, t)) {
        hc_problem_set(why, HC_PROBLEM_BUSY, "another of the tenant's volumes is being removed");
        why->retry_after = BUSY_RETRY;
        return NULL;
    }
    struct hc_dispatch_worker *w = free_worker(d);
    struct hc_task *task = hc_task_create(NULL, d, t, NULL);
    if (!task) {
        hc_problem_set(why, HC_PROBLEM_INTERNAL, "out of memory");
        return NULL;
    }
    task->of_session = true; /* no job: it is in no table, and nobody cancels it */
    task->detached = true;
    task->state = HC_TASK_RUNNING;
    if (!w || !tell_worker(w, task, name)) {
        hc_task_unref(task);
        hc_problem_set(why, HC_PROBLEM_BUSY, "no worker is free to remove a volume");
        why->retry_after = BUSY_RETRY;
        return NULL;
    }
    hc_task_ref(task); /* one reference is the worker's */
    return task;
}

void hc_volume_removal_ended(struct hc_dispatch_worker *w, const struct hc_message *answer)
{
    struct hc_task *task = w->removal;
    w->removal = NULL;
    if (!task)
        return;
    task->state = answer && !answer->error.text[0] ? HC_TASK_DONE : HC_TASK_FAILED;
    if (!answer)
        hc_problem_set(&task->problem, HC_PROBLEM_LOST, "the worker that removed the volume has died");
    else if (answer->error.sys == ENOENT)
        hc_problem_set(&task->problem, HC_PROBLEM_NOT_FOUND, "%s", answer->error.text);
    else
        hc_problem_set(&task->problem, hc_problem_of_error(&answer->error), "%s", answer->error.text);
    hc_task_wake(task);
    hc_task_unref(task);
}
