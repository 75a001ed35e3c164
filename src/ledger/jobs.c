#include "ledger/report.h"

struct jobs {
    bool json, first;
    struct hc_error *err;
};

static void put_time(cJSON *row, const char *name, int64_t ms)
{
    char text[32];
    if (ms > 0)
        (void)cJSON_AddStringToObject(row, name, hc_report_time(ms, text));
    else
        (void)cJSON_AddNullToObject(row, name);
}

static void put_text(cJSON *row, const char *name, const char *text)
{
    (void)cJSON_AddItemToObject(row, name, text ? cJSON_CreateString(text) : cJSON_CreateNull());
}

static cJSON *job_row(const struct hc_ledger_job *job)
{
    cJSON *row = cJSON_CreateObject();
    put_text(row, "job_id", job->id);
    put_text(row, "tenant", job->tenant);
    put_text(row, "state", hc_job_state_name(job->state));
    put_text(row, "status", job->status);
    put_time(row, "accepted", job->accepted);
    put_time(row, "started", job->started);
    put_time(row, "finished", job->finished);
    (void)cJSON_AddNumberToObject(row, "attempts", (double)job->attempts);
    put_text(row, "idempotency_key", job->key);
    (void)cJSON_AddNumberToObject(row, "cpu_seconds", (double)job->used.cpu_us / 1e6);
    (void)cJSON_AddNumberToObject(row, "gb_seconds", (double)job->used.kib_s / (double)HC_KIB_S_PER_GB);
    (void)cJSON_AddNumberToObject(row, "stored_bytes", (double)job->used.bytes);
    return row;
}

static void print_line(const struct hc_ledger_job *job)
{
    char when[32], took[32] = "-";
    if (job->started > 0 && job->finished >= job->started)
        (void)snprintf(took, sizeof took, "%.3f", (double)(job->finished - job->started) / 1000);
    (void)printf("%-37s %-16s %-9s %-13s %-20s %10s %10.3f\n", job->id, job->tenant,
                 hc_job_state_name(job->state), job->status ? job->status : "-",
                 hc_report_time(job->accepted, when), took, (double)job->used.cpu_us / 1e6);
}

static void print_head(void)
{
    (void)printf("%-37s %-16s %-9s %-13s %-20s %10s %10s\n", "JOB", "TENANT", "STATE", "STATUS", "ACCEPTED",
                 "TOOK (s)", "CPU (s)");
}

static int each_job(void *ctx, const struct hc_ledger_job *job)
{
    struct jobs *j = ctx;
    if (j->json)
        return hc_report_row(job_row(job), &j->first, j->err);
    print_line(job);
    return 0;
}

int hc_report_jobs(const struct hc_report_options *o, struct hc_ledger *l, struct hc_error *err)
{
    struct jobs j = {.json = o->json, .first = true, .err = err};
    struct hc_ledger_filter f = {.tenant = o->tenant, .state = o->state, .since = o->since, .most = o->most};
    if (o->json)
        (void)fputs("[", stdout);
    else
        print_head(); /* also above nothing: that there is no job is an answer */
    if (hc_ledger_list(l, &f, each_job, &j, err) < 0)
        return -1;
    if (o->json)
        (void)puts("]");
    return 0;
}
