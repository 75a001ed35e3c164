#include "daemon/ledger/print/report.h"

#include <string.h>

/* One line of the report: the sum of rows with the same tenant and hour. Rows come ordered by tenant, hour
 * and status. */
struct sum {
    const struct hc_report_options *options; /* borrowed */
    struct hc_error *err;                    /* error of the caller; borrowed */
    bool first;                              /* no row was printed yet */
    char tenant[HC_TENANT_NAME];             /* tenant of the line */
    int64_t hour;         /* hour of the line: its beginning in ms since 1970; unused without `hourly` */
    int64_t jobs;         /* number of jobs in the line */
    struct hc_usage used; /* resources that these jobs used */
    cJSON *by_status;     /* owned: {status: jobs}; NULL: nothing was added up yet */
};

static cJSON *sum_row(struct sum *s)
{
    char when[32];
    cJSON *row = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(row, "tenant", s->tenant);
    if (s->options->hourly)
        (void)cJSON_AddStringToObject(row, "hour", hc_report_time(s->hour, when));
    (void)cJSON_AddNumberToObject(row, "jobs", (double)s->jobs);
    if (row && cJSON_AddItemToObject(row, "by_status", s->by_status))
        s->by_status = NULL;
    (void)cJSON_AddNumberToObject(row, "cpu_seconds", (double)s->used.cpu_us / 1e6);
    (void)cJSON_AddNumberToObject(row, "gb_seconds", (double)s->used.kib_s / (double)HC_KIB_S_PER_GB);
    (void)cJSON_AddNumberToObject(row, "bytes", (double)s->used.bytes);
    return row;
}

static void print_line(const struct sum *s)
{
    char when[32], statuses[256] = "";
    size_t used = 0;
    const cJSON *status;
    cJSON_ArrayForEach(status, s->by_status)
    {
        int n = snprintf(statuses + used, sizeof statuses - used, "%s%s %.0f", used ? ", " : "",
                         status->string, status->valuedouble);
        if (n < 0 || (size_t)n >= sizeof statuses - used)
            break;
        used += (size_t)n;
    }
    if (s->options->hourly)
        (void)printf("%-20s ", hc_report_time(s->hour, when));
    (void)printf("%-16s %8lld %12.3f %12.3f %14lld  %s\n", s->tenant, (long long)s->jobs,
                 (double)s->used.cpu_us / 1e6, (double)s->used.kib_s / (double)HC_KIB_S_PER_GB,
                 (long long)s->used.bytes, statuses);
}

static void print_head(const struct sum *s)
{
    if (s->options->hourly)
        (void)printf("%-20s ", "HOUR");
    (void)printf("%-16s %8s %12s %12s %14s  %s\n", "TENANT", "JOBS", "CPU (s)", "MEMORY (GBs)", "RESULTS (B)",
                 "BY STATUS");
}

static int end_sum(struct sum *s)
{
    int rc = 0;
    if (!s->by_status)
        return 0;
    if (s->options->json) {
        rc = hc_report_row(sum_row(s), &s->first, s->err);
    } else {
        print_line(s);
    }
    cJSON_Delete(s->by_status);
    s->by_status = NULL;
    s->jobs = 0;
    s->used = (struct hc_usage){0};
    return rc;
}

static int each_use(void *ctx, const struct hc_ledger_use *use)
{
    struct sum *s = ctx;
    bool other = strcmp(s->tenant, use->tenant) != 0 || (s->options->hourly && s->hour != use->hour);
    if (other && end_sum(s) < 0)
        return -1;
    if (!s->by_status && !(s->by_status = cJSON_CreateObject()))
        return hc_fail(s->err, 0, "out of memory");
    (void)snprintf(s->tenant, sizeof s->tenant, "%s", use->tenant);
    s->hour = use->hour;
    s->jobs += use->jobs;
    s->used.cpu_us += use->used.cpu_us;
    s->used.kib_s += use->used.kib_s;
    s->used.bytes += use->used.bytes;
    cJSON *count = cJSON_GetObjectItemCaseSensitive(s->by_status, use->status);
    if (count)
        (void)cJSON_SetNumberHelper(count, count->valuedouble + (double)use->jobs);
    else
        (void)cJSON_AddNumberToObject(s->by_status, use->status, (double)use->jobs);
    return 0;
}

int hc_report_usage(const struct hc_report_options *o, struct hc_ledger *l, struct hc_error *err)
{
    struct sum s = {.options = o, .err = err, .first = true};
    const int64_t hour = INT64_C(3600) * 1000;
    if (o->json)
        (void)fputs("[", stdout);
    else
        print_head(&s);
    int rc = hc_ledger_usage(l, o->tenant, o->since - o->since % hour, each_use, &s, err);
    if (rc == 0)
        rc = end_sum(&s);
    cJSON_Delete(s.by_status);
    if (rc == 0 && o->json)
        (void)puts("]");
    return rc;
}
