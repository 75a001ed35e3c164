/* states.h - the states of a job as clients see them: over HTTP, in "hotcell jobs" and in lists. */
#ifndef HC_DAEMON_PROCESS_STATES_H
#define HC_DAEMON_PROCESS_STATES_H

#include <stdbool.h>

/* The job waits; runs; has ended with a manifest; has ended without a result, with a problem. */
enum hc_task_state { HC_TASK_QUEUED, HC_TASK_RUNNING, HC_TASK_DONE, HC_TASK_FAILED };

#define HC_TASK_STATE_NAMES "queued, running, done or failed" /* names of all states, for messages */

const char *hc_task_state_name(enum hc_task_state s); /* "queued", ... */
int hc_task_state_from(const char *name);             /* enum hc_task_state of this name; -1: there is none */

/* The status of a job that ended without a result of its own, beside those of manifests. */
#define HC_STATUS_NAME_FAILED    "failed"    /* the cell could not be built, or its results not be kept */
#define HC_STATUS_NAME_CANCELLED "cancelled" /* the job was cancelled before it ran */
#define HC_STATUS_NAME_UNKNOWN   "unknown"   /* the process that ran the job died with it */

/* Is this the name of a status: one of a manifest's, or one of these three? */
bool hc_task_is_status(const char *name);

#define HC_TASK_STATUS_LIST 160 /* bytes of hc_task_status_list, with its NUL */

/* Print the names of all statuses into `out`, which is returned: "ok, error, ... or unknown", for a message
 * about a name that is none of these. */
const char *hc_task_status_list(char out[HC_TASK_STATUS_LIST]);

#endif
