/* volumes.h - removal of tenants' volumes (cell/volume.h). The front may not write there, so it has a worker
 * do it, and waits for its answer. */
#ifndef HC_DAEMON_QUEUE_VOLUMES_H
#define HC_DAEMON_QUEUE_VOLUMES_H

#include "daemon/queue/dispatch.h"

/* Have the tenant's volume of this name removed by a worker. Returns a task, a reference that the caller
 * gives back; it ends when the volume is removed or a worker has refused. NULL: the removal is refused; `why`
 * says why. */
struct hc_task *hc_volume_remove_later(struct hc_dispatch *d, struct hc_tenant *t, const char *name,
                                       struct hc_problem *why);

/* To be called when the worker that removes a volume has answered, or, with `answer` NULL, has died: ends the
 * task. */
void hc_volume_removal_ended(struct hc_dispatch_worker *w, const struct hc_message *answer);

#endif
