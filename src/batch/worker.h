/* worker.h - a process that runs the jobs of a batch, one at a time, and its messages. */
#ifndef HC_BATCH_WORKER_H
#define HC_BATCH_WORKER_H

#include "batch/batch.h"

#include <stdbool.h>
#include <stdint.h>

/* Front to worker, with one descriptor: the line, as a sealed memfd. */
struct hc_batch_task {
    int64_t line, attempt;    /* number of the line, from 1; number of the attempt, from 1 */
    char job_id[HC_BATCH_ID]; /* the job's ID, as the front has chosen it */
    bool again;               /* an earlier attempt may have left results */
    bool more;                /* more lines wait, or may come */
};

/* Worker to front: it is ready, or a job has ended. Then with a descriptor: a memfd with the result's
 * line. */
struct hc_ended {
    bool idle;               /* ready for a task; the other members are not set */
    bool not_started;        /* the program did not begin, so the job may be tried again */
    struct hc_result result; /* the job's result; its output_dir is empty */
};

/* Send or receive a message of `size` bytes over a SOCK_SEQPACKET socket, with the descriptor `fd` (-1:
 * none), which the receiver owns. hc_batch_receive returns 1, 0 if the peer has gone, or -1. */
int hc_batch_send(int socket, const void *message, size_t size, int fd, struct hc_error *err);
int hc_batch_receive(int socket, void *message, size_t size, int *fd, struct hc_error *err);

/* Parse line number `line` of the jobs file, from 1, into a job, and apply the options of the command line.
 * HC_EXIT_DATA if it is no valid job; the error begins with "NAME:LINE:COLUMN". */
int hc_batch_parse(const struct hc_batch *b, struct hc_job *job, int64_t line, const char *text, size_t len,
                   struct hc_error *err);

/* Run tasks until the front closes the socket. A readable `cancel_fd` ends the current job. */
_Noreturn void hc_batch_worker(const struct hc_batch *b, int socket, int cancel_fd);

#endif
