#include "daemon/http/metrics.h"

#include "manifest/manifest.h"

#include <string.h>

static void print_head(struct hc_buf *out, const char *name, const char *type, const char *help)
{
    (void)hc_buf_fmt(out, "# HELP hotcell_%s %s\n# TYPE hotcell_%s %s\n", name, help, name, type);
}

static void print_single(struct hc_buf *out, const char *name, const char *type, const char *help,
                         int64_t value)
{
    print_head(out, name, type, help);
    (void)hc_buf_fmt(out, "hotcell_%s %lld\n", name, (long long)value);
}

static void print_histogram(struct hc_buf *out, const char *phase, const struct hc_histogram *h)
{
    int64_t sum = 0;
    for (size_t i = 0; i < HC_COUNTER_BUCKETS; i++) {
        sum += h->buckets[i];
        (void)hc_buf_fmt(out, "hotcell_job_seconds_bucket{phase=\"%s\",le=\"%g\"} %lld\n", phase,
                         (double)hc_counter_bounds[i] / 1e6, (long long)sum);
    }
    (void)hc_buf_fmt(
        out,
        "hotcell_job_seconds_bucket{phase=\"%s\",le=\"+Inf\"} %lld\n"
        "hotcell_job_seconds_sum{phase=\"%s\"} %.6f\nhotcell_job_seconds_count{phase=\"%s\"} %lld\n",
        phase, (long long)h->count, phase, (double)h->sum_us / 1e6, phase, (long long)h->count);
}

static void print_jobs(const struct hc_counters *m, struct hc_buf *out)
{
    print_head(out, "jobs_total", "counter", "Jobs that have a manifest, by its status.");
    for (int i = 0; i < HC_STATUSES; i++)
        (void)hc_buf_fmt(out, "hotcell_jobs_total{status=\"%s\"} %lld\n", hc_status_name((enum hc_status)i),
                         (long long)m->jobs[i]);
    print_single(out, "jobs_warm_total", "counter", "Jobs whose cells had waited for them.", m->warm);
    print_single(out, "jobs_refused_total", "counter", "Jobs that a quota refused.", m->refused);
    print_single(out, "jobs_failed_total", "counter", "Jobs that could not be run.", m->failed);
    print_single(out, "jobs_lost_total", "counter", "Jobs whose worker died: outcome unknown.", m->lost);
    print_single(out, "jobs_cancelled_total", "counter", "Jobs that were cancelled before they ran.",
                 m->cancelled);
    print_single(out, "denials_total", "counter", "Kinds of refused actions in manifests.", m->denials);
    print_single(out, "result_bytes_total", "counter", "Bytes of results.", m->bytes);
    print_head(out, "cpu_seconds_total", "counter", "CPU time that jobs used.");
    (void)hc_buf_fmt(out, "hotcell_cpu_seconds_total %.6f\n", (double)m->cpu_us / 1e6);
}

/* One counter of a family. */
struct labelled {
    const char *label; /* value of the family's label */
    int64_t value;
};

static void print_family(struct hc_buf *out, const char *name, const char *label, const char *help,
                         const struct labelled *rows, size_t count)
{
    print_head(out, name, "counter", help);
    for (size_t i = 0; i < count; i++)
        (void)hc_buf_fmt(out, "hotcell_%s{%s=\"%s\"} %lld\n", name, label, rows[i].label,
                         (long long)rows[i].value);
}

#define COUNT(table) (sizeof(table) / sizeof *(table))

static void print_warm(const struct hc_dispatch *d, struct hc_buf *out)
{
    struct hc_warm_counts c = d->counters.warm_gone;
    for (size_t i = 0; i < d->worker_count; i++)
        if (d->workers[i].channel.fd >= 0)
            hc_warm_counts_add(&c, &d->workers[i].warm);
    const struct labelled zygotes[] = {{"failed", c.zygotes_failed},
                                       {"died", c.zygotes_died},
                                       {"recycled", c.zygotes_recycled},
                                       {"idle", c.zygotes_idle},
                                       {"evicted", c.zygotes_evicted}};
    const struct labelled cells[] = {{"failed", c.cells_failed},
                                     {"used", c.cells_used},
                                     {"died", c.cells_died},
                                     {"expired", c.cells_expired}};
    const struct labelled cold[HC_COLD_REASONS] = {
        {"off", c.cold[HC_COLD_OFF]},   {"job", c.cold[HC_COLD_JOB]},       {"new", c.cold[HC_COLD_NEW]},
        {"none", c.cold[HC_COLD_NONE]}, {"paused", c.cold[HC_COLD_PAUSED]}, {"died", c.cold[HC_COLD_DIED]},
        {"full", c.cold[HC_COLD_FULL]}, {"failed", c.cold[HC_COLD_FAILED]},
    };
    print_single(out, "warm_zygotes", "gauge", "Warm interpreters.", c.zygotes);
    print_single(out, "warm_cells", "gauge", "Cells that wait for a job.", c.cells);
    print_single(out, "warm_cells_room", "gauge", "Further cells that warm.memory has room for.", c.room);
    print_single(out, "warm_zygotes_started_total", "counter", "Warm interpreters that were started.",
                 c.zygotes_started);
    print_family(out, "warm_zygotes_ended_total", "why",
                 "Warm interpreters that have ended, or did not start.", zygotes, COUNT(zygotes));
    print_single(out, "warm_cells_made_total", "counter", "Cells that were made to wait for a job.",
                 c.cells_made);
    print_family(out, "warm_cells_ended_total", "why", "What became of them, or of the attempt.", cells,
                 COUNT(cells));
    print_single(out, "warm_cells_early_total", "counter",
                 "Jobs that were answered before their cell was gone.", c.cells_early);
    print_family(out, "jobs_cold_total", "why", "Jobs that had a cell built for them.", cold, COUNT(cold));
}

/* The limit of running jobs of each tenant, whether the configuration sets it or not. */
static void print_most_running(struct hc_dispatch *d, struct hc_buf *out)
{
    const struct hc_tenant *t;
    print_head(out, "tenant_running_most", "gauge", "Jobs that may run at the same time, by tenant.");
    for (size_t at = 0; (t = hc_tenant_at(d->tenants, at)); at++)
        (void)hc_buf_fmt(out, "hotcell_tenant_running_most{tenant=\"%s\"} %lld\n", t->name,
                         (long long)hc_queue_most_running(d->queue, t));
}

static void print_tenants(struct hc_dispatch *d, struct hc_buf *out)
{
    static const struct {
        const char *name, *help;
        size_t at;
    } rows[] = {
        {"tenant_running", "Jobs that run, by tenant.", offsetof(struct hc_tenant, running)},
        {"tenant_queued", "Jobs that wait, by tenant.", offsetof(struct hc_tenant, queued)},
        {"tenant_sessions", "Open sessions, by tenant.", offsetof(struct hc_tenant, sessions)},
        {"tenant_connections", "Connections, by tenant.", offsetof(struct hc_tenant, connections)},
        {"tenant_stored_bytes", "Bytes of kept results, by tenant.",
         offsetof(struct hc_tenant, stored_bytes)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_head(out, rows[i].name, "gauge", rows[i].help);
        const struct hc_tenant *t;
        for (size_t at = 0; (t = hc_tenant_at(d->tenants, at)); at++) {
            int64_t value;
            memcpy(&value, (const char *)t + rows[i].at, sizeof value);
            (void)hc_buf_fmt(out, "hotcell_%s{tenant=\"%s\"} %lld\n", rows[i].name, t->name,
                             (long long)value);
        }
    }
}

void hc_metrics_print(const struct hc_http *h, struct hc_buf *out)
{
    struct hc_dispatch *d = h->dispatch;
    const struct hc_counters *m = &d->counters;
    int64_t workers = 0, connections = 0;
    for (size_t i = 0; i < d->worker_count; i++)
        workers += d->workers[i].channel.fd >= 0;
    for (const struct hc_connection *c = h->connections; c; c = c->next)
        connections++;
    print_jobs(m, out);
    print_warm(d, out);
    print_head(out, "job_seconds", "histogram",
               "Time of jobs: waiting, building the cell, running, collecting, from acceptance to end.");
    print_histogram(out, "queue", &m->queue);
    print_histogram(out, "build", &m->build);
    print_histogram(out, "run", &m->run);
    print_histogram(out, "collect", &m->collect);
    print_histogram(out, "total", &m->total);
    print_single(out, "jobs_running", "gauge", "Jobs that run.", hc_queue_running(d->queue));
    print_single(out, "jobs_queued", "gauge", "Jobs that wait.", hc_queue_waiting(d->queue));
    print_single(out, "sessions_total", "counter", "Sessions that were begun.", m->sessions);
    print_single(out, "sessions_ended_total", "counter", "Sessions that have ended, however.",
                 m->sessions_ended);
    print_single(out, "sessions", "gauge", "Sessions that are open.", (int64_t)h->sessions->open);
    print_single(out, "workers", "gauge", "Processes that build cells.", workers);
    print_single(out, "workers_lost_total", "counter", "Workers that died.", m->workers_lost);
    print_single(out, "connections", "gauge", "Open connections.", connections);
    print_head(out, "http_answers_total", "counter", "Answers, by class of status.");
    for (int i = 2; i < 6; i++)
        (void)hc_buf_fmt(out, "hotcell_http_answers_total{class=\"%dxx\"} %lld\n", i,
                         (long long)m->answers[i]);
    print_tenants(d, out);
    print_most_running(d, out);
}
