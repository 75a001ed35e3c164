#include "daemon/queue/counters.h"

#include <string.h>

const int64_t hc_counter_bounds[HC_COUNTER_BUCKETS] = {500,     1000,    2500,     5000,     10000,
                                                       25000,   50000,   100000,   250000,   500000,
                                                       1000000, 5000000, 15000000, 60000000, 300000000};

void hc_histogram_add(struct hc_histogram *h, int64_t us)
{
    size_t i = 0;
    if (us < 0)
        return;
    while (i < HC_COUNTER_BUCKETS && us > hc_counter_bounds[i])
        i++;
    h->buckets[i]++;
    h->count++;
    h->sum_us += us;
}

void hc_counters_add_job(struct hc_counters *c, const struct hc_outcome *o)
{
    if (o->status >= 0 && o->status < HC_STATUSES)
        c->jobs[o->status]++;
    c->cpu_us += o->cpu_us > 0 ? o->cpu_us : 0;
    c->warm += o->warm;
    c->denials += o->denials;
    c->bytes += o->bytes;
    hc_histogram_add(&c->build, o->build_us);
    hc_histogram_add(&c->run, o->run_us);
    hc_histogram_add(&c->collect, o->collect_us);
}

/* The struct has only numbers of one type, and is added up as an array. */
void hc_warm_counts_add(struct hc_warm_counts *sum, const struct hc_warm_counts *more)
{
    int64_t a[HC_WARM_COUNTS], b[HC_WARM_COUNTS];
    memcpy(a, sum, sizeof a);
    memcpy(b, more, sizeof b);
    for (size_t i = 0; i < HC_WARM_COUNTS; i++)
        a[i] += b[i];
    memcpy(sum, a, sizeof a);
}

void hc_counters_add_dead_worker(struct hc_counters *c, const struct hc_warm_counts *counts)
{
    struct hc_warm_counts gone = *counts;
    gone.zygotes_died += gone.zygotes;
    gone.cells_died += gone.cells;
    gone.zygotes = gone.cells = gone.room = 0;
    hc_warm_counts_add(&c->warm_gone, &gone);
}
