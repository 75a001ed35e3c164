/* store.h - what the front keeps in the ledger of its jobs, and has back from it. */
#ifndef HC_DAEMON_QUEUE_STORE_H
#define HC_DAEMON_QUEUE_STORE_H

#include "daemon/ledger/ledger.h"
#include "daemon/queue/task.h"

struct hc_dispatch;

/* Open the ledger, in the current directory, and take up what an earlier daemon has left: jobs that it had
 * accepted wait in the queue again, those that ran then have an unknown outcome; what tenants have used
 * counts. Results that no job in the ledger has are removed. */
int hc_store_open(struct hc_dispatch *d, struct hc_error *err);
void hc_store_close(struct hc_dispatch *d);

/* A job that is to go on alone is on the disk when this returns 0. 1: its key stands for another job already,
 * `known`, with this body (`same`) or another. */
int hc_store_promise(struct hc_dispatch *d, const struct hc_task *task, char known[65], bool *same,
                     struct hc_error *err);
/* To be called before its cell is built. */
int hc_store_start(struct hc_dispatch *d, const struct hc_task *task, struct hc_error *err);
/* It was not begun after all. */
int hc_store_put_back(struct hc_dispatch *d, const struct hc_task *task, struct hc_error *err);
/* It has ended, however. -1: it could not be written down, which has been said. */
int hc_store_end(struct hc_dispatch *d, const struct hc_task *task, const struct hc_usage *used);

/* A job of this tenant that has ended, as a task that is in no table; the caller's reference. NULL: there is
 * none. */
struct hc_task *hc_store_find(struct hc_dispatch *d, struct hc_tenant *tenant, const char *id);

struct hc_task *hc_store_find_any(struct hc_dispatch *d, const char *id); /* whosever it is */

/* Print ended jobs, newest first, separated by commas, until there are as many as the filter says; `count`
 * how many were printed before. */
void hc_store_list(struct hc_dispatch *d, const struct hc_ledger_filter *which, int count,
                   struct hc_buf *out);

void hc_store_forget(struct hc_dispatch *d, const struct hc_task *task);

/* Write notes down. They are due: there are some, and nobody waits for anything else. */
bool hc_store_due(const struct hc_dispatch *d);
void hc_store_write(struct hc_dispatch *d);

/* The same; now and then take out what is too old or too much. */
void hc_store_tick(struct hc_dispatch *d, int64_t now);

#endif
