/* worker.h - a process that builds cells: one job at a time, as the front says through its channel. */
#ifndef HC_DAEMON_WORKER_H
#define HC_DAEMON_WORKER_H

#include "base/error.h"

#include <stddef.h>

/* Directories below the state directory, which is the worker's current directory. */
#define HC_RESULTS_DIR "jobs"   /* has a directory JOB_ID with the results of each job */
#define HC_STAGE_DIR   "inputs" /* has a directory WORKER_NUMBER/JOB_ID with the inputs of each running job */

struct hc_warm_rules;
struct hc_trees;

/* Serve until the other end of `channel` is closed, with warm cells by these rules. No other living worker
 * has the same `number`: what the last worker of this number left in HC_STAGE_DIR is removed. `key`: path of
 * the file with the key for manifests; "": they are not signed. No job is run in a tree that `trees`
 * (borrowed) says was changed. Never returns. */
_Noreturn void hc_worker_main(int channel, size_t number, const struct hc_warm_rules *rules, const char *key,
                              const struct hc_trees *trees);

#endif
