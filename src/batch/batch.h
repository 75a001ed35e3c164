/* batch.h - run many jobs, one per line of a file, in worker processes with warm cells; hotcell-batch(1).
 *
 * The front (front.c) reads lines, writes the journal and the results, and builds no cell. Workers
 * (worker.c) run one job at a time, and have neither the journal nor the results open. When the front dies
 * its workers are killed, and with them their cells. */
#ifndef HC_BATCH_BATCH_H
#define HC_BATCH_BATCH_H

#include "batch/result.h"
#include "job/job.h"

#define HC_BATCH_MOST_JOBS 256                /* most jobs of a batch that run at one time */
#define HC_BATCH_FEW       16                 /* jobs that begin before hc_batch.before_many is called */
#define HC_BATCH_MAX_LINE  ((size_t)80 << 20) /* most bytes of a line of the jobs file */

struct hc_batch_options {
    const char *jobs_path; /* path of the jobs file; "-": standard input */
    int64_t jobs;          /* most jobs that run at one time; 0: as many as there are processors */
    int64_t shard, shards; /* number of this shard, from 1; number of shards; 0: no shards */
    /* Most retries of a job that did not start; number of failed jobs that ends the batch, 0: none does. */
    int64_t retry, max_failures;
    /* Write results in the order of lines; go on with an earlier run; also print each result as JSON. */
    bool ordered, resume, json;
    bool changed;                  /* with `resume`: even if the jobs are under something else than before */
    bool rerun[HC_BATCH_STATUSES]; /* with `resume`: jobs that ended with such a status run again */
};

/* Where the jobs of a batch run. */
enum hc_batch_where {
    HC_BATCH_HERE,   /* in cells of this process's workers */
    HC_BATCH_TRY,    /* by a daemon if there is one that accepts the job, else here */
    HC_BATCH_DAEMON, /* by a daemon */
};

struct hc_batch {
    const struct hc_batch_options *asked; /* options of the batch; borrowed */
    const struct hc_job *given;           /* options for all jobs from the command line; borrowed */
    const char *output_dir;               /* path of the batch's directory; borrowed */
    const char *under; /* what all jobs are under, a JSON object for the journal (under.h); borrowed */
    /* Called with `request`, which is borrowed, before more than HC_BATCH_FEW jobs are begun: -1 ends the
     * batch as soon as the jobs that run have ended. NULL: nothing is to be done. */
    int (*before_many)(const void *request, struct hc_error *err);
    const void *request;
    int cancel_fd;             /* a signalfd, which a signal that ends the batch makes readable; borrowed */
    enum hc_batch_where where; /* where the batch's jobs run */
    int signal;                /* filled: the signal that ended the batch; 0: none */
};

/* Run the batch. Returns the exit status, or -1. */
int hc_batch_serve(struct hc_batch *b, struct hc_error *err);

/* Merge the directories of several batches into one, with results in the order of lines. `partial`: even
 * if results are missing. Returns the exit status, or -1. */
int hc_batch_merge(const char *output_dir, char *const *shards, size_t count, bool partial,
                   struct hc_error *err);

#endif
