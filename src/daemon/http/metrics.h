/* metrics.h - what the daemon counts, as Prometheus text. */
#ifndef HC_DAEMON_HTTP_METRICS_H
#define HC_DAEMON_HTTP_METRICS_H

#include "base/buf.h"
#include "daemon/process/channel.h"
#include "manifest/manifest.h"

#define HC_METRIC_BUCKETS 15

struct hc_histogram {
    int64_t buckets[HC_METRIC_BUCKETS + 1];
    int64_t count, sum_us;
};

struct hc_metrics {
    int64_t jobs[HC_STATUSES];                /* by enum hc_status */
    int64_t refused, lost, cancelled, failed; /* jobs without a manifest */
    int64_t warm;                             /* jobs whose cells had waited for them */
    struct hc_warm_counts warm_gone;          /* of workers that have died */
    int64_t sessions, sessions_ended;
    int64_t cpu_us, denials, bytes, workers_lost;
    int64_t answers[6]; /* by the first digit of the status */
    struct hc_histogram queue, build, run, collect, total;
};

void hc_histogram_add(struct hc_histogram *h, int64_t us); /* negative: not reached, not counted */
void hc_metrics_job(struct hc_metrics *m, const struct hc_outcome *o);

/* A worker has died, and its zygotes and cells with it. */
void hc_metrics_warm_gone(struct hc_metrics *m, const struct hc_warm_counts *of);

struct hc_front;
void hc_metrics_print(struct hc_front *f, struct hc_buf *out);

#endif
