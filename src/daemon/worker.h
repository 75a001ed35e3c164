/* worker.h - a process that builds cells: one job at a time, as the front says through its channel. */
#ifndef HC_DAEMON_WORKER_H
#define HC_DAEMON_WORKER_H

#include "base/error.h"

#include <stddef.h>

/* Directories below the state directory, which is the worker's current one. */
#define HC_RESULTS_DIR "jobs"   /* JOB_ID/: what jobs have left */
#define HC_STAGE_DIR   "inputs" /* WORKER/JOB_ID/: what running jobs read */

struct hc_warm_rules;
struct hc_trees;

/* Serve until the other side goes, with warm interpreters as these rules say. Of all workers that live no
 * other has the same `number`: what the last one of it had in HC_STAGE_DIR is removed. `key`: the file with
 * the key for manifests; "": they are not signed. `trees`, which is lent, says in which ones nothing is run.
 * Never returns. */
_Noreturn void hc_worker_main(int channel, size_t number, const struct hc_warm_rules *rules, const char *key,
                              const struct hc_trees *trees);

#endif
