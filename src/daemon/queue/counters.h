/* counters.h - the front's counters of jobs, sessions, workers and answers since it began. */
#ifndef HC_DAEMON_QUEUE_COUNTERS_H
#define HC_DAEMON_QUEUE_COUNTERS_H

#include "daemon/process/channel.h"
#include "manifest/manifest.h"

#define HC_COUNTER_BUCKETS 15 /* buckets of a histogram with an upper bound; one more has none */

/* Upper bounds of a histogram's buckets, in microseconds. */
extern const int64_t hc_counter_bounds[HC_COUNTER_BUCKETS];

struct hc_histogram {
    int64_t buckets[HC_COUNTER_BUCKETS + 1]; /* number of values in each bucket, not in those below it */
    int64_t count, sum_us;                   /* number of values; their sum in microseconds */
};

struct hc_counters {
    int64_t jobs[HC_STATUSES]; /* jobs with a manifest, by enum hc_status */
    /* Jobs without a manifest: refused by a quota; lost with the process that ran them; cancelled by clients;
     * failed because of hotcell or the host. */
    int64_t refused, lost, cancelled, failed;
    int64_t warm;                     /* jobs that ran in a cell that had waited for them */
    struct hc_warm_counts warm_gone;  /* counts of warm cells by workers that have died */
    int64_t sessions, sessions_ended; /* sessions that were begun; of these, ended */
    /* Sums over jobs: CPU time in us; kinds of refused actions; bytes of results. Number of workers that
     * died. */
    int64_t cpu_us, denials, bytes, workers_lost;
    int64_t answers[6]; /* HTTP answers, by the first digit of their status */
    struct hc_histogram queue, build, run, collect, total; /* durations of the phases of jobs */
};

/* Add a duration in microseconds. A negative one is not counted: the phase was not reached. */
void hc_histogram_add(struct hc_histogram *h, int64_t us);

/* Count a job that has a manifest. */
void hc_counters_add_job(struct hc_counters *c, const struct hc_outcome *o);

/* Add each number of `more` to that of `sum`. */
void hc_warm_counts_add(struct hc_warm_counts *sum, const struct hc_warm_counts *more);

/* A worker has died, and its zygotes and cells with it; `counts` are the last counts that it sent. */
void hc_counters_add_dead_worker(struct hc_counters *c, const struct hc_warm_counts *counts);

#endif
