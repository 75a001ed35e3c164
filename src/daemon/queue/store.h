/* store.h - how the front writes its jobs into the ledger, and reads them back. */
#ifndef HC_DAEMON_QUEUE_STORE_H
#define HC_DAEMON_QUEUE_STORE_H

#include "daemon/ledger/ledger.h"
#include "daemon/queue/task.h"

struct hc_dispatch;

/* Open the ledger, in the current directory, and restore the state of an earlier daemon: jobs that it had
 * accepted wait in the queue again, jobs that were running get an unknown outcome, and the usage of the
 * tenants counts. Results of jobs that are not in the ledger are removed. */
int hc_store_open(struct hc_dispatch *d, struct hc_error *err);
void hc_store_close(struct hc_dispatch *d);

/* Write a detached job down; it is on the disk when this returns 0. 1: its key stands for another job
 * already, `known`, with the same body (`same`) or another one. */
int hc_store_promise(struct hc_dispatch *d, const struct hc_task *task, char known[65], bool *same,
                     struct hc_error *err);
/* Write down that the job begins; to be called before its cell is built. */
int hc_store_start(struct hc_dispatch *d, const struct hc_task *task, struct hc_error *err);
/* Write down that the job was not begun after all. */
int hc_store_put_back(struct hc_dispatch *d, const struct hc_task *task, struct hc_error *err);
/* Write down that the job has ended, in whatever way. -1: this failed, and has been logged. */
int hc_store_end(struct hc_dispatch *d, const struct hc_task *task, const struct hc_usage *used);

/* An ended job of this tenant as a task that is in no table; the reference is the caller's. NULL: there is
 * none. */
struct hc_task *hc_store_find(struct hc_dispatch *d, struct hc_tenant *tenant, const char *id);

/* The same for a job of any tenant. */
struct hc_task *hc_store_find_any(struct hc_dispatch *d, const char *id);

/* Print ended jobs, newest first, separated by commas, up to the filter's number; `count` jobs have been
 * printed before.
 */
void hc_store_list(struct hc_dispatch *d, const struct hc_ledger_filter *which, int count,
                   struct hc_buf *out);

void hc_store_forget(struct hc_dispatch *d, const struct hc_task *task); /* removes an ended job */

/* Are there notes that should be written into the ledger now? Write them. */
bool hc_store_due(const struct hc_dispatch *d);
void hc_store_write(struct hc_dispatch *d);

/* Write the notes; from time to time also remove jobs that retention no longer keeps. */
void hc_store_tick(struct hc_dispatch *d, int64_t now);

#endif
