/* volumes.h - removal of tenants' volumes (cell/volume.h). The front may not write there, so it has a worker
 * do it, and waits for its answer. */
#ifndef HC_DAEMON_QUEUE_VOLUMES_H
#define HC_DAEMON_QUEUE_VOLUMES_H

#include "daemon/queue/dispatch.h"

/* Have the volume removed: the task, a reference, ends when that is done or was refused. NULL: `why`. */
struct hc_task *hc_volume_remove_later(struct hc_dispatch *d, struct hc_tenant *t, const char *name,
                                       struct hc_problem *why);

/* A worker has answered; or has died, with `answer` NULL. */
void hc_volume_removal_ended(struct hc_dispatch_worker *w, const struct hc_message *answer);

#endif
