/* worker.h - a process that runs the jobs of a batch, one at a time, and what is said to it. */
#ifndef HC_BATCH_WORKER_H
#define HC_BATCH_WORKER_H

#include "batch/batch.h"

#include <stdbool.h>
#include <stdint.h>

/* Front to worker, with one descriptor: the line, as a sealed memfd. */
struct hc_task {
    int64_t line, attempt;
    char job_id[HC_BATCH_ID];
    bool again; /* an earlier attempt may have left results */
};

/* Worker to front. */
struct hc_ended {
    bool idle;        /* ready for a task; nothing else is set. Else with one descriptor: the result's line */
    bool not_started; /* the program was not begun: it may be tried again */
    struct hc_result result; /* its output_dir is empty */
};

/* Over a SOCK_SEQPACKET socket. `fd`: -1 for none. Receiving: 1, 0 if the other side has gone, -1. */
int hc_batch_send(int socket, const void *message, size_t size, int fd, struct hc_error *err);
int hc_batch_receive(int socket, void *message, size_t size, int *fd, struct hc_error *err);

/* Read what a line says: the job as it is to be run, under `job_id` if that is not NULL. HC_EXIT_DATA, with
 * "NAME:LINE:COLUMN" in front. */
int hc_batch_parse(const struct hc_batch *b, struct hc_job *job, int64_t line, const char *text, size_t len,
                   struct hc_error *err);

/* Serve until the other side goes; a readable `cancel_fd` ends what runs. */
_Noreturn void hc_batch_worker(const struct hc_batch *b, int socket, int cancel_fd);

#endif
