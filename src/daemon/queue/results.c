/* Removing results. The front has no rights to their files, so it tells a worker; removals of which no worker
 * could be told are kept in memory. If the front dies with them, the next front finds these results
 * (store.c). */
#include "daemon/queue/dispatch.h"

#include "base/log.h"

#include <stdio.h>
#include <string.h>

static bool tell_worker(const struct hc_dispatch_worker *w, const char *job_id)
{
    struct hc_error err;
    struct hc_message m = {.kind = HC_SAY_FORGET};
    (void)snprintf(m.job_id, sizeof m.job_id, "%s", job_id);
    return w->channel.fd >= 0 && hc_channel_send(w->channel.fd, &m, NULL, 0, &err) == 0;
}

/* Tells a worker that is idle, or else any worker that accepts the message: some may have died a moment ago.
 */
static bool tell_one_worker(struct hc_dispatch *d, const char *job_id)
{
    for (size_t i = 0; i < d->worker_count; i++)
        if (!d->workers[i].task && !d->workers[i].resting && tell_worker(&d->workers[i], job_id))
            return true;
    for (size_t i = 0; i < d->worker_count; i++)
        if ((d->workers[i].task || d->workers[i].resting) && tell_worker(&d->workers[i], job_id))
            return true;
    return false;
}

int hc_dispatch_remove_results(struct hc_dispatch *d, const char *job_id)
{
    if (d->removal_count == 0 && tell_one_worker(d, job_id))
        return 0;
    if (d->removal_count == HC_DISPATCH_REMOVALS) {
        hc_warn("job %s: its results stay for now: no worker could be told", job_id);
        return -1;
    }
    (void)snprintf(d->removals[d->removal_count++], HC_JOB_ID, "%s", job_id);
    return 0;
}

void hc_dispatch_remove_waiting(struct hc_dispatch *d)
{
    while (d->removal_count && tell_one_worker(d, d->removals[d->removal_count - 1]))
        d->removal_count--;
}
