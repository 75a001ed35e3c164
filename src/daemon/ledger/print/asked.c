/* Jobs from a daemon: it answers root and other administrators with the jobs of all tenants, other users with
 * their own. */
#include "daemon/ledger/print/report.h"

#include "client/ask.h"
#include "json/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_ASKED 1000 /* most jobs that the daemon puts into one list */

/* Parses a time like "2026-11-20T08:00:00.123Z" to ms since 1970. */
static int64_t time_of(const cJSON *row, const char *name)
{
    struct tm tm = {0};
    const char *end = strptime(hc_json_text(row, name), "%Y-%m-%dT%H:%M:%S", &tm);
    if (!end)
        return 0;
    return (int64_t)timegm(&tm) * 1000 + (*end == '.' ? strtol(end + 1, NULL, 10) : 0);
}

static void print_line(const cJSON *row)
{
    static const enum hc_job_state states[] = {
        [HC_TASK_QUEUED] = HC_JOB_ACCEPTED,
        [HC_TASK_RUNNING] = HC_JOB_RUNNING,
        [HC_TASK_DONE] = HC_JOB_DONE,
        [HC_TASK_FAILED] = HC_JOB_UNKNOWN,
    };
    int state = hc_task_state_from(hc_json_text(row, "state"));
    double cpu = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(row, "cpu_seconds"));
    const struct hc_ledger_job job = {.id = hc_json_text_or(row, "job_id", "-"),
                                      .tenant = hc_json_text_or(row, "tenant", "-"),
                                      .state = states[state < 0 ? HC_TASK_RUNNING : state],
                                      .status = hc_json_text_or(row, "status", NULL),
                                      .policy = hc_json_text_or(row, "policy", NULL),
                                      .reason = hc_json_text_or(row, "reason", NULL),
                                      .accepted = time_of(row, "accepted"),
                                      .started = time_of(row, "started"),
                                      .finished = time_of(row, "finished"),
                                      .used.cpu_us = cpu > 0 ? (int64_t)(cpu * 1e6) : 0};
    hc_report_job_line(&job);
}

/* Makes a row of a running job from an open session, which has no state of a job. */
static cJSON *session_row(const cJSON *session)
{
    cJSON *row = cJSON_CreateObject();
    const char *created = hc_json_text_or(session, "created", "-");
    (void)cJSON_AddStringToObject(row, "job_id", hc_json_text_or(session, "session_id", "-"));
    (void)cJSON_AddStringToObject(row, "tenant", hc_json_text_or(session, "tenant", "-"));
    (void)cJSON_AddStringToObject(row, "state", hc_task_state_name(HC_TASK_RUNNING));
    (void)cJSON_AddStringToObject(row, "status", HC_REPORT_SESSION);
    (void)cJSON_AddStringToObject(row, "accepted", created);
    (void)cJSON_AddStringToObject(row, "started", created);
    return row;
}

/* Takes the rows from an answer: those of sessions behind those of jobs, or those of sessions alone. */
static cJSON *take_rows(cJSON *answer, bool sessions_only)
{
    cJSON *rows =
        sessions_only ? cJSON_CreateArray() : cJSON_DetachItemFromObjectCaseSensitive(answer, "jobs");
    const cJSON *session;
    cJSON_ArrayForEach(session, cJSON_GetObjectItemCaseSensitive(answer, "sessions"))
    {
        cJSON *row = session_row(session);
        if (!rows || !cJSON_AddItemToArray(rows, row))
            cJSON_Delete(row);
    }
    return rows;
}

static int by_time(const void *a, const void *b)
{
    return strcmp(hc_json_text(*(cJSON *const *)b, "accepted"), hc_json_text(*(cJSON *const *)a, "accepted"));
}

/* Prints the rows, the most recently accepted job or session first. */
static int print_rows(cJSON *rows, const struct hc_report_options *o, struct hc_error *err)
{
    const size_t count = (size_t)cJSON_GetArraySize(rows),
                 shown = o->most > 0 && (size_t)o->most < count ? (size_t)o->most : count;
    cJSON **sorted = calloc(count + 1, sizeof(cJSON *));
    bool first = true;
    int rc = 0;
    if (!sorted)
        return hc_fail(err, 0, "out of memory");
    for (size_t i = 0; i < count; i++)
        sorted[i] = cJSON_DetachItemFromArray(rows, 0);
    qsort(sorted, count, sizeof(cJSON *), by_time);
    if (o->json)
        (void)fputs("[", stdout);
    else
        hc_report_job_head();
    for (size_t i = 0; i < count; i++) {
        if (o->json && rc == 0 && i < shown) {
            rc = hc_report_row(sorted[i], &first, err);
            continue;
        }
        if (rc == 0 && i < shown)
            print_line(sorted[i]);
        cJSON_Delete(sorted[i]);
    }
    free(sorted);
    if (o->json)
        (void)puts("]");
    return rc;
}

/* Are only open sessions wanted? Only this program uses the status HC_REPORT_SESSION; the daemon does not
 * know it. */
static bool is_session(const struct hc_report_options *o)
{
    return o->status && strcmp(o->status, HC_REPORT_SESSION) == 0;
}

static void put_parameter(struct hc_buf *path, const char *name, const char *value)
{
    if (value)
        (void)hc_buf_fmt(path, "%c%s=%s", memchr(path->data, '?', path->len) ? '&' : '?', name, value);
}

/* Makes the path of the request. Values that are not names are refused, as they could change the path's
 * meaning. */
static int print_path(const struct hc_report_options *o, bool admin, struct hc_buf *path,
                      struct hc_error *err)
{
    const char *const values[] = {o->tenant, o->policy};
    char number[24], since[32];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i] && !hc_is_id(values[i], HC_TENANT_NAME - 1))
            return hc_fail_as(err, HC_EXIT_USAGE, 0,
                              "'%.80s': expected a name of letters, digits, '.', '_' or '-'", values[i]);
    (void)snprintf(number, sizeof number, "%lld",
                   (long long)(o->most > 0 && o->most < MOST_ASKED ? o->most : MOST_ASKED));
    (void)hc_buf_str(path, admin ? "/v1/admin/jobs" : "/v1/jobs");
    put_parameter(path, "number", number);
    put_parameter(path, "tenant", admin ? o->tenant : NULL);
    put_parameter(path, "state", o->state >= 0 ? hc_task_state_name((enum hc_task_state)o->state) : NULL);
    put_parameter(path, "status", is_session(o) ? NULL : o->status);
    put_parameter(path, "policy", o->policy);
    put_parameter(path, "since", o->since ? hc_report_time(o->since, since) : NULL);
    return path->failed ? hc_fail(err, 0, "out of memory") : 0;
}

static int list(const struct hc_report_options *o, const struct hc_daemon_address *place, bool admin,
                struct hc_error *err)
{
    hc_autobuf path = {0};
    struct hc_json answer;
    if (print_path(o, admin, &path, err) < 0 || hc_ask(place, "GET", path.data, NULL, &answer, err) < 0)
        return -1;
    cJSON *rows = take_rows(answer.root, is_session(o));
    int rc = rows ? print_rows(rows, o, err) : hc_fail(err, 0, "hotcelld does not answer with jobs");
    cJSON_Delete(rows);
    hc_json_finish(&answer);
    return rc;
}

static int show(const struct hc_report_options *o, const struct hc_daemon_address *place, bool admin,
                struct hc_error *err)
{
    hc_autobuf path = {0};
    struct hc_json answer;
    if (!hc_is_id(o->show, 64))
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "'%.80s' is no ID of a job", o->show);
    if (hc_buf_fmt(&path, "/v1/%sjobs/%s", admin ? "admin/" : "", o->show) < 0)
        return hc_fail(err, 0, "out of memory");
    if (hc_ask(place, "GET", path.data, NULL, &answer, err) < 0)
        return hc_ctx(err, "%s", o->show);
    int rc = hc_report_job(answer.root, o->json, err);
    hc_json_finish(&answer);
    return rc;
}

int hc_report_asked(const struct hc_report_options *o, struct hc_error *err)
{
    struct hc_daemon_address place;
    const bool named = o->socket || getenv("HOTCELL_SOCKET");
    if (hc_ask_find(&place, o->socket, err) < 0)
        return -1;
    const bool admin = o->admin || o->tenant || hc_ask_is_root(&place);
    int rc = o->show ? show(o, &place, admin, err) : list(o, &place, admin, err);
    bool nobody =
        rc < 0 && err->exit == HC_EXIT_UNAVAILABLE && (err->sys == ENOENT || err->sys == ECONNREFUSED);
    return nobody && !named ? 1 : rc;
}
