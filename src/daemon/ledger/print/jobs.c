/* Jobs from the ledger; and printing a job, from the ledger or from a daemon. */
#include "daemon/ledger/print/report.h"

#include "base/plain.h"

#include <stdlib.h>
#include <string.h>

/* A list of jobs that is being printed. */
struct jobs {
    bool json, first;     /* print JSON; no job was printed yet */
    struct hc_error *err; /* error of the caller; borrowed */
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
    put_text(row, "state", hc_task_state_name(hc_ledger_shown(job)));
    put_text(row, "policy", job->policy);
    put_text(row, "status", job->status);
    put_text(row, "reason", job->reason && *job->reason ? job->reason : NULL);
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

#define TABLE "%-37s %-16s %-8s %-13s %-12s %-20s %10s %10s  %s\n"

void hc_report_job_line(const struct hc_ledger_job *job)
{
    char when[32], took[32] = "-", cpu[32], reason[512];
    if (job->started > 0 && job->finished >= job->started)
        (void)snprintf(took, sizeof took, "%.3f", (double)(job->finished - job->started) / 1000);
    (void)snprintf(cpu, sizeof cpu, "%.3f", (double)job->used.cpu_us / 1e6);
    (void)snprintf(reason, sizeof reason, "%s", job->reason && *job->reason ? job->reason : "-");
    hc_plain_line(reason);
    (void)printf(TABLE, job->id, job->tenant, hc_task_state_name(hc_ledger_shown(job)),
                 job->status ? job->status : "-", job->policy && *job->policy ? job->policy : "-",
                 hc_report_time(job->accepted, when), took, cpu, reason);
}

void hc_report_job_head(void)
{
    (void)printf(TABLE, "JOB", "TENANT", "STATE", "STATUS", "POLICY", "ACCEPTED", "TOOK (s)", "CPU (s)",
                 "REASON");
}

static int each_job(void *ctx, const struct hc_ledger_job *job)
{
    struct jobs *j = ctx;
    if (j->json)
        return hc_report_row(job_row(job), &j->first, j->err);
    hc_report_job_line(job);
    return 0;
}

static void print_member(const cJSON *member)
{
    char *text = cJSON_IsString(member) ? strdup(member->valuestring) : cJSON_PrintUnformatted(member);
    if (!text)
        return;
    hc_plain_line(text);
    (void)printf("%-16s %s\n", member->string, text);
    free(text);
}

int hc_report_job(const cJSON *row, bool json, struct hc_error *err)
{
    char *text = json ? cJSON_Print(row) : NULL;
    const cJSON *member;
    if (json && !text)
        return hc_fail(err, 0, "out of memory");
    if (text)
        (void)puts(text);
    cJSON_free(text);
    cJSON_ArrayForEach(member, row)
    {
        bool whole = strcmp(member->string, "manifest") == 0 || strcmp(member->string, "problem") == 0 ||
                     strcmp(member->string, "last") == 0;
        if (!json && !whole && !cJSON_IsNull(member))
            print_member(member);
    }
    return 0;
}

/* Prints one job with its manifest or its problem. */
static int show(const struct hc_report_options *o, struct hc_ledger *l, struct hc_error *err)
{
    struct hc_ledger_job job;
    bool found = false;
    if (hc_ledger_get(l, o->tenant, o->show, &job, &found, err) < 0)
        return -1;
    if (!found)
        return hc_fail_as(err, HC_EXIT_DATA, 0, "there is no job '%.80s' in the ledger", o->show);
    cJSON *row = job_row(&job);
    const char *name = hc_ledger_shown(&job) == HC_TASK_DONE ? "manifest" : "problem";
    if (row && job.manifest)
        (void)cJSON_AddItemToObject(row, name, cJSON_ParseWithLength(job.manifest, job.manifest_len));
    int rc = row ? hc_report_job(row, o->json, err) : hc_fail(err, 0, "out of memory");
    cJSON_Delete(row);
    return rc;
}

int hc_report_jobs(const struct hc_report_options *o, struct hc_ledger *l, struct hc_error *err)
{
    struct jobs j = {.json = o->json, .first = true, .err = err};
    struct hc_ledger_filter f = {.tenant = o->tenant,
                                 .state = o->state,
                                 .since = o->since,
                                 .most = o->most,
                                 .status = o->status,
                                 .policy = o->policy,
                                 .by_time = true};
    if (o->show)
        return show(o, l, err);
    if (o->json)
        (void)fputs("[", stdout);
    else
        hc_report_job_head(); /* an empty table shows that there are no jobs */
    if (hc_ledger_list(l, &f, each_job, &j, err) < 0)
        return -1;
    if (o->json)
        (void)puts("]");
    return 0;
}
