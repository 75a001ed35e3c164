/* batch.h - many jobs, one a line, by worker processes that have warm cells; hotcell-batch(1).
 *
 * The front (front.c) reads lines, writes the journal and the results, and builds no cell. Workers
 * (worker.c), one job at a time, see neither. When the front dies its workers are killed, and with them their
 * cells. */
#ifndef HC_BATCH_BATCH_H
#define HC_BATCH_BATCH_H

#include "batch/result.h"
#include "job/job.h"

#define HC_BATCH_MOST_JOBS 256
#define HC_BATCH_MAX_LINE  ((size_t)80 << 20)

struct hc_batch_options {
    const char *jobs_path;       /* "-": standard input */
    int64_t jobs;                /* at once; 0: as many as there are processors */
    int64_t shard, shards;       /* 0: there are none */
    int64_t retry, max_failures; /* 0: none, no bound */
    bool ordered, resume, json;
    bool rerun[HC_BATCH_STATUSES];
};

enum hc_batch_where {
    HC_BATCH_HERE,   /* in cells of this process's workers */
    HC_BATCH_TRY,    /* by a daemon, if there is one that can take the job */
    HC_BATCH_DAEMON, /* by a daemon */
};

struct hc_batch {
    const struct hc_batch_options *asked;
    const struct hc_job *given; /* what the command line says of all jobs: its output_dir is the batch's */
    const char *output_dir;
    int cancel_fd; /* a signalfd */
    enum hc_batch_where where;
    int signal; /* filled: which one ended it; 0 */
};

/* The exit status, or -1. */
int hc_batch_serve(struct hc_batch *b, struct hc_error *err);

/* One directory of several, with results in the order of lines. The exit status, or -1. */
int hc_batch_merge(const char *output_dir, char *const *shards, size_t count, bool partial,
                   struct hc_error *err);

#endif
